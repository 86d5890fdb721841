//! Embeddings for documents that link to each other.

pub mod add;
pub mod corpus;
pub mod document;
pub mod error;
pub mod evaluate;
pub mod export;
pub mod generate;
pub mod id;
pub mod import;
pub mod infer;
pub mod kernel;
pub mod map;
pub mod model;
pub mod recommend;
pub mod rng;
pub mod search;
pub mod storage;
#[cfg(test)]
mod tests;
mod threads;
pub mod train;

pub use corpus::Corpus;
pub use document::{Date, Document, Link};
pub use error::{Error, Result};
pub use id::{DocId, WordId};
pub use import::{Format, Import};
pub use model::Model;
pub use recommend::{Answer, Question, Recommender};
pub use train::Training;
