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
//! `tsv` are in their [`metadata`](VectorExport::metadata). Writers flush what they write to; [`VectorExport::save`] makes
//! whole files.
//!
//! [`bibliography`] writes documents for reference managers, [`PointExport`] for vector databases.

mod bibliography;
mod points;

pub use bibliography::{BibEntry, BibFormat, bibliography, cite_key};
pub use points::{Point, PointExport, PointFormat};

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use strum::VariantArray;

use crate::error::{Error, Result, unknown_name};
use crate::kernel::Matrix;
use crate::model::{Model, Vectors};
use crate::storage::atomic::{refuse_existing, write_atomically, write_pair_atomically};
use crate::storage::container::begins;

/// A format of vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::EnumString, strum::IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case", parse_err_ty = String, parse_err_fn = unknown_format)]
#[non_exhaustive]
pub enum VectorFormat {
    /// A matrix for numpy.
    Npy,
    /// Numbers between tabs.
    Tsv,
    /// The text of word2vec.
    #[strum(serialize = "word2vec")]
    Word2vec,
    /// The same in binary.
    #[strum(serialize = "word2vec-bin")]
    Word2vecBin,
}

fn unknown_format(name: &str) -> String {
    unknown_name::<VectorFormat>("a format of vectors", name)
}

impl VectorFormat {
    /// Whether a file with these first bytes may be one of this format.
    pub fn fits(self, head: &[u8]) -> bool {
        let line = first_line(head);
        let mut fields = line.split_whitespace();
        match self {
            VectorFormat::Npy => head.starts_with(b"\x93NUMPY"),
            VectorFormat::Tsv => !line.is_empty() && line.split('\t').all(|field| field.parse::<f32>().is_ok()),
            VectorFormat::Word2vec | VectorFormat::Word2vecBin => {
                fields.by_ref().take(2).filter(|field| field.parse::<u64>().is_ok()).count() == 2
                    && fields.next().is_none()
            }
        }
    }

    /// The file with the names of the rows, which stands beside one of this format: `papers.metadata.tsv` beside
    /// `papers.npy`. The word2vec formats have the names themselves.
    pub fn metadata_path(self, path: &Path) -> Option<PathBuf> {
        if !matches!(self, VectorFormat::Npy | VectorFormat::Tsv) {
            return None;
        }
        let ours = path.extension().is_some_and(|extension| extension == "tsv" || extension == "npy");
        let mut name = if ours { path.with_extension("") } else { path.to_owned() }.into_os_string();
        name.push(".metadata.tsv");
        Some(PathBuf::from(name))
    }
}

/// Whether a file with these first bytes may be the names of rows.
pub fn is_metadata(head: &[u8]) -> bool {
    ["id\ttitle\t", "word\tcount\t"].iter().any(|start| first_line(head).starts_with(start))
}

/// The first line of a text; empty where it is none.
fn first_line(head: &[u8]) -> &str {
    str::from_utf8(head.split(|&byte| byte == b'\n').next().unwrap_or_default()).unwrap_or_default()
}

/// One of the matrices of a model, to be written.
#[derive(Debug, Clone, Copy)]
pub struct VectorExport<'a> {
    model: &'a Model,
    which: Vectors,
    vectors: Matrix<'a>,
    normalized: bool,
}

impl<'a> VectorExport<'a> {
    /// The vectors `which` of `model`; an error where its method does not learn them.
    pub fn new(model: &'a Model, which: Vectors) -> Result<VectorExport<'a>> {
        Ok(VectorExport { model, which, vectors: model.learnt_vectors(which)?, normalized: false })
    }

    /// Makes every vector one of length 1, so that an inner product is a cosine. A vector of zeros stays one.
    #[must_use]
    pub fn normalized(self, normalized: bool) -> VectorExport<'a> {
        VectorExport { normalized, ..self }
    }

    /// How many vectors.
    pub fn rows(&self) -> usize {
        self.vectors.rows()
    }

    /// The numbers of a row.
    pub fn row(&self, row: usize) -> Cow<'a, [f32]> {
        let numbers = self.vectors.row(row);
        let length = numbers.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
        match self.normalized && length > 0.0 {
            true => numbers.iter().map(|&x| (f64::from(x) / length) as f32).collect(),
            false => Cow::Borrowed(numbers),
        }
    }

    /// The name of a row: a word, or the id of a document.
    pub fn name(&self, row: usize) -> &'a str {
        if is_word(self.which) { self.model.vocabulary().get(row) } else { self.model.names().get(row) }
    }

    /// How many names have white space, which the word2vec formats cannot hold.
    pub fn names_with_space(&self) -> usize {
        (0..self.rows()).filter(|&row| self.name(row).contains(char::is_whitespace)).count()
    }

    /// Writes a file, and the names of its rows beside it where the format has none: both or neither.
    ///
    /// # Errors
    /// [`Error::Exists`] if something is there and it is not to be replaced, [`Error::Foreign`] if that is of another
    /// kind, as a model is.
    pub fn save(&self, path: &Path, format: VectorFormat, replace: bool) -> Result<()> {
        let metadata = format.metadata_path(path);
        let refuse = |path: &Path, wanted: &dyn Fn(&[u8]) -> bool, kind: &str| {
            refuse_existing(path, replace)?;
            let what = || format!("something else than {kind}, so it is never replaced by that; choose another name");
            let foreign = || Error::Foreign { path: path.to_owned(), what: what() };
            if begins(path, wanted)? { Ok(()) } else { Err(foreign()) }
        };
        refuse(path, &|head| format.fits(head), &format!("vectors in the format {format}"))?;
        let written = |path: &Path, result: io::Result<()>| result.map_err(Error::io("write", path));
        let Some(metadata) = metadata else {
            return write_atomically(path, |out| written(path, self.write(format, out)));
        };
        refuse(&metadata, &is_metadata, "the names of rows")?;
        write_pair_atomically([path, &metadata], |[out, names]| {
            written(path, self.write(format, out))?;
            written(&metadata, self.metadata(names))
        })
    }

    /// Writes the vectors in a format.
    pub fn write(&self, format: VectorFormat, out: &mut dyn Write) -> io::Result<()> {
        match format {
            VectorFormat::Npy => self.npy(out),
            VectorFormat::Tsv => self.tsv(out),
            VectorFormat::Word2vec => self.word2vec(out),
            VectorFormat::Word2vecBin => self.word2vec_binary(out),
        }
    }

    /// Writes the word2vec text format.
    pub fn word2vec(&self, out: &mut dyn Write) -> io::Result<()> {
        write_word2vec(self.vectors.cols(), (0..self.rows()).map(|row| (self.name(row), self.row(row))), out)
    }

    /// Writes the word2vec binary format.
    pub fn word2vec_binary(&self, out: &mut dyn Write) -> io::Result<()> {
        write_word2vec_binary(self.vectors.cols(), (0..self.rows()).map(|row| (self.name(row), self.row(row))), out)
    }

    /// Writes a matrix for numpy.
    pub fn npy(&self, out: &mut dyn Write) -> io::Result<()> {
        write_npy(self.vectors.cols(), (0..self.rows()).map(|row| self.row(row)), out)
    }

    /// Writes numbers between tabs.
    pub fn tsv(&self, out: &mut dyn Write) -> io::Result<()> {
        write_tsv((0..self.rows()).map(|row| self.row(row)), out)
    }

    /// Writes the names of the rows, a line each below a heading: `id`, `title`, `labels` of documents, `word`, `count`,
    /// `documents` of words. Tabs and line ends in them are written as spaces.
    pub fn metadata(&self, out: &mut dyn Write) -> io::Result<()> {
        let model = self.model;
        if is_word(self.which) {
            writeln!(out, "word\tcount\tdocuments")?;
            for (row, (count, documents)) in model.word_counts().iter().zip(model.word_documents()).enumerate() {
                writeln!(out, "{}\t{count}\t{documents}", field(self.name(row)))?;
            }
            return out.flush();
        }
        writeln!(out, "id\ttitle\tlabels")?;
        for row in 0..model.documents() {
            let (title, labels) = (model.titles().get(row), labels(model, row).join(", "));
            writeln!(out, "{}\t{}\t{}", field(self.name(row)), field(title), field(&labels))?;
        }
        out.flush()
    }
}

/// The names of the labels of a document.
pub fn labels(model: &Model, document: usize) -> Vec<&str> {
    model.label_ids(document).iter().map(|&label| model.labels().get(label as usize)).collect()
}

fn is_word(which: Vectors) -> bool {
    matches!(which, Vectors::WordIn | Vectors::WordOut)
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

/// A row with its name.
type NamedRow<'a> = (&'a str, Cow<'a, [f32]>);

fn write_word2vec<'a>(
    cols: usize,
    rows: impl ExactSizeIterator<Item = NamedRow<'a>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{} {cols}", rows.len())?;
    for (name, numbers) in rows {
        out.write_all(without_space(name).as_bytes())?;
        numbers.iter().try_for_each(|x| write!(out, " {x}"))?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

fn write_word2vec_binary<'a>(
    cols: usize,
    rows: impl ExactSizeIterator<Item = NamedRow<'a>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{} {cols}", rows.len())?;
    for (name, numbers) in rows {
        out.write_all(without_space(name).as_bytes())?;
        out.write_all(b" ")?;
        write_numbers(&numbers, out)?;
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

fn write_npy<'a>(
    cols: usize,
    mut rows: impl ExactSizeIterator<Item = Cow<'a, [f32]>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(&npy_head(rows.len(), cols, 0))?;
    rows.try_for_each(|row| write_numbers(&row, out))?;
    out.flush()
}

fn write_tsv<'a>(rows: impl Iterator<Item = Cow<'a, [f32]>>, out: &mut dyn Write) -> io::Result<()> {
    for row in rows {
        for (column, x) in row.iter().enumerate() {
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

    fn written(write: impl Fn(&mut dyn Write) -> io::Result<()>) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out).expect("written");
        out
    }

    fn rows() -> impl ExactSizeIterator<Item = Cow<'static, [f32]>> {
        NUMBERS.chunks(2).map(Cow::Borrowed)
    }

    fn named() -> impl ExactSizeIterator<Item = NamedRow<'static>> {
        NAMES.into_iter().zip(rows())
    }

    #[test]
    fn text_formats_hold_every_number_exactly() {
        let text = written(|out| write_word2vec(2, named(), out));
        assert_eq!(String::from_utf8_lossy(&text), "2 2\nfish 1 -0.5\nhot_soup_bowl 0.1 0.0000001\n");
        let text = written(|out| write_tsv(rows(), out));
        assert_eq!(String::from_utf8_lossy(&text), "1\t-0.5\n0.1\t0.0000001\n");
    }

    #[test]
    fn the_binary_format_has_names_and_little_endian_floats() {
        let bytes = written(|out| write_word2vec_binary(2, named(), out));
        let mut expected = b"2 2\nfish ".to_vec();
        expected.extend([0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf]);
        expected.extend(b"\nhot_soup_bowl ");
        expected.extend([0.1f32.to_le_bytes(), 1e-7f32.to_le_bytes()].concat());
        expected.push(b'\n');
        assert_eq!(bytes, expected);
    }

    #[test]
    fn npy_has_an_aligned_header_and_then_the_numbers() {
        let bytes = written(|out| write_npy(2, rows(), out));
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
    fn formats_are_told_by_the_first_bytes() {
        let heads: [(&[u8], &[VectorFormat]); 7] = [
            (b"\x93NUMPY\x01\x00", &[VectorFormat::Npy]),
            (b"0.5\t-1e-3\t2\n", &[VectorFormat::Tsv]),
            (b"20 3\nword \x00\xff", &[VectorFormat::Word2vec, VectorFormat::Word2vecBin]),
            (b"20 3 4\n", &[]),
            (b"20\n", &[VectorFormat::Tsv]),
            (b"Dear diary,\n", &[]),
            (b"id\ttitle\tlabels\n", &[]),
        ];
        for (head, expected) in heads {
            let found: Vec<_> = VectorFormat::VARIANTS.iter().copied().filter(|format| format.fits(head)).collect();
            assert_eq!(found, expected, "{}", String::from_utf8_lossy(head));
        }
        assert!(is_metadata(b"id\ttitle\tlabels\n") && is_metadata(b"word\tcount\tdocuments\n"));
        assert!(!is_metadata(b"id,title\n"));
    }

    #[test]
    fn names_of_rows_stand_beside_their_vectors() {
        let beside = |format: VectorFormat, path: &str| format.metadata_path(Path::new(path));
        assert_eq!(beside(VectorFormat::Npy, "a/b.npy"), Some(PathBuf::from("a/b.metadata.tsv")));
        assert_eq!(beside(VectorFormat::Tsv, "a/b.vectors"), Some(PathBuf::from("a/b.vectors.metadata.tsv")));
        assert_eq!(beside(VectorFormat::Word2vec, "b.txt"), None);
    }

    #[test]
    fn fields_stay_on_their_line() {
        assert_eq!(field("a\tb\r\nc"), "a b  c");
        assert_eq!(field("plain"), "plain");
    }
}
