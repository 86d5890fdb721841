//! Items grouped by a number, in one array.

/// Items by group, each group's in the order they came.
#[derive(Debug, Clone)]
pub(crate) struct Groups {
    ends: Vec<usize>,
    items: Vec<u32>,
}

impl Groups {
    /// `groups` groups of the given pairs (group, item).
    pub(crate) fn new(groups: usize, pairs: impl Iterator<Item = (usize, u32)> + Clone) -> Groups {
        let mut ends = vec![0; groups + 1];
        pairs.clone().for_each(|(group, _)| ends[group + 1] += 1);
        for group in 0..groups {
            ends[group + 1] += ends[group];
        }
        let mut items = vec![0; ends[groups]];
        for (group, item) in pairs {
            items[ends[group]] = item;
            ends[group] += 1;
        }
        // Each start has moved to its end.
        ends.pop();
        Groups { ends, items }
    }

    /// The items of a group.
    pub(crate) fn of(&self, group: usize) -> &[u32] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        &self.items[start..self.ends[group]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_grouped_in_their_order() {
        let groups = Groups::new(4, [(2, 5), (0, 1), (2, 3)].into_iter());
        assert_eq!([0, 1, 2, 3].map(|group| groups.of(group).to_vec()), [vec![1], vec![], vec![5, 3], vec![]]);
    }
}
