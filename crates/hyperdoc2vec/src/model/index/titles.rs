//! The words of titles, by their rows in the index: a field of its own, which neither the text nor training sees.

use std::io;

use crate::corpus::view::View;
use crate::document::tokenize::Tokenizer;
use crate::id::{DocRow, WordRow};
use crate::model::index::links::part;
use crate::model::index::terms::Terms;
use crate::storage::container::Take;

/// The words of each document's title, as they are stored. Words that no text has are left out.
#[derive(Debug, Clone, Copy, Default)]
pub struct TitleWords<'a> {
    /// Where each title ends.
    pub ends: &'a [u64],
    /// The words by their rows.
    pub rows: &'a [u32],
}

impl<'a> TitleWords<'a> {
    /// The words of a title, in the order of reading.
    pub fn of(&self, document: DocRow) -> &'a [WordRow] {
        WordRow::all(part(self.ends, self.rows, document.index()))
    }
}

/// The words of the titles of `view`: rows go to `take` piece by piece, and their ends come back.
pub fn title_words(view: &View<'_>, terms: &Terms, take: Take<'_>) -> io::Result<Vec<u64>> {
    let corpus = view.corpus;
    let tokenizer = Tokenizer::new(corpus.manifest().options.lowercase);
    let (mut ends, mut end, mut bytes) = (Vec::with_capacity(view.documents.len()), 0, Vec::new());
    for &doc in view.documents.iter() {
        bytes.clear();
        tokenizer.words(corpus.title(doc).unwrap_or_default(), |word| {
            let row = corpus.find_word(word).and_then(|word| terms.row(word));
            bytes.extend(row.into_iter().flat_map(|row| row.0.to_le_bytes()));
        });
        take(&bytes)?;
        end += bytes.len() as u64 / 4;
        ends.push(end);
    }
    Ok(ends)
}
