//! All documents of a model on a plane, near ones near each other: made once, kept beside the model.
//!
//! Nearness is that of the IN vectors, the content of documents. The t-SNE is ours, because any number of threads must give
//! the same bits.

mod affinities;
mod axes;
mod layout;
mod tree;

use std::path::{Path, PathBuf};

use serde_json::json;

pub use layout::{MapWatch, layout};

use crate::error::Result;
use crate::model::sidecar::{self, Sidecar};
use crate::model::{Model, Vectors};
use crate::storage::container::{Container, Tensor};

/// The name of the format.
const FORMAT: &str = "hyperdoc2vec map";
/// Its version.
const VERSION: u32 = 2;
/// The vectors that it is made from.
const FROM: &[Vectors] = &[Vectors::DocIn];

/// Where each document stands.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DocumentMap {
    places: Vec<[f32; 2]>,
}

/// Where the map of a model is kept: beside it, under its name with `.map` behind.
pub fn path(model: &Model) -> PathBuf {
    sidecar::path(model, "map")
}

impl DocumentMap {
    /// Reads the map of `model` at `path`, if it is there and is one.
    pub fn open(model: &Model, path: &Path) -> Result<Sidecar<DocumentMap>> {
        let fits = |container: Container| {
            let numbers = container.array::<f32>("places")?;
            let fits = container.shape("places") == [model.documents(), 2] && numbers.iter().all(|x| x.is_finite());
            Ok(fits.then(|| DocumentMap { places: numbers.as_chunks().0.to_vec() }))
        };
        sidecar::open(model, path, (FORMAT, VERSION), FROM, fits)
    }

    /// Makes the map of a model. Any number of threads gives the same bits.
    pub fn make(model: &Model, watch: MapWatch<'_>) -> Result<DocumentMap> {
        Ok(DocumentMap { places: layout(model.learnt_vectors(Vectors::DocIn)?, watch)? })
    }

    /// Keeps the map of `model`, which it was made of, at `path`; replaces nothing but a map.
    pub fn write(&self, model: &Model, path: &Path) -> Result<()> {
        let tensors = [Tensor::matrix("places", self.places.as_flattened(), 2)];
        sidecar::write(path, (FORMAT, VERSION), &tensors, json!({"model": sidecar::fingerprint(model, FROM)}))
    }

    /// The places of the documents, by their rows; from −1 to 1 on both axes.
    pub fn places(&self) -> &[[f32; 2]] {
        &self.places
    }
}
