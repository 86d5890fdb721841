//! Output to stdout and stderr: text, tables, JSON, numbers for people.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result};
use hyperdoc2vec::Model;
use hyperdoc2vec::document::{Losses, is_hidden, visible_json};
use hyperdoc2vec::export::BibFormat;
use indicatif::HumanCount;

/// The error when stdout cannot be written.
pub const UNWRITTEN: &str = "cannot write standard output";

/// A longer word loses its middle: an id may have thousands of characters.
const WORD: usize = 200;
/// A longer line loses its middle.
const LINE: usize = 1000;
/// A name or title is cut at this many characters in a table or a list.
const NAME: usize = 60;

/// Lines as people may safely see them: hidden characters become `\u{…}`, except line ends, and the middle of endless
/// words and lines becomes `…`. Everything for people passes through here.
fn visible(lines: &str) -> Cow<'_, str> {
    let harmless = |c: char| c == '\n' || !is_hidden(c);
    if lines.len() <= WORD && lines.chars().all(harmless) {
        return Cow::Borrowed(lines);
    }
    let mut out = String::with_capacity(lines.len());
    for line in lines.split_inclusive('\n') {
        let mut shown = String::with_capacity(line.len());
        for piece in line.split_inclusive(char::is_whitespace) {
            let word = piece.trim_end();
            for c in without_middle(word, WORD).chars().chain(piece[word.len()..].chars()) {
                if harmless(c) { shown.push(c) } else { shown.extend(c.escape_unicode()) }
            }
        }
        out.push_str(&without_middle(&shown, LINE));
    }
    Cow::Owned(out)
}

/// The beginning and the end of a text of more than `most` characters.
fn without_middle(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most || text.chars().nth(most).is_none() {
        return Cow::Borrowed(text);
    }
    let end: Vec<char> = text.chars().rev().take(most / 4).collect();
    Cow::Owned(text.chars().take(most - 1 - end.len()).chain(['…']).chain(end.into_iter().rev()).collect())
}

/// A name or title as one cell of a table: on one line, without hidden characters, shortened.
pub fn cell(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Not all of a text of megabytes need be looked at.
    let mut line = visible(&line.chars().take(NAME + 1).collect::<String>()).into_owned();
    if let Some((cut, _)) = line.char_indices().nth(NAME - 1)
        && line.chars().nth(NAME).is_some()
    {
        line.truncate(cut);
        line.push('…');
    }
    line
}

/// A text as part of a line: what would end the line, or what a terminal would obey or hide, becomes `\u{…}`, so that no
/// name of a file makes up a line of its own.
pub fn on_one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out
}

/// The name of a file as part of a line.
pub fn shown(path: &Path) -> String {
    on_one_line(&path.display().to_string())
}

/// Writes text for people to stdout.
pub fn print(text: &str) -> Result<()> {
    print_exactly(&visible(text))
}

/// Writes text to stdout as it is: JSON, or cells and colours.
pub fn print_exactly(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context(UNWRITTEN)
}

/// Writes lines to stdout whole, for programs and pasting; hidden characters become `\u{…}`, except line ends and tabs.
pub fn print_whole(text: &str) -> Result<()> {
    let harmless = |c: char| matches!(c, '\n' | '\t') || !is_hidden(c);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if harmless(c) { out.push(c) } else { out.extend(c.escape_unicode()) }
    }
    print_exactly(&out)
}

/// Writes a bibliography to stdout, whole, with its hidden characters escaped.
pub fn print_bibliography(text: &str, format: BibFormat) -> Result<()> {
    match format {
        BibFormat::Csl => print_exactly(&visible_json(text)),
        _ => print_whole(text),
    }
}

/// Writes a patch to stdout: to the byte into a pipe, and as people may safely see it to a terminal.
pub fn print_patch(text: &str) -> Result<()> {
    if io::stdout().is_terminal() { print_whole(text) } else { print_exactly(text) }
}

/// Writes a status line to stderr; a closed stderr does not stop the work.
pub fn status(line: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{}", visible(&line.to_string()));
}

/// Notes on stderr what cannot be checked of a model that an earlier program wrote.
pub fn note_unsealed(model: &Model) {
    if !model.is_sealed() {
        status(format_args!(
            "{}: written by an earlier program, without a checksum of its description: a change there cannot be noticed; \
             `hd2v add` or `hd2v train` writes a model that has one",
            shown(model.path())
        ));
    }
}

/// Writes one JSON document to stdout, with its hidden characters escaped.
pub fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print_exactly(&visible_json(&(serde_json::to_string_pretty(value)? + "\n")))
}

/// Text for a terminal, whole, but with its hidden characters as `\u{…}`. Each write has whole characters.
pub struct TerminalText<W>(pub W);

impl<W: Write> Write for TerminalText<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let mut shown = String::with_capacity(text.len());
        for c in String::from_utf8_lossy(text).chars() {
            if c == '\n' || !is_hidden(c) { shown.push(c) } else { shown.extend(c.escape_unicode()) }
        }
        self.0.write_all(shown.as_bytes())?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Whether the error came from a reader that closed our stdout.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    match error.downcast_ref() {
        Some(hyperdoc2vec::Error::Io { source, .. }) => io(source),
        _ => error.downcast_ref().is_some_and(io),
    }
}

/// `12345678` as `12,345,678`.
pub fn thousands(number: u64) -> String {
    HumanCount(number).to_string()
}

/// `1 link`, `1,234 links`: a number of things, with the plural in s.
pub fn count(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// Names and values, one pair per line, in two columns.
pub fn two_columns(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("{name:width$}  {value}\n")).collect()
}

/// A line for each kind of loss, followed by up to `samples` samples of it.
pub fn losses(losses: &Losses, samples: usize) -> String {
    let mut out = String::new();
    for (loss, tally) in losses.iter() {
        out.push_str(&format!("{} {}\n", thousands(tally.count), loss.describe_count(tally.count)));
        for sample in tally.samples.iter().take(samples) {
            out.push_str(&format!("    {}\n", sample.replace('\n', " ")));
        }
        if tally.samples.len() > samples {
            out.push_str("    …\n");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn hidden_characters_are_shown_and_line_ends_stay() {
        let odd = "a\u{1b}[31m\t\u{7f}\u{9b}\n\u{202e}b\u{2066}\u{200f}\u{61c}\u{feff}";
        let shown = r"a\u{1b}[31m\u{9}\u{7f}\u{9b}".to_owned() + "\n" + r"\u{202e}b\u{2066}\u{200f}\u{61c}\u{feff}";
        assert_eq!(visible(odd), shown);
        assert!(matches!(visible("日本 é “x” 👍\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_name_makes_up_no_line() {
        assert_eq!(shown(Path::new("a\nb\r\u{1b}[2K\u{2028} é.md")), r"a\u{a}b\u{d}\u{1b}[2K\u{2028} é.md");
    }

    #[test]
    fn an_endless_word_loses_its_middle_and_a_cell_its_end() {
        let word = format!("a{}z", "é".repeat(2000));
        let line = visible(&format!("no document {word}: try another")).into_owned();
        assert!(line.starts_with("no document aéé") && line.ends_with("ééz: try another"), "{line}");
        assert!(line.contains('…') && line.chars().count() < 250, "{line}");
        assert_eq!(visible(&"x".repeat(WORD)), "x".repeat(WORD));
        let spaced = visible(&"x ".repeat(5000)).into_owned();
        assert!(spaced.chars().count() == LINE && spaced.contains('…'), "{spaced}");
        assert_eq!(cell(&word).chars().count(), NAME);
        assert_eq!(cell(&"\u{1b}".repeat(2000)).chars().count(), NAME);
        assert_eq!(cell(" a\n b\u{85}c\u{202e} "), "a b c\\u{202e}");
        let whole = "x".repeat(NAME);
        assert_eq!(cell(&whole), whole);
    }

    #[test]
    fn one_thing_is_no_things() {
        assert_eq!([0, 1, 1000].map(|n| count(n, "link")), ["0 links", "1 link", "1,000 links"]);
    }
}
