//! The list of authors that a bibliography entry begins with, in any of the usual orders.
//!
//! `Smith, J., & Doe, A.` `J. Smith and A. Doe` `Smith J, Doe A` `Smith, John, and Anna Doe` `John Smith, Anna Doe, and
//! Bo Lee`. The list ends at a year, a quotation mark, a colon, a full stop after a whole name, or where something
//! comes that is no name.

use super::fold;
use super::words::{EntryWord, WordKind, is_particle, is_quote, words};

/// Authors, and where their list ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::import) struct Authors {
    /// Family names in order.
    pub(in crate::import) surnames: Vec<String>,
    /// Whether the list ends in `et al.`
    pub(in crate::import) others: bool,
    /// Where in the text the list ends, and what follows begins.
    pub(in crate::import) end: usize,
    /// How it ended.
    pub(in crate::import) closed: Closed,
}

/// The end of a list of authors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::import) enum Closed {
    /// The text ended, or there was no list.
    #[default]
    Nothing,
    Year,
    Colon,
    Quote,
    Stop,
    /// A comma: the title will end with one too.
    Comma,
}

/// A family name as it is compared: without particles, accents, case and punctuation.
pub(in crate::import) fn key(surname: &str) -> String {
    let folded = fold(surname);
    let mut name = folded.as_str();
    while let Some((_, rest)) = name.split_once(' ').filter(|(word, _)| is_particle(word)) {
        name = rest;
    }
    name.replace(' ', "")
}

/// No list of authors is longer, in words.
const LONGEST: usize = 2000;

/// Reads the authors at the start of an entry.
pub(in crate::import) fn authors(text: &str) -> Authors {
    let mut list = AuthorListReader::new(text);
    let mut all = words(text).take(LONGEST).peekable();
    while let Some(word) = all.next() {
        let next = all.peek().copied();
        if let Some(end) = list.take(word, next) {
            return end;
        }
    }
    list.finish(text.len(), Closed::Nothing)
}

/// A list while it is read.
struct AuthorListReader<'a> {
    text: &'a str,
    /// Words since the last comma or connector.
    item: Vec<EntryWord<'a>>,
    /// Whether the names seen so far stand before their initials.
    inverted: bool,
    /// A family name whose given names come after the comma.
    pending: Option<String>,
    names: Vec<String>,
    /// Whether every name so far had initials, and no given name in full.
    initials: bool,
    after_and: bool,
    others: bool,
}

impl<'a> AuthorListReader<'a> {
    fn new(text: &'a str) -> AuthorListReader<'a> {
        AuthorListReader {
            text,
            item: Vec::new(),
            inverted: false,
            pending: None,
            names: Vec::new(),
            initials: true,
            after_and: false,
            others: false,
        }
    }

    /// Takes the next word; the result if the list ends before it or with it.
    fn take(&mut self, word: EntryWord<'a>, next: Option<EntryWord<'a>>) -> Option<Authors> {
        if word.before.contains(is_quote) || word.before.contains(['‘', '\'']) && !self.names.is_empty() {
            return Some(self.finish(word.start, Closed::Quote));
        }
        let first = self.names.is_empty() && self.item.is_empty() && self.pending.is_none();
        match word.kind {
            WordKind::Year(..) if !first => Some(self.finish(word.start, Closed::Year)),
            WordKind::Year(..) | WordKind::Other => self.overshot(word),
            WordKind::And if self.is_title() => Some(self.cut()),
            WordKind::And => {
                self.complete();
                self.after_and = true;
                None
            }
            WordKind::Et if next.is_some_and(|next| next.kind == WordKind::Al) => {
                self.complete();
                None
            }
            WordKind::Et => {
                self.complete();
                self.after_and = true;
                None
            }
            WordKind::Al if word.core.len() == 2 && self.pending.is_none() && self.item.is_empty() => {
                self.others = true;
                let closed = match word.after {
                    after if after.contains(':') => Closed::Colon,
                    after if after.contains(',') && !after.contains(")") => Closed::Comma,
                    _ => Closed::Stop,
                };
                Some(self.finish(next.map_or(word.end, |next| next.start), closed))
            }
            WordKind::Suffix | WordKind::Editors if !first => {
                if word.after.contains(',')
                    && self.pending.is_none()
                    && next.is_some_and(|next| next.kind == WordKind::Initials)
                {
                    self.inverted = true;
                    self.pending = Some(self.joined());
                    self.item.clear();
                }
                let rest = next.map_or(word.end, |next| next.start);
                if word.after.contains(':') {
                    return Some(self.finish(rest, Closed::Colon));
                }
                // `Bo Lee II. Deep`, while `Jr.` has its own dot.
                let numbered = matches!(word.core, "II" | "III" | "IV") && self.pending.is_none();
                if numbered && word.after.starts_with('.') {
                    return Some(self.finish(rest, Closed::Stop));
                }
                None
            }
            _ if word.before.contains(['(', '[']) => self.overshot(word),
            WordKind::Initials => self.initials(word, next),
            WordKind::Capitals if self.item.last().is_some_and(|last| last.kind == WordKind::Name) => {
                self.initials(word, next)
            }
            WordKind::Particle | WordKind::Al => {
                self.item.push(word);
                None
            }
            _ => self.name(word, next),
        }
    }

    fn initials(&mut self, word: EntryWord<'a>, next: Option<EntryWord<'a>>) -> Option<Authors> {
        let tight =
            word.kind == WordKind::Capitals || (!word.core.ends_with('.') && self.has_name() && self.pending.is_none());
        self.inverted |= tight;
        self.item.push(word);
        let rest = next.map_or(word.end, |next| next.start);
        if word.after.contains(':') {
            return Some(self.finish(rest, Closed::Colon));
        }
        let inverted = self.pending.is_some() || tight || (self.has_name() && self.inverted);
        if word.after.contains([',', ';']) {
            let last = self.after_and && (inverted || self.has_name());
            // `Smith, J.` without any other name yet: what is before the comma may be initials of a direct name.
            if inverted || self.has_name() {
                self.complete();
            }
            return (last && word.after.contains(',')).then(|| self.finish(rest, Closed::Comma));
        }
        if word.after.contains('.') && tight {
            return Some(self.finish(rest, Closed::Stop));
        }
        // `Tal, O. A grammar`: an article.
        let article = next.is_some_and(|next| next.core == "A" && next.after.is_empty());
        match next.map(|next| next.kind) {
            Some(WordKind::Initials) if inverted && article && word.core.ends_with('.') => {
                Some(self.finish(rest, Closed::Stop))
            }
            Some(WordKind::Name | WordKind::Capitals | WordKind::Other) if inverted && word.core.ends_with('.') => {
                Some(self.finish(rest, Closed::Stop))
            }
            _ => None,
        }
    }

    fn name(&mut self, word: EntryWord<'a>, next: Option<EntryWord<'a>>) -> Option<Authors> {
        self.item.push(word);
        let rest = next.map_or(word.end, |next| next.start);
        if word.after.contains(':') {
            return Some(self.finish(rest, Closed::Colon));
        }
        if word.after.starts_with('.') && !matches!(word.core, "St" | "Dr" | "Mc" | "Prof") {
            // `J. Harb. Phys. 12` is a journal.
            let abbreviated = |next: EntryWord<'_>| next.after.starts_with('.') && next.kind == WordKind::Name;
            let number =
                |next: EntryWord<'_>| next.core.len() < 4 && next.core.starts_with(|c: char| c.is_ascii_digit());
            if !self.names.is_empty() && next.is_some_and(|next| abbreviated(next) || number(next)) || self.is_title() {
                return Some(self.cut());
            }
            return Some(self.finish(rest, Closed::Stop));
        }
        if word.after.contains(';') {
            self.complete();
            return None;
        }
        if !word.after.contains(',') {
            return None;
        }
        let bare = !self.item.iter().any(|word| matches!(word.kind, WordKind::Initials));
        let initials_follow = next.is_some_and(|next| matches!(next.kind, WordKind::Initials | WordKind::Capitals));
        if self.pending.is_some() {
            // Given names in full: `Smith, John,`
            let last = self.after_and;
            self.complete();
            return last.then(|| self.finish(rest, Closed::Comma));
        }
        // A bare word before initials, or the very first word before given names.
        let surname_first =
            bare && (initials_follow && (self.inverted || self.names.is_empty() || self.item.len() == 1));
        let given_follow = next.is_some_and(|next| next.kind == WordKind::Name) && self.names.is_empty();
        if surname_first || (bare && given_follow && self.family_name_alone()) {
            self.inverted = self.inverted || surname_first;
            self.pending = Some(self.joined());
            self.item.clear();
            return None;
        }
        if self.is_title() {
            return Some(self.cut());
        }
        let last = self.after_and;
        self.complete();
        last.then(|| self.finish(rest, Closed::Comma))
    }

    /// Whether the words since the last comma have no initials, as all names before them have: `J. Smith, Deep Sails,`.
    fn is_title(&self) -> bool {
        let initials = |word: &EntryWord<'_>| matches!(word.kind, WordKind::Initials | WordKind::Capitals);
        let direct = !self.inverted && self.pending.is_none() && !self.names.is_empty();
        direct && self.initials && !self.item.is_empty() && !self.item.iter().any(initials)
    }

    /// One word, particles aside.
    fn family_name_alone(&self) -> bool {
        self.item.iter().filter(|word| word.kind != WordKind::Particle).count() == 1
    }

    fn has_name(&self) -> bool {
        self.item.iter().any(|word| matches!(word.kind, WordKind::Name))
    }

    fn joined(&self) -> String {
        let words: Vec<&str> = self.item.iter().map(|word| word.core).collect();
        words.join(" ")
    }

    /// The words since the last comma make up a name.
    fn complete(&mut self) {
        let item = std::mem::take(&mut self.item);
        let is_initials = |word: &EntryWord<'_>| matches!(word.kind, WordKind::Initials);
        // `A.`, not `Ann B.`
        let short = |given: &[EntryWord<'_>]| {
            let particle = |word: &EntryWord<'_>| is_particle(&word.core.to_lowercase());
            let mut words = given.iter().filter(|word| !particle(word)).peekable();
            words.peek().is_some() && words.all(|word| matches!(word.kind, WordKind::Initials | WordKind::Capitals))
        };
        if let Some(surname) = self.pending.take() {
            self.initials &= short(&item);
            self.names.push(surname);
            return;
        }
        let Some(last) = item.last() else { return };
        let tight = item.len() > 1
            && (last.kind == WordKind::Capitals || last.kind == WordKind::Initials)
            && item[0].kind != WordKind::Initials;
        let surname: Vec<&str> = if tight {
            self.initials &= short(&item[item.len() - 1..]);
            item[..item.len() - 1].iter().filter(|word| !is_initials(word)).map(|word| word.core).collect()
        } else {
            let end = item.iter().rposition(|word| matches!(word.kind, WordKind::Name | WordKind::Capitals));
            let Some(end) = end else { return };
            let small = item[..end].iter().rev().take_while(|word| word.kind == WordKind::Particle).count();
            self.initials &= short(&item[..end - small]);
            item[end - small..=end].iter().map(|word| word.core).collect()
        };
        if !surname.is_empty() {
            self.names.push(surname.join(" "));
        }
    }

    /// The list ended where the current item began.
    fn cut(&mut self) -> Authors {
        let start = self.item.first().map_or(self.text.len(), |word| word.start);
        self.item.clear();
        self.finish(start, Closed::Comma)
    }

    /// Something came that is no name: the title has begun, at the last comma or before.
    fn overshot(&mut self, word: EntryWord<'a>) -> Option<Authors> {
        if let (Some(surname), false) = (self.pending.take(), self.item.is_empty()) {
            // `Smith, Title of` or `Smith, John title`: the comma was the end.
            self.names.push(surname);
            return Some(self.cut());
        }
        if self.names.is_empty() {
            return Some(Authors::default());
        }
        if self.item.is_empty() {
            return Some(self.finish(word.start, Closed::Comma));
        }
        Some(self.cut())
    }

    fn finish(&mut self, end: usize, closed: Closed) -> Authors {
        self.complete();
        if self.names.is_empty() {
            return Authors::default();
        }
        Authors { surnames: std::mem::take(&mut self.names), others: self.others, end, closed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, &str, Closed) {
        let list = authors(text);
        let names = list.surnames.join("|") + if list.others { "|…" } else { "" };
        (names, &text[list.end..], list.closed)
    }

    #[test]
    fn lists_of_authors_are_read_in_all_orders() {
        use Closed::{Colon, Comma, Nothing, Stop, Year};
        let cases = [
            ("Smith, J., & Doe, A. K. (2018). Deep", "Smith|Doe", "(2018). Deep", Year),
            ("Smith, J. and Doe, A. Deep parsing", "Smith|Doe", "Deep parsing", Stop),
            ("J. Smith and A. B. Doe. Deep parsing", "Smith|Doe", "Deep parsing", Stop),
            ("J. Smith, A. Doe, and B. van den Berg, “Deep", "Smith|Doe|van den Berg", "“Deep", Comma),
            ("John Smith, Anna Maria Doe, and Bo Lee. 2018. Deep", "Smith|Doe|Lee", "2018. Deep", Stop),
            ("Smith, John, and Anna Doe. 2018. Deep", "Smith|Doe", "2018. Deep", Stop),
            ("Smith J, Doe AB, van Dorn K. Deep parsing", "Smith|Doe|van Dorn", "Deep parsing", Stop),
            ("Smith, J., Doe, A.: Deep parsing", "Smith|Doe", "Deep parsing", Colon),
            (
                "J. Smith and A. Doe, Deep parsing of trees, J. Algebra",
                "Smith|Doe",
                "Deep parsing of trees, J. Algebra",
                Comma,
            ),
            ("J. Smith, Deep Parsing, Nature 12", "Smith", "Deep Parsing, Nature 12", Comma),
            ("John A. Smith, Bo B. Lee, Cy Doe, and Dan Roe. Deep parsing", "Smith|Lee|Doe|Roe", "Deep parsing", Stop),
            ("J. Smith, C. Van Doe, Deep Parsing, Press 12", "Smith|Doe", "Deep Parsing, Press 12", Comma),
            ("John Smith and Bo B. Lee II. Deep Parsing of Trees. In", "Smith|Lee", "Deep Parsing of Trees. In", Stop),
            ("John A. Smith and Bo Lee. Deep parsing", "Smith|Lee", "Deep parsing", Stop),
            ("Smith, J. et al. Deep parsing", "Smith|…", "Deep parsing", Stop),
            ("García Márquez, G. & d’Ormesson, J.-P. Deep", "García Márquez|d’Ormesson", "Deep", Stop),
            ("O'Neil, K. (1999)", "O'Neil", "(1999)", Year),
            ("Smith, J.", "Smith", "", Nothing),
        ];
        for (text, names, rest, closed) in cases {
            let (found, after, how) = read(text);
            let shown = if how == Year { after } else { after.trim_start() };
            assert_eq!((found.as_str(), shown), (names, rest), "{text}");
            assert_eq!(how, closed, "{text}");
        }
    }

    #[test]
    fn what_is_no_list_of_authors_gives_none() {
        for text in ["", "in the year 2001", "12. of this", "the parser"] {
            assert_eq!(authors(text), Authors::default(), "{text}");
        }
    }

    #[test]
    fn names_are_compared_without_accents_case_and_particles() {
        assert_eq!(key("van den Berg"), "berg");
        assert_eq!(key("GARCÍA-Márquez"), "garciamarquez");
        assert_eq!(key("O’Neil"), "oneil");
        assert_eq!(key("de"), "de");
    }
}
