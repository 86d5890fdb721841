//! The paper's citation phase against ours, pass by pass: CPU seconds, and the share of later links found.
//!
//! `cargo run --release -p hyperdoc2vec-lab --bin race -- CORPUS UNTIL [ours|reference] [PASSES [PV_DM_PASSES]]`
//!
//! Both use one thread and the same context words, up to 50 on each side. `reference` is the paper's step on top of
//! PV-DM: link by link, with 1000 noise documents each and saturating scores. `ours` starts from PV-DBOW. The last
//! column adds the source's text to the context.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::ops::ControlFlow;

use hyperdoc2vec::Corpus;
use hyperdoc2vec::corpus::Split;
use hyperdoc2vec::internals::corpus::view::View;
use hyperdoc2vec::internals::model::tables::Tables;
use hyperdoc2vec::internals::model::weighting::{WeightRule, Weighting};
use hyperdoc2vec::internals::train::Phase;
use hyperdoc2vec::internals::train::citation::Citation;
use hyperdoc2vec::internals::train::content::Content;
use hyperdoc2vec::internals::train::rivals::direct::{Direct, Form};
use hyperdoc2vec::internals::train::rivals::reference::ReferenceCitation;
use hyperdoc2vec::internals::train::rivals::text::Text;
use hyperdoc2vec::model::{Method, TrainParams};
use hyperdoc2vec_lab::{cpu_seconds, recall};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let corpus = Corpus::open(&arguments[1]).unwrap();
    let split = Split::by_date(&corpus, arguments[2].parse().unwrap()).unwrap();
    let ours = arguments.get(3).is_none_or(|name| name == "ours");
    let number = |at: usize| arguments.get(at).map(|text| text.parse::<usize>().unwrap());
    let mut params = TrainParams::default();
    if !ours {
        params.method = Method::HyperDocPaper;
    }
    params.citation.epochs = number(4).unwrap_or(params.citation.epochs);
    params.reference.epochs = number(4).unwrap_or(params.reference.epochs);
    params.direct.epochs = number(5).unwrap_or(params.direct.epochs);
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
    let view = View::new(&corpus, &split, params.min_count).unwrap();
    let mut tables = Tables::first(&view, &params);
    println!("{} documents, {} words, {} links", view.documents.len(), view.words.len(), view.links.len());

    let run = |phase: &dyn Phase, tables: &mut Tables, weighting: Option<&Weighting>| {
        let mut spent = 0.0;
        for epoch in 0..phase.epochs() {
            let start = cpu_seconds();
            let _ = phase.epoch(epoch, 0, tables, &mut |_, _| ControlFlow::Continue(()));
            spent += cpu_seconds() - start;
            let found = |source: f32| {
                weighting.map_or(String::new(), |weighting| {
                    format!("{:.2} %", 100.0 * recall(&view, &split, tables, params.window, weighting, source))
                })
            };
            println!("{}\tpass {}\t{spent:.2} CPU s\t{}\t{}", phase.name(), epoch + 1, found(0.0), found(0.7));
        }
    };
    rayon::scope(|_| {
        if ours {
            let weighting = Weighting::new(&view, params.window, WeightRule::of(&params));
            run(&Content::new(&view, &params.content, params.seed), &mut tables, None);
            let citation = Citation::new(&view, &params.citation, params.window, params.seed).from_content();
            citation.prepare(&mut tables);
            run(&citation, &mut tables, Some(&weighting));
        } else {
            let text = Text::words(&view);
            run(&Direct::new(&text, Form::Dm, &params.direct, params.seed), &mut tables, None);
            let even = Weighting::new(&view, params.window, WeightRule::EVEN);
            run(&ReferenceCitation::new(&view, &params.reference, params.seed), &mut tables, Some(&even));
        }
    });
}
