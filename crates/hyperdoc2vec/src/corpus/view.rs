//! The part of a corpus that a run trains on: some of its documents, the words that are frequent enough in them, the
//! links among them; each word and document with its row.

use std::sync::Arc;

use crate::corpus::Corpus;
use crate::corpus::split::{Split, SplitPart};
use crate::error::{Error, Result};
use crate::id::{DocId, DocRow, OptionalNumber, TableRow, WordId, WordRow};

/// The training part of a corpus. All but the links is shared between a view and its clones.
#[derive(Clone)]
pub struct View<'a> {
    /// The corpus.
    pub corpus: &'a Corpus,
    /// Training documents, by their rows.
    pub documents: Arc<[DocId]>,
    /// Words that occur often enough in them, by falling count, by their rows.
    pub words: Arc<[WordId]>,
    /// How often each of `words` occurs in the training documents.
    pub counts: Arc<[u64]>,
    /// In how many training documents each of `words` occurs.
    pub document_counts: Arc<[u64]>,
    /// Every link between training documents.
    pub links: Vec<LinkExample>,
    word_rows: Arc<[OptionalNumber]>,
    document_rows: Arc<[OptionalNumber]>,
}

/// A link to learn from: where it stands, and the document that it points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkExample {
    /// The number of its position in the corpus.
    pub position: u32,
    /// The document.
    pub target: DocRow,
}

impl<'a> View<'a> {
    /// The training documents of `split`, and the words that occur `min_count` times in them.
    pub fn new(corpus: &'a Corpus, split: &Split, min_count: u64) -> Result<View<'a>> {
        let documents: Arc<[DocId]> = split.documents(SplitPart::Training).collect();
        let mut counts = vec![0u64; corpus.distinct_words()];
        let mut document_counts = vec![0u64; corpus.distinct_words()];
        let mut last_seen = vec![None; corpus.distinct_words()];
        for &doc in &*documents {
            for word in corpus.words(doc) {
                counts[word.index()] += 1;
                if last_seen[word.index()].replace(doc) != Some(doc) {
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
            let what =
                format!("no word occurs {min_count} times in the documents to train on; lower the minimum count");
            return Err(Error::input(place, what));
        }
        let mut word_rows = vec![OptionalNumber::NONE; counts.len()];
        (0..).zip(&words).for_each(|(row, word)| word_rows[word.index()] = OptionalNumber::some(row));
        let mut document_rows = vec![OptionalNumber::NONE; corpus.len()];
        (0..).zip(&*documents).for_each(|(row, doc)| document_rows[doc.index()] = OptionalNumber::some(row));
        let mut links = Vec::new();
        for &doc in &*documents {
            for position in corpus.position_range(doc) {
                for target in corpus.position(position).targets {
                    let target = document_rows[target.index()].get().map(DocRow);
                    links.extend(target.map(|target| LinkExample { position: position as u32, target }));
                }
            }
        }
        let of = |counts: Vec<u64>| words.iter().map(|word| counts[word.index()]).collect::<Arc<[u64]>>();
        let (counts, document_counts) = (of(counts), of(document_counts));
        let (words, word_rows, document_rows) = (words.into(), word_rows.into(), document_rows.into());
        Ok(View { corpus, documents, words, counts, document_counts, links, word_rows, document_rows })
    }

    /// A view without the links that stand in the documents of which `left_out` is true, by their rows.
    pub fn without_links_of(&self, left_out: &[bool]) -> View<'a> {
        let stays = |link: &&LinkExample| self.source_of(link).is_some_and(|source| !left_out[source.index()]);
        let links = self.links.iter().filter(stays).copied().collect();
        View { links, ..self.clone() }
    }

    /// Rows of a table of all words and documents.
    pub fn table_rows(&self) -> usize {
        self.words.len() + self.documents.len()
    }

    /// The row of a word, if it is frequent enough.
    #[inline]
    pub fn word_row(&self, word: WordId) -> Option<WordRow> {
        self.word_rows[word.index()].get().map(WordRow)
    }

    /// The row of a document, if it is for training.
    #[inline]
    pub fn document_row(&self, doc: DocId) -> Option<DocRow> {
        self.document_rows[doc.index()].get().map(DocRow)
    }

    /// The rows of all training documents.
    pub fn document_rows(&self) -> impl DoubleEndedIterator<Item = DocRow> + ExactSizeIterator + Clone + use<> {
        (0..self.documents.len() as u32).map(DocRow)
    }

    /// Where a table of words and documents has a word.
    #[inline]
    pub fn table_row_of_word(&self, word: WordRow) -> TableRow {
        TableRow(word.0)
    }

    /// Where a table of words and documents has a document: behind all words.
    #[inline]
    pub fn table_row_of_doc(&self, document: DocRow) -> TableRow {
        TableRow(self.words.len() as u32 + document.0)
    }

    /// The document that a row of a table of words and documents is of; `None` for a word.
    #[inline]
    pub fn doc_of(&self, row: TableRow) -> Option<DocRow> {
        row.0.checked_sub(self.words.len() as u32).map(DocRow)
    }

    /// The words of a training document that are frequent enough, in order.
    pub fn words_of(&self, document: DocRow) -> impl Iterator<Item = WordRow> {
        self.known(self.corpus.words(self.documents[document.index()]))
    }

    /// Those of some words that are frequent enough, in order.
    pub fn known(&self, words: &[WordId]) -> impl Iterator<Item = WordRow> {
        words.iter().filter_map(|&word| self.word_row(word))
    }

    /// The document that a link stands in; `None` if it is not for training.
    pub fn source_of(&self, link: &LinkExample) -> Option<DocRow> {
        self.document_row(self.corpus.position(link.position as usize).source)
    }

    /// How many links point at each document.
    pub fn links_to(&self) -> Vec<u32> {
        let mut links = vec![0; self.documents.len()];
        self.links.iter().for_each(|link| links[link.target.index()] += 1);
        links
    }
}
