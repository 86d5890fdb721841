//! Requests that are wrong, clients that misbehave, texts that are long.

use serde_json::{Value, json};

use super::client::{Client, range};
use super::{DRAFT, labels, place};

#[test]
fn bad_requests_are_answered_and_do_no_harm() {
    let place = place();
    let mut client = Client::start(&place, "");
    let code = |answer: &Value| answer["error"]["code"].as_i64();
    assert_eq!(code(&client.ask("textDocument/hover", json!({}))), Some(-32002), "not initialized");
    client.ask("initialize", json!({"capabilities": {}}));
    assert_eq!(code(&client.ask("initialize", json!({"capabilities": {}}))), Some(-32600), "twice");
    client.tell("initialized", json!({}));
    assert_eq!(code(&client.ask("textDocument/rename", json!({}))), Some(-32601));
    assert_eq!(code(&client.ask("textDocument/completion", json!({"position": 3}))), Some(-32602));
    assert_eq!(code(&client.ask("workspace/executeCommand", json!({"command": "rm"}))), Some(-32602));
    assert_eq!(code(&client.ask("workspace/executeCommand", json!({"command": "hd2v.neverLink"}))), Some(-32602));
    // Notifications that make no sense, and a body that is no message.
    client.tell("textDocument/didOpen", json!(["?"]));
    client.tell("textDocument/didChange", json!({"textDocument": {"uri": DRAFT, "version": 1}, "contentChanges": []}));
    client.send(b"Content-Length: 5\r\n\r\n{\"x\":");
    let answer = client.next();
    assert_eq!((code(&answer), &answer["id"]), (Some(-32700), &Value::Null));
    // A text that was never opened, places beyond the end.
    assert_eq!(labels(&client.completion("file:///nothing.md", 0, 0)), [""; 0]);
    client.open(DRAFT, "markdown", "see [[beam");
    client.change(DRAFT, 1, range((7, 7), (3, 3)), "!");
    assert_eq!(labels(&client.completion(DRAFT, 900, 900)), ["Beam search"; 0]);
    assert_eq!(labels(&client.completion(DRAFT, 0, 10)), ["Beam search"]);
    let answer = client.ask("shutdown", Value::Null);
    assert!(code(&answer).is_none(), "{answer}");
    assert_eq!(code(&client.ask("textDocument/hover", json!({}))), Some(-32600), "after the shutdown");
    client.tell("exit", Value::Null);
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn a_client_that_leaves_without_a_shutdown_is_told_by_the_exit_code() {
    let place = place();
    let (mut client, _) = Client::initialized(&place, json!({}));
    client.tell("exit", Value::Null);
    let (code, said) = client.end();
    assert_eq!(code, Some(1));
    assert_eq!(said, "hd2v: the client left without a shutdown\n");
    // The end of the input is an end, too.
    let (client, _) = Client::initialized(&place, json!({}));
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn requests_can_be_cancelled_while_they_wait() {
    let place = place();
    let (mut client, _) = Client::initialized(&place, json!({}));
    client.open(DRAFT, "markdown", "The decoder runs a [[ over words");
    let params = json!({"textDocument": {"uri": DRAFT}, "position": {"line": 0, "character": 21}});
    let asked: Vec<i64> = (0..20).map(|_| client.request("textDocument/completion", params.clone())).collect();
    for id in &asked[1..19] {
        client.tell("$/cancelRequest", json!({"id": id}));
    }
    // Every request is answered once, in order, whether in time or not; the first and the last are not cancelled.
    let answers: Vec<Value> = asked.iter().map(|&id| client.response(id)).collect();
    for answer in [&answers[0], &answers[19]] {
        assert_eq!(labels(&answer["result"])[0], "Beam search");
    }
    for answer in &answers[1..19] {
        assert!(answer["error"]["code"] == -32800 || answer["result"]["isIncomplete"] == true, "{answer}");
    }
    client.leave();
}

#[test]
fn a_text_of_two_megabytes_is_served_in_parts() {
    let place = place();
    let (mut client, _) = Client::initialized(&place, json!({"hints": "diagnostics", "minProbability": 0.3}));
    let plain = "Nothing is linked on this page about words and sentences at all.\n\n";
    let linked = "We build a parse tree of each sentence.\n\n";
    let text = format!("{linked}{}", plain.repeat((2 << 20) / plain.len()));
    assert!(text.len() > 2_000_000);
    let lines = text.lines().count() as u32;
    client.open(DRAFT, "markdown", &text);
    // While the beginning waits for a rest, an answer at the end comes first.
    client.change(DRAFT, 1, range((lines, 0), (lines, 0)), "The decoder runs a [[");
    let found = client.completion(DRAFT, lines, 21);
    assert_eq!(labels(&found)[0], "Beam search");
    assert_eq!(client.told, [Value::Null; 0], "nothing was computed before");
    let told = client.told("textDocument/publishDiagnostics");
    let found = told["params"]["diagnostics"].as_array().expect("diagnostics").clone();
    assert_eq!(found.iter().map(|one| &one["range"]).collect::<Vec<_>>(), [&range((0, 11), (0, 21))], "{told}");
    // A paragraph that changes far behind is looked at, too: it has its hint, and the first stays.
    client.change(DRAFT, 2, range((lines, 19), (lines, 21)), "beam search over words.");
    let told = client.told("textDocument/publishDiagnostics");
    let found = told["params"]["diagnostics"].as_array().expect("diagnostics");
    let ranges: Vec<&Value> = found.iter().map(|one| &one["range"]).collect();
    assert_eq!(ranges, [&range((0, 11), (0, 21)), &range((lines, 19), (lines, 30))], "{told}");
    client.leave();
}

#[test]
fn a_model_that_has_not_learnt_places_completes_all_the_same() {
    let place = crate::helper::Place::new();
    place.write(
        "in.jsonl",
        "{\"id\": \"a\", \"text\": \"one two [[b]] three\"}\n{\"id\": \"b\", \"text\": \"two one\"}\n",
    );
    place.ok("import jsonl in.jsonl --min-count 1 -o c");
    place.ok("train c -o m --dim 4 --epochs 1 --no-hybrid");
    let (mut client, _) = Client::initialized(&place, json!({"hints": "diagnostics"}));
    client.open(DRAFT, "markdown", "one two [[");
    assert_eq!(labels(&client.completion(DRAFT, 0, 10))[0], "b");
    assert_eq!(client.actions(DRAFT, range((0, 0), (0, 0))), [Value::Null; 0]);
    client.leave();
}
