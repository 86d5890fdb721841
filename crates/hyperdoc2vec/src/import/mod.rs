//! Importers: bytes in some format to [`Document`]s. One file a format; each knows documents and nothing else.

pub mod html;
pub mod markdown;
mod tree;

use crate::document::Document;
use crate::losses::Losses;

/// What an importer makes of a piece of its input.
#[derive(Debug, Default)]
pub struct Parsed {
    /// Documents, in the order of the input.
    pub documents: Vec<Document>,
    /// Redirects: a name that links may use, and the id (or redirect) it stands for.
    pub aliases: Vec<(String, String)>,
    /// What was left out or mended.
    pub losses: Losses,
}
