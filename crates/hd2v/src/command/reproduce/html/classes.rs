//! The sections of the page on classes of documents: Tables 4 and 5.

use maud::{Markup, html};
use serde_json::Value;

use super::super::paper::{CLASSES, CLASSES_ALL, CLASSES_LINKED, ClassRow, LABELLED, class_orders};
use super::super::plot::{Bar, bars, swatch};
use super::{array, heads, interval, pair, paper_heads, percent, printed, table, text};

pub fn all(report: &Value) -> Markup {
    section(report, "all", "Table 4: classes of documents", &CLASSES_ALL, LABELLED[0])
}

pub fn linked(report: &Value) -> Markup {
    section(report, "linked", "Table 5: classes of linked documents", &CLASSES_LINKED, LABELLED[1])
}

fn section(report: &Value, part: &str, head: &str, rows: &[ClassRow], labelled: u64) -> Markup {
    let found = &report["classes"]["value"];
    let left_out = found["left_out"].as_str().or(found[part]["left_out"].as_str());
    html! {
        h2 { (head) }
        @if let Some(why) = left_out {
            p { "Left out: " (why.trim_end_matches('.')) "." }
        } @else {
            p.note {
                @if part == "linked" { "Only documents that a link points at. " }
                "The paper classified " (crate::output::thousands(labelled)) " papers of DBLP in " (CLASSES)
                " classes of Cora, with LIBSVM's default γ (auto)."
            }
            (class_part(found, part, rows))
        }
    }
}

/// One of the two parts for each γ, beside the figures of the paper.
fn class_part(found: &Value, part: &str, rows: &[ClassRow]) -> Markup {
    let runs: Vec<&Value> = [found].into_iter().chain(array(&found["others"])).collect();
    let sets = array(&found[part]["features"]);
    let bar = |set: &Value| Bar {
        name: text(&set["features"]).to_owned(),
        share: set["macro_f1"].as_f64().unwrap_or(0.0),
        ends: pair(&set["interval"]["macro_f1"]),
        colour: usize::from(text(&set["features"]).contains("+ deepwalk")),
    };
    let of = |features: &str| rows.iter().find(|row| row.0 == features).map(|row| row.1);
    html! {
        p.note {
            (found[part]["documents"]) " documents of " (array(&found[part]["classes"]).len())
            " classes, 5 folds, C " (found["c"].as_f64().unwrap_or(1.0)) ". " (losses(&found[part]))
        }
        @for run in &runs {
            figure style="margin:0" {
                (bars("macro F1", &[(String::new(), array(&run[part]["features"]).iter().map(bar).collect())]))
                figcaption {
                    "Macro F1, γ " (text(&run["gamma"])) ". " (swatch(0, "by itself")) (swatch(1, "with DeepWalk"))
                }
            }
        }
        (table(&html! {
            tr {
                th { "features" }
                @for (number, run) in runs.iter().enumerate() {
                    @let gamma = text(&run["gamma"]);
                    th { "macro F1" br; small { "γ " (gamma) } }
                    @if number == 0 { th { "[95 %]" } }
                    th { "micro F1" br; small { "γ " (gamma) } }
                    @if number == 0 { th { "p" br; small { "against the best" } } }
                }
                (paper_heads(["macro F1", "micro F1"]))
            }
            @for (number, set) in sets.iter().enumerate() {
                tr {
                    td { (text(&set["features"])) }
                    @for (place, run) in runs.iter().enumerate() {
                        @let set = &run[part]["features"][number];
                        td { (percent(&set["macro_f1"])) }
                        // The bars have all intervals.
                        @if place == 0 { td { small { (interval(&set["interval"]["macro_f1"])) } } }
                        td { (percent(&set["micro_f1"])) }
                        @if place == 0 {
                            td { (set["compared"]["p"].as_f64().map_or("best".to_owned(), |p| format!("{p:.4}"))) }
                        }
                    }
                    @let own = of(text(&set["features"]));
                    td.paper { (printed(own.map(|own| own[0]))) }
                    td.paper { (printed(own.map(|own| own[1]))) }
                }
            }
        }))
        (statements(sets, rows, text(&found["gamma"])))
    }
}

/// The orders of the paper's table, and the results here.
fn statements(sets: &[Value], rows: &[ClassRow], gamma: &str) -> Markup {
    let of = |wanted: &str| sets.iter().find(|set| set["features"] == wanted);
    let orders = class_orders(rows, |features| of(features).is_some());
    let share = |features: &str, key: &str| of(features).and_then(|set| set[key].as_f64()).unwrap_or(0.0);
    let points = |above: &str, below: &str, key: &str| 100.0 * (share(above, key) - share(below, key));
    html! {
        @if !orders.is_empty() {
            h3 { "The order of the paper's table, γ " (gamma) }
            (table(&html! {
                tr {
                    th { "in the paper" }
                    (paper_heads(["macro", "micro"]))
                    (heads(["macro here", "micro here", "points of F1 (not tested)"]))
                }
                @for order in orders {
                    // As they are shown: what is less than a tenth of a point is no difference. (0.0 is added to lose a sign.)
                    @let here = ["macro_f1", "micro_f1"]
                        .map(|key| (10.0 * points(order.above, order.below, key)).round() / 10.0 + 0.0);
                    // Macro and micro F1 may disagree in the paper itself.
                    @let [macro_f1, micro_f1] = [0, 1].map(|key| here[key] * order.points[key]);
                    tr {
                        td { (order.above) " above " (order.below) }
                        @for points in order.points { td.paper { (format!("{points:+.2}")) } }
                        @for points in here { td { (format!("{points:+.1}")) } }
                        td {
                            @match (macro_f1 > 0.0, micro_f1 > 0.0) {
                                (true, true) => span.yes { "as in the paper" },
                                (true, false) => span.open { "by macro F1 only" },
                                (false, true) => span.open { "by micro F1 only" },
                                _ if macro_f1 < 0.0 && micro_f1 < 0.0 => span.no { "reversed" },
                                _ => span.open { "level" },
                            }
                        }
                    }
                }
            }))
        }
    }
}

/// A sentence about documents that were left out.
fn losses(part: &Value) -> String {
    let all: Vec<&str> = array(&part["losses"]).iter().map(text).collect();
    if all.is_empty() { String::new() } else { all.join("; ") + "." }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_the_paper_stands_beside_the_results() {
        let set = |name: &str, large: f64, small: f64| json!({"features": name, "macro_f1": large, "micro_f1": small});
        let shown = |above: [f64; 2], below: [f64; 2]| {
            let sets = [set("d2v-cac IN", above[0], above[1]), set("d2v-nc IN", below[0], below[1])];
            statements(&sets, &CLASSES_ALL, "auto").into_string()
        };
        for (above, below, verdict) in [
            ([0.5, 0.6], [0.4, 0.5], "+10.0</td><td>+10.0</td><td><span class=\"yes\">as in the paper"),
            ([0.5, 0.6], [0.4, 0.7], "by macro F1 only"),
            ([0.3, 0.6], [0.4, 0.5], "by micro F1 only"),
            ([0.3, 0.6], [0.4, 0.7], "reversed"),
            ([0.3, 0.6], [0.3, 0.6], "+0.0</td><td>+0.0</td><td><span class=\"open\">level"),
            // Less than a tenth of a point, beside an equal micro F1, is no reversal.
            ([0.3999, 0.5], [0.4, 0.5], "+0.0</td><td>+0.0</td><td><span class=\"open\">level"),
        ] {
            let all = shown(above, below);
            assert!(all.contains("d2v-cac IN above d2v-nc IN</td>") && all.contains(verdict), "{verdict}: {all}");
            assert!(all.contains("+1.21</td>") && all.contains("+0.23</td>"), "the paper's points: {all}");
            assert!(!all.contains("w2v"), "features that are missing are not mentioned: {all}");
        }
        // The paper has h-d2v IN below d2v-cac IN, 68.81 to 71.83: that is no reversal.
        let sets = [set("h-d2v-paper IN", 0.5, 0.6), set("d2v-cac IN", 0.6, 0.7)];
        let all = statements(&sets, &CLASSES_ALL, "auto").into_string();
        assert!(all.contains("d2v-cac IN above h-d2v-paper IN") && all.contains("as in the paper"), "{all}");
    }
}
