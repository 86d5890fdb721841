//! Any text as a draft of every format: words, links and places that ask for one are parts of it, in order. And as a list of
//! what is never linked.
#![no_main]

use hyperdoc2vec::document::Tokenizer;
use hyperdoc2vec::recommend::{Draft, DraftFormat, Edit, NeverLink, apply};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = &*String::from_utf8_lossy(bytes);
    let tokenizer = Tokenizer::default();
    for ending in ["md", "tex", "rst", "html", "wiki", "txt"] {
        let format = DraftFormat::of_path(&format!("page.{ending}")).expect("a format");
        check(text, &Draft::read(text, format, &tokenizer, "fuzz").expect("a short draft"));
    }
    let _ = NeverLink::read(text);
});

fn check(text: &str, draft: &Draft) {
    let mut before = 0;
    for word in &draft.words {
        assert!(before <= word.start && word.start <= word.end, "words overlap: {draft:?}");
        assert!(text.get(word.span()).is_some(), "{word:?} is no part of {text:?}");
        before = word.end;
    }
    before = 0;
    for link in &draft.links {
        assert!(before as usize <= link.span.start && text.get(link.span.clone()).is_some(), "{link:?} in {text:?}");
        assert!(draft.words.get(link.words.clone()).is_some() && !link.targets.is_empty(), "{link:?}");
        before = link.span.start as u32;
    }
    let mut edits = Vec::new();
    for wanted in &draft.wanted {
        let (span, hole) = (wanted.span.clone(), wanted.hole.clone());
        assert!(span.start <= hole.start && hole.end <= span.end && wanted.word <= draft.words.len(), "{wanted:?}");
        assert!(text.get(span).is_some() && text.get(hole.clone()).is_some(), "{wanted:?} in {text:?}");
        edits.push(Edit { span: hole.clone(), text: text[hole].to_owned() });
    }
    assert_eq!(apply(text, &edits), text);
}
