//! The files that documents are, found from the path of a draft that stands among them.

use std::path::{Path, PathBuf};

use crate::draft::DraftFormat;
use crate::id::DocRow;
use crate::model::Model;

/// Documents whose files are looked for to find the root of a tree.
const LOOKED_FOR: usize = 16;

/// A tree of files that are the documents of a model, as far as a draft in it tells.
#[derive(Debug)]
pub struct DocumentFiles {
    root: PathBuf,
    /// The folder of the draft below the root.
    pub folder: String,
    endings: &'static [&'static str],
}

impl DocumentFiles {
    /// The tree that a file stands in. If the file is the document `own`, that tells its root; else it is the nearest
    /// folder above it in which some document of the model has its file.
    pub fn around(path: &Path, format: DraftFormat, model: &Model, own: Option<DocRow>) -> Option<DocumentFiles> {
        let endings: &[&str] = match format {
            DraftFormat::Markdown => &["", ".md", "/_index.md", "/index.md", "/README.md", ".markdown", ".mdx"],
            DraftFormat::Html => &["", ".html", "/index.html", ".htm"],
            _ => return None,
        };
        let names = model.names();
        let own = own.map(|row| names.get(row.index()));
        // Names such as `index` stand in many folders, and tell nothing.
        let deep = || (0..model.documents()).map(|row| names.get(row)).filter(|id| id.contains('/'));
        let looked_for: Vec<&str> = match own {
            Some(_) => Vec::new(),
            None => deep().step_by((deep().count() / LOOKED_FOR).max(1)).collect(),
        };
        let path = std::path::absolute(path).ok()?;
        let (mut root, mut folder) = (path.parent()?, String::new());
        loop {
            let files = DocumentFiles { root: root.to_owned(), folder: folder.clone(), endings };
            let is_root = match own {
                Some(own) => own == folder || own.rsplit_once('/').map_or("", |(of, _)| of) == folder,
                None => looked_for.iter().any(|id| files.file(id).is_some()),
            };
            if is_root {
                return Some(files);
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
