//! `hd2v add`: new documents for a model.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use hyperdoc2vec::{Added, Addition, Corpus, Model, Shard};

use super::common::{most_threads, open_model};
use super::destination::{Destination, OutputKind, check};
use crate::output::{count, status, thousands};
use crate::progress::{count_reporter, stop_on_interrupt};

/// Add new documents to a model without training it again
#[derive(Args)]
#[command(after_help = "\
Nothing that the model has learnt changes. New documents get vectors from their text and can be found by all rankings at \
once; the words around their links help to find the documents they link to. Documents already in the model are skipped.

A model to which many documents were added finds less than one trained on all of them, so retrain from time to time.

Example:
  hd2v import jsonl this-week.jsonl -o week.corpus
  hd2v add papers.model week.corpus -o papers-new.model")]
pub struct AddArgs {
    /// The model file
    model: PathBuf,
    /// The corpus directory, imported with --keep-case if the model's own corpus was
    corpus: PathBuf,
    /// The model file to write; with --shard, the part
    #[arg(short, long)]
    output: PathBuf,
    /// Infer the vectors of shard I of N only (1/N to N/N) and write a part; `hd2v merge` makes the model of all N parts
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Replace the output if it exists
    #[arg(long)]
    force: bool,
    /// Threads [default: one per core]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = most_threads)]
    threads: usize,
}

impl AddArgs {
    /// Uses all cores and replaces the output.
    pub fn of(model: &Path, corpus: &Path, output: &Path) -> AddArgs {
        AddArgs {
            model: model.to_owned(),
            corpus: corpus.to_owned(),
            output: output.to_owned(),
            shard: None,
            force: true,
            threads: 0,
        }
    }
}

pub fn run(arguments: &AddArgs) -> Result<()> {
    let output = &arguments.output;
    // The model itself may be replaced: the new one has all that it has.
    let kind = if arguments.shard.is_some() { OutputKind::Part } else { OutputKind::Model };
    let (output_at, corpus) = (Destination { path: output, kind, force: arguments.force }, &arguments.corpus);
    let mut inputs: Vec<&Path> = vec![corpus];
    inputs.extend(arguments.shard.map(|_| arguments.model.as_path()));
    check(&[output_at], &inputs)?;
    let started = Instant::now();
    let model = open_model(&arguments.model)?;
    let corpus = Corpus::open(&arguments.corpus)?;
    stop_on_interrupt();
    let watch = count_reporter("documents");
    let addition = Addition::new(&model, &corpus).threads(arguments.threads).replace().watch(watch);
    if let Some(shard) = arguments.shard {
        let documents = count(addition.shard(shard).write_part(output)?, "new document");
        let seconds = started.elapsed().as_secs_f64();
        status(format_args!("{}: shard {shard}, {documents}; {seconds:.1} s", output.display()));
        return Ok(());
    }
    let added = addition.write(output)?;
    report(output, &model, &added, started);
    Ok(())
}

/// Prints the counts of an addition on stderr.
pub fn report(output: &Path, model: &Model, added: &Added, started: Instant) {
    if added.skipped > 0 {
        status(format_args!("skipped {} already in the model", count(added.skipped, "document")));
    }
    if added.unknown > 0 {
        let new = count(added.unknown, "new document");
        status(format_args!("{new} with no word that the model has a vector for: can be found only by BM25"));
    }
    status(format_args!(
        "{}: {} added to {}, with {} and {}; {:.1} s",
        output.display(),
        count(added.documents, "document"),
        thousands(model.documents() as u64),
        count(added.links, "link"),
        count(added.words, "new word"),
        started.elapsed().as_secs_f64(),
    ));
}
