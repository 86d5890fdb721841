//! Random draws in proportion to weights.
//!
//! Ours, as the generator is: the draws are part of what a seed promises.

use crate::rng::Rng;

/// Draws numbers from 0 with chances in proportion to given weights, in constant time (the alias method).
#[derive(Debug, Clone)]
pub struct AliasTable {
    /// For each number, below which of 2³² it stays, and what it gives way to otherwise.
    slots: Vec<(u32, u32)>,
}

impl AliasTable {
    /// Chances in proportion to `counts^0.75`.
    pub fn smoothed(counts: &[u64]) -> AliasTable {
        // The root of a number times the root of the root: exact roots, so the same bits on every machine.
        let weight = |&count: &u64| {
            let root = (count as f64).sqrt();
            root * root.sqrt()
        };
        AliasTable::new(counts.iter().map(weight).collect())
    }

    /// Chances in proportion to `weights`; even ones if all are 0.
    pub fn new(mut weights: Vec<f64>) -> AliasTable {
        let total: f64 = weights.iter().sum();
        let scale = if total > 0.0 { weights.len() as f64 / total } else { 0.0 };
        weights.iter_mut().for_each(|weight| *weight = if total > 0.0 { *weight * scale } else { 1.0 });
        // A number that has more than its even share fills up one that has less, until none has more.
        let mut slots: Vec<(u32, u32)> = (0..weights.len() as u32).map(|number| (u32::MAX, number)).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..weights.len()).partition(|&i| weights[i] < 1.0);
        while let (Some(&donor), Some(receiver)) = (large.last(), small.pop()) {
            slots[receiver] = ((weights[receiver] * 4_294_967_296.0) as u32, donor as u32);
            weights[donor] -= 1.0 - weights[receiver];
            if weights[donor] < 1.0 {
                large.pop();
                small.push(donor);
            }
        }
        AliasTable { slots }
    }

    /// A number; 0 if there are no weights.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u32 {
        let bits = rng.bits();
        let number = ((bits >> 32) * self.slots.len() as u64) >> 32;
        match self.slots.get(number as usize) {
            Some(&(limit, other)) => {
                if (bits as u32) < limit {
                    number as u32
                } else {
                    other
                }
            }
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_weights() {
        let counts = [0, 16, 1, 81, 0, 256];
        let table = AliasTable::smoothed(&counts);
        let mut rng = Rng::keyed(1, &[]);
        let mut seen = [0u32; 6];
        (0..100_000).for_each(|_| seen[table.draw(&mut rng) as usize] += 1);
        for (number, weight) in [0.0, 8.0, 1.0, 27.0, 0.0, 64.0].into_iter().enumerate() {
            let drawn = f64::from(seen[number]) / 1000.0;
            assert!((drawn - weight).abs() <= 0.05 * weight + if weight > 0.0 { 0.1 } else { 0.0 }, "{seen:?}");
        }
        assert_eq!(AliasTable::new(vec![]).draw(&mut rng), 0);
        assert!((0..9).map(|_| AliasTable::new(vec![0.0; 3]).draw(&mut rng)).max() == Some(2));
    }
}
