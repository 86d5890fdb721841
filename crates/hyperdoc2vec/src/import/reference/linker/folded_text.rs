//! The text of an entry, in which titles, names and years are looked for.

use super::similar::{has_sequel, is_number};
use crate::document::fold::fold;

/// The text of an entry, folded, with the places where a title may begin and end.
pub(super) struct FoldedText {
    /// With blanks.
    pub(super) words: String,
    /// Without.
    compact: String,
    /// Offsets in `compact`: where a word begins, and where punctuation or a year stands, or the text ends.
    word_starts: Vec<usize>,
    breaks: Vec<usize>,
    pub(super) years: Vec<i32>,
}

impl FoldedText {
    pub(super) fn new(text: &str) -> FoldedText {
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
    pub(super) fn holds(&self, title: &str) -> Option<usize> {
        let compact = title.replace(' ', "");
        let is_break = |at: usize| self.breaks.binary_search(&at).is_ok();
        let places = memchr::memmem::find_iter(self.compact.as_bytes(), compact.as_bytes());
        let mut places = places.filter(|&at| is_break(at) && is_break(at + compact.len()));
        places.next()
    }

    /// Whether what stands beside the title at `start..end` makes another work of it: `: Part 2`, `, II`, `: a reply`,
    /// `Erratum to:`. Where a venue begins (`In …`), the title is over; a number that is not alone may be a volume.
    pub(super) fn is_sequel(&self, start: usize, end: usize) -> bool {
        let after = self.part(end);
        let alone = matches!(after[..], [word] if is_number(word) && !two_digits(word));
        let said = |words: &[&str]| words.first() != Some(&"in") && has_sequel(words);
        alone || said(&after) || self.part_before(start).is_some_and(|before| said(&before))
    }

    /// The words from `start` to the next break.
    fn part(&self, start: usize) -> Vec<&str> {
        let next = self.breaks.partition_point(|&at| at <= start);
        self.words_in(start, self.breaks.get(next).copied().unwrap_or(self.compact.len()))
    }

    /// The words of the part that ends at `end`.
    fn part_before(&self, end: usize) -> Option<Vec<&str>> {
        let last = self.breaks.partition_point(|&at| at < end).checked_sub(1)?;
        Some(self.words_in(self.breaks[last], end))
    }

    fn words_in(&self, start: usize, end: usize) -> Vec<&str> {
        let first = self.word_starts.partition_point(|&at| at < start);
        let starts = &self.word_starts[first..self.word_starts.partition_point(|&at| at < end)];
        let ends = starts.iter().skip(1).copied().chain([end]);
        starts.iter().zip(ends).map(|(&from, to)| &self.compact[from..to]).collect()
    }

    /// Whether a folded surname stands in it as words.
    pub(super) fn has_name(&self, name: &str) -> bool {
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

/// More digits than parts have: a volume, a page.
fn two_digits(word: &str) -> bool {
    word.bytes().filter(u8::is_ascii_digit).count() > 1
}

/// `2004`, `2004a`.
fn year_of(word: &str) -> Option<i32> {
    let digits = word.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(word);
    let good = digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"));
    good.then(|| digits.parse().ok()).flatten()
}
