//! Memory: models whose vectors are in half precision, and training with tables out of core.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use half::f16;
use strum::VariantArray;
use tempfile::TempDir;

use hyperdoc2vec::generate::{GenerateParams, generate};
use hyperdoc2vec::internals::search::{Searcher, rank};
use hyperdoc2vec::model::{TrainParams, VectorStorage};
use hyperdoc2vec::{
    Addition, Answer, Corpus, Error, ImportOptions, Model, Question, Recommender, Result, Training, Vectors,
};

struct Place {
    dir: TempDir,
    corpus: Corpus,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().expect("a directory");
        let corpus = Place::generated(&dir.path().join("corpus"), 120, 1);
        Place { dir, corpus }
    }

    fn generated(path: &Path, docs: usize, seed: u64) -> Corpus {
        let mut params = GenerateParams::default();
        (params.docs, params.links, params.words, params.seed) = (docs, docs * 6, 100, seed);
        generate(&params, path, &ImportOptions::default(), &mut |_| ControlFlow::Continue(())).expect("generated")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Without the ranker, which takes most of the time.
    fn params() -> TrainParams {
        let mut params = TrainParams::default();
        (params.dim, params.hybrid) = (20, false);
        params.set_epochs(2);
        params.content.epochs = 2;
        params
    }

    fn training(&self) -> Training<'_> {
        Training::new(&self.corpus).params(Place::params()).replace()
    }

    fn training_with_ranker(&self) -> Training<'_> {
        let mut params = Place::params();
        params.hybrid = true;
        self.training().params(params)
    }

    fn half(&self, name: &str) -> Model {
        self.training().storage(VectorStorage::F16).run(self.path(name)).expect("trained")
    }
}

fn bytes(model: &Model) -> Vec<u8> {
    fs::read(model.path()).expect("written")
}

/// A text of the corpus: the words of a document.
fn text(corpus: &Corpus, document: usize) -> String {
    let document = corpus.documents().nth(document).expect("a document");
    corpus.words(document).iter().take(30).map(|&word| corpus.word(word)).collect::<Vec<_>>().join(" ")
}

#[test]
fn vectors_in_half_precision_are_those_in_single_precision_rounded() {
    let place = Place::new();
    let single = place.training().run(place.path("single")).expect("trained");
    let half = place.half("half");
    assert_eq!((single.storage(), half.storage()), (VectorStorage::F32, VectorStorage::F16));
    let mut numbers = 0;
    for &which in Vectors::VARIANTS {
        let (wide, stored) = (half.vectors(which), half.stored_vectors(which));
        let full = single.vectors(which);
        assert_eq!((wide.rows(), wide.cols()), (full.rows(), full.cols()));
        for row in 0..full.rows() {
            let rounded: Vec<f32> = full.row(row).iter().map(|&x| f16::from_f32(x).to_f32()).collect();
            assert!(wide.row(row) == rounded && *stored.row(row) == rounded, "{} of row {row}", which.name());
        }
        numbers += full.rows() * full.cols();
    }
    // All else is the same; descriptions may differ by a few digits.
    let saved = bytes(&single).len() as i64 - bytes(&half).len() as i64;
    assert!((saved - 2 * numbers as i64).abs() < 500, "{saved} bytes less for {numbers} numbers");
    let again = place.training().storage(VectorStorage::F16).threads(3).run(place.path("again")).expect("trained");
    assert!(bytes(&half) == bytes(&again), "any number of threads");
    let read = Model::read(half.path()).expect("read");
    assert!(read.vectors(Vectors::DocOut).row(7) == half.vectors(Vectors::DocOut).row(7));
}

#[test]
fn a_model_in_half_precision_answers_as_its_widened_vectors_do_on_any_number_of_threads() {
    let place = Place::new();
    let model = place.training_with_ranker().storage(VectorStorage::F16).run(place.path("half")).expect("trained");
    let searcher = Searcher::new(&model);
    let query = searcher.query(&text(&place.corpus, 3)).expect("read");
    let scores = searcher.embedding_scores(&query, None).expect("asked").expect("known words");
    let vector = searcher.vector(&query).expect("asked").expect("known words");
    assert_eq!(scores, rank::products(&vector, model.vectors(Vectors::DocOut)));
    let questions: Vec<Question> =
        (0..6).map(|document| Question::new(text(&place.corpus, document)).explain()).collect();
    let ask = |threads| {
        let recommender = Recommender::new(&model);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let answers =
            pool.install(|| questions.iter().map(|question| recommender.ask(question)).collect::<Result<_>>());
        let answers: Vec<Answer> = answers.expect("answered");
        answers
    };
    let told = |threads| {
        let of = |answer: &Answer| answer.hits.iter().map(|hit| (hit.id.clone(), hit.score)).collect::<Vec<_>>();
        ask(threads).iter().map(of).collect::<Vec<_>>()
    };
    let one = told(1);
    assert!(one.iter().all(|hits| !hits.is_empty()) && one == told(3));
}

#[test]
fn what_is_added_to_a_model_in_half_precision_is_stored_as_the_rest() {
    let place = Place::new();
    let model = place.half("half");
    let more = Place::generated(&place.path("more"), 150, 1);
    let added = Addition::new(&model, &more).write(place.path("grown")).expect("added");
    let grown = Model::open(place.path("grown")).expect("whole");
    assert_eq!((grown.storage(), grown.documents() as u64), (VectorStorage::F16, 120 + added.documents));
    for which in [Vectors::DocIn, Vectors::DocOut, Vectors::WordIn] {
        let (before, after) = (model.vectors(which), grown.vectors(which));
        assert!((0..before.rows()).all(|row| before.row(row) == after.row(row)), "{}", which.name());
    }
    let after = grown.vectors(Vectors::DocIn);
    assert!((120..after.rows()).all(|row| after.row(row).iter().any(|&x| x != 0.0)));
}

#[test]
fn numbers_beyond_half_precision_are_refused() {
    let place = Place::new();
    let mut params = Place::params();
    params.citation.rate = 1e6;
    let result = Training::new(&place.corpus).params(params).storage(VectorStorage::F16).run(place.path("model"));
    let Err(Error::Usage(what)) = result else { panic!("{:?}", result.map(|model| model.storage())) };
    assert!(what.contains("half precision ends at 65504"), "{what}");
    assert!(!place.path("model").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn training_out_of_core_gives_the_same_file_whole_or_in_pieces() {
    let place = Place::new();
    let ranker = place.training_with_ranker().run(place.path("ranker")).expect("trained");
    let whole = place.training_with_ranker().out_of_core(true).threads(3).run(place.path("files")).expect("trained");
    assert!(bytes(&ranker) == bytes(&whole), "in one go");
    let model = place.training().run(place.path("memory")).expect("trained");
    let path = place.path("pieces");
    for (piece, stop) in ["content", "citation", ""].into_iter().enumerate() {
        // One of them in memory: the checkpoint is the same.
        let training = place.training().out_of_core(piece != 1);
        let training = training.checkpoint(place.path("checkpoint"), Duration::from_secs(3600)).resume(true);
        let mut seen = 0;
        let result = training
            .watch(|progress| {
                seen += usize::from(progress.phase == stop);
                if seen == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .run(&path);
        match result {
            Ok(pieces) => assert!(stop.is_empty() && bytes(&model) == bytes(&pieces)),
            Err(Error::Stopped { .. }) => assert!(!stop.is_empty()),
            Err(error) => panic!("{stop}: {error}"),
        }
    }
    assert!(path.exists());
    let mut patient = Place::params();
    patient.citation.patience = 1;
    let train = |out_of_core, name| {
        let training = Training::new(&place.corpus).params(patient.clone()).out_of_core(out_of_core);
        bytes(&training.run(place.path(name)).expect("trained"))
    };
    assert!(train(false, "best") == train(true, "best out of core"), "the best pass is kept");
}

#[test]
fn passes_for_a_time_are_not_found_out_of_core() {
    let place = Place::new();
    let result = place.training().out_of_core(true).fit_to(Duration::from_secs(9)).map(drop);
    assert!(matches!(result, Err(Error::Usage(_))));
}
