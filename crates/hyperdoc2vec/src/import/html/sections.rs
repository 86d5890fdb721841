//! The sections of a page: headings and definitions that have an id, so that a link may lead to them.
//!
//! A section begins with a heading that has an id, on itself, on the element that it opens or on an empty element just
//! before it; or with a term of a list of definitions that has one, as Sphinx writes functions and classes. It goes up to
//! the end of the element that it opens (with rustdoc's items, of the box whose summary that is), of the list, or to the
//! next heading beside it; what sections inside it have is not its own. Ids of anything else belong to the section that
//! they stand in. The first `h1` is the page's own heading.

use std::collections::HashMap;

use super::content::{self, Region};
use crate::import::html_events::{Event, HtmlPage, Key, Tag};
use crate::import::tree::LONGEST_ANCHOR;
use crate::import::tree::href::decode;

/// The sections of one page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct HtmlOutline {
    /// In the order of their beginnings.
    pub(super) sections: Vec<HtmlSection>,
    /// The section that each id belongs to; `None` is the page itself.
    anchors: HashMap<String, Option<usize>>,
}

/// One section: the events of a page from its beginning to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HtmlSection {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The id that it is called by.
    pub(super) anchor: String,
    /// Its heading or term, with all that is in it.
    pub(super) heading: Region,
    pub(super) is_definition: bool,
}

/// A section that may still go on.
struct OpenSection {
    number: usize,
    /// The element whose end is its own.
    parent: usize,
    is_term: bool,
}

impl HtmlOutline {
    /// The sections of the content of a page.
    pub(super) fn read(page: &HtmlPage, content: Region) -> HtmlOutline {
        let mut outline = HtmlOutline::default();
        // Elements around the event, and sections.
        let mut around: Vec<usize> = Vec::new();
        let mut open: Vec<OpenSection> = Vec::new();
        // Ids of elements that opened since the last words.
        let mut fresh: Vec<(usize, &str)> = Vec::new();
        let (mut words, mut has_title, mut described) = (content.start, false, true);
        let mut index = content.start;
        while index < content.end {
            while around.last().is_some_and(|&element| page.close(element) <= index) {
                around.pop();
            }
            while open.last().is_some_and(|section| outline.sections[section.number].end <= index) {
                open.pop();
            }
            match page.events[index] {
                Event::Text { start, end } if !page.text(start, end).trim().is_empty() => {
                    let own = open.last().map(|section| section.number);
                    fresh.drain(..).for_each(|(_, id)| outline.call(id, own));
                    words = index;
                }
                Event::Open { tag, .. } => {
                    let own = content.named && index == content.start;
                    if !own && content::is_boilerplate(page, index, tag, content.named) {
                        index = page.close(index) + 1;
                        continue;
                    }
                    let name = || page.attribute(index, Key::Name).filter(|_| tag == Tag::A);
                    if let Some(id) = page.attribute(index, Key::Id).or_else(name).filter(|id| is_anchor(id)) {
                        fresh.push((index, id));
                    }
                    described |= tag == Tag::Dd;
                    let is_heading = matches!(tag, Tag::H1 | Tag::Heading);
                    let is_term = tag == Tag::Dt && page.attribute(index, Key::Id).is_some_and(is_anchor);
                    if is_heading || is_term {
                        let heading = Region { start: index, end: page.close(index), named: true };
                        fresh.extend(inner_ids(page, index));
                        let same = open.last().filter(|section| is_term && section.is_term && !described);
                        if is_heading && tag == Tag::H1 && !has_title && open.is_empty() {
                            has_title = true;
                            fresh.drain(..).for_each(|(_, id)| outline.call(id, None));
                        } else if let Some(same) = same.map(|section| section.number) {
                            // Another term with the same description.
                            fresh.drain(..).for_each(|(_, id)| outline.call(id, Some(same)));
                        } else if let Some(section) = begun(page, &around, &fresh, words, (heading, is_term)) {
                            let (section, parent) = section;
                            while open.last().is_some_and(|before| before.parent == parent) {
                                if let Some(before) = open.pop() {
                                    outline.sections[before.number].end = section.start;
                                }
                            }
                            let number = outline.sections.len();
                            outline.sections.push(section);
                            fresh.drain(..).for_each(|(_, id)| outline.call(id, Some(number)));
                            open.push(OpenSection { number, parent, is_term });
                            described = !is_term;
                        }
                        words = heading.end;
                        index = heading.end;
                        continue;
                    }
                    around.push(index);
                }
                _ => {}
            }
            index += 1;
        }
        let own = open.last().map(|section| section.number);
        fresh.into_iter().for_each(|(_, id)| outline.call(id, own));
        outline
    }

    fn call(&mut self, id: &str, section: Option<usize>) {
        self.anchors.entry(id.to_owned()).or_insert(section);
    }

    /// The section that a link leads to by the part of its address behind `#`; `None` is the page.
    pub(super) fn find(&self, fragment: &str) -> Option<&HtmlSection> {
        let found = self.anchors.get(fragment).or_else(|| self.anchors.get(&decode(fragment)));
        found.copied().flatten().map(|number| &self.sections[number])
    }
}

/// Whether an id can be called by links: many may copy it.
fn is_anchor(id: &str) -> bool {
    !id.is_empty() && id.len() <= LONGEST_ANCHOR
}

/// Ids inside an element.
fn inner_ids(page: &HtmlPage, element: usize) -> Vec<(usize, &str)> {
    let id = |index: usize| {
        let Event::Open { tag, .. } = page.events[index] else { return None };
        let name = || page.attribute(index, Key::Name).filter(|_| tag == Tag::A);
        Some((index, page.attribute(index, Key::Id).or_else(name)?)).filter(|(_, id)| is_anchor(id))
    };
    (element + 1..page.close(element)).filter_map(id).collect()
}

/// The section that a heading or a term begins, if it has an id, and the element that it ends with at the latest.
fn begun(
    page: &HtmlPage,
    around: &[usize],
    fresh: &[(usize, &str)],
    words: usize,
    (heading, is_definition): (Region, bool),
) -> Option<(HtmlSection, usize)> {
    let own = fresh.iter().find(|(element, _)| *element == heading.start);
    // The element that the heading opens, if it has an id.
    let opened = fresh.iter().rev().find(|(element, _)| {
        let tag = matches!(page.events[*element], Event::Open { tag: Tag::Section | Tag::Div | Tag::Article, .. });
        tag && around.contains(element)
    });
    let (_, anchor) = own.or(opened).or(fresh.last())?;
    let parent = around.last().copied().unwrap_or(0);
    let (start, end, parent) = match opened.filter(|_| !is_definition) {
        Some(&(element, _)) => {
            // The summary of a box stands for the box.
            let place = around.iter().position(|&other| other == element).unwrap_or(0);
            let boxes = around[..place].iter().rev().take_while(|&&outer| {
                outer > words && matches!(page.events[outer], Event::Open { tag: Tag::Block, .. })
            });
            let outer = boxes.last().copied().unwrap_or(element);
            (outer, page.close(outer), outer)
        }
        None => (heading.start, page.close(parent).max(heading.end), parent),
    };
    Some((HtmlSection { start, end, anchor: (*anchor).to_owned(), heading, is_definition }, parent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;

    fn outline(source: &str) -> HtmlOutline {
        let page = HtmlPage::read(source);
        HtmlOutline::read(&page, Region { start: 0, end: page.events.len(), named: true })
    }

    fn anchors(source: &str) -> Vec<String> {
        outline(source).sections.into_iter().map(|section| section.anchor).collect()
    }

    #[test]
    fn sections_are_called_by_ids_in_any_place_that_generators_choose() {
        assert_eq!(
            anchors("<h1 id=top>T</h1><p>a<h2 id=one>One</h2><p>b<h2>none</h2><h3 id=two>Two</h3>"),
            ["one", "two"]
        );
        assert_eq!(anchors("<h1>T</h1>x<section id=a><h2>A</h2>text</section><div id=b><h2>B</h2></div>"), ["a", "b"]);
        assert_eq!(anchors("<h1>T</h1>x<a name=old></a><h2>A</h2><h2><a id=in></a>B</h2>"), ["old", "in"]);
        assert_eq!(anchors("<h1>T</h1><dl><dt id=os.join>join(a)<dd>text<dt>no id<dd>x</dl>"), ["os.join"]);
    }

    #[test]
    fn every_id_leads_to_the_section_that_it_stands_in() {
        let outline = outline(
            "<h1 id=top>T</h1><p id=lead>x</p><section id=a><h2>A</h2><p id=deep>y</p>\
             <dl><dt id=f>f</dt><dt id=g>g</dt><dd><p id=in>z</dd></dl><p id=after>w</p></section><p id=end>v</p>",
        );
        let found = |id: &str| outline.find(id).map(|section| section.anchor.as_str());
        assert_eq!([found("top"), found("lead"), found("end"), found("none")], [None; 4]);
        assert_eq!([found("a"), found("deep"), found("after")], [Some("a"); 3]);
        assert_eq!([found("f"), found("g"), found("in")], [Some("f"); 3], "two terms share a description");
    }

    #[test]
    fn deep_and_long_pages_take_time_in_proportion() {
        for piece in ["<div id=a>", "<section id=a><h2>x</h2>", "<dl><dt id=a>x<dd>", "<h2 id=a>x</h2>", "<a id=b></a>"]
        {
            assert_linear(piece, 4_000, |pieces| drop(outline(&piece.repeat(pieces))));
        }
    }
}
