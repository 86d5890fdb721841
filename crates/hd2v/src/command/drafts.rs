//! Drafts as files: read within bounds, by their format.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use hyperdoc2vec::recommend::{DraftFormat, LONGEST_DRAFT};

/// Reads a draft; an error for one that is too long, no UTF-8, or binary.
pub fn read_draft(path: &Path) -> Result<String> {
    let shown = path.display().to_string();
    let mut bytes = Vec::new();
    // Not more, whatever its length is said to be.
    let most = LONGEST_DRAFT as u64 + 1;
    let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
    let length = file.metadata().map_or(0, |meta| meta.len());
    file.take(most).read_to_end(&mut bytes).with_context(|| format!("cannot read {shown}"))?;
    if bytes.len() > LONGEST_DRAFT {
        let (found, most) = (length.max(most) >> 20, LONGEST_DRAFT >> 20);
        bail!("{shown}: it has {found} MB, but drafts may have at most {most} MB; split it");
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow!("{shown}: expected UTF-8 text, found something else at byte {at}")
    })?;
    if text.contains('\0') {
        bail!("{shown}: expected text, found a binary file");
    }
    Ok(text)
}

/// The format of a file: the one given, or by the ending of its name, or plain text.
pub fn format_of(path: &Path, given: Option<DraftFormat>) -> DraftFormat {
    given.or_else(|| DraftFormat::of_path(&path.to_string_lossy())).unwrap_or(DraftFormat::Plain)
}
