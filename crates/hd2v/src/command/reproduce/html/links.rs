//! The sections of the page on links: Tables 6 and 7, Figure 3, and what the paper does not have.

use maud::{Markup, html};
use serde_json::Value;

use super::super::paper::{DIMENSIONS, Dataset, METRICS, NEWCOMER_POSITIONS, NEWCOMERS};
use super::super::plot::{Axis, Bar, PlotMark, Series, bars, lines, swatch};
use super::{
    array, beside, heads, interval, name, pair, paper_heads, percent, printed, row_of, seconds, statements, table,
    text, thousands,
};

/// The methods in plots over hits; tables have all.
const DRAWN: [&str; 12] = [
    "popular",
    "bm25-cited",
    "w2v-i4i",
    "w2v",
    "d2v-nc",
    "d2v-cac",
    "npm",
    "h-d2v-random",
    "h-d2v-paper",
    "h-d2v",
    "hybrid",
    "hybrid-source",
];

pub fn recall_of(method: &Value) -> f64 {
    method["recall@10"].as_f64().unwrap_or(0.0)
}

/// A head for each part of the links, if there are several.
fn part_head(part: &Value) -> Markup {
    html! { @if part["anchors"] == "drop" { h3 { "Without the anchors of the links" } } }
}

pub fn links(report: &Value) -> Markup {
    let dataset = beside(report);
    html! {
        h2 { "Table 6: links recommended" }
        @for part in array(&report["links"]) {
            (part_head(part))
            @let methods = array(&part["methods"]);
            figure style="margin:0" {
                (recall_bars(methods))
                figcaption {
                    "Recall@10 with 95 % intervals. " (swatch(0, "methods of the paper's table")) (swatch(1, "others"))
                }
            }
            (table_6(methods, dataset))
            (statements::links(report, part))
        }
    }
}

fn recall_bars(methods: &[Value]) -> Markup {
    let bar = |method: &Value| Bar {
        name: name(method).to_owned(),
        share: recall_of(method),
        ends: pair(&method["interval"]["recall@10"]),
        colour: usize::from(row_of(&Dataset::Acl.links(), name(method)).is_none()),
    };
    let mut drawn: Vec<&Value> = methods.iter().collect();
    drawn.sort_by(|a, b| recall_of(b).total_cmp(&recall_of(a)));
    bars("recall@10", &[(String::new(), drawn.into_iter().map(bar).collect())])
}

/// The metrics of the paper for a method, a cell each.
fn paper_cells(row: Option<[f64; 4]>) -> Markup {
    html! { @for metric in 0..4 { td.paper { (printed(row.map(|row| row[metric]))) } } }
}

fn table_6(methods: &[Value], dataset: Dataset) -> Markup {
    table(&html! {
        tr {
            (heads(["method", "recall@10", "[95 %]", "MAP", "MRR", "nDCG"]))
            (paper_heads(["recall", "MAP", "MRR", "nDCG"]))
        }
        @for method in methods {
            tr {
                td { (name(method)) }
                td { (percent(&method["recall@10"])) }
                td { small { (interval(&method["interval"]["recall@10"])) } }
                @for metric in &METRICS[1..] { td { (percent(&method[*metric])) } }
                (paper_cells(row_of(&dataset.links(), name(method))))
            }
        }
    })
}

pub fn newcomers(report: &Value) -> Markup {
    html! {
        h2 { "Table 7: newcomers" }
        p.note {
            "Positions with at least one newcomer among their truths, a training document that no training document links to. \
             As in the paper, all truths of such a position count, so that a method may score by the others. The stricter \
             reading counts the newcomers alone. The paper's figures are those of DBLP, on "
            (crate::output::thousands(NEWCOMER_POSITIONS)) " positions."
        }
        @for part in array(&report["links"]) {
            (part_head(part))
            @let methods = array(&part["methods"]);
            @let positions = methods.first().map(|method| &method["newcomer_positions"]["positions"]);
            @if positions.and_then(Value::as_u64).unwrap_or(0) == 0 {
                p { "No test position has a newcomer among its truths." }
            } @else {
                p { (positions.map(thousands).unwrap_or_default()) " positions." }
                (table_7(methods))
                (statements::newcomers(part))
            }
        }
    }
}

fn table_7(methods: &[Value]) -> Markup {
    table(&html! {
        tr {
            (heads(["method", "recall@10", "[95 %]", "MAP", "MRR", "nDCG"]))
            (paper_heads(["recall", "MAP", "MRR", "nDCG"]))
            (heads(["newcomers alone: recall@10", "[95 %]"]))
        }
        @for method in methods {
            @let found = &method["newcomer_positions"];
            tr {
                td { (name(method)) }
                td { (percent(&found["recall@10"])) }
                td { small { (interval(&found["interval"]["recall@10"])) } }
                @for metric in &METRICS[1..] { td { (percent(&found[*metric])) } }
                (paper_cells(row_of(&NEWCOMERS, name(method))))
                td { (percent(&method["newcomers"]["recall@10"])) }
                td { small { (interval(&method["newcomers"]["interval"])) } }
            }
        }
    })
}

/// Recall against the number of dimensions.
pub fn dimensions(report: &Value) -> Option<Markup> {
    let found = array(&report["dimensions"]);
    let methods = found.first().map(|one| array(&one["methods"]))?;
    let at = |number: usize, one: &Value| Some((one["dim"].as_f64()?, one["methods"][number]["recall@10"].as_f64()?));
    let curve = |(number, method): (usize, &Value)| -> Series {
        (name(method).to_owned(), found.iter().filter_map(|one| at(number, one)).collect())
    };
    let series: Vec<Series> = methods.iter().enumerate().map(curve).collect();
    let mark = |(method, dim, recall): (&str, usize, f64)| {
        let colour = methods.iter().position(|other| name(other) == method).unwrap_or(methods.len());
        let text = format!("{recall} ({method} in the paper)");
        PlotMark { colour, at: (dim as f64, recall / 100.0), text }
    };
    let marks: Vec<PlotMark> = DIMENSIONS.into_iter().map(mark).collect();
    let tables = Dataset::Dblp.links();
    let axis = Axis { name: "dimensions k (logarithmic)", logarithmic: true };
    Some(html! {
        h2 { "Figure 3: recall@10 against the number of dimensions" }
        figure style="margin:0" {
            (lines("recall@10 against dimensions", &axis, &series, &marks))
            figcaption {
                "Diamonds: the two points that the paper names, on DBLP, whatever the corpus of this report. Its Table 6 has \
                 the figures of DBLP at k = 100."
            }
        }
        (table(&html! {
            tr {
                th { "method" }
                @for one in found { th { "k = " (one["dim"]) } th { "[95 %]" } }
                (paper_heads(["DBLP, k = 100", "DBLP, best named"]))
            }
            @for (number, method) in methods.iter().enumerate() {
                @let named = DIMENSIONS.iter().find(|point| point.0 == name(method));
                tr {
                    td { (name(method)) }
                    @for one in found {
                        @let cell = &one["methods"][number];
                        td { (percent(&cell["recall@10"])) }
                        td { small { (interval(&cell["interval"])) } }
                    }
                    td.paper { (printed(row_of(&tables, name(method)).map(|row| row[0]))) }
                    td.paper { @if let Some((_, dim, recall)) = named { (recall) " at " (dim) } }
                }
            }
        }))
    })
}

/// The parts on links that the paper does not have.
pub fn more(report: &Value) -> Markup {
    html! {
        h2 { "More on links" }
        @for part in array(&report["links"]) {
            (part_head(part))
            @let methods = array(&part["methods"]);
            h3 { "Recall against the number of hits" }
            (recall_curves(methods))
            (breakdowns(methods))
            details {
                summary { "Times" }
                (table(&html! {
                    tr { (heads(["method", "training, s", "asking, s"])) }
                    @for method in methods {
                        tr {
                            td { (name(method)) }
                            td { (seconds(&method["train_seconds"])) }
                            td { (seconds(&method["query_seconds"])) }
                        }
                    }
                }))
            }
        }
    }
}

fn recall_curves(methods: &[Value]) -> Markup {
    let curve = |method: &Value| -> Series {
        let points = array(&method["recall_curve"]).iter().filter_map(|point| point[0].as_f64().zip(point[1].as_f64()));
        (name(method).to_owned(), points.filter(|point| point.0 >= 50.0).collect())
    };
    let mut series: Vec<Series> = methods.iter().filter(|method| DRAWN.contains(&name(method))).map(curve).collect();
    let last = |series: &Series| series.1.last().map_or(0.0, |point| point.1);
    series.sort_by(|a, b| last(b).total_cmp(&last(a)));
    lines("recall against hits", &Axis { name: "number of hits", logarithmic: false }, &series, &[])
}

/// A table of recall@10 with a row per method and a column per part of `key`.
pub fn recall_by(methods: &[Value], key: &str) -> Markup {
    let parts = methods.first().map(|method| array(&method[key])).unwrap_or_default();
    table(&html! {
        tr {
            th { "method" }
            @for part in parts { th { (text(&part["name"])) br; small { (part["positions"]) } } }
        }
        @for method in methods {
            tr {
                td { (name(method)) }
                @for part in array(&method[key]) {
                    td { @if part["positions"] == 0 { "–" } @else { (percent(&part["recall@10"])) } }
                }
            }
        }
    })
}

fn breakdowns(methods: &[Value]) -> Markup {
    let labels = methods.first().map(|method| array(&method["by_label"])).unwrap_or_default();
    html! {
        h3 { "Recall@10 by number of links to the target" }
        (recall_by(methods, "by_links"))
        @if !labels.is_empty() {
            details {
                summary { "Recall@10 by label of the target" }
                (table(&html! {
                    tr { (heads(["label", "positions"])) @for method in methods { th.tall { (name(method)) } } }
                    @for (number, label) in labels.iter().enumerate() {
                        tr {
                            td { (text(&label["name"])) }
                            td { (label["positions"]) }
                            @for method in methods { td { (percent(&method["by_label"][number]["recall@10"])) } }
                        }
                    }
                }))
            }
        }
    }
}
