//! Statements and figures of the paper, shown beside the measurements.
//!
//! Only the statements of its text are built in, in the form "one method is above another", because only they could be
//! checked. The figures of its tables come from a file that the user supplies.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use hyperdoc2vec::evaluate::LinkMethod;
use serde_json::Value;

/// The order of the methods in Table 7 (citation recommendation), the best first.
pub const ORDER: [&str; 6] = ["h-d2v-paper", "h-d2v-random", "d2v-cac", "d2v-nc", "w2v", "w2v-i4i"];

/// NPM in Table 7 lies between w2v and w2v-i4i: the first of each pair is above the second.
pub const NPM: [(&str, &str); 2] = [("w2v", "npm"), ("npm", "w2v-i4i")];

/// Newcomers, Table 8: d2v-cac is above h-d2v, and methods that use the text of newcomers are above those that do not.
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

/// On the largest citation functions, the first of these is above the others.
pub const BY_FUNCTION: [&str; 3] = ["h-d2v-paper", "w2v", "d2v-cac"];
/// The number of functions that this statement covers.
pub const LARGEST: usize = 6;

/// Classes. Table 5 (all documents): h-d2v is above d2v-cac, d2v-nc and w2v in this order; adding DeepWalk helps, and with
/// it OUT vectors do not. Table 6 (only documents with a link to them): w2v is still last.
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

/// The fields of a file of figures.
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
    let value: Value = serde_json::from_str(&text).with_context(|| format!("{place}: not valid JSON"))?;
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

/// Checks that all figures are numbers from 0 to 100.
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
    fn every_name_in_a_statement_is_a_method() {
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
