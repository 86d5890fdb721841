//! Links written inside text, as our jsonl format has them, and back.
//!
//! | written | means |
//! |---|---|
//! | `[[id]]` | a link |
//! | `[[id\|id]]` | one place, several targets |
//! | `[its words][[id]]` | a link with words of its own (an anchor); the brackets touch |
//! | `[][[id]]` | a link without words, where a `]` or `\` stands before it |
//! | `\[[` | the characters `[[` |
//!
//! In a run of three or more `[` the last two open the mark, so `[[[id]]]` is a link in brackets, and `\[[[id]]`
//! a link after `\[`.
//! A mark that does not close before the end of its line, or is empty, is text, and is counted.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::document::Link;

/// Longest anchor in bytes, brackets included: what stands further before a link is not its words.
const LONGEST_ANCHOR: usize = 2000;

/// Text without marks, its links, and how many marks were broken.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Marked {
    /// The text, marks taken out.
    pub text: String,
    /// The links, in order.
    pub links: Vec<Link>,
    /// Marks read as text because they do not close or name nothing.
    pub broken: usize,
}

/// Takes the marks out of `marked`.
pub fn parse(marked: &str) -> Marked {
    let bytes = marked.as_bytes();
    let mut out = Marked { text: String::with_capacity(marked.len()), ..Marked::default() };
    // Offsets in out.text of brackets that are open, and of the pair that closed last.
    let mut open: Vec<usize> = Vec::new();
    let mut closed: Option<(usize, usize)> = None;
    // Where the last mark stands that is broken.
    let mut broken = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some(step) = memchr::memchr3(b'[', b']', b'\\', &bytes[at..]) {
        at += step;
        let rest = &bytes[at..];
        if rest[0] == b'\\' {
            at += 1;
            // Of three brackets the last two are a mark, if they are one.
            let mark =
                rest[1..].starts_with(b"[[[") && rest.get(4) != Some(&b'[') && targets(&marked[at + 3..]).is_some();
            if rest[1..].starts_with(b"[[") && !mark {
                out.text.push_str(&marked[copied..at - 1]);
                open.extend([out.text.len(), out.text.len() + 1]);
                out.text.push_str("[[");
                at += 2;
                copied = at;
            }
            continue;
        }
        if rest[0] == b']' {
            at += 1;
            out.text.push_str(&marked[copied..at]);
            copied = at;
            closed = open.pop().map(|start| (start, out.text.len()));
            continue;
        }
        let opens_mark = rest.starts_with(b"[[") && rest.get(2) != Some(&b'[');
        if opens_mark {
            out.text.push_str(&marked[copied..at]);
            if let Some((targets, length)) = targets(&marked[at + 2..]) {
                let anchor =
                    closed.take().filter(|&(start, end)| end == out.text.len() && end - start <= LONGEST_ANCHOR);
                // `[[words][[id]]`: a bracket before the words of a link.
                out.broken -=
                    usize::from(broken.take().is_some_and(|at| anchor.is_some_and(|(start, _)| start == at + 1)));
                place_link(&mut out, anchor.map(|(start, _)| start), targets);
                // No link stands inside another one's words.
                open.clear();
                at += 2 + length;
                copied = at;
                continue;
            }
            out.broken += 1;
            broken = Some(out.text.len());
            open.extend([out.text.len(), out.text.len() + 1]);
            out.text.push_str("[[");
            at += 2;
            copied = at;
            continue;
        }
        out.text.push_str(&marked[copied..at]);
        open.push(out.text.len());
        out.text.push('[');
        at += 1;
        copied = at;
    }
    out.text.push_str(&marked[copied..]);
    out
}

/// The ids up to `]]` on this line, and the length of what was read, `]]` included.
fn targets(rest: &str) -> Option<(Vec<String>, usize)> {
    let bytes = rest.as_bytes();
    let mut at = 0;
    let end = loop {
        at += memchr::memchr3(b'\n', b'[', b']', &bytes[at..])?;
        match bytes[at] {
            b'\n' => return None,
            b'[' if bytes.get(at + 1) == Some(&b'[') => return None,
            b']' if bytes.get(at + 1) == Some(&b']') => break at,
            _ => at += 1,
        }
    };
    let targets = distinct(rest[..end].split('|').map(str::trim))?;
    (!targets.is_empty()).then_some((targets, end + 2))
}

/// The ids that are not empty, each once, in order; `None` if one could be no document's.
pub fn distinct<'a>(ids: impl Iterator<Item = &'a str>) -> Option<Vec<String>> {
    let (mut list, mut seen) = (Vec::new(), HashSet::new());
    for id in ids.filter(|id| !id.is_empty()) {
        if unlinkable(id).is_some() {
            return None;
        }
        if seen.insert(id) {
            list.push(id.to_owned());
        }
    }
    Some(list)
}

/// Adds a link at the end of the text; the brackets of its anchor, if any, are taken out.
fn place_link(out: &mut Marked, anchor: Option<usize>, targets: Vec<String>) {
    if let Some(start) = anchor {
        out.text.pop();
        out.text.remove(start);
    }
    let at = out.text.len();
    out.links.push(Link { at, anchor: anchor.unwrap_or(at), targets });
}

/// Why a link mark could not name this id.
pub fn unlinkable(id: &str) -> Option<&'static str> {
    if id.contains('|') {
        Some("contains `|`")
    } else if id.starts_with('[') || id.ends_with(']') || id.contains("]]") || id.contains("[[") {
        Some("has brackets that a link mark cannot hold")
    } else if id.contains(['\n', '\r']) {
        Some("contains a line break")
    } else {
        None
    }
}

/// Writes the links into the text, so that [`parse`] gives both back.
///
/// Some things cannot be written and are given up, link by link: an anchor that holds another link, one whose own
/// brackets do not pair and one that is very long (the words stay, as text). What is odd beyond that is written without
/// any anchor, or with a space between `\[` and a link.
pub fn render<'a>(text: &'a str, links: &[Link]) -> Cow<'a, str> {
    let special = memchr::memchr2(b'[', b'\\', text.as_bytes()).is_some() || text.contains(']');
    if links.is_empty() && !special {
        return Cow::Borrowed(text);
    }
    for (anchors, spaces) in [(true, false), (false, false), (false, true)] {
        let marked = render_as(text, links, anchors, spaces);
        if !special || spaces {
            return Cow::Owned(marked);
        }
        let back = parse(&marked);
        let same = |(a, b): (&Link, &Link)| a.at == b.at && a.targets == b.targets;
        if back.text == text && back.links.len() == links.len() && back.links.iter().zip(links).all(same) {
            return Cow::Owned(marked);
        }
    }
    unreachable!("the last way of writing is taken without a check")
}

fn render_as(text: &str, links: &[Link], anchors: bool, spaces: bool) -> String {
    let mut out = String::with_capacity(text.len() + links.len() * 24);
    let mut piece = String::new();
    let mut done = 0;
    for link in links {
        let anchored = anchors && done <= link.anchor && is_anchor(&text[link.anchor..link.at]);
        piece.clear();
        if anchored {
            // The bracket of the anchor is escaped together with those that stand around it.
            piece.extend([&text[done..link.anchor], "[", &text[link.anchor..link.at], "]"]);
        } else {
            piece.push_str(&text[done..link.at]);
        }
        done = link.at;
        push_escaped(&mut out, &piece);
        if !anchored && spaces && out.ends_with("\\[") {
            out.push(' ');
        } else if !anchored && piece.ends_with([']', '\\']) {
            out.push_str("[]");
        }
        out.push_str("[[");
        out.push_str(&link.targets.join("|"));
        out.push_str("]]");
    }
    push_escaped(&mut out, &text[done..]);
    out
}

/// Whether words can stand between the brackets of an anchor.
fn is_anchor(words: &str) -> bool {
    let mut open = 0usize;
    let pairs = words.bytes().all(|byte| {
        match byte {
            b'[' => open += 1,
            b']' if open == 0 => return false,
            b']' => open -= 1,
            _ => {}
        }
        true
    });
    !words.is_empty() && words.len() + "[]".len() <= LONGEST_ANCHOR && pairs && open == 0
}

/// Appends text; each pair of opening brackets is escaped, so that none of them can be taken for a mark's, and a `\`
/// before them is never taken for an escape.
fn push_escaped(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest.as_bytes(), b"[[") {
        let run = rest[at..].bytes().take_while(|&b| b == b'[').count();
        out.push_str(&rest[..at + run % 2]);
        out.push_str(&"\\[[".repeat(run / 2));
        rest = &rest[at + run..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;
    use proptest::prelude::*;

    /// Text with links shown as ⟨anchor|targets⟩ where they stand.
    fn shown(marked: &str) -> String {
        let parsed = parse(marked);
        let mut out = String::new();
        let mut done = 0;
        for link in &parsed.links {
            out.push_str(&parsed.text[done..link.at]);
            out.push_str(&format!("⟨{}|{}⟩", &parsed.text[link.anchor..link.at], link.targets.join(",")));
            done = link.at;
        }
        out + &parsed.text[done..]
    }

    #[test]
    fn marks_become_links_at_their_places() {
        assert_eq!(shown("a [[x]] b"), "a ⟨|x⟩ b");
        assert_eq!(shown("[[x]][[y]]"), "⟨|x⟩⟨|y⟩");
        assert_eq!(shown("[[x|y| y |x]] end"), "⟨|x,y⟩ end");
        assert_eq!(shown("see [the words][[x]]."), "see the words⟨the words|x⟩.");
        assert_eq!(shown("é [ü][[ß]]"), "é ü⟨ü|ß⟩");
        assert_eq!(shown("[a] [[x]]"), "[a] ⟨|x⟩");
        assert_eq!(shown("v[i][][[x]]"), "v[i]⟨|x⟩");
        assert_eq!(shown("in [[[x]]] and [[[x]], [[y]]]"), "in [⟨|x⟩] and [⟨|x⟩, ⟨|y⟩]");
        assert_eq!(shown("[a [b] c][[x]]"), "a [b] c⟨a [b] c|x⟩");
        assert_eq!(shown("[a [b][[x]] c][[y]]"), "[a b⟨b|x⟩ c]⟨|y⟩");
    }

    #[test]
    fn a_backslash_before_brackets_is_kept() {
        for run in 1..9 {
            let text = format!(r"a \{} b", "[".repeat(run));
            assert_eq!(parse(&render(&text, &[])).text, text);
        }
    }

    #[test]
    fn an_anchor_may_begin_with_brackets() {
        for words in ["[a] b", "[[a] b]", "[ a [b]] c"] {
            for before in ["", "[", "\\", "[["] {
                let (anchor, at) = (before.len(), before.len() + words.len());
                let links = [Link { at, anchor, targets: vec!["x".to_owned()] }];
                let text = format!("{before}{words}");
                let back = parse(&render(&text, &links));
                assert_eq!((back.text.as_str(), back.links.as_slice()), (text.as_str(), &links[..]));
            }
        }
    }

    #[test]
    fn an_anchor_whose_brackets_do_not_pair_is_given_up_alone() {
        let text = "the bee, [0, a]b and [c]";
        let link = |anchor, at| Link { at, anchor, targets: vec!["x".to_owned()] };
        let links = [link(0, 7), link(9, 11), link(13, 16), link(21, 24)];
        assert_eq!(render(text, &links), "[the bee][[x]], [0[[x]], a]b[[x]] and \\[[c]][[x]]");
        let back = parse(&render(text, &links));
        assert_eq!((back.text.as_str(), back.broken), (text, 0));
        assert_eq!(back.links, [link(0, 7), link(11, 11), link(16, 16), link(21, 24)]);
    }

    #[test]
    fn words_too_many_for_an_anchor_stay_text() {
        for length in [LONGEST_ANCHOR - 2, LONGEST_ANCHOR - 1, LONGEST_ANCHOR + 9] {
            let text = "w".repeat(length);
            let links = [Link { at: length, anchor: 0, targets: vec!["x".to_owned()] }];
            let back = parse(&render(&text, &links));
            assert_eq!(back.text, text);
            assert_eq!(back.links[0].anchor == 0, length + 2 <= LONGEST_ANCHOR, "{length}");
        }
    }

    #[test]
    fn a_mark_around_what_can_be_no_id_is_text_and_counted() {
        assert_eq!(shown("a [[ [x]] b [[x] ]] c [[x|[y]]"), "a [[ [x]] b [[x] ]] c [[x|[y]]");
        assert_eq!(parse("a [[ [x]] b [[x] ]] c [[x|[y]]").broken, 3);
        assert_eq!(shown("a [[b][[x]]"), "a [b⟨b|x⟩");
        assert_eq!(parse("a [[b][[x]]").broken, 0);
        assert_eq!(parse("a [[b [[c][[x]] [[d").broken, 2);
    }

    #[test]
    fn what_is_no_mark_stays_text() {
        assert_eq!(shown(r"a \[[ b ]] c"), "a [[ b ]] c");
        assert_eq!(shown("a [[ b"), "a [[ b");
        assert_eq!(shown(r"by \[[[x]], \[[[[y]] \[[[ z"), r"by \[⟨|x⟩, [[⟨|y⟩ [[[ z");
        assert_eq!(parse("a [[ b\n]] c [[]] d [[x]]").broken, 2);
        assert_eq!(shown("a [[ b\n]]"), "a [[ b\n]]");
        assert_eq!(shown(r"\alpha [1] \[ \]"), r"\alpha [1] \[ \]");
        assert_eq!(shown("]]] [[x]]"), "]]] ⟨|x⟩");
    }

    #[test]
    fn brackets_and_targets_in_great_number_take_time_in_proportion() {
        assert_linear("nested anchors", 300_000, |pieces| {
            assert_eq!(parse(&("[".repeat(pieces) + &"][[x]]".repeat(pieces))).links.len(), pieces);
        });
        assert_linear("[[", 300_000, |pieces| assert_eq!(parse(&"[[".repeat(pieces)).links.len(), 0));
        assert_linear("[[a ", 300_000, |pieces| assert_eq!(parse(&"[[a ".repeat(pieces)).broken, pieces));
        assert_linear("targets of one link", 200_000, |pieces| {
            let many: Vec<String> = (0..pieces).map(|id| id.to_string()).collect();
            assert_eq!(parse(&format!("[[{}]]", many.join("|"))).links[0].targets, many);
        });
    }

    /// A text of troublesome characters, and links at places of it.
    fn text_and_links() -> impl Strategy<Value = (String, Vec<Link>)> {
        let id = "[a-c?ü/]{1,3}";
        let piece = (r"[\[\]\\ab \nü]{0,6}", prop::option::of(r"[\[\]\\ab ü]{1,5}"), prop::collection::vec(id, 1..3));
        (prop::collection::vec(piece, 0..6), r"[\[\]\\ab]{0,4}").prop_map(|(pieces, tail)| {
            let mut text = String::new();
            let mut links = Vec::new();
            for (before, anchor, mut targets) in pieces {
                text.push_str(&before);
                let start = text.len();
                text.push_str(&anchor.unwrap_or_default());
                targets.dedup();
                links.push(Link { at: text.len(), anchor: start, targets });
            }
            (text + &tail, links)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn writing_and_reading_gives_the_same_text_and_links((text, links) in text_and_links()) {
            let marked = render(&text, &links);
            let back = parse(&marked);
            let squeeze = |s: &str| s.replace(" ", "");
            prop_assert_eq!(squeeze(&back.text), squeeze(&text), "{}", marked);
            let targets = |links: &[Link]| links.iter().map(|l| l.targets.clone()).collect::<Vec<_>>();
            prop_assert_eq!(targets(&back.links), targets(&links), "{}", marked);
            // Each anchor whose brackets pair comes back with its words.
            for (ours, theirs) in back.links.iter().zip(&links) {
                let words = &text[theirs.anchor..theirs.at];
                let mut depth = 0;
                let inside = |c| {
                    depth += i32::from(c == '[') - i32::from(c == ']');
                    depth >= 0
                };
                let paired = words.chars().all(inside) && depth == 0;
                prop_assert_eq!(&back.text[ours.anchor..ours.at], if paired { words } else { "" }, "{}", marked);
            }
            // What was read once is written and read again without any loss.
            let again = parse(&render(&back.text, &back.links));
            prop_assert_eq!(again.text, back.text);
            prop_assert_eq!(again.links, back.links);
        }

        #[test]
        fn no_text_is_too_odd_to_read(text in r"[\[\]\\|a\n ]{0,40}") {
            let parsed = parse(&text);
            for link in &parsed.links {
                prop_assert!(link.anchor <= link.at && link.at <= parsed.text.len());
            }
        }
    }
}
