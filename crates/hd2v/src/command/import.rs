//! `hd2v import`: from raw documents to a corpus.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use hyperdoc2vec::Error;
use hyperdoc2vec::import::{self, Format, Import, ImportOptions, ImportReport, Reference, References};

use super::common::{WordArgs, default_max_record, most_threads, refuse_existing, report_result, write_output};
use crate::output::{count, losses, status, thousands};
use crate::progress::{Reporter, stop_on_interrupt};

/// Make a corpus from documents in some format
#[derive(Args)]
#[command(after_help = "\
Formats:
  jsonl     one JSON object per line: {\"id\": …, \"text\": \"… [its words][[other id]] …\", \"title\", \"date\", \"language\", \"labels\", \"url\"}
  lines     one document per line, as the paper's authors have it: ID word word =-=ID1,ID2-=- word …
  html      directories of pages, as a web server, Sphinx, mdBook or rustdoc writes them
  markdown  directories of .md files with links, wiki links and front matter
  mediawiki dumps of a wiki, such as enwiki-…-pages-articles-multistream.xml.bz2: articles, links, redirects, categories
  tei       papers as GROBID writes them: directories of .xml files
  jats      papers as PubMed Central and publishers give them: directories of .xml or .nxml files, each with one or many
  latex     papers as sources: a directory with one folder (or one .tex file) a paper, with its .bbl or .bib
  papers    directories of papers as plain text, ID.txt, and a table of metadata (--metadata)
  s2orc     S2ORC: metadata and pdf_parses shards, or the s2orc and papers files of the datasets API
  unarxive  unarXive of 2022: one paper a line

Papers cite by marks; a mark becomes a link if the entry of the bibliography that it names is found to be a paper of the
set, by DOI, PubMed, arXiv or ACL id, or by title, year and first author. --report shows what was found and what not,
--references every entry.

Examples:
  hd2v import jsonl papers.jsonl.zst -o papers.corpus
  zcat papers.jsonl.gz | hd2v import jsonl - -o papers.corpus
  hd2v import html site/ --exclude 'src/**' -o site.corpus
  hd2v import markdown notes/ --jsonl notes.jsonl
  hd2v import mediawiki simplewiki-latest-pages-articles-multistream.xml.bz2 -o simplewiki.corpus
  hd2v import tei grobid-output/ --report report.json -o papers.corpus
  hd2v import papers texts/ --metadata papers.csv --report report.json -o papers.corpus")]
pub struct ImportArgs {
    /// Format of the input: jsonl, lines, html, markdown, mediawiki, tei, jats, latex, papers, s2orc, unarxive
    format: Format,
    /// Files or directories; .gz .zst .bz2 .xz are read as they are; `-` is standard input (jsonl, lines, mediawiki)
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The corpus directory to write
    #[arg(short, long, required_unless_present = "jsonl")]
    output: Option<PathBuf>,
    /// Write the documents as jsonl to this file (`-` for stdout), device or pipe instead of a corpus
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    jsonl: Option<PathBuf>,
    /// Write what was read, lost and found out, with samples, to this file as JSON (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Papers: write every entry of every bibliography, and what became of it, to this file, one JSON object per line (`-` for stdout)
    #[arg(long, value_name = "FILE")]
    references: Option<PathBuf>,
    #[command(flatten)]
    words: WordArgs,
    /// Directories: read only pages that match; `**` stands for any folders, a folder's name for all below it
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,
    /// Directories: leave out pages that match; for html, print, search and index pages and sources are left out anyway
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// html, markdown: web address of the directory, so that full addresses below it are links to its pages
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// mediawiki: number or English name of a namespace whose pages are read (0 are articles, 14 categories); may be given several times
    #[arg(long, value_name = "N", default_value = "0", allow_negative_numbers = true, value_parser = import::parse_namespace)]
    namespace: Vec<i32>,
    /// papers: the table, csv, tsv or jsonl with the columns id, title, authors, year; doi, arxiv, pmid, acl, labels, url, language, file may be there
    #[arg(long, value_name = "TABLE")]
    metadata: Option<PathBuf>,
    /// Leave out records that cannot be read, and count them, rather than stop at the first
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
    let mut options = ImportOptions::default();
    options.corpus = arguments.words.options();
    options.threads = arguments.threads;
    options.skip_bad = arguments.skip_bad;
    options.longest_line = (arguments.max_record as usize) << 20;
    options.force = arguments.words.force;
    options.include.clone_from(&arguments.include);
    options.exclude.clone_from(&arguments.exclude);
    options.base_url.clone_from(&arguments.base_url);
    options.namespaces.clone_from(&arguments.namespace);
    options.metadata.clone_from(&arguments.metadata);
    for file in [&arguments.report, &arguments.references].into_iter().flatten() {
        refuse_existing(file, arguments.words.force || file.as_os_str() == "-")?;
    }
    stop_on_interrupt();
    if let Some(jsonl) = &arguments.jsonl {
        return write_jsonl(arguments, jsonl, &options);
    }
    let output = arguments.output.as_deref().context("--output is missing")?;
    let mut reporter = Reporter::new();
    let (corpus, report) = with_references(arguments, &mut |each| {
        let import = import(arguments, &options).each_reference(each).watch(|p| reporter.watch(p));
        Ok(import.build_with_report(output)?)
    })?;
    let seconds = reporter.finish();
    report_references(&report.references);
    report_result(&corpus, seconds);
    write_report(arguments, &report)
}

fn import<'a>(arguments: &ImportArgs, options: &ImportOptions) -> Import<'a> {
    Import::files(arguments.format, &arguments.paths).options(options.clone())
}

/// Takes a bibliography entry and what became of it.
type EachReference<'a> = &'a mut (dyn FnMut(&Reference) -> hyperdoc2vec::Result<()> + Send);

/// Imports, and writes what became of every reference, if that is wanted.
fn with_references<T>(arguments: &ImportArgs, import: &mut dyn FnMut(EachReference<'_>) -> Result<T>) -> Result<T> {
    let Some(path) = &arguments.references else { return import(&mut |_| Ok(())) };
    write_output(path, arguments.words.force, &mut |out| {
        import(&mut |reference| {
            let line = serde_json::to_vec(reference).map_err(std::io::Error::from);
            line.and_then(|line| out.write_all(&[&line[..], b"\n"].concat())).map_err(Error::io("write", path))
        })
    })
}

/// What became of the references, on stderr, in formats that have any.
fn report_references(references: &References) {
    if references.is_empty() {
        return;
    }
    let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
    let (found, entries) = (references.entries_resolved(), references.entries());
    let (linked, marks) = (references.mark_linked, references.marks());
    status(format_args!(
        "{} of {} found in the set ({:.1} %); {} of {} linked ({:.1} %)",
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
    write_output(path, arguments.words.force, &mut |out| {
        serde_json::to_writer_pretty(&mut *out, report).with_context(|| format!("cannot write {}", path.display()))?;
        writeln!(out).with_context(|| format!("cannot write {}", path.display()))
    })
}

fn write_jsonl(arguments: &ImportArgs, path: &Path, options: &ImportOptions) -> Result<()> {
    let mut reporter = Reporter::new();
    let report = write_output(path, arguments.words.force, &mut |out| {
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
