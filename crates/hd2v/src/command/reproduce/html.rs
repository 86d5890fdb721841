//! The report as one page: tables, plots, and how it was made.

use serde_json::Value;

use super::plot::{Bar, Dot, Series, bars, escaped, lines, points};

/// The order of the methods in the paper's Table 7 (citation recommendation), the best first.
const PAPER_ORDER: [&str; 6] = ["h-d2v-paper", "h-d2v-random", "d2v-cac", "d2v-nc", "w2v", "w2v-i4i"];

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;max-width:900px;margin:2em auto;padding:0 1em;color:#222}\
h1{font-size:1.7em}h2{margin-top:2.2em;border-bottom:1px solid #ccc}table{border-collapse:collapse;font-size:.85em}\
td,th{padding:.2em .6em;text-align:right;border-bottom:1px solid #eee;white-space:nowrap}\
td:first-child,th:first-child{text-align:left}tr:hover{background:#f5f8fb}.wide{overflow-x:auto}\
svg{width:100%;height:auto;margin:1em 0}.note{color:#555;font-size:.9em}blockquote{background:#f6f6f6;padding:.6em 1em;margin:1em 0}\
pre{background:#f6f6f6;padding:.6em;overflow-x:auto;font-size:.8em}.yes{color:#006b3c}.no{color:#a11}";

fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    escaped(value.as_str().unwrap_or_default())
}

fn percent(value: &Value) -> String {
    value.as_f64().map_or("–".to_owned(), |share| format!("{:.1}", 100.0 * share))
}

fn ends(value: &Value) -> String {
    match (value[0].as_f64(), value[1].as_f64()) {
        (Some(low), Some(high)) => format!("{:.1}–{:.1}", 100.0 * low, 100.0 * high),
        _ => String::new(),
    }
}

fn pair(value: &Value) -> Option<(f64, f64)> {
    value[0].as_f64().zip(value[1].as_f64())
}

fn table(heads: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String], tag: &str| {
        let cells: String = cells.iter().map(|cell| format!("<{tag}>{cell}</{tag}>")).collect();
        format!("<tr>{cells}</tr>")
    };
    let rows: String = rows.iter().map(|row| line(row, "td")).collect();
    format!("<div class=\"wide\"><table>{}{rows}</table></div>", line(heads, "th"))
}

fn heads(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The whole page.
pub fn page(report: &Value) -> String {
    let parts = [
        about(report),
        links(report),
        functions(report),
        example(report),
        classes(report),
        intents(report),
        criteria(report),
        map(report),
        made(report),
    ];
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>hyperdoc2vec: every experiment</title><style>{STYLE}</style><h1>hyperdoc2vec: every experiment of the paper</h1>{}</html>\n",
        parts.concat()
    )
}

fn about(report: &Value) -> String {
    let split = &report["settings"]["split"];
    let source = &report["settings"]["corpus"]["source"]["inputs"];
    let cut = match (split["until"].as_str(), split["holdout"].as_f64()) {
        (Some(until), _) => format!("documents up to {} to train on, later ones to ask", escaped(until)),
        (_, Some(share)) => format!("{:.0} % of the documents held out to ask", 100.0 * share),
        _ => String::new(),
    };
    format!(
        "<p>Corpus: {}; {cut}. {} training documents with {} links among them; {} positions asked, {} of them with several \
         truths, {} with a truth that no training document links to (a newcomer).</p>\
         <p class=\"note\">The paper (Han et al., ACL 2018) used other releases of its corpora, so its figures are not \
         comparable point by point; what can be compared is the order of the methods. All figures in %; [95 %] are \
         bootstrap intervals over test documents.</p>",
        escaped(&array(source).iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")),
        split["training_documents"],
        split["training_links"],
        split["positions"],
        split["multi_truth_positions"],
        split["newcomer_positions"],
    )
}

fn links(report: &Value) -> String {
    let mut out = "<h2>Links</h2>".to_owned();
    for part in array(&report["links"]) {
        if part["anchors"] == "drop" {
            out += "<h3>The links' own words left out of the questions</h3>";
        }
        let methods = array(&part["methods"]);
        let row = |method: &Value| {
            let name = method["method"].as_str().unwrap_or_default();
            let place = PAPER_ORDER.iter().position(|other| *other == name);
            vec![
                escaped(name),
                percent(&method["recall@10"]),
                ends(&method["interval"]["recall@10"]),
                percent(&method["map@10"]),
                percent(&method["mrr@10"]),
                percent(&method["ndcg@10"]),
                percent(&method["newcomers"]["recall@10"]),
                place.map_or(String::new(), |place| (place + 1).to_string()),
                format!("{:.0}", method["train_seconds"].as_f64().unwrap_or(0.0)),
                format!("{:.0}", method["query_seconds"].as_f64().unwrap_or(0.0)),
            ]
        };
        let names = [
            "method",
            "recall@10",
            "[95 %]",
            "MAP",
            "MRR",
            "nDCG",
            "newcomers",
            "place in the paper",
            "train s",
            "ask s",
        ];
        out += &table(&heads(&names), &methods.iter().map(row).collect::<Vec<_>>());
        out += &order(methods, array(&part["comparisons"]));
        let curve = |method: &Value| -> Series {
            let points =
                array(&method["recall_curve"]).iter().filter_map(|point| point[0].as_f64().zip(point[1].as_f64()));
            (method["method"].as_str().unwrap_or_default().to_owned(), points.filter(|point| point.0 >= 50.0).collect())
        };
        let mut series: Vec<Series> = methods.iter().map(curve).collect();
        series.sort_by(|a, b| {
            let first = |series: &Series| series.1.first().map_or(0.0, |point| point.1);
            first(b).total_cmp(&first(a))
        });
        out += "<h3>Recall against the number of hits</h3>";
        out += &lines("recall against k", "hits looked at", &series);
        out += "<h3>Recall@10 by the links to the target</h3>";
        let bins = methods.first().map(|method| array(&method["by_links"])).unwrap_or_default();
        let mut names = vec!["method".to_owned()];
        names.extend(bins.iter().map(|bin| format!("{} <small>({})</small>", text(&bin["name"]), bin["positions"])));
        let row = |method: &Value| {
            let name = [text(&method["method"])];
            name.into_iter().chain(array(&method["by_links"]).iter().map(|bin| percent(&bin["recall@10"]))).collect()
        };
        out += &table(&names, &methods.iter().map(row).collect::<Vec<Vec<String>>>());
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
    }
    out
}

/// Whether the order of the paper comes out, pair by pair.
fn order(methods: &[Value], comparisons: &[Value]) -> String {
    let recall = |name: &str| methods.iter().find(|method| method["method"] == name)?["recall@10"].as_f64();
    let there: Vec<&str> = PAPER_ORDER.into_iter().filter(|name| recall(name).is_some()).collect();
    let row = |two: &[&str]| {
        let (better, worse) = (two[0], two[1]);
        let is =
            |pair: &&Value| (pair["a"] == better && pair["b"] == worse) || (pair["a"] == worse && pair["b"] == better);
        let p = comparisons.iter().find(is).and_then(|pair| pair["p"].as_f64()).unwrap_or(1.0);
        let gain = 100.0 * (recall(better).unwrap_or(0.0) - recall(worse).unwrap_or(0.0));
        let verdict = match (gain > 0.0, p < 0.05) {
            (_, false) => "no difference shown",
            (true, true) => "<span class=\"yes\">confirmed</span>",
            (false, true) => "<span class=\"no\">the other way round</span>",
        };
        vec![format!("{better} above {worse}"), format!("{gain:+.1}"), format!("{p:.4}"), verdict.to_owned()]
    };
    if there.len() < 2 {
        return String::new();
    }
    let rows: Vec<Vec<String>> = there.windows(2).map(row).collect();
    format!(
        "<h3>The order of the paper's Table 7</h3>{}",
        table(&heads(&["in the paper", "points here", "p", "here"]), &rows)
    )
}

fn functions(report: &Value) -> String {
    let methods = array(&report["links"][0]["methods"]);
    let names = methods.first().map(|method| array(&method["by_function"])).unwrap_or_default();
    if names.is_empty() {
        return String::new();
    }
    let mut rows = Vec::new();
    let shown = ["bm25-cited", "d2v-cac", "w2v", "h-d2v-random", "h-d2v-paper", "h-d2v", "hybrid", "hybrid-source"];
    for (number, function) in names.iter().enumerate() {
        for (colour, method) in methods.iter().filter(|m| shown.iter().any(|s| m["method"] == *s)).enumerate() {
            let part = &method["by_function"][number];
            rows.push(Bar {
                name: format!(
                    "{} ({}) {}",
                    function["name"].as_str().unwrap_or_default(),
                    part["positions"],
                    method["method"].as_str().unwrap_or_default()
                ),
                share: part["recall@10"].as_f64().unwrap_or(0.0),
                ends: pair(&part["interval"]),
                colour,
            });
        }
    }
    format!(
        "<h2>Links by citation function</h2><p class=\"note\">A machine fitted to the labelled contexts tells what each asked \
         link is for; recall@10 of each.</p>{}",
        bars("recall@10 by function", &rows)
    )
}

fn example(report: &Value) -> String {
    let example = &report["example"];
    if example.is_null() {
        return String::new();
    }
    let truths: Vec<String> = array(&example["truths"])
        .iter()
        .map(|truth| format!("{} {}", text(&truth["id"]), text(&truth["title"])).trim().to_owned())
        .collect();
    let of_the_paper = example["is_of_the_paper"] == true;
    let lead = if of_the_paper {
        "The running example of the paper is a place that speaks of BLEU and Moses. This one, of a test document, links to the same papers:"
    } else {
        "The papers of the paper's running example (BLEU and Moses) are not in this corpus. A place from a test document instead:"
    };
    let row = |method: &Value| {
        let places = array(&method["places"]).iter().map(|place| match place.as_u64() {
            Some(0) | None => "beyond 1000".to_owned(),
            Some(place) => place.to_string(),
        });
        [text(&method["method"])].into_iter().chain(places).collect::<Vec<String>>()
    };
    let rows: Vec<Vec<String>> = array(&example["places"]).iter().map(row).collect();
    let names: Vec<String> = ["method".to_owned()].into_iter().chain(truths).collect();
    format!(
        "<h2>An example</h2><p>{lead}</p><blockquote>… {} <b>[link]</b> {} …</blockquote><p>Places of the true targets:</p>{}",
        text(&example["before"]),
        text(&example["after"]),
        table(&names, &rows)
    )
}

fn classes(report: &Value) -> String {
    let found = &report["classes"]["value"];
    let mut out = "<h2>Classes of documents</h2>".to_owned();
    if let Some(why) = found["left_out"].as_str() {
        return out + &format!("<p>Left out: {}</p>", escaped(why));
    }
    for (name, head) in
        [("all", "All documents (Table 5)"), ("linked", "Only documents that a link points at (Table 6)")]
    {
        let part = &found[name];
        out += &format!("<h3>{head}</h3>");
        if part.is_null() {
            out += "<p>Too few to classify.</p>";
            continue;
        }
        let sets = array(&part["features"]);
        out +=
            &format!("<p>{} documents of {} classes, 5 folds.</p>", part["documents"], array(&part["classes"]).len());
        let bar = |set: &Value| Bar {
            name: set["features"].as_str().unwrap_or_default().to_owned(),
            share: set["macro_f1"].as_f64().unwrap_or(0.0),
            ends: pair(&set["interval"]["macro_f1"]),
            colour: usize::from(set["features"].as_str().unwrap_or_default().contains("deepwalk")),
        };
        out += &bars("macro F1", &sets.iter().map(bar).collect::<Vec<_>>());
        let row = |set: &Value| {
            vec![
                text(&set["features"]),
                percent(&set["macro_f1"]),
                ends(&set["interval"]["macro_f1"]),
                percent(&set["micro_f1"]),
                ends(&set["interval"]["micro_f1"]),
                set["compared"]["p"].as_f64().map_or("best".to_owned(), |p| format!("{p:.4}")),
            ]
        };
        let names = ["features", "macro F1", "[95 %]", "micro F1", "[95 %]", "p against the best"];
        out += &table(&heads(&names), &sets.iter().map(row).collect::<Vec<_>>());
    }
    out
}

fn intents(report: &Value) -> String {
    let all = array(&report["intents"]);
    if all.is_empty() {
        return String::new();
    }
    let mut out = "<h2>Citation functions from contexts</h2>".to_owned();
    for one in all {
        let found = &one["value"];
        out += &format!("<h3>{}</h3><p>{} contexts, 10 folds.</p>", text(&one["file"]), found["contexts"]);
        let mut rows: Vec<Vec<String>> = array(&found["classes"])
            .iter()
            .map(|class| vec![text(&class["name"]), class["members"].to_string(), percent(&class["f1"]), String::new()])
            .collect();
        for (name, key) in [("macro", "macro_f1"), ("micro", "micro_f1")] {
            rows.push(vec![name.to_owned(), String::new(), percent(&found[key]), ends(&found["interval"][key])]);
        }
        out += &table(&heads(&["function", "contexts", "F1", "[95 %]"]), &rows);
    }
    out
}

fn criteria(report: &Value) -> String {
    let found = &report["criteria"]["value"];
    if found["left_out"].is_string() {
        return String::new();
    }
    let yes = |value: &Value| match value.as_bool() {
        Some(true) => "<span class=\"yes\">yes</span>",
        Some(false) => "<span class=\"no\">no</span>",
        None => "–",
    };
    let methods = array(&found["methods"]);
    let names: Vec<String> = ["method".to_owned()]
        .into_iter()
        .chain(methods.first().map(|m| array(&m["criteria"])).unwrap_or_default().iter().map(|c| text(&c["criterion"])))
        .collect();
    let row = |method: &Value| {
        let cell = |found: &Value| {
            format!(
                "{} <small>{}</small> {} / {}",
                percent(&found["value"]),
                ends(&found["interval"]),
                yes(&found["verdict"]),
                yes(&found["paper"])
            )
        };
        [text(&method["method"])]
            .into_iter()
            .chain(array(&method["criteria"]).iter().map(cell))
            .collect::<Vec<String>>()
    };
    format!(
        "<h2>What methods heed (Table 1)</h2><p class=\"note\">Probes on a generated corpus with planted truth: the share that \
         came out as the criterion wants, its interval, our verdict / the paper's.</p>{}",
        table(&names, &methods.iter().map(row).collect::<Vec<_>>())
    )
}

fn map(report: &Value) -> String {
    let found = &report["map"]["value"];
    let names: Vec<String> =
        array(&found["labels"]).iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    let dot = |point: &Value| {
        let title = point["title"].as_str().unwrap_or_default().to_owned();
        Some((
            point["x"].as_f64()?,
            point["y"].as_f64()?,
            point["label"].as_u64().map_or(usize::MAX, |l| l as usize),
            title,
        ))
    };
    let dots: Vec<Dot> = array(&found["points"]).iter().filter_map(dot).collect();
    format!(
        "<h2>A map of the documents</h2><p class=\"note\">IN vectors of the default model, near ones near each other (t-SNE: \
         axes and distances between groups mean nothing); up to 2,000 documents, coloured by their most frequent labels.</p>{}",
        points("documents", &dots, &names)
    )
}

fn made(report: &Value) -> String {
    let settings = escaped(&format!("{:#}", report["settings"]));
    let seconds = ["classes", "criteria", "map"].map(|name| format!("{name} {} s", report[name]["seconds"])).join(", ");
    format!(
        "<h2>How this was made</h2><pre>{}</pre><p>hd2v {}, corpus fingerprint {}, seed {}. Times of links stand in their table; {seconds}.</p>\
         <details><summary>All settings</summary><pre>{settings}</pre></details>",
        text(&report["command"]),
        text(&report["settings"]["version"]),
        text(&report["settings"]["corpus"]["fingerprint"]),
        report["seed"],
    )
}
