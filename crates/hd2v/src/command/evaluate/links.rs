//! `hd2v evaluate links`: trains each method on part of a corpus and asks it for the links of the rest.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use hyperdoc2vec::corpus::Split;
use hyperdoc2vec::corpus::View;
use hyperdoc2vec::evaluate::Profile;
use hyperdoc2vec::evaluate::{CHOICE_FOLDS, COSTS, ContextWords, FunctionParams, Functions, read_intents};
use hyperdoc2vec::evaluate::{EvaluationStep, HeldOutLinks, LinkEvaluation, LinksParams, MethodPlaces, train_params};
use hyperdoc2vec::evaluate::{Findings, comparisons_json, methods_json, recall_json, split_json};
use hyperdoc2vec::evaluate::{
    LinkMethod, Trains, Workload, all_link_methods as all, default_link_methods as defaults, link_method_costs as costs,
};
use hyperdoc2vec::model::{Method, TrainParams};
use hyperdoc2vec::train::train_tables;
use hyperdoc2vec::{Corpus, Date, Error};
use serde_json::{Value, json};

use super::super::common::{listed, most_threads, named, with_suffix};
use super::super::destination::{Destination, OutputKind, check};
use super::table::{ends, percent, table};
use crate::output::{count, print, print_json, status, thousands};
use crate::progress::{EvaluateReporter, TrainReporter, folds_teller, stop_on_interrupt};

/// Measure how many held-out links each method finds: recall, MAP, MRR and nDCG at 10, with intervals and paired tests
#[derive(Args)]
#[command(after_help = "\
Documents after --until (or a random share, --holdout) are left out of training. Every link in them to a training document \
is a question, to be answered from the words around it. docs/guide/evaluate.md has the details.

Methods:
  popular*, bm25*, bm25-cited*, bm25-passage*, hybrid*, hybrid-source*
  as in `train`:     w2v*, skip-gram, d2v-nc*, d2v-cac*, d2v-cac-dm, npm*, h-d2v-random*,
                     h-d2v-paper*, joint-paper, h-d2v*, joint, pv-dm, pv-dbow;
                     reference (`train --compat reference`)
  with its prior:    npm-prior (documents weighted by their links, words by their rarity)
  by IN vectors:     w2v-i4i*, skip-gram-i4i, h-d2v-paper-i4i, h-d2v-random-i4i, h-d2v-i4i
  by IN and OUT:     h-d2v-paper-in-out, h-d2v-random-in-out, h-d2v-in-out
  with the source:   h-d2v-source*, h-d2v-paper-source, h-d2v-random-source, joint-source,
                     joint-paper-source, reference-source
  inferred in five steps (gensim's default in 2018): d2v-cac-5*, d2v-nc-5

Examples:
  hd2v evaluate links papers.corpus --until 2009 --methods popular,bm25-cited,h-d2v,hybrid
  hd2v evaluate links site.corpus --holdout 0.1 --anchors both --json > links.json
  hd2v evaluate links papers.corpus --until 2009 --methods w2v,h-d2v-paper,h-d2v --dims 50,100,200
  hd2v evaluate links papers.corpus --until 2009 --runs runs
  trec_eval -m map_cut.10 runs/qrels runs/h-d2v.run")]
pub struct EvaluateLinksArgs {
    /// The corpus directory
    corpus: PathBuf,
    #[command(flatten)]
    split: SplitArgs,
    #[arg(long, value_name = "A,B,…", help = format!(
        "The methods to compare, separated by commas, or `all` [default: the {} below with a *]", defaults().len()))]
    methods: Option<String>,
    #[command(flatten)]
    train: MethodArgs,
    /// Also train with these numbers of dimensions, and report recall@10 against them (the paper's Figure 3)
    #[arg(long, value_name = "K,K,…", value_parser = dims)]
    dims: Option<Dims>,
    /// Ask only about every N-th position
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// Ask about N positions, evenly spread
    #[arg(long, value_name = "N", conflicts_with = "every", value_parser = clap::value_parser!(u64).range(1..))]
    sample: Option<u64>,
    /// Whether anchors, the links' own words, are part of the question [default: keep; both where most links have anchors]
    #[arg(long)]
    anchors: Option<Anchors>,
    /// Labelled contexts, as for `evaluate intents`: also report recall by citation function
    #[arg(long, value_name = "FILE")]
    intents: Option<PathBuf>,
    #[arg(long, value_name = "C", requires = "intents", value_parser = cost, help = intent_c_help())]
    intent_c: Option<f64>,
    /// Average precision divides by the truths found (paper) or by all truths (trec)
    #[arg(long, default_value_t, value_parser = named::<Profile>())]
    profile: Profile,
    /// Write the hits as a TREC run file (FILE.METHOD if there are several methods), and FILE.qrels
    #[arg(long, value_name = "FILE")]
    run: Option<PathBuf>,
    /// Write METHOD.run for each method, and qrels, into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "run")]
    runs: Option<PathBuf>,
    /// Threads [default: one per core]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = most_threads)]
    threads: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn intent_c_help() -> String {
    let costs = COSTS.map(|cost| cost.to_string()).join(", ");
    format!(
        "The SVM's cost parameter C for classifying link functions [default: the best of {costs} on the first --intents file]"
    )
}

/// Reads a cost parameter.
pub fn cost(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(cost) if f64::is_finite(cost) && cost > 0.0 => Ok(cost),
        _ => Err("expected a number above 0".to_owned()),
    }
}

/// Numbers of dimensions, rising.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dims(pub Vec<usize>);

/// Reads numbers of dimensions.
pub fn dims(text: &str) -> Result<Dims, String> {
    let wrong = || "expected numbers of dimensions from 1 to 4096, such as 50,100,200".to_owned();
    let one = |number: &str| number.trim().parse().ok().filter(|dim| (1..=4096).contains(dim)).ok_or_else(wrong);
    let mut dims: Vec<usize> = text.split(',').map(one).collect::<Result<_, _>>()?;
    dims.sort_unstable();
    dims.dedup();
    Ok(Dims(dims))
}

/// Recall@10 of the methods that have dimensions at each of `dims`: `[{"dim", "methods": […]}]`. `at` trains and asks the
/// methods at other dimensions than `main`, whose results are there.
pub fn over_dims(
    findings: &Findings<'_>,
    dims: &[usize],
    main: usize,
    mut at: impl FnMut(usize) -> Result<Vec<MethodPlaces>>,
) -> Result<Vec<Value>> {
    dims.iter()
        .map(|&dim| {
            let other = if dim == main { None } else { Some(at(dim)?) };
            let findings = other.as_deref().map_or(*findings, |cells| findings.with_cells(cells));
            Ok(json!({"dim": dim, "methods": recall_json(&findings)}))
        })
        .collect()
}

/// How a corpus is split.
#[derive(Args)]
pub struct SplitArgs {
    /// Train on documents dated up to this date, test on later ones
    #[arg(long, value_name = "DATE", conflicts_with = "holdout")]
    pub until: Option<Date>,
    /// Test on this share of the documents, drawn at random
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    pub holdout: f64,
}

/// How models are trained.
#[derive(Args)]
pub struct MethodArgs {
    /// Vector dimensions
    #[arg(long, default_value_t = TrainParams::default().dim)]
    pub dim: usize,
    #[arg(long, value_name = "WORDS", help = format!("Words that count on each side of a link [default: {}; {} in the \
        methods of the paper]", TrainParams::default().window, Method::HyperDocPaper.default_window()))]
    pub window: Option<usize>,
    /// Passes of h-d2v and joint over the links
    #[arg(long, default_value_t = TrainParams::default().citation.epochs)]
    pub epochs: usize,
    /// Passes of h-d2v over the text
    #[arg(long, default_value_t = TrainParams::default().content.epochs)]
    pub content_epochs: usize,
    /// Passes over the links in the paper's step (h-d2v-paper, h-d2v-random, reference); the paper made 100 [default: 20;
    /// `reproduce` without --quick: 100]
    #[arg(long, value_name = "N")]
    pub reference_epochs: Option<usize>,
    /// Documents drawn as noise for each link in the paper's step
    #[arg(long, default_value_t = TrainParams::default().reference.noise)]
    pub reference_noise: usize,
    /// Passes over the text in methods that learn word by word (w2v, d2v-nc, d2v-cac, PV-DM, npm)
    #[arg(long, default_value_t = LinksParams::default().text_epochs)]
    pub text_epochs: usize,
    /// Words on each side of a word in PV-DM (pv-dm, d2v-cac-dm, h-d2v-paper, joint-paper, reference); 5 in the authors'
    /// program [default: that of --window; 5 for reference]
    #[arg(long, value_name = "WORDS")]
    pub dm_window: Option<usize>,
    /// Passes of npm over the links; the paper made 100
    #[arg(long, default_value_t = TrainParams::default().npm.epochs)]
    pub npm_epochs: usize,
    /// Words drawn as noise for each word around a link in npm; the paper drew 100
    #[arg(long, default_value_t = TrainParams::default().npm.noise)]
    pub npm_noise: usize,
    /// Words that occur less often get no vectors [default: the corpus's own]
    #[arg(long)]
    pub min_count: Option<u64>,
    /// The random seed
    #[arg(long, default_value_t = TrainParams::default().seed)]
    pub seed: u64,
}

impl MethodArgs {
    /// The library's parameters for this corpus.
    pub fn params(&self, corpus: &Corpus, threads: usize) -> Result<LinksParams> {
        self.params_with(corpus, threads, LinksParams::default().reference_epochs)
    }

    /// The library's parameters for this corpus; the paper's step makes so many passes if the user does not say.
    pub fn params_with(&self, corpus: &Corpus, threads: usize, reference_epochs: usize) -> Result<LinksParams> {
        let reference_epochs = self.reference_epochs.unwrap_or(reference_epochs);
        let mut train = TrainParams::for_corpus(corpus);
        (train.dim, train.seed) = (self.dim, self.seed);
        train.min_count = self.min_count.unwrap_or(train.min_count);
        if let Some(window) = self.window {
            train.set_window(window);
        }
        train.citation.epochs = self.epochs;
        train.content.epochs = self.content_epochs;
        train.reference.noise = self.reference_noise;
        (train.npm.epochs, train.npm.noise) = (self.npm_epochs, self.npm_noise);
        train.direct.dm_window = self.dm_window;
        let text_epochs = self.text_epochs;
        (train.reference.epochs, train.direct.epochs) = (reference_epochs, text_epochs);
        for (name, epochs) in [("--reference-epochs", reference_epochs), ("--text-epochs", text_epochs)] {
            if epochs == 0 {
                bail!(Error::Usage(format!("{name} is 0, but must be 1 or more")));
            }
        }
        train.validate()?;
        let mut params = LinksParams::default();
        (params.train, params.window, params.threads) = (train, self.window, threads);
        (params.reference_epochs, params.text_epochs) = (reference_epochs, text_epochs);
        Ok(params)
    }
}

/// Whether anchors, the links' own words, are kept.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Anchors {
    Keep,
    Drop,
    Both,
}

/// The split, and its description for the JSON.
pub fn split(corpus: &Corpus, arguments: &SplitArgs, seed: u64) -> Result<(Split, Value)> {
    Ok(match arguments.until {
        Some(until) => (Split::by_date(corpus, until)?, json!({"until": until})),
        None => {
            let share = arguments.holdout;
            (Split::by_share(corpus, share, seed)?, json!({"holdout": share, "seed": seed}))
        }
    })
}

/// Methods by name; the default methods if no names are given.
pub fn methods(names: Option<&str>) -> Result<Vec<LinkMethod>> {
    match names {
        Some("all") => Ok(all()),
        names => listed("--methods", names, &defaults()),
    }
}

/// Whether anchors are kept, for each table.
pub fn anchors(choice: Option<Anchors>, corpus: &Corpus) -> Vec<bool> {
    match choice {
        Some(Anchors::Keep) => vec![true],
        Some(Anchors::Drop) => vec![false],
        Some(Anchors::Both) => vec![true, false],
        None if corpus.is_hypertext() => vec![true, false],
        None => vec![true],
    }
}

/// Adds the fields of one JSON object to another.
pub fn merge(into: &mut Value, from: Value) {
    if let (Some(into), Value::Object(from)) = (into.as_object_mut(), from) {
        into.extend(from);
    }
}

pub fn run(arguments: &EvaluateLinksArgs) -> Result<()> {
    let corpus = Corpus::open(&arguments.corpus)?;
    corpus.verify()?;
    let methods = methods(arguments.methods.as_deref())?;
    let mut params = arguments.train.params(&corpus, arguments.threads)?;
    params.anchors = anchors(arguments.anchors, &corpus);
    let seed = arguments.train.seed;
    let (split, mut about) = split(&corpus, &arguments.split, seed)?;
    let view = View::new(&corpus, &split, params.train.min_count)?;
    let asked = match arguments.sample {
        Some(sample) => {
            let all = HeldOutLinks::new(&view, &split, 1)?;
            HeldOutLinks::new(&view, &split, all.queries.len().div_ceil(sample as usize))?
        }
        None => HeldOutLinks::new(&view, &split, arguments.every as usize)?,
    };
    let several = methods.len() * params.anchors.len() > 1;
    let run_path = |method: &str, anchors: bool| {
        let name = if anchors { method.to_owned() } else { format!("{method}.no-anchors") };
        let one = |run: &PathBuf| if several { with_suffix(run, &name) } else { run.clone() };
        let folder = arguments.runs.as_ref().map(|runs| runs.join(format!("{name}.run")));
        folder.or_else(|| arguments.run.as_ref().map(one))
    };
    check_outputs(arguments, &methods, &params, &run_path)?;
    if asked.queries.len() < FEW {
        let positions = count(asked.queries.len() as u64, "position");
        status(format_args!("only {positions} to ask about: too few for meaningful figures"));
    }
    if let Some(runs) = &arguments.runs {
        std::fs::create_dir_all(runs).with_context(|| format!("cannot create {}", runs.display()))?;
        let path = runs.join("qrels");
        ensure!(
            !path.exists() || std::fs::read(&path).is_ok_and(|there| there == asked.qrels(&view)),
            "{}: contains run files of other questions; choose another directory",
            runs.display()
        );
        asked.write_qrels(&view, &path)?;
    }
    if let Some(run) = &arguments.run {
        asked.write_qrels(&view, &with_suffix(run, "qrels"))?;
    }
    // Read and checked now, not after an hour of training.
    let labelled = match &arguments.intents {
        Some(file) => Some(context_words(file, &view, CHOICE_FOLDS, seed)?),
        None => None,
    };
    stop_on_interrupt();
    let folder = tempfile_folder();
    let evaluate = |methods: &[LinkMethod], params: &LinksParams, run_path: RunPaths<'_>| {
        let work = Workload::new(&view, asked.queries.len(), params);
        let reporter = EvaluateReporter::new(costs(methods, &work), params.anchors.len());
        let cells = Mutex::new(Vec::<MethodPlaces>::new());
        let done = |cell: &MethodPlaces| {
            if let Ok(mut cells) = cells.lock() {
                cells.push(cell.clone());
            }
            Ok(())
        };
        let watch = |step: &EvaluationStep<'_>| reporter.watch(step);
        let evaluation = LinkEvaluation::new(&view, &asked, params, &folder);
        let result = evaluation.run_path(run_path).done(&done).watch(&watch).run(methods);
        reporter.finish();
        if let (Err(Error::Interrupted), Some(place)) = (&result, arguments.runs.as_ref().or(arguments.run.as_ref())) {
            bail!("interrupted; {} has the run files so far", place.display());
        }
        result?;
        Ok(cells.into_inner().unwrap_or_default())
    };
    let cells = evaluate(&methods, &params, &run_path)?;
    let functions = match labelled {
        Some(words) => Some(functions(&view, &asked, &params, &words, arguments.intent_c)?),
        None => None,
    };
    merge(&mut about, split_json(&view, &split, &asked));
    let mut report = json!({
        "corpus": {"path": arguments.corpus.display().to_string(), "fingerprint": corpus.manifest().fingerprint},
        "version": env!("CARGO_PKG_VERSION"),
        "split": about,
        "profile": arguments.profile,
        "seed": seed,
        "anchors": if params.anchors[0] { "keep" } else { "drop" },
        "reference_epochs": params.reference_epochs,
        "parameters": params.train.to_json(),
        "intent_c": functions.as_ref().map(|found| found.c),
    });
    for (number, &anchors) in params.anchors.iter().enumerate() {
        let cells = in_order(&methods, &cells, anchors);
        let functions = functions.as_ref().map(|found| (found.names.as_slice(), found.numbers.as_slice()));
        let findings = Findings::new(&view, &split, &asked, &cells, seed);
        let part = json!({
            "methods": methods_json(&findings, arguments.profile, functions),
            "comparisons": comparisons_json(&findings),
        });
        match number {
            0 => merge(&mut report, part),
            _ => merge(&mut report, json!({"anchors_dropped": part})),
        }
    }
    if let Some(Dims(dims)) = &arguments.dims {
        let vectors: Vec<LinkMethod> = methods.iter().copied().filter(LinkMethod::has_dimensions).collect();
        let cells = in_order(&vectors, &cells, params.anchors[0]);
        let findings = Findings::new(&view, &split, &asked, &cells, seed);
        let found = over_dims(&findings, dims, params.train.dim, |dim| {
            status(format_args!("with {dim} dimensions:"));
            let params = with_dim(&params, dim);
            Ok(in_order(&vectors, &evaluate(&vectors, &params, &|_, _| None)?, params.anchors[0]))
        })?;
        merge(&mut report, json!({"dimensions": found}));
    }
    if arguments.json {
        return print_json(&report);
    }
    print(&for_people(&report))
}

/// These parameters with other dimensions; questions are asked in one way only.
pub fn with_dim(params: &LinksParams, dim: usize) -> LinksParams {
    let mut params = params.clone();
    params.train.dim = dim;
    params.anchors.truncate(1);
    params
}

/// Where the run file of a method goes, if it is wanted.
type RunPaths<'a> = &'a (dyn Fn(&str, bool) -> Option<PathBuf> + Sync);

/// Checks all outputs before anything is written.
fn check_outputs(
    arguments: &EvaluateLinksArgs,
    methods: &[LinkMethod],
    params: &LinksParams,
    run_path: &dyn Fn(&str, bool) -> Option<PathBuf>,
) -> Result<()> {
    let cells = methods.iter().flat_map(|method| params.anchors.iter().map(|&anchors| (method.name, anchors)));
    let runs: Vec<PathBuf> = cells.filter_map(|(method, anchors)| run_path(method, anchors)).collect();
    let qrels = arguments.runs.as_ref().map(|runs| runs.join("qrels"));
    let qrels = qrels.or_else(|| arguments.run.as_ref().map(|run| with_suffix(run, "qrels")));
    let runs = runs.iter().chain(&arguments.run).map(|path| (path, OutputKind::Run));
    let mut outputs: Vec<_> = runs.chain(qrels.iter().map(|path| (path, OutputKind::Qrels))).collect();
    outputs.dedup();
    let outputs = outputs.into_iter().map(|(path, kind)| Destination { path, kind, force: true });
    let inputs: Vec<&Path> = [&arguments.corpus].into_iter().chain(&arguments.intents).map(PathBuf::as_path).collect();
    check(&outputs.collect::<Vec<_>>(), &inputs)
}

/// The words of labelled contexts; classes with fewer members than folds are left out, and reported.
pub fn context_words(file: &Path, view: &View<'_>, folds: usize, seed: u64) -> Result<ContextWords> {
    let words = ContextWords::of_view(&read_intents(file, "label")?, view, file)?.without_small(folds);
    report_small_classes(file, &words);
    let dealt = words.deal(folds, seed);
    dealt.map_err(|error| match error {
        Error::Usage(what) => Error::Usage(format!("{}: {what}", file.display())),
        other => other,
    })?;
    Ok(words)
}

/// Reports classes that were left out.
pub fn report_small_classes(file: &Path, words: &ContextWords) {
    for (name, members) in &words.small {
        let members = count(*members as u64, "context");
        status(format_args!("{}: {name:?} is left out: only {members}", file.display()));
    }
}

/// The function of each question's link, by an SVM fitted to labelled contexts, on the word vectors of the default model.
fn functions(
    view: &View<'_>,
    asked: &HeldOutLinks,
    params: &LinksParams,
    words: &ContextWords,
    cost: Option<f64>,
) -> Result<Functions> {
    let train = train_params(Trains::Model(Method::HyperDoc), params);
    let mut reporter = TrainReporter::new();
    status("citation functions of the questions:");
    let tables = train_tables(view, &train, &mut |progress| reporter.watch(progress))?;
    reporter.finish();
    let contexts = words.vectors_of(&tables.input, train.dim);
    let mut watch = folds_teller("functions", COSTS.len() * CHOICE_FOLDS);
    let mut how = FunctionParams::of(&train);
    (how.anchors, how.c) = (params.anchors[0], cost);
    Ok(contexts.functions(view, &tables.input, asked, &how, &mut watch)?)
}

/// The results with anchors kept or dropped, in the order of the methods.
pub fn in_order(methods: &[LinkMethod], cells: &[MethodPlaces], anchors: bool) -> Vec<MethodPlaces> {
    let of = |method: &LinkMethod| cells.iter().find(|cell| cell.method == method.name && cell.anchors == anchors);
    methods.iter().filter_map(of).cloned().collect()
}

/// Where models are kept during the evaluation.
pub fn tempfile_folder() -> PathBuf {
    std::env::temp_dir()
}

/// With fewer questions, figures are not meaningful.
const FEW: usize = 20;

fn for_people(report: &Value) -> String {
    let split = &report["split"];
    let number = |name: &str| split[name].as_u64().unwrap_or(0);
    let mut out = format!(
        "{} from {} ({} with several truths, {} with a newcomer among them); trained on {} and {}\n\n",
        count(number("positions"), "position"),
        count(number("test_documents"), "test document"),
        thousands(number("multi_truth_positions")),
        thousands(number("newcomer_positions")),
        count(number("training_documents"), "document"),
        count(number("training_links"), "link"),
    );
    if number("unused_documents") > 0 {
        let documents = count(number("unused_documents"), "document");
        status(format_args!("{documents} without a date: used neither for training nor for testing"));
    }
    let profile = report["profile"].as_str().unwrap_or_default();
    out += &methods_for_people(report, profile);
    out += &dims_for_people(report);
    if let Some(dropped) = report.get("anchors_dropped") {
        out += "\nWithout the anchors of the links:\n\n";
        out += &methods_for_people(dropped, profile);
    }
    status(format_args!(
        "all in %; [95 %]: bootstrap over test documents; MAP by --profile {profile}; newcomers: targets that no \
         training document links to; with one: all targets of positions with a newcomer among them, as in the paper's \
         Table 7; the paper's step made {} passes (--reference-epochs)",
        report["reference_epochs"]
    ));
    out
}

fn methods_for_people(report: &Value, profile: &str) -> String {
    let methods = report["methods"].as_array().map(Vec::as_slice).unwrap_or_default();
    let row = |method: &Value| {
        vec![
            method["method"].as_str().unwrap_or_default().to_owned(),
            percent(&method["recall@10"]),
            ends(&method["interval"]["recall@10"]),
            percent(&method["map@10"]),
            percent(&method["mrr@10"]),
            percent(&method["ndcg@10"]),
            percent(&method["newcomers"]["recall@10"]),
            percent(&method["newcomer_positions"]["recall@10"]),
            format!("{:.0}", method["train_seconds"].as_f64().unwrap_or(0.0)),
            format!("{:.0}", method["query_seconds"].as_f64().unwrap_or(0.0)),
        ]
    };
    let map = if profile == "trec" { "MAP (trec)" } else { "MAP" };
    let heads = ["method", "recall@10", "[95 %]", map, "MRR", "nDCG", "newcomers", "with one", "train s", "ask s"];
    let mut out = table(&heads, &methods.iter().map(row).collect::<Vec<_>>());
    for (kind, head) in [
        ("by_links", "recall@10 by number of training links to the target"),
        ("by_function", "recall@10 by function of the link"),
    ] {
        let bins = methods.first().and_then(|method| method[kind].as_array()).cloned().unwrap_or_default();
        if bins.is_empty() {
            continue;
        }
        out += &format!("\n{head}\n");
        let heads: Vec<String> = bins
            .iter()
            .map(|bin| format!("{} ({})", bin["name"].as_str().unwrap_or_default(), bin["positions"]))
            .collect();
        let heads: Vec<&str> = ["method"].into_iter().chain(heads.iter().map(String::as_str)).collect();
        let row = |method: &Value| {
            let name = method["method"].as_str().unwrap_or_default().to_owned();
            let bins = method[kind].as_array().into_iter().flatten();
            let share = |bin: &Value| if bin["positions"] == 0 { "-".to_owned() } else { percent(&bin["recall@10"]) };
            [name].into_iter().chain(bins.map(share)).collect::<Vec<String>>()
        };
        out += &table(&heads, &methods.iter().map(row).collect::<Vec<_>>());
    }
    out + &labels_for_people(methods) + &neighbours(report, methods)
}

/// Recall against dimensions: one row per method.
fn dims_for_people(report: &Value) -> String {
    let found = report["dimensions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let Some(first) = found.first() else { return String::new() };
    let heads: Vec<String> = found.iter().map(|one| one["dim"].to_string()).collect();
    let heads: Vec<&str> = ["method"].into_iter().chain(heads.iter().map(String::as_str)).collect();
    let row = |(number, method): (usize, &Value)| {
        let name = method["method"].as_str().unwrap_or_default().to_owned();
        let shares = found.iter().map(|one| percent(&one["methods"][number]["recall@10"]));
        [name].into_iter().chain(shares).collect::<Vec<String>>()
    };
    let rows: Vec<Vec<String>> = first["methods"].as_array().into_iter().flatten().enumerate().map(row).collect();
    format!("\nrecall@10 by number of dimensions\n{}", table(&heads, &rows))
}

/// Recall by the label of the target: one row per label, as there may be many.
fn labels_for_people(methods: &[Value]) -> String {
    let labels = methods.first().and_then(|method| method["by_label"].as_array()).cloned().unwrap_or_default();
    if labels.is_empty() {
        return String::new();
    }
    let names = methods.iter().filter_map(|method| method["method"].as_str());
    let heads: Vec<&str> = ["label of the target", "positions"].into_iter().chain(names).collect();
    let row = |(number, label): (usize, &Value)| {
        let first = [label["name"].as_str().unwrap_or_default().to_owned(), label["positions"].to_string()];
        let shares = methods.iter().map(|method| percent(&method["by_label"][number]["recall@10"]));
        first.into_iter().chain(shares).collect::<Vec<String>>()
    };
    let rows: Vec<Vec<String>> = labels.iter().enumerate().map(row).collect();
    format!("\nrecall@10 by label of the target\n{}", table(&heads, &rows))
}

/// The methods in order of recall, each compared with the next.
fn neighbours(report: &Value, methods: &[Value]) -> String {
    let mut order: Vec<&Value> = methods.iter().collect();
    order.sort_by(|a, b| b["recall@10"].as_f64().unwrap_or(0.0).total_cmp(&a["recall@10"].as_f64().unwrap_or(0.0)));
    let pairs = report["comparisons"].as_array().map(Vec::as_slice).unwrap_or_default();
    let row = |two: &[&Value]| {
        let (a, b) = (&two[0]["method"], &two[1]["method"]);
        let straight = pairs.iter().find(|pair| pair["a"] == *a && pair["b"] == *b).map(|pair| (pair, 1.0));
        let turned = || pairs.iter().find(|pair| pair["a"] == *b && pair["b"] == *a).map(|pair| (pair, -1.0));
        let (pair, sign) = straight.or_else(turned)?;
        let number = |value: &Value| 100.0 * sign * value.as_f64().unwrap_or(0.0);
        let (one, other) = (number(&pair["interval"][0]), number(&pair["interval"][1]));
        Some(vec![
            format!("{} against {}", a.as_str().unwrap_or_default(), b.as_str().unwrap_or_default()),
            format!("{:+.1}", number(&pair["difference"])),
            format!("{:+.1} to {:+.1}", one.min(other), one.max(other)),
            format!("{:.4}", pair["p"].as_f64().unwrap_or(1.0)),
            format!("{:.4}", pair["p_holm"].as_f64().unwrap_or(1.0)),
        ])
    };
    let rows: Vec<Vec<String>> = order.windows(2).filter_map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let heads = ["difference of recall@10", "points", "[95 %]", "p", "p among all pairs"];
    format!("\n{}", table(&heads, &rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_method_and_stars_the_defaults() {
        #[derive(clap::Parser)]
        struct Cli {
            #[command(flatten)]
            arguments: EvaluateLinksArgs,
        }
        let help = <Cli as clap::CommandFactory>::command().get_after_help().expect("a help").to_string();
        let words: Vec<&str> = help.split([' ', ',', ';', '\n']).collect();
        for method in all() {
            let starred = defaults().contains(&method);
            let shown = if starred { format!("{}*", method.name) } else { method.name.to_owned() };
            assert!(words.contains(&shown.as_str()), "{shown}");
        }
        assert_eq!(words.iter().filter(|word| word.len() > 1 && word.ends_with('*')).count(), defaults().len());
    }
}
