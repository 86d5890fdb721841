//! Any bytes as the table of a set of papers: refused with an error, or sound documents.
#![no_main]

use std::sync::LazyLock;

use hyperdoc2vec::internals::import::Pages;
use hyperdoc2vec::internals::import::papers::Papers;
use hyperdoc2vec_fuzz::{Folder, check_all};
use libfuzzer_sys::fuzz_target;

static FOLDER: LazyLock<Folder> =
    LazyLock::new(|| Folder::new("table", &[("a.txt", "One [1].\nReferences\n[1] B. Doe. Title of it. 2001.\n")]));

fuzz_target!(|bytes: &[u8]| {
    FOLDER.write(bytes);
    let roots = FOLDER.roots();
    if let Ok(papers) = Papers::open(&roots, &roots[0].join("table"), &[], &[]) {
        check_all(&papers.parse(0..papers.len()));
    }
});
