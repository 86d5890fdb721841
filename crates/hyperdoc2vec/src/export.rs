//! Vectors in the formats of others.
//!
//! | format | a file of |
//! |---|---|
//! | `word2vec` | a line with the numbers of rows and columns, then a line a row: its name and its numbers |
//! | `word2vec-bin` | the same, numbers as 32-bit floats, the lowest byte first |
//! | `npy` | the matrix alone, for numpy |
//! | `tsv` | a line a row: its numbers between tabs, for the embedding projector |
//!
//! In the word2vec formats a space ends a name, so white space in names is written `_`. Names of the rows of `npy` and
//! `tsv` are in their [`metadata`]. Writers flush what they write to; `storage::write_atomically` makes a whole file.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::kernel::Matrix;
use crate::model::{Model, Vectors};

/// Writes the word2vec text format.
pub fn word2vec(model: &Model, which: Vectors, out: &mut dyn Write) -> io::Result<()> {
    write_word2vec(learnt(model, which)?, |row| name(model, which, row), out)
}

/// Writes the word2vec binary format.
pub fn word2vec_binary(model: &Model, which: Vectors, out: &mut dyn Write) -> io::Result<()> {
    write_word2vec_binary(learnt(model, which)?, |row| name(model, which, row), out)
}

/// Writes a matrix for numpy.
pub fn npy(model: &Model, which: Vectors, out: &mut dyn Write) -> io::Result<()> {
    write_npy(learnt(model, which)?, out)
}

/// Writes numbers between tabs.
pub fn tsv(model: &Model, which: Vectors, out: &mut dyn Write) -> io::Result<()> {
    write_tsv(learnt(model, which)?, out)
}

/// Writes the names of the rows, a line each below a heading: `id`, `title`, `labels` of documents, `word`, `count`,
/// `documents` of words. Tabs and line ends in them are written as spaces.
pub fn metadata(model: &Model, which: Vectors, out: &mut dyn Write) -> io::Result<()> {
    if is_word(which) {
        writeln!(out, "word\tcount\tdocuments")?;
        for (row, (count, documents)) in model.word_counts().iter().zip(model.word_documents()).enumerate() {
            writeln!(out, "{}\t{count}\t{documents}", field(name(model, which, row)))?;
        }
        return out.flush();
    }
    writeln!(out, "id\ttitle\tlabels")?;
    for row in 0..model.documents() {
        let (name, title, labels) = (name(model, which, row), model.titles().get(row), labels(model, row).join(", "));
        writeln!(out, "{}\t{}\t{}", field(name), field(title), field(&labels))?;
    }
    out.flush()
}

/// The names of the labels of a document.
pub fn labels(model: &Model, document: usize) -> Vec<&str> {
    model.label_ids(document).iter().map(|&label| model.labels().get(label as usize)).collect()
}

/// How many names have white space, which the word2vec formats cannot hold.
pub fn names_with_space(model: &Model, which: Vectors) -> usize {
    let rows = if is_word(which) { model.words() } else { model.documents() };
    (0..rows).filter(|&row| name(model, which, row).contains(char::is_whitespace)).count()
}

/// The vectors; of those that the model's method does not learn, an error of the kind `Unsupported`.
fn learnt(model: &Model, which: Vectors) -> io::Result<Matrix<'_>> {
    model.learnt_vectors(which).map_err(|error| io::Error::new(io::ErrorKind::Unsupported, error))
}

fn is_word(which: Vectors) -> bool {
    matches!(which, Vectors::WordIn | Vectors::WordOut)
}

fn name(model: &Model, which: Vectors, row: usize) -> &str {
    if is_word(which) { model.vocabulary().get(row) } else { model.names().get(row) }
}

fn without_space(name: &str) -> Cow<'_, str> {
    if name.contains(char::is_whitespace) {
        return Cow::Owned(name.replace(char::is_whitespace, "_"));
    }
    Cow::Borrowed(name)
}

fn field(text: &str) -> Cow<'_, str> {
    let breaks = |c: char| matches!(c, '\t' | '\n' | '\r');
    if text.contains(breaks) { Cow::Owned(text.replace(breaks, " ")) } else { Cow::Borrowed(text) }
}

fn write_word2vec<'a>(vectors: Matrix<'_>, name: impl Fn(usize) -> &'a str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} {}", vectors.rows(), vectors.cols())?;
    for row in 0..vectors.rows() {
        out.write_all(without_space(name(row)).as_bytes())?;
        vectors.row(row).iter().try_for_each(|x| write!(out, " {x}"))?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

fn write_word2vec_binary<'a>(
    vectors: Matrix<'_>,
    name: impl Fn(usize) -> &'a str,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{} {}", vectors.rows(), vectors.cols())?;
    for row in 0..vectors.rows() {
        out.write_all(without_space(name(row)).as_bytes())?;
        out.write_all(b" ")?;
        write_numbers(vectors.row(row), out)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

fn write_numbers(numbers: &[f32], out: &mut dyn Write) -> io::Result<()> {
    numbers.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
}

/// The header's length is a multiple of this.
const NPY_ALIGNMENT: usize = 64;

/// The head of an npy file of `rows` rows of `cols` numbers, at least `least` bytes long.
pub fn npy_head(rows: usize, cols: usize, least: usize) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {cols}), }}");
    // The magic bytes, the version and the length come before, a line end after.
    let before = 10;
    let total = (before + header.len() + 1).max(least).next_multiple_of(NPY_ALIGNMENT);
    header.push_str(&" ".repeat(total - before - header.len() - 1));
    header.push('\n');
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend_from_slice(&(header.len() as u16).to_le_bytes());
    head.extend_from_slice(header.as_bytes());
    head
}

fn write_npy(vectors: Matrix<'_>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&npy_head(vectors.rows(), vectors.cols(), 0))?;
    (0..vectors.rows()).try_for_each(|row| write_numbers(vectors.row(row), out))?;
    out.flush()
}

fn write_tsv(vectors: Matrix<'_>, out: &mut dyn Write) -> io::Result<()> {
    for row in 0..vectors.rows() {
        for (column, x) in vectors.row(row).iter().enumerate() {
            write!(out, "{}{x}", if column > 0 { "\t" } else { "" })?;
        }
        out.write_all(b"\n")?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS: [f32; 4] = [1.0, -0.5, 0.1, 1e-7];
    const NAMES: [&str; 2] = ["fish", "hot\u{a0}soup bowl"];

    fn written(write: impl Fn(Matrix<'_>, &mut dyn Write) -> io::Result<()>) -> Vec<u8> {
        let mut out = Vec::new();
        write(Matrix::new(&NUMBERS, 2, 2, 2), &mut out).expect("written");
        out
    }

    #[test]
    fn text_formats_hold_every_number_exactly() {
        let text = written(|vectors, out| write_word2vec(vectors, |row| NAMES[row], out));
        assert_eq!(String::from_utf8_lossy(&text), "2 2\nfish 1 -0.5\nhot_soup_bowl 0.1 0.0000001\n");
        let text = written(write_tsv);
        assert_eq!(String::from_utf8_lossy(&text), "1\t-0.5\n0.1\t0.0000001\n");
    }

    #[test]
    fn the_binary_format_has_names_and_little_endian_floats() {
        let bytes = written(|vectors, out| write_word2vec_binary(vectors, |row| NAMES[row], out));
        let mut expected = b"2 2\nfish ".to_vec();
        expected.extend([0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf]);
        expected.extend(b"\nhot_soup_bowl ");
        expected.extend([0.1f32.to_le_bytes(), 1e-7f32.to_le_bytes()].concat());
        expected.push(b'\n');
        assert_eq!(bytes, expected);
    }

    #[test]
    fn npy_has_an_aligned_header_and_then_the_numbers() {
        let bytes = written(write_npy);
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        let header = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
        assert_eq!((10 + header) % 64, 0);
        let text = std::str::from_utf8(&bytes[10..10 + header]).expect("text");
        assert!(text.starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"));
        assert!(text.ends_with('\n'));
        let numbers: Vec<f32> = bytes[10 + header..].as_chunks().0.iter().map(|&b| f32::from_le_bytes(b)).collect();
        assert_eq!(numbers, NUMBERS);
    }

    #[test]
    fn fields_stay_on_their_line() {
        assert_eq!(field("a\tb\r\nc"), "a b  c");
        assert_eq!(field("plain"), "plain");
    }
}
