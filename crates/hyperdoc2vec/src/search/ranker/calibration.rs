//! Probabilities that hold: what the score of a first hit has to be read as.
//!
//! The first hit is the one whose score is most likely too high, so trees that are right on all candidates are too sure of
//! it. A line through the logarithms of the odds, fitted to first hits for links that the trees have not seen (Platt
//! scaling), mends that. Where there are few such links it stays near the scores themselves.

use serde_json::{Value, json};

use crate::kernel::{exp, ln, sigmoid};

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

/// Makes shares of the probabilities of the best hits for one link, which leads to one of them or to none: a conditional
/// logit, `odds^slope` of each by their sum and that of none.
///
/// The probability of a hit does not know of the others. Where a link is known to stand, one hit that is far more probable
/// than all others is nearly sure, however improbable each is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    slope: f32,
    /// The logarithm of what stands for none of the hits.
    none: f32,
}

/// With fewer links than this, shares are not learnt.
const LINKS_FOR_SHARES: usize = 50;

impl Default for Shares {
    /// Held best on drafts of the Python enhancement proposals, with models that had not learnt their own: expected errors of
    /// 0.029, and of 0.051 and 0.059 with slopes of 1 and 2.
    fn default() -> Shares {
        Shares { slope: 1.5, none: -4.0 }
    }
}

impl Shares {
    /// So many of the best hits share the probability.
    pub const HITS: usize = 8;

    /// Finds the likeliest of a grid for the best hits of links, with whether each was right.
    pub fn fit(links: &[Vec<(f32, bool)>]) -> Shares {
        if links.len() < LINKS_FOR_SHARES {
            return Shares::default();
        }
        let grid = (2..=12).flat_map(|slope| (-20..=4).map(move |none| (slope as f32 / 4.0, none as f32 / 2.0)));
        let tried = grid.map(|(slope, none)| Shares { slope, none });
        let scored =
            tried.map(|shares| (links.iter().map(|hits| f64::from(shares.likelihood(hits))).sum::<f64>(), shares));
        scored.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(Shares::default(), |(_, shares)| shares)
    }

    /// The logarithm of the share of the right hits, or of none where no hit is right.
    fn likelihood(self, hits: &[(f32, bool)]) -> f32 {
        let shares = self.of(&hits.iter().map(|hit| hit.0).collect::<Vec<f32>>());
        let sum =
            |all: bool| shares.iter().zip(hits).filter(|(_, hit)| all || hit.1).map(|(share, _)| share).sum::<f32>();
        let share = if hits.iter().any(|hit| hit.1) { sum(false) } else { 1.0 - sum(true) };
        ln(share.max(1e-6))
    }

    /// The shares of hits with these probabilities.
    pub fn of(self, probabilities: &[f32]) -> Vec<f32> {
        let weight = |&probability: &f32| {
            let probability = probability.clamp(1e-6, 1.0 - 1e-6);
            exp(self.slope * ln(probability / (1.0 - probability)))
        };
        let weights: Vec<f32> = probabilities.iter().map(weight).collect();
        let total = exp(self.none) + weights.iter().sum::<f32>();
        weights.into_iter().map(|weight| weight / total).collect()
    }

    /// As a description has it.
    pub fn json(self) -> Value {
        json!([self.slope, self.none])
    }

    /// From a description; what held elsewhere where it has none.
    pub fn read(value: &Value) -> Shares {
        let number = |place: usize| value[place].as_f64().map(|number| number as f32);
        match (number(0), number(1)) {
            (Some(slope), Some(none)) => Shares { slope, none },
            _ => Shares::default(),
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
    fn hits_share_the_probability_of_a_link_by_hand() {
        // Odds of 1, of 1/4, and of 1/4 for none.
        let shares = Shares { slope: 1.0, none: -ln(4.0) };
        let found = shares.of(&[0.5, 0.2]);
        assert!((found[0] - 2.0 / 3.0).abs() < 1e-5 && (found[1] - 1.0 / 6.0).abs() < 1e-5, "{found:?}");
        assert_eq!(Shares::read(&shares.json()), shares);
        assert_eq!(Shares::read(&Value::Null), Shares::default());
        assert_eq!(Shares::fit(&[]), Shares::default());
    }

    #[test]
    fn shares_are_learnt_from_what_was_right() {
        // Odds of 1 and of 1/4; the first is right in eight of nine cases: its share is 16 times that of the second with a
        // slope of 2, which leaves 1/17 for that, and 1/18 for none.
        let links: Vec<Vec<(f32, bool)>> =
            (0..1800).map(|number| vec![(0.5, number < 1600), (0.2, (1600..1700).contains(&number))]).collect();
        let found = Shares::fit(&links).of(&[0.5, 0.2]);
        assert!((found[0] - 8.0 / 9.0).abs() < 0.02 && (found[1] - 1.0 / 18.0).abs() < 0.02, "{found:?}");
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
