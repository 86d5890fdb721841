//! The orders of the paper's tables of links, each pair tested here.

use hyperdoc2vec::evaluate::holm;
use maud::{Markup, html};
use serde_json::Value;

use super::super::paper::{Dataset, NEWCOMERS, PaperOrder, orders};
use super::{array, beside, heads, interval, name, paper_heads, percent, table};

/// A pair of methods in the order of the paper, and the result here.
pub struct Statement {
    order: PaperOrder,
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
    /// If both methods were compared; `of` selects the part of the comparison.
    fn new(part: &Value, order: PaperOrder, of: fn(&Value) -> &Value) -> Option<Statement> {
        let (pair, sign) = compared(array(&part["comparisons"]), order.above, order.below)?;
        let pair = of(pair);
        // No −0.
        let points = |value: &Value| value.as_f64().map(|share| 100.0 * sign * share + 0.0);
        let mut ends = [points(&pair["interval"][0])?, points(&pair["interval"][1])?];
        ends.sort_by(f64::total_cmp);
        Some(Statement { order, points: points(&pair["difference"])?, ends, p: pair["p"].as_f64()? })
    }

    fn verdict(&self) -> Verdict {
        match (self.points > 0.0, self.p < 0.05) {
            (_, false) => Verdict::Open,
            (true, true) => Verdict::Confirmed,
            (false, true) => Verdict::Reversed,
        }
    }

    /// The other data sets on which the paper has the two the other way round.
    fn against(&self, dataset: Option<Dataset>) -> Vec<&'static str> {
        let others = Dataset::ALL.into_iter().filter(|&other| dataset.is_some_and(|dataset| other != dataset));
        others.filter(|&other| !self.order.holds_on(other)).map(Dataset::name).collect()
    }

    fn row(&self, dataset: Option<Dataset>) -> Markup {
        let against = self.against(dataset);
        html! {
            tr {
                td {
                    (self.order.above) " above " (self.order.below)
                    @if !self.order.by_all_metrics() { small { " (by recall only)" } }
                }
                td.paper { (format!("{:+.2}", self.order.points[0])) }
                @if dataset.is_some() { td.paper { (against.join(", ")) } }
                td { (format!("{:+.1}", self.points)) }
                td { small { (format!("{:+.1} to {:+.1}", self.ends[0], self.ends[1])) } }
                td { (format!("{:.4}", self.p)) }
                td {
                    @match self.verdict() {
                        Verdict::Confirmed => span.yes { "confirmed" },
                        Verdict::Reversed if against.is_empty() => span.no { "reversed" },
                        Verdict::Reversed => span.open { "reversed, as on " (against.join(" and ")) },
                        Verdict::Open => span.open { "no significant difference" },
                    }
                }
            }
        }
    }
}

/// The comparison of two methods, as the first less the second.
fn compared<'a>(comparisons: &'a [Value], a: &str, b: &str) -> Option<(&'a Value, f64)> {
    comparisons.iter().find_map(|pair| match (pair["a"].as_str()?, pair["b"].as_str()?) {
        (one, other) if (one, other) == (a, b) => Some((pair, 1.0)),
        (one, other) if (one, other) == (b, a) => Some((pair, -1.0)),
        _ => None,
    })
}

/// Statements tested together: each p is corrected for all of them.
fn together(mut statements: Vec<Statement>) -> Vec<Statement> {
    let corrected = holm(&statements.iter().map(|statement| statement.p).collect::<Vec<f64>>());
    statements.iter_mut().zip(corrected).for_each(|(statement, p)| statement.p = p);
    statements
}

fn there(part: &Value) -> impl Fn(&str) -> bool + '_ {
    move |wanted: &str| array(&part["methods"]).iter().any(|method| name(method) == wanted)
}

/// The order of Table 6 on one of the paper's data sets, pair by pair, for the methods that were evaluated.
fn of_links(part: &Value, dataset: Dataset) -> Vec<Statement> {
    let orders = orders(&dataset.links(), there(part));
    together(orders.into_iter().filter_map(|order| Statement::new(part, order, |pair| pair)).collect())
}

/// The order of Table 7, on positions with a newcomer among their truths.
fn of_newcomers(part: &Value) -> Vec<Statement> {
    let of = |pair| Statement::new(part, pair, |pair: &Value| &pair["newcomer_positions"]);
    together(orders(&NEWCOMERS, there(part)).into_iter().filter_map(of).collect())
}

fn shown(head: &str, found: &[Statement], dataset: Option<Dataset>) -> Markup {
    html! {
        @if !found.is_empty() {
            h3 { (head) }
            (table(&html! {
                tr {
                    th { "in the paper" }
                    (paper_heads(["points"]))
                    @if dataset.is_some() { (paper_heads(["but not on"])) }
                    (heads(["points here", "[95 %]", "p (Holm)", "here"]))
                }
                @for statement in found { (statement.row(dataset)) }
            }))
        }
    }
}

pub fn links(report: &Value, part: &Value) -> Markup {
    let dataset = beside(report);
    shown(&format!("The order of Table 6 on {}", dataset.name()), &of_links(part, dataset), Some(dataset))
}

pub fn newcomers(part: &Value) -> Markup {
    shown("The order of Table 7 on DBLP", &of_newcomers(part), None)
}

/// The results in a few sentences.
pub fn results(report: &Value) -> Markup {
    let part = &report["links"][0];
    let methods = array(&part["methods"]);
    let recall = |method: &Value| method["recall@10"].as_f64().unwrap_or(0.0);
    let best = methods.iter().max_by(|a, b| recall(a).total_cmp(&recall(b)));
    let dataset = beside(report);
    let rivals = dataset.links().map(|row| row.0);
    let rivals: Vec<&Value> = methods.iter().filter(|method| rivals.contains(&name(method))).collect();
    let rival = rivals.iter().max_by(|a, b| recall(a).total_cmp(&recall(b))).map(|rival| name(rival));
    let gain = |own: &'static str| {
        let (pair, sign) = compared(array(&part["comparisons"]), own, rival?)?;
        let points = |value: &Value| 100.0 * sign * value.as_f64().unwrap_or(0.0);
        let mut ends = [points(&pair["interval"][0]), points(&pair["interval"][1])];
        ends.sort_by(f64::total_cmp);
        Some((own, points(&pair["difference"]), ends, pair["p"].as_f64()?))
    };
    let mut gains: Vec<_> = ["h-d2v", "hybrid"].into_iter().filter_map(gain).collect();
    let corrected = holm(&gains.iter().map(|gain| gain.3).collect::<Vec<f64>>());
    gains.iter_mut().zip(corrected).for_each(|(gain, p)| gain.3 = p);
    let order = of_links(part, dataset);
    let count = |verdict: Verdict| order.iter().filter(|statement| statement.verdict() == verdict).count();
    let elsewhere =
        order.iter().filter(|one| one.verdict() == Verdict::Reversed && !one.against(Some(dataset)).is_empty());
    let elsewhere = elsewhere.count();
    html! {
        @if best.is_some() || !order.is_empty() {
            div.said {
                ul {
                    @if let Some(best) = best {
                        li {
                            "Best on links: " b { (name(best)) } ", recall@10 " (percent(&best["recall@10"]))
                            " (" (interval(&best["interval"]["recall@10"])) ")."
                        }
                    }
                    @for (own, points, ends, p) in &gains {
                        li {
                            (own) " against " (rival.unwrap_or_default()) ", the best of the paper's methods here ("
                            (rivals.len()) " of " (dataset.links().len()) " evaluated): "
                            (format!("{points:+.1} points ({:+.1} to {:+.1}, p {p:.4}).", ends[0], ends[1]))
                        }
                    }
                    @if !order.is_empty() {
                        li {
                            "The order of Table 6 on " (dataset.name()) ": of " (order.len()) " adjacent pairs, "
                            (count(Verdict::Confirmed)) " confirmed, " (count(Verdict::Reversed)) " reversed"
                            @if elsewhere > 0 { " (" (elsewhere) " of them as on another data set of the paper)" }
                            ", " (count(Verdict::Open)) " without a significant difference."
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn statements_of_the_paper_are_read_off_the_comparisons() {
        let with = json!({"difference": 0.1, "interval": [0.05, 0.15], "p": 0.001});
        let method = |name: &str| json!({"method": name, "recall@10": 0.1});
        let methods = ["npm", "w2v", "w2v-i4i", "d2v-nc"].map(method);
        let part = json!({"methods": methods, "comparisons": [
            {"a": "npm", "b": "w2v", "difference": -0.2, "interval": [-0.25, -0.15], "p": 0.01, "newcomer_positions": with},
            {"a": "npm", "b": "w2v-i4i", "difference": -0.1, "interval": [-0.2, 0.0], "p": 0.01, "newcomer_positions": with},
            {"a": "d2v-nc", "b": "w2v", "difference": -0.1, "interval": [-0.2, -0.05], "p": 0.001, "newcomer_positions": with},
            {"a": "d2v-nc", "b": "npm", "difference": 0.0, "interval": [0.0, 0.0], "p": 1.0, "newcomer_positions": with},
        ]});
        let verdicts = |found: &[Statement]| -> Vec<String> {
            let one = |one: &Statement| {
                format!("{} {} {:+.0} {:?}", one.order.above, one.order.below, one.points, one.verdict())
            };
            found.iter().map(one).collect()
        };
        let acl = of_links(&part, Dataset::Acl);
        assert_eq!(verdicts(&acl), ["d2v-nc w2v -10 Reversed", "w2v npm +20 Confirmed", "npm w2v-i4i -10 Reversed"]);
        // On DBLP the paper has w2v above d2v-nc itself: no alarm.
        assert_eq!(acl[0].against(Some(Dataset::Acl)), ["DBLP"]);
        assert!(acl[0].row(Some(Dataset::Acl)).into_string().contains("reversed, as on DBLP"));
        assert!(acl[2].row(Some(Dataset::Acl)).into_string().contains("class=\"no\">reversed<"));
        let dblp = of_links(&part, Dataset::Dblp);
        assert_eq!(verdicts(&dblp)[..2], ["w2v d2v-nc +10 Confirmed", "d2v-nc npm +0 Open"]);
        assert_eq!(verdicts(&of_newcomers(&part)), ["d2v-nc w2v +10 Confirmed", "w2v npm -10 Reversed"]);
    }
}
