//! Every format in, every format out, against files written by hand.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{manual, masked};
use crate::helper::Place;

/// A file of `expected/suggest`.
fn expected(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/expected/suggest");
    std::fs::read_to_string(folder.join(name)).unwrap_or_default()
}

/// The draft in each format.
const DRAFTS: [&str; 6] = ["new.md", "new.tex", "new.rst", "new.html", "new.wiki", "new.txt"];

#[test]
fn drafts_of_every_format_get_links_and_nothing_else_changes() {
    let place = manual();
    let mut wrong = String::new();
    for name in DRAFTS {
        place.write(name, expected(name));
        let told = masked(&place.ok(&format!("suggest m {name} --write")).out);
        let written = std::fs::read_to_string(place.path(name)).expect("a draft");
        for (kind, found) in [("told", told), ("written", written)] {
            if found != expected(&format!("{name}.{kind}")) {
                wrong.push_str(&format!("==> {name}.{kind}\n{found}"));
            }
        }
        let again = place.ok(&format!("suggest m {name}"));
        assert_eq!(again.out, "", "{name}: what is linked is not suggested again");
    }
    assert!(wrong.is_empty(), "{wrong}");
    outputs(&place);
}

/// JSON without the version, ranks and documents behind the first.
fn for_programs(out: &str) -> String {
    let mut value: Value = serde_json::from_str(out).expect("JSON");
    let list = |value: &mut Value, at: &str| value.pointer_mut(at).map(Value::take).unwrap_or_default();
    let mut suggestions = list(&mut value, "/files/0/suggestions");
    suggestions.as_array_mut().into_iter().flatten().for_each(|one| one["others"] = json!("others"));
    let mut results = list(&mut value, "/runs/0/results");
    for one in results.as_array_mut().into_iter().flatten() {
        assert!(one["rank"].as_f64().is_some_and(|rank| (50.0..=100.0).contains(&rank)), "{one}");
        one["rank"] = json!("rank");
    }
    if suggestions.is_null() {
        value["runs"][0]["results"] = results;
        value["runs"][0]["tool"]["driver"]["version"] = json!("version");
    } else {
        value["files"][0]["suggestions"] = suggestions;
    }
    serde_json::to_string_pretty(&value).expect("JSON") + "\n"
}

/// The output in each format, for one draft.
fn outputs(place: &Place) {
    place.write("new.md", expected("new.md"));
    let mut wrong = String::new();
    for format in ["text", "json", "sarif", "github", "patch"] {
        let name = format!("out.{format}");
        let found = place.ok(&format!("suggest m new.md --format {format}")).out;
        let found = masked(&if matches!(format, "json" | "sarif") { for_programs(&found) } else { found });
        if found != expected(&name) {
            wrong.push_str(&format!("==> {name}\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(place.ok("suggest m new.md --json").out, place.ok("suggest m new.md --format json").out);
    // Other programs take the patch.
    let patch = place.ok("suggest m new.md --format patch").out;
    place.write("links.patch", patch);
    let apply = Command::new("git").args(["apply", "links.patch"]).current_dir(place.path("")).status();
    assert!(apply.is_ok_and(|status| status.success()));
    let patched = std::fs::read_to_string(place.path("new.md")).expect("a draft");
    assert_eq!(patched, expected("new.md.written"));
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_stays_one_and_permissions_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = manual();
    let (draft, before) = (place.path("new.md"), expected("new.md"));
    place.write("new.md", &before);
    std::fs::set_permissions(&draft, std::fs::Permissions::from_mode(0o640)).expect("permissions");
    std::os::unix::fs::symlink("new.md", place.path("link.md")).expect("a link");
    place.ok("suggest m link.md --write");
    assert!(place.path("link.md").is_symlink());
    assert_ne!(std::fs::read_to_string(&draft).expect("a draft"), before, "the draft is written");
    assert_eq!(draft.metadata().expect("a draft").permissions().mode() & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn names_of_files_make_up_no_lines_and_hard_links_are_told() {
    let place = manual();
    let name = "a\nhd2v: b\u{1b}[2K.md";
    std::fs::create_dir(place.path("drafts")).expect("a folder");
    place.write(&format!("drafts/{name}"), expected("new.md"));
    let found = place.ok("suggest m drafts");
    assert!(found.out.lines().all(|line| line.starts_with(r"drafts/a\u{a}hd2v: b\u{1b}[2K.md:")), "{}", found.out);
    assert!(!found.out.is_empty());
    let patch = place.ok("suggest m drafts --format patch").out;
    assert!(patch.starts_with("--- \"a/drafts/a\\012hd2v: b\\033[2K.md\"\n+++ \"b/drafts/a"), "{patch}");
    for format in ["table", "cite", "markdown"] {
        let mut program = Command::new(crate::helper::HD2V);
        program.args(["recommend", "m", &format!("drafts/{name}"), "--rank", "bm25", "--format", format]);
        let output = program.current_dir(place.path("")).output().expect("it runs");
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && told.contains(r"drafts/a\u{a}hd2v: b\u{1b}[2K.md"), "{format}: {told}");
    }
    place.write("new.md", expected("new.md"));
    std::fs::hard_link(place.path("new.md"), place.path("other.md")).expect("a link");
    let said = place.ok("suggest m new.md --write").err;
    assert!(said.contains("new.md: 1 other name (hard links) of the file has the text as it was"), "{said}");
    assert_eq!(std::fs::read_to_string(place.path("other.md")).expect("a draft"), expected("new.md"));
}

#[test]
fn files_of_a_corpus_are_not_written_to() {
    let place = manual();
    place.write("c/new.md", expected("new.md"));
    let refused = place.run("suggest m c/new.md --write");
    let told = "hd2v: c/new.md: a file of a corpus; it would be damaged\n";
    assert!(refused.code == Some(1) && refused.err.ends_with(told), "{}", refused.err);
    assert_eq!(std::fs::read_to_string(place.path("c/new.md")).expect("a draft"), expected("new.md"));
}
