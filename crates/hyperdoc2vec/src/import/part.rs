//! Parts of an import, written by shards and merged into a corpus.
//!
//! What needs a view of the whole input (which page a link means, which paper a reference) is looked at by every shard,
//! so that a batch does not depend on who parses it. What needs all batches (words by their counts, ids given twice,
//! redirects, links) is left to the merge, which adds the batches of all parts to a corpus in the order of the input.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::build::build;
use super::progress::notify;
use super::reference::References;
use super::{Format, ImportOptions, ImportReport, Progress, Unit, Watch, pipeline};
use crate::corpus::{Corpus, CorpusOptions, Prepared, Provenance};
use crate::document::tokenize::Tokenizer;
use crate::error::{Error, Result};
use crate::storage::part::{PackedFrame, PartHead, PartKind, PartSet, PartWriter, write_part};
use crate::threads::in_pool;

/// Writes the part of a shard; `feed` adds its batches.
pub(super) fn write(
    destination: &Path,
    inputs: &[String],
    format: &str,
    options: &ImportOptions,
    feed: impl FnOnce(&Tokenizer, &mut PartWriter<'_>) -> Result<u64> + Send,
) -> Result<()> {
    let Some(shard) = options.shard else {
        return Err(Error::Usage("a part is one of several shards; say which one".to_owned()));
    };
    let head = PartHead::new(PartKind::Import, shard, settings(inputs, format, options));
    let tokenizer = Tokenizer::new(options.corpus.lowercase);
    write_part(destination, &head, options.force, |part| in_pool(options.threads, || feed(&tokenizer, part)))
}

/// Everything on which the corpus depends beside the input itself.
fn settings(inputs: &[String], format: &str, options: &ImportOptions) -> BTreeMap<String, Value> {
    let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let names = |paths: &[PathBuf]| json!(paths.iter().map(name).collect::<Vec<_>>());
    let pdf: Vec<&str> = options.pdf.commands.iter().map(|command| command.name.as_str()).collect();
    let all = [
        ("format", json!(format)),
        ("inputs", json!(inputs)),
        ("min_count", json!(options.corpus.min_count)),
        ("lowercase", json!(options.corpus.lowercase)),
        ("skip_bad", json!(options.skip_bad)),
        ("longest_line", json!(options.longest_line)),
        ("include", json!(options.include)),
        ("exclude", json!(options.exclude)),
        ("base_url", json!(options.base_url)),
        ("code_links", json!(options.code_links)),
        ("sections", json!(options.sections)),
        ("namespaces", json!(options.namespaces)),
        ("metadata", json!(options.metadata.as_ref().and_then(name))),
        ("files", names(&options.files)),
        ("cited_works", json!(options.cited_works)),
        ("grobid", json!(options.pdf.grobid.is_some())),
        ("pdf_readers", json!(pdf)),
    ];
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A batch and the outcome of its references, as bytes.
pub(super) fn frame(references: &References, batch: &Prepared) -> Vec<u8> {
    // Strings and numbers can always be written.
    let json = serde_json::to_vec(references).unwrap_or_default();
    let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(&json);
    bytes.extend(batch.to_bytes());
    bytes
}

fn read_frame(bytes: &[u8]) -> Option<(References, Prepared)> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (json, batch) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    Some((serde_json::from_slice(json).ok()?, Prepared::from_bytes(batch)?))
}

/// Merges the parts of an import, one of each shard, into the corpus that an import in one go makes, byte for byte.
/// Memory grows with vocabulary, documents and names, as it does for an import.
///
/// ```no_run
/// use hyperdoc2vec::import::Merge;
///
/// let corpus = Merge::parts(["papers-1.part", "papers-2.part"]).build("papers.corpus")?;
/// # Ok::<(), hyperdoc2vec::Error>(())
/// ```
pub struct Merge<'a> {
    parts: Vec<PathBuf>,
    threads: usize,
    replace: bool,
    watch: Option<Box<Watch<'a>>>,
}

impl<'a> Merge<'a> {
    /// Of these files, in any order.
    pub fn parts<P: Into<PathBuf>>(parts: impl IntoIterator<Item = P>) -> Merge<'a> {
        Merge { parts: parts.into_iter().map(Into::into).collect(), threads: 0, replace: false, watch: None }
    }

    /// Threads; 0, the default, for one a core. Any number gives the same bytes.
    pub fn threads(self, threads: usize) -> Merge<'a> {
        Merge { threads, ..self }
    }

    /// Replaces a corpus that stands at the destination.
    pub fn replace(self) -> Merge<'a> {
        Merge { replace: true, ..self }
    }

    /// Passes the progress, in bytes of the parts, to `watch`, which may stop the work.
    pub fn watch(self, watch: impl FnMut(&Progress) -> ControlFlow<()> + Send + 'a) -> Merge<'a> {
        Merge { watch: Some(Box::new(watch)), ..self }
    }

    /// Makes a new corpus at `destination`.
    ///
    /// # Errors
    /// [`Error::Input`] if the parts are not all shards of one import, each once: made by another program, with other
    /// options, from another input, or in another number; [`Error::Damaged`] if one was cut short or altered.
    pub fn build(self, destination: impl AsRef<Path>) -> Result<Corpus> {
        self.build_with_report(destination).map(|(corpus, _)| corpus)
    }

    /// Makes a new corpus at `destination`, and returns the report of the whole import.
    pub fn build_with_report(self, destination: impl AsRef<Path>) -> Result<(Corpus, ImportReport)> {
        let Merge { parts, threads, replace, watch } = self;
        let mut watch = watch.unwrap_or_else(|| Box::new(|_| ControlFlow::Continue(())));
        let mut parts = PartSet::open(&parts, PartKind::Import)?;
        let head = parts.head();
        let format = head.setting("format").as_str().unwrap_or_default();
        let format = format.parse::<Format>().map_or("documents", Format::name);
        let inputs = head.setting("inputs").as_array().into_iter().flatten();
        let inputs = inputs.filter_map(|name| name.as_str().map(str::to_owned)).collect();
        let mut options = ImportOptions { threads, force: replace, ..ImportOptions::default() };
        options.corpus = CorpusOptions {
            lowercase: head.setting("lowercase").as_bool().unwrap_or(true),
            min_count: head.setting("min_count").as_u64().unwrap_or(1),
        };
        let provenance = Provenance { format: format.to_owned(), inputs };
        let mut report = ImportReport::new(format);
        let references = &mut report.references;
        let total = Some(parts.bytes());
        let corpus = build(destination.as_ref(), provenance, &options, |_, builder| {
            let next = || Ok(parts.next_frame()?.map(|frame| (parts.bytes_read(), frame)));
            let bytes = |(_, frame): &(u64, PackedFrame)| frame.packed_bytes();
            let work = |(read, frame): (u64, PackedFrame)| (read, frame.read(read_frame));
            let sink = |(read, frame): (u64, Result<(References, Prepared)>)| {
                let (found, batch) = frame?;
                references.merge(found);
                builder.add(batch)?;
                let documents = builder.counts().documents;
                notify(&mut *watch, Progress { read, total, unit: Unit::Bytes, documents })
            };
            pipeline::run(next, bytes, work, sink)
        })?;
        let report = report.of(&corpus);
        Ok((corpus, report))
    }
}
