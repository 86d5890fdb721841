//! The citation phase: the words around a link, and the document it stands in, predict the document it points at.
//!
//! `x = Σ a_w · word_in[w] + a_s · doc_in[source]`, the weights summing to 1; `x · doc_out[target]` is to be high.
//! Unweighted, that is the paper's mean of the source and the context words. By default a word weighs
//! `exp(−distance/τ) · idf(word)`, and the source as much as a word on the average; and some words drawn from the text
//! of the source join in, so that at query time the text of a new document can.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::OnceLock;

use crate::corpus::view::{LinkExample, View};
use crate::id::{DocRow, TableRow, WordId};
use crate::kernel::{exp, ln, prefetch};
use crate::model::params::{CitationParams, LossFunction};
use crate::model::tables::Tables;
use crate::model::weighting::{WeightRule, Weighting};
use crate::rng::{Order, Rng};
use crate::train::batch::{Batch, Objective, Workspace, loss, step};
use crate::train::batched::{self, Batched};
use crate::train::occurrences::Numbering;
use crate::train::ranks::Team;
use crate::train::{After, Phase};

/// One run of the citation phase.
pub struct Citation<'a> {
    view: &'a View<'a>,
    params: &'a CitationParams,
    window: usize,
    seed: u64,
    /// The links to learn from, and those held out to find the pass to stop at.
    links: Cow<'a, [LinkExample]>,
    held_out: Vec<LinkExample>,
    from_content: bool,
    team: Team<'a>,
    /// Made with the first batch: a phase that waits for others takes no memory.
    looked_up: OnceLock<LookedUp>,
}

/// Numbers to look up for each word and document.
struct LookedUp {
    by_distance: Vec<f32>,
    /// For each word of the corpus its row and its weight by rarity, side by side: both are wanted at once.
    known: Vec<(u32, f32)>,
    /// For each document, the logarithm of the chance that it is a column of a batch.
    corrections: Vec<f32>,
}

/// In place of the row of a word that is too rare.
const UNKNOWN: u32 = u32::MAX;
/// The phase's number in the keys of random numbers.
const PHASE: u64 = 2;
/// The mean square gradient that rows begin with where they begin with vectors of the content phase.
const FIRST_SQUARE: f32 = 1e-3;
/// The key of the random numbers that hold out links; those of passes are keyed by the number of the pass.
const HOLD_OUT: u64 = u64::MAX;
/// The share of the positions held out where that is asked for.
const HELD_OUT: f32 = 0.05;

/// A link that is to be put into a batch.
struct Due<'a> {
    target: DocRow,
    /// The document it stands in.
    source: Option<DocRow>,
    /// The words of that, and how many of them stand before the link.
    text: &'a [WordId],
    at: usize,
}

impl<'a> Citation<'a> {
    /// Prepares to train on the links of `view`.
    pub fn new(view: &'a View<'a>, params: &'a CitationParams, window: usize, seed: u64) -> Citation<'a> {
        let (links, held_out) = if params.patience > 0 {
            let held_out =
                |link: &LinkExample| Rng::keyed(seed, &[PHASE, HOLD_OUT, u64::from(link.position)]).chance(HELD_OUT);
            let (held_out, links): (Vec<LinkExample>, Vec<LinkExample>) =
                view.links.iter().partition(|&link| held_out(link));
            (Cow::Owned(links), held_out)
        } else {
            (Cow::Borrowed(&view.links[..]), Vec::new())
        };
        let (from_content, team, looked_up) = (false, Team::default(), OnceLock::new());
        Citation { view, params, window, seed, links, held_out, from_content, team, looked_up }
    }

    /// Shares its batches with other ranks.
    pub(crate) fn shared_by(self, team: Team<'a>) -> Citation<'a> {
        Citation { team, ..self }
    }

    fn objective(&self) -> Objective<'_> {
        Objective { loss: self.params.loss, team: self.team }
    }

    /// Begins where PV-DBOW ended. There a document's IN vector predicts the OUT vectors of its words; here words are to
    /// lead to documents: words take their OUT vectors as IN, documents their IN vectors as OUT. So a context leads to
    /// documents that would say it before the first link is learnt, and still does where no link was.
    pub fn from_content(self) -> Citation<'a> {
        Citation { from_content: true, ..self }
    }

    fn looked_up(&self) -> &LookedUp {
        self.looked_up.get_or_init(|| self.look_up())
    }

    fn look_up(&self) -> LookedUp {
        let (view, params) = (self.view, self.params);
        let mut counts = vec![0u32; view.documents.len()];
        self.links.iter().for_each(|link| counts[link.target.index()] += 1);
        let documents = view.documents.len() as f32;
        let noise = params.noise.min(view.documents.len()) as f32;
        // π = 1 − (1 − n/D)(1 − p)^B: drawn as noise, or target of one of the batch's links.
        let batch = params.batch.min(self.links.len()) as f32;
        let correction = |&count: &u32| {
            let share = count as f32 / self.links.len().max(1) as f32;
            let absent = (1.0 - noise / documents) * exp(batch * ln(1.0 - share.min(0.999_999)));
            if params.loss == LossFunction::FullSoftmax { 0.0 } else { ln((1.0 - absent).max(1e-20)) }
        };
        let corrections = counts.iter().map(correction).collect();
        let Weighting { by_distance, by_word } =
            Weighting::new(view, self.window, WeightRule { decay: params.decay, rarity: params.rarity });
        let mut known = vec![(UNKNOWN, 0.0); view.corpus.distinct_words()];
        (0..).zip(view.words.iter()).for_each(|(row, word)| known[word.index()] = (row, by_word[row as usize]));
        LookedUp { by_distance, known, corrections }
    }

    /// Lists the rows and weights of up to `window` known words, the nearest first, adds the weights to `total`, and
    /// returns how many there are.
    fn list<'w>(
        &self,
        looked_up: &LookedUp,
        words: impl Iterator<Item = &'w WordId> + Clone,
        rows: &mut [u32],
        weights: &mut [f32],
        total: &mut f32,
    ) -> usize {
        let window = self.window.min(rows.len());
        let (rows, weights, by_distance) =
            (&mut rows[..window], &mut weights[..window], &looked_up.by_distance[..window]);
        words.clone().take(window).for_each(|word| prefetch(&looked_up.known[word.index()..][..1]));
        let mut listed = 0;
        for word in words {
            if listed == window {
                break;
            }
            // Written before it is known whether it stays: there is nothing to guess then but where the text ends. What
            // is not known weighs 0.
            let (row, rarity) = looked_up.known[word.index()];
            let weight = by_distance[listed] * rarity;
            (rows[listed], weights[listed]) = (row, weight);
            *total += weight;
            listed += usize::from(row != UNKNOWN);
        }
        listed
    }

    /// Looks up where a link stands.
    fn due(&self, link: &LinkExample) -> Due<'a> {
        let place = self.view.corpus.position(link.position as usize);
        let text = self.view.corpus.words(place.source);
        Due { target: link.target, source: self.view.document_row(place.source), text, at: place.at }
    }

    /// Draws words of the source, and asks the memory for them and for those around the link.
    fn ask(&self, due: &Due<'_>, rng: &mut Rng, drawn: &mut [u32]) {
        let Due { text, at, .. } = *due;
        prefetch(&text[at.saturating_sub(self.window)..(at + self.window).min(text.len())]);
        if !text.is_empty() {
            for place in drawn {
                let drawn = rng.below(text.len());
                prefetch(&text[drawn..=drawn]);
                *place = drawn as u32;
            }
        }
    }

    /// Fills a batch with `links`, and noise drawn from `rng`.
    fn fill(&self, links: impl Iterator<Item = LinkExample>, mut rng: Rng, batch: &mut Batch, scratch: &mut Numbering) {
        batch.clear();
        batch.noise_weight = self.params.noise_weight;
        let (view, looked_up) = (self.view, self.looked_up());
        // Step by step, for all links before the next step: what one link waits for in memory, the others ask for
        // meanwhile.
        let links: Vec<LinkExample> = links.collect();
        let due: Vec<Due<'_>> = links.iter().map(|link| self.due(link)).collect();
        let (mut drawn, mut next) = (vec![0; self.params.source_words], vec![0; self.params.source_words]);
        due.first().into_iter().for_each(|due| self.ask(due, &mut rng, &mut next));
        for (number, &Due { target, source, text, at }) in due.iter().enumerate() {
            std::mem::swap(&mut drawn, &mut next);
            due.get(number + 1).into_iter().for_each(|due| self.ask(due, &mut rng, &mut next));
            let (before, after) = text.split_at(at);
            let (mut listed, mut total) = (0, 0.0);
            batch.inputs(2 * self.window, |rows, weights| {
                listed = self.list(looked_up, before.iter().rev(), rows, weights, &mut total);
                listed += self.list(looked_up, after.iter(), &mut rows[listed..], &mut weights[listed..], &mut total);
                listed
            });
            if let Some(source) = source {
                let weight = if total == 0.0 { 1.0 } else { total / listed as f32 };
                total += weight;
                batch.input(view.table_row_of_doc(source), weight);
            }
            if !text.is_empty() && total > 0.0 {
                let (start, mut sum) = (batch.open_weights().len(), 0.0);
                batch.inputs(drawn.len(), |rows, weights| {
                    let mut listed = 0;
                    for &place in &drawn {
                        let (row, rarity) = looked_up.known[text[place as usize].index()];
                        (rows[listed], weights[listed]) = (row, rarity);
                        sum += rarity;
                        listed += usize::from(row != UNKNOWN);
                    }
                    listed
                });
                if sum > 0.0 {
                    let scale = self.params.source_weight * total / sum;
                    batch.open_weights()[start..].iter_mut().for_each(|weight| *weight *= scale);
                    total += self.params.source_weight * total;
                }
            }
            if total > 0.0 {
                batch.open_weights().iter_mut().for_each(|weight| *weight /= total);
            }
            batch.finish_example(view.table_row_of_doc(target));
        }
        let documents = view.documents.len();
        let mut noise: Vec<DocRow> = match self.params.loss {
            LossFunction::FullSoftmax => view.document_rows().collect(),
            _ => (0..self.params.noise.min(documents)).map(|_| DocRow(rng.below(documents) as u32)).collect(),
        };
        noise.sort_unstable();
        let noise: Vec<TableRow> = noise.into_iter().map(|document| view.table_row_of_doc(document)).collect();
        // Columns are targets and noise: documents all.
        let correction = |column| view.doc_of(column).map_or(0.0, |document| looked_up.corrections[document.index()]);
        batch.index(&noise, correction, scratch);
    }
}

impl Phase for Citation<'_> {
    fn name(&self) -> &'static str {
        "citation"
    }

    fn unit(&self) -> &'static str {
        "links"
    }

    fn epochs(&self) -> usize {
        self.params.epochs
    }

    fn batches(&self) -> usize {
        self.links.len().div_ceil(self.params.batch)
    }

    fn epoch(&self, epoch: usize, start: usize, tables: &mut Tables, after: After<'_>) -> ControlFlow<()> {
        batched::epoch(self, epoch, start, tables, after)
    }

    fn prepare(&self, tables: &mut Tables) {
        if !self.from_content {
            return;
        }
        let Tables { input, output } = tables;
        input.halves_mut().0.copy_from_slice(output.halves().0);
        output.halves_mut().1.copy_from_slice(input.halves().1);
        // As though some gradients had been seen, lest the first one throw a row far from where it was put.
        input.squares_mut().fill(FIRST_SQUARE);
        output.squares_mut().fill(FIRST_SQUARE);
    }

    fn patience(&self) -> usize {
        self.params.patience
    }

    fn held_out_loss(&self, tables: &mut Tables) -> Option<f64> {
        let (mut batch, mut work) = (Batch::default(), Workspace::default());
        let mut scratch = Numbering::new(self.view.table_rows());
        let mut sum = 0.0;
        for (number, links) in self.held_out.chunks(self.params.batch).enumerate() {
            let rng = Rng::keyed(self.seed, &[PHASE, HOLD_OUT, HOLD_OUT, number as u64]);
            self.fill(links.iter().copied(), rng, &mut batch, &mut scratch);
            sum += loss(&mut batch, tables, self.objective(), &mut work);
        }
        (!self.held_out.is_empty()).then(|| sum / self.held_out.len() as f64)
    }
}

impl Batched for Citation<'_> {
    type Batch = Batch;
    type Work = Workspace;

    fn view(&self) -> &View<'_> {
        self.view
    }

    fn build(&self, epoch: usize, number: usize, batch: &mut Batch, scratch: &mut Numbering) {
        let order = Order::keyed(self.links.len(), self.seed, &[PHASE, epoch as u64]);
        let start = number * self.params.batch;
        let end = (start + self.params.batch).min(self.links.len());
        let links = (start..end).map(|place| self.links[order.at(place)]);
        let rng = Rng::keyed(self.seed, &[PHASE, epoch as u64, number as u64]);
        self.fill(links, rng, batch, scratch);
    }

    fn step(&self, batch: &mut Batch, tables: &mut Tables, fade: f32, work: &mut Workspace) -> (u64, f64) {
        let loss = step(batch, tables, self.objective(), self.params.rate * fade, work);
        (batch.len() as u64, loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::split::Split;
    use crate::corpus::window::NearWord;
    use crate::document::Document;
    use crate::id::WordRow;
    use crate::import::Import;

    #[test]
    fn a_batch_weighs_words_as_the_rule_does() {
        let dir = tempfile::tempdir().expect("a directory");
        let documents = [
            Document::new("a", "common far rare near touching [[b]] touching once common near far common"),
            Document::new("b", "common words: far, near, touching"),
            Document::new("c", "common rare [[a]] common far"),
            Document::new("d", "[[c]] common common"),
        ];
        let corpus = Import::documents(documents).min_count(1).build(dir.path().join("c")).expect("a corpus");
        let view = View::new(&corpus, &Split::none(&corpus), 2).expect("a view");
        assert!(view.words.len() < corpus.distinct_words(), "some words are too rare");
        let (window, source_words, source_weight) = (3, 8, 0.5);
        let params = CitationParams { source_words, source_weight, decay: 2.0, ..CitationParams::default() };
        let weighting = Weighting::new(&view, window, WeightRule { decay: 2.0, rarity: true });
        let phase = Citation::new(&view, &params, window, 1);
        assert_eq!(view.links.len(), 3);
        for link in view.links.iter() {
            let (mut batch, mut scratch) = (Batch::default(), Numbering::new(view.table_rows()));
            phase.fill(std::iter::once(*link), Rng::keyed(1, &[]), &mut batch, &mut scratch);
            let (rows, weights) = batch.inputs_of(0);
            let around: Vec<NearWord> = view.window_at(link.position as usize, window).collect();
            let (words, drawn) = rows.split_at(around.len());
            assert_eq!(words, around.iter().map(|word| word.row.0).collect::<Vec<_>>());
            let source = view.document_row(corpus.position(link.position as usize).source).expect("trained on");
            assert_eq!(drawn[0], view.table_row_of_doc(source).0, "behind the words the source");
            let drawn: Vec<WordRow> = drawn[1..].iter().map(|&row| WordRow(row)).collect();
            assert!(!drawn.is_empty() && drawn.iter().all(|word| word.index() < view.words.len()));
            // The source counts as one word more, and words drawn from it as `source_weight` beside all that.
            let share = 1.0 / (1.0 + source_weight) / (around.len() + 1) as f32;
            let mut expected: Vec<f32> =
                weighting.of_window(&around).iter().map(|weight| weight * share * around.len() as f32).collect();
            expected.push(share);
            let text = weighting.of_text(&drawn);
            expected.extend(text.iter().map(|weight| weight * source_weight / (1.0 + source_weight)));
            let near = weights.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-6);
            assert!(near && weights.len() == expected.len(), "{weights:?}, not {expected:?}");
        }
    }
}
