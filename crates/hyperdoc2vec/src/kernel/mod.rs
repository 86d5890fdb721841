//! The numeric kernels: matrix products, sums over rows, and functions of numbers.
//!
//! **Every result has the same bits everywhere.** An element of a product is one chain of fused
//! multiply-adds in the order of the inner dimension; a sum over one row is sixteen such chains joined by
//! a fixed tree; `exp` and the like are polynomials of our own. So neither the number of threads, nor the
//! rows or columns that happen to be computed together, nor the instruction set can change a result.
//! (The sign and payload of a NaN are left open.)
//!
//! For a batch X (B × k), columns N (n × k, a row for each target or noise document) and gradients G (B × n):
//!
//! ```text
//! S  = X·Nᵀ    multiply(x, pack_transposed(n), s)        split among threads by rows of X
//! dX = G·N     multiply(g, pack(n), dx)                  split by rows of G
//! dN = Gᵀ·X    multiply_transposed(g, pack(x), dn)       split by columns of G
//! ```
//!
//! ```
//! use hyperdoc2vec::internals::kernel::{Matrix, MatrixMut, Panels, Start, multiply, pack_transposed};
//!
//! let x = [1.0, 2.0, 3.0, 4.0]; // two rows
//! let n = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0]; // three rows
//! let mut scratch = vec![0.0; Panels::len(2, 3)];
//! let mut s = [0.0; 6];
//! let panels = pack_transposed(Matrix::new(&n, 3, 2, 2), &mut scratch);
//! multiply(Matrix::new(&x, 2, 2, 2), panels, MatrixMut::new(&mut s, 2, 3, 3), Start::Zero);
//! assert_eq!(s, [1.0, 2.0, 3.0, 3.0, 4.0, 7.0]);
//! ```
//!
//! Each kernel is written once, in safe code that the compiler turns into vectors, and compiled twice on
//! x86-64: as it is, and for machines with AVX2 and FMA. Where the hardware has no fused multiply-add,
//! `mul_add` is computed in software: slowly, to the same bits.
//!
//! A build with `lto = "off"` is not for measuring: small functions of the standard library are not inlined in it, and a
//! product runs at 1 to 4 GFLOP/s on a core of 95.
//!
//! Largest errors, in units in the last place (numbers nearer to 0 than 1e-12 left out, but for `ln`): `exp` 1.02, `ln` 0.90, `sigmoid` 2.41,
//! `log_sigmoid` 1.71.
//!
//! Strides that are multiples of 1024 numbers make the rows of a matrix compete for the same lines of the
//! cache: pad such a stride by 16. Rows that begin at multiples of 32 bytes are gathered and scattered by a
//! quarter to a third faster than rows that begin halfway, as those of a long `Vec` usually do.

mod gemm;
mod half;
mod math;
mod matrix;
mod parallel;
mod prefetch;
mod repel;
mod rows;
mod step;
#[cfg(test)]
mod tests;

pub use self::half::StoredMatrix;
pub use gemm::{Panels, Start};
pub use matrix::{Matrix, MatrixMut};
pub use parallel::{par_multiply, par_multiply_transposed};
pub use prefetch::prefetch;
pub use repel::{POINTS, Push, Pusher};
pub use rows::Rows;
pub use step::{BOUND, LabelledRows, OutOfRange, Step};

/// Declares a public function whose body, an `#[inline(always)]` function, is compiled for each build.
///
/// What it writes to are arguments of their own, not fields of one: only then does the compiler know that they do not overlap
/// with what is read, and works on eight numbers at a time.
macro_rules! dispatched {
    ($($(#[$doc:meta])* pub fn $name:ident $(<$life:lifetime>)? ($($arg:ident: $type:ty),*) $(-> $result:ty)? = $body:path;)*) => {$(
        $(#[$doc])*
        pub fn $name $(<$life>)? ($($arg: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn with_avx2_and_fma $(<$life>)? ($($arg: $type),*) $(-> $result)? {
                    $body($($arg),*)
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the function needs nothing but the two features, and the processor has both.
                    #[allow(unsafe_code)]
                    return unsafe { with_avx2_and_fma($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    )*};
}

dispatched! {
    /// Packs the factor `b` of `a·b`; its rows are the inner dimension.
    /// `scratch` holds at least [`Panels::len`]`(b.rows(), b.cols())` numbers.
    ///
    /// # Panics
    /// If the scratch is too short.
    pub fn pack<'a>(b: Matrix<'_>, scratch: &'a mut [f32]) -> Panels<'a> = gemm::pack;

    /// Packs the factor `bᵀ` of `a·bᵀ`; the columns of `b` are the inner dimension.
    /// `scratch` holds at least [`Panels::len`]`(b.cols(), b.rows())` numbers.
    ///
    /// # Panics
    /// If the scratch is too short.
    pub fn pack_transposed<'a>(b: Matrix<'_>, scratch: &'a mut [f32]) -> Panels<'a> = gemm::pack_transposed;

    /// `c = a·b` or `c += a·b`: for each i and j, `c[i][j] = fma(a[i][p], b[p][j], c[i][j])` for p = 0, 1, 2 …
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn multiply(a: Matrix<'_>, b: Panels<'_>, c: MatrixMut<'_>, start: Start) = gemm::multiply;

    /// `c = aᵀ·b` or `c += aᵀ·b`: for each i and j, `c[i][j] = fma(a[p][i], b[p][j], c[i][j])` for p = 0, 1, 2 …
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn multiply_transposed(a: Matrix<'_>, b: Panels<'_>, c: MatrixMut<'_>, start: Start) = gemm::multiply_transposed;

    /// `scores[q][i] = dot(queries[q], table[i])`: one or a few queries against a long table, as fast as memory
    /// gives it. For a batch of queries, `multiply(table, pack_transposed(queries), …)` is faster; its sums run in
    /// another order, so that the last bits differ.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn scan(queries: Matrix<'_>, table: Matrix<'_>, scores: MatrixMut<'_>) = rows::scan;

    /// `Σ x[i] y[i]`. Lane l of sixteen is the chain of fused multiply-adds over i = l, l + 16, l + 32 …; then
    /// lane l takes lane l + 8, l + 4, l + 2, l + 1.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn dot(x: &[f32], y: &[f32]) -> f32 = rows::dot;

    /// `Σ x[i]²`, summed as [`dot`].
    pub fn sum_of_squares(x: &[f32]) -> f32 = rows::sum_of_squares;

    /// `y[i] = fma(a, x[i], y[i])`
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn axpy(a: f32, x: &[f32], y: &mut [f32]) = rows::axpy;

    /// `x[i] = a x[i]`
    pub fn scale(a: f32, x: &mut [f32]) = rows::scale;

    /// `out = Σ weights[j] table[ids[j]]`, each element a chain in the order of `ids` from 0.
    ///
    /// # Panics
    /// If the lengths do not fit or an id is beyond the table.
    pub fn gather_sum(table: Matrix<'_>, ids: &[u32], weights: &[f32], out: &mut [f32]) = rows::gather_sum;

    /// One step against `gradient`, as Adagrad does, with one learning rate for the whole row:
    /// `square += mean(gradient²); vector −= rate · gradient / √square`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn adagrad(gradient: &[f32], vector: &mut [f32], square: &mut f32, rate: f32) = rows::adagrad;

    /// One step as [`adagrad`] takes it, against the gradient that [`gather_sum`] gives, which is left in `sum`.
    ///
    /// # Panics
    /// If the lengths do not fit or an id is beyond the table.
    pub fn adagrad_sum(
        weighted: (Rows<'_>, &[f32]), sum: &mut [f32], vector: &mut [f32], square: &mut f32, rate: f32
    ) = rows::adagrad_sum;

    /// Rows of a table are to score high with `x`: `slopes[j] = σ(x·row) − 1`, `dx += slopes[j] row` and
    /// `loss −= ln σ(x·row)`, in the order of the rows.
    ///
    /// # Panics
    /// If the lengths do not fit or an id is beyond the table.
    pub fn attract(
        x: &[f32], rows: Rows<'_>, slopes: &mut [f32], dx: &mut [f32], loss: &mut f32
    ) = rows::attract;

    /// `table[ids[j]] += weights[j] x` for each j in order; an id may come more than once.
    ///
    /// # Panics
    /// If the lengths do not fit or an id is beyond the table.
    pub fn scatter_add(x: &[f32], ids: &[u32], weights: &[f32], table: MatrixMut<'_>) = rows::scatter_add;

    /// Learns one example by itself: the mean of its rows of `input` is to score high with those of its rows of `output`
    /// whose label is 1, low with those whose label is 0. Returns the loss, `−Σ ln σ(±score)`.
    ///
    /// ```text
    /// h = mean of the input rows
    /// for each output row o in order:    g = rate (label − σ(h·o));   error += g o;   o += g h
    /// each input row += error
    /// ```
    /// `scratch` holds two rows or more. Without inputs nothing happens, and 0 is returned.
    ///
    /// # Panics
    /// If the lengths do not fit, are no multiple of 8, or a row is beyond its table.
    pub fn learn(
        step: Step, example: LabelledRows<'_>, input: MatrixMut<'_>, output: MatrixMut<'_>, scratch: &mut [f32]
    ) -> f64 = step::learn;

    /// Adds to `push` what `pushers` do to the points at `x` and `y`: with q = 1 / (1 + |point − pusher|²) and mass m,
    /// `Σ m q² (point − pusher)` and `Σ m q`, each a chain in the order of `pushers`.
    pub fn repel(x: &[f32; POINTS], y: &[f32; POINTS], pushers: &[Pusher], push: &mut Push) = repel::repel;

    /// e^x: 0 for −∞, ∞ above 88.72.
    pub fn exp(x: f32) -> f32 = math::exp;

    /// The natural logarithm: −∞ for 0, NaN below.
    pub fn ln(x: f32) -> f32 = math::ln;

    /// σ(x) = 1 / (1 + e^−x)
    pub fn sigmoid(x: f32) -> f32 = math::sigmoid;

    /// ln σ(x), without loss where σ(x) is near 0 or 1.
    pub fn log_sigmoid(x: f32) -> f32 = math::log_sigmoid;

    /// [`exp`] of each number, in place.
    pub fn exp_all(x: &mut [f32]) = math::exp_all;

    /// [`ln`] of each number, in place.
    pub fn ln_all(x: &mut [f32]) = math::ln_all;

    /// [`sigmoid`] of each number, in place.
    pub fn sigmoid_all(x: &mut [f32]) = math::sigmoid_all;

    /// [`log_sigmoid`] of each number, in place.
    pub fn log_sigmoid_all(x: &mut [f32]) = math::log_sigmoid_all;

    /// The loss of scores that should be low, `−Σ times ln σ(−x)`; replaces each score by `σ(x)`.
    /// The sum has eight lanes as that of [`softmax`].
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn noise_loss(x: &mut [f32], times: &[f32]) -> f32 = math::noise_loss;

    /// Replaces `x` by `e^x / Σ e^x`, the largest number subtracted first, and returns `ln Σ e^x`.
    /// The sum has eight lanes, lane l over i = l, l + 8, l + 16 …, joined as those of [`dot`].
    ///
    /// Numbers that are −∞ get 0. If all are, or there are none, all get 0 and −∞ is returned. A NaN or +∞
    /// makes everything NaN.
    pub fn softmax(x: &mut [f32]) -> f32 = math::softmax;
}
