//! The html and markdown importers on small trees; what comes out stands beside them as `expected.txt`.
//!
//! To accept a change: `HD2V_ACCEPT=1 cargo test -p hyperdoc2vec --lib import_trees`, then read the difference.

use std::fmt::Write;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::document::Document;
use crate::document::losses::{Loss, Losses};
use crate::import::html::{Html, HtmlOptions};
use crate::import::markdown::{Markdown, MarkdownOptions};
use crate::import::{Format, Import, ImportOptions, Pages, Parsed};
use crate::tests::import;

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
        all.batch.documents.extend(part.batch.documents);
        all.batch.aliases.extend(part.batch.aliases);
        all.batch.losses.merge(part.batch.losses);
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
    for document in &parsed.batch.documents {
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
    for (from, to) in &parsed.batch.aliases {
        writeln!(out, "alias {from} -> {to}").expect("a string");
    }
    for (loss, tally) in parsed.batch.losses.iter() {
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
fn every_generator_is_read_in_its_own_syntax() {
    for generator in ["hugo", "jekyll", "mkdocs", "docusaurus", "myst", "wiki"] {
        let name = format!("markdown/{generator}");
        check(&name, &markdown(&[data(&name)]));
    }
}

#[test]
fn sphinx_sources_link_by_documents_labels_and_objects() {
    let options = MarkdownOptions { rest: true, ..MarkdownOptions::default() };
    check("rst", &all(&Markdown::open(&[data("rst")], &options).expect("pages")));
}

#[test]
fn sections_are_documents_where_that_is_asked_for() {
    let options =
        HtmlOptions { sections: true, base_url: Some("https://example.org".into()), ..HtmlOptions::default() };
    check("sections/html", &html(&[data("sections/html")], &options));
    for (name, rest) in [("sections/markdown", false), ("sections/rst", true)] {
        let options = MarkdownOptions { rest, sections: true, ..MarkdownOptions::default() };
        check(name, &all(&Markdown::open(&[data(name)], &options).expect("pages")));
    }
}

#[test]
fn links_from_the_root_are_found_in_a_part_of_the_site() {
    let parsed = markdown(&[data("markdown/hugo/content/en/docs")]);
    let samples = |loss| parsed.batch.losses.iter().find(|(kind, _)| *kind == loss).map(|(_, tally)| &tally.samples);
    assert_eq!(samples(Loss::GuessedRoot), Some(&vec!["/docs/ → ./".to_owned()]));
    let top = &parsed.batch.documents[0];
    assert_eq!(
        top.links.iter().map(|link| &*link.targets[0]).collect::<Vec<_>>(),
        ["tasks", "tasks/map", "tasks/Gauge"]
    );
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

/// The documents of some pages, shown with their links, and what was lost.
fn read(format: Format, pages: &[(&str, &str)]) -> (Vec<String>, Losses) {
    let folder = tempfile::tempdir().expect("a directory");
    for (name, text) in pages {
        let path = folder.path().join("set").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a page");
    }
    let roots = [folder.path().join("set")];
    let parsed = match format {
        Format::Html => html(&roots, &HtmlOptions::default()),
        _ => markdown(&roots),
    };
    let shown = parsed.batch.documents.iter().map(|document| format!("{}: {}", document.id, marked(document)));
    let aliases = parsed.batch.aliases.iter().map(|(from, to)| format!("{from} -> {to}"));
    (shown.chain(aliases).collect(), parsed.batch.losses)
}

fn samples(losses: &Losses, wanted: Loss) -> Vec<String> {
    losses.iter().filter(|(loss, _)| *loss == wanted).flat_map(|(_, tally)| tally.samples.clone()).collect()
}

#[test]
fn a_link_to_what_may_be_a_lost_page_is_kept_and_one_to_a_file_is_text() {
    let page = "<p>x <a href=GONE.HTML>a</a> <a href=c.php>b</a> <a href=../x.html>c</a> <a href=../../y/>d</a> \
        <a href=gone>e</a> <a href=gone.png>f</a> <a href=a.PDF>g</a> <a href=s.css>h</a> <a href=NOTICE>i</a> \
        <a href=there.php>j</a> <a href=../x.zip>k</a>";
    let (shown, _) = read(Format::Html, &[("d/a.html", page), ("d/NOTICE", "no page"), ("d/there.php", "no page")]);
    let expected = "d/a.html: x [a][[d/GONE.HTML]] [b][[d/c.php]] [c][[x.html]] [d][[../y/index.html]] \
        [e][[d/gone.html]] f g h i j k";
    assert_eq!(shown, [expected]);
    let page = "x [a](GONE.HTML) [b](c.php) [c](../x.md) [d](../../y/) [e](gone) [f](gone.png) [g](NOTICE) [[w.html]] \
        [[Node.js]] [[pic.PNG]] [h](../../../../../../../../../../up.md)";
    let files = [("d/a.md", page), ("d/NOTICE", "no page"), ("Node.js.md", "javascript")];
    let (shown, _) = read(Format::Markdown, &files);
    let expected = "d/a: x [a][[d/GONE]] [b][[d/c.php]] [c][[x]] [d][[../y]] [e][[d/gone]] f g [w.html][[w.html]] \
        [Node.js][[Node.js]] pic.PNG [h][[../../../../../../../../../up]]";
    assert_eq!(shown, ["Node.js: javascript", expected]);
}

#[test]
fn wiki_marks_that_do_not_close_are_counted_with_file_and_line() {
    let page = "---\ntitle: T\n---\nsee [[B and [[]]\n\n[[|x]], [[B]], `[[ code` and \\[[ text\n";
    let (shown, losses) = read(Format::Markdown, &[("a.md", page), ("B.md", "b [[Two\nlines]]")]);
    assert_eq!(shown, ["B: b [Two lines][[Two lines]]", "a: see [[B and [[]]\n[[|x]], [B][[B]], [[ code and [[ text"]);
    assert_eq!(losses.count(Loss::BrokenMark), 3);
    assert_eq!(samples(&losses, Loss::BrokenMark), ["a (a.md:4)", "a (a.md:6)"]);
}

#[test]
fn tables_of_contents_and_generated_lists_are_left_out() {
    let body = "<h1>Start</h1><div class='toctree-wrapper compound'><p class=caption>Part</p><ul><li><a href=b.html>B</a>\
        </ul></div><p>To <a href=b.html>b</a>.";
    let (shown, losses) = read(
        Format::Html,
        &[
            ("a.html", &format!("<div class=body role=main>{body}</div>")),
            ("b.html", "<p>b"),
            ("genindex.html", "<p>A"),
            ("genindex/index.html", "<p>A"),
            ("py-modindex/index.html", "<p>A"),
            ("search.html", "<p>Search"),
            ("search/index.html", "<h1>Search</h1><p>Words<div id=search-results></div>"),
            ("crate/search/index.html", "<h1>Module search</h1>"),
            ("crate/all.html", "<body class='rustdoc mod sys'><main><h1>All</h1>items</main>"),
            ("crate/index.html", "<body class='rustdoc mod crate'><main><h1>Crate</h1></main>"),
        ],
    );
    let expected = [
        "a.html: Start\nTo [b][[b.html]].",
        "b.html: b",
        "crate/index.html: Crate",
        "crate/search/index.html: Module search",
    ];
    assert_eq!(shown, expected);
    assert_eq!(losses.count(Loss::SkippedPage), 2);
}

#[test]
fn a_page_that_gives_another_as_canonical_is_counted() {
    let copy = "<link rel=canonical href=a.html><p>words that are only here";
    let (shown, losses) = read(Format::Html, &[("a.html", "<p>a"), ("copy.html", copy)]);
    assert_eq!(shown, ["a.html: a", "copy.html -> a.html"]);
    assert_eq!(samples(&losses, Loss::OtherCanonical), ["copy.html → a.html"]);
}

#[test]
fn a_canonical_page_without_text_or_that_leads_back_is_none() {
    let page = |canonical: &str, rest: &str| format!("<link rel=canonical href={canonical}>{rest}");
    let nav = "<nav><a href=a.html>a</a></nav>";
    let pages = [
        ("a.html", page("nav.html", "<p>words of a")),
        ("b.html", page("c.html", "<p>words of b")),
        ("c.html", page("b.html", "<p>words of c")),
        ("d.html", page("e.html", "<p>words of d")),
        ("e.html", page("good.html", "<p>words of e")),
        ("f.html", page("old.html", "<p>words of f")),
        ("g.html", page("away.html", "<p>words of g")),
        ("good.html", "<p>good".to_owned()),
        ("nav.html", nav.to_owned()),
        ("old.html", "<meta http-equiv=refresh content='0; url=good.html'>".to_owned()),
        ("away.html", "<meta http-equiv=refresh content='0; url=https://example.org/'>".to_owned()),
    ];
    let (shown, losses) = read(Format::Html, &pages.each_ref().map(|(name, text)| (*name, &**text)));
    let expected = [
        "a.html: words of a",
        "b.html: words of b",
        "c.html: words of c",
        "g.html: words of g",
        "good.html: good",
        "d.html -> e.html",
        "e.html -> good.html",
        "f.html -> old.html",
        "old.html -> good.html",
    ];
    assert_eq!(shown, expected);
    assert_eq!(losses.count(Loss::OtherCanonical), 3);
}

#[test]
fn a_section_is_content_whatever_it_is_called() {
    for name in ["related", "pagination", "navigation", "breadcrumbs", "share", "footer", "buttons", "sidebar", "toc"] {
        let text = format!(
            "<h2 id={name}>Head</h2><dl><dt id={name}>term<dd>and</dl><p>to <a href=b.html>b</a> <span id={name}>x</span>"
        );
        for page in [
            format!("<div role=main><section id={name}><h1>One</h1>{text}</section></div>"),
            format!("<div role=main><section id={name}><span id=old></span><h1>One</h1>{text}</section></div>"),
            format!("<div class=body><div class=section id={name}><h1>One</h1>{text}</div></div>"),
            format!("<main><h1 id={name}>One</h1>{text}<div id={name}><a href=b.html>next</a></div></main>"),
        ] {
            let (shown, losses) = read(Format::Html, &[("a.html", &page), ("b.html", "<p>b")]);
            assert_eq!(shown, ["a.html: One\nHead\nterm\nand\nto [b][[b.html]] x", "b.html: b"], "{page}");
            assert!(losses.is_empty(), "{page}");
        }
    }
    let page = "<main><p>one<aside class=sidebar><p class=sidebar-title>Box<p>words</aside><div class=sidebar><p>menu</div>\
        <h2 id=synthetic-implementations>Auto</h2><div id=synthetic-implementations-list>list</div><p>two</main>";
    assert_eq!(read(Format::Html, &[("a.html", page)]).0, ["a.html: one\nBox\nwords\ntwo"]);
}

#[test]
fn dollars_around_a_link_make_no_formula() {
    let page = "It costs $HOME and [see bee](Bee.md) in ($PATH)\n\nPrice $5, or [[Bee]] at 6$ each, $7 [so][b] 8$\n\n\
        Real: $x_1 + [[1,2],[3,4]]$ and $f[x](y)$\n\n[b]: Bee.md";
    let (shown, losses) = read(Format::Markdown, &[("Bee.md", "b"), ("a.md", page)]);
    let expected = "a: It costs $HOME and [see bee][[Bee]] in ($PATH)\nPrice $5, or [Bee][[Bee]] at 6$ each, \
        $7 [so][[Bee]] 8$\nReal: x_1 + [[1,2],[3,4]] and f[x](y)";
    assert_eq!(shown, ["Bee: b", expected]);
    assert!(losses.is_empty());
}

#[test]
fn accents_may_be_composed_or_not() {
    let (apart, one) = ("Cafe\u{301}", "Caf\u{e9}");
    let page = "[[Caf\u{e9}]] [[CAF\u{c9}|b]] [c](Caf%C3%A9.md) [d](<Caf\u{e9}.md>) [[th\u{e9}]] [[the\u{301}]]";
    let name = format!("{apart}.md");
    let files = [(&*name, "x"), ("a.md", page), ("b.md", "---\naliases: [the\u{301}]\n---\ny [e](Cafe%CC%81.md)")];
    let (shown, _) = read(Format::Markdown, &files);
    let expected =
        format!("a: [{one}][[{apart}]] [b][[{apart}]] [c][[{apart}]] [d][[{apart}]] [th\u{e9}][[b]] [the\u{301}][[b]]");
    assert_eq!(shown[1..3], [expected, format!("b: y [e][[{apart}]]")]);
    let page = format!("<p><a href='{one}.html'>a</a> <a href='Caf%C3%A9'>b</a>");
    let (shown, _) = read(Format::Html, &[(&format!("{apart}.html"), "<p>x"), ("a.html", &page)]);
    assert_eq!(shown[1], format!("a.html: [a][[{apart}.html]] [b][[{apart}.html]]"));
}

#[test]
fn aliases_that_another_page_has_are_counted() {
    let page = "---\naliases: [Other, b, Mine, a]\n---\nx";
    let (shown, losses) = read(Format::Markdown, &[("a.md", page), ("b.md", "---\naliases: [Other]\n---\ny")]);
    assert_eq!(shown, ["a: x", "b: y", "Other -> a", "Mine -> a"]);
    assert_eq!(samples(&losses, Loss::DuplicateRedirect), ["b → a", "Other → b"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_that_cannot_be_read_is_counted_unless_it_is_left_out() {
    let folder = tempfile::tempdir().expect("a directory");
    let root = folder.path().join("set");
    let chain = |top: &str| {
        std::iter::repeat_n("x".repeat(220), 10).fold(folder.path().join(top), |path, part| path.join(part))
    };
    // Together the two are longer than a path may be, for anybody.
    for top in ["set/long", "more"] {
        fs::create_dir_all(chain(top)).expect("folders");
    }
    fs::rename(folder.path().join("more"), chain("set/long").join("more")).expect("moved");
    fs::write(root.join("a.md"), "a").expect("a page");
    for (exclude, lost) in [(None, 1), (Some("long"), 0), (Some("long/**"), 0), (Some("l*"), 0)] {
        let exclude = exclude.map(str::to_owned).into_iter().collect();
        let options = MarkdownOptions { exclude, ..MarkdownOptions::default() };
        let parsed = all(&Markdown::open(std::slice::from_ref(&root), &options).expect("pages"));
        assert_eq!(parsed.batch.documents.len(), 1);
        assert_eq!(parsed.batch.losses.count(Loss::MalformedRecord), lost);
    }
}

#[test]
fn a_wiki_name_with_an_ending_is_a_page_unless_there_is_such_a_file() {
    let page = "[[Node.js]] [[a.b.c]] [[README.rs]] [[main.rs]] [[sub/x.py]] [[pic.png]] [[https://example.org/a]]";
    let (shown, _) = read(Format::Markdown, &[("d/a.md", page), ("d/main.rs", "code"), ("sub/x.py", "code")]);
    let expected = "d/a: [Node.js][[Node.js]] [a.b.c][[a.b.c]] [README.rs][[README.rs]] main.rs sub/x.py pic.png \
        https://example.org/a";
    assert_eq!(shown, [expected]);
}

#[test]
fn the_index_of_a_folder_may_be_its_readme() {
    let page = "[a](guide/index.md) [b](guide/index.html) [c](guide/) [d](other/index.md)";
    let (shown, _) = read(Format::Markdown, &[("a.md", page), ("guide/README.md", "g"), ("other/index.md", "o")]);
    assert_eq!(shown[0], "a: [a][[guide/README]] [b][[guide/README]] [c][[guide/README]] [d][[other]]");
}

#[test]
fn any_order_of_batches_gives_the_same_documents() {
    let folder = tempfile::tempdir().expect("a directory");
    for page in 0..100 {
        let text = format!("<p>page {page} before <a href='{}.html'>next</a> after", (page + 1) % 100);
        fs::write(folder.path().join(format!("{page}.html")), text).expect("a page");
    }
    let html = Html::open(&[folder.path().to_owned()], &HtmlOptions::default()).expect("pages");
    let forward: Vec<_> = html.batches().into_iter().flat_map(|batch| html.parse(batch).batch.documents).collect();
    let mut backward: Vec<_> =
        html.batches().into_iter().rev().map(|batch| html.parse(batch).batch.documents).collect();
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
    let deep = parsed.batch.documents.iter().find(|document| document.id == "deep.html").expect("deep.html");
    assert_eq!(marked(deep), "deep [words][[wide.html]]");
    let wide = parsed.batch.documents.iter().find(|document| document.id == "wide.html").expect("wide.html");
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
    write("unknown.html", b"<meta charset=klingon><p>caf\xE9");
    write("wide.html", &"<p>a\u{e9}".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>());
    write("wide2.html", &"<p>a\u{e9}".encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>());
    let parsed = html(&[folder.path().to_owned()], &HtmlOptions::default());
    let texts: Vec<&str> = parsed.batch.documents.iter().map(|document| &*document.text).collect();
    assert_eq!(texts, ["é", "café “quoted”", "ą", "caf\u{FFFD}", "café", "aé", "aé"]);
    assert_eq!(parsed.batch.losses.count(Loss::ReplacedBytes), 1);
    assert_eq!(samples(&parsed.batch.losses, Loss::IgnoredField), ["charset \"klingon\" (unknown.html)"]);
    assert_ne!(parsed.batch.losses, Losses::default());
}

#[test]
fn no_page_is_an_error_that_names_the_place() {
    let folder = tempfile::tempdir().expect("a directory");
    let error = Html::open(&[folder.path().to_owned()], &HtmlOptions::default()).err().expect("an error").to_string();
    assert!(error.contains("expected pages (.html, .htm, .xhtml)"), "{error}");
    assert!(Markdown::open(&[folder.path().join("none")], &MarkdownOptions::default()).is_err());
}

#[test]
#[cfg(unix)]
fn links_that_lead_out_of_the_tree_are_not_read_but_counted() {
    use std::os::unix::fs::symlink;
    let place = tempfile::tempdir().expect("a directory");
    let [outside, tree, given] = ["outside", "tree", "given"].map(|name| place.path().join(name));
    fs::create_dir_all(outside.join("folder")).expect("made");
    fs::create_dir_all(tree.join("sub")).expect("made");
    fs::write(outside.join("secret.md"), "a secret").expect("written");
    fs::write(outside.join("folder/other.md"), "another").expect("written");
    fs::write(tree.join("a.md"), "a page").expect("written");
    symlink(outside.join("secret.md"), tree.join("file.md")).expect("linked");
    symlink("../outside/folder", tree.join("folder")).expect("linked");
    symlink("../a.md", tree.join("sub/within.md")).expect("linked");
    symlink("..", tree.join("sub/up")).expect("linked");
    symlink("round.md", tree.join("round.md")).expect("linked");
    symlink("nowhere.md", tree.join("broken.md")).expect("linked");
    symlink(outside.join("secret.md"), tree.join("picture.png")).expect("linked");
    symlink(&tree, &given).expect("linked");
    for root in [tree, given] {
        let parsed = markdown(&[root]);
        let ids: Vec<&str> = parsed.batch.documents.iter().map(|document| document.id.as_str()).collect();
        assert_eq!(ids, ["a", "sub/within"]);
        let unread = parsed.batch.losses.iter().find(|(loss, _)| *loss == Loss::UnreadFile).expect("counted").1;
        assert_eq!(unread.count, 2, "{unread:?}");
        assert!(unread.samples.iter().any(|sample| sample.starts_with("file.md: ")), "{unread:?}");
        assert!(unread.samples.iter().any(|sample| sample.starts_with("folder: ")), "{unread:?}");
    }
    // A file that is named is read, whatever it is.
    assert_eq!(markdown(&[place.path().join("tree/file.md")]).batch.documents.len(), 1);
}

#[test]
#[cfg(unix)]
fn links_that_lead_out_of_a_folder_of_json_lines_are_counted_too() {
    use std::os::unix::fs::symlink;
    let report =
        |format: Format, path: &Path| Import::files(format, [path]).write_jsonl(&mut Vec::new()).expect("read");
    for (format, sample) in [(Format::Unarxive, "unarxive/sample.jsonl"), (Format::S2orc, "s2orc/2019.jsonl")] {
        let place = tempfile::tempdir().expect("a directory");
        let [outside, tree] = ["outside", "tree"].map(|name| place.path().join(name));
        fs::create_dir_all(&outside).expect("made");
        fs::create_dir_all(tree.join("blobs")).expect("made");
        for path in [outside.join("secret.jsonl"), tree.join("blobs/0123")] {
            fs::copy(data(sample), path).expect("copied");
        }
        symlink(outside.join("secret.jsonl"), tree.join("file.jsonl")).expect("linked");
        symlink(&outside, tree.join("folder")).expect("linked");
        symlink(outside.join("secret.jsonl"), tree.join("picture.png")).expect("linked");
        symlink("nowhere.jsonl", tree.join("broken.jsonl")).expect("linked");
        // Within the tree, to a file that has no such name.
        symlink("blobs/0123", tree.join("b.jsonl")).expect("linked");
        let report = [report(format, &tree), report(format, &data(sample))];
        assert_eq!(report[0].documents, report[1].documents);
        let unread = report[0].losses.iter().find(|(loss, _)| *loss == Loss::UnreadFile).expect("counted").1;
        assert_eq!(unread.count, 2, "{unread:?}");
        assert!(unread.samples.iter().any(|sample| sample.starts_with("file.jsonl: ")), "{unread:?}");
        assert!(unread.samples.iter().any(|sample| sample.starts_with("folder: ")), "{unread:?}");
    }
}
