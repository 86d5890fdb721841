//! Windows that move over a text, each learnt from as [`learn`](super::learn) does, at a cost that grows with an eighth
//! of their length.
//!
//! Around the present place every word has a copy of its row of its own. Eight places make a block, which knows the sum
//! of its copies and what is still to be added to each of them; a window is some whole blocks and a few single places.
//! A copy is taken when the farthest window comes to its place, and what it has learnt is added to the table when the
//! last window has left its block. So an example sees what all before it did, but for one thing: a word that stands
//! twice within reach learns at both places by itself until then.

use std::ops::Range;

use super::fetch::fetch;
use super::matrix::MatrixMut;
use super::rows::{LANES, scale};
use super::step::{Line, Step, add, compare, fma};

/// Places of a block.
const BLOCK: usize = 8;
/// Rows that the memory is asked for before they are copied.
const AHEAD: usize = 8;

/// The places around the present one.
#[derive(Debug)]
pub struct Near {
    /// Words on each side at the most.
    reach: usize,
    cols: usize,
    /// A ring of blocks; `values` holds a row a place, what is pending left out.
    values: Vec<f32>,
    /// The rows as they were copied.
    copied: Vec<f32>,
    /// For each block, the sum of its `values`, and what is to be added to each of them.
    sums: Vec<f32>,
    pending: Vec<f32>,
    blocks: usize,
    /// The mean of a window, and where it should move.
    mean: Vec<f32>,
    error: Vec<f32>,
    /// The places that are here.
    from: usize,
    to: usize,
}

/// A word that is to be predicted.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Where it stands in the text.
    pub at: usize,
    /// Words on each side that predict it.
    pub reach: usize,
    /// A row that predicts it, too: that of the document.
    pub document: Option<u32>,
}

impl Near {
    /// For windows of up to `reach` words on each side, and rows of `cols` numbers.
    pub fn new(reach: usize, cols: usize) -> Near {
        // A block at either end may reach beyond the windows.
        let blocks = (2 * reach + 1).div_ceil(BLOCK) + 2;
        let rows = |count: usize| vec![0.0; count * cols];
        let (values, copied) = (rows(blocks * BLOCK), rows(blocks * BLOCK));
        let (sums, pending, mean, error) = (rows(blocks), rows(blocks), rows(1), rows(1));
        Near { reach, cols, values, copied, sums, pending, blocks, mean, error, from: 0, to: 0 }
    }

    /// Goes on to place `at` of `text`: what is left behind goes to the table, what is ahead comes from it. A text begins
    /// with place 0 and goes on place by place.
    pub fn go(&mut self, text: &[u32], at: usize, table: &mut MatrixMut<'_>) {
        while self.from + BLOCK <= at.saturating_sub(self.reach) {
            self.leave(text, table);
        }
        while self.to < text.len().min(at + self.reach + 1) {
            if let Some(&row) = text.get(self.to + AHEAD) {
                fetch(table.row(row as usize));
            }
            self.enter(table.row(text[self.to] as usize));
        }
    }

    /// The text is over: everything goes to the table.
    pub fn end(&mut self, text: &[u32], table: &mut MatrixMut<'_>) {
        while self.from < self.to {
            self.leave(text, table);
        }
        (self.from, self.to) = (0, 0);
    }

    fn enter(&mut self, row: &[f32]) {
        let (block, place, cols) = (self.to / BLOCK % self.blocks, self.to % (self.blocks * BLOCK), self.cols);
        let sum = &mut self.sums[block * cols..][..cols];
        if self.to.is_multiple_of(BLOCK) {
            sum.fill(0.0);
            self.pending[block * cols..][..cols].fill(0.0);
        }
        // Nothing is pending for a block before it is whole.
        add(row.as_chunks().0, sum.as_chunks_mut().0);
        self.values[place * cols..][..cols].copy_from_slice(row);
        self.copied[place * cols..][..cols].copy_from_slice(row);
        self.to += 1;
    }

    /// Adds what the first block has learnt to the table.
    fn leave(&mut self, text: &[u32], table: &mut MatrixMut<'_>) {
        let (block, cols) = (self.from / BLOCK % self.blocks, self.cols);
        let pending = &self.pending[block * cols..][..cols];
        let end = (self.from + BLOCK).min(self.to);
        for (place, &row) in (block * BLOCK..).zip(&text[self.from..end]) {
            let (value, copied) = (&self.values[place * cols..][..cols], &self.copied[place * cols..][..cols]);
            for (((x, value), pending), copied) in
                table.row_mut(row as usize).iter_mut().zip(value).zip(pending).zip(copied)
            {
                *x += value - copied + pending;
            }
        }
        self.from = end;
    }
}

/// The blocks of a ring that a window touches: where each is in the ring, its first place of the window in the ring, and
/// how many there are.
#[inline(always)]
fn parts(blocks: usize, window: Range<usize>) -> impl Iterator<Item = (usize, usize, usize)> {
    (window.start / BLOCK..window.end.div_ceil(BLOCK)).map(move |block| {
        let first = window.start.max(block * BLOCK);
        let end = window.end.min((block + 1) * BLOCK);
        (block % blocks, first % (blocks * BLOCK), end - first)
    })
}

#[inline(always)]
fn lines(rows: &[f32], row: usize, cols: usize) -> &[Line] {
    rows[row * cols..][..cols].as_chunks().0
}

#[inline(always)]
fn lines_mut(rows: &mut [f32], row: usize, cols: usize) -> &mut [Line] {
    rows[row * cols..][..cols].as_chunks_mut().0
}

/// `y += a x`
#[inline(always)]
fn add_times(a: f32, x: &[Line], y: &mut [Line]) {
    for (x, y) in x.iter().zip(y) {
        *y = fma(a, *x, *y);
    }
}

/// See [`learn_near`](super::learn_near).
#[inline(always)]
pub(super) fn learn_near(
    step: Step,
    near: &mut Near,
    place: Place,
    outputs: &[u32],
    labels: &[f32],
    mut input: MatrixMut<'_>,
    mut output: MatrixMut<'_>,
) -> f64 {
    let (at, cols) = (place.at, near.cols);
    assert_eq!(input.cols(), cols, "places hold rows of the table");
    assert!(cols.is_multiple_of(LANES), "rows are padded to a multiple of {LANES} numbers");
    assert!((near.from..near.to).contains(&at) && place.reach <= near.reach, "the place is near");
    let window = at.saturating_sub(place.reach)..(at + place.reach + 1).min(near.to);
    let inputs = window.len() - 1 + usize::from(place.document.is_some());
    if inputs == 0 {
        return 0.0;
    }
    let Near { values, sums, pending, mean, error, blocks, .. } = near;
    let own = at % (*blocks * BLOCK);
    {
        let sum = mean.as_chunks_mut().0;
        match place.document {
            Some(document) => sum.copy_from_slice(input.row(document as usize).as_chunks().0),
            None => sum.fill([0.0; LANES]),
        }
        for (block, first, count) in parts(*blocks, window.clone()) {
            if count == BLOCK {
                add(lines(sums, block, cols), sum);
            } else {
                for place in first..first + count {
                    add(lines(values, place, cols), sum);
                }
            }
            add_times(count as f32, lines(pending, block, cols), sum);
        }
        add_times(-1.0, lines(values, own, cols), sum);
        add_times(-1.0, lines(pending, own / BLOCK, cols), sum);
    }
    scale(1.0 / inputs as f32, mean);
    let loss = compare(step, mean, error, outputs, labels, &mut output);
    if step.divide {
        scale(1.0 / inputs as f32, error);
    }
    let error = error.as_chunks().0;
    if let Some(document) = place.document {
        add(error, input.row_mut(document as usize).as_chunks_mut().0);
    }
    for (block, first, count) in parts(*blocks, window) {
        if count == BLOCK {
            add(error, lines_mut(pending, block, cols));
        } else {
            for place in first..first + count {
                add(error, lines_mut(values, place, cols));
            }
            add_times(count as f32, error, lines_mut(sums, block, cols));
        }
    }
    add_times(-1.0, error, lines_mut(values, own, cols));
    add_times(-1.0, error, lines_mut(sums, own / BLOCK, cols));
    loss
}

#[cfg(test)]
mod tests {
    use super::super::{Beyond, learn, learn_near};
    use super::*;
    use crate::rng::Rng;

    const COLS: usize = 16;
    const ROWS: usize = 120;
    const REACH: usize = 21;

    /// The tables after `text` was learnt with windows drawn from a key, as [`Near`] has it and word by word.
    fn both(text: &[u32], rate: f32, document: Option<u32>) -> [(Vec<f32>, Vec<f32>, f64); 2] {
        let step = Step { rate, beyond: Beyond::Saturate, divide: false };
        let labels = [1.0, 0.0, 0.0];
        [true, false].map(|blocks| {
            let mut rng = Rng::keyed(5, &[]);
            let mut table = || (0..ROWS * COLS).map(|_| rng.unit() - 0.5).collect::<Vec<f32>>();
            let (mut input, mut output) = (table(), table());
            let (mut near, mut scratch, mut loss) = (Near::new(REACH, COLS), vec![0.0; 2 * COLS], 0.0);
            for at in 0..text.len() {
                let reach = 1 + rng.below(REACH);
                let outputs = [text[at], rng.below(ROWS) as u32, rng.below(ROWS) as u32];
                let mut in_table = MatrixMut::new(&mut input, ROWS, COLS, COLS);
                let out_table = MatrixMut::new(&mut output, ROWS, COLS, COLS);
                if blocks {
                    near.go(text, at, &mut in_table);
                    let place = Place { at, reach, document };
                    loss += learn_near(step, &mut near, place, &outputs, &labels, in_table, out_table);
                } else {
                    let window = text[at.saturating_sub(reach)..at].iter().chain(text[at + 1..].iter().take(reach));
                    let inputs: Vec<u32> = document.iter().chain(window).copied().collect();
                    loss += learn(step, &inputs, &outputs, &labels, in_table, out_table, &mut scratch);
                }
            }
            near.end(text, &mut MatrixMut::new(&mut input, ROWS, COLS, COLS));
            (input, output, loss)
        })
    }

    fn apart(x: &[f32], y: &[f32]) -> f32 {
        x.iter().zip(y).map(|(x, y)| (x - y).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn where_no_word_comes_twice_it_is_the_step_word_by_word() {
        for (length, document) in [(1, Some(119)), (1, None), (7, None), (60, Some(119)), (100, None)] {
            let text: Vec<u32> = (0..length).collect();
            let [(input, output, loss), (word_input, word_output, word_loss)] = both(&text, 0.05, document);
            assert!(apart(&input, &word_input) < 1e-5, "{length}: {}", apart(&input, &word_input));
            assert!(apart(&output, &word_output) < 1e-5, "{length}");
            assert!((loss - word_loss).abs() < 1e-5 * word_loss.max(1.0), "{length}: {loss}, not {word_loss}");
            assert_eq!(loss > 0.0, length > 1 || document.is_some());
        }
    }

    #[test]
    fn a_word_that_comes_again_learns_at_every_place() {
        let text: Vec<u32> = (0..200).map(|place| place * 7 % 30).collect();
        let first = both(&text, 0.0, None)[0].0.clone();
        let rate = 1e-4;
        let [(input, ..), (word_by_word, ..)] = both(&text, rate, None);
        let moved = apart(&first, &word_by_word);
        assert!(apart(&input, &word_by_word) < 0.02 * moved, "{} of {moved}", apart(&input, &word_by_word));
    }
}
