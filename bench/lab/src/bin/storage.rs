//! What half precision costs: the share of held-out links that each ranking finds with the vectors of a model in single and
//! in half precision, how many first hits and first ten are the same, the size of the file, the time of questions.
//!
//! `cargo run --release -p hyperdoc2vec-lab --bin storage -- MODEL CORPUS UNTIL`
//!
//! MODEL was trained on the documents of CORPUS that are dated up to UNTIL, in single precision.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::path::Path;
use std::time::Instant;

use hyperdoc2vec::corpus::Split;
use hyperdoc2vec::evaluate::ranking_recall;
use hyperdoc2vec::internals::storage::container::{Container, Tensor, write};
use hyperdoc2vec::model::{FORMAT, VERSION};
use hyperdoc2vec::{Corpus, Model, Question, Ranking, Recommender, Vectors};

/// The matrices of vectors.
const VECTORS: [Vectors; 4] = [Vectors::WordIn, Vectors::WordOut, Vectors::DocIn, Vectors::DocOut];
/// Questions of each comparison.
const QUESTIONS: usize = 1000;
/// Words of a question about hits: as many as stand around a link.
const WORDS: usize = 100;

/// Writes the model once more, with its vectors in half precision.
fn halve(from: &Path, to: &Path) {
    let container = Container::open(from, FORMAT, VERSION).unwrap();
    let mut about = container.about().clone();
    let dim = about["params"]["dim"].as_u64().unwrap() as usize;
    let names = VECTORS.iter().map(|which| which.name());
    let mut tensors: Vec<Tensor<'_>> =
        names.map(|name| Tensor::halves(name, container.array(name).unwrap(), dim, dim)).collect();
    tensors.extend(container.tensors().filter(|tensor| VECTORS.iter().all(|which| which.name() != tensor.name())));
    let keys = about.as_object_mut().unwrap();
    ["format", "version", "program", "container", "checksums"].iter().for_each(|key| drop(keys.remove(*key)));
    write(to, FORMAT, VERSION, &tensors, about).unwrap();
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let corpus = Corpus::open(&args[2]).unwrap();
    let split = Split::by_date(&corpus, args[3].parse().unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let half = folder.path().join("half");
    halve(Path::new(&args[1]), &half);
    let models = [Model::open(&args[1]).unwrap(), Model::open(half).unwrap()];
    for model in &models {
        let name: &str = model.storage().into();
        let bytes = std::fs::metadata(model.path()).unwrap().len();
        let (questions, recalls) = ranking_recall(&corpus, &split, model, QUESTIONS, 10).unwrap();
        println!("{name}: {:.2} MB, {questions} questions", bytes as f64 / 1e6);
        for recall in recalls {
            let (with, without) = (100.0 * recall.with_anchor, 100.0 * recall.without_anchor);
            println!(
                "  {:?}{}: {with:.2} % {without:.2} %",
                recall.ranking,
                if recall.sourced { ", source" } else { "" }
            );
        }
    }
    let step = corpus.len().div_ceil(QUESTIONS);
    let texts: Vec<String> = corpus
        .documents()
        .step_by(step)
        .map(|document| corpus.words(document).iter().take(WORDS).map(|&word| corpus.word(word)).collect::<Vec<_>>())
        .filter(|words| words.len() >= WORDS / 4)
        .map(|words| words.join(" "))
        .collect();
    let has_ranker = !models[0].about()["hybrid"].is_null();
    for ranking in [Ranking::Embedding, Ranking::Hybrid].into_iter().take(1 + usize::from(has_ranker)) {
        let [one, other] = models.each_ref().map(|model| {
            let recommender = Recommender::new(model);
            let ask = |text: &String| recommender.ask(&Question::new(text.clone()).rank(ranking).top(10)).unwrap();
            let began = Instant::now();
            let hits: Vec<Vec<String>> =
                texts.iter().map(|text| ask(text).hits.into_iter().map(|hit| hit.id).collect()).collect();
            println!("{ranking:?}: {:.2} ms a question", began.elapsed().as_secs_f64() * 1e3 / texts.len() as f64);
            hits
        });
        let same = |n: usize| one.iter().zip(&other).filter(|(a, b)| a.iter().take(n).eq(b.iter().take(n))).count();
        println!(
            "{ranking:?}: of {} questions, {} the same first hit, {} the same ten",
            texts.len(),
            same(1),
            same(10)
        );
    }
}
