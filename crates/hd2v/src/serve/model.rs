//! An open model with everything that answers from it.

use std::path::Path;
use std::sync::Arc;

use hyperdoc2vec::Inferrer;
use hyperdoc2vec::search::ApproximateIndex;
use hyperdoc2vec::{Error, Model, Recommender, Suggester};
use self_cell::self_cell;

use super::error::ApiError;
use super::json_body::JsonBody;
use super::map::LazyMap;
use super::workers::BatchQueue;
use crate::output::note_unsealed;
use crate::{vector_index, wire};

/// Everything that answers from one model.
pub struct Engine<'a> {
    /// Answers questions.
    pub recommender: Recommender<'a>,
    /// Embeds texts, or why this model cannot.
    pub inferrer: Result<Inferrer<'a>, Error>,
    /// Suggests links for drafts, or why this model cannot.
    pub suggester: Result<Suggester<'a>, Error>,
    /// The model's description.
    pub info: wire::Info,
    /// The map of all documents.
    pub map: LazyMap,
    /// Questions by embedding that wait to be answered together. Each model has its own queue, so that no answer comes
    /// from a model that took its place meanwhile.
    pub queue: Arc<BatchQueue<wire::QuestionJson, Result<JsonBody, ApiError>>>,
    /// Identifies the model: 16 hexadecimal digits.
    pub id: String,
}

impl<'a> Engine<'a> {
    fn new(model: &'a Model, index: Option<ApproximateIndex>) -> Engine<'a> {
        let recommender = Recommender::new(model);
        let recommender = match index {
            Some(index) => recommender.with_index(index),
            None => recommender,
        };
        let info = recommender.info().into();
        // Equal for all servers of one model.
        let id = model.digest();
        let (map, queue) = (LazyMap::default(), Arc::default());
        let (inferrer, suggester) = (Inferrer::new(model), Suggester::new(model));
        Engine { recommender, inferrer, suggester, info, map, queue, id }
    }
}

self_cell!(
    /// A model and the engine that borrows from it.
    pub struct LoadedModel {
        owner: Model,
        #[covariant]
        dependent: Engine,
    }
);

impl LoadedModel {
    /// Opens and checks a model file. One of up to `map_above` bytes is read into memory, where no change of the file
    /// reaches it; a larger one is mapped. Returns which it was: `true` for in memory. With `index`, documents are looked for
    /// through the index beside it, which is made for a large model.
    pub fn open(path: &Path, map_above: u64, index: bool) -> Result<(Arc<LoadedModel>, bool), Error> {
        let there = path.metadata().ok();
        // Opening a pipe would wait for whoever writes to it.
        if there.as_ref().is_some_and(|there| !there.is_file() && !there.is_dir()) {
            return Err(Error::Foreign {
                path: path.to_owned(),
                what: "expected a model, not a special file".to_owned(),
            });
        }
        let in_memory = there.is_some_and(|there| there.len() <= map_above);
        let model = if in_memory { Model::read(path) } else { Model::open(path) }?;
        note_unsealed(&model);
        let index = if index { vector_index::open_or_make_if_large(&model) } else { None };
        Ok((Arc::new(LoadedModel::new(model, |model| Engine::new(model, index))), in_memory))
    }

    /// The engine that answers from the model.
    pub fn engine(&self) -> &Engine<'_> {
        self.borrow_dependent()
    }
}
