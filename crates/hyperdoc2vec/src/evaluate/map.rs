//! A map of documents for the report: a part of them, with their most frequent labels.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::report::round;
use crate::corpus::view::View;
use crate::error::Result;
use crate::kernel::Matrix;
use crate::map::layout;
use crate::model::tables::Table;

/// Documents on a map, at the most.
const MOST: usize = 2000;
/// Labels that get a colour of their own.
const LABELS: usize = 8;
/// Evenly chosen documents with their places, and their labels that begin with `prefix`: the most frequent by number.
pub fn map(
    view: &View<'_>,
    table: &Table,
    dim: usize,
    prefix: &str,
    watch: &mut (dyn FnMut() -> ControlFlow<()> + Send),
) -> Result<Value> {
    let every = view.documents.len().div_ceil(MOST).max(1);
    let shown: Vec<usize> = (0..view.documents.len()).step_by(every).collect();
    let documents = table.documents();
    let rows: Vec<f32> = shown.iter().flat_map(|&document| &documents.row(document)[..dim]).copied().collect();
    let places = layout(Matrix::new(&rows, shown.len(), dim, dim), &mut |_| watch())?;
    let label = |document: usize| view.corpus.labels(view.documents[document]).find(|label| label.starts_with(prefix));
    let mut counts = BTreeMap::<&str, usize>::new();
    shown.iter().filter_map(|&document| label(document)).for_each(|label| *counts.entry(label).or_default() += 1);
    let mut labels: Vec<(&str, usize)> = counts.into_iter().collect();
    labels.sort_by_key(|&(label, count)| (std::cmp::Reverse(count), label));
    let labels: Vec<&str> = labels.into_iter().take(LABELS).map(|(label, _)| label).collect();
    let point = |(&document, [x, y]): (&usize, [f32; 2])| {
        let doc = view.documents[document];
        json!({
            "x": round(x.into()),
            "y": round(y.into()),
            "label": label(document).and_then(|label| labels.iter().position(|other| *other == label)),
            "title": view.corpus.title(doc).unwrap_or(view.corpus.name(doc)),
        })
    };
    Ok(json!({"labels": labels, "points": shown.iter().zip(places).map(point).collect::<Vec<Value>>()}))
}
