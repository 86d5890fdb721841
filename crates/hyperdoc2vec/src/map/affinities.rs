//! Affinities: each document with its nearest neighbours, symmetric.

use rayon::prelude::*;

use crate::kernel::{Matrix, softmax};
use crate::search::Hit;
use crate::search::rank::top_batch;

/// Nearest neighbours of a document.
const NEIGHBOURS: usize = 30;
/// The perplexity of their weights: e to the entropy, how many of them count in effect.
const PERPLEXITY: f32 = 10.0;
/// Steps of the bisection that finds the bandwidth.
const BISECTIONS: usize = 40;

/// For each document, others with weights; as a matrix it is symmetric, and all of it sums to 1.
pub(super) struct Affinities {
    ends: Vec<usize>,
    entries: Vec<(u32, f32)>,
}

impl Affinities {
    /// The neighbours of a document and their weights.
    pub(super) fn of(&self, document: usize) -> &[(u32, f32)] {
        let start = if document == 0 { 0 } else { self.ends[document - 1] };
        &self.entries[start..self.ends[document]]
    }

    /// By the products of `rows`, which have length 1.
    pub(super) fn new(rows: Matrix<'_>) -> Affinities {
        let count = rows.rows();
        let hits = top_batch(rows, rows, NEIGHBOURS, |query, row| query != row);
        let weights: Vec<Vec<f32>> = hits.par_iter().map(|hits| weights(hits)).collect();
        // Each pair is entered at both of its ends; those that are entered twice then stand beside each other.
        let mut ends = vec![0usize; count];
        for (document, hits) in hits.iter().enumerate() {
            ends[document] += hits.len();
            hits.iter().for_each(|hit| ends[hit.row as usize] += 1);
        }
        let mut total = 0;
        for end in &mut ends {
            (total, *end) = (total + *end, total);
        }
        let mut entries = vec![(0u32, 0.0f32); total];
        let share = 0.5 / count.max(1) as f32;
        for ((document, hits), weights) in (0u32..).zip(&hits).zip(&weights) {
            for (hit, weight) in hits.iter().zip(weights) {
                for (from, to) in [(document, hit.row), (hit.row, document)] {
                    let place = &mut ends[from as usize];
                    entries[*place] = (to, weight * share);
                    *place += 1;
                }
            }
        }
        let mut near = Affinities { ends: Vec::with_capacity(count), entries: Vec::with_capacity(total) };
        let mut start = 0;
        for end in ends {
            entries[start..end].sort_by_key(|&(other, _)| other);
            for same in entries[start..end].chunk_by(|a, b| a.0 == b.0) {
                near.entries.push((same[0].0, same.iter().map(|(_, weight)| weight).sum()));
            }
            near.ends.push(near.entries.len());
            start = end;
        }
        near
    }
}

/// e to −b times the squared distance, summing to 1, with b such that [`PERPLEXITY`] of them count.
fn weights(hits: &[Hit]) -> Vec<f32> {
    let aim = PERPLEXITY.min((hits.len() as f32 / 3.0).max(1.0));
    let nearest = hits.first().map_or(0.0, |hit| hit.score);
    let far: Vec<f32> = hits.iter().map(|hit| 2.0 * (nearest - hit.score)).collect();
    let at = |b: f32| {
        let mut weights: Vec<f32> = far.iter().map(|far| -b * far).collect();
        let total = softmax(&mut weights);
        let mean: f32 = weights.iter().zip(&far).map(|(weight, far)| weight * far).sum();
        (weights, total + b * mean)
    };
    let aim = crate::kernel::ln(aim);
    let (mut low, mut high) = (0.0, 1e6f32);
    for _ in 0..BISECTIONS {
        // In the middle by ratio, as the right one may be 1 or 10,000.
        let middle = if low > 0.0 { (low * high).sqrt() } else { high / 1024.0 };
        let entropy = at(middle).1;
        if entropy > aim { low = middle } else { high = middle }
    }
    at(high).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_meant_count_however_far_they_are() {
        for scale in [1.0, 0.01] {
            let hits: Vec<Hit> = (0..30u8).map(|i| Hit { row: 0, score: 0.9 - scale * f32::from(i) / 40.0 }).collect();
            let weights = weights(&hits);
            let entropy: f32 = weights.iter().map(|&p| -p * p.max(1e-30).ln()).sum();
            assert!((entropy.exp() - PERPLEXITY).abs() < 0.1, "{scale}: {}", entropy.exp());
            assert!(weights.is_sorted_by(|a, b| a >= b));
        }
        // All equally far: all count.
        assert!(weights(&[Hit { row: 0, score: 0.5 }; 4]).iter().all(|&weight| (weight - 0.25).abs() < 1e-6));
        assert!(weights(&[]).is_empty());
    }

    #[test]
    fn nearness_is_mutual_and_sums_to_one() {
        let rows: Vec<f32> = (0..50u8)
            .flat_map(|i| {
                let a = f32::from(i) * 0.1;
                [a.cos(), a.sin()]
            })
            .collect();
        let near = Affinities::new(Matrix::new(&rows, 50, 2, 2));
        let mut sum = 0.0;
        for document in 0..50 {
            assert!(near.of(document).is_sorted_by(|a, b| a.0 < b.0));
            for &(other, weight) in near.of(document) {
                assert!(near.of(other as usize).contains(&(document as u32, weight)), "{document} {other}");
                sum += weight;
            }
        }
        assert!((sum - 1.0).abs() < 1e-4, "{sum}");
    }
}
