//! Learning to weigh the rankings: see [`crate::search::ranker`].
//!
//! A tenth of the documents, the latest where links lead back in time, is taken for new: a model is trained and an
//! index is made as if their links were not there, starting from what the content phase learnt, which saw no links.
//! Where these have few links, other tenths follow in their turn. Then the rankings are asked for these links, with and
//! without the source, half of them without the link's own words, and trees learn which candidates are right. The model
//! itself is trained on everything afterwards. Where links are few, trees go on behind those that were learnt from other
//! collections ([`Ranker::prior`]), and where there are next to none, these are all.
//!
//! It is to cost little beside that: questions are few, and fewer where documents are many. The tables that the last
//! phase begins with wait in a file meanwhile, so that memory holds one set of them, or the mapped model of a fold.

use std::ops::ControlFlow;
use std::path::Path;

use rayon::prelude::*;
use serde_json::json;

use crate::corpus::view::{LinkExample, View};
use crate::corpus::{Corpus, Split};
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
use crate::search::ranker::{CalibrationBin, FeatureSet, LinkSource, Ranker, Scale, Scope, Shares, bins_json};
use crate::search::{Query, Searcher};
use crate::storage::atomic;
use crate::train::checkpoint::{SpilledTables, none};
use crate::train::phases::{phases, text};
use crate::train::ranks::Team;
use crate::train::run::{Run, TrainProgress, TrainWatch, run_alone};

/// The share of the documents taken for new.
const HELD_OUT: f64 = 0.1;
/// Links asked for, at the most.
const MAX_QUESTIONS: usize = 2000;
/// And no more than this divided by the number of documents, all of which are scored for each.
const MAX_PAIRS: usize = 600_000_000;
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
/// A right candidate that nothing links to weighs this, without and with the source: there are few to learn from, and they
/// are what is hardest to find, above all where only a text is known.
const NEWCOMER_WEIGHTS: [f32; 2] = [2.0, 1.5];
/// The least weight of a wrong candidate that may only not have been linked to yet.
const LEAST_UNSEEN_WEIGHT: f32 = 0.1;
/// With fewer samples than this, simpler trees may hold better.
const SMALL_SET: usize = 100_000;
/// With fewer than this, trees learnt from other collections are always there.
const VERY_SMALL_SET: usize = 20_000;
/// The depths that are tried then, and the one taken otherwise.
const TRIED_DEPTHS: [usize; 3] = [2, 3, 5];
const DEPTH: usize = 5;
/// Where samples are few, a tree is grown from all of them, and steps are larger.
const FEW_SAMPLES: BoostParams = BoostParams {
    trees: 120,
    max_depth: DEPTH,
    learning_rate: 0.12,
    min_child_weight: 4.0,
    l2: 2.0,
    patience: 12,
    bag: 1.0,
};
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

/// Some documents taken for new.
struct NewcomerFold {
    /// Those whose links are asked for.
    asked: Vec<usize>,
    /// Whether a document is one of them or, in time, later: not there.
    held: Vec<bool>,
    /// Whether they are later than all others.
    in_time: bool,
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
        NewcomerFold { asked, held, in_time }
    })
}

/// A link that is asked for: where it stands, and the candidates that are right.
struct LinkQuestion {
    position: usize,
    source: DocId,
    truths: Vec<DocRow>,
}

impl NewcomerFold {
    /// The weight of each document as a wrong candidate, where `before` is the view without what is held out.
    ///
    /// A document that nothing in `view` links to is never a right candidate, though later documents may link to it just
    /// as those that were held out link to some that no other document does. Of the unseen, as many as were seen by this
    /// fold alone will be seen by the next documents (Good and Turing's estimate), so that only the rest of them are
    /// wrong. Where the fold is later than all else, those documents are old, and wrong as they are.
    fn wrong_weights(&self, view: &View<'_>, before: &View<'_>) -> Vec<f32> {
        let (all, left) = (view.links_to(), before.links_to());
        let count = |of: &dyn Fn(usize) -> bool| (0..all.len()).filter(|&row| !self.held[row] && of(row)).count();
        let unseen = count(&|row| all[row] == 0);
        let seen_once = count(&|row| all[row] > 0 && left[row] == 0);
        let wrong = 1.0 - seen_once as f32 / unseen.max(1) as f32;
        let weight = if self.in_time { 1.0 } else { wrong.max(LEAST_UNSEEN_WEIGHT) };
        all.iter().map(|&links| if links == 0 { weight } else { 1.0 }).collect()
    }

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
/// new is kept beside `destination` meanwhile, and so are the tables, which are the same again in the end. Only the rank
/// that leads, which alone has the index of the content, gets the ranker.
pub(crate) fn learn(
    run: &Run<'_>,
    tables: &mut Tables,
    content: Option<&ContentIndex>,
    destination: &Path,
    watch: TrainWatch<'_>,
) -> Result<Option<Ranker>> {
    let Run { view, params, team, .. } = *run;
    let spilled = team.together(SpilledTables::new(tables, params.dim, atomic::parent(destination)))?;
    let mut asking = Asking { view, params, content, destination, least: MIN_PER_FOLD, team, watch };
    let (mut learnt, mut checked) = (no_samples(), [Vec::new(), Vec::new()]);
    let links = asking.gather(tables, &spilled, &mut |question, samples| {
        let key = [PURPOSE, 2, u64::from(question.source.0)];
        if Rng::keyed(params.seed, &key).below(CHECKED_ONE_IN) == 0 {
            checked.iter_mut().zip(samples).for_each(|(into, samples)| into.push(samples));
        } else {
            learnt.iter_mut().zip(&samples).for_each(|(into, samples)| into.extend(samples));
        }
    });
    // Where it was stopped, too: a checkpoint has them as they were.
    team.together(spilled.restore(tables))?;
    let links = links?;
    team.lead(|| grow(links, learnt, &checked, asking.watch))
}

/// Learns a ranker from the samples of so many links, and finds when to stop with those to be `checked`, a question each.
fn grow(links: usize, mut learnt: [Samples; 2], checked: &[Vec<Samples>; 2], watch: TrainWatch<'_>) -> Result<Ranker> {
    let prior = Ranker::prior();
    if links == 0 {
        return Ok(prior);
    }
    let mut bins = [CalibrationBin::default(); 10];
    let (mut forests, mut scales, mut shares) = (Vec::new(), Vec::new(), Shares::default());
    let tries = [0, 1].map(|kind| TriedStart::all(&learnt[kind], [&prior.alone, &prior.sourced][kind]));
    let total = tries.iter().map(|tries| tries.len() + 1).sum();
    let mut fits = Fits { done: 0, total, grown: 0, watch };
    for (kind, starts) in tries.into_iter().enumerate() {
        let mut tries = Vec::new();
        let questions = &checked[kind];
        let mut checked = Samples::new(learnt[kind].width);
        questions.iter().for_each(|question| checked.extend(question));
        for start in starts {
            let forest = fits.fit(&start, &learnt[kind], Some(&checked))?;
            tries.push((forest.loss(&checked), start, forest));
        }
        let best = tries.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, start, tried)) = best else { continue };
        let firsts: Vec<(f32, bool)> = questions.iter().filter_map(|question| tried.first(question)).collect();
        let scale = match start.forest.roots.is_empty() {
            true => Scale::fit(&firsts),
            false => prior.scales[kind].refit(&firsts),
        };
        for &(score, right) in &firsts {
            let probability = scale.probability(score);
            bins[((probability * 10.0) as usize).min(9)].add(1.0, probability, right);
        }
        if kind == 1 {
            let hits = |question: &Samples| {
                let best = tried.best(question, Shares::HITS).into_iter();
                best.map(|(score, right)| (scale.probability(score), right)).collect::<Vec<_>>()
            };
            shares = Shares::fit(&questions.iter().map(hits).collect::<Vec<_>>());
        }
        scales.push(scale);
        learnt[kind].extend(&checked);
        // As many trees as did best.
        let trees = tried.roots.len() - start.forest.roots.len().max(1);
        let again = TriedStart { params: BoostParams { trees, ..start.params }, ..start };
        forests.push(fits.fit(&again, &learnt[kind], None)?);
    }
    let (sourced, alone) = (forests.pop().unwrap_or_default(), forests.pop().unwrap_or_default());
    let about = json!({"links": links, "calibration": bins_json(&bins)});
    let scales = [0, 1].map(|kind| scales.get(kind).copied().unwrap_or_default());
    let features = FeatureSet::default();
    Ok(Ranker { features, alone, sourced, scales, shares, heeds_unknown_words: true, about })
}

/// A way to learn trees that is tried.
struct TriedStart {
    /// The trees that others go on behind; none, or those of other collections.
    forest: Forest,
    params: BoostParams,
}

impl TriedStart {
    /// Those worth a try: with many samples, trees from nothing. With few, simpler ones, too, and such as begin with
    /// those of other collections. With very few nothing else: which of them is best could not be told.
    fn all(samples: &Samples, prior: &Forest) -> Vec<TriedStart> {
        if samples.len() >= SMALL_SET {
            let params = BoostParams { max_depth: DEPTH, ..BoostParams::default() };
            return vec![TriedStart { forest: Forest::default(), params }];
        }
        let with = |forest: &Forest, max_depth| TriedStart {
            forest: forest.clone(),
            params: BoostParams { max_depth, ..FEW_SAMPLES },
        };
        let mut tries: Vec<TriedStart> = TRIED_DEPTHS.iter().map(|&depth| with(prior, depth)).collect();
        if samples.len() >= VERY_SMALL_SET {
            tries.extend(TRIED_DEPTHS.iter().map(|&depth| with(&Forest::default(), depth)));
        }
        tries
    }
}

/// The samples that a ranker of `corpus` would learn from, question by question, without and with the source: for trees
/// that are learnt from several corpora. A model is kept in `folder` meanwhile.
pub fn samples(corpus: &Corpus, params: &TrainParams, folder: &Path) -> Result<Vec<[Samples; 2]>> {
    params.validate()?;
    let view = &View::new(corpus, &Split::none(corpus), params.min_count)?;
    let mut tables = Tables::first(view, params);
    let text = text(view, params);
    let watch: TrainWatch<'_> = &mut |_| ControlFlow::Continue(());
    let team = Team::default();
    let mut first = phases(view, text.as_ref(), params, team);
    first.pop();
    for phase in first {
        run_alone(phase.as_ref(), &mut tables, team, watch)?;
    }
    let (content, destination) = (&ContentIndex::new(view, folder)?, &folder.join("m"));
    let spilled = SpilledTables::new(&tables, params.dim, folder)?;
    let mut asking = Asking { view, params, content: Some(content), destination, least: 1, team, watch };
    let mut questions = Vec::new();
    asking.gather(&mut tables, &spilled, &mut |_, samples| questions.push(samples))?;
    Ok(questions)
}

/// Fits forests one after the other, and reports progress.
struct Fits<'a> {
    done: usize,
    total: usize,
    grown: u64,
    watch: TrainWatch<'a>,
}

impl Fits<'_> {
    fn fit(&mut self, start: &TriedStart, samples: &Samples, checked: Option<&Samples>) -> Result<Forest> {
        let params = &start.params;
        let (done, total) = (self.done, self.total);
        self.done += 1;
        let Fits { grown, watch, .. } = self;
        let forest = start.forest.fit_while(samples, checked, params, &mut |tree| {
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

/// Takes the samples of a question, without and with the source.
type TakeSamples<'a> = &'a mut dyn FnMut(&LinkQuestion, [Samples; 2]);

/// Asks models of a view for links held out of them.
struct Asking<'a> {
    view: &'a View<'a>,
    params: &'a TrainParams,
    /// The index of the content; only the rank that asks has it.
    content: Option<&'a ContentIndex>,
    destination: &'a Path,
    /// With fewer questions in a fold nothing is learnt from it.
    least: usize,
    team: Team<'a>,
    watch: TrainWatch<'a>,
}

/// No samples yet, without and with the source.
fn no_samples() -> [Samples; 2] {
    let features = FeatureSet::default();
    [features.alone(), features.all()].map(Samples::new)
}

impl Asking<'_> {
    /// Asks for the links of as many folds as it takes, and returns how many there were. `tables` are `spilled` too, and
    /// are not the same in the end.
    fn gather(&mut self, tables: &mut Tables, spilled: &SpilledTables, take: TakeSamples<'_>) -> Result<usize> {
        let Asking { view, params, least, .. } = *self;
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
            if questions.len() < least {
                break;
            }
            (links, last) = (links + questions.len(), questions.len());
            if number > 0 {
                self.team.together(spilled.restore(tables))?;
            }
            for (question, samples) in questions.iter().zip(self.ask(tables, &fold, &questions)?) {
                take(question, samples);
            }
        }
        Ok(links)
    }

    /// Trains `tables` as if what `fold` holds out were not there, and asks for its links; nothing is left of the tables.
    /// All ranks train, and the one that leads asks: others get no samples.
    fn ask(
        &mut self,
        tables: &mut Tables,
        fold: &NewcomerFold,
        questions: &[LinkQuestion],
    ) -> Result<Vec<[Samples; 2]>> {
        let Asking { params, team, .. } = *self;
        let before = self.view.without_links_of(&fold.held);
        // As many passes as the model itself takes: after fewer, the embedding is less sure than the one that will be
        // asked, and trees that were learnt with it believe that one too much.
        let mut quick = params.clone();
        quick.citation.patience = 0;
        let watch = &mut self.watch;
        let renamed = &mut |progress: &TrainProgress| watch(&TrainProgress { phase: "hybrid", ..progress.clone() });
        if let Some(phase) = phases(&before, None, &quick, team).pop() {
            run_alone(phase.as_ref(), tables, team, renamed)?;
        }
        let mut whole = team.whole_tables(tables, atomic::parent(self.destination))?;
        let tables = match &mut whole {
            Some(whole) => {
                *tables = none();
                whole
            }
            None => tables,
        };
        let samples = team.lead(|| self.ask_model(tables, &before, fold, questions))?;
        *tables = none();
        Ok(samples.unwrap_or_default())
    }

    /// Asks a model of `tables`, which were trained on `before`; nothing is left of the tables.
    fn ask_model(
        &mut self,
        tables: &mut Tables,
        before: &View<'_>,
        fold: &NewcomerFold,
        questions: &[LinkQuestion],
    ) -> Result<Vec<[Samples; 2]>> {
        let Asking { view, params, destination, content: Some(content), .. } = *self else { return Ok(Vec::new()) };
        let map = newcomers::fill(before, tables, params);
        let (folder, _lock) = atomic::unfinished_directory(destination)?;
        let path = folder.path().join("model");
        ModelWriter::new(before, tables, params)
            .arrays(map.as_ref().map(ContentMap::tensor))
            .write_with(&path, content)?;
        *tables = none();
        let model = Model::open(&path)?;
        let wrong_weights = fold.wrong_weights(view, before);
        let (searcher, held) = (&Searcher::new(&model), &fold.held[..]);
        let fold = FoldModel { view: before, searcher, content, params, held, wrong_weights: &wrong_weights };
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
            if (self.watch)(&progress).is_break() {
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
    /// The weight of each document as a wrong candidate.
    wrong_weights: &'a [f32],
}

impl FoldModel<'_> {
    /// The samples of one link, without and with its source.
    fn samples(&self, question: &LinkQuestion) -> Result<[Samples; 2]> {
        let FoldModel { view, searcher, content, params, held, wrong_weights } = *self;
        let links_to = searcher.model().links_to();
        let mut rng = Rng::keyed(params.seed, &[PURPOSE, 3, question.position as u64]);
        let anchor = rng.chance(0.5);
        let query = Query::of_link(view, &content.terms, question.position, params.window, anchor).in_sentence(
            view.corpus,
            question.position,
            anchor,
        )?;
        let source = LinkSource::of_link(view, searcher.model(), question.position, |row| !held[row.index()])?;
        let admitted = |row: usize| !held[row];
        let features = FeatureSet::default();
        let ranks = features.names().into_iter().enumerate().filter(|(_, name)| name.ends_with(" rank"));
        let ranks: Vec<usize> = ranks.map(|(place, _)| place).collect();
        let leading_rank = ln(1.0 + LEADING) - 1e-4;
        let mut samples = no_samples();
        // What is known without the source comes first: one look at the candidates is enough for both.
        let Some(candidates) = features.candidates(searcher, &query, Some(&source), Scope::of(&admitted))? else {
            return Ok(samples);
        };
        for (place, row) in candidates.rows.iter().enumerate() {
            let label = question.truths.contains(row);
            let newcomer = label && links_to[row.index()] == 0;
            let weight = if label { 1.0 } else { wrong_weights[row.index()] };
            let drawn = rng.below(THINNED_ONE_IN) == 0;
            for (samples, newcomer_weight) in samples.iter_mut().zip(NEWCOMER_WEIGHTS) {
                if samples.width == features.alone() && !candidates.alone[place] {
                    continue;
                }
                let weight = if newcomer { newcomer_weight } else { weight };
                let row = &candidates.row(place)[..samples.width];
                let leading = ranks.iter().any(|&rank| row.get(rank).is_some_and(|&rank| rank < leading_rank));
                if label || leading || drawn {
                    samples.rows.extend_from_slice(row);
                    samples.labels.push(label);
                    let drawn_from = if label || leading { 1.0 } else { THINNED_ONE_IN as f32 };
                    samples.weights.push(drawn_from * weight);
                }
            }
        }
        Ok(samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, Import};

    #[test]
    fn documents_that_may_be_linked_to_later_are_less_wrong_by_hand() {
        let dir = tempfile::tempdir().expect("a directory");
        let texts = [("a", "see [[x]]"), ("b", "see [[y]]"), ("x", "one"), ("y", "two"), ("z", "three")];
        let documents = texts.map(|(id, text)| Document::new(id, text));
        let corpus = Import::documents(documents).build(dir.path().join("c")).expect("a corpus");
        let view = View::new(&corpus, &Split::none(&corpus), 1).expect("a view");
        let held: Vec<bool> = texts.iter().map(|(id, _)| *id == "a").collect();
        let before = view.without_links_of(&held);
        let weights = |in_time| {
            let fold = NewcomerFold { asked: vec![0], held: held.clone(), in_time };
            fold.wrong_weights(&view, &before)
        };
        // Without a, nothing links to x. Nothing ever links to b and z: of these two, one will be linked to next.
        assert_eq!(weights(false), [0.5, 0.5, 1.0, 1.0, 0.5]);
        assert_eq!(weights(true), [1.0; 5]);
    }
}
