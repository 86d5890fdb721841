//! The bibliographic records of the set, packed for look-ups: some 130 bytes a document beyond its strings.

use std::collections::HashSet;
use std::ops::Range;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::common_titles::{COMMON, CommonTitles};
use super::{BibRecord, How, ids};
use crate::document::fold::{fold, fold_surname};

/// How many authors of a document are kept.
const AUTHORS: usize = 8;
/// How many keys of a title are kept for the search for similar ones: the rarest.
const KEYS: usize = 8;
/// In so few titles no word is common.
const FEW_TITLES: usize = 50;
/// Longer titles are cut here for comparison, in bytes.
pub(super) const LONGEST_TITLE: usize = 512;

/// Takes in documents one by one; see [`Catalogue`].
#[derive(Debug, Default)]
pub struct CatalogueBuilder {
    strings: String,
    entries: Vec<CatalogueEntry>,
    by_id: Vec<(u64, u32)>,
    seen: HashSet<u64>,
}

/// The documents of a set, to be found by entries of bibliographies.
#[derive(Debug, Default)]
pub struct Catalogue {
    strings: String,
    entries: Vec<CatalogueEntry>,
    /// Hash of kind and id, and the document.
    by_id: Vec<(u64, u32)>,
    /// Hash of the folded title without blanks, and the document.
    by_title: Vec<(u64, u32)>,
    /// Hashes of the rarest words and pairs of words of each title.
    by_key: Vec<(u32, u32)>,
    /// A title of more documents is a common one.
    common: usize,
    common_titles: CommonTitles,
    /// Keys of words that many titles have.
    common_words: HashSet<u32>,
    /// Hash of all authors in alphabetical order, and the document.
    by_authors: Vec<(u64, u32)>,
    /// Where the documents appeared, as folded words: see `venue`.
    pub(super) venue: Vec<String>,
}

#[derive(Debug)]
struct CatalogueEntry {
    start: usize,
    id: u32,
    title: u32,
    authors: u32,
    year: i32,
    doi: u32,
    /// The length of the title without its subtitle.
    main: u32,
    /// Whether the title is cut off.
    cut: bool,
}

/// The fields of a document that are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct ComparedFields<'a> {
    /// Folded.
    pub(super) title: &'a str,
    /// Folded surnames, the first author's first, with blanks between.
    pub(super) authors: &'a str,
    pub(super) year: Option<i32>,
    /// A hash of the DOI.
    pub(super) doi: Option<u32>,
    /// The length of the title without its subtitle.
    pub(super) main: usize,
    /// Whether the title may go on: it ends in dots.
    pub(super) cut: bool,
}

impl CatalogueBuilder {
    /// Adds a document; one whose id came before is left out, as it will be from the corpus.
    pub fn add(&mut self, id: &str, record: &BibRecord) {
        if !self.seen.insert(xxh3_64(id.as_bytes())) {
            return;
        }
        let number = self.entries.len() as u32;
        let start = self.strings.len();
        self.strings.push_str(id);
        let title = record.title.as_deref().map(folded_title).unwrap_or_default();
        self.strings.push_str(&title);
        let after_title = self.strings.len();
        for name in record.authors.iter().take(AUTHORS).map(|name| fold_surname(name)).filter(|name| !name.is_empty()) {
            if self.strings.len() > after_title {
                self.strings.push(' ');
            }
            self.strings.push_str(&name);
        }
        let mut doi = 0;
        for (how, id) in ids::ids(record) {
            let hash = id_hash(how, &id);
            if how == How::Doi {
                doi = short_doi(hash);
            }
            self.by_id.push((hash, number));
        }
        self.entries.push(CatalogueEntry {
            start,
            id: id.len() as u32,
            title: title.len() as u32,
            authors: (self.strings.len() - after_title) as u32,
            year: record.year.unwrap_or(0),
            doi,
            main: record.title.as_deref().map_or(0, main_length),
            cut: record.title.as_deref().is_some_and(is_cut),
        });
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Makes the indices.
    pub fn finish(self) -> Catalogue {
        self.finish_with(COMMON)
    }

    /// Makes the indices; a title of more than `common` documents is a common one.
    pub(super) fn finish_with(self, common: usize) -> Catalogue {
        let CatalogueBuilder { mut strings, entries, mut by_id, seen } = self;
        drop(seen);
        strings.shrink_to_fit();
        by_id.sort_unstable();
        let catalogue = Catalogue { strings, entries, by_id, common, ..Catalogue::default() };
        let titles = || (0..catalogue.len()).map(|number| catalogue.known(number).title);
        // How many titles have a key, give or take keys that share a counter: those only seem more frequent.
        let counters = (catalogue.len() * 16).next_power_of_two().clamp(1 << 12, 1 << 24);
        let mut counts = vec![0u32; counters];
        let slot = |key: u32| key as usize & (counters - 1);
        let mut of_title = Vec::new();
        for title in titles() {
            keys(title, &mut of_title);
            of_title.iter().for_each(|&key| counts[slot(key)] += 1);
        }
        let many = (catalogue.len() / 10).max(FEW_TITLES) as u32;
        let common_words: HashSet<u32> = titles()
            .flat_map(|title| title.split(' '))
            .map(|word| xxh3_64(word.as_bytes()) as u32)
            .filter(|&key| counts[slot(key)] > many)
            .collect();
        let (mut by_title, mut by_key) = (Vec::new(), Vec::new());
        for (number, title) in titles().enumerate().filter(|(_, title)| !title.is_empty()) {
            by_title.push((title_hash(title), number as u32));
            keys(title, &mut of_title);
            of_title.sort_unstable_by_key(|&key| (counts[slot(key)], key));
            by_key.extend(of_title.iter().take(KEYS).map(|&key| (key, number as u32)));
        }
        by_title.sort_unstable();
        by_key.sort_unstable();
        by_key.shrink_to_fit();
        let mut common_titles = CommonTitles::default();
        for same in by_title.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > common) {
            same.iter().for_each(|&(hash, number)| common_titles.add(hash, &catalogue.known(number as usize), number));
        }
        common_titles.finish();
        let mut by_authors: Vec<(u64, u32)> = (0..catalogue.len())
            .filter_map(|number| Some((authors_hash(catalogue.known(number).authors.split(' '))?, number as u32)))
            .collect();
        by_authors.sort_unstable();
        Catalogue { by_title, by_key, common_titles, common_words, by_authors, ..catalogue }
    }
}

impl Extend<(String, BibRecord)> for CatalogueBuilder {
    fn extend<I: IntoIterator<Item = (String, BibRecord)>>(&mut self, documents: I) {
        documents.into_iter().for_each(|(id, record)| self.add(&id, &record));
    }
}

impl Catalogue {
    /// A catalogue of these documents.
    pub fn new<'a>(documents: impl IntoIterator<Item = (&'a str, &'a BibRecord)>) -> Catalogue {
        let mut builder = CatalogueBuilder::default();
        documents.into_iter().for_each(|(id, record)| builder.add(id, record));
        builder.finish()
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The id of a document.
    pub fn id(&self, document: usize) -> &str {
        let CatalogueEntry { start, id, .. } = self.entries[document];
        &self.strings[start..start + id as usize]
    }

    /// The title of a document, folded.
    pub fn title(&self, document: usize) -> &str {
        self.known(document).title
    }

    pub(super) fn known(&self, document: usize) -> ComparedFields<'_> {
        let CatalogueEntry { start, id, title, authors, year, doi, main, cut } = self.entries[document];
        let title_start = start + id as usize;
        let authors_start = title_start + title as usize;
        ComparedFields {
            title: &self.strings[title_start..authors_start],
            authors: &self.strings[authors_start..authors_start + authors as usize],
            year: (year != 0).then_some(year),
            doi: (doi != 0).then_some(doi),
            main: main as usize,
            cut,
        }
    }

    /// Whether one in ten titles has this word.
    pub(super) fn is_common(&self, word: &str) -> bool {
        self.common_words.contains(&(xxh3_64(word.as_bytes()) as u32))
    }

    /// Documents of just these authors, who are folded; at most `most`.
    pub(super) fn with_authors<'a>(&self, authors: impl Iterator<Item = &'a str>, most: usize) -> Vec<usize> {
        authors_hash(authors).map_or_else(Vec::new, |hash| equal(&self.by_authors, hash).take(most).collect())
    }

    /// Documents with this id.
    pub(super) fn with_id(&self, how: How, id: &str) -> impl Iterator<Item = usize> {
        equal(&self.by_id, id_hash(how, id))
    }

    /// Documents with this folded title, blanks aside, in the order of their numbers. Of a title that very many share,
    /// those that count for this year and these folded authors.
    pub(super) fn with_title(&self, title: &str, year: Option<i32>, authors: &[String]) -> Vec<usize> {
        let hash = title_hash(title);
        let range = run(&self.by_title, hash);
        let mut documents = if range.len() > self.common {
            self.common_titles.candidates(hash, year, authors, self.common)
        } else {
            self.by_title[range].iter().map(|&(_, document)| document as usize).collect()
        };
        documents.retain(|&document| letters(self.known(document).title).eq(letters(title)));
        documents
    }

    /// The document of this folded title, if no other has it.
    pub(super) fn only_with_title(&self, title: &str) -> Option<usize> {
        let [(_, document)] = self.by_title[run(&self.by_title, title_hash(title))] else { return None };
        Some(document as usize).filter(|&document| letters(self.known(document).title).eq(letters(title)))
    }

    /// Documents that share keys with `wanted`, with how many; at most `most`, those with the most first. Keys of
    /// very many titles are passed over.
    pub(super) fn sharing(&self, wanted: &[u32], most: usize) -> Vec<(usize, usize)> {
        const MOST_TITLES: usize = 256;
        let mut documents: Vec<u32> = Vec::new();
        for &key in wanted {
            let range = run(&self.by_key, key);
            if range.len() <= MOST_TITLES {
                documents.extend(self.by_key[range].iter().map(|&(_, document)| document));
            }
        }
        documents.sort_unstable();
        let mut counted: Vec<(usize, usize)> =
            documents.chunk_by(|a, b| a == b).map(|same| (same[0] as usize, same.len())).collect();
        counted.sort_by_key(|&(document, count)| (std::cmp::Reverse(count), document));
        counted.truncate(most);
        counted
    }
}

/// How long the part of a title before a colon is, folded.
fn main_length(title: &str) -> u32 {
    let main = title.split_once(": ").map_or(title, |(main, _)| main);
    folded_title(main).len() as u32
}

/// Whether a title ends in dots, as one does that was cut off or stood before a page number: `On Rivers …`, `On Rivers . .`.
fn is_cut(title: &str) -> bool {
    let title = title.trim_end();
    [" .", "..", "…"].iter().any(|dots| title.ends_with(dots))
}

/// The bytes of a folded text, blanks aside.
fn letters(folded: &str) -> impl Iterator<Item = u8> {
    folded.bytes().filter(|&b| b != b' ')
}

/// A title folded and cut.
pub(super) fn folded_title(title: &str) -> String {
    let mut folded = fold(title);
    if folded.len() > LONGEST_TITLE {
        let end = (0..=LONGEST_TITLE).rev().find(|&end| folded.is_char_boundary(end)).unwrap_or(0);
        folded.truncate(end);
        folded.truncate(folded.trim_end().len());
    }
    folded
}

/// Hashes of the words of three letters or more of a folded text, and of its pairs of neighbours, each once.
pub(super) fn keys(folded: &str, keys: &mut Vec<u32>) {
    keys.clear();
    let mut before = None;
    let mut start = 0;
    for word in folded.split(' ') {
        let end = start + word.len();
        if word.len() >= 3 {
            keys.push(xxh3_64(word.as_bytes()) as u32);
        }
        if let Some(before) = before {
            keys.push(xxh3_64(&folded.as_bytes()[before..end]) as u32);
        }
        before = Some(start);
        start = end + 1;
    }
    keys.sort_unstable();
    keys.dedup();
}

pub(super) fn short_doi(hash: u64) -> u32 {
    (hash as u32).max(1)
}

pub(super) fn id_hash(how: How, id: &str) -> u64 {
    xxh3_64_with_seed(id.as_bytes(), how as u64 + 1)
}

/// A hash of names in any order; nothing if there are none, or more than are kept.
fn authors_hash<'a>(names: impl Iterator<Item = &'a str>) -> Option<u64> {
    let mut names: Vec<&str> = names.filter(|name| !name.is_empty()).take(AUTHORS + 1).collect();
    names.sort_unstable();
    (1..AUTHORS).contains(&names.len()).then(|| xxh3_64(names.join(" ").as_bytes()))
}

fn title_hash(title: &str) -> u64 {
    let compact: Vec<u8> = title.bytes().filter(|&b| b != b' ').collect();
    xxh3_64(&compact)
}

pub(super) fn run<K: Ord + Copy>(sorted: &[(K, u32)], key: K) -> Range<usize> {
    let start = sorted.partition_point(|&(known, _)| known < key);
    start..start + sorted[start..].partition_point(|&(known, _)| known == key)
}

fn equal(sorted: &[(u64, u32)], key: u64) -> impl Iterator<Item = usize> {
    sorted[run(sorted, key)].iter().map(|&(_, document)| document as usize)
}
