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

use crate::corpus::view::{Example, View};
use crate::error::{Error, Result};
use crate::id::DocId;
use crate::infer::newcomers::{self, ContentMap};
use crate::kernel::ln;
use crate::model::Model;
use crate::model::index::terms::Terms;
use crate::model::params::{Method, TrainParams};
use crate::model::tables::Tables;
use crate::model::write::{ContentIndex, ModelWriter};
use crate::rng::Rng;
use crate::search::ranker::forest::{Examples, Forest, Growth};
use crate::search::ranker::{ALONE, Bin, FEATURES, Ranker, Scope, Source, bins_json, candidates};
use crate::search::{Query, Searcher};
use crate::storage::atomic;
use crate::train::checkpoint::{SpilledTables, none};
use crate::train::phases::phases;
use crate::train::run::{Run, TrainProgress, TrainWatch, run_alone};

/// The share of the documents taken for new.
const HELD_OUT: f64 = 0.1;
/// Links asked for, at the most.
const MOST: usize = 2000;
/// And no more than this divided by the number of documents, all of which are scored for each.
const PAIRS: usize = 600_000_000;
/// Passes over the links of a fold, at the most, where these begin with the vectors of the content phase: more change
/// little of what the rankings say.
const PASSES: usize = 2;
/// With fewer in a fold nothing is learnt from it.
const LEAST: usize = 20;
/// Folds are added until there are so many links,
const ENOUGH: usize = 1500;
/// or so many folds.
const FOLDS: usize = 5;
/// Where more of the links lead to later documents, documents are not held out by date.
const LATER: f64 = 0.1;
/// One in so many documents held out tells when to stop, and how well probabilities hold.
const CHECK: usize = 4;
/// A candidate among the first so many of no ranking is one of many; one in [`THINNED`] is learnt from.
const FIRST: f32 = 10.0;
const THINNED: usize = 4;
/// Words on each side of a link that may count, in windows: words that are not known do not fill a window.
const REACH: usize = 8;
/// Fewer examples than this are little to learn from.
const LITTLE: usize = 100_000;
/// What the asking is called where progress is told; it has no loss.
pub const QUESTIONS: &str = "questions";
/// And the growing of trees.
pub const TREES: &str = "trees";
/// Questions between two looks at whether to go on.
const AT_ONCE: usize = 64;
/// Keys of random numbers.
const PURPOSE: u64 = 0x4b1d;

/// Whether a method is one that is learnt for.
pub fn is_for(params: &TrainParams) -> bool {
    params.hybrid && matches!(params.method, Method::HyperDoc | Method::Joint)
}

/// Whether there are links enough in `view` to learn from.
pub fn has_links_for(view: &View<'_>, seed: u64) -> bool {
    folds(view, seed).next().is_some_and(|fold| asked(view, &fold).len() >= LEAST)
}

/// Some documents taken for new.
struct Fold {
    /// Those whose links are asked for.
    asked: Vec<usize>,
    /// Whether a document is one of them or, in time, later: not there.
    held: Vec<bool>,
}

/// Tenths of the documents of `view`, one after the other.
fn folds(view: &View<'_>, seed: u64) -> impl Iterator<Item = Fold> {
    let corpus = view.corpus;
    let first = view.words.len();
    let dates: Vec<_> = view.documents.iter().map(|&doc| corpus.date(doc)).collect();
    let later = |link: &&Example| {
        corpus.date(corpus.position(link.position as usize).source) < dates[link.target as usize - first]
    };
    let in_time = dates.iter().all(Option::is_some)
        && view.links.iter().filter(later).count() as f64 <= LATER * view.links.len() as f64
        && dates.iter().min() < dates.iter().max();
    let mut order: Vec<usize> = (0..dates.len()).collect();
    Rng::keyed(seed, &[PURPOSE]).shuffle(&mut order);
    if in_time {
        order.sort_by_key(|&document| std::cmp::Reverse(dates[document]));
    }
    let count = (dates.len() as f64 * HELD_OUT).ceil() as usize;
    (0..FOLDS).map(move |fold| {
        let part = (fold * count).min(order.len())..((fold + 1) * count).min(order.len());
        let asked = order[part.clone()].to_vec();
        let mut held = vec![false; order.len()];
        order[if in_time { 0 } else { part.start }..part.end].iter().for_each(|&document| held[document] = true);
        Fold { asked, held }
    })
}

/// The question that a link is the answer to; the link's own words left out where `anchor` is false.
pub fn question(view: &View<'_>, terms: &Terms, position: usize, window: usize, anchor: bool) -> Query {
    let position = view.corpus.position(position);
    let (before, after) = view.corpus.context(&position, REACH * window);
    let before = if anchor { before } else { &before[..before.len().saturating_sub(position.anchor)] };
    let rows: Vec<Option<u32>> = before.iter().chain(after).map(|&word| terms.row(word)).collect();
    Query::of_rows(&rows, Some(before.len()), view.words.len(), window)
}

/// What a link's source is known by: its text, its date, and the links before this one that lead to documents which are
/// `admitted`.
pub fn source(view: &View<'_>, model: &Model, position: usize, admitted: impl Fn(u32) -> bool) -> Result<Source> {
    let (corpus, first) = (view.corpus, view.words.len() as u32);
    let doc: DocId = corpus.position(position).source;
    let before = corpus.position_range(doc).take_while(|&number| number < position);
    let targets = before.flat_map(|number| corpus.position(number).targets);
    let links = targets.filter_map(|&target| view.document_row(target)).map(|row| row - first);
    let links = links.filter(|&link| admitted(link)).collect();
    let words = corpus.words(doc).iter().filter_map(|&word| view.word_row(word));
    let source = Source::of_words(model, words, links)?;
    Ok(Source { date: corpus.date(doc), ..source })
}

/// A question of the held-out links, and the candidates that are right.
struct Asked {
    position: usize,
    source: DocId,
    truths: Vec<u32>,
}

/// The links of a fold that can be asked for.
fn asked(view: &View<'_>, fold: &Fold) -> Vec<Asked> {
    let first = view.words.len() as u32;
    let mut all = Vec::new();
    for source in fold.asked.iter().map(|&document| view.documents[document]) {
        for position in view.corpus.position_range(source) {
            let targets = view.corpus.position(position).targets.iter();
            let rows = targets.filter_map(|&target| view.document_row(target)).map(|row| row - first);
            let truths: Vec<u32> = rows.filter(|&row| !fold.held[row as usize]).collect();
            if !truths.is_empty() {
                all.push(Asked { position, source, truths });
            }
        }
    }
    all
}

/// Learns from `view`, whose last phase begins with `tables`; a model of the documents that are not taken for new is
/// kept beside `destination` meanwhile, and so are the tables, which are the same again in the end. `None` where there are too
/// few links to learn from.
pub(crate) fn learn(
    run: &Run<'_>,
    tables: &mut Tables,
    content: &ContentIndex,
    destination: &Path,
    watch: TrainWatch<'_>,
) -> Result<Option<Ranker>> {
    let Run { view, params, .. } = *run;
    let aside = SpilledTables::new(tables, params.dim, atomic::parent(destination))?;
    let gathered = gather(view, params, tables, &aside, content, destination, watch);
    // Where it was stopped, too: a checkpoint has them as they were.
    aside.restore(tables)?;
    let Some(Gathered { links, mut learnt, checked }) = gathered? else { return Ok(None) };
    let mut bins: Vec<Bin> = Vec::new();
    let mut forests = Vec::new();
    let mut told = Trees { fits: 0, total: 0, grown: 0, watch };
    // Where there is little to learn from, simpler trees may hold better: that is tried.
    let depths = |examples: &Examples| if examples.len() < LITTLE { &[2, 3, 5][..] } else { &[5] };
    told.total = learnt.iter().map(|examples| depths(examples).len() + 1).sum();
    for kind in 0..2 {
        let mut tries = Vec::new();
        for &depth in depths(&learnt[kind]) {
            let growth = Growth { depth, ..Growth::default() };
            let forest = told.fit(&learnt[kind], Some(&checked[kind]), &growth)?;
            tries.push((forest.loss(&checked[kind]), growth, forest));
        }
        let best = tries.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let (_, growth, tried) = best.unwrap_or_default();
        Ranker::check(&tried, &checked[kind], &mut bins);
        learnt[kind].extend(&checked[kind]);
        forests.push(told.fit(&learnt[kind], None, &Growth { trees: tried.trees(), ..growth })?);
    }
    let (sourced, alone) = (forests.pop().unwrap_or_default(), forests.pop().unwrap_or_default());
    Ok(Some(Ranker { alone, sourced, about: json!({"links": links, "calibration": bins_json(&bins)}) }))
}

/// Fits forests one after the other, and tells of it.
struct Trees<'a> {
    fits: usize,
    total: usize,
    grown: u64,
    watch: TrainWatch<'a>,
}

impl Trees<'_> {
    fn fit(&mut self, examples: &Examples, checked: Option<&Examples>, growth: &Growth) -> Result<Forest> {
        let (fits, total) = (self.fits, self.total);
        self.fits += 1;
        let Trees { grown, watch, .. } = self;
        let forest = Forest::fit_while(examples, checked, growth, &mut |tree| {
            let part = tree as f64 / growth.trees.max(1) as f64;
            *grown += 1;
            watch(&TrainProgress {
                phase: TREES,
                epoch: fits,
                epochs: total,
                batch: tree + 1,
                batches: growth.trees,
                unit: TREES,
                units: *grown,
                loss: None,
                done: (fits as f64 + part) / total as f64,
                held_out: None,
                kept: None,
            })
        });
        forest.ok_or(Error::Interrupted)
    }
}

/// What there is to learn from, without and with the source.
struct Gathered {
    /// How many links were asked for.
    links: usize,
    learnt: [Examples; 2],
    checked: [Examples; 2],
}

/// Asks for the links of as many folds as it takes. `tables` are `aside` too, and are not the same in the end.
fn gather(
    view: &View<'_>,
    params: &TrainParams,
    tables: &mut Tables,
    aside: &SpilledTables,
    content: &ContentIndex,
    destination: &Path,
    watch: TrainWatch<'_>,
) -> Result<Option<Gathered>> {
    let (mut learnt, mut checked) =
        ([ALONE, FEATURES.len()].map(Examples::new), [ALONE, FEATURES.len()].map(Examples::new));
    let (mut links, mut last) = (0, 0);
    let most = MOST.min(PAIRS / view.documents.len().max(1)).max(LEAST);
    for (number, fold) in folds(view, params.seed).enumerate() {
        // Another tenth only where it brings many more.
        if links + last / 2 >= ENOUGH.min(most) {
            break;
        }
        let mut asked = asked(view, &fold);
        if asked.len() > most {
            Rng::keyed(params.seed, &[PURPOSE, 1, number as u64]).shuffle(&mut asked);
            asked.truncate(most);
            asked.sort_unstable_by_key(|asked| asked.position);
        }
        if asked.len() < LEAST {
            break;
        }
        (links, last) = (links + asked.len(), asked.len());
        if number > 0 {
            aside.restore(tables)?;
        }
        for (asked, examples) in
            asked.iter().zip(ask(view, params, tables, content, destination, &fold, &asked, watch)?)
        {
            let check = Rng::keyed(params.seed, &[PURPOSE, 2, u64::from(asked.source.0)]).below(CHECK) == 0;
            let into = if check { &mut checked } else { &mut learnt };
            into.iter_mut().zip(&examples).for_each(|(into, examples)| into.extend(examples));
        }
    }
    Ok((links > 0).then_some(Gathered { links, learnt, checked }))
}

/// Trains `tables` as if what `fold` holds out were not there, and asks for its links; nothing is left of the tables.
#[allow(clippy::too_many_arguments)]
fn ask(
    view: &View<'_>,
    params: &TrainParams,
    tables: &mut Tables,
    content: &ContentIndex,
    destination: &Path,
    fold: &Fold,
    asked: &[Asked],
    watch: TrainWatch<'_>,
) -> Result<Vec<[Examples; 2]>> {
    let before = view.without_links_of(&fold.held);
    let mut quick = params.clone();
    quick.citation.patience = 0;
    if params.starts_from_content() {
        quick.citation.epochs = quick.citation.epochs.min(PASSES);
    }
    let told = &mut |progress: &TrainProgress| watch(&TrainProgress { phase: "hybrid", ..progress.clone() });
    if let Some(phase) = phases(&before, None, &quick).pop() {
        run_alone(phase.as_ref(), tables, told)?;
    }
    let map = newcomers::fill(&before, tables, params);
    let (folder, _lock) = atomic::unfinished_directory(destination)?;
    let path = folder.path().join("model");
    ModelWriter::new(&before, tables, params)
        .arrays(map.as_ref().map(ContentMap::tensor))
        .write_with(&path, content)?;
    *tables = none();
    let model = Model::open(&path)?;
    let searcher = Searcher::new(&model);
    let one = |asked| examples(&before, &searcher, &content.terms, asked, &fold.held, params);
    let mut all = Vec::with_capacity(asked.len());
    let parts = asked.chunks(AT_ONCE);
    let batches = parts.len();
    for (number, part) in parts.enumerate() {
        all.extend(part.par_iter().map(one).collect::<Result<Vec<_>>>()?);
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

/// What there is to learn from one link, without and with its source.
fn examples(
    view: &View<'_>,
    searcher: &Searcher<'_>,
    terms: &Terms,
    asked: &Asked,
    held: &[bool],
    params: &TrainParams,
) -> Result<[Examples; 2]> {
    let mut rng = Rng::keyed(params.seed, &[PURPOSE, 3, asked.position as u64]);
    let query = question(view, terms, asked.position, params.window, rng.chance(0.5));
    let source = source(view, searcher.model(), asked.position, |row| !held[row as usize])?;
    let admitted = |row: usize| !held[row];
    let ranks: Vec<usize> = (0..FEATURES.len()).filter(|&feature| FEATURES[feature].ends_with(" rank")).collect();
    let first = ln(1.0 + FIRST) - 1e-4;
    let mut examples = [ALONE, FEATURES.len()].map(Examples::new);
    // What is known without the source comes first: one look at the candidates is enough for both.
    let Some(candidates) = candidates(searcher, &query, Some(&source), Scope::of(&admitted))? else {
        return Ok(examples);
    };
    for (place, row) in candidates.rows.iter().enumerate() {
        let label = asked.truths.contains(row);
        let sampled = rng.below(THINNED) == 0;
        for examples in examples.iter_mut().filter(|examples| examples.width > ALONE || candidates.alone[place]) {
            let features = &candidates.row(place)[..examples.width];
            let leading = ranks.iter().any(|&rank| features.get(rank).is_some_and(|&rank| rank < first));
            if label || leading || sampled {
                examples.rows.extend_from_slice(features);
                examples.labels.push(label);
                examples.weights.push(if label || leading { 1.0 } else { THINNED as f32 });
            }
        }
    }
    Ok(examples)
}
