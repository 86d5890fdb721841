//! Completion: documents for a target that is being typed.

use hyperdoc2vec::DocRow;
use hyperdoc2vec::document::Tokenizer;
use hyperdoc2vec::recommend::{Draft, Question};
use lsp_types::{CompletionItem, CompletionItemKind, CompletionList, CompletionParams, CompletionTextEdit, TextEdit};

use super::server::LanguageServer;
use super::text::OpenText;
use super::typing::{TargetSyntax, Typing, typing};

/// Items of a completion.
const ITEMS: usize = 30;
/// Bytes before and behind a place that the ranking reads.
const BEFORE: usize = 3000;
const BEHIND: usize = 1500;

/// A document that could be the target.
pub struct Target {
    pub row: DocRow,
    pub probability: Option<f32>,
}

impl LanguageServer<'_> {
    pub fn completion(&self, params: &CompletionParams) -> CompletionList {
        let none = CompletionList { is_incomplete: true, items: Vec::new() };
        let place = &params.text_document_position;
        let Some(text) = self.open(&place.text_document) else { return none };
        let at = text.byte(place.position);
        let Some(Typing { start, syntax }) = typing(text.text(), at) else { return none };
        if in_code(text, &self.recommender.model().tokenizer(), at) {
            return none;
        }
        let start = start.min(at);
        let typed = &text.text()[start..at];
        let targets = match typed.trim().trim_end_matches('?') {
            "" => self.by_context(text, start, at, ITEMS),
            words => self.by_name(words),
        };
        let location = self.names().location_beside(&text.path, text.format);
        let model = self.recommender.model();
        let close = Some(syntax.close()).filter(|close| !text.text()[at..].starts_with(close)).unwrap_or_default();
        let range = text.range(&(start..at));
        let item = |(rank, target): (usize, Target)| {
            let (id, title) = (model.names().get(target.row.index()), model.titles().get(target.row.index()));
            let written = match syntax {
                TargetSyntax::Path => self.names().href(text.format, &location, target.row),
                TargetSyntax::Wiki | TargetSyntax::Key => id.to_owned(),
            };
            let probability = target.probability.map(|p| format!(" ({p:.2})")).unwrap_or_default();
            CompletionItem {
                label: if title.is_empty() { id.to_owned() } else { title.to_owned() },
                detail: Some(format!("{id}{probability}")),
                kind: Some(CompletionItemKind::REFERENCE),
                // Clients drop what does not begin with what is typed, and sort by their own rules.
                filter_text: Some(typed.to_owned()),
                sort_text: Some(format!("{rank:04}")),
                text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, written + close))),
                ..CompletionItem::default()
            }
        };
        let items = targets.into_iter().enumerate().map(item).collect();
        // Asked again at every key, so that what is typed is looked for in all documents, not in these.
        CompletionList { is_incomplete: true, items }
    }

    /// Documents by what is typed of their ids, titles or authors.
    fn by_name(&self, typed: &str) -> Vec<Target> {
        let found = self.recommender.find_documents(typed, ITEMS);
        let row = |id: &str| self.recommender.model().names().find(id).map(|row| DocRow(row as u32));
        found.into_iter().filter_map(|found| Some(Target { row: row(&found.id)?, probability: None })).collect()
    }

    /// Documents for the words around a place; what stands between `start` and `end` is no part of them.
    pub fn by_context(&self, text: &OpenText, start: usize, end: usize, top: usize) -> Vec<Target> {
        let model = self.recommender.model();
        let from = text.boundary(start.saturating_sub(BEFORE));
        let to = text.boundary(end + BEHIND);
        // Only the words count: marks of the format are none.
        let tokenizer = model.tokenizer();
        let words = |part: &str| {
            let draft = Draft::read(part, text.format, &tokenizer, "text").ok()?;
            Some(draft.words.iter().map(|word| &*word.text).collect::<Vec<&str>>().join(" "))
        };
        let (Some(before), Some(behind)) = (words(&text.text()[from..start]), words(&text.text()[end..to])) else {
            return Vec::new();
        };
        let mut question = Question::new(format!("{before} [[?]] {behind}")).top(top);
        let source = self.names().location(&text.path).document;
        question.source = source.map(|row| model.names().get(row.index()).to_owned());
        let hits = self.recommender.ask(&question).map(|answer| answer.hits).unwrap_or_default();
        let target = |id: &str| model.names().find(id).map(|row| DocRow(row as u32));
        hits.into_iter()
            .filter_map(|hit| Some(Target { row: target(&hit.id)?, probability: hit.probability }))
            .collect()
    }
}

/// Whether a place is part of code: what is typed there is no link.
fn in_code(text: &OpenText, tokenizer: &Tokenizer, at: usize) -> bool {
    let part = text.part(&(at..at));
    let draft = Draft::read(&text.text()[part.clone()], text.format, tokenizer, "text");
    let here = at - part.start;
    draft.is_ok_and(|draft| draft.code.iter().any(|code| code.start < here && here <= code.end))
}
