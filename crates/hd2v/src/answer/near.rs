//! What lies near a document or a word.

use hyperdoc2vec::Model;
use hyperdoc2vec::model::Vectors;
use hyperdoc2vec::search::{self, Query, Ranking, Searcher, nearest, rank};

use super::{Problem, documents};
use crate::wire::{By, NearWord, Similar, Words, WordsAndDocuments};

/// Documents near a document, as rows.
pub fn similar_rows(model: &Model, id: &str, by: By, top: usize) -> Result<Vec<search::Hit>, Problem> {
    let which = if by == By::In { Vectors::DocIn } else { Vectors::DocOut };
    around(model, which, super::document(model, id)?, id, by, top)
}

/// Words near a word, as rows.
pub fn word_rows(model: &Model, word: &str, by: By, top: usize) -> Result<Vec<search::Hit>, Problem> {
    let which = if by == By::In { Vectors::WordIn } else { Vectors::WordOut };
    around(model, which, super::word(model, word)?, word, by, top)
}

fn around(
    model: &Model,
    which: Vectors,
    row: usize,
    name: &str,
    by: By,
    top: usize,
) -> Result<Vec<search::Hit>, Problem> {
    let vectors = model.vectors(which)?;
    if vectors.row(row).iter().all(|&x| x == 0.0) {
        let by = if by == By::In { "IN" } else { "OUT" };
        let message = format!("the {by} vector of {name:?} is zero, so nothing is near it");
        return Err(Problem::Unknown { code: "no-vector", message });
    }
    Ok(nearest(vectors, row, top))
}

/// Documents near a document.
pub fn similar(model: &Model, id: &str, by: By, top: usize) -> Result<Similar, Problem> {
    Ok(Similar { hits: documents(model, &similar_rows(model, id, by, top)?) })
}

/// Words near a word.
pub fn words(model: &Model, word: &str, by: By, top: usize) -> Result<Words, Problem> {
    let vocabulary = model.vocabulary();
    let near = |(hit, rank): (&search::Hit, usize)| {
        let word = vocabulary.get(hit.row as usize).to_owned();
        NearWord { rank, word, score: hit.score }
    };
    Ok(Words { hits: word_rows(model, word, by, top)?.iter().zip(1..).map(near).collect() })
}

/// A text of one word.
fn alone(model: &Model, row: usize) -> Query {
    Query::of_rows(&[Some(row as u32)], None, model.words(), model.params().window)
}

/// The same, and documents that a text of this word alone should link to; none where vectors do not tell.
pub fn words_and_documents(
    searcher: &Searcher<'_>,
    word: &str,
    by: By,
    top: usize,
) -> Result<WordsAndDocuments, Problem> {
    let model = searcher.model();
    let Words { hits } = words(model, word, by, top)?;
    let scores = match searcher.can_embed() {
        Ok(()) => searcher.scores(&alone(model, super::word(model, word)?), Ranking::Embedding)?,
        Err(_) => None,
    };
    let pointed = scores.map(|scores| rank::top(&scores, top, |_| true)).unwrap_or_default();
    Ok(WordsAndDocuments { hits, documents: documents(model, &pointed) })
}
