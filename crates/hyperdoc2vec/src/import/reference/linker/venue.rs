//! Where the documents of a set appeared, learnt from entries that were found by their titles: an entry that names the same
//! venue, the same authors and the same year means the one such document of the set, whatever it calls it.

use std::collections::{HashMap, HashSet};

use super::catalogue::Catalogue;
use super::{BibRecord, How};
use crate::document::fold::fold;

/// So many entries must be found by their titles before anything is learnt.
const ENOUGH: usize = 30;
/// Words of a phrase that names a venue.
const WORDS: usize = 3;

impl Catalogue {
    /// Learns from some entries which words name the venue of the set: those of half the entries that are found by their
    /// titles, and of five times as few of the others.
    pub fn learn_venue(&mut self, entries: impl Iterator<Item = BibRecord>) {
        let (mut found, mut others) = (0usize, 0usize);
        let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
        for entry in entries {
            let Some(text) = entry.text.as_deref() else { continue };
            let is_found = self.find(&entry).is_ok_and(|found| found.how == How::Title);
            *(if is_found { &mut found } else { &mut others }) += 1;
            for phrase in phrases(text) {
                let (of_found, of_others) = counts.entry(phrase).or_default();
                *(if is_found { of_found } else { of_others }) += 1;
            }
        }
        let names = |&(of_found, of_others): &(usize, usize)| {
            found >= ENOUGH && of_found * 2 >= found && of_others * 5 * found <= of_found * others
        };
        self.venue = counts.into_iter().filter(|(_, counts)| names(counts)).map(|(phrase, _)| phrase).collect();
        self.venue.sort_unstable();
    }

    /// Whether a folded text names the venue of the set.
    pub(super) fn names_venue(&self, folded: &str) -> bool {
        self.venue.iter().any(|phrase| folded.contains(phrase.as_str()))
    }
}

/// The runs of three words of a text, without numbers.
fn phrases(text: &str) -> HashSet<String> {
    let folded = fold(text);
    let words: Vec<&str> = folded.split(' ').collect();
    let plain = |words: &&[&str]| words.iter().all(|word| word.bytes().all(|b| b.is_ascii_lowercase()));
    words.windows(WORDS).filter(plain).map(|words| words.join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Miss;
    use super::*;

    fn catalogue(venue: bool) -> Catalogue {
        let title = |n: usize| format!("On the river {} and its many tides", letters(n));
        let record = |n: usize| {
            let authors = vec![format!("Doe{}", letters(n)), format!("Roe{}", letters(n))];
            BibRecord { title: Some(title(n)), authors, year: Some(1990), ..BibRecord::default() }
        };
        let records: Vec<(String, BibRecord)> = (0..40).map(|n| (n.to_string(), record(n))).collect();
        let mut catalogue = Catalogue::new(records.iter().map(|(id, record)| (id.as_str(), record)));
        let entry = |n: usize| {
            let place = if n < 40 { "Proceedings of River Science Meetings" } else { "Journal of Stones and Dust" };
            BibRecord { text: Some(format!("{}. {place}, 1990.", title(n))), ..record(n) }
        };
        if venue {
            catalogue.learn_venue((0..80).map(entry));
        }
        catalogue
    }

    fn letters(n: usize) -> String {
        [n / 26, n % 26].iter().map(|&n| (b'a' + n as u8) as char).collect()
    }

    fn find(catalogue: &Catalogue, entry: &str) -> Result<usize, Miss> {
        catalogue.find(&BibRecord::read(entry)).map(|found| found.document)
    }

    #[test]
    fn authors_year_and_the_venue_of_the_set_name_a_work() {
        let entry = "Doeab, J. and Roeab, K. (1990). Tides of rivers. In River Science Meetings, 1-8.";
        assert_eq!(find(&catalogue(true), entry), Ok(1));
        assert_eq!(find(&catalogue(true), "Doeab, J. and Roeab, K. (1990). In River Science Meetings, 1-8."), Ok(1));
        // Nothing is known of the venue, or one thing is another.
        assert!(find(&catalogue(false), entry).is_err());
        for other in [
            "Doeab, J. and Roeab, K. (1990). Tides of rivers. Journal of Stones and Dust, 1-8.",
            "Doeab, J. and Roeab, K. (1993). Tides of rivers. In River Science Meetings, 1-8.",
            "Doeab, J. and Roeac, K. (1990). Tides of rivers. In River Science Meetings, 1-8.",
            "Doeab, J. (1990). Tides of rivers. In River Science Meetings, 1-8.",
            "Doeab, J. and Roeab, K. (1990). Stones that fell on houses. In River Science Meetings, 1-8.",
        ] {
            assert!(find(&catalogue(true), other).is_err(), "{other}");
        }
    }
}
