//! `hd2v mcp`: read-only tools for agents over stdio, by the Model Context Protocol.
//!
//! A line is a message of JSON-RPC 2.0. The loop is our own, as five tools need no asynchronous runtime and have their
//! schemas from the types of the API (`schema`). No state is kept between messages, so that clients that begin with
//! `initialize` and those of 2026-07-28, which say with each request who they are, are answered by the same code.

mod line;
mod schema;
mod tools;

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use hyperdoc2vec::document::visible_json;
use serde_json::{Value, json};

use super::common::open_model;
use line::StdioLine;
use tools::{CallError, Tools};

/// The versions of the protocol that are understood; a client that offers another is answered in the last but one, which
/// is the last that begins with `initialize`.
const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", STATELESS];
/// The first version without sessions.
const STATELESS: &str = "2026-07-28";
/// Where a request of that version says which one it is, who sends it and what the client can do.
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// Codes of errors.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const UNSUPPORTED_VERSION: i32 = -32022;

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
    let server = ToolServer(Tools::new(&model));
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    while let Some(line) = line::read(&mut input).context("cannot read standard input")? {
        if let Some(reply) = server.line(&line) {
            writeln!(output, "{}", visible_json(&reply.to_string()))
                .and_then(|()| output.flush())
                .context("cannot write to standard output")?;
        }
    }
    Ok(())
}

struct ToolServer<'a>(Tools<'a>);

/// Why a request has no result.
struct ToolFailure {
    code: i32,
    message: String,
    data: Option<Value>,
}

impl ToolFailure {
    fn new(code: i32, message: impl Into<String>) -> ToolFailure {
        ToolFailure { code, message: message.into(), data: None }
    }
}

impl ToolServer<'_> {
    /// The reply to a line; none to a notification.
    fn line(&self, line: &StdioLine) -> Option<Value> {
        match line {
            // Several at once, which the version of 2025-03-26 allows.
            StdioLine::Json(Value::Array(messages)) if !messages.is_empty() => {
                let replies: Vec<Value> = messages.iter().filter_map(|message| self.message(message)).collect();
                (!replies.is_empty()).then_some(Value::Array(replies))
            }
            StdioLine::Json(message) => self.message(message),
            StdioLine::Nonsense(why) => Some(replied(&Value::Null, Err(ToolFailure::new(PARSE_ERROR, why.clone())))),
        }
    }

    fn message(&self, message: &Value) -> Option<Value> {
        let Some(method) = message["method"].as_str() else {
            // An answer to a request that was never made is passed over.
            let answers = message.get("result").is_some() || message.get("error").is_some();
            let failure = ToolFailure::new(INVALID_REQUEST, "expected a method");
            return (!answers).then(|| replied(message.get("id").unwrap_or(&Value::Null), Err(failure)));
        };
        let id = message.get("id")?;
        Some(replied(id, self.answer(method, &message["params"])))
    }

    fn answer(&self, method: &str, params: &Value) -> Result<Value, ToolFailure> {
        let stateless = is_stateless(method, &params["_meta"])?;
        let result = match method {
            "initialize" => {
                let asked = params["protocolVersion"].as_str().unwrap_or_default();
                let mut known = VERSIONS.into_iter().filter(|&version| version < STATELESS);
                let version = known.clone().find(|&version| version == asked).or(known.next_back());
                let mut result = about();
                result["protocolVersion"] = json!(version);
                result["serverInfo"] = server_info();
                result
            }
            "server/discover" => {
                let mut result = about();
                result["supportedVersions"] = json!(VERSIONS);
                result["_meta"] = json!({META_SERVER: server_info()});
                cached(result)
            }
            "ping" if !stateless => json!({}),
            "tools/list" if stateless => cached(json!({"tools": tools::all()})),
            "tools/list" => json!({"tools": tools::all()}),
            "tools/call" => self.call(params)?,
            method => return Err(ToolFailure::new(METHOD_NOT_FOUND, format!("no method is called {method:?}"))),
        };
        Ok(if stateless { complete(result) } else { result })
    }

    fn call(&self, params: &Value) -> Result<Value, ToolFailure> {
        let name = params["name"].as_str().unwrap_or_default();
        let arguments = params["arguments"].as_object().cloned().unwrap_or_default();
        match self.0.call(name, arguments) {
            Ok(result) => Ok(json!({
                "content": [{"type": "text", "text": result.to_string()}],
                "structuredContent": result,
                "isError": false,
            })),
            Err(CallError::Failed(what)) => Ok(json!({"content": [{"type": "text", "text": what}], "isError": true})),
            Err(CallError::UnknownTool) => {
                Err(ToolFailure::new(INVALID_PARAMS, format!("no tool is called {name:?}; see tools/list")))
            }
        }
    }
}

/// Whether a request is of a version without sessions; such a one has to say so itself.
fn is_stateless(method: &str, meta: &Value) -> Result<bool, ToolFailure> {
    let version = meta[META_VERSION].as_str();
    if let Some(version) = version.filter(|version| !VERSIONS.contains(version)) {
        let data = json!({"requested": version, "supported": VERSIONS});
        let message = format!("the version {version:?} of the protocol is not supported");
        return Err(ToolFailure { data: Some(data), ..ToolFailure::new(UNSUPPORTED_VERSION, message) });
    }
    let stateless = method == "server/discover" || version.is_some_and(|version| version >= STATELESS);
    if stateless && (version.is_none() || !meta[META_CAPABILITIES].is_object()) {
        let message = format!("expected {META_VERSION} and {META_CAPABILITIES} in the request's _meta");
        return Err(ToolFailure::new(INVALID_PARAMS, message));
    }
    Ok(stateless)
}

/// The purpose of the server.
fn about() -> Value {
    json!({
        "capabilities": {"tools": {"listChanged": false}},
        "instructions": "Documents that link to each other: what a text should link to, and where.",
    })
}

fn server_info() -> Value {
    json!({"name": "hd2v", "version": env!("CARGO_PKG_VERSION")})
}

/// A result that holds as long as the server runs, but that nobody else is to keep.
fn cached(mut result: Value) -> Value {
    result["ttlMs"] = json!(0);
    result["cacheScope"] = json!("private");
    complete(result)
}

fn complete(mut result: Value) -> Value {
    result["resultType"] = json!("complete");
    result
}

fn replied(id: &Value, result: Result<Value, ToolFailure>) -> Value {
    match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(ToolFailure { code, message, data }) => {
            let mut error = json!({"code": code, "message": message});
            if let Some(data) = data {
                error["data"] = data;
            }
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        }
    }
}
