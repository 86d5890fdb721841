//! The best documents by product without a look at all of them: an index for large models.
//!
//! OUT vectors are put into about √N lists around centres (k-means). A question goes through the lists whose centres
//! have the greatest products with it, and scores the documents in them as the full scan does, to the same bits. How
//! many lists those are is found when the index is made: enough to have nearly all of the documents that the full scan
//! finds for contexts of the model's own links. The share of them that it has is then measured on other such contexts.
//!
//! The index holds numbers of documents and no vectors, so it is small, and a wrong one can miss documents but cannot
//! misjudge one. It is made in the same way for any number of threads, which the graphs of common libraries are not:
//! `docs/lab/choices.md` has the comparison.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::json;

use crate::error::{Error, Result};
use crate::id::{DocRow, WordRow};
use crate::kernel::{Matrix, MatrixMut, Panels, Start, axpy, multiply, pack_transposed, scale, sum_of_squares};
use crate::model::sidecar::{self, Sidecar};
use crate::model::{Model, Vectors};
use crate::search::rank::{Best, Hit, products, top_batch};
use crate::search::{Query, Searcher};
use crate::storage::container::{Container, Tensor};

/// The name of the format.
const FORMAT: &str = "hyperdoc2vec index";
/// Its version.
const VERSION: u32 = 2;
/// The vectors that it is made from.
const FROM: &[Vectors] = &[Vectors::DocOut, Vectors::WordIn];

/// Vectors a centre that centres are fitted to.
const SAMPLE: usize = 64;
/// Times that centres move.
const PASSES: usize = 8;
/// Rows whose lists are found together, and rows that are scored together.
const BLOCK: usize = 48;
/// Contexts of links that are asked; each other one to choose, the rest to check.
const QUESTIONS: usize = 512;
/// The share of the exact hits that is aimed at.
const AIM: f64 = 0.98;
/// For how many hits the lists are chosen; for more, all documents are looked at.
pub const WANTED: [usize; 2] = [10, 100];

/// An index, mapped.
#[derive(Debug)]
pub struct Index {
    container: Container,
    about: About,
}

/// The size and the quality of an index.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct About {
    /// How many lists there are.
    pub lists: usize,
    /// How many of them a question goes through, for each of [`WANTED`].
    pub looked_at: [usize; 2],
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
            let index = Index { container, about };
            Ok(index.fits(model)?.then_some(index))
        };
        sidecar::open(model, path, (FORMAT, VERSION), FROM, fits)
    }

    fn fits(&self, model: &Model) -> Result<bool> {
        let (rows, ends) = (self.container.array::<u32>("rows")?, self.container.array::<u64>("ends")?);
        let documents = model.documents();
        Ok(self.container.shape("centres") == [self.about.lists, model.params().dim]
            && self.about.looked_at.iter().all(|&lists| lists <= self.about.lists)
            && ends.len() == self.about.lists
            && ends.is_sorted()
            && ends.last().map_or(0, |&end| end as usize) == documents
            && rows.len() == documents
            && rows.iter().all(|&row| (row as usize) < documents))
    }

    /// Its size and quality.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Makes the index of a model, writes it to `path`, where it replaces nothing but an index, and opens it. Any number
    /// of threads gives the same bytes.
    pub fn build(model: &Model, path: &Path) -> Result<Index> {
        let searcher = &Searcher::new(model);
        searcher.can_embed()?;
        let out = model.vectors(Vectors::DocOut);
        let count = (out.rows() as f64).sqrt().ceil() as usize;
        let centres = centres(out, count);
        let lists = nearest_lists(out, centres.as_matrix());
        let (ends, rows) = grouped(&lists, count);
        let about = check(searcher, &centres, &lists)?;
        let tensors = [
            Tensor::matrix("centres", &centres.numbers, out.cols()),
            Tensor::u64s("ends", &ends),
            Tensor::u32s("rows", &rows),
        ];
        let about = json!({"model": sidecar::fingerprint(model, FROM), "index": about});
        sidecar::write(path, (FORMAT, VERSION), &tensors, about)?;
        match Index::open(model, path)? {
            Sidecar::Whole(index) => Ok(index),
            _ => Err(Error::Damaged { path: path.to_owned(), what: "was altered while it was written".to_owned() }),
        }
    }

    /// About the best `wanted` of the documents `allowed`, with their exact scores. `None` where the index cannot
    /// answer: more are wanted than it was made for, or too few of the documents it looked at are allowed.
    ///
    /// # Panics
    /// If the vector has another length than those of the model.
    pub fn top(
        &self,
        model: &Model,
        vector: &[f32],
        wanted: usize,
        allowed: impl Fn(usize) -> bool,
    ) -> Result<Option<Vec<Hit>>> {
        let Some(level) = WANTED.iter().position(|&most| wanted <= most) else { return Ok(None) };
        let (rows, ends) = (self.container.array::<u32>("rows")?, self.container.array::<u64>("ends")?);
        let centres = self.container.array::<f32>("centres")?;
        let out = model.stored_vectors(Vectors::DocOut);
        let dim = out.cols();
        let centres = Matrix::new(centres, self.about.lists, dim, dim);
        let mut packed = vec![0.0; Panels::len(dim, 1)];
        let panels = pack_transposed(Matrix::new(vector, 1, dim, dim), &mut packed);
        let (mut block, mut scores) = (vec![0.0; BLOCK * dim], [0.0; BLOCK]);
        let mut best = Best::new(wanted);
        let mut found = 0;
        for list in nearest_first(vector, centres, self.about.looked_at[level]) {
            let list = list.row as usize;
            let start = if list == 0 { 0 } else { ends[list - 1] as usize };
            for rows in rows[start..ends[list] as usize].chunks(BLOCK) {
                for (copy, &row) in block.chunks_exact_mut(dim).zip(rows) {
                    copy.copy_from_slice(&out.row(row as usize));
                }
                let (a, c) = (Matrix::new(&block, rows.len(), dim, dim), &mut scores[..rows.len()]);
                multiply(a, panels, MatrixMut::new(c, rows.len(), 1, 1), Start::Zero);
                for (&row, &score) in rows.iter().zip(&scores) {
                    if allowed(row as usize) {
                        best.add(Hit { row, score });
                        found += 1;
                    }
                }
            }
        }
        let enough = found >= wanted.min(model.documents());
        Ok(enough.then(|| best.finish()))
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
fn check(searcher: &Searcher<'_>, centres: &Centres, lists: &[u32]) -> Result<About> {
    let questions = questions(searcher)?;
    let dim = centres.dim;
    let asked = Matrix::new(&questions, questions.len() / dim, dim, dim);
    let out = searcher.model().vectors(Vectors::DocOut);
    let count = centres.as_matrix().rows();
    let exact = top_batch(asked, out, WANTED[1], |_, _| true);
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
    let enough = |wanted: usize| (1..count).find(|&looked_at| recall(wanted, looked_at, 0) >= AIM).unwrap_or(count);
    let looked_at = WANTED.map(enough);
    let checked = usize::from(places.len() > 1);
    Ok(About {
        lists: count,
        looked_at,
        recall: [0, 1].map(|level| (recall(WANTED[level], looked_at[level], checked) * 1e4).round() / 1e4),
        questions: places.iter().skip(checked).step_by(2).count(),
    })
}

/// Vectors of contexts of the model's links, at regular steps; of single words where it keeps no contexts.
fn questions(searcher: &Searcher<'_>) -> Result<Vec<f32>> {
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
        questions.extend(searcher.vector(&query)?.into_iter().flatten());
    }
    if questions.is_empty() {
        let words = model.vectors(Vectors::WordIn);
        let asked = words.rows().min(QUESTIONS);
        questions.extend((0..asked).flat_map(|question| words.row(question * words.rows() / asked)));
    }
    Ok(questions)
}
