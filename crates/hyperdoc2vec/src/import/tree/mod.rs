//! A tree of files as the pages of a site: walking it, naming its pages, finding the page that a path names.
//!
//! Paths inside this folder are `/`-separated text. A *relative* path starts at a root, a *full* one at the top of
//! the file system, so that a link out of one root into another finds its page.
//!
//! Walking takes every file with one of the wanted endings, sorted by the bytes of its relative path, root after root.
//! Entries whose name begins with a dot are passed over; links to directories are not followed, links to files are, if
//! those stand in the same root: a tree from elsewhere must not bring other files of this machine into a corpus.
//! Links that lead out are counted, as are pages that are no files (a pipe would never end).
//! A root that is a single file stands for its directory with that file alone, whatever the globs.
//! Packed files (`page.html.gz`) are pages under the name without that ending; of `page.html` and `page.html.gz`, the
//! first is read. Folders that the globs leave out are not looked into; those that cannot be read are counted.
//!
//! **Ids with several roots.** An id is the relative path. If a name occurs in two roots, the ids of *all* roots are
//! prefixed by their root's directory name (`book/index.html`, `std/index.html`; a repeated directory name gets `-2`,
//! `-3`), else none is.

pub(super) mod href;

use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use icu_normalizer::ComposingNormalizer;
use std::collections::HashMap;
use walkdir::WalkDir;

use super::shares::InputDigest;
use super::sniff::{ending, has_ending, is_asset, is_other};
use super::{Parsed, source};
use crate::document::losses::{Loss, Losses};
use crate::document::{Document, Link};
use crate::error::{Error, Result};
use href::{join, relative};

/// Pages read by one call of `parse`.
const BATCH: usize = 32;
/// Larger files are no pages.
const LARGEST: u64 = 256 << 20;

/// Which files are wanted.
pub(super) struct WantedFiles<'a> {
    /// The name of such files in messages.
    pub(super) what: &'static str,
    /// Lower-case file name endings without the dot.
    pub(super) endings: &'static [&'static str],
    pub(super) include: &'a [String],
    pub(super) exclude: &'a [String],
}

/// Files to take or to list beside the wanted ones.
#[derive(Default)]
pub(super) struct ExtraFiles {
    /// Whether a packed file without any other ending is a page too.
    pub(super) bare: bool,
    /// Endings of files that are no pages, but are listed.
    pub(super) others: &'static [&'static str],
}

/// Pages that were found, and are read one by one in any order.
pub trait Pages {
    /// How many pages there are.
    fn len(&self) -> usize;

    /// A flag that ends, once set, what would hold up the reading of a page; none where a page takes a moment.
    fn stop(&self) -> Option<&AtomicBool> {
        None
    }

    /// Reads page `index` into `parsed`.
    fn parse_page(&self, index: usize, parsed: &mut Parsed);

    /// Whether there is no page.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs of pages for [`Pages::parse`], in order; the same whatever the number of threads.
    fn batches(&self) -> Vec<Range<usize>> {
        (0..self.len()).step_by(BATCH).map(|start| start..self.len().min(start + BATCH)).collect()
    }

    /// Which of the batches it is.
    fn batch_number(&self, batch: &Range<usize>) -> u32 {
        (batch.start / BATCH) as u32
    }

    /// A checksum of the names and sizes of all files, by which trees are told apart.
    fn digest(&self) -> u64;

    /// Reads the pages of a batch.
    fn parse(&self, batch: Range<usize>) -> Parsed {
        let mut parsed = Parsed::default();
        for index in batch.start..batch.end.min(self.len()) {
            self.parse_page(index, &mut parsed);
        }
        parsed
    }
}

/// One file of the tree.
pub(super) struct TreeFile {
    pub(super) file: PathBuf,
    pub(super) root: usize,
    /// Path below the root, without the ending of a packed file.
    pub(super) path: String,
    /// That ending, or nothing.
    packed: String,
    /// Other files that would be this page.
    twins: Vec<String>,
    /// Path from the top of the file system.
    pub(super) full: String,
    pub(super) id: String,
}

struct Root {
    full: String,
    name: String,
    /// Empty, or the directory name and a slash.
    prefix: String,
}

/// All pages of all roots.
pub(super) struct FileTree {
    roots: Vec<Root>,
    pub(super) pages: Vec<TreeFile>,
    by_full: HashMap<String, usize>,
    /// By full path with accents and the like composed.
    by_composed: HashMap<String, usize>,
    /// By full path in lower case, once one was looked for; `None` where several pages differ only in case.
    by_folded: OnceLock<HashMap<String, Option<usize>>>,
    filter: Filter,
    /// Root and path of files with one of the other endings, in the order of the paths.
    pub(super) others: Vec<(usize, String)>,
    /// Entries that the walk could not read.
    pub(super) losses: Losses,
}

impl FileTree {
    /// Walks `roots`; `name` turns a relative path into an id without prefix.
    pub(super) fn open(roots: &[PathBuf], wanted: &WantedFiles<'_>, name: fn(&str) -> String) -> Result<FileTree> {
        FileTree::open_with(roots, wanted, &ExtraFiles::default(), name)
    }

    /// Like [`FileTree::open`], with more than the wanted files.
    pub(super) fn open_with(
        roots: &[PathBuf],
        wanted: &WantedFiles<'_>,
        extra: &ExtraFiles,
        name: fn(&str) -> String,
    ) -> Result<FileTree> {
        let filter = Filter::new(wanted)?;
        let mut tree = FileTree {
            roots: Vec::new(),
            pages: Vec::new(),
            by_full: HashMap::new(),
            by_composed: HashMap::new(),
            by_folded: OnceLock::new(),
            filter,
            others: Vec::new(),
            losses: Losses::default(),
        };
        for root in roots {
            tree.walk(root, wanted, extra)?;
        }
        if tree.pages.is_empty() {
            let place = roots.iter().map(|root| root.display().to_string()).collect::<Vec<_>>().join(", ");
            let endings = wanted.endings.join(", .");
            let hint = if wanted.include.is_empty() { "" } else { " that the include and exclude globs let through" };
            let found = tree.others.first().map_or("none".to_owned(), |(_, path)| format!("only the like of {path}"));
            return Err(Error::input(place, format!("expected {} (.{endings}){hint}, found {found}", wanted.what)));
        }
        tree.name(name);
        Ok(tree)
    }

    fn walk(&mut self, given: &Path, wanted: &WantedFiles<'_>, extra: &ExtraFiles) -> Result<()> {
        if given.as_os_str() == "-" {
            return Err(Error::input("-", "this format reads directories and files, not standard input"));
        }
        let single = std::fs::metadata(given).map_err(Error::io("read", given))?.is_file();
        let directory = if single { given.parent().unwrap_or(Path::new("")) } else { given };
        let full = full_path(directory)?;
        let root = match self.roots.iter().position(|known| known.full == full) {
            Some(known) => known,
            None => {
                let name = full.rsplit('/').next().unwrap_or_default().to_owned();
                self.roots.push(Root { full: full.clone(), name, prefix: String::new() });
                self.roots.len() - 1
            }
        };
        let mut found = Vec::new();
        if single {
            let name = given.file_name().unwrap_or(given.as_os_str()).to_string_lossy();
            let (name, packed) = source::split_packed(&name);
            if !self.filter.is_page(name) && is_other(name) {
                let (what, endings) = (wanted.what, wanted.endings.join(", ."));
                let what = format!("expected {what} (.{endings}, packed or not), found another kind of file");
                return Err(Error::input(given.display().to_string(), what));
            }
            found.push((name.to_owned(), packed.to_owned(), given.to_owned()));
        } else {
            let below = |path: &Path| slashed(path.strip_prefix(given).unwrap_or(path));
            let filter = &self.filter;
            let seen = |entry: &walkdir::DirEntry| {
                let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
                let left_out = || entry.file_type().is_dir() && filter.exclude.is_match(below(entry.path()));
                entry.depth() == 0 || !(hidden || left_out())
            };
            for entry in WalkDir::new(given).into_iter().filter_entry(seen) {
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        let path = error.path().unwrap_or(given).to_owned();
                        if error.depth() == 0 {
                            return Err(Error::Io { doing: "walk", path, source: error.into() });
                        }
                        let why = error.io_error().map_or("cannot be walked".to_owned(), ToString::to_string);
                        self.losses.add(Loss::MalformedRecord, format!("{}: {why}", below(&path)));
                        continue;
                    }
                };
                // Of a link, that which it leads to; a link that leads nowhere, or in a circle, is nothing.
                let link = entry.path_is_symlink();
                let leads_to = || Some(entry.path().metadata().ok()?.file_type());
                let Some(kind) = (if link { leads_to() } else { Some(entry.file_type()) }) else { continue };
                if kind.is_dir() && !link {
                    continue;
                }
                let path = below(entry.path());
                let (page, packed) = source::split_packed(&path);
                let bare = || extra.bare && !packed.is_empty() && ending(page).is_none();
                if !self.filter.takes(&[page, &path]) {
                    continue;
                }
                let wanted = self.filter.is_page(page) || bare();
                if link && (wanted || kind.is_dir()) && !is_below(entry.path(), given) {
                    self.losses.add(Loss::UnreadFile, format!("{path}: a link that leads out of the tree"));
                } else if kind.is_dir() {
                    continue;
                } else if wanted && !kind.is_file() {
                    self.losses.add(Loss::UnreadFile, format!("{path}: not a file"));
                } else if wanted {
                    found.push((page.to_owned(), packed.to_owned(), entry.into_path()));
                } else if has_ending(page, extra.others) {
                    self.others.push((root, path));
                }
            }
        }
        found.sort_unstable();
        self.others.sort_unstable();
        for (path, packed, file) in found {
            let full = format!("{full}/{path}");
            if let Some(&known) = self.by_full.get(&full) {
                let known = &mut self.pages[known];
                let twin = format!("{path}{packed}");
                if known.packed != packed && !known.twins.contains(&twin) {
                    known.twins.push(twin);
                }
                continue;
            }
            if !full.is_ascii() {
                self.by_composed.entry(composed(&full)).or_insert(self.pages.len());
            }
            self.by_full.insert(full.clone(), self.pages.len());
            self.pages.push(TreeFile { file, root, path, packed, twins: Vec::new(), full, id: String::new() });
        }
        Ok(())
    }

    /// Reads the bytes of page `index`. Counts what cannot be read, and files that would be the same page; with the
    /// first page, what the walk could not read.
    pub(super) fn read(&self, index: usize, losses: &mut Losses) -> Option<Vec<u8>> {
        let page = &self.pages[index];
        if index == 0 {
            losses.merge(self.losses.clone());
        }
        for twin in &page.twins {
            losses.add(Loss::DuplicateId, format!("{} ({twin})", page.id));
        }
        let why = match read(&page.file) {
            Ok(bytes) => return Some(bytes),
            Err(why) => why,
        };
        losses.add(Loss::MalformedRecord, format!("{}{}: {why}", page.path, page.packed));
        None
    }

    /// A digest of the names and sizes of all pages, behind what `digest` has taken in.
    pub(super) fn digest(&self, mut digest: InputDigest) -> u64 {
        self.pages.iter().for_each(|page| digest.file(&page.id, &page.file));
        digest.finish()
    }

    /// Gives every page its id, with prefixes if two roots share a name.
    fn name(&mut self, name: fn(&str) -> String) {
        let mut owner: HashMap<String, usize> = HashMap::new();
        let clash = self.pages.iter().any(|page| *owner.entry(name(&page.path)).or_insert(page.root) != page.root);
        if clash {
            for index in 0..self.roots.len() {
                let same = self.roots[..index].iter().filter(|root| root.name == self.roots[index].name).count();
                let root = &mut self.roots[index];
                root.prefix =
                    if same == 0 { format!("{}/", root.name) } else { format!("{}-{}/", root.name, same + 1) };
            }
        }
        for page in &mut self.pages {
            page.id = safe_id(&format!("{}{}", self.roots[page.root].prefix, name(&page.path)));
        }
    }

    /// The page with this full path, packed or not, its accents composed or not.
    pub(super) fn find(&self, full: &str) -> Option<usize> {
        let bare = source::split_packed(full).0;
        let exact = self.by_full.get(full).or_else(|| self.by_full.get(bare));
        let other = || {
            let full = composed(full);
            self.by_composed.get(&full).or_else(|| self.by_composed.get(source::split_packed(&full).0))
        };
        exact.or_else(|| if full.is_ascii() { None } else { other() }).copied()
    }

    /// The only page whose full path differs from this one at most in case.
    pub(super) fn find_in_any_case(&self, full: &str) -> Option<usize> {
        let fold = |full: &str| composed(full).to_lowercase();
        let folded = self.by_folded.get_or_init(|| {
            let mut folded = HashMap::with_capacity(self.pages.len());
            for (index, page) in self.pages.iter().enumerate() {
                folded.entry(fold(&page.full)).and_modify(|only| *only = None).or_insert(Some(index));
            }
            folded
        });
        folded.get(&fold(full)).copied().flatten()
    }

    /// Full paths that a path from the top of the site may mean, seen from a page of `root`.
    pub(super) fn places_at(&self, root: usize, path: &str) -> Vec<String> {
        let path = path.trim_start_matches('/');
        let mut full = Vec::new();
        full.push(join(&self.roots[root].full, path));
        for (index, other) in self.roots.iter().enumerate() {
            if let Some(below) = path.strip_prefix(&other.prefix)
                && (index != root || !other.prefix.is_empty())
            {
                full.push(join(&other.full, below));
            }
        }
        full
    }

    /// The path of a page below the site's top, with its root's prefix.
    pub(super) fn site_path(&self, page: &TreeFile) -> String {
        format!("{}{}", self.roots[page.root].prefix, page.path)
    }

    /// The id that a page at `full` would have, seen from a page of `root`, if it is not left out on purpose. One that
    /// lies in no root is called by its path from this one: `../page.html`.
    pub(super) fn missing(&self, root: usize, full: &str, name: fn(&str) -> String) -> Option<String> {
        let below = |root: &Root| Some(full.strip_prefix(&root.full)?.strip_prefix('/')?.to_owned());
        let inside = self.roots.iter().filter_map(|root| Some((root, below(root)?)));
        let Some((root, path)) = inside.max_by_key(|(root, _)| root.full.len()) else {
            let Root { full: from, prefix, .. } = &self.roots[root];
            let path = name(&relative(from, full));
            // The prefix is the folder that this goes up from.
            return Some(safe_id(path.strip_prefix("../").filter(|_| !prefix.is_empty()).unwrap_or(&path)));
        };
        let hidden = path.split('/').any(|part| part.starts_with('.'));
        let wanted = !hidden && self.filter.takes(&[&path]);
        wanted.then(|| safe_id(&format!("{}{}", root.prefix, name(&path))))
    }
}

/// Whether a file really stands below a directory, links resolved.
pub(super) fn is_below(file: &Path, directory: &Path) -> bool {
    matches!((file.canonicalize(), directory.canonicalize()), (Ok(file), Ok(directory)) if file.starts_with(&directory))
}

/// Whether a link to `full`, which is no page, leads to another kind of file: one with such an ending, or any that
/// exists.
pub(super) fn is_file(full: &str) -> bool {
    is_asset(full) || Path::new(full).is_file()
}

/// A name as names are compared if they are not the same: file systems and keyboards differ in how they write `é`.
pub(super) fn composed(name: &str) -> String {
    ComposingNormalizer::new_nfc().normalize(name).into_owned()
}

/// Reads a page's bytes, unpacked; the error is the reason.
pub(super) fn read(file: &Path) -> std::result::Result<Vec<u8>, String> {
    let bytes = source::read_file(file, LARGEST).map_err(|error| error.to_string())?;
    bytes.ok_or_else(|| format!("expected a page of at most {} MB, found more", LARGEST >> 20))
}

/// Percent-encodes what cannot stand in an id between link marks, and white space at its ends, which is cut off there.
pub(super) fn safe_id(path: &str) -> String {
    let inner = path.trim();
    let start = path.len() - path.trim_start().len();
    let safe = |at: usize, c: char| {
        !matches!(c, '|' | '[' | ']') && !c.is_control() && (start..start + inner.len()).contains(&at)
    };
    if path.char_indices().all(|(at, c)| safe(at, c)) {
        return path.to_owned();
    }
    let mut id = String::with_capacity(path.len() + 8);
    let mut bytes = [0; 4];
    for (at, c) in path.char_indices() {
        if safe(at, c) {
            id.push(c);
        } else {
            c.encode_utf8(&mut bytes).bytes().for_each(|byte| id.push_str(&format!("%{byte:02X}")));
        }
    }
    id
}

/// Bytes of the longest anchor that a section is called by.
pub(super) const LONGEST_ANCHOR: usize = 500;
/// Bytes of a page's title, address or labels that are copied to all its sections.
const COPIED: usize = 1000;

/// The id of a section of a page.
pub(super) fn section_id(page: &str, anchor: &str) -> String {
    safe_id(&format!("{page}#{anchor}"))
}

impl Document {
    /// A section of this page: called by its name and the page's title, unless it is a name with dots, which says all.
    pub(super) fn section(&self, anchor: &str, name: &str, text: String, links: Vec<Link>) -> Document {
        let whole = self.title.as_deref().filter(|title| title.len() <= COPIED);
        let title = match whole.filter(|_| !name.contains('.') || name.contains(' ')) {
            Some(page) if !name.is_empty() => format!("{name} — {page}"),
            Some(page) => page.to_owned(),
            None => name.to_owned(),
        };
        let url = self.url.as_ref().filter(|url| url.len() <= COPIED);
        let labels = Some(&self.labels).filter(|labels| labels.iter().map(String::len).sum::<usize>() <= COPIED);
        Document {
            id: section_id(&self.id, anchor),
            title: Some(title).filter(|title| !title.is_empty()),
            url: url.map(|url| format!("{}#{anchor}", url.split('#').next().unwrap_or(url))),
            text,
            links,
            authors: self.authors.clone(),
            labels: labels.cloned().unwrap_or_default(),
            language: self.language.clone(),
            origin: self.origin.clone(),
            date: self.date,
        }
    }
}

fn full_path(directory: &Path) -> Result<String> {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let absolute = std::path::absolute(directory).map_err(Error::io("find", directory))?;
    let mut parts: Vec<String> = Vec::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            Component::Prefix(prefix) => parts.push(prefix.as_os_str().to_string_lossy().into_owned()),
            Component::RootDir | Component::CurDir => {}
        }
    }
    Ok(parts.iter().map(|part| format!("/{part}")).collect())
}

fn slashed(path: &Path) -> String {
    path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// Globs over relative paths. A pattern that names a directory also means all below it.
struct Filter {
    endings: &'static [&'static str],
    include: GlobSet,
    exclude: GlobSet,
}

impl Filter {
    fn new(wanted: &WantedFiles<'_>) -> Result<Filter> {
        Ok(Filter { endings: wanted.endings, include: globs(wanted.include)?, exclude: globs(wanted.exclude)? })
    }

    fn is_page(&self, path: &str) -> bool {
        has_ending(path, self.endings)
    }

    /// Whether the globs let a page through that has these names.
    fn takes(&self, names: &[&str]) -> bool {
        let one = |globs: &GlobSet| names.iter().any(|name| globs.is_match(name));
        (self.include.is_empty() || one(&self.include)) && !one(&self.exclude)
    }
}

fn globs(patterns: &[String]) -> Result<GlobSet> {
    let wrong = |pattern: &str, error: globset::Error| Error::Usage(format!("glob {pattern:?}: {}", error.kind()));
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let plain = pattern.trim_start_matches("./").trim_end_matches('/');
        // All below a folder: the folder need not be looked into.
        let plain = plain.strip_suffix("/**").unwrap_or(plain);
        for form in [plain.to_owned(), format!("{plain}/**")] {
            let glob = GlobBuilder::new(&form).literal_separator(true).build();
            set.add(glob.map_err(|error| wrong(pattern, error))?);
        }
    }
    set.build().map_err(|error| wrong("", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_hold_no_character_of_a_link_mark() {
        assert_eq!(safe_id("a/b.html"), "a/b.html");
        assert_eq!(safe_id("a[1]|b\n.html"), "a%5B1%5D%7Cb%0A.html");
        assert_eq!(safe_id("\u{85}"), "%C2%85");
        assert_eq!(safe_id(" a b\u{a0}"), "%20a b%C2%A0");
    }

    #[test]
    fn a_glob_that_names_a_directory_means_all_below_it() {
        let globs = globs(&["src/".into(), "*/print.html".into()]).expect("globs");
        assert!(globs.is_match("src/a/b.html") && globs.is_match("book/print.html"));
        assert!(!globs.is_match("a/src/b.html") && !globs.is_match("a/b/print.html"));
    }
}
