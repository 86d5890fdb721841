//! An article's text as it grows: white space collapsed, citation marks taken out and remembered.

use std::collections::HashMap;

use super::{BibRecord, Mark};
use crate::import::text::Gap;

/// The most references that a range of numbers may stand for.
const LONGEST_RANGE: usize = 100;

/// Text with citation marks, written from left to right.
///
/// Marks with nothing between them but white space, `,`, `;` and brackets are one; with a dash between them they stand
/// for all references in between as well, if both are the numbers of their entries. The brackets around marks are no
/// text either. A mark stands right after the word before it, as a footnote's number does; after the end of a sentence
/// it stands before the next word. Of a mark that is part of its sentence, `Smith and Lee (2001)`, the names are text.
#[derive(Debug, Default)]
pub(in crate::import) struct MarkedText {
    text: String,
    marks: Vec<Mark>,
    gap: Gap,
    /// The bracket that would close the one taken out before the last mark.
    closing: Option<char>,
    /// Whether the last mark ends with the number of its entry.
    numbered: bool,
    /// Keys of the bibliography in order, and their places in it.
    keys: Vec<String>,
    places: HashMap<String, usize>,
}

impl MarkedText {
    /// An empty text, to which this bibliography belongs.
    pub(in crate::import) fn new(entries: &[(String, BibRecord)]) -> MarkedText {
        let keys: Vec<String> = entries.iter().map(|(key, _)| key.clone()).collect();
        let places = keys.iter().cloned().zip(0..).collect();
        MarkedText { keys, places, ..MarkedText::default() }
    }

    /// Adds words.
    pub(in crate::import) fn push(&mut self, words: &str) {
        let mut rest = words;
        while !rest.is_empty() {
            let start = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
            if start > 0 {
                self.gap = self.gap.max(Gap::Space);
                rest = &rest[start..];
            }
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            if end > 0 {
                let mut word = &rest[..end];
                let marked = self.marks.last().is_some_and(|mark| mark.at == self.text.len());
                if let Some(closing) = self.closing {
                    if let Some(after) = word.strip_prefix(closing).filter(|_| marked) {
                        word = after;
                        self.closing = None;
                    } else if joint(word).is_none() {
                        self.closing = None;
                    }
                }
                if marked && self.gap < Gap::Line && word.starts_with(['.', ',', ';', ':', ')', ']', '?', '!']) {
                    self.gap = Gap::None;
                    self.pull_mark();
                }
                if !word.is_empty() {
                    self.fill_gap();
                    self.text.push_str(word);
                }
                rest = &rest[end..];
            }
        }
    }

    /// Parts what comes from what went before by a line break.
    pub(in crate::import) fn break_line(&mut self) {
        self.gap = Gap::Line;
    }

    /// Adds a mark that names these keys; `words` is how it is written.
    pub(in crate::import) fn mark(&mut self, mut keys: Vec<String>, words: &str) {
        let numbers = numbers(words);
        if let Some((first, last)) = numbers
            && let (1..=2, Some(&from)) = (keys.len(), keys.first().and_then(|key| self.places.get(key)))
            && last > first
            && first == from + 1
        {
            // One mark that is written as a range, `3-5`.
            let to = match keys.get(1) {
                Some(last) => self.places.get(last).copied(),
                None => Some(from + (last - first)),
            };
            if let Some(to) = to.filter(|&to| to == from + (last - first) && to < self.keys.len()) {
                keys = self.keys[from..=to].to_vec();
            }
        }
        let numbered = |words: &str, key: Option<&String>| {
            let number = numbers.map(|(_, last)| last).or_else(|| bare(words).parse().ok());
            number.is_some() && number == key.and_then(|key| self.places.get(key)).map(|place| place + 1)
        };
        let before = std::mem::replace(&mut self.numbered, numbered(words, keys.last()));
        if self.gap < Gap::Line
            && let Some(last) = self.marks.last().filter(|last| !last.keys.is_empty() && !keys.is_empty())
            && let Some(joint) = joint(&self.text[last.at..])
        {
            let at = last.at;
            let between = match (joint, last.keys.last(), keys.first()) {
                (MarkJoint::Dash, Some(from), Some(to)) if before && self.numbered => self.between(from, to),
                _ => Vec::new(),
            };
            // What opened before this mark may close after it.
            match self.text[at..].trim_end().chars().next_back() {
                Some('[') => self.closing = Some(']'),
                Some('(') => self.closing = Some(')'),
                _ => {}
            }
            self.text.truncate(at);
            if let Some(last) = self.marks.last_mut() {
                last.keys.extend(between);
                last.keys.extend(keys);
            }
            return;
        }
        if let Some(names) = names(words).filter(|_| !self.text.ends_with(['(', '['])) {
            self.push(names);
            self.gap = Gap::None;
        }
        self.closing = match self.text.chars().next_back() {
            Some('[') => Some(']'),
            Some('(') => Some(')'),
            _ => None,
        };
        if self.closing.is_some() {
            let before = self.text[..self.text.len() - 1].trim_end_matches(' ').len();
            let before = before.max(self.marks.last().map_or(0, |mark| mark.at));
            self.gap = if before + 1 < self.text.len() { Gap::Space } else { Gap::None };
            self.text.truncate(before);
        }
        if self.gap == Gap::Line || self.text.ends_with(['.', '?', '!']) {
            self.fill_gap();
        }
        self.marks.push(Mark::new(self.text.len(), keys, words));
    }

    /// Keys between two in the bibliography.
    fn between(&self, from: &str, to: &str) -> Vec<String> {
        match (self.places.get(from), self.places.get(to)) {
            (Some(&from), Some(&to)) if from < to && to - from <= LONGEST_RANGE => self.keys[from + 1..to].to_vec(),
            _ => Vec::new(),
        }
    }

    /// Takes away the space before the mark with which the text ends.
    fn pull_mark(&mut self) {
        let end = self.text.trim_end_matches(' ').len();
        if let Some(mark) = self.marks.last_mut() {
            mark.at = end;
        }
        self.text.truncate(end);
    }

    fn fill_gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            match self.gap {
                Gap::None => {}
                // A second one only after a mark.
                Gap::Space => self.text.push(' '),
                Gap::Line => self.text.push('\n'),
            }
        }
        self.gap = Gap::None;
    }

    /// The text and its marks.
    pub(in crate::import) fn finish(self) -> (String, Vec<Mark>) {
        (self.text, self.marks)
    }
}

/// A sign that joins two marks.
pub(in crate::import) enum MarkJoint {
    Comma,
    Dash,
}

/// Whether this, between two marks, makes them one.
fn joint(between: &str) -> Option<MarkJoint> {
    let bare = between.trim_matches(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '(' | ')'));
    match bare {
        "-" | "–" | "—" | "‒" | "‐" | "−" | "--" => Some(MarkJoint::Dash),
        _ if bare.chars().all(|c| c.is_whitespace() || matches!(c, ',' | ';' | '[' | ']' | '(' | ')')) => {
            Some(MarkJoint::Comma)
        }
        _ => None,
    }
}

/// A mark without its brackets.
fn bare(words: &str) -> &str {
    words.trim().trim_matches(['[', ']', '(', ')', ',', ' '])
}

/// The authors' names in a mark that is part of its sentence: `Smith and Lee (2001)`, `Okafor [1]`, `Smith et al.`
fn names(words: &str) -> Option<&str> {
    let open = words.find(['(', '[']);
    let names = words[..open.unwrap_or(words.len())].trim();
    let number = open.is_none_or(|open| words[open + 1..].trim_start().starts_with(|c: char| c.is_ascii_digit()));
    let is_name = names.starts_with(char::is_uppercase)
        && names.contains(char::is_lowercase)
        && !names.contains(|c: char| c.is_ascii_digit() || matches!(c, ')' | ']' | ';'));
    (number && is_name).then_some(names)
}

/// The numbers of a range, `[3–5]`.
fn numbers(words: &str) -> Option<(usize, usize)> {
    let (first, last) = bare(words).split_once(['-', '–', '—', '‒', '‐', '−'])?;
    let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first < last && last - first <= LONGEST_RANGE).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes `‹keys|words›` as marks.
    fn written(source: &str) -> String {
        let entries: Vec<(String, BibRecord)> = (1..=9).map(|n| (format!("b{n}"), BibRecord::default())).collect();
        let mut text = MarkedText::new(&entries);
        for (number, piece) in source.split(['‹', '›']).enumerate() {
            if number % 2 == 0 {
                text.push(piece);
            } else {
                let (keys, words) = piece.split_once('|').unwrap_or((piece, ""));
                text.mark(keys.split_whitespace().map(str::to_owned).collect(), words);
            }
        }
        let (mut text, marks) = text.finish();
        for mark in marks.iter().rev() {
            text.insert_str(mark.at, &format!("‹{}›", mark.keys.join(" ")));
        }
        text
    }

    #[test]
    fn marks_are_no_text() {
        assert_eq!(written(" we  use ‹b1|[1]› here‹b2›."), "we use‹b1› here‹b2›.");
        assert_eq!(written("we use [‹b1|1›] here (‹b2|Doe 2001›)."), "we use‹b1› here‹b2›.");
        assert_eq!(written("we use [‹b1|1›]here ‹b2|2› ."), "we use‹b1› here‹b2›.");
        assert_eq!(written("‹b1› x"), "‹b1›x");
        assert_eq!(written("Doe et al. ‹b1|[1]›, who (see [‹b2›]) did"), "Doe et al.‹b1›, who (see‹b2›) did");
        assert_eq!(written("So it is. ‹b1|[1]› did it. ‹b2|[2]›"), "So it is. ‹b1› did it. ‹b2›");
    }

    #[test]
    fn names_in_a_sentence_stay() {
        assert_eq!(
            written("‹b1|Smith and Lee (2001)› showed; so did ‹b2|Okafor [1]›."),
            "Smith and Lee‹b1› showed; so did Okafor‹b2›."
        );
        assert_eq!(written("as ‹b1|Doe et al.› (2001) say"), "as Doe et al.‹b1› (2001) say");
        for mark in
            ["(Smith, 2001)", "(Smith, 2001;", "Lee 2002)", "Smith, 2001", "[12]", "B12", "CR3", "ref. 3", "a", "II"]
        {
            assert_eq!(written(&format!("it is ‹b1|{mark}› so")), "it is‹b1› so", "{mark}");
        }
    }

    #[test]
    fn marks_side_by_side_are_one() {
        assert_eq!(written("a [‹b1|1›, ‹b2|2›; ‹b3›] b"), "a‹b1 b2 b3› b");
        assert_eq!(written("a ‹b1|[1]›,‹b2|[2]› ‹b3|[3]› and ‹› and ‹b4› b"), "a‹b1 b2 b3› and‹› and‹b4› b");
        assert_eq!(written("a ‹b1› by ‹b2› b"), "a‹b1› by‹b2› b");
        assert_eq!(written("a ‹b1›. ‹b2› b"), "a‹b1›. ‹b2› b");
    }

    #[test]
    fn a_range_stands_for_all_between() {
        assert_eq!(written("a [‹b2|2›–‹b5|5›] b"), "a‹b2 b3 b4 b5› b");
        assert_eq!(written("a [‹b2|2›]-[‹b5|5›] b"), "a‹b2 b3 b4 b5› b");
        assert_eq!(written("a ‹b2|[2-4]› b"), "a‹b2 b3 b4› b");
        assert_eq!(written("a ‹b2 b4|2–4› b"), "a‹b2 b3 b4› b");
        assert_eq!(written("a ‹b8|[8-12]› b"), "a‹b8› b");
        assert_eq!(written("a ‹b5|5›–‹b2|2› b"), "a‹b5 b2› b");
        assert_eq!(written("a ‹b2› — ‹b5› b"), "a‹b2 b5› b");
        assert_eq!(written("a (‹b2|Birch, 2001›) – (‹b5|Gum, 2006›) b"), "a‹b2 b5› b");
        assert_eq!(written("a ‹b2|2001-2003› b, ‹b2|2001›-‹b4|2003› c"), "a‹b2› b,‹b2 b4› c");
    }
}
