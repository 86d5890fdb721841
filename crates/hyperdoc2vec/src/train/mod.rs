//! Training: a run is a list of phases over two tables of vectors.
//!
//! Every model learns from examples of one form: some input rows, averaged, should predict one output row. A
//! [`Phase`] lists such examples, batch by batch, and takes steps on the tables. Words and documents share one row
//! space, words first (`View`).

pub(crate) mod batch;
mod batched;
mod budget;
mod checkpoint;
pub(crate) mod citation;
pub(crate) mod content;
pub(crate) mod joint;
mod occurrences;
mod phases;
pub(crate) mod ranker;
mod ranks;
pub(crate) mod rivals;
pub(crate) mod run;
mod training;

use std::ops::ControlFlow;

#[cfg(test)]
pub(crate) use checkpoint::Checkpoints;
pub use ranker::is_for as learns_ranker;
pub(crate) use ranks::Team;
pub use ranks::{Parts, PartsMut, Ranks, gather_texts};
pub(crate) use run::{Run, train_tables_on};
pub use run::{TrainProgress, TrainWatch, train_tables};
pub use training::Training;

use crate::model::tables::Tables;

/// The outcome of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Done {
    /// Batches of this epoch that are done.
    pub batches: usize,
    /// Examples of this batch: links or words.
    pub units: u64,
    /// Their summed loss.
    pub loss: f64,
}

/// Sees each batch when it is done, and the tables as they are then; may stop the run.
pub type After<'a> = &'a mut dyn FnMut(&Done, &Tables) -> ControlFlow<()>;

/// A part of a run: passes over the same examples. The content of a batch follows from the seed, the epoch and the
/// number of the batch alone, so that a run can go on from any of them, on any number of threads.
pub trait Phase: Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// The unit its examples are counted in: `links` or `words`.
    fn unit(&self) -> &'static str;
    /// How many passes there are.
    fn epochs(&self) -> usize;
    /// How many batches a pass has.
    fn batches(&self) -> usize;
    /// Prepares the tables once, before the first epoch.
    fn prepare(&self, _tables: &mut Tables) {}
    /// Runs an epoch from batch `start`.
    fn epoch(&self, epoch: usize, start: usize, tables: &mut Tables, after: After<'_>) -> ControlFlow<()>;
    /// After how many epochs that do not lower [`Phase::held_out_loss`] to stop; 0 for never.
    fn patience(&self) -> usize {
        0
    }
    /// The mean loss of examples that were held out, if any were. No vector is changed.
    fn held_out_loss(&self, _tables: &mut Tables) -> Option<f64> {
        None
    }
}
