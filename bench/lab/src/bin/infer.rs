//! How often the vector inferred from a document's own text is nearest to that document, and how many texts are
//! inferred per second.
//!
//! `cargo run --release -p hyperdoc2vec-lab --bin infer -- MODEL CORPUS [every=N] [steps=N] [noise=N] [time=X] [words=N]`
//!
//! `every=N` takes every N-th document, `words=N` only the first N words of each text.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::time::Instant;

use hyperdoc2vec::internals::kernel::{Matrix, dot, sum_of_squares};
use hyperdoc2vec::internals::search::rank;
use hyperdoc2vec::model::Vectors;
use hyperdoc2vec::{Corpus, InferParams, Inferrer, Model};

fn unit(vector: &[f32]) -> Vec<f32> {
    let length = sum_of_squares(vector).sqrt().max(1e-20);
    vector.iter().map(|x| x / length).collect()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let option = |name: &str| args.iter().find_map(|a| a.strip_prefix(&format!("{name}=")));
    let number = |name: &str, default: usize| option(name).map_or(default, |n| n.parse().unwrap());
    let (model, corpus) = (Model::open(&args[1]).unwrap(), Corpus::open(&args[2]).unwrap());
    let mut params = InferParams::default();
    params.steps = number("steps", params.steps);
    params.noise = number("noise", params.noise);
    params.time = option("time").map_or(params.time, |n| n.parse().unwrap());
    let inferrer = Inferrer::with(&model, &params).unwrap();
    let asked: Vec<usize> = (0..model.documents()).step_by(number("every", 1)).collect();
    let text = |&row: &usize| {
        let doc = corpus.find(model.names().get(row)).unwrap();
        let words = corpus.words(doc);
        let words = &words[..words.len().min(number("words", usize::MAX))];
        words.iter().map(|&word| corpus.word(word)).collect::<Vec<_>>().join(" ")
    };
    let texts: Vec<String> = asked.iter().map(text).collect();
    let started = Instant::now();
    let inferred = inferrer.texts(&texts).unwrap();
    let seconds = started.elapsed().as_secs_f64();
    let known: usize = inferred.iter().map(|text| text.known).sum();
    let (rate, words) = (texts.len() as f64 / seconds, known as f64 / seconds / 1e6);
    println!("{} texts, {rate:.0} a second, {words:.2} million known words a second", texts.len());
    let trained = model.vectors(Vectors::DocIn);
    let dim = trained.cols();
    let table: Vec<f32> = (0..trained.rows()).flat_map(|row| unit(trained.row(row))).collect();
    let queries: Vec<f32> = inferred.iter().flat_map(|text| unit(&text.vector)).collect();
    let hits = rank::top_batch(
        Matrix::new(&queries, asked.len(), dim, dim),
        Matrix::new(&table, trained.rows(), dim, dim),
        10,
        |_, _| true,
    );
    let among = |most: usize| {
        let found = hits.iter().zip(&asked).filter(|(h, row)| h.iter().take(most).any(|hit| hit.row as usize == **row));
        100.0 * found.count() as f64 / asked.len() as f64
    };
    println!("itself first {:.1} %, among ten {:.1} %", among(1), among(10));
    let (mut cosine, mut longer) = (0.0, 0.0);
    for (text, &row) in inferred.iter().zip(&asked) {
        cosine += f64::from(dot(&unit(&text.vector), &table[row * dim..][..dim]));
        longer += f64::from((sum_of_squares(&text.vector) / sum_of_squares(trained.row(row))).sqrt());
    }
    println!("cosine {:.3}, {:.2} times as long", cosine / asked.len() as f64, longer / asked.len() as f64);
}
