//! HTML: a scanner of tags that knows where it is. What is broken is read as browsers do, roughly.
//!
//! A scanner of our own: html5gum, which the importer uses, gives runs of text with their entities decoded, in which
//! the byte of a word is lost; and links are put in at bytes.

use std::ops::Range;

use super::builder::DraftBuilder;
use super::{LinkSyntax, TextKind, template};

/// Elements whose text nobody reads, or that are no prose.
const UNSEEN: [&str; 15] = [
    "script", "style", "template", "head", "title", "pre", "textarea", "svg", "math", "nav", "button", "select",
    "iframe", "noscript", "object",
];
/// Elements that do not end a paragraph.
const INLINE: [&str; 23] = [
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "dfn", "em", "i", "kbd", "mark", "q", "s", "samp", "small", "span",
    "strong", "sub", "sup", "tt", "u", "var",
];

/// A tag that does not end within so many bytes is none.
const LONGEST_TAG: usize = 1 << 13;

/// Reads the text.
pub(super) fn read(builder: &mut DraftBuilder<'_>) {
    let mut reader = HtmlReader::default();
    let text = builder.text;
    builder.hide(template::tags(text).into_iter().map(|tag| tag.span).collect());
    // Tags that never end may not be looked through again and again.
    let mut budget = 16 * text.len();
    let mut at = 0;
    while at < text.len() {
        let open = memchr::memchr(b'<', &text.as_bytes()[at..]).map_or(text.len(), |step| at + step);
        reader.text(builder, at..open);
        let Some(tag) = HtmlTag::read(text, open, &mut budget) else {
            // A lone `<` is text.
            at = (open + 1).min(text.len());
            continue;
        };
        at = tag.span.end;
        reader.tag(builder, &tag);
    }
}

/// A tag, a comment or the like.
pub(super) struct HtmlTag<'a> {
    pub(super) span: Range<usize>,
    /// In lower case; empty for comments and declarations.
    name: String,
    closes: bool,
    attributes: &'a str,
}

impl<'a> HtmlTag<'a> {
    /// The tag at a `<`. Of `budget`, so many bytes are left that may be looked at in vain.
    pub(super) fn read(text: &'a str, open: usize, budget: &mut usize) -> Option<HtmlTag<'a>> {
        let rest = text.get(open + 1..)?;
        let none = |end: usize| Some(HtmlTag { span: open..end, name: String::new(), closes: false, attributes: "" });
        if let Some(comment) = rest.strip_prefix("!--") {
            return none(comment.find("-->").map_or(text.len(), |at| open + 4 + at + 3));
        }
        if rest.starts_with(['!', '?']) {
            return none(rest.find('>').map_or(text.len(), |at| open + 1 + at + 1));
        }
        let closes = rest.starts_with('/');
        let body = &rest[usize::from(closes)..];
        let length = body.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != ':').unwrap_or(body.len());
        if length == 0 || !body.as_bytes()[0].is_ascii_alphabetic() {
            return None;
        }
        let bytes = &body.as_bytes()[..body.len().min(LONGEST_TAG).min(*budget)];
        let Some(at) = tag_length(bytes, length) else {
            *budget -= bytes.len();
            return None;
        };
        let start = open + 1 + usize::from(closes);
        let name = body[..length].to_ascii_lowercase();
        Some(HtmlTag { span: open..start + at + 1, name, closes, attributes: &body[length..at] })
    }

    /// The value of an attribute.
    pub(super) fn attribute(&self, wanted: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
            let end = rest.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            if name.is_empty() && after.is_empty() {
                return None;
            }
            let after = after.trim_start();
            let (value, left) = match after.strip_prefix('=').map(str::trim_start) {
                None => ("", after),
                Some(value) => match value.chars().next().filter(|c| matches!(c, '"' | '\'')) {
                    Some(quote) => value[1..].split_once(quote)?,
                    None => value.split_at(value.find(char::is_whitespace).unwrap_or(value.len())),
                },
            };
            if name.eq_ignore_ascii_case(wanted) {
                return Some(value);
            }
            rest = left;
        }
    }
}

#[derive(Default)]
struct HtmlReader {
    /// The element whose text is not read, and how many of that name are open.
    unseen: Option<(String, usize)>,
    quotes: usize,
    code: usize,
    heading: Option<usize>,
    link: Option<(usize, usize, String)>,
}

impl HtmlReader {
    fn text(&mut self, builder: &mut DraftBuilder<'_>, span: Range<usize>) {
        if self.unseen.is_some() || span.is_empty() {
            return;
        }
        let kind = if self.link.is_some() {
            TextKind::Link
        } else if self.heading.is_some() {
            TextKind::Heading
        } else if self.quotes > 0 {
            TextKind::Quote
        } else if self.code > 0 {
            TextKind::Code
        } else {
            TextKind::Prose
        };
        // A character reference is no word.
        let (bytes, mut from, mut at) = (builder.text.as_bytes(), span.start, span.start);
        while let Some(step) = memchr::memchr(b'&', &bytes[at..span.end]) {
            at += step;
            let name = bytes[at + 1..span.end].iter().take(32).take_while(|b| b.is_ascii_alphanumeric() || **b == b'#');
            let end = at + 1 + name.count();
            if end < span.end && bytes[end] == b';' {
                self.piece(builder, from..at, kind);
                from = end + 1;
            }
            at = end;
        }
        self.piece(builder, from..span.end, kind);
    }

    fn piece(&self, builder: &mut DraftBuilder<'_>, span: Range<usize>, kind: TextKind) {
        match kind {
            TextKind::Prose => builder.marked(span, kind),
            _ => builder.words(span, kind),
        }
    }

    fn tag(&mut self, builder: &mut DraftBuilder<'_>, tag: &HtmlTag<'_>) {
        let name = tag.name.as_str();
        if let Some((unseen, depth)) = &mut self.unseen {
            if unseen == name {
                *depth = if tag.closes { *depth - 1 } else { *depth + 1 };
            }
            if *depth == 0 {
                self.unseen = None;
            }
            return;
        }
        if name.is_empty() {
            return;
        }
        let alone = tag.attributes.ends_with('/');
        if UNSEEN.contains(&name) && !tag.closes && !alone {
            builder.block();
            self.unseen = Some((name.to_owned(), 1));
            return;
        }
        match (name, tag.closes) {
            ("a", false) => {
                self.close_link(builder, tag.span.start);
                if let Some(target) = tag.attribute("href") {
                    self.link = Some((tag.span.start, builder.count(), template::target(&decoded(target))));
                }
            }
            ("a", true) => self.close_link(builder, tag.span.end),
            ("blockquote" | "q", closes) => {
                self.quotes = if closes { self.quotes.saturating_sub(1) } else { self.quotes + 1 };
            }
            ("code" | "kbd" | "samp" | "tt" | "var", closes) => {
                self.code = if closes { self.code.saturating_sub(1) } else { self.code + 1 };
            }
            ("h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "caption" | "th", false) => self.heading = Some(builder.count()),
            ("h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "caption" | "th", true) => {
                let first = self.heading.take();
                first.into_iter().for_each(|first| builder.titled(first));
            }
            _ => {}
        }
        if !INLINE.contains(&name) {
            builder.block();
            if !tag.closes {
                self.close_link(builder, tag.span.start);
            }
        }
    }

    fn close_link(&mut self, builder: &mut DraftBuilder<'_>, end: usize) {
        if let Some((start, first, target)) = self.link.take() {
            builder.link(start..end, first, vec![target], LinkSyntax::Inline);
        }
    }
}

/// Where the `>` of a tag stands whose name has ended at `at`: past what is quoted.
fn tag_length(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr::memchr3(b'>', b'"', b'\'', bytes.get(at..)?)?;
        if bytes[at] == b'>' {
            return Some(at);
        }
        at += 1 + memchr::memchr(bytes[at], bytes.get(at + 1..)?)? + 1;
    }
}

/// An address without the character references that addresses have.
fn decoded(text: &str) -> String {
    text.replace("&amp;", "&").replace("&quot;", "\"").replace("&#39;", "'")
}
