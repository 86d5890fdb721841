//! Classification of documents by their vectors: the paper's Tables 4 and 5.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

use super::classify::{comparison, cross_validate, figures};
use super::folds::{by_size, stratified};
use super::links::{LinksParams, train_params};
use super::methods::Trains;
use super::svm::{SvmParams, fit_seconds};
use crate::corpus::Corpus;
use crate::corpus::view::View;
use crate::error::{Error, Result};
use crate::id::DocId;
use crate::import::source;
use crate::kernel::Matrix;
use crate::model::Vectors;
use crate::model::params::{Method, TrainParams};
use crate::model::tables::{Table, Tables};
use crate::rng::Rng;
use crate::threads::pool;
use crate::train::{TrainProgress, train_tables};

const PURPOSE: u64 = 0xc1a5;

/// Documents with one class each.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct LabelledDocuments {
    /// The documents.
    pub documents: Vec<DocId>,
    /// The class of each.
    pub classes: Vec<u32>,
    /// The names of the classes.
    pub names: Vec<String>,
    /// Documents left out because they have several of the labels.
    pub several: usize,
    /// Lines of a file whose document is not in the corpus.
    pub unknown: usize,
    /// Classes left out because they are too small, and how many members they had.
    pub small: Vec<(String, usize)>,
}

impl LabelledDocuments {
    fn new(pairs: BTreeMap<DocId, Vec<String>>) -> LabelledDocuments {
        let mut labelled = LabelledDocuments::default();
        let single = |labels: &Vec<String>| labels.len() == 1;
        labelled.several = pairs.values().filter(|labels| !single(labels)).count();
        labelled.names = pairs.values().filter(|labels| single(labels)).flatten().cloned().collect();
        labelled.names.sort();
        labelled.names.dedup();
        for (doc, labels) in pairs.iter().filter(|(_, labels)| single(labels)) {
            labelled.documents.push(*doc);
            labelled.classes.push(labelled.names.partition_point(|name| *name < labels[0]) as u32);
        }
        labelled
    }

    /// From the labels of the corpus that begin with `prefix`.
    pub fn of_corpus(corpus: &Corpus, prefix: &str) -> Result<LabelledDocuments> {
        let mut pairs = BTreeMap::new();
        for doc in corpus.documents() {
            let labels: Vec<String> = corpus.labels(doc).filter(|l| l.starts_with(prefix)).map(str::to_owned).collect();
            if !labels.is_empty() {
                pairs.insert(doc, labels);
            }
        }
        if pairs.is_empty() {
            let what = match prefix {
                "" => "its documents have no labels; give them in a file".to_owned(),
                prefix => format!("no label begins with {prefix:?}"),
            };
            return Err(Error::input(corpus.path().display().to_string(), what));
        }
        Ok(LabelledDocuments::new(pairs))
    }

    /// From a file: an object with `id` and `label` a line, or an id, a tab and a label.
    pub fn of_file(corpus: &Corpus, path: &Path) -> Result<LabelledDocuments> {
        #[derive(Deserialize)]
        struct LabelLine {
            id: String,
            label: String,
        }
        let (mut pairs, mut unknown) = (BTreeMap::<DocId, Vec<String>>::new(), 0);
        for (number, line) in source::open(path, Arc::default())?.lines().enumerate() {
            let line = line.map_err(Error::io("read", path))?;
            let wrong = |what: String| Error::input(format!("{}:{}", path.display(), number + 1), what);
            let LabelLine { id, label } = if line.starts_with('{') {
                serde_json::from_str(&line).map_err(|e| wrong(format!("expected \"id\" and \"label\": {e}")))?
            } else if line.trim().is_empty() {
                continue;
            } else {
                let two = line.split_once('\t').ok_or_else(|| wrong("expected an id, a tab and a label".to_owned()))?;
                LabelLine { id: two.0.to_owned(), label: two.1.trim().to_owned() }
            };
            match corpus.find(&id) {
                Some(doc) => {
                    let labels = pairs.entry(doc).or_default();
                    if !labels.contains(&label) {
                        labels.push(label);
                    }
                }
                None => unknown += 1,
            }
        }
        if pairs.is_empty() {
            let what = match unknown {
                0 => "no labels found; expected an id, a tab and a label a line".to_owned(),
                _ => format!("none of its {unknown} ids is a document of the corpus"),
            };
            return Err(Error::input(path.display().to_string(), what));
        }
        Ok(LabelledDocuments { unknown, ..LabelledDocuments::new(pairs) })
    }

    /// Only documents that `keep`.
    pub fn filtered(&self, keep: impl Fn(DocId) -> bool) -> LabelledDocuments {
        let mut left = LabelledDocuments { documents: Vec::new(), classes: Vec::new(), ..self.clone() };
        for (&doc, &class) in self.documents.iter().zip(&self.classes).filter(|(doc, _)| keep(**doc)) {
            left.documents.push(doc);
            left.classes.push(class);
        }
        left
    }

    /// Only classes of `least` members or more, numbered anew.
    pub fn without_small(&self, least: usize) -> LabelledDocuments {
        let (kept, gone) = by_size(&self.classes, self.names.len(), least);
        let number = |class: u32| kept.binary_search(&(class as usize)).ok();
        let (mut documents, mut classes) = (Vec::new(), Vec::new());
        for (&doc, &class) in self.documents.iter().zip(&self.classes) {
            if let Some(class) = number(class) {
                documents.push(doc);
                classes.push(class as u32);
            }
        }
        let names = kept.iter().map(|&class| self.names[class].clone()).collect();
        let gone = gone.into_iter().map(|(class, members)| (self.names[class].clone(), members));
        let small = self.small.iter().cloned().chain(gone);
        LabelledDocuments { documents, classes, names, small: small.collect(), ..self.clone() }
    }

    /// Tells whether the same documents have the same classes.
    pub fn fingerprint(&self) -> String {
        let names = self.names.join("\n");
        let documents: Vec<u32> = self.documents.iter().map(|doc| doc.0).collect();
        let parts = [names.as_bytes(), bytemuck::cast_slice(&documents), bytemuck::cast_slice(&self.classes)];
        format!("{:032x}", xxh3_128(&parts.concat()))
    }

    /// Deals the documents out to folds.
    pub fn deal(&self, folds: usize, seed: u64) -> Result<Vec<u32>> {
        let advice = match (self.several, self.small.len()) {
            (0, 0) => "give other classes".to_owned(),
            (0, small) => format!("{small} classes are smaller than the least size asked for"),
            (several, _) => format!(
                "{several} documents have several labels and were left out: choose among the labels by a prefix, \
                 or give one a document"
            ),
        };
        stratified(&self.classes, &self.names, folds, seed, &advice)
    }

    /// The documents left out, in words: nothing, or one sentence for each reason.
    pub fn losses(&self) -> Vec<String> {
        let documents = |count: usize| if count == 1 { "1 document".to_owned() } else { format!("{count} documents") };
        let mut losses = Vec::new();
        if self.several > 0 {
            losses.push(format!("{} left out: several labels", documents(self.several)));
        }
        if self.unknown > 0 {
            losses.push(format!("{} of the file not found in the corpus", documents(self.unknown)));
        }
        if !self.small.is_empty() {
            let all: usize = self.small.iter().map(|(_, members)| members).sum();
            let names: Vec<String> = self.small.iter().take(5).map(|(name, _)| format!("{name:?}")).collect();
            let more = self.small.len().saturating_sub(names.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            losses.push(format!("{} left out: classes too small ({}{more})", documents(all), names.join(", ")));
        }
        losses
    }

    /// At most `most` documents, drawn by the seed.
    pub fn sampled(&self, most: usize, seed: u64) -> LabelledDocuments {
        let mut order: Vec<usize> = (0..self.documents.len()).collect();
        Rng::keyed(seed, &[PURPOSE]).shuffle(&mut order);
        order.truncate(most);
        order.sort_unstable();
        let documents = order.iter().map(|&item| self.documents[item]).collect();
        LabelledDocuments { documents, classes: order.iter().map(|&item| self.classes[item]).collect(), ..self.clone() }
    }
}

/// How documents are classified.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClassesParams {
    /// How models are trained; see [`train_params`].
    pub links: LinksParams,
    /// Folds.
    pub folds: usize,
    /// The machines; each classifies the same vectors.
    pub machines: Vec<SvmParams>,
}

impl ClassesParams {
    /// Five folds, as in the paper, and the default machine.
    pub fn new(links: LinksParams) -> ClassesParams {
        ClassesParams { links, folds: 5, machines: vec![SvmParams::default()] }
    }
}

/// The methods whose vectors are compared by default.
pub const DEFAULTS: [Method; 6] =
    [Method::DeepWalk, Method::W2v, Method::D2vNc, Method::D2vCac, Method::HyperDocPaper, Method::HyperDoc];

/// The vectors of all documents, a row each.
#[derive(Debug, Clone)]
pub(crate) struct Features {
    /// The method and which vectors.
    pub name: String,
    /// Numbers in a row.
    pub dim: usize,
    /// The rows.
    pub rows: Vec<f32>,
}

impl Features {
    fn of(table: &Table, dim: usize, name: String) -> Features {
        let documents = table.documents();
        let rows = (0..documents.rows()).flat_map(|row| &documents.row(row)[..dim]).copied().collect();
        Features { name, dim, rows }
    }

    /// Both side by side.
    fn beside(&self, other: &Features, name: String) -> Features {
        let mut rows = Vec::with_capacity(self.rows.len() + other.rows.len());
        for (a, b) in self.rows.chunks(self.dim).zip(other.rows.chunks(other.dim)) {
            rows.extend_from_slice(a);
            rows.extend_from_slice(b);
        }
        Features { name, dim: self.dim + other.dim, rows }
    }
}

/// The IN and OUT vectors of documents, as far as a method learns them, and both.
pub(crate) fn features(tables: &Tables, params: &TrainParams) -> Vec<Features> {
    let method = params.method;
    let mut all = Vec::new();
    if method.learns(Vectors::DocIn) {
        all.push(Features::of(&tables.input, params.dim, format!("{method} IN")));
    }
    if method.learns(Vectors::DocOut) {
        all.push(Features::of(&tables.output, params.dim, format!("{method} OUT")));
    }
    if let [a, b] = all.as_slice() {
        let both = a.beside(b, format!("{method} IN+OUT"));
        all.push(both);
    }
    all
}

/// About how many CPU seconds the machines of a classification take; that of the documents that links point at counts as
/// much as that of all.
pub fn class_seconds(labelled: &LabelledDocuments, methods: &[Method], params: &ClassesParams) -> f64 {
    let walks = if methods.contains(&Method::DeepWalk) { Method::DeepWalk.default_dim() } else { 0 };
    let sets = methods.iter().flat_map(|method| {
        let dim = if method.knows_words() { params.links.train.dim } else { method.default_dim() };
        let single = [Vectors::DocIn, Vectors::DocOut].into_iter().filter(|&which| method.learns(which)).count();
        let both = (single == 2).then_some(2 * dim);
        let alone: Vec<usize> = std::iter::repeat_n(dim, single).chain(both).collect();
        let joined: Vec<usize> =
            alone.iter().filter(|_| method.knows_words() && walks > 0).map(|dim| dim + walks).collect();
        alone.into_iter().chain(joined)
    });
    let fits = 2 * params.folds * params.machines.len();
    fits as f64 * sets.map(|dim| fit_seconds(labelled.documents.len(), dim)).sum::<f64>()
}

/// A step of a classification.
#[derive(Debug)]
#[non_exhaustive]
pub enum Classifying<'a> {
    /// A model is trained.
    Training(&'a str, &'a TrainProgress),
    /// Features are classified; so many folds are done, of so many in all.
    Folds(&'a str, usize, usize),
}

/// Sees each step, from several threads; may stop the work.
pub(crate) type ClassesWatch<'a> = &'a (dyn Fn(&Classifying<'_>) -> ControlFlow<()> + Sync);

/// One of the two tables: whom it is of, and how they are dealt out or why they cannot be.
struct ClassTable {
    name: &'static str,
    labelled: LabelledDocuments,
    folds: std::result::Result<Vec<u32>, String>,
}

/// All documents, and those that a link points at. Of these, classes of fewer members than folds are left out, and there
/// may be too few of them; where that is so of all, it is an error.
fn parts(view: &View<'_>, labelled: &LabelledDocuments, params: &ClassesParams) -> Result<[ClassTable; 2]> {
    let seed = params.links.train.seed;
    let mut linked = vec![false; view.corpus.len()];
    view.links.iter().for_each(|link| linked[view.documents[link.target.index()].index()] = true);
    let folds = labelled.deal(params.folds, seed)?;
    let linked = labelled.filtered(|doc| linked[doc.index()]).without_small(params.folds);
    let linked_folds = linked.deal(params.folds, seed).map_err(|error| error.to_string());
    Ok([
        ClassTable { name: "all", labelled: labelled.clone(), folds: Ok(folds) },
        ClassTable { name: "linked", labelled: linked, folds: linked_folds },
    ])
}

/// Refuses what [`run`] would refuse, before anything is trained.
pub fn check(view: &View<'_>, labelled: &LabelledDocuments, methods: &[Method], params: &ClassesParams) -> Result<()> {
    if view.links.is_empty()
        && let Some(method) = methods.iter().find(|method| method.needs_links())
    {
        let what = format!("{method} learns from links, and there is none; compare d2v-nc and pv-dbow");
        return Err(Error::input(view.corpus.path().display().to_string(), what));
    }
    parts(view, labelled, params).map(drop)
}

/// Trains each method on all documents, and classifies `labelled` by its vectors, alone and beside those of DeepWalk: all
/// of them, and only those that a link points at. The result has a JSON object `all`, `linked` for each machine.
pub fn run(
    view: &View<'_>,
    labelled: &LabelledDocuments,
    methods: &[Method],
    params: &ClassesParams,
    watch: ClassesWatch<'_>,
) -> Result<Vec<Value>> {
    pool(params.links.threads)?.install(|| run_here(view, labelled, methods, params, watch))
}

/// On the threads of the current pool.
fn run_here(
    view: &View<'_>,
    labelled: &LabelledDocuments,
    methods: &[Method],
    params: &ClassesParams,
    watch: ClassesWatch<'_>,
) -> Result<Vec<Value>> {
    let train = |method: Method| -> Result<Vec<Features>> {
        let mut train = train_params(Trains::Model(method), &params.links);
        // Walks have as many dimensions as their authors gave them, whatever the others have.
        if !method.knows_words() {
            train.dim = method.default_dim();
        }
        let tables =
            train_tables(view, &train, &mut |progress| watch(&Classifying::Training(method.name(), progress)))?;
        Ok(features(&tables, &train))
    };
    check(view, labelled, methods, params)?;
    let parts = parts(view, labelled, params)?;
    // Those that learn on one thread side by side, then the others one after the other.
    let (serial, parallel): (Vec<Method>, Vec<Method>) = methods.iter().partition(|method| method.is_serial());
    let mut trained: Vec<(Method, Vec<Features>)> =
        serial.par_iter().with_max_len(1).map(|&method| Ok((method, train(method)?))).collect::<Result<_>>()?;
    for method in parallel {
        trained.push((method, train(method)?));
    }
    let of =
        |method: Method| trained.iter().find(|(other, _)| *other == method).map(|(_, features)| features.as_slice());
    let walks = of(Method::DeepWalk).and_then(|features| features.last());
    let mut sets: Vec<Features> = walks.into_iter().cloned().collect();
    for &method in methods.iter().filter(|method| method.knows_words()) {
        for features in of(method).unwrap_or_default() {
            let joined = walks.map(|walks| features.beside(walks, format!("{} + deepwalk", features.name)));
            sets.push(features.clone());
            sets.extend(joined);
        }
    }
    let total =
        parts.iter().filter(|part| part.folds.is_ok()).count() * sets.len() * params.folds * params.machines.len();
    let mut done = 0;
    let mut after_fold = |features: &str| {
        done += 1;
        watch(&Classifying::Folds(features, done, total))
    };
    let data = ClassData { view, parts: &parts, sets: &sets, seed: params.links.train.seed };
    params.machines.iter().map(|machine| classify(&data, machine, &mut after_fold)).collect()
}

/// Classes and what they are to be told by.
struct ClassData<'a> {
    view: &'a View<'a>,
    parts: &'a [ClassTable],
    sets: &'a [Features],
    seed: u64,
}

/// The figures of each set of features with one machine.
fn classify(
    &ClassData { view, parts, sets, seed }: &ClassData<'_>,
    machine: &SvmParams,
    after_fold: &mut dyn FnMut(&str) -> ControlFlow<()>,
) -> Result<Value> {
    let mut report = serde_json::Map::new();
    for ClassTable { name, labelled: part, folds } in parts {
        let folds = match folds {
            Ok(folds) => folds,
            Err(what) => {
                report.insert((*name).to_owned(), json!({"left_out": what}));
                continue;
            }
        };
        let mut found: Vec<(Value, Vec<u32>)> = Vec::new();
        for set in sets {
            let row = |doc: &DocId| view.document_row(*doc).map_or(0, |row| row.index());
            let data: Vec<f32> =
                part.documents.iter().flat_map(|doc| &set.rows[row(doc) * set.dim..][..set.dim]).copied().collect();
            let data = Matrix::new(&data, part.documents.len(), set.dim, set.dim);
            let mut watch = |_| after_fold(&set.name);
            let predictions = cross_validate(data, &part.classes, folds, machine, &mut watch)?;
            let mut value = figures(&part.classes, &predictions, &part.names, seed);
            if let Some(value) = value.as_object_mut() {
                value.insert("features".to_owned(), json!(set.name));
            }
            found.push((value, predictions));
        }
        let best = (0..found.len()).max_by(|&a, &b| {
            let micro = |i: usize| found[i].0["micro_f1"].as_f64().unwrap_or(0.0);
            micro(a).total_cmp(&micro(b)).then(b.cmp(&a))
        });
        if let Some(best) = best {
            let (winner, right) = (found[best].0["features"].clone(), found[best].1.clone());
            for (number, (value, predictions)) in found.iter_mut().enumerate() {
                if let (Some(value), true) = (value.as_object_mut(), number != best) {
                    let mut compared = comparison(&part.classes, predictions, &right, seed);
                    compared["with"] = winner.clone();
                    value.insert("compared".to_owned(), compared);
                }
            }
        }
        let members = |class: usize| part.classes.iter().filter(|&&other| other as usize == class).count();
        let classes: Vec<Value> = part
            .names
            .iter()
            .enumerate()
            .map(|(class, name)| json!({"name": name, "members": members(class)}))
            .collect();
        let features: Vec<Value> = found.into_iter().map(|(value, _)| value).collect();
        let documents = part.documents.len();
        report.insert(
            (*name).to_owned(),
            json!({"documents": documents, "classes": classes, "losses": part.losses(), "features": features}),
        );
    }
    Ok(Value::Object(report))
}
