//! The part of a report on where links belong.

use anyhow::Result;
use hyperdoc2vec::evaluate::{LinkMethod, evaluate_places};
use hyperdoc2vec::{Error, Training};
use serde_json::{Value, json};

use super::{Parts, Reproduction};
use crate::progress::TrainReporter;

impl Reproduction<'_> {
    /// Where the links of held-out pages belong, by a model trained on the others.
    pub fn places(&self, methods: &[LinkMethod], parts: &Parts<'_>) -> Result<Value> {
        if !methods.iter().any(|method| method.name == "hybrid") {
            return Ok(parts.left_out("places", "the hybrid, which they need, is not among the methods"));
        }
        let params = self.params.train.clone();
        parts.cell("places", json!({"parameters": params.to_json()}), || {
            let (corpus, seed) = (self.view.corpus, self.arguments.train.seed);
            let path = self.scratch.join("places.model");
            let mut reporter = TrainReporter::new();
            let training = Training::new(corpus).params(params).split(self.split).threads(self.arguments.threads);
            let model = training.replace().watch(|progress| reporter.watch(progress)).run(&path)?;
            reporter.finish();
            let found = match evaluate_places(corpus, self.split, &model, seed) {
                // Not every corpus has links enough.
                Err(error @ Error::Unsupported { .. }) => json!({"left_out": error.to_string()}),
                found => found?,
            };
            let _ = std::fs::remove_file(&path);
            Ok(found)
        })
    }
}
