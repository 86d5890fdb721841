//! One article's XML as a small tree: elements by their local names, texts with entities resolved.
//!
//! The article is read from its own start tag on, so that what a document type declares before it is never seen:
//! entities are those of XML and HTML, and none can expand into others.
//!
//! Ours, not roxmltree: that refuses HTML's entities, prefixes declared outside the article, a stray `&` and anything
//! after the article, and reads 165 to 180 MB/s where this reads 285 to 315 (1,000 papers of `bench/article-xml`).

use std::borrow::Cow;

use html5gum::{Token, Tokenizer};
use quick_xml::Reader;
use quick_xml::escape::{resolve_xml_entity, unescape_with};
use quick_xml::events::attributes::Attributes;
use quick_xml::events::{BytesRef, Event};

use crate::import::text::collapsed;

/// Elements may stand in one another to this depth.
const DEEPEST: usize = 200;

/// An article that is not well-formed: the reason, and the byte at which it shows.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::import) struct XmlError {
    pub(in crate::import) at: usize,
    pub(in crate::import) what: String,
}

/// An element tree.
#[derive(Debug)]
pub(in crate::import) struct XmlTree<'a> {
    nodes: Vec<XmlNode<'a>>,
    /// Entities that nothing is known of: they are left out.
    pub(in crate::import) unknown: Vec<String>,
}

#[derive(Debug)]
struct XmlNode<'a> {
    what: XmlContent<'a>,
    /// The number of the node after this one and all that it holds.
    end: usize,
}

#[derive(Debug)]
enum XmlContent<'a> {
    /// Local name, and the tag with the length of its whole name.
    Element(&'a str, &'a str, usize),
    Text(Cow<'a, str>),
}

/// An element of a tree.
#[derive(Debug, Clone, Copy)]
pub(in crate::import) struct XmlElement<'t> {
    tree: &'t XmlTree<'t>,
    number: usize,
}

/// A child of an element.
pub(in crate::import) enum XmlChild<'t> {
    Element(XmlElement<'t>),
    Text(&'t str),
}

impl<'a> XmlTree<'a> {
    /// Reads the element with which `source` begins; what follows it is not looked at.
    pub(in crate::import) fn parse(source: &'a str) -> Result<XmlTree<'a>, XmlError> {
        let mut reader = Reader::from_str(source);
        reader.config_mut().allow_dangling_amp = true;
        let mut tree = XmlTree { nodes: Vec::with_capacity(source.len() / 64), unknown: Vec::new() };
        let mut open: Vec<usize> = Vec::new();
        loop {
            let at = reader.buffer_position() as usize;
            let event = reader.read_event().map_err(|error| {
                let at = reader.error_position() as usize;
                XmlError { at, what: error.to_string() }
            })?;
            let empty = matches!(event, Event::Empty(_));
            match event {
                Event::Start(tag) | Event::Empty(tag) => {
                    let length = tag.name().0.len();
                    let end = reader.buffer_position() as usize;
                    let whole = &source[at + 1..end - 1];
                    let name = &whole[..length];
                    let local = name.rsplit(':').next().unwrap_or(name);
                    tree.nodes
                        .push(XmlNode { what: XmlContent::Element(local, whole, length), end: tree.nodes.len() + 1 });
                    if !empty {
                        if open.len() == DEEPEST {
                            return Err(XmlError { at, what: format!("elements stand {DEEPEST} deep in one another") });
                        }
                        open.push(tree.nodes.len() - 1);
                    } else if open.is_empty() {
                        return Ok(tree);
                    }
                }
                Event::End(_) => {
                    let length = tree.nodes.len();
                    if let Some(number) = open.pop() {
                        tree.nodes[number].end = length;
                    }
                    if open.is_empty() {
                        return Ok(tree);
                    }
                }
                Event::Text(text) => tree.push_text(text.into_inner()),
                Event::CData(text) => tree.push_text(text.into_inner()),
                Event::GeneralRef(entity) => tree.push_entity(&entity),
                Event::Eof => {
                    return Err(XmlError { at, what: "the file ends within the article".to_owned() });
                }
                Event::Comment(_) | Event::PI(_) | Event::Decl(_) | Event::DocType(_) => {}
            }
        }
    }

    fn push_text(&mut self, text: Cow<'a, str>) {
        if !text.is_empty() {
            let end = self.nodes.len() + 1;
            self.nodes.push(XmlNode { what: XmlContent::Text(text), end });
        }
    }

    fn push_entity(&mut self, entity: &BytesRef<'_>) {
        if let Ok(Some(c)) = entity.resolve_char_ref() {
            self.push_text(Cow::Owned(c.to_string()));
        } else if let Some(text) = resolve_xml_entity(&entity.xml10_content()) {
            self.push_text(Cow::Borrowed(text));
        } else if let Some(text) = html_entity(&entity.xml10_content()) {
            self.push_text(Cow::Owned(text));
        } else {
            self.unknown.push(entity.xml10_content().into_owned());
        }
    }

    /// The element that was read.
    pub(in crate::import) fn root(&self) -> XmlElement<'_> {
        XmlElement { tree: self, number: 0 }
    }
}

impl<'t> XmlElement<'t> {
    /// Its name without a prefix.
    pub(in crate::import) fn name(self) -> &'t str {
        match self.tree.nodes[self.number].what {
            XmlContent::Element(name, ..) => name,
            XmlContent::Text(_) => "",
        }
    }

    /// The value of an attribute, called with or without a prefix.
    pub(in crate::import) fn attribute(self, wanted: &str) -> Option<Cow<'t, str>> {
        let XmlContent::Element(_, tag, length) = self.tree.nodes[self.number].what else { return None };
        for attribute in Attributes::new(tag, length).with_checks(false).flatten() {
            if attribute.key.0.rsplit(':').next() == Some(wanted) {
                let value = match attribute.value {
                    Cow::Borrowed(value) => value,
                    Cow::Owned(_) => return None,
                };
                let resolved = unescape_with(value, resolve_xml_entity);
                return Some(resolved.unwrap_or(Cow::Borrowed(value)));
            }
        }
        None
    }

    /// Whether an attribute has this value.
    pub(in crate::import) fn is(self, attribute: &str, value: &str) -> bool {
        self.attribute(attribute).is_some_and(|found| found.eq_ignore_ascii_case(value))
    }

    /// Elements and texts right below it.
    pub(in crate::import) fn children(self) -> impl Iterator<Item = XmlChild<'t>> {
        let XmlElement { tree, number } = self;
        let end = tree.nodes[number].end;
        let mut next = number + 1;
        std::iter::from_fn(move || {
            let number = next;
            let node = tree.nodes[..end].get(number)?;
            next = node.end;
            Some(match &node.what {
                XmlContent::Element(..) => XmlChild::Element(XmlElement { tree, number }),
                XmlContent::Text(text) => XmlChild::Text(text),
            })
        })
    }

    /// Elements right below it.
    pub(in crate::import) fn elements(self) -> impl Iterator<Item = XmlElement<'t>> {
        self.children().filter_map(|child| match child {
            XmlChild::Element(element) => Some(element),
            XmlChild::Text(_) => None,
        })
    }

    /// Elements of this name right below it.
    pub(in crate::import) fn all(self, name: &str) -> impl Iterator<Item = XmlElement<'t>> {
        self.elements().filter(move |element| element.name() == name)
    }

    /// The first element that these names lead to.
    pub(in crate::import) fn find(self, path: &[&str]) -> Option<XmlElement<'t>> {
        match path {
            [] => Some(self),
            [name, rest @ ..] => self.all(name).find_map(|element| element.find(rest)),
        }
    }

    /// Every element below it, at any depth, in the order of the text.
    pub(in crate::import) fn below(self) -> impl Iterator<Item = XmlElement<'t>> {
        let XmlElement { tree, number } = self;
        let elements = number + 1..tree.nodes[number].end;
        elements
            .filter(|&at| matches!(tree.nodes[at].what, XmlContent::Element(..)))
            .map(|number| XmlElement { tree, number })
    }

    /// All text in it, white space collapsed.
    pub(in crate::import) fn text(self) -> String {
        let mut text = String::new();
        for node in &self.tree.nodes[self.number..self.tree.nodes[self.number].end] {
            if let XmlContent::Text(piece) = &node.what {
                text.push_str(piece);
            }
        }
        collapsed(&text)
    }
}

/// The text of an entity of HTML: `alpha`, `eacute`.
fn html_entity(name: &str) -> Option<String> {
    let written = format!("&{name};");
    let mut text = String::new();
    for Ok(token) in Tokenizer::new(&written) {
        if let Token::String(piece) = token {
            text.push_str(&String::from_utf8_lossy(&piece));
        }
    }
    (text != written).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_read_with_names_attributes_and_texts() {
        let tree = XmlTree::parse(
            "<j:a x:id='1&lt;2' b=\"é\"><b/>t&amp;&alpha;&#65;<![CDATA[<c>]]><!-- no --><b n='2'/></j:a>junk <",
        )
        .expect("a tree");
        let root = tree.root();
        assert_eq!((root.name(), root.attribute("id").as_deref(), root.attribute("n")), ("a", Some("1<2"), None));
        assert_eq!(root.text(), "t&αA<c>");
        assert_eq!(root.all("b").count(), 2);
        assert!(root.below().nth(1).is_some_and(|b| b.is("n", "2")));
        assert_eq!(XmlTree::parse("<a/>x").expect("a tree").root().name(), "a");
    }

    #[test]
    fn unknown_entities_are_left_out_and_named() {
        let tree = XmlTree::parse("<a>x &lol9; & y</a>").expect("a tree");
        assert_eq!((tree.root().text().as_str(), tree.unknown.as_slice()), ("x & y", &["lol9".to_owned()][..]));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let wrong = |source: &str| XmlTree::parse(source).map(|_| ()).expect_err("wrong");
        assert_eq!(wrong("<a><b></a>").at, 6);
        assert!(wrong("<a>text").what.contains("ends within"));
        assert!(wrong("").what.contains("ends within"));
        assert!(wrong(&"<a>".repeat(1000)).what.contains("200 deep"));
    }
}
