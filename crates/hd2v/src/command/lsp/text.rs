//! A text that an editor has open, changed piece by piece, with the suggestions that are known for it.
//!
//! A plain `String`, not ropey: texts are short, the parsers want one slice, and suggestions move with the changes.

use std::ops::Range;

use hyperdoc2vec::recommend::DraftFormat;
use lsp_types::{Position, PositionEncodingKind, Range as Span, TextDocumentContentChangeEvent};

/// When a text is opened, missing links are looked for in so many of its first bytes.
pub const LOOKED_AT: usize = 64 << 10;
/// A text up to this length is read whole; of a longer one, so many bytes on each side of a place are.
const WHOLE: usize = 256 << 10;
const AROUND: usize = 32 << 10;
/// A paragraph ends at the latest so many bytes from the place that is asked for.
const LONGEST_PARAGRAPH: usize = 8 << 10;

/// How columns are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    Utf8,
    #[default]
    Utf16,
    Utf32,
}

impl Encoding {
    /// The first that a client names and that is known; UTF-16, as the protocol has it, where it names none.
    pub fn chosen(offered: Option<&[PositionEncodingKind]>) -> Encoding {
        let known = |kind: &PositionEncodingKind| match kind.as_str() {
            "utf-8" => Some(Encoding::Utf8),
            "utf-16" => Some(Encoding::Utf16),
            "utf-32" => Some(Encoding::Utf32),
            _ => None,
        };
        offered.unwrap_or_default().iter().find_map(known).unwrap_or_default()
    }

    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn units(self, c: char) -> usize {
        match self {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }
}

/// A link that is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Missing {
    /// The bytes of its words.
    pub span: Range<usize>,
    pub words: String,
    pub id: String,
    pub title: String,
    pub probability: f32,
    pub why: String,
    /// Changes that put the link in: bytes, and what replaces them.
    pub edits: Vec<(Range<usize>, String)>,
}

impl Missing {
    /// The title of its document, or its id.
    pub fn name(&self) -> &str {
        if self.title.is_empty() { &self.id } else { &self.title }
    }
}

/// An open text.
pub struct OpenText {
    pub path: String,
    pub format: DraftFormat,
    pub version: i32,
    encoding: Encoding,
    text: String,
    /// Where lines begin.
    lines: Vec<usize>,
    /// Changes that have not been looked at yet: bytes, in order, apart.
    stale: Vec<Range<usize>>,
    /// Missing links, in order.
    pub found: Vec<Missing>,
}

impl OpenText {
    pub fn new(uri: &str, language: &str, text: String, encoding: Encoding) -> OpenText {
        let path = path_of(uri);
        let format = match language {
            "latex" | "tex" | "plaintex" => Some(DraftFormat::Latex),
            "markdown" | "quarto" | "rmd" | "pandoc" | "mdx" => Some(DraftFormat::Markdown),
            "restructuredtext" | "rst" => Some(DraftFormat::Rst),
            "html" | "xhtml" => Some(DraftFormat::Html),
            "mediawiki" | "wikitext" => Some(DraftFormat::Mediawiki),
            _ => None,
        };
        let format = format.or_else(|| DraftFormat::of_path(&path)).unwrap_or(DraftFormat::Plain);
        let mut open = OpenText {
            path,
            format,
            version: 0,
            encoding,
            text: String::new(),
            lines: Vec::new(),
            stale: Vec::new(),
            found: Vec::new(),
        };
        open.replace(text);
        open
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    fn replace(&mut self, text: String) {
        self.lines = line_starts(&text);
        self.text = text;
        self.look_again();
    }

    /// Forgets what was found: the beginning of the text is to be looked at again.
    pub fn look_again(&mut self) {
        self.found.clear();
        let end = self.paragraph(LOOKED_AT.min(self.text.len())..LOOKED_AT.min(self.text.len())).end;
        self.stale.clear();
        self.stale.push(0..end);
    }

    /// The byte of a position; the end of the line, or of the text, where it has none.
    pub fn byte(&self, position: Position) -> usize {
        let line = position.line as usize;
        let Some(&start) = self.lines.get(line) else { return self.text.len() };
        let end = self.lines.get(line + 1).copied().unwrap_or(self.text.len());
        let mut units = 0;
        for (at, c) in self.text[start..end].char_indices() {
            if units >= position.character as usize || c == '\n' || c == '\r' {
                return start + at;
            }
            units += self.encoding.units(c);
        }
        end
    }

    /// The position of a byte.
    pub fn position(&self, at: usize) -> Position {
        let at = at.min(self.text.len());
        let line = self.lines.partition_point(|&start| start <= at) - 1;
        let units = self.text[self.lines[line]..at].chars().map(|c| self.encoding.units(c)).sum::<usize>();
        Position::new(line as u32, units as u32)
    }

    pub fn range(&self, span: &Range<usize>) -> Span {
        Span::new(self.position(span.start), self.position(span.end))
    }

    pub fn bytes(&self, span: Span) -> Range<usize> {
        let (start, end) = (self.byte(span.start), self.byte(span.end));
        start.min(end)..end.max(start)
    }

    /// Takes a change as the editor sends it.
    pub fn change(&mut self, change: TextDocumentContentChangeEvent) {
        let Some(range) = change.range else { return self.replace(change.text) };
        let (old, new) = (self.bytes(range), change.text);
        self.text.replace_range(old.clone(), &new);
        let moved = |at: usize| at + new.len() - old.len();
        // Lines that began within what is gone, and those behind it.
        let first = self.lines.partition_point(|&start| start <= old.start);
        let behind = self.lines.partition_point(|&start| start <= old.end);
        let inserted = line_starts(&new).into_iter().skip(1).map(|start| old.start + start);
        self.lines[behind..].iter_mut().for_each(|start| *start = *start + new.len() - old.len());
        self.lines.splice(first..behind, inserted);
        // What was known of the paragraphs that changed is known no more.
        let changed = self.paragraph(old.start..old.start + new.len());
        let place = |span: &Range<usize>| match () {
            () if span.end <= old.start => Some(span.clone()),
            () if span.start >= old.end => Some(moved(span.start)..moved(span.end)),
            () => None,
        };
        self.found.retain_mut(|one| {
            let Some(span) = place(&one.span).filter(|span| span.end <= changed.start || span.start >= changed.end)
            else {
                return false;
            };
            let shift = |at: usize| at + span.start - one.span.start;
            one.edits.iter_mut().for_each(|(bytes, _)| *bytes = shift(bytes.start)..shift(bytes.end));
            one.span = span;
            true
        });
        let at = |at: usize| if at <= old.start { at } else { moved(at.max(old.end)) };
        let mut stale: Vec<Range<usize>> = self.stale.iter().map(|range| at(range.start)..at(range.end)).collect();
        stale.push(changed);
        stale.sort_by_key(|range| range.start);
        self.stale.clear();
        for range in stale {
            match self.stale.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => self.stale.push(range),
            }
        }
    }

    pub fn is_stale(&self) -> bool {
        !self.stale.is_empty()
    }

    /// Takes some of what is to be looked at: whole paragraphs of about so many bytes.
    pub fn take_stale(&mut self, bytes: usize) -> Option<Range<usize>> {
        let first = self.stale.first().cloned()?;
        let cut = self.boundary(first.start + bytes);
        let end = if cut < first.end { self.paragraph(cut..cut).end.min(first.end) } else { first.end };
        if end < first.end {
            self.stale[0].start = end;
        } else {
            self.stale.remove(0);
        }
        Some(first.start..end)
    }

    /// Whether something within these bytes is to be looked at; it is taken for looked at from now on.
    pub fn take_stale_within(&mut self, bytes: &Range<usize>) -> bool {
        let stale = std::mem::take(&mut self.stale);
        let mut any = false;
        for range in stale {
            if range.end <= bytes.start || range.start >= bytes.end {
                self.stale.push(range);
                continue;
            }
            any = true;
            let rest = [range.start..bytes.start, bytes.end..range.end];
            self.stale.extend(rest.into_iter().filter(|rest| rest.start < rest.end));
        }
        any
    }

    /// Whole paragraphs around some bytes: up to blank lines, not too far away.
    pub fn paragraph(&self, bytes: Range<usize>) -> Range<usize> {
        let blank = |line: usize| {
            let end = self.lines.get(line + 1).copied().unwrap_or(self.text.len());
            self.text[self.lines[line]..end].trim().is_empty()
        };
        let line = |at: usize| self.lines.partition_point(|&start| start <= at) - 1;
        let (least, most) = (bytes.start.saturating_sub(LONGEST_PARAGRAPH), bytes.end + LONGEST_PARAGRAPH);
        let (mut first, mut behind) = (line(bytes.start), line(bytes.end) + 1);
        while first > 0 && !blank(first - 1) && self.lines[first] > least {
            first -= 1;
        }
        while behind < self.lines.len() && !blank(behind) && self.lines[behind] < most {
            behind += 1;
        }
        let start = self.lines[first].max(least);
        let end = self.lines.get(behind).copied().unwrap_or(self.text.len()).min(most);
        self.boundary(start)..self.boundary(end)
    }

    /// The bytes that are read to answer a question about a place: all of a short text, whole lines around it otherwise.
    /// In Markdown, a part does not begin within a block of code.
    pub fn part(&self, place: &Range<usize>) -> Range<usize> {
        if self.text.len() <= WHOLE {
            return 0..self.text.len();
        }
        let start = self.boundary(place.start.saturating_sub(AROUND));
        let end = self.boundary((place.end + AROUND).min(self.text.len()));
        let line = self.lines.partition_point(|&begin| begin < start);
        let fence = |line: &usize| {
            let rest = self.text[self.lines[*line]..].trim_start_matches(' ');
            rest.starts_with("```") || rest.starts_with("~~~")
        };
        let mut start = self.lines.get(line).copied().filter(|&begin| begin <= place.start).unwrap_or(start);
        if self.format == DraftFormat::Markdown && (0..line).filter(fence).count() % 2 == 1 {
            let close = (line..self.lines.len()).find(fence).and_then(|line| self.lines.get(line + 1));
            start = close.copied().filter(|&begin| begin <= place.start).unwrap_or(start);
        }
        start..end
    }

    /// The nearest beginning of a character, at or before a byte.
    pub fn boundary(&self, at: usize) -> usize {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

/// Where lines begin.
fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// The path that an address of a file has.
fn path_of(uri: &str) -> String {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(start: (u32, u32), end: (u32, u32), text: &str) -> TextDocumentContentChangeEvent {
        let at = |(line, character)| Position::new(line, character);
        TextDocumentContentChangeEvent {
            range: Some(Span::new(at(start), at(end))),
            range_length: None,
            text: text.to_owned(),
        }
    }

    fn open(text: &str, encoding: Encoding) -> OpenText {
        OpenText::new("file:///a%20b.md", "markdown", text.to_owned(), encoding)
    }

    fn missing(text: &OpenText, words: &str) -> Missing {
        let start = text.text().find(words).expect("the words");
        let span = start..start + words.len();
        Missing {
            span: span.clone(),
            words: words.to_owned(),
            id: words.to_owned(),
            title: String::new(),
            probability: 0.5,
            why: String::new(),
            edits: vec![(span.end..span.end, "]".to_owned())],
        }
    }

    #[test]
    fn changes_are_made_where_the_encoding_says() {
        for (encoding, x) in [(Encoding::Utf8, 6), (Encoding::Utf16, 3), (Encoding::Utf32, 2)] {
            let mut text = open("é𝄞x\nzwei\n", encoding);
            assert_eq!(text.path, "/a b.md");
            text.change(change((0, x), (0, x + 1), "y"));
            text.change(change((1, 0), (9, 0), ""));
            assert_eq!(text.text(), "é𝄞y\n", "{encoding:?}");
            assert_eq!(text.position(6), Position::new(0, x), "{encoding:?}");
            text.change(TextDocumentContentChangeEvent { range: None, range_length: None, text: "new".to_owned() });
            assert_eq!(text.text(), "new");
        }
    }

    #[test]
    fn positions_beyond_a_line_are_at_its_end() {
        let text = open("one\r\ntwo", Encoding::Utf16);
        assert_eq!(text.byte(Position::new(0, 99)), 3);
        assert_eq!(text.byte(Position::new(1, 99)), 8);
        assert_eq!(text.byte(Position::new(7, 0)), 8);
    }

    #[test]
    fn lines_are_known_after_any_changes() {
        let mut text = open("a\nb\nc\nd", Encoding::Utf16);
        for (start, end, new) in
            [((0, 0), (1, 1), "x\ny\nz"), ((2, 1), (3, 0), ""), ((0, 0), (0, 0), "\n\n"), ((1, 0), (4, 1), "q\n")]
        {
            text.change(change(start, end, new));
            assert_eq!(text.lines, line_starts(text.text()), "{:?}", text.text());
        }
    }

    #[test]
    fn only_the_paragraph_that_changed_is_looked_at_again() {
        let mut text = open("# one\n\nfirst place\n\nsecond place\n\nthird place\n", Encoding::Utf16);
        assert_eq!(text.take_stale(1 << 20), Some(0..text.text().len()));
        text.found = ["first", "second", "third"].map(|words| missing(&text, words)).to_vec();
        text.change(change((4, 0), (4, 0), "the "));
        let words: Vec<&str> = text.found.iter().map(|one| &*one.words).collect();
        assert_eq!(words, ["first", "third"]);
        let third = text.text().find("third").expect("third");
        assert_eq!(text.found[1].span, third..third + 5, "what stands behind has moved");
        assert_eq!(text.found[1].edits[0].0, third + 5..third + 5);
        let stale = text.take_stale(1 << 20).expect("a paragraph");
        assert_eq!(&text.text()[stale], "the second place\n");
        assert!(!text.is_stale());
    }

    #[test]
    fn a_long_text_is_taken_in_paragraphs_and_read_in_part() {
        let paragraph = "some words of a paragraph\n\n".repeat(40);
        let mut text = open(&paragraph.repeat(2000), Encoding::Utf16);
        assert!(text.text().len() > 2 << 20);
        let (mut taken, mut pieces) = (0, 0);
        while let Some(range) = text.take_stale(4 << 10) {
            assert!(range.start == taken && range.len() <= 5 << 10, "{range:?}");
            (taken, pieces) = (range.end, pieces + 1);
        }
        assert!(pieces > 10 && (LOOKED_AT..LOOKED_AT + 100).contains(&taken), "{pieces} {taken}");
        let middle = text.text().len() / 2;
        let part = text.part(&(middle..middle + 1));
        assert!(part.contains(&middle) && part.len() <= 65 << 10, "{part:?}");
        assert!(text.text()[..part.start].ends_with('\n'));
    }

    #[test]
    fn a_part_does_not_begin_within_code() {
        let code = format!("```\n{}```\n", "let x = 1;\n".repeat(3 << 10));
        let text =
            open(&format!("{}{code}{}", "words\n\n".repeat(40 << 10), "and more\n\n".repeat(4 << 10)), Encoding::Utf16);
        let behind = text.text().rfind("```").expect("a fence") + 4;
        let part = text.part(&(behind..behind + 1));
        assert_eq!(part.start, behind);
    }

    #[test]
    fn one_endless_line_is_cut() {
        let mut text = open(&"ü ".repeat(1 << 20), Encoding::Utf16);
        let range = text.take_stale(4 << 10).expect("a piece");
        assert!(range.len() <= 20 << 10, "{range:?}");
        text.change(change((0, 1 << 20), (0, 1 << 20), "x"));
        let last = text.stale.last().expect("what changed").clone();
        assert!(last.len() <= 17 << 10, "{last:?}");
    }

    #[test]
    fn what_was_asked_for_is_not_looked_at_twice() {
        let mut text = open("one\n\ntwo\n\nthree\n", Encoding::Utf16);
        let two = text.paragraph(5..5);
        assert_eq!(&text.text()[two.clone()], "two\n");
        assert!(text.take_stale_within(&two));
        assert!(!text.take_stale_within(&two));
        assert_eq!(text.stale, [0..5, 9..16]);
    }
}
