//! Titles, ids, labels and phrases that are never linked.

use std::collections::HashSet;

use super::lexicon::{phrase_key, word_key};
use crate::document::Tokenizer;
use crate::draft::DraftWord;
use crate::id::DocRow;
use crate::model::Model;

/// Phrases, documents and labels that are never to be linked.
#[derive(Debug, Clone, Default)]
pub struct NeverLink {
    lines: HashSet<String>,
    phrases: HashSet<u64>,
}

impl NeverLink {
    /// Reads a list: a line each, a title, an id, a label or a phrase; `#` begins a comment.
    pub fn read(text: &str) -> NeverLink {
        let mut never = NeverLink::default();
        for line in text.lines().map(|line| line.split(" #").next().unwrap_or_default().trim()) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            never.lines.insert(line.to_lowercase());
            let words: Vec<u64> = Tokenizer::default().list(line).iter().map(|word| word_key(word)).collect();
            never.phrases.insert(phrase_key(&words));
        }
        never
    }

    pub(super) fn document(&self, model: &Model, row: DocRow) -> bool {
        let has = |text: &str| self.lines.contains(&text.to_lowercase());
        let labels = model.labels();
        !self.lines.is_empty()
            && (has(model.names().get(row.index()))
                || has(model.titles().get(row.index()))
                || model.label_ids(row.index()).iter().any(|&label| has(labels.get(label as usize))))
    }

    pub(super) fn phrase(&self, words: &[DraftWord]) -> bool {
        let keys = || words.iter().map(|word| word_key(&word.text));
        !self.phrases.is_empty() && self.phrases.contains(&phrase_key(&keys().collect::<Vec<_>>()))
    }
}
