//! The parts of the page that are about links.

use hyperdoc2vec::evaluate::stats::holm;
use serde_json::Value;

use super::super::paper;
use super::super::plot::{Bar, Series, bars, escaped, lines};
use super::{array, ends, heads, pair, percent, printed, seconds, table, text};

/// What is drawn; tables have all.
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

/// What is drawn for each citation function.
const BY_FUNCTION: [&str; 7] = ["bm25-cited", "d2v-cac", "w2v", "h-d2v-random", "h-d2v-paper", "h-d2v", "hybrid"];

fn name(method: &Value) -> &str {
    method["method"].as_str().unwrap_or_default()
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

/// A statement of the paper, "the first is above the second", and what is found here.
struct Statement {
    above: &'static str,
    below: &'static str,
    points: f64,
    /// 95 % of the points.
    ends: [f64; 2],
    /// Corrected for all statements of the table (Holm).
    p: f64,
}

impl Statement {
    /// What `pair` says of the two, with the sign turned where it has them the other way round.
    fn new(above: &'static str, below: &'static str, pair: &Value, sign: f64) -> Option<Statement> {
        let points = |value: &Value| value.as_f64().map(|share| 100.0 * sign * share);
        let mut ends = [points(&pair["interval"][0])?, points(&pair["interval"][1])?];
        ends.sort_by(f64::total_cmp);
        Some(Statement { above, below, points: points(&pair["difference"])?, ends, p: pair["p"].as_f64()? })
    }

    fn verdict(&self) -> &'static str {
        match (self.points > 0.0, self.p < 0.05) {
            (_, false) => "<span class=\"open\">no difference shown</span>",
            (true, true) => "<span class=\"yes\">confirmed</span>",
            (false, true) => "<span class=\"no\">the other way round</span>",
        }
    }

    fn row(&self) -> Vec<String> {
        vec![
            format!("{} above {}", self.above, self.below),
            format!("{:+.1}", self.points),
            format!("<small>{:+.1} to {:+.1}</small>", self.ends[0], self.ends[1]),
            format!("{:.4}", self.p),
            self.verdict().to_owned(),
        ]
    }
}

/// Statements that are made together: each p is corrected for all of them.
fn together(mut statements: Vec<Statement>) -> Vec<Statement> {
    let corrected = holm(&statements.iter().map(|statement| statement.p).collect::<Vec<f64>>());
    statements.iter_mut().zip(corrected).for_each(|(statement, p)| statement.p = p);
    statements
}

/// A statement of the paper where both methods were asked; `of` is the part of the comparison that it is about.
fn stated(part: &Value, (above, below): (&'static str, &'static str), of: fn(&Value) -> &Value) -> Option<Statement> {
    let (pair, sign) = compared(array(&part["comparisons"]), above, below)?;
    Statement::new(above, below, of(pair), sign)
}

/// The order of Table 7, neighbour by neighbour, of the methods that were asked.
fn order(part: &Value) -> Vec<Statement> {
    let methods = array(&part["methods"]);
    let there: Vec<&'static str> = paper::ORDER.into_iter().filter(|name| recall(methods, name).is_some()).collect();
    together(there.windows(2).filter_map(|two| stated(part, (two[0], two[1]), |pair| pair)).collect())
}

/// What is said of NPM in Table 7.
fn npm(part: &Value) -> Vec<Statement> {
    together(paper::NPM.into_iter().filter_map(|two| stated(part, two, |pair| pair)).collect())
}

/// What Table 8 says of newcomers.
fn newcomers(part: &Value) -> Vec<Statement> {
    together(paper::NEWCOMERS.into_iter().filter_map(|two| stated(part, two, |pair| &pair["newcomers"])).collect())
}

/// What came out, in a few lines.
pub fn said(report: &Value) -> String {
    let part = &report["links"][0];
    let methods = array(&part["methods"]);
    let value = |method: &&Value| method["recall@10"].as_f64().unwrap_or(0.0);
    let mut out = Vec::new();
    if let Some(best) = methods.iter().max_by(|a, b| value(a).total_cmp(&value(b))) {
        out.push(format!(
            "Best on links: <b>{}</b>, recall@10 {} ({}).",
            text(&best["method"]),
            percent(&best["recall@10"]),
            ends(&best["interval"]["recall@10"])
        ));
    }
    let rivals: Vec<(&'static str, f64)> =
        paper::ORDER.into_iter().filter_map(|name| Some((name, recall(methods, name)?))).collect();
    if let Some((rival, _)) = rivals.iter().max_by(|a, b| a.1.total_cmp(&b.1)) {
        let gain = |own: &'static str| stated(part, (own, rival), |pair| pair);
        for Statement { above, points, ends, p, .. } in
            together(["h-d2v", "hybrid"].into_iter().filter_map(gain).collect())
        {
            out.push(format!(
                "{above} against the best of the paper's methods that were asked ({rival}; {} of {}): {points:+.1} points ({:+.1} \
                 to {:+.1}, p {p:.4}).",
                rivals.len(),
                paper::ORDER.len(),
                ends[0],
                ends[1]
            ));
        }
    }
    let statements = order(part);
    if !statements.is_empty() {
        let count = |what: &str| statements.iter().filter(|statement| statement.verdict().contains(what)).count();
        out.push(format!(
            "The order of the paper's Table 7: of {} neighbours {} confirmed, {} the other way round, {} not told apart.",
            statements.len(),
            count("confirmed"),
            count("other way"),
            count("no difference")
        ));
    }
    if out.is_empty() {
        return String::new();
    }
    let items: String = out.iter().map(|line| format!("<li>{line}</li>")).collect();
    format!("<div class=\"said\"><ul>{items}</ul></div>")
}

pub fn links(report: &Value) -> String {
    let mut out = "<h2>Links</h2>".to_owned();
    for part in array(&report["links"]) {
        if part["anchors"] == "drop" {
            out += "<h3>The links' own words left out of the questions</h3>";
        }
        let methods = array(&part["methods"]);
        let bar = |method: &Value| Bar {
            name: name(method).to_owned(),
            share: method["recall@10"].as_f64().unwrap_or(0.0),
            ends: pair(&method["interval"]["recall@10"]),
            colour: usize::from(!paper::ORDER.contains(&name(method))),
        };
        let mut drawn: Vec<&Value> = methods.iter().collect();
        let value = |method: &Value| method["recall@10"].as_f64().unwrap_or(0.0);
        drawn.sort_by(|a, b| value(b).total_cmp(&value(a)));
        out += "<figure style=\"margin:0\">";
        out += &bars("recall@10", &[(String::new(), drawn.into_iter().map(bar).collect())]);
        out += "<figcaption>Recall@10 with 95 % intervals; blue: methods of the paper's Table 7.</figcaption></figure>";
        out += &main_table(report, methods);
        out += &statements(part);
        let curve = |method: &Value| -> Series {
            let points =
                array(&method["recall_curve"]).iter().filter_map(|point| point[0].as_f64().zip(point[1].as_f64()));
            (name(method).to_owned(), points.filter(|point| point.0 >= 50.0).collect())
        };
        let mut series: Vec<Series> =
            methods.iter().filter(|method| DRAWN.contains(&name(method))).map(curve).collect();
        series.sort_by(|a, b| {
            let last = |series: &Series| series.1.last().map_or(0.0, |point| point.1);
            last(b).total_cmp(&last(a))
        });
        out += "<h3>Recall against the number of hits</h3>";
        out += &lines("recall against k", "hits looked at", &series);
        out += &breakdowns(methods);
    }
    out
}

fn main_table(report: &Value, methods: &[Value]) -> String {
    let figures = &report["paper"]["links"];
    let new = &report["paper"]["newcomers"];
    let given = figures.is_object() || new.is_object();
    let row = |method: &Value| {
        let own = name(method);
        let place = paper::ORDER.iter().position(|other| *other == own);
        let mut row = vec![
            escaped(own),
            percent(&method["recall@10"]),
            format!("<small>{}</small>", ends(&method["interval"]["recall@10"])),
            percent(&method["map@10"]),
            percent(&method["mrr@10"]),
            percent(&method["ndcg@10"]),
            percent(&method["newcomers"]["recall@10"]),
            place.map_or(String::new(), |place| (place + 1).to_string()),
        ];
        if given {
            row.extend(["recall@10", "map@10", "mrr@10", "ndcg@10"].map(|metric| printed(&figures[own][metric])));
            row.push(printed(&new[own]));
        }
        row.extend([seconds(&method["train_seconds"]), seconds(&method["query_seconds"])]);
        row
    };
    let mut names = heads(&["method", "recall@10", "[95 %]", "MAP", "MRR", "nDCG", "newcomers", "paper: place"]);
    if given {
        names.extend(heads(&["paper: recall", "paper: MAP", "paper: MRR", "paper: nDCG", "paper: newcomers"]));
    }
    names.extend(heads(&["train s", "ask s"]));
    table(&names, &methods.iter().map(row).collect::<Vec<_>>())
}

fn statements(part: &Value) -> String {
    let mut out = String::new();
    for (head, found) in [
        ("The order of the paper's Table 7", order(part)),
        ("NPM, in the paper between w2v and w2v-i4i", npm(part)),
        ("Newcomers, as the paper's Table 8 has them", newcomers(part)),
    ] {
        if !found.is_empty() {
            let rows: Vec<Vec<String>> = found.iter().map(Statement::row).collect();
            let names = heads(&["in the paper", "points here", "[95 %]", "p (Holm)", "here"]);
            out += &format!("<h3>{head}</h3>{}", table(&names, &rows));
        }
    }
    out
}

fn breakdowns(methods: &[Value]) -> String {
    let mut out = "<h3>Recall@10 by the links to the target</h3>".to_owned();
    let bins = methods.first().map(|method| array(&method["by_links"])).unwrap_or_default();
    let mut names = vec!["method".to_owned()];
    names.extend(bins.iter().map(|bin| format!("{}<br><small>{}</small>", text(&bin["name"]), bin["positions"])));
    let share = |bin: &Value| if bin["positions"] == 0 { "–".to_owned() } else { percent(&bin["recall@10"]) };
    let row = |method: &Value| -> Vec<String> {
        [text(&method["method"])].into_iter().chain(array(&method["by_links"]).iter().map(share)).collect()
    };
    out += &table(&names, &methods.iter().map(row).collect::<Vec<_>>());
    let labels = methods.first().map(|method| array(&method["by_label"])).unwrap_or_default();
    if !labels.is_empty() {
        out += "<details><summary>Recall@10 by the label of the target</summary>";
        let mut names = vec!["label".to_owned(), "positions".to_owned()];
        names.extend(methods.iter().map(|method| text(&method["method"])));
        let row = |(number, label): (usize, &Value)| {
            let mut row = vec![text(&label["name"]), label["positions"].to_string()];
            row.extend(methods.iter().map(|method| percent(&method["by_label"][number]["recall@10"])));
            row
        };
        out += &table(&names, &labels.iter().enumerate().map(row).collect::<Vec<_>>());
        out += "</details>";
    }
    out
}

pub fn functions(report: &Value) -> String {
    let methods = array(&report["links"][0]["methods"]);
    let names = methods.first().map(|method| array(&method["by_function"])).unwrap_or_default();
    let group = |(number, function): (usize, &Value)| {
        let drawn = methods.iter().filter(|method| BY_FUNCTION.contains(&name(method)));
        let bar = |(colour, method): (usize, &Value)| {
            let part = &method["by_function"][number];
            Bar {
                name: name(method).to_owned(),
                share: part["recall@10"].as_f64().unwrap_or(0.0),
                ends: pair(&part["interval"]),
                colour,
            }
        };
        let head = format!("{}, {} positions", function["name"].as_str().unwrap_or_default(), function["positions"]);
        (head, drawn.enumerate().map(bar).collect::<Vec<Bar>>())
    };
    let asked = |(_, function): &(usize, &Value)| function["positions"].as_u64().is_some_and(|positions| positions > 0);
    let groups: Vec<(String, Vec<Bar>)> = names.iter().enumerate().filter(asked).map(group).collect();
    if groups.is_empty() {
        return String::new();
    }
    format!(
        "<h2>Links by citation function</h2><p class=\"note\">A machine fitted to the labelled contexts tells what each asked \
         link is for (C {}); recall@10 of each, with 95 % intervals.</p>{}{}",
        report["functions"]["c"],
        bars("recall@10 by function", &groups),
        by_function(methods) + &paper_by_function(methods)
    )
}

/// What the paper says of recall by function, and how it is here.
fn paper_by_function(methods: &[Value]) -> String {
    let of = |wanted: &str| methods.iter().find(|method| name(method) == wanted).map(|one| array(&one["by_function"]));
    let [Some(own), Some(w2v), Some(d2v)] = paper::BY_FUNCTION.map(of) else { return String::new() };
    let positions = |number: &usize| own[*number]["positions"].as_u64().unwrap_or(0);
    let mut largest: Vec<usize> = (0..own.len()).filter(|number| positions(number) > 0).collect();
    largest.sort_by_key(|number| std::cmp::Reverse(positions(number)));
    largest.truncate(paper::LARGEST);
    let share =
        |parts: &[Value], number: usize| parts.get(number).and_then(|part| part["recall@10"].as_f64()).unwrap_or(0.0);
    let above = |&&number: &&usize| share(own, number) > share(w2v, number).max(share(d2v, number));
    format!(
        "<p>In the paper {} is above {} and {} on the {} largest functions; here on {} of the {} largest, \
         without a test.</p>",
        paper::BY_FUNCTION[0],
        paper::BY_FUNCTION[1],
        paper::BY_FUNCTION[2],
        paper::LARGEST,
        largest.iter().filter(above).count(),
        largest.len()
    )
}

/// Every method's recall by function.
fn by_function(methods: &[Value]) -> String {
    let functions = methods.first().map(|method| array(&method["by_function"])).unwrap_or_default();
    let head = |function: &Value| format!("{}<br><small>{}</small>", text(&function["name"]), function["positions"]);
    let names: Vec<String> = ["method".to_owned()].into_iter().chain(functions.iter().map(head)).collect();
    let share = |part: &Value| if part["positions"] == 0 { "–".to_owned() } else { percent(&part["recall@10"]) };
    let row = |method: &Value| -> Vec<String> {
        [text(&method["method"])].into_iter().chain(array(&method["by_function"]).iter().map(share)).collect()
    };
    table(&names, &methods.iter().map(row).collect::<Vec<_>>())
}

pub fn examples(report: &Value) -> String {
    let parts: String = array(&report["examples"]).iter().enumerate().map(example).collect();
    if parts.is_empty() { parts } else { format!("<h2>An example</h2>{parts}") }
}

fn example((number, example): (usize, &Value)) -> String {
    let truth = |truth: &Value| {
        let title = truth["title"].as_str().unwrap_or_default();
        let short: String = title.chars().take(48).collect();
        let more = if short.len() < title.len() { "…" } else { "" };
        format!("{}<br><small>{}{more}</small>", text(&truth["id"]), escaped(&short))
    };
    let truths: Vec<String> = array(&example["truths"]).iter().map(truth).collect();
    let hit: Vec<String> =
        array(&example["truths"]).iter().filter(|truth| truth["wanted"] == true).map(|t| text(&t["id"])).collect();
    let lead = match (hit.is_empty(), example["given"] == true, number) {
        (false, false, 0) => format!(
            "The running example of the paper is a place that speaks of BLEU and Moses; there h-d2v alone has both among its \
             first five. This place of a test document, {}, links to {}:",
            text(&example["source"]),
            hit.join(" and ")
        ),
        (false, _, _) => {
            format!("This place of a test document, {}, links to {}:", text(&example["source"]), hit.join(" and "))
        }
        (true, false, _) => {
            "No position asked links to the papers of the paper's running example (BLEU and Moses). Some \
                             place of a test document instead:"
                .to_owned()
        }
        (true, true, _) => {
            "No position asked links to the documents given. Some place of a test document instead:".to_owned()
        }
    };
    let row = |method: &Value| {
        let places = array(&method["places"]).iter().map(|place| match place.as_u64() {
            Some(0) | None => "beyond 1000".to_owned(),
            Some(place) if place <= 10 => format!("<b>{place}</b>"),
            Some(place) => place.to_string(),
        });
        [text(&method["method"])].into_iter().chain(places).collect::<Vec<String>>()
    };
    let rows: Vec<Vec<String>> = array(&example["places"]).iter().map(row).collect();
    let names: Vec<String> = ["method".to_owned()].into_iter().chain(truths).collect();
    format!(
        "<p>{lead}</p><blockquote>… {} <b>[link]</b> {} …</blockquote>\
         <p>Places of the true targets, in bold among the first ten:</p>{}",
        text(&example["before"]),
        text(&example["after"]),
        table(&names, &rows)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_paper_says_of_functions_is_counted_on_the_largest() {
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
        // Nobody asks of the second; d2v-cac is above on the third, and w2v level on the last.
        assert!(paper_by_function(&methods).contains("here on 1 of the 3 largest"), "{}", paper_by_function(&methods));
        methods.pop();
        assert_eq!(paper_by_function(&methods), "");
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
                .map(|one| format!("{} {} {:+.0} {}", one.above, one.below, one.points, one.verdict()))
                .collect()
        };
        let found = verdicts(npm(&part));
        assert!(found[0].starts_with("w2v npm +20") && found[0].contains("confirmed"), "{found:?}");
        assert!(found[1].starts_with("npm w2v-i4i -10") && found[1].contains("other way"), "{found:?}");
        let found = verdicts(super::newcomers(&part));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("d2v-nc w2v +10") && found[0].contains("confirmed"), "{found:?}");
    }
}
