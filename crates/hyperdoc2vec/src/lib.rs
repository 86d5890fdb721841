//! Embeddings for documents that link to each other.

pub mod add;
pub mod aside;
pub mod beside;
pub mod container;
pub mod corpus;
pub mod document;
pub mod error;
pub mod evaluate;
pub mod export;
pub mod generate;
mod huge;
pub mod id;
pub mod import;
pub mod infer;
pub mod kernel;
pub mod losses;
pub mod map;
pub mod markup;
pub mod model;
pub mod rng;
pub mod search;
pub mod split;
pub mod strings;
pub mod tokenize;
pub mod train;

pub use corpus::Corpus;
pub use document::{Date, Document, Link};
pub use error::{Error, Result};
pub use id::{DocId, WordId};
pub use model::Model;
