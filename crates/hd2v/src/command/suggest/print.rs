//! Suggestions for people, programs, code scanning, workflows and patch.
//!
//! Ours, not crates for SARIF or for diffs: the JSON is one literal, and the changes of a patch are known.

use std::fmt::Write as _;
use std::path::Path;

use hyperdoc2vec::Suggestion;
use hyperdoc2vec::document::is_hidden;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde_json::{Value, json};

use super::FileResult;
use crate::draft_lines::DraftLines;
use crate::output::shown;
use crate::wire_draft::SuggestedLinks;

fn named(one: &Suggestion) -> String {
    if one.title.is_empty() || one.title == one.id { one.id.clone() } else { format!("{} ({})", one.id, one.title) }
}

/// On one line, whole.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A line each.
pub fn text(found: &[FileResult]) -> String {
    let mut out = String::new();
    for file in found {
        let lines = DraftLines::new(&file.text);
        for one in &file.found.links {
            let (line, column) = lines.place(one.span.start);
            let words = if one.words.is_empty() { "here".to_owned() } else { one_line(&one.words) };
            let others: Vec<String> = one.others.iter().map(|(id, p)| format!("{} {p:.2}", one_line(id))).collect();
            let others = if others.is_empty() { String::new() } else { format!("; or {}", others.join(", ")) };
            let _ = writeln!(
                out,
                "{}:{line}:{column}: {words} → {}, {:.2}, {}{others}",
                shown(&file.path),
                one_line(&named(one)),
                one.probability,
                one.why(),
            );
        }
    }
    out
}

/// One JSON document.
#[derive(Serialize)]
pub struct SuggestedFiles {
    files: Vec<SuggestedLinks>,
}

pub fn json(found: &[FileResult]) -> SuggestedFiles {
    let file =
        |file: &FileResult| SuggestedLinks::new(&file.path.display().to_string(), file.format, &file.text, &file.found);
    SuggestedFiles { files: found.iter().map(file).collect() }
}

fn message(one: &Suggestion) -> String {
    let words = if one.words.is_empty() { "here".to_owned() } else { format!("“{}”", one.words) };
    format!("link {words} to {} (probability {:.2}; {})", named(one), one.probability, one.why())
}

/// A path with slashes on every system.
fn with_slashes(path: &Path) -> String {
    let path = path.display().to_string();
    if std::path::MAIN_SEPARATOR == '\\' { path.replace('\\', "/") } else { path }
}

/// A path as a relative URI.
fn uri(path: &Path) -> String {
    const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');
    utf8_percent_encode(&with_slashes(path), ESCAPED).to_string()
}

/// A name in the head of a patch, as `git` and `patch` read it: in quotes, with escapes, if it would break the line or hide
/// something; with a tab behind it if it has spaces.
fn patch_name(name: &str) -> String {
    if !name.contains(|c: char| is_hidden(c) || c == '"' || c == '\\') {
        return format!("{name}{}", if name.contains(' ') { "\t" } else { "" });
    }
    let mut out = String::from('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if is_hidden(c) => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(out, "\\{byte:03o}");
                }
            }
            c => out.push(c),
        }
    }
    out + "\""
}

/// SARIF 2.1.0.
pub fn sarif(found: &[FileResult]) -> Value {
    let mut results = Vec::new();
    for file in found {
        let uri = uri(&file.path);
        let lines = DraftLines::new(&file.text);
        for one in &file.found.links {
            let (line, column) = lines.place(one.span.start);
            let (end_line, end_column) = lines.place(one.span.end);
            let mut result = json!({
                "ruleId": if one.wanted { "wanted-link" } else { "missing-link" },
                "level": "note",
                "message": {"text": message(one)},
                "locations": [{"physicalLocation": {
                    "artifactLocation": {"uri": uri},
                    "region": {
                        "startLine": line,
                        "startColumn": column,
                        "endLine": end_line,
                        "endColumn": end_column,
                    },
                }}],
                "rank": (f64::from(one.probability) * 1000.0).round() / 10.0,
            });
            if !one.edits.is_empty() {
                let replacements: Vec<Value> = one
                    .edits
                    .iter()
                    .map(|edit| {
                        let length = edit.span.end - edit.span.start;
                        json!({
                            "deletedRegion": {"byteOffset": edit.span.start, "byteLength": length},
                            "insertedContent": {"text": edit.text},
                        })
                    })
                    .collect();
                result["fixes"] = json!([{
                    "description": {"text": format!("link to {}", named(one))},
                    "artifactChanges": [{"artifactLocation": {"uri": uri}, "replacements": replacements}],
                }]);
            }
            results.push(result);
        }
    }
    let rule = |id: &str, text: &str| json!({"id": id, "shortDescription": {"text": text}});
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "hd2v",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": [
                    rule("missing-link", "A link belongs here"),
                    rule("wanted-link", "The text asks for a link here"),
                ],
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// A command of GitHub's workflows a suggestion.
pub fn github(found: &[FileResult]) -> String {
    let escaped = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| escaped(text).replace(':', "%3A").replace(',', "%2C");
    let mut out = String::new();
    for file in found {
        let lines = DraftLines::new(&file.text);
        for one in &file.found.links {
            let (line, column) = lines.place(one.span.start);
            let (end_line, end_column) = lines.place(one.span.end);
            let _ = writeln!(
                out,
                "::notice file={},line={line},col={column},endLine={end_line},endColumn={end_column},title=missing link::{}",
                property(&file.path.display().to_string()),
                escaped(&message(one)),
            );
        }
    }
    out
}

/// Lines around a change.
const CONTEXT: usize = 3;

/// A unified diff.
pub fn patch(found: &[FileResult]) -> String {
    let mut out = String::new();
    for file in found.iter().filter(|file| file.found.links.iter().any(|link| !link.edits.is_empty())) {
        let path = with_slashes(&file.path);
        let path = path.trim_start_matches("./").trim_start_matches('/');
        let _ = write!(out, "--- {}\n+++ {}\n", patch_name(&format!("a/{path}")), patch_name(&format!("b/{path}")));
        hunks(file, &mut out);
    }
    out
}

/// The hunks of a file. A change keeps the number of lines: what is put in has no line breaks.
fn hunks(file: &FileResult, out: &mut String) {
    let written = file.found.apply(&file.text);
    let old: Vec<&str> = file.text.split_inclusive('\n').collect();
    let new: Vec<&str> = written.split_inclusive('\n').collect();
    if old.len() != new.len() {
        return;
    }
    let changed: Vec<usize> = (0..old.len()).filter(|&line| old[line] != new[line]).collect();
    let mut next = 0;
    while next < changed.len() {
        let first = changed[next].saturating_sub(CONTEXT);
        let mut last = changed[next];
        while next < changed.len() && changed[next] <= last + 2 * CONTEXT + 1 {
            last = changed[next];
            next += 1;
        }
        let end = (last + CONTEXT + 1).min(old.len());
        let _ = writeln!(out, "@@ -{},{} +{},{} @@", first + 1, end - first, first + 1, end - first);
        let mut line = first;
        while line < end {
            if old[line] == new[line] {
                push(out, ' ', old[line]);
                line += 1;
                continue;
            }
            let run = (line..end).take_while(|&line| old[line] != new[line]).count();
            old[line..line + run].iter().for_each(|text| push(out, '-', text));
            new[line..line + run].iter().for_each(|text| push(out, '+', text));
            line += run;
        }
    }
}

fn push(out: &mut String, mark: char, line: &str) {
    out.push(mark);
    out.push_str(line);
    if !line.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
}
