//! `hd2v evaluate classes`: documents classified by their vectors.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use hyperdoc2vec::Corpus;
use hyperdoc2vec::corpus::Split;
use hyperdoc2vec::corpus::View;
use hyperdoc2vec::evaluate::{
    CLASS_METHODS as DEFAULTS, ClassesParams, Classifying, LabelledDocuments, evaluate_classes as run_classes,
};
use hyperdoc2vec::evaluate::{Gamma, SvmParams};
use hyperdoc2vec::model::Method;
use serde_json::{Value, json};

use super::super::common::{listed, most_threads};
use super::links::{MethodArgs, cost, merge};
use super::table::{ends, percent, table};
use crate::output::{print, print_json, status};
use crate::progress::{Pace, stop_on_interrupt, stopped, time_left};

/// Classify documents by their vectors (SVM, RBF kernel): F1 of IN, OUT, IN+OUT, with and without DeepWalk
#[derive(Args)]
#[command(after_help = "\
Classes are the labels of the corpus, or of a file with {\"id\", \"label\"} or an id, a tab and a label on each line. Documents \
with several labels are left out. Each document is classified by an SVM fitted to the other folds. The first table covers \
all documents, the second only those with links to them.

Examples:
  hd2v evaluate classes papers.corpus --label-prefix topic:
  hd2v evaluate classes papers.corpus --labels venues.tsv --methods deepwalk,d2v-nc,h-d2v --json")]
pub struct EvaluateClassesArgs {
    /// The corpus directory
    corpus: PathBuf,
    /// Read the classes from this file
    #[arg(long, value_name = "FILE", conflicts_with = "label_prefix")]
    labels: Option<PathBuf>,
    /// Use only labels of the corpus with this prefix
    #[arg(long, value_name = "PREFIX", default_value = "", hide_default_value = true)]
    label_prefix: String,
    #[arg(long, value_name = "A,B,…", help = methods_help(&DEFAULTS))]
    methods: Option<String>,
    /// Folds of the cross-validation
    #[arg(long, default_value_t = 5)]
    folds: usize,
    /// Leave out classes with fewer documents
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true)]
    min_class: usize,
    /// Classify only a random sample of this many documents
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    #[command(flatten)]
    svm: SvmArgs,
    #[command(flatten)]
    train: MethodArgs,
    /// Threads [default: one per core]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = most_threads)]
    threads: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Parameters of the SVM.
#[derive(Args, Default)]
pub struct SvmArgs {
    /// The SVM's cost parameter C
    #[arg(long, default_value_t = SvmParams::default().c, value_parser = cost)]
    pub c: f64,
    /// γ of the kernel: auto (one over the dimensions, as in LIBSVM), scale (auto divided by the variance, so that the
    /// length of vectors does not matter), or a number
    #[arg(long, default_value_t = Gamma::Auto)]
    pub gamma: Gamma,
}

impl SvmArgs {
    /// The library's parameters.
    pub fn params(&self) -> SvmParams {
        let mut params = SvmParams::default();
        (params.c, params.gamma) = (self.c, self.gamma);
        params
    }
}

/// The help of `--methods`.
pub fn methods_help(defaults: &[Method]) -> String {
    let names: Vec<&str> = defaults.iter().map(|method| method.name()).collect();
    format!("Methods of `train`, separated by commas [default: {}]", names.join(","))
}

/// The labels to classify by: those of the file, or those of the corpus that begin with the prefix.
pub fn labelled(corpus: &Corpus, file: Option<&PathBuf>, prefix: &str) -> Result<LabelledDocuments> {
    Ok(match file {
        Some(path) => LabelledDocuments::of_file(corpus, path)?,
        None => LabelledDocuments::of_corpus(corpus, prefix)?,
    })
}

/// A closure that prints what is being trained or classified, and the time left.
pub fn teller() -> impl Fn(&Classifying<'_>) -> std::ops::ControlFlow<()> + Sync {
    struct Shown {
        last: Instant,
        paces: BTreeMap<String, Pace>,
        folds: Option<Instant>,
    }
    let shown = Mutex::new(Shown { last: Instant::now(), paces: BTreeMap::new(), folds: None });
    move |doing: &Classifying<'_>| {
        if let Ok(mut shown) = shown.lock() {
            let line = match doing {
                Classifying::Training(name, progress) => {
                    let pace = shown.paces.entry((*name).to_owned()).or_insert_with(Pace::new);
                    pace.see(progress);
                    format!("{name}: {}", pace.line(progress))
                }
                // The first fold starts the clock, so it does not count as done.
                Classifying::Folds(name, done, total) => {
                    let since = *shown.folds.get_or_insert_with(Instant::now);
                    format!("{name}: fold {done} of {total}{}", time_left(since, done - 1, total - 1))
                }
                _ => return stopped(),
            };
            if shown.last.elapsed() >= Duration::from_secs(10) {
                status(&line);
                shown.last = Instant::now();
            }
        }
        stopped()
    }
}

pub fn run(arguments: &EvaluateClassesArgs) -> Result<()> {
    let corpus = Corpus::open(&arguments.corpus)?;
    corpus.verify()?;
    let methods = listed("--methods", arguments.methods.as_deref(), &DEFAULTS)?;
    let links = arguments.train.params(&corpus, arguments.threads)?;
    let svm = arguments.svm.params();
    let seed = arguments.train.seed;
    let all = labelled(&corpus, arguments.labels.as_ref(), &arguments.label_prefix)?;
    let sample = arguments.sample.unwrap_or(usize::MAX);
    let labelled = all.sampled(sample, seed).without_small(arguments.min_class);
    let view = View::new(&corpus, &Split::none(&corpus), links.train.min_count)?;
    let mut params = ClassesParams::new(links);
    (params.folds, params.machines) = (arguments.folds, vec![svm.clone()]);
    stop_on_interrupt();
    let found = run_classes(&view, &labelled, &methods, &params, &teller())?.pop().unwrap_or_default();
    let mut report = json!({
        "corpus": {"path": arguments.corpus.display().to_string(), "fingerprint": corpus.manifest().fingerprint},
        "version": env!("CARGO_PKG_VERSION"),
        "folds": arguments.folds,
        "c": svm.c,
        "gamma": svm.gamma.to_string(),
        "seed": seed,
        "several_labels": labelled.several,
        "unknown_ids": labelled.unknown,
    });
    merge(&mut report, found);
    if arguments.json {
        return print_json(&report);
    }
    let mut out = String::new();
    for (name, head) in [("all", "all documents"), ("linked", "documents that a link points at")] {
        let part = &report[name];
        if let Some(why) = part["left_out"].as_str() {
            out += &format!("\n{head}: {why}\n");
            continue;
        }
        for loss in part["losses"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            status(format_args!("{head}: {loss}"));
        }
        let classes = part["classes"].as_array().map_or(0, Vec::len);
        out += &format!(
            "{}{head}: {} of {classes} classes\n\n",
            if out.is_empty() { "" } else { "\n" },
            part["documents"]
        );
        out += &part_for_people(part);
    }
    status(format_args!(
        "F1 in %, {} folds, SVM with C {}; [95 %]: bootstrap over documents; p: against the best row",
        arguments.folds, arguments.svm.c
    ));
    print(&out)
}

fn part_for_people(part: &Value) -> String {
    let row = |set: &Value| {
        vec![
            set["features"].as_str().unwrap_or_default().to_owned(),
            percent(&set["macro_f1"]),
            ends(&set["interval"]["macro_f1"]),
            percent(&set["micro_f1"]),
            ends(&set["interval"]["micro_f1"]),
            set["compared"]["p"].as_f64().map_or("best".to_owned(), |p| format!("{p:.4}")),
        ]
    };
    let rows: Vec<Vec<String>> = part["features"].as_array().into_iter().flatten().map(row).collect();
    table(&["features", "macro F1", "[95 %]", "micro F1", "[95 %]", "p"], &rows)
}
