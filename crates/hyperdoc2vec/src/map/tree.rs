//! The repulsion of all points of a map, with far groups of points taken as one: a quadtree (Barnes and Hut).

use rayon::prelude::*;

use crate::kernel::{POINTS, Push, Pusher, repel};

/// A square is taken as one point if its side is less than this share of its distance.
const FAR: f32 = 0.7;
/// Halvings of the square around all points.
const LEVELS: u32 = 16;

/// A square with points in it, followed by the squares in it.
struct QuadCell {
    middle: Pusher,
    side: f32,
    /// The points, in the order of the tree.
    first: usize,
    end: usize,
    /// Where the squares in it end; itself if it has none.
    next: usize,
}

/// Points in squares.
pub(super) struct Quadtree {
    cells: Vec<QuadCell>,
    /// The points by square, and then by number.
    points: Vec<Pusher>,
    numbers: Vec<u32>,
}

impl Quadtree {
    pub(super) fn new(places: &[[f32; 2]]) -> Quadtree {
        let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
        for place in places {
            for axis in 0..2 {
                low[axis] = low[axis].min(place[axis]);
                high[axis] = high[axis].max(place[axis]);
            }
        }
        let side = (high[0] - low[0]).max(high[1] - low[1]).max(f32::MIN_POSITIVE);
        let most = ((1u32 << LEVELS) - 1) as f32;
        let step = |x: f32, axis: usize| spread(((x - low[axis]) / side * most) as u32);
        let mut order: Vec<(u32, u32)> =
            (0u32..).zip(places).map(|(number, &[x, y])| (step(x, 0) | step(y, 1) << 1, number)).collect();
        order.par_sort_unstable();
        let numbers: Vec<u32> = order.iter().map(|&(_, number)| number).collect();
        let points = numbers.iter().map(|&number| Pusher { place: places[number as usize], mass: 1.0 }).collect();
        let codes: Vec<u32> = order.into_iter().map(|(code, _)| code).collect();
        let mut tree = Quadtree { cells: Vec::new(), points, numbers };
        tree.divide(&codes, 0, codes.len(), LEVELS, side);
        tree
    }

    fn divide(&mut self, codes: &[u32], first: usize, end: usize, level: u32, side: f32) {
        let number = self.cells.len();
        let middle = middle(&self.points[first..end]);
        self.cells.push(QuadCell { middle, side, first, end, next: number + 1 });
        if end - first <= POINTS || level == 0 {
            return;
        }
        let mut start = first;
        while start < end {
            let quarter = |code: u32| code >> (2 * (level - 1));
            let same = quarter(codes[start]);
            let stop = start + codes[start..end].partition_point(|&code| quarter(code) == same);
            self.divide(codes, start, stop, level - 1, side / 2.0);
            start = stop;
        }
        self.cells[number].next = self.cells.len();
    }

    /// For each point, by its number: `Σ q² (point − other)` on both axes, and `Σ q`, over all others, with
    /// q = 1 / (1 + distance²).
    pub(super) fn pushes(&self) -> Vec<[f32; 3]> {
        let leaves: Vec<&QuadCell> = self
            .cells
            .iter()
            .enumerate()
            .filter(|(number, cell)| cell.next == number + 1)
            .map(|(_, cell)| cell)
            .collect();
        let pushes = leaves.par_iter().with_min_len(16).flat_map_iter(|leaf| {
            let points = &self.points[leaf.first..leaf.end];
            let pushers = self.pushers(points);
            points.chunks(POINTS).flat_map(move |points| {
                let (mut x, mut y) = ([0.0; POINTS], [0.0; POINTS]);
                for (point, (x, y)) in points.iter().zip(x.iter_mut().zip(&mut y)) {
                    [*x, *y] = point.place;
                }
                let mut push = Push::default();
                repel(&x, &y, &pushers, &mut push);
                // A point does not push itself: that is q = 1 less.
                (0..points.len()).map(move |i| [push.x[i], push.y[i], push.q[i] - 1.0])
            })
        });
        let pushes: Vec<[f32; 3]> = pushes.collect();
        let mut out = vec![[0.0; 3]; pushes.len()];
        self.numbers.iter().zip(pushes).for_each(|(&number, push)| out[number as usize] = push);
        out
    }

    /// The pushers of a group of points: far squares, and the points of near ones.
    fn pushers(&self, group: &[Pusher]) -> Vec<Pusher> {
        let [x, y] = middle(group).place;
        let far = |&[px, py]: &[f32; 2]| ((px - x) * (px - x) + (py - y) * (py - y)).sqrt();
        let radius = group.iter().map(|point| far(&point.place)).fold(0.0, f32::max);
        let (mut pushers, mut number) = (Vec::with_capacity(256), 0);
        while let Some(cell) = self.cells.get(number) {
            if cell.side < FAR * (far(&cell.middle.place) - radius) {
                pushers.push(cell.middle);
                number = cell.next;
            } else {
                if cell.next == number + 1 {
                    pushers.extend_from_slice(&self.points[cell.first..cell.end]);
                }
                number += 1;
            }
        }
        pushers
    }
}

/// All points as one.
fn middle(points: &[Pusher]) -> Pusher {
    let mut sum = [0.0f64; 2];
    for point in points {
        sum[0] += f64::from(point.place[0]);
        sum[1] += f64::from(point.place[1]);
    }
    let count = points.len().max(1) as f64;
    Pusher { place: sum.map(|sum| (sum / count) as f32), mass: points.len() as f32 }
}

/// The bits of a number below 2^16, with a 0 before each.
fn spread(x: u32) -> u32 {
    let x = (x | x << 8) & 0x00ff_00ff;
    let x = (x | x << 4) & 0x0f0f_0f0f;
    let x = (x | x << 2) & 0x3333_3333;
    (x | x << 1) & 0x5555_5555
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// The sums as they are defined.
    fn exact(places: &[[f32; 2]]) -> Vec<[f32; 3]> {
        let one = |i: usize| {
            let mut sums = [0.0; 3];
            for (j, other) in places.iter().enumerate().filter(|&(j, _)| j != i) {
                let d = [places[i][0] - other[0], places[i][1] - other[1]];
                let q = 1.0 / (1.0 + d[0] * d[0] + d[1] * d[1]);
                assert!(j != i);
                [q * q * d[0], q * q * d[1], q].iter().zip(&mut sums).for_each(|(add, sum)| *sum += add);
            }
            sums
        };
        (0..places.len()).map(one).collect()
    }

    #[test]
    fn far_points_as_one_push_nearly_as_each_by_itself() {
        let mut rng = Rng::keyed(1, &[]);
        // Clumps of different density.
        let places: Vec<[f32; 2]> = (0..3000)
            .map(|i| {
                let (clump, width) = ((i % 7) as f32 * 12.0, 0.1 + (i % 5) as f32);
                [clump + width * rng.unit(), clump * 0.3 + width * rng.unit()]
            })
            .collect();
        let (found, exact) = (Quadtree::new(&places).pushes(), exact(&places));
        let length = |push: &[f32; 3]| push[0].hypot(push[1]);
        let mean = exact.iter().map(length).sum::<f32>() / 3000.0;
        let wrong = |(a, b): (&[f32; 3], &[f32; 3])| (a[0] - b[0]).hypot(a[1] - b[1]);
        let error = found.iter().zip(&exact).map(wrong).sum::<f32>() / 3000.0;
        assert!(error < 0.02 * mean, "{error} of {mean}");
        let sums = [&found, &exact].map(|pushes| pushes.iter().map(|push| push[2]).sum::<f32>());
        assert!((sums[0] / sums[1] - 1.0).abs() < 0.01, "{sums:?}");
    }

    #[test]
    fn many_points_at_one_place_do_not_push_each_other() {
        let pushes = Quadtree::new(&[[2.5, -1.0]; 100]).pushes();
        assert!(pushes.iter().all(|&[x, y, q]| x == 0.0 && y == 0.0 && (q - 99.0).abs() < 1e-3), "{:?}", pushes[0]);
        assert!(Quadtree::new(&[]).pushes().is_empty());
        assert_eq!(Quadtree::new(&[[1.0, 1.0]]).pushes(), [[0.0; 3]]);
    }
}
