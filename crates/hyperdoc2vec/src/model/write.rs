//! Writes a model file.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::corpus::view::View;
use crate::document::Date;
use crate::error::{Error, Result};
use crate::model::index::links::{KeywordsBuf, LinksBuf};
use crate::model::index::postings::{Postings, PostingsOutline};
use crate::model::index::short_fields::{ShortField, short_words};
use crate::model::index::terms::{self, Field, Terms};
use crate::model::params::TrainParams;
use crate::model::tables::Tables;
use crate::model::weighting::ContextCounts;
use crate::model::{FORMAT, JOINED, VERSION, VectorStorage};
use crate::storage::atomic::parent;
use crate::storage::container::{Take, Tensor, write};
use crate::storage::spill::SpillFile;
use crate::storage::strings::string_index;

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

/// The part of a model that does not depend on links: made once for several models of the same documents, and kept in a
/// file.
pub struct ContentIndex {
    /// The words of the index.
    pub terms: Terms,
    arrays: SpillFile,
}

impl ContentIndex {
    /// Reads the texts of `view`; the file is in `folder`.
    pub fn new(view: &View<'_>, folder: &Path) -> Result<ContentIndex> {
        let terms = Terms::new(view);
        let mut arrays = SpillFile::new(folder)?;
        put_index(&mut arrays, Field::Text, |take| terms::text(view, &terms, folder, take))?;
        let keywords = arrays.put_u32s("keywords.rows", |take| KeywordsBuf::build(view, take))?;
        arrays.put(&Tensor::u64s("keywords.ends", &keywords.ends))?;
        arrays.put(&Tensor::bytes("keywords.counts", &keywords.counts))?;
        for field in ShortField::ALL {
            let [rows, row_ends] = field.arrays();
            let ends = arrays.put_u32s(rows, |take| short_words(view, &terms, field, take))?;
            arrays.put(&Tensor::u64s(row_ends, &ends))?;
        }
        Ok(ContentIndex { terms, arrays })
    }
}

/// Spills one half of the search index as it is made.
fn put_index(
    arrays: &mut SpillFile,
    field: Field,
    make: impl FnOnce(Take<'_>) -> io::Result<PostingsOutline>,
) -> Result<()> {
    let [ends, bytes, lengths] = field.arrays();
    let made = arrays.put_bytes(bytes, make)?;
    arrays.put(&Tensor::u64s(ends, &made.ends))?;
    arrays.put(&Tensor::u32s(lengths, &made.lengths))
}

/// Spills strings as bytes and ends.
fn put_strings<'a>(
    arrays: &mut SpillFile,
    bytes: &str,
    ends: &str,
    strings: impl Iterator<Item = &'a str>,
) -> Result<()> {
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

/// Spills strings as bytes and ends, with an index to find them by.
fn put_named<'a, I>(arrays: &mut SpillFile, [bytes, ends, index]: [&str; 3], strings: impl Fn() -> I) -> Result<()>
where
    I: ExactSizeIterator<Item = &'a str>,
{
    put_strings(arrays, bytes, ends, strings())?;
    arrays.put(&Tensor::u32s(index, &string_index(strings().len(), strings())))
}

/// The first `columns` of each `stride` numbers, as vectors are stored.
pub(crate) fn vectors<'a>(
    name: &'a str,
    numbers: &'a [f32],
    [stride, columns]: [usize; 2],
    storage: VectorStorage,
) -> Tensor<'a> {
    match storage {
        VectorStorage::F32 => Tensor::rows(name, numbers, stride, columns),
        VectorStorage::F16 => Tensor::halves(name, numbers, stride, columns),
    }
}

/// Refuses numbers that are too large to be stored so.
pub(crate) fn check_range(numbers: &[f32], storage: VectorStorage) -> Result<()> {
    let most = half::f16::MAX.to_f32();
    match numbers.iter().find(|number| storage == VectorStorage::F16 && number.abs() > most) {
        Some(number) => Err(Error::Usage(format!(
            "a vector has the number {number}, and half precision ends at {most}; store the vectors in single precision"
        ))),
        None => Ok(()),
    }
}

/// The parts of a model file, to be written.
pub struct ModelWriter<'a> {
    view: &'a View<'a>,
    tables: &'a Tables,
    params: &'a TrainParams,
    tensors: Vec<Tensor<'a>>,
    ranker: Option<Value>,
    places: Option<Value>,
    storage: VectorStorage,
}

impl<'a> ModelWriter<'a> {
    /// The vectors of `tables`, trained on `view` as `params` say.
    pub fn new(view: &'a View<'a>, tables: &'a Tables, params: &'a TrainParams) -> ModelWriter<'a> {
        let storage = VectorStorage::default();
        ModelWriter { view, tables, params, tensors: Vec::new(), ranker: None, places: None, storage }
    }

    /// More arrays, learnt by other layers.
    pub fn arrays(mut self, tensors: impl IntoIterator<Item = Tensor<'a>>) -> ModelWriter<'a> {
        self.tensors.extend(tensors);
        self
    }

    /// The description of a learnt ranker.
    pub fn ranker(self, about: Option<Value>) -> ModelWriter<'a> {
        ModelWriter { ranker: about, ..self }
    }

    /// The description of a learnt place model.
    pub fn places(self, about: Option<Value>) -> ModelWriter<'a> {
        ModelWriter { places: about, ..self }
    }

    /// How the vectors are stored.
    pub fn storage(self, storage: VectorStorage) -> ModelWriter<'a> {
        ModelWriter { storage, ..self }
    }

    /// Writes the file with the index to search it.
    pub fn write(self, path: &Path) -> Result<()> {
        let content = ContentIndex::new(self.view, parent(path))?;
        self.write_with(path, &content)
    }

    /// Writes the file with content read before.
    ///
    /// Arrays as large as the text or the links are made one by one and spilled to a file; vectors are written from
    /// the tables.
    pub fn write_with(self, path: &Path, content: &ContentIndex) -> Result<()> {
        let ModelWriter { view, tables, params, tensors: more, ranker, places, storage } = self;
        let corpus = view.corpus;
        let ContentIndex { terms, arrays } = content;
        let mut linked = SpillFile::new(parent(path))?;
        put_index(&mut linked, Field::Cited, |take| {
            let counts = ContextCounts::new(params.window, params.citation.decay);
            terms::cited(view, terms, &counts, parent(path), take)
        })?;
        let links = linked.put_bytes("contexts.words", |take| LinksBuf::build(view, terms, take))?;
        linked.put(&Tensor::u64s("links.ends", links.view().ends))?;
        linked.put(&Tensor::u32s("links.sources", links.view().sources))?;
        linked.put(&Tensor::u64s("contexts.ends", links.view().context_ends))?;
        drop(links);
        let stride = tables.input.stride();
        let ((word_in, doc_in), (word_out, doc_out)) = (tables.input.halves(), tables.output.halves());
        for table in [&tables.input, &tables.output] {
            check_range(table.data(), storage)?;
        }
        let matrix = |name, numbers| vectors(name, numbers, [stride, params.dim], storage);
        put_named(&mut linked, ["words.bytes", "words.ends", "words.index"], || terms.each(corpus))?;
        put_named(&mut linked, ["names.bytes", "names.ends", "names.index"], || {
            view.documents.iter().map(|&doc| corpus.name(doc))
        })?;
        let titles = view.documents.iter().map(|&doc| corpus.title(doc).unwrap_or_default());
        put_strings(&mut linked, "titles.bytes", "titles.ends", titles)?;
        let urls = view.documents.iter().map(|&doc| corpus.url(doc).unwrap_or_default());
        put_strings(&mut linked, "urls.bytes", "urls.ends", urls)?;
        let authors = view.documents.iter().map(|&doc| corpus.author_lines(doc));
        put_strings(&mut linked, "authors.bytes", "authors.ends", authors)?;
        put_strings(&mut linked, "labels.bytes", "labels.ends", corpus.label_names())?;
        let dates: Vec<i32> = view.documents.iter().map(|&doc| corpus.date(doc).map_or(0, Date::packed)).collect();
        let (mut document_label, mut document_labels) = (Vec::new(), Vec::new());
        for &doc in view.documents.iter() {
            document_label.extend_from_slice(corpus.label_ids(doc));
            document_labels.push(document_label.len() as u64);
        }
        let links_to = view.links_to();
        // Links of one position stand together.
        let positions = view.links.chunk_by(|one, next| one.position == next.position).count();
        let mut about = json!({
            "params": params.to_json(),
            "search": {"lengths": JOINED},
            "counts": {
                "documents": view.documents.len(),
                "words": view.counts.iter().sum::<u64>(),
                "vocabulary": view.words.len(),
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
        .chain(more)
        .collect();
        for (name, learnt) in [("hybrid", ranker), ("places", places)] {
            if let (Some(about), Some(learnt)) = (about.as_object_mut(), learnt) {
                about.insert(name.to_owned(), learnt);
            }
        }
        write(path, FORMAT, VERSION, &tensors, about)
    }
}
