//! An answer: the hits, what is known of them, and why they were found.

use crate::document::Date;
use crate::id::WordRow;
use crate::import::CITED_ONLY;
use crate::model::Model;
use crate::model::index::links::Context;
use crate::model::index::quotes::Quote;
use crate::search::explain::{Explanation, Sum};
use crate::search::{Hit, Query, Ranking};

/// The documents that a text should link to.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The ranking that was used.
    pub ranking: Ranking,
    /// The text as the model read it.
    pub query: QuerySummary,
    /// The best first.
    pub hits: Vec<DocumentHit>,
    /// Why there are no hits.
    pub reason: Option<String>,
}

/// A text as a model read it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct QuerySummary {
    /// How many words the text has.
    pub length: usize,
    /// Whether a place is marked in it.
    pub marked: bool,
    /// Words that the model does not know, each once.
    pub unknown: Vec<String>,
    /// The words that count, in the order of reading.
    pub words: Vec<String>,
    /// How many of these stand before the mark.
    pub before: usize,
}

/// A document that was found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DocumentHit {
    /// Its row in the vectors of the model.
    pub row: usize,
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// Its authors, the first author first.
    pub authors: Vec<String>,
    /// Whether it is cited by documents of a library, and is not in the library itself.
    pub cited_only: bool,
    /// Higher is better; what it means depends on the ranking.
    pub score: f32,
    /// The probability that the link points at it, where the ranking gives one.
    pub probability: Option<f32>,
    /// How many links point at it.
    pub links: Option<u32>,
    /// Its date.
    pub date: Option<Date>,
    /// Where readers find it.
    pub url: Option<String>,
    /// Why it was found, if the question asked for that.
    pub why: Option<Why>,
}

/// Why a document was found.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Why {
    /// The score by embedding, without the source.
    pub embedding: WordShares,
    /// The share of the source in it.
    pub source: f32,
    /// The score by BM25: on the text and the contexts of links, or on the text alone, see [`Why::text_alone`].
    pub bm25: WordShares,
    /// Whether that is BM25 on the text alone, as documents were ranked by it.
    pub text_alone: bool,
    /// Links to it that read like the text.
    pub contexts: Vec<LinkQuote>,
}

/// A score and what each word adds to it.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct WordShares {
    /// The score.
    pub score: f32,
    /// Words with their shares, the greatest first; the shares add up to the score.
    pub shares: Vec<(String, f32)>,
}

/// A link in its sentence, as it was written; in models before version 5, with the words around it as the model reads them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkQuote {
    /// The id of the document that the link stands in.
    pub source: String,
    /// The title of that document.
    pub title: Option<String>,
    /// Text before the link.
    pub before: String,
    /// The link's own words; none where a link has none, as in papers, and in older models, where they end `before`.
    pub anchor: String,
    /// Text behind it.
    pub after: String,
    /// Whether it is as it was written.
    pub as_written: bool,
}

impl LinkQuote {
    pub(crate) fn new(model: &Model, context: &Context) -> LinkQuote {
        let source = context.source.index();
        let written = model.quotes().and_then(|quotes| quotes.of(context.link));
        let as_written = written.is_some();
        let Quote { before, anchor, after } = written.unwrap_or_else(|| Quote {
            before: words(model, &context.before),
            anchor: String::new(),
            after: words(model, &context.after),
        });
        let (source, title) = (model.names().get(source).to_owned(), title(model, source));
        LinkQuote { source, title, before, anchor, after, as_written }
    }

    /// The link's own words in brackets; `[this]`, between spaces where the text has none, for a link without.
    pub fn shown_anchor(&self) -> String {
        match (self.anchor.as_str(), self.as_written) {
            ("", true) => "[this]".to_owned(),
            ("", false) => " [this] ".to_owned(),
            (anchor, _) => format!("[{anchor}]"),
        }
    }
}

impl DocumentHit {
    pub(crate) fn new(model: &Model, hit: &Hit) -> DocumentHit {
        let row = hit.row as usize;
        DocumentHit {
            row,
            id: model.names().get(row).to_owned(),
            title: title(model, row),
            authors: model.authors(row).map(str::to_owned).collect(),
            cited_only: model.has_label(row, CITED_ONLY),
            score: hit.score,
            probability: None,
            links: model.links_to().get(row).copied(),
            date: model.date(row),
            url: url(model, row),
            why: None,
        }
    }
}

impl QuerySummary {
    pub(crate) fn new(model: &Model, query: Query) -> QuerySummary {
        let (rows, before) = query.reading();
        let terms = model.terms();
        let words = rows.iter().map(|row| terms.get(row.index()).to_owned()).collect();
        QuerySummary { length: query.length, marked: query.marked, unknown: query.unknown, words, before }
    }
}

impl Why {
    pub(crate) fn new(model: &Model, explanation: &Explanation) -> Why {
        let terms = model.terms();
        let shares = |sum: &Sum| WordShares {
            score: sum.score,
            shares: sum.falling().iter().map(|&(row, share)| (terms.get(row.index()).to_owned(), share)).collect(),
        };
        Why {
            embedding: shares(&explanation.embedding),
            source: explanation.source,
            bm25: shares(&explanation.bm25),
            text_alone: explanation.text_alone,
            contexts: explanation.contexts.iter().map(|context| LinkQuote::new(model, context)).collect(),
        }
    }
}

/// The title of a document, if it has one.
pub(crate) fn title(model: &Model, row: usize) -> Option<String> {
    Some(model.titles().get(row)).filter(|title| !title.is_empty()).map(str::to_owned)
}

/// Where readers find a document, if that is known.
pub(crate) fn url(model: &Model, row: usize) -> Option<String> {
    Some(model.urls().get(row)).filter(|url| !url.is_empty()).map(str::to_owned)
}

/// Words by their rows, as text.
fn words(model: &Model, rows: &[WordRow]) -> String {
    let terms = model.terms();
    rows.iter().map(|row| terms.get(row.index())).collect::<Vec<_>>().join(" ")
}
