//! The report of an import, for a person to judge: counts, losses, and what became of references.

use serde::Serialize;

use super::reference::References;
use crate::corpus::Corpus;
use crate::document::losses::Losses;

/// The result of an import, to be written as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ImportReport {
    /// The format of the input.
    pub format: &'static str,
    /// Documents taken in.
    pub documents: u64,
    /// Places with links.
    pub positions: u64,
    /// Links: positions and their targets.
    pub links: u64,
    /// Input that was left out or repaired.
    pub losses: Losses,
    /// Bibliography entries and marks, in formats that have them.
    #[serde(skip_serializing_if = "References::is_empty")]
    pub references: References,
}

impl ImportReport {
    /// Nothing yet.
    pub(super) fn new(format: &'static str) -> ImportReport {
        ImportReport {
            format,
            documents: 0,
            positions: 0,
            links: 0,
            losses: Losses::default(),
            references: References::default(),
        }
    }

    /// Takes counts and losses from the corpus that was made.
    pub(super) fn of(mut self, corpus: &Corpus) -> ImportReport {
        let counts = &corpus.manifest().counts;
        (self.documents, self.positions, self.links) = (counts.documents, counts.positions, counts.links);
        self.losses = corpus.manifest().losses.clone();
        self
    }
}
