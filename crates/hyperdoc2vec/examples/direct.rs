//! Trains word by word on a corpus and tells how many words a second of processor time it learns from (Linux).
//!
//! `cargo run --release --example direct -- CORPUS [form=dm|dbow|cbow|sg] [dim=100] [window=50] [epochs=1] [dump=FILE]`
//!
//! `dump` writes the words it learns from, a document a line, for other programs to learn from the same.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::io::Write;
use std::ops::ControlFlow;

use hyperdoc2vec::split::Split;
use hyperdoc2vec::train::direct::{Direct, DirectParams, Form};
use hyperdoc2vec::train::table::Table;
use hyperdoc2vec::train::text::Text;
use hyperdoc2vec::train::view::View;
use hyperdoc2vec::train::{Phase, Tables};

/// Seconds of processor time of this (the only) thread.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse::<f64>().unwrap() * 1e-9
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let get = |name: &str| args.iter().find_map(|a| a.strip_prefix(&format!("{name}=")));
    let number = |name: &str, default: usize| get(name).map_or(default, |v| v.parse().unwrap());
    let corpus = hyperdoc2vec::Corpus::open(&args[1]).unwrap();
    let view = View::new(&corpus, &Split::none(&corpus), 5).unwrap();
    let text = Text::words(&view);
    if let Some(path) = get("dump") {
        let mut out = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
        for document in 0..view.documents.len() {
            text.rows(document, |row| write!(out, "{} ", corpus.word(view.words[row as usize])).unwrap());
            writeln!(out).unwrap();
        }
    }
    let form = match get("form").unwrap_or("dm") {
        "dm" => Form::Dm,
        "dbow" => Form::Dbow,
        "cbow" => Form::Cbow,
        _ => Form::SkipGram,
    };
    let dim = number("dim", 100);
    let params = DirectParams { epochs: number("epochs", 1), window: number("window", 50), ..DirectParams::default() };
    let mut tables = Tables { input: Table::new(view.rows(), dim), output: Table::new(view.rows(), dim) };
    tables.input.fill(0..view.rows(), dim, 1, 1);
    let phase = Direct::new(&text, form, &params, 1);
    let words = text.before(view.documents.len());
    for epoch in 0..params.epochs {
        let (start, mut examples, mut loss) = (cpu(), 0, 0.0);
        let _ = phase.epoch(epoch, 0, &mut tables, &mut |done, _| {
            examples += done.units;
            loss += done.loss;
            ControlFlow::Continue(())
        });
        let seconds = cpu() - start;
        let thousands = |count: u64| count as f64 / seconds / 1000.0;
        println!(
            "{} window {} dim {dim}: {:.0} thousand words a CPU second ({:.0} after thinning), {seconds:.2} s, loss {:.4}",
            phase.name(),
            params.window,
            thousands(words),
            thousands(examples),
            loss / examples.max(1) as f64
        );
    }
}
