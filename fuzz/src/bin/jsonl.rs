//! Any bytes read as jsonl: no panic, sound documents; what is written is read back.
#![no_main]

use hyperdoc2vec::internals::import::jsonl;
use hyperdoc2vec_fuzz::{batch, check, placeless};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let parsed = jsonl::parse(&batch(bytes));
    parsed.batch.documents.iter().for_each(check);
    let again = jsonl::parse(&batch(&jsonl::to_jsonl(&parsed.batch.documents, &parsed.batch.aliases)));
    assert_eq!(again.batch.first_bad, None);
    let documents = |documents: &[_]| documents.iter().map(placeless).collect::<Vec<_>>();
    assert_eq!(documents(&again.batch.documents), documents(&parsed.batch.documents));
    assert_eq!(again.batch.aliases, parsed.batch.aliases);
});
