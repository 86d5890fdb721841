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

use crate::corpus::view::View;
use crate::id::{DocRow, WordId};
use crate::kernel::{
    Matrix, MatrixMut, Panels, Rows, Start, attract, axpy, gather_sum, multiply, noise_loss, pack, prefetch,
};
use crate::model::params::ContentParams;
use crate::model::tables::Tables;
use crate::model::weighting::keep_chances;
use crate::rng::AliasTable;
use crate::rng::{Order, Rng};
use crate::train::batch::{Columns, EXAMPLES_A_TASK, score_stride, sized};
use crate::train::batched::{self, Batched};
use crate::train::occurrences::{Numbering, Occurrences};
use crate::train::ranks::{MatrixRows, Room, Team};
use crate::train::{After, Phase};

/// Words of text in an example, before rare and frequent ones are left out.
const STRETCH: usize = 48;
/// The phase's number in the keys of random numbers.
const PHASE: u64 = 1;

/// One run of the content phase.
pub struct Content<'a> {
    view: &'a View<'a>,
    params: &'a ContentParams,
    seed: u64,
    keep: Vec<f32>,
    noise: AliasTable,
    /// For each document, how many examples there are up to and including its own.
    examples: Vec<u64>,
    team: Team<'a>,
}

/// Examples of a batch: a document each, and its words.
#[derive(Debug, Default)]
pub struct TextBatch {
    documents: Vec<u32>,
    ends: Vec<usize>,
    words: Vec<u32>,
    /// Noise words, rising, and how often each was drawn.
    columns: Vec<u32>,
    times: Vec<f32>,
    by_word: Occurrences,
    by_document: Occurrences,
}

/// Memory for the products of a step, kept from batch to batch.
#[derive(Debug, Default)]
pub struct TextWorkspace {
    x: Vec<f32>,
    g: Vec<f32>,
    dx: Vec<f32>,
    dn: Vec<f32>,
    columns: Columns,
    packed_x: Vec<f32>,
    own: Vec<f32>,
    losses: Vec<f32>,
    room: Room,
}

impl<'a> Content<'a> {
    /// Prepares to train on the text of `view`.
    pub fn new(view: &'a View<'a>, params: &'a ContentParams, seed: u64) -> Content<'a> {
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
        let (noise, team) = (AliasTable::smoothed(&view.counts), Team::default());
        Content { view, params, seed, keep, noise, examples, team }
    }

    /// Shares its batches with other ranks.
    pub(crate) fn shared_by(self, team: Team<'a>) -> Content<'a> {
        Content { team, ..self }
    }

    /// The document that an example is of, and its words.
    fn stretch(&self, example: usize) -> (DocRow, &[WordId]) {
        let document = self.examples.partition_point(|&end| end <= example as u64);
        let before = if document == 0 { 0 } else { self.examples[document - 1] };
        let text = self.view.corpus.words(self.view.documents[document]);
        let at = (example - before as usize) * STRETCH;
        (DocRow(document as u32), &text[at..(at + STRETCH).min(text.len())])
    }

    fn examples(&self) -> usize {
        self.examples.last().copied().unwrap_or(0) as usize
    }
}

impl Batched for Content<'_> {
    type Batch = TextBatch;
    type Work = TextWorkspace;

    fn view(&self) -> &View<'_> {
        self.view
    }

    fn build(&self, epoch: usize, number: usize, batch: &mut TextBatch, scratch: &mut Numbering) {
        let order = Order::keyed(self.examples(), self.seed, &[PHASE, epoch as u64]);
        let TextBatch { documents, ends, words, columns, times, by_word, by_document } = batch;
        documents.clear();
        words.clear();
        columns.clear();
        ends.clear();
        times.clear();
        let mut rng = Rng::keyed(self.seed, &[PHASE, epoch as u64, number as u64]);
        let start = number * self.params.batch;
        let end = (start + self.params.batch).min(self.examples());
        let mut ahead = (start < end).then(|| self.stretch(order.at(start)));
        for place in start + 1..=end {
            let Some((document, text)) = ahead.take() else { break };
            if place < end {
                prefetch(ahead.insert(self.stretch(order.at(place))).1);
            }
            for &word in text {
                if let Some(row) = self.view.word_row(word)
                    && rng.chance(self.keep[row.index()])
                {
                    words.push(self.view.table_row_of_word(row).0);
                }
            }
            if words.len() > ends.last().copied().unwrap_or(0) {
                documents.push(self.view.table_row_of_doc(document).0);
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

    fn step(&self, batch: &mut TextBatch, tables: &mut Tables, fade: f32, work: &mut TextWorkspace) -> (u64, f64) {
        let staged = self.team.stage(&mut tables.input, batch.by_document.rows_mut());
        staged.renumber(&mut batch.documents);
        let loss = self.gradients(batch, tables, work);
        let Tables { input, output } = tables;
        let (examples, stride) = (batch.documents.len(), input.stride());
        let (dn, x) = (&work.dn, Matrix::new(&work.x, examples, stride, stride));
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
        let dx = Matrix::new(&work.dx, examples, stride, stride);
        let rate = self.params.document_rate * fade;
        let by_document = &batch.by_document;
        input.par_change(by_document.rows(), &|i, row| {
            let (examples, weights) = by_document.of(i);
            gather_sum(dx, examples, weights, row.scratch);
            axpy(-rate, row.scratch, row.vector);
        });
        self.team.put_back(input, &staged);
        (batch.words.len() as u64, loss)
    }
}

impl Content<'_> {
    /// Fills `work` with the gradients of the documents (`dx`, an example's), of the noise (`dn`) and the slopes of the
    /// examples' own words (`own`), without changing the tables; returns the summed loss.
    fn gradients(&self, batch: &mut TextBatch, tables: &Tables, work: &mut TextWorkspace) -> f64 {
        let Tables { input, output } = tables;
        let (examples, columns, stride) = (batch.documents.len(), batch.columns.len(), input.stride());
        let wide = score_stride(columns);
        let mine = self.team.part(examples);
        let x = sized(&mut work.x, examples * stride);
        let g = sized(&mut work.g, mine.len() * wide);
        let dx = sized(&mut work.dx, examples * stride);
        let dn = sized(&mut work.dn, columns * stride);
        let own = sized(&mut work.own, batch.words.len());
        let losses = sized(&mut work.losses, examples);
        let (by_example, (by_depth, by_column)) = rayon::join(
            || {
                for (row, &document) in x.chunks_exact_mut(stride).zip(&batch.documents) {
                    row.copy_from_slice(input.row(document as usize));
                }
                pack(Matrix::new(x, examples, stride, stride), sized(&mut work.packed_x, Panels::len(examples, stride)))
            },
            || work.columns.pack(output, &batch.columns),
        );

        let (x, words) = (&*x, output.matrix());
        let noise_weight = self.params.negatives / self.params.noise as f32;
        // How many words stand before an example.
        let before = |example: usize| if example == 0 { 0 } else { batch.ends[example - 1] };
        let mut own_parts: Vec<&mut [f32]> = Vec::with_capacity(mine.len().div_ceil(EXAMPLES_A_TASK));
        let mut rest = &mut own[before(mine.start)..];
        for ends in batch.ends[mine.clone()].chunks(EXAMPLES_A_TASK) {
            let taken = batch.words.len() - rest.len();
            let (part, tail) = rest.split_at_mut(ends[ends.len() - 1] - taken);
            own_parts.push(part);
            rest = tail;
        }
        g.par_chunks_mut(wide * EXAMPLES_A_TASK)
            .zip(dx[mine.start * stride..mine.end * stride].par_chunks_mut(stride * EXAMPLES_A_TASK))
            .zip(losses[mine.clone()].par_chunks_mut(EXAMPLES_A_TASK))
            .zip(own_parts)
            .enumerate()
            .for_each(|(chunk, (((g, dx), losses), own))| {
                let first = mine.start + chunk * EXAMPLES_A_TASK;
                let rows = losses.len();
                let block = Matrix::new(&x[first * stride..], rows, stride, stride);
                multiply(block, by_depth, MatrixMut::new(g, rows, columns, wide), Start::Zero);
                for (i, scores) in g.chunks_mut(wide).enumerate() {
                    let example = first + i;
                    let weight = noise_weight * (batch.ends[example] - before(example)) as f32;
                    let scores = &mut scores[..columns];
                    losses[i] = weight * noise_loss(scores, &batch.times);
                    scores.iter_mut().zip(&batch.times).for_each(|(score, times)| *score *= weight * times);
                }
                multiply(
                    Matrix::new(g, rows, columns, wide),
                    by_column,
                    MatrixMut::new(dx, rows, stride, stride),
                    Start::Zero,
                );
                let offset = before(first);
                for i in 0..rows {
                    let example = first + i;
                    let x = &x[example * stride..][..stride];
                    let dx = &mut dx[i * stride..][..stride];
                    let slots = before(example)..batch.ends[example];
                    let slopes = &mut own[slots.start - offset..slots.end - offset];
                    let rows = Rows { table: words, ids: &batch.words[slots] };
                    attract(x, rows, slopes, dx, &mut losses[i]);
                }
            });
        let g = Matrix::new(g, mine.len(), columns, wide);
        let team = self.team;
        team.gather_between(own, examples, before);
        rayon::join(
            || team.column_gradients(g, by_example, MatrixRows { data: dn, columns, stride }, &mut work.room),
            || batch.by_word.weigh(own),
        );
        team.gather_rows(dx, examples, stride);
        team.gather_rows(losses, examples, 1);
        losses.iter().map(|&loss| f64::from(loss)).sum()
    }
}

impl Phase for Content<'_> {
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
        batched::epoch(self, epoch, start, tables, after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::split::Split;
    use crate::generate::GenerateParams;
    use crate::generate::generate;
    use crate::import::ImportOptions;
    use crate::kernel::scale;

    /// The loss of a batch in f64, as the head of this file has it.
    fn loss(phase: &Content<'_>, batch: &TextBatch, t: &Tables) -> f64 {
        let dot = |x: u32, o: u32| {
            let (x, o) = (t.input.row(x as usize), t.output.row(o as usize));
            x.iter().zip(o).map(|(&x, &o)| f64::from(x) * f64::from(o)).sum::<f64>()
        };
        let softplus = |x: f64| x.exp().ln_1p();
        let mut start = 0;
        let mut sum = 0.0;
        for (&document, &end) in batch.documents.iter().zip(&batch.ends) {
            let words = &batch.words[start..end];
            sum += words.iter().map(|&word| softplus(-dot(document, word))).sum::<f64>();
            let weight = f64::from(phase.params.negatives) * words.len() as f64 / phase.params.noise as f64;
            let noise = batch.columns.iter().zip(&batch.times);
            sum += weight * noise.map(|(&word, &times)| f64::from(times) * softplus(dot(document, word))).sum::<f64>();
            start = end;
        }
        sum
    }

    #[test]
    fn gradients_are_the_slopes_of_the_loss() {
        let dir = tempfile::tempdir().expect("a directory");
        let planted = GenerateParams { docs: 12, links: 30, words: 40, ..GenerateParams::default() };
        let corpus =
            generate(&planted, &dir.path().join("c"), &ImportOptions::default(), &mut |_| ControlFlow::Continue(()));
        let corpus = corpus.expect("generated");
        let view = View::new(&corpus, &Split::none(&corpus), 2).expect("a view");
        let params = ContentParams { batch: 9, noise: 16, sample: 0.0, ..ContentParams::default() };
        let phase = Content::new(&view, &params, 1);
        let mut tables = Tables::zeros(&view, 5);
        tables.input.fill(0..view.table_rows(), 5, 1, 1);
        tables.output.fill(0..view.table_rows(), 5, 1, 2);
        scale(8.0, tables.input.data_mut());
        scale(8.0, tables.output.data_mut());
        let (mut batch, mut work) = (TextBatch::default(), TextWorkspace::default());
        phase.build(0, 0, &mut batch, &mut Numbering::new(view.table_rows()));
        assert!(batch.documents.len() > 3 && batch.columns.len() > 5);
        let found = phase.gradients(&mut batch, &tables, &mut work);
        let expected = loss(&phase, &batch, &tables);
        assert!((found - expected).abs() < 1e-4 * expected, "{found}, not {expected}");

        let stride = tables.input.stride();
        let bent = |output: bool, row: u32, c: usize| {
            let by = |by: f32| {
                let mut t = tables.copy().expect("room");
                let table = if output { &mut t.output } else { &mut t.input };
                table.row_mut(row as usize)[c] += by;
                loss(&phase, &batch, &t)
            };
            (by(1e-2) - by(-1e-2)) / 2e-2
        };
        let near = |found: f32, expected: f64, what: &str| {
            assert!(
                (f64::from(found) - expected).abs() < 2e-3 * expected.abs().max(1.0),
                "{what}: {found}, not {expected}"
            );
        };
        for c in 0..5 {
            for &document in &batch.documents {
                let examples = batch.documents.iter().enumerate().filter(|(_, other)| **other == document);
                let found = examples.map(|(i, _)| work.dx[i * stride + c]).sum();
                near(found, bent(false, document, c), "document");
            }
            for (column, &word) in batch.columns.iter().enumerate() {
                let mut found = work.dn[column * stride + c];
                let mut start = 0;
                for (i, &end) in batch.ends.iter().enumerate() {
                    let own = (start..end).filter(|&slot| batch.words[slot] == word);
                    found += own.map(|slot| work.own[slot] * work.x[i * stride + c]).sum::<f32>();
                    start = end;
                }
                near(found, bent(true, word, c), "word");
            }
        }
    }
}
