//! Output to stdout and stderr: text, tables, JSON, numbers for people.

use std::io::{self, Write};

use anyhow::{Context, Result};
use hyperdoc2vec::Model;
use hyperdoc2vec::document::Losses;
use indicatif::HumanCount;

/// The error when stdout cannot be written.
pub const UNWRITTEN: &str = "cannot write standard output";

/// Writes text to stdout.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context(UNWRITTEN)
}

/// Writes a status line to stderr; a closed stderr does not stop the work.
pub fn status(line: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Notes on stderr what cannot be checked of a model that an earlier program wrote.
pub fn note_unsealed(model: &Model) {
    if !model.is_sealed() {
        status(format_args!(
            "{}: written by an earlier program, without a checksum of its description: a change there cannot be noticed; \
             `hd2v add` or `hd2v train` writes a model that has one",
            model.path().display()
        ));
    }
}

/// Writes one JSON document to stdout.
pub fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print(&(serde_json::to_string_pretty(value)? + "\n"))
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
            out.push_str(&format!("    {sample}\n"));
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
    fn one_thing_is_no_things() {
        assert_eq!([0, 1, 1000].map(|n| count(n, "link")), ["0 links", "1 link", "1,000 links"]);
    }
}
