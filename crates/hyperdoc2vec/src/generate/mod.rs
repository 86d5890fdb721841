//! A corpus made by rule from a seed, of any size, with planted truth: what tests, benchmarks and probes run on.
//!
//! ```
//! use hyperdoc2vec::generate::{GenerateParams, Generator};
//!
//! let mut params = GenerateParams::default();
//! (params.docs, params.links) = (100, 400);
//! let generator = Generator::new(&params)?;
//! let documents = generator.documents(0..100);
//! assert_eq!(documents.iter().flat_map(|d| &d.links).map(|link| link.targets.len()).sum::<usize>(), 400);
//! # Ok::<(), hyperdoc2vec::Error>(())
//! ```
//!
//! `docs/guide/generate.md` describes the planted structure. [`Generator::new`] plans (topics, kinds, who is linked, how
//! many links each document has: 17 bytes a document); documents are then written on demand, each from its own
//! random numbers, so that any thread may write any of them.

mod kind;
mod links;
mod params;
mod plan;
mod text;
mod words;
mod write;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::document::{Date, Document};
use crate::error::Result;
use crate::rng::Rng;
use words::{TOPIC_WORDS, WordClass, made_word, topic_name};

pub use kind::Kind;
pub use links::PlannedLink;
pub use params::GenerateParams;
pub use write::{generate, generate_jsonl, generate_variant};

/// The year of the first document.
pub const FIRST_YEAR: i32 = 2000;
/// Over how many years the documents are spread.
pub const YEARS: usize = 20;

/// Words of text in a batch of documents.
const BATCH_WORDS: usize = 1 << 16;
/// A document has from 4 to 8 words of its own.
const OWN_WORDS: Range<usize> = 4..9;

/// The purpose of random numbers: the first part of their key.
#[derive(Clone, Copy)]
enum Purpose {
    Newcomers,
    TopicAndKind,
    Popularity,
    Length,
    LinkCount,
    OwnWords,
    Nicknames,
    Targets,
    Filler,
    Sayings,
}

/// A change to some documents, everything else staying word for word as it was: for probes that ask what a method
/// takes notice of. Links, dates, labels and ids never change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variant {
    /// Document → the document in whose topic and own words it is written instead (its words change).
    pub content: BTreeMap<usize, usize>,
    /// Document → the document that others take it for (the words around the links to it change:
    /// topic, intent, nickname and quoted word).
    pub context: BTreeMap<usize, usize>,
}

/// Marks a newcomer in [`Generator::kind`].
const NEWCOMER: u8 = 1 << 7;

/// A planned corpus, which writes its documents on demand.
#[derive(Debug, Clone)]
pub struct Generator {
    params: GenerateParams,
    topics: usize,
    /// Topic by document.
    topic: Vec<u16>,
    /// Kind by document, plus [`NEWCOMER`].
    kind: Vec<u8>,
    /// Links by document.
    links: Vec<u16>,
    /// Documents that may be linked to, in order.
    linkable: Vec<u32>,
    /// Linkable documents by group (topic and kind), in order inside a group.
    by_group: Vec<u32>,
    /// Linkable documents by group, the most popular first.
    by_popularity: Vec<u32>,
    /// Group g has `by_group[group_start[g]..group_start[g + 1]]`.
    group_start: Vec<usize>,
    /// Topic t has the own words numbered from `own_start[t]` to `own_start[t + 1]`.
    own_start: Vec<usize>,
}

impl Generator {
    /// Plans a corpus; fails where so many links cannot be had.
    pub fn new(params: &GenerateParams) -> Result<Generator> {
        params.validate()?;
        let docs = params.docs;
        let mut generator = Generator {
            params: params.clone(),
            topics: params.topic_count(),
            topic: Vec::with_capacity(docs),
            kind: Vec::with_capacity(docs),
            links: Vec::with_capacity(docs),
            linkable: Vec::new(),
            by_group: Vec::new(),
            by_popularity: Vec::new(),
            group_start: Vec::new(),
            own_start: Vec::new(),
        };
        generator.plan_topics_and_kinds();
        generator.plan_groups();
        generator.plan_link_counts()?;
        Ok(generator)
    }

    /// Ranges of documents to write at a time, which together are the whole corpus; they depend on nothing but the
    /// parameters.
    pub fn batches(&self) -> Vec<Range<usize>> {
        let docs = self.params.docs;
        let size = (BATCH_WORDS / self.params.words).max(1);
        (0..docs).step_by(size).map(|start| start..docs.min(start + size)).collect()
    }

    /// Writes the documents of a range; what lies beyond the last document is left out.
    /// A document is the same in every range that holds it.
    pub fn documents(&self, range: Range<usize>) -> Vec<Document> {
        self.documents_with(range, &Variant::default())
    }

    /// Writes the documents of a range, some of them changed.
    pub fn documents_with(&self, range: Range<usize>, variant: &Variant) -> Vec<Document> {
        (range.start..range.end.min(self.params.docs)).map(|doc| text::write(self, doc, variant)).collect()
    }

    /// The parameters.
    pub fn params(&self) -> &GenerateParams {
        &self.params
    }

    /// The number of topics.
    pub fn topics(&self) -> usize {
        self.topics
    }

    /// The topic of a document, from 0 up to but not including [`Generator::topics`].
    pub fn topic(&self, doc: usize) -> usize {
        usize::from(self.topic[doc])
    }

    /// The kind of a document.
    pub fn kind(&self, doc: usize) -> Kind {
        Kind::ALL[usize::from(self.kind[doc] & !NEWCOMER)]
    }

    /// Whether a document is planned never to be linked. Others may be without links by chance.
    pub fn is_newcomer(&self, doc: usize) -> bool {
        self.kind[doc] & NEWCOMER != 0
    }

    /// Year and month of a document; they never fall from one document to the next.
    pub fn date(&self, doc: usize) -> Option<Date> {
        let month = (doc as u128 * (12 * YEARS) as u128 / self.params.docs as u128) as i32;
        Date::from_packed((FIRST_YEAR + month / 12) * 10_000 + (month % 12 + 1) * 100)
    }

    /// The id of a document: `d000123`.
    pub fn id(&self, doc: usize) -> String {
        format!("d{doc:06}")
    }

    /// The document of an id.
    pub fn find(&self, id: &str) -> Option<usize> {
        let doc = id.strip_prefix('d')?.parse().ok()?;
        (doc < self.params.docs && self.id(doc) == id).then_some(doc)
    }

    /// The readable name of a topic, which stands in its label after `topic:`.
    pub fn topic_name(&self, topic: usize) -> String {
        topic_name(topic)
    }

    /// The words that the documents of a topic share, the most frequent first.
    pub fn topic_words(&self, topic: usize) -> Vec<String> {
        (0..TOPIC_WORDS).map(|rank| made_word(WordClass::Topic, topic * TOPIC_WORDS + rank)).collect()
    }

    /// The few words that a document repeats and hardly any other has.
    pub fn own_words(&self, doc: usize) -> Vec<String> {
        self.own_word_numbers(doc).into_iter().map(|number| made_word(WordClass::Own, number)).collect()
    }

    /// The one or two words by which others call a document, and which it never uses itself.
    pub fn nicknames(&self, doc: usize) -> Vec<String> {
        (0..self.nickname_count(doc)).map(|which| made_word(WordClass::Nickname, 2 * doc + which)).collect()
    }

    /// How many links (pairs of a position and a target) a document has.
    pub fn link_count(&self, doc: usize) -> usize {
        usize::from(self.links[doc])
    }

    fn rng(&self, purpose: Purpose, item: usize) -> Rng {
        Rng::keyed(self.params.seed, &[purpose as u64, item as u64])
    }

    fn group(&self, doc: usize) -> usize {
        self.topic(doc) * Kind::ALL.len() + self.kind(doc) as usize
    }

    /// Words of a document, about.
    fn length(&self, doc: usize) -> usize {
        self.params.words / 2 + self.rng(Purpose::Length, doc).below(self.params.words + 1)
    }

    fn nickname_count(&self, doc: usize) -> usize {
        1 + self.rng(Purpose::Nicknames, doc).below(2)
    }

    fn own_word_numbers(&self, doc: usize) -> Vec<usize> {
        let mut rng = self.rng(Purpose::OwnWords, doc);
        let topic = self.topic(doc);
        let (start, end) = (self.own_start[topic], self.own_start[topic + 1]);
        let count = OWN_WORDS.start + rng.below(OWN_WORDS.len());
        let mut numbers = Vec::with_capacity(count);
        while numbers.len() < count {
            let number = start + rng.below(end - start);
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        numbers
    }
}

#[cfg(test)]
mod tests;
