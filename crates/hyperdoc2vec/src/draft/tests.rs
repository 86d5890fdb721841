//! Drafts of every format, against files written by hand; and any bytes.

use std::fmt::Write as _;

use proptest::prelude::*;
use strum::VariantArray;

use super::*;
use crate::tests::growth::assert_linear;

/// A draft for people: a line a block and kind, links and wanted places by their bytes as written.
fn dump(text: &str, draft: &Draft) -> String {
    let mut out = String::new();
    let mut last = None;
    for word in &draft.words {
        if last != Some((word.block, word.kind)) {
            let kind: &str = word.kind.into();
            write!(out, "{}{kind}:", if last.is_some() { "\n" } else { "" }).expect("memory");
            last = Some((word.block, word.kind));
        }
        let marks = match (word.first, word.joined) {
            (true, _) => " . ",
            (_, true) => " ",
            _ => " / ",
        };
        write!(out, "{marks}{}", word.text).expect("memory");
    }
    out.push('\n');
    for link in &draft.links {
        let words: Vec<&str> = draft.words[link.words.clone()].iter().map(|word| &*word.text).collect();
        let syntax: &str = link.syntax.into();
        writeln!(out, "{syntax} {:?} words {words:?} targets {:?}", &text[link.span.clone()], link.targets)
            .expect("memory");
    }
    for wanted in &draft.wanted {
        let before = wanted.word.checked_sub(1).map_or("", |word| &*draft.words[word].text);
        writeln!(
            out,
            "wanted {:?} hole {:?} behind {before:?}",
            &text[wanted.span.clone()],
            &text[wanted.hole.clone()]
        )
        .expect("memory");
    }
    writeln!(out, "title {:?}", draft.title).expect("memory");
    out
}

#[test]
fn every_format_is_read_as_the_files_say() {
    let tokenizer = Tokenizer::default();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/draft/golden");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a file of the repository");
    let mut wrong = String::new();
    for name in ["page.md", "page.tex", "page.rst", "page.html", "page.wiki", "page.txt"] {
        let (text, expected) = (&read(name), read(&format!("{name}.read")));
        let format = DraftFormat::of_path(name).expect("a format");
        let found = dump(text, &Draft::read(text, format, &tokenizer, name).expect("a draft"));
        if found != expected {
            write!(wrong, "==> {name}\n{found}").expect("memory");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Properties that hold for every draft.
fn check(text: &str, format: DraftFormat) {
    let draft = Draft::read(text, format, &Tokenizer::default(), "here").expect("a draft");
    let mut last = 0;
    for word in &draft.words {
        assert!(word.start >= last, "{text:?}: words stand in order");
        assert!(text.get(word.span()).is_some(), "{text:?}: a word is a part of the text");
        last = word.start;
    }
    for link in &draft.links {
        assert!(text.get(link.span.clone()).is_some() && draft.words.get(link.words.clone()).is_some(), "{text:?}");
    }
    for wanted in &draft.wanted {
        assert!(text.get(wanted.span.clone()).is_some() && text.get(wanted.hole.clone()).is_some(), "{text:?}");
        assert!(wanted.word <= draft.words.len());
    }
}

/// Pieces of markup, which random letters would seldom make.
const PIECES: [&str; 52] = [
    "[[",
    "]]",
    "[",
    "]",
    "(",
    ")",
    "`",
    "``",
    "{",
    "}",
    "{{",
    "}}",
    "\\cite",
    "\\begin{",
    "\\end{",
    "equation}",
    "verbatim}",
    "\\verb|",
    "$",
    "$$",
    "%",
    "\n",
    "\n\n",
    " ",
    "<a href=\"",
    "\">",
    "</a>",
    "<",
    ">",
    "<!--",
    "-->",
    "<ref>",
    "</ref>",
    "==",
    "===",
    "#",
    ">",
    "*",
    "_",
    "|",
    "{|",
    "|}",
    "::",
    ".. note::",
    "[@",
    "?",
    "word",
    "Größe",
    "é",
    "東京",
    "\r\n",
    "\\",
];

proptest! {
    #[test]
    fn anything_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        DraftFormat::VARIANTS.iter().for_each(|&format| check(&text, format));
    }

    #[test]
    fn any_markup_can_be_read(pieces in proptest::collection::vec(0..PIECES.len(), 0..60)) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        DraftFormat::VARIANTS.iter().for_each(|&format| check(&text, format));
    }
}

#[test]
fn marks_that_never_close_take_time_in_proportion() {
    for piece in [
        "[[",
        "{{",
        "<ref>",
        "\\cite{",
        "$",
        "`",
        "[",
        "<a \"",
        "<!--",
        "|",
        "\\begin{x",
        "[@a",
        "[?] ",
        "[http ",
        "<a",
        "\\verb|a| ",
        "<ref></ref>",
        "$a\n\n",
        "{|\n",
        "=\n",
        ".. a::\n",
        "``a",
        "[a][",
        "\\title{",
        "&amp",
        "> ",
        "- [?]\n",
    ] {
        for &format in DraftFormat::VARIANTS {
            assert_linear(&format!("{piece:?} in {format}"), 4_000, |pieces| check(&piece.repeat(pieces), format));
        }
    }
}

#[test]
fn a_title_that_does_not_close_before_the_text_is_read_once() {
    let text = "\\title{one \\begin{document} two} three";
    let draft = Draft::read(text, DraftFormat::Latex, &Tokenizer::default(), "here").expect("a draft");
    let words: Vec<&str> = draft.words.iter().map(|word| &*word.text).collect();
    assert_eq!(words, ["two", "three"]);
}

#[test]
fn a_draft_that_is_too_long_is_refused() {
    let text = "a ".repeat(LONGEST_DRAFT / 2 + 1);
    let error = Draft::read(&text, DraftFormat::Plain, &Tokenizer::default(), "big.txt").expect_err("too long");
    assert_eq!(error.to_string(), "big.txt: it has 16 MB, but drafts may have at most 16 MB; split it");
}

#[test]
fn a_document_has_the_links_it_had() {
    let document = Document::new("a", "scored by [the metric][[bleu]] as [[x]] usual");
    let draft = Draft::of_document(&document, &Tokenizer::default());
    let words =
        |link: &DraftLink| draft.words[link.words.clone()].iter().map(|word| word.text.to_string()).collect::<Vec<_>>();
    assert_eq!(
        draft.links.iter().map(words).collect::<Vec<_>>(),
        [vec!["the".to_owned(), "metric".to_owned()], vec![]]
    );
}
