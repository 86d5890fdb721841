//! Any bytes as a TEI file: no panic, sound documents; as jsonl they are the same.
#![no_main]

use std::sync::LazyLock;

use hyperdoc2vec::import::ImportOptions;
use hyperdoc2vec::internals::import::{Pages, tei};
use hyperdoc2vec_fuzz::{Folder, check_all};
use libfuzzer_sys::fuzz_target;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| {
    let other = include_str!("../../../crates/hyperdoc2vec/tests/data/tei/parsing.grobid.tei.xml");
    Folder::new("paper.xml", &[("other.xml", other)])
});

fuzz_target!(|bytes: &[u8]| {
    FOLDER.write(bytes);
    let tei = tei::open(&FOLDER.roots(), &ImportOptions::default()).expect("files");
    check_all(&tei.parse(0..tei.len()));
});
