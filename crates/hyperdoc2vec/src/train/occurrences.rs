//! Where each row occurs in a batch, so that its gradient is summed in the order of the batch and applied once.

/// For each row that occurs in a batch, the examples it occurs in, in order, and a weight for each occurrence.
#[derive(Debug, Default)]
pub struct Occurrences {
    rows: Vec<u32>,
    ends: Vec<u32>,
    examples: Vec<u32>,
    slots: Vec<u32>,
    weights: Vec<f32>,
}

/// A number for each row of a table, 0 between batches.
#[derive(Debug)]
pub struct Numbering {
    places: Vec<u32>,
}

impl Numbering {
    /// For tables of `rows` rows.
    pub fn new(rows: usize) -> Numbering {
        Numbering { places: vec![0; rows] }
    }
}

impl Occurrences {
    /// Lists the occurrences of `rows`, of which those up to `ends[0]` belong to example 0, and so on.
    pub fn list(&mut self, ends: &[usize], rows: &[u32], scratch: &mut Numbering) {
        // Count, sum up, fill: a counting sort that keeps the order of the batch. `places` has the count of a row, then
        // where its next occurrence goes.
        let places = &mut scratch.places;
        self.rows.clear();
        for &row in rows {
            let count = &mut places[row as usize];
            if *count == 0 {
                self.rows.push(row);
            }
            *count += 1;
        }
        self.rows.sort_unstable();
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
        self.slots.resize(rows.len(), 0);
        let mut start = 0;
        for (example, &end) in ends.iter().enumerate() {
            for (slot, &row) in (start..end).zip(&rows[start..end]) {
                let place = &mut places[row as usize];
                self.examples[*place as usize] = example as u32;
                self.slots[*place as usize] = slot as u32;
                *place += 1;
            }
            start = end;
        }
        self.rows.iter().for_each(|&row| places[row as usize] = 0);
    }

    /// Gives each occurrence its weight; `weights` are in the order in which the rows were listed.
    pub fn weigh(&mut self, weights: &[f32]) {
        self.weights.clear();
        self.weights.extend(self.slots.iter().map(|&slot| weights[slot as usize]));
    }

    /// The rows that occur, rising.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The examples in which the row with this index in [`Occurrences::rows`] occurs, and the weights.
    pub fn of(&self, index: usize) -> (&[u32], &[f32]) {
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
