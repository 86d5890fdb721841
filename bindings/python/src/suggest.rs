//! Links for a draft: where, and to what.

use hyperdoc2vec::recommend::{Edit, NeverLink};
use hyperdoc2vec::{DraftFormat, Error, Model, Result, SuggestOptions, Suggester};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::named;

/// The options of suggestions, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct SuggestParameters {
    format: String,
    path: Option<String>,
    min_probability: Option<f32>,
    max: Option<usize>,
    never: Vec<String>,
}

/// A link that could be put into a draft.
#[pyclass(frozen, get_all, module = "hyperdoc2vec")]
pub struct Suggestion {
    /// Where its words begin: the number of characters before them.
    start: usize,
    /// Where they end.
    end: usize,
    /// The words.
    words: String,
    /// The id of the document.
    id: String,
    /// Its title.
    title: String,
    /// The probability of a link here, times that of this document.
    probability: f32,
    /// Why it is suggested.
    why: String,
    /// Whether the draft asks for a link here.
    wanted: bool,
    /// The edits that put the link into the text: start, end, new text, in characters.
    edits: Vec<(usize, usize, String)>,
}

#[pymethods]
impl Suggestion {
    /// All of it as a dict.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        fields.set_item("start", self.start)?;
        fields.set_item("end", self.end)?;
        fields.set_item("words", &self.words)?;
        fields.set_item("id", &self.id)?;
        fields.set_item("title", &self.title)?;
        fields.set_item("probability", self.probability)?;
        fields.set_item("why", &self.why)?;
        fields.set_item("wanted", self.wanted)?;
        Ok(fields)
    }

    fn __repr__(&self) -> String {
        format!("<Suggestion {:?} → {} ({:.2})>", self.words, self.id, self.probability)
    }
}

/// Suggests links for a draft.
pub fn suggest(model: &Model, text: &str, parameters: &SuggestParameters) -> Result<Vec<Suggestion>> {
    let format: DraftFormat =
        named("a format", &parameters.format).map_err(|_| Error::Usage(unknown(&parameters.format)))?;
    let mut options = SuggestOptions::new(format).never_link(NeverLink::read(&parameters.never.join("\n")));
    options.path.clone_from(&parameters.path);
    options.min_probability = parameters.min_probability.unwrap_or(options.min_probability);
    options.max = parameters.max.unwrap_or(usize::MAX);
    let found = Suggester::new(model)?.suggest(text, &options)?;
    let characters = CharCounts::new(text);
    let edit = |edit: Edit| (characters.before(edit.span.start), characters.before(edit.span.end), edit.text);
    let shown = |one: hyperdoc2vec::Suggestion| Suggestion {
        start: characters.before(one.span.start),
        end: characters.before(one.span.end),
        why: one.why(),
        words: one.words,
        id: one.id,
        title: one.title,
        probability: one.probability,
        wanted: one.wanted,
        edits: one.edits.into_iter().map(edit).collect(),
    };
    Ok(found.links.into_iter().map(shown).collect())
}

fn unknown(name: &str) -> String {
    format!("expected a format ({}), found {name:?}", crate::convert::names::<DraftFormat>().join(", "))
}

/// How many characters stand before each byte; Python counts in characters.
struct CharCounts {
    starts: Vec<usize>,
}

impl CharCounts {
    fn new(text: &str) -> CharCounts {
        CharCounts { starts: text.char_indices().map(|(at, _)| at).collect() }
    }

    fn before(&self, byte: usize) -> usize {
        self.starts.partition_point(|&start| start < byte)
    }
}
