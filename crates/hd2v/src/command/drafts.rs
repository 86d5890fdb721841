//! Drafts as files: read within bounds, by their format.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use hyperdoc2vec::recommend::{DraftFormat, LONGEST_DRAFT};

/// Whether a path stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a draft; an error for one that is too long, no UTF-8, or binary.
pub fn read_draft(path: &Path) -> Result<String> {
    let shown = if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() };
    let cannot = || format!("cannot read {shown}");
    let mut bytes = Vec::new();
    // Not more, whatever its length is said to be.
    let most = LONGEST_DRAFT as u64 + 1;
    let mut length = 0;
    if is_stdin(path) {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes).with_context(cannot)?;
    } else {
        let file = File::open(path).with_context(cannot)?;
        let about = file.metadata().with_context(cannot)?;
        if about.is_dir() {
            bail!(
                "{shown}: expected a file, found a directory; name its files, or ask hd2v suggest, which reads directories"
            );
        }
        length = about.len();
        file.take(most).read_to_end(&mut bytes).with_context(cannot)?;
    }
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

/// The whole path of a file, from the root of the file system and without `..`: an id may begin above the folder that
/// the program runs in.
pub fn full_path(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut full = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            full.pop();
        } else {
            full.push(part);
        }
    }
    full.display().to_string()
}

/// The format of a file: the one given, or by the ending of its name, or plain text.
pub fn format_of(path: &Path, given: Option<DraftFormat>) -> DraftFormat {
    given.or_else(|| DraftFormat::of_path(&path.to_string_lossy())).unwrap_or(DraftFormat::Plain)
}

/// The format of a text without a name: the one given, or LaTeX if it cites as LaTeX does, or plain text.
pub fn format_of_text(text: &str, given: Option<DraftFormat>) -> DraftFormat {
    given.unwrap_or(if text.contains("\\cite") { DraftFormat::Latex } else { DraftFormat::Plain })
}
