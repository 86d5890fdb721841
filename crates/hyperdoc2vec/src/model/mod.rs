//! A trained model: one file with the vectors, and all that is needed to use them.
//!
//! | array | holds |
//! |---|---|
//! | `word_in`, `word_out`, `doc_in`, `doc_out` | the vectors, one row a word or document; from version 8 on perhaps in half precision |
//! | `words.bytes`, `words.ends`, `words.index` | the words with vectors, by falling count, then those of the search index alone |
//! | `word_counts`, `word_documents` | how often a word with a vector occurs, in how many documents |
//! | `text.*`, `cited.*` | the search index: which documents have a word, see `model::index::postings`; in their own text, in the contexts of the links that point at them |
//! | `names.*`, `titles.*`, `urls.*`, `dates` | the documents, in the order of the corpus; `titles.rows`, `titles.row_ends` are the words of titles, see `model::index::short_fields` |
//! | `authors.*` | the authors of each document, a name a line; from version 5 on; `authors.rows`, `authors.row_ends` are the words of their surnames, from version 6 on |
//! | `labels.*`, `document_labels`, `document_label` | the labels; where each document's end; its labels |
//! | `links_to` | how many links point at each document |
//! | `links.*`, `contexts.*`, `keywords.*` | the links with words around them, what documents are about, see `model::index::links` |
//! | `quotes.*` | the sentences that links stand in, as written, see `model::index::quotes`; from version 5 on |
//! | `hybrid.*` | the learnt ranking, see `search::ranker`; not in every model |
//! | `places.*` | where links belong, see `places`; not in every model |
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
    CitationParams, ContentParams, DeepWalkParams, DirectParams, LossFunction, Method, NpmParams, ReferenceParams,
    TrainParams,
};
pub use sidecar::Sidecar;
pub use tables::Tables;

pub use crate::kernel::{Matrix, OutOfRange, StoredMatrix};
pub use crate::storage::strings::StringTable;

use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;

use bytemuck::Pod;
use half::f16;
use half::slice::HalfFloatSliceExt;
use safetensors::Dtype;
use serde_json::Value;
use strum::VariantArray;
use xxhash_rust::xxh3::xxh3_64;

use crate::document::Date;
use crate::document::tokenize::Tokenizer;
use crate::error::{Error, Result};
use crate::model::index::links::{Keywords, Links};
use crate::model::index::postings::Postings;
use crate::model::index::quotes::{self, Quotes};
use crate::model::index::short_fields::{ShortField, ShortWords};
use crate::model::index::terms::Field;
use crate::storage::atomic::{self, OutputLock, write_atomically};
use crate::storage::container::{self, Container, Tensor};

/// The name of the format.
pub const FORMAT: &str = "hyperdoc2vec model";
/// Its version; a reader refuses what is newer.
pub const VERSION: u32 = 9;

/// The lengths that BM25 on texts and contexts goes by, in the description of a model.
pub(crate) const JOINED: &str = "joined";

/// A model, mapped.
#[derive(Debug)]
pub struct Model {
    container: Container,
    params: TrainParams,
    /// The four matrices in single precision, where they are stored in half and somebody has asked for them whole.
    widened: [OnceLock<Vec<f32>>; 4],
}

/// How a model file holds vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::EnumString, strum::IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
#[non_exhaustive]
pub enum VectorStorage {
    /// In single precision, as they were learnt.
    #[default]
    F32,
    /// Rounded to half precision, which takes half the space.
    F16,
}

/// Which vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
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

/// The arrays of a forest of the learnt ranking: features, numbers, children, roots.
pub(crate) const FOREST_ARRAYS: [[&str; 4]; 2] = [
    ["hybrid.alone.feature", "hybrid.alone.number", "hybrid.alone.child", "hybrid.alone.roots"],
    ["hybrid.sourced.feature", "hybrid.sourced.number", "hybrid.sourced.child", "hybrid.sourced.roots"],
];

/// An error if something is at `path` that a new model may not replace: anything, or, if one model may replace another,
/// what is no model.
pub(crate) fn refuse_existing(path: &Path, replace: bool) -> Result<()> {
    atomic::refuse_existing(path, replace)?;
    if container::may_replace(path, FORMAT)? {
        return Ok(());
    }
    let what = format!("not a {FORMAT}, so it is never replaced by one; choose another name");
    Err(Error::Foreign { path: path.to_owned(), what })
}

impl Model {
    /// Maps a model, reads all of it once and compares it with its checksums: 0.05 to 0.1 s a GB that is in the page
    /// cache. A file altered by anything but a new program is refused; see also [`Model::is_sealed`].
    pub fn open(path: impl AsRef<Path>) -> Result<Model> {
        let path = path.as_ref();
        Model::checked(Container::open(path, FORMAT, VERSION)?)
    }

    /// Opens a model as [`Model::open`] does, but reads it into memory: whatever happens to the file later, cut short,
    /// overwritten in place or removed, does not reach it.
    pub fn read(path: impl AsRef<Path>) -> Result<Model> {
        Model::checked(Container::read(path.as_ref(), FORMAT, VERSION)?)
    }

    fn checked(container: Container) -> Result<Model> {
        container.verify()?;
        let params: TrainParams = serde_json::from_value(container.about()["params"].clone()).map_err(|e| {
            Error::Damaged { path: container.path().to_owned(), what: format!("its parameters cannot be read: {e}") }
        })?;
        let model = Model { container, params, widened: Default::default() };
        model.check_arrays()?;
        Ok(model)
    }

    /// Writes the model to `path`, byte for byte as it was opened, whatever has taken the place of its file since.
    ///
    /// # Errors
    /// [`Error::Exists`] if something is there and it is not to be replaced, [`Error::Foreign`] if that is no model,
    /// [`Error::Damaged`] if the file was altered in place since it was opened.
    pub fn save(&self, path: impl AsRef<Path>, replace: bool) -> Result<()> {
        let path = path.as_ref();
        refuse_existing(path, replace)?;
        let _lock = OutputLock::take(path)?;
        self.verify()?;
        write_atomically(path, |out| out.write_all(self.container.bytes()).map_err(Error::io("write", path)))
    }

    /// Whether the description, too, has a checksum: parameters, counts, the features of the ranker. Files written
    /// before version 3 have none, so a change there cannot be noticed.
    pub fn is_sealed(&self) -> bool {
        self.container.is_sealed()
    }

    /// Checks that every array is there, of its type and length, so that accessors cannot fail. Only the search index,
    /// links, keywords, words of titles and authors, authors, sentences, the learnt ranking and the newcomers' map may be missing, each as a whole.
    fn check_arrays(&self) -> Result<()> {
        use Dtype::{F16, F32, I32, U8, U32, U64};
        let (words, documents, dim) = (self.words(), self.documents(), self.params.dim);
        let (any, by_word, by_document) = (None, Some(words), Some(documents));
        let vectors = if self.storage() == VectorStorage::F16 { F16 } else { F32 };
        let required = [
            ("word_in", vectors, Some(words * dim)),
            ("word_out", vectors, Some(words * dim)),
            ("doc_in", vectors, Some(documents * dim)),
            ("doc_out", vectors, Some(documents * dim)),
            ("word_counts", U64, by_word),
            ("word_documents", U64, by_word),
            ("words.bytes", U8, any),
            ("words.ends", U64, any),
            ("words.index", U32, any),
            ("names.bytes", U8, any),
            ("names.ends", U64, by_document),
            ("names.index", U32, any),
            ("titles.bytes", U8, any),
            ("titles.ends", U64, by_document),
            ("urls.bytes", U8, any),
            ("urls.ends", U64, by_document),
            ("labels.bytes", U8, any),
            ("labels.ends", U64, any),
            ("document_labels", U64, by_document),
            ("document_label", U32, any),
            ("dates", I32, by_document),
            ("links_to", U32, by_document),
        ];
        let [text, ends, places] = quotes::ARRAYS;
        let optional: [&[(&str, Dtype, Option<usize>)]; 9] = [
            &[("text.ends", U64, any), ("text.postings", U8, any), ("text.lengths", U32, by_document)],
            &[("cited.ends", U64, any), ("cited.postings", U8, any), ("cited.lengths", U32, by_document)],
            &[
                ("links.ends", U64, by_document),
                ("links.sources", U32, any),
                ("contexts.ends", U64, by_document),
                ("contexts.words", U8, any),
            ],
            &[("keywords.ends", U64, by_document), ("keywords.rows", U32, any), ("keywords.counts", U8, any)],
            &[("titles.row_ends", U64, by_document), ("titles.rows", U32, any)],
            &[("authors.row_ends", U64, by_document), ("authors.rows", U32, any)],
            &[("authors.bytes", U8, any), ("authors.ends", U64, by_document)],
            &[(text, U8, any), (ends, U64, any), (places, U32, any)],
            &[("newcomer_out", F32, Some((2 * dim + 1) * dim))],
        ];
        required.into_iter().try_for_each(|array| self.container.check(array))?;
        for group in optional.into_iter().filter(|group| group.iter().any(|array| self.container.has(array.0))) {
            group.iter().try_for_each(|&array| self.container.check(array))?;
        }
        if !self.about()["hybrid"].is_null() {
            for [feature, number, child, roots] in FOREST_ARRAYS {
                let arrays = [(feature, U32, any), (number, F32, any), (child, U32, any), (roots, U32, any)];
                arrays.into_iter().try_for_each(|array| self.container.check(array))?;
            }
        }
        if self.terms().ends.len() < words {
            let what = "it has fewer words than vectors of words".to_owned();
            return Err(Error::Damaged { path: self.path().to_owned(), what });
        }
        Ok(())
    }

    /// Reads everything again and compares checksums: for a file that may have been altered since it was opened.
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

    /// A checksum of the whole model, in hexadecimal: equal for equal models, wherever they stand.
    pub fn digest(&self) -> String {
        // The description has the checksum of every array.
        format!("{:016x}", xxh3_64(self.about().to_string().as_bytes()))
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

    /// One of the four matrices, if training learnt it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for vectors that the method does not learn: those in the file are random or 0.
    pub fn learnt_vectors(&self, which: Vectors) -> Result<Matrix<'_>> {
        if self.params.learns(which) {
            return Ok(self.vectors(which));
        }
        let learnt: Vec<&str> =
            Vectors::VARIANTS.iter().filter(|&&which| self.params.learns(which)).map(|&which| which.into()).collect();
        let (method, asked): (_, &str) = (self.params.method, which.into());
        let learnt = if learnt.is_empty() { "nothing".to_owned() } else { learnt.join(", ") };
        let what = format!("this {method} model has not learnt {asked} vectors; it has learnt {learnt}");
        Err(Error::Unsupported { path: self.path().to_owned(), what })
    }

    /// How the file holds the vectors.
    pub fn storage(&self) -> VectorStorage {
        match self.container.dtype("word_in") {
            Some(Dtype::F16) => VectorStorage::F16,
            _ => VectorStorage::F32,
        }
    }

    /// One of the four matrices, learnt or not. Where it is stored in half precision, it is widened when it is first asked
    /// for, and kept in memory for as long as the model is; [`Model::stored_vectors`] does without.
    pub fn vectors(&self, which: Vectors) -> Matrix<'_> {
        match self.stored_vectors(which) {
            StoredMatrix::Single(matrix) => matrix,
            StoredMatrix::Half { numbers, cols } => {
                // On one thread: others that wait here while this one takes up their work would wait for ever.
                let wide = self.widened[which as usize].get_or_init(|| numbers.to_f32_vec());
                Matrix::new(wide, numbers.len() / cols.max(1), cols, cols)
            }
        }
    }

    /// One of the four matrices, learnt or not, as it is stored.
    pub fn stored_vectors(&self, which: Vectors) -> StoredMatrix<'_> {
        let cols = self.params.dim;
        if self.storage() == VectorStorage::F16 {
            return StoredMatrix::Half { numbers: self.required::<f16>(which.name()), cols };
        }
        let rows = self.container.shape(which.name()).first().copied().unwrap_or(0);
        Matrix::new(self.required(which.name()), rows, cols, cols).into()
    }

    /// An array that every model has: it was checked when the file was opened.
    fn required<T: Pod>(&self, name: &str) -> &[T] {
        self.container.array(name).unwrap_or_default()
    }

    /// An array that may be missing.
    pub(crate) fn optional<T: Pod>(&self, name: &str) -> Option<&[T]> {
        self.container.array(name).ok()
    }

    fn strings(&self, name: &str) -> StringTable<'_> {
        let index = self.optional(&format!("{name}.index")).unwrap_or_default();
        StringTable {
            bytes: self.required(&format!("{name}.bytes")),
            ends: self.required(&format!("{name}.ends")),
            index,
        }
    }

    /// The words that have vectors, by their rows.
    pub fn vocabulary(&self) -> StringTable<'_> {
        let terms = self.terms();
        StringTable { ends: &terms.ends[..self.words()], ..terms }
    }

    /// Reads text as that of the corpus was read.
    pub fn tokenizer(&self) -> Tokenizer {
        Tokenizer::new(self.about()["corpus"]["options"]["lowercase"].as_bool().unwrap_or(true))
    }

    /// The words of the search index, by their rows: those of [`Model::vocabulary`], and behind them the rarer ones.
    pub fn terms(&self) -> StringTable<'_> {
        self.strings("words")
    }

    /// One half of the search index; `None` in a model that was made without.
    pub(crate) fn postings(&self, field: Field) -> Option<Postings<'_>> {
        let [ends, bytes, lengths] = field.arrays();
        Some(Postings { ends: self.optional(ends)?, bytes: self.required(bytes), lengths: self.required(lengths) })
    }

    /// The ids of documents, by their rows.
    pub fn names(&self) -> StringTable<'_> {
        self.strings("names")
    }

    /// The titles of documents, by their rows; empty where there is none.
    pub fn titles(&self) -> StringTable<'_> {
        self.strings("titles")
    }

    /// The authors of a document, the first author first; none in models before version 5.
    pub fn authors(&self, document: usize) -> impl Iterator<Item = &str> {
        let all = self.optional("authors.ends").zip(self.optional("authors.bytes"));
        let all = all.map(|(ends, bytes)| StringTable { bytes, ends, index: &[] });
        all.map_or("", |all| all.get(document)).split('\n').filter(|name| !name.is_empty())
    }

    /// Where readers find documents, by their rows; empty where that is not known.
    pub fn urls(&self) -> StringTable<'_> {
        self.strings("urls")
    }

    /// All labels.
    pub fn labels(&self) -> StringTable<'_> {
        self.strings("labels")
    }

    /// The labels of a document, as numbers of [`Model::labels`].
    pub fn label_ids(&self, document: usize) -> &[u32] {
        let ends: &[u64] = self.required("document_labels");
        let start = if document == 0 { Some(&0) } else { ends.get(document - 1) };
        let range = start.zip(ends.get(document)).map(|(&start, &end)| start as usize..end as usize);
        range.and_then(|range| self.required("document_label").get(range)).unwrap_or_default()
    }

    /// Whether a document has a label.
    pub fn has_label(&self, document: usize, label: &str) -> bool {
        let labels = self.labels();
        self.label_ids(document).iter().any(|&number| labels.get(number as usize) == label)
    }

    /// How many links point at each document.
    pub fn links_to(&self) -> &[u32] {
        self.required("links_to")
    }

    /// The links, with words around them; `None` in a model that was made without.
    pub(crate) fn links(&self) -> Option<Links<'_>> {
        Some(Links {
            ends: self.optional("links.ends")?,
            sources: self.required("links.sources"),
            context_ends: self.required("contexts.ends"),
            contexts: self.required("contexts.words"),
        })
    }

    /// The sentences that links stand in; `None` in models before version 5.
    pub(crate) fn quotes(&self) -> Option<Quotes<'_>> {
        let [text, ends, places] = quotes::ARRAYS;
        Some(Quotes { text: self.optional(text)?, ends: self.required(ends), places: self.required(places) })
    }

    /// The words that stand out in each document; `None` in a model that was made without.
    pub(crate) fn keywords(&self) -> Option<Keywords<'_>> {
        Some(Keywords {
            ends: self.optional("keywords.ends")?,
            rows: self.required("keywords.rows"),
            counts: self.required("keywords.counts"),
        })
    }

    /// The words of a short field; `None` for titles in models before version 4, for authors in those before 6.
    pub(crate) fn short_words(&self, field: ShortField) -> Option<ShortWords<'_>> {
        let [rows, row_ends] = field.arrays();
        Some(ShortWords { ends: self.optional(row_ends)?, rows: self.required(rows) })
    }

    /// Whether BM25 on texts and contexts takes the length of both together; models before version 4 took each alone.
    pub(crate) fn joins_lengths(&self) -> bool {
        self.about()["search"]["lengths"] == JOINED
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
        self.required("dates")
    }

    /// How often each word with a vector occurs.
    pub fn word_counts(&self) -> &[u64] {
        self.required("word_counts")
    }

    /// In how many documents each word with a vector occurs.
    pub fn word_documents(&self) -> &[u64] {
        self.required("word_documents")
    }
}
