//! Any bytes read as lines of the paper's format: no panic, sound documents; as jsonl they are the same.
#![no_main]

use hyperdoc2vec::import::{jsonl, lines};
use hyperdoc2vec_fuzz::{batch, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let parsed = lines::parse(&batch(bytes));
    parsed.documents.iter().for_each(check);
    let again = jsonl::parse(&batch(&jsonl::write(&parsed)));
    assert_eq!(again.first_bad, None);
    assert_eq!(again.documents.len(), parsed.documents.len());
    for (again, document) in again.documents.iter().zip(&parsed.documents) {
        assert_eq!(again.id, document.id);
        // A link right after `\[` gets a space before it: see `markup::render`.
        assert_eq!(again.text.replace(' ', ""), document.text.replace(' ', ""));
        let targets = again.links.iter().map(|link| &link.targets);
        assert!(targets.eq(document.links.iter().map(|link| &link.targets)), "{document:?}");
    }
});
