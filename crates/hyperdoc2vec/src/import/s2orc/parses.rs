//! A parse as the releases of 2019 and 2020 have it: paragraphs with spans, and a bibliography with links.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{authors, loose, year};
use crate::import::reference::BibRecord;
use crate::import::reference::spans::{Characters, Span, SpanKind, SpannedText};

#[derive(Default, Deserialize)]
pub(super) struct Parse {
    /// In metadata a string; in a parse a list of paragraphs.
    #[serde(default, rename = "abstract")]
    summary: ParsedAbstract,
    #[serde(default)]
    body_text: Option<Vec<ParsedParagraph>>,
    #[serde(default)]
    bib_entries: Option<BTreeMap<String, ParsedBibEntry>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ParsedAbstract {
    Paragraphs(Vec<ParsedParagraph>),
    Other(serde::de::IgnoredAny),
}

impl Default for ParsedAbstract {
    fn default() -> Self {
        ParsedAbstract::Other(serde::de::IgnoredAny)
    }
}

#[derive(Deserialize)]
struct ParsedParagraph {
    #[serde(default)]
    text: String,
    #[serde(default)]
    cite_spans: Vec<CiteSpan>,
}

#[derive(Deserialize)]
struct CiteSpan {
    #[serde(default)]
    start: usize,
    #[serde(default)]
    end: usize,
    #[serde(default, deserialize_with = "loose")]
    ref_id: Option<String>,
}

#[derive(Deserialize)]
struct ParsedBibEntry {
    #[serde(default, deserialize_with = "loose")]
    title: Option<String>,
    #[serde(default, deserialize_with = "authors")]
    authors: Vec<String>,
    #[serde(default, deserialize_with = "loose")]
    year: Option<String>,
    /// The paper that it means; the release of 2019 has a list.
    #[serde(default, deserialize_with = "super::strings", alias = "links")]
    link: Vec<String>,
    #[serde(default)]
    other_ids: Option<OtherIds>,
    #[serde(default, deserialize_with = "loose")]
    raw_text: Option<String>,
}

#[derive(Deserialize)]
struct OtherIds {
    #[serde(default, rename = "DOI", deserialize_with = "super::strings")]
    doi: Vec<String>,
    #[serde(default, rename = "arXiv", deserialize_with = "super::strings")]
    arxiv: Vec<String>,
    #[serde(default, rename = "PMID", deserialize_with = "super::strings")]
    pmid: Vec<String>,
}

impl Parse {
    fn paragraphs(&self) -> impl Iterator<Item = &ParsedParagraph> {
        let summary = match &self.summary {
            ParsedAbstract::Paragraphs(paragraphs) => paragraphs.as_slice(),
            ParsedAbstract::Other(_) => &[],
        };
        summary.iter().chain(self.body_text.iter().flatten())
    }

    pub(super) fn has_text(&self) -> bool {
        self.paragraphs().any(|paragraph| !paragraph.text.trim().is_empty())
    }

    pub(super) fn write(&self, written: &mut SpannedText, entries: &mut Vec<(String, BibRecord)>) {
        for paragraph in self.paragraphs() {
            let characters = Characters::new(&paragraph.text);
            let mut spans = Vec::with_capacity(paragraph.cite_spans.len());
            for span in &paragraph.cite_spans {
                match characters.bytes(span.start, span.end) {
                    Some(range) => spans.push(Span { range, kind: SpanKind::Mark(span.ref_id.clone()) }),
                    None => written.broken += 1,
                }
            }
            written.paragraph(&paragraph.text, spans);
        }
        for (key, entry) in self.bib_entries.iter().flatten() {
            let first = |ids: fn(&OtherIds) -> &Vec<String>| {
                entry.other_ids.as_ref().and_then(|other| ids(other).first().cloned())
            };
            let record = BibRecord {
                // Two links are no link.
                own: entry.link.first().filter(|_| entry.link.len() == 1).cloned(),
                doi: first(|ids| &ids.doi),
                arxiv: first(|ids| &ids.arxiv),
                pmid: first(|ids| &ids.pmid),
                title: entry.title.clone(),
                year: entry.year.as_deref().and_then(year),
                authors: entry.authors.clone(),
                text: entry.raw_text.clone(),
                ..BibRecord::default()
            };
            entries.push((key.clone(), record));
        }
    }
}
