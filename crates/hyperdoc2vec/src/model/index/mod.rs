//! The inverted index of a model, its links with the sentences they stand in, keywords and the words of titles.

pub(crate) mod links;
pub(crate) mod postings;
pub(crate) mod quotes;
pub(crate) mod terms;
pub(crate) mod titles;
