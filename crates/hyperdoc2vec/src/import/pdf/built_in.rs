//! The built-in reader of PDFs: pdf-extract decodes them, and gives each character with its place; lines and columns are
//! found here.
//!
//! The order of the file is kept, which is that of the text for most programs that write papers. If a page goes back and
//! forth between two columns instead, its lines are put in order by column. The crate panics on some files: what it
//! panics on costs its page. Time and length are checked at every character.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pdf_extract::{Document, MediaBox, OutputDev, OutputError, Transform, output_doc, output_doc_page};

use super::Bounds;

/// Pages that are read.
const MOST_PAGES: u32 = 5000;
/// Characters of one page.
const MOST_CHARACTERS: usize = 200_000;

/// The text of a PDF, a form feed after each page; or why there is none.
pub(super) fn read(pdf: &[u8], bounds: &Bounds<'_>) -> Result<String, String> {
    let mut lines = PdfLines::new(bounds);
    let document = load(pdf)?;
    let mut next = 1;
    let mut whole = catch_unwind(AssertUnwindSafe(|| output_doc(&document, &mut lines)));
    // After a panic, go on with the page after it.
    while whole.is_err() && lines.goes_on() && lines.number < MOST_PAGES {
        lines.end();
        next = next.max(lines.number) + 1;
        lines.number = next;
        let last = catch_unwind(AssertUnwindSafe(|| document.get_pages().len() as u32)).unwrap_or(0);
        if next > last {
            break;
        }
        whole = catch_unwind(AssertUnwindSafe(|| {
            (next..=last).try_for_each(|page| output_doc_page(&document, &mut lines, page))
        }));
    }
    lines.end();
    // A part of the text must not be taken for all of it.
    if bounds.stop.load(Ordering::Relaxed) {
        return Err(super::STOPPED.to_owned());
    }
    if lines.text.trim().is_empty() {
        return match whole {
            Ok(Err(error)) => Err(format!("a damaged PDF: {error}")),
            _ if lines.number == 0 => Err("a damaged PDF without pages".to_owned()),
            _ => Ok(lines.text),
        };
    }
    Ok(lines.text)
}

fn load(pdf: &[u8]) -> Result<Document, String> {
    let loaded = catch_unwind(AssertUnwindSafe(|| {
        let mut document = Document::load_mem(pdf).map_err(|error| format!("a damaged PDF: {error}"))?;
        if document.is_encrypted() && document.decrypt("").is_err() {
            return Err("an encrypted PDF".to_owned());
        }
        Ok(document)
    }));
    loaded.unwrap_or_else(|_| Err("a damaged PDF".to_owned()))
}

/// Lines that may be the title, the best first: the largest letters of the first page, and what the file names.
pub(super) fn titles(pdf: &[u8], bounds: &Bounds<'_>) -> Result<String, String> {
    let document = load(pdf)?;
    let mut lines = PdfLines::new(bounds);
    // What it panics on, or an error, ends the page.
    let page = catch_unwind(AssertUnwindSafe(|| output_doc_page(&document, &mut lines, 1)));
    drop(page);
    let large = largest(&lines.segments);
    let named = catch_unwind(AssertUnwindSafe(|| {
        let info = document.trailer.get(b"Info").ok()?.as_reference().ok()?;
        let title = document.get_dictionary(info).ok()?.get(b"Title").ok()?;
        pdf_extract::decode_text_string(title).ok()
    }));
    let titles = [large, named.ok().flatten()].into_iter().flatten();
    let titles: Vec<String> = titles.map(|title| crate::import::text::collapsed(&title)).collect();
    Ok(titles.join("\n"))
}

/// The lines of a page in its largest letters that follow each other, if they are larger than most.
fn largest(segments: &[Segment]) -> Option<String> {
    let letters = |segment: &Segment| segment.text.chars().filter(|c| c.is_alphabetic()).count();
    let mut sizes: Vec<(f64, usize)> = segments.iter().map(|segment| (segment.size, letters(segment))).collect();
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = sizes.iter().map(|(_, letters)| letters).sum::<usize>() / 2;
    let mut before = 0;
    let usual = sizes.iter().find(|(_, letters)| {
        before += letters;
        before > half
    })?;
    let segments: Vec<&Segment> = segments.iter().filter(|segment| !is_stamp(&segment.text)).collect();
    // A large initial is no title.
    let words = segments.iter().filter(|segment| letters(segment) >= 5 && segment.text.trim().len() >= 6);
    let most = words.map(|segment| segment.size).fold(0.0, f64::max);
    if most < usual.0 * 1.12 {
        return None;
    }
    let is_large = |segment: &&Segment| segment.size > most * 0.93;
    let start = segments.iter().position(|segment| is_large(segment) && letters(segment) >= 5)?;
    let lines = segments[start..].iter().copied().take_while(is_large).take(8);
    Some(lines.map(|segment| segment.text.as_str()).collect::<Vec<_>>().join(" "))
}

/// Whether an archive wrote this on the margin of the first page: `arXiv:2101.00001v2 [cs.DC]`, `[inria-00001234, v1]`.
fn is_stamp(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches('[').to_lowercase();
    let numbered = |(name, rest): (&str, &str)| {
        name.chars().all(char::is_alphabetic) && rest.chars().take_while(char::is_ascii_digit).count() >= 5
    };
    line.starts_with("arxiv:") || line.split_once('-').is_some_and(numbered)
}

/// The text of a page whose characters have these places: where each begins and ends, how high it stands, its size.
pub(crate) fn page_text<'a>(characters: impl IntoIterator<Item = ([f64; 4], &'a str)>) -> String {
    let stop = AtomicBool::new(false);
    let bounds = Bounds { longest: Duration::from_secs(60), most: usize::MAX, stop: &stop };
    let mut lines = PdfLines::new(&bounds);
    characters.into_iter().for_each(|(place, text)| lines.take(place, text));
    lines.end();
    lines.text
}

/// One character and its place; `y` rises up the page.
#[derive(Debug, Clone, Copy)]
struct Glyph {
    x: f64,
    end: f64,
    y: f64,
    size: f64,
    /// Bytes in the text of the page.
    at: usize,
    bytes: usize,
}

struct PdfLines<'a> {
    text: String,
    /// Those of the last page.
    segments: Vec<Segment>,
    page: Vec<(Glyph, String)>,
    number: u32,
    started: Instant,
    bounds: &'a Bounds<'a>,
}

impl<'a> PdfLines<'a> {
    fn new(bounds: &'a Bounds<'a>) -> PdfLines<'a> {
        let (text, segments, page) = (String::new(), Vec::new(), Vec::new());
        PdfLines { text, segments, page, number: 0, started: Instant::now(), bounds }
    }

    fn goes_on(&self) -> bool {
        let Bounds { longest, most, stop } = self.bounds;
        self.started.elapsed() < *longest && self.text.len() < *most && !stop.load(Ordering::Relaxed)
    }

    /// Takes a character of the page: where it begins and ends, how high it stands, its size.
    fn take(&mut self, place: [f64; 4], text: &str) {
        if place.iter().all(|number| number.is_finite()) && self.page.len() < MOST_CHARACTERS {
            let [x, end, y, size] = place;
            self.page.push((Glyph { x, end, y, size: size.clamp(0.1, 1000.0), at: 0, bytes: 0 }, text.to_owned()));
        }
    }

    /// Writes down the page.
    fn end(&mut self) {
        if self.page.is_empty() {
            return;
        }
        let page = std::mem::take(&mut self.page);
        let mut words = String::new();
        let glyphs: Vec<Glyph> = page
            .into_iter()
            .map(|(glyph, text)| {
                let at = words.len();
                words.push_str(&text);
                Glyph { at, bytes: text.len(), ..glyph }
            })
            .collect();
        self.segments = segments(&glyphs, &words);
        write_page(&mut self.segments, &mut self.text);
        self.text.push('\u{c}');
    }
}

impl OutputDev for PdfLines<'_> {
    fn begin_page(&mut self, number: u32, _: &MediaBox, _: Option<(f64, f64, f64, f64)>) -> Result<(), OutputError> {
        self.end();
        self.number = number;
        if self.goes_on() && number <= MOST_PAGES { Ok(()) } else { Err(OutputError::FormatError(std::fmt::Error)) }
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        self.end();
        Ok(())
    }

    fn output_character(
        &mut self,
        place: &Transform,
        width: f64,
        _spacing: f64,
        font_size: f64,
        text: &str,
    ) -> Result<(), OutputError> {
        let [across, up] =
            [place.m11.hypot(place.m12), place.m21.hypot(place.m22)].map(|scale| scale * font_size.abs());
        let (x, y, size) = (place.m31, place.m32, up);
        // Text on its side is no line of the page.
        let upright = place.m12.abs() <= place.m11.abs();
        if upright {
            self.take([x, x + width * across, y, size], text);
        }
        // The clock is looked at now and then.
        if !self.page.len().is_multiple_of(1024) || self.goes_on() {
            return Ok(());
        }
        Err(OutputError::FormatError(std::fmt::Error))
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
}

/// Characters that follow each other on a line.
#[derive(Debug, Clone, PartialEq)]
struct Segment {
    x: f64,
    end: f64,
    y: f64,
    size: f64,
    text: String,
}

fn write_page(segments: &mut Vec<Segment>, out: &mut String) {
    if let Some(gutter) = gutter(segments).filter(|&gutter| is_mixed(segments, gutter)) {
        by_column(segments, gutter);
    }
    let mut before: Option<&Segment> = None;
    for segment in &*segments {
        if let Some(before) = before {
            let size = before.size.min(segment.size);
            let down = (before.y - segment.y).abs();
            let same_line = down < size * 0.5 && segment.x >= before.end - size;
            out.push_str(match same_line {
                true => " ",
                // A gap wider than a line parts paragraphs; so does a new column.
                false if segment.y > before.y + size * 2.0 || down > before.size.max(segment.size) * 1.9 => "\n\n",
                false => "\n",
            });
        }
        out.push_str(&segment.text);
        before = Some(segment);
    }
    out.push('\n');
}

/// Characters put together to pieces of lines, in the order of the file.
fn segments(glyphs: &[Glyph], words: &str) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for glyph in glyphs {
        let text = &words[glyph.at..glyph.at + glyph.bytes];
        let blank = text.trim().is_empty();
        let last = segments.last_mut().filter(|last| {
            let size = last.size.max(glyph.size);
            let (gap, rise) = (glyph.x - last.end, (glyph.y - last.y).abs());
            rise < size * 0.5 && gap > -size * 0.8 && gap < size * 1.5
        });
        match last {
            Some(last) => {
                let gap = glyph.x - last.end;
                if (blank || gap > glyph.size.min(last.size) * 0.17) && !last.text.ends_with(' ') {
                    last.text.push(' ');
                }
                if !blank {
                    last.text.push_str(text);
                    // An exponent does not move the line.
                    if glyph.size > last.size * 1.2 {
                        (last.y, last.size) = (glyph.y, glyph.size);
                    }
                }
                last.end = last.end.max(glyph.end);
            }
            None if blank => {}
            None => segments.push(Segment {
                x: glyph.x,
                end: glyph.end,
                y: glyph.y,
                size: glyph.size,
                text: text.to_owned(),
            }),
        }
    }
    for segment in &mut segments {
        segment.text.truncate(segment.text.trim_end().len());
    }
    segments
}

/// Where two columns part, if a page has them: a place in the middle that hardly a line crosses.
fn gutter(segments: &[Segment]) -> Option<f64> {
    let left = segments.iter().map(|segment| segment.x).fold(f64::INFINITY, f64::min);
    let right = segments.iter().map(|segment| segment.end).fold(f64::NEG_INFINITY, f64::max);
    if segments.len() < 20 || !(right - left).is_finite() || right - left <= 0.0 {
        return None;
    }
    let places = (35..=65).map(|percent| left + (right - left) * f64::from(percent) / 100.0);
    let crossing = |place: f64| segments.iter().filter(|segment| segment.x < place && segment.end > place).count();
    let (crossed, place) = places.map(|place| (crossing(place), place)).min_by_key(|&(crossed, _)| crossed)?;
    let beside = segments.iter().filter(|segment| segment.end <= place).count();
    let enough = |count: usize| count * 4 >= segments.len();
    (crossed * 5 < segments.len() && enough(beside) && enough(segments.len() - beside - crossed)).then_some(place)
}

/// Whether the order goes from the left column to the right one line by line.
fn is_mixed(segments: &[Segment], gutter: f64) -> bool {
    let across = segments.windows(2).filter(|pair| {
        let beside = (pair[0].y - pair[1].y).abs() < pair[0].size.min(pair[1].size);
        beside && pair[0].end <= gutter && pair[1].x >= gutter
    });
    across.count() * 5 > segments.len()
}

/// Orders lines by column, between those that go across the page.
fn by_column(segments: &mut Vec<Segment>, gutter: f64) {
    segments.sort_by(|a, b| b.y.total_cmp(&a.y).then(a.x.total_cmp(&b.x)));
    let mut ordered = Vec::with_capacity(segments.len());
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for segment in segments.drain(..) {
        if segment.end <= gutter {
            left.push(segment);
        } else if segment.x >= gutter {
            right.push(segment);
        } else {
            ordered.append(&mut left);
            ordered.append(&mut right);
            ordered.push(segment);
        }
    }
    ordered.append(&mut left);
    ordered.append(&mut right);
    *segments = ordered;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;

    /// Characters of a line that begins at a place, each half as wide as it is high.
    fn line(x: f64, y: f64, words: &str) -> impl Iterator<Item = ([f64; 4], &str)> {
        words.split_inclusive(|_| true).enumerate().map(move |(number, c)| {
            let x = x + number as f64 * 5.0;
            ([x, x + 5.0, y, 10.0], c)
        })
    }

    fn page(lines: &[(f64, f64, &str)]) -> String {
        page_text(lines.iter().flat_map(|&(x, y, words)| line(x, y, words)))
    }

    #[test]
    fn lines_and_paragraphs_are_parted_by_their_places() {
        let text = page(&[(0.0, 100.0, "one line"), (42.0, 100.0, "goes on"), (0.0, 88.0, "next"), (0.0, 60.0, "far")]);
        assert_eq!(text, "one line goes on\nnext\n\nfar\n\u{c}");
    }

    #[test]
    fn columns_that_are_written_line_by_line_are_put_in_order() {
        let (mut lines, mut left, mut right) =
            (vec![(0.0, 900.0, "a title across both of the columns here")], String::new(), String::new());
        let names: Vec<(String, String)> =
            (0..12).map(|n| (format!("left line {n:02}"), format!("right line {n:02}"))).collect();
        for (n, (a, b)) in names.iter().enumerate() {
            let y = 880.0 - 12.0 * n as f64;
            lines.extend([(0.0, y, a.as_str()), (130.0, y, b.as_str())]);
            left.push_str(&format!("\n{a}"));
            right.push_str(&format!("\n{b}"));
        }
        let text = page(&lines);
        let title = "a title across both of the columns here";
        assert_eq!(text.replace("\n\n", "\n"), format!("{title}{left}{right}\n\u{c}"));
    }

    #[test]
    fn the_largest_letters_that_follow_each_other_are_the_title() {
        let segment = |size: f64, text: &str| Segment { x: 0.0, end: 90.0, y: 0.0, size, text: text.to_owned() };
        let body = || std::iter::repeat_with(|| segment(10.0, "the text of the paper, line by line")).take(20);
        let head = [
            segment(9.0, "Journal of Water 3"),
            segment(18.0, "The Tides of"),
            segment(17.8, "the Northern Sea"),
            segment(12.0, "Ann Doe"),
            segment(30.0, "T"),
        ];
        let page: Vec<Segment> = head.into_iter().chain(body()).collect();
        assert_eq!(largest(&page).as_deref(), Some("The Tides of the Northern Sea"));
        for stamp in ["arXiv:2101.00001v2 [cs.DC] 4 Jan 2021", "[inria-00001234, v1]", "hal-00001234, version 1"] {
            let stamped: Vec<Segment> = page.iter().cloned().chain([segment(20.0, stamp)]).collect();
            let before: Vec<Segment> = stamped.iter().rev().take(1).chain(&page).cloned().collect();
            for page in [stamped, before] {
                assert_eq!(largest(&page).as_deref(), Some("The Tides of the Northern Sea"), "{stamp}");
            }
        }
        assert_eq!(largest(&body().collect::<Vec<_>>()), None, "all letters are of one size");
        assert_eq!(largest(&[]), None);
    }

    #[test]
    fn odd_pages_take_time_in_proportion() {
        // Columns in turns, lines on one another, from right to left, without an end.
        for (what, x, y) in
            [("columns", 300.0, 0.0), ("one place", 0.0, 0.0), ("back", -40.0, -0.1), ("far", 1e300, 1e3)]
        {
            assert_linear(what, 16_000, |pieces| {
                let place = |n: usize| (x * (n % 2) as f64 + y * n as f64, 900.0 - n as f64 / 2.0);
                drop(page_text((0..pieces).map(|n| ([place(n).0, place(n).0 + 5.0, place(n).1, 10.0], "x"))));
            });
        }
    }

    #[test]
    fn what_is_no_pdf_gives_a_reason() {
        let stop = AtomicBool::new(false);
        let bounds = Bounds { longest: Duration::from_secs(5), most: 1000, stop: &stop };
        for (bytes, reason) in
            [(&b"%PDF-1.4\nnothing"[..], "damaged"), (b"", "damaged"), (b"%PDF-1.7\n%%EOF", "damaged")]
        {
            let error = read(bytes, &bounds).expect_err("no text");
            assert!(error.contains(reason), "{error}");
        }
    }
}
