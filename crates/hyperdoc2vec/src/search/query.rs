//! A question: some text, of which the words are known to the model or not, and the place where the link would stand.
//!
//! `[[?]]` marks that place; words then weigh by their distance from it as they did in training, and those beyond the
//! window do not count. Without a mark the whole text counts, and all places weigh the same. Other marks of links
//! (`[[id]]`, see [`crate::document::markup`]) are read as links where the model knows the id, and as text where it does not.

use std::collections::BTreeMap;

use crate::document::markup;
use crate::document::tokenize::Tokenizer;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::model::params::Method;
use crate::model::weighting::{distance_weight, rarity_weight};
use crate::search::bm25::Term;

/// Marks the place of the link.
pub const MARK: &str = "?";

/// A word of the text that counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Word {
    /// Its row: a row of vectors, or behind them one of the index alone.
    pub row: u32,
    /// How many words stand between it and the mark; 0 without a mark.
    pub distance: usize,
    /// The same, counting only words with vectors, as training does.
    pub near: usize,
}

/// Text, read by a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// Whether a place was marked.
    pub marked: bool,
    /// How many words the text has.
    pub length: usize,
    /// The words that count, those before the mark first, nearest first.
    pub words: Vec<Word>,
    /// How many of these stand before the mark.
    pub before: usize,
    /// Words that the model does not know, each once, in order.
    pub unknown: Vec<String>,
    /// Rows of documents that the text links to.
    pub links: Vec<u32>,
}

impl Query {
    /// Reads `text` with the tokeniser and the words of `model`.
    pub fn read(model: &Model, tokenizer: &Tokenizer, text: &str) -> Result<Query> {
        let (terms, names) = (model.terms(), model.names());
        let marked = markup::parse(text);
        let mut query = Query::default();
        // All words in order, known or not; how many stand before the mark.
        let (mut rows, mut mark) = (Vec::<Option<u32>>::new(), None);
        let mut unknown = BTreeMap::<String, usize>::new();
        let mut read = |text: &str, rows: &mut Vec<Option<u32>>| {
            tokenizer.words(text, |word| {
                let row = terms.find(word).map(|row| row as u32);
                if row.is_none() && !unknown.contains_key(word) {
                    unknown.insert(word.to_owned(), rows.len());
                }
                rows.push(row);
            });
        };
        let mut from = 0;
        for link in &marked.links {
            read(&marked.text[from..link.at], &mut rows);
            from = link.at;
            if link.targets == [MARK] {
                if mark.replace(rows.len()).is_some() {
                    return Err(Error::Usage("the text has two places marked [[?]]; mark one".to_owned()));
                }
                continue;
            }
            for target in &link.targets {
                match names.find(target) {
                    Some(row) => query.links.push(row as u32),
                    None => read(target, &mut rows),
                }
            }
        }
        read(&marked.text[from..], &mut rows);
        let mut unknown: Vec<(String, usize)> = unknown.into_iter().collect();
        unknown.sort_by_key(|&(_, place)| place);
        let unknown = unknown.into_iter().map(|(word, _)| word).collect();
        let around = Query::of_rows(&rows, mark, model.words(), model.params().window);
        Ok(Query { unknown, links: query.links, ..around })
    }

    /// A question of words by their rows, `None` where the model does not know one, with a mark before word `mark`.
    /// The first `vectors` rows have vectors.
    pub fn of_rows(rows: &[Option<u32>], mark: Option<usize>, vectors: usize, window: usize) -> Query {
        let (mut words, mut before) = (Vec::new(), 0);
        let side = |rows: &mut dyn Iterator<Item = &Option<u32>>, words: &mut Vec<Word>| {
            let mut near = 0;
            for (distance, row) in rows.enumerate() {
                let Some(row) = *row else { continue };
                if near >= window {
                    break;
                }
                words.push(Word { row, distance, near });
                near += usize::from((row as usize) < vectors);
            }
        };
        match mark {
            Some(mark) => {
                side(&mut rows[..mark].iter().rev(), &mut words);
                before = words.len();
                side(&mut rows[mark..].iter(), &mut words);
            }
            None => words = rows.iter().flatten().map(|&row| Word { row, distance: 0, near: 0 }).collect(),
        }
        Query { marked: mark.is_some(), length: rows.len(), words, before, ..Query::default() }
    }

    /// Rows of the words that count, in the order of reading, and how many of them stand before the mark.
    pub fn reading(&self) -> (Vec<u32>, usize) {
        let (before, after) = self.words.split_at(self.before.min(self.words.len()));
        (before.iter().rev().chain(after).map(|word| word.row).collect(), before.len())
    }

    /// The rows of the words that have vectors, and their weights, which add up to 1; empty where there is none.
    pub fn weights(&self, model: &Model) -> Result<(Vec<u32>, Vec<f32>)> {
        let params = model.params();
        let (decay, rarity) = match params.method {
            Method::HyperDoc | Method::Joint => (params.citation.decay, params.citation.rarity),
            _ => (0.0, false),
        };
        let (found_in, trained) = (model.word_documents()?, model.trained_documents());
        let (mut rows, mut weights) = (Vec::new(), Vec::new());
        for word in self.words.iter().filter(|word| word.near < params.window) {
            let Some(&documents) = found_in.get(word.row as usize) else { continue };
            rows.push(word.row);
            weights.push(distance_weight(word.near, decay) * rarity_weight(documents, trained, rarity));
        }
        let total: f32 = weights.iter().sum();
        if total > 0.0 {
            weights.iter_mut().for_each(|weight| *weight /= total);
        } else {
            // Words that stand in every document weigh nothing, all of them the same.
            let even = 1.0 / weights.len().max(1) as f32;
            weights.fill(even);
        }
        Ok((rows, weights))
    }

    /// Each distinct word once, by row, with the sum of the weights of its places: `exp(−distance/decay)`, or 1
    /// where `decay` is 0.
    pub fn terms(&self, window: usize, decay: f32) -> Vec<Term> {
        let mut terms = BTreeMap::<u32, f32>::new();
        for word in self.words.iter().filter(|word| word.distance < window) {
            *terms.entry(word.row).or_default() += distance_weight(word.distance, decay);
        }
        terms.into_iter().map(|(word, weight)| Term { word, weight }).collect()
    }
}
