//! The files that documents are, found from the path of a draft that stands among them.

use std::path::{Path, PathBuf};

use crate::draft::DraftFormat;
use crate::model::Model;

/// Documents whose files are looked for to find the root of a tree.
const LOOKED_FOR: usize = 16;

/// A tree of files that are the documents of a model, as far as a draft in it tells.
#[derive(Debug, Clone)]
pub struct DocumentFiles {
    root: PathBuf,
    endings: &'static [&'static str],
}

impl DocumentFiles {
    /// The tree whose root stands some levels above a file.
    pub fn below(path: &Path, levels: usize, format: DraftFormat) -> Option<DocumentFiles> {
        let endings: &[&str] = match format {
            DraftFormat::Markdown => &["", ".md", "/_index.md", "/index.md", "/README.md", ".markdown", ".mdx"],
            DraftFormat::Html => &["", ".html", "/index.html", ".htm"],
            DraftFormat::Rst => &["", ".rst", "/index.rst", ".md", ".txt"],
            DraftFormat::Latex => &["", ".tex"],
            DraftFormat::Mediawiki => &["", ".wiki", ".mediawiki"],
            DraftFormat::Plain => &["", ".txt"],
        };
        let root = std::path::absolute(path).ok()?.ancestors().nth(levels)?.to_owned();
        Some(DocumentFiles { root, endings })
    }

    /// The tree that a file stands in, and its folder below the root, which is the nearest folder above it in which some
    /// document of the model has its file.
    pub fn around(path: &Path, format: DraftFormat, model: &Model) -> Option<(DocumentFiles, String)> {
        let names = model.names();
        // Names such as `index` stand in many folders, and tell nothing.
        let deep = || (0..model.documents()).map(|row| names.get(row)).filter(|id| id.contains('/'));
        let looked_for: Vec<&str> = deep().step_by((deep().count() / LOOKED_FOR).max(1)).collect();
        let mut folder = String::new();
        for levels in 1.. {
            let files = DocumentFiles::below(path, levels, format)?;
            if looked_for.iter().any(|id| files.file(id).is_some()) {
                return Some((files, folder));
            }
            let name = files.root.file_name()?.to_str()?;
            folder = if folder.is_empty() { name.to_owned() } else { format!("{name}/{folder}") };
        }
        None
    }

    /// The path of a document's file.
    pub fn path(&self, id: &str) -> Option<PathBuf> {
        Some(self.root.join(self.file(id)?))
    }

    /// The file of a document, from the root.
    pub fn file(&self, id: &str) -> Option<String> {
        // An id is no path out of the tree.
        let inside = !id.is_empty() && !id.split('/').any(|part| matches!(part, "" | "." | ".."));
        let root_page = (id == "index").then(|| "_index.md".to_owned());
        let files = self.endings.iter().map(|ending| format!("{id}{ending}")).chain(root_page);
        files.filter(|_| inside).find(|file| self.root.join(file).is_file())
    }
}
