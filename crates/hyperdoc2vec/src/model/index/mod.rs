//! The inverted index of a model, its links and keywords.

pub(crate) mod links;
pub(crate) mod postings;
pub(crate) mod terms;
