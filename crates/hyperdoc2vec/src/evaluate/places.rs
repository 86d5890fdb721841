//! Where links belong: pages held out, their links taken out and suggested again.
//!
//! A suggestion is a place and a document. It is right where the page had a link to that document over at least half of
//! all words of both (within two words, for links without words). Each document is suggested once a page, so that recall
//! is the share of the pairs of page and document that the page links to. Rivals on the same pages: a dictionary of
//! titles and anchors, which takes every longest phrase at its first mention; its phrases by the share of documents that
//! have them as links; trees over features as Wikimedia's link recommendation has them.

use std::collections::HashSet;

use rayon::prelude::*;
use serde_json::{Map, Value, json};

use crate::corpus::Corpus;
use crate::corpus::split::{Split, SplitPart};
use crate::corpus::view::View;
use crate::draft::{Draft, DraftWord};
use crate::error::Result;
use crate::evaluate::stats::interval;
use crate::id::{DocId, DocRow};
use crate::model::Model;
use crate::places::learn::{learn_rival, same_place};
use crate::places::page::PageLink;
use crate::places::{PlaceCandidate, PlaceModel, PlaceQuestion, choose};
use crate::search::ranker::forest::Forest;
use crate::search::ranker::{CalibrationBin, bins_json, expected_error};

/// A place without words is right within so many words of a link.
const NEAR: usize = 2;
/// The thresholds that figures are given for.
const THRESHOLDS: [f32; 12] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98];
/// The recall at which precisions are compared.
const RECALL: f64 = 0.5;

/// A suggestion, judged.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Judged {
    score: f32,
    /// The right document at a right place.
    right: bool,
    /// The page links to the document somewhere.
    on_page: bool,
}

/// One method on one page.
#[derive(Debug, Clone, Default)]
struct PageOutcome {
    suggestions: Vec<Judged>,
    /// Every place, with whether a link stood there.
    places: Vec<(f32, bool)>,
}

/// A page held out.
struct PageResult {
    /// The distinct documents that it links to.
    truths: usize,
    /// Those of them that some place of the page could lead to.
    reachable: usize,
    /// How many of them the words of their links tell, by [`KINDS`].
    kinds: [usize; KINDS.len()],
    outcomes: Vec<PageOutcome>,
}

/// Kinds of links, by what their words say of the target: other links with these words lead there more often than elsewhere; some
/// do, or the words name it; all lead elsewhere; no other link has these words; it has none.
const KINDS: [&str; 5] = ["most_frequent", "listed", "elsewhere", "unseen", "wordless"];

const METHODS: [&str; 4] = ["places", "dictionary", "rate", "wikimedia"];

/// Measures the place model of `model`, which was trained on the training part of `split`.
pub fn evaluate_places(corpus: &Corpus, split: &Split, model: &Model, seed: u64) -> Result<Value> {
    let suggester = PlaceModel::new(model)?;
    let rival = if suggester.by_phrases() {
        let view = View::new(corpus, split, model.params().min_count)?;
        learn_rival(&view, model.params().seed)?
    } else {
        Forest::default()
    };
    let tests: Vec<DocId> = split.documents(SplitPart::Test).collect();
    let pages: Vec<PageResult> = tests
        .par_iter()
        .map(|&doc| page(corpus, &suggester, &rival, doc))
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .filter(|page| page.truths > 0 || page.outcomes.iter().any(|outcome| !outcome.suggestions.is_empty()))
        .collect();
    let methods = if suggester.by_phrases() { &METHODS[..] } else { &METHODS[..1] };
    let truths: usize = pages.iter().map(|page| page.truths).sum();
    let reachable: usize = pages.iter().map(|page| page.reachable).sum();
    Ok(json!({
        "pages": pages.len(),
        "links": truths,
        "reachable": reachable as f64 / truths.max(1) as f64,
        "words": KINDS.iter().enumerate().map(|(kind, name)| {
            let count: usize = pages.iter().map(|page| page.kinds[kind]).sum();
            ((*name).to_owned(), json!(count as f64 / truths.max(1) as f64))
        }).collect::<Map<String, Value>>(),
        "kind": if suggester.by_phrases() { "phrases" } else { "ends" },
        "methods": methods.iter().enumerate().map(|(number, name)| figures(name, number, &pages, seed)).collect::<Vec<_>>(),
    }))
}

fn page(corpus: &Corpus, suggester: &PlaceModel<'_>, rival: &Forest, doc: DocId) -> Result<PageResult> {
    let document = corpus.document(doc)?;
    let draft = Draft::of_document(&document, suggester.tokenizer());
    let names = suggester.model().names();
    let row = |id: &String| corpus.find(id).and_then(|doc| names.find(corpus.name(doc))).map(|row| DocRow(row as u32));
    let links: Vec<PageLink> = draft
        .links
        .iter()
        .map(|link| PageLink { words: link.words.clone(), targets: link.targets.iter().filter_map(row).collect() })
        .collect();
    let mut truths: Vec<DocRow> = links.iter().flat_map(|link| link.targets.iter().copied()).collect();
    truths.sort_unstable();
    truths.dedup();
    let mut kinds = [0; KINDS.len()];
    for &truth in &truths {
        let of_truth = links.iter().filter(|link| link.targets.contains(&truth));
        let kind = of_truth.map(|link| kind(suggester, &draft.words[link.words.clone()], truth)).min();
        kinds[kind.unwrap_or(KINDS.len() - 1)] += 1;
    }
    let question = PlaceQuestion {
        title: document.title.clone().unwrap_or_default(),
        until: document.date.filter(|_| !suggester.by_phrases()),
        ..PlaceQuestion::new(&document.text, &draft)
    };
    let is_here = |candidate: &PlaceCandidate, link: &PageLink| match candidate.start < candidate.end {
        true => same_place(candidate.start, candidate.end, link),
        false => candidate.end.abs_diff(link.words.end) <= NEAR,
    };
    let judge = |candidates: &[PlaceCandidate], least: f32| {
        // A place may stand there again with another target.
        let mut seen = HashSet::new();
        let once = candidates.iter().filter(|one| seen.insert((one.start, one.end)));
        let places: Vec<(f32, bool)> = once
            .map(|one| {
                let linked = match one.start < one.end {
                    true => links.iter().any(|link| is_here(one, link)),
                    false => links.iter().any(|link| link.words.end == one.end),
                };
                (one.place, linked)
            })
            .collect();
        let suggestions = choose(candidates, least, usize::MAX).into_iter().map(|one| Judged {
            score: one.probability(),
            right: links.iter().any(|link| is_here(&one, link) && link.targets.contains(&one.target)),
            on_page: truths.contains(&one.target),
        });
        PageOutcome { suggestions: suggestions.collect(), places }
    };
    let candidates = suggester.candidates(&question, true)?;
    let mut reached: Vec<DocRow> = candidates.iter().map(|one| one.target).filter(|row| truths.contains(row)).collect();
    reached.sort_unstable();
    reached.dedup();
    let mut outcomes = vec![judge(&candidates, 0.0)];
    if suggester.by_phrases() {
        let rivals = suggester.rival_candidates(&question);
        // The dictionary: longest first, then the first; a score keeps the order.
        let count = rivals.len().max(1) as f32;
        let dictionary: Vec<PlaceCandidate> = rivals
            .iter()
            .enumerate()
            .map(|(number, (one, _))| {
                let order = (one.end - one.start) as f32 + 1.0 - number as f32 / count;
                PlaceCandidate { place: order / 8.0, of_target: 1.0, ..*one }
            })
            .collect();
        outcomes.push(judge(&dictionary, 0.0));
        let rate: Vec<PlaceCandidate> =
            rivals.iter().map(|(one, _)| PlaceCandidate { of_target: one.share, ..*one }).collect();
        outcomes.push(judge(&rate, 0.0));
        let wikimedia: Vec<PlaceCandidate> = rivals
            .iter()
            .map(|(one, columns)| PlaceCandidate { place: rival.probability(columns), of_target: 1.0, ..*one })
            .collect();
        outcomes.push(judge(&wikimedia, 0.0));
    }
    Ok(PageResult { truths: truths.len(), reachable: reached.len(), kinds, outcomes })
}

/// Which of [`KINDS`] a link with these words to a document is.
fn kind(places: &PlaceModel<'_>, words: &[DraftWord], target: DocRow) -> usize {
    if words.is_empty() {
        return 4;
    }
    let Some(targets) = places.phrase_targets(words) else { return 3 };
    targets.iter().position(|of| of.row == target).map_or(2, |place| place.min(1))
}

/// Precision, recall and F1 of the suggestions of drawn pages that have at least a score.
fn at(pages: &[&PageResult], method: usize, least: f32, right: fn(&Judged) -> bool) -> [f64; 3] {
    let (mut rights, mut all, mut truths) = (0usize, 0usize, 0usize);
    for page in pages {
        let taken = || page.outcomes[method].suggestions.iter().filter(|one| one.score >= least);
        all += taken().count();
        rights += taken().filter(|one| right(one)).count();
        truths += page.truths;
    }
    let precision = rights as f64 / all.max(1) as f64;
    let recall = rights as f64 / truths.max(1) as f64;
    [precision, recall, 2.0 * precision * recall / (precision + recall).max(1e-9)]
}

/// The precision where recall reaches [`RECALL`], and the score there; 0 where it never does.
fn precision_at_recall(pages: &[&PageResult], method: usize, right: fn(&Judged) -> bool) -> (f64, f32) {
    let mut all: Vec<Judged> =
        pages.iter().flat_map(|page| page.outcomes[method].suggestions.iter().copied()).collect();
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    let truths: usize = pages.iter().map(|page| page.truths).sum();
    let (mut rights, mut best) = (0usize, (0.0, 0.0));
    for (number, one) in all.iter().enumerate() {
        rights += usize::from(right(one));
        // Equal scores are taken together.
        let last = all.get(number + 1).is_none_or(|next| next.score < one.score);
        if last && rights as f64 >= RECALL * truths as f64 {
            best = (rights as f64 / (number + 1) as f64, one.score);
            break;
        }
    }
    best
}

/// Places in the order of their scores, for areas under the curve of right against wrong.
struct ScoredPlaces {
    /// The page of each place, and whether a link stood there.
    places: Vec<(u32, bool)>,
    /// Where places of one score end.
    ends: Vec<usize>,
}

impl ScoredPlaces {
    fn new(pages: &[PageResult], method: usize) -> ScoredPlaces {
        let of_page = |(page, of): (usize, &PageResult)| {
            of.outcomes[method].places.iter().map(|&(score, linked)| (score, page as u32, linked)).collect::<Vec<_>>()
        };
        let mut all: Vec<(f32, u32, bool)> = pages.iter().enumerate().flat_map(of_page).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let ends = (1..=all.len()).filter(|&end| all.get(end).is_none_or(|next| next.0 > all[end - 1].0)).collect();
        ScoredPlaces { places: all.into_iter().map(|(_, page, linked)| (page, linked)).collect(), ends }
    }

    /// The share of pairs of a right and a wrong place whose order is right, ties being half, where the places of a page
    /// count as often as it is given.
    ///
    /// Scores 3 (right), 2 (wrong), 2 (right), 1 (wrong): 1 + 1 + ½ + 1 of 4 pairs, 0.875.
    fn auc(&self, times: &[f64]) -> f64 {
        let (mut rights, mut wrongs, mut pairs, mut start) = (0.0f64, 0.0f64, 0.0f64, 0);
        for &end in &self.ends {
            let mut here = [0.0; 2];
            self.places[start..end]
                .iter()
                .for_each(|&(page, linked)| here[usize::from(linked)] += times[page as usize]);
            pairs += here[1] * (wrongs + here[0] / 2.0);
            (rights, wrongs, start) = (rights + here[1], wrongs + here[0], end);
        }
        if rights * wrongs > 0.0 { pairs / (rights * wrongs) } else { 0.5 }
    }
}

fn figures(name: &str, method: usize, pages: &[PageResult], seed: u64) -> Value {
    let all: Vec<&PageResult> = pages.iter().collect();
    let drawn = |numbers: &[u32]| numbers.iter().map(|&number| &pages[number as usize]).collect::<Vec<_>>();
    let right: fn(&Judged) -> bool = |one| one.right;
    let (precision, threshold) = precision_at_recall(&all, method, right);
    let curve: Vec<Value> = THRESHOLDS
        .iter()
        .map(|&least| {
            let [precision, recall, f1] = at(&all, method, least, right);
            json!({"threshold": least, "precision": precision, "recall": recall, "f1": f1})
        })
        .collect();
    let places = ScoredPlaces::new(pages, method);
    let [at_half, recall_at_half, f1_at_half] = at(&all, method, 0.5, right);
    let everything = at(&all, method, 0.0, right);
    let best_f1 = THRESHOLDS.iter().map(|&least| at(&all, method, least, right)[2]).fold(everything[2], f64::max);
    let mut bins = [CalibrationBin::default(); 10];
    for one in all.iter().flat_map(|page| &page.outcomes[method].suggestions) {
        bins[((one.score * 10.0) as usize).min(9)].add(1.0, one.score, one.right);
    }
    let bounds = |statistic: &(dyn Fn(&[&PageResult]) -> f64 + Sync)| {
        let (low, high) = interval(pages.len(), seed, |numbers| statistic(&drawn(numbers)));
        json!([low, high])
    };
    let area = interval(pages.len(), seed, |numbers| {
        let mut times = vec![0.0; pages.len()];
        numbers.iter().for_each(|&number| times[number as usize] += 1.0);
        places.auc(&times)
    });
    json!({
        "method": name,
        "auc": places.auc(&vec![1.0; pages.len()]),
        "precision_at_recall_50": precision,
        "threshold_at_recall_50": threshold,
        "page_precision_at_recall_50": precision_at_recall(&all, method, |one| one.on_page).0,
        "at_0.5": {"precision": at_half, "recall": recall_at_half, "f1": f1_at_half},
        "all": {"precision": everything[0], "recall": everything[1], "f1": everything[2]},
        "best_f1": best_f1,
        "curve": curve,
        "calibration": bins_json(&bins),
        "calibration_error": expected_error(&bins),
        "interval": {
            "auc": area,
            "precision_at_recall_50": bounds(&|pages| precision_at_recall(pages, method, right).0),
            "precision_at_0.5": bounds(&|pages| at(pages, method, 0.5, right)[0]),
            "recall_at_0.5": bounds(&|pages| at(pages, method, 0.5, right)[1]),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_counts_pairs_in_order_by_hand() {
        let auc = |places: Vec<(f32, bool)>, times: &[f64]| {
            let page = |place| PageResult {
                truths: 0,
                reachable: 0,
                kinds: [0; KINDS.len()],
                outcomes: vec![PageOutcome { suggestions: Vec::new(), places: vec![place] }],
            };
            ScoredPlaces::new(&places.into_iter().map(page).collect::<Vec<_>>(), 0).auc(times)
        };
        let scored = vec![(3.0, true), (2.0, false), (2.0, true), (1.0, false)];
        assert_eq!(auc(scored.clone(), &[1.0; 4]), 0.875);
        // Without the third: both pairs are in order.
        assert_eq!(auc(scored, &[1.0, 1.0, 0.0, 1.0]), 1.0);
        assert_eq!(auc(vec![(1.0, true)], &[1.0]), 0.5);
    }

    #[test]
    fn precision_where_half_is_found_by_hand() {
        let judged = |score, right| Judged { score, right, on_page: right };
        let suggestions = vec![judged(0.9, true), judged(0.8, false), judged(0.7, true), judged(0.6, false)];
        let outcomes = vec![PageOutcome { suggestions, places: Vec::new() }];
        let page = PageResult { truths: 4, reachable: 4, kinds: [4, 0, 0, 0, 0], outcomes };
        // Two of four links are found at the third suggestion.
        assert_eq!(precision_at_recall(&[&page], 0, |one| one.right), (2.0 / 3.0, 0.7));
        assert_eq!(at(&[&page], 0, 0.75, |one| one.right)[..2], [0.5, 0.25]);
    }
}
