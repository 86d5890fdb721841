//! Embeddings for documents that link to each other.

pub mod document;
pub mod error;
pub mod import;
pub mod losses;
pub mod markup;
pub mod rng;
pub mod strings;
pub mod tokenize;

pub use document::{Date, Document, Link};
pub use error::{Error, Result};
