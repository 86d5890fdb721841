//! A paper as its format holds it: text, marks in it, a bibliography; and as a document with links.

use std::collections::HashMap;

use super::outcomes::shown;
use super::{BibRecord, Catalogue, Match, Miss, NearMatch, References};
use crate::document::losses::Loss;
use crate::document::{Document, Link};
use crate::import::Parsed;
use crate::import::text::collapsed;

/// A citation mark: a place in the text, and the keys of the entries that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Byte offset in the text.
    pub at: usize,
    /// Keys of entries; none for a mark that names no entry.
    pub keys: Vec<String>,
    /// How it is written, if it names no entry: what a sample shows.
    pub words: String,
}

impl Mark {
    /// A mark that is written in these words.
    pub fn new(at: usize, keys: Vec<String>, words: &str) -> Mark {
        let words = if keys.is_empty() { collapsed(words) } else { String::new() };
        Mark { at, keys, words }
    }
}

/// Characters of an entry that the sample of a loss shows.
const LONGEST: usize = 100;

/// A paper whose references are not linked yet.
#[derive(Debug, Default)]
pub struct Paper {
    /// The document, without links. Marks are no part of its text.
    pub document: Document,
    /// Marks in the order of the text. Those at one place, with nothing but white space between, form one position.
    pub marks: Vec<Mark>,
    /// The bibliography: the key by which marks name an entry, and its fields. A key may stand for several works.
    pub entries: Vec<(String, BibRecord)>,
}

impl Paper {
    /// Looks every entry up, and adds the document with its links to `parsed`; counts what was found and what not.
    pub fn link(self, catalogue: &Catalogue, parsed: &mut Parsed) {
        let Paper { mut document, marks, entries } = self;
        let mut by_key: HashMap<&str, Vec<(&BibRecord, LookUpResult)>> = HashMap::with_capacity(entries.len());
        for named in &entries {
            let (key, entry) = named;
            let found = catalogue.look_up(entry);
            parsed.references.entry(&document.id, named, found, catalogue);
            by_key.entry(key).or_default().push((entry, found));
        }
        for Mark { at, keys, words } in marks {
            let (text, id) = (&document.text, &document.id);
            let before = document.links.last().map_or(0, |link: &Link| link.at);
            let mut targets: Vec<String> = Vec::new();
            if keys.is_empty() {
                parsed.references.mark_without_target += 1;
                parsed.batch.losses.add(Loss::MarkWithoutTarget, format!("{words} in {id}").trim_start());
            }
            for key in &keys {
                let Some(works) = by_key.get(key.as_str()) else {
                    parsed.references.mark_without_entry += 1;
                    parsed.batch.losses.add(Loss::MarkWithoutEntry, format!("{key} in {id}"));
                    continue;
                };
                for (entry, found) in works {
                    match found {
                        Ok(found) => {
                            parsed.references.mark_linked += 1;
                            let target = catalogue.id(found.document);
                            if !targets.iter().any(|known| known == target) {
                                targets.push(target.to_owned());
                            }
                        }
                        Err((miss, near)) => {
                            parsed.references.mark_to_unresolved += 1;
                            let loss = match miss {
                                Miss::Ambiguous => Loss::AmbiguousReference,
                                Miss::Contradiction => Loss::ContradictoryReference,
                                Miss::NotInSet | Miss::NearMiss | Miss::NothingKnown => Loss::UnmatchedReference,
                            };
                            let why = near.map(|near| why(near, catalogue)).unwrap_or_default();
                            parsed.batch.losses.add(loss, format!("{key} in {id}: {}{why}", shown(entry, LONGEST)));
                        }
                    }
                }
            }
            if targets.is_empty() {
                continue;
            }
            // Marks with nothing but white space between them are one.
            let between = text.get(before..at).unwrap_or(" x");
            if let Some(last) = document.links.last_mut().filter(|_| between.trim().is_empty()) {
                targets.retain(|target| !last.targets.contains(target));
                last.targets.append(&mut targets);
            } else {
                document.links.push(Link { at, anchor: at, targets });
            }
        }
        parsed.batch.documents.push(document);
    }
}

type LookUpResult = Result<Match, (Miss, Option<NearMatch>)>;

/// ` (not okafor2019: the year is another)`.
fn why(near: NearMatch, catalogue: &Catalogue) -> String {
    format!(" (not {}: {})", catalogue.id(near.document), near.failed.describe())
}

impl References {
    /// The number of marks, one for each entry that a mark names.
    pub fn marks(&self) -> u64 {
        self.mark_linked + self.mark_to_unresolved + self.mark_without_entry + self.mark_without_target
    }
}
