//! Looking up a bibliography entry in the catalogue.

use super::catalogue::{Catalogue, Known, folded_title, id_hash, keys, short_doi};
use super::entry::FoldedText;
use super::fold::fold_surname;
use super::similar::{Size, noise, same_name};
use super::{How, Match, Miss, Record, ids};

/// Documents that are compared closely in one look-up.
const CANDIDATES: usize = 24;
/// Bytes of an entry's text that are looked at.
const LONGEST_TEXT: usize = 2000;
impl Catalogue {
    /// The document that an entry means, or why there is none. The work is bounded: some microseconds.
    pub fn find(&self, entry: &Record) -> Result<Match, Miss> {
        let wanted = Wanted::new(entry);
        let mut miss = Miss::NotInSet;
        for (how, id) in &wanted.ids {
            let mut found = self.with_id(*how, id);
            match (found.next(), found.next()) {
                (Some(document), None) if wanted.contradicts(&self.known(document)) => {
                    miss = Miss::Contradiction;
                }
                (Some(document), None) => return Ok(Match { document, how: *how }),
                (Some(_), Some(_)) => miss = Miss::Ambiguous,
                (None, _) => {}
            }
        }
        for step in [Catalogue::same_title, Catalogue::similar_title, Catalogue::title_in_text] {
            match step(self, &wanted) {
                Found::One(found) => return Ok(found),
                Found::Several => return Err(Miss::Ambiguous),
                Found::None => {}
            }
        }
        if miss == Miss::NotInSet && wanted.ids.is_empty() && wanted.title.is_empty() && wanted.text.trim().is_empty() {
            return Err(Miss::NothingKnown);
        }
        Err(miss)
    }

    fn same_title(&self, wanted: &Wanted<'_>) -> Found {
        if wanted.title.is_empty() {
            return Found::None;
        }
        let mut best = Best::default();
        for document in self.with_title(&wanted.title, |known| wanted.year(known) != Some(false)) {
            let known = self.known(document);
            let (author, year) = (wanted.author(&known), wanted.year(&known));
            let agree = usize::from(author == Some(true)) + usize::from(year == Some(true));
            let enough = match Size::of(&wanted.title) {
                // An editorial, an introduction: the next year has another.
                Size::Short => agree == 2 && wanted.entry.year == known.year,
                Size::Usual => agree >= 1,
                Size::Long => true,
            };
            if author != Some(false) && year != Some(false) && enough {
                // Of several, the one with the right year and author.
                let exact = wanted.entry.year.is_some() && wanted.entry.year == known.year;
                best.take(document, 4 - usize::from(exact) - usize::from(author == Some(true)));
            }
        }
        best.found(How::Title)
    }

    fn similar_title(&self, wanted: &Wanted<'_>) -> Found {
        if Size::of(&wanted.title) == Size::Short {
            return Found::None;
        }
        let mut title_keys = Vec::new();
        keys(&wanted.title, &mut title_keys);
        let mut best = Best::default();
        for (document, shared) in self.sharing(&title_keys, CANDIDATES) {
            let known = self.known(document);
            let other_doi = match (known.doi, wanted.doi) {
                (Some(theirs), Some(ours)) => theirs != ours,
                _ => false,
            };
            if shared < 2
                || other_doi
                || Size::of(known.title) == Size::Short
                || wanted.author(&known) != Some(true)
                || wanted.year(&known) != Some(true)
            {
                continue;
            }
            if let Some(distance) = noise(&wanted.title, known.title).or_else(|| wanted.continues(known.title)) {
                let near = usize::from(wanted.entry.year != known.year);
                best.take(document, distance * 2 + near);
            }
        }
        best.found(How::SimilarTitle)
    }

    fn title_in_text(&self, wanted: &Wanted<'_>) -> Found {
        if wanted.text.is_empty() {
            return Found::None;
        }
        let text = FoldedText::new(wanted.text);
        let mut text_keys = Vec::new();
        keys(&text.words, &mut text_keys);
        let mut found: Vec<(usize, usize, usize)> = Vec::new();
        for (document, shared) in self.sharing(&text_keys, CANDIDATES) {
            let known = self.known(document);
            if shared < 2 || Size::of(known.title) == Size::Short || known.title.split(' ').count() < 4 {
                continue;
            }
            let Some(at) = text.holds(known.title) else { continue };
            let author = match known.authors.split(' ').next() {
                None | Some("") => None,
                Some(first) => Some(text.has_name(first)),
            };
            let year = match (known.year, wanted.entry.year) {
                (None, _) => None,
                (Some(theirs), Some(ours)) => Some(ours.abs_diff(theirs) <= 1),
                (Some(theirs), None) => Some(text.years.iter().any(|year| year.abs_diff(theirs) <= 1)),
            };
            let long = Size::of(known.title) == Size::Long;
            if (author == Some(true) && year != Some(false)) || (author.is_none() && year == Some(true) && long) {
                found.push((document, at, known.title.bytes().filter(|&b| b != b' ').count()));
            }
        }
        // A title inside another title is not meant.
        let inside = |a: &(usize, usize, usize), b: &(usize, usize, usize)| {
            a.0 != b.0 && a.2 < b.2 && b.1 <= a.1 && a.1 + a.2 <= b.1 + b.2
        };
        let mut outer = found.iter().filter(|one| !found.iter().any(|other| inside(one, other)));
        match (outer.next(), outer.next()) {
            (Some(&(document, ..)), None) => Found::One(Match { document, how: How::TitleInText }),
            (Some(_), Some(_)) => Found::Several,
            (None, _) => Found::None,
        }
    }
}

enum Found {
    One(Match),
    Several,
    None,
}

/// The document with the lowest score, if there is one alone.
#[derive(Default)]
struct Best {
    document: Option<usize>,
    score: usize,
    tied: bool,
}

impl Best {
    fn take(&mut self, document: usize, score: usize) {
        if self.document.is_none() || score < self.score {
            *self = Best { document: Some(document), score, tied: false };
        } else if score == self.score {
            self.tied = true;
        }
    }

    fn found(self, how: How) -> Found {
        match self.document {
            Some(document) if !self.tied => Found::One(Match { document, how }),
            Some(_) => Found::Several,
            None => Found::None,
        }
    }
}

/// An entry, folded.
struct Wanted<'a> {
    entry: &'a Record,
    ids: Vec<(How, String)>,
    title: String,
    authors: Vec<String>,
    doi: Option<u32>,
    text: &'a str,
}

impl Wanted<'_> {
    fn new(entry: &Record) -> Wanted<'_> {
        let ids = ids::ids(entry);
        let doi = ids.iter().find(|(how, _)| *how == How::Doi).map(|(how, id)| short_doi(id_hash(*how, id)));
        let authors = entry.authors.iter().take(32).map(|name| fold_surname(name)).filter(|name| !name.is_empty());
        let text = entry.text.as_deref().unwrap_or_default();
        let end = (0..=text.len().min(LONGEST_TEXT)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        Wanted {
            entry,
            title: entry.title.as_deref().map(folded_title).unwrap_or_default(),
            authors: authors.collect(),
            ids,
            doi,
            text: &text[..end],
        }
    }

    /// Whether the first author of one is an author of the other, if both are known.
    fn author(&self, known: &Known<'_>) -> Option<bool> {
        let ours = self.authors.first()?;
        let theirs = known.authors.split(' ').next().filter(|name| !name.is_empty())?;
        let ours_among_theirs = known.authors.split(' ').any(|name| same_name(ours, name));
        Some(ours_among_theirs || self.authors.iter().any(|name| same_name(theirs, name)))
    }

    /// Whether the years are at most one apart, if both are known.
    fn year(&self, known: &Known<'_>) -> Option<bool> {
        Some(self.entry.year?.abs_diff(known.year?) <= 1)
    }

    /// A high number if the entry's title is this one with more after a punctuation mark: a subtitle, a venue.
    fn continues(&self, title: &str) -> Option<usize> {
        let longer = Size::of(title) == Size::Long && self.title.starts_with(title);
        let own = self.entry.title.as_deref().filter(|_| longer)?;
        (FoldedText::new(own).holds(title) == Some(0)).then_some(100)
    }

    /// Whether this is another work than an id says: other authors, and few words of the title in common.
    fn contradicts(&self, known: &Known<'_>) -> bool {
        if self.author(known) != Some(false) || self.title.is_empty() || known.title.is_empty() {
            return false;
        }
        let words: Vec<&str> = self.title.split(' ').collect();
        let shared = known.title.split(' ').filter(|word| words.contains(word)).count();
        shared * 3 < words.len().min(known.title.split(' ').count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(title: &str, author: &str, year: i32) -> Record {
        Record { title: Some(title.into()), authors: vec![author.into()], year: Some(year), ..Record::default() }
    }

    fn catalogue(records: &[Record]) -> Catalogue {
        let ids: Vec<String> = (0..records.len()).map(|number| format!("d{number}")).collect();
        Catalogue::new(ids.iter().map(String::as_str).zip(records))
    }

    fn text(text: &str) -> Record {
        Record { text: Some(text.into()), ..Record::default() }
    }

    #[test]
    fn an_id_finds_its_document_whatever_else_is_said() {
        let mut bleu = record("BLEU: a method for automatic evaluation of machine translation", "Papineni", 2002);
        bleu.doi = Some("https://doi.org/10.3115/1073083.1073135".into());
        bleu.acl = Some("P02-1040".into());
        let catalogue = catalogue(&[bleu]);
        let by_doi = Record { doi: Some("DOI:10.3115/1073083.1073135.".into()), ..Record::default() };
        assert_eq!(catalogue.find(&by_doi), Ok(Match { document: 0, how: How::Doi }));
        let by_acl = text("K. Papineni. 2002. https://aclanthology.org/P02-1040.pdf");
        assert_eq!(catalogue.find(&by_acl), Ok(Match { document: 0, how: How::Acl }));
        // The wrong DOI on an entry, as services that add DOIs now and then give it.
        let wrong = Record { doi: by_doi.doi, ..record("Deep residual learning", "He", 2016) };
        assert_eq!(catalogue.find(&wrong), Err(Miss::Contradiction));
        assert_eq!(catalogue.find(&Record::default()), Err(Miss::NothingKnown));
    }

    #[test]
    fn two_documents_with_one_id_are_ambiguous_unless_the_title_tells() {
        let with_doi = |record| Record { doi: Some("10.1234/x".into()), ..record };
        let one = with_doi(record("Parsing with trees and forests of words", "Doe", 2001));
        let other = with_doi(record("Parsing with graphs and maps of sentences", "Doe", 2001));
        let catalogue = catalogue(&[one.clone(), other]);
        let bare = Record { doi: Some("10.1234/x".into()), ..Record::default() };
        assert_eq!(catalogue.find(&bare), Err(Miss::Ambiguous));
        assert_eq!(catalogue.find(&one), Ok(Match { document: 0, how: How::Title }));
    }

    #[test]
    fn a_short_title_needs_author_and_year() {
        let catalogue = catalogue(&[record("Introduction", "Doe", 2001), record("Introduction", "Roe", 2001)]);
        let found = |entry: &Record| catalogue.find(entry).map(|found| found.document);
        assert_eq!(found(&record("Introduction", "Doe", 2001)), Ok(0));
        assert_eq!(found(&record("Introduction", "Doe", 2002)), Err(Miss::NotInSet));
        assert_eq!(found(&record("Introduction", "Poe", 2001)), Err(Miss::NotInSet));
        let entry = Record { year: None, ..record("Introduction", "Doe", 0) };
        assert_eq!(found(&entry), Err(Miss::NotInSet));
        let entry = Record { authors: Vec::new(), ..record("Introduction", "", 2001) };
        assert_eq!(found(&entry), Err(Miss::NotInSet));
    }

    #[test]
    fn of_two_versions_the_one_of_the_right_year_is_meant() {
        let title = "A statistical view of the parsing of sentences";
        let catalogue = catalogue(&[record(title, "Doe", 2001), record(title, "Doe", 2002)]);
        assert_eq!(catalogue.find(&record(title, "Doe", 2002)).map(|found| found.document), Ok(1));
        assert_eq!(catalogue.find(&record(title, "Doe", 2000)).map(|found| found.document), Ok(0));
        let undated = Record { year: None, ..record(title, "Doe", 0) };
        assert_eq!(catalogue.find(&undated), Err(Miss::Ambiguous));
        assert_eq!(catalogue.find(&record(title, "Doe", 2007)), Err(Miss::NotInSet));
        assert_eq!(catalogue.find(&record(title, "Roe", 2001)), Err(Miss::NotInSet));
    }

    #[test]
    fn noise_is_forgiven_and_other_works_are_not() {
        let title = "Supervised learning of 12 models for word alignment in parallel texts";
        let catalogue = catalogue(&[record(title, "Müller", 2010)]);
        let find = |title: &str| catalogue.find(&record(title, "Muller", 2011)).map(|found| found.how);
        assert_eq!(find("Supervised learn-ing of 12 models for word align ment in parallel texts"), Ok(How::Title));
        assert_eq!(find("Supervized leaming of 12 models for word alignment in paralel texts"), Ok(How::SimilarTitle));
        assert_eq!(
            find("Supervised learning of 12 models for the word alignment in parallel texts"),
            Ok(How::SimilarTitle)
        );
        let longer = format!("{title}. Journal of Models");
        assert_eq!(find(&longer), Ok(How::SimilarTitle));
        for other in [
            "Unsupervised learning of 12 models for word alignment in parallel texts",
            "Un-supervised learning of 12 models for word alignment in parallel texts",
            "Supervised learning of 13 models for word alignment in parallel texts",
            "Supervised learning of 12 models for word segmentation in parallel texts",
            "Supervised learning of 12 models for word alignment in parallel trees",
            "Supervised learning of 12 models for word alignment",
            "Supervised learning of 12 models for word alignment in parallel texts and trees",
            "Supervised learning of 12 models for word alignment in no parallel texts",
            "Supervised learning of 12 models for web word alignment in parallel texts",
            "Supervised learning of 12 models for ward alignment in parallel texts",
        ] {
            assert_eq!(find(other), Err(Miss::NotInSet), "{other}");
        }
    }

    #[test]
    fn a_title_is_found_in_the_text_of_an_entry() {
        let catalogue = catalogue(&[
            record("BLEU: a method for automatic evaluation of machine translation", "Papineni", 2002),
            record("Automatic evaluation of machine translation", "Papineni", 2002),
            record("Learning internal representations", "Rumelhart", 1986),
        ]);
        let find = |entry: &str| catalogue.find(&text(entry)).map(|found| found.document);
        let bleu = "K.~Papineni, S. Roukos. \\newblock {\\sc Bleu}: a method for automatic evaluation of machine \
                    translation. \\newblock In {\\em ACL}, 2002.";
        assert_eq!(find(bleu), Ok(0));
        assert_eq!(find("Papineni 2002 Automatic evaluation of machine translation. ACL"), Ok(1));
        for other in [
            "Roukos. BLEU: a method for automatic evaluation of machine translation. 2002",
            "Papineni. BLEU: a method for automatic evaluation of machine translation. 1992",
            "Papineni. On the automatic evaluation of machine translation systems. 2002",
            "Rumelhart. Learning internal representations. 1986",
        ] {
            assert_eq!(find(other), Err(Miss::NotInSet), "{other}");
        }
    }

    proptest! {
        #[test]
        fn any_record_can_be_looked_up(title in ".{0,60}", author in ".{0,20}", entry in ".{0,120}") {
            let own = Record { text: Some(entry), ..record(&title, &author, 2000) };
            let catalogue = catalogue(&[own.clone(), record("Some other work about something", "Doe", 1999)]);
            if let Ok(found) = catalogue.find(&own) {
                prop_assert_eq!(found.document, 0);
            }
        }
    }
}
