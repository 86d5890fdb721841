//! Whether a difference means anything: intervals by bootstrap, paired tests by randomisation.
//!
//! Links of one document are alike, so the unit that is drawn is not the value but the group it stands in: a test
//! document with all its questions. Everything random follows from a seed, so that a report repeats to the last digit.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::rng::Rng;

/// Keys of random numbers.
const BOOTSTRAP: u64 = 0xb007;
const TEST: u64 = 0x7e57;
/// Draws of a bootstrap.
pub(crate) const BOOTSTRAPS: usize = 2000;
/// Draws of a test; with so many, a p of 0.0001 can be measured.
pub(crate) const SHUFFLES: usize = 9999;

/// A mean, and where it would lie in 95 of 100 such samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// The sum of the values of each group and how many there are, in the order of group numbers; empty groups left out.
fn sums(values: &[f64], groups: &[u32]) -> Vec<(f64, f64)> {
    let mut sums: std::collections::BTreeMap<u32, (f64, f64)> = Default::default();
    for (&value, &group) in values.iter().zip(groups) {
        let sum = sums.entry(group).or_default();
        *sum = (sum.0 + value, sum.1 + 1.0);
    }
    sums.into_values().collect()
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The value below which a share of `sorted` lies.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (share * sorted.len() as f64).floor() as usize;
    sorted.get(place.min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

/// The 95 % percentile interval of a statistic of groups drawn with replacement; `statistic` gets the numbers of the
/// drawn groups.
pub(crate) fn interval(groups: usize, seed: u64, statistic: impl Fn(&[u32]) -> f64 + Sync) -> (f64, f64) {
    let draw = |round: usize| {
        let mut rng = Rng::keyed(seed, &[BOOTSTRAP, round as u64]);
        let drawn: Vec<u32> = (0..groups).map(|_| rng.below(groups) as u32).collect();
        statistic(&drawn)
    };
    let mut drawn: Vec<f64> = (0..BOOTSTRAPS).into_par_iter().map(draw).collect();
    drawn.sort_unstable_by(f64::total_cmp);
    (quantile(&drawn, 0.025), quantile(&drawn, 0.975))
}

/// The mean of `values`, whose groups are drawn with replacement for the interval.
pub(crate) fn estimate(values: &[f64], groups: &[u32], seed: u64) -> Estimate {
    let sums = sums(values, groups);
    let (low, high) = interval(sums.len(), seed, |drawn| {
        let total = drawn.iter().fold((0.0, 0.0), |(sum, count), &group| {
            let (more, values) = sums[group as usize];
            (sum + more, count + values)
        });
        total.0 / f64::max(total.1, 1.0)
    });
    Estimate { mean: mean(values), low, high }
}

/// Two methods asked the same questions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Comparison {
    /// The mean of the first less that of the second, with its interval.
    pub difference: Estimate,
    /// How often a difference as large or larger, in either direction, would come about if the methods were alike.
    pub p: f64,
}

/// Compares `a` with `b` value by value. Under the null hypothesis either method could have given either value, so the
/// sign of each group's difference is drawn at random; p counts the draws that are as far from 0, the real one included.
pub(crate) fn compare(a: &[f64], b: &[f64], groups: &[u32], seed: u64) -> Comparison {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let difference = estimate(&differences, groups, seed);
    let sums: Vec<f64> = sums(&differences, groups).iter().map(|sum| sum.0).filter(|&sum| sum != 0.0).collect();
    let seen: f64 = sums.iter().sum::<f64>().abs();
    // Sums in another order differ in their last digits.
    let least = seen - 1e-9 * (1.0 + seen);
    let extreme = |round: &usize| {
        let mut rng = Rng::keyed(seed, &[TEST, *round as u64]);
        let mut total = 0.0;
        for sums in sums.chunks(64) {
            let mut signs = rng.bits();
            for &sum in sums {
                total += if signs & 1 == 1 { sum } else { -sum };
                signs >>= 1;
            }
        }
        total.abs() >= least
    };
    let extreme = (0..SHUFFLES).into_par_iter().filter(extreme).count();
    Comparison { difference, p: (1 + extreme) as f64 / (1 + SHUFFLES) as f64 }
}

/// Holm's correction: p values as they count when so many tests were made at once, in the order given.
///
/// 0.01, 0.04, 0.03: the smallest times 3, the next times 2, the last times 1, none below the one before: 0.03, 0.06, 0.06.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let (mut adjusted, mut most) = (vec![0.0; p.len()], 0.0f64);
    for (place, &test) in order.iter().enumerate() {
        most = most.max((p[test] * (p.len() - place) as f64).min(1.0));
        adjusted[test] = most;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_of_a_share_is_about_two_standard_errors_wide() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(i % 4 == 0)).collect();
        let groups: Vec<u32> = (0..400).collect();
        let Estimate { mean, low, high } = estimate(&values, &groups, 1);
        // √(0.25 · 0.75 / 400) = 0.0217
        assert_eq!(mean, 0.25);
        assert!((low - 0.2075).abs() < 0.006 && (high - 0.2925).abs() < 0.006, "{low} {high}");
        let roots: Vec<f64> = (0..400).map(|i| f64::from(i).sqrt()).collect();
        assert_eq!(estimate(&roots, &groups, 1), estimate(&roots, &groups, 1));
        assert_ne!(estimate(&roots, &groups, 1), estimate(&roots, &groups, 2));
    }

    #[test]
    fn values_that_come_together_count_as_one() {
        let values: Vec<f64> = (0..400).map(|i| f64::from(i / 100 % 2 == 0)).collect();
        let alone = estimate(&values, &(0..400).collect::<Vec<u32>>(), 1);
        let together = estimate(&values, &(0..400).map(|i| i / 100).collect::<Vec<u32>>(), 1);
        assert!(together.high - together.low > 5.0 * (alone.high - alone.low), "{together:?} {alone:?}");
    }

    #[test]
    fn nothing_and_one_value_have_no_width() {
        let zero = Estimate { mean: 0.0, low: 0.0, high: 0.0 };
        assert_eq!(estimate(&[], &[], 1), zero);
        assert_eq!(estimate(&[0.5], &[7], 1), Estimate { mean: 0.5, low: 0.5, high: 0.5 });
        assert_eq!(compare(&[], &[], &[], 1), Comparison { difference: zero, p: 1.0 });
    }

    #[test]
    fn four_pairs_by_hand() {
        // Differences 1, 1, 1, 1: of 16 sign patterns two are as extreme, so p is near 1/8.
        let p = compare(&[1.0; 4], &[0.0; 4], &[0, 1, 2, 3], 1).p;
        assert!((p - 0.125).abs() < 0.01, "{p}");
        // The same four in two groups: two of four patterns.
        let p = compare(&[1.0; 4], &[0.0; 4], &[0, 0, 1, 1], 1).p;
        assert!((p - 0.5).abs() < 0.02, "{p}");
        assert_eq!(compare(&[0.3; 4], &[0.3; 4], &[0, 1, 2, 3], 1).p, 1.0, "no difference at all");
    }

    #[test]
    fn chance_is_called_a_difference_as_often_as_it_may() {
        let mut called = 0;
        for trial in 0..200 {
            let mut rng = Rng::keyed(5, &[trial]);
            let mut draw = || (0..30).map(|_| f64::from(rng.unit())).collect::<Vec<f64>>();
            let (a, b) = (draw(), draw());
            called += usize::from(compare(&a, &b, &(0..30).collect::<Vec<u32>>(), trial).p <= 0.05);
        }
        assert!((2..=20).contains(&called), "{called} of 200 at the level of 0.05");
    }

    #[test]
    fn holm_by_hand() {
        let adjusted = holm(&[0.01, 0.04, 0.03]);
        assert!(adjusted.iter().zip([0.03, 0.06, 0.06]).all(|(a, b)| (a - b).abs() < 1e-12), "{adjusted:?}");
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
