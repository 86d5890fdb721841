//! Words of a text. One tokeniser serves import, queries and evaluation.
//!
//! Words are those of Unicode's segmentation (UAX #29; dictionaries and small neural models for scripts written
//! without spaces), in compatibility-composed form (NFKC: `ﬁ` is `fi`), lower-cased, with these rules for the
//! kinds of text that link:
//!
//! | text | words | because |
//! |---|---|---|
//! | `std::fs::read`, `a.b/c` | `std` `fs` `read`; `a` `b` `c` | `fs::read` must share words with `std::fs::read` |
//! | `foo_bar`, `__init__` | `foo_bar`; `init` | a name is one word; underscores around it are decoration |
//! | `state-of-the-art` | `state` `of` `the` `art` | |
//! | `don't`, `author’s` | `don't`; `author's` | |
//! | `3.14`, `v1.95.0`, `1,000` | one word each | |
//! | `C++`, `C#`, `F#` | `c++`; `c#`; `f#` | they are names |

use std::borrow::Cow;
use std::ops::Range;

use icu_normalizer::{ComposingNormalizer, ComposingNormalizerBorrowed};
use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

/// Words longer than this many bytes are not words (encoded data, tables run together): left out and counted.
pub const LONGEST_WORD: usize = 128;
/// Bytes of a letter and the accents that become a part of it.
const LONGEST_CLUSTER: usize = 64;
/// A word is looked for within so many characters behind the one before it.
const ALIGNED_WITHIN: usize = 256;

/// Splits text into words.
#[derive(Debug)]
pub struct Tokenizer {
    lowercase: bool,
    segmenter: WordSegmenterBorrowed<'static>,
    normalizer: ComposingNormalizerBorrowed<'static>,
}

impl Default for Tokenizer {
    fn default() -> Tokenizer {
        Tokenizer::new(true)
    }
}

/// The class of a byte below 128 inside a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Other,
    Letter,
    Digit,
    Underscore,
}

const CLASSES: [CharClass; 256] = {
    let mut classes = [CharClass::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        let b = byte as u8;
        classes[byte] = if b.is_ascii_alphabetic() {
            CharClass::Letter
        } else if b.is_ascii_digit() {
            CharClass::Digit
        } else if b == b'_' {
            CharClass::Underscore
        } else {
            CharClass::Other
        };
        byte += 1;
    }
    classes
};

impl Tokenizer {
    /// A tokeniser; with `lowercase`, `Fish` and `fish` are one word.
    pub fn new(lowercase: bool) -> Tokenizer {
        Tokenizer {
            lowercase,
            segmenter: WordSegmenter::new_auto(WordBreakInvariantOptions::default()),
            normalizer: ComposingNormalizer::new_nfkc(),
        }
    }

    /// Gives each word of `text` in turn to `emit`; returns how many were left out as too long.
    pub fn words(&self, text: &str, mut emit: impl FnMut(&str)) -> usize {
        let mut overlong = 0;
        let mut emit = |word: &str| {
            if word.len() > LONGEST_WORD {
                overlong += 1;
            } else {
                emit(word);
            }
        };
        // ASCII is lower-cased all at once, other words when they are found.
        let lowered = if self.lowercase { Cow::Owned(text.to_ascii_lowercase()) } else { Cow::Borrowed(text) };
        let text = lowered.as_ref();
        let bytes = text.as_bytes();
        let space = |byte: &u8| byte.is_ascii_whitespace();
        let mut done = 0;
        // White space ends words of ASCII by itself; only the runs that hold other characters are looked at alone.
        while let Some(other) = first_other(&bytes[done..]).map(|at| done + at) {
            let start = bytes[done..other].iter().rposition(space).map_or(done, |at| done + at + 1);
            let end = bytes[other..].iter().position(space).map_or(bytes.len(), |at| other + at);
            ascii_words(&text[done..start], &mut emit);
            self.unicode_words(&text[start..end], &mut emit);
            done = end;
        }
        ascii_words(&text[done..], &mut emit);
        overlong
    }

    /// Gives each word of `text` in turn to `emit`, with the bytes it stands at; the words are those of
    /// [`Tokenizer::words`].
    pub fn spans(&self, text: &str, mut emit: impl FnMut(&str, Range<usize>)) {
        let original = text;
        let mut emit = |word: &str, span: Range<usize>| {
            if word.len() <= LONGEST_WORD {
                emit(word, span);
            }
        };
        let lowered = if self.lowercase { Cow::Owned(text.to_ascii_lowercase()) } else { Cow::Borrowed(text) };
        let text = lowered.as_ref();
        let bytes = text.as_bytes();
        let space = |byte: &u8| byte.is_ascii_whitespace();
        // Words of ASCII are pieces of the text.
        let offset = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
        let mut done = 0;
        while let Some(other) = first_other(&bytes[done..]).map(|at| done + at) {
            let start = bytes[done..other].iter().rposition(space).map_or(done, |at| done + at + 1);
            let end = bytes[other..].iter().position(space).map_or(bytes.len(), |at| other + at);
            ascii_words(&text[done..start], &mut |word| emit(word, offset(word)..offset(word) + word.len()));
            let mut words = Vec::new();
            self.unicode_words(&text[start..end], &mut |word| words.push(word.to_owned()));
            self.align(&original[start..end], &words, &mut |word, span| {
                emit(word, start + span.start..start + span.end)
            });
            done = end;
        }
        ascii_words(&text[done..], &mut |word| emit(word, offset(word)..offset(word) + word.len()));
    }

    /// Finds words that were read from `chunk` in it; where one cannot be found, it is taken to stand where the one before
    /// it ends.
    fn align(&self, chunk: &str, words: &[String], emit: &mut impl FnMut(&str, Range<usize>)) {
        // The characters as words have them, with the bytes they were written as.
        let mut folded = Vec::<(char, usize, usize)>::new();
        let mut characters = chunk.char_indices().peekable();
        while let Some((at, c)) = characters.next() {
            let mut end = at + c.len_utf8();
            match c {
                '\u{ad}' | '\u{200b}' | '\u{feff}' => {}
                '’' | '‘' => folded.push(('\'', at, end)),
                _ => {
                    let mut composed = self.normalizer.normalize(&chunk[at..end]).into_owned();
                    // An accent that is a character of its own may become a part of the letter before it.
                    let near = |&(mark, c): &(usize, char)| !c.is_ascii() && mark < at + LONGEST_CLUSTER;
                    while let Some((mark, c)) = characters.peek().copied().filter(near) {
                        let mark_end = mark + c.len_utf8();
                        let both = self.normalizer.normalize(&chunk[at..mark_end]);
                        let apart = self.normalizer.normalize(&chunk[mark..mark_end]);
                        if both.strip_prefix(composed.as_str()) == Some(&*apart) {
                            break;
                        }
                        (composed, end) = (both.into_owned(), mark_end);
                        characters.next();
                    }
                    let composed = if self.lowercase { composed.to_lowercase() } else { composed };
                    folded.extend(composed.chars().map(|c| (c, at, end)));
                }
            }
        }
        let mut from = 0;
        for word in words {
            let letters: Vec<char> = word.chars().collect();
            let is_here = |start: &usize| {
                let found = folded.get(*start..*start + letters.len());
                found.is_some_and(|found| found.iter().zip(&letters).all(|(&(c, ..), &letter)| same_letter(c, letter)))
            };
            let found = (from..folded.len().min(from + ALIGNED_WITHIN)).find(is_here);
            let start = found.unwrap_or(from);
            let end = if found.is_some() { start + letters.len() } else { start };
            let byte = |place: usize| folded.get(place).map_or(chunk.len(), |&(_, start, _)| start);
            let last = end.checked_sub(1).and_then(|last| folded.get(last)).map_or(0, |&(_, _, end)| end);
            emit(word, byte(start)..last.max(byte(start)));
            from = end;
        }
    }

    /// The words of `text` as a list.
    pub fn list(&self, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        self.words(text, |word| words.push(word.to_owned()));
        words
    }

    fn unicode_words(&self, chunk: &str, emit: &mut impl FnMut(&str)) {
        let mut composed = self.normalizer.normalize(chunk).into_owned();
        // Soft hyphens and zero-width spaces are for line breaking; curly apostrophes are apostrophes.
        composed.retain(|c| !matches!(c, '\u{ad}' | '\u{200b}' | '\u{feff}'));
        let mut text = composed.replace(['’', '‘'], "'");
        if self.lowercase {
            text = text.to_lowercase();
        }
        // Composition may bring spaces, e.g. from spacing accents.
        for text in text.split_whitespace() {
            if text.is_ascii() {
                ascii_words(text, emit);
                continue;
            }
            let mut start = 0;
            for (end, kind) in self.segmenter.segment_str(text).iter_with_word_type() {
                let segment = &text[start..end];
                start = end;
                if !kind.is_word_like() {
                    continue;
                }
                if segment.is_ascii() {
                    ascii_words(segment, emit);
                } else {
                    unicode_parts(segment, emit);
                }
            }
        }
    }
}

/// Whether two characters are the same, a sigma being one at the end of a word, too.
fn same_letter(one: char, other: char) -> bool {
    one == other || matches!((one, other), ('σ', 'ς') | ('ς', 'σ'))
}

/// Cuts a segment at the dots and colons that UAX #29 leaves between letters; numbers stay whole.
fn unicode_parts(segment: &str, emit: &mut impl FnMut(&str)) {
    let mut start = 0;
    let mut before = ' ';
    for (at, c) in segment.char_indices() {
        if matches!(c, '.' | ':' | '·') {
            let after = segment[at + c.len_utf8()..].chars().next().unwrap_or(' ');
            if !(before.is_numeric() && after.is_numeric()) {
                emit_trimmed(&segment[start..at], emit);
                start = at + c.len_utf8();
            }
        }
        before = c;
    }
    emit_trimmed(&segment[start..], emit);
}

fn emit_trimmed(word: &str, emit: &mut impl FnMut(&str)) {
    let word = word.trim_matches(|c| matches!(c, '_' | '\''));
    if word.chars().any(char::is_alphanumeric) {
        emit(word);
    }
}

/// Where the first byte stands that is not ASCII.
fn first_other(bytes: &[u8]) -> Option<usize> {
    let (blocks, rest) = bytes.as_chunks::<32>();
    let ascii = blocks.iter().take_while(|block| block.is_ascii()).count() * 32;
    let rest = blocks.get(ascii / 32).map_or(rest, |block| block.as_slice());
    rest.iter().position(|byte| !byte.is_ascii()).map(|at| ascii + at)
}

/// The words of ASCII text.
fn ascii_words(text: &str, emit: &mut impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let class = |at: usize| bytes.get(at).map_or(CharClass::Other, |&b| CLASSES[b as usize]);
    let mut at = 0;
    while at < bytes.len() {
        if matches!(class(at), CharClass::Other | CharClass::Underscore) {
            at += 1;
            continue;
        }
        let start = at;
        // One past the last letter or digit: underscores only count between them.
        let mut end;
        loop {
            at += leading_alphanumerics(&bytes[at..]);
            end = at;
            while class(at) == CharClass::Underscore {
                at += 1;
            }
            if class(at) == CharClass::Other {
                if !joins(bytes, at, &class) {
                    break;
                }
                at += 1;
            }
        }
        if end == at {
            end += name_suffix(&bytes[at..]);
            at = end;
        }
        emit(&text[start..end]);
    }
}

/// How many letters and digits ASCII text begins with. Eight are looked at together: the lengths of words are hard
/// to foretell, for the processor too.
fn leading_alphanumerics(bytes: &[u8]) -> usize {
    const fn each(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    /// The high bit of each byte that lies between `low` and `high`; no byte has it before.
    fn within(bytes: u64, low: u8, high: u8) -> u64 {
        (bytes + each(0x80 - low)) & !(bytes + each(0x7f - high))
    }
    let mut count = 0;
    for eight in bytes.as_chunks::<8>().0 {
        let eight = u64::from_le_bytes(*eight);
        let others = !(within(eight, b'0', b'9') | within(eight | each(0x20), b'a', b'z')) & each(0x80);
        count += others.trailing_zeros() as usize / 8;
        if others != 0 {
            return count;
        }
    }
    count + bytes[count..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()
}

/// Whether the character at `at` stands inside a word: `don't`, `3.14`, `1,000`.
fn joins(bytes: &[u8], at: usize, class: &impl Fn(usize) -> CharClass) -> bool {
    let Some(&byte) = bytes.get(at) else { return false };
    let digit = |at| class(at) == CharClass::Digit;
    match byte {
        b'\'' => class(at - 1) == CharClass::Letter && class(at + 1) == CharClass::Letter,
        b'.' => digit(at - 1) && digit(at + 1),
        b',' => digit(at - 1) && (1..=3).all(|ahead| digit(at + ahead)) && !digit(at + 4),
        _ => false,
    }
}

/// Length of `++` or `#` right after a name and at its end.
fn name_suffix(rest: &[u8]) -> usize {
    let length = match rest {
        [b'+', b'+', ..] => 2,
        [b'#', ..] => 1,
        _ => return 0,
    };
    let ends =
        rest.get(length).is_none_or(|&b| CLASSES[b as usize] == CharClass::Other && b < 128 && b != b'+' && b != b'#');
    if ends { length } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> String {
        Tokenizer::default().list(text).join(" ")
    }

    #[test]
    fn words_are_found_where_they_stand() {
        for lowercase in [true, false] {
            let tokenizer = Tokenizer::new(lowercase);
            for text in
                ["Fish, the C++ `std::fs` way", "ﬁsh’s Größe 3.14 naïve 東京に行く x", "e\u{301}té co\u{ad}op Ⅷ", ""]
            {
                let mut found = Vec::new();
                tokenizer.spans(text, |word, span| {
                    assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end), "{text}: {span:?}");
                    found.push(word.to_owned());
                });
                assert_eq!(found, tokenizer.list(text));
            }
        }
        let mut found = Vec::new();
        let text = "die GRÖSSE, Fisch’s „Größe“ Wi\u{301}ndow ΟΔΟΣ";
        Tokenizer::default().spans(text, |word, span| found.push((word.to_owned(), &text[span])));
        let pairs = [
            ("die", "die"),
            ("grösse", "GRÖSSE"),
            ("fisch's", "Fisch’s"),
            ("größe", "Größe"),
            ("wíndow", "Wi\u{301}ndow"),
            ("οδος", "ΟΔΟΣ"),
        ];
        assert_eq!(found, pairs.map(|(word, span)| (word.to_owned(), span)));
    }

    #[test]
    fn plain_words_are_lower_cased_and_freed_of_punctuation() {
        assert_eq!(
            words("The quick (brown) fox, can't jump 32.3 feet, right?"),
            "the quick brown fox can't jump 32.3 feet right"
        );
        assert_eq!(words(" \t\n "), "");
        assert_eq!(words("... --- !!! _ ___ ' ''"), "");
        assert_eq!(Tokenizer::new(false).list("Fish and Chips"), ["Fish", "and", "Chips"]);
    }

    #[test]
    fn code_like_words_are_cut_at_paths_and_kept_at_underscores() {
        assert_eq!(words("std::fs::read_to_string(path)"), "std fs read_to_string path");
        assert_eq!(words("__init__ foo_bar _x x_ Vec<u8> a.b/c"), "init foo_bar x x vec u8 a b c");
        assert_eq!(words("C++ and C#, F#; g++! issue#12 a+b a++b x+++"), "c++ and c# f# g++ issue 12 a b a b x");
        assert_eq!(words("C++11"), "c 11");
    }

    #[test]
    fn hyphens_cut_and_apostrophes_join() {
        assert_eq!(
            words("state-of-the-art, the author's and the authors' don't 'quoted'"),
            "state of the art the author's and the authors don't quoted"
        );
        assert_eq!(words("l’homme d’affaires"), "l'homme d'affaires");
        assert_eq!(words("co\u{ad}operate"), "cooperate");
    }

    #[test]
    fn numbers_stay_whole() {
        assert_eq!(
            words("3.14 v1.95.0 1,000,000 [1,2] 10,00 1,0000 2018. 1.Intro"),
            "3.14 v1.95.0 1,000,000 1 2 10 00 1 0000 2018 1 intro"
        );
    }

    #[test]
    fn other_scripts_are_segmented() {
        assert_eq!(words("Größe NAÏVE Ελλάδα Москва naïve_name"), "größe naïve ελλάδα москва naïve_name");
        assert_eq!(words("ﬁnite ＡＢＣ x²"), "finite abc x2");
        assert_eq!(words("e\u{301}te\u{301}"), "été");
        assert_eq!(words("我们使用机器翻译。"), "我们 使用 机器 翻译");
        assert_eq!(words("東京は日本の首都です"), "東京 は 日本 の 首都 です");
        assert_eq!(words("ภาษาไทยง่าย"), "ภาษา ไทย ง่าย");
        assert_eq!(words("использует std::fs:модуль.Имя"), "использует std fs модуль имя");
    }

    #[test]
    fn what_is_too_long_for_a_word_is_counted() {
        let text = format!("a {} b", "x".repeat(LONGEST_WORD + 1));
        let mut seen = Vec::new();
        assert_eq!(Tokenizer::default().words(&text, |word| seen.push(word.to_owned())), 1);
        assert_eq!(seen, ["a", "b"]);
    }

    proptest! {
        #[test]
        fn words_are_words_of_their_own(text in "\\PC{0,40}") {
            let tokenizer = Tokenizer::default();
            for word in tokenizer.list(&text) {
                prop_assert!(!word.is_empty() && !word.contains(char::is_whitespace), "{word:?}");
            }
        }

        #[test]
        fn a_word_taken_alone_is_the_same_word(text in "[a-zA-Z0-9_'.,:+#\\- ]{0,40}") {
            let tokenizer = Tokenizer::default();
            for word in tokenizer.list(&text) {
                prop_assert_eq!(tokenizer.list(&word), vec![word]);
            }
        }
    }
}
