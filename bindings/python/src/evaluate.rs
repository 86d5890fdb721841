//! Evaluation on held-out links.

use std::sync::Mutex;

use hyperdoc2vec::corpus::{Split, View};
use hyperdoc2vec::evaluate::{
    EvaluationStep, Findings, HeldOutLinks, LinkEvaluation, LinkMethod, LinksParams, MethodPlaces, Profile,
    default_link_methods, methods_json, split_json,
};
use hyperdoc2vec::{Date, Error, Result};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::convert::{date, json as to_python};
use crate::corpus::Corpus;
use crate::train::Parameters;
use crate::work::watched;

/// The options of an evaluation, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Evaluated {
    methods: Option<Vec<String>>,
    until: Option<String>,
    holdout: f64,
    every: usize,
    anchors: bool,
    threads: usize,
}

/// Trains each method on a part of a corpus, and asks it for the links of the rest.
#[pyfunction]
#[pyo3(signature = (corpus, evaluated, parameters, progress=None))]
pub fn evaluate_links<'py>(
    py: Python<'py>,
    corpus: &Corpus,
    evaluated: Evaluated,
    parameters: Parameters,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let corpus = &corpus.corpus;
    let until = evaluated.until.as_deref().map(date).transpose()?;
    let mut params = LinksParams::default();
    params.window = parameters.window;
    params.train = parameters.read(corpus)?;
    (params.anchors, params.threads) = (vec![evaluated.anchors], evaluated.threads);
    let methods = match &evaluated.methods {
        Some(names) => names.iter().map(|name| name.parse().map_err(PyValueError::new_err)).collect::<PyResult<_>>()?,
        None => default_link_methods(),
    };
    let report = |(method, done): (String, f64)| match &progress {
        Some(progress) => progress.call1((method, done)).map(drop),
        None => Ok(()),
    };
    let found = watched(py, report, |watch| {
        let step = |step: &EvaluationStep<'_>| match step {
            EvaluationStep::Training(name, progress) => watch.see(((*name).to_owned(), progress.done)),
            EvaluationStep::Asking(name, done, all) => {
                watch.see((format!("{name}, questions"), *done as f64 / (*all).max(1) as f64))
            }
            EvaluationStep::Done(cell) => watch.see((cell.method.clone(), 1.0)),
            _ => std::ops::ControlFlow::Continue(()),
        };
        let task = Task { corpus, until, holdout: evaluated.holdout, every: evaluated.every, params: &params };
        task.run(&methods, &step)
    })?;
    to_python(py, &found)
}

/// An evaluation to be run.
struct Task<'a> {
    corpus: &'a hyperdoc2vec::Corpus,
    until: Option<Date>,
    holdout: f64,
    every: usize,
    params: &'a LinksParams,
}

impl Task<'_> {
    fn run(
        &self,
        methods: &[LinkMethod],
        watch: &(dyn Fn(&EvaluationStep<'_>) -> std::ops::ControlFlow<()> + Sync),
    ) -> Result<Value> {
        let &Task { corpus, until, holdout, every, params } = self;
        let seed = params.train.seed;
        let (split, mut about) = match until {
            Some(until) => (Split::by_date(corpus, until)?, json!({"until": until})),
            None => (Split::by_share(corpus, holdout, seed)?, json!({"holdout": holdout, "seed": seed})),
        };
        let view = View::new(corpus, &split, params.train.min_count)?;
        let asked = HeldOutLinks::new(&view, &split, every)?;
        let folder = tempfile::tempdir().map_err(Error::io("create", &std::env::temp_dir()))?;
        let cells = Mutex::new(Vec::<MethodPlaces>::new());
        let done = |cell: &MethodPlaces| {
            cells.lock().into_iter().for_each(|mut cells| cells.push(cell.clone()));
            Ok(())
        };
        LinkEvaluation::new(&view, &asked, params, folder.path()).done(&done).watch(watch).run(methods)?;
        let mut cells = cells.into_inner().unwrap_or_default();
        cells.sort_by_key(|cell| methods.iter().position(|method| method.name == cell.method));
        let findings = Findings::new(&view, &split, &asked, &cells, seed);
        if let (Some(about), Value::Object(figures)) = (about.as_object_mut(), split_json(&view, &split, &asked)) {
            about.extend(figures);
        }
        Ok(json!({"split": about, "methods": methods_json(&findings, Profile::default(), None)}))
    }
}
