//! Wikitext, second reading: links, quotes, headings, lists, tags and entities become text and links.
//!
//! One pass over what [`strip`](super::strip) left; linear, and ours for the same reason.

use super::super::text::LinkedText;
use super::entities;
use super::strip::Stripped;
use super::titles::{Wiki, WikiTarget};
use crate::document::Link;

/// Tags that are taken out, and part words.
const BLOCKS: &str = "br p div li ul ol dl dt dd hr table tr td th tbody caption blockquote center h1 h2 h3 h4 \
    h5 h6 poem pre source syntaxhighlight gallery";
/// Tags that are taken out, and part nothing.
const INLINE: &str = "b i u s em strong small big sub sup span font tt code var kbd samp cite q abbr del ins \
    strike bdi bdo dfn mark ruby rt rp rb wbr data time nowiki noinclude onlyinclude includeonly ref references \
    math section templatestyles a translate tvar";
const LONGEST_TAG: usize = 16;
/// `__NOTOC__` and the like are no longer.
const LONGEST_SWITCH: usize = 48;
const SCHEMES: &str = "http:// https:// ftp:// // mailto: irc:// ircs:// news: git:// svn:// sftp:// gopher://";

/// The text and the links of a page.
pub(super) fn read(stripped: &Stripped, site: &Wiki) -> (String, Vec<Link>) {
    let mut reader = Reader {
        source: &stripped.text,
        site,
        rows: stripped.open_tables > 0,
        out: LinkedText::new(),
        at: 0,
        copied: 0,
        link: None,
        heading: None,
        brackets: 0,
    };
    reader.run();
    reader.out.finish()
}

struct Reader<'a> {
    source: &'a str,
    site: &'a Wiki,
    /// Whether lines may be rows of tables.
    rows: bool,
    out: LinkedText,
    /// How far the source is read, and how far it is written.
    at: usize,
    copied: usize,
    /// Where the words of a link end, and whether it leads to a page.
    link: Option<(usize, bool)>,
    /// Where the words of a heading end, and its line.
    heading: Option<(usize, usize)>,
    /// Open brackets of links to web addresses.
    brackets: usize,
}

impl Reader<'_> {
    fn run(&mut self) {
        let bytes = self.source.as_bytes();
        self.start_line();
        let special = |b: &u8| matches!(b, b'\n' | b'<' | b'&' | b'[' | b']' | b'\'' | b'_' | b':' | b'=');
        while let Some(step) = bytes[self.at..].iter().position(special) {
            self.at += step;
            if self.link.is_some_and(|(end, _)| self.at >= end) {
                self.end_link();
                continue;
            }
            let rest = &bytes[self.at..];
            match bytes[self.at] {
                b'\n' => {
                    self.skip(1);
                    self.brackets = 0;
                    self.out.break_line();
                    self.start_line();
                }
                b'=' if self.heading.is_some_and(|(end, _)| end == self.at) => {
                    let (_, end) = self.heading.take().unwrap_or_default();
                    self.skip_to(end);
                }
                b'<' => self.tag(),
                b'&' => match entities::first(&self.source[self.at..]) {
                    Some((meaning, length)) => {
                        self.skip(length);
                        self.out.push(&meaning, false);
                    }
                    None => self.at += 1,
                },
                b'[' if rest.starts_with(b"[[") => self.link(),
                b'[' => match address(&rest[1..]) {
                    Some(length) => {
                        self.skip(1 + length);
                        self.brackets += 1;
                    }
                    None => self.at += 1,
                },
                b']' if self.brackets > 0 => {
                    self.brackets -= 1;
                    self.skip(1);
                }
                b'\'' => self.quotes(),
                b'_' if rest.starts_with(b"__") => self.switch(),
                b':' if rest.starts_with(b"://") => self.bare_address(),
                _ => self.at += 1,
            }
        }
        self.flush(self.source.len());
    }

    /// Writes what was read as text up to `end`.
    fn flush(&mut self, end: usize) {
        if self.copied < end {
            self.out.push(&self.source[self.copied..end], false);
        }
        self.copied = self.copied.max(end);
    }

    /// Writes what was read, and leaves out the next bytes.
    fn skip(&mut self, bytes: usize) {
        self.skip_to(self.at + bytes);
    }

    fn skip_to(&mut self, end: usize) {
        self.flush(self.at);
        (self.at, self.copied) = (end, end);
    }

    /// Marks that stand at the start of a line.
    fn start_line(&mut self) {
        let rest = &self.source.as_bytes()[self.at..];
        let count = |set: &[u8]| rest.iter().take_while(|b| set.contains(b)).count();
        match rest.first() {
            Some(b'=') => {
                let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                let line = rest[..length].trim_ascii_end();
                let (before, after) = (count(b"="), line.iter().rev().take_while(|&&b| b == b'=').count());
                let level = before.min(after).min(6);
                if line.len() > 2 * level && level > 0 {
                    self.heading = Some((self.at + line.len() - level, self.at + length));
                    self.skip(level);
                }
            }
            Some(b'*' | b'#' | b':' | b';') => self.skip(count(b"*#:; ")),
            Some(b'-') if rest.starts_with(b"----") => self.skip(count(b"-")),
            Some(b'{' | b'|' | b'!') if self.rows => {
                let whole = rest.starts_with(b"{|") || rest.starts_with(b"|-");
                let line = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                self.skip(if whole { line } else { count(b"|!+}") });
            }
            _ => {}
        }
    }

    fn tag(&mut self) {
        let rest = &self.source.as_bytes()[self.at + 1..];
        let slash = usize::from(rest.first() == Some(&b'/'));
        let name = rest[slash..].iter().take(LONGEST_TAG).take_while(|b| b.is_ascii_alphanumeric()).count();
        let name = &rest[slash..slash + name];
        let among = |list: &str| list.split(' ').any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
        let block = among(BLOCKS);
        let end = memchr::memchr2(b'<', b'>', rest).filter(|&end| rest[end] == b'>');
        let inside = |end: usize| self.link.is_none_or(|(link, _)| self.at + 1 + end < link);
        match end.filter(|&end| (block || among(INLINE)) && inside(end)) {
            Some(end) => {
                self.skip(end + 2);
                if block {
                    self.out.break_line();
                }
            }
            None => self.at += 1,
        }
    }

    /// `[[…]]`, or brackets that are text.
    fn link(&mut self) {
        let bytes = self.source.as_bytes();
        let start = self.at + 2;
        let mut end = start;
        let end = loop {
            let Some(step) = memchr::memchr2(b'[', b']', &bytes[end..]) else { break None };
            end += step;
            match (bytes[end], bytes.get(end + 1)) {
                (b'[', Some(b'[')) => break None,
                (b']', Some(b']')) => break Some(end),
                _ => end += 1,
            }
        };
        // Of three brackets the last two may be a link.
        let Some(end) = end.filter(|_| self.link.is_none() && bytes[start] != b'[') else {
            self.at += 1;
            return;
        };
        let bar = memchr::memchr(b'|', &bytes[start..end]).map(|bar| start + bar);
        let target = &self.source[start..bar.unwrap_or(end)];
        if target.contains('\n') {
            self.at += 2;
            return;
        }
        let page = match self.site.target(target) {
            WikiTarget::Page(id) => {
                self.flush(self.at);
                self.out.open_link(id);
                true
            }
            WikiTarget::Elsewhere => false,
            // Too odd for the first reading.
            WikiTarget::File | WikiTarget::Category(_) | WikiTarget::Language => return self.skip_to(end + 2),
        };
        match bar {
            Some(bar) if !self.source[bar + 1..end].trim().is_empty() => self.skip_to(bar + 1),
            _ => {
                let words =
                    if bar.is_some() { without_details(target) } else { target.trim_start_matches([':', ' ', '#']) };
                let words = entities::decoded(words).replace('_', " ");
                self.skip_to(end);
                self.out.push(&words, false);
            }
        }
        self.link = Some((end, page));
        if self.at == end {
            self.end_link();
        }
    }

    /// The end of a link's words: letters that follow belong to them.
    fn end_link(&mut self) {
        let Some((end, page)) = self.link.take() else { return };
        // Something in the words may have reached over their end.
        self.flush(end);
        let after = (end + 2).max(self.copied);
        (self.at, self.copied) = (after, after);
        if page {
            let rest = &self.source[after..];
            let letters = rest.find(|c: char| !c.is_lowercase()).unwrap_or(rest.len());
            self.out.push(&rest[..letters], false);
            self.out.close_link();
            (self.at, self.copied) = (after + letters, after + letters);
        }
    }

    /// `''italic''`, `'''bold'''`: what is more than that is text.
    fn quotes(&mut self) {
        let run = self.source.as_bytes()[self.at..].iter().take_while(|&&b| b == b'\'').count();
        let text = match run {
            1 => 1,
            4 => 1,
            _ => run.saturating_sub(5),
        };
        self.at += text;
        self.skip(run - text);
    }

    /// `__NOTOC__`.
    fn switch(&mut self) {
        let rest = &self.source[self.at + 2..];
        let name = rest
            .char_indices()
            .take(LONGEST_SWITCH)
            .find(|&(at, c)| !(c.is_uppercase() || c == '_' && !rest[at..].starts_with("__")));
        match name {
            Some((at, '_')) if at > 0 => self.skip(at + 4),
            _ => self.at += 2,
        }
    }

    /// A web address in the text.
    fn bare_address(&mut self) {
        let before = &self.source.as_bytes()[self.copied..self.at];
        let scheme = before.iter().rev().take(6).take_while(|b| b.is_ascii_alphabetic()).count();
        let start = self.at - scheme;
        match address(&self.source.as_bytes()[start..]) {
            Some(length) if scheme > 0 => {
                self.at = start;
                self.skip(length);
            }
            _ => self.at += 1,
        }
    }
}

/// The length of the web address that bytes begin with.
fn address(bytes: &[u8]) -> Option<usize> {
    let begins =
        |scheme: &&str| bytes.get(..scheme.len()).is_some_and(|found| found.eq_ignore_ascii_case(scheme.as_bytes()));
    let scheme = SCHEMES.split(' ').find(begins)?.len();
    let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'[' | b']' | b'<' | b'>' | b'"' | b'|' | b'{' | b'}');
    let length = bytes[scheme..].iter().position(ends).unwrap_or(bytes.len() - scheme);
    (length > 0).then_some(scheme + length)
}

/// The words that `[[Namespace:Foo (bar)|]]` shows: `Foo`.
fn without_details(target: &str) -> &str {
    let target = target.trim_start_matches([':', ' ']);
    let target = target.split_once(':').map_or(target, |(_, rest)| rest).trim();
    let brackets = target.strip_suffix(')').and_then(|target| target.rfind('('));
    match brackets.filter(|&at| at > 0) {
        Some(at) => target[..at].trim_end(),
        None => target.split_once(", ").map_or(target, |(place, _)| place),
    }
}

#[cfg(test)]
mod tests {
    use super::super::strip::strip;
    use super::*;
    use crate::tests::growth::assert_linear;

    /// The text with links as ⟨words|page⟩.
    fn shown(source: &str) -> String {
        let site = Wiki::new(&[0]);
        let (text, links) = read(&strip(source, &site), &site);
        let (mut out, mut done) = (String::new(), 0);
        for link in &links {
            out.push_str(&text[done..link.anchor]);
            out.push_str(&format!("⟨{}|{}⟩", &text[link.anchor..link.at], link.targets.join(",")));
            done = link.at;
        }
        out + &text[done..]
    }

    #[test]
    fn links_have_words_and_pages() {
        assert_eq!(shown("the [[dog]] and [[cat|the ''cat'']]."), "the ⟨dog|Dog⟩ and ⟨the cat|Cat⟩.");
        assert_eq!(
            shown("[[dog]]s, [[dog]]Nap, [[bus]]es' [[maus|Mäus]]ätze"),
            "⟨dogs|Dog⟩, ⟨dog|Dog⟩Nap, ⟨buses|Bus⟩' ⟨Mäusätze|Maus⟩"
        );
        assert_eq!(shown("[[a_b#c|d]] [[a#b]] [[#b]] [[#b|c]]"), "⟨d|A b⟩ ⟨a#b|A⟩ b c");
        assert_eq!(shown("[[a|b|c]] [[a|b]][[c]]"), "⟨b|c|A⟩ ⟨b|A⟩⟨c|C⟩");
        assert_eq!(shown("[[fish &amp; chips]]"), "⟨fish & chips|Fish & chips⟩");
    }

    #[test]
    fn the_pipe_trick_leaves_details_out() {
        assert_eq!(
            shown("[[Foo (bar)|]] [[Boston, Massachusetts|]] [[Help:Foo (x)|]]"),
            "⟨Foo|Foo (bar)⟩ ⟨Boston|Boston, Massachusetts⟩ Foo"
        );
    }

    #[test]
    fn links_elsewhere_are_text() {
        assert_eq!(shown("[[:Category:Dogs]] [[wikt:dog|dog]] [[User:A|B]]s [[fr:chien]]x"), "Category:Dogs dog Bs x");
    }

    #[test]
    fn brackets_that_are_no_link_are_text() {
        assert_eq!(shown("[[a [[b]] c]] [[d"), "[[a ⟨b|B⟩ c]] [[d");
        assert_eq!(shown("[[[a]]] [b] [[]] [[ ]] [[a\nb]] [[a{b]]"), "[⟨a|A⟩] [b] [[a\nb]] a{b");
    }

    #[test]
    fn web_addresses_leave_their_words() {
        assert_eq!(
            shown("see [http://a.b/c?d the site], [https://x], [//y z] and http://w.x/y. End"),
            "see the site, , z and End"
        );
        assert_eq!(shown("[mailto:a@b mail] a://b std::fs [not] this]"), "mail a://b std::fs [not] this]");
        assert_eq!(shown("[http://a b\nc] d"), "b\nc] d");
    }

    #[test]
    fn quotes_headings_lists_and_rules_lose_their_marks() {
        assert_eq!(shown("'''''A''' b'' it's '''c'''' ''''d"), "A b it's c' 'd");
        assert_eq!(shown("== A ''b'' == \n===[[c]]===\n= x\n==\n*#: d\n----e"), "A b\n⟨c|C⟩\n= x\n==\nd\ne");
    }

    #[test]
    fn tags_and_entities_become_text() {
        assert_eq!(
            shown("H<sub>2</sub>O<br/>a&nbsp;b &lt;b&gt; 1 < 2 <foo> a<b c</span >"),
            "H2O\na b <b> 1 < 2 <foo> a<b c"
        );
        assert_eq!(shown("<nowiki>[[a]] ''b'' <b></nowiki> <pre>*c\n==d==</pre>"), "[[a]] ''b'' <b> *c\n==d==");
    }

    #[test]
    fn switches_are_left_out() {
        assert_eq!(shown("__NOTOC__a __KEIN_INHALTSVERZEICHNIS__ __init__ a__b"), "a __init__ a__b");
    }

    #[test]
    fn rows_of_a_table_that_never_closes_are_text() {
        assert_eq!(shown("a\n{| class=x\n|-\n| b\n! c"), "a\nb\nc");
    }

    #[test]
    fn tags_do_not_reach_over_the_end_of_a_link() {
        assert_eq!(shown("[[a|b <i ]] c> d"), "⟨b <i|A⟩ c> d");
        assert_eq!(shown("== [[a|b ==\n]] c"), "⟨b|A⟩\nc");
    }

    #[test]
    fn time_grows_with_whatever_opens_or_closes() {
        for piece in [
            "[",
            "[[",
            "[[a",
            "[http://a ",
            "<b",
            "<",
            "&",
            "&a",
            "'",
            "=",
            "\n=",
            "_",
            "__A",
            "://",
            "a://",
            "[[a|",
            "]",
            "*",
        ] {
            for close in ["", "]", "]]", ">", ";", "=", "__"] {
                assert_linear(&[piece, close].concat(), 50_000, |pieces| {
                    drop(shown(&(piece.repeat(pieces) + &close.repeat(pieces))));
                });
            }
        }
    }
}
