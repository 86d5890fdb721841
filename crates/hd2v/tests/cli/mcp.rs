//! The tools for agents as clients of the protocol use them: an old one, and one of 2026-07-28.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};

use serde_json::{Value, json};

use crate::helper::Place;

struct Client {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// What goes with every request.
    meta: Value,
    requests: i64,
}

impl Client {
    fn start(place: &Place, meta: Value) -> Client {
        let mut server = place.start("mcp m");
        let input = server.stdin.take().expect("stdin");
        let output = BufReader::new(server.stdout.take().expect("stdout"));
        Client { server, input, output, meta, requests: 0 }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input, "{line}").and_then(|()| self.input.flush()).expect("the server reads");
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.requests += 1;
        if !self.meta.is_null() {
            params["_meta"] = self.meta.clone();
        }
        self.send(&json!({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params}).to_string());
        let answer = self.receive();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(self.requests)), "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The result of a tool, which is there twice: as JSON, and as text for clients that know only that.
    fn result(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.call(tool, arguments);
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        let structured = answer["result"]["structuredContent"].clone();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), structured);
        structured
    }

    fn end(self) -> (Option<i32>, String) {
        drop(self.input);
        drop(self.output);
        let output = self.server.wait_with_output().expect("an end");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// A client of the first version of the protocol.
fn old(place: &Place) -> Client {
    let mut client = Client::start(place, Value::Null);
    let client_info = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client_info});
    let answer = client.ask("initialize", params);
    assert_eq!(answer["result"]["protocolVersion"], "2024-11-05", "{answer}");
    assert_eq!(answer["result"]["serverInfo"]["name"], "hd2v");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    client
}

/// A client of 2026-07-28, which says with every request what it is.
fn new(place: &Place) -> Client {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    Client::start(place, meta)
}

fn try_all_tools(client: &mut Client) {
    let answer = client.ask("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["recommend", "suggest", "similar", "document", "search"]);
    for tool in tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        assert_eq!((&tool["inputSchema"]["type"], &tool["outputSchema"]["type"]), (&json!("object"), &json!("object")));
    }
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["text"]));
    assert_eq!(tools[0]["inputSchema"]["properties"]["top"]["maximum"], 1000, "the limits of the API");

    let found = client.result("recommend", json!({"text": "the decoder runs a [[?]] over words", "top": 2}));
    assert_eq!(found["hits"][0]["id"], "notes/beam", "{found}");
    assert_eq!(found["hits"].as_array().map(Vec::len), Some(2));
    let draft = json!({"text": "A parse tree of each sentence is built.", "min_probability": 0.3});
    let found = client.result("suggest", draft.clone());
    let one = &found["suggestions"][0];
    assert_eq!((&one["words"], &one["id"]), (&json!("parse tree"), &json!("notes/tree")), "{found}");
    assert_eq!(one["edits"][1], json!({"start": 12, "end": 12, "text": "](notes/tree.md)"}));
    let mut refused = draft;
    refused["never"] = json!(["parse trees"]);
    assert_eq!(client.result("suggest", refused)["suggestions"], json!([]));
    let found = client.result("similar", json!({"id": "page-0", "top": 3}));
    assert_eq!(found["hits"].as_array().map(Vec::len), Some(3));
    let found = client.result("document", json!({"id": "notes/tree", "top": 1}));
    assert_eq!((&found["title"], &found["linked_by"]["total"]), (&json!("Parse tree"), &json!(30)));
    let found = client.result("search", json!({"q": "beam"}));
    assert_eq!(found["hits"][0]["id"], "notes/beam");

    // What cannot be done is told to the agent, which may do better.
    for (tool, arguments, why) in [
        ("document", json!({"id": "nobody"}), "nobody"),
        ("recommend", json!({}), "text"),
        ("recommend", json!({"text": "x", "colour": 1}), "colour"),
        ("similar", json!({"id": "page-0", "top": 1001}), "1000"),
        ("suggest", json!({"text": "x", "format": "docx"}), "docx"),
    ] {
        let answer = client.call(tool, arguments);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(answer["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains(why)), "{answer}");
    }
    assert_eq!(client.call("delete", json!({}))["error"]["code"], -32602);
}

#[test]
fn an_old_client_is_served() {
    let place = super::lsp::place();
    let mut client = old(&place);
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    try_all_tools(&mut client);
    // What is no message is told so, and what needs no answer gets none.
    client.send("nonsense");
    assert_eq!(client.receive()["error"]["code"], -32700);
    client.send("[{\"jsonrpc\": \"2.0\", \"id\": \"a\", \"method\": \"ping\"}, 3]");
    let both = client.receive();
    assert_eq!((&both[0]["id"], &both[1]["error"]["code"]), (&json!("a"), &json!(-32600)), "{both}");
    client
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}).to_string());
    assert_eq!(client.ask("resources/list", json!({}))["error"]["code"], -32601);
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    assert_eq!(client.end(), (Some(0), String::new()));
}

#[test]
fn a_client_of_2026_is_served_without_a_handshake() {
    let place = super::lsp::place();
    let mut client = new(&place);
    let answer = client.ask("server/discover", json!({}));
    let versions = answer["result"]["supportedVersions"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2024-11-05")), "{answer}");
    assert_eq!(answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "hd2v");
    try_all_tools(&mut client);
    // What the version asks of results, and of requests.
    let answer = client.ask("tools/list", json!({}));
    assert_eq!(
        (&answer["result"]["resultType"], &answer["result"]["cacheScope"]),
        (&json!("complete"), &json!("private"))
    );
    assert_eq!(client.ask("ping", json!({}))["error"]["code"], -32601, "there is none any more");
    client.meta["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let answer = client.ask("tools/list", json!({}));
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["data"]["requested"]),
        (&json!(-32022), &json!("2099-01-01"))
    );
    client.meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    assert_eq!(client.ask("tools/list", json!({}))["error"]["code"], -32602, "it does not say what the client can do");
    assert_eq!(client.end(), (Some(0), String::new()));
    // Discovery is not needed.
    let mut client = new(&place);
    assert_eq!(client.result("search", json!({"q": "beam"}))["hits"][0]["id"], "notes/beam");
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn nobody_asking_is_no_failure() {
    let place = super::lsp::place();
    assert_eq!(place.ok("mcp m").out, "");
    assert!(place.refused("mcp nothing").contains("nothing"));
}
