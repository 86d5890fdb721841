//! `hd2v demo`: the tour, on the documentation that comes with the Rust toolchain.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;
use hyperdoc2vec::generate::GenerateParams;
use hyperdoc2vec::import::{self, Format, ImportOptions};

use super::import::tell_result;
use super::{doctor, info};
use crate::output::{print, talk};
use crate::progress::{Reporter, stop_on_interrupt};

/// The tour: import the Rust documentation of the installed toolchain, look at what came of it
#[derive(Args)]
#[command(after_help = "\
Where that documentation is not installed, a generated corpus takes its place.

Example:
  hd2v demo --out demo")]
pub struct Arguments {
    /// Directory for what the demo makes; its corpus is replaced if it is there
    #[arg(long, default_value = "hd2v-demo")]
    out: PathBuf,
}

/// The parts of the documentation that are worth reading: the books and the standard library.
const PARTS: [&str; 14] = [
    "book",
    "reference",
    "cargo",
    "nomicon",
    "rust-by-example",
    "rustc",
    "rustdoc",
    "edition-guide",
    "style-guide",
    "unstable-book",
    "embedded-book",
    "error_codes",
    "clippy",
    "std",
];

pub fn run(arguments: &Arguments) -> Result<()> {
    stop_on_interrupt();
    let out = &arguments.out;
    std::fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    let corpus = out.join("corpus");
    match rust_documentation() {
        Some(html) => import_documentation(&html, &corpus)?,
        None => generate(&corpus)?,
    }
    announce(&format!("hd2v info {}", corpus.display()))?;
    info::run(&info::Arguments::of(&corpus))?;
    announce(&format!("hd2v doctor {} --links 4", corpus.display()))?;
    doctor::run(&doctor::Arguments::of(&corpus, 4))?;
    print(&format!(
        "\nNext (`cargo install --path crates/hd2v` brings the command, or say `cargo run --release --` for hd2v):\n  \
         hd2v cat {0} | less       # the documents\n  \
         hd2v import --help        # bring in your own\n",
        corpus.display()
    ))
}

fn announce(command: &str) -> Result<()> {
    print(&format!("\n$ {command}\n"))
}

/// The HTML that comes with the toolchain, if there is any.
fn rust_documentation() -> Option<PathBuf> {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let sysroot = PathBuf::from(String::from_utf8(sysroot.stdout).ok()?.trim());
    let html = sysroot.join("share/doc/rust/html");
    html.join("std").is_dir().then_some(html)
}

fn import_documentation(html: &Path, corpus: &Path) -> Result<()> {
    let include: Vec<String> = PARTS.map(str::to_owned).to_vec();
    let globs: String = include.iter().map(|part| format!(" --include {part}")).collect();
    let shown = "$(rustc --print sysroot)/share/doc/rust/html";
    announce(&format!("hd2v import html {shown}{globs} -o {}", corpus.display()))?;
    let options = ImportOptions { include, force: true, ..ImportOptions::default() };
    let mut reporter = Reporter::new();
    let made = import::import(Format::Html, &[html.to_owned()], corpus, &options, &mut |p| reporter.watch(p))?;
    tell_result(&made, reporter.finish());
    Ok(())
}

fn generate(corpus: &Path) -> Result<()> {
    talk("The toolchain's documentation is not installed (`rustup component add rust-docs` brings it):");
    talk("this demo runs on a generated corpus, whose words are made up.");
    let params = GenerateParams { docs: 6000, links: 40_000, ..GenerateParams::default() };
    announce(&format!("hd2v generate --docs 6000 --links 40000 -o {}", corpus.display()))?;
    let options = ImportOptions { force: true, ..ImportOptions::default() };
    let mut reporter = Reporter::new();
    let made = import::generate(&params, corpus, &options, &mut |p| reporter.watch(p))?;
    tell_result(&made, reporter.finish());
    Ok(())
}
