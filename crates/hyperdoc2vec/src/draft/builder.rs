//! Puts a draft together: words with their places, links, wanted links.

use std::ops::Range;

use super::{Draft, DraftFormat, DraftLink, DraftWord, LinkSyntax, TextKind, WantedLink};
use crate::document::Tokenizer;

/// Words of one phrase have no more bytes than this between them.
const WIDEST_GAP: usize = 24;

/// A draft in the making.
pub(super) struct DraftBuilder<'a> {
    /// The whole text.
    pub(super) text: &'a str,
    tokenizer: &'a Tokenizer,
    draft: Draft,
    block: u32,
    /// Bytes that are no text, in order.
    hidden: Vec<Range<usize>>,
    /// Whether parts of addresses are prose.
    addresses: bool,
}

impl<'a> DraftBuilder<'a> {
    pub(super) fn new(text: &'a str, format: DraftFormat, tokenizer: &'a Tokenizer) -> DraftBuilder<'a> {
        let draft =
            Draft { format, words: Vec::new(), links: Vec::new(), wanted: Vec::new(), code: Vec::new(), title: None };
        DraftBuilder { text, tokenizer, draft, block: 0, hidden: Vec::new(), addresses: false }
    }

    /// Parts of addresses are prose: the text is not written to.
    pub(super) fn with_addresses(self) -> DraftBuilder<'a> {
        DraftBuilder { addresses: true, ..self }
    }

    pub(super) fn finish(mut self) -> Draft {
        self.draft.links.sort_by_key(|link| link.span.start);
        self.draft.wanted.sort_by_key(|wanted| wanted.span.start);
        self.draft
    }

    /// A new block begins.
    pub(super) fn block(&mut self) {
        self.block += 1;
    }

    /// How many words there are.
    pub(super) fn count(&self) -> usize {
        self.draft.words.len()
    }

    /// Bytes that are no text, in any order.
    pub(super) fn hide(&mut self, mut spans: Vec<Range<usize>>) {
        spans.sort_by_key(|span| span.start);
        spans.dedup_by(|next, last| {
            let within = next.start <= last.end;
            last.end = if within { last.end.max(next.end) } else { last.end };
            within
        });
        self.hidden = spans;
    }

    /// The parts of some bytes that are text.
    fn shown(&self, span: Range<usize>) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut at = span.start;
        let first = self.hidden.partition_point(|hidden| hidden.end <= span.start);
        for hidden in self.hidden[first..].iter().take_while(|hidden| hidden.start < span.end) {
            if at < hidden.start {
                parts.push(at..hidden.start);
            }
            at = at.max(hidden.end);
        }
        if at < span.end {
            parts.push(at..span.end);
        }
        parts
    }

    /// Text of one kind, without any markup.
    pub(super) fn words(&mut self, span: Range<usize>, kind: TextKind) {
        self.shown(span).into_iter().for_each(|part| self.all_words(part, kind));
    }

    /// Text of one kind, even where it is hidden.
    pub(super) fn all_words(&mut self, span: Range<usize>, kind: TextKind) {
        let parts = kind == TextKind::Prose && !self.addresses;
        let mut run = (span.start..span.start, kind);
        let DraftBuilder { text, tokenizer, draft, block, .. } = self;
        let Some(piece) = text.get(span.clone()) else { return };
        // A phrase does not go on behind what is hidden.
        let part = draft.words.len();
        let begins = span.start > 0 && self.hidden.binary_search_by_key(&span.start, |hidden| hidden.end).is_ok();
        tokenizer.spans(piece, |word, at| {
            let (start, end) = (span.start + at.start, span.start + at.end);
            if parts && start >= run.0.end {
                let whole = run_around(piece, at.start);
                let kind = if is_address(&piece[whole.clone()]) { TextKind::Code } else { TextKind::Prose };
                run = (span.start + whole.start..span.start + whole.end, kind);
            }
            let kind = run.1;
            let last = draft.words.last().filter(|last| last.block == *block);
            let gap = last.map(|last| text.get(last.end as usize..start).unwrap_or("\n\n"));
            let parted = begins && draft.words.len() == part;
            let joined = !parted && last.is_some_and(|last| last.kind == kind) && gap.is_some_and(joins);
            let first = gap.is_none_or(ends_sentence);
            draft.words.push(DraftWord {
                text: word.into(),
                start: start as u32,
                end: end as u32,
                kind,
                block: *block,
                joined,
                first,
            });
        });
    }

    /// Text in which marks may stand: those for wanted links, wiki links, citations as pandoc has them.
    pub(super) fn marked(&mut self, span: Range<usize>, kind: TextKind) {
        self.shown(span).into_iter().for_each(|part| self.marked_part(part, kind));
    }

    fn marked_part(&mut self, span: Range<usize>, kind: TextKind) {
        let bytes = self.text.as_bytes();
        let (mut from, mut at) = (span.start, span.start);
        while let Some(step) = memchr::memchr(b'[', &bytes[at..span.end]) {
            at += step;
            let Some(end) = self.mark(at, span.end) else {
                at += 1;
                continue;
            };
            self.words(from..at, kind);
            self.read_mark(at..end);
            (from, at) = (end, end);
        }
        self.words(from..span.end, kind);
    }

    /// Where the mark that begins at `at` ends, if there is one.
    fn mark(&self, at: usize, end: usize) -> Option<usize> {
        let rest = &self.text[at..end];
        if rest.starts_with("[[?]]") {
            return Some(at + 5);
        }
        // Brackets of a citation are on one line, or two.
        let inside = &rest.as_bytes()[1..rest.len().min(2000)];
        let close = memchr::memchr2(b']', b'[', inside).filter(|&close| inside[close] == b']')? + 1;
        let keys = &rest[1..close];
        // `- [?]` is an item to be done, in some dialects.
        let is_mark = if keys == "?" { !opens_item(&self.text[..at]) } else { cites(keys) };
        is_mark.then_some(at + close + 1)
    }

    fn read_mark(&mut self, span: Range<usize>) {
        let inside = &self.text[span.clone()];
        let keys = inside.trim_matches(['[', ']']);
        let is_markdown = self.draft.format == DraftFormat::Markdown;
        if keys == "?" || (keys == "@?" && !is_markdown) {
            let is_citation = keys == "@?" || self.draft.format == DraftFormat::Latex;
            let syntax = if is_citation { LinkSyntax::Citation } else { LinkSyntax::Wiki };
            return self.wanted(span.clone(), span, syntax);
        }
        let (mut known, mut from) = (Vec::new(), span.start + 1);
        for part in keys.split(';') {
            let hole = part.find("@?").map(|at| from + at + 1..from + at + 2);
            match hole {
                Some(hole) if is_markdown => self.wanted(span.clone(), hole, LinkSyntax::Citation),
                _ => known.extend(cited_key(part)),
            }
            from += part.len() + 1;
        }
        self.citation(span, known);
    }

    /// Bytes of code.
    pub(super) fn code(&mut self, span: Range<usize>) {
        self.draft.code.push(span);
    }

    /// A citation without words.
    pub(super) fn citation(&mut self, span: Range<usize>, keys: Vec<String>) {
        let words = self.count()..self.count();
        if !keys.is_empty() {
            self.draft.links.push(DraftLink { span, words, targets: keys, syntax: LinkSyntax::Citation });
        }
    }

    /// A link whose words are those read since there were `first`.
    pub(super) fn link(&mut self, span: Range<usize>, first: usize, targets: Vec<String>, syntax: LinkSyntax) {
        let words = first.min(self.count())..self.count();
        self.draft.links.push(DraftLink { span, words, targets, syntax });
    }

    /// A place that asks for a link.
    pub(super) fn wanted(&mut self, span: Range<usize>, hole: Range<usize>, syntax: LinkSyntax) {
        let word = self.count();
        self.draft.wanted.push(WantedLink { span, hole, word, syntax });
    }

    /// The words since there were `first` are the first heading, if there was none.
    pub(super) fn titled(&mut self, first: usize) {
        let words = &self.draft.words[first.min(self.draft.words.len())..];
        if let (None, Some(start), Some(end)) = (&self.draft.title, words.first(), words.last()) {
            self.draft.title = self.text.get(start.start as usize..end.end as usize).map(str::to_owned);
        }
    }

    /// Whether a key of a citation asks for one: `?`, `TODO`, `TODO: the survey`.
    pub(super) fn asks(key: &str) -> bool {
        let key = key.trim().to_ascii_lowercase();
        let is_to_do =
            |mark: &&str| key.strip_prefix(mark).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()));
        key == "citation needed"
            || (!key.is_empty() && key.bytes().all(|byte| byte == b'?'))
            || ["todo", "fixme", "xxx"].iter().any(is_to_do)
    }
}

/// Whether the last line of `before` is the mark of an item, perhaps within quotations, and nothing else.
fn opens_item(before: &str) -> bool {
    let mark = before.trim_end_matches([' ', '\t']);
    let numbered = || {
        let line = mark.strip_suffix(['.', ')'])?;
        let digits = line.bytes().rev().take(9).take_while(u8::is_ascii_digit).count();
        (digits > 0).then(|| &line[..line.len() - digits])
    };
    let line = mark.strip_suffix(['-', '*', '+']).or_else(numbered).map(|line| line.trim_end_matches([' ', '\t', '>']));
    line.is_some_and(|line| line.is_empty() || line.ends_with('\n'))
}

/// Whether these are the keys of a citation as pandoc has it: `@doe99; see @roe00, p. 3`.
fn cites(keys: &str) -> bool {
    let begins = |(at, _): (usize, &str)| {
        let before = keys[..at].trim_end_matches('-');
        let behind = keys[at + 1..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '{' | '?'));
        behind && (before.is_empty() || before.ends_with([' ', '\n', ';']))
    };
    keys.match_indices('@').any(begins)
}

/// The key of a citation as pandoc has it: `see @doe99, p. 3`.
fn cited_key(text: &str) -> Option<String> {
    let (_, key) = text.split_once('@')?;
    let inside = |c: char| {
        c.is_alphanumeric()
            || matches!(c, '_' | ':' | '.' | '#' | '$' | '%' | '&' | '-' | '+' | '?' | '<' | '>' | '~' | '/')
    };
    let key = match key.strip_prefix('{') {
        Some(braced) => braced.split('}').next().unwrap_or_default(),
        None => &key[..key.find(|c| !inside(c)).unwrap_or(key.len())],
    };
    let key = key.trim_end_matches(['.', ':', '?']);
    (!key.is_empty()).then(|| key.to_owned())
}

/// What stands around a byte without white space, brackets, quotation marks, commas or characters beyond ASCII.
fn run_around(text: &str, at: usize) -> Range<usize> {
    let ends = |c: char| c.is_whitespace() || !c.is_ascii() || "()[]{}<>|*,;\"'`".contains(c);
    let start = text[..at].char_indices().rev().find(|&(_, c)| ends(c)).map_or(0, |(at, c)| at + c.len_utf8());
    start..text[at..].find(ends).map_or(text.len(), |step| at + step)
}

/// Endings of the names of files and hosts.
const NAME_ENDINGS: [&str; 22] = [
    "md", "mdx", "rst", "txt", "html", "htm", "tex", "pdf", "png", "svg", "json", "yaml", "yml", "toml", "xml", "csv",
    "sh", "py", "com", "org", "net", "io",
];

/// Whether a run is a web or mail address, a path, the name of a file or host, an option, a variable or a tag: one with a
/// link in it would be none.
fn is_address(run: &str) -> bool {
    let run = run.trim_end_matches(['.', ':', '!', '?']);
    let named = |start: &str| run.strip_prefix(start).is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    let ending =
        || run.rsplit_once('.').is_some_and(|(name, ending)| !name.is_empty() && NAME_ENDINGS.contains(&ending));
    run.contains("://")
        || run.contains("::")
        || run.contains(['@', '='])
        || ["--", "-", "$", "#", "^", "/", "./", "../", "~/", "www."].iter().any(|start| named(start))
        || run.matches('/').count() > 1
        || ending()
}

/// Whether words with this between them may be of one phrase.
fn joins(gap: &str) -> bool {
    let bytes = gap.as_bytes();
    let stops = |at: usize| {
        let next = bytes.get(at + 1).is_none_or(|next| next.is_ascii_whitespace());
        match bytes[at] {
            b'.' | b',' | b';' | b':' | b'!' | b'?' => next,
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'"' | b'|' | b'*' | b'`' | b'=' | b'>' | b'<' | b'\\' => true,
            _ => false,
        }
    };
    bytes.len() <= WIDEST_GAP
        && bytes.iter().filter(|&&byte| byte == b'\n').count() < 2
        && !(0..bytes.len()).any(stops)
        && !gap.contains(['“', '”', '„', '«', '»', '—', '。', '、', '，'])
}

/// Whether a sentence ends in what stands between two words: a full stop or the like, and white space behind it.
fn ends_sentence(gap: &str) -> bool {
    let ends = |(at, mark): (usize, &str)| {
        let rest = gap[at + mark.len()..].trim_start_matches([')', '"', '”', '\'', '’', '*', '_']);
        rest.starts_with(char::is_whitespace)
    };
    gap.contains(['。', '！', '？']) || gap.contains("\n\n") || gap.match_indices(['.', '!', '?']).any(ends)
}
