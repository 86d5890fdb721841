//! Gradient boosted trees: a small learner of probabilities from numbers, whose bits do not depend on threads; no crate
//! that we looked at promises that.
//!
//! Trees are fitted one after the other to the logistic loss of those before them (a Newton step a leaf), over numbers
//! put into bins. Sums are made in the order of the samples, a feature by one thread, and ties go to the lower feature
//! and threshold: any number of threads gives the same bits.

use std::ops::ControlFlow;

use rayon::prelude::*;

use crate::kernel::{ln, log_sigmoid, sigmoid};
use crate::rng::Rng;

/// A node without children.
const LEAF: u32 = u32::MAX;
/// Bins of a feature, at the most.
const BINS: usize = 64;
/// Rows that are led through a tree side by side.
const SIDE_BY_SIDE: usize = 8;
/// Keys of random numbers.
const PURPOSE: u64 = 0x7b0a;

/// Fewer samples than this are looked at by one thread.
const SERIAL_SAMPLES: usize = 4096;

/// How trees are grown, in the words of XGBoost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoostParams {
    /// The number of trees, at the most.
    pub trees: usize,
    /// The number of splits from the root to a leaf, at the most.
    pub max_depth: usize,
    /// The share of a Newton step that a leaf takes.
    pub learning_rate: f32,
    /// The least sum of hessians in a leaf; a sample's is its weight times p (1 − p).
    pub min_child_weight: f64,
    /// L2 regularisation: added to the hessians of a leaf.
    pub l2: f64,
    /// With samples to watch: early stopping after so many trees that do not better their loss.
    pub patience: usize,
    /// The share of the samples that a tree is grown from, drawn anew for each (stochastic gradient boosting).
    pub bag: f32,
}

impl Default for BoostParams {
    fn default() -> BoostParams {
        BoostParams {
            trees: 300,
            max_depth: 5,
            learning_rate: 0.06,
            min_child_weight: 4.0,
            l2: 2.0,
            patience: 12,
            bag: 0.5,
        }
    }
}

/// The trees, node by node. A split leads to `child` where its feature is at most `number`, else to the node behind that;
/// a leaf adds `number`.
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

/// A node of a forest that is asked for many rows.
#[derive(Debug, Clone, Copy)]
struct PackedNode {
    feature: u32,
    number: f32,
    child: u32,
}

/// Samples: features, one row after the other, a label and a weight each.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Samples {
    /// The number of features.
    pub width: usize,
    /// The features of all samples.
    pub rows: Vec<f32>,
    /// Labels.
    pub labels: Vec<bool>,
    /// How often each sample counts.
    pub weights: Vec<f32>,
}

impl Samples {
    /// No samples yet, of `width` features.
    pub fn new(width: usize) -> Samples {
        Samples { width, ..Samples::default() }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The features of a sample.
    pub fn row(&self, sample: usize) -> &[f32] {
        &self.rows[sample * self.width..][..self.width]
    }

    /// Adds those of `other`.
    pub fn extend(&mut self, other: &Samples) {
        self.rows.extend_from_slice(&other.rows);
        self.labels.extend_from_slice(&other.labels);
        self.weights.extend_from_slice(&other.weights);
    }

    /// Up to `BINS − 1` thresholds of a feature, between values that occur, about as many samples between two.
    fn thresholds(&self, feature: usize) -> Vec<f32> {
        // A regular sample is enough for quantiles.
        let step = self.len().div_ceil(1 << 15).max(1);
        let mut values: Vec<f32> = (0..self.len()).step_by(step).map(|sample| self.row(sample)[feature]).collect();
        values.sort_unstable_by(f32::total_cmp);
        let mut thresholds: Vec<f32> = (1..BINS).map(|bin| values[bin * (values.len() - 1) / BINS]).collect();
        thresholds.dedup();
        // What lies above the last threshold must occur.
        while thresholds.last() >= values.last() && thresholds.pop().is_some() {}
        thresholds
    }
}

/// Sums of gradients and hessians over the samples of a bin.
type Sums = (f64, f64);

/// The best split of a node.
#[derive(Clone, Copy)]
struct SplitPoint {
    gain: f64,
    feature: usize,
    bin: usize,
}

/// Features put into bins: a row a sample.
struct Binned {
    thresholds: Vec<Vec<f32>>,
    rows: Vec<u8>,
}

/// Features whose sums one thread makes.
const FEATURES_A_TASK: usize = 8;

impl Binned {
    fn new(samples: &Samples) -> Binned {
        let thresholds: Vec<Vec<f32>> =
            (0..samples.width).into_par_iter().map(|feature| samples.thresholds(feature)).collect();
        let bin = |(value, thresholds): (&f32, &Vec<f32>)| thresholds.partition_point(|t| t < value) as u8;
        let row = |sample: usize| samples.row(sample).iter().zip(&thresholds).map(bin);
        let rows = (0..samples.len()).into_par_iter().flat_map_iter(row).collect();
        Binned { thresholds, rows }
    }

    fn bin(&self, sample: u32, feature: usize) -> usize {
        usize::from(self.rows[sample as usize * self.thresholds.len() + feature])
    }

    /// The sums of the samples `of`, by feature and bin.
    fn sums(&self, of: &[u32], gradients: &[(f32, f32)]) -> Vec<[Sums; BINS]> {
        let width = self.thresholds.len();
        let mut sums = vec![[(0.0, 0.0); BINS]; width];
        let add = |(task, sums): (usize, &mut [[Sums; BINS]])| {
            let first = task * FEATURES_A_TASK;
            for &sample in of {
                let (gradient, hessian) = gradients[sample as usize];
                let (gradient, hessian) = (f64::from(gradient), f64::from(hessian));
                let row = &self.rows[sample as usize * width + first..][..sums.len()];
                for (bins, &bin) in sums.iter_mut().zip(row) {
                    let sums = &mut bins[usize::from(bin) % BINS];
                    sums.0 += gradient;
                    sums.1 += hessian;
                }
            }
        };
        if of.len() < SERIAL_SAMPLES {
            sums.chunks_mut(FEATURES_A_TASK).enumerate().for_each(add);
        } else {
            sums.par_chunks_mut(FEATURES_A_TASK).enumerate().for_each(add);
        }
        sums
    }

    /// The best split of samples with these sums, if one is worth it.
    fn split(&self, sums: &[[Sums; BINS]], total: Sums, params: &BoostParams) -> Option<SplitPoint> {
        let score = |(gradient, hessian): Sums| gradient * gradient / (hessian + params.l2);
        let mut best = None::<SplitPoint>;
        for (feature, bins) in sums.iter().enumerate() {
            let mut left = (0.0, 0.0);
            for (bin, sums) in bins.iter().enumerate().take(self.thresholds[feature].len()) {
                left = (left.0 + sums.0, left.1 + sums.1);
                let right = (total.0 - left.0, total.1 - left.1);
                let gain = score(left) + score(right) - score(total);
                let enough = left.1 >= params.min_child_weight && right.1 >= params.min_child_weight;
                if enough && gain > best.map_or(1e-6, |best| best.gain) {
                    best = Some(SplitPoint { gain, feature, bin });
                }
            }
        }
        best
    }
}

/// The sums of `all` without `some`.
fn less(mut all: Vec<[Sums; BINS]>, some: &[[Sums; BINS]]) -> Vec<[Sums; BINS]> {
    for (all, some) in all.as_flattened_mut().iter_mut().zip(some.as_flattened()) {
        *all = (all.0 - some.0, all.1 - some.1);
    }
    all
}

impl Forest {
    /// Fits trees to `samples`. With samples to `watch`, as many as make their loss smallest.
    pub fn fit(samples: &Samples, watch: Option<&Samples>, params: &BoostParams) -> Forest {
        Forest::default().fit_while(samples, watch, params, &mut |_| ControlFlow::Continue(())).unwrap_or_default()
    }

    /// These trees, and more that are fitted to `samples` behind them, as [`Forest::fit`] does; `go_on` gets the number
    /// of each new one, and may stop it all: then there is no forest.
    pub fn fit_while(
        &self,
        samples: &Samples,
        watch: Option<&Samples>,
        params: &BoostParams,
        go_on: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Option<Forest> {
        let mut forest = self.clone();
        let sum = |label: bool| {
            let of = samples.weights.iter().zip(&samples.labels).filter(|&(_, &its)| its == label);
            of.map(|(&weight, _)| f64::from(weight)).sum::<f64>() as f32
        };
        if samples.is_empty() {
            return Some(forest);
        }
        if forest.roots.is_empty() {
            forest.roots.push(0);
            forest.push(LEAF, ln((sum(true) + 0.5) / (sum(false) + 0.5)));
        }
        let binned = Binned::new(samples);
        let mut scores = forest.scores(samples);
        let mut watched = watch.map_or_else(Vec::new, |watch| forest.scores(watch));
        let mut best = (watch.map_or(0.0, |watch| loss(&watched, watch)), forest.roots.len());
        for tree in 0..params.trees {
            if go_on(tree).is_break() {
                return None;
            }
            let root = forest.feature.len() as u32;
            forest.roots.push(root);
            forest.grow(samples, &binned, params, &mut scores);
            let Some(watch) = watch else { continue };
            let add = |(row, score): (usize, &mut f32)| *score += forest.leaf(root, watch.row(row));
            watched.par_iter_mut().enumerate().for_each(add);
            let loss = loss(&watched, watch);
            if loss < best.0 {
                best = (loss, forest.roots.len());
            } else if forest.roots.len() - best.1 >= params.patience {
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

    /// Grows one tree and adds its leaves to `scores`.
    fn grow(&mut self, samples: &Samples, binned: &Binned, params: &BoostParams, scores: &mut [f32]) {
        let gradient = |(sample, &score): (usize, &f32)| {
            let (p, weight) = (sigmoid(score), samples.weights[sample]);
            (weight * if samples.labels[sample] { 1.0 - p } else { -p }, weight * p * (1.0 - p))
        };
        let gradients: Vec<(f32, f32)> = scores.par_iter().enumerate().map(gradient).collect();
        let sums = |of: &[u32]| {
            of.iter().fold((0.0, 0.0), |(gradient, hessian): Sums, &sample| {
                let (g, h) = gradients[sample as usize];
                (gradient + f64::from(g), hessian + f64::from(h))
            })
        };
        let root = self.feature.len();
        self.push(LEAF, 0.0);
        let all: Vec<u32> = match params.bag < 1.0 {
            false => (0..samples.len() as u32).collect(),
            true => {
                let mut rng = Rng::keyed(self.roots.len() as u64, &[PURPOSE]);
                (0..samples.len() as u32).filter(|_| rng.chance(params.bag)).collect()
            }
        };
        let binned_sums = if params.max_depth > 0 { binned.sums(&all, &gradients) } else { Vec::new() };
        let mut open = vec![(root, all, binned_sums)];
        for depth in 0..=params.max_depth {
            let mut next = Vec::new();
            for (node, of, binned_sums) in open {
                let total = sums(&of);
                let split = (depth < params.max_depth).then(|| binned.split(&binned_sums, total, params)).flatten();
                let Some(SplitPoint { feature, bin, .. }) = split else {
                    let step = params.learning_rate * (total.0 / (total.1 + params.l2)) as f32;
                    self.number[node] = step;
                    continue;
                };
                let child = self.feature.len();
                self.feature[node] = feature as u32;
                self.number[node] = binned.thresholds[feature][bin];
                self.child[node] = child as u32;
                self.push(LEAF, 0.0);
                self.push(LEAF, 0.0);
                let (left, right): (Vec<u32>, Vec<u32>) =
                    of.iter().partition(|&&sample| binned.bin(sample, feature) <= bin);
                // The smaller side is added up; the other has the rest. The last leaves need no sums.
                let (mut left_sums, mut right_sums) = (Vec::new(), Vec::new());
                if depth + 1 < params.max_depth && left.len() <= right.len() {
                    left_sums = binned.sums(&left, &gradients);
                    right_sums = less(binned_sums, &left_sums);
                } else if depth + 1 < params.max_depth {
                    right_sums = binned.sums(&right, &gradients);
                    left_sums = less(binned_sums, &right_sums);
                }
                next.extend([(child, left, left_sums), (child + 1, right, right_sums)]);
            }
            open = next;
        }
        let add = |(row, score): (usize, &mut f32)| *score += self.leaf(root as u32, samples.row(row));
        scores.par_iter_mut().enumerate().for_each(add);
    }

    /// The leaf of the tree that begins at `root`. Every step goes on to a later node, so that a damaged file ends too.
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

    /// The mean logistic loss on some samples.
    pub fn loss(&self, samples: &Samples) -> f64 {
        loss(&self.scores(samples), samples)
    }

    /// The score of each sample.
    fn scores(&self, samples: &Samples) -> Vec<f32> {
        (0..samples.len()).into_par_iter().map(|sample| self.score(samples.row(sample))).collect()
    }

    /// The best score among samples, and whether that one is right.
    pub fn first(&self, samples: &Samples) -> Option<(f32, bool)> {
        let scored = (0..samples.len()).map(|sample| (self.score(samples.row(sample)), samples.labels[sample]));
        scored.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The best `count` scores among samples, falling, and whether each is right.
    pub fn best(&self, samples: &Samples, count: usize) -> Vec<(f32, bool)> {
        let scored = (0..samples.len()).map(|sample| (self.score(samples.row(sample)), samples.labels[sample]));
        let mut scored: Vec<(f32, bool)> = scored.collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.truncate(count);
        scored
    }

    /// The logarithm of the odds.
    pub fn score(&self, row: &[f32]) -> f32 {
        self.roots.iter().map(|&root| self.leaf(root, row)).sum()
    }

    /// The scores of many rows of `width` numbers, each as [`Forest::score`] has it: tree by tree, some rows side by side
    /// so that none waits for another, over nodes that lie together and were checked once.
    pub fn score_rows(&self, rows: &[f32], width: usize) -> Vec<f32> {
        let rows: Vec<&[f32]> = rows.chunks_exact(width.max(1)).collect();
        let packed = (0..self.feature.len()).map(|node| self.packed(node, width)).collect::<Option<Vec<PackedNode>>>();
        let (Some(nodes), true) = (packed, self.roots.iter().all(|&root| (root as usize) < self.feature.len())) else {
            return rows.into_iter().map(|row| self.score(row)).collect();
        };
        // The most steps from each node to a leaf: children come later.
        let mut heights = vec![0usize; nodes.len()];
        for (place, node) in nodes.iter().enumerate().rev() {
            let child = node.child as usize;
            if child > place {
                heights[place] = 1 + heights[child].max(heights[child + 1]);
            }
        }
        let none = std::iter::empty::<f32>().sum();
        let mut scores: Vec<f32> = vec![none; rows.len()];
        for &root in &self.roots {
            for (scores, rows) in scores.chunks_mut(SIDE_BY_SIDE).zip(rows.chunks(SIDE_BY_SIDE)) {
                let mut at = [root as usize; SIDE_BY_SIDE];
                for _ in 0..heights[root as usize] {
                    for (at, row) in at.iter_mut().zip(rows) {
                        let node = nodes[*at];
                        *at = node.child as usize + usize::from(row[node.feature as usize] > node.number);
                    }
                }
                scores.iter_mut().zip(at).for_each(|(score, leaf)| *score += self.number[leaf]);
            }
        }
        scores
    }

    /// A node for rows of `width` numbers; `None` where a damaged file has no such feature, or no later nodes as children.
    /// A leaf leads to itself.
    fn packed(&self, node: usize, width: usize) -> Option<PackedNode> {
        let (feature, number) = (*self.feature.get(node)?, *self.number.get(node)?);
        let child = *self.child.get(node)?;
        if feature == LEAF {
            return Some(PackedNode { feature: 0, number: f32::INFINITY, child: node as u32 });
        }
        let last = child.checked_add(1)? as usize;
        let sound = (feature as usize) < width && child as usize > node && last < self.feature.len();
        sound.then_some(PackedNode { feature, number, child })
    }

    /// The probability.
    pub fn probability(&self, row: &[f32]) -> f32 {
        sigmoid(self.score(row))
    }
}

/// The mean logistic loss.
fn loss(scores: &[f32], samples: &Samples) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for ((&score, &label), &weight) in scores.iter().zip(&samples.labels).zip(&samples.weights) {
        sum -= f64::from(weight * log_sigmoid(if label { score } else { -score }));
        weights += f64::from(weight);
    }
    sum / f64::max(weights, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rows_get_the_scores_that_each_has_alone() {
        let mut rng = Rng::keyed(5, &[]);
        let mut samples = Samples::new(3);
        for _ in 0..400 {
            let row = [rng.unit(), rng.unit(), rng.unit()];
            samples.rows.extend(row);
            samples.labels.push(row[0] * row[1] > 0.3);
            samples.weights.push(1.0);
        }
        // Leaves at several depths, and a last group of rows that is not full.
        let params = BoostParams { trees: 9, max_depth: 7, min_child_weight: 0.1, ..BoostParams::default() };
        let forest = Forest::fit(&samples, None, &params);
        let rows = [&samples.rows[..3 * 61], &[f32::NAN, f32::INFINITY, f32::NEG_INFINITY]].concat();
        let each: Vec<u32> = rows.chunks(3).map(|row| forest.score(row).to_bits()).collect();
        let many: Vec<u32> = forest.score_rows(&rows, 3).into_iter().map(f32::to_bits).collect();
        assert_eq!(each, many);
    }

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
        assert_eq!(forest.score_rows(&[9.0, 0.5, 3.0, 0.6, 3.1, 0.6], 2), [1.0, -2.0, 3.0]);
        assert_eq!(forest.score_rows(&[9.0], 1), [forest.score(&[9.0])], "a feature that is not there");
        let circle = Forest { feature: vec![0], number: vec![0.0], child: vec![0], roots: vec![0, 7] };
        assert_eq!((circle.score(&[1.0]), circle.score_rows(&[1.0], 1)), (0.0, vec![0.0]));
    }

    /// True with probability 0.9 where exactly one of two numbers is above ½, else 0.1.
    fn noisy_xor(seed: u64, count: usize) -> Samples {
        let mut rng = Rng::keyed(seed, &[3]);
        let mut samples = Samples::new(3);
        for _ in 0..count {
            let row = [rng.unit(), rng.unit(), rng.unit()];
            samples.labels.push(rng.chance(if (row[0] > 0.5) != (row[1] > 0.5) { 0.9 } else { 0.1 }));
            samples.rows.extend_from_slice(&row);
            samples.weights.push(1.0);
        }
        samples
    }

    #[test]
    fn what_needs_two_numbers_is_learnt_with_its_chances() {
        let forest = Forest::fit(&noisy_xor(1, 6000), Some(&noisy_xor(2, 2000)), &BoostParams::default());
        assert!(forest.trees() > 5);
        for (row, expected) in [([0.2, 0.8, 0.5], 0.9), ([0.8, 0.8, 0.5], 0.1), ([0.8, 0.2, 0.1], 0.9)] {
            let found = forest.probability(&row);
            assert!((found - expected).abs() < 0.06, "{row:?}: {found}, not {expected}");
        }
    }

    #[test]
    fn any_number_of_threads_grows_the_same_trees() {
        let samples = noisy_xor(1, 3000);
        let grow = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| Forest::fit(&samples, None, &BoostParams { trees: 9, ..BoostParams::default() }))
        };
        assert_eq!(grow(1), grow(3));
    }

    #[test]
    fn trees_go_on_behind_those_that_were_learnt_elsewhere() {
        let params = BoostParams { trees: 30, ..BoostParams::default() };
        let start = Forest::fit(&noisy_xor(1, 6000), None, &params);
        let (few, unseen) = (noisy_xor(5, 60), noisy_xor(6, 2000));
        let watch = noisy_xor(7, 60);
        let go_on = &mut |_| ControlFlow::Continue(());
        let grown = start.fit_while(&few, Some(&watch), &params, go_on).expect("fitted");
        assert_eq!(grown.roots[..start.roots.len()], start.roots[..]);
        assert!(grown.loss(&watch) <= start.loss(&watch));
        let alone = Forest::fit(&few, Some(&watch), &params);
        assert!(grown.loss(&unseen) < alone.loss(&unseen), "60 samples tell little");
        let empty = start.fit_while(&Samples::new(3), None, &params, go_on).expect("fitted");
        assert_eq!(empty, start);
    }

    #[test]
    fn nothing_and_one_kind_alone_can_be_fitted() {
        assert_eq!(Forest::fit(&Samples::new(2), None, &BoostParams::default()).probability(&[1.0, 2.0]), 0.5);
        let same = Samples { width: 1, rows: vec![1.0; 9], labels: vec![true; 9], weights: vec![1.0; 9] };
        assert!(Forest::fit(&same, None, &BoostParams::default()).probability(&[1.0]) > 0.9);
    }
}
