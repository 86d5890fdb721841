//! What stands behind a title and is no part of it: pages, a year, an edition, a report's number, a publisher before those.
//! Styles that put commas between all fields leave them there.

use super::entry::starts_venue;

/// Parts that are cut off one title.
const MOST: usize = 8;
/// Words of a part that names a publisher.
const LONGEST_PLACE: usize = 6;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/// Words before the numbers of pages and chapters. Volumes and parts are works of their own.
const PAGES: [&str; 9] = ["p", "pp", "page", "pages", "chapter", "chapters", "chap", "section", "sections"];
const EDITIONS: [&str; 2] = ["ed", "edition"];
const REPORTS: [&str; 4] = ["report", "thesis", "dissertation", "memo"];
const PUBLISHERS: [&str; 12] = [
    "press",
    "verlag",
    "publishers",
    "publishing",
    "publications",
    "university",
    "books",
    "wiley",
    "wesley",
    "kaufmann",
    "mcgraw",
    "prentice",
];

/// A title without what stands behind it. Of years, only `year`, that of the entry, is cut off: others belong to the title.
pub(super) fn without_tail(title: &str, year: Option<i32>) -> &str {
    let mut bare = title;
    for _ in 0..MOST {
        let Some(at) = [", ", "; ", " (", ". "].iter().filter_map(|mark| bare.rfind(mark)).max() else { break };
        let (before, tail) = bare.split_at(at);
        let before = before.trim_end_matches([' ', ',', '.', ';', ':', '(']);
        let cut = bare.len() < title.len();
        let is_tail = is_numbers(tail, year, cut) || is_edition(tail) || is_report(tail) || cut && is_publisher(tail);
        if !is_tail || before.chars().filter(|c| c.is_alphabetic()).count() < 4 {
            break;
        }
        bare = before;
    }
    bare
}

/// Its words, without punctuation, in lower case.
fn words(tail: &str) -> impl Iterator<Item = String> {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    tail.split([' ', ',', ';']).map(bare).filter(|word| !word.is_empty())
}

/// `pages 3-17`, `May 1996`, and behind those `4`, `12(3)`.
fn is_numbers(tail: &str, year: Option<i32>, cut: bool) -> bool {
    let (mut pages, mut dated, mut other, mut named) = (false, false, false, false);
    for word in words(tail) {
        let numeric = word.chars().all(|c| !c.is_alphabetic()) && word.contains(|c: char| c.is_ascii_digit());
        let month = MONTHS.iter().any(|month| word.starts_with(month)) && word.chars().all(char::is_alphabetic);
        match () {
            () if PAGES.contains(&word.as_str()) => pages = true,
            () if year.is_some_and(|year| word == year.to_string()) => dated = true,
            () if numeric => other = true,
            () if month => named = true,
            () => return false,
        }
    }
    pages && other || dated || cut && (other || named)
}

/// `2nd ed.`, `third edition`.
fn is_edition(tail: &str) -> bool {
    let words: Vec<String> = words(tail).collect();
    words.len() <= 3 && words.last().is_some_and(|last| EDITIONS.contains(&last.as_str()))
}

/// `MIT LCS TR-205`, `Technical Report 17`, `Ph.D. thesis`.
fn is_report(tail: &str) -> bool {
    let words: Vec<String> = words(tail).collect();
    let number = |word: &str| word.chars().any(|c| c.is_ascii_digit());
    let coded = words.last().is_some_and(|last| {
        let at = last.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
        last[..at].trim_end_matches('-').ends_with("tr")
    });
    let named = words.iter().position(|word| REPORTS.contains(&word.as_str()));
    let kind = ["technical", "tech", "research", "phd", "ph.d", "m.s", "s.m", "master", "master's", "doctoral"];
    let named = named.filter(|&at| at > 0 && kind.contains(&words[at - 1].as_str()));
    words.len() <= LONGEST_PLACE && (coded || named.is_some_and(|at| words[at + 1..].iter().all(|word| number(word))))
}

/// `Addison-Wesley`, `In Proc. of it`, `Computer Architecture News 10`.
fn is_publisher(tail: &str) -> bool {
    let tail = tail.trim_start_matches([',', ';', '.', ' ', '(']);
    let words: Vec<String> = words(tail).collect();
    let known = || words.iter().flat_map(|word| word.split('-')).any(|word| PUBLISHERS.contains(&word));
    let volume = || {
        let capital = |word: &str| word.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        words.len() > 1 && tail.ends_with(|c: char| c.is_ascii_digit()) && tail.split(' ').all(capital)
    };
    words.len() <= LONGEST_PLACE && (known() || volume() || starts_venue(tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_years_editions_and_publishers_are_no_part_of_a_title() {
        let bare = |title: &'static str| without_tail(title, Some(1996));
        for (title, expected) in [
            ("Deep sails, pages 397–350", "Deep sails"),
            ("Deep sails, page 581", "Deep sails"),
            ("Deep sails, 1996", "Deep sails"),
            ("Deep sails (1996)", "Deep sails"),
            ("Deep sails, May, 1996", "Deep sails"),
            ("Deep sails, February 1996", "Deep sails"),
            ("Deep sails, 2nd ed., Sail Books, 1996", "Deep sails"),
            ("Deep sails (revised ed.)", "Deep sails"),
            ("Deep sails, MIT LCS TR-205", "Deep sails"),
            ("Deep sails. Technical Report 12", "Deep sails"),
            ("Deep sails, Harbour News 10, 4, June 1996, pp 17-26", "Deep sails"),
        ] {
            assert_eq!(bare(title), expected, "{title}");
        }
        for whole in [
            "Deep sails, 1879–1931",
            "Deep sails, 2000",
            "Deep sails in 1996",
            "Deep sails, volume 3",
            "Deep sails: a report",
            "Deep sails, harbours, and 3 rivers",
            "Deep sails, Harbour Press",
            "1984 (1996)",
        ] {
            assert_eq!(bare(whole), whole);
        }
    }
}
