//! Which documents have a word, and how often: one list of bytes a word, mapped from the model file.
//!
//! A list is the number of its documents, then for each document in order one number, `gap · 4 + min(count, 4) − 1`,
//! and behind it `count − 4` where the count is 4 or more; the gap is how many documents lie between it and the one
//! before. Numbers are LEB128: seven bits a byte, the lowest first. A word that no document has is an empty list.
//!
//! Ours, not tantivy: that keeps a directory of its own, while these lists are arrays of the model file.

use std::io;
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use super::runs::{ListRuns, POSTINGS_A_RUN};
use crate::id::WordRow;
use crate::kernel::prefetch;
use crate::storage::container::Take;

/// Words of text that are counted as one piece of work.
const WORDS_A_BLOCK: usize = 1 << 18;
/// Blocks whose counts are in memory at once.
const BLOCKS: usize = 8;
/// Bytes of a list that are prefetched at once: a line of the cache.
const PREFETCHED: usize = 64;
/// Counts below this stand in the two low bits.
const INLINE: u32 = 4;

/// The lists, as they are stored.
#[derive(Debug, Clone, Copy, Default)]
pub struct Postings<'a> {
    /// Where each word's list ends.
    pub ends: &'a [u64],
    /// The lists, one after the other.
    pub bytes: &'a [u8],
    /// How many words each document has.
    pub lengths: &'a [u32],
}

/// The lists, as they are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostingsBuf {
    ends: Vec<u64>,
    bytes: Vec<u8>,
    lengths: Vec<u32>,
}

/// The ends and lengths of lists that were written elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostingsOutline {
    /// Where each word's list ends.
    pub ends: Vec<u64>,
    /// How many words each document has.
    pub lengths: Vec<u32>,
}

/// The documents of one word in order, each with its count.
#[derive(Debug, Clone)]
pub struct PostingList<'a> {
    bytes: &'a [u8],
    /// One more than the last document.
    next: u32,
    left: u32,
}

impl<'a> Postings<'a> {
    /// The list of a word; empty where there is no such word.
    pub fn list(&self, word: WordRow) -> PostingList<'a> {
        let word = word.index();
        let start = if word == 0 { Some(0) } else { self.ends.get(word - 1).map(|&end| end as usize) };
        let end = self.ends.get(word).map(|&end| end as usize);
        let bytes = start.zip(end).and_then(|(start, end)| self.bytes.get(start..end));
        let mut bytes = bytes.unwrap_or_default();
        let left = if bytes.is_empty() { 0 } else { read(&mut bytes) as u32 };
        PostingList { bytes, next: 0, left }
    }
}

impl<'a> PostingList<'a> {
    /// How many documents have the word.
    pub fn documents(&self) -> u32 {
        self.left
    }

    /// How many bytes are still to be read.
    pub(super) fn bytes_left(&self) -> usize {
        self.bytes.len()
    }

    /// Asks the memory for the last `bytes` of a list, where they begin.
    #[inline]
    pub(super) fn prefetch(&self, bytes: usize) {
        let start = self.bytes.len().saturating_sub(bytes);
        prefetch(&self.bytes[start..(start + PREFETCHED).min(self.bytes.len())]);
    }

    /// The last `bytes` of a list, behind the documents before `next`.
    pub(super) fn behind(&self, next: u32, bytes: usize) -> PostingList<'a> {
        let start = self.bytes.len().saturating_sub(bytes);
        PostingList { bytes: &self.bytes[start..], next, left: self.left }
    }
}

impl Iterator for PostingList<'_> {
    type Item = (u32, u32);

    #[inline]
    fn next(&mut self) -> Option<(u32, u32)> {
        if self.bytes.is_empty() {
            return None;
        }
        let number = read(&mut self.bytes);
        let document = self.next.wrapping_add((number >> 2) as u32);
        let mut count = (number & 3) as u32 + 1;
        if count == INLINE {
            count = count.wrapping_add(read(&mut self.bytes) as u32);
        }
        self.next = document.wrapping_add(1);
        Some((document, count))
    }
}

/// Reads a number; what a damaged file holds instead gives some number, and always moves on.
#[inline]
pub(crate) fn read(bytes: &mut &[u8]) -> u64 {
    // Most numbers are one byte.
    if let Some((&byte, rest)) = bytes.split_first()
        && byte < 128
    {
        *bytes = rest;
        return u64::from(byte);
    }
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let Some((&byte, rest)) = bytes.split_first() else { break };
        *bytes = rest;
        number |= u64::from(byte & 127) << shift;
        if byte < 128 {
            break;
        }
    }
    number
}

/// How many bytes [`write`] takes.
pub(super) fn size(number: u64) -> usize {
    (u64::BITS - (number | 1).leading_zeros()).div_ceil(7) as usize
}

/// Writes a number at `at` and returns where it ends.
pub(super) fn write(bytes: &mut [u8], mut at: usize, mut number: u64) -> usize {
    while number > 127 {
        bytes[at] = number as u8 | 128;
        number >>= 7;
        at += 1;
    }
    bytes[at] = number as u8;
    at + 1
}

/// Writes a number at the end.
pub(super) fn put(bytes: &mut Vec<u8>, number: u64) {
    let at = bytes.len();
    bytes.resize(at + size(number), 0);
    write(bytes, at, number);
}

/// The numbers that stand for a document: its own, and the rest of the count.
pub(super) fn posting(gap: u32, count: u32) -> (u64, Option<u64>) {
    let rest = (count >= INLINE).then(|| u64::from(count - INLINE));
    (u64::from(gap) << 2 | u64::from(count.min(INLINE) - 1), rest)
}

/// Makes lists for `words` words in `documents` documents; `each(document, tell)` tells the words of a document one by
/// one, of which there are about `size_of(document)`. The lists go to `take` in the order of the words, piece by piece.
/// Any number of threads gives the same bytes.
///
/// The text is gone over once. In memory are some numbers a word, some blocks of the text in counted form, and a run of
/// postings; other runs wait in a file in `folder`, or, as bytes, in memory.
pub fn lists(
    [documents, words]: [usize; 2],
    size_of: impl Fn(usize) -> usize,
    each: impl Fn(usize, &mut dyn FnMut(u32)) + Sync,
    folder: Option<&Path>,
    take: Take<'_>,
) -> io::Result<PostingsOutline> {
    lists_in_runs(documents, size_of, each, ListRuns::new(words, folder, POSTINGS_A_RUN), take)
}

fn lists_in_runs(
    documents: usize,
    size_of: impl Fn(usize) -> usize,
    each: impl Fn(usize, &mut dyn FnMut(u32)) + Sync,
    mut runs: ListRuns<'_>,
    take: Take<'_>,
) -> io::Result<PostingsOutline> {
    let mut lengths = vec![0u32; documents];
    in_order(&blocks(documents, size_of), runs.words(), &each, |document, counts| {
        let length = &mut lengths[document as usize];
        counts.iter().for_each(|&(_, count)| *length = length.saturating_add(count));
        runs.add(document, counts)
    })?;
    Ok(PostingsOutline { ends: runs.finish(take)?, lengths })
}

impl PostingsBuf {
    /// The lists that `make` gives piece by piece.
    pub fn collect(make: impl FnOnce(Take<'_>) -> io::Result<PostingsOutline>) -> PostingsBuf {
        let mut bytes = Vec::new();
        let made = make(&mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
        // Nothing fails where nothing is written.
        let PostingsOutline { ends, lengths } = made.unwrap_or_default();
        PostingsBuf { ends, bytes, lengths }
    }

    /// Lists as [`lists`] makes them, in memory.
    pub fn build(
        documents: usize,
        words: usize,
        size_of: impl Fn(usize) -> usize,
        each: impl Fn(usize, &mut dyn FnMut(u32)) + Sync,
    ) -> PostingsBuf {
        PostingsBuf::collect(|take| lists([documents, words], size_of, each, None, take))
    }

    /// The lists of `one` and `other`, which number words and documents alike: counts and lengths are added up.
    pub fn merge(one: Postings<'_>, other: Postings<'_>) -> PostingsBuf {
        let words = one.ends.len().max(other.ends.len());
        let documents = one.lengths.len().max(other.lengths.len());
        let length = |lists: Postings<'_>, document: usize| lists.lengths.get(document).copied().unwrap_or(0);
        let sum = |document| length(one, document).saturating_add(length(other, document));
        let mut merged = PostingsBuf { lengths: (0..documents).map(sum).collect(), ..PostingsBuf::default() };
        let mut list: Vec<(u32, u32)> = Vec::new();
        for word in (0..words as u32).map(WordRow) {
            list.clear();
            list.extend(one.list(word));
            let sorted = list.len();
            list.extend(other.list(word));
            if sorted > 0 && sorted < list.len() && list[sorted].0 <= list[sorted - 1].0 {
                list.sort_by_key(|&(document, _)| document);
                list.dedup_by(|next, kept| {
                    let same = next.0 == kept.0;
                    kept.1 = if same { kept.1.saturating_add(next.1) } else { kept.1 };
                    same
                });
            }
            merged.push(&list);
        }
        merged
    }

    /// One more word, with the documents that have it in order.
    fn push(&mut self, list: &[(u32, u32)]) {
        let mut put = |number: u64| put(&mut self.bytes, number);
        if !list.is_empty() {
            put(list.len() as u64);
        }
        let mut next = 0;
        for &(document, count) in list {
            let (number, rest) = posting(document.saturating_sub(next), count);
            put(number);
            rest.into_iter().for_each(&mut put);
            next = document.saturating_add(1);
        }
        self.ends.push(self.bytes.len() as u64);
    }

    /// To read.
    pub fn view(&self) -> Postings<'_> {
        Postings { ends: &self.ends, bytes: &self.bytes, lengths: &self.lengths }
    }
}

/// Documents cut into runs of some [`WORDS_A_BLOCK`] words.
fn blocks(documents: usize, size: impl Fn(usize) -> usize) -> Vec<Range<usize>> {
    let (mut blocks, mut start, mut words) = (Vec::new(), 0, 0);
    for document in 0..documents {
        words += size(document);
        if words >= WORDS_A_BLOCK || document + 1 == documents {
            blocks.push(start..document + 1);
            (start, words) = (document + 1, 0);
        }
    }
    blocks
}

/// Counts the words of each document, on all threads, and gives the documents to `take` in order.
fn in_order(
    blocks: &[Range<usize>],
    words: usize,
    each: &(impl Fn(usize, &mut dyn FnMut(u32)) + Sync),
    mut take: impl FnMut(u32, &[(u32, u32)]) -> io::Result<()>,
) -> io::Result<()> {
    for group in blocks.chunks(BLOCKS) {
        let counted: Vec<_> = group.par_iter().map(|block| count(block.clone(), words, each)).collect();
        for (block, (pairs, ends)) in group.iter().zip(&counted) {
            let mut start = 0;
            for (document, &end) in block.clone().zip(ends) {
                take(document as u32, &pairs[start..end])?;
                start = end;
            }
        }
    }
    Ok(())
}

/// Words and their counts of some documents, and where each document's end.
fn count(
    block: Range<usize>,
    words: usize,
    each: &impl Fn(usize, &mut dyn FnMut(u32)),
) -> (Vec<(u32, u32)>, Vec<usize>) {
    let mut counts = vec![0u32; words];
    let (mut pairs, mut ends) = (Vec::<(u32, u32)>::new(), Vec::with_capacity(block.len()));
    for document in block {
        let start = pairs.len();
        each(document, &mut |word| {
            let count = &mut counts[word as usize];
            if *count == 0 {
                pairs.push((word, 0));
            }
            *count = count.saturating_add(1);
        });
        for (word, count) in &mut pairs[start..] {
            *count = std::mem::take(&mut counts[*word as usize]);
        }
        ends.push(pairs.len());
    }
    (pairs, ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(documents: &[Vec<u32>], words: usize) -> PostingsBuf {
        PostingsBuf::build(
            documents.len(),
            words,
            |d| documents[d].len(),
            |d, tell| documents[d].iter().for_each(|&w| tell(w)),
        )
    }

    #[test]
    fn lists_hold_what_documents_say() {
        let lists = built(&[vec![0, 1, 0], vec![], vec![3, 0, 0, 0, 0, 0]], 4);
        let of = |word| lists.view().list(WordRow(word)).collect::<Vec<_>>();
        assert_eq!(of(0), [(0, 2), (2, 5)]);
        assert_eq!(of(1), [(0, 1)]);
        assert_eq!(of(2), []);
        assert_eq!(of(3), [(2, 1)]);
        assert_eq!(of(4), [], "no such word");
        assert_eq!(lists.lengths, [3, 0, 6]);
        assert_eq!([0, 1, 2].map(|word| lists.view().list(WordRow(word)).documents()), [2, 1, 0]);
        // Word 0: two documents; gap 0, count 2; gap 1, count 4 and 1 more.
        assert_eq!(lists.bytes[..4], [2, 1, 1 << 2 | 3, 1]);
        assert_eq!(lists.ends, [4, 6, 6, 8]);
    }

    #[test]
    fn wide_gaps_and_large_counts_survive() {
        let mut documents = vec![vec![]; 40_000];
        documents[39_999] = vec![0; 100_000];
        documents[20_000] = vec![0, 1];
        let lists = built(&documents, 2);
        assert_eq!(lists.view().list(WordRow(0)).collect::<Vec<_>>(), [(20_000, 1), (39_999, 100_000)]);
    }

    #[test]
    fn several_blocks_and_any_number_of_threads_give_the_same_lists() {
        let documents: Vec<Vec<u32>> = (0..900).map(|d| (0..9000).map(|i| (i * i + d) % 97).collect()).collect();
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let one = pool(1).install(|| built(&documents, 97));
        assert!(one == pool(3).install(|| built(&documents, 97)));
        for word in [0, 50, 96] {
            for (document, count) in one.view().list(WordRow(word)) {
                let expected = documents[document as usize].iter().filter(|&&w| w == word).count();
                assert_eq!(count as usize, expected);
            }
        }
    }

    #[test]
    fn lists_made_in_runs_are_the_same() {
        // Of word 98 a part is longer than what is read at once.
        let words = |d: u32| (0..d % 41).map(move |i| (i * i + 7 * d) % 97).chain([98]);
        let documents: Vec<Vec<u32>> =
            (0..70_000).map(|d| words(d).take(if d < 300 { 41 } else { 1 }).collect()).collect();
        let whole = built(&documents, 100);
        let folder = tempfile::tempdir().expect("a folder");
        for (at_once, folder) in
            [7, 1000, 30_000, 1 << 30].into_iter().flat_map(|n| [(n, Some(folder.path())), (n, None)])
        {
            let some = PostingsBuf::collect(|take| {
                let each = |d: usize, tell: &mut dyn FnMut(u32)| documents[d].iter().for_each(|&w| tell(w));
                let runs = ListRuns::new(100, folder, at_once);
                lists_in_runs(documents.len(), |d| documents[d].len(), each, runs, take)
            });
            assert!(some == whole, "in runs of {at_once}");
        }
        assert_eq!(whole.view().list(WordRow(98)).count(), whole.view().list(WordRow(98)).documents() as usize);
    }

    #[test]
    fn a_run_that_cannot_be_spilled_is_an_error() {
        let nowhere = Path::new("no such folder");
        let each = |_: usize, tell: &mut dyn FnMut(u32)| tell(0);
        let made = lists_in_runs(9, |_| 1, each, ListRuns::new(1, Some(nowhere), 2), &mut |_| Ok(()));
        assert!(made.is_err());
    }

    #[test]
    fn merged_lists_are_those_of_all_documents() {
        let some = |from: usize, to: usize| -> Vec<Vec<u32>> {
            let words = |d: usize| (0..d as u32 % 9 * 3).map(|i| (i * i + d as u32) % 19).collect();
            (0..60).map(|d| if (from..to).contains(&d) { words(d) } else { vec![] }).collect()
        };
        let all = built(&some(0, 60), 19);
        assert!(PostingsBuf::merge(built(&some(0, 40)[..40], 15 + 4).view(), built(&some(40, 60), 19).view()) == all);
        assert!(PostingsBuf::merge(built(&some(0, 60), 19).view(), built(&some(9, 9), 19).view()) == all);
        // The same documents on both sides.
        let once = built(&[vec![0, 0, 1], vec![1]], 2);
        let twice = PostingsBuf::merge(once.view(), built(&[vec![0], vec![], vec![2]], 3).view());
        assert!(twice == built(&[vec![0, 0, 1, 0], vec![1], vec![2]], 3));
    }

    #[test]
    fn damaged_bytes_end() {
        for bytes in [vec![255; 30], vec![1], vec![9, 200], (0..=255).collect()] {
            let lists = Postings { ends: &[bytes.len() as u64, 3], bytes: &bytes, lengths: &[] };
            assert!(lists.list(WordRow(0)).count() <= bytes.len());
            assert_eq!(lists.list(WordRow(1)).count(), 0);
        }
    }
}
