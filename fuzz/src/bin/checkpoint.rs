//! A checkpoint that somebody altered, its checksums made to fit: refused with an error, or the run ends.
#![no_main]

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use hyperdoc2vec::generate::{GenerateParams, Generator};
use hyperdoc2vec::{Corpus, Import, TrainProgress, Training};
use hyperdoc2vec_fuzz::{Change, Sealed};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// A small corpus, and the checkpoint of a run on it that was stopped.
struct Intact {
    dir: TempDir,
    corpus: Corpus,
    checkpoint: Sealed,
}

fn training<'a>(corpus: &'a Corpus, checkpoint: &Path) -> Training<'a> {
    Training::new(corpus).dim(4).epochs(3).threads(1).checkpoint(checkpoint, Duration::from_secs(3600)).replace()
}

impl Intact {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

static INTACT: LazyLock<Intact> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a directory");
    let mut params = GenerateParams::default();
    (params.docs, params.links, params.words) = (30, 150, 60);
    let documents = Generator::new(&params).expect("a plan").documents(0..30);
    let corpus = Import::documents(documents).min_count(1).build(dir.path().join("corpus")).expect("a corpus");
    let path = dir.path().join("stopped");
    // In the last phase, so that as much as possible is in it.
    let stop = |progress: &TrainProgress| {
        if progress.phase == "citation" { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    training(&corpus, &path).watch(stop).run(dir.path().join("model")).expect_err("stopped");
    Intact { checkpoint: Sealed::read(&path), dir, corpus }
});

fuzz_target!(|changes: Vec<Change>| {
    let intact = &*INTACT;
    let path = intact.path("altered");
    fs::write(&path, intact.checkpoint.altered(&changes)).expect("written");
    let _ = training(&intact.corpus, &path).resume(true).run(intact.path("model"));
    // It goes with the run, but stays where that failed.
    let _ = fs::remove_file(&path);
});
