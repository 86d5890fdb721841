//! Text whose marks are given as spans: they are taken out, with the brackets and commas around them.
//!
//! Spans with nothing but a comma, a semicolon or a hyphen between are one mark. Where a span holds the authors' names
//! before a bracket, `Smith (2001)`, the names stay.

use std::ops::Range;

use super::Mark;
use crate::document::losses::{Loss, Losses};
use crate::import::text::distinct;

/// Something in a text that is no text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::import) struct Span {
    pub(in crate::import) range: Range<usize>,
    pub(in crate::import) kind: SpanKind,
}

/// The kind of a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::import) enum SpanKind {
    /// A mark: the key of the entry that it names, if that is known.
    Mark(Option<String>),
    /// A formula or the like, which is left out.
    Nothing,
}

/// A text as it grows, a paragraph a line.
#[derive(Debug, Default)]
pub(in crate::import) struct SpannedText {
    pub(in crate::import) text: String,
    pub(in crate::import) marks: Vec<Mark>,
    /// Spans that lie beyond their text or over another.
    pub(in crate::import) broken: usize,
}

/// Characters that are counted to bytes: ranges of a text as other languages give them.
pub(in crate::import) struct Characters<'a> {
    text: &'a str,
    /// Where each character begins; empty if all are one byte.
    starts: Vec<usize>,
}

impl<'a> Characters<'a> {
    pub(in crate::import) fn new(text: &'a str) -> Characters<'a> {
        let starts = if text.is_ascii() { Vec::new() } else { text.char_indices().map(|(at, _)| at).collect() };
        Characters { text, starts }
    }

    /// The bytes of a range of characters, if the text has them.
    pub(in crate::import) fn bytes(&self, start: usize, end: usize) -> Option<Range<usize>> {
        let at = |place: usize| match self.starts.as_slice() {
            [] => Some(place).filter(|&place| place <= self.text.len()),
            starts if place == starts.len() => Some(self.text.len()),
            starts => starts.get(place).copied(),
        };
        Some(at(start)?..at(end)?).filter(|range| range.start <= range.end)
    }
}

impl SpannedText {
    /// Counts the broken spans of the document that is called so.
    pub(in crate::import) fn count_broken(&self, id: &str, place: &str, losses: &mut Losses) {
        for _ in 0..self.broken {
            losses.add(Loss::BrokenMark, format!("{id} ({place})"));
        }
    }

    /// Adds a paragraph, its spans taken out.
    pub(in crate::import) fn paragraph(&mut self, text: &str, mut spans: Vec<Span>) {
        spans.sort_by_key(|span| (span.range.start, span.range.end));
        if !self.text.is_empty() && !text.trim().is_empty() {
            self.text.push('\n');
        }
        let mut from = 0;
        let mut spans = spans.into_iter().peekable();
        while let Some(Span { mut range, kind }) = spans.next() {
            if range.start < from || text.get(range.clone()).is_none() {
                self.broken += 1;
                continue;
            }
            let SpanKind::Mark(key) = kind else {
                self.push(&text[from..range.start]);
                from = range.end;
                self.close(&text[from..]);
                continue;
            };
            let mut keys: Vec<String> = key.into_iter().collect();
            while let Some(Span { range: next, kind: SpanKind::Mark(key) }) = spans.peek() {
                let Some(gap) = text.get(range.end..next.start) else { break };
                if !matches!(gap.trim(), "" | "," | ";" | "-" | "–" | ";," | "],[" | "], [" | "][")
                    || text.get(next.clone()).is_none()
                {
                    break;
                }
                keys.extend(key.clone());
                range.end = next.end.max(range.end);
                spans.next();
            }
            let words = &text[range.clone()];
            let range = with_brackets(text, without_names(text, range), from);
            self.push(&text[from..range.start]);
            from = range.end;
            self.close(&text[from..]);
            self.marks.push(Mark::new(self.text.len(), distinct(keys), words));
        }
        self.push(&text[from..]);
        self.text.truncate(self.text.trim_end().len());
        for mark in self.marks.iter_mut().rev().take_while(|mark| mark.at > self.text.len()) {
            mark.at = self.text.len();
        }
    }

    /// Takes the last blank away if another one, or punctuation, follows.
    fn close(&mut self, rest: &str) {
        if rest.chars().next().is_none_or(|c| c.is_whitespace() || matches!(c, '.' | ',' | ';' | ':' | ')' | '?' | '!'))
        {
            self.text.truncate(self.text.trim_end_matches(' ').len());
        }
    }

    /// Adds words; white space is one blank.
    fn push(&mut self, words: &str) {
        let mut blank = words.starts_with(char::is_whitespace);
        for word in words.split_whitespace() {
            if blank && !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
                self.text.push(' ');
            }
            self.text.push_str(word);
            blank = true;
        }
        let open = words.ends_with(char::is_whitespace) && !self.text.is_empty() && !self.text.ends_with([' ', '\n']);
        if open {
            self.text.push(' ');
        }
    }
}

/// The bracket of `Smith and Doe (2001)`; other marks as they are.
fn without_names(text: &str, range: Range<usize>) -> Range<usize> {
    let mark = &text[range.clone()];
    let open = mark.find(['(', '[']).filter(|&open| open > 1 && mark.starts_with(char::is_alphabetic));
    let year = |open: usize| mark[open + 1..].trim_start().starts_with(|c: char| c.is_ascii_digit());
    match open.filter(|&open| year(open)) {
        Some(open) => range.start + open..range.end,
        None => range,
    }
}

/// A mark with the brackets that stand around it, one of which it may hold itself.
fn with_brackets(text: &str, range: Range<usize>, from: usize) -> Range<usize> {
    let mark = &text[range.clone()];
    let before = text[from..range.start].trim_end_matches(' ');
    let after = text[range.end..].trim_start_matches(' ');
    let end_after = text.len() - after.len() + 1;
    for (open, close) in [('(', ')'), ('[', ']')] {
        let (opens, closes) = (mark.matches(open).count(), mark.matches(close).count());
        let opened = before.ends_with(open);
        let closed = after.starts_with(close);
        if opens > closes && closed {
            return range.start..end_after;
        }
        if closes > opens && opened {
            return from + before.len() - 1..range.end;
        }
        if opens == closes && opened && closed {
            return from + before.len() - 1..end_after;
        }
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;

    /// Marks are written `‹key:…›` in the test; the result has `<key>` where they stood.
    fn taken_out(marked: &str) -> String {
        let (mut text, mut spans) = (String::new(), Vec::new());
        for (index, piece) in marked.split(['‹', '›']).enumerate() {
            if index % 2 == 0 {
                text.push_str(piece);
            } else {
                let (key, words) = piece.split_once(':').expect("a key");
                let kind = if key == "-" {
                    SpanKind::Nothing
                } else {
                    SpanKind::Mark(Some(key.to_owned()).filter(|key| key != "?"))
                };
                spans.push(Span { range: text.len()..text.len() + words.len(), kind });
                text.push_str(words);
            }
        }
        let mut written = SpannedText::default();
        written.paragraph(&text, spans);
        let mut out = written.text.clone();
        written.marks.iter().rev().for_each(|mark| out.insert_str(mark.at, &format!("<{}>", mark.keys.join(" "))));
        out
    }

    #[test]
    fn marks_go_with_their_brackets_and_commas() {
        assert_eq!(taken_out("Dogs are happier ‹a:[13›, ‹b:15]›. See"), "Dogs are happier<a b>. See");
        assert_eq!(taken_out("in Europe ‹a:(Doe, 1979;› ‹b:1980;› ‹?:Poe, 1983› ). Next"), "in Europe<a b>. Next");
        assert_eq!(taken_out("as ‹a:Doe et al. (2001)› say"), "as Doe et al.<a> say");
        assert_eq!(taken_out("known (‹a:Doe, 2001›) here [‹b:x›, ‹a:y›]."), "known<a> here<b a>.");
        assert_eq!(taken_out("‹a:[1]›"), "<a>");
        assert_eq!(taken_out("let ‹-:x = 1› be ‹?:[7]› so"), "let be<> so");
    }

    #[test]
    fn spans_beyond_the_text_or_over_another_are_counted() {
        let mut written = SpannedText::default();
        let mark = |range| Span { range, kind: SpanKind::Mark(Some("a".to_owned())) };
        written.paragraph("äöü words", vec![mark(0..1), mark(50..60), mark(7..9), mark(8..9)]);
        assert_eq!((written.text.as_str(), written.marks.len(), written.broken), ("äöü rds", 1, 3));
    }

    #[test]
    fn spans_in_great_number_take_time_in_proportion() {
        for piece in ["word [1]", "wört [1]", "[1],", "[1] ([1]"] {
            assert_linear(piece, 100_000, |pieces| {
                let text = piece.repeat(pieces);
                let characters = Characters::new(&text);
                let length = piece.chars().count();
                let mark = |number: usize| {
                    let range = characters.bytes(number * length, (number + 1) * length - 1).expect("in the text");
                    Span { range, kind: SpanKind::Mark(Some(number.to_string())) }
                };
                SpannedText::default().paragraph(&text, (0..pieces).map(mark).collect());
            });
        }
    }

    #[test]
    fn characters_are_counted_as_other_languages_count_them() {
        let text = "aé𝒳z";
        let characters = Characters::new(text);
        assert_eq!(characters.bytes(1, 3).map(|range| &text[range]), Some("é𝒳"));
        assert_eq!(characters.bytes(4, 4), Some(8..8));
        assert_eq!((characters.bytes(0, 5), characters.bytes(3, 2)), (None, None));
        assert_eq!(Characters::new("abc").bytes(1, 4), None);
    }
}
