//! `hd2v recommend`: the documents that a text should link to.

mod explain;
mod input;
mod print;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use clap::{ArgGroup, Args, ValueEnum};
use hyperdoc2vec::export::BibFormat;
use hyperdoc2vec::recommend::{DEFAULT_TOP, DraftFormat, Recommender};
use hyperdoc2vec::search::{ApproximateIndex, Ranking, index_path};
use hyperdoc2vec::{Date, Error};

use super::common::{named, open_model, probability};
use crate::output::{print as print_lines, print_bibliography, print_exactly, print_json, print_whole, status};
use crate::{vector_index, wire};

/// How hits are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HitFormat {
    /// A table for people
    Table,
    /// Columns between tabs, with their names first
    Tsv,
    /// Citations to paste, in the syntax of the draft: `\cite{id}`, `[@id]`
    Cite,
    /// A list of links
    Markdown,
    /// A .bib file
    Bibtex,
    /// RIS, for reference managers
    Ris,
    /// CSL-JSON, for Zotero and pandoc
    Csl,
    /// One JSON document
    Json,
}

/// Find the documents that a text should link to
#[derive(Args)]
#[command(
    group(ArgGroup::new("context").required(true).args(["text", "file", "paths"])),
    after_help = "\
A passage (--text, --file, or standard input) is the text around a link, and `[[?]]` marks the place of the link: words near \
it count more, and words beyond the model's window do not count. Without a mark, the whole text counts. With --source or \
--source-file, the hybrid also uses the rest of the document, its date, and the links it already has, before or after this \
passage. The embedding uses only the document's text; bm25 and bm25-cited ignore the source.

A path is a draft in Markdown, LaTeX, reStructuredText, HTML, wiki text or plain text, by the ending of its name or --input. \
Its own links and citations are links, not words, and it is its own source. Every place that asks for a \
link is answered: `[[?]]`, `[?]`, `\\cite{?}`, `\\cite{TODO}`, `[@?]`, up to 1,000 per file. Without one, the \
question is the whole draft. `hd2v suggest` finds where links belong without being asked.

The column `p` is a probability; other columns are named after the ranking whose scores they hold.

Rankings:
  hybrid      the rankings below and more, combined as learnt from links; gives probabilities
  embedding   IN vectors of the words against OUT vectors of the documents
  bm25        words that the text shares with a document's own text
  bm25-cited  words that it shares with a document's own text or with the contexts of links to it

Models with 100,000 documents or more have an index, MODEL.index: the vectors of documents are grouped into lists, and \
only a few lists are searched. It finds nearly all of what a search of all documents does. --index builds it for a \
smaller model or one without, and prints the share that it finds; --no-index searches all documents.

Examples:
  hd2v recommend papers.model --text 'we report the BLEU score [[?]] of each system'
  hd2v recommend papers.model draft.tex --format bibtex --top 3 > found.bib
  hd2v recommend papers.model --file passage.txt --source P07-2045 --before 2007 --json
  hd2v recommend papers.model --text 'scored by BLEU [[?]]' --source-file draft.txt --explain
  pbpaste | hd2v recommend papers.model - --rank bm25-cited --only evaluation
  hd2v recommend papers.model --text 'the BLEU score [[?]]' --no-index"
)]
pub struct RecommendArgs {
    /// The model file
    model: PathBuf,
    /// The text around the link
    #[arg(long)]
    text: Option<String>,
    /// Read the text around the link from a file
    #[arg(long)]
    file: Option<PathBuf>,
    /// Drafts, whose marks are answered one by one; `-` for a passage on standard input
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The format of drafts or passage [default: by the ending of their names]
    #[arg(long, value_name = "FORMAT", value_parser = named::<DraftFormat>())]
    input: Option<DraftFormat>,
    /// The id of the document that contains the text; it is never a hit
    #[arg(long, value_name = "ID")]
    source: Option<String>,
    /// A file with the document that contains the text
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    source_file: Option<PathBuf>,
    /// Number of hits
    #[arg(long, default_value_t = DEFAULT_TOP)]
    top: usize,
    /// Exclude these documents
    #[arg(long, value_name = "ID", num_args = 1..)]
    exclude: Vec<String>,
    /// Only these documents, or documents with one of these labels
    #[arg(long, value_name = "ID-OR-LABEL", num_args = 1..)]
    only: Vec<String>,
    /// Only documents dated before this
    #[arg(long, value_name = "DATE")]
    before: Option<Date>,
    /// The ranking [default: hybrid; bm25-cited if the model has none]
    #[arg(long, value_parser = named::<Ranking>())]
    rank: Option<Ranking>,
    /// Omit documents that are less probable than this (hybrid only)
    #[arg(long, value_name = "P", value_parser = probability)]
    min_probability: Option<f32>,
    /// Build the index if the model has none (with the hybrid or the embedding ranking)
    #[arg(long, conflicts_with = "no_index")]
    index: bool,
    /// Search all documents, even if the model has an index
    #[arg(long)]
    no_index: bool,
    /// Explain the hits: the share of each word in the scores, and similar links to the documents
    #[arg(long)]
    explain: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t = HitFormat::Table)]
    format: HitFormat,
    /// Print one JSON document; the same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl RecommendArgs {
    /// The first hits for a text, explained.
    pub fn explained(model: &Path, text: &str, top: usize) -> RecommendArgs {
        RecommendArgs {
            model: model.to_owned(),
            text: Some(text.to_owned()),
            file: None,
            paths: vec![],
            input: None,
            source: None,
            source_file: None,
            top,
            exclude: vec![],
            only: vec![],
            before: None,
            rank: None,
            min_probability: None,
            index: false,
            no_index: false,
            explain: true,
            format: HitFormat::Table,
            json: false,
        }
    }
}

/// The index, if the ranking can use it and there is one, or one is asked for.
fn index(
    arguments: &RecommendArgs,
    recommender: &Recommender<'_>,
    ranking: Ranking,
) -> Result<Option<ApproximateIndex>> {
    let model = recommender.model();
    if !matches!(ranking, Ranking::Embedding | Ranking::Hybrid) {
        ensure!(!arguments.index, Error::Usage(format!("--index is of no use to {ranking}; leave it out")));
        return Ok(None);
    }
    if arguments.no_index {
        return Ok(None);
    }
    if !arguments.index {
        return vector_index::open(model);
    }
    let index = vector_index::open_or_make(model)?;
    if let Some(index) = &index {
        let path = index_path(model);
        status(format_args!("{}: {}", path.display(), vector_index::recall_text(index, arguments.top)));
    }
    Ok(index)
}

pub fn run(arguments: &RecommendArgs) -> Result<()> {
    let format = if arguments.json { HitFormat::Json } else { arguments.format };
    if arguments.explain && !matches!(format, HitFormat::Table | HitFormat::Json) {
        bail!(Error::Usage(
            "--explain works with the table and with JSON only; leave out --explain or --format".to_owned()
        ));
    }
    let model = open_model(&arguments.model)?;
    let mut recommender = Recommender::new(&model);
    let ranking = recommender.ranking(arguments.rank);
    if let (Some(Ranking::Hybrid), instead @ (Ranking::Bm25Cited | Ranking::Embedding)) = (arguments.rank, ranking) {
        let shown = model.path().display();
        status(format_args!("{shown}: this model has no hybrid ranking; ranking by {instead} instead"));
    }
    if let Some(index) = index(arguments, &recommender, ranking)? {
        recommender = recommender.with_index(index);
    }
    let (places, alone) = input::ask(arguments, &recommender)?;
    let index = || {
        recommender.index().map(|index| wire::IndexUsed {
            recall: vector_index::recall(index, arguments.top),
            questions: index.about().questions,
            lists: index.about().lists,
        })
    };
    let tell_reasons = || places.iter().filter_map(|place| place.answer.reason.as_ref()).for_each(status);
    match format {
        HitFormat::Json => return json(places, alone, index),
        HitFormat::Table => {
            let (text, shaded) = print::tables(&places, alone);
            // Nothing hidden is left but the colours.
            return if shaded { print_exactly(&text) } else { print_lines(&text) };
        }
        _ => tell_reasons(),
    }
    let bibliography = |format| print_bibliography(&print::entries(&places, &model, format), format);
    match format {
        HitFormat::Tsv => print_whole(&print::tsv(&places)),
        HitFormat::Cite => print_whole(&print::cite(&places, alone)),
        HitFormat::Markdown => print_whole(&print::markdown(&places, &model, alone)),
        HitFormat::Bibtex => bibliography(BibFormat::Bibtex),
        HitFormat::Ris => bibliography(BibFormat::Ris),
        _ => bibliography(BibFormat::Csl),
    }
}

/// Prints one answer for one question, a list of places for others; from the types, as the server does, so that numbers
/// have the same digits.
fn json(places: Vec<input::AnsweredPlace>, alone: bool, index: impl Fn() -> Option<wire::IndexUsed>) -> Result<()> {
    let answer = |place: input::AnsweredPlace| {
        let mut answer = wire::AnswerJson::from(place.answer);
        answer.index = index();
        let (line, column, mark) = place.mark.map_or((None, None, None), |(l, c, mark)| (Some(l), Some(c), Some(mark)));
        let path = place.path.map(|path| path.display().to_string());
        wire::PlaceAnswer { path, line, column, mark, answer }
    };
    let mut answers: Vec<wire::PlaceAnswer> = places.into_iter().map(answer).collect();
    match answers.pop() {
        Some(place) if alone => print_json(&place.answer),
        last => {
            answers.extend(last);
            print_json(&wire::PlaceAnswers { answers })
        }
    }
}
