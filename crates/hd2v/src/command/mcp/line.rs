//! Lines of the protocol, read within bounds.
//!
//! Names nothing of the program, so that a fuzz target can include the file.

use std::io::{BufRead, Read, Result};

use serde_json::Value;

/// The longest line, in bytes.
const LONGEST: u64 = 32 << 20;

/// The outcome of reading a line.
#[derive(Debug, PartialEq)]
pub enum StdioLine {
    Json(Value),
    /// A line that is no JSON, or too long, and why not.
    Nonsense(String),
}

/// The next line that is not blank; none at the end of the input.
pub fn read(input: &mut impl BufRead) -> Result<Option<StdioLine>> {
    read_up_to(input, LONGEST)
}

fn read_up_to(input: &mut impl BufRead, longest: u64) -> Result<Option<StdioLine>> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(longest + 1).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.len() as u64 > longest && line.last() != Some(&b'\n') {
            input.skip_until(b'\n')?;
            return Ok(Some(StdioLine::Nonsense(format!("expected a line of at most {longest} bytes, found more"))));
        }
        if !line.iter().all(u8::is_ascii_whitespace) {
            return Ok(Some(match serde_json::from_slice(&line) {
                Ok(value) => StdioLine::Json(value),
                Err(error) => StdioLine::Nonsense(format!("expected a line of JSON: {error}")),
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_passed_over_whole() {
        let mut input = &b"\n [1]\n\"0123456\"\n\"01234567\"\n[2]\n\xff\n  \n[3]"[..];
        let mut read = || read_up_to(&mut input, 9).expect("memory");
        let json = |text: &str| Some(StdioLine::Json(serde_json::from_str(text).expect("JSON")));
        assert_eq!((read(), read()), (json("[1]"), json("\"0123456\"")));
        assert_eq!(read(), Some(StdioLine::Nonsense("expected a line of at most 9 bytes, found more".to_owned())));
        assert_eq!(read(), json("[2]"));
        assert!(matches!(read(), Some(StdioLine::Nonsense(_))), "no UTF-8");
        assert_eq!((read(), read()), (json("[3]"), None));
    }
}
