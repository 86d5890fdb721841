//! reStructuredText as Sphinx reads it, written as Markdown, which is then read like any other.
//!
//! Headings, literal blocks, directives, roles, hyperlinks and labels are known. The objects that a page describes (`..
//! class:: name`) are labels of their own, so that `` :class:`name` `` finds them; roles whose object no page of the set has
//! are words, and so are those that begin with `!`. Terms of a glossary are found by `:term:`. Tables of contents, includes, comments and substitution definitions are left out; the text of boxes stays.
//! Ours: no crate reads Sphinx's roles, and a tree of the text is not needed.

use super::scheme::{LABEL, OBJECT, PAGE, encode};
use super::sections::{END_CLASS, OBJECT_CLASS, slug};

/// The source as Markdown. Lines do not stay lines. If sections are asked for, objects become headings, and another
/// marks their end (see `sections`).
pub(super) fn to_markdown(source: &str, sections: bool) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let out = String::with_capacity(source.len());
    let mut writer = RstWriter { out, levels: Vec::new(), module: String::new(), sections };
    writer.block(&lines, 0);
    writer.out
}

/// More kinds of headings are all the deepest.
const DEEPEST: usize = 6;
/// Bytes of the longest name of a module.
const LONGEST_MODULE: usize = 200;
/// Before the name of a glossary's term, so that it is no object's; as an anchor, what Sphinx calls it.
const TERM_NAME: &str = "term ";
/// Boxes in boxes.
const NESTED: usize = 12;

struct RstWriter {
    out: String,
    /// Signs under (and over) headings, in the order of first sight.
    levels: Vec<(char, bool)>,
    /// The module that objects belong to.
    module: String,
    /// Whether objects are sections.
    sections: bool,
}

impl RstWriter {
    /// Writes lines whose common indentation is taken off.
    fn block(&mut self, lines: &[&str], depth: usize) {
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at];
            let start = line.trim_start();
            if let Some(used) = self.heading(&lines[at..]) {
                at += used;
            } else if start == ".." || start.starts_with(".. ") {
                at += self.explicit(&lines[at..], depth);
            } else if line.trim_end().ends_with("::") && !start.is_empty() {
                // A literal block follows.
                let text = line.trim_end().trim_end_matches("::").trim_end();
                if !text.is_empty() {
                    self.inline(text);
                    self.out.push(':');
                }
                self.out.push('\n');
                let (body, used) = indented(&lines[at + 1..], indentation(line));
                self.code(&body);
                at += 1 + used;
            } else if is_field(start) && at < 5 && self.out.trim().is_empty() {
                at += 1;
            } else {
                // Lists may be indented; deeper text would be code in Markdown.
                let indent = indentation(line).min(3);
                self.out.push_str(&" ".repeat(indent));
                self.inline(start);
                self.out.push('\n');
                at += 1;
            }
        }
    }

    /// A heading that begins here: how many lines it takes.
    fn heading(&mut self, lines: &[&str]) -> Option<usize> {
        let (over, text, under) = match (adornment(lines[0]), lines.get(1), lines.get(2)) {
            (Some(over), Some(text), Some(under)) if adornment(under) == Some(over) && !text.trim().is_empty() => {
                (true, *text, over)
            }
            (None, Some(under), _) if !lines[0].trim().is_empty() => (false, lines[0], adornment(under)?),
            _ => return None,
        };
        if !over
            && (indentation(text) > 0 || lines[1].trim_end().chars().count() < text.trim_end().chars().count().min(4))
        {
            return None;
        }
        let level = self.levels.iter().position(|level| *level == (under, over)).unwrap_or_else(|| {
            self.levels.push((under, over));
            self.levels.len() - 1
        });
        self.out.push_str(&format!("\n{} ", "#".repeat((level + 1).min(DEEPEST))));
        self.inline(text.trim());
        self.out.push_str("\n\n");
        Some(if over { 3 } else { 2 })
    }

    /// Explicit markup, `.. name:: …`, `.. _label:`, a comment: how many lines it takes.
    fn explicit(&mut self, lines: &[&str], depth: usize) -> usize {
        let indent = indentation(lines[0]);
        let text = lines[0].trim_start().trim_start_matches("..").trim();
        let (body, used) = indented(&lines[1..], indent);
        let used = used + 1;
        if let Some(label) = text.strip_prefix('_') {
            // A label of a place; with an address after it, the address of a name.
            if let Some(label) = label.strip_suffix(':') {
                self.out.push_str(&format!("\n({})=\n", label.trim_matches('`').to_lowercase()));
            }
            return 1;
        }
        let Some((name, argument)) = text.split_once("::").filter(|(name, _)| is_directive(name)) else {
            return used;
        };
        let (name, argument) = (name.trim(), argument.trim());
        let short = name.rsplit(':').next().unwrap_or(name);
        let content = after_options(&body);
        match short {
            "toctree" | "include" | "contents" | "image" | "raw" | "highlight" | "index" => {}
            "meta" | "sectionauthor" | "moduleauthor" | "codeauthor" | "default-role" | "bibliography" => {}
            "module" | "currentmodule" => {
                // It stands before every name: no module is called by more.
                self.module = if argument.len() <= LONGEST_MODULE { argument.to_owned() } else { String::new() };
                if short == "module" {
                    drop(self.object(argument));
                }
            }
            "glossary" => self.glossary(&content, depth),
            "code-block" | "code" | "sourcecode" | "literalinclude" | "doctest" | "testcode" | "testoutput"
            | "parsed-literal" | "math" | "productionlist" | "prompt" | "graphviz" | "csv-table" => self.code(&content),
            "class" | "function" | "method" | "classmethod" | "staticmethod" | "attribute" | "data" | "exception"
            | "decorator" | "describe" | "option" | "cmdoption" | "envvar" | "macro" | "type" | "member"
            | "cfunction" | "var" | "struct" | "union" | "enum" | "enumerator" | "property" | "opcode" | "confval"
            | "setting" | "directive" | "role" | "rst" | "program" => {
                // Several may share a text, each on a line.
                let more = body.iter().map(|line| line.trim()).take_while(|line| !line.is_empty() && !is_field(line));
                let names: Vec<&str> = [argument].into_iter().chain(more).collect();
                let is_c = name.starts_with("c:") || name.starts_with("cpp:");
                for (number, name) in names.iter().enumerate() {
                    let anchor = if is_c { self.declared(name) } else { self.object(name) };
                    let shown = name.replace('`', "");
                    match anchor.filter(|_| self.sections && number == 0) {
                        Some(anchor) => {
                            let anchor = encode(&anchor);
                            self.out.push_str(&format!("\n###### `{shown}` {{#{anchor} .{OBJECT_CLASS}}}\n"));
                        }
                        None => self.out.push_str(&format!("\n`{shown}`\n")),
                    }
                }
                self.out.push('\n');
                self.nested(&after_options(&body[names.len() - 1..]), depth);
                if self.sections {
                    self.out.push_str(&format!("\n###### end {{.{END_CLASS}}}\n\n"));
                }
            }
            _ => {
                self.out.push('\n');
                self.inline(argument);
                self.out.push_str("\n\n");
                self.nested(&content, depth);
            }
        }
        used
    }

    fn nested(&mut self, lines: &[&str], depth: usize) {
        if depth < NESTED {
            self.block(lines, depth + 1);
        } else {
            lines.iter().for_each(|line| {
                self.inline(line.trim());
                self.out.push('\n');
            });
        }
        self.out.push('\n');
    }

    fn code(&mut self, lines: &[&str]) {
        self.out.push_str("\n````````\n");
        lines.iter().for_each(|line| {
            self.out.push_str(line);
            self.out.push('\n');
        });
        self.out.push_str("````````\n\n");
    }

    /// A label for an object that is described here: by its name, and with its module, which is returned.
    fn object(&mut self, signature: &str) -> Option<String> {
        let signature = ["class ", "async ", "static ", "final "]
            .iter()
            .fold(signature, |text, word| text.trim_start_matches(word));
        let name: &str = signature.split(['(', ' ', '=']).next().unwrap_or_default();
        if name.is_empty() {
            return None;
        }
        let mut names = vec![name.to_owned()];
        if !self.module.is_empty() && name != self.module {
            names.push(format!("{}.{name}", self.module));
        }
        names.iter().for_each(|name| self.out.push_str(&format!("\n({OBJECT}{})=\n", name.to_lowercase())));
        names.pop()
    }

    /// A label for what a declaration in C or C++ declares; modules are none of theirs.
    fn declared(&mut self, declaration: &str) -> Option<String> {
        let head = declaration.split(['(', '=', '[', '{']).next().unwrap_or_default().trim_end();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':');
        let name = head.rsplit(|c| !is_part(c)).next().filter(|name| !name.is_empty())?;
        self.out.push_str(&format!("\n({OBJECT}{})=\n", name.to_lowercase()));
        Some(name.to_owned())
    }

    /// Terms, each with what it means further in; several may share a meaning.
    fn glossary(&mut self, lines: &[&str], depth: usize) {
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let (body, used) = indented(&lines[at + 1..], 0);
            at += used + 1;
            let term = line.split(" : ").next().unwrap_or_default().trim();
            if term.is_empty() || term.starts_with("..") {
                continue;
            }
            let shares = body.iter().all(|line| line.trim().is_empty());
            let label = format!("{TERM_NAME}{}", term.to_lowercase());
            self.out.push_str(&format!("\n({OBJECT}{label})=\n"));
            match (self.sections, slug(&label)) {
                (true, id) if shares => self.out.push_str(&format!("\n<a id=\"{id}\"></a>\n\n")),
                (true, id) => self.out.push_str(&format!("\n###### `{}` {{#{id}}}\n\n", term.replace('`', ""))),
                (false, _) => {
                    self.inline(term);
                    self.out.push_str("\n\n");
                }
            }
            self.nested(&body, depth);
        }
    }

    /// A piece of a line: roles, literals and hyperlinks.
    fn inline(&mut self, text: &str) {
        let mut at = 0;
        while let Some(tick) = text[at..].find('`').map(|found| at + found) {
            let (before, rest) = (&text[at..tick], &text[tick..]);
            if let Some(literal) = rest.strip_prefix("``") {
                let Some(end) = literal.find("``") else { break };
                self.plain(before);
                self.out.push_str(&format!("`` {} ``", literal[..end].trim()));
                at = tick + end + 4;
                continue;
            }
            let Some(end) = rest[1..].find('`') else { break };
            let inner = &rest[1..1 + end];
            let mut after = tick + end + 2;
            let role = before.strip_suffix(':').and_then(|before| Some((before.rfind(':')?, before)));
            let role =
                role.filter(|(open, before)| is_directive(&before[open + 1..]) || before[open + 1..].contains(':'));
            match role {
                Some((mut open, before)) => {
                    // A domain stands before the role: `:py:class:`.
                    if let Some(domain) =
                        before[..open].rfind(':').filter(|&domain| is_directive(&before[domain + 1..open]))
                    {
                        open = domain;
                    }
                    self.plain(&before[..open]);
                    let name = before[open + 1..].rsplit(':').next().unwrap_or_default();
                    self.role(name, inner);
                }
                None => {
                    self.plain(before);
                    let marks = text[after..].bytes().take_while(|&b| b == b'_').count().min(2);
                    after += marks;
                    let titled = inner.trim_end().strip_suffix('>').and_then(|inner| inner.rsplit_once('<'));
                    match titled.filter(|_| marks > 0) {
                        Some((words, address)) => self.link(words.trim(), "", address.trim()),
                        // A name that may be a heading or a label.
                        None if marks == 1 => self.link(inner, LABEL, &inner.to_lowercase()),
                        None => self.plain(inner),
                    }
                }
            }
            at = after;
        }
        self.plain(&text[at..]);
    }

    fn role(&mut self, name: &str, inner: &str) {
        let titled = inner.trim_end().strip_suffix('>').and_then(|inner| inner.rsplit_once('<'));
        let (words, target) =
            titled.map_or((None, inner.trim()), |(words, target)| (Some(words.trim()), target.trim()));
        // An exclamation mark asks for no link.
        if let Some(shown) = inner.trim_start().strip_prefix('!') {
            return self.plain(titled.map_or(shown.trim(), |(words, _)| words.trim().trim_start_matches('!')));
        }
        match name {
            "doc" => self.link(words.unwrap_or_default(), PAGE, target),
            "ref" | "numref" | "keyword" | "token" => {
                self.link(words.unwrap_or_default(), LABEL, &target.to_lowercase())
            }
            "term" => self.link(words.unwrap_or(target), OBJECT, &format!("{TERM_NAME}{}", target.to_lowercase())),
            "cite" | "eq" | "download" | "index" | "sup" | "sub" | "math" | "kbd" | "code" | "abbr" | "samp"
            | "file" | "command" | "program" | "guilabel" | "menuselection" | "dfn" | "pep" | "rfc" | "manpage"
            | "mimetype" | "strong" | "emphasis" | "literal" | "source" | "issue" => {
                self.plain(words.unwrap_or(target))
            }
            _ => {
                let bare = target.trim_start_matches(['~', '!', '.']);
                let shown = if target.starts_with('~') { bare.rsplit('.').next().unwrap_or(bare) } else { bare };
                let name = bare.trim_end_matches("()").trim_end_matches([' ', '*']);
                self.link(words.unwrap_or(shown), OBJECT, &name.to_lowercase());
            }
        }
    }

    fn link(&mut self, words: &str, scheme: &str, target: &str) {
        self.out.push('[');
        for c in words.chars() {
            if matches!(c, '[' | ']' | '\\' | '*' | '_') {
                self.out.push('\\');
            }
            self.out.push(c);
        }
        self.out.push_str(&format!("]({scheme}{})", encode(target)));
    }

    /// Words; substitutions lose their bars, footnote marks go.
    fn plain(&mut self, text: &str) {
        let text = text.replace("\\ ", "");
        for (number, word) in text.split(' ').enumerate() {
            if number > 0 {
                self.out.push(' ');
            }
            let footnote = word.starts_with('[') && word.contains("]_");
            let bars = word.len() > 2 && word.starts_with('|') && word[1..].contains('|');
            if bars {
                self.out.push_str(&word.replace('|', ""));
            } else if !footnote {
                // `name_` is a link by name.
                let name = word
                    .trim_end_matches(['.', ',', ';', ')'])
                    .strip_suffix('_')
                    .filter(|name| name.len() > 1 && !name.contains('_'));
                self.out.push_str(&match name {
                    Some(name) => word.replacen(&format!("{name}_"), name, 1),
                    None => word.replace('[', "\\["),
                });
            }
        }
    }
}

/// Lines more indented than `indent` (or blank) that follow, without the indentation they share; and how many they are.
fn indented<'a>(lines: &[&'a str], indent: usize) -> (Vec<&'a str>, usize) {
    let belongs = |line: &&&str| line.trim().is_empty() || indentation(line) > indent;
    let mut used = lines.iter().take_while(belongs).count();
    while used > 0 && lines[used - 1].trim().is_empty() {
        used -= 1;
    }
    let filled = lines[..used].iter().filter(|line| !line.trim().is_empty());
    let least = filled.map(|line| indentation(line)).min().unwrap_or(0);
    let cut = |line: &&'a str| line.get(least.min(indentation(line))..).unwrap_or(line);
    (lines[..used].iter().map(cut).collect(), used)
}

/// The lines of a directive's content, after its options.
fn after_options<'a>(body: &[&'a str]) -> Vec<&'a str> {
    let options = body.iter().take_while(|line| is_field(line.trim())).count();
    body[options..].to_vec()
}

/// Bytes of white space (of one byte each) before the text.
fn indentation(line: &str) -> usize {
    line.bytes().take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// `:name: value`.
fn is_field(line: &str) -> bool {
    line.strip_prefix(':').and_then(|rest| rest.split_once(':')).is_some_and(|(name, rest)| {
        !name.is_empty() && !name.contains('`') && (rest.is_empty() || rest.starts_with(' '))
    })
}

/// The sign of a line that is nothing else, three times or more.
fn adornment(line: &str) -> Option<char> {
    let line = line.trim_end();
    let sign = line.chars().next().filter(char::is_ascii_punctuation)?;
    (line.len() >= 3 && line.chars().all(|c| c == sign)).then_some(sign)
}

fn is_directive(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_:+.".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;

    fn squeezed(source: &str) -> String {
        let markdown = to_markdown(source, false);
        markdown.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn headings_have_levels_by_their_signs() {
        assert_eq!(
            squeezed("=====\nTitle\n=====\n\nPart\n----\n\nSub\n^^^\n\nPart two\n--------\ntext"),
            "# Title\n## Part\n### Sub\n## Part two\ntext"
        );
        assert_eq!(squeezed("a\n\n---\n\nb"), "a\n---\nb");
    }

    #[test]
    fn roles_and_hyperlinks_become_links() {
        for (rest, markdown) in [
            ("see :doc:`a/b`.", "see [](hd2v-page:a/b)."),
            (
                ":doc:`the b <../b>` :ref:`x` :ref:`Y <Far Label>`",
                "[the b](hd2v-page:../b) [](hd2v-label:x) [Y](hd2v-label:far%20label)",
            ),
            (
                "a :py:class:`~os.Path` or :meth:`.join`",
                "a [Path](hd2v-label:hd2v-object:os.path) or [join](hd2v-label:hd2v-object:join)",
            ),
            ("`words <b.html>`_ and `Name`_ and other_.", "[words](b.html) and [Name](hd2v-label:name) and other."),
            ("``code`` |x| [1]_ :kbd:`word` `title`", "`` code `` x  word title"),
            (
                ":term:`Weirs <weir>` :c:type:`River *` :keyword:`!with` :ref:`!x <y>`",
                "[Weirs](hd2v-label:hd2v-object:term%20weir) [River \\*](hd2v-label:hd2v-object:river) with x",
            ),
            ("a ` tick", "a ` tick"),
        ] {
            assert_eq!(squeezed(rest), markdown.replace("hd2v-label:hd2v-object:", OBJECT), "{rest}");
        }
    }

    #[test]
    fn directives_keep_their_text_and_lose_their_marks() {
        let rest = ".. _far-label:\n\n.. note:: Mind\n   :class: x\n\n   the *gap* at :doc:`b`\n\n.. toctree::\n   :maxdepth: 2\n\n   a\n   b\n\n.. a comment\n   goes on\n\nExample::\n\n   x = `1`\n\n.. code-block:: python\n\n   y\n\nend";
        let expected = "(far-label)=\nMind\nthe *gap* at [](hd2v-page:b)\nExample:\n````````\nx = `1`\n````````\n````````\ny\n````````\nend";
        assert_eq!(squeezed(rest), expected);
        let rest = ".. module:: os.path\n\n.. function:: join(path, *paths)\n              split(path)\n\n   Joins.\n";
        let label = |name: &str| format!("({OBJECT}{name})=\n");
        let expected = [
            label("os.path"),
            label("join"),
            label("os.path.join"),
            "`join(path, *paths)`\n".into(),
            label("split"),
            label("os.path.split"),
            "`split(path)`\nJoins.".into(),
        ];
        assert_eq!(squeezed(rest), expected.concat());
        for (declaration, name) in [
            ("function:: Weir* Weir_New(River *r, int h)", "weir_new"),
            ("member:: size_t Weir.height", "weir.height"),
            ("macro:: WEIR_MAX", "weir_max"),
            ("var:: int levels[3]", "levels"),
        ] {
            let shown = declaration.split_once(":: ").expect("a declaration").1;
            let rest = format!(".. module:: rivers\n\n.. c:{declaration}\n");
            assert_eq!(squeezed(&rest), [label("rivers"), label(name), format!("`{shown}`")].concat());
        }
    }

    #[test]
    fn terms_of_a_glossary_are_labels() {
        let rest = ".. glossary::\n   :sorted:\n\n   Lade\n   mill race : water\n      Leads to a :term:`weir`.\n\n   weir\n      Holds water.\n";
        let label = |name: &str| format!("({OBJECT}term {name})=\n");
        let link = format!("Leads to a [weir]({OBJECT}term%20weir).\n");
        let expected =
            [label("lade"), "Lade\n".into(), label("mill race"), "mill race\n".into(), link, label("weir")].concat();
        assert_eq!(squeezed(rest), format!("{expected}weir\nHolds water."));
    }

    #[test]
    fn odd_sources_take_time_in_proportion() {
        for piece in [
            "`",
            ":a:`",
            "``",
            ".. ",
            ".. note::\n  ",
            "a\n===\n",
            "|a",
            "[1]_ ",
            "::\n ",
            ".. class:: a\n",
            ".. c:var:: a\n",
        ] {
            assert_linear(piece, 8_000, |pieces| drop(to_markdown(&piece.repeat(pieces), true)));
        }
        assert_linear("terms", 8_000, |pieces| {
            drop(to_markdown(&format!(".. glossary::\n\n{}", "   a\n      b\n".repeat(pieces)), true));
        });
        assert_linear("names of a module", 8_000, |pieces| {
            let source = format!(".. module:: {}\n\n{}", "m".repeat(pieces), ".. data:: a\n\n".repeat(pieces));
            drop(to_markdown(&source, true));
        });
    }
}
