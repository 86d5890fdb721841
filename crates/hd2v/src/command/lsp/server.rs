//! The state of the server, and which part answers which message.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::ensure;
use hyperdoc2vec::recommend::{DocumentNames, NeverLink, Recommender, Suggester};
use hyperdoc2vec::{Corpus, Model};
use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions, DidChangeTextDocumentParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, ExecuteCommandOptions, ExecuteCommandParams,
    HoverProviderCapability, InitializeParams, InitializeResult, OneOf, ServerCapabilities, ServerInfo,
    TextDocumentIdentifier, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::text::{Encoding, OpenText};
use crate::command::common::{LONGEST_TEXT, read_bounded};

/// Documents listed as orphans, at the most.
const MOST_ORPHANS: usize = 1000;

/// How missing links are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hints {
    #[default]
    Off,
    Inlay,
    Diagnostics,
}

/// Settings of an editor.
#[derive(Debug, Clone, PartialEq)]
pub struct LspOptions {
    pub hints: Hints,
    pub min_probability: f32,
    never_link: Option<PathBuf>,
}

impl LspOptions {
    /// Reads settings; what they do not name has its default.
    fn read(settings: &Value) -> LspOptions {
        let hints = match &settings["hints"] {
            Value::Bool(true) => Hints::Inlay,
            Value::String(name) if name == "inlay" => Hints::Inlay,
            Value::String(name) if name == "diagnostics" => Hints::Diagnostics,
            _ => Hints::Off,
        };
        let min_probability = settings["minProbability"].as_f64().unwrap_or(0.5).clamp(0.0, 1.0) as f32;
        let never_link = settings["neverLink"].as_str().filter(|path| !path.is_empty()).map(PathBuf::from);
        LspOptions { hints, min_probability, never_link }
    }
}

/// Why a request is not answered.
pub struct Refused(ErrorCode, String);

type RpcResult = Result<Value, Refused>;

pub struct LanguageServer<'a> {
    pub recommender: Recommender<'a>,
    pub suggester: Option<Suggester<'a>>,
    /// Those of a model that suggests nothing.
    names: DocumentNames<'a>,
    pub corpus: Option<&'a Corpus>,
    pub texts: BTreeMap<String, OpenText>,
    pub options: LspOptions,
    pub never: NeverLink,
    /// Phrases that were refused where no file keeps them.
    refused: String,
    pub encoding: Encoding,
    /// Whether the client asks for inlay hints again when it is told to.
    pub refreshes: bool,
    /// When a text was changed last.
    changed: Instant,
    requests: i32,
    phase: Lifecycle,
}

/// The state of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lifecycle {
    Started,
    Initialized,
    ShutDown,
}

impl<'a> LanguageServer<'a> {
    pub fn new(model: &'a Model, corpus: Option<&'a Corpus>) -> LanguageServer<'a> {
        let recommender = Recommender::new(model);
        recommender.warm_up();
        LanguageServer {
            recommender,
            suggester: Suggester::new(model).ok(),
            names: DocumentNames::new(model),
            corpus,
            texts: BTreeMap::new(),
            options: LspOptions::read(&Value::Null),
            never: NeverLink::default(),
            refused: String::new(),
            encoding: Encoding::default(),
            refreshes: false,
            changed: Instant::now(),
            requests: 0,
            phase: Lifecycle::Started,
        }
    }

    /// The documents by all their names.
    pub fn names(&self) -> &DocumentNames<'a> {
        self.suggester.as_ref().map_or(&self.names, Suggester::names)
    }

    pub fn is_shut_down(&self) -> bool {
        self.phase == Lifecycle::ShutDown
    }

    /// How long until there has been a rest; `None` where nothing waits for one.
    pub fn rests_in(&self, rest: Duration) -> Option<Duration> {
        let waits = self.options.hints != Hints::Off && self.texts.values().any(OpenText::is_stale);
        waits.then(|| rest.saturating_sub(self.changed.elapsed()))
    }

    /// Whether the text has not changed for a while.
    pub fn rested(&self) -> bool {
        self.changed.elapsed() >= super::REST
    }

    /// The response to a request.
    pub fn request(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        match self.answer(&method, params) {
            Ok(result) => Response::new_ok(id, result),
            Err(Refused(code, what)) => Response::new_err(id, code as i32, what),
        }
    }

    fn answer(&mut self, method: &str, params: Value) -> RpcResult {
        match (self.phase, method) {
            (Lifecycle::Started, "initialize") => return answered(params, |params| self.initialize(&params)),
            (Lifecycle::Started, _) => {
                return Err(Refused(ErrorCode::ServerNotInitialized, "expected the request initialize".to_owned()));
            }
            (Lifecycle::ShutDown, _) | (Lifecycle::Initialized, "initialize") => {
                return Err(Refused(ErrorCode::InvalidRequest, format!("{method} cannot be asked for now")));
            }
            (Lifecycle::Initialized, _) => {}
        }
        match method {
            "shutdown" => {
                self.phase = Lifecycle::ShutDown;
                Ok(Value::Null)
            }
            "textDocument/completion" => answered(params, |params| self.completion(&params)),
            "textDocument/codeAction" => answered(params, |params| self.code_actions(&params)),
            "textDocument/hover" => answered(params, |params| self.hover(&params)),
            "textDocument/inlayHint" => answered(params, |params| self.inlay_hints(&params)),
            "workspace/executeCommand" => {
                let params: ExecuteCommandParams = read(params)?;
                self.command(&params)
            }
            method => Err(Refused(ErrorCode::MethodNotFound, format!("no method is called {method:?}"))),
        }
    }

    fn initialize(&mut self, params: &InitializeParams) -> InitializeResult {
        self.phase = Lifecycle::Initialized;
        self.set(params.initialization_options.as_ref().unwrap_or(&Value::Null));
        let capabilities = &params.capabilities;
        let offered = capabilities.general.as_ref().and_then(|general| general.position_encodings.as_deref());
        self.encoding = Encoding::chosen(offered);
        let workspace = capabilities.workspace.as_ref();
        let inlay = workspace.and_then(|workspace| workspace.inlay_hint.as_ref());
        self.refreshes = inlay.and_then(|inlay| inlay.refresh_support).unwrap_or(false);
        let marks = ["[", "(", "{", "@", ",", "?"].map(str::to_owned).to_vec();
        InitializeResult {
            capabilities: ServerCapabilities {
                position_encoding: Some(self.encoding.kind()),
                text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
                    open_close: Some(true),
                    change: Some(TextDocumentSyncKind::INCREMENTAL),
                    ..TextDocumentSyncOptions::default()
                })),
                completion_provider: Some(CompletionOptions {
                    trigger_characters: Some(marks),
                    ..CompletionOptions::default()
                }),
                code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
                    code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
                    ..CodeActionOptions::default()
                })),
                hover_provider: Some(HoverProviderCapability::Simple(true)),
                inlay_hint_provider: Some(OneOf::Left(true)),
                execute_command_provider: Some(ExecuteCommandOptions {
                    commands: vec!["hd2v.neverLink".to_owned(), "hd2v.orphans".to_owned()],
                    ..ExecuteCommandOptions::default()
                }),
                ..ServerCapabilities::default()
            },
            server_info: Some(ServerInfo {
                name: "hd2v".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        }
    }

    /// Takes settings.
    fn set(&mut self, settings: &Value) {
        self.options = LspOptions::read(settings);
        self.read_never_link();
    }

    /// Reads what is never linked; texts are to be looked at again.
    fn read_never_link(&mut self) {
        // A pipe would keep the editor waiting.
        let path = self.options.never_link.as_ref().filter(|path| path.is_file());
        let file = path.and_then(|path| read_bounded(path, LONGEST_TEXT).ok()).unwrap_or_default();
        self.never = NeverLink::read(&format!("{}\n{}", String::from_utf8_lossy(&file), self.refused));
        self.texts.values_mut().for_each(OpenText::look_again);
    }

    /// Takes a notification; one that is not understood is passed over, as the protocol wants it.
    pub fn notified(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        if self.phase != Lifecycle::Initialized {
            return;
        }
        match &*method {
            "textDocument/didOpen" => {
                let Ok(DidOpenTextDocumentParams { text_document: opened }) = serde_json::from_value(params) else {
                    return;
                };
                let uri = opened.uri.as_str();
                let mut text = OpenText::new(uri, &opened.language_id, opened.text, self.encoding);
                text.version = opened.version;
                self.texts.insert(uri.to_owned(), text);
                self.changed = Instant::now();
            }
            "textDocument/didChange" => {
                let Ok(params) = serde_json::from_value::<DidChangeTextDocumentParams>(params) else { return };
                let Some(text) = self.texts.get_mut(params.text_document.uri.as_str()) else { return };
                text.version = params.text_document.version;
                params.content_changes.into_iter().for_each(|change| text.change(change));
                self.changed = Instant::now();
            }
            "textDocument/didClose" => {
                let Ok(params) = serde_json::from_value::<DidCloseTextDocumentParams>(params) else { return };
                self.texts.remove(params.text_document.uri.as_str());
            }
            // Some clients put the settings of a server under its name.
            "workspace/didChangeConfiguration" => {
                let settings = &params["settings"];
                let settings = if settings["hd2v"].is_object() { &settings["hd2v"] } else { settings };
                if settings.as_object().is_some_and(|settings| !settings.is_empty()) {
                    self.set(settings);
                }
            }
            _ => {}
        }
    }

    pub fn open(&self, document: &TextDocumentIdentifier) -> Option<&OpenText> {
        self.texts.get(document.uri.as_str())
    }

    /// A request of our own to the client.
    pub fn own_request(&mut self, method: &str) -> Message {
        self.requests += 1;
        Request::new(format!("hd2v-{}", self.requests).into(), method.to_owned(), Value::Null).into()
    }

    fn command(&mut self, params: &ExecuteCommandParams) -> RpcResult {
        match &*params.command {
            "hd2v.neverLink" => {
                let words = params.arguments.first().and_then(Value::as_str).unwrap_or_default();
                let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
                if words.is_empty() {
                    return Err(Refused(
                        ErrorCode::InvalidParams,
                        "expected the words that are never linked".to_owned(),
                    ));
                }
                self.never_link(&words)?;
                Ok(Value::Bool(true))
            }
            "hd2v.orphans" => Ok(self.orphans()),
            name => Err(Refused(ErrorCode::InvalidParams, format!("no command is called {name:?}"))),
        }
    }

    /// Keeps a phrase from being linked: in the file for that, or until the end where there is none.
    fn never_link(&mut self, words: &str) -> Result<(), Refused> {
        match &self.options.never_link {
            Some(path) => append_line(path, words).map_err(|why| {
                Refused(ErrorCode::RequestFailed, format!("cannot write {}: {why:#}", path.display()))
            })?,
            None => self.refused.push_str(&format!("{words}\n")),
        }
        self.read_never_link();
        Ok(())
    }

    /// The documents that nothing links to.
    fn orphans(&self) -> Value {
        let model = self.recommender.model();
        let orphans = model.links_to().iter().enumerate().filter(|&(_, &links)| links == 0).map(|(row, _)| row);
        let one = |row: usize| json!({"id": model.names().get(row), "title": model.titles().get(row)});
        Value::Array(orphans.take(MOST_ORPHANS).map(one).collect())
    }
}

/// Adds a line to a file of lines, or begins one. Settings may name any file: what is no text is left alone.
fn append_line(path: &Path, line: &str) -> Result<(), anyhow::Error> {
    use std::io::Write as _;
    let there = match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        // A pipe would keep the editor waiting.
        about => {
            ensure!(about?.is_file(), "it is not a regular file");
            read_bounded(path, LONGEST_TEXT)?
        }
    };
    ensure!(!there.contains(&0) && str::from_utf8(&there).is_ok(), "expected lines of text, found something else");
    let end = if there.is_empty() || there.ends_with(b"\n") { "" } else { "\n" };
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
    Ok(file.write_all(format!("{end}{line}\n").as_bytes())?)
}

fn read<P: DeserializeOwned>(params: Value) -> Result<P, Refused> {
    serde_json::from_value(params).map_err(|error| Refused(ErrorCode::InvalidParams, error.to_string()))
}

/// An answer by a function of the parameters.
fn answered<P: DeserializeOwned, R: serde::Serialize>(params: Value, answer: impl FnOnce(P) -> R) -> RpcResult {
    let answer = answer(read(params)?);
    serde_json::to_value(answer).map_err(|error| Refused(ErrorCode::InternalError, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_defaults_and_hints_are_off() {
        let read = |settings| LspOptions::read(&settings);
        assert_eq!(read(json!({})), LspOptions { hints: Hints::Off, min_probability: 0.5, never_link: None });
        let set = read(json!({"hints": "diagnostics", "minProbability": 7, "neverLink": "x"}));
        assert_eq!(set, LspOptions { hints: Hints::Diagnostics, min_probability: 1.0, never_link: Some("x".into()) });
        assert_eq!(read(json!({"hints": true, "neverLink": ""})).hints, Hints::Inlay);
    }
}
