//! A trained model: one file with the vectors, and all that is needed to use them.
//!
//! | array | holds |
//! |---|---|
//! | `word_in`, `word_out`, `doc_in`, `doc_out` | the vectors, one row a word or document |
//! | `words.bytes`, `words.ends`, `words.index` | the words with vectors, by falling count, then those of the search index alone |
//! | `word_counts`, `word_documents` | how often a word with a vector occurs, in how many documents |
//! | `text.*`, `cited.*` | the search index: which documents have a word, see [`crate::search::postings`]; in their own text, in the contexts of the links that point at them |
//! | `names.*`, `titles.*`, `urls.*`, `dates` | the documents, in the order of the corpus |
//! | `labels.*`, `document_labels`, `document_label` | the labels; where each document's end; its labels |
//! | `links_to` | how many links point at each document |
//! | `links.*`, `contexts.*`, `keywords.*` | the links with words around them, what documents are about, see [`crate::search::links`] |
//! | `hybrid.*` | the learnt ranking, see [`crate::search::hybrid`]; not in every model |
//! | `newcomer_out` | from content to OUT vectors, see [`crate::train::newcomers`]; where there are links enough |
//!
//! The description (see [`crate::container`]) has the parameters, the seed, the corpus' fingerprint and the counts.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::aside::parent;
use crate::container::{Aside, Container, Take, Tensor, write};
use crate::document::Date;
use crate::error::{Error, Result};
use crate::kernel::Matrix;
use crate::search::hybrid::Hybrid;
use crate::search::index::{self, Field, Terms};
use crate::search::links::{Keywords, KeywordsBuf, Links, LinksBuf};
use crate::search::postings::{Outline, Postings};
use crate::strings::{StringTable, string_index};
use crate::tokenize::Tokenizer;
use crate::train::Tables;
use crate::train::newcomers::Map;
use crate::train::params::TrainParams;
use crate::train::view::View;

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
    fn arrays(self) -> [&'static str; 3] {
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

    /// The learnt ranking; `None` in a model that was made without, or with other features than this program knows.
    pub fn hybrid(&self) -> Option<Hybrid> {
        Hybrid::read(&self.container)
    }

    /// What gives documents without links their OUT vectors; `None` in a model that was made without.
    pub fn newcomer_map(&self) -> Option<Map> {
        Map::new(self.container.array("newcomer_out").ok()?.to_vec(), self.params.dim)
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

/// Strings as bytes and ends.
pub(crate) fn flat<'a>(strings: impl Iterator<Item = &'a str>) -> (Vec<u8>, Vec<u64>) {
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    for string in strings {
        bytes.extend_from_slice(string.as_bytes());
        ends.push(bytes.len() as u64);
    }
    (bytes, ends)
}

/// The arrays of one half of the search index.
pub(crate) fn index_tensors(field: Field, postings: Postings<'_>) -> [Tensor<'_>; 3] {
    let [ends, bytes, lengths] = field.arrays();
    [Tensor::u64s(ends, postings.ends), Tensor::bytes(bytes, postings.bytes), Tensor::u32s(lengths, postings.lengths)]
}

/// What a model holds that does not depend on links: made once for several models of the same documents, and kept in a
/// file.
pub struct Content {
    /// The words of the index.
    pub terms: Terms,
    arrays: Aside,
}

impl Content {
    /// Reads the texts of `view`; the file is in `folder`.
    pub fn new(view: &View<'_>, folder: &Path) -> Result<Content> {
        let terms = Terms::new(view);
        let mut arrays = Aside::new(folder)?;
        put_index(&mut arrays, Field::Text, |take| index::text(view, &terms, take))?;
        let keywords = arrays.put_u32s("keywords.rows", |take| KeywordsBuf::build(view, take))?;
        arrays.put(&Tensor::u64s("keywords.ends", &keywords.ends))?;
        arrays.put(&Tensor::bytes("keywords.counts", &keywords.counts))?;
        Ok(Content { terms, arrays })
    }
}

/// Puts one half of the search index aside as it is made.
fn put_index(arrays: &mut Aside, field: Field, make: impl FnOnce(Take<'_>) -> io::Result<Outline>) -> Result<()> {
    let [ends, bytes, lengths] = field.arrays();
    let made = arrays.put_bytes(bytes, make)?;
    arrays.put(&Tensor::u64s(ends, &made.ends))?;
    arrays.put(&Tensor::u32s(lengths, &made.lengths))
}

/// Puts strings aside as bytes and ends.
fn put_strings<'a>(arrays: &mut Aside, bytes: &str, ends: &str, strings: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut end = 0;
    let all = arrays.put_bytes(bytes, |take| {
        let end_of = |string: &str| {
            end += string.len() as u64;
            take(string.as_bytes()).map(|()| end)
        };
        strings.map(end_of).collect::<io::Result<Vec<u64>>>()
    })?;
    arrays.put(&Tensor::u64s(ends, &all))
}

/// The same with an index to find them by.
fn put_named<'a, I>(arrays: &mut Aside, [bytes, ends, index]: [&str; 3], strings: impl Fn() -> I) -> Result<()>
where
    I: ExactSizeIterator<Item = &'a str>,
{
    put_strings(arrays, bytes, ends, strings())?;
    arrays.put(&Tensor::u32s(index, &string_index(strings().len(), strings())))
}

/// Writes what was trained to `path`, with the index to search it.
pub fn save(path: &Path, view: &View<'_>, tables: &Tables, params: &TrainParams) -> Result<()> {
    save_with(path, view, tables, params, &Content::new(view, parent(path))?, None, None)
}

/// The same with content made before, a learnt ranking, and the map that gives newcomers their OUT vectors.
///
/// What is as large as the text or the links is made array by array and put aside; vectors are written from the tables.
pub fn save_with(
    path: &Path,
    view: &View<'_>,
    tables: &Tables,
    params: &TrainParams,
    content: &Content,
    hybrid: Option<&Hybrid>,
    newcomers: Option<&Map>,
) -> Result<()> {
    let (corpus, first) = (view.corpus, view.words.len());
    let Content { terms, arrays } = content;
    let mut linked = Aside::new(parent(path))?;
    put_index(&mut linked, Field::Cited, |take| index::cited(view, terms, params.window, params.citation.decay, take))?;
    let links = linked.put_bytes("contexts.words", |take| LinksBuf::build(view, terms, take))?;
    linked.put(&Tensor::u64s("links.ends", links.view().ends))?;
    linked.put(&Tensor::u32s("links.sources", links.view().sources))?;
    linked.put(&Tensor::u64s("contexts.ends", links.view().context_ends))?;
    drop(links);
    let stride = tables.input.stride();
    let ((word_in, doc_in), (word_out, doc_out)) =
        (tables.input.data().split_at(first * stride), tables.output.data().split_at(first * stride));
    let matrix = |name, numbers| Tensor::rows(name, numbers, stride, params.dim);
    put_named(&mut linked, ["words.bytes", "words.ends", "words.index"], || {
        terms.words.iter().map(|&word| corpus.word(word))
    })?;
    put_named(&mut linked, ["names.bytes", "names.ends", "names.index"], || {
        view.documents.iter().map(|&doc| corpus.name(doc))
    })?;
    let titles = view.documents.iter().map(|&doc| corpus.title(doc).unwrap_or_default());
    put_strings(&mut linked, "titles.bytes", "titles.ends", titles)?;
    let urls = view.documents.iter().map(|&doc| corpus.url(doc).unwrap_or_default());
    put_strings(&mut linked, "urls.bytes", "urls.ends", urls)?;
    put_strings(&mut linked, "labels.bytes", "labels.ends", corpus.label_names())?;
    let dates: Vec<i32> = view.documents.iter().map(|&doc| corpus.date(doc).map_or(0, Date::packed)).collect();
    let (mut document_label, mut document_labels) = (Vec::new(), Vec::new());
    for &doc in view.documents.iter() {
        document_label.extend_from_slice(corpus.label_ids(doc));
        document_labels.push(document_label.len() as u64);
    }
    let mut links_to = vec![0u32; view.documents.len()];
    view.links.iter().for_each(|link| links_to[link.target as usize - first] += 1);
    // Links of one position stand together.
    let positions = view.links.chunk_by(|one, next| one.position == next.position).count();
    let mut about = json!({
        "params": params.to_json(),
        "counts": {
            "documents": view.documents.len(),
            "words": view.counts.iter().sum::<u64>(),
            "vocabulary": first,
            "positions": positions,
            "links": view.links.len(),
            "newcomers": links_to.iter().filter(|&&links| links == 0).count(),
        },
        "corpus": {
            "fingerprint": corpus.manifest().fingerprint,
            "source": corpus.manifest().source,
            "options": corpus.manifest().options,
        },
    });
    let tensors: Vec<Tensor<'_>> = [
        matrix("word_in", word_in),
        matrix("word_out", word_out),
        matrix("doc_in", doc_in),
        matrix("doc_out", doc_out),
        Tensor::u64s("word_counts", &view.counts),
        Tensor::u64s("word_documents", &view.document_counts),
        Tensor::i32s("dates", &dates),
        Tensor::u64s("document_labels", &document_labels),
        Tensor::u32s("document_label", &document_label),
        Tensor::u32s("links_to", &links_to),
    ]
    .into_iter()
    .chain(arrays.tensors())
    .chain(linked.tensors())
    .chain(hybrid.into_iter().flat_map(Hybrid::tensors))
    .chain(newcomers.map(|map| Tensor::matrix("newcomer_out", map.rows(), params.dim)))
    .collect();
    if let (Some(about), Some(hybrid)) = (about.as_object_mut(), hybrid) {
        about.insert("hybrid".to_owned(), hybrid.about());
    }
    write(path, FORMAT, VERSION, &tensors, about)
}
