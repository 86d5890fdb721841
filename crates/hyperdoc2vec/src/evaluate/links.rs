//! Link prediction: every method is trained on the training part of a corpus and asked for the links of the test part.
//!
//! The result of a method is the place of each truth ([`MethodPlaces`]). All figures follow from that ([`super::report`]),
//! so that it can be kept and used again.

use std::collections::VecDeque;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::methods::{Ask, LinkMethod, TargetVectors, Trains, Workload, costs};
use super::rankers::{LinkQuestions, Sink};
use super::trec;
use crate::corpus::split::{HeldOutLink, Split, SplitPart};
use crate::corpus::view::View;
use crate::error::{Error, Result};
use crate::id::{DocId, DocRow};
use crate::model::index::terms::Terms;
use crate::model::params::{Method, TrainParams};
use crate::model::tables::{Table, Tables};
use crate::model::write::ModelWriter;
use crate::model::{Model, VectorStorage, Vectors};
use crate::search::Hit;
use crate::search::ranker::Ranker;
use crate::storage::atomic::write_atomically;
use crate::threads::pool;
use crate::train::{Run, Team, TrainProgress, train_tables, train_tables_on};

/// Places are known up to this one.
pub(crate) const DEPTH: usize = 1000;
/// Hits of a question that are kept.
const TOP: usize = 10;
/// Hits of a question in a run file.
const RUN_DEPTH: usize = 100;

/// How links are evaluated.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LinksParams {
    /// How models are trained; the method is set for each.
    pub train: TrainParams,
    /// The words on each side of a link that count, in training and in questions; `None` for each method's own default.
    pub window: Option<usize>,
    /// Passes over the links by the paper's own step.
    pub reference_epochs: usize,
    /// Passes over the text of the models that learn word by word.
    pub text_epochs: usize,
    /// Whether the links' own words are part of the questions; where both are asked for, one after the other.
    pub anchors: Vec<bool>,
    /// Threads, 0 for one a core. Models that learn on one thread are trained side by side.
    pub threads: usize,
}

impl Default for LinksParams {
    fn default() -> LinksParams {
        let train = TrainParams::default();
        LinksParams {
            // A fifth of the paper's 100.
            reference_epochs: 20,
            text_epochs: train.direct.epochs,
            train,
            window: None,
            anchors: vec![true],
            threads: 0,
        }
    }
}

/// The links of a split that are asked for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HeldOutLinks {
    /// Positions with their truths.
    pub queries: Vec<HeldOutLink>,
    /// The truths, question by question.
    pub truths: Vec<DocRow>,
}

impl HeldOutLinks {
    /// Every `every`-th position of the test documents of `split`.
    pub fn new(view: &View<'_>, split: &Split, every: usize) -> Result<HeldOutLinks> {
        let all = split.queries(view.corpus);
        if all.is_empty() {
            let tests = split.documents(SplitPart::Test).count();
            let what = match tests {
                0 => {
                    let dates = || view.corpus.documents().filter_map(|doc| view.corpus.date(doc));
                    let range = dates().min().zip(dates().max());
                    let range =
                        range.map_or(String::new(), |(first, last)| format!(" (dates go from {first} to {last})"));
                    format!(
                        "there is no test document; end the training part at another date{range} or hold out a larger share"
                    )
                }
                _ => format!(
                    "no link of its {tests} test documents points at a training document, so nothing can be asked; \
                     hold out other documents"
                ),
            };
            return Err(Error::input(view.corpus.path().display().to_string(), what));
        }
        let queries: Vec<HeldOutLink> = all.into_iter().step_by(every.max(1)).collect();
        let row = |&doc: &DocId| view.document_row(doc);
        let truths = queries.iter().flat_map(|query| query.truths.iter().filter_map(row)).collect();
        Ok(HeldOutLinks { queries, truths })
    }

    /// The truths of each question, as ranges of [`HeldOutLinks::truths`].
    pub fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.queries.iter().scan(0, |from, query| {
            let range = *from..*from + query.truths.len();
            *from = range.end;
            Some(range)
        })
    }

    /// The positions of the links in the corpus.
    pub fn positions(&self) -> Vec<usize> {
        self.queries.iter().map(|query| query.position).collect()
    }

    /// The name of a question in run files.
    pub fn name(&self, view: &View<'_>, question: usize) -> String {
        let position = self.queries[question].position;
        let source = view.corpus.position(position).source;
        let number = position - view.corpus.position_range(source).start + 1;
        format!("{}:{number}", trec::escaped(view.corpus.name(source)))
    }

    /// The truths as qrels.
    pub fn qrels(&self, view: &View<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        for (number, query) in self.queries.iter().enumerate() {
            let truths = query.truths.iter().map(|&truth| view.corpus.name(truth));
            // Nothing fails where bytes are written to memory.
            let _ = trec::write_qrels(&mut out, &self.name(view, number), truths);
        }
        out
    }

    /// Writes them.
    pub fn write_qrels(&self, view: &View<'_>, path: &Path) -> Result<()> {
        write_atomically(path, |out| out.write_all(&self.qrels(view)).map_err(Error::io("write", path)))
    }
}

/// The places that a method gave the truths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MethodPlaces {
    /// Its name.
    pub method: String,
    /// Whether the links' own words were part of the questions.
    pub anchors: bool,
    /// The place of each of [`HeldOutLinks::truths`], from 1; 0 where it is not among the first 1,000.
    pub places: Vec<u32>,
    /// The first ten hits of each question; empty in results of earlier versions.
    #[serde(default)]
    pub tops: Vec<Vec<DocRow>>,
    /// The probability of the first hit of each question, 0 where there is none; empty where the method gives none, and in
    /// results of earlier versions.
    #[serde(default)]
    pub first_probabilities: Vec<f32>,
    /// Seconds of training; methods that share a model all name its seconds.
    pub train_seconds: f64,
    /// Seconds of asking.
    pub query_seconds: f64,
}

/// A step of an evaluation.
#[derive(Debug)]
#[non_exhaustive]
pub enum EvaluationStep<'a> {
    /// A model is trained for the first of so many methods.
    Training(&'a str, &'a TrainProgress),
    /// A method is asked; so many questions are done, of so many.
    Asking(&'a str, usize, usize),
    /// A method is done.
    Done(&'a MethodPlaces),
}

/// Sees each step, from several threads; may stop the work.
pub(crate) type EvaluateWatch<'a> = &'a (dyn Fn(&EvaluationStep<'_>) -> ControlFlow<()> + Sync);

/// Where the run file of a method goes, asked with or without anchors, if it is wanted.
pub(crate) type RunPath<'a> = &'a (dyn Fn(&str, bool) -> Option<PathBuf> + Sync);

/// The parameters of the model that `trains` names.
pub fn train_params(trains: Trains, params: &LinksParams) -> TrainParams {
    let mut train = params.train.clone();
    train.direct.epochs = params.text_epochs;
    train.reference.epochs = params.reference_epochs;
    train.set_method(trains.method().unwrap_or(Method::HyperDoc));
    if let Some(window) = params.window {
        train.set_window(window);
    }
    if trains == Trains::Reference {
        train.follow_authors_program();
    }
    train
}

/// Whether two methods are trained together: they are asked of one model (the default model is searchable where anything
/// else needs that), or their training begins with the same.
fn shared(a: &LinkMethod, b: &LinkMethod, methods: &[LinkMethod]) -> bool {
    let searched = methods.iter().any(|method| method.trains == Trains::Searchable);
    let same = |trains| if trains == Trains::Model(Method::HyperDoc) && searched { Trains::Searchable } else { trains };
    same(a.trains) == same(b.trains) || (a.base().is_some() && a.base() == b.base())
}

/// An evaluation of methods on held-out links.
#[derive(Clone, Copy)]
pub struct LinkEvaluation<'a> {
    view: &'a View<'a>,
    asked: &'a HeldOutLinks,
    params: &'a LinksParams,
    folder: &'a Path,
    run_path: RunPath<'a>,
    done: &'a (dyn Fn(&MethodPlaces) -> Result<()> + Sync),
    watch: EvaluateWatch<'a>,
}

impl<'a> LinkEvaluation<'a> {
    /// Asks for `asked` of models trained on `view`; `folder` is for files that are needed on the way.
    pub fn new(
        view: &'a View<'a>,
        asked: &'a HeldOutLinks,
        params: &'a LinksParams,
        folder: &'a Path,
    ) -> LinkEvaluation<'a> {
        let (run_path, done, watch) =
            (&|_: &str, _| None, &|_: &MethodPlaces| Ok(()), &|_: &EvaluationStep<'_>| ControlFlow::Continue(()));
        LinkEvaluation { view, asked, params, folder, run_path, done, watch }
    }

    /// Writes the run file of a method, asked with or without anchors, to the path that `run_path` names.
    pub fn run_path(self, run_path: RunPath<'a>) -> LinkEvaluation<'a> {
        LinkEvaluation { run_path, ..self }
    }

    /// Hands `done` the places of each method when it is done.
    pub fn done(self, done: &'a (dyn Fn(&MethodPlaces) -> Result<()> + Sync)) -> LinkEvaluation<'a> {
        LinkEvaluation { done, ..self }
    }

    /// Shows `watch` each step.
    pub fn watch(self, watch: EvaluateWatch<'a>) -> LinkEvaluation<'a> {
        LinkEvaluation { watch, ..self }
    }

    /// Trains and asks `methods`, those that share a model together.
    pub fn run(&self, methods: &[LinkMethod]) -> Result<()> {
        let LinkEvaluation { view, params, .. } = *self;
        train_params(Trains::Searchable, params).validate()?;
        let needs_links = |method: &&LinkMethod| method.needs_links(&train_params(method.trains, params));
        if let (Some(method), true) = (methods.iter().find(needs_links), view.links.is_empty()) {
            let what = format!("{} learns from links, and there is none between training documents", method.name);
            return Err(Error::input(view.corpus.path().display().to_string(), what));
        }
        let mut groups: Vec<Vec<LinkMethod>> = Vec::new();
        for method in methods {
            let mate = groups.iter_mut().find(|group| shared(&group[0], method, methods));
            match mate {
                Some(group) => group.push(*method),
                None => groups.push(vec![*method]),
            }
        }
        let (mut serial, parallel): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| group[0].is_serial());
        // One a thread, the next when one is done, those that take longest first; none begins after an error.
        let work = Workload::new(view, self.asked.queries.len(), params);
        let cost = |group: &Vec<LinkMethod>| -> f64 { costs(group, &work).iter().map(|(_, seconds)| seconds).sum() };
        serial.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if params.threads == 0 { cores } else { params.threads };
        let (queue, failed) = (Mutex::new(VecDeque::from(serial)), Mutex::new(None));
        let has_failed = |failed: &Mutex<Option<Error>>| failed.lock().map_or(true, |failed| failed.is_some());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while !has_failed(&failed)
                        && let Some(group) = queue.lock().ok().and_then(|mut queue| queue.pop_front())
                    {
                        let result = pool(1).and_then(|pool| pool.install(|| self.group(&group)));
                        if let (Err(error), Ok(mut failed)) = (result, failed.lock()) {
                            failed.get_or_insert(error);
                        }
                    }
                });
            }
        });
        if let Some(error) = failed.into_inner().ok().flatten() {
            return Err(error);
        }
        let pool = pool(params.threads)?;
        parallel.iter().try_for_each(|group| pool.install(|| self.group(group)))
    }

    /// Trains the method that a group begins with, then each model on from there.
    fn family(&self, base: Method, group: &[LinkMethod]) -> Result<()> {
        let mut watch = |progress: &TrainProgress| (self.watch)(&EvaluationStep::Training(group[0].name, progress));
        let started = Instant::now();
        let first = train_tables(self.view, &train_params(Trains::Model(base), self.params), &mut watch)?;
        let base_seconds = started.elapsed().as_secs_f64();
        let mut models: Vec<Trains> = Vec::new();
        for method in group {
            if !models.contains(&method.trains) {
                models.push(method.trains);
            }
        }
        for trains in models {
            let mates: Vec<&LinkMethod> = group.iter().filter(|method| method.trains == trains).collect();
            let mut watch = |progress: &TrainProgress| (self.watch)(&EvaluationStep::Training(mates[0].name, progress));
            let (params, started) = (train_params(trains, self.params), Instant::now());
            let tables = train_tables_on(self.view, &params, first.copy()?, &mut watch)?;
            let seconds = base_seconds + started.elapsed().as_secs_f64();
            mates.iter().try_for_each(|method| {
                self.ask(method, seconds, |asked, sink| asked.tables(&tables, &params, method.ask, sink))
            })?;
        }
        Ok(())
    }

    /// Trains once, asks each.
    fn group(&self, group: &[LinkMethod]) -> Result<()> {
        if let Some(base) = group[0].base() {
            return self.family(base, group);
        }
        let searchable = group.iter().any(|method| method.trains == Trains::Searchable);
        let trains = if searchable { Trains::Searchable } else { group[0].trains };
        let mut params = train_params(trains, self.params);
        let name = group[0].name;
        let mut watch = |progress: &TrainProgress| (self.watch)(&EvaluationStep::Training(name, progress));
        let started = Instant::now();
        match trains {
            Trains::Nothing => {
                group.iter().try_for_each(|method| self.ask(method, 0.0, |asked, sink| asked.popular(sink)))
            }
            Trains::Index => {
                // A model without vectors worth the name.
                params.dim = 1;
                let tables = Tables::zeros(self.view, 1);
                self.searchable(group, &params, &|path| ModelWriter::new(self.view, &tables, &params).write(path))
            }
            Trains::Searchable | Trains::Model(_) if params.method.weighs_words() => {
                // Asked as users ask it, so that a file is needed.
                params.hybrid = searchable;
                self.searchable(group, &params, &|path| {
                    let mut watch = |progress: &TrainProgress| (self.watch)(&EvaluationStep::Training(name, progress));
                    let threads = self.params.threads;
                    let run = Run {
                        view: self.view,
                        params: &params,
                        threads,
                        checkpoints: None,
                        team: Team::default(),
                        for_people: false,
                        storage: VectorStorage::default(),
                        out_of_core: false,
                    };
                    run.write(path, &mut watch)
                })
            }
            Trains::Searchable | Trains::Model(_) | Trains::Reference => {
                let tables = train_tables(self.view, &params, &mut watch)?;
                let seconds = started.elapsed().as_secs_f64();
                group.iter().try_for_each(|method| {
                    self.ask(method, seconds, |asked, sink| asked.tables(&tables, &params, method.ask, sink))
                })
            }
        }
    }

    /// Asks a group of the model file that `make` makes.
    fn searchable(&self, group: &[LinkMethod], params: &TrainParams, make: &dyn Fn(&Path) -> Result<()>) -> Result<()> {
        let started = Instant::now();
        let made = tempfile::tempdir_in(self.folder).map_err(Error::io("create", self.folder))?;
        let path = made.path().join("model");
        make(&path)?;
        let model = Model::open(&path)?;
        let seconds = started.elapsed().as_secs_f64();
        let hybrid = group.iter().any(|method| matches!(method.ask, Ask::Hybrid(_)));
        if hybrid && Ranker::of(&model).is_none() {
            let what = "there are too few links to learn a hybrid ranking from; leave the hybrid out";
            return Err(Error::input(self.view.corpus.path().display().to_string(), what));
        }
        let terms = Terms::new(self.view);
        // Ways of asking that users do not have need all vectors. The source of the default model is asked as users ask.
        let compared = |method: &LinkMethod| match method.ask {
            Ask::Mean(TargetVectors::Out, true) => params.method != Method::HyperDoc,
            Ask::Mean(..) => !method.ask.is_embedding(),
            _ => false,
        };
        let tables = group.iter().any(compared).then(|| tables_of(self.view, &model)).transpose()?;
        group.iter().try_for_each(|method| {
            self.ask(method, seconds, |asked, sink| match &tables {
                Some(tables) if compared(method) => asked.tables(tables, params, method.ask, sink),
                _ => asked.searchable(&model, &terms, method.ask, sink),
            })
        })
    }

    /// Asks one method, in its own way, and hands on the places it gave.
    fn ask(
        &self,
        method: &LinkMethod,
        train_seconds: f64,
        how: impl Fn(&LinkQuestions<'_>, Sink<'_>) -> Result<()>,
    ) -> Result<()> {
        self.params.anchors.iter().try_for_each(|&anchors| self.ask_with(method, anchors, train_seconds, &how))
    }

    fn ask_with(
        &self,
        method: &LinkMethod,
        anchors: bool,
        train_seconds: f64,
        how: impl FnOnce(&LinkQuestions<'_>, Sink<'_>) -> Result<()>,
    ) -> Result<()> {
        let positions = self.asked.positions();
        let depth = DEPTH.min(self.view.documents.len());
        let questions = LinkQuestions { view: self.view, positions: &positions, anchors, depth };
        let ranges: Vec<_> = self.asked.ranges().collect();
        let mut places = vec![0u32; self.asked.truths.len()];
        let mut tops = vec![Vec::new(); positions.len()];
        let gives_probabilities = matches!(method.ask, Ask::Hybrid(_));
        let mut first_probabilities = vec![0.0; if gives_probabilities { positions.len() } else { 0 }];
        let started = Instant::now();
        let asking = |out: Option<&mut dyn Write>| {
            let mut out = out;
            how(&questions, &mut |from, hits: Vec<Vec<Hit>>| {
                let count = hits.len();
                for (number, hits) in (from..).zip(hits) {
                    for truth in ranges[number].clone() {
                        let place = hits.iter().position(|hit| DocRow(hit.row) == self.asked.truths[truth]);
                        places[truth] = place.map_or(0, |place| place as u32 + 1);
                    }
                    if let (Some(first), Some(hit)) = (first_probabilities.get_mut(number), hits.first()) {
                        *first = hit.score;
                    }
                    tops[number] = hits.iter().take(TOP).map(|hit| DocRow(hit.row)).collect();
                    if let Some(out) = &mut out {
                        let name = |row: u32| self.view.corpus.name(self.view.documents[row as usize]);
                        let hits = &hits[..hits.len().min(RUN_DEPTH)];
                        let question = self.asked.name(self.view, number);
                        trec::write_run(out, &question, hits, name, method.name)
                            .map_err(Error::io("write", Path::new("the run file")))?;
                    }
                }
                Ok((self.watch)(&EvaluationStep::Asking(method.name, from + count, positions.len())))
            })
        };
        match (self.run_path)(method.name, anchors) {
            None => asking(None)?,
            Some(path) => write_atomically(&path, |out| asking(Some(out)))?,
        }
        let query_seconds = started.elapsed().as_secs_f64();
        let method = method.name.to_owned();
        let cell = MethodPlaces { method, anchors, places, tops, first_probabilities, train_seconds, query_seconds };
        (self.done)(&cell)?;
        match (self.watch)(&EvaluationStep::Done(&cell)) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }
}

/// The vectors of a model as tables again.
fn tables_of(view: &View<'_>, model: &Model) -> Result<Tables> {
    let mut tables = Tables::zeros(view, model.params().dim);
    let fill = |table: &mut Table, words: Vectors, documents: Vectors| -> Result<()> {
        let stride = table.stride();
        let (word_rows, document_rows) = table.halves_mut();
        for (rows, from) in [(word_rows, model.vectors(words)), (document_rows, model.vectors(documents))] {
            for (number, row) in rows.chunks_exact_mut(stride).enumerate() {
                row[..from.cols()].copy_from_slice(from.row(number));
            }
        }
        Ok(())
    };
    fill(&mut tables.input, Vectors::WordIn, Vectors::DocIn)?;
    fill(&mut tables.output, Vectors::WordOut, Vectors::DocOut)?;
    Ok(tables)
}
