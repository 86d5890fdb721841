//! Losses: input that an import left out or repaired, counted, with a few samples of each kind.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How many samples of each kind are kept.
const SAMPLES: usize = 10;
/// Characters of a sample that are kept.
const LONGEST_SAMPLE: usize = 200;

/// A kind of loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Loss {
    /// A record or file that could not be read as its format.
    MalformedRecord,
    /// A document whose id came before; the first one was kept.
    DuplicateId,
    /// A redirect whose id is a document's, or was redirected before.
    DuplicateRedirect,
    /// A document without a single word.
    EmptyText,
    /// A link to an id that no document has.
    UnknownTarget,
    /// A document's link to itself.
    SelfLink,
    /// A link in a document with no word within reach of it.
    LinkWithoutContext,
    /// `[[` without `]]`, or with nothing between: read as text.
    BrokenMark,
    /// Bytes that are no UTF-8, replaced by U+FFFD.
    ReplacedBytes,
    /// A word longer than any real word.
    OverlongWord,
    /// A date that could not be read.
    UnreadableDate,
    /// A field of a record that means nothing to us, or a language that is none.
    IgnoredField,
    /// A redirect that leads nowhere, or round in a circle.
    BrokenRedirect,
    /// A page with nothing but navigation, or a file that holds no page.
    SkippedPage,
    /// A page that names another page of the set as its canonical form, and became a redirect to it.
    OtherCanonical,
    /// Front matter that could not be read; the text after it was used.
    UnreadableFrontMatter,
    /// A template or a table of a wiki page that does not close, read as text.
    UnclosedMarkup,
    /// A citation mark whose reference is no document of the set.
    UnmatchedReference,
    /// A citation mark whose reference could be several documents.
    AmbiguousReference,
    /// A citation mark whose reference has the id of one document, but title and author of another.
    ContradictoryReference,
    /// A citation mark that names an entry which the bibliography does not have.
    MarkWithoutEntry,
    /// A citation mark that names no entry.
    MarkWithoutTarget,
    /// A row of a table without a text: the title is all its document has.
    TitleOnly,
    /// A text for which the table has no row, or the bibliography no entry.
    TextWithoutRow,
    /// A paper with a list of references, but without a mark that names one of them.
    NoMarks,
    /// A paper in which no list of references was found.
    NoReferenceList,
    /// A file that another one puts in, and that is not there.
    MissingFile,
    /// A file that could be a paper, or a part of one, and that is not read.
    UnreadFile,
    /// A file whose pages hold little text: a scan, or pictures.
    LittleText,
    /// A file whose columns were read across.
    MixedColumns,
    /// A link that found its page only without regard to upper and lower case.
    OtherCase,
    /// A link from the site's root that found its page because that root was guessed.
    GuessedRoot,
    /// An entry of a bibliography that does not end as it should; what it has is used.
    BrokenEntry,
}

impl Loss {
    /// One line for people: what happened, to several.
    pub fn describe(self) -> &'static str {
        self.describe_count(2)
    }

    /// One line for people, in the singular for a count of 1.
    pub fn describe_count(self, count: u64) -> &'static str {
        let (one, several) = match self {
            Loss::MalformedRecord => ("malformed record left out", "malformed records left out"),
            Loss::BrokenEntry => (
                "broken entry of a bibliography, used as far as it goes",
                "broken entries of a bibliography, used as far as they go",
            ),
            Loss::DuplicateId => {
                ("document left out because its id came before", "documents left out because their id came before")
            }
            Loss::DuplicateRedirect => {
                ("redirect left out because its id came before", "redirects left out because their id came before")
            }
            Loss::EmptyText => ("document without words", "documents without words"),
            Loss::UnknownTarget => {
                ("link left out because no document has that id", "links left out because no document has that id")
            }
            Loss::SelfLink => ("link of a document to itself left out", "links of a document to itself left out"),
            Loss::LinkWithoutContext => {
                ("link with no word of the vocabulary near it", "links with no word of the vocabulary near them")
            }
            Loss::BrokenMark => (
                "link mark that does not close, or is empty, read as text",
                "link marks that do not close, or are empty, read as text",
            ),
            Loss::ReplacedBytes => {
                ("input with bytes that are no UTF-8, replaced", "inputs with bytes that are no UTF-8, replaced")
            }
            Loss::OverlongWord => ("word left out as too long to be one", "words left out as too long to be words"),
            Loss::UnreadableDate => (
                "date that could not be read (expected 2009, 2009-06 or 2009-06-30)",
                "dates that could not be read (expected 2009, 2009-06 or 2009-06-30)",
            ),
            Loss::IgnoredField => ("field that means nothing here, ignored", "fields that mean nothing here, ignored"),
            Loss::BrokenRedirect => ("redirect that leads nowhere", "redirects that lead nowhere"),
            Loss::SkippedPage => (
                "page left out because it holds no text or leads elsewhere",
                "pages left out because they hold no text or lead elsewhere",
            ),
            Loss::OtherCanonical => (
                "page read as a redirect because it gives another as its canonical form",
                "pages read as redirects because they give another as their canonical form",
            ),
            Loss::UnreadableFrontMatter => (
                "page whose front matter could not be read; its text was used",
                "pages whose front matter could not be read; their text was used",
            ),
            Loss::UnclosedMarkup => (
                "template or table that does not close, read as text",
                "templates or tables that do not close, read as text",
            ),
            Loss::UnmatchedReference => (
                "citation mark whose reference is no document of the set",
                "citation marks whose reference is no document of the set",
            ),
            Loss::AmbiguousReference => (
                "citation mark left out because its reference could be several documents",
                "citation marks left out because their reference could be several documents",
            ),
            Loss::ContradictoryReference => (
                "citation mark left out because its reference has the id of one document, title and author of another",
                "citation marks left out because their reference has the id of one document, title and author of another",
            ),
            Loss::MarkWithoutEntry => (
                "citation mark left out because the bibliography does not have the entry that it names",
                "citation marks left out because the bibliography does not have the entry that they name",
            ),
            Loss::MarkWithoutTarget => (
                "citation mark left out because it names no entry of the bibliography",
                "citation marks left out because they name no entry of the bibliography",
            ),
            Loss::TitleOnly => {
                ("document of which there is only the title", "documents of which there is only the title")
            }
            Loss::TextWithoutRow => (
                "text left out because no row of the table, or no entry of the bibliography, is about it",
                "texts left out because no row of the table, or no entry of the bibliography, is about them",
            ),
            Loss::NoMarks => (
                "paper in which no citation mark was recognised, though it has a list of references",
                "papers in which no citation mark was recognised, though they have a list of references",
            ),
            Loss::NoReferenceList => {
                ("paper in which no list of references was found", "papers in which no list of references was found")
            }
            Loss::MissingFile => ("file not found, its text is missing", "files not found, their text is missing"),
            Loss::UnreadFile => ("file that was not read", "files that were not read"),
            Loss::LittleText => (
                "file whose pages hold little text; if it is a scan, run text recognition (OCR) on it first",
                "files whose pages hold little text; if they are scans, run text recognition (OCR) on them first",
            ),
            Loss::MixedColumns => (
                "file whose columns seem to be read across; another extractor may do better",
                "files whose columns seem to be read across; another extractor may do better",
            ),
            Loss::OtherCase => (
                "link to a name that differs from its page's only in case; it was kept",
                "links to names that differ from their page's only in case; they were kept",
            ),
            Loss::GuessedRoot => (
                "link from the site's root, found by taking another folder for that root",
                "links from the site's root, found by taking another folder for that root",
            ),
        };
        if count == 1 { one } else { several }
    }
}

/// How often something was lost, and samples of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tally {
    /// How often.
    pub count: u64,
    /// A few of them, none twice, in the order of the input.
    pub samples: Vec<String>,
}

impl Tally {
    fn sample(&mut self, mut sample: String) {
        if let Some((end, _)) = sample.char_indices().nth(LONGEST_SAMPLE) {
            sample.truncate(end);
            sample.push('…');
        }
        if self.samples.len() < SAMPLES && !self.samples.contains(&sample) {
            self.samples.push(sample);
        }
    }
}

/// All losses of an import, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Losses(BTreeMap<Loss, Tally>);

impl Losses {
    /// Counts one loss; `sample` names the thing lost and its place.
    pub fn add(&mut self, loss: Loss, sample: impl Into<String>) {
        let tally = self.0.entry(loss).or_default();
        tally.count += 1;
        tally.sample(sample.into());
    }

    /// Adds all of `other`, whose samples come after ours.
    pub fn merge(&mut self, other: Losses) {
        for (loss, theirs) in other.0 {
            let ours = self.0.entry(loss).or_default();
            ours.count += theirs.count;
            theirs.samples.into_iter().for_each(|sample| ours.sample(sample));
        }
    }

    /// Replaces what is known of one kind.
    pub fn set(&mut self, loss: Loss, tally: Tally) {
        if tally.count > 0 {
            self.0.insert(loss, tally);
        }
    }

    /// How often `loss` happened.
    pub fn count(&self, loss: Loss) -> u64 {
        self.0.get(&loss).map_or(0, |tally| tally.count)
    }

    /// Every kind that happened at least once.
    pub fn iter(&self) -> impl Iterator<Item = (Loss, &Tally)> {
        self.0.iter().map(|(&loss, tally)| (loss, tally))
    }

    /// Whether nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
