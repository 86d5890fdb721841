//! The sections of a page of Markdown: its headings, and the objects that reStructuredText describes.
//!
//! A section is called by the id that its heading gives (`## Words {#id}`), else as GitHub and most generators call it:
//! its words in lower case, dashes for blanks, without punctuation, and with a number if that was there before. It goes
//! up to the next heading. An object goes up to its end, where the text goes on that it stands in. The level-1 heading that
//! opens a page is the page's own.

use std::collections::HashMap;

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

use super::scheme::OBJECT;
use crate::draft::markdown::OPTIONS;
use crate::import::html_events::{self as html, HtmlPage};
use crate::import::text::collapsed;
use crate::import::tree::LONGEST_ANCHOR;
use crate::import::tree::href::decode;

/// The class of a heading that begins the description of an object.
pub(super) const OBJECT_CLASS: &str = "hd2v-object";
/// The class of a heading that ends one.
pub(super) const END_CLASS: &str = "hd2v-end";
/// Ends of a dotted name by which an object is found: `os.path.join`, `path.join`, `join`.
const MOST_ENDS: usize = 8;

/// The sections of one page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MarkdownOutline {
    pub(super) sections: Vec<MarkdownSection>,
    /// The part that each heading of the page plays, in order.
    pub(super) steps: Vec<SectionStep>,
    /// The section that each name belongs to; `None` is the page itself.
    anchors: HashMap<String, Option<usize>>,
}

/// One section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MarkdownSection {
    pub(super) anchor: String,
    pub(super) name: String,
}

/// The part that a heading plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionStep {
    /// It is the page's own.
    Title,
    /// A section begins.
    Section(usize),
    /// The description of an object begins.
    Object(usize),
    /// The description of an object ends.
    End,
}

impl MarkdownOutline {
    /// The sections of a page, made plain Markdown; `labels` stand before headings.
    pub(super) fn read(body: &str, labels: &[(String, Option<String>)]) -> MarkdownOutline {
        let mut outline = MarkdownOutline::default();
        let mut taken: HashMap<String, usize> = HashMap::new();
        // The heading being read: its step, its words.
        let mut open: Option<(SectionStep, String)> = None;
        let mut ids = Vec::new();
        let (mut is_text, mut current) = (false, None);
        for event in Parser::new_ext(body, OPTIONS) {
            match event {
                Event::Start(Tag::Heading { level, id, classes, .. }) => {
                    let has = |class: &str| classes.iter().any(|other| &**other == class);
                    let number = outline.sections.len();
                    let step = match () {
                        () if has(END_CLASS) => SectionStep::End,
                        () if level == HeadingLevel::H1 && !is_text && outline.steps.is_empty() => SectionStep::Title,
                        () if has(OBJECT_CLASS) => SectionStep::Object(number),
                        () => SectionStep::Section(number),
                    };
                    if let SectionStep::Section(_) | SectionStep::Object(_) = step {
                        let anchor =
                            id.map(|id| decode(&id)).filter(|id| id.len() <= LONGEST_ANCHOR).unwrap_or_default();
                        outline.sections.push(MarkdownSection { anchor, name: String::new() });
                        current = Some(number);
                    } else if let Some(id) = id {
                        outline.anchors.entry(id.to_string()).or_insert(None);
                    }
                    outline.steps.push(step);
                    outline.call(&mut ids, current);
                    open = Some((step, String::new()));
                }
                Event::End(TagEnd::Heading(_)) => {
                    if let Some((step, words)) = open.take() {
                        outline.finish(step, &collapsed(&words), &mut taken);
                    }
                }
                Event::Text(words) | Event::Code(words) => match &mut open {
                    Some((_, heading)) => heading.push_str(&words),
                    None => {
                        is_text |= !words.trim().is_empty();
                        outline.call(&mut ids, current);
                    }
                },
                Event::SoftBreak => {
                    if let Some((_, heading)) = &mut open {
                        heading.push(' ');
                    }
                }
                Event::Html(markup) | Event::InlineHtml(markup) => {
                    let page = HtmlPage::read(&markup);
                    for (index, event) in page.events.iter().enumerate() {
                        match event {
                            html::Event::Open { tag, .. } => {
                                let name = || page.attribute(index, html::Key::Name).filter(|_| *tag == html::Tag::A);
                                let id = page.attribute(index, html::Key::Id).or_else(name);
                                ids.extend(id.filter(|id| !id.is_empty()).map(str::to_owned));
                            }
                            html::Event::Text { start, end } => is_text |= !page.text(*start, *end).trim().is_empty(),
                            html::Event::Close { .. } => {}
                        }
                    }
                }
                _ => {}
            }
        }
        outline.call(&mut ids, current);
        for (label, heading) in labels.iter().filter(|(label, _)| !label.starts_with(OBJECT)) {
            let heading = heading.as_deref().map(|words| words.split(" {#").next().unwrap_or(words));
            let found = heading.and_then(|words| outline.anchors.get(&slug(words)).copied().flatten());
            outline.anchors.entry(label.to_lowercase()).or_insert(found);
        }
        outline
    }

    /// Gives ids to a section, unless they have one.
    fn call(&mut self, ids: &mut Vec<String>, section: Option<usize>) {
        for id in ids.drain(..) {
            self.anchors.entry(id).or_insert(section);
        }
    }

    /// Gives a heading its name, and the section that it begins.
    fn finish(&mut self, step: SectionStep, words: &str, taken: &mut HashMap<String, usize>) {
        let slug = Some(slug(words)).filter(|slug| !slug.is_empty()).unwrap_or_else(|| "section".to_owned());
        // The name of an object may be too long to call it by.
        let step = match step {
            SectionStep::Object(number) if self.sections[number].anchor.is_empty() => SectionStep::Section(number),
            step => step,
        };
        match step {
            SectionStep::End => {}
            SectionStep::Title => {
                taken.insert(slug.clone(), 1);
                self.anchors.entry(slug).or_insert(None);
            }
            SectionStep::Section(number) => {
                let before = taken.entry(slug.clone()).and_modify(|count| *count += 1).or_insert(1);
                let slug = if *before == 1 { slug } else { format!("{slug}-{}", *before - 1) };
                let section = &mut self.sections[number];
                words.clone_into(&mut section.name);
                if section.anchor.is_empty() {
                    section.anchor.clone_from(&slug);
                }
                let anchor = section.anchor.clone();
                self.anchors.entry(anchor).or_insert(Some(number));
                self.anchors.entry(slug).or_insert(Some(number));
            }
            SectionStep::Object(number) => {
                let anchor = self.sections[number].anchor.clone();
                let lower = anchor.to_lowercase();
                let ends = lower.match_indices('.').map(|(at, _)| &lower[at + 1..]);
                for name in [anchor.as_str(), &lower].into_iter().chain(ends.take(MOST_ENDS)) {
                    self.anchors.entry(name.to_owned()).or_insert(Some(number));
                }
                self.sections[number].name = anchor;
            }
        }
    }

    /// The number of the section that a name of a part means; `None` is the page.
    pub(super) fn find(&self, part: &str) -> Option<usize> {
        let part = decode(part);
        let part = part.strip_prefix(OBJECT).unwrap_or(&part);
        // Obsidian writes the headings on the way: `#Part#Sub`.
        let last = part.rsplit('#').next().unwrap_or(part).trim();
        let found = self.anchors.get(last).or_else(|| self.anchors.get(&last.to_lowercase()));
        found.or_else(|| self.anchors.get(&slug(last))).copied().flatten()
    }
}

/// Words as most generators make an anchor of them; of very long ones the beginning.
pub(super) fn slug(words: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
    let words = words.trim().chars().take(LONGEST_ANCHOR / 4).flat_map(char::to_lowercase);
    words.filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;

    fn outline(body: &str) -> MarkdownOutline {
        MarkdownOutline::read(body, &[])
    }

    #[test]
    fn sections_are_called_as_generators_call_them() {
        let body = "# Page\ntext\n## What's *new*, in `1.0`?\n## Notes {#own}\n### Notes\n## Notes\n";
        let outline = outline(body);
        let anchors: Vec<&str> = outline.sections.iter().map(|section| &*section.anchor).collect();
        assert_eq!(anchors, ["whats-new-in-10", "own", "notes-1", "notes-2"]);
        assert_eq!(
            outline.steps,
            [
                SectionStep::Title,
                SectionStep::Section(0),
                SectionStep::Section(1),
                SectionStep::Section(2),
                SectionStep::Section(3)
            ]
        );
        let found = |part: &str| outline.find(part);
        assert_eq!([found("page"), found("nothing")], [None; 2]);
        assert_eq!(
            [found("What's new, in 1.0?"), found("whats-new-in-10"), found("Page#Whats New in 10")],
            [Some(0); 3]
        );
        assert_eq!([found("own"), found("Notes"), found("notes-2")], [Some(1), Some(1), Some(3)]);
    }

    #[test]
    fn labels_and_anchors_belong_to_the_section_they_stand_in_or_before() {
        let body = "# Page\n<a id=\"lead\"></a>x\n\n<a name=\"before\"></a>\n\n## Part\ny <span id=\"in\">z</span>\n";
        let labels = [("far".to_owned(), Some("Part {#x}".to_owned())), ("top".to_owned(), Some("Page".to_owned()))];
        let outline = MarkdownOutline::read(body, &labels);
        let found = |part: &str| outline.find(part);
        assert_eq!([found("lead"), found("top")], [None; 2]);
        assert_eq!([found("before"), found("in"), found("far"), found("FAR")], [Some(0); 4]);
    }

    #[test]
    fn odd_pages_take_time_in_proportion() {
        for piece in ["# a\n", "## a {#b}\n", "<a id=x></a>\n\n", "###### x {#a.b .hd2v-object}\n", "a.", "<a id=x>"] {
            assert_linear(piece, 4_000, |pieces| drop(outline(&piece.repeat(pieces))));
        }
        assert_linear("a dotted name", 50_000, |n| {
            drop(outline(&format!("## x {{#{} .hd2v-object}}\n", "a.".repeat(n))))
        });
    }
}
