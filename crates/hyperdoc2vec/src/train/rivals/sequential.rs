//! Shared by the phases that learn example by example, each example seeing the vectors that the one before it left.

use crate::kernel::{LabelledRows, OutOfRange, Step, learn};
use crate::model::tables::Tables;

/// A learning rate that falls in a straight line from `first` to `last` as `done` goes from 0 to `total`.
pub(crate) fn falling(first: f32, last: f32, done: u64, total: u64) -> f32 {
    let way = (done as f64 / total.max(1) as f64).min(1.0) as f32;
    first + (last - first) * way
}

/// Takes steps on tables, keeping its memory from example to example.
pub(crate) struct Learner {
    step: Step,
    labels: Vec<f32>,
    scratch: Vec<f32>,
}

impl Learner {
    /// For examples of one target and up to `noise` noise rows on tables like `tables`.
    pub(crate) fn new(noise: usize, beyond: OutOfRange, divide: bool, tables: &Tables) -> Learner {
        let mut labels = vec![0.0; noise + 1];
        labels[0] = 1.0;
        Learner { step: Step { rate: 0.0, beyond, divide }, labels, scratch: vec![0.0; 2 * tables.input.stride()] }
    }

    /// The mean of the rows `inputs` is to predict the first of the rows `outputs` and none of the others; returns the
    /// loss.
    #[inline]
    pub(crate) fn learn(&mut self, rate: f32, inputs: &[u32], outputs: &[u32], tables: &mut Tables) -> f64 {
        let step = Step { rate, ..self.step };
        let Tables { input, output } = tables;
        let example = LabelledRows { inputs, outputs, labels: &self.labels };
        learn(step, example, input.matrix_mut(), output.matrix_mut(), &mut self.scratch)
    }

    /// The mean of the rows `inputs` is to predict each of the rows `outputs` as its label has it; returns the loss.
    pub(crate) fn learn_labelled(
        &mut self,
        rate: f32,
        inputs: &[u32],
        outputs: &[u32],
        labels: &[f32],
        tables: &mut Tables,
    ) -> f64 {
        let step = Step { rate, ..self.step };
        let Tables { input, output } = tables;
        let example = LabelledRows { inputs, outputs, labels };
        learn(step, example, input.matrix_mut(), output.matrix_mut(), &mut self.scratch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_learning_rate_falls_in_a_straight_line() {
        assert_eq!([0, 5, 10, 11].map(|done| falling(1.0, 0.5, done, 10)), [1.0, 0.75, 0.5, 0.5]);
        assert_eq!(falling(1.0, 0.5, 0, 0), 1.0);
    }
}
