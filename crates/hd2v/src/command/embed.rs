//! `hd2v embed`: vectors for new texts.

use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use hyperdoc2vec::document::visible_json;
use hyperdoc2vec::import::{ImportOptions, TextFormat};
use hyperdoc2vec::storage::write_pair_atomically;
use hyperdoc2vec::{EmbeddedCounts, Embedding, Error, Inferred, Inferrer, Shard, export};
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
    /// The file to write, .npy or .jsonl; `-` for stdout; with --shard, the part
    #[arg(short, long)]
    output: PathBuf,
    /// Embed only shard I of N (1/N to N/N) and write a part; `hd2v merge` makes the .npy or .jsonl of all N parts
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
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

pub fn run(arguments: &EmbedArgs) -> Result<()> {
    let output = &arguments.output;
    let kind = kind(arguments)?;
    let force = arguments.force;
    let inputs: Vec<&Path> = [&arguments.model].into_iter().chain(&arguments.paths).map(PathBuf::as_path).collect();
    match arguments.shard {
        Some(_) => check(&[Destination { path: output, kind: OutputKind::Part, force }], &inputs)?,
        None => VectorOutput { path: output, dim: 0, force }.check(&inputs)?,
    }
    let model = open_model(&arguments.model)?;
    let inferrer = Inferrer::new(&model)?;
    stop_on_interrupt();
    let mut reporter = Reporter::new();
    let mut options = ImportOptions::default();
    options.threads = arguments.threads;
    options.skip_bad = arguments.skip_bad;
    options.force = arguments.force;
    options.longest_line = (arguments.max_record as usize) << 20;
    options.shard = arguments.shard;
    let watch = |progress: &_| reporter.watch(progress);
    let embedding = Embedding::new(&inferrer, kind, &arguments.paths).options(options).watch(watch);
    let counts = match arguments.shard {
        Some(_) => embedding.write_part(output)?,
        None => {
            let write = VectorOutput { path: output, dim: model.params().dim, force };
            let mut embedding = Some(embedding);
            write.write(&mut |each| match embedding.take() {
                Some(embedding) => Ok(embedding.each(each)?),
                None => Ok(EmbeddedCounts::default()),
            })?
        }
    };
    report(output, model.params().dim, &counts, reporter.finish());
    Ok(())
}

/// A file of vectors: npy with a list of ids, or jsonl.
pub struct VectorOutput<'a> {
    pub path: &'a Path,
    pub dim: usize,
    pub force: bool,
}

/// Takes an id and what was inferred from its text.
type EachVector<'a> = &'a mut (dyn FnMut(&str, &Inferred) -> hyperdoc2vec::Result<()> + Send);

impl VectorOutput<'_> {
    /// Refuses a name that is neither, and outputs that exist or are inputs.
    pub fn check(&self, inputs: &[&Path]) -> Result<()> {
        let jsonl = self.path.as_os_str() == "-" || self.path.extension().is_some_and(|ending| ending == "jsonl");
        if !self.is_npy() && !jsonl {
            let what = format!("{}: the output's name must end in .npy or .jsonl", self.path.display());
            return Err(Error::Usage(what).into());
        }
        let ids = self.ids();
        let ids = Destination { path: &ids, kind: OutputKind::Ids, force: self.force };
        check(&[self.destination(), ids][..1 + usize::from(self.is_npy())], inputs)
    }

    fn is_npy(&self) -> bool {
        self.path.extension().is_some_and(|ending| ending == "npy")
    }

    fn ids(&self) -> PathBuf {
        with_suffix(self.path, "ids")
    }

    fn destination(&self) -> Destination<'_> {
        let kind = if self.is_npy() { OutputKind::Npy } else { OutputKind::TextVectors };
        Destination { path: self.path, kind, force: self.force }
    }

    /// Writes all vectors that `give` gives, in order.
    pub fn write(&self, give: &mut dyn FnMut(EachVector<'_>) -> Result<EmbeddedCounts>) -> Result<EmbeddedCounts> {
        let mut counts = EmbeddedCounts::default();
        if self.is_npy() {
            write_pair_atomically([self.path, &self.ids()], |[out, ids]| {
                out.write_all(&export::npy_head(0, self.dim, HEAD))?;
                counts = give(&mut |id, inferred| {
                    writeln!(ids, "{}", id.replace(['\n', '\r'], " "))
                        .and_then(|()| inferred.vector.iter().try_for_each(|x| out.write_all(&x.to_le_bytes())))
                        .map_err(Error::io("write", self.path))
                })?;
                out.seek(SeekFrom::Start(0))?;
                anyhow::Ok(out.write_all(&export::npy_head(counts.texts as usize, self.dim, HEAD))?)
            })?;
        } else {
            self.destination().write(&mut |out| {
                counts = give(&mut |id, inferred| {
                    let line = serde_json::to_string(&JsonLine { id, vector: &inferred.vector });
                    line.map_err(std::io::Error::from)
                        .and_then(|line| writeln!(out, "{}", visible_json(&line)))
                        .map_err(Error::io("write", self.path))
                })?;
                Ok(())
            })?;
        }
        Ok(counts)
    }
}

/// Prints what was embedded on stderr.
pub fn report(output: &Path, dim: usize, counts: &EmbeddedCounts, seconds: f64) {
    let lost = losses(&counts.losses, 3);
    if !lost.is_empty() {
        status(lost.trim_end());
    }
    if counts.unknown > 0 {
        let which = if counts.unknown == 1 { "text has" } else { "texts have" };
        status(format_args!(
            "{} {which} no word that the model has a vector for; their vectors are zero",
            thousands(counts.unknown)
        ));
    }
    let rate = thousands((counts.texts as f64 / seconds.max(1e-3)) as u64);
    let texts = count(counts.texts, "text");
    status(format_args!("{}: {texts}, {dim} numbers each; {seconds:.1} s, {rate} per second", output.display()));
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
