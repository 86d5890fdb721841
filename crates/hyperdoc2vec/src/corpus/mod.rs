//! A corpus: one directory of flat arrays, mapped, in which words and links are numbers.
//!
//! | file | holds |
//! |---|---|
//! | `corpus.json` | counts, options, losses, sizes and checksums |
//! | `tokens` | the words of all documents in order, as [`WordId`]s |
//! | `document.tokens`, `document.positions` | where each document's words and link positions end |
//! | `position.source`, `position.at`, `position.anchor` | the document a link stands in, before which of its words, how many words before it are its own |
//! | `position.links`, `links` | where a position's targets end; the targets, as [`DocId`]s |
//! | `words.*`, `words.count` | every word, by falling count |
//! | `redirects.*`, `redirect.document` | other names of documents |
//! | `names.*`, `titles.*`, `urls.*`, `dates`, `labels.*`, `document.labels`, `document.label` | what documents are called |
//! | `authors.*` | the authors of each document, a name a line; corpora of layout 2 have none |
//! | `languages.*`, `document.language` | every language; the number of each document's, `u32::MAX` for none |
//! | `text`, `text.blocks`, `document.text` | the texts with their link marks, compressed, some 64 KiB a block |

mod build;
pub(crate) mod cited_by;
pub(crate) mod groups;
mod links;
mod manifest;
mod part;
pub(crate) mod prepare;
pub(crate) mod sentence_words;
pub(crate) mod split;
pub(crate) mod view;
pub(crate) mod window;

use std::ops::Range;
use std::path::{Path, PathBuf};

use bytemuck::{Pod, Zeroable};

pub(crate) use build::Builder;
pub use manifest::{CorpusOptions, Counts, Manifest, Provenance};
pub(crate) use prepare::{DocumentBatch, Prepared, prepare};
pub use split::{HeldOutLink, Split, SplitPart};
pub use view::View;

use crate::document::{Date, Document, markup};
use crate::error::{Error, NotFound, Result};
use crate::id::{DocId, WordId};
use crate::rng::Rng;
use crate::storage::array::{Array, Residence, Strings};
use crate::storage::similar_names::{SUGGESTIONS, did_you_mean, similar};

/// The number of the language of a document that names none.
const NO_LANGUAGE: u32 = u32::MAX;

/// Where a document's text stands: a block, and bytes of that block once unpacked.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct TextPlace {
    block: u32,
    start: u32,
    bytes: u32,
}

/// A corpus on disk, opened by memory map.
#[derive(Debug)]
pub struct Corpus {
    path: PathBuf,
    manifest: Manifest,
    tokens: Array<WordId>,
    document_tokens: Array<u64>,
    document_positions: Array<u64>,
    position_source: Array<DocId>,
    position_at: Array<u32>,
    position_anchor: Array<u32>,
    position_links: Array<u64>,
    links: Array<DocId>,
    words: Strings,
    word_counts: Array<u64>,
    names: Strings,
    redirects: Strings,
    redirect_document: Array<DocId>,
    titles: Strings,
    /// None in corpora of layout 2.
    authors: Option<Strings>,
    urls: Strings,
    dates: Array<i32>,
    languages: Strings,
    document_language: Array<u32>,
    labels: Strings,
    document_labels: Array<u64>,
    document_label: Array<u32>,
    text: Array<u8>,
    text_blocks: Array<u64>,
    document_text: Array<TextPlace>,
}

/// A place in a document where a link stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Position<'a> {
    /// The document it stands in.
    pub source: DocId,
    /// Before which of the document's words; from 0 to its number of words.
    pub at: usize,
    /// How many of the words right before it are the link's own.
    pub anchor: usize,
    /// The documents it points at; at least one, none twice, never the document itself.
    pub targets: &'a [DocId],
}

impl Corpus {
    /// Opens the corpus in `path`. Sizes are checked, contents are not read: see [`Corpus::verify`].
    pub fn open(path: impl AsRef<Path>) -> Result<Corpus> {
        Corpus::open_with(path.as_ref(), Residence::Mapped)
    }

    /// Opens a corpus for a process that must outlive whatever becomes of its files: reads them into memory if they have
    /// at most `most` bytes in all, maps them otherwise, and then [verifies](Self::verify) it.
    pub fn open_resident(path: impl AsRef<Path>, most: u64) -> Result<Corpus> {
        let path = path.as_ref();
        let bytes = Manifest::read(path)?.files.values().map(|file| file.bytes).fold(0, u64::saturating_add);
        let corpus = Corpus::open_with(path, if bytes <= most { Residence::Memory } else { Residence::Mapped })?;
        corpus.verify()?;
        Ok(corpus)
    }

    fn open_with(path: &Path, residence: Residence) -> Result<Corpus> {
        let manifest = Manifest::read(path)?;
        let files = &manifest.files;
        let corpus = Corpus {
            tokens: Array::open(path, "tokens", files, residence)?,
            document_tokens: Array::open(path, "document.tokens", files, residence)?,
            document_positions: Array::open(path, "document.positions", files, residence)?,
            position_source: Array::open(path, "position.source", files, residence)?,
            position_at: Array::open(path, "position.at", files, residence)?,
            position_anchor: Array::open(path, "position.anchor", files, residence)?,
            position_links: Array::open(path, "position.links", files, residence)?,
            links: Array::open(path, "links", files, residence)?,
            words: Strings::open(path, "words", files, residence)?,
            word_counts: Array::open(path, "words.count", files, residence)?,
            names: Strings::open(path, "names", files, residence)?,
            redirects: Strings::open(path, "redirects", files, residence)?,
            redirect_document: Array::open(path, "redirect.document", files, residence)?,
            titles: Strings::open(path, "titles", files, residence)?,
            authors: manifest.has_authors().then(|| Strings::open(path, "authors", files, residence)).transpose()?,
            urls: Strings::open(path, "urls", files, residence)?,
            dates: Array::open(path, "dates", files, residence)?,
            languages: Strings::open(path, "languages", files, residence)?,
            document_language: Array::open(path, "document.language", files, residence)?,
            labels: Strings::open(path, "labels", files, residence)?,
            document_labels: Array::open(path, "document.labels", files, residence)?,
            document_label: Array::open(path, "document.label", files, residence)?,
            text: Array::open(path, "text", files, residence)?,
            text_blocks: Array::open(path, "text.blocks", files, residence)?,
            document_text: Array::open(path, "document.text", files, residence)?,
            path: path.to_owned(),
            manifest,
        };
        let documents = corpus.manifest.counts.documents as usize;
        let per_document = [
            corpus.document_tokens.len(),
            corpus.document_positions.len(),
            corpus.names.len(),
            corpus.titles.len(),
            corpus.authors.as_ref().map_or(documents, Strings::len),
            corpus.urls.len(),
            corpus.dates.len(),
            corpus.document_language.len(),
            corpus.document_labels.len(),
            corpus.document_text.len(),
        ];
        let positions = corpus.manifest.counts.positions as usize;
        let per_position = [
            corpus.position_source.len(),
            corpus.position_at.len(),
            corpus.position_anchor.len(),
            corpus.position_links.len(),
        ];
        if per_document.iter().any(|&length| length != documents)
            || per_position.iter().any(|&length| length != positions)
        {
            return Err(corpus.damaged("its files do not fit together"));
        }
        Ok(corpus)
    }

    fn damaged(&self, what: &str) -> Error {
        Error::Damaged { path: self.path.clone(), what: format!("{what}; import it again") }
    }

    /// Reads every file, compares checksums, and checks that every number points at something.
    pub fn verify(&self) -> Result<()> {
        let (dir, files) = (&self.path, &self.manifest.files);
        self.tokens.verify(dir, files)?;
        self.document_tokens.verify(dir, files)?;
        self.document_positions.verify(dir, files)?;
        self.position_source.verify(dir, files)?;
        self.position_at.verify(dir, files)?;
        self.position_anchor.verify(dir, files)?;
        self.position_links.verify(dir, files)?;
        self.links.verify(dir, files)?;
        self.word_counts.verify(dir, files)?;
        self.dates.verify(dir, files)?;
        self.document_language.verify(dir, files)?;
        self.redirect_document.verify(dir, files)?;
        self.document_labels.verify(dir, files)?;
        self.document_label.verify(dir, files)?;
        self.text.verify(dir, files)?;
        self.text_blocks.verify(dir, files)?;
        self.document_text.verify(dir, files)?;
        let (words, names, labels) = (&self.words, &self.names, &self.labels);
        for strings in [words, names, &self.redirects, &self.titles, &self.urls, &self.languages, labels] {
            strings.verify(dir, files)?;
        }
        self.authors.as_ref().map_or(Ok(()), |authors| authors.verify(dir, files))?;
        let rises_to = |ends: &[u64], end: usize| ends.is_sorted() && ends.last().copied().unwrap_or(0) == end as u64;
        let fits = rises_to(&self.document_tokens, self.tokens.len())
            && rises_to(&self.document_positions, self.position_at.len())
            && rises_to(&self.position_links, self.links.len())
            && rises_to(&self.document_labels, self.document_label.len())
            && self.position_at.len() == self.position_source.len()
            && self.position_at.len() == self.position_anchor.len()
            && self.position_at.len() == self.position_links.len()
            && self.word_counts.len() == self.words.len()
            && self.manifest.counts.vocabulary <= self.words.len() as u64
            && self.tokens.iter().all(|word| word.index() < self.words.len())
            && self.redirects.len() == self.redirect_document.len()
            && self.redirect_document.iter().all(|doc| doc.index() < self.len())
            && self.links.iter().all(|doc| doc.index() < self.len())
            && self.document_language.iter().all(|&l| l == NO_LANGUAGE || (l as usize) < self.languages.len())
            && self.document_label.iter().all(|&label| (label as usize) < self.labels.len())
            && self.documents().all(|doc| {
                let words = self.token_range(doc);
                self.position_range(doc).all(|p| {
                    let (at, anchor) = (self.position_at[p] as usize, self.position_anchor[p] as usize);
                    self.position_source[p] == doc && at <= words.len() && anchor <= at
                })
            });
        if fits { Ok(()) } else { Err(self.damaged("its files do not fit together")) }
    }

    /// The directory it lives in.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Counts, options, losses, fingerprint.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.document_tokens.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All documents, in the order of the input.
    pub fn documents(&self) -> impl ExactSizeIterator<Item = DocId> + use<> {
        (0..self.len() as u32).map(DocId)
    }

    fn range(ends: &[u64], index: usize) -> Range<usize> {
        let start = if index == 0 { 0 } else { ends[index - 1] as usize };
        start..ends[index] as usize
    }

    fn token_range(&self, doc: DocId) -> Range<usize> {
        Corpus::range(&self.document_tokens, doc.index())
    }

    /// The positions of `doc` among those of the whole corpus, for [`Corpus::position`].
    pub fn position_range(&self, doc: DocId) -> Range<usize> {
        Corpus::range(&self.document_positions, doc.index())
    }

    /// All words of `doc`. Those below [`Corpus::vocabulary`] occur `min_count` times or more.
    pub fn words(&self, doc: DocId) -> &[WordId] {
        &self.tokens[self.token_range(doc)]
    }

    /// The words of all documents, one after the other.
    pub fn tokens(&self) -> &[WordId] {
        &self.tokens
    }

    /// The link position with this number.
    pub fn position(&self, number: usize) -> Position<'_> {
        Position {
            source: self.position_source[number],
            at: self.position_at[number] as usize,
            anchor: self.position_anchor[number] as usize,
            targets: &self.links[Corpus::range(&self.position_links, number)],
        }
    }

    /// The link positions of `doc`, in the order of its text.
    pub fn positions(&self, doc: DocId) -> impl ExactSizeIterator<Item = Position<'_>> {
        self.position_range(doc).map(|number| self.position(number))
    }

    /// Up to `window` words before and after a position; links do not count.
    ///
    /// The link's own words are the last `position.anchor` of those before.
    pub fn context(&self, position: &Position<'_>, window: usize) -> (&[WordId], &[WordId]) {
        let (before, after) = self.words(position.source).split_at(position.at);
        (&before[before.len().saturating_sub(window)..], &after[..after.len().min(window)])
    }

    /// Up to `count` positions drawn at random, in their order.
    pub fn sample_positions(&self, count: usize, seed: u64) -> Vec<usize> {
        let mut rng = Rng::keyed(seed, &[]);
        let all = self.manifest.counts.positions as usize;
        let mut numbers: Vec<usize> =
            if count >= all { (0..all).collect() } else { (0..count).map(|_| rng.below(all)).collect() };
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Whether most links have words of their own, as in hypertext; citations have none.
    pub fn is_hypertext(&self) -> bool {
        let anchored = self.documents().flat_map(|doc| self.positions(doc)).filter(|p| p.anchor > 0).count();
        anchored as u64 * 2 > self.manifest.counts.positions
    }

    /// How many words occur at least `min_count` times: the ids below this number.
    pub fn vocabulary(&self) -> usize {
        self.manifest.counts.vocabulary as usize
    }

    /// How many distinct words there are.
    pub fn distinct_words(&self) -> usize {
        self.words.len()
    }

    /// The word itself.
    pub fn word(&self, word: WordId) -> &str {
        self.words.get(word.index())
    }

    /// How often the word occurs.
    pub fn count(&self, word: WordId) -> u64 {
        self.word_counts[word.index()]
    }

    /// The number of a word, as the tokeniser gives it.
    pub fn find_word(&self, word: &str) -> Option<WordId> {
        self.words.find(word).map(|number| WordId(number as u32))
    }

    /// The id of the document, by which links name it.
    pub fn name(&self, doc: DocId) -> &str {
        self.names.get(doc.index())
    }

    /// The document of that name, or the one that a redirect of that name leads to.
    pub fn find(&self, name: &str) -> Option<DocId> {
        let redirected = || self.redirect_document.get(self.redirects.find(name)?).copied();
        self.names.find(name).map(|number| DocId(number as u32)).or_else(redirected)
    }

    /// As [`find`](Corpus::find); the error suggests what may have been meant.
    ///
    /// # Errors
    /// [`Error::NotFound`] where no document has the name.
    pub fn find_or_suggest(&self, name: &str) -> Result<DocId> {
        self.find(name).ok_or_else(|| {
            let near = did_you_mean(&similar(self.names.table(), name, SUGGESTIONS));
            let message = format!("no document has the id {name:?}{near}");
            Error::NotFound { kind: NotFound::Document, path: self.path.clone(), message }
        })
    }

    /// Other names of documents.
    pub fn redirects(&self) -> impl ExactSizeIterator<Item = (&str, DocId)> {
        self.redirect_document.iter().enumerate().map(|(number, &doc)| (self.redirects.get(number), doc))
    }

    /// Its title, if it has one.
    pub fn title(&self, doc: DocId) -> Option<&str> {
        Some(self.titles.get(doc.index())).filter(|title| !title.is_empty())
    }

    /// Who wrote it, the first author first.
    pub fn authors(&self, doc: DocId) -> impl Iterator<Item = &str> {
        self.author_lines(doc).split('\n').filter(|name| !name.is_empty())
    }

    /// Its authors, a name a line.
    pub(crate) fn author_lines(&self, doc: DocId) -> &str {
        self.authors.as_ref().map_or("", |authors| authors.get(doc.index()))
    }

    /// Where a reader finds it.
    pub fn url(&self, doc: DocId) -> Option<&str> {
        Some(self.urls.get(doc.index())).filter(|url| !url.is_empty())
    }

    /// Its date, if it has one.
    pub fn date(&self, doc: DocId) -> Option<Date> {
        Date::from_packed(self.dates[doc.index()])
    }

    /// The language it is written in (`en`, `pt-BR`), if that is known.
    pub fn language(&self, doc: DocId) -> Option<&str> {
        // There is no string with the number that stands for none.
        Some(self.languages.get(self.document_language[doc.index()] as usize)).filter(|language| !language.is_empty())
    }

    /// Languages with the number of documents written in them, most frequent first.
    ///
    /// Compares the checksums of what it reads, so that it holds without [`Corpus::verify`].
    pub fn language_counts(&self) -> Result<Vec<(&str, u64)>> {
        self.tally(&self.languages, &self.document_language)
    }

    /// All labels of the corpus, in the order of first sight.
    pub fn label_names(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.labels.len()).map(|label| self.labels.get(label))
    }

    /// The labels of `doc`, as indices into [`Corpus::label_names`].
    pub fn label_ids(&self, doc: DocId) -> &[u32] {
        &self.document_label[Corpus::range(&self.document_labels, doc.index())]
    }

    /// The labels of `doc`.
    pub fn labels(&self, doc: DocId) -> impl ExactSizeIterator<Item = &str> {
        self.label_ids(doc).iter().map(|&label| self.labels.get(label as usize))
    }

    /// Labels with the number of documents that have them, most frequent first.
    ///
    /// Compares the checksums of what it reads, so that it holds without [`Corpus::verify`].
    pub fn label_counts(&self) -> Result<Vec<(&str, u64)>> {
        self.tally(&self.labels, &self.document_label)
    }

    /// Names with how often their numbers occur, most frequent first.
    fn tally<'a>(&self, names: &'a Strings, numbers: &Array<u32>) -> Result<Vec<(&'a str, u64)>> {
        let (dir, files) = (&self.path, &self.manifest.files);
        names.verify(dir, files)?;
        numbers.verify(dir, files)?;
        let mut counts: Vec<(&str, u64)> = (0..names.len()).map(|number| (names.get(number), 0)).collect();
        for &number in numbers.iter().filter(|&&number| number != NO_LANGUAGE) {
            counts.get_mut(number as usize).ok_or_else(|| self.damaged("its files do not fit together"))?.1 += 1;
        }
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        Ok(counts)
    }

    /// The text of `doc` with its link marks, as the jsonl format has it.
    pub fn marked_text(&self, doc: DocId) -> Result<String> {
        let place = self.document_text[doc.index()];
        if place.bytes == 0 {
            return Ok(String::new());
        }
        let wrong = || self.damaged("the text of a document cannot be read");
        let block = place.block as usize;
        let start = if block == 0 { Some(&0) } else { self.text_blocks.get(block - 1) };
        let end = self.text_blocks.get(block);
        let packed = start.zip(end).and_then(|(&start, &end)| self.text.get(start as usize..end as usize));
        let unpacked = zstd::decode_all(packed.ok_or_else(wrong)?).map_err(|_| wrong())?;
        let (start, bytes) = (place.start as usize, place.bytes as usize);
        let text = unpacked.get(start..start + bytes).ok_or_else(wrong)?;
        String::from_utf8(text.to_owned()).map_err(|_| wrong())
    }

    /// The document as it was imported; links to unknown documents are still in its text.
    pub fn document(&self, doc: DocId) -> Result<Document> {
        let markup::Marked { text, links, .. } = markup::parse(&self.marked_text(doc)?);
        Ok(Document {
            id: self.name(doc).to_owned(),
            title: self.title(doc).map(str::to_owned),
            authors: self.authors(doc).map(str::to_owned).collect(),
            date: self.date(doc),
            language: self.language(doc).map(str::to_owned),
            labels: self.labels(doc).map(str::to_owned).collect(),
            url: self.url(doc).map(str::to_owned),
            text,
            links,
            origin: String::new(),
        })
    }
}
