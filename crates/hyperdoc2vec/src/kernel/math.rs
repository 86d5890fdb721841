//! Exponentials and logarithms of our own: polynomials in fused multiply-adds and operations on bits,
//! so that every machine gives the same bits, whatever its mathematical library.
//!
//! The coefficients minimise the largest relative error over the reduced range (Remez exchange in 40
//! digits, then rounded). The errors that the tests measure and bound stand in [the module](super).

use super::rows::{LANES, scale, tree};

/// ln 2 in two parts: the first has so few bits that its product with an exponent is exact.
const LN_2_HIGH: f32 = 0.693_115_23;
const LN_2_LOW: f32 = 3.194_618_3e-5;

/// See [`exp`](super::exp).
///
/// x = n ln 2 + r with n whole, so e^x = 2^n e^r;  e^r = 1 + r + r² q(r) for |r| ≤ ln 2 / 2.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Beyond these bounds the result is infinite or 0 all the same; NaN passes both comparisons.
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -105.0 { -105.0 } else { x };
    // Adding 1.5 · 2^23 rounds to a whole number and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let rounded = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = rounded - ROUND;
    let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
    let q = 1.381_443_1e-3_f32;
    let q = q.mul_add(r, 8.368_797e-3);
    let q = q.mul_add(r, 4.166_839_6e-2);
    let q = q.mul_add(r, 0.166_665_2);
    let q = q.mul_add(r, 0.499_999_94);
    let e = 1.0 + q.mul_add(r * r, r);
    // 2^n in two factors, so that results below the normal range are rounded once.
    let n = (rounded.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
    let half = n >> 1;
    e * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) << 23) as u32)
}

/// See [`ln`](super::ln).
///
/// x = 2^n (1 + f) with √½ ≤ 1 + f < √2, so ln x = n ln 2 + ln(1 + f).
#[inline(always)]
pub(super) fn ln(x: f32) -> f32 {
    let tiny = x < f32::MIN_POSITIVE;
    let scaled = if tiny { x * 8_388_608.0 } else { x };
    let bits = scaled.to_bits() as i32;
    let n = bits.wrapping_sub(std::f32::consts::FRAC_1_SQRT_2.to_bits() as i32) >> 23;
    let f = f32::from_bits(bits.wrapping_sub(n << 23) as u32) - 1.0;
    let n = n as f32 - if tiny { 23.0 } else { 0.0 };
    let result = ln_reduced(n, f);
    let result = if x < f32::INFINITY { result } else { x };
    let result = if x == 0.0 { f32::NEG_INFINITY } else { result };
    if x >= 0.0 { result } else { f32::NAN }
}

/// n ln 2 + ln(1 + f) for f from √½ − 1 to √2 − 1;  ln(1 + f) = f − f²/2 + f³ p(f).
#[inline(always)]
fn ln_reduced(n: f32, f: f32) -> f32 {
    let p = -7.860_959e-2_f32;
    let p = p.mul_add(f, 0.128_835_07);
    let p = p.mul_add(f, -0.131_290_99);
    let p = p.mul_add(f, 0.141_809_55);
    let p = p.mul_add(f, -0.166_244_98);
    let p = p.mul_add(f, 0.200_022_95);
    let p = p.mul_add(f, -0.250_008_1);
    let p = p.mul_add(f, 0.333_333_16);
    let square = f * f;
    let small = square.mul_add(-0.5, square * f * p);
    n.mul_add(LN_2_HIGH, f + n.mul_add(LN_2_LOW, small))
}

/// See [`sigmoid`](super::sigmoid).
///
/// With e = e^−|x|, which never overflows: 1 / (1 + e), or e / (1 + e) below 0.
#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    let e = exp(-x.abs());
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

/// See [`log_sigmoid`](super::log_sigmoid).
///
/// min(x, 0) − ln(1 + e) with e = e^−|x|;  1 + e is not rounded but reduced as in [`ln`]: it is
/// 1 + f with f = e, or 2 (1 + f) with f = (e − 1) / 2.
#[inline(always)]
pub(super) fn log_sigmoid(x: f32) -> f32 {
    let e = exp(-x.abs());
    let near = e < std::f32::consts::SQRT_2 - 1.0;
    let (n, f) = if near { (0.0, e) } else { (1.0, (e - 1.0) * 0.5) };
    (if x < 0.0 { x } else { 0.0 }) - ln_reduced(n, f)
}

/// Replaces each number by its function.
macro_rules! over_slices {
    ($($name:ident = $function:ident;)*) => {$(
        #[inline(always)]
        pub(super) fn $name(x: &mut [f32]) {
            for x in x {
                *x = $function(*x);
            }
        }
    )*};
}

over_slices! {
    exp_all = exp;
    ln_all = ln;
    sigmoid_all = sigmoid;
    log_sigmoid_all = log_sigmoid;
}

/// See [`noise_loss`](super::noise_loss).
#[inline(always)]
pub(super) fn noise_loss(x: &mut [f32], times: &[f32]) -> f32 {
    assert_eq!(x.len(), times.len(), "each score has its number of times");
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = x.as_chunks_mut::<LANES>();
    let (times_chunks, times_rest) = times.as_chunks::<LANES>();
    for (chunk, times) in chunks.iter_mut().zip(times_chunks) {
        for ((x, times), sum) in chunk.iter_mut().zip(times).zip(&mut lanes) {
            *sum = times.mul_add(-log_sigmoid(-*x), *sum);
            *x = sigmoid(*x);
        }
    }
    for ((x, times), sum) in rest.iter_mut().zip(times_rest).zip(&mut lanes) {
        *sum = times.mul_add(-log_sigmoid(-*x), *sum);
        *x = sigmoid(*x);
    }
    tree(lanes)
}

/// See [`softmax`](super::softmax).
#[inline(always)]
pub(super) fn softmax(x: &mut [f32]) -> f32 {
    let max = max(x);
    if max == f32::NEG_INFINITY {
        x.fill(0.0);
        return max;
    }
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = x.as_chunks_mut::<LANES>();
    for chunk in chunks {
        for (x, sum) in chunk.iter_mut().zip(&mut lanes) {
            *x = exp(*x - max);
            *sum += *x;
        }
    }
    for (x, sum) in rest.iter_mut().zip(&mut lanes) {
        *x = exp(*x - max);
        *sum += *x;
    }
    let sum = tree(lanes);
    scale(1.0 / sum, x);
    max + ln(sum)
}

/// The largest number, −∞ if there is none, NaN if any is NaN.
#[inline(always)]
fn max(x: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for (x, max) in chunk.iter().zip(&mut lanes) {
            *max = larger(*max, *x);
        }
    }
    rest.iter().chain(&lanes).fold(f32::NEG_INFINITY, |max, x| larger(max, *x))
}

#[inline(always)]
fn larger(max: f32, x: f32) -> f32 {
    if x > max || x.is_nan() { x } else { max }
}
