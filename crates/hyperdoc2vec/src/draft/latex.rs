//! LaTeX: a scanner that knows the commands of text, citations, formulas and headings. Other commands are passed over,
//! and what stands in their braces is text, unless it is known not to be.
//!
//! A scanner of our own: parsers of LaTeX expand macros or stop at what they do not know, and lose the bytes of words; a
//! draft is broken as often as not.

use super::builder::DraftBuilder;
use super::{LinkSyntax, TextKind};

/// Environments that are no prose.
const UNSEEN: [&str; 22] = [
    "verbatim",
    "lstlisting",
    "minted",
    "equation",
    "align",
    "alignat",
    "gather",
    "multline",
    "eqnarray",
    "math",
    "displaymath",
    "flalign",
    "tikzpicture",
    "tabular",
    "tabularx",
    "array",
    "thebibliography",
    "comment",
    "algorithm",
    "algorithmic",
    "filecontents",
    "forest",
];
/// Those of code.
const CODE: [&str; 4] = ["verbatim", "lstlisting", "minted", "comment"];
/// Commands whose arguments are no text.
const NO_TEXT: [&str; 27] = [
    "label",
    "ref",
    "eqref",
    "pageref",
    "autoref",
    "cref",
    "includegraphics",
    "usepackage",
    "documentclass",
    "input",
    "include",
    "bibliography",
    "bibliographystyle",
    "url",
    "vspace",
    "hspace",
    "newcommand",
    "renewcommand",
    "def",
    "setlength",
    "addbibresource",
    "RequirePackage",
    "pagestyle",
    "thispagestyle",
    "index",
    "hypersetup",
    "graphicspath",
];
/// Commands that name what stands in their braces.
const HEADINGS: [&str; 9] =
    ["title", "part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph", "caption"];

/// Reads the text.
pub(super) fn read(builder: &mut DraftBuilder<'_>) {
    let text = builder.text;
    // The title stands before the text.
    let start = text.find("\\begin{document}").map_or(0, |at| at + "\\begin{document}".len());
    if let Some(at) = text[..start].find("\\title{") {
        let open = at + "\\title".len();
        if let Some(close) = group_end(text, open).filter(|&close| close <= start) {
            let first = builder.count();
            builder.words(open + 1..close - 1, TextKind::Heading);
            builder.titled(first);
            builder.block();
        }
    }
    let mut reader = LatexReader { at: start, from: start, headings: Vec::new(), depth: 0, quotes: 0 };
    reader.read(builder);
}

struct LatexReader {
    at: usize,
    /// Text from here on has not been given on.
    from: usize,
    /// Depths of braces in which a heading is open, with the words before it.
    headings: Vec<(usize, usize)>,
    depth: usize,
    quotes: usize,
}

impl LatexReader {
    fn kind(&self) -> TextKind {
        if !self.headings.is_empty() {
            TextKind::Heading
        } else if self.quotes > 0 {
            TextKind::Quote
        } else {
            TextKind::Prose
        }
    }

    /// Gives on the text up to `end`, and goes on behind `next`.
    fn flush(&mut self, builder: &mut DraftBuilder<'_>, end: usize, next: usize) {
        if self.from < end {
            builder.marked(self.from..end, self.kind());
        }
        self.from = next;
        self.at = next;
    }

    fn read(&mut self, builder: &mut DraftBuilder<'_>) {
        let (text, bytes) = (builder.text, builder.text.as_bytes());
        while let Some(step) =
            bytes[self.at..].iter().position(|b| matches!(b, b'\\' | b'%' | b'$' | b'{' | b'}' | b'\n' | b'~' | b'`'))
        {
            let at = self.at + step;
            match bytes[at] {
                b'\\' => self.command(builder, at),
                b'%' => {
                    let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |step| at + step);
                    self.flush(builder, at, end);
                }
                b'$' => {
                    let mark = if text[at..].starts_with("$$") { 2 } else { 1 };
                    self.flush(builder, at, formula_end(bytes, at + mark, mark));
                }
                b'{' => {
                    self.depth += 1;
                    self.flush(builder, at, at + 1);
                }
                b'}' => {
                    self.flush(builder, at, at + 1);
                    self.depth = self.depth.saturating_sub(1);
                    if let Some((_, first)) = self.headings.pop_if(|(depth, _)| *depth > self.depth) {
                        builder.titled(first);
                        builder.block();
                    }
                }
                b'\n' => {
                    let blank = bytes[at + 1..].iter().take_while(|b| b.is_ascii_whitespace()).any(|&b| b == b'\n');
                    if blank {
                        self.flush(builder, at, at + 1);
                        builder.block();
                    } else {
                        self.at = at + 1;
                    }
                }
                // A tie is a space; `` opens a quotation, whose words are prose like others.
                _ => self.flush(builder, at, at + 1),
            }
        }
        self.flush(builder, text.len(), text.len());
    }

    fn command(&mut self, builder: &mut DraftBuilder<'_>, at: usize) {
        let (text, bytes) = (builder.text, builder.text.as_bytes());
        let length = bytes[at + 1..].iter().take_while(|b| b.is_ascii_alphabetic()).count();
        if length == 0 {
            // `\%`, `\\`, `\[ … \]`.
            let next = text[at + 1..].chars().next().map_or(0, char::len_utf8);
            let end = match &text[at + 1..at + 1 + next] {
                "[" => find(text, at, "\\]"),
                "(" => find(text, at, "\\)"),
                _ => at + 1 + next,
            };
            return self.flush(builder, at, end);
        }
        let name = &text[at + 1..at + 1 + length];
        let mut after = at + 1 + length;
        if bytes.get(after) == Some(&b'*') {
            after += 1;
        }
        match name {
            "begin" | "end" => {
                let Some(close) = group_end(builder.text, after) else { return self.flush(builder, at, after) };
                let environment = text[after + 1..close - 1].trim_end_matches('*').trim();
                let mut end = if (name, environment) == ("end", "document") { text.len() } else { close };
                if name == "begin" && UNSEEN.contains(&environment) {
                    end = find(text, close, &["\\end{", &text[after + 1..close - 1], "}"].concat());
                    if CODE.contains(&environment) {
                        builder.code(at..end);
                    }
                }
                self.flush(builder, at, end);
                builder.block();
                if matches!(environment, "quote" | "quotation" | "displayquote" | "verse") {
                    self.quotes = if name == "begin" { self.quotes + 1 } else { self.quotes.saturating_sub(1) };
                }
            }
            "iffalse" => {
                let end = unread_end(text, after);
                self.flush(builder, at, end);
            }
            _ if is_citation(name) => self.citation(builder, at, after),
            "href" => {
                let target = options_end(bytes, after);
                let words = group_end(builder.text, target);
                let end = words.and_then(|words| group_end(builder.text, words));
                let (Some(words), Some(end)) = (words, end) else { return self.flush(builder, at, after) };
                self.flush(builder, at, end);
                let first = builder.count();
                builder.words(words + 1..end - 1, TextKind::Link);
                builder.link(at..end, first, vec![text[target + 1..words - 1].to_owned()], LinkSyntax::Inline);
            }
            "verb" | "lstinline" => {
                let mark = text[after..].chars().next().unwrap_or('|');
                let from = after + mark.len_utf8().min(text.len() - after);
                let close = if mark == '{' { '}' } else { mark };
                // It ends with its line, if nothing closes it.
                let end = text[from..].find([close, '\n']).map_or(text.len(), |step| from + step);
                let closed = text[end..].starts_with(close);
                self.flush(builder, at, end + if closed { close.len_utf8() } else { 0 });
                builder.words(from..end, TextKind::Code);
            }
            "texttt" | "code" => {
                let Some(end) = group_end(builder.text, after) else { return self.flush(builder, at, after) };
                self.flush(builder, at, end);
                builder.words(after + 1..end - 1, TextKind::Code);
            }
            _ if NO_TEXT.contains(&name) => {
                let mut end = options_end(bytes, after);
                while let Some(next) = group_end(builder.text, end) {
                    end = options_end(bytes, next);
                }
                self.flush(builder, at, end);
            }
            _ if HEADINGS.contains(&name) => {
                let open = options_end(bytes, after);
                self.flush(builder, at, open);
                builder.block();
                if bytes.get(open) == Some(&b'{') {
                    self.headings.push((self.depth + 1, builder.count()));
                }
            }
            "item" => {
                self.flush(builder, at, options_end(bytes, after));
                builder.block();
            }
            _ => {
                let end = options_end(bytes, after);
                self.flush(builder, at, end);
            }
        }
    }

    /// `\citep[see][p. 3]{key, key}`.
    fn citation(&mut self, builder: &mut DraftBuilder<'_>, at: usize, after: usize) {
        let bytes = builder.text.as_bytes();
        let open = options_end(bytes, after);
        let Some(end) = group_end(builder.text, open) else { return self.flush(builder, at, after) };
        self.flush(builder, at, end);
        let (mut keys, mut from) = (Vec::new(), open + 1);
        for key in builder.text[open + 1..end - 1].split(',') {
            let start = from + key.len() - key.trim_start().len();
            let hole = start..start + key.trim().len();
            from += key.len() + 1;
            let alone = key.len() == end - open - 2;
            if DraftBuilder::asks(key) || (alone && key.trim().is_empty()) {
                builder.wanted(at..end, hole, LinkSyntax::Citation);
            } else if !key.trim().is_empty() {
                keys.push(key.trim().to_owned());
            }
        }
        builder.citation(at..end, keys);
    }
}

/// Where text is read again behind an `\iffalse` that ends at `at`: behind its `\fi` or `\else`.
fn unread_end(text: &str, mut at: usize) -> usize {
    let mut depth = 0usize;
    while let Some(step) = memchr::memchr(b'\\', &text.as_bytes()[at..]) {
        let start = at + step + 1;
        let length = text[start..].bytes().take_while(u8::is_ascii_alphabetic).count();
        // A backslash may hide another.
        at = start + length.max(text[start..].chars().next().map_or(0, char::len_utf8));
        match &text[start..start + length] {
            "fi" | "else" if depth == 0 => return at,
            "fi" => depth -= 1,
            // Not conditions: an arrow, and a command with arguments.
            "iff" | "ifthenelse" => {}
            name if name.starts_with("if") => depth += 1,
            _ => {}
        }
    }
    text.len()
}

fn is_citation(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("cite") && !matches!(name.as_str(), "citestyle" | "citeauthorstyle" | "setcitestyle")
        || matches!(name.as_str(), "newcite" | "shortcite" | "parencite" | "textcite" | "autocite" | "footcite")
}

/// Behind `[…]` and white space, if that is at `at`.
fn options_end(bytes: &[u8], mut at: usize) -> usize {
    const WITHIN: usize = 2000;
    loop {
        let open = at + bytes[at.min(bytes.len())..].iter().take(8).take_while(|&&b| b == b' ').count();
        if bytes.get(open) != Some(&b'[') {
            return if bytes.get(open) == Some(&b'{') { open } else { at };
        }
        let Some(step) = memchr::memchr(b']', &bytes[open..bytes.len().min(open + WITHIN)]) else { return at };
        at = open + step + 1;
    }
}

/// Behind the `}` that closes the `{` at `open`, if there is one not too far behind.
fn group_end(text: &str, open: usize) -> Option<usize> {
    const WITHIN: usize = 1000;
    group(text.get(open..)?, b'{', b'}', WITHIN).map(|length| open + length)
}

/// The length of the group with which `text` begins, its braces (or brackets) included, if that is at most `most`.
pub(crate) fn group(text: &str, open: u8, close: u8, most: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&open) {
        return None;
    }
    let (mut depth, mut at) = (0usize, 0);
    while at < bytes.len().min(most) {
        match bytes[at] {
            b'\\' => at += 1,
            byte if byte == open && (open == b'{' || depth == 0) => depth += 1,
            b'{' if open != b'{' => at += group(&text[at..], b'{', b'}', most - at)? - 1,
            byte if byte == close => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Behind the dollars that close a formula; one that does not close within its paragraph is no formula.
fn formula_end(bytes: &[u8], start: usize, mark: usize) -> usize {
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'$' => return at + 1 + usize::from(mark == 2 && bytes.get(at + 1) == Some(&b'$')),
            b'\n' if mark == 1 && bytes.get(at + 1) == Some(&b'\n') => return start,
            _ => {}
        }
        at += 1;
    }
    // Never closed: the dollar alone is passed over.
    start
}

/// Behind the next `wanted`, or the end of the text.
fn find(text: &str, at: usize, wanted: &str) -> usize {
    memchr::memmem::find(&text.as_bytes()[at..], wanted.as_bytes()).map_or(text.len(), |step| at + step + wanted.len())
}
