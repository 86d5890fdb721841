//! Works that are cited, but are not in the library: entries of reference lists that mean the same work are put together.
//!
//! Entries with the same folded title and the same first author, whose years are at most one apart, are one work. An
//! entry that stands alone, and that the linker would take for one of the others, is that one. An entry without a
//! proper title, an author and a year is none: a misread one must not become a document.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::ris::made_key;
use super::work::Work;
use crate::document::Date;
use crate::import::reference::linker::similar::noise;
use crate::import::reference::{BibRecord, Catalogue, NearMatch, Test, fold};

/// Works of one author and year that a misread title is compared with.
const NAMESAKES: usize = 50;

/// The cited works among `entries`, which no document of `catalogue` matches; ids are none of `taken`.
pub(super) fn works<'a>(
    entries: impl Iterator<Item = &'a BibRecord>,
    catalogue: &Catalogue,
    taken: &mut HashSet<String>,
) -> Vec<Work> {
    let mut order: Vec<(Work, usize)> = Vec::new();
    // By title and first author: of those, years tell works apart, and they are few.
    let mut by_title: HashMap<(String, Option<String>), Vec<usize>> = HashMap::new();
    for entry in entries {
        let Some(work) = proper(entry) else { continue };
        // Another version of a work of the library is no work of its own.
        let other_year = |near: &NearMatch| near.failed == Test::Year;
        if !matches!(catalogue.look_up(entry), Err((_, near)) if !near.as_ref().is_some_and(other_year)) {
            continue;
        }
        let title = fold(work.title.as_deref().unwrap_or_default()).replace(' ', "");
        let first = work.authors.first().map(|name| fold(name));
        let same = by_title.entry((title, first)).or_default();
        let year = |work: &Work| work.date.map_or(0, Date::year);
        let known = same.iter().copied().find(|&at| (year(&order[at].0) - year(&work)).abs() <= 1);
        match known {
            Some(at) => order[at].1 += 1,
            None => {
                same.push(order.len());
                order.push((work, 1));
            }
        }
    }
    let several: BTreeMap<String, BibRecord> = order
        .iter()
        .enumerate()
        .filter(|(_, (_, count))| *count > 1)
        .map(|(at, (work, _))| (at.to_string(), work.record()))
        .collect();
    let known = Catalogue::new(several.iter().map(|(id, record)| (id.as_str(), record)));
    let mut works = Vec::new();
    // The last number behind a key that is not free without one.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    // Titles by author and year: entries that stand alone may be one work, misread in different ways.
    let mut alone: HashMap<(String, i32), Vec<String>> = HashMap::new();
    for (mut work, count) in order {
        if count == 1 && known.look_up(&work.record()).is_ok() {
            continue;
        }
        if count == 1 {
            let author = work.authors.first().map(|name| fold(name)).unwrap_or_default();
            let title = fold(work.title.as_deref().unwrap_or_default());
            let others = alone.entry((author, work.date.map_or(0, Date::year))).or_default();
            if others.iter().take(NAMESAKES).any(|other| noise(other, &title).is_some()) {
                continue;
            }
            others.push(title);
        }
        let Some(key) = made_key(&work.authors, work.date, work.title.as_deref()) else { continue };
        work.key = key.clone();
        while !taken.insert(work.key.clone()) {
            let number = numbers.entry(key.clone()).or_insert(1);
            *number += 1;
            work.key = format!("{key}-{number}");
        }
        works.push(work);
    }
    works
}

/// An entry that is fit to be a document.
fn proper(entry: &BibRecord) -> Option<Work> {
    let title = entry.title.as_deref()?.trim().trim_end_matches(['.', ',']);
    let words = title.split_whitespace().count();
    let letters = title.chars().filter(|c| c.is_alphabetic()).count();
    let sound = (2..=40).contains(&words) && letters >= 10 && letters * 10 >= title.chars().count() * 6;
    let lower = title.to_lowercase();
    let odd = ["http", "[", "]", "pp.", "@"].iter().any(|part| title.contains(part))
        || ["personal communication", "private communication", "verbal communication", "unpublished", "in preparation"]
            .iter()
            .any(|part| lower.starts_with(part));
    let year = entry.year.filter(|year| (1600..=2100).contains(year))?;
    let authors = entry.authors.iter().filter(|name| name.chars().count() > 1 && !is_month(name));
    let authors: Vec<String> = authors.map(|name| not_shouted(name)).collect();
    (sound && !odd && !lists_people(title) && !authors.is_empty()).then(|| Work {
        title: Some(title.to_owned()),
        authors,
        date: Date::from_packed(year * 10_000),
        doi: entry.doi.clone(),
        arxiv: entry.arxiv.clone(),
        ..Work::default()
    })
}

/// Whether a title is the rest of a list of authors: `A. Fox, and E. Brewer`.
fn lists_people(title: &str) -> bool {
    let words = || title.split([' ', ',']).filter(|word| !word.is_empty() && *word != "and");
    let is_initial =
        |word: &&str| word.trim_end_matches('.').chars().count() == 1 && word.starts_with(char::is_uppercase);
    let initials = words().filter(is_initial).count();
    initials >= 2 && initials * 2 >= words().count()
}

/// Whether a name is that of a month, as in the dates below a paper: `Received September 1983`.
fn is_month(name: &str) -> bool {
    let months =
        ["january", "february", "april", "june", "july", "august", "september", "october", "november", "december"];
    months.contains(&name.to_lowercase().as_str())
}

/// `Van Renesse` for `VAN RENESSE`, which some journals print; short names may be initials.
fn not_shouted(name: &str) -> String {
    if name.chars().count() < 4 || name.chars().any(char::is_lowercase) {
        return name.to_owned();
    }
    let mut starts = true;
    let letter = |c: char| {
        let out = if starts { c.to_string() } else { c.to_lowercase().to_string() };
        starts = !c.is_alphabetic() && c != '’' && c != '\'';
        out
    };
    name.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_one_work_become_one_document() {
        let entry = |author: &str, year: i32, title: &str| BibRecord {
            title: Some(title.to_owned()),
            year: Some(year),
            authors: vec![author.to_owned()],
            ..BibRecord::default()
        };
        let own = entry("Hoare", 1969, "An axiomatic basis for computer programming");
        let catalogue = Catalogue::new([("hoare", &own)]);
        let entries = [
            own.clone(),
            entry("Lamport", 1978, "Time, clocks, and the ordering of events"),
            entry("Lamport", 1979, "Time, Clocks and the Ordering of Events."),
            entry("Lamport", 1978, "Time, clocks, and the ordering of event"),
            entry("Lamport", 1994, "The temporal logic of actions"),
            entry("Lamport", 1994, "The temporal logic of action"),
            entry("Rovner", 1982, "Personal communication"),
            entry("September", 1983, "Revised October 1984; accepted October 1984"),
            entry("Chen", 2002, "A. Fox, and E. Brewer"),
            entry("VAN RENESSE", 1984, "The distributed snapshot of K. M. Chandy and L. Lamport"),
            entry("Doe", 2001, "x"),
            BibRecord { title: Some("A title without a year or a name".into()), ..BibRecord::default() },
        ];
        let mut taken = HashSet::from(["lamport1994temporal".to_owned()]);
        let works = works(entries.iter(), &catalogue, &mut taken);
        let keys: Vec<&str> = works.iter().map(|work| &*work.key).collect();
        assert_eq!(keys, ["lamport1978time", "lamport1994temporal-2", "renesse1984distributed"]);
        assert_eq!(works[2].authors, ["Van Renesse"]);
        assert_eq!(works[0].title.as_deref(), Some("Time, clocks, and the ordering of events"));
    }
}
