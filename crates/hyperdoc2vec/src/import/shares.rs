//! Which pieces of the input belong to a shard.
//!
//! Files of lines and dumps are cut into batches from their beginning, in the same way by every shard, since the corpus
//! depends on where batches end. Files stand in a row, by their sizes on disk, which the shards divide evenly. Of a file
//! as it is, a shard takes the batches that begin in its share, and stops reading there; of a packed file, whose end
//! is not known until it is unpacked, the shards that it falls to take batches in turns. A file that does not fall to a
//! shard is not opened.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use super::source::{is_packed, is_stdin};
use crate::error::{Error, Result};
use crate::storage::part::Shard;

/// The share of a file that falls to a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileShare {
    /// Everything: the work is not divided.
    Whole,
    /// Nothing.
    None,
    /// The batches that begin in this range of bytes.
    Bytes(Range<u64>),
    /// The batches whose number leaves this remainder.
    Turns {
        /// The remainder.
        turn: u32,
        /// The divisor.
        of: u32,
    },
}

impl FileShare {
    /// Whether batch `number`, which begins at byte `at`, belongs to it.
    pub(super) fn takes(&self, number: u32, at: u64) -> bool {
        match self {
            FileShare::Whole => true,
            FileShare::None => false,
            FileShare::Bytes(range) => range.contains(&at),
            FileShare::Turns { turn, of } => number % of == *turn,
        }
    }

    /// Whether nothing from byte `at` on belongs to it.
    pub(super) fn is_over(&self, at: u64) -> bool {
        match self {
            FileShare::Whole | FileShare::Turns { .. } => false,
            FileShare::None => true,
            FileShare::Bytes(range) => at >= range.end,
        }
    }
}

/// The share of each input; nothing is looked at if the work is not divided.
pub(super) fn shares(inputs: &[PathBuf], shard: Option<Shard>) -> Result<Vec<FileShare>> {
    let Some(shard) = shard else { return Ok(vec![FileShare::Whole; inputs.len()]) };
    let sizes = inputs.iter().map(|path| size(path)).collect::<Result<Vec<u64>>>()?;
    let total = sizes.iter().sum();
    let mut start = 0;
    let mut shares = Vec::with_capacity(inputs.len());
    for (path, &size) in inputs.iter().zip(&sizes) {
        let file = start..start + size;
        start = file.end;
        shares.push(share(&file, total, shard, || packed(path))?);
    }
    Ok(shares)
}

/// The share of `shard` in a file that stands at `file` among `total` bytes.
fn share(file: &Range<u64>, total: u64, shard: Shard, packed: impl Fn() -> Result<bool>) -> Result<FileShare> {
    let of_shard = shard.range(total);
    let mine = of_shard.start.max(file.start)..of_shard.end.min(file.end);
    if mine.is_empty() {
        return Ok(FileShare::None);
    }
    if !packed()? {
        return Ok(FileShare::Bytes(mine.start - file.start..mine.end - file.start));
    }
    let (first, last) = (shard_of(file.start, total, shard.of()), shard_of(file.end - 1, total, shard.of()));
    // Where there are more shards than bytes, some between these have none.
    let of = if total < u64::from(shard.of()) { 1 } else { last - first + 1 };
    let turn = shard.number() - first;
    Ok(if turn < of { FileShare::Turns { turn, of } } else { FileShare::None })
}

/// Which of `of` shards byte `byte` of `total` falls to: the first whose share ends behind it.
fn shard_of(byte: u64, total: u64, of: u32) -> u32 {
    let end = |number: u32| (u128::from(total) * u128::from(number) / u128::from(of)) as u64;
    let (mut low, mut high) = (1, of);
    while low < high {
        let middle = low + (high - low) / 2;
        (low, high) = if end(middle) > byte { (low, middle) } else { (middle + 1, high) };
    }
    low
}

fn size(path: &Path) -> Result<u64> {
    let what = "only files can be divided among shards; write this input to a file first";
    if is_stdin(path) {
        return Err(Error::input("standard input", what));
    }
    let about = path.metadata().map_err(Error::io("read", path))?;
    match about.is_file() {
        true => Ok(about.len()),
        false => Err(Error::input(path.display().to_string(), what)),
    }
}

fn packed(path: &Path) -> Result<bool> {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(6).read_to_end(&mut head));
    read.map_err(Error::io("read", path))?;
    Ok(is_packed(&head))
}

/// A checksum of what is known of an input before it is read: names and sizes of its files, by which parts of different
/// inputs are told apart.
#[derive(Default)]
pub struct InputDigest(Xxh3);

impl InputDigest {
    /// Of files.
    pub(super) fn of(files: &[PathBuf]) -> u64 {
        let mut digest = InputDigest::default();
        for file in files {
            digest.file(&file.file_name().unwrap_or_default().to_string_lossy(), file);
        }
        digest.finish()
    }

    /// Adds a file, which is called so; one that cannot be looked at has no size.
    pub(super) fn file(&mut self, name: &str, path: &Path) {
        self.name(name);
        self.0.update(&path.metadata().map_or(u64::MAX, |about| about.len()).to_le_bytes());
    }

    /// Adds a name.
    pub(super) fn name(&mut self, name: &str) {
        self.0.update(&(name.len() as u64).to_le_bytes());
        self.0.update(name.as_bytes());
    }

    pub(super) fn finish(self) -> u64 {
        self.0.digest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many shards take each batch of a file, by number and first byte.
    fn takers(file: &Range<u64>, total: u64, of: u32, is_packed: bool) -> Vec<usize> {
        let shares: Vec<FileShare> = (1..=of)
            .map(|i| share(file, total, Shard::new(i, of).expect("a shard"), || Ok(is_packed)).expect("a share"))
            .collect();
        let batches = (0..20).map(|n: u32| (n, u64::from(n) * (file.end - file.start) / 20));
        batches.map(|(n, at)| shares.iter().filter(|share| share.takes(n, at)).count()).collect()
    }

    #[test]
    fn every_batch_belongs_to_exactly_one_shard() {
        for of in [1, 2, 3, 7, 50] {
            for (file, total) in [(0..1000, 1000), (0..300, 1000), (300..1000, 1000), (990..1000, 1000), (3..5, 5)] {
                for is_packed in [false, true] {
                    let takers = takers(&file, total, of, is_packed);
                    assert_eq!(takers, [1; 20], "{file:?} of {total} among {of}, packed: {is_packed}");
                }
            }
        }
    }

    #[test]
    fn a_file_that_falls_to_one_shard_is_no_matter_of_others() {
        let share = |i| share(&(0..300), 1000, Shard::new(i, 3).expect("a shard"), || Ok(true)).expect("a share");
        assert_eq!(share(1), FileShare::Turns { turn: 0, of: 1 });
        assert_eq!((share(2), share(3)), (FileShare::None, FileShare::None));
    }
}
