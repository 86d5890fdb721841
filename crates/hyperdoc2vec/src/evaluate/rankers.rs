//! Asks one trained model for the targets of links.
//!
//! The text of a question is the words around the link. Links are no words, so neither the link asked for nor others
//! can leak; the link's own words, its anchor, are part of the text and can be left out.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::methods::{Ask, TargetVectors};
use super::passage::Passages;
use crate::corpus::cited_by::CitedBy;
use crate::corpus::view::View;
use crate::corpus::window::NearWord;
use crate::error::{Error, Result};
use crate::id::{DocId, WordRow};
use crate::infer::{InferParams, Predict};
use crate::kernel::{
    Matrix, MatrixMut, Panels, Start, axpy, dot, gather_sum, multiply, pack_transposed, prefetch, scale, sigmoid,
    sigmoid_all, sum_of_squares,
};
use crate::model::index::terms::{Field, Terms};
use crate::model::params::TrainParams;
use crate::model::tables::{Table, Tables};
use crate::model::weighting::{WeightRule, Weighting, keep_chances};
use crate::model::{Model, Vectors};
use crate::rng::{AliasTable, Rng};
use crate::search::rank::{Best, top, top_batch};
use crate::search::ranker::{LinkSource, Ranker, Scope};
use crate::search::{Hit, Query, Searcher};
use crate::train::rivals::npm::Frequencies;

/// Questions that are worked on before progress is reported.
const BLOCK: usize = 1024;
/// Key of the random numbers of inference.
const PURPOSE: u64 = 0x1f2e;
/// Gensim's learning rates for inference.
const FIRST_RATE: f32 = 0.1;
const LAST_RATE: f32 = 0.0001;
/// gensim's default number of steps then.
const STEPS_OF_2018: usize = 5;
/// Scores beyond this teach nothing, as in gensim.
const BOUND: f32 = 6.0;
/// Documents whose scores one thread holds at a time.
const ROWS: usize = 1008;

/// Links that are asked for, by their positions in the corpus.
#[derive(Clone, Copy)]
pub(crate) struct LinkQuestions<'a> {
    /// The training part.
    pub view: &'a View<'a>,
    /// Numbers of positions.
    pub positions: &'a [usize],
    /// Whether the links' own words are part of the questions.
    pub anchors: bool,
    /// How many hits are wanted.
    pub depth: usize,
}

/// Takes the number of questions done before a block, and the hits of its questions; may stop.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(usize, Vec<Vec<Hit>>) -> Result<ControlFlow<()>>;

impl LinkQuestions<'_> {
    /// Up to `window` known words on each side of a position.
    pub(super) fn context(&self, position: usize, window: usize) -> Vec<NearWord> {
        let place = self.view.corpus.position(position);
        let (before, after) = self.view.corpus.words(place.source).split_at(place.at);
        let before = if self.anchors { before } else { &before[..before.len() - place.anchor] };
        self.view.window(before, after, window).collect()
    }

    /// Asks block by block.
    fn blocks(&self, sink: Sink<'_>, mut ask: impl FnMut(&[usize]) -> Result<Vec<Vec<Hit>>>) -> Result<()> {
        for (block, positions) in self.positions.chunks(BLOCK).enumerate() {
            if sink(block * BLOCK, ask(positions)?)?.is_break() {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }

    /// The best rows of `targets` that are `candidates` for each of the queries; nothing for one that is all zeros: no
    /// word of it is known.
    fn nearest(&self, queries: &[f32], targets: Matrix<'_>, candidates: &[bool]) -> Vec<Vec<Hit>> {
        let stride = targets.cols();
        let table = Matrix::new(queries, queries.len() / stride.max(1), stride, stride);
        let mut hits = top_batch(table, targets, self.depth, |_, row| candidates[row]);
        for (hits, query) in hits.iter_mut().zip(queries.chunks(stride.max(1))) {
            if query.iter().all(|&x| x == 0.0) {
                hits.clear();
            }
        }
        hits
    }

    /// Which documents a method can name. In w2v a document is a word, learnt where links to it stand, and words that
    /// occur too seldom are left out: their vectors stay near 0, whose score is above those of most that were learnt.
    fn candidates(&self, params: &TrainParams) -> Vec<bool> {
        if params.method.reads_links_as_words() {
            self.view.links_to().iter().map(|&links| u64::from(links) >= params.min_count.max(1)).collect()
        } else {
            vec![true; self.view.documents.len()]
        }
    }

    /// By the number of links to a document.
    pub(super) fn popular(&self, sink: Sink<'_>) -> Result<()> {
        let links: Vec<f32> = self.view.links_to().iter().map(|&links| links as f32).collect();
        let hits = top(&links, self.depth, |_| true);
        self.blocks(sink, |positions| Ok(vec![hits.clone(); positions.len()]))
    }

    /// As users ask a model: by its embedding, by its search index, or by its learnt ranking.
    pub(super) fn searchable(&self, model: &Model, terms: &Terms, ask: Ask, sink: Sink<'_>) -> Result<()> {
        let (view, window) = (self.view, model.params().window);
        let searcher = Searcher::new(model);
        let query = |position| Query::of_link(view, terms, position, window, self.anchors);
        let sourced = ask == Ask::Mean(TargetVectors::Out, true);
        if sourced || ask.is_embedding() {
            let (targets, candidates) = (model.vectors(Vectors::DocOut), self.candidates(model.params()));
            return self.blocks(sink, |positions| {
                let vector = |&position: &usize| {
                    let source = sourced.then(|| LinkSource::of_link(view, model, position, |_| true)).transpose()?;
                    searcher.vector_in(&query(position), source.as_ref())
                };
                let vectors: Vec<Option<Vec<f32>>> = positions.par_iter().map(vector).collect::<Result<_>>()?;
                let none = vec![0.0; targets.cols()];
                let queries: Vec<f32> =
                    vectors.iter().flat_map(|vector| vector.as_ref().unwrap_or(&none)).copied().collect();
                Ok(self.nearest(&queries, targets, &candidates))
            });
        }
        if ask == Ask::Bm25Passage {
            let passages = Passages::new(view, terms);
            let bm25 = passages.bm25();
            let one = |&position: &usize| {
                let scores = Passages::scores(&bm25, view, terms, position, self.anchors);
                top(&scores, self.depth, |row| scores[row] > 0.0)
            };
            return self.blocks(sink, |positions| Ok(positions.par_iter().map(one).collect()));
        }
        let hybrid = Ranker::of(model);
        let one = |&position: &usize| -> Result<Vec<Hit>> {
            let query = query(position);
            let field = match ask {
                Ask::Hybrid(sourced) => {
                    let source = sourced.then(|| LinkSource::of_link(view, model, position, |_| true)).transpose()?;
                    let Some(hybrid) = &hybrid else { return Ok(Vec::new()) };
                    let query = query.in_sentence(view.corpus, position, self.anchors)?;
                    let hits = hybrid.rank(&searcher, &query, source.as_ref(), self.depth, Scope::ALL)?;
                    return Ok(hits.unwrap_or_default());
                }
                Ask::Bm25 => Field::Text,
                _ => Field::Cited,
            };
            let scores = searcher.bm25_scores(&query, field)?.unwrap_or_default();
            Ok(top(&scores, self.depth, |row| scores[row] > 0.0))
        };
        self.blocks(sink, |positions| positions.par_iter().map(one).collect())
    }

    /// By the vectors of a model.
    pub(super) fn tables(&self, tables: &Tables, params: &TrainParams, ask: Ask, sink: Sink<'_>) -> Result<()> {
        match ask {
            Ask::Mean(by, sourced) => self.mean(tables, params, by, sourced, sink),
            Ask::Infer(steps) => self.infer(tables, params, steps, sink),
            Ask::Npm(prior) => self.npm(tables, params, prior, sink),
            Ask::Popular | Ask::Bm25 | Ask::Bm25Cited | Ask::Bm25Passage | Ask::Hybrid(_) => self.popular(sink),
        }
    }

    fn mean(
        &self,
        tables: &Tables,
        params: &TrainParams,
        by: TargetVectors,
        sourced: bool,
        sink: Sink<'_>,
    ) -> Result<()> {
        let Tables { input, output } = tables;
        let stride = input.stride();
        let mut targets = match by {
            TargetVectors::In => input.halves().1.to_vec(),
            TargetVectors::Out | TargetVectors::InAndOut => output.halves().1.to_vec(),
        };
        if by == TargetVectors::InAndOut {
            axpy(1.0, input.halves().1, &mut targets);
        }
        let targets = Matrix::new(&targets, self.view.documents.len(), stride, stride);
        let candidates = self.candidates(params);
        let mean = MeanOfWords::new(self.view, tables, params);
        // A model that learnt from the text of sources is given the text; another infers a document vector from it.
        let by_text = params.method.weighs_words();
        let words = output.words().col_range(0..stride.min(params.dim));
        let predict = (sourced && !by_text)
            .then(|| Predict::of(params, &InferParams::default(), words, &self.view.counts))
            .flatten();
        self.blocks(sink, |positions| {
            let mut sources: Vec<DocId> = Vec::new();
            if sourced {
                sources = positions.iter().map(|&position| self.view.corpus.position(position).source).collect();
                sources.dedup();
            }
            let text = |doc: &DocId| -> Vec<f32> {
                let rows: Vec<WordRow> = self.view.known(self.view.corpus.words(*doc)).collect();
                if let Some(predict) = &predict {
                    return predict.infer(&[rows], InferParams::default().steps).swap_remove(0);
                }
                mean.of_text(&rows)
            };
            let known: Vec<(DocId, Vec<f32>)> = sources.par_iter().map(|doc| (*doc, text(doc))).collect();
            let mut queries = vec![0.0f32; positions.len() * stride];
            positions.par_iter().zip(queries.par_chunks_mut(stride)).for_each(|(position, row)| {
                let doc = self.view.corpus.position(*position).source;
                let context = self.context(*position, params.window);
                mean.of_window(&context, row);
                match known.iter().find(|(other, _)| *other == doc) {
                    Some((_, text)) if by_text => axpy(params.citation.source_weight, text, row),
                    Some((_, source)) => add_source(source, context.len(), row),
                    None => {}
                }
            });
            Ok(self.nearest(&queries, targets, &candidates))
        })
    }

    fn infer(&self, tables: &Tables, params: &TrainParams, steps: usize, sink: Sink<'_>) -> Result<()> {
        let stride = tables.input.stride();
        let mut targets = tables.input.halves().1.to_vec();
        for row in targets.chunks_mut(stride) {
            let length = sum_of_squares(row).sqrt();
            scale(if length > 0.0 { 1.0 / length } else { 0.0 }, row);
        }
        let targets = Matrix::new(&targets, self.view.documents.len(), stride, stride);
        let candidates = self.candidates(params);
        let inference = GensimInference::new(self.view, tables, params, steps);
        self.blocks(sink, |positions| {
            let mut queries = vec![0.0f32; positions.len() * stride];
            positions.par_iter().zip(queries.par_chunks_mut(stride)).for_each(|(&position, x)| {
                let mut rng = Rng::keyed(params.seed, &[PURPOSE, position as u64]);
                let words = table_rows(&self.context(position, params.window));
                if !words.is_empty() {
                    inference.infer(&words, &mut rng, x);
                }
            });
            Ok(self.nearest(&queries, targets, &candidates))
        })
    }

    fn npm(&self, tables: &Tables, params: &TrainParams, prior: bool, sink: Sink<'_>) -> Result<()> {
        let (view, window) = (self.view, params.npm.window);
        let stride = tables.input.stride();
        let frequencies = Frequencies::new(view, &CitedBy::new(view, window));
        let documents = tables.output.documents();
        let one = |&position: &usize| {
            let context = self.context(position, window);
            // The score of `npm::score`, many documents at a time.
            let counts = |word: &WordRow| !prior || frequencies.words[word.index()] > 0;
            let said = context.iter().map(|word| word.row).filter(counts);
            let said: Vec<WordRow> = said.collect();
            if said.is_empty() {
                return Vec::new();
            }
            let mut words = Vec::with_capacity(said.len() * stride);
            said.iter().for_each(|&word| words.extend_from_slice(tables.input.word(word)));
            let mut scratch = vec![0.0; Panels::len(stride, said.len())];
            let panels = pack_transposed(Matrix::new(&words, said.len(), stride, stride), &mut scratch);
            let share = |word: &WordRow| if prior { 1.0 / frequencies.words[word.index()] as f32 } else { 1.0 };
            let shares: Vec<f32> = said.iter().map(share).collect();
            let mut best = Best::new(self.depth);
            let mut scores = vec![0.0; ROWS * said.len()];
            for start in (0..documents.rows()).step_by(ROWS) {
                let block = documents.row_range(start..documents.rows().min(start + ROWS));
                let used = &mut scores[..block.rows() * said.len()];
                multiply(block, panels, MatrixMut::new(used, block.rows(), said.len(), said.len()), Start::Zero);
                sigmoid_all(used);
                for row in 0..block.rows() {
                    let sum = dot(&scores[row * said.len()..][..said.len()], &shares);
                    let links = frequencies.documents[start + row] as f32;
                    let weight = if prior { links } else { links.min(1.0) };
                    best.add(Hit { row: (start + row) as u32, score: sum * weight });
                }
            }
            best.finish()
        };
        self.blocks(sink, |positions| Ok(positions.par_iter().map(one).collect()))
    }
}

/// The mean of words' IN vectors, weighted as in training.
pub(super) struct MeanOfWords<'a> {
    input: &'a Table,
    weighting: Weighting,
}

impl<'a> MeanOfWords<'a> {
    pub(super) fn new(view: &View<'_>, tables: &'a Tables, params: &TrainParams) -> MeanOfWords<'a> {
        MeanOfWords { input: &tables.input, weighting: Weighting::new(view, params.window, WeightRule::of(params)) }
    }

    /// Puts the mean of the words around a link into `x`.
    pub(super) fn of_window(&self, words: &[NearWord], x: &mut [f32]) {
        gather_sum(self.input.words(), &table_rows(words), &self.weighting.of_window(words), x);
    }

    /// The mean of the words of a whole text.
    fn of_text(&self, words: &[WordRow]) -> Vec<f32> {
        let mut mean = vec![0.0; self.input.stride()];
        gather_sum(self.input.words(), WordRow::numbers(words), &self.weighting.of_text(words), &mut mean);
        mean
    }
}

/// Adds the document vector of a source to the mean of so many words: in training it counts as one word more.
pub(super) fn add_source(source: &[f32], words: usize, x: &mut [f32]) {
    axpy(1.0 / words.max(1) as f32, source, &mut x[..source.len()]);
}

/// The rows of the words of a window.
pub(super) fn table_rows(words: &[NearWord]) -> Vec<u32> {
    words.iter().map(|word| word.row.0).collect()
}

/// The learning rates of so many steps of inference. Where there are as many as was usual in 2018, they fall as they did then:
/// what is left above the last rate is divided by the number of steps to go. Otherwise in a straight line.
fn rates(steps: usize) -> Vec<f32> {
    let mut rate = FIRST_RATE;
    let fall = |step: usize| {
        let now = rate;
        rate = if steps == STEPS_OF_2018 {
            (rate - LAST_RATE) / (steps - step) as f32 + LAST_RATE
        } else {
            FIRST_RATE + (LAST_RATE - FIRST_RATE) * (step + 1) as f32 / steps as f32
        };
        now
    };
    (0..steps).map(fall).collect()
}

/// Infers document vectors as gensim does: PV-DBOW against OUT vectors that stay as they are.
pub(super) struct GensimInference<'a> {
    tables: &'a Tables,
    noise_words: AliasTable,
    keep: Vec<f32>,
    /// Noise words for each word.
    noise: usize,
    dim: usize,
    steps: usize,
}

impl<'a> GensimInference<'a> {
    /// Prepares to infer in `steps` passes over the words of a text.
    pub(super) fn new(view: &View<'_>, tables: &'a Tables, params: &TrainParams, steps: usize) -> GensimInference<'a> {
        GensimInference {
            tables,
            noise_words: AliasTable::smoothed(&view.counts),
            keep: keep_chances(&view.counts, params.direct.sample),
            noise: params.direct.noise,
            dim: params.dim,
            steps,
        }
    }

    /// Learns a document vector `x` for words, given by their rows.
    pub(super) fn infer(&self, words: &[u32], rng: &mut Rng, x: &mut [f32]) {
        let GensimInference { tables, noise_words, keep, noise, dim, steps } = self;
        let mut error = vec![0.0; x.len()];
        let rates = rates(*steps);
        x[..*dim].iter_mut().for_each(|value| *value = (rng.unit() - 0.5) / *dim as f32);
        let mut order = (0..*steps).flat_map(|step| words.iter().map(move |&word| (step, word)));
        // The next word that is kept and its noise; what step it belongs to.
        let mut draw = |rows: &mut Vec<u32>| {
            let (step, word) =
                order.find(|&(_, word)| keep[word as usize] >= 1.0 || rng.chance(keep[word as usize]))?;
            rows.clear();
            rows.push(word);
            rows.extend((0..*noise).map(|_| noise_words.draw(rng)).filter(|&row| row != word));
            rows.iter().for_each(|&row| prefetch(tables.output.row(row as usize)));
            Some(step)
        };
        // Drawn one word ahead: noise comes from all over the table, and waiting for it took half of the time.
        let (mut rows, mut next) = (Vec::new(), Vec::new());
        let mut ahead = draw(&mut next);
        while let Some(step) = ahead {
            std::mem::swap(&mut rows, &mut next);
            ahead = draw(&mut next);
            let rate = rates[step];
            error.fill(0.0);
            for (number, &row) in rows.iter().enumerate() {
                let out = tables.output.row(row as usize);
                let score = dot(x, out);
                if score.abs() < BOUND {
                    let label = if number == 0 { 1.0 } else { 0.0 };
                    axpy(rate * (label - sigmoid(score)), out, &mut error);
                }
            }
            axpy(1.0, &error, x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_steps_fall_as_they_did_in_2018_and_others_in_a_straight_line() {
        let near = |found: Vec<f32>, expected: &[f32]| {
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?}");
        };
        near(rates(5), &[0.1, 0.02008, 0.005095, 0.001765, 0.000933]);
        near(rates(4), &[0.1, 0.075025, 0.05005, 0.025075]);
    }
}
