//! Helpers of several fuzz targets: bytes as a batch, and checks that hold for every document.

use std::fs;
use std::path::PathBuf;

use hyperdoc2vec::Document;
use hyperdoc2vec::internals::import::source::LineBatch;
use hyperdoc2vec::internals::import::{Parsed, jsonl};
use tempfile::TempDir;

/// The bytes as one batch of lines.
pub fn batch(bytes: &[u8]) -> LineBatch {
    LineBatch::new("fuzz", bytes)
}

/// Checks a document as every importer promises it.
pub fn check(document: &Document) {
    let Document { id, text, links, .. } = document;
    assert!(!id.is_empty() && id.trim() == id, "id {id:?}");
    let mut before = 0;
    for link in links {
        assert!(before <= link.at && link.anchor <= link.at, "order of {links:?}");
        assert!(text.is_char_boundary(link.at) && text.is_char_boundary(link.anchor), "{link:?} in {text:?}");
        assert!(!link.targets.is_empty() && link.targets.iter().all(|id| !id.is_empty()), "{link:?}");
        before = link.at;
    }
}

/// The document without the place where it was read.
pub fn placeless(document: &Document) -> Document {
    Document { origin: String::new(), ..document.clone() }
}

/// Checks all that an importer read: sound documents, and the same ones when written as jsonl and read again.
pub fn check_all(parsed: &Parsed) {
    parsed.batch.documents.iter().for_each(check);
    let again = jsonl::parse(&batch(&jsonl::to_jsonl(&parsed.batch.documents, &parsed.batch.aliases)));
    assert_eq!(again.batch.first_bad, None);
    assert_eq!(again.batch.aliases, parsed.batch.aliases);
    assert_eq!(again.batch.documents.len(), parsed.batch.documents.len());
    for (again, document) in again.batch.documents.iter().zip(&parsed.batch.documents) {
        assert_eq!((&again.id, &again.language), (&document.id, &document.language));
        // A link right after `\[` gets a space before it, and some anchors are given up: see `markup::render`.
        assert_eq!(again.text.replace(' ', ""), document.text.replace(' ', ""));
        let targets = again.links.iter().map(|link| &link.targets);
        assert!(targets.eq(document.links.iter().map(|link| &link.targets)), "{document:?}");
    }
}

/// A directory with one page under test and others that link to it or that it may link to.
pub struct Folder {
    dir: TempDir,
    page: PathBuf,
}

impl Folder {
    /// A directory of these files; `page` is the name of the one under test.
    pub fn new(page: &str, others: &[(&str, &str)]) -> Folder {
        let dir = tempfile::tempdir().expect("a directory");
        let page = dir.path().join(page);
        fs::create_dir_all(page.parent().expect("a folder")).expect("a folder");
        fs::write(&page, "").expect("written");
        for (name, text) in others {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("written");
        }
        Folder { dir, page }
    }

    /// Writes the page under test.
    pub fn write(&self, bytes: &[u8]) {
        fs::write(&self.page, bytes).expect("written");
    }

    /// The directory to import.
    pub fn roots(&self) -> [PathBuf; 1] {
        [self.dir.path().to_owned()]
    }
}
