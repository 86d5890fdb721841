//! Learning to weigh the rankings: see [`crate::search::ranker`].
//!
//! A tenth of the documents, the latest where links lead back in time, is taken for new: a model is trained and an
//! index is made as if their links were not there, starting from what the content phase learnt, which saw no links.
//! Where these have few links, other tenths follow in their turn. Then the rankings are asked for these links, with and
//! without the source, half of them without the link's own words, and trees learn which candidates are right. The model
//! itself is trained on everything afterwards.
//!
//! It is to cost little beside that: a fold takes two passes over the links, questions are few, and fewer where documents
//! are many. The tables that the last phase begins with wait in a file meanwhile, so that memory holds one set of them, or
//! the mapped model of a fold.

use std::path::Path;

use rayon::prelude::*;
use serde_json::json;

use crate::corpus::view::{LinkExample, View};
use crate::error::{Error, Result};
use crate::id::{DocId, DocRow};
use crate::infer::newcomers::{self, ContentMap};
use crate::kernel::ln;
use crate::model::Model;
use crate::model::params::TrainParams;
use crate::model::tables::Tables;
use crate::model::write::{ContentIndex, ModelWriter};
use crate::rng::Rng;
use crate::search::ranker::forest::{BoostParams, Forest, Samples};
use crate::search::ranker::{ALONE, CalibrationBin, FEATURES, LinkSource, Ranker, Scope, bins_json, candidates};
use crate::search::{Query, Searcher};
use crate::storage::atomic;
use crate::train::checkpoint::{SpilledTables, none};
use crate::train::phases::phases;
use crate::train::run::{Run, TrainProgress, TrainWatch, run_alone};

/// The share of the documents taken for new.
const HELD_OUT: f64 = 0.1;
/// Links asked for, at the most.
const MAX_QUESTIONS: usize = 2000;
/// And no more than this divided by the number of documents, all of which are scored for each.
const MAX_PAIRS: usize = 600_000_000;
/// Passes over the links of a fold, at the most, where these begin with the vectors of the content phase: more change
/// the rankings little.
const FOLD_PASSES: usize = 2;
/// With fewer questions in a fold nothing is learnt from it.
const MIN_PER_FOLD: usize = 20;
/// Folds are added until there are so many questions,
const TARGET_QUESTIONS: usize = 1500;
/// or so many folds.
const MAX_FOLDS: usize = 5;
/// Where more of the links lead to later documents, documents are not held out by date.
const MAX_FORWARD_LINKS: f64 = 0.1;
/// One in so many documents held out is kept to find when to stop, and how well probabilities hold.
const CHECKED_ONE_IN: usize = 4;
/// A candidate among the first so many of no ranking is one of many; one in [`THINNED_ONE_IN`] is learnt from.
const LEADING: f32 = 10.0;
const THINNED_ONE_IN: usize = 4;
/// With fewer samples than this, simpler trees may hold better.
const SMALL_SET: usize = 100_000;
/// The depths that are tried then, and the one taken otherwise.
const TRIED_DEPTHS: [usize; 3] = [2, 3, 5];
const DEPTH: usize = 5;
/// The name of the asking in progress; it has no loss.
pub(crate) const QUESTIONS: &str = "questions";
/// The name of the growing of trees in progress.
pub(crate) const TREES: &str = "trees";
/// Questions between two looks at whether to go on.
const AT_ONCE: usize = 64;
/// Keys of random numbers.
const PURPOSE: u64 = 0x4b1d;

/// Whether a ranker is learnt for a run with these parameters.
pub fn is_for(params: &TrainParams) -> bool {
    params.hybrid && params.method.weighs_words()
}

/// Whether there are links enough in `view` to learn from.
pub fn has_links_for(view: &View<'_>, seed: u64) -> bool {
    folds(view, seed).next().is_some_and(|fold| fold.questions(view).len() >= MIN_PER_FOLD)
}

/// Some documents taken for new.
struct NewcomerFold {
    /// Those whose links are asked for.
    asked: Vec<usize>,
    /// Whether a document is one of them or, in time, later: not there.
    held: Vec<bool>,
}

/// Tenths of the documents of `view`, one after the other.
fn folds(view: &View<'_>, seed: u64) -> impl Iterator<Item = NewcomerFold> {
    let corpus = view.corpus;
    let dates: Vec<_> = view.documents.iter().map(|&doc| corpus.date(doc)).collect();
    let leads_forward =
        |link: &&LinkExample| corpus.date(corpus.position(link.position as usize).source) < dates[link.target.index()];
    let in_time = dates.iter().all(Option::is_some)
        && view.links.iter().filter(leads_forward).count() as f64 <= MAX_FORWARD_LINKS * view.links.len() as f64
        && dates.iter().min() < dates.iter().max();
    let mut order: Vec<usize> = (0..dates.len()).collect();
    Rng::keyed(seed, &[PURPOSE]).shuffle(&mut order);
    if in_time {
        order.sort_by_key(|&document| std::cmp::Reverse(dates[document]));
    }
    let count = (dates.len() as f64 * HELD_OUT).ceil() as usize;
    (0..MAX_FOLDS).map(move |fold| {
        let part = (fold * count).min(order.len())..((fold + 1) * count).min(order.len());
        let asked = order[part.clone()].to_vec();
        let mut held = vec![false; order.len()];
        order[if in_time { 0 } else { part.start }..part.end].iter().for_each(|&document| held[document] = true);
        NewcomerFold { asked, held }
    })
}

/// A link that is asked for: where it stands, and the candidates that are right.
struct LinkQuestion {
    position: usize,
    source: DocId,
    truths: Vec<DocRow>,
}

impl NewcomerFold {
    /// The links that can be asked for.
    fn questions(&self, view: &View<'_>) -> Vec<LinkQuestion> {
        let mut all = Vec::new();
        for source in self.asked.iter().map(|&document| view.documents[document]) {
            for position in view.corpus.position_range(source) {
                let targets = view.corpus.position(position).targets.iter();
                let rows = targets.filter_map(|&target| view.document_row(target));
                let truths: Vec<DocRow> = rows.filter(|row| !self.held[row.index()]).collect();
                if !truths.is_empty() {
                    all.push(LinkQuestion { position, source, truths });
                }
            }
        }
        all
    }
}

/// Learns from the view of `run`, whose last phase begins with `tables`; a model of the documents that are not taken for
/// new is kept beside `destination` meanwhile, and so are the tables, which are the same again in the end. `None` where
/// there are too few links to learn from.
pub(crate) fn learn(
    run: &Run<'_>,
    tables: &mut Tables,
    content: &ContentIndex,
    destination: &Path,
    watch: TrainWatch<'_>,
) -> Result<Option<Ranker>> {
    let spilled = SpilledTables::new(tables, run.params.dim, atomic::parent(destination))?;
    let mut asking = Asking { view: run.view, params: run.params, content, destination, watch };
    let gathered = asking.gather(tables, &spilled);
    // Where it was stopped, too: a checkpoint has them as they were.
    spilled.restore(tables)?;
    let Some(Gathered { links, mut learnt, checked }) = gathered? else { return Ok(None) };
    let mut bins: Vec<CalibrationBin> = Vec::new();
    let mut forests = Vec::new();
    let depths = |samples: &Samples| if samples.len() < SMALL_SET { &TRIED_DEPTHS[..] } else { &[DEPTH] };
    let total = learnt.iter().map(|samples| depths(samples).len() + 1).sum();
    let mut fits = Fits { done: 0, total, grown: 0, watch: asking.watch };
    for kind in 0..2 {
        let mut tries = Vec::new();
        for &max_depth in depths(&learnt[kind]) {
            let params = BoostParams { max_depth, ..BoostParams::default() };
            let forest = fits.fit(&learnt[kind], Some(&checked[kind]), &params)?;
            tries.push((forest.loss(&checked[kind]), params, forest));
        }
        let best = tries.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let (_, params, tried) = best.unwrap_or_default();
        Ranker::check(&tried, &checked[kind], &mut bins);
        learnt[kind].extend(&checked[kind]);
        forests.push(fits.fit(&learnt[kind], None, &BoostParams { trees: tried.trees(), ..params })?);
    }
    let (sourced, alone) = (forests.pop().unwrap_or_default(), forests.pop().unwrap_or_default());
    Ok(Some(Ranker { alone, sourced, about: json!({"links": links, "calibration": bins_json(&bins)}) }))
}

/// Fits forests one after the other, and reports progress.
struct Fits<'a> {
    done: usize,
    total: usize,
    grown: u64,
    watch: TrainWatch<'a>,
}

impl Fits<'_> {
    fn fit(&mut self, samples: &Samples, checked: Option<&Samples>, params: &BoostParams) -> Result<Forest> {
        let (done, total) = (self.done, self.total);
        self.done += 1;
        let Fits { grown, watch, .. } = self;
        let forest = Forest::fit_while(samples, checked, params, &mut |tree| {
            let part = tree as f64 / params.trees.max(1) as f64;
            *grown += 1;
            watch(&TrainProgress {
                phase: TREES,
                epoch: done,
                epochs: total,
                batch: tree + 1,
                batches: params.trees,
                unit: TREES,
                units: *grown,
                loss: None,
                done: (done as f64 + part) / total as f64,
                held_out: None,
                kept: None,
            })
        });
        forest.ok_or(Error::Interrupted)
    }
}

/// Samples to learn from, without and with the source.
struct Gathered {
    /// How many links were asked for.
    links: usize,
    learnt: [Samples; 2],
    checked: [Samples; 2],
}

/// Asks models of a view for links held out of them.
struct Asking<'a> {
    view: &'a View<'a>,
    params: &'a TrainParams,
    content: &'a ContentIndex,
    destination: &'a Path,
    watch: TrainWatch<'a>,
}

/// No samples yet, without and with the source.
fn no_samples() -> [Samples; 2] {
    [ALONE, FEATURES.len()].map(Samples::new)
}

impl Asking<'_> {
    /// Asks for the links of as many folds as it takes. `tables` are `spilled` too, and are not the same in the end.
    fn gather(&mut self, tables: &mut Tables, spilled: &SpilledTables) -> Result<Option<Gathered>> {
        let Asking { view, params, .. } = *self;
        let (mut learnt, mut checked) = (no_samples(), no_samples());
        let (mut links, mut last) = (0, 0);
        let most = MAX_QUESTIONS.min(MAX_PAIRS / view.documents.len().max(1)).max(MIN_PER_FOLD);
        for (number, fold) in folds(view, params.seed).enumerate() {
            // Another tenth only where it brings many more.
            if links + last / 2 >= TARGET_QUESTIONS.min(most) {
                break;
            }
            let mut questions = fold.questions(view);
            if questions.len() > most {
                Rng::keyed(params.seed, &[PURPOSE, 1, number as u64]).shuffle(&mut questions);
                questions.truncate(most);
                questions.sort_unstable_by_key(|question| question.position);
            }
            if questions.len() < MIN_PER_FOLD {
                break;
            }
            (links, last) = (links + questions.len(), questions.len());
            if number > 0 {
                spilled.restore(tables)?;
            }
            for (question, samples) in questions.iter().zip(self.ask(tables, &fold, &questions)?) {
                let key = [PURPOSE, 2, u64::from(question.source.0)];
                let check = Rng::keyed(params.seed, &key).below(CHECKED_ONE_IN) == 0;
                let into = if check { &mut checked } else { &mut learnt };
                into.iter_mut().zip(&samples).for_each(|(into, samples)| into.extend(samples));
            }
        }
        Ok((links > 0).then_some(Gathered { links, learnt, checked }))
    }

    /// Trains `tables` as if what `fold` holds out were not there, and asks for its links; nothing is left of the tables.
    fn ask(
        &mut self,
        tables: &mut Tables,
        fold: &NewcomerFold,
        questions: &[LinkQuestion],
    ) -> Result<Vec<[Samples; 2]>> {
        let Asking { params, content, destination, .. } = *self;
        let before = self.view.without_links_of(&fold.held);
        let mut quick = params.clone();
        quick.citation.patience = 0;
        if params.starts_from_content() {
            quick.citation.epochs = quick.citation.epochs.min(FOLD_PASSES);
        }
        let watch = &mut self.watch;
        let renamed = &mut |progress: &TrainProgress| watch(&TrainProgress { phase: "hybrid", ..progress.clone() });
        if let Some(phase) = phases(&before, None, &quick).pop() {
            run_alone(phase.as_ref(), tables, renamed)?;
        }
        let map = newcomers::fill(&before, tables, params);
        let (folder, _lock) = atomic::unfinished_directory(destination)?;
        let path = folder.path().join("model");
        ModelWriter::new(&before, tables, params)
            .arrays(map.as_ref().map(ContentMap::tensor))
            .write_with(&path, content)?;
        *tables = none();
        let model = Model::open(&path)?;
        let fold = FoldModel { view: &before, searcher: &Searcher::new(&model), content, params, held: &fold.held };
        let mut all = Vec::with_capacity(questions.len());
        let parts = questions.chunks(AT_ONCE);
        let batches = parts.len();
        for (number, part) in parts.enumerate() {
            all.extend(part.par_iter().map(|question| fold.samples(question)).collect::<Result<Vec<_>>>()?);
            let progress = TrainProgress {
                phase: QUESTIONS,
                epoch: 0,
                epochs: 1,
                batch: number + 1,
                batches,
                unit: QUESTIONS,
                units: all.len() as u64,
                loss: None,
                done: (number + 1) as f64 / batches as f64,
                held_out: None,
                kept: None,
            };
            if watch(&progress).is_break() {
                return Err(Error::Interrupted);
            }
        }
        Ok(all)
    }
}

/// A model trained without the links of a fold, ready to be asked for them.
struct FoldModel<'a> {
    view: &'a View<'a>,
    searcher: &'a Searcher<'a>,
    content: &'a ContentIndex,
    params: &'a TrainParams,
    held: &'a [bool],
}

impl FoldModel<'_> {
    /// The samples of one link, without and with its source.
    fn samples(&self, question: &LinkQuestion) -> Result<[Samples; 2]> {
        let FoldModel { view, searcher, content, params, held } = *self;
        let mut rng = Rng::keyed(params.seed, &[PURPOSE, 3, question.position as u64]);
        let query = Query::of_link(view, &content.terms, question.position, params.window, rng.chance(0.5));
        let source = LinkSource::of_link(view, searcher.model(), question.position, |row| !held[row.index()])?;
        let admitted = |row: usize| !held[row];
        let ranks: Vec<usize> = (0..FEATURES.len()).filter(|&feature| FEATURES[feature].ends_with(" rank")).collect();
        let leading_rank = ln(1.0 + LEADING) - 1e-4;
        let mut samples = no_samples();
        // What is known without the source comes first: one look at the candidates is enough for both.
        let Some(candidates) = candidates(searcher, &query, Some(&source), Scope::of(&admitted))? else {
            return Ok(samples);
        };
        for (place, row) in candidates.rows.iter().enumerate() {
            let label = question.truths.contains(row);
            let drawn = rng.below(THINNED_ONE_IN) == 0;
            for samples in samples.iter_mut().filter(|samples| samples.width > ALONE || candidates.alone[place]) {
                let features = &candidates.row(place)[..samples.width];
                let leading = ranks.iter().any(|&rank| features.get(rank).is_some_and(|&rank| rank < leading_rank));
                if label || leading || drawn {
                    samples.rows.extend_from_slice(features);
                    samples.labels.push(label);
                    samples.weights.push(if label || leading { 1.0 } else { THINNED_ONE_IN as f32 });
                }
            }
        }
        Ok(samples)
    }
}
