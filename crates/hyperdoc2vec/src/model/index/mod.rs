//! The inverted index of a model, its links, keywords and the words of titles.

pub(crate) mod links;
pub(crate) mod postings;
pub(crate) mod terms;
pub(crate) mod titles;
