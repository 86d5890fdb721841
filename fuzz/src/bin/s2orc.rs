//! Any bytes as lines of s2orc, read in two passes: no panic, sound documents; as jsonl they are the same.
#![no_main]

use hyperdoc2vec::internals::import::s2orc::{FirstPass, heads};
use hyperdoc2vec_fuzz::{batch, check_all};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let batch = batch(bytes);
    let mut first = FirstPass::default();
    first.add(heads(&batch));
    check_all(&first.finish().parse(&batch));
});
