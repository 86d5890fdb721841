//! `hd2v reproduce`: every experiment on one corpus, into a folder with a report.
//!
//! The folder holds `settings.json` (the settings that all figures depend on), `cells/` (finished parts, each with the
//! settings of its own, so that a stopped run can continue), `runs/` (TREC files), `report.json` and `report.html`.

mod commands;
mod example;
mod folder;
mod html;
mod paper;
mod places;
mod plot;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use hyperdoc2vec::corpus::Split;
use hyperdoc2vec::corpus::View;
use hyperdoc2vec::evaluate::Profile;
use hyperdoc2vec::evaluate::map_of_documents as map;
use hyperdoc2vec::evaluate::{
    CHOICE_FOLDS, COSTS, ContextWords, FunctionParams, INTENT_METHODS, IntentContexts, intent_contexts,
};
use hyperdoc2vec::evaluate::{
    CLASS_METHODS as DEFAULTS, ClassesParams, LabelledDocuments, check_classes, class_seconds,
    evaluate_classes as run_classes,
};
use hyperdoc2vec::evaluate::{CriteriaParams, PROBED};
use hyperdoc2vec::evaluate::{EvaluationStep, HeldOutLinks, LinkEvaluation, LinksParams, MethodPlaces, train_params};
use hyperdoc2vec::evaluate::{Findings, comparisons_json, data_json, methods_json, split_json};
use hyperdoc2vec::evaluate::{Gamma, SvmParams};
use hyperdoc2vec::evaluate::{LinkMethod, Trains, Workload, link_method_costs as costs};
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
    Anchors, Dims, MethodArgs, SplitArgs, anchors, context_words, cost, dims, in_order, intent_c_help, merge, methods,
    over_dims, split, with_dim,
};
use crate::output::{print, status};
use crate::progress::{EvaluateReporter, TrainReporter, folds_teller, stop_on_interrupt, stopped};
use folder::{read_json, write, write_json};
use paper::Dataset;

/// Run every experiment of the paper on a corpus, and write a report with tables and plots
#[derive(Args)]
#[command(after_help = "\
The folder gets report.html (self-contained), report.json, TREC run files, and the finished parts. To continue a run that \
was stopped, give the same command again; finished parts are not repeated. Run files hold a hundred hits per \
question, about 130 MB for each method on 26,000 questions; --no-runs leaves them out.

The paper's step makes 100 passes over the links, as in the paper, and several numbers of dimensions are compared: that \
takes hours on a large corpus. An estimate is printed before it starts; --quick is for a first look.

Examples:
  hd2v reproduce papers.corpus --until 2009 --beside acl --intents functions.jsonl -o papers.report
  hd2v reproduce manual.corpus --quick -o manual.report")]
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
    /// The SVM's cost parameter C for classes and functions; functions are also classified with the best of several
    #[arg(long, default_value_t = SvmParams::default().c, value_parser = cost)]
    c: f64,
    /// γ of the kernel for classes and functions: auto, scale or a number, as for `evaluate classes` [default: auto (as in
    /// the paper) and scale beside each other]
    #[arg(long)]
    gamma: Option<Gamma>,
    /// Numbers of dimensions for the paper's Figure 3 [default: 50,100,200,400; with --quick: 50,100]
    #[arg(long, value_name = "K,K,…", value_parser = dims)]
    dims: Option<Dims>,
    #[arg(long, value_name = "A,B,…", help = format!(
        "The methods to compare over dimensions [default: those of --methods among {}]", DIM_METHODS.join(",")))]
    dim_methods: Option<String>,
    /// For a first look: 20 passes in the paper's step instead of 100, and fewer numbers of dimensions
    #[arg(long)]
    quick: bool,
    /// Size of the generated corpus for the criteria, in documents; 0 to leave them out
    #[arg(long, default_value_t = CriteriaParams::default().docs, value_parser = docs_or_none)]
    criteria_docs: usize,
    /// The data set of the paper whose figures stand beside these
    #[arg(long, value_enum, default_value_t = Dataset::Acl)]
    beside: Dataset,
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

/// The methods that are compared over dimensions.
const DIM_METHODS: [&str; 5] = ["w2v", "d2v-nc", "d2v-cac", "h-d2v-paper", "h-d2v"];
/// Numbers of dimensions, and those of a first look.
const DIMS: [usize; 4] = [50, 100, 200, 400];
const QUICK_DIMS: [usize; 2] = [50, 100];

impl ReproduceArgs {
    /// Each γ of the kernel that is shown, the paper's first.
    fn gammas(&self) -> Vec<Gamma> {
        self.gamma.map_or_else(|| vec![Gamma::Auto, Gamma::Scale], |gamma| vec![gamma])
    }

    /// The machines for classes.
    fn machines(&self) -> Vec<SvmParams> {
        let machine = |gamma| {
            let mut svm = SvmParams::default();
            (svm.c, svm.gamma) = (self.c, gamma);
            svm
        };
        self.gammas().into_iter().map(machine).collect()
    }

    fn dims(&self) -> Vec<usize> {
        match &self.dims {
            Some(Dims(dims)) => dims.clone(),
            None if self.quick => QUICK_DIMS.to_vec(),
            None => DIMS.to_vec(),
        }
    }

    /// Passes of the paper's step, if the user does not say.
    fn reference_epochs(&self) -> usize {
        if self.quick { LinksParams::default().reference_epochs } else { paper::EPOCHS }
    }
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
    /// Numbers of dimensions to compare, and the methods.
    dims: &'a [usize],
    dim_methods: &'a [LinkMethod],
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
    let kinds = [OutputKind::Reproduction, OutputKind::Reproduction, OutputKind::Html];
    let files = ["settings.json", "report.json", "report.html"].map(|name| arguments.output.join(name));
    let outputs: Vec<Destination<'_>> =
        files.iter().zip(kinds).map(|(path, kind)| Destination { path, kind, force: true }).collect();
    let inputs = [&arguments.corpus].into_iter().chain(&arguments.intents);
    let inputs = inputs.chain(&arguments.labels).map(PathBuf::as_path);
    check(&outputs, &inputs.collect::<Vec<_>>())
}

pub fn run(arguments: &ReproduceArgs) -> Result<()> {
    let folder = &arguments.output;
    folder::refuse_other(folder)?;
    check_outputs(arguments)?;
    let corpus = Corpus::open(&arguments.corpus)?;
    corpus.verify()?;
    // Everything is checked now, not after an hour of training.
    let methods = methods(arguments.methods.as_deref())?;
    let class_methods = listed("--class-methods", arguments.class_methods.as_deref(), &DEFAULTS)?;
    let examples = example::wanted(arguments.example.as_deref(), &corpus)?;
    let mut params = arguments.train.params_with(&corpus, arguments.threads, arguments.reference_epochs())?;
    params.anchors = anchors(arguments.anchors, &corpus);
    let seed = arguments.train.seed;
    let (split, mut about) = split(&corpus, &arguments.split, seed)?;
    let view = View::new(&corpus, &split, params.train.min_count)?;
    let asked = HeldOutLinks::new(&view, &split, arguments.every as usize)?;
    merge(&mut about, split_json(&view, &split, &asked));
    let shown = |method: &&LinkMethod| DIM_METHODS.contains(&method.name);
    let dim_methods: Vec<LinkMethod> = methods.iter().filter(shown).copied().collect();
    let dim_methods: Vec<LinkMethod> = listed("--dim-methods", arguments.dim_methods.as_deref(), &dim_methods)?;
    let dims = if dim_methods.is_empty() { Vec::new() } else { arguments.dims() };
    for &dim in &dims {
        with_dim(&params, dim).train.validate()?;
    }
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
        split: &split,
        view: &view,
        asked: &asked,
        params: &params,
        whole: &whole,
        labelled: &labelled,
        class_methods: &class_methods,
        intents: &intents,
        dims: &dims,
        dim_methods: &dim_methods,
        scratch: &scratch,
    };
    run.tell_time(&methods);
    run.tell_gaps();
    let report = run.report(&methods, settings, &examples);
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
    fn report(&self, methods: &[LinkMethod], settings: Value, examples: &example::ExampleWanted) -> Result<Value> {
        let (arguments, seed) = (self.arguments, self.arguments.train.seed);
        let files = arguments.intents.len();
        // Links, dimensions, each file of intents, functions where there is one, the map, places, classes, criteria.
        let total = 2 + files + usize::from(files > 0) + 4;
        let parts = Parts { folder: &arguments.output, begun: std::cell::Cell::new(0), total };
        status(format_args!("{} links …", parts.next()));
        let cells = self.links(methods, self.params, None)?;
        let dimensions = self.dimensions(&cells, &parts)?;
        // Trained once, and only if an unfinished part needs it.
        let mut trained: Option<(Tables, TrainParams)> = None;
        let mut intents = Vec::new();
        let mut functions = None;
        // Trained once for all files, and only if one of them is unfinished.
        let mut contexts: Option<Vec<(Method, Vec<IntentContexts>)>> = None;
        for (number, (file, words)) in arguments.intents.iter().zip(self.intents).enumerate() {
            let print = words.fingerprint();
            let name = format!("intents-{}", number + 1);
            let gammas: Vec<String> = arguments.gammas().iter().map(Gamma::to_string).collect();
            let names = INTENT_METHODS.map(Method::name);
            let key = json!({"contexts": print, "c": arguments.c, "gammas": gammas, "methods": names});
            let found = parts.cell(&name, key, || {
                if contexts.is_none() {
                    let made = intent_contexts(self.view, &INTENT_METHODS, self.intents, self.params, &teller())?;
                    contexts = Some(made);
                }
                let all = contexts.iter().flatten();
                let methods = all.map(|(method, files)| self.intent_method(&name, *method, &files[number]));
                Ok(json!({"methods": methods.collect::<Result<Vec<Value>>>()?}))
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
        drop((trained, contexts));
        let places = self.places(methods, &parts)?;
        let classes = match self.labelled {
            Err(why) => parts.left_out("classes", why),
            Ok(labelled) => {
                let names: Vec<&str> = self.class_methods.iter().map(|method| method.name()).collect();
                let machines = arguments.machines();
                let gammas: Vec<String> = machines.iter().map(|machine| machine.gamma.to_string()).collect();
                let key =
                    json!({"labels": labelled.fingerprint(), "methods": names, "c": arguments.c, "gammas": gammas});
                parts.cell("classes", key, || {
                    let mut params = ClassesParams::new(self.params.clone());
                    params.machines = machines;
                    let found = run_classes(self.whole, labelled, self.class_methods, &params, &teller())?;
                    let mut found = gammas.iter().zip(found).map(|(gamma, mut found)| {
                        merge(&mut found, json!({"gamma": gamma, "c": arguments.c}));
                        found
                    });
                    let mut first = found.next().unwrap_or_default();
                    merge(&mut first, json!({"others": found.collect::<Vec<Value>>()}));
                    Ok(first)
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
            let findings = Findings::new(self.view, self.split, self.asked, &cells, seed);
            links.push(json!({
                "anchors": if anchors { "keep" } else { "drop" },
                "methods": methods_json(&findings, Profile::Paper, functions),
                "comparisons": comparisons_json(&findings),
            }));
        }
        let kept = in_order(methods, &cells, self.params.anchors[0]);
        Ok(json!({
            "command": commands::given(std::env::args_os()),
            "commands": commands::parts(self.arguments, methods, self.params, (self.dims, self.dim_methods)),
            "beside": arguments.beside.name(),
            "settings": settings,
            "data": data_json(self.view, self.split),
            "dimensions": dimensions,
            "seed": seed,
            "links": links,
            "threads": pool_threads(arguments.threads),
            "examples": examples.positions(self.view, self.asked, &kept),
            "functions": chosen,
            "classes": classes,
            "intents": intents,
            "criteria": criteria,
            "map": map,
            "places": places,
        }))
    }

    /// About how long it will take, from the counts of the corpus and the costs of methods.
    fn tell_time(&self, methods: &[LinkMethod]) {
        let threads = pool_threads(self.arguments.threads) as f64;
        let seconds = |methods: &[LinkMethod], params: &LinksParams, asked: usize, view: &View<'_>| -> f64 {
            let costs = costs(methods, &Workload::new(view, asked, params));
            costs.iter().map(|(_, seconds)| seconds).sum::<f64>() / threads
        };
        let times = self.params.anchors.len();
        let asked = self.asked.queries.len();
        let links = seconds(methods, self.params, asked * times, self.view);
        let others = self.dims.iter().filter(|&&dim| dim != self.params.train.dim);
        let dims: f64 =
            others.map(|&dim| seconds(self.dim_methods, &with_dim(self.params, dim), asked, self.view)).sum();
        let trained = |methods: &[Method], view: &View<'_>| {
            let methods: Vec<LinkMethod> = methods.iter().filter_map(|method| method.name().parse().ok()).collect();
            seconds(&methods, self.params, 0, view)
        };
        // Machines of one method and file: those that choose C, and those of the given C and of the chosen one.
        let machines = self.arguments.gammas().len() * (COSTS.len() * CHOICE_FOLDS + 2 * INTENT_FOLDS);
        let machines = INTENT_METHODS.len() * machines;
        let fits: f64 = self.intents.iter().map(|words| words.fit_seconds(machines, self.params.train.dim)).sum();
        let intents = if self.intents.is_empty() { 0.0 } else { trained(&INTENT_METHODS, self.view) + fits / threads };
        let classes = self.labelled.as_ref().map_or(0.0, |labelled| {
            let mut params = ClassesParams::new(self.params.clone());
            params.machines = self.arguments.machines();
            trained(self.class_methods, self.whole) + class_seconds(labelled, self.class_methods, &params) / threads
        });
        let minutes = |seconds: f64| indicatif::HumanDuration(std::time::Duration::from_secs_f64(seconds.max(1.0)));
        status(format_args!(
            "about {} in all, by the counts of the corpus: links {}, other dimensions {}{}{}; \
             criteria, map and places are not counted; finished parts cost nothing{}",
            minutes(links + dims + intents + classes),
            minutes(links),
            minutes(dims),
            if self.intents.is_empty() { String::new() } else { format!(", functions {}", minutes(intents)) },
            if self.labelled.is_ok() { format!(", classes {}", minutes(classes)) } else { String::new() },
            if self.arguments.quick { "" } else { "; --quick takes less" },
        ));
    }

    /// Which parts of the paper will be missing, before hours are spent on the others.
    fn tell_gaps(&self) {
        if let Err(reason) = self.labelled {
            status(format_args!("without classes (Tables 4 and 5): {reason}"));
        }
        if self.intents.is_empty() {
            status("without link functions (Figure 4): --intents gives a file of labelled contexts");
        }
    }

    /// Recall@10 against dimensions.
    fn dimensions(&self, cells: &[MethodPlaces], parts: &Parts<'_>) -> Result<Value> {
        let number = parts.next();
        if self.dims.is_empty() {
            status(format_args!("{number} dimensions: left out: no method to compare"));
            return Ok(Value::Null);
        }
        status(format_args!("{number} dimensions …"));
        let (anchors, seed) = (self.params.anchors[0], self.arguments.train.seed);
        // Those that --dim-methods adds are not among the methods of the tables.
        let main = in_order(self.dim_methods, cells, anchors);
        let main = if main.len() == self.dim_methods.len() {
            main
        } else {
            in_order(self.dim_methods, &self.links(self.dim_methods, self.params, None)?, anchors)
        };
        let findings = Findings::new(self.view, self.split, self.asked, &main, seed);
        let found = over_dims(&findings, self.dims, self.params.train.dim, |dim| {
            status(format_args!("with {dim} dimensions:"));
            let params = with_dim(self.params, dim);
            Ok(in_order(self.dim_methods, &self.links(self.dim_methods, &params, Some(dim))?, anchors))
        })?;
        Ok(json!(found))
    }

    /// Labelled contexts classified by the word vectors of one method: for each γ, with the given C and with the best.
    fn intent_method(&self, name: &str, method: Method, contexts: &IntentContexts) -> Result<Value> {
        let (seed, given) = (self.arguments.train.seed, self.arguments.c);
        let mut settings = Vec::new();
        for gamma in self.arguments.gammas() {
            let what = format!("{name}, {method}, γ {gamma}");
            let mut watch = folds_teller(&what, COSTS.len() * CHOICE_FOLDS);
            let best = contexts.best_cost(gamma, seed, &mut watch)?;
            for (c, chosen) in [(given, false), (best, true)] {
                let mut svm = SvmParams::default();
                (svm.c, svm.gamma) = (c, gamma);
                let same =
                    settings.iter().find(|one: &&Value| one["c"] == json!(c) && one["gamma"] == gamma.to_string());
                let mut found = match same {
                    Some(same) => same.clone(),
                    None => contexts.evaluate(INTENT_FOLDS, &svm, seed, &mut folds_teller(&what, INTENT_FOLDS))?,
                };
                found["chosen"] = json!(chosen);
                settings.push(found);
            }
        }
        Ok(json!({"method": method.name(), "settings": settings}))
    }

    /// The ranks of the truths by method: from the folder, or computed. At other dimensions than those of the tables, no
    /// run files are written.
    fn links(&self, methods: &[LinkMethod], params: &LinksParams, dim: Option<usize>) -> Result<Vec<MethodPlaces>> {
        let folder = &self.arguments.output;
        let name = |method: &str, anchors: bool| {
            let dim = dim.map_or(String::new(), |dim| format!(".dim{dim}"));
            if anchors { format!("{method}{dim}") } else { format!("{method}{dim}.no-anchors") }
        };
        let no_runs = self.arguments.no_runs || dim.is_some();
        let path =
            |method: &str, anchors: bool| folder.join("cells").join(format!("links-{}.json", name(method, anchors)));
        let mut cells: Vec<MethodPlaces> = Vec::new();
        let mut missing: Vec<LinkMethod> = Vec::new();
        for method in methods {
            let mut all = true;
            for &anchors in &params.anchors {
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
        if !no_runs {
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
            (!no_runs).then(|| folder.join("runs").join(format!("{}.run", name(method, anchors))))
        };
        let work = Workload::new(self.view, self.asked.queries.len(), params);
        let reporter = EvaluateReporter::new(costs(&missing, &work), params.anchors.len());
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
        let watch = |step: &EvaluationStep<'_>| reporter.watch(step);
        let evaluation = LinkEvaluation::new(self.view, self.asked, params, self.scratch);
        let result = evaluation.run_path(&run_path).done(&done).watch(&watch).run(&missing);
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
