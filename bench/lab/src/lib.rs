//! Measurements that several experiments share.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use hyperdoc2vec::corpus::Split;
use hyperdoc2vec::internals::corpus::view::View;
use hyperdoc2vec::internals::corpus::window::NearWord;
use hyperdoc2vec::internals::id::WordRow;
use hyperdoc2vec::internals::kernel::{Matrix, MatrixMut, Panels, Start, gather_sum, multiply, pack_transposed};
use hyperdoc2vec::internals::model::tables::{Table, Tables};
use hyperdoc2vec::internals::model::weighting::Weighting;

/// CPU seconds of this process so far, over all its threads (Linux).
pub fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // After the name in brackets: user and system time are the 12th and 13th, in hundredths.
    let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

/// Scores of each row of `table` with each of `queries`: `scores[row * queries + query]`.
fn scores(table: &[f32], queries: &[f32], stride: usize) -> Vec<f32> {
    let (rows, asked) = (table.len() / stride, queries.len() / stride);
    let mut scratch = vec![0.0; Panels::len(stride, asked)];
    let panels = pack_transposed(Matrix::new(queries, asked, stride, stride), &mut scratch);
    let mut scores = vec![0f32; rows * asked];
    multiply(
        Matrix::new(table, rows, stride, stride),
        panels,
        MatrixMut::new(&mut scores, rows, asked, asked),
        Start::Zero,
    );
    scores
}

/// Recall@10 at the positions of test documents, by the words around each (word IN · document OUT); `source` weighs the
/// mean of the source's words beside them.
pub fn recall(
    view: &View<'_>,
    split: &Split,
    tables: &Tables,
    window: usize,
    weighting: &Weighting,
    source: f32,
) -> f64 {
    let queries = split.queries(view.corpus);
    let Tables { input, output } = tables;
    let stride = input.stride();
    let documents = output.halves().1;
    let mut found = 0.0;
    for block in queries.chunks(256) {
        let mut x = vec![0f32; block.len() * stride];
        for (query, row) in block.iter().zip(x.chunks_mut(stride)) {
            let words: Vec<NearWord> = view.window_at(query.position, window).collect();
            let mut rows: Vec<WordRow> = words.iter().map(|word| word.row).collect();
            let mut weights = weighting.of_window(&words);
            if source > 0.0 {
                let text = view.corpus.words(view.corpus.position(query.position).source);
                let known: Vec<WordRow> = view.known(text).collect();
                weights.extend(weighting.of_text(&known).iter().map(|weight| source * weight));
                rows.extend(known);
            }
            gather_sum(input.words(), WordRow::numbers(&rows), &weights, row);
        }
        let scores = scores(documents, &x, stride);
        for (i, query) in block.iter().enumerate() {
            let score = |document: usize| scores[document * block.len() + i];
            let hits = query.truths.iter().filter(|&&truth| {
                let truth = view.document_row(truth).unwrap().index();
                let better =
                    |&other: &usize| score(other) > score(truth) || (score(other) == score(truth) && other < truth);
                (0..view.documents.len()).filter(better).count() < 10
            });
            found += hits.count() as f64 / query.truths.len() as f64;
        }
    }
    found / queries.len() as f64
}

/// Calls `each` with the ten nearest by cosine for every fifth document that `wanted` admits.
fn nearest(
    view: &View<'_>,
    table: &Table,
    wanted: impl Fn(usize) -> bool,
    mut each: impl FnMut(usize, &[(f32, usize)]),
) {
    let stride = table.stride();
    let mut unit = table.halves().1.to_vec();
    for row in unit.chunks_mut(stride) {
        let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-12);
        row.iter_mut().for_each(|x| *x /= norm);
    }
    let documents = view.documents.len();
    let asked: Vec<usize> = (0..documents).filter(|&document| wanted(document)).step_by(5).collect();
    for block in asked.chunks(256) {
        let queries: Vec<f32> = block.iter().flat_map(|&i| unit[i * stride..][..stride].to_vec()).collect();
        let scores = scores(&unit, &queries, stride);
        for (i, &document) in block.iter().enumerate() {
            let others = (0..documents).filter(|&other| other != document);
            let mut near: Vec<(f32, usize)> = others.map(|other| (-scores[other * block.len() + i], other)).collect();
            near.select_nth_unstable_by(9, |a, b| a.partial_cmp(b).unwrap());
            each(document, &near[..10]);
        }
    }
}

/// The share of a document's link partners among its ten nearest.
pub fn partners(view: &View<'_>, table: &Table) -> f64 {
    let mut linked = vec![BTreeSet::new(); view.documents.len()];
    for link in &view.links {
        let (source, target) = (view.source_of(link).unwrap().index(), link.target.index());
        linked[source].insert(target);
        linked[target].insert(source);
    }
    let (mut found, mut total) = (0, 0);
    nearest(
        view,
        table,
        |document| !linked[document].is_empty(),
        |document, near| {
            found += near.iter().filter(|(_, other)| linked[document].contains(other)).count();
            total += linked[document].len().min(10);
        },
    );
    found as f64 / total as f64
}

/// The share of documents with exactly one label whose ten nearest mostly have that label; `None` if there are none.
pub fn labels(view: &View<'_>, table: &Table) -> Option<f64> {
    let label = |document: usize| match view.corpus.label_ids(view.documents[document]) {
        &[label] => Some(label),
        _ => None,
    };
    let (mut right, mut total) = (0, 0);
    nearest(
        view,
        table,
        |document| label(document).is_some(),
        |document, near| {
            let mut votes = BTreeMap::new();
            near.iter().filter_map(|&(_, other)| label(other)).for_each(|label| *votes.entry(label).or_insert(0) += 1);
            let best = votes.iter().max_by_key(|&(_, count)| count).map(|(&label, _)| label);
            right += usize::from(best == label(document));
            total += 1;
        },
    );
    (total > 0).then(|| f64::from(right as u32) / f64::from(total))
}
