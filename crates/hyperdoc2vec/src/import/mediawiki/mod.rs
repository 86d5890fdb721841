//! Dumps of MediaWiki (`pages-articles.xml`, as Wikipedia publishes them): one document a page of the main namespace.
//!
//! `dump` cuts a dump into batches of pages, `page` reads the XML of one, `strip` and `text` its wikitext, `titles` knows
//! what a link leads to. Each page is read by itself, so any number of threads gives the same documents.
//!
//! | in the wikitext | becomes |
//! |---|---|
//! | `[[Target\|words]]`, `[[target]]s`, `[[Foo (bar)\|]]`, `[[Target#part]]` | a link with its words |
//! | `[[#part]]`, `[[wikt:dog]]`, `[[:Category:Dogs]]`, `[[User:A]]` | text |
//! | `[[Category:Dogs]]` | a label |
//! | `[[File:…]]`, `[[fr:…]]`, `{{…}}`, `{\| … \|}`, `<ref>`, `<math>`, `<gallery>`, comments | nothing |
//! | `[http://… words]` | words |
//!
//! A redirect is an alias. The corpus builder resolves aliases, chains of them too, and counts those that lead nowhere.

mod dump;
pub(super) mod entities;
mod page;
mod prefixes;
mod strip;
mod templates;
mod text;
mod titles;

use super::Parsed;
use crate::document::losses::Loss;
use crate::document::{Date, Document, language_tag, markup};
pub use dump::{PageBatch, PageBatches};
use page::WikiPage;
pub use titles::{Wiki, namespace};

/// Words that mark a redirect, for dumps that do not mark it themselves.
const REDIRECTS: &str = "redirect weiterleitung redirection redirección redireccion redirecionamento rinvia \
    rinvio redirige doorverwijzing przekieruj patrz tam перенаправление перенапр перенаправлення омдирэктар \
    omdirigering ohjaus uudelleenohjaus přesměruj presmeruj yönlendirme átirányítás đổi alih 重定向 转向 転送 넘겨주기 \
    تحويل";

/// Reads a batch of pages.
pub fn parse(batch: &PageBatch) -> Parsed {
    let mut parsed = Parsed::default();
    let language = batch.site.language.as_deref().and_then(language_tag);
    let too_long = format!("the page is longer than {} MiB, the longest allowed", batch.longest >> 20);
    for &offset in &batch.too_long {
        malformed(&mut parsed, &batch.place(offset), &too_long);
    }
    for (start, xml) in pages(&batch.bytes) {
        let offset = batch.offset + start as u64;
        match xml {
            Some(xml) if xml.len() > batch.longest => malformed(&mut parsed, &batch.place(offset), &too_long),
            Some(xml) => read(xml, batch, offset, language.as_deref(), &mut parsed),
            None => malformed(&mut parsed, &batch.place(offset), "the page does not end before the next one begins"),
        }
    }
    if let Some(cut) = &batch.cut {
        parsed.bad(batch.input.to_string(), cut.clone());
    }
    parsed
}

/// A page that cannot be read is left out; the others are read.
fn malformed(parsed: &mut Parsed, place: &str, what: &str) {
    parsed.batch.losses.add(Loss::MalformedRecord, format!("{place}: {what}"));
}

/// Where each page begins, and its XML if it is whole.
fn pages(bytes: &[u8]) -> impl Iterator<Item = (usize, Option<&[u8]>)> {
    const BEGIN: &[u8] = b"<page>";
    const END: &[u8] = b"</page>";
    let mut next = memchr::memmem::find(bytes, BEGIN);
    std::iter::from_fn(move || {
        let start = next?;
        let inside = start + BEGIN.len();
        next = memchr::memmem::find(&bytes[inside..], BEGIN).map(|found| inside + found);
        let page = &bytes[start..next.unwrap_or(bytes.len())];
        let end = memchr::memmem::find(page, END).map(|end| end + END.len());
        Some((start, end.map(|end| &page[..end])))
    })
}

fn read(xml: &[u8], batch: &PageBatch, offset: u64, language: Option<&str>, parsed: &mut Parsed) {
    let site = &*batch.site;
    let place = || batch.place(offset);
    let xml = String::from_utf8_lossy(xml);
    if let std::borrow::Cow::Owned(_) = xml {
        parsed.batch.losses.add(Loss::ReplacedBytes, place());
    }
    let page = match WikiPage::read(&xml) {
        Ok(page) => page,
        Err((what, at)) => return malformed(parsed, &batch.place(offset + at), &what),
    };
    let title = titles::clean(&page.title).into_owned();
    if title.is_empty() {
        return malformed(parsed, &place(), "the page has no title");
    }
    if let Some(wrong) = markup::unlinkable(&title) {
        return malformed(parsed, &place(), &format!("the title {title:?} {wrong}, so no link could name it"));
    }
    let namespace = page.namespace.unwrap_or_else(|| site.namespace_of(&title));
    if !site.wants(namespace) {
        return;
    }
    if let Some(target) = page.redirect.as_deref().or_else(|| leads_on(&page.text)) {
        return match site.redirect(target) {
            Some(target) => parsed.batch.aliases.push((title, target)),
            None => parsed.batch.losses.add(Loss::BrokenRedirect, format!("{title} ({})", place())),
        };
    }
    if !matches!(&*page.model, "" | "wikitext") {
        let what = format!("{title}: its text is {}, not wikitext", page.model);
        return parsed.batch.losses.add(Loss::SkippedPage, what);
    }
    let stripped = strip::strip(&page.text, site);
    let (text, links) = text::read(&stripped, site);
    for _ in 0..stripped.open_links {
        parsed.batch.losses.add(Loss::BrokenMark, &*title);
    }
    for _ in 0..stripped.open_templates + stripped.open_tables {
        parsed.batch.losses.add(Loss::UnclosedMarkup, &*title);
    }
    let date = match page.timestamp.trim() {
        "" => None,
        timestamp => match timestamp.parse::<Date>() {
            Ok(date) => Some(date),
            Err(wrong) => {
                parsed.batch.losses.add(Loss::UnreadableDate, format!("{title}: {wrong}"));
                None
            }
        },
    };
    let mut labels = stripped.categories;
    let mut seen = std::collections::HashSet::new();
    labels.retain(|label| seen.insert(label.clone()));
    let language = language.map(str::to_owned);
    let (url, origin) = (site.url(&title), place());
    parsed.batch.documents.push(Document {
        title: Some(title.clone()),
        id: title,
        authors: Vec::new(),
        date,
        language,
        labels,
        url,
        text,
        links,
        origin,
    });
}

/// The target of `#REDIRECT [[Target]]` at the beginning of a text.
fn leads_on(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix('#')?;
    let (word, rest) = rest.split_at(rest.find(|c: char| !c.is_alphabetic())?);
    let word = word.to_lowercase();
    let rest = rest.trim_start_matches([' ', '\t', ':', '\n']);
    let (target, _) = rest.strip_prefix("[[")?.split_once("]]")?;
    let target = target.split_once('|').map_or(target, |(target, _)| target);
    REDIRECTS.split(' ').any(|known| known == word).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_dumps_tell_redirects_by_their_text() {
        assert_eq!(leads_on("#REDIRECT [[A b#c|d]] {{R}}"), Some("A b#c"));
        assert_eq!(leads_on(" #Weiterleitung:[[A]]"), Some("A"));
        for text in ["# [[A]]", "#note [[A]]", "#redirect A", "#", "redirect [[A]]", "#redirect [[A"] {
            assert_eq!(leads_on(text), None, "{text}");
        }
    }

    #[test]
    fn a_page_that_does_not_end_costs_no_other() {
        let found: Vec<_> = pages(b" <page>a</page>\n<page>b <page>c</page> <page>d").collect();
        assert_eq!(found, [(1, Some(&b"<page>a</page>"[..])), (16, None), (24, Some(b"<page>c</page>")), (39, None)]);
    }
}
