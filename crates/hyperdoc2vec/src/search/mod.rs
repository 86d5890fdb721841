//! Searching a model: text in, documents out, by vectors or by words.

pub(crate) mod approximate;
pub(crate) mod bm25;
pub(crate) mod explain;
pub(crate) mod maxscore;
pub(crate) mod query;
pub(crate) mod rank;
pub(crate) mod ranker;
pub(crate) mod searcher;

pub use approximate::{Index as ApproximateIndex, WANTED as INDEX_DEPTHS, path as index_path};
pub(crate) use query::Query;
pub(crate) use rank::{Hit, nearest, nearest_to};
pub(crate) use searcher::Searcher;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::error::unknown_name;

/// A way to rank documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", parse_err_ty = String, parse_err_fn = unknown_ranking)]
#[non_exhaustive]
pub enum Ranking {
    /// The product of the context's IN vector and the document's OUT vector.
    Embedding,
    /// BM25 on the text of the document.
    Bm25,
    /// BM25 on its text and on the contexts of the links that point at it.
    Bm25Cited,
    /// All of them and more, weighed as was learnt.
    Hybrid,
}

fn unknown_ranking(name: &str) -> String {
    unknown_name::<Ranking>("a ranking", name)
}

impl Ranking {
    /// The name.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
