//! Drafts and models that cannot be used: clear messages, and nothing written.

use super::manual;
use crate::helper::{Place, records};

#[test]
fn what_cannot_be_read_is_said_and_nothing_is_written() {
    let place = manual();
    place.write("binary.md", b"# x\n\0\0\0");
    assert_eq!(place.refused("suggest m binary.md --write"), "binary.md: expected text, found a binary file");
    place.write("latin.tex", b"caf\xe9");
    assert!(
        place.refused("suggest m latin.tex --write").contains("expected UTF-8 text, found something else at byte 3")
    );
    place.write("big.txt", "parse tree ".repeat(5_000_000));
    let message = place.refused("suggest m big.txt --write");
    assert_eq!(message, "big.txt: it has 52 MB, but drafts may have at most 16 MB; split it");
    assert_eq!(place.refused("recommend m big.txt"), message);
    assert!(place.refused("suggest m nowhere.md").contains("cannot read nowhere.md"));
    assert!(place.refused("suggest m new.md --never-link nowhere").contains("cannot read"));
    std::fs::create_dir(place.path("empty")).expect("a folder");
    assert!(place.refused("suggest m empty").contains("no file there has the ending of a known format"));
    assert_eq!(place.run("suggest m new.md --input word").code, Some(2));
    assert_eq!(place.run("suggest m").code, Some(2));
    // Neither words nor anything known.
    for text in ["", "\n\n", "xyzzy plugh", "```\nparse tree\n```\n", "[[", "# ", "---\n"] {
        place.write("odd.md", text);
        assert_eq!(place.ok("suggest m odd.md --write").out, "", "{text:?}");
        assert_eq!(std::fs::read(place.path("odd.md")).expect("a draft"), text.as_bytes());
    }
    assert_eq!(place.refused("recommend m odd.md"), "odd.md: the text has no words");
    broken_markup(&place);
}

/// Broken markup is read as far as it goes, and stays as it was but for the links.
fn broken_markup(place: &Place) {
    for (name, text) in [
        ("a.tex", "\\begin{document} a parse tree \\cite{ of \\emph{words \\begin{equation} x \\end{itemize}"),
        ("b.tex", "}}}} a parse tree $ of {{ words \\verb|x"),
        ("c.md", "[a](b [c a parse tree ``` of words **bold <a href="),
        ("d.html", "<p><a href='x a parse tree <b of words </p></div> <!-- "),
        ("e.rst", ".. x::\n\n  a parse tree `of words <\n\n==\n"),
        ("f.wiki", "{{ a [[ parse tree <ref> of words {| "),
        ("g.txt", "[[ a parse tree [words][[ of \u{feff}"),
    ] {
        place.write(name, text);
        place.ok(&format!("suggest m {name} --write --min-probability 0.05"));
        let written = std::fs::read_to_string(place.path(name)).expect("a draft");
        let mut rest = written.chars();
        assert!(text.chars().all(|c| rest.any(|other| other == c)), "{name}: {written}");
    }
}

#[test]
fn a_model_that_has_not_learnt_places_says_so() {
    let place = Place::with(&[("in.jsonl", &records(40)), ("new.md", "w1 w2 [[?]]")]);
    place.ok("import jsonl in.jsonl --min-count 1 -o c");
    let said = place.ok("train c -o m --dim 4 --epochs 1 --content-epochs 1").err;
    assert!(said.contains("too few links to learn from where links belong"), "{said}");
    let refused = place.refused("suggest m new.md");
    assert!(
        refused.contains("has not learnt where links belong: that takes 50 links or more, and it has 38"),
        "{refused}"
    );
    place.write("plain.jsonl", records(60).replace("[[", "").replace("]]", ""));
    place.ok("import jsonl plain.jsonl --min-count 1 -o unlinked");
    place.ok("train unlinked -o without --method pv-dbow --dim 4 --epochs 1");
    let refused = place.refused("suggest without new.md");
    assert!(
        refused.contains("has not learnt where links belong: it was trained without a hybrid ranking"),
        "{refused}"
    );
    // Marks can be answered all the same.
    let found = place.json("recommend m new.md --json --top 2");
    assert_eq!(
        (&found["answers"][0]["mark"], found["answers"][0]["hits"].as_array().map(Vec::len)),
        (&"[[?]]".into(), Some(2))
    );
}
