//! Bytes from files and standard input, unpacked, cut into batches of whole lines.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use super::shares::FileShare;
use super::tree::is_below;
use crate::document::losses::{Loss, Losses};
use crate::error::{Error, Result};
use crate::storage::part::FramePlace;

/// A batch has at least this many bytes, unless the input ends before: the larger, the fewer words are looked up in
/// the vocabulary of all batches.
const BATCH: usize = 2 << 20;

/// How often somebody who waits for the input is asked whether to go on.
const PATIENCE: Duration = Duration::from_millis(100);

/// Whole lines of one input.
#[derive(Debug)]
pub struct LineBatch {
    /// The name of the input in messages.
    pub input: Arc<str>,
    /// The number of the first line, counting from 1.
    pub first_line: u64,
    /// The lines.
    pub bytes: Vec<u8>,
    /// Numbers of lines longer than allowed, which are left empty.
    pub too_long: Vec<u64>,
    /// The most bytes that are allowed.
    pub longest: usize,
    /// Which of all batches it is.
    pub place: FramePlace,
}

impl LineBatch {
    /// These lines, all of an input that is called so.
    pub fn new(input: &str, lines: impl Into<Vec<u8>>) -> LineBatch {
        let (input, bytes) = (Arc::from(input), lines.into());
        let (longest, place) = (bytes.len(), FramePlace::default());
        LineBatch { input, first_line: 1, longest, bytes, too_long: Vec::new(), place }
    }

    /// Each line with its place (`file:line`), without its line end.
    pub fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let body = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let ends = memchr::memchr_iter(b'\n', body).chain((!self.bytes.is_empty()).then_some(body.len()));
        let lines = ends.scan(0, |start, end| Some(&body[std::mem::replace(start, end + 1)..end]));
        (self.first_line..).zip(lines).map(|(number, line)| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            // A byte order mark is no part of the text.
            (number, if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line })
        })
    }

    /// The place of a line, for messages.
    pub fn place(&self, line: u64) -> String {
        format!("{}:{line}", self.input)
    }
}

/// An error in one line of JSON: serde_json would call it line 1 of its own.
pub(super) fn json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => format!("{} (column {})", &text[..at], error.column()),
        None => text,
    }
}

/// Reads inputs one after the other, batch by batch.
pub struct LineBatches {
    inputs: VecDeque<(PathBuf, FileShare)>,
    current: Option<(Arc<str>, PathBuf, Box<dyn BufRead + Send>)>,
    share: FileShare,
    line: u64,
    /// How many bytes of the current input were read, unpacked.
    offset: u64,
    /// The next batch: which input, which batch of it.
    next: FramePlace,
    longest: usize,
    consumed: Arc<Consumed>,
}

impl LineBatches {
    /// Prepares to read `inputs` (`-` is standard input), in which no line is longer than `longest` bytes.
    pub fn new(inputs: &[PathBuf], longest: usize, consumed: Arc<Consumed>) -> Result<LineBatches> {
        refuse_directories(inputs)?;
        let inputs = inputs.iter().map(|path| (path.clone(), FileShare::Whole)).collect();
        let (share, next) = (FileShare::Whole, FramePlace::default());
        Ok(LineBatches { inputs, current: None, share, line: 1, offset: 0, next, longest, consumed })
    }

    /// Reads these shares of the inputs only.
    pub(super) fn of_shares(mut self, shares: Vec<FileShare>) -> LineBatches {
        self.inputs.iter_mut().zip(shares).for_each(|((_, share), given)| *share = given);
        self
    }

    /// The next batch, or `None` when all inputs are read.
    pub fn next_batch(&mut self) -> Result<Option<LineBatch>> {
        loop {
            if self.current.is_none() {
                let Some((path, share)) = self.inputs.pop_front() else { return Ok(None) };
                self.next = FramePlace { input: self.next.input + 1, piece: 0 };
                if share.is_over(0) {
                    continue;
                }
                (self.share, self.offset) = (share, 0);
                let reader = open(&path, self.consumed.clone())?;
                let name = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
                let name = if is_stdin(&path) { "standard input".into() } else { name };
                let shown = shown(&path).to_owned();
                self.current = Some((Arc::from(name.as_ref()), shown, reader));
                self.line = 1;
            }
            let start = self.offset;
            match self.read()? {
                Some(batch) if self.share.takes(batch.place.piece, start) => return Ok(Some(batch)),
                Some(_) if !self.share.is_over(self.offset) => {}
                _ => self.current = None,
            }
        }
    }

    fn read(&mut self) -> Result<Option<LineBatch>> {
        let Some((name, path, reader)) = &mut self.current else { return Ok(None) };
        let bytes = Vec::with_capacity(BATCH + 4096);
        let (first_line, longest) = (self.line, self.longest);
        let (input, place) = (name.clone(), self.next);
        let mut batch = LineBatch { input, first_line, bytes, too_long: Vec::new(), longest, place };
        while batch.bytes.len() < BATCH {
            let start = batch.bytes.len();
            let room = self.longest as u64 + 1;
            reader.by_ref().take(room).read_until(b'\n', &mut batch.bytes).map_err(Error::io("read", path))?;
            let length = batch.bytes.len() - start;
            if length == 0 {
                break;
            }
            self.offset += length as u64;
            if length as u64 == room && batch.bytes.last() != Some(&b'\n') {
                self.offset += reader.skip_until(b'\n').map_err(Error::io("read", path))? as u64;
                batch.bytes.truncate(start);
                batch.bytes.shrink_to(BATCH);
                batch.bytes.push(b'\n');
                batch.too_long.push(self.line);
            }
            self.line += 1;
        }
        self.next.piece += 1;
        Ok((!batch.bytes.is_empty()).then_some(batch))
    }
}

/// The bytes that were read of all inputs, as they are on disk, and whether reading has been given up.
#[derive(Debug, Default)]
pub struct Consumed {
    bytes: AtomicU64,
    given_up: AtomicBool,
}

impl Consumed {
    /// The bytes that were read.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// Batches read by a thread of its own, so that waiting for them can be given up: for a pipe, or for the end of a line
/// that has none (`/dev/zero`).
pub struct Patient<B> {
    batches: Receiver<Result<Option<B>>>,
    consumed: Arc<Consumed>,
    over: bool,
}

impl<B> Drop for Patient<B> {
    fn drop(&mut self) {
        self.consumed.given_up.store(true, Ordering::Relaxed);
    }
}

impl<B: Send + 'static> Patient<B> {
    /// Starts to read: `next` gives the batches, of what `consumed` counts.
    pub fn new(mut next: impl FnMut() -> Result<Option<B>> + Send + 'static, consumed: Arc<Consumed>) -> Patient<B> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let read = {
            let sender = sender.clone();
            move || {
                loop {
                    let batch = next();
                    let last = !matches!(batch, Ok(Some(_)));
                    if sender.send(batch).is_err() || last {
                        break;
                    }
                }
            }
        };
        if let Err(error) = std::thread::Builder::new().name("read".to_owned()).spawn(read) {
            let _ = sender.send(Err(Error::Threads(error.to_string())));
        }
        Patient { batches: receiver, consumed, over: false }
    }

    /// The next batch, or `None` when all inputs are read. While there is none yet, `idle` is called again and
    /// again; its error ends the waiting.
    pub fn next_batch(&mut self, idle: &impl Fn() -> Result<()>) -> Result<Option<B>> {
        while !self.over {
            match self.batches.recv_timeout(PATIENCE) {
                Ok(batch) => {
                    self.over = !matches!(batch, Ok(Some(_)));
                    return batch;
                }
                Err(RecvTimeoutError::Timeout) => idle()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::input("the input", "reading ended before the input did"));
                }
            }
        }
        Ok(None)
    }
}

/// Whether `path` stands for standard input.
pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// An error if one of `inputs` is not there, or is a directory.
pub(super) fn refuse_directories(inputs: &[PathBuf]) -> Result<()> {
    for path in inputs.iter().filter(|path| !is_stdin(path)) {
        let metadata = path.metadata().map_err(Error::io("read", path))?;
        if metadata.is_dir() {
            return Err(Error::input(path.display().to_string(), "is a directory, but this format reads files"));
        }
    }
    Ok(())
}

/// Files of JSON lines, those below directories among them, for formats that read their input twice. As in trees of pages,
/// links that lead out of a directory are not followed but counted, as is what is no file.
pub(super) fn json_lines(inputs: &[PathBuf], losses: &mut Losses) -> Result<Vec<PathBuf>> {
    const ENDINGS: [&str; 3] = ["jsonl", "json", "ndjson"];
    let mut files = Vec::new();
    for input in inputs {
        if is_stdin(input) {
            return Err(Error::input("-", "this format reads its input twice, so it reads files, not standard input"));
        }
        if !input.is_dir() {
            files.push(input.clone());
            continue;
        }
        let wanted = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let ending = super::sniff::ending(split_packed(&name).0);
            // The API packs files without any ending but that.
            let packed = !split_packed(&name).1.is_empty() && ending.is_none();
            !name.starts_with('.') && (packed || ending.is_some_and(|found| ENDINGS.contains(&found)))
        };
        let mut below = Vec::new();
        for entry in walkdir::WalkDir::new(input).sort_by_file_name() {
            let entry =
                entry.map_err(|error| Error::Io { doing: "walk", path: input.clone(), source: error.into() })?;
            let (path, link) = (entry.path(), entry.path_is_symlink());
            let kind = if link { path.metadata().ok().map(|there| there.file_type()) } else { Some(entry.file_type()) };
            // A link that leads nowhere is nothing.
            let Some(kind) = kind else { continue };
            let mut unread = |why: &str| {
                let path = path.strip_prefix(input).unwrap_or(path).display();
                losses.add(Loss::UnreadFile, format!("{path}: {why}"));
            };
            if link && (wanted(path) || kind.is_dir()) && !is_below(path, input) {
                unread("a link that leads out of the tree");
            } else if kind.is_dir() || !wanted(path) {
                continue;
            } else if !kind.is_file() {
                unread("not a file");
            } else if !link || path.canonicalize().is_ok_and(|target| !wanted(&target)) {
                // What a link leads to is read under its own name, if it is wanted by that.
                below.push(entry.into_path());
            }
        }
        if below.is_empty() {
            let place = input.display().to_string();
            return Err(Error::input(place, "expected files of JSON lines (.jsonl, .json, packed or not), found none"));
        }
        files.append(&mut below);
    }
    Ok(files)
}

/// The name of `path` in messages.
pub(super) fn shown(path: &Path) -> &Path {
    if is_stdin(path) { Path::new("standard input") } else { path }
}

/// Opens a file or standard input (`-`); gz, zst, bz2 and xz are recognised by their first bytes and unpacked.
///
/// `consumed` grows by the bytes read, as they are on disk.
pub fn open(path: &Path, consumed: Arc<Consumed>) -> Result<Box<dyn BufRead + Send>> {
    let (head, raw) = open_raw(path, consumed)?;
    unpacked(&head, raw).map_err(Error::io("read", shown(path)))
}

/// The first bytes of a file or standard input, and all of it, packed as it is.
pub(super) fn open_raw(path: &Path, consumed: Arc<Consumed>) -> Result<(Vec<u8>, impl BufRead + Send + use<>)> {
    let raw: Box<dyn Read + Send> = if is_stdin(path) {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).map_err(Error::io("open", path))?)
    };
    let mut raw = Counted { inner: raw, consumed };
    // A pipe may give its first bytes one by one.
    let mut head = Vec::new();
    raw.by_ref().take(6).read_to_end(&mut head).map_err(Error::io("read", shown(path)))?;
    let raw = buffered(io::Cursor::new(head.clone()).chain(raw));
    Ok((head, raw))
}

/// A reader of `raw`, which begins with `head`, that unpacks it.
pub(super) fn unpacked<'a>(head: &[u8], raw: impl BufRead + Send + 'a) -> io::Result<Box<dyn BufRead + Send + 'a>> {
    Ok(match head {
        [0x1f, 0x8b, ..] => Box::new(buffered(flate2::bufread::MultiGzDecoder::new(raw))),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(buffered(zstd::Decoder::with_buffer(raw)?)),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Box::new(buffered(bzip2::bufread::MultiBzDecoder::new(raw))),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Box::new(buffered(lzma_rust2::XzReader::new(raw, true))),
        _ => Box::new(raw),
    })
}

/// Whether a file that begins so is unpacked by [`unpacked`].
pub(super) fn is_packed(head: &[u8]) -> bool {
    matches!(
        head,
        [0x1f, 0x8b, ..]
            | [0x28, 0xb5, 0x2f, 0xfd, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', ..]
            | [0xfd, b'7', b'z', b'X', b'Z', 0, ..]
    )
}

/// The bytes of a whole file, unpacked; `None` if they are more than `most`. A device or a pipe, which may never end, is
/// refused.
pub(super) fn read_file(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let about = path.metadata()?;
    if !about.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    if about.len() > most {
        return Ok(None);
    }
    let mut raw = Vec::with_capacity(about.len() as usize);
    // It may grow while it is read.
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut raw)?;
    if raw.len() as u64 > most {
        return Ok(None);
    }
    let packed = match raw.as_slice() {
        // A text may begin like bzip2 does.
        [b'B', b'Z', b'h', ..] => split_packed(&path.to_string_lossy()).1.eq_ignore_ascii_case(".bz2"),
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] | [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => true,
        _ => false,
    };
    if !packed {
        return Ok(Some(raw));
    }
    let mut bytes = Vec::new();
    unpacked(&raw, raw.as_slice())?.take(most + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= most))
}

/// A file's name without the ending of its compression, and that ending with its dot, if it has one.
pub(super) fn split_packed(name: &str) -> (&str, &str) {
    let packed = name.rfind('.').filter(|&dot| {
        let ending = &name[dot + 1..];
        ["gz", "zst", "bz2", "xz"].iter().any(|known| ending.eq_ignore_ascii_case(known))
    });
    name.split_at(packed.unwrap_or(name.len()))
}

fn buffered<R: Read>(reader: R) -> BufReader<R> {
    BufReader::with_capacity(256 << 10, reader)
}

/// Counts the bytes that pass.
struct Counted<R> {
    inner: R,
    consumed: Arc<Consumed>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.consumed.given_up.load(Ordering::Relaxed) {
            return Err(io::Error::other("reading was given up"));
        }
        let read = self.inner.read(buffer)?;
        self.consumed.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read_all(files: &[&[u8]], longest: usize) -> Vec<LineBatch> {
        let dir = tempfile::tempdir().expect("a directory");
        let paths: Vec<PathBuf> = (0..files.len()).map(|i| dir.path().join(format!("f{i}"))).collect();
        for (path, bytes) in paths.iter().zip(files) {
            std::fs::write(path, bytes).expect("written");
        }
        let mut batches = LineBatches::new(&paths, longest, Arc::default()).expect("readable");
        std::iter::from_fn(|| batches.next_batch().expect("readable")).collect()
    }

    #[test]
    #[cfg(unix)]
    fn a_line_without_an_end_is_given_up_and_its_reader_ends() {
        let consumed = Arc::<Consumed>::default();
        let inputs = [PathBuf::from("/dev/zero")];
        let mut batches = LineBatches::new(&inputs, 1 << 20, Arc::clone(&consumed)).expect("readable");
        let mut batches = Patient::new(move || batches.next_batch(), Arc::clone(&consumed));
        let given_up = batches.next_batch(&|| Err(Error::Interrupted));
        assert!(matches!(given_up, Err(Error::Interrupted)));
        drop(batches);
        // The thread that reads is the last to hold what counts the bytes.
        let start = std::time::Instant::now();
        while Arc::strong_count(&consumed) > 1 {
            assert!(start.elapsed() < Duration::from_secs(60), "it reads on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn lines(batches: &[LineBatch]) -> Vec<String> {
        let shown =
            |b: &LineBatch, (n, line): (u64, &[u8])| format!("{} {}", b.place(n), String::from_utf8_lossy(line));
        batches.iter().flat_map(|batch| batch.lines().map(move |line| shown(batch, line))).collect()
    }

    #[test]
    fn lines_know_their_places() {
        let batches = read_all(&[b"a\r\n\nb", b"", b"c\n"], 100);
        assert_eq!(lines(&batches), ["f0:1 a", "f0:2 ", "f0:3 b", "f1:1 c"].map(|s| s.replace("f1", "f2")));
    }

    #[test]
    fn a_line_longer_than_allowed_is_named_and_left_empty() {
        let batches = read_all(&[b"ab\nabcdefgh\ncd\nabcdefgh"], 4);
        assert_eq!(lines(&batches), ["f0:1 ab", "f0:2 ", "f0:3 cd", "f0:4 "]);
        assert_eq!(batches[0].too_long, [2, 4]);
    }

    #[test]
    fn packed_input_is_read_as_it_is() {
        let text = b"one\ntwo\n".as_slice();
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(text).expect("packed");
        let mut gz = gz.finish().expect("packed");
        gz.extend(gz.clone());
        let mut bz = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        bz.write_all(text).expect("packed");
        let mut xz = lzma_rust2::XzWriter::new(Vec::new(), Default::default()).expect("packed");
        xz.write_all(text).expect("packed");
        let packed = [
            gz,
            zstd::encode_all(text, 1).expect("packed"),
            bz.finish().expect("packed"),
            xz.finish().expect("packed"),
        ];
        for (bytes, copies) in packed.iter().zip([2, 1, 1, 1]) {
            let batches = read_all(&[bytes], 100);
            let bytes: Vec<u8> = batches.iter().flat_map(|batch| batch.bytes.clone()).collect();
            assert_eq!(bytes, text.repeat(copies));
        }
    }

    #[test]
    fn packed_input_that_is_cut_short_is_an_error() {
        let packed = zstd::encode_all(b"some text that goes on".repeat(100).as_slice(), 1).expect("packed");
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("cut.zst");
        std::fs::write(&path, &packed[..packed.len() - 5]).expect("written");
        let mut batches = LineBatches::new(&[path], 1 << 20, Arc::default()).expect("readable");
        let error = batches.next_batch().expect_err("cut short").to_string();
        assert!(error.contains("cut.zst"), "{error}");
    }
}
