//! The features of places and of targets, by name: what the trees of the place model know.

use std::collections::HashMap;

use super::lexicon::{LONGEST_PHRASE, PhraseTarget};
use super::page::{Occurrence, Page, Surroundings, source_cosines, title_keys, title_overlap};
use crate::id::DocRow;
use crate::kernel::ln;

/// The share of places that are believed to be links before any is seen.
pub const BASE_RATE: f32 = 0.1;
/// Phrases within so many words are near.
const NEAR: usize = 30;
/// A sentence is looked at for so many words on each side of a place.
const SENTENCE: usize = 60;

/// Features of a place with words. Later ones are added at the end, so that trees of older models know theirs.
pub const PLACE_FEATURES: [&str; 48] = [
    "rate",
    "document rate",
    "places",
    "linked",
    "documents",
    "words",
    "letters",
    "rarest",
    "commonest",
    "share",
    "targets",
    "names",
    "only a name",
    "capital",
    "like code",
    "all capitals",
    "first of sentence",
    "next character",
    "character before",
    "mention",
    "mentions",
    "mention of target",
    "part of page",
    "words before",
    "words of page",
    "side before",
    "side behind",
    "block",
    "words before in block",
    "longer phrase",
    "other phrase",
    "links to target",
    "cosine",
    "cosine of sources",
    "cosine of three sources",
    "rates before",
    "rates behind",
    "title overlap",
    "distance to phrase",
    "second before",
    "target names page",
    "phrases of target",
    "words behind in block",
    "block before",
    "block behind",
    "side of sentence",
    "words before in sentence",
    "words behind in sentence",
];
/// Features of a target of such a place.
pub const TARGET_FEATURES: [&str; 12] = [
    "share",
    "links of phrase",
    "names",
    "targets",
    "links to target",
    "cosine",
    "cosine of sources",
    "cosine of three sources",
    "cosine below best",
    "sources below best",
    "title overlap",
    "phrases of target",
];
/// Features of a place without words.
pub const GAP_FEATURES: [&str; 20] = [
    "side before",
    "second before",
    "side behind",
    "second behind",
    "rarity",
    "rarity of three",
    "capital",
    "second capital",
    "digit",
    "next character",
    "from sentence start",
    "part of page",
    "words before",
    "words of page",
    "block",
    "words before in block",
    "joined behind",
    "letters",
    "capital behind",
    "third before",
];

/// Facts about a target on a page, the same for all its places.
#[derive(Debug, Clone, Copy)]
pub struct TargetFacts {
    cosine: f32,
    sources: (f32, f32),
    links: f32,
    title: f32,
    phrases: f32,
    names_page: f32,
}

/// A page with its phrases, ready to be asked for features.
pub struct PageFeatures<'a> {
    page: &'a Page<'a>,
    around: &'a dyn Surroundings,
    /// The phrases, by their places.
    pub occurrences: &'a [Occurrence],
    facts: HashMap<u32, TargetFacts>,
    /// Sums of rates before each phrase, in the order of places.
    sums: Vec<f32>,
    mentions: HashMap<usize, usize>,
    /// The number of each place among those whose most frequent target is the same.
    target_mentions: Vec<usize>,
    /// For each place, the greatest rate of longer and of other phrases over the same words, and the distance to the last
    /// phrase that is a link more often than not.
    overlaps: Vec<(f32, f32, usize)>,
}

fn class(c: Option<char>) -> f32 {
    match c {
        None | Some('\n') => 0.0,
        Some(' ') => 1.0,
        Some('(') => 2.0,
        Some(')') => 3.0,
        Some('.' | '!' | '?') => 4.0,
        Some(',' | ';' | ':') => 5.0,
        Some('"' | '\'' | '“' | '”' | '`' | '’') => 6.0,
        Some('-' | '/' | '_') => 7.0,
        Some('[' | ']' | '<' | '>' | '{' | '}') => 8.0,
        _ => 9.0,
    }
}

impl<'a> PageFeatures<'a> {
    /// Computes what the places of a page share.
    pub fn new(page: &'a Page<'a>, occurrences: &'a [Occurrence], around: &'a dyn Surroundings) -> PageFeatures<'a> {
        let mut phrases = HashMap::<u32, Vec<usize>>::new();
        let mut mentions = HashMap::<usize, usize>::new();
        let mut tops = HashMap::<u32, usize>::new();
        let mut target_mentions = Vec::with_capacity(occurrences.len());
        let (mut sums, mut sum) = (Vec::with_capacity(occurrences.len() + 1), 0.0);
        for occurrence in occurrences {
            *mentions.entry(occurrence.phrase).or_default() += 1;
            for target in &occurrence.targets {
                let of = phrases.entry(target.row.0).or_default();
                if !of.contains(&occurrence.phrase) && of.len() < 8 {
                    of.push(occurrence.phrase);
                }
            }
            let top = tops.entry(occurrence.targets.first().map_or(u32::MAX, |target| target.row.0)).or_default();
            *top += 1;
            target_mentions.push(*top);
            sums.push(sum);
            sum += occurrence.document_rate(BASE_RATE);
        }
        sums.push(sum);
        let page_title = &page.title;
        let facts = phrases
            .into_iter()
            .map(|(row, phrases)| {
                let target = DocRow(row);
                let title = title_keys(around.title(target));
                let own = around.sources(target).iter().filter(|&&source| Some(source) == page.own).count();
                let facts = TargetFacts {
                    cosine: page.cosine(target, around),
                    sources: source_cosines(page, target, around),
                    links: ln(1.0 + (around.sources(target).len() - own) as f32),
                    title: title_overlap(page_title, &title),
                    phrases: phrases.len() as f32,
                    names_page: page_title.iter().all(|key| title.binary_search(key).is_ok()).into(),
                };
                (row, facts)
            })
            .collect();
        let overlaps = overlaps(occurrences);
        PageFeatures { page, around, occurrences, facts, sums, mentions, target_mentions, overlaps }
    }

    fn facts(&self, target: DocRow) -> TargetFacts {
        let none =
            TargetFacts { cosine: 0.0, sources: (0.0, 0.0), links: 0.0, title: 0.0, phrases: 0.0, names_page: 0.0 };
        self.facts.get(&target.0).copied().unwrap_or(none)
    }

    /// The features of a target of a place.
    pub fn target(&self, occurrence: &Occurrence, target: &PhraseTarget) -> [f32; TARGET_FEATURES.len()] {
        let facts = self.facts(target.row);
        let best = |of: &dyn Fn(TargetFacts) -> f32| {
            occurrence.targets.iter().map(|target| of(self.facts(target.row))).fold(f32::MIN, f32::max)
        };
        [
            occurrence.share(target),
            ln(1.0 + target.links),
            target.names.into(),
            occurrence.targets.len() as f32,
            facts.links,
            facts.cosine,
            facts.sources.0,
            facts.sources.1,
            facts.cosine - best(&|facts| facts.cosine),
            facts.sources.1 - best(&|facts| facts.sources.1),
            facts.title,
            facts.phrases,
        ]
    }

    /// The features of a place, by its number, if its link led to `target`.
    pub fn place(&self, number: usize, target: &PhraseTarget) -> [f32; PLACE_FEATURES.len()] {
        let (page, occurrence) = (self.page, &self.occurrences[number]);
        let words = &page.draft.words;
        let (first, last) = (&words[occurrence.start], &words[occurrence.end - 1]);
        let text = page.text.get(first.start as usize..last.end as usize).unwrap_or_default();
        let facts = self.facts(target.row);
        let rarity = |word: usize| page.rows[word].map_or(12.0, |row| self.around.rarity(row));
        let rarities = || (occurrence.start..occurrence.end).map(rarity);
        let (block_start, block_end) = page.blocks.get(&first.block).copied().unwrap_or_default();
        let before = occurrence.start.checked_sub(1).filter(|&word| word >= block_start);
        let second = occurrence.start.checked_sub(2).filter(|&word| word >= block_start);
        let behind = Some(occurrence.end).filter(|&word| word < block_end);
        let side = |word: Option<usize>, which| page.side(word.and_then(|word| page.rows[word]), which, self.around);
        let near = |from: usize, to: usize| {
            let place = |word: usize| self.occurrences.partition_point(|other| other.start < word);
            self.sums[place(to)] - self.sums[place(from)]
        };
        let (longer, other, distance) = self.overlaps[number];
        let letters = || text.chars().filter(|c| c.is_alphabetic());
        let counts = occurrence.counts;
        // The length of the block of a word: those of all formats are numbered with gaps.
        let block = |word: Option<usize>| {
            let block = word.and_then(|word| words.get(word)).and_then(|word| page.blocks.get(&word.block));
            let (start, end) = block.copied().unwrap_or_default();
            ln(1.0 + (end - start) as f32)
        };
        let least = block_start.max(occurrence.start.saturating_sub(SENTENCE));
        let sentence = (least..=occurrence.start).rev().find(|&word| words[word].first).unwrap_or(least);
        let most = block_end.min(occurrence.end + SENTENCE).max(occurrence.end);
        let sentence_end = (occurrence.end..most).find(|&word| words[word].first).unwrap_or(most);
        [
            occurrence.rate(BASE_RATE),
            occurrence.document_rate(BASE_RATE),
            ln(1.0 + counts.places),
            ln(1.0 + counts.linked),
            ln(1.0 + counts.documents),
            (occurrence.end - occurrence.start) as f32,
            text.len() as f32,
            rarities().fold(0.0, f32::max),
            rarities().fold(20.0, f32::min),
            occurrence.share(target),
            occurrence.targets.len() as f32,
            target.names.into(),
            f32::from(u8::from(counts.linked == 0.0)),
            f32::from(u8::from(text.starts_with(char::is_uppercase))),
            f32::from(u8::from(
                text.contains(['_', '.', ':', '-'])
                    || letters().skip(1).any(char::is_uppercase)
                    || text.contains(char::is_numeric),
            )),
            f32::from(u8::from(letters().count() > 1 && letters().all(char::is_uppercase))),
            first.first.into(),
            class(page.text.get(last.end as usize..).and_then(|rest| rest.chars().next())),
            class(page.text.get(..first.start as usize).and_then(|rest| rest.chars().next_back())),
            ln(occurrence.mention as f32),
            ln(self.mentions.get(&occurrence.phrase).copied().unwrap_or(1) as f32),
            ln(self.target_mentions[number] as f32),
            occurrence.start as f32 / words.len() as f32,
            ln(1.0 + occurrence.start as f32),
            ln(1.0 + words.len() as f32),
            side(before, 1),
            side(behind, 2),
            ln(1.0 + (block_end - block_start) as f32),
            ln(1.0 + (occurrence.start - block_start.min(occurrence.start)) as f32),
            longer,
            other,
            facts.links,
            facts.cosine,
            facts.sources.0,
            facts.sources.1,
            near(occurrence.start.saturating_sub(NEAR), occurrence.start),
            near(occurrence.end, occurrence.end + NEAR),
            facts.title,
            ln(1.0 + distance as f32),
            side(second, 1),
            facts.names_page,
            facts.phrases,
            ln(1.0 + block_end.saturating_sub(occurrence.end) as f32),
            block(block_start.checked_sub(1)),
            block(Some(block_end)),
            side(Some(sentence).filter(|&word| word < occurrence.start), 1),
            ln(1.0 + (occurrence.start - sentence) as f32),
            ln(1.0 + (sentence_end - occurrence.end) as f32),
        ]
    }
}

/// See [`PageFeatures::overlaps`].
fn overlaps(all: &[Occurrence]) -> Vec<(f32, f32, usize)> {
    let mut found = Vec::with_capacity(all.len());
    let mut last = None::<usize>;
    for (number, one) in all.iter().enumerate() {
        let (mut longer, mut other) = (0.0f32, 0.0f32);
        // Phrases are short, so that those that overlap are near in the list.
        let behind = all[number + 1..].iter().take_while(|next| next.start < one.end);
        let before = all[..number].iter().rev().take_while(|previous| previous.start + LONGEST_PHRASE > one.start);
        for near in behind.chain(before.filter(|previous| previous.end > one.start)) {
            let rate = near.document_rate(BASE_RATE);
            if near.start <= one.start && near.end >= one.end {
                longer = longer.max(rate);
            } else {
                other = other.max(rate);
            }
        }
        let distance = last.map_or(200, |last| one.start.saturating_sub(last)).min(200);
        found.push((longer, other, distance));
        if one.document_rate(BASE_RATE) > 0.5 {
            last = Some(one.end);
        }
    }
    found
}

/// The features of the end of word `word`, where a link without words may stand.
pub fn gap(page: &Page<'_>, word: usize, around: &dyn Surroundings) -> [f32; GAP_FEATURES.len()] {
    let words = &page.draft.words;
    let here = &words[word];
    let (block_start, block_end) = page.blocks.get(&here.block).copied().unwrap_or_default();
    let inside = |place: Option<usize>| place.filter(|place| (block_start..block_end).contains(place));
    let side = |place: Option<usize>, which| page.side(inside(place).and_then(|word| page.rows[word]), which, around);
    let rarity =
        |place: Option<usize>| inside(place).map_or(0.0, |word| page.rows[word].map_or(12.0, |row| around.rarity(row)));
    let text =
        |place: Option<usize>| inside(place).and_then(|word| page.text.get(words[word].span())).unwrap_or_default();
    let capital = |place: Option<usize>| f32::from(u8::from(text(place).starts_with(char::is_uppercase)));
    let [one, two, three] = [0, 1, 2].map(|back| word.checked_sub(back));
    let from_start =
        (block_start.max(word.saturating_sub(60))..=word).rev().position(|word| words[word].first).unwrap_or(60);
    [
        side(one, 1),
        side(two, 1),
        side(Some(word + 1), 2),
        side(Some(word + 2), 2),
        rarity(one),
        rarity(one).max(rarity(two)).max(rarity(three)),
        capital(one),
        capital(two),
        f32::from(u8::from(text(one).contains(char::is_numeric))),
        class(
            page.text
                .get(here.end as usize..)
                .map(|rest| rest.trim_start_matches(' '))
                .and_then(|rest| rest.chars().next()),
        ),
        from_start as f32,
        word as f32 / words.len() as f32,
        ln(1.0 + word as f32),
        ln(1.0 + words.len() as f32),
        ln(1.0 + (block_end - block_start) as f32),
        ln(1.0 + (word - block_start.min(word)) as f32),
        inside(Some(word + 1)).map_or(-1.0, |next| f32::from(u8::from(words[next].joined))),
        text(one).len() as f32,
        capital(Some(word + 1)),
        side(three, 1),
    ]
}
