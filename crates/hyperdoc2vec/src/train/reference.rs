//! The paper's own training step, in plain loops; and the citation phase as the authors' program runs it.
//!
//! ```text
//! h = mean of the input rows
//! for the target (label 1) and each noise row (label 0), o being its output row:
//!     g = rate (label − σ(h·o));   error += g o;   o += g h
//! each input row += error
//! ```
//! Scores beyond ±6 are treated as [`Beyond`] says: skipped, as the authors' program does, so that a target whose
//! score has fallen below −6 never comes back; or saturated, as in word2vec.c. The error goes whole to each input row,
//! though h is their mean: [`Step::divide`] makes it the gradient of the loss.
//!
//! [`step`] is what the faster code is tested against. [`ReferenceCitation`] calls [`kernel::learn`](crate::kernel::learn), which
//! gives the same bits sooner. Each example sees what the one before it did, so the phase uses one thread.

use serde::{Deserialize, Serialize};
use std::ops::{ControlFlow, Range};

use super::example::{Learner, falling, keep_chances};
use super::view::{Example, View};
use super::{After, Done, Phase, Tables};
use crate::id::DocId;
use crate::kernel::{Beyond, Step, axpy, dot, log_sigmoid, scale};
use crate::rng::Rng;

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

/// How [`ReferenceCitation`] runs; by default as the authors' program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReferenceParams {
    /// Passes over the links.
    pub epochs: usize,
    /// Words on each side of a link.
    pub window: usize,
    /// Whether the window of each example is shrunk to a number drawn evenly from 1 to `window`.
    pub shrink: bool,
    /// Documents drawn evenly as noise for each example; one that hits the target is dropped.
    pub noise: usize,
    /// Words that make up more than this share are thinned out, see [`keep_chances`]; 0 for no thinning.
    pub sample: f64,
    /// The step size at the beginning.
    pub rate: f32,
    /// The step size at the end.
    pub last_rate: f32,
    /// What becomes of scores beyond ±6.
    pub beyond: Beyond,
    /// Whether the error is divided by the number of input rows.
    pub divide: bool,
    /// Whether windows stand too far right, by as many words as there are link positions before in the document.
    /// That is a slip in the authors' program: it numbers words and marks together, then takes the marks out.
    pub shift: bool,
}

impl Default for ReferenceParams {
    fn default() -> ReferenceParams {
        ReferenceParams {
            epochs: 100,
            window: 50,
            shrink: true,
            noise: 1000,
            sample: 1e-3,
            rate: 0.025,
            last_rate: 0.0001,
            beyond: Beyond::Skip,
            divide: false,
            shift: true,
        }
    }
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

    fn rng(&self, epoch: usize, what: u64, item: usize) -> Rng {
        Rng::keyed(self.seed, &[PHASE, epoch as u64, what, item as u64])
    }

    /// Input and output rows of one link.
    fn list(&self, epoch: usize, number: usize, kept: &mut Kept, inputs: &mut Vec<u32>, outputs: &mut Vec<u32>) {
        let (view, params) = (self.view, self.params);
        let Example { position, target } = view.links[number];
        let place = view.corpus.position(position as usize);
        kept.load(self, epoch, place.source);
        let mut rng = self.rng(epoch, 1, number);
        let reach = if params.shrink && params.window > 0 { 1 + rng.below(params.window) } else { params.window };
        let earlier = position as usize - view.corpus.position_range(place.source).start;
        let at = kept.before(place.at) + if params.shift { earlier } else { 0 };
        inputs.clear();
        inputs.extend(view.document_row(place.source));
        inputs.extend_from_slice(&kept.rows[around(at, reach, kept.rows.len())]);
        outputs.clear();
        outputs.push(target);
        let first = view.words.len() as u32;
        outputs.extend(
            (0..params.noise).map(|_| first + rng.below(view.documents.len()) as u32).filter(|&noise| noise != target),
        );
    }
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
            if let Some(row) = phase.view.word_row(word).filter(|&row| rng.chance(phase.keep[row as usize])) {
                self.rows.push(row);
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
        let params = self.params;
        let links = self.view.links.len();
        let total = (params.epochs * links) as u64;
        let (mut kept, mut inputs, mut outputs) = (Kept::default(), Vec::new(), Vec::new());
        let mut learner = Learner::new(params.noise, params.beyond, params.divide, tables);
        for batch in start..self.batches() {
            let numbers = batch * BATCH..links.min((batch + 1) * BATCH);
            let mut done = Done { batches: batch + 1, units: numbers.len() as u64, loss: 0.0 };
            for number in numbers {
                self.list(epoch, number, &mut kept, &mut inputs, &mut outputs);
                let rate = falling(params.rate, params.last_rate, (epoch * links + number) as u64, total);
                done.loss += learner.learn(rate, &inputs, &outputs, tables);
            }
            after(&done, tables)?;
        }
        ControlFlow::Continue(())
    }
}
