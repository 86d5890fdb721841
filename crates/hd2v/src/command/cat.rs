//! `hd2v cat`: the documents of a corpus as they were imported.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use hyperdoc2vec::import::to_jsonl;
use hyperdoc2vec::{Corpus, DocId};

use super::destination::{Destination, OutputKind, check};
use crate::output::UNWRITTEN;

/// Print documents of a corpus as jsonl
#[derive(Args)]
#[command(after_help = "\
Examples:
  hd2v cat papers.corpus P02-1040
  hd2v cat papers.corpus | hd2v import jsonl - --min-count 2 -o again.corpus")]
pub struct CatArgs {
    /// The corpus directory
    path: PathBuf,
    /// Ids of documents [default: all]
    ids: Vec<String>,
}

pub fn run(arguments: &CatArgs) -> Result<()> {
    check(&[Destination { path: Path::new("-"), kind: OutputKind::Documents, force: false }], &[&arguments.path])?;
    let corpus = Corpus::open(&arguments.path)?;
    corpus.verify()?;
    let docs: Vec<DocId> = match arguments.ids.as_slice() {
        [] => corpus.documents().collect(),
        ids => ids.iter().map(|id| corpus.find_or_suggest(id)).collect::<hyperdoc2vec::Result<_>>()?,
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for doc in docs {
        out.write_all(&to_jsonl(&[corpus.document(doc)?], &[])).context(UNWRITTEN)?;
    }
    if arguments.ids.is_empty() {
        let redirects = corpus.redirects().map(|(name, doc)| (name.to_owned(), corpus.name(doc).to_owned()));
        out.write_all(&to_jsonl(&[], &redirects.collect::<Vec<_>>())).context(UNWRITTEN)?;
    }
    out.flush().context(UNWRITTEN)
}
