//! The best of many: exact products of queries with all rows of a table, and a partial selection.
//!
//! A score is one chain of fused multiply-adds over the numbers of a vector, in order, so that a query has the same
//! scores alone, in any batch, and on any number of threads.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::kernel::{
    Matrix, MatrixMut, Panels, Start, StoredMatrix, multiply, pack_transposed, par_multiply, sum_of_squares,
};

/// A row and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The number of the document or word.
    pub row: u32,
    /// Higher is better.
    pub score: f32,
}

impl Hit {
    /// The better first; of equal scores the lower number.
    fn order(&self, other: &Hit) -> Ordering {
        // What is no number comes last.
        let rank = |score: f32| if score.is_nan() { f32::NEG_INFINITY } else { score };
        rank(other.score)
            .partial_cmp(&rank(self.score))
            .unwrap_or(Ordering::Equal)
            .then_with(|| self.row.cmp(&other.row))
    }
}

/// Collects hits and keeps the best `wanted` of them.
#[derive(Debug)]
pub struct Best {
    wanted: usize,
    hits: Vec<Hit>,
    /// The worst hit that is kept: a new one must be better.
    worst: Option<Hit>,
}

impl Best {
    /// Nothing yet.
    pub fn new(wanted: usize) -> Best {
        Best { wanted, hits: Vec::new(), worst: None }
    }

    /// Whether a score is too low for any row: a quick look before [`Best::add`].
    #[inline]
    fn is_below(&self, score: f32) -> bool {
        self.worst.is_some_and(|worst| score < worst.score)
    }

    /// One more.
    #[inline]
    pub fn add(&mut self, hit: Hit) {
        if self.worst.is_some_and(|worst| worst.order(&hit) == Ordering::Less) || self.wanted == 0 {
            return;
        }
        self.hits.push(hit);
        if self.hits.len() >= self.wanted.saturating_mul(2).max(64) {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        if self.hits.len() > self.wanted {
            let (_, worst, _) = self.hits.select_nth_unstable_by(self.wanted - 1, Hit::order);
            self.worst = Some(*worst);
            self.hits.truncate(self.wanted);
        }
    }

    /// The best, in order.
    pub fn finish(mut self) -> Vec<Hit> {
        self.shrink();
        self.hits.sort_unstable_by(Hit::order);
        self.hits
    }
}

/// The best `wanted` of the rows that are `allowed`; ties go to the lower number.
pub fn top(scores: &[f32], wanted: usize, allowed: impl Fn(usize) -> bool) -> Vec<Hit> {
    let mut best = Best::new(wanted);
    for (row, &score) in scores.iter().enumerate() {
        if !best.is_below(score) && allowed(row) {
            best.add(Hit { row: row as u32, score });
        }
    }
    best.finish()
}

/// The products of one query with all rows of `table`.
///
/// # Panics
/// If the query has another length than the rows.
pub fn products<'a>(query: &[f32], table: impl Into<StoredMatrix<'a>>) -> Vec<f32> {
    let table = table.into();
    let mut scratch = vec![0.0; Panels::len(query.len(), 1)];
    let panels = pack_transposed(Matrix::new(query, 1, query.len(), query.len()), &mut scratch);
    let mut scores = vec![0.0; table.rows()];
    match table {
        StoredMatrix::Single(table) => {
            par_multiply(table, panels, MatrixMut::new(&mut scores, table.rows(), 1, 1), Start::Zero);
        }
        StoredMatrix::Half { .. } => {
            scores.par_chunks_mut(ROWS).enumerate().for_each_init(Vec::new, |room, (block, scores)| {
                let rows = table.block(block * ROWS..block * ROWS + scores.len(), room);
                multiply(rows, panels, MatrixMut::new(scores, rows.rows(), 1, 1), Start::Zero);
            });
        }
    }
    scores
}

/// Queries that one thread works on together.
const QUERIES: usize = 96;
/// Rows of the table whose scores are looked at before the next come.
const ROWS: usize = 1008;

/// The best `wanted` rows of `table` for each query, of those that are `allowed(query, row)`.
///
/// # Panics
/// If queries have another length than rows.
pub fn top_batch<'a>(
    queries: Matrix<'_>,
    table: impl Into<StoredMatrix<'a>>,
    wanted: usize,
    allowed: impl Fn(usize, usize) -> bool + Sync,
) -> Vec<Vec<Hit>> {
    let table = table.into();
    let starts: Vec<usize> = (0..queries.rows()).step_by(QUERIES).collect();
    let block = |&start: &usize| {
        let block = queries.row_range(start..queries.rows().min(start + QUERIES));
        let mut best: Vec<Best> = (0..block.rows()).map(|_| Best::new(wanted)).collect();
        let mut scratch = vec![0.0; Panels::len(table.cols(), ROWS)];
        let (mut scores, mut room) = (vec![0.0; block.rows() * ROWS], Vec::new());
        for first in (0..table.rows()).step_by(ROWS) {
            let rows = table.block(first..table.rows().min(first + ROWS), &mut room);
            let panels = pack_transposed(rows, &mut scratch);
            multiply(block, panels, MatrixMut::new(&mut scores, block.rows(), rows.rows(), ROWS), Start::Zero);
            for (query, (best, scores)) in best.iter_mut().zip(scores.chunks(ROWS)).enumerate() {
                for (row, &score) in (first..).zip(&scores[..rows.rows()]) {
                    if !best.is_below(score) && allowed(start + query, row) {
                        best.add(Hit { row: row as u32, score });
                    }
                }
            }
        }
        best.into_iter().map(Best::finish).collect::<Vec<_>>()
    };
    starts.par_iter().flat_map_iter(block).collect()
}

/// The `wanted` rows nearest to row `row` by the cosine, itself left out; rows of zeros are near nothing.
///
/// # Panics
/// If there is no such row.
pub fn nearest(table: Matrix<'_>, row: usize, wanted: usize) -> Vec<Hit> {
    top(&cosines(table.row(row), table), wanted, |other| other != row)
}

/// The `wanted` rows nearest to a vector by the cosine.
pub fn nearest_to(table: Matrix<'_>, vector: &[f32], wanted: usize) -> Vec<Hit> {
    top(&cosines(vector, table), wanted, |_| true)
}

/// The cosine of a vector with each row; 0 for rows of zeros.
fn cosines(vector: &[f32], table: Matrix<'_>) -> Vec<f32> {
    let mut scores = products(vector, table);
    let own = sum_of_squares(vector).sqrt();
    for (row, score) in scores.iter_mut().enumerate() {
        let both = own * sum_of_squares(table.row(row)).sqrt();
        *score = if both > 0.0 { *score / both } else { 0.0 };
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn rows(hits: &[Hit]) -> Vec<u32> {
        hits.iter().map(|hit| hit.row).collect()
    }

    #[test]
    fn the_best_come_in_order_and_ties_go_to_the_lower_number() {
        let scores = [1.0, 3.0, 2.0, 3.0, -1.0, 0.0, -0.0];
        assert_eq!(rows(&top(&scores, 4, |_| true)), [1, 3, 2, 0]);
        assert_eq!(rows(&top(&scores, 99, |_| true)), [1, 3, 2, 0, 5, 6, 4]);
        assert_eq!(rows(&top(&scores, 2, |row| row != 1)), [3, 2]);
        assert!(top(&scores, 3, |_| false).is_empty() && top(&scores, 0, |_| true).is_empty());
        assert!(top(&[], 3, |_| true).is_empty());
        assert_eq!(rows(&top(&[f32::NAN, -5.0, f32::NEG_INFINITY], 3, |_| true)), [1, 0, 2]);
    }

    #[test]
    fn many_equal_scores_leave_the_lowest_numbers() {
        let scores: Vec<f32> = (0..5000).map(|row| if row % 2 == 0 { 1.0 } else { 2.0 }).collect();
        assert_eq!(rows(&top(&scores, 5, |_| true)), [1, 3, 5, 7, 9]);
        assert_eq!(top(&scores, 2501, |_| true)[2500], Hit { row: 0, score: 1.0 });
    }

    #[test]
    fn a_query_scores_the_same_alone_and_in_a_batch() {
        let mut rng = Rng::keyed(1, &[7]);
        let mut numbers = |count: usize| (0..count).map(|_| rng.unit() - 0.5).collect::<Vec<f32>>();
        let (table, queries) = (numbers(2500 * 20), numbers(200 * 20));
        let table = Matrix::new(&table, 2500, 20, 20);
        let batch = top_batch(Matrix::new(&queries, 200, 20, 20), table, 7, |query, row| row % 50 != query % 50);
        assert_eq!(batch.len(), 200);
        for (query, hits) in batch.iter().enumerate() {
            let scores = products(&queries[query * 20..][..20], table);
            assert_eq!(*hits, top(&scores, 7, |row| row % 50 != query % 50), "query {query}");
        }
    }
}
