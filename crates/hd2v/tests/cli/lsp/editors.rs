//! What Visual Studio Code and Neovim send, in their order and with their fields, as far as they matter here.

use serde_json::{Value, json};

use super::client::{Client, range};
use super::{DRAFT, edited, labels, place};

#[test]
fn visual_studio_code_is_served() {
    let place = place();
    let mut client = Client::start(&place, "--stdio");
    let answer = client.ask(
        "initialize",
        json!({
            "processId": std::process::id(),
            "clientInfo": {"name": "Visual Studio Code", "version": "1.105.0"},
            "locale": "en",
            "rootPath": "/work", "rootUri": "file:///work",
            "capabilities": {
                "workspace": {
                    "applyEdit": true,
                    "workspaceEdit": {"documentChanges": true, "failureHandling": "textOnlyTransactional"},
                    "configuration": true,
                    "didChangeConfiguration": {"dynamicRegistration": true},
                    "inlayHint": {"refreshSupport": true},
                },
                "textDocument": {
                    "synchronization": {"dynamicRegistration": true, "didSave": true},
                    "completion": {
                        "contextSupport": true,
                        "completionItem": {"snippetSupport": true, "insertReplaceSupport": true, "labelDetailsSupport": true},
                    },
                    "codeAction": {"isPreferredSupport": true, "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix"]}}},
                },
                "general": {"positionEncodings": ["utf-16"], "staleRequestSupport": {"cancel": true, "retryOnContentModified": []}},
            },
            "initializationOptions": {"hints": true, "minProbability": 0.3},
            "trace": "off",
            "workspaceFolders": [{"uri": "file:///work", "name": "work"}],
        }),
    );
    let capabilities = &answer["result"]["capabilities"];
    assert_eq!(capabilities["positionEncoding"], "utf-16");
    assert_eq!(capabilities["textDocumentSync"]["change"], 2, "incremental");
    client.tell("initialized", json!({}));
    client.tell("$/setTrace", json!({"value": "off"}));
    // An astral character counts as two.
    let line = "𝄞 The decoder runs a beam search over ";
    client.open(DRAFT, "markdown", &format!("# Notes\n\n{line}\n"));
    let view = json!({"textDocument": {"uri": DRAFT}, "range": range((0, 0), (4, 0))});
    let early = client.request("textDocument/inlayHint", view.clone());
    let automatic = json!({
        "textDocument": {"uri": DRAFT}, "range": range((2, 0), (2, 0)),
        "context": {"diagnostics": [], "triggerKind": 2},
    });
    let actions = client.request("textDocument/codeAction", automatic);
    assert_eq!(client.response(early)["result"], json!([]), "nothing is computed before a rest");
    assert_eq!(client.response(actions)["result"], json!([]));
    // At rest, the hints are there; the client asks for them again when it is told so.
    let refresh = client.told("workspace/inlayHint/refresh");
    client.send(&framed(&json!({"jsonrpc": "2.0", "id": refresh["id"], "result": null})));
    let hints = client.ask("textDocument/inlayHint", view)["result"].clone();
    assert_eq!(hints[0]["position"], json!({"line": 2, "character": 33}), "{hints}");

    // Typing `[[`: brackets close by themselves, each key is a change, each trigger a request; the first is cancelled.
    let columns = line.encode_utf16().count() as u32;
    client.change(DRAFT, 2, range((2, columns), (2, columns)), "[]");
    let asked = |kind: u32, character: u32| {
        json!({
            "textDocument": {"uri": DRAFT}, "position": {"line": 2, "character": character},
            "context": {"triggerKind": kind, "triggerCharacter": "["},
        })
    };
    let first = client.request("textDocument/completion", asked(2, columns + 1));
    client.tell("$/cancelRequest", json!({"id": first}));
    client.change(DRAFT, 3, range((2, columns + 1), (2, columns + 1)), "[]");
    let second = client.request("textDocument/completion", asked(2, columns + 2));
    let given_up = client.response(first);
    assert!(given_up["error"]["code"] == -32800 || given_up["result"]["items"] == json!([]), "{given_up}");
    let found = client.response(second)["result"].clone();
    assert!(!labels(&found).is_empty() && found["isIncomplete"] == true, "{found}");
    client.change(DRAFT, 4, range((2, columns + 2), (2, columns + 2)), "pars");
    let found = client.ask("textDocument/completion", asked(3, columns + 6))["result"].clone();
    let item = &found["items"][0];
    assert_eq!((&item["label"], &item["filterText"]), (&json!("Parse tree"), &json!("pars")));
    assert_eq!(item["textEdit"]["range"], range((2, columns + 2), (2, columns + 6)), "the typed letters are replaced");
    assert_eq!(item["textEdit"]["newText"], "notes/tree", "`]]` stands behind the cursor");
    client.tell("textDocument/didSave", json!({"textDocument": {"uri": DRAFT}}));
    client.tell("textDocument/didClose", json!({"textDocument": {"uri": DRAFT}}));
    client.leave();
}

fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[test]
fn neovim_is_served() {
    let place = place();
    let mut client = Client::start(&place, "");
    let answer = client.ask(
        "initialize",
        json!({
            "processId": std::process::id(),
            "clientInfo": {"name": "Neovim", "version": "0.11.4"},
            "rootPath": null, "rootUri": null, "workspaceFolders": null,
            "trace": "off",
            "workDoneToken": "1",
            "capabilities": {
                "general": {"positionEncodings": ["utf-8", "utf-16", "utf-32"]},
                "workspace": {"configuration": true, "inlayHint": {"refreshSupport": true}, "workspaceEdit": {"resourceOperations": ["rename"]}},
                "textDocument": {"completion": {"contextSupport": true}, "publishDiagnostics": {"relatedInformation": true}},
            },
            "initializationOptions": {"hints": "diagnostics", "minProbability": 0.3},
        }),
    );
    assert_eq!(answer["result"]["capabilities"]["positionEncoding"], "utf-8");
    client.tell("initialized", json!({}));
    // Neovim sends settings even where there are none.
    client.tell("workspace/didChangeConfiguration", json!({"settings": {}}));
    let line = "é𝄞: a parse tree of each sentence.";
    client.open(DRAFT, "markdown", &format!("{line}\n"));
    let told = client.told("textDocument/publishDiagnostics");
    let hint = &told["params"]["diagnostics"][0];
    // By bytes.
    let start = line.find("parse").expect("the words") as u32;
    assert_eq!(hint["range"], range((0, start), (0, start + 10)), "{told}");
    assert_eq!(told["params"]["version"], 0);
    // The code action is asked for at the cursor, with the diagnostics of its line.
    let params = json!({
        "textDocument": {"uri": DRAFT}, "range": range((0, start + 2), (0, start + 2)),
        "context": {"diagnostics": [hint], "triggerKind": 1},
    });
    let actions = client.ask("textDocument/codeAction", params)["result"].clone();
    let written = edited(line, &actions[0]["edit"]["changes"][DRAFT]);
    assert_eq!(written, "é𝄞: a [parse tree](notes/tree.md) of each sentence.");
    // It applies the edits from the last to the first and tells of each.
    for (version, edit) in
        [(1, &actions[0]["edit"]["changes"][DRAFT][1]), (2, &actions[0]["edit"]["changes"][DRAFT][0])]
    {
        let change = json!({"range": edit["range"], "rangeLength": 0, "text": edit["newText"]});
        client.tell(
            "textDocument/didChange",
            json!({"textDocument": {"uri": DRAFT, "version": version}, "contentChanges": [change]}),
        );
    }
    let told = client.told("textDocument/publishDiagnostics");
    assert_eq!(told["params"]["diagnostics"], json!([]), "what is linked is not suggested again");
    assert_eq!(told["params"]["version"], 2);
    // Manual completion.
    let end = written.len() as u32;
    client.change(DRAFT, 3, range((0, end), (0, end)), " The decoder runs a [[");
    let params = json!({
        "textDocument": {"uri": DRAFT}, "position": {"line": 0, "character": end + 22}, "context": {"triggerKind": 1},
    });
    let found = client.ask("textDocument/completion", params)["result"].clone();
    assert!(labels(&found).contains(&"Beam search"), "{found}");
    client.leave();
}
