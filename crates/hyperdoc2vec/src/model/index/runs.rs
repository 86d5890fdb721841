//! Posting lists made in one go over a text that may be larger than memory: inversion in runs, as in external sorting.
//!
//! Postings are gathered until there are many, and become a run: the parts of all lists that these documents make, in the
//! order of the words. Runs but the last wait in a file. In the end a list is its number of documents, and its parts from all
//! runs one behind the other.
//!
//! After Witten, Moffat and Bell, "Managing Gigabytes" (1999), chapter 5. Ours, as the lists themselves are.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use super::postings::{posting, put, size, write};
use crate::storage::container::Take;

/// Postings in memory at once, of 12 bytes each.
pub const POSTINGS_A_RUN: usize = 12 << 20;
/// Bytes of a run that are read at once.
const READ_AHEAD: usize = 1 << 16;
/// Bytes of lists that are handed over at once.
const HANDED_OVER: usize = 1 << 20;

/// Posting lists, as documents tell their words.
pub struct ListRuns<'a> {
    folder: Option<&'a Path>,
    at_once: usize,
    /// Of each word: how many documents have it, and the document behind the last of them.
    found: Vec<u32>,
    next: Vec<u32>,
    /// Word, gap and count of what is in memory, and the bytes that they come to, by word.
    postings: Vec<(u32, u32, u32)>,
    sizes: Vec<usize>,
    file: Option<File>,
    /// Where runs stand in the file,
    spilled: Vec<Range<u64>>,
    /// and those that are kept in memory.
    kept: Vec<Vec<u8>>,
}

impl<'a> ListRuns<'a> {
    /// Lists for `words` words, in runs of so many postings, which wait in a file without a name in `folder`, or in memory.
    pub fn new(words: usize, folder: Option<&'a Path>, at_once: usize) -> ListRuns<'a> {
        ListRuns {
            folder,
            at_once,
            found: vec![0; words],
            next: vec![0; words],
            postings: Vec::new(),
            sizes: vec![0; words],
            file: None,
            spilled: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// How many words there are.
    pub fn words(&self) -> usize {
        self.found.len()
    }

    /// The words of a document, each with its count. Documents must rise from call to call.
    pub fn add(&mut self, document: u32, counts: &[(u32, u32)]) -> io::Result<()> {
        for &(word, count) in counts {
            let row = word as usize;
            let gap = document - self.next[row];
            let (number, rest) = posting(gap, count);
            self.sizes[row] += size(number) + rest.map_or(0, size);
            self.found[row] += 1;
            self.next[row] = document + 1;
            self.postings.push((word, gap, count));
        }
        if self.postings.len() >= self.at_once { self.spill() } else { Ok(()) }
    }

    /// Gives the lists to `take` in the order of the words, piece by piece, and returns where each ends.
    pub fn finish(mut self, take: Take<'_>) -> io::Result<Vec<u64>> {
        let last = self.take_run();
        let ListRuns { found, file, spilled, kept, .. } = self;
        let of_file = |file| spilled.iter().map(move |range: &Range<u64>| RunReader::new(Some(file), range.clone()));
        let in_memory = |run| RunReader { buffer: run, ..RunReader::new(None, 0..0) };
        let in_memory = kept.into_iter().chain([last]).map(in_memory);
        let mut readers: Vec<RunReader<'_>> = file.iter().flat_map(of_file).chain(in_memory).collect();
        readers.iter_mut().try_for_each(RunReader::advance)?;
        let (mut ends, mut end, mut piece) = (Vec::with_capacity(found.len()), 0, Vec::new());
        for (word, &found) in found.iter().enumerate() {
            let before = piece.len();
            if found > 0 {
                put(&mut piece, u64::from(found));
            }
            readers.iter_mut().try_for_each(|reader| reader.move_part(word as u64, &mut piece))?;
            end += (piece.len() - before) as u64;
            ends.push(end);
            if piece.len() >= HANDED_OVER {
                take(&piece)?;
                piece.clear();
            }
        }
        take(&piece)?;
        Ok(ends)
    }

    fn spill(&mut self) -> io::Result<()> {
        let run = self.take_run();
        let Some(folder) = self.folder else {
            self.kept.push(run);
            return Ok(());
        };
        let mut file = match self.file.take() {
            Some(file) => file,
            None => tempfile::tempfile_in(folder)?,
        };
        let start = file.seek(SeekFrom::End(0))?;
        file.write_all(&run)?;
        self.spilled.push(start..start + run.len() as u64);
        self.file = Some(file);
        Ok(())
    }

    /// The run of what is in memory, which is free then: for each word that has a part, how many words lie between it and
    /// the one before, how long the part is, and the part.
    fn take_run(&mut self) -> Vec<u8> {
        let mut places = Vec::with_capacity(self.sizes.len());
        let (mut run, mut next) = (Vec::new(), 0);
        for (word, size) in self.sizes.iter_mut().enumerate() {
            if *size > 0 {
                put(&mut run, word as u64 - next);
                put(&mut run, *size as u64);
                next = word as u64 + 1;
            }
            places.push(run.len());
            run.resize(run.len() + std::mem::take(size), 0);
        }
        for (word, gap, count) in self.postings.drain(..) {
            let place = &mut places[word as usize];
            let (number, rest) = posting(gap, count);
            *place = write(&mut run, *place, number);
            *place = rest.map_or(*place, |rest| write(&mut run, *place, rest));
        }
        run
    }
}

/// A run, read part by part.
struct RunReader<'f> {
    file: Option<&'f File>,
    /// What was not read from the file yet.
    left: Range<u64>,
    buffer: Vec<u8>,
    place: usize,
    /// The word that has the next part, and its length; nothing at the end.
    part: Option<(u64, usize)>,
    next: u64,
}

impl<'f> RunReader<'f> {
    fn new(file: Option<&'f File>, left: Range<u64>) -> RunReader<'f> {
        RunReader { file, left, buffer: Vec::new(), place: 0, part: None, next: 0 }
    }

    /// Moves the part of `word` behind what is in `list`, if that is the next.
    fn move_part(&mut self, word: u64, list: &mut Vec<u8>) -> io::Result<()> {
        let Some((_, mut length)) = self.part.filter(|part| part.0 == word) else { return Ok(()) };
        while length > 0 {
            let some = self.some()?;
            let some = &some[..some.len().min(length)];
            list.extend_from_slice(some);
            let moved = some.len();
            (self.place, length) = (self.place + moved, length - moved);
        }
        self.advance()
    }

    /// Reads which word has the next part.
    fn advance(&mut self) -> io::Result<()> {
        self.part = None;
        if self.place < self.buffer.len() || !self.left.is_empty() {
            let word = self.next + self.number()?;
            self.part = Some((word, self.number()? as usize));
            self.next = word + 1;
        }
        Ok(())
    }

    fn number(&mut self) -> io::Result<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.some()?[0];
            self.place += 1;
            number |= u64::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 || shift > 63 {
                return Ok(number);
            }
        }
    }

    /// What was read and is not used yet, at least one byte.
    fn some(&mut self) -> io::Result<&[u8]> {
        if self.place == self.buffer.len() {
            let (Some(mut file), false) = (self.file, self.left.is_empty()) else {
                return Err(ErrorKind::UnexpectedEof.into());
            };
            let length = READ_AHEAD.min((self.left.end - self.left.start) as usize);
            self.buffer.resize(length, 0);
            file.seek(SeekFrom::Start(self.left.start))?;
            file.read_exact(&mut self.buffer)?;
            (self.place, self.left.start) = (0, self.left.start + length as u64);
        }
        Ok(&self.buffer[self.place..])
    }
}
