//! How much a word counts: by its distance from the link, by its rarity, by its frequency.
//!
//! Training, questions, the search index and evaluations all weigh words by the rules of this file; which words there are
//! to weigh, [`crate::corpus::window`] tells.

use crate::corpus::view::View;
use crate::corpus::window::NearWord;
use crate::id::WordRow;
use crate::kernel::{exp, ln};
use crate::model::params::TrainParams;

/// How words around a link weigh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightRule {
    /// A word this far from the link weighs 1/e of one that touches it; 0: the distance does not matter.
    pub decay: f32,
    /// Whether rare words weigh more.
    pub rarity: bool,
}

impl WeightRule {
    /// All words weigh the same.
    pub const EVEN: WeightRule = WeightRule { decay: 0.0, rarity: false };

    /// The rule that a model is trained by, and asked by.
    pub fn of(params: &TrainParams) -> WeightRule {
        let (decay, rarity) = (params.citation.decay, params.citation.rarity);
        if params.method.weighs_words() { WeightRule { decay, rarity } } else { WeightRule::EVEN }
    }

    /// The weight of a distance: `exp(−distance/decay)`.
    pub fn by_distance(self, distance: usize) -> f32 {
        if self.decay > 0.0 { exp(-(distance as f32) / self.decay) } else { 1.0 }
    }

    /// The weight of a word that stands in `found` of the documents: see [`rarity`].
    pub fn by_rarity(self, found: u64, documents: usize) -> f32 {
        if self.rarity { rarity(found, documents) } else { 1.0 }
    }

    /// The weight of a word that stands in `found` of the documents, at a distance from the link.
    pub fn weight(self, distance: usize, found: u64, documents: usize) -> f32 {
        self.by_distance(distance) * self.by_rarity(found, documents)
    }
}

/// The rarity of a word that stands in `found` of the documents: `ln((documents + 1)/found)`.
pub fn rarity(found: u64, documents: usize) -> f32 {
    ln((documents as f32 + 1.0) / found as f32)
}

/// Makes weights add up to 1. Where all are 0, they become even.
pub fn normalise(weights: &mut [f32]) {
    let total: f32 = weights.iter().sum();
    if total > 0.0 {
        weights.iter_mut().for_each(|weight| *weight /= total);
    } else {
        weights.fill(1.0 / weights.len().max(1) as f32);
    }
}

/// The weights of a rule for the words of a view, looked up rather than computed.
#[derive(Debug, Clone)]
pub struct Weighting {
    /// By the distance from the link.
    pub(crate) by_distance: Vec<f32>,
    /// By the row of the word.
    pub(crate) by_word: Vec<f32>,
}

impl Weighting {
    /// Weights for the words of `view` up to `window` from the link.
    pub fn new(view: &View<'_>, window: usize, rule: WeightRule) -> Weighting {
        let by_distance = (0..window.max(1)).map(|distance| rule.by_distance(distance)).collect();
        let by_word = |&found: &u64| rule.by_rarity(found, view.documents.len());
        Weighting { by_distance, by_word: view.document_counts.iter().map(by_word).collect() }
    }

    /// The weight of a word of a window.
    #[inline]
    pub fn of(&self, word: NearWord) -> f32 {
        self.by_distance[word.near.min(self.by_distance.len() - 1)] * self.by_word[word.row.index()]
    }

    /// The weights of the words of a window, which add up to 1.
    pub fn of_window(&self, words: &[NearWord]) -> Vec<f32> {
        let mut weights: Vec<f32> = words.iter().map(|&word| self.of(word)).collect();
        normalise(&mut weights);
        weights
    }

    /// The weights of the words of a whole text, which add up to 1: by rarity alone.
    pub fn of_text(&self, words: &[WordRow]) -> Vec<f32> {
        let mut weights: Vec<f32> = words.iter().map(|word| self.by_word[word.index()]).collect();
        normalise(&mut weights);
        weights
    }
}

/// How often the search index counts the words around a link; it counts words of a document's own text once.
#[derive(Debug, Clone)]
pub struct ContextCounts(Vec<usize>);

/// How often it counts a word that touches the link.
const BESIDE: f32 = 4.0;

impl ContextCounts {
    /// For up to `window` words on each side, known or not: less by `decay` the further away they stand, down to not at
    /// all.
    pub fn new(window: usize, decay: f32) -> ContextCounts {
        let rule = WeightRule { decay, rarity: false };
        let counts = (0..window).map(|distance| (BESIDE * rule.by_distance(distance)).round() as usize);
        ContextCounts(counts.take_while(|&count| count > 0).collect())
    }

    /// How many words on each side count.
    pub fn reach(&self) -> usize {
        self.0.len()
    }

    /// Calls `tell` for each word around a link that stands between `before` and `after`, as often as it counts.
    pub fn tell<T: Copy>(&self, before: &[T], after: &[T], mut tell: impl FnMut(T)) {
        for (&word, &count) in before.iter().rev().zip(&self.0).chain(after.iter().zip(&self.0)) {
            (0..count).for_each(|_| tell(word));
        }
    }
}

/// The chance to keep each word where frequent ones are thinned out: `(√(c/t) + 1) · t/c` with `t = sample · total`
/// for a word that occurs c times; 1 for all if `sample` is 0.
///
/// Of 1000 words in all, with `sample` 0.01: t = 10, so that a word of count 40 is kept with chance (2 + 1)/4, one of
/// count 20 with (√2 + 1)/2, that is always.
pub fn keep_chances(counts: &[u64], sample: f64) -> Vec<f32> {
    let limit = sample * counts.iter().sum::<u64>() as f64;
    let chance = |&count: &u64| {
        let share = count as f64 / limit;
        if limit > 0.0 && count > 0 { ((share.sqrt() + 1.0) / share).min(1.0) as f32 } else { 1.0 }
    };
    counts.iter().map(chance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_to_keep_a_word_by_hand() {
        let chances = keep_chances(&[40, 20, 940], 0.01);
        assert_eq!(chances[..2], [0.75, 1.0]);
        assert!((chances[2] - (94f32.sqrt() + 1.0) / 94.0).abs() < 1e-6);
        assert_eq!(keep_chances(&[40, 0], 0.0), [1.0, 1.0]);
        assert_eq!(keep_chances(&[0, 0], 0.1), [1.0, 1.0]);
    }

    #[test]
    fn words_weigh_by_distance_and_rarity_by_hand() {
        let rule = WeightRule { decay: 2.0, rarity: true };
        // e^−1 · ln(8/2)
        assert!((rule.weight(2, 2, 7) - 0.367_879_44 * 1.386_294_4).abs() < 1e-6);
        assert_eq!(WeightRule::EVEN.weight(9, 2, 7), 1.0);
        let mut weights = [1.0, 3.0];
        normalise(&mut weights);
        assert_eq!(weights, [0.25, 0.75]);
        let mut none = [0.0, 0.0];
        normalise(&mut none);
        assert_eq!(none, [0.5, 0.5], "all weigh the same where none weighs anything");
    }

    #[test]
    fn the_index_counts_near_words_more_often() {
        // 4 e^(−distance/2), rounded: 4, 2.4, 1.5, 0.9, 0.5, 0.3.
        let counts = ContextCounts::new(50, 2.0);
        assert_eq!(counts.reach(), 5);
        let mut told = Vec::new();
        counts.tell(&[7, 8], &[9], |word| told.push(word));
        assert_eq!(told, [8, 8, 8, 8, 7, 7, 9, 9, 9, 9]);
    }
}
