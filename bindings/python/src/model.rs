//! Models: opened, asked, extended, exported.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use hyperdoc2vec::export::{VectorExport, VectorFormat};
use hyperdoc2vec::{
    Addition, Document, Error, Inferrer, Model as LibraryModel, Question, Ranking, Recommender, Result, Side, Vectors,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use self_cell::self_cell;

use crate::answer::{Answer, Hit};
use crate::convert::{date, json, named, string, texts};
use crate::corpus::Corpus;
use crate::errors::exception;
use crate::parts::in_parts;
use crate::pool::compute;
use crate::suggest::{SuggestParameters, Suggestion, suggest};
use crate::vectors::{VectorTable, array_interface};
use crate::work::watched;

/// Everything that answers from one model.
pub struct Engine<'a> {
    pub recommender: Recommender<'a>,
    inferrer: OnceLock<Inferrer<'a>>,
}

self_cell!(
    /// A model, and what borrows from it.
    pub struct OpenModel {
        owner: LibraryModel,
        #[not_covariant]
        dependent: Engine,
    }
);

impl OpenModel {
    /// The model.
    pub fn model(&self) -> &LibraryModel {
        self.borrow_owner()
    }
}

impl<'a> Engine<'a> {
    fn inferrer(&self) -> Result<&Inferrer<'a>> {
        if let Some(inferrer) = self.inferrer.get() {
            return Ok(inferrer);
        }
        let inferrer = Inferrer::new(self.recommender.model())?;
        Ok(self.inferrer.get_or_init(|| inferrer))
    }
}

/// An opened model.
#[pyclass(frozen, module = "hyperdoc2vec._native")]
pub struct Model {
    pub model: Arc<OpenModel>,
}

/// The vectors of texts, for NumPy to copy.
#[pyclass(frozen, module = "hyperdoc2vec._native")]
pub struct Rows {
    numbers: Vec<f32>,
    shape: [usize; 2],
}

#[pymethods]
impl Rows {
    /// Where the numbers are.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        array_interface(py, self.numbers.as_ptr(), self.shape)
    }
}

/// The options of a question, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    top: usize,
    source: Option<String>,
    source_text: Option<String>,
    only: Vec<String>,
    exclude: Vec<String>,
    before: Option<String>,
    rank: Option<String>,
    min_probability: Option<f32>,
    explain: bool,
}

/// Where a model with further documents is written, and how, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct AddOptions {
    path: PathBuf,
    threads: usize,
    replace: bool,
}

/// Which vectors are written, and how, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ExportOptions {
    which: String,
    format: String,
    normalize: bool,
    replace: bool,
}

impl Asked {
    /// A question without its text.
    fn read(self) -> PyResult<Question> {
        let mut question = Question::new("").top(self.top).only(self.only).exclude(self.exclude);
        (question.source, question.source_text) = (self.source, self.source_text);
        question.before = self.before.as_deref().map(date).transpose()?;
        question.rank = self.rank.map(|name| named::<Ranking>("a ranking", &name)).transpose()?;
        (question.min_probability, question.explain) = (self.min_probability, self.explain);
        Ok(question)
    }
}

impl Model {
    /// A model of the library's.
    pub fn new(model: LibraryModel) -> Model {
        let model =
            OpenModel::new(model, |model| Engine { recommender: Recommender::new(model), inferrer: OnceLock::new() });
        Model { model: Arc::new(model) }
    }

    /// Asks the engine on the pool, with the interpreter let go.
    fn ask<T: Send>(&self, py: Python<'_>, ask: impl FnOnce(&Engine<'_>) -> Result<T> + Send) -> PyResult<T> {
        compute(py, || self.model.with_dependent(|_, engine| ask(engine)))
    }
}

#[pymethods]
impl Model {
    /// Opens and checks a model; maps the file, or reads it into memory.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, in_memory: bool) -> PyResult<Model> {
        let open = || if in_memory { LibraryModel::read(&path) } else { LibraryModel::open(&path) };
        Ok(Model::new(compute(py, open)?))
    }

    /// The file.
    #[getter]
    fn path(&self) -> PathBuf {
        self.model.model().path().to_owned()
    }

    /// How many documents there are.
    #[getter]
    fn documents(&self) -> usize {
        self.model.model().documents()
    }

    /// How many words have vectors.
    #[getter]
    fn words(&self) -> usize {
        self.model.model().words()
    }

    /// Numbers of a vector.
    #[getter]
    fn dim(&self) -> usize {
        self.model.model().params().dim
    }

    /// The method.
    #[getter]
    fn method(&self) -> &'static str {
        self.model.model().params().method.name()
    }

    /// The rankings that it can give, the best first.
    fn rankings(&self) -> Vec<String> {
        self.model.with_dependent(|_, engine| engine.recommender.rankings().iter().map(ToString::to_string).collect())
    }

    /// Counts, parameters, provenance, checksums.
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json(py, self.model.model().about())
    }

    /// Counts, parameters, provenance and checksums, as JSON text.
    fn about_text(&self) -> String {
        self.model.model().about().to_string()
    }

    /// The ids of documents, by their rows.
    fn ids(&self) -> Vec<&str> {
        let (model, names) = (self.model.model(), self.model.model().names());
        (0..model.documents()).map(|row| names.get(row)).collect()
    }

    /// The titles of documents, by their rows.
    fn titles(&self) -> Vec<&str> {
        let (model, titles) = (self.model.model(), self.model.model().titles());
        (0..model.documents()).map(|row| titles.get(row)).collect()
    }

    /// The labels of documents, by their rows.
    fn labels(&self) -> Vec<Vec<&str>> {
        let model = self.model.model();
        (0..model.documents()).map(|row| hyperdoc2vec::export::labels(model, row)).collect()
    }

    /// The words that have vectors, by their rows.
    fn vocabulary(&self) -> Vec<&str> {
        let (model, words) = (self.model.model(), self.model.model().vocabulary());
        (0..model.words()).map(|row| words.get(row)).collect()
    }

    /// The row of a document.
    fn document_row(&self, py: Python<'_>, id: &str) -> PyResult<usize> {
        self.ask(py, |engine| engine.recommender.document_row(id))
    }

    /// The row of a word.
    fn word_row(&self, py: Python<'_>, word: &str) -> PyResult<usize> {
        self.ask(py, |engine| engine.recommender.word_row(word))
    }

    /// One of the four matrices.
    fn vectors(&self, which: &str) -> PyResult<VectorTable> {
        let which: Vectors = named("vectors", which)?;
        self.model.model().learnt_vectors(which).map_err(exception)?;
        Ok(VectorTable { model: Arc::clone(&self.model), which })
    }

    /// Answers a question for each text.
    fn recommend(&self, py: Python<'_>, questions: &Bound<'_, PyAny>, asked: Asked) -> PyResult<Vec<Answer>> {
        let (texts, asked) = (texts(questions)?, asked.read()?);
        let several = texts.len() > 1;
        let question = |text: &String| {
            let mut question = asked.clone();
            question.text.clone_from(text);
            question
        };
        let mut answers = Vec::with_capacity(texts.len());
        in_parts(py, &texts, |part| {
            let found = self.ask(py, |engine| match part {
                [text] => Ok(vec![engine.recommender.ask(&question(text))]),
                part => Ok(engine.recommender.ask_all(&part.iter().map(question).collect::<Vec<_>>())),
            })?;
            for answer in found {
                let number = answers.len();
                answers.push(Answer(answer.map_err(|error| match error {
                    Error::NoWords if several => PyValueError::new_err(format!("text {number}: it has no words")),
                    error => exception(error),
                })?));
            }
            Ok(())
        })?;
        Ok(answers)
    }

    /// The documents near one.
    fn similar(&self, py: Python<'_>, id: &str, by: &str, top: usize) -> PyResult<Vec<Hit>> {
        let side: Side = named("vectors", by)?;
        let hits = self.ask(py, |engine| engine.recommender.similar(id, side, top))?;
        Ok(hits.into_iter().map(Hit).collect())
    }

    /// The documents near a vector.
    fn similar_to(&self, py: Python<'_>, vector: Vec<f32>, by: &str, top: usize) -> PyResult<Vec<Hit>> {
        let side: Side = named("vectors", by)?;
        let hits = self.ask(py, |engine| engine.recommender.similar_to(&vector, side, top))?;
        Ok(hits.into_iter().map(Hit).collect())
    }

    /// The words near one, with their cosines.
    fn similar_words(&self, py: Python<'_>, word: &str, by: &str, top: usize) -> PyResult<Vec<(String, f32)>> {
        let side: Side = named("vectors", by)?;
        let hits = self.ask(py, |engine| engine.recommender.similar_words(word, side, top))?;
        Ok(hits.into_iter().map(|hit| (hit.word, hit.score)).collect())
    }

    /// The IN vectors of texts, plain or with links marked in them.
    fn embed(&self, py: Python<'_>, values: &Bound<'_, PyAny>, marked: bool) -> PyResult<Rows> {
        let texts = texts(values)?;
        let dim = self.dim();
        let mut numbers = Vec::with_capacity(texts.len() * dim);
        in_parts(py, &texts, |part| {
            let inferred = self.ask(py, |engine| match marked {
                true => {
                    engine.inferrer()?.documents(&part.iter().map(|text| Document::new("", text)).collect::<Vec<_>>())
                }
                false => engine.inferrer()?.texts(part),
            })?;
            inferred.iter().for_each(|one| numbers.extend_from_slice(&one.vector));
            Ok(())
        })?;
        Ok(Rows { numbers, shape: [texts.len(), dim] })
    }

    /// Links for a draft.
    fn suggest(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        parameters: SuggestParameters,
    ) -> PyResult<Vec<Suggestion>> {
        let text = string(text, || "text".to_owned())?;
        compute(py, || suggest(self.model.model(), &text, &parameters))
    }

    /// Writes a model that has the documents of a corpus, too.
    #[pyo3(signature = (corpus, options, progress=None))]
    fn add(
        &self,
        py: Python<'_>,
        corpus: &Corpus,
        options: AddOptions,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Model> {
        let AddOptions { path, threads, replace } = options;
        let report = |(done, all): (usize, usize)| match &progress {
            Some(progress) => progress.call1(("documents", done, all, done)).map(drop),
            None => Ok(()),
        };
        let (model, corpus) = (self.model.model(), &corpus.corpus);
        let added = watched(py, report, |watch| {
            let addition = Addition::new(model, corpus).threads(threads);
            let addition = if replace { addition.replace() } else { addition };
            addition.watch(|done, all| watch.see((done, all))).write(&path)?;
            LibraryModel::open(&path)
        })?;
        Ok(Model::new(added))
    }

    /// Writes vectors for other programs.
    fn export(&self, py: Python<'_>, path: PathBuf, options: ExportOptions) -> PyResult<()> {
        let ExportOptions { which, format, normalize, replace } = options;
        let (which, format) = (named::<Vectors>("vectors", &which)?, named::<VectorFormat>("a format", &format)?);
        compute(py, || VectorExport::new(self.model.model(), which)?.normalized(normalize).save(&path, format, replace))
    }

    /// Writes the model to another file.
    fn save(&self, py: Python<'_>, path: PathBuf, replace: bool) -> PyResult<()> {
        compute(py, || self.model.model().save(&path, replace))
    }
}
