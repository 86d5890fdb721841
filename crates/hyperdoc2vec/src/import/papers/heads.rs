//! Where the entries of a reference list without labels begin: at authors and a year, at names, by indents, by blank lines.

use super::clean::PaperLine;
use super::paragraphs::append;
use super::split::has_year;
use crate::import::reference::names::{Closed, authors};
use crate::import::reference::words::{WordKind, words};

/// The length of a list of authors with a year right after it.
pub(super) fn year_head(text: &str) -> Option<usize> {
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
    const PUBLISHERS: [&str; 37] = [
        "Prentice",
        "Addison",
        "McGraw",
        "Erlbaum",
        "Plenum",
        "Pergamon",
        "Series",
        "Publishing",
        "Kaufmann",
        "Library",
        "Institute",
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
    word.split('-').any(|part| PUBLISHERS.contains(&part.trim_end_matches('.')))
}

/// Authors at the start of a text, the year being elsewhere: `J. Smith and A. Doe. Title`.
fn name_head(text: &str) -> bool {
    let list = authors(start(text, 600));
    let initials = words(text).take(3).any(|word| matches!(word.kind, WordKind::Initials | WordKind::Capitals));
    let several = list.surnames.len() > 1 || initials;
    let first = words(text).next().is_some_and(|word| !is_publisher(word.core));
    first
        && several
        && list.closed != Closed::Nothing
        && !list.surnames.iter().any(|name| name.split(' ').any(is_publisher))
}

/// The first bytes of a text, up to a boundary of characters.
fn start(text: &str, most: usize) -> &str {
    let end = (0..=text.len().min(most)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    &text[..end]
}

/// Lines parted at the ends of sentences, where they are longer than lines of print.
pub(super) fn sentences(lines: &[PaperLine]) -> Option<Vec<PaperLine>> {
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
pub(super) fn starts(lines: &[PaperLine]) -> Vec<usize> {
    let filled: Vec<usize> = (0..lines.len()).filter(|&at| !lines[at].text.is_empty()).collect();
    // What cuts the section into the most entries that have a year each.
    let score = |starts: &[usize]| {
        let ends = starts.iter().skip(1).copied().chain([lines.len()]);
        let good = starts.iter().zip(ends).filter(|(start, end)| {
            let years = lines[**start..*end].iter().filter(|line| has_year(&line.text)).count();
            (1..=2).contains(&years)
        });
        2 * good.count() as i64 - starts.len() as i64
    };
    let mut best = ways(lines, &filled).into_iter().rev().max_by_key(|starts| score(starts)).unwrap_or_default();
    // The text before the first start is an entry that was not recognised, or a caption.
    if let (Some(&first), Some(&start)) = (filled.first(), best.first())
        && start > first
        && lines[first..start].iter().any(|line| has_year(&line.text))
    {
        best.insert(0, first);
    }
    best
}

/// Lines with which exactly so many entries begin, the first of them the first line; nothing if no way of cutting gives
/// that number.
pub(super) fn cut_into(lines: &[PaperLine], count: usize) -> Option<Vec<usize>> {
    let filled: Vec<usize> = (0..lines.len()).filter(|&at| !lines[at].text.is_empty()).collect();
    let first = *filled.first()?;
    let undated = by_names(lines, &filled, false);
    let ways = ways(lines, &filled).into_iter().chain([undated]).map(|mut starts| {
        if starts.first() != Some(&first) {
            starts.insert(0, first);
        }
        starts
    });
    let ways: Vec<Vec<usize>> = ways.collect();
    let exact = ways.iter().find(|starts| starts.len() == count).cloned();
    exact.or_else(|| Some(with_sentences(lines, &filled, &ways[0])).filter(|starts| starts.len() == count))
}

/// Starts, and where a sentence begins after a line that ends in a year or in pages, if the entries on both sides then
/// have a year: names that cannot be read.
fn with_sentences(lines: &[PaperLine], filled: &[usize], starts: &[usize]) -> Vec<usize> {
    let mut out: Vec<usize> = Vec::new();
    let mut rest = starts.iter().copied().peekable();
    let (mut dated, mut before) = (false, "");
    for &at in filled {
        let text = lines[at].text.as_str();
        let end = before.trim_end_matches(['.', ')']);
        let is_start = rest.next_if_eq(&at).is_some();
        let last = end.len() < before.len() && end.ends_with(is_digit);
        let opens =
            text.starts_with(char::is_uppercase) && words(text).next().is_some_and(|word| !is_publisher(word.core));
        if is_start || dated && last && opens {
            out.push(at);
            dated = false;
        }
        dated |= is_dated(text);
        before = text;
    }
    out
}

/// Where the entries begin that one with a label has swallowed, its own start first: nothing if it is one, or if what
/// follows does not look like entries.
pub(super) fn swallowed(lines: &[PaperLine]) -> Option<Vec<usize>> {
    let filled: Vec<usize> = (0..lines.len()).filter(|&at| !lines[at].text.is_empty()).collect();
    let first = *filled.first()?;
    let heads = by_heads(lines, &filled, true);
    let starts: Vec<usize> = std::iter::once(first).chain(heads.into_iter().filter(|&at| at > first)).collect();
    let starts = if starts.len() > 2 { with_sentences(lines, &filled, &starts) } else { starts };
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let good = starts.iter().zip(ends).filter(|(start, end)| {
        let own = &lines[**start..*end];
        own.len() <= 8 && own.iter().any(|line| is_dated(&line.text))
    });
    (starts.len() > 1 && good.count() * 5 >= starts.len() * 4).then_some(starts)
}

/// The ways to cut a list.
fn ways(lines: &[PaperLine], filled: &[usize]) -> [Vec<usize>; 5] {
    let (dated, both) = (by_heads(lines, filled, false), by_heads(lines, filled, true));
    [both, dated, by_indent(lines, filled), by_blank(lines, filled), by_names(lines, filled, true)]
}

/// Starts where authors with a year right after them stand; with `names`, also where names stand and the entry before
/// has its year.
fn by_heads(lines: &[PaperLine], filled: &[usize], names: bool) -> Vec<usize> {
    let mut heads = Vec::new();
    let (mut busy, mut length) = (0, 0);
    let (mut dated, mut before) = (false, "");
    for &at in filled {
        let text = lines[at].text.as_str();
        if busy <= length && is_over(before) {
            let window = window(lines, at);
            let initials = || words(&window).take(3).any(|word| word.kind == WordKind::Initials);
            if let Some(head) = year_head(&window).filter(|_| has_ended(before) || initials()) {
                heads.push(at);
                (busy, length, dated) = (head + 8, 0, false);
            } else if names && (dated || heads.is_empty()) && has_ended(before) && name_head(&window) {
                heads.push(at);
                dated = false;
            }
        }
        length += text.len() + 1;
        dated |= is_dated(text);
        before = text;
    }
    heads
}

/// Whether an entry may be over after this line: it ends in the midst of nothing, or in pages whose end is lost.
fn is_over(line: &str) -> bool {
    let broken =
        line.ends_with([',', ':', '-', '–']) && line.trim_end_matches([',', ':', '-', '–']).ends_with(is_digit);
    broken || !line.ends_with([',', ';', ':', '-', '&']) && !line.ends_with(" and")
}

/// Whether a line ends as the last one of an entry does, and not with the initials of a name.
fn has_ended(line: &str) -> bool {
    let broken =
        line.ends_with([',', ':', '-', '–']) && line.trim_end_matches([',', ':', '-', '–']).ends_with(is_digit);
    let initial = words(line.rsplit(' ').next().unwrap_or_default()).any(|word| word.kind == WordKind::Initials);
    line.is_empty() || broken || !initial && line.ends_with(['.', ')', ']']) || line.ends_with(is_digit)
}

/// Whether a line has a year, or says that there is none yet.
fn is_dated(text: &str) -> bool {
    let said = ["this volume", "these proceedings", "in press", "to appear", "ubmitted", "npublished", "n preparation"];
    has_year(text) || said.iter().any(|words| text.contains(words))
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// Some lines from one on as one text.
pub(super) fn window(lines: &[PaperLine], at: usize) -> String {
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

/// Starts at lines that begin with authors, after a line that ends a sentence, once the entry before has a year where
/// all are `dated`.
fn by_names(lines: &[PaperLine], filled: &[usize], all_dated: bool) -> Vec<usize> {
    let mut starts: Vec<usize> = Vec::new();
    let (mut dated, mut before) = (true, "");
    for &at in filled {
        let text = lines[at].text.as_str();
        if (dated || !all_dated) && has_ended(before) && name_head(&window(lines, at)) {
            starts.push(at);
            dated = false;
        }
        dated |= is_dated(text);
        before = text;
    }
    starts
}
