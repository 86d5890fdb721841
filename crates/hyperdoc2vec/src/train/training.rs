//! The front door of training: a corpus in, a model out.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::corpus::Corpus;
use crate::corpus::split::Split;
use crate::corpus::view::View;
use crate::document::Date;
use crate::error::{Error, Result};
use crate::model::params::{LossFunction, Method, TrainParams};
use crate::model::{Model, VectorStorage, refuse_existing};
use crate::train::budget::fit_passes_to;
use crate::train::checkpoint::Checkpoints;
use crate::train::ranks::{Ranks, Team};
use crate::train::run::{Run, TrainProgress};

/// Trains a model on a corpus.
///
/// ```
/// # use hyperdoc2vec::{Document, Import, Training};
/// # let folder = tempfile::tempdir().unwrap();
/// # let documents = (0..40).map(|n| Document::new(format!("d{n}"), format!("some words [[d{}]] of text", (n + 1) % 40)));
/// # let corpus = Import::documents(documents).min_count(1).build(folder.path().join("c"))?;
/// let model = Training::new(&corpus).dim(16).epochs(2).run(folder.path().join("notes.model"))?;
/// assert_eq!(model.documents(), 40);
/// # Ok::<(), hyperdoc2vec::Error>(())
/// ```
pub struct Training<'a> {
    corpus: &'a Corpus,
    params: TrainParams,
    threads: usize,
    checkpoint: Option<(PathBuf, Duration)>,
    resume: bool,
    split: Option<&'a Split>,
    watch: Option<Box<RunWatch<'a>>>,
    replace: bool,
    ranks: Option<&'a dyn Ranks>,
    shard_tables: bool,
    storage: VectorStorage,
    out_of_core: bool,
}

/// Watches a run and may stop it.
type RunWatch<'a> = dyn FnMut(&TrainProgress) -> ControlFlow<()> + Send + 'a;

impl<'a> Training<'a> {
    /// With the parameters that suit `corpus`: see [`TrainParams::for_corpus`].
    pub fn new(corpus: &'a Corpus) -> Training<'a> {
        let params = TrainParams::for_corpus(corpus);
        Training {
            corpus,
            params,
            threads: 0,
            checkpoint: None,
            resume: false,
            split: None,
            watch: None,
            replace: false,
            ranks: None,
            shard_tables: false,
            storage: VectorStorage::default(),
            out_of_core: false,
        }
    }

    /// All parameters at once.
    pub fn params(self, params: TrainParams) -> Training<'a> {
        Training { params, ..self }
    }

    /// The method; hyperdoc2vec by default.
    pub fn method(mut self, method: Method) -> Training<'a> {
        self.params.set_method(method);
        self
    }

    /// The number of dimensions of a vector; 100 by default.
    pub fn dim(mut self, dim: usize) -> Training<'a> {
        self.params.dim = dim;
        self
    }

    /// The passes over the links (over the words, for a method that learns from words alone). The default is that of
    /// the method; passes over content are set in [`TrainParams`].
    pub fn epochs(mut self, epochs: usize) -> Training<'a> {
        self.params.set_epochs(epochs);
        self
    }

    /// The seed that everything random follows from.
    pub fn seed(mut self, seed: u64) -> Training<'a> {
        self.params.seed = seed;
        self
    }

    /// Only documents dated up to this are trained on.
    pub fn until(mut self, date: Date) -> Training<'a> {
        self.params.until = Some(date);
        self
    }

    /// Only the training documents of a split are trained on; [`Training::until`] is not looked at.
    pub fn split(self, split: &'a Split) -> Training<'a> {
        Training { split: Some(split), ..self }
    }

    /// The number of threads; 0, the default, for one a core. Any number gives the same bytes.
    pub fn threads(self, threads: usize) -> Training<'a> {
        Training { threads, ..self }
    }

    /// Writes a checkpoint to `path` each time `every` has gone by, and when the run is stopped.
    pub fn checkpoint(self, path: impl Into<PathBuf>, every: Duration) -> Training<'a> {
        Training { checkpoint: Some((path.into(), every)), ..self }
    }

    /// Goes on from the checkpoint, if it is there.
    pub fn resume(self, resume: bool) -> Training<'a> {
        Training { resume, ..self }
    }

    /// Lets the model replace a file that is there.
    pub fn replace(self) -> Training<'a> {
        Training { replace: true, ..self }
    }

    /// Shares the training with other processes, which all call [`Training::write`] with the same corpus and parameters.
    /// Any number gives the same bytes as one process. Methods that learn example by example cannot be shared
    /// ([`Method::is_serial`]).
    pub fn ranks(self, ranks: &'a dyn Ranks) -> Training<'a> {
        Training { ranks: Some(ranks), ..self }
    }

    /// Shares out the vectors of documents among the ranks, so that each keeps an equal share of them. They travel for every
    /// batch. By default each rank keeps all.
    pub fn shard_tables(self, shard_tables: bool) -> Training<'a> {
        Training { shard_tables, ..self }
    }

    /// How the model file holds the vectors; in single precision by default. Training itself, and checkpoints, are not
    /// touched by it.
    pub fn storage(self, storage: VectorStorage) -> Training<'a> {
        Training { storage, ..self }
    }

    /// Keeps the vectors that are learnt, and their Adagrad state, in files without names beside the model, not in memory:
    /// they may be larger than it. The model has the same bytes. Linux only.
    pub fn out_of_core(self, out_of_core: bool) -> Training<'a> {
        Training { out_of_core, ..self }
    }

    /// Shows each batch to `watch`, which may stop the run.
    pub fn watch(self, watch: impl FnMut(&TrainProgress) -> ControlFlow<()> + Send + 'a) -> Training<'a> {
        Training { watch: Some(Box::new(watch)), ..self }
    }

    /// Lowers the passes to as many as fit into `budget` on this machine; at least one of the last phase is left.
    /// Phases keep their proportion. Training with the passes found gives the same bytes on any machine.
    ///
    /// # Errors
    /// [`Error::Usage`] after [`Training::out_of_core`]: batches are tried with tables in memory.
    pub fn fit_to(mut self, budget: Duration) -> Result<Training<'a>> {
        if self.out_of_core {
            let what = "passes that fit into a time are found with tables in memory; out of core, give the passes";
            return Err(Error::Usage(what.to_owned()));
        }
        self.params.validate()?;
        let view = view(self.corpus, self.split, &self.params)?;
        self.params = fit_passes_to(&view, &self.params, self.threads, budget)?;
        Ok(self)
    }

    /// The parameters as they are now.
    pub fn current_params(&self) -> &TrainParams {
        &self.params
    }

    /// Trains, writes the model to `path` and opens it.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is a file and [`Training::replace`] was not called, [`Error::Foreign`] if something else
    /// than a model or a checkpoint is in their places, [`Error::Busy`] if another run writes there, [`Error::Usage`] for parameters that make no sense, [`Error::Input`] for a corpus without what the
    /// method learns from, [`Error::Diverged`] if the learning rate is too large.
    ///
    /// When the watching closure stops the run, the error is [`Error::Stopped`] if there is a checkpoint to resume from,
    /// and [`Error::Interrupted`] otherwise.
    ///
    /// With [`Training::ranks`], which wants [`Training::write`], rank 0 writes the model and the checkpoints; a wish of
    /// any rank to stop is heeded. All return at the same place: [`Error::Ranks`] if they do not fit together,
    /// [`Error::OtherRank`] if another one failed.
    pub fn run(self, path: impl AsRef<Path>) -> Result<Model> {
        self.write(&path)?;
        Model::open(path)
    }

    /// Trains and writes the model to `path`, as [`Training::run`] does, without opening it: of several ranks, others than
    /// the one that writes it may not see it yet.
    pub fn write(self, path: impl AsRef<Path>) -> Result<()> {
        let Training {
            corpus,
            params,
            threads,
            checkpoint,
            resume,
            split,
            watch,
            replace,
            ranks,
            shard_tables,
            storage,
            out_of_core,
        } = self;
        if out_of_core && !cfg!(target_os = "linux") {
            return Err(Error::Usage("tables can be kept out of memory on Linux only".to_owned()));
        }
        let team = Team::new(ranks);
        team.lead(|| refuse_existing(path.as_ref(), replace))?;
        let checkpoints = checkpoint.map(|(path, every)| Checkpoints { path, every, resume });
        team.lead(|| checkpoints.as_ref().map_or(Ok(()), Checkpoints::refuse_foreign))?;
        team.together(params.validate())?;
        if ranks.is_some() {
            team.together(can_be_shared(&params, shard_tables))?;
        }
        let view = team.together(view(corpus, split, &params))?;
        let team = if shard_tables { team.sharding(&view, &params) } else { team };
        let checkpoints = checkpoints.as_ref();
        let run =
            Run { view: &view, params: &params, threads, checkpoints, team, for_people: true, storage, out_of_core };
        let mut watch = watch.unwrap_or_else(|| Box::new(|_| ControlFlow::Continue(())));
        run.write(path.as_ref(), &mut *watch)
    }
}

/// Refuses what several ranks cannot do together.
fn can_be_shared(params: &TrainParams, shard_tables: bool) -> Result<()> {
    if params.method.is_serial() {
        return Err(Error::Usage(format!(
            "{} learns example by example and runs on one machine; those that ranks can share are h-d2v, joint and pv-dbow",
            params.method
        )));
    }
    if shard_tables && params.citation.loss == LossFunction::FullSoftmax {
        let what = "the softmax over all documents needs all their vectors for every batch, so they cannot be sharded";
        return Err(Error::Usage(what.to_owned()));
    }
    Ok(())
}

/// The part of a corpus that `params` train on.
fn view<'a>(corpus: &'a Corpus, split: Option<&Split>, params: &TrainParams) -> Result<View<'a>> {
    let view = match (split, params.until) {
        (Some(split), _) => View::new(corpus, split, params.min_count)?,
        (None, Some(until)) => View::new(corpus, &Split::by_date(corpus, until)?, params.min_count)?,
        (None, None) => View::new(corpus, &Split::none(corpus), params.min_count)?,
    };
    if params.needs_links() && view.links.is_empty() {
        return Err(Error::input(
            corpus.path().display().to_string(),
            format!(
                "{} learns from links, and there is none between the documents to train on; train pv-dbow, \
                 or look at what the import lost",
                params.method
            ),
        ));
    }
    Ok(view)
}
