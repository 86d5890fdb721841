//! The scores of all documents by single rankings: for a text, and for the document that it stands in.

use std::collections::BTreeMap;

use super::fit::{AuthorFit, ContextFit, NearWords, TitleFit};
use super::{LinkSource, Scope};
use crate::corpus::window::NearWord;
use crate::document::Date;
use crate::error::Result;
use crate::id::{DocRow, WordRow};
use crate::kernel::{exp, exp_all, ln};
use crate::model::index::short_fields::ShortField;
use crate::model::index::terms::Field;
use crate::model::{Model, Vectors};
use crate::search::bm25::Term;
use crate::search::rank::{Hit, products, top};
use crate::search::{Query, Searcher};

/// Candidates that a ranking gives,
const CANDIDATES: usize = 64;
/// and BM25 on texts and contexts.
const MORE_CANDIDATES: usize = 128;
/// A stand-in for a score that is not known.
const UNKNOWN: f32 = -50.0;
/// Of the documents linked in a source so many are looked at.
const MOST_LINKED: usize = 64;
/// Of the links to a candidate so many are looked at.
const MOST_SOURCES: usize = 256;
/// The best documents by text whose links are votes.
const NEIGHBOURS: usize = 32;
/// A model weighs the words of a question by one of these decays; the passage ranking goes by the other.
const NEAR_DECAY: f32 = 5.0;
const FAR_DECAY: f32 = 20.0;
/// The decay of the rankings that heed the sentence of the link,
const SENTENCE_DECAY: f32 = 40.0;
/// and the weight of a word outside it, relative to one inside.
const OUTSIDE: f32 = 0.5;
/// The most characteristic words of a source that are asked for.
const SOURCE_WORDS: usize = 32;
/// Links from documents not older than this beside the newest are recent: two years, as packed dates have them.
const RECENT: i32 = 20_000;

/// The scores of one ranking: one for each document, the places of the best, and its candidates.
pub(super) struct RankingScores {
    scores: Vec<f32>,
    places: BTreeMap<DocRow, usize>,
    pub best: f32,
    pub candidates: Vec<DocRow>,
}

impl RankingScores {
    fn new(scores: Vec<f32>, wanted: usize, scope: Scope<'_>) -> RankingScores {
        RankingScores::above(f32::NEG_INFINITY, scores, wanted, scope)
    }

    /// Documents with scores that are not above `least` have no place.
    fn above(least: f32, scores: Vec<f32>, wanted: usize, Scope { eligible, allowed }: Scope<'_>) -> RankingScores {
        let hits = top(&scores, wanted, |row| scores[row] > least && eligible(row));
        let best = hits.first().map_or(0.0, |hit| hit.score);
        let rows = |hits: &[Hit]| hits.iter().map(|hit| DocRow(hit.row)).collect::<Vec<DocRow>>();
        let candidates = match hits.iter().all(|hit| allowed(hit.row as usize)) {
            true => rows(&hits),
            false => rows(&top(&scores, wanted, |row| scores[row] > least && eligible(row) && allowed(row))),
        };
        let places = hits.iter().zip(0..).map(|(hit, place)| (DocRow(hit.row), place)).collect();
        RankingScores { scores, places, best, candidates }
    }

    /// No document has a score.
    fn unknown(documents: usize) -> RankingScores {
        RankingScores { scores: vec![UNKNOWN; documents], places: BTreeMap::new(), best: 0.0, candidates: Vec::new() }
    }

    pub(super) fn of(&self, row: DocRow) -> f32 {
        self.scores[row.index()]
    }

    pub(super) fn below_best(&self, row: DocRow) -> f32 {
        self.of(row) - self.best
    }

    pub(super) fn relative(&self, row: DocRow) -> f32 {
        if self.best > 0.0 { self.of(row) / self.best } else { 0.0 }
    }

    pub(super) fn log_rank(&self, row: DocRow) -> f32 {
        ln(1.0 + self.places.get(&row).map_or(2 * CANDIDATES, |&place| place) as f32)
    }
}

/// Which of the later signals trees know: others are not computed, and give no candidates.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownSignals {
    /// Those of version 4 of models.
    pub passages: bool,
    /// Those of version 6.
    pub authors: bool,
    /// Those of version 7.
    pub sentences: bool,
}

/// The rankings of all documents for a text.
pub(super) struct TextSignals<'a> {
    model: &'a Model,
    links_to: &'a [u32],
    links_a_document: f32,
    pub embedding: RankingScores,
    pub content: RankingScores,
    pub text: RankingScores,
    pub cited: RankingScores,
    /// The most that BM25 could reach, on the text and with the contexts of links.
    pub most_text: f32,
    pub most_cited: f32,
    /// The logarithm of the sum over documents of what the embedding predicts, less the best.
    pub log_total: f32,
    pub newest: Option<Date>,
    pub words: usize,
    /// Nothing for models that do not know these.
    pub passage: Option<PassageSignals>,
}

/// The rankings of all documents for a text that came with version 4 of models.
pub(super) struct PassageSignals {
    /// As `cited`, with the other decay.
    pub passage: RankingScores,
    pub most_passage: f32,
    /// As `text`, with the other decay.
    pub text: RankingScores,
    /// The rarity of words in titles.
    pub titles: RankingScores,
    /// The links of the best documents by text, as votes.
    pub neighbours: RankingScores,
    /// BM25 by the sentence. Nothing for models before version 7.
    pub sentences: Option<SentenceSignals>,
    /// The rarity of words among the surnames of authors. Nothing for models before version 6.
    pub authors: Option<RankingScores>,
    near: NearWords,
    /// The years that stand near the link, as words, with their weights.
    years: Vec<(i32, f32)>,
}

/// BM25 where words outside the sentence of the link weigh less.
pub(super) struct SentenceSignals {
    /// On texts and contexts.
    pub cited: RankingScores,
    /// The most that could be reached.
    pub most: f32,
    /// On texts.
    pub text: RankingScores,
}

/// A document, and how its title and the links to it fit a question.
pub(super) struct Candidate {
    pub row: DocRow,
    pub contexts: ContextFit,
    pub title: TitleFit,
    pub authors: AuthorFit,
    /// The weight of its year, if that stands near the link.
    pub year: f32,
    /// The cosine of the question and the words that stand out in the document.
    pub keywords: f32,
    /// Links from recent documents.
    pub recent_links: f32,
}

impl<'a> TextSignals<'a> {
    /// `None` where the model knows no word of the question.
    pub(super) fn new(
        searcher: &Searcher<'a>,
        query: &Query,
        scope: Scope<'_>,
        known: KnownSignals,
    ) -> Result<Option<TextSignals<'a>>> {
        let model = searcher.model();
        let documents = model.documents();
        let terms = searcher.terms(query);
        if terms.is_empty() {
            return Ok(None);
        }
        let (bm25, bm25f) = (searcher.text()?, searcher.cited()?);
        let (text, cited, passage) = if known.passages {
            let (text, cited, passage) = PassageSignals::new(searcher, query, scope, known)?;
            (text, cited, Some(passage))
        } else {
            let by_words = |field| searcher.bm25_scores(query, field).map(Option::unwrap_or_default);
            let text = RankingScores::above(0.0, by_words(Field::Text)?, CANDIDATES, scope);
            (text, RankingScores::above(0.0, by_words(Field::Cited)?, CANDIDATES, scope), None)
        };
        let most =
            |idf: &dyn Fn(WordRow) -> f32| terms.iter().map(|term| term.weight * idf(term.word)).sum::<f32>().max(1e-6);
        let (rows, weights) = query.weights(model)?;
        let vector = |which| -> Result<Vec<f32>> {
            let mut vector = vec![0.0; model.params().dim];
            model.stored_vectors(which).gather_sum(WordRow::numbers(&rows), &weights, &mut vector);
            Ok(vector)
        };
        let (embedding, content) = if rows.is_empty() {
            (RankingScores::unknown(documents), RankingScores::unknown(documents))
        } else {
            let scores = products(&vector(Vectors::WordIn)?, model.stored_vectors(Vectors::DocOut));
            let content = products(&vector(Vectors::WordOut)?, model.stored_vectors(Vectors::DocIn));
            (RankingScores::new(scores, CANDIDATES, scope), RankingScores::new(content, CANDIDATES / 2, scope))
        };
        let eligible = || (0..documents).filter(|&row| (scope.eligible)(row));
        let mut shares: Vec<f32> = eligible().map(|row| (embedding.scores[row] - embedding.best).max(-80.0)).collect();
        exp_all(&mut shares);
        let log_total = ln(shares.iter().fold(0.0f32, |sum, share| sum + share).max(1.0));
        let dates = model.dates();
        let newest = eligible().filter_map(|row| dates.get(row)).max().and_then(|&date| Date::from_packed(date));
        Ok(Some(TextSignals {
            model,
            links_to: model.links_to(),
            links_a_document: searcher.links_a_document(),
            embedding,
            content,
            text,
            cited,
            most_text: most(&|word| bm25.idf(word)),
            most_cited: most(&|word| bm25f.idf(word)),
            log_total,
            newest,
            words: query.words.len(),
            passage,
        }))
    }

    /// Facts about a document that only a candidate has; links that stand in the document `own` do not count.
    pub(super) fn candidate(&self, searcher: &Searcher<'_>, row: DocRow, own: Option<DocRow>) -> Result<Candidate> {
        let mut found = Candidate {
            row,
            contexts: ContextFit::default(),
            title: TitleFit::default(),
            authors: AuthorFit::default(),
            year: 0.0,
            keywords: 0.0,
            recent_links: 0.0,
        };
        if let Some(PassageSignals { near, years, .. }) = &self.passage {
            let rarity = |word| searcher.rarity(word);
            found.contexts = near.contexts(&searcher.links, row, own);
            found.title = near.title(searcher.short_words(ShortField::Title, row), rarity);
            let by_authors = |word| author_rarity(searcher, word);
            found.authors = near.authors(searcher.short_words(ShortField::Authors, row), by_authors);
            let year = self.model.dates().get(row.index()).map_or(0, |date| date / 10_000);
            found.year =
                years.iter().filter(|(found, _)| *found == year).fold(0.0, |most, (_, weight)| weight.max(most));
            if let Some(keywords) = self.model.keywords() {
                found.keywords = near.cosine(keywords.each(row), rarity);
            }
            if let Some(newest) = self.newest {
                let (dates, since) = (self.model.dates(), newest.packed() - RECENT);
                let recent = |source: &&DocRow| dates.get(source.index()).is_some_and(|&date| date >= since);
                let sources = searcher.linking_to(row);
                // Of very many links one in `step` stands for the others.
                let step = sources.len().div_ceil(MOST_SOURCES).max(1);
                found.recent_links = (sources.iter().step_by(step).filter(recent).count() * step) as f32;
            }
        }
        Ok(found)
    }

    /// A feature that not every model knows.
    pub(super) fn passages(&self, of: impl Fn(&PassageSignals) -> f32) -> f32 {
        self.passage.as_ref().map_or(0.0, of)
    }

    /// A feature that models know from version 7 on.
    pub(super) fn sentences(&self, of: impl Fn(&SentenceSignals) -> f32) -> f32 {
        self.passage.as_ref().and_then(|more| more.sentences.as_ref()).map_or(0.0, of)
    }

    /// The best documents of each ranking, rising.
    pub(super) fn candidates(&self) -> Vec<DocRow> {
        let mut rankings = vec![&self.embedding, &self.text, &self.cited, &self.content];
        if let Some(PassageSignals { passage, text, titles, neighbours, authors, sentences, .. }) = &self.passage {
            rankings.extend([passage, text, titles, neighbours]);
            rankings.extend(authors);
            rankings.extend(sentences.iter().flat_map(|by| [&by.cited, &by.text]));
        }
        let mut rows: Vec<DocRow> = rankings.iter().flat_map(|scores| &scores.candidates).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    pub(super) fn links(&self, row: DocRow) -> f32 {
        self.links_to.get(row.index()).copied().unwrap_or(0) as f32
    }

    pub(super) fn documents(&self) -> usize {
        self.model.documents()
    }

    /// The logarithm of the mean number of links to a document.
    pub(super) fn links_a_document(&self) -> f32 {
        self.links_a_document
    }

    /// Years from the date of a document to `now`.
    pub(super) fn age(&self, row: DocRow, now: Option<Date>) -> f32 {
        now.zip(self.model.date(row.index())).map_or(UNKNOWN, |(now, date)| years(now) - years(date))
    }
}

impl PassageSignals {
    /// Before them come BM25 on texts, and on texts and contexts, by the decay of the model: they share the reading of
    /// lists.
    fn new(
        searcher: &Searcher<'_>,
        query: &Query,
        scope: Scope<'_>,
        KnownSignals { authors: by_authors, sentences: by_sentences, .. }: KnownSignals,
    ) -> Result<(RankingScores, RankingScores, PassageSignals)> {
        let (params, documents) = (searcher.model().params(), searcher.model().documents());
        let other = if params.citation.decay < (NEAR_DECAY + FAR_DECAY) / 2.0 { FAR_DECAY } else { NEAR_DECAY };
        let terms = searcher.terms(query);
        let others = query.terms(params.window, other);
        let both = terms.iter().zip(&others).map(|(one, other)| (one.word, [one.weight, other.weight]));
        let (mut cited, mut passage) = (vec![0.0; documents], vec![0.0; documents]);
        let (mut text, mut text_passage) = (vec![0.0; documents], vec![0.0; documents]);
        let (with_contexts, alone) = ([&mut cited[..], &mut passage], [&mut text[..], &mut text_passage]);
        let sentences = if by_sentences {
            let by_sentence = query.terms_by_sentence(params.window, SENTENCE_DECAY, OUTSIDE);
            let three: Vec<(WordRow, [f32; 3])> = both
                .zip(&by_sentence)
                .map(|((word, [one, other]), third)| (word, [one, other, third.weight]))
                .collect();
            let (mut scores, mut text_scores) = (vec![0.0; documents], vec![0.0; documents]);
            let ([cited, passage], [text, text_passage]) = (with_contexts, alone);
            let (with_contexts, alone) =
                ([cited, passage, &mut scores[..]], [text, text_passage, &mut text_scores[..]]);
            searcher.cited()?.add_scores_and_first(&three, with_contexts, alone);
            Some(SentenceSignals {
                cited: RankingScores::above(0.0, scores, MORE_CANDIDATES, scope),
                most: most(searcher, &by_sentence),
                text: RankingScores::above(0.0, text_scores, CANDIDATES, scope),
            })
        } else {
            searcher.cited()?.add_scores_and_first(&both.collect::<Vec<(WordRow, [f32; 2])>>(), with_contexts, alone);
            None
        };
        let mut titles = vec![0.0f32; documents];
        let mut authors = vec![0.0f32; documents];
        for Term { word, weight } in terms {
            if by_authors {
                let rarity = weight * author_rarity(searcher, word);
                let written = searcher.named(ShortField::Authors, word);
                written.iter().for_each(|document| authors[document.index()] += rarity);
            }
            let titled = searcher.named(ShortField::Title, word);
            let rarity = if titled.is_empty() { 0.0 } else { weight * searcher.rarity(word) };
            titled.iter().for_each(|document| titles[document.index()] += rarity);
        }
        let text = RankingScores::above(0.0, text, CANDIDATES, scope);
        let signals = PassageSignals {
            passage: RankingScores::above(0.0, passage, MORE_CANDIDATES, scope),
            most_passage: most(searcher, &others),
            sentences,
            text: RankingScores::above(0.0, text_passage, CANDIDATES, scope),
            titles: RankingScores::above(0.0, titles, CANDIDATES / 2, scope),
            neighbours: RankingScores::above(0.0, votes(searcher, &text, None), CANDIDATES, scope),
            authors: by_authors.then(|| RankingScores::above(0.0, authors, CANDIDATES / 2, scope)),
            years: years_near(searcher, query),
            near: NearWords::new(query, |word| searcher.rarity(word)),
        };
        Ok((text, RankingScores::above(0.0, cited, MORE_CANDIDATES, scope), signals))
    }
}

/// The most that BM25 on texts and contexts could reach.
fn most(searcher: &Searcher<'_>, terms: &[Term]) -> f32 {
    terms.iter().map(|term| term.weight * searcher.rarity(term.word)).sum::<f32>().max(1e-6)
}

/// The rarity of a word among the surnames of authors.
fn author_rarity(searcher: &Searcher<'_>, word: WordRow) -> f32 {
    let (all, with) = (searcher.model().documents(), searcher.named(ShortField::Authors, word).len());
    if with == 0 { 0.0 } else { ln(1.0 + all as f32 / with as f32) }
}

/// Years among the words of a question, with the weights of their distances.
fn years_near(searcher: &Searcher<'_>, query: &Query) -> Vec<(i32, f32)> {
    let words = searcher.model().terms();
    let year = |word: &NearWord| {
        let digits = words.get(word.row.index()).as_bytes();
        let number = || digits.iter().fold(0, |number, digit| number * 10 + i32::from(digit - b'0'));
        let is_year =
            matches!(digits, [b'1', b'8' | b'9', _, _] | [b'2', b'0', _, _]) && digits.iter().all(u8::is_ascii_digit);
        is_year.then(|| (number(), exp(-(word.distance as f32) / NEAR_DECAY)))
    };
    query.words.iter().filter_map(year).collect()
}

/// The links of the best documents of a ranking, as votes for what they point at; `left_out` has none.
fn votes(searcher: &Searcher<'_>, ranking: &RankingScores, left_out: Option<DocRow>) -> Vec<f32> {
    let mut votes = vec![0.0f32; searcher.model().documents()];
    let mut best: Vec<(usize, DocRow)> = ranking.places.iter().map(|(&row, &place)| (place, row)).collect();
    best.sort_unstable();
    for (_, row) in best.into_iter().filter(|&(_, row)| left_out != Some(row)).take(NEIGHBOURS) {
        let targets = searcher.linked_by(row);
        let weight = ranking.relative(row) / (4.0 + targets.len() as f32).sqrt();
        let mut last = None;
        for &target in targets {
            if last.replace(target) != Some(target) {
                votes[target.index()] += weight;
            }
        }
    }
    votes
}

/// The rankings of all documents for a source, alone and with a text.
pub(super) struct SourceSignals {
    pub both: RankingScores,
    pub alone: RankingScores,
    pub content: RankingScores,
    pub co_cited: RankingScores,
    /// How often the source links to a document, and how often those do that it links to.
    pub linked: BTreeMap<DocRow, f32>,
    pub by_linked: BTreeMap<DocRow, f32>,
    pub links: usize,
    pub date: Option<Date>,
    /// BM25 of the source's most characteristic words, and the links of the best by that, as votes. Nothing for models
    /// that do not know these.
    pub passage: Option<(RankingScores, RankingScores)>,
}

impl SourceSignals {
    pub(super) fn new(
        searcher: &Searcher<'_>,
        text: &TextSignals<'_>,
        source: &LinkSource,
        scope: Scope<'_>,
    ) -> Result<SourceSignals> {
        let model = searcher.model();
        let documents = model.documents();
        let scores = |which, documents_by| -> Result<Vec<f32>> {
            let table = model.stored_vectors(documents_by);
            Ok(source.vector(model, which)?.map_or(vec![0.0; documents], |vector| products(&vector, table)))
        };
        let alone = scores(Vectors::WordIn, Vectors::DocOut)?;
        let content = scores(Vectors::WordOut, Vectors::DocIn)?;
        let weight = model.params().citation.source_weight;
        let both = text.embedding.scores.iter().zip(&alone).map(|(context, source)| context + weight * source);
        let (mut linked, mut by_linked) = (BTreeMap::new(), BTreeMap::new());
        let mut co_cited = vec![0.0f32; documents];
        source.links.iter().for_each(|&link| *linked.entry(link).or_insert(0.0) += 1.0);
        for &link in linked.keys().rev().take(MOST_LINKED) {
            for &target in searcher.linked_by(link) {
                *by_linked.entry(target).or_insert(0.0) += 1.0;
            }
            let mut last = None;
            for &citing in searcher.linking_to(link) {
                if last.replace(citing) == Some(citing) || source.document == Some(citing) {
                    continue;
                }
                let targets = searcher.linked_by(citing);
                let weight = 1.0 / (1.0 + targets.len() as f32).sqrt();
                let mut before = None;
                for &target in targets {
                    if before.replace(target) != Some(target) && target != link {
                        co_cited[target.index()] += weight;
                    }
                }
            }
        }
        let passage = match text.passage {
            Some(_) => Some(source_passage(searcher, source, scope)?),
            None => None,
        };
        Ok(SourceSignals {
            passage,
            both: RankingScores::new(both.collect(), CANDIDATES, scope),
            alone: RankingScores::new(alone, 1, scope),
            content: RankingScores::new(content, CANDIDATES / 4, scope),
            co_cited: RankingScores::above(0.0, co_cited, CANDIDATES / 2, scope),
            linked,
            by_linked,
            links: source.links.len(),
            date: source.date,
        })
    }
}

impl SourceSignals {
    /// A feature that not every model knows.
    pub(super) fn passages(&self, of: impl Fn(&(RankingScores, RankingScores)) -> f32) -> f32 {
        self.passage.as_ref().map_or(0.0, of)
    }

    /// The best documents of each ranking, and the documents that the source links to; in no order.
    pub(super) fn candidates(&self, scope: Scope<'_>) -> impl Iterator<Item = DocRow> {
        let rankings = [&self.both, &self.content, &self.co_cited].into_iter();
        let neighbours = self.passage.as_ref().map(|(_, neighbours)| neighbours);
        let best = rankings.chain(neighbours).flat_map(|scores| &scores.candidates).copied();
        let may_be = move |row: &DocRow| (scope.eligible)(row.index()) && (scope.allowed)(row.index());
        best.chain(self.linked.keys().copied().filter(may_be))
    }
}

/// BM25 of the most characteristic words of a source, and the links of the best documents by that, as votes.
fn source_passage(
    searcher: &Searcher<'_>,
    source: &LinkSource,
    scope: Scope<'_>,
) -> Result<(RankingScores, RankingScores)> {
    let words = source.words.iter().take(SOURCE_WORDS);
    let terms: Vec<Term> = words.map(|&(word, count)| Term { word, weight: ln(1.0 + count) }).collect();
    let mut scores = vec![0.0; searcher.model().documents()];
    searcher.cited()?.add_scores(&terms, 1.0, &mut scores);
    let passage = RankingScores::above(0.0, scores, CANDIDATES, scope);
    let neighbours = RankingScores::above(0.0, votes(searcher, &passage, source.document), CANDIDATES, scope);
    Ok((passage, neighbours))
}

fn years(date: Date) -> f32 {
    let packed = date.packed();
    (packed / 10_000) as f32 + (packed / 100 % 100) as f32 / 12.0
}
