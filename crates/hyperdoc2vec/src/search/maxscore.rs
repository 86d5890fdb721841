//! The best documents by BM25 without a look at all postings: MaxScore, in windows of documents.
//!
//! A question is asked with several weights for each of its words, as several rankings. In each window, the rare words
//! are read first. Words that stand in most documents are not, as long as all of them together could not lift a document
//! among the best of any ranking: they are looked up for the documents that could still be. What a word can add is known
//! for each window. What is found is exact: the same documents and scores as by a pass over all lists, to the last bit. Beside
//! an approximate index, the words that matter least are looked up for the best alone, so that some of these may be missed.
//!
//! After Turtle and Flood, "Query evaluation: strategies and optimizations" (1995), and Ding and Suel, "Faster top-k document
//! retrieval using block-max indexes" (2011). Ours, because scores are those of [`Bm25F`], and because six rankings share
//! one reading of the lists.

use std::sync::Arc;

use super::bm25::Bm25F;
use crate::id::{DocRow, WordRow};
use crate::model::index::kept::Kept;
use crate::model::index::skips::{Cursor, END, LONG, SkipTables};
use crate::search::rank::{Hit, top};

/// Rankings of each kind: a question has at most so many weights for a word.
const KINDS: usize = 4;
/// The scores of a document: by text and contexts, then by text alone.
const LANES: usize = 2 * KINDS;
/// Documents that are worked on together: their scores stay in the nearest caches.
const WINDOW: u32 = 1024;
/// Words are looked up instead of read while all of them together give less than this share of what is needed.
const LOOKED_UP: f32 = 0.6;
/// How many documents ahead the memory is asked for what lists have of them.
const ROWS_AHEAD: usize = 8;
/// A list has no more bounds than one for so many postings.
const POSTINGS_A_BOUND: usize = 64;
/// Where some of the best may be missed, the words asked for them make up this share of what a ranking can give,
const HEAVIEST_SHARE: f32 = 0.8;
/// and so many times as many documents as are wanted are scored by all words.
const OVERSAMPLING: f32 = 1.5;
/// Sums in another order differ by less than this share.
const ROUNDING: f32 = 1e-4;

/// Scores of one document by each ranking.
type Lanes = [f32; LANES];

/// A question of words with `N` weights each.
pub type WeightedTerms<'t, const N: usize> = &'t [(WordRow, [f32; N])];

/// How many documents each ranking is asked for: by text and contexts, and by text alone.
pub type WantedHits<const N: usize> = [[usize; N]; 2];

/// Documents, which rise, with their scores by each ranking.
pub struct ScoredRows<const N: usize> {
    rows: Vec<DocRow>,
    scores: [[Vec<f32>; N]; 2],
}

/// The best documents by each ranking, and all scores that were needed to find them.
pub struct BestByWords<const N: usize> {
    pub hits: [[Vec<Hit>; N]; 2],
    pub scored: ScoredRows<N>,
}

/// A field pair with its tables.
#[derive(Debug)]
pub struct MaxScore<'s, 'a> {
    pub bm25: &'s Bm25F<'a>,
    pub tables: &'s MaxScoreTables,
    /// Whether some of the best may be missed. The scores of those that are found are exact.
    pub approximate: bool,
}

/// What is known of the lists of words that were asked for.
#[derive(Debug, Default)]
pub struct MaxScoreTables {
    /// Of texts and of contexts.
    skips: [SkipTables; 2],
    bounds: Kept<WordBounds>,
}

/// The most that a word adds to a document, before its weight, in each stretch of windows: by text and contexts, and by
/// text alone.
#[derive(Debug)]
struct WordBounds {
    /// Documents of a stretch: two to the power of this.
    shift: u32,
    stretches: Vec<[f32; 2]>,
}

impl WordBounds {
    /// Of two lists that were not read from yet. A stretch has more than one window where a list has few postings.
    fn new(bm25: &Bm25F<'_>, word: WordRow) -> WordBounds {
        let lists = bm25.lists(word);
        let postings: usize = lists.iter().map(|list| list.documents() as usize).sum();
        let most = (postings / POSTINGS_A_BOUND).max(1);
        let mut shift = WINDOW.trailing_zeros();
        while bm25.documents() >> shift >= most && shift < usize::BITS - 1 {
            shift += 1;
        }
        let mut stretches = vec![[0.0f32; 2]; (bm25.documents() >> shift) + 1];
        let [mut text, mut cited] = lists.map(Iterator::peekable);
        loop {
            let row = match (text.peek(), cited.peek()) {
                (None, None) => return WordBounds { shift, stretches },
                (Some(&(row, _)), None) | (None, Some(&(row, _))) => row,
                (Some(&(one, _)), Some(&(other, _))) => one.min(other),
            };
            let [own, others] = [&mut text, &mut cited].map(|list| list.next_if(|&(at, _)| at == row));
            let (counts, has_own) = ([own, others].map(|found| found.map_or(0, |(_, count)| count)), own.is_some());
            // A damaged list may name documents that are not there.
            let Some([joint, alone]) = stretches.get_mut(row as usize >> shift) else { continue };
            let (count, saturated) = bm25.counts(row, counts);
            *joint = joint.max(bm25.joint_share(1.0, count));
            *alone = alone.max(if has_own { saturated } else { 0.0 });
        }
    }

    fn at(&self, document: u32) -> [f32; 2] {
        self.stretches.get(document as usize >> self.shift).copied().unwrap_or_default()
    }
}

/// A word of a question, at its place in both lists.
struct TermCursor<'a> {
    text: Cursor<'a>,
    cited: Cursor<'a>,
    /// What its saturated counts are multiplied with.
    weights: Lanes,
    /// The most that it can add to any score in the window at hand.
    most: Lanes,
    /// Where that is from. Nothing for short lists.
    bounds: Option<Arc<WordBounds>>,
}

/// Documents that may be among the best of one ranking.
struct Contenders {
    wanted: usize,
    hits: Vec<Hit>,
    /// A score that the last of the best reaches.
    threshold: f32,
    /// How many hits there were when that was found.
    seen: usize,
}

impl Contenders {
    fn add(&mut self, row: u32, score: f32) {
        if score > 0.0 && score >= self.threshold * (1.0 - ROUNDING) {
            self.hits.push(Hit { row, score });
            if self.hits.len() >= 2 * self.wanted.max(self.seen) {
                self.raise();
            }
        }
    }

    /// Raises the threshold to the score of the last of the best, and forgets what cannot be among them.
    fn raise(&mut self) {
        if self.hits.len() > self.wanted && self.wanted > 0 && self.hits.len() > self.seen {
            self.hits.select_nth_unstable_by(self.wanted - 1, |a, b| b.score.total_cmp(&a.score));
            self.threshold = self.hits[self.wanted - 1].score;
            let least = self.threshold * (1.0 - ROUNDING);
            self.hits.retain(|hit| hit.score >= least);
            self.seen = self.hits.len();
        }
    }
}

impl<'a> MaxScore<'_, 'a> {
    fn cursors(&self, word: WordRow) -> (Cursor<'a>, Cursor<'a>) {
        let [text, cited] = self.bm25.lists(word);
        (self.tables.skips[0].cursor(word, text), self.tables.skips[1].cursor(word, cited))
    }

    /// The best documents by each ranking, of those that are `eligible`: by falling score, of equal ones the lower number
    /// first; documents without any of the words are no hits.
    pub fn best<const N: usize>(
        &self,
        terms: WeightedTerms<'_, N>,
        wanted: WantedHits<N>,
        eligible: &dyn Fn(usize) -> bool,
    ) -> BestByWords<N> {
        let contenders = match self.approximate {
            true => {
                let more = |wanted: usize| (OVERSAMPLING * wanted as f32) as usize;
                self.contenders(&self.heaviest(terms), wanted.map(|wanted| wanted.map(more)), eligible)
            }
            false => self.contenders(terms, wanted, eligible),
        };
        let mut rows: Vec<DocRow> = contenders.iter().flatten().map(|hit| DocRow(hit.row)).collect();
        rows.sort_unstable();
        rows.dedup();
        let scores = self.scores(terms, &rows);
        let best = |kind: usize, number: usize| {
            let (scores, wanted): (&[f32], usize) = (&scores[kind][number], wanted[kind][number]);
            let mut hits = top(scores, wanted, |place| scores[place] > 0.0);
            hits.iter_mut().for_each(|hit| hit.row = rows[hit.row as usize].0);
            hits
        };
        let hits = [0, 1].map(|kind| std::array::from_fn(|number| best(kind, number)));
        BestByWords { hits, scored: ScoredRows { rows, scores } }
    }

    /// The words that make up most of what each ranking can give.
    fn heaviest<const N: usize>(&self, terms: WeightedTerms<'_, N>) -> Vec<(WordRow, [f32; N])> {
        let [joint_most, own_most] = self.bm25.most_saturated();
        let most: Vec<Lanes> = terms
            .iter()
            .map(|(word, weights)| {
                let (joint, own) = self.bm25.weights(*word, weights);
                shares(joint_most, own_most, &lanes(joint, own))
            })
            .collect();
        let mut asked = vec![false; terms.len()];
        let mut order: Vec<usize> = (0..terms.len()).collect();
        for lane in 0..LANES {
            order.sort_by(|&one, &other| most[other][lane].total_cmp(&most[one][lane]).then(one.cmp(&other)));
            let total: f32 = most.iter().map(|most| most[lane]).sum();
            let mut sum = 0.0;
            for &place in order.iter().take_while(|&&place| most[place][lane] > 0.0) {
                if sum >= HEAVIEST_SHARE * total {
                    break;
                }
                sum += most[place][lane];
                asked[place] = true;
            }
        }
        terms.iter().zip(asked).filter(|(_, asked)| *asked).map(|(term, _)| *term).collect()
    }

    /// The scores of some documents, which rise, of which some are known already.
    pub fn more_scores<const N: usize>(
        &self,
        terms: WeightedTerms<'_, N>,
        rows: &[DocRow],
        known: &ScoredRows<N>,
    ) -> [[Vec<f32>; N]; 2] {
        let place = |row: &DocRow| known.rows.binary_search(row).ok();
        let others: Vec<DocRow> = rows.iter().copied().filter(|row| place(row).is_none()).collect();
        let added = self.scores(terms, &others);
        let all = |kind: usize, number: usize| {
            let (known, mut added) = (&known.scores[kind][number], added[kind][number].iter());
            let score = |row| place(row).map(|place| known[place]).or_else(|| added.next().copied()).unwrap_or(0.0);
            rows.iter().map(score).collect()
        };
        [0, 1].map(|kind| std::array::from_fn(|number| all(kind, number)))
    }

    /// The scores of some documents, which rise, by each ranking: to the last bit those that a pass over the lists gives.
    pub fn scores<const N: usize>(&self, terms: WeightedTerms<'_, N>, rows: &[DocRow]) -> [[Vec<f32>; N]; 2] {
        let mut scores: [[Vec<f32>; N]; 2] = [0, 1].map(|_| std::array::from_fn(|_| vec![0.0; rows.len()]));
        let [both, alone] = &mut scores;
        for (word, weights) in terms {
            let (joint, own) = self.bm25.weights(*word, weights);
            let (mut text, mut cited) = self.cursors(*word);
            let mut entries = [0; 2];
            for (place, row) in rows.iter().enumerate() {
                if let Some(ahead) = rows.get(place + ROWS_AHEAD) {
                    entries = [text.prefetch(ahead.0, entries[0]), cited.prefetch(ahead.0, entries[1])];
                }
                let counts = [text.count_in(row.0), cited.count_in(row.0)];
                if counts == [0, 0] {
                    continue;
                }
                let (count, saturated) = self.bm25.counts(row.0, counts);
                for number in 0..N {
                    both[number][place] += self.bm25.joint_share(joint[number], count);
                    if counts[0] > 0 {
                        alone[number][place] += own[number] * saturated;
                    }
                }
            }
        }
        scores
    }

    /// A few more documents than are wanted, with the best among them.
    fn contenders<const N: usize>(
        &self,
        terms: WeightedTerms<'_, N>,
        wanted: WantedHits<N>,
        eligible: &dyn Fn(usize) -> bool,
    ) -> Vec<Vec<Hit>> {
        let mut terms: Vec<TermCursor<'a>> = terms.iter().map(|(word, weights)| self.term(*word, weights)).collect();
        // Words of the most documents are the first to be looked up only.
        terms.sort_by_key(|term| std::cmp::Reverse(term.text.postings() + term.cited.postings()));
        let mut best: Vec<Contenders> = (0..LANES)
            .map(|lane| {
                let wanted = wanted[lane / KINDS].get(lane % KINDS).copied().unwrap_or(0);
                // A ranking that nobody asks for is out of reach.
                let threshold = if wanted == 0 { f32::INFINITY } else { 0.0 };
                Contenders { wanted, hits: Vec::new(), threshold, seen: 0 }
            })
            .collect();
        let mut window = vec![[0.0f32; LANES]; WINDOW as usize];
        let documents = self.bm25.documents() as u32;
        let (mut survivors, mut looked_up) = (Vec::<(u32, Lanes)>::new(), Vec::new());
        for start in (0..documents).step_by(WINDOW as usize) {
            let end = documents.min(start.saturating_add(WINDOW));
            let thresholds: Lanes = std::array::from_fn(|lane| best[lane].threshold);
            terms.iter_mut().for_each(|term| term.enter(start));
            let mut rest = split(&terms, &thresholds, &mut looked_up);
            // Nothing of this window can be among the best.
            if looked_up.iter().all(|looked_up| *looked_up) {
                continue;
            }
            for term in terms.iter_mut().zip(&looked_up).filter(|(_, looked_up)| !**looked_up).map(|(term, _)| term) {
                self.read(term, start, end, &mut window);
            }
            survivors.clear();
            for (row, scores) in (start..end).zip(&mut window) {
                let sum = std::mem::take(scores);
                if can_reach(&sum, &rest, &thresholds) && eligible(row as usize) {
                    survivors.push((row, sum));
                }
            }
            // The words that can add most come first, so that fewer documents remain for the others.
            for term in terms.iter_mut().zip(&looked_up).rev().filter(|(_, it)| **it).map(|(term, _)| term) {
                if survivors.is_empty() {
                    break;
                }
                for (rest, most) in rest.iter_mut().zip(term.most) {
                    *rest = (*rest - most).max(0.0);
                }
                survivors.retain_mut(|(row, scores)| {
                    let counts = [term.text.count_in(*row), term.cited.count_in(*row)];
                    if counts != [0, 0] {
                        self.add(&term.weights, *row, counts, scores);
                    }
                    can_reach(scores, &rest, &thresholds)
                });
            }
            for (row, scores) in &survivors {
                best.iter_mut().zip(scores).for_each(|(best, &score)| best.add(*row, score));
            }
            best.iter_mut().for_each(Contenders::raise);
        }
        best.into_iter().map(|best| best.hits).collect()
    }

    fn term<const N: usize>(&self, word: WordRow, weights: &[f32; N]) -> TermCursor<'a> {
        let (joint, own) = self.bm25.weights(word, weights);
        let weights = lanes(joint, own);
        let [joint, own] = self.bm25.most_saturated();
        let most = shares(joint, own, &weights);
        let (text, cited) = self.cursors(word);
        let long = (text.postings() as usize).saturating_add(cited.postings() as usize) > LONG;
        let bounds = long.then(|| self.tables.bounds.get(word, || WordBounds::new(self.bm25, word)));
        TermCursor { text, cited, weights, most, bounds }
    }

    /// Adds what a word gives the documents of a window.
    fn read(&self, term: &mut TermCursor<'a>, start: u32, end: u32, window: &mut [Lanes]) {
        let TermCursor { text, cited, weights, .. } = term;
        text.seek(start);
        cited.seek(start);
        loop {
            let row = text.document().min(cited.document());
            if row >= end || row == END {
                return;
            }
            let mut counts = [0, 0];
            for (count, cursor) in counts.iter_mut().zip([&mut *text, &mut *cited]) {
                if cursor.document() == row {
                    *count = cursor.count();
                    cursor.advance();
                }
            }
            // A damaged list may go backwards.
            let Some(scores) = row.checked_sub(start).and_then(|place| window.get_mut(place as usize)) else {
                continue;
            };
            self.add(weights, row, counts, scores);
        }
    }

    /// Adds what a word that a document has so many times gives it.
    #[inline]
    fn add(&self, weights: &Lanes, row: u32, counts: [u32; 2], scores: &mut Lanes) {
        let (count, saturated) = self.bm25.counts(row, counts);
        let joint = self.bm25.joint_share(1.0, count);
        let own = if counts[0] > 0 { saturated } else { 0.0 };
        let shares = shares(joint, own, weights);
        for lane in 0..LANES {
            scores[lane] += shares[lane];
        }
    }
}

impl TermCursor<'_> {
    /// Looks up the most that it can add in the window that starts with a document.
    fn enter(&mut self, document: u32) {
        if let Some(bounds) = &self.bounds {
            let [joint, own] = bounds.at(document);
            self.most = shares(joint, own, &self.weights);
        }
    }
}

/// Weights by text and contexts, and by text alone, side by side.
fn lanes<const N: usize>(joint: [f32; N], own: [f32; N]) -> Lanes {
    let of = |weights: &[f32; N], number: usize| weights.get(number).copied().unwrap_or(0.0);
    std::array::from_fn(|lane| if lane < KINDS { of(&joint, lane) } else { of(&own, lane - KINDS) })
}

/// What a word adds to each score, by what it adds by text and contexts, and by text alone, before its weights.
#[inline]
fn shares(joint: f32, own: f32, weights: &Lanes) -> Lanes {
    let shares = [joint, joint, joint, joint, own, own, own, own];
    std::array::from_fn(|lane| weights[lane] * shares[lane])
}

/// Whether a document with these sums, and at most `rest` to come, can be among the best of a ranking.
#[inline]
fn can_reach(scores: &Lanes, rest: &Lanes, thresholds: &Lanes) -> bool {
    let mut can = false;
    for lane in 0..LANES {
        let most = scores[lane] + rest[lane];
        can |= most > 0.0 && most >= thresholds[lane] * (1.0 - 2.0 * ROUNDING);
    }
    can
}

/// Chooses the words that are looked up: of the most frequent as many as cannot lift a document among the best together.
/// Returns the most that they can add.
fn split(terms: &[TermCursor<'_>], thresholds: &Lanes, looked_up: &mut Vec<bool>) -> Lanes {
    let mut rest = [0.0; LANES];
    looked_up.clear();
    looked_up.extend(terms.iter().map(|term| {
        let with: Lanes = std::array::from_fn(|lane| rest[lane] + term.most[lane]);
        let fits = with.iter().zip(thresholds).all(|(with, threshold)| *with <= LOOKED_UP * threshold);
        if fits {
            rest = with;
        }
        fits
    }));
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::index::postings::PostingsBuf;
    use crate::rng::Rng;
    use crate::search::bm25::{B, BM25F_K1};

    const WORDS: u32 = 120;

    /// Word `w` stands in about one of `w / 8 + 1` documents, most often once.
    fn random(documents: usize, purpose: u64) -> PostingsBuf {
        let words = |document: usize| {
            let mut rng = Rng::keyed(3, &[purpose, document as u64]);
            let mut words = Vec::new();
            for word in (0..WORDS).filter(|_| document % 50 != 7) {
                while words.len() < 90 && rng.below(word as usize / 8 + 2) == 0 {
                    words.push(word);
                }
            }
            words
        };
        let each = |document: usize, tell: &mut dyn FnMut(u32)| words(document).into_iter().for_each(tell);
        PostingsBuf::build(documents, WORDS as usize, |_| 60, each)
    }

    #[test]
    fn what_is_found_is_what_a_pass_over_all_lists_finds_to_the_last_bit() {
        // Some windows, the last of them not full.
        let documents = 3 * WINDOW as usize + 77;
        let (text, cited) = (random(documents, 1), random(documents, 2));
        let bm25 = Bm25F::joined([text.view(), cited.view()], [1.0, 1.0], BM25F_K1, B);
        let tables = Default::default();
        let maxscore = MaxScore { bm25: &bm25, tables: &tables, approximate: false };
        for (question, wanted) in [(0, 1), (1, 10), (2, 128), (3, 128), (4, documents + 5)] {
            let mut rng = Rng::keyed(4, &[question]);
            let mut words: Vec<u32> = (0..40).map(|_| rng.below(WORDS as usize + 3) as u32).collect();
            words.sort_unstable();
            words.dedup();
            let mut weights = || [rng.unit(), 0.2 * rng.unit(), 1.0];
            let terms: Vec<(WordRow, [f32; 3])> = words.into_iter().map(|word| (WordRow(word), weights())).collect();
            let eligible = |row: usize| question != 3 || row % 3 == 1;
            let found = maxscore.best(&terms, [[wanted, wanted, 5], [wanted, 0, wanted]], &eligible).hits;
            let mut both: [Vec<f32>; 3] = std::array::from_fn(|_| vec![0.0; documents]);
            let mut alone = both.clone();
            bm25.add_scores_and_first(
                &terms,
                both.each_mut().map(Vec::as_mut_slice),
                alone.each_mut().map(Vec::as_mut_slice),
            );
            for (kind, scores) in [both, alone].iter().enumerate() {
                for (number, scores) in scores.iter().enumerate() {
                    let wanted = [[wanted, wanted, 5], [wanted, 0, wanted]][kind][number];
                    let expected = top(scores, wanted, |row| scores[row] > 0.0 && eligible(row));
                    assert!(expected.len() > 4 || wanted < 5, "there is something to find");
                    assert_eq!(found[kind][number], expected, "question {question}, ranking {kind}, {number}");
                }
            }
        }
    }

    #[test]
    fn bounds_are_the_most_that_a_word_adds_in_each_stretch() {
        let documents = 5 * WINDOW as usize + 3;
        // Word 0 in every second document, word 1 in every fortieth.
        let lists = |most: usize| {
            let each = move |document: usize, tell: &mut dyn FnMut(u32)| {
                (0..document % most).filter(|_| document % 2 == 1).for_each(|_| tell(0));
                (0..document % most).filter(|_| document % 40 == 7).for_each(|_| tell(1));
            };
            PostingsBuf::build(documents, 2, move |document| 2 * (document % most), each)
        };
        let (text, cited) = (lists(9), lists(4));
        let bm25 = Bm25F::joined([text.view(), cited.view()], [1.0, 1.0], BM25F_K1, B);
        for (word, stretches) in [(0, 6), (1, 3)] {
            let bounds = WordBounds::new(&bm25, WordRow(word));
            assert_eq!(bounds.stretches.len(), stretches);
            let (mut both, mut alone) = (vec![0.0; documents], vec![0.0; documents]);
            bm25.add_scores_and_first(&[(WordRow(word), [1.0])], [&mut both], [&mut alone]);
            let ([joint], [by_text]) = bm25.weights(WordRow(word), &[1.0]);
            for (row, (both, alone)) in both.iter().zip(&alone).enumerate() {
                let [most, most_alone] = bounds.at(row as u32);
                assert!(*both <= joint * most * 1.0001 && *alone <= by_text * most_alone * 1.0001, "document {row}");
            }
            let best = both.iter().fold(0.0f32, |best, score| best.max(*score));
            let most = bounds.stretches.iter().fold(0.0f32, |best, [joint, _]| best.max(*joint));
            assert!((joint * most / best - 1.0).abs() < 1e-4, "some document has as much");
        }
    }

    #[test]
    fn by_the_heaviest_words_nearly_all_are_found_with_their_exact_scores() {
        let documents = 8 * WINDOW as usize;
        let (text, cited) = (random(documents, 1), random(documents, 2));
        let bm25 = Bm25F::joined([text.view(), cited.view()], [1.0, 1.0], BM25F_K1, B);
        let tables = Default::default();
        let exact = MaxScore { bm25: &bm25, tables: &tables, approximate: false };
        let some = MaxScore { approximate: true, ..exact };
        // Words that weigh by their distance, as those of a question do.
        let weight = |word: u32| (-(word as f32 * 37.0 % 40.0) / 10.0).exp();
        let terms: Vec<(WordRow, [f32; 1])> = (0..40).map(|word| (WordRow(3 * word), [weight(word)])).collect();
        let heaviest = some.heaviest(&terms);
        assert!(heaviest.len() < terms.len() && heaviest.iter().all(|term| terms.contains(term)));
        let [expected, found] = [&exact, &some].map(|it| it.best(&terms, [[64], [64]], &|_| true).hits);
        for (expected, found) in expected.iter().flatten().zip(found.iter().flatten()) {
            let shared = found.iter().filter(|hit| expected.contains(hit)).count();
            assert!(found.len() == 64 && shared >= 56, "{shared} of 64");
            assert_eq!(found[0], expected[0]);
        }
    }

    #[test]
    fn frequent_words_are_looked_up_for_few_documents() {
        // All documents have word 0, one in a thousand has word 1: with ten wanted, word 0 lifts nobody among the best.
        let documents = 16_384;
        let each = |document: usize, tell: &mut dyn FnMut(u32)| {
            tell(0);
            (0..4).filter(|_| document % 1000 == 1).for_each(|_| tell(1));
        };
        let text = PostingsBuf::build(documents, 2, |_| 2, each);
        let none = PostingsBuf::build(documents, 2, |_| 0, |_, _| ());
        let bm25 = Bm25F::joined([text.view(), none.view()], [1.0, 1.0], BM25F_K1, B);
        let tables = Default::default();
        let maxscore = MaxScore { bm25: &bm25, tables: &tables, approximate: false };
        let terms = [0, 1].map(|word| maxscore.term(WordRow(word), &[1.0]));
        let mut looked_up = Vec::new();
        let found = maxscore.contenders(&[(WordRow(0), [1.0]), (WordRow(1), [1.0])], [[10], [0]], &|_| true);
        let mut rows: Vec<u32> = found[0].iter().map(|hit| hit.row).collect();
        rows.sort_unstable();
        assert_eq!(rows, (0..17).map(|number| 1000 * number + 1).filter(|row| *row < 16_384).collect::<Vec<u32>>());
        let least = found[0].iter().map(|hit| hit.score).fold(f32::INFINITY, f32::min);
        let mut thresholds = [f32::INFINITY; LANES];
        thresholds[0] = least;
        let rest = split(&terms, &thresholds, &mut looked_up);
        assert_eq!(looked_up, [true, false]);
        assert!(rest[0] > 0.0 && rest[0] < LOOKED_UP * least);
        thresholds[0] = 0.0;
        split(&terms, &thresholds, &mut looked_up);
        assert_eq!(looked_up, [false, false], "nothing is found yet");
    }
}
