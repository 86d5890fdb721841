//! The write-ahead log of an SQLite database: pages that transactions have changed and that the database has not taken up
//! yet, as long as a program has it open. The layout: <https://www.sqlite.org/fileformat2.html#walformat>.

use std::collections::HashMap;
use std::path::Path;

/// Larger logs are not read.
const LARGEST: u64 = 1 << 30;
const HEADER: usize = 32;
const FRAME: usize = 24;

/// The pages of a log whose transactions were completed.
#[derive(Debug, Default)]
pub(super) struct WriteAheadLog {
    bytes: Vec<u8>,
    size: usize,
    /// Where the newest form of a page begins.
    pages: HashMap<u32, usize>,
}

impl WriteAheadLog {
    /// The bytes of the log beside a database; none if there is no log.
    pub(super) fn bytes_beside(database: &Path) -> Vec<u8> {
        let mut name = database.as_os_str().to_owned();
        name.push("-wal");
        crate::import::source::read_file(Path::new(&name), LARGEST).ok().flatten().unwrap_or_default()
    }

    /// Whether two states of a log belong to each other: one that was begun anew has another header.
    pub(super) fn is_continued(before: &[u8], after: &[u8]) -> bool {
        before.get(..HEADER) == after.get(..HEADER)
    }

    /// The log of a database with pages of this size; empty if it does not fit. Reads frames as long as their checksums hold, and forgets those behind the last transaction that was completed.
    pub(super) fn read(bytes: Vec<u8>, size: usize) -> WriteAheadLog {
        let mut log = WriteAheadLog { bytes, size, pages: HashMap::new() };
        let bytes = &log.bytes;
        let four = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]));
        let is_big = match four(0) {
            Some(0x377f_0682) => false,
            Some(0x377f_0683) => true,
            _ => return log,
        };
        let mut sum = FrameChecksum { is_big, parts: [0, 0] };
        sum.add(&bytes[..(HEADER - 8).min(bytes.len())]);
        if four(8) != u32::try_from(size).ok() || four(24) != Some(sum.parts[0]) || four(28) != Some(sum.parts[1]) {
            return log;
        }
        let (mut done, mut open) = (HashMap::new(), HashMap::new());
        let mut at = HEADER;
        while let Some(frame) = bytes.get(at..at + FRAME + size) {
            sum.add(&frame[..8]);
            sum.add(&frame[FRAME..]);
            let same_log = four(at + 8) == four(16) && four(at + 12) == four(20);
            if !same_log || four(at + 16) != Some(sum.parts[0]) || four(at + 20) != Some(sum.parts[1]) {
                break;
            }
            open.insert(four(at).unwrap_or(0), at + FRAME);
            // The size of the database after a transaction stands in its last frame.
            if four(at + 4) != Some(0) {
                done.extend(open.drain());
            }
            at += FRAME + size;
        }
        log.pages = done;
        log
    }

    /// How many pages it has.
    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    /// The newest form of a page.
    pub(super) fn page(&self, number: u32) -> Option<&[u8]> {
        let start = *self.pages.get(&number)?;
        self.bytes.get(start..start + self.size)
    }
}

/// The running checksum of a log.
struct FrameChecksum {
    is_big: bool,
    parts: [u32; 2],
}

impl FrameChecksum {
    fn add(&mut self, bytes: &[u8]) {
        for pair in bytes.chunks_exact(8) {
            let number = |b: &[u8]| match self.is_big {
                true => u32::from_be_bytes([b[0], b[1], b[2], b[3]]),
                false => u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            };
            let [first, second] = [number(&pair[..4]), number(&pair[4..])];
            self.parts[0] = self.parts[0].wrapping_add(first).wrapping_add(self.parts[1]);
            self.parts[1] = self.parts[1].wrapping_add(second).wrapping_add(self.parts[0]);
        }
    }
}
