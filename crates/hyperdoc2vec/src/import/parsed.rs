//! The output of every parser: documents and redirects, what was lost, and the outcome of references.

use std::str::Utf8Error;

use super::reference::References;
use super::source::LineBatch;
use crate::corpus::DocumentBatch;
use crate::document::language_tag;
use crate::document::losses::Loss;
use crate::storage::part::FramePlace;

/// The result of parsing a piece of the input.
#[derive(Debug, Default)]
pub struct Parsed {
    /// Documents, redirects and losses.
    pub batch: DocumentBatch,
    /// Bibliography entries and citation marks, counted by their outcome.
    pub references: References,
    /// Which of all batches it is.
    pub place: FramePlace,
}

impl Parsed {
    /// Parses a batch line by line: `each` gets the line and its place. A line that is not UTF-8 is a bad record.
    pub(super) fn of_lines(batch: &LineBatch, mut each: impl FnMut(&str, String, &mut Parsed)) -> Parsed {
        let mut parsed = Parsed::default();
        for (number, bytes) in batch.lines() {
            let place = batch.place(number);
            if batch.too_long.binary_search(&number).is_ok() {
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

    /// Sets its place among all batches.
    pub(super) fn at(self, place: FramePlace) -> Parsed {
        Parsed { place, ..self }
    }

    /// Counts a record that could not be read.
    pub fn bad(&mut self, place: String, what: String) {
        self.batch.losses.add(Loss::MalformedRecord, format!("{place}: {what}"));
        self.batch.first_bad.get_or_insert((place, what));
    }

    /// The language tag of a record at `place`; counts a tag that is none.
    pub(super) fn language(&mut self, text: &str, place: &str) -> Option<String> {
        let tag = language_tag(text);
        if tag.is_none() && !text.trim().is_empty() {
            self.batch.losses.add(Loss::IgnoredField, format!("language {text:?} ({place})"));
        }
        tag
    }
}

/// The message for bytes that are not UTF-8.
pub(super) fn not_utf8(error: Utf8Error, of: &str) -> String {
    format!("not UTF-8 (byte {} {of})", error.valid_up_to() + 1)
}
