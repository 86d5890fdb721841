//! Candidates for a question, and the features by which trees find the right ones.
//!
//! A feature is a name and a function, side by side in one of two tables. A model has the names of the features that its
//! trees know; later ones are added at the end of a table, and none is taken away or changed.

use std::rc::Rc;

use serde_json::{Value, json};

use super::signals::{Candidate, KnownSignals, SourceSignals, TextSignals};
use crate::error::Result;
use crate::id::DocRow;
use crate::kernel::ln;
use crate::search::ranker::LinkSource;
use crate::search::{Query, Searcher};

/// A feature of a candidate that follows from the text.
type TextFeature = (&'static str, fn(&TextSignals<'_>, &Candidate) -> f32);
/// A feature of a candidate that follows from the source of the text.
type SourceFeature = (&'static str, fn(&TextSignals<'_>, &SourceSignals, &Candidate) -> f32);

/// Features that need no source.
const TEXT_FEATURES: [TextFeature; 49] = [
    // The product of the context and the document's OUT vector, less the best; its place; the logarithm of its share.
    ("embedding", |text, it| text.embedding.scores.below_best(it.row)),
    ("embedding rank", |text, it| text.embedding.scores.log_rank(it.row)),
    ("embedding share", |text, it| text.embedding.scores.below_best(it.row) - text.log_total),
    // BM25 on the text: by the best, its place, by the most that could be reached.
    ("text", |text, it| text.text.relative(it.row)),
    ("text rank", |text, it| text.text.log_rank(it.row)),
    ("text reached", |text, it| text.text.of(it.row) / text.most_text),
    ("cited", |text, it| text.cited.relative(it.row)),
    ("cited rank", |text, it| text.cited.log_rank(it.row)),
    ("cited reached", |text, it| text.cited.of(it.row) / text.most_cited),
    // How well the document's IN vector, which comes from its text, predicts the words of the context.
    ("content", |text, it| text.content.scores.below_best(it.row)),
    ("content rank", |text, it| text.content.scores.log_rank(it.row)),
    ("links", |text, it| ln(1.0 + text.links(it.row))),
    ("age", |text, it| text.age(it.row, text.newest)),
    // Of the question, the same for all candidates.
    ("words", |text, _| ln(1.0 + text.words as f32)),
    ("best embedding share", |text, _| -text.log_total),
    ("best cited reached", |text, _| text.cited.best / text.most_cited),
    // BM25 on text and contexts where words weigh by another decay.
    ("passage", |text, it| text.passages(|more| more.passage.relative(it.row))),
    ("passage rank", |text, it| text.passages(|more| more.passage.log_rank(it.row))),
    ("passage reached", |text, it| text.passages(|more| more.passage.of(it.row) / more.most_passage)),
    ("best passage reached", |text, _| text.passages(|more| more.passage.best / more.most_passage)),
    ("text passage", |text, it| text.passages(|more| more.text.relative(it.row))),
    ("text passage rank", |text, it| text.passages(|more| more.text.log_rank(it.row))),
    // The words that stand out in the document.
    ("keywords", |_, it| it.keywords),
    // The contexts of links to it, one by one.
    ("best context", |_, it| it.contexts.best),
    ("best three contexts", |_, it| it.contexts.best_three),
    ("context votes", |_, it| it.contexts.votes),
    ("context phrase", |_, it| it.contexts.phrase),
    ("title", |_, it| it.title.found),
    ("title covered", |_, it| it.title.covered),
    ("title phrase", |_, it| it.title.phrase),
    ("title head", |_, it| it.title.head),
    // The links of documents whose text is like the question.
    ("neighbours", |text, it| text.passages(|more| more.neighbours.of(it.row))),
    ("neighbours rank", |text, it| text.passages(|more| more.neighbours.log_rank(it.row))),
    ("recent links", |_, it| ln(1.0 + it.recent_links)),
    ("recent links share", |text, it| it.recent_links / (1.0 + text.links(it.row))),
    // The authors' surnames, and the year.
    ("author", |_, it| it.authors.found),
    ("author covered", |_, it| it.authors.covered),
    ("first author", |_, it| it.authors.first),
    ("author rank", |text, it| text.passages(|more| more.authors.as_ref().map_or(0.0, |by| by.log_rank(it.row)))),
    ("best author", |text, _| text.passages(|more| more.authors.as_ref().map_or(0.0, |by| by.best))),
    ("year", |_, it| it.year),
    // Of the model, the same for all questions: for trees that were learnt from several.
    ("documents", |text, _| ln(1.0 + text.documents() as f32)),
    ("links a document", |text, _| text.links_a_document()),
    // BM25 where words outside the sentence of the link weigh less.
    ("sentence", |text, it| text.sentences(|more| more.cited.relative(it.row))),
    ("sentence rank", |text, it| text.sentences(|more| more.cited.log_rank(it.row))),
    ("sentence reached", |text, it| text.sentences(|more| more.cited.of(it.row) / more.most)),
    ("best sentence reached", |text, _| text.sentences(|more| more.cited.best / more.most)),
    ("text sentence", |text, it| text.sentences(|more| more.text.relative(it.row))),
    ("text sentence rank", |text, it| text.sentences(|more| more.text.log_rank(it.row))),
];

/// Features that need a source.
const SOURCE_FEATURES: [SourceFeature; 19] = [
    // Context and source together; the source alone.
    ("both", |_, source, it| source.both.below_best(it.row)),
    ("both rank", |_, source, it| source.both.log_rank(it.row)),
    ("source", |_, source, it| source.alone.scores.below_best(it.row)),
    ("source content", |_, source, it| source.content.scores.below_best(it.row)),
    ("source content rank", |_, source, it| source.content.scores.log_rank(it.row)),
    // The documents that the source links to already: this one; ones that others link to together with this one; ones that
    // link to it.
    ("linked", |_, source, it| source.linked.get(&it.row).copied().unwrap_or(0.0)),
    ("co-cited", |_, source, it| source.co_cited.of(it.row)),
    ("co-cited by its links", |text, source, it| source.co_cited.of(it.row) / (1.0 + text.links(it.row)).sqrt()),
    ("co-cited rank", |_, source, it| source.co_cited.log_rank(it.row)),
    ("linked by linked", |_, source, it| source.by_linked.get(&it.row).copied().unwrap_or(0.0)),
    ("source links", |_, source, _| ln(1.0 + source.links as f32)),
    // When the source was written, less when the candidate was.
    ("source age", |text, source, it| text.age(it.row, source.date)),
    // BM25 of its most characteristic words, and the links of the best documents by that.
    ("source passage", |_, source, it| source.passages(|more| more.passage.relative(it.row))),
    ("source passage rank", |_, source, it| source.passages(|more| more.passage.log_rank(it.row))),
    ("source neighbours", |_, source, it| source.passages(|more| more.neighbours.of(it.row))),
    ("source neighbours rank", |_, source, it| source.passages(|more| more.neighbours.log_rank(it.row))),
    // Authors that both have: their rarity, its share of that of all of the source, whether the first is the same.
    ("common authors", |_, _, it| it.in_common.found),
    ("common authors share", |_, _, it| it.in_common.share),
    ("common first author", |_, _, it| f32::from(u8::from(it.in_common.first))),
];

/// Text and source features of models before version 4.
const FIRST: [usize; 2] = [16, 12];
/// Text features of models before version 6.
const BEFORE_AUTHORS: usize = 35;
/// Text features of models before version 7.
const BEFORE_SENTENCES: usize = 43;

/// The features that trees know, in their order: those that need no source first.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureSet {
    /// By their places in the table.
    text: Vec<usize>,
    source: Vec<usize>,
}

impl Default for FeatureSet {
    /// All features.
    fn default() -> FeatureSet {
        FeatureSet { text: (0..TEXT_FEATURES.len()).collect(), source: (0..SOURCE_FEATURES.len()).collect() }
    }
}

impl FeatureSet {
    /// The features that a description names; `None` where this program does not know one.
    pub fn read(names: &Value) -> Option<FeatureSet> {
        let mut set = FeatureSet { text: Vec::new(), source: Vec::new() };
        for name in names.as_array()? {
            let name = name.as_str()?;
            match TEXT_FEATURES.iter().position(|(known, _)| *known == name) {
                Some(place) if set.source.is_empty() => set.text.push(place),
                _ => set.source.push(SOURCE_FEATURES.iter().position(|(known, _)| *known == name)?),
            }
        }
        Some(set)
    }

    /// The names, as a description has them.
    pub fn names(&self) -> Vec<&'static str> {
        let text = self.text.iter().map(|&place| TEXT_FEATURES[place].0);
        text.chain(self.source.iter().map(|&place| SOURCE_FEATURES[place].0)).collect()
    }

    /// As [`FeatureSet::names`], for a description.
    pub fn json(&self) -> Value {
        json!(self.names())
    }

    /// The place of a feature.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.names().iter().position(|&other| other == name)
    }

    /// How many need no source.
    pub fn alone(&self) -> usize {
        self.text.len()
    }

    /// How many there are.
    pub fn all(&self) -> usize {
        self.text.len() + self.source.len()
    }

    /// Which later signals the features need: these give more candidates, too.
    fn known(&self) -> KnownSignals {
        let text = |first: usize| self.text.iter().any(|&place| place >= first);
        let passages = text(FIRST[0]) || self.source.iter().any(|&place| place >= FIRST[1]);
        KnownSignals { passages, authors: text(BEFORE_AUTHORS), sentences: text(BEFORE_SENTENCES) }
    }

    /// Finds candidates for a question, and their features; `None` where the model knows no word of it.
    pub fn candidates(
        &self,
        searcher: &Searcher<'_>,
        query: &Query,
        source: Option<&LinkSource>,
        scope: Scope<'_>,
    ) -> Result<Option<Candidates>> {
        let Some(mut text) = TextSignals::new(searcher, query, scope, self.known())? else { return Ok(None) };
        let own = source.and_then(|source| source.document);
        let mut source = source.map(|source| SourceSignals::new(searcher, &text, source, scope)).transpose()?;
        let unsourced = text.candidates();
        let mut rows = unsourced.clone();
        if let Some(source) = &source {
            rows.extend(source.candidates(scope));
            rows.sort_unstable();
            rows.dedup();
        }
        let asked: Rc<[DocRow]> = rows.as_slice().into();
        text.tell(searcher, &asked)?;
        if let Some(source) = &mut source {
            source.tell(searcher, &text, &asked)?;
        }
        let width = if source.is_some() { self.all() } else { self.alone() };
        let mut features = Vec::with_capacity(rows.len() * width);
        for &row in &rows {
            let mut candidate = text.candidate(searcher, row, own)?;
            if let Some(source) = &source {
                candidate.in_common = source.authors_in_common(searcher, row);
            }
            features.extend(self.text.iter().map(|&place| (TEXT_FEATURES[place].1)(&text, &candidate)));
            if let Some(source) = &source {
                let of = |&place: &usize| (SOURCE_FEATURES[place].1)(&text, source, &candidate);
                features.extend(self.source.iter().map(of));
            }
        }
        let alone = rows.iter().map(|row| unsourced.binary_search(row).is_ok()).collect();
        Ok(Some(Candidates { rows, width, features, alone }))
    }
}

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
