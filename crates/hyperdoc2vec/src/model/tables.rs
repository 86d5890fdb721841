//! Tables of vectors, one row for each word and, behind the words, for each document, that threads may change at once,
//! each its own rows.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::corpus::view::View;
use crate::error::Result;
use crate::id::{DocRow, WordRow};
use crate::kernel::{Matrix, MatrixMut, Rows, adagrad, adagrad_sum, prefetch};
use crate::model::params::TrainParams;
use crate::rng::Rng;
use crate::storage::huge_pages::HugeArray;

/// Vectors as a source (IN) and as a target (OUT), of words and documents.
#[derive(Debug)]
pub struct Tables {
    /// IN.
    pub input: Table,
    /// OUT.
    pub output: Table,
}

/// The key of the random numbers of the first vectors.
const FIRST_VECTORS: u64 = 0;

impl Tables {
    /// The tables of a new run: IN drawn evenly between ±0.5/dim, OUT all 0.
    ///
    /// Where PV-DM comes first, IN is twice as wide, as in gensim 4: of the link partners of eLife's documents 17.80 % in
    /// place of 17.51 are then among the 10 nearest (means of three seeds). The gensim of the paper's time had ±0.5/dim.
    pub fn first(view: &View<'_>, params: &TrainParams) -> Tables {
        let mut tables = Tables::zeros(view, params.dim);
        tables.input.fill_first(params);
        tables
    }

    /// The tables of a new run in files without names in `folder`: see [`Table::in_file`].
    pub(crate) fn first_in_file(view: &View<'_>, params: &TrainParams, folder: &Path) -> Result<Tables> {
        let table = || Table::in_file(view.words.len(), view.documents.len(), params.dim, folder);
        let mut tables = Tables { input: table()?, output: table()? };
        tables.input.fill_first(params);
        Ok(tables)
    }

    /// The part of the tables of a new run that has the words and `documents`, with so many rows of zeros behind them.
    pub(crate) fn first_part(
        words: usize,
        documents: Range<usize>,
        behind: usize,
        params: &TrainParams,
        folder: Option<&Path>,
    ) -> Result<Tables> {
        let table = || Table::like(words, documents.len() + behind, params.dim, folder);
        let (mut input, output) = (table()?, table()?);
        input.fill(0..words, params.dim, params.seed, FIRST_VECTORS);
        let rows = words..words + documents.len();
        input.fill_as(rows, words + documents.start, params, FIRST_VECTORS);
        Ok(Tables { input, output })
    }

    /// The same again, in memory or in files as these are.
    pub fn copy(&self) -> Result<Tables> {
        Ok(Tables { input: self.input.copy()?, output: self.output.copy()? })
    }

    /// A row of `dim` zeros for each word and document of `view`.
    pub fn zeros(view: &View<'_>, dim: usize) -> Tables {
        let table = || Table::new(view.words.len(), view.documents.len(), dim);
        Tables { input: table(), output: table() }
    }
}

/// Numbers a row is padded to a multiple of, with zeros.
const LANE: usize = 8;

/// Vectors, and for each the mean square of the gradients it has seen.
#[derive(Debug)]
pub struct Table {
    words: usize,
    documents: usize,
    stride: usize,
    numbers: HugeArray,
    squares: HugeArray,
    /// Where the file is that it is in, if it is in one.
    folder: Option<PathBuf>,
}

/// Rows are split among threads down to this many.
const ROWS_A_TASK: usize = 64;
/// How many rows ahead the memory is asked for.
const ROWS_AHEAD: usize = 4;

impl Table {
    /// A vector of `dim` zeros for each of so many words and documents.
    pub fn new(words: usize, documents: usize, dim: usize) -> Table {
        let (rows, stride) = (words + documents, dim.next_multiple_of(LANE));
        Table {
            words,
            documents,
            stride,
            numbers: HugeArray::zeros(rows * stride),
            squares: HugeArray::zeros(rows),
            folder: None,
        }
    }

    /// Zeros in files without names in `folder`, which the system may move out of memory: they may be larger than it.
    pub(crate) fn in_file(words: usize, documents: usize, dim: usize, folder: &Path) -> Result<Table> {
        let (rows, stride) = (words + documents, dim.next_multiple_of(LANE));
        let (numbers, squares) = (HugeArray::in_file(rows * stride, folder)?, HugeArray::in_file(rows, folder)?);
        Ok(Table { words, documents, stride, numbers, squares, folder: Some(folder.to_owned()) })
    }

    /// Zeros in files in `folder`, or, where there is none, in memory.
    pub(crate) fn like(words: usize, documents: usize, dim: usize, folder: Option<&Path>) -> Result<Table> {
        match folder {
            Some(folder) => Table::in_file(words, documents, dim, folder),
            None => Ok(Table::new(words, documents, dim)),
        }
    }

    /// The same again, in memory or in files as this one is.
    pub fn copy(&self) -> Result<Table> {
        let mut copy = Table::like(self.words, self.documents, self.stride, self.folder())?;
        copy.data_mut().copy_from_slice(self.data());
        copy.squares_mut().copy_from_slice(self.squares());
        Ok(copy)
    }

    /// Where the files are that it is in, if it is in any.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Copies a row, with its mean square, over another.
    pub(crate) fn copy_row(&mut self, from: usize, into: usize) {
        let stride = self.stride;
        self.data_mut().copy_within(from * stride..(from + 1) * stride, into * stride);
        let squares = self.squares.all_mut();
        squares[into] = squares[from];
    }

    /// Fills IN as a run begins.
    fn fill_first(&mut self, params: &TrainParams) {
        self.fill(0..self.rows(), params.dim, params.seed, FIRST_VECTORS);
        if params.method.phases()[0].is_dm() {
            self.data_mut().iter_mut().for_each(|x| *x *= 2.0);
        }
    }

    /// Fills rows with numbers even between ±0.5/dim; each row's follow from the seed and its number.
    pub fn fill(&mut self, rows: Range<usize>, dim: usize, seed: u64, purpose: u64) {
        for row in rows {
            self.fill_row(row, row, dim, &[seed, purpose]);
        }
    }

    /// Fills rows as if their numbers were those from `first` on.
    fn fill_as(&mut self, rows: Range<usize>, first: usize, params: &TrainParams, purpose: u64) {
        for (row, number) in rows.zip(first..) {
            self.fill_row(row, number, params.dim, &[params.seed, purpose]);
        }
    }

    /// Fills a row as if `number` were its own.
    fn fill_row(&mut self, row: usize, number: usize, dim: usize, &[seed, purpose]: &[u64; 2]) {
        let mut rng = Rng::keyed(seed, &[purpose, number as u64]);
        self.row_mut(row)[..dim].iter_mut().for_each(|x| *x = (rng.unit() - 0.5) / dim as f32);
    }

    /// Numbers in a row, padding included.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.words + self.documents
    }

    /// All rows, padding included.
    pub fn data(&self) -> &[f32] {
        self.numbers.all()
    }

    /// All rows, padding included.
    pub fn data_mut(&mut self) -> &mut [f32] {
        self.numbers.all_mut()
    }

    /// The mean square gradients, one for each row.
    pub fn squares_mut(&mut self) -> &mut [f32] {
        self.squares.all_mut()
    }

    /// The mean square gradients, one for each row.
    pub fn squares(&self) -> &[f32] {
        self.squares.all()
    }

    /// The whole table, padding included.
    pub fn matrix(&self) -> Matrix<'_> {
        Matrix::new(self.data(), self.rows(), self.stride, self.stride)
    }

    /// The rows of the words, padding included.
    pub fn words(&self) -> Matrix<'_> {
        Matrix::new(self.halves().0, self.words, self.stride, self.stride)
    }

    /// The rows of the documents, padding included.
    pub fn documents(&self) -> Matrix<'_> {
        Matrix::new(self.halves().1, self.documents, self.stride, self.stride)
    }

    /// The numbers of the words and those of the documents, padding included.
    pub fn halves(&self) -> (&[f32], &[f32]) {
        self.data().split_at(self.words * self.stride)
    }

    /// The numbers of the words and those of the documents, padding included, to write.
    pub fn halves_mut(&mut self) -> (&mut [f32], &mut [f32]) {
        let middle = self.words * self.stride;
        self.data_mut().split_at_mut(middle)
    }

    /// The whole table, padding included, to write.
    pub fn matrix_mut(&mut self) -> MatrixMut<'_> {
        let (rows, stride) = (self.rows(), self.stride);
        MatrixMut::new(self.data_mut(), rows, stride, stride)
    }

    /// The row of a word, padding included.
    #[inline]
    pub fn word(&self, word: WordRow) -> &[f32] {
        self.row(word.index())
    }

    /// The row of a document, padding included.
    #[inline]
    pub fn document(&self, document: DocRow) -> &[f32] {
        self.row(self.words + document.index())
    }

    /// One row, padding included.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.data()[row * self.stride..][..self.stride]
    }

    /// One row, padding included.
    pub fn row_mut(&mut self, row: usize) -> &mut [f32] {
        let stride = self.stride;
        &mut self.data_mut()[row * stride..][..stride]
    }

    /// Calls `change(i, row)` for each of `ids`, which rise strictly, on as many threads as the pool has.
    pub fn par_change(&mut self, ids: &[u32], change: &(impl Fn(usize, RowMut<'_>) + Sync)) {
        let stride = self.stride;
        let rows = Stretch { first: 0, data: self.numbers.all_mut(), squares: self.squares.all_mut(), stride };
        change_rows(ids, 0, rows, change);
    }
}

/// A row to change, and its mean square gradient.
pub struct RowMut<'a> {
    /// The vector, padding included.
    pub vector: &'a mut [f32],
    /// The mean square of its gradients.
    pub square: &'a mut f32,
    /// As long as the vector, for whatever the change needs.
    pub scratch: &'a mut [f32],
}

impl RowMut<'_> {
    /// One step against `gradient`: see [`adagrad`].
    pub fn adagrad(self, gradient: &[f32], rate: f32) {
        adagrad(gradient, self.vector, self.square, rate);
    }

    /// One step against the gradient in the scratch: see [`adagrad`].
    pub fn adagrad_scratch(self, rate: f32) {
        adagrad(self.scratch, self.vector, self.square, rate);
    }

    /// One step against the gradient `Σ weights[j] table[ids[j]]`: see [`adagrad_sum`].
    pub fn adagrad_sum(self, table: Matrix<'_>, ids: &[u32], weights: &[f32], rate: f32) {
        adagrad_sum((Rows { table, ids }, weights), self.scratch, self.vector, self.square, rate);
    }
}

/// Neighbouring rows of a table, to change.
struct Stretch<'a> {
    /// The number of the first row.
    first: usize,
    data: &'a mut [f32],
    squares: &'a mut [f32],
    stride: usize,
}

impl<'a> Stretch<'a> {
    /// The rows before `row`, and those from it on.
    fn split_at(self, row: usize) -> (Stretch<'a>, Stretch<'a>) {
        let Stretch { first, data, squares, stride } = self;
        let (low, high) = data.split_at_mut((row - first) * stride);
        let (low_squares, high_squares) = squares.split_at_mut(row - first);
        (
            Stretch { first, data: low, squares: low_squares, stride },
            Stretch { first: row, data: high, squares: high_squares, stride },
        )
    }
}

/// Calls `change(i, row)` for each of `ids`, numbered from `first` on: cuts the rows between two ids of the list and gives
/// each side to a thread.
fn change_rows(ids: &[u32], first: usize, rows: Stretch<'_>, change: &(impl Fn(usize, RowMut<'_>) + Sync)) {
    if ids.len() > ROWS_A_TASK {
        let middle = ids.len() / 2;
        let (low, high) = rows.split_at(ids[middle] as usize);
        rayon::join(
            || change_rows(&ids[..middle], first, low, change),
            || change_rows(&ids[middle..], first + middle, high, change),
        );
        return;
    }
    let Stretch { first: first_row, data, squares, stride } = rows;
    let mut scratch = vec![0.0; stride];
    for (index, &id) in ids.iter().enumerate() {
        if let Some(&ahead) = ids.get(index + ROWS_AHEAD) {
            let ahead = ahead as usize - first_row;
            prefetch(&data[ahead * stride..][..stride]);
            prefetch(&squares[ahead..ahead + 1]);
        }
        let row = id as usize - first_row;
        let vector = &mut data[row * stride..][..stride];
        change(first + index, RowMut { vector, square: &mut squares[row], scratch: &mut scratch });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_listed_row_is_changed_once_and_no_other() {
        let mut table = Table::new(1000, 0, 5);
        let ids: Vec<u32> = (0..1000).filter(|id| id % 3 == 1).collect();
        table.par_change(&ids, &|index, row| {
            row.vector[0] += 1.0;
            *row.square += index as f32;
        });
        for row in 0..1000 {
            let listed = row % 3 == 1;
            assert_eq!(table.row(row)[0], if listed { 1.0 } else { 0.0 });
            assert_eq!(table.squares()[row], if listed { (row / 3) as f32 } else { 0.0 });
        }
    }

    #[test]
    fn a_table_in_a_file_is_as_one_in_memory_and_so_is_its_copy() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut tables = [Table::new(3, 40, 13), Table::in_file(3, 40, 13, dir.path()).expect("room")];
        assert_eq!(std::fs::read_dir(dir.path()).expect("read").count(), 0, "the files have no names");
        for table in &mut tables {
            assert!(table.data().iter().chain(table.squares()).all(|&x| x == 0.0));
            table.fill(0..43, 13, 5, 6);
            table.par_change(&[2, 3, 42], &|index, row| *row.square = index as f32 + 1.0);
            table.copy_row(42, 0);
        }
        let copy = tables[1].copy().expect("room");
        assert_eq!((tables[0].folder(), tables[1].folder(), copy.folder()), (None, Some(dir.path()), Some(dir.path())));
        for other in [&tables[1], &copy] {
            assert_eq!((tables[0].data(), tables[0].squares()), (other.data(), other.squares()));
        }
        assert_eq!(tables[1].squares()[0], 3.0);
        tables[1].data_mut().fill(0.0);
        assert_eq!(tables[0].data(), copy.data(), "a copy is one of its own");
    }

    #[test]
    fn an_adagrad_step_by_hand() {
        let (mut vector, mut square) = ([1.0, 1.0], 0.5);
        RowMut { vector: &mut vector, square: &mut square, scratch: &mut [] }.adagrad(&[3.0, 4.0], 0.1);
        // mean(9, 16) = 12.5; 0.5 + 12.5 = 13
        assert_eq!(square, 13.0);
        let step = -0.1 / 13f32.sqrt();
        assert_eq!(vector, [step.mul_add(3.0, 1.0), step.mul_add(4.0, 1.0)]);
    }
}
