//! The parameters of each phase, with their defaults.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::kernel::OutOfRange;

/// The loss to minimise. With s the scores of an example's columns and t its target:
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum LossFunction {
    /// `ln Σ e^(s − ln π) − (s_t − ln π_t)`, π being a column's chance to be there; columns are the targets of the batch
    /// and noise. `G = softmax(s − ln π) − [t]`.
    SampledSoftmax,
    /// Sampled softmax in which every document is a column.
    FullSoftmax,
    /// `−ln σ(s_t) − Σ_noise w ln σ(−s)`, noise that hits the target left out; w is the batch's
    /// `noise_weight`. `G = σ(s_t) − 1` at the target, `w σ(s)` at noise. The paper's loss has w = 1.
    NegativeSampling,
}

/// How the content phase is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ContentParams {
    /// Passes over the text.
    pub epochs: usize,
    /// Noise words for each word.
    pub negatives: f32,
    /// Words that make up more than this share of the text are thinned out; 0 for none.
    pub sample: f32,
    /// The first learning rate of document vectors; it falls linearly towards 0.
    pub document_rate: f32,
    /// The first learning rate of word vectors.
    pub word_rate: f32,
    /// Examples in a batch.
    pub batch: usize,
    /// Noise words of a batch.
    pub noise: usize,
}

impl Default for ContentParams {
    fn default() -> ContentParams {
        ContentParams {
            epochs: 5,
            negatives: 5.0,
            sample: 1e-3,
            document_rate: 0.05,
            word_rate: 0.1,
            batch: 256,
            noise: 512,
        }
    }
}

/// How the citation phase is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CitationParams {
    /// Passes over the links.
    pub epochs: usize,
    /// The loss to minimise.
    pub loss: LossFunction,
    /// Links in a batch.
    pub batch: usize,
    /// Documents drawn evenly as noise for each batch, beside the targets of the batch.
    pub noise: usize,
    /// The weight of a noise document in negative sampling.
    pub noise_weight: f32,
    /// The first learning rate; it falls linearly towards 0.
    pub rate: f32,
    /// Words further from the link than this weigh less than 1/e; 0 for no weighting by distance.
    pub decay: f32,
    /// Whether words weigh by their rarity.
    pub rarity: bool,
    /// Words drawn from the text of the source for each link, as inputs beside the context.
    pub source_words: usize,
    /// Their weight together; the context weighs 1.
    pub source_weight: f32,
    /// After so many passes that do not better the loss of links held out for it, the phase ends with the vectors of
    /// the best pass; 0 to hold out nothing and make all passes.
    pub patience: usize,
}

impl Default for CitationParams {
    fn default() -> CitationParams {
        CitationParams {
            epochs: 8,
            loss: LossFunction::SampledSoftmax,
            batch: 512,
            noise: 64,
            // A thousand noise documents at 1 each, as the paper has it link by link, drown the one target in a batch:
            // 8 % of later links found, against 38 %.
            noise_weight: 0.005,
            rate: 0.2,
            decay: 20.0,
            rarity: true,
            source_words: 32,
            source_weight: 0.5,
            patience: 0,
        }
    }
}

/// How `rivals::direct` runs; by default as gensim, but with the paper's window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DirectParams {
    /// Passes over the text.
    pub epochs: usize,
    /// Words on each side.
    pub window: usize,
    /// Words on each side in PV-DM; `None` for as many as in `window`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dm_window: Option<usize>,
    /// Whether the window of each word is shrunk to a number drawn evenly from 1 to `window`.
    pub shrink: bool,
    /// Rows drawn as noise for each example; one that hits the target is dropped.
    pub noise: usize,
    /// Words that make up more than this share are thinned out, by `weighting::keep_chances`; 0 for no thinning.
    pub sample: f64,
    /// The learning rate at the beginning.
    pub rate: f32,
    /// The learning rate at the end.
    pub last_rate: f32,
    /// How scores beyond ±6 are treated.
    pub beyond: OutOfRange,
    /// Whether w2v is skip-gram rather than CBOW: how models say it that were made before skip-gram was a method.
    pub skip_gram: bool,
}

impl Default for DirectParams {
    fn default() -> DirectParams {
        DirectParams {
            epochs: 5,
            window: 50,
            dm_window: None,
            shrink: true,
            noise: 5,
            sample: 1e-3,
            rate: 0.025,
            last_rate: 0.0001,
            beyond: OutOfRange::Skip,
            skip_gram: false,
        }
    }
}

impl DirectParams {
    /// The window of PV-DM in the authors' program, where the window around links is 50.
    pub const AUTHORS_DM_WINDOW: usize = 5;

    /// Words on each side in PV-DM.
    pub fn dm_window(&self) -> usize {
        self.dm_window.unwrap_or(self.window)
    }
}

/// How `rivals::reference` runs; by default as the authors' program.
// Not joined with `DirectParams`, though eight names are the same: documents are drawn as noise here and words there, the
// defaults differ, and a shared struct would lengthen every path to them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ReferenceParams {
    /// Passes over the links.
    pub epochs: usize,
    /// Words on each side of a link.
    pub window: usize,
    /// Whether the window of each example is shrunk to a number drawn evenly from 1 to `window`.
    pub shrink: bool,
    /// Documents drawn evenly as noise for each example; one that hits the target is dropped.
    pub noise: usize,
    /// Words that make up more than this share are thinned out, by `weighting::keep_chances`; 0 for no thinning.
    pub sample: f64,
    /// The learning rate at the beginning.
    pub rate: f32,
    /// The learning rate at the end.
    pub last_rate: f32,
    /// How scores beyond ±6 are treated.
    pub beyond: OutOfRange,
    /// Whether the error is divided by the number of input rows.
    pub divide: bool,
    /// Whether windows stand too far right, by as many words as there are link positions before in the document.
    /// That is a slip in the authors' program: it numbers words and marks together, then takes the marks out.
    pub shift: bool,
}

impl Default for ReferenceParams {
    fn default() -> ReferenceParams {
        ReferenceParams {
            epochs: 100,
            window: 50,
            shrink: true,
            noise: 1000,
            sample: 1e-3,
            rate: 0.025,
            last_rate: 0.0001,
            beyond: OutOfRange::Skip,
            divide: false,
            shift: true,
        }
    }
}

/// How `rivals::npm` runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct NpmParams {
    /// Passes over the links.
    pub epochs: usize,
    /// Words on each side of a link.
    pub window: usize,
    /// Words drawn evenly as noise for each word; one that hits the word is dropped.
    pub noise: usize,
    /// The learning rate at the beginning.
    pub rate: f32,
    /// The learning rate at the end.
    pub last_rate: f32,
}

impl Default for NpmParams {
    fn default() -> NpmParams {
        NpmParams { epochs: 10, window: 50, noise: 10, rate: 0.5, last_rate: 0.01 }
    }
}

/// How `rivals::deepwalk` runs; by default as its authors' program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct DeepWalkParams {
    /// Passes over the walks.
    pub epochs: usize,
    /// Walks from each document.
    pub walks: usize,
    /// Documents on a walk, the first included.
    pub length: usize,
    /// Documents on each side that a document predicts, shrunk at random to a number from 1 to this.
    pub window: usize,
    /// The learning rate at the beginning.
    pub rate: f32,
    /// The learning rate at the end.
    pub last_rate: f32,
    /// How scores beyond ±6 are treated.
    pub beyond: OutOfRange,
}

impl Default for DeepWalkParams {
    fn default() -> DeepWalkParams {
        DeepWalkParams {
            epochs: 5,
            walks: 10,
            length: 40,
            window: 5,
            rate: 0.025,
            last_rate: 0.0001,
            beyond: OutOfRange::Skip,
        }
    }
}
