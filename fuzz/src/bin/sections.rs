//! Any bytes as a page of a small site whose sections are documents of their own: no panic, sound documents; as jsonl they
//! are the same.
#![no_main]

use std::sync::LazyLock;

use hyperdoc2vec::internals::import::Pages;
use hyperdoc2vec::internals::import::html::{Html, HtmlOptions};
use hyperdoc2vec_fuzz::{Folder, check_all};
use libfuzzer_sys::fuzz_target;

static SITE: LazyLock<Folder> = LazyLock::new(|| {
    let index =
        "<h1 id=top>Top</h1><p>to <a href=page.html#a>a part</a> and <a href=page.html>the page</a><h2 id=end>End</h2>";
    Folder::new("page.html", &[("index.html", index)])
});

fuzz_target!(|bytes: &[u8]| {
    SITE.write(bytes);
    // Sections are found when the tree is opened.
    let options = HtmlOptions { sections: true, ..HtmlOptions::default() };
    let html = Html::open(&SITE.roots(), &options).expect("pages");
    check_all(&html.parse(0..html.len()));
});
