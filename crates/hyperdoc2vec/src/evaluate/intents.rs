//! Citation functions: why a link is made, told from the mean IN vector of the words around it.

use std::io::BufRead;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::ask::Questions;
use super::classify::{cross_validate, figures};
use super::folds::stratified;
use super::links::Asked;
use super::svm::{Svm, SvmParams};
use crate::error::{Error, Result};
use crate::import::source;
use crate::kernel::{Matrix, gather_sum};
use crate::markup;
use crate::model::{Model, Vectors};
use crate::tokenize::Tokenizer;
use crate::train::table::Table;
use crate::train::view::View;

/// A labelled context.
#[derive(Debug, Clone, PartialEq)]
pub struct Labelled {
    /// The text around the link; the link itself is left out.
    pub text: String,
    /// What the link is for.
    pub label: String,
}

/// Reads contexts, a JSON object a line; the label is the field called `field`.
pub fn read(path: &Path, field: &str) -> Result<Vec<Labelled>> {
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
        all.push(Labelled { text: markup::parse(&get("context")?).text, label: get(field)? });
    }
    if all.is_empty() {
        return Err(Error::input(path.display().to_string(), "no labelled contexts found"));
    }
    Ok(all)
}

/// Contexts as vectors.
#[derive(Debug, Clone)]
pub struct Contexts {
    /// Numbers in a vector.
    pub dim: usize,
    /// The mean IN vectors of the contexts, one after the other.
    pub rows: Vec<f32>,
    /// The class of each.
    pub classes: Vec<u32>,
    /// What classes are called.
    pub names: Vec<String>,
    /// Contexts left out because none of their words has a vector.
    pub unknown: usize,
}

impl Contexts {
    /// Reads contexts word by word; `row` finds a word's row among `words`.
    fn new(
        labelled: &[Labelled],
        tokenizer: &Tokenizer,
        words: Matrix<'_>,
        row: impl Fn(&str) -> Option<u32>,
        place: &Path,
    ) -> Result<Contexts> {
        let mut names: Vec<String> = labelled.iter().map(|one| one.label.clone()).collect();
        names.sort();
        names.dedup();
        let dim = words.cols();
        let mut contexts = Contexts { dim, rows: Vec::new(), classes: Vec::new(), names, unknown: 0 };
        for Labelled { text, label } in labelled {
            let mut known = Vec::new();
            tokenizer.words(text, |word| known.extend(row(word)));
            if known.is_empty() {
                contexts.unknown += 1;
                continue;
            }
            let mut mean = vec![0.0; dim];
            gather_sum(words, &known, &vec![1.0 / known.len() as f32; known.len()], &mut mean);
            contexts.rows.extend(mean);
            contexts.classes.push(contexts.names.partition_point(|name| name < label) as u32);
        }
        if contexts.classes.is_empty() {
            let what = "the model knows no word of these contexts; are they in the language that it was trained on?";
            return Err(Error::input(place.display().to_string(), what));
        }
        Ok(contexts)
    }

    /// By the words of a model.
    pub fn of_model(labelled: &[Labelled], model: &Model, place: &Path) -> Result<Contexts> {
        let lowercase = model.about()["corpus"]["options"]["lowercase"].as_bool().unwrap_or(true);
        let vocabulary = model.vocabulary();
        let words = model.vectors(Vectors::WordIn)?;
        let known =
            |word: &str| model.terms().find(word).filter(|&row| row < vocabulary.ends.len()).map(|row| row as u32);
        Contexts::new(labelled, &Tokenizer::new(lowercase), words, known, place)
    }

    /// By the words of a training run.
    pub fn of_table(
        labelled: &[Labelled],
        view: &View<'_>,
        table: &Table,
        dim: usize,
        place: &Path,
    ) -> Result<Contexts> {
        let lowercase = view.corpus.manifest().options.lowercase;
        let words = Matrix::new(table.data(), view.words.len(), dim, table.stride());
        let known = |word: &str| view.corpus.find_word(word).and_then(|word| view.word_row(word));
        Contexts::new(labelled, &Tokenizer::new(lowercase), words, known, place)
    }

    fn matrix(&self) -> Matrix<'_> {
        Matrix::new(&self.rows, self.classes.len(), self.dim, self.dim)
    }

    /// F1 by cross-validation.
    pub fn evaluate(
        &self,
        folds: usize,
        svm: &SvmParams,
        seed: u64,
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Value> {
        let dealt = stratified(&self.classes, &self.names, folds, seed)?;
        let predictions = cross_validate(self.matrix(), &self.classes, &dealt, svm, watch)?;
        let mut value = figures(&self.classes, &predictions, &self.names, seed);
        value["contexts"] = json!(self.classes.len());
        value["without_known_words"] = json!(self.unknown);
        value["folds"] = json!(folds);
        Ok(value)
    }

    /// What each question's link is for, as a machine fitted to these contexts tells.
    pub fn functions(
        &self,
        view: &View<'_>,
        table: &Table,
        asked: &Asked,
        window: usize,
        anchors: bool,
        svm: &SvmParams,
    ) -> Vec<u32> {
        let machine = Svm::fit(self.matrix(), &self.classes, svm);
        let positions: Vec<usize> = asked.queries.iter().map(|query| query.position).collect();
        let questions = Questions { view, positions: &positions, anchors, depth: 0 };
        let words = Matrix::new(table.data(), view.words.len(), self.dim, table.stride());
        let mut rows = vec![0.0; positions.len() * self.dim];
        for (&position, row) in positions.iter().zip(rows.chunks_mut(self.dim)) {
            let context: Vec<u32> = questions.context(position, window).iter().map(|&(word, _)| word).collect();
            gather_sum(words, &context, &vec![1.0 / context.len().max(1) as f32; context.len()], row);
        }
        machine.predict(Matrix::new(&rows, positions.len(), self.dim, self.dim))
    }
}
