//! A batch of documents made ready for the builder: its words numbered within the batch, its text packed.
//!
//! Needs nothing but the batch, so any thread may do it.

use super::TextPlace;
use crate::document::Document;
use crate::import::Parsed;
use crate::losses::{Loss, Losses};
use crate::markup;
use crate::strings::Interner;
use crate::tokenize::Tokenizer;

/// Texts are packed together until a block has this many bytes.
const TEXT_BLOCK: usize = 64 << 10;
/// How hard text is packed: little, since it is packed with every import and seldom read.
const TEXT_LEVEL: i32 = -6;

/// A batch of documents, ready to be added: words have numbers that hold within the batch.
#[derive(Debug, Default)]
pub struct Prepared {
    pub(super) words: Interner,
    pub(super) tokens: Vec<u32>,
    pub(super) documents: Vec<PreparedDocument>,
    pub(super) text: Vec<u8>,
    pub(super) text_blocks: Vec<usize>,
    pub(super) aliases: Vec<(String, String)>,
    pub(super) losses: Losses,
    bad: Option<(String, String)>,
}

#[derive(Debug)]
pub(super) struct PreparedDocument {
    /// Without its text and the links' targets.
    pub(super) document: Document,
    pub(super) tokens: usize,
    pub(super) links: Vec<PreparedLink>,
    pub(super) text: TextPlace,
    pub(super) text_bytes: usize,
}

#[derive(Debug)]
pub(super) struct PreparedLink {
    pub(super) at: u32,
    pub(super) anchor: u32,
    pub(super) targets: Vec<String>,
}

impl Prepared {
    /// The first record of the batch that could not be read: its place and what is wrong.
    pub fn bad(&self) -> Option<&(String, String)> {
        self.bad.as_ref()
    }
}

/// Takes the words out of a batch and packs its text.
pub fn prepare(parsed: Parsed, tokenizer: &Tokenizer) -> Prepared {
    let mut out =
        Prepared { aliases: parsed.aliases, losses: parsed.losses, bad: parsed.first_bad, ..Prepared::default() };
    let mut block = Vec::new();
    let mut packer = zstd::bulk::Compressor::new(TEXT_LEVEL).unwrap_or_default();
    for mut document in parsed.documents {
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
