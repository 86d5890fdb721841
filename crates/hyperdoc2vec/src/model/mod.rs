//! A trained model: one file with the vectors, and all that is needed to use them.
//!
//! | array | holds |
//! |---|---|
//! | `word_in`, `word_out`, `doc_in`, `doc_out` | the vectors, one row a word or document |
//! | `words.bytes`, `words.ends`, `words.index` | the words with vectors, by falling count, then those of the search index alone |
//! | `word_counts`, `word_documents` | how often a word with a vector occurs, in how many documents |
//! | `text.*`, `cited.*` | the search index: which documents have a word, see `model::index::postings`; in their own text, in the contexts of the links that point at them |
//! | `names.*`, `titles.*`, `urls.*`, `dates` | the documents, in the order of the corpus |
//! | `labels.*`, `document_labels`, `document_label` | the labels; where each document's end; its labels |
//! | `links_to` | how many links point at each document |
//! | `links.*`, `contexts.*`, `keywords.*` | the links with words around them, what documents are about, see `model::index::links` |
//! | `hybrid.*` | the learnt ranking, see `search::ranker`; not in every model |
//! | `newcomer_out` | from content to OUT vectors, see `infer::newcomers`; where there are links enough |
//!
//! The description (see `storage::container`) has the parameters, the seed, the corpus' fingerprint and the counts.

pub(crate) mod index;
mod method;
pub(crate) mod params;
mod phase_params;
pub(crate) mod sidecar;
pub(crate) mod tables;
pub(crate) mod weighting;
pub(crate) mod write;

pub use params::{
    CitationParams, DbowParams, DeepWalkParams, DirectParams, LossFunction, Method, NpmParams, ReferenceParams,
    TrainParams,
};
pub use sidecar::Sidecar;
pub use tables::Tables;

pub use crate::kernel::{Beyond, Matrix};
pub use crate::storage::strings::StringTable;

use std::path::Path;

use bytemuck::Pod;
use serde_json::Value;

use crate::document::Date;
use crate::document::tokenize::Tokenizer;
use crate::error::{Error, Result};
use crate::model::index::links::{Keywords, Links};
use crate::model::index::postings::Postings;
use crate::model::index::terms::Field;
use crate::storage::container::{Container, Tensor};

/// The name of the format.
pub const FORMAT: &str = "hyperdoc2vec model";
/// Its version; a reader refuses what is newer.
pub const VERSION: u32 = 2;

/// A model, mapped.
#[derive(Debug)]
pub struct Model {
    container: Container,
    params: TrainParams,
}

/// Which vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vectors {
    /// Words, as inputs.
    WordIn,
    /// Words, as outputs.
    WordOut,
    /// Documents as sources: what they say.
    DocIn,
    /// Documents as targets: what others say of them.
    DocOut,
}

impl Vectors {
    /// The name of the array.
    pub fn name(self) -> &'static str {
        match self {
            Vectors::WordIn => "word_in",
            Vectors::WordOut => "word_out",
            Vectors::DocIn => "doc_in",
            Vectors::DocOut => "doc_out",
        }
    }
}

impl Field {
    /// The names of the arrays: where lists end, the lists, the lengths of documents.
    pub(crate) fn arrays(self) -> [&'static str; 3] {
        match self {
            Field::Text => ["text.ends", "text.postings", "text.lengths"],
            Field::Cited => ["cited.ends", "cited.postings", "cited.lengths"],
        }
    }
}

impl Model {
    /// Opens a model. Sizes are checked, contents are not read: see [`Model::verify`].
    pub fn open(path: impl AsRef<Path>) -> Result<Model> {
        let path = path.as_ref();
        let container = Container::open(path, FORMAT, VERSION)?;
        let damaged = |what: String| Error::Damaged { path: path.to_owned(), what };
        let params: TrainParams = serde_json::from_value(container.about()["params"].clone())
            .map_err(|e| damaged(format!("its parameters cannot be read: {e}")))?;
        let model = Model { container, params };
        let (words, documents) = (model.words(), model.documents());
        let fits = model.container.shape("word_in") == [words, model.params.dim]
            && model.terms().ends.len() >= words
            && model.container.shape("word_out") == [words, model.params.dim]
            && model.container.shape("doc_in") == [documents, model.params.dim]
            && model.container.shape("doc_out") == [documents, model.params.dim]
            && model.container.shape("names.ends") == [documents]
            && model.container.shape("dates") == [documents];
        if fits { Ok(model) } else { Err(damaged("its arrays do not fit together".to_owned())) }
    }

    /// Reads everything and compares checksums.
    pub fn verify(&self) -> Result<()> {
        self.container.verify()
    }

    /// How it was trained.
    pub fn params(&self) -> &TrainParams {
        &self.params
    }

    /// Counts, parameters, provenance.
    pub fn about(&self) -> &Value {
        self.container.about()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.container.path()
    }

    /// The number of words that have vectors.
    pub fn words(&self) -> usize {
        self.container.shape("word_in").first().copied().unwrap_or(0)
    }

    /// The number of documents.
    pub fn documents(&self) -> usize {
        self.container.shape("names.ends").first().copied().unwrap_or(0)
    }

    /// The number of documents that it was trained on; others were added later.
    pub fn trained_documents(&self) -> usize {
        self.about()["counts"]["trained"].as_u64().map_or(self.documents(), |trained| trained as usize)
    }

    /// All arrays, to be written again as they are.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = Tensor<'_>> {
        self.container.tensors()
    }

    /// One of the four matrices.
    pub fn vectors(&self, which: Vectors) -> Result<Matrix<'_>> {
        let data = self.container.array(which.name())?;
        let rows = self.container.shape(which.name()).first().copied().unwrap_or(0);
        Ok(Matrix::new(data, rows, self.params.dim, self.params.dim))
    }

    fn strings(&self, names: [&str; 3]) -> StringTable<'_> {
        let [bytes, ends, index] = names;
        StringTable {
            bytes: self.container.array(bytes).unwrap_or_default(),
            ends: self.container.array(ends).unwrap_or_default(),
            index: self.container.array(index).unwrap_or_default(),
        }
    }

    /// The words that have vectors, by their rows.
    pub fn vocabulary(&self) -> StringTable<'_> {
        let terms = self.terms();
        StringTable { ends: &terms.ends[..self.words().min(terms.ends.len())], ..terms }
    }

    /// Reads text as that of the corpus was read.
    pub fn tokenizer(&self) -> Tokenizer {
        Tokenizer::new(self.about()["corpus"]["options"]["lowercase"].as_bool().unwrap_or(true))
    }

    /// The words of the search index, by their rows: those of [`Model::vocabulary`], and behind them the rarer ones.
    pub fn terms(&self) -> StringTable<'_> {
        self.strings(["words.bytes", "words.ends", "words.index"])
    }

    /// One half of the search index; `None` in a model that was made without.
    pub fn postings(&self, field: Field) -> Option<Postings<'_>> {
        let [ends, bytes, lengths] = field.arrays();
        let postings = Postings {
            ends: self.container.array(ends).ok()?,
            bytes: self.container.array(bytes).ok()?,
            lengths: self.container.array(lengths).ok()?,
        };
        (postings.lengths.len() == self.documents()).then_some(postings)
    }

    /// The ids of documents, by their rows.
    pub fn names(&self) -> StringTable<'_> {
        self.strings(["names.bytes", "names.ends", "names.index"])
    }

    /// The titles of documents, by their rows; empty where there is none.
    pub fn titles(&self) -> StringTable<'_> {
        self.strings(["titles.bytes", "titles.ends", ""])
    }

    /// Where readers find documents, by their rows; empty where that is not known.
    pub fn urls(&self) -> StringTable<'_> {
        self.strings(["urls.bytes", "urls.ends", ""])
    }

    /// All labels.
    pub fn labels(&self) -> StringTable<'_> {
        self.strings(["labels.bytes", "labels.ends", ""])
    }

    /// The labels of a document, as numbers of [`Model::labels`].
    pub fn label_ids(&self, document: usize) -> &[u32] {
        let ends: &[u64] = self.container.array("document_labels").unwrap_or_default();
        let start = if document == 0 { Some(&0) } else { ends.get(document - 1) };
        let range = start.zip(ends.get(document)).map(|(&start, &end)| start as usize..end as usize);
        let labels: &[u32] = self.container.array("document_label").unwrap_or_default();
        range.and_then(|range| labels.get(range)).unwrap_or_default()
    }

    /// How many links point at each document.
    pub fn links_to(&self) -> Result<&[u32]> {
        self.container.array("links_to")
    }

    /// The links, with words around them; `None` in a model that was made without.
    pub fn links(&self) -> Option<Links<'_>> {
        let links = Links {
            ends: self.container.array("links.ends").ok()?,
            sources: self.container.array("links.sources").ok()?,
            context_ends: self.container.array("contexts.ends").ok()?,
            contexts: self.container.array("contexts.words").ok()?,
        };
        (links.ends.len() == self.documents()).then_some(links)
    }

    /// What documents are about; `None` in a model that was made without.
    pub fn keywords(&self) -> Option<Keywords<'_>> {
        let keywords = Keywords {
            ends: self.container.array("keywords.ends").ok()?,
            rows: self.container.array("keywords.rows").ok()?,
            counts: self.container.array("keywords.counts").ok()?,
        };
        (keywords.ends.len() == self.documents()).then_some(keywords)
    }

    /// An array.
    pub(crate) fn array<T: Pod>(&self, name: &str) -> Result<&[T]> {
        self.container.array(name)
    }

    /// The file as arrays and a description.
    pub(crate) fn container(&self) -> &Container {
        &self.container
    }

    /// The date of a document.
    pub fn date(&self, document: usize) -> Option<Date> {
        self.dates().get(document).and_then(|&date| Date::from_packed(date))
    }

    /// The dates of all documents, packed (see [`Date::packed`]); 0 where there is none.
    pub fn dates(&self) -> &[i32] {
        self.container.array("dates").unwrap_or_default()
    }

    /// How often each word with a vector occurs.
    pub fn word_counts(&self) -> Result<&[u64]> {
        self.container.array("word_counts")
    }

    /// In how many documents each word with a vector occurs.
    pub fn word_documents(&self) -> Result<&[u64]> {
        self.container.array("word_documents")
    }
}
