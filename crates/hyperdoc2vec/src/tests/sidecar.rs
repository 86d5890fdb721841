//! Files kept beside a generated model: the approximate index, compared with the exact scan, and the map.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use crate::generate::{GenerateParams, generate};
use crate::id::DocRow;
use crate::import::ImportOptions;
use crate::map::{self, DocumentMap};
use crate::model::Vectors;
use crate::model::params::TrainParams;
use crate::model::sidecar::Sidecar;
use crate::search::approximate::{self, Index, Table};
use crate::search::ranker::{FeatureSet, LinkSource, Ranker, Scope};
use crate::search::{Hit, Query, Searcher, rank};
use crate::train::Training;
use crate::{Error, Model};
use tempfile::TempDir;

/// A model of 2,000 documents, and texts of its corpus.
fn model(seed: u64) -> (TempDir, Model, Vec<String>) {
    let dir = tempfile::tempdir().expect("a directory");
    let planted = GenerateParams { docs: 2000, links: 8000, words: 60, ..GenerateParams::default() };
    let corpus =
        generate(&planted, &dir.path().join("c"), &ImportOptions::default(), &mut |_| ControlFlow::Continue(()))
            .expect("generated");
    let mut params = TrainParams { dim: 16, seed, hybrid: false, ..TrainParams::default() };
    params.content.epochs = 1;
    params.set_epochs(2);
    let path = dir.path().join("m");
    Training::new(&corpus).params(params).replace().run(&path).expect("trained");
    let words = |doc| corpus.words(doc).iter().take(20).map(|&word| corpus.word(word)).collect::<Vec<_>>().join(" ");
    let texts = corpus.documents().step_by(10).map(words).collect();
    (dir, Model::open(&path).expect("a model"), texts)
}

#[test]
fn exact_and_approximate_agree() {
    let (_dir, model, texts) = model(1);
    let searcher = Searcher::new(&model);
    let index = Index::build(&model, &approximate::path(&model)).expect("an index");
    let about = index.about();
    assert_eq!((about.lists, about.questions), (45, 256), "√2000 lists, half of the contexts to check");
    assert!(about.looked_at[0] < about.lists / 2, "{about:?}: a part of the documents is enough");
    assert!(about.recall[0] >= 0.95 && about.recall[1] >= 0.95, "{about:?}");
    let out = model.vectors(Vectors::DocOut);
    let (mut both, mut first) = (0, 0);
    for text in &texts {
        let vector = searcher.vector(&searcher.query(text).expect("read")).expect("asked").expect("known");
        let exact = rank::top(&rank::products(&vector, out), 10, |_| true);
        let found = index.top(&model, Table::Out, &vector, 10, |_| true).expect("asked").expect("enough").hits;
        assert_eq!(found.len(), 10);
        both += found.iter().filter(|hit| exact.contains(hit)).count();
        first += usize::from(found[0] == exact[0]);
        // Rows that both have, have the same scores to the last bit.
        let row = |hit: &Hit| exact.iter().find(|other| other.row == hit.row).is_none_or(|other| other == hit);
        assert!(found.iter().all(row), "{found:?} {exact:?}");
    }
    let asked = texts.len();
    assert!(both as f64 >= 0.95 * 10.0 * asked as f64, "{both} of {}", asked * 10);
    assert!(first as f64 >= 0.95 * asked as f64, "{first} of {asked}");
}

#[test]
fn documents_that_are_not_allowed_are_no_hits() {
    let (_dir, model, texts) = model(1);
    let searcher = Searcher::new(&model);
    let index = Index::build(&model, &approximate::path(&model)).expect("an index");
    let vector = searcher.vector(&searcher.query(&texts[0]).expect("read")).expect("asked").expect("known");
    let top = |wanted: usize, allowed: &dyn Fn(usize) -> bool| {
        let found = index.top(&model, Table::Out, &vector, wanted, allowed).expect("asked");
        found.map(|found| found.hits)
    };
    let all = top(3, &|_| true).expect("enough");
    let others = top(3, &|row| row != all[0].row as usize).expect("enough");
    assert_eq!(others[..2], all[1..]);
    assert_eq!(top(3, &|row| row == 7), None, "too few are allowed");
    assert_eq!(top(101, &|_| true), None, "more than it is made for");
    assert_eq!(top(0, &|_| true), Some(vec![]));
}

/// Questions around which there is a place, and a source.
fn questions(searcher: &Searcher<'_>, texts: &[String]) -> Vec<(Query, LinkSource)> {
    let question = |(number, text): (usize, &String)| {
        let (before, after) = text.split_at(text.len() / 2);
        let query = searcher.query(&format!("{before} [[?]] {after}")).expect("read");
        (query, LinkSource::known(searcher, DocRow(10 * number as u32)))
    };
    texts.iter().enumerate().map(question).collect()
}

#[test]
fn the_hybrid_sees_the_same_whether_all_documents_are_scored_by_words_or_not() {
    let (_dir, model, texts) = model(1);
    let all = Searcher::new(&model).with_all_documents();
    let some = Searcher::new(&model).without_all_documents();
    let (features, odd) = (FeatureSet::default(), |row: usize| row % 2 == 1);
    let mut found = 0;
    for (query, source) in questions(&all, &texts).iter().step_by(4) {
        for scope in [Scope::ALL, Scope::of(&odd), Scope { eligible: &|_| true, allowed: &odd }] {
            for source in [None, Some(source)] {
                let expected = features.candidates(&all, query, source, scope).expect("asked");
                let candidates = features.candidates(&some, query, source, scope).expect("asked");
                assert!(candidates == expected, "to the last bit");
                found += candidates.map_or(0, |candidates| candidates.rows.len());
            }
        }
    }
    assert!(found > 10_000, "{found} candidates");
}

#[test]
fn the_hybrid_finds_by_the_index_what_it_finds_without() {
    let (_dir, model, texts) = model(1);
    let index = Index::build(&model, &approximate::path(&model)).expect("an index");
    let (all, by_index) = (Searcher::new(&model), Searcher::new(&model).with_index(index));
    let ranker = Ranker::prior();
    let (mut same, mut asked) = (0, 0);
    for (query, source) in &questions(&all, &texts) {
        for source in [None, Some(source)] {
            let first = |searcher| {
                let hits = ranker.rank(searcher, query, source, 1, Scope::ALL).expect("asked").expect("known");
                (hits[0].row, hits[0].score)
            };
            let ((row, probability), (expected, exact)) = (first(&by_index), first(&all));
            asked += 1;
            same += usize::from(row == expected && (probability - exact).abs() < 0.05);
        }
    }
    assert!(same * 100 >= asked * 97, "{same} of {asked}");
}

#[test]
fn any_number_of_threads_makes_the_same_index() {
    let (dir, model, _) = model(1);
    let build = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let path = dir.path().join(format!("{threads}.index"));
        pool.install(|| Index::build(&model, &path)).expect("an index");
        fs::read(path).expect("written")
    };
    assert!(build(1) == build(3));
}

#[test]
fn an_index_and_a_map_of_another_model_and_damaged_ones_are_known() {
    let ((_dir, model, _), (_other, other, _)) = (model(1), model(2));
    let build_index = |path: &Path| Index::build(&model, path).map(drop);
    known_for_what_they_are("index", &model, &other, &approximate::path(&model), build_index, Index::open);
    let map = DocumentMap::make(&model, &mut watch).expect("a map");
    let build_map = |path: &Path| map.write(&model, path);
    known_for_what_they_are("map", &model, &other, &map::path(&model), build_map, DocumentMap::open);
}

fn known_for_what_they_are<T>(
    kind: &str,
    model: &Model,
    other: &Model,
    path: &Path,
    build: impl Fn(&Path) -> crate::Result<()>,
    open: impl Fn(&Model, &Path) -> crate::Result<Sidecar<T>>,
) {
    let kept = |model: &Model| open(model, path).expect("looked at");
    assert!(path.to_string_lossy().ends_with(&format!("m.{kind}")));
    assert!(matches!(kept(model), Sidecar::Missing));
    build(path).expect("made");
    assert!(matches!(kept(model), Sidecar::Whole(_)));
    assert!(matches!(kept(other), Sidecar::Stale));
    let bytes = fs::read(path).expect("written");
    for length in [0, bytes.len() / 2, bytes.len() - 1] {
        fs::write(path, &bytes[..length]).expect("written");
        assert!(matches!(kept(model), Sidecar::Damaged(_)), "{kind}: {length} bytes");
    }
    let mut flipped = bytes.clone();
    flipped[bytes.len() - 100] ^= 1;
    fs::write(path, flipped).expect("written");
    assert!(matches!(kept(model), Sidecar::Damaged(what) if what.contains("checksum")));
    build(path).expect("made again");
    assert!(fs::read(path).expect("written") == bytes, "{kind}: made again as it was");
    // Nothing but a file of its kind is replaced.
    let model_bytes = fs::read(model.path()).expect("a model");
    for foreign in [&b"notes"[..], &bytes[..5], &model_bytes] {
        fs::write(path, foreign).expect("written");
        assert!(matches!(kept(model), Sidecar::Foreign(what) if what.contains(&format!("not a hyperdoc2vec {kind}"))));
        assert!(matches!(build(path), Err(Error::Foreign { .. })), "{kind}");
        assert!(fs::read(path).expect("still there") == foreign, "{kind}");
    }
    fs::remove_file(path).expect("removed");
    fs::create_dir(path).expect("a directory");
    assert!(matches!(kept(model), Sidecar::Foreign(_)));
}

fn watch(_: f32) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn any_number_of_threads_makes_the_same_map_of_all_documents() {
    let (dir, model, _) = model(1);
    let build = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let path = dir.path().join(format!("{threads}.map"));
        let map = pool.install(|| DocumentMap::make(&model, &mut watch)).expect("a map");
        map.write(&model, &path).expect("written");
        assert!(matches!(DocumentMap::open(&model, &path), Ok(Sidecar::Whole(again)) if again == map));
        assert_eq!(map.places().len(), model.documents());
        fs::read(path).expect("written")
    };
    assert!(build(1) == build(3));
}
