//! `hd2v info`: a summary of a corpus or a model.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use hyperdoc2vec::Corpus;
use hyperdoc2vec::import::CITED_ONLY;
use hyperdoc2vec::recommend::Recommender;
use serde::Serialize;
use serde_json::{Value, json};

use super::common::open_model;
use crate::output::{cell, count, print, print_json, thousands, two_columns};
use crate::wire::Info;

/// Summarise a corpus or a model: counts, dates, how it was made
#[derive(Args)]
#[command(after_help = "\
A position is a place with a link; a link is a pair of a position and a target; a newcomer is a document that no link \
points at.

Examples:
  hd2v info papers.corpus
  hd2v info papers.corpus --json")]
pub struct InfoArgs {
    /// The corpus directory or the model file
    path: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &InfoArgs) -> Result<()> {
    if arguments.path.is_file() {
        return model(arguments);
    }
    let corpus = Corpus::open(&arguments.path)?;
    let (languages, labels) = (corpus.language_counts()?, corpus.label_counts()?);
    if arguments.json {
        print_json(&json(&corpus, &languages, &labels))
    } else {
        print(&table(&corpus, &languages, &labels))
    }
}

/// The JSON of a model.
#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    info: Info,
    storage: &'static str,
    parameters: &'a Value,
    provenance: Value,
}

fn model(arguments: &InfoArgs) -> Result<()> {
    let model = open_model(&arguments.path)?;
    let about = model.about();
    let counts = &about["counts"];
    if arguments.json {
        let mut provenance = json!({"corpus": about["corpus"], "program": about["program"]});
        if !about["additions"].is_null() {
            provenance["additions"] = about["additions"].clone();
        }
        let info = Info::from(Recommender::new(&model).info());
        let storage = model.storage().into();
        let out = Whole { info, storage, parameters: &about["params"], provenance };
        return print_json(&out);
    }
    let number = |name: &str| thousands(counts[name].as_u64().unwrap_or(0));
    let params = model.params();
    print(&two_columns(&[
        ("method", params.method.to_string()),
        ("documents", number("documents")),
        ("words", number("words")),
        ("vocabulary", number("vocabulary")),
        ("positions", number("positions")),
        ("links", number("links")),
        ("newcomers", number("newcomers")),
        ("dimensions", params.dim.to_string()),
        ("storage", <&str>::from(model.storage()).to_owned()),
        ("window", params.window.to_string()),
        ("seed", params.seed.to_string()),
        ("until", params.until.map_or("-".to_owned(), |date| date.to_string())),
        ("corpus", about["corpus"]["fingerprint"].as_str().unwrap_or("?").to_owned()),
    ]))
}

fn json(corpus: &Corpus, languages: &[(&str, u64)], labels: &[(&str, u64)]) -> Value {
    let manifest = corpus.manifest();
    let counts = &manifest.counts;
    let by_name = |names: &[(&str, u64)]| -> serde_json::Map<_, _> {
        names.iter().map(|&(name, n)| (name.to_owned(), json!(n))).collect()
    };
    let mut out = json!({
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
            "counts": by_name(labels),
        },
        "parameters": manifest.options,
        "provenance": {
            "format": manifest.source.format,
            "inputs": manifest.source.inputs,
            "program": manifest.program,
            "fingerprint": manifest.fingerprint,
        },
    });
    if !languages.is_empty() {
        let documents: u64 = languages.iter().map(|&(_, n)| n).sum();
        out["languages"] = json!({"distinct": languages.len(), "documents": documents, "counts": by_name(languages)});
    }
    out
}

/// The number of names, and the most frequent ones.
fn most_frequent(names: &[(&str, u64)]) -> String {
    let most: Vec<String> =
        names.iter().take(3).map(|(name, n)| format!("{} ({})", cell(name), thousands(*n))).collect();
    let more = if names.len() > 3 { ", …" } else { "" };
    format!("{}: {}{more}", thousands(names.len() as u64), most.join(", "))
}

fn table(corpus: &Corpus, languages: &[(&str, u64)], labels: &[(&str, u64)]) -> String {
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
        rows.push(("dates", format!("{first} to {last} ({})", count(counts.dated, "document"))));
    }
    if !languages.is_empty() {
        rows.push(("languages", most_frequent(languages)));
    }
    let (cited, labels): (Vec<_>, Vec<_>) = labels.iter().copied().partition(|(name, _)| *name == CITED_ONLY);
    if let Some((_, documents)) = cited.first() {
        rows.push(("cited only", format!("{} not in the library", count(*documents, "document"))));
    }
    let labels = &labels[..];
    if !labels.is_empty() {
        rows.push(("labels", most_frequent(labels)));
    }
    if counts.redirects > 0 {
        rows.push(("redirects", thousands(counts.redirects)));
    }
    rows.push(("source", format!("{} {}", manifest.source.format, manifest.source.inputs.join(" "))));
    rows.push(("fingerprint", manifest.fingerprint.clone()));
    two_columns(&rows)
}
