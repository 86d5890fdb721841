//! Reading, working and writing at the same time, in order, whatever the number of threads.

use rayon::prelude::*;

use crate::error::{Error, Result};

/// Batches under way at once, for each thread: enough that none waits, few enough to bound memory.
const BATCHES_A_THREAD: usize = 6;
/// Bytes of input under way at once, however large the batches are.
const GROUP_BYTES: usize = 256 << 20;

/// Calls `work` with as many threads (0 for one a core) for everything parallel in it.
pub fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| Error::Usage(format!("cannot start {threads} threads: {e}")))?;
    pool.install(work)
}

/// Takes batches from `next`, works on them in parallel, and gives the results to `sink` in order; `bytes` tells how
/// large a batch is.
///
/// While one group of batches is worked on, the results of the group before are written and the next is read.
/// With one thread all happens in turn. What comes out does not depend on the number of threads: an error in reading
/// is told when all that was read before it has been written.
pub fn run<T: Send, R: Send>(
    mut next: impl FnMut() -> Result<Option<T>> + Send,
    bytes: impl Fn(&T) -> usize + Sync,
    work: impl Fn(T) -> R + Sync,
    mut sink: impl FnMut(R) -> Result<()> + Send,
) -> Result<()> {
    let most = rayon::current_num_threads() * BATCHES_A_THREAD;
    let mut failed = None;
    let mut read = || {
        let (mut group, mut size) = (Vec::new(), 0);
        while failed.is_none() && group.len() < most && size < GROUP_BYTES {
            match next() {
                Ok(Some(batch)) => {
                    size += bytes(&batch);
                    group.push(batch);
                }
                Ok(None) => break,
                Err(error) => failed = Some(error),
            }
        }
        group
    };
    let mut waiting = read();
    let mut done: Vec<R> = Vec::new();
    while !waiting.is_empty() || !done.is_empty() {
        let finished = std::mem::take(&mut done);
        let (results, more) = rayon::join(
            || waiting.into_par_iter().with_max_len(1).map(&work).collect::<Vec<R>>(),
            || {
                finished.into_iter().try_for_each(&mut sink)?;
                Ok::<_, Error>(read())
            },
        );
        done = results;
        waiting = more?;
    }
    failed.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_input() {
        for threads in [1, 2, 5] {
            let mut inputs = 0..100u64;
            let mut seen = Vec::new();
            let sink = |y| {
                seen.push(y);
                Ok(())
            };
            in_pool(threads, || run(|| Ok(inputs.next()), |_| 1 << 20, |x| x * x, sink)).expect("no error");
            assert_eq!(seen, (0..100).map(|x| x * x).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_ends_the_run() {
        let mut inputs = 0..1000u64;
        let mut seen = 0;
        let sink = |x| {
            seen += 1;
            if x == 50 { Err(Error::Interrupted) } else { Ok(()) }
        };
        let result = in_pool(2, || run(|| Ok(inputs.next()), |_| 1, |x| x, sink));
        assert!(matches!(result, Err(Error::Interrupted)));
        assert_eq!(seen, 51);
    }

    #[test]
    fn an_error_in_reading_comes_after_all_that_was_read() {
        for threads in [1, 3] {
            let (mut number, mut seen) = (0, 0);
            let next = || {
                number += 1;
                if number <= 17 { Ok(Some(number)) } else { Err(Error::Interrupted) }
            };
            let sink = |_| {
                seen += 1;
                Ok(())
            };
            assert!(in_pool(threads, || run(next, |_| 1, |x| x, sink)).is_err());
            assert_eq!(seen, 17);
        }
    }
}
