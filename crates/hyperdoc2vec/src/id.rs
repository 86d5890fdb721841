//! Numbers that name documents and words, as types, so that one is never taken for the other.

use bytemuck::{Pod, Zeroable};

/// A document of a corpus, numbered in the order of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct DocId(pub u32);

/// A word, numbered by falling count, ties in the order of their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct WordId(pub u32);

impl DocId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl WordId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
