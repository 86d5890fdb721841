//! A support vector machine with an RBF kernel, as LIBSVM has it: C-SVC, one class against one, sequential minimal
//! optimisation with second-order choice of the pair (Fan, Chen and Lin, 2005).
//!
//! ```text
//! minimise ½ Σ a_i a_j y_i y_j K(x_i, x_j) − Σ a_i,   0 ≤ a_i ≤ C,  Σ y_i a_i = 0,   K(x, y) = exp(−γ |x − y|²)
//! ```
//! Nothing is drawn at random, and each pair of classes is a problem by itself, so any number of threads gives the same
//! machine. Without LIBSVM's shrinking: kernel rows are products of ours, and kept while there is room.
//!
//! Ours, and not a library: LIBSVM is C++, and figures must be those of LIBSVM on any number of threads.

use std::rc::Rc;

use rayon::prelude::*;

use crate::kernel::{Matrix, MatrixMut, exp_all, scan, sum_of_squares};

/// γ of the kernel, as scikit-learn calls the choices.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Gamma {
    /// One over the numbers of a row, LIBSVM's default. Rows that are short beside 1 then look all alike.
    #[default]
    Auto,
    /// [`Gamma::Auto`] over the variance of all numbers: the length of rows does not matter.
    Scale,
    /// This.
    Of(f32),
}

impl Gamma {
    fn of(self, data: Matrix<'_>) -> f32 {
        let auto = 1.0 / data.cols().max(1) as f64;
        let gamma = match self {
            Gamma::Of(gamma) => return gamma,
            Gamma::Auto => auto,
            Gamma::Scale => {
                let numbers = || (0..data.rows()).flat_map(|row| data.row(row)).map(|&x| f64::from(x));
                let count = (data.rows() * data.cols()).max(1) as f64;
                let mean = numbers().sum::<f64>() / count;
                let variance = numbers().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
                if variance > 0.0 { auto / variance } else { auto }
            }
        };
        gamma as f32
    }
}

impl std::str::FromStr for Gamma {
    type Err = String;

    fn from_str(text: &str) -> Result<Gamma, String> {
        match (text, text.parse()) {
            ("auto", _) => Ok(Gamma::Auto),
            ("scale", _) => Ok(Gamma::Scale),
            (_, Ok(gamma)) if f32::is_finite(gamma) && gamma > 0.0 => Ok(Gamma::Of(gamma)),
            _ => Err("expected auto, scale or a number above 0".to_owned()),
        }
    }
}

impl std::fmt::Display for Gamma {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Gamma::Auto => f.write_str("auto"),
            Gamma::Scale => f.write_str("scale"),
            Gamma::Of(gamma) => gamma.fmt(f),
        }
    }
}

/// CPU seconds a pair of rows and dimension takes while a machine is fitted: 2,240 contexts of 100 dimensions take 1.7 to 5.9
/// s for ten machines, by C and γ.
const SECONDS: f64 = 6e-10;

/// About how many CPU seconds it takes to fit a machine to so many rows of so many dimensions.
pub(super) fn fit_seconds(rows: usize, dim: usize) -> f64 {
    SECONDS * (rows as f64).powi(2) * dim as f64
}

/// How a machine is fitted; by default as LIBSVM.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SvmParams {
    /// The cost of an error.
    pub c: f64,
    /// γ of the kernel.
    pub gamma: Gamma,
    /// How far from the best it may stop.
    pub tolerance: f64,
}

impl Default for SvmParams {
    fn default() -> SvmParams {
        SvmParams { c: 1.0, gamma: Gamma::Auto, tolerance: 1e-3 }
    }
}

/// Bytes of kernel rows that one problem keeps.
const CACHE: usize = 256 << 20;
/// A curvature that is not above 0 counts as this.
const TAU: f64 = 1e-12;
/// Steps of one problem, at the most.
const STEPS: usize = 10_000_000;

/// A fitted machine.
#[derive(Debug, Clone)]
pub(crate) struct Svm {
    gamma: f32,
    classes: usize,
    cols: usize,
    /// The rows that matter, one after the other, and their squared lengths.
    rows: Vec<f32>,
    squares: Vec<f32>,
    pairs: Vec<Pair>,
}

/// The decision function between two classes.
#[derive(Debug, Clone)]
struct Pair {
    first: u32,
    second: u32,
    rho: f64,
    /// Rows of the machine, and their weights: above 0 for the first class.
    support: Vec<(u32, f64)>,
}

/// `exp(−γ |x − y|²)` of `x` with each row of `table`, whose |y|² are `squares`.
fn kernels(x: &[f32], table: Matrix<'_>, squares: &[f32], gamma: f32, out: &mut [f32]) {
    let square = sum_of_squares(x);
    scan(Matrix::new(x, 1, x.len(), x.len()), table, MatrixMut::new(out, 1, squares.len(), squares.len()));
    for (value, other) in out.iter_mut().zip(squares) {
        *value = -gamma * (square + other - 2.0 * *value).max(0.0);
    }
    exp_all(out);
}

impl Svm {
    /// Fits a machine that separates the classes of `data`; `classes[i]` is the class of row i.
    ///
    /// # Panics
    /// If there are not as many classes as rows.
    pub(crate) fn fit(data: Matrix<'_>, classes: &[u32], params: &SvmParams) -> Svm {
        assert_eq!(data.rows(), classes.len(), "a class for each row");
        let gamma = params.gamma.of(data);
        let count = classes.iter().max().map_or(0, |&most| most as usize + 1);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
        (0..).zip(classes).for_each(|(row, &class)| members[class as usize].push(row));
        let there: Vec<u32> = (0..count as u32).filter(|&class| !members[class as usize].is_empty()).collect();
        let mut versus: Vec<(u32, u32)> = Vec::new();
        for (i, &first) in there.iter().enumerate() {
            versus.extend(there[i + 1..].iter().map(|&second| (first, second)));
        }
        let solve = |&(first, second): &(u32, u32)| {
            let (mine, others) = (&members[first as usize], &members[second as usize]);
            let rows: Vec<u32> = mine.iter().chain(others).copied().collect();
            let (weights, rho) = Problem::new(data, &rows, mine.len(), gamma, params).solve();
            let support = rows.iter().zip(weights).filter(|(_, weight)| *weight != 0.0);
            Pair { first, second, rho, support: support.map(|(&row, weight)| (row, weight)).collect() }
        };
        let mut pairs: Vec<Pair> = versus.par_iter().map(solve).collect();
        // Rows that support anything, numbered.
        let mut used: Vec<u32> = pairs.iter().flat_map(|pair| pair.support.iter().map(|&(row, _)| row)).collect();
        used.sort_unstable();
        used.dedup();
        for pair in &mut pairs {
            for (row, _) in &mut pair.support {
                *row = used.partition_point(|other| other < row) as u32;
            }
        }
        let rows: Vec<f32> = used.iter().flat_map(|&row| data.row(row as usize)).copied().collect();
        let squares = used.iter().map(|&row| sum_of_squares(data.row(row as usize))).collect();
        // Where there is one class only, it is the answer to everything.
        let only = there.first().copied().unwrap_or(0);
        if pairs.is_empty() {
            pairs.push(Pair { first: only, second: only, rho: 0.0, support: Vec::new() });
        }
        Svm { gamma, classes: count.max(1), cols: data.cols(), rows, squares, pairs }
    }

    /// The class of each row: the one that wins most of its pairs; of those that win as many, the first.
    ///
    /// # Panics
    /// If the rows are not as long as those that it was fitted to.
    pub(crate) fn predict(&self, data: Matrix<'_>) -> Vec<u32> {
        assert_eq!(data.cols(), self.cols, "rows as those it was fitted to");
        let table = Matrix::new(&self.rows, self.squares.len(), self.cols, self.cols);
        let predict = |row: usize| {
            let x = data.row(row);
            let mut values = vec![0.0; self.squares.len()];
            kernels(x, table, &self.squares, self.gamma, &mut values);
            let mut votes = vec![0u32; self.classes];
            for pair in &self.pairs {
                let sum = |sum: f64, &(row, weight): &(u32, f64)| sum + weight * f64::from(values[row as usize]);
                let decision = pair.support.iter().fold(0.0, sum) - pair.rho;
                votes[if decision > 0.0 { pair.first } else { pair.second } as usize] += 1;
            }
            let most = votes.iter().max().copied().unwrap_or(0);
            votes.iter().position(|&count| count == most).unwrap_or(0) as u32
        };
        (0..data.rows()).into_par_iter().map(predict).collect()
    }
}

/// Two classes: the first rows have y = 1, the others −1.
struct Problem<'a> {
    params: &'a SvmParams,
    gamma: f32,
    cols: usize,
    rows: Vec<f32>,
    squares: Vec<f32>,
    y: Vec<f64>,
    cache: Vec<Option<Rc<[f32]>>>,
    kept: usize,
}

impl<'a> Problem<'a> {
    fn new(data: Matrix<'_>, rows: &[u32], positive: usize, gamma: f32, params: &'a SvmParams) -> Problem<'a> {
        Problem {
            params,
            gamma,
            cols: data.cols(),
            squares: rows.iter().map(|&row| sum_of_squares(data.row(row as usize))).collect(),
            y: (0..rows.len()).map(|i| if i < positive { 1.0 } else { -1.0 }).collect(),
            cache: vec![None; rows.len()],
            rows: rows.iter().flat_map(|&row| data.row(row as usize)).copied().collect(),
            kept: 0,
        }
    }

    /// K of one row with all rows.
    fn row(&mut self, i: usize) -> Rc<[f32]> {
        if let Some(row) = &self.cache[i] {
            return Rc::clone(row);
        }
        let count = self.y.len();
        if (self.kept + 1) * count * size_of::<f32>() > CACHE {
            self.cache.fill(None);
            self.kept = 0;
        }
        let mut row = vec![0.0; count];
        let table = Matrix::new(&self.rows, count, self.cols, self.cols);
        let x = &self.rows[i * self.cols..][..self.cols];
        kernels(x, table, &self.squares, self.gamma, &mut row);
        let row: Rc<[f32]> = row.into();
        self.cache[i] = Some(Rc::clone(&row));
        self.kept += 1;
        row
    }

    /// The weight of each row (a·y), and ρ.
    fn solve(mut self) -> (Vec<f64>, f64) {
        let (count, c) = (self.y.len(), self.params.c);
        let y = self.y.clone();
        let mut alpha = vec![0.0f64; count];
        let mut gradient = vec![-1.0f64; count];
        // Whether y·a can still rise, or fall.
        let rises = |alpha: &[f64], t: usize| if y[t] > 0.0 { alpha[t] < c } else { alpha[t] > 0.0 };
        let falls = |alpha: &[f64], t: usize| if y[t] > 0.0 { alpha[t] > 0.0 } else { alpha[t] < c };
        for _ in 0..STEPS {
            let (mut best, mut first) = (f64::NEG_INFINITY, None);
            for t in (0..count).filter(|&t| rises(&alpha, t)) {
                let up = -y[t] * gradient[t];
                if up >= best {
                    (best, first) = (up, Some(t));
                }
            }
            let Some(i) = first else { break };
            let row_i = self.row(i);
            let (mut worst, mut least, mut second) = (f64::NEG_INFINITY, f64::INFINITY, None);
            for t in (0..count).filter(|&t| falls(&alpha, t)) {
                let down = y[t] * gradient[t];
                worst = worst.max(down);
                let gap = best + down;
                if gap > 0.0 {
                    // K(i, i) = K(t, t) = 1
                    let bend = 2.0 - 2.0 * f64::from(row_i[t]);
                    let gain = -(gap * gap) / if bend > 0.0 { bend } else { TAU };
                    if gain <= least {
                        (least, second) = (gain, Some(t));
                    }
                }
            }
            let Some(j) = second else { break };
            if best + worst < self.params.tolerance {
                break;
            }
            let row_j = self.row(j);
            let bend = 2.0 - 2.0 * f64::from(row_i[j]);
            let bend = if bend > 0.0 { bend } else { TAU };
            let (old_i, old_j) = (alpha[i], alpha[j]);
            // y_i a_i rises and y_j a_j falls by the same, as far as the box allows.
            let way = (-y[i] * gradient[i] + y[j] * gradient[j]) / bend;
            let room_i = if y[i] > 0.0 { c - old_i } else { old_i };
            let room_j = if y[j] > 0.0 { old_j } else { c - old_j };
            let way = way.min(room_i).min(room_j);
            let bounded = |old: f64, step: f64, at_end: bool| match (at_end, step > 0.0) {
                (true, true) => c,
                (true, false) => 0.0,
                _ => old + step,
            };
            alpha[i] = bounded(old_i, y[i] * way, way == room_i);
            alpha[j] = bounded(old_j, -y[j] * way, way == room_j);
            let (step_i, step_j) = ((alpha[i] - old_i) * y[i], (alpha[j] - old_j) * y[j]);
            for t in 0..count {
                gradient[t] += y[t] * (f64::from(row_i[t]) * step_i + f64::from(row_j[t]) * step_j);
            }
        }
        let rho = rho(&alpha, &gradient, &y, c);
        (alpha.iter().zip(&y).map(|(alpha, y)| alpha * y).collect(), rho)
    }
}

/// The threshold: the mean of y·gradient where a is free, else the middle of what is possible.
fn rho(alpha: &[f64], gradient: &[f64], y: &[f64], c: f64) -> f64 {
    let (mut sum, mut free, mut most, mut least) = (0.0, 0usize, f64::INFINITY, f64::NEG_INFINITY);
    for ((&alpha, &gradient), &y) in alpha.iter().zip(gradient).zip(y) {
        let value = y * gradient;
        if alpha > 0.0 && alpha < c {
            sum += value;
            free += 1;
        } else if (alpha >= c) == (y < 0.0) {
            most = most.min(value);
        } else {
            least = least.max(value);
        }
    }
    if free > 0 { sum / free as f64 } else { (most + least) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn two_points_by_hand() {
        // One of each class at distance 1, γ 1: a = 1/(1 − e⁻¹) > C, so both are at C, and ρ is 0.
        let data = [0.0, 1.0];
        let params = SvmParams { gamma: Gamma::Of(1.0), ..SvmParams::default() };
        let svm = Svm::fit(Matrix::new(&data, 2, 1, 1), &[0, 1], &params);
        assert_eq!(svm.pairs[0].support, [(0, 1.0), (1, -1.0)]);
        assert!(svm.pairs[0].rho.abs() < 1e-9);
        let asked = [-3.0, 0.4, 0.6, 9.0];
        assert_eq!(svm.predict(Matrix::new(&asked, 4, 1, 1)), [0, 0, 1, 1]);
        // With room to grow they reach it.
        let svm = Svm::fit(Matrix::new(&data, 2, 1, 1), &[0, 1], &SvmParams { c: 9.0, ..params });
        let free = 1.0 / (1.0 - (-1f64).exp());
        assert!((svm.pairs[0].support[0].1 - free).abs() < 1e-5, "{:?}", svm.pairs);
    }

    #[test]
    fn a_ring_around_a_blob_is_told_from_it() {
        let mut rng = Rng::keyed(1, &[3]);
        let (mut data, mut classes) = (Vec::new(), Vec::new());
        for i in 0..200 {
            let angle = rng.unit() * 6.3;
            let radius = if i % 2 == 0 { 0.5 * rng.unit() } else { 1.5 + 0.5 * rng.unit() };
            data.extend([radius * angle.cos(), radius * angle.sin()]);
            classes.push(i % 2);
        }
        let data = Matrix::new(&data, 200, 2, 2);
        let params = SvmParams { gamma: Gamma::Of(1.0), ..SvmParams::default() };
        assert_eq!(Svm::fit(data, &classes, &params).predict(data), classes);
    }

    #[test]
    fn a_class_alone_and_one_that_is_missing_are_no_trouble() {
        let data = [0.0, 1.0, 5.0, 6.0];
        let data = Matrix::new(&data, 4, 1, 1);
        assert_eq!(Svm::fit(data, &[2; 4], &SvmParams::default()).predict(data), [2; 4]);
        let params = SvmParams { c: 100.0, ..SvmParams::default() };
        assert_eq!(Svm::fit(data, &[3, 3, 1, 1], &params).predict(data), [3, 3, 1, 1]);
    }

    #[test]
    fn by_scale_the_length_of_rows_does_not_matter() {
        // Two thirds of one class.
        let classes: Vec<u32> = (0..60).map(|i| [0, 0, 0, 0, 1, 2][i % 6]).collect();
        let data: Vec<f32> = (0..60).flat_map(|i| [classes[i] as f32 + (i / 6) as f32 * 0.01, 0.5]).collect();
        let right = |data: &[f32], gamma: Gamma| {
            let data = Matrix::new(data, 60, 2, 2);
            let machine = Svm::fit(data, &classes, &SvmParams { gamma, ..SvmParams::default() });
            machine.predict(data).iter().zip(&classes).filter(|(found, class)| found == class).count()
        };
        let short: Vec<f32> = data.iter().map(|x| x * 1e-3).collect();
        assert_eq!((right(&data, Gamma::Scale), right(&short, Gamma::Scale)), (60, 60));
        assert_eq!(right(&short, Gamma::Auto), 40, "short rows look alike, and go to the largest class");
        // Two numbers a row, variance 1/4 about a mean of 1/2.
        assert!((Gamma::Scale.of(Matrix::new(&[0.0, 1.0], 1, 2, 2)) - 2.0).abs() < 1e-6);
        assert_eq!("scale".parse(), Ok(Gamma::Scale));
        assert!("0".parse::<Gamma>().is_err() && "wide".parse::<Gamma>().is_err());
    }

    #[test]
    fn equal_rows_of_both_classes_end() {
        let data = [1.0; 12];
        let svm = Svm::fit(Matrix::new(&data, 12, 1, 1), &[0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1], &SvmParams::default());
        assert_eq!(svm.predict(Matrix::new(&[1.0], 1, 1, 1)), [0], "the more frequent");
    }
}
