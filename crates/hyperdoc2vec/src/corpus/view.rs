//! What a training run sees of a corpus: some of its documents, the words that are frequent enough in them, the
//! links among them; each word and document with its row in the tables, words first.

use std::sync::Arc;

use crate::corpus::Corpus;
use crate::corpus::split::{Part, Split};
use crate::error::{Error, Result};
use crate::id::{DocId, WordId};

const NONE: u32 = u32::MAX;

/// The training part of a corpus. All but the links is shared between a view and its clones.
#[derive(Clone)]
pub struct View<'a> {
    /// The corpus.
    pub corpus: &'a Corpus,
    /// Training documents; document i has row `words.len() + i`.
    pub documents: Arc<[DocId]>,
    /// Words that occur often enough in them, by falling count; word i has row i.
    pub words: Arc<[WordId]>,
    /// How often each of `words` occurs in the training documents.
    pub counts: Arc<[u64]>,
    /// In how many training documents each of `words` occurs.
    pub document_counts: Arc<[u64]>,
    /// Every link between training documents.
    pub links: Vec<Example>,
    word_rows: Arc<[u32]>,
    document_rows: Arc<[u32]>,
}

/// A link: the number of its position in the corpus, and the row of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// The position.
    pub position: u32,
    /// The row of the target.
    pub target: u32,
}

impl<'a> View<'a> {
    /// The training documents of `split`, and the words that occur `min_count` times in them.
    pub fn new(corpus: &'a Corpus, split: &Split, min_count: u64) -> Result<View<'a>> {
        let documents: Arc<[DocId]> = split.documents(Part::Training).collect();
        let mut counts = vec![0u64; corpus.distinct_words()];
        let mut document_counts = vec![0u64; corpus.distinct_words()];
        let mut last_seen = vec![NONE; corpus.distinct_words()];
        for &doc in &*documents {
            for word in corpus.words(doc) {
                counts[word.index()] += 1;
                if last_seen[word.index()] != doc.0 {
                    last_seen[word.index()] = doc.0;
                    document_counts[word.index()] += 1;
                }
            }
        }
        let mut words: Vec<WordId> =
            (0..counts.len() as u32).map(WordId).filter(|word| counts[word.index()] >= min_count.max(1)).collect();
        // Ids rise as counts over the whole corpus fall, ties in the order of the words: a stable sort keeps those.
        words.sort_by_key(|word| std::cmp::Reverse(counts[word.index()]));
        if words.is_empty() {
            let place = corpus.path().display().to_string();
            let what = format!("no word occurs {min_count} times in the documents to train on; lower the least count");
            return Err(Error::input(place, what));
        }
        let mut word_rows = vec![NONE; counts.len()];
        (0..).zip(&words).for_each(|(row, word)| word_rows[word.index()] = row);
        let mut document_rows = vec![NONE; corpus.len()];
        (words.len() as u32..).zip(&*documents).for_each(|(row, doc)| document_rows[doc.index()] = row);
        let mut links = Vec::new();
        for &doc in &*documents {
            for position in corpus.position_range(doc) {
                for target in corpus.position(position).targets {
                    let target = document_rows[target.index()];
                    if target != NONE {
                        links.push(Example { position: position as u32, target });
                    }
                }
            }
        }
        let of = |counts: Vec<u64>| words.iter().map(|word| counts[word.index()]).collect::<Arc<[u64]>>();
        let (counts, document_counts) = (of(counts), of(document_counts));
        let (words, word_rows, document_rows) = (words.into(), word_rows.into(), document_rows.into());
        Ok(View { corpus, documents, words, counts, document_counts, links, word_rows, document_rows })
    }

    /// The same without the links that stand in some of the documents.
    pub fn without_links_of(&self, documents: &[bool]) -> View<'a> {
        let inside = |link: &&Example| {
            let source = self.document_row(self.corpus.position(link.position as usize).source);
            source.is_some_and(|row| !documents[row as usize - self.words.len()])
        };
        let links = self.links.iter().filter(inside).copied().collect();
        View { links, ..self.clone() }
    }

    /// Rows in a table of all words and documents.
    pub fn rows(&self) -> usize {
        self.words.len() + self.documents.len()
    }

    /// The row of a word, if it is frequent enough.
    #[inline]
    pub fn word_row(&self, word: WordId) -> Option<u32> {
        Some(self.word_rows[word.index()]).filter(|&row| row != NONE)
    }

    /// The row of a document, if it is for training.
    pub fn document_row(&self, doc: DocId) -> Option<u32> {
        Some(self.document_rows[doc.index()]).filter(|&row| row != NONE)
    }

    /// Calls `each(row, distance)` for up to `window` known words on each side of a position, those before it first,
    /// the nearest last; `distance` is 0 for the words that touch the link.
    pub fn context(&self, position: usize, window: usize, each: impl FnMut(u32, usize)) {
        self.context_of(position, window, |word| self.word_row(word), each);
    }

    /// The same with what `known` says of each word in place of its row.
    #[inline]
    pub fn context_of<T>(
        &self,
        position: usize,
        window: usize,
        known: impl Fn(WordId) -> Option<T>,
        mut each: impl FnMut(T, usize),
    ) {
        let place = self.corpus.position(position);
        let (before, after) = self.corpus.words(place.source).split_at(place.at);
        let known = |word: &WordId| known(*word);
        for (distance, word) in before.iter().rev().filter_map(known).take(window).enumerate() {
            each(word, distance);
        }
        for (distance, word) in after.iter().filter_map(known).take(window).enumerate() {
            each(word, distance);
        }
    }
}
