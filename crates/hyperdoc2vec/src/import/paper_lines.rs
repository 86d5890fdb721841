//! Papers as JSON, one a line: formats that are read twice, first the head of each paper, then its text.

use super::source::{LineBatch, json_error};
use super::{Format, Parsed, sniff};

/// Heads that `read` finds in the lines of a batch; lines that cannot be read are left to the second pass.
pub(super) fn heads<H>(batch: &LineBatch, read: impl Fn(&str) -> Option<H>) -> Vec<H> {
    batch.lines().filter_map(|(_, bytes)| read(std::str::from_utf8(bytes).ok()?)).collect()
}

/// Reads every line of a batch with `read`, and gives it to `take` with its place.
pub(super) fn parse<T>(
    batch: &LineBatch,
    format: Format,
    read: impl Fn(&str) -> serde_json::Result<T>,
    take: impl Fn(T, String, &mut Parsed),
) -> Parsed {
    Parsed::of_lines(batch, |line, place, out| {
        if line.trim_ascii().is_empty() {
            return;
        }
        if let Some(other) = sniff::paper_lines(line).filter(|&found| found != format) {
            return out.bad(place, format!("expected a line of {format}, found one of {other}"));
        }
        match read(line) {
            Ok(record) => take(record, place, out),
            Err(error) => out.bad(place, format!("not a line of {format}: {}", json_error(&error))),
        }
    })
}
