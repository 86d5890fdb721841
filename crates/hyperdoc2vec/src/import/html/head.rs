//! The head of a page: title, date, language, keywords, its own address, where it leads on to.

use crate::document::{Date, language_tag};
use crate::import::html_events::{Event, HtmlPage, Key, Tag};
use crate::import::text::collapsed;

/// Longest wait, in seconds, after which leading on still is a redirect and not a page that renews itself.
const LONGEST_WAIT: f32 = 15.0;

/// The head of a page.
#[derive(Default)]
pub(super) struct PageHead<'a> {
    pub(super) title: String,
    pub(super) keywords: Vec<String>,
    /// The best date that can be read, or else one that cannot.
    pub(super) date: Option<Result<Date, String>>,
    /// The best language that is one, or else one that is none.
    pub(super) language: Option<&'a str>,
    pub(super) canonical: Option<&'a str>,
    pub(super) base: Option<&'a str>,
    pub(super) refresh: Option<&'a str>,
}

/// Names of dates, best first.
const DATES: [&str; 12] = [
    "article:published_time",
    "datepublished",
    "citation_publication_date",
    "dcterms.issued",
    "dcterms.created",
    "dcterms.date",
    "dc.date.issued",
    "dc.date.created",
    "dc.date",
    "date",
    "pubdate",
    "citation_date",
];

impl<'a> PageHead<'a> {
    /// Reads what stands before the body.
    pub(super) fn read(page: &'a HtmlPage) -> PageHead<'a> {
        let mut head = PageHead::default();
        let mut dates: Vec<(usize, &str)> = Vec::new();
        // `lang`, `xml:lang`, the header, what social networks read: best first.
        let mut languages = [None; 4];
        let mut index = 0;
        while let Some(event) = page.events.get(index) {
            let attribute = |key| page.attribute(index, key).unwrap_or_default();
            match event {
                Event::Open { tag: Tag::Body, .. } => break,
                Event::Open { tag: Tag::Unseen, .. } => index = page.close(index),
                Event::Open { tag: Tag::Title, .. } if head.title.is_empty() => {
                    for event in &page.events[index..page.close(index)] {
                        if let Event::Text { start, end } = *event {
                            head.title.push_str(page.text(start, end));
                        }
                    }
                    head.title = collapsed(&head.title);
                }
                Event::Open { tag: Tag::Html, .. } => {
                    languages[0] = languages[0].or(page.attribute(index, Key::Lang));
                    languages[1] = languages[1].or(page.attribute(index, Key::XmlLang));
                }
                Event::Open { tag: Tag::Base, .. } => {
                    head.base = head.base.or(page.attribute(index, Key::Href));
                }
                Event::Open { tag: Tag::Link, .. } if attribute(Key::Rel).eq_ignore_ascii_case("canonical") => {
                    head.canonical = head.canonical.or(page.attribute(index, Key::Href));
                }
                Event::Open { tag: Tag::Meta, .. } => {
                    let (name, content) = (attribute(Key::Name).to_ascii_lowercase(), attribute(Key::Content));
                    if attribute(Key::HttpEquiv).eq_ignore_ascii_case("refresh") {
                        head.refresh = head.refresh.or(refresh(content));
                    } else if attribute(Key::HttpEquiv).eq_ignore_ascii_case("content-language") {
                        // The languages of its readers; the first is most likely its own.
                        languages[2] = languages[2].or(content.split(',').next());
                    } else if name == "og:locale" {
                        languages[3] = languages[3].or(Some(content));
                    } else if matches!(&*name, "keywords" | "article:tag") {
                        for word in content.split([',', ';']).map(str::trim).filter(|word| !word.is_empty()) {
                            if !head.keywords.iter().any(|known| known == word) {
                                head.keywords.push(word.to_owned());
                            }
                        }
                    } else if let Some(rank) = DATES.iter().position(|known| *known == name)
                        && !content.trim().is_empty()
                    {
                        dates.push((rank, content));
                    }
                }
                _ => {}
            }
            index += 1;
        }
        let given = || languages.into_iter().flatten().filter(|text| !text.trim().is_empty());
        head.language = given().find(|text| language_tag(text).is_some()).or(given().next());
        dates.sort_by_key(|(rank, _)| *rank);
        let mut dates = dates.into_iter().map(|(_, text)| text.trim().replace('/', "-").parse::<Date>());
        head.date = dates.next().map(|first| first.or_else(|wrong| dates.find_map(Result::ok).ok_or(wrong)));
        head
    }
}

/// The address in `5; url='…'`, if the page leads there soon.
fn refresh(content: &str) -> Option<&str> {
    let (wait, rest) = content.split_at(content.find([';', ','])?);
    let wait: f32 = wait.trim().parse().unwrap_or(0.0);
    let rest = rest[1..].trim();
    let url = match rest.get(..3) {
        Some(name) if name.eq_ignore_ascii_case("url") => rest[3..].trim_start().strip_prefix('=')?.trim(),
        _ => rest,
    };
    let url = url.trim_matches(['\'', '"']);
    (wait <= LONGEST_WAIT && !url.is_empty()).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_the_best_that_is_one() {
        let language = |source: &str| PageHead::read(&HtmlPage::read(source)).language.map(str::to_owned);
        let meta = "<meta http-equiv=Content-Language content='de, fr'><meta property='og:locale' content=pt_BR>";
        assert_eq!(language(&format!("<html lang=en xml:lang=it>{meta}")).as_deref(), Some("en"));
        assert_eq!(language(&format!("<html lang='' xml:lang=it>{meta}")).as_deref(), Some("it"));
        assert_eq!(language(&format!("<html lang='{{{{ lang }}}}'>{meta}")).as_deref(), Some("de"));
        assert_eq!(language("<meta property='og:locale' content=pt_BR>").as_deref(), Some("pt_BR"));
        assert_eq!(language("<html lang='?'>").as_deref(), Some("?"));
        assert_eq!(language("<html><p lang=en>"), None);
    }

    #[test]
    fn a_refresh_names_its_page_in_many_ways() {
        assert_eq!(refresh("0;URL=../a.html"), Some("../a.html"));
        assert_eq!(refresh("0; url='a b.html'"), Some("a b.html"));
        assert_eq!(refresh("0, a.html"), Some("a.html"));
        assert_eq!(refresh("30"), None);
        assert_eq!(refresh("300; url=a.html"), None);
        assert_eq!(refresh("0; url="), None);
    }
}
