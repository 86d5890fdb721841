//! One example learnt by itself, as one kernel: average some input rows, compare the average with some output rows,
//! move both. Training by the paper's method has the same step in plain loops; the bits are equal.
//!
//! The scores of several output rows are computed together, and their functions in one vector. That changes nothing,
//! since a score depends on the average and on its own row alone; where a row comes again, a new run begins, which
//! sees what the first one did to it.

use super::math::{log_sigmoid, sigmoid};
use super::matrix::MatrixMut;
use super::prefetch::prefetch;
use super::rows::{LANES, dot, scale};

/// The bound of the scores within which the paper's programs know σ.
pub const BOUND: f32 = 6.0;

/// The treatment of an output row whose score lies outside ±6.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    serde::Serialize,
    serde::Deserialize,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum OutOfRange {
    /// It teaches nothing and learns nothing, be it target or noise, if |score| ≥ 6: as gensim, and the authors of
    /// hyperdoc2vec after it.
    Skip,
    /// σ counts as 0 below −6 and as 1 above 6: as word2vec.c.
    Saturate,
}

/// How an example is learnt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The learning rate.
    pub rate: f32,
    /// The treatment of scores outside ±6.
    pub beyond: OutOfRange,
    /// Whether the error is divided by the number of input rows, as the gradient of their mean would have it.
    /// word2vec, gensim and the paper's program add it to each of them whole.
    pub divide: bool,
}

/// An example: rows of two tables.
#[derive(Debug, Clone, Copy)]
pub struct LabelledRows<'a> {
    /// Rows whose mean is compared.
    pub inputs: &'a [u32],
    /// Rows that it is compared with.
    pub outputs: &'a [u32],
    /// For each of these, whether it is to score high (1) or low (0); there may be more.
    pub labels: &'a [f32],
}

impl Step {
    /// `rate · (label − σ(score))`, and outside ±6 as [`OutOfRange`] has it; 0 where nothing is to be learnt.
    #[inline(always)]
    pub fn slope(&self, score: f32, label: f32) -> f32 {
        let (low, high) = match self.beyond {
            OutOfRange::Skip => (score <= -BOUND, score >= BOUND),
            OutOfRange::Saturate => (score < -BOUND, score > BOUND),
        };
        let sigma = sigmoid(score);
        let sigma = if low { 0.0 } else { sigma };
        let sigma = if high { 1.0 } else { sigma };
        let slope = self.rate * (label - sigma);
        if self.beyond == OutOfRange::Skip && (low || high) { 0.0 } else { slope }
    }
}

/// See [`learn`](super::learn).
#[inline(always)]
pub(super) fn learn(
    step: Step,
    example: LabelledRows<'_>,
    mut input: MatrixMut<'_>,
    mut output: MatrixMut<'_>,
    scratch: &mut [f32],
) -> f64 {
    let inputs = example.inputs;
    assert!(input.cols().is_multiple_of(LANES), "rows are padded to a multiple of {LANES} numbers");
    if inputs.is_empty() {
        return 0.0;
    }
    let (mean, error) = scratch.split_at_mut(input.cols());
    let error = &mut error[..input.cols()];
    prefetch_rows(&output, example.outputs.iter().take(LANES));
    sum_rows(&input, inputs, mean.as_chunks_mut().0);
    scale(1.0 / inputs.len() as f32, mean);
    let loss = compare(step, mean, error, example, &mut output);
    if step.divide {
        scale(1.0 / inputs.len() as f32, error);
    }
    for row in inputs {
        add(error.as_chunks().0, input.row_mut(*row as usize).as_chunks_mut().0);
    }
    loss
}

/// Compares `mean` with the output rows of an example, moves these, and leaves in `error` where the mean should move; returns the
/// loss.
#[inline(always)]
fn compare(step: Step, mean: &[f32], error: &mut [f32], example: LabelledRows<'_>, output: &mut MatrixMut<'_>) -> f64 {
    let LabelledRows { outputs, labels, .. } = example;
    assert_eq!(mean.len(), output.cols(), "input and output rows are of one length");
    assert!(outputs.len() <= labels.len(), "each output row has its label");
    error.fill(0.0);
    let mut loss = 0.0;
    let mut start = 0;
    while start < outputs.len() {
        let rows = run(&outputs[start..]);
        let labels = &labels[start..][..rows.len()];
        start += rows.len();
        prefetch_rows(output, outputs[start..].iter().take(LANES));
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
                let row = output.row_mut(*row as usize).as_chunks_mut().0;
                exchange(*slope, mean.as_chunks().0, row, error.as_chunks_mut().0);
            }
        }
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

/// Asks for rows that will be needed soon. Noise comes from all over a table, and waiting for it took a quarter of the
/// time of PV-DM.
#[inline(always)]
fn prefetch_rows<'a>(table: &MatrixMut<'_>, ids: impl Iterator<Item = &'a u32>) {
    for id in ids {
        prefetch(table.row(*id as usize));
    }
}

/// Eight numbers, moved as one, so that the compiler need not ask whether rows overlap.
type LaneArray = [f32; LANES];

/// Row `id` as lines.
#[inline(always)]
fn lines<'a>(table: &'a MatrixMut<'_>, id: u32) -> &'a [LaneArray] {
    table.row(id as usize).as_chunks().0
}

/// `out = Σ table[ids[j]]`, each element in the order of `ids` from 0.
#[inline(always)]
fn sum_rows(table: &MatrixMut<'_>, ids: &[u32], out: &mut [LaneArray]) {
    out.fill([0.0; LANES]);
    let (eights, rest) = ids.as_chunks::<8>();
    for &[a, b, c, d, e, f, g, h] in eights {
        let (a, b, c, d) = (lines(table, a), lines(table, b), lines(table, c), lines(table, d));
        let (e, f, g, h) = (lines(table, e), lines(table, f), lines(table, g), lines(table, h));
        let first = out.iter_mut().zip(a).zip(b).zip(c).zip(d);
        for ((((((((out, a), b), c), d), e), f), g), h) in first.zip(e).zip(f).zip(g).zip(h) {
            let four = plus(plus(plus(plus(*out, *a), *b), *c), *d);
            *out = plus(plus(plus(plus(four, *e), *f), *g), *h);
        }
    }
    for id in rest {
        add(lines(table, *id), out);
    }
}

#[inline(always)]
fn plus(mut x: LaneArray, y: LaneArray) -> LaneArray {
    for (x, y) in x.iter_mut().zip(y) {
        *x += y;
    }
    x
}

/// `a x + y`
#[inline(always)]
fn fma(a: f32, x: LaneArray, mut y: LaneArray) -> LaneArray {
    for (x, y) in x.into_iter().zip(&mut y) {
        *y = a.mul_add(x, *y);
    }
    y
}

/// `y += x`
#[inline(always)]
fn add(x: &[LaneArray], y: &mut [LaneArray]) {
    for (x, y) in x.iter().zip(y) {
        *y = plus(*y, *x);
    }
}

/// `error += slope · row` and `row += slope · mean`, both from the row as it was.
#[inline(always)]
fn exchange(slope: f32, mean: &[LaneArray], row: &mut [LaneArray], error: &mut [LaneArray]) {
    for ((mean, row), error) in mean.iter().zip(row).zip(error) {
        let old = *row;
        *error = fma(slope, old, *error);
        *row = fma(slope, *mean, old);
    }
}
