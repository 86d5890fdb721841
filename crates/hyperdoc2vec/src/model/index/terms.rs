//! The search index of a corpus: what is searched, under which words.
//!
//! Its words are all of the training documents. Those with vectors come first, in the order of their rows; behind
//! them the rarer ones, by falling count; then those that titles and surnames of authors alone have.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::corpus::Corpus;
use crate::corpus::cited_by::CitedBy;
use crate::corpus::view::View;
use crate::id::{DocRow, OptionalNumber, WordId, WordRow};
use crate::model::index::postings::{PostingsOutline, lists};
use crate::model::index::short_fields::ShortField;
use crate::model::weighting::ContextCounts;
use crate::storage::container::Take;

/// A field of a document that is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Its own text.
    Text,
    /// The contexts of the links that point at it, the links' own words included, near words counting more.
    Cited,
}

/// The words of an index, and the row of each word of the corpus.
#[derive(Debug)]
pub struct Terms {
    /// The words by their rows.
    words: Vec<WordId>,
    rows: Vec<OptionalNumber>,
    /// The rows of words that no text of the corpus has.
    named: BTreeMap<String, WordRow>,
}

impl Terms {
    /// The words of the documents of `view`.
    pub fn new(view: &View<'_>) -> Terms {
        let corpus: &Corpus = view.corpus;
        let mut counts = vec![0u64; corpus.distinct_words()];
        for &doc in view.documents.iter() {
            corpus.words(doc).iter().for_each(|word| counts[word.index()] += 1);
        }
        view.words.iter().for_each(|word| counts[word.index()] = 0);
        let mut rare: Vec<WordId> =
            (0..counts.len() as u32).map(WordId).filter(|word| counts[word.index()] > 0).collect();
        // Ids rise as counts over the whole corpus fall, ties in the order of the words: a stable sort keeps those.
        rare.sort_by_key(|word| std::cmp::Reverse(counts[word.index()]));
        let mut words: Vec<WordId> = view.words.iter().copied().chain(rare).collect();
        let mut rows = vec![OptionalNumber::NONE; counts.len()];
        (0..).zip(&words).for_each(|(row, word)| rows[word.index()] = OptionalNumber::some(row));
        // In the order of the vocabulary, then of the alphabet.
        let (mut seen, mut named) = (vec![false; counts.len()], BTreeMap::new());
        for field in ShortField::ALL {
            field.read(view, |_, word| match corpus.find_word(word) {
                Some(word) => seen[word.index()] = true,
                None if !named.contains_key(word) => drop(named.insert(word.to_owned(), WordRow(0))),
                None => (),
            });
        }
        for word in (0..counts.len() as u32).map(WordId).filter(|word| seen[word.index()]) {
            if rows[word.index()].get().is_none() {
                rows[word.index()] = OptionalNumber::some(words.len() as u32);
                words.push(word);
            }
        }
        (words.len() as u32..).zip(named.values_mut()).for_each(|(number, row)| *row = WordRow(number));
        Terms { words, rows, named }
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.words.len() + self.named.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The words in the order of their rows.
    pub fn each<'a>(&'a self, corpus: &'a Corpus) -> impl ExactSizeIterator<Item = &'a str> {
        let named: Vec<&str> = self.named.keys().map(String::as_str).collect();
        let word = move |row: usize| match self.words.get(row) {
            Some(&word) => corpus.word(word),
            None => named[row - self.words.len()],
        };
        (0..self.len()).map(word)
    }

    /// The row of a word as it is written.
    pub fn find(&self, corpus: &Corpus, word: &str) -> Option<WordRow> {
        match corpus.find_word(word) {
            Some(word) => self.row(word),
            None => self.named.get(word).copied(),
        }
    }

    /// Forgets the words that a model with `known` words does not have: those of titles and names, before version 6.
    pub fn truncate(&mut self, known: usize) {
        self.words.truncate(known);
        self.named.retain(|_, row| row.index() < known);
        let unknown = |row: &&mut OptionalNumber| row.get().is_some_and(|row| row as usize >= known);
        self.rows.iter_mut().filter(unknown).for_each(|row| *row = OptionalNumber::NONE);
    }

    /// The row of a word, if a training document has it.
    #[inline]
    pub fn row(&self, word: WordId) -> Option<WordRow> {
        self.rows[word.index()].get().map(WordRow)
    }
}

/// Posting lists of the documents' own text, given to `take` piece by piece; what memory does not hold is in `folder` meanwhile.
pub fn text(view: &View<'_>, terms: &Terms, folder: &Path, take: Take<'_>) -> io::Result<PostingsOutline> {
    let words = |document: usize| view.corpus.words(view.documents[document]);
    let each = |document: usize, tell: &mut dyn FnMut(u32)| {
        words(document).iter().filter_map(|&word| terms.row(word)).for_each(|row| tell(row.0));
    };
    lists([view.documents.len(), terms.len()], |document| words(document).len(), each, Some(folder), take)
}

/// Posting lists of the contexts of the links that point at documents, which count as [`ContextCounts`] has it.
pub fn cited(
    view: &View<'_>,
    terms: &Terms,
    counts: &ContextCounts,
    folder: &Path,
    take: Take<'_>,
) -> io::Result<PostingsOutline> {
    let cited_by = CitedBy::new(view, counts.reach());
    let positions = |document: usize| cited_by.positions(DocRow(document as u32));
    let each = |document: usize, tell: &mut dyn FnMut(u32)| {
        for &position in positions(document) {
            let position = view.corpus.position(position as usize);
            let (before, after) = view.corpus.context(&position, counts.reach());
            counts.tell(before, after, |word| terms.row(word).into_iter().for_each(|row| tell(row.0)));
        }
    };
    let size = |document: usize| positions(document).len() * 2 * counts.reach();
    lists([view.documents.len(), terms.len()], size, each, Some(folder), take)
}
