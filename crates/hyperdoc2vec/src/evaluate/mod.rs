//! How well vectors and rankings do: the experiments of the paper, on any corpus.
//!
//! [`metrics`] are pure functions with cases worked by hand, [`stats`] tells which differences mean anything,
//! [`trec`] writes what others can check, [`svm`] and [`folds`] classify.
//!
//! Links: [`methods`] names what can be compared, [`rankers`] ask one model, [`links`] trains and asks them all, [`report`]
//! makes figures of that. Vectors: [`classes`] of documents, [`intents`] of links, both by [`classify`];
//! [`criteria`] probes what methods heed; [`map`] draws.

pub mod classes;
pub mod classify;
pub mod criteria;
pub mod folds;
pub mod intents;
pub mod links;
pub mod map;
pub mod methods;
pub mod metrics;
pub mod rankers;
mod ranking_recall;
pub mod report;
pub mod stats;
pub mod svm;
pub mod trec;

pub use ranking_recall::{RankingRecall, ranking_recall};
