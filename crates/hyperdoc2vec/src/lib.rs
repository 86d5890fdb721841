//! Recommends links and embeds documents, for documents that link to each other: papers that cite papers, wiki pages,
//! manuals, notes.
//!
//! Documents become a [`Corpus`], a corpus trains a [`Model`], a model answers a [`Question`]:
//!
//! ```
//! use hyperdoc2vec::{Document, Import, Question, Recommender, Training};
//!
//! let mut documents = vec![
//!     Document::new("bleu", "a metric to compare a translation with references"),
//!     Document::new("moses", "a toolkit for statistical machine translation"),
//! ];
//! documents.extend((0..60).map(|n| {
//!     let text = match n % 2 {
//!         0 => "we score the output by the metric [[bleu]] on new sentences",
//!         _ => "we build our decoder with the toolkit [[moses]] and tune it",
//!     };
//!     Document::new(format!("paper-{n}"), text)
//! }));
//! let folder = std::env::temp_dir();
//! let corpus = Import::documents(documents).replace().build(folder.join("papers.corpus"))?;
//! let model = Training::new(&corpus).dim(16).replace().run(folder.join("papers.model"))?;
//! let question = Question::new("score the output by [[?]] on a test set").top(3);
//! let answer = Recommender::new(&model).ask(&question)?;
//! assert_eq!(answer.hits[0].id, "bleu");
//! # Ok::<(), hyperdoc2vec::Error>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | read files of a [`Format`], or documents from memory | [`Import`] |
//! | look at what was read | [`Corpus`] |
//! | train, with progress, checkpoints and a time limit | [`Training`], [`TrainParams`] |
//! | open a trained model and its vectors | [`Model`], [`Vectors`] |
//! | ask what a text should link to, with filters, a source, explanations | [`Recommender`], [`Question`], [`Answer`] |
//! | suggest links for a draft: where, and to what | [`Suggester`], [`SuggestOptions`] |
//! | find similar documents and words | [`Recommender::similar`], [`Recommender::similar_words`] |
//! | embed new texts | [`Inferrer`] |
//! | add documents to a model without training again | [`Addition`] |
//! | write vectors for other programs | [`export`] |
//! | measure how good it is | [`evaluate`] |
//!
//! Everything is deterministic: the same input, parameters and seed give the same bytes, for any number of threads.
//! Files are written atomically and opened by memory map. The library never prints; progress goes to closures, which may
//! stop the work. Errors are one type, [`Error`], with a variant for each case that a program may want to handle. `hd2v`,
//! the program, is built on this crate; its documentation has a guide to the library, too.
//!
//! The loops are slow without optimisation: a debug build of a program that depends on this crate wants
//! `[profile.dev.package.hyperdoc2vec] opt-level = 3` in its `Cargo.toml`.

#![warn(unnameable_types)]

mod add;
pub mod corpus;
pub mod document;
mod draft;
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
mod places;
pub mod recommend;
mod rng;
pub mod search;
pub mod storage;
#[cfg(test)]
mod tests;
mod threads;
pub mod train;

#[doc(inline)]
pub use add::{Added, Addition};
#[doc(inline)]
pub use corpus::{Corpus, Split};
#[doc(inline)]
pub use document::{Date, Document, Link, Losses};
#[doc(inline)]
pub use error::{Error, NotFound, Result};
#[doc(inline)]
pub use id::{DocId, DocRow, WordId};
#[doc(inline)]
pub use import::{Format, Import, ImportOptions};
#[doc(inline)]
pub use infer::{EmbeddedCounts, EmbeddedParts, Embedding, InferParams, Inferred, Inferrer};
#[doc(inline)]
pub use model::{Method, Model, TrainParams, Vectors};
#[doc(inline)]
pub use recommend::{
    Answer, DocumentHit, DraftFormat, Question, Recommender, Side, SuggestOptions, Suggester, Suggestion, Suggestions,
};
#[doc(inline)]
pub use search::Ranking;
#[doc(inline)]
pub use storage::Shard;
#[doc(inline)]
pub use train::{TrainProgress, Training};

/// The blocks of the guide, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/library.md")]
struct LibraryGuide;
