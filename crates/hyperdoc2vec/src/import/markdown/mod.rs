//! Directories of Markdown: notes with wiki links, documentation with front matter, any folder of `.md` files.
//!
//! A page is made plain Markdown first: `template` and `directives` take out what generators add to it. Its title is that
//! of its front matter, else a level-1 heading that opens it, else the file's name.
//! An id is the path below the root without its ending; `folder/index` is called `folder` (unless `folder.md` is there
//! too). Front matter is read when the tree is opened, because links may name a page by its slug or by an alias.
//! A note embedded in another, `![[note]]`, is a link to it with its name; of other embeds and images, nothing stays.
//! Text between dollars is a formula, unless it holds a link to a page of the set.
//! If sections are asked for, those of `sections` are documents of their own, `page#part`, and links to them lead there.
//! See `names` for how a link finds its page, and `tree` for roots and order.

mod directives;
mod fences;
mod front;
mod marks;
mod mounts;
mod names;
mod rest;
mod scheme;
mod sections;
mod survey;
mod template;

use std::path::PathBuf;

use pulldown_cmark::{BrokenLink, CowStr, Event, HeadingLevel, LinkType, Options, Parser, RefDefs, Tag, TagEnd};
use rayon::prelude::*;

use super::sniff::MARKDOWN_ENDINGS;
use super::text::LinkedText;
use super::tree::href::Base;
use super::tree::{self, FileTree, Pages, WantedFiles, section_id};
use super::{Parsed, html_events as html};
use crate::document::losses::{Loss, Losses};
use crate::document::{Document, Link};
use crate::draft::markdown::OPTIONS;
use crate::error::Result;
use crate::import::text::collapsed;
use marks::BrokenMarks;
pub(crate) use names::without_number;
use names::{FoundTarget, PageNames};
use scheme::{LABEL, OBJECT};
use sections::{MarkdownOutline, SectionStep};
use survey::{LONGEST_SHOWN, PageSurvey, SiteSyntax};

/// How to read a tree of Markdown.
#[derive(Debug, Clone, Default)]
pub struct MarkdownOptions {
    /// Globs of pages to take, against the path below the root; none means all.
    /// `*` and `?` stop at `/`, `**` does not; a directory's name means all below it.
    pub include: Vec<String>,
    /// Globs of pages to leave out.
    pub exclude: Vec<String>,
    /// Web address of the root: links to addresses below it are links to pages of the set.
    pub base_url: Option<String>,
    /// Read reStructuredText, and Markdown beside it, as Sphinx does.
    pub rest: bool,
    /// Whether sections are documents of their own.
    pub sections: bool,
}

/// A tree of Markdown, found, its front matter read.
pub struct Markdown {
    tree: FileTree,
    surveys: Vec<PageSurvey>,
    names: PageNames,
    base: Option<Base>,
    /// Whether this is a wiki as GitHub keeps them, whose names are titles with dashes for blanks.
    is_wiki: bool,
    /// Whether sections are documents.
    sections: bool,
}

impl Markdown {
    /// Walks `roots` (directories or single files), sorts what it finds and reads all front matter;
    /// an error if there is no page.
    pub fn open(roots: &[PathBuf], options: &MarkdownOptions) -> Result<Markdown> {
        let MarkdownOptions { include, exclude, base_url, rest, sections } = options;
        // The frame of a wiki.
        let exclude: Vec<String> =
            exclude.iter().cloned().chain(["**/_Sidebar.md", "**/_Footer.md"].map(str::to_owned)).collect();
        let (what, endings): (_, &[&str]) =
            if *rest { ("reStructuredText", &["rst", "rest", "md"]) } else { ("Markdown files", &MARKDOWN_ENDINGS) };
        let wanted = WantedFiles { what, endings, include, exclude: &exclude };
        let base = Base::given(base_url.as_deref())?;
        let mut tree = FileTree::open(roots, &wanted, names::name)?;
        names::part_doubles(&mut tree);
        let survey = |page: &tree::TreeFile| match tree::read(&page.file) {
            Ok(bytes) => PageSurvey::read(&String::from_utf8_lossy(&bytes), SiteSyntax::of(&page.path), *sections),
            Err(_) => PageSurvey::default(), // reported when the page itself is read
        };
        let surveys: Vec<PageSurvey> = tree.pages.par_iter().map(survey).collect();
        let names = PageNames::new(&tree, &surveys, base.as_ref());
        let paths = || tree.pages.iter().map(|page| &page.path);
        let is_wiki = paths().any(|path| path == "Home.md") && !paths().any(|path| path.contains(' '));
        Ok(Markdown { tree, surveys, names, base, is_wiki, sections: *sections })
    }

    /// The name of a page's file, or of its folder if the file is called after none.
    fn file_title(&self, index: usize) -> String {
        let id = &self.tree.pages[index].id;
        let mut parts = id.rsplit('/');
        let name = parts.next().unwrap_or(id);
        let name = if name.eq_ignore_ascii_case("readme") { parts.next().unwrap_or(name) } else { name };
        if self.is_wiki { name.replace('-', " ") } else { name.to_owned() }
    }

    /// The sections of a page, if they are documents.
    fn outline(&self, page: usize) -> Option<&MarkdownOutline> {
        self.surveys.get(page).filter(|_| self.sections).map(|survey| &survey.outline)
    }

    /// The title of a page as far as it is known without reading it; many links may show it, so it is not too long.
    fn title(&self, index: usize) -> String {
        let PageSurvey { front, heading, .. } = &self.surveys[index];
        let title = front.title.as_ref().or(heading.as_ref()).filter(|title| title.len() <= LONGEST_SHOWN);
        title.cloned().unwrap_or_else(|| self.file_title(index))
    }
}

impl Pages for Markdown {
    fn len(&self) -> usize {
        self.tree.pages.len()
    }

    fn digest(&self) -> u64 {
        self.tree.digest(Default::default())
    }

    fn parse_page(&self, index: usize, parsed: &mut Parsed) {
        let (page, front) = (&self.tree.pages[index], &self.surveys[index].front);
        let origin = page.path.clone();
        let Some(bytes) = self.tree.read(index, &mut parsed.batch.losses) else { return };
        let source = String::from_utf8_lossy(&bytes);
        if matches!(source, std::borrow::Cow::Owned(_)) {
            parsed.batch.losses.add(Loss::ReplacedBytes, origin.clone());
        }
        if let Some(wrong) = &front.wrong {
            parsed.batch.losses.add(Loss::UnreadableFrontMatter, format!("{origin}: {wrong}"));
        }
        let date = match &front.date {
            Some(Err(wrong)) => {
                parsed.batch.losses.add(Loss::UnreadableDate, format!("{origin}: {wrong}"));
                None
            }
            Some(Ok(date)) => Some(*date),
            None => None,
        };
        let language = front.language.as_deref().and_then(|text| parsed.language(text, &origin));
        let (aliases, taken) = self.names.aliases(&self.tree, index, front);
        parsed.batch.aliases.extend(aliases.into_iter().map(|alias| (alias, page.id.clone())));
        for alias in taken {
            parsed.batch.losses.add(Loss::DuplicateRedirect, format!("{alias} → {}", page.id));
        }
        let body = front::split(&source).1;
        let plain = survey::prepared(body, SiteSyntax::of(&page.path), self.sections);
        let lines_before = source[..source.len() - body.len()].matches('\n').count();
        let PageContents { text, links, sections, heading, broken } =
            Writer::write(self, index, &plain, &mut parsed.batch.losses);
        for line in broken.lines(&plain).map(|line| lines_before + line) {
            parsed.batch.losses.add(Loss::BrokenMark, format!("{} ({origin}:{line})", page.id));
        }
        let title = front.title.clone().or(heading);
        let title = title.unwrap_or_else(|| self.file_title(index));
        let url = self.base.as_ref().map(|base| base.address(&page.id));
        let (id, labels) = (page.id.clone(), front.labels.clone());
        let whole =
            Document { id, title: Some(title), authors: Vec::new(), date, language, labels, url, text, links, origin };
        let outline = self.outline(index).map_or(&[][..], |outline| &outline.sections);
        let section = |(section, (text, links)): (&sections::MarkdownSection, (String, Vec<Link>))| {
            whole.section(&section.anchor, &section.name, text, links)
        };
        let sections: Vec<Document> = outline.iter().zip(sections).map(section).collect();
        parsed.batch.documents.push(whole);
        parsed.batch.documents.extend(sections);
    }
}

/// The contents of a page.
struct PageContents {
    text: String,
    links: Vec<Link>,
    /// The text and links of each section.
    sections: Vec<(String, Vec<Link>)>,
    heading: Option<String>,
    broken: BrokenMarks,
}

/// Writes down one page's text.
struct Writer<'a> {
    markdown: &'a Markdown,
    index: usize,
    losses: &'a mut Losses,
    text: LinkedText,
    /// The texts of the page and its sections, but for the one that is being written; its number; those around it.
    texts: Vec<LinkedText>,
    part: usize,
    around: Vec<usize>,
    /// Headings met.
    headings: usize,
    /// The heading is no part of the text.
    in_mark: bool,
    /// Shown if the open link has no words: what it leads to.
    named: Option<String>,
    /// The words of the open link stand where its target should, and the other way round: `[[words|page]]`.
    swapped: bool,
    /// The level-1 heading that opens the page: not yet met, being read, complete.
    heading: Option<String>,
    in_heading: bool,
    /// Images open around us.
    images: usize,
    in_code: bool,
    /// An open wiki link shows its target's name.
    wiki_name: bool,
    /// The open link is an embed of a note, `![[note]]`.
    in_embed: bool,
    block: String,
    broken: BrokenMarks,
}

impl<'a> Writer<'a> {
    fn write(markdown: &'a Markdown, index: usize, body: &str, losses: &'a mut Losses) -> PageContents {
        let sections = markdown.outline(index).map_or(0, |outline| outline.sections.len());
        let mut writer = Writer {
            markdown,
            index,
            losses,
            text: LinkedText::new(),
            texts: (0..=sections).map(|_| LinkedText::new()).collect(),
            part: 0,
            around: Vec::new(),
            headings: 0,
            in_mark: false,
            named: None,
            swapped: false,
            heading: None,
            in_heading: false,
            images: 0,
            in_code: false,
            wiki_name: false,
            in_embed: false,
            block: String::new(),
            broken: BrokenMarks::default(),
        };
        let mut events = Parser::new_ext(body, OPTIONS).into_offset_iter();
        while let Some((event, place)) = events.next() {
            if matches!(event, Event::InlineMath(_) | Event::DisplayMath(_))
                && writer.read_dollars(&body[place.clone()], events.reference_definitions())
            {
                continue;
            }
            if !writer.in_code && writer.images == 0 {
                writer.broken.take(body, &event, place.clone());
            }
            if writer.swap(&event, &body[place]) {
                continue;
            }
            writer.take(event);
        }
        writer.close_link();
        writer.go_to(0);
        let (text, links) = writer.text.finish();
        let sections = writer.texts.into_iter().skip(1).map(LinkedText::finish).collect();
        let heading = writer.heading.map(|words| collapsed(&words)).filter(|heading| !heading.is_empty());
        PageContents { text, links, sections, heading, broken: writer.broken }
    }

    /// Goes on with the text of another part.
    fn go_to(&mut self, part: usize) {
        self.close_link();
        if part == self.part {
            return;
        }
        let next = std::mem::replace(&mut self.texts[part], LinkedText::new());
        self.texts[self.part] = std::mem::replace(&mut self.text, next);
        self.part = part;
    }

    /// Goes on with the section that a heading begins or ends; whether it opens the page, if sections tell.
    fn enter(&mut self) -> Option<bool> {
        let step = *self.markdown.outline(self.index)?.steps.get(self.headings)?;
        self.headings += 1;
        match step {
            SectionStep::Title => return Some(true),
            SectionStep::Section(number) => {
                self.around.clear();
                self.go_to(number + 1);
            }
            SectionStep::Object(number) => {
                self.around.push(self.part);
                self.go_to(number + 1);
            }
            SectionStep::End => {
                let outer = self.around.pop().unwrap_or(0);
                self.go_to(outer);
                self.in_mark = true;
            }
        }
        Some(false)
    }

    /// A link of GitHub's wikis, `[[words|page]]`: opens it if its words name a page, and its target does not.
    fn swap(&mut self, event: &Event<'_>, source: &str) -> bool {
        let Event::Start(Tag::Link { link_type: LinkType::WikiLink { has_pothole: true }, dest_url, .. }) = event
        else {
            return false;
        };
        let Markdown { tree, names, .. } = self.markdown;
        let inner = source.strip_prefix("[[").and_then(|inner| inner.strip_suffix("]]"));
        let Some((words, page)) = inner.and_then(|inner| inner.split_once('|')) else { return false };
        let of_set = |name: &str| names.wiki(tree, self.index, name).filter(|found| found.page.is_some());
        if of_set(dest_url).is_some() {
            return false;
        }
        let Some(found) = of_set(page) else { return false };
        self.text.open_link(found.id);
        self.push(words);
        self.swapped = true;
        true
    }

    /// Reads what stands between dollars as text, if a link in it leads to a page of the set.
    fn read_dollars(&mut self, source: &str, definitions: &RefDefs<'_>) -> bool {
        if !source.contains('[') {
            return false;
        }
        let defined = |link: BrokenLink<'_>| {
            let address = definitions.get(&link.reference)?.dest.to_string();
            Some((CowStr::from(address), CowStr::from("")))
        };
        let text = OPTIONS - Options::ENABLE_MATH;
        let events: Vec<Event<'_>> = Parser::new_with_broken_link_callback(source, text, Some(defined)).collect();
        let leads = |event: &Event<'_>| match event {
            Event::Start(Tag::Link { link_type, dest_url, .. }) => self.target(*link_type, dest_url),
            _ => None,
        };
        if !events.iter().filter_map(leads).any(|found| found.page.is_some()) {
            return false;
        }
        for event in events {
            if !matches!(event, Event::Start(Tag::Paragraph) | Event::End(TagEnd::Paragraph)) {
                self.take(event);
            }
        }
        true
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(end) => self.end(end),
            Event::Text(_) | Event::Code(_) if self.swapped => {}
            Event::Text(words) if self.wiki_name => self.push(&words.replace('#', " ")),
            Event::Text(words) | Event::Code(words) | Event::InlineMath(words) => self.push(&words),
            Event::DisplayMath(words) => {
                self.text.break_line();
                self.push(&words);
                self.text.break_line();
            }
            Event::Html(markup) => self.block.push_str(&markup),
            Event::InlineHtml(markup) => self.html(&markup),
            Event::SoftBreak => self.push(" "),
            Event::HardBreak | Event::Rule => self.text.break_line(),
            Event::FootnoteReference(_) | Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Superscript | Tag::Subscript => {}
            Tag::Link { link_type, dest_url, .. } => self.open_link(link_type, &dest_url),
            Tag::Image { link_type, dest_url, .. } => {
                let embed = matches!(link_type, LinkType::WikiLink { .. });
                if embed && self.images == 0 && !self.text.in_link() {
                    self.open_link(link_type, &dest_url);
                    self.in_embed = self.text.in_link();
                    self.wiki_name &= self.in_embed;
                }
                // Of a file that is no page, an embed has the name between its brackets, not words.
                self.images += if self.text.in_link() && (!embed || self.in_embed) { 0 } else { 1 };
            }
            Tag::Heading { level, .. } => {
                let opens = level == HeadingLevel::H1 && self.text.is_empty();
                let opens = self.enter().unwrap_or(opens);
                self.text.break_line();
                if self.heading.is_none() && opens {
                    self.heading = Some(String::new());
                    self.in_heading = true;
                }
            }
            Tag::CodeBlock(_) => {
                self.text.break_line();
                self.in_code = true;
            }
            _ => self.text.break_line(),
        }
    }

    fn open_link(&mut self, kind: LinkType, target: &CowStr<'_>) {
        if let LinkType::WikiLink { has_pothole } = kind {
            self.wiki_name = !has_pothole;
        }
        if let Some(FoundTarget { id, page, by, heading }) = self.target(kind, target) {
            if let Some((loss, sample)) = by {
                self.losses.add(loss, sample);
            }
            self.text.open_link(id);
            self.named = match kind {
                LinkType::WikiLink { .. } => None,
                _ => heading.or_else(|| page.map(|page| self.markdown.title(page))),
            };
        }
    }

    /// Where a link leads; `None` if it is just text.
    fn target(&self, kind: LinkType, target: &str) -> Option<FoundTarget> {
        let Markdown { tree, names, base, sections, .. } = self.markdown;
        if *sections && let Some(part) = self.own_part(target) {
            return part;
        }
        let found = match kind {
            LinkType::WikiLink { .. } => names.wiki(tree, self.index, target),
            LinkType::Email => None,
            _ => names.resolve(tree, base.as_ref(), self.index, target),
        };
        let label = target.strip_prefix(LABEL).or_else(|| target.strip_prefix(OBJECT));
        let part = label.or_else(|| target.split_once('#').map(|(_, part)| part));
        match (found, part) {
            (Some(found), Some(part)) => Some(self.section(found, part)),
            (found, _) => found,
        }
    }

    /// Where a link to a part of this page leads: to no document, if that is the part it stands in; else `None`.
    #[expect(clippy::option_option, reason = "a link that is just text, and one that leads elsewhere")]
    fn own_part(&self, target: &str) -> Option<Option<FoundTarget>> {
        let Markdown { tree, names, .. } = self.markdown;
        let target = target.trim();
        let label = target.strip_prefix(LABEL);
        let object = || target.starts_with(OBJECT).then_some(target);
        let part = match label.or_else(object) {
            Some(label) => Some(label).filter(|label| names.page_of(label) == Some(self.index)),
            None => target.strip_prefix('#'),
        }?;
        let outline = self.markdown.outline(self.index)?;
        let found = outline.find(part).filter(|number| number + 1 != self.part);
        match (found, label.is_some() || target.starts_with(OBJECT)) {
            (Some(_), _) => Some(Some(self.section(FoundTarget::page(tree, self.index), part))),
            (None, true) => Some(None),
            // It may be a label of another page.
            (None, false) => None,
        }
    }

    /// The section of a page that a link leads to, if it leads to one.
    fn section(&self, found: FoundTarget, part: &str) -> FoundTarget {
        let Some((page, outline)) = found.page.and_then(|page| Some((page, self.markdown.outline(page)?))) else {
            return found;
        };
        match outline.find(part).map(|number| &outline.sections[number]) {
            Some(section) => FoundTarget {
                id: section_id(&self.markdown.tree.pages[page].id, &section.anchor),
                heading: Some(&section.name).filter(|name| name.len() <= LONGEST_SHOWN).cloned(),
                ..found
            },
            None => found,
        }
    }

    fn close_link(&mut self) {
        self.swapped = false;
        if let Some(name) = self.named.take().filter(|_| self.text.in_empty_link()) {
            self.push(&name);
        }
        self.text.close_link();
        self.wiki_name = false;
        self.in_embed = false;
    }

    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Superscript | TagEnd::Subscript => {}
            TagEnd::Link => self.close_link(),
            TagEnd::Image if self.in_embed => self.close_link(),
            TagEnd::Image => self.images = self.images.saturating_sub(1),
            TagEnd::Heading(_) => {
                self.text.break_line();
                (self.in_heading, self.in_mark) = (false, false);
            }
            TagEnd::CodeBlock => {
                self.in_code = false;
                self.text.break_line();
            }
            TagEnd::HtmlBlock => {
                let block = std::mem::take(&mut self.block);
                self.html(&block);
                self.text.break_line();
            }
            _ => self.text.break_line(),
        }
    }

    fn push(&mut self, words: &str) {
        if self.images > 0 || self.in_mark {
            return;
        }
        self.text.push(words, self.in_code);
        if self.in_heading
            && let Some(heading) = &mut self.heading
        {
            heading.push_str(words);
        }
    }

    /// The text of a piece of HTML: tags and comments gone, anchors kept as links.
    fn html(&mut self, markup: &str) {
        // A lone end tag opens nothing, so it leaves no event.
        if markup.trim_start().to_ascii_lowercase().starts_with("</a") {
            self.close_link();
        }
        let page = html::HtmlPage::read(markup);
        let mut index = 0;
        // A lone start tag is closed only where the piece ends: its link stays open for what follows.
        let lone = !markup.contains("</");
        while let Some(event) = page.events.get(index) {
            match *event {
                html::Event::Open { tag: html::Tag::Unseen | html::Tag::Button, .. } => index = page.close(index),
                html::Event::Open { tag, .. } => {
                    if !tag.is_inline() {
                        self.text.break_line();
                    }
                    if tag == html::Tag::H1 && !lone && self.heading.is_none() && self.text.is_empty() {
                        self.heading = Some(String::new());
                        self.in_heading = true;
                    }
                    let href = page.attribute(index, html::Key::Href).filter(|_| tag == html::Tag::A);
                    if let Some(href) = href {
                        self.open_link(LinkType::Inline, &href.into());
                    }
                }
                html::Event::Close { tag: html::Tag::A } if !lone => self.close_link(),
                html::Event::Close { tag: html::Tag::H1 } => self.end(TagEnd::Heading(HeadingLevel::H1)),
                html::Event::Close { tag } if !tag.is_inline() => self.text.break_line(),
                html::Event::Close { .. } => {}
                html::Event::Text { start, end } => {
                    let words = page.text(start, end).to_owned();
                    self.push(&words);
                }
            }
            index += 1;
        }
    }
}
