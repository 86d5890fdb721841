//! The neural probabilistic model of Huang et al. (AAAI 2015): a vector for each cited document, fitted to the words
//! around the links to it.
//!
//! `p(w | d) ≈ σ(w·d)`. Word vectors come from elsewhere (CBOW or skip-gram, in the input table), are made unit-long
//! ([`prepare`]) and stay as they are; the vectors of documents (output table) begin at 0. For each word w around a
//! link to d, and n words drawn evenly as noise:
//!
//! ```text
//! for w (label 1) and each noise word (label 0):    d += rate · weight · (label − σ(w·d)) · w
//! weight = count(w, d) / count(w)      how much of what is said around links is said of d
//! ```
//! Since words stay, a document's vector depends on no other document's: they are learnt side by side.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::corpus::cited_by::CitedBy;
use crate::corpus::view::View;
use crate::id::{DocRow, WordRow};
use crate::kernel::{axpy, dot, log_sigmoid, scale, sigmoid, sum_of_squares};
use crate::model::params::NpmParams;
use crate::model::tables::Table;
use crate::model::tables::Tables;
use crate::rng::Rng;
use crate::train::rivals::sequential::falling;
use crate::train::{After, Done, Phase};

/// Makes the word vectors unit-long (those that are 0 stay so) and the documents' OUT vectors 0: once, before the
/// first epoch.
pub(crate) fn prepare(tables: &mut Tables) {
    let stride = tables.input.stride();
    for row in tables.input.halves_mut().0.chunks_exact_mut(stride) {
        let length = sum_of_squares(row).sqrt();
        if length > 0.0 {
            scale(1.0 / length, row);
        }
    }
    tables.output.halves_mut().1.fill(0.0);
}

/// How often words and documents occur around and as targets of the links of a view.
#[derive(Debug, Clone)]
pub(crate) struct Frequencies {
    /// For each word, how often it stands in a context; a context with two targets counts twice.
    pub words: Vec<u64>,
    /// For each document, how many links point at it.
    pub documents: Vec<u64>,
}

impl Frequencies {
    /// Counts them, with contexts as `cited_by` has them.
    pub(crate) fn new(view: &View<'_>, cited_by: &CitedBy) -> Frequencies {
        let mut words = vec![0; view.words.len()];
        let mut documents = Vec::with_capacity(view.documents.len());
        for document in view.document_rows() {
            cited_by.contexts(view, document).for_each(|word| words[word.index()] += 1);
            documents.push(cited_by.positions(document).len() as u64);
        }
        Frequencies { words, documents }
    }
}

/// The score of a document for a context, summed over the context's words, each given as `(w·d, freq(w))`: with the
/// prior `Σ p(d | w)`, `p(d | w) ∝ σ(w·d) · freq(d) / freq(w)`, words of frequency 0 left out; without it `Σ σ(w·d)`. A
/// document that no link points at has no vector, and scores 0.
///
/// A document that 6 links point at, and two words, (0, 3) and (ln 3, 9): 0.5 · 6/3 + 0.75 · 6/9 = 1.5 with the prior,
/// 0.5 + 0.75 = 1.25 without.
pub(crate) fn score(prior: bool, document_frequency: u64, words: impl IntoIterator<Item = (f32, u64)>) -> f32 {
    if document_frequency == 0 {
        return 0.0;
    }
    let words = words.into_iter();
    if prior {
        let share = |(product, frequency): (f32, u64)| sigmoid(product) / frequency as f32;
        words.filter(|&(_, frequency)| frequency > 0).map(share).sum::<f32>() * document_frequency as f32
    } else {
        words.map(|(product, _)| sigmoid(product)).sum()
    }
}

/// A run over the documents that links point at.
pub(crate) struct Npm<'a> {
    view: &'a View<'a>,
    params: &'a NpmParams,
    seed: u64,
    cited_by: CitedBy,
    frequencies: Frequencies,
    /// The documents that have a link to them.
    cited: Vec<DocRow>,
}

/// The phase's number in the keys of random numbers.
const PHASE: u64 = 12;
/// Documents in a batch.
const BATCH: usize = 128;

impl<'a> Npm<'a> {
    /// Prepares to train on the links of `view`; the tables must have gone through [`prepare`].
    pub(crate) fn new(view: &'a View<'a>, params: &'a NpmParams, seed: u64) -> Npm<'a> {
        let cited_by = CitedBy::new(view, params.window);
        let frequencies = Frequencies::new(view, &cited_by);
        let cited = view.document_rows().filter(|document| frequencies.documents[document.index()] > 0).collect();
        Npm { view, params, seed, cited_by, frequencies, cited }
    }

    /// How often words and documents occur, for [`score`].
    #[cfg(test)]
    pub fn frequencies(&self) -> &Frequencies {
        &self.frequencies
    }

    /// Fits `vector` to the contexts of one document; returns the loss.
    fn document(&self, epoch: usize, document: DocRow, rate: f32, words: &Table, vector: &mut [f32]) -> f64 {
        let said: Vec<WordRow> = self.cited_by.contexts(self.view, document).collect();
        let mut sorted = said.clone();
        sorted.sort_unstable();
        let count = |word: WordRow| sorted.partition_point(|&w| w <= word) - sorted.partition_point(|&w| w < word);
        let mut rng = Rng::keyed(self.seed, &[PHASE, epoch as u64, u64::from(document.0)]);
        let mut loss = 0.0;
        for word in said {
            let weight = count(word) as f32 / self.frequencies.words[word.index()] as f32;
            let mut learn = |word: WordRow, label: f32| {
                loss += f64::from(step(rate, weight, label, words.word(word), vector));
            };
            learn(word, 1.0);
            for _ in 0..self.params.noise {
                let noise = WordRow(rng.below(self.view.words.len()) as u32);
                if noise != word {
                    learn(noise, 0.0);
                }
            }
        }
        loss
    }
}

/// One step of `vector` against `−weight · ln σ(±word·vector)`, plus for label 1, minus for 0; returns that loss.
fn step(rate: f32, weight: f32, label: f32, word: &[f32], vector: &mut [f32]) -> f32 {
    let product = dot(word, vector);
    axpy(rate * weight * (label - sigmoid(product)), word, vector);
    -weight * log_sigmoid(if label > 0.5 { product } else { -product })
}

impl Phase for Npm<'_> {
    fn prepare(&self, tables: &mut Tables) {
        prepare(tables);
    }

    fn name(&self) -> &'static str {
        "npm"
    }

    fn unit(&self) -> &'static str {
        "links"
    }

    fn epochs(&self) -> usize {
        self.params.epochs
    }

    fn batches(&self) -> usize {
        self.cited.len().div_ceil(BATCH)
    }

    fn epoch(&self, epoch: usize, start: usize, tables: &mut Tables, after: After<'_>) -> ControlFlow<()> {
        let batches = self.batches();
        let total = (self.params.epochs * batches) as u64;
        for (batch, documents) in self.cited.chunks(BATCH).enumerate().skip(start) {
            let rate = falling(self.params.rate, self.params.last_rate, (epoch * batches + batch) as u64, total);
            let rows: Vec<u32> = documents.iter().map(|&document| self.view.table_row_of_doc(document).0).collect();
            let losses: Vec<AtomicU64> = rows.iter().map(|_| AtomicU64::new(0)).collect();
            let Tables { input, output } = &mut *tables;
            output.par_change(&rows, &|index, row| {
                let loss = self.document(epoch, documents[index], rate, input, row.vector);
                losses[index].store(loss.to_bits(), Ordering::Relaxed);
            });
            let links = documents.iter().map(|document| self.frequencies.documents[document.index()]).sum();
            let loss = losses.into_iter().map(|loss| f64::from_bits(loss.into_inner())).sum();
            after(&Done { batches: batch + 1, units: links, loss }, tables)?;
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_goes_against_the_slope_of_its_loss() {
        let (word, vector) = ([0.5, -0.25, 1.0, 0.75], [0.2, 0.4, -0.6, 0.1]);
        let loss = |label: f32, vector: [f64; 4]| {
            let product: f64 = word.iter().zip(vector).map(|(&w, v)| f64::from(w) * v).sum();
            0.3 * (if label > 0.5 { -product } else { product }).exp().ln_1p()
        };
        for label in [0.0, 1.0] {
            let mut moved = vector;
            let told = step(1e-2, 0.3, label, &word, &mut moved);
            let at = vector.map(f64::from);
            assert!((f64::from(told) - loss(label, at)).abs() < 1e-6);
            for c in 0..4 {
                let by = |by: f64| {
                    let mut at = at;
                    at[c] += by;
                    loss(label, at)
                };
                let slope = (by(1e-4) - by(-1e-4)) / 2e-4;
                assert!((f64::from(moved[c] - vector[c]) / 1e-2 + slope).abs() < 1e-4, "{label} {c}");
            }
        }
    }
}
