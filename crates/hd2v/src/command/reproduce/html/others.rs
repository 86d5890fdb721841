//! The sections of the page on classes, intents, criteria and the map.

use maud::{Markup, html};
use serde_json::Value;

use super::super::paper;
use super::super::plot::{Bar, Dot, bars, points};
use super::{array, heads, interval, pair, paper_heads, percent, printed, table, text};

pub fn classes(report: &Value) -> Markup {
    let found = &report["classes"]["value"];
    let parts =
        [("all", "All documents (the paper's Table 5)"), ("linked", "Only documents with links to them (Table 6)")];
    html! {
        h2 { "Classes of documents" }
        @if let Some(why) = found["left_out"].as_str() {
            p { "Left out: " (why) }
        } @else {
            @for (name, head) in parts {
                h3 { (head) }
                @if let Some(why) = found[name]["left_out"].as_str() {
                    p { "Left out: " (why) "." }
                } @else {
                    (class_part(name, &found[name], &report["paper"]["classes"][name]))
                }
            }
        }
    }
}

/// One of the two parts, beside the `figures` of the paper if there are any.
fn class_part(name: &str, part: &Value, figures: &Value) -> Markup {
    let sets = array(&part["features"]);
    let bar = |set: &Value| Bar {
        name: text(&set["features"]).to_owned(),
        share: set["macro_f1"].as_f64().unwrap_or(0.0),
        ends: pair(&set["interval"]["macro_f1"]),
        colour: usize::from(text(&set["features"]).contains("deepwalk")),
    };
    html! {
        p.note {
            (part["documents"]) " documents of " (array(&part["classes"]).len())
            " classes, 5 folds; macro F1, in orange together with DeepWalk. " (losses(part))
        }
        (bars("macro F1", &[(String::new(), sets.iter().map(bar).collect())]))
        (table(&html! {
            tr {
                (heads(["features", "macro F1", "[95 %]", "micro F1", "[95 %]", "p against the best"]))
                @if figures.is_object() { (paper_heads(["macro F1", "micro F1"])) }
            }
            @for set in sets {
                tr {
                    td { (text(&set["features"])) }
                    @for key in ["macro_f1", "micro_f1"] {
                        td { (percent(&set[key])) }
                        td { small { (interval(&set["interval"][key])) } }
                    }
                    td { (set["compared"]["p"].as_f64().map_or("best".to_owned(), |p| format!("{p:.4}"))) }
                    @if figures.is_object() {
                        @let own = &figures[text(&set["features"])];
                        td.paper { (printed(&own["macro_f1"])) }
                        td.paper { (printed(&own["micro_f1"])) }
                    }
                }
            }
        }))
        (statements(name, sets))
    }
}

/// Statements of the paper about these features, and the results here.
fn statements(part: &str, sets: &[Value]) -> Markup {
    let of = |wanted: &str| sets.iter().find(|set| set["features"] == wanted);
    let row = |&(_, above, below): &(&str, &str, &str)| {
        let (one, other) = (of(above)?, of(below)?);
        let points = |key: &str| Some(100.0 * (one[key].as_f64()? - other[key].as_f64()?));
        let (large, small) = (points("macro_f1")?, points("micro_f1")?);
        Some(html! {
            tr {
                td { (above) " above " (below) }
                td { (format!("{large:+.1}")) }
                td { (format!("{small:+.1}")) }
                td {
                    @match (large > 0.0, small > 0.0) {
                        (true, true) => span.yes { "as in the paper" },
                        _ if large == 0.0 && small == 0.0 => span.open { "equal" },
                        (true, false) => span.open { "by macro F1 only" },
                        (false, true) => span.open { "by micro F1 only" },
                        (false, false) => span.no { "reversed" },
                    }
                }
            }
        })
    };
    let rows: Vec<Markup> = paper::CLASSES.iter().filter(|statement| statement.0 == part).filter_map(row).collect();
    let names = ["in the paper", "macro F1, points here", "micro F1, points here", "here (not tested)"];
    html! {
        @if !rows.is_empty() {
            h4 { "Statements of the paper" }
            (table(&html! { tr { (heads(names)) } @for row in &rows { (row) } }))
        }
    }
}

/// Classes left out because they have too few contexts.
fn small(found: &Value) -> String {
    let class = |class: &Value| format!("{} ({})", text(&class[0]), class[1]);
    let all: Vec<String> = array(&found["small_classes"]).iter().map(class).collect();
    if all.is_empty() { String::new() } else { format!(" Left out as too small: {}.", all.join(", ")) }
}

/// A sentence about documents that were left out.
fn losses(part: &Value) -> String {
    let all: Vec<&str> = array(&part["losses"]).iter().map(text).collect();
    if all.is_empty() { String::new() } else { all.join("; ") + "." }
}

pub fn intents(report: &Value) -> Option<Markup> {
    let all = array(&report["intents"]);
    (!all.is_empty()).then(|| {
        html! {
            h2 { "Citation functions from contexts" }
            p.note { "The mean IN vector of a context's words, SVM with C 1, 10 folds." }
            @for one in all { (intent_file(text(&one["file"]), &one["value"])) }
            @if let Some(figures) = report["paper"]["intents"].as_object() {
                h3 { "In the paper, on its own set" }
                (table(&html! {
                    tr { th { "function" } (paper_heads(["F1"])) }
                    @for (name, figure) in figures { tr { td { (name) } td.paper { (printed(figure)) } } }
                }))
            }
        }
    })
}

fn intent_file(path: &str, found: &Value) -> Markup {
    html! {
        h3 { (path.rsplit(['/', '\\']).next().unwrap_or_default()) }
        p.note { (found["contexts"]) " contexts." (small(found)) }
        (table(&html! {
            tr { (heads(["function", "contexts", "F1", "[95 %]"])) }
            @for class in array(&found["classes"]) {
                tr { td { (text(&class["name"])) } td { (class["members"]) } td { (percent(&class["f1"])) } td {} }
            }
            @for (name, key) in [("macro", "macro_f1"), ("micro", "micro_f1")] {
                tr { td { b { (name) } } td {} td { (percent(&found[key])) } td { small { (interval(&found["interval"][key])) } } }
            }
        }))
    }
}

pub fn criteria(report: &Value) -> Option<Markup> {
    let found = &report["criteria"]["value"];
    if found["left_out"].is_string() {
        return None;
    }
    let verdict = |value: &Value| {
        html! {
            @match value.as_bool() {
                Some(true) => span.yes { "yes" },
                Some(false) => span.no { "no" },
                None => "–",
            }
        }
    };
    let methods = array(&found["methods"]);
    let criteria = methods.first().map(|method| array(&method["criteria"])).unwrap_or_default();
    Some(html! {
        h2 { "What methods are sensitive to" }
        p.note {
            "The paper's Table 1, measured by probes on a generated corpus whose structure is known: our verdict, the share \
             of probes that meet the criterion, and its interval; beside it the verdict of the paper's text, or – if it \
             does not mention the method."
        }
        (table(&html! {
            tr {
                th { "method" }
                @for criterion in criteria { th { (text(&criterion["criterion"])) } th.paper { "paper" } }
            }
            @for method in methods {
                tr {
                    td { (text(&method["method"])) }
                    @for found in array(&method["criteria"]) {
                        td {
                            (verdict(&found["verdict"])) " " (percent(&found["value"])) br;
                            small { (interval(&found["interval"])) }
                        }
                        td.paper { (verdict(&found["paper"])) }
                    }
                }
            }
        }))
    })
}

pub fn map(report: &Value) -> Markup {
    let found = &report["map"]["value"];
    let names: Vec<String> =
        array(&found["labels"]).iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    let dot = |point: &Value| {
        let title = text(&point["title"]).to_owned();
        let label = point["label"].as_u64().map_or(usize::MAX, |label| label as usize);
        Some((point["x"].as_f64()?, point["y"].as_f64()?, label, title))
    };
    let dots: Vec<Dot> = array(&found["points"]).iter().filter_map(dot).collect();
    html! {
        h2 { "A map of the documents" }
        p.note {
            "IN vectors of the default model by t-SNE: similar documents are close, but axes and distances between groups \
             mean nothing. Up to 2,000 documents, "
            @if names.is_empty() {
                "the corpus has no labels to colour them by"
            } @else {
                "coloured by their most frequent labels"
            }
            ". Hover over one for its title."
        }
        (points("documents", &dots, &names))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn statements_of_the_paper_about_classes_stand_beside_the_figures() {
        let set = |name: &str, large: f64, small: f64| json!({"features": name, "macro_f1": large, "micro_f1": small});
        let shown = |above: [f64; 2], below: [f64; 2]| {
            let sets = [set("d2v-cac IN", above[0], above[1]), set("d2v-nc IN", below[0], below[1])];
            statements("all", &sets).into_string()
        };
        for (above, below, verdict) in [
            ([0.5, 0.6], [0.4, 0.5], "+10.0</td><td>+10.0</td><td><span class=\"yes\">as in the paper"),
            ([0.5, 0.6], [0.4, 0.7], "by macro F1 only"),
            ([0.3, 0.6], [0.4, 0.5], "by micro F1 only"),
            ([0.3, 0.6], [0.4, 0.7], "reversed"),
            ([0.3, 0.6], [0.3, 0.6], "equal"),
        ] {
            let all = shown(above, below);
            assert!(all.contains("d2v-cac IN above d2v-nc IN</td>") && all.contains(verdict), "{verdict}: {all}");
            assert!(!all.contains("w2v"), "features that are missing are not mentioned: {all}");
        }
        let sets = [set("d2v-cac IN", 0.5, 0.6), set("w2v IN", 0.1, 0.2)];
        assert!(statements("linked", &sets).into_string().contains("d2v-cac IN above w2v IN"));
        assert_eq!(statements("linked", &sets[1..]).into_string(), "");
    }
}
