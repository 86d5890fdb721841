//! Training.

use std::path::PathBuf;
use std::time::Duration;

use hyperdoc2vec::model::{Method, TrainParams, VectorStorage};
use hyperdoc2vec::train::{TrainProgress, Training};
use pyo3::exceptions::{PyFileExistsError, PyValueError};
use pyo3::prelude::*;

use crate::convert::{date, named};
use crate::corpus::Corpus;
use crate::model::Model;
use crate::work::watched;

/// Time between checkpoints.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(600);

/// Parameters, as a dict; those of the library, for the corpus, where there is none.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Parameters {
    method: Option<String>,
    dim: Option<usize>,
    pub window: Option<usize>,
    epochs: Option<usize>,
    content_epochs: Option<usize>,
    seed: Option<u64>,
    min_count: Option<u64>,
    until: Option<String>,
    hybrid: Option<bool>,
    rate: Option<f32>,
    decay: Option<f32>,
}

/// How to run, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct RunOptions {
    threads: usize,
    seconds: Option<f64>,
    storage: String,
    resume: bool,
    replace: bool,
}

impl Parameters {
    /// In the order of the command line, as one parameter may follow from another.
    pub fn read(self, corpus: &hyperdoc2vec::Corpus) -> PyResult<TrainParams> {
        let mut params = TrainParams::for_corpus(corpus);
        params.set_method(match self.method {
            Some(name) => named::<Method>("a method", &name)?,
            None => params.method,
        });
        params.dim = self.dim.unwrap_or(params.dim);
        params.seed = self.seed.unwrap_or(params.seed);
        params.min_count = self.min_count.unwrap_or(params.min_count);
        params.until = self.until.as_deref().map(date).transpose()?;
        params.hybrid = self.hybrid.unwrap_or(params.hybrid);
        if let Some(epochs) = self.content_epochs {
            params.set_content_epochs(epochs);
        }
        if let Some(window) = self.window {
            params.set_window(window);
        }
        if let Some(epochs) = self.epochs {
            params.set_epochs(epochs);
        }
        params.citation.rate = self.rate.unwrap_or(params.citation.rate);
        params.citation.decay = self.decay.unwrap_or(params.citation.decay);
        Ok(params)
    }
}

/// Trains a model on a corpus.
#[pyfunction]
#[pyo3(signature = (corpus, path, asked, progress=None))]
pub fn train(
    py: Python<'_>,
    corpus: &Corpus,
    path: PathBuf,
    asked: (Parameters, RunOptions),
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let corpus = &corpus.corpus;
    let (parameters, RunOptions { threads, seconds, storage, resume, replace }) = asked;
    let params = parameters.read(corpus)?;
    let storage = named::<VectorStorage>("a storage", &storage)?;
    let budget = |seconds: f64| {
        let wrong = |_| PyValueError::new_err(format!("seconds is {seconds}, but must be a number above 0"));
        Duration::try_from_secs_f64(seconds).map_err(wrong)
    };
    let budget = seconds.map(budget).transpose()?;
    let mut checkpoint = path.clone().into_os_string();
    checkpoint.push(".checkpoint");
    let checkpoint = PathBuf::from(checkpoint);
    if checkpoint.exists() && !resume && !replace {
        return Err(PyFileExistsError::new_err(format!(
            "{}: the checkpoint of an interrupted run; go on with resume=True, or start again with replace=True",
            checkpoint.display()
        )));
    }
    let report = |seen: TrainProgress| match &progress {
        Some(progress) => {
            let done = (seen.phase, seen.epoch, seen.epochs, seen.batch, seen.batches, seen.loss, seen.done);
            progress.call1(done).map(drop)
        }
        None => Ok(()),
    };
    let model = watched(py, report, |watch| {
        let mut training = Training::new(corpus).params(params).threads(threads).storage(storage);
        if replace {
            training = training.replace();
        }
        if let Some(budget) = budget {
            training = training.fit_to(budget)?;
        }
        let training = training.checkpoint(checkpoint, CHECKPOINT_EVERY).resume(resume);
        training.watch(|progress| watch.see(progress.clone())).run(path)
    })?;
    Ok(Model::new(model))
}
