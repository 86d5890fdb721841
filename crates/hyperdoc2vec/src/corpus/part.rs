//! A prepared batch as bytes, so that another process can add it to a corpus.
//!
//! The length of a JSON object, the object, the words of all documents as numbers, and the packed text.

use serde::{Deserialize, Serialize};

use crate::corpus::TextPlace;
use crate::corpus::prepare::{Prepared, PreparedDocument, PreparedLink};
use crate::document::losses::Losses;
use crate::document::{Date, Document};
use crate::storage::strings::Interner;

/// A batch without its words and its text.
#[derive(Serialize, Deserialize)]
struct BatchRecord {
    words: Vec<String>,
    tokens: usize,
    documents: Vec<DocumentRecord>,
    text_blocks: Vec<usize>,
    aliases: Vec<(String, String)>,
    losses: Losses,
}

/// A document of a batch.
#[derive(Serialize, Deserialize)]
struct DocumentRecord {
    id: String,
    title: Option<String>,
    authors: Vec<String>,
    date: Option<i32>,
    language: Option<String>,
    labels: Vec<String>,
    url: Option<String>,
    origin: String,
    tokens: usize,
    /// Block, first byte, and length.
    text: (u32, u32, u32),
    text_bytes: usize,
    /// Place, length of the anchor, targets.
    links: Vec<(u32, u32, Vec<String>)>,
}

impl Prepared {
    /// All of the batch as bytes, but for the first bad record.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let record = BatchRecord {
            words: self.words.iter().map(str::to_owned).collect(),
            tokens: self.tokens.len(),
            documents: self.documents.iter().map(DocumentRecord::of).collect(),
            text_blocks: self.text_blocks.clone(),
            aliases: self.aliases.clone(),
            losses: self.losses.clone(),
        };
        // Strings and numbers can always be written.
        let json = serde_json::to_vec(&record).unwrap_or_default();
        let tokens: &[u8] = bytemuck::cast_slice(&self.tokens);
        let mut bytes = Vec::with_capacity(8 + json.len() + tokens.len() + self.text.len());
        bytes.extend_from_slice(&(json.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&json);
        bytes.extend_from_slice(tokens);
        bytes.extend_from_slice(&self.text);
        bytes
    }

    /// The batch that these bytes are; `None` if they are none.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Prepared> {
        let (length, rest) = bytes.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let record: BatchRecord = serde_json::from_slice(rest.get(..length)?).ok()?;
        let rest = &rest[length..];
        let numbers = rest.get(..record.tokens.checked_mul(4)?)?;
        let tokens: Vec<u32> =
            numbers.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect();
        let text = rest[numbers.len()..].to_vec();
        let mut words = Interner::default();
        for word in &record.words {
            words.intern(word);
        }
        let blocks = &record.text_blocks;
        let fits = words.len() == record.words.len()
            && tokens.iter().all(|&token| (token as usize) < words.len())
            && record.documents.iter().try_fold(0usize, |sum, document| sum.checked_add(document.tokens))?
                == tokens.len()
            && blocks.is_sorted()
            && blocks.last().copied().unwrap_or(0) == text.len()
            && record.documents.iter().all(|document| document.fits(blocks.len()));
        if !fits {
            return None;
        }
        let documents = record.documents.into_iter().map(DocumentRecord::prepared).collect();
        let BatchRecord { text_blocks, aliases, losses, .. } = record;
        Some(Prepared { words, tokens, documents, text, text_blocks, aliases, losses, ..Prepared::default() })
    }
}

impl DocumentRecord {
    fn of(prepared: &PreparedDocument) -> DocumentRecord {
        let PreparedDocument { document, tokens, links, text, text_bytes } = prepared;
        DocumentRecord {
            id: document.id.clone(),
            title: document.title.clone(),
            authors: document.authors.clone(),
            date: document.date.map(Date::packed),
            language: document.language.clone(),
            labels: document.labels.clone(),
            url: document.url.clone(),
            origin: document.origin.clone(),
            tokens: *tokens,
            text: (text.block, text.start, text.bytes),
            text_bytes: *text_bytes,
            links: links.iter().map(|link| (link.at, link.anchor, link.targets.clone())).collect(),
        }
    }

    /// Whether its links stand among its words, and its text in one of so many blocks.
    fn fits(&self, blocks: usize) -> bool {
        let in_text = |&(at, anchor, _): &(u32, u32, Vec<String>)| anchor <= at && at as usize <= self.tokens;
        (self.text.2 == 0 || (self.text.0 as usize) < blocks) && self.links.iter().all(in_text)
    }

    fn prepared(self) -> PreparedDocument {
        let (block, start, bytes) = self.text;
        let links = self.links.into_iter().map(|(at, anchor, targets)| PreparedLink { at, anchor, targets });
        PreparedDocument {
            document: Document {
                id: self.id,
                title: self.title,
                authors: self.authors,
                date: self.date.and_then(Date::from_packed),
                language: self.language,
                labels: self.labels,
                url: self.url,
                origin: self.origin,
                ..Document::default()
            },
            tokens: self.tokens,
            links: links.collect(),
            text: TextPlace { block, start, bytes },
            text_bytes: self.text_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{DocumentBatch, prepare};
    use crate::document::losses::Loss;
    use crate::document::tokenize::Tokenizer;

    fn batch() -> Prepared {
        let mut losses = Losses::default();
        losses.add(Loss::SkippedPage, "a page");
        let mut first = Document::new("a", "some words [and more][[b]] of them").title("A").labels(["x", "y"]);
        first.date = "2009-06".parse().ok();
        (first.language, first.url) = (Some("en".to_owned()), Some("https://example.org/a".to_owned()));
        let documents = vec![first, Document::new("b", ""), Document::new("c", "words [[a]]").authors(["An Author"])];
        let aliases = vec![("other".to_owned(), "a".to_owned())];
        prepare(DocumentBatch { documents, aliases, losses, first_bad: None }, &Tokenizer::new(true))
    }

    #[test]
    fn a_batch_comes_back_as_it_was() {
        let before = batch();
        let after = Prepared::from_bytes(&before.to_bytes()).expect("a batch");
        assert!(before.words.iter().eq(after.words.iter()));
        let shown = |batch: &Prepared| {
            let Prepared { tokens, documents, text, text_blocks, aliases, losses, .. } = batch;
            format!("{tokens:?} {documents:?} {text:?} {text_blocks:?} {aliases:?} {losses:?}")
        };
        assert_eq!(shown(&before), shown(&after));
    }

    #[test]
    fn other_bytes_are_no_batch() {
        let bytes = batch().to_bytes();
        for end in 0..bytes.len() {
            assert!(Prepared::from_bytes(&bytes[..end]).is_none(), "cut at {end}");
        }
        let mut altered = bytes.clone();
        altered.iter_mut().for_each(|byte| *byte ^= 1);
        assert!(Prepared::from_bytes(&altered).is_none());
    }
}
