//! The share of held-out links that each ranking of a model finds: a tool for choosing defaults.
//!
//! `cargo run --release -p hyperdoc2vec-lab --bin rankings -- CORPUS UNTIL|SHARE [OPTION=VALUE …] [v:NAME=VALUE,… …]`
//!
//! Trains on a part of the corpus. `model=FILE` keeps the model and reuses it. `last=DATE` asks only from test documents
//! up to that date, `every=N` only at every N-th position; `seed=N` draws other test documents; `anchors=0` drops the
//! anchor from each question. The hybrid is asked with and without the source, and its probabilities are
//! compared with the share of right hits in ten bins.
//!
//! Each `v:` is a variant of BM25 measured beside the three rankings: `own`, `cited` (weights of the fields), `k1`, `b`,
//! `ck1`, `cb` (of the contexts), `decay`, `window` (of the question's words), `index` (window of the indexed contexts),
//! `near` (their decay; 0 for none), `joint=1` (both fields saturate as one, as in BM25F).
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use hyperdoc2vec::corpus::{HeldOutLink, Split};
use hyperdoc2vec::internals::corpus::view::View;
use hyperdoc2vec::internals::id::DocRow;
use hyperdoc2vec::internals::kernel::Matrix;
use hyperdoc2vec::internals::model::index::postings::{PostingsBuf, postings};
use hyperdoc2vec::internals::model::index::terms::{Field, Terms, cited};
use hyperdoc2vec::internals::model::weighting::ContextCounts;
use hyperdoc2vec::internals::search::bm25::{B, BM25F_K1, Bm25, Bm25F, K1};
use hyperdoc2vec::internals::search::ranker::{Candidates, LinkSource, Ranker, Scope};
use hyperdoc2vec::internals::search::{Hit, Query, Ranking, Searcher, rank};
use hyperdoc2vec::model::{TrainParams, Vectors};
use hyperdoc2vec::train::Training;
use hyperdoc2vec::{Corpus, Date, Model};
use rayon::prelude::*;

struct Asked {
    query: Query,
    position: usize,
    truths: Vec<DocRow>,
}

/// Prints recall averaged over questions, and the share of newcomers found.
fn tell(name: &str, asked: &[Asked], newcomer: &[bool], hits: &[Vec<Hit>]) {
    let (mut recall, mut found, mut wanted) = (0.0, 0, 0);
    for (asked, hits) in asked.iter().zip(hits) {
        let hit = |truth: &DocRow| hits.iter().any(|hit| DocRow(hit.row) == *truth);
        recall += asked.truths.iter().filter(|truth| hit(truth)).count() as f64 / asked.truths.len() as f64;
        for truth in asked.truths.iter().filter(|truth| newcomer[truth.index()]) {
            wanted += 1;
            found += usize::from(hit(truth));
        }
    }
    let share = 100.0 * found as f64 / wanted.max(1) as f64;
    println!("{:6.2} %  newcomers {share:5.1} % of {wanted}  {name}", 100.0 * recall / asked.len().max(1) as f64);
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let option = |name: &str| args.iter().find_map(|a| a.strip_prefix(&format!("{name}=")));
    let corpus = Corpus::open(&args[1]).unwrap();
    let split = match args[2].parse() {
        Ok(date) => Split::by_date(&corpus, date).unwrap(),
        Err(_) => {
            Split::by_share(&corpus, args[2].parse().unwrap(), option("seed").map_or(1, |seed| seed.parse().unwrap()))
                .unwrap()
        }
    };
    let params = TrainParams::for_corpus(&corpus);
    let view = View::new(&corpus, &split, params.min_count).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = option("model").map_or(dir.path().join("model"), PathBuf::from);
    if !path.exists() {
        let started = std::time::Instant::now();
        let mut told = ("", started);
        let watch = |progress: &hyperdoc2vec::train::TrainProgress| {
            if told.0 != progress.phase {
                println!("          {} done after {:.1} s", told.0, started.elapsed().as_secs_f64());
                told.0 = progress.phase;
            }
            ControlFlow::Continue(())
        };
        Training::new(&corpus).params(params.clone()).split(&split).replace().watch(watch).run(&path).unwrap();
        println!("          trained in {:.1} s", started.elapsed().as_secs_f64());
    }
    let model = Model::open(&path).unwrap();
    model.verify().unwrap();
    let searcher = Searcher::new(&model);
    let terms = Terms::new(&view);

    let last: Option<Date> = option("last").map(|date| date.parse().unwrap());
    let every: usize = option("every").map_or(1, |n| n.parse().unwrap());
    let anchors = option("anchors") != Some("0");
    let ask = |query: HeldOutLink| {
        let truths = query.truths.iter().map(|&truth| view.document_row(truth).unwrap()).collect();
        let position = query.position;
        Asked { query: Query::of_link(&view, &terms, position, params.window, anchors), position, truths }
    };
    let in_time = |query: &HeldOutLink| {
        let date = corpus.date(corpus.position(query.position).source);
        last.is_none_or(|last| date.is_some_and(|date| date.is_up_to(last)))
    };
    let asked: Vec<Asked> = split.queries(&corpus).into_iter().filter(in_time).step_by(every).map(ask).collect();
    let newcomer: Vec<bool> = view.documents.iter().map(|&doc| split.is_newcomer(doc)).collect();
    println!("{} documents, {} positions asked", view.documents.len(), asked.len());

    let vectors: Vec<f32> = asked
        .iter()
        .flat_map(|asked| searcher.vector(&asked.query).unwrap().unwrap_or(vec![0.0; params.dim]))
        .collect();
    let queries = Matrix::new(&vectors, asked.len(), params.dim, params.dim);
    let started = std::time::Instant::now();
    let hits = rank::top_batch(queries, model.vectors(Vectors::DocOut), 10, |_, _| true);
    let seconds = started.elapsed().as_secs_f64();
    tell("embedding", &asked, &newcomer, &hits);
    println!("          {:.0} queries a second in a batch", asked.len() as f64 / seconds);
    for (ranking, field) in [(Ranking::Bm25, Field::Text), (Ranking::Bm25Cited, Field::Cited)] {
        let started = std::time::Instant::now();
        let search = |asked: &Asked| {
            let scores = searcher.bm25_scores(&asked.query, field).unwrap();
            rank::top(&scores.unwrap_or_default(), 10, |_| true)
        };
        let hits: Vec<Vec<Hit>> = asked.par_iter().map(search).collect();
        tell(ranking.name(), &asked, &newcomer, &hits);
        println!("          {:.0} queries a second", asked.len() as f64 / started.elapsed().as_secs_f64());
    }
    if let Some(hybrid) = Ranker::of(&model) {
        println!("          {}", hybrid.about());
        for sourced in [false, true] {
            let started = std::time::Instant::now();
            let search = |asked: &Asked| {
                let source = sourced.then(|| LinkSource::of_link(&view, &model, asked.position, |_| true).unwrap());
                hybrid.features.candidates(&searcher, &asked.query, source.as_ref(), Scope::ALL).unwrap()
            };
            let found: Vec<Option<Candidates>> = asked.par_iter().map(search).collect();
            let seconds = started.elapsed().as_secs_f64();
            let all = |found: &Option<Candidates>| {
                let rows = found.iter().flat_map(|found| &found.rows);
                rows.map(|row| Hit { row: row.0, score: 0.0 }).collect()
            };
            tell("all candidates", &asked, &newcomer, &found.par_iter().map(all).collect::<Vec<_>>());
            let order =
                |found: &Option<Candidates>| found.as_ref().map(|found| hybrid.order(found, 10)).unwrap_or_default();
            let started = std::time::Instant::now();
            let hits: Vec<Vec<Hit>> = found.par_iter().map(order).collect();
            tell(if sourced { "hybrid with the source" } else { "hybrid" }, &asked, &newcomer, &hits);
            let seconds = seconds + started.elapsed().as_secs_f64();
            println!("          {:.0} queries a second", asked.len() as f64 / seconds);
            let mut bins = [(0usize, 0.0f32, 0usize); 10];
            for (asked, hits) in asked.iter().zip(&hits) {
                for hit in hits {
                    let bin = &mut bins[((hit.score * 10.0) as usize).min(9)];
                    *bin = (bin.0 + 1, bin.1 + hit.score, bin.2 + usize::from(asked.truths.contains(&DocRow(hit.row))));
                }
            }
            for (count, sum, right) in bins {
                let mean = |x: f32| 100.0 * x / count.max(1) as f32;
                println!("          {:7} hits said {:5.1} %, right {:5.1} %", count, mean(sum), mean(right as f32));
            }
        }
    }
    let mut indexes = BTreeMap::new();
    for variant in args.iter().filter_map(|arg| arg.strip_prefix("v:")) {
        let values: BTreeMap<&str, f32> = variant
            .split(',')
            .map(|pair| pair.split_once('=').unwrap())
            .map(|(n, v)| (n, v.parse().unwrap()))
            .collect();
        let get = |name: &str, default: f32| values.get(name).copied().unwrap_or(default);
        let window = get("index", params.window as f32) as usize;
        let near = get("near", params.citation.decay);
        let lists = || {
            PostingsBuf::collect(|take| {
                cited(&view, &terms, &ContextCounts::new(window, near), &std::env::temp_dir(), take)
            })
        };
        let cited = indexes.entry((window, near.to_bits())).or_insert_with(lists);
        let own = Bm25::with(postings(&model, Field::Text).unwrap(), get("k1", K1), get("b", B));
        let cited = Bm25::with(cited.view(), get("ck1", get("k1", K1)), get("cb", B));
        let joint =
            Bm25F::with([own.clone(), cited.clone()], [get("own", 1.0), get("cited", 1.0)], get("k1", BM25F_K1));
        let search = |asked: &Asked| {
            let terms =
                asked.query.terms(get("window", params.window as f32) as usize, get("decay", params.citation.decay));
            let mut scores = vec![0.0; model.documents()];
            if get("joint", 0.0) > 0.0 {
                joint.add_scores(&terms, 1.0, &mut scores);
                return rank::top(&scores, 10, |_| true);
            }
            own.add_scores(if get("own", 1.0) > 0.0 { &terms } else { &[] }, get("own", 1.0), &mut scores);
            cited.add_scores(if get("cited", 1.0) > 0.0 { &terms } else { &[] }, get("cited", 1.0), &mut scores);
            rank::top(&scores, 10, |_| true)
        };
        tell(variant, &asked, &newcomer, &asked.par_iter().map(search).collect::<Vec<_>>());
    }
}
