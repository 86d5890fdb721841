//! The parameters of a generated corpus: sizes, shares and the seed.

use std::ops::Range;

use crate::error::{Error, Result};

/// A document has at most one link for so many of its words.
pub(super) const WORDS_A_LINK: usize = 8;

/// The parameters of a generated corpus.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GenerateParams {
    /// Documents; exactly so many.
    pub docs: usize,
    /// Links, counted as pairs of a position and a target; exactly so many.
    pub links: usize,
    /// Everything random follows from it.
    pub seed: u64,
    /// Mean number of words of a document; lengths are spread evenly from half of it to one and a half.
    pub words: usize,
    /// Number of topics; a third of the square root of the documents where it is `None`.
    pub topics: Option<usize>,
    /// Share of the documents that nobody links to.
    pub newcomers: f32,
    /// Share of the links that go to another topic.
    pub cross: f32,
    /// Chance that a position has two targets, of the same topic and kind, where the document has two links left.
    pub pairs: f32,
    /// Share of the positions with a nickname of the target.
    pub nicknames: f32,
    /// Share of the positions with one of the target's own words.
    pub quotes: f32,
}

impl Default for GenerateParams {
    fn default() -> GenerateParams {
        GenerateParams {
            docs: 1000,
            links: 5000,
            seed: 1,
            words: 200,
            topics: None,
            newcomers: 0.1,
            cross: 0.1,
            pairs: 0.1,
            nicknames: 0.5,
            quotes: 0.5,
        }
    }
}

impl GenerateParams {
    /// Whether each field makes sense by itself; whether the links find room, [`Generator::new`](super::Generator::new) knows.
    pub fn validate(&self) -> Result<()> {
        let in_range = |name: &str, value: usize, range: Range<usize>| {
            if range.contains(&value) {
                return Ok(());
            }
            Err(Error::Usage(format!("{name} is {value}, but must be from {} to {}", range.start, range.end - 1)))
        };
        in_range("docs", self.docs, 1..1_000_000_001)?;
        in_range("words", self.words, 2 * WORDS_A_LINK..100_001)?;
        if let Some(topics) = self.topics {
            in_range("topics", topics, 1..self.docs.min(usize::from(u16::MAX)) + 1)?;
        }
        for (name, share) in [
            ("newcomers", self.newcomers),
            ("cross", self.cross),
            ("pairs", self.pairs),
            ("nicknames", self.nicknames),
            ("quotes", self.quotes),
        ] {
            if !(0.0..=1.0).contains(&share) {
                return Err(Error::Usage(format!("{name} is {share}, but is a share and must be from 0 to 1")));
            }
        }
        Ok(())
    }

    /// The arguments of `hd2v generate` that make the same corpus.
    pub(crate) fn flags(&self) -> String {
        let GenerateParams { docs, links, seed, words, newcomers, .. } = self;
        let topics = self.topics.map_or(String::new(), |topics| format!(" --topics {topics}"));
        format!("--docs {docs} --links {links} --seed {seed} --words {words} --newcomers {newcomers}{topics}")
    }

    /// How many topics there will be.
    pub fn topic_count(&self) -> usize {
        self.topics.unwrap_or(((self.docs as f64).sqrt() / 3.0).round().clamp(1.0, 65_535.0) as usize)
    }

    /// How many documents are planned never to be linked.
    pub fn newcomer_count(&self) -> usize {
        ((f64::from(self.newcomers) * self.docs as f64).round() as usize).min(self.docs)
    }
}
