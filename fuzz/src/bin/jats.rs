//! Any bytes as a JATS file: no panic, sound documents; as jsonl they are the same.
#![no_main]

use std::sync::LazyLock;

use hyperdoc2vec::import::ImportOptions;
use hyperdoc2vec::internals::import::{Pages, jats};
use hyperdoc2vec_fuzz::{Folder, check_all};
use libfuzzer_sys::fuzz_target;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| {
    let other = include_str!("../../../crates/hyperdoc2vec/tests/data/jats/PMC100.nxml");
    Folder::new("paper.xml", &[("other.xml", other)])
});

fuzz_target!(|bytes: &[u8]| {
    FOLDER.write(bytes);
    let jats = jats::open(&FOLDER.roots(), &ImportOptions::default()).expect("files");
    check_all(&jats.parse(0..jats.len()));
});
