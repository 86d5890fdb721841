//! The content phase: a document predicts its words (PV-DBOW), in batches with shared noise.
//!
//! An example is some thirty words of one document. With x its IN vector, o the OUT vectors of its m words and of n
//! noise words shared by the batch:
//!
//! ```text
//! loss = − Σ_words log σ(x·o) − (negatives · m / n) Σ_noise log σ(−x·o)
//! ```
//! so each word counts as many noise words as it would alone. Noise is scored by matrix products, a document's own
//! words one by one.

use std::ops::ControlFlow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::batch::sized;
use super::example::{Lottery, keep_chances};
use super::occurrences::{Numbering, Occurrences};
use super::view::View;
use super::{After, Done, Phase, Tables};
use crate::kernel::{
    Matrix, MatrixMut, Panels, Start, axpy, dot, gather_sum, log_sigmoid, multiply, pack, pack_transposed,
    par_multiply_transposed, sigmoid, sigmoid_all,
};
use crate::rng::{Order, Rng};

/// How the content phase is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DbowParams {
    /// Passes over the text.
    pub epochs: usize,
    /// Noise words for each word.
    pub negatives: f32,
    /// Words that make up more than this share of the text are thinned out; 0 for none.
    pub sample: f32,
    /// First step size of document vectors; it falls linearly towards 0.
    pub document_rate: f32,
    /// First step size of word vectors.
    pub word_rate: f32,
    /// Examples in a batch.
    pub batch: usize,
    /// Noise words of a batch.
    pub noise: usize,
}

impl Default for DbowParams {
    fn default() -> DbowParams {
        DbowParams {
            epochs: 5,
            negatives: 5.0,
            sample: 1e-3,
            document_rate: 0.05,
            word_rate: 0.1,
            batch: 256,
            noise: 512,
        }
    }
}

/// Words of text in an example, before rare and frequent ones are left out.
const STRETCH: usize = 48;
/// Examples that a thread takes at a time.
const EXAMPLES_A_TASK: usize = 32;
/// The phase's number in the keys of random numbers.
const PHASE: u64 = 1;

/// One run of the content phase.
pub struct Dbow<'a> {
    view: &'a View<'a>,
    params: &'a DbowParams,
    seed: u64,
    keep: Vec<f32>,
    noise: Lottery,
    /// For each document, how many examples there are up to and including its own.
    examples: Vec<u64>,
}

/// Examples of a batch: a document each, and its words.
#[derive(Debug, Default)]
struct Batch {
    documents: Vec<u32>,
    ends: Vec<usize>,
    words: Vec<u32>,
    /// Noise words, rising, and how often each was drawn.
    columns: Vec<u32>,
    times: Vec<f32>,
    by_word: Occurrences,
    by_document: Occurrences,
}

#[derive(Debug, Default)]
struct Workspace {
    x: Vec<f32>,
    n: Vec<f32>,
    g: Vec<f32>,
    dx: Vec<f32>,
    dn: Vec<f32>,
    packed: Vec<f32>,
    packed_transposed: Vec<f32>,
    own: Vec<f32>,
    losses: Vec<f32>,
}

impl<'a> Dbow<'a> {
    /// Prepares to train on the text of `view`.
    pub fn new(view: &'a View<'a>, params: &'a DbowParams, seed: u64) -> Dbow<'a> {
        let mut sum = 0;
        let examples = view
            .documents
            .iter()
            .map(|&doc| {
                sum += view.corpus.words(doc).len().div_ceil(STRETCH) as u64;
                sum
            })
            .collect();
        let keep = keep_chances(&view.counts, f64::from(params.sample));
        Dbow { view, params, seed, keep, noise: Lottery::smoothed(&view.counts), examples }
    }

    fn examples(&self) -> usize {
        self.examples.last().copied().unwrap_or(0) as usize
    }

    /// Builds batch `number` of an epoch; empty behind the last.
    fn build(&self, order: &Order, epoch: usize, number: usize, batch: &mut Batch, scratch: &mut Numbering) {
        let Batch { documents, ends, words, columns, times, by_word, by_document } = batch;
        documents.clear();
        words.clear();
        columns.clear();
        ends.clear();
        times.clear();
        let mut rng = Rng::keyed(self.seed, &[PHASE, epoch as u64, number as u64]);
        let start = (number * self.params.batch).min(self.examples());
        let end = (start + self.params.batch).min(self.examples());
        for place in start..end {
            let example = order.at(place) as u64;
            let document = self.examples.partition_point(|&end| end <= example);
            let before = if document == 0 { 0 } else { self.examples[document - 1] };
            let text = self.view.corpus.words(self.view.documents[document]);
            let at = (example - before) as usize * STRETCH;
            for &word in &text[at..(at + STRETCH).min(text.len())] {
                if let Some(row) = self.view.word_row(word)
                    && rng.chance(self.keep[row as usize])
                {
                    words.push(row);
                }
            }
            if words.len() > ends.last().copied().unwrap_or(0) {
                documents.push((self.view.words.len() + document) as u32);
                ends.push(words.len());
            }
        }
        let mut drawn: Vec<u32> = (0..self.params.noise).map(|_| self.noise.draw(&mut rng)).collect();
        drawn.sort_unstable();
        for run in drawn.chunk_by(|a, b| a == b) {
            columns.push(run[0]);
            times.push(run.len() as f32);
        }
        by_word.list(ends, words, scratch);
        let one_each: Vec<usize> = (1..=documents.len()).collect();
        by_document.list(&one_each, documents, scratch);
        by_document.weigh(&vec![1.0; documents.len()]);
    }

    /// One step; returns the summed loss.
    fn step(&self, batch: &mut Batch, tables: &mut Tables, fade: f32, work: &mut Workspace) -> f64 {
        let Tables { input, output } = tables;
        let (examples, columns, stride) = (batch.documents.len(), batch.columns.len(), input.stride());
        let wide = columns.next_multiple_of(8) + if columns.next_multiple_of(8) % 1024 == 0 { 16 } else { 0 };
        let x = sized(&mut work.x, examples * stride);
        let n = sized(&mut work.n, columns * stride);
        let g = sized(&mut work.g, examples * wide);
        let dx = sized(&mut work.dx, examples * stride);
        let dn = sized(&mut work.dn, columns * stride);
        let own = sized(&mut work.own, batch.words.len());
        let losses = sized(&mut work.losses, examples);
        for (row, &document) in x.chunks_exact_mut(stride).zip(&batch.documents) {
            row.copy_from_slice(input.row(document as usize));
        }
        for (row, &column) in n.chunks_exact_mut(stride).zip(&batch.columns) {
            row.copy_from_slice(output.row(column as usize));
        }
        let n = Matrix::new(n, columns, stride, stride);
        let by_depth = pack_transposed(n, sized(&mut work.packed_transposed, Panels::len(stride, columns)));
        let by_column = pack(n, sized(&mut work.packed, Panels::len(columns, stride)));

        let (x, words) = (&*x, &*output);
        let noise_weight = self.params.negatives / self.params.noise as f32;
        let mut own_parts: Vec<&mut [f32]> = Vec::with_capacity(examples.div_ceil(EXAMPLES_A_TASK));
        let mut rest = &mut *own;
        for ends in batch.ends.chunks(EXAMPLES_A_TASK) {
            let taken = batch.words.len() - rest.len();
            let (part, tail) = rest.split_at_mut(ends[ends.len() - 1] - taken);
            own_parts.push(part);
            rest = tail;
        }
        g.par_chunks_mut(wide * EXAMPLES_A_TASK)
            .zip(dx.par_chunks_mut(stride * EXAMPLES_A_TASK))
            .zip(losses.par_chunks_mut(EXAMPLES_A_TASK))
            .zip(own_parts)
            .enumerate()
            .for_each(|(chunk, (((g, dx), losses), own))| {
                let first = chunk * EXAMPLES_A_TASK;
                let rows = losses.len();
                let block = Matrix::new(&x[first * stride..], rows, stride, stride);
                multiply(block, by_depth, MatrixMut::new(g, rows, columns, wide), Start::Zero);
                for (i, scores) in g.chunks_mut(wide).enumerate() {
                    let example = first + i;
                    let start = if example == 0 { 0 } else { batch.ends[example - 1] };
                    let weight = noise_weight * (batch.ends[example] - start) as f32;
                    let scores = &mut scores[..columns];
                    sigmoid_all(scores);
                    losses[i] = weight * noise_loss(scores, &batch.times);
                    scores.iter_mut().zip(&batch.times).for_each(|(score, times)| *score *= weight * times);
                }
                multiply(
                    Matrix::new(g, rows, columns, wide),
                    by_column,
                    MatrixMut::new(dx, rows, stride, stride),
                    Start::Zero,
                );
                let offset = if first == 0 { 0 } else { batch.ends[first - 1] };
                for i in 0..rows {
                    let example = first + i;
                    let start = if example == 0 { 0 } else { batch.ends[example - 1] };
                    let x = &x[example * stride..][..stride];
                    let dx = &mut dx[i * stride..][..stride];
                    for slot in start..batch.ends[example] {
                        let word = words.row(batch.words[slot] as usize);
                        let score = dot(x, word);
                        let gradient = sigmoid(score) - 1.0;
                        losses[i] -= log_sigmoid(score);
                        own[slot - offset] = gradient;
                        axpy(gradient, word, dx);
                    }
                }
            });
        let by_example =
            pack(Matrix::new(x, examples, stride, stride), sized(&mut work.packed, Panels::len(examples, stride)));
        let g = Matrix::new(g, examples, columns, wide);
        par_multiply_transposed(g, by_example, MatrixMut::new(dn, columns, stride, stride), Start::Zero);

        batch.by_word.weigh(own);
        let (dn, x) = (&*dn, Matrix::new(x, examples, stride, stride));
        let rate = self.params.word_rate * fade;
        let (by_word, noise_columns) = (&batch.by_word, &batch.columns);
        output.par_change(by_word.rows(), &|i, row| {
            let (examples, weights) = by_word.of(i);
            gather_sum(x, examples, weights, row.scratch);
            if let Ok(column) = noise_columns.binary_search(&by_word.rows()[i]) {
                axpy(1.0, &dn[column * stride..][..stride], row.scratch);
            }
            row.adagrad_scratch(rate);
        });
        let others: Vec<u32> =
            noise_columns.iter().copied().filter(|w| by_word.rows().binary_search(w).is_err()).collect();
        output.par_change(&others, &|i, row| {
            let column = noise_columns.binary_search(&others[i]).unwrap_or(0);
            row.adagrad(&dn[column * stride..][..stride], rate);
        });
        let dx = Matrix::new(dx, examples, stride, stride);
        let rate = self.params.document_rate * fade;
        let by_document = &batch.by_document;
        input.par_change(by_document.rows(), &|i, row| {
            let (examples, weights) = by_document.of(i);
            gather_sum(dx, examples, weights, row.scratch);
            axpy(-rate, row.scratch, row.vector);
        });
        losses.iter().map(|&loss| f64::from(loss)).sum()
    }
}

/// About `Σ times · −log(1 − p)`, by its first two terms: it is only told to people, and chances are small.
fn noise_loss(chances: &[f32], times: &[f32]) -> f32 {
    chances.iter().zip(times).fold(0.0, |sum, (p, times)| sum + times * (p + 0.5 * p * p))
}

impl Phase for Dbow<'_> {
    fn name(&self) -> &'static str {
        "content"
    }

    fn unit(&self) -> &'static str {
        "words"
    }

    fn epochs(&self) -> usize {
        self.params.epochs
    }

    fn batches(&self) -> usize {
        self.examples().div_ceil(self.params.batch)
    }

    fn epoch(&self, epoch: usize, start: usize, tables: &mut Tables, after: After<'_>) -> ControlFlow<()> {
        let order = Order::keyed(self.examples(), self.seed, &[PHASE, epoch as u64]);
        let steps = (self.params.epochs * self.batches()) as f32;
        let (mut current, mut next) = (Batch::default(), Batch::default());
        let mut scratch = Numbering::new(self.view.rows());
        let mut work = Workspace::default();
        self.build(&order, epoch, start, &mut current, &mut scratch);
        for number in start..self.batches() {
            let fade = 1.0 - (epoch * self.batches() + number) as f32 / steps;
            let (loss, ()) = rayon::join(
                || self.step(&mut current, tables, fade, &mut work),
                || self.build(&order, epoch, number + 1, &mut next, &mut scratch),
            );
            after(&Done { batches: number + 1, units: current.words.len() as u64, loss }, tables)?;
            std::mem::swap(&mut current, &mut next);
        }
        ControlFlow::Continue(())
    }
}
