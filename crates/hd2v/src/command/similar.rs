//! `hd2v similar`: what lies near a document or a word.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use hyperdoc2vec::Model;
use hyperdoc2vec::search::Hit;

use super::model::hits_table;
use crate::answer::{Problem, near};
use crate::output::{print, print_json};
use crate::wire::{By, TOP};

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
    #[arg(long, default_value_t = TOP)]
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

pub fn run(arguments: &Arguments) -> Result<()> {
    let model = Model::open(&arguments.model)?;
    let Arguments { id, by, top, words, .. } = arguments;
    let told = |problem: Problem| problem.told_of(model.path());
    if arguments.json {
        return match words {
            true => print_json(&near::words(&model, id, *by, *top).map_err(told)?),
            false => print_json(&near::similar(&model, id, *by, *top).map_err(told)?),
        };
    }
    let (hits, names) = match words {
        true => (near::word_rows(&model, id, *by, *top), model.vocabulary()),
        false => (near::similar_rows(&model, id, *by, *top), model.names()),
    };
    let title = |row: usize| if *words { "" } else { model.titles().get(row) };
    let line = |hit: &Hit| (hit.score, names.get(hit.row as usize), title(hit.row as usize));
    print(&hits_table(&hits.map_err(told)?.iter().map(line).collect::<Vec<_>>()))
}
