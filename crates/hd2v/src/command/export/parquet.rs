//! Vectors with what their rows are, as columns for pandas, polars and DuckDB.

use std::io::Write;
use std::sync::Arc;

use anyhow::Result;
use hyperdoc2vec::Model;
use hyperdoc2vec::export::{Point, PointExport, VectorExport, labels};
use hyperdoc2vec::model::Vectors;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, FloatType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

/// Rows that are written together.
const ROWS: usize = 1 << 14;

const DOCUMENTS: &str = "message documents {
    required binary id (UTF8);
    optional binary title (UTF8);
    required group labels (LIST) { repeated group list { required binary element (UTF8); } }
    required group vector (LIST) { repeated group list { required float element; } }
}";

const WORDS: &str = "message words {
    required binary word (UTF8);
    required int64 count;
    required int64 documents;
    required group vector (LIST) { repeated group list { required float element; } }
}";

/// Writes the vectors and what their rows are.
pub fn write(model: &Model, which: Vectors, export: &VectorExport<'_>, out: &mut (dyn Write + Send)) -> Result<()> {
    let words = matches!(which, Vectors::WordIn | Vectors::WordOut);
    let schema = Arc::new(parse_message_type(if words { WORDS } else { DOCUMENTS })?);
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(WriterProperties::new()))?;
    for first in (0..export.rows()).step_by(ROWS) {
        let rows = first..export.rows().min(first + ROWS);
        let mut group = file.next_row_group()?;
        if words {
            let text = |row| ByteArray::from(model.vocabulary().get(row));
            column::<ByteArrayType>(&mut group, &rows.clone().map(text).collect::<Vec<_>>(), None, None)?;
            for counts in [model.word_counts(), model.word_documents()] {
                let counts: Vec<i64> = counts[rows.clone()].iter().map(|&count| count as i64).collect();
                column::<Int64Type>(&mut group, &counts, None, None)?;
            }
        } else {
            let text = |row| ByteArray::from(model.names().get(row));
            column::<ByteArrayType>(&mut group, &rows.clone().map(text).collect::<Vec<_>>(), None, None)?;
            let titles: Vec<&str> = rows.clone().map(|row| model.titles().get(row)).collect();
            let there: Vec<i16> = titles.iter().map(|title| i16::from(!title.is_empty())).collect();
            let titles: Vec<ByteArray> =
                titles.into_iter().filter(|title| !title.is_empty()).map(ByteArray::from).collect();
            column::<ByteArrayType>(&mut group, &titles, Some(&there), None)?;
            let labels: Vec<Vec<ByteArray>> =
                rows.clone().map(|row| labels(model, row).into_iter().map(ByteArray::from).collect()).collect();
            lists::<ByteArrayType>(&mut group, labels.iter().map(Vec::as_slice))?;
        }
        let vectors: Vec<_> = rows.map(|row| export.row(row)).collect();
        lists::<FloatType>(&mut group, vectors.iter().map(AsRef::as_ref))?;
        group.close()?;
    }
    file.close()?;
    Ok(())
}

const POINTS: &str = "message points {
    required binary id (UTF8);
    optional binary title (UTF8);
    optional binary date (UTF8);
    required group labels (LIST) { repeated group list { required binary element (UTF8); } }
    optional binary url (UTF8);
    required int64 popularity;
    required group in (LIST) { repeated group list { required float element; } }
    required group out (LIST) { repeated group list { required float element; } }
}";

/// Writes points; vectors that the method does not learn are empty lists.
pub fn write_points(points: &PointExport<'_>, out: &mut (dyn Write + Send)) -> Result<()> {
    let schema = Arc::new(parse_message_type(POINTS)?);
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(WriterProperties::new()))?;
    for first in (0..points.len()).step_by(ROWS) {
        let rows: Vec<Point<'_>> = (first..points.len().min(first + ROWS)).map(|row| points.point(row)).collect();
        let mut group = file.next_row_group()?;
        column::<ByteArrayType>(
            &mut group,
            &rows.iter().map(|p| ByteArray::from(p.id)).collect::<Vec<_>>(),
            None,
            None,
        )?;
        optional(&mut group, rows.iter().map(|point| point.title))?;
        optional(&mut group, rows.iter().map(|point| point.date.as_deref()))?;
        let labels: Vec<Vec<ByteArray>> =
            rows.iter().map(|point| point.labels.iter().map(|&label| ByteArray::from(label)).collect()).collect();
        lists::<ByteArrayType>(&mut group, labels.iter().map(Vec::as_slice))?;
        optional(&mut group, rows.iter().map(|point| point.url))?;
        let popularity: Vec<i64> = rows.iter().map(|point| i64::from(point.popularity)).collect();
        column::<Int64Type>(&mut group, &popularity, None, None)?;
        lists::<FloatType>(&mut group, rows.iter().map(|point| point.vector_in.unwrap_or_default()))?;
        lists::<FloatType>(&mut group, rows.iter().map(|point| point.vector_out.unwrap_or_default()))?;
        group.close()?;
    }
    file.close()?;
    Ok(())
}

/// A column of texts, not all of which are there.
fn optional<'v>(group: &mut Group<'_, '_>, texts: impl Iterator<Item = Option<&'v str>>) -> Result<()> {
    let texts: Vec<Option<&str>> = texts.collect();
    let there: Vec<i16> = texts.iter().map(|text| i16::from(text.is_some())).collect();
    let texts: Vec<ByteArray> = texts.into_iter().flatten().map(ByteArray::from).collect();
    column::<ByteArrayType>(group, &texts, Some(&there), None)
}

type Group<'a, 'b> = SerializedRowGroupWriter<'a, &'b mut (dyn Write + Send)>;

fn column<T: DataType>(
    group: &mut Group<'_, '_>,
    values: &[T::T],
    there: Option<&[i16]>,
    goes_on: Option<&[i16]>,
) -> Result<()> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(values, there, goes_on)?;
        column.close()?;
    }
    Ok(())
}

/// A column of lists: a value is there or its list is empty; it goes on with the list of the one before or begins one.
fn lists<'v, T: DataType>(group: &mut Group<'_, '_>, lists: impl Iterator<Item = &'v [T::T]>) -> Result<()>
where
    T::T: 'v,
{
    let (mut values, mut there, mut goes_on) = (Vec::new(), Vec::new(), Vec::new());
    for list in lists {
        values.extend_from_slice(list);
        if list.is_empty() {
            there.push(0);
            goes_on.push(0);
        }
        for place in 0..list.len() {
            there.push(1);
            goes_on.push(i16::from(place > 0));
        }
    }
    column::<T>(group, &values, Some(&there), Some(&goes_on))
}
