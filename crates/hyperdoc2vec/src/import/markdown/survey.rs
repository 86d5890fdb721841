//! Facts about a page that links of other pages depend on: its front matter, its title, its labels; and the links from
//! the top of the site that it holds, from which that top is found (see `mounts`).

use super::front::{self, FrontMatter};
use super::scheme::PAGE;
use super::sections::MarkdownOutline;
use super::{directives, rest, template};
use crate::import::sniff::{REST_ENDINGS, has_ending};
use crate::import::text::collapsed;

/// Bytes of the longest heading that is shown in the place of a link's words.
pub(super) const LONGEST_SHOWN: usize = 1000;

/// One page, looked at but not read.
#[derive(Debug, Default)]
pub(super) struct PageSurvey {
    pub(super) front: FrontMatter,
    /// The heading that opens the page.
    pub(super) heading: Option<String>,
    /// MyST's labels, each with the heading it stands before.
    pub(super) labels: Vec<(String, Option<String>)>,
    /// Links that begin at the top of the site, as they are written.
    pub(super) tops: Vec<String>,
    /// Its sections, if they are documents.
    pub(super) outline: MarkdownOutline,
}

impl PageSurvey {
    pub(super) fn read(source: &str, dialect: SiteSyntax, sections: bool) -> PageSurvey {
        let body = front::split(source).1;
        let rest = (dialect == SiteSyntax::Rest).then(|| rest::to_markdown(body, sections));
        let plain = prepared(body, dialect, sections);
        let labels = labels(rest.as_deref().unwrap_or(body));
        PageSurvey {
            front: FrontMatter::read(source),
            heading: opening_heading(&plain),
            outline: if sections { MarkdownOutline::read(&plain, &labels) } else { MarkdownOutline::default() },
            labels,
            tops: tops(&plain),
        }
    }
}

/// The body of a page as plain Markdown; objects are headings if sections are asked for.
pub(super) fn prepared(body: &str, dialect: SiteSyntax, sections: bool) -> String {
    match dialect {
        SiteSyntax::Rest => directives::rewrite(&rest::to_markdown(body, sections), false),
        dialect => directives::rewrite(&template::expand(body), dialect == SiteSyntax::Mdx),
    }
}

/// How a page is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SiteSyntax {
    Markdown,
    Mdx,
    /// reStructuredText.
    Rest,
}

impl SiteSyntax {
    /// By the ending of a file.
    pub(super) fn of(path: &str) -> SiteSyntax {
        match path {
            path if has_ending(path, &["mdx"]) => SiteSyntax::Mdx,
            path if has_ending(path, &REST_ENDINGS) => SiteSyntax::Rest,
            _ => SiteSyntax::Markdown,
        }
    }
}

fn opening_heading(body: &str) -> Option<String> {
    let mut lines = body.lines().map(str::trim).filter(|line| !line.is_empty());
    let (first, second) = (lines.next()?, lines.next().unwrap_or_default());
    let under = second.starts_with("==") && second.bytes().all(|b| b == b'=');
    let words = if under { first } else { first.strip_prefix("# ")? };
    let words = words.trim_end_matches('#').trim_end();
    let words = words.split(" {#").next().unwrap_or(words);
    Some(collapsed(&words.replace(['`', '*'], ""))).filter(|words| !words.is_empty())
}

fn labels(body: &str) -> Vec<(String, Option<String>)> {
    let mut labels: Vec<(String, Option<String>)> = Vec::new();
    let mut open = 0;
    for line in body.lines().map(str::trim) {
        if let Some(label) = line.strip_prefix('(').and_then(|line| line.strip_suffix(")=")) {
            labels.push((label.trim().to_owned(), None));
        } else if line.starts_with('#') {
            let words = collapsed(line.trim_matches('#')).replace(['`', '*'], "");
            let words = Some(words).filter(|words| words.len() <= LONGEST_SHOWN);
            labels[open..].iter_mut().for_each(|(_, heading)| heading.clone_from(&words));
            open = labels.len();
        } else if !line.is_empty() {
            open = labels.len();
        }
    }
    labels
}

/// Links from the top, as far as they can be seen without parsing.
fn tops(body: &str) -> Vec<String> {
    let mut tops = Vec::new();
    for start in ["](/", "](</", "]: /", "=\"/", "](@site/", &format!("]({PAGE}/")] {
        for (at, _) in body.match_indices(start) {
            let path = &body[at + start.len() - 1..];
            let end = path.find([')', '>', '"', ' ', '\n', '#', '?']).unwrap_or(path.len());
            if end > 1 && !path.starts_with("//") {
                tops.push(path[..end].to_owned());
            }
        }
    }
    tops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_not_copied_for_ever() {
        let labels = |heading: usize| labels(&format!("(a)=\n(b)=\n# {}", "x".repeat(heading)));
        assert!(labels(LONGEST_SHOWN).iter().all(|(_, heading)| heading.is_some()));
        assert!(labels(LONGEST_SHOWN + 1).iter().all(|(_, heading)| heading.is_none()));
    }

    #[test]
    fn a_survey_has_what_others_may_link_to() {
        let page = "---\ntitle: A\n---\n\n(top)=\n(start)=\n# The `A` page {#a}\ntext\n\n(part)=\ntext\n\n(b)=\n## B ##\n\
                    [x](/docs/a#b) [y]({{< ref \"/c\" >}}) [z]: /d [w](//e) <a href=\"/f\">";
        let PageSurvey { front, heading, labels, tops, .. } = PageSurvey::read(page, SiteSyntax::Markdown, false);
        assert_eq!((front.title.as_deref(), heading.as_deref()), (Some("A"), Some("The A page")));
        let label = |label: &str, heading: Option<&str>| (label.to_owned(), heading.map(str::to_owned));
        let a = Some("The A page {#a}");
        assert_eq!(labels, [label("top", a), label("start", a), label("part", None), label("b", Some("B"))]);
        assert_eq!(tops, ["/docs/a", "/d", "/f", "/c"]);
    }
}
