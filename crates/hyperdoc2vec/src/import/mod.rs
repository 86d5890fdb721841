//! Importers: bytes in some format to [`Document`]s, and from there to a corpus. One file a format.

mod article;
mod build;
pub(crate) mod bzip;
mod format;
pub(crate) mod html;
mod html_events;
mod input;
pub(crate) mod jats;
pub(crate) mod jsonl;
pub(crate) mod latex;
pub(crate) mod library;
pub(crate) mod lines;
pub(crate) mod markdown;
pub(crate) mod mediawiki;
pub(crate) mod openalex;
mod options;
mod paper_lines;
pub(crate) mod papers;
pub(crate) mod parsed;
mod part;
pub mod pdf;
pub(crate) mod pipeline;
mod progress;
mod read;
pub(crate) mod reference;
pub(crate) mod report;
pub(crate) mod s2orc;
mod shares;
mod sniff;
pub(crate) mod source;
pub(crate) mod tei;
mod text;
mod text_format;
pub(crate) mod tree;
pub(crate) mod unarxive;

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::corpus::{Corpus, Prepared, Provenance, prepare};
use crate::document::Document;
use crate::error::{Error, Result};
use crate::storage::part::Shard;
use crate::threads::in_pool;
pub(crate) use build::build;
use build::{refuse_bad, refuse_nothing};
pub use format::Format;
use input::Input;
pub use jsonl::to_jsonl;
pub use library::CITED_ONLY;
pub use mediawiki::namespace as parse_namespace;
pub use options::ImportOptions;
pub(crate) use parsed::Parsed;
pub use part::Merge;
pub use progress::{Progress, Unit, Watch};
pub(crate) use read::read_pages;
pub use reference::{Reference, References};
pub(crate) use reference::{fold, surname};
pub use report::ImportReport;
pub use text_format::TextFormat;
pub(crate) use tree::Pages;

/// An import: documents from files of a format or from memory, into a corpus or jsonl.
///
/// ```no_run
/// use hyperdoc2vec::{Format, Import};
///
/// let corpus = Import::files(Format::Markdown, ["notes/"]).build("notes.corpus")?;
/// println!("{} documents", corpus.len());
/// # Ok::<(), hyperdoc2vec::Error>(())
/// ```
pub struct Import<'a> {
    input: Input<'a>,
    options: ImportOptions,
    each_reference: Option<Box<EachReference<'a>>>,
    watch: Option<Box<Watch<'a>>>,
}

/// A closure that gets every bibliography entry.
type EachReference<'a> = dyn FnMut(&Reference) -> Result<()> + Send + 'a;

impl<'a> Import<'a> {
    /// Reads files or directories of a format.
    pub fn files<P: Into<PathBuf>>(format: Format, paths: impl IntoIterator<Item = P>) -> Import<'a> {
        Import::new(Input::Files(format, paths.into_iter().map(Into::into).collect()))
    }

    /// Takes documents from memory.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// use hyperdoc2vec::{Document, Import};
    ///
    /// let documents = [
    ///     Document::new("bleu", "a metric for translations"),
    ///     Document::new("moses", "a toolkit, scored by [[bleu]]"),
    /// ];
    /// let corpus = Import::documents(documents).min_count(1).build(folder.path().join("c"))?;
    /// assert_eq!((corpus.len(), corpus.manifest().counts.links), (2, 1));
    /// # Ok::<(), hyperdoc2vec::Error>(())
    /// ```
    pub fn documents<I>(documents: I) -> Import<'a>
    where
        I: IntoIterator<Item = Document>,
        I::IntoIter: Send + 'a,
    {
        Import::new(Input::Documents(Box::new(documents.into_iter())))
    }

    fn new(input: Input<'a>) -> Import<'a> {
        Import { input, options: ImportOptions::default(), each_reference: None, watch: None }
    }

    /// All options at once.
    pub fn options(self, options: ImportOptions) -> Import<'a> {
        Import { options, ..self }
    }

    /// Words that occur less often get no vectors.
    pub fn min_count(mut self, count: u64) -> Import<'a> {
        self.options.corpus.min_count = count;
        self
    }

    /// Keeps upper and lower case apart.
    pub fn keep_case(mut self) -> Import<'a> {
        self.options.corpus.lowercase = false;
        self
    }

    /// Leaves out records that cannot be read, and counts them, rather than stop.
    pub fn skip_bad(mut self) -> Import<'a> {
        self.options.skip_bad = true;
        self
    }

    /// Replaces a corpus that stands at the destination.
    pub fn replace(mut self) -> Import<'a> {
        self.options.force = true;
        self
    }

    /// The number of threads; 0, the default, for one a core. Any number gives the same bytes.
    pub fn threads(mut self, threads: usize) -> Import<'a> {
        self.options.threads = threads;
        self
    }

    /// Passes the progress to `watch`, which may stop the import.
    pub fn watch(self, watch: impl FnMut(&Progress) -> ControlFlow<()> + Send + 'a) -> Import<'a> {
        Import { watch: Some(Box::new(watch)), ..self }
    }

    /// Passes every bibliography entry with its outcome to `each`, in the order of the input.
    pub fn each_reference(self, each: impl FnMut(&Reference) -> Result<()> + Send + 'a) -> Import<'a> {
        Import { each_reference: Some(Box::new(each)), ..self }
    }

    /// Reads one of several shards of the input, for [`Import::write_part`].
    pub fn shard(mut self, shard: Shard) -> Import<'a> {
        self.options.shard = Some(shard);
        self
    }

    /// Makes a new corpus at `destination`.
    pub fn build(self, destination: impl AsRef<Path>) -> Result<Corpus> {
        self.build_with_report(destination).map(|(corpus, _)| corpus)
    }

    /// Makes a new corpus at `destination`, and returns the report.
    pub fn build_with_report(self, destination: impl AsRef<Path>) -> Result<(Corpus, ImportReport)> {
        refuse_shard(self.options.shard, "a corpus")?;
        let Import { input, options, mut each_reference, watch } = self;
        let mut watch = watch.unwrap_or_else(|| Box::new(|_| ControlFlow::Continue(())));
        let options = &options;
        let format = input.format();
        let provenance = Provenance { format: format.to_owned(), inputs: input.names() };
        let mut report = ImportReport::new(format);
        let references = &mut report.references;
        let corpus = build(destination.as_ref(), provenance, options, |tokenizer, builder| {
            let work = |parsed: Parsed| (parsed.references, prepare(parsed.batch, tokenizer));
            let sink = |(found, batch): (References, Prepared)| {
                refuse_bad(batch.bad(), options)?;
                if let Some(each) = &mut each_reference {
                    found.every.iter().try_for_each(each)?;
                }
                references.merge(found);
                builder.add(batch)?;
                Ok(builder.counts().documents)
            };
            input.read(options, work, sink, &mut *watch).map(|_| ())
        })?;
        let report = report.of(&corpus);
        Ok((corpus, report))
    }

    /// Reads the shard that [`Import::shard`] names, and writes it to `destination`: a part, which [`Merge`] puts together
    /// with those of the other shards. The report has what is known before that.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = |name: String| folder.path().join(name);
    /// use hyperdoc2vec::import::Merge;
    /// use hyperdoc2vec::{Format, Import, Shard};
    ///
    /// let input = path("papers.jsonl".to_owned());
    /// std::fs::write(&input, "{\"id\": \"bleu\", \"text\": \"a metric\"}\n")?;
    /// for i in 1..=3 {
    ///     // In a process of its own, perhaps on another machine.
    ///     let shard = Shard::new(i, 3)?;
    ///     Import::files(Format::Jsonl, [&input]).shard(shard).write_part(path(format!("{i}.part")))?;
    /// }
    /// let parts = (1..=3).map(|i| path(format!("{i}.part")));
    /// let corpus = Merge::parts(parts).build(path("papers.corpus".to_owned()))?;
    /// assert_eq!(corpus.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] without a shard, [`Error::Exists`] if there is a file and [`Import::replace`] was not called.
    pub fn write_part(self, destination: impl AsRef<Path>) -> Result<ImportReport> {
        let Import { input, options, mut each_reference, watch } = self;
        let mut watch = watch.unwrap_or_else(|| Box::new(|_| ControlFlow::Continue(())));
        let (options, names) = (&options, input.names());
        let mut report = ImportReport::new(input.format());
        part::write(destination.as_ref(), &names, input.format(), options, |tokenizer, writer| {
            let work = |parsed: Parsed| {
                let (place, references, bad) = (parsed.place, parsed.references, parsed.batch.first_bad.clone());
                let batch = prepare(parsed.batch, tokenizer);
                (
                    place,
                    bad,
                    batch.documents.len() as u64,
                    batch.losses.clone(),
                    part::frame(&references, &batch),
                    references,
                )
            };
            let sink = |(place, bad, documents, losses, frame, found): (_, _, _, _, Vec<u8>, References)| {
                refuse_bad(Option::as_ref(&bad), options)?;
                if let Some(each) = &mut each_reference {
                    found.every.iter().try_for_each(each)?;
                }
                report.references.merge(found);
                report.losses.merge(losses);
                report.documents += documents;
                writer.push(place, &frame)?;
                Ok(report.documents)
            };
            input.read(options, work, sink, &mut *watch)
        })?;
        Ok(report)
    }

    /// Writes the documents as jsonl, and returns the report.
    pub fn write_jsonl(self, out: &mut (dyn Write + Send)) -> Result<ImportReport> {
        refuse_shard(self.options.shard, "jsonl")?;
        let Import { input, options, mut each_reference, watch } = self;
        let mut watch = watch.unwrap_or_else(|| Box::new(|_| ControlFlow::Continue(())));
        let options = &options;
        let (mut report, place) = (ImportReport::new(input.format()), input.names().join(", "));
        let work = |parsed: Parsed| (to_jsonl(&parsed.batch.documents, &parsed.batch.aliases), parsed);
        let sink = |(lines, parsed): (Vec<u8>, Parsed)| {
            refuse_bad(parsed.batch.first_bad.as_ref(), options)?;
            out.write_all(&lines).map_err(Error::io("write", Path::new("the output")))?;
            report.documents += parsed.batch.documents.len() as u64;
            for document in &parsed.batch.documents {
                report.positions += document.links.len() as u64;
                report.links += document.links.iter().map(|link| link.targets.len() as u64).sum::<u64>();
            }
            if let Some(each) = &mut each_reference {
                parsed.references.every.iter().try_for_each(each)?;
            }
            report.losses.merge(parsed.batch.losses);
            report.references.merge(parsed.references);
            Ok(report.documents)
        };
        in_pool(options.threads, || input.read(options, work, sink, &mut *watch))?;
        refuse_nothing(report.documents, place, &report.losses)?;
        Ok(report)
    }
}

/// An error if a shard is asked for where everything is read.
fn refuse_shard(shard: Option<Shard>, output: &str) -> Result<()> {
    match shard {
        Some(shard) => Err(Error::Usage(format!("shard {shard} of an import is written as a part, not as {output}"))),
        None => Ok(()),
    }
}
