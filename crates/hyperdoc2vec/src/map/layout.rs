//! Vectors on a plane, with near ones near: t-SNE (van der Maaten and Hinton), started on the main axes.
//!
//! Documents that belong together (see [`super::affinities`]) pull each other, all push each other (see [`super::tree`]).
//! Every sum runs in a fixed order, so that any number of threads gives the same bits.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::affinities::Affinities;
use super::axes::main_axes;
use super::tree::Quadtree;
use crate::error::{Error, Result};
use crate::kernel::{Matrix, scale, sum_of_squares};
use crate::rng::Rng;
use crate::search::rank::top_batch;

/// Documents that are laid out, at the most; others are put between those of them that they are nearest to.
const MAX_LAID_OUT: usize = 40_000;
/// How many those are.
const BETWEEN: usize = 5;
/// Gradient steps, and the first of them, with exaggerated affinities.
const STEPS: usize = 600;
const EXAGGERATED_STEPS: usize = 150;
/// How much larger their affinities are then: early exaggeration.
const EARLY_EXAGGERATION: f32 = 12.0;

/// Hears what share of the work is done, and may stop it.
pub type MapWatch<'a> = &'a mut (dyn FnMut(f32) -> ControlFlow<()> + Send);

/// A place for each row, from −1 to 1 on both axes. Rows of zeros, of which nothing is known, stand together in a corner.
pub fn layout(vectors: Matrix<'_>, watch: MapWatch<'_>) -> Result<Vec<[f32; 2]>> {
    layout_of(vectors, MAX_LAID_OUT, watch)
}

fn layout_of(vectors: Matrix<'_>, most: usize, watch: MapWatch<'_>) -> Result<Vec<[f32; 2]>> {
    let dim = vectors.cols();
    let length = |row: usize| sum_of_squares(vectors.row(row)).sqrt();
    let known: Vec<usize> = (0..vectors.rows()).filter(|&row| length(row).is_finite() && length(row) > 1e-12).collect();
    let unit = |rows: &[usize]| -> Vec<f32> {
        let mut unit: Vec<f32> = rows.iter().flat_map(|&row| vectors.row(row)).copied().collect();
        unit.chunks_mut(dim.max(1)).zip(rows).for_each(|(unit, &row)| scale(1.0 / length(row), unit));
        unit
    };
    let mut chosen = known.clone();
    if known.len() > most {
        // At random: regular steps could follow a rule of the collection's order, and miss whole groups.
        Rng::keyed(1, &[]).shuffle(&mut chosen);
        chosen.truncate(most);
        chosen.sort_unstable();
    }
    let others: Vec<usize> = known.iter().copied().filter(|row| chosen.binary_search(row).is_err()).collect();
    let rows = unit(&chosen);
    let rows = Matrix::new(&rows, chosen.len(), dim, dim);
    let laid = descend(rows, watch)?;
    let mut places = vec![[0.0; 2]; vectors.rows()];
    chosen.iter().zip(&laid).for_each(|(&row, &place)| places[row] = place);
    for block in others.chunks(most.max(1)) {
        let queries = unit(block);
        let hits = top_batch(Matrix::new(&queries, block.len(), dim, dim), rows, BETWEEN, |_, _| true);
        for (&row, hits) in block.iter().zip(hits) {
            // The middle one on each axis: a far one among the nearest does not count.
            places[row] = [0, 1].map(|axis| {
                let mut near: Vec<f32> = hits.iter().map(|hit| laid[hit.row as usize][axis]).collect();
                near.sort_by(f32::total_cmp);
                near.get(near.len() / 2).copied().unwrap_or_default()
                    + 0.002 * (Rng::keyed(2, &[axis as u64, row as u64]).unit() - 0.5)
            });
        }
    }
    let unknown = (0..vectors.rows()).filter(|row| known.binary_search(row).is_err());
    for (number, row) in unknown.enumerate() {
        let mut rng = Rng::keyed(3, &[number as u64]);
        places[row] = [0, 1].map(|_| -1.0 + 0.1 * rng.unit());
    }
    Ok(places)
}

/// A document on its way.
#[derive(Clone, Copy)]
struct Moving {
    place: [f32; 2],
    velocity: [f32; 2],
    gain: [f32; 2],
}

/// Lets all documents find their places.
fn descend(rows: Matrix<'_>, watch: MapWatch<'_>) -> Result<Vec<[f32; 2]>> {
    let count = rows.rows();
    let affinities = Affinities::new(rows);
    let mut moving = start(rows);
    let learning_rate = (count as f32 / EARLY_EXAGGERATION).max(12.0);
    for step in 0..STEPS {
        // Finding the nearest takes about as long as a tenth of the steps.
        if watch((step as f32 + 0.1 * STEPS as f32) / (1.1 * STEPS as f32)).is_break() {
            return Err(Error::Interrupted);
        }
        let (exaggeration, momentum) = if step < EXAGGERATED_STEPS { (EARLY_EXAGGERATION, 0.5) } else { (1.0, 0.8) };
        let places: Vec<[f32; 2]> = moving.iter().map(|document| document.place).collect();
        let pushes = Quadtree::new(&places).pushes();
        let total = pushes.iter().map(|push| f64::from(push[2])).sum::<f64>().max(1e-12) as f32;
        moving.par_iter_mut().zip(&pushes).enumerate().with_min_len(256).for_each(|(number, (document, push))| {
            let [x, y] = document.place;
            let mut pull = [0.0; 2];
            for &(other, weight) in affinities.of(number) {
                let [ox, oy] = places[other as usize];
                let (dx, dy) = (x - ox, y - oy);
                let q = weight / (1.0 + dx * dx + dy * dy);
                pull[0] += q * dx;
                pull[1] += q * dy;
            }
            for axis in 0..2 {
                let slope = 4.0 * (exaggeration * pull[axis] - push[axis] / total);
                let (velocity, gain) = (&mut document.velocity[axis], &mut document.gain[axis]);
                // Larger steps as long as they go one way.
                *gain = if (slope > 0.0) == (*velocity > 0.0) { (*gain * 0.8).max(0.01) } else { *gain + 0.2 };
                *velocity = momentum * *velocity - learning_rate * *gain * slope;
                document.place[axis] += *velocity;
            }
        });
        centre(&mut moving);
    }
    let most = moving.iter().flat_map(|document| document.place).fold(1e-12, |most: f32, x| most.max(x.abs()));
    Ok(moving.iter().map(|document| document.place.map(|x| x / most)).collect())
}

/// All close together as seen along the main axes, and a little off, so that equal documents part.
fn start(rows: Matrix<'_>) -> Vec<Moving> {
    let axes = main_axes(&(0..rows.rows()).map(|row| rows.row(row)).collect::<Vec<_>>());
    let width = (axes.iter().map(|[x, _]| x * x).sum::<f64>() / axes.len().max(1) as f64).sqrt().max(1e-12);
    let moving = axes.iter().enumerate().map(|(row, place)| {
        let mut rng = Rng::keyed(0, &[row as u64]);
        let place = place.map(|x| 1e-4 * ((x / width) as f32 + 0.01 * (rng.unit() - 0.5)));
        Moving { place, velocity: [0.0; 2], gain: [1.0; 2] }
    });
    moving.collect()
}

fn centre(moving: &mut [Moving]) {
    for axis in 0..2 {
        let sum: f64 = moving.iter().map(|document| f64::from(document.place[axis])).sum();
        let mean = (sum / moving.len().max(1) as f64) as f32;
        moving.iter_mut().for_each(|document| document.place[axis] -= mean);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(_: f32) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Vectors around `groups` centres, one after the other.
    fn clumps(count: usize, groups: usize, dim: usize) -> Vec<f32> {
        let mut rng = Rng::keyed(3, &[]);
        let centres: Vec<f32> = (0..groups * dim).map(|_| rng.unit() - 0.5).collect();
        let row = |i: usize| i % groups * dim..(i % groups + 1) * dim;
        (0..count)
            .flat_map(|i| centres[row(i)].iter().map(|x| x + 0.4 * (rng.unit() - 0.5)).collect::<Vec<_>>())
            .collect()
    }

    /// The share of rows whose nearest on the map is of their group.
    fn pure(places: &[[f32; 2]], groups: usize) -> f64 {
        let nearest = |i: usize| {
            let far = |j: &usize| (places[i][0] - places[*j][0]).hypot(places[i][1] - places[*j][1]);
            (0..places.len()).filter(|&j| j != i).min_by(|a, b| far(a).total_cmp(&far(b))).expect("others")
        };
        (0..places.len()).filter(|&i| nearest(i) % groups == i % groups).count() as f64 / places.len() as f64
    }

    #[test]
    fn what_belongs_together_is_put_together() {
        let rows = clumps(600, 12, 20);
        let places = layout(Matrix::new(&rows, 600, 20, 20), &mut watch).expect("laid out");
        assert!(pure(&places, 12) > 0.98, "{}", pure(&places, 12));
        let most = places.iter().flatten().fold(0.0f32, |most, x| most.max(x.abs()));
        assert!((most - 1.0).abs() < 1e-6, "{most}");
        // Those beyond the most that are laid out find their groups too.
        let places = layout_of(Matrix::new(&rows, 600, 20, 20), 250, &mut watch).expect("laid out");
        assert!(pure(&places, 12) > 0.95, "{}", pure(&places, 12));
    }

    #[test]
    fn any_number_of_threads_gives_the_same_map() {
        let rows = clumps(700, 5, 10);
        let map = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| layout_of(Matrix::new(&rows, 700, 10, 10), 500, &mut watch)).expect("laid out")
        };
        assert!(map(1) == map(3));
    }

    #[test]
    fn few_equal_and_unknown_vectors_have_places() {
        let place = |rows: &[f32], dim: usize| {
            let places = layout(Matrix::new(rows, rows.len() / dim, dim, dim), &mut watch).expect("laid out");
            assert!(places.iter().flatten().all(|x| x.abs() <= 1.001), "{places:?}");
            places
        };
        assert!(place(&[], 3).is_empty());
        assert_eq!(place(&[1.0, 2.0, 3.0], 3).len(), 1);
        assert_ne!(place(&[1.0, 0.0, 0.0, 1.0], 2)[0], place(&[1.0, 0.0, 0.0, 1.0], 2)[1]);
        place(&[1.0; 40], 1);
        let equal = place(&[0.5; 300], 3);
        assert!(equal.iter().any(|place| *place != equal[0]), "equal documents part");
        let mixed = place(&[1.0, 0.0, 0.0, 0.0, f32::NAN, 1.0, 0.0, 1.0, 1.0, 1.0], 2);
        assert!(mixed[1].iter().chain(&mixed[2]).all(|&x| x < -0.89), "in the corner: {mixed:?}");
    }

    #[test]
    fn the_watching_closure_stops_it() {
        let rows = clumps(100, 2, 4);
        let mut heard = Vec::new();
        let stopped = layout(Matrix::new(&rows, 100, 4, 4), &mut |done| {
            heard.push(done);
            if heard.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        assert!(matches!(stopped, Err(Error::Interrupted)));
        assert!(heard.len() == 3 && heard.is_sorted() && heard[0] >= 0.0);
    }
}
