//! The search index of a corpus: what is searched, under which words.
//!
//! Its words are all of the training documents. Those with vectors come first, in the order of their rows; behind
//! them the rarer ones, by falling count.

use std::io;

use crate::corpus::Corpus;
use crate::corpus::cited_by::CitedBy;
use crate::corpus::view::View;
use crate::id::WordId;
use crate::model::index::postings::{Outline, lists};
use crate::model::weighting::distance_weight;
use crate::storage::container::Take;

const NONE: u32 = u32::MAX;

/// What of a document is searched.
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
    rows: Vec<u32>,
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

/// How often a word counts that stands beside a link to a document; one of the document's own text counts once.
const BESIDE: f32 = 4.0;

/// Posting lists of the documents' own text, given to `take` piece by piece.
pub fn text(view: &View<'_>, terms: &Terms, take: Take<'_>) -> io::Result<Outline> {
    let words = |document: usize| view.corpus.words(view.documents[document]);
    let each = |document: usize, tell: &mut dyn FnMut(u32)| {
        words(document).iter().filter_map(|&word| terms.row(word)).for_each(tell);
    };
    lists(view.documents.len(), terms.words.len(), |document| words(document).len(), each, take)
}

/// How often a word counts that stands 0, 1, 2 … words from a link.
pub(crate) fn context_times(window: usize, decay: f32) -> Vec<usize> {
    let times = |distance| (BESIDE * distance_weight(distance, decay)).round() as usize;
    (0..window).map(times).take_while(|&times| times > 0).collect()
}

/// Posting lists of the contexts of the links that point at documents: up to `window` words on each side, which count
/// four times beside the link and less by `decay` the further away they stand, down to not at all.
pub fn cited(view: &View<'_>, terms: &Terms, window: usize, decay: f32, take: Take<'_>) -> io::Result<Outline> {
    let times = context_times(window, decay);
    let cited_by = CitedBy::new(view, times.len());
    let each = |document: usize, tell: &mut dyn FnMut(u32)| {
        for &position in cited_by.positions(document) {
            let position = view.corpus.position(position as usize);
            let (before, after) = view.corpus.context(&position, times.len());
            for (word, &times) in before.iter().rev().zip(&times).chain(after.iter().zip(&times)) {
                if let Some(row) = terms.row(*word) {
                    (0..times).for_each(|_| tell(row));
                }
            }
        }
    };
    let size = |document: usize| cited_by.positions(document).len() * 2 * times.len();
    lists(view.documents.len(), terms.words.len(), size, each, take)
}
