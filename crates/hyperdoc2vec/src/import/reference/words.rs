//! A text as words with the punctuation around them, and what kind of word each is: what names and entries are read from.

/// A word between white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::import) struct EntryWord<'a> {
    /// Where it begins in the text, punctuation included.
    pub(in crate::import) start: usize,
    /// Where it ends, punctuation included.
    pub(in crate::import) end: usize,
    /// Opening punctuation.
    pub(in crate::import) before: &'a str,
    /// The word itself, with its inner dots and hyphens; the dot of an initial belongs to it.
    pub(in crate::import) core: &'a str,
    /// Closing punctuation.
    pub(in crate::import) after: &'a str,
    pub(in crate::import) kind: WordKind,
}

/// The part that a word may play in a list of authors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::import) enum WordKind {
    /// `J.`, `J.-P.`, `J`
    Initials,
    /// Two to four capitals without dots, as in `Smith JA`; may be a name too.
    Capitals,
    /// A word that begins with a capital letter.
    Name,
    /// `van`, `de`
    Particle,
    /// `and`, `&`
    And,
    /// `et` of `et al.`
    Et,
    /// `al.`
    Al,
    /// `Jr.`, `III`
    Suffix,
    /// `eds.`, `editors`
    Editors,
    /// A year, with a letter or without.
    Year(i32, Option<char>),
    /// Anything else.
    Other,
}

const PARTICLES: [&str; 34] = [
    "van", "von", "der", "den", "de", "del", "della", "dei", "di", "da", "dos", "das", "do", "du", "des", "la", "le",
    "ten", "ter", "te", "el", "al", "bin", "ibn", "zu", "zur", "zum", "af", "av", "y", "'t", "’t", "op", "het",
];

/// Whether a word is written small inside a family name.
pub(in crate::import) fn is_particle(word: &str) -> bool {
    PARTICLES.contains(&word)
}

/// The words of a text.
pub(in crate::import) fn words(text: &str) -> impl Iterator<Item = EntryWord<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(|c: char| !c.is_whitespace())?;
        let end = text[start..].find(char::is_whitespace).map_or(text.len(), |length| start + length);
        at = end;
        Some(word(text, start, end))
    })
}

fn word(text: &str, start: usize, end: usize) -> EntryWord<'_> {
    let whole = &text[start..end];
    let opening = |c: char| !c.is_alphanumeric() && !matches!(c, '&' | '\'' | '’' | '‘');
    let rest = whole.trim_start_matches(opening);
    let before = &whole[..whole.len() - rest.len()];
    let closing = |c: char| !c.is_alphanumeric() && c != '&';
    let mut core = rest.trim_end_matches(closing);
    let mut kind = kind(core);
    // The dot after an initial is a part of it.
    if matches!(kind, WordKind::Initials) && rest[core.len()..].starts_with('.') {
        core = &rest[..core.len() + 1];
    }
    if core.is_empty() {
        kind = WordKind::Other;
    }
    EntryWord { start, end, before, core, after: &rest[core.len()..], kind }
}

/// Quotation marks of all sorts, but no apostrophes.
pub(in crate::import) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '«' | '»' | '‟')
}

fn kind(core: &str) -> WordKind {
    let lower = core.trim_end_matches('.');
    match lower {
        // A scanner reads `&` as the last ones.
        "and" | "AND" | "&" | "und" | "et." | "8z" | "2z" | "Fz" => return WordKind::And,
        "et" => return WordKind::Et,
        "al" => return WordKind::Al,
        "Jr" | "Sr" | "II" | "III" | "IV" => return WordKind::Suffix,
        "eds" | "ed" | "Eds" | "Ed" | "editor" | "editors" | "Editors" => return WordKind::Editors,
        _ => {}
    }
    if is_particle(core) {
        return WordKind::Particle;
    }
    if let Some((year, letter)) = year(core) {
        return WordKind::Year(year, letter);
    }
    let mut letters = core.chars().filter(|c| c.is_alphabetic());
    let count = core.chars().filter(|c| c.is_alphabetic()).count();
    let plain = core
        .chars()
        .all(|c| c.is_alphabetic() || matches!(c, '-' | '‐' | '.' | '\'' | '’' | '`' | '\u{300}'..='\u{36f}'));
    if count == 0 || !plain {
        return WordKind::Other;
    }
    let capitals = letters.all(char::is_uppercase);
    if capitals {
        let parts = || core.split(['.', '-', '‐']).filter(|part| !part.is_empty());
        if count == 1 || (parts().count() > 1 && parts().all(|part| part.chars().count() == 1) && count <= 5) {
            return WordKind::Initials;
        }
        if count <= 4 && !core.contains(['.', '-']) {
            return WordKind::Capitals;
        }
    }
    let named = core.chars().next().is_some_and(char::is_uppercase) || prefixed(core);
    // A full stop inside: an address, or two words that lost their space.
    if named && !core.trim_end_matches('.').contains('.') { WordKind::Name } else { WordKind::Other }
}

/// `d'Alembert`, `al-Rashid`, `vanBerg`.
fn prefixed(core: &str) -> bool {
    let Some((head, tail)) = core.split_once(['\'', '’', '-']) else { return false };
    let head_is_small = head.chars().count() <= 3 && head.chars().all(char::is_lowercase);
    head_is_small && tail.chars().next().is_some_and(char::is_uppercase)
}

/// A year from 1600 to 2099 with or without a letter: `2017`, `2017a`.
pub(in crate::import) fn year(core: &str) -> Option<(i32, Option<char>)> {
    let digits = core.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?;
    let number: i32 = digits.parse().ok().filter(|year| (1600..2100).contains(year))?;
    let mut rest = core[4..].chars();
    match (rest.next(), rest.next()) {
        (None, _) => Some((number, None)),
        (Some(letter @ 'a'..='z'), None) => Some((number, Some(letter))),
        _ => None,
    }
}

/// The first year in a text.
pub(in crate::import) fn first_year(text: &str) -> Option<i32> {
    let digits = |at: usize| text.as_bytes()[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = 0;
    while at < text.len() {
        match digits(at) {
            0 => at += 1,
            4 => {
                let year = text[at..at + 4].parse().ok().filter(|year| (1500..=2100).contains(year));
                if year.is_some() {
                    return year;
                }
                at += 4;
            }
            run => at += run,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<WordKind> {
        words(text).map(|word| word.kind).collect()
    }

    #[test]
    fn words_of_author_lists_are_told_apart() {
        use WordKind::{And, Capitals, Initials, Name, Other, Particle, Suffix, Year};
        assert_eq!(
            kinds("Smith, J.-P. and van Dorn, K (2017a)."),
            [Name, Initials, And, Particle, Name, Initials, Year(2017, Some('a'))]
        );
        assert_eq!(
            kinds("Lee JA, O’Hara Jr. d'Arc of 12 www.x.org"),
            [Name, Capitals, Name, Suffix, Name, Other, Other, Other]
        );
        assert_eq!(kinds("J.K. Smith"), [Initials, Name]);
    }

    #[test]
    fn punctuation_stands_beside_the_word_but_an_initial_keeps_its_dot() {
        let parts: Vec<_> = words("(Smith, J., 2001).").map(|word| (word.before, word.core, word.after)).collect();
        assert_eq!(parts, [("(", "Smith", ","), ("", "J.", ","), ("", "2001", ").")]);
    }

    #[test]
    fn years_are_plausible_and_have_at_most_one_letter() {
        assert_eq!(year("1998"), Some((1998, None)));
        assert_eq!(year("2017b"), Some((2017, Some('b'))));
        for wrong in ["", "199", "1234", "2100", "20171", "2017ab", "2017B", "abcd", "日本語語"] {
            assert_eq!(year(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_year_is_found_in_a_date() {
        assert_eq!(first_year("2004-05-01"), Some(2004));
        assert_eq!(first_year("pp. 12345, May 1999a"), Some(1999));
        assert_eq!(first_year("12 é 20045"), None);
    }
}
