//! The axes along which vectors differ most: where a layout starts.

use rayon::prelude::*;

/// Rounds of the power method: far more than are needed where the axes differ at all.
const ROUNDS: usize = 200;

/// The place of each of `rows` on their two main axes, from their middle.
pub(super) fn main_axes(rows: &[&[f32]]) -> Vec<[f64; 2]> {
    let dim = rows.first().map_or(0, |row| row.len());
    let mut middle = vec![0.0; dim];
    for row in rows {
        middle.iter_mut().zip(*row).for_each(|(sum, &x)| *sum += f64::from(x));
    }
    middle.iter_mut().for_each(|sum| *sum /= rows.len().max(1) as f64);
    let centred = |row: &[f32], column: usize| f64::from(row[column]) - middle[column];
    let spread = (0..dim).into_par_iter().map(|i| {
        let mut sums = vec![0.0; dim];
        for row in rows {
            let x = centred(row, i);
            sums.iter_mut().enumerate().for_each(|(j, sum)| *sum += x * centred(row, j));
        }
        sums
    });
    let spread: Vec<Vec<f64>> = spread.collect();
    let mut axes: Vec<Vec<f64>> = Vec::new();
    for _ in 0..2 {
        // A start that is along no axis in particular.
        let mut axis: Vec<f64> = (0..dim).map(|i| 1.0 + (i * 7 % 11) as f64 / 10.0).collect();
        for _ in 0..ROUNDS {
            axis = spread.iter().map(|row| product(row, &axis)).collect();
            for other in &axes {
                let along = product(&axis, other);
                axis.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
            }
            let length = product(&axis, &axis).sqrt().max(1e-30);
            axis.iter_mut().for_each(|x| *x /= length);
        }
        axes.push(axis);
    }
    let along = |row: &[f32], axis: &[f64]| axis.iter().enumerate().map(|(i, a)| centred(row, i) * a).sum();
    rows.iter().map(|row| [along(row, &axes[0]), along(row, &axes[1])]).collect()
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_cloud_is_seen_from_its_broad_side() {
        // Wide along (1, 1, 0), less along (0, 0, 1), not at all along (1, -1, 0).
        let rows: Vec<[f32; 3]> = (0..100u8)
            .map(|i| {
                let (a, b) = (f32::from(i % 10) - 4.5, f32::from(i / 10) - 4.5);
                [3.0 * a + 7.0, 3.0 * a - 2.0, b]
            })
            .collect();
        let rows: Vec<&[f32]> = rows.iter().map(|row| row.as_slice()).collect();
        for (i, [x, y]) in main_axes(&rows).into_iter().enumerate() {
            let (a, b) = ((i % 10) as f64 - 4.5, (i / 10) as f64 - 4.5);
            assert!((x.abs() - (18f64.sqrt() * a).abs()).abs() < 1e-6, "{i}: {x}");
            assert!((y.abs() - b.abs()).abs() < 1e-6, "{i}: {y}");
        }
        assert!(main_axes(&[[1.0, 2.0].as_slice(); 3]).iter().flatten().all(|x| x.abs() < 1e-9));
        assert!(main_axes(&[]).is_empty());
    }
}
