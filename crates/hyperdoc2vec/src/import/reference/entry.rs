//! One entry of a bibliography, read: authors, year, title, venue. Ids in its text are found by the linker.
//!
//! Styles differ in what ends the title: a full stop (ACL, APA, LNCS, Nature), quotation marks (IEEE, Chicago), a
//! comma (AMS); the end of the list of authors decides which.

use super::BibRecord;
use super::names::{Authors, Closed, authors};
use super::tails::without_tail;
use super::words::{WordKind, is_quote, words, year};

/// A bibliography entry, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BibliographyEntry {
    /// `[12]`, `12.`
    pub number: Option<u32>,
    /// `[Knuth84]`, without the brackets.
    pub key: Option<String>,
    /// Family names in order.
    pub authors: Vec<String>,
    /// Whether there are more authors than are named.
    pub others: bool,
    /// The year.
    pub year: Option<i32>,
    /// The letter after the year.
    pub letter: Option<char>,
    /// The title.
    pub title: Option<String>,
    /// Where it appeared.
    pub venue: Option<String>,
    /// The whole entry without its label.
    pub text: String,
}

impl BibRecord {
    /// Reads an entry as it is written.
    pub fn read(text: &str) -> BibRecord {
        read(text).into()
    }
}

impl From<BibliographyEntry> for BibRecord {
    fn from(entry: BibliographyEntry) -> BibRecord {
        let BibliographyEntry { authors, year, title, text, .. } = entry;
        BibRecord { title, year, authors, text: Some(text), ..BibRecord::default() }
    }
}

/// Longest entry that is read, in bytes: what is longer is no entry, but text that was taken for one.
const LONGEST: usize = 4000;

/// Reads an entry whose label was taken off.
pub(crate) fn read(text: &str) -> BibliographyEntry {
    let text = spaced(text);
    let end = (0..=text.len().min(LONGEST)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let text = &text[..end];
    let list = authors(text);
    let rest = undated(&text[list.end..]);
    let mut entry =
        BibliographyEntry { authors: list.surnames.clone(), others: list.others, ..BibliographyEntry::default() };
    let after_year = leading_year(rest).map(|(year, letter, rest)| {
        (entry.year, entry.letter) = (Some(year), letter);
        rest
    });
    let body = after_year.unwrap_or(rest).trim_start_matches([' ', '.', ',', ':', ';', ')', ']']);
    let (title, venue) = title(body, &list, after_year.is_some());
    if entry.year.is_none() {
        let searched = if title.is_some() { venue } else { body };
        (entry.year, entry.letter) = last_year(searched).or_else(|| last_year(body)).unzip();
        entry.letter = entry.letter.filter(|&letter| letter != ' ');
    }
    entry.title = title.map(|title| without_tail(without_initials(title), entry.year).to_owned());
    entry.venue = venue_name(venue);
    text.clone_into(&mut entry.text);
    entry
}

/// Puts back the space that was lost after a comma, or between an initial and a name.
fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut before = [' '; 2];
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        out.push(c);
        if let Some(&next) = chars.peek() {
            let comma = matches!(c, ',' | ';') && before[1].is_alphabetic() && next.is_alphabetic();
            let initial = c == '.' && before[1].is_uppercase() && !before[0].is_alphanumeric() && next.is_uppercase();
            let another = initial && {
                let mut ahead = chars.clone();
                ahead.next();
                ahead.next().is_some_and(char::is_lowercase)
            };
            if comma || another {
                out.push(' ');
            }
        }
        before = [before[1], c];
    }
    out
}

/// The text after `(in press).` and the like.
fn undated(rest: &str) -> &str {
    let inside = rest.trim_start().strip_prefix('(').and_then(|inside| inside.split_once(')'));
    let said = |text: &str| {
        ["press", "appear", "forthcoming", "submitted", "n.d.", "review"].iter().any(|word| text.contains(word))
    };
    inside.filter(|(text, _)| text.len() < 30 && said(text)).map_or(rest, |(_, after)| after)
}

/// The year that stands right after the authors, and what follows it: `(2018a). …`, `2018. …`, `(2018, May). …`.
fn leading_year(rest: &str) -> Option<(i32, Option<char>, &str)> {
    let inside = rest.trim_start_matches([' ', '(', '[', ',', '.']);
    let first = words(inside).next()?;
    let WordKind::Year(year, letter) = first.kind else { return None };
    let opened = rest[..rest.len() - inside.len()].contains(['(', '[']);
    let mut after = &inside[first.end..];
    if opened && !first.after.contains([')', ']']) {
        let close = after.find([')', ']']).filter(|&close| close < 40)?;
        after = &after[close + 1..];
    } else if first.after.starts_with([':', '/', '-', '–'])
        && !first.after.ends_with('.')
        && first.after.len() == 1
        && !opened
    {
        return None;
    }
    Some((year, letter, after))
}

/// The title, and all that stands after it.
fn title<'a>(body: &'a str, list: &Authors, after_year: bool) -> (Option<&'a str>, &'a str) {
    if let Some((quoted, rest)) = quoted(body) {
        return (Some(quoted), rest);
    }
    let by_comma = list.closed == Closed::Comma && !after_year;
    let end = if by_comma { comma_end(body) } else { None }.unwrap_or_else(|| stop_end(body));
    let editors = ["(eds", "(Eds", "(ed.", "(Ed."].iter().filter_map(|mark| body[..end].find(mark)).min();
    let end = match editors.filter(|&at| at > 3) {
        Some(at) => before_editors(&body[..at]).unwrap_or(at),
        None => end,
    };
    let (title, rest) = body.split_at(venue_inside(&body[..end]).unwrap_or(end));
    let title = title.trim().trim_end_matches(['.', ',', ';', ':', '-', ' ']);
    let letters = title.chars().filter(|c| c.is_alphabetic()).count();
    // A journal and numbers, as physicists cite: no title.
    let bare = by_comma && is_venue(title) && title.contains(|c: char| c.is_ascii_digit());
    if letters < 4 || bare { (None, body) } else { (Some(title), rest) }
}

/// A title without the initials of the last author, whose list ended too soon: `J. K. Deep sails`.
fn without_initials(title: &str) -> &str {
    let mut rest = title;
    for word in words(title).take_while(|word| word.kind == WordKind::Initials && word.core.ends_with('.')) {
        rest = title[word.end..].trim_start();
    }
    if rest.starts_with(char::is_uppercase) && rest.contains(' ') { rest } else { title }
}

/// Where a title is over that goes on with editors: `Deep sails in D. S. Doe (ed.)`.
fn before_editors(text: &str) -> Option<usize> {
    let at = text.rfind(" in ").max(text.rfind(" In ")).filter(|&at| at > 3)?;
    let names = authors(&text[at + 4..]);
    (!names.surnames.is_empty() && names.closed == Closed::Nothing).then_some(at)
}

/// Where a title is over that goes on with where it appeared: `Deep sails, in Proceedings of`, `Deep sails In Advances`.
fn venue_inside(title: &str) -> Option<usize> {
    let after = |at: usize, mark: &str| title[at + mark.len()..].trim_start_matches(['"', '“', '\'', ' ']);
    let opens = |text: &str| {
        let first = words(text).next().map_or("", |word| word.core).trim_end_matches('.');
        // `ACL'89`, `NIPS 2`
        let second = words(text).nth(1).map_or("", |word| word.core);
        let name = first.split(['\'', '’', '*']).next().unwrap_or_default();
        let numbered = name.len() < first.len() || second.starts_with(|c: char| c.is_ascii_digit());
        let acronym = name.len() > 2 && name.chars().all(char::is_uppercase) && numbered;
        acronym || ["Proc", "Proceedings", "Advances", "IEEE", "ACM"].contains(&first)
    };
    let places = [", in ", ", In ", ", In: ", " In ", ",\" in ", "\" in ", ", "].into_iter();
    let found = places.flat_map(|mark| title.match_indices(mark).map(move |(at, _)| (at, mark)));
    found.filter(|&(at, mark)| at > 3 && opens(after(at, mark))).map(|(at, _)| at).min()
}

/// The text in quotation marks near the start, and the text after it.
fn quoted(body: &str) -> Option<(&str, &str)> {
    let open = body.find(|c| is_quote(c) || c == '‘').filter(|&at| at <= 2)?;
    let mark = body[open..].chars().next()?;
    let inside = &body[open + mark.len_utf8()..];
    let closing = |c: char| match mark {
        '‘' => c == '’',
        '“' | '„' | '‟' => matches!(c, '”' | '“' | '"'),
        '«' => c == '»',
        _ => is_quote(c),
    };
    // Inner quotation marks and apostrophes: the last closing one before a space or the end.
    let close = inside.char_indices().find(|&(at, c)| {
        let after = inside[at + c.len_utf8()..].chars().next();
        closing(c) && after.is_none_or(|after| !after.is_alphanumeric())
    })?;
    let title = inside[..close.0].trim().trim_end_matches(['.', ',', ';']).trim();
    let rest = &inside[close.0 + close.1.len_utf8()..];
    (title.chars().filter(|c| c.is_alphabetic()).count() >= 4).then_some((title, rest))
}

/// Where a title ends that ends with a sentence.
fn stop_end(body: &str) -> usize {
    for (at, c) in body.char_indices() {
        let after = &body[at + c.len_utf8()..];
        if !matches!(c, '.' | '?' | '!') || !(after.is_empty() || after.starts_with([' ', '”', '"'])) {
            continue;
        }
        let next = after.trim_start_matches([' ', '”', '"']);
        if c == '.' {
            let last = body[..at].rsplit([' ', '(', '-']).next().unwrap_or_default();
            let short = last.chars().count() == 1 && last.chars().all(char::is_uppercase);
            let abbreviation = matches!(
                last,
                "vs" | "cf" | "approx" | "St" | "Dr" | "Mr" | "e.g" | "i.e" | "No" | "no" | "vol" | "Vol"
            );
            let goes_on = next.starts_with(char::is_lowercase) && !starts_venue(next);
            if (short || abbreviation || goes_on) && !starts_venue(next) {
                continue;
            }
        } else if next.starts_with(char::is_lowercase) && !starts_venue(next) {
            continue;
        }
        return at + c.len_utf8();
    }
    body.len()
}

/// Where a title ends that ends with a comma: at the first one that is followed by where it appeared.
fn comma_end(body: &str) -> Option<usize> {
    let stop = stop_end(body);
    let commas: Vec<usize> = body.match_indices(',').map(|(at, _)| at).filter(|&at| at > 3).take(12).collect();
    let publisher = |text: &str| {
        let name = text.split([',', '.', ';', '(']).next().unwrap_or_default();
        name.split(' ').count() < 6
            && ["Press", "Verlag", "Publishers", "Publishing", "University", "Books"]
                .iter()
                .any(|word| name.contains(word))
    };
    let opens = |text: &str| starts_venue(text) || publisher(text);
    let venue = commas.iter().copied().find(|&at| opens(body[at + 1..].trim_start()));
    // A sentence that ends before any comma ends the title too.
    let first = commas.first().copied();
    let end = venue.or(first)?;
    (end <= stop || venue.is_some_and(|at| at < stop)).then_some(end)
}

/// Words with which the name of a journal, a conference or a publisher begins.
const VENUES: [&str; 56] = [
    "in",
    "proc",
    "proceedings",
    "journal",
    "j",
    "trans",
    "transactions",
    "int",
    "international",
    "annals",
    "ann",
    "advances",
    "adv",
    "lecture",
    "lncs",
    "technical",
    "tech",
    "phd",
    "ph",
    "doctoral",
    "master",
    "masters",
    "arxiv",
    "corr",
    "preprint",
    "ieee",
    "acm",
    "springer",
    "elsevier",
    "wiley",
    "cambridge",
    "oxford",
    "mit",
    "addison",
    "academic",
    "university",
    "univ",
    "nature",
    "science",
    "phys",
    "physical",
    "math",
    "comm",
    "communications",
    "comput",
    "theoret",
    "bull",
    "rev",
    "acta",
    "vol",
    "pp",
    "computational",
    "conference",
    "conf",
    "workshop",
    "available",
];

/// Whether a text begins with where something appeared: `in Proc. of`, `J. Algebra 12`, `pp. 1`, a number.
pub(super) fn starts_venue(text: &str) -> bool {
    let Some(first) = words(text).next() else { return false };
    if first.core.starts_with(|c: char| c.is_ascii_digit()) {
        return true;
    }
    let word = first.core.trim_end_matches('.');
    let word = word.split(['-', '.']).next().unwrap_or(word);
    let lower = word.to_lowercase();
    if lower == "in" {
        // `in` opens a venue only before a name: `In: Proc.`, `in Proceedings`.
        let next = words(text).nth(1).map_or("", |word| word.core);
        return word == "In" || next.starts_with(char::is_uppercase) || next.starts_with("the");
    }
    VENUES.contains(&lower.as_str())
        && (word.starts_with(char::is_uppercase)
            || matches!(lower.as_str(), "pp" | "vol" | "preprint" | "arxiv" | "available"))
}

fn is_venue(text: &str) -> bool {
    starts_venue(text) || words(text).take(3).any(|word| word.after.starts_with('.') && word.core.chars().count() > 1)
}

/// The last year in a text that is no page, volume or part of an address; the letter is a blank if there is none.
fn last_year(text: &str) -> Option<(i32, char)> {
    let mut best = None;
    let mut rank = 0;
    for word in words(text) {
        let trimmed = word.core.trim_matches(|c: char| !c.is_alphanumeric());
        let found = match word.kind {
            WordKind::Year(number, letter) => Some((number, letter)),
            // `2018;12(3):1-20`
            _ => trimmed.find(';').and_then(|at| year(&trimmed[..at])),
        };
        let Some((number, letter)) = found else { continue };
        let closed = word.before.ends_with('(') && word.after.starts_with(')');
        let pages = word.after.starts_with(['-', '–', ':', '/']);
        let this = if closed {
            3
        } else if pages {
            1
        } else {
            2
        };
        if this >= rank {
            (best, rank) = (Some((number, letter.unwrap_or(' '))), this);
        }
    }
    best
}

/// The name of a venue out of what stands after a title.
fn venue_name(rest: &str) -> Option<String> {
    let mut rest = rest.trim_start_matches([' ', '.', ',', ':', ';', '(']);
    for opening in ["In:", "In ", "in:", "in "] {
        rest = rest.strip_prefix(opening).unwrap_or(rest).trim_start();
    }
    let end = rest.char_indices().find(|&(at, c)| {
        let after = &rest[at + c.len_utf8()..];
        let abbreviated =
            rest[..at].rsplit(' ').next().is_some_and(|word| word.chars().count() <= 6) && after.starts_with(' ');
        matches!(c, ',' | ';' | '(') || c.is_ascii_digit() || (c == '.' && !abbreviated)
    });
    let name = rest[..end.map_or(rest.len(), |(at, _)| at)].trim().trim_end_matches(['.', ',']);
    (name.chars().filter(|c| c.is_alphabetic()).count() >= 2).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::reference::fold;

    /// An entry, and what is to be read from it.
    struct Case<'a> {
        entry: &'a str,
        authors: &'a str,
        year: &'a str,
        title: &'a str,
    }

    fn cases() -> Vec<Case<'static>> {
        let file = include_str!("../../../tests/data/papers/entries.txt");
        let lines: Vec<&str> = file.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
        let case = |pair: &[&'static str]| {
            let mut expected = pair[1].strip_prefix("=").expect("what is expected").split(";;").map(str::trim);
            let mut next = || expected.next().expect("three fields");
            Case { entry: pair[0], authors: next(), year: next(), title: next() }
        };
        lines.chunks(2).map(case).collect()
    }

    #[test]
    fn entries_in_many_styles_are_read_right() {
        let cases = cases();
        assert!(cases.len() >= 60, "{} entries", cases.len());
        // Of each field: right, read, to be read.
        let mut counts = [[0usize; 3]; 3];
        for Case { entry: text, authors, year, title } in &cases {
            let entry = read(text);
            let letter = entry.letter.map(String::from).unwrap_or_default();
            let found = [
                entry.authors.join("|"),
                entry.year.map(|year| format!("{year}{letter}")).unwrap_or_default(),
                entry.title.clone().unwrap_or_default(),
            ];
            for ((found, expected), counts) in found.iter().zip([authors, year, title]).zip(&mut counts) {
                let right = if found.contains('|') { found == expected } else { fold(found) == fold(expected) };
                counts[0] += usize::from(right && !expected.is_empty());
                counts[1] += usize::from(!found.is_empty());
                counts[2] += usize::from(!expected.is_empty());
                if !right {
                    eprintln!("expected {expected:?}, found {found:?} in {text}");
                }
            }
        }
        for ([right, read, expected], field) in counts.into_iter().zip(["authors", "years", "titles"]) {
            let (precision, recall) = (right as f64 / read as f64, right as f64 / expected as f64);
            eprintln!("{field}: precision {precision:.3}, recall {recall:.3} of {expected}");
            assert!(precision >= 0.97 && recall >= 0.95, "{field}: precision {precision}, recall {recall}");
        }
    }

    #[test]
    fn nonsense_is_read_without_harm() {
        for text in
            ["", ".", "[", "(", "“", "2018", "(2018", "a. b. c.", ", , ,", "é", "A", "J. ", "A.B", "‘x", "Smith, J., &"]
        {
            let entry = read(text);
            assert!(entry.text.len() <= text.len() + 8, "{text}");
        }
    }
}
