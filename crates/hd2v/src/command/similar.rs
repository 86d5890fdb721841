//! `hd2v similar`: the neighbours of a document or a word.

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use hyperdoc2vec::recommend::{DEFAULT_TOP, Recommender, Side};

use super::common::{hits_table, named, open_model};
use crate::output::{print, print_json};
use crate::wire;
use crate::wire_from;

/// List the documents (or words) nearest to a given one
#[derive(Args)]
#[command(after_help = "\
IN vectors represent what a document says, OUT vectors what others say about it: documents with similar OUT vectors are \
linked to in similar contexts. The score is the cosine, at most 1.

Examples:
  hd2v similar papers.model P02-1040
  hd2v similar papers.model P02-1040 --by out --top 5 --json
  hd2v similar papers.model parser --words")]
pub struct SimilarArgs {
    /// The model file
    model: PathBuf,
    /// The id of a document; with --words, a word
    id: String,
    /// Number of hits
    #[arg(long, default_value_t = DEFAULT_TOP)]
    top: usize,
    /// Which vectors to compare: `in` for what documents say, `out` for what others say about them
    #[arg(long, default_value_t, value_parser = named::<Side>())]
    by: Side,
    /// List words instead of documents
    #[arg(long)]
    words: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &SimilarArgs) -> Result<()> {
    let model = open_model(&arguments.model)?;
    let recommender = Recommender::new(&model);
    let SimilarArgs { id, top, by, .. } = arguments;
    let rows: Vec<(f32, String, String)> = if arguments.words {
        let hits = recommender.similar_words(id, *by, *top)?;
        if arguments.json {
            return print_json(&wire::WordsJson { hits: wire_from::words(hits) });
        }
        hits.into_iter().map(|hit| (hit.score, hit.word, String::new())).collect()
    } else {
        let hits = recommender.similar(id, *by, *top)?;
        if arguments.json {
            return print_json(&wire::Similar { hits: wire_from::hits(hits) });
        }
        hits.into_iter().map(|hit| (hit.score, hit.id, hit.title.unwrap_or_default())).collect()
    };
    let name = if arguments.words { "word" } else { "id" };
    print(&hits_table("cosine", name, &rows, !std::io::stdout().is_terminal()))
}
