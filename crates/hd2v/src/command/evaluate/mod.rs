//! `hd2v evaluate`: the experiments of the paper, on any corpus.

pub mod classes;
pub mod criteria;
pub mod intents;
pub mod links;
pub mod table;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Measure how well links are found, and what vectors are worth
#[derive(Args)]
#[command(after_help = "\
Each has a --help of its own.

Example:
  hd2v evaluate links papers.corpus --until 2009")]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Links(links::Arguments),
    Classes(classes::Arguments),
    Intents(intents::Arguments),
    Criteria(criteria::Arguments),
}

pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.what {
        What::Links(arguments) => links::run(arguments),
        What::Classes(arguments) => classes::run(arguments),
        What::Intents(arguments) => intents::run(arguments),
        What::Criteria(arguments) => criteria::run(arguments),
    }
}
