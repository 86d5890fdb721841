//! DeepWalk (Perozzi et al., 2014): documents that random walks over the links visit close to each other get similar
//! vectors.
//!
//! Links count in both directions, several between two documents as one. From each linked document go a few walks;
//! each document on a walk predicts those near it, by skip-gram with hierarchical softmax: a Huffman tree over the
//! documents by how often the walks visit them, its inner nodes having their vectors in the output table, in the rows
//! of documents (inner node i in the row of document i). So the OUT vectors mean nothing by themselves, and IN vectors
//! are the result. Documents without links are on no walk and keep the vectors they began with.
//!
//! Unlike gensim under DeepWalk, documents that walks visit often are not thinned out.

use std::ops::ControlFlow;

use crate::corpus::groups::Groups;
use crate::corpus::view::View;
use crate::id::{DocRow, OptionalNumber, TableRow};
use crate::model::params::DeepWalkParams;
use crate::model::tables::Tables;
use crate::rng::Rng;
use crate::train::rivals::sequential::{Learner, falling};
use crate::train::{After, Done, Phase};

/// A run over the walks.
pub(crate) struct DeepWalk<'a> {
    view: &'a View<'a>,
    params: &'a DeepWalkParams,
    seed: u64,
    neighbours: Groups,
    /// Documents with links.
    nodes: Vec<u32>,
    tree: Huffman,
}

/// The phase's number in the keys of random numbers.
const PHASE: u64 = 13;
/// The purposes of random numbers, in their keys.
const ORDER: u64 = 0;
const WALK: u64 = 1;
const WINDOW: u64 = 2;
/// Walks in a batch.
const BATCH: usize = 256;

impl<'a> DeepWalk<'a> {
    /// Goes all walks over the links of `view` once, to count the visits.
    pub(crate) fn new(view: &'a View<'a>, params: &'a DeepWalkParams, seed: u64) -> DeepWalk<'a> {
        let neighbours = neighbours(view);
        let documents = view.documents.len();
        let nodes = (0..documents as u32).filter(|&node| !neighbours.of(node as usize).is_empty()).collect();
        let mut phase = DeepWalk { view, params, seed, neighbours, nodes, tree: Huffman::new(&[]) };
        let mut visits = vec![0; documents];
        let mut walk = Vec::new();
        for &node in &phase.nodes {
            for number in 0..params.walks {
                phase.walk(node, number, &mut walk);
                walk.iter().for_each(|&node| visits[node as usize] += 1);
            }
        }
        phase.tree = Huffman::new(&visits);
        phase
    }

    /// The walk with this number from a document.
    fn walk(&self, node: u32, number: usize, walk: &mut Vec<u32>) {
        let mut rng = Rng::keyed(self.seed, &[PHASE, WALK, u64::from(node), number as u64]);
        walk.clear();
        let mut at = node;
        for _ in 0..self.params.length {
            walk.push(at);
            let next = self.neighbours.of(at as usize);
            at = next[rng.below(next.len())];
        }
    }

    /// Batches of one walk from each node.
    fn batches_a_round(&self) -> usize {
        self.nodes.len().div_ceil(BATCH)
    }
}

/// The documents each document has links to or from, each once, rising.
fn neighbours(view: &View<'_>) -> Groups {
    let mut edges = Vec::with_capacity(2 * view.links.len());
    for link in &view.links {
        if let Some(source) = view.source_of(link) {
            edges.extend([(source, link.target), (link.target, source)]);
        }
    }
    edges.sort_unstable();
    edges.dedup();
    Groups::new(view.documents.len(), edges.iter().map(|&(from, to)| (from.index(), to.0)))
}

impl Phase for DeepWalk<'_> {
    fn name(&self) -> &'static str {
        "deepwalk"
    }

    fn unit(&self) -> &'static str {
        "steps"
    }

    fn epochs(&self) -> usize {
        self.params.epochs
    }

    fn batches(&self) -> usize {
        self.params.walks * self.batches_a_round()
    }

    fn epoch(&self, epoch: usize, start: usize, tables: &mut Tables, after: After<'_>) -> ControlFlow<()> {
        let params = self.params;
        let row = |node: u32| self.view.table_row_of_doc(DocRow(node));
        let total = (params.epochs * self.batches()) as u64;
        let mut learner = Learner::new(0, params.beyond, false, tables);
        let (mut walk, mut outputs, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        let mut order = (usize::MAX, Vec::new());
        for batch in start..self.batches() {
            let (round, part) = (batch / self.batches_a_round(), batch % self.batches_a_round());
            if order.0 != round {
                order = (round, self.nodes.clone());
                Rng::keyed(self.seed, &[PHASE, ORDER, round as u64]).shuffle(&mut order.1);
            }
            let rate = falling(params.rate, params.last_rate, (epoch * self.batches() + batch) as u64, total);
            let mut done = Done { batches: batch + 1, units: 0, loss: 0.0 };
            for &node in order.1.iter().skip(part * BATCH).take(BATCH) {
                self.walk(node, round, &mut walk);
                let key = [PHASE, WINDOW, epoch as u64, u64::from(node), round as u64];
                let mut rng = Rng::keyed(self.seed, &key);
                for (at, &target) in walk.iter().enumerate() {
                    let reach = 1 + rng.below(params.window);
                    self.tree.path(target, row, &mut outputs, &mut labels);
                    let before = &walk[at.saturating_sub(reach)..at];
                    let after = &walk[at + 1..walk.len().min(at + 1 + reach)];
                    for &near in before.iter().chain(after) {
                        done.loss += learner.learn_labelled(rate, &[row(near).0], &outputs, &labels, tables);
                    }
                }
                done.units += walk.len() as u64;
            }
            after(&done, tables)?;
        }
        ControlFlow::Continue(())
    }
}

/// A binary tree whose leaves lie the nearer to the root the more they count.
struct Huffman {
    /// For leaves, then inner nodes: twice the parent's number among the inner nodes, plus 1 for its second child.
    /// The root and leaves that count 0 have none.
    parents: Vec<OptionalNumber>,
    leaves: usize,
}

impl Huffman {
    /// A tree over the numbers of `counts`; those that count 0 are left out.
    fn new(counts: &[u64]) -> Huffman {
        let leaves = counts.len();
        let mut parents = vec![OptionalNumber::NONE; 2 * leaves];
        let mut order: Vec<u32> = (0..leaves as u32).filter(|&leaf| counts[leaf as usize] > 0).collect();
        order.sort_by_key(|&leaf| counts[leaf as usize]);
        // Two queues, each rising: leaves, and inner nodes as they are made. The two that count least are joined.
        let mut sums: Vec<u64> = Vec::with_capacity(order.len());
        let (mut leaf, mut inner) = (0, 0);
        for made in 0..order.len().saturating_sub(1) {
            let mut sum = 0;
            for side in 0..2 {
                let of_leaf = order.get(leaf).map(|&leaf| counts[leaf as usize]);
                let take_leaf = match (of_leaf, sums.get(inner)) {
                    (Some(count), Some(&sum)) => count <= sum,
                    (count, _) => count.is_some(),
                };
                let (node, count) = if take_leaf {
                    leaf += 1;
                    (order[leaf - 1] as usize, of_leaf.unwrap_or(0))
                } else {
                    inner += 1;
                    (leaves + inner - 1, sums[inner - 1])
                };
                parents[node] = OptionalNumber::some(2 * made as u32 + side);
                sum += count;
            }
            sums.push(sum);
        }
        Huffman { parents, leaves }
    }

    /// The inner nodes from a leaf to the root, by their rows, each with the label of the way that leads to the leaf: 1
    /// for first children, 0 for second ones.
    fn path(&self, leaf: u32, row: impl Fn(u32) -> TableRow, rows: &mut Vec<u32>, labels: &mut Vec<f32>) {
        rows.clear();
        labels.clear();
        let mut at = leaf as usize;
        while let Some(parent) = self.parents.get(at).and_then(|parent| parent.get()) {
            rows.push(row(parent / 2).0);
            labels.push(if parent % 2 == 0 { 1.0 } else { 0.0 });
            at = self.leaves + parent as usize / 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::OutOfRange;
    use crate::model::tables::Table;

    #[test]
    fn a_tree_by_hand() {
        // 1 + 1 = 2 (inner 0); 2 + 3 = 5 (inner 1); 5 + 9 (inner 2, the root)
        let tree = Huffman::new(&[9, 1, 0, 3, 1]);
        let path = |leaf| {
            let (mut rows, mut labels) = (vec![], vec![]);
            tree.path(leaf, |node| TableRow(100 + node), &mut rows, &mut labels);
            (rows, labels)
        };
        assert_eq!(path(1), (vec![100, 101, 102], vec![1.0, 1.0, 1.0]));
        assert_eq!(path(4), (vec![100, 101, 102], vec![0.0, 1.0, 1.0]));
        assert_eq!(path(3), (vec![101, 102], vec![0.0, 1.0]));
        assert_eq!(path(0), (vec![102], vec![0.0]));
        assert_eq!(path(2), (vec![], vec![]));
    }

    #[test]
    fn a_step_goes_against_the_slope_of_the_tree_s_loss() {
        const DIM: usize = 8;
        let tree = Huffman::new(&[9, 1, 0, 3, 1]);
        let (mut rows, mut labels) = (vec![], vec![]);
        tree.path(4, TableRow, &mut rows, &mut labels);
        let mut tables = Tables { input: Table::new(5, 0, DIM), output: Table::new(5, 0, DIM) };
        tables.input.fill(0..5, 1, 3, 1);
        tables.output.fill(0..5, 1, 3, 2);
        for (at, x) in tables.input.data_mut().iter_mut().chain(tables.output.data_mut()).enumerate() {
            *x += (at % 7) as f32 * 0.1 - 0.3;
        }
        let (before, rate) = (tables.copy().expect("room"), 1e-2);
        let loss = |t: &Tables| -> f64 {
            let score = |row: u32| {
                let pairs = t.input.row(3).iter().zip(t.output.row(row as usize));
                pairs.map(|(&x, &y)| f64::from(x) * f64::from(y)).sum::<f64>()
            };
            rows.iter()
                .zip(&labels)
                .map(|(&row, &label)| (score(row) * f64::from(1.0 - 2.0 * label)).exp().ln_1p())
                .sum()
        };
        let told = Learner::new(0, OutOfRange::Saturate, false, &tables).learn_labelled(
            rate,
            &[3],
            &rows,
            &labels,
            &mut tables,
        );
        assert!((told - loss(&before)).abs() < 1e-5, "{told}");
        for (output, table) in [(false, &tables.input), (true, &tables.output)] {
            for at in 0..5 * DIM {
                let by = |by: f32| {
                    let mut t = before.copy().expect("room");
                    let table = if output { &mut t.output } else { &mut t.input };
                    table.data_mut()[at] += by;
                    loss(&t)
                };
                let slope = (by(1e-2) - by(-1e-2)) / 2e-2;
                let from = if output { &before.output } else { &before.input };
                let moved = f64::from(table.data()[at] - from.data()[at]) / f64::from(rate);
                assert!((moved + slope).abs() < 1e-3, "{output} {at}: {moved}, not {}", -slope);
            }
        }
    }
}
