//! Why a document is a hit: the share of each word in its scores, and the links to it that read most like the question.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::id::{DocRow, WordRow};
use crate::kernel::{Matrix, dot};
use crate::model::Vectors;
use crate::model::index::links::Context;
use crate::search::rank::products;
use crate::search::ranker::LinkSource;
use crate::search::{Query, Ranking, Searcher};

/// Links that are shown, at the most.
const SHOWN: usize = 2;

/// A sum and what it is made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sum {
    /// The sum.
    pub score: f32,
    /// Words and their shares, in the order of their rows; they add up to the sum, to rounding.
    pub shares: Vec<(WordRow, f32)>,
}

impl Sum {
    /// The shares, the greatest first.
    pub fn falling(&self) -> Vec<(WordRow, f32)> {
        let mut shares = self.shares.clone();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        shares
    }
}

/// Why a document is a hit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explanation {
    /// The embedding score; nothing where no word has a vector, or the method has none that lead to documents.
    pub embedding: Sum,
    /// The share of the source in it where documents are ranked by the embedding alone; 0 without a source.
    pub source: f32,
    /// BM25 on the text and the contexts of links; words that the document lacks are left out. Nothing where the model has
    /// no search index.
    pub bm25: Sum,
    /// Whether that is BM25 on the text alone, as documents were ranked by it.
    pub text_alone: bool,
    /// Links to it that read like the question, the likest first.
    pub contexts: Vec<Context>,
}

/// Explains `documents` as hits for `query` by `ranking`. Links that stand in `source` are not shown.
pub fn explain(
    searcher: &Searcher<'_>,
    query: &Query,
    documents: &[DocRow],
    source: Option<&LinkSource>,
    ranking: Ranking,
) -> Result<Vec<Explanation>> {
    let model = searcher.model();
    let text_alone = ranking == Ranking::Bm25;
    // Words are all that the rankings by BM25 look at.
    let tells = |_: &&LinkSource| matches!(ranking, Ranking::Embedding | Ranking::Hybrid);
    let added = source.filter(tells).map(|source| source.added(model)).transpose()?.flatten();
    let source = source.and_then(|source| source.document);
    let terms = searcher.terms(query);
    let shares = match (searcher.text(), searcher.cited()) {
        (Ok(text), _) if text_alone => text.shares(&terms, 1.0, documents),
        (_, Ok(cited)) => cited.shares(&terms, 1.0, documents),
        _ => vec![vec![]; documents.len()],
    };
    let (rows, weights) = match searcher.can_embed() {
        Ok(()) => query.weights(model)?,
        Err(_) => Default::default(),
    };
    let (words, out) = (model.stored_vectors(Vectors::WordIn), model.stored_vectors(Vectors::DocOut));
    let vector = searcher.vector(query)?.filter(|_| !rows.is_empty());
    let idf = |word: WordRow| searcher.cited().map_or(1.0, |cited| cited.idf(word));
    let worth: BTreeMap<WordRow, f32> = terms.iter().map(|term| (term.word, term.weight * idf(term.word))).collect();
    let links = model.links().unwrap_or_default();
    let explain = |(&document, bm25): (&DocRow, Vec<f32>)| {
        let target = out.row(document.index());
        let mut embedding = BTreeMap::<WordRow, f32>::new();
        for (&word, weight) in rows.iter().zip(&weights) {
            *embedding.entry(word).or_default() += weight * dot(&words.row(word.index()), &target);
        }
        let alone = Matrix::new(&target, 1, target.len(), target.len());
        let score = |vector: Option<&Vec<f32>>| vector.map_or(0.0, |it| products(it, alone)[0]);
        let likeness = |context: &Context| {
            let mut rows: Vec<WordRow> = context.before.iter().chain(&context.after).copied().collect();
            rows.sort_unstable();
            rows.dedup();
            rows.iter().filter_map(|row| worth.get(row)).sum::<f32>()
        };
        let others = links.contexts(document).filter(|context| Some(context.source) != source);
        let mut contexts: Vec<(f32, Context)> =
            others.map(|context| (likeness(&context), context)).filter(|(likeness, _)| *likeness > 0.0).collect();
        contexts.sort_by(|a, b| b.0.total_cmp(&a.0));
        // A second context with these words in this document adds nothing.
        contexts.dedup_by(|b, a| (a.1.source, &a.1.before, &a.1.after) == (b.1.source, &b.1.before, &b.1.after));
        let bm25: Vec<(WordRow, f32)> =
            terms.iter().map(|term| term.word).zip(bm25).filter(|(_, share)| *share > 0.0).collect();
        Explanation {
            embedding: Sum { score: score(vector.as_ref()), shares: embedding.into_iter().collect() },
            source: score(added.as_ref().filter(|_| vector.is_some())),
            bm25: Sum { score: bm25.iter().fold(0.0, |sum, (_, share)| sum + share), shares: bm25 },
            text_alone,
            contexts: contexts.into_iter().take(SHOWN).map(|(_, context)| context).collect(),
        }
    };
    Ok(documents.iter().zip(shares).map(explain).collect())
}
