//! Where the reference section of a paper begins and ends.

use std::ops::Range;

use super::clean::Line;
use super::split;
use super::words::{Kind, words};

/// Headings of a reference section, without blanks.
const HEADINGS: [&str; 22] = [
    "references",
    "reference",
    "bibliography",
    "literaturecited",
    "referencescited",
    "workscited",
    "citedreferences",
    "referenceslist",
    "referencelist",
    "listofreferences",
    "referencesandnotes",
    "notesandreferences",
    "literature",
    "bibliographicreferences",
    "bibliographicalreferences",
    "selectedreferences",
    "selectedbibliography",
    "literatur",
    "literaturverzeichnis",
    "bibliographie",
    "références",
    "referencias",
];

/// With what a heading begins that ends a reference section.
const ENDS: [&str; 16] = [
    "appendix",
    "appendices",
    "supplementary",
    "supplemental",
    "supporting information",
    "acknowledgement",
    "acknowledgment",
    "author contributions",
    "about the author",
    "biograph",
    "author biograph",
    "figure captions",
    "figure legends",
    "annex",
    "competing interests",
    "author information",
];

/// The lines of the entries, and those to leave out of the text: the heading too. A line that holds both is parted.
pub(super) struct Section {
    /// The lines of the entries.
    pub(super) entries: Range<usize>,
    /// Where the text before it ends.
    pub(super) start: usize,
}

/// Finds the reference section: the last heading that entries follow, or else a run of numbered entries at the end.
pub(super) fn find(lines: &mut Vec<Line>) -> Option<Section> {
    let headings: Vec<usize> = (0..lines.len()).rev().filter(|&at| is_heading(&lines[at].text)).take(4).collect();
    for at in headings {
        if entries_follow(&lines[at + 1..]) {
            return Some(Section { start: at, entries: at + 1..end(lines, at + 1) });
        }
    }
    if let Some(start) = inside(lines) {
        return Some(Section { start, entries: start..end(lines, start) });
    }
    let start = split::run_of_numbers(lines)?;
    Some(Section { start, entries: start..end(lines, start) })
}

/// Whether a line is the heading of a reference section: `References`, `7. References`, `R EFERENCES`, `VI. Bibliography:`.
fn is_heading(line: &str) -> bool {
    if line.len() > 60 {
        return false;
    }
    let joined: String = line.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    let known = |text: &str| HEADINGS.contains(&text);
    let plain = |text: &str| text.chars().all(|c| !c.is_alphanumeric() || c.is_ascii_digit());
    let bare = line.trim_start_matches(|c: char| !c.is_alphabetic());
    let before = &line[..line.len() - bare.len()];
    if known(&joined) {
        // Capitals at least at the start: `references` alone may be the rest of a sentence.
        let heading = bare.starts_with(char::is_uppercase) && !line.ends_with(',');
        return heading && plain(before) && before.len() < 10;
    }
    // A roman or a lettered number.
    let Some((number, rest)) = line.split_once([' ', '.']) else { return false };
    let number_is_one = number.len() <= 5 && number.chars().all(|c| matches!(c, 'I' | 'V' | 'X' | 'A'..='G'));
    let rest: String = rest.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    !number.is_empty() && number_is_one && known(&rest)
}

/// Whether years, as entries have them, stand in what follows a heading.
fn entries_follow(lines: &[Line]) -> bool {
    let some = lines.iter().filter(|line| !line.text.is_empty()).take(8);
    some.flat_map(|line| words(&line.text))
        .any(|word| matches!(word.kind, Kind::Year(..)) || word.core.starts_with("10."))
}

/// A heading inside a line, where the ends of lines were lost: the line is parted there. Gives the line of the entries.
fn inside(lines: &mut Vec<Line>) -> Option<usize> {
    let from = lines.len() / 3;
    for at in (from..lines.len()).rev() {
        let text = &lines[at].text;
        let found = ["References ", "REFERENCES ", "Bibliography ", "BIBLIOGRAPHY "].iter().filter_map(|word| {
            let start = text.rfind(word)?;
            let apart = start == 0 || text[..start].ends_with([' ', '.']);
            Some((start, start + word.len())).filter(|_| apart)
        });
        let Some((start, end)) = found.max() else { continue };
        let rest = text[end..].trim_start_matches(['.', ':', ' ']);
        if split::begins_entry(rest) {
            let rest = rest.to_owned();
            let before = lines[at].text[..start].trim_end().to_owned();
            let indent = lines[at].indent;
            lines[at].text = before;
            lines.insert(at + 1, Line { text: rest, indent });
            return Some(at + 1);
        }
    }
    None
}

/// Where the entries end: at an appendix, or with the paper.
fn end(lines: &[Line], start: usize) -> usize {
    let mut years = 0;
    for at in start..lines.len() {
        let text = &lines[at].text;
        years += words(text).filter(|word| matches!(word.kind, Kind::Year(..))).count();
        if years > 0 && is_end(text, lines.get(at.wrapping_sub(1)).map_or("", |line| &line.text)) {
            return at;
        }
    }
    lines.len()
}

fn is_end(text: &str, before: &str) -> bool {
    if text.is_empty() || text.len() > 80 {
        return false;
    }
    let lower = text.trim_start_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    let count = text.split(' ').count();
    let numbered =
        lower.split_once([' ', '.']).filter(|(number, _)| number.len() == 1).map_or("", |(_, rest)| rest.trim());
    if count <= 8 && ENDS.iter().any(|end| lower.starts_with(end) || numbered.starts_with(end)) {
        return !text.contains(',') && !text.ends_with('.') || lower.starts_with("appendix") && count <= 2;
    }
    // `A Proofs of the lemmas`, `B.1 Further results`: a letter, then words and no sentence.
    let mut parts = text.splitn(2, ' ');
    let (letter, rest) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let numbered = letter.starts_with(|c: char| c.is_ascii_uppercase())
        && letter[1..].chars().all(|c| c.is_ascii_digit() || c == '.')
        && !letter.ends_with('.');
    let words_only = rest.split(' ').count() >= 2 && rest.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '-'));
    numbered && words_only && rest.starts_with(char::is_uppercase) && (before.is_empty() || before.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Line> {
        text.lines().map(|text| Line { text: text.to_owned(), indent: 0 }).collect()
    }

    #[test]
    fn headings_are_known_with_and_without_numbers_and_lost_capitals() {
        for heading in [
            "References",
            "REFERENCES",
            "7. References",
            "7 References",
            "R EFERENCES",
            "Literature Cited",
            "VI. REFERENCES",
            "Bibliography:",
            "# References",
            "References and Notes",
        ] {
            assert!(is_heading(heading), "{heading}");
        }
        for other in
            ["references", "References to it are here", "the References", "cross references", "References, as", ""]
        {
            assert!(!is_heading(other), "{other}");
        }
    }

    #[test]
    fn the_section_begins_at_the_last_heading_and_ends_at_an_appendix() {
        let mut text = lines(
            "References\nare many\nText\nReferences\n[1] A. Doe. Title. 2001.\n[2] B. Roe. Other. 2002.\n\nA Proofs of the lemmas\nmore",
        );
        let section = find(&mut text).expect("a section");
        assert_eq!((section.start, section.entries), (3, 4..7));
    }

    #[test]
    fn a_heading_inside_a_line_is_found_where_entries_follow() {
        let mut text = lines(
            "We show it.\nSee References below.\nThanks to all. References Doe, A. 2001. A title. In Proc.\nRoe, B. 2002. Other.",
        );
        let section = find(&mut text).expect("a section");
        assert_eq!(text[2].text, "Thanks to all.");
        assert_eq!(section.entries, 3..5);
    }

    #[test]
    fn without_a_heading_a_run_of_numbers_will_do_and_text_is_none() {
        let mut text = lines(
            "Text here\nand [1] there\nmore\nof it\n[1] A. Doe. Title one. 2001.\n[2] B. Roe. Title two. 2002.\n[3] C. Poe. Title three. 2003.",
        );
        assert_eq!(find(&mut text).expect("a run").entries, 4..7);
        assert!(find(&mut lines("Only text\nin 2001\nhere")).is_none());
    }
}
