//! How fast training is on a generated corpus: links and words a second on one thread and on two, and how near the
//! citation phase is to what the machine could do.
//!
//! `cargo bench --bench train`, with `-- citation` for that phase alone, with `-- CORPUS UNTIL` on a corpus of your own,
//! up to a date. One and two threads take turns; medians are printed. The roofline of a link is the time of its three
//! products at the peak of one core plus the time of its rows: each input row is read and added once for the mean, and its
//! gradient added once, at the rate that the kernel `gather_sum` has by itself on the same rows of this table; and each row
//! that changes is read and written once a batch, at the rate of doing nothing else. Caches hold the rows of frequent words
//! then; a second figure is for rows that all come from memory, as fast as it can be read in order.
#![allow(clippy::print_stdout, clippy::expect_used)]

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use hyperdoc2vec::corpus::{Corpus, Split};
use hyperdoc2vec::generate::{GenerateParams, generate};
use hyperdoc2vec::import::ImportOptions;
use hyperdoc2vec::internals::corpus::view::View;
use hyperdoc2vec::internals::kernel::{
    Matrix, MatrixMut, Panels, Start, axpy, gather_sum, multiply, pack_transposed, sum_of_squares,
};
use hyperdoc2vec::internals::model::tables::Tables;
use hyperdoc2vec::internals::rng::Rng;
use hyperdoc2vec::internals::train::Phase;
use hyperdoc2vec::internals::train::citation::Citation;
use hyperdoc2vec::internals::train::content::Content;
use hyperdoc2vec::model::TrainParams;

const RUNS: usize = 5;

/// Batches of links whose rows are counted and gathered.
const BATCHES: usize = 4;

fn main() {
    let own: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "citation" && !argument.starts_with('-')).collect();
    let dir = tempfile::tempdir().expect("a directory");
    let corpus = match own.first() {
        Some(path) => Corpus::open(Path::new(path)).expect("a corpus"),
        None => {
            let mut planted = GenerateParams::default();
            (planted.docs, planted.links, planted.words) = (20_000, 100_000, 300);
            let options = ImportOptions::default();
            let path = dir.path().join("c");
            generate(&planted, &path, &options, &mut |_| ControlFlow::Continue(())).expect("generated")
        }
    };
    let split = match own.get(1) {
        Some(until) => Split::by_date(&corpus, until.parse().expect("a date")).expect("dates"),
        None => Split::none(&corpus),
    };
    let params = TrainParams::default();
    let view = View::new(&corpus, &split, params.min_count).expect("a view");
    println!(
        "{} documents, {} words, {} links, {} dimensions",
        view.documents.len(),
        view.words.len(),
        view.links.len(),
        params.dim
    );
    let mut tables = Tables::first(&view, &params);

    let citation = Citation::new(&view, &params.citation, params.window, params.seed);
    let content = Content::new(&view, &params.content, params.seed);
    println!("\n| phase | a second, one thread | two threads | ratio |\n|---|---|---|---|");
    if !std::env::args().any(|argument| argument == "citation") {
        pass(&content, 1, &mut tables);
        let _ = compare("content", &content, &mut tables);
    }
    let links = compare("citation", &citation, &mut tables);

    let batch = params.citation.batch;
    let Rows { inputs, changed } = rows(&view, &params);
    let per_link = inputs.iter().map(Vec::len).sum::<usize>() as f64 / inputs.len() as f64;
    let columns = (batch + params.citation.noise) as f64;
    let changes = (changed.len() as f64 + columns) / batch as f64;
    let stride = tables.input.stride();
    let flops = 3.0 * 2.0 * columns * stride as f64;
    let peak = product_rate(batch, columns as usize, stride);
    let (row, change) = (gather_seconds(&tables, &inputs), change_seconds(&mut tables, &changed));
    let roofline = flops / peak + 2.0 * per_link * row + changes * change;
    println!("\nA link has {per_link:.0} input rows and at most {columns} columns; {changes:.1} rows change for it.");
    println!("Products: {:.0} kFLOP at {:.1} GFLOP/s, {:.2} µs.", flops / 1e3, peak / 1e9, flops / peak * 1e6);
    println!("Rows: {:.0} of {:.1} ns each, {:.2} µs.", 2.0 * per_link, row * 1e9, 2.0 * per_link * row * 1e6);
    println!("Changes: {changes:.1} of {:.1} ns each, {:.2} µs.", change * 1e9, changes * change * 1e6);
    println!(
        "Roofline: {:.0} links a second on one thread; measured {links:.0}, 1/{:.2} of it.",
        1.0 / roofline,
        1.0 / (links * roofline)
    );
    let (bytes, bandwidth) = ((per_link + 2.0 * changes) * 4.0 * stride as f64, bandwidth());
    let roofline = flops / peak + bytes / bandwidth;
    println!(
        "Were no cache to hold any row: {:.1} KB at {:.1} GB/s, {:.2} µs; {:.0} links a second, measured 1/{:.2} of it.",
        bytes / 1e3,
        bandwidth / 1e9,
        bytes / bandwidth * 1e6,
        1.0 / roofline,
        1.0 / (links * roofline)
    );
}

/// Bytes a second that one thread reads from memory, in order.
fn bandwidth() -> f64 {
    let numbers = vec![0.5f32; 1 << 26];
    let seconds = (0..5).map(|_| {
        let start = Instant::now();
        black_box(sum_of_squares(black_box(&numbers)));
        start.elapsed().as_secs_f64()
    });
    4.0 * numbers.len() as f64 / seconds.fold(f64::MAX, f64::min)
}

/// Units a second of one pass on so many threads.
fn pass(phase: &dyn Phase, threads: usize, tables: &mut Tables) -> f64 {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| {
        let (start, mut units) = (Instant::now(), 0);
        let _ = phase.epoch(0, 0, tables, &mut |done, _| {
            units += done.units;
            ControlFlow::Continue(())
        });
        units as f64 / start.elapsed().as_secs_f64()
    })
}

/// Prints a line of medians; returns the best rate on one thread, as the parts of the roofline are the best of many.
fn compare(name: &str, phase: &dyn Phase, tables: &mut Tables) -> f64 {
    let mut rates = [Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        for threads in [1, 2] {
            rates[threads - 1].push(pass(phase, threads, tables));
        }
    }
    rates.iter_mut().for_each(|rates| rates.sort_by(f64::total_cmp));
    let [one, two] = [0, 1].map(|threads| rates[threads][RUNS / 2]);
    println!("| {name} ({}) | {one:.0} | {two:.0} | {:.2} |", phase.unit(), two / one);
    rates[0][RUNS - 1]
}

/// Seconds of the best of many runs.
fn best(mut run: impl FnMut()) -> f64 {
    (0..200)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::MAX, f64::min)
}

/// FLOP/s of the products of a batch, the best of many.
fn product_rate(examples: usize, columns: usize, stride: usize) -> f64 {
    let (x, n) = (vec![0.5; examples * stride], vec![0.25; columns * stride]);
    let mut scratch = vec![0.0; Panels::len(stride, columns)];
    let panels = pack_transposed(Matrix::new(&n, columns, stride, stride), &mut scratch);
    let mut s = vec![0.0; examples * columns];
    let seconds = best(|| {
        multiply(
            Matrix::new(&x, examples, stride, stride),
            panels,
            MatrixMut::new(&mut s, examples, columns, columns),
            Start::Zero,
        );
        black_box(&mut s);
    });
    2.0 * (examples * columns * stride) as f64 / seconds
}

/// The input rows of some links, and the different ones of a batch, rising.
struct Rows {
    inputs: Vec<Vec<u32>>,
    changed: Vec<u32>,
}

/// Those of links drawn at random: the words around them, words of the source, the source.
fn rows(view: &View<'_>, params: &TrainParams) -> Rows {
    let mut rng = Rng::keyed(1, &[]);
    let batch = params.citation.batch;
    let inputs: Vec<Vec<u32>> = (0..BATCHES * batch)
        .map(|_| {
            let position = view.links[rng.below(view.links.len())].position as usize;
            let word = |row| view.table_row_of_word(row).0;
            let mut rows: Vec<u32> = view.window_at(position, params.window).map(|near| word(near.row)).collect();
            let source = view.corpus.position(position).source;
            rows.extend(view.document_row(source).map(|row| view.table_row_of_doc(row).0));
            let text = view.corpus.words(source);
            let drawn = (0..params.citation.source_words).map(|_| text[rng.below(text.len())]);
            rows.extend(drawn.filter_map(|drawn| view.word_row(drawn)).map(word));
            rows
        })
        .collect();
    let mut changed: Vec<u32> = inputs[..batch].concat();
    changed.sort_unstable();
    changed.dedup();
    Rows { inputs, changed }
}

/// Seconds that `gather_sum` takes for a row of the table.
fn gather_seconds(tables: &Tables, inputs: &[Vec<u32>]) -> f64 {
    let most = inputs.iter().map(Vec::len).max().unwrap_or_default();
    let weights = vec![0.01; most];
    let mut out = vec![0.0; tables.input.stride()];
    let seconds = best(|| {
        for ids in inputs {
            gather_sum(tables.input.matrix(), ids, &weights[..ids.len()], &mut out);
        }
        black_box(&mut out);
    });
    seconds / inputs.iter().map(Vec::len).sum::<usize>() as f64
}

/// Seconds that adding to a row of the table takes, for the rows of a batch.
fn change_seconds(tables: &mut Tables, rows: &[u32]) -> f64 {
    let small = vec![1e-9; tables.input.stride()];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let seconds = pool.install(|| {
        best(|| {
            // What a batch does in between leaves nothing of the rows in the nearer caches.
            tables.output.data_mut()[..NEAR].fill(0.0);
            tables.input.par_change(rows, &|_, row| axpy(1.0, &small, row.vector));
        }) - best(|| tables.output.data_mut()[..NEAR].fill(0.0))
    });
    seconds / rows.len() as f64
}

/// Numbers that fill the nearer caches: 4 MiB.
const NEAR: usize = 1 << 20;
