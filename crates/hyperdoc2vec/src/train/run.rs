//! A whole run: its steps one after the other, watched, with checkpoints from which it can go on.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::corpus::view::View;
use crate::error::{Error, Result};
use crate::infer::newcomers::{self, ContentMap};
use crate::model::VectorStorage;
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
use crate::train::checkpoint::{BestPass, Checkpoints, RunPlace, Saving, Snapshot, State, none};
use crate::train::phases::{phases, text};
use crate::train::ranker;
use crate::train::ranks::Team;

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
    /// The ranks that share it.
    pub team: Team<'a>,
    /// Whether the model gets what people ask for and an evaluation of links does not: where links belong, and the
    /// sentences that they stand in.
    pub for_people: bool,
    /// How the model file holds the vectors.
    pub storage: VectorStorage,
    /// Whether the tables are kept in files beside the model, not in memory.
    pub out_of_core: bool,
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
        let team = self.team;
        let key = self.key();
        team.compare(&self.about(&key))?;
        let _lock = team.lead(|| {
            let lock = OutputLock::take(destination)?;
            // Removes the files of a killed run, even if it did not come to writing anything whole.
            atomic::clear(destination);
            self.checkpoints.iter().for_each(|checkpoints| atomic::clear(&checkpoints.path));
            Ok(lock)
        })?;
        team.together(pool(self.threads))?.install(|| {
            let saving = self.saving(&key);
            let mut trained = self.train(destination, saving, watch)?;
            trained.state.save_if_due(saving)?;
            let places = match team.lead(|| self.learn_places(watch)) {
                Err(Error::Interrupted) => return Err(stopped(&trained.state, saving)?),
                learnt => learnt?.flatten(),
            };
            let whole = team.whole_tables(&trained.state.tables, parent(destination));
            whole
                .and_then(|mut whole| {
                    team.lead(|| self.save(destination, &mut trained, whole.as_mut(), places.as_ref()))
                })
                .map_err(|error| unsaved(error, &trained.state, saving))
        })?;
        // The run is over: its checkpoint is of no more use.
        team.lead(|| match self.checkpoints {
            Some(checkpoints) if checkpoints.path.exists() => {
                std::fs::remove_file(&checkpoints.path).map_err(Error::io("remove", &checkpoints.path))
            }
            _ => Ok(()),
        })?;
        Ok(())
    }

    /// Checkpoints of this run, whose key is `key`.
    fn saving<'s>(&'s self, key: &'s Value) -> Saving<'s> {
        Saving { checkpoints: self.checkpoints, key, team: self.team }
    }

    /// The key of the checkpoints that this run can go on from.
    fn key(&self) -> Value {
        json!({"params": self.params.to_json(), "fingerprint": self.view.corpus.manifest().fingerprint})
    }

    /// What ranks must have in common, a line each.
    fn about(&self, key: &Value) -> String {
        let params = key["params"].as_object().into_iter().flatten();
        let params: String = params.map(|(name, value)| format!("\nparameter {name}: {value}")).collect();
        let fingerprint = &self.view.corpus.manifest().fingerprint;
        format!("version: {}\ncorpus: {fingerprint}{params}", env!("CARGO_PKG_VERSION"))
    }

    /// Takes all steps; the ranker keeps a model beside `destination` for a while.
    fn train(&self, destination: &Path, saving: Saving<'_>, watch: TrainWatch<'_>) -> Result<Trained> {
        let Run { view, params, team, .. } = *self;
        let folder = self.out_of_core.then(|| parent(destination));
        let mut state = State::new(team.together(team.first_tables(view, params, folder))?);
        let mut content = None;
        state.resume(saving)?;
        let text = text(view, params);
        let phases = phases(view, text.as_ref(), params, team);
        let count = phases.len();
        // By value: a phase that is over keeps no memory.
        for step in steps(phases, params) {
            match step {
                RunStep::Ranker(before) => {
                    // Behind it, if a checkpoint is of that phase. Only the rank that leads has a ranker.
                    let [over] = team.any([state.place > RunPlace::start_of(before) || state.ranker.is_some()]);
                    if over {
                        continue;
                    }
                    state.place = RunPlace::start_of(before);
                    state.save_if_due(saving)?;
                    content = team.lead(|| ContentIndex::new(view, parent(destination)))?;
                    state.ranker = match ranker::learn(self, &mut state.tables, content.as_ref(), destination, watch) {
                        Err(Error::Interrupted) => return Err(stopped(&state, saving)?),
                        learnt => learnt?,
                    };
                    state.save_if_due(saving)?;
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
                    run_phase(phase.as_ref(), &mut state, saving, watch)?;
                    if number + 1 == count {
                        team.together(finite(phase.as_ref(), &state.tables))?;
                    }
                }
            }
        }
        state.place = RunPlace::start_of(count);
        Ok(Trained { state, content })
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

    /// Writes the model, with the `whole` tables where those of the state are sharded.
    fn save(
        &self,
        destination: &Path,
        trained: &mut Trained,
        whole: Option<&mut Tables>,
        places: Option<&LearntPlaces>,
    ) -> Result<()> {
        let Trained { state: State { tables, ranker, .. }, content } = trained;
        let tables = whole.unwrap_or(tables);
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
            .storage(self.storage)
            .write_with(destination, content)
    }
}

/// Writes a checkpoint where a run was stopped between phases, and returns the error that has its path.
fn stopped(state: &State, saving: Saving<'_>) -> Result<Error> {
    let Some(checkpoints) = saving.checkpoints else { return Ok(Error::Interrupted) };
    state.save(saving)?;
    Ok(Error::Stopped { checkpoint: checkpoints.path.clone() })
}

/// The error of a model that could not be written: what was learnt goes into a checkpoint, if that can be.
fn unsaved(error: Error, state: &State, saving: Saving<'_>) -> Error {
    let kept = saving.checkpoints.filter(|_| state.save(saving).is_ok());
    match (kept, error) {
        (_, Error::OtherRank) => Error::OtherRank,
        (Some(checkpoints), error) => Error::Unsaved { source: Box::new(error), checkpoint: checkpoints.path.clone() },
        (None, error) => error,
    }
}

/// The vectors of the model that training leads to, without a file: no index and no learnt ranking. On the threads of the
/// current pool.
pub fn train_tables(view: &View<'_>, params: &TrainParams, watch: TrainWatch<'_>) -> Result<Tables> {
    params.validate()?;
    let params = TrainParams { hybrid: false, ..params.clone() };
    let run = Run {
        view,
        params: &params,
        threads: 0,
        checkpoints: None,
        team: Team::default(),
        for_people: false,
        storage: VectorStorage::default(),
        out_of_core: false,
    };
    let mut tables = run.train(Path::new("."), run.saving(&Value::Null), watch)?.state.tables;
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
    let team = Team::default();
    let phases = phases(view, text.as_ref(), params, team);
    phases.iter().skip(1).try_for_each(|phase| run_alone(phase.as_ref(), &mut tables, team, watch))?;
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
pub(crate) fn run_alone(phase: &dyn Phase, tables: &mut Tables, team: Team<'_>, watch: TrainWatch<'_>) -> Result<()> {
    let mut state = State::new(std::mem::replace(tables, none()));
    phase.prepare(&mut state.tables);
    run_phase(phase, &mut state, Saving { checkpoints: None, key: &Value::Null, team }, watch)?;
    *tables = state.tables;
    Ok(())
}

fn run_phase(phase: &dyn Phase, state: &mut State, saving: Saving<'_>, watch: TrainWatch<'_>) -> Result<()> {
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
            let [stop, due] = saving.team.any([watch(&progress).is_break(), saving.is_due(*saved)]);
            last = Some(progress);
            if stop || due {
                let snapshot = Snapshot { place, tables, best: best.as_ref(), ranker: ranker.as_ref() };
                if let Err(error) = saving.write(&snapshot) {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
                *saved = Instant::now();
            }
            if stop {
                failure = Some(match saving.checkpoints {
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
                _ => *best = Some(BestPass { loss, epoch, tables: tables.copy()? }),
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
