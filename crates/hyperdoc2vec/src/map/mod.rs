//! All documents of a model on a plane, near ones near each other: made once, kept beside the model.
//!
//! Nearness is that of the IN vectors: what documents say.

mod axes;
mod layout;
mod near;
mod tree;

use std::path::{Path, PathBuf};

use serde_json::json;

pub use layout::{MapWatch, layout};

use crate::beside::{self, Kept};
use crate::container::{Container, Tensor, write};
use crate::error::{Error, Result};
use crate::model::{Model, Vectors};

/// The name of the format.
const FORMAT: &str = "hyperdoc2vec map";
/// Its version.
const VERSION: u32 = 1;
/// What it is made from.
const FROM: &[Vectors] = &[Vectors::DocIn];

/// A map, mapped.
#[derive(Debug)]
pub struct Map {
    container: Container,
}

/// Where the map of a model is kept: beside it, under its name with `.map` behind.
pub fn path(model: &Model) -> PathBuf {
    beside::path(model, "map")
}

impl Map {
    /// Opens the map of `model` at `path`, if it is there and is one. All of it is read and checked: it is small.
    pub fn open(model: &Model, path: &Path) -> Result<Kept<Map>> {
        let fits = |container: Container| {
            let fits = container.shape("places") == [model.documents(), 2]
                && container.array::<f32>("places")?.iter().all(|x| x.is_finite());
            Ok(fits.then_some(Map { container }))
        };
        beside::open(model, path, (FORMAT, VERSION), FROM, fits)
    }

    /// Makes the map of a model, writes it to `path`, and opens it. Any number of threads gives the same bytes.
    pub fn build(model: &Model, path: &Path, watch: MapWatch<'_>) -> Result<Map> {
        let places = layout(model.vectors(Vectors::DocIn)?, watch)?;
        let tensors = [Tensor::matrix("places", places.as_flattened(), 2)];
        write(path, FORMAT, VERSION, &tensors, json!({"model": beside::fingerprint(model, FROM)}))?;
        match Map::open(model, path)? {
            Kept::Whole(map) => Ok(map),
            _ => Err(Error::Damaged { path: path.to_owned(), what: "was altered while it was written".to_owned() }),
        }
    }

    /// The places of the documents, by their rows; from −1 to 1 on both axes.
    pub fn places(&self) -> &[[f32; 2]] {
        self.container.array::<f32>("places").unwrap_or_default().as_chunks().0
    }
}
