//! Drafts as files: read within bounds, places in them as lines and columns.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use hyperdoc2vec::draft::{Draft, DraftFormat, LONGEST_DRAFT};
use hyperdoc2vec::places::DocumentNames;
use hyperdoc2vec::{DocRow, Model};

/// Reads a draft; an error for one that is too long, no UTF-8, or binary.
pub fn read_draft(path: &Path) -> Result<String> {
    let shown = path.display().to_string();
    let mut bytes = Vec::new();
    // Not more, whatever its length is said to be.
    let most = LONGEST_DRAFT as u64 + 1;
    let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
    let length = file.metadata().map_or(0, |meta| meta.len());
    file.take(most).read_to_end(&mut bytes).with_context(|| format!("cannot read {shown}"))?;
    if bytes.len() > LONGEST_DRAFT {
        let (found, most) = (length.max(most) >> 20, LONGEST_DRAFT >> 20);
        bail!("{shown}: it has {found} MB, and drafts are read up to {most} MB; split it");
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow!("{shown}: expected UTF-8 text, found something else at byte {at}")
    })?;
    if text.contains('\0') {
        bail!("{shown}: expected text, found a binary file");
    }
    Ok(text)
}

/// The format of a file: the one given, or by the ending of its name, or plain text.
pub fn format_of(path: &Path, given: Option<DraftFormat>) -> DraftFormat {
    given.or_else(|| DraftFormat::of_path(&path.to_string_lossy())).unwrap_or(DraftFormat::Plain)
}

/// A tree of files that are the documents of a model, as far as a draft in it tells.
pub struct Tree {
    root: PathBuf,
    /// The folder of the draft below the root.
    pub folder: String,
    endings: &'static [&'static str],
}

/// Documents whose files are looked for to find the root of a tree.
const LOOKED_FOR: usize = 16;

impl Tree {
    /// The tree that a file stands in. If the file is the document `own`, that tells its root; else it is the nearest
    /// folder above it in which some document of the model has its file.
    pub fn of(path: &Path, format: DraftFormat, model: &Model, own: Option<DocRow>) -> Option<Tree> {
        let endings: &[&str] = match format {
            DraftFormat::Markdown => &["", ".md", "/_index.md", "/index.md", "/README.md", ".markdown", ".mdx"],
            DraftFormat::Html => &["", ".html", "/index.html", ".htm"],
            _ => return None,
        };
        let names = model.names();
        let own = own.map(|row| names.get(row.index()));
        // Names such as `index` stand in many folders, and tell nothing.
        let deep = (0..model.documents()).map(|row| names.get(row)).filter(|id| id.contains('/'));
        let deep: Vec<&str> = deep.collect();
        let looked_for: Vec<&str> = deep.iter().step_by((deep.len() / LOOKED_FOR).max(1)).copied().collect();
        let path = std::path::absolute(path).ok()?;
        let (mut root, mut folder) = (path.parent()?, String::new());
        loop {
            let tree = Tree { root: root.to_owned(), folder: folder.clone(), endings };
            let is_root = match own {
                Some(own) => own == folder || own.rsplit_once('/').map_or("", |(of, _)| of) == folder,
                None => looked_for.iter().any(|id| tree.file(id).is_some()),
            };
            if is_root {
                return Some(tree);
            }
            let name = root.file_name()?.to_str()?;
            folder = if folder.is_empty() { name.to_owned() } else { format!("{name}/{folder}") };
            root = root.parent()?;
        }
    }

    /// The file of a document, from the root.
    pub fn file(&self, id: &str) -> Option<String> {
        // An id is no path out of the tree.
        let inside = !id.is_empty() && !id.split('/').any(|part| matches!(part, "" | "." | ".."));
        let files = self.endings.iter().map(|ending| format!("{id}{ending}"));
        files.into_iter().filter(|_| inside).find(|file| self.root.join(file).is_file())
    }
}

/// The documents that a draft links to.
pub fn linked(draft: &Draft, names: &DocumentNames<'_>, source: Option<DocRow>) -> Vec<DocRow> {
    let targets = draft.links.iter().flat_map(|link| &link.targets);
    targets.filter_map(|target| names.resolve(target, source)).collect()
}

/// Where lines begin.
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub fn new(text: &str) -> Lines {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
        Lines { starts: std::iter::once(0).chain(ends).collect() }
    }

    /// Line and column of a byte, counting from 1; columns count characters.
    pub fn place(&self, text: &str, at: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= at);
        let start = self.starts[line - 1];
        (line, text.get(start..at).map_or(1, |before| before.chars().count() + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_characters_from_one() {
        let text = "één\r\ntwee [[?]]";
        let lines = Lines::new(text);
        assert_eq!(lines.place(text, 0), (1, 1));
        assert_eq!(lines.place(text, 4), (1, 3));
        assert_eq!(lines.place(text, text.find('[').expect("a mark")), (2, 6));
        assert_eq!(lines.place(text, text.len()), (2, 11));
    }
}
