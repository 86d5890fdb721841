//! Looking up a bibliography entry in the catalogue.

use super::catalogue::{Catalogue, ComparedFields, folded_title, id_hash, keys, short_doi};
use super::folded_text::FoldedText;
use super::similar::{Size, has_sequel, is_number, is_own_title, like_name, noise, same_name, same_words, share_words};
use super::{BibRecord, How, Match, Miss, NearMatch, Test, ids};
use crate::document::fold::{fold, fold_surname};

/// Documents that are compared closely in one look-up.
const CANDIDATES: usize = 24;
/// Bytes of an entry's text that are looked at.
const LONGEST_TEXT: usize = 2000;

impl Catalogue {
    /// The document that an entry means, or why there is none. The work is bounded: some microseconds.
    pub fn find(&self, entry: &BibRecord) -> Result<Match, Miss> {
        self.look_up(entry).map_err(|(miss, _)| miss)
    }

    /// The document that an entry means, or why there is none and which document came nearest.
    pub fn look_up(&self, entry: &BibRecord) -> Result<Match, (Miss, Option<NearMatch>)> {
        let wanted = FoldedEntry::new(entry);
        let mut miss = Miss::NotInSet;
        let mut near = None;
        for (how, id) in &wanted.ids {
            let mut found = self.with_id(*how, id);
            match (found.next(), found.next()) {
                (Some(document), None) if wanted.contradicts(&self.known(document)) => {
                    miss = Miss::Contradiction;
                    near.get_or_insert(NearMatch { document, failed: Test::TitleAndAuthor });
                }
                (Some(document), None) => return Ok(Match { document, how: *how }),
                (Some(_), Some(_)) => miss = Miss::Ambiguous,
                (None, _) => {}
            }
        }
        for step in [Catalogue::same_title, Catalogue::similar_title, Catalogue::title_in_text, Catalogue::same_venue] {
            match step(self, &wanted, &mut near) {
                FoundDocuments::One(found) => return Ok(found),
                FoundDocuments::Several => return Err((Miss::Ambiguous, None)),
                FoundDocuments::None => {}
            }
        }
        if miss == Miss::NotInSet && wanted.ids.is_empty() && wanted.title.is_empty() && wanted.text.trim().is_empty() {
            miss = Miss::NothingKnown;
        } else if miss == Miss::NotInSet && near.is_some() {
            miss = Miss::NearMiss;
        }
        Err((miss, near))
    }

    fn same_title(&self, wanted: &FoldedEntry<'_>, near: &mut Option<NearMatch>) -> FoundDocuments {
        if wanted.title.is_empty() {
            return FoundDocuments::None;
        }
        let mut best = BestMatch::default();
        let (needed, short) = match Size::of(&wanted.title) {
            Size::Short => (2, true),
            Size::Usual => (1, false),
            Size::Long => (0, false),
        };
        for document in self.with_title(&wanted.title, wanted.entry.year, &wanted.authors) {
            let known = self.known(document);
            let (author, year) = (wanted.author(&known), wanted.year(&known));
            // All of several authors are as good as author and year, where no year is given.
            let undated = wanted.entry.year.is_none() && wanted.authors.len() > 1 && is_own_title(known.title);
            let all = undated && wanted.same_authors(&known);
            let agree = usize::from(author == Some(true)) + usize::from(year == Some(true) || all);
            let failed = match failed(author, year) {
                // Works of the same short title are many.
                _ if short && agree == 0 => continue,
                Err(Some(Test::Author | Test::Year)) if short => continue,
                // An editorial, an introduction: the next year has another.
                Ok(()) if short && agree == 2 && !all && wanted.entry.year != known.year => continue,
                Err(None) => continue,
                Err(failed) => failed,
                Ok(()) => (agree < needed).then_some(Test::TitleAlone),
            };
            if let Some(failed) = failed {
                near.get_or_insert(NearMatch { document, failed });
                continue;
            }
            // Of several, the one with the right year and author.
            let exact = wanted.entry.year.is_some() && wanted.entry.year == known.year;
            best.take(document, 4 - usize::from(exact) - usize::from(author == Some(true)), How::Title);
        }
        match (best.found(), self.only_with_title(&wanted.title)) {
            (FoundDocuments::None, Some(document)) if wanted.is_loosely(&self.known(document)) => {
                FoundDocuments::One(Match { document, how: How::Title })
            }
            (found, _) => found,
        }
    }

    fn similar_title(&self, wanted: &FoldedEntry<'_>, near: &mut Option<NearMatch>) -> FoundDocuments {
        if Size::of(&wanted.title) == Size::Short {
            return FoundDocuments::None;
        }
        let mut title_keys = Vec::new();
        keys(&wanted.title, &mut title_keys);
        let mut best = BestMatch::default();
        for (document, shared) in self.sharing(&title_keys, CANDIDATES) {
            let known = self.known(document);
            let other_doi = match (known.doi, wanted.doi) {
                (Some(theirs), Some(ours)) => theirs != ours,
                _ => false,
            };
            let (author, year) = (wanted.author(&known), wanted.year(&known));
            if shared < 2 || other_doi || Size::of(known.title) == Size::Short || author.is_none() || year.is_none() {
                continue;
            }
            let off_by_one = usize::from(wanted.entry.year != known.year);
            let noise = noise(&wanted.title, known.title);
            let misread = author == Some(false) && noise.is_some() && Size::of(known.title) == Size::Long;
            let author = if misread { Some(wanted.author_like(&known)) } else { author };
            match (failed(author, year), noise) {
                (Ok(()), Some(distance)) => best.take(document, distance * 2 + off_by_one, How::SimilarTitle),
                // After all that are similar.
                (Ok(()), None) if wanted.is_shorter(&known) || wanted.is_longer(&known) => {
                    best.take(document, 500 + off_by_one, How::Subtitle);
                }
                (Ok(()), None) if wanted.is_reworded(&known, self) || wanted.is_named(&known) => {
                    best.take(document, 200 + off_by_one, How::SimilarTitle);
                }
                (Ok(()), None) if !wanted.continues(known.title) => {}
                (Ok(()), None) if wanted.is_sequel(known.title) => {
                    near.get_or_insert(NearMatch { document, failed: Test::Sequel });
                }
                // After all that are similar.
                (Ok(()), None) => best.take(document, 1000 + off_by_one, How::Subtitle),
                (Err(Some(failed)), Some(_)) => {
                    near.get_or_insert(NearMatch { document, failed });
                }
                _ => {}
            }
        }
        best.found()
    }

    fn title_in_text(&self, wanted: &FoldedEntry<'_>, near: &mut Option<NearMatch>) -> FoundDocuments {
        if wanted.text.is_empty() {
            return FoundDocuments::None;
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
            let length = known.title.bytes().filter(|&b| b != b' ').count();
            let good =
                (author == Some(true) && year != Some(false)) || (author.is_none() && year == Some(true) && long);
            let failed = match failed(author, year) {
                Err(failed) => failed,
                Ok(()) => (good && text.is_sequel(at, at + length)).then_some(Test::Sequel),
            };
            if let Some(failed) = failed {
                near.get_or_insert(NearMatch { document, failed });
            } else if good {
                found.push((document, at, length));
            }
        }
        // A title inside another title is not meant.
        let inside = |a: &(usize, usize, usize), b: &(usize, usize, usize)| {
            a.0 != b.0 && a.2 < b.2 && b.1 <= a.1 && a.1 + a.2 <= b.1 + b.2
        };
        let mut outer = found.iter().filter(|one| !found.iter().any(|other| inside(one, other)));
        match (outer.next(), outer.next()) {
            (Some(&(document, ..)), None) => FoundDocuments::One(Match { document, how: How::TitleInText }),
            (Some(_), Some(_)) => FoundDocuments::Several,
            (None, _) => FoundDocuments::None,
        }
    }
}

impl Catalogue {
    /// The one document of all these authors and this year, if the entry names the venue of the set, and its title, if it
    /// has one, shares half its words, or two thirds if there is one author.
    fn same_venue(&self, wanted: &FoldedEntry<'_>, _: &mut Option<NearMatch>) -> FoundDocuments {
        let folded = fold(wanted.text);
        if wanted.entry.year.is_none() || wanted.authors.is_empty() || !self.names_venue(&folded) {
            return FoundDocuments::None;
        }
        let mut documents = self.with_authors(wanted.authors.iter().map(String::as_str), CANDIDATES);
        documents.retain(|&document| wanted.year(&self.known(document)) == Some(true));
        let [document] = documents[..] else { return FoundDocuments::None };
        let untitled = wanted.title.is_empty() || wanted.title.starts_with("in ") || self.names_venue(&wanted.title);
        let alike = match untitled {
            true => wanted.authors.len() > 1,
            // One author has many works.
            false => {
                share_words(&wanted.title, self.known(document).title, if wanted.authors.len() > 1 { 3 } else { 4 })
            }
        };
        if alike { FoundDocuments::One(Match { document, how: How::SimilarTitle }) } else { FoundDocuments::None }
    }
}

/// Whether author and year both may be right; else the one that is wrong, if it is one.
fn failed(author: Option<bool>, year: Option<bool>) -> Result<(), Option<Test>> {
    match (author, year) {
        (Some(false), Some(false)) => Err(None),
        (Some(false), _) => Err(Some(Test::Author)),
        (_, Some(false)) => Err(Some(Test::Year)),
        _ => Ok(()),
    }
}

enum FoundDocuments {
    One(Match),
    Several,
    None,
}

/// The document with the lowest score, if there is one alone.
#[derive(Default)]
struct BestMatch {
    found: Option<Match>,
    score: usize,
    tied: bool,
}

impl BestMatch {
    fn take(&mut self, document: usize, score: usize, how: How) {
        if self.found.is_none() || score < self.score {
            *self = BestMatch { found: Some(Match { document, how }), score, tied: false };
        } else if score == self.score {
            self.tied = true;
        }
    }

    fn found(self) -> FoundDocuments {
        match self.found {
            Some(found) if !self.tied => FoundDocuments::One(found),
            Some(_) => FoundDocuments::Several,
            None => FoundDocuments::None,
        }
    }
}

/// An entry, folded.
struct FoldedEntry<'a> {
    entry: &'a BibRecord,
    ids: Vec<(How, String)>,
    title: String,
    authors: Vec<String>,
    doi: Option<u32>,
    text: &'a str,
}

impl FoldedEntry<'_> {
    fn new(entry: &BibRecord) -> FoldedEntry<'_> {
        let ids = ids::ids(entry);
        let doi = ids.iter().find(|(how, _)| *how == How::Doi).map(|(how, id)| short_doi(id_hash(*how, id)));
        let authors = entry.authors.iter().take(32).map(|name| fold_surname(name)).filter(|name| !name.is_empty());
        let text = entry.text.as_deref().unwrap_or_default();
        let end = (0..=text.len().min(LONGEST_TEXT)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        FoldedEntry {
            entry,
            title: entry.title.as_deref().map(folded_title).unwrap_or_default(),
            authors: authors.collect(),
            ids,
            doi,
            text: &text[..end],
        }
    }

    /// Whether the first author of one is an author of the other, if both are known.
    fn author(&self, known: &ComparedFields<'_>) -> Option<bool> {
        let ours = self.authors.first()?;
        let theirs = known.authors.split(' ').next().filter(|name| !name.is_empty())?;
        let ours_among_theirs = known.authors.split(' ').any(|name| same_name(ours, name));
        Some(ours_among_theirs || self.authors.iter().any(|name| same_name(theirs, name)))
    }

    /// Whether the only document of this title may be meant, though its author or its year is not just the same.
    fn is_loosely(&self, known: &ComparedFields<'_>) -> bool {
        let short = Size::of(&self.title) == Size::Short;
        match (self.author(known), self.year(known)) {
            // The next year has no other of this title.
            (Some(true), Some(true)) => !short || is_own_title(known.title),
            (Some(false), Some(true)) => !short && self.author_like(known),
            (Some(true), Some(false)) => !short && self.year_like(known),
            _ => false,
        }
    }

    /// Whether a name of one may be a name of the other that was misread, wherever it stands.
    fn author_like(&self, known: &ComparedFields<'_>) -> bool {
        known.authors.split(' ').any(|theirs| self.authors.iter().any(|ours| like_name(ours, theirs)))
    }

    /// Whether the years are at most one apart, if both are known.
    fn year(&self, known: &ComparedFields<'_>) -> Option<bool> {
        Some(self.entry.year?.abs_diff(known.year?) <= 1)
    }

    /// Whether all authors are the same, two or more, or the only one of both.
    fn same_authors(&self, known: &ComparedFields<'_>) -> bool {
        let theirs = known.authors.split(' ').count();
        let found =
            known.authors.split(' ').filter(|name| self.authors.iter().any(|ours| same_name(ours, name))).count();
        found == theirs && theirs == self.authors.len()
    }

    /// Whether the entry has the document's title in other words, and everything else is the same.
    fn is_reworded(&self, known: &ComparedFields<'_>, catalogue: &Catalogue) -> bool {
        self.same_authors(known) && same_words(&self.title, known.title, |word| catalogue.is_common(word))
    }

    /// Whether both titles begin with the same name and a colon (`Pastry: …`), go on with half of the words of the other,
    /// and everything else is the same: a preprint is often printed under another subtitle.
    fn is_named(&self, known: &ComparedFields<'_>) -> bool {
        let name = known.title.get(..known.main).filter(|name| name.len() >= 4 && !name.contains(' '));
        let own = self.entry.title.as_deref().and_then(|title| title.split_once(':')).map(|(name, _)| fold(name));
        name.is_some_and(|name| own.as_deref() == Some(name))
            && known.main < known.title.len()
            && self.entry.year.is_some()
            && self.entry.year == known.year
            && known.authors.contains(' ')
            && self.same_authors(known)
            && share_words(&self.title, known.title, 3)
    }

    /// Whether the year may be right where author and title are: another one of the text is, or it is two off and all authors
    /// are the same or the title is long (a talk, and the article two years later).
    fn year_like(&self, known: &ComparedFields<'_>) -> bool {
        let (Some(ours), Some(theirs)) = (self.entry.year, known.year) else { return false };
        let near = |year: i32| year.abs_diff(theirs) <= 1;
        let several = known.authors.contains(' ') && self.same_authors(known);
        let long = Size::of(known.title) == Size::Long;
        ours.abs_diff(theirs) == 2 && (several || long) || FoldedText::new(self.text).years.into_iter().any(near)
    }

    /// Whether the document's title is cut off, and the entry has all of it.
    fn is_longer(&self, known: &ComparedFields<'_>) -> bool {
        let words = known.title.split(' ').count();
        let start = self.title.match_indices(' ').nth(words - 1).map_or("", |(at, _)| &self.title[..at]);
        known.cut && words >= 4 && !start.is_empty() && noise(start, known.title).is_some()
    }

    /// Whether the entry has the document's title without its subtitle.
    fn is_shorter(&self, known: &ComparedFields<'_>) -> bool {
        let title = self.title.as_str();
        let rest = known.title.strip_prefix(title).unwrap_or_default();
        let words: Vec<&str> = rest.split(' ').filter(|word| !word.is_empty()).collect();
        let main = known.main == title.len() && rest.starts_with(' ');
        main && self.same_authors(known) && !words.iter().any(|word| is_number(word)) && !has_sequel(&words)
    }

    /// Whether the entry's title is this one with more after a punctuation mark: a subtitle, a venue.
    fn continues(&self, title: &str) -> bool {
        let longer = Size::of(title) == Size::Long && self.title.starts_with(title);
        let own = self.entry.title.as_deref().filter(|_| longer);
        own.is_some_and(|own| FoldedText::new(own).holds(title) == Some(0))
    }

    /// Whether what the entry's title has after this one makes another work of it: `Part 2`, `a reply`.
    fn is_sequel(&self, title: &str) -> bool {
        let words: Vec<&str> = self.title[title.len()..].split(' ').filter(|word| !word.is_empty()).collect();
        words.iter().any(|word| is_number(word)) || has_sequel(&words)
    }

    /// Whether this is another work than the one with the id: other authors, and few words of the title in common.
    fn contradicts(&self, known: &ComparedFields<'_>) -> bool {
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

    fn record(title: &str, author: &str, year: i32) -> BibRecord {
        BibRecord { title: Some(title.into()), authors: vec![author.into()], year: Some(year), ..BibRecord::default() }
    }

    fn catalogue(records: &[BibRecord]) -> Catalogue {
        let ids: Vec<String> = (0..records.len()).map(|number| format!("d{number}")).collect();
        Catalogue::new(ids.iter().map(String::as_str).zip(records))
    }

    fn text(text: &str) -> BibRecord {
        BibRecord { text: Some(text.into()), ..BibRecord::default() }
    }

    #[test]
    fn an_id_finds_its_document_whatever_else_is_said() {
        let mut bleu = record("BLEU: a method for automatic evaluation of machine translation", "Papineni", 2002);
        bleu.doi = Some("https://doi.org/10.3115/1073083.1073135".into());
        bleu.acl = Some("P02-1040".into());
        let catalogue = catalogue(&[bleu]);
        let by_doi = BibRecord { doi: Some("DOI:10.3115/1073083.1073135.".into()), ..BibRecord::default() };
        assert_eq!(catalogue.find(&by_doi), Ok(Match { document: 0, how: How::Doi }));
        let by_acl = text("K. Papineni. 2002. https://aclanthology.org/P02-1040.pdf");
        assert_eq!(catalogue.find(&by_acl), Ok(Match { document: 0, how: How::Acl }));
        // The wrong DOI on an entry, as services that add DOIs now and then give it.
        let wrong = BibRecord { doi: by_doi.doi, ..record("Deep residual learning", "He", 2016) };
        assert_eq!(catalogue.find(&wrong), Err(Miss::Contradiction));
        assert_eq!(catalogue.find(&BibRecord::default()), Err(Miss::NothingKnown));
    }

    #[test]
    fn two_documents_with_one_id_are_ambiguous_unless_the_title_tells() {
        let with_doi = |record| BibRecord { doi: Some("10.1234/x".into()), ..record };
        let one = with_doi(record("Parsing with trees and forests of words", "Doe", 2001));
        let other = with_doi(record("Parsing with graphs and maps of sentences", "Doe", 2001));
        let catalogue = catalogue(&[one.clone(), other]);
        let bare = BibRecord { doi: Some("10.1234/x".into()), ..BibRecord::default() };
        assert_eq!(catalogue.find(&bare), Err(Miss::Ambiguous));
        assert_eq!(catalogue.find(&one), Ok(Match { document: 0, how: How::Title }));
    }

    #[test]
    fn a_short_title_needs_author_and_year() {
        let catalogue = catalogue(&[record("Introduction", "Doe", 2001), record("Introduction", "Roe", 2001)]);
        let found = |entry: &BibRecord| catalogue.find(entry).map(|found| found.document);
        assert_eq!(found(&record("Introduction", "Doe", 2001)), Ok(0));
        assert_eq!(found(&record("Introduction", "Doe", 2002)), Err(Miss::NotInSet));
        assert_eq!(found(&record("Introduction", "Poe", 2001)), Err(Miss::NotInSet));
        let entry = BibRecord { year: None, ..record("Introduction", "Doe", 0) };
        assert_eq!(found(&entry), Err(Miss::NearMiss));
        let entry = BibRecord { authors: Vec::new(), ..record("Introduction", "", 2001) };
        assert_eq!(found(&entry), Err(Miss::NearMiss));
    }

    #[test]
    fn a_name_before_a_colon_all_authors_and_the_year_tell_a_work() {
        let with = |title: &str, authors: [&str; 2], year: Option<i32>| BibRecord {
            title: Some(title.into()),
            authors: authors.map(str::to_owned).to_vec(),
            year,
            ..BibRecord::default()
        };
        let pastry = "Pastry: Scalable, decentralized object location, and routing for large peer-to-peer systems";
        let (ours, others) = (["Rowstron", "Druschel"], ["Rowstron", "Castro"]);
        let catalogue = catalogue(&[with(pastry, ours, Some(2001)), with("The Google file system", ours, Some(2003))]);
        let found = |entry: &BibRecord| catalogue.find(entry).map(|found| found.document);
        let other = pastry.replace("decentralized", "distributed").replace("large", "huge");
        assert_eq!(found(&with(&other, ours, Some(2001))), Ok(0));
        assert!(found(&with(&other, ours, Some(2003))).is_err(), "of another year");
        assert!(found(&with(&other, others, Some(2001))).is_err(), "by others");
        assert!(found(&with(&other.replace("Pastry", "Scribe"), ours, Some(2001))).is_err(), "another name");
        assert!(found(&with("Pastry: the flour and the butter of systems", ours, Some(2001))).is_err());
        assert_eq!(found(&with("The Google file system", ours, None)), Ok(1), "all authors, and no year");
        assert!(found(&with("The Google file system", others, None)).is_err());
    }

    #[test]
    fn of_two_versions_the_one_of_the_right_year_is_meant() {
        let title = "A statistical view of the parsing of sentences";
        let catalogue = catalogue(&[record(title, "Doe", 2001), record(title, "Doe", 2002)]);
        assert_eq!(catalogue.find(&record(title, "Doe", 2002)).map(|found| found.document), Ok(1));
        assert_eq!(catalogue.find(&record(title, "Doe", 2000)).map(|found| found.document), Ok(0));
        let undated = BibRecord { year: None, ..record(title, "Doe", 0) };
        assert_eq!(catalogue.find(&undated), Err(Miss::Ambiguous));
        assert_eq!(catalogue.find(&record(title, "Roe", 2007)), Err(Miss::NotInSet));
    }

    const SURVEY: &str = "A Survey of Citation Recommendation";
    /// Words that make another work of a title.
    const SEQUELS: [&str; 16] = [
        ": Part 2",
        ", Part II",
        ", part two",
        ": II",
        ": 2",
        ", three",
        ": a reply",
        "? A Comment on Lee",
        ". Response to critics",
        ": rejoinder",
        " (correction)",
        ": Erratum",
        ": Corrigendum",
        ", addendum",
        " – revisited",
        " (extended version)",
    ];

    #[test]
    fn a_sequel_or_a_reply_is_another_work() {
        let catalogue = catalogue(&[record(SURVEY, "Okafor", 2019)]);
        let near = Some(NearMatch { document: 0, failed: Test::Sequel });
        for more in SEQUELS {
            let title = format!("{SURVEY}{more}");
            assert_eq!(catalogue.look_up(&record(&title, "Okafor", 2019)), Err((Miss::NearMiss, near)), "{title}");
            let entry = format!("C. Okafor. {title}. ACM Surveys 3, 1-12, 2019");
            assert_eq!(catalogue.look_up(&text(&entry)), Err((Miss::NearMiss, near)), "{entry}");
        }
        for before in ["Erratum to: ", "Comment on “", "Part II: ", "A reply to "] {
            let title = format!("{before}{SURVEY}");
            assert!(catalogue.find(&record(&title, "Okafor", 2019)).is_err(), "{title}");
            assert!(catalogue.find(&text(&format!("C. Okafor (2019). {title}. ACM Surveys"))).is_err(), "{title}");
        }
    }

    #[test]
    fn a_subtitle_and_a_venue_are_none() {
        let catalogue = catalogue(&[record(SURVEY, "Okafor", 2019)]);
        let how = |entry: &BibRecord| catalogue.find(entry).map(|found| found.how);
        let longer = record(&format!("{SURVEY}: Systems for Patents"), "Okafor", 2019);
        assert_eq!(how(&longer), Ok(How::Subtitle));
        for venue in ["ACM Surveys 3, 1-12, 2019", "2019", "In Extended Semantic Web Conference, 2019", "12(3), 2019"] {
            let entry = text(&format!("[2] C. Okafor. {SURVEY}. {venue}"));
            assert_eq!(how(&entry), Ok(How::TitleInText), "{venue}");
        }
    }

    #[test]
    fn the_part_that_is_meant_is_found_among_its_sequels() {
        let parts = ["", ": Part I", ": Part V", ": Part II", ": a reply"].map(|more| format!("{SURVEY}{more}"));
        let records: Vec<BibRecord> = parts.iter().map(|title| record(title, "Okafor", 2019)).collect();
        for (number, title) in parts.iter().enumerate() {
            let others: Vec<BibRecord> =
                records.iter().filter(|one| one.title.as_ref() != Some(title)).cloned().collect();
            assert!(catalogue(&others).find(&records[number]).is_err(), "{title}");
            let entry = text(&format!("Okafor, C. {title}. ACM Surveys, 2019."));
            for entry in [&records[number], &entry] {
                assert_eq!(catalogue(&records).find(entry).map(|found| found.document), Ok(number), "{title}");
            }
        }
    }

    #[test]
    fn a_near_miss_says_what_failed() {
        let catalogue = catalogue(&[record(SURVEY, "Okafor", 2019)]);
        let failed = |entry: &BibRecord| match catalogue.look_up(entry) {
            Err((Miss::NearMiss, Some(near))) => Some(near.failed),
            _ => None,
        };
        assert_eq!(failed(&record(SURVEY, "Okafor", 2016)), Some(Test::Year));
        assert_eq!(failed(&record(SURVEY, "Petrov", 2019)), Some(Test::Author));
        assert_eq!(failed(&record("A Surwey of Citation Recommendation", "Petrov", 2019)), Some(Test::Author));
        assert_eq!(failed(&text(&format!("C. Okafor. {SURVEY}. 2012"))), Some(Test::Year));
        assert_eq!(failed(&record(SURVEY, "Petrov", 2012)), None);
        assert_eq!(failed(&record("A Survey of Something Else Altogether", "Okafor", 2019)), None);
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
        assert_eq!(find(&longer), Ok(How::Subtitle));
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
    fn a_misread_author_or_title_is_forgiven_where_the_rest_agrees() {
        let two = |title: &str, names: [&str; 2], year| BibRecord {
            authors: names.map(String::from).to_vec(),
            ..record(title, "", year)
        };
        let catalogue = catalogue(&[
            two("Momentum and the search for optimal rivers", ["Leen", "Orr"], 1990),
            record("Word Tides", "Schütze", 1992),
            two("Classifying maps of rivers with a view of their tides", ["Darrell", "Lund"], 1993),
            record("Training rivers to find their genes . .", "Nord", 1990),
            two("The effective number of tides: an analysis of rivers and seas", ["Moody", "Lund"], 1991),
        ]);
        let find = |entry: &BibRecord| catalogue.find(entry).map(|found| found.document);
        let momentum = "Momentum and the search for optimal rivers";
        assert_eq!(find(&record(momentum, "Leon", 1991)), Ok(0));
        assert_eq!(find(&record("Momenturn and the search for optirnal rivers", "Leen", 1990)), Ok(0));
        assert_eq!(find(&two(momentum, ["Leen", "Orr"], 1992)), Ok(0));
        assert_eq!(find(&record("Word Tides", "Schütze", 1993)), Ok(1));
        let reworded = "Classification of river maps with a view of their tides";
        assert_eq!(find(&two(reworded, ["Darrell", "Lund"], 1994)), Ok(2));
        assert_eq!(find(&record("Training rivers to find their genes in the sea", "Nord", 1991)), Ok(3));
        assert_eq!(find(&two("The effective number of tides", ["Moody", "Lund"], 1992)), Ok(4));
        for other in [
            record(momentum, "Poe", 1990),
            record(momentum, "Leen", 1995),
            record(momentum, "Leon", 1993),
            record("Word Tides", "Schütze", 1995),
            record("Word Tides", "Poe", 1992),
            two(reworded, ["Darrell", "Poe"], 1994),
            two("Classification of lake maps with a view of their tides", ["Darrell", "Lund"], 1993),
            record("Training rivers to lose their genes in the sea", "Nord", 1990),
            two("The effective number of tides: part 2", ["Moody", "Lund"], 1991),
        ] {
            assert!(find(&other).is_err(), "{other:?}");
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
            assert!(matches!(find(other), Err(Miss::NotInSet | Miss::NearMiss)), "{other}");
        }
    }

    proptest! {
        #[test]
        fn any_record_can_be_looked_up(title in ".{0,60}", author in ".{0,20}", entry in ".{0,120}") {
            let own = BibRecord { text: Some(entry), ..record(&title, &author, 2000) };
            let catalogue = catalogue(&[own.clone(), record("Some other work about something", "Doe", 1999)]);
            if let Ok(found) = catalogue.find(&own) {
                prop_assert_eq!(found.document, 0);
            }
        }
    }
}
