//! `hd2v embed`: vectors for new texts.

use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use hyperdoc2vec::document::visible_json;
use hyperdoc2vec::import::{ImportOptions, TextFormat};
use hyperdoc2vec::storage::write_pair_atomically;
use hyperdoc2vec::{Document, Error, export};
use hyperdoc2vec::{Inferred, Inferrer};
use serde::Serialize;

use super::common::{default_max_record, most_threads, open_model, with_suffix};
use super::destination::{Destination, OutputKind, check};
use crate::output::{count, losses, status, thousands};
use crate::progress::{Reporter, stop_on_interrupt};

/// Infer vectors for new texts
#[derive(Args)]
#[command(after_help = "\
A text gets the IN vector that a document with these words would have. It depends only on the text and the model. Words \
that the model does not know are ignored; a text without any known word gets a vector of zeros.

Input:
  .jsonl, -    documents as for `hd2v import jsonl`, compressed or not; links are ignored
  other files  each file is one text, with its path as the id
  --lines      each line is one text, with the file name and line number as the id

Output, in the order of the input:
  .npy         a numpy matrix with one row per text, and the ids in OUT.ids, one per line
  .jsonl, -    {\"id\": …, \"vector\": […]}, one per line

Examples:
  hd2v embed papers.model new.jsonl.zst -o new.npy
  hd2v embed papers.model drafts/*.txt -o drafts.jsonl
  cut -f2 notes.tsv | hd2v embed papers.model --lines - -o -")]
pub struct EmbedArgs {
    /// The model file
    model: PathBuf,
    /// Input files; `-` for stdin
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The file to write, .npy or .jsonl; `-` for stdout
    #[arg(short, long)]
    output: PathBuf,
    /// Treat each line as a text
    #[arg(long)]
    lines: bool,
    /// Replace the output if it exists
    #[arg(long)]
    force: bool,
    /// Skip and count records that cannot be read, instead of stopping at the first
    #[arg(long)]
    skip_bad: bool,
    /// Longest line, or longest file that is one text, in MiB
    #[arg(long, default_value_t = default_max_record(), value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=4095))]
    max_record: u32,
    /// Threads [default: one per core]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = most_threads)]
    threads: usize,
}

/// Length of the header of an npy file: room for any number of rows.
const HEAD: usize = 128;

/// A line of jsonl.
#[derive(Serialize)]
struct JsonLine<'a> {
    id: &'a str,
    vector: &'a [f32],
}

/// The number of texts, and of those without a known word.
#[derive(Default)]
struct TextCounts {
    texts: u64,
    unknown: u64,
}

pub fn run(arguments: &EmbedArgs) -> Result<()> {
    let output = &arguments.output;
    let npy = output.extension().is_some_and(|extension| extension == "npy");
    let jsonl = output.as_os_str() == "-" || output.extension().is_some_and(|extension| extension == "jsonl");
    if !npy && !jsonl {
        let what = format!("{}: the output's name must end in .npy or .jsonl", output.display());
        return Err(Error::Usage(what).into());
    }
    let kind = kind(arguments)?;
    let force = arguments.force;
    let ids = with_suffix(output, "ids");
    let ids = Destination { path: &ids, kind: OutputKind::Ids, force };
    let texts = Destination { path: output, kind: if npy { OutputKind::Npy } else { OutputKind::TextVectors }, force };
    let inputs: Vec<&Path> = [&arguments.model].into_iter().chain(&arguments.paths).map(PathBuf::as_path).collect();
    check(&[texts, ids][..1 + usize::from(npy)], &inputs)?;
    let model = open_model(&arguments.model)?;
    let inferrer = Inferrer::new(&model)?;
    stop_on_interrupt();
    let mut reporter = Reporter::new();
    let mut tally = TextCounts::default();
    if npy {
        write_pair_atomically([output, ids.path], |[out, ids]| {
            let dim = model.params().dim;
            out.write_all(&export::npy_head(0, dim, HEAD))?;
            let write = |id: &str, vector: &[f32]| {
                writeln!(ids, "{}", id.replace(['\n', '\r'], " "))?;
                vector.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
            };
            tally = embed(arguments, kind, &inferrer, write, &mut reporter)?;
            out.seek(SeekFrom::Start(0))?;
            anyhow::Ok(out.write_all(&export::npy_head(tally.texts as usize, dim, HEAD))?)
        })?;
    } else {
        texts.write(&mut |out| {
            let write = |id: &str, vector: &[f32]| {
                let line = serde_json::to_string(&JsonLine { id, vector })?;
                writeln!(out, "{}", visible_json(&line))
            };
            tally = embed(arguments, kind, &inferrer, write, &mut reporter)?;
            Ok(())
        })?;
    }
    let seconds = reporter.finish();
    if tally.unknown > 0 {
        let which = if tally.unknown == 1 { "text has" } else { "texts have" };
        status(format_args!(
            "{} {which} no word that the model has a vector for; their vectors are zero",
            thousands(tally.unknown)
        ));
    }
    let rate = thousands((tally.texts as f64 / seconds.max(1e-3)) as u64);
    let texts = count(tally.texts, "text");
    status(format_args!(
        "{}: {texts}, {} numbers each; {seconds:.1} s, {rate} per second",
        output.display(),
        model.params().dim
    ));
    Ok(())
}

/// Reads all texts and gives their ids and vectors to `write`, in order.
fn embed(
    arguments: &EmbedArgs,
    kind: TextFormat,
    inferrer: &Inferrer<'_>,
    mut write: impl FnMut(&str, &[f32]) -> std::io::Result<()> + Send,
    reporter: &mut Reporter,
) -> Result<TextCounts> {
    let mut options = ImportOptions::default();
    options.threads = arguments.threads;
    options.skip_bad = arguments.skip_bad;
    options.longest_line = (arguments.max_record as usize) << 20;
    let mut tally = TextCounts::default();
    let work = |documents: Vec<Document>| {
        let vectors = inferrer.documents(&documents)?;
        let ids = documents.into_iter().map(|document| document.id);
        Ok(ids.zip(vectors).collect::<Vec<(String, Inferred)>>())
    };
    let sink = |texts: Vec<(String, Inferred)>| {
        for (id, inferred) in texts {
            write(&id, &inferred.vector).map_err(Error::io("write", &arguments.output))?;
            tally.texts += 1;
            tally.unknown += u64::from(inferred.known == 0);
        }
        Ok(tally.texts)
    };
    let lost = kind.read(&arguments.paths, &options, work, sink, &mut |progress| reporter.watch(progress))?;
    let lost = losses(&lost, 3);
    if !lost.is_empty() {
        status(lost.trim_end());
    }
    Ok(tally)
}

/// The format of the inputs: documents or plain text.
fn kind(arguments: &EmbedArgs) -> Result<TextFormat> {
    if arguments.lines {
        return Ok(TextFormat::Lines);
    }
    let documents = arguments.paths.iter().filter(|path| is_jsonl(path)).count();
    match documents {
        0 => Ok(TextFormat::Files),
        all if all == arguments.paths.len() => Ok(TextFormat::Jsonl),
        _ => {
            let what = "some inputs are jsonl and some are not; embed them separately".to_owned();
            Err(Error::Usage(what).into())
        }
    }
}

fn is_jsonl(path: &Path) -> bool {
    let packed = path.extension().is_some_and(|e| ["gz", "zst", "bz2", "xz"].iter().any(|known| e == *known));
    let inner = if packed { path.with_extension("") } else { path.to_owned() };
    path.as_os_str() == "-" || inner.extension().is_some_and(|e| e == "jsonl" || e == "ndjson")
}
