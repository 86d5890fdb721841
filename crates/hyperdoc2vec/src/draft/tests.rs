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
        "1. [?]",
        "{{< ",
        "{{ `",
        "{% `",
        "{{< comment >}}",
        "*a ",
        "a_",
        "\\iffalse",
        "[see @a",
        "a/",
    ] {
        for &format in DraftFormat::VARIANTS {
            assert_linear(&format!("{piece:?} in {format}"), 4_000, |pieces| check(&piece.repeat(pieces), format));
        }
    }
}

fn read(text: &str, format: DraftFormat) -> Draft {
    Draft::read(text, format, &Tokenizer::default(), "here").expect("a draft")
}

/// The words that links may be put into.
fn prose(text: &str, format: DraftFormat) -> String {
    let draft = read(text, format);
    let words = draft.words.iter().filter(|word| word.kind == TextKind::Prose);
    words.map(|word| &*word.text).collect::<Vec<_>>().join(" ")
}

fn targets(text: &str, format: DraftFormat) -> Vec<String> {
    read(text, format).links.into_iter().flat_map(|link| link.targets).collect()
}

/// What the targets of a text's marks would replace.
fn holes(text: &str, format: DraftFormat) -> Vec<String> {
    read(text, format).wanted.into_iter().map(|wanted| text[wanted.hole].to_owned()).collect()
}

#[test]
fn tags_of_site_generators_are_no_places() {
    for (text, words) in [
        ("a {{< note >}}b{{< /note >}} {{% include \"c d\" %}} e", "a b e"),
        ("a {{domxref(\"B C\")}} {% ref \"D\" %} e", "a e"),
        ("a {{< glossary_tooltip text=\"b c\" term_id=\"d\" >}} e", "a e"),
        ("[a]({{< relref \"/b c\" >}}) [d {{< param \"v\" >}}](/e/{{< param \"v\" >}}/) f", "f"),
        ("a\n\n{{< highlight x >}}\nb c\n{{< /highlight >}}\n\nd", "a d"),
        ("import A from 'a b'\n\nexport const x = \"c\"\n\nWe import d from e", "we import d from e"),
        ("a %%b c%% d\n\n!!! note \"e f\"\n", "a d"),
        ("a\n\n:::note[b c]\n\nd\n\n:::\n\n*[HTML]: e f\n", "a d"),
        ("We write `{{` before and `}}` behind", "we write before and behind"),
    ] {
        assert_eq!(prose(text, DraftFormat::Markdown), words, "{text}");
    }
    assert_eq!(prose("<p>a {{ b }} {% if c %}d{% endif %}</p>", DraftFormat::Html), "a d");
    let text = "{{< glossary_tooltip text=\"a Pod\" term_id=\"pod\" >}} [x]({{< ref \"b#c\" >}}) [y]({% link d.md %})\n\n[z]: \
                {{< relref \"/e\" >}}\n";
    assert_eq!(targets(text, DraftFormat::Markdown), ["glossary/pod", "b#c", "/d.md"]);
    assert_eq!(targets(&format!("[z] {text}"), DraftFormat::Markdown)[0], "/e");
    assert_eq!(targets("{doc}`a <b/c>` {cite:p}`d, e` `{doc}` {x}`f`", DraftFormat::Markdown), ["b/c", "d", "e"]);
    let table =
        "<table>\n<td><a href=\"{{< ref \"../b#c\" >}}\">d</a> <A class=\"x\" href='/e/'>f</A></td>\n</table>\n";
    assert_eq!(targets(table, DraftFormat::Markdown), ["../b#c", "/e/"]);
    assert_eq!(targets("<a href=\"{{ '/b/' | relative_url }}\">c</a>", DraftFormat::Html), ["/b/"]);
}

#[test]
fn front_matter_stands_at_the_beginning_alone() {
    for text in ["---\na: b\n---\nc\n\n---\n\nd\n\n---\n", "\u{feff}+++\na = 1\n+++\nc d", "c\n\n---\nd\n\n---\n"] {
        assert_eq!(prose(text, DraftFormat::Markdown), "c d", "{text}");
    }
}

#[test]
fn addresses_and_options_are_not_cut() {
    let text = "See https://x.org/a-b/c-d. Or www.x.org/e, me@x.org, a/b/c, file f-g.md, --h-i, -j, $K_L, #m-n. And/or o=p q-r: \
                Node.js, e.g. s.";
    for format in [DraftFormat::Markdown, DraftFormat::Plain, DraftFormat::Rst] {
        assert_eq!(prose(text, format), "see or file and or q r node js e g s", "{format}");
    }
}

#[test]
fn marks_with_other_keys_have_holes() {
    let latex = "\\cite{a,?} \\cite{?, ?} \\cite{TODO: find} \\cite{??} \\cite{} \\citep[p.~2]{TODO-b} \\cite{todo1}";
    assert_eq!(holes(latex, DraftFormat::Latex), ["?", "?", "?", "TODO: find", "??", "", "TODO-b"]);
    assert_eq!(targets(latex, DraftFormat::Latex), ["a", "todo1"]);
    let markdown = "[@a; @?] [see @?, p. 3] [-@?] [?] [@b] [see @c, p. 2] [mail me@x.org] [[?]]";
    assert_eq!(holes(markdown, DraftFormat::Markdown), ["?", "?", "?", "[?]", "[[?]]"]);
    assert_eq!(targets(markdown, DraftFormat::Markdown), ["a", "b", "c"]);
    let rest = ":cite:`?` :cite:p:`a, ?` [?]_ :doc:`?`";
    assert_eq!(holes(rest, DraftFormat::Rst), ["?", "?", "[?]_", ":doc:`?`"]);
    assert_eq!(targets(rest, DraftFormat::Rst), ["a"]);
}

#[test]
fn boxes_of_items_are_no_marks() {
    for text in ["- [?] a", "> - [?] a", "1. [?] a", "a\n> > 12) [?] b", "  * [?] c"] {
        assert_eq!(holes(text, DraftFormat::Markdown), [""; 0], "{text}");
    }
    assert_eq!(holes("Version 1. [?]", DraftFormat::Markdown), ["[?]"]);
}

#[test]
fn latex_that_is_not_set_is_not_read() {
    let text =
        "\\begin{document}a \\iffalse b \\ifx c \\else d \\fi e \\fi f \\iffalse g \\else h \\fi i\\end{document} j";
    assert_eq!(prose(text, DraftFormat::Latex), "a f h i");
}

#[test]
fn emphasis_tables_and_references_of_rest_are_no_places() {
    let text = "A *b c* **d e** f_ g `h i`_ j.\n\n+---+\n| k |\n+---+\n\n====  ====\nl     m\n====  ====\nn     :doc:`o </p>`\n\n\
                q     r\n====  ====\n\ns **é** t* u";
    assert_eq!(prose(text, DraftFormat::Rst), "a g j s t u");
    assert_eq!(targets(text, DraftFormat::Rst), ["f", "h i", "/p"]);
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
