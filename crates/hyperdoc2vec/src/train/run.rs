//! A whole run: its steps one after the other, watched, with checkpoints from which it can go on.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::corpus::view::View;
use crate::error::{Error, Result};
use crate::infer::newcomers::{self, ContentMap};
use crate::model::index::quotes::QuotesBuf;
use crate::model::params::TrainParams;
use crate::model::tables::{Table, Tables};
use crate::model::write::{ContentIndex, ModelWriter};
use crate::places;
use crate::places::learn::LearntPlaces;
use crate::search::ranker::Ranker;
use crate::storage::atomic::{self, OutputLock, parent};
use crate::threads::pool;
use crate::train::Phase;
use crate::train::checkpoint::{BestPass, Checkpoints, RunPlace, Snapshot, State, none};
use crate::train::phases::{phases, text};
use crate::train::ranker;

/// The loss reported is a mean over about this share of an epoch.
const SMOOTHING: f64 = 0.02;

/// The name of the place model in progress.
const PLACES: &str = "places";

/// How far a run has come.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TrainProgress {
    /// The phase, as `content`, `citation` or `questions`.
    pub phase: &'static str,
    /// The pass, counting from 0.
    pub epoch: usize,
    /// Passes of this phase.
    pub epochs: usize,
    /// Batches done in this pass.
    pub batch: usize,
    /// Batches of a pass.
    pub batches: usize,
    /// The unit that is counted, as `links` or `words`.
    pub unit: &'static str,
    /// How many of them this phase has seen, in this run of the program.
    pub units: u64,
    /// The loss of one of them, averaged over the last batches; `None` where nothing was learnt, or nothing that has one.
    pub loss: Option<f64>,
    /// Share of the whole phase that is done.
    pub done: f64,
    /// The mean loss of held-out links after the last whole pass, where some are held out. When the pass has just ended,
    /// that is this pass, reported once more.
    pub held_out: Option<f64>,
    /// When a phase that holds out links ends: the pass, counting from 0, whose vectors are kept.
    pub kept: Option<usize>,
}

/// A closure that watches a run and may stop it.
pub type TrainWatch<'a> = &'a mut (dyn FnMut(&TrainProgress) -> ControlFlow<()> + Send);

/// A run over the documents and links of a view.
pub(crate) struct Run<'a> {
    /// The documents and links to train on; `params.until` is not looked at.
    pub view: &'a View<'a>,
    /// How.
    pub params: &'a TrainParams,
    /// Threads; 0 for one a core. Any number gives the same bytes.
    pub threads: usize,
    /// Where checkpoints go, if anywhere.
    pub checkpoints: Option<&'a Checkpoints>,
    /// Whether the model gets what people ask for and an evaluation of links does not: where links belong, and the
    /// sentences that they stand in.
    pub for_people: bool,
}

/// A step of a run.
enum RunStep<'a> {
    /// A phase, with its number.
    Phase(usize, Box<dyn Phase + 'a>),
    /// The ranker is learnt, before the phase with this number, from links held out of it.
    Ranker(usize),
}

/// The result of a run.
struct Trained {
    /// The state behind the last phase.
    state: State,
    /// The index of the content, where the ranker needed it.
    content: Option<ContentIndex>,
}

/// The steps of a run.
fn steps<'a>(phases: Vec<Box<dyn Phase + 'a>>, params: &TrainParams) -> Vec<RunStep<'a>> {
    let last = phases.len().saturating_sub(1);
    let mut steps = Vec::new();
    for (number, phase) in phases.into_iter().enumerate() {
        if number == last && ranker::is_for(params) {
            steps.push(RunStep::Ranker(number));
        }
        steps.push(RunStep::Phase(number, phase));
    }
    steps
}

impl Run<'_> {
    /// Trains and writes the model to `destination`; the parameters have been validated.
    ///
    /// When the watching closure stops the run, a checkpoint is written and [`Error::Stopped`] has its path.
    pub(crate) fn write(&self, destination: &Path, watch: TrainWatch<'_>) -> Result<()> {
        let _lock = OutputLock::take(destination)?;
        // Removes the files of a killed run, even if it did not come to writing anything whole.
        atomic::clear(destination);
        self.checkpoints.iter().for_each(|checkpoints| atomic::clear(&checkpoints.path));
        pool(self.threads)?.install(|| {
            let mut trained = self.train(destination, watch)?;
            let key = self.key();
            trained.state.save_if_due(&key, self.checkpoints)?;
            let places = match self.learn_places(watch) {
                Err(Error::Interrupted) => return Err(self.stopped(&trained.state, &key)?),
                learnt => learnt?,
            };
            self.save(destination, &mut trained, places.as_ref())
                .map_err(|error| self.unsaved(error, &trained.state, &key))
        })?;
        // The run is over: its checkpoint is of no more use.
        if let Some(checkpoints) = self.checkpoints
            && checkpoints.path.exists()
        {
            std::fs::remove_file(&checkpoints.path).map_err(Error::io("remove", &checkpoints.path))?;
        }
        Ok(())
    }

    /// The key of the checkpoints that this run can go on from.
    fn key(&self) -> Value {
        json!({"params": self.params.to_json(), "fingerprint": self.view.corpus.manifest().fingerprint})
    }

    /// Takes all steps; the ranker keeps a model beside `destination` for a while.
    fn train(&self, destination: &Path, watch: TrainWatch<'_>) -> Result<Trained> {
        let Run { view, params, checkpoints, .. } = *self;
        let key = self.key();
        let mut state = State::new(Tables::first(view, params));
        let mut content = None;
        if let Some(checkpoints) = checkpoints.filter(|checkpoints| checkpoints.resume && checkpoints.path.exists()) {
            state.read(&checkpoints.path, &key)?;
        }
        let text = text(view, params);
        let phases = phases(view, text.as_ref(), params);
        let count = phases.len();
        // By value: a phase that is over keeps no memory.
        for step in steps(phases, params) {
            match step {
                RunStep::Ranker(before) => {
                    // Behind it, if a checkpoint is of that phase.
                    if state.place > RunPlace::start_of(before) || state.ranker.is_some() {
                        continue;
                    }
                    state.place = RunPlace::start_of(before);
                    state.save_if_due(&key, checkpoints)?;
                    let content = content.insert(ContentIndex::new(view, parent(destination))?);
                    state.ranker = match ranker::learn(self, &mut state.tables, content, destination, watch) {
                        Err(Error::Interrupted) => return Err(self.stopped(&state, &key)?),
                        learnt => Some(learnt?),
                    };
                    state.save_if_due(&key, checkpoints)?;
                }
                RunStep::Phase(number, phase) => {
                    if number < state.place.phase {
                        continue;
                    }
                    if number > state.place.phase {
                        state.place = RunPlace::start_of(number);
                    }
                    if state.place == RunPlace::start_of(number) {
                        phase.prepare(&mut state.tables);
                    }
                    run_phase(phase.as_ref(), &mut state, &key, checkpoints, watch)?;
                    if number + 1 == count {
                        finite(phase.as_ref(), &state.tables)?;
                    }
                }
            }
        }
        state.place = RunPlace::start_of(count);
        Ok(Trained { state, content })
    }

    /// Writes a checkpoint where a run was stopped between phases, and returns the error that has its path.
    fn stopped(&self, state: &State, key: &Value) -> Result<Error> {
        let Some(checkpoints) = self.checkpoints else { return Ok(Error::Interrupted) };
        state.save(&checkpoints.path, key)?;
        Ok(Error::Stopped { checkpoint: checkpoints.path.clone() })
    }

    /// Learns where links belong, where a ranker is learnt too: after it, and after the last phase.
    fn learn_places(&self, watch: TrainWatch<'_>) -> Result<Option<LearntPlaces>> {
        if !self.for_people || !ranker::is_for(self.params) {
            return Ok(None);
        }
        let mut steps = 0;
        places::learn::learn(self.view, self.params.seed, &mut |done| {
            steps += 1;
            let batches = 1000;
            watch(&TrainProgress {
                phase: PLACES,
                epoch: 0,
                epochs: 1,
                batch: (done * batches as f64) as usize,
                batches,
                unit: "steps",
                units: steps,
                loss: None,
                done,
                held_out: None,
                kept: None,
            })
        })
    }

    /// Writes the model.
    fn save(&self, destination: &Path, trained: &mut Trained, places: Option<&LearntPlaces>) -> Result<()> {
        let Trained { state: State { tables, ranker, .. }, content } = trained;
        let newcomers = newcomers::fill(self.view, tables, self.params);
        let quotes = if self.for_people { Some(QuotesBuf::build(self.view)?) } else { None };
        let made;
        let content = match content {
            Some(content) => content,
            None => {
                made = ContentIndex::new(self.view, parent(destination))?;
                &made
            }
        };
        ModelWriter::new(self.view, tables, self.params)
            .arrays(ranker.iter().flat_map(Ranker::tensors))
            .ranker(ranker.as_ref().map(Ranker::about))
            .arrays(places.iter().flat_map(|places| places.tensors()))
            .places(places.map(|places| places.trees.about()))
            .arrays(quotes.iter().flat_map(QuotesBuf::tensors))
            .arrays(newcomers.as_ref().map(ContentMap::tensor))
            .write_with(destination, content)
    }

    /// The error of a model that could not be written: what was learnt goes into a checkpoint, if that can be.
    fn unsaved(&self, error: Error, state: &State, key: &Value) -> Error {
        let kept = self.checkpoints.filter(|checkpoints| state.save(&checkpoints.path, key).is_ok());
        match kept {
            Some(checkpoints) => Error::Unsaved { source: Box::new(error), checkpoint: checkpoints.path.clone() },
            None => error,
        }
    }
}

/// The vectors of the model that training leads to, without a file: no index and no learnt ranking. On the threads of the
/// current pool.
pub fn train_tables(view: &View<'_>, params: &TrainParams, watch: TrainWatch<'_>) -> Result<Tables> {
    params.validate()?;
    let params = TrainParams { hybrid: false, ..params.clone() };
    let run = Run { view, params: &params, threads: 0, checkpoints: None, for_people: false };
    let mut tables = run.train(Path::new("."), watch)?.state.tables;
    newcomers::fill(view, &mut tables, &params);
    Ok(tables)
}

/// Takes all phases but the first on `tables`, which the first phase of this or another run led to. The parameters have
/// been validated.
pub(crate) fn train_tables_on(
    view: &View<'_>,
    params: &TrainParams,
    mut tables: Tables,
    watch: TrainWatch<'_>,
) -> Result<Tables> {
    let text = text(view, params);
    let phases = phases(view, text.as_ref(), params);
    phases.iter().skip(1).try_for_each(|phase| run_alone(phase.as_ref(), &mut tables, watch))?;
    phases.last().map_or(Ok(()), |last| finite(last.as_ref(), &tables))?;
    Ok(tables)
}

/// Refuses vectors that are no numbers any more.
fn finite(last: &dyn Phase, tables: &Tables) -> Result<()> {
    let finite = |table: &Table| table.data().iter().all(|x| x.is_finite());
    if finite(&tables.input) && finite(&tables.output) {
        Ok(())
    } else {
        Err(Error::Diverged { phase: last.name(), epoch: last.epochs(), batch: last.batches() })
    }
}

/// Runs one phase from its beginning, without checkpoints.
pub(crate) fn run_alone(phase: &dyn Phase, tables: &mut Tables, watch: TrainWatch<'_>) -> Result<()> {
    let mut state = State::new(std::mem::replace(tables, none()));
    phase.prepare(&mut state.tables);
    run_phase(phase, &mut state, &Value::Null, None, watch)?;
    *tables = state.tables;
    Ok(())
}

fn run_phase(
    phase: &dyn Phase,
    state: &mut State,
    key: &Value,
    checkpoints: Option<&Checkpoints>,
    watch: TrainWatch<'_>,
) -> Result<()> {
    let total = (phase.epochs() * phase.batches()).max(1) as f64;
    let memory = (SMOOTHING * phase.batches() as f64).max(1.0);
    let (mut units, mut loss, mut held_out) = (0, None, None);
    let mut last = None;
    let State { place: first, tables, best, ranker, saved } = state;
    for epoch in first.epoch..phase.epochs() {
        let start = if epoch == first.epoch { first.batch } else { 0 };
        let mut failure = None;
        let flow = phase.epoch(epoch, start, tables, &mut |done, tables| {
            units += done.units;
            // Of a batch from which nothing is learnt there is no loss.
            let mean = if done.units > 0 { done.loss / done.units as f64 } else { loss.unwrap_or(0.0) };
            if !mean.is_finite() {
                failure = Some(Error::Diverged { phase: phase.name(), epoch: epoch + 1, batch: done.batches });
                return ControlFlow::Break(());
            }
            let smooth = loss.map_or(mean, |loss: f64| loss + (mean - loss) / memory);
            loss = (units > 0).then_some(smooth);
            let place = RunPlace { phase: first.phase, epoch, batch: done.batches };
            let progress = TrainProgress {
                phase: phase.name(),
                epoch,
                epochs: phase.epochs(),
                batch: done.batches,
                batches: phase.batches(),
                unit: phase.unit(),
                units,
                loss,
                done: (epoch * phase.batches() + done.batches) as f64 / total,
                held_out,
                kept: None,
            };
            let stop = watch(&progress).is_break();
            last = Some(progress);
            if let Some(checkpoints) = checkpoints
                && (stop || saved.elapsed() >= checkpoints.every)
            {
                let snapshot = Snapshot { place, tables, best: best.as_ref(), ranker: ranker.as_ref() };
                if let Err(error) = snapshot.write(&checkpoints.path, key) {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
                *saved = Instant::now();
            }
            if stop {
                failure = Some(match checkpoints {
                    Some(checkpoints) => Error::Stopped { checkpoint: checkpoints.path.clone() },
                    None => Error::Interrupted,
                });
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        if let (ControlFlow::Break(()), Some(error)) = (flow, failure) {
            return Err(error);
        }
        if phase.patience() > 0
            && let Some(loss) = phase.held_out_loss(tables)
        {
            held_out = Some(loss);
            match best {
                Some(best) if loss >= best.loss => {}
                _ => *best = Some(BestPass { loss, epoch, tables: tables.clone() }),
            }
            let kept = best.as_ref().map_or(epoch, |best| best.epoch);
            let over = epoch.saturating_sub(kept) >= phase.patience() || epoch + 1 == phase.epochs();
            if let Some(last) = last.take() {
                // A wish to stop is acted on at the next batch.
                let _ = watch(&TrainProgress { held_out, kept: over.then_some(kept), ..last });
            }
            if over {
                break;
            }
        }
    }
    if let Some(best) = best.take() {
        *tables = best.tables;
    }
    Ok(())
}
