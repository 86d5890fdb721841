//! `--write`, then `import`: the links suggested, and no others.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::manual;
use crate::helper::Place;

/// The links of a corpus: pairs of documents.
fn links(place: &Place, corpus: &str) -> BTreeSet<(String, String)> {
    let mut links = BTreeSet::new();
    for line in place.ok(&format!("cat {corpus}")).out.lines() {
        let document: Value = serde_json::from_str(line).expect("JSON");
        let text = document["text"].as_str().expect("a text");
        for mark in text.split("[[").skip(1) {
            let targets = mark.split("]]").next().expect("an end");
            let id = document["id"].as_str().expect("an id");
            // Pages of HTML keep their endings.
            let plain = |id: &str| id.trim_end_matches(".html").to_owned();
            links.extend(targets.split('|').map(|target| (plain(id), plain(target))));
        }
    }
    links
}

/// Writes what is suggested into the files of `folder`, and compares what an import reads before and after.
fn written(place: &Place, format: &str, folder: &str) {
    let import = |corpus: &str| {
        place.ok(&format!("import {format} {folder} -o {corpus} --min-count 1"));
        links(place, corpus)
    };
    let before = import(&format!("{folder}.before"));
    let suggested = place.json(&format!("suggest m {folder} --json"));
    let mut expected = BTreeSet::new();
    for file in suggested["files"].as_array().expect("files") {
        let path =
            file["path"].as_str().expect("a path").strip_prefix(&format!("{folder}/")).expect("below the folder");
        let id = path.rsplit_once('.').expect("an ending").0;
        for one in file["suggestions"].as_array().expect("suggestions") {
            expected.insert((id.to_owned(), one["id"].as_str().expect("an id").to_owned()));
        }
    }
    assert!(expected.len() >= 12, "{format}: {expected:?}");
    place.ok(&format!("suggest m {folder} --write"));
    let after = import(&format!("{folder}.after"));
    let new: BTreeSet<_> = after.difference(&before).cloned().collect();
    assert_eq!(new, expected, "{format}");
    assert!(before.is_subset(&after), "{format}: no link is lost");
    assert_eq!(place.ok(&format!("suggest m {folder}")).out, "", "{format}: all is said");
}

/// Pages in Markdown, HTML and reStructuredText, some with a link, in folders of their own.
#[test]
fn what_is_written_is_what_an_import_reads() {
    let place = manual();
    let links = [
        ("markdown", "md", "[the one before](p{}.md)"),
        ("html", "html", "<a href=\"p{}.html\">the one before</a>"),
        ("rst", "rst", ":doc:`the one before <p{}>`"),
    ];
    for (format, ending, link) in links {
        let folder = format!("new-{format}");
        for (name, title, _) in super::TOPICS {
            let text = page(format, title, "What it is.");
            write(&place, &format!("{folder}/{name}.{ending}"), &text);
        }
        for n in 1..8 {
            let before = link.replace("{}", &(n - 1).to_string());
            let paragraphs = [
                "On this page the grammar of a sentence gives a parse tree whose leaves are its words.",
                "On this page the decoder keeps the best hypotheses in a beam search of a given width.",
                &format!("It comes after {before}, which has a parse tree, too."),
            ];
            let between = if format == "html" { "</p>\n<p>" } else { "\n\n" };
            let body = paragraphs.join(between);
            write(&place, &format!("{folder}/more/p{n}.{ending}"), &page(format, &format!("New {n}"), &body));
        }
        write(&place, &format!("{folder}/more/p0.{ending}"), &page(format, "New 0", "Nothing here."));
        written(&place, format, &folder);
    }
}

fn write(place: &Place, name: &str, text: &str) {
    let path = place.path(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    // Line ends of another system stay as they are.
    fs::write(path, text.replace('\n', "\r\n")).expect("written");
}

fn page(format: &str, title: &str, body: &str) -> String {
    match format {
        "html" => {
            format!("<html><head><title>{title}</title></head><body><h1>{title}</h1>\n<p>{body}</p></body></html>\n")
        }
        "rst" => format!("{title}\n{}\n\n{body}\n", "=".repeat(title.len())),
        _ => format!("# {title}\n\n{body}\n"),
    }
}
