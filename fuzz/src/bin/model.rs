//! A model file that somebody altered: refused with an error, or used by every part of the library without a panic.
//!
//! Checksums keep out accidents; here they are made to fit what was altered, as an attacker would do it. What is left to
//! stop it are the checks of `Model::open` and the bounds of everything that reads a model.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use hyperdoc2vec::generate::{GenerateParams, Generator};
use hyperdoc2vec::model::Vectors;
use hyperdoc2vec::{
    Addition, Corpus, Document, Import, Inferrer, Model, Question, Ranking, Recommender, Side, Training, export,
};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

/// A small model, its bytes, where its arrays begin, and a corpus to be added to it.
struct Intact {
    dir: TempDir,
    bytes: Vec<u8>,
    start: usize,
    more: Corpus,
}

impl Intact {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

static INTACT: LazyLock<Intact> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a directory");
    let mut params = GenerateParams::default();
    (params.docs, params.links, params.words) = (60, 400, 100);
    let documents = Generator::new(&params).expect("a plan").documents(0..60);
    let corpus = Import::documents(documents).min_count(1).build(dir.path().join("corpus")).expect("a corpus");
    Training::new(&corpus).dim(4).epochs(2).threads(1).run(dir.path().join("intact")).expect("a model");
    let bytes = fs::read(dir.path().join("intact")).expect("readable");
    let start = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    let more = Import::documents([Document::new("new", "a word and another [[d000003]]")]).min_count(1);
    let more = more.build(dir.path().join("more")).expect("a corpus");
    Intact { dir, bytes, start, more }
});

/// Lets the checksums of the arrays and of the header fit.
fn seal(bytes: &mut [u8], start: usize) {
    let header = String::from_utf8_lossy(&bytes[8..start]).into_owned();
    // The description is JSON within JSON: `\"name\":\"0123456789abcdef\"` of the checksums, and `"name":{"dtype":…}`.
    let offsets = |name: &str| -> Option<(usize, usize)> {
        let entry = &header[header.find(&format!("\"{name}\":{{\"dtype\""))?..];
        let list = &entry[entry.find("\"data_offsets\":[")? + 16..];
        let (from, to) = list[..list.find(']')?].split_once(',')?;
        Some((from.parse().ok()?, to.parse().ok()?))
    };
    let Some(sums) = header.find("\\\"checksums\\\":{") else { return };
    let sums_end = sums + header[sums..].find('}').unwrap_or(0);
    let mut at = sums + 16;
    while let Some(quote) = header[at..sums_end].find("\\\":\\\"") {
        let name_start = header[..at + quote].rfind('"').map_or(0, |place| place + 1);
        let (name, value) = (&header[name_start..at + quote], at + quote + 5);
        if let Some(data) = offsets(name).and_then(|(from, to)| bytes.get(start + from..start + to)) {
            let sum = format!("{:016x}", xxh3_64(data));
            if let Some(place) = bytes.get_mut(8 + value..8 + value + 16) {
                place.copy_from_slice(sum.as_bytes());
            }
        }
        at = value;
    }
    if let Some((from, _)) = offsets("header_checksum") {
        let sum = xxh3_64(&bytes[..start]).to_le_bytes();
        if let Some(place) = bytes.get_mut(start + from..start + from + 8) {
            place.copy_from_slice(&sum);
        }
    }
}

/// Uses all there is; errors are as good as answers.
fn use_all(model: &Model, intact: &Intact) {
    let recommender = Recommender::new(model);
    let text = "w12 topic word [[?]] other";
    for ranking in [Ranking::Hybrid, Ranking::Embedding, Ranking::Bm25, Ranking::Bm25Cited] {
        let question = Question::new(text).rank(ranking).top(5).source("d000001").explain();
        let _ = recommender.ask(&question);
        let _ = recommender.ask(&Question::new(text).rank(ranking));
    }
    let _ = (recommender.info(), recommender.similar("d000002", Side::In, 3), recommender.document("d000002", 0, 3));
    if let Ok(inferrer) = Inferrer::new(model) {
        let _ = inferrer.texts(&[text]);
    }
    for which in [Vectors::WordIn, Vectors::DocOut] {
        let _ = (export::npy(model, which, &mut Vec::new()), export::metadata(model, which, &mut Vec::new()));
    }
    let _ = Addition::new(model, &intact.more).threads(1).replace().write(intact.path("grown"));
}

/// Where, and what stands there now; places in the header count from the end of the arrays.
type Change = (u32, u8);

fuzz_target!(|changes: Vec<Change>| {
    let intact = &*INTACT;
    let mut bytes = intact.bytes.clone();
    for (at, byte) in changes.into_iter().take(8) {
        // Half of the changes go to the header, which is a small part of the file.
        let (start, length) = (intact.start, bytes.len());
        let place =
            if at % 2 == 0 { start + at as usize / 2 % (length - start) } else { 8 + at as usize / 2 % (start - 8) };
        bytes[place] = byte;
    }
    seal(&mut bytes, intact.start);
    let path = intact.path("altered");
    fs::write(&path, &bytes).expect("written");
    if let Ok(model) = Model::open(&path) {
        use_all(&model, intact);
    }
});
