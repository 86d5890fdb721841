//! The best documents by product without a look at all of them: an index for large models.
//!
//! The vectors of a table are put into about √N lists around centres (k-means). A question goes through the lists whose
//! centres have the greatest products with it, and scores the documents in them as the full scan does, to the same bits.
//! How many lists those are is found when the index is made: enough to have nearly all of the documents that the full
//! scan finds for contexts of the model's own links. The share of them that it has is then measured on other such
//! contexts. There are two such tables: OUT vectors, by which the embedding ranks, and IN vectors, which the hybrid asks
//! for documents whose content predicts the words of a question.
//!
//! The index holds numbers of documents and no vectors, so it is small, and a wrong one can miss documents but cannot
//! misjudge one. It is made in the same way for any number of threads, which the graphs of common libraries are not:
//! `docs/lab/choices.md` has the comparison.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rayon::prelude::*;
use serde_json::json;

use crate::error::{Error, Result};
use crate::id::{DocRow, WordRow};
use crate::kernel::{
    Matrix, MatrixMut, Panels, Start, StoredMatrix, axpy, exp_all, ln, multiply, pack_transposed, scale, sum_of_squares,
};
use crate::model::sidecar::{self, Sidecar};
use crate::model::{Model, Vectors};
use crate::search::rank::{Best, Hit, products, top_batch};
use crate::search::{Query, Searcher};
use crate::storage::container::{Container, Tensor};

/// The name of the format.
const FORMAT: &str = "hyperdoc2vec index";
/// Its version.
const VERSION: u32 = 3;
/// The vectors that it is made from.
const FROM: &[Vectors] = &[Vectors::DocOut, Vectors::WordIn, Vectors::DocIn, Vectors::WordOut];

/// A table of documents with lists, and what is asked of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// OUT vectors, asked with the IN vectors of words.
    Out,
    /// IN vectors, asked with the OUT vectors of words.
    Content,
}

impl Table {
    const ALL: [Table; 2] = [Table::Out, Table::Content];

    /// The vectors of documents.
    pub fn documents(self) -> Vectors {
        [Vectors::DocOut, Vectors::DocIn][self as usize]
    }

    /// The vectors of the words of questions.
    pub fn words(self) -> Vectors {
        [Vectors::WordIn, Vectors::WordOut][self as usize]
    }

    /// Centres, ends of lists, documents.
    fn arrays(self) -> [&'static str; 3] {
        [["centres", "ends", "rows"], ["content.centres", "content.ends", "content.rows"]][self as usize]
    }
}

/// Vectors a centre that centres are fitted to.
const SAMPLE: usize = 64;
/// Times that centres move.
const PASSES: usize = 8;
/// Rows whose lists are found together, and rows that are scored together.
const BLOCK: usize = 48;
/// How many rows ahead the memory is asked for.
const ROWS_AHEAD: usize = 12;
/// Contexts of links that are asked; each other one to choose, the rest to check.
const QUESTIONS: usize = 512;
/// The share of the exact hits that is aimed at.
const AIM: f64 = 0.98;
/// For how many hits the lists are chosen; for more, all documents are looked at.
pub const WANTED: [usize; 2] = [10, 100];
/// The share of the exact hits that is aimed at where they are candidates: most of those that the hybrid ranks first are
/// found by other rankings, too.
const CANDIDATES_AIM: f64 = 0.8;
/// For how many candidates the lists are chosen.
const CANDIDATES: usize = 64;
/// One in so many documents stands for the others where sums over all documents are estimated.
const SAMPLED: usize = 64;

/// An index, mapped.
#[derive(Debug)]
pub struct Index {
    container: Container,
    about: [About; 2],
    /// Made when first asked for.
    sample: OnceLock<Sample>,
}

/// Some documents of the OUT table, at regular steps through the lists.
#[derive(Debug)]
struct Sample {
    /// Documents, and the lists they are in.
    rows: Vec<(u32, u32)>,
    vectors: Vec<f32>,
}

/// Documents that an index found.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexHits {
    /// The best, with their exact scores.
    pub hits: Vec<Hit>,
    /// The scores of all documents that were looked at and are allowed.
    pub seen: Vec<f32>,
    /// The lists that were looked at, rising.
    lists: Vec<u32>,
}

/// The size and the quality of an index.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct About {
    /// How many lists there are.
    pub lists: usize,
    /// How many of them a question goes through, for each of [`WANTED`].
    pub looked_at: [usize; 2],
    /// How many of them it goes through for candidates of the hybrid.
    pub looked_at_for_candidates: usize,
    /// The share of the exact hits found, for each of [`WANTED`], over [`About::questions`] contexts that took no part
    /// in choosing.
    pub recall: [f64; 2],
    /// How many contexts were asked for that.
    pub questions: usize,
}

/// Where the index of a model is kept: beside it, under its name with `.index` behind.
pub fn path(model: &Model) -> PathBuf {
    sidecar::path(model, "index")
}

impl Index {
    /// Opens the index of `model` at `path`, if it is there and is one. All of it is read and checked: it is small.
    pub fn open(model: &Model, path: &Path) -> Result<Sidecar<Index>> {
        let fits = |container: Container| {
            let Ok(about) = serde_json::from_value(container.about()["index"].clone()) else { return Ok(None) };
            let index = Index { container, about, sample: OnceLock::new() };
            let fits = Table::ALL.into_iter().map(|table| index.fits(model, table)).collect::<Result<Vec<bool>>>()?;
            Ok((fits == [true, true]).then_some(index))
        };
        sidecar::open(model, path, (FORMAT, VERSION), FROM, fits)
    }

    fn fits(&self, model: &Model, table: Table) -> Result<bool> {
        let (about, [centres, ends, rows]) = (&self.about[table as usize], table.arrays());
        let (rows, ends) = (self.container.array::<u32>(rows)?, self.container.array::<u64>(ends)?);
        let documents = model.documents();
        Ok(self.container.shape(centres) == [about.lists, model.params().dim]
            && about.looked_at.iter().all(|&lists| lists <= about.lists)
            && about.looked_at_for_candidates <= about.lists
            && ends.len() == about.lists
            && ends.is_sorted()
            && ends.last().map_or(0, |&end| end as usize) == documents
            && rows.len() == documents
            && rows.iter().all(|&row| (row as usize) < documents))
    }

    /// Its size and quality, as the embedding is ranked by it.
    pub fn about(&self) -> &About {
        &self.about[Table::Out as usize]
    }

    /// Makes the index of a model, writes it to `path`, where it replaces nothing but an index, and opens it. Any number
    /// of threads gives the same bytes.
    pub fn build(model: &Model, path: &Path) -> Result<Index> {
        let searcher = &Searcher::new(model);
        searcher.can_embed()?;
        let made = Table::ALL.map(|table| {
            let vectors = model.vectors(table.documents());
            let count = (vectors.rows() as f64).sqrt().ceil() as usize;
            let centres = centres(vectors, count);
            let lists = nearest_lists(vectors, centres.as_matrix());
            let about = check(searcher, table, &centres, &lists)?;
            let (ends, rows) = grouped(&lists, count);
            Ok((centres, ends, rows, about))
        });
        let [out, content] = made;
        let made = [out?, content?];
        let mut tensors = Vec::new();
        for (table, (centres, ends, rows, _)) in Table::ALL.into_iter().zip(&made) {
            let names = table.arrays();
            tensors.push(Tensor::matrix(names[0], &centres.numbers, centres.dim));
            tensors.push(Tensor::u64s(names[1], ends));
            tensors.push(Tensor::u32s(names[2], rows));
        }
        let about = [&made[0].3, &made[1].3];
        let about = json!({"model": sidecar::fingerprint(model, FROM), "index": about});
        sidecar::write(path, (FORMAT, VERSION), &tensors, about)?;
        match Index::open(model, path)? {
            Sidecar::Whole(index) => Ok(index),
            _ => Err(Error::Damaged { path: path.to_owned(), what: "was altered while it was written".to_owned() }),
        }
    }

    /// About the best `wanted` of the documents `allowed`, with their exact scores. `None` where the index cannot
    /// answer: more are wanted than it was made for, or less than half of the documents it looked at are allowed.
    ///
    /// # Panics
    /// If the vector has another length than those of the model.
    pub fn top(
        &self,
        model: &Model,
        table: Table,
        vector: &[f32],
        wanted: usize,
        allowed: impl Fn(usize) -> bool,
    ) -> Result<Option<IndexHits>> {
        let Some(level) = WANTED.iter().position(|&most| wanted <= most) else { return Ok(None) };
        self.look(model, (table, self.about[table as usize].looked_at[level]), vector, wanted, allowed)
    }

    /// As [`Index::top`], for candidates of the hybrid: fewer lists are looked at.
    pub fn candidates(
        &self,
        model: &Model,
        table: Table,
        vector: &[f32],
        wanted: usize,
        allowed: impl Fn(usize) -> bool,
    ) -> Result<Option<IndexHits>> {
        let lists = self.about[table as usize].looked_at_for_candidates;
        self.look(model, (table, lists), vector, wanted, allowed)
    }

    fn look(
        &self,
        model: &Model,
        (table, lists): (Table, usize),
        vector: &[f32],
        wanted: usize,
        allowed: impl Fn(usize) -> bool,
    ) -> Result<Option<IndexHits>> {
        let [centres, ends, rows] = table.arrays();
        let (rows, ends) = (self.container.array::<u32>(rows)?, self.container.array::<u64>(ends)?);
        let about = &self.about[table as usize];
        let documents = model.stored_vectors(table.documents());
        let dim = documents.cols();
        let centres = Matrix::new(self.container.array::<f32>(centres)?, about.lists, dim, dim);
        let mut scorer = Scorer::new(vector);
        let mut best = Best::new(wanted);
        let (mut seen, mut looked_at) = (Vec::new(), 0);
        let nearest = nearest_first(vector, centres, lists);
        for list in &nearest {
            let list = list.row as usize;
            let start = if list == 0 { 0 } else { ends[list - 1] as usize };
            looked_at += ends[list] as usize - start;
            for rows in rows[start..ends[list] as usize].chunks(BLOCK) {
                for (&row, &score) in rows.iter().zip(scorer.scores(documents, rows)) {
                    if allowed(row as usize) {
                        best.add(Hit { row, score });
                        seen.push(score);
                    }
                }
            }
        }
        // Where few are allowed, those that are wanted lie further away than the lists that were chosen.
        let enough = seen.len() >= wanted.min(model.documents()) && 2 * seen.len() >= looked_at;
        let mut lists: Vec<u32> = nearest.iter().map(|list| list.row).collect();
        lists.sort_unstable();
        Ok(enough.then(|| IndexHits { hits: best.finish(), seen, lists }))
    }

    /// The logarithm of the sum over documents of the exponentials of their scores less `best`: exact for the documents
    /// that were looked at, estimated from a sample for the others.
    pub fn log_total(
        &self,
        model: &Model,
        vector: &[f32],
        found: &IndexHits,
        best: f32,
        allowed: impl Fn(usize) -> bool,
    ) -> Result<f32> {
        let out = model.stored_vectors(Vectors::DocOut);
        let sample = match self.sample.get() {
            Some(sample) => sample,
            None => {
                let made = self.take_sample(out)?;
                self.sample.get_or_init(|| made)
            }
        };
        let mut shares: Vec<f32> = found.seen.iter().map(|score| (score - best).max(-80.0)).collect();
        exp_all(&mut shares);
        let seen = shares.iter().fold(0.0f32, |sum, share| sum + share);
        let scores = products(vector, Matrix::new(&sample.vectors, sample.rows.len(), out.cols(), out.cols()));
        let others = sample.rows.iter().zip(scores);
        let others =
            others.filter(|((row, list), _)| found.lists.binary_search(list).is_err() && allowed(*row as usize));
        shares.clear();
        shares.extend(others.map(|(_, score)| (score - best).clamp(-80.0, 0.0)));
        exp_all(&mut shares);
        let others = shares.iter().fold(0.0f32, |sum, share| sum + share);
        Ok(ln((seen + SAMPLED as f32 * others).max(1.0)))
    }

    fn take_sample(&self, out: StoredMatrix<'_>) -> Result<Sample> {
        let [_, ends, rows] = Table::Out.arrays();
        let (all, ends) = (self.container.array::<u32>(rows)?, self.container.array::<u64>(ends)?);
        let list = |place: usize| ends.partition_point(|&end| end as usize <= place) as u32;
        let places = (SAMPLED / 2..all.len()).step_by(SAMPLED);
        let rows: Vec<(u32, u32)> = places.map(|place| (all[place], list(place))).collect();
        let vectors = rows.iter().flat_map(|&(row, _)| out.row(row as usize).into_owned()).collect();
        Ok(Sample { rows, vectors })
    }
}

/// The products of one vector with some rows of a table, to the bits of a full scan.
pub struct Scorer<'v> {
    vector: &'v [f32],
    packed: Vec<f32>,
    block: Vec<f32>,
    scores: [f32; BLOCK],
}

impl<'v> Scorer<'v> {
    /// For a vector.
    pub fn new(vector: &'v [f32]) -> Scorer<'v> {
        let dim = vector.len();
        let packed = vec![0.0; Panels::len(dim, 1)];
        Scorer { vector, packed, block: vec![0.0; BLOCK * dim], scores: [0.0; BLOCK] }
    }

    /// The products with at most [`BLOCK`] rows.
    fn scores(&mut self, table: StoredMatrix<'_>, rows: &[u32]) -> &[f32] {
        let dim = self.vector.len();
        rows.iter().take(ROWS_AHEAD).for_each(|&row| table.prefetch(row as usize));
        for (number, (copy, &row)) in self.block.chunks_exact_mut(dim).zip(rows).enumerate() {
            rows.get(number + ROWS_AHEAD).into_iter().for_each(|&row| table.prefetch(row as usize));
            copy.copy_from_slice(&table.row(row as usize));
        }
        let panels = pack_transposed(Matrix::new(self.vector, 1, dim, dim), &mut self.packed);
        let (block, scores) = (Matrix::new(&self.block, rows.len(), dim, dim), &mut self.scores[..rows.len()]);
        multiply(block, panels, MatrixMut::new(scores, rows.len(), 1, 1), Start::Zero);
        &self.scores[..rows.len()]
    }

    /// The products with any number of rows.
    pub fn all(&mut self, table: StoredMatrix<'_>, rows: &[DocRow]) -> Vec<f32> {
        let mut scores = Vec::with_capacity(rows.len());
        DocRow::numbers(rows).chunks(BLOCK).for_each(|rows| scores.extend_from_slice(self.scores(table, rows)));
        scores
    }
}

/// The lists whose centres have the greatest products with a question.
fn nearest_first(vector: &[f32], centres: Matrix<'_>, count: usize) -> Vec<Hit> {
    crate::search::rank::top(&products(vector, centres), count, |_| true)
}

/// Centres, one row each.
struct Centres {
    numbers: Vec<f32>,
    dim: usize,
}

impl Centres {
    fn as_matrix(&self) -> Matrix<'_> {
        Matrix::new(&self.numbers, self.numbers.len() / self.dim, self.dim, self.dim)
    }
}

/// `count` centres of the rows: k-means on a regular sample, from a regular sample of that.
fn centres(rows: Matrix<'_>, count: usize) -> Centres {
    let dim = rows.cols();
    let sampled = rows.rows().min(count * SAMPLE);
    let sample: Vec<f32> = (0..sampled).flat_map(|i| rows.row(i * rows.rows() / sampled)).copied().collect();
    let sample = Matrix::new(&sample, sampled, dim, dim);
    let numbers = (0..count).flat_map(|i| sample.row(i * sampled / count)).copied().collect();
    let mut centres = Centres { numbers, dim };
    for _ in 0..PASSES {
        let lists = nearest_lists(sample, centres.as_matrix());
        let mut sums = vec![0.0f32; count * dim];
        let mut sizes = vec![0u32; count];
        for (row, &list) in lists.iter().enumerate() {
            axpy(1.0, sample.row(row), &mut sums[list as usize * dim..][..dim]);
            sizes[list as usize] += 1;
        }
        // A centre that nothing is near stays where it is.
        for ((sum, &size), centre) in sums.chunks_mut(dim).zip(&sizes).zip(centres.numbers.chunks_mut(dim)) {
            if size > 0 {
                scale(1.0 / size as f32, sum);
                centre.copy_from_slice(sum);
            }
        }
    }
    centres
}

/// For each row the centre it is nearest to: `|x − c|²` is least where `x·c − |c|²/2` is greatest.
fn nearest_lists(rows: Matrix<'_>, centres: Matrix<'_>) -> Vec<u32> {
    let count = centres.rows();
    let mut scratch = vec![0.0; Panels::len(centres.cols(), count)];
    let panels = pack_transposed(centres, &mut scratch);
    let halves: Vec<f32> = (0..count).map(|centre| sum_of_squares(centres.row(centre)) / 2.0).collect();
    let starts: Vec<usize> = (0..rows.rows()).step_by(BLOCK).collect();
    let lists = starts.par_iter().flat_map_iter(|&start| {
        let block = rows.row_range(start..rows.rows().min(start + BLOCK));
        let mut scores = vec![0.0; block.rows() * count];
        multiply(block, panels, MatrixMut::new(&mut scores, block.rows(), count, count), Start::Zero);
        let nearest = |scores: &[f32]| {
            let (mut best, mut list) = (f32::NEG_INFINITY, 0);
            for (number, (score, half)) in (0..).zip(scores.iter().zip(&halves)) {
                if score - half > best {
                    (best, list) = (score - half, number);
                }
            }
            list
        };
        scores.chunks(count).map(nearest).collect::<Vec<u32>>()
    });
    lists.collect()
}

/// Where each list ends, and the rows of the lists one after the other, rising in each.
fn grouped(lists: &[u32], count: usize) -> (Vec<u64>, Vec<u32>) {
    let mut ends = vec![0u64; count];
    lists.iter().for_each(|&list| ends[list as usize] += 1);
    let mut total = 0;
    for end in &mut ends {
        (total, *end) = (total + *end, total);
    }
    let mut rows = vec![0u32; lists.len()];
    for (row, &list) in (0..).zip(lists) {
        let place = &mut ends[list as usize];
        rows[*place as usize] = row;
        *place += 1;
    }
    (ends, rows)
}

/// Finds how many lists a question has to go through, and what share of the exact hits that gives.
fn check(searcher: &Searcher<'_>, table: Table, centres: &Centres, lists: &[u32]) -> Result<About> {
    let questions = questions(searcher, table)?;
    let dim = centres.dim;
    let asked = Matrix::new(&questions, questions.len() / dim, dim, dim);
    let documents = searcher.model().stored_vectors(table.documents());
    let count = centres.as_matrix().rows();
    let exact = top_batch(asked, documents, WANTED[1], |_, _| true);
    // For each question the place of each exact hit's list among those nearest to the question.
    let places = exact.par_iter().enumerate().map(|(question, hits)| {
        let mut places = vec![0; count];
        let order = nearest_first(asked.row(question), centres.as_matrix(), count);
        order.iter().enumerate().for_each(|(place, list)| places[list.row as usize] = place);
        hits.iter().map(|hit| places[lists[hit.row as usize] as usize]).collect::<Vec<usize>>()
    });
    let places: Vec<Vec<usize>> = places.collect();
    let recall = |wanted: usize, looked_at: usize, half: usize| {
        let asked = || places.iter().skip(half).step_by(2).flat_map(|places| places.iter().take(wanted));
        asked().filter(|&&place| place < looked_at).count() as f64 / asked().count().max(1) as f64
    };
    let enough =
        |wanted: usize, aim: f64| (1..count).find(|&looked_at| recall(wanted, looked_at, 0) >= aim).unwrap_or(count);
    let looked_at = WANTED.map(|wanted| enough(wanted, AIM));
    let checked = usize::from(places.len() > 1);
    Ok(About {
        lists: count,
        looked_at,
        looked_at_for_candidates: enough(CANDIDATES, CANDIDATES_AIM),
        recall: [0, 1].map(|level| (recall(WANTED[level], looked_at[level], checked) * 1e4).round() / 1e4),
        questions: places.iter().skip(checked).step_by(2).count(),
    })
}

/// Vectors of contexts of the model's links, at regular steps; of single words where it keeps no contexts.
fn questions(searcher: &Searcher<'_>, table: Table) -> Result<Vec<f32>> {
    let model = searcher.model();
    let (ends, links) = (searcher.links.ends, searcher.links.sources.len());
    let mut questions = Vec::new();
    let asked = links.min(QUESTIONS);
    for number in (0..asked).map(|question| question * links / asked) {
        let document = ends.partition_point(|&end| end as usize <= number);
        let first = if document == 0 { 0 } else { ends[document - 1] as usize };
        let Some(context) = searcher.links.contexts(DocRow(document as u32)).nth(number - first) else { continue };
        let rows: Vec<Option<WordRow>> = context.before.iter().chain(&context.after).copied().map(Some).collect();
        let query = Query::of_rows(&rows, Some(context.before.len()), model.words(), model.params().window);
        questions.extend(searcher.vector_of(&query, table.words())?.into_iter().flatten());
    }
    if questions.is_empty() {
        let words = model.vectors(table.words());
        let asked = words.rows().min(QUESTIONS);
        questions.extend((0..asked).flat_map(|question| words.row(question * words.rows() / asked)));
    }
    Ok(questions)
}
