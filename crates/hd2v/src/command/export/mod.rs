//! `hd2v export`: vectors in the formats of other programs.

#[cfg(feature = "parquet")]
mod parquet;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use hyperdoc2vec::export::{PointExport, PointFormat, VectorExport, VectorFormat};
use hyperdoc2vec::model::Vectors;
use hyperdoc2vec::{Error, Model};

use super::common::{named, open_model};
use super::destination::{Destination, OutputKind, check};
use crate::output::{TerminalText, status, thousands};

/// Write vectors for other programs: gensim, numpy, pandas, the embedding projector
#[derive(Args)]
#[command(after_help = "\
Formats:
  word2vec      text, for gensim and most other programs; white space in names is written as _;
                on a terminal, and only there, hidden characters in names are written as \\u{…}
  word2vec-bin  word2vec in binary
  npy           for numpy.load; the rows are described in …metadata.tsv beside it
  tsv           for the embedding projector, with …metadata.tsv beside it
  parquet       columns id, title, labels, vector (for words: word, count, documents, vector);
                only if hd2v was built with --features parquet

Without --format, the ending of the output tells: .npy, .tsv, .parquet, .bin for word2vec-bin, \
.txt or .vec for word2vec.

Engines (--for), all documents with id, title, date, labels, url, popularity and both vectors:
  elasticsearch, opensearch  lines for POST /INDEX/_bulk
  qdrant                     bodies of PUT /collections/NAME/points, one per line, 500 points each
  pgvector                   SQL for psql: a table `points` and its rows
  jsonl                      one JSON object per line
  parquet                    columns id, title, date, labels, url, popularity, in, out

Scores of this program are inner products of the vectors as they are. With --normalize an inner \
product of two vectors is their cosine.

Examples:
  hd2v export papers.model --what doc-out -o papers.npy
  hd2v export papers.model --what doc-in --normalize -o unit.npy
  hd2v export papers.model --what word-in --format word2vec -o words.txt
  hd2v export papers.model --for pgvector -o - | psql papers")]
pub struct ExportArgs {
    /// The model file
    model: PathBuf,
    /// Which vectors: of words or documents, IN (a document's own text) or OUT (what others say about it)
    #[arg(long, value_parser = named::<Vectors>(), required_unless_present = "engine")]
    what: Option<Vectors>,
    /// Write documents with their vectors for a search engine or database (see below)
    #[arg(long = "for", value_name = "ENGINE", value_enum, conflicts_with_all = ["what", "format", "normalize"])]
    engine: Option<PointEngine>,
    /// The format [default: by the ending of the output]
    #[arg(long, value_enum)]
    format: Option<ExportFormat>,
    /// Write vectors of length 1
    #[arg(long)]
    normalize: bool,
    /// The file to write; `-` for stdout
    #[arg(short, long)]
    output: PathBuf,
    /// Replace the output if it exists
    #[arg(long)]
    force: bool,
}

/// An engine that takes points.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum PointEngine {
    Elasticsearch,
    Opensearch,
    Qdrant,
    Pgvector,
    Parquet,
    Jsonl,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum ExportFormat {
    #[value(name = "word2vec")]
    Word2vec,
    #[value(name = "word2vec-bin")]
    Word2vecBin,
    Npy,
    Tsv,
    Parquet,
}

impl ExportFormat {
    /// The format that the ending of a file name tells.
    fn of(output: &Path) -> Option<ExportFormat> {
        Some(match output.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "npy" => ExportFormat::Npy,
            "tsv" => ExportFormat::Tsv,
            "parquet" => ExportFormat::Parquet,
            "bin" => ExportFormat::Word2vecBin,
            "txt" | "vec" => ExportFormat::Word2vec,
            _ => return None,
        })
    }

    /// The format of the library; none for parquet, which is the program's.
    fn vectors(self) -> Option<VectorFormat> {
        match self {
            ExportFormat::Word2vec => Some(VectorFormat::Word2vec),
            ExportFormat::Word2vecBin => Some(VectorFormat::Word2vecBin),
            ExportFormat::Npy => Some(VectorFormat::Npy),
            ExportFormat::Tsv => Some(VectorFormat::Tsv),
            ExportFormat::Parquet => None,
        }
    }
}

pub fn run(arguments: &ExportArgs) -> Result<()> {
    if let Some(engine) = arguments.engine {
        return points(arguments, engine);
    }
    let (output, force) = (&arguments.output, arguments.force);
    let which = arguments.what.context("--what is missing")?;
    let Some(format) = arguments.format.or_else(|| ExportFormat::of(output)) else {
        let what = format!("{}: the ending does not tell the format; name it with --format", output.display());
        return Err(Error::Usage(what).into());
    };
    let kind = match format {
        ExportFormat::Word2vec | ExportFormat::Word2vecBin => OutputKind::Word2vec,
        ExportFormat::Npy => OutputKind::Npy,
        ExportFormat::Tsv => OutputKind::Tsv,
        ExportFormat::Parquet => OutputKind::Parquet,
    };
    let metadata = format.vectors().and_then(|format| format.metadata_path(output));
    let vectors = Destination { path: output, kind, force };
    let metadata = metadata.as_deref().filter(|_| !vectors.is_stdout());
    let rows = metadata.map(|path| Destination { path, kind: OutputKind::Metadata, force });
    check(&[vectors].into_iter().chain(rows).collect::<Vec<_>>(), &[&arguments.model])?;
    let to_terminal = vectors.is_stdout() && std::io::stdout().is_terminal();
    let text = matches!(format, ExportFormat::Word2vec | ExportFormat::Tsv);
    ensure!(text || !to_terminal, "binary data cannot go to a terminal; name a file with -o, or redirect stdout");
    let model = open_model(&arguments.model)?;
    let export = VectorExport::new(&model, which)?.normalized(arguments.normalize);
    let Some(form) = format.vectors() else {
        write_parquet(&vectors, &model, which, &export)?;
        return report(&model, which, output);
    };
    if let Some(metadata) = metadata {
        export.save(output, form, force)?;
        status(format_args!("{}: description of the rows", metadata.display()));
        return report(&model, which, output);
    }
    vectors.write(&mut |out: &mut (dyn Write + Send)| {
        let written = match form {
            VectorFormat::Word2vec if to_terminal => export.word2vec(&mut TerminalText(out)),
            form => export.write(form, out),
        };
        write(output, written)
    })?;
    if matches!(format, ExportFormat::Word2vec | ExportFormat::Word2vecBin) {
        let changed = export.names_with_space();
        if changed > 0 {
            status(format_args!("{} names contain white space, which is written as _", thousands(changed as u64)));
        }
    }
    report(&model, which, output)
}

/// Writes documents for an engine.
fn points(arguments: &ExportArgs, engine: PointEngine) -> Result<()> {
    let (kind, format) = match engine {
        PointEngine::Elasticsearch => (OutputKind::Bulk, Some(PointFormat::Elasticsearch)),
        PointEngine::Opensearch => (OutputKind::Bulk, Some(PointFormat::Opensearch)),
        PointEngine::Qdrant => (OutputKind::QdrantPoints, Some(PointFormat::Qdrant)),
        PointEngine::Pgvector => (OutputKind::PgvectorSql, Some(PointFormat::Pgvector)),
        PointEngine::Jsonl => (OutputKind::Points, Some(PointFormat::Jsonl)),
        PointEngine::Parquet => (OutputKind::Parquet, None),
    };
    let output = Destination { path: &arguments.output, kind, force: arguments.force };
    check(&[output], &[&arguments.model])?;
    let to_terminal = output.is_stdout() && std::io::stdout().is_terminal();
    ensure!(
        format.is_some() || !to_terminal,
        "binary data cannot go to a terminal; name a file with -o, or redirect stdout"
    );
    let model = open_model(&arguments.model)?;
    let points = PointExport::new(&model)?;
    match format {
        Some(format) => {
            output.write(&mut |out: &mut (dyn Write + Send)| write(&arguments.output, points.write(format, out)))?
        }
        None => write_point_parquet(&output, &points)?,
    }
    status(format_args!("{}: {} points", arguments.output.display(), thousands(points.len() as u64)));
    Ok(())
}

fn report(model: &Model, which: Vectors, output: &Path) -> Result<()> {
    let vectors = model.vectors(which);
    let (rows, columns) = (thousands(vectors.rows() as u64), vectors.cols());
    status(format_args!("{}: {rows} vectors of {columns} numbers", output.display()));
    Ok(())
}

fn write(path: &Path, result: std::io::Result<()>) -> Result<()> {
    match result {
        // Whoever reads our stdout has closed it: `main` recognises the bare error.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(error.into()),
        result => result.with_context(|| format!("cannot write {}", path.display())),
    }
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(_: &Destination<'_>, _: &Model, _: Vectors, _: &VectorExport<'_>) -> Result<()> {
    without_parquet("npy")
}

#[cfg(not(feature = "parquet"))]
fn write_point_parquet(_: &Destination<'_>, _: &PointExport<'_>) -> Result<()> {
    without_parquet("jsonl")
}

#[cfg(not(feature = "parquet"))]
fn without_parquet(instead: &str) -> Result<()> {
    anyhow::bail!(
        "this program was built without parquet; build it with `cargo install --path crates/hd2v --features parquet`, \
         or export {instead}"
    )
}

#[cfg(feature = "parquet")]
fn write_parquet(output: &Destination<'_>, model: &Model, which: Vectors, export: &VectorExport<'_>) -> Result<()> {
    output.write(&mut |out| parquet::write(model, which, export, out))
}

#[cfg(feature = "parquet")]
fn write_point_parquet(output: &Destination<'_>, points: &PointExport<'_>) -> Result<()> {
    output.write(&mut |out| parquet::write_points(points, out))
}
