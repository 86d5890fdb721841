//! The approximate index of the embedding ranking, opened or built.

use std::time::Instant;

use anyhow::{Result, bail};
use hyperdoc2vec::Error;
use hyperdoc2vec::model::Sidecar;
use hyperdoc2vec::recommend::Recommender;
use hyperdoc2vec::search::{ApproximateIndex, INDEX_DEPTHS, Ranking, index_path};

use super::RecommendArgs;
use crate::output::{status, thousands};

/// The index, if it is asked for, built if it does not exist. `None` if all documents are to be searched.
pub fn index(
    arguments: &RecommendArgs,
    recommender: &Recommender<'_>,
    ranking: Ranking,
) -> Result<Option<ApproximateIndex>> {
    if !arguments.index {
        return Ok(None);
    }
    if ranking != Ranking::Embedding {
        let why = format!("--index is for the embedding ranking, not for {ranking}; add --rank embedding");
        bail!(Error::Usage(why));
    }
    if !recommender.rankings().contains(&Ranking::Embedding) {
        // The answer gives the reason.
        return Ok(None);
    }
    let most = INDEX_DEPTHS[1];
    let reason = match () {
        () if !arguments.only.is_empty() || arguments.before.is_some() => {
            Some("--only or --before is given".to_owned())
        }
        () if arguments.top > most => Some(format!("more than {most} hits are wanted")),
        () => None,
    };
    if let Some(reason) = reason {
        status(format_args!("--index is not used: {reason}, so all documents are searched"));
        return Ok(None);
    }
    let model = recommender.model();
    let path = index_path(model);
    let shown = path.display();
    let why = match ApproximateIndex::open(model, &path)? {
        Sidecar::Whole(index) => {
            status(format_args!("{shown}: {}", recall_text(&index, arguments.top)));
            return Ok(Some(index));
        }
        Sidecar::Missing => String::new(),
        Sidecar::Stale => " again: it belongs to another model".to_owned(),
        Sidecar::Damaged(what) => format!(" again: it is damaged ({what})"),
        Sidecar::Foreign(what) => bail!(Error::Foreign { path, what }),
    };
    status(format_args!("{shown}: building the index{why} …"));
    let started = Instant::now();
    let index = ApproximateIndex::build(model, &path)?;
    let seconds = started.elapsed().as_secs_f64();
    status(format_args!("{shown}: built in {seconds:.1} s; {}", recall_text(&index, arguments.top)));
    Ok(Some(index))
}

/// The share of the exact hits that an index finds, as a sentence.
fn recall_text(index: &ApproximateIndex, wanted: usize) -> String {
    let (found, questions) = (100.0 * recall(index, wanted), thousands(index.about().questions as u64));
    format!("it finds {found:.1} % of the exact hits, measured on {questions} questions")
}

/// The share of the exact hits that an index finds.
pub fn recall(index: &ApproximateIndex, wanted: usize) -> f64 {
    index.about().recall[usize::from(wanted > INDEX_DEPTHS[0])]
}
