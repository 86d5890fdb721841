//! A work of a library, as every kind of bibliography gives it.

use std::borrow::Cow;

use crate::document::Date;
use crate::import::mediawiki::entities::decoded;
use crate::import::reference::words::first_year;
use crate::import::reference::{BibRecord, surname};
use crate::import::text::{collapsed, distinct};

/// Bytes of the longest tag.
const LONGEST_TAG: usize = 120;
/// Tags that format words, in titles of Zotero and abstracts of publishers.
const TAGS: [&str; 14] =
    ["b", "em", "i", "inf", "italic", "bold", "sc", "scp", "span", "strong", "sub", "sup", "tt", "u"];
/// Tags that part paragraphs.
const BLOCKS: [&str; 8] = ["br", "div", "h1", "h2", "p", "sec", "section", "title"];

/// One entry of a bibliography.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// The cite key.
    pub(super) key: String,
    pub(super) title: Option<String>,
    /// `Ada Lovelace`.
    pub(super) authors: Vec<String>,
    pub(super) date: Option<Date>,
    pub(super) summary: Option<String>,
    pub(super) keywords: Vec<String>,
    pub(super) language: Option<String>,
    pub(super) url: Option<String>,
    pub(super) doi: Option<String>,
    pub(super) arxiv: Option<String>,
    pub(super) pmid: Option<String>,
    /// Files, as they are named.
    pub(super) files: Vec<String>,
    /// Where it stands.
    pub(super) place: String,
}

impl Work {
    /// Its bibliographic record, for the linker.
    pub(super) fn record(&self) -> BibRecord {
        BibRecord {
            doi: self.doi.clone(),
            arxiv: self.arxiv.clone(),
            pmid: self.pmid.clone(),
            title: self.title.clone(),
            year: self.date.map(Date::year),
            authors: self.authors.iter().map(|name| surname(name).to_owned()).collect(),
            ..BibRecord::default()
        }
    }

    /// Its words if there is no file.
    pub(super) fn words(&self) -> String {
        let keywords = self.keywords.join(", ");
        let parts = [self.title.as_deref(), self.summary.as_deref(), Some(keywords.as_str())];
        let parts = parts.into_iter().flatten().map(collapsed).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("\n")
    }

    /// Where a reader finds it.
    pub(super) fn address(&self) -> Option<String> {
        self.url.clone().filter(|url| url.starts_with("http")).or_else(|| self.record().url())
    }
}

/// A text without the tags that format its words, such as `<i>`, `</span>` and `<jats:p>`, and without entities. Anything
/// else between angle brackets stays: `P<NP`, `vector<T>`.
pub(super) fn unformatted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        let end = tag.bytes().take(LONGEST_TAG).position(|b| b == b'>');
        let inside = end.map_or("", |end| &tag[1..end]);
        let named = inside.strip_prefix('/').unwrap_or(inside);
        let name = named.split([' ', '/']).next().unwrap_or_default().to_ascii_lowercase();
        let name = name.strip_prefix("jats:").unwrap_or(&name);
        let length = match end {
            Some(end) if TAGS.contains(&name) => end + 1,
            Some(end) if BLOCKS.contains(&name) => {
                out.push(' ');
                end + 1
            }
            _ => {
                out.push('<');
                1
            }
        };
        rest = &tag[length..];
    }
    out.push_str(rest);
    match decoded(&out) {
        Cow::Borrowed(_) => out,
        Cow::Owned(text) => text,
    }
}

/// `Lovelace, Ada` and `Ada Lovelace` as `Ada Lovelace`.
pub(super) fn person(name: &str) -> String {
    let name = collapsed(name);
    match name.split_once(',') {
        Some((family, given)) => {
            let mut parts: Vec<&str> = given.split(',').map(str::trim).rev().chain([family.trim()]).collect();
            parts.retain(|part| !part.is_empty());
            parts.join(" ")
        }
        None => name,
    }
}

/// A date as bibliographies have it: as precise as it is written, else its year.
pub(super) fn date(text: &str) -> Option<Date> {
    let text = text.trim().replace('/', "-");
    // Zotero writes parts that are not known as zeros, and then the date again as it was given.
    let mut bare = text.split(' ').next().unwrap_or_default().trim_end_matches('-');
    while let Some(less) = bare.strip_suffix("-00") {
        bare = less;
    }
    bare.parse().ok().or_else(|| first_year(&text)?.to_string().parse().ok())
}

/// Keywords between commas or semicolons, each once.
pub(super) fn keywords(text: &str) -> Vec<String> {
    let separator = if text.contains(';') { ';' } else { ',' };
    distinct(text.split(separator).map(collapsed).filter(|word| !word.is_empty()))
}

/// A DOI in any of its forms, or nothing.
pub(super) fn doi(text: &str) -> Option<String> {
    let at = text.find("10.")?;
    Some(text[at..].trim().to_owned()).filter(|doi| doi.contains('/'))
}

/// An arXiv id that stands in an address or a note: `arXiv:1706.03762`, `arxiv.org/abs/1706.03762`.
pub(super) fn arxiv(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let at = ["arxiv.org/abs/", "arxiv.org/pdf/", "arxiv:"]
        .iter()
        .find_map(|start| Some(lower.find(start)? + start.len()))?;
    let id: String =
        text[at..].trim_start().chars().take_while(|c| c.is_ascii_alphanumeric() || "./-".contains(*c)).collect();
    let id = id.trim_end_matches(".pdf").trim_end_matches('.');
    id.contains(|c: char| c.is_ascii_digit()).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_that_format_words_are_left_out() {
        for (text, bare) in [
            ("The <i>E. coli</i> of H<sub>2</sub>O", "The E. coli of H2O"),
            ("<span class=\"nocase\">Rivers</span> &amp; <b>harbours</b>", "Rivers & harbours"),
            ("<jats:title>Abstract</jats:title><jats:p>Water rises.</jats:p>", " Abstract  Water rises. "),
            ("P<NP and vector<T> if a < b > c", "P<NP and vector<T> if a < b > c"),
            ("a <", "a <"),
        ] {
            assert_eq!(unformatted(text), bare, "{text}");
        }
    }

    #[test]
    fn names_dates_and_ids_are_read_in_their_forms() {
        assert_eq!(person("Lovelace, Ada"), "Ada Lovelace");
        assert_eq!(person("King, Jr., Martin Luther"), "Martin Luther Jr. King");
        assert_eq!(person("  Ada   Lovelace "), "Ada Lovelace");
        let day = |text: &str| date(text).map(|date| date.to_string());
        assert_eq!(day("1969/10//").as_deref(), Some("1969-10"));
        assert_eq!(day("2001-05-06").as_deref(), Some("2001-05-06"));
        assert_eq!(day("2001-05-00 May 2001").as_deref(), Some("2001-05"));
        assert_eq!(day("October 1978").as_deref(), Some("1978"));
        assert_eq!(day("n.d."), None);
        assert_eq!(doi("https://doi.org/10.1145/363235.363259").as_deref(), Some("10.1145/363235.363259"));
        assert_eq!(arxiv("https://arxiv.org/pdf/1706.03762v5.pdf").as_deref(), Some("1706.03762v5"));
        assert_eq!(arxiv("arXiv:cs/0112017 [cs.CL]").as_deref(), Some("cs/0112017"));
        assert_eq!(arxiv("nothing"), None);
        assert_eq!(keywords("a, b; c, d ;a, b"), ["a, b", "c, d"]);
    }
}
