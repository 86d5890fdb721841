//! Plain text: paragraphs, and the links of our own jsonl format, `[[id]]` and `[words][[id]]`.

use super::builder::DraftBuilder;
use super::{LinkSyntax, TextKind};

/// A mark closes within so many bytes.
const WITHIN: usize = 1000;

/// Reads the text.
pub(super) fn read(builder: &mut DraftBuilder<'_>) {
    let text = builder.text;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            builder.block();
        } else {
            read_line(builder, at, line);
        }
        at += line.len();
    }
}

/// Reads a line, which begins at byte `start`.
fn read_line(builder: &mut DraftBuilder<'_>, start: usize, line: &str) {
    let (mut from, mut at) = (0, 0);
    while let Some(step) = line[at..].find("[[") {
        let open = at + step;
        at = open + 2;
        let near = &line.as_bytes()[at..line.len().min(at + WITHIN)];
        let Some(close) = memchr::memmem::find(near, b"]]").map(|step| at + step) else { continue };
        let inside = &line[at..close];
        if inside.is_empty() || inside.contains('[') || inside == "?" || line[..open].ends_with('\\') {
            continue;
        }
        let targets: Vec<String> =
            inside.split('|').map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()).collect();
        let end = close + 2;
        // `[words][[id]]`: the words are those of the link.
        let anchor = line[from..open].ends_with(']').then(|| line[from..open].rfind('[')).flatten().map(|at| from + at);
        let first = anchor.unwrap_or(open);
        builder.marked(start + from..start + first, TextKind::Prose);
        let words = builder.count();
        if let Some(anchor) = anchor {
            builder.words(start + anchor + 1..start + open - 1, TextKind::Link);
        }
        if !targets.is_empty() {
            builder.link(start + first..start + end, words, targets, LinkSyntax::Wiki);
        }
        (from, at) = (end, end);
    }
    builder.marked(start + from..start + line.len(), TextKind::Prose);
}
