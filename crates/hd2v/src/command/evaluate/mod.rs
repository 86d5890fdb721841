//! `hd2v evaluate`: the experiments of the paper, on any corpus.

pub mod classes;
pub mod criteria;
pub mod intents;
pub mod links;
pub mod places;
pub mod table;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Measure how well links are found and documents classified
#[derive(Args)]
#[command(after_help = "\
Each experiment has its own --help.

Example:
  hd2v evaluate links papers.corpus --until 2009")]
pub struct EvaluateArgs {
    #[command(subcommand)]
    what: Experiment,
}

#[derive(Subcommand)]
enum Experiment {
    Links(links::EvaluateLinksArgs),
    Classes(classes::EvaluateClassesArgs),
    Intents(intents::EvaluateIntentsArgs),
    Criteria(criteria::EvaluateCriteriaArgs),
    Places(places::EvaluatePlacesArgs),
}

pub fn run(arguments: &EvaluateArgs) -> Result<()> {
    match &arguments.what {
        Experiment::Links(arguments) => links::run(arguments),
        Experiment::Classes(arguments) => classes::run(arguments),
        Experiment::Intents(arguments) => intents::run(arguments),
        Experiment::Criteria(arguments) => criteria::run(arguments),
        Experiment::Places(arguments) => places::run(arguments),
    }
}
