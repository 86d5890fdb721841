//! A whole run: phases one after the other, watched, with checkpoints from which it can go on.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::corpus::Corpus;
use crate::corpus::split::Split;
use crate::corpus::view::View;
use crate::error::{Error, Result};
use crate::infer::newcomers::{self, ContentMap};
use crate::model::params::{Method, TrainParams};
use crate::model::tables::Table;
use crate::model::tables::Tables;
use crate::model::write::{Content, ModelWriter};
use crate::search::ranker::Ranker;
use crate::storage::atomic::{self, parent};
use crate::storage::container::{Aside, Container, Tensor, write};
use crate::threads::pool;
use crate::train::Phase;
use crate::train::citation::Citation;
use crate::train::content::Dbow;
use crate::train::joint::Joint;
use crate::train::ranker;
use crate::train::rivals::deepwalk::DeepWalk;
use crate::train::rivals::direct::{Direct, Form};
use crate::train::rivals::npm::Npm;
use crate::train::rivals::reference::ReferenceCitation;
use crate::train::rivals::text::Text;

const CHECKPOINT: &str = "hyperdoc2vec checkpoint";
const CHECKPOINT_VERSION: u32 = 2;
/// The arrays of a checkpoint: vectors and mean squares, in and out, as they are and as they were after the best pass.
const CURRENT: [&str; 4] = ["input", "output", "input_squares", "output_squares"];
const BEST: [&str; 4] = ["best_input", "best_output", "best_input_squares", "best_output_squares"];
/// The loss told is a mean over about this share of an epoch.
const SMOOTHING: f64 = 0.02;

/// How far a run has come.
#[derive(Debug, Clone, PartialEq)]
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
    /// What is counted, as `links` or `words`.
    pub unit: &'static str,
    /// How many of them this phase has seen, in this run of the program.
    pub units: u64,
    /// The loss of one of them, averaged over the last batches; `None` where nothing was learnt, or nothing that has one.
    pub loss: Option<f64>,
    /// Share of the whole phase that is done.
    pub done: f64,
    /// The mean loss of held-out links after the last whole pass, where some are held out. When the pass has just ended,
    /// that is this pass, told once more.
    pub held_out: Option<f64>,
    /// When a phase that holds out links ends: the pass, counting from 0, whose vectors are kept.
    pub kept: Option<usize>,
}

/// Where and how often checkpoints are written.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    /// The file.
    pub path: PathBuf,
    /// How much time lies between two of them.
    pub every: Duration,
    /// Whether to go on from the file if it is there.
    pub resume: bool,
}

/// A closure that watches a run and may stop it.
pub type TrainWatch<'a> = &'a mut (dyn FnMut(&TrainProgress) -> ControlFlow<()> + Send);

/// Where a run is: before this batch of this epoch of this phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Place {
    phase: usize,
    epoch: usize,
    batch: usize,
}

/// Trains on `corpus` and writes the model to `destination`. Any number of threads (0 for one a core) gives the
/// same bytes.
///
/// When the watching closure stops the run, a checkpoint is written and [`Error::Stopped`] tells where.
pub fn train(
    corpus: &Corpus,
    params: &TrainParams,
    destination: &Path,
    threads: usize,
    checkpoints: Option<&Checkpoints>,
    watch: TrainWatch<'_>,
) -> Result<()> {
    params.validate()?;
    train_view(&view(corpus, params)?, params, destination, threads, checkpoints, watch)
}

/// The same on a part of a corpus that was chosen before; `params.until` is not looked at.
pub fn train_view(
    view: &View<'_>,
    params: &TrainParams,
    destination: &Path,
    threads: usize,
    checkpoints: Option<&Checkpoints>,
    watch: TrainWatch<'_>,
) -> Result<()> {
    params.validate()?;
    // What a killed run left, even if it did not come to writing anything whole.
    atomic::clear(destination);
    checkpoints.iter().for_each(|checkpoints| atomic::clear(&checkpoints.path));
    pool(threads)?.install(|| {
        let mut trained = run(view, params, checkpoints, destination, watch)?;
        let key = key(view, params);
        trained.state.save_if_due(&key, checkpoints)?;
        save(destination, view, params, &mut trained).map_err(|error| unsaved(error, &trained.state, &key, checkpoints))
    })?;
    // The run is over: its checkpoint is of no more use.
    if let Some(checkpoints) = checkpoints
        && checkpoints.path.exists()
    {
        std::fs::remove_file(&checkpoints.path).map_err(Error::io("remove", &checkpoints.path))?;
    }
    Ok(())
}

/// Writes the model.
fn save(destination: &Path, view: &View<'_>, params: &TrainParams, trained: &mut Trained) -> Result<()> {
    let Trained { state: State { tables, hybrid, .. }, content } = trained;
    let newcomers = newcomers::fill(view, tables, params);
    let made;
    let content = match content {
        Some(content) => content,
        None => {
            made = Content::new(view, parent(destination))?;
            &made
        }
    };
    ModelWriter::new(view, tables, params)
        .arrays(hybrid.iter().flat_map(Ranker::tensors))
        .ranker(hybrid.as_ref().map(Ranker::about))
        .arrays(newcomers.as_ref().map(ContentMap::tensor))
        .write_with(destination, content)
}

/// The error of a model that could not be written: what was learnt goes into a checkpoint, if that can be.
fn unsaved(error: Error, state: &State, key: &serde_json::Value, checkpoints: Option<&Checkpoints>) -> Error {
    let kept = checkpoints.filter(|checkpoints| state.save(&checkpoints.path, key).is_ok());
    match kept {
        Some(checkpoints) => Error::Unsaved { source: Box::new(error), checkpoint: checkpoints.path.clone() },
        None => error,
    }
}

/// The vectors of the model that training leads to, without a file: no index and no learnt ranking. On the threads of the
/// current pool.
pub fn train_tables(view: &View<'_>, params: &TrainParams, watch: TrainWatch<'_>) -> Result<Tables> {
    params.validate()?;
    let params = TrainParams { hybrid: false, ..params.clone() };
    let mut tables = run(view, &params, None, Path::new("."), watch)?.state.tables;
    newcomers::fill(view, &mut tables, &params);
    Ok(tables)
}

/// The same where the first phase is done already, by this or another run: `tables` are what it led to.
pub fn train_tables_on(
    view: &View<'_>,
    params: &TrainParams,
    mut tables: Tables,
    watch: TrainWatch<'_>,
) -> Result<Tables> {
    params.validate()?;
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

/// What `params` train on.
pub(crate) fn view<'a>(corpus: &'a Corpus, params: &TrainParams) -> Result<View<'a>> {
    let split = match params.until {
        Some(until) => Split::by_date(corpus, until)?,
        None => Split::none(corpus),
    };
    let view = View::new(corpus, &split, params.min_count)?;
    if params.method.needs_links() && view.links.is_empty() {
        return Err(Error::input(
            corpus.path().display().to_string(),
            format!(
                "{} learns from links, and there is none between the documents to train on; \
                     train pv-dbow, or look at `hd2v doctor`",
                params.method
            ),
        ));
    }
    Ok(view)
}

/// What the phases read: the text in the form the method wants it.
pub(crate) fn text<'a>(view: &'a View<'a>, params: &TrainParams) -> Option<Text<'a>> {
    match params.method {
        Method::HyperDoc | Method::Joint | Method::HyperDocRandom | Method::PvDbow | Method::DeepWalk => None,
        Method::HyperDocPaper | Method::PvDm | Method::D2vNc | Method::Npm => Some(Text::words(view)),
        Method::W2v => Some(Text::with_links(view)),
        Method::D2vCac => Some(Text::with_contexts(view, params.window)),
    }
}

pub(crate) fn phases<'a>(
    view: &'a View<'a>,
    text: Option<&'a Text<'a>>,
    params: &'a TrainParams,
) -> Vec<Box<dyn Phase + 'a>> {
    let seed = params.seed;
    let direct = |form| {
        let phase = text.map(|text| Direct::new(text, form, &params.direct, seed));
        phase.map(|phase| Box::new(phase) as Box<dyn Phase + 'a>).into_iter()
    };
    let content = || Dbow::new(view, &params.content, seed);
    let citation = || Citation::new(view, &params.citation, params.window, seed);
    let reference = || Box::new(ReferenceCitation::new(view, &params.reference, seed));
    let mut phases: Vec<Box<dyn Phase + 'a>> = Vec::new();
    match params.method {
        Method::HyperDoc => {
            phases.push(Box::new(content()));
            let citation = citation();
            phases.push(Box::new(if params.starts_from_content() { citation.from_content() } else { citation }));
        }
        Method::Joint => phases.push(Box::new(Joint::new(content(), citation()))),
        Method::HyperDocPaper => {
            phases.extend(direct(Form::Dm));
            phases.push(reference());
        }
        Method::HyperDocRandom => phases.push(reference()),
        Method::W2v => phases.extend(direct(if params.direct.skip_gram { Form::SkipGram } else { Form::Cbow })),
        Method::PvDm => phases.extend(direct(Form::Dm)),
        Method::PvDbow => phases.push(Box::new(content())),
        Method::D2vNc | Method::D2vCac => phases.extend(direct(Form::Dbow)),
        Method::Npm => {
            phases.extend(direct(Form::Cbow));
            phases.push(Box::new(Npm::new(view, &params.npm, seed)));
        }
        Method::DeepWalk => phases.push(Box::new(DeepWalk::new(view, &params.deepwalk, seed))),
    }
    phases
}

/// What a run leads to.
struct Trained {
    /// Behind the last phase.
    state: State,
    /// Read already, if it was of use.
    content: Option<Content>,
}

/// What a checkpoint must be of to be gone on from.
fn key(view: &View<'_>, params: &TrainParams) -> serde_json::Value {
    json!({"params": params.to_json(), "fingerprint": view.corpus.manifest().fingerprint})
}

fn run(
    view: &View<'_>,
    params: &TrainParams,
    checkpoints: Option<&Checkpoints>,
    destination: &Path,
    watch: TrainWatch<'_>,
) -> Result<Trained> {
    let key = key(view, params);
    let mut state = State::new(Tables::first(view, params));
    let mut content = None;
    if let Some(checkpoints) = checkpoints.filter(|checkpoints| checkpoints.resume && checkpoints.path.exists()) {
        state.read(&checkpoints.path, &key)?;
    }
    let text = text(view, params);
    let phases = phases(view, text.as_ref(), params);
    let (begin, count) = (state.place, phases.len());
    // By value: a phase that is over keeps no memory.
    for (number, phase) in phases.into_iter().enumerate().skip(begin.phase) {
        if number > begin.phase {
            state.place = Place { phase: number, ..Place::default() };
        }
        if (state.place.epoch, state.place.batch) == (0, 0) {
            phase.prepare(&mut state.tables);
            // A checkpoint may have it already; to prepare twice does no harm.
            if number + 1 == count && ranker::is_for(params) && state.hybrid.is_none() {
                state.save_if_due(&key, checkpoints)?;
                let content = content.insert(Content::new(view, parent(destination))?);
                state.hybrid = match ranker::learn(view, params, &mut state.tables, content, destination, watch) {
                    Err(Error::Interrupted) => return Err(stopped(&state, &key, checkpoints)?),
                    learnt => learnt?,
                };
                state.save_if_due(&key, checkpoints)?;
            }
        }
        run_phase(phase.as_ref(), &mut state, &key, checkpoints, watch)?;
        if number + 1 == count {
            finite(phase.as_ref(), &state.tables)?;
        }
    }
    state.place = Place { phase: count, ..Place::default() };
    Ok(Trained { state, content })
}

/// Writes a checkpoint where a run was stopped between phases, and tells where it is.
fn stopped(state: &State, key: &serde_json::Value, checkpoints: Option<&Checkpoints>) -> Result<Error> {
    let Some(checkpoints) = checkpoints else { return Ok(Error::Interrupted) };
    state.save(&checkpoints.path, key)?;
    Ok(Error::Stopped { checkpoint: checkpoints.path.clone() })
}

/// Tables put into a file, from which they can be had back as they were: others have the memory meanwhile.
pub(crate) struct TablesAside {
    arrays: Aside,
    rows: usize,
    dim: usize,
}

impl TablesAside {
    /// Copies `tables`, whose vectors have `dim` numbers, to a file in `folder`.
    pub(crate) fn new(tables: &Tables, dim: usize, folder: &Path) -> Result<TablesAside> {
        let mut arrays = Aside::new(folder)?;
        tensors(CURRENT, tables).iter().try_for_each(|tensor| arrays.put(tensor))?;
        Ok(TablesAside { arrays, rows: tables.input.rows(), dim })
    }

    /// The tables as they were. What `tables` holds is gone before memory is taken for them.
    pub(crate) fn restore(&self, tables: &mut Tables) -> Result<()> {
        *tables = none();
        let [input, output] = [(CURRENT[0], CURRENT[2]), (CURRENT[1], CURRENT[3])].map(|(vectors, squares)| {
            let mut table = Table::new(self.rows, self.dim);
            self.arrays.get(vectors, table.data_mut())?;
            self.arrays.get(squares, table.squares_mut())?;
            Ok::<Table, Error>(table)
        });
        *tables = Tables { input: input?, output: output? };
        Ok(())
    }
}

/// Runs one phase from its beginning, without checkpoints.
pub(crate) fn run_alone(phase: &dyn Phase, tables: &mut Tables, watch: TrainWatch<'_>) -> Result<()> {
    let mut state = State::new(std::mem::replace(tables, none()));
    phase.prepare(&mut state.tables);
    run_phase(phase, &mut state, &serde_json::Value::Null, None, watch)?;
    *tables = state.tables;
    Ok(())
}

/// No rows.
pub(crate) fn none() -> Tables {
    Tables { input: Table::new(0, 1), output: Table::new(0, 1) }
}

/// All that a run is at one moment, and a checkpoint holds.
struct State {
    place: Place,
    tables: Tables,
    /// The best pass of this phase so far, if it holds out links to tell.
    best: Option<Best>,
    /// What was learnt before the last phase.
    hybrid: Option<Ranker>,
    /// When the last checkpoint was written, or the run began.
    saved: Instant,
}

struct Best {
    loss: f64,
    epoch: usize,
    tables: Tables,
}

fn run_phase(
    phase: &dyn Phase,
    state: &mut State,
    key: &serde_json::Value,
    checkpoints: Option<&Checkpoints>,
    watch: TrainWatch<'_>,
) -> Result<()> {
    let total = (phase.epochs() * phase.batches()).max(1) as f64;
    let memory = (SMOOTHING * phase.batches() as f64).max(1.0);
    let (mut units, mut loss, mut held_out) = (0, None, None);
    let mut last = None;
    let State { place: first, tables, best, hybrid, saved } = state;
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
            let place = Place { phase: first.phase, epoch, batch: done.batches };
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
                if let Err(error) =
                    write_checkpoint(&checkpoints.path, place, key, tables, best.as_ref(), hybrid.as_ref())
                {
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
                _ => *best = Some(Best { loss, epoch, tables: tables.clone() }),
            }
            let kept = best.as_ref().map_or(epoch, |best| best.epoch);
            let over = epoch - kept >= phase.patience() || epoch + 1 == phase.epochs();
            if let Some(last) = last.take() {
                // Whoever wants to stop is heard at the next batch.
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

fn write_checkpoint(
    path: &Path,
    place: Place,
    key: &serde_json::Value,
    tables: &Tables,
    best: Option<&Best>,
    hybrid: Option<&Ranker>,
) -> Result<()> {
    let mut all = Vec::from(tensors(CURRENT, tables));
    all.extend(best.into_iter().flat_map(|best| tensors(BEST, &best.tables)));
    all.extend(hybrid.into_iter().flat_map(Ranker::tensors));
    let about = json!({
        "run": key,
        "phase": place.phase,
        "epoch": place.epoch,
        "batch": place.batch,
        "hybrid": hybrid.map(Ranker::about),
        // As bits: decimal digits might be read back as a neighbour.
        "best": best.map(|best| json!({"epoch": best.epoch, "loss": best.loss.to_bits()})),
    });
    write(path, CHECKPOINT, CHECKPOINT_VERSION, &all, about)
}

fn tensors<'a>(names: [&'static str; 4], tables: &'a Tables) -> [Tensor<'a>; 4] {
    let Tables { input, output } = tables;
    [
        Tensor::matrix(names[0], input.data(), input.stride()),
        Tensor::matrix(names[1], output.data(), output.stride()),
        Tensor::floats(names[2], input.squares()),
        Tensor::floats(names[3], output.squares()),
    ]
}

impl State {
    /// Before the first batch of the first phase.
    fn new(tables: Tables) -> State {
        State { place: Place::default(), tables, best: None, hybrid: None, saved: Instant::now() }
    }

    /// Writes a checkpoint.
    fn save(&self, path: &Path, key: &serde_json::Value) -> Result<()> {
        write_checkpoint(path, self.place, key, &self.tables, self.best.as_ref(), self.hybrid.as_ref())
    }

    /// Writes a checkpoint between phases, if it is time for one.
    fn save_if_due(&mut self, key: &serde_json::Value, checkpoints: Option<&Checkpoints>) -> Result<()> {
        if let Some(checkpoints) = checkpoints.filter(|checkpoints| self.saved.elapsed() >= checkpoints.every) {
            self.save(&checkpoints.path, key)?;
            self.saved = Instant::now();
        }
        Ok(())
    }

    fn read(&mut self, path: &Path, key: &serde_json::Value) -> Result<()> {
        let container = Container::open(path, CHECKPOINT, CHECKPOINT_VERSION)?;
        container.verify()?;
        let damaged = |what: &str| Error::Damaged { path: path.to_owned(), what: what.to_owned() };
        let about = container.about();
        if &about["run"] != key {
            return Err(damaged(
                "this checkpoint is of a run on another corpus or with other parameters; give the same ones, or remove it",
            ));
        }
        let number =
            |value: &serde_json::Value| value.as_u64().ok_or_else(|| damaged("it does not tell where the run was"));
        let fill = |names: [&str; 4], tables: &mut Tables| {
            let Tables { input, output } = tables;
            let [vectors_in, vectors_out, squares_in, squares_out] = names.map(|name| container.array::<f32>(name));
            for (from, into) in [(vectors_in?, input.data_mut()), (vectors_out?, output.data_mut())] {
                copy(from, into).ok_or_else(|| damaged("its tables have another size"))?;
            }
            for (from, into) in [(squares_in?, input.squares_mut()), (squares_out?, output.squares_mut())] {
                copy(from, into).ok_or_else(|| damaged("its tables have another size"))?;
            }
            Ok::<(), Error>(())
        };
        if !about["best"].is_null() {
            let mut tables = self.tables.clone();
            fill(BEST, &mut tables)?;
            let (epoch, loss) = (number(&about["best"]["epoch"])?, number(&about["best"]["loss"])?);
            self.best = Some(Best { epoch: epoch as usize, loss: f64::from_bits(loss), tables });
        }
        fill(CURRENT, &mut self.tables)?;
        self.hybrid = Ranker::read(&container);
        let [phase, epoch, batch] = ["phase", "epoch", "batch"].map(|name| number(&about[name]).map(|n| n as usize));
        self.place = Place { phase: phase?, epoch: epoch?, batch: batch? };
        Ok(())
    }
}

/// Fills `into`, if `from` is as long.
fn copy(from: &[f32], into: &mut [f32]) -> Option<()> {
    (from.len() == into.len()).then(|| into.copy_from_slice(from))
}
