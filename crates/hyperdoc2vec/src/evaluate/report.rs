//! The figures of methods: means with intervals, breakdowns, paired tests.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::{Map, Value, json};
use strum::VariantArray;

use super::links::{HeldOutLinks, MethodPlaces};
use super::metrics::{Profile, average_precision, ndcg, recall, reciprocal_rank};
use super::stats::{Comparison, Estimate, compare, estimate, holm};
use crate::corpus::split::{HeldOutLink, Split, SplitPart};
use crate::corpus::view::View;
use crate::search::ranker::{CalibrationBin, bins_json, expected_error};

/// The cut of the paper's tables.
pub(crate) const CUT: usize = 10;
/// Numbers of hits.
pub(crate) const CURVE: [usize; 15] = [1, 5, 10, 20, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000];
/// Targets by how many training links point at them: from, to.
const LINK_BINS: [(usize, usize); 5] = [(0, 0), (1, 2), (3, 9), (10, 29), (30, usize::MAX)];
/// Labels of fewer targets are left out.
const LEAST_LABEL: usize = 10;
/// So are all labels but the most frequent ones.
const MOST_LABELS: usize = 20;

/// Some of the truths, question by question, as one line of a breakdown has them.
struct Breakdown {
    name: String,
    /// Questions, and which of their truths.
    questions: Vec<(usize, Vec<usize>)>,
}

/// The places that methods gave the truths of held-out links.
#[derive(Clone, Copy)]
pub struct Findings<'a> {
    view: &'a View<'a>,
    split: &'a Split,
    asked: &'a HeldOutLinks,
    cells: &'a [MethodPlaces],
    seed: u64,
}

impl<'a> Findings<'a> {
    /// The places of `asked`, method by method; `seed` is that of the resampling.
    pub fn new(
        view: &'a View<'a>,
        split: &'a Split,
        asked: &'a HeldOutLinks,
        cells: &'a [MethodPlaces],
        seed: u64,
    ) -> Findings<'a> {
        Findings { view, split, asked, cells, seed }
    }

    /// With the places of other methods for the same links.
    pub fn with_cells(self, cells: &'a [MethodPlaces]) -> Findings<'a> {
        Findings { cells, ..self }
    }
}

/// Figures that need no method: how much was asked.
pub fn split_json(view: &View<'_>, split: &Split, asked: &HeldOutLinks) -> Value {
    let newcomer = |query: &&HeldOutLink| query.truths.iter().any(|&truth| split.is_newcomer(truth));
    json!({
        "training_documents": view.documents.len(),
        "training_links": view.links.len(),
        "test_documents": split.documents(SplitPart::Test).count(),
        "unused_documents": split.documents(SplitPart::Unused).count(),
        "positions": asked.queries.len(),
        "truths": asked.truths.len(),
        "multi_truth_positions": asked.queries.iter().filter(|query| query.truths.len() > 1).count(),
        "newcomer_positions": asked.queries.iter().filter(newcomer).count(),
    })
}

/// The paper's Table 3 of a split: documents, links and first and last date of training, test and both. Links of test
/// documents count if they point at training documents.
pub fn data_json(view: &View<'_>, split: &Split) -> Value {
    let part = |parts: &[SplitPart], links: usize| {
        let documents = || parts.iter().flat_map(|&part| split.documents(part));
        let dates = || documents().filter_map(|doc| view.corpus.date(doc));
        json!({
            "documents": documents().count(),
            "links": links,
            "dates": dates().min().zip(dates().max()).map(|(first, last)| [first.to_string(), last.to_string()]),
        })
    };
    let train = view.links.len();
    let test = split.queries(view.corpus).iter().map(|query| query.truths.len()).sum::<usize>();
    json!({
        "train": part(&[SplitPart::Training], train),
        "test": part(&[SplitPart::Test], test),
        "total": part(&[SplitPart::Training, SplitPart::Test], train + test),
    })
}

/// The value of every question.
fn each(asked: &HeldOutLinks, cell: &MethodPlaces, value: impl Fn(&[u32], usize) -> f64) -> Vec<f64> {
    let found = |range: std::ops::Range<usize>| {
        let truths = range.len();
        let mut places: Vec<u32> = cell.places[range].iter().copied().filter(|&place| place > 0).collect();
        places.sort_unstable();
        value(&places, truths)
    };
    asked.ranges().map(found).collect()
}

/// The test document of each question.
fn groups(view: &View<'_>, asked: &HeldOutLinks) -> Vec<u32> {
    asked.queries.iter().map(|query| view.corpus.position(query.position).source.0).collect()
}

fn estimate_json(estimate: &Estimate) -> Value {
    json!([round(estimate.low), round(estimate.high)])
}

/// Rounds to six digits: more than any sample can support.
pub(super) fn round(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

/// The figures of every method, beside each other; `functions`, where they are known, are names and the number of one
/// for each question.
pub fn methods_json(of: &Findings<'_>, profile: Profile, functions: Option<(&[String], &[u32])>) -> Vec<Value> {
    let &Findings { view, split, asked, cells, seed } = of;
    let groups = groups(view, asked);
    let parts = parts(view, split, asked, functions);
    let with_newcomer = positions_with_newcomer(view, split, asked);
    cells
        .iter()
        .map(|cell| {
            let mut out = Map::new();
            let mut intervals = Map::new();
            out.insert("method".to_owned(), json!(cell.method));
            let mut put = |name: &str, values: Vec<f64>| {
                let estimate = estimate(&values, &groups, seed);
                out.insert(name.to_owned(), json!(round(estimate.mean)));
                intervals.insert(name.to_owned(), estimate_json(&estimate));
            };
            for (name, metric) in metrics(profile) {
                put(name, each(asked, cell, metric));
            }
            out.insert("interval".to_owned(), Value::Object(intervals));
            let maps = Profile::VARIANTS.iter().map(|&profile| {
                let values = each(asked, cell, |places, truths| average_precision(places, truths, CUT, profile));
                (profile.name().to_owned(), json!(round(mean(&values))))
            });
            out.insert("map@10_by_profile".to_owned(), Value::Object(Map::from_iter(maps)));
            let curve = CURVE.map(|cut| {
                let values = each(asked, cell, |places, truths| recall(places, truths, cut));
                json!([cut, round(mean(&values))])
            });
            out.insert("recall_curve".to_owned(), json!(curve));
            out.insert("positions".to_owned(), json!(asked.queries.len()));
            out.insert("newcomer_positions".to_owned(), with_newcomer_json(of, &with_newcomer, cell, &groups, profile));
            for (kind, parts) in &parts {
                let parts: Vec<Value> = parts.iter().map(|part| part_json(part, cell, &groups, seed)).collect();
                let value =
                    if *kind == "newcomers" { parts.into_iter().next().unwrap_or_default() } else { json!(parts) };
                out.insert((*kind).to_owned(), value);
            }
            if !cell.first_probabilities.is_empty() {
                out.insert("calibration".to_owned(), calibration_json(asked, cell));
            }
            out.insert("train_seconds".to_owned(), json!((cell.train_seconds * 100.0).round() / 100.0));
            out.insert("query_seconds".to_owned(), json!((cell.query_seconds * 100.0).round() / 100.0));
            Value::Object(out)
        })
        .collect()
}

/// How well the probabilities of first hits hold: in ten bins, and the expected calibration error, which is the mean
/// distance of what was said of a bin and what is true of it.
fn calibration_json(asked: &HeldOutLinks, cell: &MethodPlaces) -> Value {
    let mut bins = [CalibrationBin::default(); 10];
    for (&said, range) in cell.first_probabilities.iter().zip(asked.ranges()) {
        bins[((said * 10.0) as usize).min(9)].add(1.0, said, cell.places[range].contains(&1));
    }
    json!({"expected_error": round(expected_error(&bins)), "bins": bins_json(&bins)})
}

/// Recall@10 of each method with its interval, for a curve over dimensions.
pub fn recall_json(of: &Findings<'_>) -> Vec<Value> {
    let groups = groups(of.view, of.asked);
    let one = |cell: &MethodPlaces| {
        let values = each(of.asked, cell, |places, truths| recall(places, truths, CUT));
        let found = estimate(&values, &groups, of.seed);
        json!({
            "method": cell.method,
            "recall@10": round(found.mean),
            "interval": estimate_json(&found),
            "train_seconds": (cell.train_seconds * 100.0).round() / 100.0,
        })
    };
    of.cells.iter().map(one).collect()
}

/// The questions with a newcomer among their truths.
fn positions_with_newcomer(view: &View<'_>, split: &Split, asked: &HeldOutLinks) -> Vec<usize> {
    let newcomer = |truth: usize| split.is_newcomer(view.documents[asked.truths[truth].index()]);
    asked.ranges().enumerate().filter(|(_, range)| range.clone().any(newcomer)).map(|(question, _)| question).collect()
}

/// The four metrics of those questions, the paper's Table 7: all their truths count, newcomers or not.
fn with_newcomer_json(
    of: &Findings<'_>,
    questions: &[usize],
    cell: &MethodPlaces,
    groups: &[u32],
    profile: Profile,
) -> Value {
    let groups: Vec<u32> = questions.iter().map(|&question| groups[question]).collect();
    let (mut out, mut intervals) = (Map::new(), Map::new());
    out.insert("positions".to_owned(), json!(questions.len()));
    let mut put = |name: &str, values: Vec<f64>| {
        let values: Vec<f64> = questions.iter().map(|&question| values[question]).collect();
        let found = (!values.is_empty()).then(|| estimate(&values, &groups, of.seed));
        out.insert(name.to_owned(), json!(found.as_ref().map(|found| round(found.mean))));
        intervals.insert(name.to_owned(), found.as_ref().map_or(Value::Null, estimate_json));
    };
    for (name, metric) in metrics(profile) {
        put(name, each(of.asked, cell, metric));
    }
    out.insert("interval".to_owned(), Value::Object(intervals));
    Value::Object(out)
}

/// A metric of one question, from the places of the truths found and the number of truths.
type Metric = Box<dyn Fn(&[u32], usize) -> f64>;

/// The metrics of the paper's tables.
fn metrics(profile: Profile) -> [(&'static str, Metric); 4] {
    [
        ("recall@10", Box::new(|places, truths| recall(places, truths, CUT))),
        ("map@10", Box::new(move |places, truths| average_precision(places, truths, CUT, profile))),
        ("mrr@10", Box::new(|places, _| reciprocal_rank(places, CUT))),
        ("ndcg@10", Box::new(|places, truths| ndcg(places, truths, CUT))),
    ]
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The share of the part's truths among the first ten, averaged over the questions that have any.
fn part_json(part: &Breakdown, cell: &MethodPlaces, groups: &[u32], seed: u64) -> Value {
    let found = |(_, truths): &(usize, Vec<usize>)| {
        let places: Vec<u32> = truths.iter().map(|&truth| cell.places[truth]).collect();
        recall(&places, truths.len(), CUT)
    };
    let values: Vec<f64> = part.questions.iter().map(found).collect();
    let groups: Vec<u32> = part.questions.iter().map(|(question, _)| groups[*question]).collect();
    if values.is_empty() {
        return json!({"name": part.name, "positions": 0, "recall@10": null, "interval": null});
    }
    let estimate = estimate(&values, &groups, seed);
    json!({
        "name": part.name,
        "positions": values.len(),
        "recall@10": round(estimate.mean),
        "interval": estimate_json(&estimate),
    })
}

/// The breakdowns: newcomers, links to the target, labels of the target, functions of the position.
fn parts(
    view: &View<'_>,
    split: &Split,
    asked: &HeldOutLinks,
    functions: Option<(&[String], &[u32])>,
) -> Vec<(&'static str, Vec<Breakdown>)> {
    let links = view.links_to();
    let part = |name: String, of: &dyn Fn(usize, usize) -> bool| {
        let truths = |(question, range): (usize, std::ops::Range<usize>)| {
            let truths: Vec<usize> = range.filter(|&truth| of(question, truth)).collect();
            (!truths.is_empty()).then_some((question, truths))
        };
        Breakdown { name, questions: asked.ranges().enumerate().filter_map(truths).collect() }
    };
    let document = |truth: usize| view.documents[asked.truths[truth].index()];
    let newcomers = part("newcomers".to_owned(), &|_, truth| split.is_newcomer(document(truth)));
    let by_links = LINK_BINS.map(|(from, to)| {
        let name = match (from, to) {
            (from, usize::MAX) => format!("{from} or more"),
            (from, to) if from == to => from.to_string(),
            (from, to) => format!("{from} to {to}"),
        };
        part(name, &|_, truth| (from..=to).contains(&(links[asked.truths[truth].index()] as usize)))
    });
    let mut counts = BTreeMap::<u32, usize>::new();
    for truth in 0..asked.truths.len() {
        view.corpus.label_ids(document(truth)).iter().for_each(|&label| *counts.entry(label).or_default() += 1);
    }
    let mut labels: Vec<(u32, usize)> = counts.into_iter().filter(|&(_, count)| count >= LEAST_LABEL).collect();
    labels.sort_by_key(|&(label, count)| (std::cmp::Reverse(count), label));
    labels.truncate(MOST_LABELS);
    let names: Vec<&str> = view.corpus.label_names().collect();
    let by_label = labels.iter().map(|&(label, _)| {
        part(names[label as usize].to_owned(), &|_, truth| view.corpus.label_ids(document(truth)).contains(&label))
    });
    let mut parts =
        vec![("newcomers", vec![newcomers]), ("by_links", by_links.into()), ("by_label", by_label.collect())];
    if let Some((names, numbers)) = functions {
        let of =
            |(number, name): (usize, &String)| part(name.clone(), &|question, _| numbers[question] as usize == number);
        parts.push(("by_function", names.iter().enumerate().map(of).collect()));
    }
    parts
}

/// Every pair of methods: the difference of recall@10, its interval, p by itself and among all these tests; and, where any
/// newcomer was asked for, the same of newcomers alone, and of all truths of the positions that have one.
pub fn comparisons_json(of: &Findings<'_>) -> Vec<Value> {
    let &Findings { view, split, asked, cells, seed } = of;
    let all = groups(view, asked);
    let is_newcomer = |truth: usize| split.is_newcomer(view.documents[asked.truths[truth].index()]);
    let new: Vec<Vec<usize>> =
        asked.ranges().map(|range| range.filter(|&truth| is_newcomer(truth)).collect()).collect();
    let with_new: Vec<usize> = (0..new.len()).filter(|&question| !new[question].is_empty()).collect();
    let new_groups: Vec<u32> = with_new.iter().map(|&question| all[question]).collect();
    let new_recall = |cell: &MethodPlaces| -> Vec<f64> {
        let of = |&question: &usize| {
            let places: Vec<u32> = new[question].iter().map(|&truth| cell.places[truth]).collect();
            recall(&places, places.len(), CUT)
        };
        with_new.iter().map(of).collect()
    };
    let values: Vec<[Vec<f64>; 3]> = cells
        .iter()
        .map(|cell| {
            let whole = each(asked, cell, |places, truths| recall(places, truths, CUT));
            let there = with_new.iter().map(|&question| whole[question]).collect();
            [whole, new_recall(cell), there]
        })
        .collect();
    let pairs: Vec<(usize, usize)> = (0..cells.len()).flat_map(|a| (a + 1..cells.len()).map(move |b| (a, b))).collect();
    let groups = [&all, &new_groups, &new_groups];
    let compared: Vec<[Comparison; 3]> = pairs
        .par_iter()
        .map(|&(a, b)| std::array::from_fn(|part| compare(&values[a][part], &values[b][part], groups[part], seed)))
        .collect();
    let adjusted = holm(&compared.iter().map(|[whole, ..]| whole.p).collect::<Vec<f64>>());
    let json = |comparison: &Comparison| {
        json!({
            "difference": round(comparison.difference.mean),
            "interval": estimate_json(&comparison.difference),
            "p": comparison.p,
        })
    };
    let pair = |((&(a, b), [whole, newcomers, there]), adjusted): ((&(usize, usize), &[Comparison; 3]), f64)| {
        let mut out = json(whole);
        out["a"] = json!(cells[a].method);
        out["b"] = json!(cells[b].method);
        out["p_holm"] = json!(round(adjusted));
        if !with_new.is_empty() {
            out["newcomers"] = json(newcomers);
            out["newcomer_positions"] = json(there);
        }
        out
    };
    pairs.iter().zip(&compared).zip(adjusted).map(pair).collect()
}
