//! Citation functions: why a link is made, predicted from the mean IN vector of the words around it.

use std::io::BufRead;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

use super::classes::{ClassesWatch, Classifying};
use super::classify::{cross_validate, figures};
use super::folds::{by_size, stratified};
use super::links::{HeldOutLinks, LinksParams, train_params};
use super::methods::Trains;
use super::metrics::f1;
use super::rankers::LinkQuestions;
use super::scheme::grouped;
use super::svm::{Gamma, Svm, SvmParams, fit_seconds};
use crate::corpus::view::View;
use crate::document::markup;
use crate::document::tokenize::Tokenizer;
use crate::error::{Error, Result};
use crate::id::WordRow;
use crate::import::source;
use crate::kernel::{Matrix, gather_sum};
use crate::model::params::{Method, TrainParams};
use crate::model::tables::Table;
use crate::model::{Model, Vectors};
use crate::threads::pool;
use crate::train::train_tables;

/// A labelled context.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LabelledContext {
    /// The text around the link; the link itself is left out.
    pub text: String,
    /// The purpose of the link.
    pub label: String,
}

/// Reads contexts, a JSON object a line; the label is the field called `field`.
pub fn read(path: &Path, field: &str) -> Result<Vec<LabelledContext>> {
    let mut all = Vec::new();
    for (number, line) in source::open(path, Arc::default())?.lines().enumerate() {
        let line = line.map_err(Error::io("read", path))?;
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |what: String| Error::input(format!("{}:{}", path.display(), number + 1), what);
        let record: Value = serde_json::from_str(&line).map_err(|e| wrong(format!("not a JSON record: {e}")))?;
        let get = |name: &str| {
            let text = record[name].as_str().map(str::to_owned);
            text.ok_or_else(|| wrong(format!("expected an object with \"context\" and {field:?}, found no {name:?}")))
        };
        all.push(LabelledContext { text: markup::parse(&get("context")?).text, label: get(field)? });
    }
    if all.is_empty() {
        return Err(Error::input(path.display().to_string(), "no labelled contexts found"));
    }
    Ok(all)
}

/// The costs of an error among which one is chosen where none is given.
pub const COSTS: [f64; 3] = [1.0, 10.0, 100.0];
/// Folds of that choice.
pub const CHOICE_FOLDS: usize = 5;

/// The methods whose word vectors classify contexts in the paper's Figure 4, and the default.
pub const INTENT_METHODS: [Method; 4] = [Method::W2v, Method::D2vCacDm, Method::HyperDocPaper, Method::HyperDoc];

/// Labelled contexts as known words.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ContextWords {
    rows: Vec<Vec<WordRow>>,
    classes: Vec<u32>,
    names: Vec<String>,
    /// Contexts left out because none of their words has a vector.
    pub unknown: usize,
    /// Classes left out because they are too small, and how many contexts they had.
    pub small: Vec<(String, usize)>,
}

impl ContextWords {
    /// Reads contexts word by word; `row` finds a word's row.
    fn new(
        labelled: &[LabelledContext],
        tokenizer: &Tokenizer,
        row: impl Fn(&str) -> Option<WordRow>,
        place: &Path,
    ) -> Result<ContextWords> {
        let mut names: Vec<String> = labelled.iter().map(|one| one.label.clone()).collect();
        names.sort();
        names.dedup();
        let mut words = ContextWords { rows: Vec::new(), classes: Vec::new(), names, unknown: 0, small: Vec::new() };
        for LabelledContext { text, label } in labelled {
            let mut known = Vec::new();
            tokenizer.words(text, |word| known.extend(row(word)));
            if known.is_empty() {
                words.unknown += 1;
                continue;
            }
            words.rows.push(known);
            words.classes.push(words.names.partition_point(|name| name < label) as u32);
        }
        if words.classes.is_empty() {
            let what = "the model knows no word of these contexts; are they in the language that it was trained on?";
            return Err(Error::input(place.display().to_string(), what));
        }
        Ok(words)
    }

    /// About how many CPU seconds it takes to fit so many machines to vectors of so many dimensions.
    pub fn fit_seconds(&self, machines: usize, dim: usize) -> f64 {
        machines as f64 * fit_seconds(self.classes.len(), dim)
    }

    /// By the words of a model.
    pub fn of_model(labelled: &[LabelledContext], model: &Model, place: &Path) -> Result<ContextWords> {
        let method = model.params().method;
        if !method.learns(Vectors::WordIn) {
            let what = format!(
                "{method} learns no IN vectors of words, by which contexts are classified; train h-d2v, for example"
            );
            return Err(Error::input(model.path().display().to_string(), what));
        }
        let lowercase = model.about()["corpus"]["options"]["lowercase"].as_bool().unwrap_or(true);
        let vocabulary = model.vocabulary();
        let known = |word: &str| {
            let row = model.terms().find(word).filter(|&row| row < vocabulary.ends.len());
            row.map(|row| WordRow(row as u32))
        };
        ContextWords::new(labelled, &Tokenizer::new(lowercase), known, place)
    }

    /// By the words that a training run knows.
    pub fn of_view(labelled: &[LabelledContext], view: &View<'_>, place: &Path) -> Result<ContextWords> {
        let lowercase = view.corpus.manifest().options.lowercase;
        let known = |word: &str| view.corpus.find_word(word).and_then(|word| view.word_row(word));
        ContextWords::new(labelled, &Tokenizer::new(lowercase), known, place)
    }

    /// Only classes of `least` contexts or more.
    pub fn without_small(mut self, least: usize) -> ContextWords {
        let (kept, gone) = by_size(&self.classes, self.names.len(), least);
        self.small.extend(gone.into_iter().map(|(class, members)| (self.names[class].clone(), members)));
        let number = |class: u32| kept.binary_search(&(class as usize)).ok().map(|class| class as u32);
        let all = std::mem::take(&mut self.rows).into_iter().zip(std::mem::take(&mut self.classes));
        (self.rows, self.classes) = all.filter_map(|(row, class)| Some((row, number(class)?))).unzip();
        self.names = kept.iter().map(|&class| self.names[class].clone()).collect();
        self
    }

    /// Tells whether two sets of contexts are the same.
    pub fn fingerprint(&self) -> String {
        let names = self.names.join("\n");
        let rows: Vec<u32> = self.rows.iter().flat_map(|row| row.iter().map(|word| word.0).chain([u32::MAX])).collect();
        let parts = [names.as_bytes(), bytemuck::cast_slice(&self.classes), bytemuck::cast_slice(&rows)];
        format!("{:032x}", xxh3_128(&parts.concat()))
    }

    /// Deals the contexts out to folds: an error where they cannot be.
    pub fn deal(&self, folds: usize, seed: u64) -> Result<Vec<u32>> {
        let advice = "label more contexts, or name another field";
        stratified(&self.classes, &self.names, folds, seed, advice)
    }

    /// Their vectors by those of the words.
    pub fn vectors(&self, words: Matrix<'_>) -> IntentContexts {
        let dim = words.cols();
        let mut rows = vec![0.0; dim * self.rows.len()];
        for (known, mean) in self.rows.iter().zip(rows.chunks_mut(dim)) {
            gather_sum(words, WordRow::numbers(known), &vec![1.0 / known.len() as f32; known.len()], mean);
        }
        IntentContexts { dim, rows, words: self.clone() }
    }

    /// Their vectors by the IN vectors of a training run.
    pub fn vectors_of(&self, table: &Table, dim: usize) -> IntentContexts {
        self.vectors(table.words().col_range(0..dim))
    }
}

/// Contexts as vectors.
#[derive(Debug, Clone)]
pub struct IntentContexts {
    /// Numbers in a vector.
    dim: usize,
    /// The mean IN vectors of the contexts, one after the other.
    rows: Vec<f32>,
    words: ContextWords,
}

/// The functions of links, as a machine predicts them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Functions {
    /// The names of the functions.
    pub names: Vec<String>,
    /// The function of each question.
    pub numbers: Vec<u32>,
    /// The cost of an error to the machine.
    pub c: f64,
}

/// How the functions of links are predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FunctionParams {
    /// Words on each side of a link that count.
    pub window: usize,
    /// Whether the links' own words count.
    pub anchors: bool,
    /// The cost of an error; where none is given, it is chosen on the labelled contexts, which have no part in the
    /// questions.
    pub c: Option<f64>,
    /// The seed of that choice.
    pub seed: u64,
}

impl FunctionParams {
    /// With the window and the seed that the vectors were trained with.
    pub fn of(train: &TrainParams) -> FunctionParams {
        FunctionParams { window: train.window, anchors: true, c: None, seed: train.seed }
    }
}

impl IntentContexts {
    fn matrix(&self) -> Matrix<'_> {
        Matrix::new(&self.rows, self.words.classes.len(), self.dim, self.dim)
    }

    /// F1 by cross-validation.
    pub fn evaluate(
        &self,
        folds: usize,
        svm: &SvmParams,
        seed: u64,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Value> {
        let dealt = self.words.deal(folds, seed)?;
        let predictions = cross_validate(self.matrix(), &self.words.classes, &dealt, svm, watch)?;
        let mut value = figures(&self.words.classes, &predictions, &self.words.names, seed);
        value["contexts"] = json!(self.words.classes.len());
        value["without_known_words"] = json!(self.words.unknown);
        value["folds"] = json!(folds);
        value["c"] = json!(svm.c);
        value["gamma"] = json!(svm.gamma.to_string());
        if !self.words.small.is_empty() {
            value["small_classes"] = json!(self.words.small);
        }
        if let Some((names, numbers)) = grouped(&self.words.names) {
            let group = |classes: &[u32]| classes.iter().map(|&class| numbers[class as usize]).collect::<Vec<u32>>();
            let (truths, predictions) = (group(&self.words.classes), group(&predictions));
            value["groups"] = figures(&truths, &predictions, &names, seed);
        }
        Ok(value)
    }

    /// The cost of an error that classifies these contexts best with `gamma`, by macro F1; the lower one where two are
    /// equal.
    pub fn best_cost(&self, gamma: Gamma, seed: u64, watch: &mut dyn FnMut(usize) -> ControlFlow<()>) -> Result<f64> {
        let dealt = self.words.deal(CHOICE_FOLDS, seed)?;
        let classes = &self.words.classes;
        let mut best = (COSTS[0], 0.0);
        for (number, c) in COSTS.into_iter().enumerate() {
            let svm = SvmParams { c, gamma, ..SvmParams::default() };
            let mut after_fold = |fold| watch(number * CHOICE_FOLDS + fold);
            let found = cross_validate(self.matrix(), classes, &dealt, &svm, &mut after_fold)?;
            let value = f1(classes, &found, self.words.names.len()).macro_f1;
            if value > best.1 {
                best = (c, value);
            }
        }
        Ok(best.0)
    }

    /// The function of each link, as a machine fitted to these contexts predicts it, with the IN vectors in `table`.
    pub fn functions(
        &self,
        view: &View<'_>,
        table: &Table,
        links: &HeldOutLinks,
        params: &FunctionParams,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Functions> {
        let &FunctionParams { window, anchors, c, seed } = params;
        let c = c.map_or_else(|| self.best_cost(Gamma::default(), seed, watch), Ok)?;
        let svm = SvmParams { c, ..SvmParams::default() };
        let machine = Svm::fit(self.matrix(), &self.words.classes, &svm);
        let positions = links.positions();
        let questions = LinkQuestions { view, positions: &positions, anchors, depth: 0 };
        let words = table.words().col_range(0..self.dim);
        let mut rows = vec![0.0; positions.len() * self.dim];
        for (&position, row) in positions.iter().zip(rows.chunks_mut(self.dim)) {
            let context: Vec<u32> = questions.context(position, window).iter().map(|word| word.row.0).collect();
            gather_sum(words, &context, &vec![1.0 / context.len().max(1) as f32; context.len()], row);
        }
        let numbers = machine.predict(Matrix::new(&rows, positions.len(), self.dim, self.dim));
        Ok(Functions { names: self.words.names.clone(), numbers, c })
    }
}

/// The contexts of each of `files` as vectors, by the word vectors of each of `methods`, which are trained here: those that
/// learn on one thread side by side, then the others.
pub fn intent_contexts(
    view: &View<'_>,
    methods: &[Method],
    files: &[ContextWords],
    params: &LinksParams,
    watch: ClassesWatch<'_>,
) -> Result<Vec<(Method, Vec<IntentContexts>)>> {
    let train = |method: Method| -> Result<(Method, Vec<IntentContexts>)> {
        let train = train_params(Trains::Model(method), params);
        let tables =
            train_tables(view, &train, &mut |progress| watch(&Classifying::Training(method.name(), progress)))?;
        Ok((method, files.iter().map(|words| words.vectors_of(&tables.input, train.dim)).collect()))
    };
    pool(params.threads)?.install(|| {
        let (serial, parallel): (Vec<Method>, Vec<Method>) = methods.iter().partition(|method| method.is_serial());
        let mut made: Vec<_> = serial.par_iter().with_max_len(1).map(|&method| train(method)).collect::<Result<_>>()?;
        for method in parallel {
            made.push(train(method)?);
        }
        made.sort_by_key(|(method, _)| methods.iter().position(|other| other == method));
        Ok(made)
    })
}
