//! How well a question fits short texts: the title of a candidate, and each of the contexts in which others link to it.

use std::sync::OnceLock;

use crate::id::{DocRow, WordRow};
use crate::kernel::{exp, ln};
use crate::model::index::links::{AROUND, Links};
use crate::search::query::Query;

/// Contexts of one document that are looked at.
const MOST_CONTEXTS: usize = 24;
/// A word this far from a link weighs 1/e of one that touches it.
const DECAY: f32 = 8.0;
/// A slot of the table of words that holds none.
const FREE: u32 = u32::MAX;

/// How the contexts of links to a document fit a question.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct ContextFit {
    /// The share of the question that the best context has.
    pub best: f32,
    /// The mean over the best three.
    pub best_three: f32,
    /// The sum of the squares over all.
    pub votes: f32,
    /// The rarity of pairs of words in common with one context, at the most.
    pub phrase: f32,
}

/// How a title fits a question.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct TitleFit {
    /// The rarity of the title's words that stand near the link.
    pub found: f32,
    /// Its share of the rarity of all words of the title.
    pub covered: f32,
    /// The share of the title's pairs of words that the question has.
    pub phrase: f32,
    /// The rarity of the first word of the title, if it stands near the link.
    pub head: f32,
}

/// How the surnames of a document's authors fit a question.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct AuthorFit {
    /// The rarity of those that stand near the link, by their distances,
    pub found: f32,
    /// and their share of all.
    pub covered: f32,
    /// The weight of the first, if it stands near the link.
    pub first: f32,
}

/// How alike the authors of two documents are, by their surnames.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct AuthorsInCommon {
    /// The rarity of those in common,
    pub found: f32,
    /// and its share of the rarity of all of the one.
    pub share: f32,
    /// Whether both have the same first author.
    pub first: bool,
}

impl AuthorsInCommon {
    /// Of a document by `authors` with one by `others`.
    pub(super) fn new(authors: &[WordRow], others: &[WordRow], rarity: impl Fn(WordRow) -> f32) -> AuthorsInCommon {
        let total: f32 = authors.iter().map(|&author| rarity(author)).sum();
        let common: f32 = authors.iter().filter(|author| others.contains(author)).map(|&author| rarity(author)).sum();
        AuthorsInCommon {
            found: common,
            share: common / total.max(1e-6),
            first: authors.first().is_some_and(|author| others.first() == Some(author)),
        }
    }
}

/// A question, ready to be compared with short texts.
pub(super) struct NearWords {
    /// An open hash table: rows of words, and their numbers.
    slots: Vec<(u32, u32)>,
    /// By number: the weight of a word by its distance, and its rarity.
    words: Vec<(f32, f32)>,
    /// Numbers of words that follow each other, rising, and the smaller of their rarities.
    pairs: Vec<((u32, u32), f32)>,
    /// The sum of the squares of weight times rarity.
    total: f32,
    /// The weights of words by how many stand between one and the link.
    by_distance: [f32; AROUND],
}

impl NearWords {
    /// The words of `query`, which weigh by their distance and by `rarity`.
    pub(super) fn new(query: &Query, rarity: impl Fn(WordRow) -> f32) -> NearWords {
        let size = (4 * query.words.len().max(1)).next_power_of_two();
        let by_distance = std::array::from_fn(|distance| exp(-(distance as f32) / DECAY));
        let slots = vec![(FREE, 0); size];
        let mut near = NearWords { slots, words: Vec::new(), pairs: Vec::new(), total: 0.0, by_distance };
        for word in &query.words {
            let weight = exp(-(word.distance as f32) / DECAY);
            match near.number(word.row) {
                Some(number) => near.words[number].0 = near.words[number].0.max(weight),
                None => {
                    let slot = near.slot(word.row);
                    near.slots[slot] = (word.row.0, near.words.len() as u32);
                    near.words.push((weight, rarity(word.row)));
                }
            }
        }
        let numbers: Vec<usize> = query.reading().0.into_iter().filter_map(|row| near.number(row)).collect();
        let pair =
            |pair: &[usize]| ((pair[0] as u32, pair[1] as u32), near.words[pair[0]].1.min(near.words[pair[1]].1));
        let mut pairs: Vec<((u32, u32), f32)> = numbers.windows(2).map(pair).collect();
        pairs.sort_unstable_by_key(|&(pair, _)| pair);
        pairs.dedup_by_key(|&mut (pair, _)| pair);
        near.total = near.words.iter().map(|(weight, rarity)| (weight * rarity).powi(2)).sum();
        NearWords { pairs, ..near }
    }

    /// The slot that holds a word, or the free one where it would stand.
    #[inline]
    fn slot(&self, row: WordRow) -> usize {
        let last = self.slots.len() - 1;
        let mut slot = (row.0.wrapping_mul(0x9e37_79b1) as usize >> 7) & last;
        while self.slots[slot].0 != FREE && self.slots[slot].0 != row.0 {
            slot = (slot + 1) & last;
        }
        slot
    }

    /// The number of a word of the question.
    #[inline]
    fn number(&self, row: WordRow) -> Option<usize> {
        let (found, number) = self.slots[self.slot(row)];
        (found == row.0).then_some(number as usize)
    }

    /// The rarity of two words that follow each other in the question.
    #[inline]
    fn pair(&self, first: usize, second: usize) -> Option<f32> {
        let wanted = (first as u32, second as u32);
        self.pairs.binary_search_by_key(&wanted, |&(pair, _)| pair).ok().map(|place| self.pairs[place].1)
    }

    /// The fit of the contexts of links to `document`, those that stand in `left_out` left out.
    pub(super) fn contexts(&self, links: &Links<'_>, document: DocRow, left_out: Option<DocRow>) -> ContextFit {
        let (mut best, mut fit) = ([0.0f32; 3], ContextFit::default());
        // For each word of the question the largest weight in this context, and which context that was.
        let mut largest = vec![(0.0f32, usize::MAX); self.words.len()];
        let mut contexts = links.contexts(document);
        for number in 0..MOST_CONTEXTS {
            let (mut product, mut phrase) = (0.0f32, 0.0f32);
            let mut last = None;
            let found = contexts.next_words(|row, distance| {
                let Some(word) = self.number(row) else {
                    last = None;
                    return;
                };
                phrase += last.replace(word).and_then(|last| self.pair(last, word)).unwrap_or(0.0);
                let (weight, rarity) = self.words[word];
                let before = if largest[word].1 == number { largest[word].0 } else { 0.0 };
                let here = self.by_distance[distance.min(AROUND - 1)];
                if here > before {
                    product += weight * (here - before) * rarity * rarity;
                    largest[word] = (here, number);
                }
            });
            let Some(source) = found else { break };
            if left_out == Some(source) {
                continue;
            }
            let share = product / self.total.max(1e-6);
            fit.votes += share * share;
            fit.phrase = fit.phrase.max(phrase);
            if share > best[2] {
                best[2] = share;
                best.sort_by(|a, b| b.total_cmp(a));
            }
        }
        ContextFit { best: best[0], best_three: best.iter().sum::<f32>() / 3.0, ..fit }
    }

    /// The cosine with words that are counted, each by the logarithm of its count and its rarity.
    pub(super) fn cosine(&self, words: impl Iterator<Item = (WordRow, u8)>, rarity: impl Fn(WordRow) -> f32) -> f32 {
        static LOGARITHMS: OnceLock<[f32; 256]> = OnceLock::new();
        let logarithms = LOGARITHMS.get_or_init(|| std::array::from_fn(|count| ln(1.0 + count as f32)));
        let (mut product, mut square) = (0.0f32, 0.0f32);
        for (row, count) in words {
            let number = self.number(row);
            let (weight, rarity) = number.map_or_else(|| (0.0, rarity(row)), |number| self.words[number]);
            let here = logarithms[usize::from(count)] * rarity;
            square += here * here;
            product += weight * rarity * here;
        }
        product / (self.total * square).sqrt().max(1e-6)
    }

    /// The weight of a word by its distance from the link; 0 for one that the question does not have.
    pub(super) fn weight(&self, row: WordRow) -> f32 {
        self.number(row).map_or(0.0, |number| self.words[number].0)
    }

    /// The fit of the surnames of authors.
    pub(super) fn authors(&self, words: &[WordRow], rarity: impl Fn(WordRow) -> f32) -> AuthorFit {
        let mut fit = AuthorFit::default();
        let mut found = 0.0f32;
        for (place, &row) in words.iter().enumerate() {
            let weight = self.weight(row);
            if weight > 0.0 {
                found += 1.0;
                fit.found += weight * rarity(row);
                fit.first = if place == 0 { weight } else { fit.first };
            }
        }
        fit.covered = found / words.len().max(1) as f32;
        fit
    }

    /// The fit of a title.
    pub(super) fn title(&self, words: &[WordRow], rarity: impl Fn(WordRow) -> f32) -> TitleFit {
        let (mut fit, mut total, mut pairs) = (TitleFit::default(), 0.0f32, 0.0f32);
        let mut last = None;
        for (place, &row) in words.iter().enumerate() {
            let number = self.number(row);
            let (weight, rarity) = number.map_or_else(|| (0.0, rarity(row)), |number| self.words[number]);
            total += rarity;
            fit.found += rarity * weight;
            if place == 0 {
                fit.head = rarity * weight;
            } else {
                pairs += rarity;
                fit.phrase += last.zip(number).and_then(|(last, number)| self.pair(last, number)).unwrap_or(0.0);
            }
            last = number;
        }
        fit.covered = fit.found / total.max(1e-3);
        fit.phrase /= pairs.max(1e-3);
        fit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::index::links::{Context, LinksBuf};

    /// "naive bayes [[?]]": naive is 0, of rarity 1, and bayes 1, of rarity 2; all others have rarity 3.
    fn question() -> NearWords {
        let query = Query::of_rows(&[Some(WordRow(0)), Some(WordRow(1))], Some(2), 2, 10);
        NearWords::new(&query, rarity)
    }

    fn rarity(word: WordRow) -> f32 {
        [1.0, 2.0].get(word.index()).copied().unwrap_or(3.0)
    }

    fn close(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4), "{found:?}, not {expected:?}");
    }

    #[test]
    fn contexts_fit_by_the_words_they_share_near_the_link() {
        let rows = |rows: &[u32]| WordRow::all(rows).to_vec();
        let context = |source, before: &[u32], after: &[u32]| Context {
            link: 0,
            source: DocRow(source),
            before: rows(before),
            after: rows(after),
        };
        let of = |document: DocRow| match document.0 {
            0 => vec![context(1, &[0, 1], &[]), context(2, &[7, 1, 1], &[8]), context(3, &[9], &[])],
            _ => vec![],
        };
        let links = LinksBuf::extended(Links::default(), 2, of);
        let (near, links) = (question(), links.view());
        // Weights e^(−1/8) = 0.882497 and 1, so that the whole is 0.882497² + 2² = 4.778801. The first context is the
        // question itself: 1. The second has bayes, of which the nearer counts: 2²/4.778801 = 0.83703. The third: 0.
        let fit = near.contexts(&links, DocRow(0), None);
        close(&[fit.best, fit.best_three, fit.votes], &[1.0, 1.83703 / 3.0, 1.0 + 0.83703 * 0.83703]);
        assert_eq!(fit.phrase, 1.0, "the first has both words in a row");
        let fit = near.contexts(&links, DocRow(0), Some(DocRow(1)));
        close(&[fit.best, fit.phrase], &[0.83703, 0.0]);
        assert_eq!(near.contexts(&links, DocRow(1), None), ContextFit::default());
    }

    #[test]
    fn titles_fit_by_the_share_of_them_that_stands_near_the_link() {
        let near = question();
        let fit = |title: &[u32]| near.title(WordRow::all(title), rarity);
        // Found 1 · 0.882497 + 2 · 1 of 1 + 2 + 3; the pair (naive, bayes) has rarity 1, of 2 + 3 behind the first word.
        let whole = fit(&[0, 1, 7]);
        close(
            &[whole.found, whole.covered, whole.phrase, whole.head],
            &[2.882497, 2.882497 / 6.0, 1.0 / 5.0, 0.882497],
        );
        let turned = fit(&[1, 0]);
        close(&[turned.found, turned.phrase, turned.head], &[2.882497, 0.0, 2.0]);
        assert_eq!((fit(&[]), fit(&[8]).found), (TitleFit::default(), 0.0));
    }

    #[test]
    fn surnames_fit_by_those_that_stand_near_the_link() {
        let near = question();
        let fit = |rows: &[u32]| near.authors(WordRow::all(rows), rarity);
        let both = fit(&[1, 0, 7]);
        close(&[both.found, both.covered, both.first], &[2.0 + 0.882497, 2.0 / 3.0, 1.0]);
        let second = fit(&[7, 1]);
        close(&[second.found, second.covered, second.first], &[2.0, 0.5, 0.0]);
        assert_eq!((fit(&[]), fit(&[8])), (AuthorFit::default(), AuthorFit::default()));
    }

    #[test]
    fn authors_in_common_count_by_their_rarity() {
        let fit = |one: &[u32], other: &[u32]| AuthorsInCommon::new(WordRow::all(one), WordRow::all(other), rarity);
        // Of rarities 1, 2 and 3, the second and the third are in common.
        let some = fit(&[0, 1, 7], &[7, 1]);
        close(&[some.found, some.share], &[5.0, 5.0 / 6.0]);
        assert!(!some.first);
        assert_eq!(fit(&[1], &[1, 0]), AuthorsInCommon { found: 2.0, share: 1.0, first: true });
        assert_eq!((fit(&[], &[1]), fit(&[1], &[])), (AuthorsInCommon::default(), AuthorsInCommon::default()));
    }

    #[test]
    fn words_that_stand_out_are_compared_by_their_cosine() {
        // The question is (0.882497, 2), of length 2.186047. Three times naive and once a word of rarity 3 is
        // (ln 4 · 1, ln 2 · 3) = (1.386294, 2.079442), of length 2.499178; in common is 0.882497 · 1.386294.
        let found = question().cosine([(WordRow(0), 3), (WordRow(7), 1)].into_iter(), rarity);
        close(&[found], &[0.882497 * 1.386294 / (2.186047 * 2.499178)]);
        assert_eq!(question().cosine(std::iter::empty(), rarity), 0.0);
    }
}
