//! The paper's own training step, in plain loops; and the citation phase as the authors' program runs it.
//!
//! ```text
//! h = mean of the input rows
//! for the target (label 1) and each noise row (label 0), o being its output row:
//!     g = rate (label − σ(h·o));   error += g o;   o += g h
//! each input row += error
//! ```
//! Scores beyond ±6 are treated as [`OutOfRange`] says: skipped, as the authors' program does, so that a target whose
//! score has fallen below −6 never comes back; or saturated, as in word2vec.c. The error goes whole to each input row,
//! though h is their mean: [`Step::divide`] makes it the gradient of the loss.
//!
//! [`step`] is what the faster code is tested against. [`ReferenceCitation`] calls [`kernel::learn`](crate::kernel::learn), which
//! gives the same bits sooner. Each example sees what the one before it did, so the phase uses one thread.

use std::ops::{ControlFlow, Range};

use crate::corpus::view::{LinkExample, View};
use crate::id::{DocId, DocRow};
use crate::kernel::{Step, axpy, dot, log_sigmoid, scale};
use crate::model::params::ReferenceParams;
use crate::model::tables::Tables;
use crate::model::weighting::keep_chances;
use crate::rng::Rng;
use crate::train::rivals::sequential::{Learner, falling};
use crate::train::{After, Done, Phase};

/// One example: the mean of the rows `inputs` is to predict the first of the rows `outputs` and none of the others.
/// Returns the loss, `−ln σ(h·target) − Σ ln σ(−h·noise)`, scores beyond ±6 included.
pub fn step(how: Step, inputs: &[u32], outputs: &[u32], tables: &mut Tables) -> f64 {
    let Tables { input, output } = tables;
    if inputs.is_empty() {
        return 0.0;
    }
    let share = 1.0 / inputs.len() as f32;
    let mut h = vec![0.0; input.stride()];
    for &row in inputs {
        axpy(1.0, input.row(row as usize), &mut h);
    }
    scale(share, &mut h);
    let mut error = vec![0.0; input.stride()];
    let mut loss = 0.0;
    for (number, &row) in outputs.iter().enumerate() {
        let label = if number == 0 { 1.0 } else { 0.0 };
        let o = output.row_mut(row as usize);
        let f = dot(&h, o);
        loss -= f64::from(log_sigmoid(if number == 0 { f } else { -f }));
        let g = how.slope(f, label);
        if g != 0.0 {
            axpy(g, o, &mut error);
            axpy(g, &h, o);
        }
    }
    if how.divide {
        scale(share, &mut error);
    }
    for &row in inputs {
        axpy(1.0, &error, input.row_mut(row as usize));
    }
    loss
}

/// The citation phase, link by link in the order of the documents. Unlike the authors' program it does not cut
/// documents off after 10,000 words.
pub struct ReferenceCitation<'a> {
    view: &'a View<'a>,
    params: &'a ReferenceParams,
    seed: u64,
    keep: Vec<f32>,
}

/// The phase's number in the keys of random numbers.
const PHASE: u64 = 10;
/// Links in a batch: after how many a run may be interrupted.
const BATCH: usize = 512;

impl<'a> ReferenceCitation<'a> {
    /// Prepares to train on the links of `view`.
    pub fn new(view: &'a View<'a>, params: &'a ReferenceParams, seed: u64) -> ReferenceCitation<'a> {
        ReferenceCitation { view, params, seed, keep: keep_chances(&view.counts, params.sample) }
    }

    /// Prepares to take batches on tables like `tables`.
    pub(super) fn begin(&self, tables: &Tables) -> Linking {
        let learner = Learner::new(self.params.noise, self.params.beyond, self.params.divide, tables);
        Linking { kept: Kept::default(), inputs: Vec::new(), outputs: Vec::new(), learner }
    }

    /// Learns from the links of one batch.
    pub(super) fn batch(&self, epoch: usize, batch: usize, linking: &mut Linking, tables: &mut Tables) -> Done {
        let (params, links) = (self.params, self.view.links.len());
        let total = (params.epochs * links) as u64;
        let numbers = batch * BATCH..links.min((batch + 1) * BATCH);
        let mut done = Done { batches: batch + 1, units: numbers.len() as u64, loss: 0.0 };
        let Linking { kept, inputs, outputs, learner } = linking;
        for number in numbers {
            self.list(epoch, number, kept, inputs, outputs);
            let rate = falling(params.rate, params.last_rate, (epoch * links + number) as u64, total);
            done.loss += learner.learn(rate, inputs, outputs, tables);
        }
        done
    }

    fn rng(&self, epoch: usize, what: u64, item: usize) -> Rng {
        Rng::keyed(self.seed, &[PHASE, epoch as u64, what, item as u64])
    }

    /// Input and output rows of one link.
    fn list(&self, epoch: usize, number: usize, kept: &mut Kept, inputs: &mut Vec<u32>, outputs: &mut Vec<u32>) {
        let (view, params) = (self.view, self.params);
        let LinkExample { position, target } = view.links[number];
        let place = view.corpus.position(position as usize);
        kept.load(self, epoch, place.source);
        let mut rng = self.rng(epoch, 1, number);
        let reach = if params.shrink && params.window > 0 { 1 + rng.below(params.window) } else { params.window };
        let earlier = position as usize - view.corpus.position_range(place.source).start;
        let at = kept.before(place.at) + if params.shift { earlier } else { 0 };
        inputs.clear();
        inputs.extend(view.document_row(place.source).map(|source| view.table_row_of_doc(source).0));
        inputs.extend_from_slice(&kept.rows[around(at, reach, kept.rows.len())]);
        outputs.clear();
        outputs.push(view.table_row_of_doc(target).0);
        let noise = (0..params.noise).map(|_| DocRow(rng.below(view.documents.len()) as u32));
        outputs.extend(noise.filter(|&noise| noise != target).map(|noise| view.table_row_of_doc(noise).0));
    }
}

/// The memory of a run, kept from batch to batch.
pub(super) struct Linking {
    kept: Kept,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    learner: Learner,
}

/// Up to `reach` places on each side of the gap before place `at`.
fn around(at: usize, reach: usize, len: usize) -> Range<usize> {
    at.saturating_sub(reach).min(len)..(at + reach).min(len)
}

/// The words of one document that are left after thinning.
#[derive(Default)]
struct Kept {
    document: Option<(usize, DocId)>,
    rows: Vec<u32>,
    /// For each of `rows`, its place among all words of the document.
    places: Vec<usize>,
}

impl Kept {
    fn load(&mut self, phase: &ReferenceCitation<'_>, epoch: usize, doc: DocId) {
        if self.document == Some((epoch, doc)) {
            return;
        }
        self.document = Some((epoch, doc));
        self.rows.clear();
        self.places.clear();
        let mut rng = phase.rng(epoch, 0, doc.index());
        for (place, &word) in phase.view.corpus.words(doc).iter().enumerate() {
            if let Some(row) = phase.view.word_row(word).filter(|&row| rng.chance(phase.keep[row.index()])) {
                self.rows.push(phase.view.table_row_of_word(row).0);
                self.places.push(place);
            }
        }
    }

    /// How many of the kept words stand before word `at` of the document.
    fn before(&self, at: usize) -> usize {
        self.places.partition_point(|&place| place < at)
    }
}

impl Phase for ReferenceCitation<'_> {
    fn name(&self) -> &'static str {
        "reference citation"
    }

    fn unit(&self) -> &'static str {
        "links"
    }

    fn epochs(&self) -> usize {
        self.params.epochs
    }

    fn batches(&self) -> usize {
        self.view.links.len().div_ceil(BATCH)
    }

    fn epoch(&self, epoch: usize, start: usize, tables: &mut Tables, after: After<'_>) -> ControlFlow<()> {
        let mut linking = self.begin(tables);
        for batch in start..self.batches() {
            let done = self.batch(epoch, batch, &mut linking, tables);
            after(&done, tables)?;
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow::Continue;

    use super::*;
    use crate::corpus::split::Split;
    use crate::corpus::{Corpus, CorpusOptions};
    use crate::import::{Format, ImportOptions};
    use crate::kernel::OutOfRange;
    use crate::model::tables::Table;
    use crate::tests::import;

    const SATURATE: Step = Step { rate: 0.1, beyond: OutOfRange::Saturate, divide: false };
    const SKIP: Step = Step { rate: 0.1, beyond: OutOfRange::Skip, divide: false };

    fn tables(input: &[&[f32]], output: &[&[f32]]) -> Tables {
        let table = |rows: &[&[f32]]| {
            let mut table = Table::new(rows.len(), 0, rows[0].len());
            rows.iter().enumerate().for_each(|(i, row)| table.row_mut(i)[..row.len()].copy_from_slice(row));
            table
        };
        Tables { input: table(input), output: table(output) }
    }

    fn random(rows: usize, dim: usize, size: f32, seed: u64) -> Tables {
        let mut tables = Tables { input: Table::new(rows, 0, dim), output: Table::new(rows, 0, dim) };
        tables.input.fill(0..rows, dim, seed, 1);
        tables.output.fill(0..rows, dim, seed, 2);
        for table in [&mut tables.input, &mut tables.output] {
            scale(size, table.data_mut());
        }
        tables
    }

    fn near(found: &[f32], expected: &[f32]) {
        let close = found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-6);
        assert!(close && found[expected.len()..].iter().all(|&x| x == 0.0), "{found:?}, not {expected:?}");
    }

    #[test]
    fn one_step_by_hand() {
        // h = (½, ½); h·target = 1, h·noise = −1; σ(1) = 0.731059, so g = ±0.1 · 0.268941.
        let mut t = tables(&[&[1.0, 0.0], &[0.0, 1.0]], &[&[2.0, 0.0], &[0.0, -2.0]]);
        let loss = step(SKIP, &[0, 1], &[0, 1], &mut t);
        near(t.output.row(0), &[2.0 + 0.026_894_1 / 2.0, 0.026_894_1 / 2.0]);
        near(t.output.row(1), &[-0.026_894_1 / 2.0, -2.0 - 0.026_894_1 / 2.0]);
        // error = g (2, 0) − g (0, −2), added whole to both inputs
        near(t.input.row(0), &[1.053_788_2, 0.053_788_2]);
        near(t.input.row(1), &[0.053_788_2, 1.053_788_2]);
        assert!((loss - 2.0 * 0.313_261_7).abs() < 1e-6);

        let mut t = tables(&[&[1.0, 0.0], &[0.0, 1.0]], &[&[2.0, 0.0], &[0.0, -2.0]]);
        step(Step { divide: true, ..SKIP }, &[0, 1], &[0, 1], &mut t);
        near(t.input.row(0), &[1.026_894_1, 0.026_894_1]);
    }

    #[test]
    fn beyond_six_pairs_are_skipped_or_saturated() {
        let slopes = |step: Step| {
            [-7.0, -6.0, 6.0, 7.0].map(|score| [1.0, 0.0].map(|label| (step.slope(score, label) * 1e4).round()))
        };
        assert_eq!(slopes(SKIP), [[0.0; 2]; 4]);
        // σ(6) = 0.99753
        let saturated = [[1000.0, 0.0], [998.0, -2.0], [2.0, -998.0], [0.0, -1000.0]];
        assert_eq!(slopes(SATURATE), saturated);

        let before = tables(&[&[1.0, 0.0]], &[&[-7.0, 3.0], &[7.0, 1.0], &[1.0, 1.0]]);
        let (mut skipped, mut saturated) = (before.copy().expect("room"), before.copy().expect("room"));
        let losses = [(SKIP, &mut skipped), (SATURATE, &mut saturated)].map(|(s, t)| step(s, &[0], &[0, 1], t));
        assert_eq!(losses[0], losses[1], "the loss counts them all the same");
        assert!((losses[0] - 14.001_823).abs() < 1e-5);
        assert_eq!(skipped.input.data(), before.input.data());
        assert_eq!(skipped.output.data(), before.output.data());
        near(saturated.output.row(0), &[-6.9, 3.0]);
        near(saturated.output.row(1), &[6.9, 1.0]);
        near(saturated.input.row(0), &[1.0 - 0.7 - 0.7, 0.3 - 0.1]);
    }

    /// The loss of one example in f64.
    fn loss(inputs: &[u32], outputs: &[u32], t: &Tables) -> f64 {
        let column = |c: usize| inputs.iter().map(|&i| f64::from(t.input.row(i as usize)[c])).sum::<f64>();
        let h: Vec<f64> = (0..t.input.stride()).map(|c| column(c) / inputs.len() as f64).collect();
        let score = |o: u32| h.iter().zip(t.output.row(o as usize)).map(|(h, &o)| h * f64::from(o)).sum::<f64>();
        let signed = outputs.iter().enumerate().map(|(i, &o)| if i == 0 { score(o) } else { -score(o) });
        signed.map(|score| (-score).exp().ln_1p()).sum()
    }

    #[test]
    fn a_divided_step_goes_down_the_gradient_of_the_loss() {
        let (inputs, outputs) = ([0, 2, 3, 2], [4, 1, 0]);
        let before = random(5, 3, 9.0, 7);
        let mut after = before.copy().expect("room");
        let how = Step { rate: 1e-2, beyond: OutOfRange::Skip, divide: true };
        let returned = step(how, &inputs, &outputs, &mut after);
        assert!((returned - loss(&inputs, &outputs, &before)).abs() < 1e-5);
        for cell in 0..before.input.data().len() {
            for output in [false, true] {
                let table = |t: &Tables| if output { t.output.data()[cell] } else { t.input.data()[cell] };
                let bent = |by: f32| {
                    let mut t = before.copy().expect("room");
                    let table = if output { &mut t.output } else { &mut t.input };
                    table.data_mut()[cell] += by;
                    loss(&inputs, &outputs, &t)
                };
                let gradient = (bent(1e-2) - bent(-1e-2)) / 2e-2;
                let moved = f64::from((table(&after) - table(&before)) / how.rate);
                let padding = cell % before.input.stride() >= 3;
                assert!(padding || (gradient + moved).abs() < 1e-4, "cell {cell}: {gradient} and {moved}");
            }
        }
    }

    #[test]
    fn the_kernel_gives_the_bits_of_the_plain_step() {
        let mut rng = Rng::keyed(1, &[]);
        for case in 0..200 {
            let (rows, dim) = (12, 1 + rng.below(40));
            // Up to scores far beyond six; rows come again among inputs and noise.
            let mut plain = random(rows, dim, [1.0, 30.0, 200.0][case % 3], case as u64);
            let mut fast = plain.copy().expect("room");
            let inputs: Vec<u32> = (0..rng.below(20)).map(|_| rng.below(rows) as u32).collect();
            let outputs: Vec<u32> = (0..1 + rng.below(30)).map(|_| rng.below(rows) as u32).collect();
            let beyond = [OutOfRange::Skip, OutOfRange::Saturate][case % 2];
            let divide = case % 5 == 0;
            let mut learner = Learner::new(30, beyond, divide, &fast);
            let expected = step(Step { rate: 0.1, beyond, divide }, &inputs, &outputs, &mut plain);
            assert_eq!(learner.learn(0.1, &inputs, &outputs, &mut fast).to_bits(), expected.to_bits());
            for (plain, fast) in [(&plain.input, &fast.input), (&plain.output, &fast.output)] {
                assert!(plain.data().iter().zip(fast.data()).all(|(x, y)| x.to_bits() == y.to_bits()), "case {case}");
            }
        }
    }

    fn corpus(dir: &std::path::Path, texts: &[(&str, &str)]) -> Corpus {
        let line = |(id, text): &(&str, &str)| serde_json::json!({"id": id, "text": text}).to_string();
        let input = dir.join("in.jsonl");
        std::fs::write(&input, texts.iter().map(line).collect::<Vec<_>>().join("\n")).expect("written");
        let corpus = CorpusOptions { min_count: 1, ..CorpusOptions::default() };
        let options = ImportOptions { corpus, ..ImportOptions::default() };
        import(Format::Jsonl, &[input], &dir.join("corpus"), &options, &mut |_| Continue(())).expect("imported")
    }

    #[test]
    fn windows_stand_where_links_are_or_as_many_words_too_far_right_as_links_came_before() {
        let dir = tempfile::tempdir().expect("a directory");
        let corpus =
            corpus(dir.path(), &[("a", "one two [[b]] three [[b]] four five six [[b]] seven"), ("b", "eight")]);
        let view = View::new(&corpus, &Split::none(&corpus), 1).expect("a view");
        let examples = |shift: bool| {
            let quiet = ReferenceParams { window: 1, shrink: false, sample: 0.0, ..ReferenceParams::default() };
            let params = ReferenceParams { shift, ..quiet };
            let phase = ReferenceCitation::new(&view, &params, 1);
            let mut kept = Kept::default();
            let mut list = |number| {
                let (mut inputs, mut outputs) = (vec![], vec![]);
                phase.list(0, number, &mut kept, &mut inputs, &mut outputs);
                let (target, source) = (view.table_rows() as u32 - 1, view.table_rows() as u32 - 2);
                assert_eq!((inputs[0], outputs[0]), (source, target));
                assert!(outputs[1..].iter().all(|&noise| noise == source), "draws of the target are dropped");
                assert!((400..600).contains(&(outputs.len() - 1)));
                let word = |&row: &u32| corpus.word(view.words[row as usize]);
                inputs[1..].iter().map(word).collect::<Vec<_>>().join(" ")
            };
            (0..view.links.len()).map(&mut list).collect::<Vec<_>>()
        };
        assert_eq!(examples(false), ["two three", "three four", "six seven"]);
        assert_eq!(examples(true), ["two three", "four five", ""]);
    }
}
