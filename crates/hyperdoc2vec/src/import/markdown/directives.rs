//! Syntax that documentation generators add to Markdown, line by line, rewritten as plain Markdown before it is parsed:
//!
//! - MyST's directives (fences of back quotes or colons with `{name}`) and the boxes of Docusaurus and Pandoc (`:::note`):
//!   the fences go, title and text stay; tables of contents and what is taken from elsewhere go whole; code stays code;
//! - MyST's roles: `` {doc}`page` ``, `` {ref}`words <label>` `` become links, of others the words stay; labels, `(label)=`, go;
//! - MkDocs' boxes and tabs (`!!! note "Title"`, `=== "Tab"`), whose indented text is text and not code;
//! - Obsidian's callouts (`> [!info] Title`) and comments (`%%…%%`), `[TOC]`, and the imports of MDX.
//!
//! Lines stay lines, so that they are counted as those of the file.

use super::fences::fence;
use super::scheme::{LABEL, PAGE, encode};

/// The text without what is no Markdown.
pub(super) fn rewrite(body: &str, is_mdx: bool) -> String {
    let mut out = String::with_capacity(body.len());
    let mut lines = DirectiveLines { boxes: Vec::new(), open: Vec::new(), indents: Vec::new(), options: false, is_mdx };
    for line in body.split_inclusive('\n') {
        let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
        lines.write(text, &mut out);
        out.push_str(end);
    }
    out
}

/// The contents of a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// Text; the fence itself goes.
    Text,
    Code,
    /// Nothing that stays.
    Nothing,
}

struct DirectiveLines {
    /// Fences that are open: character, length, and what they enclose.
    open: Vec<(u8, usize, Inside)>,
    /// Fences of colons that are open without a name.
    boxes: Vec<usize>,
    /// How far the text of MkDocs' boxes is indented, from the outermost in.
    indents: Vec<usize>,
    /// Whether a directive's options may follow.
    options: bool,
    is_mdx: bool,
}

impl DirectiveLines {
    fn write(&mut self, line: &str, out: &mut String) {
        let inside = self.open.last().map_or(Inside::Text, |&(.., inside)| inside);
        let line = self.unindent(line);
        if let Some((mark, length, rest)) = fence(line) {
            let closes = rest.trim().is_empty()
                && self.open.last().is_some_and(|&(open, least, _)| open == mark && length >= least);
            if closes {
                self.open.pop();
                self.options = false;
                if inside == Inside::Code && mark != b':' {
                    out.push_str(line);
                }
                return;
            }
            if inside == Inside::Text && self.opens(line, mark, length, rest, out) {
                return;
            }
        }
        match inside {
            Inside::Nothing => return,
            Inside::Code => return out.push_str(line),
            Inside::Text => {}
        }
        let start = line.trim_start();
        if self.options {
            if start.starts_with(':') && start[1..].contains(':') {
                return;
            }
            self.options = false;
        }
        if let Some(title) = indented_box(start) {
            self.indents.push(line.len() - start.len() + 4 + self.indents.last().copied().unwrap_or(0));
            return out.push_str(title);
        }
        let is_label = start.starts_with('(') && start.trim_end().ends_with(")=");
        let is_import = self.is_mdx && (line.starts_with("import ") || line.starts_with("export "));
        let alone = start.trim_end();
        let is_tag = matches!(alone, "[TOC]" | "[[_TOC_]]" | "[[toc]]") || alone.starts_with("--8<--");
        let is_attributes = alone.starts_with("{:") && alone.ends_with('}');
        if !(is_label || is_import || is_tag || is_attributes) {
            write_inline(callout(line), out);
        }
    }

    /// The line without the indentation of the boxes around it, of which those end that it does not belong to.
    fn unindent<'a>(&mut self, line: &'a str) -> &'a str {
        let blank = line.trim().is_empty();
        let spaces = line.bytes().take_while(|&b| b == b' ').count();
        while !blank && self.indents.last().is_some_and(|&indent| spaces < indent) {
            self.indents.pop();
        }
        &line[self.indents.last().copied().unwrap_or(0).min(spaces)..]
    }

    /// Whether a fence opens here. What it shows itself is written.
    fn opens(&mut self, line: &str, mark: u8, length: usize, rest: &str, out: &mut String) -> bool {
        let rest = rest.trim();
        if let Some((name, title)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            let inside = directive(name.trim());
            self.open.push((mark, length, inside));
            self.options = inside == Inside::Text;
            match inside {
                Inside::Text => write_inline(title.trim(), out),
                Inside::Code => out.push_str(line),
                Inside::Nothing => {}
            }
            return true;
        }
        if mark == b':' {
            if rest.is_empty() {
                // The end of a box whose beginning has no braces.
                self.boxes.pop();
            } else {
                self.boxes.push(length);
                write_inline(box_title(rest), out);
            }
            return true;
        }
        if mark == b'`' && rest.contains('`') {
            return false;
        }
        self.open.push((mark, length, Inside::Code));
        out.push_str(line);
        true
    }
}

/// The contents of a MyST directive.
fn directive(name: &str) -> Inside {
    let name = name.rsplit(':').next().unwrap_or(name);
    match name {
        "toctree" | "contents" | "tableofcontents" | "include" | "index" | "image" | "bibliography" | "raw"
        | "eval-rst" | "highlight" | "currentmodule" | "module" | "default-role" | "tags" | "video" | "iframe" => {
            Inside::Nothing
        }
        _ if name.starts_with("auto") => Inside::Nothing,
        "code" | "code-block" | "code-cell" | "sourcecode" | "literalinclude" | "math" | "mermaid" | "graphviz"
        | "prompt" | "doctest" | "testcode" | "testoutput" | "parsed-literal" | "ipython" | "jupyter-execute"
        | "console" | "csv-table" | "plot" => Inside::Code,
        _ => Inside::Text,
    }
}

/// The title in `note Title`, `tip[Title]`, `{.class} `.
fn box_title(rest: &str) -> &str {
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '[' | '{')).unwrap_or(rest.len());
    let title = rest[end..].trim();
    let title = title.split('{').next().unwrap_or_default().trim();
    title.strip_prefix('[').and_then(|title| title.strip_suffix(']')).unwrap_or(title)
}

/// The title of MkDocs' boxes and tabs, if this line begins one.
fn indented_box(line: &str) -> Option<&str> {
    let is_tab = line.starts_with("=== ");
    let rest = ["!!! ", "???+ ", "??? ", "===+ ", "===! ", "=== "].iter().find_map(|start| line.strip_prefix(start))?;
    let rest = rest.trim();
    let quoted = rest.split_once('"').map(|(_, title)| title.trim_end_matches('"'));
    match quoted {
        Some(title) => Some(title),
        None if is_tab => None,
        None => rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_ ".contains(&b)).then_some(""),
    }
}

/// A line without the type of a callout, `[!info]`.
fn callout(line: &str) -> String {
    let quote = line.len() - line.trim_start_matches(['>', ' ', '\t']).len();
    let rest = &line[quote..];
    let kind = rest.strip_prefix("[!").filter(|_| line[..quote].contains('>')).and_then(|rest| rest.split_once(']'));
    match kind {
        Some((_, title)) => format!("{}{}", &line[..quote], title.trim_start_matches(['+', '-']).trim_start()),
        None => line.to_owned(),
    }
}

/// Writes a line with its roles as links, and without comments. What stands between back quotes is left alone.
fn write_inline(line: impl AsRef<str>, out: &mut String) {
    let line = line.as_ref();
    let mut at = 0;
    while let Some(found) = line[at..].find(['`', '%', '\\']) {
        let here = at + found;
        if line[here..].starts_with('\\') {
            let next = line[here + 1..].chars().next().map_or(0, char::len_utf8);
            out.push_str(&line[at..here + 1 + next]);
            at = here + 1 + next;
            continue;
        }
        if line[here..].starts_with('%') {
            let comment = line[here..].strip_prefix("%%").and_then(|rest| rest.find("%%"));
            match comment {
                Some(length) => {
                    out.push_str(&line[at..here]);
                    at = here + length + 4;
                }
                None => {
                    let signs = line[here..].bytes().take_while(|&b| b == b'%').count();
                    out.push_str(&line[at..here + signs]);
                    at = here + signs;
                }
            }
            continue;
        }
        let ticks = line[here..].bytes().take_while(|&b| b == b'`').count();
        let Some(end) = closing(&line[here + ticks..], ticks) else {
            out.push_str(&line[at..here + ticks]);
            at = here + ticks;
            continue;
        };
        let (before, inner) = (&line[at..here], &line[here + ticks..here + ticks + end]);
        let role = before.strip_suffix('}').and_then(|before| Some((before.rfind('{')?, before)));
        let name = role.map(|(open, before)| (open, &before[open + 1..])).filter(|(_, name)| is_role(name));
        match name {
            Some((open, name)) => {
                out.push_str(&before[..open]);
                write_role(name, inner, out);
            }
            None => out.push_str(&line[at..here + ticks + end + ticks]),
        }
        at = here + ticks + end + ticks;
    }
    out.push_str(&line[at..]);
}

/// Where as many back quotes stand as opened.
fn closing(text: &str, ticks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let start = at + found;
        let run = text[start..].bytes().take_while(|&b| b == b'`').count();
        if run == ticks {
            return Some(start);
        }
        at = start + run;
    }
    None
}

fn is_role(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_:.".contains(&b))
}

fn write_role(name: &str, inner: &str, out: &mut String) {
    let titled = inner.trim_end().strip_suffix('>').and_then(|inner| inner.rsplit_once('<'));
    let (words, target) = titled.map_or(("", inner), |(words, target)| (words.trim(), target));
    let scheme = match name.rsplit(':').next().unwrap_or(name) {
        "doc" => PAGE,
        "ref" | "numref" => LABEL,
        "cite" | "citep" | "citet" | "p" | "t" | "eq" if name.starts_with("cite") || name == "eq" => return,
        _ => {
            let words = if titled.is_some() { words } else { target.trim_start_matches(['~', '!']) };
            return out.push_str(words);
        }
    };
    // A number stands where this does.
    let words = if name.ends_with("numref") { "" } else { words };
    out.push('[');
    for c in words.chars() {
        if matches!(c, '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push_str(&format!("]({scheme}{})", encode(target.trim())));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;

    fn plain(body: &str) -> String {
        rewrite(body, false)
    }

    #[test]
    fn directives_lose_their_fences_and_code_stays_code() {
        assert_eq!(plain("```{note} Mind\n:class: x\nthe *gap*\n```\nb"), "Mind\n\nthe *gap*\n\nb");
        assert_eq!(plain("::::{grid}\n:::{card} A\nb\n:::\n::::"), "\nA\nb\n\n");
        assert_eq!(plain("```{toctree}\n:maxdepth: 2\na\nb\n```\nc"), "\n\n\n\n\nc");
        assert_eq!(plain("```{code-block} rust\n{doc}`a`\n```"), "```{code-block} rust\n{doc}`a`\n```");
        assert_eq!(plain("```rust\n:::note\n{doc}`a`\n!!! x\n```"), "```rust\n:::note\n{doc}`a`\n!!! x\n```");
        assert_eq!(
            plain(":::tip[My tip]\na\n:::\n::: warning\nb\n:::\n:::note Title\n:::"),
            "My tip\na\n\n\nb\n\nTitle\n"
        );
    }

    #[test]
    fn roles_become_links_or_words() {
        for (myst, markdown) in [
            ("see {doc}`a/b`.", "see [](hd2v-page:a/b)."),
            ("{doc}`the [b] <../a b>`", r"[the \[b\]](hd2v-page:../a%20b)"),
            ("{ref}`x` {std:ref}`y <z>`", "[](hd2v-label:x) [y](hd2v-label:z)"),
            ("{py:class}`~a.B` {term}`word <w>` {cite:p}`x` c", "a.B word  c"),
            ("``{doc}`a` `` and `{x}` `{ref}` b", "``{doc}`a` `` and `{x}` `{ref}` b"),
            (r"\{doc}`a", r"\{doc}`a"),
            ("(label)=", ""),
        ] {
            assert_eq!(plain(myst), markdown, "{myst}");
        }
    }

    #[test]
    fn text_indented_in_a_box_is_text() {
        let mkdocs = "!!! note \"Mind [a](b.md)\"\n    text [c](d.md)\n\n        code\n\n    ??? tip\n        deep\nout\n    code";
        assert_eq!(plain(mkdocs), "Mind [a](b.md)\ntext [c](d.md)\n\n    code\n\n\ndeep\nout\n    code");
        assert_eq!(plain("=== \"Tab\"\n    a\nTitle\n==="), "Tab\na\nTitle\n===");
        assert_eq!(plain("!!! this is loud, isn't it?"), "!!! this is loud, isn't it?");
    }

    #[test]
    fn callouts_comments_and_imports_are_no_words() {
        assert_eq!(plain("> [!info]- A title\n> text\n[!x] y"), "> A title\n> text\n[!x] y");
        assert_eq!(plain("a %%no%% b 5%% c"), "a  b 5%% c");
        assert_eq!(plain("[TOC]\n{: .x }\n--8<-- \"a.md\"\nb"), "\n\n\nb");
        assert_eq!(rewrite("import A from 'a'\nwe import B", true), "\nwe import B");
    }

    #[test]
    fn odd_lines_take_time_in_proportion() {
        for piece in ["`", "`` ", "{a}`", "%%", "%% ", "\\", "> [!", "{", ":::", "```{a}\n", "!!! a\n", "!!! a\n    "] {
            assert_linear(piece, 50_000, |pieces| drop(rewrite(&piece.repeat(pieces), true)));
        }
    }
}
