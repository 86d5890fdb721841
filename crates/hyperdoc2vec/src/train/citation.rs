//! The citation phase: the words around a link, and the document it stands in, predict the document it points at.
//!
//! `x = Σ a_w · word_in[w] + a_s · doc_in[source]`, the weights summing to 1; `x · doc_out[target]` is to be high.
//! Unweighted, that is the paper's mean of the source and the context words. By default a word weighs
//! `exp(−distance/τ) · idf(word)`, and the source as much as a word on the average.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::batch::{Batch, Workspace, softmax_step};
use super::occurrences::Numbering;
use super::view::{Example, View};
use super::{After, Done, Phase, Tables};
use crate::kernel::{exp, ln};
use crate::rng::{Order, Rng};

/// How the citation phase is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CitationParams {
    /// Passes over the links.
    pub epochs: usize,
    /// Links in a batch.
    pub batch: usize,
    /// Documents drawn evenly as noise for each batch, beside the targets of the batch.
    pub noise: usize,
    /// The first step size; it falls linearly towards 0.
    pub rate: f32,
    /// Words further from the link than this weigh less than 1/e; 0 for no weighting by distance.
    pub decay: f32,
    /// Whether words weigh by their rarity.
    pub rarity: bool,
}

impl Default for CitationParams {
    fn default() -> CitationParams {
        CitationParams { epochs: 8, batch: 512, noise: 64, rate: 0.3, decay: 20.0, rarity: true }
    }
}

/// What a word weighs at a distance from the link; 1 everywhere without a decay.
pub fn distance_weight(distance: usize, decay: f32) -> f32 {
    if decay > 0.0 { exp(-(distance as f32) / decay) } else { 1.0 }
}

/// What a word that stands in `found` of the documents weighs; 1 where rarity does not count.
pub fn rarity_weight(found: u64, documents: usize, rarity: bool) -> f32 {
    if rarity { ln((documents as f32 + 1.0) / found as f32) } else { 1.0 }
}

/// Weighs the words of a context.
#[derive(Debug, Clone)]
pub struct Weighting {
    by_distance: Vec<f32>,
    by_word: Vec<f32>,
}

impl Weighting {
    /// Weights for the words of `view` up to `window` from the link.
    pub fn new(view: &View<'_>, window: usize, decay: f32, rarity: bool) -> Weighting {
        let by_distance = (0..window.max(1)).map(|distance| distance_weight(distance, decay)).collect();
        let by_word = |&found: &u64| rarity_weight(found, view.documents.len(), rarity);
        Weighting { by_distance, by_word: view.document_counts.iter().map(by_word).collect() }
    }

    /// The weight of a word (its row) at a distance.
    #[inline]
    pub fn of(&self, word: u32, distance: usize) -> f32 {
        self.by_distance[distance.min(self.by_distance.len() - 1)] * self.by_word[word as usize]
    }
}

/// One run of the citation phase.
pub struct Citation<'a> {
    view: &'a View<'a>,
    params: &'a CitationParams,
    window: usize,
    seed: u64,
    weighting: Weighting,
    /// For each document, the logarithm of the chance that it is a column of a batch.
    corrections: Vec<f32>,
}

/// The phase's number in the keys of random numbers.
const PHASE: u64 = 2;

impl<'a> Citation<'a> {
    /// Prepares to train on the links of `view`.
    pub fn new(view: &'a View<'a>, params: &'a CitationParams, window: usize, seed: u64) -> Citation<'a> {
        let mut counts = vec![0u32; view.documents.len()];
        let first = view.words.len() as u32;
        view.links.iter().for_each(|link| counts[(link.target - first) as usize] += 1);
        let documents = view.documents.len() as f32;
        let noise = params.noise.min(view.documents.len()) as f32;
        // π = 1 − (1 − n/D)(1 − p)^B: drawn as noise, or target of one of the batch's links.
        let batch = params.batch.min(view.links.len()) as f32;
        let corrections = counts
            .iter()
            .map(|&count| {
                let share = count as f32 / view.links.len().max(1) as f32;
                let absent = (1.0 - noise / documents) * exp(batch * ln(1.0 - share.min(0.999_999)));
                ln((1.0 - absent).max(1e-20))
            })
            .collect();
        let weighting = Weighting::new(view, window, params.decay, params.rarity);
        Citation { view, params, window, seed, weighting, corrections }
    }

    /// Builds batch `number` of an epoch; empty behind the last.
    fn build(&self, order: &Order, epoch: usize, number: usize, batch: &mut Batch, scratch: &mut Numbering) {
        batch.clear();
        let start = (number * self.params.batch).min(self.view.links.len());
        let end = (start + self.params.batch).min(self.view.links.len());
        let view = self.view;
        let first = view.words.len() as u32;
        for place in start..end {
            let Example { position, target } = view.links[order.at(place)];
            let position = position as usize;
            let (mut total, mut words) = (0.0f32, 0);
            view.context(position, self.window, |word, distance| {
                let weight = self.weighting.of(word, distance);
                total += weight;
                words += 1;
                batch.input(word, weight);
            });
            let source = view.document_row(view.corpus.position(position).source);
            if let Some(source) = source {
                let weight = if words == 0 || total == 0.0 { 1.0 } else { total / words as f32 };
                total += weight;
                batch.input(source, weight);
            }
            if total > 0.0 {
                batch.open_weights().iter_mut().for_each(|weight| *weight /= total);
            }
            batch.finish_example(target);
        }
        let mut rng = Rng::keyed(self.seed, &[PHASE, epoch as u64, number as u64]);
        let documents = view.documents.len();
        let noise: Vec<u32> =
            (0..self.params.noise.min(documents)).map(|_| first + rng.below(documents) as u32).collect();
        batch.index(&noise, |column| self.corrections[(column - first) as usize], scratch);
    }
}

impl Phase for Citation<'_> {
    fn name(&self) -> &'static str {
        "citation"
    }

    fn unit(&self) -> &'static str {
        "links"
    }

    fn epochs(&self) -> usize {
        self.params.epochs
    }

    fn batches(&self) -> usize {
        self.view.links.len().div_ceil(self.params.batch)
    }

    fn epoch(&self, epoch: usize, start: usize, tables: &mut Tables, after: After<'_>) -> ControlFlow<()> {
        let order = Order::keyed(self.view.links.len(), self.seed, &[PHASE, epoch as u64]);
        let steps = (self.params.epochs * self.batches()) as f32;
        let (mut current, mut next) = (Batch::default(), Batch::default());
        let mut scratch = Numbering::new(self.view.rows());
        let mut work = Workspace::default();
        self.build(&order, epoch, start, &mut current, &mut scratch);
        for number in start..self.batches() {
            let done = (epoch * self.batches() + number) as f32;
            let rate = self.params.rate * (1.0 - done / steps);
            let (loss, ()) = rayon::join(
                || softmax_step(&current, tables, rate, &mut work),
                || self.build(&order, epoch, number + 1, &mut next, &mut scratch),
            );
            let done = Done { batches: number + 1, units: current.len() as u64, loss };
            after(&done, tables)?;
            std::mem::swap(&mut current, &mut next);
        }
        ControlFlow::Continue(())
    }
}
