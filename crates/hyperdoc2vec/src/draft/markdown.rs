//! Markdown, by pulldown-cmark's events and the bytes they stand at.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use super::builder::DraftBuilder;
use super::html::HtmlTag;
use super::template::{self, DraftTag, TagMeaning};
use super::{LinkSyntax, TextKind, rst};

/// Bytes before a piece of code in which its role stands.
const LONGEST_ROLE: usize = 16;

/// A link that is open: its bytes, the words before it, its target, how it is written.
type OpenLink = (Range<usize>, usize, String, LinkSyntax);

/// The syntax that is read beside CommonMark.
pub(crate) const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_HEADING_ATTRIBUTES)
    .union(Options::ENABLE_MATH)
    .union(Options::ENABLE_GFM)
    .union(Options::ENABLE_DEFINITION_LIST)
    .union(Options::ENABLE_WIKILINKS);

/// Reads the text.
pub(super) fn read(builder: &mut DraftBuilder<'_>) {
    let text = builder.text;
    let start = front_matter_end(text);
    let tags = template::tags(text);
    let unread = tags.iter().map(|tag| tag.span.clone()).chain(lines_without_prose(text));
    builder.hide(unread.collect());
    let masked = template::masked(text, &tags);
    let budget = 16 * text.len();
    let mut reader = MarkdownReader { tags, masked: &masked, budget, ..MarkdownReader::default() };
    for (event, span) in Parser::new_ext(&masked[start..], OPTIONS).into_offset_iter() {
        let span = start + span.start..start + span.end;
        // Text that goes on where the last ended, as around a lone bracket, is read in one.
        if let Event::Text(_) = event {
            match &mut reader.pending {
                Some(pending) if pending.end == span.start => pending.end = span.end,
                _ => {
                    reader.flush(builder);
                    reader.pending = Some(span);
                }
            }
            continue;
        }
        reader.flush(builder);
        reader.take(builder, event, span);
    }
    reader.flush(builder);
}

/// Where the text begins behind front matter between `---` or `+++`. The parser would take lines for such marks that stand
/// anywhere.
fn front_matter_end(text: &str) -> usize {
    let mark = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut lines = text[mark..].split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if !matches!(first.trim_end(), "---" | "+++") {
        return mark;
    }
    let mut end = mark + first.len();
    for line in lines {
        end += line.len();
        if line.trim_end() == first.trim_end() {
            return end;
        }
    }
    mark
}

/// Lines that generators read, and no reader sees as running text: titles of boxes, `:::note[Title]`, `!!! note "Title"`;
/// abbreviations, `*[HTML]: words`; imports and exports of MDX; and comments of notes, `%%…%%`.
fn lines_without_prose(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let body = line.trim_start();
        let quoted = line.contains(['\'', '"']);
        let is_import = line.starts_with("import ") && (line.contains(" from ") || body[7..].starts_with(['\'', '"']));
        let exports = ["const ", "let ", "default ", "function ", "{"];
        let is_export =
            line.strip_prefix("export ").is_some_and(|rest| exports.iter().any(|one| rest.starts_with(one)));
        let is_abbreviation = body.starts_with("*[") && body.contains("]:");
        let is_box = [":::", "!!! ", "??? ", "???+ ", "=== \""].iter().any(|start| body.starts_with(start));
        let signs: Vec<usize> = line.match_indices("%%").map(|(sign, _)| at + sign).collect();
        found.extend(signs.chunks_exact(2).map(|signs| signs[0]..signs[1] + 2));
        if is_box || is_abbreviation || (is_import && quoted) || is_export {
            found.push(at..at + line.len());
        }
        at += line.len();
    }
    found
}

/// The role of MyST that stands before a piece of code and makes it a link, and where it begins: ``{doc}`page` ``.
fn role<'t>(text: &'t str, code: &Range<usize>) -> Option<(usize, &'t str)> {
    let near = code.start.saturating_sub(LONGEST_ROLE)..code.start;
    let open = near.start + memchr::memrchr(b'{', &text.as_bytes()[near])?;
    let name = text[open + 1..code.start].strip_suffix('}')?;
    let is_link = matches!(name, "doc" | "ref" | "cite") || name.starts_with("cite:");
    let single = code.len() > 2 && !text[code.start + 1..].starts_with('`');
    (is_link && single).then_some((open, name))
}

#[derive(Default)]
struct MarkdownReader<'a> {
    /// The tags of site generators.
    tags: Vec<DraftTag<'a>>,
    /// The text without them.
    masked: &'a str,
    /// Bytes of HTML that may still be looked at in vain.
    budget: usize,
    pending: Option<Range<usize>>,
    /// How many blocks, quotations, images and links of HTML are open around us, whose words are no prose or no words.
    unseen: usize,
    quotes: usize,
    html_links: usize,
    heading: Option<usize>,
    link: Option<OpenLink>,
}

impl MarkdownReader<'_> {
    fn kind(&self) -> TextKind {
        if self.link.is_some() || self.html_links > 0 {
            TextKind::Link
        } else if self.heading.is_some() {
            TextKind::Heading
        } else if self.quotes > 0 {
            TextKind::Quote
        } else {
            TextKind::Prose
        }
    }

    fn flush(&mut self, builder: &mut DraftBuilder<'_>) {
        let Some(span) = self.pending.take().filter(|_| self.unseen == 0) else { return };
        if self.kind() == TextKind::Link {
            return builder.words(span, TextKind::Link);
        }
        let mut at = span.start;
        let first = self.tags.partition_point(|tag| tag.span.start < span.start);
        for tag in self.tags[first..].iter().take_while(|tag| tag.span.start < span.end) {
            let (words, target) = match tag.meaning {
                TagMeaning::Term { words, term } => (words, format!("glossary/{term}")),
                TagMeaning::Card { words, address } => (words, address.to_owned()),
                _ => continue,
            };
            builder.marked(at..tag.span.start, self.kind());
            at = tag.span.end;
            let first = builder.count();
            let start = builder.text[tag.span.clone()].find(words).map_or(at, |step| tag.span.start + step);
            builder.all_words(start..start + words.len(), TextKind::Link);
            builder.link(tag.span.clone(), first, vec![target], LinkSyntax::Inline);
        }
        builder.marked(at..span.end, self.kind());
    }

    fn take(&mut self, builder: &mut DraftBuilder<'_>, event: Event<'_>, span: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(builder, tag, span),
            Event::End(end) => self.end(builder, end),
            Event::Code(_) if self.unseen == 0 => {
                if let Some((open, name)) = role(builder.text, &span) {
                    rst::reference(builder, open, span.start + 1..span.end - 1, Some(name));
                    return;
                }
                builder.code(span.clone());
                let kind = if self.link.is_some() { TextKind::Link } else { TextKind::Code };
                builder.words(span, kind);
            }
            Event::Html(_) => self.html_links(builder, span),
            Event::InlineHtml(tag) => {
                self.html_links(builder, span);
                let tag = tag.trim_start().to_ascii_lowercase();
                if tag.starts_with("<a ") {
                    self.html_links += 1;
                } else if tag.starts_with("</a") {
                    self.html_links = self.html_links.saturating_sub(1);
                }
            }
            Event::Rule => builder.block(),
            _ => {}
        }
    }

    /// The links that HTML within the text opens.
    fn html_links(&mut self, builder: &mut DraftBuilder<'_>, span: Range<usize>) {
        for at in memchr::memchr_iter(b'<', &self.masked.as_bytes()[span.clone()]) {
            let open = span.start + at;
            let opens = |start: &str| self.masked.as_bytes()[open..].starts_with(start.as_bytes());
            if !["<a ", "<A ", "<a\n", "<a\r"].into_iter().any(opens) {
                continue;
            }
            let Some(tag) = HtmlTag::read(self.masked, open, &mut self.budget) else { continue };
            if let Some(target) = tag.attribute("href") {
                let target = template::target(&template::restored(target, builder.text, &self.tags));
                builder.link(tag.span.clone(), builder.count(), vec![target], LinkSyntax::Inline);
            }
        }
    }

    fn start(&mut self, builder: &mut DraftBuilder<'_>, tag: Tag<'_>, span: Range<usize>) {
        match tag {
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Superscript | Tag::Subscript => {}
            Tag::Link { link_type, dest_url, .. } => {
                let syntax = match link_type {
                    LinkType::WikiLink { .. } => LinkSyntax::Wiki,
                    _ => LinkSyntax::Inline,
                };
                if self.unseen == 0 {
                    let target = template::target(&template::restored(&dest_url, builder.text, &self.tags));
                    self.link = Some((span, builder.count(), target, syntax));
                }
            }
            Tag::CodeBlock(_) => {
                builder.block();
                builder.code(span);
                self.unseen += 1;
            }
            Tag::Image { .. } | Tag::HtmlBlock => {
                builder.block();
                self.unseen += 1;
            }
            Tag::BlockQuote(_) => {
                builder.block();
                self.quotes += 1;
            }
            Tag::Heading { .. } => {
                builder.block();
                self.heading = Some(builder.count());
                self.html_links = 0;
            }
            _ => {
                builder.block();
                self.html_links = 0;
            }
        }
    }

    fn end(&mut self, builder: &mut DraftBuilder<'_>, end: TagEnd) {
        match end {
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Superscript | TagEnd::Subscript => {}
            TagEnd::Link => {
                let Some((span, first, target, syntax)) = self.link.take() else { return };
                if target == "?" {
                    builder.wanted(span.clone(), span, syntax);
                } else {
                    builder.link(span, first, vec![target], syntax);
                }
            }
            TagEnd::Image | TagEnd::CodeBlock | TagEnd::HtmlBlock => {
                self.unseen = self.unseen.saturating_sub(1);
            }
            TagEnd::BlockQuote(_) => self.quotes = self.quotes.saturating_sub(1),
            TagEnd::Heading(_) => {
                let first = self.heading.take();
                first.into_iter().for_each(|first| builder.titled(first));
                builder.block();
            }
            _ => builder.block(),
        }
    }
}
