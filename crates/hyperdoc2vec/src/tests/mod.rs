//! Properties across modules, on small corpora: tests that look behind the front door. `tests/` has those that do not.

use std::path::{Path, PathBuf};

use crate::Corpus;
use crate::error::Result;
use crate::import::{Format, Import, ImportOptions, Watch};

/// Imports files into a corpus.
pub(crate) fn import(
    format: Format,
    inputs: &[PathBuf],
    destination: &Path,
    options: &ImportOptions,
    watch: &mut Watch<'_>,
) -> Result<Corpus> {
    Import::files(format, inputs).options(options.clone()).watch(watch).build(destination)
}

mod corpus;
mod evaluate;
pub(crate) mod growth;
mod import_articles;
mod import_mediawiki;
mod import_trees;
mod papers;
mod rivals;
mod search;
mod sidecar;
mod train;
