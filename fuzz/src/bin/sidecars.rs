//! The files beside a model, its index and its map, altered, with checksums made to fit: refused, or used without a panic.
#![no_main]

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::LazyLock;

use hyperdoc2vec::generate::{GenerateParams, Generator};
use hyperdoc2vec::internals::search::approximate::{Index, Table};
use hyperdoc2vec::map::DocumentMap;
use hyperdoc2vec::model::Sidecar;
use hyperdoc2vec::{Import, Model, Training};
use hyperdoc2vec_fuzz::{Change, Sealed};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

/// A small model, and what stands beside it.
struct Intact {
    dir: TempDir,
    model: Model,
    index: Sealed,
    map: Sealed,
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
    let model = Training::new(&corpus).dim(4).epochs(2).threads(1).run(dir.path().join("model")).expect("a model");
    let [index, map] = ["index", "map"].map(|name| dir.path().join(name));
    Index::build(&model, &index).expect("an index");
    DocumentMap::make(&model, &mut |_| ControlFlow::Continue(()))
        .and_then(|made| made.write(&model, &map))
        .expect("a map");
    Intact { index: Sealed::read(&index), map: Sealed::read(&map), dir, model }
});

fuzz_target!(|input: (bool, Vec<Change>)| {
    let (intact, (index, changes)) = (&*INTACT, input);
    let path = intact.path("altered");
    let whole = if index { &intact.index } else { &intact.map };
    fs::write(&path, whole.altered(&changes)).expect("written");
    if index {
        if let Ok(Sidecar::Whole(index)) = Index::open(&intact.model, &path) {
            let (model, vector) = (&intact.model, [0.5, -0.5, 0.25, 1.0]);
            for (table, wanted) in [(Table::Out, 1), (Table::Content, 10), (Table::Out, 100)] {
                let found = index.top(model, table, &vector, wanted, |_| true).expect("asked");
                if let Some(found) = found {
                    assert!(found.hits.iter().all(|hit| (hit.row as usize) < model.documents()));
                    assert!(!index.log_total(model, &vector, &found, 0.0, |_| true).expect("asked").is_nan());
                }
                index.candidates(model, table, &vector, wanted, |_| true).expect("asked");
            }
        }
    } else if let Ok(Sidecar::Whole(map)) = DocumentMap::open(&intact.model, &path) {
        assert_eq!(map.places().len(), intact.model.documents());
        assert!(map.places().iter().flatten().all(|x| x.is_finite()));
    }
});
