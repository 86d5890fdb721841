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
    while let Some(open) = rest.find(OPEN) {
        let inside = &rest[open + OPEN.len()..];
        // A mark is one word: it does not reach over a space.
        let close = inside.find(CLOSE).filter(|&end| !inside[..end].contains(char::is_whitespace));
        let targets: Vec<String> = match close {
            Some(end) => markup::distinct(inside[..end].split(',')).unwrap_or_default(),
            None => Vec::new(),
        };
        let Some(end) = close.filter(|_| !targets.is_empty()) else {
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_line_without_an_id_is_bad() {
        assert_eq!(read("A x\n=-=B-=- y").batch.first_bad.map(|(place, _)| place).as_deref(), Some("in:2"));
    }
}
