//! The files of a paper, and its text as one: comments taken out, other files put in.

use std::collections::HashMap;

use super::tokens::{name, short_argument};
use crate::document::losses::{Loss, Losses};
use crate::import::tree::{self, FileTree};

/// Files stand in one another to this depth.
const DEEPEST: usize = 12;
/// A paper has at most so many bytes of text, and puts in at most so many files.
const LONGEST: usize = 64 << 20;
const MOST_FILES: usize = 2000;

/// The files in a folder, and below it.
pub(super) struct FolderFiles {
    /// By path below the folder, in lower case.
    by_path: HashMap<String, usize>,
    /// Path below the root, with a slash at its end unless it is the root.
    pub(super) folder: String,
    /// Whether several papers lie in it.
    pub(super) shared: bool,
}

impl FolderFiles {
    /// These files of the tree, which lie in `folder`.
    pub(super) fn new(tree: &FileTree, files: &[usize], folder: &str, shared: bool) -> FolderFiles {
        let below = |&file: &usize| {
            let path = &tree.pages[file].path;
            (path.strip_prefix(folder).unwrap_or(path).to_lowercase(), file)
        };
        FolderFiles { by_path: files.iter().map(below).collect(), folder: folder.to_owned(), shared }
    }
}

impl FolderFiles {
    /// Their numbers in the tree.
    pub(super) fn numbers(&self) -> impl Iterator<Item = usize> {
        self.by_path.values().copied()
    }
}

/// The files of one paper.
pub(super) struct PaperFiles<'a> {
    tree: &'a FileTree,
    files: &'a FolderFiles,
}

impl<'a> PaperFiles<'a> {
    /// These files of the tree.
    pub(super) fn new(tree: &'a FileTree, files: &'a FolderFiles) -> PaperFiles<'a> {
        PaperFiles { tree, files }
    }

    /// The `.bbl` of a main file: the one that is called so, else the only one.
    pub(super) fn bbl(&self, main: usize) -> Option<String> {
        let path = &self.tree.pages[main].path;
        let path = path.strip_prefix(&self.files.folder).unwrap_or(path);
        let own = self.find(path.rsplit_once('.').map_or(path, |(stem, _)| stem), &[".bbl"]);
        let only = || {
            let mut all = self.files.by_path.iter().filter(|(path, _)| path.ends_with(".bbl"));
            all.next().filter(|_| all.next().is_none()).map(|(_, &file)| file)
        };
        self.read_number(own.or_else(|| if self.files.shared { None } else { only() })?)
    }

    /// The text of a file that is called so in the source, with one of the endings or its own.
    pub(super) fn read(&self, called: &str, endings: &[&str]) -> Option<String> {
        self.read_number(self.find(called, endings)?)
    }

    /// The path of a file below its root.
    fn path(&self, file: usize) -> &str {
        &self.tree.pages[file].path
    }

    fn read_number(&self, file: usize) -> Option<String> {
        let bytes = tree::read(&self.tree.pages[file].file).ok()?;
        // Older sources are in Latin-1, which any bytes are.
        Some(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => encoding_rs::mem::decode_latin1(error.as_bytes()).into_owned(),
        })
    }

    fn find(&self, called: &str, endings: &[&str]) -> Option<usize> {
        let called = called.trim().trim_matches('"').to_lowercase();
        let mut parts: Vec<&str> = Vec::new();
        for part in called.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        let path = parts.join("/");
        let mut tries = endings.iter().map(|ending| format!("{path}{ending}")).chain([path.clone()]);
        tries.find_map(|path| self.files.by_path.get(&path).copied())
    }

    /// The text of a file with all that it puts in, and the files that were read for it.
    pub(super) fn expanded(&self, file: usize, losses: &mut Losses) -> (String, Vec<usize>) {
        let (text, open, read) = (String::new(), Vec::new(), Vec::new());
        let mut state = Expansion { folder: self, text, open, read, losses };
        state.add(file);
        (state.text, state.read)
    }
}

struct Expansion<'a> {
    folder: &'a PaperFiles<'a>,
    text: String,
    /// Files that are being read.
    open: Vec<usize>,
    /// Files that were read, each as often as it was.
    read: Vec<usize>,
    losses: &'a mut Losses,
}

impl Expansion<'_> {
    fn add(&mut self, file: usize) {
        let Some(text) = self.folder.read_number(file) else { return };
        let text = without_comments(&text);
        let mut rest = if self.open.is_empty() { text.as_str() } else { inside_document(&text) };
        self.open.push(file);
        self.read.push(file);
        while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
            let after = &rest[at + 1..];
            let called = match name(after) {
                command @ ("input" | "include" | "subfile") => file_name(&after[command.len()..]),
                command @ ("import" | "subimport") => argument(&after[command.len()..]).and_then(|(folder, more)| {
                    let (file, more) = argument(more)?;
                    Some((format!("{folder}/{file}"), more))
                }),
                _ => None,
            };
            let Some((called, more)) = called else {
                // The sign after a backslash is no command's beginning.
                let end = at + 1 + after.chars().next().map_or(0, char::len_utf8);
                self.text.push_str(&rest[..end]);
                rest = &rest[end..];
                continue;
            };
            self.text.push_str(&rest[..at]);
            rest = more;
            let place = || format!("\\input{{{called}}} ({})", self.folder.path(file));
            match self.folder.find(&called, &[".tex", ".ltx"]) {
                Some(other) if self.open.contains(&other) => {
                    self.losses.add(Loss::UnreadFile, format!("{}: the file puts itself in", place()));
                }
                Some(_) if self.open.len() >= DEEPEST || self.read.len() > MOST_FILES || self.text.len() >= LONGEST => {
                    self.losses.add(Loss::UnreadFile, format!("{}: the paper puts in too much", place()));
                }
                Some(other) => {
                    self.add(other);
                    self.text.push('\n');
                }
                None => self.losses.add(Loss::MissingFile, place()),
            }
        }
        self.text.push_str(rest);
        self.open.pop();
    }
}

/// Of a file that could stand alone (`subfiles`), what belongs to the file that puts it in.
fn inside_document(text: &str) -> &str {
    const START: &str = "\\begin{document}";
    let Some(start) = text.find(START) else { return text };
    let inside = &text[start + START.len()..];
    &inside[..inside.find("\\end{document}").unwrap_or(inside.len())]
}

fn argument(text: &str) -> Option<(&str, &str)> {
    short_argument(text, 256)
}

/// The file that `\input` names, in braces or up to white space.
fn file_name(text: &str) -> Option<(String, &str)> {
    if let Some((called, more)) = argument(text) {
        return Some((called.to_owned(), more));
    }
    let bare = text.strip_prefix(' ')?;
    let end = bare.find(|c: char| c.is_whitespace() || matches!(c, '\\' | '{' | '}' | '%'))?;
    (end > 0).then(|| (bare[..end].to_owned(), &bare[end..]))
}

/// The text without comments; a line that was nothing else is gone.
pub(super) fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let bytes = line.as_bytes();
        let comment = memchr::memchr_iter(b'%', bytes).find(|&at| {
            let backslashes = bytes[..at].iter().rev().take_while(|&&b| b == b'\\').count();
            backslashes % 2 == 0
        });
        match comment {
            None => out.push_str(line),
            Some(at) if line[..at].trim().is_empty() => {}
            Some(at) => {
                out.push_str(&line[..at]);
                out.push('\n');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_percent_signs_stay() {
        assert_eq!(without_comments("a % b\n  % c\n5\\% \\\\% d\ne"), "a \n5\\% \\\\\ne");
    }

    #[test]
    fn a_file_is_named_in_braces_or_by_a_word() {
        assert_eq!(file_name("{a/b} c"), Some(("a/b".to_owned(), " c")));
        assert_eq!(file_name(" a.tex\nc"), Some(("a.tex".to_owned(), "\nc")));
        assert_eq!(file_name("x"), None);
    }
}
