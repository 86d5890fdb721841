//! How many passes fit into a given time, found by trying some batches of each phase.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::corpus::view::View;
use crate::error::Result;
use crate::model::params::TrainParams;
use crate::model::tables::Tables;
use crate::threads::pool;
use crate::train::phases::{phases, text};
use crate::train::ranker::is_for;
use crate::train::ranks::Team;

/// Each phase is tried for this share of the time there is.
const TRIAL: f64 = 0.03;
/// And for at least so many batches, of which the first, with its cold caches, does not count.
const BATCHES: usize = 3;

/// `params` with as many passes, up to those it has, as fit into `budget` on so many threads; at least one of the last
/// phase. Phases keep their proportion.
///
/// The passes found depend on the machine; training with them does not.
pub(crate) fn fit_passes_to(
    view: &View<'_>,
    params: &TrainParams,
    threads: usize,
    budget: Duration,
) -> Result<TrainParams> {
    let started = Instant::now();
    let (seconds, ranking, file) = pool(threads)?.install(|| {
        let mut tables = Tables::first(view, params);
        let text = text(view, params);
        let mut seconds = Vec::new();
        for phase in phases(view, text.as_ref(), params, Team::default()) {
            phase.prepare(&mut tables);
            let (mut first, mut mean) = (None, 0.0);
            let mut tried = 0;
            let _ = phase.epoch(0, 0, &mut tables, &mut |_, _| {
                let first = *first.get_or_insert_with(Instant::now);
                tried += 1;
                mean = first.elapsed().as_secs_f64() / (tried - 1).max(1) as f64;
                let enough = tried >= BATCHES && first.elapsed() >= budget.mul_f64(TRIAL);
                if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            seconds.push((phase.epochs(), mean * phase.batches() as f64));
        }
        let (passes, pass) = seconds.last().copied().unwrap_or_default();
        let ranking =
            if is_for(params) { ranking_seconds(view.documents.len(), view.links.len(), passes, pass) } else { 0.0 };
        (seconds, ranking, file_seconds(view.counts.iter().sum()))
    });
    let left = (budget.saturating_sub(started.elapsed()).as_secs_f64() - file).max(0.0);
    let mut fitted = params.clone();
    // No ranker is learnt where that would take most of the time.
    fitted.hybrid &= ranking <= left / 2.0;
    fitted.set_passes(&fit(&seconds, if fitted.hybrid { left - ranking } else { left }));
    Ok(fitted)
}

/// About how long it takes to learn the ranker: the passes over the links, questions, trees. The numbers are rounded
/// from FOLDOC, 10,244 documents, on one core. Of few documents there
/// are few candidates.
fn ranking_seconds(documents: usize, links: usize, passes: usize, pass: f64) -> f64 {
    let (threads, documents) = (rayon::current_num_threads() as f64, documents as f64);
    let questions = (links as f64 / 2.0).min(2000.0).min(6e8 / documents.max(1.0));
    let trees = 9.0 * questions / 2000.0 * (documents / 2000.0).min(1.0);
    passes as f64 * pass + (trees + questions * (2e-3 + 6e-7 * documents)) / threads
}

/// About how long the index and the file take: a minute on two threads for 177 million words.
fn file_seconds(words: u64) -> f64 {
    7e-7 * words as f64 / rayon::current_num_threads() as f64
}

/// For phases of so many passes, each of so many seconds: the passes that fit into `budget` seconds.
fn fit(phases: &[(usize, f64)], budget: f64) -> Vec<usize> {
    let most = phases.last().map_or(1, |&(passes, _)| passes);
    let share = |last: usize| -> Vec<usize> { phases.iter().map(|&(passes, _)| passes * last / most.max(1)).collect() };
    let cost = |passes: &[usize]| phases.iter().zip(passes).map(|((_, seconds), &n)| seconds * n as f64).sum::<f64>();
    (1..=most).rev().map(share).find(|passes| cost(passes) <= budget).unwrap_or_else(|| share(1))
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn passes_shrink_together_until_they_fit() {
        let phases = [(5, 2.0), (8, 1.0)]; // 18 seconds
        assert_eq!(fit(&phases, 18.0), [5, 8]);
        assert_eq!(fit(&phases, 17.9), [4, 7]); // 8 + 7
        assert_eq!(fit(&phases, 8.0), [2, 4]);
        assert_eq!(fit(&phases, 0.1), [0, 1], "one pass of the last, whatever it takes");
        assert_eq!(fit(&[(100, 3.0)], 31.0), [10]);
    }
}
