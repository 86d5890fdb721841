//! Destinations of outputs: no command writes over its own input, and a file is replaced only by one of its kind.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hyperdoc2vec::Error;
use hyperdoc2vec::export::{VectorFormat, is_metadata};
use hyperdoc2vec::storage::{HEAD, has_format, parent, write_atomically};
use strum::VariantArray;

/// The kind of an output, told by its first bytes. Where several fit, the first is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, VariantArray)]
pub enum OutputKind {
    #[strum(serialize = "a model")]
    Model,
    #[strum(serialize = "a checkpoint")]
    Checkpoint,
    #[strum(serialize = "a part")]
    Part,
    #[strum(serialize = "an npy matrix")]
    Npy,
    #[strum(serialize = "a parquet file")]
    Parquet,
    #[strum(serialize = "a training log")]
    TrainingLog,
    #[strum(serialize = "documents as jsonl")]
    Documents,
    #[strum(serialize = "vectors as jsonl")]
    TextVectors,
    #[strum(serialize = "points as jsonl")]
    Points,
    #[strum(serialize = "lines for _bulk")]
    Bulk,
    #[strum(serialize = "points for Qdrant")]
    QdrantPoints,
    #[strum(serialize = "SQL with points")]
    PgvectorSql,
    #[strum(serialize = "references as jsonl")]
    References,
    #[strum(serialize = "an import report")]
    ImportReport,
    #[strum(serialize = "the report of a reproduction")]
    Reproduction,
    /// JSON that is none of ours: no command writes it.
    #[strum(serialize = "other JSON")]
    OtherJson,
    #[strum(serialize = "an HTML page")]
    Html,
    #[strum(serialize = "a run file")]
    Run,
    #[strum(serialize = "a qrels file")]
    Qrels,
    #[strum(serialize = "a word2vec file")]
    Word2vec,
    #[strum(serialize = "a table of vectors")]
    Tsv,
    #[strum(serialize = "a table of metadata")]
    Metadata,
    #[strum(serialize = "a manual page")]
    ManualPage,
    #[strum(serialize = "a list of ids")]
    Ids,
    /// The library replaces a directory only if it holds nothing but a corpus.
    #[strum(serialize = "a corpus")]
    Corpus,
}

impl OutputKind {
    /// Whether a file with these first bytes is of this kind.
    fn fits(self, head: &[u8]) -> bool {
        let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let line = str::from_utf8(line).unwrap_or_default();
        let fields: Vec<&str> = line.split_whitespace().collect();
        match self {
            OutputKind::Model => has_format(head, "hyperdoc2vec model"),
            OutputKind::Checkpoint => has_format(head, "hyperdoc2vec checkpoint"),
            OutputKind::Part => head.starts_with(b"{\"format\":\"hyperdoc2vec part\""),
            OutputKind::Npy => VectorFormat::Npy.fits(head),
            OutputKind::Parquet => head.starts_with(b"PAR1"),
            OutputKind::TrainingLog => line.starts_with('{') && line.contains("\"phase\":"),
            OutputKind::Documents => {
                line.starts_with("{\"id\":\"")
                    && ["\"text\":\"", "\"redirect\":\""].iter().any(|key| line.contains(key))
            }
            OutputKind::TextVectors => line.starts_with("{\"id\":\"") && line.contains(",\"vector\":["),
            OutputKind::Points => line.starts_with("{\"id\":\"") && line.contains(",\"popularity\":"),
            OutputKind::Bulk => line.starts_with("{\"index\":{\"_id\":\""),
            OutputKind::QdrantPoints => line.starts_with("{\"points\":[{\"id\":"),
            OutputKind::PgvectorSql => line == "CREATE EXTENSION IF NOT EXISTS vector;",
            OutputKind::References => line.starts_with("{\"outcome\":\""),
            OutputKind::ImportReport => holds(head, "{\n  \"format\": \"", &["\"documents\": ", "\"losses\": "]),
            OutputKind::Reproduction => {
                let settings = holds(head, "{\n", &["\"fingerprint\": ", "\"reference_epochs\": "]);
                settings || holds(head, "{\n  \"beside\": ", &["\"classes\": "])
            }
            OutputKind::OtherJson => head.trim_ascii_start().starts_with(b"{"),
            OutputKind::Html => head.len() > 14 && head[..14].eq_ignore_ascii_case(b"<!doctype html"),
            OutputKind::Run => fields.len() == 6 && fields[1] == "Q0",
            OutputKind::Qrels => fields.len() == 4 && fields[1] == "0",
            OutputKind::Word2vec => VectorFormat::Word2vec.fits(head),
            OutputKind::Tsv => VectorFormat::Tsv.fits(head),
            OutputKind::Metadata => is_metadata(head),
            OutputKind::ManualPage => [".ie ", ".TH hd2v"].iter().any(|start| line.starts_with(start)),
            OutputKind::Ids => is_text(head) && OutputKind::of(head).is_none(),
            OutputKind::Corpus => false,
        }
    }

    /// The kind of a file with these first bytes; any text could be a list of ids, so that is none.
    fn of(head: &[u8]) -> Option<OutputKind> {
        OutputKind::VARIANTS.iter().copied().filter(|&kind| kind != OutputKind::Ids).find(|kind| kind.fits(head))
    }

    /// Whether it can be written to a device or a pipe, from its beginning to its end.
    fn streams(self) -> bool {
        use OutputKind::{Bulk, Documents, ImportReport, Parquet, PgvectorSql, Points, QdrantPoints, References};
        use OutputKind::{TextVectors, TrainingLog, Word2vec};
        let points = matches!(self, Points | Bulk | QdrantPoints | PgvectorSql);
        points || matches!(self, Documents | TextVectors | References | ImportReport | Word2vec | Parquet | TrainingLog)
    }
}

/// Whether the text begins so and has all these parts.
fn holds(head: &[u8], start: &str, parts: &[&str]) -> bool {
    let text = String::from_utf8_lossy(head);
    text.starts_with(start) && parts.iter().all(|part| text.contains(part))
}

fn is_text(head: &[u8]) -> bool {
    // The last character may be cut.
    let whole = str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true);
    whole && !head.contains(&0)
}

/// Where a command writes an output.
#[derive(Clone, Copy)]
pub struct Destination<'a> {
    /// `-` is standard output.
    pub path: &'a Path,
    pub kind: OutputKind,
    /// Whether a file of this kind is replaced.
    pub force: bool,
}

/// Checks all outputs of a command before anything is written. Each must differ from the inputs, whatever their names,
/// must not stand in a directory among them, and must not be something else that would be lost.
pub fn check(outputs: &[Destination<'_>], inputs: &[&Path]) -> Result<()> {
    for (number, output) in outputs.iter().enumerate() {
        inputs.iter().try_for_each(|input| output.differs_from(input))?;
        let twice =
            |other: &Destination<'_>| !output.is_stdout() && !output.is_special() && other.place() == output.place();
        let shown = output.path.display();
        ensure!(!outputs[..number].iter().any(twice), "{shown}: two outputs would be written here; rename one of them");
        output.refuse_existing()?;
    }
    Ok(())
}

impl Destination<'_> {
    /// The directory, links resolved, and the name in it: the same for all spellings of a path.
    fn place(&self) -> (PathBuf, Option<&OsStr>) {
        let folder = parent(self.path);
        (folder.canonicalize().unwrap_or_else(|_| folder.to_owned()), self.path.file_name())
    }

    /// Fails if the destination is an input, is part of a directory that is one, or stands in such a directory.
    fn differs_from(&self, input: &Path) -> Result<()> {
        let there = if self.is_stdout() { stdout() } else { self.path.metadata().ok() };
        let read = if input.as_os_str() == "-" { stdin() } else { input.metadata().ok() };
        let Some(read) = read.filter(|read| read.is_file() || read.is_dir()) else { return Ok(()) };
        let output = if self.is_stdout() { "standard output".into() } else { self.path.display().to_string() };
        let is_there = |read: &Metadata| there.as_ref().is_some_and(|there| same(there, read));
        ensure!(!is_there(&read), "{output}: this is the input {}; choose another name", input.display());
        if read.is_dir() {
            let files = input.read_dir().into_iter().flatten().flatten().filter_map(|file| file.path().metadata().ok());
            let above = self.path.ancestors().skip(1).chain([Path::new(".")]);
            let above = above.filter(|_| !self.is_stdout()).find_map(|path| path.canonicalize().ok());
            let mut above = above.iter().flat_map(|path| path.ancestors()).filter_map(|path| path.metadata().ok());
            let inside = files.into_iter().any(|file| is_there(&file)) || above.any(|folder| same(&folder, &read));
            ensure!(!inside, "{output}: this is part of the input {}; choose another place", input.display());
        }
        Ok(())
    }

    /// Fails if something is there, unless it is to be replaced and of the same kind, or empty.
    fn refuse_existing(&self) -> Result<()> {
        let (path, kind, shown) = (self.path, self.kind, self.path.display());
        if self.is_stdout() || kind == OutputKind::Corpus || !path.exists() {
            return Ok(());
        }
        if self.is_special() {
            ensure!(kind.streams(), "{shown}: not a regular file; choose another name");
            return Ok(());
        }
        ensure!(self.force, "{shown}: already exists; choose another name, or replace it with --force");
        ensure!(!path.is_dir(), "{shown}: a directory; choose another name");
        let mut head = Vec::new();
        let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
        read.with_context(|| format!("cannot read {shown}, which would be replaced"))?;
        if head.is_empty() || kind.fits(&head) {
            return Ok(());
        }
        let found = OutputKind::of(&head).map(|found| found.to_string());
        let found = found.unwrap_or_else(|| if is_text(&head) { "text" } else { "binary data" }.to_owned());
        bail!("{shown}: already exists and is not {kind} but {found}; remove it yourself, or choose another name")
    }

    /// Whether this is standard output, to which no model is written. By its other name it would be opened anew, and a
    /// file to which the shell appends would be overwritten.
    pub fn is_stdout(&self) -> bool {
        let named = self.path.as_os_str() == "-" || self.path == Path::new("/dev/stdout");
        named && !matches!(self.kind, OutputKind::Model | OutputKind::Checkpoint | OutputKind::Part)
    }

    /// Whether this is a device or a pipe.
    fn is_special(&self) -> bool {
        self.path.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir())
    }

    /// Writes a file atomically: under another name, renamed when it is complete. A device or a pipe (`/dev/null`) is
    /// written directly.
    pub fn write<T>(&self, write: &mut dyn FnMut(&mut (dyn Write + Send)) -> Result<T>) -> Result<T> {
        if self.is_stdout() {
            return straight(std::io::stdout(), Path::new("standard output"), write);
        }
        if self.is_special() {
            let out = File::options().write(true).open(self.path);
            let out = out.with_context(|| format!("cannot open {}", self.path.display()))?;
            return straight(out, self.path, write);
        }
        self.write_file(&mut |out| write(out))
    }

    /// Like [`Self::write`], for an output that must be a regular file.
    pub fn write_file<T>(&self, write: &mut dyn FnMut(&mut BufWriter<File>) -> Result<T>) -> Result<T> {
        self.refuse_existing()?;
        write_atomically(self.path, |out| write(out).map_err(|error| naming(error, self.path)))
    }
}

/// Writes directly to something that cannot be renamed.
fn straight<T>(
    out: impl Write + Send,
    path: &Path,
    write: &mut dyn FnMut(&mut (dyn Write + Send)) -> Result<T>,
) -> Result<T> {
    let mut out = BufWriter::new(out);
    let result = write(&mut out).map_err(|error| naming(error, path))?;
    out.flush().with_context(|| format!("cannot write {}", path.display()))?;
    Ok(result)
}

/// Names the output in an error of the library, which does not know its path.
fn naming(error: anyhow::Error, output: &Path) -> anyhow::Error {
    match error.downcast() {
        Ok(Error::Io { doing: doing @ "write", source, .. }) => Error::io(doing, output)(source).into(),
        Ok(error) => error.into(),
        Err(error) => error,
    }
}

/// Whether both are one file or directory, by whatever names.
#[cfg(unix)]
fn same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(unix)]
fn stdin() -> Option<Metadata> {
    use std::os::fd::AsFd;
    File::from(std::io::stdin().as_fd().try_clone_to_owned().ok()?).metadata().ok()
}

#[cfg(unix)]
fn stdout() -> Option<Metadata> {
    use std::os::fd::AsFd;
    File::from(std::io::stdout().as_fd().try_clone_to_owned().ok()?).metadata().ok()
}

/// Elsewhere nothing but its times and size tells a file from others.
#[cfg(not(unix))]
fn same(one: &Metadata, other: &Metadata) -> bool {
    let told = |file: &Metadata| (file.created().ok(), file.modified().ok(), file.len(), file.is_dir());
    told(one) == told(other)
}

#[cfg(not(unix))]
fn stdin() -> Option<Metadata> {
    None
}

#[cfg(not(unix))]
fn stdout() -> Option<Metadata> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_told_by_the_first_bytes() {
        let model =
            br#"........{"__metadata__":{"hyperdoc2vec":"{\"checksums\":{},\"format\":\"hyperdoc2vec model\",""#;
        for (head, kind) in [
            (&model[..], Some(OutputKind::Model)),
            (b"{\"format\":\"hyperdoc2vec part\",\"version\":1", Some(OutputKind::Part)),
            (b"\x93NUMPY\x01\x00", Some(OutputKind::Npy)),
            (b"PAR1\x15", Some(OutputKind::Parquet)),
            (b"{\"phase\":\"content\"}\n", Some(OutputKind::TrainingLog)),
            (b"{\"id\":\"a\",\"title\":\"t\",\"text\":\"\"}\n", Some(OutputKind::Documents)),
            (b"{\"id\":\"a\",\"redirect\":\"b\"}\n", Some(OutputKind::Documents)),
            (b"{\"id\":\"a\",\"vector\":[0.5]}\n", Some(OutputKind::TextVectors)),
            (b"{\"id\":\"a\",\"title\":null,\"popularity\":3}\n", Some(OutputKind::Points)),
            (b"{\"index\":{\"_id\":\"a\"}}\n", Some(OutputKind::Bulk)),
            (b"{\"points\":[{\"id\":0,\"vector\"", Some(OutputKind::QdrantPoints)),
            (b"CREATE EXTENSION IF NOT EXISTS vector;\n", Some(OutputKind::PgvectorSql)),
            (b"{\"outcome\":\"title\",\"entry\":\"\"}\n", Some(OutputKind::References)),
            (b"{\n  \"format\": \"tei\",\n  \"documents\": 1,\n  \"losses\": {}", Some(OutputKind::ImportReport)),
            (b"{\n  \"format\": \"of my own\"\n}", Some(OutputKind::OtherJson)),
            (b"{\"id\":\"a\",\"secret\":\"b\"}\n", Some(OutputKind::OtherJson)),
            (b"\n {\"id\": 1}", Some(OutputKind::OtherJson)),
            (b"<!DOCTYPE html><html>", Some(OutputKind::Html)),
            (b"q1 Q0 d1 1 0.5 bm25\n", Some(OutputKind::Run)),
            (b"q1 0 d1 1\n", Some(OutputKind::Qrels)),
            (b"20 3\nword \x00\xff", Some(OutputKind::Word2vec)),
            (b"0.5\t-1e-3\t2\n", Some(OutputKind::Tsv)),
            (b"id\ttitle\tlabels\n", Some(OutputKind::Metadata)),
            (b".ie \\n(.g .ds Aq \\(aq\n", Some(OutputKind::ManualPage)),
            (b"Dear diary,\n", None),
            (b"\x00\x01\x02", None),
        ] {
            assert_eq!(OutputKind::of(head), kind, "{}", String::from_utf8_lossy(head));
        }
        assert!(OutputKind::Ids.fits("d1\nd2\né".as_bytes()) && !OutputKind::Ids.fits(&model[..]));
        assert!(OutputKind::Ids.fits(&"é".as_bytes()[..1]) && !OutputKind::Ids.fits(b"\xff\xff"));
    }
}
