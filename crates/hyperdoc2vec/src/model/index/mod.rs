//! The inverted index of a model, its links with the sentences they stand in, keywords and the words of titles and authors.

pub(crate) mod kept;
pub(crate) mod links;
pub(crate) mod postings;
pub(crate) mod quotes;
mod runs;
pub(crate) mod short_fields;
pub(crate) mod skips;
pub(crate) mod terms;
