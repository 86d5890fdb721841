//! Any bytes as a page of a small site: no panic, sound documents; as jsonl they are the same.
#![no_main]

use std::sync::LazyLock;

use hyperdoc2vec::internals::import::Pages;
use hyperdoc2vec::internals::import::html::{Html, HtmlOptions};
use hyperdoc2vec_fuzz::{Folder, check_all};
use libfuzzer_sys::fuzz_target;

static SITE: LazyLock<(Folder, Html)> = LazyLock::new(|| {
    let others = [("index.html", "<p>to <a href=page.html>the page</a>"), ("a/b.html", "<p>b")];
    let folder = Folder::new("page.html", &others);
    let options = HtmlOptions { base_url: Some("https://example.org/docs/".to_owned()), ..HtmlOptions::default() };
    let html = Html::open(&folder.roots(), &options).expect("pages");
    (folder, html)
});

fuzz_target!(|bytes: &[u8]| {
    let (folder, html) = &*SITE;
    folder.write(bytes);
    check_all(&html.parse(0..html.len()));
});
