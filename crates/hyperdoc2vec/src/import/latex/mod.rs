//! Papers as sources of LaTeX: a folder a paper, as arXiv keeps them, or a file a paper.
//!
//! A file with `\documentclass` (or `\documentstyle`) is a main file, unless its class is one for parts of others.
//! One that lies in a root itself is a paper; a folder below the root with such a file in it is a paper, with all that
//! lies below it, and the best of its main files counts: one that is called after a `.bbl`, then by name, then by length.
//! TeX files that no paper reads are counted, and so are archives, and folders with nothing but a PDF.
//! An id is the arXiv id if the folder (or file) is called after one, else the path below the root.
//! `\input` and `\include` are followed inside the paper's folder.

pub(super) mod bibliography;
mod commands;
mod source;
mod strip;
mod tokens;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use rayon::prelude::*;

use super::reference::words::first_year;
use super::reference::{BibRecord, Catalogue, CatalogueBuilder, Paper, surname};
use super::sniff::without_ending;
use super::tree::{self, ExtraFiles, FileTree, Pages, WantedFiles, safe_id};
use super::{ImportOptions, Parsed};
use crate::document::losses::{Loss, Losses};
use crate::document::{Date, Document};
use crate::error::{Error, Result};
use source::{FolderFiles, PaperFiles};
pub(super) use strip::plain;
use tokens::{after_options, argument, command};

/// Papers whose headers are in memory at once.
const TOGETHER: usize = 512;

/// Papers, found, their headers read.
pub struct Latex {
    tree: FileTree,
    papers: Vec<LatexPaper>,
    folders: Vec<FolderFiles>,
    catalogue: Catalogue,
    /// Files that are not read, and what the walk could not read.
    losses: Losses,
}

/// A paper: its main file is a page of the tree.
struct LatexPaper {
    id: String,
    main: usize,
    /// The number of its folder.
    folder: usize,
}

impl Latex {
    /// Walks `roots` (directories or single files), finds the papers and reads all headers; an error if there is none.
    pub fn open(roots: &[PathBuf], options: &ImportOptions) -> Result<Latex> {
        Latex::open_step(roots, options, &mut |_| Ok(()))
    }

    /// Like [`Latex::open`]; now and then `step` gets the number of papers, and may stop it.
    pub(super) fn open_step(
        roots: &[PathBuf],
        options: &ImportOptions,
        step: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Latex> {
        let ImportOptions { include, exclude, .. } = options;
        let endings = &["tex", "ltx", "latex", "bbl", "bib"];
        let wanted = WantedFiles { what: "LaTeX sources", endings, include, exclude };
        // A single file has its bibliography beside it.
        let beside =
            roots.iter().filter(|root| root.is_file()).flat_map(|root| ["bbl", "bib"].map(|e| root.with_extension(e)));
        let all: Vec<PathBuf> = roots.iter().cloned().chain(beside.filter(|path| path.is_file())).collect();
        // arXiv packs a paper of one file as `2106.00007.gz`.
        let extra = ExtraFiles { bare: true, others: &["pdf", "tar", "tgz", "zip", "7z", "rar"] };
        let tree = FileTree::open_with(&all, &wanted, &extra, str::to_owned)?;
        let kinds: Vec<TexFileKind> = tree.pages.par_iter().map(TexFileKind::of).collect();
        let (papers, folders) = found(&tree, &kinds);
        if papers.is_empty() {
            let place = roots.iter().map(|root| root.display().to_string()).collect::<Vec<_>>().join(", ");
            return Err(Error::input(place, "expected LaTeX sources with \\documentclass, found none"));
        }
        let mut read = HashSet::new();
        let mut catalogue = CatalogueBuilder::default();
        for some in papers.chunks(TOGETHER) {
            step(papers.len())?;
            let header = |paper: &LatexPaper| {
                let folder = PaperFiles::new(&tree, &folders[paper.folder]);
                let (text, files) = folder.expanded(paper.main, &mut Losses::default());
                (header(&text, &paper.id), files)
            };
            let records: Vec<(BibRecord, Vec<usize>)> = some.par_iter().map(header).collect();
            some.iter().zip(&records).for_each(|(paper, (record, _))| catalogue.add(&paper.id, record));
            read.extend(records.into_iter().flat_map(|(_, files)| files));
        }
        let losses = unread(&tree, &kinds, &papers, &folders, &read);
        Ok(Latex { tree, papers, folders, catalogue: catalogue.finish(), losses })
    }
}

impl Pages for Latex {
    fn len(&self) -> usize {
        self.papers.len()
    }

    fn digest(&self) -> u64 {
        self.tree.digest(Default::default())
    }

    fn parse_page(&self, index: usize, parsed: &mut Parsed) {
        if index == 0 {
            parsed.batch.losses.merge(self.losses.clone());
        }
        let found = &self.papers[index];
        let origin = self.tree.pages[found.main].path.clone();
        if self.tree.read(found.main, &mut parsed.batch.losses).is_none() {
            return;
        }
        let folder = PaperFiles::new(&self.tree, &self.folders[found.folder]);
        let (text, _) = folder.expanded(found.main, &mut parsed.batch.losses);
        let record = header(&text, &found.id);
        let (mut entries, own) = bibliography::entries(&folder, found.main, &text);
        let (body, marks) = strip::body(&text, &entries);
        // A `.bib` may hold what this paper does not cite.
        let cited: HashSet<&str> = marks.iter().flat_map(|mark| &mark.keys).map(String::as_str).collect();
        let mut number = 0;
        entries.retain(|(key, _)| {
            number += 1;
            number <= own || cited.contains(key.as_str())
        });
        let date = arxiv_date(&found.id).or_else(|| record.year?.to_string().parse().ok());
        let arxiv = record.arxiv.as_ref().map(|id| format!("https://arxiv.org/abs/{id}"));
        let document = Document {
            id: found.id.clone(),
            title: record.title,
            authors: record.authors,
            date,
            url: arxiv,
            text: body,
            origin,
            ..Document::default()
        };
        Paper { document, marks, entries }.link(&self.catalogue, parsed);
    }
}

/// The part that a file plays in a paper.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TexFileKind {
    Main,
    Part,
    Bibliography,
    Archive,
}

impl TexFileKind {
    fn of(page: &tree::TreeFile) -> TexFileKind {
        if page.path.ends_with(".bbl") || page.path.ends_with(".bib") {
            return TexFileKind::Bibliography;
        }
        let bytes = tree::read(&page.file).unwrap_or_default();
        let has = |command: &str| memchr::memmem::find(&bytes, command.as_bytes());
        if bytes.get(257..262) == Some(b"ustar") {
            return TexFileKind::Archive;
        }
        let class = has("\\documentclass").map(|at| &bytes[at + "\\documentclass".len()..]);
        let part = class.is_some_and(|rest| {
            let rest = String::from_utf8_lossy(&rest[..rest.len().min(500)]);
            argument(after_options(&rest)).is_some_and(|(class, _)| matches!(class.trim(), "subfiles" | "standalone"))
        });
        if !part && (class.is_some() || has("\\documentstyle").is_some()) {
            TexFileKind::Main
        } else {
            TexFileKind::Part
        }
    }
}

/// Files that could be papers, or parts of them, and that no paper reads.
fn unread(
    tree: &FileTree,
    kinds: &[TexFileKind],
    papers: &[LatexPaper],
    folders: &[FolderFiles],
    read: &HashSet<usize>,
) -> Losses {
    // Files that the walk could not read are counted with the first file, if that is read as a paper.
    let counted = papers.iter().any(|paper| paper.main == 0);
    let mut losses = if counted { Losses::default() } else { tree.losses.clone() };
    let mut owner: HashMap<usize, &str> = HashMap::new();
    for paper in papers.iter().filter(|paper| !folders[paper.folder].shared) {
        owner.extend(folders[paper.folder].numbers().map(|file| (file, paper.id.as_str())));
    }
    for (number, page) in tree.pages.iter().enumerate().filter(|(number, _)| !read.contains(number)) {
        let why = match (kinds[number], owner.get(&number)) {
            (TexFileKind::Bibliography, _) => continue,
            (TexFileKind::Archive, _) => "an archive: unpack it first".to_owned(),
            (_, Some(paper)) => format!("no part of {paper}"),
            (_, None) => "no \\documentclass in it".to_owned(),
        };
        losses.add(Loss::UnreadFile, format!("{}: {why}", page.path));
    }
    let own = papers.iter().filter(|paper| !folders[paper.folder].shared);
    let own: HashSet<(usize, &str)> =
        own.map(|paper| (tree.pages[paper.main].root, folders[paper.folder].folder.as_str())).collect();
    let stems: HashSet<(usize, &str)> = tree.pages.iter().map(|page| (page.root, without_ending(&page.path))).collect();
    let mut seen = HashSet::new();
    for (root, path) in &tree.others {
        let above = path.match_indices('/').map(|(end, _)| &path[..=end]).chain([""]);
        if above.into_iter().any(|above| own.contains(&(*root, above))) {
            continue;
        }
        let folder = path.rfind('/').map_or("", |end| &path[..=end]);
        if !path.to_ascii_lowercase().ends_with(".pdf") {
            losses.add(Loss::UnreadFile, format!("{path}: an archive: unpack it first"));
        } else if folder.is_empty() && !stems.contains(&(*root, without_ending(path))) {
            losses.add(Loss::UnreadFile, format!("{path}: a PDF without LaTeX sources"));
        } else if !folder.is_empty() && seen.insert((*root, folder)) {
            losses.add(Loss::UnreadFile, format!("{folder}: a PDF without LaTeX sources"));
        }
    }
    losses
}

/// Groups files into papers, in the order of their main files' paths, and into folders.
fn found(tree: &FileTree, kinds: &[TexFileKind]) -> (Vec<LatexPaper>, Vec<FolderFiles>) {
    let folder_of = |path: &str| path.rfind('/').map_or("", |end| &path[..=end]).to_owned();
    // Folders with main files, those inside others left out.
    let mut folders: BTreeMap<(usize, String), Vec<usize>> = BTreeMap::new();
    for (number, page) in tree.pages.iter().enumerate().filter(|(number, _)| kinds[*number] == TexFileKind::Main) {
        folders.entry((page.root, folder_of(&page.path))).or_default().push(number);
    }
    let owner = |root: usize, folder: &str| {
        let ends = folder.match_indices('/').map(|(end, _)| &folder[..=end]);
        ends.map(|above| (root, above.to_owned())).find(|above| folders.contains_key(above))
    };
    let mut files: HashMap<(usize, String), Vec<usize>> = HashMap::new();
    for (number, page) in tree.pages.iter().enumerate() {
        let folder = folder_of(&page.path);
        files.entry(owner(page.root, &folder).unwrap_or((page.root, String::new()))).or_default().push(number);
    }
    let (mut papers, mut all) = (Vec::new(), Vec::new());
    for ((root, folder), mut mains) in folders.clone() {
        if owner(root, &folder).is_some_and(|(_, above)| above != folder) {
            continue;
        }
        let files = files.remove(&(root, folder.clone())).unwrap_or_default();
        let number = all.len();
        let alone = || mains.len() == 1 && folders.keys().filter(|(of, _)| *of == root).count() == 1;
        all.push(FolderFiles::new(tree, &files, &folder, folder.is_empty() && !alone()));
        if folder.is_empty() {
            for main in mains {
                let path = &tree.pages[main].id;
                let id = id_of(without_ending(path));
                papers.push(LatexPaper { id, main, folder: number });
            }
            continue;
        }
        mains.sort_by_key(|&main| quality(tree, &files, main));
        let main = mains[0];
        let page = &tree.pages[main];
        let name = page.path.len() - folder.len() + 1;
        let id = id_of(&page.id[..page.id.len().saturating_sub(name)]);
        papers.push(LatexPaper { id, main, folder: number });
    }
    papers.sort_by_key(|paper| paper.main);
    (papers, all)
}

/// The lower, the likelier is a main file the paper and no supplement.
fn quality(tree: &FileTree, files: &[usize], main: usize) -> (bool, usize, std::cmp::Reverse<u64>, usize) {
    const NAMES: [&str; 6] = ["main", "ms", "paper", "article", "manuscript", "arxiv"];
    let page = &tree.pages[main];
    let stem = page.path.rsplit_once('.').map_or(page.path.as_str(), |(stem, _)| stem);
    let bbl = files.iter().any(|&file| tree.pages[file].path == format!("{stem}.bbl"));
    let name = stem.rsplit('/').next().unwrap_or(stem).to_lowercase();
    let place = NAMES.iter().position(|known| *known == name).unwrap_or(NAMES.len());
    let length = page.file.metadata().map_or(0, |file| file.len());
    (!bbl, place, std::cmp::Reverse(length), main)
}

/// The arXiv id after which a folder is called, else its path.
fn id_of(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    arxiv_of(name).unwrap_or_else(|| safe_id(path))
}

/// `1706.03762v2` is `1706.03762`, `cs0309034` is `cs/0309034`.
fn arxiv_of(name: &str) -> Option<String> {
    let bare = name.rsplit_once('v').filter(|(_, v)| !v.is_empty() && v.bytes().all(|b| b.is_ascii_digit()));
    let bare = bare.map_or(name, |(bare, _)| bare);
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let id = match bare.split_once('.') {
        Some((month, number))
            if digits(month) && digits(number) && month.len() == 4 && (4..=5).contains(&number.len()) =>
        {
            bare.to_owned()
        }
        _ => {
            let at = bare.find(|c: char| c.is_ascii_digit())?;
            let archive = bare[..at].trim_end_matches(['_', '-', '.']);
            let known = archive.len() >= 2 && archive.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
            let seven = bare[at..].len() == 7 && digits(&bare[at..]);
            (known && seven).then(|| format!("{archive}/{}", &bare[at..]))?
        }
    };
    arxiv_date(&id).map(|_| id)
}

/// The month in an arXiv id.
fn arxiv_date(id: &str) -> Option<Date> {
    let digits = id.rsplit('/').next()?;
    let new = digits.as_bytes().get(4) == Some(&b'.');
    if !(new || id.contains('/') && digits.len() == 7) {
        return None;
    }
    let (year, month): (i32, i32) = (digits.get(..2)?.parse().ok()?, digits.get(2..4)?.parse().ok()?);
    let century = if year >= 91 { 1900 } else { 2000 };
    (1..=12).contains(&month).then(|| Date::from_packed((century + year) * 10_000 + month * 100)).flatten()
}

/// `\author` commands that are read.
const MOST_AUTHORS: usize = 32;

/// Title, authors and ids of a paper, from its source.
fn header(text: &str, id: &str) -> BibRecord {
    let title = command(text, "title").map(|title| plain(title, false)).filter(|title| !title.is_empty());
    let mut authors = Vec::new();
    let mut rest = text;
    for _ in 0..MOST_AUTHORS {
        let Some(names) = command(rest, "author") else { break };
        rest = &rest[names.as_ptr() as usize - rest.as_ptr() as usize + names.len()..];
        for person in names.split("\\and").flat_map(|part| part.split("\\And")).flat_map(|part| part.split("\\AND")) {
            let line = person.trim_start();
            let line = line.split("\\\\").next().unwrap_or(line);
            let line = line.split("\\thanks").next().unwrap_or(line);
            let line = plain(line, false);
            for name in line.split([',', ';', '\n']).flat_map(|part| part.split(" and ")) {
                let name = name.trim_matches(|c: char| !c.is_alphabetic() && c != '.');
                if name.chars().any(char::is_alphabetic) && authors.len() < 16 {
                    authors.push(surname(name).to_owned());
                }
            }
        }
        if authors.len() >= 16 {
            break;
        }
    }
    let written = command(text, "date").map(|date| plain(date, false));
    let date = arxiv_date(id).map(Date::year).or_else(|| first_year(&written?));
    BibRecord { title, authors, year: date, arxiv: arxiv_date(id).map(|_| id.to_owned()), ..BibRecord::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_may_be_called_after_an_arxiv_id() {
        assert_eq!(id_of("2017/1706.03762v2"), "1706.03762");
        assert_eq!(id_of("hep-th9901001"), "hep-th/9901001");
        assert_eq!(id_of("a/paper1"), "a/paper1");
        assert_eq!(id_of("x1234567"), "x1234567");
        assert_eq!(arxiv_date("1706.03762").map(|date| date.to_string()).as_deref(), Some("2017-06"));
        assert_eq!(arxiv_date("cs/9901001").map(|date| date.to_string()).as_deref(), Some("1999-01"));
        assert_eq!(arxiv_date("paper"), None);
    }

    #[test]
    fn a_paper_says_what_it_is() {
        let text = "\\title[Short]{On {\\em Many}\\thanks{us} \\\\ Things}\n\\author{Ada B. Lovelace\\thanks{x} \\\\ Inst, City \\and \
                    J. van der Berg}\n\\date{May 3, 2001}";
        let record = header(text, "p");
        assert_eq!(record.title.as_deref(), Some("On Many Things"));
        assert_eq!(record.authors, ["Lovelace", "van der Berg"]);
        assert_eq!(record.year, Some(2001));
        assert!(header("no header", "p").title.is_none());
    }
}
