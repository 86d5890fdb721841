//! The scores of documents by one ranking: of all of them, or, where there are very many, of those that are looked at.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Scope;
use super::signals::CANDIDATES;
use crate::error::Result;
use crate::id::{DocRow, WordRow};
use crate::kernel::{exp_all, ln};
use crate::search::Searcher;
use crate::search::approximate::{IndexHits, Scorer, Table};
use crate::search::maxscore::{BestByWords, ScoredRows, WantedHits};
use crate::search::rank::{Hit, products, top};

/// Sums are looked at one by one where no more than one document in so many has one.
const TOUCHED_ONE_IN: usize = 16;

/// The scores of one ranking, the places of the best, and its candidates.
pub(super) struct RankingScores {
    scores: Scores,
    places: BTreeMap<DocRow, usize>,
    pub best: f32,
    pub candidates: Vec<DocRow>,
}

enum Scores {
    /// Of each document.
    All(Vec<f32>),
    /// Of these documents, which rise.
    Some(Rc<[DocRow]>, Vec<f32>),
    /// Of all documents the same.
    Same(f32),
}

impl RankingScores {
    pub(super) fn new(scores: Vec<f32>, wanted: usize, scope: Scope<'_>) -> RankingScores {
        RankingScores::above(f32::NEG_INFINITY, scores, wanted, scope)
    }

    /// Documents with scores that are not above `least` have no place.
    pub(super) fn above(least: f32, scores: Vec<f32>, wanted: usize, scope: Scope<'_>) -> RankingScores {
        let ranking = RankingScores::of_scored(|place| place as u32, &scores, least, wanted, scope);
        RankingScores { scores: Scores::All(scores), ..ranking }
    }

    /// Of some documents, which rise; all others have the score 0, and no place.
    pub(super) fn of_some(scored: Vec<(DocRow, f32)>, wanted: usize, scope: Scope<'_>) -> RankingScores {
        let (rows, scores): (Vec<DocRow>, Vec<f32>) = scored.into_iter().unzip();
        let ranking = RankingScores::of_scored(|place| rows[place].0, &scores, 0.0, wanted, scope);
        RankingScores { scores: Scores::Some(rows.into(), scores), ..ranking }
    }

    fn of_scored(
        row_at: impl Fn(usize) -> u32,
        scores: &[f32],
        least: f32,
        wanted: usize,
        scope: Scope<'_>,
    ) -> RankingScores {
        let best = |allowed: &dyn Fn(usize) -> bool| {
            let may_be = |place: usize| {
                let row = row_at(place) as usize;
                scores[place] > least && (scope.eligible)(row) && allowed(row)
            };
            let mut hits = top(scores, wanted, may_be);
            hits.iter_mut().for_each(|hit| hit.row = row_at(hit.row as usize));
            hits
        };
        let ranking = RankingScores::of_best(best(&|_| true));
        if ranking.candidates.iter().all(|row| (scope.allowed)(row.index())) {
            return ranking;
        }
        RankingScores { candidates: doc_rows(&best(&scope.allowed)), ..ranking }
    }

    /// The best documents, all of which may be hits. The scores of others are told by [`RankingScores::tell`].
    pub(super) fn of_best(hits: Vec<Hit>) -> RankingScores {
        let mut by_row: Vec<&Hit> = hits.iter().collect();
        by_row.sort_unstable_by_key(|hit| hit.row);
        let (rows, scores): (Vec<DocRow>, Vec<f32>) = by_row.iter().map(|hit| (DocRow(hit.row), hit.score)).unzip();
        RankingScores {
            scores: Scores::Some(rows.into(), scores),
            best: hits.first().map_or(0.0, |hit| hit.score),
            candidates: doc_rows(&hits),
            places: hits.iter().zip(0..).map(|(hit, place)| (DocRow(hit.row), place)).collect(),
        }
    }

    /// All documents have the same score, and none has a place.
    pub(super) fn same(score: f32) -> RankingScores {
        RankingScores { scores: Scores::Same(score), ..RankingScores::of_best(Vec::new()) }
    }

    /// The scores of the documents that will be asked for.
    pub(super) fn tell(&mut self, rows: &Rc<[DocRow]>, scores: Vec<f32>) {
        self.scores = Scores::Some(rows.clone(), scores);
    }

    pub(super) fn of(&self, row: DocRow) -> f32 {
        match &self.scores {
            Scores::All(scores) => scores[row.index()],
            Scores::Some(rows, scores) => rows.binary_search(&row).map_or(0.0, |place| scores[place]),
            Scores::Same(score) => *score,
        }
    }

    pub(super) fn below_best(&self, row: DocRow) -> f32 {
        self.of(row) - self.best
    }

    pub(super) fn relative(&self, row: DocRow) -> f32 {
        if self.best > 0.0 { self.of(row) / self.best } else { 0.0 }
    }

    pub(super) fn log_rank(&self, row: DocRow) -> f32 {
        ln(1.0 + self.places.get(&row).map_or(2 * CANDIDATES, |&place| place) as f32)
    }

    /// The best documents with their places, the best first.
    pub(super) fn in_order(&self) -> Vec<DocRow> {
        let mut best: Vec<(usize, DocRow)> = self.places.iter().map(|(&row, &place)| (place, row)).collect();
        best.sort_unstable();
        best.into_iter().map(|(_, row)| row).collect()
    }
}

/// Sums over documents, most of which nothing is added to.
pub(super) struct SparseSums {
    sums: Vec<f32>,
    /// The documents that something was added to.
    touched: Vec<DocRow>,
}

impl SparseSums {
    pub(super) fn new(documents: usize) -> SparseSums {
        SparseSums { sums: vec![0.0; documents], touched: Vec::new() }
    }

    /// Adds what is above 0.
    #[inline]
    pub(super) fn add(&mut self, document: DocRow, number: f32) {
        let sum = &mut self.sums[document.index()];
        if *sum == 0.0 {
            self.touched.push(document);
        }
        *sum += number;
    }

    /// The documents by their sums; those that nothing was added to have no place.
    pub(super) fn ranking(mut self, wanted: usize, scope: Scope<'_>) -> RankingScores {
        // Where many were touched, a look at all is faster than to sort those.
        if self.touched.len() > self.sums.len() / TOUCHED_ONE_IN {
            return RankingScores::above(0.0, self.sums, wanted, scope);
        }
        self.touched.sort_unstable();
        self.touched.dedup();
        let scored = self.touched.iter().map(|&document| (document, self.sums[document.index()])).collect();
        RankingScores::of_some(scored, wanted, scope)
    }
}

fn doc_rows(hits: &[Hit]) -> Vec<DocRow> {
    hits.iter().map(|hit| DocRow(hit.row)).collect()
}

/// A vector that documents are ranked by.
pub(super) struct VectorRanking {
    table: Table,
    /// Nothing where no vector is known.
    vector: Option<Vec<f32>>,
    pub scores: RankingScores,
    /// Where not all documents were looked at: those that were.
    pub found: Option<IndexHits>,
}

impl VectorRanking {
    /// The best `wanted` documents of a table by their products with a vector, by the index where it can answer; without a
    /// vector, all have the score `unknown`.
    pub(super) fn new(
        searcher: &Searcher<'_>,
        (table, vector, unknown): (Table, Option<Vec<f32>>, f32),
        wanted: usize,
        scope: Scope<'_>,
    ) -> Result<VectorRanking> {
        let Some(some) = &vector else {
            return Ok(VectorRanking { table, vector, scores: RankingScores::same(unknown), found: None });
        };
        let found = by_index(searcher, table, some, wanted, scope)?;
        let scores = match &found {
            Some(found) => RankingScores::of_best(found.hits.clone()),
            None => {
                RankingScores::new(products(some, searcher.model().stored_vectors(table.documents())), wanted, scope)
            }
        };
        Ok(VectorRanking { table, vector, scores, found })
    }

    /// The best `wanted` documents by the sum of the scores of `one` and `weight` times those of `other`.
    pub(super) fn sum(
        searcher: &Searcher<'_>,
        one: &VectorRanking,
        (other, weight): (&VectorRanking, f32),
        wanted: usize,
        scope: Scope<'_>,
    ) -> Result<RankingScores> {
        let both = |rows: &[DocRow]| -> Vec<f32> {
            let scores = one.scores_of(searcher, rows).into_iter().zip(other.scores_of(searcher, rows));
            scores.map(|(one, other)| one + weight * other).collect()
        };
        if let (Some(_), Some(first), Some(second)) = (&one.found, &one.vector, &other.vector) {
            let vector: Vec<f32> = first.iter().zip(second).map(|(one, other)| one + weight * other).collect();
            // Sums of rounded scores are in another order than scores of sums: a few more are looked at.
            if let Some(found) = by_index(searcher, one.table, &vector, wanted + wanted / 4, scope)? {
                let mut rows: Vec<DocRow> = doc_rows(&found.hits);
                rows.sort_unstable();
                let scores = both(&rows);
                let at = |place: usize| rows[place].0;
                return Ok(RankingScores::of_scored(at, &scores, f32::NEG_INFINITY, wanted, scope));
            }
        }
        let all: Vec<DocRow> = (0..searcher.model().documents() as u32).map(DocRow).collect();
        Ok(RankingScores::new(both(&all), wanted, scope))
    }

    /// The scores of some documents.
    pub(super) fn scores_of(&self, searcher: &Searcher<'_>, rows: &[DocRow]) -> Vec<f32> {
        match (&self.found, &self.vector) {
            (Some(_), Some(vector)) => {
                Scorer::new(vector).all(searcher.model().stored_vectors(self.table.documents()), rows)
            }
            _ => rows.iter().map(|&row| self.scores.of(row)).collect(),
        }
    }

    /// Makes the scores of these documents known.
    pub(super) fn tell(&mut self, searcher: &Searcher<'_>, rows: &Rc<[DocRow]>) {
        if self.found.is_some() {
            self.scores.tell(rows, self.scores_of(searcher, rows));
        }
    }

    /// The logarithm of the sum over all documents of the exponentials of their scores less the best.
    pub(super) fn log_total(&self, searcher: &Searcher<'_>, eligible: &dyn Fn(usize) -> bool) -> Result<f32> {
        let (model, best) = (searcher.model(), self.scores.best);
        if let (Some(index), Some(found), Some(vector)) = (searcher.index(), &self.found, &self.vector) {
            return index.log_total(model, vector, found, best, eligible);
        }
        let rows = (0..model.documents()).filter(|&row| eligible(row));
        let mut shares: Vec<f32> = rows.map(|row| (self.scores.of(DocRow(row as u32)) - best).max(-80.0)).collect();
        exp_all(&mut shares);
        Ok(ln(shares.iter().fold(0.0f32, |sum, share| sum + share).max(1.0)))
    }
}

/// What an index finds, if there is one that can answer, and all of it may be hits.
fn by_index(
    searcher: &Searcher<'_>,
    table: Table,
    vector: &[f32],
    wanted: usize,
    scope: Scope<'_>,
) -> Result<Option<IndexHits>> {
    let Some(index) = searcher.index() else { return Ok(None) };
    let found = index.candidates(searcher.model(), table, vector, wanted, scope.eligible)?;
    Ok(found.filter(|found| found.hits.iter().all(|hit| (scope.allowed)(hit.row as usize))))
}

/// The words of a question with their weights, and the best documents by them.
pub(super) struct WordRankings {
    terms: Vec<(WordRow, [f32; 3])>,
    /// Nothing where the scores of all documents are known.
    scored: Option<ScoredRows<3>>,
}

impl WordRankings {
    /// Three rankings by texts and contexts, and three by texts alone, the best `wanted` documents by each.
    pub(super) fn new(
        searcher: &Searcher<'_>,
        terms: Vec<(WordRow, [f32; 3])>,
        wanted: WantedHits<3>,
        scope: Scope<'_>,
    ) -> Result<(WordRankings, [[RankingScores; 3]; 2])> {
        if !searcher.is_large() {
            let documents = searcher.model().documents();
            let [mut both, mut alone]: [[Vec<f32>; 3]; 2] =
                [0, 1].map(|_| std::array::from_fn(|_| vec![0.0; documents]));
            let with_contexts = both.each_mut().map(Vec::as_mut_slice);
            searcher.cited()?.add_scores_and_first(&terms, with_contexts, alone.each_mut().map(Vec::as_mut_slice));
            let mut wanted = wanted.into_iter().flatten();
            let mut ranking = |scores| RankingScores::above(0.0, scores, wanted.next().unwrap_or(0), scope);
            let rankings = [both.map(&mut ranking), alone.map(&mut ranking)];
            return Ok((WordRankings { terms, scored: None }, rankings));
        }
        let maxscore = searcher.maxscore()?;
        let BestByWords { hits, scored } = maxscore.best(&terms, wanted, scope.eligible);
        let all_allowed = hits.iter().flatten().flatten().all(|hit| (scope.allowed)(hit.row as usize));
        let mut rankings = hits.map(|hits| hits.map(RankingScores::of_best));
        if !all_allowed {
            let may_be = |row: usize| (scope.eligible)(row) && (scope.allowed)(row);
            let candidates = maxscore.best(&terms, wanted, &may_be).hits;
            for (ranking, hits) in rankings.iter_mut().flatten().zip(candidates.iter().flatten()) {
                ranking.candidates = doc_rows(hits);
            }
        }
        Ok((WordRankings { terms, scored: Some(scored) }, rankings))
    }

    /// The scores of some documents, which rise; `None` where those of all are known.
    pub(super) fn scores(&self, searcher: &Searcher<'_>, rows: &[DocRow]) -> Result<Option<[[Vec<f32>; 3]; 2]>> {
        let Some(scored) = &self.scored else { return Ok(None) };
        Ok(Some(searcher.maxscore()?.more_scores(&self.terms, rows, scored)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_few_documents_rank_as_those_of_all() {
        // Few, and so many that all are looked at.
        for (count, step) in [(9u32, 17), (60, 3)] {
            let (mut sums, mut all) = (SparseSums::new(200), vec![0.0f32; 200]);
            for number in 0..2 * count {
                let (row, added) = (number % count * step % 200, 1.0 / (1 + number * 7 % 5) as f32);
                sums.add(DocRow(row), added);
                all[row as usize] += added;
            }
            let eligible = |row: usize| row % 4 != 3;
            let scope = Scope::of(&eligible);
            let (found, expected) = (sums.ranking(5, scope), RankingScores::above(0.0, all, 5, scope));
            assert_eq!((&found.candidates, found.best), (&expected.candidates, expected.best));
            assert_eq!(found.candidates.len(), 5);
            for row in (0..200).map(DocRow) {
                assert_eq!((found.of(row), found.log_rank(row)), (expected.of(row), expected.log_rank(row)));
            }
        }
    }
}
