//! The search index of a corpus: what is searched, under which words.
//!
//! Its words are all of the training documents. Those with vectors come first, in the order of their rows; behind
//! them the rarer ones, by falling count.

use std::io;

use crate::corpus::Corpus;
use crate::corpus::cited_by::CitedBy;
use crate::corpus::view::View;
use crate::id::{DocRow, OptionalNumber, WordId, WordRow};
use crate::model::index::postings::{Outline, lists};
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
    pub words: Vec<WordId>,
    rows: Vec<OptionalNumber>,
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
        let words: Vec<WordId> = view.words.iter().copied().chain(rare).collect();
        let mut rows = vec![OptionalNumber::NONE; counts.len()];
        (0..).zip(&words).for_each(|(row, word)| rows[word.index()] = OptionalNumber::some(row));
        Terms { words, rows }
    }

    /// The row of a word, if a training document has it.
    #[inline]
    pub fn row(&self, word: WordId) -> Option<WordRow> {
        self.rows[word.index()].get().map(WordRow)
    }
}

/// Posting lists of the documents' own text, given to `take` piece by piece.
pub fn text(view: &View<'_>, terms: &Terms, take: Take<'_>) -> io::Result<Outline> {
    let words = |document: usize| view.corpus.words(view.documents[document]);
    let each = |document: usize, tell: &mut dyn FnMut(u32)| {
        words(document).iter().filter_map(|&word| terms.row(word)).for_each(|row| tell(row.0));
    };
    lists(view.documents.len(), terms.words.len(), |document| words(document).len(), each, take)
}

/// Posting lists of the contexts of the links that point at documents, which count as [`ContextCounts`] has it.
pub fn cited(view: &View<'_>, terms: &Terms, counts: &ContextCounts, take: Take<'_>) -> io::Result<Outline> {
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
    lists(view.documents.len(), terms.words.len(), size, each, take)
}
