//! Long lists, worked on in parts, so that Ctrl-C is heeded between two of them.
//!
//! A part holds as much text as takes about a quarter of a second: a list of long texts, or one that is ranked by the
//! hybrid, takes thousands of times as long as one of short texts that are embedded.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How long a part should take.
const AIM: Duration = Duration::from_millis(250);
/// The cost of a text without words, in bytes of text.
const EACH: usize = 64;
/// The cost of the first part.
const FIRST: usize = 32 << 10;
/// The most texts of a part: more are no faster together.
const MOST: usize = 2048;

/// Calls `work` with the texts, part by part; an exception of it, or Ctrl-C, ends that.
pub fn in_parts(py: Python<'_>, mut texts: &[String], mut work: impl FnMut(&[String]) -> PyResult<()>) -> PyResult<()> {
    let mut budget = FIRST;
    while !texts.is_empty() {
        let (part, rest) = texts.split_at(fitting(texts, budget));
        let cost = part.iter().map(|text| text.len() + EACH).sum::<usize>();
        let started = Instant::now();
        work(part)?;
        py.check_signals()?;
        let pace = cost as f64 / started.elapsed().max(Duration::from_micros(1)).as_secs_f64();
        // What a part costs is known from the one before; it may have been a lucky one.
        budget = ((pace * AIM.as_secs_f64()) as usize).min(4 * budget.max(cost));
        texts = rest;
    }
    Ok(())
}

/// How many of the first texts cost no more than this; at least one.
fn fitting(texts: &[String], budget: usize) -> usize {
    let mut cost = 0;
    let fits = |text: &&String| {
        cost += text.len() + EACH;
        cost <= budget
    };
    texts.iter().take(MOST).take_while(fits).count().max(1)
}
