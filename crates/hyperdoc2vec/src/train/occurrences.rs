//! Where each row occurs in a batch, so that its gradient is summed in the order of the batch and applied once.

use crate::kernel::prefetch;

/// How many rows ahead the memory is asked for.
const ROWS_AHEAD: usize = 16;

/// For each row that occurs in a batch, the examples it occurs in, in order, and a weight for each occurrence.
#[derive(Debug, Default)]
pub(crate) struct Occurrences {
    rows: Vec<u32>,
    ends: Vec<u32>,
    examples: Vec<u32>,
    slots: Vec<u32>,
    weights: Vec<f32>,
}

/// For each row of a table: a number that is 0 between batches, and a bit that it is in the batch.
#[derive(Debug)]
pub(crate) struct Numbering {
    places: Vec<u32>,
    bits: Vec<u64>,
}

impl Numbering {
    /// For tables of `rows` rows.
    pub(crate) fn new(rows: usize) -> Numbering {
        Numbering { places: vec![0; rows], bits: vec![0; rows.div_ceil(64)] }
    }

    /// The rows whose bits are set, rising; clears the bits.
    fn take_rows(&mut self, rows: &mut Vec<u32>) {
        for (number, bits) in self.bits.iter_mut().enumerate() {
            let mut rest = std::mem::take(bits);
            while rest != 0 {
                rows.push(number as u32 * 64 + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
    }
}

impl Occurrences {
    /// Lists the occurrences of `rows`, of which those up to `ends[0]` belong to example 0, and so on;
    /// [`Occurrences::weigh`] is to follow.
    pub(crate) fn list(&mut self, ends: &[usize], rows: &[u32], scratch: &mut Numbering) {
        let mut slots = std::mem::take(&mut self.slots);
        slots.resize(rows.len(), 0);
        self.sort(ends, rows, scratch, |place, slot| slots[place] = slot as u32);
        self.slots = slots;
    }

    /// Lists the occurrences of `rows` where the weights are known already.
    pub(crate) fn list_weighed(&mut self, ends: &[usize], rows: &[u32], weights: &[f32], scratch: &mut Numbering) {
        let mut sorted = std::mem::take(&mut self.weights);
        sorted.resize(rows.len(), 0.0);
        self.sort(ends, rows, scratch, |place, slot| sorted[place] = weights[slot]);
        self.weights = sorted;
    }

    /// Sorts the occurrences by row; `put(place, slot)` receives the place of each.
    fn sort(&mut self, ends: &[usize], rows: &[u32], scratch: &mut Numbering, mut put: impl FnMut(usize, usize)) {
        // Count, sum up, fill: a counting sort that keeps the order of the batch. `places` has the count of a row, then
        // where its next occurrence goes.
        for (number, &row) in rows.iter().enumerate() {
            if let Some(&ahead) = rows.get(number + ROWS_AHEAD) {
                prefetch(&scratch.places[ahead as usize..][..1]);
            }
            scratch.places[row as usize] += 1;
            scratch.bits[row as usize / 64] |= 1 << (row % 64);
        }
        self.rows.clear();
        scratch.take_rows(&mut self.rows);
        let places = &mut scratch.places;
        self.ends.clear();
        let mut end = 0;
        for &row in &self.rows {
            let place = &mut places[row as usize];
            let start = end;
            end += *place;
            *place = start;
            self.ends.push(end);
        }
        self.examples.resize(rows.len(), 0);
        let mut start = 0;
        for (example, &end) in ends.iter().enumerate() {
            for (slot, &row) in (start..end).zip(&rows[start..end]) {
                let place = &mut places[row as usize];
                self.examples[*place as usize] = example as u32;
                put(*place as usize, slot);
                *place += 1;
            }
            start = end;
        }
        self.rows.iter().for_each(|&row| places[row as usize] = 0);
    }

    /// Gives each occurrence its weight; `weights` are in the order in which the rows were listed.
    pub(crate) fn weigh(&mut self, weights: &[f32]) {
        self.weights.clear();
        self.weights.extend(self.slots.iter().map(|&slot| weights[slot as usize]));
    }

    /// The rows that occur, rising.
    pub(crate) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The rows that occur, to be renumbered in their order.
    pub(crate) fn rows_mut(&mut self) -> &mut [u32] {
        &mut self.rows
    }

    /// The examples in which the row with this index in [`Occurrences::rows`] occurs, and the weights.
    pub(crate) fn of(&self, index: usize) -> (&[u32], &[f32]) {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        let range = start..self.ends[index] as usize;
        (&self.examples[range.clone()], &self.weights[range])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_in_their_examples() {
        let mut numbering = Numbering::new(10);
        let mut occurrences = Occurrences::default();
        for _ in 0..2 {
            occurrences.list(&[2, 2, 5], &[7, 3, 3, 7, 3], &mut numbering);
            occurrences.weigh(&[0.1, 0.2, 0.3, 0.4, 0.5]);
            assert_eq!(occurrences.rows(), [3, 7]);
            assert_eq!(occurrences.of(0), (&[0, 2, 2][..], &[0.2, 0.3, 0.5][..]));
            assert_eq!(occurrences.of(1), (&[0, 2][..], &[0.1, 0.4][..]));
        }
        occurrences.list(&[], &[], &mut numbering);
        assert!(occurrences.rows().is_empty());
    }
}
