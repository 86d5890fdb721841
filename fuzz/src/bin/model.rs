//! A model file that somebody altered: refused with an error, or used by every part of the library without a panic.
//!
//! Checksums keep out accidents; here they are made to fit what was altered, as an attacker would do it. What is left to
//! stop it are the checks of `Model::open` and the bounds of everything that reads a model.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use hyperdoc2vec::export::VectorExport;
use hyperdoc2vec::generate::{GenerateParams, Generator};
use hyperdoc2vec::model::Vectors;
use hyperdoc2vec::{
    Addition, Corpus, Document, Import, Inferrer, Model, Question, Ranking, Recommender, Side, Training,
};
use hyperdoc2vec_fuzz::{Change, Sealed};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// A small model, its bytes, and a corpus to be added to it.
struct Intact {
    dir: TempDir,
    container: Sealed,
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
    let container = Sealed::read(&dir.path().join("intact"));
    let more = Import::documents([Document::new("new", "a word and another [[d000003]]")]).min_count(1);
    let more = more.build(dir.path().join("more")).expect("a corpus");
    Intact { dir, container, more }
});

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
        if let Ok(export) = VectorExport::new(model, which) {
            let _ = (export.npy(&mut Vec::new()), export.metadata(&mut Vec::new()));
        }
    }
    let _ = Addition::new(model, &intact.more).threads(1).replace().write(intact.path("grown"));
}

fuzz_target!(|changes: Vec<Change>| {
    let intact = &*INTACT;
    let path = intact.path("altered");
    fs::write(&path, intact.container.altered(&changes)).expect("written");
    if let Ok(model) = Model::open(&path) {
        use_all(&model, intact);
    }
});
