//! The html and markdown importers on small trees; what comes out stands beside them as `expected.txt`.
//!
//! To accept a change: `HD2V_ACCEPT=1 cargo test --test import_trees`, then read the difference.

use std::fmt::Write;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use hyperdoc2vec::document::Document;
use hyperdoc2vec::import::html::{Html, HtmlOptions};
use hyperdoc2vec::import::markdown::{Markdown, MarkdownOptions};
use hyperdoc2vec::import::{Format, ImportOptions, Pages, Parsed, import};
use hyperdoc2vec::losses::{Loss, Losses};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn html(roots: &[PathBuf], options: &HtmlOptions) -> Parsed {
    all(&Html::open(roots, options).expect("pages"))
}

fn markdown(roots: &[PathBuf]) -> Parsed {
    all(&Markdown::open(roots, &MarkdownOptions::default()).expect("pages"))
}

fn all(pages: &impl Pages) -> Parsed {
    let mut all = Parsed::default();
    for part in pages.batches().into_iter().map(|batch| pages.parse(batch)) {
        all.documents.extend(part.documents);
        all.aliases.extend(part.aliases);
        all.losses.merge(part.losses);
    }
    all
}

/// The text with its links as `[words][[id]]`.
fn marked(document: &Document) -> String {
    let mut out = String::new();
    let mut done = 0;
    for link in &document.links {
        out.push_str(&document.text[done..link.anchor]);
        if link.anchor < link.at {
            write!(out, "[{}]", &document.text[link.anchor..link.at]).expect("a string");
        }
        write!(out, "[[{}]]", link.targets.join("|")).expect("a string");
        done = link.at;
    }
    out + &document.text[done..]
}

fn show(parsed: &Parsed, root: &Path) -> String {
    let mut out = String::new();
    for document in &parsed.documents {
        writeln!(out, "=== {}", document.id).expect("a string");
        let date = document.date.map(|date| date.to_string());
        let labels = (!document.labels.is_empty()).then(|| document.labels.join(", "));
        let Document { title, language, url, .. } = document;
        let fields = [("title", title), ("date", &date), ("language", language), ("labels", &labels), ("url", url)];
        for (name, value) in fields {
            if let Some(value) = value {
                writeln!(out, "{name}: {value}").expect("a string");
            }
        }
        writeln!(out, "\n{}\n", marked(document)).expect("a string");
    }
    for (from, to) in &parsed.aliases {
        writeln!(out, "alias {from} -> {to}").expect("a string");
    }
    for (loss, tally) in parsed.losses.iter() {
        for sample in &tally.samples {
            writeln!(out, "loss {loss:?}: {}", sample.replace(&format!("{}/", root.display()), "")).expect("a string");
        }
    }
    out
}

fn check(name: &str, parsed: &Parsed) {
    let found = show(parsed, &data(name));
    let file = data(name).join("expected.txt");
    if std::env::var_os("HD2V_ACCEPT").is_some() {
        fs::write(&file, &found).expect("expected.txt written");
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    assert!(found == expected, "{name} differs from its expected.txt; found:\n{found}");
}

#[test]
fn a_site_becomes_documents_and_aliases() {
    let mut options = HtmlOptions { base_url: Some("https://example.org/docs".into()), ..HtmlOptions::default() };
    options.exclude.push("private/".into());
    check("html/site", &html(&[data("html/site")], &options));
}

#[test]
fn generators_are_known_by_their_structure() {
    check("html/generators", &html(&[data("html/generators")], &HtmlOptions::default()));
}

#[test]
fn roots_that_share_a_name_are_told_apart_by_their_directory() {
    let roots = [data("html/roots/one"), data("html/roots/two")];
    check("html/roots", &html(&roots, &HtmlOptions::default()));
}

#[test]
fn notes_link_by_wiki_names() {
    check("markdown/notes", &markdown(&[data("markdown/notes")]));
}

#[test]
fn documentation_links_by_paths_slugs_and_aliases() {
    check("markdown/docs", &markdown(&[data("markdown/docs")]));
}

#[test]
fn a_link_that_names_its_own_page_is_counted_and_one_to_a_mere_part_is_not() {
    let folder = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a page");
    write("a.html", "<p>to <a href='a.html#x'>me</a>, <a href='#x'>a part</a>, <a href='b.html'>b</a>");
    write("b.html", "<p>to <a href=./b>me</a>, <a href='?q'>here</a>");
    write("a.md", "to [me](a.md#x), [[a]], ![[a]], [[#x]], [a part](#x), [b](b.md)");
    write("b.md", "b");
    for (format, expected) in [(Format::Html, 2), (Format::Markdown, 3)] {
        let (roots, to) = ([folder.path().to_owned()], folder.path().join(format.name()));
        let options = ImportOptions::default();
        let corpus = import(format, &roots, &to, &options, &mut |_| ControlFlow::Continue(())).expect("imported");
        assert_eq!(corpus.manifest().losses.count(Loss::SelfLink), expected, "{format}");
        assert_eq!((corpus.len(), corpus.manifest().counts.links), (2, 1), "{format}");
    }
}

#[test]
fn any_order_of_batches_gives_the_same_documents() {
    let folder = tempfile::tempdir().expect("a directory");
    for page in 0..100 {
        let text = format!("<p>page {page} before <a href='{}.html'>next</a> after", (page + 1) % 100);
        fs::write(folder.path().join(format!("{page}.html")), text).expect("a page");
    }
    let html = Html::open(&[folder.path().to_owned()], &HtmlOptions::default()).expect("pages");
    let forward: Vec<_> = html.batches().into_iter().flat_map(|batch| html.parse(batch).documents).collect();
    let mut backward: Vec<_> = html.batches().into_iter().rev().map(|batch| html.parse(batch).documents).collect();
    backward.reverse();
    assert_eq!(forward, backward.concat());
    assert_eq!(forward.len(), 100);
    assert_eq!(marked(&forward[0]), "page 0 before [next][[1.html]] after");
}

#[test]
fn monstrous_pages_are_read_in_bounded_time() {
    let folder = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).expect("a page");
    write("deep.html", format!("{}deep <a href=wide.html>words</a>", "<div>".repeat(100_000)));
    write("wide.html", "<a href=deep.html>x".repeat(200_000));
    write("open.html", "<p <a <<b".repeat(100_000));
    write("cells.html", "<table><tr><td><b><i></td></i>".repeat(50_000));
    fs::write(folder.path().join("noise.html"), (0..=255u8).cycle().take(100_000).collect::<Vec<_>>()).expect("a page");
    let parsed = html(&[folder.path().to_owned()], &HtmlOptions::default());
    let deep = parsed.documents.iter().find(|document| document.id == "deep.html").expect("deep.html");
    assert_eq!(marked(deep), "deep [words][[wide.html]]");
    let wide = parsed.documents.iter().find(|document| document.id == "wide.html").expect("wide.html");
    assert_eq!(wide.links.len(), 200_000);
}

#[test]
fn encodings_are_declared_guessed_or_mended() {
    let folder = tempfile::tempdir().expect("a directory");
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("a page");
    write("bom.html", b"\xFF\xFE<\0p\0>\0\xE9\0");
    write("guessed.html", b"<p>caf\xE9 \x93quoted\x94");
    write("latin2.html", b"<meta charset='iso-8859-2'><p>\xB1");
    write("mended.html", b"<meta charset=utf-8><p>caf\xE9");
    let parsed = html(&[folder.path().to_owned()], &HtmlOptions::default());
    let texts: Vec<&str> = parsed.documents.iter().map(|document| &*document.text).collect();
    assert_eq!(texts, ["é", "café “quoted”", "ą", "caf\u{FFFD}"]);
    assert_eq!(parsed.losses.iter().map(|(_, tally)| tally.count).collect::<Vec<_>>(), [1]);
    assert_ne!(parsed.losses, Losses::default());
}

#[test]
fn no_page_is_an_error_that_names_the_place() {
    let folder = tempfile::tempdir().expect("a directory");
    let error = Html::open(&[folder.path().to_owned()], &HtmlOptions::default()).err().expect("an error").to_string();
    assert!(error.contains("expected pages (.html, .htm, .xhtml)"), "{error}");
    assert!(Markdown::open(&[folder.path().join("none")], &MarkdownOptions::default()).is_err());
}
