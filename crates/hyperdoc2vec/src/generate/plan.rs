//! Decides once for all documents: topics, kinds, newcomers, popularity, and how many links each has.

use super::params::{GenerateParams, WORDS_A_LINK};
use super::{Generator, Kind, NEWCOMER, Purpose};
use crate::error::{Error, Result};

impl Generator {
    /// Topics differ in size: the first is up to three times as large as the last. Newcomers are drawn evenly from all
    /// but the first document, which is one only when all are: links need something to point at.
    pub(super) fn plan_topics_and_kinds(&mut self) {
        let docs = self.params.docs;
        let mut newcomers_left = self.params.newcomer_count();
        let mut choose = self.rng(Purpose::Newcomers, 0);
        for doc in 0..docs {
            let mut rng = self.rng(Purpose::TopicAndKind, doc);
            let topic = loop {
                let topic = rng.below(self.topics);
                if rng.below(3 * self.topics) < 3 * self.topics - 2 * topic {
                    break topic;
                }
            };
            let mut kind = rng.below(Kind::ALL.len()) as u8;
            let chosen = if doc == 0 { newcomers_left == docs } else { choose.below(docs - doc) < newcomers_left };
            if chosen {
                kind |= NEWCOMER;
                newcomers_left -= 1;
            }
            self.topic.push(topic as u16);
            self.kind.push(kind);
        }
    }

    pub(super) fn plan_groups(&mut self) {
        let mut topic_size = vec![0usize; self.topics];
        self.group_start = vec![0; self.topics * Kind::ALL.len() + 1];
        for doc in 0..self.params.docs {
            topic_size[self.topic(doc)] += 1;
            if !self.is_newcomer(doc) {
                let group = self.group(doc);
                self.group_start[group + 1] += 1;
                self.linkable.push(doc as u32);
            }
        }
        for group in 1..self.group_start.len() {
            self.group_start[group] += self.group_start[group - 1];
        }
        let mut next = self.group_start.clone();
        self.by_group = vec![0; self.linkable.len()];
        for &doc in &self.linkable {
            let group = self.group(doc as usize);
            self.by_group[next[group]] = doc;
            next[group] += 1;
        }
        self.by_popularity = self.by_group.clone();
        for group in 0..self.group_start.len() - 1 {
            let mut rng = self.rng(Purpose::Popularity, group);
            rng.shuffle(&mut self.by_popularity[self.group_start[group]..self.group_start[group + 1]]);
        }
        // Twice as many own words in a topic as it has documents: a word is then shared by about three of them.
        self.own_start.push(0);
        for size in topic_size {
            let start = self.own_start.last().copied().unwrap_or(0);
            self.own_start.push(start + (2 * size).max(200));
        }
    }

    /// Shares the links out in proportion to weights, exactly: document i gets what the running sum of
    /// links · weight / total grows by, rounded down; what finds no room goes to the next that has room.
    pub(super) fn plan_link_counts(&mut self) -> Result<()> {
        let GenerateParams { docs, links, words, .. } = self.params;
        let (mut total, mut room) = (0u128, 0usize);
        for (doc, linkable_before) in self.linkable_before() {
            total += self.link_weight(doc, linkable_before);
            room += self.link_room(doc, linkable_before);
        }
        if links > 0 && room == 0 {
            return Err(Error::Usage(format!(
                "links is {links}, but {docs} documents, {} of them newcomers, leave none that can link to an earlier \
                 one: at least 2 documents are needed, and 1 that is no newcomer",
                self.params.newcomer_count()
            )));
        }
        if links > room {
            return Err(Error::Usage(format!(
                "links is {links}, but {docs} documents of {words} words on average hold at most {room} (one for each \
                 {WORDS_A_LINK} words, none in the first document): ask for fewer links, more documents or more words"
            )));
        }
        let (mut running, mut given, mut waiting) = (0u128, 0u128, 0usize);
        let mut counts = Vec::with_capacity(docs);
        for (doc, linkable_before) in self.linkable_before() {
            running += self.link_weight(doc, linkable_before);
            let due = (links as u128 * running).checked_div(total).unwrap_or(0);
            waiting += (due - given) as usize;
            given = due;
            let count = waiting.min(self.link_room(doc, linkable_before));
            waiting -= count;
            counts.push(count as u16);
        }
        for (doc, linkable_before) in self.linkable_before() {
            if waiting == 0 {
                break;
            }
            let count = waiting.min(self.link_room(doc, linkable_before) - usize::from(counts[doc]));
            waiting -= count;
            counts[doc] += count as u16;
        }
        self.links = counts;
        Ok(())
    }

    /// Each document with the number of linkable documents before it.
    fn linkable_before(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.params.docs).scan(0, |before, doc| {
            let now = *before;
            *before += usize::from(!self.is_newcomer(doc));
            Some((doc, now))
        })
    }

    /// Longer documents have more links, some documents three times as many as others, the very first ones few.
    fn link_weight(&self, doc: usize, linkable_before: usize) -> u128 {
        let mut rng = self.rng(Purpose::LinkCount, doc);
        (self.length(doc) * (50 + rng.below(101)) * linkable_before.min(16)) as u128
    }

    fn link_room(&self, doc: usize, linkable_before: usize) -> usize {
        if linkable_before == 0 { 0 } else { self.length(doc) / WORDS_A_LINK }
    }
}
