//! How fast a model answers: one question by each ranking, many at once, and a large model by its index.
//!
//! `cargo bench --bench query`, or `cargo bench --bench query -- MODEL CORPUS` for the hybrid and the index of a model of
//! your own; with `only-index` behind, for the hybrid by the index alone, for profilers.
//!
//! A question is a text of a hundred words around a link of a corpus, read anew each time. For single questions,
//! the median and the fastest of a hundred are printed: on a busy machine the fastest tells more. A digest of the hits
//! shows whether two programs answer alike, to the last bit.
#![allow(clippy::print_stdout, clippy::expect_used)]

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use hyperdoc2vec::generate::{GenerateParams, generate};
use hyperdoc2vec::import::ImportOptions;
use hyperdoc2vec::internals::id::DocRow;
use hyperdoc2vec::internals::kernel::Matrix;
use hyperdoc2vec::internals::model::index::terms::Field;
use hyperdoc2vec::internals::rng::Rng;
use hyperdoc2vec::internals::search::approximate::{Index, Table, path};
use hyperdoc2vec::internals::search::explain::explain;
use hyperdoc2vec::internals::search::ranker::{Ranker, Scope};
use hyperdoc2vec::internals::search::{Hit, Ranking, Searcher, rank};
use hyperdoc2vec::internals::storage::container::{Tensor, write};
use hyperdoc2vec::internals::storage::strings::string_index;
use hyperdoc2vec::model::{FORMAT, TrainParams, VERSION, Vectors};
use hyperdoc2vec::train::Training;
use hyperdoc2vec::{Corpus, Model, Result};
use rayon::prelude::*;
use serde_json::json;

const DOCUMENTS: usize = 20_000;
const MANY: usize = 600_000;
const BATCH: usize = 10_000;
const TOP: usize = 10;
const QUESTIONS: usize = 200;

fn main() {
    let given: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    if let [model, corpus, only @ ..] = &given[..] {
        return of_model(Path::new(model), Path::new(corpus), !only.is_empty());
    }
    let dir = tempfile::tempdir().expect("a directory");
    trained(dir.path());
    large(dir.path());
}

/// Milliseconds of each call.
fn milliseconds(count: usize, mut run: impl FnMut(usize)) -> Vec<f64> {
    let time = |number| {
        let start = Instant::now();
        run(number);
        start.elapsed().as_secs_f64() * 1e3
    };
    let mut times: Vec<f64> = (0..count).map(time).collect();
    times.sort_by(f64::total_cmp);
    times
}

fn tell(name: &str, times: &[f64]) {
    println!("| {name} | {:.2} | {:.2} |", times[times.len() / 2], times[0]);
}

fn on<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(run)
}

/// A text around each of `count` links.
fn texts(corpus: &Corpus, count: usize) -> Vec<String> {
    let positions: Vec<usize> = corpus.documents().flat_map(|doc| corpus.position_range(doc)).collect();
    let text = |number: usize| {
        let (before, after) = corpus.context(&corpus.position(positions[number * positions.len() / count]), 50);
        let words = |words: &[_]| words.iter().map(|&word| corpus.word(word)).collect::<Vec<_>>().join(" ");
        format!("{} [[?]] {}", words(before), words(after))
    };
    (0..count).map(text).collect()
}

/// A model trained on a generated corpus: a pass over the text and one over the links give vectors like any others.
fn trained(dir: &Path) {
    let mut planted = GenerateParams::default();
    (planted.docs, planted.links, planted.words) = (DOCUMENTS, 5 * DOCUMENTS, 300);
    let watch = &mut |_: &_| ControlFlow::Continue(());
    let corpus = generate(&planted, &dir.join("c"), &ImportOptions::default(), watch).expect("generated");
    let mut params = TrainParams::default();
    params.content.epochs = 1;
    params.set_epochs(1);
    let path = dir.join("m");
    Training::new(&corpus).params(params.clone()).run(&path).expect("trained");
    let model = Model::open(&path).expect("a model");
    let (searcher, hybrid) = (Searcher::new(&model), Ranker::of(&model).expect("a learnt ranking"));
    let texts = texts(&corpus, BATCH);
    println!("{DOCUMENTS} documents, {} words, {} links\n", model.words(), 5 * DOCUMENTS);
    println!("| one question, one thread | median, ms | fastest |\n|---|---|---|");
    on(1, || {
        let query = |number: usize| searcher.query(&texts[number * BATCH / 100]).expect("read");
        let found = |number: usize| {
            let query = query(number);
            let hits = hybrid.rank(&searcher, &query, None, TOP, Scope::ALL).expect("asked").expect("known");
            (query, hits)
        };
        // The first call makes what later ones share.
        let explained = |number: usize| {
            let (query, hits) = found(number);
            let rows: Vec<DocRow> = hits.iter().map(|hit| DocRow(hit.row)).collect();
            black_box(explain(&searcher, &query, &rows, None, Ranking::Hybrid).expect("explained"));
        };
        tell("reading the text", &milliseconds(100, |number| drop(black_box(query(number)))));
        tell("hybrid, explained", &milliseconds(100, explained));
        tell("hybrid", &milliseconds(100, |number| drop(black_box(found(number)))));
        let best = |scores: Result<Option<Vec<f32>>>| {
            black_box(rank::top(&scores.expect("asked").expect("known"), TOP, |_| true));
        };
        let by_vector = |number: usize| best(searcher.embedding_scores(&query(number), None));
        tell(Ranking::Embedding.name(), &milliseconds(100, by_vector));
        for (ranking, field) in [(Ranking::Bm25, Field::Text), (Ranking::Bm25Cited, Field::Cited)] {
            let by_words = |number: usize| best(searcher.bm25_scores(&query(number), field));
            tell(ranking.name(), &milliseconds(100, by_words));
        }
    });
    for threads in [1, 2] {
        let times = on(threads, || milliseconds(3, |_| drop(black_box(batch(&searcher, &texts)))));
        let rate = BATCH as f64 / times[1] * 1e3;
        println!("\n{BATCH} texts at once by embedding, {threads} threads: {rate:.0} a second");
    }
}

fn batch(searcher: &Searcher<'_>, texts: &[String]) -> Vec<Vec<Hit>> {
    let dim = searcher.model().params().dim;
    let vector = |text: &String| {
        let query = searcher.query(text).expect("read");
        searcher.vector(&query).expect("asked").unwrap_or(vec![0.0; dim])
    };
    let vectors: Vec<f32> = texts.par_iter().flat_map_iter(vector).collect();
    let out = searcher.model().vectors(Vectors::DocOut);
    rank::top_batch(Matrix::new(&vectors, texts.len(), dim, dim), out, TOP, |_, _| true)
}

/// Contexts of links of a corpus, asked of a model that was trained on it: by all documents, by those that lists of words
/// leave, and by the index, or by that only.
fn of_model(model: &Path, corpus: &Path, by_index_only: bool) {
    let (model, corpus) = (Model::open(model).expect("a model"), Corpus::open(corpus).expect("a corpus"));
    let texts = texts(&corpus, QUESTIONS);
    let index = on(2, || Index::build(&model, &path(&model)).expect("an index"));
    println!("{} documents, {QUESTIONS} questions; the index: {:?}\n", model.documents(), index.about());
    let all = Searcher::new(&model).with_all_documents();
    let by_words = Searcher::new(&model).without_all_documents();
    let by_index = Searcher::new(&model).without_all_documents().with_index(index);
    let mut exact = Vec::new();
    let skipped = if by_index_only { 2 } else { 0 };
    println!("| hybrid, one question, one thread | median, ms | fastest | first hit as exact | first ten, share |");
    println!("|---|---|---|---|---|");
    for (name, searcher) in
        [("all documents", &all), ("MaxScore", &by_words), ("MaxScore and index", &by_index)].into_iter().skip(skipped)
    {
        let Some(ranker) = Ranker::of(&model) else { break };
        let mut hits: Vec<Vec<u32>> = Vec::new();
        let mut digest = 0xcbf2_9ce4_8422_2325u64;
        let mut ask = |number: usize| {
            let query = searcher.query(&texts[number]).expect("read");
            let found = ranker.rank(searcher, &query, None, 100, Scope::ALL).expect("asked").unwrap_or_default();
            for hit in &found {
                let bits = u64::from(hit.row) << 32 | u64::from(hit.score.to_bits());
                digest = (digest ^ bits).wrapping_mul(0x0100_0000_01b3);
            }
            hits.push(found.iter().take(TOP).map(|hit| hit.row).collect());
        };
        // The first call makes what later ones share; tables of skips are made by the first time round.
        let times = on(1, || {
            milliseconds(QUESTIONS, &mut ask);
            milliseconds(QUESTIONS, &mut ask)
        });
        hits.truncate(QUESTIONS);
        if exact.is_empty() {
            exact = hits.clone();
        }
        let first = hits.iter().zip(&exact).filter(|(found, exact)| found.first() == exact.first()).count();
        let shared = |(found, exact): (&Vec<u32>, &Vec<u32>)| found.iter().filter(|row| exact.contains(row)).count();
        let shared: usize = hits.iter().zip(&exact).map(shared).sum();
        let of: usize = exact.iter().map(Vec::len).sum();
        println!(
            "| {name}, digest {digest:016x} | {:.2} | {:.2} | {:.4} | {:.4} |",
            times[times.len() / 2],
            times[0],
            first as f64 / QUESTIONS as f64,
            shared as f64 / of.max(1) as f64
        );
    }
    if by_index_only {
        return;
    }
    let queries = texts.iter().map(|text| by_index.query(text).expect("read"));
    let vectors: Vec<Vec<f32>> = queries.filter_map(|query| by_index.vector(&query).expect("asked")).collect();
    let (out, index) = (model.vectors(Vectors::DocOut), by_index.index().expect("an index"));
    let exact = |number: usize| rank::top(&rank::products(&vectors[number], out), TOP, |_| true);
    println!("\n| embedding, one thread | median, ms | fastest |\n|---|---|---|");
    tell("all documents", &on(1, || milliseconds(100, |number| drop(black_box(exact(number))))));
    let ask = |number: usize| index.top(&model, Table::Out, &vectors[number], TOP, |_| true).expect("asked");
    let ask = |number: usize| ask(number).expect("enough").hits;
    tell("by the index", &on(1, || milliseconds(vectors.len(), |number| drop(black_box(ask(number))))));
    let found = |number: usize| {
        let hits = ask(number);
        exact(number).iter().filter(|hit| hits.contains(hit)).count()
    };
    let recall = (0..vectors.len()).map(found).sum::<usize>() as f64 / (vectors.len() * TOP) as f64;
    println!("\nThe index has {recall:.4} of the first {TOP} of all documents.");
}

/// Random vectors around random centres, of lengths that differ as those of trained ones do, written as a model.
fn large(dir: &Path) {
    let (dim, words, topics) = (100, 4000, 2000);
    let mut rng = Rng::keyed(1, &[]);
    // The sum of four is nearly normal.
    let mut normal = || (0..4).map(|_| rng.unit() - 0.5).sum::<f32>() * 1.732;
    let centres: Vec<f32> = (0..topics * dim).map(|_| normal()).collect();
    let mut around = |count: usize, spread: f32| -> Vec<f32> {
        let row = |number: usize| centres[number * 7919 % topics * dim..][..dim].iter();
        let numbers = (0..count).flat_map(|number| row(number).map(move |x| (x, number)));
        numbers.map(|(x, number)| (x + spread * normal()) * (0.4 + (number % 11) as f32 / 50.0)).collect()
    };
    let (doc_out, word_in) = (around(MANY, 0.3), around(words, 0.4));
    let names = |letter: char, count: usize| -> (String, Vec<u64>, Vec<u32>) {
        let names: Vec<String> = (0..count).map(|number| format!("{letter}{number:06}")).collect();
        let ends = (1..=count as u64).map(|number| number * 7).collect();
        (names.concat(), ends, string_index(count, names.iter().map(String::as_str)))
    };
    let (documents, vocabulary) = (names('d', MANY), names('w', words));
    let (counts, dates) = (vec![100u64; words], vec![0i32; MANY]);
    // No document has a title, an address, a label or a link.
    let (none, no_links) = (vec![0u64; MANY], vec![0u32; MANY]);
    let tensors = [
        Tensor::matrix("word_in", &word_in, dim),
        Tensor::matrix("word_out", &word_in, dim),
        Tensor::matrix("doc_in", &doc_out, dim),
        Tensor::matrix("doc_out", &doc_out, dim),
        Tensor::bytes("words.bytes", vocabulary.0.as_bytes()),
        Tensor::u64s("words.ends", &vocabulary.1),
        Tensor::u32s("words.index", &vocabulary.2),
        Tensor::u64s("word_counts", &counts),
        Tensor::u64s("word_documents", &counts),
        Tensor::bytes("names.bytes", documents.0.as_bytes()),
        Tensor::u64s("names.ends", &documents.1),
        Tensor::u32s("names.index", &documents.2),
        Tensor::i32s("dates", &dates),
        Tensor::bytes("titles.bytes", &[]),
        Tensor::u64s("titles.ends", &none),
        Tensor::bytes("urls.bytes", &[]),
        Tensor::u64s("urls.ends", &none),
        Tensor::bytes("labels.bytes", &[]),
        Tensor::u64s("labels.ends", &[]),
        Tensor::u64s("document_labels", &none),
        Tensor::u32s("document_label", &[]),
        Tensor::u32s("links_to", &no_links),
    ];
    let file = dir.join("large");
    let about = json!({"params": TrainParams::default().to_json(), "counts": {"documents": MANY}});
    write(&file, FORMAT, VERSION, &tensors, about).expect("written");
    let opened = milliseconds(5, |_| drop(black_box(Searcher::new(&Model::open(&file).expect("a model")))));
    let model = Model::open(&file).expect("a model");
    let searcher = Searcher::new(&model);
    println!("\n{MANY} documents of random vectors around {topics} centres\n");
    println!("| | median, ms | fastest |\n|---|---|---|");
    tell("opening the model", &opened);
    // Words of one topic, as a text has them.
    let text = |number: usize| {
        let word = |place: usize| format!("w{:06}", (number * 37 + place * topics) % words);
        format!("{} {} [[?]]", word(0), word(1))
    };
    let vectors: Vec<Vec<f32>> = (0..200)
        .map(|number| searcher.vector(&searcher.query(&text(number)).expect("read")).expect("asked").expect("known"))
        .collect();
    let out = model.vectors(Vectors::DocOut);
    let exact = |number: usize| rank::top(&rank::products(&vectors[number], out), TOP, |_| true);
    for threads in [1, 2] {
        let times = on(threads, || milliseconds(50, |number| drop(black_box(exact(number)))));
        tell(&format!("all documents, {threads} threads"), &times);
    }
    let started = Instant::now();
    let index = on(2, || Index::build(&model, &path(&model)).expect("an index"));
    let seconds = started.elapsed().as_secs_f64();
    let ask =
        |number: usize| index.top(&model, Table::Out, &vectors[number], TOP, |_| true).expect("asked").expect("enough");
    let times = on(1, || milliseconds(200, |number| drop(black_box(ask(number)))));
    tell("by the index, one thread", &times);
    let found = |number: usize| {
        let hits = ask(number);
        exact(number).iter().filter(|hit| hits.hits.contains(hit)).count()
    };
    let recall = (0..200).map(found).sum::<usize>() as f64 / (200 * TOP) as f64;
    println!("\nThe index was made in {seconds:.1} s on two threads: {:?}", index.about());
    println!("It has {recall:.4} of the first {TOP} of all documents, over 200 other questions.");
}
