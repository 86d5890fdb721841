//! The text of wiki pages: links, templates, tables, references, headings.
//!
//! A scanner of our own: parsers of wiki text want the settings of a wiki, or give a tree that is not bound to take time
//! in proportion to the text, and the importer's reader drops the bytes that words stand at.

use std::ops::Range;

use super::builder::DraftBuilder;
use super::{LinkSyntax, TextKind};

/// Elements whose text is no prose.
const UNSEEN: [&str; 12] = [
    "nowiki",
    "pre",
    "math",
    "ref",
    "syntaxhighlight",
    "source",
    "gallery",
    "timeline",
    "score",
    "templatestyles",
    "includeonly",
    "references",
];

/// Reads the text.
pub(super) fn read(builder: &mut DraftBuilder<'_>) {
    let text = builder.text;
    // Marks that never close may not be looked for again and again.
    let budget = 16 * text.len() + (1 << 20);
    let (mut reader, mut start) = (MediaWikiReader { skip: 0, tables: 0, budget }, 0);
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if reader.skip < end {
            reader.line(builder, start.max(reader.skip)..end);
        }
        start = end;
    }
}

struct MediaWikiReader {
    /// Everything before this byte has been read, or is not to be.
    skip: usize,
    tables: usize,
    /// Bytes that may still be looked through.
    budget: usize,
}

impl MediaWikiReader {
    fn line(&mut self, builder: &mut DraftBuilder<'_>, span: Range<usize>) {
        let line = builder.text[span.clone()].trim_end();
        let body = line.trim_start();
        if body.is_empty() {
            return builder.block();
        }
        if body.starts_with("{|") {
            self.tables += 1;
        }
        if self.tables > 0 {
            if body.starts_with("|}") {
                self.tables -= 1;
            }
            return builder.block();
        }
        let marks = body.bytes().take_while(|&b| b == b'=').count();
        if (1..=6).contains(&marks) && body.len() > 2 * marks && body.ends_with(&body[..marks]) {
            builder.block();
            let first = builder.count();
            builder.words(span.start..span.start + line.len(), TextKind::Heading);
            builder.titled(first);
            return builder.block();
        }
        // A line that begins with a space is shown as code.
        if line.starts_with(' ') {
            return builder.block();
        }
        let quoted = matches!(body.as_bytes()[0], b'>');
        if matches!(body.as_bytes()[0], b'*' | b'#' | b':' | b';') {
            builder.block();
        }
        self.inline(builder, span, if quoted { TextKind::Quote } else { TextKind::Prose });
    }

    /// Behind the mark that closes the one at `at`; marks nest. Looked for within a bound, so that many that never close take
    /// time in proportion.
    fn closed(&mut self, bytes: &[u8], at: usize, open: &[u8; 2], close: &[u8; 2]) -> Option<usize> {
        const WITHIN: usize = 1 << 14;
        let (mut depth, mut here) = (0usize, at);
        let end = bytes.len().min(at + WITHIN).min(at + self.budget);
        while here < end {
            let rest = &bytes[here..end];
            if rest.starts_with(open) {
                depth += 1;
                here += 2;
            } else if rest.starts_with(close) {
                depth -= 1;
                here += 2;
                if depth == 0 {
                    return Some(here);
                }
            } else {
                here += 1;
            }
        }
        self.budget = self.budget.saturating_sub(end - at);
        None
    }

    /// Behind a comment, a tag, or an element that is not to be read.
    fn element_end(&mut self, text: &str, at: usize) -> Option<usize> {
        const WITHIN: usize = 1 << 16;
        let bytes = text.as_bytes();
        if !bytes.get(at + 1).is_some_and(|&next| next.is_ascii_alphanumeric() || next == b'/' || next == b'!') {
            return None;
        }
        let mut end = text.len().min(at + WITHIN).min(at + self.budget);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let length = element_length(text.get(at..end)?);
        if length.is_none() {
            self.budget = self.budget.saturating_sub(end - at);
        }
        length.map(|length| at + length)
    }

    /// The length of `[…]`, which stands at the beginning of a line's rest.
    fn bracket_end(&mut self, rest: &[u8]) -> Option<usize> {
        let near = &rest[..rest.len().min(self.budget)];
        let length = memchr::memchr(b']', near).map(|close| close + 1);
        if length.is_none() {
            self.budget = self.budget.saturating_sub(near.len());
        }
        length
    }

    /// Text with marks; what opens here may end far behind the line.
    fn inline(&mut self, builder: &mut DraftBuilder<'_>, span: Range<usize>, kind: TextKind) {
        let (text, bytes) = (builder.text, builder.text.as_bytes());
        let (mut from, mut at) = (span.start, span.start);
        while at < span.end {
            let Some(step) = bytes[at..span.end].iter().position(|b| matches!(b, b'[' | b'{' | b'<' | b'\'')) else {
                break;
            };
            at += step;
            let end = match bytes[at] {
                b'\'' if text[at..].starts_with("''") => at + bytes[at..].iter().take_while(|&&b| b == b'\'').count(),
                b'{' if text[at..].starts_with("{{") => self.closed(bytes, at, b"{{", b"}}").unwrap_or(at),
                b'<' => self.element_end(text, at).unwrap_or(at),
                b'[' if text[at..].starts_with("[[?]]") => {
                    builder.words(from..at, kind);
                    builder.wanted(at..at + 5, at..at + 5, LinkSyntax::Wiki);
                    from = at + 5;
                    at + 5
                }
                b'[' if text[at..].starts_with("[[") => match self.closed(bytes, at, b"[[", b"]]") {
                    Some(end) => {
                        builder.words(from..at, kind);
                        from = end;
                        wiki_link(builder, at..end);
                        end
                    }
                    None => at,
                },
                b'[' if text[at + 1..].starts_with("http") => match self.bracket_end(&bytes[at..span.end]) {
                    Some(close) => {
                        builder.words(from..at, kind);
                        let end = at + close;
                        let target = text[at + 1..end - 1].split(' ').next().unwrap_or_default();
                        let first = builder.count();
                        builder.words(at + 1 + target.len()..end - 1, TextKind::Link);
                        builder.link(at..end, first, vec![target.to_owned()], LinkSyntax::Inline);
                        from = end;
                        end
                    }
                    None => at,
                },
                _ => at,
            };
            if end > at {
                if from < at {
                    builder.marked(from..at, kind);
                }
                from = from.max(end);
                at = end;
            } else {
                at += 1;
            }
        }
        if from < span.end {
            builder.marked(from..span.end, kind);
        }
        self.skip = from.max(span.end);
    }
}

/// The length of the comment, the tag, or the element that is not to be read, with which a text begins.
fn element_length(text: &str) -> Option<usize> {
    if text.starts_with("<!--") {
        return text.find("-->").map(|close| close + 3);
    }
    let name = text.get(1..)?.trim_start_matches('/');
    let name = &name[..name.bytes().take_while(u8::is_ascii_alphanumeric).count()];
    if name.is_empty() {
        return None;
    }
    let tag_end = text.find('>')? + 1;
    let is_unseen = UNSEEN.iter().any(|unseen| name.eq_ignore_ascii_case(unseen));
    if text.starts_with("</") || text[..tag_end].ends_with("/>") || !is_unseen {
        return Some(tag_end);
    }
    let bytes = text.as_bytes();
    let closes = |at: &usize| {
        let found = bytes.get(at + 2..at + 2 + name.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
    };
    let close = memchr::memmem::find_iter(&bytes[tag_end..], b"</").map(|at| tag_end + at).find(closes)?;
    Some(text[close..].find('>').map_or(text.len(), |step| close + step + 1))
}

/// `[[target]]`, `[[target|words]]`; files and categories have no words.
fn wiki_link(builder: &mut DraftBuilder<'_>, span: Range<usize>) {
    let inside = span.start + 2..span.end - 2;
    let text = &builder.text[inside.clone()];
    let target = text.split('|').next().unwrap_or_default().trim();
    let space = target.split(':').next().filter(|space| space.len() < target.len()).map(str::to_ascii_lowercase);
    if matches!(space.as_deref(), Some("file" | "image" | "category" | "media")) {
        return;
    }
    let first = builder.count();
    let words = text.rfind('|').map_or(inside.start, |at| inside.start + at + 1);
    builder.words(words..inside.end, TextKind::Link);
    builder.link(span, first, vec![target.split('#').next().unwrap_or_default().trim().to_owned()], LinkSyntax::Wiki);
}
