//! What the server answers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hyperdoc2vec::DocRow;
use hyperdoc2vec::draft::{Draft, DraftFormat};
use hyperdoc2vec::places::{DocumentNames, NeverLink, Suggester};
use hyperdoc2vec::recommend::{DocumentHit, Question, Recommender};
use serde_json::{Value, json};

use super::super::suggest::Asked;
use super::notification;
use super::text::{Missing, OpenText};

/// Items of a completion.
const ITEMS: usize = 30;
/// Suggestions of a text.
const MOST_HINTS: usize = 50;
/// Bytes before and behind the cursor that the ranking reads.
const BEFORE: usize = 3000;
const BEHIND: usize = 1500;

/// What an editor may set.
pub struct Options {
    hints: bool,
    min_probability: f32,
    never_link: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Options {
        Options { hints: false, min_probability: 0.5, never_link: None }
    }
}

pub struct Server<'a> {
    pub recommender: Recommender<'a>,
    pub suggester: Option<Suggester<'a>>,
    pub names: DocumentNames<'a>,
    pub texts: BTreeMap<String, OpenText>,
    pub options: Options,
}

/// What stands before the cursor: where a target is being typed.
struct Typing {
    /// The byte where it begins.
    start: usize,
    syntax: TargetSyntax,
}

#[derive(Clone, Copy, PartialEq)]
enum TargetSyntax {
    /// `[[`, `\cite{`, `[@`: ids.
    Id,
    /// `](`: paths.
    Path,
}

/// The target that is being typed before the cursor, on this line.
fn typing(text: &str, at: usize) -> Option<Typing> {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let before = &text[line..at];
    let open = |mark: &str, closed: &[char], syntax| {
        let start = before.rfind(mark)? + mark.len();
        (!before[start..].contains(closed)).then_some(Typing { start: line + start, syntax })
    };
    let wiki = open("[[", &[']', '|'], TargetSyntax::Id);
    let path = open("](", &[')'], TargetSyntax::Path);
    let key = open("@", &[']', ' ', ';', ','], TargetSyntax::Id)
        .filter(|typing| before[..typing.start - line].rfind('[').is_some_and(|at| !before[at..].contains(']')));
    let cite = before.rfind("\\").and_then(|command| {
        let rest = &before[command..];
        let brace = rest.find('{')?;
        if !rest[..brace].to_ascii_lowercase().contains("cite") || rest.contains('}') {
            return None;
        }
        let comma = rest.rfind(',').filter(|&comma| comma > brace).unwrap_or(brace);
        let spaces = rest[comma + 1..].len() - rest[comma + 1..].trim_start().len();
        Some(Typing { start: line + command + comma + 1 + spaces, syntax: TargetSyntax::Id })
    });
    [wiki, path, key, cite].into_iter().flatten().max_by_key(|typing| typing.start)
}

impl Server<'_> {
    /// The reply to a message; none to a notification.
    pub fn message(&mut self, message: &Value) -> Option<Value> {
        let params = &message["params"];
        let method = message["method"].as_str().unwrap_or_default();
        let Some(id) = message.get("id").filter(|_| message.get("method").is_some()) else {
            self.notified(method, params);
            return None;
        };
        let result = match method {
            "initialize" => self.initialize(params),
            "shutdown" => Value::Null,
            "textDocument/completion" => self.completion(params),
            "textDocument/codeAction" => self.actions(params),
            "textDocument/hover" => self.hover(params),
            "textDocument/inlayHint" => self.hints(params),
            "workspace/executeCommand" => self.command(params),
            method => {
                let what = format!("no method is called {method:?}");
                return Some(json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": what}}));
            }
        };
        Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    fn initialize(&mut self, params: &Value) -> Value {
        let options = &params["initializationOptions"];
        self.options.hints = options["hints"].as_bool().unwrap_or(false);
        self.options.min_probability = options["minProbability"].as_f64().unwrap_or(0.5) as f32;
        self.options.never_link = options["neverLink"].as_str().map(PathBuf::from);
        json!({
            "capabilities": {
                "positionEncoding": "utf-16",
                "textDocumentSync": {"openClose": true, "change": 2},
                "completionProvider": {"triggerCharacters": ["[", "(", "{", "@", ",", "?"]},
                "codeActionProvider": {"codeActionKinds": ["quickfix"]},
                "hoverProvider": true,
                "inlayHintProvider": true,
                "executeCommandProvider": {"commands": ["hd2v.neverLink", "hd2v.orphans"]},
            },
            "serverInfo": {"name": "hd2v", "version": env!("CARGO_PKG_VERSION")},
        })
    }

    fn notified(&mut self, method: &str, params: &Value) {
        let document = &params["textDocument"];
        let Some(uri) = document["uri"].as_str() else { return };
        match method {
            "textDocument/didOpen" => {
                let text = document["text"].as_str().unwrap_or_default().to_owned();
                let language = document["languageId"].as_str().unwrap_or_default();
                self.texts.insert(uri.to_owned(), OpenText::new(uri, language, text));
            }
            "textDocument/didChange" => {
                if let Some(text) = self.texts.get_mut(uri) {
                    text.change(&params["contentChanges"]);
                }
            }
            "textDocument/didClose" => {
                self.texts.remove(uri);
            }
            _ => {}
        }
    }

    /// After a rest: suggestions for what has changed, as hints.
    pub fn rest(&mut self) -> Vec<Value> {
        if !self.options.hints {
            return Vec::new();
        }
        let stale: Vec<String> = self.texts.iter().filter(|(_, text)| text.stale).map(|(uri, _)| uri.clone()).collect();
        let mut replies = Vec::new();
        for uri in stale {
            self.refresh(&uri);
            let Some(text) = self.texts.get(&uri) else { continue };
            let diagnostic = |one: &Missing| {
                json!({
                    "range": text.range(&one.span),
                    "severity": 4,
                    "source": "hd2v",
                    "message": format!("could link to {} ({:.2})", shown(one), one.probability),
                })
            };
            let diagnostics: Vec<Value> = text.found.iter().map(diagnostic).collect();
            replies
                .push(notification("textDocument/publishDiagnostics", json!({"uri": uri, "diagnostics": diagnostics})));
        }
        replies
    }

    /// Computes the suggestions of a text, if it has changed.
    fn refresh(&mut self, uri: &str) {
        let (Some(suggester), Some(text)) = (&self.suggester, self.texts.get_mut(uri)) else { return };
        if !text.stale {
            return;
        }
        text.stale = false;
        let never = self.options.never_link.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        let asked = Asked {
            suggester,
            names: &self.names,
            never: never.map(|list| NeverLink::read(&list)).unwrap_or_default(),
            only: Vec::new(),
            min_probability: self.options.min_probability,
            max: MOST_HINTS,
            any_date: false,
        };
        let part = text.part();
        let path = PathBuf::from(&text.path);
        let Ok(found) = asked.text(&path, text.text[part.clone()].to_owned(), text.format) else { return };
        let missing = found.found.into_iter().filter(|one| !one.wanted).map(|one| Missing {
            span: part.start + one.span.start..part.start + one.span.end,
            words: one.words,
            id: one.id,
            title: one.title,
            probability: one.probability,
            why: one.why,
            edits: one
                .edits
                .into_iter()
                .map(|edit| (part.start + edit.span.start..part.start + edit.span.end, edit.text))
                .collect(),
        });
        text.found = missing.collect();
    }

    fn open(&self, params: &Value) -> Option<&OpenText> {
        self.texts.get(params["textDocument"]["uri"].as_str()?)
    }

    fn completion(&self, params: &Value) -> Value {
        let none = json!({"isIncomplete": true, "items": []});
        let Some(text) = self.open(params) else { return none };
        let at = text.byte(&params["position"]);
        let Some(Typing { start, syntax }) = typing(&text.text, at) else { return none };
        let typed = &text.text[start.min(at)..at];
        let model = self.recommender.model();
        let source = self.names.of_path(&text.path);
        let hits: Vec<(String, Option<String>, Option<f32>)> = if typed.trim().trim_end_matches('?').is_empty() {
            let hits = self.by_context(text, start, at).unwrap_or_default();
            hits.into_iter().map(|hit| (hit.id, hit.title, hit.probability)).collect()
        } else {
            let found = self.recommender.find_documents(typed.trim(), ITEMS);
            found.into_iter().map(|found| (found.id, found.title, None)).collect()
        };
        let range = text.range(&(start.min(at)..at));
        let item = |(rank, (id, title, probability)): (usize, (String, Option<String>, Option<f32>))| {
            let target = match syntax {
                TargetSyntax::Path => {
                    model.names().find(&id).map(|row| self.names.href(text.format, source, DocRow(row as u32)))
                }
                TargetSyntax::Id => None,
            };
            let probability = probability.map(|p| format!(" ({p:.2})")).unwrap_or_default();
            json!({
                "label": title.clone().filter(|title| !title.is_empty()).unwrap_or_else(|| id.clone()),
                "detail": format!("{id}{probability}"),
                "kind": 18,
                // Clients drop what does not begin with what is typed, and sort by their own rules.
                "filterText": typed,
                "sortText": format!("{rank:04}"),
                "textEdit": {"range": range, "newText": target.unwrap_or(id)},
            })
        };
        let items: Vec<Value> = hits.into_iter().enumerate().map(item).collect();
        json!({"isIncomplete": true, "items": items})
    }

    /// Documents for the words around a place.
    fn by_context(&self, text: &OpenText, start: usize, end: usize) -> Option<Vec<DocumentHit>> {
        let boundary = |mut at: usize| {
            while !text.text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let from = boundary(start.saturating_sub(BEFORE));
        let to = boundary((end + BEHIND).min(text.text.len()));
        // Only the words count: marks of the format are none.
        let words = |part: &str| {
            let draft = Draft::read(part, text.format, &self.recommender.model().tokenizer(), "text").ok()?;
            Some(draft.words.iter().map(|word| &*word.text).collect::<Vec<&str>>().join(" "))
        };
        let question = format!("{} [[?]] {}", words(&text.text[from..start])?, words(&text.text[end..to])?);
        let mut question = Question::new(question).top(ITEMS);
        let own = self.names.of_path(&text.path);
        question.source = own.map(|row| self.recommender.model().names().get(row.index()).to_owned());
        Some(self.recommender.ask(&question).ok()?.hits)
    }

    fn actions(&mut self, params: &Value) -> Value {
        let Some(uri) = params["textDocument"]["uri"].as_str().map(str::to_owned) else { return json!([]) };
        self.refresh(&uri);
        let Some(text) = self.texts.get(&uri) else { return json!([]) };
        let (start, end) = (text.byte(&params["range"]["start"]), text.byte(&params["range"]["end"]));
        let mut actions = Vec::new();
        for one in text.found.iter().filter(|one| one.span.start <= end && one.span.end >= start) {
            let edits: Vec<Value> =
                one.edits.iter().map(|(span, new)| json!({"range": text.range(span), "newText": new})).collect();
            if !edits.is_empty() {
                actions.push(json!({
                    "title": format!("link to {} ({:.2}: {})", shown(one), one.probability, one.why),
                    "kind": "quickfix",
                    "edit": {"changes": {(&uri): edits}},
                }));
            }
            if self.options.never_link.is_some() {
                let command = json!({"title": "never link", "command": "hd2v.neverLink", "arguments": [one.words]});
                actions.push(
                    json!({"title": format!("never link “{}”", one.words), "kind": "quickfix", "command": command}),
                );
            }
        }
        // A selection: what could it lead to?
        if start < end && actions.is_empty() && text.format == DraftFormat::Markdown {
            let source = self.names.of_path(&text.path);
            let model = self.recommender.model();
            for hit in self.by_context(text, end, end).unwrap_or_default().into_iter().take(3) {
                let Some(row) = model.names().find(&hit.id) else { continue };
                let href = self.names.href(text.format, source, DocRow(row as u32));
                let edits = json!([
                    {"range": text.range(&(start..start)), "newText": "["},
                    {"range": text.range(&(end..end)), "newText": format!("]({href})")},
                ]);
                let probability = hit.probability.map(|p| format!(" ({p:.2})")).unwrap_or_default();
                actions.push(json!({
                    "title": format!("link to {}{probability}", hit.title.as_deref().unwrap_or(&hit.id)),
                    "kind": "quickfix",
                    "edit": {"changes": {(&uri): edits}},
                }));
            }
        }
        Value::Array(actions)
    }

    fn hover(&self, params: &Value) -> Value {
        let Some(text) = self.open(params) else { return Value::Null };
        let at = text.byte(&params["position"]);
        let Ok(draft) = Draft::read(&text.text, text.format, &self.recommender.model().tokenizer(), "text") else {
            return Value::Null;
        };
        let source = self.names.of_path(&text.path);
        let link = draft.links.iter().find(|link| link.span.contains(&at));
        let row = link.and_then(|link| link.targets.iter().find_map(|target| self.names.resolve(target, source)));
        let (Some(link), Some(row)) = (link, row) else { return Value::Null };
        let id = self.recommender.model().names().get(row.index());
        let Ok(page) = self.recommender.document(id, 0, 3) else { return Value::Null };
        let mut shown = format!("**{}**", page.title.as_deref().unwrap_or(id));
        if let Some(date) = page.date {
            shown.push_str(&format!(", {date}"));
        }
        shown.push_str(&format!("\n\n`{id}`, linked to {} times", page.linked_by));
        for quote in &page.contexts {
            shown.push_str(&format!("\n- {}**{}**{}", quote.before, quote.shown_anchor(), quote.after));
        }
        json!({"contents": {"kind": "markdown", "value": shown}, "range": text.range(&link.span)})
    }

    fn hints(&mut self, params: &Value) -> Value {
        if !self.options.hints {
            return json!([]);
        }
        let Some(text) = self.open(params) else { return json!([]) };
        let (start, end) = (text.byte(&params["range"]["start"]), text.byte(&params["range"]["end"]));
        let inside = text.found.iter().filter(|one| one.span.end >= start && one.span.end <= end);
        let hint = |one: &Missing| json!({"position": text.position(one.span.end), "label": format!("→ {}", shown(one)), "paddingLeft": true, "tooltip": one.why});
        Value::Array(inside.map(hint).collect())
    }

    fn command(&mut self, params: &Value) -> Value {
        match params["command"].as_str() {
            Some("hd2v.neverLink") => {
                let words = params["arguments"][0].as_str().unwrap_or_default().replace(['\n', '\r'], " ");
                let Some(path) = self.options.never_link.as_ref().filter(|_| !words.trim().is_empty()) else {
                    return Value::Null;
                };
                use std::io::Write as _;
                let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
                let written = file.and_then(|mut file| writeln!(file, "{}", words.trim())).is_ok();
                self.texts.values_mut().for_each(|text| text.stale = true);
                json!(written)
            }
            Some("hd2v.orphans") => {
                let model = self.recommender.model();
                let orphans =
                    (0..).zip(model.links_to()).filter(|&(_, &links)| links == 0).map(|(row, _): (usize, _)| row);
                let one = |row: usize| json!({"id": model.names().get(row), "title": model.titles().get(row)});
                Value::Array(orphans.take(1000).map(one).collect())
            }
            _ => Value::Null,
        }
    }
}

fn shown(one: &Missing) -> &str {
    if one.title.is_empty() { &one.id } else { &one.title }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_typed_is_found() {
        let found = |line: &str| typing(line, line.len()).map(|typing| line[typing.start..].to_owned());
        assert_eq!(found("see [[Fet"), Some("Fet".to_owned()));
        assert_eq!(found("see [x](../a"), Some("../a".to_owned()));
        assert_eq!(found("as \\citep[see]{doe99, r"), Some("r".to_owned()));
        assert_eq!(found("as [see @doe; @r"), Some("r".to_owned()));
        assert_eq!(found("see [[?"), Some("?".to_owned()));
        assert_eq!(found("a [[closed]] link"), None);
        assert_eq!(found("mail me@example.org"), None);
    }
}
