//! An editor for tests: it speaks with `hd2v lsp` over pipes, and keeps what it was told.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::helper::Place;

/// Nothing that is waited for takes longer on the slowest machine.
const LONGEST: Duration = Duration::from_secs(120);

pub struct Client {
    server: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    /// What came that nobody has asked for.
    pub told: Vec<Value>,
    requests: i64,
}

impl Client {
    /// Starts `hd2v lsp m`.
    pub fn start(place: &Place, arguments: &str) -> Client {
        let mut server = place.start(&format!("lsp m {arguments}"));
        let input = server.stdin.take().expect("stdin");
        let mut output = BufReader::new(server.stdout.take().expect("stdout"));
        let (send, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        Client { server, input, messages, told: Vec::new(), requests: 0 }
    }

    /// Starts it and says hello; what the server can do is returned, too.
    pub fn initialized(place: &Place, options: Value) -> (Client, Value) {
        let mut client = Client::start(place, "");
        let params = json!({"processId": null, "rootUri": null, "capabilities": {}, "initializationOptions": options});
        let answer = client.ask("initialize", params);
        client.tell("initialized", json!({}));
        (client, answer["result"].clone())
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) {
        self.input.write_all(bytes).and_then(|()| self.input.flush()).expect("the server reads");
    }

    fn message(&mut self, message: &Value) {
        let body = message.to_string();
        self.send(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        self.message(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request; its id.
    pub fn request(&mut self, method: &str, params: Value) -> i64 {
        self.requests += 1;
        let id = self.requests;
        self.message(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The next message of the server.
    pub fn next(&mut self) -> Value {
        self.messages.recv_timeout(LONGEST).expect("a message of the server")
    }

    /// Waits for the response to a request; what else comes is kept.
    pub fn response(&mut self, id: i64) -> Value {
        let answers = |message: &Value| message["id"] == id && message.get("method").is_none();
        if let Some(at) = self.told.iter().position(answers) {
            return self.told.remove(at);
        }
        loop {
            let message = self.next();
            if answers(&message) {
                return message;
            }
            self.told.push(message);
        }
    }

    /// Asks and waits for the response.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.response(id)
    }

    /// Waits for a notification or request of the server.
    pub fn told(&mut self, method: &str) -> Value {
        if let Some(at) = self.told.iter().position(|message| message["method"] == method) {
            return self.told.remove(at);
        }
        loop {
            let message = self.next();
            if message["method"] == method {
                return message;
            }
            self.told.push(message);
        }
    }

    pub fn open(&mut self, uri: &str, language: &str, text: &str) {
        let document = json!({"uri": uri, "languageId": language, "version": 0, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// Replaces what stands between two places.
    pub fn change(&mut self, uri: &str, version: u32, range: Value, text: &str) {
        let params = json!({
            "textDocument": {"uri": uri, "version": version},
            "contentChanges": [{"range": range, "text": text}],
        });
        self.tell("textDocument/didChange", params);
    }

    pub fn completion(&mut self, uri: &str, line: u32, character: u32) -> Value {
        let params = json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}});
        let answer = self.ask("textDocument/completion", params);
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    pub fn actions(&mut self, uri: &str, range: Value) -> Vec<Value> {
        let params = json!({"textDocument": {"uri": uri}, "range": range, "context": {"diagnostics": []}});
        let answer = self.ask("textDocument/codeAction", params);
        answer["result"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
    }

    /// Ends the input and waits for the server; its exit code, and what it said.
    pub fn end(self) -> (Option<i32>, String) {
        drop(self.input);
        let output = self.server.wait_with_output().expect("an end");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Leaves as the protocol wants it.
    pub fn leave(mut self) {
        let answer = self.ask("shutdown", Value::Null);
        assert!(answer.get("result").is_some_and(Value::is_null), "{answer}");
        self.tell("exit", Value::Null);
        assert_eq!(self.end().0, Some(0));
    }
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            header => length = header.strip_prefix("Content-Length: ")?.parse().ok()?,
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// A range of the protocol.
pub fn range(start: (u32, u32), end: (u32, u32)) -> Value {
    let at = |(line, character)| json!({"line": line, "character": character});
    json!({"start": at(start), "end": at(end)})
}
