//! Trees learnt from samples of other collections, which are a part of the program.
//!
//! `prior.json` is made by `bench/lab/src/bin/prior.rs`: names of features, and two forests by them with their scales. A
//! model has a copy of the trees that it uses, so that another file here changes no model.

use serde_json::{Value, json};

use super::{FeatureSet, Ranker, Scale, Shares};
use crate::search::ranker::forest::Forest;

const FILE: &str = include_str!("prior.json");
/// A node without children.
const LEAF: u32 = u32::MAX;

/// The ranker, by all features of this program.
pub(super) fn ranker() -> Ranker {
    let file: Value = serde_json::from_str(FILE).unwrap_or_default();
    let features = FeatureSet::default();
    let places: Vec<Option<u32>> = names(&file["features"], &features);
    let [alone, sourced] = ["alone", "sourced"].map(|kind| forest(&file[kind], &places).unwrap_or_default());
    let scales = [0, 1].map(|kind| Scale::read(&file["scales"][kind]));
    let about = json!({"links": 0, "calibration": []});
    let shares = Shares::default();
    Ranker { features, alone, sourced, scales, shares, heeds_unknown_words: true, about }
}

/// The place of each feature of the file.
fn names(named: &Value, features: &FeatureSet) -> Vec<Option<u32>> {
    let known = features.names();
    let place = |name: &Value| known.iter().position(|known| name == known).map(|place| place as u32);
    named.as_array().into_iter().flatten().map(place).collect()
}

/// A forest with its features at their places here; `None` where one is not known.
fn forest(value: &Value, places: &[Option<u32>]) -> Option<Forest> {
    let numbers = |name: &str| -> Option<Vec<u32>> {
        value[name].as_array()?.iter().map(|number| number.as_i64().map(|number| number as u32)).collect()
    };
    let place = |feature: u32| if feature == LEAF { Some(LEAF) } else { *places.get(feature as usize)? };
    let number = value["number"].as_array()?.iter().map(|number| number.as_f64().map(|number| number as f32));
    Some(Forest {
        feature: numbers("feature")?.into_iter().map(place).collect::<Option<Vec<u32>>>()?,
        number: number.collect::<Option<Vec<f32>>>()?,
        child: numbers("child")?,
        roots: numbers("roots")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trees_of_the_file_are_all_read() {
        let Ranker { alone, sourced, scales, features, .. } = ranker();
        for (forest, width) in [(&alone, features.alone()), (&sourced, features.all())] {
            assert!(forest.trees() > 20, "{}", forest.trees());
            let known = |&feature: &u32| feature == LEAF || (feature as usize) < width;
            assert!(forest.feature.iter().all(known));
        }
        assert!(sourced.feature.iter().any(|&feature| feature != LEAF && feature as usize >= features.alone()));
        assert!(scales.iter().all(|&scale| scale != Scale::default()), "they are fitted to collections left out");
    }
}
