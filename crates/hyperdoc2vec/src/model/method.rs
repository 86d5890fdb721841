//! The methods: each a model that can be trained.

use serde::{Deserialize, Serialize};

/// A model to train.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// hyperdoc2vec as we do it best: PV-DBOW on the content, then sampled softmax on the links.
    #[serde(rename = "h-d2v")]
    HyperDoc,
    /// hyperdoc2vec as the paper has it: PV-DM on the content, then negative sampling link by link.
    #[serde(rename = "h-d2v-paper")]
    HyperDocPaper,
    /// The same from random vectors.
    #[serde(rename = "h-d2v-random")]
    HyperDocRandom,
    /// The content and citation phases of [`Method::HyperDoc`] at once, batches of each taking turns.
    Joint,
    /// Citation as word: CBOW over words and links.
    W2v,
    /// Document and words around a word predict it; links are not used.
    PvDm,
    /// A document predicts its words; links are not used.
    PvDbow,
    /// PV-DBOW on the text without links, word by word as gensim does it.
    D2vNc,
    /// The same on each document's text and every context that points at it.
    D2vCac,
    /// The neural probabilistic model of Huang et al.
    Npm,
    /// Walks over the links; text is not used.
    #[serde(rename = "deepwalk")]
    DeepWalk,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 11] = [
        Method::HyperDoc,
        Method::HyperDocPaper,
        Method::HyperDocRandom,
        Method::Joint,
        Method::W2v,
        Method::PvDm,
        Method::PvDbow,
        Method::D2vNc,
        Method::D2vCac,
        Method::Npm,
        Method::DeepWalk,
    ];

    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::HyperDoc => "h-d2v",
            Method::HyperDocPaper => "h-d2v-paper",
            Method::HyperDocRandom => "h-d2v-random",
            Method::Joint => "joint",
            Method::W2v => "w2v",
            Method::PvDm => "pv-dm",
            Method::PvDbow => "pv-dbow",
            Method::D2vNc => "d2v-nc",
            Method::D2vCac => "d2v-cac",
            Method::Npm => "npm",
            Method::DeepWalk => "deepwalk",
        }
    }

    /// Whether it learns word by word or link by link, on one thread.
    pub fn is_serial(self) -> bool {
        !matches!(self, Method::HyperDoc | Method::Joint | Method::PvDbow)
    }

    /// Whether it learns from links.
    pub fn needs_links(self) -> bool {
        !matches!(self, Method::PvDm | Method::PvDbow | Method::D2vNc | Method::W2v | Method::D2vCac)
    }
}

impl std::str::FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Method, String> {
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
