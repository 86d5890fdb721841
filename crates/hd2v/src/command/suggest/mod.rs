//! `hd2v suggest`: where in some files a link belongs, and to what.

mod print;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use hyperdoc2vec::recommend::{DraftFormat, NeverLink};
use hyperdoc2vec::storage::{parent, write_atomically};
use hyperdoc2vec::{Corpus, DocRow, Error, Model, Recommender, SuggestOptions, Suggester, Suggestions};
use rayon::prelude::*;

use super::common::{LONGEST_TEXT, most_threads, named, open_model, probability, read_bounded};
use super::drafts::{format_of, format_of_text, full_path, is_stdin, read_draft};
use crate::output::{count, on_one_line, print as print_out, print_json, print_patch, print_whole, shown, status};

/// Files read by one command, at the most.
const MOST_FILES: usize = 1_000_000;
/// Files worked on before the next are.
const TOGETHER: usize = 256;
/// Where nothing is suggested, this minimum is proposed: few documents with few links have no probable ones.
const IMPROBABLE: f32 = 0.1;

/// How suggestions are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// One line per suggestion: file, line, column, words, target, probability, why
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations for GitHub Actions
    Github,
    /// A patch for `git apply` or `patch -p1`
    Patch,
}

/// Suggest links for drafts: where a link belongs, and to what
#[derive(Args)]
#[command(after_help = "\
Files are Markdown, LaTeX, reStructuredText, HTML, wiki text or plain text, by the ending of the name or --input. No link is \
suggested in code, formulas, headings, quotations or link texts; marks such as `[[?]]`, `[?]`, `[@?]`, `\\cite{?}` and \
`\\cite{TODO}` ask for one. A file is taken for the document of the model whose id is the end of its path. Each document is \
suggested once per file, and not if the file already links to it or if it is dated after the file's own document.

The probability is that of a link at these words, times that of this target; of a mark, that of the target. What is less \
probable than --min-probability is neither printed nor written. Answers to marks do not count for --max.

With --check, the exit code is 0 if nothing is suggested, 1 if anything is, and 2 if a file could not be read or the command \
failed in another way.

Examples:
  hd2v suggest manual.model pages/fetch.md
  hd2v suggest manual.model docs --format patch --min-probability 0.8 > links.patch
  hd2v suggest manual.model pages/new.md --write --max 5 --never-link never.txt
  hd2v suggest papers.model draft.tex --check
  hd2v suggest manual.model docs --orphans")]
pub struct SuggestArgs {
    /// The model file
    model: PathBuf,
    /// Files, or directories of which every file with the ending of a known format is read; `-` is standard input
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,
    /// Print JSON; the same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// The format of the files [default: by the ending of their names]
    #[arg(long, value_name = "FORMAT", value_parser = named::<DraftFormat>())]
    input: Option<DraftFormat>,
    /// Put the links into the files
    #[arg(long)]
    write: bool,
    /// Exit with 1 if anything is suggested, with 2 on failure
    #[arg(long, conflicts_with = "write")]
    check: bool,
    /// The maximum number of suggestions per file, besides answers to marks
    #[arg(long, default_value_t = 20)]
    max: usize,
    /// The minimum probability of a suggestion
    #[arg(long, value_name = "P", default_value_t = 0.5, value_parser = probability)]
    min_probability: f32,
    /// A file of titles, ids, labels and phrases that are never linked, one per line
    #[arg(long, value_name = "FILE")]
    never_link: Option<PathBuf>,
    /// Only links to documents that nothing links to
    #[arg(long)]
    orphans: bool,
    /// Only links to this document
    #[arg(long, value_name = "ID", conflicts_with = "orphans")]
    target: Option<String>,
    /// Also suggest documents dated after the file's own document
    #[arg(long)]
    any_date: bool,
    /// Threads [default: one per core]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = most_threads)]
    threads: usize,
}

pub fn run(arguments: &SuggestArgs) -> Result<()> {
    let files = files(&arguments.paths)?;
    if arguments.write && files.iter().any(|path| is_stdin(path)) {
        let what = "standard input cannot be written to: name the file, or print changes with --format patch";
        return Err(Error::Usage(what.to_owned()).into());
    }
    let model = open_model(&arguments.model)?;
    let suggester = Suggester::new(&model)?;
    let never = match &arguments.never_link {
        Some(path) => NeverLink::read(&String::from_utf8_lossy(&read_bounded(path, LONGEST_TEXT)?)),
        None => NeverLink::default(),
    };
    let mut options = SuggestOptions::default().max(arguments.max).min_probability(arguments.min_probability);
    options = options.beside_files().never_link(never);
    options = options.only(only(&model, arguments.orphans, arguments.target.as_deref())?);
    options.any_date = arguments.any_date;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build();
    let pool = pool.map_err(|error| Error::Threads(error.to_string()))?;
    let alone = files.len() == 1;
    let (mut found, mut unread) = (Vec::new(), 0);
    for part in files.chunks(TOGETHER) {
        let results: Vec<Result<FileResult>> =
            pool.install(|| part.par_iter().map(|path| file(&suggester, path, arguments.input, &options)).collect());
        for (path, result) in part.iter().zip(results) {
            match result {
                Ok(result) => found.push(result),
                Err(error) if alone => return Err(error),
                Err(error) => {
                    unread += u64::from(arguments.paths.contains(path));
                    status(on_one_line(&format!("{}: skipped: {error:#}", path.display())));
                }
            }
        }
    }
    let format = if arguments.json { OutputFormat::Json } else { arguments.format };
    match format {
        OutputFormat::Text => print_out(&print::text(&found))?,
        OutputFormat::Json => print_json(&print::json(&found))?,
        OutputFormat::Sarif => print_json(&print::sarif(&found))?,
        OutputFormat::Github => print_whole(&print::github(&found))?,
        OutputFormat::Patch => print_patch(&print::patch(&found))?,
    }
    let total: usize = found.iter().map(|file| file.found.links.len()).sum();
    let written = if arguments.write { write(&found)? } else { 0 };
    let sum = |of: fn(&Suggestions) -> usize| found.iter().map(|file| of(&file.found)).sum::<usize>();
    let (known, unanswered) = (sum(|found| found.known), sum(|found| found.unanswered));
    let marks = |marks: u64| format!("; {} without an answer that is likely enough", count(marks, "mark"));
    let none = match total {
        0 if known == 0 => "; the model knows no word there".to_owned(),
        0 if arguments.max > 0 && arguments.min_probability > IMPROBABLE => {
            format!("; --min-probability {IMPROBABLE} shows less probable ones")
        }
        _ => String::new(),
    };
    status(format_args!(
        "{} in {}{}{}{none}",
        count(total as u64, "suggestion"),
        count(found.len() as u64, "file"),
        if arguments.write { format!("; {} written", count(written, "file")) } else { String::new() },
        if unanswered > 0 { marks(unanswered as u64) } else { String::new() },
    ));
    if unread > 0 {
        bail!("{} could not be read", count(unread, "file"));
    }
    match arguments.check && total > 0 {
        true => Err(anyhow::Error::msg(MissingLinks(total as u64))),
        false => Ok(()),
    }
}

/// Why a check has not passed.
#[derive(Debug)]
pub struct MissingLinks(u64);

impl std::fmt::Display for MissingLinks {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "links are missing: {}", count(self.0, "suggestion"))
    }
}

impl SuggestArgs {
    /// Whether it is asked whether links are missing: a failure is no answer then.
    pub fn is_check(&self) -> bool {
        self.check
    }
}

/// A file, with the links suggested for it.
struct FileResult {
    path: PathBuf,
    text: String,
    format: DraftFormat,
    found: Suggestions,
}

/// Reads a file and asks for its links.
fn file(
    suggester: &Suggester<'_>,
    path: &Path,
    given: Option<DraftFormat>,
    options: &SuggestOptions,
) -> Result<FileResult> {
    let text = read_draft(path)?;
    let mut options = options.clone();
    options.format = match is_stdin(path) {
        true => format_of_text(&text, given),
        false => format_of(path, given),
    };
    if !is_stdin(path) {
        options = options.path(full_path(path));
    }
    let found = suggester.suggest(&text, &options)?;
    Ok(FileResult { path: path.to_owned(), text, format: options.format, found })
}

/// The documents that may be suggested; all where the list is empty.
fn only(model: &Model, orphans: bool, target: Option<&str>) -> Result<Vec<DocRow>> {
    if let Some(id) = target {
        return Ok(vec![DocRow(Recommender::new(model).document_row(id)? as u32)]);
    }
    if !orphans {
        return Ok(Vec::new());
    }
    let orphans: Vec<DocRow> =
        (0..).zip(model.links_to()).filter(|&(_, &links)| links == 0).map(|(row, _)| DocRow(row)).collect();
    if orphans.is_empty() {
        return Err(anyhow!("{}: every document has a link to it", model.path().display()));
    }
    Ok(orphans)
}

/// Writes the files that change; one that changed since it was read is left alone.
fn write(found: &[FileResult]) -> Result<u64> {
    let mut written = 0;
    for file in found {
        let text = file.found.apply(&file.text);
        if text == file.text {
            continue;
        }
        let now = std::fs::read(&file.path).with_context(|| format!("cannot read {}", file.path.display()))?;
        if now != file.text.as_bytes() {
            status(format_args!("{}: changed meanwhile; not written", shown(&file.path)));
            continue;
        }
        let failed = || format!("cannot write {}", file.path.display());
        // A symbolic link stays one: the file that it leads to is written.
        let path = std::fs::canonicalize(&file.path).with_context(failed)?;
        if Corpus::open(parent(&path)).is_ok() {
            bail!("{}: a file of a corpus; it would be damaged", file.path.display());
        }
        let about = std::fs::metadata(&path).with_context(failed)?;
        let permissions = about.permissions();
        write_atomically::<(), anyhow::Error>(&path, |out| {
            use std::io::Write as _;
            // Before anything is in it: others must not read meanwhile what they may not read.
            out.get_ref().set_permissions(permissions).with_context(failed)?;
            out.write_all(text.as_bytes()).with_context(failed)
        })?;
        written += 1;
        let others = names(&about).saturating_sub(1);
        if others > 0 {
            // To write into the file itself could leave half of it behind.
            let have = if others == 1 { "has" } else { "have" };
            let other = count(others, "other name");
            status(format_args!("{}: {other} (hard links) of the file {have} the text as it was", shown(&file.path)));
        }
    }
    Ok(written)
}

/// How many names a file has.
fn names(about: &std::fs::Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::nlink(about);
    #[cfg(not(unix))]
    {
        let _ = about;
        1
    }
}

/// The files to read: those named, and those of directories, in order.
fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if !is_stdin(path) && path.metadata().with_context(|| format!("cannot read {}", path.display()))?.is_dir() {
            walk(path, &mut files)?;
        } else {
            files.push(path.clone());
        }
    }
    if files.is_empty() {
        bail!(
            "{}: no file there has the ending of a known format (.md, .tex, .rst, .html, .wiki, .txt)",
            paths[0].display()
        );
    }
    Ok(files)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let read = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut entries: Vec<PathBuf> = read.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    entries.sort();
    for path in entries {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        // Links to directories are not followed, so that there is an end.
        let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
        if hidden || files.len() >= MOST_FILES {
            continue;
        }
        if meta.is_dir() {
            walk(&path, files)?;
        } else if meta.is_file() && DraftFormat::of_path(&path.to_string_lossy()).is_some() {
            files.push(path);
        }
    }
    Ok(())
}
