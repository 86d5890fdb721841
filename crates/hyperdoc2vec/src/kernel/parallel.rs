//! Products by as many threads as the pool has, each with rows of its own.

use super::{Matrix, MatrixMut, Panels, Start, multiply, multiply_transposed};

/// Multiply-adds below which a product is not worth another thread: some 20 µs.
const WORTH_A_THREAD: usize = 1 << 20;
/// Rows are cut at multiples of this, so that tiles stay whole.
const STEP: usize = 12;

/// [`multiply`] by the threads of the current rayon pool, cut by rows of `a`; the same bits.
///
/// # Panics
/// If the shapes do not fit.
pub fn par_multiply(a: Matrix<'_>, b: Panels<'_>, c: MatrixMut<'_>, start: Start) {
    match cut(a.rows(), &b) {
        None => multiply(a, b, c, start),
        Some(mid) => {
            let (first, second) = c.split_at_row(mid);
            rayon::join(
                || par_multiply(a.row_range(0..mid), b, first, start),
                || par_multiply(a.row_range(mid..a.rows()), b, second, start),
            );
        }
    }
}

/// [`multiply_transposed`] by the threads of the current rayon pool, cut by columns of `a`; the same bits.
///
/// # Panics
/// If the shapes do not fit.
pub fn par_multiply_transposed(a: Matrix<'_>, b: Panels<'_>, c: MatrixMut<'_>, start: Start) {
    match cut(a.cols(), &b) {
        None => multiply_transposed(a, b, c, start),
        Some(mid) => {
            let (first, second) = c.split_at_row(mid);
            rayon::join(
                || par_multiply_transposed(a.col_range(0..mid), b, first, start),
                || par_multiply_transposed(a.col_range(mid..a.cols()), b, second, start),
            );
        }
    }
}

/// Where to cut `rows` rows of a result in two, if both halves are worth a thread.
fn cut(rows: usize, b: &Panels<'_>) -> Option<usize> {
    let mid = (rows / 2).next_multiple_of(STEP);
    let work = (rows / 2).saturating_mul(b.depth()).saturating_mul(b.cols());
    (work >= WORTH_A_THREAD && mid < rows && rayon::current_num_threads() > 1).then_some(mid)
}
