//! `hd2v pdf-text`: prints the text of one PDF. `import` calls it: foreign code reads PDFs, and what it breaks is its own
//! process.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use hyperdoc2vec::import::pdf;

use super::common::read_bounded;

/// Print the text of a PDF, a form feed after each page
#[derive(Args)]
pub struct PdfTextArgs {
    /// The PDF
    file: PathBuf,
    /// Print lines that may be its title instead, the best first
    #[arg(long)]
    titles: bool,
}

/// Memory that the process may have: papers take up to 400 MB, and a PDF of a few KB may unpack to any size.
#[cfg(unix)]
const MEMORY: u64 = 2 << 30;
/// Larger files are not read, as by `import`.
const LARGEST: u64 = 512 << 20;

pub fn run(arguments: &PdfTextArgs) -> Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        // Where it cannot be set, nothing is lost but the bound.
        let _ = setrlimit(Resource::As, Rlimit { current: Some(MEMORY), maximum: Some(MEMORY) });
    }
    let read = if arguments.titles { pdf::titles } else { pdf::text };
    let bytes = read_bounded(&arguments.file, LARGEST)?;
    // What went wrong is said in one line; a panic of the reader is no news.
    std::panic::set_hook(Box::new(|_| {}));
    // Deep nesting needs a deep stack.
    let reader = std::thread::Builder::new().stack_size(256 << 20).spawn(move || read(&bytes));
    let text = reader.context("cannot start a thread")?.join().map_err(|_| anyhow!("a damaged PDF"))?;
    // As it is: a form feed parts pages.
    Ok(std::io::stdout().write_all(text.map_err(|why| anyhow!(why))?.as_bytes())?)
}
