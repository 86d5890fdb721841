//! A reference section cut into its entries: by labels where there are any, else by indents, blank lines, or where a
//! list of authors begins. Where columns were read across each other, labels in square brackets come in any order: each
//! of them parts entries.

use std::collections::{BTreeMap, HashSet};

use super::clean::PaperLine;
use super::heads::{self, cut_into, sentences, starts, window, year_head};
use super::labels::{Label, MOST, NumberStyle, key_year, label, misread};
use super::paragraphs::{Seen, append};
use super::{small_caps, torn};
use crate::import::reference::entry::{BibliographyEntry, read};
use crate::import::reference::words::words;

/// How many labels may be lost in a row.
const LOST: u32 = 3;

/// Whether a text begins as an entry does: with a label, or with authors and a year.
pub(super) fn begins_entry(text: &str) -> bool {
    match label(text) {
        Some((Label::Number(NumberStyle::Bare, _), end)) => year_head(&text[end..]).is_some(),
        Some(_) => true,
        None => year_head(text).is_some(),
    }
}

/// Whether a year stands in a text, by itself or as in `2010;12(3):1-20`.
pub(super) fn has_year(text: &str) -> bool {
    words(text)
        .any(|word| crate::import::reference::words::year(word.core.split(';').next().unwrap_or_default()).is_some())
}

/// Whether a line begins with a label in square brackets.
pub(super) fn is_labelled(text: &str) -> bool {
    text.starts_with('[') && label(text).is_some()
}

/// The number with which a line begins, if it may follow the last one of a list; a year begins no list.
pub(super) fn next_number(text: &str, last: Option<u32>) -> Option<u32> {
    let Label::Number(_, number) = label(text)?.0 else { return None };
    let follows = last.map_or(number < 1600, |last| number > last && number <= last + 1 + LOST);
    (follows && begins_entry(text)).then_some(number)
}

/// Whether a list whose last number is known goes on in the next lines; one without numbers, if any entry begins there.
pub(super) fn goes_on(lines: &[PaperLine], last: Option<u32>) -> bool {
    const NEAR: usize = 8;
    let mut next = (0..lines.len()).filter(|&at| !lines[at].text.is_empty()).take(NEAR);
    next.any(|at| match last {
        Some(_) => next_number(&lines[at].text, last).is_some(),
        None => begins_entry(&window(lines, at)),
    })
}

/// How many entries a list has; none if most of what its lines are cut into is something else, such as sentences. A
/// list with labels in square brackets may have figures in it.
pub(super) fn size(lines: &[PaperLine]) -> usize {
    const LONGEST: usize = 1000;
    let entries = entries(lines, &[]);
    let good = |&(at, entry): &(usize, &BibliographyEntry)| {
        let (dated, signed) = (entry.year.is_some(), !entry.authors.is_empty());
        if entry.number.is_some() || entry.key.is_some() {
            // What stands after a list goes to its last entry.
            return (dated || signed) && (entry.text.len() <= LONGEST || at + 1 == entries.len());
        }
        let titled = entry.title.as_ref().is_none_or(|title| !title.starts_with(char::is_lowercase));
        entry.text.len() <= LONGEST && titled && dated && signed
    };
    let good = entries.iter().enumerate().filter(good).count();
    let labelled = lines.iter().find(|line| !line.text.is_empty()).is_some_and(|line| is_labelled(&line.text));
    let few = if labelled { 3 } else { 2 };
    if good * few >= entries.len() { good } else { 0 }
}

/// The line with which a run of three or more numbered entries begins, in the second half of a paper without a heading.
pub(super) fn run_of_numbers(lines: &[PaperLine]) -> Option<usize> {
    let half = lines.len() / 2;
    let chain = chain(&lines[half..], NumberStyle::Square);
    let first = chain.iter().position(|found| found.number == 1)?;
    let chain = &chain[first..];
    let good = chain.len() >= 3 && {
        let ends = chain.iter().skip(1).map(|next| next.line).chain([lines.len() - half]);
        let dated = chain
            .iter()
            .zip(ends)
            .filter(|(found, end)| lines[half + found.line..half + *end].iter().any(|line| has_year(&line.text)));
        dated.count() * 10 >= chain.len() * 7
    };
    good.then(|| half + chain[0].line)
}

/// A line that begins with a number.
struct Numbered {
    line: usize,
    number: u32,
    /// Where the entry begins in the line.
    start: usize,
}

/// Lines that begin with rising numbers in one form.
fn chain(lines: &[PaperLine], form: NumberStyle) -> Vec<Numbered> {
    let mut chain: Vec<Numbered> = Vec::new();
    for (line, text) in lines.iter().map(|line| line.text.as_str()).enumerate() {
        let next = chain.last().map_or(1, |last| last.number + 1);
        let plain = match label(text) {
            Some((Label::Number(found, number), start)) => (found == form).then_some((number, start)),
            _ if form == NumberStyle::Square => misread(text, &(next..=next + 1)),
            _ => None,
        };
        let Some((number, start)) = plain else { continue };
        let found = Numbered { line, number, start };
        match chain.last() {
            Some(last) if number > last.number && number <= last.number + 1 + LOST => chain.push(found),
            Some(_) if number == 1 && chain.len() < 3 => chain = vec![found],
            Some(_) => {}
            None if number <= 1 + LOST || line == 0 => chain.push(found),
            None => {}
        }
    }
    chain
}

/// All lines that begin with a number in square brackets, each number once; nothing if they are those of the chain.
fn scattered(lines: &[PaperLine], chain: &[Numbered]) -> Vec<Numbered> {
    let mut by_line: BTreeMap<usize, (u32, usize)> =
        chain.iter().map(|found| (found.line, (found.number, found.start))).collect();
    let mut taken: HashSet<u32> = chain.iter().map(|found| found.number).collect();
    let labelled = lines.iter().enumerate().filter_map(|(at, line)| match label(&line.text)? {
        (Label::Number(NumberStyle::Square, number), start) => Some((at, number, start)),
        _ => None,
    });
    let labelled: Vec<(usize, u32, usize)> = labelled.collect();
    // A year in brackets is no label.
    let most = 2 * labelled.len() as u32 + LOST;
    for (at, number, start) in labelled {
        if number <= most && !by_line.contains_key(&at) && taken.insert(number) {
            by_line.insert(at, (number, start));
        }
    }
    if by_line.len() == chain.len() {
        return Vec::new();
    }
    by_line.into_iter().map(|(line, (number, start))| Numbered { line, number, start }).collect()
}

/// Reads the entries of a section.
pub(super) fn entries(lines: &[PaperLine], seen: &[&Seen]) -> Vec<BibliographyEntry> {
    let mended = torn::mended(lines);
    let lines = mended.as_deref().unwrap_or(lines);
    let forms = [NumberStyle::Square, NumberStyle::Dot, NumberStyle::Round, NumberStyle::Bare];
    let chains = forms.map(|form| (form, chain(lines, form)));
    let first = lines.iter().position(|line| !line.text.is_empty()).unwrap_or(0);
    let good = |(form, chain): &&(NumberStyle, Vec<Numbered>)| match form {
        NumberStyle::Square => chain.first().is_some_and(|found| chain.len() > 1 || found.line == first),
        _ => chain.len() > 1 && chain[0].number <= 2 && chain[0].line <= first + 2,
    };
    // The longest chain; of equal ones the plainest form.
    let best = chains.iter().filter(good).rev().max_by_key(|(_, chain)| chain.len());
    if let Some((form, chain)) = best {
        let scattered = if *form == NumberStyle::Square { scattered(lines, chain) } else { Vec::new() };
        return numbered(lines, if scattered.is_empty() { chain } else { &scattered }, *form, seen);
    }
    let keyed: Vec<usize> = (0..lines.len())
        .filter(|&at| matches!(label(&lines[at].text), Some((Label::Key(_) | Label::Names(_), _))))
        .collect();
    if keyed.first() == Some(&first) && keyed.len() * 8 >= lines.len() - first {
        return cut(lines, &keyed, seen);
    }
    let parted = sentences(lines);
    let lines = parted.as_deref().unwrap_or(lines);
    cut(lines, &starts(lines), seen)
}

/// Entries from one start to the next.
fn cut(lines: &[PaperLine], starts: &[usize], seen: &[&Seen]) -> Vec<BibliographyEntry> {
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let texts = starts.iter().zip(ends).map(|(&at, end)| joined(&lines[at..end], seen));
    texts.filter_map(|text| labelled(&text)).collect()
}

fn joined(lines: &[PaperLine], seen: &[&Seen]) -> String {
    let mut text = String::new();
    lines.iter().for_each(|line| append(&mut text, &line.text, seen));
    text
}

/// Reads an entry with its label.
fn labelled(text: &str) -> Option<BibliographyEntry> {
    let (label, end) = label(text).unzip();
    let body = &text[end.unwrap_or(0)..];
    let mut entry = match label {
        // A number that belongs to no list of numbers is a part of the entry.
        Some(Label::Number(NumberStyle::Bare | NumberStyle::Dot, _)) => read(&small_caps::joined(text)),
        _ => read(&small_caps::joined(body)),
    };
    if let Some(Label::Names(year)) = label {
        entry.year = Some(year);
    } else if let Some(Label::Key(key)) = label {
        // Where the entry runs into another, its label has the right year.
        if let Some(year) = key_year(&key).filter(|year| entry.year.is_some_and(|other| other % 100 != year % 100)) {
            entry.year = Some(year);
        }
        entry.key = Some(key);
    }
    (!entry.text.is_empty()).then_some(entry)
}

fn numbered(lines: &[PaperLine], chain: &[Numbered], form: NumberStyle, seen: &[&Seen]) -> Vec<BibliographyEntry> {
    let mut entries = Vec::new();
    let most = chain.iter().map(|found| found.number).max().unwrap_or(0);
    let mut labelled: HashSet<u32> = chain.iter().map(|found| found.number).collect();
    let is_scattered = chain.windows(2).any(|pair| pair[1].number < pair[0].number);
    let mut push = |number: Option<u32>, text: &str| {
        if !text.trim().is_empty() {
            entries.push(BibliographyEntry { number, ..read(&small_caps::joined(text)) });
        }
    };
    for (index, found) in chain.iter().enumerate() {
        let next = chain.get(index + 1);
        let own = &lines[found.line..next.map_or(lines.len(), |next| next.line)];
        let below = next.map_or(MOST, |next| next.number);
        // As many entries as there are numbers, where labels were lost.
        let count = match next {
            Some(next) if !is_scattered => (next.number - found.number) as usize,
            _ => 1,
        };
        if let Some(starts) = (count > 1).then(|| cut_into(own, count)).flatten() {
            let ends = starts.iter().skip(1).copied().chain([own.len()]);
            for ((number, &start), end) in (found.number..).zip(&starts).zip(ends) {
                let text = joined(&own[start..end], seen);
                push(Some(number), if number == found.number { &text[found.start..] } else { &text });
            }
            continue;
        }
        if let Some(starts) = heads::swallowed(own) {
            let ends = starts.iter().skip(1).copied().chain([own.len()]);
            for (index, (&start, end)) in starts.iter().zip(ends).enumerate() {
                let text = joined(&own[start..end], seen);
                match index {
                    0 => push(Some(found.number), &text[found.start..]),
                    _ => push(None, &text),
                }
            }
            continue;
        }
        let text = joined(own, seen);
        let text = &text[found.start..];
        let parts = match is_scattered {
            true => inner_scattered(text, found.number, most, &mut labelled),
            false => inner(text, found.number, below, form),
        };
        parts.into_iter().for_each(|(number, text)| push(Some(number), text));
    }
    entries
}

/// An entry that holds others, where the end of a line was lost: `[1] … [2] …`.
fn inner(text: &str, number: u32, below: u32, form: NumberStyle) -> Vec<(u32, &str)> {
    let mut found = Vec::new();
    let (mut start, mut number, mut from) = (0, number, 0);
    while number + 1 < below && matches!(form, NumberStyle::Square | NumberStyle::Dot) {
        let next = number + 1;
        let mark = if form == NumberStyle::Square { format!(" [{next}] ") } else { format!(". {next}. ") };
        let Some(at) = text[from..].find(&mark).map(|at| from + at) else { break };
        let after = at + mark.len();
        if form == NumberStyle::Dot && !text[after..].starts_with(char::is_uppercase) {
            break;
        }
        found.push((number, &text[start..at + usize::from(form == NumberStyle::Dot)]));
        (start, from, number) = (after, after, next);
    }
    found.push((number, &text[start..]));
    found
}

/// An entry that holds others, whatever their numbers, as far as no line begins with them: `[13] … [25] …`.
fn inner_scattered<'a>(text: &'a str, number: u32, most: u32, labelled: &mut HashSet<u32>) -> Vec<(u32, &'a str)> {
    let mut found = Vec::new();
    let (mut start, mut number) = (0, number);
    for (at, _) in text.match_indices(" [") {
        let Some((Label::Number(NumberStyle::Square, next), length)) = label(&text[at + 1..]) else { continue };
        let after = at + 1 + length;
        let begins = text[after..].starts_with(|c: char| c.is_uppercase() || c == '"' || c == '“');
        if at >= start && begins && next <= most && labelled.insert(next) {
            found.push((number, &text[start..at]));
            (start, number) = (after, next);
        }
    }
    found.push((number, &text[start..]));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str) -> Vec<BibliographyEntry> {
        let lines: Vec<PaperLine> = text
            .lines()
            .map(|raw| PaperLine { text: raw.trim().to_owned(), indent: raw.len() - raw.trim_start().len() })
            .collect();
        entries(&lines, &[])
    }

    fn shown(text: &str) -> Vec<String> {
        let show = |entry: &BibliographyEntry| {
            let label = entry.number.map(|n| n.to_string()).or(entry.key.clone()).unwrap_or_default();
            format!("{label}|{}|{}", entry.authors.join(","), entry.year.unwrap_or(0))
        };
        read_all(text).iter().map(show).collect()
    }

    #[test]
    fn numbered_entries_are_parted_at_their_numbers() {
        let expected = ["1|Smith,Doe|2001", "2|Roe|2002", "3|Poe|2003"];
        let styles = ["[1] ", "1. ", "(1) ", "1 ", "1) "];
        for style in styles {
            let at = |n: usize| style.replace('1', &n.to_string());
            let text = format!(
                "{}J. Smith and A. Doe. A title that goes\nover lines. In Proc. of X, pages 1-12,\n2001.\n{}B. Roe. Another title.\nJournal 12, 2002.\n{}C. Poe. Third title. 2003.",
                at(1),
                at(2),
                at(3)
            );
            assert_eq!(shown(&text), expected, "{style}");
        }
        let one_line =
            "[1] J. Smith and A. Doe. A title. 2001. [2] B. Roe. Another. 2002. [3] C. Poe. Third title. 2003.";
        assert_eq!(shown(one_line), expected);
    }

    #[test]
    fn labels_in_any_order_part_entries_at_lines_and_inside_them() {
        let text = "[1] J. Smith. One title. 2001.\n[5] B. Roe. Another title.\nJournal 12, 2002. [6] D. Low. Sixth. 2006.\n\
                    [2] C. Poe. Third title. See [1999] there. 2003.\n[3] A. Doe. Fourth. 2004.\n[7] E. Coe. Seventh. 2007.\n[4] F. Noe. Last. 2005.";
        assert_eq!(
            shown(text),
            ["1|Smith|2001", "5|Roe|2002", "6|Low|2006", "2|Poe|2003", "3|Doe|2004", "7|Coe|2007", "4|Noe|2005"]
        );
    }

    #[test]
    fn entries_with_keys_keep_them() {
        let text = "[Knu84] D. Knuth. Literate programming.\n1984.\n[SD+01] J. Smith et al. A title. 2001.";
        assert_eq!(shown(text), ["Knu84|Knuth|1984", "SD+01|Smith|2001"]);
        let text =
            "[Knuth, 1984] D. Knuth. Literate programming.\n1984.\n[Smith et al., 2001] J. Smith. A title. 2001.";
        assert_eq!(shown(text), ["|Knuth|1984", "|Smith|2001"]);
    }

    #[test]
    fn entries_without_labels_are_parted_where_authors_and_a_year_stand() {
        let text = "Peter Brown, Stephen Della, and Robert\nMercer. 1993. The mathematics of trees.\nComputational Linguistics, 19(2):263–311.\nStanley Chen. 1996. An empirical study. In\nProceedings of ACL, Santa Cruz.\nSpringer, Berlin.\nSmith, J., & Doe, A. (2001). Title here.\nJournal, 12, 1–20.";
        assert_eq!(shown(text), ["|Brown,Della,Mercer|1993", "|Chen|1996", "|Smith,Doe|2001"]);
        let lost = text.replace('\n', " ");
        assert_eq!(shown(&lost), ["|Brown,Della,Mercer|1993", "|Chen|1996", "|Smith,Doe|2001"]);
    }

    #[test]
    fn indents_blank_lines_and_names_part_entries_whose_year_stands_last() {
        let hanging =
            "J. Smith and A. Doe. A title.\n   In Proc. of X, 2001.\nB. Roe. Another title.\n   Journal 12, 2002.";
        assert_eq!(shown(hanging), ["|Smith,Doe|2001", "|Roe|2002"]);
        assert_eq!(shown(&hanging.replace("   ", "")), ["|Smith,Doe|2001", "|Roe|2002"]);
        let blank = "J. Smith and A. Doe. A title.\nIn Proc. of X, 2001.\n\nB. Roe. Another title.\nJournal 12, 2002.";
        assert_eq!(shown(blank), ["|Smith,Doe|2001", "|Roe|2002"]);
    }

    #[test]
    fn a_list_of_five_thousand_entries_takes_no_longer_than_its_length() {
        let text: String = (1..=5000).map(|n| format!("[{n}] J. Smith. Title number {n}. 2001.\n")).collect();
        assert_eq!(read_all(&text).len(), 5000);
        let text: String =
            (1..=5000).map(|n| format!("Smith, J. and Doe, A. 2001. Title number {n} of them.\n")).collect();
        assert_eq!(read_all(&text).len(), 5000);
        assert_eq!(read_all(&text.replace('\n', " ")).len(), 5000);
    }
}
