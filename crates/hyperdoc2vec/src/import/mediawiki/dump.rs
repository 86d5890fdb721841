//! Dumps as batches of whole pages, in the order of the input.
//!
//! Inside of text a dump writes `<` as `&lt;`, so `</page>` is always the end of a page: batches are cut there without
//! parsing. bzip2 of many streams is unpacked in parallel; the batches are parsed in parallel.

use std::collections::VecDeque;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use super::super::bzip::Streams;
use super::super::shares::FileShare;
use super::super::source::{self, Consumed, is_stdin};
use super::page::read_head;
use super::titles::Wiki;
use crate::error::{Error, Result};
use crate::storage::part::FramePlace;

/// A batch has at least this many bytes, unless the input ends before.
const BATCH: usize = 2 << 20;
/// How many bytes are read at once.
const PIECE: usize = 256 << 10;
/// The most bytes that may stand before the first page.
const LONGEST_HEAD: usize = 16 << 20;

const BEGIN: &[u8] = b"<page>";
const END: &[u8] = b"</page>";
const LAST: &[u8] = b"</mediawiki>";

/// Pages of one dump, and what lies between them.
#[derive(Debug)]
pub struct PageBatch {
    /// The name of the dump in messages.
    pub input: Arc<str>,
    /// The wiki that it is of.
    pub site: Arc<Wiki>,
    /// Where the bytes stand in the dump, unpacked.
    pub offset: u64,
    /// The pages.
    pub bytes: Vec<u8>,
    /// Where pages longer than allowed stand, which are left out.
    pub too_long: Vec<u64>,
    /// The most bytes that are allowed.
    pub longest: usize,
    /// Why the dump cannot be read beyond this batch, if so.
    pub cut: Option<String>,
    /// Which of all batches it is.
    pub order: FramePlace,
}

impl PageBatch {
    /// A place in the dump, for messages.
    pub fn place(&self, offset: u64) -> String {
        format!("{} (byte {offset} of the XML)", self.input)
    }
}

/// Reads dumps one after the other, batch by batch.
pub struct PageBatches {
    inputs: VecDeque<(PathBuf, FileShare)>,
    /// The next batch: which dump, which batch of it.
    next: FramePlace,
    wanted: Vec<i32>,
    longest: usize,
    consumed: Arc<Consumed>,
    current: Option<Current>,
}

/// The dump that is being read.
struct Current {
    name: Arc<str>,
    path: PathBuf,
    reader: Box<dyn Read + Send>,
    share: FileShare,
    site: Arc<Wiki>,
    /// Bytes that are read but not given out yet, and where they stand.
    pending: Vec<u8>,
    offset: u64,
    /// Where pages that are too long stand; not given out yet.
    too_long: Vec<u64>,
    ended: bool,
    /// Why the dump cannot be read to its end.
    cut: Option<String>,
}

impl PageBatches {
    /// Prepares to read `inputs` (`-` is standard input): pages of `wanted` namespaces, none longer than `longest` bytes.
    pub fn new(inputs: &[PathBuf], wanted: &[i32], longest: usize, consumed: Arc<Consumed>) -> Result<PageBatches> {
        source::refuse_directories(inputs)?;
        let inputs = inputs.iter().map(|path| (path.clone(), FileShare::Whole)).collect();
        let (wanted, next) = (wanted.to_vec(), FramePlace::default());
        Ok(PageBatches { inputs, next, wanted, longest, consumed, current: None })
    }

    /// Reads these shares of the dumps only.
    pub(in crate::import) fn of_shares(mut self, shares: Vec<FileShare>) -> PageBatches {
        self.inputs.iter_mut().zip(shares).for_each(|((_, share), given)| *share = given);
        self
    }

    /// The next batch, or `None` when all dumps are read.
    pub fn next_batch(&mut self) -> Result<Option<PageBatch>> {
        loop {
            if self.current.is_none() {
                let Some((path, share)) = self.inputs.pop_front() else { return Ok(None) };
                self.next = FramePlace { input: self.next.input + 1, piece: 0 };
                if share.is_over(0) {
                    continue;
                }
                self.current = Some(Current::open(path, share, &self.wanted, self.consumed.clone())?);
            }
            let Some(current) = &mut self.current else { return Ok(None) };
            let start = current.offset;
            match current.next_batch(self.longest)? {
                Some(mut batch) => {
                    batch.order = self.next;
                    self.next.piece += 1;
                    if current.share.takes(batch.order.piece, start) {
                        return Ok(Some(batch));
                    }
                    if current.share.is_over(current.offset) {
                        self.current = None;
                    }
                }
                None => self.current = None,
            }
        }
    }
}

impl Current {
    fn open(path: PathBuf, share: FileShare, wanted: &[i32], consumed: Arc<Consumed>) -> Result<Current> {
        let (head, raw) = source::open_raw(&path, consumed)?;
        let shown = source::shown(&path).to_owned();
        let other = match head.as_slice() {
            [b'P', b'K', 3, 4, ..] => Some("a zip archive: unpack it first"),
            [b'7', b'z', 0xbc, 0xaf, ..] => Some("a 7z archive: unpack it first"),
            [b'R', b'a', b'r', b'!', ..] => Some("a rar archive: unpack it first"),
            [b'%', b'P', b'D', b'F', ..] => Some("a PDF"),
            _ => None,
        };
        if let Some(other) = other {
            return Err(Error::input(shown.display().to_string(), format!("expected a MediaWiki dump, found {other}")));
        }
        let reader: Box<dyn Read + Send> = match head.as_slice() {
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Box::new(Streams::new(raw)),
            _ => Box::new(source::unpacked(&head, raw).map_err(Error::io("read", &shown))?),
        };
        let name = if is_stdin(&path) {
            "standard input".into()
        } else {
            path.file_name().unwrap_or_default().to_string_lossy()
        };
        let mut current = Current {
            name: Arc::from(&*name),
            path: shown,
            reader,
            share,
            site: Arc::new(Wiki::new(wanted)),
            pending: Vec::new(),
            offset: 0,
            too_long: Vec::new(),
            ended: false,
            cut: None,
        };
        current.read_head(wanted)?;
        Ok(current)
    }

    /// Reads what stands before the first page.
    fn read_head(&mut self, wanted: &[i32]) -> Result<()> {
        let mut searched = 0;
        let end = loop {
            let from = searched;
            if let Some(found) = memchr::memmem::find(&self.pending[from..], BEGIN) {
                break from + found;
            }
            searched = self.pending.len().saturating_sub(BEGIN.len() - 1);
            if self.ended || self.pending.len() > LONGEST_HEAD {
                break self.pending.len();
            }
            self.read_more()?;
        };
        if let Some(what) = self.cut.as_ref().filter(|_| end == self.pending.len()) {
            return Err(Error::input(self.path.display().to_string(), what.as_str()));
        }
        let head = String::from_utf8_lossy(&self.pending[..end.min(LONGEST_HEAD)]);
        let mut site = Wiki::new(wanted);
        let not_found = |found| {
            let expected = "expected a MediaWiki dump, which is XML that begins with <mediawiki";
            Error::input(self.path.display().to_string(), format!("{expected}; {found}"))
        };
        read_head(&head, &mut site).map_err(not_found)?;
        if end > LONGEST_HEAD {
            return Err(not_found(format!("found no page in the first {} MiB", LONGEST_HEAD >> 20)));
        }
        if let Some(number) = site.unknown_namespace() {
            let what = format!("it has no namespace {number}; it has {}", site.list_namespaces());
            return Err(Error::input(self.path.display().to_string(), what));
        }
        self.site = Arc::new(site);
        Ok(())
    }

    /// Reads a piece more, unless the dump has ended or cannot be unpacked any further.
    fn read_more(&mut self) -> Result<()> {
        let mut piece = self.reader.by_ref().take(PIECE as u64);
        match piece.read_to_end(&mut self.pending) {
            Ok(0) => self.ended = true,
            Ok(_) => {}
            Err(error) if error.raw_os_error().is_some() => return Err(Error::io("read", &self.path)(error)),
            Err(error) => {
                self.ended = true;
                self.cut = Some(format!("it is damaged or cut short: {error}"));
            }
        }
        Ok(())
    }

    fn next_batch(&mut self, longest: usize) -> Result<Option<PageBatch>> {
        // Where the last whole page ends, and up to where that is known.
        let (mut whole, mut searched) = (0, 0);
        loop {
            if let Some(found) = memchr::memmem::rfind(&self.pending[searched..], END) {
                whole = searched + found + END.len();
            }
            if (whole >= BATCH || self.ended) && !(self.pending.len() > longest && whole == 0) {
                break;
            }
            searched = self.pending.len().saturating_sub(END.len() - 1).max(whole);
            if whole == 0 && self.pending.len() > longest {
                self.pass_over()?;
                searched = 0;
                continue;
            }
            if whole > 0 && self.pending.len() > BATCH.max(longest) {
                break;
            }
            self.read_more()?;
        }
        let mut cut = self.cut.take_if(|_| self.ended);
        if self.ended {
            let tail = &self.pending[whole..];
            if cut.is_none() && !self.pending.is_empty() && memchr::memmem::find(tail, LAST).is_none() {
                let within = memchr::memmem::find(tail, BEGIN).is_some();
                let place = if within { "in the middle of a page" } else { "before </mediawiki>" };
                cut = Some(format!("it ends {place}, so it is cut short"));
            }
            // Of a page that is not whole nothing is read.
            whole = if cut.is_some() { whole } else { self.pending.len() };
        }
        let rest = if self.ended { Vec::new() } else { self.pending[whole..].to_vec() };
        let mut bytes = std::mem::replace(&mut self.pending, rest);
        bytes.truncate(whole);
        let end = self.offset + whole as u64;
        let batch = PageBatch {
            input: self.name.clone(),
            site: self.site.clone(),
            offset: self.offset,
            bytes,
            too_long: std::mem::take(&mut self.too_long),
            longest,
            cut: cut.map(|cut| format!("{cut} (all pages before byte {end} of the XML were read)")),
            order: FramePlace::default(),
        };
        self.offset += whole as u64;
        let empty = batch.bytes.is_empty() && batch.too_long.is_empty() && batch.cut.is_none();
        Ok((!empty).then_some(batch))
    }

    /// Leaves out a page that is too long: all up to the end of one.
    fn pass_over(&mut self) -> Result<()> {
        let start = memchr::memmem::find(&self.pending, BEGIN).unwrap_or(0);
        self.too_long.push(self.offset + start as u64);
        loop {
            if let Some(end) = memchr::memmem::find(&self.pending, END) {
                self.pending.drain(..end + END.len());
                self.offset += (end + END.len()) as u64;
                return Ok(());
            }
            if self.ended {
                return Ok(());
            }
            let passed = self.pending.len().saturating_sub(END.len() - 1);
            self.pending.drain(..passed);
            self.offset += passed as u64;
            self.pending.shrink_to(PIECE);
            self.read_more()?;
        }
    }
}
