//! Train a model on documents and ask it what a text should link to.
//!
//! `cargo run --release --example train_and_ask`
//!
//! The documents here are made by rule, so that the example needs no data. Replace the first step by
//! `Import::files(Format::Markdown, ["notes/"])`, or any other format, to use your own.
#![allow(clippy::print_stdout)]

use std::ops::ControlFlow;

use hyperdoc2vec::generate::{GenerateParams, Generator};
use hyperdoc2vec::{Import, Question, Recommender, Side, Training};

fn main() -> Result<(), hyperdoc2vec::Error> {
    let folder = std::env::temp_dir().join("hyperdoc2vec-train-and-ask");
    std::fs::create_dir_all(&folder).expect("a folder for temporary files");

    // 1. Documents become a corpus: words are counted, links are resolved. `replace` lets the example run twice.
    let mut params = GenerateParams::default();
    (params.docs, params.links) = (600, 3000);
    let documents = Generator::new(&params)?.documents(0..600);
    let example = documents.iter().find(|document| !document.links.is_empty()).expect("a document with a link").clone();
    let corpus = Import::documents(documents).replace().build(folder.join("made.corpus"))?;
    let counts = &corpus.manifest().counts;
    println!("{} documents with {} links", counts.documents, counts.links);

    // 2. The corpus trains a model. The closure sees every batch; returning `Break` would stop the run.
    let mut phase = "";
    let watch = |progress: &hyperdoc2vec::TrainProgress| {
        if phase != progress.phase {
            phase = progress.phase;
            println!("training: {phase}");
        }
        ControlFlow::Continue(())
    };
    let model = Training::new(&corpus).dim(32).watch(watch).replace().run(folder.join("made.model"))?;

    // 3. The model answers. The text is cut from a document around one of its links, and `[[?]]` stands for the link.
    let link = &example.links[0];
    let from = example.text[..link.anchor].char_indices().rev().nth(120).map_or(0, |(at, _)| at);
    let to = example.text[link.at..].char_indices().nth(60).map_or(example.text.len(), |(at, _)| link.at + at);
    let text = format!("{} [[?]] {}", &example.text[from..link.anchor], &example.text[link.at..to]);
    println!("\n{text}\nlinks to {:?} in {}", link.targets, example.id);
    let recommender = Recommender::new(&model);
    let answer = recommender.ask(&Question::new(text).source(&example.id).top(5).explain())?;
    for hit in &answer.hits {
        let why = hit.why.as_ref().and_then(|why| why.bm25.shares.first());
        println!("{:.3}  {}  most by {:?}", hit.score, hit.id, why.map(|(word, _)| word));
    }

    // 4. Vectors know which documents are about the same.
    for hit in recommender.similar(&example.id, Side::In, 3)? {
        println!("near {}: {} {:.3}", example.id, hit.id, hit.score);
    }
    Ok(())
}
