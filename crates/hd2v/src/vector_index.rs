//! The approximate index of a model's vectors: opened where there is one, made where it pays.

use std::time::Instant;

use anyhow::Result;
use hyperdoc2vec::model::Sidecar;
use hyperdoc2vec::search::{ApproximateIndex, INDEX_DEPTHS, index_path};
use hyperdoc2vec::{Error, Model};

use crate::output::{status, thousands};

/// From so many documents on, an index is made without being asked for.
const LARGE: usize = 100_000;

/// The index beside a model, if there is a whole one of this model.
pub fn open(model: &Model) -> Result<Option<ApproximateIndex>> {
    Ok(match ApproximateIndex::open(model, &index_path(model))? {
        Sidecar::Whole(index) => Some(index),
        _ => None,
    })
}

/// The index beside a model; made if the model is so large that it pays. Where it cannot be made, that is said.
pub fn open_or_make_if_large(model: &Model) -> Option<ApproximateIndex> {
    let found = if model.documents() < LARGE { open(model) } else { open_or_make(model) };
    found.unwrap_or_else(|error| {
        status(format_args!("{error:#}; without an index, questions are answered more slowly"));
        None
    })
}

/// The index beside a model, made if there is none, or one of another model. `None` for a model that does not rank by
/// vectors.
pub fn open_or_make(model: &Model) -> Result<Option<ApproximateIndex>> {
    if !hyperdoc2vec::Recommender::new(model).rankings().contains(&hyperdoc2vec::search::Ranking::Embedding) {
        return Ok(None);
    }
    let path = index_path(model);
    let shown = path.display();
    let why = match ApproximateIndex::open(model, &path)? {
        Sidecar::Whole(index) => return Ok(Some(index)),
        Sidecar::Missing => String::new(),
        Sidecar::Stale => " again: it belongs to another model".to_owned(),
        Sidecar::Damaged(what) => format!(" again: it is damaged ({what})"),
        Sidecar::Foreign(what) => return Err(Error::Foreign { path, what }.into()),
    };
    status(format_args!("{shown}: building the index{why} …"));
    let started = Instant::now();
    let index = ApproximateIndex::build(model, &path)?;
    status(format_args!("{shown}: built in {:.1} s", started.elapsed().as_secs_f64()));
    Ok(Some(index))
}

/// The share of the exact hits that an index finds, as a sentence.
pub fn recall_text(index: &ApproximateIndex, wanted: usize) -> String {
    let (found, questions) = (100.0 * recall(index, wanted), thousands(index.about().questions as u64));
    format!("it finds {found:.1} % of the exact hits by embedding, measured on {questions} questions")
}

/// The share of the exact hits that an index finds.
pub fn recall(index: &ApproximateIndex, wanted: usize) -> f64 {
    index.about().recall[usize::from(wanted > INDEX_DEPTHS[0])]
}
