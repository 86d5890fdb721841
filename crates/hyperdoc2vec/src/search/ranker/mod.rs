//! The learnt ranking: boosted trees over the scores of a candidate by every other ranking, giving its probability.
//!
//! Candidates are the best of the single rankings. Two forests, one for texts whose source is not known, one for those
//! whose source is, learn from links held out while a model is trained: see [`crate::train::ranker`].

mod calibration;
mod features;
mod fit;
pub(crate) mod forest;
mod prior;
mod ranking_scores;
mod signals;
mod source;

pub use calibration::{CalibrationBin, Scale, Shares, bins_json, expected_error};
pub use features::{Candidates, FeatureSet, Scope};
use serde_json::{Value, json};
pub use source::LinkSource;

use crate::error::Result;
use crate::id::{DocRow, WordRow};
use crate::model::index::short_fields::ShortField;
use crate::model::{FOREST_ARRAYS, Model};
use crate::search::rank::Hit;
use crate::search::ranker::forest::Forest;
use crate::search::{Query, Searcher};
use crate::storage::container::{Container, Tensor};

/// Where a model knows this share of a text, or more, probabilities hold; below it, they are the less believed.
const ENOUGH_KNOWN: f32 = 0.5;

/// A question of so few words that an author's name in it says more than all the rest: links in texts, from which trees
/// learn, have more words around them.
const FEW_WORDS: usize = 8;
/// How probable it is then taken to be that one of the author's works is meant: a rule, not learnt.
const NAMED: f32 = 0.9;

/// The learnt ranking.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranker {
    /// The features that the trees know.
    pub features: FeatureSet,
    /// For texts whose source is not known.
    pub alone: Forest,
    /// For those whose source is.
    pub sourced: Forest,
    /// The probability that a score of each stands for.
    pub scales: [Scale; 2],
    /// What the best hits for a link are each of, where one of them is taken to be meant, and the source is known.
    pub shares: Shares,
    /// Whether a text of which the model knows little has hits that are as much less probable. With models before version
    /// 8 it does not: unknown words were as good as not there.
    pub heeds_unknown_words: bool,
    /// How many links were learnt from, and how well probabilities held.
    pub about: Value,
}

impl Ranker {
    /// The best `wanted` documents, by falling probability, and of equal ones by BM25 with the contexts; a
    /// hit's score is its probability. `None` where the model knows no word of the question.
    pub fn rank(
        &self,
        searcher: &Searcher<'_>,
        query: &Query,
        source: Option<&LinkSource>,
        wanted: usize,
        scope: Scope<'_>,
    ) -> Result<Option<Vec<Hit>>> {
        let candidates = self.features.candidates(searcher, query, source, scope)?;
        let known = if self.heeds_unknown_words { (searcher.known_share(query) / ENOUGH_KNOWN).min(1.0) } else { 1.0 };
        let named = if self.heeds_unknown_words { named_author(searcher, query) } else { None };
        let mut hits = candidates.map(|candidates| match named {
            None => self.order(&candidates, wanted),
            Some(author) => {
                let mut hits = self.order(&candidates, candidates.rows.len());
                heed_author(searcher, author, &mut hits);
                hits.truncate(wanted);
                hits
            }
        });
        hits.iter_mut().flatten().for_each(|hit| hit.score *= known);
        Ok(hits)
    }

    /// The best `wanted` of the candidates.
    pub fn order(&self, candidates: &Candidates, wanted: usize) -> Vec<Hit> {
        let (forest, scale) = match candidates.width > self.features.alone() {
            true => (&self.sourced, self.scales[1]),
            false => (&self.alone, self.scales[0]),
        };
        let cited = self.features.place("cited").unwrap_or(0);
        let scores = forest.score_rows(&candidates.features, candidates.width);
        let hit = |(place, (&row, score)): (usize, (&DocRow, f32))| {
            (score, candidates.row(place)[cited], Hit { row: row.0, score: scale.probability(score) })
        };
        let mut hits: Vec<(f32, f32, Hit)> = candidates.rows.iter().zip(scores).enumerate().map(hit).collect();
        hits.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.row.cmp(&b.2.row)));
        hits.into_iter().take(wanted).map(|(_, _, hit)| hit).collect()
    }

    /// The ranker that was learnt from other collections: for those with too few links to learn from. See
    /// `bench/lab/src/bin/prior.rs`.
    pub fn prior() -> Ranker {
        prior::ranker()
    }

    /// Its description in that of a model.
    pub fn about(&self) -> Value {
        json!({
            "features": self.features.json(),
            "links": self.about["links"],
            "trees": [self.alone.trees(), self.sourced.trees()],
            "calibration": self.about["calibration"],
            "scales": self.scales.map(Scale::json),
            "shares": self.shares.json(),
            "unknown_words": self.heeds_unknown_words,
        })
    }

    /// Its arrays.
    pub fn tensors(&self) -> Vec<Tensor<'_>> {
        let mut tensors = Vec::new();
        for ([feature, number, child, roots], forest) in FOREST_ARRAYS.into_iter().zip([&self.alone, &self.sourced]) {
            tensors.push(Tensor::u32s(feature, &forest.feature));
            tensors.push(Tensor::floats(number, &forest.number));
            tensors.push(Tensor::u32s(child, &forest.child));
            tensors.push(Tensor::u32s(roots, &forest.roots));
        }
        tensors
    }

    /// The ranker of a model; `None` in a model that was made without, or with other features than this program knows.
    pub fn of(model: &Model) -> Option<Ranker> {
        Ranker::read(model.container())
    }

    /// Reads the ranker of a model or a checkpoint.
    pub(crate) fn read(container: &Container) -> Option<Ranker> {
        let about = &container.about()["hybrid"];
        let features = FeatureSet::read(&about["features"])?;
        let forest = |[feature, number, child, roots]: [&str; 4]| {
            Some(Forest {
                feature: container.array(feature).ok()?.to_vec(),
                number: container.array(number).ok()?.to_vec(),
                child: container.array(child).ok()?.to_vec(),
                roots: container.array(roots).ok()?.to_vec(),
            })
        };
        let [alone, sourced] = FOREST_ARRAYS.map(forest);
        let scales = [0, 1].map(|kind| Scale::read(&about["scales"][kind]));
        let shares = Shares::read(&about["shares"]);
        let heeds_unknown_words = about["unknown_words"].as_bool().unwrap_or(false);
        let (alone, sourced, about) = (alone?, sourced?, about.clone());
        Some(Ranker { features, alone, sourced, scales, shares, heeds_unknown_words, about })
    }
}

/// The surname right before the mark of a short question, alone or as "… et al." or "… and …", if some document has an
/// author of that name.
fn named_author(searcher: &Searcher<'_>, query: &Query) -> Option<WordRow> {
    if query.words.len() > FEW_WORDS {
        return None;
    }
    let words = &query.words[..query.before];
    let at = |distance: usize| words.iter().find(|word| word.distance == distance).map(|word| word.row);
    let reads = |distance: usize, wanted: &str| {
        at(distance).is_some_and(|row| searcher.model().terms().get(row.index()) == wanted)
    };
    let first = match (reads(1, "et") && reads(0, "al")) || reads(1, "and") {
        true => at(2),
        false => at(0),
    };
    first.filter(|&row| !searcher.named(ShortField::Authors, row).is_empty())
}

/// Says that one of an author's works is meant: of those that begin with the name, or else of all that have it.
fn heed_author(searcher: &Searcher<'_>, author: WordRow, hits: &mut [Hit]) {
    let of = |hit: &Hit| searcher.short_words(ShortField::Authors, DocRow(hit.row));
    let first = hits.iter().any(|hit| of(hit).first() == Some(&author));
    let named = |hit: &Hit| if first { of(hit).first() == Some(&author) } else { of(hit).contains(&author) };
    let works = hits.iter().filter(|hit| named(hit)).count();
    for hit in hits.iter_mut().filter(|hit| named(hit)) {
        hit.score = 1.0 - (1.0 - hit.score) * (1.0 - NAMED / works as f32);
    }
    // Those of the same probability stay in the order of the trees.
    hits.sort_by(|one, other| other.score.total_cmp(&one.score));
}
