//! Citation marks that name authors and years: `(Smith et al., 2018; Doe, 2017a)`, `Smith and Doe (2018)`.
//!
//! A year in brackets is looked at with the names before it; a mark is what fits an entry of the list, or at least
//! looks like nothing else.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::marks::{FoundMark, is_place, without_opening};
use crate::import::reference::entry::BibliographyEntry;
use crate::import::reference::linker::similar::edit_distance;
use crate::import::reference::names::key;
use crate::import::reference::words::{EntryWord, WordKind, words, year};
use crate::import::text::distinct;

/// Longest bracket in bytes.
const LONGEST: usize = 700;
/// Words before a bracket that are looked at for names.
const REACH: usize = 24;
/// More entries than this of one first author and year are not told apart: a mark that names them names none.
const MOST_NAMESAKES: usize = 200;
/// Lengths of names in which one letter may be misread: a shorter one would be another name, a longer one is no
/// person's.
const MISREAD: RangeInclusive<usize> = 6..=64;

/// Entries by first author and year.
pub(super) struct People<'a> {
    entries: &'a [BibliographyEntry],
    /// Keys of the authors of each entry.
    keys: Vec<Vec<String>>,
    years: HashMap<i32, FirstAuthors>,
}

/// The entries of a year.
#[derive(Default)]
struct FirstAuthors {
    /// Entries by the key of their first author.
    entries: HashMap<String, Vec<usize>>,
    /// Keys by themselves with one letter left out: two that differ in one letter have such a form in common.
    misread: HashMap<String, Vec<String>>,
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
        for (at, (entry, keys)) in entries.iter().zip(&keys).enumerate() {
            if let (Some(year), Some(first)) = (entry.year, keys.first().filter(|key| !key.is_empty())) {
                let FirstAuthors { entries, misread } = years.entry(year).or_default();
                let same = entries.entry(first.clone()).or_default();
                if same.is_empty() {
                    forms(first).for_each(|form| misread.entry(form).or_default().push(first.clone()));
                }
                same.push(at);
            }
        }
        People { entries, keys, years }
    }

    /// Entries of a year whose first author may be this person; at most one more than [`MOST_NAMESAKES`].
    fn near(&self, year: i32, person: &Person, loosely: bool) -> Vec<usize> {
        let Some(FirstAuthors { entries, misread }) = self.years.get(&year) else { return Vec::new() };
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
        for (open, bracket) in text.match_indices(['(', '[']) {
            let from = open + 1;
            let end =
                (from..=text.len().min(from + LONGEST)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(from);
            let close = if bracket == "(" { ')' } else { ']' };
            let Some(length) = text[from..end].find(['(', ')', '[', ']', '\n']) else { continue };
            let inside = &text[from..from + length];
            if !text[from + length..].starts_with(close) || !inside.bytes().any(|b| b.is_ascii_digit()) {
                continue;
            }
            let first = inside.trim_start();
            let narrative = words(first)
                .next()
                .is_some_and(|word| matches!(word.kind, WordKind::Year(..)) && word.before.is_empty());
            if narrative {
                found.extend(self.narrative(text, open, from + length + 1));
            } else {
                found.extend(self.bracket(text, open, from + length + 1));
            }
        }
        found
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
            match (year(part), letter, last) {
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
        let inside = &text[open + 1..end - 1];
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
            let segment = &inside[from..word.start];
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
        find(false).or_else(|| find(true)).flatten()
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
        match fitting[..] {
            [] => None,
            [one] => Some(Some(one)),
            _ => Some(None),
        }
    }
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
        && et.kind == WordKind::Et
        && al.kind == WordKind::Al
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
        let last = all[index - 1];
        let closing = last.after.trim_matches(|c: char| matches!(c, ',' | ' ' | '\'' | '’' | '.'));
        let core = last.core.strip_suffix("’s").or_else(|| last.core.strip_suffix("'s")).unwrap_or(last.core);
        if !matches!(last.kind, WordKind::Name | WordKind::Capitals) || !closing.is_empty() {
            break;
        }
        let mut first = index - 1;
        let joins = |at: usize, kinds: &[WordKind]| {
            at > 0 && kinds.contains(&all[at - 1].kind) && all[at - 1].after.is_empty() && all[at].before.is_empty()
        };
        while joins(first, &[WordKind::Particle]) {
            first -= 1;
        }
        let mut person = Person { key: key(core), double: None };
        if joins(first, &[WordKind::Name]) {
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
            _ if before.after == "," => {}
            _ => break,
        }
    }
    (!people.is_empty()).then_some(CitedNames { people, others, start })
}
