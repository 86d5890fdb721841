//! The measures that rankings and classifications are judged by.
//!
//! A question has some truths. Of a ranking only the places of the truths matter: `places` are those that were found,
//! counting from 1, rising; `truths` is how many there are, found or not. Ties are settled before, by whoever ranks. A
//! question without truths scores 0 everywhere: it should not be asked.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::error::unknown_name;

/// How average precision is divided.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default, Display, EnumString, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", parse_err_ty = String, parse_err_fn = unknown_profile)]
pub enum Profile {
    /// By the truths found, as in the paper.
    #[default]
    Paper,
    /// By all truths, as trec_eval does (`map_cut`).
    Trec,
}

fn unknown_profile(name: &str) -> String {
    unknown_name::<Profile>("a profile", name)
}

impl Profile {
    /// The name.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The places among the first `cut`.
fn places_up_to(places: &[u32], cut: usize) -> impl Iterator<Item = u32> {
    places.iter().copied().filter(move |&place| place > 0 && place as usize <= cut)
}

fn share(part: f64, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part / whole as f64 }
}

/// The share of the truths among the first `cut`.
///
/// Three truths, two found at places 2 and 11: 1/3 at 10, 2/3 at 11.
pub(crate) fn recall(places: &[u32], truths: usize, cut: usize) -> f64 {
    share(places_up_to(places, cut).count() as f64, truths)
}

/// The mean of the precision at the place of each truth among the first `cut`.
///
/// Three truths, found at 1 and 4: precisions 1/1 and 2/4. Over those found, (1 + 0.5)/2 = 0.75; over all three, 0.5.
pub(crate) fn average_precision(places: &[u32], truths: usize, cut: usize, profile: Profile) -> f64 {
    let (mut sum, mut found) = (0.0, 0);
    for place in places_up_to(places, cut) {
        found += 1;
        sum += f64::from(found) / f64::from(place);
    }
    share(sum, if profile == Profile::Paper { found as usize } else { truths })
}

/// One over the place of the first truth among the first `cut`, 0 if there is none.
pub(crate) fn reciprocal_rank(places: &[u32], cut: usize) -> f64 {
    places_up_to(places, cut).next().map_or(0.0, |place| 1.0 / f64::from(place))
}

/// Gains of 1/log₂(place + 1), over those of a ranking that has all truths first.
///
/// Two truths, found at 1 and 3: (1 + 1/2) / (1 + 1/log₂ 3) = 0.9197.
pub(crate) fn ndcg(places: &[u32], truths: usize, cut: usize) -> f64 {
    let gain = |place: u32| 1.0 / f64::from(place + 1).log2();
    let ideal: f64 = (1..=truths.min(cut) as u32).map(gain).sum();
    // Not sum: of nothing, that is −0.
    if ideal > 0.0 { places_up_to(places, cut).map(gain).fold(0.0, |sum, gain| sum + gain) / ideal } else { 0.0 }
}

/// How a classification did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct F1 {
    /// F1 of each class; `None` for one that is neither there nor predicted.
    pub classes: Vec<Option<f64>>,
    /// Their mean.
    pub macro_f1: f64,
    /// Of all decisions together: with one class each, the share that is right.
    pub micro_f1: f64,
}

/// F1 of predictions, classes being numbers below `classes`.
///
/// Truths 0 0 1 1 2, predictions 0 1 1 1 1: class 0 has precision 1, recall ½, F1 ⅔; class 1 precision ½, recall 1,
/// F1 ⅔; class 2 was never predicted, F1 0. Macro 4/9, micro 3/5.
pub(crate) fn f1(truths: &[u32], predictions: &[u32], classes: usize) -> F1 {
    let mut counts = vec![(0usize, 0usize, 0usize); classes];
    for (&truth, &prediction) in truths.iter().zip(predictions) {
        if let Some(count) = counts.get_mut(truth as usize) {
            count.0 += 1;
            count.2 += usize::from(truth == prediction);
        }
        if let Some(count) = counts.get_mut(prediction as usize) {
            count.1 += 1;
        }
    }
    // 2PR/(P + R) = 2 right / (there + predicted)
    let of = |&(there, predicted, right): &(usize, usize, usize)| {
        (there + predicted > 0).then(|| 2.0 * right as f64 / (there + predicted) as f64)
    };
    let by_class: Vec<Option<f64>> = counts.iter().map(of).collect();
    let seen: Vec<f64> = by_class.iter().flatten().copied().collect();
    let right = truths.iter().zip(predictions).filter(|(truth, prediction)| truth == prediction).count();
    F1 {
        macro_f1: share(seen.iter().sum(), seen.len()),
        micro_f1: share(right as f64, truths.len()),
        classes: by_class,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn recall_counts_what_is_found_of_what_is_true() {
        assert!(near(recall(&[2, 11], 3, 10), 1.0 / 3.0) && near(recall(&[2, 11], 3, 11), 2.0 / 3.0));
        assert_eq!(recall(&[10], 1, 10), 1.0, "the last place counts");
        assert_eq!([recall(&[], 2, 10), recall(&[1], 0, 10), recall(&[1], 1, 0)], [0.0; 3]);
    }

    #[test]
    fn average_precision_divides_by_those_found_or_by_all() {
        assert!(near(average_precision(&[1, 4], 3, 10, Profile::Paper), 0.75));
        assert!(near(average_precision(&[1, 4], 3, 10, Profile::Trec), 0.5));
        // The truth at place 11 is not found.
        assert!(near(average_precision(&[2, 11], 2, 10, Profile::Paper), 0.5));
        assert!(near(average_precision(&[2, 11], 2, 10, Profile::Trec), 0.25));
        for &profile in Profile::VARIANTS {
            assert_eq!(average_precision(&[], 2, 10, profile), 0.0);
            assert_eq!(average_precision(&[], 0, 10, profile), 0.0);
        }
    }

    #[test]
    fn the_first_truth_makes_the_reciprocal_rank() {
        assert_eq!(reciprocal_rank(&[4, 5], 10), 0.25);
        assert_eq!([reciprocal_rank(&[11], 10), reciprocal_rank(&[], 10)], [0.0, 0.0]);
    }

    #[test]
    fn gains_fall_with_the_logarithm_of_the_place() {
        assert!(near(ndcg(&[1, 3], 2, 10), 1.5 / (1.0 + 1.0 / 3f64.log2())));
        assert!(near(ndcg(&[1, 2], 2, 10), 1.0), "nothing is better than all truths first");
        // Twelve truths, ten of them first: no ranking of ten could do better.
        let places: Vec<u32> = (1..=10).collect();
        assert!(near(ndcg(&places, 12, 10), 1.0));
        assert_eq!([ndcg(&[], 1, 10), ndcg(&[1], 0, 10)].map(f64::to_bits), [0, 0], "no −0");
    }

    #[test]
    fn f1_by_hand() {
        let f1 = f1(&[0, 0, 1, 1, 2], &[0, 1, 1, 1, 1], 4);
        let expected = [Some(2.0 / 3.0), Some(2.0 / 3.0), Some(0.0), None];
        assert_eq!(f1.classes, expected);
        assert!(near(f1.macro_f1, 4.0 / 9.0) && near(f1.micro_f1, 0.6));
        let none = super::f1(&[], &[], 2);
        assert_eq!((none.macro_f1, none.micro_f1), (0.0, 0.0));
    }
}
