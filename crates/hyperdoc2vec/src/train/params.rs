//! What to train, and how. A plain struct that travels with the model.

use serde::{Deserialize, Serialize};

use super::citation::CitationParams;
use super::dbow::DbowParams;
use crate::document::Date;
use crate::error::{Error, Result};

/// A model to train.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// hyperdoc2vec as we do it best: PV-DBOW on the content, then sampled softmax on the links.
    #[serde(rename = "h-d2v")]
    HyperDoc,
    /// The citation phase alone, from random vectors.
    #[serde(rename = "h-d2v-random")]
    HyperDocRandom,
    /// A document predicts its words; links are not used.
    PvDbow,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 3] = [Method::HyperDoc, Method::HyperDocRandom, Method::PvDbow];

    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::HyperDoc => "h-d2v",
            Method::HyperDocRandom => "h-d2v-random",
            Method::PvDbow => "pv-dbow",
        }
    }

    /// Whether it learns from links.
    pub fn needs_links(self) -> bool {
        !matches!(self, Method::PvDbow)
    }
}

impl std::str::FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Method, String> {
        let names = || Method::ALL.map(Method::name).join(", ");
        Method::ALL
            .into_iter()
            .find(|method| method.name() == name)
            .ok_or_else(|| format!("expected a method ({}), found {name:?}", names()))
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What to train, and how. The number of threads is not among it: it changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainParams {
    /// The model.
    pub method: Method,
    /// Numbers in a vector.
    pub dim: usize,
    /// Words on each side of a link that count.
    pub window: usize,
    /// Everything random follows from it.
    pub seed: u64,
    /// Words that occur less often in the training documents are left out.
    pub min_count: u64,
    /// Only documents dated up to this are trained on.
    pub until: Option<Date>,
    /// The content phase.
    pub content: DbowParams,
    /// The citation phase.
    pub citation: CitationParams,
}

impl Default for TrainParams {
    fn default() -> TrainParams {
        TrainParams {
            method: Method::HyperDoc,
            dim: 100,
            window: 50,
            seed: 1,
            min_count: 5,
            until: None,
            content: DbowParams::default(),
            citation: CitationParams::default(),
        }
    }
}

impl TrainParams {
    /// Whether each makes sense.
    pub fn validate(&self) -> Result<()> {
        let in_range = |name: &str, value: usize, least: usize, most: usize| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(Error::Usage(format!("{name} is {value}, but must be from {least} to {most}")))
        };
        let above_zero = |name: &str, value: f32| {
            if value.is_finite() && value > 0.0 {
                return Ok(());
            }
            Err(Error::Usage(format!("{name} is {value}, but must be above 0")))
        };
        in_range("dim", self.dim, 1, 4096)?;
        in_range("window", self.window, 1, 100_000)?;
        in_range("content epochs", self.content.epochs, 0, 100_000)?;
        in_range("content batch", self.content.batch, 1, 1 << 16)?;
        in_range("content noise", self.content.noise, 1, 1 << 16)?;
        above_zero("content document rate", self.content.document_rate)?;
        above_zero("content word rate", self.content.word_rate)?;
        in_range("epochs", self.citation.epochs, 1, 100_000)?;
        in_range("batch", self.citation.batch, 1, 1 << 16)?;
        in_range("noise", self.citation.noise, 0, 1 << 20)?;
        above_zero("rate", self.citation.rate)
    }
}
