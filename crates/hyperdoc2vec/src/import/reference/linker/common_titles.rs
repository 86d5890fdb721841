//! Titles that very many documents share, such as "Editorial": their documents are told apart by year and author in
//! look-ups, where a scan for each entry would take quadratic time.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::catalogue::{ComparedFields, run};

/// A title of more documents is a common one. Far more than editions and versions of one work.
pub(super) const COMMON: usize = 256;

/// The documents of common titles by what is known of them.
#[derive(Debug, Default)]
pub(super) struct CommonTitles {
    /// Hash of title, year and author, and the document.
    by_part: Vec<(u64, u32)>,
}

#[derive(Clone, Copy, Hash)]
enum YearPart {
    Any,
    /// This one, or unknown.
    Is(Option<i32>),
}

#[derive(Clone, Copy, Hash)]
enum AuthorPart<'a> {
    Any,
    Unknown,
    First(&'a str),
    Among(&'a str),
}

impl CommonTitles {
    /// Adds a document whose title has this hash; [`CommonTitles::finish`] comes after the last.
    pub(super) fn add(&mut self, title: u64, known: &ComparedFields<'_>, document: u32) {
        let names = || known.authors.split(' ').filter(|name| !name.is_empty());
        let first = names().next().map_or(AuthorPart::Unknown, AuthorPart::First);
        for year in [YearPart::Any, YearPart::Is(known.year)] {
            for author in [AuthorPart::Any, first].into_iter().chain(names().map(AuthorPart::Among)) {
                self.by_part.push((hash(title, year, author), document));
            }
        }
    }

    pub(super) fn finish(&mut self) {
        self.by_part.sort_unstable();
        self.by_part.dedup();
    }

    /// Documents of a common title among which are all that count for an entry with this year and these folded
    /// authors, in the order of their numbers.
    ///
    /// Documents with one answer to every question of year and author are alike to the entry: two of them stand for
    /// all, as two are ambiguous. Only names that differ by a letter are missed in years with more than `common`
    /// documents of the title.
    pub(super) fn candidates(&self, title: u64, year: Option<i32>, authors: &[String], common: usize) -> Vec<usize> {
        let of_year = year.map(|year| [Some(year), Some(year.saturating_sub(1)), Some(year.saturating_add(1)), None]);
        let years = of_year.into_iter().flatten().map(YearPart::Is).chain([YearPart::Any]);
        let named = authors.first().map(|first| [AuthorPart::Unknown, AuthorPart::Among(first)]);
        let named = named.into_iter().flatten().chain(authors.iter().map(|name| AuthorPart::First(name)));
        let mut found = Vec::new();
        for year in years {
            for author in [AuthorPart::Any].into_iter().chain(named.clone()) {
                let alike = &self.by_part[run(&self.by_part, hash(title, year, author))];
                let all = matches!((year, author), (YearPart::Is(_), AuthorPart::Any)) && alike.len() <= common;
                found.extend(alike.iter().take(if all { common } else { 2 }).map(|&(_, document)| document as usize));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn hash(title: u64, year: YearPart, author: AuthorPart<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (title, year, author).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::super::{BibRecord, Catalogue, CatalogueBuilder};
    use crate::rng::Rng;
    use crate::tests::growth::assert_linear;

    /// No two names are a letter apart.
    const NAMES: [&str; 6] = ["Papineni", "Roukos", "Ward", "Zhu", "Okafor", "Petrov"];
    const TITLES: [&str; 3] =
        ["Editorial", "Notes from the committee", "A statistical view of the parsing of sentences"];

    fn any_record(rng: &mut Rng) -> BibRecord {
        BibRecord {
            title: Some(TITLES[rng.below(3)].into()),
            year: rng.chance(0.8).then(|| 2000 + rng.below(12) as i32),
            authors: (0..rng.below(4)).map(|_| NAMES[rng.below(6)].into()).collect(),
            ..BibRecord::default()
        }
    }

    #[test]
    fn common_titles_give_the_answers_of_a_scan_of_all() {
        let mut rng = Rng::keyed(3, &[1]);
        let (mut found, mut ambiguous) = (0, 0);
        for size in [2, 5, 20, 60].repeat(15) {
            let records: Vec<BibRecord> = (0..size).map(|_| any_record(&mut rng)).collect();
            let [looked_up, scanned] = [0, usize::MAX].map(|common| {
                let mut builder = CatalogueBuilder::default();
                records.iter().enumerate().for_each(|(number, record)| builder.add(&number.to_string(), record));
                builder.finish_with(common)
            });
            for _ in 0..100 {
                let entry = any_record(&mut rng);
                assert_eq!(looked_up.find(&entry), scanned.find(&entry), "{entry:?} in {records:?}");
                found += usize::from(scanned.find(&entry).is_ok());
                ambiguous += usize::from(scanned.find(&entry) == Err(super::super::Miss::Ambiguous));
            }
        }
        assert!(found > 500 && ambiguous > 500, "{found} found, {ambiguous} ambiguous");
    }

    #[test]
    fn many_documents_of_one_title_take_time_in_proportion() {
        let record = |title: &str, year: Option<i32>, author: Option<String>| BibRecord {
            title: Some(title.into()),
            year,
            authors: author.into_iter().collect(),
            ..BibRecord::default()
        };
        // Names of their own, which no letter turns into one another.
        let name = |number: usize| Some(format!("a{}", (number * 1_000_003).to_string().replace('0', "zero")));
        let set = |what: &str, of: &dyn Fn(usize) -> BibRecord, all_found: bool| {
            assert_linear(what, 8_192, |pieces| {
                let records: Vec<(String, BibRecord)> =
                    (0..pieces).map(|number| (number.to_string(), of(number))).collect();
                let catalogue = Catalogue::new(records.iter().map(|(id, record)| (id.as_str(), record)));
                let right = |(number, (_, entry)): (usize, &(String, BibRecord))| {
                    catalogue.find(entry).is_ok_and(|found| found.document == number)
                };
                let right = records.iter().enumerate().filter(|&one| right(one)).count();
                assert_eq!(right, if all_found { pieces } else { 0 }, "{what}");
            });
        };
        for title in TITLES {
            set("one year, many authors", &|number| record(title, Some(2001), name(number)), true);
            set("one author, many years", &|number| record(title, Some(1 + 3 * number as i32), name(7)), true);
            set("neither author nor year", &|_| record(title, None, None), false);
            set("one author and year", &|_| record(title, Some(2001), name(7)), false);
        }
    }
}
