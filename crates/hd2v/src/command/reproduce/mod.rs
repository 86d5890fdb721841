//! `hd2v reproduce`: every experiment on one corpus, into a folder with a report.
//!
//! The folder holds `settings.json` (what decides the figures), `cells/` (what is done: one file each, so that a run that
//! was stopped goes on), `runs/` (TREC files), `report.json` and `report.html`.

mod commands;
mod html;
mod paper;
mod plot;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use hyperdoc2vec::evaluate::classes::{ClassesParams, DEFAULTS, run as run_classes};
use hyperdoc2vec::evaluate::criteria::{CriteriaParams, PROBED};
use hyperdoc2vec::evaluate::intents::{Contexts, read as read_intents};
use hyperdoc2vec::evaluate::links::{Asked, Cell, Doing, LinksParams, run as run_links, train_params};
use hyperdoc2vec::evaluate::map::map;
use hyperdoc2vec::evaluate::methods::{LinkMethod, Trains};
use hyperdoc2vec::evaluate::metrics::Profile;
use hyperdoc2vec::evaluate::report::{comparisons_json, methods_json, split_json};
use hyperdoc2vec::evaluate::svm::SvmParams;
use hyperdoc2vec::split::Split;
use hyperdoc2vec::train::view::View;
use hyperdoc2vec::train::{Method, Tables, TrainParams, train_tables};
use hyperdoc2vec::{Corpus, Error};
use serde_json::{Value, json};

use super::evaluate::classes::{labelled, methods as train_methods, teller};
use super::evaluate::criteria::probe;
use super::evaluate::links::{
    Anchors, SplitArguments, TrainArguments, anchors, in_order, merge, methods, split, tempfile_folder,
};
use super::import::most_threads;
use crate::output::{print, talk};
use crate::progress::{EvaluateReporter, TrainReporter, stop_on_interrupt, stopped};

/// Run every experiment of the paper on a corpus, and write a report with tables and plots
#[derive(Args)]
#[command(after_help = "\
The folder holds report.html (one file, to look at), report.json, TREC run files, and what is done. A run that was stopped
goes on where it was when the same command is given again; what is done is not done again.

Example:
  hd2v reproduce papers.corpus --until 2009 --intents functions.jsonl -o papers.report")]
pub struct Arguments {
    /// The corpus directory
    corpus: PathBuf,
    /// The folder to write
    #[arg(short, long)]
    output: PathBuf,
    #[command(flatten)]
    split: SplitArguments,
    /// What to compare on links, as for `evaluate links`
    #[arg(long, value_name = "A,B,…")]
    methods: Option<String>,
    /// Whose vectors classify, as for `evaluate classes`
    #[arg(long, value_name = "A,B,…")]
    class_methods: Option<String>,
    /// Take the classes from this file, not from the corpus
    #[arg(long, value_name = "FILE", conflicts_with = "label_prefix")]
    labels: Option<PathBuf>,
    /// Only labels of the corpus that begin like this are classes
    #[arg(long, value_name = "PREFIX", default_value = "", hide_default_value = true)]
    label_prefix: String,
    /// Leave out classes with fewer documents
    #[arg(long, value_name = "N", default_value_t = 20)]
    min_class: usize,
    /// Classify at most so many documents
    #[arg(long, value_name = "N", default_value_t = 5000)]
    class_sample: usize,
    /// Labelled contexts, as for `evaluate intents`; may be given several times, the first labels the links
    #[arg(long, value_name = "FILE")]
    intents: Vec<PathBuf>,
    /// Documents of the corpus that criteria are probed on; 0: leave them out
    #[arg(long, default_value_t = CriteriaParams::default().docs)]
    criteria_docs: usize,
    /// What the paper reports, in a JSON file, to stand beside (docs/evaluation.md tells the form)
    #[arg(long, value_name = "FILE")]
    paper_figures: Option<PathBuf>,
    /// Ids of documents; a test position that links to them is the example
    #[arg(long, value_name = "ID,ID", default_value = "P02-1040,P07-2045")]
    example: String,
    #[command(flatten)]
    train: TrainArguments,
    /// Ask only every N-th position
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// The links' own words: part of the question, or not [default: keep; both where most links have such words]
    #[arg(long)]
    anchors: Option<Anchors>,
    /// Threads [default: one a core]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = most_threads)]
    threads: usize,
}

/// Writes JSON aside and renames it.
fn write_json(path: &Path, value: &Value) -> Result<()> {
    write(path, &format!("{value:#}\n"))
}

fn write(path: &Path, text: &str) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    let aside = PathBuf::from(name);
    std::fs::write(&aside, text).with_context(|| format!("cannot write {}", aside.display()))?;
    std::fs::rename(&aside, path).with_context(|| format!("cannot write {}", path.display()))
}

/// Removes what a killed run left half-written.
fn clear(folder: &Path) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(".tmp") || name.ends_with(".part") {
            std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

fn read_json(path: &Path) -> Result<Option<Value>> {
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let value = serde_json::from_str(&text);
    Ok(Some(value.with_context(|| format!("{} is no JSON; remove it to compute it again", path.display()))?))
}

/// The parts of a report that are kept in the folder when they are done.
struct Parts<'a> {
    folder: &'a Path,
    begun: std::cell::Cell<usize>,
    total: usize,
}

impl Parts<'_> {
    /// `[2/6]`, of the next part.
    fn next(&self) -> String {
        self.begun.set(self.begun.get() + 1);
        format!("[{}/{}]", self.begun.get(), self.total)
    }

    /// What was done before, or what `make` does now, with its seconds.
    fn cell(&self, name: &str, make: impl FnOnce() -> Result<Value>) -> Result<Value> {
        let path = self.folder.join("cells").join(format!("{name}.json"));
        let number = self.next();
        if let Some(value) = read_json(&path)? {
            talk(format_args!("{number} {name}: done before"));
            return Ok(value);
        }
        talk(format_args!("{number} {name} …"));
        let started = Instant::now();
        let value = json!({"value": make()?, "seconds": (started.elapsed().as_secs_f64() * 10.0).round() / 10.0});
        write(&path, &format!("{value}\n"))?;
        Ok(value)
    }
}

struct Run<'a> {
    arguments: &'a Arguments,
    corpus: &'a Corpus,
    split: &'a Split,
    view: &'a View<'a>,
    asked: &'a Asked,
    params: &'a LinksParams,
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let folder = &arguments.output;
    let corpus = Corpus::open(&arguments.corpus)?;
    corpus.verify()?;
    let methods = methods(arguments.methods.as_deref())?;
    // Read now, not after an hour of training.
    let paper = arguments.paper_figures.as_deref().map(paper::read).transpose()?.unwrap_or_default();
    arguments.intents.iter().try_for_each(|file| read_intents(file, "label").map(drop))?;
    let mut params = arguments.train.params(&corpus, arguments.threads)?;
    params.anchors = anchors(arguments.anchors, &corpus);
    let (split, mut about) = split(&corpus, &arguments.split, arguments.train.seed)?;
    let view = View::new(&corpus, &split, params.train.min_count)?;
    let asked = Asked::new(&view, &split, arguments.every as usize)?;
    merge(&mut about, split_json(&view, &split, &asked));
    let settings = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "corpus": {"fingerprint": corpus.manifest().fingerprint, "source": corpus.manifest().source},
        "split": about,
        "every": arguments.every,
        "parameters": params.train.to_json(),
        "reference_epochs": params.reference_epochs,
        "text_epochs": params.text_epochs,
        "labels": arguments.labels,
        "label_prefix": arguments.label_prefix,
        "min_class": arguments.min_class,
        "class_sample": arguments.class_sample,
        "class_methods": arguments.class_methods,
        "criteria_docs": arguments.criteria_docs,
        "intents": arguments.intents,
    });
    for part in ["cells", "runs"] {
        let part = folder.join(part);
        std::fs::create_dir_all(&part).with_context(|| format!("cannot create {}", part.display()))?;
        clear(&part)?;
    }
    match read_json(&folder.join("settings.json"))? {
        Some(before) => ensure!(
            before == settings,
            "{}: was begun with another corpus, version or options; give the same, or choose another folder",
            folder.display()
        ),
        None => write_json(&folder.join("settings.json"), &settings)?,
    }
    stop_on_interrupt();
    let run = Run { arguments, corpus: &corpus, split: &split, view: &view, asked: &asked, params: &params };
    let report = run.report(&methods, settings, paper).map_err(|error| match error.downcast_ref() {
        Some(Error::Interrupted) => {
            anyhow!("interrupted; give the same command again to go on ({} holds what is done)", folder.display())
        }
        _ => error,
    })?;
    write_json(&folder.join("report.json"), &report)?;
    write(&folder.join("report.html"), &html::page(&report))?;
    print(&format!("{}\n", folder.join("report.html").display()))
}

impl Run<'_> {
    fn report(&self, methods: &[LinkMethod], settings: Value, paper: Value) -> Result<Value> {
        let (arguments, seed) = (self.arguments, self.arguments.train.seed);
        let files = arguments.intents.len();
        // Links, each file of intents, functions where there is one, the map, classes, criteria.
        let total = 1 + files + usize::from(files > 0) + 3;
        let parts = Parts { folder: &arguments.output, begun: std::cell::Cell::new(0), total };
        talk(format_args!("{} links …", parts.next()));
        let cells = self.links(methods)?;
        // Trained once, where a part that needs it is not done.
        let mut trained: Option<(Tables, TrainParams)> = None;
        let mut intents = Vec::new();
        let mut functions = None;
        for (number, file) in arguments.intents.iter().enumerate() {
            let found = parts.cell(&format!("intents-{}", number + 1), || {
                let (tables, train) = self.vectors(&mut trained)?;
                let labelled = read_intents(file, "label")?;
                let contexts = Contexts::of_table(&labelled, self.view, &tables.input, train.dim, file)?;
                Ok(contexts.evaluate(10, &SvmParams::default(), seed, &mut |_| stopped())?)
            })?;
            intents.push(json!({"file": file, "value": found["value"], "seconds": found["seconds"]}));
            if number == 0 {
                functions = Some(parts.cell("functions", || {
                    let (tables, train) = self.vectors(&mut trained)?;
                    let labelled = read_intents(file, "label")?;
                    let contexts = Contexts::of_table(&labelled, self.view, &tables.input, train.dim, file)?;
                    let (svm, window) = (SvmParams::default(), train.window);
                    let anchors = self.params.anchors[0];
                    let found = contexts.functions(self.view, &tables.input, self.asked, window, anchors, &svm);
                    Ok(json!({"names": contexts.names, "numbers": found}))
                })?);
            }
        }
        let map = parts.cell("map", || {
            let (tables, train) = self.vectors(&mut trained)?;
            Ok(map(self.view, &tables.input, train.dim, &arguments.label_prefix, &mut stopped)?)
        })?;
        drop(trained);
        let classes = parts.cell("classes", || self.classes())?;
        let criteria = parts.cell("criteria", || {
            if arguments.criteria_docs == 0 {
                return Ok(json!({"left_out": "--criteria-docs is 0"}));
            }
            let params = CriteriaParams { docs: arguments.criteria_docs, seed, threads: arguments.threads };
            probe(&PROBED.map(|(method, _)| method), &params)
        })?;
        let (names, numbers): (Vec<String>, Vec<u32>) = match &functions {
            Some(found) => (
                serde_json::from_value(found["value"]["names"].clone())?,
                serde_json::from_value(found["value"]["numbers"].clone())?,
            ),
            None => Default::default(),
        };
        let functions = (numbers.len() == self.asked.queries.len()).then_some((names.as_slice(), numbers.as_slice()));
        let mut links = Vec::new();
        for &anchors in &self.params.anchors {
            let cells = in_order(methods, &cells, anchors);
            links.push(json!({
                "anchors": if anchors { "keep" } else { "drop" },
                "methods": methods_json(self.view, self.split, self.asked, &cells, Profile::Paper, functions, seed),
                "comparisons": comparisons_json(self.view, self.split, self.asked, &cells, seed),
            }));
        }
        let kept = in_order(methods, &cells, self.params.anchors[0]);
        Ok(json!({
            "command": commands::given(std::env::args()),
            "commands": commands::parts(self.arguments, methods, &self.params.anchors),
            "paper": paper,
            "settings": settings,
            "seed": seed,
            "links": links,
            "example": self.example(&kept),
            "classes": classes,
            "intents": intents,
            "criteria": criteria,
            "map": map,
        }))
    }

    /// The places of the truths, method by method: from the folder, or computed.
    fn links(&self, methods: &[LinkMethod]) -> Result<Vec<Cell>> {
        let folder = &self.arguments.output;
        let name =
            |method: &str, anchors: bool| if anchors { method.to_owned() } else { format!("{method}.no-anchors") };
        let path =
            |method: &str, anchors: bool| folder.join("cells").join(format!("links-{}.json", name(method, anchors)));
        let mut cells: Vec<Cell> = Vec::new();
        let mut missing: Vec<LinkMethod> = Vec::new();
        for method in methods {
            let mut all = true;
            for &anchors in &self.params.anchors {
                match read_json(&path(method.name, anchors))? {
                    Some(value) => {
                        let cell: Cell = serde_json::from_value(value)?;
                        let fits = cell.places.len() == self.asked.truths.len();
                        ensure!(fits, "{}: of another split; remove it", path(method.name, anchors).display());
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
        if missing.is_empty() {
            talk("links: done before");
            return Ok(cells);
        }
        self.asked.write_qrels(self.view, &folder.join("runs").join("qrels"))?;
        let run_path =
            |method: &str, anchors: bool| Some(folder.join("runs").join(format!("{}.run", name(method, anchors))));
        let reporter = EvaluateReporter::new(missing.len() * self.params.anchors.len());
        let made = Mutex::new(Vec::<Cell>::new());
        let done = |cell: &Cell| {
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
        let watch = |doing: &Doing<'_>| reporter.watch(doing);
        let result =
            run_links(self.view, self.asked, &missing, self.params, &tempfile_folder(), &run_path, &done, &watch);
        reporter.finish();
        if let Err(Error::Interrupted) = result {
            anyhow::bail!(
                "interrupted; give the same command again to go on ({} holds what is done)",
                folder.display()
            );
        }
        result?;
        cells.extend(made.into_inner().unwrap_or_default());
        Ok(cells)
    }

    /// The default model of the training part.
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

    /// Documents classified, or why they cannot be.
    fn classes(&self) -> Result<Value> {
        let arguments = self.arguments;
        let sample = Some(arguments.class_sample);
        let found = labelled(
            self.corpus,
            arguments.labels.as_ref(),
            &arguments.label_prefix,
            arguments.min_class,
            sample,
            arguments.train.seed,
        );
        let whole = Split::none(self.corpus);
        let view = View::new(self.corpus, &whole, self.params.train.min_count)?;
        let params = ClassesParams { links: self.params.clone(), folds: 5, svm: SvmParams::default() };
        let methods = train_methods(arguments.class_methods.as_deref(), &DEFAULTS)?;
        let result = match found {
            Ok(labelled) => run_classes(&view, &labelled, &methods, &params, &teller()).map_err(anyhow::Error::from),
            Err(error) => Err(error),
        };
        match result {
            // Not every corpus has classes; the rest of the report stands without.
            Err(error) if matches!(error.downcast_ref(), Some(Error::Input { .. } | Error::Usage(_))) => {
                Ok(json!({"left_out": error.to_string()}))
            }
            result => result,
        }
    }

    /// A test position that links to the example's documents, its text, and where its truths rank under each method.
    fn example(&self, cells: &[Cell]) -> Value {
        let wanted: Vec<_> = self.arguments.example.split(',').filter_map(|id| self.corpus.find(id.trim())).collect();
        let hits =
            |number: usize| self.asked.queries[number].truths.iter().filter(|truth| wanted.contains(truth)).count();
        // What the paper's example talks of; the more of it, the better.
        let said: Vec<_> =
            ["bleu", "moses", "translation", "score"].iter().filter_map(|w| self.corpus.find_word(w)).collect();
        let told = |number: usize| {
            let position = self.corpus.position(self.asked.queries[number].position);
            let (before, after) = self.corpus.context(&position, 15);
            said.iter().filter(|word| before.contains(word) || after.contains(word)).count()
        };
        let best = (0..self.asked.queries.len()).max_by_key(|&number| {
            (hits(number), told(number), self.asked.queries[number].truths.len().min(3), std::cmp::Reverse(number))
        });
        let Some(number) = best else { return Value::Null };
        let position = self.corpus.position(self.asked.queries[number].position);
        let (before, after) = self.corpus.context(&position, 40);
        let text = |words: &[hyperdoc2vec::WordId]| {
            words.iter().map(|&word| self.corpus.word(word)).collect::<Vec<&str>>().join(" ")
        };
        let range = self.asked.ranges().nth(number).unwrap_or(0..0);
        let query = &self.asked.queries[number];
        let truths: Vec<Value> = query
            .truths
            .iter()
            .map(|&truth| json!({"id": self.corpus.name(truth), "title": self.corpus.title(truth)}))
            .collect();
        let places: Vec<Value> =
            cells.iter().map(|cell| json!({"method": cell.method, "places": cell.places[range.clone()]})).collect();
        json!({
            "source": self.corpus.name(position.source),
            "is_of_the_paper": hits(number) > 0,
            "before": text(before),
            "after": text(after),
            "truths": truths,
            "places": places,
        })
    }
}
