//! Table 9: what methods recommend at one position, side by side.

use maud::{Markup, html};
use serde_json::Value;

use super::super::example::OF_THE_PAPER;
use super::super::paper::EXAMPLE;
use super::{array, name, table, text};

/// The methods side by side: the paper's three, and the default.
const SHOWN: [&str; 4] = ["w2v", "d2v-cac", "h-d2v-paper", "h-d2v"];
/// Hits of each; truths below them follow with their ranks.
const HITS: usize = 5;

pub fn examples(report: &Value) -> Option<Markup> {
    let examples = array(&report["examples"]);
    (!examples.is_empty()).then(|| {
        html! {
            h2 { "Table 9: an example" }
            @for (number, one) in examples.iter().enumerate() { (example(number, one)) }
        }
    })
}

fn example(number: usize, example: &Value) -> Markup {
    let truths = array(&example["truths"]);
    let hit: Vec<&str> =
        truths.iter().filter(|truth| truth["wanted"] == true).map(|truth| text(&truth["id"])).collect();
    let given = example["given"] == true;
    html! {
        p {
            @if hit.is_empty() {
                @if given {
                    "No test position links to the given documents."
                } @else {
                    "No test position links to the papers of the paper's running example (BLEU and Moses)."
                }
                " Another position of a test document instead:"
            } @else {
                @if !given && number == 0 {
                    "The running example of the paper is a passage about BLEU and Moses, for which only h-d2v has both among \
                     its first five hits. "
                }
                "This passage of the test document " (text(&example["source"])) " links to " (hit.join(" and ")) ":"
            }
        }
        blockquote { "… " (text(&example["before"])) " " b { "[link]" } " " (text(&example["after"])) " …" }
        (side_by_side(example))
        details {
            summary { "The ranks of the truths by every method" }
            (ranks(example))
        }
    }
}

/// A title, or the id of a document without one.
fn title(document: &Value) -> &str {
    Some(text(&document["title"])).filter(|title| !title.is_empty()).unwrap_or(text(&document["id"]))
}

/// The first hits of each method with the truths in bold, then the ranks of the truths that are not among them.
fn side_by_side(example: &Value) -> Markup {
    let truths = array(&example["truths"]);
    let methods: Vec<&Value> = SHOWN
        .iter()
        .filter_map(|wanted| array(&example["places"]).iter().find(|method| name(method) == *wanted))
        .filter(|method| !array(&method["hits"]).is_empty())
        .collect();
    let below = |method: &Value| {
        let places = array(&method["places"]).iter().map(|place| place.as_u64().unwrap_or(0));
        let mut below: Vec<(u64, &Value)> =
            places.zip(truths).filter(|(place, _)| *place == 0 || *place > HITS as u64).collect();
        below.sort_by_key(|(place, _)| if *place == 0 { u64::MAX } else { *place });
        below
    };
    let in_paper = |method: &str| {
        let ranks = EXAMPLE.iter().find(|row| row.0 == method)?.1;
        let both = truths.iter().any(|truth| OF_THE_PAPER.contains(&text(&truth["id"])));
        both.then(|| format!("in the paper: BLEU {}, Moses {}", ranks[0], ranks[1]))
    };
    html! {
        @if methods.is_empty() {
            p.note { "None of " (SHOWN.join(", ")) " was evaluated." }
        } @else {
            (table(&html! {
                tr { th { "truths" } @for method in &methods { th style="text-align:left" { (name(method)) } } }
                tr {
                    td.words { @for truth in truths { p style="margin:0 0 .4em" { b { (title(truth)) } } } }
                    @for method in &methods {
                        td.words {
                            ol.hits {
                                @for hit in array(&method["hits"]).iter().take(HITS) {
                                    li { @if hit["truth"] == true { b { (title(hit)) } } @else { (title(hit)) } }
                                }
                                @for (place, truth) in below(method) {
                                    @if place == 0 {
                                        li style="list-style:none" { "not in the first 1000: " b { (title(truth)) } }
                                    } @else {
                                        li value=(place) { b { (title(truth)) } }
                                    }
                                }
                            }
                            @if let Some(ranks) = in_paper(name(method)) { small { (ranks) } }
                        }
                    }
                }
            }))
        }
    }
}

fn ranks(example: &Value) -> Markup {
    table(&html! {
        tr {
            th { "method" }
            @for truth in array(&example["truths"]) {
                @let title = text(&truth["title"]);
                @let short: String = title.chars().take(48).collect();
                th { (text(&truth["id"])) br; small { (short) @if short.len() < title.len() { "…" } } }
            }
        }
        @for method in array(&example["places"]) {
            tr {
                td { (name(method)) }
                @for place in array(&method["places"]) {
                    td {
                        @match place.as_u64() {
                            Some(0) | None => "not in the first 1000",
                            Some(place) if place <= 10 => b { (place) },
                            Some(place) => (place),
                        }
                    }
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn truths_are_marked_where_they_rank() {
        let hit = |number: usize| json!({"id": format!("d{number}"), "title": null, "truth": number == 2});
        let hits: Vec<Value> = (1..=10).map(hit).collect();
        let truths =
            json!([{"id": "d2", "title": ""}, {"id": "P07-2045", "title": "Moses"}, {"id": "far", "title": "Far"}]);
        let places = json!([{"method": "w2v", "places": [2, 9, 0], "hits": hits}, {"method": "bm25", "hits": []}]);
        let shown = side_by_side(&json!({"truths": truths, "places": places})).into_string();
        assert!(shown.contains("<li>d1</li><li><b>d2</b></li><li>d3</li>"), "{shown}");
        assert!(
            shown.contains("<li>d5</li><li value=\"9\"><b>Moses</b></li>"),
            "the first five, then the rest: {shown}"
        );
        assert!(shown.contains("not in the first 1000: <b>Far</b>"), "{shown}");
        assert!(shown.contains("in the paper: BLEU 57, Moses 9") && !shown.contains("bm25"), "{shown}");
    }
}
