//! Which page a link of a Markdown file means: by path, by slug, by alias, or by a wiki name.
//!
//! - A path is tried with and without its ending, as a folder's `index`, `README` or `_index` (of which the first may
//!   mean the others), and with `.html` taken for `.md`; from the file's folder first, then from the folder that a server makes of the file itself.
//! - A path from the top that finds no file is looked up among aliases, then among slugs, of which it may end in one:
//!   `/en-US/docs/Web/API/Node` finds the slug `Web/API/Node`.
//! - A path from the top that finds nothing so is read in the ways that `mounts` found.
//! - A path that finds nothing at all finds the only page that differs from it in case alone.
//! - A term of a glossary is a page with that `id`, or a file of that name; a label stands before a heading somewhere.
//! - A wiki name is a file name, a path's end, or an alias; exact case before any case, and
//!   accents composed or not. Of several pages the nearest
//!   wins: most folders in common, then the shortest path, then the first.
//! - A link that names its own page is kept: the corpus drops it and counts it as a self link. A link to a mere part
//!   (`#part`, `[[#part]]`) is just text, uncounted.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::front::FrontMatter;
use super::mounts::{self, Mount};
use super::scheme::{LABEL, OBJECT, PAGE, POST, TERM};
use super::survey::PageSurvey;
use crate::document::losses::Loss;
use crate::import::sniff::{MARKDOWN_ENDINGS, REST_ENDINGS, has_ending, is_asset, is_attachment, without_ending};
use crate::import::text::{collapsed, distinct};
use crate::import::tree::href::{Base, Href, decode, folder, join};
use crate::import::tree::{FileTree, TreeFile, composed, is_file, safe_id};

/// Endings that turn a path into a file's.
const FORMS: [&str; 8] = [".md", "/index.md", "/README.md", "/_index.md", ".markdown", ".mdx", ".rst", "/index.rst"];

/// Parts of a slug at the end of a path; more are not looked for.
const MOST_PARTS: usize = 64;

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
    if has_ending(path, &MARKDOWN_ENDINGS) || has_ending(path, &REST_ENDINGS) { without_ending(path) } else { path }
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
    /// The first page with an alias, as [`plain`] writes it.
    aliases: HashMap<String, usize>,
    /// By slug, folded.
    slugs: HashMap<String, Namesakes>,
    /// By alias, folded.
    folded_aliases: HashMap<String, Namesakes>,
    /// By the end of the path, in four ways of comparing names.
    ends: [PathEnds; 4],
    /// Terms of glossaries, folded.
    terms: HashMap<String, usize>,
    /// The page that has a label, and the heading there.
    labels: HashMap<String, (usize, Option<String>)>,
    /// Paths from the top without the numbers that order pages (`01-intro`), folded; `None` if several have it.
    unnumbered: HashMap<String, Option<usize>>,
    /// Where the top of the site lies.
    mounts: Vec<Mount>,
}

/// Where a link leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundTarget {
    pub(super) id: String,
    /// The page of the set, if it is one.
    pub(super) page: Option<usize>,
    /// How it had to be found: a loss, and a sample of it.
    pub(super) by: Option<(Loss, String)>,
    /// The heading it leads to, if that is known.
    pub(super) heading: Option<String>,
}

impl FoundTarget {
    pub(super) fn page(tree: &FileTree, index: usize) -> FoundTarget {
        FoundTarget { id: tree.pages[index].id.clone(), page: Some(index), by: None, heading: None }
    }

    fn missing(id: String) -> FoundTarget {
        FoundTarget { id, page: None, by: None, heading: None }
    }
}

impl PageNames {
    pub(super) fn new(tree: &FileTree, surveys: &[PageSurvey], base: Option<&Base>) -> PageNames {
        let ids = tree.pages.iter().map(|page| page.id.clone()).collect();
        let mut aliases = HashMap::new();
        let (mut slugs, mut folded): (HashMap<String, Vec<usize>>, HashMap<String, Vec<usize>>) = Default::default();
        let (mut terms, mut labels, mut unnumbered) = (HashMap::new(), HashMap::new(), HashMap::new());
        for (index, PageSurvey { front, labels: own, .. }) in surveys.iter().enumerate() {
            let page = &tree.pages[index];
            if let Some(permalink) = &front.permalink {
                aliases.entry(plain(permalink)).or_insert(index);
            }
            if let Some(id) = front.id.as_deref().filter(|_| in_glossary(&page.path)) {
                terms.entry(fold(id)).or_insert(index);
            }
            for (label, heading) in own {
                labels.entry(fold(label)).or_insert_with(|| (index, heading.clone()));
            }
            let short = page.id.split('/').map(without_number).collect::<Vec<_>>().join("/");
            if short != page.id {
                unnumbered.entry(fold(&short)).and_modify(|only| *only = None).or_insert(Some(index));
            }
            for alias in &front.aliases {
                aliases.entry(plain(alias)).or_insert(index);
                folded.entry(fold(alias.trim())).or_default().push(index);
            }
            if let Some(slug) = &front.slug {
                slugs.entry(fold(&plain(slug))).or_default().push(index);
            }
        }
        let namesakes = |named: HashMap<String, Vec<usize>>| {
            named.into_iter().map(|(name, pages)| (name, Namesakes::new(tree, pages))).collect()
        };
        let ends = [str::to_owned, composed, fold, dashed].map(|fold| PathEnds::new(tree, fold));
        let (slugs, folded_aliases) = (namesakes(slugs), namesakes(folded));
        let mut names =
            PageNames { ids, aliases, slugs, folded_aliases, ends, terms, labels, unnumbered, mounts: Vec::new() };
        let lost = surveys.par_iter().enumerate().flat_map_iter(|(index, survey)| {
            let names = &names;
            let lost =
                move |path: &&String| names.resolve(tree, base, index, path).is_some_and(|found| found.page.is_none());
            survey.tops.iter().filter(lost).map(|path| plain(&decode(path)))
        });
        let lost: BTreeSet<String> = lost.filter(|path| !path.is_empty()).collect();
        let ending = |end: &str| {
            let found = names.ends[0].ending_in(end).iter().map(|(path, _)| path.as_str());
            found.collect::<Vec<_>>()
        };
        names.mounts = mounts::find(&lost, ending);
        names
    }

    /// Names that links may use for a page, beside its id; and aliases that are another page's id or alias.
    pub(super) fn aliases(&self, tree: &FileTree, index: usize, front: &FrontMatter) -> (Vec<String>, Vec<String>) {
        let only = |found: Option<&Namesakes>| found.is_some_and(|found| found.pages == [index]);
        let slug = front.slug.iter().map(|slug| plain(slug)).filter(|slug| only(self.slugs.get(&fold(slug))));
        let slug = slug.map(|slug| safe_id(&slug)).filter(|slug| !self.ids.contains(slug));
        let (mut all, mut taken): (Vec<String>, Vec<String>) = (slug.collect(), Vec::new());
        for alias in front.aliases.iter().chain(&front.permalink).map(|alias| plain(alias)) {
            let first = self.aliases.get(&alias) == Some(&index);
            let alias = safe_id(&alias);
            if alias != tree.pages[index].id {
                if first && !self.ids.contains(&alias) { &mut all } else { &mut taken }.push(alias);
            }
        }
        let [all, taken] = [all, taken].map(|list| distinct(list.into_iter().filter(|alias| !alias.is_empty())));
        (all, taken)
    }

    /// Where a CommonMark link leads; `None` if it is just text.
    pub(super) fn resolve(
        &self,
        tree: &FileTree,
        base: Option<&Base>,
        from: usize,
        target: &str,
    ) -> Option<FoundTarget> {
        let target = target.trim();
        if let Some(term) = target.strip_prefix(TERM) {
            return Some(self.term(tree, from, &decode(term)));
        }
        if let Some(label) = target.strip_prefix(LABEL) {
            let label = decode(label);
            return Some(self.label(tree, &label).unwrap_or_else(|| FoundTarget::missing(safe_id(&label))));
        }
        // What no page of the set describes is just words.
        if target.starts_with(OBJECT) {
            return self.label(tree, &decode(target)).filter(|found| found.page != Some(from));
        }
        if let Some(name) = target.strip_prefix(POST) {
            return self.wiki(tree, from, &decode(name));
        }
        // MyST: `<project:page.md#label>`; a mere `#label` may stand on another page.
        let target =
            ["project:", "path:", "doc:"].iter().find_map(|start| target.strip_prefix(start)).unwrap_or(target);
        if let Some(label) = target.strip_prefix('#') {
            return self.label(tree, &decode(label)).filter(|found| found.page != Some(from));
        }
        let by_path = target.strip_prefix(PAGE);
        let target = by_path.unwrap_or(target);
        let site = target.strip_prefix("@site/").map(|path| format!("/{path}"));
        let target = site.as_deref().unwrap_or(target);
        let page = &tree.pages[from];
        let (places, top): (Vec<String>, Option<String>) = match Href::read(target) {
            Href::Here | Href::Other => return None,
            Href::Relative(path) => (vec![join(folder(&page.full), path), join(stem(&page.full), path)], None),
            Href::Top(path) => {
                let path = base.and_then(|base| base.below_path(path)).unwrap_or(path);
                (tree.places_at(page.root, path), Some(decode(path)))
            }
            Href::Web(web) => {
                let path = base?.below(web)?;
                (tree.places_at(page.root, path), Some(decode(path)))
            }
        };
        let exact = |full: &String| find(tree, &decode(full), false).or_else(|| find(tree, full, false));
        let found = places.iter().find_map(exact);
        let name = top.as_deref().map(plain);
        if let Some(index) = found.or_else(|| self.by_name(tree, page, name.as_deref()?)) {
            return Some(FoundTarget::page(tree, index));
        }
        let moved = |mount: &Mount| {
            let place = mount.place(top.as_deref()?)?;
            let index = tree.places_at(page.root, &place).iter().find_map(|full| find(tree, full, false))?;
            Some(FoundTarget { by: Some((Loss::GuessedRoot, mount.shown())), ..FoundTarget::page(tree, index) })
        };
        if let Some(found) = self.mounts.iter().find_map(moved) {
            return Some(found);
        }
        let other = |full: &String| find(tree, &decode(full), true);
        let placed = self.mounts.iter().filter_map(|mount| mount.place(top.as_deref()?));
        let moved = placed.flat_map(|place| tree.places_at(page.root, &place));
        if let Some(index) = places.iter().find_map(other).or_else(|| moved.collect::<Vec<_>>().iter().find_map(other))
        {
            let sample = format!("{} ({} → {})", decode(target), page.path, tree.pages[index].path);
            return Some(FoundTarget { by: Some((Loss::OtherCase, sample)), ..FoundTarget::page(tree, index) });
        }
        // Hugo finds a page by its mere name.
        let bare = by_path.map(|path| decode(path.split('#').next().unwrap_or_default()));
        let bare = bare.filter(|path| !path.starts_with(['.', '/']));
        if let Some(index) = bare.and_then(|path| self.nearest(tree, page, stem(path.trim_end_matches('/')))) {
            return Some(FoundTarget::page(tree, index));
        }
        missing(tree, page.root, &decode(places.first()?)).map(FoundTarget::missing)
    }

    /// The page of a glossary's term.
    fn term(&self, tree: &FileTree, from: usize, term: &str) -> FoundTarget {
        let page = &tree.pages[from];
        let named = || GLOSSARIES.iter().find_map(|folder| self.nearest(tree, page, &format!("{folder}/{term}")));
        let found = self.terms.get(&fold(term)).copied().or_else(named).or_else(|| self.nearest(tree, page, term));
        found.map_or_else(|| FoundTarget::missing(safe_id(term)), |index| FoundTarget::page(tree, index))
    }

    /// The page that has a label.
    pub(super) fn page_of(&self, label: &str) -> Option<usize> {
        self.labels.get(&fold(&decode(label))).map(|(page, _)| *page)
    }

    fn label(&self, tree: &FileTree, label: &str) -> Option<FoundTarget> {
        let (index, heading) = self.labels.get(&fold(label))?;
        Some(FoundTarget { heading: heading.clone(), ..FoundTarget::page(tree, *index) })
    }

    /// The nearest page whose path ends in `wanted`.
    fn nearest(&self, tree: &FileTree, from: &TreeFile, wanted: &str) -> Option<usize> {
        self.ends.iter().find_map(|ends| ends.nearest(tree, from, wanted))
    }

    /// The page whose alias is `path`, or whose slug `path` ends in.
    fn by_name(&self, tree: &FileTree, from: &TreeFile, path: &str) -> Option<usize> {
        if let Some(&page) = self.aliases.get(path) {
            return Some(page);
        }
        let folded = fold(path);
        // Where the longest end begins that may be a slug.
        let start = folded.rmatch_indices('/').nth(MOST_PARTS - 1).map_or(0, |(at, _)| at + 1);
        let later = folded[start..].match_indices('/').map(|(at, _)| start + at + 1);
        let found = [start].into_iter().chain(later).find_map(|at| self.slugs.get(&folded[at..]));
        let found = found.and_then(|found| found.nearest(tree, from));
        found.or_else(|| self.unnumbered.get(&folded).copied().flatten())
    }

    /// Where a wiki link leads; `None` if it is just text.
    pub(super) fn wiki(&self, tree: &FileTree, from: usize, target: &str) -> Option<FoundTarget> {
        let target = decode(target.split('#').next().unwrap_or_default());
        let target = collapsed(&target);
        // In a table the bar is written `\|`.
        let target = target.trim_end_matches('\\').trim_start_matches('/');
        let wanted = stem(target);
        if wanted.is_empty() || target.contains("://") {
            return None;
        }
        let page = &tree.pages[from];
        let relative = wanted.contains("./").then(|| join(folder(&page.full), wanted));
        let found = relative
            .and_then(|full| find(tree, &full, false))
            .or_else(|| self.nearest(tree, page, wanted))
            .or_else(|| self.folded_aliases.get(&fold(wanted))?.nearest(tree, page));
        match found {
            Some(index) => Some(FoundTarget::page(tree, index)),
            None if wanted.len() < target.len() => Some(FoundTarget::missing(safe_id(wanted))),
            // `Node.js` may be a page that is not there, or a file that is.
            None => {
                let places = [join(folder(&page.full), target), tree.places_at(page.root, target).swap_remove(0)];
                let file =
                    is_attachment(target) || (is_asset(target) && places.iter().any(|full| Path::new(full).is_file()));
                (!file).then(|| FoundTarget::missing(safe_id(wanted)))
            }
        }
    }
}

/// Folders of the terms of a glossary.
const GLOSSARIES: [&str; 3] = ["glossary", "terms", "definitions"];

fn in_glossary(path: &str) -> bool {
    path.split('/').any(|part| GLOSSARIES.contains(&part))
}

/// A part of a path without the number that orders it: `01-intro`, `2. Guide`.
pub(crate) fn without_number(part: &str) -> &str {
    let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
    let short = rest.strip_prefix(['-', '_', '.']).map(|rest| rest.trim_start_matches([' ', '-']));
    short.filter(|short| rest.len() < part.len() && short.starts_with(char::is_alphabetic)).unwrap_or(part)
}

/// The page that a full path names; in any case if that is asked for.
fn find(tree: &FileTree, full: &str, any_case: bool) -> Option<usize> {
    let file = |full: &str| if any_case { tree.find_in_any_case(full) } else { tree.find(full) };
    let path = full.trim_end_matches('/');
    let bare = without_html(path);
    let forms = |stem: &str| {
        let form = |form: &&str| file(&format!("{stem}{form}"));
        let folder = FORMS.iter().filter(|form| full.ends_with('/') && form.starts_with('/')).find_map(form);
        folder.or_else(|| FORMS.iter().find_map(form))
    };
    // mdBook makes `folder/index.html` of `folder/README.md`.
    let readme = || file(&format!("{}/README.md", stem(bare.unwrap_or(path)).strip_suffix("/index")?));
    file(path).or_else(|| forms(path)).or_else(|| forms(bare?)).or_else(readme)
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

/// Pages that have a name in common, in the order of their folders: those that have most in common with another page's
/// stand side by side.
struct Namesakes {
    pages: Vec<usize>,
    /// The best of each run of 1, 2, 4, 8, … pages by number of folders, then by number: a sparse table.
    best: Vec<Vec<(usize, usize)>>,
}

impl Namesakes {
    fn new(tree: &FileTree, mut pages: Vec<usize>) -> Namesakes {
        let folders = |page: usize| folder(&tree.pages[page].full).split('/');
        pages.sort_by(|&a, &b| folders(a).cmp(folders(b)).then(a.cmp(&b)));
        pages.dedup();
        let mut best: Vec<Vec<_>> =
            vec![pages.iter().map(|&page| (tree.pages[page].path.split('/').count(), page)).collect()];
        let mut half = 1;
        while let Some(runs) = best.last().filter(|_| half * 2 <= pages.len()) {
            best.push(runs.iter().zip(&runs[half..]).map(|(a, b)| *a.min(b)).collect::<Vec<_>>());
            half *= 2;
        }
        Namesakes { pages, best }
    }

    /// The page with most folders in common with `from`, then the shortest path, then the first.
    fn nearest(&self, tree: &FileTree, from: &TreeFile) -> Option<usize> {
        let ours = || folder(&from.full).split('/');
        let folders = |page: usize| folder(&tree.pages[page].full).split('/');
        let common = |&page: &usize| ours().zip(folders(page)).take_while(|(ours, theirs)| ours == theirs).count();
        let (before, after) = self.pages.split_at(self.pages.partition_point(|&page| folders(page).lt(ours())));
        let most = before.last().map(common).max(after.first().map(common))?;
        let start = before.partition_point(|page| common(page) < most);
        let end = before.len() + after.partition_point(|page| common(page) == most);
        let runs = (end - start).ilog2();
        let table = &self.best[runs as usize];
        Some(table[start].min(table[end - (1 << runs)]).1)
    }
}

/// Pages by the ends of their paths and ids, names being compared in one way.
struct PathEnds {
    fold: fn(&str) -> String,
    /// Paths without endings and ids, sorted from their last part to the first.
    sorted: Vec<(String, usize)>,
    /// Pages by an end that several have, once a link has named it.
    several: Mutex<HashMap<String, Arc<Namesakes>>>,
}

impl PathEnds {
    fn new(tree: &FileTree, fold: fn(&str) -> String) -> PathEnds {
        let names = tree.pages.iter().enumerate().flat_map(|(index, page)| {
            let path = Some(stem(&page.path)).filter(|path| *path != page.id);
            path.into_iter().chain([page.id.as_str()]).map(move |name| (fold(name), index))
        });
        let mut sorted: Vec<(String, usize)> = names.collect();
        sorted.par_sort_unstable_by(|(a, one), (b, other)| a.rsplit('/').cmp(b.rsplit('/')).then(one.cmp(other)));
        PathEnds { fold, sorted, several: Mutex::default() }
    }

    /// Paths and ids that end in `wanted`, which is folded.
    fn ending_in(&self, wanted: &str) -> &[(String, usize)] {
        let parts = wanted.split('/').count();
        let start = self.sorted.partition_point(|(path, _)| path.rsplit('/').lt(wanted.rsplit('/')));
        let rest = &self.sorted[start..];
        &rest[..rest.partition_point(|(path, _)| path.rsplit('/').take(parts).eq(wanted.rsplit('/')))]
    }

    /// The page nearest to `from` whose path or id ends in `wanted`.
    fn nearest(&self, tree: &FileTree, from: &TreeFile, wanted: &str) -> Option<usize> {
        let wanted = (self.fold)(wanted);
        let found = self.ending_in(&wanted);
        match found {
            [] => None,
            [(_, only)] => Some(*only),
            _ => {
                let mut several = self.several.lock().unwrap_or_else(PoisonError::into_inner);
                let pages = || found.iter().map(|&(_, page)| page).collect();
                let found = several.entry(wanted).or_insert_with(|| Arc::new(Namesakes::new(tree, pages()))).clone();
                drop(several);
                found.nearest(tree, from)
            }
        }
    }
}

/// A name as names are compared: composed, in lower case.
fn fold(name: &str) -> String {
    composed(name).to_lowercase()
}

/// A name as GitHub's wikis compare them: blanks are dashes.
fn dashed(name: &str) -> String {
    fold(name).replace(' ', "-")
}

/// A path as names are compared: no slashes around it, no ending.
fn plain(path: &str) -> String {
    let path = path.trim().trim_matches('/');
    let path = path.strip_suffix(".html").unwrap_or(path);
    let path = stem(path);
    composed(path.strip_suffix("/index").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::super::{Markdown, MarkdownOptions};
    use super::*;
    use crate::tests::growth::assert_linear;

    fn tree(paths: impl Iterator<Item = String>) -> (tempfile::TempDir, Markdown) {
        let dir = tempfile::tempdir().expect("a directory");
        for path in paths {
            let file = dir.path().join(path);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            std::fs::write(file, "---\naliases: [same]\nslug: one/slug\n---\nwords").expect("written");
        }
        let markdown = Markdown::open(&[dir.path().to_owned()], &MarkdownOptions::default()).expect("pages");
        (dir, markdown)
    }

    #[test]
    fn the_nearest_of_many_is_found_as_by_looking_at_all() {
        let folders = ["", "a/", "a/b/", "a/b/c/", "a/x/", "b/", "b/a/", "ab/", "a/b c/"];
        let paths =
            folders.iter().flat_map(|folder| ["n.md", "z/n.md", "other.md"].map(|name| format!("{folder}{name}")));
        let (_dir, Markdown { tree, names, .. }) = tree(paths);
        let pages = &tree.pages;
        for from in 0..pages.len() {
            let common = |page: &TreeFile| {
                let (ours, theirs) = (folder(&pages[from].full).split('/'), folder(&page.full).split('/'));
                ours.zip(theirs).take_while(|(ours, theirs)| ours == theirs).count()
            };
            let nearest = |wanted: &dyn Fn(&str) -> bool| {
                let all = (0..pages.len()).filter(|&page| wanted(&format!("/{}", pages[page].path)));
                let rank =
                    |&page: &usize| (usize::MAX - common(&pages[page]), pages[page].path.split('/').count(), page);
                all.min_by_key(rank).map(|page| pages[page].id.clone())
            };
            for (link, end) in [("n", "/n.md"), ("z/n", "/z/n.md"), ("b/N", "/b/n.md"), ("same", "")] {
                let found = names.wiki(&tree, from, link).map(|found| found.id);
                assert_eq!(found, nearest(&|path| path.ends_with(end)), "{link} from {from}");
            }
            let top = names.resolve(&tree, None, from, "/far/one/slug").map(|found| found.id);
            assert_eq!(top, nearest(&|_| true));
        }
    }

    #[test]
    fn links_to_names_that_many_pages_have_take_time_in_proportion() {
        // The files are made once: the time for them is not measured.
        let numbers = [256, 2048];
        let trees = numbers.map(|pages| tree((0..pages).map(|number| format!("f{number}/x/index.md"))));
        for link in ["index", "x/index", "INDEX", "X/Index", "same", "f0/x/index", "none"] {
            assert_linear(link, numbers[1], |pages| {
                let (_, Markdown { tree, names, .. }) = &trees[usize::from(pages == numbers[1])];
                for round in 0..pages * 4 {
                    let found = names.wiki(tree, round % pages, link).expect("an id").id;
                    let other = link == "none" || link.starts_with("f0");
                    assert!(other || found == tree.pages[round % pages].id);
                    assert!(names.resolve(tree, None, round % pages, "/far/one/slug").is_some());
                }
            });
        }
        let (_, Markdown { tree, names, .. }) = &trees[0];
        assert_linear("a link of many parts", 100_000, |parts| {
            drop(names.resolve(tree, None, 0, &format!("/{}", "a/".repeat(parts))));
        });
    }
}
