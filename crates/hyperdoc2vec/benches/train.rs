//! How fast training is on a generated corpus: links and words a second on one thread and on two, and how near the
//! citation phase is to what the machine could do.
//!
//! `cargo bench --bench train`, or `-- citation` for that phase alone. One and two threads take turns; medians are printed. The roofline of a link is the time
//! of its three products at the peak of one core plus the time of its rows: each input row is read and added once for
//! the mean, and its gradient added once, at the rate that the kernel `gather_sum` has by itself on this table; and each
//! row that changes is read and written once a batch, at the rate of doing nothing else. Caches hold the rows of frequent
//! words then; a second figure is for rows that all come from memory, as fast as it can be read in order.
#![allow(clippy::print_stdout, clippy::expect_used)]

use std::collections::HashSet;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use hyperdoc2vec::generate::GenerateParams;
use hyperdoc2vec::import::{ImportOptions, generate};
use hyperdoc2vec::kernel::{
    Matrix, MatrixMut, Panels, Start, axpy, gather_sum, multiply, pack_transposed, sum_of_squares,
};
use hyperdoc2vec::rng::Rng;
use hyperdoc2vec::split::Split;
use hyperdoc2vec::train::citation::Citation;
use hyperdoc2vec::train::dbow::Dbow;
use hyperdoc2vec::train::table::Table;
use hyperdoc2vec::train::view::View;
use hyperdoc2vec::train::{Phase, Tables, TrainParams};

const RUNS: usize = 5;

fn main() {
    let dir = tempfile::tempdir().expect("a directory");
    let planted = GenerateParams { docs: 20_000, links: 100_000, words: 300, ..GenerateParams::default() };
    let corpus =
        generate(&planted, &dir.path().join("c"), &ImportOptions::default(), &mut |_| ControlFlow::Continue(()));
    let corpus = corpus.expect("generated");
    let params = TrainParams::default();
    let view = View::new(&corpus, &Split::none(&corpus), params.min_count).expect("a view");
    println!(
        "{} documents, {} words, {} links, {} dimensions",
        view.documents.len(),
        view.words.len(),
        view.links.len(),
        params.dim
    );
    let mut tables = Tables { input: Table::new(view.rows(), params.dim), output: Table::new(view.rows(), params.dim) };
    tables.input.fill(0..view.rows(), params.dim, params.seed, 0);

    let citation = Citation::new(&view, &params.citation, params.window, params.seed);
    let content = Dbow::new(&view, &params.content, params.seed);
    println!("\n| phase | a second, one thread | two threads | ratio |\n|---|---|---|---|");
    if !std::env::args().any(|argument| argument == "citation") {
        pass(&content, 1, &mut tables);
        let _ = compare("content", &content, &mut tables);
    }
    let links = compare("citation", &citation, &mut tables);

    // Inputs of a link: its context, words of the source, the source. Rows that change: the different ones of a batch.
    let (mut inputs, mut seen, batch) = (0, HashSet::new(), params.citation.batch);
    for link in &view.links[..batch] {
        view.context(link.position as usize, params.window, |row, _| {
            inputs += 1;
            seen.insert(row);
        });
    }
    let inputs = inputs as f64 / batch as f64 + params.citation.source_words as f64 + 1.0;
    let columns = (batch + params.citation.noise) as f64;
    let changed = (seen.len() as f64 + columns) / batch as f64 + 1.0;
    let stride = tables.input.stride();
    let flops = 3.0 * 2.0 * columns * stride as f64;
    let peak = product_rate(batch, columns as usize, stride);
    let (row, change) = (gather_seconds(&tables), change_seconds(&mut tables, &seen));
    let roofline = flops / peak + 2.0 * inputs * row + changed * change;
    println!("\nA link has {inputs:.0} input rows and at most {columns} columns; {changed:.1} rows change for it.");
    println!("Products: {:.0} kFLOP at {:.1} GFLOP/s, {:.2} µs.", flops / 1e3, peak / 1e9, flops / peak * 1e6);
    println!("Rows: {:.0} of {:.1} ns each, {:.2} µs.", 2.0 * inputs, row * 1e9, 2.0 * inputs * row * 1e6);
    println!("Changes: {changed:.1} of {:.1} ns each, {:.2} µs.", change * 1e9, changed * change * 1e6);
    println!(
        "Roofline: {:.0} links a second on one thread; measured {links:.0}, 1/{:.2} of it.",
        1.0 / roofline,
        1.0 / (links * roofline)
    );
    let (bytes, bandwidth) = ((inputs + 2.0 * changed) * 4.0 * stride as f64, bandwidth());
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

/// Seconds that `gather_sum` takes for a row of the table, rows drawn as words are: by Zipf's law.
fn gather_seconds(tables: &Tables) -> f64 {
    let mut rng = Rng::keyed(1, &[]);
    let rows = tables.input.rows() as f32;
    let ids: Vec<u32> = (0..100_000).map(|_| rows.powf(rng.unit()) as u32).collect();
    let weights = [0.01; 100];
    let mut out = vec![0.0; tables.input.stride()];
    let seconds = best(|| {
        for ids in ids.chunks_exact(100) {
            gather_sum(tables.input.matrix(), ids, &weights, &mut out);
        }
        black_box(&mut out);
    });
    seconds / ids.len() as f64
}

/// Seconds that adding to a row of the table takes, for the rows of a batch.
fn change_seconds(tables: &mut Tables, rows: &HashSet<u32>) -> f64 {
    let mut rows: Vec<u32> = rows.iter().copied().collect();
    rows.sort_unstable();
    let small = vec![1e-9; tables.input.stride()];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let seconds = pool.install(|| {
        best(|| {
            // What a batch does in between leaves nothing of the rows in the nearer caches.
            tables.output.data_mut()[..NEAR].fill(0.0);
            tables.input.par_change(&rows, &|_, row| axpy(1.0, &small, row.vector));
        }) - best(|| tables.output.data_mut()[..NEAR].fill(0.0))
    });
    seconds / rows.len() as f64
}

/// Numbers that fill the nearer caches: 4 MiB.
const NEAR: usize = 1 << 20;
