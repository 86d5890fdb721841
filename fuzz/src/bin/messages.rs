//! What an editor or an assistant sends: the messages of LSP (a header, then JSON) and of MCP (a line of JSON). Read to the
//! end or to an error; what was a message is one when it is written and read again.
#![no_main]

use std::io::BufRead;

use libfuzzer_sys::fuzz_target;

#[allow(dead_code, reason = "the program uses all of it")]
#[path = "../../../crates/hd2v/src/command/mcp/line.rs"]
mod line;
#[allow(dead_code, reason = "the program uses all of it")]
#[path = "../../../crates/hd2v/src/command/lsp/message.rs"]
mod message;

use line::StdioLine;
use message::Incoming;
use serde_json::Value;

/// The messages up to the first that leaves nothing to read behind it.
fn messages(mut input: impl BufRead) -> Vec<Incoming> {
    let mut all = Vec::new();
    while let Ok(Some(message)) = message::read(&mut input) {
        let lost = matches!(message, Incoming::Lost(_));
        all.push(message);
        if lost {
            break;
        }
    }
    all
}

/// Whether a value has a number with a fraction: serde_json reads these to the last bit only by a feature that costs time.
fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(values) => values.iter().any(has_fraction),
        Value::Object(values) => values.values().any(has_fraction),
        _ => false,
    }
}

fuzz_target!(|bytes: &[u8]| {
    let found = messages(bytes);
    assert!(found.len() <= bytes.len());
    for message in found {
        if let Incoming::Message(message) = message
            && !serde_json::to_value(&message).is_ok_and(|value| has_fraction(&value))
        {
            let mut written = Vec::new();
            message.clone().write(&mut written).expect("memory");
            match &messages(&written[..])[..] {
                [Incoming::Message(again)] => assert_eq!(format!("{message:?}"), format!("{again:?}")),
                other => panic!("{message:?} is read again as {other:?}"),
            }
        }
    }
    let mut input = bytes;
    while let Some(line) = line::read(&mut input).expect("memory") {
        if let StdioLine::Json(value) = line
            && !has_fraction(&value)
        {
            assert_eq!(line::read(&mut value.to_string().as_bytes()).expect("memory"), Some(StdioLine::Json(value)));
        }
    }
});
