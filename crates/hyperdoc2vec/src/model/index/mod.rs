//! The inverted index of a model, its links and keywords.

pub mod links;
pub mod postings;
pub mod terms;
