//! Documents as points of vector databases and search engines: what is known of each, and its vectors as they are.
//!
//! | format | a file of |
//! |---|---|
//! | `jsonl` | a JSON object a line |
//! | `elasticsearch`, `opensearch` | what `POST /INDEX/_bulk` takes: an action and a document, a line each |
//! | `qdrant` | bodies of `PUT /collections/NAME/points`, one a line, 500 points each |
//! | `pgvector` | SQL for psql: a table and its rows |
//!
//! Scores are inner products with OUT vectors, so engines must be told to use that: vectors of length 1 would lose how
//! often a document is linked to.

use std::io::{self, Write};

use serde::Serialize;
use strum::VariantArray;

use super::labels;
use crate::document::{is_hidden, visible_json};
use crate::error::{Result, unknown_name};
use crate::kernel::Matrix;
use crate::model::{Model, Vectors};

/// Points of one request to Qdrant, whose bodies may have 32 MiB.
const POINTS_A_REQUEST: usize = 500;

/// A format of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::EnumString, strum::IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase", parse_err_ty = String, parse_err_fn = unknown_format)]
#[non_exhaustive]
pub enum PointFormat {
    /// Lines for Elasticsearch's `_bulk`.
    Elasticsearch,
    /// Lines for OpenSearch's `_bulk`.
    Opensearch,
    /// Bodies of requests to Qdrant.
    Qdrant,
    /// SQL for PostgreSQL with pgvector.
    Pgvector,
    /// A JSON object a line.
    Jsonl,
}

fn unknown_format(name: &str) -> String {
    unknown_name::<PointFormat>("a format of points", name)
}

/// A document as a point: its id, metadata and vectors.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Point<'a> {
    /// The id.
    pub id: &'a str,
    /// The title.
    pub title: Option<&'a str>,
    /// The date: a year, a month or a day.
    pub date: Option<String>,
    /// The names of its labels.
    pub labels: Vec<&'a str>,
    /// The address.
    pub url: Option<&'a str>,
    /// How many links lead to it.
    pub popularity: u32,
    /// Its own vector, where the method learns one.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    pub vector_in: Option<&'a [f32]>,
    /// Its vector as a target, where the method learns one.
    #[serde(rename = "out", skip_serializing_if = "Option::is_none")]
    pub vector_out: Option<&'a [f32]>,
}

/// The documents of a model, to be written as points.
///
/// ```no_run
/// # use hyperdoc2vec::Model;
/// use hyperdoc2vec::export::{PointExport, PointFormat};
///
/// let model = Model::open("papers.model")?;
/// let mut file = std::io::BufWriter::new(std::fs::File::create("papers.sql")?);
/// PointExport::new(&model)?.write(PointFormat::Pgvector, &mut file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PointExport<'a> {
    model: &'a Model,
    vectors_in: Option<Matrix<'a>>,
    vectors_out: Option<Matrix<'a>>,
}

impl<'a> PointExport<'a> {
    /// The documents of `model`; an error where its method learns no vectors of documents.
    pub fn new(model: &'a Model) -> Result<PointExport<'a>> {
        let vectors_in = model.learnt_vectors(Vectors::DocIn).ok();
        let vectors_out = match &vectors_in {
            Some(_) => model.learnt_vectors(Vectors::DocOut).ok(),
            None => Some(model.learnt_vectors(Vectors::DocOut)?),
        };
        Ok(PointExport { model, vectors_in, vectors_out })
    }

    /// How many documents.
    pub fn len(&self) -> usize {
        self.model.documents()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The point of document `row`.
    pub fn point(&self, row: usize) -> Point<'a> {
        let model = self.model;
        let given = |text: &'a str| Some(text).filter(|text| !text.is_empty());
        Point {
            id: model.names().get(row),
            title: given(model.titles().get(row)),
            date: model.date(row).map(|date| date.to_string()),
            labels: labels(model, row),
            url: given(model.urls().get(row)),
            popularity: model.links_to().get(row).copied().unwrap_or(0),
            vector_in: self.vectors_in.map(|table| table.row(row)),
            vector_out: self.vectors_out.map(|table| table.row(row)),
        }
    }

    /// Writes all points.
    pub fn write(&self, format: PointFormat, out: &mut dyn Write) -> io::Result<()> {
        match format {
            PointFormat::Jsonl => (0..self.len()).try_for_each(|row| line(&self.point(row), out)),
            PointFormat::Elasticsearch | PointFormat::Opensearch => (0..self.len()).try_for_each(|row| {
                let point = self.point(row);
                line(&Action { index: ActionId { _id: point.id } }, out)?;
                line(&point, out)
            }),
            PointFormat::Qdrant => (0..self.len()).step_by(POINTS_A_REQUEST).try_for_each(|first| {
                let rows = first..self.len().min(first + POINTS_A_REQUEST);
                line(&QdrantBody { points: rows.map(|row| self.qdrant(row)).collect() }, out)
            }),
            PointFormat::Pgvector => self.pgvector(out),
        }?;
        out.flush()
    }

    /// Qdrant's ids are numbers, so that the document's is a part of the payload.
    fn qdrant(&self, row: usize) -> QdrantPoint<'a> {
        let mut payload = self.point(row);
        let vector = QdrantVectors { vector_in: payload.vector_in.take(), vector_out: payload.vector_out.take() };
        QdrantPoint { id: row, vector, payload }
    }

    fn pgvector(&self, out: &mut dyn Write) -> io::Result<()> {
        let dim = self.model.params().dim;
        let tables = [("in", self.vectors_in), ("out", self.vectors_out)];
        let learnt = || tables.iter().filter(|(_, table)| table.is_some());
        writeln!(out, "CREATE EXTENSION IF NOT EXISTS vector;")?;
        writeln!(out, "BEGIN;")?;
        writeln!(out, "CREATE TABLE points (")?;
        writeln!(out, "    id text PRIMARY KEY, title text, date text, labels text[] NOT NULL, url text,")?;
        write!(out, "    popularity integer NOT NULL")?;
        learnt().try_for_each(|(name, _)| write!(out, ", vector_{name} vector({dim}) NOT NULL"))?;
        writeln!(out, "\n);")?;
        writeln!(out, "COPY points FROM stdin;")?;
        for row in 0..self.len() {
            let point = self.point(row);
            let labels: Vec<String> = point.labels.iter().map(|label| array_element(label)).collect();
            let text = |text: Option<&str>| text.map_or_else(|| r"\N".to_owned(), copied);
            write!(out, "{}\t{}\t{}", copied(point.id), text(point.title), text(point.date.as_deref()))?;
            let (labels, url) = (copied(&format!("{{{}}}", labels.join(","))), text(point.url));
            write!(out, "\t{labels}\t{url}\t{}", point.popularity)?;
            for vector in [point.vector_in, point.vector_out].into_iter().flatten() {
                out.write_all(b"\t[")?;
                for (column, x) in vector.iter().enumerate() {
                    write!(out, "{}{x}", if column > 0 { "," } else { "" })?;
                }
                out.write_all(b"]")?;
            }
            out.write_all(b"\n")?;
        }
        writeln!(out, "\\.\nCOMMIT;")
    }
}

#[derive(Serialize)]
struct Action<'a> {
    index: ActionId<'a>,
}

#[derive(Serialize)]
struct ActionId<'a> {
    _id: &'a str,
}

#[derive(Serialize)]
struct QdrantBody<'a> {
    points: Vec<QdrantPoint<'a>>,
}

#[derive(Serialize)]
struct QdrantPoint<'a> {
    id: usize,
    vector: QdrantVectors<'a>,
    payload: Point<'a>,
}

#[derive(Serialize)]
struct QdrantVectors<'a> {
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    vector_in: Option<&'a [f32]>,
    #[serde(rename = "out", skip_serializing_if = "Option::is_none")]
    vector_out: Option<&'a [f32]>,
}

fn line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", visible_json(&serde_json::to_string(value)?))
}

/// A text in a column of COPY, what is hidden as escapes of its bytes. PostgreSQL's texts have no NUL.
fn copied(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\0' => {}
            c if is_hidden(c) => {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("\\x{byte:02x}")));
            }
            c => out.push(c),
        }
    }
    out
}

/// A text in an array of PostgreSQL.
fn array_element(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_in_their_column() {
        assert_eq!(copied("a\tb\\c\nd\re\0f"), r"a\tb\\c\nd\ref");
        assert_eq!(copied("é\u{1b}[31m\u{202e}b"), r"é\x1b[31m\xe2\x80\xaeb");
        assert_eq!(array_element(r#"a "b\c", {d}"#), r#""a \"b\\c\", {d}""#);
    }
}
