//! Any bytes as the table that Zotero exports, one of whose works may have a text: refused with an error, or sound documents; as jsonl they
//! are the same.
#![no_main]

use std::sync::LazyLock;

use hyperdoc2vec_fuzz::Books;
use libfuzzer_sys::fuzz_target;

static BOOKS: LazyLock<Books> = LazyLock::new(|| Books::new("refs.csv", "refs.csv"));

fuzz_target!(|bytes: &[u8]| BOOKS.check(bytes));
