//! Any text with links at any places in it: written as marks and read back, no link and no word is lost.
#![no_main]

use hyperdoc2vec::Link;
use hyperdoc2vec::internals::document::markup::{parse, render};
use libfuzzer_sys::fuzz_target;

// Pieces of text, each followed by a link with these words of its own and a target.
fuzz_target!(|input: (Vec<(&str, &str, u8)>, &str)| {
    let (pieces, tail) = input;
    let mut text = String::new();
    let mut links = Vec::new();
    for (before, words, target) in pieces {
        text.push_str(before);
        let anchor = text.len();
        text.push_str(words);
        links.push(Link { at: text.len(), anchor, targets: vec![format!("d{target}")] });
    }
    text.push_str(tail);
    let again = parse(&render(&text, &links));
    assert_eq!(again.text.replace(' ', ""), text.replace(' ', ""));
    let targets = again.links.iter().map(|link| &link.targets);
    assert!(targets.eq(links.iter().map(|link| &link.targets)), "{links:?} in {text:?}");
});
