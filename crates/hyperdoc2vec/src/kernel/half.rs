//! Matrices whose numbers are stored in half precision (IEEE 754 binary16), to be read a block at a time.
//!
//! No sum is taken in half precision: rows are widened, which is exact, and then go through the kernels. So every result
//! has the bits that the widened matrix gives.

use std::borrow::Cow;
use std::ops::Range;

use half::f16;
use half::slice::HalfFloatSliceExt;

use super::{Matrix, gather_sum, prefetch};

/// A matrix to read, as it is stored.
#[derive(Debug, Clone, Copy)]
pub enum StoredMatrix<'a> {
    /// In single precision: can be read where it is.
    Single(Matrix<'a>),
    /// In half precision, one row behind the other.
    Half {
        /// All rows.
        numbers: &'a [f16],
        /// Numbers in a row.
        cols: usize,
    },
}

impl<'a> From<Matrix<'a>> for StoredMatrix<'a> {
    fn from(matrix: Matrix<'a>) -> StoredMatrix<'a> {
        StoredMatrix::Single(matrix)
    }
}

impl<'a> StoredMatrix<'a> {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            StoredMatrix::Single(matrix) => matrix.rows(),
            StoredMatrix::Half { numbers, cols } => numbers.len() / (*cols).max(1),
        }
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        match self {
            StoredMatrix::Single(matrix) => matrix.cols(),
            StoredMatrix::Half { cols, .. } => *cols,
        }
    }

    /// Row `i`.
    ///
    /// # Panics
    /// If there are fewer rows.
    pub fn row(&self, i: usize) -> Cow<'a, [f32]> {
        match *self {
            StoredMatrix::Single(matrix) => Cow::Borrowed(matrix.row(i)),
            StoredMatrix::Half { numbers, cols } => Cow::Owned(numbers[i * cols..][..cols].to_f32_vec()),
        }
    }

    /// Asks the memory for row `i`, which will be needed soon.
    ///
    /// # Panics
    /// If there are fewer rows.
    pub fn prefetch(&self, i: usize) {
        match *self {
            StoredMatrix::Single(matrix) => prefetch(matrix.row(i)),
            StoredMatrix::Half { numbers, cols } => prefetch(&numbers[i * cols..][..cols]),
        }
    }

    /// Rows, in `room` where they have to be widened.
    ///
    /// # Panics
    /// If there are fewer rows.
    pub fn block<'s>(&self, rows: Range<usize>, room: &'s mut Vec<f32>) -> Matrix<'s>
    where
        'a: 's,
    {
        match *self {
            StoredMatrix::Single(matrix) => matrix.row_range(rows),
            StoredMatrix::Half { numbers, cols } => {
                let count = rows.len();
                room.resize(count * cols, 0.0);
                numbers[rows.start * cols..rows.end * cols].convert_to_f32_slice(room);
                Matrix::new(room, count, cols, cols)
            }
        }
    }

    /// `out = Σ weights[j] row[ids[j]]`: see [`gather_sum`].
    ///
    /// # Panics
    /// If the lengths do not fit or an id is beyond the matrix.
    pub fn gather_sum(&self, ids: &[u32], weights: &[f32], out: &mut [f32]) {
        match *self {
            StoredMatrix::Single(matrix) => gather_sum(matrix, ids, weights, out),
            StoredMatrix::Half { numbers, cols } => {
                let mut rows = vec![0.0; ids.len() * cols];
                for (row, &id) in rows.chunks_exact_mut(cols.max(1)).zip(ids) {
                    numbers[id as usize * cols..][..cols].convert_to_f32_slice(row);
                }
                let in_order: Vec<u32> = (0..ids.len() as u32).collect();
                gather_sum(Matrix::new(&rows, ids.len(), cols, cols), &in_order, weights, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn narrow(numbers: &[f32]) -> Vec<f16> {
        let mut narrow = vec![f16::ZERO; numbers.len()];
        narrow.convert_from_f32_slice(numbers);
        narrow
    }

    #[test]
    fn known_numbers_are_rounded_to_the_nearest_and_ties_to_even() {
        // Ten bits behind the point: beside 1 lie steps of 2⁻¹⁰, beside 2048 steps of 2, beside 0 steps of 2⁻²⁴.
        let step = 2f32.powi(-10);
        let tiny = 2f32.powi(-24);
        let known = [
            (0.0, 0x0000, 0.0),
            (-0.0, 0x8000, -0.0),
            (1.0, 0x3c00, 1.0),
            (-2.0, 0xc000, -2.0),
            (65504.0, 0x7bff, 65504.0),
            (0.1, 0x2e66, 0.099975586),
            (1.0 + step, 0x3c01, 1.0 + step),
            (1.0 + step / 2.0, 0x3c00, 1.0),
            (1.0 + 1.5 * step, 0x3c02, 1.0 + 2.0 * step),
            (1.0 + 0.51 * step, 0x3c01, 1.0 + step),
            (2049.0, 0x6800, 2048.0),
            (2051.0, 0x6802, 2052.0),
            (tiny, 0x0001, tiny),
            (tiny / 2.0, 0x0000, 0.0),
            (tiny * 0.75, 0x0001, tiny),
            (-tiny * 5.0, 0x8005, -tiny * 5.0),
        ];
        // By eights, as the hardware converts them, and one by one.
        let narrowed = narrow(&known.map(|(number, ..)| number));
        for ((number, bits, wide), many) in known.into_iter().zip(&narrowed) {
            let one = narrow(&[number]);
            assert_eq!((many.to_bits(), one[0].to_bits()), (bits, bits), "{number}");
            let row = StoredMatrix::Half { numbers: &one, cols: 1 }.row(0);
            assert_eq!(row[0].to_bits(), wide.to_bits(), "{number}");
        }
    }

    #[test]
    fn every_number_of_half_precision_comes_back() {
        let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).filter(|number| number.is_finite()).collect();
        let wide = StoredMatrix::Half { numbers: &all, cols: all.len() }.row(0);
        let again = narrow(&wide);
        assert!(all.iter().zip(&again).all(|(one, other)| one.to_bits() == other.to_bits()));
    }

    #[test]
    fn rows_blocks_and_sums_are_those_of_the_widened_matrix() {
        let (rows, cols) = (57, 13);
        let mut rng = Rng::keyed(3, &[1]);
        let numbers: Vec<f32> = (0..rows * cols).map(|_| rng.unit() - 0.5).collect();
        let half = narrow(&numbers);
        let stored = StoredMatrix::Half { numbers: &half, cols };
        let wide = half.to_f32_vec();
        let wide = Matrix::new(&wide, rows, cols, cols);
        assert_eq!((stored.rows(), stored.cols()), (rows, cols));
        let mut room = Vec::new();
        for part in [0..rows, 5..23, 56..57, 9..9] {
            let block = stored.block(part.clone(), &mut room);
            assert!(part.clone().zip(0..block.rows()).all(|(row, at)| block.row(at) == wide.row(row)));
            assert!(part.clone().all(|row| *stored.row(row) == *wide.row(row)));
        }
        let (ids, weights) = ([3, 56, 3, 0, 17], [0.5, -1.0, 0.25, 2.0, 1.0]);
        let [mut one, mut other] = [vec![9.0; cols], vec![7.0; cols]];
        stored.gather_sum(&ids, &weights, &mut one);
        StoredMatrix::from(wide).gather_sum(&ids, &weights, &mut other);
        assert_eq!(one, other);
        assert!(one.iter().any(|&x| x != 0.0));
    }
}
