//! Any characters at any places of a page: its text is read as that of a work of a library; sound documents, which are the
//! same as jsonl. And any bytes as the answer of a GROBID server.
//!
//! What decodes PDFs is not ours, and may panic: the program runs it in a process of its own.
#![no_main]

use std::sync::LazyLock;

use hyperdoc2vec::internals::import::pdf::{grobid_body, page_text};
use hyperdoc2vec_fuzz::Books;
use libfuzzer_sys::fuzz_target;

static BOOKS: LazyLock<Books> = LazyLock::new(|| Books::new("a.txt", "refs.bib"));

fuzz_target!(|bytes: &[u8]| {
    // Six bytes a character: where it begins, how high it stands, its size, itself.
    let characters: Vec<([f64; 4], String)> = bytes.chunks_exact(6).map(character).collect();
    let text = page_text(characters.iter().map(|(place, text)| (*place, text.as_str())));
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace() && *c != '\u{c}').count();
    let given: usize = characters.iter().map(|(_, text)| letters(text)).sum();
    assert_eq!(letters(&text), given, "no character is lost");
    BOOKS.check(text.as_bytes());
    let _ = grobid_body(bytes);
});

fn character(bytes: &[u8]) -> ([f64; 4], String) {
    let number = |at: usize| f64::from(i16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let (x, y, size) = (number(0), number(2), f64::from(bytes[4]) / 4.0);
    ([x, x + size / 2.0, y, size], char::from(bytes[5]).to_string())
}
