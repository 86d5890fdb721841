//! Phases that learn in batches: while one batch is learnt, the next is built.

use std::ops::ControlFlow;

use crate::corpus::view::View;
use crate::model::tables::Tables;
use crate::train::occurrences::Numbering;
use crate::train::{After, Done, Phase};

/// A phase whose batches can be built before those ahead of them are learnt.
pub(crate) trait Batched: Phase {
    /// The examples of a batch.
    type Batch: Default + Send;
    /// Memory of a step, kept from batch to batch.
    type Work: Default + Send;

    /// The documents and links it learns from.
    fn view(&self) -> &View<'_>;
    /// Builds a batch of an epoch; its examples follow from the two numbers alone.
    fn build(&self, epoch: usize, number: usize, batch: &mut Self::Batch, scratch: &mut Numbering);
    /// Learns a batch, with steps `fade` times as large as the first; returns how many examples it had and their loss.
    fn step(&self, batch: &mut Self::Batch, tables: &mut Tables, fade: f32, work: &mut Self::Work) -> (u64, f64);
}

/// Runs an epoch from batch `start`.
pub(crate) fn epoch<P: Batched>(
    phase: &P,
    epoch: usize,
    start: usize,
    tables: &mut Tables,
    after: After<'_>,
) -> ControlFlow<()> {
    let batches = phase.batches();
    let steps = (phase.epochs() * batches) as f32;
    let (mut current, mut next) = (P::Batch::default(), P::Batch::default());
    let mut scratch = Numbering::new(phase.view().table_rows());
    let mut work = P::Work::default();
    if start < batches {
        phase.build(epoch, start, &mut current, &mut scratch);
    }
    for number in start..batches {
        let fade = 1.0 - (epoch * batches + number) as f32 / steps;
        let ((units, loss), ()) = rayon::join(
            || phase.step(&mut current, tables, fade, &mut work),
            || {
                if number + 1 < batches {
                    phase.build(epoch, number + 1, &mut next, &mut scratch);
                }
            },
        );
        after(&Done { batches: number + 1, units, loss }, tables)?;
        std::mem::swap(&mut current, &mut next);
    }
    ControlFlow::Continue(())
}
