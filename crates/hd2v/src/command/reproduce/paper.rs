//! What the paper itself reports, to stand beside what was measured.
//!
//! Built in is only what could be checked: what its text says of its tables, as statements that one method is above
//! another. The figures of the tables are not: whoever has the paper at hand gives them in a file.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use hyperdoc2vec::evaluate::LinkMethod;
use serde_json::Value;

/// The order of the methods in Table 7 (citation recommendation), the best first.
pub const ORDER: [&str; 6] = ["h-d2v-paper", "h-d2v-random", "d2v-cac", "d2v-nc", "w2v", "w2v-i4i"];

/// What is said of NPM in Table 7, which lies between the two ways to ask w2v: the first is above the second.
pub const NPM: [(&str, &str); 2] = [("w2v", "npm"), ("npm", "w2v-i4i")];

/// Newcomers, Table 8: d2v-cac is above h-d2v, and what knows the text of newcomers above what does not.
pub const NEWCOMERS: [(&str, &str); 8] = [
    ("d2v-cac", "h-d2v-paper"),
    ("d2v-cac", "h-d2v-random"),
    ("d2v-nc", "w2v"),
    ("d2v-cac", "w2v"),
    ("h-d2v-paper", "w2v"),
    ("d2v-nc", "npm"),
    ("d2v-cac", "npm"),
    ("h-d2v-paper", "npm"),
];

/// On the six largest citation functions the first of these is above the others.
pub const BY_FUNCTION: [&str; 3] = ["h-d2v-paper", "w2v", "d2v-cac"];
/// How many functions that is said of.
pub const LARGEST: usize = 6;

/// Classes, by their part. Table 5 (all documents): h-d2v above d2v-cac above d2v-nc above w2v, DeepWalk beside the vectors
/// helps, and with it OUT vectors do not. Table 6 (only documents with a link to them): w2v is still last.
pub const CLASSES: [(&str, &str, &str); 10] = [
    ("all", "h-d2v-paper IN", "d2v-cac IN"),
    ("all", "d2v-cac IN", "d2v-nc IN"),
    ("all", "d2v-nc IN", "w2v IN"),
    ("all", "w2v IN + deepwalk", "w2v IN"),
    ("all", "d2v-nc IN + deepwalk", "d2v-nc IN"),
    ("all", "h-d2v-paper IN + deepwalk", "h-d2v-paper IN"),
    ("all", "h-d2v-paper IN + deepwalk", "h-d2v-paper IN+OUT + deepwalk"),
    ("linked", "h-d2v-paper IN", "w2v IN"),
    ("linked", "d2v-cac IN", "w2v IN"),
    ("linked", "d2v-nc IN", "w2v IN"),
];

/// What a file of figures may say.
const PARTS: [&str; 6] = ["source", "data", "links", "newcomers", "classes", "intents"];

/// Reads a file of figures, in % as they are printed:
///
/// ```json
/// {"source": "where they were read", "data": "how its data differ from this corpus",
///  "links": {"w2v": {"recall@10": 0.0, "map@10": 0.0, "mrr@10": 0.0, "ndcg@10": 0.0}},
///  "newcomers": {"d2v-cac": 0.0},
///  "classes": {"all": {"h-d2v-paper IN": {"macro_f1": 0.0, "micro_f1": 0.0}}, "linked": {}},
///  "intents": {"macro": 0.0}}
/// ```
pub fn read(path: &Path) -> Result<Value> {
    let place = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {place}"))?;
    let value: Value = serde_json::from_str(&text).with_context(|| format!("{place} is no JSON"))?;
    let Some(parts) = value.as_object() else { bail!("{place}: expected an object with \"source\"") };
    ensure!(
        value["source"].as_str().is_some_and(|source| !source.trim().is_empty()),
        "{place}: expected \"source\", where the figures were read"
    );
    for (name, part) in parts {
        ensure!(PARTS.contains(&name.as_str()), "{place}: expected one of {}, found {name:?}", PARTS.join(", "));
        if matches!(name.as_str(), "links" | "newcomers") {
            for method in part.as_object().into_iter().flat_map(|part| part.keys()) {
                let known = method.parse::<LinkMethod>();
                ensure!(known.is_ok(), "{place}: {name}: {}", known.err().unwrap_or_default());
            }
        }
        if !matches!(name.as_str(), "source" | "data") {
            ensure!(part.is_object(), "{place}: expected an object as {name:?}, found {part}");
            numbers(part, name).with_context(|| place.to_string())?;
        }
    }
    Ok(value)
}

/// Everything below is a number from 0 to 100.
fn numbers(value: &Value, name: &str) -> Result<()> {
    match value {
        Value::Object(parts) => parts.iter().try_for_each(|(part, value)| numbers(value, &format!("{name}, {part}"))),
        value => {
            let fits = value.as_f64().is_some_and(|number| (0.0..=100.0).contains(&number));
            ensure!(fits, "{name}: expected a figure in %, from 0 to 100, found {value}");
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use hyperdoc2vec::model::Method;

    use super::*;

    #[test]
    fn everything_spoken_of_is_a_method() {
        let pairs = NPM.iter().chain(&NEWCOMERS).flat_map(|&(above, below)| [above, below]);
        for name in pairs.chain(ORDER).chain(BY_FUNCTION) {
            assert!(name.parse::<LinkMethod>().is_ok(), "{name}");
        }
        for (part, above, below) in CLASSES {
            assert!(["all", "linked"].contains(&part), "{part}");
            for features in [above, below] {
                let features = features.strip_suffix(" + deepwalk").unwrap_or(features);
                let (method, vectors) = features.split_once(' ').expect("a method and its vectors");
                assert!(method.parse::<Method>().is_ok() && ["IN", "OUT", "IN+OUT"].contains(&vectors), "{features}");
            }
        }
    }
}
