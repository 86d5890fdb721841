//! A batch of documents made ready for the builder: its words numbered within the batch, its text packed.
//!
//! Needs nothing but the batch, so any thread may do it.

use crate::corpus::TextPlace;
use crate::document::losses::{Loss, Losses};
use crate::document::tokenize::Tokenizer;
use crate::document::{Document, markup};
use crate::storage::strings::Interner;

/// Texts are packed together until a block has this many bytes.
const TEXT_BLOCK: usize = 64 << 10;
/// How hard text is packed: little, since it is packed with every import and seldom read.
const TEXT_LEVEL: i32 = -6;

/// Some documents of a corpus to be, as an importer or a generator makes them.
#[derive(Debug, Default)]
pub struct DocumentBatch {
    /// Documents, in the order of the input.
    pub documents: Vec<Document>,
    /// Redirects: a name that links may use, and the id (or redirect) it stands for.
    pub aliases: Vec<(String, String)>,
    /// Input that was left out or repaired.
    pub losses: Losses,
    /// The first record that could not be read: its place, and what is wrong with it.
    pub first_bad: Option<(String, String)>,
}

/// A batch of documents, ready to be added: words have numbers that hold within the batch.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    pub(crate) words: Interner,
    pub(crate) tokens: Vec<u32>,
    pub(crate) documents: Vec<PreparedDocument>,
    pub(crate) text: Vec<u8>,
    pub(crate) text_blocks: Vec<usize>,
    pub(crate) aliases: Vec<(String, String)>,
    pub(crate) losses: Losses,
    pub(super) bad: Option<(String, String)>,
}

#[derive(Debug)]
pub(crate) struct PreparedDocument {
    /// Without its text and the links' targets.
    pub(crate) document: Document,
    pub(crate) tokens: usize,
    pub(crate) links: Vec<PreparedLink>,
    pub(crate) text: TextPlace,
    pub(crate) text_bytes: usize,
}

#[derive(Debug)]
pub(crate) struct PreparedLink {
    pub(crate) at: u32,
    pub(crate) anchor: u32,
    pub(crate) targets: Vec<String>,
}

impl Prepared {
    /// The first record of the batch that could not be read: its place and what is wrong.
    pub(crate) fn bad(&self) -> Option<&(String, String)> {
        self.bad.as_ref()
    }
}

/// Takes the words out of a batch and packs its text.
pub(crate) fn prepare(batch: DocumentBatch, tokenizer: &Tokenizer) -> Prepared {
    let mut out =
        Prepared { aliases: batch.aliases, losses: batch.losses, bad: batch.first_bad, ..Prepared::default() };
    let mut block = Vec::new();
    let mut packer = zstd::bulk::Compressor::new(TEXT_LEVEL).unwrap_or_default();
    for mut document in batch.documents {
        let start = out.tokens.len();
        let links = take_words(&mut document, tokenizer, &mut out);
        let tokens = out.tokens.len() - start;
        if tokens == 0 {
            out.losses.add(Loss::EmptyText, format!("{} ({})", document.id, document.origin));
        }
        let text = std::mem::take(&mut document.text);
        let marked = markup::render(&text, &document.links);
        document.links.clear();
        let place = TextPlace {
            block: out.text_blocks.len() as u32,
            start: block.len() as u32,
            bytes: u32::try_from(marked.len()).unwrap_or(0),
        };
        block.extend_from_slice(marked.as_bytes());
        if block.len() >= TEXT_BLOCK {
            pack(&mut packer, &mut block, &mut out);
        }
        out.documents.push(PreparedDocument { document, tokens, links, text: place, text_bytes: text.len() });
    }
    if !block.is_empty() {
        pack(&mut packer, &mut block, &mut out);
    }
    out
}

fn pack(packer: &mut zstd::bulk::Compressor<'_>, block: &mut Vec<u8>, out: &mut Prepared) {
    // Packing into memory cannot fail.
    out.text.extend(packer.compress(block).unwrap_or_default());
    out.text_blocks.push(out.text.len());
    block.clear();
}

/// Appends the words of a document to the batch; links get their places among them.
///
/// A link, or the start of its anchor, always separates words: `[Vec][[id]]s` is `vec`, link, `s`.
fn take_words(document: &mut Document, tokenizer: &Tokenizer, out: &mut Prepared) -> Vec<PreparedLink> {
    let Prepared { words, tokens, losses, .. } = out;
    let start = tokens.len();
    let text = &document.text;
    let mut done = 0;
    let mut read_to = |end: usize, tokens: &mut Vec<u32>| {
        if end > done {
            let overlong = tokenizer.words(&text[done..end], |word| tokens.push(words.intern(word)));
            for _ in 0..overlong {
                losses.add(Loss::OverlongWord, format!("in {} ({})", document.id, document.origin));
            }
            done = end;
        }
    };
    let mut links = Vec::with_capacity(document.links.len());
    for link in &mut document.links {
        read_to(link.anchor, tokens);
        let anchor = tokens.len();
        read_to(link.at, tokens);
        links.push(PreparedLink {
            at: (tokens.len() - start) as u32,
            anchor: (tokens.len() - anchor) as u32,
            targets: link.targets.clone(),
        });
    }
    read_to(text.len(), tokens);
    links
}
