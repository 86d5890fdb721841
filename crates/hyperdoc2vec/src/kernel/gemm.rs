//! Matrix products. Every element of a result is one chain of fused multiply-adds over the inner
//! dimension, in order: `c = fma(a[p], b[p], c)` for p = 0, 1, 2 …  Tiles, tails, blocks and threads
//! decide only who computes an element and when, so none of them can change its bits.
//!
//! The right-hand factor is packed into panels of [`PANEL`] columns, so that one step of the chain for a
//! tile of [`TILE`] rows reads two vectors and broadcasts one number a row. Blocks of the inner
//! dimension keep a panel in the nearest cache; between blocks the chain rests in `c`, exactly.
//!
//! Ours, because crates do not promise that: matrixmultiply rounds otherwise where there is no FMA.

use std::ops::Range;

use super::matrix::{Matrix, MatrixMut};

/// Columns in a panel; the last panel has half as many where that is enough.
const PANEL: usize = 16;
const HALF: usize = PANEL / 2;
/// Rows of a tile: 6 × 16 accumulators fill twelve of AVX2's sixteen registers.
const TILE: usize = 6;
/// Steps of the chain between two rests: a panel of 256 × 16 numbers is half of a 32 kB cache.
const DEPTH: usize = 256;
/// Rows that pass one panel before the next panel comes: 96 × 256 numbers stay in the second cache.
const ROWS: usize = 96;

/// The beginning of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// `c = a·b`: each chain begins at 0, whatever `c` held.
    Zero,
    /// `c += a·b`: each chain begins at the number in `c`.
    Add,
}

/// The right-hand factor of a product (`depth` × `cols`), packed by [`pack`](super::pack) or
/// [`pack_transposed`](super::pack_transposed).
#[derive(Debug, Clone, Copy)]
pub struct Panels<'a> {
    data: &'a [f32],
    depth: usize,
    cols: usize,
}

impl<'a> Panels<'a> {
    /// How many numbers of scratch a factor of `depth` × `cols` takes.
    pub fn len(depth: usize, cols: usize) -> usize {
        depth * cols.next_multiple_of(HALF)
    }

    /// The length of the inner dimension.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }
}

/// See [`pack`](super::pack).
#[inline(always)]
pub(super) fn pack<'a>(b: Matrix<'_>, scratch: &'a mut [f32]) -> Panels<'a> {
    let depth = b.rows();
    let panels = &mut scratch[..Panels::len(depth, b.cols())];
    for first in (0..b.cols()).step_by(PANEL) {
        let cols = PANEL.min(b.cols() - first);
        let panel = &mut panels[depth * first..];
        if cols > HALF {
            pack_panel::<PANEL>(b, first, cols, panel);
        } else {
            pack_panel::<HALF>(b, first, cols, panel);
        }
    }
    Panels { data: panels, depth, cols: b.cols() }
}

#[inline(always)]
fn pack_panel<const W: usize>(b: Matrix<'_>, first: usize, cols: usize, panel: &mut [f32]) {
    for (p, line) in panel.as_chunks_mut::<W>().0.iter_mut().take(b.rows()).enumerate() {
        *line = padded(&b.row(p)[first..][..cols]);
    }
}

/// See [`pack_transposed`](super::pack_transposed).
#[inline(always)]
pub(super) fn pack_transposed<'a>(b: Matrix<'_>, scratch: &'a mut [f32]) -> Panels<'a> {
    let depth = b.cols();
    let panels = &mut scratch[..Panels::len(depth, b.rows())];
    for first in (0..b.rows()).step_by(PANEL) {
        let cols = PANEL.min(b.rows() - first);
        let panel = &mut panels[depth * first..];
        if cols > HALF {
            transpose_panel::<PANEL>(b, first, cols, panel);
        } else {
            transpose_panel::<HALF>(b, first, cols, panel);
        }
    }
    Panels { data: panels, depth, cols: b.rows() }
}

#[inline(always)]
fn transpose_panel<const W: usize>(b: Matrix<'_>, first: usize, cols: usize, panel: &mut [f32]) {
    let lines = &mut panel.as_chunks_mut::<W>().0[..b.cols()];
    if cols < W {
        lines.fill([0.0; W]);
    }
    for w in 0..cols {
        for (line, x) in lines.iter_mut().zip(b.row(first + w)) {
            line[w] = *x;
        }
    }
}

/// `numbers` as one line, filled up with zeros.
#[inline(always)]
fn padded<const W: usize>(numbers: &[f32]) -> [f32; W] {
    match <&[f32; W]>::try_from(numbers) {
        Ok(full) => *full,
        Err(_) => {
            let mut line = [0.0; W];
            line[..numbers.len()].copy_from_slice(numbers);
            line
        }
    }
}

/// See [`multiply`](super::multiply).
#[inline(always)]
pub(super) fn multiply(a: Matrix<'_>, b: Panels<'_>, mut c: MatrixMut<'_>, start: Start) {
    assert_eq!(a.cols(), b.depth, "the inner dimensions of a product agree");
    assert_eq!(
        (c.rows(), c.cols()),
        (a.rows(), b.cols),
        "a product has the rows of one factor, the columns of the other"
    );
    for depth in cuts(b.depth, DEPTH) {
        // Only the first cut begins as asked; the others go on from what the one before left in `c`.
        let start = if depth.start == 0 { start } else { Start::Add };
        for rows in cuts(a.rows(), ROWS) {
            for first in (0..b.cols).step_by(PANEL) {
                let cols = first..b.cols.min(first + PANEL);
                let panel = &b.data[b.depth * first..];
                let mut i = rows.start;
                macro_rules! strips {
                    ($height:literal, $width:expr) => {
                        let lines = &panel.as_chunks::<{ $width }>().0[depth.clone()];
                        while rows.end - i >= $height {
                            let a: [&[f32]; $height] = std::array::from_fn(|r| &a.row(i + r)[depth.clone()]);
                            let tile = load(&mut c, i..i + $height, cols.clone(), start);
                            store(&mut c, i..i + $height, cols.clone(), &chain::<$height, { $width }>(a, lines, tile));
                            i += $height;
                        }
                    };
                }
                if cols.len() > HALF {
                    strips!(6, PANEL);
                    strips!(4, PANEL);
                    strips!(2, PANEL);
                    strips!(1, PANEL);
                } else {
                    strips!(6, HALF);
                    strips!(4, HALF);
                    strips!(2, HALF);
                    strips!(1, HALF);
                }
            }
        }
    }
}

/// See [`multiply_transposed`](super::multiply_transposed).
#[inline(always)]
pub(super) fn multiply_transposed(a: Matrix<'_>, b: Panels<'_>, mut c: MatrixMut<'_>, start: Start) {
    assert_eq!(a.rows(), b.depth, "the inner dimensions of a product agree");
    assert_eq!(
        (c.rows(), c.cols()),
        (a.cols(), b.cols),
        "a product has the rows of one factor, the columns of the other"
    );
    // A strip of columns of `a`, side by side for one tile; short strips are filled up with zeros.
    let mut strip = [[0.0; TILE]; DEPTH];
    for depth in cuts(b.depth, DEPTH) {
        let start = if depth.start == 0 { start } else { Start::Add };
        for rows in cuts(a.cols(), TILE) {
            let strip = &mut strip[..depth.len()];
            for (p, line) in depth.clone().zip(strip.iter_mut()) {
                *line = padded(&a.row(p)[rows.clone()]);
            }
            for first in (0..b.cols).step_by(PANEL) {
                let cols = first..b.cols.min(first + PANEL);
                let panel = &b.data[b.depth * first..];
                macro_rules! tile {
                    ($width:expr) => {{
                        let lines = &panel.as_chunks::<{ $width }>().0[depth.clone()];
                        let tile = load(&mut c, rows.clone(), cols.clone(), start);
                        store(
                            &mut c,
                            rows.clone(),
                            cols.clone(),
                            &chain_packed::<TILE, { $width }>(strip, lines, tile),
                        );
                    }};
                }
                if cols.len() > HALF { tile!(PANEL) } else { tile!(HALF) }
            }
        }
    }
}

/// 0..len in pieces of at most `size`; one empty piece if there is nothing to cut.
fn cuts(len: usize, size: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len.max(1)).step_by(size).map(move |start| start..len.min(start + size))
}

/// `tile[r] = fma(a[r][p], lines[p], tile[r])` for each p in order.
#[inline(always)]
fn chain<const R: usize, const W: usize>(
    mut a: [&[f32]; R],
    lines: &[[f32; W]],
    mut tile: [[f32; W]; R],
) -> [[f32; W]; R] {
    for row in &mut a {
        *row = &row[..lines.len()]; // spares the loop its bounds checks
    }
    for (p, line) in lines.iter().enumerate() {
        for (row, a) in tile.iter_mut().zip(a) {
            let x = a[p];
            for (sum, y) in row.iter_mut().zip(line) {
                *sum = x.mul_add(*y, *sum);
            }
        }
    }
    tile
}

/// `tile[r] = fma(a[p][r], lines[p], tile[r])` for each p in order.
#[inline(always)]
fn chain_packed<const R: usize, const W: usize>(
    a: &[[f32; R]],
    lines: &[[f32; W]],
    mut tile: [[f32; W]; R],
) -> [[f32; W]; R] {
    for (a, line) in a.iter().zip(lines) {
        for (row, x) in tile.iter_mut().zip(a) {
            for (sum, y) in row.iter_mut().zip(line) {
                *sum = x.mul_add(*y, *sum);
            }
        }
    }
    tile
}

/// The part of `c` where a tile goes, or zeros.
#[inline(always)]
fn load<const R: usize, const W: usize>(
    c: &mut MatrixMut<'_>,
    rows: Range<usize>,
    cols: Range<usize>,
    start: Start,
) -> [[f32; W]; R] {
    let mut tile = [[0.0; W]; R];
    if start == Start::Add {
        for (r, row) in tile.iter_mut().enumerate() {
            if r < rows.len() {
                *row = padded(&c.row_mut(rows.start + r)[cols.clone()]);
            }
        }
    }
    tile
}

/// Writes the part of a tile that lies within `c`.
#[inline(always)]
fn store<const R: usize, const W: usize>(
    c: &mut MatrixMut<'_>,
    rows: Range<usize>,
    cols: Range<usize>,
    tile: &[[f32; W]; R],
) {
    for (r, row) in tile.iter().enumerate() {
        if r >= rows.len() {
            return;
        }
        let target = &mut c.row_mut(rows.start + r)[cols.clone()];
        match <&mut [f32; W]>::try_from(&mut *target) {
            Ok(target) => *target = *row,
            Err(_) => target.copy_from_slice(&row[..target.len()]),
        }
    }
}
