//! Where does a link belong, and to what? Learnt while a model is trained, from the linked and the unlinked text of its
//! corpus.
//!
//! In hypertext, places are phrases: anchors, titles and other names of documents (`lexicon`). In papers, whose links
//! have no words, places are the ends of words. Trees say how likely a link is at a place (`features`), and how likely a
//! target is of a link there; where the phrase does not tell, the ranker is asked. The product is the probability of a
//! suggestion. What the trees learn from a page was computed as if the page were not there: its own words and links are
//! taken back from all counts.

mod ask;
pub mod features;
pub mod learn;
pub mod lexicon;
mod never;
pub mod page;

pub use ask::{PlaceCandidate, PlaceModel, PlaceQuestion, WantedAnswer, choose};
pub use never::NeverLink;

use serde_json::{Value, json};

use crate::model::Model;
use crate::search::ranker::Scale;
use crate::search::ranker::forest::Forest;
use crate::storage::container::Tensor;
use features::{GAP_FEATURES, PLACE_FEATURES, TARGET_FEATURES};

/// The arrays of the trees for places and for targets.
const FORESTS: [[&str; 4]; 2] = [
    ["places.place.feature", "places.place.number", "places.place.child", "places.place.roots"],
    ["places.target.feature", "places.target.number", "places.target.child", "places.target.roots"],
];
/// The array of how often words stand before and behind links.
const SIDES: &str = "places.sides";

/// The trees of a place model.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PlaceTrees {
    /// Whether places are phrases, or the ends of words.
    pub phrases: bool,
    /// How likely a link is at a place.
    pub place: Forest,
    /// How likely a target is of a link there; nothing where places are the ends of words.
    pub target: Forest,
    /// The probability that a score of each stands for.
    pub scales: [Scale; 2],
    /// How much was learnt from, and how well probabilities held.
    pub about: Value,
}

impl PlaceTrees {
    /// The description.
    pub(crate) fn about(&self) -> Value {
        let features = if self.phrases {
            json!([PLACE_FEATURES.as_slice(), TARGET_FEATURES.as_slice()])
        } else {
            json!([GAP_FEATURES.as_slice(), []])
        };
        json!({
            "kind": if self.phrases { "phrases" } else { "ends" },
            "features": features,
            "trees": [self.place.trees(), self.target.trees()],
            "scales": self.scales.map(Scale::json),
            "learnt": self.about,
        })
    }

    /// The arrays.
    pub(crate) fn tensors(&self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::new();
        for ([feature, number, child, roots], forest) in FORESTS.into_iter().zip([&self.place, &self.target]) {
            tensors.push(Tensor::u32s(feature, &forest.feature));
            tensors.push(Tensor::floats(number, &forest.number));
            tensors.push(Tensor::u32s(child, &forest.child));
            tensors.push(Tensor::u32s(roots, &forest.roots));
        }
        tensors
    }

    /// Those of a model; `None` in a model that was made without, or with other features than this program knows.
    fn of(model: &Model) -> Option<PlaceTrees> {
        let about = &model.about()["places"];
        let phrases = match about["kind"].as_str()? {
            "phrases" => true,
            "ends" => false,
            _ => return None,
        };
        let forest = |[feature, number, child, roots]: [&str; 4]| {
            Some(Forest {
                feature: model.optional(feature)?.to_vec(),
                number: model.optional(number)?.to_vec(),
                child: model.optional(child)?.to_vec(),
                roots: model.optional(roots)?.to_vec(),
            })
        };
        let [place, target] = FORESTS.map(forest);
        let scales = [0, 1].map(|kind| Scale::read(&about["scales"][kind]));
        let trees = PlaceTrees { phrases, place: place?, target: target?, scales, about: about["learnt"].clone() };
        let tables = trees.about()["features"].clone();
        (0..2).all(|kind| begins_with(&tables[kind], &about["features"][kind])).then_some(trees)
    }
}

/// Whether features of a model are the first of those that this program knows.
fn begins_with(known: &Value, named: &Value) -> bool {
    let (Some(known), Some(named)) = (known.as_array(), named.as_array()) else { return false };
    known.starts_with(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_of_models_with_fewer_features_are_known() {
        let known = json!(["rate", "words", "side"]);
        assert!(begins_with(&known, &json!(["rate", "words"])));
        assert!(begins_with(&known, &known));
        assert!(!begins_with(&known, &json!(["words"])));
        assert!(!begins_with(&json!(["rate"]), &known));
        assert!(!begins_with(&known, &Value::Null));
    }
}
