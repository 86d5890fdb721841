//! The language server as editors meet it: the real program over pipes, in the order in which editors ask.

mod client;
mod editors;
mod faults;

use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::helper::Place;
use client::{Client, range};

/// Pages that link "parse tree" and "beam search" at their first mention: a model `m` of them, trained once.
pub fn place() -> Place {
    static MADE: OnceLock<Vec<u8>> = OnceLock::new();
    let model = MADE.get_or_init(|| {
        let place = Place::new();
        place.write("in.jsonl", pages());
        place.ok("import jsonl in.jsonl --min-count 2 -o c");
        place.ok("train c -o m --dim 8 --epochs 2 --content-epochs 1");
        std::fs::read(place.path("m")).expect("a model")
    });
    let place = Place::new();
    place.write("m", model);
    place
}

fn pages() -> String {
    let tree = "A parse tree shows how a grammar reads a sentence.";
    let beam = "A beam search keeps only the best partial results.";
    let mut lines = vec![
        json!({"id": "notes/tree", "title": "Parse tree", "date": "2001", "text": tree}),
        json!({"id": "notes/beam", "title": "Beam search", "text": beam}),
    ];
    for n in 0..90 {
        let text = match n % 3 {
            0 => "We build a [parse tree][[notes/tree]] of each sentence, and the parse tree is scored.",
            1 => "The decoder runs a [beam search][[notes/beam]] over words with a wide beam search.",
            _ => "Nothing is linked on this page about words and sentences at all.",
        };
        lines.push(json!({"id": format!("page-{n}"), "title": format!("Page {n}"), "text": text}));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

const DRAFT: &str = "file:///work/notes/draft.md";

fn labels(completion: &Value) -> Vec<&str> {
    completion["items"].as_array().expect("items").iter().map(|item| item["label"].as_str().expect("a label")).collect()
}

/// The text after an edit of one line.
fn edited(line: &str, edits: &Value) -> String {
    let mut edits: Vec<(usize, usize, &str)> = edits
        .as_array()
        .expect("edits")
        .iter()
        .map(|edit| {
            let at = |end: &str| edit["range"][end]["character"].as_u64().expect("a column") as usize;
            (at("start"), at("end"), edit["newText"].as_str().expect("a text"))
        })
        .collect();
    edits.sort_by_key(|&(start, ..)| std::cmp::Reverse(start));
    let mut line = line.to_owned();
    for (start, end, text) in edits {
        line.replace_range(start..end, text);
    }
    line
}

#[test]
fn targets_are_completed_by_what_is_typed() {
    let place = place();
    let (mut client, _) = Client::initialized(&place, json!({}));
    let lines =
        ["see [[beam", "see [the tree](par", "as \\citep[see]{x, notes/t", "as [see @notes/be", "mail me@example.org"];
    client.open(DRAFT, "markdown", &lines.join("\n"));
    for (number, (label, text)) in [
        ("Beam search", "notes/beam]]"),
        ("Parse tree", "notes/tree.md)"),
        ("Parse tree", "notes/tree"),
        ("Beam search", "notes/beam"),
    ]
    .into_iter()
    .enumerate()
    {
        let line = lines[number];
        let found = client.completion(DRAFT, number as u32, line.len() as u32);
        assert_eq!(found["isIncomplete"], true);
        let item = &found["items"][0];
        assert_eq!((&item["label"], &item["textEdit"]["newText"]), (&json!(label), &json!(text)), "{line}");
        // What is typed is what clients filter by, so that hits by title stay where an id is typed, and the other way.
        let start = item["textEdit"]["range"]["start"]["character"].as_u64().expect("a column") as usize;
        assert_eq!(item["filterText"], line[start..], "{line}");
        assert_eq!(item["sortText"], "0000");
    }
    assert_eq!(labels(&client.completion(DRAFT, 4, 19)), [""; 0], "no link is being typed");
    client.leave();
}

#[test]
fn paths_lead_to_files_and_nothing_is_completed_or_linked_in_code() {
    let place = place();
    std::fs::create_dir_all(place.path("site/notes/tree")).expect("folders");
    place.write("site/notes/tree/index.md", "# Parse tree\n");
    place.write("site/notes/beam.md", "# Beam search\n");
    let (mut client, _) = Client::initialized(&place, json!({}));
    let lines = ["see [the tree](par", "", "```", "see [[beam", "a wide thing", "```", "", "a wide `thing` here"];
    // A document of the model, and a new file.
    for name in ["beam.md", "new.md"] {
        let uri = format!("file://{}", place.path(format!("site/notes/{name}")).display());
        client.open(&uri, "markdown", &lines.join("\n"));
        let found = client.completion(&uri, 0, 18);
        assert_eq!(found["items"][0]["textEdit"]["newText"], "tree/index.md)", "{name}");
        assert_eq!(labels(&client.completion(&uri, 3, 10)), [""; 0], "code");
        assert_eq!(client.actions(&uri, range((4, 2), (4, 12))), [json!(null); 0], "code");
        assert_eq!(client.actions(&uri, range((7, 8), (7, 13))), [json!(null); 0], "code");
        assert_eq!(client.actions(&uri, range((7, 2), (7, 6))).len(), 3, "words");
    }
    client.leave();
}

#[test]
fn targets_are_completed_by_the_words_around_where_nothing_is_typed() {
    let place = place();
    let (mut client, _) = Client::initialized(&place, json!({}));
    let lines = ["The decoder runs a [[]] over words.", "We build a [[?]] of each sentence, which is scored."];
    client.open(DRAFT, "markdown", &lines.join("\n\n"));
    let found = client.completion(DRAFT, 0, 21);
    assert_eq!(labels(&found)[0], "Beam search");
    assert_eq!(found["items"][0]["filterText"], "");
    assert_eq!(found["items"][0]["textEdit"]["newText"], "notes/beam", "the brackets are closed already");
    let found = client.completion(DRAFT, 2, 14);
    assert_eq!(labels(&found)[0], "Parse tree");
    assert_eq!(found["items"][0]["filterText"], "?", "clients keep what matches what is typed");
    let order: Vec<&str> =
        found["items"].as_array().expect("items").iter().filter_map(|item| item["sortText"].as_str()).collect();
    assert!(order.is_sorted() && order.len() > 1, "{order:?}");
    client.leave();
}

#[test]
fn code_actions_link_a_phrase_or_never_link_it_again() {
    let place = place();
    let never = place.path("never.txt");
    let (mut client, _) = Client::initialized(&place, json!({"minProbability": 0.3, "neverLink": never}));
    let line = "A parse tree of each sentence is built.";
    client.open(DRAFT, "markdown", line);
    let actions = client.actions(DRAFT, range((0, 4), (0, 4)));
    let titles: Vec<&str> = actions.iter().filter_map(|action| action["title"].as_str()).collect();
    assert!(titles.len() == 2 && titles[0].starts_with("link to Parse tree (0."), "{titles:?}");
    assert_eq!(titles[1], "never link “parse tree”");
    let edits = &actions[0]["edit"]["changes"][DRAFT];
    // The draft stands in the folder of the notes.
    assert_eq!(edited(line, edits), "A [parse tree](notes/tree.md) of each sentence is built.");
    assert_eq!(client.actions(DRAFT, range((0, 20), (0, 20))), [json!(null); 0], "nothing is missing there");

    let command = &actions[1]["command"];
    let params = json!({"command": command["command"], "arguments": command["arguments"]});
    assert_eq!(client.ask("workspace/executeCommand", params)["result"], true);
    assert_eq!(std::fs::read_to_string(never).expect("the list"), "parse tree\n");
    assert_eq!(client.actions(DRAFT, range((0, 4), (0, 4))), [json!(null); 0]);
    client.leave();
}

#[test]
fn a_list_of_what_is_never_linked_grows_by_lines_and_nothing_else_is_written_to() {
    let place = place();
    place.write("list", "without an end");
    place.write("binary", "text\0");
    let (mut client, _) = Client::initialized(&place, json!({}));
    let mut never = |name: &str| {
        let settings = json!({"settings": {"neverLink": place.path(name)}});
        client.tell("workspace/didChangeConfiguration", settings);
        let params = json!({"command": "hd2v.neverLink", "arguments": ["parse  tree"]});
        client.ask("workspace/executeCommand", params)
    };
    assert_eq!(never("list")["result"], true);
    assert_eq!(std::fs::read_to_string(place.path("list")).expect("the list"), "without an end\nparse tree\n");
    for (name, why) in
        [("binary", "expected lines of text"), ("m", "expected lines of text"), ("", "not a regular file")]
    {
        let before = std::fs::read(place.path(name)).ok();
        let message = never(name)["error"]["message"].clone();
        assert!(message.as_str().is_some_and(|message| message.contains(why)), "{name}: {message}");
        assert_eq!(std::fs::read(place.path(name)).ok(), before);
    }
    client.leave();
}

#[test]
fn a_selection_can_be_linked_in_the_syntax_of_the_file() {
    let place = place();
    let (mut client, _) = Client::initialized(&place, json!({}));
    let line = "The decoder runs a wide thing over words.";
    for (language, uri, start) in [
        ("markdown", "file:///work/a.md", "The decoder runs a [wide thing]("),
        ("latex", "file:///work/a.tex", "The decoder runs a wide thing~\\cite{notes/beam}"),
    ] {
        client.open(uri, language, line);
        let actions = client.actions(uri, range((0, 19), (0, 29)));
        assert_eq!(actions.len(), 3, "{actions:?}");
        let first = edited(line, &actions[0]["edit"]["changes"][uri]);
        assert!(first.starts_with(start) && first.ends_with(" over words."), "{first}");
    }
    client.leave();
}

#[test]
fn a_place_that_asks_for_a_link_gets_one() {
    let place = place();
    let (mut client, _) = Client::initialized(&place, json!({}));
    let line = "The decoder runs a search \\cite{?} over words.";
    client.open("file:///work/a.tex", "latex", line);
    let actions = client.actions("file:///work/a.tex", range((0, 30), (0, 30)));
    let title = actions.first().and_then(|action| action["title"].as_str()).unwrap_or_default();
    assert!(title.starts_with("link to Beam search"), "{actions:?}");
    let edits = &actions[0]["edit"]["changes"]["file:///work/a.tex"];
    assert_eq!(edited(line, edits), "The decoder runs a search \\cite{notes/beam} over words.");
    client.leave();
}

#[test]
fn hints_are_off_unless_asked_for() {
    let place = place();
    let text = "A parse tree of each sentence is built.";
    let hints = |client: &mut Client| {
        let params = json!({"textDocument": {"uri": DRAFT}, "range": range((0, 0), (9, 0))});
        client.ask("textDocument/inlayHint", params)["result"].clone()
    };
    let (mut client, _) = Client::initialized(&place, json!({"minProbability": 0.3}));
    client.open(DRAFT, "markdown", text);
    assert_eq!(hints(&mut client), json!([]));
    // Settings may change.
    client.tell(
        "workspace/didChangeConfiguration",
        json!({"settings": {"hd2v": {"hints": "diagnostics", "minProbability": 0.3}}}),
    );
    let told = client.told("textDocument/publishDiagnostics");
    let found = &told["params"]["diagnostics"];
    assert_eq!(found[0]["range"], range((0, 2), (0, 12)), "{told}");
    assert_eq!((&found[0]["severity"], &found[0]["source"]), (&json!(4), &json!("hd2v")), "a hint, no warning");
    assert_eq!(hints(&mut client), json!([]), "not shown twice");
    client.leave();

    let mut client = Client::start(&place, "");
    let capabilities = json!({"workspace": {"inlayHint": {"refreshSupport": true}}});
    let options = json!({"hints": true, "minProbability": 0.3});
    client.ask("initialize", json!({"capabilities": capabilities, "initializationOptions": options}));
    client.tell("initialized", json!({}));
    client.open(DRAFT, "markdown", text);
    client.told("workspace/inlayHint/refresh");
    let found = hints(&mut client);
    assert_eq!(
        (&found[0]["label"], &found[0]["position"]),
        (&json!("→ Parse tree"), &range((0, 12), (0, 12))["start"])
    );
    client.leave();
}

#[test]
fn hover_shows_what_a_link_leads_to() {
    let place = place();
    let root = place.path("tree");
    std::fs::create_dir_all(root.join("notes")).expect("a folder");
    let first = "# Parse tree\n\nA parse tree shows how\na grammar reads. And more.\n\nAnother paragraph.\n";
    std::fs::write(root.join("notes/tree.md"), first).expect("a note");
    let uri = format!("file://{}", root.join("page-0.md").display());
    let (mut client, _) = Client::initialized(&place, json!({"minProbability": 0.3}));
    client.open(&uri, "markdown", "A [tree](notes/tree.md) and a [page](page-1.md), [no](nothing.md).");
    let hover = |client: &mut Client, column: u32| {
        let params = json!({"textDocument": {"uri": &uri}, "position": {"line": 0, "character": column}});
        client.ask("textDocument/hover", params)["result"].clone()
    };
    let found = hover(&mut client, 4);
    let shown = found["contents"]["value"].as_str().unwrap_or_else(|| panic!("{found}"));
    assert!(shown.starts_with("**Parse tree**, 2001\n\n`notes/tree`, linked to 30 times"), "{shown}");
    assert!(shown.contains("\n\nA parse tree shows how a grammar reads. And more.\n"), "its first lines: {shown}");
    assert!(shown.contains("\n- We build a **[parse tree]** of each sentence"), "how others link to it: {shown}");
    assert_eq!(found["range"], range((0, 2), (0, 23)));
    let page = hover(&mut client, 32);
    assert!(page["contents"]["value"].as_str().is_some_and(|shown| shown.starts_with("**Page 1**")), "{page}");
    assert_eq!(hover(&mut client, 52), Value::Null, "the model does not know it");
    assert_eq!(hover(&mut client, 0), Value::Null, "no link");
    client.leave();
}

#[test]
fn orphans_are_listed() {
    let place = place();
    let (mut client, _) = Client::initialized(&place, json!({}));
    let answer = client.ask("workspace/executeCommand", json!({"command": "hd2v.orphans"}));
    let orphans = answer["result"].as_array().expect("a list");
    assert_eq!(orphans.len(), 90);
    assert_eq!(orphans[0], json!({"id": "page-0", "title": "Page 0"}));
    client.leave();
}
