//! Looking up a bibliography entry in the catalogue.

use super::catalogue::{Catalogue, Known, folded_title, id_hash, keys, short_doi};
use super::fold::{fold, fold_surname};
use super::{How, Match, Miss, Record, ids};

/// Documents that are compared closely in one look-up.
const CANDIDATES: usize = 24;
/// Bytes of an entry's text that are looked at.
const LONGEST_TEXT: usize = 2000;
/// Parts of words that turn a title into another one.
const PREFIXES: [&str; 20] = [
    "un", "non", "in", "im", "dis", "semi", "multi", "bi", "mono", "sub", "super", "inter", "intra", "pre", "post",
    "de", "re", "anti", "self", "cross",
];

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
        for document in self.with_title(&wanted.title) {
            let known = self.known(document);
            let (author, year) = (wanted.author(&known), wanted.year(&known));
            let agree = usize::from(author == Some(true)) + usize::from(year == Some(true));
            let enough = match Size::of(&wanted.title) {
                Size::Short => agree == 2,
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
            if let Some(distance) = noise(&wanted.title, known.title) {
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

/// How much a title says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    Short,
    Usual,
    Long,
}

impl Size {
    fn of(folded: &str) -> Size {
        let blanks = folded.bytes().filter(|&b| b == b' ').count();
        let letters = folded.len() - blanks;
        match blanks + 1 {
            words if words >= 5 && letters >= 30 => Size::Long,
            words if words >= 3 && letters >= 20 => Size::Usual,
            _ => Size::Short,
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

fn same_name(a: &str, b: &str) -> bool {
    a == b || (a.len().min(b.len()) >= 5 && distance(a.as_bytes(), b.as_bytes(), 1).is_some())
}

/// In how many letters two folded titles differ, if that can be noise: a letter in ten at most, no other numbers, no
/// word replaced by another.
fn noise(a: &str, b: &str) -> Option<usize> {
    if !numbers(a).eq(numbers(b)) {
        return None;
    }
    let compact = |title: &str| title.bytes().filter(|&byte| byte != b' ').collect::<Vec<u8>>();
    let (bytes_a, bytes_b) = (compact(a), compact(b));
    let most = bytes_a.len().max(bytes_b.len()) / 10;
    if a.split(' ').count() != b.split(' ').count() {
        // Words that were parted or joined, an article that was left out.
        if let Some(distance) = distance(&bytes_a, &bytes_b, most.min(3)) {
            return (!replaced_prefix(a, b)).then_some(distance);
        }
        // A subtitle that was left out.
        let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
        let cut = Size::of(short) == Size::Long && long.strip_prefix(short).is_some_and(|rest| rest.starts_with(' '));
        return cut.then_some(most + 1);
    }
    let one_word = |(a, b): (&str, &str)| {
        let most = (a.len().max(b.len()) / 4).max(1);
        a == b || (distance(a.as_bytes(), b.as_bytes(), most).is_some() && !is_prefixed(a, b))
    };
    if !a.split(' ').zip(b.split(' ')).all(one_word) {
        return None;
    }
    distance(&bytes_a, &bytes_b, most)
}

/// Words with digits, and Roman numbers.
fn numbers(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(' ').filter(|word| {
        word.bytes().any(|b| b.is_ascii_digit())
            || matches!(*word, "ii" | "iii" | "iv" | "vi" | "vii" | "viii" | "ix" | "xi" | "xii")
    })
}

/// `supervised` and `unsupervised`.
fn is_prefixed(a: &str, b: &str) -> bool {
    PREFIXES.iter().any(|prefix| a.strip_prefix(prefix) == Some(b) || b.strip_prefix(prefix) == Some(a))
}

/// Whether `a` and `b` differ by a prefix that stands as a word of its own: `non linear`.
fn replaced_prefix(a: &str, b: &str) -> bool {
    let extra = |a: &str, b: &str| {
        let words: Vec<&str> = b.split(' ').collect();
        a.split(' ').any(|word| word != "in" && PREFIXES.contains(&word) && !words.contains(&word))
    };
    let compact = |title: &str| title.replace(' ', "");
    (extra(a, b) || extra(b, a)) && compact(a) != compact(b)
}

/// Levenshtein's distance, if it is at most `most`.
fn distance(a: &[u8], b: &[u8], most: usize) -> Option<usize> {
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[same..], &b[same..]);
    let same = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - same], &b[..b.len() - same]);
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    // Only cells within `most` of the diagonal can count; those outside are too large as they are.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let (from, to) = (i.saturating_sub(most).max(1), (i + most).min(b.len()));
        let mut diagonal = row[from - 1];
        row[from - 1] = if from == 1 { i } else { most + 1 };
        let mut least = row[from - 1];
        for j in from..=to {
            let cell = (diagonal + usize::from(a[i - 1] != b[j - 1])).min(row[j] + 1).min(row[j - 1] + 1);
            diagonal = row[j];
            row[j] = cell;
            least = least.min(cell);
        }
        if least > most {
            return None;
        }
    }
    Some(row[b.len()]).filter(|&distance| distance <= most)
}

/// The text of an entry, folded, with the places where a title may begin and end.
struct FoldedText {
    /// With blanks.
    words: String,
    /// Without.
    compact: String,
    /// Offsets in `compact`: where a word begins, and where punctuation or a year stands, or the text ends.
    word_starts: Vec<usize>,
    breaks: Vec<usize>,
    years: Vec<i32>,
}

impl FoldedText {
    fn new(text: &str) -> FoldedText {
        let mut out = FoldedText {
            words: String::with_capacity(text.len()),
            compact: String::with_capacity(text.len()),
            word_starts: Vec::new(),
            breaks: vec![0],
            years: Vec::new(),
        };
        for part in text.split(is_break) {
            let folded = fold(part);
            for word in folded.split(' ').filter(|word| !word.is_empty()) {
                let year = year_of(word);
                if let Some(year) = year {
                    out.years.push(year);
                    out.breaks.push(out.compact.len());
                }
                out.word_starts.push(out.compact.len());
                out.compact.push_str(word);
                if !out.words.is_empty() {
                    out.words.push(' ');
                }
                out.words.push_str(word);
                if year.is_some() {
                    out.breaks.push(out.compact.len());
                }
            }
            out.breaks.push(out.compact.len());
        }
        out
    }

    /// Where a title stands between breaks.
    fn holds(&self, title: &str) -> Option<usize> {
        let compact = title.replace(' ', "");
        let is_break = |at: usize| self.breaks.binary_search(&at).is_ok();
        let places = memchr::memmem::find_iter(self.compact.as_bytes(), compact.as_bytes());
        let mut places = places.filter(|&at| is_break(at) && is_break(at + compact.len()));
        places.next()
    }

    fn has_name(&self, name: &str) -> bool {
        let mut places = memchr::memmem::find_iter(self.compact.as_bytes(), name.as_bytes());
        let is_start = |at: usize| at == self.compact.len() || self.word_starts.binary_search(&at).is_ok();
        places.any(|at| is_start(at) && is_start(at + name.len()))
    }
}

/// Signs that may stand before or after a title.
fn is_break(c: char) -> bool {
    matches!(
        c,
        '.' | ',' | ';' | ':' | '?' | '!' | '"' | '“' | '”' | '„' | '«' | '»' | '(' | ')' | '[' | ']' | '{' | '}'
    ) || matches!(c, '\n' | '–' | '—' | '‘' | '/')
}

/// `2004`, `2004a`.
fn year_of(word: &str) -> Option<i32> {
    let digits = word.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(word);
    let good = digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"));
    good.then(|| digits.parse().ok()).flatten()
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
        assert_eq!(found(&record("Introduction", "Doe", 2002)), Ok(0));
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
        assert_eq!(find("Supervised learning of 12 models for word alignment"), Ok(How::SimilarTitle));
        for other in [
            "Unsupervised learning of 12 models for word alignment in parallel texts",
            "Un-supervised learning of 12 models for word alignment in parallel texts",
            "Supervised learning of 13 models for word alignment in parallel texts",
            "Supervised learning of 12 models for word segmentation in parallel texts",
            "Supervised learning of 12 models for word alignment in parallel trees",
            "Supervised learning of 12 models",
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

    #[test]
    fn the_distance_is_levenshteins_up_to_a_limit() {
        for (a, b, expected) in
            [("", "", 0), ("kitten", "sitting", 3), ("abc", "", 3), ("flaw", "lawn", 2), ("ab", "ba", 2)]
        {
            for most in 0..6 {
                let wanted = (expected <= most).then_some(expected);
                assert_eq!(distance(a.as_bytes(), b.as_bytes(), most), wanted, "{a} {b} {most}");
            }
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
