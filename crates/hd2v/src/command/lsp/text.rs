//! A text that an editor has open, changed piece by piece. Columns of the protocol count UTF-16.

use std::ops::Range;

use hyperdoc2vec::draft::DraftFormat;
use serde_json::{Value, json};

/// Of a longer text, in bytes, only a part around the last change is looked at.
const PART: usize = 64 << 10;

/// An open text.
pub struct OpenText {
    pub path: String,
    pub format: DraftFormat,
    pub text: String,
    /// Where it was changed last.
    pub changed: usize,
    /// Whether its suggestions are of an earlier text.
    pub stale: bool,
    /// Suggestions: bytes, and the rest as answered.
    pub found: Vec<Missing>,
}

/// A link that is missing.
#[derive(Clone)]
pub struct Missing {
    pub span: Range<usize>,
    pub words: String,
    pub id: String,
    pub title: String,
    pub probability: f32,
    pub why: String,
    /// Changes, by bytes.
    pub edits: Vec<(Range<usize>, String)>,
}

impl OpenText {
    pub fn new(uri: &str, language: &str, text: String) -> OpenText {
        let path = path_of(uri);
        let format = match language {
            "latex" | "tex" => Some(DraftFormat::Latex),
            "markdown" | "quarto" | "rmd" => Some(DraftFormat::Markdown),
            "restructuredtext" | "rst" => Some(DraftFormat::Rst),
            "html" => Some(DraftFormat::Html),
            "mediawiki" | "wikitext" => Some(DraftFormat::Mediawiki),
            _ => None,
        };
        let format = format.or_else(|| DraftFormat::of_path(&path)).unwrap_or(DraftFormat::Plain);
        OpenText { path, format, text, changed: 0, stale: true, found: Vec::new() }
    }

    /// The byte of a position.
    pub fn byte(&self, position: &Value) -> usize {
        let (line, column) =
            (position["line"].as_u64().unwrap_or(0) as usize, position["character"].as_u64().unwrap_or(0));
        let start = match line {
            0 => 0,
            line => memchr_lines(&self.text).nth(line - 1).unwrap_or(self.text.len()),
        };
        let mut units = 0;
        for (at, c) in self.text[start..].char_indices() {
            if units >= column || c == '\n' {
                return start + at;
            }
            units += c.len_utf16() as u64;
        }
        self.text.len()
    }

    /// The position of a byte.
    pub fn position(&self, at: usize) -> Value {
        let before = &self.text[..at.min(self.text.len())];
        let line = before.bytes().filter(|&byte| byte == b'\n').count();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        json!({"line": line, "character": before[start..].encode_utf16().count()})
    }

    pub fn range(&self, span: &Range<usize>) -> Value {
        json!({"start": self.position(span.start), "end": self.position(span.end)})
    }

    /// Takes changes as the editor sends them.
    pub fn change(&mut self, changes: &Value) {
        for change in changes.as_array().into_iter().flatten() {
            let text = change["text"].as_str().unwrap_or_default();
            if change["range"].is_object() {
                let (start, end) = (self.byte(&change["range"]["start"]), self.byte(&change["range"]["end"]));
                let (start, end) = (start.min(end), end.max(start));
                self.text.replace_range(start..end, text);
                self.changed = start;
            } else {
                self.text = text.to_owned();
                self.changed = 0;
            }
        }
        self.stale = true;
        self.found.clear();
    }

    /// The part that is looked at: all of a short text, whole paragraphs around the last change of a long one.
    pub fn part(&self) -> Range<usize> {
        if self.text.len() <= PART {
            return 0..self.text.len();
        }
        let boundary = |mut at: usize| {
            while !self.text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = boundary(self.changed.saturating_sub(PART / 2));
        let end = boundary((self.changed + PART / 2).min(self.text.len()));
        let start = if start == 0 { 0 } else { self.text[start..].find("\n\n").map_or(start, |step| start + step + 2) };
        (start.min(end))..end
    }
}

/// Where the second and later lines begin.
fn memchr_lines(text: &str) -> impl Iterator<Item = usize> {
    text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1)
}

/// The path that an address of a file has.
fn path_of(uri: &str) -> String {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    let bytes = path.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| path.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_made_where_utf16_says() {
        let mut text = OpenText::new("file:///a%20b.md", "markdown", "é𝄞x\nzwei\n".to_owned());
        assert_eq!(text.path, "/a b.md");
        let at = |line: u32, character: u32| json!({"line": line, "character": character});
        text.change(&json!([{"range": {"start": at(0, 3), "end": at(0, 4)}, "text": "y"}, {"range": {"start": at(1, 0), "end": at(9, 0)}, "text": ""}]));
        assert_eq!(text.text, "é𝄞y\n");
        assert_eq!(text.position(6), at(0, 3));
        text.change(&json!([{"text": "new"}]));
        assert_eq!(text.text, "new");
    }
}
