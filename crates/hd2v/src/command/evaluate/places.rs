//! `hd2v evaluate places`: pages held out, their links taken out and suggested again.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use hyperdoc2vec::corpus::Split;
use hyperdoc2vec::evaluate::evaluate_places;
use hyperdoc2vec::{Corpus, Date, Training};
use serde_json::{Value, json};

use super::super::common::most_threads;
use super::links::{merge, tempfile_folder};
use super::table::{ends, percent, table};
use crate::output::{print, print_json, status};
use crate::progress::{stop_on_interrupt, stopped};

/// Measure where links belong: pages held out, their links taken out and suggested again
#[derive(Args)]
#[command(after_help = "\
A suggestion is right where the page had a link to that document, over the same words; each document is suggested once per \
page. Compared with: a dictionary of titles and anchors (longest phrase, first mention), its phrases by how often they are \
links, and trees over the features of Wikimedia's link recommendation. docs/lab/places.md defines the figures.

Example:
  hd2v evaluate places manual.corpus --holdout 0.1")]
pub struct EvaluatePlacesArgs {
    /// The corpus directory
    corpus: PathBuf,
    /// Train on documents dated up to this date, test on later ones
    #[arg(long, value_name = "DATE", conflicts_with = "holdout")]
    until: Option<Date>,
    /// The share of documents held out
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    holdout: f64,
    /// The random seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Passes over the links [default: as `train`]
    #[arg(long)]
    epochs: Option<usize>,
    /// Threads [default: one per core]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = most_threads)]
    threads: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &EvaluatePlacesArgs) -> Result<()> {
    let corpus = Corpus::open(&arguments.corpus)?;
    corpus.verify()?;
    stop_on_interrupt();
    let split = match arguments.until {
        Some(until) => Split::by_date(&corpus, until)?,
        None => Split::by_share(&corpus, arguments.holdout, arguments.seed)?,
    };
    let folder = tempfile_folder();
    let path = folder.join(format!("hd2v-places-{}.model", std::process::id()));
    let mut training = Training::new(&corpus).seed(arguments.seed).split(&split).threads(arguments.threads).replace();
    if let Some(epochs) = arguments.epochs {
        training = training.epochs(epochs);
    }
    let model = training.watch(|_| stopped()).run(&path);
    let report = model.map_err(anyhow::Error::from).and_then(|model| {
        let report = evaluate_places(&corpus, &split, &model, arguments.seed)?;
        Ok((report, model.about()["places"]["learnt"].clone()))
    });
    let _ = std::fs::remove_file(&path);
    let (found, learnt) = report?;
    let mut report = json!({
        "corpus": arguments.corpus.display().to_string(),
        "version": env!("CARGO_PKG_VERSION"),
        "seed": arguments.seed,
        "learnt": learnt,
    });
    merge(&mut report, found);
    if arguments.json {
        return print_json(&report);
    }
    status(format_args!(
        "{} pages held out, {} links of a page to a document, {} % of which some phrase could lead to. In %; [95 %]: \
         bootstrap over pages",
        report["pages"],
        report["links"],
        percent(&report["reachable"]),
    ));
    let words = &report["words"];
    status(format_args!(
        "Of these links, {} % have words whose other links lead there most often, {} % words with some such link or name, \
         {} % words that lead elsewhere, {} % words that no other link has, {} % none",
        percent(&words["most_frequent"]),
        percent(&words["listed"]),
        percent(&words["elsewhere"]),
        percent(&words["unseen"]),
        percent(&words["wordless"]),
    ));
    print(&for_people(&report))
}

/// The table of methods.
fn for_people(report: &Value) -> String {
    let row = |method: &Value| {
        vec![
            method["method"].as_str().unwrap_or_default().to_owned(),
            percent(&method["auc"]),
            ends(&method["interval"]["auc"]),
            percent(&method["precision_at_recall_50"]),
            ends(&method["interval"]["precision_at_recall_50"]),
            percent(&method["at_0.5"]["precision"]),
            percent(&method["at_0.5"]["recall"]),
            percent(&method["best_f1"]),
        ]
    };
    let rows: Vec<Vec<String>> = report["methods"].as_array().into_iter().flatten().map(row).collect();
    let methods = table(
        &["method", "AUC of place", "[95 %]", "P at R 50", "[95 %]", "P at p 0.5", "R at p 0.5", "best F1"],
        &rows,
    );
    let row = |at: &Value| {
        let mut cells = vec![format!("{:.2}", at["threshold"].as_f64().unwrap_or_default())];
        cells.extend(["precision", "recall", "f1"].map(|name| percent(&at[name])));
        cells
    };
    let curve: Vec<Vec<String>> = report["methods"][0]["curve"].as_array().into_iter().flatten().map(row).collect();
    format!("{methods}\n{}", table(&["places: least p", "P", "R", "F1"], &curve))
}
