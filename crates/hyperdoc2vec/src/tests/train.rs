//! Training runs: what is planted is learnt, and the same bytes come out whatever the threads and interruptions.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use crate::corpus::CorpusOptions;
use crate::corpus::split::Split;
use crate::corpus::view::View;
use crate::evaluate::{HeldOutLinks, LinkEvaluation, LinksParams, MethodPlaces};
use crate::export::{VectorExport, VectorFormat};
use crate::generate::{GenerateParams, Generator, Kind, generate};
use crate::id::DocRow;
use crate::import::{Format, ImportOptions};
use crate::infer::Inferrer;
use crate::kernel::{dot, sum_of_squares};
use crate::model::index::terms::{Field, Terms};
use crate::model::params::{LossFunction, Method, TrainParams};
use crate::model::{VectorStorage, Vectors};
use crate::search::ranker::{LinkSource, Ranker, Scope};
use crate::search::{Query, Searcher, rank};
use crate::storage::container::{self, Tensor};
use crate::tests::import;
use crate::train::{Checkpoints, Run, Team, TrainProgress, TrainWatch, Training};
use crate::{Addition, Corpus, Error, Model, Result, Shard};
use strum::VariantArray;
use tempfile::TempDir;

/// Trains on a corpus and writes the model to `path`.
fn train(
    corpus: &Corpus,
    params: &TrainParams,
    path: &Path,
    threads: usize,
    checkpoints: Option<&Checkpoints>,
    watch: TrainWatch<'_>,
) -> Result<()> {
    let mut training = Training::new(corpus).params(params.clone()).threads(threads).replace().watch(watch);
    if let Some(Checkpoints { path, every, resume }) = checkpoints {
        training = training.checkpoint(path, *every).resume(*resume);
    }
    training.run(path).map(drop)
}

struct Place {
    dir: TempDir,
    corpus: Corpus,
    planted: Generator,
}

impl Place {
    fn generated(docs: usize, links: usize) -> Place {
        Place::planted(GenerateParams { docs, links, words: 100, ..GenerateParams::default() })
    }

    fn planted(params: GenerateParams) -> Place {
        let dir = tempfile::tempdir().expect("a directory");
        let corpus =
            generate(
                &params,
                &dir.path().join("corpus"),
                &ImportOptions::default(),
                &mut |_| ControlFlow::Continue(()),
            );
        Place { corpus: corpus.expect("generated"), dir, planted: Generator::new(&params).expect("planned") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Trains and returns the bytes of the model.
    fn train(&self, params: &TrainParams, threads: usize) -> Vec<u8> {
        let path = self.path("model");
        train(&self.corpus, params, &path, threads, None, &mut |_| ControlFlow::Continue(())).expect("trained");
        fs::read(&path).expect("written")
    }

    fn model(&self, params: &TrainParams) -> Model {
        self.train(params, 2);
        let model = Model::open(self.path("model")).expect("readable");
        model.verify().expect("intact");
        model
    }
}

/// Few and small passes, so that every method is done in a moment.
fn quick(method: Method) -> TrainParams {
    let mut params = TrainParams { method, dim: 24, ..TrainParams::default() };
    params.set_epochs(2);
    params.content.epochs = 2;
    params.direct.epochs = 2;
    params.reference.noise = 50;
    params
}

#[test]
fn every_method_trains_and_gives_numbers() {
    let place = Place::generated(150, 600);
    for &method in Method::VARIANTS {
        let model = place.model(&quick(method));
        assert_eq!((model.documents(), model.params().method), (150, method));
        for which in [Vectors::WordIn, Vectors::WordOut, Vectors::DocIn, Vectors::DocOut] {
            let vectors = model.vectors(which);
            assert!((0..vectors.rows()).all(|row| vectors.row(row).iter().all(|x| x.is_finite())), "{method}");
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_file() {
    let place = Place::generated(400, 3000);
    for method in [Method::HyperDoc, Method::Joint, Method::PvDbow, Method::HyperDocPaper] {
        // That the ranker, too, is the same for any number of threads has a test of its own.
        let params = TrainParams { hybrid: false, ..quick(method) };
        let one = place.train(&params, 1);
        assert!(one == place.train(&params, 2), "{method}, two threads");
        assert!(one == place.train(&params, 5), "{method}, five threads");
        assert!(one != place.train(&TrainParams { seed: 2, ..params }, 2), "{method}, another seed");
    }
}

/// The test above has sampled softmax; the other losses have columns and slopes of their own.
#[test]
fn any_number_of_threads_gives_the_same_file_for_every_loss() {
    let place = Place::generated(300, 2500);
    for (loss, noise) in [(LossFunction::FullSoftmax, 0), (LossFunction::NegativeSampling, 100)] {
        let mut params = TrainParams { hybrid: false, ..quick(Method::HyperDoc) };
        (params.citation.loss, params.citation.noise) = (loss, noise);
        let one = place.train(&params, 1);
        assert!(one == place.train(&params, 2), "{loss:?}, two threads");
        assert!(one == place.train(&params, 3), "{loss:?}, three threads");
    }
}

/// Stops a run after `batches` batches, goes on from the checkpoint, again and again; returns the model.
fn train_in_pieces(place: &Place, params: &TrainParams, batches: usize, threads: usize) -> (Vec<u8>, usize) {
    let path = place.path("pieces");
    let checkpoints = Checkpoints { path: place.path("checkpoint"), every: Duration::from_secs(3600), resume: true };
    for piece in 0..1000 {
        let mut seen = 0;
        let result = train(&place.corpus, params, &path, threads, Some(&checkpoints), &mut |_| {
            seen += 1;
            if seen == batches { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match result {
            Ok(()) => return (fs::read(&path).expect("written"), piece),
            Err(Error::Stopped { checkpoint }) => assert!(checkpoint.exists()),
            Err(error) => panic!("{error}"),
        }
    }
    panic!("the run does not end");
}

#[test]
fn a_run_in_pieces_gives_the_same_file_as_one_in_one_go() {
    let place = Place::generated(300, 2500);
    for method in [Method::HyperDoc, Method::Joint, Method::HyperDocPaper, Method::Npm] {
        // What is learnt between phases begins anew when it is stopped, and would never end in pieces so small.
        let params = TrainParams { hybrid: false, ..quick(method) };
        let whole = place.train(&params, 2);
        for (batches, threads) in [(1, 1), (3, 2)] {
            let (pieces, stops) = train_in_pieces(&place, &params, batches, threads);
            assert!(stops > 1, "{method} was stopped {stops} times");
            assert!(whole == pieces, "{method} in pieces of {batches} batches");
        }
        assert!(!place.path("checkpoint").exists(), "a finished run leaves no checkpoint");
    }
}

#[test]
fn what_weighs_the_rankings_is_the_same_for_any_threads_and_stops() {
    let place = Place::generated(300, 1500);
    let params = quick(Method::HyperDoc);
    let whole = place.train(&params, 1);
    assert!(whole == place.train(&params, 2), "two threads");
    let path = place.path("pieces");
    let checkpoints = Checkpoints { path: place.path("checkpoint"), every: Duration::from_secs(3600), resume: true };
    for stop in ["hybrid", "citation", ""] {
        let result = train(&place.corpus, &params, &path, 2, Some(&checkpoints), &mut |progress| {
            if progress.phase == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match result {
            Ok(()) => assert_eq!(stop, ""),
            Err(Error::Stopped { checkpoint }) => assert!(checkpoint.exists() && !stop.is_empty()),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(whole == fs::read(&path).expect("written"), "stopped while rankings were weighed, and after");
    let left: Vec<_> =
        fs::read_dir(place.dir.path()).expect("listed").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left.len(), 3, "corpus and two models: {left:?}");
}

#[test]
fn probabilities_hold_and_documents_without_links_are_found() {
    let place = Place::generated(400, 3000);
    let params = TrainParams { dim: 24, ..TrainParams::default() };
    let split = Split::by_date(&place.corpus, "2015".parse().expect("a year")).expect("split");
    let view = View::new(&place.corpus, &split, params.min_count).expect("a view");
    let path = place.path("model");
    let run = Run {
        view: &view,
        params: &params,
        threads: 2,
        checkpoints: None,
        team: Team::default(),
        for_people: true,
        storage: VectorStorage::default(),
        out_of_core: false,
    };
    run.write(&path, &mut |_| ControlFlow::Continue(())).expect("trained");
    let model = Model::open(&path).expect("readable");
    let hybrid = Ranker::of(&model).expect("learnt");
    assert!(hybrid.about()["links"].as_u64() > Some(100) && hybrid.about()["calibration"].as_array().is_some());
    let searcher = Searcher::new(&model);
    let terms = Terms::new(&view);
    // Predicted and observed over ten bins; found by the hybrid and by each single ranking.
    let (mut bins, mut found, mut asked) = ([(0.0f32, 0.0f32, 0.0f32); 10], [0usize; 4], 0);
    for query in split.queries(&place.corpus) {
        let truths: Vec<u32> = query.truths.iter().filter_map(|&doc| view.document_row(doc)).map(|row| row.0).collect();
        let question = Query::of_link(&view, &terms, query.position, params.window, true);
        let source = LinkSource::of_link(&view, &model, query.position, |_| true).expect("known");
        let hits =
            hybrid.rank(&searcher, &question, Some(&source), 10, Scope::ALL).expect("ranked").unwrap_or_default();
        asked += 1;
        found[0] += usize::from(hits.iter().any(|hit| truths.contains(&hit.row)));
        let by_words = |field| searcher.bm25_scores(&question, field);
        let singles = [searcher.embedding_scores(&question, None), by_words(Field::Text), by_words(Field::Cited)];
        for (place, scores) in singles.into_iter().enumerate() {
            let hits = rank::top(&scores.expect("asked").unwrap_or_default(), 10, |_| true);
            found[place + 1] += usize::from(hits.iter().any(|hit| truths.contains(&hit.row)));
        }
        for hit in hits {
            let bin = &mut bins[((hit.score * 10.0) as usize).min(9)];
            let right = f32::from(u8::from(truths.contains(&hit.row)));
            *bin = (bin.0 + 1.0, bin.1 + hit.score, bin.2 + right);
        }
    }
    // Each bin weighs as many as it holds: the mean distance of what is said from what is right.
    let total: f32 = bins.iter().map(|bin| bin.0).sum();
    let error: f32 = bins.iter().map(|(_, said, right)| (said - right).abs()).sum::<f32>() / total;
    assert!(error < 0.05, "{error}: {bins:?}");
    assert!(found[1..].iter().all(|&single| found[0] * 100 >= single * 97), "{found:?} of {asked}");
    assert!(bins[1..].iter().any(|bin| bin.0 > 0.0), "something is probable: {bins:?}");
    // A text that is a newcomer's own words finds it.
    let newcomer = (0..model.documents())
        .find(|&row| split.is_newcomer(view.documents[row]) && place.corpus.words(view.documents[row]).len() > 20);
    let newcomer = newcomer.expect("one without links");
    let words = place.corpus.words(view.documents[newcomer]);
    let text: Vec<&str> = words.iter().take(40).map(|&word| place.corpus.word(word)).collect();
    let query = searcher.query(&text.join(" ")).expect("read");
    let hits = hybrid.rank(&searcher, &query, None, 10, Scope::ALL).expect("ranked").expect("known words");
    assert!(hits.iter().any(|hit| hit.row as usize == newcomer), "{hits:?}");
}

#[test]
fn h_d2v_and_h_d2v_source_are_evaluated_as_users_ask_them() {
    let place = Place::planted(GenerateParams {
        docs: 150,
        links: 900,
        words: 300,
        newcomers: 0.0,
        ..GenerateParams::default()
    });
    let split = Split::by_share(&place.corpus, 0.2, 1).expect("split");
    let train = TrainParams { hybrid: false, ..quick(Method::HyperDoc) };
    let params = LinksParams { train, ..LinksParams::default() };
    let view = View::new(&place.corpus, &split, params.train.min_count).expect("a view");
    let asked = HeldOutLinks::new(&view, &split, 1).expect("links");
    let (found, folder) = (Mutex::new(Vec::new()), place.path("."));
    let keep = |cell: &MethodPlaces| {
        found.lock().expect("whole").push(cell.tops.clone());
        Ok(())
    };
    let methods = ["h-d2v", "h-d2v-source"].map(|name| name.parse().expect("a method"));
    LinkEvaluation::new(&view, &asked, &params, &folder).done(&keep).run(&methods).expect("evaluated");
    let path = place.path("model");
    let run = Run {
        view: &view,
        params: &params.train,
        threads: 2,
        checkpoints: None,
        team: Team::default(),
        for_people: true,
        storage: VectorStorage::default(),
        out_of_core: false,
    };
    run.write(&path, &mut |_| ControlFlow::Continue(())).expect("trained");
    let model = Model::open(&path).expect("readable");
    let (searcher, terms) = (Searcher::new(&model), Terms::new(&view));
    let expected = [false, true].map(|sourced| {
        let tops = asked.positions().into_iter().map(|position| {
            let query = Query::of_link(&view, &terms, position, params.train.window, true);
            let source = LinkSource::of_link(&view, &model, position, |_| true).expect("known");
            let scores = searcher.embedding_scores(&query, sourced.then_some(&source)).expect("asked");
            rank::top(&scores.expect("known words"), 10, |_| true).iter().map(|hit| DocRow(hit.row)).collect()
        });
        tops.collect::<Vec<Vec<DocRow>>>()
    });
    assert!(expected[0] != expected[1], "the source counts");
    assert_eq!(found.into_inner().expect("whole"), expected);
}

#[test]
fn the_embedding_leads_to_documents_that_nobody_links_to() {
    let place = Place::generated(600, 5000);
    let params = TrainParams { dim: 24, hybrid: false, ..TrainParams::default() };
    let model = place.model(&params);
    let searcher = Searcher::new(&model);
    let (mut newcomers, mut found) = (0, 0);
    for doc in place.corpus.documents().filter(|&doc| searcher.linking_to(DocRow(doc.0)).is_empty()) {
        let text: Vec<&str> = place.corpus.words(doc).iter().take(60).map(|&word| place.corpus.word(word)).collect();
        let query = searcher.query(&text.join(" ")).expect("read");
        let scores = searcher.embedding_scores(&query, None).expect("asked").expect("known words");
        newcomers += 1;
        found += usize::from(rank::top(&scores, 10, |_| true).iter().any(|hit| hit.row == doc.0));
    }
    // Documents of its topic that have links come first for some: there are about thirty of each.
    assert!(newcomers > 50 && found * 6 > newcomers, "{found} of {newcomers}");
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let place = Place::generated(100, 400);
    let checkpoints = Checkpoints { path: place.path("checkpoint"), every: Duration::ZERO, resume: true };
    let stop = &mut |_: &_| ControlFlow::Break(());
    let result = train(&place.corpus, &quick(Method::HyperDoc), &place.path("m"), 1, Some(&checkpoints), stop);
    assert!(matches!(result, Err(Error::Stopped { .. })));
    let other = TrainParams { seed: 7, ..quick(Method::HyperDoc) };
    let error = train(&place.corpus, &other, &place.path("m"), 1, Some(&checkpoints), stop).expect_err("another run");
    assert!(error.to_string().contains("other parameters"), "{error}");
    assert!(!place.path("m").exists());
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    dot(a, b) / (sum_of_squares(a) * sum_of_squares(b)).sqrt().max(1e-20)
}

/// Share of documents whose nearest other document has the same planted topic.
fn topic_neighbours(place: &Place, model: &Model, which: Vectors) -> f32 {
    let vectors = model.vectors(which);
    let nearest = |doc: usize| {
        let others = (0..vectors.rows()).filter(|&other| other != doc);
        let near = |a: &usize, b: &usize| {
            cosine(vectors.row(doc), vectors.row(*a)).total_cmp(&cosine(vectors.row(doc), vectors.row(*b)))
        };
        others.max_by(near).expect("another document")
    };
    let same = (0..vectors.rows()).filter(|&doc| place.planted.topic(doc) == place.planted.topic(nearest(doc)));
    same.count() as f32 / vectors.rows() as f32
}

#[test]
fn documents_of_a_topic_are_neighbours_by_what_they_say() {
    let place = Place::generated(400, 2000);
    assert!(place.planted.topics() >= 6, "chance is small");
    for method in [Method::PvDbow, Method::PvDm] {
        let mut params = TrainParams { method, dim: 32, ..TrainParams::default() };
        params.set_epochs(20);
        params.set_window(10);
        let share = topic_neighbours(&place, &place.model(&params), Vectors::DocIn);
        assert!(share > 0.8, "{method}: {share}");
    }
}

/// Of the links of the corpus, the share whose target is among the best ten by the words around them.
fn links_found(place: &Place, model: &Model) -> f32 {
    links_found_among(place, model, |_| true)
}

/// The share of links whose target is among the best ten of the documents that `among` takes.
fn links_found_among(place: &Place, model: &Model, among: impl Fn(usize) -> bool) -> f32 {
    let (words, targets) = (model.vectors(Vectors::WordIn), model.vectors(Vectors::DocOut));
    let (mut found, mut asked) = (0, 0);
    for doc in place.corpus.documents() {
        for position in place.corpus.positions(doc) {
            let (before, after) = place.corpus.context(&position, 10);
            let mut query = vec![0.0; words.cols()];
            for &word in before.iter().chain(after) {
                if let Some(row) = model.vocabulary().find(place.corpus.word(word)) {
                    query.iter_mut().zip(words.row(row)).for_each(|(q, w)| *q += w);
                }
            }
            for target in position.targets {
                let score = dot(&query, targets.row(target.index()));
                let better = |&other: &usize| among(other) && dot(&query, targets.row(other)) > score;
                found += usize::from((0..targets.rows()).filter(better).count() < 10);
                asked += 1;
            }
        }
    }
    found as f32 / asked as f32
}

#[test]
fn a_link_is_found_from_the_words_around_it() {
    let place = Place::generated(400, 2000);
    let mut params = TrainParams { dim: 32, hybrid: false, ..TrainParams::default() };
    params.set_epochs(20);
    params.content.epochs = 1;
    let share = links_found(&place, &place.model(&params));
    // Ten of 400 by chance: 0.025.
    assert!(share > 0.6, "{share}");
}

#[test]
fn a_link_is_found_from_each_word_around_it() {
    let place = Place::generated(200, 1500);
    let mut params = TrainParams { method: Method::SkipGram, dim: 32, min_count: 1, ..TrainParams::default() };
    params.set_epochs(10);
    params.set_window(5);
    params.direct.rate = 0.1;
    let model = place.model(&params);
    // A document that nobody links to is no word of the text: its OUT vector stays 0 and its score above those of
    // documents that were noise.
    let links_to = model.links_to();
    for (document, &links) in links_to.iter().enumerate() {
        for which in [Vectors::DocIn, Vectors::DocOut] {
            let zero = model.vectors(which).row(document).iter().all(|&x| x == 0.0);
            assert_eq!(zero, links == 0, "{which:?} of document {document}");
        }
    }
    let share = links_found_among(&place, &model, |document| links_to[document] > 0);
    // Ten of some 150 by chance: 0.06. Always the ten that are linked to most: 0.24.
    assert!(share > 0.6, "{share}");
}

#[test]
fn a_link_is_found_as_the_paper_has_it() {
    let place = Place::generated(200, 1500);
    let share = |method: Method| {
        let mut params = TrainParams { method, dim: 32, ..TrainParams::default() };
        params.set_epochs(60);
        params.set_window(10);
        (params.direct.epochs, params.reference.noise) = (20, 50);
        links_found(&place, &place.model(&params))
    };
    let (whole, links_alone) = (share(Method::HyperDocPaper), share(Method::HyperDocRandom));
    // Ten of 200 by chance: 0.05. And the text that comes first is of use: it is not forgotten when links are learnt.
    assert!(whole > 0.7 && whole > links_alone, "{whole}, and {links_alone} from links alone");
}

/// Two topics: the document that all links of a topic lead to, and the words around these links.
const TOPICS: [(&str, [&str; 4]); 2] =
    [("fruit", ["apple", "pear", "plum", "cherry"]), ("metal", ["iron", "copper", "zinc", "steel"])];

/// A corpus of six documents. The two that are linked to say the same: nothing but the words around the links tells
/// them apart.
fn two_topics(dir: &Path) -> Corpus {
    let mut lines = Vec::new();
    for (linked, [a, b, c, d]) in TOPICS {
        let link = format!("[[{linked}]]");
        for (id, text) in [
            (linked.to_owned(), "report of the year".to_owned()),
            (format!("{linked}-1"), format!("{a} {b} {link} {c} {d} the {b} {a} {link} {d} {c}")),
            (format!("{linked}-2"), format!("{c} {a} {link} {d} {b} of {d} {b} {link} {a} {c}")),
        ] {
            lines.push(format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}"));
        }
    }
    let input = dir.join("in.jsonl");
    fs::write(&input, lines.join("\n")).expect("written");
    let corpus = CorpusOptions { min_count: 1, ..CorpusOptions::default() };
    let options = ImportOptions { corpus, ..ImportOptions::default() };
    import(Format::Jsonl, &[input], &dir.join("corpus"), &options, &mut |_| ControlFlow::Continue(()))
        .expect("imported")
}

#[test]
fn the_words_of_a_topic_lead_where_its_links_lead() {
    let dir = tempfile::tempdir().expect("a directory");
    let corpus = two_topics(dir.path());
    assert_eq!(corpus.len(), 6);
    // The rates are for millions of words, so the methods that learn word by word need many passes over these few.
    let model = |method: Method, epochs: usize| {
        let mut params = TrainParams { method, dim: 16, min_count: 1, hybrid: false, ..TrainParams::default() };
        (params.direct.epochs, params.reference.noise) = (600, 5);
        params.set_epochs(epochs);
        params.set_window(4);
        let path = dir.path().join(method.name());
        train(&corpus, &params, &path, 1, None, &mut |_| ControlFlow::Continue(())).expect("trained");
        Model::open(&path).expect("readable")
    };
    let document = |model: &Model, topic: usize| model.names().find(TOPICS[topic].0).expect("a document");
    for (method, epochs) in [
        (Method::HyperDoc, 100),
        (Method::Joint, 100),
        (Method::HyperDocRandom, 600),
        (Method::HyperDocPaper, 600),
        (Method::W2v, 1500),
    ] {
        let model = model(method, epochs);
        let (words, targets) = (model.vectors(Vectors::WordIn), model.vectors(Vectors::DocOut));
        for (topic, other) in [(0, 1), (1, 0)] {
            let mut mean = vec![0.0; words.cols()];
            for word in TOPICS[topic].1 {
                let row = model.vocabulary().find(word).expect("a word");
                mean.iter_mut().zip(words.row(row)).for_each(|(mean, x)| *mean += x / 4.0);
            }
            let [right, wrong] = [topic, other].map(|topic| dot(&mean, targets.row(document(&model, topic))));
            assert!(right > wrong + 1.0, "{method}, {}: {right} and {wrong}", TOPICS[topic].0);
        }
    }
    // Asked by a vector that is inferred; how much nearer it is to the right one of the two.
    let nearer = |method: Method| {
        let model = model(method, 1500);
        let vectors = model.vectors(Vectors::DocIn);
        let inferrer = Inferrer::new(&model).expect("it knows words");
        [(0, 1), (1, 0)].map(|(topic, other)| {
            let inferred = inferrer.text(&TOPICS[topic].1.join(" ")).expect("read").vector;
            let [right, wrong] = [topic, other].map(|topic| cosine(&inferred, vectors.row(document(&model, topic))));
            right - wrong
        })
    };
    let with_contexts = nearer(Method::D2vCac);
    assert!(with_contexts.iter().all(|&by| by > 0.3), "{with_contexts:?}");
    // Without what others say of them the two are one: the corpus is no easier than it should be.
    let alone = nearer(Method::D2vNc);
    assert!(alone.iter().all(|by| by.abs() < 0.1), "{alone:?}");
}

/// Of all topics and kinds, the share for which a phrase of that kind and words of that topic lead to a document of both.
fn intents_understood(place: &Place, model: &Model) -> f32 {
    let (words, targets) = (model.vectors(Vectors::WordIn), model.vectors(Vectors::DocOut));
    let phrases = [
        (Kind::Tool, ["we", "use", "tool", "software", "toolkit", "implemented"]),
        (Kind::Theory, ["following", "theory", "theorem", "proved", "argument", "principle"]),
        (Kind::Data, ["trained", "corpus", "evaluated", "data", "dataset", "benchmark"]),
        (Kind::Rival, ["unlike", "contrast", "outperforms", "better", "whereas", "disagree"]),
    ];
    let (mut right, mut asked) = (0, 0);
    for topic in 0..place.planted.topics() {
        for (kind, phrase) in phrases {
            let mut query = vec![0.0; words.cols()];
            let topical = place.planted.topic_words(topic);
            for word in phrase.into_iter().chain(topical[..6].iter().map(String::as_str)) {
                let row = model.vocabulary().find(word).expect("a frequent word");
                query.iter_mut().zip(words.row(row)).for_each(|(q, w)| *q += w);
            }
            let score = |doc: &usize| dot(&query, targets.row(*doc));
            let best = (0..targets.rows()).max_by(|a, b| score(a).total_cmp(&score(b))).expect("a document");
            right += usize::from((place.planted.topic(best), place.planted.kind(best)) == (topic, kind));
            asked += 1;
        }
    }
    right as f32 / asked as f32
}

#[test]
fn intent_words_decide_between_documents_of_a_topic() {
    // Nothing but topic and intent tells where a link leads.
    let planted =
        GenerateParams { docs: 300, links: 6000, words: 250, nicknames: 0.0, quotes: 0.0, ..Default::default() };
    let place = Place::planted(planted);
    for method in [Method::HyperDoc, Method::Joint] {
        let mut params = TrainParams { method, dim: 32, hybrid: false, ..TrainParams::default() };
        params.set_epochs(8);
        params.content.epochs = 1;
        let share = intents_understood(&place, &place.model(&params));
        // By chance one of 24 documents, of six topics and four kinds, is of both.
        assert!(share > 0.7, "{method}: {share}");
    }
}

#[test]
fn losses_and_early_stopping_find_links_too() {
    let place = Place::generated(300, 1500);
    for (loss, noise) in [(LossFunction::FullSoftmax, 0), (LossFunction::NegativeSampling, 100)] {
        let mut params = TrainParams { dim: 32, hybrid: false, ..TrainParams::default() };
        params.set_epochs(20);
        params.content.epochs = 0;
        (params.citation.loss, params.citation.noise) = (loss, noise);
        let share = links_found(&place, &place.model(&params));
        // Ten of 300 by chance: 0.033.
        assert!(share > 0.5, "{loss:?}: {share}");
    }
    for (method, phase) in [(Method::HyperDoc, "citation"), (Method::Joint, "joint")] {
        let mut params = TrainParams { hybrid: false, ..quick(method) };
        params.set_epochs(400);
        params.citation.patience = 2;
        // The loss of held-out links after each pass, and which pass is kept.
        let (mut losses, mut kept) = (Vec::new(), None);
        train(&place.corpus, &params, &place.path("m"), 1, None, &mut |progress| {
            if progress.phase == phase && progress.batch == progress.batches {
                losses.truncate(progress.epoch);
                losses.extend(progress.held_out);
                kept = kept.or(progress.kept);
            }
            ControlFlow::Continue(())
        })
        .expect("trained");
        assert!(losses.len() < 400, "{method} goes on and on");
        let best = losses.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(losses[0] > best, "{method}: {losses:?}");
        assert_eq!(losses.iter().position(|&loss| loss == best), Some(losses.len() - 3), "{method}: {losses:?}");
        assert_eq!(kept, Some(losses.len() - 3), "{method}");
    }
}

#[test]
fn w2v_knows_no_document_with_too_few_links() {
    let place = Place::generated(100, 300);
    let params = TrainParams { min_count: 3, ..quick(Method::W2v) };
    let model = place.model(&params);
    let links = model.links_to();
    assert!(links.iter().any(|&links| links < 3) && links.iter().any(|&links| links >= 3));
    for vectors in [Vectors::DocIn, Vectors::DocOut] {
        for (document, &links) in links.iter().enumerate() {
            let is_zero = model.vectors(vectors).row(document).iter().all(|&number| number == 0.0);
            assert_eq!(is_zero, links < 3, "{vectors:?} of document {document}, {links} links");
        }
    }
}

#[test]
fn what_cannot_be_trained_is_said_clearly() {
    let dir = tempfile::tempdir().expect("a directory");
    let corpus = |name: &str, text: &str, min_count: u64| {
        let input = dir.path().join(format!("{name}.jsonl"));
        fs::write(&input, text).expect("written");
        let options = ImportOptions {
            corpus: CorpusOptions { min_count, ..CorpusOptions::default() },
            ..ImportOptions::default()
        };
        import(Format::Jsonl, &[input], &dir.path().join(name), &options, &mut |_| ControlFlow::Continue(()))
            .expect("imported")
    };
    let run = |corpus: &Corpus, params: &TrainParams| {
        train(corpus, params, &dir.path().join("m"), 1, None, &mut |_| ControlFlow::Continue(()))
            .map_err(|e| e.to_string())
    };
    let unlinked = corpus("unlinked", "{\"id\":\"a\",\"text\":\"x y z\"}\n{\"id\":\"b\",\"text\":\"x y\"}", 1);
    let small = TrainParams { min_count: 1, dim: 8, ..TrainParams::default() };
    for method in [Method::Joint, Method::DeepWalk] {
        let error = run(&unlinked, &TrainParams { method, ..small.clone() }).expect_err("no links");
        assert!(error.contains("learns from links"), "{error}");
    }
    let mut random = small.clone();
    random.set_content_epochs(0);
    assert!(run(&unlinked, &random).expect_err("no links").contains("learns from links"));
    run(&unlinked, &TrainParams { method: Method::PvDbow, ..small.clone() }).expect("content needs no links");
    let error = run(&unlinked, &TrainParams { until: "2009".parse().ok(), ..small.clone() }).expect_err("no dates");
    assert!(error.contains("no dates"), "{error}");
    let error = run(&unlinked, &TrainParams { min_count: 100, ..small.clone() }).expect_err("no words");
    assert!(error.contains("lower the minimum count"), "{error}");
    for dim in [0, 100_000] {
        let error = run(&unlinked, &TrainParams { dim, ..small.clone() }).expect_err("no such size");
        assert!(error.contains("must be from 1 to 4096"), "{error}");
    }
    assert!(!dir.path().join("m.part").exists());
    let one = corpus("one", "{\"id\":\"a\",\"text\":\"x y z x\"}", 1);
    for method in [Method::PvDbow, Method::PvDm] {
        run(&one, &TrainParams { method, ..small.clone() }).expect("one document");
    }
    let bare = corpus("bare", "{\"id\":\"a\",\"text\":\"[[b]]\"}\n{\"id\":\"b\",\"text\":\"x y\"}", 1);
    run(&bare, &small).expect("a link without words is learnt from its source alone");
}

#[test]
fn a_rate_that_is_too_large_is_told_and_nothing_is_written() {
    let place = Place::generated(100, 400);
    let mut params = quick(Method::HyperDoc);
    params.set_epochs(30);
    params.citation.rate = f32::MAX;
    let path = place.path("m");
    let result = train(&place.corpus, &params, &path, 1, None, &mut |_| ControlFlow::Continue(()));
    assert!(matches!(result, Err(Error::Diverged { .. })), "{result:?}");
    assert!(!path.exists());
}

/// Every version of the format stays readable: the file of each was written once and is not written again. And training
/// with the parameters of the present one gives its vectors, on every machine.
#[test]
fn models_of_every_version_are_read_and_trained_again_to_the_same_bits() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models");
    let place = Place::planted(GenerateParams { docs: 40, links: 150, words: 40, ..Default::default() });
    let params = TrainParams { dim: 8, min_count: 2, ..quick(Method::HyperDoc) };
    for version in 1..=crate::model::VERSION {
        let path = golden.join(format!("v{version}.safetensors"));
        if version == crate::model::VERSION && !path.exists() && std::env::var_os("HD2V_ACCEPT").is_some() {
            fs::create_dir_all(&golden).expect("a directory");
            fs::write(&path, place.train(&params, 1)).expect("written");
        }
        let old = Model::open(&path).expect("readable");
        old.verify().expect("intact");
        assert_eq!(old.is_sealed(), version >= 3, "earlier descriptions have no checksum");
        assert_eq!((old.documents(), old.params().dim), (40, 8));
        assert_eq!((old.names().get(3), old.names().find("d000017")), ("d000003", Some(17)));
        assert_eq!(old.date(0), "2000-01".parse().ok());
        if version < crate::model::VERSION {
            continue;
        }
        let new = place.model(old.params());
        assert!((0..old.words()).all(|word| old.vocabulary().get(word) == new.vocabulary().get(word)));
        same_vectors(&old, &new);
    }
}

/// Every vector of one model is that of another, bit for bit.
fn same_vectors(old: &Model, new: &Model) {
    for which in [Vectors::WordIn, Vectors::WordOut, Vectors::DocIn, Vectors::DocOut] {
        let bits = |model: &Model| {
            let vectors = model.vectors(which);
            (0..vectors.rows()).flat_map(|row| vectors.row(row).to_vec()).map(f32::to_bits).collect::<Vec<_>>()
        };
        assert!(bits(old) == bits(new), "{}", which.name());
    }
}

/// This model has enough linked documents to give newcomers their vectors.
#[test]
fn a_model_with_newcomers_is_trained_again_to_the_same_bits() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models/v2-newcomers.safetensors");
    let place = Place::planted(GenerateParams { docs: 50, links: 150, words: 40, ..Default::default() });
    if !path.exists() && std::env::var_os("HD2V_ACCEPT").is_some() {
        let params = TrainParams { dim: 4, min_count: 2, ..quick(Method::HyperDoc) };
        fs::write(&path, place.train(&params, 1)).expect("written");
    }
    let old = Model::open(&path).expect("readable");
    old.verify().expect("intact");
    let new = place.model(old.params());
    same_vectors(&old, &new);
    let rows = |model: &Model| {
        crate::infer::newcomers::ContentMap::of(model)
            .expect("a map")
            .rows()
            .iter()
            .map(|x| x.to_bits())
            .collect::<Vec<_>>()
    };
    assert!(rows(&old) == rows(&new));
    let newcomers = old.links_to().iter().filter(|&&links| links == 0).count();
    assert!(newcomers > 0, "there are documents that the map is for");
}

#[test]
fn a_model_cut_short_altered_or_newer_is_refused() {
    let place = Place::generated(60, 200);
    let bytes = place.train(&quick(Method::HyperDoc), 1);
    let path = place.path("model");
    let refused = |path: &Path| Model::open(path).map_err(|e| e.to_string()).expect_err("refused");
    for length in [0, 5, 100, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&path, &bytes[..length]).expect("written");
        assert!(!refused(&path).is_empty());
    }
    let mut altered = bytes.clone();
    let last = altered.len() - 10;
    altered[last] ^= 1;
    fs::write(&path, &altered).expect("written");
    assert!(refused(&path).contains("altered"));
    // The description keeps its length: where the version gets a digit more, a key loses a letter.
    let replaced = |bytes: &[u8], from: &str, to: &str| {
        let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).expect("found");
        [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat()
    };
    let version = |version: u32| format!("\\\"version\\\":{version}");
    let newer = crate::model::VERSION + 1;
    let mut changed = replaced(&bytes, &version(newer - 1), &version(newer));
    if version(newer).len() > version(newer - 1).len() {
        changed = replaced(&changed, "\\\"counts\\\"", "\\\"count\\\"");
    }
    fs::write(&path, &changed).expect("written");
    let error = refused(&path);
    assert!(error.contains(&format!("version {newer}")) && error.contains("newer program"), "{error}");
    // Its checksum tells that the number was altered; where the checksum fits, the file is whole and newer.
    assert!(matches!(Model::open(&path), Err(Error::Damaged { .. })));
    let about = serde_json::json!({});
    container::write(&path, "hyperdoc2vec model", newer, &[Tensor::u64s("some", &[1])], about).expect("written");
    assert!(refused(&path) == error && matches!(Model::open(&path), Err(Error::Foreign { .. })));
    container::write(&path, "hyperdoc2vec map", 1, &[], serde_json::json!({})).expect("written");
    assert!(matches!(Model::open(&path), Err(Error::Foreign { .. })));
}

#[test]
fn a_model_takes_the_place_of_a_model_alone() {
    let place = Place::generated(60, 200);
    let params = quick(Method::HyperDoc);
    let bytes = place.train(&params, 1);
    let model = Model::open(place.path("model")).expect("a model");
    let notes = place.path("notes");
    fs::write(&notes, "Dear diary,").expect("written");
    let train = || Training::new(&place.corpus).params(params.clone()).replace();
    let checkpoint = || train().checkpoint(&notes, Duration::ZERO).run(place.path("model")).map(drop);
    let foreign = |result: Result<()>| matches!(result, Err(Error::Foreign { path, .. }) if path == notes);
    assert!(foreign(train().run(&notes).map(drop)) && foreign(checkpoint()));
    assert!(foreign(model.save(&notes, true)));
    assert!(foreign(Addition::new(&model, &place.corpus).replace().write(&notes).map(drop)));
    let shard = Shard::new(1, 1).expect("a shard");
    assert!(foreign(Addition::new(&model, &place.corpus).replace().shard(shard).write_part(&notes).map(drop)));
    assert_eq!(fs::read_to_string(&notes).expect("a file"), "Dear diary,");

    // What is opened is saved, whatever has its name by now.
    fs::remove_file(place.path("model")).expect("removed");
    assert!(matches!(model.save(place.path("corpus"), false), Err(Error::Exists { .. })));
    model.save(place.path("model"), false).expect("saved");
    model.save(place.path("model"), true).expect("saved again");
    assert_eq!(fs::read(place.path("model")).expect("a file"), bytes);
}

#[test]
fn vectors_take_the_place_of_vectors_alone() {
    let place = Place::generated(60, 200);
    place.train(&quick(Method::HyperDoc), 1);
    let model = Model::open(place.path("model")).expect("a model");
    let export = VectorExport::new(&model, Vectors::DocIn).expect("vectors");
    let (vectors, names) = (place.path("v.npy"), place.path("v.metadata.tsv"));
    for format in VectorFormat::VARIANTS.iter().copied() {
        let refused = export.save(&place.path("model"), format, true);
        assert!(matches!(refused, Err(Error::Foreign { .. })), "{format}: {refused:?}");
    }
    fs::write(&names, "my own table\n").expect("written");
    assert!(
        matches!(export.save(&vectors, VectorFormat::Npy, true), Err(Error::Foreign { path, .. }) if path == names)
    );
    assert!(!vectors.exists(), "neither is written");
    fs::remove_file(&names).expect("removed");
    export.save(&vectors, VectorFormat::Npy, false).expect("written");
    assert!(matches!(export.save(&vectors, VectorFormat::Npy, false), Err(Error::Exists { .. })));
    export.save(&vectors, VectorFormat::Npy, true).expect("replaced");
    assert_eq!(fs::read_to_string(&names).expect("a file").lines().count(), 61);
}

/// Every byte of a model counts: whichever is altered, nothing opens.
#[test]
fn a_model_with_any_byte_altered_is_refused() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models/v3.safetensors");
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("model");
    let mut bytes = fs::read(golden).expect("a model");
    fs::write(&path, &bytes).expect("written");
    Model::open(&path).expect("whole");
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    for place in (0..header).step_by(3).chain((header..bytes.len()).step_by(97)) {
        let bit = 1 << (place % 8);
        bytes[place] ^= bit;
        fs::write(&path, &bytes).expect("written");
        let opened = if place % 2 == 0 { Model::open(&path) } else { Model::read(&path) };
        assert!(matches!(opened, Err(Error::Damaged { .. })), "byte {place} of {}: {opened:?}", bytes.len());
        bytes[place] ^= bit;
    }
}

/// Vectors are not lost with a disk that is full, or anything else that keeps the model from being written.
#[test]
fn what_could_not_be_written_is_kept_and_written_later() {
    let place = Place::generated(100, 400);
    let params = quick(Method::HyperDoc);
    let whole = place.train(&params, 1);
    // While it learns, a directory with something in it comes to stand where the model should go.
    let path = place.path("taken");
    let mut meanwhile = |_: &TrainProgress| {
        fs::create_dir_all(path.join("inside")).expect("a directory");
        ControlFlow::Continue(())
    };
    let mut checkpoints = Checkpoints { path: place.path("taken.checkpoint"), every: Duration::MAX, resume: false };
    fs::write(place.path(".taken.checkpoint.part-77"), "left by a killed run").expect("written");
    let result = train(&place.corpus, &params, &path, 1, Some(&checkpoints), &mut meanwhile);
    let Err(Error::Unsaved { checkpoint, .. }) = &result else { panic!("{result:?}") };
    assert_eq!(*checkpoint, checkpoints.path);
    assert!(!place.path(".taken.checkpoint.part-77").exists());
    fs::remove_dir_all(&path).expect("removed");
    checkpoints.resume = true;
    let mut told = 0;
    // Where links belong is no part of a checkpoint, and is learnt again.
    let mut watch = |progress: &TrainProgress| {
        told += usize::from(progress.phase != "places");
        ControlFlow::Continue(())
    };
    train(&place.corpus, &params, &path, 1, Some(&checkpoints), &mut watch).expect("trained");
    assert_eq!(told, 0, "nothing else is learnt again");
    assert!(fs::read(&path).expect("a model") == whole && !checkpoints.path.exists());
}

/// A checkpoint between phases has what was learnt of the rankings: a run that goes on from it does not learn that again.
#[test]
fn rankings_are_learnt_once_though_a_run_is_killed_right_after() {
    let place = Place::generated(150, 900);
    let params = quick(Method::HyperDoc);
    let whole = place.train(&params, 1);
    let path = place.path("again");
    let copy = place.path("copy.checkpoint");
    let mut checkpoints = Checkpoints { path: place.path("again.checkpoint"), every: Duration::ZERO, resume: false };
    // Before the first batch of links is told of, the checkpoint is that of the moment before it.
    let from = checkpoints.path.clone();
    let mut watch = |progress: &TrainProgress| {
        if progress.phase == "citation" && !copy.exists() {
            fs::copy(&from, &copy).expect("a checkpoint");
        }
        ControlFlow::Continue(())
    };
    train(&place.corpus, &params, &path, 1, Some(&checkpoints), &mut watch).expect("trained");
    assert!(fs::read(&path).expect("a model") == whole);
    fs::remove_file(&path).expect("removed");
    fs::rename(&copy, &checkpoints.path).expect("renamed");
    checkpoints.resume = true;
    let mut phases = Vec::new();
    let mut watch = |progress: &TrainProgress| {
        phases.push(progress.phase);
        ControlFlow::Continue(())
    };
    train(&place.corpus, &params, &path, 1, Some(&checkpoints), &mut watch).expect("trained");
    phases.dedup();
    assert_eq!(phases, ["citation", "places"]);
    assert!(fs::read(&path).expect("a model") == whole);
}
