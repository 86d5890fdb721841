//! The threads that everything runs on.
//!
//! A child of `fork` has none of its parent's threads, so a pool belongs to a process and is made when it is first used.
//! The lock is only held with the interpreter attached: where there is a global lock, no other thread can hold this one
//! while a thread forks.

use std::sync::{Arc, Mutex, PoisonError};

use hyperdoc2vec::{Error, Result};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::exception;

/// The pool, and the process that it belongs to.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The pool of this process.
pub fn pool(_: Python<'_>) -> Result<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    match pool.as_ref() {
        Some((owner, pool)) if *owner == process => Ok(Arc::clone(pool)),
        _ => {
            let threads = ThreadPoolBuilder::new().thread_name(|number| format!("hyperdoc2vec-{number}"));
            let new = Arc::new(threads.build().map_err(|error| Error::Threads(error.to_string()))?);
            // Nothing of a parent's pool can be told to end: its threads are not here.
            std::mem::forget(pool.replace((process, Arc::clone(&new))));
            Ok(new)
        }
    }
}

/// Runs `work` on the pool, with the interpreter let go.
pub fn compute<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    let pool = pool(py).map_err(exception)?;
    py.detach(|| pool.install(work)).map_err(exception)
}
