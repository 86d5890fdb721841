//! The scores of all documents by single rankings: for a text, and for the document that it stands in.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::fit::{AuthorFit, AuthorsInCommon, ContextFit, NearWords, TitleFit};
use super::ranking_scores::{RankingScores, SparseSums, VectorRanking, WordRankings};
use super::{LinkSource, Scope};
use crate::corpus::window::NearWord;
use crate::document::Date;
use crate::error::Result;
use crate::id::{DocRow, WordRow};
use crate::kernel::{exp, ln};
use crate::model::Model;
use crate::model::index::short_fields::ShortField;
use crate::search::approximate::Table;
use crate::search::bm25::Term;
use crate::search::{Query, Searcher};

/// Candidates that a ranking gives,
pub(super) const CANDIDATES: usize = 64;
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
    /// By the decay of the model, by the other, and by the sentence.
    by_words: WordRankings,
    pub embedding: VectorRanking,
    pub content: VectorRanking,
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
    /// Its authors that are those of the source, too.
    pub in_common: AuthorsInCommon,
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
        let terms = searcher.terms(query);
        if terms.is_empty() {
            return Ok(None);
        }
        let (bm25, bm25f) = (searcher.text()?, searcher.cited()?);
        let most =
            |idf: &dyn Fn(WordRow) -> f32| terms.iter().map(|term| term.weight * idf(term.word)).sum::<f32>().max(1e-6);
        let (most_text, most_cited) = (most(&|word| bm25.idf(word)), most(&|word| bm25f.idf(word)));
        let (by_words, [text, cited], passage) = match known.passages {
            true => {
                let (by_words, first, passage) = PassageSignals::new(searcher, query, scope, known)?;
                (by_words, first, Some(passage))
            }
            false => {
                let terms = terms.iter().map(|term| (term.word, [term.weight, 0.0, 0.0])).collect();
                let (by_words, [[cited, ..], [text, ..]]) =
                    WordRankings::new(searcher, terms, [[CANDIDATES, 0, 0]; 2], scope)?;
                (by_words, [text, cited], None)
            }
        };
        let ranked = |table: Table, wanted: usize| {
            let vector = searcher.vector_of(query, table.words())?;
            VectorRanking::new(searcher, (table, vector, UNKNOWN), wanted, scope)
        };
        let (embedding, content) = (ranked(Table::Out, CANDIDATES)?, ranked(Table::Content, CANDIDATES / 2)?);
        let log_total = embedding.log_total(searcher, scope.eligible)?;
        Ok(Some(TextSignals {
            model,
            links_to: model.links_to(),
            links_a_document: searcher.links_a_document(),
            by_words,
            embedding,
            content,
            text,
            cited,
            most_text,
            most_cited,
            log_total,
            newest: searcher.newest(scope.eligible),
            words: query.words.len(),
            passage,
        }))
    }

    /// Makes the scores of these documents known, which rise.
    pub(super) fn tell(&mut self, searcher: &Searcher<'_>, rows: &Rc<[DocRow]>) -> Result<()> {
        self.embedding.tell(searcher, rows);
        self.content.tell(searcher, rows);
        let Some([both, alone]) = self.by_words.scores(searcher, rows)? else { return Ok(()) };
        let mut rankings = [vec![&mut self.cited], vec![&mut self.text]];
        if let Some(PassageSignals { passage, text, sentences, .. }) = &mut self.passage {
            rankings[0].push(passage);
            rankings[1].push(text);
            if let Some(sentences) = sentences {
                rankings[0].push(&mut sentences.cited);
                rankings[1].push(&mut sentences.text);
            }
        }
        for (rankings, scores) in rankings.into_iter().zip([both, alone]) {
            rankings.into_iter().zip(scores).for_each(|(ranking, scores)| ranking.tell(rows, scores));
        }
        Ok(())
    }

    /// Facts about a document that only a candidate has; links that stand in the document `own` do not count.
    pub(super) fn candidate(&self, searcher: &Searcher<'_>, row: DocRow, own: Option<DocRow>) -> Result<Candidate> {
        let mut found = Candidate {
            row,
            contexts: ContextFit::default(),
            title: TitleFit::default(),
            authors: AuthorFit::default(),
            in_common: AuthorsInCommon::default(),
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
        let mut rankings = vec![&self.embedding.scores, &self.text, &self.cited, &self.content.scores];
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
    /// Before them come the words with their weights, and BM25 on texts, and on texts and contexts, by the decay of the
    /// model: they share the reading of lists.
    fn new(
        searcher: &Searcher<'_>,
        query: &Query,
        scope: Scope<'_>,
        KnownSignals { authors: by_authors, sentences: by_sentences, .. }: KnownSignals,
    ) -> Result<(WordRankings, [RankingScores; 2], PassageSignals)> {
        let (params, documents) = (searcher.model().params(), searcher.model().documents());
        let other = if params.citation.decay < (NEAR_DECAY + FAR_DECAY) / 2.0 { FAR_DECAY } else { NEAR_DECAY };
        let terms = searcher.terms(query);
        let others = query.terms(params.window, other);
        let by_sentence = match by_sentences {
            true => query.terms_by_sentence(params.window, SENTENCE_DECAY, OUTSIDE),
            false => Vec::new(),
        };
        let third = |place: usize| by_sentence.get(place).map_or(0.0, |term| term.weight);
        let both = terms.iter().zip(&others).enumerate();
        let weighted = both.map(|(place, (one, other))| (one.word, [one.weight, other.weight, third(place)])).collect();
        let [more, some] = [MORE_CANDIDATES, CANDIDATES].map(|most| [most, most, if by_sentences { most } else { 0 }]);
        let (by_words, [[cited, passage, sentence], [text, text_passage, text_sentence]]) =
            WordRankings::new(searcher, weighted, [more, some], scope)?;
        let sentences = by_sentences.then(|| SentenceSignals {
            cited: sentence,
            most: most(searcher, &by_sentence),
            text: text_sentence,
        });
        let [mut titles, mut authors] = [(); 2].map(|()| SparseSums::new(documents));
        for Term { word, weight } in terms {
            if by_authors {
                let rarity = weight * author_rarity(searcher, word);
                let written = searcher.named(ShortField::Authors, word);
                written.iter().for_each(|&document| authors.add(document, rarity));
            }
            let titled = searcher.named(ShortField::Title, word);
            let rarity = if titled.is_empty() { 0.0 } else { weight * searcher.rarity(word) };
            titled.iter().for_each(|&document| titles.add(document, rarity));
        }
        let signals = PassageSignals {
            passage,
            most_passage: most(searcher, &others),
            sentences,
            text: text_passage,
            titles: titles.ranking(CANDIDATES / 2, scope),
            neighbours: RankingScores::of_some(votes(searcher, &text, None), CANDIDATES, scope),
            authors: by_authors.then(|| authors.ranking(CANDIDATES / 2, scope)),
            years: years_near(searcher, query),
            near: NearWords::new(query, |word| searcher.rarity(word)),
        };
        Ok((by_words, [text, cited], signals))
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

/// The links of the best documents of a ranking, as votes for what they point at, by number; `left_out` has none.
fn votes(searcher: &Searcher<'_>, ranking: &RankingScores, left_out: Option<DocRow>) -> Vec<(DocRow, f32)> {
    let mut votes: Vec<(DocRow, f32)> = Vec::new();
    let best = ranking.in_order().into_iter().filter(|&row| left_out != Some(row));
    for row in best.take(NEIGHBOURS) {
        let targets = searcher.linked_by(row);
        let weight = ranking.relative(row) / (4.0 + targets.len() as f32).sqrt();
        let mut last = None;
        votes.extend(
            targets.iter().filter(|&&target| last.replace(target) != Some(target)).map(|&target| (target, weight)),
        );
    }
    // Votes for one document stay in order, so that their sum does not depend on the others.
    votes.sort_by_key(|&(target, _)| target);
    votes.dedup_by(|next, sum| {
        let same = next.0 == sum.0;
        sum.1 += if same { next.1 } else { 0.0 };
        same
    });
    votes
}

/// The rankings of all documents for a source, alone and with a text.
pub(super) struct SourceSignals {
    pub both: RankingScores,
    pub alone: VectorRanking,
    pub content: VectorRanking,
    pub co_cited: RankingScores,
    /// How often the source links to a document, and how often those do that it links to.
    pub linked: BTreeMap<DocRow, f32>,
    pub by_linked: BTreeMap<DocRow, f32>,
    pub links: usize,
    pub date: Option<Date>,
    /// The words of its authors' surnames.
    authors: Vec<WordRow>,
    /// Nothing for models that do not know these.
    pub passage: Option<SourcePassage>,
}

/// BM25 of the most characteristic words of a source.
pub(super) struct SourcePassage {
    by_words: WordRankings,
    pub passage: RankingScores,
    /// The links of the best documents by that, as votes.
    pub neighbours: RankingScores,
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
        let ranked = |table: Table, wanted: usize| {
            let vector = source.vector(model, table.words())?;
            VectorRanking::new(searcher, (table, vector, 0.0), wanted, scope)
        };
        let (alone, content) = (ranked(Table::Out, 1)?, ranked(Table::Content, CANDIDATES / 4)?);
        let weight = model.params().citation.source_weight;
        let both = VectorRanking::sum(searcher, &text.embedding, (&alone, weight), CANDIDATES, scope)?;
        let (mut linked, mut by_linked) = (BTreeMap::new(), BTreeMap::new());
        let mut co_cited = SparseSums::new(documents);
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
                        co_cited.add(target, weight);
                    }
                }
            }
        }
        let passage = match text.passage {
            Some(_) => Some(SourcePassage::new(searcher, source, scope)?),
            None => None,
        };
        Ok(SourceSignals {
            passage,
            both,
            alone,
            content,
            co_cited: co_cited.ranking(CANDIDATES / 2, scope),
            linked,
            by_linked,
            links: source.links.len(),
            date: source.date,
            authors: source.authors.clone(),
        })
    }

    /// The authors that it has in common with a document.
    pub(super) fn authors_in_common(&self, searcher: &Searcher<'_>, row: DocRow) -> AuthorsInCommon {
        let others = searcher.short_words(ShortField::Authors, row);
        AuthorsInCommon::new(&self.authors, others, |word| author_rarity(searcher, word))
    }

    /// A feature that not every model knows.
    pub(super) fn passages(&self, of: impl Fn(&SourcePassage) -> f32) -> f32 {
        self.passage.as_ref().map_or(0.0, of)
    }

    /// Makes the scores of these documents known, which rise; those for the text are known.
    pub(super) fn tell(&mut self, searcher: &Searcher<'_>, text: &TextSignals<'_>, rows: &Rc<[DocRow]>) -> Result<()> {
        self.alone.tell(searcher, rows);
        self.content.tell(searcher, rows);
        let weight = searcher.model().params().citation.source_weight;
        let both = |&row: &DocRow| text.embedding.scores.of(row) + weight * self.alone.scores.of(row);
        self.both.tell(rows, rows.iter().map(both).collect());
        if let Some(SourcePassage { by_words, passage, .. }) = &mut self.passage
            && let Some([[scores, ..], _]) = by_words.scores(searcher, rows)?
        {
            passage.tell(rows, scores);
        }
        Ok(())
    }

    /// The best documents of each ranking, and the documents that the source links to; in no order.
    pub(super) fn candidates(&self, scope: Scope<'_>) -> impl Iterator<Item = DocRow> {
        let rankings = [&self.both, &self.content.scores, &self.co_cited].into_iter();
        let neighbours = self.passage.as_ref().map(|passage| &passage.neighbours);
        let best = rankings.chain(neighbours).flat_map(|scores| &scores.candidates).copied();
        let may_be = move |row: &DocRow| (scope.eligible)(row.index()) && (scope.allowed)(row.index());
        best.chain(self.linked.keys().copied().filter(may_be))
    }
}

impl SourcePassage {
    fn new(searcher: &Searcher<'_>, source: &LinkSource, scope: Scope<'_>) -> Result<SourcePassage> {
        let words = source.words.iter().take(SOURCE_WORDS);
        let terms = words.map(|&(word, count)| (word, [ln(1.0 + count), 0.0, 0.0])).collect();
        let (by_words, [[passage, ..], _]) = WordRankings::new(searcher, terms, [[CANDIDATES, 0, 0], [0; 3]], scope)?;
        let neighbours = RankingScores::of_some(votes(searcher, &passage, source.document), CANDIDATES, scope);
        Ok(SourcePassage { by_words, passage, neighbours })
    }
}

fn years(date: Date) -> f32 {
    let packed = date.packed();
    (packed / 10_000) as f32 + (packed / 100 % 100) as f32 / 12.0
}
