//! Messages of the protocol: a header with the length, then JSON.

use std::io::{BufRead, Read, Write};

use anyhow::{Context, Result};
use serde_json::Value;

/// The longest message, in bytes.
const LONGEST: usize = 64 << 20;

/// The next message; none at the end of the input, or where it is no message.
pub fn read(input: &mut impl BufRead) -> Result<Option<Value>> {
    let mut length = None;
    let mut line = String::new();
    loop {
        line.clear();
        if input.by_ref().take(1 << 14).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let header = line.trim();
        if header.is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<usize>().ok().filter(|&length| length <= LONGEST);
        }
    }
    let Some(length) = length else { return Ok(None) };
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(serde_json::from_slice(&body).unwrap_or(Value::Null)))
}

/// Writes a message.
pub fn write(output: &mut impl Write, message: &Value) -> Result<()> {
    let body = message.to_string();
    let written = write!(output, "Content-Length: {}\r\n\r\n{body}", body.len()).and_then(|()| output.flush());
    written.context("cannot write to standard output")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_are_written() {
        let mut bytes = Vec::new();
        let message = serde_json::json!({"method": "x", "params": ["é"]});
        write(&mut bytes, &message).expect("memory");
        write(&mut bytes, &message).expect("memory");
        let mut input = bytes.as_slice();
        for _ in 0..2 {
            assert_eq!(read(&mut input).expect("a message"), Some(message.clone()));
        }
        assert_eq!(read(&mut input).expect("the end"), None);
        assert_eq!(read(&mut &b"nonsense\r\n\r\n"[..]).expect("no message"), None);
    }
}
