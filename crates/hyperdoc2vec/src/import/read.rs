//! Every format read in the same way: batches of its input, worked on in parallel, in order, with progress.

use std::ops::{ControlFlow, Range};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::article::Articles;
use super::html::{Html, HtmlOptions};
use super::jats::Journal;
use super::latex::Latex;
use super::library::Library;
use super::markdown::{Markdown, MarkdownOptions};
use super::mediawiki::{self, PageBatch, PageBatches};
use super::papers::Papers;
use super::progress::{notify, started, while_wanted};
use super::reference::CatalogueBuilder;
use super::shares::{InputDigest, shares};
use super::source::{self, Consumed, LineBatch, LineBatches, Patient};
use super::tei::GrobidTei;
use super::unarxive::{self, Unarxive};
use super::{Format, ImportOptions, Pages, Parsed, Progress, Unit, Watch, jsonl, lines, openalex, pipeline, s2orc};
use crate::error::{Error, Result};
use crate::storage::part::{FramePlace, Shard};

impl Format {
    /// Parses `inputs` batch by batch; `work` runs in parallel, `sink` in order and returns the number of documents so far.
    /// Returns a checksum of what the input is; 0 if it is not divided.
    pub(super) fn read<R: Send>(
        self,
        inputs: &[PathBuf],
        options: &ImportOptions,
        work: impl Fn(Parsed) -> R + Sync,
        mut sink: impl FnMut(R) -> Result<u64> + Send,
        watch: &mut Watch<'_>,
    ) -> Result<u64> {
        let shard = options.shard;
        let of_trees = [(&options.include, "include"), (&options.exclude, "exclude")]
            .into_iter()
            .find(|(globs, _)| !globs.is_empty());
        let of_files = matches!(
            self,
            Format::Jsonl | Format::Lines | Format::MediaWiki | Format::S2orc | Format::Unarxive | Format::OpenAlex
        );
        if let (true, Some((_, option))) = (of_files, of_trees) {
            return Err(Error::Usage(format!("`{option}` chooses among the pages of a directory; {self} reads files")));
        }
        let of_libraries = [(!options.files.is_empty(), "files"), (options.pdf.grobid.is_some(), "grobid")];
        if let (false, Some((_, option))) =
            (matches!(self, Format::Library | Format::Pdf), of_libraries.iter().find(|(given, _)| *given))
        {
            return Err(Error::Usage(format!(
                "`{option}` is for the formats library and pdf; {self} has no use for it"
            )));
        }
        if options.sections && !matches!(self, Format::Html | Format::Markdown | Format::Rst) {
            return Err(Error::Usage(format!("`sections` is for the formats html, markdown and rst; {self} has none")));
        }
        if self != Format::Papers && options.metadata.is_some() {
            return Err(Error::Usage(format!("`metadata` is the table of papers; {self} has none")));
        }
        match self {
            Format::Papers => {
                let Some(metadata) = &options.metadata else {
                    let what = "papers needs `metadata`, a table in csv, tsv or jsonl with the columns id, title, authors, year";
                    return Err(Error::Usage(what.to_owned()));
                };
                let papers = Papers::open(inputs, metadata, &options.include, &options.exclude)?;
                read_tree(&papers, shard, work, sink, watch)
            }
            Format::Library | Format::Pdf => {
                let step = |files| Progress { read: files as u64, total: None, unit: Unit::Pages, documents: 0 };
                let library = Library::open(self, inputs, options, &mut |files| notify(watch, step(files)))?;
                read_tree(&library, shard, work, sink, watch)
            }
            Format::S2orc => {
                let files = json_files(inputs, shard, &work, &mut sink)?;
                let mut first = s2orc::FirstPass::default();
                read_heads(&files, options, s2orc::heads, |heads| first.add(heads), &mut *watch)?;
                let s2orc = first.finish();
                read_lines(&files, options, |batch| work(s2orc.parse(&batch).at(batch.place)), sink, watch)
            }
            Format::Unarxive => {
                let files = json_files(inputs, shard, &work, &mut sink)?;
                let mut papers = CatalogueBuilder::default();
                read_heads(&files, options, unarxive::heads, |heads| papers.extend(heads), &mut *watch)?;
                let unarxive = Unarxive::new(papers.finish());
                read_lines(&files, options, |batch| work(unarxive.parse(&batch).at(batch.place)), sink, watch)
            }
            Format::OpenAlex => {
                let files = json_files(inputs, shard, &work, &mut sink)?;
                read_lines(&files, options, |batch| work(openalex::parse(&batch).at(batch.place)), sink, watch)
            }
            Format::Jsonl => {
                read_lines(inputs, options, |batch| work(jsonl::parse(&batch).at(batch.place)), sink, watch)
            }
            Format::Lines => {
                read_lines(inputs, options, |batch| work(lines::parse(&batch).at(batch.place)), sink, watch)
            }
            Format::Html => {
                let mut pages = HtmlOptions {
                    include: options.include.clone(),
                    base_url: options.base_url.clone(),
                    code_links: options.code_links,
                    sections: options.sections,
                    ..HtmlOptions::default()
                };
                pages.exclude.extend_from_slice(&options.exclude);
                let html = Html::open(inputs, &pages)?;
                read_tree(&html, shard, work, sink, watch)
            }
            Format::Markdown | Format::Rst => {
                let ImportOptions { include, exclude, base_url, sections, .. } = options.clone();
                let rest = self == Format::Rst;
                let markdown = Markdown::open(inputs, &MarkdownOptions { include, exclude, base_url, rest, sections })?;
                read_tree(&markdown, shard, work, sink, watch)
            }
            Format::MediaWiki => {
                let consumed = Arc::<Consumed>::default();
                let mut batches =
                    PageBatches::new(inputs, &options.namespaces, options.longest_line, Arc::clone(&consumed))?
                        .of_shares(shares(inputs, options.shard)?);
                let work = |batch: PageBatch| work(mediawiki::parse(&batch).at(batch.order));
                let next = move || batches.next_batch();
                let stream = Stream { inputs, consumed, next, bytes: |batch: &PageBatch| batch.bytes.len() };
                read_stream(stream, work, sink, watch)?;
                Ok(shard.map_or(0, |_| InputDigest::of(inputs)))
            }
            Format::Tei => {
                let papers = Articles::<GrobidTei>::open(inputs, options, &mut |papers| started(watch, papers))?;
                read_tree(&papers, shard, work, sink, watch)
            }
            Format::Jats => {
                let papers = Articles::<Journal>::open(inputs, options, &mut |papers| started(watch, papers))?;
                read_tree(&papers, shard, work, sink, watch)
            }
            Format::Latex => {
                let papers = Latex::open_step(inputs, options, &mut |papers| started(watch, papers))?;
                read_tree(&papers, shard, work, sink, watch)
            }
        }
    }
}

/// The files of JSON lines among the inputs and below them; what was not read there is counted at once, by
/// the first shard.
fn json_files<R>(
    inputs: &[PathBuf],
    shard: Option<Shard>,
    work: &impl Fn(Parsed) -> R,
    sink: &mut impl FnMut(R) -> Result<u64>,
) -> Result<Vec<PathBuf>> {
    let mut unread = Parsed::default();
    let files = source::json_lines(inputs, &mut unread.batch.losses)?;
    let first = shard.is_none_or(|shard| shard.number() == 1);
    if first && !unread.batch.losses.is_empty() {
        sink(work(unread))?;
    }
    Ok(files)
}

/// The first of two passes over lines: `heads` of each batch are given to `take` in the order of the input.
fn read_heads<H: Send>(
    files: &[PathBuf],
    options: &ImportOptions,
    heads: fn(&LineBatch) -> Vec<H>,
    mut take: impl FnMut(Vec<H>) + Send,
    watch: &mut Watch<'_>,
) -> Result<()> {
    let sink = |heads| {
        take(heads);
        Ok(0)
    };
    // Every shard looks at all heads, since its lines may mean any of them.
    let options = ImportOptions { shard: None, ..options.clone() };
    read_lines(files, &options, |batch| heads(&batch), sink, watch).map(|_| ())
}

pub(super) fn read_lines<R: Send>(
    inputs: &[PathBuf],
    options: &ImportOptions,
    work: impl Fn(LineBatch) -> R + Sync,
    sink: impl FnMut(R) -> Result<u64> + Send,
    watch: &mut Watch<'_>,
) -> Result<u64> {
    let consumed = Arc::<Consumed>::default();
    let batches = LineBatches::new(inputs, options.longest_line, Arc::clone(&consumed))?;
    let mut batches = batches.of_shares(shares(inputs, options.shard)?);
    let next = move || batches.next_batch();
    let stream = Stream { inputs, consumed, next, bytes: |batch: &LineBatch| batch.bytes.len() };
    read_stream(stream, work, sink, watch)?;
    Ok(options.shard.map_or(0, |_| InputDigest::of(inputs)))
}

/// Input that is read from start to end.
pub(super) struct Stream<'a, N, B> {
    pub(super) inputs: &'a [PathBuf],
    /// Bytes read so far.
    pub(super) consumed: Arc<Consumed>,
    /// The next batch.
    pub(super) next: N,
    /// The size of a batch in memory.
    pub(super) bytes: fn(&B) -> usize,
}

pub(super) fn read_stream<B: Send + 'static, R: Send>(
    Stream { inputs, consumed, next, bytes }: Stream<'_, impl FnMut() -> Result<Option<B>> + Send + 'static, B>,
    work: impl Fn(B) -> R + Sync,
    mut sink: impl FnMut(R) -> Result<u64> + Send,
    watch: &mut Watch<'_>,
) -> Result<()> {
    let total = inputs.iter().map(|path| path.metadata().ok().map(|m| m.len())).sum();
    let documents = AtomicU64::new(0);
    let watch = Mutex::new(watch);
    let report = || {
        let (read, documents) = (consumed.bytes(), documents.load(Ordering::Relaxed));
        let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
        notify(&mut **watch, Progress { read, total, unit: Unit::Bytes, documents })
    };
    let sink = |result: R| {
        documents.store(sink(result)?, Ordering::Relaxed);
        report()
    };
    let mut batches = Patient::new(next, Arc::clone(&consumed));
    pipeline::run(|| batches.next_batch(&report), bytes, work, sink)
}

/// Reads the pages of a tree, all or those of a shard; returns a checksum of the tree if it is divided.
fn read_tree<R: Send>(
    pages: &(impl Pages + Sync),
    shard: Option<Shard>,
    work: impl Fn(Parsed) -> R + Sync,
    sink: impl FnMut(R) -> Result<u64> + Send,
    watch: &mut Watch<'_>,
) -> Result<u64> {
    let mut batches = pages.batches();
    if let Some(shard) = shard {
        let share = shard.range(batches.len() as u64);
        batches = batches[share.start as usize..share.end as usize].to_vec();
    }
    let parse = |batch: Range<usize>| {
        let place = FramePlace { input: 1, piece: pages.batch_number(&batch) };
        work(pages.parse(batch).at(place))
    };
    let read = |watch: &mut Watch<'_>| read_pages(pages.len(), batches, parse, sink, watch);
    match pages.stop() {
        Some(stop) => watch_meanwhile(stop, pages.len(), watch, read)?,
        None => read(watch)?,
    }
    Ok(shard.map_or(0, |_| pages.digest()))
}

/// Reads pages of which one may take minutes: `watch` is asked meanwhile, too, and `stop` set if it wants an end.
fn watch_meanwhile(
    stop: &AtomicBool,
    pages: usize,
    watch: &mut Watch<'_>,
    read: impl FnOnce(&mut Watch<'_>) -> Result<()>,
) -> Result<()> {
    let last = Progress { read: 0, total: Some(pages as u64), unit: Unit::Pages, documents: 0 };
    let both = Mutex::new((watch, last));
    let report = |progress: Option<&Progress>| {
        let mut both = both.lock().unwrap_or_else(PoisonError::into_inner);
        let (watch, last) = &mut *both;
        progress.into_iter().for_each(|progress| *last = *progress);
        // What was read after the stop is not taken in.
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { watch(last) }
    };
    let mut step = || match report(None) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Interrupted),
    };
    while_wanted(stop, &mut step, || read(&mut |progress: &Progress| report(Some(progress))))?
}

/// Reads pages or documents that are not a stream: `pages` of them, in batches.
pub(crate) fn read_pages<R: Send>(
    pages: usize,
    batches: Vec<Range<usize>>,
    work: impl Fn(Range<usize>) -> R + Sync,
    mut sink: impl FnMut(R) -> Result<u64> + Send,
    watch: &mut Watch<'_>,
) -> Result<()> {
    let total = Some(pages as u64);
    let mut batches = batches.into_iter();
    let work = |batch: Range<usize>| (batch.end as u64, work(batch));
    let sink = |(read, result): (u64, R)| {
        let documents = sink(result)?;
        notify(watch, Progress { read, total, unit: Unit::Pages, documents })
    };
    pipeline::run(|| Ok(batches.next()), |_| 0, work, sink)
}
