//! A paper as its format holds it: text, marks in it, a bibliography; and as a document with links.

use std::collections::{HashMap, HashSet};

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
/// A key that more works share names none of them. The notes of chemists put up to some dozens under one number.
const MOST_WORKS: usize = 100;

/// A paper whose references are not linked yet.
#[derive(Debug, Default)]
pub struct Paper {
    /// The document, without links. Marks are no part of its text.
    pub document: Document,
    /// Marks in the order of the text. Those at one place, with nothing but white space between, form one position.
    pub marks: Vec<Mark>,
    /// The bibliography: the key by which marks name an entry, and its fields. A key may stand for several works, but
    /// not for any number of them.
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
        // Documents that the last link names, and where the last mark of it stands.
        let (mut named, mut before): (HashSet<usize>, usize) = (HashSet::new(), 0);
        for Mark { at, keys, words } in marks {
            let (text, id) = (&document.text, &document.id);
            let mut targets: Vec<usize> = Vec::new();
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
                if works.len() > MOST_WORKS {
                    parsed.references.mark_to_unresolved += 1;
                    let what = format!("{key} in {id}: it stands for {} works", works.len());
                    parsed.batch.losses.add(Loss::AmbiguousReference, what);
                    continue;
                }
                for (entry, found) in works {
                    match found {
                        Ok(found) => {
                            parsed.references.mark_linked += 1;
                            targets.push(found.document);
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
            let joined = text.get(before..at).is_some_and(|between| between.trim().is_empty());
            before = at;
            if !joined || document.links.is_empty() {
                named = HashSet::new();
                document.links.push(Link { at, anchor: at, targets: Vec::new() });
            }
            if let Some(link) = document.links.last_mut() {
                let new = targets.into_iter().filter(|&target| named.insert(target));
                link.targets.extend(new.map(|target| catalogue.id(target).to_owned()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;

    /// Links a paper that has one word, these marks after it, and these keys in its bibliography, all of which mean
    /// documents of their own.
    fn linked(marks: impl Iterator<Item = Vec<String>>, keys: impl Iterator<Item = String>) -> Parsed {
        let known: Vec<String> = keys.collect();
        let record = |number: usize| BibRecord { own: Some(format!("d{number}")), ..BibRecord::default() };
        let records: Vec<(String, BibRecord)> =
            (0..known.len()).map(|number| (format!("d{number}"), record(number))).collect();
        let catalogue = Catalogue::new(records.iter().map(|(id, record)| (id.as_str(), record)));
        let entries = known.into_iter().zip(records.iter().map(|(_, record)| record.clone())).collect();
        let document = Document { id: "p".to_owned(), text: "word".to_owned(), ..Document::default() };
        let marks = marks.map(|keys| Mark::new(4, keys, "")).collect();
        let mut parsed = Parsed::default();
        Paper { document, marks, entries }.link(&catalogue, &mut parsed);
        parsed
    }

    #[test]
    fn a_key_of_several_works_links_to_all_of_them_and_one_of_very_many_to_none() {
        let of = |works: usize| linked(std::iter::once(vec!["k".to_owned()]), (0..works).map(|_| "k".to_owned()));
        assert_eq!(of(MOST_WORKS).batch.documents[0].links[0].targets.len(), MOST_WORKS);
        let parsed = of(MOST_WORKS + 1);
        assert_eq!(parsed.batch.documents[0].links, []);
        assert_eq!(parsed.batch.losses.count(Loss::AmbiguousReference), 1);
    }

    #[test]
    fn marks_and_entries_take_time_in_proportion() {
        assert_linear("marks and entries of one key", 8_000, |pieces| {
            let key = || "k".to_owned();
            drop(linked((0..pieces).map(|_| vec![key()]), (0..pieces).map(|_| key())));
        });
        assert_linear("marks side by side", 16_000, |pieces| {
            let key = |number: usize| number.to_string();
            let parsed = linked((0..pieces).map(|number| vec![key(number)]), (0..pieces).map(key));
            assert_eq!(parsed.batch.documents[0].links[0].targets.len(), pieces);
        });
        assert_linear("keys of one mark", 16_000, |pieces| {
            let key = |number: usize| number.to_string();
            drop(linked(std::iter::once((0..pieces).map(key).collect()), (0..pieces).map(key)));
        });
    }
}
