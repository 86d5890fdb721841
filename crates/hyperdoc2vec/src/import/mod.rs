//! Importers: bytes in some format to [`Document`]s, and from there to a corpus. One file a format.

mod article;
mod bzip;
mod format;
#[cfg(test)]
mod growth;
pub(crate) mod html;
mod html_events;
pub(crate) mod jats;
pub(crate) mod jsonl;
pub(crate) mod latex;
pub(crate) mod lines;
pub(crate) mod markdown;
pub(crate) mod mediawiki;
mod paper_lines;
pub(crate) mod papers;
pub(crate) mod pipeline;
mod read;
pub(crate) mod reference;
pub(crate) mod report;
pub(crate) mod s2orc;
mod sniff;
pub(crate) mod source;
pub(crate) mod tei;
mod text;
pub(crate) mod tree;
pub(crate) mod unarxive;

use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::corpus::{Batch, Builder, Corpus, CorpusOptions, Prepared, Provenance, prepare};
use crate::document::losses::{Loss, Losses, Tally};
use crate::document::tokenize::Tokenizer;
use crate::document::{Document, language_tag};
use crate::error::{Error, Result};
use crate::threads::in_pool;
pub use format::Format;
pub use jsonl::to_jsonl;
pub use mediawiki::namespace as parse_namespace;
pub(crate) use read::read_pages;
use read::{read, read_lines, watched};
pub use reference::{Reference, References};
pub use report::ImportReport;
use source::LineBatch;
pub(crate) use tree::Pages;

/// What an importer makes of a piece of its input.
#[derive(Debug, Default)]
pub struct Parsed {
    /// Documents, in the order of the input.
    pub documents: Vec<Document>,
    /// Redirects: a name that links may use, and the id (or redirect) it stands for.
    pub aliases: Vec<(String, String)>,
    /// What was left out or mended.
    pub losses: Losses,
    /// The first record that could not be read: its place, and what is wrong with it.
    pub first_bad: Option<(String, String)>,
    /// What became of bibliography entries and citation marks.
    pub references: References,
}

impl Parsed {
    /// What `each` makes of the lines of a batch, given with their places; a line that is no text is a bad record.
    fn of_lines(batch: &LineBatch, mut each: impl FnMut(&str, String, &mut Parsed)) -> Parsed {
        let mut parsed = Parsed::default();
        for (number, bytes) in batch.lines() {
            let place = batch.place(number);
            if batch.too_long.contains(&number) {
                let limit = batch.longest >> 20;
                parsed.bad(
                    place,
                    format!("the line is longer than {limit} MiB, the longest allowed (is this one document a line?)"),
                );
                continue;
            }
            match std::str::from_utf8(bytes) {
                Ok(line) => each(line, place, &mut parsed),
                Err(error) => parsed.bad(place, not_utf8(error, "of the line")),
            }
        }
        parsed
    }

    /// The documents, without what became of bibliography entries.
    pub(crate) fn into_batch(self) -> Batch {
        let Parsed { documents, aliases, losses, first_bad, references: _ } = self;
        Batch { documents, aliases, losses, first_bad }
    }

    /// Counts a record that could not be read.
    pub fn bad(&mut self, place: String, what: String) {
        self.losses.add(Loss::MalformedRecord, format!("{place}: {what}"));
        self.first_bad.get_or_insert((place, what));
    }

    /// The language that a record at `place` says it is in; counts what is none.
    fn language(&mut self, text: &str, place: &str) -> Option<String> {
        let tag = language_tag(text);
        if tag.is_none() && !text.trim().is_empty() {
            self.losses.add(Loss::IgnoredField, format!("language {text:?} ({place})"));
        }
        tag
    }
}

/// How to import.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ImportOptions {
    /// How words are taken from text.
    pub corpus: CorpusOptions,
    /// Threads to use; 0 for one a core.
    pub threads: usize,
    /// Leave out records that cannot be read, and count them, rather than stop.
    pub skip_bad: bool,
    /// The longest line in bytes.
    pub longest_line: usize,
    /// Replace a corpus that stands at the destination.
    pub force: bool,
    /// Trees: globs of the pages to take, against the path below the root; none means all.
    pub include: Vec<String>,
    /// Trees: globs of pages to leave out, beside those that a format leaves out by itself.
    pub exclude: Vec<String>,
    /// Trees: web address of the root; links to addresses below it are links to pages of the set.
    pub base_url: Option<String>,
    /// Wikis: numbers of the namespaces whose pages are read.
    pub namespaces: Vec<i32>,
    /// Papers: the table of metadata.
    pub metadata: Option<PathBuf>,
}

impl Default for ImportOptions {
    fn default() -> ImportOptions {
        ImportOptions {
            corpus: CorpusOptions::default(),
            threads: 0,
            skip_bad: false,
            longest_line: 128 << 20,
            force: false,
            include: Vec::new(),
            exclude: Vec::new(),
            base_url: None,
            namespaces: vec![0],
            metadata: None,
        }
    }
}

/// How far an import has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes (or pages) read.
    pub read: u64,
    /// Bytes (or pages) there are, where that is known.
    pub total: Option<u64>,
    /// What `read` and `total` count.
    pub unit: Unit,
    /// Documents taken in.
    pub documents: u64,
}

/// What progress is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of the input as it stands on disk.
    Bytes,
    /// Pages, or documents.
    Pages,
}

/// A closure that watches an import and may stop it.
pub type Watch<'a> = &'a mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send);

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
    watch: Option<Box<ImportWatch<'a>>>,
}

/// Sees every bibliography entry.
type EachReference<'a> = dyn FnMut(&Reference) -> Result<()> + Send + 'a;
/// Watches an import and may stop it.
type ImportWatch<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + Send + 'a;

/// Where documents come from.
enum Input<'a> {
    Files(Format, Vec<PathBuf>),
    Documents(Box<dyn Iterator<Item = Document> + Send + 'a>),
}

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

    /// Shows the progress to `watch`, which may stop the import.
    pub fn watch(self, watch: impl FnMut(&Progress) -> ControlFlow<()> + Send + 'a) -> Import<'a> {
        Import { watch: Some(Box::new(watch)), ..self }
    }

    /// Shows every bibliography entry and what became of it, in the order of the input.
    pub fn each_reference(self, each: impl FnMut(&Reference) -> Result<()> + Send + 'a) -> Import<'a> {
        Import { each_reference: Some(Box::new(each)), ..self }
    }

    /// Makes a new corpus at `destination`.
    pub fn build(self, destination: impl AsRef<Path>) -> Result<Corpus> {
        self.build_with_report(destination).map(|(corpus, _)| corpus)
    }

    /// Makes a new corpus at `destination`, and tells what became of the input.
    pub fn build_with_report(self, destination: impl AsRef<Path>) -> Result<(Corpus, ImportReport)> {
        let Import { input, options, mut each_reference, watch } = self;
        let mut watch = watch.unwrap_or_else(|| Box::new(|_| ControlFlow::Continue(())));
        let options = &options;
        let (provenance, mut report) = match &input {
            Input::Files(format, paths) => {
                let inputs = file_names(paths);
                (Provenance { format: format.name().to_owned(), inputs }, ImportReport::new(format.name()))
            }
            Input::Documents(_) => (
                Provenance { format: "documents".to_owned(), inputs: vec!["memory".to_owned()] },
                ImportReport::new("documents"),
            ),
        };
        let references = &mut report.references;
        let corpus = build(destination.as_ref(), provenance, options, |tokenizer, builder| {
            let work =
                |mut parsed: Parsed| (std::mem::take(&mut parsed.references), prepare(parsed.into_batch(), tokenizer));
            let sink = |(found, batch): (References, Prepared)| {
                refuse_bad(batch.bad(), options)?;
                if let Some(each) = &mut each_reference {
                    found.every.iter().try_for_each(each)?;
                }
                references.merge(found);
                builder.add(batch)?;
                Ok(builder.counts().documents)
            };
            input.read(options, work, sink, &mut *watch)
        })?;
        let report = report.of(&corpus);
        Ok((corpus, report))
    }

    /// Writes the documents as jsonl, and tells what became of the input.
    pub fn write_jsonl(self, out: &mut (dyn Write + Send)) -> Result<ImportReport> {
        let Import { input, options, mut each_reference, watch } = self;
        let mut watch = watch.unwrap_or_else(|| Box::new(|_| ControlFlow::Continue(())));
        let options = &options;
        let (mut report, place) = match &input {
            Input::Files(format, paths) => (ImportReport::new(format.name()), file_names(paths).join(", ")),
            Input::Documents(_) => (ImportReport::new("documents"), "memory".to_owned()),
        };
        let work = |parsed: Parsed| (jsonl::write(&parsed), parsed);
        let sink = |(lines, parsed): (Vec<u8>, Parsed)| {
            refuse_bad(parsed.first_bad.as_ref(), options)?;
            out.write_all(&lines).map_err(Error::io("write", Path::new("the output")))?;
            report.documents += parsed.documents.len() as u64;
            for document in &parsed.documents {
                report.positions += document.links.len() as u64;
                report.links += document.links.iter().map(|link| link.targets.len() as u64).sum::<u64>();
            }
            if let Some(each) = &mut each_reference {
                parsed.references.every.iter().try_for_each(each)?;
            }
            report.losses.merge(parsed.losses);
            report.references.merge(parsed.references);
            Ok(report.documents)
        };
        in_pool(options.threads, || input.read(options, work, sink, &mut *watch))?;
        refuse_nothing(report.documents, place, &report.losses)?;
        Ok(report)
    }
}

/// Documents in memory that are worked on together.
const DOCUMENTS_A_BATCH: usize = 256;

impl Input<'_> {
    /// Parses the input batch by batch; `work` runs in parallel, `sink` in order and tells the number of documents so far.
    fn read<R: Send>(
        self,
        options: &ImportOptions,
        work: impl Fn(Parsed) -> R + Sync,
        mut sink: impl FnMut(R) -> Result<u64> + Send,
        watch: Watch<'_>,
    ) -> Result<()> {
        let mut documents = match self {
            Input::Files(format, paths) => return read(format, &paths, options, work, sink, watch),
            Input::Documents(documents) => documents,
        };
        let mut number = 0;
        let next = || {
            let mut parsed = Parsed::default();
            for mut document in documents.by_ref().take(DOCUMENTS_A_BATCH) {
                number += 1;
                if document.origin.is_empty() {
                    document.origin = format!("document {number}");
                }
                match document.id.trim() {
                    "" => parsed.bad(document.origin, "the id is empty".to_owned()),
                    trimmed if trimmed != document.id => {
                        parsed
                            .bad(document.origin, format!("the id {:?} begins or ends with white space", document.id));
                    }
                    _ => parsed.documents.push(document),
                }
            }
            Ok(Some(parsed).filter(|parsed| !parsed.documents.is_empty() || parsed.first_bad.is_some()))
        };
        pipeline::run(
            next,
            |_| 0,
            work,
            |done| {
                let documents = sink(done)?;
                watched(watch, Progress { read: documents, total: None, unit: Unit::Pages, documents })
            },
        )
    }
}

fn file_names(inputs: &[PathBuf]) -> Vec<String> {
    inputs.iter().map(|path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()).collect()
}

/// Builds a corpus out of what `feed` adds; an error if that is nothing.
pub(crate) fn build(
    destination: &Path,
    source: Provenance,
    options: &ImportOptions,
    feed: impl FnOnce(&Tokenizer, &mut Builder) -> Result<()> + Send,
) -> Result<Corpus> {
    let tokenizer = Tokenizer::new(options.corpus.lowercase);
    let place = source.inputs.join(", ");
    let mut builder = Builder::new(destination, options.corpus.clone(), source, options.force)?;
    in_pool(options.threads, || {
        feed(&tokenizer, &mut builder)?;
        refuse_nothing(builder.counts().documents, place, builder.losses())?;
        builder.finish()
    })
}

/// An error if there are no documents; what was left out may tell why.
fn refuse_nothing(documents: u64, place: String, losses: &Losses) -> Result<()> {
    if documents > 0 {
        return Ok(());
    }
    let why = losses.iter().next().map(|(loss, Tally { count, samples })| {
        let first = samples.first().map(|sample| format!(", the first: {sample}")).unwrap_or_default();
        format!(" ({count} {}{first})", loss.describe_count(*count))
    });
    Err(Error::input(place, format!("no documents found{}; nothing was written", why.unwrap_or_default())))
}

/// Texts to be used as they are read, not to make a corpus of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// One JSON object a line; redirects are left out.
    Jsonl,
    /// One text a line, called after its file and line; an empty line is an empty text.
    Lines,
    /// One text a file, called after the file's path.
    Files,
}

impl TextFormat {
    /// Reads texts batch by batch; `work` runs in parallel, `sink` in the order of the input and tells how many there were
    /// so far.
    pub fn read<R: Send>(
        self,
        inputs: &[PathBuf],
        options: &ImportOptions,
        work: impl Fn(Vec<Document>) -> Result<R> + Sync,
        mut sink: impl FnMut(R) -> Result<u64> + Send,
        watch: Watch<'_>,
    ) -> Result<Losses> {
        let mut losses = Losses::default();
        let work = |mut parsed: Parsed| (work(std::mem::take(&mut parsed.documents)), parsed);
        let sink = |(result, parsed): (Result<R>, Parsed)| {
            refuse_bad(parsed.first_bad.as_ref(), options)?;
            losses.merge(parsed.losses);
            sink(result?)
        };
        in_pool(options.threads, || match self {
            TextFormat::Jsonl => read_lines(inputs, options, |batch| work(jsonl::parse(&batch)), sink, watch),
            TextFormat::Lines => read_lines(inputs, options, |batch| work(lines::texts(&batch)), sink, watch),
            TextFormat::Files => {
                let each = (0..inputs.len()).map(|number| number..number + 1).collect();
                read_pages(inputs.len(), each, |files| work(text_files(&inputs[files])), sink, watch)
            }
        })?;
        Ok(losses)
    }
}

/// Files, each a text.
fn text_files(paths: &[PathBuf]) -> Parsed {
    let mut parsed = Parsed::default();
    for path in paths {
        let place = path.display().to_string();
        let mut bytes = Vec::new();
        let read = source::open(path, Arc::default()).map_err(|error| error.to_string());
        let read = read.and_then(|mut file| file.read_to_end(&mut bytes).map_err(|error| error.to_string()));
        let text =
            read.and_then(|_| String::from_utf8(bytes).map_err(|error| not_utf8(error.utf8_error(), "of the file")));
        match text {
            Ok(text) => {
                let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
                parsed.documents.push(Document { id: place.clone(), text, origin: place, ..Document::default() });
            }
            Err(what) => parsed.bad(place, what),
        }
    }
    parsed
}

fn not_utf8(error: std::str::Utf8Error, of: &str) -> String {
    format!("not UTF-8 (byte {} {of})", error.valid_up_to() + 1)
}

fn refuse_bad(bad: Option<&(String, String)>, options: &ImportOptions) -> Result<()> {
    match bad {
        Some((place, what)) if !options.skip_bad => Err(Error::BadRecord { place: place.clone(), what: what.clone() }),
        _ => Ok(()),
    }
}
