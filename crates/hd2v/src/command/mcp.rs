//! `hd2v mcp`: read-only tools for agents over stdio, by the Model Context Protocol.
//!
//! A line is a message of JSON-RPC 2.0. The server is our own: it keeps no state between messages, so that clients of the
//! protocol that begin with `initialize` and later ones that do not are both answered, and no runtime is needed.

use std::io::{BufRead, Read, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use hyperdoc2vec::Error;
use hyperdoc2vec::draft::DraftFormat;
use hyperdoc2vec::places::{DocumentNames, NeverLink, Suggester};
use hyperdoc2vec::recommend::{Recommender, Side};
use serde_json::{Value, json};

use super::common::open_model;
use super::suggest::{Asked, suggestions_json};
use crate::{wire, wire_from};

/// The longest message, in bytes.
const LONGEST: u64 = 32 << 20;
/// The version that is spoken with a client that names none, or one that is not known.
const VERSION: &str = "2025-06-18";
/// The versions of the protocol whose messages are understood.
const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
/// Hits of a tool, at the most.
const MOST: u64 = 100;

/// Serve read-only tools for agents over stdio (Model Context Protocol)
#[derive(Args)]
#[command(after_help = "\
Tools: recommend (what a passage should link to), suggest (where links belong in a text, and to what), similar, document, \
search. Nothing is written. An agent starts the program itself; its configuration names the command.

Examples:
  hd2v mcp papers.model
  {\"mcpServers\": {\"papers\": {\"command\": \"hd2v\", \"args\": [\"mcp\", \"papers.model\"]}}}")]
pub struct McpArgs {
    /// The model file
    model: PathBuf,
}

pub fn run(arguments: &McpArgs) -> Result<()> {
    let model = open_model(&arguments.model)?;
    let server = Server {
        recommender: Recommender::new(&model),
        suggester: Suggester::new(&model),
        names: DocumentNames::new(&model),
    };
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut input).take(LONGEST).read_until(b'\n', &mut line).context("cannot read standard input")?;
        if read == 0 {
            return Ok(());
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if let Some(reply) = server.message(&line) {
            writeln!(output, "{reply}").and_then(|()| output.flush()).context("cannot write to standard output")?;
        }
    }
}

struct Server<'a> {
    recommender: Recommender<'a>,
    suggester: hyperdoc2vec::Result<Suggester<'a>>,
    names: DocumentNames<'a>,
}

fn failure(id: &Value, code: i32, message: impl Into<String>) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message.into()}})
}

impl Server<'_> {
    /// The reply to a message; none to a notification.
    fn message(&self, line: &[u8]) -> Option<Value> {
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            return Some(failure(&Value::Null, -32700, "expected a line of JSON"));
        };
        let id = message.get("id")?;
        let params = &message["params"];
        let result = match message["method"].as_str() {
            Some("initialize") => {
                let asked = params["protocolVersion"].as_str().unwrap_or(VERSION);
                json!({
                    "protocolVersion": if VERSIONS.contains(&asked) { asked } else { VERSION },
                    "capabilities": {"tools": {"listChanged": false}},
                    "serverInfo": {"name": "hd2v", "version": env!("CARGO_PKG_VERSION")},
                    "instructions": "Documents that link to each other: what a text should link to, and where.",
                })
            }
            Some("ping") => json!({}),
            Some("tools/list") => json!({"tools": tools()}),
            Some("tools/call") => match self.call(params) {
                Ok(result) => json!({
                    "content": [{"type": "text", "text": result.to_string()}],
                    "structuredContent": result,
                    "isError": false,
                }),
                Err(CallError::UnknownTool(name)) => {
                    return Some(failure(id, -32602, format!("no tool is called {name:?}")));
                }
                Err(CallError::Failed(what)) => json!({"content": [{"type": "text", "text": what}], "isError": true}),
            },
            Some(method) => return Some(failure(id, -32601, format!("no method is called {method:?}"))),
            None => return Some(failure(id, -32600, "expected a method")),
        };
        Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    fn call(&self, params: &Value) -> Result<Value, CallError> {
        let name = params["name"].as_str().unwrap_or_default();
        let given = &params["arguments"];
        let text = |field: &str| {
            let text = given[field].as_str().map(str::to_owned);
            text.ok_or_else(|| CallError::Failed(format!("expected a text as {field:?}")))
        };
        let number = |field: &str, default: u64| given[field].as_u64().unwrap_or(default).min(MOST) as usize;
        let value = match name {
            "recommend" => {
                let question: wire::QuestionJson =
                    serde_json::from_value(given.clone()).map_err(|error| CallError::Failed(error.to_string()))?;
                let top = question.top.min(MOST as usize);
                let question = wire::QuestionJson { top, ..question };
                let ranking = self.recommender.ranking(question.rank);
                to_value(wire_from::answer(self.recommender.ask(&question.into()), ranking)?)
            }
            "suggest" => {
                let suggester = self.suggester.as_ref().map_err(|error| CallError::Failed(error.to_string()))?;
                let format = match given["format"].as_str() {
                    Some(name) => {
                        name.parse().map_err(|_| CallError::Failed(format!("no format is called {name:?}")))?
                    }
                    None => DraftFormat::Markdown,
                };
                let asked = Asked {
                    suggester,
                    names: &self.names,
                    never: NeverLink::default(),
                    only: Vec::new(),
                    min_probability: given["min_probability"].as_f64().unwrap_or(0.5) as f32,
                    max: number("max", 20),
                    any_date: false,
                };
                let path = PathBuf::from(given["path"].as_str().unwrap_or("draft"));
                let found = asked.text(&path, text("text")?, format);
                suggestions_json(&found.map_err(|error| CallError::Failed(format!("{error:#}")))?)
            }
            "similar" => {
                let side = if given["by"].as_str() == Some("out") { Side::Out } else { Side::In };
                let hits = self.recommender.similar(&text("id")?, side, number("top", 10))?;
                to_value(wire::Similar { hits: wire_from::hits(hits) })
            }
            "document" => {
                let id = text("id")?;
                to_value(wire::DocumentJson::from(self.recommender.document(&id, 0, number("contexts", 10))?))
            }
            "search" => to_value(wire::Found::from(self.recommender.find_documents(&text("text")?, number("top", 10)))),
            name => return Err(CallError::UnknownTool(name.to_owned())),
        };
        Ok(value)
    }
}

fn to_value(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// Why a tool has no result.
enum CallError {
    UnknownTool(String),
    Failed(String),
}

impl From<Error> for CallError {
    fn from(error: Error) -> CallError {
        CallError::Failed(error.to_string())
    }
}

/// The tools, with the schemas of what they take.
fn tools() -> Value {
    let string = |what: &str| json!({"type": "string", "description": what});
    let whole = |what: &str, default: u64| json!({"type": "integer", "minimum": 1, "maximum": MOST, "default": default, "description": what});
    let tool = |name: &str, what: &str, properties: Value, required: &[&str]| {
        json!({
            "name": name,
            "description": what,
            "inputSchema": {"type": "object", "properties": properties, "required": required},
            "annotations": {"readOnlyHint": true, "openWorldHint": false},
        })
    };
    json!([
        tool(
            "recommend",
            "Documents that a passage should link to or cite, with probabilities. `[[?]]` in the text marks the place of the link.",
            json!({
                "text": string("The passage around the link"),
                "source": string("The id of the document that contains it, if the model has it"),
                "source_text": string("The text of that document, if the model does not have it"),
                "before": string("Only documents dated before this: 2009, 2009-06 or 2009-06-30"),
                "exclude": {"type": "array", "items": {"type": "string"}, "description": "Ids of documents to exclude"},
                "only": {"type": "array", "items": {"type": "string"}, "description": "Only these ids, or documents with these labels"},
                "explain": {"type": "boolean", "default": false, "description": "With the words that decided, and how others link to the hits"},
                "top": whole("Number of hits", 10),
            }),
            &["text"],
        ),
        tool(
            "suggest",
            "Where links belong in a draft, and to what: places with their words, targets, probabilities and the edits that insert them.",
            json!({
                "text": string("The draft"),
                "format": {"type": "string", "enum": ["markdown", "latex", "rst", "html", "mediawiki", "plain"], "default": "markdown"},
                "path": string("The path of the draft, by which the model may know it"),
                "min_probability": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
                "max": whole("The most suggestions", 20),
            }),
            &["text"],
        ),
        tool(
            "similar",
            "Documents similar to a document: by what they say (in) or by what others say of them (out).",
            json!({"id": string("The id of the document"), "by": {"type": "string", "enum": ["in", "out"], "default": "in"}, "top": whole("Number of hits", 10)}),
            &["id"],
        ),
        tool(
            "document",
            "A document: title, date, labels, address, what it links to, and how others link to it.",
            json!({"id": string("The id of the document"), "contexts": whole("Links to it that are quoted", 10)}),
            &["id"],
        ),
        tool(
            "search",
            "Documents by words of their titles or by the beginnings of their ids.",
            json!({"text": string("What is looked for"), "top": whole("Number of hits", 10)}),
            &["text"],
        ),
    ])
}
