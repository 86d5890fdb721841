//! Text with annotations, as the datasets API gives it: each kind of annotation is JSON in a string.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;

use super::{loose, plain};
use crate::import::reference::spans::{Characters, Span, SpanKind, SpannedText};
use crate::import::reference::{BibRecord, surname};
use crate::import::text::collapsed;

/// How often the entries of a bibliography may hold its text between them: once, if none stands over another.
const MOST_COPIES: usize = 4;

#[derive(Deserialize)]
pub(super) struct AnnotatedText {
    #[serde(default)]
    text: Option<String>,
    /// Lists of annotations by kind, as JSON in strings.
    #[serde(default)]
    annotations: Option<HashMap<String, Value>>,
}

/// Ids of a paper elsewhere.
#[derive(Default, Deserialize)]
pub(super) struct ExternalIds {
    #[serde(default, alias = "DOI", deserialize_with = "loose")]
    pub(super) doi: Option<String>,
    #[serde(default, alias = "ArXiv", deserialize_with = "loose")]
    pub(super) arxiv: Option<String>,
    #[serde(default, alias = "ACL", deserialize_with = "loose")]
    pub(super) acl: Option<String>,
    #[serde(default, alias = "PubMed", deserialize_with = "loose")]
    pub(super) pubmed: Option<String>,
    #[serde(default, alias = "PubMedCentral", deserialize_with = "loose")]
    pub(super) pubmedcentral: Option<String>,
}

#[derive(Deserialize)]
struct Annotation {
    #[serde(default, deserialize_with = "place")]
    start: Option<usize>,
    #[serde(default, deserialize_with = "place")]
    end: Option<usize>,
    #[serde(default)]
    attributes: Option<HashMap<String, Value>>,
}

/// A number, or a number in a string.
fn place<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    Ok(loose(deserializer)?.and_then(|text| text.parse().ok()))
}

impl Annotation {
    fn attribute(&self, name: &str) -> Option<String> {
        self.attributes.as_ref()?.get(name).cloned().and_then(plain)
    }

    fn range(&self, characters: &Characters<'_>) -> Option<Range<usize>> {
        characters.bytes(self.start?, self.end?)
    }
}

impl AnnotatedText {
    fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    pub(super) fn has_text(&self) -> bool {
        !self.text().trim().is_empty()
    }

    /// Annotations of a kind: `bibref` is `bib_ref` in later releases.
    fn of(&self, kind: &str) -> Vec<Annotation> {
        let named = |name: &str| name.chars().filter(|&c| c != '_').eq(kind.chars());
        let json = self.annotations.iter().flatten().find(|(name, _)| named(name)).and_then(|(_, json)| json.as_str());
        json.and_then(|json| serde_json::from_str::<Vec<Annotation>>(json).ok()).unwrap_or_default()
    }

    pub(super) fn title(&self) -> Option<String> {
        let characters = Characters::new(self.text());
        let range = self.of("title").first()?.range(&characters)?;
        let title = collapsed(&self.text()[range]);
        Some(title).filter(|title| !title.is_empty())
    }

    /// Writes abstract and paragraphs; `bibliography` holds the entries if they stand apart from the text.
    pub(super) fn write(
        &self,
        bibliography: Option<&AnnotatedText>,
        written: &mut SpannedText,
        entries: &mut Vec<(String, BibRecord)>,
    ) {
        let text = self.text();
        let characters = Characters::new(text);
        let ranges = |kind: &str| self.of(kind).iter().filter_map(|one| one.range(&characters)).collect::<Vec<_>>();
        let mut paragraphs = ranges("abstract");
        paragraphs.extend(ranges("paragraph"));
        paragraphs.sort_by_key(|range| (range.start, range.end));
        let bib = bibliography.unwrap_or(self);
        let bib_characters = Characters::new(bib.text());
        let bib_entries = bib.of("bibentry");
        if paragraphs.is_empty() {
            // All that stands before the references.
            let first = bib_entries.iter().filter_map(|one| one.range(&bib_characters)).map(|range| range.start).min();
            let end = first.filter(|_| bibliography.is_none()).unwrap_or(text.len());
            paragraphs.push(0..end);
        }
        let mut marks: Vec<Span> = Vec::new();
        for mark in self.of("bibref") {
            match mark.range(&characters) {
                Some(range) => marks.push(Span { range, kind: SpanKind::Mark(mark.attribute("ref_id")) }),
                None => written.broken += 1,
            }
        }
        marks.sort_by_key(|span| (span.range.start, span.range.end));
        let (mut from, mut next) = (0, 0);
        for range in paragraphs {
            let range = range.start.max(from)..range.end;
            if range.is_empty() {
                continue;
            }
            from = range.end;
            next += marks[next..].iter().take_while(|span| span.range.start < range.start).count();
            let inside = marks[next..].iter().take_while(|span| span.range.end <= range.end);
            let inside: Vec<Span> = inside
                .map(|span| Span {
                    range: span.range.start - range.start..span.range.end - range.start,
                    kind: span.kind.clone(),
                })
                .collect();
            next += inside.len();
            written.paragraph(&text[range], inside);
        }
        let parts = |kinds: [&str; 2]| {
            let found = kinds.into_iter().map(|kind| bib.of(kind)).find(|found| !found.is_empty()).unwrap_or_default();
            let mut ranges: Vec<Range<usize>> = found.iter().filter_map(|one| one.range(&bib_characters)).collect();
            ranges.sort_by_key(|range| range.start);
            // None stands over another, so that all of them are no longer than the text.
            let mut end = 0;
            ranges.retain(|range| {
                let apart = range.start >= end && !range.is_empty();
                end = if apart { range.end } else { end };
                apart
            });
            ranges
        };
        let (titles, people) = (parts(["bibtitle", ""]), parts(["bibauthorlastname", "bibauthor"]));
        // Entries that stand over one another hold the text many times.
        let mut room = MOST_COPIES * bib.text().len();
        for entry in &bib_entries {
            let range = entry.range(&bib_characters).unwrap_or_default();
            match room.checked_sub(range.len()) {
                Some(rest) => room = rest,
                None => {
                    written.broken += 1;
                    continue;
                }
            }
            entries.extend(bib.entry(entry, range, &titles, &people));
        }
    }

    /// An entry: the paper that it was matched with, else its annotations, else its text.
    fn entry(
        &self,
        entry: &Annotation,
        range: Range<usize>,
        titles: &[Range<usize>],
        people: &[Range<usize>],
    ) -> Option<(String, BibRecord)> {
        let key = entry.attribute("id").or_else(|| entry.attribute("ref_id"))?;
        let own = entry.attribute("matched_paper_id");
        let mut record = BibRecord { own, ..BibRecord::read(&self.words(range.clone())) };
        if record.own.is_none() {
            let title = inside(titles, &range).map(|part| self.words(part)).find(|title| !title.is_empty());
            let authors: Vec<String> =
                inside(people, &range).map(|part| surname(&self.words(part)).to_owned()).collect();
            record.title = title.or(record.title);
            record.authors = if authors.is_empty() { record.authors } else { authors };
        }
        Some((key, record))
    }

    /// The text of a range, white space collapsed.
    fn words(&self, range: Range<usize>) -> String {
        collapsed(&self.text()[range])
    }
}

/// Those of `ranges`, which are sorted, that lie in `whole`.
fn inside<'a>(ranges: &'a [Range<usize>], whole: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let first = ranges.partition_point(|range| range.start < whole.start);
    let end = whole.end;
    ranges[first..].iter().take_while(move |range| range.start < end).filter(move |range| range.end <= end).cloned()
}
