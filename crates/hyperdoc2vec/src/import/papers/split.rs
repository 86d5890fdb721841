//! A reference section cut into its entries: by labels where there are any, else by indents, blank lines, or where a
//! list of authors begins.

use super::clean::PaperLine;
use super::paragraphs::{Seen, append};
use crate::import::reference::entry::{BibliographyEntry, read};
use crate::import::reference::names::{Closed, authors};
use crate::import::reference::words::{WordKind, words};

/// The label that an entry may begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Label {
    Number(NumberStyle, u32),
    /// `[Knuth84]`
    Key(String),
    /// `[Smith et al., 2001]`
    Names,
}

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberStyle {
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
const MOST: u32 = 20_000;
/// How many labels may be lost in a row.
const LOST: u32 = 3;

/// The label with which a line begins, and where the entry itself begins.
fn label(text: &str) -> Option<(Label, usize)> {
    let trimmed = |length: usize| length + (text[length..].len() - text[length..].trim_start().len());
    if let Some(inside) = text.strip_prefix('[') {
        let close = inside.find(']').filter(|&close| close <= 120)?;
        let (inside, end) = (&inside[..close], trimmed(close + 2));
        let content = inside.trim();
        if let Some(number) = number(content) {
            return Some((Label::Number(NumberStyle::Square, number), end));
        }
        let has = |test: fn(char) -> bool| content.chars().any(test);
        let year = content
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| crate::import::reference::words::year(word).is_some());
        if year && content.contains([' ', ',', '(']) {
            return Some((Label::Names, end));
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

/// Whether a text begins as an entry does: with a label, or with authors and a year.
pub(super) fn begins_entry(text: &str) -> bool {
    match label(text) {
        Some((Label::Number(NumberStyle::Bare, _), end)) => year_head(&text[end..]).is_some(),
        Some(_) => true,
        None => year_head(text).is_some(),
    }
}

/// The length of a list of authors with a year right after it.
fn year_head(text: &str) -> Option<usize> {
    let text = start(text, 600);
    let first = words(text).next()?;
    if !matches!(first.kind, WordKind::Name | WordKind::Initials | WordKind::Particle | WordKind::Capitals)
        || first.core.is_empty()
        || is_publisher(first.core)
    {
        return None;
    }
    let list = authors(text);
    if list.surnames.is_empty() || list.surnames.iter().any(|name| name.split(' ').any(is_publisher)) {
        return None;
    }
    let rest = text[list.end..].trim_start_matches([' ', '(', '[', ',', '.']);
    let year = words(rest).next().filter(|word| matches!(word.kind, WordKind::Year(..)))?;
    let at = text.len() - rest.len() + year.end;
    // `Springer, Berlin, 1999, 12` and page ranges are no heads; a title must follow.
    let after = text[at..].trim_start();
    let opens = after.chars().next().is_none_or(|c| !c.is_ascii_digit());
    // `Doe (2001) showed that` is a sentence.
    let said = after.starts_with(char::is_lowercase) && !year.after.contains(['.', ',', ':', ';']);
    (opens && !said && !year.after.starts_with(['-', '–'])).then_some(at)
}

fn is_publisher(word: &str) -> bool {
    const PUBLISHERS: [&str; 26] = [
        "Springer",
        "Press",
        "University",
        "Academic",
        "Elsevier",
        "Kluwer",
        "Wiley",
        "Cambridge",
        "Oxford",
        "MIT",
        "Proceedings",
        "Proc",
        "Journal",
        "Conference",
        "Transactions",
        "Association",
        "Linguistics",
        "Technical",
        "Report",
        "Thesis",
        "Publishers",
        "Verlag",
        "ACM",
        "IEEE",
        "Workshop",
        "In",
    ];
    PUBLISHERS.contains(&word.trim_end_matches('.'))
}

/// Authors at the start of a text, the year being elsewhere: `J. Smith and A. Doe. Title`.
fn name_head(text: &str) -> bool {
    let list = authors(start(text, 600));
    let initials = words(text).take(3).any(|word| matches!(word.kind, WordKind::Initials | WordKind::Capitals));
    let several = list.surnames.len() > 1 || initials;
    several && list.closed != Closed::Nothing && !list.surnames.iter().any(|name| name.split(' ').any(is_publisher))
}

/// The first bytes of a text, up to a boundary of characters.
fn start(text: &str, most: usize) -> &str {
    let end = (0..=text.len().min(most)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    &text[..end]
}

/// Whether a year stands in a text, by itself or as in `2010;12(3):1-20`.
pub(super) fn has_year(text: &str) -> bool {
    words(text)
        .any(|word| crate::import::reference::words::year(word.core.split(';').next().unwrap_or_default()).is_some())
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

/// How many entries a list has; none if most of what its lines are cut into is something else, such as sentences.
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
    if good * 2 >= entries.len() { good } else { 0 }
}

/// The line with which a run of three or more numbered entries begins, in the second half of a paper without a heading.
pub(super) fn run_of_numbers(lines: &[PaperLine]) -> Option<usize> {
    let half = lines.len() / 2;
    let chain = chain(&lines[half..], NumberStyle::Square);
    let first = chain.iter().position(|(_, number)| *number == 1)?;
    let chain = &chain[first..];
    let good = chain.len() >= 3 && {
        let ends = chain.iter().skip(1).map(|(at, _)| *at).chain([lines.len() - half]);
        let dated = chain
            .iter()
            .zip(ends)
            .filter(|((at, _), end)| lines[half + at..half + *end].iter().any(|line| has_year(&line.text)));
        dated.count() * 10 >= chain.len() * 7
    };
    good.then(|| half + chain[0].0)
}

/// Lines that begin with rising numbers in one form.
fn chain(lines: &[PaperLine], form: NumberStyle) -> Vec<(usize, u32)> {
    let mut chain: Vec<(usize, u32)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((Label::Number(found, number), _)) = label(&line.text) else { continue };
        if found != form {
            continue;
        }
        match chain.last() {
            Some(&(_, last)) if number > last && number <= last + 1 + LOST => chain.push((at, number)),
            Some(_) if number == 1 && chain.len() < 3 => chain = vec![(at, 1)],
            Some(_) => {}
            None if number <= 1 + LOST || at == 0 => chain.push((at, number)),
            None => {}
        }
    }
    chain
}

/// Reads the entries of a section.
pub(super) fn entries(lines: &[PaperLine], seen: &[&Seen]) -> Vec<BibliographyEntry> {
    let forms = [NumberStyle::Square, NumberStyle::Dot, NumberStyle::Round, NumberStyle::Bare];
    let chains = forms.map(|form| (form, chain(lines, form)));
    let first = lines.iter().position(|line| !line.text.is_empty()).unwrap_or(0);
    let good = |(form, chain): &&(NumberStyle, Vec<(usize, u32)>)| match form {
        NumberStyle::Square => chain.first().is_some_and(|&(at, _)| chain.len() > 1 || at == first),
        _ => chain.len() > 1 && chain[0].1 <= 2 && chain[0].0 <= first + 2,
    };
    // The longest chain; of equal ones the plainest form.
    let best = chains.iter().filter(good).rev().max_by_key(|(_, chain)| chain.len());
    if let Some((form, chain)) = best {
        return numbered(lines, chain, *form, seen);
    }
    let keyed: Vec<usize> = (0..lines.len())
        .filter(|&at| matches!(label(&lines[at].text), Some((Label::Key(_) | Label::Names, _))))
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
        Some(Label::Number(NumberStyle::Bare | NumberStyle::Dot, _)) => read(text),
        _ => read(body),
    };
    if let Some(Label::Key(key)) = label {
        entry.key = Some(key);
    }
    (!entry.text.is_empty()).then_some(entry)
}

fn numbered(lines: &[PaperLine], chain: &[(usize, u32)], form: NumberStyle, seen: &[&Seen]) -> Vec<BibliographyEntry> {
    let mut entries = Vec::new();
    for (index, &(at, number)) in chain.iter().enumerate() {
        let next = chain.get(index + 1);
        let text = joined(&lines[at..next.map_or(lines.len(), |next| next.0)], seen);
        let body = label(&text).map_or(text.as_str(), |(_, end)| &text[end..]);
        let below = next.map_or(MOST, |next| next.1);
        for (number, text) in inner(body, number, below, form) {
            if !text.trim().is_empty() {
                entries.push(BibliographyEntry { number: Some(number), ..read(text) });
            }
        }
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

/// Lines parted at the ends of sentences, where they are longer than lines of print.
fn sentences(lines: &[PaperLine]) -> Option<Vec<PaperLine>> {
    let filled = || lines.iter().filter(|line| !line.text.is_empty());
    let bytes: usize = filled().map(|line| line.text.len()).sum();
    if bytes < 120 * filled().count() {
        return None;
    }
    let mut out = Vec::new();
    for line in lines {
        let mut rest = line.text.as_str();
        let mut from = 0;
        while let Some(at) = rest[from..].find(". ").map(|at| from + at + 1) {
            let short = rest[..at - 1].rsplit(' ').next().is_some_and(|word| word.chars().count() < 2);
            if short || !rest[at + 1..].starts_with(char::is_uppercase) {
                from = at;
                continue;
            }
            out.push(PaperLine { text: rest[..at].to_owned(), indent: 0 });
            (rest, from) = (&rest[at + 1..], 0);
        }
        out.push(PaperLine { text: rest.to_owned(), indent: 0 });
    }
    Some(out)
}

/// Lines with which entries without labels begin.
fn starts(lines: &[PaperLine]) -> Vec<usize> {
    let filled: Vec<usize> = (0..lines.len()).filter(|&at| !lines[at].text.is_empty()).collect();
    let mut heads = Vec::new();
    let mut busy = 0;
    let mut length = 0;
    for (index, &at) in filled.iter().enumerate() {
        let before = index.checked_sub(1).map_or("", |index| lines[filled[index]].text.as_str());
        let after_stop = before.is_empty() || !before.ends_with([',', ';', ':', '-', '&']) && !before.ends_with(" and");
        if busy > length || !after_stop {
            length += lines[at].text.len() + 1;
            continue;
        }
        if let Some(head) = year_head(&window(lines, at)) {
            heads.push(at);
            (busy, length) = (head + 8, 0);
        }
        length += lines[at].text.len() + 1;
    }
    let by = [heads, by_indent(lines, &filled), by_blank(lines, &filled), by_names(lines, &filled)];
    // What cuts the section into the most entries that have a year each.
    let score = |starts: &[usize]| {
        let ends = starts.iter().skip(1).copied().chain([lines.len()]);
        let good = starts.iter().zip(ends).filter(|(start, end)| {
            let years = lines[**start..*end].iter().filter(|line| has_year(&line.text)).count();
            (1..=2).contains(&years)
        });
        2 * good.count() as i64 - starts.len() as i64
    };
    let mut best = by.into_iter().rev().max_by_key(|starts| score(starts)).unwrap_or_default();
    // The text before the first start is an entry that was not recognised, or a caption.
    if let (Some(&first), Some(&start)) = (filled.first(), best.first())
        && start > first
        && lines[first..start].iter().any(|line| has_year(&line.text))
    {
        best.insert(0, first);
    }
    best
}

/// Some lines from one on as one text.
fn window(lines: &[PaperLine], at: usize) -> String {
    let mut text = String::new();
    for line in lines[at..].iter().filter(|line| !line.text.is_empty()).take(8) {
        append(&mut text, &line.text, &[]);
        if text.len() > 600 {
            break;
        }
    }
    text
}

fn by_indent(lines: &[PaperLine], filled: &[usize]) -> Vec<usize> {
    let Some(least) = filled.iter().map(|&at| lines[at].indent).min() else { return Vec::new() };
    let (first, rest): (Vec<usize>, Vec<usize>) = filled.iter().partition(|&&at| lines[at].indent < least + 2);
    if rest.len() * 4 < filled.len() || first.len() * 8 < filled.len() {
        return Vec::new();
    }
    first
}

fn by_blank(lines: &[PaperLine], filled: &[usize]) -> Vec<usize> {
    filled.iter().copied().filter(|&at| at == 0 || lines[at - 1].text.is_empty()).collect()
}

/// Starts at lines that begin with authors, after a line that ends a sentence, once the entry before has a year.
fn by_names(lines: &[PaperLine], filled: &[usize]) -> Vec<usize> {
    let mut starts: Vec<usize> = Vec::new();
    let (mut dated, mut before) = (true, "");
    for &at in filled {
        let text = lines[at].text.as_str();
        let ended =
            before.is_empty() || before.ends_with(['.', ')', ']']) || before.ends_with(|c: char| c.is_ascii_digit());
        if dated && ended && name_head(&window(lines, at)) {
            starts.push(at);
            dated = false;
        }
        dated |= has_year(text);
        before = text;
    }
    starts
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
