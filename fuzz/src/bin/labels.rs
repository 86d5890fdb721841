//! Any bytes as a file of labelled documents, and as one of labelled contexts: refused with an error, or labels of documents
//! that are there.
#![no_main]

use std::sync::LazyLock;

use hyperdoc2vec::evaluate::{LabelledDocuments, read_intents};
use hyperdoc2vec::{Corpus, Document, Import};
use hyperdoc2vec_fuzz::Folder;
use libfuzzer_sys::fuzz_target;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new("labels", &[]));
static CORPUS: LazyLock<Corpus> = LazyLock::new(|| {
    let documents = ["a", "b", "c"].map(|id| Document::new(id, "a word and another [[a]]"));
    Import::documents(documents).min_count(1).build(FOLDER.roots()[0].join("corpus")).expect("a corpus")
});

fuzz_target!(|bytes: &[u8]| {
    FOLDER.write(bytes);
    let path = FOLDER.roots()[0].join("labels");
    if let Ok(labelled) = LabelledDocuments::of_file(&CORPUS, &path) {
        let _ = (labelled.without_small(2), labelled.sampled(1, 7), labelled.filtered(|doc| doc.index() == 0));
    }
    if let Ok(contexts) = read_intents(&path, "label") {
        assert!(!contexts.is_empty());
    }
});
