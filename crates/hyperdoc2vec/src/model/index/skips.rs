//! Entering a posting list in the middle.
//!
//! A list has no marks that a reader could jump to. A table of skips notes for every [`EVERY`] postings where they begin;
//! it is made when a long list is first read out of order, and kept in memory: 8 bytes for 16 postings.

use std::sync::Arc;

use super::kept::Kept;
use super::postings::PostingList;
use crate::id::WordRow;

/// Postings between two entries of a table. Half of them are read in vain at each jump.
const EVERY: usize = 16;

/// Lists of more postings have a table.
pub const LONG: usize = 128;

/// The places at which a list can be entered, from the first posting on.
#[derive(Debug, Default)]
struct SkipTable {
    /// One more than the last document before a place,
    documents: Vec<u32>,
    /// and how many bytes of the list are left there.
    bytes: Vec<u32>,
}

impl SkipTable {
    /// The table of a list that was not read from yet.
    fn new(mut list: PostingList<'_>) -> SkipTable {
        let mut table = SkipTable::default();
        let (mut before, mut number) = (0, 0usize);
        loop {
            if number.is_multiple_of(EVERY) {
                table.documents.push(before);
                table.bytes.push(list.bytes_left() as u32);
            }
            let Some((document, _)) = list.next() else { return table };
            before = document.wrapping_add(1);
            number += 1;
        }
    }
}

/// The tables of skips of one field, made as they are needed.
#[derive(Debug, Default)]
pub struct SkipTables {
    made: Kept<SkipTable>,
}

impl SkipTables {
    /// A cursor at the start of the list of a word.
    pub fn cursor<'a>(&self, word: WordRow, list: PostingList<'a>) -> Cursor<'a> {
        let long = list.documents() as usize > LONG && u32::try_from(list.bytes_left()).is_ok();
        let skips = long.then(|| self.made.get(word, || SkipTable::new(list.clone())));
        Cursor::new(list, skips)
    }
}

/// The document that an exhausted cursor stands at.
pub const END: u32 = u32::MAX;

/// A place in a posting list, moved forward only.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    whole: PostingList<'a>,
    /// What is left of it.
    list: PostingList<'a>,
    /// The posting it stands at.
    document: u32,
    count: u32,
    skips: Option<Arc<SkipTable>>,
    /// An entry of the table that is not behind it.
    entry: usize,
}

impl<'a> Cursor<'a> {
    fn new(whole: PostingList<'a>, skips: Option<Arc<SkipTable>>) -> Cursor<'a> {
        let list = whole.clone();
        let mut cursor = Cursor { whole, list, document: 0, count: 0, skips, entry: 0 };
        cursor.advance();
        cursor
    }

    /// How many postings the list has.
    pub fn postings(&self) -> u32 {
        self.whole.documents()
    }

    /// The document it stands at, or [`END`].
    #[inline]
    pub fn document(&self) -> u32 {
        self.document
    }

    /// How often that document has the word.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Moves to the next posting.
    #[inline]
    pub fn advance(&mut self) {
        (self.document, self.count) = self.list.next().unwrap_or((END, 0));
    }

    /// Moves to the first posting that is not before `document`. Documents must rise from call to call.
    #[inline]
    pub fn seek(&mut self, document: u32) {
        if self.document >= document {
            return;
        }
        if let Some(skips) = &self.skips {
            let entry = last_not_above(&skips.documents, self.entry, document);
            if entry > self.entry {
                self.entry = entry;
                self.list = self.whole.behind(skips.documents[entry], skips.bytes[entry] as usize);
            }
        }
        while self.document < document {
            self.advance();
        }
    }

    /// Asks the memory for the place at which `document` will be looked for. `from` is what the call before this one has
    /// returned, or 0; documents must rise from call to call.
    #[inline]
    pub fn prefetch(&self, document: u32, from: usize) -> usize {
        let Some(skips) = &self.skips else { return 0 };
        let entry = last_not_above(&skips.documents, from, document);
        self.whole.prefetch(skips.bytes[entry] as usize);
        entry
    }

    /// How often `document` has the word. Documents must rise from call to call.
    #[inline]
    pub fn count_in(&mut self, document: u32) -> u32 {
        self.seek(document);
        if self.document == document { self.count } else { 0 }
    }
}

/// The last place from `start` on whose number is not above `wanted`, or `start`; numbers rise. Near ones are found first.
fn last_not_above(numbers: &[u32], start: usize, wanted: u32) -> usize {
    let mut step = 1;
    while start + step < numbers.len() && numbers[start + step] <= wanted {
        step *= 2;
    }
    let (low, high) = (start + step / 2, (start + step).min(numbers.len()));
    low + numbers[low..high].partition_point(|&number| number <= wanted).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::index::postings::PostingsBuf;

    /// A word that the documents of which `has` is true have, as often as their number says.
    fn list_of(documents: u32, has: impl Fn(u32) -> bool + Sync) -> PostingsBuf {
        let times = |document: usize| if has(document as u32) { document % 9 + 1 } else { 0 };
        let tell = |document: usize, tell: &mut dyn FnMut(u32)| (0..times(document)).for_each(|_| tell(0));
        PostingsBuf::build(documents as usize, 1, times, tell)
    }

    #[test]
    fn a_cursor_finds_what_the_whole_list_has() {
        for every in [1, 2, 7, 300, 5000] {
            let lists = list_of(9000, |document| document % every == 0);
            let tables = SkipTables::default();
            let list = lists.view().list(WordRow(0));
            for stride in [1, 3, 64, 129, 4000] {
                let mut cursor = tables.cursor(WordRow(0), list.clone());
                let mut entry = 0;
                for document in (0..9100).step_by(stride) {
                    // A hint ahead changes nothing.
                    entry = cursor.prefetch(document + 70, entry);
                    let expected = if document < 9000 && document % every == 0 { document % 9 + 1 } else { 0 };
                    assert_eq!(cursor.count_in(document), expected, "{document} in steps of {stride}, each {every}th");
                }
            }
            assert_eq!(tables.made.len(), usize::from(9000 / every > 128), "short lists need none");
        }
    }

    #[test]
    fn a_cursor_passes_all_postings() {
        let lists = list_of(1000, |document| document % 3 == 1);
        let list = lists.view().list(WordRow(0));
        let mut cursor = SkipTables::default().cursor(WordRow(0), list.clone());
        let mut passed = Vec::new();
        while cursor.document() != END {
            passed.push((cursor.document(), cursor.count()));
            cursor.advance();
        }
        assert_eq!(passed, list.collect::<Vec<_>>());
    }

    #[test]
    fn entries_are_found_from_any_start() {
        let numbers = [0, 4, 4, 9, 12];
        for start in 0..numbers.len() {
            for wanted in 0..15 {
                let expected = (start..numbers.len()).rfind(|&at| numbers[at] <= wanted).unwrap_or(start);
                assert_eq!(last_not_above(&numbers, start, wanted), expected, "{wanted} from {start}");
            }
        }
    }

    #[test]
    fn an_empty_list_has_no_documents() {
        let none = PostingsBuf::default();
        let cursor = SkipTables::default().cursor(WordRow(0), none.view().list(WordRow(3)));
        assert_eq!((cursor.document(), cursor.count()), (END, 0));
    }
}
