//! Citation marks that are labels: `[1]`, `[3-5]`, `[Knuth84]`, `(2)`, and digits that stood above the line.
//!
//! A number in brackets may be an interval, an index or an equation: numbers beyond the list, and marks in a style
//! that the paper hardly uses, are left as they are.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::import::reference::entry::BibliographyEntry;
use crate::import::text::distinct;

/// A mark in a text, and the entries that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundMark {
    /// Its place in the text.
    pub(super) range: Range<usize>,
    /// Entries of the list, in the order of the mark; none if it names what the list does not have.
    pub(super) entries: Vec<usize>,
}

/// Entries by their labels.
pub(super) struct Labels<'a> {
    numbers: HashMap<u32, usize>,
    keys: HashMap<&'a str, usize>,
    /// Keys of several words, without blanks and punctuation.
    long_keys: HashMap<String, usize>,
    most: u32,
}

/// Longest mark in bytes.
const LONGEST: usize = 240;
/// More numbers than any range in a mark has.
pub(super) const WIDEST: u32 = 100;

impl<'a> Labels<'a> {
    /// The labels of a list of entries.
    pub(super) fn new(entries: &'a [BibliographyEntry]) -> Labels<'a> {
        let mut labels = Labels { numbers: HashMap::new(), keys: HashMap::new(), long_keys: HashMap::new(), most: 0 };
        for (at, entry) in entries.iter().enumerate() {
            if let Some(number) = entry.number {
                labels.numbers.entry(number).or_insert(at);
                labels.most = labels.most.max(number);
            }
            if let Some(key) = entry.key.as_deref() {
                labels.keys.entry(key).or_insert(at);
                if key.contains([' ', ',', '-']) {
                    labels.long_keys.entry(letters(key)).or_insert(at);
                }
            }
        }
        labels
    }

    /// Whether most entries have a number.
    pub(super) fn are_numbers(&self, entries: usize) -> bool {
        self.numbers.len() * 2 > entries
    }

    /// Marks in square brackets.
    pub(super) fn square(&self, text: &str) -> Vec<FoundMark> {
        let mut found = Vec::new();
        for (open, _) in text.match_indices('[') {
            let window = window(&text[open + 1..]);
            let Some(close) = window.find(['[', ']']).filter(|&at| window[at..].starts_with(']')) else { continue };
            let inside = &window[..close];
            let range = open..open + close + 2;
            if !self.numbers.is_empty()
                && !is_math(&text[..open], &text[range.end..])
                && let Some(entries) = self.list(inside)
            {
                found.push(FoundMark { range, entries });
            } else if let Some(entries) = self.keys(inside) {
                found.push(FoundMark { range, entries });
            }
        }
        found
    }

    /// Marks in round brackets, `(1, 2)`: only after a word.
    pub(super) fn round(&self, text: &str) -> Vec<FoundMark> {
        let mut found = Vec::new();
        for (open, _) in text.match_indices('(') {
            let window = window(&text[open + 1..]);
            let Some(close) = window.find(['(', ')']).filter(|&at| window[at..].starts_with(')')) else { continue };
            let range = open..open + close + 2;
            let word = last_word(&text[..open]);
            let after_word = word.chars().filter(|c| c.is_lowercase()).count() > 1 && !is_caption(word);
            let goes_on =
                text[range.end..].chars().next().is_some_and(|c| matches!(c, ' ' | '.' | ',' | ';' | ':' | ')'));
            if after_word
                && goes_on
                && let Some(entries) = self.list(&window[..close])
            {
                found.push(FoundMark { range, entries });
            }
        }
        found
    }

    /// Digits that stood above the line: `word12,13`, `word.12`, `word¹²`, `word^12`, `word<sup>12</sup>`.
    pub(super) fn raised(&self, text: &str) -> Vec<FoundMark> {
        let mut found = Vec::new();
        let mut at = 0;
        let mut unsure = Vec::new();
        let opens = |c: char| c.is_ascii_digit() || is_superscript(c) || matches!(c, '^' | '<');
        while let Some(start) = text[at..].find(opens).map(|start| at + start) {
            let (length, numbers) = raised_run(&text[start..]);
            let range = start..start + length;
            at = range.end;
            let ends = |c: char| !c.is_alphanumeric() && !matches!(c, '%' | '°' | '$' | '⁺' | '⁻');
            let plain = text[start..].starts_with(|c: char| c.is_ascii_digit());
            if text[range.end..].chars().next().is_none_or(ends)
                && let Some(entries) = self.list(&numbers)
            {
                let before = &text[..start];
                if is_cited(before, plain) {
                    found.push(FoundMark { range, entries });
                } else if plain && may_cite(before) {
                    unsure.push(FoundMark { range, entries });
                }
            }
        }
        // `Windows7` is no mark where 7 is cited elsewhere, but every entry of a list is cited somewhere.
        let known: HashSet<usize> = found.iter().flat_map(|mark| mark.entries.iter().copied()).collect();
        unsure.retain(|mark| !known.is_empty() && mark.entries.iter().all(|entry| !known.contains(entry)));
        found.append(&mut unsure);
        found
    }

    /// Entries that a list of numbers names: `1, 2`, `3–5`, `1; 4`, `see 3, p. 12`. `None` if it is something else.
    fn list(&self, text: &str) -> Option<Vec<usize>> {
        let text = without_opening(text);
        let mut entries = Vec::new();
        let mut numbers = 0;
        for part in text.split([',', ';', '&']).flat_map(|part| part.split(" and ")) {
            let part = part.trim();
            let part = part.strip_prefix("and ").unwrap_or(part);
            if is_place(part) && numbers > 0 {
                // A place in the cited text follows.
                break;
            }
            let mut ends = part.splitn(2, ['-', '–', '—', '−']).map(str::trim);
            let first = number(ends.next()?)?;
            let last = match ends.next() {
                Some(end) => number(end)?,
                None => first,
            };
            if first == 0 || last > self.most || last < first || last - first > WIDEST {
                return None;
            }
            numbers += 1;
            entries.extend((first..=last).filter_map(|number| self.numbers.get(&number)));
        }
        (numbers > 0).then(|| distinct(entries))
    }

    /// Entries that a list of keys names: `Knuth84`, `Knu84, SD+01`, `Knu84, Section 3`.
    fn keys(&self, text: &str) -> Option<Vec<usize>> {
        if self.keys.is_empty() {
            return None;
        }
        let text = without_opening(text);
        let long = |part: &str| self.long_keys.get(&letters(part)).copied();
        if let Some(entry) = long(text) {
            return Some(vec![entry]);
        }
        let several: Option<Vec<usize>> = text.split(';').map(long).collect();
        if several.is_some() {
            return several.map(distinct);
        }
        let mut entries = Vec::new();
        for part in text.split([',', ';']).map(str::trim) {
            match self.keys.get(part).copied().or_else(|| long(part)) {
                Some(entry) => entries.push(entry),
                None if !entries.is_empty() && is_place(part) => break,
                None => return None,
            }
        }
        (!entries.is_empty()).then(|| distinct(entries))
    }
}

/// The letters and digits of a key, in lower case.
fn letters(key: &str) -> String {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn is_superscript(c: char) -> bool {
    matches!(c, '¹' | '²' | '³' | '⁰' | '⁴'..='⁹')
}

/// The numbers above the line with which a text begins, in plain digits, and how long they are there; at least one
/// character.
fn raised_run(text: &str) -> (usize, String) {
    if let Some(inside) = text.strip_prefix("<sup>") {
        let inside = window(inside);
        return inside.find("</sup>").map_or((5, String::new()), |end| (end + 11, inside[..end].to_owned()));
    }
    let caret = usize::from(text.starts_with('^'));
    let superscript = text.starts_with(is_superscript);
    let plain = |c: char| match c {
        ',' | '-' | '–' => Some(c),
        ' ' if superscript => Some(c),
        '⁻' if superscript => Some('-'),
        _ if superscript => {
            "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().zip('0'..='9').find(|(raised, _)| *raised == c).map(|(_, digit)| digit)
        }
        _ => Some(c).filter(char::is_ascii_digit),
    };
    let run = window(&text[caret..]);
    let run = run[..run.find(|c| plain(c).is_none()).unwrap_or(run.len())].trim_end_matches([',', ' ']);
    ((caret + run.len()).max(1), run.chars().filter_map(plain).collect())
}

/// Whether numbers above the line may cite after this text: a lower-case word stands there, or a sentence ends. Other
/// than plain digits they may follow a capital, but no name (`Anna Doe¹`).
fn is_cited(before: &str, plain: bool) -> bool {
    let stem = before.trim_end_matches(['.', ',', ';', ':', '?', '!', ')', '”', '"']);
    let closing = &before[stem.len()..];
    let word = stem.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let named = last_word(&stem[..stem.len() - word.len()]).starts_with(char::is_uppercase);
    let capital = closing.contains(['.', '?', '!', '”', '"']) || !plain && !named;
    let small = word.chars().skip(usize::from(capital)).all(char::is_lowercase);
    let power = closing.is_empty() && is_unit(word);
    word.chars().nth(1).is_some() && small && !power && !is_part(word)
}

/// Whether a number that is not cited otherwise may cite after this text: after a name.
fn may_cite(before: &str) -> bool {
    let word = before.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let small = word.chars().skip(1).all(char::is_lowercase);
    word.chars().nth(2).is_some() && small && !is_caption(word) && !is_part(word)
}

/// Words that numbers of figures, equations and sections follow.
const NUMBERED: [&str; 9] = ["eq", "eqs", "eqn", "equation", "equations", "fig", "figure", "table", "section"];

/// Parts of a work, after which a digit is theirs.
fn is_part(word: &str) -> bool {
    const OTHERS: [&str; 19] = [
        "figs", "figures", "tab", "tables", "sec", "sect", "sections", "chapter", "chap", "ch", "appendix", "no",
        "nos", "nr", "vol", "vols", "pp", "ref", "refs",
    ];
    let word = word.to_lowercase();
    NUMBERED.contains(&word.as_str()) || OTHERS.contains(&word.as_str())
}

/// The share of the entries that marks name.
pub(super) fn coverage(marks: &[FoundMark], entries: usize) -> f64 {
    let named: HashSet<usize> = marks.iter().flat_map(|mark| mark.entries.iter().copied()).collect();
    named.len() as f64 / entries.max(1) as f64
}

fn window(text: &str) -> &str {
    let end = (0..=text.len().min(LONGEST)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    &text[..end]
}

fn number(text: &str) -> Option<u32> {
    (text.len() <= 5 && !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

/// `see`, `e.g.,` and the like before a citation.
pub(super) fn without_opening(text: &str) -> &str {
    let mut rest = text.trim_start();
    'again: loop {
        for word in [
            "see also",
            "see, e.g.",
            "see e.g.",
            "see",
            "See",
            "e.g.",
            "e. g.",
            "i.e.",
            "cf.",
            "Cf.",
            "also",
            "for example",
            "for instance",
            "and",
            "ref.",
            "refs.",
            "Ref.",
            "Refs.",
        ] {
            if let Some(after) = rest.strip_prefix(word)
                && after.starts_with([' ', ',', ':'])
            {
                rest = after.trim_start_matches([' ', ',', ':']);
                continue 'again;
            }
        }
        return rest;
    }
}

/// Whether a text is a place in the cited work: `p. 12`, `Section 3`, `§2`.
pub(super) fn is_place(text: &str) -> bool {
    const PLACES: [&str; 24] = [
        "p.", "pp.", "page", "pages", "sec", "sect", "section", "sections", "chap", "ch.", "chapter", "chapters", "§",
        "fig", "figure", "table", "theorem", "thm", "lemma", "eq", "vol", "appendix", "prop", "cor",
    ];
    let text = text.trim_start().to_lowercase();
    PLACES.iter().any(|place| text.starts_with(place))
        || text.strip_prefix('p').is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()))
}

/// Units and functions, after which a digit above the line is a power.
fn is_unit(word: &str) -> bool {
    const UNITS: [&str; 32] = [
        "mm", "cm", "dm", "km", "nm", "kg", "mg", "ml", "ft", "in", "log", "ln", "exp", "sin", "cos", "tan", "min",
        "mol", "sec", "ms", "yd", "mi", "chi", "sigma", "alpha", "beta", "gamma", "delta", "lambda", "rho", "tau",
        "theta",
    ];
    UNITS.contains(&word)
}

/// The last word of a text, if nothing but a blank stands after it.
fn last_word(text: &str) -> &str {
    let from = (text.len().saturating_sub(64)..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let text = &text[from..];
    let text = text.strip_suffix([' ', '\n']).unwrap_or(text);
    text.rsplit(|c: char| c.is_whitespace()).next().unwrap_or_default()
}

/// Words after which a number in brackets is that of a figure, an equation, a part.
fn is_caption(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    let others = ["step", "case", "line", "by", "in", "from", "rule", "example", "examples", "sentence", "item", "of"];
    NUMBERED.contains(&word.as_str()) || others.contains(&word.as_str())
}

/// Whether brackets hold an interval or an index: after `∈`, `=`, `range`, a single letter, or before `×`.
fn is_math(before: &str, after: &str) -> bool {
    let glued = before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '}' | '_' | '^'));
    let word = last_word(before);
    if glued {
        // `method[12]` lost its blank; `a[1]`, `x2[3]` and `f(x)[1]` are indices.
        let letters = word.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        return letters.chars().count() < 3;
    }
    let sign = word.ends_with(['∈', '=', '≤', '≥', '<', '>', '×', '⊂', '⊆', '+', '∪', '∩', '→', '*', '·']);
    let said = ["interval", "intervals", "range", "between", "ranges", "domain", "segment"]
        .contains(&word.to_lowercase().as_str());
    let goes_on = after.trim_start().starts_with(['×', '∪', '^', '∩', '→']);
    sign || said || goes_on
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(count: u32) -> Vec<BibliographyEntry> {
        (1..=count).map(|number| BibliographyEntry { number: Some(number), ..BibliographyEntry::default() }).collect()
    }

    fn shown(text: &str, found: &[FoundMark]) -> Vec<String> {
        let numbers =
            |mark: &FoundMark| mark.entries.iter().map(|at| (at + 1).to_string()).collect::<Vec<_>>().join(" ");
        found.iter().map(|mark| format!("{}={}", &text[mark.range.clone()], numbers(mark))).collect()
    }

    #[test]
    fn intervals_indices_and_numbers_beyond_the_list_are_no_marks() {
        let list = entries(9);
        let labels = Labels::new(&list);
        for text in [
            "in [0, 1]",
            "x ∈ [1, 2]",
            "the interval [1, 2]",
            "a[1]",
            "x2[3]",
            "[10]",
            "[5-3]",
            "[1, 2",
            "[[1]x",
            "[1, x]",
            "= [1, 2]",
            "[]",
            "[1, 2] × [1, 3]",
        ] {
            let found = labels.square(text);
            let none = found.iter().all(|mark| {
                text == "[1, 2] × [1, 3]" && mark.range.start > 0 || text == "[[1]x" && mark.range.start == 1
            });
            assert!(none, "{text}: {found:?}");
        }
    }

    #[test]
    fn digits_glued_to_words_are_marks_but_formulas_and_decimals_are_none() {
        let list = entries(30);
        let labels = Labels::new(&list);
        let text = "shown before12,13 and later.14 In CO2 and H2O 3.5 of 20, x2 alpha2b model3";
        assert_eq!(shown(text, &labels.raised(text)), ["12,13=12 13", "14=14", "3=3"]);
    }

    #[test]
    fn superscripts_carets_and_tags_are_marks_like_digits_glued_to_words() {
        let list = entries(30);
        let labels = Labels::new(&list);
        let text = "is old.¹,² Others³ so⁴⁻⁶ or¹², ¹³ by some^1,2 and more<sup>5, 7–8</sup> of these^9–11.";
        let marks =
            ["¹,²=1 2", "³=3", "⁴⁻⁶=4 5 6", "¹², ¹³=12 13", "^1,2=1 2", "<sup>5, 7–8</sup>=5 7 8", "^9–11=9 10 11"];
        assert_eq!(shown(text, &labels.raised(text)), marks);
        for text in [
            "10⁻⁶ cm⁻¹ cm² x² R² Anna Doe¹, B. Roe,² ion²⁺ chi² old¹x old³¹",
            "x^2 cm^2 sigma^2 word^ word^^1 m<sup>2</sup> word<sup>th</sup> word<sup> word<5 word<sup>1",
        ] {
            assert_eq!(shown(text, &labels.raised(text)), [""; 0]);
        }
    }

    #[test]
    fn digits_glued_to_captions_and_names_are_no_marks() {
        let list = entries(30);
        let labels = Labels::new(&list);
        let text = "Figure2 Table1 Section3 Equation5 Covid3 Windows7 figure2 table1 sections3 Fig.2 No.3 vol.4 Doe1 Doe,2 word4-based";
        assert_eq!(shown(text, &labels.raised(text)), [""; 0]);
        let text = "in Paris.3 He asked why?4 “So it goes.”5 (as before)6 a proof of7 it";
        assert_eq!(shown(text, &labels.raised(text)), ["3=3", "4=4", "5=5", "6=6", "7=7"]);
    }
}
