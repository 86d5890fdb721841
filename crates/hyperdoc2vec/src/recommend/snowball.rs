//! Snowballing: from some works to those that they cite, that cite them, and that are recommended from them.
//!
//! A work is listed once, whatever ways lead to it. Works with one title, years at most two apart and no two different
//! first authors are doubles: the one that more links point at is kept, one of the library before one that is only
//! cited. Those that more of the given works are linked with come first, then by score.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::{DocumentHit, Recommender};
use crate::error::Result;
use crate::id::DocRow;
use crate::import::{CITED_ONLY, fold, surname};
use crate::model::Model;
use crate::search::Hit;

/// Years between two printings of one work.
const YEARS_APART: i32 = 2;

/// The works found from some others.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Snowball {
    /// The works, the most connected first.
    pub works: Vec<RelatedWork>,
    /// How many works were left out since another is the same.
    pub doubles: usize,
}

/// A work, and the ways that lead to it, by the ids of the given works.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RelatedWork {
    /// The document; its score is the best at which it was recommended, else 0.
    pub hit: DocumentHit,
    /// Who wrote it.
    pub authors: Vec<String>,
    /// Whether it is only cited, and not in the library.
    pub cited_only: bool,
    /// Given works that cite it.
    pub cited_by: Vec<String>,
    /// Given works that it cites.
    pub cites: Vec<String>,
    /// Given works from which it is recommended.
    pub recommended_from: Vec<String>,
}

/// The ways to a work, by numbers of the given works.
#[derive(Default)]
struct Ways {
    cited_by: Vec<usize>,
    cites: Vec<usize>,
    recommended_from: Vec<usize>,
    score: Option<f32>,
    probability: Option<f32>,
}

impl Ways {
    /// How many given works it is linked with.
    fn links(&self) -> usize {
        let both = self.cites.iter().filter(|given| self.cited_by.contains(given)).count();
        self.cited_by.len() + self.cites.len() - both
    }
}

impl Recommender<'_> {
    /// Works around the documents with the given ids: cited by them, citing them, and `top` that are recommended from
    /// each, as [`Recommender::suggest_for`] does.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) for an id that the model does not have.
    pub fn snowball<S: AsRef<str>>(&self, ids: &[S], top: usize) -> Result<Snowball> {
        let model = self.model();
        let mut given = Vec::new();
        for id in ids {
            let row = self.document_row(id.as_ref())?;
            if !given.contains(&row) {
                given.push(row);
            }
        }
        let mut found: BTreeMap<usize, Ways> = BTreeMap::new();
        let links = model.links().unwrap_or_default();
        for (number, &row) in given.iter().enumerate() {
            let document = DocRow(row as u32);
            for cited in distinct(self.searcher().linked_by(document)) {
                found.entry(cited).or_default().cited_by.push(number);
            }
            // The source of a link may stand outside of the model.
            for citing in distinct(links.sources(document)).filter(|&citing| citing < model.documents()) {
                found.entry(citing).or_default().cites.push(number);
            }
            if top == 0 {
                continue;
            }
            for hit in self.suggest_for(model.names().get(row), top)?.hits {
                let ways = found.entry(hit.row).or_default();
                ways.recommended_from.push(number);
                if ways.score.is_none_or(|score| hit.score > score) {
                    (ways.score, ways.probability) = (Some(hit.score), hit.probability);
                }
            }
        }
        given.iter().for_each(|row| drop(found.remove(row)));
        let ids = |numbers: Vec<usize>| numbers.into_iter().map(|n| model.names().get(given[n]).to_owned()).collect();
        let (mut kept, doubles) = without_doubles(model, &given, found);
        kept.sort_by(|(one_row, one), (other_row, other)| {
            let score = |ways: &Ways| ways.score.unwrap_or(0.0);
            let links = Reverse(one.links()).cmp(&Reverse(other.links()));
            links.then(score(other).total_cmp(&score(one))).then(one_row.cmp(other_row))
        });
        let work = |(row, ways): (usize, Ways)| {
            let mut hit = DocumentHit::new(model, &Hit { row: row as u32, score: ways.score.unwrap_or(0.0) });
            hit.probability = ways.probability;
            RelatedWork {
                hit,
                authors: model.authors(row).map(str::to_owned).collect(),
                cited_only: is_cited_only(model, row),
                cited_by: ids(ways.cited_by),
                cites: ids(ways.cites),
                recommended_from: ids(ways.recommended_from),
            }
        };
        Ok(Snowball { works: kept.into_iter().map(work).collect(), doubles })
    }
}

/// The rows of a list, each once.
fn distinct(rows: &[DocRow]) -> impl Iterator<Item = usize> {
    let mut rows: Vec<usize> = rows.iter().map(|row| row.index()).collect();
    rows.sort_unstable();
    rows.dedup();
    rows.into_iter()
}

fn is_cited_only(model: &Model, row: usize) -> bool {
    model.has_label(row, CITED_ONLY)
}

/// The works found, without those that are given or found under another id; and how many those were.
fn without_doubles(model: &Model, given: &[usize], found: BTreeMap<usize, Ways>) -> (Vec<(usize, Ways)>, usize) {
    let title = |row: usize| fold(model.titles().get(row));
    let mut by_title: HashMap<String, Vec<usize>> = HashMap::new();
    let mut rows: Vec<usize> = found.keys().copied().collect();
    rows.sort_by_key(|&row| (is_cited_only(model, row), Reverse(model.links_to()[row]), row));
    // For each row, the one that stands for it.
    let mut stands: HashMap<usize, usize> = HashMap::new();
    for row in given.iter().copied().chain(rows) {
        let title = title(row);
        if title.is_empty() {
            stands.insert(row, row);
            continue;
        }
        let same = by_title.entry(title).or_default();
        let double = same.iter().copied().find(|&other| is_double(model, row, other));
        stands.insert(row, double.unwrap_or(row));
        if double.is_none() {
            same.push(row);
        }
    }
    let (mut kept, mut doubles): (BTreeMap<usize, Ways>, usize) = (BTreeMap::new(), 0);
    for (row, ways) in found {
        let stand = stands.get(&row).copied().unwrap_or(row);
        doubles += usize::from(stand != row);
        if given.contains(&stand) {
            continue;
        }
        let all = kept.entry(stand).or_default();
        for (into, from) in [
            (&mut all.cited_by, ways.cited_by),
            (&mut all.cites, ways.cites),
            (&mut all.recommended_from, ways.recommended_from),
        ] {
            into.extend(from);
            into.sort_unstable();
            into.dedup();
        }
        if ways.score > all.score {
            (all.score, all.probability) = (ways.score, ways.probability);
        }
    }
    (kept.into_iter().collect(), doubles)
}

/// Whether two documents of one title are one work.
fn is_double(model: &Model, one: usize, other: usize) -> bool {
    let year = |row| model.date(row).map(|date| date.year());
    let author = |row| model.authors(row).next().map(|name| fold(surname(name)));
    let years = year(one).zip(year(other)).is_none_or(|(one, other)| (one - other).abs() <= YEARS_APART);
    years && author(one).zip(author(other)).is_none_or(|(one, other)| one == other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::import::Import;
    use crate::train::Training;

    /// `a` and `b` cite `c`; `a` cites `d`, and `e` cites `a`. `c2` is `c` under another id, cited by `b`.
    fn model() -> (tempfile::TempDir, Model) {
        let dir = tempfile::tempdir().expect("a directory");
        let work = |id: &str, title: &str, year: &str, text: &str| Document {
            date: year.parse().ok(),
            title: Some(title.into()),
            ..Document::new(id, text)
        };
        let mut documents = vec![
            work("a", "Waves", "2001", "waves on the sea [[c]] and wind [[d]] and again [[c]]").authors(["Ann Doe"]),
            work("b", "Tides", "2002", "tides of the sea [[c]] or, as others say [[c2]]"),
            work("c", "The sea", "1990", "water and salt").authors(["Roe, R."]),
            work("d", "Wind", "1991", "air that moves"),
            work("e", "A survey of the sea", "2010", "the sea has waves [[a]]"),
            work("f", "Rain", "2003", "water that falls into the sea as waves of rain"),
        ];
        let mut double = work("c2", "The Sea.", "1992", "the sea").authors(["Roe, Richard"]);
        double.labels.push(CITED_ONLY.into());
        documents.push(double);
        let corpus = Import::documents(documents).min_count(1).build(dir.path().join("corpus")).expect("a corpus");
        let model = Training::new(&corpus).dim(8).run(dir.path().join("model")).expect("a model");
        (dir, model)
    }

    #[test]
    fn works_are_listed_once_with_the_ways_that_lead_to_them() {
        let (_dir, model) = model();
        let recommender = Recommender::new(&model);
        let found = recommender.snowball(&["a", "b", "a"], 0).expect("works");
        let rows: Vec<_> = found
            .works
            .iter()
            .map(|work| (&*work.hit.id, work.cited_by.join(" "), work.cites.join(" "), work.cited_only))
            .collect();
        assert_eq!(
            rows,
            [
                ("c", "a b".to_owned(), String::new(), false),
                ("d", "a".to_owned(), String::new(), false),
                ("e", String::new(), "a".to_owned(), false),
            ]
        );
        assert_eq!((found.doubles, &*found.works[0].authors.concat()), (1, "Roe, R."));
    }

    #[test]
    fn recommended_works_follow_those_that_are_linked() {
        let (_dir, model) = model();
        let recommender = Recommender::new(&model);
        let found = recommender.snowball(&["a"], 5).expect("works");
        let place = |id: &str| found.works.iter().position(|work| work.hit.id == id);
        assert!(place("c") < place("f") && place("f").is_some(), "{found:?}");
        let rain = &found.works[place("f").expect("it is there")];
        assert_eq!((&rain.recommended_from[..], rain.cited_by.len()), (&["a".to_owned()][..], 0));
        assert!(place("a").is_none(), "a given work is none of those found");
        assert!(recommender.snowball(&["nobody"], 5).is_err());
    }
}
