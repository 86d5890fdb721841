//! `hd2v pdf-text`: prints the text of one PDF. `import` calls it: foreign code reads PDFs, and what it breaks is its own
//! process.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use hyperdoc2vec::import::pdf;

/// Print the text of a PDF, a form feed after each page
#[derive(Args)]
pub struct PdfTextArgs {
    /// The PDF
    file: PathBuf,
}

pub fn run(arguments: &PdfTextArgs) -> Result<()> {
    let bytes = std::fs::read(&arguments.file).with_context(|| format!("cannot read {}", arguments.file.display()))?;
    // What went wrong is said in one line; a panic of the reader is no news.
    std::panic::set_hook(Box::new(|_| {}));
    // Deep nesting needs a deep stack.
    let reader = std::thread::Builder::new().stack_size(256 << 20).spawn(move || pdf::text(&bytes));
    let text = reader.context("cannot start a thread")?.join().map_err(|_| anyhow!("a damaged PDF"))?;
    // As it is: a form feed parts pages.
    Ok(std::io::stdout().write_all(text.map_err(|why| anyhow!(why))?.as_bytes())?)
}
