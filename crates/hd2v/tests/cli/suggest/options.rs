//! What is suggested, and where: options of `suggest`.

use std::fs;

use super::manual;
use crate::helper::Place;

const DRAFT: &str = "A parse tree of the sentence gives words, and a beam search keeps the best hypotheses.\n";

/// The targets that are suggested.
fn targets(place: &Place, arguments: &str) -> Vec<String> {
    let found = place.json(&format!("suggest m {arguments} --json"));
    let files = found["files"].as_array().expect("files").iter();
    let all = files.flat_map(|file| file["suggestions"].as_array().expect("suggestions"));
    all.map(|one| one["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn options_say_what_is_suggested() {
    let place = manual();
    place.write("new.md", DRAFT);
    assert_eq!(targets(&place, "new.md"), ["notes/tree", "notes/beam"]);
    assert_eq!(targets(&place, "new.md --max 1").len(), 1);
    assert_eq!(targets(&place, "new.md --min-probability 1"), [""; 0]);
    assert!(place.ok("suggest m new.md --min-probability 1").err.contains("--min-probability 0.1 shows less probable"));
    assert_eq!(targets(&place, "new.md --target notes/beam"), ["notes/beam"]);
    assert!(place.refused("suggest m new.md --target notes/baem").contains("did you mean \"notes/beam\""));
    // A phrase, a title, an id; comments.
    for line in ["parse trees", "Parse tree # not this one", "notes/tree"] {
        place.write("never.txt", format!("# never\n\n{line}\n"));
        assert_eq!(targets(&place, "new.md --never-link never.txt"), ["notes/beam"], "{line}");
    }
    // Nothing links to the pages.
    assert_eq!(targets(&place, "new.md --orphans"), [""; 0]);
    place.write("orphan.md", "What Page 7 says, as on page 8 of it.\n");
    let orphans = targets(&place, "orphan.md --orphans --min-probability 0");
    assert!(!orphans.is_empty() && orphans.iter().all(|id| id.starts_with("pages/")), "{orphans:?}");
    // For CI.
    let checked = place.run("suggest m new.md --check");
    assert_eq!((checked.code, checked.err.contains("links are missing: 2 suggestions")), (Some(1), true));
    place.write("nothing.md", "Nothing at all.\n");
    assert_eq!(place.run("suggest m nothing.md --check").code, Some(0));
    assert!(!place.ok("suggest m nothing.md --min-probability 0.1").err.contains("less probable"));
    assert_eq!(place.run("suggest m new.md --check --write").code, Some(2));
    assert_eq!(fs::read_to_string(place.path("new.md")).expect("a draft"), DRAFT, "nothing is written unasked");
    // A failure is no answer.
    assert_eq!(place.run("suggest m new.md nowhere.md --check").code, Some(2));
    assert_eq!(place.run("suggest m new.md --check --target notes/baem").code, Some(2));
    place.write("latin.md", b"caf\xe9");
    assert_eq!(place.run("suggest m new.md latin.md --check").code, Some(2));
    assert_eq!(place.run("suggest m new.md latin.md").code, Some(1));
    directories(&place);
    own_document(&place);
    said(&place);
}

/// What is said where nothing is suggested, and drafts without a name.
fn said(place: &Place) {
    place.write("empty.md", "");
    place.write("odd.md", "Xyzzy plugh.\n");
    for name in ["empty.md", "odd.md"] {
        let said = place.ok(&format!("suggest m {name}")).err;
        assert_eq!(said, "0 suggestions in 1 file; the model knows no word there\n", "{name}");
    }
    assert_eq!(place.ok("suggest m new.md --max 0").err, "0 suggestions in 1 file\n");
    place.write("marks.md", "The decoder keeps the best hypotheses [[?]].\n");
    let said = place.ok("suggest m marks.md --min-probability 1 --write");
    assert!(
        said.out.is_empty() && said.err.contains("; 1 mark without an answer that is likely enough"),
        "{}",
        said.err
    );
    let found = place.run_with("suggest m -", DRAFT.as_bytes()).succeeded("standard input").out;
    assert!(found.starts_with("-:1:3: parse tree → notes/tree"), "{found}");
    assert_eq!(place.run_with("suggest m - --write", DRAFT.as_bytes()).code, Some(2));
    place.write("mark.md", format!("\u{feff}{DRAFT}"));
    assert!(place.ok("suggest m mark.md").out.starts_with("mark.md:1:3: "), "a byte-order mark is no column");
    let refused = place.refused("recommend m docs");
    assert!(refused.contains("docs: expected a file, found a directory; name its files"), "{refused}");
}

fn directories(place: &Place) {
    fs::create_dir_all(place.path("tree/sub/.git")).expect("folders");
    for name in ["tree/one.md", "tree/sub/two.rst", "tree/sub/.git/three.md", "tree/.four.md", "tree/five.png"] {
        place.write(name, DRAFT);
    }
    place.write("tree/binary.txt", b"\0\x01\x02");
    place.write("tree/latin.txt", b"caf\xe9 parse tree");
    let found = place.ok("suggest m tree");
    let files: Vec<&str> = found.out.lines().map(|line| line.split(':').next().expect("a path")).collect();
    assert_eq!(files, ["tree/one.md", "tree/one.md", "tree/sub/two.rst", "tree/sub/two.rst"]);
    assert!(found.err.contains("tree/binary.txt: skipped") && found.err.contains("tree/latin.txt: skipped"));
    assert_eq!(place.ok("suggest m tree --threads 1").out, found.out, "for any number of threads");
    assert_eq!(place.ok("suggest m tree/one.md tree/sub").out, found.out);
}

/// A file that is a document of the model is not suggested to itself, nor what it links to.
fn own_document(place: &Place) {
    assert_eq!(targets(place, "docs/notes/tree.md"), [""; 0]);
    let page = fs::read_to_string(place.path("docs/pages/p0.md")).expect("a page");
    assert!(page.contains("(../notes/tree.md)"));
    place.write("docs/pages/p0.md", page.clone() + "A parse tree again.\n");
    assert!(!targets(place, "docs/pages/p0.md").contains(&"notes/tree".to_owned()));
    // Also from within, and by a path from the root of the site.
    let from_root = page.replace("../notes/tree.md", "/manual/notes/tree/");
    for text in [page.clone(), from_root] {
        place.write("docs/pages/p0.md", text + "A parse tree and a beam search again.\n");
        for path in ["p0.md", "./p0.md", ".", "../pages"] {
            let mut program = std::process::Command::new(crate::helper::HD2V);
            program
                .args(["suggest", "../../m", path, "--min-probability", "0.05"])
                .current_dir(place.path("docs/pages"));
            let found = String::from_utf8(program.output().expect("it runs").stdout).expect("UTF-8");
            let of_page = found.lines().filter(|line| line.contains("p0.md:")).collect::<Vec<_>>().join("\n");
            assert!(!of_page.contains("→ notes/tree") && !of_page.contains("→ pages/p0 "), "{path}: {found}");
        }
    }
    place.write("docs/pages/p0.md", page);
}
