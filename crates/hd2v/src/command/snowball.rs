//! `hd2v snowball`: the works around some works.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use hyperdoc2vec::export::{BibEntry, BibFormat, bibliography};
use hyperdoc2vec::recommend::{DEFAULT_TOP, Recommender, RelatedWork, Snowball};

use super::common::{named, open_model};
use crate::output::{cell, count, print, print_bibliography, print_json, status};
use crate::wire;

/// List what some works cite, what cites them, and what is recommended from them
#[derive(Args)]
#[command(after_help = "\
A work is listed once, whatever ways lead to it, and the given works are not listed. Works with the same title, years at \
most two apart and the same first author count as one. Works that are linked with more of the given ones come first, then \
those that are recommended, by score.

The marks before an id are `<` for a work that one of the given works cites, `>` for one that cites a given work, and `?` \
for one that is recommended. Works that are cited, but are not in the library, are marked.

Examples:
  hd2v snowball refs.model lamport1978time fischer1985impossibility
  hd2v snowball refs.model lamport1978time --top 0 --format bibtex > found.bib
  hd2v snowball refs.model lamport1978time --format ris > found.ris
  hd2v snowball refs.model lamport1978time --json")]
pub struct SnowballArgs {
    /// The model file
    model: PathBuf,
    /// The ids of the works to begin with: cite keys, where a library was imported
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<String>,
    /// Number of works that are recommended from each given one; 0 for none
    #[arg(long, default_value_t = DEFAULT_TOP)]
    top: usize,
    /// Print a bibliography instead of a table
    #[arg(long, value_name = "FORMAT", value_parser = named::<BibFormat>(), conflicts_with = "json")]
    format: Option<BibFormat>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &SnowballArgs) -> Result<()> {
    let model = open_model(&arguments.model)?;
    let found = Recommender::new(&model).snowball(&arguments.keys, arguments.top)?;
    status(summary(&found));
    if arguments.json {
        return print_json(&wire::SnowballJson::from(found));
    }
    match arguments.format {
        Some(format) => {
            let entry = |work: &RelatedWork| BibEntry::of(&model, work.hit.row);
            print_bibliography(&bibliography(&found.works.iter().map(entry).collect::<Vec<_>>(), format), format)
        }
        None => print(&found.works.iter().map(line).collect::<String>()),
    }
}

/// How many works each way led to.
fn summary(found: &Snowball) -> String {
    let by = |way: fn(&RelatedWork) -> &[String]| found.works.iter().filter(|work| !way(work).is_empty()).count();
    format!(
        "{}: {} cited, {} citing, {} recommended; {} left out as doubles",
        count(found.works.len() as u64, "work"),
        by(|work| &work.cited_by),
        by(|work| &work.cites),
        by(|work| &work.recommended_from),
        found.doubles,
    )
}

fn line(work: &RelatedWork) -> String {
    let mark = |sign: char, given: &[String]| if given.is_empty() { ' ' } else { sign };
    let marks: String =
        [mark('<', &work.cited_by), mark('>', &work.cites), mark('?', &work.recommended_from)].iter().collect();
    let title = work.hit.title.as_deref().map(cell).unwrap_or_default();
    let year = work.hit.date.map(|date| format!(" ({})", date.year())).unwrap_or_default();
    let only = if work.cited_only { "  [not in your library]" } else { "" };
    format!("{marks}  {}  {title}{year}{only}\n", cell(&work.hit.id))
}
