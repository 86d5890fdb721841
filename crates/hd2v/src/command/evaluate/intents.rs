//! `hd2v evaluate intents`: citation functions classified from the words around links.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use hyperdoc2vec::evaluate::{ContextWords, read_intents as read};
use hyperdoc2vec::model::Vectors;
use serde_json::{Value, json};

use super::super::common::open_model;
use super::classes::SvmArgs;
use super::links::{merge, report_small_classes};
use super::table::{ends, percent, table};
use crate::output::{count, print, print_json, status};
use crate::progress::{folds_teller, stop_on_interrupt};

/// Classify citation functions by the mean IN vector of the words around a link: F1 by class, macro, micro
#[derive(Args)]
#[command(after_help = "\
The file has one object per line, {\"context\": \"… words [[TARGET]] words …\", \"label\": \"uses\"}, and may be compressed. To see \
how well links of each function are found, pass the file to `evaluate links --intents`.

Example:
  hd2v evaluate intents papers.model intents.jsonl.zst --folds 10")]
pub struct EvaluateIntentsArgs {
    /// The model file
    model: PathBuf,
    /// The file of labelled contexts
    file: PathBuf,
    /// Folds of the cross-validation
    #[arg(long, default_value_t = 10)]
    folds: usize,
    /// Leave out classes with fewer contexts
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true)]
    min_class: usize,
    /// The field that holds the label
    #[arg(long, default_value = "label")]
    field: String,
    #[command(flatten)]
    svm: SvmArgs,
    /// The random seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &EvaluateIntentsArgs) -> Result<()> {
    let model = open_model(&arguments.model)?;
    let svm = arguments.svm.params();
    let words = ContextWords::of_model(&read(&arguments.file, &arguments.field)?, &model, &arguments.file)?;
    let words = words.without_small(arguments.min_class);
    report_small_classes(&arguments.file, &words);
    stop_on_interrupt();
    let contexts = words.vectors(model.vectors(Vectors::WordIn));
    let mut watch = folds_teller("intents", arguments.folds);
    let found = contexts.evaluate(arguments.folds, &svm, arguments.seed, &mut watch)?;
    let mut report = json!({
        "model": {"path": arguments.model.display().to_string(), "method": model.params().method.name()},
        "file": arguments.file.display().to_string(),
        "version": env!("CARGO_PKG_VERSION"),
        "seed": arguments.seed,
    });
    merge(&mut report, found);
    if arguments.json {
        return print_json(&report);
    }
    status(format_args!(
        "{}, {} folds; {} left out because none of their words is known. F1 in %; [95 %]: bootstrap over contexts",
        count(report["contexts"].as_u64().unwrap_or(0), "context"),
        arguments.folds,
        words.unknown
    ));
    print(&for_people(&report))
}

/// The table of classes.
pub fn for_people(report: &Value) -> String {
    let row = |class: &Value| {
        let name = class["name"].as_str().unwrap_or_default().to_owned();
        vec![name, class["members"].to_string(), percent(&class["f1"]), String::new()]
    };
    let mut rows: Vec<Vec<String>> = report["classes"].as_array().into_iter().flatten().map(row).collect();
    for (name, key) in [("macro", "macro_f1"), ("micro", "micro_f1")] {
        rows.push(vec![name.to_owned(), String::new(), percent(&report[key]), ends(&report["interval"][key])]);
    }
    // Where the classes are those of the paper's scheme, their groups, too.
    let groups = &report["groups"];
    for group in groups["classes"].as_array().into_iter().flatten() {
        let name = format!("group: {}", group["name"].as_str().unwrap_or_default());
        rows.push(vec![name, group["members"].to_string(), percent(&group["f1"]), String::new()]);
    }
    if groups.is_object() {
        let interval = ends(&groups["interval"]["macro_f1"]);
        rows.push(vec!["macro of groups".to_owned(), String::new(), percent(&groups["macro_f1"]), interval]);
    }
    table(&["function", "contexts", "F1", "[95 %]"], &rows)
}
