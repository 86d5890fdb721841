//! `hd2v merge`: parts that several processes made, into what one would have made.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use hyperdoc2vec::document::visible_json;
use hyperdoc2vec::import::Merge;
use hyperdoc2vec::storage::{PartKind, part_kind};
use hyperdoc2vec::{Addition, Corpus, EmbeddedCounts, EmbeddedParts, Error};

use super::common::{most_threads, open_model, report_result};
use super::destination::{Destination, OutputKind, check};
use super::embed::VectorOutput;
use super::{add, embed};
use crate::progress::{Reporter, count_reporter, stop_on_interrupt};

/// Texts that are written before it is asked whether to stop.
const TEXTS: usize = 1000;

/// Merge the parts that `import`, `embed` or `add` wrote with --shard
#[derive(Args)]
#[command(after_help = "\
The result has the same bytes as that of the command without --shard. All parts are needed, made by the same version with \
the same options from the same input.

Examples:
  for i in 1 2 3; do hd2v import jsonl papers.jsonl --shard $i/3 -o $i.part & done; wait
  hd2v merge 1.part 2.part 3.part -o papers.corpus
  hd2v merge vectors-*.part -o vectors.npy
  hd2v merge added-*.part --model papers.model --corpus week.corpus -o papers-new.model")]
pub struct MergeArgs {
    /// The parts, in any order
    #[arg(required = true)]
    parts: Vec<PathBuf>,
    /// The corpus, file of vectors (.npy, .jsonl, `-` for stdout) or model to write
    #[arg(short, long)]
    output: PathBuf,
    /// Parts of `add`: the model to which documents are added
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Parts of `add`: the corpus of the new documents
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Parts of `import`: write the JSON report of the whole import to this file (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Replace the output if it exists
    #[arg(long)]
    force: bool,
    /// Threads [default: one per core]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = most_threads)]
    threads: usize,
}

pub fn run(arguments: &MergeArgs) -> Result<()> {
    let first = arguments.parts.first().context("no parts are given")?;
    let kind = part_kind(first)?;
    let given = [
        (arguments.model.is_some(), "--model", PartKind::Add),
        (arguments.corpus.is_some(), "--corpus", PartKind::Add),
        (arguments.report.is_some(), "--report", PartKind::Import),
    ];
    if let Some((_, flag, of)) = given.into_iter().find(|&(given, _, of)| given && of != kind) {
        let what = format!("{flag} is for parts of {of}, but {} is a part of {kind}", first.display());
        return Err(Error::Usage(what).into());
    }
    stop_on_interrupt();
    match kind {
        PartKind::Import => corpus(arguments),
        PartKind::Embed => vectors(arguments),
        PartKind::Add => model(arguments),
        _ => Err(Error::Usage(format!("parts of {kind} cannot be merged")).into()),
    }
}

fn inputs(arguments: &MergeArgs) -> Vec<&Path> {
    arguments.parts.iter().map(PathBuf::as_path).collect()
}

fn corpus(arguments: &MergeArgs) -> Result<()> {
    let (output, force) = (&arguments.output, arguments.force);
    let corpus = Destination { path: output, kind: OutputKind::Corpus, force };
    let report = arguments.report.as_deref();
    let report = report.map(|path| Destination { path, kind: OutputKind::ImportReport, force });
    check(&[corpus].into_iter().chain(report).collect::<Vec<_>>(), &inputs(arguments))?;
    let mut reporter = Reporter::new();
    let merge = Merge::parts(&arguments.parts).threads(arguments.threads).watch(|progress| reporter.watch(progress));
    let merge = if force { merge.replace() } else { merge };
    let (corpus, whole) = merge.build_with_report(output)?;
    report_result(&corpus, reporter.finish());
    let Some(report) = report else { return Ok(()) };
    report.write(&mut |out| {
        let json = serde_json::to_string_pretty(&whole)?;
        writeln!(out, "{}", visible_json(&json)).with_context(|| format!("cannot write {}", report.path.display()))
    })
}

fn vectors(arguments: &MergeArgs) -> Result<()> {
    let started = Instant::now();
    let parts = EmbeddedParts::open(&arguments.parts)?;
    let dim = parts.dim();
    let output = VectorOutput { path: &arguments.output, dim, force: arguments.force };
    output.check(&inputs(arguments))?;
    let mut parts = Some(parts);
    let (mut watch, mut texts) = (count_reporter("texts"), 0);
    let counts = output.write(&mut |each| {
        let Some(parts) = parts.take() else { return Ok(EmbeddedCounts::default()) };
        Ok(parts.each(|id, inferred| {
            texts += 1;
            if texts % TEXTS == 0 && watch(texts, texts).is_break() {
                return Err(Error::Interrupted);
            }
            each(id, inferred)
        })?)
    })?;
    embed::report(&arguments.output, dim, &counts, started.elapsed().as_secs_f64());
    Ok(())
}

fn model(arguments: &MergeArgs) -> Result<()> {
    let (Some(model), Some(corpus)) = (&arguments.model, &arguments.corpus) else {
        let what = "parts of an addition are merged with --model and --corpus, those that they were made with";
        return Err(Error::Usage(what.to_owned()).into());
    };
    let (output, started) = (&arguments.output, Instant::now());
    let mut inputs = inputs(arguments);
    inputs.push(corpus);
    check(&[Destination { path: output, kind: OutputKind::Model, force: arguments.force }], &inputs)?;
    let (model, corpus) = (open_model(model)?, Corpus::open(corpus)?);
    let addition = Addition::new(&model, &corpus).threads(arguments.threads).replace().parts(&arguments.parts);
    let added = addition.watch(count_reporter("documents")).write(output)?;
    add::report(output, &model, &added, started);
    Ok(())
}
