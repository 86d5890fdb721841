//! The text of PDFs: by commands that are there (`pdftotext`), by a GROBID server, or built in; and kept by checksum.
//!
//! Text has a form feed between pages. What cannot be read gives a reason for people: encrypted, damaged, no PDF. A
//! command runs no longer than `LONGEST_RUN` and is then ended; the built-in reader stops by itself. When an import is
//! stopped, all of them end at once; only while the built-in reader opens a file it heeds nothing. The library is told
//! which commands there are: it reads no environment.

pub(crate) mod built_in;
mod cache;
mod command;
pub(crate) mod grobid;
mod health;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(super) use cache::TextCache;
pub use command::TextCommand;
pub(super) use grobid::Grobid;
pub(super) use health::{Ailment, ailments};

use super::source;

/// Time for one file.
const LONGEST_RUN: Duration = Duration::from_secs(60);
/// Larger files are not read.
const LARGEST: u64 = 512 << 20;
/// Bytes of text after which a file is cut.
const LONGEST_TEXT: usize = 64 << 20;

/// The reason why a file was not read when the import was stopped; nobody gets to see it.
const STOPPED: &str = "the import was stopped";

/// The bounds of what reads one file.
struct Bounds<'a> {
    longest: Duration,
    /// Bytes of text.
    most: usize,
    /// Set when nobody wants the text any more.
    stop: &'a AtomicBool,
}

/// How PDFs are read.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PdfOptions {
    /// Commands that print the text of a file, tried in order until one gives a text whose columns are not mixed; none
    /// of them is the built-in reader.
    pub commands: Vec<TextCommand>,
    /// A command that prints lines which may be the title of a file, the best first (see [`titles`]).
    pub titles: Option<TextCommand>,
    /// Address of a GROBID server, such as `http://localhost:8070`.
    pub grobid: Option<String>,
    /// A directory in which extracted text is kept by the checksum of its file.
    pub texts: Option<PathBuf>,
}

/// The contents of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Extracted {
    Text(String),
    /// GROBID's TEI.
    Tei(String),
}

/// Reads PDFs in one way.
pub(super) struct Extractor {
    commands: Vec<TextCommand>,
    titles: Option<TextCommand>,
    grobid: Option<Grobid>,
    cache: TextCache,
    stop: AtomicBool,
}

impl Extractor {
    pub(super) fn new(options: &PdfOptions) -> crate::error::Result<Extractor> {
        let grobid = options.grobid.as_deref().map(Grobid::at).transpose()?;
        let cache = TextCache::open(options.texts.as_deref())?;
        let (commands, titles) = (options.commands.clone(), options.titles.clone());
        Ok(Extractor { commands, titles, grobid, cache, stop: AtomicBool::new(false) })
    }

    /// A flag that ends, once set, whatever reads a file, within a fraction of a second.
    pub(super) fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// The text of a file, from the cache if it was read before; an error is the reason why there is none.
    pub(super) fn read(&self, file: &Path) -> Result<Extracted, String> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(STOPPED.to_owned());
        }
        let bytes = source::read_file(file, LARGEST).map_err(|error| error.to_string())?;
        let bytes = bytes.ok_or_else(|| format!("expected a PDF of at most {} MB, found more", LARGEST >> 20))?;
        let start = &bytes[..bytes.len().min(1024)];
        if memchr::memmem::find(start, b"%PDF-").is_none() {
            let what = if bytes.is_empty() { "an empty file" } else { "another kind of file" };
            return Err(format!("expected a PDF, found {what}"));
        }
        let way = match (&self.grobid, self.commands.first()) {
            (Some(_), _) => "grobid",
            (None, Some(command)) => &command.name,
            (None, None) => "built-in",
        };
        let bounds = Bounds { longest: LONGEST_RUN, most: LONGEST_TEXT, stop: &self.stop };
        self.cache.get_or(&bytes, way, || {
            if let Some(grobid) = &self.grobid {
                return grobid.read(&bytes, &self.stop).map(Extracted::Tei);
            }
            if self.commands.is_empty() {
                return built_in::read(&bytes, &bounds).map(Extracted::Text);
            }
            let (mut first, mut why) = (None, String::new());
            for command in &self.commands {
                match command.run(file, &bounds) {
                    // The next may keep the columns apart.
                    Ok(text) if ailments(&text).contains(&Ailment::MixedColumns) => first = first.or(Some(text)),
                    Ok(text) => return Ok(Extracted::Text(text)),
                    Err(reason) => why = reason,
                }
            }
            first.map(Extracted::Text).ok_or(why)
        })
    }

    /// Lines that may be the title of a file, the best first; kept like its text.
    pub(super) fn titles(&self, file: &Path) -> String {
        let Some(bytes) = source::read_file(file, LARGEST).ok().flatten() else { return String::new() };
        let bounds = Bounds { longest: LONGEST_RUN, most: LONGEST_TEXT, stop: &self.stop };
        let titles = self.cache.get_or(&bytes, "titles", || {
            let lines = match &self.titles {
                Some(command) => command.run(file, &bounds),
                None if self.commands.is_empty() => built_in::titles(&bytes, &bounds),
                None => Err(String::new()),
            };
            lines.map(Extracted::Text)
        });
        match titles {
            Ok(Extracted::Text(lines)) => lines,
            _ => String::new(),
        }
    }
}

/// The text of a PDF by the built-in reader, a form feed after each page; or why there is none. Foreign code reads the
/// file: a program should do this in a process of its own, see [`TextCommand`].
pub fn text(pdf: &[u8]) -> Result<String, String> {
    let stop = AtomicBool::new(false);
    built_in::read(pdf, &Bounds { longest: LONGEST_RUN, most: LONGEST_TEXT, stop: &stop })
}

/// Lines that may be the title of a PDF, the best first: what its first page sets in the largest letters, and the title
/// that the file names. Read by the built-in reader, see [`text`].
pub fn titles(pdf: &[u8]) -> Result<String, String> {
    let stop = AtomicBool::new(false);
    built_in::titles(pdf, &Bounds { longest: LONGEST_RUN, most: LONGEST_TEXT, stop: &stop })
}
