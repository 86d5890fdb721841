//! A page as the place model sees it: its words by their rows, what it is about, the phrases in it.

use std::ops::Range;

use std::collections::{BTreeMap, HashMap};

use super::lexicon::{LONGEST_PHRASE, Lexicon, PhraseCounts, PhraseTarget, extend, word_key};
use crate::draft::{Draft, TextKind};
use crate::id::{DocRow, WordRow};
use crate::kernel::ln;
use crate::model::index::links::keywords;

/// Of the documents that link to a target, so many are compared with a page.
const SOURCES: usize = 16;

/// Facts about the documents that links may lead to.
pub trait Surroundings: Sync {
    /// The row of a word with a vector.
    fn word(&self, word: &str) -> Option<WordRow>;
    /// The rarity of a word.
    fn rarity(&self, word: WordRow) -> f32;
    /// The words that stand out in a document, with how often it has them.
    fn keywords(&self, document: DocRow) -> Vec<(WordRow, u8)>;
    /// The documents that link to a document, once a link.
    fn sources(&self, document: DocRow) -> &[DocRow];
    /// The title of a document.
    fn title(&self, document: DocRow) -> &str;
    /// How often a word occurs, how often before and behind a link.
    fn sides(&self, word: WordRow) -> [f32; 3];
}

/// A place where a link may stand: some words, or the end of a word.
#[derive(Debug, Clone, PartialEq)]
pub struct Occurrence {
    /// The first word.
    pub start: usize,
    /// Behind the last word; the same as `start` for a place without words.
    pub end: usize,
    /// The phrase, by its number.
    pub phrase: usize,
    /// How often it occurs elsewhere.
    pub counts: PhraseCounts,
    /// Where its links lead elsewhere.
    pub targets: Vec<PhraseTarget>,
    /// The number of this place among those of the phrase.
    pub mention: usize,
}

impl Occurrence {
    /// The share of documents with the phrase that have it as a link; `base` is what is believed before any is seen.
    pub fn document_rate(&self, base: f32) -> f32 {
        (self.counts.linking + base) / (self.counts.documents + 1.0)
    }

    /// The share of its places that are links.
    pub fn rate(&self, base: f32) -> f32 {
        (self.counts.linked + base) / (self.counts.places + 1.0)
    }

    /// The share of the links of this phrase that lead to one of its targets; a name counts as half a link.
    pub fn share(&self, target: &PhraseTarget) -> f32 {
        let weight = |target: &PhraseTarget| target.links + if target.names { 0.5 } else { 0.0 };
        weight(target) / self.targets.iter().map(weight).sum::<f32>().max(1e-6)
    }
}

/// A link of a page: its words by their numbers, its targets as far as they are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLink {
    /// Its words.
    pub words: Range<usize>,
    /// The documents that it leads to.
    pub targets: Vec<DocRow>,
}

/// A page.
pub struct Page<'a> {
    /// Its words.
    pub draft: &'a Draft,
    /// The text they stand in.
    pub text: &'a str,
    /// The words that have vectors, by their rows.
    pub rows: Vec<Option<WordRow>>,
    /// The document that it is, where that is known.
    pub own: Option<DocRow>,
    /// The numbers of the words of its title.
    pub title: Vec<u64>,
    /// The words of each block: the first, and behind the last.
    pub blocks: HashMap<u32, (usize, usize)>,
    /// Its links.
    pub links: Vec<PageLink>,
    /// Whether what is known of phrases and words has counted it.
    learnt_from: bool,
    /// Its subject: words and their weights, by number.
    words: Vec<(u32, f32)>,
    length: f32,
    /// The page's own share of what is known of words: places, before links, behind links.
    own_sides: HashMap<u32, [f32; 3]>,
}

impl<'a> Page<'a> {
    /// A page of a draft, whose title and row may be known. Its links are given where the counts of phrases and words
    /// include it, and are taken back.
    pub fn new(
        (draft, text): (&'a Draft, &'a str),
        title: &str,
        own: Option<DocRow>,
        learnt_links: Option<Vec<PageLink>>,
        around: &dyn Surroundings,
    ) -> Page<'a> {
        let learnt_from = learnt_links.is_some();
        let links = learnt_links.unwrap_or_default();
        let rows: Vec<Option<WordRow>> = draft.words.iter().map(|word| around.word(&word.text)).collect();
        let found = keywords(rows.iter().flatten().copied().collect(), |row| around.rarity(row));
        let (mut words, mut square) = (Vec::new(), 0.0f32);
        for (row, count) in found {
            let weight = ln(1.0 + f32::from(count)) * around.rarity(row);
            square += weight * weight;
            words.push((row.0, weight));
        }
        words.sort_unstable_by_key(|&(row, _)| row);
        let mut blocks = HashMap::<u32, (usize, usize)>::new();
        for (number, word) in draft.words.iter().enumerate() {
            blocks.entry(word.block).or_insert((number, number)).1 = number + 1;
        }
        let mut own_sides = HashMap::<u32, [f32; 3]>::new();
        if learnt_from {
            for row in rows.iter().flatten() {
                own_sides.entry(row.0).or_default()[0] += 1.0;
            }
            for link in &links {
                let before = link.words.start.checked_sub(1).and_then(|word| rows[word]);
                let behind = rows.get(link.words.end).copied().flatten();
                before.into_iter().for_each(|row| own_sides.entry(row.0).or_default()[1] += 1.0);
                behind.into_iter().for_each(|row| own_sides.entry(row.0).or_default()[2] += 1.0);
            }
        }
        let title = title_keys(title);
        let length = square.sqrt().max(1e-6);
        Page { draft, text, rows, own, title, blocks, links, learnt_from, words, length, own_sides }
    }

    /// The share of the places of a word that are before (1) or behind (2) a link, where this page does not count.
    pub fn side(&self, word: Option<WordRow>, which: usize, around: &dyn Surroundings) -> f32 {
        let Some(row) = word else { return -0.1 };
        let (all, own) = (around.sides(row), self.own_sides.get(&row.0).copied().unwrap_or_default());
        let [places, linked] = [0, which].map(|which| (all[which] - own[which]).max(0.0));
        (linked + 0.2) / (places + 10.0)
    }

    /// The cosine of what the page and a document are about.
    pub fn cosine(&self, document: DocRow, around: &dyn Surroundings) -> f32 {
        let (mut product, mut square) = (0.0f32, 0.0f32);
        for (row, count) in around.keywords(document) {
            let weight = ln(1.0 + f32::from(count)) * around.rarity(row);
            square += weight * weight;
            let own = self.words.binary_search_by_key(&row.0, |&(row, _)| row);
            product += weight * own.map_or(0.0, |place| self.words[place].1);
        }
        product / (self.length * square.sqrt().max(1e-6))
    }

    /// The phrases of `lexicon` on the page, in text of any kind or in prose alone.
    pub fn occurrences(&self, lexicon: Lexicon<'_>, any_kind: bool) -> Vec<Occurrence> {
        let words = &self.draft.words;
        let keys: Vec<u64> = words.iter().map(|word| word_key(&word.text)).collect();
        let mut found = Vec::<(usize, usize, usize)>::new();
        for start in 0..words.len() {
            let mut key = 0;
            for end in start..words.len().min(start + LONGEST_PHRASE) {
                if (end > start && !words[end].joined) || !(any_kind || words[end].kind == TextKind::Prose) {
                    break;
                }
                key = extend(key, keys[end]);
                if let Some(phrase) = lexicon.find(key) {
                    found.push((start, end + 1, phrase));
                }
            }
        }
        let own = if self.learnt_from { self.own_counts(lexicon, &keys, &found) } else { HashMap::new() };
        let mut mentions = HashMap::<usize, usize>::new();
        let mut all = Vec::with_capacity(found.len());
        for (start, end, phrase) in found {
            let mut counts = lexicon.counts(phrase);
            let own = own.get(&phrase);
            if let Some(own) = own {
                counts.places = (counts.places - own.places).max(0.0);
                counts.linked = (counts.linked - own.linked).max(0.0);
                counts.documents = (counts.documents - 1.0).max(0.0);
                counts.linking = (counts.linking - if own.linked > 0.0 { 1.0 } else { 0.0 }).max(0.0);
            }
            let of_page = |row: DocRow| own.and_then(|own| own.targets.get(&row)).copied().unwrap_or(0.0);
            let targets: Vec<PhraseTarget> = lexicon
                .targets(phrase)
                .filter(|target| Some(target.row) != self.own)
                .map(|target| PhraseTarget { links: (target.links - of_page(target.row)).max(0.0), ..target })
                .filter(|target| target.names || target.links > 0.0)
                .collect();
            if targets.is_empty() {
                continue;
            }
            let mention = mentions.entry(phrase).or_default();
            *mention += 1;
            all.push(Occurrence { start, end, phrase, counts, targets, mention: *mention });
        }
        all
    }

    /// The page's own share of the counts of phrases.
    fn own_counts(
        &self,
        lexicon: Lexicon<'_>,
        keys: &[u64],
        found: &[(usize, usize, usize)],
    ) -> HashMap<usize, OwnCounts> {
        let mut own = HashMap::<usize, OwnCounts>::new();
        found.iter().for_each(|&(_, _, phrase)| own.entry(phrase).or_default().places += 1.0);
        for link in self.links.iter().filter(|link| !link.words.is_empty() && !link.targets.is_empty()) {
            let key = keys[link.words.clone()].iter().fold(0, |key, &word| extend(key, word));
            let Some(phrase) = lexicon.find(key) else { continue };
            let own = own.entry(phrase).or_default();
            own.linked += 1.0;
            link.targets.iter().for_each(|&row| *own.targets.entry(row).or_default() += 1.0);
        }
        own
    }
}

/// A page's share of the counts of a phrase.
#[derive(Default)]
struct OwnCounts {
    places: f32,
    linked: f32,
    targets: BTreeMap<DocRow, f32>,
}

/// The numbers of the words of a title, for comparing titles.
pub fn title_keys(title: &str) -> Vec<u64> {
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut keys: Vec<u64> = words.map(|word| word_key(&word.to_lowercase())).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The share of the words of two titles that both have.
pub fn title_overlap(one: &[u64], other: &[u64]) -> f32 {
    let both = one.iter().filter(|key| other.binary_search(key).is_ok()).count();
    both as f32 / (one.len() + other.len() - both).max(1) as f32
}

/// The cosines of a page with the documents that link to a target, but for the page itself: the greatest, and the mean of
/// the three greatest.
pub fn source_cosines(page: &Page<'_>, target: DocRow, around: &dyn Surroundings) -> (f32, f32) {
    let sources = around.sources(target);
    let step = sources.len().div_ceil(SOURCES).max(1);
    let others = sources.iter().step_by(step).filter(|&&source| Some(source) != page.own);
    let mut found: Vec<f32> = others.map(|&source| page.cosine(source, around)).collect();
    found.sort_unstable_by(|a, b| b.total_cmp(a));
    let best = &found[..found.len().min(3)];
    (best.first().copied().unwrap_or(0.0), best.iter().sum::<f32>() / 3.0)
}
