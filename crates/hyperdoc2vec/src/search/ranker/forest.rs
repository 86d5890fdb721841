//! Boosted trees: a small learner of probabilities from numbers.
//!
//! Trees are fitted one after the other to the logistic loss of those before them (a Newton step a leaf), over numbers
//! put into bins. Sums are made in the order of the examples, a feature by one thread, and ties go to the lower feature
//! and threshold: any number of threads gives the same bits.

use std::ops::ControlFlow;

use rayon::prelude::*;

use crate::kernel::{ln, log_sigmoid, sigmoid};

/// A node without children.
const LEAF: u32 = u32::MAX;
/// Bins of a feature, at the most.
const BINS: usize = 64;

/// Fewer examples than this are looked at by one thread.
const SMALL: usize = 4096;

/// How trees are grown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// Trees, at the most.
    pub trees: usize,
    /// Questions from the root to a leaf, at the most.
    pub depth: usize,
    /// What share of a step is taken.
    pub rate: f32,
    /// A leaf's curvature, which is the number of its examples times p (1 − p), is at least this.
    pub least: f64,
    /// Added to a leaf's curvature.
    pub damping: f64,
    /// With examples to watch: stop after so many trees that do not better their loss.
    pub patience: usize,
}

impl Default for Growth {
    fn default() -> Growth {
        Growth { trees: 120, depth: 5, rate: 0.12, least: 4.0, damping: 2.0, patience: 12 }
    }
}

/// The trees, node by node. A node asks whether a feature is at most `number` and goes on at `child` if so, else at the
/// node behind it; a leaf adds `number`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Forest {
    /// The feature; `u32::MAX` for a leaf.
    pub feature: Vec<u32>,
    /// The threshold, or what a leaf adds.
    pub number: Vec<f32>,
    /// The child.
    pub child: Vec<u32>,
    /// The first node of each tree.
    pub roots: Vec<u32>,
}

/// Examples: so many numbers each, one row after the other, and whether each is true.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Examples {
    /// Numbers of an example.
    pub width: usize,
    /// All numbers.
    pub rows: Vec<f32>,
    /// What is to be told.
    pub labels: Vec<bool>,
    /// How often each example counts.
    pub weights: Vec<f32>,
}

impl Examples {
    /// No examples yet.
    pub fn new(width: usize) -> Examples {
        Examples { width, ..Examples::default() }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The numbers of an example.
    pub fn row(&self, example: usize) -> &[f32] {
        &self.rows[example * self.width..][..self.width]
    }

    /// Adds those of `other`.
    pub fn extend(&mut self, other: &Examples) {
        self.rows.extend_from_slice(&other.rows);
        self.labels.extend_from_slice(&other.labels);
        self.weights.extend_from_slice(&other.weights);
    }

    /// Up to `BINS − 1` thresholds of a feature, between values that occur, about as many examples between two.
    fn thresholds(&self, feature: usize) -> Vec<f32> {
        // A regular sample is enough for quantiles.
        let step = self.len().div_ceil(1 << 15).max(1);
        let mut values: Vec<f32> = (0..self.len()).step_by(step).map(|example| self.row(example)[feature]).collect();
        values.sort_unstable_by(f32::total_cmp);
        let mut thresholds: Vec<f32> = (1..BINS).map(|bin| values[bin * (values.len() - 1) / BINS]).collect();
        thresholds.dedup();
        // What lies above the last threshold must occur.
        while thresholds.last() >= values.last() && thresholds.pop().is_some() {}
        thresholds
    }
}

/// Sums of slopes and curvatures over the examples of a bin.
type Sums = (f64, f64);

/// The best question of a node.
#[derive(Clone, Copy)]
struct Cut {
    gain: f64,
    feature: usize,
    bin: usize,
}

/// Numbers put into bins: a row an example.
struct Binned {
    thresholds: Vec<Vec<f32>>,
    rows: Vec<u8>,
}

/// Features whose sums one thread makes.
const FEATURES_A_TASK: usize = 8;

impl Binned {
    fn new(examples: &Examples) -> Binned {
        let thresholds: Vec<Vec<f32>> =
            (0..examples.width).into_par_iter().map(|feature| examples.thresholds(feature)).collect();
        let bin = |(value, thresholds): (&f32, &Vec<f32>)| thresholds.partition_point(|t| t < value) as u8;
        let row = |example: usize| examples.row(example).iter().zip(&thresholds).map(bin);
        let rows = (0..examples.len()).into_par_iter().flat_map_iter(row).collect();
        Binned { thresholds, rows }
    }

    fn bin(&self, example: u32, feature: usize) -> usize {
        usize::from(self.rows[example as usize * self.thresholds.len() + feature])
    }

    /// The sums of the examples `of`, by feature and bin.
    fn sums(&self, of: &[u32], slopes: &[(f32, f32)]) -> Vec<[Sums; BINS]> {
        let width = self.thresholds.len();
        let mut sums = vec![[(0.0, 0.0); BINS]; width];
        let add = |(task, sums): (usize, &mut [[Sums; BINS]])| {
            let first = task * FEATURES_A_TASK;
            for &example in of {
                let (slope, curve) = slopes[example as usize];
                let (slope, curve) = (f64::from(slope), f64::from(curve));
                let row = &self.rows[example as usize * width + first..][..sums.len()];
                for (bins, &bin) in sums.iter_mut().zip(row) {
                    let sums = &mut bins[usize::from(bin) % BINS];
                    sums.0 += slope;
                    sums.1 += curve;
                }
            }
        };
        if of.len() < SMALL {
            sums.chunks_mut(FEATURES_A_TASK).enumerate().for_each(add);
        } else {
            sums.par_chunks_mut(FEATURES_A_TASK).enumerate().for_each(add);
        }
        sums
    }

    /// The best cut of examples with these sums, if one is worth it.
    fn cut(&self, sums: &[[Sums; BINS]], total: Sums, growth: &Growth) -> Option<Cut> {
        let score = |(slope, curve): Sums| slope * slope / (curve + growth.damping);
        let mut best = None::<Cut>;
        for (feature, bins) in sums.iter().enumerate() {
            let mut left = (0.0, 0.0);
            for (bin, sums) in bins.iter().enumerate().take(self.thresholds[feature].len()) {
                left = (left.0 + sums.0, left.1 + sums.1);
                let right = (total.0 - left.0, total.1 - left.1);
                let gain = score(left) + score(right) - score(total);
                let enough = left.1 >= growth.least && right.1 >= growth.least;
                if enough && gain > best.map_or(1e-6, |best| best.gain) {
                    best = Some(Cut { gain, feature, bin });
                }
            }
        }
        best
    }
}

/// What is left of `all` without `some`.
fn less(mut all: Vec<[Sums; BINS]>, some: &[[Sums; BINS]]) -> Vec<[Sums; BINS]> {
    for (all, some) in all.as_flattened_mut().iter_mut().zip(some.as_flattened()) {
        *all = (all.0 - some.0, all.1 - some.1);
    }
    all
}

impl Forest {
    /// Fits trees to `examples`. With examples to `watch`, as many as make their loss smallest.
    pub fn fit(examples: &Examples, watch: Option<&Examples>, growth: &Growth) -> Forest {
        Forest::fit_while(examples, watch, growth, &mut |_| ControlFlow::Continue(())).unwrap_or_default()
    }

    /// The same; `go_on` is told of each tree that is grown, and may stop it all: then there is no forest.
    pub fn fit_while(
        examples: &Examples,
        watch: Option<&Examples>,
        growth: &Growth,
        go_on: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Option<Forest> {
        let mut forest = Forest::default();
        let sum = |label: bool| {
            let of = examples.weights.iter().zip(&examples.labels).filter(|&(_, &its)| its == label);
            of.map(|(&weight, _)| f64::from(weight)).sum::<f64>() as f32
        };
        if examples.is_empty() {
            return Some(forest);
        }
        let prior = ln((sum(true) + 0.5) / (sum(false) + 0.5));
        forest.roots.push(0);
        forest.push(LEAF, prior);
        let binned = Binned::new(examples);
        let mut scores = vec![prior; examples.len()];
        let mut watched: Vec<f32> = vec![prior; watch.map_or(0, Examples::len)];
        let mut best = (watch.map_or(0.0, |watch| loss(&watched, watch)), 1);
        for tree in 0..growth.trees {
            if go_on(tree).is_break() {
                return None;
            }
            let root = forest.feature.len() as u32;
            forest.roots.push(root);
            forest.grow(examples, &binned, growth, &mut scores);
            let Some(watch) = watch else { continue };
            let add = |(row, score): (usize, &mut f32)| *score += forest.leaf(root, watch.row(row));
            watched.par_iter_mut().enumerate().for_each(add);
            let loss = loss(&watched, watch);
            if loss < best.0 {
                best = (loss, forest.roots.len());
            } else if forest.roots.len() - best.1 >= growth.patience {
                break;
            }
        }
        if watch.is_some() {
            forest.roots.truncate(best.1);
        }
        Some(forest)
    }

    /// How many trees, the prior not counted.
    pub fn trees(&self) -> usize {
        self.roots.len().saturating_sub(1)
    }

    fn push(&mut self, feature: u32, number: f32) {
        self.feature.push(feature);
        self.number.push(number);
        self.child.push(0);
    }

    /// Grows one tree and adds what it says to `scores`.
    fn grow(&mut self, examples: &Examples, binned: &Binned, growth: &Growth, scores: &mut [f32]) {
        let slope = |(example, &score): (usize, &f32)| {
            let (p, weight) = (sigmoid(score), examples.weights[example]);
            (weight * if examples.labels[example] { 1.0 - p } else { -p }, weight * p * (1.0 - p))
        };
        let slopes: Vec<(f32, f32)> = scores.par_iter().enumerate().map(slope).collect();
        let sums = |of: &[u32]| {
            of.iter().fold((0.0, 0.0), |(slope, curve): Sums, &example| {
                let (s, c) = slopes[example as usize];
                (slope + f64::from(s), curve + f64::from(c))
            })
        };
        let root = self.feature.len();
        self.push(LEAF, 0.0);
        let all: Vec<u32> = (0..examples.len() as u32).collect();
        let binned_sums = if growth.depth > 0 { binned.sums(&all, &slopes) } else { Vec::new() };
        let mut open = vec![(root, all, binned_sums)];
        for depth in 0..=growth.depth {
            let mut next = Vec::new();
            for (node, of, binned_sums) in open {
                let total = sums(&of);
                let cut = (depth < growth.depth).then(|| binned.cut(&binned_sums, total, growth)).flatten();
                let Some(Cut { feature, bin, .. }) = cut else {
                    let step = growth.rate * (total.0 / (total.1 + growth.damping)) as f32;
                    self.number[node] = step;
                    of.iter().for_each(|&example| scores[example as usize] += step);
                    continue;
                };
                let child = self.feature.len();
                self.feature[node] = feature as u32;
                self.number[node] = binned.thresholds[feature][bin];
                self.child[node] = child as u32;
                self.push(LEAF, 0.0);
                self.push(LEAF, 0.0);
                let (left, right): (Vec<u32>, Vec<u32>) =
                    of.iter().partition(|&&example| binned.bin(example, feature) <= bin);
                // The smaller side is added up; the other has the rest. No more is asked of the last leaves.
                let (mut left_sums, mut right_sums) = (Vec::new(), Vec::new());
                if depth + 1 < growth.depth && left.len() <= right.len() {
                    left_sums = binned.sums(&left, &slopes);
                    right_sums = less(binned_sums, &left_sums);
                } else if depth + 1 < growth.depth {
                    right_sums = binned.sums(&right, &slopes);
                    left_sums = less(binned_sums, &right_sums);
                }
                next.extend([(child, left, left_sums), (child + 1, right, right_sums)]);
            }
            open = next;
        }
    }

    /// What the tree that begins at `root` says. Every step goes on to a later node, so that a damaged file ends too.
    fn leaf(&self, root: u32, row: &[f32]) -> f32 {
        let mut node = root as usize;
        loop {
            let (Some(&feature), Some(&number)) = (self.feature.get(node), self.number.get(node)) else { return 0.0 };
            if feature == LEAF {
                return number;
            }
            let value = row.get(feature as usize).copied().unwrap_or(0.0);
            let child = self.child.get(node).map_or(0, |&child| child as usize) + usize::from(value > number);
            if child <= node {
                return 0.0;
            }
            node = child;
        }
    }

    /// The mean logistic loss on some examples.
    pub fn loss(&self, examples: &Examples) -> f64 {
        let scores: Vec<f32> = (0..examples.len()).map(|example| self.score(examples.row(example))).collect();
        loss(&scores, examples)
    }

    /// The logarithm of the odds.
    pub fn score(&self, row: &[f32]) -> f32 {
        self.roots.iter().map(|&root| self.leaf(root, row)).sum()
    }

    /// The probability.
    pub fn probability(&self, row: &[f32]) -> f32 {
        sigmoid(self.score(row))
    }
}

/// The mean logistic loss.
fn loss(scores: &[f32], examples: &Examples) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for ((&score, &label), &weight) in scores.iter().zip(&examples.labels).zip(&examples.weights) {
        sum -= f64::from(weight * log_sigmoid(if label { score } else { -score }));
        weights += f64::from(weight);
    }
    sum / f64::max(weights, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn trees_by_hand_say_what_is_written_in_them() {
        // Prior −1; one tree: feature 1 ≤ 0.5 → 2, else feature 0 ≤ 3 → −1, else 4.
        let forest = Forest {
            feature: vec![LEAF, 1, LEAF, 0, LEAF, LEAF],
            number: vec![-1.0, 0.5, 2.0, 3.0, -1.0, 4.0],
            child: vec![0, 2, 0, 4, 0, 0],
            roots: vec![0, 1],
        };
        assert_eq!([[9.0, 0.5], [3.0, 0.6], [3.1, 0.6]].map(|row| forest.score(&row)), [1.0, -2.0, 3.0]);
        assert!((forest.probability(&[9.0, 0.0]) - 0.731_058_6).abs() < 1e-6, "σ(1)");
        let circle = Forest { feature: vec![0], number: vec![0.0], child: vec![0], roots: vec![0, 7] };
        assert_eq!(circle.score(&[1.0]), 0.0);
    }

    /// True with probability 0.9 where exactly one of two numbers is above ½, else 0.1.
    fn noisy_xor(seed: u64, count: usize) -> Examples {
        let mut rng = Rng::keyed(seed, &[3]);
        let mut examples = Examples::new(3);
        for _ in 0..count {
            let row = [rng.unit(), rng.unit(), rng.unit()];
            examples.labels.push(rng.chance(if (row[0] > 0.5) != (row[1] > 0.5) { 0.9 } else { 0.1 }));
            examples.rows.extend_from_slice(&row);
            examples.weights.push(1.0);
        }
        examples
    }

    #[test]
    fn what_needs_two_numbers_is_learnt_with_its_chances() {
        let forest = Forest::fit(&noisy_xor(1, 6000), Some(&noisy_xor(2, 2000)), &Growth::default());
        assert!(forest.trees() > 5);
        for (row, expected) in [([0.2, 0.8, 0.5], 0.9), ([0.8, 0.8, 0.5], 0.1), ([0.8, 0.2, 0.1], 0.9)] {
            let found = forest.probability(&row);
            assert!((found - expected).abs() < 0.06, "{row:?}: {found}, not {expected}");
        }
    }

    #[test]
    fn any_number_of_threads_grows_the_same_trees() {
        let examples = noisy_xor(1, 3000);
        let grow = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| Forest::fit(&examples, None, &Growth { trees: 9, ..Growth::default() }))
        };
        assert_eq!(grow(1), grow(3));
    }

    #[test]
    fn nothing_and_one_kind_alone_can_be_fitted() {
        assert_eq!(Forest::fit(&Examples::new(2), None, &Growth::default()).probability(&[1.0, 2.0]), 0.5);
        let same = Examples { width: 1, rows: vec![1.0; 9], labels: vec![true; 9], weights: vec![1.0; 9] };
        assert!(Forest::fit(&same, None, &Growth::default()).probability(&[1.0]) > 0.9);
    }
}
