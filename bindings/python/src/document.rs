//! Documents from Python: dicts, or objects with the same names as attributes.

use std::collections::HashMap;
use std::sync::Mutex;

use hyperdoc2vec::Document;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyIterator, PyString};

use crate::convert::{date, string};

/// The fields of a document.
const FIELDS: [&str; 8] = ["id", "text", "title", "authors", "date", "labels", "url", "language"];

/// Documents taken from an iterator before the interpreter is let go again.
const TOGETHER: usize = 64;

/// A field of a document, and what to call it in a message.
struct DocumentField<'py> {
    value: Bound<'py, PyAny>,
    place: String,
}

/// Reads the document with this number.
fn document(object: &Bound<'_, PyAny>, number: usize) -> PyResult<Document> {
    let dict = object.cast::<PyDict>().ok();
    if let Some(dict) = dict {
        for name in dict.keys() {
            let name = name.extract::<String>().unwrap_or_else(|_| name.to_string());
            if !FIELDS.contains(&name.as_str()) {
                let fields = FIELDS.join(", ");
                return Err(PyValueError::new_err(format!(
                    "document {number}: no field is called {name:?}; there are {fields}"
                )));
            }
        }
    } else if !(object.hasattr("id")? && object.hasattr("text")?) {
        let found = object.get_type().name()?;
        let what = format!("document {number}: expected a dict or a Document, found {found}");
        return Err(PyTypeError::new_err(what));
    }
    let field = |name: &str| -> PyResult<Option<DocumentField<'_>>> {
        let value = match dict {
            Some(dict) => dict.get_item(name)?,
            None => object.getattr_opt(name)?,
        };
        let there = |value: &Bound<'_, PyAny>| !value.is_none() && !is_missing(value);
        Ok(value.filter(there).map(|value| DocumentField { value, place: format!("document {number}, {name}") }))
    };
    let required =
        |name: &str| field(name)?.ok_or_else(|| PyValueError::new_err(format!("document {number}: it has no {name}")));
    let id = required("id")?.name()?;
    let mut read = Document::new(id, required("text")?.string()?);
    read.origin = format!("document {number} ({:?})", read.id);
    read.title = field("title")?.map(|field| field.string()).transpose()?;
    read.url = field("url")?.map(|field| field.string()).transpose()?;
    read.language = field("language")?.map(|field| field.string()).transpose()?;
    read.authors = field("authors")?.map_or(Ok(Vec::new()), |field| field.strings())?;
    read.labels = field("labels")?.map_or(Ok(Vec::new()), |field| field.strings())?;
    if let Some(field) = field("date")? {
        let wrong = |error: PyErr| PyValueError::new_err(format!("{}: {}", field.place, error.value(object.py())));
        read.date = Some(date(&field.date()?).map_err(wrong)?);
    }
    Ok(read)
}

/// What tables have where something is missing: a float that is no number, and two objects of pandas.
fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    let of_pandas = |value: &Bound<'_, PyAny>| {
        value.get_type().name().is_ok_and(|name| matches!(name.to_str(), Ok("NAType" | "NaTType")))
    };
    match value.cast::<PyFloat>() {
        Ok(number) => number.extract::<f64>().is_ok_and(f64::is_nan),
        Err(_) => of_pandas(value),
    }
}

/// Whether it is a whole number, of Python or of NumPy, and no truth value.
fn is_whole(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(!value.is_instance_of::<PyBool>() && (value.is_instance_of::<PyInt>() || value.hasattr("__index__")?))
}

impl DocumentField<'_> {
    fn string(&self) -> PyResult<String> {
        string(&self.value, || self.place.clone())
    }

    /// A string, or a whole number written as one.
    fn name(&self) -> PyResult<String> {
        let written = |error: PyErr| PyValueError::new_err(format!("{}: {}", self.place, error.value(self.value.py())));
        match is_whole(&self.value)? {
            true => self.value.str().map_err(written)?.extract(),
            false => self.string(),
        }
    }

    /// A year, a string, or an object of `datetime`.
    fn date(&self) -> PyResult<String> {
        match self.value.getattr_opt("isoformat")? {
            // A time of the day is left out.
            Some(write) => Ok(write.call0()?.extract::<String>()?.chars().take("2009-06-30".len()).collect()),
            None => self.name(),
        }
    }

    /// A list of strings, or one.
    fn strings(&self) -> PyResult<Vec<String>> {
        if self.value.is_instance_of::<PyString>() {
            return Ok(vec![self.string()?]);
        }
        let Ok(values) = self.value.try_iter() else {
            let found = self.value.get_type().name()?;
            return Err(PyTypeError::new_err(format!("{}: expected a list of str, found {found}", self.place)));
        };
        values.map(|value| string(&value?, || self.place.clone())).collect()
    }
}

/// The numbers of documents by their ids, to find those that have the id of another.
#[derive(Default)]
struct Numbers(HashMap<String, usize>);

impl Numbers {
    /// Notes the id of a document; an error if another has it.
    fn note(&mut self, document: &Document, number: usize) -> PyResult<()> {
        match self.0.insert(document.id.clone(), number) {
            Some(first) => {
                let id = &document.id;
                Err(PyValueError::new_err(format!("document {number}: document {first} has the id {id:?}, too")))
            }
            None => Ok(()),
        }
    }
}

/// The documents of an iterator that belongs to Python. Where it raises, the last document is one that no corpus takes,
/// and the exception is kept.
pub struct Documents<'a> {
    iterator: Py<PyIterator>,
    raised: &'a Mutex<Option<PyErr>>,
    number: usize,
    numbers: Numbers,
    waiting: std::vec::IntoIter<Document>,
    ended: bool,
}

impl<'a> Documents<'a> {
    /// Iterates over documents; what it raises is put into `raised`.
    pub fn new(documents: &Bound<'_, PyAny>, raised: &'a Mutex<Option<PyErr>>) -> PyResult<Documents<'a>> {
        if documents.is_instance_of::<PyString>() || documents.is_instance_of::<PyDict>() {
            let found = documents.get_type().name()?;
            return Err(PyTypeError::new_err(format!("expected several documents, found one {found}")));
        }
        let iterator = documents.try_iter()?.unbind();
        let (numbers, waiting) = (Numbers::default(), Vec::new().into_iter());
        Ok(Documents { iterator, raised, number: 0, numbers, waiting, ended: false })
    }

    fn fetch(&mut self, py: Python<'_>) -> Vec<Document> {
        let mut fetched = Vec::with_capacity(TOGETHER);
        while fetched.len() < TOGETHER && !self.ended {
            let number = self.number;
            self.number += 1;
            let read: Option<PyResult<Document>> = self.iterator.bind(py).clone().next().map(|object| {
                let document = document(&object?, number)?;
                self.numbers.note(&document, number)?;
                Ok(document)
            });
            match read {
                Some(Ok(document)) => fetched.push(document),
                Some(Err(error)) => {
                    if let Ok(mut raised) = self.raised.lock() {
                        *raised = Some(error);
                    }
                    // Without an id: the import stops at it.
                    fetched.push(Document::default());
                    self.ended = true;
                }
                None => self.ended = true,
            }
        }
        fetched
    }
}

impl Iterator for Documents<'_> {
    type Item = Document;

    fn next(&mut self) -> Option<Document> {
        if let Some(document) = self.waiting.next() {
            return Some(document);
        }
        if !self.ended {
            self.waiting = Python::attach(|py| self.fetch(py)).into_iter();
        }
        self.waiting.next()
    }
}
