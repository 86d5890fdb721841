//! Arguments and tables of hits that several commands share.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hyperdoc2vec::corpus::CorpusOptions;
use hyperdoc2vec::import::ImportOptions;
use hyperdoc2vec::{Corpus, Error, Model};
use strum::VariantArray;

use crate::advice::on_losses;
use crate::output::{cell, count, losses, note_unsealed, status, thousands};

/// Reads a number of threads; 0 is one per core.
pub fn most_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads) if threads <= 1024 => Ok(threads),
        _ => Err("expected a number from 0 (one per core) to 1024".to_owned()),
    }
}

/// Reads a probability.
pub fn probability(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(p) if (0.0..=1.0).contains(&p) => Ok(p),
        _ => Err("expected a probability from 0 to 1".to_owned()),
    }
}

/// The longest record that an import reads, in MiB.
pub fn default_max_record() -> u32 {
    (ImportOptions::default().longest_line >> 20) as u32
}

/// Reads a value of an enum of the library by its name.
pub fn named<E>() -> impl TypedValueParser<Value = E>
where
    E: VariantArray + Copy + Into<&'static str> + FromStr<Err: ToString> + Send + Sync,
{
    let names = E::VARIANTS.iter().map(|&variant| -> &str { variant.into() });
    PossibleValuesParser::new(names).try_map(|name| name.parse().map_err(|what: E::Err| what.to_string()))
}

/// The word options and `--force` of every command that makes a corpus.
#[derive(Args)]
pub struct WordArgs {
    /// Words that occur less often get no vectors (they are still displayed and searched)
    #[arg(long, default_value_t = CorpusOptions::default().min_count)]
    min_count: u64,
    /// Do not convert words to lower case
    #[arg(long)]
    keep_case: bool,
    /// Replace the output if it exists
    #[arg(long)]
    pub force: bool,
}

impl WordArgs {
    /// The library's options.
    pub fn options(&self) -> CorpusOptions {
        let mut options = CorpusOptions::default();
        (options.lowercase, options.min_count) = (!self.keep_case, self.min_count);
        options
    }
}

/// Prints the counts and losses of a new corpus on stderr.
pub fn report_result(corpus: &Corpus, seconds: f64) {
    let counts = &corpus.manifest().counts;
    if counts.vocabulary * 20 < counts.distinct_words {
        let (few, all) = (thousands(counts.vocabulary), thousands(counts.distinct_words));
        let least = corpus.manifest().options.min_count;
        status(format_args!(
            "only {few} of {all} distinct words occur at least {least} times; for a small corpus, lower --min-count"
        ));
    }
    status(format_args!(
        "{}{}{}: {}, {}, {} at {}; {seconds:.1} s, {:.1} MB of text per second",
        losses(&corpus.manifest().losses, 3),
        on_losses(&corpus.manifest().losses, &corpus.manifest().source.format),
        corpus.path().display(),
        count(counts.documents, "document"),
        count(counts.words, "word"),
        count(counts.links, "link"),
        count(counts.positions, "position"),
        counts.text_bytes as f64 / 1e6 / seconds.max(1e-3),
    ));
}

/// The methods that `option` names, each once; the defaults if it is not given.
pub fn listed<M: FromStr<Err = String> + PartialEq + Clone>(
    option: &str,
    names: Option<&str>,
    defaults: &[M],
) -> Result<Vec<M>> {
    let Some(names) = names else { return Ok(defaults.to_vec()) };
    let mut methods = Vec::new();
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let method = name.parse().map_err(|what| Error::Usage(format!("{option}: {what}")))?;
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    if methods.is_empty() {
        bail!(Error::Usage(format!("{option} names no method; try {option} d2v-nc,h-d2v")));
    }
    Ok(methods)
}

/// The path with a dot and a suffix appended: `papers.model.index`.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

/// Opens and checks a model.
pub fn open_model(path: &Path) -> Result<Model> {
    let model = Model::open(path)?;
    note_unsealed(&model);
    Ok(model)
}

/// An aligned table of hits: rank, score, name, and perhaps a title, below the names of these columns. Titles are cut
/// unless they are to be `whole`.
pub fn hits_table(score: &str, name: &str, rows: &[(f32, String, String)], whole: bool) -> String {
    let cell = |text: &str| if whole { text.split_whitespace().collect::<Vec<_>>().join(" ") } else { cell(text) };
    let names: Vec<String> = rows.iter().map(|(_, name, _)| cell(name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(name.len());
    let digits = rows.len().to_string().len();
    let column = score.len().max(8);
    let title = if rows.iter().any(|(_, _, title)| !title.is_empty()) { "title" } else { "" };
    let head = format!("{:digits$}  {score:>column$}  {name:width$}  {title}", "#");
    let row = |(place, ((score, _, more), name)): (usize, (&(f32, String, String), String))| {
        let line = format!("{:digits$}  {score:column$.4}  {name:width$}  {}", place + 1, cell(more));
        line.trim_end().to_owned() + "\n"
    };
    let lines = rows.iter().zip(names).enumerate().map(row);
    if rows.is_empty() {
        String::new()
    } else {
        std::iter::once(head.trim_end().to_owned() + "\n").chain(lines).collect()
    }
}

/// Bytes of a text or a list of words that is read at once.
pub const LONGEST_TEXT: u64 = 64 << 20;

/// Reads a file of at most so many bytes: a device has no end.
pub fn read_bounded(path: &Path, most: u64) -> Result<Vec<u8>> {
    let shown = path.display().to_string();
    let file = std::fs::File::open(path).with_context(|| format!("cannot read {shown}"))?;
    read_all(file, &shown, most)
}

/// Reads to the end of the input, at most so many bytes.
pub fn read_all(input: impl Read, shown: &str, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(most + 1).read_to_end(&mut bytes).with_context(|| format!("cannot read {shown}"))?;
    ensure!(bytes.len() as u64 <= most, "{shown}: more than {} MB; give a smaller part of it", most >> 20);
    Ok(bytes)
}
