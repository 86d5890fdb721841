//! What the phases share that learn example by example, each example seeing what the one before it did.

use super::Tables;
use super::table::Table;
use crate::kernel::{Beyond, MatrixMut, Step, learn};
use crate::rng::Rng;

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

/// A step size that falls in a straight line from `first` to `last` as `done` goes from 0 to `total`.
pub fn falling(first: f32, last: f32, done: u64, total: u64) -> f32 {
    let way = (done as f64 / total.max(1) as f64).min(1.0) as f32;
    first + (last - first) * way
}

/// Takes steps on tables, keeping its memory from example to example.
pub struct Learner {
    step: Step,
    labels: Vec<f32>,
    scratch: Vec<f32>,
}

impl Learner {
    /// For examples of one target and up to `noise` noise rows on tables like `tables`.
    pub fn new(noise: usize, beyond: Beyond, divide: bool, tables: &Tables) -> Learner {
        let mut labels = vec![0.0; noise + 1];
        labels[0] = 1.0;
        Learner { step: Step { rate: 0.0, beyond, divide }, labels, scratch: vec![0.0; 2 * tables.input.stride()] }
    }

    /// The mean of the rows `inputs` is to predict the first of the rows `outputs` and none of the others; returns the
    /// loss.
    #[inline]
    pub fn learn(&mut self, rate: f32, inputs: &[u32], outputs: &[u32], tables: &mut Tables) -> f64 {
        let step = Step { rate, ..self.step };
        let Tables { input, output } = tables;
        learn(step, inputs, outputs, &self.labels, matrix_mut(input), matrix_mut(output), &mut self.scratch)
    }

    /// The same where each of the rows `outputs` has its own label.
    pub fn learn_labelled(
        &mut self,
        rate: f32,
        inputs: &[u32],
        outputs: &[u32],
        labels: &[f32],
        tables: &mut Tables,
    ) -> f64 {
        let step = Step { rate, ..self.step };
        let Tables { input, output } = tables;
        learn(step, inputs, outputs, labels, matrix_mut(input), matrix_mut(output), &mut self.scratch)
    }
}

fn matrix_mut(table: &mut Table) -> MatrixMut<'_> {
    let (rows, stride) = (table.rows(), table.stride());
    MatrixMut::new(table.data_mut(), rows, stride, stride)
}

/// Draws numbers from 0 with chances in proportion to given weights, in constant time (the alias method).
#[derive(Debug, Clone)]
pub struct Lottery {
    /// For each number, below which of 2³² it stays, and what it gives way to otherwise.
    tickets: Vec<(u32, u32)>,
}

impl Lottery {
    /// Chances in proportion to `counts^0.75`.
    pub fn smoothed(counts: &[u64]) -> Lottery {
        // The root of a number times the root of the root: exact roots, so the same bits on every machine.
        let weight = |&count: &u64| {
            let root = (count as f64).sqrt();
            root * root.sqrt()
        };
        Lottery::new(counts.iter().map(weight).collect())
    }

    /// Chances in proportion to `weights`; even ones if all are 0.
    pub fn new(mut weights: Vec<f64>) -> Lottery {
        let total: f64 = weights.iter().sum();
        let scale = if total > 0.0 { weights.len() as f64 / total } else { 0.0 };
        weights.iter_mut().for_each(|weight| *weight = if total > 0.0 { *weight * scale } else { 1.0 });
        // A number that has more than its even share fills up one that has less, until none has more.
        let mut tickets: Vec<(u32, u32)> = (0..weights.len() as u32).map(|number| (u32::MAX, number)).collect();
        let (mut poor, mut rich): (Vec<usize>, Vec<usize>) = (0..weights.len()).partition(|&i| weights[i] < 1.0);
        while let (Some(&giver), Some(taker)) = (rich.last(), poor.pop()) {
            tickets[taker] = ((weights[taker] * 4_294_967_296.0) as u32, giver as u32);
            weights[giver] -= 1.0 - weights[taker];
            if weights[giver] < 1.0 {
                rich.pop();
                poor.push(giver);
            }
        }
        Lottery { tickets }
    }

    /// A number; 0 if there are no weights.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> u32 {
        let bits = rng.bits();
        let number = ((bits >> 32) * self.tickets.len() as u64) >> 32;
        match self.tickets.get(number as usize) {
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

/// Items by group, each group's in the order they came.
#[derive(Debug, Clone)]
pub struct Groups {
    ends: Vec<usize>,
    items: Vec<u32>,
}

impl Groups {
    /// `groups` groups of the given pairs (group, item).
    pub fn new(groups: usize, pairs: impl Iterator<Item = (usize, u32)> + Clone) -> Groups {
        let mut ends = vec![0; groups + 1];
        pairs.clone().for_each(|(group, _)| ends[group + 1] += 1);
        for group in 0..groups {
            ends[group + 1] += ends[group];
        }
        let mut items = vec![0; ends[groups]];
        for (group, item) in pairs {
            items[ends[group]] = item;
            ends[group] += 1;
        }
        // Each start has moved to its end.
        ends.pop();
        Groups { ends, items }
    }

    /// The items of a group.
    pub fn of(&self, group: usize) -> &[u32] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        &self.items[start..self.ends[group]]
    }
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
    fn the_step_size_falls_in_a_straight_line() {
        assert_eq!([0, 5, 10, 11].map(|done| falling(1.0, 0.5, done, 10)), [1.0, 0.75, 0.5, 0.5]);
        assert_eq!(falling(1.0, 0.5, 0, 0), 1.0);
    }

    #[test]
    fn a_lottery_is_fair() {
        let counts = [0, 16, 1, 81, 0, 256];
        let lottery = Lottery::smoothed(&counts);
        let mut rng = Rng::keyed(1, &[]);
        let mut seen = [0u32; 6];
        (0..100_000).for_each(|_| seen[lottery.draw(&mut rng) as usize] += 1);
        for (number, weight) in [0.0, 8.0, 1.0, 27.0, 0.0, 64.0].into_iter().enumerate() {
            let drawn = f64::from(seen[number]) / 1000.0;
            assert!((drawn - weight).abs() <= 0.05 * weight + if weight > 0.0 { 0.1 } else { 0.0 }, "{seen:?}");
        }
        assert_eq!(Lottery::new(vec![]).draw(&mut rng), 0);
        assert!((0..9).map(|_| Lottery::new(vec![0.0; 3]).draw(&mut rng)).max() == Some(2));
    }

    #[test]
    fn items_are_grouped_in_their_order() {
        let groups = Groups::new(4, [(2, 5), (0, 1), (2, 3)].into_iter());
        assert_eq!([0, 1, 2, 3].map(|group| groups.of(group).to_vec()), [vec![1], vec![], vec![5, 3], vec![]]);
    }
}
