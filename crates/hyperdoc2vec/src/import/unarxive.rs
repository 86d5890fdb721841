//! unarXive of 2022: papers of arXiv as JSON, one a line, with `{{cite:…}}` where a mark stood.
//!
//! A document is called after its arXiv id, is dated by it, and has the categories of arXiv as labels. Its text is the
//! abstract and the paragraphs; formulas, figures and tables are left out. Entries are looked up by the ids that
//! unarXive found (arXiv, DOI, PubMed), then by their text. Two passes, as for S2ORC.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::reference::spans::{Span, SpanKind, SpannedText};
use super::reference::{BibRecord, Catalogue, Paper};
use super::source::LineBatch;
use super::text::collapsed;
use super::{Format, Parsed, paper_lines};
use crate::document::{Date, Document, markup};

/// Reads lines of unarXive once their papers are known.
pub struct Unarxive {
    catalogue: Catalogue,
}

/// The heads of the papers of a batch; lines that cannot be read are left to the second pass.
pub fn heads(batch: &LineBatch) -> Vec<(String, BibRecord)> {
    paper_lines::heads(batch, |json| serde_json::from_str::<UnarxiveHead>(json).ok()?.record())
}

/// The part of a line that the first pass reads.
#[derive(Deserialize)]
struct UnarxiveHead {
    paper_id: Option<String>,
    #[serde(default)]
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
struct UnarxiveBody {
    #[serde(default, rename = "abstract")]
    summary: Option<UnarxiveAbstract>,
    #[serde(default)]
    body_text: Option<Vec<UnarxiveParagraph>>,
    #[serde(default)]
    bib_entries: Option<BTreeMap<String, UnarxiveEntry>>,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    doi: Option<String>,
    #[serde(default)]
    categories: Option<String>,
    #[serde(default)]
    authors_parsed: Option<Vec<Vec<String>>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum UnarxiveAbstract {
    Paragraph(UnarxiveParagraph),
    Text(String),
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct UnarxiveParagraph {
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct UnarxiveEntry {
    #[serde(default)]
    bib_entry_raw: Option<String>,
    #[serde(default, rename = "contained_arXiv_ids")]
    contained: Option<Vec<Value>>,
    #[serde(default)]
    ids: Option<BTreeMap<String, Value>>,
}

impl UnarxiveHead {
    fn record(self) -> Option<(String, BibRecord)> {
        let id = self.paper_id.map(|id| id.trim().to_owned());
        let id = id.filter(|id| !id.is_empty() && markup::unlinkable(id).is_none())?;
        let metadata = self.metadata;
        let authors = metadata.as_ref().and_then(|metadata| metadata.authors_parsed.clone()).unwrap_or_default();
        let record = BibRecord {
            arxiv: Some(id.clone()),
            doi: metadata.as_ref().and_then(|metadata| metadata.doi.clone()),
            title: metadata.and_then(|metadata| metadata.title),
            year: date(&id).map(Date::year),
            authors: authors.into_iter().filter_map(|name| name.into_iter().next()).collect(),
            ..BibRecord::default()
        };
        Some((id, record))
    }
}

impl Unarxive {
    /// A reader of lines whose papers, found by [`heads`] in all of them, are these.
    pub fn new(catalogue: Catalogue) -> Unarxive {
        Unarxive { catalogue }
    }

    /// Reads a batch of lines.
    pub fn parse(&self, batch: &LineBatch) -> Parsed {
        let read = |json: &str| Ok((serde_json::from_str(json)?, serde_json::from_str(json)?));
        paper_lines::parse(batch, Format::Unarxive, read, |(head, line), place, out| self.take(head, line, place, out))
    }

    fn take(&self, head: UnarxiveHead, line: UnarxiveBody, place: String, out: &mut Parsed) {
        let categories = head.metadata.as_ref().and_then(|metadata| metadata.categories.clone()).unwrap_or_default();
        let Some((id, record)) = head.record() else {
            return out.bad(place, "no \"paper_id\": not a line of unarxive".to_owned());
        };
        let mut written = SpannedText::default();
        let summary = line.summary.iter().map(|summary| match summary {
            UnarxiveAbstract::Paragraph(paragraph) => paragraph.text.as_str(),
            UnarxiveAbstract::Text(text) => text.as_str(),
            UnarxiveAbstract::Other(_) => "",
        });
        for text in summary.chain(line.body_text.iter().flatten().map(|paragraph| paragraph.text.as_str())) {
            written.paragraph(text, marks(text));
        }
        written.count_broken(&id, &place, &mut out.batch.losses);
        let entries =
            line.bib_entries.unwrap_or_default().into_iter().map(|(key, entry)| (key, entry.record())).collect();
        let title = record.title.as_deref().map(collapsed);
        let document = Document {
            authors: record.authors,
            date: date(&id),
            id,
            title,
            labels: categories.split_whitespace().map(str::to_owned).collect(),
            text: written.text,
            origin: place,
            ..Document::default()
        };
        Paper { document, marks: written.marks, entries }.link(&self.catalogue, out);
    }
}

impl UnarxiveEntry {
    fn record(self) -> BibRecord {
        let mut record = BibRecord::read(self.bib_entry_raw.as_deref().unwrap_or_default());
        let ids = self.ids.unwrap_or_default();
        let id =
            |name: &str| ids.get(name).and_then(Value::as_str).filter(|id| !id.trim().is_empty()).map(str::to_owned);
        let contained = self.contained.unwrap_or_default();
        // An entry that names two papers means none of them for sure.
        let only = contained.first().filter(|_| contained.len() == 1);
        let contained = only.and_then(|one| one.get("id").unwrap_or(one).as_str()).map(str::to_owned);
        record.arxiv = id("arxiv_id").or(contained);
        (record.doi, record.pmid, record.pmcid) = (id("doi"), id("pubmed_id"), id("pmc_id"));
        record
    }
}

/// Bytes of a mark at the most.
const LONGEST_MARK: usize = 256;

/// Spans in double braces: marks, and formulas and the like, which are left out.
fn marks(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("{{").map(|at| from + at) {
        let near = &text.as_bytes()[start..text.len().min(start + LONGEST_MARK)];
        let length = memchr::memmem::find(near, b"}}").unwrap_or(0);
        let inside = text.get(start + 2..start + length).unwrap_or_default();
        let kind = match inside.split_once(':') {
            Some(("cite", key)) => SpanKind::Mark(Some(key.to_owned())),
            Some(("formula" | "figure" | "table" | "ref" | "section" | "equation", _)) => SpanKind::Nothing,
            _ => {
                from = start + 2;
                continue;
            }
        };
        from = start + length + 2;
        spans.push(Span { range: start..from, kind });
    }
    spans
}

/// The month in an arXiv id: `2105.05862`, `hep-th/9901001`.
fn date(id: &str) -> Option<Date> {
    let number = id.rsplit('/').next()?;
    let digits = number.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?;
    let (year, month): (i32, i32) = (digits[..2].parse().ok()?, digits[2..].parse().ok()?);
    Date::from_packed((if year > 90 { 1900 } else { 2000 } + year) * 10_000 + month * 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::losses::Loss;
    use crate::import::reference::CatalogueBuilder;

    fn import(lines: &str) -> Parsed {
        let batch = LineBatch::new("unarxive", lines);
        let mut papers = CatalogueBuilder::default();
        papers.extend(heads(&batch));
        Unarxive::new(papers.finish()).parse(&batch)
    }

    #[test]
    fn papers_of_arxiv_become_documents_with_links() {
        let parsed = import(include_str!("../../tests/data/unarxive/sample.jsonl"));
        let show = |document: &Document| {
            let date = document.date.map(|date| date.to_string()).unwrap_or_default();
            let text = markup::render(&document.text, &document.links).replace('\n', " / ");
            format!(
                "{}|{}|{date}|{}|{text}",
                document.id,
                document.title.as_deref().unwrap_or(""),
                document.labels.join(",")
            )
        };
        assert_eq!(
            parsed.batch.documents.iter().map(show).collect::<Vec<_>>(),
            [
                "1607.00010|Parsing rivers with shallow nets|2016-07|cs.CL,physics.geo-ph|We parse rivers. / Tides turn[[1104.00020|hep-th/9901001]], see[[hep-th/9901001]] and Table. / By and {{odd} braces.",
                "1104.00020|A grammar of tides|2011-04|physics.geo-ph|Tides.",
                "hep-th/9901001|Counting stones by the sea|1999-01|hep-th|Stones. / See[[1607.00010|1104.00020]].",
            ]
        );
        assert_eq!(parsed.batch.losses.count(Loss::UnmatchedReference), 1);
        assert_eq!(parsed.batch.losses.count(Loss::MarkWithoutEntry), 1);
    }

    #[test]
    fn lines_that_cannot_be_read_are_named() {
        let parsed = import("{\"paper_id\": \"1607.1\", \"abstr\n{}\n{\"paper_id\": \"2001.00001\"}\n");
        assert_eq!((parsed.batch.documents.len(), parsed.batch.losses.count(Loss::MalformedRecord)), (1, 2));
    }

    #[test]
    fn a_line_of_s2orc_is_told_by_its_name() {
        for line in [
            r#"{"paper_id": "1", "abstract": [], "body_text": [], "bib_entries": {"BIBREF0": {"title": "A"}}}"#,
            r#"{"corpusid": 1, "title": "A", "abstract": "B"}"#,
        ] {
            let parsed = import(line);
            let (_, what) = parsed.batch.first_bad.expect("a bad line");
            assert!(parsed.batch.documents.is_empty() && what.contains("found one of s2orc"), "{what}");
        }
    }

    #[test]
    fn an_arxiv_id_tells_its_month() {
        for (id, month) in [("2105.05862", "2021-05"), ("hep-th/9901001", "1999-01"), ("0704.0001", "2007-04")] {
            assert_eq!(date(id).map(|date| date.to_string()).as_deref(), Some(month));
        }
        assert_eq!((date("x"), date("2113.1"), date("")), (None, None, None));
    }
}
