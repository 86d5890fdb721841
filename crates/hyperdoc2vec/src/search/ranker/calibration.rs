//! Probabilities that hold: what the score of a first hit has to be read as.
//!
//! The first hit is the one whose score is most likely too high, so trees that are right on all candidates are too sure of
//! it. A line through the logarithms of the odds, fitted to first hits for links that the trees have not seen (Platt
//! scaling), mends that. Where there are few such links it stays near the scores themselves.

use serde_json::{Value, json};

use crate::kernel::sigmoid;

/// First hits for links held out while learning, of about the same probability: how well that held.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CalibrationBin {
    /// How many.
    pub count: f64,
    /// The sum of their probabilities.
    pub predicted: f64,
    /// How many were right.
    pub right: f64,
}

impl CalibrationBin {
    /// Adds a hit of this weight.
    pub fn add(&mut self, weight: f64, probability: f32, right: bool) {
        self.count += weight;
        self.predicted += weight * f64::from(probability);
        self.right += if right { weight } else { 0.0 };
    }
}

/// The mean distance of what was said of a bin and what is true of it: the expected calibration error.
pub fn expected_error(bins: &[CalibrationBin]) -> f64 {
    let count: f64 = bins.iter().map(|bin| bin.count).sum();
    bins.iter().map(|bin| (bin.predicted - bin.right).abs()).sum::<f64>() / count.max(1.0)
}

/// Bins as the description of a model has them.
pub fn bins_json(bins: &[CalibrationBin]) -> Value {
    let bin = |bin: &CalibrationBin| {
        let mean = |sum: f64| (sum / bin.count.max(1.0) * 1e4).round() / 1e4;
        json!({"candidates": bin.count.round(), "predicted": mean(bin.predicted), "observed": mean(bin.right)})
    };
    bins.iter().map(bin).collect()
}

/// So many first hits, of even odds, weigh as much as what is believed before any is seen: that scores are right.
const PRIOR_HITS: f64 = 100.0;

/// Makes probabilities of scores: `σ(slope · score + intercept)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    slope: f32,
    intercept: f32,
}

impl Default for Scale {
    /// Scores as they are.
    fn default() -> Scale {
        Scale { slope: 1.0, intercept: 0.0 }
    }
}

impl Scale {
    /// Fits the scores of first hits to whether they were right, by Newton's method.
    pub fn fit(firsts: &[(f32, bool)]) -> Scale {
        let prior = PRIOR_HITS / 4.0;
        let (mut slope, mut intercept) = (1.0f64, 0.0f64);
        for _ in 0..20 {
            let (mut gradient, mut hessian) = ([prior * (1.0 - slope), -prior * intercept], [prior, 0.0, prior]);
            for &(score, right) in firsts {
                let score = f64::from(score);
                let said = f64::from(sigmoid((slope * score + intercept) as f32));
                let (error, spread) = (f64::from(u8::from(right)) - said, said * (1.0 - said));
                gradient = [gradient[0] + error * score, gradient[1] + error];
                hessian = [hessian[0] + spread * score * score, hessian[1] + spread * score, hessian[2] + spread];
            }
            let determinant = hessian[0] * hessian[2] - hessian[1] * hessian[1];
            slope += (hessian[2] * gradient[0] - hessian[1] * gradient[1]) / determinant;
            intercept += (hessian[0] * gradient[1] - hessian[1] * gradient[0]) / determinant;
        }
        let scale = Scale { slope: slope as f32, intercept: intercept as f32 };
        // Nothing may turn the order round.
        if slope.is_finite() && intercept.is_finite() && slope > 0.1 { scale } else { Scale::default() }
    }

    /// Fits as [`Scale::fit`] does, where this scale is what is believed before any hit is seen.
    pub fn refit(self, firsts: &[(f32, bool)]) -> Scale {
        let scaled: Vec<(f32, bool)> =
            firsts.iter().map(|&(score, right)| (self.slope * score + self.intercept, right)).collect();
        let Scale { slope, intercept } = Scale::fit(&scaled);
        Scale { slope: slope * self.slope, intercept: slope * self.intercept + intercept }
    }

    /// The probability that a score means.
    pub fn probability(self, score: f32) -> f32 {
        sigmoid(self.slope * score + self.intercept)
    }

    /// As a description has it.
    pub fn json(self) -> Value {
        json!([self.slope, self.intercept])
    }

    /// From a description; scores as they are where it has none.
    pub fn read(value: &Value) -> Scale {
        let number = |place: usize| value[place].as_f64().map(|number| number as f32);
        match (number(0), number(1)) {
            (Some(slope), Some(intercept)) => Scale { slope, intercept },
            _ => Scale::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ln;

    /// `count` hits of a score, of which `right` were.
    fn hits(score: f32, count: usize, right: usize) -> Vec<(f32, bool)> {
        (0..count).map(|number| (score, number < right)).collect()
    }

    #[test]
    fn trees_that_are_too_sure_are_taken_at_half() {
        // Odds of 4 and of 1/4 that are 2 and 1/2: the slope is 1/2.
        let logarithm = ln(4.0);
        let found: Vec<_> = [hits(logarithm, 60_000, 40_000), hits(-logarithm, 60_000, 20_000)].concat();
        let scale = Scale::fit(&found);
        assert!((scale.probability(logarithm) - 2.0 / 3.0).abs() < 0.002, "{scale:?}");
        assert!((scale.probability(-logarithm) - 1.0 / 3.0).abs() < 0.002, "{scale:?}");
    }

    #[test]
    fn few_hits_change_little() {
        assert_eq!(Scale::fit(&[]), Scale::default());
        let scale = Scale::fit(&hits(0.0, 5, 0));
        assert!((0.45..0.5).contains(&scale.probability(0.0)), "{scale:?}");
        assert_eq!(Scale::read(&scale.json()), scale);
        assert_eq!(Scale::read(&Value::Null), Scale::default());
    }

    #[test]
    fn the_expected_error_is_the_mean_distance_by_hand() {
        let mut bins = [CalibrationBin::default(); 10];
        // Three of 30 %, one right: 0.1 too much in sum. One of 90 %, right: 0.1 too little.
        (0..3).for_each(|number| bins[3].add(1.0, 0.3, number == 0));
        bins[9].add(1.0, 0.9, true);
        assert!((expected_error(&bins) - (0.1 + 0.1) / 4.0).abs() < 1e-6);
        assert_eq!(expected_error(&[]), 0.0);
    }
}
