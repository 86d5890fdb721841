//! Builds a corpus from batches, and refuses input that cannot be read or holds no documents.

use std::path::Path;

use super::ImportOptions;
use crate::corpus::{Builder, Corpus, Provenance};
use crate::document::losses::{Losses, Tally};
use crate::document::tokenize::Tokenizer;
use crate::error::{Error, Result};
use crate::threads::in_pool;

/// Builds a corpus of the batches that `feed` adds; an error if they hold no documents.
pub(crate) fn build(
    destination: &Path,
    source: Provenance,
    options: &ImportOptions,
    feed: impl FnOnce(&Tokenizer, &mut Builder) -> Result<()> + Send,
) -> Result<Corpus> {
    let tokenizer = Tokenizer::new(options.corpus.lowercase);
    let place = source.inputs.join(", ");
    let mut builder = Builder::new(destination, options.corpus.clone(), source, options.force)?;
    in_pool(options.threads, || {
        feed(&tokenizer, &mut builder)?;
        refuse_nothing(builder.counts().documents, place, builder.losses())?;
        builder.finish()
    })
}

/// An error if there are no documents; its message has the first loss, which may be why.
pub(super) fn refuse_nothing(documents: u64, place: String, losses: &Losses) -> Result<()> {
    if documents > 0 {
        return Ok(());
    }
    let why = losses.iter().next().map(|(loss, Tally { count, samples })| {
        let first = samples.first().map(|sample| format!(", the first: {sample}")).unwrap_or_default();
        format!(" ({count} {}{first})", loss.describe_count(*count))
    });
    Err(Error::input(place, format!("no documents found{}; nothing was written", why.unwrap_or_default())))
}

/// An error for the first bad record, unless bad records are skipped.
pub(super) fn refuse_bad(bad: Option<&(String, String)>, options: &ImportOptions) -> Result<()> {
    match bad {
        Some((place, what)) if !options.skip_bad => Err(Error::BadRecord { place: place.clone(), what: what.clone() }),
        _ => Ok(()),
    }
}
