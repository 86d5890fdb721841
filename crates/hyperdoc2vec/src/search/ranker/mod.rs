//! The learnt ranking: boosted trees over what every other ranking says of a candidate, giving its probability.
//!
//! Candidates are the best of the single rankings. Two forests, one for texts whose source is not known, one for those
//! whose source is, learn from links held out while a model is trained: see [`crate::train::ranker`].

pub mod forest;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::document::Date;
use crate::error::{Error, Result};
use crate::kernel::{exp_all, gather_sum, ln};
use crate::model::index::links::{KEYWORDS, keywords};
use crate::model::weighting::rarity_weight;
use crate::model::{Model, Vectors};
use crate::search::rank::{Hit, products, top};
use crate::search::ranker::forest::{Examples, Forest};
use crate::search::{Query, Ranking, Searcher};
use crate::storage::container::{Container, Tensor};

/// What trees ask of a candidate. The first [`ALONE`] are known without a source.
pub const FEATURES: [&str; 28] = [
    // The product of the context and the document's OUT vector, less the best; its place; the logarithm of its share.
    "embedding",
    "embedding rank",
    "embedding share",
    // BM25 on the text: by the best, its place, by the most that could be reached.
    "text",
    "text rank",
    "text reached",
    "cited",
    "cited rank",
    "cited reached",
    // How well the document's IN vector, which comes from its text, predicts the words of the context.
    "content",
    "content rank",
    "links",
    "age",
    // Of the question, the same for all candidates.
    "words",
    "best embedding share",
    "best cited reached",
    // Context and source together; the source alone.
    "both",
    "both rank",
    "source",
    "source content",
    "source content rank",
    // What the source links to already: this document; documents that others link to together with this one; ones that
    // link to it.
    "linked",
    "co-cited",
    "co-cited by its links",
    "co-cited rank",
    "linked by linked",
    "source links",
    // When the source was written, less when the candidate was.
    "source age",
];
/// How many features need no source.
pub const ALONE: usize = 16;

/// Candidates that each ranking gives.
const CANDIDATES: usize = 64;
/// What the words of the source weigh beside those of the context, as in training.
const SOURCE_WEIGHT: f32 = 0.5;
/// What stands for a score that is not known.
const UNKNOWN: f32 = -50.0;
/// Of the documents linked in a source so many are looked at.
const MOST_LINKED: usize = 64;

/// What is known of the document that a text stands in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Source {
    /// Its number, if it is a document of the model.
    pub document: Option<u32>,
    /// Rows of its words, with how often it has them.
    pub words: Vec<(u32, f32)>,
    /// When it was written.
    pub date: Option<Date>,
    /// The documents it links to already.
    pub links: Vec<u32>,
}

impl Source {
    /// A document of the model.
    pub fn known(searcher: &Searcher<'_>, document: u32) -> Source {
        let model = searcher.model();
        Source {
            document: Some(document),
            words: model.keywords().map(|keywords| keywords.of(document as usize)).unwrap_or_default(),
            date: model.date(document as usize),
            links: searcher.linked_by(document).to_vec(),
        }
    }

    /// A text, with the links in it.
    pub fn read(searcher: &Searcher<'_>, text: &str) -> Result<Source> {
        let query = searcher.query(text)?;
        let rows = query.words.iter().map(|word| word.row);
        Source::of_words(searcher.model(), rows, query.links)
    }

    /// A text of these words, by their rows.
    pub fn of_words(model: &Model, rows: impl Iterator<Item = u32>, links: Vec<u32>) -> Result<Source> {
        let found_in = model.word_documents()?;
        let rows = rows.filter(|&row| (row as usize) < found_in.len()).collect();
        let rarity = |row: u32| rarity_weight(found_in[row as usize], model.documents(), true);
        let words = keywords(rows, rarity).into_iter().map(|(row, count)| (row, f32::from(count))).collect();
        Ok(Source { words, links, ..Source::default() })
    }

    /// The mean of the vectors of the words that tell most of it, by how often it has them and by their rarity; `None`
    /// where none of them has one.
    pub fn vector(&self, model: &Model, which: Vectors) -> Result<Option<Vec<f32>>> {
        let found_in = model.word_documents()?;
        let known = || self.words.iter().filter(|(row, _)| (*row as usize) < found_in.len()).take(KEYWORDS);
        let rows: Vec<u32> = known().map(|&(row, _)| row).collect();
        if rows.is_empty() {
            return Ok(None);
        }
        let weight = |&(row, n): &(u32, f32)| n * rarity_weight(found_in[row as usize], model.documents(), true);
        let mut weights: Vec<f32> = known().map(weight).collect();
        let total: f32 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total.max(1e-6));
        let mut vector = vec![0.0; model.params().dim];
        gather_sum(model.vectors(which)?, &rows, &weights, &mut vector);
        Ok(Some(vector))
    }

    /// What it adds to the vector of a text by the embedding.
    pub fn added(&self, model: &Model) -> Result<Option<Vec<f32>>> {
        let mut vector = self.vector(model, Vectors::WordIn)?;
        vector.iter_mut().flatten().for_each(|x| *x *= SOURCE_WEIGHT);
        Ok(vector)
    }
}

/// The documents that a question is about.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// Those that are there: what scores and places are relative to.
    pub there: &'a (dyn Fn(usize) -> bool + Sync),
    /// Those of them that may be hits. How many they are does not change what is said of one.
    pub admitted: &'a (dyn Fn(usize) -> bool + Sync),
}

impl<'a> Scope<'a> {
    /// All documents.
    pub const ALL: Scope<'static> = Scope { there: &|_| true, admitted: &|_| true };

    /// What is there may be a hit.
    pub const fn of(there: &'a (dyn Fn(usize) -> bool + Sync)) -> Scope<'a> {
        Scope { there, admitted: there }
    }
}

/// Candidates with their features.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates {
    /// Their numbers, rising.
    pub rows: Vec<u32>,
    /// Numbers of each candidate.
    pub width: usize,
    /// A row of numbers a candidate.
    pub features: Vec<f32>,
    /// Whether it would be one without the source.
    pub alone: Vec<bool>,
}

impl Candidates {
    /// The features of a candidate.
    pub fn row(&self, candidate: usize) -> &[f32] {
        &self.features[candidate * self.width..][..self.width]
    }
}

/// What one ranking says: a score for each document, the places of the best, and its candidates.
struct Told {
    scores: Vec<f32>,
    places: BTreeMap<u32, usize>,
    best: f32,
    candidates: Vec<u32>,
}

impl Told {
    fn new(scores: Vec<f32>, wanted: usize, scope: Scope<'_>) -> Told {
        Told::above(f32::NEG_INFINITY, scores, wanted, scope)
    }

    /// Documents with scores that are not above `least` have no place.
    fn above(least: f32, scores: Vec<f32>, wanted: usize, Scope { there, admitted }: Scope<'_>) -> Told {
        let hits = top(&scores, wanted, |row| there(row) && scores[row] > least);
        let best = hits.first().map_or(0.0, |hit| hit.score);
        let rows = |hits: &[Hit]| hits.iter().map(|hit| hit.row).collect::<Vec<u32>>();
        let candidates = match hits.iter().all(|hit| admitted(hit.row as usize)) {
            true => rows(&hits),
            false => rows(&top(&scores, wanted, |row| there(row) && admitted(row) && scores[row] > least)),
        };
        let places = hits.iter().zip(0..).map(|(hit, place)| (hit.row, place)).collect();
        Told { scores, places, best, candidates }
    }

    fn nothing(documents: usize) -> Told {
        Told { scores: vec![UNKNOWN; documents], places: BTreeMap::new(), best: 0.0, candidates: Vec::new() }
    }

    fn of(&self, row: u32) -> f32 {
        self.scores[row as usize]
    }

    fn rank(&self, row: u32) -> f32 {
        ln(1.0 + self.places.get(&row).map_or(2 * CANDIDATES, |&place| place) as f32)
    }

    fn relative(&self, row: u32) -> f32 {
        if self.best > 0.0 { self.of(row) / self.best } else { 0.0 }
    }
}

fn years(date: Date) -> f32 {
    let packed = date.packed();
    (packed / 10_000) as f32 + (packed / 100 % 100) as f32 / 12.0
}

/// Finds candidates for a question, and what the rankings say of them; `None` where the model knows no word of it.
pub fn candidates(
    searcher: &Searcher<'_>,
    query: &Query,
    source: Option<&Source>,
    scope: Scope<'_>,
) -> Result<Option<Candidates>> {
    let model = searcher.model();
    let documents = model.documents();
    let terms = searcher.terms(query);
    if terms.is_empty() {
        return Ok(None);
    }
    let vector = |rows: &[u32], weights: &[f32], which| {
        let mut vector = vec![0.0; model.params().dim];
        gather_sum(model.vectors(which)?, rows, weights, &mut vector);
        Ok::<Vec<f32>, Error>(vector)
    };
    let out = model.vectors(Vectors::DocOut)?;
    let text_in = model.vectors(Vectors::DocIn)?;
    let words = |ranking| -> Result<Told> {
        let scores = searcher.scores(query, ranking)?.unwrap_or_default();
        Ok(Told::above(0.0, scores, CANDIDATES, scope))
    };
    let (text, cited) = (words(Ranking::Bm25)?, words(Ranking::Bm25Cited)?);
    let (text_model, cited_model) = (searcher.text()?, searcher.cited()?);
    let most_text: f32 = terms.iter().map(|term| term.weight * text_model.idf(term.word)).sum();
    let most_cited: f32 = terms.iter().map(|term| term.weight * cited_model.idf(term.word)).sum();
    let (rows, weights) = query.weights(model)?;
    let (embedding, content) = if rows.is_empty() {
        (Told::nothing(documents), Told::nothing(documents))
    } else {
        let scores = products(&vector(&rows, &weights, Vectors::WordIn)?, out);
        let content = products(&vector(&rows, &weights, Vectors::WordOut)?, text_in);
        (Told::new(scores, CANDIDATES, scope), Told::new(content, CANDIDATES / 2, scope))
    };
    // The logarithm of the sum over documents of what is predicted, less the best.
    let rows = || (0..documents).filter(|&row| (scope.there)(row));
    let mut shares: Vec<f32> = rows().map(|row| (embedding.scores[row] - embedding.best).max(-80.0)).collect();
    exp_all(&mut shares);
    let all = ln(shares.iter().fold(0.0f32, |sum, share| sum + share).max(1.0));
    let dates = model.dates();
    let newest = rows().filter_map(|row| dates.get(row)).max().and_then(|&date| Date::from_packed(date));

    struct Beside {
        both: Told,
        source: Told,
        content: Told,
        co_cited: Told,
        linked: BTreeMap<u32, f32>,
        by_linked: BTreeMap<u32, f32>,
        links: usize,
        date: Option<Date>,
    }
    let beside = match source {
        None => None,
        Some(source) => {
            let of = |which, table| -> Result<Vec<f32>> {
                Ok(source.vector(model, which)?.map_or(vec![0.0; documents], |vector| products(&vector, table)))
            };
            let (alone, text) = (of(Vectors::WordIn, out)?, of(Vectors::WordOut, text_in)?);
            let both = embedding.scores.iter().zip(&alone).map(|(context, source)| context + SOURCE_WEIGHT * source);
            let (mut linked, mut by_linked) = (BTreeMap::new(), BTreeMap::new());
            let mut co_cited = vec![0.0f32; documents];
            source.links.iter().for_each(|&link| *linked.entry(link).or_insert(0.0) += 1.0);
            for &link in linked.keys().rev().take(MOST_LINKED) {
                for &target in searcher.linked_by(link) {
                    *by_linked.entry(target).or_insert(0.0) += 1.0;
                }
                let mut last = None;
                for &citing in searcher.linking_to(link) {
                    if last.replace(citing) == Some(citing) || source.document == Some(citing) {
                        continue;
                    }
                    let targets = searcher.linked_by(citing);
                    let weight = 1.0 / (1.0 + targets.len() as f32).sqrt();
                    let mut before = None;
                    for &target in targets {
                        if before.replace(target) != Some(target) && target != link {
                            co_cited[target as usize] += weight;
                        }
                    }
                }
            }
            Some(Beside {
                both: Told::new(both.collect(), CANDIDATES, scope),
                source: Told::new(alone, 1, scope),
                content: Told::new(text, CANDIDATES / 4, scope),
                co_cited: Told::above(0.0, co_cited, CANDIDATES / 2, scope),
                linked,
                by_linked,
                links: source.links.len(),
                date: source.date,
            })
        }
    };

    let mut rows: Vec<u32> =
        [&embedding, &text, &cited, &content].iter().flat_map(|told| &told.candidates).copied().collect();
    rows.sort_unstable();
    rows.dedup();
    let unsourced = rows.clone();
    if let Some(beside) = &beside {
        rows.extend([&beside.both, &beside.content, &beside.co_cited].iter().flat_map(|told| &told.candidates));
        let may_be = |row: usize| (scope.there)(row) && (scope.admitted)(row);
        rows.extend(beside.linked.keys().filter(|&&row| may_be(row as usize)));
    }
    rows.sort_unstable();
    rows.dedup();
    let links_to = model.links_to()?;
    let width = if source.is_some() { FEATURES.len() } else { ALONE };
    let mut features = Vec::with_capacity(rows.len() * width);
    for &row in &rows {
        let links = links_to.get(row as usize).copied().unwrap_or(0) as f32;
        let age = |now: Option<Date>| {
            now.zip(model.date(row as usize)).map_or(UNKNOWN, |(now, date)| years(now) - years(date))
        };
        features.extend([
            embedding.of(row) - embedding.best,
            embedding.rank(row),
            embedding.of(row) - embedding.best - all,
            text.relative(row),
            text.rank(row),
            text.of(row) / most_text.max(1e-6),
            cited.relative(row),
            cited.rank(row),
            cited.of(row) / most_cited.max(1e-6),
            content.of(row) - content.best,
            content.rank(row),
            ln(1.0 + links),
            age(newest),
            ln(1.0 + query.words.len() as f32),
            -all,
            cited.best / most_cited.max(1e-6),
        ]);
        if let Some(beside) = &beside {
            let of = |map: &BTreeMap<u32, f32>| map.get(&row).copied().unwrap_or(0.0);
            features.extend([
                beside.both.of(row) - beside.both.best,
                beside.both.rank(row),
                beside.source.of(row) - beside.source.best,
                beside.content.of(row) - beside.content.best,
                beside.content.rank(row),
                of(&beside.linked),
                beside.co_cited.of(row),
                beside.co_cited.of(row) / (1.0 + links).sqrt(),
                beside.co_cited.rank(row),
                of(&beside.by_linked),
                ln(1.0 + beside.links as f32),
                age(beside.date),
            ]);
        }
    }
    let alone = rows.iter().map(|row| unsourced.binary_search(row).is_ok()).collect();
    Ok(Some(Candidates { rows, width, features, alone }))
}

/// Of the links held out while learning: what was said of candidates, and how many of them were right.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bin {
    /// Candidates.
    pub count: f64,
    /// The sum of their probabilities.
    pub predicted: f64,
    /// How many were right.
    pub right: f64,
}

/// The learnt ranking.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranker {
    /// For texts whose source is not known.
    pub alone: Forest,
    /// For those whose source is.
    pub sourced: Forest,
    /// How many links were learnt from, and how well probabilities held.
    pub about: Value,
}

/// Bins as the description of a model has them.
pub fn bins_json(bins: &[Bin]) -> Value {
    let bin = |bin: &Bin| {
        let mean = |sum: f64| (sum / bin.count.max(1.0) * 1e4).round() / 1e4;
        json!({"candidates": bin.count.round(), "predicted": mean(bin.predicted), "observed": mean(bin.right)})
    };
    bins.iter().map(bin).collect()
}

/// The arrays of a forest: features, numbers, children, roots.
const ARRAYS: [[&str; 4]; 2] = [
    ["hybrid.alone.feature", "hybrid.alone.number", "hybrid.alone.child", "hybrid.alone.roots"],
    ["hybrid.sourced.feature", "hybrid.sourced.number", "hybrid.sourced.child", "hybrid.sourced.roots"],
];

impl Ranker {
    /// The best `wanted` documents, by falling probability, and of equal ones by what BM25 says with the contexts; a
    /// hit's score is its probability. `None` where the model knows no word of the question.
    pub fn rank(
        &self,
        searcher: &Searcher<'_>,
        query: &Query,
        source: Option<&Source>,
        wanted: usize,
        scope: Scope<'_>,
    ) -> Result<Option<Vec<Hit>>> {
        let candidates = candidates(searcher, query, source, scope)?;
        Ok(candidates.map(|candidates| self.order(&candidates, wanted)))
    }

    /// The best `wanted` of the candidates.
    pub fn order(&self, candidates: &Candidates, wanted: usize) -> Vec<Hit> {
        let forest = if candidates.width > ALONE { &self.sourced } else { &self.alone };
        let cited = FEATURES.iter().position(|&name| name == "cited").unwrap_or(0);
        let mut hits: Vec<(f32, f32, Hit)> = candidates
            .rows
            .iter()
            .enumerate()
            .map(|(place, &row)| {
                let features = candidates.row(place);
                let score = forest.score(features);
                (score, features[cited], Hit { row, score: crate::kernel::sigmoid(score) })
            })
            .collect();
        hits.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.row.cmp(&b.2.row)));
        hits.into_iter().take(wanted).map(|(_, _, hit)| hit).collect()
    }

    /// Adds what is said of these examples to ten bins.
    pub fn check(forest: &Forest, examples: &Examples, bins: &mut Vec<Bin>) {
        bins.resize(10, Bin::default());
        for example in 0..examples.len() {
            let probability = forest.probability(examples.row(example));
            let bin = &mut bins[((probability * 10.0) as usize).min(9)];
            let weight = f64::from(examples.weights[example]);
            bin.count += weight;
            bin.predicted += weight * f64::from(probability);
            bin.right += if examples.labels[example] { weight } else { 0.0 };
        }
    }

    /// What the description of a model says of it.
    pub fn about(&self) -> Value {
        json!({
            "features": FEATURES,
            "links": self.about["links"],
            "trees": [self.alone.trees(), self.sourced.trees()],
            "calibration": self.about["calibration"],
        })
    }

    /// Its arrays.
    pub fn tensors(&self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::new();
        for ([feature, number, child, roots], forest) in ARRAYS.into_iter().zip([&self.alone, &self.sourced]) {
            tensors.push(Tensor::u32s(feature, &forest.feature));
            tensors.push(Tensor::floats(number, &forest.number));
            tensors.push(Tensor::u32s(child, &forest.child));
            tensors.push(Tensor::u32s(roots, &forest.roots));
        }
        tensors
    }

    /// That of a model; `None` in a model that was made without, or with other features than this program knows.
    pub fn of(model: &Model) -> Option<Ranker> {
        Ranker::read(model.container())
    }

    /// Reads it from a file that has one whose features are those of this program.
    pub fn read(container: &Container) -> Option<Ranker> {
        let about = &container.about()["hybrid"];
        if about["features"] != json!(FEATURES) {
            return None;
        }
        let forest = |[feature, number, child, roots]: [&str; 4]| {
            Some(Forest {
                feature: container.array(feature).ok()?.to_vec(),
                number: container.array(number).ok()?.to_vec(),
                child: container.array(child).ok()?.to_vec(),
                roots: container.array(roots).ok()?.to_vec(),
            })
        };
        let [alone, sourced] = ARRAYS.map(forest);
        Some(Ranker { alone: alone?, sourced: sourced?, about: about.clone() })
    }
}
