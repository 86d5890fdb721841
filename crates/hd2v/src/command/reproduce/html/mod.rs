//! The report as one page: results, tables, plots, and how it was made.

mod classes;
mod example;
mod functions;
mod links;
mod others;
mod places;
mod statements;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

use super::paper::{self, Dataset, LinkRow};

const STYLE: &str = "\
:root{--ink:#1d2733;--soft:#5b6875;--line:#e3e8ee;--pale:#f5f8fb;--blue:#0b5c96}\
*{box-sizing:border-box}html{scroll-behavior:smooth}\
body{font:16px/1.55 system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif;color:var(--ink);background:#fff;\
max-width:1180px;margin:0 auto;padding:0 1.2em 4em}\
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
td.paper,th.paper{background:#fbf8ef}td.words,th.words{white-space:normal;text-align:left}td.words{vertical-align:top}\
.swatch{white-space:nowrap;margin-right:.8em}.swatch i{display:inline-block;width:.8em;height:.8em;border-radius:2px;opacity:.85}\
th.tall{writing-mode:vertical-rl;transform:rotate(180deg);text-align:left}ol.hits{margin:0;padding-left:1.6em}td small{color:var(--soft)}\
svg{width:100%;height:auto;margin:.6em 0 1em;display:block}.note,figcaption{color:var(--soft);font-size:.9em}\
blockquote{background:var(--pale);border-radius:8px;padding:.8em 1.1em;margin:1em 0}\
pre{background:var(--pale);border:1px solid var(--line);border-radius:8px;padding:.8em 1em;font-size:.8em;\
white-space:pre-wrap;overflow-wrap:anywhere}\
.yes{color:#00683a;font-weight:600}.no{color:#a3201d;font-weight:600}.open{color:var(--soft)}\
details{margin:.8em 0}summary{cursor:pointer;color:var(--blue)}";

fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn percent(value: &Value) -> String {
    value.as_f64().map_or("–".to_owned(), |share| format!("{:.1}", 100.0 * share))
}

/// A figure of the paper, which is in % already.
fn printed(figure: Option<f64>) -> String {
    figure.map_or(String::new(), |figure| format!("{figure:.2}"))
}

fn name(method: &Value) -> &str {
    text(&method["method"])
}

/// The data set of the paper that the report is shown beside.
fn beside(report: &Value) -> Dataset {
    Dataset::ALL.into_iter().find(|dataset| dataset.name() == text(&report["beside"])).unwrap_or(Dataset::Acl)
}

/// The metrics of a method in rows of the paper.
fn row_of(rows: &[LinkRow], method: &str) -> Option<[f64; 4]> {
    rows.iter().find(|row| row.0 == method).map(|row| row.1)
}

/// The ends of an interval of shares, in %.
fn interval(value: &Value) -> String {
    match pair(value) {
        Some((low, high)) => format!("{:.1}–{:.1}", 100.0 * low, 100.0 * high),
        None => String::new(),
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

/// A table that scrolls if the window is too narrow; `rows` are `tr` elements.
fn table(rows: &Markup) -> Markup {
    html! { div.wide { table { (rows) } } }
}

/// Heads of columns.
fn heads<const N: usize>(names: [&str; N]) -> Markup {
    html! { @for name in names { th { (name) } } }
}

/// Heads of the columns of the paper's own figures.
fn paper_heads<const N: usize>(names: [&str; N]) -> Markup {
    html! { @for name in names { th.paper { small { "paper" } br; (name) } } }
}

/// The whole page.
pub fn page(report: &Value) -> String {
    let sections = [
        ("table-1", "Table 1", Some(others::criteria(report))),
        ("table-2", "Table 2", Some(others::outputs())),
        ("table-3", "Table 3", Some(others::data(report))),
        ("table-4", "Table 4", Some(classes::all(report))),
        ("table-5", "Table 5", Some(classes::linked(report))),
        ("table-6", "Table 6", Some(links::links(report))),
        ("figure-3", "Figure 3", links::dimensions(report)),
        ("table-7", "Table 7", Some(links::newcomers(report))),
        ("table-8", "Table 8", Some(functions::scheme(report))),
        ("figure-4", "Figure 4", Some(functions::intents(report))),
        ("figure-5", "Figure 5", Some(functions::links(report))),
        ("table-9", "Table 9", example::examples(report)),
        ("more", "More on links", Some(links::more(report))),
        ("places", "Places", places::places(report)),
        ("map", "Map", Some(others::map(report))),
        ("made", "How this was made", Some(made(report))),
    ];
    let sections = || sections.iter().filter_map(|(id, name, section)| Some((id, name, section.as_ref()?)));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width";
            title { "hyperdoc2vec: every experiment" }
            style { (PreEscaped(STYLE)) }
            (about(report))
            nav { @for (id, name, _) in sections() { a href={ "#" (id) } { (name) } } }
            (statements::results(report))
            @for (id, _, section) in sections() { section id=(id) { (section) } }
        }
    };
    page.into_string() + "\n"
}

fn about(report: &Value) -> Markup {
    let split = &report["settings"]["split"];
    let source = &report["settings"]["corpus"]["source"]["inputs"];
    let names: Vec<&str> = array(source).iter().filter_map(Value::as_str).collect();
    let facts = [
        ("training_documents", "training documents"),
        ("training_links", "links among them"),
        ("test_documents", "test documents"),
        ("positions", "positions tested"),
        ("multi_truth_positions", "with several truths"),
        ("newcomer_positions", "with a newcomer among them"),
    ];
    html! {
        header {
            h1 { "hyperdoc2vec: every experiment of the paper" }
            p {
                "Corpus: " (names.join(", ")) ". "
                @if let Some(until) = split["until"].as_str() {
                    "Trained on documents dated up to " (until) ", tested on the links of later ones."
                } @else if let Some(share) = split["holdout"].as_f64() {
                    (format!("{:.0}", 100.0 * share)) " % of the documents are held out; their links are the test."
                }
            }
            div.facts { @for (name, what) in facts { div { b { (thousands(&split[name])) } span { (what) } } } }
            p.note {
                "All figures in %; [95 %] are bootstrap intervals over test documents, p comes from a paired randomisation test. \
                 Tables and figures have the numbers of the paper (Han et al., ACL 2018); its own figures stand in tinted \
                 columns. Its Figures 1 and 2 are drawings."
            }
            (data_note(report))
        }
    }
}

/// Which data the paper's figures are of, and whether these are the same.
fn data_note(report: &Value) -> Markup {
    let dataset = beside(report);
    let [train, test, _] = dataset.data();
    let own = |part: &str, what: &str| report["data"][part][what].as_u64().unwrap_or(0);
    let same = (own("train", "documents"), own("test", "documents")) == (train.docs, test.docs);
    let epochs = &report["settings"]["reference_epochs"];
    let npm = &report["settings"]["parameters"]["npm"];
    html! {
        p.note {
            @if same {
                b { "The same documents" }
                " as the paper's " (dataset.name()) ", by their number before and after the split; the links are our own \
                  (Table 3 has both)."
            } @else {
                b { "Not the same data:" }
                " the paper's figures beside ours are those of its " (dataset.name())
                " set, which has other documents and links (Table 3). Compare the order of the methods, not the figures."
            }
            " Tables 4, 5 and 7 and Figure 3 exist for DBLP only. The paper made " (paper::EPOCHS) " passes over the links with "
            (paper::DIM) " dimensions, this run " (epochs) " passes with " (report["settings"]["parameters"]["dim"]) "."
            @if let (Some(passes), Some(noise)) = (npm["epochs"].as_u64(), npm["noise"].as_u64()) {
                " NPM had 100 passes and 100 noise words there, " (passes) " and " (noise) " here."
            }
        }
    }
}

fn made(report: &Value) -> Markup {
    let intents = array(&report["intents"]).iter().enumerate();
    let intents = intents.map(|(number, part)| (format!("intents {}", number + 1), part));
    let others = ["functions", "map", "places", "classes", "criteria"].map(|name| (name.to_owned(), &report[name]));
    let timed =
        |(name, part): (String, &Value)| part["seconds"].as_f64().map(|seconds| format!("{name} {seconds:.0} s"));
    let times: Vec<String> = intents.chain(others).filter_map(timed).collect();
    let threads =
        if report["threads"] == 1 { "one thread".to_owned() } else { format!("{} threads", report["threads"]) };
    let commands: Vec<&str> = array(&report["commands"]).iter().filter_map(Value::as_str).collect();
    html! {
        h2 { "How this was made" }
        pre { (text(&report["command"])) }
        p {
            "hd2v " (text(&report["settings"]["version"]))
            ", corpus fingerprint " (text(&report["settings"]["corpus"]["fingerprint"]))
            ", seed " (report["seed"]) ", " (threads)
            ". The times of each method, shared training included, stand under \u{201c}More on links\u{201d}; other parts: "
            (times.join(", ")) "."
        }
        p { "Commands for the parts:" }
        pre { (commands.join("\n")) }
        details { summary { "All settings" } pre { (format!("{:#}", report["settings"])) } }
    }
}
