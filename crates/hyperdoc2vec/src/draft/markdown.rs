//! Markdown, by pulldown-cmark's events and the bytes they stand at.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use super::builder::DraftBuilder;
use super::{LinkSyntax, TextKind};

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
    let options =
        OPTIONS | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let mut reader = MarkdownReader::default();
    for (event, span) in Parser::new_ext(builder.text, options).into_offset_iter() {
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

#[derive(Default)]
struct MarkdownReader {
    pending: Option<Range<usize>>,
    /// How many blocks, quotations, images and links of HTML are open around us, whose words are no prose or no words.
    unseen: usize,
    quotes: usize,
    html_links: usize,
    heading: Option<usize>,
    link: Option<OpenLink>,
}

impl MarkdownReader {
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
        match self.kind() {
            TextKind::Link => builder.words(span, TextKind::Link),
            kind => builder.marked(span, kind),
        }
    }

    fn take(&mut self, builder: &mut DraftBuilder<'_>, event: Event<'_>, span: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(builder, tag, span),
            Event::End(end) => self.end(builder, end),
            Event::Code(_) if self.unseen == 0 => {
                let kind = if self.link.is_some() { TextKind::Link } else { TextKind::Code };
                builder.words(span, kind);
            }
            Event::InlineHtml(tag) => {
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

    fn start(&mut self, builder: &mut DraftBuilder<'_>, tag: Tag<'_>, span: Range<usize>) {
        match tag {
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Superscript | Tag::Subscript => {}
            Tag::Link { link_type, dest_url, .. } => {
                let syntax = match link_type {
                    LinkType::WikiLink { .. } => LinkSyntax::Wiki,
                    _ => LinkSyntax::Inline,
                };
                if self.unseen == 0 {
                    self.link = Some((span, builder.count(), dest_url.into_string(), syntax));
                }
            }
            Tag::Image { .. } | Tag::CodeBlock(_) | Tag::MetadataBlock(_) | Tag::HtmlBlock => {
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
            TagEnd::Image | TagEnd::CodeBlock | TagEnd::MetadataBlock(_) | TagEnd::HtmlBlock => {
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
