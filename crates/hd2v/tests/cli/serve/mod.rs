//! The server as its clients meet it: the real program, asked over a real socket.

mod api;
mod client;
mod limits;
mod openapi;
mod operation;
mod page;

use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::helper::Place;

/// Generated documents and a few by hand, `in.jsonl`, and a model `m` of them with a learnt ranking, trained once.
fn place() -> Place {
    static MADE: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    const NAMES: [&str; 2] = ["in.jsonl", "m"];
    let made = MADE.get_or_init(|| {
        let place = trained();
        NAMES.map(|name| std::fs::read(place.path(name)).expect("readable"))
    });
    let place = Place::new();
    NAMES.iter().zip(made).for_each(|(name, bytes)| place.write(name, bytes));
    place
}

fn trained() -> Place {
    let place = Place::new();
    place.ok("generate --docs 300 --links 2000 --seed 3 -o made");
    let mut lines = place.ok("cat made").out;
    let by_hand = [
        json!({"id": "parser", "title": "<script>alert(1)</script> & \"parsers\"", "date": "2001-05", "labels": ["tools", "p"],
            "url": "https://example.org/parser", "text": "a chart parser for grammar trees"}),
        json!({"id": "plain", "text": "a plain page that links to the chart parser [[parser]] and to d000003 [[d000003]]"}),
        json!({"id": "other", "title": "Other Page", "date": "2003", "text": "we use the chart parser [[parser]] and the chart parser [[parser]] twice"}),
    ];
    by_hand.iter().for_each(|line| lines.push_str(&format!("{line}\n")));
    place.write("in.jsonl", lines);
    place.ok("import jsonl in.jsonl --min-count 2 -o c");
    place.ok("train c -o m --dim 16 --epochs 2 --content-epochs 1");
    place
}

/// Some words of the generated documents, different for each number.
fn text(place: &Place, number: usize) -> String {
    let corpus = std::fs::read_to_string(place.path("in.jsonl")).expect("a corpus");
    let line = corpus.lines().nth(number).expect("a document");
    let document: Value = serde_json::from_str(line).expect("JSON");
    let text = document["text"].as_str().expect("a text");
    let words: Vec<&str> = text.split_whitespace().filter(|word| !word.contains('[')).collect();
    let (before, after) = words[..words.len().min(30)].split_at(words.len().min(30) / 2);
    format!("{} [[?]] {}", before.join(" "), after.join(" "))
}
