//! Messages of the protocol, read: a header with the length, then JSON.
//!
//! `lsp-server` has the messages and writes them. It would read them, too, but reserves whatever length a header claims,
//! and ends at the first body that is no message; here such a body is answered, and one that is too long is passed over.
//! Names nothing of the program, so that a fuzz target can include the file.

use std::io::{BufRead, Read, Result};

use lsp_server::Message;

/// The longest message, in bytes.
const LONGEST: u64 = 64 << 20;
/// The longest line of a header, in bytes.
const LONGEST_LINE: u64 = 1 << 14;

/// The outcome of reading a message.
#[derive(Debug)]
pub enum Incoming {
    Message(Message),
    /// A body that is no message, or too long, and why not.
    Nonsense(String),
    /// A header that does not tell where the next message begins: nothing more can be read.
    Lost(String),
}

/// The next message; none at the end of the input.
pub fn read(input: &mut impl BufRead) -> Result<Option<Incoming>> {
    let mut length = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let header = String::from_utf8_lossy(&line);
        let header = header.trim();
        if header.is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let Some(length) = length else {
        return Ok(Some(Incoming::Lost("its header has no length".to_owned())));
    };
    if length > LONGEST {
        let passed = std::io::copy(&mut input.by_ref().take(length), &mut std::io::sink())?;
        let more = passed == length;
        return Ok(more.then(|| Incoming::Nonsense(format!("it has {length} bytes; at most {LONGEST} are read"))));
    }
    let mut body = vec![0; length as usize];
    input.read_exact(&mut body)?;
    Ok(Some(match serde_json::from_slice(&body) {
        Ok(message) => Incoming::Message(message),
        Err(error) => Incoming::Nonsense(error.to_string()),
    }))
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use lsp_server::Notification;

    use super::*;

    #[test]
    fn messages_are_read_as_they_are_written() {
        let mut bytes = Vec::new();
        for words in ["x", "é"] {
            let message = Message::Notification(Notification::new(words.to_owned(), ["é"]));
            message.write(&mut bytes).expect("memory");
        }
        let mut input = bytes.as_slice();
        for words in ["x", "é"] {
            match read(&mut input).expect("a message") {
                Some(Incoming::Message(Message::Notification(found))) => assert_eq!(found.method, words),
                other => panic!("{other:?}"),
            }
        }
        assert!(read(&mut input).expect("the end").is_none());
    }

    #[test]
    fn what_is_no_message_is_told_apart_from_the_end() {
        let read = |bytes: &[u8]| read(&mut &*bytes);
        assert!(matches!(read(b"content-length:2\n\n[]"), Ok(Some(Incoming::Nonsense(_)))));
        assert!(matches!(read(b"\xff\xff: nonsense\r\n\r\n"), Ok(Some(Incoming::Lost(_)))));
        assert!(matches!(read(b"Content-Length: -1\r\n\r\n{}"), Ok(Some(Incoming::Lost(_)))));
        assert!(matches!(read(b"Content-Length: 99999999999999\r\n\r\n{}"), Ok(None)), "no room is made for that");
        assert!(read(b"Content-Length: 9\r\n\r\n{}").is_err(), "it breaks off");
    }

    #[test]
    fn a_message_that_is_too_long_is_passed_over_and_the_next_is_read() {
        let head = format!("Content-Length: {}\r\n\r\n", LONGEST + 1);
        let next = b"Content-Length: 2\r\n\r\n[]";
        let mut input = BufReader::new(head.as_bytes().chain(std::io::repeat(b' ').take(LONGEST + 1)).chain(&next[..]));
        match read(&mut input) {
            Ok(Some(Incoming::Nonsense(why))) => assert!(why.contains("67108864 are read"), "{why}"),
            other => panic!("{other:?}"),
        }
        assert!(matches!(read(&mut input), Ok(Some(Incoming::Nonsense(_)))));
        assert!(matches!(read(&mut input), Ok(None)));
    }
}
