//! Which page a link of a Markdown file means: by path, by slug, by alias, or by a wiki name.
//!
//! - A path is tried with and without its ending, as a folder's `index`, `README` or `_index` (of which the first may
//!   mean the others), and with `.html` taken for `.md`; from the file's folder first, then from the folder that a server makes of the file itself.
//! - A path from the top that finds no file is looked up among aliases, then among slugs, of which it may end in one:
//!   `/en-US/docs/Web/API/Node` finds the slug `Web/API/Node`.
//! - A wiki name is a file name, a path's end, or an alias; exact case before any case, and
//!   accents composed or not. Of several pages the nearest
//!   wins: most folders in common, then the shortest path, then the first.
//! - A link that names its own page is kept: the corpus drops it and counts it as a self link. A link to a mere part
//!   (`#part`, `[[#part]]`) is just text, uncounted.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::front::FrontMatter;
use crate::import::sniff::{MARKDOWN_ENDINGS, has_ending, is_asset, is_attachment, without_ending};
use crate::import::text::collapsed;
use crate::import::tree::href::{Base, Href, decode, folder, join};
use crate::import::tree::{FileTree, TreeFile, composed, is_file, safe_id};

/// Endings that turn a path into a file's.
const FORMS: [&str; 6] = [".md", "/index.md", "/README.md", "/_index.md", ".markdown", ".mdx"];

/// The id of the file at `path`, without prefix.
pub(super) fn name(path: &str) -> String {
    let stem = stem(path);
    for index in ["/index", "/_index"] {
        if let Some(folder) = stem.strip_suffix(index) {
            return folder.to_owned();
        }
    }
    if stem == "_index" { "index".to_owned() } else { stem.to_owned() }
}

/// The path without a Markdown ending.
fn stem(path: &str) -> &str {
    if has_ending(path, &MARKDOWN_ENDINGS) { without_ending(path) } else { path }
}

/// Gives a page whose id another page has already its full path as id: `folder/index`.
pub(super) fn part_doubles(tree: &mut FileTree) {
    let mut seen = HashSet::new();
    for index in 0..tree.pages.len() {
        if !seen.insert(tree.pages[index].id.clone()) {
            let full = tree.site_path(&tree.pages[index]);
            let id = if seen.contains(stem(&full)) { safe_id(&full) } else { safe_id(stem(&full)) };
            tree.pages[index].id = id.clone();
            seen.insert(id);
        }
    }
}

/// Other names of pages than their paths.
pub(super) struct PageNames {
    ids: HashSet<String>,
    /// By alias, as [`plain`] writes it.
    aliases: HashMap<String, Vec<usize>>,
    /// By slug, folded.
    slugs: HashMap<String, Vec<usize>>,
    /// By file name, folded, without ending; also by alias.
    files: HashMap<String, Vec<usize>>,
}

impl PageNames {
    pub(super) fn new(tree: &FileTree, fronts: &[FrontMatter]) -> PageNames {
        let ids = tree.pages.iter().map(|page| page.id.clone()).collect();
        let mut names = PageNames { ids, aliases: HashMap::new(), slugs: HashMap::new(), files: HashMap::new() };
        for (index, (page, front)) in tree.pages.iter().zip(fronts).enumerate() {
            let mut files: Vec<String> = vec![fold(last(stem(&page.path))), fold(last(&page.id))];
            for alias in &front.aliases {
                names.aliases.entry(plain(alias)).or_default().push(index);
                files.push(fold(alias.trim()));
            }
            if let Some(slug) = &front.slug {
                names.slugs.entry(fold(&plain(slug))).or_default().push(index);
            }
            files.dedup();
            for file in files {
                names.files.entry(file).or_default().push(index);
            }
        }
        names
    }

    /// Names that links may use for a page, beside its id; and aliases that are another page's id or alias.
    pub(super) fn aliases(&self, tree: &FileTree, index: usize, front: &FrontMatter) -> (Vec<String>, Vec<String>) {
        let only = |found: Option<&Vec<usize>>| found.is_some_and(|pages| *pages == [index]);
        let slug = front.slug.iter().map(|slug| plain(slug)).filter(|slug| only(self.slugs.get(&fold(slug))));
        let slug = slug.map(|slug| safe_id(&slug)).filter(|slug| !self.ids.contains(slug));
        let (mut all, mut taken): (Vec<String>, Vec<String>) = (slug.collect(), Vec::new());
        for alias in front.aliases.iter().map(|alias| plain(alias)) {
            let first = self.aliases.get(&alias).is_some_and(|pages| pages.first() == Some(&index));
            let alias = safe_id(&alias);
            let list = if first && !self.ids.contains(&alias) { &mut all } else { &mut taken };
            if alias != tree.pages[index].id && !alias.is_empty() && !list.contains(&alias) {
                list.push(alias);
            }
        }
        all.retain(|alias| !alias.is_empty());
        (all, taken)
    }

    /// Whether a page of the set has this id.
    pub(super) fn is_page(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// The id that a CommonMark link leads to; `None` if it is just text.
    pub(super) fn resolve(&self, tree: &FileTree, base: Option<&Base>, from: usize, target: &str) -> Option<String> {
        let page = &tree.pages[from];
        let (places, top): (Vec<String>, Option<String>) = match Href::read(target) {
            Href::Here | Href::Other => return None,
            Href::Relative(path) => (vec![join(folder(&page.full), path), join(stem(&page.full), path)], None),
            Href::Top(path) => {
                let path = base.and_then(|base| base.below_path(path)).unwrap_or(path);
                (tree.places_at(page.root, path), Some(plain(&decode(path))))
            }
            Href::Web(web) => {
                let path = base?.below(web)?;
                (tree.places_at(page.root, path), Some(plain(&decode(path))))
            }
        };
        let found = places.iter().find_map(|full| find(tree, &decode(full)).or_else(|| find(tree, full)));
        let found = found.or_else(|| self.by_name(tree, page, top.as_deref()?));
        match found {
            Some(index) => Some(tree.pages[index].id.clone()),
            None => missing(tree, page.root, &decode(places.first()?)),
        }
    }

    /// The page whose alias is `path`, or whose slug `path` ends in.
    fn by_name(&self, tree: &FileTree, from: &TreeFile, path: &str) -> Option<usize> {
        if let Some(pages) = self.aliases.get(path) {
            return pages.first().copied();
        }
        let mut rest = fold(path);
        loop {
            if let Some(pages) = self.slugs.get(&rest) {
                return nearest(tree, from, pages.iter().copied());
            }
            rest = rest.split_once('/')?.1.to_owned();
        }
    }

    /// The id that a wiki link leads to; `None` if it is just text.
    pub(super) fn wiki(&self, tree: &FileTree, from: usize, target: &str) -> Option<String> {
        let target = decode(target.split('#').next().unwrap_or_default());
        let target = collapsed(&target);
        // In a table the bar is written `\|`.
        let target = target.trim_end_matches('\\').trim_start_matches('/');
        let wanted = stem(target);
        if wanted.is_empty() || target.contains("://") {
            return None;
        }
        let page = &tree.pages[from];
        let pages = self.files.get(&fold(last(wanted))).or_else(|| self.files.get(&fold(wanted)));
        let pages = pages.map(Vec::as_slice).unwrap_or_default();
        let ends = |index: &usize, fold: fn(&str) -> String| {
            let page = &tree.pages[*index];
            let wanted = fold(wanted);
            let ends = |path: &str| {
                fold(path).strip_suffix(&*wanted).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            };
            ends(stem(&page.path)) || ends(&page.id)
        };
        let relative = wanted.contains("./").then(|| join(folder(&page.full), wanted));
        let found = relative
            .and_then(|full| find(tree, &full))
            .or_else(|| nearest(tree, page, pages.iter().copied().filter(|page| ends(page, str::to_owned))))
            .or_else(|| nearest(tree, page, pages.iter().copied().filter(|page| ends(page, composed))))
            .or_else(|| nearest(tree, page, pages.iter().copied().filter(|page| ends(page, fold))))
            .or_else(|| nearest(tree, page, self.files.get(&fold(wanted))?.iter().copied()));
        match found {
            Some(index) => Some(tree.pages[index].id.clone()),
            None if wanted.len() < target.len() => Some(safe_id(wanted)),
            // `Node.js` may be a page that is not there, or a file that is.
            None => {
                let places = [join(folder(&page.full), target), tree.places_at(page.root, target).swap_remove(0)];
                let file =
                    is_attachment(target) || (is_asset(target) && places.iter().any(|full| Path::new(full).is_file()));
                (!file).then(|| safe_id(wanted))
            }
        }
    }
}

/// The page that a full path names.
fn find(tree: &FileTree, full: &str) -> Option<usize> {
    let path = full.trim_end_matches('/');
    let bare = without_html(path);
    let forms = |stem: &str| {
        let form = |form: &&str| tree.find(&format!("{stem}{form}"));
        let folder = FORMS.iter().filter(|form| full.ends_with('/') && form.starts_with('/')).find_map(form);
        folder.or_else(|| FORMS.iter().find_map(form))
    };
    // mdBook makes `folder/index.html` of `folder/README.md`.
    let readme = || tree.find(&format!("{}/README.md", stem(bare.unwrap_or(path)).strip_suffix("/index")?));
    tree.find(path).or_else(|| forms(path)).or_else(|| forms(bare?)).or_else(readme)
}

/// The id of a page that is not in the set, but looks as if it should be.
fn missing(tree: &FileTree, root: usize, full: &str) -> Option<String> {
    let path = full.trim_end_matches('/');
    let page = stem(path).len() < path.len();
    if !page && is_file(path) {
        return None;
    }
    let path = without_html(path).unwrap_or(path);
    tree.missing(root, if page { path.to_owned() } else { format!("{path}.md") }.as_str(), name)
}

/// The path without an ending of HTML, if it has one: Markdown is often written to be served as such.
fn without_html(path: &str) -> Option<&str> {
    has_ending(path, &["html", "htm"]).then(|| without_ending(path))
}

/// The page with most folders in common with `from`, then the shortest path, then the first.
fn nearest(tree: &FileTree, from: &TreeFile, pages: impl Iterator<Item = usize>) -> Option<usize> {
    let common = |page: &TreeFile| {
        let (ours, theirs) = (folder(&from.full).split('/'), folder(&page.full).split('/'));
        ours.zip(theirs).take_while(|(ours, theirs)| ours == theirs).count()
    };
    pages.min_by_key(|&index| {
        let page = &tree.pages[index];
        (usize::MAX - common(page), page.path.split('/').count(), index)
    })
}

/// A name as names are compared: composed, in lower case.
fn fold(name: &str) -> String {
    composed(name).to_lowercase()
}

/// A path as names are compared: no slashes around it, no ending.
fn plain(path: &str) -> String {
    let path = path.trim().trim_matches('/');
    let path = path.strip_suffix(".html").unwrap_or(path);
    let path = stem(path);
    composed(path.strip_suffix("/index").unwrap_or(path))
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
