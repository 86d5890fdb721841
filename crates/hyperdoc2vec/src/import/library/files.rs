//! The file of a work: named by its bibliography, or found in a folder by key, DOI or title.
//!
//! Nothing outside the folder of the bibliography and the folders given is read, whatever a bibliography names.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::work::Work;
use crate::document::losses::{Loss, Losses};
use crate::error::{Error, Result};
use crate::import::reference::fold;
use crate::import::sniff::has_ending;
use crate::import::tree::href::decode;

/// Endings of files that are read.
const ENDINGS: [&str; 3] = ["pdf", "txt", "text"];
/// Files of one work that are looked for.
const MOST_FILES: usize = 64;
/// Words of a title by which it is looked up.
const KEY_WORDS: usize = 4;

/// Files that may be read.
pub(super) struct Shelves {
    /// Folders below which a file may be read, links resolved.
    allowed: Vec<PathBuf>,
    /// Files of the folders given, in order.
    listed: Vec<PathBuf>,
    /// By name, in lower case.
    by_name: HashMap<String, Vec<usize>>,
}

impl Shelves {
    /// Takes the folder of each bibliography and lists the folders given.
    pub(super) fn open(beside: &[PathBuf], folders: &[PathBuf], losses: &mut Losses) -> Result<Shelves> {
        let real = |folder: &PathBuf| folder.canonicalize().map_err(Error::io("read", folder));
        let allowed = beside.iter().chain(folders).map(real).collect::<Result<Vec<_>>>()?;
        let mut listed = Vec::new();
        for folder in folders {
            let seen = |entry: &walkdir::DirEntry| {
                entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".")
            };
            for entry in WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(seen) {
                match entry {
                    Ok(entry) if entry.file_type().is_file() && is_text(entry.path()) => listed.push(entry.into_path()),
                    // Neither a link nor a pipe is read; a link to a folder may have held texts.
                    Ok(entry) if entry.path_is_symlink() && (is_text(entry.path()) || entry.path().is_dir()) => {
                        losses.add(Loss::UnreadFile, format!("{}: a link; not followed", entry.path().display()));
                    }
                    Ok(_) => {}
                    Err(error) => losses.add(Loss::UnreadFile, error.to_string()),
                }
            }
        }
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, path) in listed.iter().enumerate() {
            by_name.entry(name(path).to_lowercase()).or_default().push(at);
        }
        Ok(Shelves { allowed, listed, by_name })
    }

    /// The first file of a work that can be read, of those it names. Those that are not there are counted, and so is a work
    /// all whose files are of other kinds.
    pub(super) fn named(&self, work: &Work, folder: &Path, losses: &mut Losses) -> Option<PathBuf> {
        let mut written =
            work.files.iter().filter(|file| is_text(Path::new(file.as_str()))).take(MOST_FILES).peekable();
        if let (None, Some(file)) = (written.peek(), work.files.iter().find(|file| !is_address(file))) {
            let place = format!("{} ({})", work.key, work.place);
            losses.add(Loss::UnreadFile, format!("{place}: {file} is neither a PDF nor a plain text"));
        }
        let mut missing = Vec::new();
        for file in written {
            match self.find(file, folder) {
                Ok(path) => return Some(path),
                Err(why) => missing.push(format!("{} ({}): {file} {why}", work.key, work.place)),
            }
        }
        missing.into_iter().for_each(|sample| losses.add(Loss::MissingFile, sample));
        None
    }

    fn find(&self, written: &str, folder: &Path) -> std::result::Result<PathBuf, &'static str> {
        let written = written.trim_start_matches("file://");
        let mut why = "is not there";
        for path in [written.to_owned(), decode(written)] {
            let Ok(found) = folder.join(&path).canonicalize() else { continue };
            why = match self.is_allowed(&found) {
                true if found.is_file() => return Ok(found),
                true => "is not a file",
                false => "is outside the folders given",
            };
        }
        // The path of another machine: the name may be in one of the folders.
        let name = written.rsplit(['/', '\\']).next().unwrap_or(written).to_lowercase();
        match self.by_name.get(&name).map(Vec::as_slice) {
            Some([only]) => self.listed[*only].canonicalize().map_err(|_| why),
            _ => Err(why),
        }
    }

    fn is_allowed(&self, real: &Path) -> bool {
        self.allowed.iter().any(|folder| real.starts_with(folder))
    }

    /// The listed files that no work has yet.
    pub(super) fn others(&self, taken: &[Option<PathBuf>]) -> Vec<PathBuf> {
        let taken: std::collections::HashSet<&Path> = taken.iter().flatten().map(PathBuf::as_path).collect();
        let real = self.listed.iter().filter_map(|path| path.canonicalize().ok()).filter(|path| self.is_allowed(path));
        real.filter(|path| !taken.contains(path.as_path())).collect()
    }
}

/// Works without a file, to be found by what a file is called or begins with.
pub(super) struct Wanted {
    by_key: HashMap<String, usize>,
    by_doi: HashMap<String, usize>,
    /// By the first words of the title, which follows.
    by_title: HashMap<String, Vec<(usize, Vec<String>)>>,
}

impl Wanted {
    pub(super) fn new<'a>(works: impl Iterator<Item = (usize, &'a Work)>) -> Wanted {
        let mut wanted = Wanted { by_key: HashMap::new(), by_doi: HashMap::new(), by_title: HashMap::new() };
        for (number, work) in works {
            wanted.by_key.entry(work.key.to_lowercase()).or_insert(number);
            if let Some(doi) = &work.doi {
                wanted.by_doi.entry(letters(doi)).or_insert(number);
            }
            let words: Vec<String> =
                fold(work.title.as_deref().unwrap_or_default()).split(' ').map(str::to_owned).collect();
            let length: usize = words.iter().map(String::len).sum();
            if words.len() >= 2 && length >= 12 {
                let key = words[..words.len().min(KEY_WORDS)].join(" ");
                wanted.by_title.entry(key).or_default().push((number, words));
            }
        }
        wanted
    }

    /// The work that a file is called after.
    pub(super) fn by_name(&self, path: &Path) -> Option<usize> {
        let name = name(path);
        let stem = name.rsplit_once('.').map_or(&*name, |(stem, _)| stem);
        let doi = || self.by_doi.get(&letters(stem)).or_else(|| self.by_doi.get(&letters(&decode(stem))));
        let found = self.by_key.get(&stem.to_lowercase()).or_else(doi).copied();
        // The end of a name may be cut.
        found.or_else(|| self.title_in(&stem.replace(['_', '-'], " "), true))
    }

    /// The work whose DOI or title stands at the beginning of a text.
    pub(super) fn by_text(&self, text: &str) -> Option<usize> {
        let end = (0..=text.len().min(3000)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        let start = &text[..end];
        let doi = start.split_whitespace().filter_map(|word| word.find("10.").map(|at| &word[at..]));
        let doi =
            doi.map(|doi| doi.trim_end_matches(['.', ',', ';', ')'])).find_map(|doi| self.by_doi.get(&letters(doi)));
        doi.copied().or_else(|| self.title_in(start, false))
    }

    fn title_in(&self, text: &str, may_be_cut: bool) -> Option<usize> {
        let folded = fold(text);
        let words: Vec<&str> = folded.split(' ').collect();
        for start in 0..words.len() {
            for length in 2..=KEY_WORDS.min(words.len() - start) {
                let Some(works) = self.by_title.get(&words[start..start + length].join(" ")) else { continue };
                let rest = &words[start..];
                let fits = |title: &[String]| {
                    let whole = title.len() <= rest.len() || may_be_cut;
                    whole && title.iter().zip(rest).all(|(a, b)| a == b)
                };
                if let Some((number, _)) = works.iter().find(|(_, title)| fits(title)) {
                    return Some(*number);
                }
            }
        }
        None
    }
}

fn name(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy()
}

fn is_text(path: &Path) -> bool {
    has_ending(&name(path), &ENDINGS)
}

/// Whether it is of the web: addresses are no files.
fn is_address(file: &str) -> bool {
    file.split_once("://").is_some_and(|(scheme, _)| !scheme.eq_ignore_ascii_case("file"))
}

/// Letters and digits alone: names of files have other signs for those of a DOI.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_key_doi_and_title_and_never_outside() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |path: &str| dir.path().join(path);
        for folder in ["lib/files", "pdfs/deep", "outside"] {
            std::fs::create_dir_all(at(folder)).expect("made");
        }
        for file in [
            "lib/files/a.pdf",
            "pdfs/b.pdf",
            "pdfs/deep/10.1145_363235.pdf",
            "pdfs/Doe - 2001 - The tides of the.pdf",
            "outside/x.pdf",
        ] {
            std::fs::write(at(file), "x").expect("written");
        }
        let mut losses = Losses::default();
        let shelves = Shelves::open(&[at("lib")], &[at("pdfs")], &mut losses).expect("shelves");
        let work = |key: &str, files: &[&str]| Work {
            key: key.into(),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            ..Work::default()
        };
        let mut named = |files: &[&str]| {
            let found = shelves.named(&work("k", files), &at("lib"), &mut losses);
            found.map(|path| path.strip_prefix(dir.path().canonicalize().expect("real")).expect("below").to_owned())
        };
        assert_eq!(named(&["files/a.pdf"]), Some("lib/files/a.pdf".into()));
        assert_eq!(named(&["gone.pdf", "files/a.pdf"]), Some("lib/files/a.pdf".into()));
        assert_eq!(named(&["/home/other/b.pdf"]), Some("pdfs/b.pdf".into()));
        assert_eq!(named(&["C:\\Users\\other\\b.pdf"]), Some("pdfs/b.pdf".into()));
        assert_eq!(named(&["../outside/x.pdf"]), None);
        assert_eq!(named(&["files/a.html"]), None);
        assert_eq!(named(&["https://example.org/a.html"]), None);
        assert_eq!((losses.count(Loss::MissingFile), losses.count(Loss::UnreadFile)), (1, 1));
        let samples: Vec<String> = losses.iter().flat_map(|(_, loss)| loss.samples.clone()).collect();
        for part in ["outside the folders given", "files/a.html is neither a PDF nor a plain text"] {
            assert!(samples.iter().any(|sample| sample.contains(part)), "{samples:?}");
        }
        let works = [
            Work { key: "b".into(), ..Work::default() },
            Work { key: "c".into(), doi: Some("10.1145/363235".into()), ..Work::default() },
            Work { key: "d".into(), title: Some("The tides of the northern sea".into()), ..Work::default() },
        ];
        let wanted = Wanted::new(works.iter().enumerate());
        let found: Vec<_> = shelves.others(&[None]).iter().map(|path| wanted.by_name(path)).collect();
        assert_eq!(found, [Some(2), Some(0), Some(1)]);
        assert_eq!(wanted.by_text("Journal of Water\nThe Tides of the\nNorthern Sea\nAnn Doe"), Some(2));
        assert_eq!(wanted.by_text("The tides of the southern sea"), None);
    }
}
