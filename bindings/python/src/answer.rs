//! Answers and hits, as Python sees them. They stay the library's until somebody looks.

use hyperdoc2vec::recommend::{LinkQuote, Why, WordShares};
use hyperdoc2vec::{Answer as LibraryAnswer, DocumentHit};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PySlice};

/// The documents that a text should link to, the best first: a sequence of :class:`Hit`.
#[pyclass(frozen, sequence, module = "hyperdoc2vec")]
pub struct Answer(pub LibraryAnswer);

/// A document that was found.
#[pyclass(frozen, module = "hyperdoc2vec")]
pub struct Hit(pub DocumentHit);

/// Names of the columns of an answer.
const COLUMNS: [&str; 7] = ["id", "title", "score", "probability", "links", "date", "url"];

#[pymethods]
impl Answer {
    /// The ranking that was used.
    #[getter]
    fn ranking(&self) -> String {
        self.0.ranking.to_string()
    }

    /// Why there are no hits, if there are none.
    #[getter]
    fn reason(&self) -> Option<&str> {
        self.0.reason.as_deref()
    }

    /// Words of the text that the model does not know.
    #[getter]
    fn unknown(&self) -> Vec<&str> {
        self.0.query.unknown.iter().map(String::as_str).collect()
    }

    /// The hits, as a list.
    #[getter]
    fn hits(&self) -> Vec<Hit> {
        self.0.hits.iter().cloned().map(Hit).collect()
    }

    /// The ids of the hits.
    #[getter]
    fn ids(&self) -> Vec<&str> {
        self.0.hits.iter().map(|hit| hit.id.as_str()).collect()
    }

    fn __len__(&self) -> usize {
        self.0.hits.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if index.is_instance_of::<PySlice>() {
            return PyList::new(py, self.hits())?.as_any().get_item(index);
        }
        let (index, length) = (index.extract::<isize>()?, self.0.hits.len());
        let at = if index < 0 { index.checked_add_unsigned(length) } else { Some(index) };
        let hit = at.and_then(|at| self.0.hits.get(usize::try_from(at).ok()?));
        let hit = hit.ok_or_else(|| PyIndexError::new_err(format!("the answer has {length} hits")))?;
        Ok(Hit(hit.clone()).into_pyobject(py)?.into_any())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.hits())?.try_iter()
    }

    /// The hits as dicts.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.0.hits.iter().map(|hit| fields(py, hit)).collect()
    }

    /// The hits as a DataFrame of pandas.
    fn to_frame<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let options = PyDict::new(py);
        options.set_item("columns", COLUMNS)?;
        py.import("pandas")?.getattr("DataFrame")?.call((self.to_dicts(py)?,), Some(&options))
    }

    fn __repr__(&self) -> String {
        let Some(reason) = &self.0.reason else {
            let lines = self.0.hits.iter().enumerate().map(|(place, hit)| format!("{:<4}{}", place + 1, line(hit)));
            return lines.collect::<Vec<_>>().join("\n");
        };
        format!("<no hits: {reason}>")
    }

    fn _repr_html_(&self) -> String {
        if let Some(reason) = &self.0.reason {
            return format!("<p>no hits: {}</p>", escaped(reason));
        }
        let rows = self.0.hits.iter().enumerate().map(|(place, hit)| {
            let title = escaped(hit.title.as_deref().unwrap_or_default());
            let (id, score) = (escaped(&hit.id), hit.probability.unwrap_or(hit.score));
            format!("<tr><td>{}</td><td>{score:.4}</td><td>{id}</td><td>{title}</td></tr>", place + 1)
        });
        let head = if self.0.hits.iter().any(|hit| hit.probability.is_some()) { "probability" } else { "score" };
        let rows = rows.collect::<String>();
        format!("<table><tr><th></th><th>{head}</th><th>id</th><th>title</th></tr>{rows}</table>")
    }
}

#[pymethods]
impl Hit {
    /// The row of the document in the vectors of the model.
    #[getter]
    fn row(&self) -> usize {
        self.0.row
    }

    /// The id.
    #[getter]
    fn id(&self) -> &str {
        &self.0.id
    }

    /// The title.
    #[getter]
    fn title(&self) -> Option<&str> {
        self.0.title.as_deref()
    }

    /// Higher is better; its meaning depends on the ranking.
    #[getter]
    fn score(&self) -> f32 {
        self.0.score
    }

    /// The probability that the link points at it, where the ranking gives one.
    #[getter]
    fn probability(&self) -> Option<f32> {
        self.0.probability
    }

    /// How many links point at it.
    #[getter]
    fn links(&self) -> Option<u32> {
        self.0.links
    }

    /// The date, as it is written: 2009, 2009-06 or 2009-06-30.
    #[getter]
    fn date(&self) -> Option<String> {
        self.0.date.map(|date| date.to_string())
    }

    /// Where readers find it.
    #[getter]
    fn url(&self) -> Option<&str> {
        self.0.url.as_deref()
    }

    /// Why it was found, if the question asked for that.
    #[getter]
    fn why<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.0.why.as_ref().map(|why| reasons(py, why)).transpose()
    }

    /// All of it as a dict.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        fields(py, &self.0)
    }

    fn __repr__(&self) -> String {
        format!("<Hit {}>", line(&self.0))
    }
}

/// Score, id and title on a line.
fn line(hit: &DocumentHit) -> String {
    let title = hit.title.as_deref().map(|title| format!("  {title}")).unwrap_or_default();
    format!("{:.4}  {}{title}", hit.probability.unwrap_or(hit.score), hit.id)
}

fn fields<'py>(py: Python<'py>, hit: &DocumentHit) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("id", &hit.id)?;
    fields.set_item("title", &hit.title)?;
    fields.set_item("score", hit.score)?;
    fields.set_item("probability", hit.probability)?;
    fields.set_item("links", hit.links)?;
    fields.set_item("date", hit.date.map(|date| date.to_string()))?;
    fields.set_item("url", &hit.url)?;
    if let Some(why) = &hit.why {
        fields.set_item("why", reasons(py, why)?)?;
    }
    Ok(fields)
}

fn reasons<'py>(py: Python<'py>, why: &Why) -> PyResult<Bound<'py, PyDict>> {
    let shares = |shares: &WordShares| {
        let dict = PyDict::new(py);
        dict.set_item("score", shares.score)?;
        dict.set_item("shares", &shares.shares)?;
        PyResult::Ok(dict)
    };
    let quote = |quote: &LinkQuote| {
        let dict = PyDict::new(py);
        dict.set_item("source", &quote.source)?;
        dict.set_item("title", &quote.title)?;
        dict.set_item("before", &quote.before)?;
        dict.set_item("after", &quote.after)?;
        PyResult::Ok(dict)
    };
    let reasons = PyDict::new(py);
    reasons.set_item("embedding", shares(&why.embedding)?)?;
    reasons.set_item("source", why.source)?;
    reasons.set_item("bm25", shares(&why.bm25)?)?;
    reasons.set_item("contexts", why.contexts.iter().map(quote).collect::<PyResult<Vec<_>>>()?)?;
    Ok(reasons)
}

/// Text inside HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
