//! The fast step: a batch of examples whose columns (targets and noise) are shared, so that scores and both
//! gradients are matrix products.
//!
//! ```text
//! x_b = Σ_i w_bi · input[r_bi]                        rows of X          (gather)
//! S   = X·Nᵀ − log π                                  N = output[columns]
//! G   = softmax(S) − Y                                Y marks each example's target
//! dX  = G·N        dN = Gᵀ·X
//! output[column] −= step(dN)      input[r] −= step(Σ_b w_b · dX_b)      one step a row, gradients summed first
//! ```
//! Threads own rows: of X, S and dX by example, of dN by column, of the tables by row. Every sum runs in the order of
//! the batch, so the number of threads does not change a bit.

use rayon::prelude::*;

use super::Tables;
use super::occurrences::{Numbering, Occurrences};
use crate::kernel::{
    Matrix, MatrixMut, Panels, Start, gather_sum, multiply, pack, pack_transposed, par_multiply_transposed, softmax,
};

/// Examples that a thread takes at a time.
const EXAMPLES_A_TASK: usize = 32;

/// Examples: input rows with weights, and one target row each.
#[derive(Debug, Default)]
pub struct Batch {
    ends: Vec<usize>,
    rows: Vec<u32>,
    weights: Vec<f32>,
    targets: Vec<u32>,
    /// Rows of the output table that take part: targets and noise, each once, rising.
    columns: Vec<u32>,
    /// What is subtracted from the scores of each column: the logarithm of its chance to be there.
    corrections: Vec<f32>,
    /// The column of each example's target.
    target_columns: Vec<u32>,
    inputs: Occurrences,
}

impl Batch {
    /// Empties the batch, keeping its memory.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.rows.clear();
        self.weights.clear();
        self.targets.clear();
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Adds an input row of the example that [`Batch::finish_example`] ends.
    pub fn input(&mut self, row: u32, weight: f32) {
        self.rows.push(row);
        self.weights.push(weight);
    }

    /// The weights of the inputs since the last example.
    pub fn open_weights(&mut self) -> &mut [f32] {
        let start = self.ends.last().copied().unwrap_or(0);
        &mut self.weights[start..]
    }

    /// Ends an example whose target is `target`.
    pub fn finish_example(&mut self, target: u32) {
        self.ends.push(self.rows.len());
        self.targets.push(target);
    }

    /// Lists columns and occurrences, once all examples are in. `correction` is asked for each column.
    pub fn index(&mut self, noise: &[u32], correction: impl Fn(u32) -> f32, scratch: &mut Numbering) {
        self.columns.clear();
        self.columns.extend_from_slice(&self.targets);
        self.columns.extend_from_slice(noise);
        self.columns.sort_unstable();
        self.columns.dedup();
        self.corrections.clear();
        self.corrections.extend(self.columns.iter().map(|&column| correction(column)));
        self.target_columns.clear();
        let columns = &self.columns;
        self.target_columns.extend(self.targets.iter().map(|target| columns.binary_search(target).unwrap_or(0) as u32));
        self.inputs.list(&self.ends, &self.rows, scratch);
        self.inputs.weigh(&self.weights);
    }

    fn inputs_of(&self, example: usize) -> (&[u32], &[f32]) {
        let start = if example == 0 { 0 } else { self.ends[example - 1] };
        let range = start..self.ends[example];
        (&self.rows[range.clone()], &self.weights[range])
    }
}

/// Memory for the products of a step, kept from batch to batch.
#[derive(Debug, Default)]
pub struct Workspace {
    x: Vec<f32>,
    n: Vec<f32>,
    s: Vec<f32>,
    dx: Vec<f32>,
    dn: Vec<f32>,
    packed: Vec<f32>,
    packed_transposed: Vec<f32>,
    losses: Vec<f32>,
}

pub(super) fn sized(buffer: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}

/// One step of sampled softmax; returns the summed loss.
pub fn softmax_step(batch: &Batch, tables: &mut Tables, rate: f32, work: &mut Workspace) -> f64 {
    let Tables { input, output } = tables;
    let (examples, columns, stride) = (batch.len(), batch.columns.len(), input.stride());
    // A stride of a multiple of 1024 numbers would make rows compete for the same cache lines.
    let wide = columns.next_multiple_of(8) + if columns.next_multiple_of(8) % 1024 == 0 { 16 } else { 0 };
    let x = sized(&mut work.x, examples * stride);
    let n = sized(&mut work.n, columns * stride);
    let s = sized(&mut work.s, examples * wide);
    let dx = sized(&mut work.dx, examples * stride);
    let dn = sized(&mut work.dn, columns * stride);
    let losses = sized(&mut work.losses, examples);

    let table = input.matrix();
    x.par_chunks_mut(stride * EXAMPLES_A_TASK).enumerate().for_each(|(chunk, rows)| {
        for (i, row) in rows.chunks_exact_mut(stride).enumerate() {
            let (ids, weights) = batch.inputs_of(chunk * EXAMPLES_A_TASK + i);
            gather_sum(table, ids, weights, row);
        }
    });
    for (row, &column) in n.chunks_exact_mut(stride).zip(&batch.columns) {
        row.copy_from_slice(output.row(column as usize));
    }
    let n = Matrix::new(n, columns, stride, stride);
    let (by_depth, by_column) = rayon::join(
        || pack_transposed(n, sized(&mut work.packed_transposed, Panels::len(stride, columns))),
        || pack(n, sized(&mut work.packed, Panels::len(columns, stride))),
    );
    let x = &*x;
    s.par_chunks_mut(wide * EXAMPLES_A_TASK)
        .zip(dx.par_chunks_mut(stride * EXAMPLES_A_TASK))
        .zip(losses.par_chunks_mut(EXAMPLES_A_TASK))
        .enumerate()
        .for_each(|(chunk, ((s, dx), losses))| {
            let first = chunk * EXAMPLES_A_TASK;
            let rows = losses.len();
            let x = Matrix::new(&x[first * stride..], rows, stride, stride);
            multiply(x, by_depth, MatrixMut::new(s, rows, columns, wide), Start::Zero);
            for (i, scores) in s.chunks_mut(wide).enumerate() {
                let scores = &mut scores[..columns];
                scores.iter_mut().zip(&batch.corrections).for_each(|(score, correction)| *score -= correction);
                let target = batch.target_columns[first + i] as usize;
                let score = scores[target];
                losses[i] = softmax(scores) - score;
                scores[target] -= 1.0;
            }
            multiply(
                Matrix::new(s, rows, columns, wide),
                by_column,
                MatrixMut::new(dx, rows, stride, stride),
                Start::Zero,
            );
        });
    let by_example =
        pack(Matrix::new(x, examples, stride, stride), sized(&mut work.packed, Panels::len(examples, stride)));
    let g = Matrix::new(s, examples, columns, wide);
    par_multiply_transposed(g, by_example, MatrixMut::new(dn, columns, stride, stride), Start::Zero);

    let dn = &*dn;
    output.par_change(&batch.columns, &|i, row| row.adagrad(&dn[i * stride..][..stride], rate));
    let dx = Matrix::new(dx, examples, stride, stride);
    input.par_change(batch.inputs.rows(), &|i, row| {
        let (examples, weights) = batch.inputs.of(i);
        gather_sum(dx, examples, weights, row.scratch);
        row.adagrad_scratch(rate);
    });
    losses.iter().map(|&loss| f64::from(loss)).sum()
}
