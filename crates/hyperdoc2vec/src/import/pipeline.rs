//! Reading, working and writing at the same time, in order, whatever the number of threads.

use rayon::prelude::*;

use crate::error::{Error, Result};

/// Batches under way at once, for each thread: enough that none waits, few enough to bound memory.
const BATCHES_A_THREAD: usize = 2;

/// Takes batches from `next`, works on them in parallel, and gives the results to `sink` in order.
///
/// While one group of batches is worked on, the results of the group before are written and the next is read.
/// With one thread all happens in turn. What comes out does not depend on the number of threads.
pub fn run<T: Send, R: Send>(
    threads: usize,
    mut next: impl FnMut() -> Result<Option<T>> + Send,
    work: impl Fn(T) -> R + Sync,
    mut sink: impl FnMut(R) -> Result<()> + Send,
) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| Error::Usage(format!("cannot start {threads} threads: {e}")))?;
    let group = pool.current_num_threads() * BATCHES_A_THREAD;
    let mut read = || (0..group).map_while(|_| next().transpose()).collect::<Result<Vec<T>>>();
    pool.install(|| {
        let mut waiting = read()?;
        let mut done: Vec<R> = Vec::new();
        while !waiting.is_empty() || !done.is_empty() {
            let finished = std::mem::take(&mut done);
            let (results, more) = rayon::join(
                || waiting.into_par_iter().with_max_len(1).map(&work).collect::<Vec<R>>(),
                || {
                    finished.into_iter().try_for_each(&mut sink)?;
                    read()
                },
            );
            done = results;
            waiting = more?;
        }
        Ok(())
    })
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
            run(threads, || Ok(inputs.next()), |x| x * x, sink).expect("no error");
            assert_eq!(seen, (0..100).map(|x| x * x).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_ends_the_run() {
        let mut inputs = 0..1000u64;
        let mut seen = 0;
        let result = run(
            2,
            || Ok(inputs.next()),
            |x| x,
            |x| {
                seen += 1;
                if x == 50 { Err(Error::Interrupted) } else { Ok(()) }
            },
        );
        assert!(matches!(result, Err(Error::Interrupted)));
        assert_eq!(seen, 51);
    }
}
