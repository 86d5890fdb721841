//! `hd2v evaluate criteria`: the paper's criteria for embeddings, probed on a generated corpus.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use hyperdoc2vec::evaluate::{CRITERIA, CriteriaParams, PROBED, evaluate_criteria as run_criteria};
use hyperdoc2vec::model::Method;
use serde_json::Value;

use super::super::common::{listed, most_threads};
use super::classes::methods_help;
use super::links::tempfile_folder;
use super::table::{ends, percent, table};
use crate::output::{print, print_json, status};
use crate::progress::{stop_on_interrupt, stopped, time_left};

/// Measure what methods are sensitive to: content, contexts, newcomers, intents (the paper's Table 1)
#[derive(Args)]
#[command(after_help = "\
Every method is trained on a generated corpus, and on variants of it in which some documents are rewritten, or are cited \
like others. docs/guide/evaluate.md defines the figures. A verdict is yes if the whole 95 % interval lies above 55 %.

Example:
  hd2v evaluate criteria")]
pub struct EvaluateCriteriaArgs {
    #[arg(long, value_name = "A,B,…", help = methods_help(&PROBED.map(|(method, _)| method)))]
    methods: Option<String>,
    /// Size of the generated corpus, in documents
    #[arg(long, default_value_t = CriteriaParams::default().docs, value_parser = docs)]
    docs: usize,
    /// The random seed
    #[arg(long, default_value_t = CriteriaParams::default().seed)]
    seed: u64,
    /// Threads [default: one per core]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = most_threads)]
    threads: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn docs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(docs) if (100..=100_000).contains(&docs) => Ok(docs),
        _ => Err("expected a number from 100 to 100000".to_owned()),
    }
}

pub fn run(arguments: &EvaluateCriteriaArgs) -> Result<()> {
    let &EvaluateCriteriaArgs { docs, seed, threads, .. } = arguments;
    let methods = listed("--methods", arguments.methods.as_deref(), &PROBED.map(|(method, _)| method))?;
    stop_on_interrupt();
    let mut params = CriteriaParams::default();
    (params.docs, params.seed, params.threads) = (docs, seed, threads);
    let report = probe(&methods, &params, &tempfile_folder())?;
    if arguments.json {
        return print_json(&report);
    }
    status("share of probes that meet the criterion, in %, [95 % interval], verdict; the paper's verdict in brackets");
    print(&for_people(&report))
}

/// Probes the methods and prints progress.
pub fn probe(methods: &[Method], params: &CriteriaParams, folder: &Path) -> Result<Value> {
    let started = Instant::now();
    let printed = Mutex::new(started);
    let watch = |name: &str, done: usize, total: usize| -> ControlFlow<()> {
        if let Ok(mut printed) = printed.lock()
            && printed.elapsed() >= Duration::from_secs(5)
        {
            *printed = Instant::now();
            status(format_args!("[{done}/{total}] {name}{}", time_left(started, done, total)));
        }
        stopped()
    };
    Ok(run_criteria(methods, params, folder, &watch)?)
}

/// The table.
pub fn for_people(report: &Value) -> String {
    let yes = |value: &Value| match value.as_bool() {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    };
    let cell = |found: &Value| {
        let value = if found["value"].is_null() { "-".to_owned() } else { percent(&found["value"]) };
        format!("{value} [{}] {} ({})", ends(&found["interval"]), yes(&found["verdict"]), yes(&found["paper"]))
    };
    let row = |method: &Value| {
        let name = method["method"].as_str().unwrap_or_default().to_owned();
        [name].into_iter().chain(method["criteria"].as_array().into_iter().flatten().map(cell)).collect()
    };
    let rows: Vec<Vec<String>> = report["methods"].as_array().into_iter().flatten().map(row).collect();
    let heads: Vec<&str> = ["method"].into_iter().chain(CRITERIA).collect();
    table(&heads, &rows)
}
