//! Link prediction: every method is trained on the training part of a corpus and asked for the links of the test part.
//!
//! What comes of a method is a [`Cell`]: the place of each truth. All figures follow from it ([`super::report`]), so that
//! a cell can be kept and used again.

use std::collections::VecDeque;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::ask::Questions;
use super::methods::{Ask, LinkMethod, Trains};
use super::trec;
use crate::corpus::split::{Part, Split, TestPosition};
use crate::corpus::view::View;
use crate::error::{Error, Result};
use crate::kernel::Beyond;
use crate::model::Model;
use crate::model::index::terms::Terms;
use crate::model::params::ReferenceParams;
use crate::model::params::{Method, TrainParams};
use crate::model::tables::Table;
use crate::model::tables::Tables;
use crate::model::write::ModelWriter;
use crate::search::Hit;
use crate::search::ranker::Ranker;
use crate::storage::atomic::write_atomically;
use crate::threads::pool;
use crate::train::{Run, TrainProgress, train_tables, train_tables_on};

/// Places are known up to this one.
pub const DEPTH: usize = 1000;
/// Hits of a question in a run file.
const RUN_DEPTH: usize = 100;

/// How links are evaluated.
#[derive(Debug, Clone)]
pub struct LinksParams {
    /// How models are trained; the method is set for each.
    pub train: TrainParams,
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
            anchors: vec![true],
            threads: 0,
        }
    }
}

/// The questions of a split.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Positions with their truths.
    pub queries: Vec<TestPosition>,
    /// Rows of the truths among the training documents, question by question.
    pub truths: Vec<u32>,
}

impl Asked {
    /// Every `every`-th position of the test documents of `split`.
    pub fn new(view: &View<'_>, split: &Split, every: usize) -> Result<Asked> {
        let all = split.queries(view.corpus);
        if all.is_empty() {
            let tests = split.documents(Part::Test).count();
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
        let queries: Vec<TestPosition> = all.into_iter().step_by(every.max(1)).collect();
        let first = view.words.len() as u32;
        let row = |doc: &crate::id::DocId| view.document_row(*doc).map_or(u32::MAX, |row| row - first);
        let truths = queries.iter().flat_map(|query| query.truths.iter().map(row)).collect();
        Ok(Asked { queries, truths })
    }

    /// The truths of each question, as ranges of [`Asked::truths`].
    pub fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.queries.iter().scan(0, |from, query| {
            let range = *from..*from + query.truths.len();
            *from = range.end;
            Some(range)
        })
    }

    /// What a question is called in run files.
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

/// What came of a method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Its name.
    pub method: String,
    /// Whether the links' own words were part of the questions.
    pub anchors: bool,
    /// The place of each of [`Asked::truths`], from 1; 0 where it is not among the first [`DEPTH`].
    pub places: Vec<u32>,
    /// Seconds of training; methods that share a model all name its seconds.
    pub train_seconds: f64,
    /// Seconds of asking.
    pub query_seconds: f64,
}

/// What is being done.
#[derive(Debug)]
pub enum Doing<'a> {
    /// A model is trained for the first of so many methods.
    Training(&'a str, &'a TrainProgress),
    /// A method is asked; so many questions are done, of so many.
    Asking(&'a str, usize, usize),
    /// A method is done.
    Done(&'a Cell),
}

/// Sees what is being done, from several threads; may stop it.
pub type EvaluateWatch<'a> = &'a (dyn Fn(&Doing<'_>) -> ControlFlow<()> + Sync);

/// Where the run file of a method goes, asked with or without anchors, if it is wanted.
pub type RunPath<'a> = &'a (dyn Fn(&str, bool) -> Option<PathBuf> + Sync);

/// The parameters that `trains` is trained with.
pub fn train_params(trains: Trains, params: &LinksParams) -> TrainParams {
    let mut train = params.train.clone();
    train.direct.epochs = params.text_epochs;
    train.reference.epochs = params.reference_epochs;
    match trains {
        Trains::Nothing | Trains::Index | Trains::Searchable => train.method = Method::HyperDoc,
        Trains::Model(method) => {
            train.method = method;
            train.reference.beyond = Beyond::Saturate;
            train.reference.shift = false;
        }
        Trains::Reference => {
            train.method = Method::HyperDocPaper;
            let (epochs, window, noise) = (train.reference.epochs, train.window, train.reference.noise);
            train.reference = ReferenceParams { epochs, window, noise, ..ReferenceParams::default() };
        }
    }
    train
}

/// Trains and asks `methods`, those that share a model together; `folder` is for what is made on the way.
///
/// Each is given to `done` when it is done.
#[allow(clippy::too_many_arguments)]
pub fn run(
    view: &View<'_>,
    asked: &Asked,
    methods: &[LinkMethod],
    params: &LinksParams,
    folder: &Path,
    run_path: RunPath<'_>,
    done: &(dyn Fn(&Cell) -> Result<()> + Sync),
    watch: EvaluateWatch<'_>,
) -> Result<()> {
    params.train.validate()?;
    let needs_links = |method: &&LinkMethod| match method.trains {
        Trains::Nothing | Trains::Index => false,
        Trains::Searchable | Trains::Reference => true,
        Trains::Model(method) => method.needs_links(),
    };
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
    let job = Job { view, asked, params, folder, run_path, done, watch };
    let (mut serial, parallel): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| group[0].is_serial());
    // One a thread, the next when one is done, those that take longest first; none begins after an error.
    serial.sort_by_key(|group| match group[0].base() {
        Some(Method::PvDm) => 0,
        Some(_) => 1,
        None if group[0].trains == Trains::Model(Method::D2vCac) => 2,
        None => 3,
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if params.threads == 0 { cores } else { params.threads };
    let (queue, failed) = (Mutex::new(VecDeque::from(serial)), Mutex::new(None));
    let lock = |failed: &Mutex<Option<Error>>| failed.lock().map_or(true, |failed| failed.is_some());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !lock(&failed)
                    && let Some(group) = queue.lock().ok().and_then(|mut queue| queue.pop_front())
                {
                    let result = pool(1).and_then(|pool| pool.install(|| job.group(&group)));
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
    parallel.iter().try_for_each(|group| pool.install(|| job.group(group)))
}

/// Whether two methods are trained together: they are asked of one model (the default model is searchable where anything
/// else needs that), or their training begins with the same.
fn shared(a: &LinkMethod, b: &LinkMethod, methods: &[LinkMethod]) -> bool {
    let searched = methods.iter().any(|method| method.trains == Trains::Searchable);
    let same = |trains| if trains == Trains::Model(Method::HyperDoc) && searched { Trains::Searchable } else { trains };
    same(a.trains) == same(b.trains) || (a.base().is_some() && a.base() == b.base())
}

struct Job<'a> {
    view: &'a View<'a>,
    asked: &'a Asked,
    params: &'a LinksParams,
    folder: &'a Path,
    run_path: RunPath<'a>,
    done: &'a (dyn Fn(&Cell) -> Result<()> + Sync),
    watch: EvaluateWatch<'a>,
}

impl Job<'_> {
    /// Trains what a group begins with, then each model on from there.
    fn family(&self, base: Method, group: &[LinkMethod]) -> Result<()> {
        let mut watch = |progress: &TrainProgress| (self.watch)(&Doing::Training(group[0].name, progress));
        let started = Instant::now();
        let first = train_tables(self.view, &train_params(Trains::Model(base), self.params), &mut watch)?;
        let base_seconds = started.elapsed().as_secs_f64();
        let mut models: Vec<Trains> = group.iter().map(|method| method.trains).collect();
        models.dedup();
        for trains in models {
            let mates: Vec<&LinkMethod> = group.iter().filter(|method| method.trains == trains).collect();
            let mut watch = |progress: &TrainProgress| (self.watch)(&Doing::Training(mates[0].name, progress));
            let (params, started) = (train_params(trains, self.params), Instant::now());
            let tables = train_tables_on(self.view, &params, first.clone(), &mut watch)?;
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
        let mut watch = |progress: &TrainProgress| (self.watch)(&Doing::Training(name, progress));
        let started = Instant::now();
        match trains {
            Trains::Nothing => {
                group.iter().try_for_each(|method| self.ask(method, 0.0, |asked, sink| asked.popular(sink)))
            }
            Trains::Index => {
                // A model without vectors worth the name.
                params.dim = 1;
                let empty = || Table::new(self.view.rows(), 1);
                let tables = Tables { input: empty(), output: empty() };
                self.searchable(group, &params, &|path| ModelWriter::new(self.view, &tables, &params).write(path))
            }
            Trains::Searchable => {
                params.hybrid = true;
                self.searchable(group, &params, &|path| {
                    let mut watch = |progress: &TrainProgress| (self.watch)(&Doing::Training(name, progress));
                    let run = Run { view: self.view, params: &params, threads: self.params.threads, checkpoints: None };
                    run.write(path, &mut watch)
                })
            }
            Trains::Model(_) | Trains::Reference => {
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
        let vectors = group.iter().any(|method| matches!(method.trains, Trains::Model(_)));
        let tables = vectors.then(|| tables_of(self.view, &model)).transpose()?;
        group.iter().try_for_each(|method| {
            self.ask(method, seconds, |asked, sink| match (&tables, method.trains) {
                (Some(tables), Trains::Model(_)) => asked.tables(tables, params, method.ask, sink),
                _ => asked.searchable(&model, &terms, method.ask, sink),
            })
        })
    }

    /// Asks one method, in its own way, and hands on what came of it.
    fn ask(
        &self,
        method: &LinkMethod,
        train_seconds: f64,
        how: impl Fn(&Questions<'_>, super::ask::Sink<'_>) -> Result<()>,
    ) -> Result<()> {
        self.params.anchors.iter().try_for_each(|&anchors| self.ask_with(method, anchors, train_seconds, &how))
    }

    fn ask_with(
        &self,
        method: &LinkMethod,
        anchors: bool,
        train_seconds: f64,
        how: impl FnOnce(&Questions<'_>, super::ask::Sink<'_>) -> Result<()>,
    ) -> Result<()> {
        let positions: Vec<usize> = self.asked.queries.iter().map(|query| query.position).collect();
        let questions =
            Questions { view: self.view, positions: &positions, anchors, depth: DEPTH.min(self.view.documents.len()) };
        let ranges: Vec<_> = self.asked.ranges().collect();
        let mut places = vec![0u32; self.asked.truths.len()];
        let started = Instant::now();
        let asking = |out: Option<&mut dyn Write>| {
            let mut out = out;
            how(&questions, &mut |from, hits: Vec<Vec<Hit>>| {
                let count = hits.len();
                for (number, hits) in (from..).zip(hits) {
                    for truth in ranges[number].clone() {
                        let place = hits.iter().position(|hit| hit.row == self.asked.truths[truth]);
                        places[truth] = place.map_or(0, |place| place as u32 + 1);
                    }
                    if let Some(out) = &mut out {
                        let name = |row: u32| self.view.corpus.name(self.view.documents[row as usize]);
                        let hits = &hits[..hits.len().min(RUN_DEPTH)];
                        let question = self.asked.name(self.view, number);
                        trec::write_run(out, &question, hits, name, method.name)
                            .map_err(Error::io("write", Path::new("the run file")))?;
                    }
                }
                Ok((self.watch)(&Doing::Asking(method.name, from + count, positions.len())))
            })
        };
        match (self.run_path)(method.name, anchors) {
            None => asking(None)?,
            Some(path) => write_atomically(&path, |out| asking(Some(out)))?,
        }
        let query_seconds = started.elapsed().as_secs_f64();
        let cell = Cell { method: method.name.to_owned(), anchors, places, train_seconds, query_seconds };
        (self.done)(&cell)?;
        match (self.watch)(&Doing::Done(&cell)) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Interrupted),
        }
    }
}

/// The vectors of a model as tables again.
fn tables_of(view: &View<'_>, model: &Model) -> Result<Tables> {
    use crate::model::Vectors;
    let dim = model.params().dim;
    let table = |words: Vectors, documents: Vectors| -> Result<Table> {
        let mut table = Table::new(view.rows(), dim);
        let (words, documents) = (model.vectors(words)?, model.vectors(documents)?);
        for row in 0..view.rows() {
            let from = if row < view.words.len() { words.row(row) } else { documents.row(row - view.words.len()) };
            table.row_mut(row)[..dim].copy_from_slice(from);
        }
        Ok(table)
    };
    Ok(Tables { input: table(Vectors::WordIn, Vectors::DocIn)?, output: table(Vectors::WordOut, Vectors::DocOut)? })
}
