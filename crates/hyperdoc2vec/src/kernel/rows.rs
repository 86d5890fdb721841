//! Sums over single rows: the steps of gathering, scattering and searching.

use std::hint::black_box;

use super::math::{log_sigmoid, sigmoid};
use super::matrix::{Matrix, MatrixMut};
use super::prefetch::prefetch;

/// Numbers that are summed side by side, as many as an AVX2 register holds.
pub(super) const LANES: usize = 8;
/// Rows of a table that pass all queries before the next rows come.
const SCAN_ROWS: usize = 64;
/// How many fours of rows ahead a sum over rows asks the memory for.
const AHEAD: usize = 2;

/// Rows of a table, which may come more than once.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// The table.
    pub table: Matrix<'a>,
    /// The numbers of the rows.
    pub ids: &'a [u32],
}

/// The fixed tree that ends a sum over a row: lane `i` takes lane `i + 4`, then `i + 2`, `i + 1`.
#[inline(always)]
pub(super) fn tree(lanes: [f32; LANES]) -> f32 {
    // Hidden, or the compiler deals the lanes of the long loop out anew to suit this short end of it.
    let [a0, a1, a2, a3, b0, b1, b2, b3] = black_box(lanes);
    let [a0, a1, b0, b1] = [a0 + b0, a1 + b1, a2 + b2, a3 + b3];
    (a0 + b0) + (a1 + b1)
}

/// See [`dot`](super::dot).
#[inline(always)]
pub(super) fn dot(x: &[f32], y: &[f32]) -> f32 {
    assert_eq!(x.len(), y.len(), "a dot product takes rows of one length");
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    let ((x_pairs, x_last), (y_pairs, y_last)) = (x.as_chunks::<2>(), y.as_chunks::<2>());
    // Lanes 0 to 7 and 8 to 15.
    let (mut low, mut high) = ([0.0; LANES], [0.0; LANES]);
    for ([x0, x1], [y0, y1]) in x_pairs.iter().zip(y_pairs) {
        lanes_fma(&mut low, x0, y0);
        lanes_fma(&mut high, x1, y1);
    }
    if let ([x], [y]) = (x_last, y_last) {
        lanes_fma(&mut low, x, y);
    }
    if x_rest.is_empty() {
        return tree(add(low, high));
    }
    let (mut low, mut high) = black_box((low, high)); // as in `tree`
    lanes_fma(if x_last.is_empty() { &mut low } else { &mut high }, x_rest, y_rest);
    tree(add(low, high))
}

#[inline(always)]
fn add(mut low: [f32; LANES], high: [f32; LANES]) -> [f32; LANES] {
    for (low, high) in low.iter_mut().zip(high) {
        *low += high;
    }
    low
}

/// `lanes[i] = fma(x[i], y[i], lanes[i])`
#[inline(always)]
fn lanes_fma(lanes: &mut [f32; LANES], x: &[f32], y: &[f32]) {
    for ((sum, x), y) in lanes.iter_mut().zip(x).zip(y) {
        *sum = x.mul_add(*y, *sum);
    }
}

/// See [`sum_of_squares`](super::sum_of_squares).
#[inline(always)]
pub(super) fn sum_of_squares(x: &[f32]) -> f32 {
    dot(x, x)
}

/// See [`axpy`](super::axpy).
#[inline(always)]
pub(super) fn axpy(a: f32, x: &[f32], y: &mut [f32]) {
    assert_eq!(x.len(), y.len(), "a row is added to a row of its own length");
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks_mut::<LANES>());
    for (x, y) in x.iter().zip(y) {
        for (x, y) in x.iter().zip(y) {
            *y = a.mul_add(*x, *y);
        }
    }
    for (x, y) in x_rest.iter().zip(y_rest) {
        *y = a.mul_add(*x, *y);
    }
}

/// See [`scale`](super::scale).
#[inline(always)]
pub(super) fn scale(a: f32, x: &mut [f32]) {
    for x in x {
        *x *= a;
    }
}

/// See [`gather_sum`](super::gather_sum).
#[inline(always)]
pub(super) fn gather_sum(table: Matrix<'_>, ids: &[u32], weights: &[f32], out: &mut [f32]) {
    assert_eq!(ids.len(), weights.len(), "each row gathered has its weight");
    assert_eq!(table.cols(), out.len(), "the sum of rows is as long as a row");
    out.fill(0.0);
    add_rows(table, ids, weights, out);
}

/// See [`adagrad`](super::adagrad).
#[inline(always)]
pub(super) fn adagrad(gradient: &[f32], vector: &mut [f32], square: &mut f32, rate: f32) {
    *square += sum_of_squares(gradient) / gradient.len() as f32;
    let root = square.sqrt();
    if root > 0.0 {
        axpy(-rate / root, gradient, vector);
    }
}

/// See [`adagrad_sum`](super::adagrad_sum).
#[inline(always)]
pub(super) fn adagrad_sum(
    (rows, weights): (Rows<'_>, &[f32]),
    sum: &mut [f32],
    vector: &mut [f32],
    square: &mut f32,
    rate: f32,
) {
    gather_sum(rows.table, rows.ids, weights, sum);
    adagrad(sum, vector, square, rate);
}

/// See [`attract`](super::attract).
#[inline(always)]
pub(super) fn attract(x: &[f32], Rows { table, ids }: Rows<'_>, slopes: &mut [f32], dx: &mut [f32], total: &mut f32) {
    let mut loss = *total;
    assert_eq!(ids.len(), slopes.len(), "each row has its slope");
    let mut ahead = ids.chunks(LANES).skip(1);
    for (ids, slopes) in ids.chunks(LANES).zip(slopes.chunks_mut(LANES)) {
        ahead.next().into_iter().flatten().for_each(|id| prefetch(gathered(table, *id)));
        let mut scores = [0.0; LANES];
        for (score, id) in scores.iter_mut().zip(ids) {
            *score = dot(x, gathered(table, *id));
        }
        let (mut losses, mut slope) = ([0.0; LANES], [0.0; LANES]);
        for ((score, loss), slope) in scores.iter().zip(&mut losses).zip(&mut slope) {
            *loss = log_sigmoid(*score);
            *slope = sigmoid(*score) - 1.0;
        }
        slopes.copy_from_slice(&slope[..slopes.len()]);
        losses[..ids.len()].iter().for_each(|l| loss -= l);
        add_rows(table, ids, &slope[..ids.len()], dx);
    }
    *total = loss;
}

/// `out += Σ weights[j] table[ids[j]]`, in the order of `ids`.
#[inline(always)]
fn add_rows(table: Matrix<'_>, ids: &[u32], weights: &[f32], out: &mut [f32]) {
    let ((fours, ids), (weight_fours, weights)) = (ids.as_chunks::<4>(), weights.as_chunks::<4>());
    for (at, ([i0, i1, i2, i3], w)) in fours.iter().zip(weight_fours).enumerate() {
        if let Some(ahead) = fours.get(at + AHEAD) {
            ahead.iter().for_each(|id| prefetch(gathered(table, *id)));
        }
        let rows = [gathered(table, *i0), gathered(table, *i1), gathered(table, *i2), gathered(table, *i3)];
        add_four(rows, *w, out);
    }
    for (id, weight) in ids.iter().zip(weights) {
        axpy(*weight, gathered(table, *id), out);
    }
}

/// Row `id`, which must be there even if the slice behind the table goes on.
#[inline(always)]
fn gathered(table: Matrix<'_>, id: u32) -> &[f32] {
    assert!((id as usize) < table.rows(), "row {id} of {}", table.rows());
    table.row(id as usize)
}

/// `out += w[0] rows[0]`, then `w[1] rows[1]` and so on: four rows for one passage over `out`.
#[inline(always)]
fn add_four(rows: [&[f32]; 4], w: [f32; 4], out: &mut [f32]) {
    let [(a, a_rest), (b, b_rest), (c, c_rest), (d, d_rest)] = [
        rows[0].as_chunks::<LANES>(),
        rows[1].as_chunks::<LANES>(),
        rows[2].as_chunks::<LANES>(),
        rows[3].as_chunks::<LANES>(),
    ];
    let (out, out_rest) = out.as_chunks_mut::<LANES>();
    for ((((out, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        add_four_lines(out, [a, b, c, d], w);
    }
    add_four_lines(out_rest, [a_rest, b_rest, c_rest, d_rest], w);
}

#[inline(always)]
fn add_four_lines(out: &mut [f32], [a, b, c, d]: [&[f32]; 4], w: [f32; 4]) {
    for ((((out, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        *out = w[3].mul_add(*d, w[2].mul_add(*c, w[1].mul_add(*b, w[0].mul_add(*a, *out))));
    }
}

/// See [`scatter_add`](super::scatter_add).
#[inline(always)]
pub(super) fn scatter_add(x: &[f32], ids: &[u32], weights: &[f32], mut table: MatrixMut<'_>) {
    assert_eq!(ids.len(), weights.len(), "each row added to has its weight");
    for (id, weight) in ids.iter().zip(weights) {
        assert!((*id as usize) < table.rows(), "row {id} of {}", table.rows());
        axpy(*weight, x, table.row_mut(*id as usize));
    }
}

/// See [`scan`](super::scan).
#[inline(always)]
pub(super) fn scan(queries: Matrix<'_>, table: Matrix<'_>, mut scores: MatrixMut<'_>) {
    assert_eq!(queries.cols(), table.cols(), "queries are as long as the rows they are compared with");
    assert_eq!((scores.rows(), scores.cols()), (queries.rows(), table.rows()), "a score for each query and row");
    for first in (0..table.rows()).step_by(SCAN_ROWS) {
        let end = table.rows().min(first + SCAN_ROWS);
        for q in 0..queries.rows() {
            let query = queries.row(q);
            for (score, i) in scores.row_mut(q)[first..end].iter_mut().zip(first..) {
                *score = dot(query, table.row(i));
            }
        }
    }
}
