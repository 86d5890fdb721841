//! The outcome of references: counts and samples, by the way in which they were found or not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{BibRecord, Catalogue, How, Match, Miss, NearMatch, Test};
use crate::import::text::collapsed;

/// Samples that are kept of each kind.
const SAMPLES: usize = 20;
/// Characters of an entry that a sample shows.
const LONGEST: usize = 300;

/// Counts of the bibliography entries and the marks of an import, by outcome. Batches are merged in the order of the input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct References {
    /// Entries that were found, by how.
    pub resolved: BTreeMap<How, SampledCount>,
    /// Entries that were not found, by why.
    pub unresolved: BTreeMap<Miss, SampledCount>,
    /// Marks whose entry was found. A mark counts once for each entry that it names.
    pub mark_linked: u64,
    /// Marks whose entry was not found.
    pub mark_to_unresolved: u64,
    /// Marks that name an entry which the bibliography does not have.
    pub mark_without_entry: u64,
    /// Marks that name no entry.
    pub mark_without_target: u64,
    /// Every entry of the batch, in order. Only samples outlive [`References::merge`].
    #[serde(skip)]
    pub every: Vec<Reference>,
}

/// A bibliography entry, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Reference {
    /// How it was found, or why not.
    pub outcome: Outcome,
    /// Entry and document.
    #[serde(flatten)]
    pub sample: ReferenceSample,
}

/// The outcome of a bibliography entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Outcome {
    /// It was found.
    Found(How),
    /// It was not found.
    Missed(Miss),
}

/// A count, and a few of what was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SampledCount {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub samples: Vec<ReferenceSample>,
}

/// A bibliography entry, where it stands, and what it was taken for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReferenceSample {
    /// The document whose entry it is.
    pub source: String,
    /// The key by which marks call it.
    pub key: String,
    /// The entry.
    pub entry: String,
    /// The id of the document that it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The id of the document that it came near to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidate: Option<String>,
    /// The test that this one failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<Test>,
    /// The title of either, folded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl References {
    /// Counts what became of an entry of the bibliography of `source`.
    pub fn entry(
        &mut self,
        source: &str,
        (key, entry): &(String, BibRecord),
        found: Result<Match, (Miss, Option<NearMatch>)>,
        catalogue: &Catalogue,
    ) {
        let (outcome, sampled) = match found {
            Ok(found) => (Outcome::Found(found.how), self.resolved.entry(found.how).or_default()),
            Err((miss, _)) => (Outcome::Missed(miss), self.unresolved.entry(miss).or_default()),
        };
        let target = found.ok().map(|found| found.document);
        let near = found.err().and_then(|(_, near)| near);
        let id = |document: usize| catalogue.id(document).to_owned();
        let document = target.or(near.map(|near| near.document));
        let sample = ReferenceSample {
            source: source.to_owned(),
            key: key.clone(),
            entry: shown(entry, LONGEST),
            target: target.map(id),
            candidate: near.map(|near| id(near.document)),
            failed: near.map(|near| near.failed),
            title: document.map(|document| catalogue.title(document).to_owned()),
        };
        sampled.count += 1;
        if sampled.samples.len() < SAMPLES {
            sampled.samples.push(sample.clone());
        }
        self.every.push(Reference { outcome, sample });
    }

    /// Adds all of `other`, which comes after, but for the list of every entry.
    pub fn merge(&mut self, other: References) {
        fn add<K: Ord>(ours: &mut BTreeMap<K, SampledCount>, theirs: BTreeMap<K, SampledCount>) {
            for (kind, theirs) in theirs {
                let ours = ours.entry(kind).or_default();
                ours.count += theirs.count;
                let room = SAMPLES - ours.samples.len();
                ours.samples.extend(theirs.samples.into_iter().take(room));
            }
        }
        add(&mut self.resolved, other.resolved);
        add(&mut self.unresolved, other.unresolved);
        self.mark_linked += other.mark_linked;
        self.mark_to_unresolved += other.mark_to_unresolved;
        self.mark_without_entry += other.mark_without_entry;
        self.mark_without_target += other.mark_without_target;
    }

    /// Whether there were no entries and no marks.
    pub fn is_empty(&self) -> bool {
        *self == References::default()
    }

    /// How many entries were found.
    pub fn entries_resolved(&self) -> u64 {
        self.resolved.values().map(|sampled| sampled.count).sum()
    }

    /// How many entries there were.
    pub fn entries(&self) -> u64 {
        self.entries_resolved() + self.unresolved.values().map(|sampled| sampled.count).sum::<u64>()
    }
}

/// An entry as a person would read it.
pub(super) fn shown(entry: &BibRecord, longest: usize) -> String {
    let mut out = match entry.text.as_deref() {
        Some(text) => collapsed(text),
        None => {
            let year = entry.year.map(|year| year.to_string()).unwrap_or_default();
            let ids = [&entry.doi, &entry.pmid, &entry.pmcid, &entry.arxiv, &entry.acl];
            let mut parts = vec![entry.authors.join(", "), year, entry.title.clone().unwrap_or_default()];
            parts.extend(ids.into_iter().flatten().cloned());
            parts.retain(|part| !part.is_empty());
            parts.join(". ")
        }
    };
    if let Some((end, _)) = out.char_indices().nth(longest) {
        out.truncate(end);
        out.push('…');
    }
    out
}
