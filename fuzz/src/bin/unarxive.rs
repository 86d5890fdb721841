//! Any bytes as lines of unarxive, read in two passes: no panic, sound documents; as jsonl they are the same.
#![no_main]

use hyperdoc2vec::internals::import::reference::CatalogueBuilder;
use hyperdoc2vec::internals::import::unarxive::{Unarxive, heads};
use hyperdoc2vec_fuzz::{batch, check_all};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let batch = batch(bytes);
    let mut papers = CatalogueBuilder::default();
    papers.extend(heads(&batch));
    check_all(&Unarxive::new(papers.finish()).parse(&batch));
});
