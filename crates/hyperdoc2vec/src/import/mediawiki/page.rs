//! One `<page>` of a dump, and the head of the dump: the XML, before any wikitext is read.
//!
//! quick-xml knows no entities but XML's own five, so nothing that a DTD defines is ever expanded.

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::titles::Wiki;

/// A page as it stands in a dump.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WikiPage {
    pub(super) title: String,
    pub(super) namespace: Option<i32>,
    /// The title it leads on to.
    pub(super) redirect: Option<String>,
    /// When its last revision was made.
    pub(super) timestamp: String,
    /// The content model of its text, if the dump has it.
    pub(super) model: String,
    pub(super) text: String,
}

impl WikiPage {
    /// Reads `<page>…</page>`; the error has what is wrong and the byte.
    pub(super) fn read(xml: &str) -> Result<WikiPage, (String, u64)> {
        let mut reader = Reader::from_str(xml);
        let mut page = WikiPage::default();
        let mut path: Vec<WikiElement> = Vec::new();
        let mut namespace = String::new();
        loop {
            let event = reader.read_event().map_err(|error| (error.to_string(), reader.error_position()))?;
            let wrong = |what: String| (what, reader.buffer_position());
            match event {
                Event::Start(tag) => {
                    let element = WikiElement::of(&tag, path.len());
                    // Of several revisions the last is the newest.
                    match element {
                        WikiElement::Title => page.title.clear(),
                        WikiElement::Namespace => namespace.clear(),
                        WikiElement::Timestamp => page.timestamp.clear(),
                        WikiElement::Model => page.model.clear(),
                        WikiElement::Text => page.text.clear(),
                        WikiElement::Redirect => page.redirect = Some(attribute(&tag, "title").map_err(wrong)?),
                        WikiElement::Other => {}
                    }
                    path.push(element);
                }
                Event::Empty(tag) => match WikiElement::of(&tag, path.len()) {
                    WikiElement::Redirect => page.redirect = Some(attribute(&tag, "title").map_err(wrong)?),
                    WikiElement::Text => page.text.clear(),
                    _ => {}
                },
                Event::End(_) => {
                    path.pop();
                }
                Event::Eof => break,
                event => {
                    let field = match path.last() {
                        Some(WikiElement::Title) => &mut page.title,
                        Some(WikiElement::Namespace) => &mut namespace,
                        Some(WikiElement::Timestamp) => &mut page.timestamp,
                        Some(WikiElement::Model) => &mut page.model,
                        Some(WikiElement::Text) => &mut page.text,
                        _ => continue,
                    };
                    match event {
                        Event::Text(text) => field.push_str(&text),
                        Event::CData(text) => field.push_str(&text),
                        Event::GeneralRef(entity) => push_entity(&entity, field).map_err(wrong)?,
                        _ => {}
                    }
                }
            }
        }
        if !path.is_empty() {
            return Err(("the page does not end".to_owned(), xml.len() as u64));
        }
        page.namespace = namespace.trim().parse().ok();
        Ok(page)
    }
}

/// Elements of a page that mean something to us, where they stand.
#[derive(Clone, Copy)]
enum WikiElement {
    Title,
    Namespace,
    Redirect,
    Timestamp,
    Model,
    Text,
    Other,
}

impl WikiElement {
    fn of(tag: &BytesStart<'_>, depth: usize) -> WikiElement {
        match (depth, tag.name().as_ref()) {
            (1, "title") => WikiElement::Title,
            (1, "ns") => WikiElement::Namespace,
            (1, "redirect") => WikiElement::Redirect,
            (2, "timestamp") => WikiElement::Timestamp,
            (2, "model") => WikiElement::Model,
            (2, "text") => WikiElement::Text,
            _ => WikiElement::Other,
        }
    }
}

fn push_entity(entity: &BytesRef<'_>, out: &mut String) -> Result<(), String> {
    let name: &str = entity;
    match (resolve_xml_entity(name), entity.resolve_char_ref()) {
        (Some(meaning), _) => out.push_str(meaning),
        (None, Ok(Some(character))) => out.push(character),
        _ => return Err(format!("unknown entity &{name};")),
    }
    Ok(())
}

/// An attribute without entities; empty if it is not there.
fn attribute(tag: &BytesStart<'_>, name: &str) -> Result<String, String> {
    let found = tag.try_get_attribute(name).map_err(|error| error.to_string())?;
    let Some(found) = found else { return Ok(String::new()) };
    let mut value = String::new();
    let text: &str = &found.value;
    let mut parts = text.split('&');
    value.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (entity, rest) = part.split_once(';').ok_or("an `&` that begins no entity")?;
        push_entity(&BytesRef::new(entity), &mut value)?;
        value.push_str(rest);
    }
    Ok(value)
}

/// Reads the head before the first page into `site`; the error has what was found in place of a dump.
pub(super) fn read_head(xml: &str, site: &mut Wiki) -> Result<(), String> {
    let mut reader = Reader::from_str(xml);
    // The head ends where the first page begins: nothing closes the root.
    let mut root = false;
    let mut field: Option<&str> = None;
    let mut text = String::new();
    let mut namespace = None;
    loop {
        match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) if !root => {
                let name = tag.name();
                if name.as_ref() != "mediawiki" {
                    return Err(format!("found <{}>", name.as_ref()));
                }
                root = true;
                site.language = Some(attribute(&tag, "xml:lang")?).filter(|language| !language.is_empty());
            }
            Ok(Event::Start(tag)) => {
                text.clear();
                field = match tag.name().as_ref() {
                    "base" => Some("base"),
                    "case" => Some("case"),
                    "namespace" => {
                        namespace = Some((attribute(&tag, "key")?, attribute(&tag, "case")?));
                        Some("namespace")
                    }
                    _ => None,
                };
            }
            Ok(Event::Empty(tag)) if tag.name().as_ref() == "namespace" => {
                name_namespace(site, &attribute(&tag, "key")?, "", &attribute(&tag, "case")?);
            }
            Ok(Event::Text(more))
                if !root && !more.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty() =>
            {
                let found: String = more.trim().chars().take(40).collect();
                return Err(format!("found text: {found:?}"));
            }
            Ok(Event::Text(more)) if field.is_some() => text.push_str(&more),
            Ok(Event::GeneralRef(entity)) if field.is_some() => push_entity(&entity, &mut text)?,
            Ok(Event::End(_)) => match field.take() {
                Some("base") => site.base = base(text.trim()),
                Some("case") => site.capital = text.trim() != "case-sensitive",
                Some("namespace") => {
                    let (key, case) = namespace.take().unwrap_or_default();
                    name_namespace(site, &key, text.trim(), &case);
                }
                _ => {}
            },
            Ok(Event::Eof) if root => return Ok(()),
            Ok(Event::Eof) => return Err("found no element at all".to_owned()),
            Ok(_) => {}
            Err(error) => return Err(format!("found malformed XML at byte {}: {error}", reader.error_position())),
        }
    }
}

fn name_namespace(site: &mut Wiki, key: &str, name: &str, case: &str) {
    let capital = match case {
        "" => site.capital,
        case => case != "case-sensitive",
    };
    if let Ok(number) = key.trim().parse() {
        site.add_namespace(number, name, capital);
    }
}

/// The address of the main page, without its title.
fn base(address: &str) -> Option<String> {
    let web = address.starts_with("https://") || address.starts_with("http://");
    let end = address.rfind(['/', '='])? + 1;
    (web && end > "https://".len()).then(|| address[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_page_are_read() {
        let page = WikiPage::read(
            "<page><title>A &amp; B</title><ns>4</ns><id>1</id><redirect title=\"C &quot;D&quot;\" />\
             <revision><id>2</id><timestamp>2001-01-01T00:00:00Z</timestamp><text>old</text></revision>\
             <revision><timestamp>2024-05-06T07:08:09Z</timestamp><contributor><username>text</username></contributor>\
             <comment>title</comment><model>wikitext</model>\
             <text bytes=\"9\" xml:space=\"preserve\">a &lt;ref&gt; &#x41;<![CDATA[<b>]]></text></revision></page>",
        );
        let page = page.expect("a page");
        assert_eq!((&*page.title, page.namespace), ("A & B", Some(4)));
        assert_eq!(page.redirect.as_deref(), Some("C \"D\""));
        assert_eq!((&*page.timestamp, &*page.model), ("2024-05-06T07:08:09Z", "wikitext"));
        assert_eq!(page.text, "a <ref> A<b>");
    }

    #[test]
    fn malformed_pages_are_refused_with_their_place() {
        for (xml, what) in [
            ("<page><title>A</titel></page>", "</title>"),
            ("<page><title>A</page>", "</title>"),
            ("<page><title>A &lol;</title></page>", "&lol;"),
            ("<page><title>A & B</title></page>", "reference"),
            ("<page><title>A", "does not end"),
        ] {
            let (message, at) = WikiPage::read(xml).expect_err("malformed");
            assert!(message.contains(what) && at <= xml.len() as u64, "{xml}: {message} at {at}");
        }
    }

    #[test]
    fn the_head_describes_the_wiki() {
        let mut site = Wiki::new(&[0]);
        let head = "\u{feff}<?xml version='1.0'?>\n<mediawiki xml:lang=\"de\"><siteinfo><sitename>W</sitename>\
            <base>https://de.wikipedia.org/wiki/Haupt%20seite</base><case>case-sensitive</case><namespaces>\
            <namespace key=\"0\" case=\"first-letter\" /><namespace key=\"14\" case=\"first-letter\">Kategorie</namespace>\
            </namespaces></siteinfo>\n  ";
        read_head(head, &mut site).expect("a head");
        assert_eq!((site.language.as_deref(), site.capital), (Some("de"), false));
        assert_eq!(site.base.as_deref(), Some("https://de.wikipedia.org/wiki/"));
        assert_eq!(site.namespace_of("kategorie:Tiere"), 14);
    }

    #[test]
    fn what_is_no_dump_is_told() {
        for (xml, what) in [
            ("<html><body>", "<html>"),
            ("616:10:AccessibleComputing\n", "616:10"),
            ("", "no element"),
            ("{\"id\": 1}", "id"),
            ("<mediawiki", "malformed"),
        ] {
            let error = read_head(xml, &mut Wiki::new(&[0])).expect_err("no dump");
            assert!(error.contains(what), "{xml}: {error}");
        }
    }
}
