//! The parts of the page that are about classes, intents and criteria, and the map.

use serde_json::Value;

use super::super::paper;
use super::super::plot::{Bar, Dot, bars, points};
use super::{array, ends, heads, pair, percent, printed, table, text, yes};

pub fn classes(report: &Value) -> String {
    let found = &report["classes"]["value"];
    let mut out = "<h2>Classes of documents</h2>".to_owned();
    if let Some(why) = found["left_out"].as_str() {
        return out + &format!("<p>Left out: {}</p>", super::escaped(why));
    }
    for (name, head) in
        [("all", "All documents (the paper's Table 5)"), ("linked", "Only documents that a link points at (Table 6)")]
    {
        let part = &found[name];
        out += &format!("<h3>{head}</h3>");
        if let Some(why) = part["left_out"].as_str() {
            out += &format!("<p>Left out: {}.</p>", super::escaped(why));
            continue;
        }
        let sets = array(&part["features"]);
        out += &format!(
            "<p class=\"note\">{} documents of {} classes, 5 folds; macro F1, beside DeepWalk in orange. {}</p>",
            part["documents"],
            array(&part["classes"]).len(),
            losses(part)
        );
        let bar = |set: &Value| Bar {
            name: set["features"].as_str().unwrap_or_default().to_owned(),
            share: set["macro_f1"].as_f64().unwrap_or(0.0),
            ends: pair(&set["interval"]["macro_f1"]),
            colour: usize::from(set["features"].as_str().unwrap_or_default().contains("deepwalk")),
        };
        out += &bars("macro F1", &[(String::new(), sets.iter().map(bar).collect())]);
        let figures = &report["paper"]["classes"][name];
        let row = |set: &Value| {
            let mut row = vec![
                text(&set["features"]),
                percent(&set["macro_f1"]),
                format!("<small>{}</small>", ends(&set["interval"]["macro_f1"])),
                percent(&set["micro_f1"]),
                format!("<small>{}</small>", ends(&set["interval"]["micro_f1"])),
                set["compared"]["p"].as_f64().map_or("best".to_owned(), |p| format!("{p:.4}")),
            ];
            if figures.is_object() {
                let own = &figures[set["features"].as_str().unwrap_or_default()];
                row.extend([printed(&own["macro_f1"]), printed(&own["micro_f1"])]);
            }
            row
        };
        let mut names = heads(&["features", "macro F1", "[95 %]", "micro F1", "[95 %]", "p against the best"]);
        if figures.is_object() {
            names.extend(heads(&["paper: macro F1", "paper: micro F1"]));
        }
        out += &table(&names, &sets.iter().map(row).collect::<Vec<_>>());
        out += &statements(name, sets);
    }
    out
}

/// What the paper says of these features, and how it is here.
fn statements(part: &str, sets: &[Value]) -> String {
    let of = |wanted: &str| sets.iter().find(|set| set["features"] == wanted);
    let row = |&(_, above, below): &(&str, &str, &str)| {
        let (one, other) = (of(above)?, of(below)?);
        let points = |key: &str| Some(100.0 * (one[key].as_f64()? - other[key].as_f64()?));
        let (large, small) = (points("macro_f1")?, points("micro_f1")?);
        let verdict = match (large > 0.0, small > 0.0) {
            (true, true) => "<span class=\"yes\">as in the paper</span>",
            _ if large == 0.0 && small == 0.0 => "<span class=\"open\">level</span>",
            (true, false) => "<span class=\"open\">by macro F1 only</span>",
            (false, true) => "<span class=\"open\">by micro F1 only</span>",
            (false, false) => "<span class=\"no\">the other way round</span>",
        };
        Some(vec![format!("{above} above {below}"), format!("{large:+.1}"), format!("{small:+.1}"), verdict.to_owned()])
    };
    let rows: Vec<Vec<String>> =
        paper::CLASSES.iter().filter(|statement| statement.0 == part).filter_map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let names = heads(&["in the paper", "macro F1, points here", "micro F1, points here", "here, without a test"]);
    format!("<h4>What the paper says of them</h4>{}", table(&names, &rows))
}

/// Classes of too few contexts, which are left out.
fn small(found: &Value) -> String {
    let class = |class: &Value| format!("{} ({})", text(&class[0]), class[1]);
    let all: Vec<String> = array(&found["small_classes"]).iter().map(class).collect();
    if all.is_empty() { String::new() } else { format!(" Too small, left out: {}.", all.join(", ")) }
}

/// What was left out.
fn losses(part: &Value) -> String {
    let all: Vec<String> = array(&part["losses"]).iter().map(text).collect();
    if all.is_empty() { String::new() } else { all.join("; ") + "." }
}

pub fn intents(report: &Value) -> String {
    let all = array(&report["intents"]);
    if all.is_empty() {
        return String::new();
    }
    let mut out = "<h2>Citation functions from contexts</h2>\
                   <p class=\"note\">The mean IN vector of a context's words, SVM with C 1, 10 folds.</p>"
        .to_owned();
    for one in all {
        let found = &one["value"];
        let file = one["file"].as_str().unwrap_or_default();
        let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
        out += &format!(
            "<h3>{}</h3><p class=\"note\">{} contexts.{}</p>",
            super::escaped(name),
            found["contexts"],
            small(found)
        );
        let mut rows: Vec<Vec<String>> = array(&found["classes"])
            .iter()
            .map(|class| vec![text(&class["name"]), class["members"].to_string(), percent(&class["f1"]), String::new()])
            .collect();
        for (name, key) in [("macro", "macro_f1"), ("micro", "micro_f1")] {
            let interval = format!("<small>{}</small>", ends(&found["interval"][key]));
            rows.push(vec![format!("<b>{name}</b>"), String::new(), percent(&found[key]), interval]);
        }
        out += &table(&heads(&["function", "contexts", "F1", "[95 %]"]), &rows);
    }
    if let Some(figures) = report["paper"]["intents"].as_object() {
        let rows: Vec<Vec<String>> =
            figures.iter().map(|(name, figure)| vec![super::escaped(name), printed(figure)]).collect();
        out += &format!("<h3>In the paper, on its own set</h3>{}", table(&heads(&["function", "paper: F1"]), &rows));
    }
    out
}

pub fn criteria(report: &Value) -> String {
    let found = &report["criteria"]["value"];
    if found["left_out"].is_string() {
        return String::new();
    }
    let said = |value: &Value| value.as_bool().map_or("–", yes);
    let methods = array(&found["methods"]);
    let criteria = methods.first().map(|method| array(&method["criteria"])).unwrap_or_default();
    let mut names = vec!["method".to_owned()];
    for criterion in criteria {
        names.extend([text(&criterion["criterion"]), "paper".to_owned()]);
    }
    let row = |method: &Value| {
        let mut row = vec![text(&method["method"])];
        for found in array(&method["criteria"]) {
            let interval = ends(&found["interval"]);
            row.push(format!("{} {}<br><small>{interval}</small>", said(&found["verdict"]), percent(&found["value"])));
            row.push(said(&found["paper"]).to_owned());
        }
        row
    };
    format!(
        "<h2>What methods heed</h2><p class=\"note\">The paper's Table 1, measured: probes on a generated corpus with planted \
         truth. Our verdict, the share of probes that came out as the criterion wants, its interval; beside it what the paper's \
         text says, – where it says nothing of the method.</p>{}",
        table(&names, &methods.iter().map(row).collect::<Vec<_>>())
    )
}

pub fn map(report: &Value) -> String {
    let found = &report["map"]["value"];
    let names: Vec<String> =
        array(&found["labels"]).iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    let dot = |point: &Value| {
        let title = point["title"].as_str().unwrap_or_default().to_owned();
        let label = point["label"].as_u64().map_or(usize::MAX, |label| label as usize);
        Some((point["x"].as_f64()?, point["y"].as_f64()?, label, title))
    };
    let dots: Vec<Dot> = array(&found["points"]).iter().filter_map(dot).collect();
    let coloured = if names.is_empty() {
        "the corpus has no labels to colour them by"
    } else {
        "coloured by their most frequent labels"
    };
    format!(
        "<h2>A map of the documents</h2><p class=\"note\">IN vectors of the default model, near ones near each other (t-SNE: \
         axes and distances between groups mean nothing); up to 2,000 documents, {coloured}. Point at one for its title.</p>{}",
        points("documents", &dots, &names)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_paper_says_of_classes_stands_beside_the_figures() {
        let set = |name: &str, large: f64, small: f64| json!({"features": name, "macro_f1": large, "micro_f1": small});
        let told = |above: [f64; 2], below: [f64; 2]| {
            let sets = [set("d2v-cac IN", above[0], above[1]), set("d2v-nc IN", below[0], below[1])];
            statements("all", &sets)
        };
        for (above, below, verdict) in [
            ([0.5, 0.6], [0.4, 0.5], "+10.0</td><td>+10.0</td><td><span class=\"yes\">as in the paper"),
            ([0.5, 0.6], [0.4, 0.7], "by macro F1 only"),
            ([0.3, 0.6], [0.4, 0.5], "by micro F1 only"),
            ([0.3, 0.6], [0.4, 0.7], "the other way round"),
            ([0.3, 0.6], [0.3, 0.6], "level"),
        ] {
            let all = told(above, below);
            assert!(all.contains("d2v-cac IN above d2v-nc IN</td>") && all.contains(verdict), "{verdict}: {all}");
            assert!(!all.contains("w2v"), "features that are not there are not spoken of: {all}");
        }
        let sets = [set("d2v-cac IN", 0.5, 0.6), set("w2v IN", 0.1, 0.2)];
        assert!(statements("linked", &sets).contains("d2v-cac IN above w2v IN"));
        assert_eq!(statements("linked", &sets[1..]), "");
    }
}
