//! A hyper-document as importers make it: text, and links that stand at places in it.

pub(crate) mod fold;
mod hidden;
pub(crate) mod losses;
pub(crate) mod markup;
mod sentence;
pub(crate) mod tokenize;

pub use hidden::{is_hidden, visible_json};
pub use losses::{Loss, Losses, Tally};
pub use sentence::sentence;
pub use tokenize::Tokenizer;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One document, before its words are counted and its links resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    /// The id, by which links name it. Unique in a corpus.
    pub id: String,
    /// Shown to people.
    pub title: Option<String>,
    /// Who wrote it: names as the input has them, the first author first.
    pub authors: Vec<String>,
    /// When it was written.
    pub date: Option<Date>,
    /// The language it is written in, as [`language_tag`] writes it.
    pub language: Option<String>,
    /// Classes it belongs to.
    pub labels: Vec<String>,
    /// Where a reader finds it.
    pub url: Option<String>,
    /// The text without any link marks.
    pub text: String,
    /// Links in the order in which they stand in the text.
    pub links: Vec<Link>,
    /// Where it was read (file and line), for messages; not stored.
    pub origin: String,
}

impl Document {
    /// A document with a text in which links are marked as `[[id]]` or `[words][[id]]`, as in jsonl. A mark that is not
    /// closed, or names nothing, stays in the text.
    ///
    /// ```
    /// use hyperdoc2vec::Document;
    ///
    /// let document = Document::new("moses", "scored by [the metric][[bleu]] as usual");
    /// assert_eq!(document.text, "scored by the metric as usual");
    /// assert_eq!(document.links[0].targets, ["bleu"]);
    /// ```
    pub fn new(id: impl Into<String>, marked_text: impl AsRef<str>) -> Document {
        let marked = markup::parse(marked_text.as_ref());
        Document { id: id.into(), text: marked.text, links: marked.links, ..Document::default() }
    }

    /// With a title.
    pub fn title(self, title: impl Into<String>) -> Document {
        Document { title: Some(title.into()), ..self }
    }

    /// With authors.
    pub fn authors<S: Into<String>>(self, authors: impl IntoIterator<Item = S>) -> Document {
        Document { authors: authors.into_iter().map(Into::into).collect(), ..self }
    }

    /// With a date.
    pub fn date(self, date: Date) -> Document {
        Document { date: Some(date), ..self }
    }

    /// With labels.
    pub fn labels<S: Into<String>>(self, labels: impl IntoIterator<Item = S>) -> Document {
        Document { labels: labels.into_iter().map(Into::into).collect(), ..self }
    }
}

/// A link: at a byte offset of the text, to one or more documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Byte offset in [`Document::text`], at a character; the link stands before this byte, and not before the link that
    /// comes before it in [`Document::links`].
    pub at: usize,
    /// Where the link's own words (its anchor) begin: they are `text[anchor..at]`.
    /// Equal to `at` for a link without words.
    pub anchor: usize,
    /// Ids of the documents it points at.
    pub targets: Vec<String>,
}

/// A language as BCP 47 writes it: `EN` is `en`, `pt_br` is `pt-BR`, `zh-hant` is `zh-Hant`. `None` for what cannot be
/// one: longer than 35 characters, other characters than letters, digits, `-` and `_`, no letters at the start.
///
/// Ours, not icu_locale_core: that refuses `zh-yue`, `simple` and six more codes of Wikimedia's own wikis, and puts
/// variants in another order.
pub fn language_tag(text: &str) -> Option<String> {
    let text = text.trim();
    let fits = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric());
    let mut parts = text.split(['-', '_']);
    let first = parts.next().filter(|part| part.len() >= 2 && part.bytes().all(|b| b.is_ascii_alphabetic()))?;
    if text.len() > 35 || !fits(first) {
        return None;
    }
    let mut tag = first.to_ascii_lowercase();
    for part in parts {
        if !fits(part) {
            return None;
        }
        tag.push('-');
        // A region has two letters, a script has four; what follows a single letter is neither, wherever it stands.
        let special = tag.split('-').any(|part| part.len() == 1);
        match part.len() {
            2 if !special => tag.push_str(&part.to_ascii_uppercase()),
            4 if !special && part.bytes().all(|b| b.is_ascii_alphabetic()) => {
                tag.push_str(&part[..1].to_ascii_uppercase());
                tag.push_str(&part[1..].to_ascii_lowercase());
            }
            _ => tag.push_str(&part.to_ascii_lowercase()),
        }
    }
    Some(tag)
}

/// A day, a month or a year; ordered. `2009` stands before `2009-01`, which stands before `2009-01-01`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i32);

impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Date {
    /// The date as the number yyyymmdd, parts unknown being 0; always above 0.
    pub fn packed(self) -> i32 {
        self.0
    }

    /// The inverse of [`Date::packed`]; `None` for what is no date.
    pub fn from_packed(packed: i32) -> Option<Date> {
        let (year, month, day) = (packed / 10_000, packed / 100 % 100, packed % 100);
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            0 => 0,
            2 => 28 + i32::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let valid = (1..=9999).contains(&year) && (0..=12).contains(&month) && (0..=days).contains(&day);
        valid.then_some(Date(packed))
    }

    /// The year.
    pub fn year(self) -> i32 {
        self.0 / 10_000
    }

    /// Whether this date lies in `limit` or before it: `2009-06-30` is up to `2009`, and so is `2009`.
    pub fn is_up_to(self, limit: Date) -> bool {
        let end = match (limit.0 / 100 % 100, limit.0 % 100) {
            (0, _) => limit.0 + 9999,
            (_, 0) => limit.0 + 99,
            _ => limit.0,
        };
        self.0 <= end
    }
}

impl FromStr for Date {
    type Err = String;

    /// Reads `2009`, `2009-06`, `2009-06-30`, and a date followed by a time of day (`2009-06-30T12:00:00Z`).
    fn from_str(text: &str) -> Result<Date, String> {
        let wrong = || format!("expected a date such as 2009, 2009-06 or 2009-06-30, found {text:?}");
        let day = text.trim();
        let day = day.split_once(['T', ' ']).map_or(day, |(day, _)| day);
        let mut parts = [0i32; 3];
        for (count, part) in day.split('-').enumerate() {
            let digits = if count == 0 { 4 } else { 2 };
            if count == 3 || part.len() != digits || !part.bytes().all(|b| b.is_ascii_digit()) {
                return Err(wrong());
            }
            parts[count] = part.parse().map_err(|_| wrong())?;
            if parts[count] == 0 {
                return Err(wrong());
            }
        }
        Date::from_packed(parts[0] * 10_000 + parts[1] * 100 + parts[2]).ok_or_else(wrong)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = (self.0 / 10_000, self.0 / 100 % 100, self.0 % 100);
        match (month, day) {
            (0, _) => write!(f, "{year:04}"),
            (_, 0) => write!(f, "{year:04}-{month:02}"),
            _ => write!(f, "{year:04}-{month:02}-{day:02}"),
        }
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        text.parse().expect("a date")
    }

    #[test]
    fn dates_are_read_and_written_as_precisely_as_they_came() {
        for text in ["2009", "2009-06", "2009-06-30"] {
            assert_eq!(date(text).to_string(), text);
        }
        assert_eq!(date("2009-06-30T12:00:00Z").to_string(), "2009-06-30");
        for wrong in ["", "09", "2009-13", "2009-00", "2009-6-1", "June 2009", "2009-06-30-01", "-5"] {
            assert!(wrong.parse::<Date>().is_err(), "{wrong:?} is no date");
        }
    }

    #[test]
    fn a_month_has_as_many_days_as_in_the_calendar() {
        let last =
            [("2003-02", 28), ("2004-02", 29), ("1900-02", 28), ("2000-02", 29), ("2009-04", 30), ("2009-12", 31)];
        for (month, last) in last {
            assert!(format!("{month}-{last}").parse::<Date>().is_ok(), "{month} has {last} days");
            assert!(format!("{month}-{}", last + 1).parse::<Date>().is_err(), "{month} has no more");
        }
        assert_eq!("2003-02-30".parse::<Date>().ok(), None);
        assert_eq!(Date::from_packed(20_030_230), None);
    }

    #[test]
    fn languages_are_written_in_one_way_and_nonsense_is_none() {
        let tags = [
            ("en", "en"),
            (" EN ", "en"),
            ("pt-BR", "pt-BR"),
            ("pt_br", "pt-BR"),
            ("ZH-hant-tw", "zh-Hant-TW"),
            ("de-1996", "de-1996"),
            ("es-419", "es-419"),
            ("en-X-us", "en-x-us"),
            ("fil", "fil"),
            ("zh-yue", "zh-yue"),
            ("simple", "simple"),
        ];
        for (text, tag) in tags {
            assert_eq!(language_tag(text).as_deref(), Some(tag), "{text}");
            assert_eq!(language_tag(tag).as_deref(), Some(tag), "{tag} stays as it is");
        }
        let long = ["en", &"-abcdefg".repeat(5)].concat();
        for wrong in ["", " ", "e", "-", "12", "en--us", "en-", "en_US.UTF-8", "{{ lang }}", "français", &long] {
            assert_eq!(language_tag(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_year_includes_all_its_days() {
        assert!(date("2009-12-31").is_up_to(date("2009")));
        assert!(date("2009").is_up_to(date("2009")));
        assert!(!date("2010").is_up_to(date("2009")));
        assert!(!date("2010-01-01").is_up_to(date("2009")));
        assert!(date("2009-02-28").is_up_to(date("2009-02")));
        assert!(!date("2009-03").is_up_to(date("2009-02-28")));
    }
}
