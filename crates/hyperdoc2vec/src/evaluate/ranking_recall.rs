//! The share of held-out links that each ranking of one model finds.

use rayon::prelude::*;

use crate::corpus::Corpus;
use crate::corpus::split::{HeldOutLink, Split};
use crate::corpus::view::View;
use crate::error::Result;
use crate::model::Model;
use crate::model::index::terms::{Field, Terms};
use crate::search::ranker::{LinkSource, Ranker, Scope};
use crate::search::{Query, Ranking, Searcher, rank};

/// Recall of one ranking, as shares from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RankingRecall {
    /// The ranking.
    pub ranking: Ranking,
    /// Whether the ranking knew the document that the link stands in.
    pub sourced: bool,
    /// With the link's own words.
    pub with_anchor: f64,
    /// Without them.
    pub without_anchor: f64,
}

/// Asks a model that was trained on the training documents of `split` for links of its test documents, evenly chosen and
/// about `questions` of them, by every ranking that it has. A link counts as found if its target is among the first `top`
/// hits. Returns the number of questions and the recall of each ranking.
pub fn ranking_recall(
    corpus: &Corpus,
    split: &Split,
    model: &Model,
    questions: usize,
    top: usize,
) -> Result<(usize, Vec<RankingRecall>)> {
    let (searcher, ranker) = (Searcher::new(model), Ranker::of(model));
    let view = View::new(corpus, split, model.params().min_count)?;
    let mut terms = Terms::new(&view);
    terms.truncate(model.terms().ends.len());
    let all = split.queries(corpus);
    let positions: Vec<&HeldOutLink> = all.iter().step_by((all.len() / questions.max(1)).max(1)).collect();
    let recall = |ranking: Ranking, sourced: bool, anchors: bool| -> Result<f64> {
        let ask = |query: &&HeldOutLink| -> Result<f64> {
            let question = Query::of_link(&view, &terms, query.position, model.params().window, anchors).in_sentence(
                corpus,
                query.position,
                anchors,
            )?;
            let hits = match (ranking, &ranker) {
                (Ranking::Hybrid, Some(ranker)) => {
                    let source =
                        if sourced { Some(LinkSource::of_link(&view, model, query.position, |_| true)?) } else { None };
                    ranker.rank(&searcher, &question, source.as_ref(), top, Scope::ALL)?.unwrap_or_default()
                }
                (Ranking::Hybrid, None) => vec![],
                (ranking, _) => {
                    let scores = match ranking {
                        Ranking::Embedding => searcher.embedding_scores(&question, None)?,
                        Ranking::Bm25 => searcher.bm25_scores(&question, Field::Text)?,
                        _ => searcher.bm25_scores(&question, Field::Cited)?,
                    };
                    rank::top(&scores.unwrap_or_default(), top, |_| true)
                }
            };
            let found = query.truths.iter().filter(|&&truth| {
                let row = view.document_row(truth).map(|row| row.0);
                hits.iter().any(|hit| Some(hit.row) == row)
            });
            Ok(found.count() as f64 / query.truths.len() as f64)
        };
        let found: Vec<f64> = positions.par_iter().map(ask).collect::<Result<_>>()?;
        Ok(found.iter().sum::<f64>() / found.len().max(1) as f64)
    };
    let mut rankings = vec![(Ranking::Bm25, false), (Ranking::Bm25Cited, false), (Ranking::Embedding, false)];
    if ranker.is_some() {
        rankings.extend([(Ranking::Hybrid, false), (Ranking::Hybrid, true)]);
    }
    let row = |(ranking, sourced)| {
        let (with_anchor, without_anchor) = (recall(ranking, sourced, true)?, recall(ranking, sourced, false)?);
        Ok(RankingRecall { ranking, sourced, with_anchor, without_anchor })
    };
    Ok((positions.len(), rankings.into_iter().map(row).collect::<Result<_>>()?))
}
