//! Questions: passages and drafts, with the places in them that ask for a link.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use hyperdoc2vec::Error;
use hyperdoc2vec::recommend::{
    Answer, DocumentNames, Draft, DraftFormat, DraftLocation, MOST_PLACES, Question, Recommender,
};

use super::RecommendArgs;
use crate::command::common::{LONGEST_TEXT, read_all, read_bounded};
use crate::command::drafts::{format_of, format_of_text, full_path, is_stdin, read_draft};
use crate::draft_lines::DraftLines;
use crate::output::{shown, status, thousands};

/// A place that asks for a link, with its answer.
pub struct AnsweredPlace {
    /// The file; none for a passage.
    pub path: Option<PathBuf>,
    /// The format it was read as.
    pub format: DraftFormat,
    /// Where the file stands.
    pub location: DraftLocation,
    /// Line, column and the mark as written; none where the text was asked for as a whole.
    pub mark: Option<(usize, usize, String)>,
    pub answer: Answer,
}

/// The places of all that is asked, and whether it is a single passage with one question.
pub fn ask(arguments: &RecommendArgs, recommender: &Recommender<'_>) -> Result<(Vec<AnsweredPlace>, bool)> {
    let mut frame = Question::new("")
        .top(arguments.top)
        .exclude(arguments.exclude.iter().cloned())
        .only(arguments.only.iter().cloned());
    frame.source.clone_from(&arguments.source);
    frame.source_text = arguments.source_file.as_deref().map(read).transpose()?;
    (frame.rank, frame.before) = (arguments.rank, arguments.before);
    (frame.min_probability, frame.explain) = (arguments.min_probability, arguments.explain);
    if let Some(passage) = passage(arguments)? {
        return ask_passage(arguments, recommender, frame, passage);
    }
    let names = DocumentNames::new(recommender.model());
    let mut places = Vec::new();
    for path in &arguments.paths {
        let text = read_draft(path).map_err(|error| not_a_file(error, path))?;
        let shown = path.display().to_string();
        let draft = Draft::read(&text, format_of(path, arguments.input), &recommender.model().tokenizer(), &shown)?;
        let location = names.location(&full_path(path));
        let source = names.source(&draft, &location);
        // Where a source is given, the draft is not its own.
        let given = frame.source.is_some() || frame.source_text.is_some();
        let answers = recommender.ask_draft(&draft, (!given).then_some(source), &frame);
        let answers = answers.map_err(|error| match error {
            Error::NoWords => anyhow!("{shown}: the text has no words"),
            error => error.into(),
        })?;
        places.extend(placed(&text, &draft, answers, Some(path), &location));
    }
    Ok((places, false))
}

/// A passage as it is given, if it is one.
fn passage(arguments: &RecommendArgs) -> Result<Option<String>> {
    Ok(match (&arguments.text, &arguments.file, arguments.paths.as_slice()) {
        (Some(text), ..) => Some(text.clone()),
        (None, Some(path), _) if !is_stdin(path) => Some(read(path)?),
        (None, Some(_), _) => Some(stdin()?),
        (None, None, [path]) if is_stdin(path) => Some(stdin()?),
        _ => None,
    })
}

fn ask_passage(
    arguments: &RecommendArgs,
    recommender: &Recommender<'_>,
    frame: Question,
    text: String,
) -> Result<(Vec<AnsweredPlace>, bool)> {
    let format = format_of_text(&text, arguments.input);
    let draft = Draft::read(&text, format, &recommender.model().tokenizer(), "the text")?;
    // One question, as the library reads it.
    let own_marks = text.matches("[[?]]").count();
    if format == DraftFormat::Plain && own_marks <= 1 && draft.wanted.len() == own_marks {
        let mut question = frame;
        question.text = text;
        let answer = recommender.ask(&question)?;
        return Ok((
            vec![AnsweredPlace { path: None, format, location: DraftLocation::default(), mark: None, answer }],
            true,
        ));
    }
    let answers = recommender.ask_draft(&draft, None, &frame)?;
    let places = placed(&text, &draft, answers, None, &DraftLocation::default());
    Ok((places, draft.wanted.len() <= 1))
}

/// Answers with the places that they are of.
fn placed(
    text: &str,
    draft: &Draft,
    answers: Vec<Answer>,
    path: Option<&PathBuf>,
    location: &DraftLocation,
) -> Vec<AnsweredPlace> {
    let left = draft.wanted.len().saturating_sub(MOST_PLACES) as u64;
    if left > 0 {
        let name = path.map_or("the text".to_owned(), |path| shown(path));
        let (most, left) = (thousands(MOST_PLACES as u64), thousands(left));
        status(format_args!("{name}: the first {most} places are answered; {left} are left out"));
    }
    let lines = DraftLines::new(text);
    let place = |(number, answer): (usize, Answer)| {
        let mark = draft.wanted.get(number).map(|wanted| {
            let (line, column) = lines.place(wanted.span.start);
            (line, column, text[wanted.span.clone()].to_owned())
        });
        AnsweredPlace { path: path.cloned(), format: draft.format, location: location.clone(), mark, answer }
    };
    answers.into_iter().enumerate().map(place).collect()
}

/// An argument that reads like a text is no path.
fn not_a_file(error: anyhow::Error, path: &Path) -> anyhow::Error {
    let written = path.to_string_lossy();
    match !path.exists() && (written.contains("[[?]]") || written.contains(char::is_whitespace)) {
        true => error.context("arguments are paths of drafts; give a text with --text"),
        false => error,
    }
}

fn stdin() -> Result<String> {
    utf8(read_all(std::io::stdin().lock(), "standard input", LONGEST_TEXT)?, "standard input")
}

fn read(path: &Path) -> Result<String> {
    let shown = path.display().to_string();
    utf8(read_bounded(path, LONGEST_TEXT)?, &shown)
}

fn utf8(bytes: Vec<u8>, place: &str) -> Result<String> {
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        anyhow!("{place}: expected UTF-8, found something else at byte {at}")
    })
}
