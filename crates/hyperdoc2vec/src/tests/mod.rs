//! What holds across modules, on small corpora: tests that look behind the front door. `tests/` has those that do not.

mod corpus;
mod evaluate;
mod import_articles;
mod import_mediawiki;
mod import_trees;
mod papers;
mod rivals;
mod search;
mod sidecar;
mod train;
