//! The names that stand before a year in a text: `Smith, Doe and Roe`, `Smith et al.`

use std::ops::RangeInclusive;

use crate::import::reference::linker::similar::edit_distance;
use crate::import::reference::names::key;
use crate::import::reference::words::{EntryWord, WordKind, words};

/// Words before a bracket that are looked at for names.
const REACH: usize = 24;
/// Lengths of names in which one letter may be misread: a shorter one would be another name, a longer one is no
/// person's.
pub(super) const MISREAD: RangeInclusive<usize> = 6..=64;

/// Names that stand before a year.
pub(super) struct CitedNames {
    pub(super) people: Vec<Person>,
    /// Whether `et al.` follows.
    pub(super) others: bool,
    /// Where they begin.
    pub(super) start: usize,
}

/// One of them.
pub(super) struct Person {
    /// The key of the family name.
    pub(super) key: String,
    /// The key of both words, if the word before belongs to the name: `García Márquez`.
    pub(super) double: Option<String>,
    /// The key of the word before, where it may be a name of its own.
    pub(super) given: Option<String>,
    /// Whether signs that no name has were read in it.
    pub(super) is_unread: bool,
}

impl Person {
    /// Whether it is this author; `loosely`, if one letter was misread.
    pub(super) fn is(&self, author: &str, loosely: bool) -> bool {
        let name = if loosely { same(author, &self.key) } else { author == self.key };
        name || self.double.as_ref().is_some_and(|double| author == double)
    }
}

/// The names with which a text ends: `… as Smith, Doe and Roe`, `Smith et al.`, `Smith's`.
pub(super) fn names(text: &str) -> Option<CitedNames> {
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

/// Whether two names are the same but for one letter that was misread.
fn same(a: &str, b: &str) -> bool {
    let long = [a, b].iter().all(|name| MISREAD.contains(&name.len()) && name.is_ascii());
    a == b || (long && edit_distance(a.as_bytes(), b.as_bytes(), 1).is_some())
}
