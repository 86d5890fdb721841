//! LaTeX to plain text with citation marks: commands taken out, formulas and pictures dropped, accents resolved.
//!
//! Ours: no crate we know of gives text and marks of LaTeX that is wrong in places, in linear time.

use std::collections::{HashMap, HashSet};

use icu_normalizer::ComposingNormalizer;

use super::commands::{BREAKS, DROPPED, SECOND_COUNTS, accent, dropped_arguments, is_citation, letters};
use super::tokens::{LONGEST, after_options, group, name};
use crate::import::reference::{BibRecord, Mark, MarkedText};
use crate::import::text::collapsed;

/// Groups are read inside groups to this depth; below it braces are just left out.
const DEEPEST: usize = 10;
/// How often macros of the paper are replaced by what they stand for.
const MOST_MACROS: usize = 100_000;
/// Longer macros are no words.
const LONGEST_MACRO: usize = 200;
/// A formula between dollars is no longer than this.
const LONGEST_FORMULA: usize = 5000;

/// The text of a whole paper, its marks naming these entries.
pub(super) fn body(source: &str, entries: &[(String, BibRecord)]) -> (String, Vec<Mark>) {
    let start = source.find("\\begin{document}").map_or(0, |at| at + "\\begin{document}".len());
    let end = source[start..].find("\\end{document}").map_or(source.len(), |at| start + at);
    let mut strip = Strip::new(MarkedText::new(entries), source.len());
    strip.macros = macros(&source[..start]);
    strip.write(&source[start..end], 0);
    strip.text.finish()
}

/// A piece of LaTeX as plain text; addresses of links are kept if `addresses`.
pub(in crate::import) fn plain(source: &str, addresses: bool) -> String {
    let mut strip = Strip::new(MarkedText::default(), source.len());
    strip.addresses = addresses;
    strip.write(source, 0);
    let (text, _) = strip.text.finish();
    if addresses { text } else { collapsed(&text) }
}

/// Macros without arguments that the paper defines.
fn macros(preamble: &str) -> HashMap<&str, &str> {
    let mut macros = HashMap::new();
    let mut rest = preamble;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        rest = &rest[at + 1..];
        let command = name(rest);
        if !matches!(command, "newcommand" | "renewcommand" | "providecommand" | "def") {
            continue;
        }
        let after = rest[command.len()..].trim_start_matches(['*', ' ']);
        let braced = after.strip_prefix('{');
        let Some(called) = braced.unwrap_or(after).trim_start().strip_prefix('\\') else { continue };
        let new = name(called);
        let after = called[new.len()..].trim_start();
        let after = if braced.is_some() { after.strip_prefix('}').unwrap_or(after) } else { after };
        if let Some(length) = group(after, b'{', b'}', LONGEST_MACRO).filter(|_| !new.is_empty()) {
            macros.insert(new, &after[1..length - 1]);
        }
    }
    macros
}

struct Strip<'a> {
    text: MarkedText,
    macros: HashMap<&'a str, &'a str>,
    expansions: usize,
    /// Keep the addresses of links.
    addresses: bool,
    /// Bytes that may still be looked at in vain.
    patience: usize,
    /// Environments that do not end.
    endless: HashSet<String>,
}

impl<'a> Strip<'a> {
    fn new(text: MarkedText, length: usize) -> Strip<'a> {
        Strip {
            text,
            macros: HashMap::new(),
            expansions: 0,
            addresses: false,
            patience: 16 * length + LONGEST,
            endless: HashSet::new(),
        }
    }

    /// The group in braces at the start of `text`, after white space, and the text that follows.
    fn argument<'s>(&mut self, text: &'s str) -> Option<(&'s str, &'s str)> {
        let text = text.trim_start();
        let most = LONGEST.min(self.patience);
        let length = group(text, b'{', b'}', most);
        if length.is_none() && text.starts_with('{') {
            self.patience -= most.min(text.len());
        }
        length.map(|length| (&text[1..length - 1], &text[length..]))
    }

    fn write(&mut self, source: &'a str, depth: usize) {
        let mut rest = source;
        while let Some(at) = rest.find(['\\', '{', '}', '$', '~', '\n', '`', '\'', '-', '&', '#', '^', '_']) {
            self.text.push(&rest[..at]);
            let sign = rest.as_bytes()[at];
            let after = &rest[at + 1..];
            rest = match sign {
                b'\\' => self.command(after, depth),
                b'$' => self.formula(after),
                b'~' | b'&' => {
                    self.text.push(" ");
                    after
                }
                b'\n' => {
                    // An empty line parts paragraphs.
                    let next = after.trim_start_matches([' ', '\t', '\r']);
                    if next.starts_with('\n') {
                        self.text.break_line()
                    } else {
                        self.text.push(" ")
                    }
                    after
                }
                b'`' | b'\'' if after.as_bytes().first() == Some(&sign) => {
                    self.text.push("\"");
                    &after[1..]
                }
                b'-' if after.starts_with('-') => {
                    self.text.push("–");
                    after.trim_start_matches('-')
                }
                b'`' | b'\'' => {
                    self.text.push("'");
                    after
                }
                b'-' => {
                    self.text.push("-");
                    after
                }
                _ => after,
            };
        }
        self.text.push(rest);
    }

    /// Leaves out a formula; a dollar that has no partner is left out alone.
    fn formula(&mut self, after: &'a str) -> &'a str {
        let (dollars, inside) = match after.strip_prefix('$') {
            Some(inside) => ("$$", inside),
            None => ("$", after),
        };
        let bytes = inside.as_bytes();
        let end = memchr::memmem::find_iter(&bytes[..bytes.len().min(LONGEST_FORMULA)], dollars)
            .find(|&at| !bytes[..at].ends_with(b"\\"));
        self.text.push(" ");
        end.map_or(after, |end| &inside[end + dollars.len()..])
    }

    /// Reads a command after its backslash, and gives back what follows it.
    fn command(&mut self, after: &'a str, depth: usize) -> &'a str {
        let called = name(after);
        if called.is_empty() {
            return self.sign(after);
        }
        let rest = &after[called.len()..];
        let rest = rest.strip_prefix('*').unwrap_or(rest);
        if is_citation(called) {
            return self.citation(called, rest);
        }
        if let Some(letters) = letters(called) {
            self.text.push(letters);
            let rest = rest.strip_prefix("{}").unwrap_or(rest);
            return rest.strip_prefix(' ').unwrap_or(rest);
        }
        if let ("c" | "v" | "u" | "H" | "r" | "k" | "d" | "b", Some(mark)) = (called, accent(called)) {
            return self.accented(rest, mark);
        }
        match called {
            "begin" => return self.environment(rest, depth),
            "end" => {
                self.text.break_line();
                return self.argument(rest).map_or(rest, |(_, rest)| rest);
            }
            "iffalse" if !self.endless.contains("\\fi") => {
                let Some(end) = rest.find("\\fi") else {
                    self.endless.insert("\\fi".to_owned());
                    return rest;
                };
                return &rest[end + 3..];
            }
            "verb" => {
                let mark = rest.chars().next().unwrap_or(' ');
                let inside = &rest[mark.len_utf8().min(rest.len())..];
                let end = inside.bytes().take(LONGEST_MACRO).position(|b| b == mark as u8 && mark.is_ascii());
                return end.map_or(inside, |end| &inside[end + 1..]);
            }
            "def" | "gdef" | "edef" => {
                let brace = rest.bytes().take(LONGEST_MACRO).position(|b| b == b'{');
                let body = brace.and_then(|at| self.argument(&rest[at..]));
                return body.map_or(rest, |(_, rest)| rest);
            }
            "par" | "newblock" | "newline" | "linebreak" | "maketitle" => {
                self.text.break_line();
                return rest;
            }
            "enquote" if depth < DEEPEST => {
                let Some((inside, rest)) = self.argument(rest) else { return rest };
                self.text.push(" \"");
                self.write(inside, depth + 1);
                self.text.push("\"");
                return rest;
            }
            "url" | "path" | "doi" | "eprint" => {
                let Some((address, rest)) = self.argument(rest) else { return rest };
                if self.addresses {
                    let label = match called {
                        "doi" => " doi:",
                        "eprint" => " arXiv:",
                        _ => " ",
                    };
                    self.text.push(label);
                    self.text.push(address);
                }
                self.text.push(" ");
                return rest;
            }
            _ => {}
        }
        if let Some(arguments) = dropped_arguments(called) {
            let mut rest = after_options(rest);
            for _ in 0..arguments {
                // `\newcommand\x{…}`
                let next = rest.trim_start();
                let bare = next.strip_prefix('\\').map(|next| &next[name(next).len()..]);
                rest = match (self.argument(rest), bare) {
                    (Some((_, rest)), _) => rest,
                    (None, Some(bare)) if arguments > 1 => bare,
                    (None, _) => return rest,
                };
                rest = after_options(rest);
            }
            self.text.push(" ");
            return rest;
        }
        if called == "hyperref" && rest.starts_with('[') {
            return after_options(rest);
        }
        if SECOND_COUNTS.contains(&called) {
            let rest = after_options(rest);
            let Some((first, rest)) = self.argument(rest) else { return rest };
            if self.addresses && matches!(called, "href" | "Eprint") {
                // REVTeX writes `\doibase 10.1000/182`.
                let address = first.trim().strip_prefix("\\doibase").unwrap_or(first);
                self.text.push(&format!(" {address} "));
            }
            let next = rest.trim_start();
            return if next.starts_with('{') { next } else { rest };
        }
        if BREAKS.contains(&called) {
            let rest = after_options(rest);
            self.text.break_line();
            if depth < DEEPEST
                && called != "item"
                && let Some((inside, rest)) = self.argument(rest)
            {
                self.write(inside, depth + 1);
                self.text.break_line();
                return rest;
            }
            return rest;
        }
        if let Some(&meaning) = self.macros.get(called)
            && depth < DEEPEST
            && self.expansions < MOST_MACROS
        {
            self.expansions += 1;
            self.write(meaning, depth + 3);
            return rest.strip_prefix("{}").unwrap_or(rest);
        }
        after_options(rest)
    }

    /// A command of one sign: an accent, a formula, an escaped sign.
    fn sign(&mut self, after: &'a str) -> &'a str {
        let Some(sign) = after.chars().next() else { return after };
        let rest = &after[sign.len_utf8()..];
        match sign {
            '\'' | '`' | '^' | '"' | '~' | '=' | '.' => {
                let mut buffer = [0; 4];
                accent(sign.encode_utf8(&mut buffer)).map_or(rest, |mark| self.accented(rest, mark))
            }
            '(' | '[' => {
                let end = if sign == '(' { "\\)" } else { "\\]" };
                self.text.push(" ");
                let bytes = &rest.as_bytes()[..rest.len().min(LONGEST_FORMULA)];
                memchr::memmem::find(bytes, end.as_bytes()).map_or(rest, |at| &rest[at + 2..])
            }
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                self.text.push(&after[..1]);
                rest
            }
            '-' | '/' => rest,
            '\\' => {
                self.text.push(" ");
                after_options(rest.strip_prefix('*').unwrap_or(rest))
            }
            _ => {
                self.text.push(" ");
                rest
            }
        }
    }

    /// A letter, in braces or not, with an accent.
    fn accented(&mut self, after: &'a str, mark: char) -> &'a str {
        let bare = after.trim_start_matches([' ', '{']);
        let braces = after[..after.len() - bare.len()].matches('{').count();
        let bare = match bare.strip_prefix("\\i").or_else(|| bare.strip_prefix("\\j")) {
            Some(rest) if name(rest).is_empty() => {
                let letter = if bare.starts_with("\\i") { 'i' } else { 'j' };
                self.push_accented(letter, mark);
                rest
            }
            _ => {
                let Some(letter) = bare.chars().next().filter(|c| c.is_alphabetic()) else { return after };
                self.push_accented(letter, mark);
                &bare[letter.len_utf8()..]
            }
        };
        let mut rest = bare;
        for _ in 0..braces {
            rest = rest.strip_prefix('}').unwrap_or(rest);
        }
        rest
    }

    fn push_accented(&mut self, letter: char, mark: char) {
        let pair: String = [letter, mark].iter().collect();
        self.text.push(&ComposingNormalizer::new_nfc().normalize(&pair));
    }

    fn citation(&mut self, called: &str, rest: &'a str) -> &'a str {
        let several = called.ends_with("cites");
        // apacite's `\cite<see>[p. 3]{a}`, biblatex's `\cites(see)(p. 3){a}{b}`
        let (open, close, notes) = if several { (b'(', b')', 2) } else { (b'<', b'>', 1) };
        let after = |rest, _| group(rest, open, close, 2048).map_or(rest, |length| &rest[length..]);
        let mut rest = (0..notes).fold(rest, after);
        let mut keys = Vec::new();
        loop {
            rest = after_options(rest);
            let next = if several && !keys.is_empty() && !rest.starts_with('{') { None } else { self.argument(rest) };
            let Some((list, after)) = next else { break };
            keys.extend(list.split(',').map(str::trim).filter(|key| !key.is_empty()).map(str::to_owned));
            rest = after;
            if !several {
                break;
            }
        }
        self.text.mark(keys, "");
        rest
    }

    /// `\begin{…}`: leaves out what is no text, and goes on inside the rest.
    fn environment(&mut self, rest: &'a str, depth: usize) -> &'a str {
        let Some((called, inside)) = self.argument(rest) else { return rest };
        self.text.break_line();
        let bare = called.trim_end_matches('*');
        if !DROPPED.contains(&bare) || self.endless.contains(called) {
            let inside = after_options(inside);
            let sized = matches!(bare, "minipage" | "multicols" | "adjustwidth" | "spacing" | "tcolorbox");
            return if sized { self.argument(inside).map_or(inside, |(_, rest)| rest) } else { inside };
        }
        let end = format!("\\end{{{called}}}");
        let Some(length) = memchr::memmem::find(inside.as_bytes(), end.as_bytes()) else {
            self.endless.insert(called.to_owned());
            return inside;
        };
        let mut dropped = &inside[..length];
        let float = ["fig", "tab", "wrap", "sideways", "algorithm"].iter().any(|start| bare.starts_with(start));
        while float
            && depth < DEEPEST
            && let Some(at) = dropped.find("\\caption")
        {
            let after = after_options(&dropped[at + "\\caption".len()..]);
            dropped = after;
            if let Some((caption, rest)) = self.argument(after) {
                self.write(caption, depth + 1);
                self.text.break_line();
                dropped = rest;
            }
        }
        &inside[length + end.len()..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;

    fn read(source: &str) -> String {
        let (mut text, marks) = body(source, &[]);
        for mark in marks.iter().rev() {
            text.insert_str(mark.at, &format!("‹{}›", mark.keys.join(" ")));
        }
        text
    }

    #[test]
    fn commands_go_and_their_words_stay() {
        assert_eq!(
            read("\\section*{One {\\bf two}} We \\emph{do} it\\footnote{A note.} so."),
            "One two\nWe do it\nA note.\nso."
        );
        assert_eq!(read("a $x^2$ b \\(y\\) c $$z$$ d \\[w\\] e 5\\% f"), "a b c d e 5% f");
        assert_eq!(
            read("a\\label{x} b \\textcolor{red}{c} \\href{http://d}{e} \\ref{f}g ``h'' i--j~k"),
            "a b c e g \"h\" i–j k"
        );
        assert_eq!(read("\\hyperref[sec:x]{Section} \\hyperref{u}{a} b, \\enquote{c} d"), "Section a b, \"c\" d");
        assert_eq!(read("\\begin{itemize}\\item a \\item b\\end{itemize}c\n\nd"), "a\nb\nc\nd");
    }

    #[test]
    fn accents_become_letters() {
        assert_eq!(
            read("Erd\\H{o}s, M\\\"uller, na\\\"{\\i}ve, \\c{c}a, \\v Skoda, {\\'E}a, \\o re, Stra\\ss e"),
            "Erdős, Müller, naïve, ça, Škoda, Éa, øre, Straße"
        );
    }

    #[test]
    fn figures_tables_and_formulas_leave_their_captions_only() {
        let source = "a\\begin{figure*}[t]\\includegraphics{x}\\caption[s]{Cap \\cite{k}.}\\end{figure*}b\
                      \\begin{align}x&=y\\end{align}c\\begin{thebibliography}{9}\\bibitem{k} K\\end{thebibliography}";
        assert_eq!(read(source), "a\nCap‹k›.\nb\nc");
    }

    #[test]
    fn citations_of_all_kinds_are_marks() {
        assert_eq!(read("a \\cite{x} b"), "a‹x› b");
        assert_eq!(read("a~\\citep[see][p.~5]{x, y} \\Citet*{z}b \\nocite{q}."), "a‹x y z› b .");
        assert_eq!(read("(\\parencites[a]{x}[b]{y}) [\\cite{z}]."), "‹x y z›.");
        assert_eq!(read("a \\cites(see)(p. 3){x}{y} or \\cite<see>[p. 3]{z}."), "a‹x y› or‹z›.");
        assert_eq!(read("a \\newcite{x} \\citetext{see \\citealp{y}} he \\excited{was}"), "a‹x› see‹y› he was");
        assert_eq!(read("a \\cite{x},\\cite{y} and \\cite{z}"), "a‹x y› and‹z›");
    }

    #[test]
    fn macros_of_the_paper_are_replaced_and_cannot_run_away() {
        assert_eq!(
            read("\\newcommand{\\sys}{Foo}\\def\\n{n\\sys}\\begin{document}A \\sys{} b \\n.\\end{document}x"),
            "A Foo b nFoo."
        );
        let bomb = "\\def\\a{\\b\\b\\b\\b}\\def\\b{\\a\\a\\a\\a}\\begin{document}\\a";
        assert!(read(bomb).len() < 10);
    }

    #[test]
    fn time_grows_with_what_never_closes() {
        for piece in ["\\section{", "\\begin{figure}", "$", "{", "\\cite{", "\\cite[", "\\verb|", "\\(", "\\def", "\\'"]
        {
            assert_linear(piece, 100_000, |pieces| drop(body(&piece.repeat(pieces), &[])));
        }
    }
}
