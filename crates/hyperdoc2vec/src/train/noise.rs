//! Noise words: drawn by their counts to some power.

use crate::kernel::{exp, ln};
use crate::rng::Rng;

/// Draws words with a chance that grows with their count to a power.
#[derive(Debug, Clone)]
pub struct WordNoise {
    /// Sums of the powers up to and including each word.
    sums: Vec<f64>,
}

impl WordNoise {
    /// For words with these counts; the usual power is 0.75.
    pub fn new(counts: &[u64], power: f32) -> WordNoise {
        let mut sum = 0.0;
        let add = |&count: &u64| {
            sum += f64::from(exp(power * ln(count as f32)));
            sum
        };
        WordNoise { sums: counts.iter().map(add).collect() }
    }

    /// Draws a word.
    pub fn draw(&self, rng: &mut Rng) -> u32 {
        let total = self.sums.last().copied().unwrap_or(0.0);
        let at = (rng.bits() >> 11) as f64 / (1u64 << 53) as f64 * total;
        (self.sums.partition_point(|&sum| sum <= at)).min(self.sums.len().saturating_sub(1)) as u32
    }
}

/// Chances to keep a word when frequent words are thinned out: `(√(c/t) + 1)·t/c`, t being `sample` of all words;
/// all 1 where `sample` is 0.
pub fn keep_chances(counts: &[u64], sample: f32) -> Vec<f32> {
    let total: u64 = counts.iter().sum();
    let threshold = f64::from(sample) * total as f64;
    let chance = |&count: &u64| {
        let share = count as f64 / threshold;
        if sample > 0.0 { ((share.sqrt() + 1.0) / share).min(1.0) as f32 } else { 1.0 }
    };
    counts.iter().map(chance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_drawn_by_their_counts_to_the_power() {
        let noise = WordNoise::new(&[16, 1, 1], 0.75);
        let mut rng = Rng::keyed(1, &[]);
        let mut seen = [0u32; 3];
        (0..100_000).for_each(|_| seen[noise.draw(&mut rng) as usize] += 1);
        // 16^0.75 = 8: shares 0.8, 0.1, 0.1
        assert!((79_000..81_000).contains(&seen[0]) && (9_500..10_500).contains(&seen[2]), "{seen:?}");
    }

    #[test]
    fn frequent_words_are_thinned_out() {
        // t = 0.1 · 100 = 10; c = 90: share 9, (3 + 1) / 9; c = 10: (1 + 1) / 1, so 1
        let chances = keep_chances(&[90, 10], 0.1);
        assert!((chances[0] - 4.0 / 9.0).abs() < 1e-6);
        assert_eq!(chances[1], 1.0);
        assert_eq!(keep_chances(&[90, 10], 0.0), [1.0, 1.0]);
    }
}
