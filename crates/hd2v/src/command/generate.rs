//! `hd2v generate`: a synthetic corpus with known structure.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use hyperdoc2vec::generate;
use hyperdoc2vec::generate::GenerateParams;
use hyperdoc2vec::import::ImportOptions;

use super::common::{WordArgs, most_threads, report_result};
use super::destination::{Destination, OutputKind};
use crate::output::{count, status};
use crate::progress::{Reporter, stop_on_interrupt};

/// Make a synthetic corpus of any size, with known topics, intents, years and newcomers
#[derive(Args)]
#[command(after_help = "\
docs/guide/generate.md describes its structure.

Examples:
  hd2v generate --docs 1000 --links 5000 --seed 1 -o made.corpus
  hd2v generate --docs 100 --links 300 --jsonl -")]
pub struct GenerateArgs {
    /// Number of documents
    #[arg(long, default_value_t = GenerateParams::default().docs)]
    docs: usize,
    /// Number of links (pairs of a position and a target)
    #[arg(long, default_value_t = GenerateParams::default().links)]
    links: usize,
    /// The random seed
    #[arg(long, default_value_t = GenerateParams::default().seed)]
    seed: u64,
    /// Mean number of words per document
    #[arg(long, default_value_t = GenerateParams::default().words)]
    words: usize,
    /// Number of topics [default: a third of the square root of the number of documents]
    #[arg(long)]
    topics: Option<usize>,
    /// Share of documents that nothing links to (others may end up without links by chance)
    #[arg(long, default_value_t = GenerateParams::default().newcomers)]
    newcomers: f32,
    /// The corpus directory to write
    #[arg(short, long, required_unless_present = "jsonl")]
    output: Option<PathBuf>,
    /// Write jsonl to this file (`-` for stdout) instead of a corpus
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    jsonl: Option<PathBuf>,
    #[command(flatten)]
    corpus: WordArgs,
    /// Threads [default: one per core]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = most_threads)]
    threads: usize,
}

pub fn run(arguments: &GenerateArgs) -> Result<()> {
    let &GenerateArgs { docs, links, seed, words, topics, newcomers, threads, .. } = arguments;
    let mut params = GenerateParams::default();
    (params.docs, params.links, params.seed) = (docs, links, seed);
    (params.words, params.topics, params.newcomers) = (words, topics, newcomers);
    let force = arguments.corpus.force;
    let mut options = ImportOptions::default();
    (options.corpus, options.threads, options.force) = (arguments.corpus.options(), threads, force);
    stop_on_interrupt();
    let mut reporter = Reporter::new();
    if let Some(path) = &arguments.jsonl {
        let documents = Destination { path, kind: OutputKind::Documents, force }
            .write(&mut |out| Ok(generate::generate_jsonl(&params, out, &options, &mut |p| reporter.watch(p))?))?;
        let seconds = reporter.finish();
        status(format_args!("{}: {}; {seconds:.1} s", path.display(), count(documents, "document")));
        return Ok(());
    }
    let output = arguments.output.as_deref().context("--output is missing")?;
    let corpus = generate::generate(&params, output, &options, &mut |p| reporter.watch(p))?;
    report_result(&corpus, reporter.finish());
    Ok(())
}
