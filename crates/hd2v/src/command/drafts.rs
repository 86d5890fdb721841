//! Drafts as files: read within bounds, places in them as lines and columns.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use hyperdoc2vec::DocRow;
use hyperdoc2vec::draft::{Draft, DraftFormat, LONGEST_DRAFT};
use hyperdoc2vec::places::DocumentNames;

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
        bail!("{shown}: it has {found} MB, and drafts are read up to {most} MB; split it");
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

/// The documents that a draft links to.
pub fn linked(draft: &Draft, names: &DocumentNames<'_>, source: Option<DocRow>) -> Vec<DocRow> {
    let targets = draft.links.iter().flat_map(|link| &link.targets);
    targets.filter_map(|target| names.resolve(target, source)).collect()
}

/// Where lines begin.
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub fn new(text: &str) -> Lines {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
        Lines { starts: std::iter::once(0).chain(ends).collect() }
    }

    /// Line and column of a byte, counting from 1; columns count characters.
    pub fn place(&self, text: &str, at: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= at);
        let start = self.starts[line - 1];
        (line, text.get(start..at).map_or(1, |before| before.chars().count() + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_characters_from_one() {
        let text = "één\r\ntwee [[?]]";
        let lines = Lines::new(text);
        assert_eq!(lines.place(text, 0), (1, 1));
        assert_eq!(lines.place(text, 4), (1, 3));
        assert_eq!(lines.place(text, text.find('[').expect("a mark")), (2, 6));
        assert_eq!(lines.place(text, text.len()), (2, 11));
    }
}
