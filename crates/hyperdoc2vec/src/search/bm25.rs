//! BM25: documents ranked by the words they share with a query, rare words and short documents counting more.
//!
//! `score(d) = Σ weight · idf · count · (k1 + 1) / (count + k1 · (1 − b + b · length / average length))`
//! with `idf = ln(1 + (N − n + ½) / (n + ½))` for a word that n of N documents have.
//!
//! Ours, not tantivy: queries weigh their words, scores are shared out among words exactly, and the lists lie in the model
//! file.

use crate::id::{DocRow, WordRow};
use crate::kernel::ln;
use crate::model::index::postings::{PostingList, Postings};

/// How soon more of the same word stops to count.
pub const K1: f32 = 2.0;
/// How much the length of a document counts, from 0 to 1.
pub const B: f32 = 0.75;
/// The first constant where texts and contexts are asked as one.
pub const BM25F_K1: f32 = 4.0;

/// A word of a query and its weight there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// The word.
    pub word: WordRow,
    /// The weight; 1 for a word that occurs once.
    pub weight: f32,
}

/// One field of the documents, ready to be asked.
#[derive(Debug, Clone)]
pub struct Bm25<'a> {
    postings: Postings<'a>,
    k1: f32,
    /// By which a document's length damps its counts: `k1 · (1 − b + b · length / average)`.
    norms: Vec<f32>,
}

impl<'a> Bm25<'a> {
    /// With the usual constants.
    pub fn new(postings: Postings<'a>) -> Bm25<'a> {
        Bm25::with(postings, K1, B)
    }

    /// With constants of one's own. The average length is that of the documents that have the field at all.
    pub fn with(postings: Postings<'a>, k1: f32, b: f32) -> Bm25<'a> {
        let total: u64 = postings.lengths.iter().map(|&length| u64::from(length)).sum();
        let filled = postings.lengths.iter().filter(|&&length| length > 0).count();
        let average = (total as f64 / filled.max(1) as f64).max(1.0) as f32;
        let norms = postings.lengths.iter().map(|&length| k1 * (1.0 - b + b * length as f32 / average)).collect();
        Bm25 { postings, k1, norms }
    }

    /// How many documents have a word.
    pub fn documents_with(&self, word: WordRow) -> u32 {
        self.postings.list(word).documents()
    }

    /// The rarity of a word.
    pub fn idf(&self, word: WordRow) -> f32 {
        let (with, all) = (self.documents_with(word) as f32, self.norms.len() as f32);
        ln(1.0 + ((all - with).max(0.0) + 0.5) / (with + 0.5))
    }

    /// The score that a word which occurs `count` times gives a document, before its rarity and weight.
    #[inline]
    fn saturated(&self, count: u32, norm: f32) -> f32 {
        let count = count as f32;
        count * (self.k1 + 1.0) / (count + norm)
    }

    /// Adds `scale` times each document's score to `scores`.
    pub fn add_scores(&self, terms: &[Term], scale: f32, scores: &mut [f32]) {
        let terms: Vec<(WordRow, [f32; 1])> = terms.iter().map(|term| (term.word, [scale * term.weight])).collect();
        self.add_scores_of(&terms, [scores]);
    }

    /// Adds each document's scores for several questions that have the same words with other weights: lists are read
    /// once.
    pub fn add_scores_of<const N: usize>(&self, terms: &[(WordRow, [f32; N])], mut scores: [&mut [f32]; N]) {
        for &(word, weights) in terms {
            let rarity = self.idf(word);
            let weights = weights.map(|weight| weight * rarity);
            for (document, count) in self.postings.list(word) {
                let Some(&norm) = self.norms.get(document as usize) else { continue };
                let saturated = self.saturated(count, norm);
                for (scores, weight) in scores.iter_mut().zip(weights) {
                    if let Some(score) = scores.get_mut(document as usize) {
                        *score += weight * saturated;
                    }
                }
            }
        }
    }

    /// The score of every document.
    pub fn scores(&self, terms: &[Term]) -> Vec<f32> {
        let mut scores = vec![0.0; self.norms.len()];
        self.add_scores(terms, 1.0, &mut scores);
        scores
    }

    /// The share of each term in `scale` times the score of each of these documents: a row a document, a number a term.
    /// Added up in order from 0, a row is the score to the last bit.
    pub fn shares(&self, terms: &[Term], scale: f32, documents: &[DocRow]) -> Vec<Vec<f32>> {
        let mut places: Vec<(u32, usize)> = DocRow::numbers(documents).iter().copied().zip(0..).collect();
        places.sort_unstable();
        let mut shares = vec![vec![0.0; terms.len()]; documents.len()];
        for (number, term) in terms.iter().enumerate() {
            let weight = scale * term.weight * self.idf(term.word);
            let mut list = self.postings.list(term.word).peekable();
            for &(wanted, place) in &places {
                while list.next_if(|&(document, _)| document < wanted).is_some() {}
                if let (Some(&(document, count)), Some(&norm)) = (list.peek(), self.norms.get(wanted as usize))
                    && document == wanted
                {
                    shares[place][number] = weight * self.saturated(count, norm);
                }
            }
        }
        shares
    }
}

/// Two fields of the same documents, asked as one (BM25F): the counts of a word, each put in relation to the length of
/// its field and weighted, are added before they saturate. A document that lacks one of the fields loses little where
/// the other has the word.
#[derive(Debug, Clone)]
pub struct Bm25F<'a> {
    fields: [Bm25<'a>; 2],
    /// For each field, the count of one word in each document, by the document's length.
    counts: [Vec<f32>; 2],
    k1: f32,
}

/// Where more than one in so many documents have a word, all documents are passed.
const DENSE: usize = 16;

impl<'a> Bm25F<'a> {
    /// A document's own text, and the contexts of the links that point at it, with the usual constants.
    pub fn new(text: Bm25<'a>, cited: Postings<'a>) -> Bm25F<'a> {
        Bm25F::with([text, Bm25::new(cited)], [1.0, 1.0], BM25F_K1)
    }

    /// Two fields with their weights.
    pub fn with(fields: [Bm25<'a>; 2], weights: [f32; 2], k1: f32) -> Bm25F<'a> {
        let counts = [0, 1].map(|field| {
            let Bm25 { k1, norms, .. } = &fields[field];
            norms.iter().map(|norm| weights[field] * k1 / norm).collect()
        });
        Bm25F { fields, counts, k1 }
    }

    /// Two fields, of which each word counts the weight of its field, in relation to the length of both together. A
    /// document that many link to gains by their words no more than it loses by its length.
    pub fn joined(fields: [Postings<'a>; 2], weights: [f32; 2], k1: f32, b: f32) -> Bm25F<'a> {
        let length = |document: usize| -> f32 {
            let of = |(field, weight): (&Postings<'_>, f32)| {
                weight * field.lengths.get(document).copied().unwrap_or(0) as f32
            };
            fields.iter().zip(weights).map(of).sum()
        };
        let lengths: Vec<f32> = (0..fields[0].lengths.len()).map(length).collect();
        let filled = lengths.iter().filter(|&&length| length > 0.0).count();
        let total: f64 = lengths.iter().map(|&length| f64::from(length)).sum();
        let average = (total / filled.max(1) as f64).max(1.0) as f32;
        let count = |weight: f32, length: f32| weight / (1.0 - b + b * length / average);
        let counts = weights.map(|weight| lengths.iter().map(|&length| count(weight, length)).collect());
        Bm25F { fields: fields.map(Bm25::new), counts, k1 }
    }

    /// The rarity of a word: that of the field where more documents have it.
    pub fn idf(&self, word: WordRow) -> f32 {
        let [first, second] = &self.fields;
        first.idf(word).min(second.idf(word))
    }

    /// How many documents there are.
    pub(super) fn documents(&self) -> usize {
        self.counts.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// The documents that have a word in each of the fields.
    pub(super) fn lists(&self, word: WordRow) -> [PostingList<'a>; 2] {
        [0, 1].map(|field: usize| self.fields[field].postings.list(word))
    }

    /// The weights of a word before its counts: in both fields together, and in the first alone.
    pub(super) fn weights<const N: usize>(&self, word: WordRow, weights: &[f32; N]) -> ([f32; N], [f32; N]) {
        let (rarity, own_rarity) = (self.idf(word), self.fields[0].idf(word));
        (weights.map(|weight| weight * rarity * (self.k1 + 1.0)), weights.map(|weight| weight * own_rarity))
    }

    /// The count of a word that a document has so many times in each field, by its length, and its saturated count in the
    /// first alone.
    #[inline]
    pub(super) fn counts(&self, document: u32, counts: [u32; 2]) -> (f32, f32) {
        let mut sum = 0.0;
        for (field, count) in counts.into_iter().enumerate().filter(|&(_, count)| count > 0) {
            sum += self.count(field, document, count);
        }
        let norm = self.fields[0].norms.get(document as usize).copied().unwrap_or(f32::INFINITY);
        (sum, self.fields[0].saturated(counts[0], norm))
    }

    /// What a word of this weight and count gives a document.
    #[inline]
    pub(super) fn joint_share(&self, weight: f32, count: f32) -> f32 {
        weight * count / (count + self.k1)
    }

    /// More than any count can saturate to: of both fields together, before the weights, and of the first alone.
    pub(super) fn most_saturated(&self) -> [f32; 2] {
        [1.0, self.fields[0].k1 + 1.0]
    }

    /// The count of `count` words in a document, by its length.
    #[inline]
    fn count(&self, field: usize, document: u32, count: u32) -> f32 {
        self.counts[field].get(document as usize).map_or(0.0, |each| count as f32 * each)
    }

    /// Adds `scale` times each document's score to `scores`.
    pub fn add_scores(&self, terms: &[Term], scale: f32, scores: &mut [f32]) {
        let terms: Vec<(WordRow, [f32; 1])> = terms.iter().map(|term| (term.word, [scale * term.weight])).collect();
        self.add_scores_of(&terms, [scores]);
    }

    /// Adds each document's scores for several questions that have the same words with other weights: lists are read
    /// once.
    pub fn add_scores_of<const N: usize>(&self, terms: &[(WordRow, [f32; N])], scores: [&mut [f32]; N]) {
        self.add(terms, scores, None);
    }

    /// As [`Bm25F::add_scores_of`], and to `first` the scores by the first field alone, as [`Bm25::add_scores_of`] has
    /// them: the lists of that field, which are the longest, are read once for both.
    pub fn add_scores_and_first<const N: usize>(
        &self,
        terms: &[(WordRow, [f32; N])],
        scores: [&mut [f32]; N],
        first: [&mut [f32]; N],
    ) {
        self.add(terms, scores, Some(first));
    }

    fn add<const N: usize>(
        &self,
        terms: &[(WordRow, [f32; N])],
        mut scores: [&mut [f32]; N],
        mut first: Option<[&mut [f32]; N]>,
    ) {
        let lengths = scores.iter().chain(first.iter().flatten()).map(|scores| scores.len());
        let documents = lengths.min().unwrap_or(0).min(self.fields[0].norms.len());
        // The counts of one word by document, all 0 before and after it, and the documents that have it.
        let (mut counts, mut with) = (vec![0.0f32; documents], Vec::new());
        for &(word, weights) in terms {
            let (weights, own_weights) = self.weights(word, &weights);
            let lists = self.lists(word);
            let dense = lists.iter().map(|list| list.documents() as usize).sum::<usize>() * DENSE > documents;
            for (field, list) in lists.into_iter().enumerate() {
                for (document, count) in list {
                    let Some(sum) = counts.get_mut(document as usize) else { continue };
                    if !dense && *sum == 0.0 {
                        with.push(document);
                    }
                    *sum += self.count(field, document, count);
                    if let (Some(first), 0) = (&mut first, field) {
                        let saturated = self.fields[0].saturated(count, self.fields[0].norms[document as usize]);
                        for (scores, weight) in first.iter_mut().zip(own_weights) {
                            scores[document as usize] += weight * saturated;
                        }
                    }
                }
            }
            if dense {
                // These are the same numbers without a branch a document: the others add 0.
                for (scores, weight) in scores.iter_mut().zip(weights) {
                    for (score, &count) in scores.iter_mut().zip(&counts) {
                        *score += weight * count / (count + self.k1);
                    }
                }
                counts.fill(0.0);
                continue;
            }
            for document in with.drain(..) {
                let count = std::mem::take(&mut counts[document as usize]);
                for (scores, weight) in scores.iter_mut().zip(weights) {
                    scores[document as usize] += weight * count / (count + self.k1);
                }
            }
        }
    }

    /// As [`Bm25::shares`].
    pub fn shares(&self, terms: &[Term], scale: f32, documents: &[DocRow]) -> Vec<Vec<f32>> {
        let mut places: Vec<(u32, usize)> = DocRow::numbers(documents).iter().copied().zip(0..).collect();
        places.sort_unstable();
        let mut shares = vec![vec![0.0; terms.len()]; documents.len()];
        let mut counts = vec![0.0f32; places.len()];
        for (number, term) in terms.iter().enumerate() {
            let weight = scale * term.weight * self.idf(term.word) * (self.k1 + 1.0);
            let lists = self.lists(term.word);
            counts.fill(0.0);
            // One plain pass over each list, up to the last document that is asked for.
            for (field, mut list) in lists.into_iter().enumerate() {
                let mut found = list.next();
                for (&(wanted, _), sum) in places.iter().zip(&mut counts) {
                    while let Some((document, _)) = found
                        && document < wanted
                    {
                        found = list.next();
                    }
                    if let Some((document, count)) = found
                        && document == wanted
                    {
                        *sum += self.count(field, document, count);
                    }
                }
            }
            for (&(_, place), &count) in places.iter().zip(&counts) {
                shares[place][number] = weight * count / (count + self.k1);
            }
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::index::postings::PostingsBuf;

    /// "fish soup", "fish fish bread bread", "bread"; fish 0, soup 1, bread 2.
    fn three_documents() -> PostingsBuf {
        let documents: [&[u32]; 3] = [&[0, 1], &[0, 0, 2, 2], &[2]];
        PostingsBuf::build(3, 3, |_| 4, |d, tell| documents[d].iter().for_each(|&word| tell(word)))
    }

    fn one(word: u32) -> Term {
        Term { word: WordRow(word), weight: 1.0 }
    }

    #[test]
    fn scores_of_three_documents_by_hand() {
        let postings = three_documents();
        let bm25 = Bm25::with(postings.view(), 1.2, 0.75);
        // idf: fish ln(1 + 1.5/2.5) = 0.470004, soup ln(1 + 2.5/1.5) = 0.980829.
        // Average length 7/3, so norms 1.2 (0.25 + 0.75 · length · 3/7) = 1.071429, 1.842857, 0.685714.
        let close = |found: &[f32], expected: &[f32]| {
            assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-5), "{found:?} {expected:?}");
        };
        // fish: 0.470004 · 2.2/2.071429 and 0.470004 · 4.4/3.842857; soup: 0.980829 · 2.2/2.071429.
        close(&bm25.scores(&[one(0)]), &[0.499177, 0.538146, 0.0]);
        close(&bm25.scores(&[one(0), one(1)]), &[0.499177 + 1.041708, 0.538146, 0.0]);
        let heavy = Term { weight: 2.0, ..one(2) };
        // bread: 2 · 0.470004 · (4.4/3.842857, 2.2/1.685714).
        close(&bm25.scores(&[heavy]), &[0.0, 1.076292, 1.226791]);
        assert_eq!([0, 1, 7].map(|word| bm25.documents_with(WordRow(word))), [2, 1, 0]);
    }

    #[test]
    fn shares_add_up_to_the_score() {
        let postings = three_documents();
        let bm25 = Bm25::new(postings.view());
        let terms = [one(2), one(0), Term { weight: 0.3, ..one(1) }, one(9)];
        let mut scores = vec![0.0; 3];
        bm25.add_scores(&terms, 0.7, &mut scores);
        let shares = bm25.shares(&terms, 0.7, &[2, 0, 1, 5].map(DocRow));
        for (document, shares) in [2, 0, 1].into_iter().zip(&shares) {
            assert_eq!(shares.iter().fold(0.0, |sum, share| sum + share), scores[document]);
        }
        assert_eq!(shares[0][1..], [0.0; 3], "bread alone is in the last");
        assert_eq!(shares[3], [0.0; 4], "no such document");
    }

    #[test]
    fn two_fields_saturate_as_one_by_hand() {
        let text = three_documents();
        // Others say "fish fish" of the last document, "fish bread" of the second.
        let contexts: [&[u32]; 3] = [&[], &[0, 2], &[0, 0]];
        let cited = PostingsBuf::build(3, 3, |_| 2, |d, tell| contexts[d].iter().for_each(|&word| tell(word)));
        let joint = Bm25F::with([Bm25::new(text.view()), Bm25::new(cited.view())], [1.0, 0.5], 2.0);
        let mut scores = vec![0.0; 3];
        joint.add_scores(&[one(0)], 1.0, &mut scores);
        // In relation to the length (norms of the first test, divided by k1): text 1/0.892857, 2/1.535714, none;
        // contexts, which all have the average length: none, 0.5, 1. Together 1.12, 1.802326, 1. idf 0.470004.
        // Score: idf · 3 · counts / (counts + 2).
        let expected = [0.506158, 0.668354, 0.470004];
        assert!(scores.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-5), "{scores:?} {expected:?}");
        let terms = [one(1), one(0), one(2)];
        let mut scores = vec![0.0; 3];
        joint.add_scores(&terms, 0.7, &mut scores);
        for (document, shares) in [2, 0].into_iter().zip(joint.shares(&terms, 0.7, &[2, 0].map(DocRow))) {
            assert_eq!(shares.iter().fold(0.0, |sum, share| sum + share), scores[document]);
        }
    }

    #[test]
    fn two_fields_of_one_length_by_hand() {
        let text = three_documents();
        // Others say "fish fish" of the last document, "fish bread" of the second.
        let contexts: [&[u32]; 3] = [&[], &[0, 2], &[0, 0]];
        let cited = PostingsBuf::build(3, 3, |_| 2, |d, tell| contexts[d].iter().for_each(|&word| tell(word)));
        let joint = Bm25F::joined([text.view(), cited.view()], [1.0, 0.5], 2.0, 0.75);
        let mut scores = vec![0.0; 3];
        joint.add_scores(&[one(0)], 1.0, &mut scores);
        // Lengths 2, 4 + 1, 1 + 1, on average 3: fish counts 1, 2.5 and 1, by 0.25 + 0.75 · (2/3, 5/3, 2/3) = 0.75, 1.5,
        // 0.75: 1.333333, 1.666667, 1.333333. idf 0.470004; score idf · 3 · count / (count + 2).
        let expected = [0.564005, 0.640915, 0.564005];
        assert!(scores.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-5), "{scores:?} {expected:?}");
        let (mut once, mut twice) = (vec![0.0; 3], vec![0.0; 3]);
        joint.add_scores_of(&[(WordRow(0), [1.0, 2.0])], [&mut once, &mut twice]);
        assert_eq!((once, twice), (scores.clone(), scores.iter().map(|score| 2.0 * score).collect()));
    }

    #[test]
    fn rare_and_frequent_words_are_scored_alike() {
        // Word w stands in every document whose number is a multiple of w² + 1.
        let lists = |times: usize| {
            PostingsBuf::build(
                999,
                12,
                |_| 12,
                |document, tell| {
                    let words = (0..12u32).filter(|word| (document as u32).is_multiple_of(word * word + 1));
                    words.for_each(|word| (0..=document % (times + word as usize)).for_each(|_| tell(word)));
                },
            )
        };
        let (text, cited) = (lists(3), lists(5));
        let joint = Bm25F::new(Bm25::new(text.view()), cited.view());
        let terms: Vec<Term> = (0..12).map(one).collect();
        let mut scores = vec![0.0; 999];
        joint.add_scores(&terms, 1.0, &mut scores);
        let all: Vec<DocRow> = (0..999).map(DocRow).collect();
        for (score, shares) in scores.iter().zip(joint.shares(&terms, 1.0, &all)) {
            assert_eq!(shares.iter().fold(0.0, |sum, share| sum + share), *score);
        }
    }

    #[test]
    fn a_field_that_no_document_has_scores_nothing() {
        let postings = PostingsBuf::build(3, 3, |_| 0, |_, _| ());
        assert_eq!(Bm25::new(postings.view()).scores(&[one(0)]), [0.0; 3]);
        assert!(Bm25::new(Postings::default()).scores(&[one(0)]).is_empty());
    }
}
