//! Asks a model for the places of a draft: where a link belongs, to what, and how likely.

use std::collections::{HashMap, HashSet};
use std::ops::{Range, RangeInclusive};

use super::features::{PageFeatures, gap};
use super::learn::{MIN_LINKS, RIVAL_COLUMNS};
use super::lexicon::{Lexicon, PhraseTarget, phrase_key, word_key};
use super::never::NeverLink;
use super::page::{Occurrence, Page, Surroundings};
use super::{PlaceTrees, SIDES};
use crate::corpus::sentence_words::SentenceWords;
use crate::document::{Date, Tokenizer};
use crate::draft::{Draft, DraftSource, DraftWord, TextKind, WantedLink};
use crate::error::{Error, Result};
use crate::id::{DocRow, WordRow};
use crate::model::Model;
use crate::model::weighting::rarity;
use crate::search::ranker::{LinkSource, Ranker, Scope, Shares};
use crate::search::{Query, Searcher};

/// The ranker is asked where a link is at least this likely, and its target is less likely than [`UNSURE`].
const ASKED_FROM: f32 = 0.3;
const UNSURE: f32 = 0.5;
/// It is asked for so many places of a draft, at the most: more of small models, which answer faster,
const MOST_ASKED: RangeInclusive<usize> = 24..=128;
/// until about so many documents have been looked at.
const LOOKED_AT: usize = 500_000;
/// It is asked so often, each time knowing the links that have become likely,
const ROUNDS: usize = 3;
/// which are those that are at least this likely.
const LIKELY: f32 = 0.5;
/// Places that ask for a link are answered up to this number.
const MOST_WANTED: usize = 1000;
/// Words on each side of a place that the ranker may read.
const WORDS_AROUND: usize = 400;

/// A place of a draft, with the document that a link there would most likely lead to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlaceCandidate {
    /// The first word.
    pub start: usize,
    /// Behind the last word; the same for a place without words, which is before this word.
    pub end: usize,
    /// The document.
    pub target: DocRow,
    /// How likely a link is here.
    pub place: f32,
    /// How likely a link here leads to the document.
    pub of_target: f32,
    /// Documents with this phrase, and those of them that have it as a link.
    pub documents: (u32, u32),
    /// The share of the places of the phrase that are links.
    pub rate: f32,
    /// The share of links of this phrase that lead to the document.
    pub share: f32,
}

impl PlaceCandidate {
    /// How likely there is a link here, to this document.
    pub fn probability(&self) -> f32 {
        self.place * self.of_target
    }
}

/// A draft, what is known of it, and what may be suggested for it.
#[derive(Debug, Clone)]
pub struct PlaceQuestion<'a> {
    /// The text.
    pub text: &'a str,
    /// The text, read.
    pub draft: &'a Draft,
    /// The document that the draft is, which is not suggested, and those that it links to, which are not either.
    pub source: DraftSource,
    /// The title of the draft.
    pub title: String,
    /// Nothing dated after this is suggested.
    pub until: Option<Date>,
    /// Never to be linked.
    pub never: NeverLink,
    /// If not empty, only these documents are suggested.
    pub only: HashSet<DocRow>,
    /// If given, only places within these bytes of the text are looked at; the rest is what surrounds them.
    pub within: Option<Range<usize>>,
}

impl<'a> PlaceQuestion<'a> {
    /// A draft of which nothing else is known.
    pub fn new(text: &'a str, draft: &'a Draft) -> PlaceQuestion<'a> {
        PlaceQuestion {
            text,
            draft,
            source: DraftSource::default(),
            title: String::new(),
            until: None,
            never: NeverLink::default(),
            only: HashSet::new(),
            within: None,
        }
    }

    /// Whether a place of these bytes is looked at.
    fn looks_at(&self, span: Range<usize>) -> bool {
        self.within.as_ref().is_none_or(|within| within.start <= span.start && span.end <= within.end)
    }

    /// Whether a link could lead to a document at all.
    fn admits(&self, model: &Model, row: DocRow) -> bool {
        Some(row) != self.source.document
            && self.until.is_none_or(|until| model.date(row.index()).is_none_or(|date| date.is_up_to(until)))
            && !self.never.document(model, row)
    }

    /// The bytes of a place: its words, or the end of the word before it.
    pub fn span(&self, place: &PlaceCandidate) -> Range<usize> {
        let words = &self.draft.words;
        match place.start < place.end {
            true => words[place.start].start as usize..words[place.end - 1].end as usize,
            false => place.end.checked_sub(1).map_or(0..0, |word| words[word].end as usize..words[word].end as usize),
        }
    }
}

/// The answer to a place that asks for a link.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedAnswer {
    /// The number of the place among those of the draft.
    pub wanted: usize,
    /// Documents, with their probabilities.
    pub hits: Vec<(DocRow, f32)>,
}

/// The place model of a model, ready to be asked.
pub struct PlaceModel<'a> {
    searcher: Searcher<'a>,
    ranker: Option<Ranker>,
    trees: PlaceTrees,
    lexicon: Lexicon<'a>,
    sides: &'a [u32],
    tokenizer: Tokenizer,
}

/// The best target of a place, and its probability.
pub(super) fn best_target(
    features: &PageFeatures<'_>,
    occurrence: &Occurrence,
    trees: &PlaceTrees,
    allowed: &dyn Fn(DocRow) -> bool,
) -> Option<(PhraseTarget, f32)> {
    let scored: Vec<(PhraseTarget, f32)> = occurrence
        .targets
        .iter()
        .map(|target| (*target, trees.scales[1].probability(trees.target.score(&features.target(occurrence, target)))))
        .collect();
    let total: f32 = scored.iter().map(|(_, probability)| probability).sum::<f32>().max(1.0);
    let best = scored
        .into_iter()
        .filter(|(target, _)| allowed(target.row))
        .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.row.cmp(&a.0.row)));
    best.map(|(target, probability)| (target, probability / total))
}

/// Why a model has not learnt where links belong, and what to do.
fn reason(model: &Model) -> String {
    let links: u64 = model.links_to().iter().map(|&links| u64::from(links)).sum();
    if model.about()["hybrid"].is_null() {
        "it was trained without a hybrid ranking; train it again with one".to_owned()
    } else if links < MIN_LINKS as u64 {
        format!("that takes {MIN_LINKS} links or more, and it has {links}; train again with more documents")
    } else {
        "it was trained by an earlier program, or on too few links; train it again".to_owned()
    }
}

impl<'a> PlaceModel<'a> {
    /// Prepares to ask `model`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a model that has not learnt where links belong.
    pub fn new(model: &'a Model) -> Result<PlaceModel<'a>> {
        let missing = || {
            let what = format!("this model has not learnt where links belong: {}", reason(model));
            Error::Unsupported { path: model.path().to_owned(), what }
        };
        let trees = PlaceTrees::of(model).ok_or_else(missing)?;
        let lexicon = Lexicon::of(model).ok_or_else(missing)?;
        let sides =
            model.optional(SIDES).filter(|sides: &&[u32]| sides.len() >= 2 * model.words()).ok_or_else(missing)?;
        let (searcher, ranker) = (Searcher::new(model), Ranker::of(model));
        Ok(PlaceModel { searcher, ranker, trees, lexicon, sides, tokenizer: model.tokenizer() })
    }

    /// The model.
    pub fn model(&self) -> &'a Model {
        self.searcher.model()
    }

    /// Reads text as that of the corpus was read.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Whether places are phrases; if not, they are the ends of words.
    pub fn by_phrases(&self) -> bool {
        self.trees.phrases
    }

    fn page<'q>(&self, question: &PlaceQuestion<'q>) -> Page<'q> {
        Page::new((question.draft, question.text), &question.title, question.source.document, None, self)
    }

    /// Where the links of a phrase lead, the most frequent first; `None` for words that the lexicon does not have.
    pub fn phrase_targets(&self, words: &[DraftWord]) -> Option<Vec<PhraseTarget>> {
        let keys: Vec<u64> = words.iter().map(|word| word_key(&word.text)).collect();
        self.lexicon.find(phrase_key(&keys)).map(|phrase| self.lexicon.targets(phrase).collect())
    }

    /// Every place of a draft with its most likely target, in order, and behind them some of these again with other targets.
    /// With `any_kind`, all words are prose.
    pub fn candidates(&self, question: &PlaceQuestion<'_>, any_kind: bool) -> Result<Vec<PlaceCandidate>> {
        let draft = question.draft;
        let page = self.page(question);
        let linked: HashSet<DocRow> = question.source.links.iter().copied().collect();
        let allowed = |row: DocRow| {
            !linked.contains(&row)
                && (question.only.is_empty() || question.only.contains(&row))
                && question.admits(self.model(), row)
        };
        let mut found = Vec::new();
        if self.trees.phrases {
            let occurrences = page.occurrences(self.lexicon, any_kind);
            let features = PageFeatures::new(&page, &occurrences, self);
            for (number, occurrence) in occurrences.iter().enumerate() {
                let words = &draft.words[occurrence.start..occurrence.end];
                let span = words.first().zip(words.last()).map(|(first, last)| first.span().start..last.span().end);
                if span.is_some_and(|span| !question.looks_at(span)) || question.never.phrase(words) {
                    continue;
                }
                let Some((target, of_target)) = best_target(&features, occurrence, &self.trees, &allowed) else {
                    continue;
                };
                let score = self.trees.place.score(&features.place(number, &target));
                found.push(PlaceCandidate {
                    start: occurrence.start,
                    end: occurrence.end,
                    target: target.row,
                    place: self.trees.scales[0].probability(score),
                    of_target,
                    documents: (occurrence.counts.documents as u32, occurrence.counts.linking as u32),
                    rate: occurrence.rate(0.0),
                    share: occurrence.share(&target),
                });
            }
        } else {
            for (word, here) in draft.words.iter().enumerate() {
                if (!any_kind && here.kind != TextKind::Prose) || !question.looks_at(here.span()) {
                    continue;
                }
                let place = self.trees.scales[0].probability(self.trees.place.score(&gap(&page, word, self)));
                found.push(PlaceCandidate {
                    start: word + 1,
                    end: word + 1,
                    target: DocRow(u32::MAX),
                    place,
                    of_target: 0.0,
                    documents: (0, 0),
                    rate: 0.0,
                    share: 0.0,
                });
            }
        }
        self.ask(question, &allowed, &mut found)?;
        Ok(found)
    }

    /// The phrases of a draft with their most frequent targets, a probability by their rates, and the features of a rival.
    pub fn rival_candidates(&self, question: &PlaceQuestion<'_>) -> Vec<(PlaceCandidate, Vec<f32>)> {
        let page = self.page(question);
        let occurrences = page.occurrences(self.lexicon, true);
        let features = PageFeatures::new(&page, &occurrences, self);
        let one = |(number, occurrence): (usize, &Occurrence)| {
            let target = occurrence.targets.first()?;
            let candidate = PlaceCandidate {
                start: occurrence.start,
                end: occurrence.end,
                target: target.row,
                place: occurrence.document_rate(0.1).min(1.0),
                of_target: 1.0,
                documents: (occurrence.counts.documents as u32, occurrence.counts.linking as u32),
                rate: occurrence.rate(0.0),
                share: occurrence.share(target),
            };
            let row = features.place(number, target);
            Some((candidate, RIVAL_COLUMNS.map(|column| row[column]).to_vec()))
        };
        occurrences.iter().enumerate().filter_map(one).collect()
    }

    /// Asks the ranker for the targets of the likeliest places of which nothing else is known. What a page links to tells
    /// much of what else it does, so it is asked again when some links have become likely. Where it finds several targets,
    /// the place stands behind all others once more for each.
    fn ask(
        &self,
        question: &PlaceQuestion<'_>,
        allowed: &dyn Fn(DocRow) -> bool,
        found: &mut Vec<PlaceCandidate>,
    ) -> Result<()> {
        let least = if self.trees.phrases { ASKED_FROM } else { 0.1 };
        let unsure = |candidate: &PlaceCandidate| candidate.place >= least && candidate.of_target < UNSURE;
        let mut asked: Vec<usize> = (0..found.len()).filter(|&number| unsure(&found[number])).collect();
        asked.sort_by(|&a, &b| found[b].place.total_cmp(&found[a].place).then(a.cmp(&b)));
        let (least, most) = (*MOST_ASKED.start(), *MOST_ASKED.end());
        asked.truncate((LOOKED_AT / self.model().documents().max(1)).clamp(least, most));
        let Some(ranker) = self.ranker.as_ref().filter(|_| !asked.is_empty()) else { return Ok(()) };
        let rows = self.rows(question.draft);
        let mut source = self.source(question)?;
        // Documents that are linked already take their share of the probability: where one of them is meant, no other is.
        let mask = match question.only.is_empty() {
            true => self.mask(&|row| question.admits(self.model(), row)),
            false => self.mask(allowed),
        };
        let first: Vec<PlaceCandidate> = asked.iter().map(|&number| found[number]).collect();
        let mut others = Vec::new();
        for round in 0..ROUNDS {
            let likely = choose(found, LIKELY, usize::MAX).into_iter().map(|one| one.target);
            let links: Vec<DocRow> = question.source.links.iter().copied().chain(likely).collect();
            if round > 0 && links == source.links {
                break;
            }
            source.links = links;
            others.clear();
            for (&number, before) in asked.iter().zip(&first) {
                let gap = Gap { draft: question.draft, rows: &rows, word: before.end };
                let hits = self.rank(gap, &source, &mask, Shares::HITS)?;
                let mut shared = share_out(before, &hits, ranker.shares);
                shared.retain(|one| one.target == before.target || allowed(one.target));
                let mut shared = shared.into_iter();
                found[number] = shared.next().unwrap_or(*before);
                others.extend(shared);
            }
        }
        found.extend(others);
        Ok(())
    }

    fn source(&self, question: &PlaceQuestion<'_>) -> Result<LinkSource> {
        let rows = question.draft.words.iter().filter_map(|word| self.word(&word.text));
        let source = LinkSource::of_words(self.model(), rows, question.source.links.clone())?;
        Ok(LinkSource { document: question.source.document, date: question.until, ..source })
    }

    /// Whether each document is allowed.
    fn mask(&self, allowed: &dyn Fn(DocRow) -> bool) -> Vec<bool> {
        (0..self.model().documents() as u32).map(|row| allowed(DocRow(row))).collect()
    }

    /// The words of a draft that the ranker knows.
    fn rows(&self, draft: &Draft) -> Vec<Option<WordRow>> {
        let terms = self.model().terms();
        draft.words.iter().map(|word| terms.find(&word.text).map(|row| WordRow(row as u32))).collect()
    }

    /// The best documents of `mask` for a link at a gap.
    fn rank(&self, gap: Gap<'_>, source: &LinkSource, mask: &[bool], wanted: usize) -> Result<Vec<(DocRow, f32)>> {
        let Some(ranker) = &self.ranker else { return Ok(Vec::new()) };
        let model = self.model();
        let (start, end) = (gap.word.saturating_sub(WORDS_AROUND), gap.rows.len().min(gap.word + WORDS_AROUND));
        let (rows, mark) = (&gap.rows[start..end], Some(gap.word - start));
        let around = Query::of_rows(rows, mark, model.words(), model.params().window);
        let query = Query { sentence: Some(gap.sentence()), ..around };
        let allowed = |row: usize| mask[row];
        let hits = ranker.rank(&self.searcher, &query, Some(source), wanted, Scope::of(&allowed))?;
        Ok(hits.unwrap_or_default().into_iter().map(|hit| (DocRow(hit.row), hit.score)).collect())
    }

    /// Answers the places of a draft that ask for a link, the first thousand of them.
    pub fn answer_wanted(&self, question: &PlaceQuestion<'_>, top: usize) -> Result<Vec<WantedAnswer>> {
        let draft = question.draft;
        if draft.wanted.is_empty() {
            return Ok(Vec::new());
        }
        let source = self.source(question)?;
        let mask = self.mask(&|row| question.admits(self.model(), row));
        let rows = self.rows(draft);
        let answer = |(wanted, place): (usize, &WantedLink)| {
            let gap = Gap { draft, rows: &rows, word: place.word };
            Ok(WantedAnswer { wanted, hits: self.rank(gap, &source, &mask, top)? })
        };
        let wanted = draft.wanted.iter().enumerate().filter(|(_, place)| question.looks_at(place.span.clone()));
        wanted.take(MOST_WANTED).map(answer).collect()
    }
}

/// A place with the target that its phrase has, and with those that the ranker found, which share what that leaves of the
/// probability: the likeliest first.
fn share_out(place: &PlaceCandidate, hits: &[(DocRow, f32)], shares: Shares) -> Vec<PlaceCandidate> {
    let left = 1.0 - place.of_target;
    let mut all = vec![*place];
    let found = shares.of(&hits.iter().map(|hit| hit.1).collect::<Vec<f32>>());
    for (&(target, _), share) in hits.iter().zip(found) {
        if target == place.target {
            all[0].of_target += left * share;
        } else {
            all.push(PlaceCandidate { target, of_target: left * share, share: 0.0, ..*place });
        }
    }
    if all.len() > 1 {
        // A place without words has no target of its own.
        all.retain(|one| one.target.0 != u32::MAX);
    }
    // Equal ones stay in the order of the ranker.
    all.sort_by(|a, b| b.of_target.total_cmp(&a.of_target));
    all
}

/// A place between two words of a draft.
#[derive(Clone, Copy)]
struct Gap<'a> {
    draft: &'a Draft,
    /// The words of the draft that the ranker knows.
    rows: &'a [Option<WordRow>],
    /// The number of the word behind it.
    word: usize,
}

impl Gap<'_> {
    /// The words of its sentence. A place between two sentences belongs to the first.
    fn sentence(&self) -> SentenceWords {
        let (before, after) = self.draft.words.split_at(self.word.min(self.draft.words.len()));
        let behind_first = before.iter().rev().take_while(|word| !word.first).count();
        SentenceWords {
            before: (behind_first + 1).min(before.len()),
            after: after.iter().take_while(|word| !word.first).count(),
        }
    }
}

/// The likeliest candidates: each document once, no two over the same words; in the order of the text.
pub fn choose(candidates: &[PlaceCandidate], least: f32, max: usize) -> Vec<PlaceCandidate> {
    let mut order: Vec<&PlaceCandidate> = candidates
        .iter()
        .filter(|candidate| candidate.target.0 != u32::MAX && candidate.probability() >= least)
        .collect();
    order.sort_by(|a, b| {
        b.probability().total_cmp(&a.probability()).then(a.start.cmp(&b.start)).then(b.end.cmp(&a.end))
    });
    let (mut words, mut targets, mut chosen) = (HashSet::new(), HashMap::new(), Vec::new());
    for candidate in order {
        let taken = (candidate.start..candidate.end.max(candidate.start + 1)).any(|word| words.contains(&word));
        if chosen.len() >= max || taken || targets.insert(candidate.target, ()).is_some() {
            continue;
        }
        words.extend(candidate.start..candidate.end.max(candidate.start + 1));
        chosen.push(*candidate);
    }
    chosen.sort_by_key(|candidate| (candidate.start, candidate.end));
    chosen
}

impl Surroundings for PlaceModel<'_> {
    fn word(&self, word: &str) -> Option<WordRow> {
        let row = self.model().terms().find(word)?;
        (row < self.model().words()).then_some(WordRow(row as u32))
    }

    fn rarity(&self, word: WordRow) -> f32 {
        rarity(self.model().word_documents()[word.index()], self.model().trained_documents())
    }

    fn keywords(&self, document: DocRow) -> Vec<(WordRow, u8)> {
        let known = |&(row, _): &(WordRow, u8)| row.index() < self.model().words();
        self.model().keywords().map(|keywords| keywords.each(document).filter(known).collect()).unwrap_or_default()
    }

    fn sources(&self, document: DocRow) -> &[DocRow] {
        self.searcher.linking_to(document)
    }

    fn title(&self, document: DocRow) -> &str {
        if document.index() < self.model().documents() { self.model().titles().get(document.index()) } else { "" }
    }

    fn sides(&self, word: WordRow) -> [f32; 3] {
        let [before, behind] = [0, 1].map(|which| self.sides[2 * word.index() + which] as f32);
        [self.model().word_counts()[word.index()] as f32, before, behind]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_phrase_leaves_is_shared_out_by_hand() {
        let place = PlaceCandidate {
            start: 3,
            end: 4,
            target: DocRow(7),
            place: 0.9,
            of_target: 0.2,
            documents: (5, 2),
            rate: 0.3,
            share: 0.4,
        };
        // Odds of 1 and 1/4, and as much as the latter for none: shares of 2/3 and 1/6 of what is left, 0.8.
        let shares = Shares::read(&json!([1.0, -1.386_294_4]));
        let found = share_out(&place, &[(DocRow(1), 0.5), (DocRow(7), 0.2)], shares);
        let [first, second] = &found[..] else { panic!("two targets: {found:?}") };
        assert_eq!([first.target, second.target], [DocRow(1), DocRow(7)]);
        assert!((first.of_target - 0.8 * 2.0 / 3.0).abs() < 1e-5, "{found:?}");
        assert!((second.of_target - (0.2 + 0.8 / 6.0)).abs() < 1e-5, "{found:?}");
        assert_eq!([first.share, second.share], [0.0, 0.4]);
        // Of a place without words no target is known.
        let bare = PlaceCandidate { target: DocRow(u32::MAX), of_target: 0.0, ..place };
        assert_eq!(share_out(&bare, &[], shares), [bare]);
        assert_eq!(share_out(&bare, &[(DocRow(1), 0.5)], shares).len(), 1);
    }
}
