//! How fast the kernels are, beside the peak of one core and beside `matrixmultiply`, all in one run.
//!
//! `cargo bench --bench kernel` prints the best of many repetitions, which on a busy machine says most
//! about the code. Peak is measured again for every line: twelve independent chains of multiply-adds.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use hyperdoc2vec::internals::kernel::*;
use hyperdoc2vec::internals::rng::Rng;

fn main() {
    println!("products, one thread: GFLOP/s (share of peak) | matrixmultiply");
    for [b, n, k] in [
        [512, 576, 104],
        [512, 64, 104],
        [512, 128, 104],
        [512, 256, 104],
        [64, 576, 104],
        [64, 4096, 104],
        [1024, 1024, 56],
        [512, 576, 400],
    ] {
        products(b, n, k);
    }
    println!("\nrows, k = 104: ns a row");
    rows(104);
    println!("\nfunctions: ns a number");
    functions();
}

/// Seconds of the best of many runs.
fn best(mut run: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = f64::MAX;
    while begin.elapsed().as_secs_f64() < 0.4 {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

fn numbers(len: usize) -> Vec<f32> {
    let mut rng = Rng::keyed(1, &[]);
    (0..len).map(|_| rng.unit() - 0.5).collect()
}

/// All but the first few of `numbers`, from an address that is a multiple of 32 bytes.
fn aligned(numbers: &mut [f32]) -> &mut [f32] {
    let skip = numbers.as_ptr().align_offset(32);
    &mut numbers[skip..]
}

fn products(b: usize, n: usize, k: usize) {
    let flops = 2.0 * (b * n * k) as f64;
    let peak = peak();
    let stride = n + 16;
    let (x, rows, g) = (numbers(b * k), numbers(n * k), numbers(b * stride));
    let (mut s, mut dx, mut dn) = (vec![0.0; b * stride], vec![0.0; b * k], vec![0.0; n * k]);
    let mut scratch = vec![0.0; Panels::len(k, n).max(Panels::len(n, k)).max(Panels::len(b, k))];
    let (mx, mn, mg) = (Matrix::new(&x, b, k, k), Matrix::new(&rows, n, k, k), Matrix::new(&g, b, n, stride));

    let ours = [
        best(|| multiply(mx, pack_transposed(mn, &mut scratch), MatrixMut::new(&mut s, b, n, stride), Start::Zero)),
        best(|| multiply(mg, pack(mn, &mut scratch), MatrixMut::new(&mut dx, b, k, k), Start::Zero)),
        best(|| multiply_transposed(mg, pack(mx, &mut scratch), MatrixMut::new(&mut dn, n, k, k), Start::Zero)),
    ];
    let theirs = [
        best(|| sgemm([b, k, n], &x, [k, 1], &rows, [1, k], &mut s, stride)),
        best(|| sgemm([b, n, k], &g, [stride, 1], &rows, [k, 1], &mut dx, k)),
        best(|| sgemm([n, b, k], &g, [1, stride], &x, [k, 1], &mut dn, k)),
    ];
    print!("B {b:4} n {n:4} k {k:3}  peak {peak:5.1} ");
    for (name, (ours, theirs)) in ["X·Nᵀ", "G·N", "Gᵀ·X"].iter().zip(ours.iter().zip(theirs)) {
        let rate = flops / ours / 1e9;
        print!("  {name} {rate:5.1} ({:2.0} %) | {:5.1}", 100.0 * rate / peak, flops / theirs / 1e9);
    }
    println!();
}

/// One product by `matrixmultiply`: sizes rows, inner, columns; strides row, column.
fn sgemm(size: [usize; 3], a: &[f32], a_step: [usize; 2], b: &[f32], b_step: [usize; 2], c: &mut [f32], stride: usize) {
    let [m, p, n] = size;
    let step = |[row, col]: [usize; 2]| (row as isize, col as isize);
    let ((ar, ac), (br, bc), cr) = (step(a_step), step(b_step), stride as isize);
    // SAFETY: `products` sizes all three slices for these shapes and strides.
    #[allow(unsafe_code)]
    unsafe {
        matrixmultiply::sgemm(m, p, n, 1.0, a.as_ptr(), ar, ac, b.as_ptr(), br, bc, 0.0, c.as_mut_ptr(), cr, 1);
    }
}

/// GFLOP/s of one core that does nothing but multiply-adds in registers.
fn peak() -> f64 {
    const ROUNDS: usize = 20_000;
    #[inline(always)]
    fn chains() -> f32 {
        let (x, y) = (black_box([1.0f32; 8]), black_box([1e-9f32; 8]));
        let mut sums = [[0.0f32; 8]; 12];
        for _ in 0..ROUNDS {
            for sum in &mut sums {
                for ((sum, x), y) in sum.iter_mut().zip(x).zip(y) {
                    *sum = x.mul_add(y, *sum);
                }
            }
        }
        sums.iter().flatten().sum()
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn with_avx2_and_fma() -> f32 {
        chains()
    }
    let seconds = best(|| {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has both features.
            #[allow(unsafe_code)]
            unsafe {
                black_box(with_avx2_and_fma());
            }
            return;
        }
        black_box(chains());
    });
    (2 * 8 * 12 * ROUNDS) as f64 / seconds / 1e9
}

fn rows(k: usize) {
    let report = |name: &str, rows: usize, seconds: f64| {
        let gigabytes = (rows * k * 4) as f64 / seconds / 1e9;
        println!("{name:50} {:7.2}   {gigabytes:6.1} GB/s of rows", seconds / rows as f64 * 1e9);
    };
    for (name, height) in [("small", 500), ("large", 600_000)] {
        let mut table = numbers(height * k + 8);
        let table = aligned(&mut table);
        let mut rng = Rng::keyed(2, &[]);
        let ids: Vec<u32> = (0..100_000).map(|_| rng.below(height) as u32).collect();
        let weights = numbers(100);
        let mut out = vec![0.0; k];
        report(
            &format!("gather_sum of 100 rows, {name} table ({height})"),
            ids.len(),
            best(|| {
                for ids in ids.chunks_exact(100) {
                    gather_sum(Matrix::new(table, height, k, k), ids, &weights, black_box(&mut out));
                }
            }),
        );
        report(
            &format!("scatter_add to 100 rows, {name} table ({height})"),
            ids.len(),
            best(|| {
                for ids in ids.chunks_exact(100) {
                    scatter_add(&out, ids, &weights, MatrixMut::new(table, height, k, k));
                }
            }),
        );
        for queries in [1, 4] {
            let (query, mut scores) = (numbers(queries * k), vec![0.0; queries * height]);
            let query = Matrix::new(&query, queries, k, k);
            let seconds = best(|| {
                scan(query, Matrix::new(table, height, k, k), MatrixMut::new(&mut scores, queries, height, height));
            });
            report(&format!("scan, {queries} queries, {name} table ({height})"), height, seconds);
        }
    }
    let (mut x, mut y) = (numbers(k + 8), numbers(k + 8));
    let (x, y) = (&aligned(&mut x)[..k], &mut aligned(&mut y)[..k]);
    let mut thousand = |name: &str, run: &mut dyn FnMut(&[f32], &mut [f32])| {
        report(name, 1000, best(|| (0..1000).for_each(|_| run(black_box(x), black_box(y)))));
    };
    thousand("dot", &mut |x, y| {
        black_box(dot(x, y));
    });
    thousand("sum_of_squares", &mut |x, _| {
        black_box(sum_of_squares(x));
    });
    thousand("axpy", &mut |x, y| axpy(1e-9, x, y));
    thousand("scale", &mut |_, y| scale(1.0, y));
}

fn functions() {
    let x: Vec<f32> = numbers(4096).iter().map(|x| x * 20.0).collect();
    let mut y = x.clone();
    let mut report = |name: &str, run: &mut dyn FnMut(&mut [f32])| {
        let seconds = best(|| {
            y.copy_from_slice(&x);
            run(black_box(&mut y));
        });
        println!("{name:50} {:7.3}", seconds / 4096.0 * 1e9);
    };
    report("exp_all", &mut exp_all);
    report("ln_all", &mut ln_all);
    report("sigmoid_all", &mut sigmoid_all);
    report("log_sigmoid_all", &mut log_sigmoid_all);
    report("softmax", &mut |x| {
        black_box(softmax(x));
    });
}
