//! Views of row-major matrices: a slice, a shape and the distance from one row to the next.

use std::ops::Range;

/// A matrix to read: row `i` begins at `data[i * stride]` and has `cols` numbers.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    data: &'a [f32],
    rows: usize,
    cols: usize,
    stride: usize,
}

/// A matrix to write, laid out as [`Matrix`].
#[derive(Debug)]
pub struct MatrixMut<'a> {
    data: &'a mut [f32],
    rows: usize,
    cols: usize,
    stride: usize,
}

/// Panics unless `rows` rows of `cols` numbers, `stride` apart, lie within `len` numbers.
fn check(len: usize, rows: usize, cols: usize, stride: usize) {
    assert!(cols <= stride || rows <= 1, "rows of {cols} numbers overlap at a stride of {stride}");
    let needed = if rows == 0 { 0 } else { (rows - 1) * stride + cols };
    assert!(needed <= len, "{rows} rows of {cols} numbers, {stride} apart, need {needed} numbers, found {len}");
}

impl<'a> Matrix<'a> {
    /// A view of `rows` rows of `cols` numbers that begin `stride` numbers apart.
    ///
    /// # Panics
    /// If the rows overlap or reach beyond `data`.
    pub fn new(data: &'a [f32], rows: usize, cols: usize, stride: usize) -> Matrix<'a> {
        check(data.len(), rows, cols, stride);
        Matrix { data, rows, cols, stride }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `i`.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &'a [f32] {
        debug_assert!(i < self.rows);
        &self.data[i * self.stride..][..self.cols]
    }

    /// The rows `rows`, all columns.
    ///
    /// # Panics
    /// If there are fewer rows.
    pub fn row_range(&self, rows: Range<usize>) -> Matrix<'a> {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "rows {rows:?} of {}", self.rows);
        let data = self.data.get(rows.start * self.stride..).unwrap_or(&[]);
        Matrix { data, rows: rows.len(), ..*self }
    }

    /// The columns `cols`, all rows.
    ///
    /// # Panics
    /// If there are fewer columns.
    pub fn col_range(&self, cols: Range<usize>) -> Matrix<'a> {
        assert!(cols.start <= cols.end && cols.end <= self.cols, "columns {cols:?} of {}", self.cols);
        let data = self.data.get(cols.start..).unwrap_or(&[]);
        Matrix { data, cols: cols.len(), ..*self }
    }
}

impl<'a> MatrixMut<'a> {
    /// A view of `rows` rows of `cols` numbers that begin `stride` numbers apart.
    ///
    /// # Panics
    /// If the rows overlap or reach beyond `data`.
    pub fn new(data: &'a mut [f32], rows: usize, cols: usize, stride: usize) -> MatrixMut<'a> {
        check(data.len(), rows, cols, stride);
        MatrixMut { data, rows, cols, stride }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `i`.
    #[inline(always)]
    pub fn row_mut(&mut self, i: usize) -> &mut [f32] {
        debug_assert!(i < self.rows);
        &mut self.data[i * self.stride..][..self.cols]
    }

    /// Row `i`, to read.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &[f32] {
        debug_assert!(i < self.rows);
        &self.data[i * self.stride..][..self.cols]
    }

    /// The first `mid` rows and the others: two views that two threads may write at once.
    ///
    /// # Panics
    /// If there are fewer rows than `mid`.
    pub fn split_at_row(self, mid: usize) -> (MatrixMut<'a>, MatrixMut<'a>) {
        assert!(mid <= self.rows, "row {mid} of {}", self.rows);
        let (head, tail) = self.data.split_at_mut((mid * self.stride).min(self.data.len()));
        let (rows, cols, stride) = (self.rows, self.cols, self.stride);
        (MatrixMut { data: head, rows: mid, cols, stride }, MatrixMut { data: tail, rows: rows - mid, cols, stride })
    }
}
