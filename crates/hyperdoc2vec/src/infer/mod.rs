//! A document IN vector for a text that the model was not trained on.
//!
//! Where documents learnt to predict their words, the vector x of a text is what makes its words likely while the
//! words' OUT vectors o stay as they are:
//!
//! ```text
//! − Σ_words p ln σ(x·o) − negatives Σ_noise q ln σ(−x·o) + |x|² / (2 T m)      is to become small,
//! ```
//! p a word's share of the text's m words (frequent ones thinned out as in training), q its chance to be noise. The
//! last term stands for the end of training: steps that add up to T do not take a short text far from 0. All of it is
//! convex, so there is one such x; a few steps of conjugate gradients come near enough, from 0, whose length is chosen
//! so that no step makes things worse. Nothing is drawn at random but which words stand for the noise, evenly by their
//! chances, the same for all texts.
//!
//! A text has the same vector, bit for bit, alone and in a batch, and on any number of threads.
//!
//! PV-DM, whose documents predict words together with the words around them, is asked in the same way.
//!
//! Methods without such vectors have the mean of the words' IN vectors, weighted as in training.

pub(crate) mod newcomers;
mod part;

use std::collections::HashSet;

use rayon::prelude::*;

use crate::document::tokenize::Tokenizer;
use crate::document::{Document, Link};
use crate::error::{Error, Result};
use crate::id::WordRow;
use crate::kernel::{
    Matrix, MatrixMut, Panels, Start, axpy, dot, multiply, pack, pack_transposed, scan, sigmoid_all, sum_of_squares,
};
use crate::model::params::{PhaseKind, TrainParams};
use crate::model::weighting::keep_chances;
use crate::model::{Model, Vectors};
use crate::search::Query;

pub use part::{EmbeddedCounts, EmbeddedParts, Embedding};

/// How vectors are inferred.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InferParams {
    /// Steps from 0.
    pub steps: usize,
    /// Words that stand for all words as noise.
    pub noise: usize,
    /// Multiplies T.
    pub time: f32,
}

impl Default for InferParams {
    fn default() -> InferParams {
        InferParams { steps: 12, noise: 512, time: 4.0 }
    }
}

/// The vector inferred from a text.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Inferred {
    /// The vector; zeros where no word of the text has one.
    pub vector: Vec<f32>,
    /// Words of the text.
    pub words: usize,
    /// Those that have vectors.
    pub known: usize,
}

/// A text, and the links that stand in it.
struct Passage<'a> {
    text: &'a str,
    links: &'a [Link],
}

/// Texts that one thread works on together.
const TOGETHER: usize = 16;
/// The numbers of a row are padded to a multiple of this.
const LANE: usize = 8;

/// Infers vectors with a model.
#[derive(Debug)]
pub struct Inferrer<'a> {
    model: &'a Model,
    tokenizer: Tokenizer,
    predict: Option<Predict<'a>>,
    steps: usize,
}

/// The words that texts are to predict, as they are, and noise.
#[derive(Debug)]
pub(crate) struct Predict<'a> {
    words: Matrix<'a>,
    /// For each word, the chance that it is kept.
    keep: Vec<f32>,
    stride: usize,
    /// OUT vectors of the noise, and their weights.
    noise: Vec<f32>,
    weights: Vec<f32>,
    time: f32,
}

impl<'a> Inferrer<'a> {
    /// Prepares to infer; an error where the model's method knows nothing of words.
    pub fn new(model: &'a Model) -> Result<Inferrer<'a>> {
        Inferrer::with(model, &InferParams::default())
    }

    /// With parameters of one's own.
    pub fn with(model: &'a Model, params: &InferParams) -> Result<Inferrer<'a>> {
        if !model.params().method.knows_words() {
            let what = "a deepwalk model is trained on links only and cannot embed text; train another method";
            return Err(Error::Unsupported { path: model.path().to_owned(), what: what.to_owned() });
        }
        let (words, counts) = (model.vectors(Vectors::WordOut), model.word_counts());
        let predict = Predict::of(model.params(), params, words, counts);
        Ok(Inferrer { model, tokenizer: model.tokenizer(), predict, steps: params.steps })
    }

    /// The rows of the words of a text that have vectors, in order, and how many words there are.
    fn read(&self, text: &Passage<'_>) -> (Vec<WordRow>, usize) {
        let terms = self.model.terms();
        let (mut rows, mut words, mut from) = (Vec::new(), 0, 0);
        let ends = text.links.iter().flat_map(|link| [link.anchor, link.at]);
        for end in ends.chain([text.text.len()]) {
            let Some(part) = text.text.get(from..end) else { continue };
            from = end;
            self.tokenizer.words(part, |word| {
                words += 1;
                rows.extend(terms.find(word).filter(|&row| row < self.model.words()).map(|row| WordRow(row as u32)));
            });
        }
        (rows, words)
    }

    /// The words of a text that have no vector, each once, in order.
    pub fn unknown(&self, text: &str) -> Vec<String> {
        let vocabulary = self.model.vocabulary();
        let (mut unknown, mut seen) = (Vec::new(), HashSet::new());
        self.tokenizer.words(text, |word| {
            if vocabulary.find(word).is_none() && seen.insert(word.to_owned()) {
                unknown.push(word.to_owned());
            }
        });
        unknown
    }

    /// The IN vector of one text. The text is plain: marks of links are not read, see [`Inferrer::documents`].
    pub fn text(&self, text: &str) -> Result<Inferred> {
        Ok(self.passages(&[Passage { text, links: &[] }])?.swap_remove(0))
    }

    /// The IN vectors of plain texts, on all threads.
    pub fn texts(&self, texts: &[impl AsRef<str>]) -> Result<Vec<Inferred>> {
        let passages: Vec<Passage<'_>> = texts.iter().map(|text| Passage { text: text.as_ref(), links: &[] }).collect();
        self.passages(&passages)
    }

    /// The vectors of documents, on all threads; links separate words, as when a corpus is made.
    pub fn documents(&self, documents: &[Document]) -> Result<Vec<Inferred>> {
        let passage = |document| {
            let Document { text, links, .. }: &Document = document;
            Passage { text, links }
        };
        self.passages(&documents.iter().map(passage).collect::<Vec<_>>())
    }

    fn passages(&self, texts: &[Passage<'_>]) -> Result<Vec<Inferred>> {
        let groups = texts.par_chunks(TOGETHER).map(|group| {
            let (rows, words): (Vec<Vec<WordRow>>, Vec<usize>) = group.iter().map(|text| self.read(text)).unzip();
            let vectors = self.group(&rows)?;
            let inferred = vectors.into_iter().zip(rows.iter().zip(words));
            Ok(inferred.map(|(vector, (rows, words))| Inferred { vector, words, known: rows.len() }).collect())
        });
        let groups: Vec<Vec<Inferred>> = groups.collect::<Result<_>>()?;
        Ok(groups.into_iter().flatten().collect())
    }

    /// The vectors of texts of words that have vectors, on all threads.
    pub(crate) fn rows(&self, texts: &[Vec<WordRow>]) -> Result<Vec<Vec<f32>>> {
        let groups: Vec<Vec<Vec<f32>>> =
            texts.par_chunks(TOGETHER).map(|group| self.group(group)).collect::<Result<_>>()?;
        Ok(groups.into_iter().flatten().collect())
    }

    fn group(&self, texts: &[Vec<WordRow>]) -> Result<Vec<Vec<f32>>> {
        match &self.predict {
            Some(predict) => Ok(predict.infer(texts, self.steps)),
            None => texts.iter().map(|rows| self.mean(rows)).collect(),
        }
    }

    /// The mean of words' IN vectors, weighted as in training.
    pub(crate) fn mean(&self, rows: &[WordRow]) -> Result<Vec<f32>> {
        let model = self.model;
        let known: Vec<Option<WordRow>> = rows.iter().copied().map(Some).collect();
        let (rows, weights) = Query::of_rows(&known, None, model.words(), model.params().window).weights(model)?;
        let mut vector = vec![0.0; model.params().dim];
        model.stored_vectors(Vectors::WordIn).gather_sum(WordRow::numbers(&rows), &weights, &mut vector);
        Ok(vector)
    }
}

/// A text on the way to its vector.
struct TextDescent {
    /// OUT vectors of its distinct words, one after the other, and their weights.
    outs: Vec<f32>,
    weights: Vec<f32>,
    /// The weight of |x|² / 2.
    l2: f32,
    /// Products with x and with the direction of the step.
    scores: Vec<f32>,
    along: Vec<f32>,
    slopes: Vec<f32>,
    /// The gradient's square at the last step.
    before: f32,
}

/// The objective that a document's vector was trained on.
struct Objective {
    /// Noise words that stand for all words.
    noise: usize,
    /// Noise words drawn for each word of a text.
    negatives: f32,
    /// The threshold of subsampling.
    sample: f64,
    /// The sum of the learning rates over the passes.
    time: f32,
}

impl<'a> Predict<'a> {
    /// For vectors trained with `trained`, with the words' OUT vectors and counts; `None` where the method has
    /// no documents that predict words.
    pub(crate) fn of(
        trained: &TrainParams,
        params: &InferParams,
        words: Matrix<'a>,
        counts: &[u64],
    ) -> Option<Predict<'a>> {
        let (content, direct) = (&trained.content, &trained.direct);
        let (negatives, sample, time) = match trained.method.phases()[0] {
            PhaseKind::Content | PhaseKind::Joint => {
                (content.negatives, f64::from(content.sample), content.epochs as f32 * content.document_rate / 2.0)
            }
            PhaseKind::Dm | PhaseKind::Dbow | PhaseKind::JointReference => {
                let time = direct.epochs as f32 * (direct.rate + direct.last_rate) / 2.0;
                (direct.noise as f32, direct.sample, time)
            }
            _ => return None,
        };
        let objective = Objective { noise: params.noise.max(1), negatives, sample, time: time * params.time };
        let predict = || Predict::new(words, counts, objective);
        // Without passes over the text there is nothing to predict words with.
        (time > 0.0).then(predict)
    }

    fn new(words: Matrix<'a>, counts: &[u64], objective: Objective) -> Predict<'a> {
        let Objective { noise, negatives, sample, time } = objective;
        let stride = words.cols().next_multiple_of(LANE);
        // In proportion to counts^0.75; exact roots, so the same on every machine.
        let counts = &counts[..counts.len().min(words.rows())];
        let chance = |&count: &u64| {
            let root = (count as f64).sqrt();
            root * root.sqrt()
        };
        let total: f64 = counts.iter().map(chance).sum();
        let (mut rows, mut weights) = (Vec::<usize>::new(), Vec::<f32>::new());
        let (mut row, mut sum) = (0, counts.first().map_or(0.0, chance));
        for place in 0..noise {
            let at = (place as f64 + 0.5) / noise as f64 * total;
            while sum < at && row + 1 < counts.len() {
                row += 1;
                sum += chance(&counts[row]);
            }
            if rows.last() == Some(&row) {
                weights.last_mut().into_iter().for_each(|weight| *weight += negatives / noise as f32);
            } else if row < words.rows() {
                rows.push(row);
                weights.push(negatives / noise as f32);
            }
        }
        let mut outs = vec![0.0; rows.len() * stride];
        for (out, &row) in outs.chunks_exact_mut(stride).zip(&rows) {
            out[..words.cols()].copy_from_slice(words.row(row));
        }
        let keep = keep_chances(counts, sample);
        Predict { words, keep, stride, noise: outs, weights, time }
    }

    /// Gathers the words of a text; `None` where it has none.
    fn gather(&self, rows: &[WordRow]) -> Option<TextDescent> {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        let (mut outs, mut weights) = (Vec::new(), Vec::new());
        for same in rows.chunk_by(|a, b| a == b) {
            let row = same[0].index();
            outs.extend_from_slice(self.words.row(row));
            outs.resize(outs.len().next_multiple_of(self.stride), 0.0);
            weights.push(same.len() as f32 * self.keep.get(row).copied().unwrap_or(1.0));
        }
        let words: f32 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= words);
        let zeros = vec![0.0; weights.len()];
        let (scores, along, slopes) = (zeros.clone(), zeros.clone(), zeros);
        let l2 = 1.0 / (self.time * words);
        (words > 0.0).then_some(TextDescent { outs, weights, l2, scores, along, slopes, before: 0.0 })
    }

    /// The vectors of some texts.
    pub(crate) fn infer(&self, texts: &[Vec<WordRow>], steps: usize) -> Vec<Vec<f32>> {
        let (stride, noise, count) = (self.stride, self.weights.len(), texts.len());
        let mut texts: Vec<Option<TextDescent>> = texts.iter().map(|rows| self.gather(rows)).collect();
        let outs = Matrix::new(&self.noise, noise, stride, stride);
        let (mut by_depth, mut by_word) =
            (vec![0.0; Panels::len(stride, noise)], vec![0.0; Panels::len(noise, stride)]);
        let (by_depth, by_word) = (pack_transposed(outs, &mut by_depth), pack(outs, &mut by_word));
        let vectors = || vec![0.0f32; count * stride];
        let (mut x, mut gradient, mut last, mut direction) = (vectors(), vectors(), vectors(), vectors());
        let products = || vec![0.0f32; count * noise];
        let (mut scores, mut slopes, mut along) = (products(), products(), products());
        for step in 0..steps {
            slopes.copy_from_slice(&scores);
            sigmoid_all(&mut slopes);
            let mut pulls = slopes.clone();
            for pulls in pulls.chunks_exact_mut(noise) {
                pulls.iter_mut().zip(&self.weights).for_each(|(slope, weight)| *slope *= weight);
            }
            std::mem::swap(&mut gradient, &mut last);
            let into = MatrixMut::new(&mut gradient, count, stride, stride);
            multiply(Matrix::new(&pulls, count, noise, noise), by_word, into, Start::Zero);
            for (number, text) in texts.iter_mut().enumerate() {
                let Some(text) = text else { continue };
                let own = number * stride..(number + 1) * stride;
                text.slope(&x[own.clone()], &mut gradient[own.clone()]);
                text.turn(step, &gradient[own.clone()], &last[own.clone()], &mut direction[own]);
            }
            let into = MatrixMut::new(&mut along, count, noise, noise);
            multiply(Matrix::new(&direction, count, stride, stride), by_depth, into, Start::Zero);
            for (number, text) in texts.iter_mut().enumerate() {
                let Some(text) = text else { continue };
                let (own, shared) = (number * stride..(number + 1) * stride, number * noise..(number + 1) * noise);
                let direction = &direction[own.clone()];
                let (scores, along) = (&mut scores[shared.clone()], &along[shared.clone()]);
                let bend = bend(&self.weights, scores, &slopes[shared], along);
                let way = text.way(&gradient[own.clone()], direction, bend);
                axpy(way, direction, &mut x[own]);
                axpy(way, along, scores);
                axpy(way, &text.along, &mut text.scores);
            }
        }
        x.chunks_exact(stride).map(|x| x[..self.words.cols()].to_vec()).collect()
    }
}

/// How much the loss bends along a direction, at the most between a score and its mirror image:
/// `Σ weight · (σ(s) − ½)/s · a²`.
fn bend(weights: &[f32], scores: &[f32], sigmoids: &[f32], along: &[f32]) -> f32 {
    let bend = |(((weight, score), sigmoid), along): (((&f32, &f32), &f32), &f32)| {
        let bend = if score.abs() < 0.01 { 0.25 } else { (sigmoid - 0.5) / score };
        weight * bend * along * along
    };
    weights.iter().zip(scores).zip(sigmoids).zip(along).map(bend).sum()
}

impl TextDescent {
    /// Adds the slope of the text's own words and of the L2 term.
    fn slope(&mut self, x: &[f32], gradient: &mut [f32]) {
        self.slopes.copy_from_slice(&self.scores);
        sigmoid_all(&mut self.slopes);
        for ((out, slope), weight) in self.outs.chunks_exact(x.len()).zip(&self.slopes).zip(&self.weights) {
            axpy(weight * (slope - 1.0), out, gradient);
        }
        axpy(self.l2, x, gradient);
    }

    /// The next direction (Polak and Ribière), and the products of the words with it.
    fn turn(&mut self, step: usize, gradient: &[f32], last: &[f32], direction: &mut [f32]) {
        let square = sum_of_squares(gradient);
        let turned = square - dot(gradient, last);
        let keep = if step > 0 && self.before > 0.0 { (turned / self.before).max(0.0) } else { 0.0 };
        self.before = square;
        direction.iter_mut().zip(gradient).for_each(|(along, slope)| *along = keep * *along - slope);
        if dot(direction, gradient) > 0.0 {
            direction.iter_mut().zip(gradient).for_each(|(along, slope)| *along = -slope);
        }
        let (words, stride) = (self.weights.len(), direction.len());
        let outs = Matrix::new(&self.outs, words, stride, stride);
        scan(Matrix::new(direction, 1, stride, stride), outs, MatrixMut::new(&mut self.along, 1, words, words));
    }

    /// How far to go.
    fn way(&self, gradient: &[f32], direction: &[f32], noise: f32) -> f32 {
        let own = bend(&self.weights, &self.scores, &self.slopes, &self.along);
        let bend = noise + own + self.l2 * sum_of_squares(direction);
        if bend > 0.0 { -dot(gradient, direction) / bend } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::sigmoid;

    /// Where a rising function is 0.
    fn root(f: impl Fn(f64) -> f64) -> f32 {
        let (mut low, mut high) = (-20.0, 20.0);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if f(middle) < 0.0 { low = middle } else { high = middle }
        }
        low as f32
    }

    #[test]
    fn two_words_by_hand() {
        // Words along the axes, equally frequent, one noise word a word: each counts a half.
        let words = [1.0, 0.0, 0.0, 2.0];
        let predict = Predict::new(
            Matrix::new(&words, 2, 2, 2),
            &[8, 8],
            Objective { noise: 100, negatives: 1.0, sample: 0.0, time: 2.0 },
        );
        assert_eq!(predict.weights.len(), 2);
        let found = predict.infer(&[&[0, 0][..], &[], &[1, 0]].map(|rows| WordRow::all(rows).to_vec()), 60);
        // Two words of the first kind: T m = 4. Slopes: −(1 − σ(a)) + ½ σ(a) + a/4 and ½ · 2 σ(2b) + b/4.
        let sigma = |x: f64| 1.0 / (1.0 + (-x).exp());
        let expected = [root(|a| 1.5 * sigma(a) - 1.0 + a / 4.0), root(|b| sigma(2.0 * b) + b / 4.0)];
        assert!(found[0].iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-4), "{found:?}, not {expected:?}");
        assert_eq!(found[1], [0.0, 0.0], "no words");
        // One of each: −½ (1 − σ(a)) + ½ σ(a) + a/4 is 0 at 0.
        assert!(found[2].iter().all(|x| x.abs() < 1e-6), "{found:?}");
        assert!((sigmoid(0.0) - 0.5).abs() < 1e-7);
    }

    #[test]
    fn each_step_goes_down() {
        let mut rng = crate::rng::Rng::keyed(3, &[1]);
        let words: Vec<f32> = (0..50 * 7).map(|_| 4.0 * (rng.unit() - 0.5)).collect();
        let counts: Vec<u64> = (0..50).map(|row| 100 - row).collect();
        let words = Matrix::new(&words, 50, 7, 7);
        let predict = Predict::new(words, &counts, Objective { noise: 40, negatives: 5.0, sample: 0.0, time: 0.1 });
        let text: Vec<WordRow> = (0..90).map(|place| WordRow(place * place % 23)).collect();
        let loss = |x: &[f32]| {
            let softplus = |x: f32| f64::from(x).exp().ln_1p();
            let own = text.iter().map(|&row| softplus(-dot(x, words.row(row.index())))).sum::<f64>() / 90.0;
            let noise = predict.noise.chunks(8).zip(&predict.weights);
            let noise: f64 = noise.map(|(out, &weight)| f64::from(weight) * softplus(dot(x, &out[..7]))).sum();
            own + noise + f64::from(sum_of_squares(x)) / (2.0 * 0.1 * 90.0)
        };
        let losses: Vec<f64> =
            (0..12).map(|steps| loss(&predict.infer(std::slice::from_ref(&text), steps)[0])).collect();
        assert!(losses.is_sorted_by(|before, after| *after <= before + 1e-6), "{losses:?}");
        let end = predict.infer(std::slice::from_ref(&text), 200);
        assert!(losses[11] - loss(&end[0]) < 0.01 * (losses[0] - losses[11]), "{losses:?} {}", loss(&end[0]));
    }
}
