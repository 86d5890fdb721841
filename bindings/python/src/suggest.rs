//! Links for a draft: where, and to what.

use hyperdoc2vec::draft::{Draft, DraftFormat};
use hyperdoc2vec::places::{DocumentNames, Edit, LinkWriter, SuggestOptions, Suggester};
use hyperdoc2vec::{DocRow, Error, Model, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::named;

/// Documents listed for a place that asks for a link.
const HITS: usize = 1;

/// What is to be suggested, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct SuggestParameters {
    format: String,
    path: Option<String>,
    min_probability: Option<f32>,
    max: Option<usize>,
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
    /// Whether the draft asks for a link here.
    wanted: bool,
    /// What puts the link into the text: start, end, new text, in characters.
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
    let suggester = Suggester::new(model)?;
    let names = DocumentNames::new(model);
    let draft = Draft::read(text, format, suggester.tokenizer(), parameters.path.as_deref().unwrap_or("the draft"))?;
    let source = parameters.path.as_deref().and_then(|path| names.of_path(path));
    let targets = draft.links.iter().flat_map(|link| &link.targets);
    let title = source.map(|row| model.titles().get(row.index()).to_owned()).or_else(|| draft.title.clone());
    let defaults = SuggestOptions::default();
    let options = SuggestOptions {
        source,
        linked: targets.filter_map(|target| names.resolve(target, source)).collect(),
        title: title.unwrap_or_default(),
        until: source.and_then(|row| model.date(row.index())),
        min_probability: parameters.min_probability.unwrap_or(defaults.min_probability),
        max: parameters.max.unwrap_or(defaults.max),
        ..defaults
    };
    let writer = LinkWriter::new(model, &names, text, &draft, source);
    let characters = Characters::new(text);
    let shown = |span: std::ops::Range<usize>, row: DocRow, probability: f32, edits: Vec<Edit>, wanted: bool| {
        let edit = |edit: Edit| (characters.before(edit.span.start), characters.before(edit.span.end), edit.text);
        Suggestion {
            start: characters.before(span.start),
            end: characters.before(span.end),
            words: text[span].to_owned(),
            id: model.names().get(row.index()).to_owned(),
            title: model.titles().get(row.index()).to_owned(),
            probability,
            wanted,
            edits: edits.into_iter().map(edit).collect(),
        }
    };
    let found = suggester.suggest(text, &draft, &options)?.into_iter().map(|one| {
        let edits = writer.suggestion(text, &one);
        shown(one.span.clone(), one.candidate.target, one.probability, edits, false)
    });
    let mut found: Vec<Suggestion> = found.collect();
    for answer in suggester.answer_wanted(&draft, &options, HITS)? {
        let place = &draft.wanted[answer.wanted];
        for (row, probability) in answer.hits {
            let edits = vec![writer.wanted(place, row)];
            found.push(shown(place.span.clone(), row, probability, edits, true));
        }
    }
    found.sort_by_key(|one| one.start);
    Ok(found)
}

fn unknown(name: &str) -> String {
    format!("expected a format ({}), found {name:?}", crate::convert::names::<DraftFormat>().join(", "))
}

/// How many characters stand before each byte; Python counts in characters.
struct Characters {
    starts: Vec<usize>,
}

impl Characters {
    fn new(text: &str) -> Characters {
        Characters { starts: text.char_indices().map(|(at, _)| at).collect() }
    }

    fn before(&self, byte: usize) -> usize {
        self.starts.partition_point(|&start| start < byte)
    }
}
