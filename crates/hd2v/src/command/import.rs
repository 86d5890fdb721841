//! `hd2v import`: from raw documents to a corpus.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use hyperdoc2vec::document::visible_json;
use hyperdoc2vec::import::pdf::TextCommand;
use hyperdoc2vec::import::{self, Format, Import, ImportOptions, ImportReport, Reference, References};
use hyperdoc2vec::{Error, Shard};

use super::common::{WordArgs, default_max_record, most_threads, report_result};
use super::destination::{Destination, OutputKind, check};
use crate::advice::on_import;
use crate::output::{count, losses, status, thousands};
use crate::progress::{Reporter, stop_on_interrupt};
use crate::recognise::format_named;

/// Make a corpus from documents
#[derive(Args)]
#[command(after_help = "\
Formats:
  jsonl     one JSON object per line: {\"id\": …, \"text\": \"… [anchor][[other id]] …\",
            \"title\", \"date\", \"language\", \"labels\", \"url\"}
  lines     the format of the paper's authors, one document per line: ID word =-=ID1,ID2-=- word …
  html      directories of pages, as web servers, Sphinx, mdBook or rustdoc produce them
  markdown  directories of .md files with links, wiki links and front matter
  rst       directories of .rst files, as Sphinx reads them, and the .md files beside them
  mediawiki dumps of a wiki, such as enwiki-…-pages-articles-multistream.xml.bz2
  tei       papers parsed by GROBID: directories of .xml files
  jats      papers from PubMed Central and publishers: directories of .xml or .nxml files
  latex     sources: a directory with one folder (or .tex file) per paper, with its .bbl or .bib
  library   a bibliography (.bib, CSL .json, Zotero's .csv, .ris, or Zotero's data directory) and
            the files it names
  pdf       directories of PDFs
  papers    directories of plain-text papers, ID.txt, with a table of metadata (--metadata)
  s2orc     metadata and pdf_parses shards, or the s2orc and papers files of the datasets API
  openalex  works of OpenAlex: one JSON object per line, as in its snapshot
  unarxive  unarXive 2022: one paper per line

In papers, a citation mark becomes a link if the bibliography entry it refers to matches a paper of the set, by DOI, \
PubMed, arXiv or ACL id, or by title, year and first author. --report summarises which entries matched and which did not; \
--references lists every entry.

Examples:
  hd2v import jsonl papers.jsonl.zst -o papers.corpus
  zcat papers.jsonl.gz | hd2v import jsonl - -o papers.corpus
  hd2v import html site/ --exclude 'src/**' -o site.corpus
  hd2v import markdown notes/ --jsonl notes.jsonl
  hd2v import mediawiki simplewiki-latest-pages-articles-multistream.xml.bz2 -o simplewiki.corpus
  hd2v import tei grobid-output/ --report report.json -o papers.corpus
  hd2v import library refs.bib -o refs.corpus
  hd2v import library refs.bib --files ~/papers -o refs.corpus
  hd2v import pdf papers/ -o papers.corpus
  hd2v import papers texts/ --metadata papers.csv --report report.json -o papers.corpus
  hd2v import jsonl papers/*.jsonl.zst --shard 2/7 -o papers-2.part")]
pub struct ImportArgs {
    /// Format of the input (see below)
    #[arg(value_parser = format_named)]
    format: Format,
    /// Files or directories; .gz .zst .bz2 .xz are decompressed; `-` for stdin (jsonl, lines, mediawiki)
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The corpus directory to write; with --shard, the part
    #[arg(short, long, required_unless_present = "jsonl")]
    output: Option<PathBuf>,
    /// Write jsonl to this file (`-` for stdout) instead of a corpus
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    jsonl: Option<PathBuf>,
    /// Read only shard I of N (1/N to N/N) and write a part; `hd2v merge` makes the corpus of all N parts
    #[arg(long, value_name = "I/N", conflicts_with_all = ["jsonl", "report"])]
    shard: Option<Shard>,
    /// Write a JSON report of counts, losses and matched references, with samples, to this file (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Papers: write every bibliography entry and how it was matched to this file, one JSON object per line (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    references: Option<PathBuf>,
    #[command(flatten)]
    words: WordArgs,
    /// Directories: read only matching pages; `**` matches any folders, a folder's name everything below it
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,
    /// Directories: skip matching pages; for html, print, search and index pages and source listings are always skipped
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// html, markdown: web address of the directory; absolute links below it become links to its pages
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// html: whether links inside code listings and signatures become links (`--code-links=false` for API documentation)
    #[arg(long, value_name = "BOOL", default_value_t = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, action = clap::ArgAction::Set)]
    code_links: bool,
    /// html, markdown, rst: make documents of sections, too (headings and definitions with an anchor), so that links to a part are learnt and suggested
    #[arg(long)]
    sections: bool,
    /// mediawiki: number or English name of a namespace to read (0 for articles, 14 for categories); may be repeated
    #[arg(long, value_name = "N", default_value = "0", allow_negative_numbers = true, value_parser = import::parse_namespace)]
    namespace: Vec<i32>,
    /// papers: table of metadata (csv, tsv or jsonl) with the columns id, title, authors, year and optionally doi, arxiv, pmid, acl, labels, url, language, file
    #[arg(long, value_name = "TABLE")]
    metadata: Option<PathBuf>,
    /// library: directory in which files are looked for by name, cite key, DOI or title; may be repeated
    #[arg(long, value_name = "DIR")]
    files: Vec<PathBuf>,
    /// library, pdf: whether works that are cited, but are not there, become documents [default: yes for library]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    cited_works: Option<bool>,
    /// library, pdf: address of a GROBID server that reads the PDFs, such as http://localhost:8070
    #[arg(long, value_name = "URL")]
    grobid: Option<String>,
    /// library, pdf: how PDFs are read without GROBID; pdftotext if it is installed, else built-in [default: auto]
    #[arg(long, value_name = "READER", value_parser = ["auto", "pdftotext", "built-in"], default_value = "auto", hide_default_value = true)]
    pdf_reader: String,
    /// library, pdf: directory that keeps the text of PDFs, so that none is read twice [default: OUTPUT.texts]
    #[arg(long, value_name = "DIR")]
    texts: Option<PathBuf>,
    /// Skip and count records that cannot be read, instead of stopping at the first
    #[arg(long)]
    skip_bad: bool,
    /// Longest line of jsonl and lines, longest page of mediawiki, in MiB
    #[arg(long, default_value_t = default_max_record(), value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=4095))]
    max_record: u32,
    /// Threads [default: one per core]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = most_threads)]
    threads: usize,
}

pub fn run(arguments: &ImportArgs) -> Result<()> {
    import_documents(arguments).map_err(|error| {
        let advice = error.downcast_ref().and_then(|error| on_import(error, arguments.format, &arguments.paths));
        advice.map_or(error, anyhow::Error::msg)
    })
}

fn import_documents(arguments: &ImportArgs) -> Result<()> {
    let mut options = ImportOptions::default();
    options.corpus = arguments.words.options();
    options.threads = arguments.threads;
    options.skip_bad = arguments.skip_bad;
    options.longest_line = (arguments.max_record as usize) << 20;
    options.force = arguments.words.force;
    options.include.clone_from(&arguments.include);
    options.exclude.clone_from(&arguments.exclude);
    options.base_url.clone_from(&arguments.base_url);
    options.code_links = arguments.code_links;
    options.sections = arguments.sections;
    options.namespaces.clone_from(&arguments.namespace);
    options.metadata.clone_from(&arguments.metadata);
    options.files.clone_from(&arguments.files);
    options.cited_works = arguments.cited_works;
    options.shard = arguments.shard;
    options.pdf.grobid.clone_from(&arguments.grobid);
    if matches!(arguments.format, Format::Library | Format::Pdf) {
        options.pdf.commands = pdf_commands(&arguments.pdf_reader)?;
        options.pdf.titles = Some(own_command("titles", &["--titles"])?);
        options.pdf.texts = arguments.texts.clone().or_else(|| Some(beside(arguments.output.as_deref()?)));
        texts_elsewhere(options.pdf.texts.as_deref(), arguments.output.as_deref())?;
    }
    check_outputs(arguments)?;
    stop_on_interrupt();
    if let Some(jsonl) = &arguments.jsonl {
        return write_jsonl(arguments, jsonl, &options);
    }
    let output = arguments.output.as_deref().context("--output is missing")?;
    let mut reporter = Reporter::new();
    if let Some(shard) = arguments.shard {
        let report = with_references(arguments, &mut |each| {
            let import = import(arguments, &options).each_reference(each).watch(|p| reporter.watch(p));
            Ok(import.write_part(output)?)
        })?;
        let seconds = reporter.finish();
        report_references(&report.references);
        let (lost, documents) = (losses(&report.losses, 3), count(report.documents, "document"));
        status(format_args!("{lost}{}: shard {shard}, {documents}; {seconds:.1} s", output.display()));
        return Ok(());
    }
    let (corpus, report) = with_references(arguments, &mut |each| {
        let import = import(arguments, &options).each_reference(each).watch(|p| reporter.watch(p));
        Ok(import.build_with_report(output)?)
    })?;
    let seconds = reporter.finish();
    report_references(&report.references);
    report_result(&corpus, seconds);
    write_report(arguments, &report)
}

/// Fails if texts would be kept where the corpus is written.
fn texts_elsewhere(texts: Option<&Path>, output: Option<&Path>) -> Result<()> {
    if let (Some(texts), Some(output)) = (texts, output)
        && (texts == output || texts.canonicalize().ok().is_some_and(|real| output.canonicalize().ok() == Some(real)))
    {
        bail!("{}: the text of PDFs is kept here; choose another name for the corpus", output.display());
    }
    Ok(())
}

/// The directory of texts that stands beside a corpus: `papers.texts` beside `papers.corpus`.
fn beside(corpus: &Path) -> PathBuf {
    corpus.with_extension("texts")
}

/// Commands that print the text of a PDF, the best first: pdftotext if it is there, and this program.
///
/// The order in which a file has its text (`-raw`) keeps the entries of a list of references whole, which pdftotext's own
/// order does not where lists have two columns, and loses no more sentences. Where a file has its columns mixed, that
/// order comes next.
fn pdf_commands(reader: &str) -> Result<Vec<TextCommand>> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let name = format!("pdftotext{}", std::env::consts::EXE_SUFFIX);
    let found = std::env::split_paths(&folders).map(|folder| folder.join(&name)).find(|path| path.is_file());
    let found = found.filter(|_| reader != "built-in");
    if found.is_none() && reader == "pdftotext" {
        let what = "pdftotext is not installed (package poppler-utils, or poppler); --pdf-reader built-in does without";
        return Err(Error::Usage(what.to_owned()).into());
    }
    let in_order_of = |name: &str, order: &[&str]| {
        let arguments = order.iter().chain(&["-q", "-enc", "UTF-8", "{}", "-"]).copied();
        found.as_ref().map(|program| TextCommand::new(name, program, arguments))
    };
    let pdftotext = [in_order_of("pdftotext-raw", &["-raw"]), in_order_of("pdftotext", &[])];
    let own = own_command("built-in", &[])?;
    Ok(pdftotext.into_iter().flatten().chain([own]).collect())
}

/// This program, as the built-in reader of PDFs.
fn own_command(name: &str, options: &[&str]) -> Result<TextCommand> {
    let own = crate::PROGRAM.get().and_then(|program| program.split_first());
    let (own, first) = own.context("cannot find this program")?;
    let arguments = first.iter().map(|argument| argument.to_string_lossy().into_owned());
    let ours = ["pdf-text"].iter().chain(options).chain(&["{}"]).map(|&argument| argument.to_owned());
    Ok(TextCommand::new(name, own, arguments.chain(ours)))
}

/// Checks all outputs before anything is read.
fn check_outputs(arguments: &ImportArgs) -> Result<()> {
    let corpus = arguments.output.as_deref();
    let corpus = corpus.map(|path| Destination {
        path,
        kind: if arguments.shard.is_some() { OutputKind::Part } else { OutputKind::Corpus },
        force: arguments.words.force,
    });
    let files = [
        (&arguments.jsonl, OutputKind::Documents),
        (&arguments.report, OutputKind::ImportReport),
        (&arguments.references, OutputKind::References),
    ];
    let files = files.into_iter().filter_map(|(path, kind)| Some(json_output(arguments, path.as_deref()?, kind)));
    let outputs: Vec<Destination<'_>> = corpus.into_iter().chain(files).collect();
    // An output may stand in a directory of documents, which is not read as one. These formats read whatever JSON is
    // below a directory, so that what is there already is an input.
    let closed = matches!(arguments.format, Format::S2orc | Format::Unarxive | Format::OpenAlex)
        && outputs.iter().any(|output| output.path.is_file());
    let inputs = arguments.paths.iter().chain(&arguments.metadata).filter(|path| closed || !path.is_dir());
    check(&outputs, &inputs.map(PathBuf::as_path).collect::<Vec<_>>())
}

fn json_output<'a>(arguments: &ImportArgs, path: &'a Path, kind: OutputKind) -> Destination<'a> {
    Destination { path, kind, force: arguments.words.force }
}

fn import<'a>(arguments: &ImportArgs, options: &ImportOptions) -> Import<'a> {
    Import::files(arguments.format, &arguments.paths).options(options.clone())
}

/// Takes a bibliography entry and its outcome.
type EachReference<'a> = &'a mut (dyn FnMut(&Reference) -> hyperdoc2vec::Result<()> + Send);

/// Runs an import, and writes every reference if `--references` was given.
fn with_references<T>(arguments: &ImportArgs, import: &mut dyn FnMut(EachReference<'_>) -> Result<T>) -> Result<T> {
    let Some(path) = &arguments.references else { return import(&mut |_| Ok(())) };
    json_output(arguments, path, OutputKind::References).write(&mut |out| {
        import(&mut |reference| {
            let line = serde_json::to_string(reference).map_err(std::io::Error::from);
            line.and_then(|line| writeln!(out, "{}", visible_json(&line))).map_err(Error::io("write", path))
        })
    })
}

/// Prints the outcome of references on stderr, for formats that have any.
fn report_references(references: &References) {
    if references.is_empty() {
        return;
    }
    let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
    let (found, entries) = (references.entries_resolved(), references.entries());
    let (linked, marks) = (references.mark_linked, references.marks());
    status(format_args!(
        "{} of {} matched to a paper of the set ({:.1} %); {} of {} linked ({:.1} %)",
        thousands(found),
        count(entries, "reference"),
        percent(found, entries),
        thousands(linked),
        count(marks, "citation mark"),
        percent(linked, marks),
    ));
}

fn write_report(arguments: &ImportArgs, report: &ImportReport) -> Result<()> {
    let Some(path) = &arguments.report else { return Ok(()) };
    json_output(arguments, path, OutputKind::ImportReport).write(&mut |out| {
        let json = serde_json::to_string_pretty(report)?;
        writeln!(out, "{}", visible_json(&json)).with_context(|| format!("cannot write {}", path.display()))
    })
}

fn write_jsonl(arguments: &ImportArgs, path: &Path, options: &ImportOptions) -> Result<()> {
    let mut reporter = Reporter::new();
    let report = json_output(arguments, path, OutputKind::Documents).write(&mut |out| {
        with_references(arguments, &mut |each| {
            let import = import(arguments, options).each_reference(each).watch(|p| reporter.watch(p));
            Ok(import.write_jsonl(out)?)
        })
    })?;
    let seconds = reporter.finish();
    report_references(&report.references);
    let (lost, documents) = (losses(&report.losses, 3), count(report.documents, "document"));
    status(format_args!("{lost}{}: {documents}; {seconds:.1} s", path.display()));
    write_report(arguments, &report)
}
