//! The part of a page that is its content, and what to leave out of it.
//!
//! First come the page's own marks (`main`, `role=main`, `article`, ids and classes of well-known
//! generators). A page without such marks is narrowed down from `body`: as long as one container holds four fifths of
//! the words that are not in links, the content is in there.
//!
//! Ours, not a readability crate: these look for the one article of a page of news, and know no marks of generators.

use crate::import::html_events::{Event, HtmlPage, Key, Tag};

/// A run of events, and whether the page itself calls it its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) named: bool,
}

/// Ids of main content, best first.
const IDS: [&str; 8] =
    ["main-content", "mw-content-text", "bodyContent", "page-content", "article", "content", "main", "main_content"];
/// Classes of main content, best first.
const CLASSES: [&str; 9] = [
    "markdown-body",
    "post-content",
    "entry-content",
    "article-content",
    "article-body",
    "body",
    "document",
    "contents",
    "content",
];
/// Below this many letters outside links a page is not narrowed down.
const SPARSE: u64 = 200;

/// Finds the content of `page`.
pub(super) fn find(page: &HtmlPage) -> Region {
    let body = page
        .events
        .iter()
        .position(|event| matches!(event, Event::Open { tag: Tag::Body, .. }))
        .map_or(Region { start: 0, end: page.events.len(), named: false }, |start| region(page, start, false));
    let letters = Letters::count(page, body);
    let all = letters.within(body);
    let mut best: Option<(usize, u64, Region)> = None;
    let mut articles = 0;
    for index in body.start..body.end {
        let Event::Open { tag, .. } = page.events[index] else { continue };
        articles += usize::from(tag == Tag::Article);
        let Some(rank) = rank(page, index, tag) else { continue };
        let found = region(page, index, true);
        let size = letters.within(found);
        let enough = if rank == 0 { size > 0 } else { size * 10 > all };
        if enough && best.is_none_or(|(other, most, _)| (rank, most) < (other, size)) {
            best = Some((rank, size, found));
        }
    }
    match best {
        // Several articles side by side are a list of articles: all of them are the content.
        Some((1, size, _)) if articles > 1 && size * 2 < all => narrow(page, &letters, body),
        Some((0, size, main)) => {
            let article = (main.start + 1..main.end).find(|&index| {
                matches!(page.events[index], Event::Open { tag: Tag::Article, .. })
                    && letters.within(region(page, index, true)) * 2 > size
            });
            article.map_or(main, |index| region(page, index, true))
        }
        Some((_, _, found)) => found,
        None => narrow(page, &letters, body),
    }
}

/// Whether the page has no text of its own: rustdoc's list of all items and the like, Sphinx's search where each page
/// is a folder. (Globs leave out those that have a name of their own.)
pub(super) fn is_generated(page: &HtmlPage, path: &str) -> bool {
    let is_search = path == "search/index.html" || path.ends_with("/search/index.html");
    (0..page.events.len()).any(|index| match page.events[index] {
        Event::Open { tag: Tag::Body, .. } => {
            let class = page.attribute(index, Key::Class).unwrap_or_default();
            let has = |wanted| class.split_ascii_whitespace().any(|class| class == wanted);
            has("rustdoc") && has("sys")
        }
        Event::Open { .. } if is_search => page.attribute(index, Key::Id) == Some("search-results"),
        _ => false,
    })
}

/// Whether the element that opens at event `index` is to be left out with all that is in it.
pub(super) fn is_boilerplate(page: &HtmlPage, index: usize, tag: Tag, named: bool) -> bool {
    match tag {
        Tag::Unseen | Tag::Button | Tag::Nav | Tag::Footer | Tag::Title | Tag::Head => return true,
        Tag::Header | Tag::Aside if !named => return true,
        Tag::Html | Tag::Body | Tag::Main => return false,
        _ => {}
    }
    if let Event::Open { attributes, .. } = page.events[index]
        && attributes & 15 == 0
    {
        return false;
    }
    let role = page.attribute(index, Key::Role).unwrap_or_default();
    if matches!(
        role,
        "navigation"
            | "banner"
            | "contentinfo"
            | "search"
            | "complementary"
            | "menu"
            | "menubar"
            | "toolbar"
            | "dialog"
    ) {
        return true;
    }
    if page.attribute(index, Key::AriaHidden) == Some("true") {
        return true;
    }
    let class = page.attribute(index, Key::Class).unwrap_or_default();
    if tag == Tag::A && (is_button(class) || leads_around(page, index)) {
        return true;
    }
    let id = page.attribute(index, Key::Id).unwrap_or_default();
    if is_rustdoc_list(id) || (is_furniture(id) && !is_called_by_words(page, index, tag, class)) {
        return true;
    }
    let mut local = false;
    let mut contents = false;
    for class in class.split_ascii_whitespace() {
        local |= matches!(class, "local" | "topic");
        contents |= class == "contents";
        if (is_furniture(class) || is_rustdoc_list(class)) && !(class == "sidebar" && is_rest_sidebar(page, index)) {
            return true;
        }
    }
    local && contents
}

/// Whether an element is the signature of a function, a type and the like, as generators of API documentation write it.
pub(super) fn is_signature(page: &HtmlPage, index: usize) -> bool {
    page.attribute(index, Key::Class).is_some_and(|class| {
        class.split_ascii_whitespace().any(|class| {
            matches!(
                class,
                "code-header"
                    | "item-decl"
                    | "sig"
                    | "sig-object"
                    | "memproto"
                    | "memname"
                    | "member-signature"
                    | "memberSignature"
                    | "type-signature"
                    | "signature"
                    | "where"
            )
        })
    })
}

/// Whether an element has its id from its own words, as generators make it for headings and sections: `#navigation`
/// then is a section on navigation.
fn is_called_by_words(page: &HtmlPage, index: usize, tag: Tag, class: &str) -> bool {
    let section =
        |class: &str| matches!(class, "section" | "level1" | "level2" | "level3" | "level4" | "level5" | "level6");
    match tag {
        Tag::H1 | Tag::Heading | Tag::Block | Tag::Dt | Tag::Dd | Tag::Inline | Tag::A | Tag::Article => true,
        Tag::Section => first_block(page, index).is_some_and(|(_, first)| matches!(first, Tag::H1 | Tag::Heading)),
        _ => class.split_ascii_whitespace().any(section),
    }
}

/// Whether this is what reStructuredText calls a side bar: a box of text, which begins with a title.
fn is_rest_sidebar(page: &HtmlPage, index: usize) -> bool {
    let title = first_block(page, index).and_then(|(first, _)| page.attribute(first, Key::Class));
    title.is_some_and(|class| class.split_ascii_whitespace().any(|class| class == "sidebar-title"))
}

/// The first element inside another that is no part of a line.
fn first_block(page: &HtmlPage, index: usize) -> Option<(usize, Tag)> {
    (index + 1..page.close(index)).find_map(|index| match page.events[index] {
        Event::Open { tag, .. } if !tag.is_inline() => Some((index, tag)),
        _ => None,
    })
}

/// Ids and classes of rustdoc's lists of what every type has.
fn is_rustdoc_list(name: &str) -> bool {
    matches!(
        name,
        "synthetic-implementations"
            | "synthetic-implementations-list"
            | "blanket-implementations"
            | "blanket-implementations-list"
    )
}

/// Anchors that are no links of the text: header anchors, links to the source.
fn is_button(class: &str) -> bool {
    class.split_ascii_whitespace().any(|class| {
        matches!(
            class,
            "anchor"
                | "doc-anchor"
                | "anchorjs-link"
                | "src"
                | "srclink"
                | "hash-link"
                | "heading-link"
                | "header-anchor"
                | "permalink"
                | "tooltip"
                | "anchor-link"
                | "copiable-link"
                | "button"
                | "btn"
                | "test-arrow"
                | "scrape-help"
        )
    })
}

/// Anchors that lead to the next page and the like.
fn leads_around(page: &HtmlPage, index: usize) -> bool {
    page.attribute(index, Key::Access).is_some()
        || page.attribute(index, Key::Rel).is_some_and(|rel| {
            rel.split_ascii_whitespace().any(|rel| {
                matches!(rel, "next" | "prev" | "previous" | "up" | "start" | "contents" | "index" | "search" | "home")
            })
        })
}

/// Ids and classes of navigation, side bars, tables of contents, search boxes, buttons, line numbers.
fn is_furniture(name: &str) -> bool {
    matches!(
        name,
        "sidebar"
            | "side-bar"
            | "sidenav"
            | "sphinxsidebar"
            | "bd-sidebar"
            | "md-sidebar"
            | "toc-drawer"
            | "wy-nav-side"
            | "nav"
            | "navbar"
            | "navigation"
            | "navbox"
            | "nav-wrapper"
            | "nav-chapters"
            | "nav-panel"
            | "navheader"
            | "navfooter"
            | "navpath"
            | "menu-bar"
            | "mobile-nav"
            | "related"
            | "breadcrumb"
            | "breadcrumbs"
            | "wy-breadcrumbs"
            | "rustdoc-breadcrumbs"
            | "toc"
            | "TOC"
            | "tocwrapper"
            | "toctree-wrapper"
            | "localtoc"
            | "table-of-contents"
            | "tableofcontents"
            | "theme-doc-toc-mobile"
            | "page-toc"
            | "sidetoc"
            | "rustdoc-toc"
            | "sub-heading"
            | "rightside"
            | "out-of-band"
            | "hideme"
            | "copy-path"
            | "rustdoc-toolbar"
            | "boring"
            | "buttons"
            | "headerlink"
            | "viewcode-link"
            | "viewcode-back"
            | "mw-editsection"
            | "catlinks"
            | "printfooter"
            | "pagination"
            | "pagination-nav"
            | "pager"
            | "prev-next-area"
            | "prev-next"
            | "rst-footer-buttons"
            | "footer"
            | "site-footer"
            | "page-footer"
            | "site-header"
            | "masthead"
            | "skip-link"
            | "skip-main-content"
            | "sr-only"
            | "visually-hidden"
            | "screen-reader-text"
            | "noprint"
            | "cookie-banner"
            | "cookie-consent"
            | "searchbox"
            | "search-form"
            | "search-box"
            | "searchform"
            | "searchbar"
            | "copybtn"
            | "copy-button"
            | "clipboard"
            | "edit-this-page"
            | "edit-link"
            | "theme-edit-this-page"
            | "edit-page-link"
            | "share"
            | "social"
            | "lineno"
            | "linenos"
            | "linenodiv"
            | "line-numbers"
            | "src-line-numbers"
            | "linenumber"
            | "gutter"
            | "advertisement"
            | "footnote-reference"
            | "footnote-ref"
            | "footnote-backref"
            | "footnote-backlink"
            | "fn-backref"
    )
}

/// How sure the page is that the element is its content: 0 is best.
fn rank(page: &HtmlPage, index: usize, tag: Tag) -> Option<usize> {
    if tag == Tag::Main || page.attribute(index, Key::Role) == Some("main") {
        return Some(0);
    }
    if tag == Tag::Article {
        return Some(1);
    }
    if !matches!(tag, Tag::Div | Tag::Section | Tag::Td) {
        return None;
    }
    let id = page.attribute(index, Key::Id).and_then(|id| IDS.iter().position(|known| *known == id));
    let class = page.attribute(index, Key::Class).and_then(|classes| {
        let position = |class| CLASSES.iter().position(|known| *known == class);
        classes.split_ascii_whitespace().filter_map(position).min()
    });
    id.map(|id| 2 + id).or(class.map(|class| 2 + IDS.len() + class))
}

fn region(page: &HtmlPage, open: usize, named: bool) -> Region {
    Region { start: open, end: page.close(open), named }
}

/// Descends while one container holds four fifths of the letters that stand outside links.
fn narrow(page: &HtmlPage, letters: &Letters, body: Region) -> Region {
    let mut here = body;
    if letters.outside_links(here) < SPARSE {
        return here;
    }
    let mut index = here.start + 1;
    while index < here.end {
        if let Event::Open { tag, .. } = page.events[index] {
            let child = region(page, index, false);
            let container =
                matches!(tag, Tag::Div | Tag::Section | Tag::Td | Tag::Table | Tag::Tr | Tag::Block | Tag::Article);
            if container && letters.outside_links(child) * 5 >= letters.outside_links(here) * 4 {
                here = child;
            } else if child.end > index && letters.outside_links(child) * 5 < letters.outside_links(here) * 4 {
                index = child.end;
            }
        }
        index += 1;
    }
    here
}

/// Running counts of letters before each event, boilerplate not counted.
struct Letters {
    all: Vec<u32>,
    linked: Vec<u32>,
}

impl Letters {
    fn count(page: &HtmlPage, body: Region) -> Letters {
        let mut all = Vec::with_capacity(page.events.len() + 1);
        let mut linked = Vec::with_capacity(page.events.len() + 1);
        let (mut sum, mut sum_linked) = (0u32, 0u32);
        let (mut skip_to, mut link_to) = (body.start, 0);
        for (index, event) in page.events.iter().enumerate() {
            all.push(sum);
            linked.push(sum_linked);
            if index < skip_to {
                continue;
            }
            match *event {
                Event::Open { tag, .. } if is_boilerplate(page, index, tag, true) => skip_to = page.close(index),
                Event::Open { tag: Tag::A, .. } => link_to = page.close(index),
                Event::Text { start, end } => {
                    let count = page.text(start, end).bytes().filter(|b| !b.is_ascii_whitespace()).count() as u32;
                    sum = sum.saturating_add(count);
                    if index < link_to {
                        sum_linked = sum_linked.saturating_add(count);
                    }
                }
                _ => {}
            }
        }
        all.push(sum);
        linked.push(sum_linked);
        Letters { all, linked }
    }

    fn within(&self, region: Region) -> u64 {
        let end = region.end.min(self.all.len() - 1);
        u64::from(self.all[end].saturating_sub(self.all[region.start.min(end)]))
    }

    fn outside_links(&self, region: Region) -> u64 {
        let end = region.end.min(self.linked.len() - 1);
        let linked = self.linked[end].saturating_sub(self.linked[region.start.min(end)]);
        self.within(region).saturating_sub(u64::from(linked))
    }
}
