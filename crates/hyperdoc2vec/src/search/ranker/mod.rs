//! The learnt ranking: boosted trees over the scores of a candidate by every other ranking, giving its probability.
//!
//! Candidates are the best of the single rankings. Two forests, one for texts whose source is not known, one for those
//! whose source is, learn from links held out while a model is trained: see [`crate::train::ranker`].

mod features;
pub(crate) mod forest;
mod source;

pub use features::{ALONE, Candidates, FEATURES, Scope, candidates};
use serde_json::{Value, json};
pub use source::LinkSource;

use crate::error::Result;
use crate::kernel::sigmoid;
use crate::model::{FOREST_ARRAYS, Model};
use crate::search::rank::Hit;
use crate::search::ranker::forest::{Forest, Samples};
use crate::search::{Query, Searcher};
use crate::storage::container::{Container, Tensor};

/// Candidates for links held out while learning, of about the same probability: how well that held.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CalibrationBin {
    /// Candidates.
    pub count: f64,
    /// The sum of their probabilities.
    pub predicted: f64,
    /// How many were right.
    pub right: f64,
}

/// The learnt ranking.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranker {
    /// For texts whose source is not known.
    pub alone: Forest,
    /// For those whose source is.
    pub sourced: Forest,
    /// How many links were learnt from, and how well probabilities held.
    pub about: Value,
}

/// Bins as the description of a model has them.
pub fn bins_json(bins: &[CalibrationBin]) -> Value {
    let bin = |bin: &CalibrationBin| {
        let mean = |sum: f64| (sum / bin.count.max(1.0) * 1e4).round() / 1e4;
        json!({"candidates": bin.count.round(), "predicted": mean(bin.predicted), "observed": mean(bin.right)})
    };
    bins.iter().map(bin).collect()
}

impl Ranker {
    /// The best `wanted` documents, by falling probability, and of equal ones by BM25 with the contexts; a
    /// hit's score is its probability. `None` where the model knows no word of the question.
    pub fn rank(
        &self,
        searcher: &Searcher<'_>,
        query: &Query,
        source: Option<&LinkSource>,
        wanted: usize,
        scope: Scope<'_>,
    ) -> Result<Option<Vec<Hit>>> {
        let candidates = candidates(searcher, query, source, scope)?;
        Ok(candidates.map(|candidates| self.order(&candidates, wanted)))
    }

    /// The best `wanted` of the candidates.
    pub fn order(&self, candidates: &Candidates, wanted: usize) -> Vec<Hit> {
        let forest = if candidates.width > ALONE { &self.sourced } else { &self.alone };
        let cited = FEATURES.iter().position(|&name| name == "cited").unwrap_or(0);
        let mut hits: Vec<(f32, f32, Hit)> = candidates
            .rows
            .iter()
            .enumerate()
            .map(|(place, &row)| {
                let features = candidates.row(place);
                let score = forest.score(features);
                (score, features[cited], Hit { row: row.0, score: sigmoid(score) })
            })
            .collect();
        hits.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.row.cmp(&b.2.row)));
        hits.into_iter().take(wanted).map(|(_, _, hit)| hit).collect()
    }

    /// Adds the probabilities of these samples to ten bins.
    pub fn check(forest: &Forest, samples: &Samples, bins: &mut Vec<CalibrationBin>) {
        bins.resize(10, CalibrationBin::default());
        for sample in 0..samples.len() {
            let probability = forest.probability(samples.row(sample));
            let bin = &mut bins[((probability * 10.0) as usize).min(9)];
            let weight = f64::from(samples.weights[sample]);
            bin.count += weight;
            bin.predicted += weight * f64::from(probability);
            bin.right += if samples.labels[sample] { weight } else { 0.0 };
        }
    }

    /// Its description in that of a model.
    pub fn about(&self) -> Value {
        json!({
            "features": FEATURES,
            "links": self.about["links"],
            "trees": [self.alone.trees(), self.sourced.trees()],
            "calibration": self.about["calibration"],
        })
    }

    /// Its arrays.
    pub fn tensors(&self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::new();
        for ([feature, number, child, roots], forest) in FOREST_ARRAYS.into_iter().zip([&self.alone, &self.sourced]) {
            tensors.push(Tensor::u32s(feature, &forest.feature));
            tensors.push(Tensor::floats(number, &forest.number));
            tensors.push(Tensor::u32s(child, &forest.child));
            tensors.push(Tensor::u32s(roots, &forest.roots));
        }
        tensors
    }

    /// The ranker of a model; `None` in a model that was made without, or with other features than this program knows.
    pub fn of(model: &Model) -> Option<Ranker> {
        Ranker::read(model.container())
    }

    /// Reads the ranker of a model or a checkpoint.
    pub(crate) fn read(container: &Container) -> Option<Ranker> {
        let about = &container.about()["hybrid"];
        if about["features"] != json!(FEATURES) {
            return None;
        }
        let forest = |[feature, number, child, roots]: [&str; 4]| {
            Some(Forest {
                feature: container.array(feature).ok()?.to_vec(),
                number: container.array(number).ok()?.to_vec(),
                child: container.array(child).ok()?.to_vec(),
                roots: container.array(roots).ok()?.to_vec(),
            })
        };
        let [alone, sourced] = FOREST_ARRAYS.map(forest);
        Some(Ranker { alone: alone?, sourced: sourced?, about: about.clone() })
    }
}
