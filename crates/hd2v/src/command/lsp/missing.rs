//! Links that are missing: looked for in what has changed, shown as hints, put in by code actions.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use hyperdoc2vec::SuggestOptions;
use hyperdoc2vec::recommend::{Draft, Edit, LinkWriter, TextKind};
use lsp_server::{Message, Notification};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionTriggerKind, Command, Diagnostic,
    DiagnosticSeverity, InlayHint, InlayHintLabel, InlayHintParams, InlayHintTooltip, PublishDiagnosticsParams,
    TextEdit, Uri, WorkspaceEdit,
};

use super::server::{Hints, LanguageServer};
use super::text::{Missing, OpenText};

/// Hints of a text, at the most.
const MOST_HINTS: usize = 50;
/// Bytes that are looked at between two messages.
const PIECE: usize = 4 << 10;
/// Documents offered for a selection.
const OFFERED: usize = 3;
/// Bytes of a selection that become a link, at the most.
const LONGEST_SELECTION: usize = 300;

impl LanguageServer<'_> {
    /// Looks for missing links in a piece of what has changed; what is to be sent when nothing is left of a text.
    pub fn look(&mut self) -> Vec<Message> {
        let stale = self.texts.iter().find(|(_, text)| text.is_stale()).map(|(uri, _)| uri.clone());
        let Some(uri) = stale else { return Vec::new() };
        let Some(piece) = self.texts.get_mut(&uri).and_then(|text| text.take_stale(PIECE)) else { return Vec::new() };
        self.look_at(&uri, piece);
        match self.texts.get(&uri) {
            Some(text) if !text.is_stale() => self.shown(&uri),
            _ => Vec::new(),
        }
    }

    /// Looks for missing links within some bytes of a text.
    fn look_at(&mut self, uri: &str, bytes: Range<usize>) {
        let (Some(suggester), Some(text)) = (&self.suggester, self.texts.get(uri)) else { return };
        let part = text.part(&bytes);
        let options = SuggestOptions::new(text.format)
            .path(&text.path)
            .beside_files()
            .never_link(self.never.clone())
            .min_probability(self.options.min_probability)
            .max(MOST_HINTS)
            .within(bytes.start.max(part.start) - part.start..bytes.end.max(part.start) - part.start);
        let Ok(found) = suggester.suggest(&text.text()[part.clone()], &options) else { return };
        let moved = |span: Range<usize>| part.start + span.start..part.start + span.end;
        // A place that asks for a link is no surprise: it is answered when a code action is asked for.
        let missing = found.links.into_iter().filter(|one| !one.wanted).map(|one| Missing {
            why: one.why(),
            span: moved(one.span),
            words: one.words,
            id: one.id,
            title: one.title,
            probability: one.probability,
            edits: one.edits.into_iter().map(|edit| (moved(edit.span), edit.text)).collect(),
        });
        let missing: Vec<Missing> = missing.collect();
        let Some(text) = self.texts.get_mut(uri) else { return };
        text.found.retain(|one| one.span.end <= bytes.start || one.span.start >= bytes.end);
        text.found.extend(missing);
        text.found.sort_by_key(|one| (one.span.start, one.span.end));
    }

    /// Tells the client that the hints of a text are others now.
    fn shown(&mut self, uri: &str) -> Vec<Message> {
        match self.options.hints {
            Hints::Diagnostics => {
                let (Some(text), Ok(address)) = (self.texts.get(uri), uri.parse::<Uri>()) else { return Vec::new() };
                let diagnostic = |one: &Missing| Diagnostic {
                    range: text.range(&one.span),
                    severity: Some(DiagnosticSeverity::HINT),
                    source: Some("hd2v".to_owned()),
                    message: format!("could link to {} ({:.2})", one.name(), one.probability),
                    ..Diagnostic::default()
                };
                let diagnostics = hints(text).into_iter().map(diagnostic).collect();
                let params = PublishDiagnosticsParams::new(address, diagnostics, Some(text.version));
                vec![Notification::new("textDocument/publishDiagnostics".to_owned(), params).into()]
            }
            Hints::Inlay if self.refreshes => vec![self.own_request("workspace/inlayHint/refresh")],
            Hints::Inlay | Hints::Off => Vec::new(),
        }
    }

    pub fn inlay_hints(&self, params: &InlayHintParams) -> Vec<InlayHint> {
        let Some(text) = self.open(&params.text_document).filter(|_| self.options.hints == Hints::Inlay) else {
            return Vec::new();
        };
        let asked = text.bytes(params.range);
        let inside = hints(text).into_iter().filter(|one| asked.start <= one.span.end && one.span.end <= asked.end);
        let hint = |one: &Missing| InlayHint {
            position: text.position(one.span.end),
            label: InlayHintLabel::String(format!("→ {}", one.name())),
            kind: None,
            text_edits: None,
            tooltip: Some(InlayHintTooltip::String(format!("{:.2}: {}", one.probability, one.why))),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        };
        inside.map(hint).collect()
    }

    /// "link to …" and "never link …" where a link is missing; the best documents for a place that asks for a link, or for
    /// a selection, otherwise.
    pub fn code_actions(&mut self, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
        let address = &params.text_document.uri;
        let uri = address.as_str();
        let wanted = params.context.only.as_ref();
        if wanted.is_some_and(|only| !only.iter().any(|kind| "quickfix".starts_with(kind.as_str()))) {
            return Vec::new();
        }
        let Some(text) = self.texts.get_mut(uri) else { return Vec::new() };
        let selected = text.bytes(params.range);
        let cut = text.boundary(selected.end.min(selected.start + PIECE));
        let around = text.paragraph(selected.start..cut);
        // Editors ask at every move of the cursor: while a text is written, what is known has to do.
        let by_itself = params.context.trigger_kind == Some(CodeActionTriggerKind::AUTOMATIC);
        let known = by_itself && !self.rested();
        let unknown = self.suggester.is_some() && !known;
        let Some(text) = self.texts.get_mut(uri) else { return Vec::new() };
        if unknown && (text.take_stale_within(&around) || around.end > super::text::LOOKED_AT) {
            self.look_at(uri, around);
        }
        let Some(text) = self.texts.get(uri) else { return Vec::new() };
        let mut actions = Vec::new();
        for one in text.found.iter().filter(|one| one.span.start <= selected.end && one.span.end >= selected.start) {
            let edits = one.edits.iter().map(|(span, new)| TextEdit::new(text.range(span), new.clone()));
            if !one.edits.is_empty() {
                let title = format!("link to {} ({:.2}: {})", one.name(), one.probability, one.why);
                actions.push(quick_fix(title, Some(edited(address, edits.collect())), None));
            }
            let arguments = Some(vec![one.words.clone().into()]);
            let command = Command::new("never link".to_owned(), "hd2v.neverLink".to_owned(), arguments);
            actions.push(quick_fix(format!("never link “{}”", one.words), None, Some(command)));
        }
        if actions.is_empty() && !known {
            actions = self.offered(address, text, selected);
        }
        actions
    }

    /// The best documents for a place that asks for a link, or for some selected words.
    fn offered(&self, address: &Uri, text: &OpenText, selected: Range<usize>) -> Vec<CodeActionOrCommand> {
        let model = self.recommender.model();
        let part = text.part(&selected);
        let content = &text.text()[part.clone()];
        let Ok(draft) = Draft::read(content, text.format, &model.tokenizer(), "text") else { return Vec::new() };
        let inside = selected.start - part.start..selected.end - part.start;
        let location = self.names().location_beside(&text.path, text.format);
        let writer = LinkWriter::new(self.names(), content, &draft, &location);
        let wanted = draft.wanted.iter().find(|place| place.span.start <= inside.end && inside.start <= place.span.end);
        let linked = draft.links.iter().any(|link| link.span.start < inside.end && inside.start < link.span.end);
        let mut words =
            draft.words.iter().filter(|word| word.span().start < inside.end && inside.start < word.span().end);
        let is_text = words.clone().next().is_some() && words.all(|word| word.kind != TextKind::Code);
        if wanted.is_none() && (linked || !is_text || inside.is_empty() || inside.len() > LONGEST_SELECTION) {
            return Vec::new();
        }
        // The words around the mark, or around the end of the selection.
        let around = wanted.map_or(inside.end..inside.end, |place| place.span.clone());
        let mut actions = Vec::new();
        for target in self.by_context(text, part.start + around.start, part.start + around.end, OFFERED) {
            let edits = match wanted {
                Some(place) => vec![writer.wanted(place, target.row)],
                None => writer.over(content, inside.clone(), target.row),
            };
            if edits.is_empty() {
                continue;
            }
            let edit = |edit: Edit| {
                let span = part.start + edit.span.start..part.start + edit.span.end;
                TextEdit::new(text.range(&span), edit.text)
            };
            let edits = edits.into_iter().map(edit).collect();
            let (id, title) = (model.names().get(target.row.index()), model.titles().get(target.row.index()));
            let probability = target.probability.map(|p| format!(" ({p:.2})")).unwrap_or_default();
            let title = format!("link to {}{probability}", if title.is_empty() { id } else { title });
            actions.push(quick_fix(title, Some(edited(address, edits)), None));
        }
        actions
    }
}

/// The links to show: each document once, at its first mention, and the likeliest where there are many; in order.
fn hints(text: &OpenText) -> Vec<&Missing> {
    let mut seen = HashSet::new();
    let mut first: Vec<&Missing> = text.found.iter().filter(|one| seen.insert(&one.id)).collect();
    if first.len() > MOST_HINTS {
        first.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        first.truncate(MOST_HINTS);
        first.sort_by_key(|one| one.span.start);
    }
    first
}

// The key is an address, which is compared as text.
#[allow(clippy::mutable_key_type)]
fn edited(address: &Uri, edits: Vec<TextEdit>) -> WorkspaceEdit {
    WorkspaceEdit::new(HashMap::from([(address.clone(), edits)]))
}

fn quick_fix(title: String, edit: Option<WorkspaceEdit>, command: Option<Command>) -> CodeActionOrCommand {
    CodeActionOrCommand::CodeAction(CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        edit,
        command,
        ..CodeAction::default()
    })
}
