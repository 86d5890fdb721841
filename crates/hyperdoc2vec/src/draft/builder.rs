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
}

impl<'a> DraftBuilder<'a> {
    pub(super) fn new(text: &'a str, format: DraftFormat, tokenizer: &'a Tokenizer) -> DraftBuilder<'a> {
        let draft = Draft { format, words: Vec::new(), links: Vec::new(), wanted: Vec::new(), title: None };
        DraftBuilder { text, tokenizer, draft, block: 0 }
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

    /// Text of one kind, without any markup.
    pub(super) fn words(&mut self, span: Range<usize>, kind: TextKind) {
        let DraftBuilder { text, tokenizer, draft, block } = self;
        let Some(piece) = text.get(span.clone()) else { return };
        tokenizer.spans(piece, |word, at| {
            let (start, end) = (span.start + at.start, span.start + at.end);
            let last = draft.words.last().filter(|last| last.block == *block);
            let gap = last.map(|last| text.get(last.end as usize..start).unwrap_or("\n\n"));
            let joined = last.is_some_and(|last| last.kind == kind) && gap.is_some_and(joins);
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
        if rest.starts_with("[?]") || rest.starts_with("[@?]") {
            // `- [?]` is an item to be done, in some dialects.
            return if opens_item(&self.text[..at]) { None } else { Some(at + rest.find(']')? + 1) };
        }
        if !rest.starts_with("[@") && !rest.starts_with("[-@") {
            return None;
        }
        // Brackets of a citation are on one line, or two.
        let inside = &rest.as_bytes()[..rest.len().min(2000)];
        let close = memchr::memchr2(b']', b'[', &inside[1..])? + 1;
        (inside[close] == b']').then_some(at + close + 1)
    }

    fn read_mark(&mut self, span: Range<usize>) {
        let inside = &self.text[span.clone()];
        if let Some(keys) = inside.strip_prefix("[[").or_else(|| inside.strip_prefix('[')) {
            let keys = keys.trim_end_matches(']');
            if matches!(keys, "?" | "@?") {
                let syntax = match (inside, self.draft.format) {
                    ("[@?]", _) | ("[?]", DraftFormat::Latex) => LinkSyntax::Citation,
                    _ => LinkSyntax::Wiki,
                };
                return self.wanted(span.clone(), span, syntax);
            }
            let keys: Vec<String> = keys.split(';').filter_map(cited_key).collect();
            self.citation(span, keys);
        }
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

    /// Whether `keys` of a citation ask for one: `?`, `TODO`.
    pub(super) fn asks(keys: &str) -> bool {
        let keys = keys.trim();
        keys == "?" || keys.eq_ignore_ascii_case("todo") || keys.eq_ignore_ascii_case("citation needed")
    }
}

/// Whether the last line of `before` is the mark of an item, and nothing else.
fn opens_item(before: &str) -> bool {
    const BLANK: [char; 2] = [' ', '\t'];
    let line = before.trim_end_matches(BLANK).strip_suffix(['-', '*', '+']).map(|line| line.trim_end_matches(BLANK));
    line.is_some_and(|line| line.is_empty() || line.ends_with('\n'))
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
