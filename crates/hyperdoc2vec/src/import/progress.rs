//! The progress of an import, reported to a closure that may stop it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

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

/// Time between two looks at whether a long piece of work is still wanted.
const LOOK: Duration = Duration::from_millis(200);

/// Does `work` while `step` is called now and then, on a thread of its own: those of the pool may all be busy. Once `step`
/// fails, `stop` is set, which the work heeds, and the error is returned when the work has ended.
pub(super) fn while_wanted<R>(
    stop: &AtomicBool,
    step: &mut (dyn FnMut() -> Result<()> + Send),
    work: impl FnOnce() -> R,
) -> Result<R> {
    let (done, waits) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let looks = std::thread::Builder::new().spawn_scoped(scope, move || {
            loop {
                match waits.recv_timeout(LOOK) {
                    Err(RecvTimeoutError::Timeout) => step().inspect_err(|_| stop.store(true, Ordering::Relaxed))?,
                    _ => return Ok(()),
                }
            }
        });
        let looks = looks.map_err(|error| Error::Threads(error.to_string()))?;
        let result = work();
        drop(done);
        looks.join().unwrap_or(Err(Error::Interrupted)).map(|()| result)
    })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_is_no_longer_wanted_is_told() {
        let stop = AtomicBool::new(false);
        assert_eq!(while_wanted(&stop, &mut || Ok(()), || 7).expect("wanted"), 7);
        let mut looks = 0;
        let mut step = || {
            looks += 1;
            if looks == 2 { Err(Error::Interrupted) } else { Ok(()) }
        };
        let work = || {
            while !stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        assert!(matches!(while_wanted(&stop, &mut step, work), Err(Error::Interrupted)));
        assert_eq!(looks, 2, "it is asked no more");
    }
}
