//! A corpus directory that somebody altered: refused with an error, or readable to the last document.
//!
//! Checksums keep out accidents, so bytes altered at random would never get past them. Here the checksums are made to
//! fit what was altered: what is left to stop it are the checks of `Corpus::open` and `Corpus::verify`.
#![no_main]

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::LazyLock;

use hyperdoc2vec::Corpus;
use hyperdoc2vec::corpus::Manifest;
use hyperdoc2vec::generate::{GenerateParams, generate};
use hyperdoc2vec::import::ImportOptions;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

/// A small corpus on disk, and its files as they should be.
struct Intact {
    dir: TempDir,
    manifest: Manifest,
    files: Vec<(String, Vec<u8>)>,
}

impl Intact {
    fn path(&self) -> PathBuf {
        self.dir.path().join("corpus")
    }
}

static INTACT: LazyLock<Intact> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a directory");
    let mut params = GenerateParams::default();
    (params.docs, params.links, params.words) = (12, 20, 20);
    let mut options = ImportOptions::default();
    options.threads = 1;
    let path = dir.path().join("corpus");
    let corpus = generate(&params, &path, &options, &mut |_| ControlFlow::Continue(())).expect("a corpus");
    let manifest = corpus.manifest().clone();
    let read = |name: &String| (name.clone(), fs::read(path.join(name)).expect("readable"));
    let files = manifest.files.keys().map(read).collect();
    Intact { dir, manifest, files }
});

/// Reads all there is.
fn read_all(corpus: &Corpus) {
    for doc in corpus.documents() {
        assert!(corpus.words(doc).iter().all(|&word| word.index() < corpus.distinct_words()));
        corpus.words(doc).iter().for_each(|&word| {
            let _ = (corpus.word(word), corpus.count(word));
        });
        for position in corpus.positions(doc) {
            let (before, after) = corpus.context(&position, 5);
            assert!(before.len() <= 5 && after.len() <= 5);
            assert!(position.anchor <= position.at);
            position.targets.iter().for_each(|&target| {
                let _ = (corpus.name(target), corpus.title(target), corpus.date(target));
            });
        }
        let _ = (corpus.labels(doc).count(), corpus.language(doc), corpus.url(doc), corpus.find(corpus.name(doc)));
        // The packed text may still be refused.
        let _ = corpus.document(doc);
    }
}

/// Which file, where in it, and what stands there now; a length of 0 to 3 bytes less.
type Change = (u8, u16, u8, u8);

fuzz_target!(|input: (Vec<Change>, Option<&[u8]>)| {
    let (changes, raw_manifest) = input;
    let intact = &*INTACT;
    let path = intact.path();
    let mut manifest = intact.manifest.clone();
    let mut touched = Vec::new();
    let mut files = intact.files.clone();
    for (file, at, byte, cut) in changes.into_iter().take(8) {
        let number = usize::from(file) % files.len();
        let (name, bytes) = &mut files[number];
        if let Some(place) = (!bytes.is_empty()).then(|| usize::from(at) % bytes.len()) {
            bytes[place] = byte;
        }
        if cut >= 250 {
            bytes.truncate(bytes.len().saturating_sub(usize::from(cut - 249)));
        }
        if let Some(info) = manifest.files.get_mut(name) {
            info.bytes = bytes.len() as u64;
            info.xxh3 = format!("{:016x}", xxh3_64(bytes));
        }
        touched.push(number);
    }
    for &number in &touched {
        let (name, bytes) = &files[number];
        fs::write(path.join(name), bytes).expect("written");
    }
    let json = match raw_manifest {
        Some(raw) => raw.to_vec(),
        None => {
            let files = std::mem::take(&mut manifest.files);
            manifest.with_files(files).to_json()
        }
    };
    fs::write(path.join("corpus.json"), json).expect("written");
    if let Ok(corpus) = Corpus::open(&path)
        && corpus.verify().is_ok()
    {
        read_all(&corpus);
    }
    for &number in &touched {
        let (name, bytes) = &intact.files[number];
        fs::write(path.join(name), bytes).expect("written");
    }
});
