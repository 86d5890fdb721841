//! Labels of entries in a reference list: `[1]`, `2.`, `[Knuth84]`, also where a scanner misread them.

use std::ops::RangeInclusive;

use crate::import::reference::words::year;

/// The label that an entry may begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Label {
    Number(NumberStyle, u32),
    /// `[Knuth84]`
    Key(String),
    /// `[Smith et al., 2001]`: the year.
    Names(i32),
}

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberStyle {
    /// `[1]`
    Square,
    /// `(1)`, `1)`
    Round,
    /// `1.`
    Dot,
    /// `1 Smith`
    Bare,
}

/// More numbers than any list has.
pub(super) const MOST: u32 = 20_000;

/// The label with which a line begins, and where the entry itself begins.
pub(super) fn label(text: &str) -> Option<(Label, usize)> {
    let trimmed = |length: usize| length + (text[length..].len() - text[length..].trim_start().len());
    if let Some(inside) = text.strip_prefix('[') {
        let close = inside.find(']').filter(|&close| close <= 120)?;
        let (inside, end) = (&inside[..close], trimmed(close + 2));
        let content = inside.trim();
        if let Some(number) = number(content) {
            return Some((Label::Number(NumberStyle::Square, number), end));
        }
        let has = |test: fn(char) -> bool| content.chars().any(test);
        let mut years = content.split(|c: char| !c.is_alphanumeric()).filter_map(year);
        if let Some((year, _)) = years.next().filter(|_| content.contains([' ', ',', '('])) {
            return Some((Label::Names(year), end));
        }
        if content.len() <= 60
            && content.contains([' ', ',', '-'])
            && (is_dated(content) || content.ends_with(" this volume"))
        {
            return Some((Label::Key(content.to_owned()), end));
        }
        let short = content.len() <= 24 && !content.contains([' ', ',', '=', '(']);
        return (short && has(char::is_alphabetic)).then(|| (Label::Key(content.to_owned()), end));
    }
    let opened = text.starts_with('(');
    let rest = &text[usize::from(opened)..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = number(&rest[..digits])?;
    let after = &rest[digits..];
    let at = usize::from(opened) + digits;
    if after.starts_with(')') {
        return Some((Label::Number(NumberStyle::Round, number), trimmed(at + 1)));
    }
    if opened {
        return None;
    }
    let next = after.trim_start_matches(['.', ' ']).chars().next()?;
    let opens = next.is_uppercase() || !next.is_ascii() || matches!(next, '"' | '\'' | 'd' | 'v');
    match after.as_bytes() {
        [b'.', b' ', ..] if opens => Some((Label::Number(NumberStyle::Dot, number), trimmed(at + 1))),
        [b' ', ..] if opens => Some((Label::Number(NumberStyle::Bare, number), trimmed(at))),
        [b'.', ..] if next.is_uppercase() => Some((Label::Number(NumberStyle::Dot, number), trimmed(at + 1))),
        _ => None,
    }
}

fn number(text: &str) -> Option<u32> {
    let good = (1..=5).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    good.then(|| text.parse().ok())?.filter(|number| (1..=MOST).contains(number))
}

/// Whether a key is names and the last two digits of a year: `Doe & Roe 90`, `Doe, 90a`, `B,C,91`.
fn is_dated(content: &str) -> bool {
    let bare = content.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(content);
    let Some(names) = bare.len().checked_sub(2).and_then(|at| bare.get(..at)) else { return false };
    let digits = bare[names.len()..].bytes().all(|b| b.is_ascii_digit());
    let named = |c: char| c.is_alphabetic() || matches!(c, ' ' | ',' | '.' | '&' | '-' | '+' | '\'' | '’' | '(');
    digits && names.chars().all(named) && names.starts_with(char::is_alphabetic) && names.chars().count() > 1
}

/// The year that a key of names ends with: `Doe 90`.
pub(super) fn key_year(key: &str) -> Option<i32> {
    let bare = key.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(key);
    let short: i32 = bare.get(bare.len().checked_sub(2)?..)?.parse().ok()?;
    let year = if short < 40 { 2000 + short } else { 1900 + short };
    (key.contains([' ', ',', '-']) && is_dated(key)).then_some(year)
}

/// A number in square brackets as a scanner may have read it, if it is one of those `expected`, and where the entry
/// begins: `[l0]`, `[1O)`, `{12]`, and `[121 Doe`, whose bracket became a digit.
pub(super) fn misread(text: &str, expected: &RangeInclusive<u32>) -> Option<(u32, usize)> {
    let inside = text.strip_prefix(['[', '{', '('])?;
    let proper = text.starts_with('[');
    let mut value = 0;
    let mut digits = 0;
    let end = |at: usize| {
        let rest = &inside[at..];
        text.len() - rest.trim_start_matches([' ', '.']).len()
    };
    for (at, c) in inside.char_indices() {
        if matches!(c, ']' | ')' | '}') {
            let good = digits > 0 && (proper || c == ']') && expected.contains(&value);
            return good.then(|| (value, end(at + 1)));
        }
        if c == ' ' && digits == 0 {
            continue;
        }
        let Some(digit) = digit(c).filter(|_| digits < 5) else {
            // The bracket was read as a digit.
            let lost = c == ' ' && digits > 1 && proper && value % 10 == 1 && expected.contains(&(value / 10));
            let inner = c == ' ' && inside[at..].trim_start().starts_with(|c| digit(c).is_some());
            if inner && !lost {
                continue;
            }
            return lost.then(|| (value / 10, end(at)));
        };
        value = value * 10 + digit;
        digits += 1;
    }
    None
}

/// A digit, or a letter that is taken for one.
fn digit(c: char) -> Option<u32> {
    match c {
        'o' | 'O' | 'Q' => Some(0),
        'l' | 'I' | 'i' | '|' | '!' | 'J' => Some(1),
        'z' | 'Z' => Some(2),
        's' | 'S' => Some(5),
        'B' => Some(8),
        c => c.to_digit(10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_two_digits_of_a_year_are_keys() {
        for key in ["Doe 90", "Doe & Roe 90a", "B,C,91", "DOE, 88", "Doe-88", "Doe, this volume"] {
            let text = format!("[{key}] J. Doe.");
            let expected = (Label::Key(key.to_owned()), key.len() + 3);
            assert_eq!(label(&text), Some(expected), "{key}");
        }
        for other in ["[in Russian, 12 pages]", "[1, 20]", "[see also 3]", "[x = 20]"] {
            assert_eq!(label(other), None, "{other}");
        }
    }

    #[test]
    fn a_misread_number_is_known_where_it_is_expected() {
        for (text, number) in [
            ("[l0] Doe", 10),
            ("[1O) Doe", 10),
            ("{12] Doe", 12),
            ("[121 Doe", 12),
            ("[ 3] Doe", 3),
            ("[ l 0] Doe", 10),
        ] {
            let found = misread(text, &(number..=number));
            assert_eq!(found.map(|(number, end)| (number, &text[end..])), Some((number, "Doe")), "{text}");
            assert_eq!(misread(text, &(number + 1..=number + 3)), None, "{text}");
        }
        for other in ["", "[", "[]", "(10) Doe", "Doe", "[x] Doe", "[1234567] Doe"] {
            assert_eq!(misread(other, &(1..=20)), None, "{other}");
        }
    }
}
