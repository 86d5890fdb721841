//! Links that wait on disk until all documents are known, and the redirects that they go through.
//!
//! There are many times as many links as documents: in memory they would be most of what an import needs.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::corpus::prepare::PreparedLink;
use crate::error::{Error, Result};
use crate::id::{OptionalNumber, WordId};

/// Longer chains of redirects are taken for circles.
const LONGEST_REDIRECT: usize = 32;
/// How many bytes are written or read at once.
const BUFFER: usize = 1 << 20;

/// Links in the order of the documents, in a file without a name.
///
/// For each document the number of its positions; for each position where it stands, the length of its anchor, the
/// number of its targets and their names.
pub(crate) struct WaitingLinks {
    file: BufWriter<File>,
    dir: PathBuf,
}

impl WaitingLinks {
    pub(crate) fn new(dir: &Path) -> Result<WaitingLinks> {
        let file = tempfile::tempfile_in(dir).map_err(Error::io("create a file in", dir))?;
        Ok(WaitingLinks { file: BufWriter::with_capacity(BUFFER, file), dir: dir.to_owned() })
    }

    /// Adds the links of the next document; `name` gives the number of a target's name.
    pub(crate) fn push(&mut self, links: &[PreparedLink], mut name: impl FnMut(&str) -> u32) -> Result<()> {
        self.put(links.len() as u32)?;
        for link in links {
            self.put(link.at)?;
            self.put(link.anchor)?;
            self.put(link.targets.len() as u32)?;
            for target in &link.targets {
                self.put(name(target))?;
            }
        }
        Ok(())
    }

    fn put(&mut self, number: u32) -> Result<()> {
        self.file.write_all(&number.to_le_bytes()).map_err(Error::io("write a file in", &self.dir))
    }

    /// Goes back to the first document.
    pub(crate) fn read(self) -> Result<NumberFile> {
        let error = |error| Error::io("write a file in", &self.dir)(error);
        let mut file = self.file.into_inner().map_err(|wrong| error(wrong.into_error()))?;
        file.rewind().map_err(error)?;
        Ok(NumberFile { file: BufReader::with_capacity(BUFFER, file), path: self.dir, at: 0 })
    }
}

/// Numbers of a file, from the first to the last.
pub(crate) struct NumberFile {
    file: BufReader<File>,
    path: PathBuf,
    /// How many were read or passed over.
    at: u64,
}

impl NumberFile {
    /// The numbers that stand in the file `path`.
    pub(crate) fn open(path: &Path) -> Result<NumberFile> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        Ok(NumberFile { file: BufReader::with_capacity(BUFFER, file), path: path.to_owned(), at: 0 })
    }

    pub(crate) fn next(&mut self) -> Result<u32> {
        let mut bytes = [0; 4];
        self.file.read_exact(&mut bytes).map_err(Error::io("read", &self.path))?;
        self.at += 1;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Reads `count` words from number `start` on, which is not before what was read.
    pub(crate) fn words(&mut self, start: u64, count: usize, words: &mut Vec<WordId>) -> Result<()> {
        words.clear();
        words.resize(count, WordId(0));
        let ahead = (start - self.at) as i64 * 4;
        let read = self.file.seek_relative(ahead);
        read.and_then(|()| self.file.read_exact(bytemuck::cast_slice_mut(words)))
            .map_err(Error::io("read", &self.path))?;
        self.at = start + count as u64;
        Ok(())
    }
}

/// Which document a name stands for.
pub(crate) struct Names {
    /// The document of each name, if it is one's id.
    documents: Vec<OptionalNumber>,
    /// The name that each name leads on to, if it is a redirect's.
    leads_to: Vec<OptionalNumber>,
}

impl Names {
    /// Of several redirects of a name the first counts.
    pub(crate) fn new(documents: Vec<OptionalNumber>, aliases: &[(u32, u32)]) -> Names {
        let mut leads_to = vec![OptionalNumber::NONE; documents.len()];
        for &(from, to) in aliases {
            let place = &mut leads_to[from as usize];
            if place.get().is_none() {
                *place = OptionalNumber::some(to);
            }
        }
        Names { documents, leads_to }
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether a document has this name as its id.
    pub(crate) fn is_document(&self, name: u32) -> bool {
        self.documents[name as usize].get().is_some()
    }

    /// The document a name stands for, through redirects.
    pub(crate) fn resolve(&self, name: u32) -> Option<u32> {
        let mut name = name;
        for _ in 0..LONGEST_REDIRECT {
            match self.documents[name as usize].get() {
                None => name = self.leads_to[name as usize].get()?,
                doc => return doc,
            }
        }
        None
    }
}
