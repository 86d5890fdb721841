//! The section of the page on where links belong.

use maud::{Markup, html};
use serde_json::Value;

use super::{array, heads, interval, name, percent, table, text, thousands};

/// Pages held out, their links taken out and suggested again.
pub fn places(report: &Value) -> Option<Markup> {
    let found = &report["places"]["value"];
    if found.is_null() {
        return None;
    }
    let what = |method: &Value| {
        match name(method) {
            "places" => "places, as `hd2v suggest` asks",
            "dictionary" => "a dictionary of titles and anchors: longest, first",
            "rate" => "its phrases by how often they are links",
            "wikimedia" => "trees over features as Wikimedia's link recommendation has them",
            _ => "",
        }
        .to_owned()
    };
    Some(html! {
        h2 { "Where links belong" }
        @if let Some(why) = found["left_out"].as_str() {
            p.note { "Left out: " (why) }
        } @else {
            p.note {
                "No part of the paper. " (thousands(&found["pages"])) " pages held out, their " (thousands(&found["links"]))
                " links to different documents taken out and suggested again. A suggestion is right where the page had a link to \
                 that document, over the same words; each document is suggested once per page. "
                @if text(&found["kind"]) == "ends" { "Links have no words here, so places are the ends of words." }
            }
            (table(&html! {
                tr {
                    (heads(["method", "AUC of place", "[95 %]", "precision at recall 50", "[95 %]", "precision at p 0.5", "[95 %]",
                        "recall at p 0.5", "[95 %]", "best F1", "calibration error"]))
                    th.words { "what it is" }
                }
                @for method in array(&found["methods"]) {
                    tr {
                        td { (name(method)) }
                        td { (percent(&method["auc"])) }
                        td { (interval(&method["interval"]["auc"])) }
                        td { (percent(&method["precision_at_recall_50"])) }
                        td { (interval(&method["interval"]["precision_at_recall_50"])) }
                        td { (percent(&method["at_0.5"]["precision"])) }
                        td { (interval(&method["interval"]["precision_at_0.5"])) }
                        td { (percent(&method["at_0.5"]["recall"])) }
                        td { (interval(&method["interval"]["recall_at_0.5"])) }
                        td { (percent(&method["best_f1"])) }
                        td { (percent(&method["calibration_error"])) }
                        td.words { (what(method)) }
                    }
                }
            }))
            h3 { "Against the threshold" }
            (table(&html! {
                @let curve = array(&found["methods"][0]["curve"]);
                tr { th { "minimum probability" } @for point in curve { th { (point["threshold"]) } } }
                @for (key, head) in [("precision", "precision"), ("recall", "recall"), ("f1", "F1")] {
                    tr { td { (head) } @for point in curve { td { (percent(&point[key])) } } }
                }
            }))
        }
    })
}
