//! Titles of PDFs that no bibliography describes.
//!
//! The papers of a folder cite each other: a title of one of their lists of references that fills lines at the top of a
//! PDF, where one of its authors is named, is that PDF's, and brings authors and year along. Else the title is what the
//! page sets in its largest letters, or what the file names as its title, if the text has that, too. Else the first lines
//! that can be one are taken for it; and where there are none, what the file names.

use std::collections::{BTreeMap, HashMap};

use super::work::Work;
use crate::document::Date;
use crate::import::reference::{BibRecord, fold};
use crate::import::text::collapsed;

/// Letters and digits that titles are looked up by; shorter ones are not looked for.
const KEY: usize = 10;
/// Letters that may follow a title in its line: marks of notes.
const NOTE: usize = 2;
/// Lines at the top of a file in which its title stands.
const TOP_LINES: usize = 25;
/// Bytes at the beginning of a file in which its title and its authors stand.
const TOP: usize = 4000;
/// Bytes of the longest title.
const LONGEST: usize = 300;

/// The beginning of a text, up to where the title and the authors stand.
pub(super) fn top(text: &str) -> &str {
    let end = (0..=text.len().min(TOP)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    &text[..end]
}

/// Titles in lists of references.
#[derive(Default)]
pub(super) struct CitedTitles<'a> {
    /// By their first letters: all of their letters, and the entries.
    by_start: HashMap<String, BTreeMap<String, Vec<&'a BibRecord>>>,
}

impl<'a> CitedTitles<'a> {
    pub(super) fn new(entries: impl Iterator<Item = &'a BibRecord>) -> CitedTitles<'a> {
        let mut titles = CitedTitles::default();
        for entry in entries.filter(|entry| !entry.authors.is_empty()) {
            let letters = entry.title.as_deref().map(letters).unwrap_or_default();
            if letters.len() >= KEY && letters.len() <= LONGEST {
                let start = titles.by_start.entry(letters[..KEY].to_owned()).or_default();
                start.entry(letters).or_default().push(entry);
            }
        }
        titles
    }

    /// The title, authors and year of the file that begins so.
    pub(super) fn find(&self, top: &str) -> Option<Work> {
        let (mut all, mut starts) = (String::new(), Vec::new());
        for line in top.lines().filter(|line| !line.trim().is_empty()) {
            starts.push(all.len());
            all.push_str(&letters(line));
        }
        let words = format!(" {} ", fold(top));
        starts.push(all.len());
        let is_named = |name: &str| {
            let name = fold(name);
            let bare = name.replace(' ', "");
            words.contains(&format!(" {name} ")) || (bare.len() >= 5 && all.contains(&bare))
        };
        // Of a longer title, what another work is called may be the beginning.
        let fills_lines = |end: usize| {
            let next = starts.partition_point(|&start| start < end);
            starts.get(next).is_some_and(|&start| start - end <= NOTE)
        };
        for &start in starts.iter().take(TOP_LINES) {
            let rest = &all[start..];
            let Some(titles) = rest.get(..KEY).and_then(|key| self.by_start.get(key)) else { continue };
            let fits = |letters: &str| rest.starts_with(letters) && fills_lines(start + letters.len());
            let mut fits: Vec<_> = titles.iter().filter(|(letters, _)| fits(letters)).collect();
            fits.sort_by_key(|(letters, _)| std::cmp::Reverse(letters.len()));
            for (title, entries) in fits {
                // A line with a name may have been read as a title.
                let elsewhere = |name: &String| is_named(name) && !title.contains(&letters(name));
                let named: Vec<&BibRecord> =
                    entries.iter().copied().filter(|entry| entry.authors.iter().any(elsewhere)).collect();
                if let Some(work) = agreed(&named) {
                    return Some(work);
                }
            }
        }
        None
    }
}

/// What entries of one work say of it: the year that most of them have, the longest list of authors.
fn agreed(entries: &[&BibRecord]) -> Option<Work> {
    let longest = entries.iter().rev().max_by_key(|entry| entry.authors.len())?;
    let mut years: BTreeMap<i32, usize> = BTreeMap::new();
    entries.iter().filter_map(|entry| entry.year).for_each(|year| *years.entry(year).or_default() += 1);
    let year = years.iter().rev().max_by_key(|(_, count)| **count).map(|(year, _)| *year);
    let title = longest.title.as_deref().map(|title| title.trim().trim_end_matches(['.', ',']).to_owned());
    let date = year.and_then(|year| Date::from_packed(year * 10_000));
    Some(Work { title, authors: longest.authors.clone(), date, ..Work::default() })
}

/// The first of some titles that stands at the top of a text.
pub(super) fn printed<'a>(titles: impl Iterator<Item = &'a str>, top: &str) -> Option<String> {
    let top = letters(top);
    let title = titles.map(unstamped).find(|title| {
        let own = letters(title);
        own.len() >= KEY && title.len() <= LONGEST && title.trim().contains(' ') && top.contains(&own)
    });
    title.map(collapsed)
}

/// The last of some titles that reads like one, wherever it stands: what the file names comes last.
pub(super) fn named<'a>(titles: impl DoubleEndedIterator<Item = &'a str>) -> Option<String> {
    let is_title = |title: &&str| {
        let is_file = title.split_whitespace().any(|word| word.contains('.') && !word.ends_with(['.', ':']));
        !is_file && title.len() <= LONGEST && title.split_whitespace().filter(|word| is_word(word)).count() >= 3
    };
    titles.rev().map(unstamped).find(is_title).map(collapsed)
}

/// A title without the stamp that an archive puts before it: `[inria-00001234, v1] Hollow seas`.
fn unstamped(title: &str) -> &str {
    let stamp = title.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let is_stamp = |stamp: &str| stamp.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() >= 5);
    stamp.filter(|(stamp, _)| is_stamp(stamp)).map_or(title, |(_, rest)| rest.trim_start())
}

/// Whether it has three letters, so that it is no letter of a line that was taken apart.
fn is_word(word: &str) -> bool {
    word.chars().filter(|c| c.is_alphabetic()).count() >= 3
}

fn letters(text: &str) -> String {
    fold(text).replace(' ', "")
}

/// Words in lines above a title.
const HEADS: [&str; 14] = [
    "arxiv",
    "http",
    "proceedings",
    "copyright",
    "©",
    "issn",
    "doi",
    "preprint",
    "technical report",
    "journal",
    "vol.",
    "permission",
    "submitted",
    "to appear",
];

/// The title of a paper: the first lines of its first page that can be one.
pub(super) fn first_title(text: &str) -> Option<String> {
    let page = text.split('\u{c}').find(|page| !page.trim().is_empty())?;
    let mut title = String::new();
    for line in page.lines().map(str::trim).take(30) {
        let letters = line.chars().filter(|c| c.is_alphabetic()).count();
        let lower = line.to_lowercase();
        let is_head = HEADS.iter().any(|word| lower.contains(word));
        let is_end =
            line.is_empty() || line.contains('@') || lower.starts_with("abstract") || line.contains(['∗', '†', '‡']);
        let goes_on = title.ends_with([':', ',']);
        if title.is_empty() {
            // What follows is no title.
            if lower.starts_with("abstract") {
                break;
            }
            if letters >= 8 && letters * 2 > line.len() && !is_head && !is_end {
                title.push_str(line);
            }
        } else if line.is_empty() && goes_on {
            // A gap between two lines of a title.
        } else if is_end
            || is_head
            || title.len() + line.len() > 200
            || looks_like_names(line) && !goes_on
            || is_date(line)
        {
            break;
        } else {
            title.push(' ');
            title.push_str(line);
        }
    }
    // Fonts may give other characters than letters.
    let plain = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.chars().all(|c| c.is_alphanumeric() || "-–'’/.+&".contains(c))
    };
    let words = title.split(' ').count();
    let sound = words >= 2 && title.split(' ').any(is_word) && title.split(' ').filter(plain).count() * 2 > words;
    Some(title).filter(|_| sound)
}

/// Whether a line is nothing but a date: `January 29, 1998`.
fn is_date(line: &str) -> bool {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let is_part = |word: &str| {
        let word = word.trim_end_matches(['.', ',']).to_lowercase();
        word.bytes().all(|b| b.is_ascii_digit()) || MONTHS.iter().any(|month| word.starts_with(month))
    };
    line.contains(|c: char| c.is_ascii_digit()) && line.split_whitespace().all(is_part)
}

/// Whether a line lists people: every word begins with a capital, and there is a comma, an initial or an `and`.
fn looks_like_names(line: &str) -> bool {
    // TeX's fonts have the marks of notes where others have these letters.
    let is_mark = |word: &&str| matches!(*word, "x" | "y" | "z") || !word.contains(char::is_alphanumeric);
    let words: Vec<&str> = line.split_whitespace().filter(|word| !is_mark(word)).collect();
    let small = ["and", "de", "van", "der", "von"];
    let capital = |word: &&str| word.starts_with(char::is_uppercase) || small.contains(word);
    let sign =
        line.contains(',') || words.contains(&"and") || words.iter().any(|word| word.len() == 2 && word.ends_with('.'));
    (words.len() <= 3 || sign) && words.iter().all(capital) && (1..=16).contains(&words.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;

    fn entry(authors: &[&str], year: i32, title: &str) -> BibRecord {
        BibRecord {
            title: Some(title.to_owned()),
            year: Some(year),
            authors: authors.iter().map(|&name| name.to_owned()).collect(),
            ..BibRecord::default()
        }
    }

    #[test]
    fn a_cited_title_at_the_top_is_that_of_the_file() {
        let entries = [
            entry(&["Doe"], 2002, "The tides of the northern sea."),
            entry(&["Doe", "Roe"], 2001, "The Tides of the Northern Sea"),
            entry(&["Doe"], 2001, "The tides of the northern sea"),
            entry(&["Doe"], 1990, "The tides of"),
            entry(&["Poe"], 2001, "Rivers and harbours"),
        ];
        let titles = CitedTitles::new(entries.iter());
        let top = "Journal of Water 3\nT HE TIDES OF THE\n\nNORTH-\nERN SEA\nAnn Doe\nRivers and harbours are";
        let found = titles.find(top).expect("found");
        assert_eq!(found.title.as_deref(), Some("The Tides of the Northern Sea"));
        assert_eq!((found.authors, found.date.map(Date::year)), (vec!["Doe".into(), "Roe".into()], Some(2001)));
        assert_eq!(titles.find("The tides of the northern sea\nby nobody"), None, "no author is named");
        assert_eq!(titles.find("On the tides of the northern sea\nAnn Doe"), None, "it begins no line");
        assert_eq!(titles.find("The tides of the northern sea in winter\nAnn Doe"), None, "the line goes on");
        assert!(titles.find("The tides of the northern sea 1∗\nAnn Doe").is_some(), "a note is no part of it");
        let names = [entry(&["Roe"], 1985, "Richard Q. Roe.")];
        assert_eq!(CitedTitles::new(names.iter()).find("Rivers\nRichard Q. Roe"), None, "a name is no title");
        let far = format!("{}The tides of the northern sea\nAnn Doe", "a line\n".repeat(TOP_LINES));
        assert_eq!(titles.find(&far), None, "it does not stand at the top");
    }

    #[test]
    fn a_title_must_be_printed() {
        let top = "HOLLOW SEAS\nof the far\nnorth\nAnn Doe";
        let found = |titles: &[&str]| printed(titles.iter().copied(), top);
        assert_eq!(
            found(&["paper.dvi", "Hollow seas of  the far north"]).as_deref(),
            Some("Hollow seas of the far north")
        );
        assert_eq!(
            found(&["[hal-00001234, v2] Hollow seas of the far north"]).as_deref(),
            Some("Hollow seas of the far north")
        );
        assert_eq!(found(&["Hollow", "Another paper of mine", ""]), None);
    }

    #[test]
    fn what_the_file_names_is_better_than_no_title() {
        let found = |titles: &[&str]| named(titles.iter().copied());
        assert_eq!(
            found(&["A large line of it", "Hollow  seas of the far north"]).as_deref(),
            Some("Hollow seas of the far north")
        );
        assert_eq!(found(&["fpca.dvi", "Microsoft Word - seas.doc", "Untitled document", "A B C D E F"]), None);
        assert_eq!(first_title("1\n\nAbstract\nSeas are hollow in the north."), None, "an abstract has none");
        assert_eq!(first_title("A B C D E F G D\n\nA B"), None);
        assert_eq!(
            first_title("Hollow seas:\n\nof the north\n\nAnn Doe").as_deref(),
            Some("Hollow seas: of the north")
        );
        assert_eq!(
            first_title("Seas, Harbours,\nRivers and Fords\nAnn Doe").as_deref(),
            Some("Seas, Harbours, Rivers and Fords")
        );
        assert_eq!(first_title("Hollow seas of it\nAnn Doe \u{3}\nBo Roe y").as_deref(), Some("Hollow seas of it"));
        assert_eq!(first_title("Hollow seas\nJanuary 29, 1998").as_deref(), Some("Hollow seas"));
        assert_eq!(first_title("HJI?KLGM <?B7NPORQ\"NTSUSUV"), None, "no letters");
        assert_eq!(first_title("Hollow seas\n\nof the north").as_deref(), Some("Hollow seas"));
        assert_eq!(first_title("Hollow seas\nof the north\nAnn Doe").as_deref(), Some("Hollow seas of the north"));
    }

    #[test]
    fn titles_are_looked_up_in_time_in_proportion() {
        let entries = [entry(&["Doe"], 2001, "aaaaaaaaaaaa bb")];
        let titles = CitedTitles::new(entries.iter());
        for piece in ["a", "aaaaaaaaaaaa\n", "\n", "Doe "] {
            assert_linear(piece, 40_000, |pieces| drop(titles.find(top(&piece.repeat(pieces)))));
        }
        assert_linear("entries", 4_000, |pieces| {
            let entries: Vec<BibRecord> =
                (0..pieces).map(|n| entry(&["Doe"], 2001, &format!("the same start {n}"))).collect();
            drop(CitedTitles::new(entries.iter()).find("the same start 7\nDoe"));
        });
    }
}
