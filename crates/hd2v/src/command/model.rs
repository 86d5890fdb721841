//! What commands that use a model share: documents by their ids, and tables of hits.

use anyhow::{Result, bail};
use hyperdoc2vec::Model;
use hyperdoc2vec::search::Hit;
use hyperdoc2vec::search::suggest::similar;
use hyperdoc2vec::strings::StringTable;
use serde_json::{Value, json};

/// Names that an error suggests.
const SUGGESTIONS: usize = 3;
/// A title is cut at this many characters in a table.
const TITLE: usize = 60;

/// The row of `name` in `table`; an error that suggests what may have been meant.
pub fn find(model: &Model, table: StringTable<'_>, name: &str, what: &str) -> Result<usize> {
    match table.find(name) {
        Some(row) => Ok(row),
        None => {
            bail!("{}: no {what} {name:?}{}", model.path().display(), suggested(&similar(table, name, SUGGESTIONS)))
        }
    }
}

/// `; did you mean …?`, or nothing.
pub fn suggested(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        names => {
            let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            format!("; did you mean {}?", names.join(" or "))
        }
    }
}

/// A hit that is a document, as JSON.
pub fn document_json(model: &Model, rank: usize, hit: &Hit) -> Value {
    let row = hit.row as usize;
    let mut out = json!({
        "rank": rank,
        "id": model.names().get(row),
        "title": Some(model.titles().get(row)).filter(|title| !title.is_empty()),
        "score": hit.score,
        "links": model.links_to().ok().and_then(|links| links.get(row).copied()),
    });
    if let Some(out) = out.as_object_mut() {
        if let Some(date) = model.date(row) {
            out.insert("date".to_owned(), json!(date));
        }
        let url = model.urls().get(row);
        if !url.is_empty() {
            out.insert("url".to_owned(), json!(url));
        }
    }
    out
}

/// Rows of a table: rank, score, name, and more where there is more to say. Columns stand below each other.
pub fn hits_table(rows: &[(f32, &str, &str)]) -> String {
    let width = rows.iter().map(|(_, name, _)| name.chars().count()).max().unwrap_or(0);
    let digits = rows.len().to_string().len();
    rows.iter()
        .enumerate()
        .map(|(place, (score, name, more))| {
            let line = format!("{:digits$}  {score:8.4}  {name:width$}  {}", place + 1, shortened(&one_line(more)));
            line.trim_end().to_owned() + "\n"
        })
        .collect()
}

/// White space as single spaces.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub fn shortened(title: &str) -> String {
    if title.chars().count() <= TITLE {
        return title.to_owned();
    }
    title.chars().take(TITLE - 1).chain(['…']).collect()
}
