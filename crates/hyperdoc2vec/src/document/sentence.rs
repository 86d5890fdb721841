//! The sentence that a place of a text stands in.
//!
//! Ours, not icu_segmenter's sentences: these end at `Dr. Smith`, and are found from the beginning of a text.

use std::ops::Range;

/// Words that a full stop does not end a sentence behind, in lower case and without it.
const ABBREVIATIONS: [&str; 22] = [
    "al", "cf", "ch", "dr", "e.g", "ed", "eds", "eq", "eqs", "etc", "fig", "figs", "i.e", "mr", "mrs", "no", "pp",
    "prof", "ref", "refs", "sec", "vs",
];

/// The sentence around `place`, in bytes, without white space at its ends. A line break ends a sentence. Of one that has
/// more than `most` bytes on a side of the place, that many are taken, up to a whole word.
///
/// ```
/// # use hyperdoc2vec::document::sentence;
/// let text = "First. We follow Doe et al. here. Last.";
/// let at = text.find("here").unwrap();
/// assert_eq!(&text[sentence(text, at..at + 4, 200)], "We follow Doe et al. here.");
/// ```
pub fn sentence(text: &str, place: Range<usize>, most: usize) -> Range<usize> {
    let low = ceil(text, place.start.saturating_sub(most));
    let high = floor(text, place.end.saturating_add(most).min(text.len()));
    let mut start = low;
    for (at, c) in text[low..place.start].char_indices().rev() {
        let at = low + at;
        if c == '\n' || ends_sentence(text, at, c) {
            start = at + c.len_utf8();
            break;
        }
    }
    if start == low && low > 0 {
        // Not from the middle of a word.
        start = text[low..place.start].find(char::is_whitespace).map_or(low, |space| low + space);
    }
    let mut end = high;
    for (at, c) in text[place.end..high].char_indices() {
        let at = place.end + at;
        if c == '\n' {
            end = at;
            break;
        }
        if ends_sentence(text, at, c) {
            end = at + c.len_utf8();
            end += text[end..high].chars().take_while(|c| closes(*c)).map(char::len_utf8).sum::<usize>();
            break;
        }
    }
    if end == high && high < text.len() {
        end = text[place.end..high].rfind(char::is_whitespace).map_or(high, |space| place.end + space);
    }
    // What closes the sentence before is no part of this one.
    let lead = text[start..place.start].chars().take_while(|c| c.is_whitespace() || (start > low && closes(*c)));
    start += lead.map(char::len_utf8).sum::<usize>();
    end = place.end + text[place.end..end].trim_end().len();
    start..end
}

/// Whether the character `c` at byte `at` ends a sentence: a full stop or the like, white space behind it, no small
/// letter behind that, and no abbreviation before it.
fn ends_sentence(text: &str, at: usize, c: char) -> bool {
    if matches!(c, '。' | '！' | '？') {
        return true;
    }
    if !matches!(c, '.' | '!' | '?') {
        return false;
    }
    let rest = text[at + 1..].trim_start_matches(closes);
    let next = rest.trim_start();
    if next.len() == rest.len() && !rest.is_empty() || next.starts_with(char::is_lowercase) {
        return false;
    }
    // Only so much of a word is looked at.
    let before = &text[ceil(text, at.saturating_sub(8))..at];
    let word = before.rsplit(|c: char| c.is_whitespace() || "([{“\"".contains(c)).next().unwrap_or_default();
    let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    c != '.' || !(initial || ABBREVIATIONS.contains(&word.to_lowercase().as_str()))
}

fn closes(c: char) -> bool {
    matches!(c, ')' | ']' | '"' | '”' | '’' | '\'' | '»')
}

/// The first boundary of characters from `at` on.
fn ceil(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

/// The last boundary of characters up to `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn around<'a>(text: &'a str, word: &str, most: usize) -> &'a str {
        let at = text.find(word).expect("the word");
        &text[sentence(text, at..at + word.len(), most)]
    }

    #[test]
    fn sentences_by_hand() {
        let text = "One two. Three “four.” Five [six] e.g. seven, cf. Eq. 3 of J. Doe! Eight?\nnine ten";
        for (word, expected) in [
            ("two", "One two."),
            ("four", "Three “four.”"),
            ("six", "Five [six] e.g. seven, cf. Eq. 3 of J. Doe!"),
            ("Doe", "Five [six] e.g. seven, cf. Eq. 3 of J. Doe!"),
            ("Eight", "Eight?"),
            ("ten", "nine ten"),
        ] {
            assert_eq!(around(text, word, 200), expected);
        }
        assert_eq!(around("version 1.2 of it. End", "it", 99), "version 1.2 of it.");
        assert_eq!(around("一。二三。四", "三", 99), "二三。");
        assert_eq!(around("one two three four five six seven", "four", 8), "three four five");
        assert_eq!(around("onetwothree", "two", 1), "etwot", "a word without an end is cut");
    }

    proptest! {
        #[test]
        fn the_place_is_in_the_sentence(text in "[ab.é\n ”A]{0,60}", start in 0usize..60, length in 0usize..9, most in 0usize..30) {
            let start = floor(&text, start);
            let end = floor(&text, start + length).max(start);
            let found = sentence(&text, start..end, most);
            prop_assert!(text.get(found.clone()).is_some());
            prop_assert!(found.start <= start && found.end >= end, "{found:?}");
            prop_assert!(start - found.start <= most && found.end - end <= most);
        }
    }
}
