//! How well vectors and rankings do: the experiments of the paper, on any corpus.
//!
//! [`metrics`] are pure functions with cases worked by hand, [`stats`] tells which differences mean anything,
//! [`trec`] writes what others can check, [`svm`] and [`folds`] classify.
//!
//! Links: [`methods`] names what can be compared, [`ask`] asks one model, [`links`] trains and asks them all, [`report`]
//! makes figures of what came of it.

pub mod ask;
pub mod folds;
pub mod links;
pub mod methods;
pub mod metrics;
pub mod report;
pub mod stats;
pub mod svm;
pub mod trec;
