//! Wikitext, first reading: comments, references, formulas, templates, tables, pictures and categories are taken out.
//!
//! One pass from left to right with a list of what is open; no recursion, and no byte is looked at more than a few times,
//! however brackets are nested. What closes is cut out of the text written so far. What never closes stays as text.
//!
//! Ours, not parse-wiki-text-2: that builds a tree and promises no linear time, and what is lost could not be counted.

use super::templates;
use super::titles::{Wiki, WikiTarget};

/// Elements that are left out with what they hold.
const DROPPED: &str = "ref references math chem ce gallery timeline imagemap score graph hiero templatedata \
    templatestyles categorytree inputbox indicator style script mapframe maplink includeonly section \
    dynamicpagelist charinsert";
/// Elements that hold no wikitext; what they hold is text.
const LITERAL: &str = "nowiki pre syntaxhighlight source";

/// No name of such an element is longer.
const LONGEST_NAME: usize = 16;
/// Templates nested deeper are left out, whatever they are.
const DEEPEST_KEPT: usize = 40;
/// No title is longer, however it is written.
const LONGEST_TARGET: usize = 1024;
/// A table begins at the start of a line, after at most so many spaces and colons.
const DEEPEST_INDENT: usize = 32;

/// The result of the first reading.
#[derive(Debug, Default)]
pub(super) struct Stripped {
    /// Wikitext with links, quotes, headings, lists, tags and entities, and nothing else.
    pub(super) text: String,
    /// Categories, in order.
    pub(super) categories: Vec<String>,
    /// `[[` that do not close.
    pub(super) open_links: usize,
    /// Templates that do not close.
    pub(super) open_templates: usize,
    /// Tables that do not close; their rows are in the text.
    pub(super) open_tables: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FrameKind {
    Link,
    Braces,
    Table,
}

/// Something open.
struct Frame {
    kind: FrameKind,
    /// Where it begins in the text.
    start: usize,
    /// For braces, how many there are.
    braces: usize,
    /// How many bars there were before it.
    bars: usize,
}

struct Stripper<'a> {
    source: &'a str,
    site: &'a Wiki,
    out: Stripped,
    frames: Vec<Frame>,
    /// How many of them are braces, and tables.
    braces: usize,
    tables: usize,
    /// Where `|` stands in the text, within what is open.
    bars: Vec<usize>,
    /// Elements that do not close any more from here on.
    never_closed: Vec<&'static str>,
}

/// Reads wikitext of a page of `site`.
pub(super) fn strip(source: &str, site: &Wiki) -> Stripped {
    let out = Stripped { text: String::with_capacity(source.len() / 2), ..Stripped::default() };
    let mut stripper = Stripper {
        source,
        site,
        out,
        frames: Vec::new(),
        braces: 0,
        tables: 0,
        bars: Vec::new(),
        never_closed: Vec::new(),
    };
    stripper.run();
    while stripper.pop().is_some() {}
    stripper.out
}

impl Stripper<'_> {
    fn run(&mut self) {
        let source = self.source;
        let bytes = source.as_bytes();
        let (mut at, mut copied) = (0, 0);
        let special = |b: &u8| matches!(b, b'<' | b'{' | b'}' | b'[' | b']' | b'|');
        while let Some(step) = bytes[at..].iter().position(special) {
            at += step;
            self.out.text.push_str(&source[copied..at]);
            let next = match bytes[at] {
                b'<' => self.element(at),
                b'|' => self.bar(at),
                bracket => self.brackets(bracket, at),
            };
            // What was not understood is text.
            copied = next.unwrap_or(at);
            at = next.unwrap_or(at + 1);
        }
        self.out.text.push_str(&source[copied..]);
    }

    /// A comment or an element, and where the source goes on after it.
    fn element(&mut self, at: usize) -> Option<usize> {
        let rest = &self.source.as_bytes()[at..];
        if rest.starts_with(b"<!--") {
            let end = memchr::memmem::find(&rest[4..], b"-->");
            return Some(at + end.map_or(rest.len(), |end| end + 7));
        }
        let name = rest[1..].iter().take(LONGEST_NAME + 1).take_while(|b| b.is_ascii_alphanumeric()).count();
        let name = &rest[1..=name];
        let known = |list: &'static str| list.split(' ').find(|known| name.eq_ignore_ascii_case(known.as_bytes()));
        let (name, literal) = match known(LITERAL) {
            Some(name) => (name, true),
            None => (known(DROPPED)?, false),
        };
        let inside = 1 + name.len();
        let end = inside + memchr::memchr2(b'<', b'>', &rest[inside..]).filter(|&end| rest[inside + end] == b'>')?;
        if rest[end - 1] == b'/' {
            return Some(at + end + 1);
        }
        if self.never_closed.contains(&name) {
            return None;
        }
        let Some((content, close)) = find_close(&rest[end + 1..], name) else {
            self.never_closed.push(name);
            return None;
        };
        if literal {
            let content = &self.source[at + end + 1..at + end + 1 + content];
            push_literal(&mut self.out.text, content);
        }
        Some(at + end + 1 + close)
    }

    fn bar(&mut self, at: usize) -> Option<usize> {
        let rest = &self.source.as_bytes()[at..];
        if self.tables > 0 && rest.starts_with(b"|}") && self.at_line_start() {
            let top = self.frames.iter().rev().find(|frame| frame.kind != FrameKind::Link).map(|frame| frame.kind);
            // `|}}` may end a template whose last argument is empty.
            if top == Some(FrameKind::Table) || rest.get(2) != Some(&b'}') {
                while let Some(frame) = self.pop_until(FrameKind::Table) {
                    if frame.kind == FrameKind::Table {
                        self.out.text.truncate(frame.start);
                        break;
                    }
                }
                return Some(at + 2);
            }
        }
        if self.frames.last().is_some_and(|frame| frame.kind != FrameKind::Table) {
            self.bars.push(self.out.text.len());
        }
        None
    }

    /// A run of one kind of bracket or brace.
    fn brackets(&mut self, bracket: u8, at: usize) -> Option<usize> {
        let rest = &self.source.as_bytes()[at..];
        let run = rest.iter().take_while(|&&b| b == bracket).count();
        match bracket {
            b'{' if run == 1 && rest.get(1) == Some(&b'|') && self.at_line_start() => {
                self.push(FrameKind::Table, 0);
                self.out.text.push_str("{|");
                return Some(at + 2);
            }
            b'{' if run > 1 => {
                self.push(FrameKind::Braces, run);
                self.out.text.push_str(&self.source[at..at + run]);
                return Some(at + run);
            }
            b'[' if run > 1 => {
                self.out.text.push_str(&self.source[at..at + run - 2]);
                self.push(FrameKind::Link, 0);
                self.out.text.push_str("[[");
                return Some(at + run);
            }
            b']' if run > 1 => {
                // The odd one closes a web address inside.
                let mut left = run;
                if run % 2 == 1 {
                    self.out.text.push(']');
                    left -= 1;
                }
                while left > 1 && self.frames.last().is_some_and(|frame| frame.kind == FrameKind::Link) {
                    self.close_link();
                    left -= 2;
                }
                self.out.text.push_str(&self.source[at..at + left]);
                return Some(at + run);
            }
            b'}' if run > 1 => {
                let mut left = run;
                while left > 1 && self.braces > 0 {
                    left -= self.close_braces(left);
                }
                self.out.text.push_str(&self.source[at..at + left]);
                return Some(at + run);
            }
            _ => {}
        }
        None
    }

    fn push(&mut self, kind: FrameKind, braces: usize) {
        self.braces += usize::from(kind == FrameKind::Braces);
        self.tables += usize::from(kind == FrameKind::Table);
        self.frames.push(Frame { kind, start: self.out.text.len(), braces, bars: self.bars.len() });
    }

    /// Gives up what was opened last: it is text.
    fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        match frame.kind {
            FrameKind::Link => self.out.open_links += 1,
            FrameKind::Braces => {
                self.out.open_templates += 1;
                self.braces -= 1;
            }
            FrameKind::Table => {
                self.out.open_tables += 1;
                self.tables -= 1;
            }
        }
        Some(frame)
    }

    /// Takes what was opened last, which closes if it is of `kind`, else is given up.
    fn pop_until(&mut self, kind: FrameKind) -> Option<Frame> {
        let frame = self.pop()?;
        if frame.kind == kind {
            match kind {
                FrameKind::Link => self.out.open_links -= 1,
                FrameKind::Braces => self.out.open_templates -= 1,
                FrameKind::Table => self.out.open_tables -= 1,
            }
            self.bars.truncate(frame.bars);
        }
        Some(frame)
    }

    fn close_link(&mut self) {
        let first_bar = self.frames.last().and_then(|frame| self.bars.get(frame.bars)).copied();
        let Some(frame) = self.pop_until(FrameKind::Link) else { return };
        let target = &self.out.text[frame.start + 2..first_bar.unwrap_or(self.out.text.len())];
        let target = target.strip_suffix(']').unwrap_or(target);
        if target.len() <= LONGEST_TARGET && self.site.leaves_nothing(target) {
            if let WikiTarget::Category(category) = self.site.target(target) {
                self.out.categories.push(category);
            }
            self.out.text.truncate(frame.start);
        } else {
            self.out.text.push_str("]]");
        }
    }

    /// Closes the innermost braces by two or three of `left`; returns how many it took.
    fn close_braces(&mut self, left: usize) -> usize {
        while self.frames.last().is_some_and(|frame| frame.kind != FrameKind::Braces) {
            self.pop();
        }
        let Some(frame) = self.frames.last_mut() else { return left };
        let taken = left.min(frame.braces).min(3);
        frame.braces -= taken;
        let start = frame.start + frame.braces;
        let (bars, more) = (frame.bars, frame.braces > 1);
        // Three braces hold the name of an argument.
        let kept = if taken == 2 && self.braces <= DEEPEST_KEPT {
            templates::kept(&self.out.text, start + 2, &self.bars[bars..])
        } else {
            None
        };
        self.out.text.truncate(start);
        self.bars.truncate(bars);
        if !more {
            self.frames.pop();
            self.braces -= 1;
        }
        if let Some(kept) = kept {
            self.out.text.push_str(&kept);
        }
        taken
    }

    /// Whether what is written so far ends with the start of a line.
    fn at_line_start(&self) -> bool {
        let text = self.out.text.as_bytes();
        let before = text.iter().rev().take(DEEPEST_INDENT).find(|b| !matches!(b, b' ' | b'\t' | b':'));
        match before {
            Some(b) => *b == b'\n',
            None => text.len() <= DEEPEST_INDENT,
        }
    }
}

/// Where `</name>` begins and ends.
fn find_close(bytes: &[u8], name: &str) -> Option<(usize, usize)> {
    for start in memchr::memmem::find_iter(bytes, b"</") {
        let found = bytes.get(start + 2..start + 2 + name.len())?;
        if found.eq_ignore_ascii_case(name.as_bytes()) {
            let after = &bytes[start + 2 + name.len()..];
            let spaces = after.iter().take(8).take_while(|b| b.is_ascii_whitespace()).count();
            if after.get(spaces) == Some(&b'>') {
                return Some((start, start + 2 + name.len() + spaces + 1));
            }
        }
    }
    None
}

/// Appends text that means nothing but itself: what could mean more is written as an entity.
fn push_literal(out: &mut String, text: &str) {
    let mut done = 0;
    let special =
        |b: u8| b.is_ascii_punctuation() && !matches!(b, b'.' | b',' | b'"' | b'(' | b')' | b'-' | b'/' | b'?' | b'%');
    for (at, byte) in text.bytes().enumerate() {
        // What is an entity already stays one.
        if special(byte) && !matches!(byte, b'&' | b';') && !(byte == b'#' && text[..at].ends_with('&')) {
            out.push_str(&text[done..at]);
            out.push_str(&format!("&#{byte};"));
            done = at + 1;
        }
    }
    out.push_str(&text[done..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;

    fn stripped(source: &str) -> String {
        strip(source, &Wiki::new(&[0])).text
    }

    #[test]
    fn templates_are_left_out_however_they_are_nested() {
        assert_eq!(stripped("a {{b|c={{d|[[e|f]]}}|{{{g|h}}} }} i"), "a  i");
        assert_eq!(stripped("a {{{{{b}}}|c}} d {{{e|{{f}}}}} g"), "a  d  g");
        assert_eq!(stripped("{ a } {b| c"), "{ a } {b| c");
        assert_eq!(stripped("{{infobox\n|a=b\n|}}text"), "text");
        assert_eq!(stripped("{{DEFAULTSORT:Foo}}{{a|[[b}} c"), " c");
    }

    #[test]
    fn some_templates_leave_their_words() {
        assert_eq!(stripped("the {{lang|fr|[[chat]] noir}}."), "the [[chat]] noir.");
        assert_eq!(stripped("{{nowrap|1={{convert|5|km|mi}}}} {{small|a=b}}"), "5 km ");
        assert_eq!(
            stripped("{{convert|10|to|60|km|mi|abbr=on}}, {{convert|2|x|3|x|4|m}}, {{cvt|7}}"),
            "10 to 60 km, 2 x 3 x 4 m, 7"
        );
        assert_eq!(stripped("{{formatnum:60000}} or {{FORMATNUM: 5|R}}"), "60000 or 5");
        assert_eq!(
            stripped("{{Main|Dog|Cat#Life|l1=d}}{{See also| [[Owl]] }}{{see also}}"),
            "[[Dog]], [[Cat#Life]]\n[[Owl]]\n"
        );
    }

    #[test]
    fn tables_are_left_out_whole() {
        assert_eq!(stripped("a\n{| class=x\n|-\n| b || [[c|d]]\n{|\n|e\n|}\n|}\nf"), "a\n\nf");
        assert_eq!(stripped("a\n:{|\n|{{b|\n|}} c\n|}d"), "a\n:d");
        assert_eq!(stripped("a {| b\n|} c"), "a {| b\n|} c");
        assert_eq!(stripped("{{a|\n{|\n|b\n|}}} c"), " c");
    }

    #[test]
    fn comments_and_elements_are_left_out() {
        assert_eq!(stripped("a<!-- b {{ -->c<ref name=x/> d<ref name=\"y\">e [[f]] {{</REF >."), "ac d.");
        assert_eq!(stripped("<math>\\frac{{a}}b</math>x<gallery>\nFile:a|b\n</gallery>"), "x");
        assert_eq!(stripped("a <!-- b"), "a ");
        assert_eq!(stripped("a <ref>b <b>c</b> a < b <ref"), "a <ref>b <b>c</b> a < b <ref");
    }

    #[test]
    fn what_is_no_wikitext_is_written_as_entities() {
        assert_eq!(stripped("<nowiki>[[a]] ''&nbsp;&#91;</nowiki>"), "&#91;&#91;a&#93;&#93; &#39;&#39;&nbsp;&#91;");
        assert_eq!(stripped("<pre lang=x>{{a}}</pre> <nowiki/>b"), "&#123;&#123;a&#125;&#125; b");
    }

    #[test]
    fn pictures_languages_and_categories_are_taken_out() {
        let found = strip(
            "a [[File:x.jpg|thumb|the [[cat]] {{y}} [http://z z]]] b [[fr:c]][[Category:d e|k]] [[Category:f]]",
            &Wiki::new(&[0]),
        );
        assert_eq!(found.text, "a  b  ");
        assert_eq!(found.categories, ["D e", "F"]);
        assert_eq!(stripped("[[:Category:d]] [[a [[b]] c]] [[[d]]]"), "[[:Category:d]] [[a [[b]] c]] [[[d]]]");
    }

    #[test]
    fn what_never_closes_stays_and_is_counted() {
        let found = strip("a {{b [[c\n{|\n|d [[e]]", &Wiki::new(&[0]));
        assert_eq!(found.text, "a {{b [[c\n{|\n|d [[e]]");
        assert_eq!((found.open_links, found.open_templates, found.open_tables), (1, 1, 1));
    }

    #[test]
    fn time_grows_with_whatever_opens_or_closes() {
        for piece in [
            "[[",
            "{{",
            "{{{",
            "\n{|",
            "[[a:|",
            "{{a|",
            "{{nowrap|",
            "<ref>",
            "<ref",
            "<nowiki>",
            "<!--",
            "]]",
            "}}",
            "\n|}",
            "|",
            "{",
            "[[File:",
            "<",
            "{{a|[[",
        ] {
            for close in ["", "]]", "}}", "}}}", "\n|}", "</ref>", ">"] {
                assert_linear(&[piece, close].concat(), 50_000, |pieces| {
                    drop(strip(&(piece.repeat(pieces) + &close.repeat(pieces)), &Wiki::new(&[0])));
                });
            }
        }
    }
}
