//! `hd2v reproduce`: every experiment on one corpus, into a folder with a report.
//!
//! The folder holds `settings.json` (the settings that all figures depend on), `cells/` (finished parts, each with the
//! settings of its own, so that a stopped run can continue), `runs/` (TREC files), `report.json` and `report.html`.

mod commands;
mod example;
mod folder;
mod html;
mod paper;
mod plot;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use hyperdoc2vec::corpus::Split;
use hyperdoc2vec::corpus::View;
use hyperdoc2vec::evaluate::Profile;
use hyperdoc2vec::evaluate::SvmParams;
use hyperdoc2vec::evaluate::map_of_documents as map;
use hyperdoc2vec::evaluate::{CHOICE_FOLDS, COSTS, ContextWords, FunctionParams};
use hyperdoc2vec::evaluate::{
    CLASS_METHODS as DEFAULTS, ClassesParams, LabelledDocuments, check_classes, evaluate_classes as run_classes,
};
use hyperdoc2vec::evaluate::{CriteriaParams, PROBED};
use hyperdoc2vec::evaluate::{EvaluationStep, HeldOutLinks, LinkEvaluation, LinksParams, MethodPlaces, train_params};
use hyperdoc2vec::evaluate::{Findings, comparisons_json, methods_json, split_json};
use hyperdoc2vec::evaluate::{LinkMethod, Trains, link_method_costs as costs};
use hyperdoc2vec::model::Tables;
use hyperdoc2vec::model::{Method, TrainParams};
use hyperdoc2vec::train::train_tables;
use hyperdoc2vec::{Corpus, Error};
use serde_json::{Value, json};

use super::common::{listed, most_threads};
use super::destination::{Destination, OutputKind, check};
use super::evaluate::classes::{labelled, teller};
use super::evaluate::criteria::{docs, probe};
use super::evaluate::links::{
    Anchors, MethodArgs, SplitArgs, anchors, context_words, cost, in_order, intent_c_help, merge, methods, split,
    without_hybrid,
};
use crate::output::{print, status};
use crate::progress::{EvaluateReporter, TrainReporter, folds_teller, stop_on_interrupt, stopped};
use folder::{read_json, write, write_json};

/// Run every experiment of the paper on a corpus, and write a report with tables and plots
#[derive(Args)]
#[command(after_help = "\
The folder gets report.html (self-contained), report.json, TREC run files, and the finished parts. To continue a run that \
was stopped, give the same command again; finished parts are not repeated. Run files hold a hundred hits per \
question, about 130 MB for each method on 26,000 questions; --no-runs leaves them out.

Example:
  hd2v reproduce papers.corpus --until 2009 --intents functions.jsonl -o papers.report")]
pub struct ReproduceArgs {
    /// The corpus directory
    corpus: PathBuf,
    /// The folder to write
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    split: SplitArgs,
    /// The methods to compare on links, as for `evaluate links`
    #[arg(long, value_name = "A,B,…")]
    methods: Option<String>,
    /// The methods to compare on classes, as for `evaluate classes`
    #[arg(long, value_name = "A,B,…")]
    class_methods: Option<String>,
    /// Read the classes from this file
    #[arg(long, value_name = "FILE", conflicts_with = "label_prefix")]
    labels: Option<PathBuf>,
    /// Use only labels of the corpus with this prefix
    #[arg(long, value_name = "PREFIX", default_value = "", hide_default_value = true)]
    label_prefix: String,
    /// Leave out classes with fewer documents
    #[arg(long, value_name = "N", default_value_t = 20)]
    min_class: usize,
    /// Classify at most this many documents
    #[arg(long, value_name = "N", default_value_t = 5000)]
    class_sample: usize,
    /// Labelled contexts, as for `evaluate intents`; may be repeated, and the first file labels the links
    #[arg(long, value_name = "FILE")]
    intents: Vec<PathBuf>,
    #[arg(long, value_name = "C", requires = "intents", value_parser = cost, help = intent_c_help())]
    intent_c: Option<f64>,
    /// Size of the generated corpus for the criteria, in documents; 0 to leave them out
    #[arg(long, default_value_t = CriteriaParams::default().docs, value_parser = docs_or_none)]
    criteria_docs: usize,
    /// A JSON file with the paper's figures, to show beside these (docs/guide/evaluate.md describes it)
    #[arg(long, value_name = "FILE")]
    paper_figures: Option<PathBuf>,
    /// Ids of documents; a test position that links to them becomes the example [default: the papers on BLEU and Moses]
    #[arg(long, value_name = "ID,ID")]
    example: Option<String>,
    /// Write no TREC run files
    #[arg(long)]
    no_runs: bool,
    #[command(flatten)]
    train: MethodArgs,
    /// Ask only about every N-th position
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// Whether anchors, the links' own words, are part of the question [default: keep; both where most links have anchors]
    #[arg(long)]
    anchors: Option<Anchors>,
    /// Threads [default: one per core]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = most_threads)]
    threads: usize,
}

/// The parts of a report, kept in the folder when they are finished.
struct Parts<'a> {
    folder: &'a Path,
    begun: std::cell::Cell<usize>,
    total: usize,
}

impl Parts<'_> {
    /// The number of the next part: `[2/6]`.
    fn next(&self) -> String {
        self.begun.set(self.begun.get() + 1);
        format!("[{}/{}]", self.begun.get(), self.total)
    }

    /// The stored result with the same `key`, or else the result of `make`, with its seconds.
    fn cell(&self, name: &str, key: Value, make: impl FnOnce() -> Result<Value>) -> Result<Value> {
        let path = self.folder.join("cells").join(format!("{name}.json"));
        let number = self.next();
        match read_json(&path)? {
            Some(value) if value["key"] == key => {
                status(format_args!("{number} {name}: already done"));
                return Ok(value);
            }
            Some(_) => status(format_args!("{number} {name}: done before with other settings; repeating …")),
            None => status(format_args!("{number} {name} …")),
        }
        let started = Instant::now();
        let value = make()?;
        let seconds = (started.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        let value = json!({"key": key, "value": value, "seconds": seconds});
        write(&path, &format!("{value}\n"))?;
        Ok(value)
    }

    /// A part that is left out, with the reason.
    fn left_out(&self, name: &str, why: &str) -> Value {
        status(format_args!("{} {name}: left out: {why}", self.next()));
        json!({"value": {"left_out": why}})
    }
}

struct Reproduction<'a> {
    arguments: &'a ReproduceArgs,
    corpus: &'a Corpus,
    split: &'a Split,
    view: &'a View<'a>,
    asked: &'a HeldOutLinks,
    params: &'a LinksParams,
    /// All documents for classification, with their labels or the reason why there are none.
    whole: &'a View<'a>,
    labelled: &'a std::result::Result<LabelledDocuments, String>,
    class_methods: &'a [Method],
    /// Labelled contexts, file by file.
    intents: &'a [ContextWords],
    /// Where models are kept during the evaluation.
    scratch: &'a Path,
}

/// Folds of intents, as in the paper.
const INTENT_FOLDS: usize = 10;

/// A number of documents for criteria, or 0.
fn docs_or_none(text: &str) -> std::result::Result<usize, String> {
    if text == "0" { Ok(0) } else { docs(text) }
}

/// The documents to classify, or the reason why there are none: not every corpus has classes, and the rest of the report
/// does not need them. Classes that were asked for by name must exist.
fn classes_of(
    arguments: &ReproduceArgs,
    corpus: &Corpus,
    whole: &View<'_>,
    methods: &[Method],
    params: &ClassesParams,
) -> Result<std::result::Result<LabelledDocuments, String>> {
    let (file, prefix, seed) = (arguments.labels.as_ref(), &arguments.label_prefix, arguments.train.seed);
    let found = labelled(corpus, file, prefix).and_then(|all| {
        let labelled = all.sampled(arguments.class_sample, seed).without_small(arguments.min_class);
        check_classes(whole, &labelled, methods, params)?;
        Ok(labelled)
    });
    match found {
        Err(error)
            if file.is_none()
                && prefix.is_empty()
                && matches!(
                    error.downcast_ref(),
                    Some(Error::Input { .. } | Error::BadRecord { .. } | Error::Usage(_))
                ) =>
        {
            Ok(Err(format!("{error:#}")))
        }
        found => found.map(Ok),
    }
}

/// Checks that the folder is no input, nor has one.
fn check_outputs(arguments: &ReproduceArgs) -> Result<()> {
    let files =
        [("settings.json", OutputKind::Json), ("report.json", OutputKind::Json), ("report.html", OutputKind::Html)]
            .map(|(name, kind)| (arguments.output.join(name), kind));
    let output = |(path, kind)| Destination { path, kind, force: true };
    let inputs = [&arguments.corpus].into_iter().chain(&arguments.intents);
    let inputs = inputs.chain(&arguments.labels).chain(&arguments.paper_figures).map(PathBuf::as_path);
    check(&files.each_ref().map(|(path, kind)| output((path.as_path(), *kind))), &inputs.collect::<Vec<_>>())
}

pub fn run(arguments: &ReproduceArgs) -> Result<()> {
    let folder = &arguments.output;
    folder::refuse_other(folder)?;
    check_outputs(arguments)?;
    let corpus = Corpus::open(&arguments.corpus)?;
    corpus.verify()?;
    // Everything is checked now, not after an hour of training.
    let mut methods = methods(arguments.methods.as_deref())?;
    let class_methods = listed("--class-methods", arguments.class_methods.as_deref(), &DEFAULTS)?;
    let paper = arguments.paper_figures.as_deref().map(paper::read).transpose()?.unwrap_or_default();
    let examples = example::wanted(arguments.example.as_deref(), &corpus)?;
    let mut params = arguments.train.params(&corpus, arguments.threads)?;
    params.anchors = anchors(arguments.anchors, &corpus);
    let seed = arguments.train.seed;
    let (split, mut about) = split(&corpus, &arguments.split, seed)?;
    let view = View::new(&corpus, &split, params.train.min_count)?;
    let asked = HeldOutLinks::new(&view, &split, arguments.every as usize)?;
    merge(&mut about, split_json(&view, &split, &asked));
    without_hybrid(&mut methods, arguments.methods.is_some(), &view, seed)?;
    let whole = View::new(&corpus, &Split::none(&corpus), params.train.min_count)?;
    let class_params = ClassesParams::new(params.clone());
    let labelled = classes_of(arguments, &corpus, &whole, &class_methods, &class_params)?;
    let intents = arguments
        .intents
        .iter()
        .map(|file| context_words(file, &view, INTENT_FOLDS, seed))
        .collect::<Result<Vec<ContextWords>>>()?;
    let settings = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "corpus": {"fingerprint": corpus.manifest().fingerprint, "source": corpus.manifest().source},
        "split": about,
        "every": arguments.every,
        "parameters": params.train.to_json(),
        "reference_epochs": params.reference_epochs,
        "text_epochs": params.text_epochs,
    });
    let _lock = folder::lock(folder)?;
    folder::keep_settings(folder, &settings)?;
    for part in ["cells", "runs"] {
        let part = folder.join(part);
        std::fs::create_dir_all(&part).with_context(|| format!("cannot create {}", part.display()))?;
    }
    let scratch = folder::scratch(folder)?;
    stop_on_interrupt();
    let run = Reproduction {
        arguments,
        corpus: &corpus,
        split: &split,
        view: &view,
        asked: &asked,
        params: &params,
        whole: &whole,
        labelled: &labelled,
        class_methods: &class_methods,
        intents: &intents,
        scratch: &scratch,
    };
    let report = run.report(&methods, settings, paper, &examples);
    let _ = std::fs::remove_dir_all(&scratch);
    let report = report.map_err(|error| match error.downcast_ref() {
        Some(Error::Interrupted) => {
            anyhow!(
                "interrupted; to continue, give the same command again ({} has the finished parts)",
                folder.display()
            )
        }
        _ => error,
    })?;
    write_json(&folder.join("report.json"), &report)?;
    write(&folder.join("report.html"), &html::page(&report))?;
    print(&format!("{}\n", folder.join("report.html").display()))
}

impl Reproduction<'_> {
    fn report(
        &self,
        methods: &[LinkMethod],
        settings: Value,
        paper: Value,
        examples: &example::Wanted,
    ) -> Result<Value> {
        let (arguments, seed) = (self.arguments, self.arguments.train.seed);
        let files = arguments.intents.len();
        // Links, each file of intents, functions where there is one, the map, classes, criteria.
        let total = 1 + files + usize::from(files > 0) + 3;
        let parts = Parts { folder: &arguments.output, begun: std::cell::Cell::new(0), total };
        status(format_args!("{} links …", parts.next()));
        let cells = self.links(methods)?;
        // Trained once, and only if an unfinished part needs it.
        let mut trained: Option<(Tables, TrainParams)> = None;
        let mut intents = Vec::new();
        let mut functions = None;
        for (number, (file, words)) in arguments.intents.iter().zip(self.intents).enumerate() {
            let print = words.fingerprint();
            let name = format!("intents-{}", number + 1);
            let found = parts.cell(&name, json!({"contexts": print}), || {
                let (tables, train) = self.vectors(&mut trained)?;
                let contexts = words.vectors_of(&tables.input, train.dim);
                let mut watch = folds_teller(&name, INTENT_FOLDS);
                Ok(contexts.evaluate(INTENT_FOLDS, &SvmParams::default(), seed, &mut watch)?)
            })?;
            let file = file.display().to_string();
            intents.push(json!({"file": file, "value": found["value"], "seconds": found["seconds"]}));
            if number == 0 {
                let anchors = self.params.anchors[0];
                let key = json!({"contexts": print, "c": arguments.intent_c, "anchors": anchors});
                functions = Some(parts.cell("functions", key, || {
                    let (tables, train) = self.vectors(&mut trained)?;
                    let contexts = words.vectors_of(&tables.input, train.dim);
                    let mut watch = folds_teller("functions", COSTS.len() * CHOICE_FOLDS);
                    let mut params = FunctionParams::of(train);
                    (params.anchors, params.c) = (anchors, arguments.intent_c);
                    let found = contexts.functions(self.view, &tables.input, self.asked, &params, &mut watch)?;
                    Ok(json!({"names": found.names, "numbers": found.numbers, "c": found.c}))
                })?);
            }
        }
        let map = parts.cell("map", json!({"label_prefix": arguments.label_prefix}), || {
            let (tables, train) = self.vectors(&mut trained)?;
            Ok(map(self.view, &tables.input, train.dim, &arguments.label_prefix, &mut stopped)?)
        })?;
        drop(trained);
        let classes = match self.labelled {
            Err(why) => parts.left_out("classes", why),
            Ok(labelled) => {
                let names: Vec<&str> = self.class_methods.iter().map(|method| method.name()).collect();
                let key = json!({"labels": labelled.fingerprint(), "methods": names});
                parts.cell("classes", key, || {
                    let params = ClassesParams::new(self.params.clone());
                    Ok(run_classes(self.whole, labelled, self.class_methods, &params, &teller())?)
                })?
            }
        };
        let criteria = match arguments.criteria_docs {
            0 => parts.left_out("criteria", "--criteria-docs is 0"),
            docs => parts.cell(
                "criteria",
                json!({"docs": docs, "methods": PROBED.map(|(method, _)| method.name())}),
                || {
                    let mut params = CriteriaParams::default();
                    (params.docs, params.seed, params.threads) = (docs, seed, arguments.threads);
                    probe(&PROBED.map(|(method, _)| method), &params, self.scratch)
                },
            )?,
        };
        let (names, numbers): (Vec<String>, Vec<u32>) = match &functions {
            Some(found) => (
                serde_json::from_value(found["value"]["names"].clone())?,
                serde_json::from_value(found["value"]["numbers"].clone())?,
            ),
            None => Default::default(),
        };
        let chosen = functions.map(|found| json!({"c": found["value"]["c"], "seconds": found["seconds"]}));
        let functions = (numbers.len() == self.asked.queries.len()).then_some((names.as_slice(), numbers.as_slice()));
        let mut links = Vec::new();
        for &anchors in &self.params.anchors {
            let cells = in_order(methods, &cells, anchors);
            let findings = Findings { view: self.view, split: self.split, asked: self.asked, cells: &cells, seed };
            links.push(json!({
                "anchors": if anchors { "keep" } else { "drop" },
                "methods": methods_json(&findings, Profile::Paper, functions),
                "comparisons": comparisons_json(&findings),
            }));
        }
        let kept = in_order(methods, &cells, self.params.anchors[0]);
        Ok(json!({
            "command": commands::given(std::env::args_os()),
            "commands": commands::parts(self.arguments, methods, &self.params.anchors),
            "paper": paper,
            "settings": settings,
            "seed": seed,
            "links": links,
            "threads": pool_threads(arguments.threads),
            "examples": examples.positions(self.corpus, self.asked, &kept),
            "functions": chosen,
            "classes": classes,
            "intents": intents,
            "criteria": criteria,
            "map": map,
        }))
    }

    /// The ranks of the truths by method: from the folder, or computed.
    fn links(&self, methods: &[LinkMethod]) -> Result<Vec<MethodPlaces>> {
        let folder = &self.arguments.output;
        let name =
            |method: &str, anchors: bool| if anchors { method.to_owned() } else { format!("{method}.no-anchors") };
        let path =
            |method: &str, anchors: bool| folder.join("cells").join(format!("links-{}.json", name(method, anchors)));
        let mut cells: Vec<MethodPlaces> = Vec::new();
        let mut missing: Vec<LinkMethod> = Vec::new();
        for method in methods {
            let mut all = true;
            for &anchors in &self.params.anchors {
                match read_json(&path(method.name, anchors))? {
                    Some(value) => {
                        let cell: MethodPlaces = serde_json::from_value(value)?;
                        let fits = cell.places.len() == self.asked.truths.len();
                        ensure!(fits, "{}: belongs to another split; remove it", path(method.name, anchors).display());
                        cells.push(cell);
                    }
                    None => all = false,
                }
            }
            if !all {
                cells.retain(|cell| cell.method != method.name);
                missing.push(*method);
            }
        }
        if !self.arguments.no_runs {
            let file =
                |cell: &&MethodPlaces| folder.join("runs").join(format!("{}.run", name(&cell.method, cell.anchors)));
            let gone: Vec<&str> =
                cells.iter().filter(|cell| !file(cell).is_file()).map(|cell| cell.method.as_str()).collect();
            if !gone.is_empty() {
                status(format_args!(
                    "no run files for {}; to write them, remove cells/links-METHOD.json and run again",
                    gone.join(", ")
                ));
            }
        }
        if missing.is_empty() {
            status("links: already done");
            return Ok(cells);
        }
        self.asked.write_qrels(self.view, &folder.join("runs").join("qrels"))?;
        let run_path = |method: &str, anchors: bool| {
            (!self.arguments.no_runs).then(|| folder.join("runs").join(format!("{}.run", name(method, anchors))))
        };
        let reporter = EvaluateReporter::new(costs(&missing, self.params.reference_epochs), self.params.anchors.len());
        let made = Mutex::new(Vec::<MethodPlaces>::new());
        let done = |cell: &MethodPlaces| {
            let path = path(&cell.method, cell.anchors);
            let text = serde_json::to_string(cell).unwrap_or_default();
            write(&path, &text).map_err(|error| Error::Io {
                doing: "write",
                path,
                source: std::io::Error::other(format!("{error:#}")),
            })?;
            if let Ok(mut made) = made.lock() {
                made.push(cell.clone());
            }
            Ok(())
        };
        let evaluation = LinkEvaluation {
            view: self.view,
            asked: self.asked,
            params: self.params,
            folder: self.scratch,
            run_path: &run_path,
            done: &done,
            watch: &|step: &EvaluationStep<'_>| reporter.watch(step),
        };
        let result = evaluation.run(&missing);
        reporter.finish();
        result?;
        cells.extend(made.into_inner().unwrap_or_default());
        Ok(cells)
    }

    /// The default model, trained on the training documents.
    fn vectors<'t>(&self, trained: &'t mut Option<(Tables, TrainParams)>) -> Result<&'t (Tables, TrainParams)> {
        if trained.is_none() {
            let params = train_params(Trains::Model(Method::HyperDoc), self.params);
            let mut reporter = TrainReporter::new();
            let tables = train_tables(self.view, &params, &mut |progress| reporter.watch(progress))?;
            reporter.finish();
            *trained = Some((tables, params));
        }
        trained.as_ref().context("a trained model")
    }
}

/// So many threads, or one per core.
fn pool_threads(threads: usize) -> usize {
    if threads > 0 { threads } else { std::thread::available_parallelism().map_or(1, usize::from) }
}
