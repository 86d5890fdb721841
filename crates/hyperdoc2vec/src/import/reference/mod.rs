//! References of papers, for every format that has them: bibliography entries as people write them, texts whose
//! citation marks are taken out, and the linker, which finds the document that an entry means.

pub(crate) mod entry;
pub(crate) mod linker;
mod marked_text;
pub(super) mod names;
pub(super) mod spans;
mod tails;
pub(super) mod words;

pub use linker::{
    BibRecord, Catalogue, CatalogueBuilder, How, Mark, Miss, NearMatch, Outcome, Paper, Reference, ReferenceSample,
    References, SampledCount, Test, fold, surname,
};
pub(super) use marked_text::{MarkJoint, MarkedText};
