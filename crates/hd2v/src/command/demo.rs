//! `hd2v demo`: the whole tour.

use anyhow::Result;
use clap::Args;

/// The whole tour in about a minute
#[derive(Args)]
#[command(after_help = "Example:\n  hd2v demo")]
pub struct Arguments {}

pub fn run(_: &Arguments) -> Result<()> {
    Ok(())
}
