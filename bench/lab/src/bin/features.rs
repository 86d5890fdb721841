//! Writes the features of candidates for held-out links, to study the ranker with other tools.
//!
//! `cargo run --release -p hyperdoc2vec-lab --bin features -- CORPUS UNTIL|SHARE model=FILE out=PREFIX [OPTION=VALUE …]`
//!
//! Trains on a part of the corpus, without a ranker, or takes the model from FILE if it is there. `last=DATE`, `every=N`
//! and `seed=N` are those of `rankings`; `anchors=0` drops the anchor from each question, `anchors=2` from every second.
//!
//! PREFIX.f32 has a row of features a candidate, PREFIX.names how many of them need no source and their names.
//! PREFIX.meta has five numbers of 32 bits a candidate: the question, the document, whether it is right, whether it is a
//! newcomer, whether it is a candidate without the source. PREFIX.q has two a question: truths, and newcomers among them.
//! PREFIX.positions has the position of each question in the corpus, PREFIX.documents the document of each row.
//! PREFIX.known has the share of each question that the model knows; `known=1` writes none of the others but these two.
#![allow(clippy::print_stdout, clippy::unwrap_used)]
use hyperdoc2vec::corpus::{HeldOutLink, Split};
use hyperdoc2vec::internals::corpus::view::View;
use hyperdoc2vec::internals::id::DocRow;
use hyperdoc2vec::internals::model::index::terms::Terms;
use hyperdoc2vec::internals::search::ranker::{FeatureSet, LinkSource, Scope};
use hyperdoc2vec::internals::search::{Query, Searcher};
use hyperdoc2vec::model::TrainParams;
use hyperdoc2vec::train::Training;
use hyperdoc2vec::{Corpus, Date, Model};
use rayon::prelude::*;
use std::io::Write;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let option = |name: &str| args.iter().find_map(|a| a.strip_prefix(&format!("{name}=")));
    let corpus = Corpus::open(&args[1]).unwrap();
    let split = match args[2].parse() {
        Ok(date) => Split::by_date(&corpus, date).unwrap(),
        Err(_) => Split::by_share(&corpus, args[2].parse().unwrap(), option("seed").map_or(1, |s| s.parse().unwrap()))
            .unwrap(),
    };
    let mut params = TrainParams::for_corpus(&corpus);
    params.hybrid = false;
    let view = View::new(&corpus, &split, params.min_count).unwrap();
    let path = std::path::PathBuf::from(option("model").unwrap());
    if !path.exists() {
        Training::new(&corpus).params(params.clone()).split(&split).replace().run(&path).unwrap();
    }
    let model = Model::open(&path).unwrap();
    let searcher = Searcher::new(&model);
    let (terms, features) = (Terms::new(&view), FeatureSet::default());
    let last: Option<Date> = option("last").map(|date| date.parse().unwrap());
    let every: usize = option("every").map_or(1, |n| n.parse().unwrap());
    let anchors = option("anchors").unwrap_or("1");
    let in_time = |query: &HeldOutLink| {
        let date = corpus.date(corpus.position(query.position).source);
        last.is_none_or(|last| date.is_some_and(|date| date.is_up_to(last)))
    };
    let queries: Vec<HeldOutLink> = split.queries(&corpus).into_iter().filter(in_time).step_by(every).collect();
    let newcomer: Vec<bool> = view.documents.iter().map(|&doc| split.is_newcomer(doc)).collect();
    let started = std::time::Instant::now();
    let found: Vec<_> = queries
        .par_iter()
        .enumerate()
        .map(|(number, link)| {
            let anchor = match anchors {
                "0" => false,
                "1" => true,
                _ => number % 2 == 0,
            };
            let query = Query::of_link(&view, &terms, link.position, params.window, anchor)
                .in_sentence(&corpus, link.position, anchor)
                .unwrap();
            let source = LinkSource::of_link(&view, &model, link.position, |_| true).unwrap();
            let truths: Vec<DocRow> = link.truths.iter().map(|&truth| view.document_row(truth).unwrap()).collect();
            let found = match option("known") {
                Some(_) => None,
                None => features.candidates(&searcher, &query, Some(&source), Scope::ALL).unwrap(),
            };
            (found, truths, searcher.known_share(&query))
        })
        .collect();
    println!("{} questions in {:.1} s", queries.len(), started.elapsed().as_secs_f64());
    let out = option("out").unwrap();
    let positions: Vec<u32> = queries.iter().map(|link| link.position as u32).collect();
    std::fs::write(format!("{out}.positions"), bytemuck::cast_slice::<u32, u8>(&positions)).unwrap();
    let documents: Vec<u32> = view.documents.iter().map(|doc| doc.0).collect();
    std::fs::write(format!("{out}.documents"), bytemuck::cast_slice::<u32, u8>(&documents)).unwrap();
    let shares: Vec<f32> = found.iter().map(|&(_, _, share)| share).collect();
    std::fs::write(format!("{out}.known"), bytemuck::cast_slice::<f32, u8>(&shares)).unwrap();
    if option("known").is_some() {
        return;
    }
    let mut rows = std::io::BufWriter::new(std::fs::File::create(format!("{out}.f32")).unwrap());
    let mut meta = std::io::BufWriter::new(std::fs::File::create(format!("{out}.meta")).unwrap());
    let mut asked = std::io::BufWriter::new(std::fs::File::create(format!("{out}.q")).unwrap());
    for (number, (found, truths, _)) in found.iter().enumerate() {
        let new = truths.iter().filter(|truth| newcomer[truth.index()]).count();
        asked.write_all(bytemuck::cast_slice(&[truths.len() as u32, new as u32])).unwrap();
        let Some(found) = found else { continue };
        rows.write_all(bytemuck::cast_slice(&found.features)).unwrap();
        for (place, row) in found.rows.iter().enumerate() {
            let label = u32::from(truths.contains(row));
            meta.write_all(bytemuck::cast_slice(&[
                number as u32,
                row.0,
                label,
                u32::from(newcomer[row.index()]),
                u32::from(found.alone[place]),
            ]))
            .unwrap();
        }
    }
    std::fs::write(format!("{out}.names"), format!("{}\n{}", features.alone(), features.names().join("\n"))).unwrap();
}
