//! `hd2v generate`: a corpus made by rule, whose structure is known.

use anyhow::Result;
use clap::Args;

/// Make a corpus by rule from a seed, with known structure, of any size
#[derive(Args)]
pub struct Arguments {}

pub fn run(_: &Arguments) -> Result<()> {
    Ok(())
}
