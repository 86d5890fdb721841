//! The format of the paper's authors: one document a line, `ID word word =-=ID1,ID2-=- word …`.
//!
//! A mark stands for a link; ids joined by commas are several targets at one place. Marks may touch each other or
//! the words around them. There are no titles, dates or labels.

use super::Parsed;
use super::source::LineBatch;
use crate::document::losses::Loss;
use crate::document::{Document, Link, markup};

const OPEN: &str = "=-=";
const CLOSE: &str = "-=-";

/// Reads a batch of lines.
pub fn parse(batch: &LineBatch) -> Parsed {
    Parsed::of_lines(batch, |line, place, out| {
        if !line.trim().is_empty() {
            parse_line(line, place, out);
        }
    })
}

/// Reads a batch of lines that are texts, without ids and links: each is called after its file and line.
pub fn texts(batch: &LineBatch) -> Parsed {
    Parsed::of_lines(batch, |line, place, out| {
        let (id, text) = (place.clone(), line.to_owned());
        out.batch.documents.push(Document { id, text, origin: place, ..Document::default() });
    })
}

fn parse_line(line: &str, place: String, out: &mut Parsed) {
    let line = line.trim_start();
    let (id, mut rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if id.starts_with('{') {
        return out.bad(place, "expected an id and words, found JSON: the format is jsonl".to_owned());
    }
    if id.contains(OPEN) {
        return out.bad(place, "the line begins with a link: the document's id must come first".to_owned());
    }
    let comma = id.contains(',').then_some("contains `,`");
    if let Some(wrong) = markup::unlinkable(id).or(comma) {
        return out.bad(place, format!("the id {id:?} {wrong}, so no link could name it; choose another"));
    }
    let mut document = Document { id: id.to_owned(), ..Document::default() };
    let mut ends = Ends::default();
    while let Some(open) = rest.find(OPEN) {
        let inside = &rest[open + OPEN.len()..];
        let targets = ends.of_mark(line, inside).and_then(|end| {
            let targets: Vec<String> = markup::distinct(inside[..end].split(','))?;
            (!targets.is_empty()).then_some((end, targets))
        });
        let Some((end, targets)) = targets else {
            out.batch.losses.add(Loss::BrokenMark, format!("{id} ({place})"));
            document.text.push_str(&rest[..open + OPEN.len()]);
            rest = inside;
            continue;
        };
        document.text.push_str(&rest[..open]);
        let at = document.text.len();
        document.links.push(Link { at, anchor: at, targets });
        rest = &inside[end + CLOSE.len()..];
    }
    document.text.push_str(rest);
    document.origin = place;
    out.batch.documents.push(document);
}

/// Where the next close, open and white space stand in a line, remembered so that none is looked for twice.
#[derive(Default)]
struct Ends {
    close: Option<usize>,
    open: Option<usize>,
    space: Option<usize>,
}

impl Ends {
    /// Where the mark that begins with `inside`, the end of `line`, is closed. A mark is one word, and the next mark
    /// does not begin in it.
    fn of_mark(&mut self, line: &str, inside: &str) -> Option<usize> {
        let start = line.len() - inside.len();
        let next = |known: &mut Option<usize>, find: fn(&str) -> Option<usize>| {
            if known.is_none_or(|place| place < start) {
                *known = Some(find(inside).map_or(usize::MAX, |place| start + place));
            }
            known.unwrap_or(usize::MAX)
        };
        let close = next(&mut self.close, |rest| rest.find(CLOSE));
        let open = next(&mut self.open, |rest| rest.find(OPEN));
        let space = next(&mut self.space, |rest| rest.find(char::is_whitespace));
        (close < open.min(space)).then(|| close - start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;

    fn read(text: &str) -> Parsed {
        parse(&LineBatch::new("in", text))
    }

    fn shown(text: &str) -> Vec<String> {
        read(text).batch.documents.iter().map(|d| format!("{}: {}", d.id, markup::render(&d.text, &d.links))).collect()
    }

    #[test]
    fn marks_become_links() {
        assert_eq!(shown("A we use =-=B-=- here\nB\n\nC x"), ["A: we use [[B]] here", "B: ", "C: x"]);
        assert_eq!(shown("A =-=B,C-=- =-=D-=-=-=E-=- end=-=F-=-"), ["A: [[B|C]] [[D]][[E]] end[[F]]"]);
    }

    #[test]
    fn broken_marks_are_text_and_counted() {
        assert_eq!(shown("A x =-=B y -=- z =-=-=- =-=C-=-"), ["A: x =-=B y -=- z =-=-=- [[C]]"]);
        assert_eq!(read("A x =-=B y -=- z =-=-=- =-=C-=-").batch.losses.count(Loss::BrokenMark), 2);
    }

    #[test]
    fn an_id_that_jsonl_could_not_link_to_is_none_here_either() {
        assert_eq!(read("A x\nB|C y").batch.first_bad.map(|(place, _)| place).as_deref(), Some("in:2"));
        assert_eq!(read("A x\nB,C y").batch.first_bad.map(|(place, _)| place).as_deref(), Some("in:2"));
        let parsed = read("A x =-=B,C|D-=- =-=B,B-=-");
        assert_eq!(parsed.batch.losses.count(Loss::BrokenMark), 1);
        assert_eq!(
            parsed.batch.documents[0].links.iter().map(|link| link.targets.join(",")).collect::<Vec<_>>(),
            ["B"]
        );
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_id() {
        assert_eq!(shown("\u{feff}A x"), ["A: x"]);
    }

    #[test]
    fn of_two_marks_where_one_should_be_the_second_counts() {
        assert_eq!(shown("A x =-=B=-=C-=- y"), ["A: x =-=B[[C]] y"]);
    }

    #[test]
    fn marks_that_are_never_closed_take_time_in_proportion() {
        for (piece, end) in [("=-=", ""), ("=-= ", ""), ("=-=", " -=-"), ("=-=|", "-=-"), ("=-=a,a", "-=-")] {
            assert_linear(piece, 100_000, |pieces| drop(read(&format!("A {}{end}", piece.repeat(pieces)))));
        }
    }

    #[test]
    fn a_line_without_an_id_is_bad() {
        assert_eq!(read("A x\n=-=B-=- y").batch.first_bad.map(|(place, _)| place).as_deref(), Some("in:2"));
    }
}
