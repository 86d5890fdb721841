//! The entries of a list by first author and year, and the one that names and a year mean.

use std::collections::HashMap;

use super::cited_names::{CitedNames, MISREAD, Person};
use crate::import::reference::entry::BibliographyEntry;
use crate::import::reference::linker::similar::like_name;
use crate::import::reference::names::key;
use crate::import::text::distinct;

/// More entries than this of one first author and year are not told apart: a mark that names them names none.
const MOST_NAMESAKES: usize = 200;
/// So many entries of one first author or more are too many to tell which is meant without its year.
const MOST_WORKS: usize = 20;
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

    /// The one entry that names and a year fit.
    pub(super) fn find(&self, names: &CitedNames, year: i32, letter: Option<char>) -> Option<usize> {
        let find = |loosely| self.find_by(names, year, letter, loosely);
        find(false)
            .or_else(|| find(true))
            .or_else(|| self.find_misread(names, year, letter))
            .unwrap_or_else(|| self.find_elsewhere(names, |other| other.abs_diff(year) == 1))
    }

    /// The one entry of these authors, where the year of the mark has none: a paper is cited before it is printed.
    /// Its year must be one that `may` be meant.
    pub(super) fn find_elsewhere(&self, names: &CitedNames, may: impl Fn(i32) -> bool) -> Option<usize> {
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
    pub(super) fn full(&self, (short, letter): (i32, Option<char>)) -> Option<(i32, Option<char>)> {
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

/// A name in which a letter may be misread, and all forms of it that lack one letter.
fn forms(name: &str) -> impl Iterator<Item = String> {
    let long = MISREAD.contains(&name.len()) && name.is_ascii();
    let without = |at: usize| format!("{}{}", &name[..at], name.get(at + 1..).unwrap_or_default());
    (0..=name.len()).filter(move |_| long).map(without)
}
