//! Thread pools of a chosen size.

use crate::error::{Error, Result};

/// A pool of `threads` threads; 0 for one a core.
pub(crate) fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| Error::Threads(error.to_string()))
}

/// Runs `work` in a pool of `threads` threads; 0 for one a core.
pub(crate) fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    pool(threads)?.install(work)
}
