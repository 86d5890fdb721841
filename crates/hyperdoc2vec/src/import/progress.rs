//! The progress of an import, reported to a closure that may stop it.

use std::ops::ControlFlow;

use crate::error::{Error, Result};

/// How far an import has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes (or pages) read.
    pub read: u64,
    /// Bytes (or pages) there are, where that is known.
    pub total: Option<u64>,
    /// The unit of `read` and `total`.
    pub unit: Unit,
    /// Documents taken in.
    pub documents: u64,
}

/// The unit that progress is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of the input as it stands on disk.
    Bytes,
    /// Pages, or documents.
    Pages,
}

/// A closure that gets the progress of an import and may stop it.
pub type Watch<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + Send + 'a;

/// Reports that there are so many pages, of which none has been read.
pub(super) fn started(watch: &mut Watch<'_>, pages: usize) -> Result<()> {
    notify(watch, Progress { read: 0, total: Some(pages as u64), unit: Unit::Pages, documents: 0 })
}

/// Reports progress; an error if the closure wants to stop.
pub(super) fn notify(watch: &mut Watch<'_>, progress: Progress) -> Result<()> {
    match watch(&progress) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Interrupted),
    }
}
