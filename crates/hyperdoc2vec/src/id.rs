//! Numbers that name documents and words, as types, so that one is never taken for the other.
//!
//! An id numbers what a corpus holds, a row what a model has vectors of. Training keeps the vectors of words and documents
//! in one table, whose rows are a third numbering.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable, Serialize, Deserialize)]
        #[serde(transparent)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// Many of them as plain numbers.
            #[inline]
            pub fn numbers(all: &[$name]) -> &[u32] {
                bytemuck::cast_slice(all)
            }

            /// Plain numbers as many of them.
            #[inline]
            pub fn all(numbers: &[u32]) -> &[$name] {
                bytemuck::cast_slice(numbers)
            }
        }
    )*};
}

numbers! {
    /// A document of a corpus, numbered in the order of the input.
    DocId;
    /// A word, numbered by falling count, ties in the order of their bytes.
    WordId;
    /// A document of a model or of what it is trained on, numbered from 0.
    DocRow;
    /// A word of a model or of what it is trained on, numbered from 0: those with vectors by falling count, behind them
    /// the rarer ones that the search index alone has.
    WordRow;
    /// A row of a table that holds words and, behind them, documents.
    TableRow;
}

/// A number or nothing in four bytes: [`u32::MAX`] stands for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionalNumber(u32);

impl OptionalNumber {
    /// Nothing.
    pub const NONE: OptionalNumber = OptionalNumber(u32::MAX);

    /// A number below [`u32::MAX`].
    #[inline]
    pub fn some(number: u32) -> OptionalNumber {
        OptionalNumber(number)
    }

    /// The number, if there is one.
    #[inline]
    pub fn get(self) -> Option<u32> {
        if self == OptionalNumber::NONE { None } else { Some(self.0) }
    }
}
