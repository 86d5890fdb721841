//! Where the reference section of a paper begins and ends.

use std::ops::Range;

use super::clean::PaperLine;
use super::{split, torn};
use crate::import::reference::words::words;

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

/// The letters of a heading.
fn letters(line: &str) -> String {
    line.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect()
}

/// The lines of the entries, and those to leave out of the text: the heading too. A line that holds both is parted.
#[derive(Debug, Clone)]
pub(super) struct EntryLines {
    /// The lines of the entries.
    pub(super) entries: Range<usize>,
    /// Where the text before it ends.
    pub(super) start: usize,
}

/// Headings that are looked at, from the end.
const MOST: usize = 64;
/// So many headings of the same words, each followed by entries, are the heads of pages.
const PAGE_HEADS: usize = 3;

/// Finds the reference section: the heading that most entries follow, of equal ones the last, or else a run of numbered
/// entries at the end.
pub(super) fn find(lines: &mut Vec<PaperLine>) -> Option<EntryLines> {
    let headings = (0..lines.len()).rev().filter(|&at| is_heading(&lines[at].text)).take(MOST);
    // Where each begins and ends, how many entries it has up to the next heading.
    let mut best: Option<(EntryLines, usize)> = None;
    // Pages of a list, each with its head: where they begin, their entries, how many heads there are.
    let mut pages: Option<(EntryLines, usize, usize)> = None;
    let mut next = lines.len();
    for at in headings.collect::<Vec<_>>() {
        let entries = at + 1..end(lines, at + 1);
        let size =
            if entries_follow(&lines[at + 1..next]) { split::size(&lines[at + 1..entries.end.min(next)]) } else { 0 };
        let goes_on =
            |first: &EntryLines| entries.end >= next && letters(&lines[at].text) == letters(&lines[first.start].text);
        pages = match pages.take().filter(|(first, ..)| size > 0 && goes_on(first)) {
            Some((first, more, heads)) => {
                Some((EntryLines { start: at, entries: at + 1..first.entries.end }, more + size, heads + 1))
            }
            None if size > 0 => Some((EntryLines { start: at, entries: entries.clone() }, size, 1)),
            None => None,
        };
        let (found, size) = match &pages {
            Some((all, size, heads)) if *heads >= PAGE_HEADS => (all.clone(), *size),
            _ => (EntryLines { start: at, entries }, size),
        };
        if size > best.as_ref().map_or(0, |(_, most)| *most) {
            best = Some((found, size));
        }
        next = at;
    }
    if let Some((section, _)) = &best {
        for line in &mut lines[section.entries.clone()] {
            if is_heading(&line.text) {
                line.text.clear();
            }
        }
    }
    if let Some((section, _)) = best {
        return Some(section);
    }
    if let Some(start) = inside(lines) {
        return Some(EntryLines { start, entries: start..end(lines, start) });
    }
    let start = split::run_of_numbers(lines)?;
    Some(EntryLines { start, entries: start..end(lines, start) })
}

/// Whether a line is the heading of a reference section: `References`, `7. References`, `R EFERENCES`, `VI. Bibliography:`.
fn is_heading(line: &str) -> bool {
    if line.len() > 60 {
        return false;
    }
    let joined = letters(line);
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
    let rest = letters(rest);
    !number.is_empty() && number_is_one && known(&rest)
}

/// Whether a label stands right after a heading, or years, as entries have them, in what follows.
fn entries_follow(lines: &[PaperLine]) -> bool {
    let some = lines.iter().filter(|line| !line.text.is_empty() && !torn::is_bare_label(&line.text)).take(8);
    let labelled = lines.iter().find(|line| !line.text.is_empty()).is_some_and(|line| split::is_labelled(&line.text));
    labelled
        || some
            .map(|line| &line.text)
            .any(|text| split::has_year(text) || words(text).any(|word| word.core.starts_with("10.")))
}

/// A heading inside a line, where the ends of lines were lost: the line is parted there. Gives the line of the entries.
fn inside(lines: &mut Vec<PaperLine>) -> Option<usize> {
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
            lines.insert(at + 1, PaperLine { text: rest, indent });
            return Some(at + 1);
        }
    }
    None
}

/// Where the entries end: at an appendix, or with the paper.
fn end(lines: &[PaperLine], start: usize) -> usize {
    let mut dated = false;
    let mut number = None;
    for at in start..lines.len() {
        let text = &lines[at].text;
        dated |= split::has_year(text);
        number = split::next_number(text, number).or(number);
        if dated && !text.is_empty() && text.len() <= 80 {
            let before = at.checked_sub(1).map_or("", |before| &lines[before].text);
            // A line of a title may look like the heading of an appendix: `A Survey of Parsing for Long`.
            if names_end(text) || is_lettered(text, before) && !split::goes_on(&lines[at + 1..], number) {
                return at;
            }
        }
    }
    lines.len()
}

/// Whether a line begins with a word that ends a list: `Appendix`, `B Supplementary material`.
fn names_end(text: &str) -> bool {
    let lower = text.trim_start_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    let count = text.split(' ').count();
    let numbered =
        lower.split_once([' ', '.']).filter(|(number, _)| number.len() == 1).map_or("", |(_, rest)| rest.trim());
    let known = count <= 8 && ENDS.iter().any(|end| lower.starts_with(end) || numbered.starts_with(end));
    known && (!text.contains(',') && !text.ends_with('.') || lower.starts_with("appendix") && count <= 2)
}

/// `A Proofs of the lemmas`, `B.1 Further results`: a letter, then words and no sentence.
fn is_lettered(text: &str, before: &str) -> bool {
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

    fn lines(text: &str) -> Vec<PaperLine> {
        text.lines().map(|text| PaperLine { text: text.to_owned(), indent: 0 }).collect()
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
    fn a_list_is_known_by_years_before_a_semicolon() {
        let mut text = lines(
            "Text\nReferences\n1. Doe A. Trees.\nJ Trees. 2010;12(3):1-20.\n2. Roe B. Rocks.\nJ Rocks. 2011;1(3):1-2.\nAppendix A\nmore",
        );
        let section = find(&mut text).expect("a section");
        assert_eq!((section.start, section.entries), (1, 2..6));
    }

    #[test]
    fn a_title_that_looks_like_an_appendix_ends_no_list() {
        let mut text = lines(
            "Text\nReferences\n[6] A. Doe. Title. 2001.\nOther.\nA Survey of Neural Parsing for Long\nSentences. 2002.\n[7] B. Roe. Other. 2002.\n[8] C. Poe. More. 2003.\n\nA Proofs of the Lemmas\n1. We begin\nhere",
        );
        assert_eq!(find(&mut text).expect("a section").entries, 2..9);
        let mut text = lines(
            "Text\nReferences\nDoe, A. 2001. Title.\nOther.\nA Survey of Neural Parsing for Long\nSentences.\nRoe, B. 2002. Other.\n\nA Proofs of the Lemmas\nDoe (2001) showed this",
        );
        assert_eq!(find(&mut text).expect("a section").entries, 2..8);
    }

    #[test]
    fn a_heading_that_sentences_follow_is_none() {
        let mut text = lines(
            "A title\n2. Literature\nMuch was written since 2001.\nDoe (2001) showed that trees grow.\nThey do.\n\nRoe (2002) counted them again.",
        );
        assert!(find(&mut text).is_none());
        let mut text =
            lines("A title\n1 Literature\n1. Trees grow since 2001.\n2. Rocks do not grow.\n3. Water flows.");
        assert!(find(&mut text).is_none());
    }

    #[test]
    fn of_several_headings_the_one_with_most_entries_counts() {
        let mut text = lines(
            "2. Literature\nDoe, A. 2001. It\nwas good.\nReferences\nDoe, A. 2001. Title.\nRoe, B. 2002. Other.\n\nAppendix\nReference\n[1] 2001\nword",
        );
        let section = find(&mut text).expect("a section");
        assert_eq!((section.start, section.entries), (3, 4..7));
    }

    #[test]
    fn heads_of_pages_part_no_list() {
        let page = |number: usize| {
            format!(
                "BIBLIOGRAPHY\n[Doe{number}] A. Doe. Title. 19{number}.\n[Roe{number}] B. Roe. Other. 19{number}.\n"
            )
        };
        let mut text = lines(&format!(
            "Text\nof it\nBibliography\n[Abe70] C. Abe. Title. 1970.\n{}{}{}",
            page(71),
            page(72),
            page(73)
        ));
        let section = find(&mut text).expect("a section");
        assert_eq!((section.start, section.entries), (2, 3..13));
        assert!(text[4].text.is_empty() && text[7].text.is_empty(), "the heads are gone");
        let two = format!("{}Text goes on\nover some lines.\nAppendix\n{}", page(71), page(72));
        assert_eq!(find(&mut lines(&two)).expect("a section").start, 6, "two lists are two");
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
