//! The parameters of a training run: a plain struct that is stored with the model.

use serde::{Deserialize, Serialize};

use crate::corpus::Corpus;
use crate::document::Date;
use crate::error::{Error, Result};
use crate::kernel::OutOfRange;
use crate::model::Vectors;
pub use crate::model::method::{Method, PhaseKind, TextForm};
pub use crate::model::phase_params::{
    CitationParams, ContentParams, DeepWalkParams, DirectParams, LossFunction, NpmParams, ReferenceParams,
};

/// The parameters of a training run. The number of threads is not one of them: it changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
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
    /// Whether to learn, for methods that can be asked by text, how to weigh the rankings.
    pub hybrid: bool,
    /// The content phase.
    pub content: ContentParams,
    /// The citation phase.
    pub citation: CitationParams,
    /// Text word by word: PV-DM, CBOW, and PV-DBOW as gensim does it.
    pub direct: DirectParams,
    /// The paper's own citation phase.
    pub reference: ReferenceParams,
    /// NPM.
    pub npm: NpmParams,
    /// DeepWalk.
    pub deepwalk: DeepWalkParams,
}

impl Default for TrainParams {
    fn default() -> TrainParams {
        TrainParams {
            method: Method::HyperDoc,
            dim: Method::HyperDoc.default_dim(),
            window: Method::HyperDoc.default_window(),
            seed: 1,
            min_count: 5,
            until: None,
            hybrid: true,
            content: ContentParams::default(),
            citation: CitationParams::default(),
            direct: DirectParams::default(),
            // Without the slips of the authors' program, which `ReferenceParams::default()` has.
            reference: ReferenceParams { beyond: OutOfRange::Saturate, shift: false, ..ReferenceParams::default() },
            npm: NpmParams::default(),
            deepwalk: DeepWalkParams::default(),
        }
    }
}

impl TrainParams {
    /// Where most links have words of their own, these name the target: near words say the most. Other links are
    /// described from further away.
    pub const HYPERTEXT_DECAY: f32 = 5.0;

    /// The parameters that suit a corpus: words are as frequent as the import asked for, and near words weigh more where
    /// links have words of their own.
    pub fn for_corpus(corpus: &Corpus) -> TrainParams {
        let mut params = TrainParams { min_count: corpus.manifest().options.min_count, ..TrainParams::default() };
        if corpus.is_hypertext() {
            params.citation.decay = TrainParams::HYPERTEXT_DECAY;
        }
        params
    }

    /// Sets the method, and the dimensions and the window to the method's own defaults where they were those of the method
    /// before.
    pub fn set_method(&mut self, method: Method) {
        if self.dim == self.method.default_dim() {
            self.dim = method.default_dim();
        }
        if self.window == self.method.default_window() {
            self.window = method.default_window();
        }
        self.method = method;
    }

    /// Sets the loss of links; with negative sampling there are as many noise documents as in the paper.
    pub fn set_loss(&mut self, loss: LossFunction) {
        self.citation.loss = loss;
        self.citation.noise =
            if loss == LossFunction::NegativeSampling { self.reference.noise } else { CitationParams::default().noise };
    }

    /// The passes of the phase that gives the method its name.
    pub fn epochs(&self) -> usize {
        *self.clone().epochs_mut()
    }

    /// Sets the passes of the phase that gives the method its name.
    pub fn set_epochs(&mut self, epochs: usize) {
        *self.epochs_mut() = epochs;
    }

    /// The passes over the text of the phase before that, if there is one, or beside it.
    pub fn content_epochs(&self) -> Option<usize> {
        let mut params = self.clone();
        params.content_epochs_mut().copied()
    }

    /// Sets the passes over the text before or beside those of the phase that gives the method its name, if there are any.
    pub fn set_content_epochs(&mut self, epochs: usize) {
        self.content_epochs_mut().into_iter().for_each(|passes| *passes = epochs);
    }

    fn content_epochs_mut(&mut self) -> Option<&mut usize> {
        match self.method.phases() {
            [first, _] => Some(self.epochs_of(*first)),
            [PhaseKind::JointReference] => Some(&mut self.direct.epochs),
            _ => None,
        }
    }

    fn epochs_mut(&mut self) -> &mut usize {
        self.epochs_of(self.method.last_phase())
    }

    /// The passes of a phase.
    fn epochs_of(&mut self, phase: PhaseKind) -> &mut usize {
        match phase {
            PhaseKind::Content => &mut self.content.epochs,
            PhaseKind::Citation | PhaseKind::Joint => &mut self.citation.epochs,
            PhaseKind::Dm | PhaseKind::Dbow | PhaseKind::Cbow | PhaseKind::SkipGram => &mut self.direct.epochs,
            PhaseKind::Reference | PhaseKind::JointReference => &mut self.reference.epochs,
            PhaseKind::Npm => &mut self.npm.epochs,
            PhaseKind::Walks => &mut self.deepwalk.epochs,
        }
    }

    /// Sets the passes of each phase of the method, in their order. Word by word there is one pass at least.
    pub(crate) fn set_passes(&mut self, passes: &[usize]) {
        for (&phase, &passes) in self.method.phases().iter().zip(passes) {
            if phase == PhaseKind::JointReference {
                self.direct.epochs = (self.direct.epochs * passes / self.reference.epochs.max(1)).max(1);
            }
            *self.epochs_of(phase) = if phase.is_direct() { passes.max(1) } else { passes };
        }
    }

    /// Whether documents have OUT vectors from their content before the first link is learnt.
    pub fn starts_from_content(&self) -> bool {
        self.method.phases() == [PhaseKind::Content, PhaseKind::Citation] && self.content.epochs > 0
    }

    /// Whether there is nothing to learn without links. Vectors that begin with the content are those of the content then.
    pub fn needs_links(&self) -> bool {
        self.method.needs_links() && !self.starts_from_content()
    }

    /// Whether a run with these parameters learns these vectors: its method does, in a phase that makes passes.
    pub fn learns(&self, which: Vectors) -> bool {
        let idle = |phase: &PhaseKind| *phase == PhaseKind::Content && self.content.epochs == 0;
        let runs = |phase: &&PhaseKind| !idle(phase);
        self.method.reads_links_as_words()
            || self.method.phases().iter().filter(runs).any(|phase| phase.learns().contains(&which))
    }

    /// Sets the words on each side that count, for every phase.
    pub fn set_window(&mut self, window: usize) {
        self.window = window;
        self.direct.window = window;
        self.reference.window = window;
        self.npm.window = window;
    }

    /// As JSON, with numbers as a person would write them: 0.3, not its nearest neighbour in twice the bits.
    pub fn to_json(&self) -> serde_json::Value {
        let text = serde_json::to_string(self).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Checks that each parameter is in its range.
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
        for epochs in [
            &self.citation.epochs,
            &self.direct.epochs,
            &self.reference.epochs,
            &self.npm.epochs,
            &self.deepwalk.epochs,
        ] {
            in_range("epochs", *epochs, 1, 100_000)?;
        }
        in_range("window of PV-DM", self.direct.dm_window(), 1, 100_000)?;
        in_range("noise of npm", self.npm.noise, 1, 1 << 20)?;
        in_range("batch", self.citation.batch, 1, 1 << 16)?;
        in_range("noise", self.citation.noise, 0, 1 << 20)?;
        above_zero("noise weight", self.citation.noise_weight)?;
        if !(self.citation.decay.is_finite() && self.citation.decay >= 0.0) {
            return Err(Error::Usage(format!("decay is {}, but must be 0 or above", self.citation.decay)));
        }
        above_zero("rate", self.citation.rate)
    }
}
