//! One example learnt by itself, as one kernel: average some input rows, compare the average with some output rows,
//! move both. [`train::reference`](crate::train::reference) has the same step in plain loops; the bits are equal.
//!
//! The scores of several output rows are computed together, and their functions in one vector. That changes nothing,
//! since a score depends on the average and on its own row alone; where a row comes again, a new run begins, which
//! sees what the first one did to it.

use super::math::{log_sigmoid, sigmoid};
use super::matrix::MatrixMut;
use super::rows::{LANES, add_four, dot, scale};

/// The bound of the scores within which the paper's programs know σ.
pub const BOUND: f32 = 6.0;

/// What becomes of an output row whose score lies beyond ±6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Beyond {
    /// It teaches nothing and learns nothing, be it target or noise, if |score| ≥ 6: as gensim, and the authors of
    /// hyperdoc2vec after it.
    Skip,
    /// σ counts as 0 below −6 and as 1 above 6: as word2vec.c.
    Saturate,
}

/// How an example is learnt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The step size.
    pub rate: f32,
    /// What becomes of scores beyond ±6.
    pub beyond: Beyond,
    /// Whether the error is divided by the number of input rows, as the gradient of their mean would have it.
    /// word2vec, gensim and the paper's program add it to each of them whole.
    pub divide: bool,
}

impl Step {
    /// `rate · (label − σ(score))`, and beyond ±6 as the step says; 0 where nothing is to be learnt.
    #[inline(always)]
    pub fn slope(&self, score: f32, label: f32) -> f32 {
        let (low, high) = match self.beyond {
            Beyond::Skip => (score <= -BOUND, score >= BOUND),
            Beyond::Saturate => (score < -BOUND, score > BOUND),
        };
        let sigma = sigmoid(score);
        let sigma = if low { 0.0 } else { sigma };
        let sigma = if high { 1.0 } else { sigma };
        let slope = self.rate * (label - sigma);
        if self.beyond == Beyond::Skip && (low || high) { 0.0 } else { slope }
    }
}

/// See [`learn`](super::learn).
#[inline(always)]
pub(super) fn learn(
    step: Step,
    inputs: &[u32],
    outputs: &[u32],
    labels: &[f32],
    mut input: MatrixMut<'_>,
    mut output: MatrixMut<'_>,
    scratch: &mut [f32],
) -> f64 {
    assert_eq!(input.cols(), output.cols(), "input and output rows are of one length");
    assert!(outputs.len() <= labels.len(), "each output row has its label");
    if inputs.is_empty() {
        return 0.0;
    }
    let (mean, error) = scratch.split_at_mut(input.cols());
    let error = &mut error[..input.cols()];
    sum_rows(&input, inputs, mean);
    scale(1.0 / inputs.len() as f32, mean);
    error.fill(0.0);
    let mut loss = 0.0;
    let mut start = 0;
    while start < outputs.len() {
        let rows = run(&outputs[start..]);
        let labels = &labels[start..][..rows.len()];
        start += rows.len();
        let mut slopes = [0.0; LANES];
        let mut losses = [0.0; LANES];
        for (score, row) in slopes.iter_mut().zip(rows) {
            *score = dot(mean, output.row_mut(*row as usize));
        }
        let mut wanted = [0.0; LANES];
        wanted[..labels.len()].copy_from_slice(labels);
        for ((slope, loss), label) in slopes.iter_mut().zip(&mut losses).zip(wanted) {
            *loss = -log_sigmoid(if label > 0.5 { *slope } else { -*slope });
            *slope = step.slope(*slope, label);
        }
        for ((slope, l), row) in slopes.iter().zip(losses).zip(rows) {
            loss += f64::from(l);
            if *slope != 0.0 {
                exchange(*slope, mean, output.row_mut(*row as usize), error);
            }
        }
    }
    if step.divide {
        scale(1.0 / inputs.len() as f32, error);
    }
    for row in inputs {
        add(error, input.row_mut(*row as usize));
    }
    loss
}

/// The longest beginning of `rows`, at most eight, in which no row comes twice.
#[inline(always)]
fn run(rows: &[u32]) -> &[u32] {
    let rows = &rows[..rows.len().min(LANES)];
    for (at, row) in rows.iter().enumerate() {
        if rows[..at].contains(row) {
            return &rows[..at];
        }
    }
    rows
}

/// `out = Σ table[ids[j]]`, each element in the order of `ids` from 0.
#[inline(always)]
fn sum_rows(table: &MatrixMut<'_>, ids: &[u32], out: &mut [f32]) {
    out.fill(0.0);
    let (fours, rest) = ids.as_chunks::<4>();
    for four in fours {
        add_four(four.map(|id| table.row(id as usize)), [1.0; 4], out);
    }
    for id in rest {
        add(table.row(*id as usize), out);
    }
}

/// `y += x`
#[inline(always)]
fn add(x: &[f32], y: &mut [f32]) {
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks_mut::<LANES>());
    for (x, y) in x.iter().zip(y) {
        for (x, y) in x.iter().zip(y) {
            *y += x;
        }
    }
    for (x, y) in x_rest.iter().zip(y_rest) {
        *y += x;
    }
}

/// `error += slope · row` and `row += slope · mean`, both from the row as it was.
#[inline(always)]
fn exchange(slope: f32, mean: &[f32], row: &mut [f32], error: &mut [f32]) {
    let (mean, mean_rest) = mean.as_chunks::<LANES>();
    let ((row, row_rest), (error, error_rest)) = (row.as_chunks_mut::<LANES>(), error.as_chunks_mut::<LANES>());
    for ((mean, row), error) in mean.iter().zip(row).zip(error) {
        exchange_line(slope, mean, row, error);
    }
    exchange_line(slope, mean_rest, row_rest, error_rest);
}

#[inline(always)]
fn exchange_line(slope: f32, mean: &[f32], row: &mut [f32], error: &mut [f32]) {
    for ((mean, row), error) in mean.iter().zip(row).zip(error) {
        let old = *row;
        *error = slope.mul_add(old, *error);
        *row = slope.mul_add(*mean, old);
    }
}
