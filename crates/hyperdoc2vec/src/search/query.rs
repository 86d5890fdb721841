//! A question: some text, of which the words are known to the model or not, and the place where the link would stand.
//!
//! `[[?]]` marks that place; words then weigh by their distance from it as they did in training, and those beyond the
//! window do not count. Without a mark the whole text counts, and all places weigh the same. Other marks of links
//! (`[[id]]`, see [`crate::document::markup`]) are read as links where the model knows the id, and as text where it does not.

use std::collections::BTreeMap;

use crate::corpus::Corpus;
use crate::corpus::sentence_words::SentenceWords;
use crate::corpus::view::View;
use crate::corpus::window::{NearWord, side};
use crate::document::markup;
use crate::document::tokenize::Tokenizer;
use crate::error::{Error, Result};
use crate::id::{DocRow, WordRow};
use crate::model::Model;
use crate::model::index::terms::Terms;
use crate::model::weighting::{WeightRule, normalise};
use crate::search::bm25::Term;

/// Marks the place of the link.
pub const MARK: &str = "?";

/// Text, read by a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// Whether a place was marked.
    pub marked: bool,
    /// How many words the text has.
    pub length: usize,
    /// The words that count, those before the mark first, nearest first; all at distance 0 without a mark.
    pub words: Vec<NearWord>,
    /// How many of these stand before the mark.
    pub before: usize,
    /// Words that the model does not know, each once, in order.
    pub unknown: Vec<String>,
    /// How many words stand between each place of such a word and the mark, within the window; 0 without a mark.
    pub unknown_distances: Vec<usize>,
    /// The documents that the text links to.
    pub links: Vec<DocRow>,
    /// The words of the sentence that the place stands in; `None` where it is not known, so that no word is outside.
    pub sentence: Option<SentenceWords>,
}

/// Words on each side of a link that may count, in windows: words that are not known do not fill a window.
const WINDOWS_LOOKED_AT: usize = 8;

impl Query {
    /// Reads `text` with the tokeniser and the words of `model`.
    pub fn read(model: &Model, tokenizer: &Tokenizer, text: &str) -> Result<Query> {
        let (terms, names) = (model.terms(), model.names());
        let marked = markup::parse(text);
        let mut query = Query::default();
        // All words in order, known or not; how many stand before the mark.
        let (mut rows, mut mark) = (Vec::<Option<WordRow>>::new(), None);
        let mut unknown = BTreeMap::<String, usize>::new();
        let mut read = |text: &str, rows: &mut Vec<Option<WordRow>>| {
            tokenizer.words(text, |word| {
                let row = terms.find(word).map(|row| WordRow(row as u32));
                if row.is_none() && !unknown.contains_key(word) {
                    unknown.insert(word.to_owned(), rows.len());
                }
                rows.push(row);
            });
        };
        let mut from = 0;
        let mut sentence = None;
        for link in &marked.links {
            read(&marked.text[from..link.at], &mut rows);
            from = link.at;
            if link.targets == [MARK] {
                sentence = Some(SentenceWords::around(tokenizer, &marked.text, link.at, link.at));
                if mark.replace(rows.len()).is_some() {
                    return Err(Error::Usage("the text has two places marked [[?]]; mark one".to_owned()));
                }
                continue;
            }
            for target in &link.targets {
                match names.find(target) {
                    Some(row) => query.links.push(DocRow(row as u32)),
                    None => read(target, &mut rows),
                }
            }
        }
        read(&marked.text[from..], &mut rows);
        let mut unknown: Vec<(String, usize)> = unknown.into_iter().collect();
        unknown.sort_by_key(|&(_, place)| place);
        let unknown = unknown.into_iter().map(|(word, _)| word).collect();
        let around = Query::of_rows(&rows, mark, model.words(), model.params().window);
        Ok(Query { unknown, links: query.links, sentence, ..around })
    }

    /// The question that a link of a corpus is the answer to; the link's own words are left out where `anchor` is false.
    pub fn of_link(view: &View<'_>, terms: &Terms, position: usize, window: usize, anchor: bool) -> Query {
        let position = view.corpus.position(position);
        let (before, after) = view.corpus.context(&position, WINDOWS_LOOKED_AT * window);
        let before = if anchor { before } else { &before[..before.len().saturating_sub(position.anchor)] };
        let rows: Vec<Option<WordRow>> = before.iter().chain(after).map(|&word| terms.row(word)).collect();
        Query::of_rows(&rows, Some(before.len()), view.words.len(), window)
    }

    /// This question, the words of its sentence counted in the text of the corpus that [`Query::of_link`] took it from.
    pub fn in_sentence(self, corpus: &Corpus, position: usize, anchor: bool) -> Result<Query> {
        let own = if anchor { corpus.position(position).anchor } else { 0 };
        let counted = |words: SentenceWords| SentenceWords { before: words.before + own, ..words };
        Ok(Query { sentence: corpus.sentence_words(position)?.map(counted), ..self })
    }

    /// A question of words by their rows, `None` where the model does not know one, with a mark before word `mark`.
    /// The first `vectors` rows have vectors.
    pub fn of_rows(rows: &[Option<WordRow>], mark: Option<usize>, vectors: usize, window: usize) -> Query {
        let (mut words, mut before) = (Vec::new(), 0);
        let mut unknown_distances = Vec::new();
        match mark {
            Some(mark) => {
                words.extend(side(rows[..mark].iter().rev().copied(), vectors, window));
                before = words.len();
                words.extend(side(rows[mark..].iter().copied(), vectors, window));
                let sides = [&mut rows[..mark].iter().rev() as &mut dyn Iterator<Item = _>, &mut rows[mark..].iter()];
                for side in sides {
                    let near = side.take(window).enumerate().filter(|(_, row)| row.is_none());
                    unknown_distances.extend(near.map(|(distance, _)| distance));
                }
            }
            None => {
                words.extend(rows.iter().flatten().map(|&row| NearWord { row, distance: 0, near: 0 }));
                unknown_distances = vec![0; rows.iter().filter(|row| row.is_none()).count()];
            }
        }
        Query { marked: mark.is_some(), length: rows.len(), words, before, unknown_distances, ..Query::default() }
    }

    /// The words that count, in the order of reading, and how many of them stand before the mark.
    pub fn reading(&self) -> (Vec<WordRow>, usize) {
        let (before, after) = self.words.split_at(self.before.min(self.words.len()));
        (before.iter().rev().chain(after).map(|word| word.row).collect(), before.len())
    }

    /// The words that have vectors, and their weights, which add up to 1; empty where there is none.
    pub fn weights(&self, model: &Model) -> Result<(Vec<WordRow>, Vec<f32>)> {
        let (window, rule) = (model.params().window, WeightRule::of(model.params()));
        let (found_in, trained) = (model.word_documents(), model.trained_documents());
        let (mut rows, mut weights) = (Vec::new(), Vec::new());
        for word in self.words.iter().filter(|word| word.near < window) {
            let Some(&found) = found_in.get(word.row.index()) else { continue };
            rows.push(word.row);
            weights.push(rule.weight(word.near, found, trained));
        }
        normalise(&mut weights);
        Ok((rows, weights))
    }

    /// Each distinct word once, by row, with the sum of the weights of its places: by their distance, all words counted,
    /// and without the rarity, which BM25 has.
    pub fn terms(&self, window: usize, decay: f32) -> Vec<Term> {
        let rule = WeightRule { decay, rarity: false };
        self.terms_by(window, |_, distance| rule.by_distance(distance))
    }

    /// As [`Query::terms`]; words outside the sentence of the place weigh `outside` times as much.
    pub fn terms_by_sentence(&self, window: usize, decay: f32, outside: f32) -> Vec<Term> {
        let rule = WeightRule { decay, rarity: false };
        let words = self.sentence.unwrap_or(SentenceWords { before: usize::MAX, after: usize::MAX });
        self.terms_by(window, |place, distance| {
            let inside = distance < if place < self.before { words.before } else { words.after };
            rule.by_distance(distance) * if inside { 1.0 } else { outside }
        })
    }

    /// Each distinct word once, with the sum of the weights that its places and their distances have.
    fn terms_by(&self, window: usize, weight: impl Fn(usize, usize) -> f32) -> Vec<Term> {
        let mut terms = BTreeMap::<WordRow, f32>::new();
        for (place, word) in self.words.iter().enumerate().filter(|(_, word)| word.distance < window) {
            *terms.entry(word.row).or_default() += weight(place, word.distance);
        }
        terms.into_iter().map(|(word, weight)| Term { word, weight }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_outside_the_sentence_weigh_less_by_hand() {
        // "0 1. 2 3 [[?]] 4. 5 2": the sentence has two words before the mark and one behind it.
        let rows = [0, 1, 2, 3, 4, 5, 2].map(|row| Some(WordRow(row)));
        let around = Query::of_rows(&rows, Some(4), 6, 10);
        let weights = |query: &Query| -> Vec<(u32, f32)> {
            // So long a decay that a word weighs 1, to three digits.
            let terms = query.terms_by_sentence(10, 1e6, 0.5);
            terms.iter().map(|term| (term.word.0, (term.weight * 1e3).round() / 1e3)).collect()
        };
        let inside = Query { sentence: Some(SentenceWords { before: 2, after: 1 }), ..around.clone() };
        assert_eq!(weights(&inside), [(0, 0.5), (1, 0.5), (2, 1.5), (3, 1.0), (4, 1.0), (5, 0.5)]);
        assert_eq!(weights(&around), [(0, 1.0), (1, 1.0), (2, 2.0), (3, 1.0), (4, 1.0), (5, 1.0)], "not known");
    }
}
