//! Questions answered from a model: what the commands print as JSON and the server sends, from the same functions.

pub mod about;
pub mod near;
pub mod recommend;

use std::path::Path;

use hyperdoc2vec::search::suggest::similar;
use hyperdoc2vec::storage::strings::StringTable;
use hyperdoc2vec::{Error, Model, search};

use crate::wire;

/// Names that an error suggests.
const SUGGESTIONS: usize = 3;

/// Why there is no answer.
#[derive(Debug)]
pub enum Problem {
    /// The model does not have what is asked for.
    Unknown { code: &'static str, message: String },
    /// There is no answer to such a question.
    Unfit { code: &'static str, message: String },
    /// The library says so.
    Library(Error),
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        Problem::Library(error)
    }
}

impl Problem {
    /// For the command line, where the model's path tells what was asked.
    pub fn told_of(self, model: &Path) -> anyhow::Error {
        match self {
            Problem::Unknown { message, .. } => anyhow::anyhow!("{}: {message}", model.display()),
            Problem::Unfit { message, .. } => anyhow::anyhow!(message),
            Problem::Library(error) => error.into(),
        }
    }
}

/// The row of the document with the id; an error that suggests what may have been meant.
pub fn document(model: &Model, id: &str) -> Result<usize, Problem> {
    find(model.names(), id, "unknown-document", "document has the id")
}

/// The row of the word, read as the corpus was; the same.
pub fn word(model: &Model, word: &str) -> Result<usize, Problem> {
    let mut read = model.tokenizer().list(word);
    let word = if read.len() == 1 { read.swap_remove(0) } else { word.to_owned() };
    find(model.vocabulary(), &word, "unknown-word", "vector for the word")
}

fn find(table: StringTable<'_>, name: &str, code: &'static str, what: &str) -> Result<usize, Problem> {
    table.find(name).ok_or_else(|| {
        let message = format!("no {what} {name:?}{}", suggested(&similar(table, name, SUGGESTIONS)));
        Problem::Unknown { code, message }
    })
}

/// `; did you mean …?`, or nothing.
fn suggested(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        names => {
            let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            format!("; did you mean {}?", names.join(" or "))
        }
    }
}

/// The title of a document, if it has one.
fn title(model: &Model, row: usize) -> Option<String> {
    Some(model.titles().get(row)).filter(|title| !title.is_empty()).map(str::to_owned)
}

/// Hits that are documents.
fn documents(model: &Model, hits: &[search::Hit]) -> Vec<wire::Hit> {
    let links = model.links_to().unwrap_or_default();
    let hit = |(hit, rank): (&search::Hit, usize)| {
        let row = hit.row as usize;
        wire::Hit {
            rank,
            id: model.names().get(row).to_owned(),
            title: title(model, row),
            score: hit.score,
            links: links.get(row).copied(),
            date: model.date(row),
            url: Some(model.urls().get(row)).filter(|url| !url.is_empty()).map(str::to_owned),
            probability: None,
            reasons: wire::Reasons::default(),
        }
    };
    hits.iter().zip(1..).map(hit).collect()
}
