//! Embeddings for documents that link to each other.

pub mod document;
pub mod error;
pub mod import;
pub mod kernel;
pub mod losses;
pub mod rng;

pub use document::{Date, Document, Link};
pub use error::{Error, Result};
