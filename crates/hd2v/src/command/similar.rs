//! `hd2v similar`: what lies near a document or a word.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use hyperdoc2vec::Model;
use hyperdoc2vec::model::Vectors;
use hyperdoc2vec::search::{Hit, nearest};
use serde_json::json;

use super::model::{document_json, find, hits_table};
use crate::output::{print, print_json};

/// List the documents, or words, nearest to one
#[derive(Args)]
#[command(after_help = "\
IN vectors tell what a document says, OUT vectors what others say of it: documents near by OUT are linked to in the same
contexts. Nearness is the cosine, 1 at the most.

Examples:
  hd2v similar papers.model P02-1040
  hd2v similar papers.model P02-1040 --by out --top 5 --json
  hd2v similar papers.model parser --words")]
pub struct Arguments {
    /// The model file
    model: PathBuf,
    /// The id of a document; with --words, a word
    id: String,
    /// How many
    #[arg(long, default_value_t = 10)]
    top: usize,
    /// Which vectors to compare
    #[arg(long, value_enum, default_value_t = By::In)]
    by: By,
    /// Compare words
    #[arg(long)]
    words: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum By {
    In,
    Out,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let model = Model::open(&arguments.model)?;
    let (which, names) = match (arguments.words, arguments.by) {
        (false, By::In) => (Vectors::DocIn, model.names()),
        (false, By::Out) => (Vectors::DocOut, model.names()),
        (true, By::In) => (Vectors::WordIn, model.vocabulary()),
        (true, By::Out) => (Vectors::WordOut, model.vocabulary()),
    };
    let what = if arguments.words { "vector for the word" } else { "document has the id" };
    let row = find(&model, names, &arguments.id, what)?;
    let vectors = model.vectors(which)?;
    ensure!(
        vectors.row(row).iter().any(|&x| x != 0.0),
        "{}: the {} vector of {:?} is zero, so nothing is near it",
        arguments.model.display(),
        if matches!(arguments.by, By::In) { "IN" } else { "OUT" },
        arguments.id
    );
    let hits = nearest(vectors, row, arguments.top);
    let titles = model.titles();
    if arguments.json {
        let hit = |(hit, rank): (&Hit, usize)| match arguments.words {
            false => document_json(&model, rank, hit),
            true => json!({"rank": rank, "word": names.get(hit.row as usize), "score": hit.score}),
        };
        return print_json(&json!({"hits": hits.iter().zip(1..).map(hit).collect::<Vec<_>>()}));
    }
    let title = |row: usize| if arguments.words { "" } else { titles.get(row) };
    let line = |hit: &Hit| (hit.score, names.get(hit.row as usize), title(hit.row as usize));
    print(&hits_table(&hits.iter().map(line).collect::<Vec<_>>()))
}
