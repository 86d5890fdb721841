//! TEI as GROBID writes it.
//!
//! An id is the path of the file below the root without its endings (`.grobid.tei.xml`). The text is the abstract, the
//! body and annexes: headings, paragraphs, notes, captions. Tables, formulas, acknowledgements and the list of
//! references are left out. A mark without a target is left out and counted.

use std::path::PathBuf;

use super::article::xml::{XmlChild, XmlElement};
use super::article::{Articles, Dialect};
use super::reference::words::first_year;
use super::reference::{BibRecord, MarkedText, Paper};
use super::tree::Pages;
use super::{ImportOptions, Parsed};
use crate::document::Document;
use crate::document::losses::Loss;
use crate::error::Result;

/// TEI files below `roots` (directories or single files), found, their headers read; an error if there is none.
pub fn open(roots: &[PathBuf], options: &ImportOptions) -> Result<impl Pages + use<>> {
    Articles::<GrobidTei>::open(roots, options, &mut |_| Ok(()))
}

pub(super) struct GrobidTei;

impl Dialect for GrobidTei {
    const WHAT: &'static str = "TEI files";
    const ARTICLE: &'static str = "TEI";
    const HEADER: &'static str = "teiHeader";

    fn header(header: XmlElement<'_>) -> (BibRecord, Option<String>) {
        let Some(description) = header.find(&["fileDesc"]) else { return Default::default() };
        let source = description.find(&["sourceDesc", "biblStruct"]);
        let mut record = source.map(bibliographic).unwrap_or_default();
        let title = description.find(&["titleStmt"]).and_then(main_title);
        record.title = title.or(record.title);
        let published = description.find(&["publicationStmt", "date"]).and_then(date_of);
        record.year = record.year.or_else(|| first_year(&published?));
        (record, None)
    }

    fn paper(article: XmlElement<'_>, record: BibRecord, place: &str, parsed: &mut Parsed) -> Paper {
        let entries: Vec<(String, BibRecord)> = article
            .elements()
            .filter(|element| element.name() == "text")
            .flat_map(XmlElement::below)
            .filter(|element| element.name() == "biblStruct")
            .filter_map(|entry| Some((entry.attribute("id")?.into_owned(), bibliographic(entry))))
            .collect();
        let mut text = MarkedText::new(&entries);
        let header = article.find(&["teiHeader"]);
        if let Some(summary) = header.and_then(|header| header.find(&["profileDesc", "abstract"])) {
            write(summary, &mut text);
        }
        let body = article.find(&["text", "body"]);
        body.into_iter().for_each(|body| write(body, &mut text));
        let back = article.find(&["text", "back"]);
        for annex in back.into_iter().flat_map(|back| back.all("div").filter(|div| div.is("type", "annex"))) {
            text.break_line();
            write(annex, &mut text);
        }
        let (text, marks) = text.finish();
        let when = |path: &[&str]| header.and_then(|header| header.find(path)).and_then(date_of);
        let date = when(&["fileDesc", "sourceDesc", "biblStruct", "monogr", "imprint", "date"])
            .or_else(|| when(&["fileDesc", "publicationStmt", "date"]));
        let date = date.and_then(|date| {
            let read = date.parse().ok().or_else(|| first_year(&date)?.to_string().parse().ok());
            if read.is_none() {
                parsed.batch.losses.add(Loss::UnreadableDate, format!("{place}: {date:?}"));
            }
            read
        });
        let language = article.find(&["text"]).and_then(|text| text.attribute("lang"));
        let language = language.or_else(|| header?.attribute("lang"));
        let document = Document {
            title: record.title.clone(),
            authors: record.authors.clone(),
            date,
            language: language.and_then(|language| parsed.language(&language, place)),
            url: record.url(),
            text,
            ..Document::default()
        };
        Paper { document, marks, entries }
    }
}

/// A date as it is meant for machines, else as it is written.
fn date_of(date: XmlElement<'_>) -> Option<String> {
    let date = date.attribute("when").map_or_else(|| date.text(), |when| when.into_owned());
    Some(date).filter(|date| !date.is_empty())
}

/// The main title among those of an element.
fn main_title(element: XmlElement<'_>) -> Option<String> {
    let mut titles: Vec<XmlElement<'_>> = element.all("title").collect();
    titles.sort_by_key(|title| !title.is("type", "main"));
    titles.into_iter().map(XmlElement::text).find(|title| !title.is_empty())
}

/// A `biblStruct`.
fn bibliographic(entry: XmlElement<'_>) -> BibRecord {
    let mut record = BibRecord::default();
    let (analytic, monograph) = (entry.find(&["analytic"]), entry.find(&["monogr"]));
    // The title of a journal or of a series is not the title of a work.
    let of_work = |element: &XmlElement<'_>| {
        element.all("title").any(|title| !(title.is("level", "j") || title.is("level", "s")))
    };
    record.title = analytic.and_then(main_title).or_else(|| monograph.filter(of_work).and_then(main_title));
    for part in [analytic, monograph].into_iter().flatten() {
        if record.authors.is_empty() {
            let surname =
                |author: XmlElement<'_>| author.below().find(|name| name.name() == "surname").map(XmlElement::text);
            record.authors = part.all("author").filter_map(surname).filter(|name| !name.is_empty()).collect();
        }
        if let Some(imprint) = part.find(&["imprint"]) {
            record.year = imprint.all("date").filter_map(date_of).find_map(|date| first_year(&date));
        }
    }
    for element in entry.below() {
        let field = match element.name() {
            "idno" => match element.attribute("type").unwrap_or_default().to_ascii_lowercase().as_str() {
                "doi" => &mut record.doi,
                "pmid" => &mut record.pmid,
                "pmcid" | "pmc" => &mut record.pmcid,
                "arxiv" => &mut record.arxiv,
                "acl" => &mut record.acl,
                _ => continue,
            },
            "ptr" => {
                let target = element.attribute("target").unwrap_or_default().into_owned();
                let field = match &target {
                    target if target.contains("doi.org/10.") => &mut record.doi,
                    target if target.contains("arxiv.org/") => &mut record.arxiv,
                    target if target.contains("aclanthology.") || target.contains("aclweb.org/") => &mut record.acl,
                    _ => continue,
                };
                field.get_or_insert(target);
                continue;
            }
            "note" if element.is("type", "raw_reference") => &mut record.text,
            _ => continue,
        };
        let text = element.text();
        if !text.is_empty() {
            field.get_or_insert(text);
        }
    }
    record
}

fn write(element: XmlElement<'_>, text: &mut MarkedText) {
    for child in element.children() {
        let element = match child {
            XmlChild::Text(words) => {
                text.push(words);
                continue;
            }
            XmlChild::Element(element) => element,
        };
        match element.name() {
            "formula" | "table" | "listBibl" | "biblStruct" | "graphic" | "label" => text.push(" "),
            "ref" if element.is("type", "bibr") => {
                let target = element.attribute("target").unwrap_or_default();
                let keys = target.split_whitespace().map(|key| key.trim_start_matches('#').to_owned());
                text.mark(keys.collect(), &element.text());
            }
            // GROBID parts sentences by nothing else.
            "s" => {
                write(element, text);
                text.push(" ");
            }
            "p" | "head" | "div" | "figure" | "note" | "item" | "list" | "figDesc" | "lb" => {
                text.break_line();
                write(element, text);
                text.break_line();
            }
            _ => write(element, text),
        }
    }
}
