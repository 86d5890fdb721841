//! Checkpoints: the state of a run in a file, from which it can go on; and tables spilled to a file for a while.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::model::tables::{Table, Tables};
use crate::search::ranker::{FeatureSet, Ranker};
use crate::storage::atomic::parent;
use crate::storage::container::{Container, Tensor, may_replace, write};
use crate::storage::spill::SpillFile;
use crate::train::ranks::Team;

const CHECKPOINT: &str = "hyperdoc2vec checkpoint";
const CHECKPOINT_VERSION: u32 = 3;
/// The arrays of a checkpoint: vectors and mean squares, in and out, as they are and as they were after the best pass.
const CURRENT: [&str; 4] = ["input", "output", "input_squares", "output_squares"];
const BEST: [&str; 4] = ["best_input", "best_output", "best_input_squares", "best_output_squares"];
/// Where and how often checkpoints are written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Checkpoints {
    /// The file.
    pub path: PathBuf,
    /// How much time lies between two of them.
    pub every: Duration,
    /// Whether to go on from the file if it is there.
    pub resume: bool,
}

impl Checkpoints {
    /// An error if something else than a checkpoint has their name: it would be lost.
    pub(crate) fn refuse_foreign(&self) -> Result<()> {
        if may_replace(&self.path, CHECKPOINT)? {
            return Ok(());
        }
        let what = format!("not a {CHECKPOINT}, but checkpoints of the run would have its name; rename it");
        Err(Error::Foreign { path: self.path.clone(), what })
    }
}

/// Where the checkpoints of a run go, if anywhere; who takes part in it.
#[derive(Clone, Copy)]
pub(crate) struct Saving<'a> {
    pub(crate) checkpoints: Option<&'a Checkpoints>,
    /// Tells the run from others.
    pub(crate) key: &'a Value,
    pub(crate) team: Team<'a>,
}

impl Saving<'_> {
    /// Whether the next checkpoint is due.
    pub(crate) fn is_due(&self, saved: Instant) -> bool {
        self.checkpoints.is_some_and(|checkpoints| saved.elapsed() >= checkpoints.every)
    }

    /// Writes a checkpoint, if they go anywhere.
    pub(crate) fn write(&self, snapshot: &Snapshot<'_>) -> Result<()> {
        let Some(checkpoints) = self.checkpoints else { return Ok(()) };
        let (team, folder) = (self.team, parent(&checkpoints.path));
        let whole = team.whole_tables(snapshot.tables, folder)?;
        let best = snapshot.best.map(|best| team.whole_tables(&best.tables, folder)).transpose()?.flatten();
        let best = best.zip(snapshot.best).map(|(tables, best)| BestPass { tables, ..*best });
        let snapshot = Snapshot {
            tables: whole.as_ref().unwrap_or(snapshot.tables),
            best: best.as_ref().or(snapshot.best),
            ..*snapshot
        };
        team.lead(|| snapshot.write(&checkpoints.path, self.key)).map(|_| ())
    }
}

/// Where a run is: before this batch of this epoch of this phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct RunPlace {
    pub(crate) phase: usize,
    pub(crate) epoch: usize,
    pub(crate) batch: usize,
}

impl RunPlace {
    /// Before the first batch of a phase.
    pub(crate) fn start_of(phase: usize) -> RunPlace {
        RunPlace { phase, ..RunPlace::default() }
    }
}

/// All that a run is at one moment, and a checkpoint holds.
pub(crate) struct State {
    pub(crate) place: RunPlace,
    pub(crate) tables: Tables,
    /// The best pass of this phase so far, if it holds out links.
    pub(crate) best: Option<BestPass>,
    /// The ranker, once it is learnt, before the last phase.
    pub(crate) ranker: Option<Ranker>,
    /// When the last checkpoint was written, or the run began.
    pub(crate) saved: Instant,
}

pub(crate) struct BestPass {
    pub(crate) loss: f64,
    pub(crate) epoch: usize,
    pub(crate) tables: Tables,
}

/// Tables spilled to a file, so that others have the memory meanwhile.
pub(crate) struct SpilledTables {
    arrays: SpillFile,
    words: usize,
    documents: usize,
    dim: usize,
    folder: Option<PathBuf>,
}

impl SpilledTables {
    /// Copies `tables`, whose vectors have `dim` numbers, to a file in `folder`.
    pub(crate) fn new(tables: &Tables, dim: usize, folder: &Path) -> Result<SpilledTables> {
        let mut arrays = SpillFile::new(folder)?;
        tensors(CURRENT, tables).iter().try_for_each(|tensor| arrays.put(tensor))?;
        let (words, documents) = (tables.input.words().rows(), tables.input.documents().rows());
        let folder = tables.input.folder().map(Path::to_owned);
        Ok(SpilledTables { arrays, words, documents, dim, folder })
    }

    /// The tables as they were. What `tables` holds is gone before memory is taken for them.
    pub(crate) fn restore(&self, tables: &mut Tables) -> Result<()> {
        *tables = none();
        let [input, output] = [(CURRENT[0], CURRENT[2]), (CURRENT[1], CURRENT[3])].map(|(vectors, squares)| {
            let mut table = Table::like(self.words, self.documents, self.dim, self.folder.as_deref())?;
            self.arrays.get(vectors, table.data_mut())?;
            self.arrays.get(squares, table.squares_mut())?;
            Ok::<Table, Error>(table)
        });
        *tables = Tables { input: input?, output: output? };
        Ok(())
    }
}

/// No rows.
pub(crate) fn none() -> Tables {
    Tables { input: Table::new(0, 0, 1), output: Table::new(0, 0, 1) }
}

/// The parts of a [`State`] that a checkpoint holds, borrowed.
pub(crate) struct Snapshot<'a> {
    pub(crate) place: RunPlace,
    pub(crate) tables: &'a Tables,
    pub(crate) best: Option<&'a BestPass>,
    pub(crate) ranker: Option<&'a Ranker>,
}

impl Snapshot<'_> {
    /// Writes a checkpoint of the run that `key` identifies.
    fn write(&self, path: &Path, key: &Value) -> Result<()> {
        let &Snapshot { place, tables, best, ranker } = self;
        let mut all = Vec::from(tensors(CURRENT, tables));
        all.extend(best.into_iter().flat_map(|best| tensors(BEST, &best.tables)));
        all.extend(ranker.into_iter().flat_map(Ranker::tensors));
        let about = json!({
            "run": key,
            "phase": place.phase,
            "epoch": place.epoch,
            "batch": place.batch,
            "hybrid": ranker.map(Ranker::about),
            // As bits: decimal digits might be read back as a neighbour.
            "best": best.map(|best| json!({"epoch": best.epoch, "loss": best.loss.to_bits()})),
        });
        write(path, CHECKPOINT, CHECKPOINT_VERSION, &all, about)
    }
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
    pub(crate) fn new(tables: Tables) -> State {
        State { place: RunPlace::default(), tables, best: None, ranker: None, saved: Instant::now() }
    }

    /// Writes a checkpoint.
    pub(crate) fn save(&self, saving: Saving<'_>) -> Result<()> {
        let State { place, tables, best, ranker, .. } = self;
        saving.write(&Snapshot { place: *place, tables, best: best.as_ref(), ranker: ranker.as_ref() })
    }

    /// Writes a checkpoint between phases, if it is time for one.
    pub(crate) fn save_if_due(&mut self, saving: Saving<'_>) -> Result<()> {
        let [due] = saving.team.any([saving.is_due(self.saved)]);
        if due {
            self.save(saving)?;
            self.saved = Instant::now();
        }
        Ok(())
    }

    /// Goes on from the checkpoint, where that is wanted and there is one. The rank that leads reads it and gives it to all.
    pub(crate) fn resume(&mut self, saving: Saving<'_>) -> Result<()> {
        let Saving { checkpoints, key, team } = saving;
        let Some(checkpoints) = checkpoints.filter(|checkpoints| checkpoints.resume) else { return Ok(()) };
        let mut whole = team.room_for_whole(self.tables.input.stride(), parent(&checkpoints.path))?.map(State::new);
        let into = whole.as_mut().unwrap_or(&mut *self);
        let read = team.lead(|| match checkpoints.path.exists() {
            true => into.read(&checkpoints.path, key).map(|()| true),
            false => Ok(false),
        })?;
        let [found] = team.agree([u64::from(read == Some(true))]);
        if found == 0 {
            return Ok(());
        }
        let RunPlace { phase, epoch, batch } = into.place;
        let best = into.best.as_ref().map_or([0; 3], |best| [1, best.epoch as u64, best.loss.to_bits()]);
        let [phase, epoch, batch] = team.agree([phase, epoch, batch].map(|number| number as u64));
        self.place = RunPlace { phase: phase as usize, epoch: epoch as usize, batch: batch as usize };
        if let Some(whole) = &mut whole {
            self.ranker = whole.ranker.take();
        }
        team.share_tables(&mut self.tables, whole.as_ref().map(|whole| &whole.tables));
        if let [1, epoch, loss] = team.agree(best) {
            let (epoch, loss) = (epoch as usize, f64::from_bits(loss));
            let best = match self.best.take() {
                Some(best) => best,
                None => BestPass { loss, epoch, tables: team.together(self.tables.copy())? },
            };
            let best = self.best.insert(best);
            let whole = whole.as_ref().and_then(|whole| whole.best.as_ref());
            team.share_tables(&mut best.tables, whole.map(|best| &best.tables));
        }
        Ok(())
    }

    fn read(&mut self, path: &Path, key: &Value) -> Result<()> {
        let container = Container::open(path, CHECKPOINT, CHECKPOINT_VERSION)?;
        container.verify()?;
        let damaged = |what: &str| Error::Damaged { path: path.to_owned(), what: what.to_owned() };
        let about = container.about();
        if &about["run"] != key {
            let what =
                "this checkpoint is of a run on another corpus or with other parameters; give the same ones, or \
                        remove it"
                    .to_owned();
            return Err(Error::Foreign { path: path.to_owned(), what });
        }
        let number = |value: &Value| value.as_u64().ok_or_else(|| damaged("it does not hold the place of the run"));
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
            let mut tables = self.tables.copy()?;
            fill(BEST, &mut tables)?;
            let (epoch, loss) = (number(&about["best"]["epoch"])?, number(&about["best"]["loss"])?);
            self.best = Some(BestPass { epoch: epoch as usize, loss: f64::from_bits(loss), tables });
        }
        fill(CURRENT, &mut self.tables)?;
        self.ranker = Ranker::read(&container);
        if self.ranker.as_ref().is_some_and(|ranker| ranker.features != FeatureSet::default()) {
            let what = "an earlier version of this program learnt its hybrid ranking, and this one cannot go on from \
                        there; go on with that version, or remove the checkpoint"
                .to_owned();
            return Err(Error::Unsupported { path: path.to_owned(), what });
        }
        let [phase, epoch, batch] = ["phase", "epoch", "batch"].map(|name| number(&about[name]).map(|n| n as usize));
        self.place = RunPlace { phase: phase?, epoch: epoch?, batch: batch? };
        Ok(())
    }
}

/// Fills `into`, if `from` is as long.
fn copy(from: &[f32], into: &mut [f32]) -> Option<()> {
    (from.len() == into.len()).then(|| into.copy_from_slice(from))
}
