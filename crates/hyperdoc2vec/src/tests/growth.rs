//! For tests: time that grows with the input, and not with its square.

use std::time::Duration;

/// Below this, no quadratic scanner is at work on thousands of pieces.
const LITTLE: Duration = Duration::from_millis(2);
/// How many times as long eight times the input may take: a linear scanner takes 8 times, a quadratic one 64 times.
const MOST: u32 = 24;
/// The machine may be busy with other things: so often the two are measured, and the shortest times count.
const TRIES: usize = 9;

/// Fails if `work` on `pieces` of `what` takes out of proportion longer than on an eighth of them.
pub(crate) fn assert_linear(what: &str, pieces: usize, work: impl Fn(usize)) {
    let (mut small, mut large) = (Duration::MAX, Duration::MAX);
    for _ in 0..TRIES {
        large = large.min(cpu_time(|| work(pieces)));
        if large < LITTLE {
            return;
        }
        small = small.min(cpu_time(|| work(pieces / 8)));
        if large < small * MOST {
            return;
        }
    }
    panic!("{what:?}: {small:?} for {} pieces, but {large:?} for {pieces}", pieces / 8);
}

/// The time for which this thread was at work: others that want the processor too do not count.
#[cfg(unix)]
fn cpu_time(work: impl FnOnce()) -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default();
    let start = now();
    work();
    now() - start
}

#[cfg(not(unix))]
fn cpu_time(work: impl FnOnce()) -> Duration {
    let start = std::time::Instant::now();
    work();
    start.elapsed()
}

#[test]
fn a_scanner_that_reads_all_once_is_linear() {
    assert_linear("(", 400_000, |pieces| assert!(!"(".repeat(pieces).chars().any(|c| c == ')')));
}

#[test]
#[should_panic(expected = "pieces, but")]
fn a_scanner_that_looks_for_each_end_in_all_the_rest_is_found_out() {
    assert_linear("(", 20_000, |pieces| {
        let text = "(".repeat(pieces);
        assert!((0..pieces).all(|open| !text[open..].contains(')')));
    });
}
