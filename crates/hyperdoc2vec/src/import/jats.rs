//! JATS (and the NLM formats before it), as PubMed Central and publishers give it.
//!
//! An id is the PMC id (`PMC13901`), else the PubMed id, else the DOI, else the path of the file below the root without
//! its ending. The text is the abstract, the body and appendices: headings, paragraphs, lists, notes, captions. Tables,
//! formulas, acknowledgements, sub-articles and the list of references are left out. Labels are the subjects.

use std::path::PathBuf;

use super::article::xml::{XmlChild, XmlElement};
use super::article::{Articles, Dialect};
use super::reference::words::first_year;
use super::reference::{BibRecord, MarkedText, Paper, surname};
use super::text::{collapsed, distinct};
use super::tree::Pages;
use super::{ImportOptions, Parsed};
use crate::document::losses::Loss;
use crate::document::{Date, Document};
use crate::error::Result;

/// JATS files below `roots` (directories or single files), found, their headers read; an error if there is none.
pub fn open(roots: &[PathBuf], options: &ImportOptions) -> Result<impl Pages + use<>> {
    Articles::<Journal>::open(roots, options, &mut |_| Ok(()))
}

pub(super) struct Journal;

impl Dialect for Journal {
    const WHAT: &'static str = "JATS files";
    const ARTICLE: &'static str = "article";
    const HEADER: &'static str = "front";

    fn header(header: XmlElement<'_>) -> (BibRecord, Option<String>) {
        let Some(meta) = header.find(&["article-meta"]) else { return Default::default() };
        let mut record = BibRecord::default();
        for id in meta.all("article-id") {
            set_id(&mut record, id);
        }
        record.title = meta.find(&["title-group", "article-title"]).map(title).filter(|title| !title.is_empty());
        record.year = date(meta).map(Date::year);
        let authors = meta.all("contrib-group").flat_map(|group| group.all("contrib"));
        let is_author = |person: &XmlElement<'_>| person.attribute("contrib-type").is_none_or(|kind| kind == "author");
        record.authors = authors.filter(is_author).filter_map(person).collect();
        let pmc = record.pmcid.as_deref().map(|id| format!("PMC{}", id.trim().trim_start_matches("PMC")));
        let id = pmc.or_else(|| record.pmid.clone()).or_else(|| record.doi.clone());
        (record, id)
    }

    fn paper(article: XmlElement<'_>, record: BibRecord, place: &str, parsed: &mut Parsed) -> Paper {
        let parts: Vec<XmlElement<'_>> = article
            .elements()
            .filter(|part| {
                let extra = matches!(part.name(), "sub-article" | "response");
                if extra {
                    parsed.batch.losses.add(Loss::IgnoredField, format!("{} ({place})", part.name()));
                }
                !extra
            })
            .collect();
        let references = parts.iter().flat_map(|part| part.below()).filter(|element| element.name() == "ref");
        let entries: Vec<(String, BibRecord)> = references.flat_map(citations).collect();
        let mut text = MarkedText::new(&entries);
        let meta = article.find(&["front", "article-meta"]);
        for summary in meta.into_iter().flat_map(|meta| meta.all("abstract")) {
            // Kinds of abstracts that repeat the first in pictures or in a few words.
            if summary.attribute("abstract-type").is_none_or(|kind| matches!(&*kind, "" | "section" | "summary")) {
                text.break_line();
                write(summary, &mut text);
            }
        }
        for part in &parts {
            text.break_line();
            match part.name() {
                "body" | "floats-group" | "floats-wrap" => write(*part, &mut text),
                "back" => part.below().filter(|part| part.name() == "app").for_each(|app| write(app, &mut text)),
                _ => {}
            }
        }
        let (text, marks) = text.finish();
        let categories = meta.and_then(|meta| meta.find(&["article-categories"]));
        let subjects = categories.into_iter().flat_map(XmlElement::below).filter(|element| element.name() == "subject");
        let labels = distinct(subjects.map(XmlElement::text).filter(|subject| !subject.is_empty()));
        let pmc = || {
            Some(format!(
                "https://pmc.ncbi.nlm.nih.gov/articles/PMC{}/",
                record.pmcid.as_deref()?.trim_start_matches("PMC")
            ))
        };
        let document = Document {
            title: record.title.clone(),
            authors: record.authors.clone(),
            date: meta.and_then(date),
            language: article.attribute("lang").and_then(|language| parsed.language(&language, place)),
            labels,
            url: record.url().or_else(pmc),
            text,
            ..Document::default()
        };
        Paper { document, marks, entries }
    }
}

/// Sets the id that an `article-id` or a `pub-id` holds.
fn set_id(record: &mut BibRecord, id: XmlElement<'_>) {
    let text = id.text();
    let field = match id.attribute("pub-id-type").unwrap_or_default().as_ref() {
        "doi" => &mut record.doi,
        "pmid" => &mut record.pmid,
        "pmc" | "pmcid" => &mut record.pmcid,
        "arxiv" => &mut record.arxiv,
        _ => return,
    };
    if !text.is_empty() {
        field.get_or_insert(text);
    }
}

/// A title without the marks of its notes.
fn title(title: XmlElement<'_>) -> String {
    let mut text = MarkedText::default();
    write(title, &mut text);
    let (text, _) = text.finish();
    collapsed(text.trim_end_matches(['*', '†', '‡', ' ']))
}

/// The surname of a `contrib`, a `name` or a `string-name`.
fn person(person: XmlElement<'_>) -> Option<String> {
    let part = |wanted: &str| person.below().find(|element| element.name() == wanted).map(XmlElement::text);
    let whole = || part("string-name").map(|name| surname(&name).to_owned());
    part("surname").or_else(whole).or_else(|| part("collab")).filter(|name| !name.is_empty())
}

/// When an article came out: the first of its dates, as exactly as is known.
fn date(meta: XmlElement<'_>) -> Option<Date> {
    let number = |date: XmlElement<'_>, name: &str| date.find(&[name]).and_then(|part| part.text().parse::<i32>().ok());
    let of = |date: XmlElement<'_>| {
        let (year, month, day) = (number(date, "year")?, number(date, "month").unwrap_or(0), number(date, "day"));
        let day = if month == 0 { 0 } else { day.unwrap_or(0) };
        let packed = [(month, day), (month, 0), (0, 0)].map(|(month, day)| {
            let fits = (1..=9999).contains(&year) && (0..=12).contains(&month) && (0..=31).contains(&day);
            fits.then(|| Date::from_packed(year * 10_000 + month * 100 + day)).flatten()
        });
        packed.into_iter().flatten().next()
    };
    let exact = |date: &Date| date.packed() % 100 == 0;
    meta.all("pub-date").filter_map(of).min_by_key(|date| (date.year(), exact(date), date.packed()))
}

/// The works that a `ref` names, all under its id.
fn citations(reference: XmlElement<'_>) -> Vec<(String, BibRecord)> {
    let Some(key) = reference.attribute("id") else { return Vec::new() };
    let is_citation = |name: &str| matches!(name, "element-citation" | "mixed-citation" | "citation" | "nlm-citation");
    let works = reference.elements().filter_map(|element| match element.name() {
        // The same work, marked up in several ways.
        "citation-alternatives" => {
            element.elements().filter(|work| is_citation(work.name())).map(citation).reduce(BibRecord::or)
        }
        name => is_citation(name).then(|| citation(element)),
    });
    works.map(|work| (key.clone().into_owned(), work)).collect()
}

fn citation(work: XmlElement<'_>) -> BibRecord {
    let mut record = BibRecord::default();
    let book = ["publication-type", "citation-type"].iter().any(|kind| work.is(kind, "book"));
    let (mut source, mut chapter) = (None, None);
    for element in work.below() {
        match element.name() {
            "pub-id" => set_id(&mut record, element),
            "article-title" => drop(record.title.get_or_insert_with(|| element.text())),
            "chapter-title" | "part-title" => chapter = Some(element.text()),
            "source" => source = Some(element.text()),
            "year" => record.year = record.year.or_else(|| first_year(&element.text())),
            "name" | "string-name" => record.authors.extend(person(element)),
            "surname" if record.authors.is_empty() => record.authors.push(element.text()),
            "ext-link" | "uri" => {
                let target = element.attribute("href").unwrap_or_default().into_owned();
                let field = match &target {
                    target if target.contains("doi.org/10.") || target.starts_with("10.") => &mut record.doi,
                    target if target.contains("arxiv.org/") => &mut record.arxiv,
                    _ => continue,
                };
                field.get_or_insert(target);
            }
            _ => {}
        }
    }
    record.title = record.title.or(chapter).or(source.filter(|_| book)).filter(|title| !title.is_empty());
    record.authors.retain(|name| !name.is_empty());
    let free = matches!(work.name(), "mixed-citation" | "citation");
    record.text = free.then(|| work.text()).filter(|text| !text.is_empty());
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
            "table"
            | "disp-formula"
            | "inline-formula"
            | "disp-formula-group"
            | "tex-math"
            | "math"
            | "graphic"
            | "inline-graphic"
            | "media"
            | "object-id"
            | "ref-list"
            | "label"
            | "alternatives"
            | "supplementary-material"
            | "table-wrap-foot"
            | "permissions"
            | "attrib"
            | "chem-struct" => text.push(" "),
            "xref" if element.is("ref-type", "bibr") => {
                let target = element.attribute("rid").unwrap_or_default();
                text.mark(target.split_whitespace().map(str::to_owned).collect(), &element.text());
            }
            // The mark of a note.
            "xref" if ["fn", "table-fn", "aff", "corresp"].iter().any(|kind| element.is("ref-type", kind)) => {}
            "sec" | "title" | "p" | "list" | "list-item" | "fig" | "table-wrap" | "caption" | "boxed-text"
            | "disp-quote" | "def-item" | "statement" | "fn" | "break" | "app" | "speech" | "verse-group" => {
                text.break_line();
                write(element, text);
                text.break_line();
            }
            _ => write(element, text),
        }
    }
}
