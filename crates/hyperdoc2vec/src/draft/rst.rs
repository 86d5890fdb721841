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
    for (number, span) in lines.iter().enumerate() {
        let line = &text[span.clone()];
        let body = line.trim_start();
        let indent = line.len() - body.len();
        if body.is_empty() {
            flush(builder, &mut paragraph);
            builder.block();
            continue;
        }
        if let Some(depth) = literal {
            if indent > depth {
                continue;
            }
            literal = None;
        }
        let next = lines.get(number + 1).map_or("", |next| text[next.clone()].trim_end());
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

/// A line of one punctuation mark, as under headings.
fn is_rule(line: &str) -> bool {
    let bytes = line.as_bytes();
    bytes.len() >= 3 && bytes[0].is_ascii_punctuation() && bytes.iter().all(|&byte| byte == bytes[0])
}

fn flush(builder: &mut DraftBuilder<'_>, paragraph: &mut Option<Range<usize>>) {
    if let Some(span) = paragraph.take() {
        inline(builder, span);
        builder.block();
    }
}

/// Text with literals, roles and references.
fn inline(builder: &mut DraftBuilder<'_>, span: Range<usize>) {
    let (text, bytes) = (builder.text, builder.text.as_bytes());
    let (mut from, mut at) = (span.start, span.start);
    while let Some(step) = bytes[at..span.end].iter().position(|b| matches!(b, b'`' | b'[' | b'|')) {
        at += step;
        let rest = &text[at..span.end];
        if let Some(literal) = rest.strip_prefix("``") {
            let Some(close) = literal.find("``") else {
                at += 2;
                continue;
            };
            builder.marked(from..at, TextKind::Prose);
            builder.words(at + 2..at + 2 + close, TextKind::Code);
            at += close + 4;
            from = at;
        } else if let Some(quoted) = rest.strip_prefix('`') {
            let Some(close) = quoted.find('`') else {
                at += 1;
                continue;
            };
            let end = at + close + 2;
            // A role stands before it: `:doc:`.
            let before = &text[from..at];
            let role = before.ends_with(':').then(|| before[..before.len() - 1].rfind(':')).flatten();
            let name = role.map(|role| &before[role + 1..before.len() - 1]);
            let open = role.map_or(at, |role| from + role);
            builder.marked(from..open, TextKind::Prose);
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
                    builder.marked(from..at, TextKind::Prose);
                    let end = at + close + 2;
                    if DraftBuilder::asks(key) {
                        builder.wanted(at..end, at + 1..at + close, LinkSyntax::Citation);
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
                    builder.marked(from..at, TextKind::Prose);
                    at += close + 2;
                    from = at;
                }
                None => at += 1,
            }
        }
    }
    builder.marked(from..span.end, TextKind::Prose);
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
    if DraftBuilder::asks(target) {
        builder.wanted(open..end, open..end, LinkSyntax::Inline);
        return end;
    }
    let first = builder.count();
    builder.words(words, TextKind::Link);
    let syntax =
        if role.is_some_and(|role| role.starts_with("cite")) { LinkSyntax::Citation } else { LinkSyntax::Inline };
    let target = target.trim_start_matches(['~', '!']).trim();
    builder.link(open..end, first, vec![target.to_owned()], syntax);
    end
}
