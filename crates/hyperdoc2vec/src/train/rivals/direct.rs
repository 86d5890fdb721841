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
//! [`Text::with_links`], Cbow and SkipGram are "citation as word", and documents that are no words have IN vectors of 0;
//! over [`Text::with_contexts`], Dbow is d2v-cac and Dm its form with word vectors.
//!
//! Noise comes from the rows of the text by their counts to the power 0.75. Frequent words are thinned out first, so
//! that windows reach further; unlike gensim, documents are not cut off after 10,000 words. Each example sees what the
//! one before it did, so the phase uses one thread, and the same bits come out on any number of them.

use std::ops::ControlFlow;

use crate::id::DocRow;
use crate::kernel::prefetch;
use crate::model::params::DirectParams;
use crate::model::tables::Tables;
use crate::model::weighting::keep_chances;
use crate::rng::AliasTable;
use crate::rng::Rng;
use crate::train::rivals::sequential::{Learner, falling};
use crate::train::rivals::text::Text;
use crate::train::{After, Done, Phase};

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

/// A run over the text of all documents, in their order.
pub struct Direct<'a> {
    text: &'a Text<'a>,
    form: Form,
    params: &'a DirectParams,
    window: usize,
    seed: u64,
    keep: Vec<f32>,
    noise: AliasTable,
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
        let (keep, noise) = (keep_chances(text.counts(), params.sample), AliasTable::smoothed(text.counts()));
        let window = if form == Form::Dm { params.dm_window() } else { params.window };
        Direct { text, form, params, window, seed, keep, noise, cuts }
    }

    /// Prepares to take batches on tables like `tables`.
    pub(super) fn begin(&self, tables: &Tables) -> Reading {
        Reading { lists: Lists::default(), learner: Learner::new(self.params.noise, self.params.beyond, false, tables) }
    }

    /// Learns from the documents of one batch.
    pub(super) fn batch(&self, epoch: usize, batch: usize, reading: &mut Reading, tables: &mut Tables) -> Done {
        let mut done = Done { batches: batch + 1, units: 0, loss: 0.0 };
        for document in (self.cuts[batch] as u32..self.cuts[batch + 1] as u32).map(DocRow) {
            let (examples, loss) = self.document(epoch, document, reading, tables);
            done.units += examples;
            done.loss += loss;
        }
        done
    }
}

/// The memory of a run, kept from batch to batch.
pub(super) struct Reading {
    lists: Lists,
    learner: Learner,
}

/// Rows of the document that is read.
#[derive(Default)]
struct Lists {
    kept: Vec<u32>,
    outputs: Vec<u32>,
    next_outputs: Vec<u32>,
    inputs: Vec<u32>,
}

impl Direct<'_> {
    /// Learns from one document.
    fn document(&self, epoch: usize, document: DocRow, reading: &mut Reading, tables: &mut Tables) -> (u64, f64) {
        let (text, params, window) = (self.text, self.params, self.window);
        let row = text.view().table_row_of_doc(document).0;
        let mut rng = Rng::keyed(self.seed, &[PHASE, self.form as u64, epoch as u64, u64::from(document.0)]);
        let Reading { lists: Lists { kept, outputs, next_outputs, inputs }, learner } = reading;
        kept.clear();
        text.rows(document, |row| {
            let chance = self.keep[row.index()];
            if chance >= 1.0 || rng.chance(chance) {
                kept.push(row.0);
            }
        });
        let whole = text.before(text.view().documents.len());
        let done = epoch as u64 * whole + text.before(document.index());
        let rate = falling(params.rate, params.last_rate, done, params.epochs as u64 * whole);
        let draw = |outputs: &mut Vec<u32>, target: u32, rng: &mut Rng| {
            outputs.clear();
            outputs.push(target);
            outputs.extend((0..params.noise).map(|_| self.noise.draw(rng)).filter(|&noise| noise != target));
        };
        let reach = |rng: &mut Rng| if params.shrink && window > 0 { 1 + rng.below(window) } else { window };
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
                next_outputs.iter().for_each(|&row| prefetch(tables.output.row(row as usize)));
            }
            if self.form == Form::Dbow {
                loss += learner.learn(rate, &[row], outputs, tables);
                examples += 1;
            } else {
                inputs.clear();
                inputs.extend_from_slice(&kept[at.saturating_sub(reach)..at]);
                inputs.extend_from_slice(&kept[at + 1..kept.len().min(at + 1 + reach)]);
                inputs.extend((self.form == Form::Dm).then_some(row));
                if !inputs.is_empty() {
                    loss += learner.learn(rate, inputs, outputs, tables);
                    examples += 1;
                }
            }
            std::mem::swap(outputs, next_outputs);
        }
        (examples, loss)
    }
}

impl Phase for Direct<'_> {
    /// Documents that are no words, where links are, get IN vectors of 0, as for a word that gensim leaves out.
    fn prepare(&self, tables: &mut Tables) {
        let words = self.text.view().words.len();
        for (document, _) in self.text.counts()[words..].iter().enumerate().filter(|(_, count)| **count == 0) {
            tables.input.row_mut(words + document).fill(0.0);
        }
    }

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
        let mut reading = self.begin(tables);
        for batch in start..self.batches() {
            let done = self.batch(epoch, batch, &mut reading, tables);
            after(&done, tables)?;
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::split::Split;
    use crate::corpus::view::View;
    use crate::corpus::{Corpus, CorpusOptions};
    use crate::import::{Format, ImportOptions};
    use crate::model::params::{Method, TrainParams};
    use crate::model::tables::Table;
    use crate::tests::import;

    /// PV-DM, or CBOW where there is no document, without noise in the plainest form there is, in double precision.
    fn by_hand(text: &[usize], document: Option<usize>, input: &mut [Vec<f64>], output: &mut [Vec<f64>]) {
        for (at, &target) in text.iter().enumerate() {
            let around = at.saturating_sub(3)..text.len().min(at + 4);
            let mut inputs: Vec<usize> = around.filter(|&place| place != at).map(|place| text[place]).collect();
            inputs.extend(document);
            let mean = |i: usize| inputs.iter().map(|&row| input[row][i]).sum::<f64>() / inputs.len() as f64;
            let mean: Vec<f64> = (0..input[0].len()).map(mean).collect();
            let score: f64 = mean.iter().zip(&output[target]).map(|(x, y)| x * y).sum();
            let slope = 0.5 * (1.0 - 1.0 / (1.0 + (-score).exp()));
            let error: Vec<f64> = output[target].iter().map(|y| slope * y).collect();
            output[target].iter_mut().zip(&mean).for_each(|(y, x)| *y += slope * x);
            for row in inputs {
                input[row].iter_mut().zip(&error).for_each(|(x, error)| *x += error);
            }
        }
    }

    fn corpus(dir: &std::path::Path, lines: &str) -> Corpus {
        let file = dir.join("in.jsonl");
        std::fs::write(&file, lines).expect("written");
        let corpus = CorpusOptions { min_count: 1, ..CorpusOptions::default() };
        let options = ImportOptions { corpus, ..ImportOptions::default() };
        import(Format::Jsonl, &[file], &dir.join("corpus"), &options, &mut |_| ControlFlow::Continue(()))
            .expect("imported")
    }

    #[test]
    fn every_example_sees_what_all_before_it_did_where_words_come_again_too() {
        let dir = tempfile::tempdir().expect("a directory");
        let one = r#"{"id": "a", "text": "one two one one three two one four one"}"#;
        let corpus = corpus(dir.path(), &format!("{one}\n{}", r#"{"id": "b", "text": "two two"}"#));
        let view = View::new(&corpus, &Split::none(&corpus), 1).expect("a view");
        let words = Text::words(&view);
        let params = DirectParams {
            epochs: 1,
            window: 3,
            shrink: false,
            noise: 0,
            sample: 0.0,
            rate: 0.5,
            last_rate: 0.5,
            ..DirectParams::default()
        };
        let rows = |table: &Table| -> Vec<Vec<f64>> {
            (0..view.table_rows()).map(|row| table.row(row)[..8].iter().map(|&x| f64::from(x)).collect()).collect()
        };
        let apart = |x: &[Vec<f64>], y: &[Vec<f64>]| {
            x.iter().flatten().zip(y.iter().flatten()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
        };
        for form in [Form::Dm, Form::Cbow] {
            let mut tables = Tables::zeros(&view, 8);
            tables.input.fill(0..view.table_rows(), 8, 1, 1);
            tables.output.fill(0..view.table_rows(), 8, 1, 2);
            [&mut tables.input, &mut tables.output].into_iter().flat_map(Table::data_mut).for_each(|x| *x *= 8.0);
            let (mut input, mut output) = (rows(&tables.input), rows(&tables.output));
            let before = input.clone();
            for document in view.document_rows() {
                let mut text = vec![];
                words.rows(document, |row| text.push(row.index()));
                let row = view.table_row_of_doc(document).index();
                by_hand(&text, (form == Form::Dm).then_some(row), &mut input, &mut output);
            }
            let phase = Direct::new(&words, form, &params, 1);
            assert!(phase.epoch(0, 0, &mut tables, &mut |_, _| ControlFlow::Continue(())).is_continue());
            assert!(apart(&before, &input) > 0.05, "{form:?}: {}", apart(&before, &input));
            let (input_off, output_off) = (apart(&rows(&tables.input), &input), apart(&rows(&tables.output), &output));
            assert!(input_off < 1e-5 && output_off < 1e-5, "{form:?}: {input_off}, {output_off}");
        }
    }

    #[test]
    fn pv_dm_begins_twice_as_wide() {
        let dir = tempfile::tempdir().expect("a directory");
        let corpus = corpus(dir.path(), r#"{"id": "a", "text": "one two three"}"#);
        let view = View::new(&corpus, &Split::none(&corpus), 1).expect("a view");
        let first = |method| Tables::first(&view, &TrainParams { method, dim: 200, ..TrainParams::default() }).input;
        let [alone, paper, random] = [Method::PvDm, Method::HyperDocPaper, Method::HyperDocRandom].map(first);
        let largest = random.data().iter().fold(0.0, |most: f32, x| most.max(x.abs()));
        assert!((0.0024..=0.0025).contains(&largest), "{largest}");
        assert!(alone.data().iter().zip(random.data()).all(|(x, y)| *x == 2.0 * y));
        // What evaluations learn once for both is the same to both.
        assert_eq!(alone.data(), paper.data());
    }
}
