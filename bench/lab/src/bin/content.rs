//! The content phase alone, on one thread: words per CPU second, and the quality of the document vectors.
//! `bench/peers` runs it beside gensim.
//!
//! `cargo run --release -p hyperdoc2vec-lab --bin content -- ARGUMENTS`, where ARGUMENTS are one of
//!
//! - `CORPUS words FILE`: writes the words of each document as training sees them, one document per line
//! - `CORPUS dbow|dm [PASSES [SEED]]`: trains PV-DBOW (in batches) or PV-DM (word by word) and judges the vectors
//! - `CORPUS judge FILE`: judges vectors that another program learnt from those words, as raw 32-bit floats
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::io::Write;
use std::ops::ControlFlow;

use hyperdoc2vec::Corpus;
use hyperdoc2vec::corpus::Split;
use hyperdoc2vec::internals::corpus::view::View;
use hyperdoc2vec::internals::model::tables::{Table, Tables};
use hyperdoc2vec::internals::train::Phase;
use hyperdoc2vec::internals::train::content::Content;
use hyperdoc2vec::internals::train::rivals::direct::{Direct, Form};
use hyperdoc2vec::internals::train::rivals::text::Text;
use hyperdoc2vec::model::{Method, TrainParams};
use hyperdoc2vec_lab::{cpu_seconds, labels, partners};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let corpus = Corpus::open(&arguments[1]).unwrap();
    let mut params = TrainParams::default();
    if arguments[2] == "dm" {
        params.method = Method::PvDm;
    }
    if let Some(passes) = arguments.get(3).and_then(|text| text.parse().ok()) {
        (params.content.epochs, params.direct.epochs) = (passes, passes);
    }
    params.seed = arguments.get(4).map_or(params.seed, |text| text.parse().unwrap());
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
    let view = View::new(&corpus, &Split::none(&corpus), params.min_count).unwrap();
    let words: u64 = view.counts.iter().sum();
    let mut tables = Tables::first(&view, &params);
    let judge = |table: &Table| {
        println!("partners {:.2}", 100.0 * partners(&view, table));
        if let Some(labels) = labels(&view, table) {
            println!("labels {:.2}", 100.0 * labels);
        }
    };
    let mut run = |phase: &dyn Phase| {
        let start = cpu_seconds();
        for epoch in 0..phase.epochs() {
            let _ = phase.epoch(epoch, 0, &mut tables, &mut |_, _| ControlFlow::Continue(()));
        }
        println!("words {:.0}", words as f64 * phase.epochs() as f64 / (cpu_seconds() - start));
        judge(&tables.input);
    };
    match arguments[2].as_str() {
        "words" => {
            let mut file = std::io::BufWriter::new(std::fs::File::create(&arguments[3]).unwrap());
            for &doc in view.documents.iter() {
                let known = corpus.words(doc).iter().filter(|&&word| view.word_row(word).is_some());
                let words: Vec<&str> = known.map(|&word| corpus.word(word)).collect();
                writeln!(file, "{}", words.join(" ")).unwrap();
            }
        }
        "dbow" => rayon::scope(|_| run(&Content::new(&view, &params.content, params.seed))),
        "dm" => run(&Direct::new(&Text::words(&view), Form::Dm, &params.direct, params.seed)),
        _ => {
            let numbers = std::fs::read(&arguments[3]).unwrap();
            let numbers: Vec<f32> =
                numbers.chunks_exact(4).map(|x| f32::from_le_bytes(x.try_into().unwrap())).collect();
            let stride = tables.input.stride();
            let rows = tables.input.halves_mut().1.chunks_exact_mut(stride);
            for (row, vector) in rows.zip(numbers.chunks_exact(params.dim)) {
                row[..params.dim].copy_from_slice(vector);
            }
            judge(&tables.input);
        }
    }
}
