//! How well vectors and rankings do: the experiments of the paper, on any corpus.
//!
//! [`metrics`] are pure functions with cases worked by hand, [`stats`] tells which differences mean anything,
//! [`trec`] writes what others can check, [`svm`] and [`folds`] classify.

pub mod folds;
pub mod metrics;
pub mod stats;
pub mod svm;
pub mod trec;
