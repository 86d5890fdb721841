//! `hd2v doctor`: problems of a corpus or a model, and losses of an import.

mod model;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use hyperdoc2vec::document::Loss;
use hyperdoc2vec::{Corpus, DocId};
use serde_json::json;

use self::model::Examination;
use super::common::open_model;
use crate::output::{cell, count, losses, print, print_json};

/// Check a corpus or a model: checksums, what was lost on the way into a corpus, what a model lacks
#[derive(Args)]
#[command(after_help = "\
Reads everything and compares its checksums first. Of a corpus, reports what was lost while it was imported: unknown \
targets, duplicate ids, empty documents, links without context, self links. Of a model, reports vectors that are zero or \
not finite, how well the probabilities of the learnt ranking held on links left out, and the files beside it.

Examples:
  hd2v doctor papers.corpus
  hd2v doctor papers.corpus --links 20     # read some links in their contexts
  hd2v doctor papers.corpus --json
  hd2v doctor papers.model")]
pub struct DoctorArgs {
    /// The corpus directory or the model file
    path: PathBuf,
    /// Of a corpus, also show this many links drawn at random, with the words around them
    #[arg(long, default_value_t = 0, value_name = "N")]
    links: usize,
    /// Seed of the random draw
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Losses that are listed even if there are none.
const ALWAYS: [Loss; 6] = [
    Loss::UnknownTarget,
    Loss::DuplicateId,
    Loss::EmptyText,
    Loss::MalformedRecord,
    Loss::LinkWithoutContext,
    Loss::SelfLink,
];

pub fn run(arguments: &DoctorArgs) -> Result<()> {
    if arguments.path.is_file() {
        let examination = Examination::new(&open_model(&arguments.path)?)?;
        return if arguments.json { print_json(&examination.json()) } else { print(&examination.report()) };
    }
    let corpus = Corpus::open(&arguments.path)?;
    corpus.verify()?;
    let sample = sample(&corpus, arguments.links, arguments.seed)?;
    if arguments.json { print_json(&json(&corpus, &sample)) } else { print(&report(&corpus, &sample)) }
}

fn json(corpus: &Corpus, sample: &[Sample]) -> serde_json::Value {
    let lost = &corpus.manifest().losses;
    let mut kinds = serde_json::Map::new();
    let all = ALWAYS.into_iter().chain(lost.iter().map(|(loss, _)| loss));
    for loss in all {
        let tally = lost.iter().find(|&(kind, _)| kind == loss).map(|(_, tally)| tally.clone()).unwrap_or_default();
        let key = serde_json::to_value(loss).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
        kinds.insert(key, json!({"count": tally.count, "what": loss.describe(), "samples": tally.samples}));
    }
    let targets = |s: &Sample| s.targets.iter().map(TitledId::whole).collect::<Vec<_>>();
    let links = sample.iter().map(|s| json!({"source": s.source.whole(), "context": s.context, "targets": targets(s)}));
    json!({"kind": "doctor", "intact": true, "losses": kinds, "links": links.collect::<Vec<_>>()})
}

fn report(corpus: &Corpus, sample: &[Sample]) -> String {
    let counts = &corpus.manifest().counts;
    let lost = &corpus.manifest().losses;
    let mut out = format!(
        "intact: {}, {}, {}; all checksums match\n",
        count(counts.documents, "document"),
        count(counts.words, "word"),
        count(counts.links, "link")
    );
    out.push_str(&losses(lost, 10));
    for loss in ALWAYS.into_iter().filter(|&loss| lost.count(loss) == 0) {
        out.push_str(&format!("0 {}\n", loss.describe()));
    }
    for link in sample {
        let targets: Vec<String> = link.targets.iter().map(TitledId::shown).collect();
        out.push_str(&format!("\n{}\n  {}\n  → {}\n", link.source.shown(), link.context, targets.join(" | ")));
    }
    out
}

/// A link in its context, as text.
struct Sample {
    source: TitledId,
    context: String,
    targets: Vec<TitledId>,
}

/// The id and the title of a document.
struct TitledId(String, Option<String>);

impl TitledId {
    fn whole(&self) -> String {
        self.joined(str::to_owned)
    }

    fn shown(&self) -> String {
        self.joined(cell)
    }

    fn joined(&self, part: impl Fn(&str) -> String) -> String {
        let TitledId(id, title) = self;
        title.as_deref().map_or_else(|| part(id), |title| format!("{} “{}”", part(id), part(title)))
    }
}

fn sample(corpus: &Corpus, count: usize, seed: u64) -> Result<Vec<Sample>> {
    corpus.sample_positions(count, seed).into_iter().map(|number| shown(corpus, number)).collect()
}

fn shown(corpus: &Corpus, number: usize) -> Result<Sample> {
    let position = corpus.position(number);
    let title = |doc: DocId| TitledId(corpus.name(doc).to_owned(), corpus.title(doc).map(str::to_owned));
    let (before, after) = corpus.context(&position, 12);
    let words = |words: &[hyperdoc2vec::WordId]| words.iter().map(|&w| corpus.word(w)).collect::<Vec<_>>().join(" ");
    let own = position.anchor.min(before.len());
    let (before, anchor) = before.split_at(before.len() - own);
    let anchor = if anchor.is_empty() { String::new() } else { format!("[{}]", words(anchor)) };
    let context = format!("… {} {anchor}→ {} …", words(before), words(after));
    let targets = position.targets.iter().map(|&doc| title(doc)).collect();
    Ok(Sample { source: title(position.source), context, targets })
}
