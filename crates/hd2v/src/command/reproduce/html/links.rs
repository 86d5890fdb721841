//! The sections of the page on links.

use std::cmp::Reverse;

use hyperdoc2vec::evaluate::holm;
use maud::{Markup, html};
use serde_json::Value;

use super::super::paper;
use super::super::plot::{Bar, Series, bars, lines};
use super::{array, heads, interval, pair, paper_heads, percent, printed, seconds, table, text};

/// The methods in plots; tables have all.
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

/// The methods in the plot by citation function.
const BY_FUNCTION: [&str; 7] = ["bm25-cited", "d2v-cac", "w2v", "h-d2v-random", "h-d2v-paper", "h-d2v", "hybrid"];

fn name(method: &Value) -> &str {
    method["method"].as_str().unwrap_or_default()
}

fn recall_of(method: &Value) -> f64 {
    method["recall@10"].as_f64().unwrap_or(0.0)
}

fn recall(methods: &[Value], of: &str) -> Option<f64> {
    methods.iter().find(|method| method["method"] == of)?["recall@10"].as_f64()
}

/// The comparison of two methods, as the first less the second.
fn compared<'a>(comparisons: &'a [Value], a: &str, b: &str) -> Option<(&'a Value, f64)> {
    comparisons.iter().find_map(|pair| match (pair["a"].as_str()?, pair["b"].as_str()?) {
        (one, other) if (one, other) == (a, b) => Some((pair, 1.0)),
        (one, other) if (one, other) == (b, a) => Some((pair, -1.0)),
        _ => None,
    })
}

/// A statement of the paper, "the first is above the second", and the result here.
struct Statement {
    above: &'static str,
    below: &'static str,
    points: f64,
    /// 95 % of the points.
    ends: [f64; 2],
    /// Corrected for all statements of the table (Holm).
    p: f64,
}

/// The outcome of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Confirmed,
    Reversed,
    Open,
}

impl Statement {
    /// From the comparison `pair`; `sign` is −1 if it has the two methods in reverse.
    fn new(above: &'static str, below: &'static str, pair: &Value, sign: f64) -> Option<Statement> {
        let points = |value: &Value| value.as_f64().map(|share| 100.0 * sign * share);
        let mut ends = [points(&pair["interval"][0])?, points(&pair["interval"][1])?];
        ends.sort_by(f64::total_cmp);
        Some(Statement { above, below, points: points(&pair["difference"])?, ends, p: pair["p"].as_f64()? })
    }

    fn verdict(&self) -> Verdict {
        match (self.points > 0.0, self.p < 0.05) {
            (_, false) => Verdict::Open,
            (true, true) => Verdict::Confirmed,
            (false, true) => Verdict::Reversed,
        }
    }

    fn row(&self) -> Markup {
        html! {
            tr {
                td { (self.above) " above " (self.below) }
                td { (format!("{:+.1}", self.points)) }
                td { small { (format!("{:+.1} to {:+.1}", self.ends[0], self.ends[1])) } }
                td { (format!("{:.4}", self.p)) }
                td {
                    @match self.verdict() {
                        Verdict::Confirmed => span.yes { "confirmed" },
                        Verdict::Reversed => span.no { "reversed" },
                        Verdict::Open => span.open { "no significant difference" },
                    }
                }
            }
        }
    }
}

/// Statements tested together: each p is corrected for all of them.
fn together(mut statements: Vec<Statement>) -> Vec<Statement> {
    let corrected = holm(&statements.iter().map(|statement| statement.p).collect::<Vec<f64>>());
    statements.iter_mut().zip(corrected).for_each(|(statement, p)| statement.p = p);
    statements
}

/// A statement of the paper, if both methods were evaluated; `of` selects the part of the comparison.
fn stated(part: &Value, (above, below): (&'static str, &'static str), of: fn(&Value) -> &Value) -> Option<Statement> {
    let (pair, sign) = compared(array(&part["comparisons"]), above, below)?;
    Statement::new(above, below, of(pair), sign)
}

/// The order of Table 7, pair by pair, for the methods that were evaluated.
fn order(part: &Value) -> Vec<Statement> {
    let methods = array(&part["methods"]);
    let there: Vec<&'static str> = paper::ORDER.into_iter().filter(|name| recall(methods, name).is_some()).collect();
    together(there.windows(2).filter_map(|two| stated(part, (two[0], two[1]), |pair| pair)).collect())
}

/// Statements on NPM in Table 7.
fn npm(part: &Value) -> Vec<Statement> {
    together(paper::NPM.into_iter().filter_map(|two| stated(part, two, |pair| pair)).collect())
}

/// Statements on newcomers in Table 8.
fn newcomers(part: &Value) -> Vec<Statement> {
    together(paper::NEWCOMERS.into_iter().filter_map(|two| stated(part, two, |pair| &pair["newcomers"])).collect())
}

/// The main results, in a few lines.
pub fn results(report: &Value) -> Markup {
    let part = &report["links"][0];
    let methods = array(&part["methods"]);
    let best = methods.iter().max_by(|a, b| recall_of(a).total_cmp(&recall_of(b)));
    let rivals: Vec<(&'static str, f64)> =
        paper::ORDER.into_iter().filter_map(|name| Some((name, recall(methods, name)?))).collect();
    let rival = rivals.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(rival, _)| *rival);
    let gain = |own: &'static str| stated(part, (own, rival?), |pair| pair);
    let gains = together(["h-d2v", "hybrid"].into_iter().filter_map(gain).collect());
    let order = order(part);
    let count = |verdict: Verdict| order.iter().filter(|statement| statement.verdict() == verdict).count();
    html! {
        @if best.is_some() || !gains.is_empty() || !order.is_empty() {
            div.said {
                ul {
                    @if let Some(best) = best {
                        li {
                            "Best on links: " b { (name(best)) } ", recall@10 " (percent(&best["recall@10"]))
                            " (" (interval(&best["interval"]["recall@10"])) ")."
                        }
                    }
                    @for Statement { above, below, points, ends, p } in &gains {
                        li {
                            (above) " against " (below) ", the best of the paper's methods here ("
                            (rivals.len()) " of " (paper::ORDER.len()) " evaluated): "
                            (format!("{points:+.1} points ({:+.1} to {:+.1}, p {p:.4}).", ends[0], ends[1]))
                        }
                    }
                    @if !order.is_empty() {
                        li {
                            "The order of the paper's Table 7: of " (order.len()) " adjacent pairs, "
                            (count(Verdict::Confirmed)) " confirmed, " (count(Verdict::Reversed)) " reversed, "
                            (count(Verdict::Open)) " without a significant difference."
                        }
                    }
                }
            }
        }
    }
}

pub fn links(report: &Value) -> Markup {
    html! {
        h2 { "Links" }
        @for part in array(&report["links"]) {
            @if part["anchors"] == "drop" { h3 { "Without the anchors of the links" } }
            @let methods = array(&part["methods"]);
            figure style="margin:0" {
                (recall_bars(methods))
                figcaption { "Recall@10 with 95 % intervals; blue: methods of the paper's Table 7." }
            }
            (main_table(report, methods))
            (statements(part))
            h3 { "Recall against the number of hits" }
            (recall_curves(methods))
            (breakdowns(methods))
        }
    }
}

fn recall_bars(methods: &[Value]) -> Markup {
    let bar = |method: &Value| Bar {
        name: name(method).to_owned(),
        share: recall_of(method),
        ends: pair(&method["interval"]["recall@10"]),
        colour: usize::from(!paper::ORDER.contains(&name(method))),
    };
    let mut drawn: Vec<&Value> = methods.iter().collect();
    drawn.sort_by(|a, b| recall_of(b).total_cmp(&recall_of(a)));
    bars("recall@10", &[(String::new(), drawn.into_iter().map(bar).collect())])
}

fn recall_curves(methods: &[Value]) -> Markup {
    let curve = |method: &Value| -> Series {
        let points = array(&method["recall_curve"]).iter().filter_map(|point| point[0].as_f64().zip(point[1].as_f64()));
        (name(method).to_owned(), points.filter(|point| point.0 >= 50.0).collect())
    };
    let mut series: Vec<Series> = methods.iter().filter(|method| DRAWN.contains(&name(method))).map(curve).collect();
    let last = |series: &Series| series.1.last().map_or(0.0, |point| point.1);
    series.sort_by(|a, b| last(b).total_cmp(&last(a)));
    lines("recall against k", "number of hits", &series)
}

fn main_table(report: &Value, methods: &[Value]) -> Markup {
    let figures = &report["paper"]["links"];
    let new = &report["paper"]["newcomers"];
    let given = figures.is_object() || new.is_object();
    let row = |method: &Value| {
        let own = name(method);
        let place = paper::ORDER.iter().position(|other| *other == own);
        html! {
            tr {
                td { (own) }
                td { (percent(&method["recall@10"])) }
                td { small { (interval(&method["interval"]["recall@10"])) } }
                td { (percent(&method["map@10"])) }
                td { (percent(&method["mrr@10"])) }
                td { (percent(&method["ndcg@10"])) }
                td { (percent(&method["newcomers"]["recall@10"])) }
                td.paper { @if let Some(place) = place { (place + 1) } }
                @if given {
                    @for metric in ["recall@10", "map@10", "mrr@10", "ndcg@10"] {
                        td.paper { (printed(&figures[own][metric])) }
                    }
                    td.paper { (printed(&new[own])) }
                }
                td { (seconds(&method["train_seconds"])) }
                td { (seconds(&method["query_seconds"])) }
            }
        }
    };
    table(&html! {
        tr {
            (heads(["method", "recall@10", "[95 %]", "MAP", "MRR", "nDCG", "newcomers"]))
            (paper_heads(["place"]))
            @if given { (paper_heads(["recall", "MAP", "MRR", "nDCG", "newcomers"])) }
            (heads(["train s", "ask s"]))
        }
        @for method in methods { (row(method)) }
    })
}

fn statements(part: &Value) -> Markup {
    let tables = [
        ("The order of the paper's Table 7", order(part)),
        ("NPM, between w2v and w2v-i4i in the paper", npm(part)),
        ("Newcomers (the paper's Table 8)", newcomers(part)),
    ];
    html! {
        @for (head, found) in tables.iter().filter(|(_, found)| !found.is_empty()) {
            h3 { (head) }
            (table(&html! {
                tr { (heads(["in the paper", "points here", "[95 %]", "p (Holm)", "here"])) }
                @for statement in found { (statement.row()) }
            }))
        }
    }
}

/// A table of recall@10 with a row per method and a column per part of `key`.
fn recall_by(methods: &[Value], key: &str) -> Markup {
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
                    tr { (heads(["label", "positions"])) @for method in methods { th { (name(method)) } } }
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

pub fn functions(report: &Value) -> Option<Markup> {
    let methods = array(&report["links"][0]["methods"]);
    let names = methods.first().map(|method| array(&method["by_function"])).unwrap_or_default();
    let group = |(number, function): (usize, &Value)| {
        let drawn = methods.iter().filter(|method| BY_FUNCTION.contains(&name(method)));
        let bar = |(colour, method): (usize, &Value)| {
            let part = &method["by_function"][number];
            Bar { name: name(method).to_owned(), share: recall_of(part), ends: pair(&part["interval"]), colour }
        };
        let head = format!("{}, {} positions", text(&function["name"]), function["positions"]);
        (head, drawn.enumerate().map(bar).collect::<Vec<Bar>>())
    };
    let asked = |(_, function): &(usize, &Value)| function["positions"].as_u64().is_some_and(|positions| positions > 0);
    let groups: Vec<(String, Vec<Bar>)> = names.iter().enumerate().filter(asked).map(group).collect();
    (!groups.is_empty()).then(|| {
        html! {
            h2 { "Links by citation function" }
            p.note {
                "An SVM fitted to the labelled contexts predicts the function of each test link (C " (report["functions"]["c"])
                "). Recall@10 by function, with 95 % intervals."
            }
            (bars("recall@10 by function", &groups))
            (recall_by(methods, "by_function"))
            (paper_by_function(methods))
        }
    })
}

/// The paper's statement on recall by function, and the result here.
fn paper_by_function(methods: &[Value]) -> Markup {
    let of = |wanted: &str| methods.iter().find(|method| name(method) == wanted).map(|one| array(&one["by_function"]));
    let [Some(own), Some(w2v), Some(d2v)] = paper::BY_FUNCTION.map(of) else { return html! {} };
    let positions = |number: &usize| own[*number]["positions"].as_u64().unwrap_or(0);
    let mut largest: Vec<usize> = (0..own.len()).filter(|number| positions(number) > 0).collect();
    largest.sort_by_key(|number| Reverse(positions(number)));
    largest.truncate(paper::LARGEST);
    let share = |parts: &[Value], number: usize| parts.get(number).map_or(0.0, recall_of);
    let above = |&&number: &&usize| share(own, number) > share(w2v, number).max(share(d2v, number));
    let [method, first, second] = paper::BY_FUNCTION;
    html! {
        p {
            "In the paper " (method) " is above " (first) " and " (second) " on the " (paper::LARGEST)
            " largest functions; here on " (largest.iter().filter(above).count()) " of the " (largest.len())
            " largest (not tested)."
        }
    }
}

pub fn examples(report: &Value) -> Option<Markup> {
    let examples = array(&report["examples"]);
    (!examples.is_empty()).then(|| {
        html! {
            h2 { "An example" }
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
        p { "Ranks of the true targets, the first ten in bold:" }
        (table(&html! {
            tr {
                th { "method" }
                @for truth in truths {
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
                                Some(0) | None => "beyond 1000",
                                Some(place) if place <= 10 => b { (place) },
                                Some(place) => (place),
                            }
                        }
                    }
                }
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_statement_on_functions_is_counted_on_the_largest() {
        let method = |name: &str, shares: [f64; 4]| {
            let part = |(positions, share): (u64, f64)| json!({"positions": positions, "recall@10": share});
            let parts: Vec<Value> = [9, 0, 5, 7].into_iter().zip(shares).map(part).collect();
            json!({"method": name, "by_function": parts})
        };
        let mut methods = vec![
            method("h-d2v-paper", [0.5, 0.9, 0.2, 0.4]),
            method("w2v", [0.4, 0.0, 0.1, 0.4]),
            method("d2v-cac", [0.3, 0.0, 0.3, 0.1]),
        ];
        // The second has no positions; d2v-cac is above on the third, and w2v ties on the last.
        let sentence = paper_by_function(&methods).into_string();
        assert!(sentence.contains("here on 1 of the 3 largest"), "{sentence}");
        methods.pop();
        assert_eq!(paper_by_function(&methods).into_string(), "");
    }

    #[test]
    fn statements_of_the_paper_are_read_off_the_comparisons() {
        let newcomers = json!({"difference": 0.1, "interval": [0.05, 0.15], "p": 0.001});
        let part = json!({"methods": [], "comparisons": [
            {"a": "npm", "b": "w2v", "difference": -0.2, "interval": [-0.25, -0.15], "p": 0.01, "newcomers": newcomers},
            {"a": "npm", "b": "w2v-i4i", "difference": -0.1, "interval": [-0.2, 0.0], "p": 0.04, "newcomers": newcomers},
            {"a": "d2v-nc", "b": "w2v", "difference": 0.0, "interval": [0.0, 0.0], "p": 1.0, "newcomers": newcomers},
        ]});
        let verdicts = |found: Vec<Statement>| -> Vec<String> {
            found
                .iter()
                .map(|one| format!("{} {} {:+.0} {:?}", one.above, one.below, one.points, one.verdict()))
                .collect()
        };
        let found = verdicts(npm(&part));
        assert!(found[0].starts_with("w2v npm +20") && found[0].contains("Confirmed"), "{found:?}");
        assert!(found[1].starts_with("npm w2v-i4i -10") && found[1].contains("Reversed"), "{found:?}");
        let found = verdicts(super::newcomers(&part));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("d2v-nc w2v +10") && found[0].contains("Confirmed"), "{found:?}");
    }
}
