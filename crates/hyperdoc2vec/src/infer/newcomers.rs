//! OUT vectors for documents that no link points at, from their content.
//!
//! Links teach a document's OUT vector; one without links learns only what it is not. What the linked documents have
//! learnt is carried over: a linear map from content to OUT vectors, fitted on them by ridge regression, a document
//! counting as often as it is linked to, up to [`MOST_LINKS`] times. Content is two vectors: the one inferred from the text
//! (see [`crate::infer`]) and the mean of its words' IN vectors. The fit shrinks what it is unsure of, so newcomers rarely
//! rank before documents with links.
//!
//! The regression is ours, because sums in a fixed order give a model the same bits for any number of threads.

use rayon::prelude::*;

use crate::corpus::view::View;
use crate::id::{DocRow, WordRow};
use crate::infer::{InferParams, Predict};
use crate::kernel::{Matrix, MatrixMut, axpy, gather_sum};
use crate::model::Model;
use crate::model::params::TrainParams;
use crate::model::tables::Tables;
use crate::model::weighting::{WeightRule, Weighting};
use crate::storage::container::Tensor;

/// More links to a document do not make it count more.
pub(crate) const MOST_LINKS: u32 = 50;
/// The ridge, in relation to the mean square of what is mapped.
const RIDGE: f64 = 1e-3;
/// Documents that the map is fitted on at the most, evenly taken.
const MOST_DOCUMENTS: usize = 20_000;
/// Documents for each number of the content; with fewer there is no map.
const DOCUMENTS_A_NUMBER: usize = 2;
/// Documents that are worked on before the next are.
const TOGETHER: usize = 512;

/// From content to OUT vectors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ContentMap {
    /// A row for each number of the inferred vector, of the mean, and one that is added.
    rows: Vec<f32>,
    dim: usize,
}

impl ContentMap {
    /// From its rows; `None` where they do not make up a map of vectors of `dim` numbers.
    pub(crate) fn new(rows: Vec<f32>, dim: usize) -> Option<ContentMap> {
        (rows.len() == (2 * dim + 1) * dim).then_some(ContentMap { rows, dim })
    }

    /// The map of a model; `None` in a model that was made without.
    pub(crate) fn of(model: &Model) -> Option<ContentMap> {
        ContentMap::new(model.optional("newcomer_out")?.to_vec(), model.params().dim)
    }

    /// Its array, to be written into a model.
    pub(crate) fn tensor(&self) -> Tensor<'_> {
        Tensor::matrix("newcomer_out", &self.rows, self.dim)
    }

    /// Its rows, one after the other.
    #[cfg(test)]
    pub fn rows(&self) -> &[f32] {
        &self.rows
    }

    /// The OUT vector that goes with the content.
    pub(crate) fn out(&self, inferred: &[f32], mean: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; self.dim];
        for (x, row) in inferred.iter().chain(mean).chain(&[1.0]).zip(self.rows.chunks_exact(self.dim)) {
            axpy(*x, row, &mut out);
        }
        out
    }
}

/// Gives every document of `view` without links to it an OUT vector from its content, and returns the map for
/// documents to come. `None`, and nothing is changed, where the method has no such vectors or links are too few.
pub(crate) fn fill(view: &View<'_>, tables: &mut Tables, params: &TrainParams) -> Option<ContentMap> {
    if !params.method.weighs_words() {
        return None;
    }
    let (dim, stride) = (params.dim, tables.input.stride());
    let links = view.links_to();
    let linked = || view.document_rows().filter(|document| links[document.index()] > 0);
    let count = linked().count();
    if count < DOCUMENTS_A_NUMBER * 2 * dim {
        return None;
    }
    let Tables { input, output } = tables;
    let (word_out, doc_out) = output.halves_mut();
    let word_out = Matrix::new(word_out, view.words.len(), dim, stride);
    let mut doc_out = MatrixMut::new(doc_out, view.documents.len(), dim, stride);
    let content = DocumentContent::new(view, input.words().col_range(0..dim), word_out, params)?;
    let linked: Vec<DocRow> = linked().step_by(count.div_ceil(MOST_DOCUMENTS)).collect();
    let mut fit = RidgeRegression::new(2 * dim + 1, dim);
    for block in linked.chunks(TOGETHER) {
        for (&document, (inferred, mean)) in block.iter().zip(content.of(block)) {
            let known: Vec<f32> = inferred.into_iter().chain(mean).chain([1.0]).collect();
            fit.add(&known, doc_out.row(document.index()), f64::from(links[document.index()].min(MOST_LINKS)));
        }
    }
    let map = ContentMap::new(fit.solve(dim)?, dim)?;
    let newcomers: Vec<DocRow> = view.document_rows().filter(|document| links[document.index()] == 0).collect();
    for block in newcomers.chunks(TOGETHER) {
        for (&document, (inferred, mean)) in block.iter().zip(content.of(block)) {
            doc_out.row_mut(document.index()).copy_from_slice(&map.out(&inferred, &mean));
        }
    }
    Some(map)
}

/// The content of documents, as vectors.
struct DocumentContent<'a> {
    view: &'a View<'a>,
    predict: Predict<'a>,
    words: Matrix<'a>,
    weighting: Weighting,
    steps: usize,
}

impl<'a> DocumentContent<'a> {
    /// With the IN and OUT vectors of the words.
    fn new(
        view: &'a View<'a>,
        word_in: Matrix<'a>,
        word_out: Matrix<'a>,
        params: &TrainParams,
    ) -> Option<DocumentContent<'a>> {
        let infer = InferParams::default();
        let predict = Predict::of(params, &infer, word_out, &view.counts)?;
        let weighting = Weighting::new(view, 1, WeightRule::of(params));
        Some(DocumentContent { view, predict, words: word_in, weighting, steps: infer.steps })
    }

    /// The inferred vector and the mean of the words of each of these documents.
    fn of(&self, documents: &[DocRow]) -> Vec<(Vec<f32>, Vec<f32>)> {
        let some = |documents: &[DocRow]| {
            let rows: Vec<Vec<WordRow>> =
                documents.iter().map(|&document| self.view.words_of(document).collect()).collect();
            let means: Vec<Vec<f32>> = rows.iter().map(|rows| self.mean(rows)).collect();
            self.predict.infer(&rows, self.steps).into_iter().zip(means).collect::<Vec<_>>()
        };
        documents.par_chunks(16).flat_map_iter(some).collect()
    }

    fn mean(&self, rows: &[WordRow]) -> Vec<f32> {
        let mut mean = vec![0.0; self.words.cols()];
        gather_sum(self.words, WordRow::numbers(rows), &self.weighting.of_text(rows), &mut mean);
        mean
    }
}

/// Weighted ridge regression of many numbers on some.
struct RidgeRegression {
    known: usize,
    wanted: usize,
    /// Sums of products of what is known with itself (a lower triangle), and with what is wanted.
    squares: Vec<f64>,
    products: Vec<f64>,
}

impl RidgeRegression {
    fn new(known: usize, wanted: usize) -> RidgeRegression {
        RidgeRegression { known, wanted, squares: vec![0.0; known * known], products: vec![0.0; known * wanted] }
    }

    fn add(&mut self, known: &[f32], wanted: &[f32], weight: f64) {
        for (i, &x) in known.iter().enumerate() {
            let x = weight * f64::from(x);
            let row = &mut self.squares[i * self.known..][..=i];
            row.iter_mut().zip(known).for_each(|(sum, &y)| *sum += x * f64::from(y));
            let row = &mut self.products[i * self.wanted..][..self.wanted];
            row.iter_mut().zip(wanted).for_each(|(sum, &y)| *sum += x * f64::from(y));
        }
    }

    /// A row for each known number, by Cholesky decomposition. Known numbers come in parts of `part`, each with a ridge by
    /// its own size; what is left over has none. `None` where there is no answer.
    fn solve(mut self, part: usize) -> Option<Vec<f32>> {
        let (n, wanted) = (self.known, self.wanted);
        for start in (0..n).step_by(part.max(1)).filter(|start| start + part <= n) {
            let mean = (start..start + part).map(|i| self.squares[i * n + i]).sum::<f64>() / part as f64;
            (start..start + part).for_each(|i| self.squares[i * n + i] += RIDGE * mean);
        }
        let a = &mut self.squares;
        for i in 0..n {
            for j in 0..=i {
                let sum = a[i * n + j] - (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum::<f64>();
                if i != j {
                    a[i * n + j] = sum / a[j * n + j];
                } else if sum > 0.0 && sum.is_finite() {
                    a[i * n + i] = sum.sqrt();
                } else {
                    return None;
                }
            }
        }
        let b = &mut self.products;
        let mut settle = |i: usize, others: &mut dyn Iterator<Item = (usize, f64)>, own: f64| {
            for (k, factor) in others {
                for c in 0..wanted {
                    b[i * wanted + c] -= factor * b[k * wanted + c];
                }
            }
            b[i * wanted..][..wanted].iter_mut().for_each(|x| *x /= own);
        };
        for i in 0..n {
            settle(i, &mut (0..i).map(|k| (k, a[i * n + k])), a[i * n + i]);
        }
        for i in (0..n).rev() {
            settle(i, &mut (i + 1..n).map(|k| (k, a[k * n + i])), a[i * n + i]);
        }
        Some(self.products.iter().map(|&x| x as f32).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_is_found_again() {
        // y = (2a − b + 3, a), from points that lie on it; weights change nothing then.
        let mut fit = RidgeRegression::new(3, 2);
        for (i, (a, b)) in [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (-1.0, 2.0), (3.0, 1.0)].into_iter().enumerate() {
            fit.add(&[a, b, 1.0], &[2.0 * a - b + 3.0, a], 1.0 + i as f64);
        }
        // Parts longer than all have no ridge.
        let found = fit.solve(9).expect("an answer");
        let expected = [2.0, 1.0, -1.0, 0.0, 3.0, 0.0];
        assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-5), "{found:?}");
        assert_eq!(RidgeRegression::new(2, 1).solve(9), None, "without points");
    }

    #[test]
    fn a_map_adds_what_each_number_brings() {
        let map = ContentMap::new(vec![1.0, 2.0, 3.0], 1).expect("a map");
        assert_eq!(map.out(&[10.0], &[100.0]), [213.0]);
        assert_eq!(ContentMap::new(vec![1.0; 4], 1), None);
    }
}
