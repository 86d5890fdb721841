//! `hd2v evaluate`: the experiments of the paper, on any corpus.

pub mod links;
pub mod table;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Measure how well links are found, and what vectors are worth
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Links(links::Arguments),
}

pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.what {
        What::Links(arguments) => links::run(arguments),
    }
}
