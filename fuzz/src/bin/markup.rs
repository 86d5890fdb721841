//! Any text with marks: what was read once is written and read again without any loss.
#![no_main]

use hyperdoc2vec::Document;
use hyperdoc2vec::internals::document::markup::{Marked, parse, render};
use hyperdoc2vec_fuzz::check;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|marked: &str| {
    let Marked { text, links, .. } = parse(marked);
    check(&Document { id: "d".to_owned(), text: text.clone(), links: links.clone(), ..Document::default() });
    let again = parse(&render(&text, &links));
    assert_eq!((again.text, again.links), (text, links));
});
