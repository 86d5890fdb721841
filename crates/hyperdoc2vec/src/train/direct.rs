//! Learning from text word by word: PV-DM, PV-DBOW, CBOW, skip-gram, as in word2vec and gensim.
//!
//! | form | input rows | target |
//! |---|---|---|
//! | [`Form::Dm`] | document + words around a word | that word |
//! | [`Form::Dbow`] | document | each of its words |
//! | [`Form::Cbow`] | words around a word | that word |
//! | [`Form::SkipGram`] | one word near a word | that word |
//!
//! Over [`Text::words`], Dm and Dbow are the paper's content phase and its d2v-nc, Cbow its w2v; over
//! [`Text::with_links`], Cbow is "citation as word"; over [`Text::with_contexts`], Dbow is d2v-cac.
//!
//! Noise comes from the rows of the text by their counts to the power 0.75. Frequent words are thinned out first, so
//! that windows reach further; unlike gensim, documents are not cut off after 10,000 words. Each example sees what the
//! one before it did (but for words that come again within the window, see [`Near`]), so the phase uses one thread, and
//! the same bits come out on any number of them.

use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

use super::example::{Learner, Lottery, falling, keep_chances, matrix_mut};
use super::text::Text;
use super::{After, Done, Phase, Tables};
use crate::kernel::{Beyond, Near, Place, fetch};
use crate::rng::Rng;

/// Which rows predict which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Document and words around a word predict it.
    Dm,
    /// The document predicts each of its words.
    Dbow,
    /// The words around a word predict it.
    Cbow,
    /// Each word near a word predicts it.
    SkipGram,
}

/// How [`Direct`] runs; by default as gensim, but with the paper's window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DirectParams {
    /// Passes over the text.
    pub epochs: usize,
    /// Words on each side.
    pub window: usize,
    /// Whether the window of each word is shrunk to a number drawn evenly from 1 to `window`.
    pub shrink: bool,
    /// Rows drawn as noise for each example; one that hits the target is dropped.
    pub noise: usize,
    /// Words that make up more than this share are thinned out, see [`keep_chances`]; 0 for no thinning.
    pub sample: f64,
    /// The step size at the beginning.
    pub rate: f32,
    /// The step size at the end.
    pub last_rate: f32,
    /// What becomes of scores beyond ±6.
    pub beyond: Beyond,
    /// Whether w2v is skip-gram rather than CBOW.
    pub skip_gram: bool,
    /// Whether PV-DM and CBOW add up every window by itself, as the paper has it: slow.
    pub plain: bool,
}

impl Default for DirectParams {
    fn default() -> DirectParams {
        DirectParams {
            epochs: 5,
            window: 50,
            shrink: true,
            noise: 5,
            sample: 1e-3,
            rate: 0.025,
            last_rate: 0.0001,
            beyond: Beyond::Skip,
            skip_gram: false,
            plain: false,
        }
    }
}

/// A run over the text of all documents, in their order.
pub struct Direct<'a> {
    text: &'a Text<'a>,
    form: Form,
    params: &'a DirectParams,
    seed: u64,
    keep: Vec<f32>,
    noise: Lottery,
    /// The first document of each batch, and the number of documents.
    cuts: Vec<usize>,
}

/// The phase's number in the keys of random numbers.
const PHASE: u64 = 11;
/// A batch is ended after the document that makes it as long as this.
const BATCH: u64 = 10_000;

impl<'a> Direct<'a> {
    /// Prepares to train on `text`.
    pub fn new(text: &'a Text<'a>, form: Form, params: &'a DirectParams, seed: u64) -> Direct<'a> {
        let documents = text.view().documents.len();
        let mut cuts = vec![0];
        let mut start = 0;
        for document in 1..=documents {
            if text.before(document) - start >= BATCH || document == documents {
                cuts.push(document);
                start = text.before(document);
            }
        }
        let (keep, noise) = (keep_chances(text.counts(), params.sample), Lottery::smoothed(text.counts()));
        Direct { text, form, params, seed, keep, noise, cuts }
    }
}

/// The memory of a run, kept from document to document.
#[derive(Default)]
struct Lists {
    kept: Vec<u32>,
    outputs: Vec<u32>,
    next_outputs: Vec<u32>,
    inputs: Vec<u32>,
}

impl Direct<'_> {
    /// Learns from one document.
    fn document(
        &self,
        epoch: usize,
        document: usize,
        lists: &mut Lists,
        near: &mut Near,
        learner: &mut Learner,
        tables: &mut Tables,
    ) -> (u64, f64) {
        let (text, params) = (self.text, self.params);
        let row = (text.view().words.len() + document) as u32;
        let mut rng = Rng::keyed(self.seed, &[PHASE, self.form as u64, epoch as u64, document as u64]);
        let Lists { kept, outputs, next_outputs, inputs } = lists;
        kept.clear();
        text.rows(document, |row| {
            let chance = self.keep[row as usize];
            if chance >= 1.0 || rng.chance(chance) {
                kept.push(row);
            }
        });
        let whole = text.before(text.view().documents.len());
        let done = epoch as u64 * whole + text.before(document);
        let rate = falling(params.rate, params.last_rate, done, params.epochs as u64 * whole);
        let draw = |outputs: &mut Vec<u32>, target: u32, rng: &mut Rng| {
            outputs.clear();
            outputs.push(target);
            outputs.extend((0..params.noise).map(|_| self.noise.draw(rng)).filter(|&noise| noise != target));
        };
        let reach = |rng: &mut Rng| {
            if params.shrink && params.window > 0 { 1 + rng.below(params.window) } else { params.window }
        };
        let (mut examples, mut loss) = (0, 0.0);
        if let Some(&first) = kept.first() {
            draw(outputs, first, &mut rng);
        }
        for (at, &target) in kept.iter().enumerate() {
            let reach = reach(&mut rng);
            if self.form == Form::SkipGram {
                let before = &kept[at.saturating_sub(reach)..at];
                let after = &kept[at + 1..kept.len().min(at + 1 + reach)];
                for &word in before.iter().chain(after) {
                    draw(outputs, target, &mut rng);
                    loss += learner.learn(rate, &[word], outputs, tables);
                }
                examples += (before.len() + after.len()) as u64;
                continue;
            }
            // Noise comes from all over the table: it is asked for one word ahead.
            if let Some(&next) = kept.get(at + 1) {
                draw(next_outputs, next, &mut rng);
                next_outputs.iter().for_each(|&row| fetch(tables.output.row(row as usize)));
            }
            if self.form == Form::Dbow {
                loss += learner.learn(rate, &[row], outputs, tables);
                examples += 1;
            } else if params.plain {
                inputs.clear();
                inputs.extend_from_slice(&kept[at.saturating_sub(reach)..at]);
                inputs.extend_from_slice(&kept[at + 1..kept.len().min(at + 1 + reach)]);
                inputs.extend((self.form == Form::Dm).then_some(row));
                if !inputs.is_empty() {
                    loss += learner.learn(rate, inputs, outputs, tables);
                    examples += 1;
                }
            } else {
                near.go(kept, at, &mut matrix_mut(&mut tables.input));
                let document = (self.form == Form::Dm).then_some(row);
                if document.is_some() || (kept.len() > 1 && reach > 0) {
                    loss += learner.learn_near(rate, near, Place { at, reach, document }, outputs, tables);
                    examples += 1;
                }
            }
            std::mem::swap(outputs, next_outputs);
        }
        if !params.plain {
            near.end(kept, &mut matrix_mut(&mut tables.input));
        }
        (examples, loss)
    }
}

impl Phase for Direct<'_> {
    fn name(&self) -> &'static str {
        match self.form {
            Form::Dm => "pv-dm",
            Form::Dbow => "pv-dbow, word by word",
            Form::Cbow => "cbow",
            Form::SkipGram => "skip-gram",
        }
    }

    fn unit(&self) -> &'static str {
        "words"
    }

    fn epochs(&self) -> usize {
        self.params.epochs
    }

    fn batches(&self) -> usize {
        self.cuts.len() - 1
    }

    fn epoch(&self, epoch: usize, start: usize, tables: &mut Tables, after: After<'_>) -> ControlFlow<()> {
        let mut lists = Lists::default();
        let mut near = Near::new(self.params.window, tables.input.stride());
        let mut learner = Learner::new(self.params.noise, self.params.beyond, false, tables);
        for batch in start..self.batches() {
            let mut done = Done { batches: batch + 1, units: 0, loss: 0.0 };
            for document in self.cuts[batch]..self.cuts[batch + 1] {
                let (examples, loss) = self.document(epoch, document, &mut lists, &mut near, &mut learner, tables);
                done.units += examples;
                done.loss += loss;
            }
            after(&done, tables)?;
        }
        ControlFlow::Continue(())
    }
}
