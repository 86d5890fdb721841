//! Sums over single rows: the steps of gathering, scattering and searching.

use super::matrix::{Matrix, MatrixMut};

/// Chains that a sum over one row is dealt to: number `i` goes to chain `i % LANES`.
pub(super) const LANES: usize = 16;
/// Rows of a table that pass all queries before the next rows come.
const SCAN_ROWS: usize = 64;

/// The fixed tree that ends a sum over a row: lane `i` takes lane `i + 8`, then `i + 4`, `i + 2`, `i + 1`.
#[inline(always)]
pub(super) fn tree(lanes: [f32; LANES]) -> f32 {
    let [a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7] = lanes;
    let eight = [a0 + b0, a1 + b1, a2 + b2, a3 + b3, a4 + b4, a5 + b5, a6 + b6, a7 + b7];
    let [a0, a1, a2, a3, b0, b1, b2, b3] = eight;
    let [a0, a1, b0, b1] = [a0 + b0, a1 + b1, a2 + b2, a3 + b3];
    (a0 + b0) + (a1 + b1)
}

/// See [`dot`](super::dot).
#[inline(always)]
pub(super) fn dot(x: &[f32], y: &[f32]) -> f32 {
    assert_eq!(x.len(), y.len(), "a dot product takes rows of one length");
    let mut lanes = [0.0; LANES];
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    for (x, y) in x.iter().zip(y) {
        lanes_fma(&mut lanes, x, y);
    }
    // Rows are often padded to a multiple of eight: give that case its own straight step.
    let ((x, x_rest), (y, y_rest)) = (x_rest.as_chunks::<8>(), y_rest.as_chunks::<8>());
    if let ([x], [y]) = (x, y) {
        lanes_fma(&mut lanes[..8], x, y);
        lanes_fma(&mut lanes[8..], x_rest, y_rest);
    } else {
        lanes_fma(&mut lanes, x_rest, y_rest);
    }
    tree(lanes)
}

/// `lanes[i] = fma(x[i], y[i], lanes[i])`
#[inline(always)]
fn lanes_fma(lanes: &mut [f32], x: &[f32], y: &[f32]) {
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
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<8>(), y.as_chunks_mut::<8>());
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
    let ((fours, ids), (weight_fours, weights)) = (ids.as_chunks::<4>(), weights.as_chunks::<4>());
    for ([i0, i1, i2, i3], w) in fours.iter().zip(weight_fours) {
        let rows = [table.row(*i0 as usize), table.row(*i1 as usize), table.row(*i2 as usize), table.row(*i3 as usize)];
        add_four(rows, *w, out);
    }
    for (id, weight) in ids.iter().zip(weights) {
        axpy(*weight, table.row(*id as usize), out);
    }
}

/// `out += w[0] rows[0]`, then `w[1] rows[1]` and so on: four rows for one passage over `out`.
#[inline(always)]
fn add_four(rows: [&[f32]; 4], w: [f32; 4], out: &mut [f32]) {
    let [(a, a_rest), (b, b_rest), (c, c_rest), (d, d_rest)] =
        [rows[0].as_chunks::<8>(), rows[1].as_chunks::<8>(), rows[2].as_chunks::<8>(), rows[3].as_chunks::<8>()];
    let (out, out_rest) = out.as_chunks_mut::<8>();
    for ((((out, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        add_four_lines(out, a, b, c, d, w);
    }
    add_four_lines(out_rest, a_rest, b_rest, c_rest, d_rest, w);
}

#[inline(always)]
fn add_four_lines(out: &mut [f32], a: &[f32], b: &[f32], c: &[f32], d: &[f32], w: [f32; 4]) {
    for ((((out, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        *out = w[3].mul_add(*d, w[2].mul_add(*c, w[1].mul_add(*b, w[0].mul_add(*a, *out))));
    }
}

/// See [`scatter_add`](super::scatter_add).
#[inline(always)]
pub(super) fn scatter_add(x: &[f32], ids: &[u32], weights: &[f32], mut table: MatrixMut<'_>) {
    assert_eq!(ids.len(), weights.len(), "each row added to has its weight");
    for (id, weight) in ids.iter().zip(weights) {
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
