//! The report as one page: what came out, tables, plots, and how it was made.

mod links;
mod others;

use serde_json::Value;

use super::plot::escaped;

const STYLE: &str = "\
:root{--ink:#1d2733;--soft:#5b6875;--line:#e3e8ee;--pale:#f5f8fb;--blue:#0b5c96}\
*{box-sizing:border-box}html{scroll-behavior:smooth}\
body{font:16px/1.55 system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif;color:var(--ink);background:#fff;\
max-width:980px;margin:0 auto;padding:0 1.2em 4em}\
header{padding:2.2em 0 1em}h1{font-size:1.9em;line-height:1.2;margin:0 0 .3em}\
nav{position:sticky;top:0;background:#fffffff2;border-bottom:1px solid var(--line);padding:.5em 0;font-size:.88em;z-index:1}\
nav a{color:var(--blue);text-decoration:none;margin-right:1.1em;white-space:nowrap}\
h2{font-size:1.4em;margin:2.2em 0 .5em;padding-top:.6em}h3{font-size:1.05em;margin:1.6em 0 .4em}\
.facts{display:flex;flex-wrap:wrap;gap:.7em;margin:1.2em 0}\
.facts div{background:var(--pale);border:1px solid var(--line);border-radius:8px;padding:.5em .8em;flex:1 1 7.4em}\
.facts b{display:block;font-size:1.3em;font-variant-numeric:tabular-nums}.facts span{color:var(--soft);font-size:.82em}\
.said{background:var(--pale);border-left:4px solid var(--blue);border-radius:0 8px 8px 0;padding:.7em 1.2em;margin:1em 0}\
.said li{margin:.25em 0}.wide{overflow-x:auto;margin:.8em 0}\
table{border-collapse:collapse;font-size:.86em;font-variant-numeric:tabular-nums}\
td,th{padding:.32em .75em;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\
th{color:var(--soft);font-weight:600;border-bottom:2px solid #cfd7df;vertical-align:bottom}\
td:first-child,th:first-child{text-align:left}tr:hover td{background:var(--pale)}\
td.paper,th.paper{background:#fbf8ef}td small{color:var(--soft)}\
svg{width:100%;height:auto;margin:.6em 0 1em;display:block}.note,figcaption{color:var(--soft);font-size:.9em}\
blockquote{background:var(--pale);border-radius:8px;padding:.8em 1.1em;margin:1em 0}\
pre{background:var(--pale);border:1px solid var(--line);border-radius:8px;padding:.8em 1em;font-size:.8em;\
white-space:pre-wrap;overflow-wrap:anywhere}\
.yes{color:#00683a;font-weight:600}.no{color:#a3201d;font-weight:600}.open{color:var(--soft)}\
details{margin:.8em 0}summary{cursor:pointer;color:var(--blue)}";

fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    escaped(value.as_str().unwrap_or_default())
}

fn percent(value: &Value) -> String {
    value.as_f64().map_or("–".to_owned(), |share| format!("{:.1}", 100.0 * share))
}

/// A figure of the paper, which is in % already.
fn printed(value: &Value) -> String {
    value.as_f64().map_or(String::new(), |figure| format!("{figure:.2}"))
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

fn thousands(value: &Value) -> String {
    value.as_u64().map_or("–".to_owned(), crate::output::thousands)
}

fn seconds(value: &Value) -> String {
    value.as_f64().map_or(String::new(), |seconds| format!("{seconds:.0}"))
}

/// A table; heads that begin with `paper` mark the columns of the paper's own figures.
fn table(heads: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String], tag: &str| {
        let cell = |(cell, head): (&String, &String)| {
            let class = if head.starts_with("paper") { " class=\"paper\"" } else { "" };
            format!("<{tag}{class}>{cell}</{tag}>")
        };
        let cells: String = cells.iter().zip(heads).map(cell).collect();
        format!("<tr>{cells}</tr>")
    };
    let rows: String = rows.iter().map(|row| line(row, "td")).collect();
    format!("<div class=\"wide\"><table>{}{rows}</table></div>", line(heads, "th"))
}

fn heads(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn yes(is: bool) -> &'static str {
    if is { "<span class=\"yes\">yes</span>" } else { "<span class=\"no\">no</span>" }
}

/// The whole page.
pub fn page(report: &Value) -> String {
    let parts = [
        ("links", "Links", links::links(report)),
        ("functions", "Functions", links::functions(report)),
        ("example", "Example", links::examples(report)),
        ("classes", "Classes", others::classes(report)),
        ("intents", "Intents", others::intents(report)),
        ("criteria", "Criteria", others::criteria(report)),
        ("map", "Map", others::map(report)),
        ("made", "How this was made", made(report)),
    ];
    let there = || parts.iter().filter(|(_, _, part)| !part.is_empty());
    let ways: String = there().map(|(id, name, _)| format!("<a href=\"#{id}\">{name}</a>")).collect();
    let body: String = there().map(|(id, _, part)| format!("<section id=\"{id}\">{part}</section>")).collect();
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>hyperdoc2vec: every experiment</title><style>{STYLE}</style>{}<nav>{ways}</nav>{}{body}</html>\n",
        about(report),
        links::said(report),
    )
}

fn about(report: &Value) -> String {
    let split = &report["settings"]["split"];
    let source = &report["settings"]["corpus"]["source"]["inputs"];
    let names: Vec<&str> = array(source).iter().filter_map(Value::as_str).collect();
    let cut = match (split["until"].as_str(), split["holdout"].as_f64()) {
        (Some(until), _) => {
            format!(
                "Documents dated up to {} are there to learn from, later ones to ask for their links.",
                escaped(until)
            )
        }
        (_, Some(share)) => {
            format!("{:.0} % of the documents are held out and asked for their links.", 100.0 * share)
        }
        _ => String::new(),
    };
    let fact = |name: &str, what: &str| format!("<div><b>{}</b><span>{what}</span></div>", thousands(&split[name]));
    let facts = [
        ("training_documents", "documents to learn from"),
        ("training_links", "links among them"),
        ("test_documents", "test documents"),
        ("positions", "positions asked"),
        ("multi_truth_positions", "with several truths"),
        ("newcomer_positions", "with a newcomer among them"),
    ];
    let facts: String = facts.iter().map(|(name, what)| fact(name, what)).collect();
    let paper = &report["paper"];
    let differs = match paper["source"].as_str() {
        Some(source) => {
            format!("Columns headed <i>paper</i> were given by the user: {}. {}", escaped(source), text(&paper["data"]))
        }
        None => {
            "This report has what the paper's text says of its tables, not their figures; <code>--paper-figures</code> \
                 adds those."
                .to_owned()
        }
    };
    format!(
        "<header><h1>hyperdoc2vec: every experiment of the paper</h1><p>Corpus: {}. {cut}</p><div class=\"facts\">{facts}</div>\
         <p class=\"note\">All figures in %; [95 %] are bootstrap intervals over test documents, p is of a paired randomisation \
         test. <b>Data differ:</b> the paper (Han et al., ACL 2018) used papers of NIPS, of the ACL Anthology (its release of 2013) \
         and of DBLP, learning from those before 1998, 2012 and 2009 and asking the later ones: other documents and another \
         split than here, and 100 passes over the links where this run made {} (--reference-epochs). \
         Its figures and these are not comparable point by point; the order of the methods is. {differs}</p></header>",
        escaped(&names.join(", ")),
        report["settings"]["reference_epochs"],
    )
}

fn made(report: &Value) -> String {
    let settings = escaped(&format!("{:#}", report["settings"]));
    let told = |name: &str, part: &Value| format!("{name} {} s", seconds(&part["seconds"]));
    let intents = array(&report["intents"]).iter().enumerate();
    let times: Vec<String> = intents
        .map(|(number, part)| told(&format!("intents {}", number + 1), part))
        .chain(["functions", "map", "classes", "criteria"].map(|name| told(name, &report[name])))
        .filter(|time| !time.ends_with("  s"))
        .collect();
    let commands: Vec<&str> = array(&report["commands"]).iter().filter_map(Value::as_str).collect();
    format!(
        "<h2>How this was made</h2><pre>{}</pre><p>hd2v {}, corpus fingerprint {}, seed {}, {} threads. Times of links stand in \
         their table, with training that methods share told at each; {}.</p><p>Each part by itself:</p><pre>{}</pre>\
         <details><summary>All settings</summary><pre>{settings}</pre></details>",
        text(&report["command"]),
        text(&report["settings"]["version"]),
        text(&report["settings"]["corpus"]["fingerprint"]),
        report["seed"],
        report["threads"],
        times.join(", "),
        escaped(&commands.join("\n")),
    )
}
