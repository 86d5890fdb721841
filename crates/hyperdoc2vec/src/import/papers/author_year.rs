//! Citation marks that name authors and years: `(Smith et al., 2018; Doe, 2017a)`, `Smith and Doe (2018)`.
//!
//! A year in brackets is looked at with the names before it; a mark is what fits an entry of the list, or at least
//! looks like nothing else.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::marks::{FoundMark, is_place, without_opening};
use crate::import::reference::entry::BibliographyEntry;
use crate::import::reference::linker::similar::{edit_distance, like_name};
use crate::import::reference::names::key;
use crate::import::reference::words::{EntryWord, WordKind, words, year};
use crate::import::text::distinct;

/// Longest bracket in bytes.
const LONGEST: usize = 700;
/// Words before a bracket that are looked at for names.
const REACH: usize = 24;
/// More entries than this of one first author and year are not told apart: a mark that names them names none.
const MOST_NAMESAKES: usize = 200;
/// So many entries of one first author or more are too many to tell which is meant without its year.
const MOST_WORKS: usize = 20;
/// Lengths of names in which one letter may be misread: a shorter one would be another name, a longer one is no
/// person's.
const MISREAD: RangeInclusive<usize> = 6..=64;

/// Entries by first author and year.
pub(super) struct People<'a> {
    entries: &'a [BibliographyEntry],
    /// Keys of the authors of each entry.
    keys: Vec<Vec<String>>,
    years: HashMap<i32, FirstAuthors>,
    /// Entries by the key of their first author; [`MOST_WORKS`] at most.
    first_authors: HashMap<String, Vec<usize>>,
}

/// The entries of a year.
#[derive(Default)]
struct FirstAuthors {
    /// Entries by the key of their first author.
    entries: HashMap<String, Vec<usize>>,
    /// Keys by themselves with one letter left out: two that differ in one letter have such a form in common.
    misread: HashMap<String, Vec<String>>,
    /// All entries that have an author.
    all: Vec<usize>,
}

/// Names that stand before a year.
struct CitedNames {
    people: Vec<Person>,
    /// Whether `et al.` follows.
    others: bool,
    /// Where they begin.
    start: usize,
}

/// One of them.
struct Person {
    /// The key of the family name.
    key: String,
    /// The key of both words, if the word before belongs to the name: `García Márquez`.
    double: Option<String>,
    /// The key of the word before, where it may be a name of its own.
    given: Option<String>,
    /// Whether signs that no name has were read in it.
    is_unread: bool,
}

impl Person {
    /// Whether it is this author; `loosely`, if one letter was misread.
    fn is(&self, author: &str, loosely: bool) -> bool {
        let name = if loosely { same(author, &self.key) } else { author == self.key };
        name || self.double.as_ref().is_some_and(|double| author == double)
    }
}

impl<'a> People<'a> {
    /// The authors and years of a list of entries.
    pub(super) fn new(entries: &'a [BibliographyEntry]) -> People<'a> {
        let keys_of = |entry: &BibliographyEntry| entry.authors.iter().map(|name| key(name)).collect();
        let keys: Vec<Vec<String>> = entries.iter().map(keys_of).collect();
        let mut years: HashMap<i32, FirstAuthors> = HashMap::new();
        let mut first_authors: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, first) in keys.iter().enumerate().filter_map(|(at, keys)| Some((at, keys.first()?))) {
            let same = first_authors.entry(first.clone()).or_default();
            if same.len() < MOST_WORKS {
                same.push(at);
            }
        }
        for (at, (entry, keys)) in entries.iter().zip(&keys).enumerate() {
            if let (Some(year), Some(first)) = (entry.year, keys.first().filter(|key| !key.is_empty())) {
                let FirstAuthors { entries, misread, all } = years.entry(year).or_default();
                all.push(at);
                let same = entries.entry(first.clone()).or_default();
                if same.is_empty() {
                    forms(first).for_each(|form| misread.entry(form).or_default().push(first.clone()));
                }
                same.push(at);
            }
        }
        People { entries, keys, years, first_authors }
    }

    /// Entries of a year whose first author may be this person; at most one more than [`MOST_NAMESAKES`].
    fn near(&self, year: i32, person: &Person, loosely: bool) -> Vec<usize> {
        let Some(FirstAuthors { entries, misread, .. }) = self.years.get(&year) else { return Vec::new() };
        let forms = forms(&person.key).filter(|_| loosely);
        let initials = [Some(&person.key), person.double.as_ref()].map(|key| key.and_then(|key| key.bytes().next()));
        let alike = forms.filter_map(|form| misread.get(&form)).flatten();
        let alike = alike.filter(|key| initials.contains(&key.bytes().next()));
        let keys = distinct([&person.key].into_iter().chain(&person.double).chain(alike));
        keys.into_iter().filter_map(|key| entries.get(key)).flatten().copied().take(MOST_NAMESAKES + 1).collect()
    }

    /// All marks of a text, in order.
    pub(super) fn marks(&self, text: &str) -> Vec<FoundMark> {
        let mut found: Vec<FoundMark> = Vec::new();
        for (open, bracket) in text.match_indices(['(', '[', '{']) {
            let from = open + 1;
            let end =
                (from..=text.len().min(from + LONGEST)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(from);
            let Some(length) = text[from..end].find(['(', ')', '[', ']', '{', '}', '\n']) else { continue };
            let inside = &text[from..from + length];
            if !text[from + length..].starts_with([')', ']', '}']) {
                continue;
            }
            if !inside.bytes().any(|b| b.is_ascii_digit()) {
                found.extend(self.undated(text, open, from + length + 1));
                continue;
            }
            let first = inside.trim_start();
            let narrative = words(first).next().is_some_and(|word| {
                let digits = word.core.bytes().take_while(u8::is_ascii_digit).count();
                let short = short_year(word.core).is_some() && digits == 2 && word.end == first.len();
                // `1986,1988`
                let several = digits == 4 && year(&word.core[..4]).is_some() && word.core[4..].starts_with([',', ';']);
                (matches!(word.kind, WordKind::Year(..)) || short || several) && word.before.is_empty()
            });
            let mut marks = match narrative {
                true => self.narrative(text, open, from + length + 1).into_iter().collect(),
                false => self.bracket(text, open, from + length + 1),
            };
            // A bracket that was misread is one where it names an entry.
            let close = [("(", ')'), ("[", ']')].into_iter().find(|(open, _)| *open == bracket).map(|(_, close)| close);
            if !close.is_some_and(|close| text[from + length..].starts_with(close)) {
                marks.retain(|mark| !mark.entries.is_empty());
            }
            found.append(&mut marks);
        }
        found
    }

    /// `(Smith, this volume)`, `Smith and Doe (in press)`: the one entry of these authors.
    fn undated(&self, text: &str, open: usize, end: usize) -> Option<FoundMark> {
        let inside = &text[open + 1..end - 1];
        let entry = match undated_place(inside)?.trim_matches(|c: char| !c.is_alphanumeric()) {
            "" | "in" => {
                let from = (open.saturating_sub(120)..=open).find(|&at| text.is_char_boundary(at)).unwrap_or(open);
                self.find_elsewhere(&names(&text[from..open])?, |_| true)?
            }
            _ => {
                self.undated_names(inside).filter(|(start, _)| without_opening(&inside[..*start]).trim().is_empty())?.1
            }
        };
        Some(FoundMark { range: open..end, entries: vec![entry] })
    }

    /// Where the names begin before `this volume` and the like, and their one entry.
    fn undated_names(&self, text: &str) -> Option<(usize, usize)> {
        let cited = names(undated_place(text)?.trim_end_matches([' ', ',']))?;
        Some((cited.start, self.find_elsewhere(&cited, |_| true)?))
    }

    /// `Smith and Doe (2018, 2019)`: the names stay, the bracket is the mark.
    fn narrative(&self, text: &str, open: usize, end: usize) -> Option<FoundMark> {
        let from = (open.saturating_sub(300)..=open).find(|&at| text.is_char_boundary(at)).unwrap_or(open);
        let from = text[from..open].rfind('\n').map_or(from, |at| from + at + 1);
        let names = names(&text[from..open])?;
        let inside = &text[open + 1..end - 1];
        let mut entries = Vec::new();
        let mut last = None;
        for part in inside.split([',', ';', '&']).flat_map(|part| part.split(" and ")).map(str::trim) {
            let letter = part.chars().next().filter(|_| part.len() == 1).filter(char::is_ascii_lowercase);
            match (year(part).or_else(|| self.full(short_year(part)?)), letter, last) {
                (Some((year, letter)), ..) => {
                    entries.extend(self.find(&names, year, letter));
                    last = Some(year);
                }
                // `2018a, b`
                (None, Some(letter), Some(year)) => entries.extend(self.find(&names, year, Some(letter))),
                (None, None, Some(_))
                    if is_place(part) || part.is_empty() || part.starts_with(|c: char| c.is_ascii_digit()) =>
                {
                    break;
                }
                _ => return None,
            }
        }
        // A year after a name that fits no entry may be anything: `Rome (1960)`.
        (!entries.is_empty()).then(|| FoundMark { range: open..end, entries: distinct(entries) })
    }

    /// `(see Smith et al., 2018; Doe, 2017a, p. 5)`.
    fn bracket(&self, text: &str, open: usize, end: usize) -> Vec<FoundMark> {
        let inside = parted(&text[open + 1..end - 1]);
        let inside = inside.as_str();
        let base = open + 1;
        // One part a year: names, the year, the place.
        let mut parts: Vec<FoundMark> = Vec::new();
        let mut last: Option<(CitedNames, i32)> = None;
        let mut from = 0;
        let mut foreign = false;
        let mut unknown = 0;
        for word in words(inside) {
            let trimmed = word.core.trim_end_matches(|c: char| !c.is_alphanumeric());
            let (found, rest) = match (word.kind, &last) {
                (WordKind::Year(year, letter), _) => (Some((year, letter)), ""),
                // `2018a,b` and `2018/2019`
                (WordKind::Other, _) if trimmed.get(..4).is_some_and(|start| year(start).is_some()) => {
                    let length = trimmed.find([',', '/', ';']).unwrap_or(trimmed.len());
                    (year(&trimmed[..length]), trimmed.get(length + 1..).unwrap_or_default())
                }
                // `90`, `Doe90`
                _ if short_year(word.core).is_some() => (short_year(word.core).and_then(|short| self.full(short)), ""),
                (WordKind::Other | WordKind::Initials | WordKind::Particle, Some((_, year)))
                    if trimmed.len() == 1 && from <= word.start && !is_place(&inside[word.start..]) =>
                {
                    let gap = inside[from..word.start].trim_matches([' ', ',']);
                    let letter = trimmed.chars().next().filter(char::is_ascii_lowercase);
                    (letter.filter(|_| gap.is_empty()).map(|letter| (*year, Some(letter))), "")
                }
                _ => (None, ""),
            };
            let Some((year, letter)) = found else { continue };
            let glued = word.core.len() - word.core.trim_start_matches(|c: char| c.is_alphabetic() || c == '-').len();
            let split = word.start + word.before.len() + glued;
            let short = word.kind != WordKind::Year(year, letter) && short_year(word.core).is_some();
            let segment = if glued > 0 { inside[from..split].trim_end_matches('-') } else { &inside[from..word.start] };
            let lead = segment.trim_start_matches([' ', ',', ';']);
            let names =
                if lead.trim().is_empty() || matches!(lead.trim(), "and" | "&") { None } else { names(segment) };
            let start = match (&names, &last) {
                (Some(names), _) => from + names.start,
                (None, Some(_)) if lead.trim().is_empty() || matches!(lead.trim(), "and" | "&") => from,
                _ => {
                    // A year that no name stands before.
                    foreign = true;
                    from = word.end;
                    last = None;
                    continue;
                }
            };
            let (place, before) = after_place(&inside[from..start]);
            if let Some(last) = parts.last_mut().filter(|last| last.range.end == base + from) {
                last.range.end += place;
            }
            let before = without_opening(before.trim_start_matches([' ', ',', ';']));
            foreign |= !before.trim_matches(|c: char| !c.is_alphanumeric()).is_empty();
            let all = names.or_else(|| last.take().map(|(names, _)| names));
            let Some(all) = all else { continue };
            let mut entries: Vec<usize> = self.find(&all, year, letter).into_iter().collect();
            if short && entries.is_empty() {
                // Two digits may be anything else.
                foreign = true;
                from = word.end;
                last = None;
                continue;
            }
            for part in rest.split([',', '/']).map(str::trim).filter(|part| !part.is_empty()) {
                let letter = part.chars().next().filter(|_| part.len() == 1);
                let (year, letter) = crate::import::reference::words::year(part).unwrap_or((year, letter));
                entries.extend(self.find(&all, year, letter));
            }
            unknown += usize::from(entries.is_empty());
            from = word.end;
            parts.push(FoundMark { range: base + start..base + word.end, entries });
            last = Some((all, year));
        }
        if let Some((names, entry)) = self.undated_names(&inside[from..]) {
            parts.push(FoundMark { range: base + from + names..end - 1, entries: vec![entry] });
            from = inside.len();
        }
        let tail = inside[from..].trim_matches([' ', ',', ';', '.']);
        let place = tail.is_empty()
            || is_place(tail)
            || tail.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '–' | ' ' | ':'));
        foreign |= !place;
        let Some(last) = parts.last_mut() else { return Vec::new() };
        if place && !tail.is_empty() {
            last.range.end = end - 1;
        }
        let known = parts.len() - unknown;
        if known == 0 && (foreign || parts.iter().any(|part| text[part.range.clone()].split(' ').count() > 12)) {
            return Vec::new();
        }
        if !foreign {
            let entries = distinct(parts.iter().flat_map(|part| part.entries.iter().copied()));
            return vec![FoundMark { range: open..end, entries }];
        }
        parts.retain(|part| !part.entries.is_empty());
        parts
    }

    /// The one entry that names and a year fit.
    fn find(&self, names: &CitedNames, year: i32, letter: Option<char>) -> Option<usize> {
        let find = |loosely| self.find_by(names, year, letter, loosely);
        find(false)
            .or_else(|| find(true))
            .or_else(|| self.find_misread(names, year, letter))
            .unwrap_or_else(|| self.find_elsewhere(names, |other| other.abs_diff(year) == 1))
    }

    /// The one entry of these authors, where the year of the mark has none: a paper is cited before it is printed.
    /// Its year must be one that `may` be meant.
    fn find_elsewhere(&self, names: &CitedNames, may: impl Fn(i32) -> bool) -> Option<usize> {
        let first = names.people.first()?;
        let entries = self.first_authors.get(&first.key)?;
        let fits = |at: &usize| {
            let authors = &self.keys[*at];
            let short = names.others && authors.len() > 1 || names.people.len() == 1 && entries.len() == 1;
            let all = short || names.people.len() == authors.len() || self.entries[*at].others;
            all && authors.iter().zip(&names.people).all(|(author, person)| like_name(author, &person.key))
        };
        let mut fitting = entries.iter().filter(|at| fits(at)).copied();
        let only = fitting.next().filter(|_| fitting.next().is_none() && entries.len() < MOST_WORKS)?;
        self.entries[only].year.is_none_or(may).then_some(only)
    }

    /// The one entry of a year whose first author is the first of the names, or that name misread; of several names
    /// another must be among the authors, too.
    fn find_misread(&self, names: &CitedNames, year: i32, letter: Option<char>) -> Option<Option<usize>> {
        let entries = &self.years.get(&year)?.all;
        if entries.len() > MOST_NAMESAKES {
            return None;
        }
        let known = |person: &Person, authors: &[String]| {
            let given = person.given.as_ref().filter(|given| given.len() > 2);
            let keys = [Some(&person.key), person.double.as_ref(), given];
            authors.iter().any(|author| keys.into_iter().flatten().any(|key| like_name(author, key)))
        };
        let fits = |at: usize| {
            let authors = &self.keys[at];
            let first = names.people.iter().position(|person| known(person, &authors[..1]));
            // `Doe Roe`, whose `&` is lost, are two.
            let all = first.map_or(&[][..], |first| &names.people[first..]);
            let several = all.len() > 1 || all.iter().any(|person| person.given.is_some());
            // The names of an entry that was misread may not all be known.
            let head = || self.entries[at].text.chars().take(160).collect::<String>().to_lowercase();
            let written = || all.len() > 1 && all[1..].iter().all(|person| head().contains(&person.key));
            let unread = |person: &Person| person.is_unread;
            let second = !several || all.iter().any(|person| unread(person) || known(person, &authors[1..]));
            let count = all.len() == authors.len() || names.others || all.len() == 1 || self.entries[at].others;
            // Names before the first author belong to the sentence, if all that follow are the authors.
            let whole = first == Some(0) || all.len() == authors.len() && all.len() > 1;
            whole && (second && (count || all.len() > 2) || written())
        };
        self.only(entries.clone(), fits, letter)
    }

    /// A year of which only the last two digits are given, if the list has entries of it.
    fn full(&self, (short, letter): (i32, Option<char>)) -> Option<(i32, Option<char>)> {
        [1900, 2000]
            .into_iter()
            .map(|century| century + short)
            .find(|year| self.years.contains_key(year))
            .map(|year| (year, letter))
    }

    /// `Some(None)` if several fit.
    fn find_by(&self, names: &CitedNames, year: i32, letter: Option<char>, loosely: bool) -> Option<Option<usize>> {
        // The longest run of names that are all the authors of an entry, ...
        for count in (1..=names.people.len()).rev() {
            let run = &names.people[names.people.len() - count..];
            let fits = |at: usize| {
                let authors = &self.keys[at];
                let all = authors.len() == count || (names.others || self.entries[at].others) && authors.len() >= count;
                all && authors.iter().zip(run).all(|(author, person)| person.is(author, loosely))
            };
            if let Some(only) = self.only(self.near(year, &run[0], loosely), fits, letter) {
                return Some(only);
            }
        }
        // ... or else the first author alone, where the mark leaves the others out.
        let first = names.people.last().filter(|_| names.people.len() == 1 || names.others)?;
        let fits = |at: usize| self.keys[at].first().is_some_and(|author| first.is(author, loosely));
        self.only(self.near(year, first, loosely), fits, letter)
    }

    /// The one of `near` that fits; `Some(None)` if there are several, and no letter distinguishes them.
    fn only(&self, near: Vec<usize>, fits: impl Fn(usize) -> bool, letter: Option<char>) -> Option<Option<usize>> {
        if near.len() > MOST_NAMESAKES {
            return Some(None);
        }
        let mut fitting: Vec<usize> = near.into_iter().filter(|&at| fits(at)).collect();
        if letter.is_some() && fitting.iter().any(|&at| self.entries[at].letter.is_some()) {
            fitting.retain(|&at| self.entries[at].letter == letter);
        }
        // Of `1993` and `1993b` a mark without a letter names the first.
        if letter.is_none() && fitting.iter().filter(|&&at| self.entries[at].letter.is_none()).count() == 1 {
            fitting.retain(|&at| self.entries[at].letter.is_none());
        }
        match fitting[..] {
            [] => None,
            [one] => Some(Some(one)),
            _ => Some(None),
        }
    }
}

/// The text before words that are said instead of a year.
fn undated_place(text: &str) -> Option<&str> {
    let said = ["this volume", "these proceedings", "in press", "to appear", "submitted", "forthcoming"];
    let lower = text.to_ascii_lowercase();
    said.iter().find_map(|words| lower.find(words)).map(|at| &text[..at])
}

/// The last two digits of a year at the end of a word, and its letter: `90`, `'90a`, `Doe-90`, `Doe90`.
fn short_year(word: &str) -> Option<(i32, Option<char>)> {
    let letter = word.chars().next_back().filter(char::is_ascii_lowercase);
    let digits = word.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(word);
    let names = digits.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = digits[names.len()..].parse().ok().filter(|_| digits.len() - names.len() == 2)?;
    let name = names.trim_end_matches(['-', '\'', '’', ',']);
    let named = name.is_empty() || name.chars().count() > 2 && name.chars().all(|c| c.is_alphabetic() || c == '-');
    named.then_some((number, letter))
}

/// The text of a bracket with a blank for the comma between a name and a year: `Doe,1989a`.
fn parted(text: &str) -> String {
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        let after = chars.peek().copied().unwrap_or(' ');
        let comma = c == ',' && (before.is_alphabetic() || before == '.') && after.is_ascii_digit();
        let next = matches!(c, ';' | ',') && before.is_alphanumeric() && after.is_uppercase();
        let next = next && (c == ';' || before.is_ascii_digit());
        out.push(if comma || next { ' ' } else { c });
        before = c;
    }
    out
}

/// How long the place is with which a text begins (`, p. 4; see Doe`), and what follows it.
fn after_place(text: &str) -> (usize, &str) {
    let said = text.trim_start_matches([' ', ',', ';']);
    if !is_place(said) {
        return (0, text);
    }
    let start = text.len() - said.len();
    let end = said.find([';', ',']).map_or(text.len(), |length| start + length);
    (end, &text[end..])
}

/// A name in which a letter may be misread, and all forms of it that lack one letter.
fn forms(name: &str) -> impl Iterator<Item = String> {
    let long = MISREAD.contains(&name.len()) && name.is_ascii();
    let without = |at: usize| format!("{}{}", &name[..at], name.get(at + 1..).unwrap_or_default());
    (0..=name.len()).filter(move |_| long).map(without)
}

/// Whether two names are the same but for one letter that was misread.
fn same(a: &str, b: &str) -> bool {
    let long = [a, b].iter().all(|name| MISREAD.contains(&name.len()) && name.is_ascii());
    a == b || (long && edit_distance(a.as_bytes(), b.as_bytes(), 1).is_some())
}

/// The names with which a text ends: `… as Smith, Doe and Roe`, `Smith et al.`, `Smith's`.
fn names(text: &str) -> Option<CitedNames> {
    let all: Vec<EntryWord<'_>> = words(text).collect();
    let mut all = &all[all.len().saturating_sub(REACH)..];
    let mut others = false;
    if let [rest @ .., et, al] = all
        && matches!(et.kind, WordKind::Et | WordKind::And)
        && (al.kind == WordKind::Al || matches!(al.core, "a1" | "aI"))
    {
        (others, all) = (true, rest);
    } else if let [rest @ .., and, word] = all
        && and.kind == WordKind::And
        && matches!(word.core, "others" | "colleagues" | "coworkers" | "co-workers")
    {
        (others, all) = (true, rest);
    }
    let mut people: Vec<Person> = Vec::new();
    let mut start = text.len();
    let mut index = all.len();
    // From the back: a name with its particles, given names and initials, then what may stand before it.
    while index > 0 {
        // `Doe, J. and Roe`
        let inverted = |at: usize| {
            at > 1
                && all[at - 1].kind == WordKind::Initials
                && all[at - 2].kind == WordKind::Name
                && all[at - 2].after == ","
        };
        if inverted(index) && (!people.is_empty() || index == all.len()) {
            index -= 1;
        }
        let last = all[index - 1];
        let closing = last.after.trim_matches(|c: char| matches!(c, ',' | ' ' | '\'' | '’' | '.'));
        let core = last.core.strip_suffix("’s").or_else(|| last.core.strip_suffix("'s")).unwrap_or(last.core);
        let unread = last.kind == WordKind::Other && !people.is_empty() | (index > 1) && is_misread(core);
        if !unread && !matches!(last.kind, WordKind::Name | WordKind::Capitals) || !closing.is_empty() {
            break;
        }
        if let Some((first, second)) = core.split_once('&').filter(|_| unread) {
            // `Doe&Roe`
            let person = |name| Person { key: key(name), double: None, given: None, is_unread: false };
            people.splice(0..0, [person(first), person(second)]);
            start = last.start + last.before.len();
            break;
        }
        let mut first = index - 1;
        let joins = |at: usize, kinds: &[WordKind]| {
            at > 0 && kinds.contains(&all[at - 1].kind) && all[at - 1].after.is_empty() && all[at].before.is_empty()
        };
        while joins(first, &[WordKind::Particle]) {
            first -= 1;
        }
        let mut person = Person { key: key(core), double: None, given: None, is_unread: last.kind == WordKind::Other };
        if joins(first, &[WordKind::Name]) {
            person.given = Some(key(all[first - 1].core));
            person.double = Some(format!("{}{}", key(all[first - 1].core), person.key));
        }
        while joins(first, &[WordKind::Name, WordKind::Initials]) {
            first -= 1;
        }
        people.insert(0, person);
        start = all[first].start + all[first].before.len();
        index = first;
        let Some(before) = index.checked_sub(1).map(|at| all[at]) else { break };
        match before.kind {
            _ if !all[first].before.is_empty() => break,
            WordKind::And => index -= 1,
            // An `&` that was misread.
            WordKind::Other if before.core.len() == 1 && before.core.starts_with(|c: char| c.is_ascii_lowercase()) => {
                index -= 1
            }
            _ if before.after == "," => {}
            _ => break,
        }
    }
    (!people.is_empty()).then_some(CitedNames { people, others, start })
}

/// A name in which other signs were read: `M611er`, `S/ickinger`, or two names without a blank: `Doe&Roe`.
fn is_misread(word: &str) -> bool {
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let others = word.chars().count() - letters;
    word.starts_with(char::is_uppercase) && letters >= 3 && others < letters && !word.contains(['.', '@', '_', '='])
}
