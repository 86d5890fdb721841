//! Any bytes as a note among others: no panic, sound documents; as jsonl they are the same.
#![no_main]

use std::sync::LazyLock;

use hyperdoc2vec::internals::import::Pages;
use hyperdoc2vec::internals::import::markdown::{Markdown, MarkdownOptions};
use hyperdoc2vec_fuzz::{Folder, check_all};
use libfuzzer_sys::fuzz_target;

static NOTES: LazyLock<Folder> =
    LazyLock::new(|| Folder::new("page.md", &[("index.md", "to [[page]] and [it](page.md)"), ("a/b.md", "# B\n")]));

fuzz_target!(|bytes: &[u8]| {
    NOTES.write(bytes);
    // Front matter is read when the tree is opened.
    let options = MarkdownOptions { base_url: Some("https://example.org/docs/".to_owned()), ..Default::default() };
    let markdown = Markdown::open(&NOTES.roots(), &options).expect("pages");
    check_all(&markdown.parse(0..markdown.len()));
});
