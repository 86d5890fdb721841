//! Phrases that links are made of: anchors, titles and other names of documents, with how often each occurs, how often as
//! a link, and where its links lead.
//!
//! Words are compared without their English plural endings. A phrase is known by a number made of its words, so that a
//! lexicon needs no strings: `places.keys` (rising), `places.counts` (four a phrase), `places.ends`, `places.targets` and
//! `places.target_counts`.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

use crate::corpus::view::View;
use crate::document::Tokenizer;
use crate::id::DocRow;
use crate::model::Model;
use crate::storage::container::Tensor;

/// The words of a phrase, at the most: titles of task pages have up to twelve, and lists of links write them out.
pub const LONGEST_PHRASE: usize = 12;
/// The targets that are kept of a phrase.
const TARGETS: usize = 8;
/// A phrase that is less often a link, and names nothing, is left out.
const LEAST_RATE: f64 = 0.005;
/// The bit of a target's count that says that the phrase is its name.
const NAMES: u32 = 1 << 31;

/// The arrays.
pub const ARRAYS: [&str; 5] = ["places.keys", "places.counts", "places.ends", "places.targets", "places.target_counts"];

/// How often a phrase occurs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PhraseCounts {
    /// Places.
    pub places: f32,
    /// Places that are links.
    pub linked: f32,
    /// Documents that have it.
    pub documents: f32,
    /// Documents that have it as a link.
    pub linking: f32,
}

/// A document that a phrase may lead to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhraseTarget {
    /// The document.
    pub row: DocRow,
    /// How many links of these words lead to it.
    pub links: f32,
    /// Whether the phrase is its name.
    pub names: bool,
}

/// Phrases, flat.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lexicon<'a> {
    keys: &'a [u64],
    counts: &'a [u32],
    ends: &'a [u64],
    targets: &'a [u32],
    target_counts: &'a [u32],
}

/// A lexicon that owns its arrays.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LexiconBuf {
    keys: Vec<u64>,
    counts: Vec<u32>,
    ends: Vec<u64>,
    targets: Vec<u32>,
    target_counts: Vec<u32>,
}

/// A word without its ending for more than one; a rough English rule.
fn stem(word: &str) -> &str {
    let Some(body) = word.strip_suffix('s').filter(|body| body.len() > 2) else { return word };
    match body.as_bytes()[body.len() - 1] {
        b's' | b'u' | b'i' | b'\'' => word,
        b'e' => {
            let root = &body[..body.len() - 1];
            if root.ends_with(['x', 'z']) || root.ends_with("ss") || root.ends_with("ch") || root.ends_with("sh") {
                root
            } else {
                body
            }
        }
        _ => body,
    }
}

/// The number of a word.
pub fn word_key(word: &str) -> u64 {
    xxh3_64(stem(word).as_bytes())
}

/// The number of a phrase with one more word.
pub fn extend(key: u64, word: u64) -> u64 {
    (key.rotate_left(29) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The number of a phrase.
pub fn phrase_key(words: &[u64]) -> u64 {
    words.iter().fold(0, |key, &word| extend(key, word))
}

impl LexiconBuf {
    /// The phrases of `view`.
    pub fn build(view: &View<'_>) -> LexiconBuf {
        let corpus = view.corpus;
        let keys: Vec<u64> = (0..corpus.distinct_words() as u32)
            .into_par_iter()
            .map(|word| word_key(corpus.word(crate::id::WordId(word))))
            .collect();
        // By phrase: targets and their links.
        let mut found = HashMap::<u64, Vec<(u32, u32)>>::new();
        let mut linked = HashMap::<u64, (u32, u32)>::new();
        let mut of_document = HashSet::new();
        for &doc in &*view.documents {
            of_document.clear();
            let words = corpus.words(doc);
            for position in corpus.positions(doc) {
                if position.anchor == 0 || position.anchor > LONGEST_PHRASE || position.anchor > position.at {
                    continue;
                }
                let anchor = &words[position.at - position.anchor..position.at];
                let key = anchor.iter().fold(0, |key, word| extend(key, keys[word.index()]));
                let mut targets = position.targets.iter().filter_map(|&target| view.document_row(target)).peekable();
                if targets.peek().is_none() {
                    continue;
                }
                let counts = linked.entry(key).or_default();
                counts.0 += 1;
                counts.1 += u32::from(of_document.insert(key));
                let all = found.entry(key).or_default();
                for target in targets {
                    match all.iter_mut().find(|(row, _)| *row == target.0) {
                        Some((_, count)) => *count += 1,
                        None => all.push((target.0, 1)),
                    }
                }
            }
        }
        let tokenizer = Tokenizer::new(corpus.manifest().options.lowercase);
        let mut name = |text: &str, row: DocRow| {
            let words: Vec<u64> = tokenizer.list(text).iter().map(|word| word_key(word)).collect();
            if words.is_empty() || words.len() > LONGEST_PHRASE {
                return;
            }
            let all = found.entry(phrase_key(&words)).or_default();
            match all.iter_mut().find(|(of, _)| *of == row.0) {
                Some((_, count)) => *count |= NAMES,
                None => all.push((row.0, NAMES)),
            }
        };
        for (row, &doc) in view.document_rows().zip(&*view.documents) {
            let title = corpus.title(doc).unwrap_or_default();
            name(title, row);
            if let Some((plain, _)) = title.split_once(" (") {
                name(plain, row);
            }
        }
        for (alias, doc) in corpus.redirects() {
            if let Some(row) = view.document_row(doc) {
                name(alias, row);
            }
        }
        let mut phrases: Vec<u64> = found.keys().copied().collect();
        phrases.sort_unstable();
        let numbers: HashMap<u64, u32> = phrases.iter().copied().zip(0..).collect();
        let firsts = first_words(view, &keys, &numbers);
        // Sums do not depend on their order.
        let counts: Vec<[AtomicU32; 2]> = phrases.iter().map(|_| Default::default()).collect();
        view.documents.par_iter().for_each(|&doc| {
            let words = corpus.words(doc);
            let mut seen = HashSet::new();
            for start in 0..words.len() {
                if !firsts[words[start].index()] {
                    continue;
                }
                let mut key = 0;
                for word in &words[start..words.len().min(start + LONGEST_PHRASE)] {
                    key = extend(key, keys[word.index()]);
                    if let Some(&number) = numbers.get(&key) {
                        counts[number as usize][0].fetch_add(1, Ordering::Relaxed);
                        if seen.insert(number) {
                            counts[number as usize][1].fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            }
        });
        let mut lexicon = LexiconBuf::default();
        for (key, counts) in phrases.into_iter().zip(counts) {
            let [places, documents] = counts.map(AtomicU32::into_inner);
            let (links, linking) = linked.get(&key).copied().unwrap_or_default();
            let Some(mut targets) = found.remove(&key) else { continue };
            let names = targets.iter().any(|(_, count)| count & NAMES != 0);
            if !names && f64::from(links) < LEAST_RATE * f64::from(places) {
                continue;
            }
            targets.sort_unstable_by_key(|&(row, count)| (std::cmp::Reverse(count & !NAMES), count & NAMES == 0, row));
            lexicon.keys.push(key);
            lexicon.counts.extend([places.max(links), links, documents.max(linking), linking]);
            for (row, count) in targets.into_iter().take(TARGETS) {
                lexicon.targets.push(row);
                lexicon.target_counts.push(count);
            }
            lexicon.ends.push(lexicon.targets.len() as u64);
        }
        lexicon
    }

    /// Borrowed.
    pub fn view(&self) -> Lexicon<'_> {
        let LexiconBuf { keys, counts, ends, targets, target_counts } = self;
        Lexicon { keys, counts, ends, targets, target_counts }
    }

    /// The arrays.
    pub fn tensors(&self) -> [Tensor<'_>; 5] {
        [
            Tensor::u64s(ARRAYS[0], &self.keys),
            Tensor::u32s(ARRAYS[1], &self.counts),
            Tensor::u64s(ARRAYS[2], &self.ends),
            Tensor::u32s(ARRAYS[3], &self.targets),
            Tensor::u32s(ARRAYS[4], &self.target_counts),
        ]
    }
}

/// The words that some phrase begins with: those that make phrases of one word, and those that begin anchors and names.
fn first_words(view: &View<'_>, keys: &[u64], numbers: &HashMap<u64, u32>) -> Vec<bool> {
    let corpus = view.corpus;
    let mut firsts = HashSet::new();
    for &doc in &*view.documents {
        let words = corpus.words(doc);
        for position in corpus.positions(doc).filter(|position| (1..=position.at).contains(&position.anchor)) {
            firsts.insert(keys[words[position.at - position.anchor].index()]);
        }
    }
    let tokenizer = Tokenizer::new(corpus.manifest().options.lowercase);
    let titles = view.documents.iter().filter_map(|&doc| corpus.title(doc));
    for name in titles.chain(corpus.redirects().map(|(alias, _)| alias)) {
        firsts.extend(tokenizer.list(name).first().map(|word| word_key(word)));
    }
    keys.iter().map(|key| firsts.contains(key) || numbers.contains_key(&extend(0, *key))).collect()
}

impl<'a> Lexicon<'a> {
    /// That of a model; `None` in a model that was made without.
    pub fn of(model: &'a Model) -> Option<Lexicon<'a>> {
        let lexicon = Lexicon {
            keys: model.optional(ARRAYS[0])?,
            counts: model.optional(ARRAYS[1])?,
            ends: model.optional(ARRAYS[2])?,
            targets: model.optional(ARRAYS[3])?,
            target_counts: model.optional(ARRAYS[4])?,
        };
        let fits = lexicon.counts.len() == 4 * lexicon.keys.len()
            && lexicon.ends.len() == lexicon.keys.len()
            && lexicon.targets.len() == lexicon.target_counts.len();
        fits.then_some(lexicon)
    }

    /// How many phrases.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// The number of a phrase.
    pub fn find(&self, key: u64) -> Option<usize> {
        self.keys.binary_search(&key).ok()
    }

    /// How often a phrase occurs.
    pub fn counts(&self, phrase: usize) -> PhraseCounts {
        let number = |which: usize| self.counts.get(4 * phrase + which).map_or(0.0, |&count| count as f32);
        PhraseCounts { places: number(0), linked: number(1), documents: number(2), linking: number(3) }
    }

    /// Where its links lead, the most frequent first.
    pub fn targets(&self, phrase: usize) -> impl Iterator<Item = PhraseTarget> + use<'a> {
        let start = phrase.checked_sub(1).map_or(0, |before| self.ends.get(before).map_or(0, |&end| end as usize));
        let end = self.ends.get(phrase).map_or(0, |&end| end as usize);
        let rows = self.targets.get(start..end).unwrap_or_default();
        let counts = self.target_counts.get(start..end).unwrap_or_default();
        rows.iter().zip(counts).map(|(&row, &count)| PhraseTarget {
            row: DocRow(row),
            links: (count & !NAMES) as f32,
            names: count & NAMES != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Split;
    use crate::{Document, Import};

    #[test]
    fn endings_for_more_than_one_do_not_count() {
        let pairs = [
            ("trees", "tree"),
            ("classes", "class"),
            ("boxes", "box"),
            ("class", "class"),
            ("is", "is"),
            ("status", "status"),
        ];
        pairs.iter().for_each(|(word, root)| assert_eq!(stem(word), *root));
        assert_eq!(word_key("caches"), word_key("caches"));
    }

    #[test]
    fn phrases_are_counted_by_hand() {
        let dir = tempfile::tempdir().expect("a directory");
        let documents = [
            Document::new("a", "[Parse trees][[t]] and a parse tree").title("A"),
            Document::new("b", "the parse tree of [x][[t]]").title("B"),
            Document::new("t", "nothing").title("Tree (maths)"),
        ];
        let corpus = Import::documents(documents).build(dir.path().join("c")).expect("a corpus");
        let view = View::new(&corpus, &Split::none(&corpus), 1).expect("a view");
        let lexicon = LexiconBuf::build(&view);
        let lexicon = lexicon.view();
        let find = |text: &str| lexicon.find(phrase_key(&text.split(' ').map(word_key).collect::<Vec<_>>()));
        let tree = find("parse tree").expect("an anchor");
        assert_eq!(lexicon.counts(tree), PhraseCounts { places: 3.0, linked: 1.0, documents: 2.0, linking: 1.0 });
        let targets: Vec<PhraseTarget> = lexicon.targets(tree).collect();
        assert_eq!(targets, [PhraseTarget { row: DocRow(2), links: 1.0, names: false }]);
        let title = find("tree").expect("a title without its brackets");
        assert!(lexicon.targets(title).all(|target| target.names && target.links == 0.0));
        assert_eq!(lexicon.counts(title).places, 3.0);
        assert_eq!(find("nothing"), None);
    }
}
