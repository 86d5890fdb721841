//! S2ORC, in the layouts in which it was released; a line's fields tell which one it has.
//!
//! | layout | a line holds |
//! |---|---|
//! | 2020: `metadata` and `pdf_parses` shards | a paper's metadata, or its parse; the two belong together by `paper_id` |
//! | 2019: one file | `metadata`, and the parse in `grobid_parse` |
//! | datasets API, `s2orc` | `content.text` with `annotations`, or `body` and `bibliography` with theirs |
//! | datasets API, `papers` | a paper's title, authors and year, by `corpusid` |
//!
//! A paper with a parse is a document of its abstract and paragraphs. One of which there is only metadata is a document
//! of title and abstract: others cite it. An entry that the makers of S2ORC linked means that paper; the others are
//! looked up by the linker. Two passes: the first reads the head of each paper.

mod annotated;
mod parses;

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::Value;

use super::reference::spans::SpannedText;
use super::reference::{BibRecord, Catalogue, CatalogueBuilder, Paper, surname};
use super::source::LineBatch;
use super::text::{collapsed, distinct};
use super::{Format, Parsed, paper_lines};
use crate::document::losses::Loss;
use crate::document::{Date, Document};

/// The metadata of a paper, from one line.
#[derive(Debug, Default)]
pub struct S2orcHead {
    id: String,
    record: BibRecord,
    title: Option<String>,
    year: Option<i32>,
    labels: Vec<String>,
    abstract_text: Option<String>,
    /// Whether the line has text of its own.
    has_text: bool,
}

/// All papers of the input, read in the first pass.
#[derive(Default)]
pub struct FirstPass {
    catalogue: CatalogueBuilder,
    /// Papers whose text stands in another line than their metadata.
    known: HashMap<String, S2orcHead>,
    /// Papers that have a line with text.
    texts: HashSet<String>,
    unnamed: Vec<S2orcHead>,
}

/// Reads lines of S2ORC once their papers are known.
pub struct S2orc {
    catalogue: Catalogue,
    known: HashMap<String, S2orcHead>,
    texts: HashSet<String>,
}

/// The heads of the papers of a batch; lines that cannot be read are left to the second pass.
pub fn heads(batch: &LineBatch) -> Vec<S2orcHead> {
    paper_lines::heads(batch, |json| S2orcLine::read(json).ok()?.head())
}

impl FirstPass {
    /// Takes in the heads of a batch, in the order of the input.
    pub fn add(&mut self, heads: Vec<S2orcHead>) {
        for head in heads {
            if head.has_text {
                self.texts.insert(head.id.clone());
                self.unnamed.push(head);
            } else if !self.known.contains_key(&head.id) {
                self.catalogue.add(&head.id, &head.record);
                self.known.insert(head.id.clone(), head);
            }
        }
    }

    /// All papers are known.
    pub fn finish(mut self) -> S2orc {
        for head in &self.unnamed {
            if !self.known.contains_key(&head.id) {
                self.catalogue.add(&head.id, &head.record);
            }
        }
        // Papers without a text have all that is known in their line.
        self.known.retain(|id, _| self.texts.contains(id));
        S2orc { catalogue: self.catalogue.finish(), known: self.known, texts: self.texts }
    }
}

impl S2orc {
    /// Reads a batch of lines.
    pub fn parse(&self, batch: &LineBatch) -> Parsed {
        paper_lines::parse(batch, Format::S2orc, S2orcLine::read, |line, place, out| self.take(&line, place, out))
    }

    fn take(&self, line: &S2orcLine, place: String, out: &mut Parsed) {
        let Some(head) = line.head() else {
            return out.bad(place, "neither \"paper_id\" nor \"corpusid\": not a line of s2orc".to_owned());
        };
        if !head.has_text && self.texts.contains(&head.id) {
            return;
        }
        let mut paper = Paper::default();
        let mut written = SpannedText::default();
        line.write(&mut written, &mut paper);
        written.count_broken(&head.id, &place, &mut out.batch.losses);
        let known = self.known.get(&head.id).unwrap_or(&head);
        let title = known.title.clone().or_else(|| head.title.clone());
        if written.text.is_empty() {
            let parts = [&title, &known.abstract_text].into_iter().flatten();
            written.text = parts.map(|part| collapsed(part)).collect::<Vec<_>>().join("\n");
            written.marks.clear();
            if known.abstract_text.is_none() {
                out.batch.losses.add(Loss::TitleOnly, format!("{} ({place})", head.id));
            }
        }
        paper.marks = written.marks;
        paper.document = Document {
            id: head.id.clone(),
            title,
            authors: [known, &head]
                .map(|head| &head.record.authors)
                .into_iter()
                .find(|names| !names.is_empty())
                .cloned()
                .unwrap_or_default(),
            date: known.year.or(head.year).and_then(|year| Date::from_packed(year.checked_mul(10_000)?)),
            labels: known.labels.clone(),
            text: written.text,
            origin: place,
            ..Document::default()
        };
        paper.link(&self.catalogue, out);
    }
}

/// A line in any layout: the fields of a paper, of its metadata and of its parse stand side by side.
struct S2orcLine {
    paper: S2orcFields,
    about: S2orcMetadata,
    parse: parses::Parse,
}

#[derive(Deserialize)]
struct S2orcFields {
    #[serde(default, deserialize_with = "loose")]
    paper_id: Option<String>,
    #[serde(default, deserialize_with = "loose", alias = "corpusId", alias = "corpus_id")]
    corpusid: Option<String>,
    metadata: Option<S2orcMetadata>,
    #[serde(default, alias = "externalIds")]
    externalids: Option<annotated::ExternalIds>,
    grobid_parse: Option<parses::Parse>,
    content: Option<annotated::AnnotatedText>,
    body: Option<annotated::AnnotatedText>,
    bibliography: Option<annotated::AnnotatedText>,
}

/// Fields that the metadata of a paper may have.
#[derive(Default, Deserialize)]
struct S2orcMetadata {
    #[serde(default, deserialize_with = "loose")]
    title: Option<String>,
    #[serde(default, deserialize_with = "authors")]
    authors: Vec<String>,
    #[serde(default, deserialize_with = "loose")]
    year: Option<String>,
    #[serde(default, rename = "abstract", deserialize_with = "loose")]
    abstract_text: Option<String>,
    #[serde(default, deserialize_with = "loose")]
    doi: Option<String>,
    #[serde(default, deserialize_with = "loose")]
    arxiv_id: Option<String>,
    #[serde(default, deserialize_with = "loose")]
    acl_id: Option<String>,
    #[serde(default, deserialize_with = "loose")]
    pubmed_id: Option<String>,
    #[serde(default, deserialize_with = "loose")]
    pmc_id: Option<String>,
    #[serde(default, deserialize_with = "strings")]
    mag_field_of_study: Vec<String>,
    #[serde(default, deserialize_with = "categories")]
    s2fieldsofstudy: Vec<String>,
}

impl S2orcLine {
    fn read(json: &str) -> serde_json::Result<S2orcLine> {
        let (paper, about) = (serde_json::from_str(json)?, serde_json::from_str(json)?);
        Ok(S2orcLine { paper, about, parse: serde_json::from_str(json)? })
    }

    fn parse(&self) -> &parses::Parse {
        self.paper.grobid_parse.as_ref().unwrap_or(&self.parse)
    }

    fn content(&self) -> Option<&annotated::AnnotatedText> {
        self.paper.content.as_ref().or(self.paper.body.as_ref())
    }

    fn head(&self) -> Option<S2orcHead> {
        let id = self.paper.paper_id.as_ref().or(self.paper.corpusid.as_ref())?.trim().to_owned();
        if id.is_empty() || crate::document::markup::unlinkable(&id).is_some() {
            return None;
        }
        let about = self.paper.metadata.as_ref().unwrap_or(&self.about);
        let ids = self.paper.externalids.as_ref();
        let given = |ours: &Option<String>, theirs: fn(&annotated::ExternalIds) -> &Option<String>| {
            ours.clone().or_else(|| ids.and_then(|ids| theirs(ids).clone()))
        };
        let title = about.title.clone().or_else(|| self.content().and_then(annotated::AnnotatedText::title));
        let year = about.year.as_deref().and_then(year);
        let record = BibRecord {
            own: Some(id.clone()),
            doi: given(&about.doi, |ids| &ids.doi),
            pmid: given(&about.pubmed_id, |ids| &ids.pubmed),
            pmcid: given(&about.pmc_id, |ids| &ids.pubmedcentral),
            arxiv: given(&about.arxiv_id, |ids| &ids.arxiv),
            acl: given(&about.acl_id, |ids| &ids.acl),
            title: title.clone(),
            year,
            authors: about.authors.clone(),
            text: None,
        };
        let has_text = self.content().is_some_and(annotated::AnnotatedText::has_text) || self.parse().has_text();
        let labels = [&about.mag_field_of_study, &about.s2fieldsofstudy].into_iter().find(|labels| !labels.is_empty());
        let labels = labels.cloned().unwrap_or_default();
        Some(S2orcHead { id, record, title, year, labels, abstract_text: about.abstract_text.clone(), has_text })
    }

    /// Writes text, marks and entries, whatever the layout.
    fn write(&self, written: &mut SpannedText, paper: &mut Paper) {
        match self.content() {
            Some(content) => content.write(self.paper.bibliography.as_ref(), written, &mut paper.entries),
            None => self.parse().write(written, &mut paper.entries),
        }
    }
}

/// A year in a field that holds text.
fn year(text: &str) -> Option<i32> {
    text.get(..4)?.parse().ok().filter(|year| (1000..3000).contains(year))
}

/// A string or a number; anything else counts as missing.
fn loose<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(plain(Value::deserialize(deserializer)?))
}

fn plain(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text).filter(|text| !text.trim().is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn strings<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Array(values) => values.into_iter().filter_map(plain).collect(),
        value => plain(value).into_iter().collect(),
    })
}

/// Fields of study, which several methods may give: `{"category": "Biology", "source": "s2-fos-model"}`.
fn categories<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let Value::Array(values) = Value::deserialize(deserializer)? else { return Ok(Vec::new()) };
    Ok(distinct(values.into_iter().filter_map(|value| plain(value.get("category")?.clone()))))
}

/// Family names of authors given as names or as objects.
fn authors<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let Value::Array(values) = Value::deserialize(deserializer)? else { return Ok(Vec::new()) };
    let family = |value: Value| match value {
        Value::Object(mut fields) => {
            let last = fields.remove("last").and_then(plain);
            last.or_else(|| fields.remove("name").and_then(plain).map(|name| surname(&name).to_owned()))
        }
        value => plain(value).map(|name| surname(&name).to_owned()),
    };
    Ok(values.into_iter().filter_map(family).collect())
}

#[cfg(test)]
mod tests;
