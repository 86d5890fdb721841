//! Training and test documents: by date, or by a share of them; and the queries that follow.

use crate::corpus::Corpus;
use crate::document::Date;
use crate::error::{Error, Result};
use crate::id::DocId;
use crate::rng::Rng;

const PURPOSE: u64 = 0x5b11;

/// The part of a split that a document belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitPart {
    /// The model sees it.
    Training,
    /// Its links are the questions.
    Test,
    /// Neither: it has no date where the corpus is split by date.
    Unused,
}

/// A corpus cut in two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    parts: Vec<SplitPart>,
    /// Whether a training document links to it.
    linked: Vec<bool>,
}

/// A link position of a test document that points at one or more training documents.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeldOutLink {
    /// The number of the position in the corpus.
    pub position: usize,
    /// The training documents it points at.
    pub truths: Vec<DocId>,
}

impl Split {
    /// All documents for training, none for test.
    pub fn none(corpus: &Corpus) -> Split {
        Split::new(corpus, vec![SplitPart::Training; corpus.len()])
    }

    /// Documents dated up to `until` (a year includes its days) are for training, later ones for test,
    /// those without a date for neither.
    pub fn by_date(corpus: &Corpus, until: Date) -> Result<Split> {
        let wrong = |what| Error::input(corpus.path().display().to_string(), what);
        let Some((first, last)) = corpus.manifest().dates else {
            let what = "its documents have no dates, so they cannot be split by date; train on all of them";
            return Err(wrong(what.to_owned()));
        };
        let part = |doc| match corpus.date(doc) {
            Some(date) if date.is_up_to(until) => SplitPart::Training,
            Some(_) => SplitPart::Test,
            None => SplitPart::Unused,
        };
        let parts: Vec<SplitPart> = corpus.documents().map(part).collect();
        if !parts.contains(&SplitPart::Training) {
            return Err(wrong(format!("no document is dated up to {until}: dates go from {first} to {last}")));
        }
        Ok(Split::new(corpus, parts))
    }

    /// A share of the documents, drawn by `seed`, is for test; at least one is left for training.
    pub fn by_share(corpus: &Corpus, share: f64, seed: u64) -> Result<Split> {
        if !(0.0..1.0).contains(&share) {
            return Err(Error::Usage(format!("the share of test documents is {share}, but must be from 0 to below 1")));
        }
        let mut order: Vec<usize> = (0..corpus.len()).collect();
        Rng::keyed(seed, &[PURPOSE]).shuffle(&mut order);
        let tests = ((corpus.len() as f64 * share).round() as usize).min(corpus.len().saturating_sub(1));
        let mut parts = vec![SplitPart::Training; corpus.len()];
        order[..tests].iter().for_each(|&doc| parts[doc] = SplitPart::Test);
        Ok(Split::new(corpus, parts))
    }

    fn new(corpus: &Corpus, parts: Vec<SplitPart>) -> Split {
        let mut linked = vec![false; corpus.len()];
        for doc in corpus.documents().filter(|doc| parts[doc.index()] == SplitPart::Training) {
            for position in corpus.positions(doc) {
                position.targets.iter().for_each(|target| linked[target.index()] = true);
            }
        }
        Split { parts, linked }
    }

    /// The part that `doc` belongs to.
    pub fn part(&self, doc: DocId) -> SplitPart {
        self.parts[doc.index()]
    }

    /// Whether `doc` is for training.
    pub fn is_training(&self, doc: DocId) -> bool {
        self.part(doc) == SplitPart::Training
    }

    /// Whether `doc` is a training document that no training document links to.
    pub fn is_newcomer(&self, doc: DocId) -> bool {
        self.is_training(doc) && !self.linked[doc.index()]
    }

    /// The documents of one part, in order.
    pub fn documents(&self, part: SplitPart) -> impl Iterator<Item = DocId> {
        (0..).zip(&self.parts).filter(move |&(_, &its)| its == part).map(|(doc, _)| DocId(doc))
    }

    /// The link positions of test documents whose targets include a training document.
    pub fn queries(&self, corpus: &Corpus) -> Vec<HeldOutLink> {
        let mut queries = Vec::new();
        for doc in self.documents(SplitPart::Test) {
            for position in corpus.position_range(doc) {
                let targets = corpus.position(position).targets;
                let truths: Vec<DocId> = targets.iter().copied().filter(|&t| self.is_training(t)).collect();
                if !truths.is_empty() {
                    queries.push(HeldOutLink { position, truths });
                }
            }
        }
        queries
    }
}
