//! What several fuzz targets share: how bytes become a batch, and what holds for every document.

use hyperdoc2vec::Document;
use hyperdoc2vec::import::source::LineBatch;

/// The bytes as one batch of lines.
pub fn batch(bytes: &[u8]) -> LineBatch {
    LineBatch { input: "fuzz".into(), first_line: 1, bytes: bytes.to_vec(), too_long: Vec::new() }
}

/// What every importer promises of a document.
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
