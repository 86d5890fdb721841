//! Ranks train the model of one process; here they are threads. `tests/mpi`, at the root, has them as processes.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

use hyperdoc2vec::generate::{GenerateParams, generate};
use hyperdoc2vec::model::LossFunction;
use hyperdoc2vec::train::{Parts, PartsMut, Ranks};
use hyperdoc2vec::{Corpus, Error, ImportOptions, Method, Result, TrainParams, TrainProgress, Training};
use tempfile::TempDir;

/// Where threads meet to exchange messages.
struct Hall {
    count: usize,
    met: Barrier,
    /// What each has brought, cut into parts for each.
    brought: Mutex<Vec<Vec<Vec<u8>>>>,
}

/// A thread that takes part.
struct Seat<'a> {
    rank: usize,
    hall: &'a Hall,
}

impl Seat<'_> {
    /// Brings a part for each, and looks at what all have brought.
    fn meet(&self, parts: Vec<Vec<u8>>, mut look: impl FnMut(&[Vec<Vec<u8>>])) {
        self.hall.brought.lock().expect("whole")[self.rank] = parts;
        self.hall.met.wait();
        look(&self.hall.brought.lock().expect("whole"));
        self.hall.met.wait();
    }
}

/// `bytes` cut into parts of these lengths.
fn cut(mut bytes: &[u8], lengths: &[usize]) -> Vec<Vec<u8>> {
    assert_eq!(bytes.len(), lengths.iter().sum::<usize>());
    let parts = lengths.iter().map(|&length| {
        let (part, rest) = bytes.split_at(length);
        bytes = rest;
        part.to_vec()
    });
    parts.collect()
}

impl Ranks for Seat<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.hall.count
    }

    fn host(&self) -> String {
        format!("thread {}", self.rank)
    }

    fn gather(&self, all: &mut [u8], lengths: &[usize]) {
        assert_eq!(lengths.len(), self.hall.count);
        let own = cut(all, lengths).swap_remove(self.rank);
        let mut gathered = Vec::new();
        self.meet(vec![own], |brought| gathered = brought.iter().flat_map(|parts| parts[0].clone()).collect());
        all.copy_from_slice(&gathered);
    }

    fn exchange(&self, from: Parts<'_>, into: PartsMut<'_>) {
        let mut received = Vec::new();
        self.meet(cut(from.bytes, from.lengths), |brought| {
            let parts: Vec<&Vec<u8>> = brought.iter().map(|parts| &parts[self.rank]).collect();
            assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), into.lengths);
            received = parts.into_iter().flatten().copied().collect();
        });
        into.bytes.copy_from_slice(&received);
    }

    fn wait(&self) {
        self.hall.met.wait();
    }
}

/// Runs `work` on so many ranks, and returns what each of them made of it.
fn on_ranks<T: Send>(count: usize, work: impl Fn(&dyn Ranks) -> T + Sync) -> Vec<T> {
    let hall = Hall { count, met: Barrier::new(count), brought: Mutex::new(vec![Vec::new(); count]) };
    std::thread::scope(|scope| {
        let (hall, work) = (&hall, &work);
        let started: Vec<_> = (0..count).map(|rank| scope.spawn(move || work(&Seat { rank, hall }))).collect();
        started.into_iter().map(|rank| rank.join().expect("no panic")).collect()
    })
}

struct Place {
    dir: TempDir,
    corpus: Corpus,
}

impl Place {
    fn new(docs: usize, links: usize) -> Place {
        let dir = tempfile::tempdir().expect("a directory");
        let mut planted = GenerateParams::default();
        (planted.docs, planted.links, planted.words) = (docs, links, 60);
        let path = dir.path().join("corpus");
        let corpus = generate(&planted, &path, &ImportOptions::default(), &mut |_| ControlFlow::Continue(()));
        Place { corpus: corpus.expect("generated"), dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn alone(&self, params: &TrainParams) -> Vec<u8> {
        let path = self.path("alone");
        Training::new(&self.corpus).params(params.clone()).threads(2).replace().run(&path).expect("trained");
        fs::read(&path).expect("written")
    }

    fn training<'a>(&'a self, params: &TrainParams, ranks: &'a dyn Ranks) -> Training<'a> {
        Training::new(&self.corpus).params(params.clone()).threads(1).replace().ranks(ranks)
    }

    /// Trains on so many ranks, and returns the model.
    fn shared(&self, params: &TrainParams, count: usize) -> Vec<u8> {
        self.shared_with(params, count, false)
    }

    /// Trains on so many ranks that have an equal part of the documents each, and returns the model.
    fn sharded(&self, params: &TrainParams, count: usize) -> Vec<u8> {
        self.shared_with(params, count, true)
    }

    fn shared_with(&self, params: &TrainParams, count: usize, sharded: bool) -> Vec<u8> {
        let path = self.path("shared");
        for done in on_ranks(count, |ranks| self.training(params, ranks).shard_tables(sharded).write(&path)) {
            done.expect("trained");
        }
        fs::read(&path).expect("written")
    }

    /// The files that are there.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path()).expect("listed").flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

fn quick(method: Method) -> TrainParams {
    let mut params = TrainParams::default();
    (params.dim, params.hybrid) = (12, false);
    params.set_method(method);
    params.set_epochs(2);
    params.content.epochs = 1;
    params
}

#[test]
fn any_number_of_ranks_gives_the_file_of_one_process() {
    let place = Place::new(150, 900);
    for method in [Method::HyperDoc, Method::Joint, Method::PvDbow] {
        let params = quick(method);
        let alone = place.alone(&params);
        for count in [1, 2, 3, 7] {
            assert!(alone == place.shared(&params, count), "{method} on {count} ranks");
        }
        for count in [2, 5] {
            assert!(alone == place.sharded(&params, count), "{method} on {count} ranks, sharded");
        }
    }
    let mut params = quick(Method::HyperDoc);
    (params.citation.loss, params.citation.patience) = (LossFunction::FullSoftmax, 1);
    assert!(place.alone(&params) == place.shared(&params, 3), "another loss, with links held out");
    (params.citation.loss, params.citation.patience) = (LossFunction::NegativeSampling, 1);
    assert!(place.alone(&params) == place.sharded(&params, 3), "another loss, with links held out, sharded");
}

#[test]
fn more_ranks_than_examples_give_the_same_file() {
    let place = Place::new(20, 30);
    let mut params = quick(Method::HyperDoc);
    (params.citation.batch, params.citation.noise, params.content.batch) = (4, 2, 3);
    assert!(place.alone(&params) == place.shared(&params, 6));
    assert!(place.alone(&params) == place.sharded(&params, 6), "sharded");
    assert!(place.alone(&params) == place.sharded(&params, 23), "more ranks than documents");
}

#[test]
fn the_ranker_of_several_ranks_is_that_of_one_process() {
    let place = Place::new(200, 1200);
    let mut params = quick(Method::HyperDoc);
    params.hybrid = true;
    let alone = place.alone(&params);
    assert!(alone == place.shared(&params, 2));
    assert!(alone == place.sharded(&params, 3), "sharded");
    assert_eq!(place.files(), ["alone", "corpus", "shared"], "nothing else is left");
}

/// Stops at the `batch`th batch of any rank but the first, and goes on with other numbers of ranks.
#[test]
fn a_run_that_another_rank_stopped_goes_on_with_any_number_of_ranks() {
    let place = Place::new(200, 1400);
    let mut params = quick(Method::HyperDoc);
    params.hybrid = true;
    let alone = place.alone(&params);
    let path = place.path("shared");
    let run = |ranks: &dyn Ranks, stop: &str, sharded: bool| -> Result<()> {
        let mut seen = 0;
        let watch = |progress: &TrainProgress| {
            seen += usize::from(progress.phase == stop);
            let stops = seen == 2 && (ranks.rank() == ranks.count() - 1);
            if stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let training = place.training(&params, ranks).shard_tables(sharded).watch(watch).resume(true);
        training.checkpoint(place.path("checkpoint"), Duration::from_secs(3600)).write(&path)
    };
    for first in [false, true] {
        for (count, stop, sharded) in [(3, "content", first), (2, "hybrid", !first), (3, "citation", first)] {
            for done in on_ranks(count, |ranks| run(ranks, stop, sharded)) {
                assert!(matches!(done, Err(Error::Stopped { .. })), "{stop}: {done:?}");
            }
            assert!(place.path("checkpoint").exists() && !path.exists());
        }
        on_ranks(4, |ranks| run(ranks, "", !first).expect("trained"));
        assert!(alone == fs::read(&path).expect("written"), "{first}");
        fs::remove_file(&path).expect("removed");
    }
    assert_eq!(place.files(), ["alone", "corpus"]);
}

#[test]
fn ranks_that_would_train_different_models_are_refused() {
    let (place, other) = (Place::new(60, 200), Place::new(61, 200));
    let refused = |write: &(dyn Fn(&dyn Ranks, &Path) -> Result<()> + Sync)| {
        let path = place.path("refused");
        let done = on_ranks(3, |ranks| write(ranks, &path));
        assert!(!path.exists());
        let messages = done.into_iter().map(|done| done.expect_err("refused").to_string()).collect::<Vec<_>>();
        assert!(messages.iter().all(|message| message == &messages[0]), "all know: {messages:?}");
        messages[0].clone()
    };
    let params = quick(Method::HyperDoc);
    let corpora = refused(&|ranks, path| {
        let corpus = if ranks.rank() == 1 { &other.corpus } else { &place.corpus };
        Training::new(corpus).params(params.clone()).ranks(ranks).write(path)
    });
    assert!(corpora.starts_with("rank 1 on thread 1 differs from rank 0 on thread 0 in the corpus: "), "{corpora}");
    let seeds = refused(&|ranks, path| {
        let mut params = params.clone();
        params.seed += u64::from(ranks.rank() == 2);
        place.training(&params, ranks).write(path)
    });
    assert!(
        seeds.starts_with("rank 2 on thread 2 differs from rank 0 on thread 0 in the parameter seed: 2, not 1; "),
        "{seeds}"
    );
    let tables = refused(&|ranks, path| place.training(&params, ranks).shard_tables(ranks.rank() == 1).write(path));
    assert!(tables.contains("in the tables: sharded, not replicated"), "{tables}");
    let method = refused(&|ranks, path| place.training(&quick(Method::PvDm), ranks).write(path));
    assert!(method.contains("runs on one machine"), "{method}");
}

/// Where rank 0 cannot write, all end with it, and none waits.
#[test]
fn a_rank_that_fails_ends_all() {
    let place = Place::new(60, 200);
    let path = place.path("no such folder").join("model");
    let params = quick(Method::PvDbow);
    let done = on_ranks(3, |ranks| place.training(&params, ranks).write(&path));
    for (rank, done) in done.into_iter().enumerate() {
        match (rank, done) {
            (0, Err(Error::Io { .. })) | (_, Err(Error::OtherRank)) => {}
            (rank, done) => panic!("rank {rank}: {done:?}"),
        }
    }
}
