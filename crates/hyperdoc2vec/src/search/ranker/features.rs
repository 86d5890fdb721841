//! Candidates for a question, and the features by which trees find the right ones.
//!
//! A feature is a name and a function, side by side in one of two tables; the order of the tables is the order in a model.

use std::collections::BTreeMap;

use crate::document::Date;
use crate::error::Result;
use crate::id::{DocRow, WordRow};
use crate::kernel::{exp_all, gather_sum, ln};
use crate::model::index::terms::Field;
use crate::model::{Model, Vectors};
use crate::search::rank::{Hit, products, top};
use crate::search::ranker::LinkSource;
use crate::search::{Query, Searcher};

/// Candidates that each ranking gives.
const CANDIDATES: usize = 64;
/// A stand-in for a score that is not known.
const UNKNOWN: f32 = -50.0;
/// Of the documents linked in a source so many are looked at.
const MOST_LINKED: usize = 64;

/// A feature of a candidate that follows from the text.
type TextFeature = (&'static str, fn(&TextSignals<'_>, DocRow) -> f32);
/// A feature of a candidate that follows from the source of the text.
type SourceFeature = (&'static str, fn(&TextSignals<'_>, &SourceSignals, DocRow) -> f32);

/// Features that need no source.
const TEXT_FEATURES: [TextFeature; 16] = [
    // The product of the context and the document's OUT vector, less the best; its place; the logarithm of its share.
    ("embedding", |text, row| text.embedding.below_best(row)),
    ("embedding rank", |text, row| text.embedding.log_rank(row)),
    ("embedding share", |text, row| text.embedding.below_best(row) - text.log_total),
    // BM25 on the text: by the best, its place, by the most that could be reached.
    ("text", |text, row| text.text.relative(row)),
    ("text rank", |text, row| text.text.log_rank(row)),
    ("text reached", |text, row| text.text.of(row) / text.most_text),
    ("cited", |text, row| text.cited.relative(row)),
    ("cited rank", |text, row| text.cited.log_rank(row)),
    ("cited reached", |text, row| text.cited.of(row) / text.most_cited),
    // How well the document's IN vector, which comes from its text, predicts the words of the context.
    ("content", |text, row| text.content.below_best(row)),
    ("content rank", |text, row| text.content.log_rank(row)),
    ("links", |text, row| ln(1.0 + text.links(row))),
    ("age", |text, row| text.age(row, text.newest)),
    // Of the question, the same for all candidates.
    ("words", |text, _| ln(1.0 + text.words as f32)),
    ("best embedding share", |text, _| -text.log_total),
    ("best cited reached", |text, _| text.cited.best / text.most_cited),
];

/// Features that need a source.
const SOURCE_FEATURES: [SourceFeature; 12] = [
    // Context and source together; the source alone.
    ("both", |_, source, row| source.both.below_best(row)),
    ("both rank", |_, source, row| source.both.log_rank(row)),
    ("source", |_, source, row| source.alone.below_best(row)),
    ("source content", |_, source, row| source.content.below_best(row)),
    ("source content rank", |_, source, row| source.content.log_rank(row)),
    // The documents that the source links to already: this one; ones that others link to together with this one; ones that
    // link to it.
    ("linked", |_, source, row| source.linked.get(&row).copied().unwrap_or(0.0)),
    ("co-cited", |_, source, row| source.co_cited.of(row)),
    ("co-cited by its links", |text, source, row| source.co_cited.of(row) / (1.0 + text.links(row)).sqrt()),
    ("co-cited rank", |_, source, row| source.co_cited.log_rank(row)),
    ("linked by linked", |_, source, row| source.by_linked.get(&row).copied().unwrap_or(0.0)),
    ("source links", |_, source, _| ln(1.0 + source.links as f32)),
    // When the source was written, less when the candidate was.
    ("source age", |text, source, row| text.age(row, source.date)),
];

/// The names of all features. The first [`ALONE`] are known without a source.
pub const FEATURES: [&str; TEXT_FEATURES.len() + SOURCE_FEATURES.len()] = {
    let mut names = [""; TEXT_FEATURES.len() + SOURCE_FEATURES.len()];
    let mut number = 0;
    while number < names.len() {
        names[number] = if number < ALONE { TEXT_FEATURES[number].0 } else { SOURCE_FEATURES[number - ALONE].0 };
        number += 1;
    }
    names
};
/// How many features need no source.
pub const ALONE: usize = TEXT_FEATURES.len();

/// The documents that a question is about.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// Documents that a link could lead to: scores and places are relative to these.
    pub eligible: &'a (dyn Fn(usize) -> bool + Sync),
    /// Those of them that may be hits. Their number does not change the features of one.
    pub allowed: &'a (dyn Fn(usize) -> bool + Sync),
}

impl<'a> Scope<'a> {
    /// All documents.
    pub const ALL: Scope<'static> = Scope { eligible: &|_| true, allowed: &|_| true };

    /// Documents that a link could lead to, all of which may be hits.
    pub const fn of(eligible: &'a (dyn Fn(usize) -> bool + Sync)) -> Scope<'a> {
        Scope { eligible, allowed: eligible }
    }
}

/// Candidates with their features.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates {
    /// The documents, rising.
    pub rows: Vec<DocRow>,
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

/// The scores of one ranking: one for each document, the places of the best, and its candidates.
struct RankingScores {
    scores: Vec<f32>,
    places: BTreeMap<DocRow, usize>,
    best: f32,
    candidates: Vec<DocRow>,
}

impl RankingScores {
    fn new(scores: Vec<f32>, wanted: usize, scope: Scope<'_>) -> RankingScores {
        RankingScores::above(f32::NEG_INFINITY, scores, wanted, scope)
    }

    /// Documents with scores that are not above `least` have no place.
    fn above(least: f32, scores: Vec<f32>, wanted: usize, Scope { eligible, allowed }: Scope<'_>) -> RankingScores {
        let hits = top(&scores, wanted, |row| eligible(row) && scores[row] > least);
        let best = hits.first().map_or(0.0, |hit| hit.score);
        let rows = |hits: &[Hit]| hits.iter().map(|hit| DocRow(hit.row)).collect::<Vec<DocRow>>();
        let candidates = match hits.iter().all(|hit| allowed(hit.row as usize)) {
            true => rows(&hits),
            false => rows(&top(&scores, wanted, |row| eligible(row) && allowed(row) && scores[row] > least)),
        };
        let places = hits.iter().zip(0..).map(|(hit, place)| (DocRow(hit.row), place)).collect();
        RankingScores { scores, places, best, candidates }
    }

    /// No document has a score.
    fn unknown(documents: usize) -> RankingScores {
        RankingScores { scores: vec![UNKNOWN; documents], places: BTreeMap::new(), best: 0.0, candidates: Vec::new() }
    }

    fn of(&self, row: DocRow) -> f32 {
        self.scores[row.index()]
    }

    fn below_best(&self, row: DocRow) -> f32 {
        self.of(row) - self.best
    }

    fn relative(&self, row: DocRow) -> f32 {
        if self.best > 0.0 { self.of(row) / self.best } else { 0.0 }
    }

    fn log_rank(&self, row: DocRow) -> f32 {
        ln(1.0 + self.places.get(&row).map_or(2 * CANDIDATES, |&place| place) as f32)
    }
}

/// The rankings of all documents for a text.
struct TextSignals<'a> {
    model: &'a Model,
    links_to: &'a [u32],
    embedding: RankingScores,
    content: RankingScores,
    text: RankingScores,
    cited: RankingScores,
    /// The most that BM25 could reach, on the text and with the contexts of links.
    most_text: f32,
    most_cited: f32,
    /// The logarithm of the sum over documents of what the embedding predicts, less the best.
    log_total: f32,
    newest: Option<Date>,
    words: usize,
}

impl<'a> TextSignals<'a> {
    /// `None` where the model knows no word of the question.
    fn new(searcher: &Searcher<'a>, query: &Query, scope: Scope<'_>) -> Result<Option<TextSignals<'a>>> {
        let model = searcher.model();
        let documents = model.documents();
        let terms = searcher.terms(query);
        if terms.is_empty() {
            return Ok(None);
        }
        let by_words = |field| -> Result<RankingScores> {
            let scores = searcher.bm25_scores(query, field)?.unwrap_or_default();
            Ok(RankingScores::above(0.0, scores, CANDIDATES, scope))
        };
        let (text, cited) = (by_words(Field::Text)?, by_words(Field::Cited)?);
        let (bm25, bm25f) = (searcher.text()?, searcher.cited()?);
        let most =
            |idf: &dyn Fn(WordRow) -> f32| terms.iter().map(|term| term.weight * idf(term.word)).sum::<f32>().max(1e-6);
        let (rows, weights) = query.weights(model)?;
        let vector = |which| -> Result<Vec<f32>> {
            let mut vector = vec![0.0; model.params().dim];
            gather_sum(model.vectors(which), WordRow::numbers(&rows), &weights, &mut vector);
            Ok(vector)
        };
        let (embedding, content) = if rows.is_empty() {
            (RankingScores::unknown(documents), RankingScores::unknown(documents))
        } else {
            let scores = products(&vector(Vectors::WordIn)?, model.vectors(Vectors::DocOut));
            let content = products(&vector(Vectors::WordOut)?, model.vectors(Vectors::DocIn));
            (RankingScores::new(scores, CANDIDATES, scope), RankingScores::new(content, CANDIDATES / 2, scope))
        };
        let eligible = || (0..documents).filter(|&row| (scope.eligible)(row));
        let mut shares: Vec<f32> = eligible().map(|row| (embedding.scores[row] - embedding.best).max(-80.0)).collect();
        exp_all(&mut shares);
        let log_total = ln(shares.iter().fold(0.0f32, |sum, share| sum + share).max(1.0));
        let dates = model.dates();
        let newest = eligible().filter_map(|row| dates.get(row)).max().and_then(|&date| Date::from_packed(date));
        Ok(Some(TextSignals {
            model,
            links_to: model.links_to(),
            embedding,
            content,
            text,
            cited,
            most_text: most(&|word| bm25.idf(word)),
            most_cited: most(&|word| bm25f.idf(word)),
            log_total,
            newest,
            words: query.words.len(),
        }))
    }

    fn links(&self, row: DocRow) -> f32 {
        self.links_to.get(row.index()).copied().unwrap_or(0) as f32
    }

    /// Years from the date of a document to `now`.
    fn age(&self, row: DocRow, now: Option<Date>) -> f32 {
        now.zip(self.model.date(row.index())).map_or(UNKNOWN, |(now, date)| years(now) - years(date))
    }
}

/// The rankings of all documents for a source, alone and with a text.
struct SourceSignals {
    both: RankingScores,
    alone: RankingScores,
    content: RankingScores,
    co_cited: RankingScores,
    /// How often the source links to a document, and how often those do that it links to.
    linked: BTreeMap<DocRow, f32>,
    by_linked: BTreeMap<DocRow, f32>,
    links: usize,
    date: Option<Date>,
}

impl SourceSignals {
    fn new(
        searcher: &Searcher<'_>,
        text: &TextSignals<'_>,
        source: &LinkSource,
        scope: Scope<'_>,
    ) -> Result<SourceSignals> {
        let model = searcher.model();
        let documents = model.documents();
        let scores = |which, documents_by| -> Result<Vec<f32>> {
            let table = model.vectors(documents_by);
            Ok(source.vector(model, which)?.map_or(vec![0.0; documents], |vector| products(&vector, table)))
        };
        let alone = scores(Vectors::WordIn, Vectors::DocOut)?;
        let content = scores(Vectors::WordOut, Vectors::DocIn)?;
        let weight = model.params().citation.source_weight;
        let both = text.embedding.scores.iter().zip(&alone).map(|(context, source)| context + weight * source);
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
                        co_cited[target.index()] += weight;
                    }
                }
            }
        }
        Ok(SourceSignals {
            both: RankingScores::new(both.collect(), CANDIDATES, scope),
            alone: RankingScores::new(alone, 1, scope),
            content: RankingScores::new(content, CANDIDATES / 4, scope),
            co_cited: RankingScores::above(0.0, co_cited, CANDIDATES / 2, scope),
            linked,
            by_linked,
            links: source.links.len(),
            date: source.date,
        })
    }
}

fn years(date: Date) -> f32 {
    let packed = date.packed();
    (packed / 10_000) as f32 + (packed / 100 % 100) as f32 / 12.0
}

/// Finds candidates for a question, and their features; `None` where the model knows no word of it.
pub fn candidates(
    searcher: &Searcher<'_>,
    query: &Query,
    source: Option<&LinkSource>,
    scope: Scope<'_>,
) -> Result<Option<Candidates>> {
    let Some(text) = TextSignals::new(searcher, query, scope)? else { return Ok(None) };
    let source = source.map(|source| SourceSignals::new(searcher, &text, source, scope)).transpose()?;
    let of = |rankings: &[&RankingScores]| -> Vec<DocRow> {
        let mut rows: Vec<DocRow> = rankings.iter().flat_map(|scores| &scores.candidates).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    };
    let unsourced = of(&[&text.embedding, &text.text, &text.cited, &text.content]);
    let mut rows = unsourced.clone();
    if let Some(source) = &source {
        rows.extend(of(&[&source.both, &source.content, &source.co_cited]));
        let may_be = |row: usize| (scope.eligible)(row) && (scope.allowed)(row);
        rows.extend(source.linked.keys().filter(|row| may_be(row.index())));
        rows.sort_unstable();
        rows.dedup();
    }
    let width = if source.is_some() { FEATURES.len() } else { ALONE };
    let mut features = Vec::with_capacity(rows.len() * width);
    for &row in &rows {
        features.extend(TEXT_FEATURES.iter().map(|(_, of)| of(&text, row)));
        let sourced = source.iter().flat_map(|source| SOURCE_FEATURES.iter().map(|(_, of)| of(&text, source, row)));
        features.extend(sourced);
    }
    let alone = rows.iter().map(|row| unsourced.binary_search(row).is_ok()).collect();
    Ok(Some(Candidates { rows, width, features, alone }))
}
