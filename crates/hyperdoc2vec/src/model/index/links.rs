//! The links of a model with some words around each, and what each document is about: to explain hits, and to know a
//! source by its id.
//!
//! Links are sorted by their targets. The words of one are its number of words before it, these words, the number of
//! words behind, these words; all LEB128, words by their rows in the index. Frequent words have low rows, so that a
//! link takes about 45 bytes, and never more than 130.

use std::io;

use rayon::prelude::*;

use crate::corpus::cited_by::CitedBy;
use crate::corpus::view::View;
use crate::id::{DocId, DocRow, WordRow};
use crate::model::index::postings::read;
use crate::model::index::terms::Terms;
use crate::model::weighting;
use crate::storage::container::Take;

/// Words kept on each side of a link.
pub const AROUND: usize = 12;
/// Words kept of a document: those that tell most of it.
pub const KEYWORDS: usize = 64;
/// Documents whose words are counted before the next are.
const TOGETHER: usize = 1 << 12;

/// The links, as they are stored.
#[derive(Debug, Clone, Copy, Default)]
pub struct Links<'a> {
    /// How many links there are up to those that point at each document.
    pub ends: &'a [u64],
    /// The document that each link stands in.
    pub sources: &'a [u32],
    /// Where the words of each document's links end.
    pub context_ends: &'a [u64],
    /// The words.
    pub contexts: &'a [u8],
}

/// A link that points at a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// Its number among all links.
    pub link: usize,
    /// The document it stands in.
    pub source: DocRow,
    /// The words before it, in the order of reading, its own words last.
    pub before: Vec<WordRow>,
    /// The words behind it.
    pub after: Vec<WordRow>,
}

/// The items of number `number` among all, which end where `ends` says.
pub(super) fn part<'a, T>(ends: &[u64], all: &'a [T], number: usize) -> &'a [T] {
    let start = if number == 0 { Some(0) } else { ends.get(number - 1).map(|&end| end as usize) };
    let end = ends.get(number).map(|&end| end as usize);
    start.zip(end).and_then(|(start, end)| all.get(start..end)).unwrap_or_default()
}

impl<'a> Links<'a> {
    /// The documents that link to a document, once a link.
    pub fn sources(&self, document: DocRow) -> &'a [DocRow] {
        DocRow::all(part(self.ends, self.sources, document.index()))
    }

    /// The links to a document with the words around them.
    pub fn contexts(&self, document: DocRow) -> Contexts<'a> {
        let bytes = part(self.context_ends, self.contexts, document.index());
        let first = document.index().checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        Contexts { sources: self.sources(document).iter(), bytes, link: first as usize }
    }
}

/// The links to a document, one after the other.
#[derive(Debug, Clone)]
pub struct Contexts<'a> {
    sources: std::slice::Iter<'a, DocRow>,
    bytes: &'a [u8],
    /// The number of the next.
    link: usize,
}

impl Contexts<'_> {
    /// How many words one side has.
    fn side(&mut self) -> usize {
        (read(&mut self.bytes) as usize).min(AROUND)
    }

    fn word(&mut self) -> WordRow {
        WordRow(read(&mut self.bytes) as u32)
    }

    /// Gives `each` the words of the next link in the order of reading, with how many stand between one and the link; the
    /// document that the link stands in, or nothing where there is no other link.
    pub fn next_words(&mut self, mut each: impl FnMut(WordRow, usize)) -> Option<DocRow> {
        let source = *self.sources.next()?;
        self.link += 1;
        for distance in (0..self.side()).rev() {
            each(self.word(), distance);
        }
        for distance in 0..self.side() {
            each(self.word(), distance);
        }
        Some(source)
    }
}

impl Iterator for Contexts<'_> {
    type Item = Context;

    fn next(&mut self) -> Option<Context> {
        let source = *self.sources.next()?;
        let before = (0..self.side()).map(|_| self.word()).collect();
        let after = (0..self.side()).map(|_| self.word()).collect();
        let link = self.link;
        self.link += 1;
        Some(Context { link, source, before, after })
    }
}

/// The links, as they are made.
#[derive(Debug, Default)]
pub struct LinksBuf {
    ends: Vec<u64>,
    sources: Vec<u32>,
    context_ends: Vec<u64>,
    contexts: Vec<u8>,
}

fn push(bytes: &mut Vec<u8>, mut number: u32) {
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

impl LinksBuf {
    /// The links of `old`, and more behind them: `new(document)` gives those that point at a document, for each of
    /// `documents`.
    pub fn extended(old: Links<'_>, documents: usize, mut new: impl FnMut(DocRow) -> Vec<Context>) -> LinksBuf {
        let mut links = LinksBuf::default();
        for document in (0..documents as u32).map(DocRow) {
            links.sources.extend_from_slice(DocRow::numbers(old.sources(document)));
            links.contexts.extend_from_slice(part(old.context_ends, old.contexts, document.index()));
            for context in new(document) {
                links.sources.push(context.source.0);
                let nearest = context.before.len().saturating_sub(AROUND);
                let (before, after) = (&context.before[nearest..], &context.after[..context.after.len().min(AROUND)]);
                links.push_words(before.iter().copied());
                links.push_words(after.iter().copied());
            }
            links.end_document();
        }
        links
    }

    fn push_words(&mut self, rows: impl ExactSizeIterator<Item = WordRow>) {
        push(&mut self.contexts, rows.len() as u32);
        rows.for_each(|row| push(&mut self.contexts, row.0));
    }

    fn end_document(&mut self) {
        self.ends.push(self.sources.len() as u64);
        self.context_ends.push(self.contexts.len() as u64);
    }

    /// The links of `view`. Their words go to `take` piece by piece, and are not here.
    pub fn build(view: &View<'_>, terms: &Terms, take: Take<'_>) -> io::Result<LinksBuf> {
        let cited_by = CitedBy::new(view, AROUND);
        let mut links = LinksBuf { sources: Vec::with_capacity(view.links.len()), ..LinksBuf::default() };
        let mut taken = 0;
        for document in view.document_rows() {
            for &position in cited_by.positions(document) {
                let position = view.corpus.position(position as usize);
                // Only training documents have links in a view.
                let source = view.document_row(position.source).map_or(u32::MAX, |row| row.0);
                links.sources.push(source);
                let (before, after) = view.corpus.context(&position, AROUND);
                for words in [before, after] {
                    let rows: Vec<WordRow> = words.iter().filter_map(|&word| terms.row(word)).collect();
                    links.push_words(rows.into_iter());
                }
            }
            taken += links.contexts.len() as u64;
            take(&links.contexts)?;
            links.contexts.clear();
            links.ends.push(links.sources.len() as u64);
            links.context_ends.push(taken);
        }
        Ok(links)
    }

    /// To read.
    pub fn view(&self) -> Links<'_> {
        let LinksBuf { ends, sources, context_ends, contexts } = self;
        Links { ends, sources, context_ends, contexts }
    }
}

/// The words that tell most of each document, with how often it has them; as they are stored.
#[derive(Debug, Clone, Copy, Default)]
pub struct Keywords<'a> {
    /// Where each document's words end.
    pub ends: &'a [u64],
    /// The words by their rows.
    pub rows: &'a [u32],
    /// How often; 255 for more.
    pub counts: &'a [u8],
}

impl<'a> Keywords<'a> {
    /// The words of a document and how often it has them, one by one.
    pub fn each(&self, document: DocRow) -> impl Iterator<Item = (WordRow, u8)> + 'a {
        let counts = part(self.ends, self.counts, document.index()).iter().copied();
        WordRow::all(part(self.ends, self.rows, document.index())).iter().copied().zip(counts)
    }

    /// The words of a document and how often it has them.
    pub fn of(&self, document: DocRow) -> Vec<(WordRow, f32)> {
        self.each(document).map(|(row, count)| (row, f32::from(count))).collect()
    }
}

/// The [`KEYWORDS`] of `words` (each place once, all with vectors) with the greatest `count · rarity`, by falling weight.
pub fn keywords(mut words: Vec<WordRow>, rarity: impl Fn(WordRow) -> f32) -> Vec<(WordRow, u8)> {
    words.sort_unstable();
    let mut counted: Vec<(f32, WordRow, u8)> = words
        .chunk_by(|a, b| a == b)
        .map(|same| {
            let count = same.len().min(255) as u8;
            (f32::from(count) * rarity(same[0]), same[0], count)
        })
        .collect();
    counted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    counted.truncate(KEYWORDS);
    counted.into_iter().map(|(_, row, count)| (row, count)).collect()
}

/// The words that tell most of each document, as they are made.
#[derive(Debug, Default)]
pub struct KeywordsBuf {
    pub(crate) ends: Vec<u64>,
    pub(crate) rows: Vec<u32>,
    pub(crate) counts: Vec<u8>,
}

impl KeywordsBuf {
    /// Of the documents of `view`. The rows go to `take` piece by piece, and are not here.
    pub fn build(view: &View<'_>, take: Take<'_>) -> io::Result<KeywordsBuf> {
        let rarity = |row: WordRow| weighting::rarity(view.document_counts[row.index()], view.documents.len());
        let of = |&doc: &DocId| keywords(view.known(view.corpus.words(doc)).collect(), rarity);
        let mut keywords = KeywordsBuf::default();
        for some in view.documents.chunks(TOGETHER) {
            let all: Vec<Vec<(WordRow, u8)>> = some.par_iter().map(of).collect();
            for words in all {
                take(&words.iter().flat_map(|(row, _)| row.0.to_le_bytes()).collect::<Vec<u8>>())?;
                keywords.counts.extend(words.iter().map(|&(_, count)| count));
                keywords.ends.push(keywords.counts.len() as u64);
            }
        }
        Ok(keywords)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(link: usize, source: u32, before: &[u32], after: &[u32]) -> Context {
        let rows = |rows| WordRow::all(rows).to_vec();
        Context { link, source: DocRow(source), before: rows(before), after: rows(after) }
    }

    #[test]
    fn new_links_stand_behind_the_old_ones() {
        let first = |document: DocRow| match document.0 {
            0 => vec![context(0, 1, &[5, 300], &[]), context(0, 2, &[], &[1])],
            _ => vec![],
        };
        let old = LinksBuf::extended(Links::default(), 2, first);
        // Of a long context the words nearest to the link are kept.
        let many: Vec<u32> = (0..20).collect();
        let second = |document: DocRow| match document.0 {
            0 => vec![context(0, 3, &[7], &[8])],
            2 => vec![context(0, 0, &many, &many)],
            _ => vec![],
        };
        let all = LinksBuf::extended(old.view(), 4, second);
        let read = |document| all.view().contexts(DocRow(document)).collect::<Vec<_>>();
        assert_eq!(read(0), [context(0, 1, &[5, 300], &[]), context(1, 2, &[], &[1]), context(2, 3, &[7], &[8])]);
        assert_eq!(all.view().sources(DocRow(0)), [1, 2, 3].map(DocRow));
        assert_eq!((read(1), read(3)), (vec![], vec![]));
        assert_eq!(read(2), [context(3, 0, &many[8..], &many[..12])]);
    }
}
