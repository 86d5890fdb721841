//! Corpora: made from documents, tables and files, and read.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use hyperdoc2vec::import::Progress;
use hyperdoc2vec::import::pdf::TextCommand;
use hyperdoc2vec::{DocId, Document, Format, Import, ImportOptions};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{json, named};
use crate::document::Documents;
use crate::errors::exception;
use crate::pool::compute;
use crate::work::watched;

/// Documents with their words and links, in a directory.
#[pyclass(frozen, module = "hyperdoc2vec._native")]
pub struct Corpus {
    pub corpus: Arc<hyperdoc2vec::Corpus>,
}

/// Options of an import, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    min_count: Option<u64>,
    lowercase: Option<bool>,
    threads: Option<usize>,
    replace: bool,
}

/// Options of an import of files, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct FileOptions {
    format: String,
    skip_bad: bool,
    include: Vec<String>,
    exclude: Vec<String>,
    base_url: Option<String>,
    code_links: Option<bool>,
    sections: bool,
    namespaces: Option<Vec<i32>>,
    metadata: Option<PathBuf>,
    files: Vec<PathBuf>,
    cited_works: Option<bool>,
    grobid: Option<String>,
    texts: Option<PathBuf>,
    /// Commands that print the text of a PDF: a name, a program, its arguments.
    pdf_commands: Vec<(String, PathBuf, Vec<String>)>,
}

impl Options {
    fn read(self) -> ImportOptions {
        let mut options = ImportOptions::default();
        options.corpus.min_count = self.min_count.unwrap_or(options.corpus.min_count);
        options.corpus.lowercase = self.lowercase.unwrap_or(options.corpus.lowercase);
        options.threads = self.threads.unwrap_or(options.threads);
        options.force = self.replace;
        options
    }
}

/// Runs an import, and reports how many documents it has read.
fn run<'a>(py: Python<'_>, import: Import<'a>, path: PathBuf, progress: Option<Bound<'_, PyAny>>) -> PyResult<Corpus> {
    let report = |seen: Progress| match &progress {
        Some(progress) => progress.call1(("documents", seen.read, seen.total, seen.documents)).map(drop),
        None => Ok(()),
    };
    let corpus = watched(py, report, |watch| import.watch(|progress| watch.see(*progress)).build(path))?;
    Ok(Corpus { corpus: Arc::new(corpus) })
}

/// Builds a corpus from documents.
#[pyfunction]
#[pyo3(signature = (documents, path, options, progress=None))]
pub fn build(
    py: Python<'_>,
    documents: &Bound<'_, PyAny>,
    path: PathBuf,
    options: Options,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Corpus> {
    let raised = Mutex::new(None);
    let documents = Documents::new(documents, &raised)?;
    let built = run(py, Import::documents(documents).options(options.read()), path, progress);
    // What the iterator raised is the cause of whatever the import says.
    match raised.lock().ok().and_then(|mut raised| raised.take()) {
        Some(raised) => Err(raised),
        None => built,
    }
}

/// Builds a corpus from files of a format.
#[pyfunction]
#[pyo3(signature = (inputs, path, options, progress=None))]
pub fn import_files(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    path: PathBuf,
    options: (Options, FileOptions),
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Corpus> {
    let (options, files) = options;
    let format: Format = named("a format", &files.format)?;
    let mut options = options.read();
    options.skip_bad = files.skip_bad;
    (options.include, options.exclude) = (files.include, files.exclude);
    options.base_url = files.base_url;
    options.code_links = files.code_links.unwrap_or(options.code_links);
    options.sections = files.sections;
    options.namespaces = files.namespaces.unwrap_or(options.namespaces);
    (options.metadata, options.files, options.cited_works) = (files.metadata, files.files, files.cited_works);
    (options.pdf.grobid, options.pdf.texts) = (files.grobid, files.texts);
    let commands = files.pdf_commands.into_iter().map(|(name, program, rest)| TextCommand::new(name, program, rest));
    let (titles, commands): (Vec<_>, Vec<_>) = commands.partition(|command| command.name == "titles");
    (options.pdf.titles, options.pdf.commands) = (titles.into_iter().next(), commands);
    run(py, Import::files(format, inputs).options(options), path, progress)
}

/// A document as a dict of its fields.
fn fields<'py>(py: Python<'py>, document: &Document, text: String) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("id", &document.id)?;
    fields.set_item("text", text)?;
    fields.set_item("title", &document.title)?;
    fields.set_item("authors", &document.authors)?;
    fields.set_item("date", document.date.map(|date| date.to_string()))?;
    fields.set_item("labels", &document.labels)?;
    fields.set_item("url", &document.url)?;
    fields.set_item("language", &document.language)?;
    Ok(fields)
}

#[pymethods]
impl Corpus {
    /// Opens and checks a corpus.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Corpus> {
        let corpus = compute(py, || {
            let corpus = hyperdoc2vec::Corpus::open(&path)?;
            corpus.verify()?;
            Ok(corpus)
        })?;
        Ok(Corpus { corpus: Arc::new(corpus) })
    }

    /// The directory.
    #[getter]
    fn path(&self) -> PathBuf {
        self.corpus.path().to_owned()
    }

    /// Counts, options, provenance, losses, fingerprint.
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let manifest = serde_json::from_slice(&self.corpus.manifest().to_json());
        json(py, &manifest.unwrap_or_default())
    }

    /// Losses of the import: a description, a count, samples.
    fn losses(&self) -> Vec<(&'static str, u64, Vec<String>)> {
        let losses = self.corpus.manifest().losses.iter();
        losses.map(|(loss, tally)| (loss.describe_count(tally.count), tally.count, tally.samples.clone())).collect()
    }

    fn __len__(&self) -> usize {
        self.corpus.len()
    }

    /// The ids of all documents.
    fn ids(&self) -> Vec<&str> {
        self.corpus.documents().map(|doc| self.corpus.name(doc)).collect()
    }

    /// Whether a document has this id.
    fn has(&self, id: &str) -> bool {
        self.corpus.find(id).is_some()
    }

    /// The document with a number.
    fn document<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyDict>> {
        if number >= self.corpus.len() {
            return Err(PyIndexError::new_err(format!("the corpus has {} documents", self.corpus.len())));
        }
        self.read(py, DocId(number as u32))
    }

    /// The document with an id.
    fn find<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyDict>> {
        self.read(py, self.corpus.find_or_suggest(id).map_err(exception)?)
    }
}

impl Corpus {
    fn read<'py>(&self, py: Python<'py>, doc: DocId) -> PyResult<Bound<'py, PyDict>> {
        let document = self.corpus.document(doc).map_err(exception)?;
        fields(py, &document, self.corpus.marked_text(doc).map_err(exception)?)
    }
}
