//! How much a word counts: by its distance from the link, by its rarity, by its frequency.

use crate::corpus::view::View;
use crate::kernel::{exp, ln};

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
    /// By the distance from the link.
    pub(crate) by_distance: Vec<f32>,
    /// By the row of the word.
    pub(crate) by_word: Vec<f32>,
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
}
