//! The methods that can be asked for links: a model to train, and a way to ask it.

use super::links::LinksParams;
use crate::corpus::view::View;
use crate::model::params::{Method, PhaseKind, TrainParams};

/// The model that must be trained before asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trains {
    /// Nothing: links are counted.
    Nothing,
    /// Nothing: a search index is made.
    Index,
    /// The default model with its search index and the learnt ranking.
    Searchable,
    /// A method as `train` has it.
    Model(Method),
    /// h-d2v-paper with all that the authors' program does.
    Reference,
}

/// The vectors of documents that a context is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetVectors {
    /// OUT, the paper's I4O.
    Out,
    /// IN, the paper's I4I.
    In,
    /// The sum of both products, which is the product of both vectors side by side.
    InAndOut,
}

/// How a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ask {
    /// Not at all: the most linked come first.
    Popular,
    /// BM25 on the documents' own text.
    Bm25,
    /// BM25 on the text and on the contexts of links.
    Bm25Cited,
    /// BM25 on both as one text, with constants that are the same for all collections.
    Bm25Passage,
    /// The mean of the words' IN vectors, with or without the source.
    Mean(TargetVectors, bool),
    /// A document vector inferred in so many steps, as gensim did in 2018, by the cosine with IN vectors.
    Infer(usize),
    /// The score of NPM, with or without the prior of documents and words.
    Npm(bool),
    /// The learnt ranking, with or without the source.
    Hybrid(bool),
}

impl Ask {
    /// Whether that is how users rank by embedding.
    pub(super) fn is_embedding(self) -> bool {
        self == Ask::Mean(TargetVectors::Out, false)
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkMethod {
    /// Its name.
    pub name: &'static str,
    /// A description in a few words.
    pub what: &'static str,
    /// The model.
    pub trains: Trains,
    /// How it is asked.
    pub ask: Ask,
    /// Whether it is asked by default.
    pub default: bool,
}

const fn row(name: &'static str, trains: Trains, ask: Ask, default: bool, what: &'static str) -> LinkMethod {
    LinkMethod { name, what, trains, ask, default }
}

const OUT: Ask = Ask::Mean(TargetVectors::Out, false);
const IN: Ask = Ask::Mean(TargetVectors::In, false);
const BOTH: Ask = Ask::Mean(TargetVectors::InAndOut, false);
const SOURCED: Ask = Ask::Mean(TargetVectors::Out, true);

const fn model(method: Method) -> Trains {
    Trains::Model(method)
}

/// All of them, in the order of the table.
pub(crate) const METHODS: [LinkMethod; 38] = [
    row("popular", Trains::Nothing, Ask::Popular, true, "the most linked first"),
    row("bm25", Trains::Index, Ask::Bm25, true, "BM25 on the text"),
    row("bm25-cited", Trains::Index, Ask::Bm25Cited, true, "BM25 on text and contexts of links"),
    row("bm25-passage", Trains::Index, Ask::Bm25Passage, true, "BM25 on both as one text: the bar"),
    row("w2v-i4i", model(Method::W2v), IN, true, "citation as word, IN for IN"),
    row("w2v", model(Method::W2v), OUT, true, "citation as word, IN for OUT"),
    row("skip-gram-i4i", model(Method::SkipGram), IN, false, "citation as word by skip-gram, IN for IN"),
    row("skip-gram", model(Method::SkipGram), OUT, false, "citation as word by skip-gram, IN for OUT"),
    row("pv-dm", model(Method::PvDm), Ask::Infer(50), false, "PV-DM, 50 steps of inference"),
    row("pv-dbow", model(Method::PvDbow), Ask::Infer(50), false, "PV-DBOW in batches, 50 steps of inference"),
    row("d2v-nc-5", model(Method::D2vNc), Ask::Infer(5), false, "PV-DBOW without links, 5 steps as in 2018"),
    row("d2v-nc", model(Method::D2vNc), Ask::Infer(50), true, "PV-DBOW without links, 50 steps"),
    row("d2v-cac-5", model(Method::D2vCac), Ask::Infer(5), true, "context as content, 5 steps as in 2018"),
    row("d2v-cac", model(Method::D2vCac), Ask::Infer(50), true, "context as content, 50 steps"),
    row("d2v-cac-dm", model(Method::D2vCacDm), Ask::Infer(50), false, "context as content by PV-DM, 50 steps"),
    row("npm-prior", model(Method::Npm), Ask::Npm(true), false, "neural probabilistic model, with its prior"),
    row("npm", model(Method::Npm), Ask::Npm(false), true, "neural probabilistic model (Huang et al.)"),
    row("h-d2v-random-i4i", model(Method::HyperDocRandom), IN, false, "the paper's, random start, IN for IN"),
    row("h-d2v-random-in-out", model(Method::HyperDocRandom), BOTH, false, "the paper's, random start, IN and OUT"),
    row(
        "h-d2v-random-source",
        model(Method::HyperDocRandom),
        SOURCED,
        false,
        "the paper's, random start, with the source",
    ),
    row("h-d2v-random", model(Method::HyperDocRandom), OUT, true, "the paper's, random start"),
    row("h-d2v-paper-i4i", model(Method::HyperDocPaper), IN, false, "the paper's, from PV-DM, IN for IN"),
    row("h-d2v-paper-in-out", model(Method::HyperDocPaper), BOTH, false, "the paper's, from PV-DM, IN and OUT"),
    row("h-d2v-paper-source", model(Method::HyperDocPaper), SOURCED, false, "the paper's, from PV-DM, with the source"),
    row("h-d2v-paper", model(Method::HyperDocPaper), OUT, true, "the paper's, from PV-DM"),
    row("reference-source", Trains::Reference, SOURCED, false, "the authors' program, slips included, with the source"),
    row("reference", Trains::Reference, OUT, false, "the authors' program, slips included"),
    row(
        "joint-paper-source",
        model(Method::JointPaper),
        SOURCED,
        false,
        "PV-DM and the paper's in turns, with the source",
    ),
    row("joint-paper", model(Method::JointPaper), OUT, false, "PV-DM and the paper's in turns"),
    row("joint-source", model(Method::Joint), SOURCED, false, "text and links in turns, with the source's text"),
    row("joint", model(Method::Joint), OUT, false, "text and links in turns"),
    row("h-d2v-i4i", model(Method::HyperDoc), IN, false, "the default model, IN for IN"),
    row("h-d2v-in-out", model(Method::HyperDoc), BOTH, false, "the default model, IN and OUT"),
    row("h-d2v-source", model(Method::HyperDoc), SOURCED, true, "the default model, with the source's text"),
    row("h-d2v", model(Method::HyperDoc), OUT, true, "the default model"),
    row("deepwalk", model(Method::DeepWalk), Ask::Popular, false, "walks over the links: for classes only"),
    row("hybrid", Trains::Searchable, Ask::Hybrid(false), true, "all rankings, weighed as was learnt"),
    row("hybrid-source", Trains::Searchable, Ask::Hybrid(true), true, "the same, knowing the source"),
];

impl Trains {
    /// The method of the model; `None` where none is trained.
    pub(super) fn method(self) -> Option<Method> {
        match self {
            Trains::Nothing | Trains::Index => None,
            Trains::Searchable => Some(Method::HyperDoc),
            Trains::Model(method) => Some(method),
            Trains::Reference => Some(Method::HyperDocPaper),
        }
    }
}

impl LinkMethod {
    /// Whether it learns vectors, so that their dimensions matter.
    pub fn has_dimensions(&self) -> bool {
        self.trains.method().is_some()
    }

    /// Whether it can be asked by text.
    fn can_be_asked(&self) -> bool {
        self.trains.method().is_none_or(Method::knows_words)
    }

    /// The method that its training begins with, where others begin with the same.
    pub(super) fn base(&self) -> Option<Method> {
        // The authors' program has a window of its own for PV-DM.
        self.trains.method().filter(|_| self.trains != Trains::Reference)?.base()
    }

    /// Whether its training goes word by word or link by link, on one thread.
    pub fn is_serial(&self) -> bool {
        self.trains.method().is_some_and(Method::is_serial)
    }

    /// Whether it cannot be trained without links, with these parameters.
    pub(super) fn needs_links(&self, params: &TrainParams) -> bool {
        self.trains.method().is_some() && params.needs_links()
    }
}

/// The size of an evaluation, as multiples of one on papers up to 2009 of the ACL Anthology with 100 dimensions and the
/// paper's settings, which [`costs`] was measured on.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Workload {
    /// Words of text, times passes, times dimensions.
    text: f64,
    /// Links in NPM, times its passes and noise.
    npm: f64,
    /// Links in the paper's step, times its passes and noise.
    reference: f64,
    /// Questions, times the documents that each ranks.
    asked: f64,
}

impl Workload {
    /// That of training on `view` and of asking so many questions.
    pub fn new(view: &View<'_>, questions: usize, params: &LinksParams) -> Workload {
        let dim = params.train.dim as f64 / 100.0;
        let links = view.links.len() as f64 / 76_000.0 * dim;
        Workload {
            text: view.counts.iter().sum::<u64>() as f64 / 50e6 * params.text_epochs as f64 / 5.0 * dim,
            npm: links * (params.train.npm.epochs * params.train.npm.noise) as f64 / 100.0,
            reference: links * params.reference_epochs as f64 * params.train.reference.noise as f64 / 1000.0,
            asked: questions as f64 / 26_000.0 * view.documents.len() as f64 / 14_700.0,
        }
    }
}

/// About how long each of `methods` takes, in seconds of one thread of an ordinary machine: for the time that is left.
/// Costs that several share are counted for the first.
pub fn costs(methods: &[LinkMethod], work: &Workload) -> Vec<(&'static str, f64)> {
    let (dm, reference) = (350.0 * work.text, 3.0 * work.reference);
    let base = |base: Method| if base == Method::PvDm { dm } else { 370.0 * work.text };
    let own = |trains: Trains| match (trains, trains.method().map(Method::last_phase)) {
        (Trains::Nothing | Trains::Model(Method::PvDm), _) | (_, Some(PhaseKind::Cbow)) => 0.0,
        (Trains::Index, _) => 10.0 * work.text,
        (Trains::Searchable, _) => 200.0 * work.text,
        // A narrow window.
        (Trains::Reference, _) => reference + 100.0 * work.text,
        (_, Some(PhaseKind::Reference)) => reference,
        (_, Some(PhaseKind::JointReference)) => reference + dm,
        (_, Some(PhaseKind::Dm)) => dm,
        (_, Some(PhaseKind::SkipGram)) => 4000.0 * work.text,
        (_, Some(PhaseKind::Dbow)) => 90.0 * work.text,
        (_, Some(PhaseKind::Npm)) => 600.0 * work.npm,
        _ => 100.0 * work.text,
    };
    let asked = |ask: Ask| match ask {
        Ask::Popular => 0.1,
        Ask::Mean(..) => 8.0,
        Ask::Infer(_) => 50.0,
        Ask::Bm25 | Ask::Bm25Cited | Ask::Bm25Passage => 70.0,
        Ask::Npm(_) | Ask::Hybrid(_) => 190.0,
    };
    let mut seen = Vec::new();
    let mut bases = Vec::new();
    let cost = |method: &LinkMethod| {
        let mut cost = asked(method.ask) * work.asked;
        if !seen.contains(&method.trains) {
            seen.push(method.trains);
            cost += own(method.trains);
        }
        if let Some(first) = method.base().filter(|first| !bases.contains(first)) {
            bases.push(first);
            cost += base(first);
        }
        (method.name, cost)
    };
    methods.iter().map(cost).collect()
}

/// Those that are asked by default.
pub fn defaults() -> Vec<LinkMethod> {
    METHODS.into_iter().filter(|method| method.default).collect()
}

/// All that can be asked.
pub fn all() -> Vec<LinkMethod> {
    METHODS.into_iter().filter(LinkMethod::can_be_asked).collect()
}

impl std::str::FromStr for LinkMethod {
    type Err = String;

    fn from_str(name: &str) -> Result<LinkMethod, String> {
        match METHODS.into_iter().find(|method| method.name == name) {
            Some(method) if method.can_be_asked() => Ok(method),
            Some(_) => Err(format!("{name} knows no words, so it cannot be asked for links; see `evaluate classes`")),
            None => {
                let names: Vec<&str> = all().iter().map(|method| method.name).collect();
                Err(format!("expected methods ({}), found {name:?}", names.join(", ")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;

    #[test]
    fn what_methods_share_costs_once() {
        let named =
            |names: &[&str]| -> Vec<LinkMethod> { names.iter().map(|name| name.parse().expect("a method")).collect() };
        let work = Workload { text: 1.0, npm: 1.0, reference: 20.0, asked: 1.0 };
        let sum = |names: &[&str]| costs(&named(names), &work).iter().map(|(_, cost)| cost).sum::<f64>();
        assert_eq!(sum(&["w2v", "w2v-i4i"]), 370.0 + 2.0 * 8.0);
        assert_eq!(sum(&["h-d2v-paper", "pv-dm"]), 350.0 + 60.0 + 8.0 + 50.0);
        // With a PV-DM of its own.
        assert_eq!(sum(&["h-d2v-paper", "reference"]), 350.0 + 100.0 + 2.0 * (60.0 + 8.0));
        assert_eq!(sum(&["popular"]), 0.1);
    }

    #[test]
    fn every_method_has_one_name_and_finds_itself() {
        for (number, method) in METHODS.iter().enumerate() {
            assert!(METHODS[number + 1..].iter().all(|other| other.name != method.name), "{}", method.name);
        }
        assert!(all().iter().all(|method| method.name.parse() == Ok(*method)));
        for &method in Method::VARIANTS {
            let found = method.name().parse::<LinkMethod>();
            assert_eq!(found.is_ok(), method != Method::DeepWalk, "{method}");
        }
        assert!("h-d2v-best".parse::<LinkMethod>().expect_err("unknown").contains("hybrid-source"));
    }
}
