//! A map of documents: their vectors on the two axes along which they differ most.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::report::round;
use crate::train::table::Table;
use crate::train::view::View;

/// Documents on a map, at the most.
const MOST: usize = 2000;
/// Labels that are told apart.
const LABELS: usize = 8;
/// Rounds of the power method: far more than are needed where the axes differ at all.
const ROUNDS: usize = 200;

/// Centres `rows`, and returns the place of each on their two main axes.
fn main_axes(mut rows: Vec<Vec<f64>>) -> Vec<(f64, f64)> {
    let dim = rows.first().map_or(0, Vec::len);
    let count = rows.len().max(1) as f64;
    for column in 0..dim {
        let mean = rows.iter().map(|row| row[column]).sum::<f64>() / count;
        rows.iter_mut().for_each(|row| row[column] -= mean);
    }
    let mut axes: Vec<Vec<f64>> = Vec::new();
    for _ in 0..2 {
        // A start that is along no axis in particular.
        let mut axis: Vec<f64> = (0..dim).map(|i| 1.0 + (i as f64 * 0.7).sin()).collect();
        for _ in 0..ROUNDS {
            for other in &axes {
                let along: f64 = axis.iter().zip(other).map(|(a, b)| a * b).sum();
                axis.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
            }
            let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-30);
            axis.iter_mut().for_each(|x| *x /= length);
            let mut next = vec![0.0; dim];
            for row in &rows {
                let product: f64 = row.iter().zip(&axis).map(|(a, b)| a * b).sum();
                next.iter_mut().zip(row).for_each(|(sum, x)| *sum += product * x);
            }
            axis = next;
        }
        let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-30);
        axis.iter_mut().for_each(|x| *x /= length);
        axes.push(axis);
    }
    let along = |row: &Vec<f64>, axis: &Vec<f64>| row.iter().zip(axis).map(|(a, b)| a * b).sum();
    rows.iter().map(|row| (along(row, &axes[0]), along(row, &axes[1]))).collect()
}

/// Evenly chosen documents with their places, and their labels that begin with `prefix`: the most frequent by number.
pub fn map(view: &View<'_>, table: &Table, dim: usize, prefix: &str) -> Value {
    let every = view.documents.len().div_ceil(MOST).max(1);
    let shown: Vec<usize> = (0..view.documents.len()).step_by(every).collect();
    let unit = |&document: &usize| {
        let row = &table.row(view.words.len() + document)[..dim];
        let length = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt().max(1e-12);
        row.iter().map(|&x| f64::from(x) / length).collect()
    };
    let places = main_axes(shown.iter().map(unit).collect());
    let label = |document: usize| view.corpus.labels(view.documents[document]).find(|label| label.starts_with(prefix));
    let mut counts = BTreeMap::<&str, usize>::new();
    shown.iter().filter_map(|&document| label(document)).for_each(|label| *counts.entry(label).or_default() += 1);
    let mut labels: Vec<(&str, usize)> = counts.into_iter().collect();
    labels.sort_by_key(|&(label, count)| (std::cmp::Reverse(count), label));
    let labels: Vec<&str> = labels.into_iter().take(LABELS).map(|(label, _)| label).collect();
    let point = |(&document, (x, y)): (&usize, (f64, f64))| {
        let doc = view.documents[document];
        json!({
            "x": round(x),
            "y": round(y),
            "label": label(document).and_then(|label| labels.iter().position(|other| *other == label)),
            "title": view.corpus.title(doc).unwrap_or(view.corpus.name(doc)),
        })
    };
    json!({"labels": labels, "points": shown.iter().zip(places).map(point).collect::<Vec<Value>>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_cloud_is_seen_from_its_broad_side() {
        // Wide along (1, 1, 0), less along (0, 0, 1), not at all along (1, -1, 0).
        let rows: Vec<Vec<f64>> = (0..100)
            .map(|i| {
                let (a, b) = (f64::from(i % 10) - 4.5, f64::from(i / 10) - 4.5);
                vec![3.0 * a + 7.0, 3.0 * a - 2.0, b]
            })
            .collect();
        for (i, (x, y)) in main_axes(rows).into_iter().enumerate() {
            let (a, b) = ((i % 10) as f64 - 4.5, (i / 10) as f64 - 4.5);
            assert!((x.abs() - (18f64.sqrt() * a).abs()).abs() < 1e-6, "{i}: {x}");
            assert!((y.abs() - b.abs()).abs() < 1e-6, "{i}: {y}");
        }
        assert!(main_axes(vec![vec![1.0, 2.0]; 3]).iter().all(|&(x, y)| x.abs() < 1e-9 && y.abs() < 1e-9));
        assert!(main_axes(Vec::new()).is_empty());
    }
}
