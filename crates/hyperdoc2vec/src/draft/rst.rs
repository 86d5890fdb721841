//! reStructuredText: blocks by their indentation, roles and references within lines.
//!
//! A scanner of our own: no crate reads all of it, and those that read some give no bytes of words.

use std::ops::Range;

use super::builder::DraftBuilder;
use super::{LinkSyntax, TextKind};

/// Directives whose body is text.
const PROSE: [&str; 17] = [
    "note",
    "warning",
    "tip",
    "important",
    "caution",
    "danger",
    "error",
    "hint",
    "attention",
    "admonition",
    "seealso",
    "versionadded",
    "versionchanged",
    "deprecated",
    "topic",
    "sidebar",
    "container",
];
/// Roles whose words are code.
const CODE_ROLES: [&str; 5] = ["code", "math", "literal", "kbd", "samp"];

/// Brackets of a citation close within so many bytes.
const WITHIN: usize = 200;

/// Reads the text.
pub(super) fn read(builder: &mut DraftBuilder<'_>) {
    let text = builder.text;
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        lines.push(start..start + line.trim_end().len());
        start += line.len();
    }
    // Lines indented deeper than this are no text, after `::` or a directive.
    let mut literal = None::<usize>;
    // The paragraph that is being read.
    let mut paragraph = None::<Range<usize>>;
    let mut table = None::<RestTable>;
    for (number, span) in lines.iter().enumerate() {
        let line = &text[span.clone()];
        let body = line.trim_start();
        let indent = line.len() - body.len();
        let next = lines.get(number + 1).map_or("", |next| text[next.clone()].trim_end());
        if literal.is_none_or(|depth| indent <= depth) && !body.is_empty() {
            table = table.or_else(|| RestTable::opened(body));
        }
        if let Some(open) = table.filter(|_| literal.is_none_or(|depth| indent <= depth)) {
            // Words that move would break its columns.
            flush(builder, &mut paragraph);
            inline(builder, span.clone(), TextKind::Code);
            builder.block();
            table = open.after(body, next);
            continue;
        }
        if body.is_empty() {
            flush(builder, &mut paragraph);
            builder.block();
            continue;
        }
        if let Some(depth) = literal {
            if indent > depth {
                builder.code(span.clone());
                continue;
            }
            literal = None;
        }
        if is_rule(body) && indent == 0 {
            flush(builder, &mut paragraph);
            continue;
        }
        if indent == 0
            && is_rule(next)
            && next.len() + 1 >= body.chars().count().min(next.len() + 2)
            && paragraph.is_none()
        {
            builder.block();
            let first = builder.count();
            builder.words(span.clone(), TextKind::Heading);
            builder.titled(first);
            builder.block();
            continue;
        }
        if let Some(rest) = body.strip_prefix(".. ").or_else(|| (body == "..").then_some("")) {
            flush(builder, &mut paragraph);
            builder.block();
            let name = rest.split("::").next().filter(|name| name.len() + 2 <= rest.len()).unwrap_or_default();
            if PROSE.contains(&name) {
                let words = span.start + indent + 3 + name.len() + 2;
                paragraph = (words < span.end).then_some(words..span.end);
            } else {
                literal = Some(indent);
            }
            continue;
        }
        // A field or an option: `:name: value`.
        if body.starts_with(':') && paragraph.is_none() && body[1..].contains(": ") && !body.contains('`') {
            continue;
        }
        if body.starts_with("* ") || body.starts_with("- ") || body.starts_with("#. ") {
            flush(builder, &mut paragraph);
            builder.block();
        }
        match &mut paragraph {
            Some(paragraph) => paragraph.end = span.end,
            None => paragraph = Some(span.start..span.end),
        }
        if body.ends_with("::") {
            flush(builder, &mut paragraph);
            literal = Some(indent);
        }
    }
    flush(builder, &mut paragraph);
}

/// A table that is open.
#[derive(Debug, Clone, Copy)]
enum RestTable {
    /// `+---+---+`: up to a blank line.
    Grid,
    /// `====  ====`: up to such a line that is the second or later, and has a blank line behind it.
    Simple { borders: usize },
}

impl RestTable {
    /// The table that a line opens.
    fn opened(line: &str) -> Option<RestTable> {
        let is_grid = line.starts_with("+-") && line.ends_with('+');
        is_grid.then_some(RestTable::Grid).or_else(|| is_border(line).then_some(RestTable::Simple { borders: 0 }))
    }

    /// What is open behind a line of the table.
    fn after(self, line: &str, next: &str) -> Option<RestTable> {
        match self {
            RestTable::Grid => (!next.trim().is_empty()).then_some(self),
            RestTable::Simple { borders } => {
                let borders = borders + usize::from(is_border(line));
                let ends = is_border(line) && borders > 1 && next.trim().is_empty();
                (!ends).then_some(RestTable::Simple { borders })
            }
        }
    }
}

/// `====  ====`: the border of a simple table of two columns or more.
fn is_border(line: &str) -> bool {
    line.starts_with("==") && line.contains("= ") && line.bytes().all(|byte| matches!(byte, b'=' | b' '))
}

/// A line of one punctuation mark, as under headings.
fn is_rule(line: &str) -> bool {
    let bytes = line.as_bytes();
    bytes.len() >= 3 && bytes[0].is_ascii_punctuation() && bytes.iter().all(|&byte| byte == bytes[0])
}

fn flush(builder: &mut DraftBuilder<'_>, paragraph: &mut Option<Range<usize>>) {
    if let Some(span) = paragraph.take() {
        inline(builder, span, TextKind::Prose);
        builder.block();
    }
}

/// Text with literals, emphasis, roles and references.
fn inline(builder: &mut DraftBuilder<'_>, span: Range<usize>, kind: TextKind) {
    let (text, bytes) = (builder.text, builder.text.as_bytes());
    let (mut from, mut at) = (span.start, span.start);
    while let Some(step) = bytes[at..span.end].iter().position(|b| matches!(b, b'`' | b'[' | b'|' | b'*' | b'_')) {
        at += step;
        let rest = &text[at..span.end];
        if rest.starts_with('*') {
            // Emphasis holds no other markup.
            let stars = if rest.starts_with("**") { 2 } else { 1 };
            let opens = rest[stars..].starts_with(|c: char| !c.is_whitespace() && c != '*');
            let near = rest.as_bytes()[stars..].iter().take(WITHIN).position(|&byte| byte == b'*');
            let Some(close) = near.filter(|_| opens) else {
                at += stars;
                continue;
            };
            builder.marked(from..at, kind);
            let end = at + stars + close;
            builder.words(at + stars..end, TextKind::Code);
            at = end + bytes[end..span.end].iter().take(stars).take_while(|&&byte| byte == b'*').count();
            from = at;
        } else if rest.starts_with('_') {
            // `word_` is a reference.
            let behind = rest.trim_start_matches('_').chars().next();
            let word = text[from..at].bytes().rev().take(WITHIN);
            let length = word.take_while(|&b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')).count();
            let end = at + rest.len() - rest.trim_start_matches('_').len();
            if length > 0 && end <= at + 2 && !behind.is_some_and(char::is_alphanumeric) {
                builder.marked(from..at - length, kind);
                let first = builder.count();
                builder.words(at - length..at, TextKind::Link);
                builder.link(at - length..end, first, vec![text[at - length..at].to_owned()], LinkSyntax::Inline);
                from = end;
            }
            at = end;
        } else if let Some(literal) = rest.strip_prefix("``") {
            let Some(close) = literal.find("``") else {
                at += 2;
                continue;
            };
            builder.marked(from..at, kind);
            builder.words(at + 2..at + 2 + close, TextKind::Code);
            at += close + 4;
            from = at;
        } else if let Some(quoted) = rest.strip_prefix('`') {
            let Some(close) = quoted.find('`') else {
                at += 1;
                continue;
            };
            let end = at + close + 2;
            // A role stands before it: `:doc:`, `:cite:p:`.
            let before = &text[from..at];
            let inside = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b':' | b'-' | b'_' | b'+' | b'.');
            let length = before.bytes().rev().take(WITHIN).take_while(inside).count();
            let role = before.ends_with(':').then(|| before[before.len() - length..].find(':')).flatten();
            let open = role.map_or(at, |role| at - length + role);
            let name = text[open..at].strip_prefix(':').and_then(|name| name.strip_suffix(':'));
            builder.marked(from..open, kind);
            at = reference(builder, open, at + 1..end - 1, name);
            from = at;
        } else if rest.starts_with('[') {
            // `[key]_` is a citation, or a footnote.
            let near = memchr::memchr(b']', &rest.as_bytes()[..rest.len().min(WITHIN)]);
            let close = near.filter(|&close| rest[close + 1..].starts_with('_'));
            let key =
                close.map(|close| &rest[1..close]).filter(|key| !key.contains(char::is_whitespace) && !key.is_empty());
            match (close, key) {
                (Some(close), Some(key)) => {
                    builder.marked(from..at, kind);
                    let end = at + close + 2;
                    if DraftBuilder::asks(key) {
                        builder.wanted(at..end, at..end, LinkSyntax::Citation);
                    } else if !key.starts_with('#') && !key.bytes().all(|b| b.is_ascii_digit()) {
                        builder.citation(at..end, vec![key.to_owned()]);
                    }
                    at = end;
                    from = end;
                }
                _ => at += 1,
            }
        } else {
            let near = memchr::memchr(b'|', &rest.as_bytes()[1..rest.len().min(80)]);
            let close = near.filter(|&close| close > 0 && !rest[1..=close].contains(' '));
            match close {
                Some(close) => {
                    builder.marked(from..at, kind);
                    at += close + 2;
                    from = at;
                }
                None => at += 1,
            }
        }
    }
    builder.marked(from..span.end, kind);
}

/// `` `words <target>`_ ``, `` `words`_ ``, `` :role:`target` ``; returns where it ends.
pub(super) fn reference(
    builder: &mut DraftBuilder<'_>,
    open: usize,
    inside: Range<usize>,
    role: Option<&str>,
) -> usize {
    let text = builder.text;
    let marks = text[inside.end + 1..].bytes().take(2).take_while(|&byte| byte == b'_').count();
    let end = inside.end + 1 + marks;
    let content = &text[inside.clone()];
    if role.is_some_and(|role| CODE_ROLES.contains(&role)) || (role.is_none() && marks == 0) {
        builder.words(inside, TextKind::Code);
        return end;
    }
    let pointed = content.ends_with('>').then(|| content.rfind('<')).flatten();
    let (words, target) = match pointed {
        Some(at) => (inside.start..inside.start + at, &content[at + 1..content.len() - 1]),
        None => (inside.clone(), content),
    };
    if role.is_some_and(|role| role.starts_with("cite")) {
        let (mut keys, mut from) = (Vec::new(), inside.start);
        for key in content.split(',') {
            if DraftBuilder::asks(key) {
                let start = from + key.len() - key.trim_start().len();
                builder.wanted(open..end, start..start + key.trim().len(), LinkSyntax::Citation);
            } else {
                keys.push(key.trim().to_owned());
            }
            from += key.len() + 1;
        }
        builder.citation(open..end, keys);
        return end;
    }
    if DraftBuilder::asks(target) {
        builder.wanted(open..end, open..end, LinkSyntax::Inline);
        return end;
    }
    let first = builder.count();
    builder.words(words, TextKind::Link);
    let target = target.trim_start_matches(['~', '!']).trim();
    builder.link(open..end, first, vec![target.to_owned()], LinkSyntax::Inline);
    end
}
