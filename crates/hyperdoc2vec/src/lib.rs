//! Recommends links and embeds documents, for documents that link to each other: papers that cite papers, wiki pages,
//! manuals, notes.
//!
//! Documents become a [`Corpus`], a corpus trains a [`Model`], a model answers a [`Question`]:
//!
//! ```
//! use hyperdoc2vec::{Document, Import, Question, Recommender, Training};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! let mut documents = vec![
//!     Document::new("bleu", "a metric that compares a translation with references"),
//!     Document::new("moses", "a toolkit for statistical machine translation"),
//! ];
//! documents.extend((0..60).map(|n| match n % 2 {
//!     0 => Document::new(format!("eval-{n}"), "we score the output by the metric [[bleu]] on held-out sentences"),
//!     _ => Document::new(format!("system-{n}"), "we build our decoder with the toolkit [[moses]] and tune it"),
//! }));
//! let corpus = Import::documents(documents).build(folder.path().join("papers.corpus"))?;
//! let model = Training::new(&corpus).dim(16).run(folder.path().join("papers.model"))?;
//! let answer = Recommender::new(&model).ask(&Question::new("score the output by [[?]] on a test set").top(3))?;
//! assert_eq!(answer.hits[0].id, "bleu");
//! # Ok::<(), hyperdoc2vec::Error>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | read files of a [`Format`], or documents from memory | [`Import`] |
//! | look at what was read | [`Corpus`] |
//! | train, with progress, checkpoints and a time limit | [`Training`], [`TrainParams`] |
//! | open a trained model and its vectors | [`Model`], [`Vectors`](model::Vectors) |
//! | ask what a text should link to, with filters, a source, explanations | [`Recommender`], [`Question`], [`Answer`] |
//! | find similar documents and words | [`Recommender::similar`], [`Recommender::similar_words`] |
//! | embed new texts | [`Inferrer`] |
//! | add documents to a model without training again | [`Addition`] |
//! | write vectors for other programs | [`export`] |
//! | measure how good it is | [`evaluate`] |
//!
//! Everything is deterministic: the same input, parameters and seed give the same bytes, for any number of threads.
//! Files are written atomically and opened by memory map. The library never prints; progress goes to closures, which may
//! stop the work. `hd2v`, the program, is built on this crate.

mod add;
pub mod corpus;
pub mod document;
mod error;
pub mod evaluate;
pub mod export;
pub mod generate;
mod id;
pub mod import;
mod infer;
#[doc(hidden)]
pub mod internals;
mod kernel;
pub mod map;
pub mod model;
pub mod recommend;
mod rng;
pub mod search;
pub mod storage;
#[cfg(test)]
mod tests;
mod threads;
pub mod train;

pub use add::{Added, Addition};
pub use corpus::{Corpus, Split};
pub use document::{Date, Document, Link, Losses};
pub use error::{Error, NotFound, Result};
pub use id::{DocId, WordId};
pub use import::{Format, Import, ImportOptions};
pub use infer::{InferParams, Inferred, Inferrer};
pub use model::{Method, Model, TrainParams};
pub use recommend::{Answer, DocumentHit, Question, Recommender, Side};
pub use search::Ranking;
pub use train::{TrainProgress, Training};

/// The blocks of the guide, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/library.md")]
struct LibraryGuide;
