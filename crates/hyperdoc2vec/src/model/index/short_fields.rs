//! Titles and authors, by their words: fields of their own, which neither the text nor training sees.

use std::io;

use crate::corpus::Corpus;
use crate::corpus::view::View;
use crate::document::fold::surname_words;
use crate::document::tokenize::Tokenizer;
use crate::id::{DocId, DocRow, WordRow};
use crate::model::index::links::part;
use crate::model::index::terms::Terms;
use crate::storage::container::Take;

/// Of a document so many authors count.
const MOST_AUTHORS: usize = 64;

/// A field of a few words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShortField {
    /// The title.
    Title,
    /// The surnames of authors, the first author first.
    Authors,
}

impl ShortField {
    /// Both.
    pub const ALL: [ShortField; 2] = [ShortField::Title, ShortField::Authors];

    /// The names of the arrays: rows of words, and where those of each document end.
    pub(crate) fn arrays(self) -> [&'static str; 2] {
        match self {
            ShortField::Title => ["titles.rows", "titles.row_ends"],
            ShortField::Authors => ["authors.rows", "authors.row_ends"],
        }
    }

    /// Tells the words of a document, in order.
    pub(crate) fn words(self, corpus: &Corpus, doc: DocId, tokenizer: &Tokenizer, mut tell: impl FnMut(&str)) {
        match self {
            ShortField::Title => {
                tokenizer.words(corpus.title(doc).unwrap_or_default(), tell);
            }
            ShortField::Authors => {
                corpus.authors(doc).take(MOST_AUTHORS).for_each(|name| surname_words(name, tokenizer, &mut tell));
            }
        }
    }

    /// Tells the words of all documents of `view`, each with the number of its document.
    pub(crate) fn read(self, view: &View<'_>, mut tell: impl FnMut(usize, &str)) {
        let tokenizer = Tokenizer::new(view.corpus.manifest().options.lowercase);
        for (number, &doc) in view.documents.iter().enumerate() {
            self.words(view.corpus, doc, &tokenizer, |word| tell(number, word));
        }
    }
}

/// The words of a short field of each document, as they are stored.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShortWords<'a> {
    /// Where each document's words end.
    pub ends: &'a [u64],
    /// The words by their rows.
    pub rows: &'a [u32],
}

impl<'a> ShortWords<'a> {
    /// The words of a document, in the order of reading.
    pub fn of(&self, document: DocRow) -> &'a [WordRow] {
        WordRow::all(part(self.ends, self.rows, document.index()))
    }
}

/// The words of a field of the documents of `view`: rows go to `take` piece by piece, and their ends come back.
pub fn short_words(view: &View<'_>, terms: &Terms, field: ShortField, take: Take<'_>) -> io::Result<Vec<u64>> {
    let corpus = view.corpus;
    let tokenizer = Tokenizer::new(corpus.manifest().options.lowercase);
    let (mut ends, mut end, mut bytes) = (Vec::with_capacity(view.documents.len()), 0, Vec::new());
    for &doc in view.documents.iter() {
        bytes.clear();
        field.words(corpus, doc, &tokenizer, |word| {
            bytes.extend(terms.find(corpus, word).into_iter().flat_map(|row| row.0.to_le_bytes()));
        });
        take(&bytes)?;
        end += bytes.len() as u64 / 4;
        ends.push(end);
    }
    Ok(ends)
}
