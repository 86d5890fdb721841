//! A page as a flat list of events: an element opens, text, an element closes.
//!
//! The tokens are those of the HTML standard (html5gum). Of its tree rules we keep what decides where an element ends:
//! void elements, implied ends (`p`, `li`, `td`, …), stray and crossing end tags. A flat list has no depth, so nothing
//! here recurses; nesting beyond [`DEEPEST`] is flattened, as browsers do. Work and memory are linear in the input.

use html5gum::Tokenizer;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};

/// Elements nested deeper lose their structure, not their text.
const DEEPEST: usize = 512;

/// Elements that mean something to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    A,
    Article,
    Aside,
    Base,
    Body,
    Br,
    Button,
    /// A container without a meaning of its own: `div`, `center`, …
    Div,
    Dd,
    Dl,
    Dt,
    Footer,
    H1,
    /// `h2` to `h6`.
    Heading,
    Head,
    Header,
    Html,
    Img,
    Li,
    Link,
    /// `ul`, `ol`, `menu`, `dir`.
    List,
    Main,
    Meta,
    Nav,
    /// Another block element.
    Block,
    /// An element whose text is not shown, or is no prose.
    Unseen,
    P,
    Pre,
    Section,
    Table,
    Td,
    Title,
    Tr,
    /// An inline element without content.
    Void,
    /// Any other element; inline.
    Inline,
}

impl Tag {
    fn read(name: &[u8]) -> Tag {
        match name {
            b"a" => Tag::A,
            b"article" => Tag::Article,
            b"aside" => Tag::Aside,
            b"base" => Tag::Base,
            b"body" => Tag::Body,
            b"br" | b"hr" => Tag::Br,
            b"button" => Tag::Button,
            b"center" | b"div" | b"form" => Tag::Div,
            b"dd" => Tag::Dd,
            b"dl" => Tag::Dl,
            b"dt" => Tag::Dt,
            b"footer" => Tag::Footer,
            b"h1" => Tag::H1,
            b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => Tag::Heading,
            b"head" => Tag::Head,
            b"header" => Tag::Header,
            b"html" => Tag::Html,
            b"img" => Tag::Img,
            b"li" => Tag::Li,
            b"link" => Tag::Link,
            b"ul" | b"ol" | b"menu" | b"dir" => Tag::List,
            b"main" => Tag::Main,
            b"meta" => Tag::Meta,
            b"nav" => Tag::Nav,
            b"address" | b"blockquote" | b"caption" | b"details" | b"fieldset" | b"figcaption" | b"figure"
            | b"hgroup" | b"legend" | b"summary" | b"tbody" | b"tfoot" | b"thead" => Tag::Block,
            b"annotation" | b"annotation-xml" | b"audio" | b"canvas" | b"datalist" | b"dialog" | b"iframe"
            | b"noframes" | b"noscript" | b"object" | b"script" | b"select" | b"style" | b"svg" | b"template"
            | b"textarea" | b"video" => Tag::Unseen,
            b"p" => Tag::P,
            b"pre" => Tag::Pre,
            b"section" => Tag::Section,
            b"table" => Tag::Table,
            b"td" | b"th" => Tag::Td,
            b"title" => Tag::Title,
            b"tr" => Tag::Tr,
            b"area" | b"col" | b"embed" | b"frame" | b"input" | b"param" | b"source" | b"track" | b"wbr" => Tag::Void,
            _ => Tag::Inline,
        }
    }

    fn is_void(self) -> bool {
        matches!(self, Tag::Base | Tag::Br | Tag::Img | Tag::Link | Tag::Meta | Tag::Void)
    }

    /// Whether the element stands in a line of text; any other parts words.
    pub(super) fn is_inline(self) -> bool {
        matches!(
            self,
            Tag::A | Tag::Button | Tag::Img | Tag::Inline | Tag::Void | Tag::Unseen | Tag::Link | Tag::Meta | Tag::Base
        )
    }
}

/// Attributes that mean something to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Access,
    Alt,
    AriaHidden,
    Class,
    Content,
    Href,
    HttpEquiv,
    Id,
    Lang,
    Name,
    Rel,
    Role,
    XmlLang,
}

impl Key {
    fn read(name: &[u8]) -> Option<Key> {
        Some(match name {
            b"accesskey" => Key::Access,
            b"alt" => Key::Alt,
            b"aria-hidden" => Key::AriaHidden,
            b"class" => Key::Class,
            b"content" => Key::Content,
            b"href" => Key::Href,
            b"http-equiv" => Key::HttpEquiv,
            b"id" => Key::Id,
            b"lang" => Key::Lang,
            b"name" | b"property" | b"itemprop" => Key::Name,
            b"rel" => Key::Rel,
            b"role" => Key::Role,
            b"xml:lang" => Key::XmlLang,
            _ => return None,
        })
    }
}

/// One step through a page.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    /// An element begins; `close` is the index of the event that ends it.
    Open { tag: Tag, attributes: u32, close: u32 },
    /// An element ends.
    Close { tag: Tag },
    /// Text, as a range of the page's strings.
    Text { start: u32, end: u32 },
}

/// The events of a page and the strings they name.
#[derive(Default)]
pub(super) struct HtmlPage {
    pub(super) events: Vec<Event>,
    strings: String,
    /// Key and range of each attribute; those of an element follow each other.
    attributes: Vec<(Key, u32, u32)>,
}

struct Open {
    tag: Tag,
    /// Distinguishes the elements that share a [`Tag`].
    name: u64,
    event: usize,
}

#[derive(Default)]
struct HtmlPageBuilder {
    page: HtmlPage,
    stack: Vec<Open>,
    /// Elements opened beyond [`DEEPEST`] and not yet closed.
    beyond: usize,
    tag: Option<(Tag, u64)>,
    key: Option<Key>,
    first_attribute: u32,
}

impl HtmlPage {
    /// Reads a page's source; whatever it is, something comes out.
    pub(super) fn read(source: &str) -> HtmlPage {
        let mut builder = HtmlPageBuilder::default();
        let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _span: html5gum::Span<()>| -> Option<()> {
            builder.take(event);
            None
        });
        emitter.naively_switch_states(true);
        Tokenizer::new_with_emitter(source, emitter).for_each(drop);
        while !builder.stack.is_empty() {
            builder.pop();
        }
        builder.page
    }

    /// The text of a [`Event::Text`].
    pub(super) fn text(&self, start: u32, end: u32) -> &str {
        self.strings.get(start as usize..end as usize).unwrap_or_default()
    }

    /// An attribute of the element that opened at event `index`.
    pub(super) fn attribute(&self, index: usize, key: Key) -> Option<&str> {
        let Some(Event::Open { attributes, .. }) = self.events.get(index) else { return None };
        let (first, count) = (*attributes as usize >> 4, *attributes as usize & 15);
        let found = self.attributes.get(first..first + count)?.iter().find(|(found, _, _)| *found == key)?;
        Some(self.text(found.1, found.2))
    }

    /// Where the element that opened at event `index` ends.
    pub(super) fn close(&self, index: usize) -> usize {
        match self.events.get(index) {
            Some(Event::Open { close, .. }) => *close as usize,
            _ => index,
        }
    }
}

impl HtmlPageBuilder {
    fn take(&mut self, event: CallbackEvent<'_>) {
        // Offsets are 32 bits wide with four to spare; a page is cut where they end.
        if self.page.strings.len() > (u32::MAX >> 1) as usize || self.page.attributes.len() > (u32::MAX >> 5) as usize {
            return;
        }
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag = Some((Tag::read(name), hash(name)));
                self.key = None;
                self.first_attribute = self.page.attributes.len() as u32;
            }
            CallbackEvent::AttributeName { name } => {
                self.key = self.tag.and_then(|_| Key::read(name));
            }
            CallbackEvent::AttributeValue { value } => {
                if let Some(key) = self.key.take()
                    && self.page.attributes.len() as u32 - self.first_attribute < 15
                {
                    let (start, end) = self.keep(value);
                    self.page.attributes.push((key, start, end));
                }
            }
            CallbackEvent::CloseStartTag { self_closing } => {
                if let Some((tag, name)) = self.tag.take() {
                    self.start(tag, name, self_closing);
                }
            }
            CallbackEvent::EndTag { name } => {
                self.tag = None;
                self.end(Tag::read(name), hash(name));
            }
            CallbackEvent::String { value } => {
                let (start, end) = self.keep(value);
                self.page.events.push(Event::Text { start, end });
            }
            CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {}
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> (u32, u32) {
        let start = self.page.strings.len();
        self.page.strings.push_str(&String::from_utf8_lossy(bytes));
        (start as u32, self.page.strings.len() as u32)
    }

    fn start(&mut self, tag: Tag, name: u64, self_closing: bool) {
        match tag {
            // An anchor inside an anchor ends the outer one.
            Tag::A => self.end(tag, name),
            Tag::Li => self.imply(&[Tag::Li], &[Tag::List]),
            Tag::Dd | Tag::Dt => self.imply(&[Tag::Dd, Tag::Dt], &[Tag::Dl]),
            Tag::Td => self.imply(&[Tag::Td], &[Tag::Table, Tag::Tr]),
            Tag::Tr => self.imply(&[Tag::Tr], &[Tag::Table]),
            Tag::Body => self.imply(&[Tag::Head], &[Tag::Body]),
            _ => {}
        }
        if !tag.is_inline() && tag != Tag::Br {
            self.imply_paragraph();
        }
        let void = tag.is_void() || (self_closing && tag == Tag::Inline);
        let deepest = if tag == Tag::A { 2 * DEEPEST } else { DEEPEST };
        if !void && self.stack.len() >= deepest {
            self.beyond += 1;
            return;
        }
        let event = self.page.events.len();
        let count = self.page.attributes.len() as u32 - self.first_attribute;
        self.page.events.push(Event::Open { tag, attributes: self.first_attribute << 4 | count, close: event as u32 });
        self.stack.push(Open { tag, name, event });
        if void {
            self.pop();
        }
    }

    fn end(&mut self, tag: Tag, name: u64) {
        if tag.is_void() {
            return;
        }
        if self.beyond > 0 && tag != Tag::A {
            self.beyond -= 1;
            return;
        }
        // A cell keeps what is inside it from closing what is outside.
        let walls: &[Tag] = if matches!(tag, Tag::Table | Tag::Tr | Tag::Block | Tag::Heading | Tag::Body | Tag::Html) {
            &[]
        } else {
            &[Tag::Td]
        };
        let found = self.stack.iter().rposition(|open| open.name == name || walls.contains(&open.tag));
        let Some(at) = found.filter(|&at| self.stack[at].name == name) else { return };
        if tag.is_inline() && self.stack[at + 1..].iter().any(|open| !open.tag.is_inline()) {
            // The end tag crosses blocks that stay open: only the inline element ends.
            let open = self.stack.remove(at);
            self.close(&open);
        } else {
            while self.stack.len() > at {
                self.pop();
            }
        }
    }

    /// Ends the nearest of `tags`, if none of `walls` stands between.
    fn imply(&mut self, tags: &[Tag], walls: &[Tag]) {
        let found = self.stack.iter().rposition(|open| tags.contains(&open.tag) || walls.contains(&open.tag));
        if let Some(at) = found.filter(|&at| tags.contains(&self.stack[at].tag)) {
            while self.stack.len() > at {
                self.pop();
            }
        }
    }

    /// Ends an open paragraph that has only inline elements open inside.
    fn imply_paragraph(&mut self) {
        let block = self.stack.iter().rposition(|open| !open.tag.is_inline());
        if let Some(at) = block.filter(|&at| self.stack[at].tag == Tag::P) {
            while self.stack.len() > at {
                self.pop();
            }
        }
    }

    fn pop(&mut self) {
        if let Some(open) = self.stack.pop() {
            self.close(&open);
        }
    }

    fn close(&mut self, open: &Open) {
        let here = self.page.events.len() as u32;
        if let Some(Event::Open { close, .. }) = self.page.events.get_mut(open.event) {
            *close = here;
        }
        self.page.events.push(Event::Close { tag: open.tag });
    }
}

/// FNV-1a: names are short and only compared with each other.
fn hash(name: &[u8]) -> u64 {
    name.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tags and text in order, `<Tag … >`.
    fn shape(source: &str) -> String {
        let page = HtmlPage::read(source);
        let show = |event: &Event| match *event {
            Event::Open { tag, .. } => format!("<{tag:?} "),
            Event::Close { .. } => ">".to_owned(),
            Event::Text { start, end } => page.text(start, end).trim().to_owned(),
        };
        page.events.iter().map(show).collect()
    }

    #[test]
    fn ends_are_implied() {
        assert_eq!(shape("<p>a<p>b<div>c</div>"), "<P a><P b><Div c>");
        assert_eq!(shape("<ul><li>a<ul><li>b</ul><li>c</ul>d"), "<List <Li a<List <Li b>>><Li c>>d");
        assert_eq!(shape("<table><tr><td>a<td>b<tr><td>c</table>d"), "<Table <Tr <Td a><Td b>><Tr <Td c>>>d");
        assert_eq!(shape("<a href=x>b<a href=y>c"), "<A b><A c>");
        assert_eq!(shape("<dl><dt>a<dd>b<dt>c</dl>"), "<Dl <Dt a><Dd b><Dt c>>");
    }

    #[test]
    fn stray_and_crossing_end_tags_do_no_harm() {
        assert_eq!(shape("a</div></p>b"), "ab");
        assert_eq!(shape("<div><a>b<div>c</a>d</div>e</div>"), "<Div <A b<Div c>d>e>");
        assert_eq!(shape("<div><table><tr><td>a</div>b</td></table>c</div>"), "<Div <Table <Tr <Td ab>>>c>");
    }

    #[test]
    fn depth_is_bounded() {
        let page = HtmlPage::read(&format!("{}x{}y", "<div>".repeat(100_000), "</div>".repeat(100_000)));
        assert_eq!(page.events.len(), 2 * DEEPEST + 2);
    }
}
