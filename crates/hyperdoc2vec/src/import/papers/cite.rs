//! A paper's text with its marks found: which style it cites in, and what each mark names.

use std::collections::HashSet;
use std::ops::Range;

use super::marks::{FoundMark, Labels, WIDEST, coverage, without_opening};
use super::people::People;
use crate::import::reference::MarkJoint;
use crate::import::reference::entry::BibliographyEntry;

/// Marks of a text in order, none over another; marks that follow each other are one.
pub(super) fn marks(text: &str, entries: &[BibliographyEntry]) -> Vec<FoundMark> {
    if entries.is_empty() {
        return Vec::new();
    }
    let counted = counted(text, entries);
    let entries = counted.as_deref().unwrap_or(entries);
    let labels = Labels::new(entries);
    let by_names = People::new(entries).marks(text);
    let square = labels.square(text);
    let named = by_names.iter().filter(|mark| !mark.entries.is_empty()).count();
    let mut found = by_names;
    // A few numbers in brackets among many names and years are no marks.
    let keys = entries.iter().any(|entry| entry.key.is_some());
    if keys
        || labels.are_numbers(entries.len()) && (square.len() * 2 >= named || coverage(&square, entries.len()) > 0.5)
    {
        let covered = coverage(&square, entries.len());
        found.extend(square);
        if covered < 0.25 && !keys && named * 4 < entries.len() && entries.len() >= 4 {
            let others = [labels.raised(text), labels.round(text)];
            let best =
                others.into_iter().max_by(|a, b| coverage(a, entries.len()).total_cmp(&coverage(b, entries.len())));
            found.extend(best.filter(|marks| coverage(marks, entries.len()) >= 0.5).unwrap_or_default());
        }
    }
    found.sort_by_key(|mark| (mark.range.start, std::cmp::Reverse(mark.range.end)));
    let mut end = 0;
    found.retain(|mark| {
        let apart = mark.range.start >= end;
        end = end.max(mark.range.end);
        apart
    });
    let mut found = joined(text, found, entries);
    found.iter_mut().for_each(|mark| take_brackets(text, mark));
    found
}

/// A list that lost its labels, or some of them, numbered from one on: the text cites it by numbers, up to the number of
/// its entries, and the labels that are left say the same.
fn counted(text: &str, entries: &[BibliographyEntry]) -> Option<Vec<BibliographyEntry>> {
    let lost = entries.iter().filter(|entry| entry.number.is_none()).count();
    let same = (1..).zip(entries).all(|(number, entry)| entry.number.is_none_or(|own| own == number));
    if entries.len() < 4 || lost == 0 || !same || entries.iter().any(|entry| entry.key.is_some()) {
        return None;
    }
    let numbered: Vec<BibliographyEntry> =
        (1..).zip(entries).map(|(number, entry)| BibliographyEntry { number: Some(number), ..entry.clone() }).collect();
    let marks = Labels::new(&numbered).square(text);
    let last = marks.iter().any(|mark| mark.entries.contains(&(entries.len() - 1)));
    let beyond = text.match_indices('[').any(|(at, _)| {
        let digits = text.as_bytes()[at + 1..].iter().take_while(|b| b.is_ascii_digit()).take(4).count();
        let number = text[at + 1..at + 1 + digits].parse().ok();
        number.is_some_and(|number: usize| number > entries.len() && number < 200)
    });
    (last && !beyond && coverage(&marks, entries.len()) >= 0.7).then_some(numbered)
}

/// `([1])` and `(see [1])`: brackets around nothing but a mark go with it.
fn take_brackets(text: &str, mark: &mut FoundMark) {
    let Range { start, end } = mark.range;
    let from = (start.saturating_sub(24)..=start).find(|&at| text.is_char_boundary(at)).unwrap_or(start);
    if let Some(open) = text[from..start].rfind('(').map(|at| from + at)
        && text[end..].starts_with(')')
        && without_opening(&text[open + 1..start]).trim().is_empty()
    {
        mark.range = open..end + 1;
    }
}

/// `[1][2]`, `[1], [2]` and `(Doe, 2001) (Roe, 2002)` are one mark; `[2]–[4]` names what is between, too.
fn joined(text: &str, found: Vec<FoundMark>, list: &[BibliographyEntry]) -> Vec<FoundMark> {
    let mut numbered: Vec<(u32, usize)> =
        list.iter().enumerate().filter_map(|(at, entry)| Some((entry.number?, at))).collect();
    numbered.sort_unstable();
    let mut out: Vec<FoundMark> = Vec::with_capacity(found.len());
    // Entries of the last mark.
    let mut named: HashSet<usize> = HashSet::new();
    for mut mark in found {
        let joint = out.last().and_then(|last| joint(text, last.range.end..mark.range.start));
        match (out.last_mut(), joint) {
            (Some(last), Some(joint)) => {
                last.range.end = mark.range.end;
                let inside = match (joint, last.entries.last(), mark.entries.first()) {
                    (MarkJoint::Dash, Some(&from), Some(&to)) => between(&numbered, list[from].number, list[to].number),
                    _ => Vec::new(),
                };
                last.entries.extend(inside.into_iter().chain(mark.entries).filter(|&entry| named.insert(entry)));
            }
            _ => {
                named = HashSet::new();
                mark.entries.retain(|&entry| named.insert(entry));
                out.push(mark);
            }
        }
    }
    out
}

/// The sign that makes one mark of two.
fn joint(text: &str, gap: Range<usize>) -> Option<MarkJoint> {
    let gap = text.get(gap).filter(|gap| gap.len() <= 5)?;
    match gap.trim_matches(' ') {
        "" | "," | ";" => Some(MarkJoint::Comma),
        "-" | "‐" | "‑" | "–" | "—" | "−" => Some(MarkJoint::Dash),
        _ => None,
    }
}

/// Entries whose numbers, of which `numbered` is the sorted list, lie between two others.
fn between(numbered: &[(u32, usize)], from: Option<u32>, to: Option<u32>) -> Vec<usize> {
    let (Some(from), Some(to)) = (from, to) else { return Vec::new() };
    let start = numbered.partition_point(|&(number, _)| number <= from);
    let end = numbered.partition_point(|&(number, _)| number < to);
    // More entries than numbers: the list is none that a range could be read by.
    if from >= to || to - from > WIDEST || end - start > WIDEST as usize {
        return Vec::new();
    }
    let mut inside: Vec<usize> = numbered[start..end].iter().map(|&(_, at)| at).collect();
    inside.sort_unstable();
    inside
}

#[cfg(test)]
mod tests {
    use super::super::clean::PaperLine;
    use super::super::split;
    use super::*;
    use crate::tests::growth::assert_linear;

    /// The marks of a text that cites a list: what stands there, and the numbers of the entries.
    fn found(list: &str, text: &str) -> Vec<String> {
        let lines: Vec<PaperLine> =
            list.lines().map(|text| PaperLine { text: text.trim().to_owned(), indent: 0 }).collect();
        let entries = split::entries(&lines, &[]);
        let numbers =
            |mark: &FoundMark| mark.entries.iter().map(|at| (at + 1).to_string()).collect::<Vec<_>>().join(" ");
        marks(text, &entries).iter().map(|mark| format!("{}={}", &text[mark.range.clone()], numbers(mark))).collect()
    }

    const NAMES: &str = "Smith, J., Doe, A., and Roe, B. 2018. First title here.\nSmith, J. 2017a. Second title here.\nSmith, J. 2017b. Third title here.\nvan den Berg, K. and O'Hara, L. 1999. Fourth title here.\nGarcía Márquez, G. 2001. Fifth title.";

    #[test]
    fn years_of_two_digits_and_words_for_years_name_the_one_entry_that_fits() {
        let list = "Smith, J. and Doe, A. 1989. First title here.\nRoe, B. 1990. Second title here.\nTal, O. In press. Third title here. Rivers 1, 1991.";
        let marks = |text| found(list, text);
        assert_eq!(marks("as (Smith & Doe, 89) and (Roe90) say"), ["(Smith & Doe, 89)=1", "(Roe90)=2"]);
        assert_eq!(marks("as in (Tal, this volume)"), ["(Tal, this volume)=3"]);
        assert_eq!(marks("about (Smith 12) of them, (Roe, in press now) or (Poe, 90)").len(), 1);
    }

    #[test]
    fn a_misread_name_or_bracket_names_the_one_entry_of_its_year() {
        let list = "Leen, T. and Moody, J. 1989. First title here.\nRoe, B. 1990. Second title here.";
        assert_eq!(found(list, "as in [Leon and Moody, 1989) here"), ["[Leon and Moody, 1989)=1"]);
        // The year before or after, if these authors have no other work.
        assert_eq!(found(list, "as in (Leen and Moody, 1990) here"), ["(Leen and Moody, 1990)=1"]);
        for other in ["(Leen and Moody, 1992)", "(Leen and Poe, 1989)"] {
            assert!(found(list, other).iter().all(|mark| mark.ends_with('=')), "{other}");
        }
    }

    #[test]
    fn marks_in_a_style_that_the_paper_does_not_use_are_text() {
        assert_eq!(found(NAMES, "as in [1] and (2), [1, 2], x3"), [""; 0]);
        let numbers = "[1] A. Doe. First title. 2001.\n[2] B. Roe. Other title. 2002.\n[3] C. Poe. Third title. 2003.";
        assert_eq!(found(numbers, "shown (1) by [1], [2] and eq. (2)"), ["[1], [2]=1 2"]);
    }

    #[test]
    fn a_dash_between_two_marks_stands_for_what_lies_between() {
        let entry = |n: usize| format!("[{n}] A. Doe. Title number {n} of them. 2001.\n");
        let list: String = (1..=6).map(entry).collect();
        for dash in ["–", "-", "—", " – "] {
            let text = format!("seen [2]{dash}[4] and [6]");
            assert_eq!(found(&list, &text), [format!("[2]{dash}[4]=2 3 4"), "[6]=6".to_owned()]);
        }
        assert_eq!(found(&list, "seen [4]–[2], [1]"), ["[4]–[2], [1]=4 2 1"]);
        assert_eq!(found(NAMES, "(Smith, 2017a)–(Smith et al., 2018)"), ["(Smith, 2017a)–(Smith et al., 2018)=2 1"]);
    }

    #[test]
    fn marks_and_entries_in_great_number_take_time_in_proportion() {
        let entry = |number: Option<u32>, author: String| BibliographyEntry {
            number,
            authors: vec![author],
            year: Some(2001),
            ..BibliographyEntry::default()
        };
        let numbers = |pieces: usize| (1..=pieces as u32).map(|n| entry(Some(n), "Doe".to_owned())).collect::<Vec<_>>();
        let names =
            |pieces: usize, name: fn(usize) -> String| (0..pieces).map(|n| entry(None, name(n))).collect::<Vec<_>>();
        // All numbers side by side, and ranges of them.
        assert_linear("[1]", 16_000, |pieces| {
            let text: String = (1..=pieces).map(|n| format!("[{n}]")).collect();
            assert_eq!(marks(&text, &numbers(pieces))[0].entries.len(), pieces);
        });
        assert_linear("[1]-[3]", 16_000, |pieces| {
            let found = marks(&"word [1]-[3] ".repeat(pieces), &numbers(pieces));
            assert_eq!((found.len(), &found[0].entries[..]), (pieces, &[0, 1, 2][..]));
        });
        // One name and year for all; names that begin alike; names that none of the list has.
        assert_linear("(Lindqvist, 2001)", 8_000, |pieces| {
            let found = marks(&"word (Lindqvist, 2001) ".repeat(pieces), &names(pieces, |_| "Lindqvist".to_owned()));
            assert!(found.len() == pieces && found.iter().all(|mark| mark.entries.is_empty()));
        });
        let letters = |n: usize| n.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect::<String>();
        assert_linear("(Lindqvista, 2001)", 8_000, |pieces| {
            let text: String = (0..pieces).map(|n| format!("word (Lindqvist{}, 2001) ", letters(n))).collect();
            let list: Vec<_> = (0..pieces).map(|n| entry(None, format!("Lindqvist{}", letters(n)))).collect();
            assert!(marks(&text, &list).iter().enumerate().all(|(n, mark)| mark.entries == [n]));
        });
        assert_linear("(Lindqvistx, 2001)", 8_000, |pieces| {
            let text: String = (0..pieces).map(|n| format!("word (Lind{}qvist, 2001) ", letters(n))).collect();
            let list: Vec<_> = (0..pieces).map(|n| entry(None, format!("Lindqvist{}", letters(n)))).collect();
            drop(marks(&text, &list));
        });
    }

    #[test]
    fn names_in_capitals_are_the_same_names() {
        let list = "LINDGREN, P., AND HADDAD, O. 2012. Word alignment for languages.\nO’NEILL, S., AND CHEN, W. 2016. Back-translation improves models.\nVAN DER BERG, I., MÜLLER, J., AND O'NEILL, S. 2017. Human judgments of quality.";
        let text = "Lindgren and Haddad (2012) and O'Neill and Chen (2016), van der Berg et al. (2017), as said (LINDGREN AND HADDAD, 2012)";
        assert_eq!(found(list, text), ["(2012)=1", "(2016)=2", "(2017)=3", "(LINDGREN AND HADDAD, 2012)=1"]);
    }

    #[test]
    fn digits_above_the_line_count_where_the_paper_cites_in_this_way() {
        let list = "1. Doe A. First title. 2001.\n2. Roe B. Other title. 2002.\n3. Poe C. Third title. 2003.\n4. Moe C. Fourth title. 2003.";
        assert_eq!(found(list, "shown before.1,2 and later3 in CO2 by model4"), ["1,2=1 2", "3=3", "4=4"]);
        assert_eq!(found(list, "only once here2 and nothing else"), [""; 0]);
    }

    #[test]
    fn words_in_the_bracket_that_are_no_names_stay() {
        assert_eq!(
            found(NAMES, "a tool (which was used by Smith et al., 2018, for trees) is"),
            ["Smith et al., 2018,=1"]
        );
        assert_eq!(found(NAMES, "(see García Márquez, 2001, p. 5)"), ["(see García Márquez, 2001, p. 5)=5"]);
        let two = "(Smith, 2017a, p. 4; see García Márquez, 2001)";
        assert_eq!(found(NAMES, &format!("as {two} say")), [format!("{two}=2 5")]);
        assert_eq!(found(NAMES, "in (Nobody, 1950) here"), ["(Nobody, 1950)="]);
        assert_eq!(found(NAMES, "Rome (1960) and the year (2018)"), [""; 0]);
    }

    /// The marks of a sentence of the test file: the sets of entries of each.
    fn positions(list: &[PaperLine], text: &str) -> Vec<Vec<usize>> {
        let found = marks(text, &split::entries(list, &[]));
        found
            .into_iter()
            .map(|mark| mark.entries.iter().map(|at| at + 1).collect())
            .filter(|set: &Vec<usize>| !set.is_empty())
            .collect()
    }

    #[test]
    fn marks_in_many_styles_name_the_right_entries() {
        let file = include_str!("../../../tests/data/papers/marks.txt");
        let mut list: Vec<PaperLine> = Vec::new();
        let mut complete = true;
        let (mut right, mut read, mut expected, mut whole) = (0, 0, 0, 0);
        let mut sentence = "";
        for line in file.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
            if let Some(entry) = line.strip_prefix("## ") {
                if complete {
                    list.clear();
                }
                complete = false;
                list.push(PaperLine { text: entry.to_owned(), indent: 0 });
            } else if let Some(sets) = line.strip_prefix('=') {
                let set =
                    |set: &str| set.split_whitespace().map(|at| at.parse().expect("a number")).collect::<Vec<usize>>();
                let sets: Vec<Vec<usize>> = sets.split('|').map(set).filter(|set| !set.is_empty()).collect();
                let found = positions(&list, sentence);
                expected += sets.len();
                read += found.len();
                let hits = found.iter().filter(|set| sets.contains(set)).count();
                right += hits;
                whole += usize::from(found == sets);
                if found != sets {
                    eprintln!("expected {sets:?}, found {found:?} in {sentence}");
                }
            } else {
                complete = true;
                sentence = line;
            }
        }
        let (precision, recall) = (right as f64 / read as f64, right as f64 / expected as f64);
        eprintln!("marks: precision {precision:.3}, recall {recall:.3} of {expected}; {whole} sentences wholly right");
        assert!(expected >= 60, "{expected} marks");
        assert!(precision >= 0.97 && recall >= 0.95, "precision {precision}, recall {recall}");
    }
}
