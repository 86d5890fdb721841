//! The noise of PDF extraction taken out of a file: characters, columns, running heads, page numbers. Lines remain.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use encoding_rs::{Encoding, WINDOWS_1252};
use icu_normalizer::ComposingNormalizer;

/// A line of a paper. Empty where a blank line stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PaperLine {
    /// Its text, white space collapsed.
    pub(super) text: String,
    /// Blanks before it.
    pub(super) indent: usize,
}

/// A file's bytes as text; whether some were replaced. The error is why it is no text.
pub(in crate::import) fn decode(bytes: &[u8]) -> Result<(Cow<'_, str>, bool), String> {
    if bytes.starts_with(b"%PDF-") {
        return Err("is a PDF; take its text out first (pdftotext), this format reads text files".to_owned());
    }
    let (text, replaced) = match (Encoding::for_bom(bytes), std::str::from_utf8(bytes)) {
        (Some((encoding, length)), _) => {
            let (text, wrong) = encoding.decode_without_bom_handling(&bytes[length..]);
            (text, wrong)
        }
        (None, Ok(text)) => (Cow::Borrowed(text), false),
        (None, Err(_)) => {
            let text = String::from_utf8_lossy(bytes);
            let wrong = text.chars().filter(|&c| c == '\u{fffd}').count();
            let right = text.chars().filter(|&c| !c.is_ascii()).count() - wrong;
            // Mostly wrong: written in the western encoding of old.
            if wrong > right { (WINDOWS_1252.decode_without_bom_handling(bytes).0, false) } else { (text, true) }
        }
    };
    let odd = text.chars().filter(|&c| is_odd(c)).count();
    if odd * 20 > text.chars().count() {
        return Err("is no text: one character in twenty or more is a control character".to_owned());
    }
    Ok((text, replaced))
}

fn is_odd(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}')
}

/// The lines of a paper without page numbers, running heads and columns.
pub(super) fn lines(text: &str) -> Vec<PaperLine> {
    let text = characters(text);
    let pages: Vec<Vec<PaperLine>> = text.split('\u{c}').map(page).collect();
    join(pages)
}

/// Ligatures, accents that stand beside their letter, blanks and hyphens of all sorts in their plain form.
fn characters(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            'ﬀ' => out.push_str("ff"),
            'ﬁ' => out.push_str("fi"),
            'ﬂ' => out.push_str("fl"),
            'ﬃ' => out.push_str("ffi"),
            'ﬄ' => out.push_str("ffl"),
            'ﬅ' | 'ﬆ' => out.push_str("st"),
            // Some extractors escape brackets.
            '\\' if matches!(chars.peek(), Some('[' | ']')) => {}
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            '\n' | '\u{c}' => out.push(c),
            // A soft hyphen shows at the end of a line only.
            '\u{ad}' if chars.peek().is_none_or(|c| matches!(c, '\n' | '\r')) => out.push('-'),
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => {}
            '\u{2010}' | '\u{2011}' => out.push('-'),
            '\u{a8}' | '\u{b4}' | '\u{b8}' | '\u{2c6}' | '\u{2c7}' | '\u{2d8}' | '\u{2da}' | '\u{2dc}' | '\u{2dd}' => {
                accent(c, &mut out, &mut chars);
            }
            c if c.is_whitespace() => out.push(' '),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    if out.is_ascii() { out } else { ComposingNormalizer::new_nfc().normalize(&out).into_owned() }
}

/// An accent beside its letter: `M¨uller` and `Mu¨ller` are `Müller`.
fn accent(c: char, out: &mut String, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let combining = match c {
        '\u{a8}' => '\u{308}',
        '\u{b4}' => '\u{301}',
        '\u{b8}' => '\u{327}',
        '\u{2c6}' => '\u{302}',
        '\u{2c7}' => '\u{30c}',
        '\u{2d8}' => '\u{306}',
        '\u{2da}' => '\u{30a}',
        '\u{2dc}' => '\u{303}',
        _ => '\u{30b}',
    };
    let fits = |letter: char| {
        let pair: String = [letter, combining].iter().collect();
        letter.is_alphabetic() && ComposingNormalizer::new_nfc().normalize(&pair).chars().count() == 1
    };
    if let Some(&next) = chars.peek().filter(|&&next| fits(next)) {
        chars.next();
        out.extend([next, combining]);
    } else if out.chars().next_back().is_some_and(fits) {
        out.push(combining);
        // The gap after the accent is none: `Mu¨ ller`.
        let mut ahead = chars.clone();
        if ahead.next() == Some(' ') && ahead.next().is_some_and(char::is_lowercase) {
            chars.next();
        }
    } else {
        out.push(' ');
    }
}

/// The lines of one page, columns one after the other.
fn page(text: &str) -> Vec<PaperLine> {
    let raw: Vec<&str> = text.split('\n').map(str::trim_end).collect();
    match gutter(&raw) {
        None => raw.into_iter().map(line).collect(),
        Some(gutter) => {
            let mut out = Vec::new();
            let (mut left, mut right): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
            for raw in raw {
                match cut(raw, gutter) {
                    Some((a, b)) => {
                        left.push(a);
                        right.push(b);
                    }
                    // A line over the whole width: the columns above it end here.
                    None => {
                        out.extend(columns(&mut left, &mut right));
                        out.push(line(raw));
                    }
                }
            }
            out.extend(columns(&mut left, &mut right));
            out
        }
    }
}

fn line(raw: &str) -> PaperLine {
    let indent = raw.len() - raw.trim_start().len();
    let mut text = String::with_capacity(raw.len() - indent);
    for word in raw.split_whitespace() {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    PaperLine { text, indent }
}

fn columns<'a>(left: &mut Vec<&'a str>, right: &mut Vec<&'a str>) -> Vec<PaperLine> {
    let margin =
        right.iter().filter(|text| !text.trim().is_empty()).map(|text| text.len() - text.trim_start().len()).min();
    let mut out: Vec<PaperLine> = Vec::new();
    for (column, margin) in [(std::mem::take(left), 0), (std::mem::take(right), margin.unwrap_or(0))] {
        out.extend(column.into_iter().map(|text| line(text.get(margin..).unwrap_or(text))));
        // The bottom of a column that is shorter than the other.
        let end = out.iter().rposition(|line| !line.text.is_empty()).map_or(0, |at| at + 1);
        out.truncate(end);
    }
    out
}

/// The column of blanks that parts a page in two, if many lines have text on both sides of it and few cross it.
fn gutter(raw: &[&str]) -> Option<usize> {
    const WIDEST: usize = 400;
    let filled: Vec<&str> = raw.iter().copied().filter(|text| !text.trim().is_empty()).collect();
    let width = filled.iter().map(|text| text.chars().count()).max()?.min(WIDEST);
    if filled.len() < 8 || width < 60 {
        return None;
    }
    // For each column: lines with a gap of three blanks there and text on both sides, and lines whose text crosses it.
    let (mut gaps, mut crossed) = (vec![0; width], vec![0; width]);
    for text in &filled {
        let text: Vec<char> = text.chars().take(width).collect();
        let start = text.iter().position(|c| *c != ' ').unwrap_or(0);
        let mut at = start;
        while at < text.len() {
            let blanks = text[at..].iter().take_while(|c| **c == ' ').count();
            let gap = blanks >= 3 && at + blanks < text.len();
            let step = blanks.max(1);
            let counts = if gap { &mut gaps } else { &mut crossed };
            counts[at..at + step].iter_mut().for_each(|count| *count += 1);
            at += step;
        }
    }
    let middle = width * 3 / 10..width * 7 / 10;
    let best = middle.max_by_key(|&at| (gaps[at] as i64 - 2 * crossed[at] as i64, at))?;
    (gaps[best] * 10 >= filled.len() * 4 && crossed[best] * 5 <= filled.len()).then_some(best)
}

/// A line's two parts, if no text stands at the gutter.
fn cut(raw: &str, gutter: usize) -> Option<(&str, &str)> {
    let Some((at, _)) = raw.char_indices().nth(gutter) else { return Some((raw, "")) };
    let blank = raw[at..].starts_with(' ') && (raw[..at].ends_with(' ') || at == 0);
    blank.then(|| (raw[..at].trim_end(), &raw[at..]))
}

/// Lines at the top and the bottom of a page that may be running heads.
const EDGE: usize = 3;

/// Pages put together: what stands at their edges again and again is left out.
fn join(pages: Vec<Vec<PaperLine>>) -> Vec<PaperLine> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let filled = pages.iter().filter(|page| page.iter().any(|line| !line.text.is_empty())).count();
    for page in &pages {
        // Once a page: a line at its top and at its bottom is no running head.
        let forms: HashSet<String> = edges(page).into_iter().map(|at| head_form(&page[at].text)).collect();
        forms.into_iter().for_each(|form| *seen.entry(form).or_default() += 1);
    }
    if filled < 2 {
        return without_breaks(pages.into_iter().flatten().collect());
    }
    let often = if filled >= 8 { 3 } else { 2 };
    let is_head = |form: &str| form.chars().count() >= 4 && seen.get(form).is_some_and(|&times| times >= often);
    let mut out: Vec<PaperLine> = Vec::new();
    for mut page in pages {
        let mut drop: Vec<usize> = edges(&page)
            .into_iter()
            .filter(|&at| is_page_number(&page[at].text) || is_head(&head_form(&page[at].text)))
            .collect();
        drop.sort_unstable();
        for at in drop.into_iter().rev() {
            page.remove(at);
        }
        // A page break parts no paragraph.
        let end = out.iter().rposition(|line| !line.text.is_empty()).map_or(0, |at| at + 1);
        out.truncate(end);
        out.extend(page.into_iter().skip_while(|line| line.text.is_empty()));
    }
    out
}

/// Places of the lines at the edges of a page.
fn edges(page: &[PaperLine]) -> Vec<usize> {
    let filled: Vec<usize> = (0..page.len()).filter(|&at| !page[at].text.is_empty()).collect();
    let edge = (filled.len() / 6).clamp(1, EDGE);
    let top = filled.iter().take(edge).copied();
    let bottom = filled.iter().skip(edge).rev().take(edge).copied();
    top.chain(bottom).collect()
}

/// A line as running heads are compared: numbers differ from page to page.
fn head_form(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit()).flat_map(char::to_lowercase).collect::<String>().trim().to_owned()
}

/// `12`, `- 12 -`, `Page 12`, `12 of 20`; but `1992.` and `157-160` end an entry.
fn is_page_number(text: &str) -> bool {
    let core = text.trim_matches(|c: char| !c.is_alphanumeric());
    let lower = core.to_lowercase();
    let core = lower.strip_prefix("page").unwrap_or(&lower).trim();
    let parts = || core.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty() && *part != "of");
    let number = |part: &str| part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit());
    let pages = parts().count() > 1 && core.contains(['-', '–', ':']);
    !core.is_empty() && parts().count() <= 2 && parts().all(number) && !pages && !text.ends_with(['.', ',', ';'])
}

/// How far apart page numbers are at least, where pages are not marked.
const APART: usize = 12;

/// For text without form feeds: lines that are a number by themselves, and lines that come again and again.
fn without_breaks(lines: Vec<PaperLine>) -> Vec<PaperLine> {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.text.is_empty()) {
        let form = if is_page_number(&line.text) { String::new() } else { head_form(&line.text) };
        places.entry(form).or_default().push(at);
    }
    let mut drop = vec![false; lines.len()];
    for (form, places) in places {
        let far = |a: usize, b: usize| b - a >= APART;
        if form.is_empty() {
            // A number with another one near is in a table or a list.
            for (index, &at) in places.iter().enumerate() {
                let before = index == 0 || far(places[index - 1], at);
                drop[at] = before && places.get(index + 1).is_none_or(|&next| far(at, next));
            }
        } else if places.len() >= 3 && form.chars().count() >= 8 && places.windows(2).all(|pair| far(pair[0], pair[1]))
        {
            places.iter().for_each(|&at| drop[at] = true);
        }
    }
    let mut out: Vec<PaperLine> = Vec::with_capacity(lines.len());
    let mut gap = false;
    for (line, drop) in lines.into_iter().zip(drop) {
        if drop {
            // What stands around it belongs together.
            let end = out.iter().rposition(|line| !line.text.is_empty()).map_or(0, |at| at + 1);
            out.truncate(end);
            gap = true;
        } else if !(gap && line.text.is_empty()) {
            gap = false;
            out.push(line);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        lines(text).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn ligatures_accents_and_control_characters_become_plain_letters() {
        assert_eq!(
            texts("eﬃcient ﬁnite\u{7} M¨uller Mu¨ller Mu¨ ller Erd˝os\u{200b}"),
            ["efficient finite Müller Müller Müller Erdős"]
        );
    }

    #[test]
    fn running_heads_and_page_numbers_are_left_out() {
        let page = |n: usize, body: &str| {
            format!("A. Maker / Journal of Things {n}\n\n{body}\nmore {n}\nof it\nas well\n\n{n}\n\u{c}")
        };
        let text: String = (1..=4).map(|n| page(n, &format!("body number {n} goes"))).collect();
        let left = texts(&text);
        assert_eq!(left.iter().filter(|line| line.contains("Maker")).count(), 0, "{left:?}");
        assert_eq!(left[..5], ["body number 1 goes", "more 1", "of it", "as well", "body number 2 goes"]);
    }

    #[test]
    fn a_line_at_the_top_and_the_bottom_of_one_page_stays() {
        let text = "Table of tides\none\nof the tides\nhere\nTable of tides\n\u{c}Another page\nof it\nends here";
        assert_eq!(texts(text).iter().filter(|line| *line == "Table of tides").count(), 2);
    }

    #[test]
    fn without_form_feeds_lone_numbers_and_lines_that_come_again_are_left_out() {
        let mut text = String::new();
        for page in 1..=4 {
            (0..20).for_each(|line| {
                text.push_str(&format!("line {} of words\n", ["a", "b", "c", "d"][page - 1].repeat(line + 1)))
            });
            text.push_str(&format!("\n{page}\n\nThe Journal of Things\n\n"));
        }
        let left = texts(&text);
        assert_eq!(left.iter().filter(|line| line.contains("Journal") || is_page_number(line)).count(), 0, "{left:?}");
        assert_eq!(left.iter().filter(|line| line.starts_with("line")).count(), 80);
        let table = "a\n1\n2\n3\nb\n4";
        assert_eq!(texts(table).join("\n"), table);
    }

    #[test]
    fn two_columns_are_read_one_after_the_other() {
        let mut text = String::from("              A Title over the Whole Width of the Page Which Is Long\n");
        for n in 0..12 {
            text.push_str(&format!("left column words of line {n:<8}       right column words {n}\n"));
        }
        let left = texts(&text);
        assert_eq!(left[1], "left column words of line 0");
        assert_eq!(left[13], "right column words 0");
    }

    #[test]
    fn what_is_no_text_is_told() {
        assert!(decode(b"%PDF-1.4\n").is_err());
        assert!(decode(&[0, 1, 2, 3, 200, 201]).is_err());
        assert_eq!(decode(b"caf\xe9 cr\xe8me").expect("text").0, "café crème");
        assert!(decode("naïve é è \u{e9}".as_bytes()).is_ok_and(|(_, replaced)| !replaced));
        let (text, replaced) = decode(b"na\xc3\xafve \xc3\xa9 \xff").expect("text");
        assert!(replaced && text.starts_with("naïve é"));
    }
}
