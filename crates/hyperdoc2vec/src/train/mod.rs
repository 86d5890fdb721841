//! Training: a run is a list of phases over two tables of vectors.
//!
//! Every model learns from examples of one form: some input rows, averaged, should predict one output row. A
//! [`Phase`] lists such examples, batch by batch, and takes steps on the tables. Words and documents share one row
//! space, words first ([`view::View`]).

pub mod batch;
mod batched;
mod budget;
pub mod citation;
pub mod dbow;
pub mod deepwalk;
pub mod direct;
pub mod example;
pub mod hybrid;
pub mod joint;
pub mod newcomers;
pub mod npm;
mod occurrences;
pub mod params;
pub mod reference;
pub mod run;
pub mod table;
pub mod text;
pub mod view;

use std::ops::ControlFlow;

pub use budget::within;
pub use params::{Method, TrainParams};
pub use run::{Checkpoints, TrainProgress, train, train_tables, train_tables_on, train_view};
use table::Table;
use view::View;

/// Vectors as a source (IN) and as a target (OUT), of words and documents.
#[derive(Debug, Clone)]
pub struct Tables {
    /// IN.
    pub input: Table,
    /// OUT.
    pub output: Table,
}

/// What random numbers of the first vectors are keyed with.
const FIRST_VECTORS: u64 = 0;

impl Tables {
    /// The tables of a new run: IN drawn evenly between ±0.5/dim, OUT all 0.
    ///
    /// Where PV-DM comes first, IN is twice as wide, as in gensim 4: of the link partners of eLife's documents 17.80 % in
    /// place of 17.51 are then among the 10 nearest (means of three seeds). The gensim of the paper's time had ±0.5/dim.
    pub fn first(view: &View<'_>, params: &TrainParams) -> Tables {
        let mut input = Table::new(view.rows(), params.dim);
        input.fill(0..view.rows(), params.dim, params.seed, FIRST_VECTORS);
        if matches!(params.method, Method::PvDm | Method::HyperDocPaper) {
            input.data_mut().iter_mut().for_each(|x| *x *= 2.0);
        }
        Tables { input, output: Table::new(view.rows(), params.dim) }
    }
}

/// What a batch did.
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

/// A part of a run: passes over the same examples. Which batch does what follows from the seed, the epoch and the
/// number of the batch alone, so that a run can go on from any of them, on any number of threads.
pub trait Phase: Sync {
    /// What it is called.
    fn name(&self) -> &'static str;
    /// What its examples are: `links` or `words`.
    fn unit(&self) -> &'static str;
    /// How many passes there are.
    fn epochs(&self) -> usize;
    /// How many batches a pass has.
    fn batches(&self) -> usize;
    /// What is to be done to the tables once, before the first epoch.
    fn prepare(&self, _tables: &mut Tables) {}
    /// Runs an epoch from batch `start`.
    fn epoch(&self, epoch: usize, start: usize, tables: &mut Tables, after: After<'_>) -> ControlFlow<()>;
    /// After how many epochs that do not lower [`Phase::held_out_loss`] to stop; 0 for never.
    fn patience(&self) -> usize {
        0
    }
    /// The mean loss of examples that were held out, if any were.
    fn held_out_loss(&self, _tables: &Tables) -> Option<f64> {
        None
    }
}
