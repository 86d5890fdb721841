//! Any bytes as the text of a paper of a small set, and as an entry of a bibliography: no panic, sound documents; as jsonl
//! they are the same.
#![no_main]

use std::sync::LazyLock;

use hyperdoc2vec::internals::import::Pages;
use hyperdoc2vec::internals::import::papers::Papers;
use hyperdoc2vec::internals::import::reference::BibRecord;
use hyperdoc2vec_fuzz::{Folder, check_all};
use libfuzzer_sys::fuzz_target;

const TABLE: &str = "id,title,authors,year\n\
    page,Parsing rivers with shallow nets,Marta Lindqvist; Oren Tal,2016\n\
    tides,A grammar of tides and of their turning,Oren Tal,2011\n\
    stones,Counting stones by the sea at night,Jules Verhoeven,2009\n";

static SET: LazyLock<(Folder, Papers)> = LazyLock::new(|| {
    let folder = Folder::new("page.txt", &[("table.csv", TABLE), ("tides.txt", "Tides turn.")]);
    let table = folder.roots()[0].join("table.csv");
    let papers = Papers::open(&folder.roots(), &table, &[], &[]).expect("papers");
    (folder, papers)
});

fuzz_target!(|bytes: &[u8]| {
    let (folder, papers) = &*SET;
    folder.write(bytes);
    check_all(&papers.parse(0..papers.len()));
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = BibRecord::read(text);
    }
});
