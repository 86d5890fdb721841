//! Reading, working and writing at the same time, in order, whatever the number of threads.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, TryRecvError};

use rayon::Yield;

use crate::error::Result;

/// Batches under way at once, for each thread: enough that none waits, few enough to bound memory.
const BATCHES_A_THREAD: usize = 6;
/// Bytes of input under way at once, however large the batches are.
const MOST_BYTES: usize = 256 << 20;

/// Takes batches from `next`, works on them in parallel, and gives the results to `sink` in order; `bytes` is
/// the size of a batch.
///
/// The calling thread reads and writes, and works too while the batch to be written next is not done. What comes out
/// does not depend on the number of threads: an error in reading is returned when all that was read before it has been
/// written.
pub(crate) fn run<T: Send, R: Send>(
    mut next: impl FnMut() -> Result<Option<T>> + Send,
    bytes: impl Fn(&T) -> usize + Sync,
    work: impl Fn(T) -> R + Sync,
    mut sink: impl FnMut(R) -> Result<()> + Send,
) -> Result<()> {
    let most = rayon::current_num_threads() * BATCHES_A_THREAD;
    let work = &work;
    rayon::scope_fifo(|scope| {
        let (mut waiting, mut under_way, mut end) = (VecDeque::new(), 0, None);
        loop {
            while end.is_none() && waiting.len() < most && under_way < MOST_BYTES {
                match next() {
                    Ok(Some(batch)) => {
                        let (sender, result) = mpsc::channel();
                        waiting.push_back((bytes(&batch), result));
                        under_way += bytes(&batch);
                        // After an error nobody waits for the result.
                        scope.spawn_fifo(move |_| drop(sender.send(work(batch))));
                    }
                    Ok(None) => end = Some(Ok(())),
                    Err(error) => end = Some(Err(error)),
                }
            }
            let Some((bytes, result)) = waiting.pop_front() else { return end.unwrap_or(Ok(())) };
            under_way -= bytes;
            // There is no result if the work panicked; the scope passes that on.
            let Some(result) = wait(&result) else { return Ok(()) };
            sink(result)?;
        }
    })
}

/// Works on other batches until there is a result.
fn wait<R>(result: &Receiver<R>) -> Option<R> {
    loop {
        match result.try_recv() {
            Ok(result) => return Some(result),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) if rayon::yield_now() == Some(Yield::Executed) => {}
            Err(TryRecvError::Empty) => return result.recv().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::threads::in_pool;

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
