//! Any bytes as a page of reStructuredText among others: no panic, sound documents; as jsonl they are the same.
#![no_main]

use std::sync::LazyLock;

use hyperdoc2vec::internals::import::Pages;
use hyperdoc2vec::internals::import::markdown::{Markdown, MarkdownOptions};
use hyperdoc2vec_fuzz::{Folder, check_all};
use libfuzzer_sys::fuzz_target;

static MANUAL: LazyLock<Folder> = LazyLock::new(|| {
    let others = [("index.rst", "Top\n===\n\nto :doc:`page`, :ref:`label` and :class:`Name`\n"), ("a/b.rst", "B\n=\n")];
    Folder::new("page.rst", &others)
});

fuzz_target!(|bytes: &[u8]| {
    MANUAL.write(bytes);
    let options = MarkdownOptions { rest: true, ..Default::default() };
    let manual = Markdown::open(&MANUAL.roots(), &options).expect("pages");
    check_all(&manual.parse(0..manual.len()));
});
