//! Any text: words are words, and white space always parts them.
#![no_main]

use std::sync::LazyLock;

use hyperdoc2vec::internals::document::tokenize::{LONGEST_WORD, Tokenizer};
use libfuzzer_sys::fuzz_target;

static LOWER: LazyLock<Tokenizer> = LazyLock::new(|| Tokenizer::new(true));
static AS_IS: LazyLock<Tokenizer> = LazyLock::new(|| Tokenizer::new(false));

fn lowercase(word: &str) -> String {
    word.chars().flat_map(char::to_lowercase).collect()
}

fuzz_target!(|text: &str| {
    let words = LOWER.list(text);
    for word in &words {
        assert!(!word.is_empty() && !word.contains(char::is_whitespace), "{word:?}");
        // A lower-case letter may take more bytes than its capital.
        assert!(word.len() <= 2 * LONGEST_WORD, "{word:?}");
        assert_eq!(&lowercase(word), word);
    }
    // Capitals part words as small letters do. `İ` is left out: its small letter is two characters, and the second may
    // change where a script without spaces is parted. A small sigma has another form at the end of a word.
    if !text.contains('\u{130}') {
        let same = |word: &str| lowercase(word).replace('ς', "σ");
        assert!(AS_IS.list(text).iter().map(|word| same(word)).eq(words.iter().map(|word| same(word))));
    }
    if let Some((before, after)) = text.split_once(' ') {
        assert_eq!([LOWER.list(before), LOWER.list(after)].concat(), words);
    }
});
