//! CPU seconds of many questions asked together by embedding: what `bench/python` compares the Python package with.
//!
//! `cargo run --release -p hyperdoc2vec-lab --bin batch -- MODEL TEXTS`, a question per line; prints the seconds.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::hint::black_box;

use hyperdoc2vec::{Model, Question, Ranking, Recommender};
use hyperdoc2vec_lab::cpu_seconds;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (model, texts) = (Model::open(&args[1]).unwrap(), std::fs::read_to_string(&args[2]).unwrap());
    let questions: Vec<Question> = texts.lines().map(|text| Question::new(text).rank(Ranking::Embedding)).collect();
    let recommender = Recommender::new(&model);
    // The first question makes what later ones share.
    black_box(recommender.ask_all(&questions[..questions.len().min(100)]));
    let started = cpu_seconds();
    let answers = black_box(recommender.ask_all(&questions));
    println!("{:.2}", cpu_seconds() - started);
    assert!(answers.iter().all(Result::is_ok));
}
