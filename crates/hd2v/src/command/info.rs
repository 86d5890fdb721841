//! `hd2v info`: what a corpus is.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use hyperdoc2vec::Corpus;
use serde_json::json;

use crate::output::{print, print_json, thousands, two_columns};

/// Tell what a corpus is: how much there is of what, from when to when, how it was made
#[derive(Args)]
#[command(after_help = "\
Positions are places where a link stands, links are pairs of a position and a target,
newcomers are documents that no link points at.

Examples:
  hd2v info papers.corpus
  hd2v info papers.corpus --json")]
pub struct Arguments {
    /// The corpus directory
    path: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// For people to read.
    pub fn of(path: &Path) -> Arguments {
        Arguments { path: path.to_owned(), json: false }
    }
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let corpus = Corpus::open(&arguments.path)?;
    let labels = corpus.label_counts()?;
    if arguments.json { print_json(&json(&corpus, &labels)) } else { print(&table(&corpus, &labels)) }
}

fn json(corpus: &Corpus, labels: &[(&str, u64)]) -> serde_json::Value {
    let manifest = corpus.manifest();
    let counts = &manifest.counts;
    json!({
        "kind": "corpus",
        "documents": counts.documents,
        "words": counts.words,
        "vocabulary": counts.vocabulary,
        "distinct_words": counts.distinct_words,
        "positions": counts.positions,
        "links": counts.links,
        "newcomers": counts.newcomers,
        "redirects": counts.redirects,
        "text_bytes": counts.text_bytes,
        "dates": manifest.dates.map(|(first, last)| json!({"first": first, "last": last, "documents": counts.dated})),
        "labels": {
            "distinct": counts.labels,
            "documents": counts.labelled,
            "counts": labels.iter().map(|&(label, n)| (label.to_owned(), json!(n))).collect::<serde_json::Map<_, _>>(),
        },
        "parameters": manifest.options,
        "provenance": {
            "format": manifest.source.format,
            "inputs": manifest.source.inputs,
            "program": manifest.program,
            "fingerprint": manifest.fingerprint,
        },
    })
}

fn table(corpus: &Corpus, labels: &[(&str, u64)]) -> String {
    let manifest = corpus.manifest();
    let counts = &manifest.counts;
    let mut rows = vec![
        ("documents", thousands(counts.documents)),
        ("words", thousands(counts.words)),
        (
            "vocabulary",
            format!("{} of {} distinct words", thousands(counts.vocabulary), thousands(counts.distinct_words)),
        ),
        ("positions", thousands(counts.positions)),
        ("links", thousands(counts.links)),
        ("newcomers", thousands(counts.newcomers)),
    ];
    if let Some((first, last)) = manifest.dates {
        rows.push(("dates", format!("{first} to {last} ({} documents)", thousands(counts.dated))));
    }
    if counts.labels > 0 {
        let most: Vec<String> = labels.iter().take(3).map(|(label, n)| format!("{label} ({n})")).collect();
        let more = if counts.labels > 3 { ", …" } else { "" };
        rows.push(("labels", format!("{}: {}{more}", thousands(counts.labels), most.join(", "))));
    }
    if counts.redirects > 0 {
        rows.push(("redirects", thousands(counts.redirects)));
    }
    rows.push(("source", format!("{} {}", manifest.source.format, manifest.source.inputs.join(" "))));
    rows.push(("fingerprint", manifest.fingerprint.clone()));
    two_columns(&rows)
}
