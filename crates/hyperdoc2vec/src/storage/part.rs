//! Parts: what several processes make of their shards of some work, each in a file, until all are merged.
//!
//! A part begins with a line of JSON, its head: what it is a part of, and by which options. Frames follow, each with its
//! place in the whole, packed and with a checksum; then a line of JSON, the foot, and its length. Merging takes the
//! frames of all parts in the order of their places, so it does not matter which shard made which frame.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::error::{Error, Result};
use crate::storage::atomic::{self, OutputLock, write_atomically};
use crate::storage::container::begins;

/// The name of the format, with which every part begins.
const FORMAT: &str = "hyperdoc2vec part";
/// The version of the layout of parts.
const VERSION: u32 = 1;
/// How hard frames are packed: little, since they are read once.
const LEVEL: i32 = 1;
/// The longest head or foot that is read.
const LONGEST_LINE: u64 = 64 << 20;
/// The largest frame, unpacked.
const LARGEST_FRAME: u64 = 1 << 36;

/// One of several shards of the same work, counted from 1: `2/7` is the second of seven.
///
/// ```
/// use hyperdoc2vec::Shard;
///
/// let shard: Shard = "2/7".parse()?;
/// assert_eq!((shard.number(), shard.of()), (2, 7));
/// assert!("0/7".parse::<Shard>().is_err() && "8/7".parse::<Shard>().is_err());
/// # Ok::<(), hyperdoc2vec::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "(u32, u32)", into = "(u32, u32)")]
pub struct Shard {
    number: u32,
    of: u32,
}

impl Shard {
    /// Shard `number`, from 1 on, of so many.
    pub fn new(number: u32, of: u32) -> Result<Shard> {
        if (1..=of).contains(&number) {
            return Ok(Shard { number, of });
        }
        Err(Error::Usage(format!(
            "there is no shard {number} of {of}: shards are counted from 1, so write 1/{0} to {0}/{0}",
            of.max(1)
        )))
    }

    /// Its number, counted from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// How many shards there are.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Its share of `total` things that stand in a row.
    pub(crate) fn range(self, total: u64) -> std::ops::Range<u64> {
        let bound = |shard: u32| (u128::from(total) * u128::from(shard) / u128::from(self.of)) as u64;
        bound(self.number - 1)..bound(self.number)
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Shard> {
        let numbers = text.split_once('/').and_then(|(i, n)| Some((i.trim().parse().ok()?, n.trim().parse().ok()?)));
        let wrong = || Error::Usage(format!("expected a shard such as 2/7, the second of seven, found {text:?}"));
        let (number, of) = numbers.ok_or_else(wrong)?;
        Shard::new(number, of)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl TryFrom<(u32, u32)> for Shard {
    type Error = Error;

    fn try_from((number, of): (u32, u32)) -> Result<Shard> {
        Shard::new(number, of)
    }
}

impl From<Shard> for (u32, u32) {
    fn from(shard: Shard) -> (u32, u32) {
        (shard.number, shard.of)
    }
}

/// The work that parts are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PartKind {
    /// Documents, to be merged into a corpus.
    #[strum(serialize = "an import")]
    Import,
    /// Vectors of texts.
    #[strum(serialize = "embedded texts")]
    Embed,
    /// Vectors of documents that are added to a model.
    #[strum(serialize = "an addition to a model")]
    Add,
}

/// The first line of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartHead {
    format: String,
    version: u32,
    program: String,
    /// The work.
    pub(crate) kind: PartKind,
    /// The shard of it.
    pub(crate) shard: Shard,
    /// Everything on which the result depends, by names that people know.
    pub(crate) settings: BTreeMap<String, Value>,
}

impl PartHead {
    pub(crate) fn new(kind: PartKind, shard: Shard, settings: BTreeMap<String, Value>) -> PartHead {
        let program = env!("CARGO_PKG_VERSION").to_owned();
        PartHead { format: FORMAT.to_owned(), version: VERSION, program, kind, shard, settings }
    }

    /// A setting; null if it has none of that name.
    pub(crate) fn setting(&self, name: &str) -> &Value {
        self.settings.get(name).unwrap_or(&Value::Null)
    }
}

/// The last line of a part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct PartFoot {
    frames: u64,
    /// The checksum of what is known of the input as a whole: equal for all shards of one input.
    input: String,
}

/// The place of a frame in the whole: which of the inputs, and which of its pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct FramePlace {
    /// The input, counted from 1; 0 for what stands before all.
    pub input: u32,
    /// The piece, counted from 0.
    pub piece: u32,
}

impl FramePlace {
    /// The checksum of what stands there.
    fn sum(self, bytes: &[u8]) -> u64 {
        xxh3_64_with_seed(bytes, u64::from(self.input) << 32 | u64::from(self.piece))
    }
}

/// With this every part begins.
fn start_of_a_part() -> String {
    format!("{{\"format\":\"{FORMAT}\"")
}

/// An error if something is at `path` that a new part may not replace: anything, or, if one part may replace another,
/// what is no part.
pub(crate) fn refuse_existing(path: &Path, replace: bool) -> Result<()> {
    atomic::refuse_existing(path, replace)?;
    if begins(path, |head| head.starts_with(start_of_a_part().as_bytes()))? {
        return Ok(());
    }
    let what = "not a part, so it is never replaced by one; choose another name";
    Err(Error::Foreign { path: path.to_owned(), what: what.to_owned() })
}

/// A part being written.
pub(crate) struct PartWriter<'a> {
    path: &'a Path,
    out: &'a mut BufWriter<File>,
    frames: u64,
}

impl PartWriter<'_> {
    /// Adds a frame.
    pub(crate) fn push(&mut self, place: FramePlace, bytes: &[u8]) -> Result<()> {
        let mut write = || {
            let packed = zstd::bulk::compress(bytes, LEVEL)?;
            self.out.write_all(&place.input.to_le_bytes())?;
            self.out.write_all(&place.piece.to_le_bytes())?;
            self.out.write_all(&(bytes.len() as u64).to_le_bytes())?;
            self.out.write_all(&(packed.len() as u64).to_le_bytes())?;
            self.out.write_all(&place.sum(&packed).to_le_bytes())?;
            self.out.write_all(&packed)
        };
        write().map_err(Error::io("write", self.path))?;
        self.frames += 1;
        Ok(())
    }
}

/// Writes a part: `fill` adds its frames in rising order of their places and returns the checksum of the whole input.
/// Where it fails nothing is left behind, and what stood at `path` stays.
pub(crate) fn write_part(
    path: &Path,
    head: &PartHead,
    replace: bool,
    fill: impl FnOnce(&mut PartWriter<'_>) -> Result<u64>,
) -> Result<()> {
    refuse_existing(path, replace)?;
    let _lock = OutputLock::take(path)?;
    write_atomically(path, |out| {
        let line = |line: std::result::Result<Vec<u8>, serde_json::Error>| {
            line.map_err(|error| Error::io("write", path)(error.into()))
        };
        let mut head = line(serde_json::to_vec(head))?;
        head.push(b'\n');
        out.write_all(&head).map_err(Error::io("write", path))?;
        let mut writer = PartWriter { path, out, frames: 0 };
        let input = format!("{:016x}", fill(&mut writer)?);
        let foot = line(serde_json::to_vec(&PartFoot { frames: writer.frames, input }))?;
        out.write_all(&foot)
            .and_then(|()| out.write_all(&xxh3_64(&[&head[..], &foot].concat()).to_le_bytes()))
            .and_then(|()| out.write_all(&(foot.len() as u64).to_le_bytes()))
            .map_err(Error::io("write", path))
    })
}

/// A part being read.
struct PartReader {
    path: PathBuf,
    head: PartHead,
    foot: PartFoot,
    file: BufReader<File>,
    /// Where the frames end.
    end: u64,
    at: u64,
    read: u64,
    /// The next frame's place, and its bytes as they are in the file: unpacked length, packed length, checksum.
    next: Option<(FramePlace, [u64; 3])>,
}

/// Bytes of a frame before its content.
const FRAME_HEAD: u64 = 32;

impl PartReader {
    fn open(path: &Path) -> Result<PartReader> {
        let foreign = |what: &str| Error::Foreign { path: path.to_owned(), what: what.to_owned() };
        // Before it is opened: a pipe would be waited for.
        let about = path.metadata().map_err(Error::io("open", path))?;
        if !about.is_file() {
            return Err(foreign("not a part: expected a file that was written with a shard"));
        }
        let file = File::open(path).map_err(Error::io("open", path))?;
        let mut file = BufReader::with_capacity(1 << 18, file);
        let io = |error| Error::io("read", path)(error);
        let mut start = vec![0; start_of_a_part().len()];
        if file.read_exact(&mut start).is_err() || start != start_of_a_part().as_bytes() {
            return Err(foreign("not a part: expected a file that was written with a shard"));
        }
        let mut rest = Vec::new();
        io::BufRead::read_until(&mut file.by_ref().take(LONGEST_LINE), b'\n', &mut rest).map_err(io)?;
        let line = [start, rest].concat();
        let head = PartReader::head(path, &line)?;
        let cut = || Error::Damaged {
            path: path.to_owned(),
            what: format!("cut short or altered; make the part of shard {} again", head.shard),
        };
        let at = line.len() as u64;
        let mut last = [0; 16];
        let foot_end = about.len().checked_sub(16).filter(|&end| end >= at).ok_or_else(cut)?;
        file.seek(SeekFrom::Start(foot_end)).and_then(|_| file.read_exact(&mut last)).map_err(io)?;
        let [sum, length] = [0, 8].map(|at| u64::from_le_bytes(last[at..at + 8].try_into().unwrap_or_default()));
        let end = foot_end.checked_sub(length).filter(|&end| end >= at && length <= LONGEST_LINE).ok_or_else(cut)?;
        let mut foot = vec![0; length as usize];
        file.seek(SeekFrom::Start(end)).and_then(|_| file.read_exact(&mut foot)).map_err(io)?;
        if xxh3_64(&[&line[..], &foot].concat()) != sum {
            return Err(cut());
        }
        let foot = serde_json::from_slice(&foot).map_err(|_| cut())?;
        file.seek(SeekFrom::Start(at)).map_err(io)?;
        let mut part = PartReader { path: path.to_owned(), head, foot, file, end, at, read: 0, next: None };
        part.advance()?;
        Ok(part)
    }

    fn head(path: &Path, line: &[u8]) -> Result<PartHead> {
        let damaged = |what: String| Error::Damaged { path: path.to_owned(), what };
        let json: Value = serde_json::from_slice(line)
            .map_err(|error| damaged(format!("the part's first line is damaged ({error}); make the part again")))?;
        if json["version"] != VERSION {
            let what = format!(
                "a part of version {} by program {}, but this program ({}) reads version {VERSION}; make all parts with \
                 the program that merges them",
                json["version"],
                json["program"].as_str().unwrap_or("?"),
                env!("CARGO_PKG_VERSION")
            );
            return Err(Error::Foreign { path: path.to_owned(), what });
        }
        serde_json::from_value(json)
            .map_err(|error| damaged(format!("the part's first line is damaged ({error}); make the part again")))
    }

    fn damaged(&self) -> Error {
        let what = format!("cut short or altered; make the part of shard {} again", self.head.shard);
        Error::Damaged { path: self.path.clone(), what }
    }

    /// Reads the head of the next frame.
    fn advance(&mut self) -> Result<()> {
        let before = self.next.take().map(|(place, _)| place);
        if self.at == self.end {
            return if self.read == self.foot.frames { Ok(()) } else { Err(self.damaged()) };
        }
        let mut head = [0; FRAME_HEAD as usize];
        self.file.read_exact(&mut head).map_err(Error::io("read", &self.path))?;
        self.at += FRAME_HEAD;
        let half = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap_or_default());
        let whole = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap_or_default());
        let place = FramePlace { input: half(0), piece: half(4) };
        let [length, packed, sum] = [whole(8), whole(16), whole(24)];
        let fits = self.end.checked_sub(self.at).is_some_and(|left| packed <= left) && length <= LARGEST_FRAME;
        if !fits || before.is_some_and(|before| before >= place) {
            return Err(self.damaged());
        }
        self.read += 1;
        self.next = Some((place, [length, packed, sum]));
        Ok(())
    }

    /// The packed bytes of the next frame.
    fn take(&mut self) -> Result<Option<PackedFrame>> {
        let Some((place, [length, packed, sum])) = self.next else { return Ok(None) };
        let mut bytes = vec![0; packed as usize];
        self.file.read_exact(&mut bytes).map_err(Error::io("read", &self.path))?;
        self.at += packed;
        if place.sum(&bytes) != sum {
            return Err(self.damaged());
        }
        self.advance()?;
        Ok(Some(PackedFrame { path: self.path.clone(), bytes, length }))
    }
}

/// A frame as it stands in its part.
pub(crate) struct PackedFrame {
    path: PathBuf,
    bytes: Vec<u8>,
    length: u64,
}

impl PackedFrame {
    /// The contents, parsed by `read`, which returns `None` for bytes that make no sense.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&[u8]) -> Option<T>) -> Result<T> {
        let mut bytes = Vec::new();
        let unpacked = zstd::Decoder::with_buffer(&self.bytes[..])
            .and_then(|decoder| decoder.take(self.length + 1).read_to_end(&mut bytes));
        let whole = unpacked.is_ok() && bytes.len() as u64 == self.length;
        let read = whole.then(|| read(&bytes)).flatten();
        read.ok_or_else(|| Error::Damaged { path: self.path.clone(), what: "altered; make the part again".to_owned() })
    }

    /// Its size in the file.
    pub(crate) fn packed_bytes(&self) -> usize {
        self.bytes.len()
    }
}

/// All parts of some work, read together.
pub(crate) struct PartSet {
    /// By shard.
    parts: Vec<PartReader>,
    last: Option<FramePlace>,
}

impl PartSet {
    /// Opens the parts of `kind`: an error unless they are all shards of one work, each once.
    pub(crate) fn open(paths: &[PathBuf], kind: PartKind) -> Result<PartSet> {
        let mut parts = paths.iter().map(|path| PartReader::open(path)).collect::<Result<Vec<PartReader>>>()?;
        let Some(first) = parts.first() else {
            return Err(Error::Usage("there are no parts to merge".to_owned()));
        };
        if first.head.kind != kind {
            let what = format!("a part of {}, but parts of {kind} are merged here", first.head.kind);
            return Err(Error::input(first.path.display().to_string(), what));
        }
        for part in &parts[1..] {
            if let Some(what) = difference(first, part) {
                return Err(Error::input(part.path.display().to_string(), what));
            }
        }
        parts.sort_by_key(|part| part.head.shard.number);
        if let Some(twice) = parts.windows(2).find(|pair| pair[0].head.shard == pair[1].head.shard) {
            let what = format!("shard {}, as {} is; merge each once", twice[1].head.shard, twice[0].path.display());
            return Err(Error::input(twice[1].path.display().to_string(), what));
        }
        let of = parts[0].head.shard.of;
        let numbers = parts.iter().map(|part| part.head.shard.number);
        if let Some((missing, _)) = (1..=of).zip(numbers.chain(std::iter::repeat(0))).find(|(want, have)| want != have)
        {
            let missing_count = of as usize - parts.len();
            let others = if missing_count > 1 { format!(" and {} more", missing_count - 1) } else { String::new() };
            let what =
                format!("the part of shard {missing}/{of}{others} is missing; make it, and merge all {of} parts");
            return Err(Error::input(parts[0].path.display().to_string(), what));
        }
        Ok(PartSet { parts, last: None })
    }

    /// The head of the first part: but for the shard, that of all.
    pub(crate) fn head(&self) -> &PartHead {
        &self.parts[0].head
    }

    /// The bytes of all parts.
    pub(crate) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.end).sum()
    }

    /// The bytes that were read.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.parts.iter().map(|part| part.at).sum()
    }

    /// The next frame in the order of the whole.
    pub(crate) fn next_frame(&mut self) -> Result<Option<PackedFrame>> {
        let next = self.parts.iter_mut().filter(|part| part.next.is_some());
        let Some(part) = next.min_by_key(|part| part.next.map(|(place, _)| place)) else { return Ok(None) };
        let Some((place, _)) = part.next else { return Ok(None) };
        // Pieces of an input follow each other without a gap.
        let follows = match self.last {
            Some(last) if last.input == place.input => last.piece.checked_add(1) == Some(place.piece),
            _ => place.piece == 0,
        };
        if !follows {
            let what = format!(
                "piece {} of input {} does not follow the one before: the input changed while the shards were made; \
                 make all parts again",
                u64::from(place.piece) + 1,
                place.input
            );
            return Err(Error::input(part.path.display().to_string(), what));
        }
        self.last = Some(place);
        part.take()
    }
}

/// Reads what the file `path` is a part of.
pub fn part_kind(path: &Path) -> Result<PartKind> {
    PartReader::open(path).map(|part| part.head.kind)
}

/// Why `other` is not of the same work as `first`.
fn difference(first: &PartReader, other: &PartReader) -> Option<String> {
    let (a, b, shown) = (&first.head, &other.head, first.path.display());
    if a.kind != b.kind {
        return Some(format!("a part of {}, but {shown} is one of {}", b.kind, a.kind));
    }
    if a.program != b.program {
        let what = "make all parts with the same program";
        return Some(format!("made by program {}, but {shown} by program {}; {what}", b.program, a.program));
    }
    if a.shard.of != b.shard.of {
        let what = "merge parts of the same division";
        return Some(format!("shard {}, but {shown} is shard {}; {what}", b.shard, a.shard));
    }
    let names = a.settings.keys().chain(b.settings.keys());
    if let Some(name) = names.into_iter().find(|name| a.setting(name) != b.setting(name)) {
        let (mine, theirs) = (b.setting(name), a.setting(name));
        return Some(format!("made with {name} {mine}, but {shown} with {theirs}; make all parts in the same way"));
    }
    if first.foot.input != other.foot.input {
        let what = "the files differ in name, number or size; make all parts from the same input";
        return Some(format!("made from another input than {shown}: {what}"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(dir: &Path, name: &str, shard: &str, places: &[(u32, u32)]) -> PathBuf {
        let path = dir.join(name);
        let shard = shard.parse().expect("a shard");
        let head = PartHead::new(PartKind::Import, shard, BTreeMap::from([("min_count".to_owned(), Value::from(5))]));
        write_part(&path, &head, true, |part| {
            for &(input, piece) in places {
                part.push(FramePlace { input, piece }, format!("{input}.{piece}").as_bytes())?;
            }
            Ok(7)
        })
        .expect("written");
        path
    }

    fn read(paths: &[PathBuf]) -> Result<Vec<String>> {
        let mut set = PartSet::open(paths, PartKind::Import)?;
        let mut read = Vec::new();
        while let Some(frame) = set.next_frame()? {
            read.push(frame.read(|bytes| String::from_utf8(bytes.to_vec()).ok())?);
        }
        assert_eq!(set.bytes(), set.bytes_read());
        Ok(read)
    }

    #[test]
    fn frames_come_in_the_order_of_the_whole() {
        let dir = tempfile::tempdir().expect("a directory");
        let one = part(dir.path(), "one", "1/3", &[(0, 0), (1, 0), (2, 1)]);
        let two = part(dir.path(), "two", "2/3", &[]);
        let three = part(dir.path(), "three", "3/3", &[(1, 1), (2, 0), (2, 2)]);
        let frames = read(&[three, one, two]).expect("a whole");
        assert_eq!(frames, ["0.0", "1.0", "1.1", "2.0", "2.1", "2.2"]);
    }

    #[test]
    fn parts_that_are_no_whole_are_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let made = |name: &str, shard: &str, places: &[(u32, u32)]| part(dir.path(), name, shard, places);
        let (one, two) = (made("one", "1/2", &[(1, 0)]), made("two", "2/2", &[(1, 2)]));
        let third = made("third", "3/3", &[]);
        let says = |paths: &[&PathBuf], what: &str| {
            let paths: Vec<PathBuf> = paths.iter().copied().cloned().collect();
            let message = read(&paths).expect_err("refused").to_string();
            assert!(message.contains(what), "{message}");
        };
        says(&[&one], "shard 2/2 is missing");
        says(&[&two], "shard 1/2 is missing");
        says(&[&one, &one], "merge each once");
        says(&[&one, &third], "of the same division");
        says(&[&one, &two], "piece 3 of input 1 does not follow");
        says(&[&third], "shard 1/3 and 1 more is missing");
        let none: [&PathBuf; 0] = [];
        says(&none, "no parts");
    }

    #[test]
    fn a_part_that_was_cut_or_altered_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = part(dir.path(), "one", "1/1", &[(1, 0), (1, 1)]);
        let whole = std::fs::read(&path).expect("read");
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).expect("written");
            assert!(read(std::slice::from_ref(&path)).is_err(), "cut at {cut}");
        }
        for at in 0..whole.len() {
            let mut altered = whole.clone();
            altered[at] ^= 4;
            std::fs::write(&path, &altered).expect("written");
            assert!(read(std::slice::from_ref(&path)).is_err(), "altered at {at}");
        }
    }

    #[test]
    fn shards_share_out_everything() {
        for (total, of) in [(0, 1), (1, 7), (10, 3), (u64::MAX, 7)] {
            let ranges: Vec<_> = (1..=of).map(|i| Shard::new(i, of).expect("a shard").range(total)).collect();
            assert_eq!((ranges[0].start, ranges[of as usize - 1].end), (0, total));
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }
}
