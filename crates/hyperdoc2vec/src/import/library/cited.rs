//! Works that are cited, but are not in the library: entries of reference lists that mean the same work are put together.
//!
//! Entries with the same folded title and the same first author, whose years are at most one apart, are one work. So are
//! those of one first author whose titles differ as people misquote them, if the other authors agree, too; they get the
//! title that most entries have. An entry that stands alone, and that the linker would take for one of the others, is that
//! one. An entry without a proper title, an author and a year is none: a misread one must not become a document.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::ris::made_key;
use super::work::Work;
use crate::document::Date;
use crate::document::fold::fold_surname;
use crate::import::reference::linker::similar::{
    Size, has_sequel, is_number, noise, same_name, same_words, share_words,
};
use crate::import::reference::{BibRecord, Catalogue, Miss, NearMatch, Test, fold};

/// Works of one author and year that a title is compared with, and forms of a work that are kept.
const NAMESAKES: usize = 50;
/// Words that may stand before a title: the rest of a list of authors, `On`.
const MOST_BEFORE: usize = 4;
/// Letters that a title has before its colon if that is a name.
const SHORTEST_NAME: usize = 4;
/// Authors of a work that are compared.
const MOST_PEOPLE: usize = 32;

/// Works that are cited only, and what entries say that mean a work by another title or year than its own.
#[derive(Default)]
pub(super) struct CitedWorks {
    pub(super) works: Vec<Work>,
    /// The work's number among those of the library and, after them, these.
    pub(super) forms: CitedForms,
}

/// Works by what entries say of them.
#[derive(Default)]
pub(super) struct CitedForms(HashMap<CitedForm, usize>);

/// Letters of the title, the first author, the year.
type CitedForm = (String, String, Option<i32>);

fn form(record: &BibRecord) -> CitedForm {
    let title = fold(record.title.as_deref().unwrap_or_default()).replace(' ', "");
    (title, record.authors.first().map(|name| fold_surname(name)).unwrap_or_default(), record.year)
}

impl CitedForms {
    /// The number of the work that an entry means by other words than the work's own.
    pub(super) fn meant(&self, entry: &BibRecord) -> Option<usize> {
        if self.0.is_empty() { None } else { self.0.get(&form(entry)).copied() }
    }
}

/// The cited works among `entries`, which no document of `catalogue`, made of the library's `own` works, matches; ids are
/// none of `taken`.
pub(super) fn works<'a>(
    entries: impl Iterator<Item = &'a BibRecord>,
    own: &[Work],
    catalogue: &Catalogue,
    taken: &mut HashSet<String>,
) -> CitedWorks {
    let own: Vec<TitleGroup> = own.iter().cloned().map(TitleGroup::new).collect();
    let cited = same_titles(entries, catalogue);
    let mut meant = meanings(&own, &cited);
    // Entries that stand alone may have a misread author.
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    cited.iter().zip(&meant).for_each(|(group, &work)| *counts.entry(work).or_default() += group.count);
    let is_cited = |work: usize| work.checked_sub(own.len()).filter(|&at| meant[at] == work);
    let several = counts.iter().filter_map(|(&work, &count)| Some((work, is_cited(work).filter(|_| count > 1)?)));
    let several: Vec<(String, BibRecord)> =
        several.map(|(work, at)| (work.to_string(), cited[at].work.record())).collect();
    let known = Catalogue::new(several.iter().map(|(id, record)| (id.as_str(), record)));
    for (at, group) in cited.iter().enumerate() {
        if counts.get(&(own.len() + at)) == Some(&1)
            && let Ok(found) = known.look_up(&group.work.record())
            && let Ok(work) = known.id(found.document).parse()
        {
            meant[at] = work;
        }
    }
    let mut out = CitedWorks::default();
    // The last number behind a key that is not free without one.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut places: HashMap<usize, usize> = (0..own.len()).map(|at| (at, at)).collect();
    for (at, group) in cited.iter().enumerate().filter(|&(at, _)| meant[at] == own.len() + at) {
        let mut work = group.work.clone();
        let Some(key) = made_key(&work.authors, work.date, work.title.as_deref()) else { continue };
        work.key = key.clone();
        while !taken.insert(work.key.clone()) {
            let number = numbers.entry(key.clone()).or_insert(1);
            *number += 1;
            work.key = format!("{key}-{number}");
        }
        places.insert(own.len() + at, own.len() + out.works.len());
        out.works.push(work);
    }
    for (group, work) in cited.into_iter().zip(meant) {
        let Some(&place) = places.get(&work) else { continue };
        let known = place.checked_sub(own.len()).map_or_else(|| own[place].work.record(), |at| out.works[at].record());
        let known = form(&known);
        let others = group.forms.into_iter().filter(|form| *form != known);
        out.forms.0.extend(others.map(|form| (form, place)));
    }
    out
}

/// Entries that no document of the catalogue matches, put together by title, first author and year.
fn same_titles<'a>(entries: impl Iterator<Item = &'a BibRecord>, catalogue: &Catalogue) -> Vec<TitleGroup> {
    let mut groups: Vec<TitleGroup> = Vec::new();
    // Of those with one title and first author, years tell works apart, and they are few.
    let mut by_title: HashMap<(String, String), Vec<usize>> = HashMap::new();
    for entry in entries {
        let Some(work) = proper(entry) else { continue };
        // Another version of a work of the library is no work of its own, and neither is what may be two of them.
        let other_year = |near: &NearMatch| near.failed == Test::Year;
        match catalogue.look_up(entry) {
            Err((miss, near)) if miss != Miss::Ambiguous && !near.as_ref().is_some_and(other_year) => {}
            _ => continue,
        }
        let (title, first, _) = form(&work.record());
        let same = by_title.entry((title, first)).or_default();
        let year = work.date.map_or(0, Date::year);
        let known = same.iter().copied().find(|&at| groups[at].year().abs_diff(year) <= 1);
        let at = known.unwrap_or_else(|| {
            same.push(groups.len());
            groups.push(TitleGroup::new(work));
            groups.len() - 1
        });
        groups[at].take(entry);
    }
    groups
}

/// The work that each group means: the number of one of `own`, or behind those of one of `cited`. Groups of many entries
/// come first, and of equal ones the shortest title: others are misquoted, or have too much.
fn meanings(own: &[TitleGroup], cited: &[TitleGroup]) -> Vec<usize> {
    let group = |work: usize| work.checked_sub(own.len()).map_or_else(|| &own[work], |at| &cited[at]);
    let key = |group: &TitleGroup, years: i32| Some((group.people.first()?.clone(), group.year() + years));
    let mut works: HashMap<(String, i32), Vec<usize>> = HashMap::new();
    for (at, group) in own.iter().enumerate().filter(|(_, group)| !group.title.is_empty()) {
        if let Some(key) = key(group, 0) {
            works.entry(key).or_default().push(at);
        }
    }
    let mut order: Vec<usize> = (0..cited.len()).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(cited[at].count), cited[at].title.len()));
    let mut meant: Vec<usize> = (0..cited.len()).map(|at| own.len() + at).collect();
    for at in order {
        let near = [0, -1, 1].into_iter().filter_map(|years| works.get(&key(&cited[at], years)?));
        let found = near.flat_map(|works| works.iter().take(NAMESAKES)).find(|&&work| cited[at].is(group(work)));
        match (found.copied(), key(&cited[at], 0)) {
            (Some(work), _) => meant[at] = work,
            (None, Some(key)) => works.entry(key).or_default().push(own.len() + at),
            (None, None) => {}
        }
    }
    meant
}

/// Entries with the same title, first author and year, or a work of the library.
struct TitleGroup {
    work: Work,
    /// How many entries there are.
    count: usize,
    /// Folded.
    title: String,
    /// Folded surnames.
    people: Vec<String>,
    /// What the entries say, each once.
    forms: Vec<CitedForm>,
}

impl TitleGroup {
    fn new(work: Work) -> TitleGroup {
        let people = work.record().authors.iter().take(MOST_PEOPLE).map(|name| fold_surname(name)).collect();
        let title = fold(work.title.as_deref().unwrap_or_default());
        TitleGroup { work, count: 0, title, people, forms: Vec::new() }
    }

    fn year(&self) -> i32 {
        self.work.date.map_or(0, Date::year)
    }

    fn take(&mut self, entry: &BibRecord) {
        self.count += 1;
        let form = form(entry);
        if self.forms.len() < NAMESAKES && !self.forms.contains(&form) {
            self.forms.push(form);
        }
    }

    /// Whether this is the other one, of the same first author and about the same year, misread or misquoted.
    fn is(&self, other: &TitleGroup) -> bool {
        if noise(&self.title, &other.title).is_some() {
            return true;
        }
        let (same, several) = self.same_people(other);
        let same_words = || same_words(&self.title, &other.title, |_| false);
        let named = || several && self.year() == other.year() && self.is_named(other);
        same && (same_words() || named()) || self.ends(other, same) || other.ends(self, same)
    }

    /// Whether both are by the same people, as far as scanners and `et al.` let one see; and whether those are several.
    fn same_people(&self, other: &TitleGroup) -> (bool, bool) {
        let (ours, theirs) = (&self.people, &other.people);
        if ours.len() == 1 && theirs.len() == 1 {
            return (true, false);
        }
        let shared = ours.iter().filter(|name| theirs.iter().any(|other| same_name(name, other))).count();
        (shared >= 2 && shared * 3 >= ours.len().min(theirs.len()) * 2, true)
    }

    /// Whether the title is the end of the other one, with a few words before it that make no other work of it: a name that
    /// belongs to the authors, or any if the authors are the same.
    fn ends(&self, other: &TitleGroup, same_people: bool) -> bool {
        let before = other.title.strip_suffix(&self.title).filter(|before| before.ends_with(' '));
        let words: Vec<&str> = before.unwrap_or_default().split_whitespace().collect();
        let another = has_sequel(&words) || words.iter().any(|word| is_number(word));
        let meant = same_people || words.iter().any(|word| self.people.iter().any(|name| name == word));
        (1..=MOST_BEFORE).contains(&words.len()) && meant && !another && Size::of(&self.title) != Size::Short
    }

    /// Whether both titles begin with the same name and a colon, and go on with half of the other's words.
    fn is_named(&self, other: &TitleGroup) -> bool {
        let name = |group: &TitleGroup| {
            let (name, rest) = group.work.title.as_deref()?.split_once(':')?;
            let rest = fold(rest);
            let name = Some(fold(name)).filter(|name| name.len() >= SHORTEST_NAME)?;
            (!has_sequel(&rest.split(' ').collect::<Vec<_>>())).then_some(name)
        };
        name(self).is_some_and(|own| name(other) == Some(own)) && share_words(&self.title, &other.title, 3)
    }
}

/// An entry that is fit to be a document.
fn proper(entry: &BibRecord) -> Option<Work> {
    let title = entry.title.as_deref()?.trim().trim_end_matches(['.', ',']);
    let words = title.split_whitespace().count();
    let letters = title.chars().filter(|c| c.is_alphabetic()).count();
    let sound = (2..=40).contains(&words) && letters >= 10 && letters * 10 >= title.chars().count() * 6;
    let lower = title.to_lowercase();
    let venue = ["in acm ", "in ieee ", "in proc", "in advances "].iter().any(|start| lower.starts_with(start));
    let odd = venue
        || ["http", "[", "]", "pp.", "@"].iter().any(|part| title.contains(part))
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

    fn entry(authors: &[&str], year: i32, title: &str) -> BibRecord {
        BibRecord {
            title: Some(title.to_owned()),
            year: Some(year),
            authors: authors.iter().map(|name| (*name).to_owned()).collect(),
            ..BibRecord::default()
        }
    }

    #[test]
    fn entries_of_one_work_become_one_document() {
        let own = entry(&["Hoare"], 1969, "An axiomatic basis for computer programming");
        let catalogue = Catalogue::new([("hoare", &own)]);
        let entry = |author: &str, year: i32, title: &str| entry(&[author], year, title);
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
            entry("Renesse", 1984, "The distributed snapshot of K. M. Chandy and L. Lamport"),
            entry("Doe", 2001, "x"),
            BibRecord { title: Some("A title without a year or a name".into()), ..BibRecord::default() },
        ];
        let mut taken = HashSet::from(["lamport1994temporal".to_owned()]);
        let works = works(entries.iter(), &[], &catalogue, &mut taken).works;
        let keys: Vec<&str> = works.iter().map(|work| &*work.key).collect();
        assert_eq!(keys, ["lamport1978time", "lamport1994temporal-2", "renesse1984distributed"]);
        assert_eq!(works[2].authors, ["Van Renesse"]);
        assert_eq!(works[0].title.as_deref(), Some("Time, clocks, and the ordering of events"));
    }

    #[test]
    fn misquoted_titles_of_the_same_people_are_one_work() {
        let of = |title: &str| entry(&["Doe", "Roe"], 2001, title);
        let one = |titles: &[&str]| {
            let entries: Vec<BibRecord> = titles.iter().map(|title| of(title)).collect();
            let found = works(entries.iter(), &[], &Catalogue::default(), &mut HashSet::new());
            let meant = |entry| found.forms.meant(entry).is_none_or(|work| work == 0);
            found.works.len() == 1 && entries.iter().all(meant)
        };
        for same in [
            ["Tidewatch: a store for harbours of the north", "Tidewatch: a storage for harbours"],
            ["On the detection of tides in harbours and rivers", "Detecting tides of harbours, rivers"],
            ["Tides of the northern sea", "C. Poe Tides of the northern sea"],
        ] {
            assert!(one(&same), "{same:?}");
        }
        for other in [
            ["Tidewatch: a store for harbours", "Tidewatch: a store for harbours, part two"],
            ["Tides of the northern sea", "A reply to Tides of the northern sea"],
            ["Tidewatch: a store for harbours of the north", "Tidewatch: how ships are counted"],
            ["Tides of the northern sea", "Tides of the southern coast"],
        ] {
            assert!(!one(&other), "{other:?}");
        }
        let torn = [of("Tides of the northern sea"), entry(&["Doe"], 2001, "Roe Tides of the northern sea")];
        assert_eq!(works(torn.iter(), &[], &Catalogue::default(), &mut HashSet::new()).works.len(), 1);
        let others =
            [of("Tidewatch: a store for harbours"), entry(&["Doe", "Poe"], 2001, "Tidewatch: a store for ships")];
        assert_eq!(works(others.iter(), &[], &Catalogue::default(), &mut HashSet::new()).works.len(), 2);
    }

    #[test]
    fn an_entry_that_misquotes_a_work_of_the_library_means_it() {
        let title = "Harbour tides: a store of levels for northern ports";
        let authors = vec!["Ann Doe".to_owned(), "Bo Roe".to_owned()];
        let date = Date::from_packed(2001 * 10_000);
        let own = [Work { key: "doe".into(), title: Some(title.into()), authors, date, ..Work::default() }];
        let catalogue = Catalogue::new([("doe", &own[0].record())]);
        let entries = [
            entry(&["Doe", "Roe"], 2001, "Harbour tides: a database of levels in ports"),
            entry(&["Doe", "Roe"], 2001, "Tides of the northern sea"),
        ];
        let found = works(entries.iter(), &own, &catalogue, &mut HashSet::new());
        let titles: Vec<_> = found.works.iter().filter_map(|work| work.title.as_deref()).collect();
        assert_eq!(titles, ["Tides of the northern sea"]);
        assert_eq!((found.forms.meant(&entries[0]), found.forms.meant(&entries[1])), (Some(0), None));
    }
}
