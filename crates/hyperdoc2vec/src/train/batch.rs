//! The fast step: a batch of examples whose columns (targets and noise) are shared, so that scores and both
//! gradients are matrix products.
//!
//! ```text
//! x_b = Σ_i w_bi · input[r_bi]                        rows of X          (gather)
//! S   = X·Nᵀ                                          N = output[columns]
//! G   = ∂loss/∂S                                      see [`LossFunction`]
//! dX  = G·N        dN = Gᵀ·X
//! output[column] −= step(dN)      input[r] −= step(Σ_b w_b · dX_b)      one step a row, gradients summed first
//! ```
//! Threads own rows: of X, S and dX by example, of dN by column, of the tables by row; and ranks do, but for the tables
//! (see [`crate::train::ranks`]). Every sum runs in the order of the batch, so the number of either does not change a bit.

use rayon::prelude::*;

use crate::id::TableRow;
use crate::kernel::{
    Matrix, MatrixMut, Panels, Start, gather_sum, log_sigmoid, multiply, noise_loss, pack, pack_transposed, prefetch,
    softmax,
};
use crate::model::params::LossFunction;
use crate::model::tables::Table;
use crate::model::tables::Tables;
use crate::train::occurrences::{Numbering, Occurrences};
use crate::train::ranks::{MatrixRows, Room, Staged, Team};

/// Examples that a thread takes at a time: two tiles of the products.
pub(crate) const EXAMPLES_A_TASK: usize = 24;

/// Rows of the next example that the memory is asked for while one is summed; the sum itself asks for the others.
const ROWS_AHEAD: usize = 8;

/// Examples: input rows with weights, and one target row each.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    ends: Vec<usize>,
    /// Input rows and their weights; the first `used` of them count, the rest are left from an earlier batch.
    rows: Vec<u32>,
    weights: Vec<f32>,
    used: usize,
    targets: Vec<u32>,
    /// Rows of the output table that take part: targets and noise, each once, rising.
    columns: Vec<u32>,
    /// The logarithm of each column's chance to be there, subtracted from its scores.
    corrections: Vec<f32>,
    /// How often each column was drawn as noise, times [`Batch::noise_weight`].
    noise: Vec<f32>,
    /// The weight of a noise document in negative sampling.
    pub noise_weight: f32,
    /// The column of each example's target.
    target_columns: Vec<u32>,
    inputs: Occurrences,
}

impl Batch {
    /// Empties the batch, keeping its memory.
    pub(crate) fn clear(&mut self) {
        self.ends.clear();
        self.used = 0;
        self.targets.clear();
    }

    /// Number of examples.
    pub(crate) fn len(&self) -> usize {
        self.targets.len()
    }

    /// Adds an input row of the example that [`Batch::finish_example`] ends.
    pub(crate) fn input(&mut self, row: TableRow, weight: f32) {
        self.inputs(1, |rows, weights| {
            (rows[0], weights[0]) = (row.0, weight);
            1
        });
    }

    /// Adds `most` input rows at the most; `list` writes rows and weights over what is there and returns how many.
    pub(crate) fn inputs(&mut self, most: usize, list: impl FnOnce(&mut [u32], &mut [f32]) -> usize) {
        let end = self.used + most;
        if self.rows.len() < end {
            self.rows.resize(end, 0);
            self.weights.resize(end, 0.0);
        }
        self.used += list(&mut self.rows[self.used..end], &mut self.weights[self.used..end]).min(most);
    }

    /// The weights of the inputs since the last example.
    pub(crate) fn open_weights(&mut self) -> &mut [f32] {
        let start = self.ends.last().copied().unwrap_or(0);
        &mut self.weights[start..self.used]
    }

    /// Ends an example whose target is `target`.
    pub(crate) fn finish_example(&mut self, target: TableRow) {
        self.ends.push(self.used);
        self.targets.push(target.0);
    }

    /// Lists columns and occurrences, once all examples are in. `noise` rises; `correction` is asked for each column.
    pub(crate) fn index(&mut self, noise: &[TableRow], correction: impl Fn(TableRow) -> f32, scratch: &mut Numbering) {
        let noise = TableRow::numbers(noise);
        self.columns.clear();
        self.columns.extend_from_slice(&self.targets);
        self.columns.extend_from_slice(noise);
        self.columns.sort_unstable();
        self.columns.dedup();
        self.corrections.clear();
        self.corrections.extend(self.columns.iter().map(|&column| correction(TableRow(column))));
        self.noise.clear();
        let mut rest = noise;
        for &column in &self.columns {
            let times = rest.iter().take_while(|&&noise| noise == column).count();
            rest = &rest[times..];
            self.noise.push(self.noise_weight * times as f32);
        }
        self.target_columns.clear();
        let columns = &self.columns;
        self.target_columns.extend(self.targets.iter().map(|target| columns.binary_search(target).unwrap_or(0) as u32));
        let (rows, weights) = (&self.rows[..self.used], &self.weights[..self.used]);
        self.inputs.list_weighed(&self.ends, rows, weights, scratch);
    }

    /// Has the rows of its documents at hand where tables are sharded: inputs, and columns.
    fn stage(&mut self, team: Team<'_>, tables: &mut Tables) -> [Staged; 2] {
        let inputs = team.stage(&mut tables.input, self.inputs.rows_mut());
        inputs.renumber(&mut self.rows[..self.used]);
        [inputs, team.stage(&mut tables.output, &mut self.columns)]
    }

    /// The input rows of an example, and their weights.
    pub(super) fn inputs_of(&self, example: usize) -> (&[u32], &[f32]) {
        let start = if example == 0 { 0 } else { self.ends[example - 1] };
        let range = start..self.ends[example];
        (&self.rows[range.clone()], &self.weights[range])
    }
}

/// Memory for the products of a step, kept from batch to batch.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    x: Vec<f32>,
    s: Vec<f32>,
    dx: Vec<f32>,
    dn: Vec<f32>,
    columns: Columns,
    packed_x: Vec<f32>,
    losses: Vec<f32>,
    room: Room,
}

/// The rows of the output table that a batch's scores are for, packed for both products.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    rows: Vec<f32>,
    by_depth: Vec<f32>,
    by_column: Vec<f32>,
}

impl Columns {
    /// Gathers the rows `ids` of `table`: for the scores, and for the gradients of x.
    pub(crate) fn pack(&mut self, table: &Table, ids: &[u32]) -> (Panels<'_>, Panels<'_>) {
        let stride = table.stride();
        let rows = sized(&mut self.rows, ids.len() * stride);
        for (row, &id) in rows.chunks_exact_mut(stride).zip(ids) {
            row.copy_from_slice(table.row(id as usize));
        }
        let rows = Matrix::new(rows, ids.len(), stride, stride);
        let by_depth = pack_transposed(rows, sized(&mut self.by_depth, Panels::len(stride, ids.len())));
        (by_depth, pack(rows, sized(&mut self.by_column, Panels::len(ids.len(), stride))))
    }
}

/// Numbers from one example's scores to the next one's: a multiple of 1024 would make rows compete for the same lines of
/// the cache.
pub(crate) fn score_stride(columns: usize) -> usize {
    let wide = columns.next_multiple_of(8);
    if wide.is_multiple_of(1024) { wide + 16 } else { wide }
}

pub(crate) fn sized(buffer: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}

/// Fills `work` with the gradients of x and of the columns, without changing the tables, and returns the summed loss.
fn gradients(batch: &Batch, tables: &Tables, objective: Objective<'_>, work: &mut Workspace) -> f64 {
    let Objective { loss, team } = objective;
    let Tables { input, output } = tables;
    let (examples, columns, stride) = (batch.len(), batch.columns.len(), input.stride());
    let wide = score_stride(columns);
    let own = team.part(examples);
    let x = sized(&mut work.x, examples * stride);
    let s = sized(&mut work.s, own.len() * wide);
    let dx = sized(&mut work.dx, examples * stride);
    let dn = sized(&mut work.dn, columns * stride);
    let losses = sized(&mut work.losses, examples);

    let table = input.matrix();
    let ((), (by_depth, by_column)) = rayon::join(
        || {
            let x = &mut x[own.start * stride..own.end * stride];
            x.par_chunks_mut(stride * EXAMPLES_A_TASK).enumerate().for_each(|(chunk, rows)| {
                for (example, row) in (own.start + chunk * EXAMPLES_A_TASK..).zip(rows.chunks_exact_mut(stride)) {
                    if example + 1 < own.end {
                        let next = batch.inputs_of(example + 1).0.iter().take(ROWS_AHEAD);
                        next.for_each(|&id| prefetch(input.row(id as usize)));
                    }
                    let (ids, weights) = batch.inputs_of(example);
                    gather_sum(table, ids, weights, row);
                }
            });
        },
        || work.columns.pack(output, &batch.columns),
    );
    team.gather_rows(x, examples, stride);
    let x = &*x;
    let packed_x = sized(&mut work.packed_x, Panels::len(examples, stride));
    let ((), by_example) = rayon::join(
        || {
            s.par_chunks_mut(wide * EXAMPLES_A_TASK)
                .zip(dx[own.start * stride..own.end * stride].par_chunks_mut(stride * EXAMPLES_A_TASK))
                .zip(losses[own.clone()].par_chunks_mut(EXAMPLES_A_TASK))
                .enumerate()
                .for_each(|(chunk, ((s, dx), losses))| {
                    let first = own.start + chunk * EXAMPLES_A_TASK;
                    let rows = losses.len();
                    let x = Matrix::new(&x[first * stride..], rows, stride, stride);
                    multiply(x, by_depth, MatrixMut::new(s, rows, columns, wide), Start::Zero);
                    for (i, scores) in s.chunks_mut(wide).enumerate() {
                        losses[i] = slopes(batch, first + i, loss, &mut scores[..columns]);
                    }
                    multiply(
                        Matrix::new(s, rows, columns, wide),
                        by_column,
                        MatrixMut::new(dx, rows, stride, stride),
                        Start::Zero,
                    );
                });
        },
        || pack(Matrix::new(x, examples, stride, stride), packed_x),
    );
    let g = Matrix::new(s, own.len(), columns, wide);
    team.column_gradients(g, by_example, MatrixRows { data: dn, columns, stride }, &mut work.room);
    team.gather_rows(dx, examples, stride);
    team.gather_rows(losses, examples, 1);
    losses.iter().map(|&loss| f64::from(loss)).sum()
}

/// Turns an example's scores into the slopes of its loss, and returns that.
fn slopes(batch: &Batch, example: usize, loss: LossFunction, scores: &mut [f32]) -> f32 {
    let target = batch.target_columns[example] as usize;
    match loss {
        LossFunction::SampledSoftmax | LossFunction::FullSoftmax => {
            scores.iter_mut().zip(&batch.corrections).for_each(|(score, correction)| *score -= correction);
            let score = scores[target];
            let loss = softmax(scores) - score;
            scores[target] -= 1.0;
            loss
        }
        LossFunction::NegativeSampling => {
            let (score, noise) = (scores[target], batch.noise[target]);
            let loss = noise_loss(scores, &batch.noise) - log_sigmoid(score) + noise * log_sigmoid(-score);
            let chance = scores[target];
            scores.iter_mut().zip(&batch.noise).for_each(|(score, noise)| *score *= noise);
            scores[target] = chance - 1.0;
            loss
        }
    }
}

/// The loss that is minimised, and by whom.
#[derive(Clone, Copy)]
pub(crate) struct Objective<'a> {
    pub(crate) loss: LossFunction,
    pub(crate) team: Team<'a>,
}

/// The summed loss of a batch; no vector is changed.
pub(crate) fn loss(batch: &mut Batch, tables: &mut Tables, objective: Objective<'_>, work: &mut Workspace) -> f64 {
    batch.stage(objective.team, tables);
    gradients(batch, tables, objective, work)
}

/// One step against the gradients of a batch; returns the summed loss.
pub(crate) fn step(
    batch: &mut Batch,
    tables: &mut Tables,
    objective: Objective<'_>,
    rate: f32,
    work: &mut Workspace,
) -> f64 {
    let team = objective.team;
    let [inputs, columns] = batch.stage(team, tables);
    let loss = gradients(batch, tables, objective, work);
    let Tables { input, output } = tables;
    let stride = input.stride();
    let dn = &work.dn;
    output.par_change(&batch.columns, &|i, row| row.adagrad(&dn[i * stride..][..stride], rate));
    let dx = Matrix::new(&work.dx, batch.len(), stride, stride);
    input.par_change(batch.inputs.rows(), &|i, row| {
        let (examples, weights) = batch.inputs.of(i);
        row.adagrad_sum(dx, examples, weights, rate);
    });
    team.put_back(input, &inputs);
    team.put_back(output, &columns);
    loss
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{OutOfRange, Step, scale};
    use crate::model::params::LossFunction;
    use crate::model::tables::Table;
    use crate::train::rivals::reference;

    const ROWS: usize = 12;
    const DIM: usize = 5;
    const LOSSES: [LossFunction; 3] =
        [LossFunction::SampledSoftmax, LossFunction::FullSoftmax, LossFunction::NegativeSampling];

    fn alone(loss: LossFunction) -> Objective<'static> {
        Objective { loss, team: Team::default() }
    }

    fn tables() -> Tables {
        let mut tables = Tables { input: Table::new(ROWS, 0, DIM), output: Table::new(ROWS, 0, DIM) };
        tables.input.fill(0..ROWS, DIM, 3, 1);
        tables.output.fill(0..ROWS, DIM, 3, 2);
        for table in [&mut tables.input, &mut tables.output] {
            scale(10.0, table.data_mut());
        }
        tables
    }

    /// Three examples with weighted inputs, a row twice in one of them, two of them with one target, which is noise too.
    fn batch(weights: [f32; 7]) -> Batch {
        let mut batch = Batch { noise_weight: 0.5, ..Batch::default() };
        let [a, b, c, d, e, f, g] = weights;
        for (inputs, target) in
            [(&[(0, a), (3, b), (0, c)][..], 7), (&[(3, d), (4, e)][..], 9), (&[(5, f), (0, g)][..], 7)]
        {
            inputs.iter().for_each(|&(row, weight)| batch.input(TableRow(row), weight));
            batch.finish_example(TableRow(target));
        }
        let noise = [6, 7, 11, 11].map(TableRow);
        batch.index(&noise, |column| column.0 as f32 * 0.1 - 1.0, &mut Numbering::new(ROWS));
        batch
    }

    /// The loss in f64, as [`LossFunction`] has it.
    fn expected(batch: &Batch, t: &Tables, loss: LossFunction) -> f64 {
        let mut sum = 0.0;
        for example in 0..batch.len() {
            let (rows, weights) = batch.inputs_of(example);
            let x: Vec<f64> = (0..DIM)
                .map(|c| rows.iter().zip(weights).map(|(&r, &w)| f64::from(w * t.input.row(r as usize)[c])).sum())
                .collect();
            let score = |column: u32| -> f64 {
                x.iter().zip(t.output.row(column as usize)).map(|(x, &o)| x * f64::from(o)).sum()
            };
            let target = batch.targets[example];
            let corrected = |i: usize| score(batch.columns[i]) - f64::from(batch.corrections[i]);
            let columns = 0..batch.columns.len();
            sum += match loss {
                LossFunction::NegativeSampling => {
                    let noise = columns.filter(|&i| batch.columns[i] != target);
                    let noise = noise.map(|i| f64::from(batch.noise[i]) * score(batch.columns[i]).exp().ln_1p());
                    (-score(target)).exp().ln_1p() + noise.sum::<f64>()
                }
                _ => {
                    let own = corrected(batch.target_columns[example] as usize);
                    columns.map(|i| corrected(i).exp()).sum::<f64>().ln() - own
                }
            };
        }
        sum
    }

    #[test]
    fn columns_are_targets_and_noise_each_once() {
        let batch = batch([0.5; 7]);
        assert_eq!(batch.columns, [6, 7, 9, 11]);
        assert_eq!(batch.target_columns, [1, 2, 1]);
        assert_eq!(batch.noise, [0.5, 0.5, 0.0, 1.0]);
    }

    #[test]
    fn gradients_are_the_slopes_of_the_loss() {
        let mut batch = batch([0.5, 0.2, 0.3, 0.6, 0.4, 0.9, 0.1]);
        let mut tables = tables();
        let stride = tables.input.stride();
        for how in LOSSES {
            let mut work = Workspace::default();
            let found = loss(&mut batch, &mut tables, alone(how), &mut work);
            assert!((found - expected(&batch, &tables, how)).abs() < 1e-5, "{how:?}: {found}");
            for row in 0..ROWS {
                for c in 0..DIM {
                    let slope = |output: bool| {
                        let by = |by: f32| {
                            let mut t = tables.copy().expect("room");
                            let table = if output { &mut t.output } else { &mut t.input };
                            table.row_mut(row)[c] += by;
                            expected(&batch, &t, how)
                        };
                        (by(1e-2) - by(-1e-2)) / 2e-2
                    };
                    let column = batch.columns.iter().position(|&column| column as usize == row);
                    let dn = column.map_or(0.0, |i| work.dn[i * stride + c]);
                    let mut dx = 0.0;
                    for example in 0..batch.len() {
                        let (rows, weights) = batch.inputs_of(example);
                        let own = rows.iter().zip(weights).filter(|(other, _)| **other as usize == row);
                        dx += own.map(|(_, weight)| weight * work.dx[example * stride + c]).sum::<f32>();
                    }
                    assert!((f64::from(dn) - slope(true)).abs() < 1e-4, "{how:?}, out {row} {c}: {dn}");
                    assert!((f64::from(dx) - slope(false)).abs() < 1e-4, "{how:?}, in {row} {c}: {dx}");
                }
            }
        }
    }

    /// With the same noise, the batch goes where the paper's own step would go, example by example.
    #[test]
    fn negative_sampling_in_a_batch_is_the_papers_step() {
        let third = 1.0 / 3.0;
        let mut batch = batch([third, third, third, 0.5, 0.5, 0.5, 0.5]);
        batch.noise_weight = 1.0;
        batch.index(&[6, 7, 11, 11].map(TableRow), |_| 0.0, &mut Numbering::new(ROWS));
        let mut tables = tables();
        let stride = tables.input.stride();
        let mut work = Workspace::default();
        let found = loss(&mut batch, &mut tables, alone(LossFunction::NegativeSampling), &mut work);
        let step = Step { rate: 1e-3, beyond: OutOfRange::Saturate, divide: true };
        let (mut moved_in, mut moved_out, mut oracle) = (vec![0.0; ROWS * stride], vec![0.0; ROWS * stride], 0.0);
        for example in 0..batch.len() {
            let mut t = tables.copy().expect("room");
            let target = batch.targets[example];
            let outputs: Vec<u32> = [target, 6, 7, 11, 11]
                .into_iter()
                .enumerate()
                .filter(|&(i, row)| i == 0 || row != target)
                .map(|(_, row)| row)
                .collect();
            oracle += reference::step(step, batch.inputs_of(example).0, &outputs, &mut t);
            for (moved, after, before) in
                [(&mut moved_in, &t.input, &tables.input), (&mut moved_out, &t.output, &tables.output)]
            {
                let change = after.data().iter().zip(before.data()).map(|(after, before)| (after - before) / step.rate);
                moved.iter_mut().zip(change).for_each(|(moved, change)| *moved += change);
            }
        }
        assert!((found - oracle).abs() < 1e-3 * oracle, "{found}, not {oracle}");
        let near = |x: f32, y: f32| (x + y).abs() < 2e-3;
        for (i, &column) in batch.columns.iter().enumerate() {
            assert!(
                (0..DIM).all(|c| near(work.dn[i * stride + c], moved_out[column as usize * stride + c])),
                "{column}"
            );
        }
        let dx = Matrix::new(&work.dx, batch.len(), stride, stride);
        let mut gradient = vec![0.0; stride];
        for (i, &row) in batch.inputs.rows().iter().enumerate() {
            let (examples, weights) = batch.inputs.of(i);
            gather_sum(dx, examples, weights, &mut gradient);
            assert!((0..DIM).all(|c| near(gradient[c], moved_in[row as usize * stride + c])), "{row}");
        }
    }
}
