//! The search index of a corpus: what is searched, under which words.
//!
//! Its words are all of the training documents. Those with vectors come first, in the order of their rows; behind
//! them the rarer ones, by falling count.

use super::postings::PostingsBuf;
use crate::corpus::Corpus;
use crate::id::WordId;
use crate::train::text::CitedBy;
use crate::train::view::View;

const NONE: u32 = u32::MAX;

/// What of a document is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Its own text.
    Text,
    /// The contexts of the links that point at it, the links' own words included.
    Cited,
}

/// The words of an index, and the row of each word of the corpus.
#[derive(Debug)]
pub struct Terms {
    /// The words by their rows.
    pub words: Vec<WordId>,
    rows: Vec<u32>,
}

impl Terms {
    /// The words of the documents of `view`.
    pub fn new(view: &View<'_>) -> Terms {
        let corpus: &Corpus = view.corpus;
        let mut counts = vec![0u64; corpus.distinct_words()];
        for &doc in &view.documents {
            corpus.words(doc).iter().for_each(|word| counts[word.index()] += 1);
        }
        view.words.iter().for_each(|word| counts[word.index()] = 0);
        let mut rare: Vec<WordId> =
            (0..counts.len() as u32).map(WordId).filter(|word| counts[word.index()] > 0).collect();
        // Ids rise as counts over the whole corpus fall, ties in the order of the words: a stable sort keeps those.
        rare.sort_by_key(|word| std::cmp::Reverse(counts[word.index()]));
        let words: Vec<WordId> = view.words.iter().copied().chain(rare).collect();
        let mut rows = vec![NONE; counts.len()];
        (0..).zip(&words).for_each(|(row, word)| rows[word.index()] = row);
        Terms { words, rows }
    }

    /// The row of a word, if a training document has it.
    #[inline]
    pub fn row(&self, word: WordId) -> Option<u32> {
        Some(self.rows[word.index()]).filter(|&row| row != NONE)
    }
}

/// Posting lists of a field of the documents of `view`; a context has up to `window` words on each side.
pub fn index(view: &View<'_>, terms: &Terms, field: Field, window: usize) -> PostingsBuf {
    let corpus = view.corpus;
    let (documents, words) = (view.documents.len(), terms.words.len());
    match field {
        Field::Text => PostingsBuf::build(
            documents,
            words,
            |document| corpus.words(view.documents[document]).len(),
            |document, tell| {
                corpus.words(view.documents[document]).iter().filter_map(|&word| terms.row(word)).for_each(tell);
            },
        ),
        Field::Cited => {
            let cited_by = CitedBy::new(view, window);
            let each = |document: usize, tell: &mut dyn FnMut(u32)| {
                for &position in cited_by.positions(document) {
                    let (before, after) = corpus.context(&corpus.position(position as usize), window);
                    before.iter().chain(after).filter_map(|&word| terms.row(word)).for_each(&mut *tell);
                }
            };
            let size = |document: usize| cited_by.positions(document).len().saturating_mul(2 * window);
            PostingsBuf::build(documents, words, size, each)
        }
    }
}
