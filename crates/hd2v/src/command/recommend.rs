//! `hd2v recommend`: the documents that a text should link to.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::{ArgGroup, Args};
use hyperdoc2vec::model::Sidecar;
use hyperdoc2vec::recommend::{DEFAULT_TOP, DocumentHit, QuerySummary, Question, Recommender, Why, WordShares};
use hyperdoc2vec::search::{ApproximateIndex, INDEX_DEPTHS, Ranking, index_path};
use hyperdoc2vec::{Date, Error};

use super::common::{hits_table, named, open_model};
use crate::output::{cell, print, print_exactly, print_json, status, thousands};
use crate::wire;
use crate::wire_from::context_text;

/// Find the documents that a text should link to
#[derive(Args)]
#[command(
    group(ArgGroup::new("context").required(true).args(["text", "file", "stdin"])),
    after_help = "\
The text is the passage around the link, and `[[?]]` marks the place of the link: words near it count more, and words \
beyond the model's window do not count. Without a mark, the whole text counts. With --source or --source-file, the hybrid \
also uses the rest of the document, its date, and the links it already has, before or after this passage. The embedding \
uses only the document's text; bm25 and bm25-cited ignore the source.

Rankings:
  hybrid      the rankings below and more, combined as learnt from links; gives probabilities
  embedding   IN vectors of the words against OUT vectors of the documents
  bm25        words that the text shares with a document's own text
  bm25-cited  words that it shares with a document's own text or with the contexts of links to it

--index speeds up the embedding ranking on models with 100,000 documents or more: documents are grouped into lists, and \
only a few lists are searched. The index is built on first use and kept beside the model as MODEL.index. It finds nearly \
all of the exact hits; the share is printed. With --only or --before, all documents are searched.

Examples:
  hd2v recommend papers.model --text 'we report the BLEU score [[?]] of each system'
  hd2v recommend papers.model --file draft.txt --source P07-2045 --before 2007 --json
  hd2v recommend papers.model --text 'scored by BLEU [[?]]' --source-file draft.txt --explain
  pbpaste | hd2v recommend papers.model - --rank bm25-cited --only evaluation
  hd2v recommend papers.model --text 'the BLEU score [[?]]' --rank embedding --index"
)]
pub struct RecommendArgs {
    /// The model file
    model: PathBuf,
    /// The text around the link
    #[arg(long)]
    text: Option<String>,
    /// Read the text from a file
    #[arg(long)]
    file: Option<PathBuf>,
    /// Read the text from standard input
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true)]
    stdin: Option<String>,
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
    /// Search only part of the documents, by an index that is built on first use (with --rank embedding)
    #[arg(long)]
    index: bool,
    /// Explain the hits: the share of each word in the scores, and similar links to the documents
    #[arg(long)]
    explain: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl RecommendArgs {
    /// The first hits for a text, explained.
    pub fn explained(model: &Path, text: &str, top: usize) -> RecommendArgs {
        RecommendArgs {
            model: model.to_owned(),
            text: Some(text.to_owned()),
            file: None,
            stdin: None,
            source: None,
            source_file: None,
            top,
            exclude: vec![],
            only: vec![],
            before: None,
            rank: None,
            min_probability: None,
            index: false,
            explain: true,
            json: false,
        }
    }
}

pub fn run(arguments: &RecommendArgs) -> Result<()> {
    let model = open_model(&arguments.model)?;
    let question = question(arguments)?;
    let mut recommender = Recommender::new(&model);
    let ranking = recommender.ranking(question.rank);
    if let (Some(Ranking::Hybrid), instead @ (Ranking::Bm25Cited | Ranking::Embedding)) = (question.rank, ranking) {
        let shown = model.path().display();
        status(format_args!("{shown}: this model has no hybrid ranking; ranking by {instead} instead"));
    }
    if let Some(index) = index(arguments, &recommender, ranking)? {
        recommender = recommender.with_index(index);
    }
    let answer = recommender.ask(&question)?;
    if arguments.json {
        let mut answer = wire::AnswerJson::from(answer);
        answer.index = recommender.index().map(|index| wire::IndexUsed {
            recall: recall(index, arguments.top),
            questions: index.about().questions,
            lists: index.about().lists,
        });
        return print_json(&answer);
    }
    if let Some(reason) = &answer.reason {
        status(reason);
    }
    let row = |hit: &'_ DocumentHit| (hit.score, hit.id.clone(), hit.title.clone().unwrap_or_default());
    let table = hits_table(&answer.hits.iter().map(row).collect::<Vec<_>>());
    if !arguments.explain {
        return print(&table);
    }
    let [no_color, term] = ["NO_COLOR", "TERM"].map(std::env::var_os);
    let shade = shades(std::io::stdout().is_terminal(), no_color.as_deref(), term.as_deref());
    let mut out = String::new();
    for (line, hit) in table.lines().zip(&answer.hits) {
        out.push_str(line);
        out.push('\n');
        out.push_str(&hit.why.as_ref().map(|why| why_text(&answer.query, why, shade)).unwrap_or_default());
    }
    // Nothing hidden is left but the colours.
    if shade { print_exactly(&out) } else { print(&out) }
}

fn probability(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(p) if (0.0..=1.0).contains(&p) => Ok(p),
        _ => Err("expected a probability from 0 to 1".to_owned()),
    }
}

/// The index, if it is asked for, built if it does not exist. `None` if all documents are to be searched.
fn index(
    arguments: &RecommendArgs,
    recommender: &Recommender<'_>,
    ranking: Ranking,
) -> Result<Option<ApproximateIndex>> {
    if !arguments.index {
        return Ok(None);
    }
    if ranking != Ranking::Embedding {
        let why = format!("--index is for the embedding ranking, not for {ranking}; add --rank embedding");
        bail!(Error::Usage(why));
    }
    if !recommender.rankings().contains(&Ranking::Embedding) {
        // The answer gives the reason.
        return Ok(None);
    }
    let most = INDEX_DEPTHS[1];
    let reason = match () {
        () if !arguments.only.is_empty() || arguments.before.is_some() => {
            Some("--only or --before is given".to_owned())
        }
        () if arguments.top > most => Some(format!("more than {most} hits are wanted")),
        () => None,
    };
    if let Some(reason) = reason {
        status(format_args!("--index is not used: {reason}, so all documents are searched"));
        return Ok(None);
    }
    let model = recommender.model();
    let path = index_path(model);
    let shown = path.display();
    let why = match ApproximateIndex::open(model, &path)? {
        Sidecar::Whole(index) => {
            status(format_args!("{shown}: {}", recall_text(&index, arguments.top)));
            return Ok(Some(index));
        }
        Sidecar::Missing => String::new(),
        Sidecar::Stale => " again: it belongs to another model".to_owned(),
        Sidecar::Damaged(what) => format!(" again: it is damaged ({what})"),
        Sidecar::Foreign(what) => bail!(Error::Foreign { path, what }),
    };
    status(format_args!("{shown}: building the index{why} …"));
    let started = Instant::now();
    let index = ApproximateIndex::build(model, &path)?;
    let seconds = started.elapsed().as_secs_f64();
    status(format_args!("{shown}: built in {seconds:.1} s; {}", recall_text(&index, arguments.top)));
    Ok(Some(index))
}

/// The share of the exact hits that an index finds, as a sentence.
fn recall_text(index: &ApproximateIndex, wanted: usize) -> String {
    let (found, questions) = (100.0 * recall(index, wanted), thousands(index.about().questions as u64));
    format!("it finds {found:.1} % of the exact hits, measured on {questions} questions")
}

/// Words of the text shown on each side of the mark.
const SHOWN_WORDS: usize = 15;
/// Terms of BM25 that are shown.
const SHOWN_TERMS: usize = 6;

/// The explanation below a hit.
fn why_text(query: &QuerySummary, why: &Why, shade: bool) -> String {
    let mut out = String::new();
    let shares: BTreeMap<&str, f32> =
        why.embedding.shares.iter().map(|(word, share)| (word.as_str(), *share)).collect();
    let most = shares.values().fold(0.0f32, |most, share| most.max(share.abs()));
    if !shares.is_empty() && shade {
        let (words, before) = (&query.words, query.before);
        let start = before.saturating_sub(SHOWN_WORDS);
        let end = (before + if query.marked { SHOWN_WORDS } else { 2 * SHOWN_WORDS }).min(words.len());
        let words = words[start..end].iter().map(|word| {
            let share = shares.get(word.as_str()).copied().unwrap_or(0.0);
            shaded(&cell(word), share / most.max(1e-9))
        });
        let mut words: Vec<String> = words.collect();
        if query.marked {
            words.insert(before - start, "[[?]]".to_owned());
        }
        out.push_str(&format!("     words  {}\n", words.join(" ")));
    }
    let list = |sum: &WordShares| {
        let shown = sum.shares.iter().take(SHOWN_TERMS);
        let shown: Vec<String> = shown.map(|(word, share)| format!("{} {share:+.3}", cell(word))).collect();
        let more = sum.shares.len().saturating_sub(SHOWN_TERMS);
        let more = if more > 0 { format!(", {more} more") } else { String::new() };
        format!("{:.3} = {}{more}", sum.score, shown.join(", "))
    };
    for (name, sum) in [("embedding", &why.embedding), ("bm25", &why.bm25)] {
        if !sum.shares.is_empty() {
            out.push_str(&format!("     {name}  {}\n", list(sum)));
        }
    }
    if why.source != 0.0 {
        out.push_str(&format!("     source  {:+.3} by embedding\n", why.source));
    }
    for quote in &why.contexts {
        let title = quote.title.as_ref().unwrap_or(&quote.source);
        let words: Vec<String> = context_text(quote).split_whitespace().map(cell).collect();
        out.push_str(&format!("     linked by {}: {}\n", cell(title), words.join(" ")));
    }
    out
}

/// A word on a green background if its share is positive, on red if negative; `share` is from −1 to 1.
fn shaded(word: &str, share: f32) -> String {
    // Shades from the 256 colours of terminals, faint to strong, with white or black text: legible on any background.
    const WHITE: u8 = 15;
    const BLACK: u8 = 16;
    let level = ((share.abs() * 4.0).round() as usize).min(4);
    let (colour, text) = match (level, share > 0.0) {
        (0, _) => return word.to_owned(),
        (level, true) => [(22, WHITE), (28, WHITE), (34, BLACK), (40, BLACK)][level - 1],
        (level, false) => [(52, WHITE), (88, WHITE), (124, WHITE), (160, WHITE)][level - 1],
    };
    format!("\x1b[48;5;{colour};38;5;{text}m{word}\x1b[0m")
}

/// Whether words are shaded: on terminals with colours, unless NO_COLOR is set.
fn shades(terminal: bool, no_color: Option<&OsStr>, term: Option<&OsStr>) -> bool {
    terminal && no_color.is_none_or(OsStr::is_empty) && term.is_none_or(|term| term != "dumb")
}

/// The question that the arguments ask.
fn question(arguments: &RecommendArgs) -> Result<Question> {
    let mut question = Question::new(text(arguments)?)
        .top(arguments.top)
        .exclude(arguments.exclude.iter().cloned())
        .only(arguments.only.iter().cloned());
    question.source.clone_from(&arguments.source);
    question.source_text = arguments.source_file.as_deref().map(read).transpose()?;
    (question.rank, question.before) = (arguments.rank, arguments.before);
    (question.min_probability, question.explain) = (arguments.min_probability, arguments.explain);
    Ok(question)
}

/// The share of the exact hits that an index finds.
fn recall(index: &ApproximateIndex, wanted: usize) -> f64 {
    index.about().recall[usize::from(wanted > INDEX_DEPTHS[0])]
}

fn text(arguments: &RecommendArgs) -> Result<String> {
    let stdin = || {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        utf8(bytes, "standard input")
    };
    match (&arguments.text, &arguments.file) {
        (Some(text), _) => Ok(text.clone()),
        (None, Some(path)) if path != Path::new("-") => read(path),
        _ => stdin(),
    }
}

fn read(path: &Path) -> Result<String> {
    let shown = path.display().to_string();
    utf8(std::fs::read(path).with_context(|| format!("cannot read {shown}"))?, &shown)
}

fn utf8(bytes: Vec<u8>, place: &str) -> Result<String> {
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        anyhow::anyhow!("{place}: expected UTF-8, found something else at byte {at}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_shaded_by_their_size_and_sign() {
        assert_eq!(shaded("word", 0.1), "word");
        assert_eq!(shaded("word", 1.0), "\x1b[48;5;40;38;5;16mword\x1b[0m");
        assert_eq!(shaded("word", 0.3), "\x1b[48;5;22;38;5;15mword\x1b[0m");
        assert_eq!(shaded("word", -0.5), "\x1b[48;5;88;38;5;15mword\x1b[0m");
        assert_eq!(shaded("word", f32::NAN), "word");
    }

    #[test]
    fn only_a_terminal_is_shaded_and_not_against_ones_will() {
        let set = |value: &'static str| Some(OsStr::new(value));
        assert!(shades(true, None, None) && shades(true, set(""), set("xterm-256color")));
        assert!(!shades(false, None, None) && !shades(true, set("1"), None) && !shades(true, None, set("dumb")));
    }
}
