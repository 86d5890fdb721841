//! The sections of the page on criteria, outputs and data (Tables 1 to 3), and the map.

use hyperdoc2vec::model::{Method, Vectors};
use maud::{Markup, html};
use serde_json::Value;
use strum::VariantArray;

use super::super::paper::OUTPUTS;
use super::super::plot::{Dot, points};
use super::{array, beside, heads, interval, paper_heads, percent, table, text, thousands};

fn yes_or_no(has: bool) -> Markup {
    html! { @if has { span.yes { "yes" } } @else { span.no { "no" } } }
}

/// Which matrices each method learns.
pub fn outputs() -> Markup {
    let matrices = [
        (Vectors::DocIn, "documents IN"),
        (Vectors::DocOut, "documents OUT"),
        (Vectors::WordIn, "words IN"),
        (Vectors::WordOut, "words OUT"),
    ];
    let paper = |method: &Method| OUTPUTS.iter().find(|row| row.0 == method.name()).map(|row| row.1);
    html! {
        h2 { "Table 2: what methods learn" }
        p.note { "The four matrices, and which of them a method learns; the paper has w2v, both forms of d2v, and h-d2v." }
        (table(&html! {
            tr { th { "method" } @for (_, head) in matrices { th { (head) } } (paper_heads(["the four"])) }
            @for method in Method::VARIANTS {
                tr {
                    td { (method.name()) }
                    @for (matrix, _) in matrices { td { (yes_or_no(method.learns(matrix))) } }
                    td.paper {
                        @if let Some(row) = paper(method) { @for has in row { (yes_or_no(has)) " " } }
                    }
                }
            }
        }))
    }
}

/// Documents, links and years.
pub fn data(report: &Value) -> Markup {
    let dataset = beside(report);
    let years = |part: &Value| match (part["dates"][0].as_str(), part["dates"][1].as_str()) {
        (Some(first), Some(last)) => {
            let [first, last] = [first, last].map(|date| date.get(..4).unwrap_or(date));
            if first == last { first.to_owned() } else { format!("{first}–{last}") }
        }
        _ => "–".to_owned(),
    };
    html! {
        h2 { "Table 3: data" }
        p.note { "Links among training documents, and from test documents to them." }
        (table(&html! {
            tr {
                (heads(["", "documents", "links", "years"]))
                (paper_heads([&format!("{} documents", dataset.name()), "citations", "years"]))
            }
            @for (part, row) in ["train", "test", "total"].into_iter().zip(dataset.data()) {
                @let own = &report["data"][part];
                tr {
                    td { (part) }
                    td { (thousands(&own["documents"])) }
                    td { (thousands(&own["links"])) }
                    td { (years(own)) }
                    td.paper { (crate::output::thousands(row.docs)) }
                    td.paper { (crate::output::thousands(row.citations)) }
                    td.paper { (row.years) }
                }
            }
        }))
    }
}

pub fn criteria(report: &Value) -> Markup {
    let found = &report["criteria"]["value"];
    let head = html! { h2 { "Table 1: what methods are sensitive to" } };
    if let Some(why) = found["left_out"].as_str() {
        return html! { (head) p { "Left out: " (why) "." } };
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
    html! {
        (head)
        p.note {
            "Measured by probes on a generated corpus whose structure is known: our verdict, the share \
             of probes that meet the criterion, and its interval; beside it the verdict of the paper, or – if it \
             does not have the method."
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
    }
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
