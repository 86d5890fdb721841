//! Any bytes read as lines of OpenAlex: no panic, sound documents; as jsonl they are the same.
#![no_main]

use hyperdoc2vec::internals::import::openalex;
use hyperdoc2vec_fuzz::{batch, check_all};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check_all(&openalex::parse(&batch(bytes))));
