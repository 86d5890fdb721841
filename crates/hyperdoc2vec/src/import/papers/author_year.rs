//! Citation marks that name authors and years: `(Smith et al., 2018; Doe, 2017a)`, `Smith and Doe (2018)`.
//!
//! A year in brackets is looked at with the names before it; a mark is what fits an entry of the list, or at least
//! looks like nothing else.

use super::cited_names::{CitedNames, names};
use super::marks::{FoundMark, is_place, without_opening};
use super::people::People;
use crate::import::reference::words::{WordKind, words, year};
use crate::import::text::distinct;

/// Longest bracket in bytes.
const LONGEST: usize = 700;

impl People<'_> {
    /// All marks of a text, in order.
    pub(super) fn marks(&self, text: &str) -> Vec<FoundMark> {
        let mut found: Vec<FoundMark> = Vec::new();
        for (open, bracket) in text.match_indices(['(', '[', '{']) {
            let from = open + 1;
            let end =
                (from..=text.len().min(from + LONGEST)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(from);
            let Some(length) = text[from..end].find(['(', ')', '[', ']', '{', '}', '\n']) else { continue };
            let inside = &text[from..from + length];
            if !text[from + length..].starts_with([')', ']', '}']) {
                continue;
            }
            if !inside.bytes().any(|b| b.is_ascii_digit()) {
                found.extend(self.undated(text, open, from + length + 1));
                continue;
            }
            let first = inside.trim_start();
            let narrative = words(first).next().is_some_and(|word| {
                let digits = word.core.bytes().take_while(u8::is_ascii_digit).count();
                let short = short_year(word.core).is_some() && digits == 2 && word.end == first.len();
                // `1986,1988`
                let several = digits == 4 && year(&word.core[..4]).is_some() && word.core[4..].starts_with([',', ';']);
                (matches!(word.kind, WordKind::Year(..)) || short || several) && word.before.is_empty()
            });
            let mut marks = match narrative {
                true => self.narrative(text, open, from + length + 1).into_iter().collect(),
                false => self.bracket(text, open, from + length + 1),
            };
            // A bracket that was misread is one where it names an entry.
            let close = [("(", ')'), ("[", ']')].into_iter().find(|(open, _)| *open == bracket).map(|(_, close)| close);
            if !close.is_some_and(|close| text[from + length..].starts_with(close)) {
                marks.retain(|mark| !mark.entries.is_empty());
            }
            found.append(&mut marks);
        }
        found
    }

    /// `(Smith, this volume)`, `Smith and Doe (in press)`: the one entry of these authors.
    fn undated(&self, text: &str, open: usize, end: usize) -> Option<FoundMark> {
        let inside = &text[open + 1..end - 1];
        let entry = match undated_place(inside)?.trim_matches(|c: char| !c.is_alphanumeric()) {
            "" | "in" => {
                let from = (open.saturating_sub(120)..=open).find(|&at| text.is_char_boundary(at)).unwrap_or(open);
                self.find_elsewhere(&names(&text[from..open])?, |_| true)?
            }
            _ => {
                self.undated_names(inside).filter(|(start, _)| without_opening(&inside[..*start]).trim().is_empty())?.1
            }
        };
        Some(FoundMark { range: open..end, entries: vec![entry] })
    }

    /// Where the names begin before `this volume` and the like, and their one entry.
    fn undated_names(&self, text: &str) -> Option<(usize, usize)> {
        let cited = names(undated_place(text)?.trim_end_matches([' ', ',']))?;
        Some((cited.start, self.find_elsewhere(&cited, |_| true)?))
    }

    /// `Smith and Doe (2018, 2019)`: the names stay, the bracket is the mark.
    fn narrative(&self, text: &str, open: usize, end: usize) -> Option<FoundMark> {
        let from = (open.saturating_sub(300)..=open).find(|&at| text.is_char_boundary(at)).unwrap_or(open);
        let from = text[from..open].rfind('\n').map_or(from, |at| from + at + 1);
        let names = names(&text[from..open])?;
        let inside = &text[open + 1..end - 1];
        let mut entries = Vec::new();
        let mut last = None;
        for part in inside.split([',', ';', '&']).flat_map(|part| part.split(" and ")).map(str::trim) {
            let letter = part.chars().next().filter(|_| part.len() == 1).filter(char::is_ascii_lowercase);
            match (year(part).or_else(|| self.full(short_year(part)?)), letter, last) {
                (Some((year, letter)), ..) => {
                    entries.extend(self.find(&names, year, letter));
                    last = Some(year);
                }
                // `2018a, b`
                (None, Some(letter), Some(year)) => entries.extend(self.find(&names, year, Some(letter))),
                (None, None, Some(_))
                    if is_place(part) || part.is_empty() || part.starts_with(|c: char| c.is_ascii_digit()) =>
                {
                    break;
                }
                _ => return None,
            }
        }
        // A year after a name that fits no entry may be anything: `Rome (1960)`.
        (!entries.is_empty()).then(|| FoundMark { range: open..end, entries: distinct(entries) })
    }

    /// `(see Smith et al., 2018; Doe, 2017a, p. 5)`.
    fn bracket(&self, text: &str, open: usize, end: usize) -> Vec<FoundMark> {
        let inside = parted(&text[open + 1..end - 1]);
        let inside = inside.as_str();
        let base = open + 1;
        // One part a year: names, the year, the place.
        let mut parts: Vec<FoundMark> = Vec::new();
        let mut last: Option<(CitedNames, i32)> = None;
        let mut from = 0;
        let mut foreign = false;
        let mut unknown = 0;
        for word in words(inside) {
            let trimmed = word.core.trim_end_matches(|c: char| !c.is_alphanumeric());
            let (found, rest) = match (word.kind, &last) {
                (WordKind::Year(year, letter), _) => (Some((year, letter)), ""),
                // `2018a,b` and `2018/2019`
                (WordKind::Other, _) if trimmed.get(..4).is_some_and(|start| year(start).is_some()) => {
                    let length = trimmed.find([',', '/', ';']).unwrap_or(trimmed.len());
                    (year(&trimmed[..length]), trimmed.get(length + 1..).unwrap_or_default())
                }
                // `90`, `Doe90`
                _ if short_year(word.core).is_some() => (short_year(word.core).and_then(|short| self.full(short)), ""),
                (WordKind::Other | WordKind::Initials | WordKind::Particle, Some((_, year)))
                    if trimmed.len() == 1 && from <= word.start && !is_place(&inside[word.start..]) =>
                {
                    let gap = inside[from..word.start].trim_matches([' ', ',']);
                    let letter = trimmed.chars().next().filter(char::is_ascii_lowercase);
                    (letter.filter(|_| gap.is_empty()).map(|letter| (*year, Some(letter))), "")
                }
                _ => (None, ""),
            };
            let Some((year, letter)) = found else { continue };
            let glued = word.core.len() - word.core.trim_start_matches(|c: char| c.is_alphabetic() || c == '-').len();
            let split = word.start + word.before.len() + glued;
            let short = word.kind != WordKind::Year(year, letter) && short_year(word.core).is_some();
            let segment = if glued > 0 { inside[from..split].trim_end_matches('-') } else { &inside[from..word.start] };
            let lead = segment.trim_start_matches([' ', ',', ';']);
            let names =
                if lead.trim().is_empty() || matches!(lead.trim(), "and" | "&") { None } else { names(segment) };
            let start = match (&names, &last) {
                (Some(names), _) => from + names.start,
                (None, Some(_)) if lead.trim().is_empty() || matches!(lead.trim(), "and" | "&") => from,
                _ => {
                    // A year that no name stands before.
                    foreign = true;
                    from = word.end;
                    last = None;
                    continue;
                }
            };
            let (place, before) = after_place(&inside[from..start]);
            if let Some(last) = parts.last_mut().filter(|last| last.range.end == base + from) {
                last.range.end += place;
            }
            let before = without_opening(before.trim_start_matches([' ', ',', ';']));
            foreign |= !before.trim_matches(|c: char| !c.is_alphanumeric()).is_empty();
            let all = names.or_else(|| last.take().map(|(names, _)| names));
            let Some(all) = all else { continue };
            let mut entries: Vec<usize> = self.find(&all, year, letter).into_iter().collect();
            if short && entries.is_empty() {
                // Two digits may be anything else.
                foreign = true;
                from = word.end;
                last = None;
                continue;
            }
            for part in rest.split([',', '/']).map(str::trim).filter(|part| !part.is_empty()) {
                let letter = part.chars().next().filter(|_| part.len() == 1);
                let (year, letter) = crate::import::reference::words::year(part).unwrap_or((year, letter));
                entries.extend(self.find(&all, year, letter));
            }
            unknown += usize::from(entries.is_empty());
            from = word.end;
            parts.push(FoundMark { range: base + start..base + word.end, entries });
            last = Some((all, year));
        }
        if let Some((names, entry)) = self.undated_names(&inside[from..]) {
            parts.push(FoundMark { range: base + from + names..end - 1, entries: vec![entry] });
            from = inside.len();
        }
        let tail = inside[from..].trim_matches([' ', ',', ';', '.']);
        let place = tail.is_empty()
            || is_place(tail)
            || tail.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | '–' | ' ' | ':'));
        foreign |= !place;
        let Some(last) = parts.last_mut() else { return Vec::new() };
        if place && !tail.is_empty() {
            last.range.end = end - 1;
        }
        let known = parts.len() - unknown;
        if known == 0 && (foreign || parts.iter().any(|part| text[part.range.clone()].split(' ').count() > 12)) {
            return Vec::new();
        }
        if !foreign {
            let entries = distinct(parts.iter().flat_map(|part| part.entries.iter().copied()));
            return vec![FoundMark { range: open..end, entries }];
        }
        parts.retain(|part| !part.entries.is_empty());
        parts
    }
}

/// The text before words that are said instead of a year.
fn undated_place(text: &str) -> Option<&str> {
    let said = ["this volume", "these proceedings", "in press", "to appear", "submitted", "forthcoming"];
    let lower = text.to_ascii_lowercase();
    said.iter().find_map(|words| lower.find(words)).map(|at| &text[..at])
}

/// The last two digits of a year at the end of a word, and its letter: `90`, `'90a`, `Doe-90`, `Doe90`.
fn short_year(word: &str) -> Option<(i32, Option<char>)> {
    let letter = word.chars().next_back().filter(char::is_ascii_lowercase);
    let digits = word.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(word);
    let names = digits.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = digits[names.len()..].parse().ok().filter(|_| digits.len() - names.len() == 2)?;
    let name = names.trim_end_matches(['-', '\'', '’', ',']);
    let named = name.is_empty() || name.chars().count() > 2 && name.chars().all(|c| c.is_alphabetic() || c == '-');
    named.then_some((number, letter))
}

/// The text of a bracket with a blank for the comma between a name and a year: `Doe,1989a`.
fn parted(text: &str) -> String {
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        let after = chars.peek().copied().unwrap_or(' ');
        let comma = c == ',' && (before.is_alphabetic() || before == '.') && after.is_ascii_digit();
        let next = matches!(c, ';' | ',') && before.is_alphanumeric() && after.is_uppercase();
        let next = next && (c == ';' || before.is_ascii_digit());
        out.push(if comma || next { ' ' } else { c });
        before = c;
    }
    out
}

/// How long the place is with which a text begins (`, p. 4; see Doe`), and what follows it.
fn after_place(text: &str) -> (usize, &str) {
    let said = text.trim_start_matches([' ', ',', ';']);
    if !is_place(said) {
        return (0, text);
    }
    let start = text.len() - said.len();
    let end = said.find([';', ',']).map_or(text.len(), |length| start + length);
    (end, &text[end..])
}
