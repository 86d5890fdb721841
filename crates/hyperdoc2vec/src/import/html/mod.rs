//! Pages as a web server, Sphinx, mdBook or rustdoc writes them: one document a page, its main content and the links in it.
//!
//! ids, roots and the order of pages: see `tree`. Pages become flat lists of events (`html_events`), of which the content is
//! chosen (`content`) and written down (here). Each page is read by itself, so any order of batches gives the same
//! documents.
//!
//! A link is kept if it leads to a page of the set, or to what may be a page that the set lacks, above the root too (the
//! corpus counts these as unknown targets). A link that names its own page, `page.html#part` in `page.html`, is kept too:
//! the corpus drops it and counts it as a self link. Anything else - other sites, files that are no pages by their ending
//! or are there but no pages, a part of the same page (`#part`), pages left out by the globs - is just text, uncounted.
//! A page that leads on at once (`http-equiv=refresh`), or that names another page of the set as its canonical form
//! (counted), is an alias of that page and no document; unless that page makes no document either, or leads back.
//! If sections are asked for, the sections of a page (`sections`) are documents of their own, `page.html#part`, and links
//! to them and to what is in them lead there, from their own page, too; what is left is the page's.

mod content;
mod head;
mod sections;
mod site_title;

use std::path::PathBuf;

use rayon::prelude::*;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::Parsed;
use super::html_events::{Event, HtmlPage, Key, Tag};
use super::sniff::{HTML_ENDINGS, ending, has_ending};
use super::text::LinkedText;
use super::tree::href::{Base, Href, decode, folder, join};
use super::tree::{self, FileTree, Pages, WantedFiles, section_id};
use crate::document::losses::{Loss, Losses};
use crate::document::{Document, Link};
use crate::error::Result;
use head::PageHead;
use sections::{HtmlOutline, HtmlSection};
use site_title::SharedTitle;

/// How to read a tree of pages.
#[derive(Debug, Clone)]
pub struct HtmlOptions {
    /// Globs of pages to take, against the path below the root; none means all.
    /// `*` and `?` stop at `/`, `**` does not; a directory's name means all below it.
    pub include: Vec<String>,
    /// Globs of pages to leave out. By default the pages that only repeat others: mdBook's `print.html`,
    /// Sphinx's indices and sources, rustdoc's sources, search pages.
    pub exclude: Vec<String>,
    /// Web address of the root (of the folder that holds the roots, if their ids are prefixed):
    /// links to addresses below it are links to pages of the set.
    pub base_url: Option<String>,
    /// Whether links inside code listings and signatures are links; else they are words alone.
    pub code_links: bool,
    /// Whether sections are documents of their own.
    pub sections: bool,
}

impl Default for HtmlOptions {
    fn default() -> HtmlOptions {
        let repeats = [
            "**/print.html",
            "**/toc.html",
            "**/404.html",
            "**/search.html",
            "**/genindex*.html",
            "**/*-modindex.html",
            "**/genindex/index.html",
            "**/*-modindex/index.html",
            "**/_modules/**",
            "**/_sources/**",
            "**/_static/**",
            "**/*.rs.html",
            "**/bookindex.html",
            "**/ix01.html",
            "**/index-all.html",
            "**/allclasses*.html",
            "**/overview-tree.html",
            "**/package-tree.html",
            "**/namespacemembers*.html",
            "**/globals_*.html",
            "**/functions_*.html",
        ];
        HtmlOptions {
            include: Vec::new(),
            exclude: repeats.map(str::to_owned).to_vec(),
            base_url: None,
            code_links: true,
            sections: false,
        }
    }
}

/// A tree of pages, found but not yet read.
pub struct Html {
    tree: FileTree,
    base: Option<Base>,
    shared: SharedTitle,
    code_links: bool,
    /// The sections of each page; nothing if they are not asked for.
    outlines: Vec<HtmlOutline>,
}

/// Pages whose titles show what those of the site share.
const TITLES: usize = 200;
/// Bytes of a page in which its title is looked for.
const HEAD: usize = 16 << 10;

impl Html {
    /// Walks `roots` (directories or single pages) and sorts what it finds; an error if there is no page.
    pub fn open(roots: &[PathBuf], options: &HtmlOptions) -> Result<Html> {
        let HtmlOptions { include, exclude, base_url, code_links, sections } = options;
        let wanted = WantedFiles { what: "pages", endings: &HTML_ENDINGS, include, exclude };
        let base = Base::given(base_url.as_deref())?;
        let tree = FileTree::open(roots, &wanted, str::to_owned)?;
        let step = tree.pages.len().div_ceil(TITLES).max(1);
        let sample: Vec<&tree::TreeFile> = tree.pages.iter().step_by(step).collect();
        let titles: Vec<String> = sample.par_iter().map(|page| title_of(page)).collect();
        let outlined = if *sections { &tree.pages[..] } else { &[] };
        let outlines = outlined.par_iter().map(outline_of).collect();
        Ok(Html { tree, base, shared: SharedTitle::of(&titles), code_links: *code_links, outlines })
    }

    /// The section of a page that a link leads to, if sections are asked for and it leads to one.
    fn section(&self, page: usize, url: &str) -> Option<&HtmlSection> {
        self.outlines.get(page)?.find(url.split_once('#')?.1.trim())
    }
}

impl Pages for Html {
    fn len(&self) -> usize {
        self.tree.pages.len()
    }

    fn digest(&self) -> u64 {
        self.tree.digest(Default::default())
    }

    fn parse_page(&self, index: usize, parsed: &mut Parsed) {
        let file = &self.tree.pages[index];
        let origin = file.path.clone();
        let Some(bytes) = self.tree.read(index, &mut parsed.batch.losses) else { return };
        let source = to_text(&bytes, &origin, &mut parsed.batch.losses);
        let page = HtmlPage::read(&source);
        drop((bytes, source));
        let head = PageHead::read(&page);
        let site = SiteView::new(self, index, &head);

        if let Some(target) = head.refresh.and_then(|url| site.leads_on(url)) {
            return parsed.batch.aliases.push((file.id.clone(), target.id(&self.tree)));
        }
        if head.refresh.is_some_and(|url| !site.is_here(url)) {
            return parsed.batch.losses.add(Loss::SkippedPage, format!("{origin}: leads to a page elsewhere"));
        }
        if let Some(HtmlTarget::Page(other)) = head.canonical.and_then(|url| site.leads_on(url))
            && !is_top(&self.tree.pages[other].path)
            && self.leads_to_text(index, other)
        {
            let other = self.tree.pages[other].id.clone();
            parsed.batch.losses.add(Loss::OtherCanonical, format!("{} → {other}", file.id));
            return parsed.batch.aliases.push((file.id.clone(), other));
        }

        if content::is_generated(&page, &file.path) {
            return parsed
                .batch
                .losses
                .add(Loss::SkippedPage, format!("{origin}: a list or a search that a generator made"));
        }
        let region = content::find(&page);
        let sections = self.outlines.get(index).map_or(&[][..], |outline| &outline.sections);
        let mut texts = write(&page, region, sections, &site, &mut parsed.batch.losses).into_iter();
        let (text, links) = texts.next().unwrap_or_default();
        if text.is_empty() && sections.is_empty() {
            return parsed.batch.losses.add(Loss::SkippedPage, origin);
        }
        let date = match head.date {
            Some(Err(wrong)) => {
                parsed.batch.losses.add(Loss::UnreadableDate, format!("{origin}: {wrong}"));
                None
            }
            Some(Ok(date)) => Some(date),
            None => None,
        };
        let language = head.language.and_then(|text| parsed.language(text, &origin));
        let url = site.address(head.canonical);
        let title = title(&page, region, self.shared.cut(head.title));
        let whole = Document {
            id: file.id.clone(),
            title,
            authors: Vec::new(),
            date,
            language,
            labels: head.keywords,
            url,
            text,
            links,
            origin,
        };
        for (section, (text, links)) in sections.iter().zip(texts) {
            let name = section_name(&page, section);
            parsed.batch.documents.push(whole.section(&section.anchor, &name, text, links));
        }
        // The page itself stands before its sections.
        let at = parsed.batch.documents.len() - sections.len();
        parsed.batch.documents.insert(at, whole);
    }
}

/// The title of a page, from its first bytes.
fn title_of(page: &tree::TreeFile) -> String {
    let bytes = tree::read(&page.file).unwrap_or_default();
    let text = to_text(&bytes[..bytes.len().min(HEAD)], "", &mut Losses::default());
    PageHead::read(&HtmlPage::read(&text)).title
}

/// The sections of a page.
fn outline_of(file: &tree::TreeFile) -> HtmlOutline {
    let bytes = tree::read(&file.file).unwrap_or_default();
    let page = HtmlPage::read(&to_text(&bytes, "", &mut Losses::default()));
    HtmlOutline::read(&page, content::find(&page))
}

/// More pages than this, each of which names the next, are not followed.
const LONGEST_CHAIN: usize = 8;

impl Html {
    /// Whether page `other`, which page `index` names as its canonical form, is a document or leads to one that is not
    /// `index` itself.
    fn leads_to_text(&self, index: usize, other: usize) -> bool {
        let (mut seen, mut here) = (vec![index], other);
        while !seen.contains(&here) && seen.len() < LONGEST_CHAIN {
            seen.push(here);
            let file = &self.tree.pages[here];
            let Ok(bytes) = tree::read(&file.file) else { return false };
            let page = HtmlPage::read(&to_text(&bytes, &file.path, &mut Losses::default()));
            let head = PageHead::read(&page);
            let site = SiteView::new(self, here, &head);
            let next = match (head.refresh, head.canonical.and_then(|url| site.leads_on(url))) {
                (Some(url), _) if !site.is_here(url) => site.leads_on(url),
                (_, Some(HtmlTarget::Page(next))) if !is_top(&self.tree.pages[next].path) => {
                    Some(HtmlTarget::Page(next))
                }
                _ => {
                    let texts = || write(&page, content::find(&page), &[], &site, &mut Losses::default());
                    let is_text = || texts().first().is_some_and(|(text, _)| !text.is_empty());
                    return !content::is_generated(&page, &file.path) && is_text();
                }
            };
            let Some(HtmlTarget::Page(next)) = next else { return false };
            here = next;
        }
        false
    }
}

/// Where a link leads, if it is kept.
enum HtmlTarget {
    Page(usize),
    /// No page of the set, but it would be if it existed.
    Missing(String),
}

impl HtmlTarget {
    fn id(self, tree: &FileTree) -> String {
        match self {
            HtmlTarget::Page(index) => tree.pages[index].id.clone(),
            HtmlTarget::Missing(id) => id,
        }
    }
}

/// The set of pages as seen from one of them.
struct SiteView<'a> {
    html: &'a Html,
    index: usize,
    /// Where relative links start; `None` if that is elsewhere.
    folder: Option<String>,
    /// The address of the root that the page's own address implies.
    own_base: Option<Base>,
}

impl<'a> SiteView<'a> {
    fn new(html: &'a Html, index: usize, head: &PageHead<'_>) -> SiteView<'a> {
        let page = &html.tree.pages[index];
        let own_base = head.canonical.and_then(|url| Base::infer(url, &page.path));
        let mut site = SiteView { html, index, folder: Some(folder(&page.full).to_owned()), own_base };
        if let Some(base) = head.base.map(Href::read)
            && base != Href::Here
        {
            site.folder = site.places(&base).into_iter().next().map(|full| folder(&full).to_owned());
        }
        site
    }

    /// Full paths that a link may mean, the likeliest first.
    fn places(&self, href: &Href<'_>) -> Vec<String> {
        let tree = &self.html.tree;
        let root = tree.pages[self.index].root;
        let bases = || self.own_base.iter().chain(&self.html.base);
        match *href {
            Href::Here | Href::Other => Vec::new(),
            Href::Relative(path) => self.folder.iter().map(|folder| join(folder, path)).collect(),
            Href::Top(path) => {
                let below = bases().filter_map(|base| base.below_path(path));
                below.chain([path]).flat_map(|path| tree.places_at(root, path)).collect()
            }
            Href::Web(web) => {
                bases().filter_map(|base| base.below(web)).flat_map(|path| tree.places_at(root, path)).collect()
            }
        }
    }

    /// Where a link leads; `None` if it is just text.
    fn resolve(&self, url: &str) -> Option<HtmlTarget> {
        let tree = &self.html.tree;
        let raw = self.places(&Href::read(url));
        let found = raw.iter().find_map(|full| find(tree, &decode(full)).or_else(|| find(tree, full)));
        match found {
            Some(index) => Some(HtmlTarget::Page(index)),
            None => missing(tree, tree.pages[self.index].root, &decode(raw.first()?)).map(HtmlTarget::Missing),
        }
    }

    /// The id of what a link of the text leads to, seen from a section of this page.
    fn link(&self, url: &str, from: Option<&HtmlSection>, losses: &mut Losses) -> Option<String> {
        let section = |page: usize| Some((page, self.html.section(page, url)?));
        let found = match Href::read(url) {
            Href::Here => section(self.index).filter(|(_, found)| Some(*found) != from),
            _ => match self.resolve_link(url, losses)? {
                HtmlTarget::Page(page) => match section(page) {
                    None => return Some(HtmlTarget::Page(page).id(&self.html.tree)),
                    found => found,
                },
                missing @ HtmlTarget::Missing(_) => return Some(missing.id(&self.html.tree)),
            },
        };
        found.map(|(page, found)| section_id(&self.html.tree.pages[page].id, &found.anchor))
    }

    /// Where a link of the text leads: a page that differs in case alone is taken, and counted.
    fn resolve_link(&self, url: &str, losses: &mut Losses) -> Option<HtmlTarget> {
        let found = self.resolve(url);
        if !matches!(found, Some(HtmlTarget::Missing(_))) {
            return found;
        }
        let tree = &self.html.tree;
        let full = self.places(&Href::read(url));
        match full.iter().find_map(|full| find_by(&decode(full), |full| tree.find_in_any_case(full))) {
            Some(index) => {
                let sample = format!("{url} ({} → {})", tree.pages[self.index].path, tree.pages[index].path);
                losses.add(Loss::OtherCase, sample);
                Some(HtmlTarget::Page(index))
            }
            None => found,
        }
    }

    /// The target of a link, unless that is this very page.
    fn leads_on(&self, url: &str) -> Option<HtmlTarget> {
        self.resolve(url).filter(|target| !matches!(target, HtmlTarget::Page(index) if *index == self.index))
    }

    /// Whether a link leads to this very page.
    fn is_here(&self, url: &str) -> bool {
        let href = Href::read(url);
        href == Href::Here
            || self.places(&href).iter().any(|full| find(&self.html.tree, &decode(full)) == Some(self.index))
    }

    /// The page's own address.
    fn address(&self, canonical: Option<&str>) -> Option<String> {
        match (&self.own_base, canonical) {
            (Some(_), Some(url)) => Some(url.trim().to_owned()),
            _ => {
                let path = self.html.tree.site_path(&self.html.tree.pages[self.index]);
                self.html.base.as_ref().map(|base| base.address(&path))
            }
        }
    }
}

/// The page that a full path names: as it is, without its ending, or as a folder.
fn find(tree: &FileTree, full: &str) -> Option<usize> {
    find_by(full, |full| tree.find(full))
}

fn find_by(full: &str, file: impl Fn(&str) -> Option<usize>) -> Option<usize> {
    let stem = full.trim_end_matches('/');
    let exact = if stem.len() == full.len() { file(full) } else { None };
    let folder_first = stem.len() != full.len();
    let forms =
        if folder_first { ["/index.html", "/index.htm", ".html"] } else { [".html", "/index.html", "/index.htm"] };
    exact.or_else(|| forms.iter().find_map(|form| file(&format!("{stem}{form}"))))
}

/// The id of a page that is not in the set, but looks as if it should be.
fn missing(tree: &FileTree, root: usize, full: &str) -> Option<String> {
    let page = match ending(full) {
        _ if full.ends_with('/') => format!("{full}index.html"),
        _ if has_ending(full, &HTML_ENDINGS) => full.to_owned(),
        _ if tree::is_file(full) => return None,
        Some(_) => full.to_owned(),
        None => format!("{full}.html"),
    };
    tree.missing(root, &page, str::to_owned)
}

/// The first page of a site, which badly made pages all name as their canonical form.
fn is_top(path: &str) -> bool {
    matches!(path, "index.html" | "index.htm" | "index.xhtml")
}

/// The text of a region without its sections, and of each section, with their links.
fn write(
    page: &HtmlPage,
    region: content::Region,
    sections: &[HtmlSection],
    site: &SiteView<'_>,
    losses: &mut Losses,
) -> Vec<(String, Vec<Link>)> {
    let mut texts: Vec<LinkedText> = (0..=sections.len()).map(|_| LinkedText::new()).collect();
    // Sections that the event stands in, and the next one.
    let (mut inside, mut next): (Vec<usize>, usize) = (Vec::new(), 0);
    let mut index = region.start;
    let mut lines = 0usize;
    // Up to where code goes whose links are none.
    let mut code = 0;
    while index < region.end {
        while inside.last().is_some_and(|&last| sections[last].end <= index) {
            inside.pop();
        }
        while sections.get(next).is_some_and(|section| section.start <= index) {
            inside.push(next);
            next += 1;
        }
        let here = inside.last().copied();
        let text = &mut texts[here.map_or(0, |number| number + 1)];
        match page.events[index] {
            Event::Open { tag, .. } => {
                if !tag.is_inline() {
                    text.break_line();
                }
                let own = region.named && index == region.start;
                if !own && content::is_boilerplate(page, index, tag, region.named) {
                    index = page.close(index) + 1;
                    continue;
                }
                if !site.html.code_links && index >= code && (tag == Tag::Pre || content::is_signature(page, index)) {
                    code = page.close(index);
                }
                match tag {
                    Tag::A if index < code => {}
                    Tag::A => {
                        let from = here.map(|number| &sections[number]);
                        let href = page.attribute(index, Key::Href);
                        if let Some(target) = href.and_then(|href| site.link(href, from, losses)) {
                            text.open_link(target);
                        }
                    }
                    Tag::Img if text.in_link() => {
                        text.push(page.attribute(index, Key::Alt).unwrap_or_default(), false);
                    }
                    Tag::Pre => lines += 1,
                    _ => {}
                }
            }
            Event::Close { tag } => match tag {
                Tag::A => text.close_link(),
                Tag::Pre => {
                    lines = lines.saturating_sub(1);
                    text.break_line();
                }
                tag if !tag.is_inline() => text.break_line(),
                _ => {}
            },
            Event::Text { start, end } => text.push(page.text(start, end), lines > 0),
        }
        index += 1;
    }
    texts.into_iter().map(LinkedText::finish).collect()
}

/// The title of a section: its heading, or the name that it defines.
fn section_name(page: &HtmlPage, section: &HtmlSection) -> String {
    let words = plain(page, section.heading);
    // rustdoc calls items by their kind and name; a signature goes on behind the name.
    let item = section.anchor.split_once('.').filter(|(kind, _)| {
        matches!(
            *kind,
            "method" | "tymethod" | "variant" | "field" | "associatedtype" | "associatedconstant" | "structfield"
        )
    });
    match item {
        Some((_, name)) => name.to_owned(),
        None if section.is_definition => words.split('(').next().unwrap_or(&words).trim().to_owned(),
        None => words,
    }
}

/// The first heading if the title begins with it (and goes on with the name of the site), else the title.
fn title(page: &HtmlPage, region: content::Region, title: String) -> Option<String> {
    let heading = (region.start..region.end)
        .find(|&index| matches!(page.events[index], Event::Open { tag: Tag::H1, .. }))
        .map(|start| plain(page, content::Region { start, end: page.close(start), named: true }));
    match heading {
        Some(heading) if title.is_empty() && !heading.is_empty() => Some(heading),
        Some(heading) if !heading.is_empty() && heading.len() < title.len() => {
            let rest = title.strip_prefix(&*heading).map(str::trim_start);
            let site = rest.is_some_and(|rest| rest.starts_with(['-', '–', '—', '|', '·', ':', '»', '•']));
            Some(if site { heading } else { title })
        }
        _ => (!title.is_empty()).then_some(title),
    }
}

/// The words of a region in one line.
fn plain(page: &HtmlPage, region: content::Region) -> String {
    let mut text = LinkedText::new();
    let mut index = region.start;
    while index < region.end {
        match page.events[index] {
            Event::Open { tag, .. } if content::is_boilerplate(page, index, tag, true) => index = page.close(index),
            Event::Text { start, end } => text.push(page.text(start, end), false),
            _ => {}
        }
        index += 1;
    }
    text.finish().0
}

/// Decodes a page: byte order mark, else UTF-16 by its zeros, else what it declares, else UTF-8, else windows-1252.
fn to_text(bytes: &[u8], origin: &str, losses: &mut Losses) -> String {
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding).or_else(|| utf_16(bytes));
    let declared = marked.map(Ok).or_else(|| declared(bytes)).and_then(|declared| {
        let unknown = |label| losses.add(Loss::IgnoredField, format!("charset {label:?} ({origin})"));
        declared.map_err(unknown).ok()
    });
    let encoding = declared.unwrap_or(if std::str::from_utf8(bytes).is_ok() { UTF_8 } else { WINDOWS_1252 });
    let (text, _, replaced) = encoding.decode(bytes);
    if replaced {
        losses.add(Loss::ReplacedBytes, format!("{origin}: expected {}", encoding.name()));
    }
    text.into_owned()
}

/// UTF-16 without a byte order mark: a page begins with characters of ASCII, every other byte is zero.
fn utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    match *bytes {
        [1..=255, 0, 1..=255, 0, ..] => Some(UTF_16LE),
        [0, 1..=255, 0, 1..=255, ..] => Some(UTF_16BE),
        _ => None,
    }
}

/// The encoding that a `<meta>` in the first two kilobytes declares, or its label if that is no encoding.
fn declared(bytes: &[u8]) -> Option<std::result::Result<&'static Encoding, String>> {
    let start = bytes[..bytes.len().min(2048)].to_ascii_lowercase();
    let mut rest = &start[..];
    while let Some(at) = rest.windows(5).position(|window| window == b"<meta") {
        rest = &rest[at + 5..];
        let tag = &rest[..rest.iter().position(|&b| b == b'>').unwrap_or(rest.len())];
        if let Some(at) = tag.windows(8).position(|window| window == b"charset=") {
            let value = &tag[at + 8..];
            let value = value.strip_prefix(b"\"").or(value.strip_prefix(b"'")).unwrap_or(value);
            let end = value.iter().position(|b| b"\"' ;/\t\n\r".contains(b)).unwrap_or(value.len());
            // A page that can declare it in ASCII is not in UTF-16.
            let known = Encoding::for_label(&value[..end]).map(|encoding| encoding.output_encoding());
            return Some(known.ok_or_else(|| String::from_utf8_lossy(&value[..end]).into_owned()));
        }
    }
    None
}
