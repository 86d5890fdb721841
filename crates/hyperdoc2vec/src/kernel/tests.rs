//! One battery over every build of every kernel, against plain loops, bit for bit.

use proptest::prelude::*;

use super::*;
use crate::rng::Rng;

/// Numbers of all sizes, with zeros of both signs and numbers so small that products vanish.
fn numbers(len: usize, seed: u64) -> Vec<f32> {
    let mut rng = Rng::keyed(seed, &[len as u64]);
    let mut number = || match rng.below(16) {
        0 => 0.0,
        1 => -0.0,
        2 => (rng.unit() - 0.5) * 1e-30,
        3 => (rng.unit() - 0.5) * 1e6,
        _ => rng.unit() - 0.5,
    };
    (0..len).map(|_| number()).collect()
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() }).collect()
}

type Product = fn(Matrix<'_>, Panels<'_>, MatrixMut<'_>, Start);
type Pack = for<'a> fn(Matrix<'_>, &'a mut [f32]) -> Panels<'a>;

const MULTIPLY: [(&str, Product); 3] =
    [("portable", gemm::multiply), ("dispatched", multiply), ("parallel", par_multiply)];
const MULTIPLY_TRANSPOSED: [(&str, Product); 3] = [
    ("portable", gemm::multiply_transposed),
    ("dispatched", multiply_transposed),
    ("parallel", par_multiply_transposed),
];
const PACK: [(&str, Pack); 2] = [("portable", gemm::pack), ("dispatched", pack)];
const PACK_TRANSPOSED: [(&str, Pack); 2] = [("portable", gemm::pack_transposed), ("dispatched", pack_transposed)];

/// Shape of a product: rows, inner dimension, columns, and what each stride exceeds its row by.
#[derive(Debug, Clone, Copy)]
struct Shape {
    m: usize,
    p: usize,
    n: usize,
    gap: usize,
    start: Start,
}

/// The product by three plain loops; `a` and `b` give the place of their element (row, inner) and (inner, column).
fn plain(shape: Shape, a: impl Fn(usize, usize) -> f32, b: impl Fn(usize, usize) -> f32, c: &mut [f32]) {
    for i in 0..shape.m {
        for j in 0..shape.n {
            let c = &mut c[i * (shape.n + shape.gap) + j];
            let first = if shape.start == Start::Zero { 0.0 } else { *c };
            *c = (0..shape.p).fold(first, |sum, p| f32::mul_add(a(i, p), b(p, j), sum));
        }
    }
}

/// Runs every build of the three products on one shape.
fn check_products(shape: Shape, seed: u64) {
    let Shape { m, p, n, gap, start } = shape;
    let len = |rows: usize, cols: usize| rows * (cols + gap);
    let before = numbers(len(m, n), seed);
    let run = |product: Product, a: Matrix<'_>, pack: Pack, b: Matrix<'_>| {
        let mut scratch = vec![f32::NAN; Panels::len(p, n)];
        let mut c = before.clone();
        product(a, pack(b, &mut scratch), MatrixMut::new(&mut c, m, n, n + gap), start);
        bits(&c)
    };
    let (a, a_across) = (numbers(len(m, p), seed + 1), numbers(len(p, m), seed + 2));
    let (b, b_across) = (numbers(len(p, n), seed + 3), numbers(len(n, p), seed + 4));
    let expect = |a: &dyn Fn(usize, usize) -> f32, b: &dyn Fn(usize, usize) -> f32| {
        let mut c = before.clone();
        plain(shape, a, b, &mut c);
        bits(&c)
    };
    let at = |x: &'_ [f32], cols: usize, i: usize, j: usize| x[i * (cols + gap) + j];

    let expected = expect(&|i, q| at(&a, p, i, q), &|q, j| at(&b, n, q, j));
    let expected_bt = expect(&|i, q| at(&a, p, i, q), &|q, j| at(&b_across, p, j, q));
    let expected_at = expect(&|i, q| at(&a_across, m, q, i), &|q, j| at(&b, n, q, j));
    let a = Matrix::new(&a, m, p, p + gap);
    let a_across = Matrix::new(&a_across, p, m, m + gap);
    let b = Matrix::new(&b, p, n, n + gap);
    let b_across = Matrix::new(&b_across, n, p, p + gap);
    for (name, product) in MULTIPLY {
        for (pack_name, pack) in PACK {
            assert_eq!(run(product, a, pack, b), expected, "a·b, {name}, pack {pack_name}, {shape:?}");
        }
        for (pack_name, pack) in PACK_TRANSPOSED {
            assert_eq!(run(product, a, pack, b_across), expected_bt, "a·bᵀ, {name}, pack {pack_name}, {shape:?}");
        }
    }
    for (name, product) in MULTIPLY_TRANSPOSED {
        for (pack_name, pack) in PACK {
            assert_eq!(run(product, a_across, pack, b), expected_at, "aᵀ·b, {name}, pack {pack_name}, {shape:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_product_is_the_plain_loops_bit_for_bit(
        m in 0usize..40, p in 0usize..40, n in 0usize..40, gap in 0usize..3, add: bool, seed: u64,
    ) {
        let start = if add { Start::Add } else { Start::Zero };
        check_products(Shape { m, p, n, gap, start }, seed / 2);
    }

    #[test]
    fn rows_and_columns_computed_apart_are_the_same_bits(
        m in 1usize..30, p in 0usize..30, n in 1usize..40, i in 0usize..30, j in 0usize..40, seed: u64,
    ) {
        let (i, j) = (i.min(m), j.min(n));
        let (x, y) = (numbers(m * p, seed), numbers(n * p, seed / 2));
        let (x, y) = (Matrix::new(&x, m, p, p), Matrix::new(&y, n, p, p));
        let scores = |x: Matrix<'_>, y: Matrix<'_>| {
            let mut scratch = vec![f32::NAN; Panels::len(p, y.rows())];
            let mut s = vec![f32::NAN; x.rows() * y.rows()];
            let packed = pack_transposed(y, &mut scratch);
            multiply(x, packed, MatrixMut::new(&mut s, x.rows(), y.rows(), y.rows()), Start::Zero);
            s
        };
        let whole = scores(x, y);
        for rows in [0..i, i..m] {
            for cols in [0..j, j..n] {
                let part = scores(x.row_range(rows.clone()), y.row_range(cols.clone()));
                let expected: Vec<f32> =
                    rows.clone().flat_map(|r| whole[r * n..][cols.clone()].to_vec()).collect();
                prop_assert_eq!(bits(&part), bits(&expected));
            }
        }
    }

    #[test]
    fn every_sum_over_rows_is_the_plain_loop_bit_for_bit(k in 0usize..70, few in 0usize..11, seed: u64) {
        let (x, y) = (numbers(k, seed / 2), numbers(k, seed / 2 + 1));
        let table = numbers(7 * k, seed / 2 + 2);
        let mut rng = Rng::keyed(seed, &[1]);
        let ids: Vec<u32> = (0..few).map(|_| rng.below(7) as u32).collect();
        let weights = numbers(few, seed / 2 + 3);

        let plain_dot = |x: &[f32], y: &[f32]| {
            let mut lanes = [0.0f32; 16];
            for i in 0..x.len() {
                lanes[i % 16] = x[i].mul_add(y[i], lanes[i % 16]);
            }
            for half in [8, 4, 2, 1] {
                for l in 0..half {
                    lanes[l] += lanes[l + half];
                }
            }
            lanes[0]
        };
        for dot in [rows::dot, dot] {
            prop_assert_eq!(dot(&x, &y).to_bits(), plain_dot(&x, &y).to_bits());
        }
        for sum in [rows::sum_of_squares, sum_of_squares] {
            prop_assert_eq!(sum(&x).to_bits(), plain_dot(&x, &x).to_bits());
        }

        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 0.3f32.mul_add(*x, *y)).collect();
        for axpy in [rows::axpy, axpy] {
            let mut y = y.clone();
            axpy(0.3, &x, &mut y);
            prop_assert_eq!(bits(&y), bits(&expected));
        }
        let expected: Vec<f32> = x.iter().map(|x| x * 0.3).collect();
        for scale in [rows::scale, scale] {
            let mut x = x.clone();
            scale(0.3, &mut x);
            prop_assert_eq!(bits(&x), bits(&expected));
        }

        let mut expected = vec![0.0f32; k];
        let mut expected_table = table.clone();
        for (&id, &w) in ids.iter().zip(&weights) {
            for c in 0..k {
                expected[c] = w.mul_add(table[id as usize * k + c], expected[c]);
                let cell = &mut expected_table[id as usize * k + c];
                *cell = w.mul_add(x[c], *cell);
            }
        }
        for gather_sum in [rows::gather_sum, gather_sum] {
            let mut out = y.clone();
            gather_sum(Matrix::new(&table, 7, k, k), &ids, &weights, &mut out);
            prop_assert_eq!(bits(&out), bits(&expected));
        }
        let (mut expected, mut expected_slopes, mut expected_loss) = (y.clone(), Vec::new(), 0.5f32);
        for &id in &ids {
            let row = &table[id as usize * k..][..k];
            let score = plain_dot(&x, row);
            let slope = math::sigmoid(score) - 1.0;
            expected.iter_mut().zip(row).for_each(|(out, row)| *out = slope.mul_add(*row, *out));
            expected_slopes.push(slope);
            expected_loss -= math::log_sigmoid(score);
        }
        for attract in [rows::attract, attract] {
            let (mut dx, mut slopes, mut loss) = (y.clone(), vec![0.0; ids.len()], 0.5);
            let rows = Rows { table: Matrix::new(&table, 7, k, k), ids: &ids };
            attract(&x, rows, &mut slopes, &mut dx, &mut loss);
            prop_assert_eq!((bits(&dx), bits(&slopes)), (bits(&expected), bits(&expected_slopes)));
            prop_assert_eq!(bits(&[loss]), bits(&[expected_loss]));
        }
        for scatter_add in [rows::scatter_add, scatter_add] {
            let mut table = table.clone();
            scatter_add(&x, &ids, &weights, MatrixMut::new(&mut table, 7, k, k));
            prop_assert_eq!(bits(&table), bits(&expected_table));
        }
    }

    #[test]
    fn every_step_of_adagrad_is_the_plain_loop_bit_for_bit(k in 0usize..70, few in 0usize..11, seed: u64) {
        let (gradient, vector) = (numbers(k, seed / 2), numbers(k, seed / 2 + 1));
        let table = numbers(7 * k, seed / 2 + 2);
        let mut rng = Rng::keyed(seed, &[2]);
        let ids: Vec<u32> = (0..few).map(|_| rng.below(7) as u32).collect();
        let weights = numbers(few, seed / 2 + 3);
        // A row that has not learnt yet, and one that has.
        for before in [0.0f32, 0.25] {
            let step = |gradient: &[f32]| {
                let (mut vector, mut square) = (vector.clone(), before);
                // `dot` is compared with a plain loop of its own above.
                square += dot(gradient, gradient) / k as f32;
                let root = square.sqrt();
                // Of no numbers there is no mean: the square is NaN, and nothing moves.
                if root > 0.0 {
                    vector.iter_mut().zip(gradient).for_each(|(x, g)| *x = (-0.3f32 / root).mul_add(*g, *x));
                }
                (bits(&vector), bits(&[square]))
            };
            let expected = step(&gradient);
            for adagrad in [rows::adagrad, adagrad] {
                let (mut vector, mut square) = (vector.clone(), before);
                adagrad(&gradient, &mut vector, &mut square, 0.3);
                prop_assert_eq!(&(bits(&vector), bits(&[square])), &expected);
            }

            let mut sum = vec![0.0f32; k];
            for (&id, &w) in ids.iter().zip(&weights) {
                sum.iter_mut().zip(&table[id as usize * k..]).for_each(|(sum, x)| *sum = w.mul_add(*x, *sum));
            }
            let expected = step(&sum);
            for adagrad_sum in [rows::adagrad_sum, adagrad_sum] {
                // What the sum held before does not count.
                let (mut found, mut vector, mut square) = (vec![f32::NAN; k], vector.clone(), before);
                let table = Matrix::new(&table, 7, k, k);
                adagrad_sum((Rows { table, ids: &ids }, &weights), &mut found, &mut vector, &mut square, 0.3);
                prop_assert_eq!(bits(&found), bits(&sum));
                prop_assert_eq!(&(bits(&vector), bits(&[square])), &expected);
            }
        }
    }

    #[test]
    fn points_are_pushed_to_the_same_bits_in_every_build(many in 0usize..40, seed: u64) {
        let points = |seed: u64| <[f32; POINTS]>::try_from(numbers(POINTS, seed)).expect("as many as asked for");
        let (x, y) = (points(seed / 2), points(seed / 2 + 1));
        let pushers: Vec<Pusher> = numbers(3 * many, seed / 2 + 2)
            .chunks_exact(3)
            .map(|three| Pusher { place: [three[0], three[1]], mass: 1.0 + three[2].abs() })
            .collect();
        // What is there already is added to.
        let before = Push { x: points(seed / 2 + 3), y: points(seed / 2 + 4), q: points(seed / 2 + 5) };
        let mut expected = before;
        for i in 0..POINTS {
            for pusher in &pushers {
                let (dx, dy) = (x[i] - pusher.place[0], y[i] - pusher.place[1]);
                let q = 1.0 / (1.0 + dx * dx + dy * dy);
                expected.q[i] += pusher.mass * q;
                expected.x[i] += pusher.mass * q * q * dx;
                expected.y[i] += pusher.mass * q * q * dy;
            }
        }
        let all = |push: &Push| [bits(&push.x), bits(&push.y), bits(&push.q)];
        for repel in [repel::repel, repel] {
            let mut push = before;
            repel(&x, &y, &pushers, &mut push);
            prop_assert_eq!(all(&push), all(&expected));
        }
    }

    #[test]
    fn functions_are_the_same_bits_in_every_build(inputs in proptest::collection::vec(any::<u32>(), 0..70)) {
        let x: Vec<f32> = inputs.iter().map(|x| f32::from_bits(*x)).collect();
        type All = fn(&mut [f32]);
        type One = fn(f32) -> f32;
        let functions: [([All; 2], One); 4] = [
            ([math::exp_all, exp_all], math::exp),
            ([math::ln_all, ln_all], math::ln),
            ([math::sigmoid_all, sigmoid_all], math::sigmoid),
            ([math::log_sigmoid_all, log_sigmoid_all], math::log_sigmoid),
        ];
        for (builds, one) in functions {
            let expected: Vec<f32> = x.iter().map(|x| one(*x)).collect();
            for all in builds {
                let mut x = x.clone();
                all(&mut x);
                prop_assert_eq!(bits(&x), bits(&expected));
            }
        }
        let times: Vec<f32> = (0..x.len()).map(|i| (i % 3) as f32).collect();
        let mut rows = [x.clone(), x.clone()];
        let sums = [math::noise_loss(&mut rows[0], &times), noise_loss(&mut rows[1], &times)];
        prop_assert_eq!(bits(&rows[0]), bits(&rows[1]));
        prop_assert_eq!(bits(&sums[..1]), bits(&sums[1..]));
        let mut rows = [x.clone(), x];
        let sums = [math::softmax(&mut rows[0]), softmax(&mut rows[1])];
        prop_assert_eq!(bits(&rows[0]), bits(&rows[1]));
        prop_assert_eq!(bits(&sums[..1]), bits(&sums[1..]));
    }
}

#[test]
fn products_larger_than_a_block_are_the_plain_loops_bit_for_bit() {
    for start in [Start::Zero, Start::Add] {
        check_products(Shape { m: 101, p: 300, n: 25, gap: 1, start }, 1);
        check_products(Shape { m: 200, p: 257, n: 41, gap: 0, start }, 2); // shared by threads
        check_products(Shape { m: 7, p: 513, n: 104, gap: 8, start }, 3);
    }
}

#[test]
fn a_scan_is_a_dot_product_for_each_query_and_row() {
    let (queries, table) = (numbers(3 * 20, 1), numbers(150 * 20, 2));
    let (queries, table) = (Matrix::new(&queries, 3, 20, 20), Matrix::new(&table, 150, 20, 20));
    for scan in [rows::scan, scan] {
        let mut scores = vec![f32::NAN; 3 * 150];
        scan(queries, table, MatrixMut::new(&mut scores, 3, 150, 150));
        for q in 0..3 {
            for i in 0..150 {
                assert_eq!(scores[q * 150 + i].to_bits(), dot(queries.row(q), table.row(i)).to_bits());
            }
        }
    }
}

/// The largest error of `f` against `exact`, in units in the last place, over numbers spread evenly through all of a range.
fn worst_error(range: std::ops::Range<f32>, f: fn(f32) -> f32, exact: fn(f64) -> f64) -> f64 {
    // A prime: no pattern of bits is left out.
    const STEP: usize = 1009;
    // Whole numbers in the order of the floating-point numbers they stand for.
    let order = |x: f32| if x.is_sign_negative() { -i64::from(x.abs().to_bits()) } else { i64::from(x.to_bits()) };
    let back = |n: i64| if n < 0 { -f32::from_bits(-n as u32) } else { f32::from_bits(n as u32) };
    let mut worst = 0.0f64;
    for n in (order(range.start)..order(range.end)).step_by(STEP) {
        let x = back(n);
        let exact = exact(f64::from(x));
        let unit = (exact.abs() as f32).max(f32::MIN_POSITIVE);
        let unit = f64::from(f32::from_bits(unit.to_bits() & 0x7f80_0000)) * 2.0f64.powi(-23);
        worst = worst.max((f64::from(f(x)) - exact).abs() / unit);
    }
    worst
}

#[test]
fn functions_are_exact_to_the_last_places() {
    let sigmoid64 = |x: f64| 1.0 / (1.0 + (-x).exp());
    let log_sigmoid64 = |x: f64| x.min(0.0) - (-x.abs()).exp().ln_1p();
    let exp = worst_error(-110.0..88.7228, exp, f64::exp);
    let ln = worst_error(1e-45..f32::MAX, ln, f64::ln);
    let sigmoid = worst_error(-110.0..110.0, sigmoid, sigmoid64);
    let log_sigmoid = worst_error(-1e30..110.0, log_sigmoid, log_sigmoid64);
    assert!(exp < 1.05 && ln < 0.95 && sigmoid < 2.5 && log_sigmoid < 1.8, "{exp} {ln} {sigmoid} {log_sigmoid}");
}

#[test]
fn functions_are_defined_at_the_ends() {
    let inf = f32::INFINITY;
    assert_eq!([exp(-inf), exp(-1e30), exp(0.0), exp(-0.0), exp(88.73), exp(inf)], [0.0, 0.0, 1.0, 1.0, inf, inf]);
    assert_eq!([ln(0.0), ln(-0.0), ln(1.0), ln(inf)], [-inf, -inf, 0.0, inf]);
    assert!(ln(-1.0).is_nan() && ln(-inf).is_nan() && ln(-1e-45).is_nan());
    assert_eq!([sigmoid(-inf), sigmoid(0.0), sigmoid(inf)], [0.0, 0.5, 1.0]);
    assert_eq!([log_sigmoid(-inf), log_sigmoid(-1e30), log_sigmoid(inf)], [-inf, -1e30, 0.0]);
    for f in [exp, ln, sigmoid, log_sigmoid] {
        assert!(f(f32::NAN).is_nan() && f(-f32::NAN).is_nan());
    }
}

#[test]
fn softmax_sums_to_one_and_gives_the_logarithm_of_the_sum() {
    let mut x: Vec<f32> = (0..37).map(|i| 1000.0 + (i % 7) as f32).collect();
    let exact: f64 = x.iter().map(|x| f64::from(x - 1000.0).exp()).sum();
    assert!((f64::from(softmax(&mut x)) - (1000.0 + exact.ln())).abs() < 1e-4);
    assert!((x.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    assert!((f64::from(x[1]) - 1f64.exp() / exact).abs() < 1e-7);
}

#[test]
fn noise_counts_as_often_as_it_was_drawn() {
    let mut x = [0.0, 1.0, -30.0, 40.0];
    // ln 2 · 2 + 0 · … + ~0 + 40
    assert!((noise_loss(&mut x, &[2.0, 0.0, 1.0, 1.0]) - (2.0 * std::f32::consts::LN_2 + 40.0)).abs() < 1e-5);
    assert_eq!((x[0], x[3]), (0.5, 1.0));
}

#[test]
fn softmax_of_nothing_but_minus_infinity_is_zero() {
    let inf = f32::INFINITY;
    assert_eq!(softmax(&mut []), -inf);
    let mut x = [-inf; 3];
    assert_eq!((softmax(&mut x), x), (-inf, [0.0; 3]));
    let mut x = [-inf, 2.0];
    assert_eq!((softmax(&mut x), x), (2.0, [0.0, 1.0]));
    for bad in [f32::NAN, inf] {
        let mut x = [-inf, bad];
        assert!(softmax(&mut x).is_nan() && x.iter().all(|x| x.is_nan()));
    }
}

#[test]
#[should_panic(expected = "inner dimensions")]
fn shapes_that_do_not_fit_are_refused() {
    let (x, mut scratch, mut c) = ([0.0; 6], [0.0; 16], [0.0; 4]);
    let b = pack(Matrix::new(&x, 2, 2, 2), &mut scratch);
    multiply(Matrix::new(&x, 2, 3, 3), b, MatrixMut::new(&mut c, 2, 2, 2), Start::Zero);
}

#[test]
fn an_example_is_learnt_to_the_same_bits_in_every_build() {
    for (case, beyond) in [OutOfRange::Skip, OutOfRange::Saturate].into_iter().enumerate() {
        let step = Step { rate: 0.1, beyond, divide: case == 1 };
        let (k, seed) = (24, case as u64);
        let (inputs, outputs, labels) =
            ([1, 4, 1, 0, 2, 3, 3, 5, 6, 6], [3, 2, 2, 5, 6, 3], [1.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
        let results = [step::learn, learn].map(|learn| {
            let (mut input, mut output) = (numbers(7 * k, seed), numbers(7 * k, seed + 9));
            [&mut input, &mut output].into_iter().flatten().for_each(|x| *x = x.clamp(-1.0, 1.0));
            let (a, b) = (MatrixMut::new(&mut input, 7, k, k), MatrixMut::new(&mut output, 7, k, k));
            let example = LabelledRows { inputs: &inputs, outputs: &outputs, labels: &labels };
            let loss = learn(step, example, a, b, &mut [f32::NAN; 50]);
            (loss.to_bits(), bits(&input), bits(&output))
        });
        assert!(f64::from_bits(results[0].0) > 0.0);
        assert_eq!(results[0], results[1]);
    }
}
