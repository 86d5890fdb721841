//! Long work that is watched: Ctrl-C stops it, progress is reported.
//!
//! The work has a thread of its own. The thread that Python called stays with Python: several times a second it looks for
//! signals, and calls back with how far the work has come.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hyperdoc2vec::{Error, Result};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::exception;
use crate::pool::pool;

/// Time between two looks.
const TICK: Duration = Duration::from_millis(100);

/// How far some work has come, and whether it is to stop.
pub struct Watcher<P> {
    stop: AtomicBool,
    latest: Mutex<Option<P>>,
}

impl<P> Watcher<P> {
    /// Notes how far the work has come; says whether it is to go on.
    pub fn see(&self, progress: P) -> ControlFlow<()> {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
        if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn take(&self) -> Option<P> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Runs `work` on the pool; `report` gets its progress. An exception of `report`, or Ctrl-C, stops the work and is raised.
pub fn watched<T: Send, P: Send>(
    py: Python<'_>,
    mut report: impl FnMut(P) -> PyResult<()>,
    work: impl FnOnce(&Watcher<P>) -> Result<T> + Send,
) -> PyResult<T> {
    let pool = pool(py).map_err(exception)?;
    let watch = Watcher { stop: AtomicBool::new(false), latest: Mutex::new(None) };
    let done: Mutex<Option<Result<T>>> = Mutex::new(None);
    let mut raised = None;
    let result = std::thread::scope(|scope| {
        let caller = std::thread::current();
        let (watch, done) = (&watch, &done);
        let worker = scope.spawn(move || {
            let result = pool.install(|| work(watch));
            *done.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            caller.unpark();
        });
        while !worker.is_finished() {
            if let Some(result) = done.lock().unwrap_or_else(PoisonError::into_inner).take() {
                return Some(result);
            }
            py.detach(|| std::thread::park_timeout(TICK));
            if raised.is_none() {
                let seen = py.check_signals().and_then(|()| watch.take().map_or(Ok(()), &mut report));
                raised = seen.err();
                watch.stop.store(raised.is_some(), Ordering::Relaxed);
            }
        }
        done.lock().unwrap_or_else(PoisonError::into_inner).take()
        // Without a result the worker has panicked, and the end of the scope says so.
    });
    match (result, raised) {
        // It came to its end before it could be stopped: what was raised is raised nonetheless.
        (Some(Ok(_)) | None, Some(raised)) => Err(raised),
        (Some(Err(error)), Some(raised)) if is_stop(&error) => Err(with_remedy(py, raised, &error)),
        (Some(result), _) => result.map_err(exception),
        (None, None) => Err(exception(Error::Interrupted)),
    }
}

fn is_stop(error: &Error) -> bool {
    matches!(error, Error::Stopped { .. } | Error::Interrupted)
}

/// Ctrl-C with the words of the library, which name the checkpoint; any other exception as it is.
fn with_remedy(py: Python<'_>, raised: PyErr, error: &Error) -> PyErr {
    match raised.is_instance_of::<PyKeyboardInterrupt>(py) {
        true => PyKeyboardInterrupt::new_err(error.to_string()),
        false => raised,
    }
}
