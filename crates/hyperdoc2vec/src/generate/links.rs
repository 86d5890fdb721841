//! Chooses what a document links to: always earlier, mostly of its topic, by intent and popularity.

use super::words::zipf;
use super::{Generator, Kind, Purpose};
use crate::rng::Rng;

/// How often a popular target is sought that is early enough, or not yet linked, before any is taken.
const TRIES: usize = 24;

/// One planned position: where in the text it stands is decided when the text is written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedLink {
    /// One document or two, distinct, of the same topic and kind, earlier than the source.
    pub targets: Vec<usize>,
    /// Their kind, which the words around the link express.
    pub kind: Kind,
}

impl Generator {
    /// The positions of a document, in the order of its text.
    pub fn links(&self, doc: usize) -> Vec<PlannedLink> {
        let mut left = self.link_count(doc);
        let mut links = Vec::with_capacity(left);
        if left == 0 {
            return links;
        }
        let mut rng = self.rng(Purpose::Targets, doc);
        let favourite = rng.below(Kind::ALL.len());
        let mut linked = Vec::with_capacity(left);
        while left > 0 {
            let pair = rng.chance(self.params.pairs) && left > 1;
            let first = self.first_target(doc, favourite, &linked, &mut rng);
            linked.push(first);
            let mut targets = vec![first];
            if pair && let Some(second) = self.second_target(doc, first, &linked, &mut rng) {
                linked.push(second);
                targets.push(second);
            }
            left -= targets.len();
            links.push(PlannedLink { targets, kind: self.kind(first) });
        }
        links
    }

    /// A popular document of the intended group; where that has none so early that is not linked yet, one of another
    /// kind of the topic; where the topic has none so early, any.
    fn first_target(&self, doc: usize, favourite: usize, linked: &[usize], rng: &mut Rng) -> usize {
        let mut topic = self.topic(doc);
        if rng.chance(self.params.cross) && self.topics > 1 {
            topic = (topic + 1 + rng.below(self.topics - 1)) % self.topics;
        }
        // Two links in five have the document's favourite intent, whatever its own kind.
        let kinds = Kind::ALL.len();
        let kind = if rng.chance(0.2) { favourite } else { rng.below(kinds) };
        let groups = (0..kinds).map(|step| topic * kinds + (kind + step) % kinds);
        let fresh = |&group: &usize| self.early(group, doc).iter().any(|&other| !linked.contains(&(other as usize)));
        let group = groups.clone().find(fresh).or_else(|| groups.clone().find(|&g| !self.early(g, doc).is_empty()));
        if let Some(group) = group {
            return self.popular(group, doc, linked, rng);
        }
        let early = self.linkable.partition_point(|&other| (other as usize) < doc);
        self.linkable[rng.below(early)] as usize
    }

    /// Another document of the same group, where there is one so early.
    fn second_target(&self, doc: usize, first: usize, linked: &[usize], rng: &mut Rng) -> Option<usize> {
        let group = self.group(first);
        let early = self.early(group, doc);
        if early.len() < 2 {
            return None;
        }
        let second = self.popular(group, doc, linked, rng);
        if second != first {
            return Some(second);
        }
        let at = early.partition_point(|&other| (other as usize) < first);
        Some(early[(at + 1) % early.len()] as usize)
    }

    /// The documents of a group before `doc`, in order.
    fn early(&self, group: usize, doc: usize) -> &[u32] {
        let members = &self.by_group[self.group_start[group]..self.group_start[group + 1]];
        &members[..members.partition_point(|&other| (other as usize) < doc)]
    }

    /// A document of a group before `doc`, by popularity and preferably not yet `linked`.
    fn popular(&self, group: usize, doc: usize, linked: &[usize], rng: &mut Rng) -> usize {
        let ranked = &self.by_popularity[self.group_start[group]..self.group_start[group + 1]];
        for _ in 0..TRIES {
            let target = ranked[zipf(rng, ranked.len())] as usize;
            if target < doc && !linked.contains(&target) {
                return target;
            }
        }
        let early = self.early(group, doc);
        let start = rng.below(early.len());
        let (before, after) = early.split_at(start);
        let mut others = after.iter().chain(before).map(|&other| other as usize);
        others.find(|other| !linked.contains(other)).unwrap_or(early[start] as usize)
    }
}
