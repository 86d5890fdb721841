//! Recommendation: a question in, an answer out; a draft in, suggestions out.
//!
//! [`Recommender`] asks a model by the best ranking that it has, filters documents as the question asks, explains
//! its hits, and falls back where a model lacks something. [`Suggester`] finds where in a [`Draft`] a link belongs, to
//! what, and how it is written there. The command line, the server and other languages sit on both.

mod about;
mod answer;
mod draft;
mod question;
mod snowball;
mod suggest;

use rayon::prelude::*;

pub use about::{DocumentPage, FoundDocument, LabelCount, LinkedDocument, ModelInfo};
pub use answer::{Answer, DocumentHit, LinkQuote, QuerySummary, Why, WordShares};
pub use draft::MOST_PLACES;
pub use question::{DEFAULT_TOP, Question};
pub use snowball::{RelatedWork, Snowball};
pub use suggest::{
    DocumentNames, DraftLocation, Edit, LinkWriter, SuggestOptions, Suggester, Suggestion, Suggestions, apply,
};

pub use crate::draft::{
    Draft, DraftFormat, DraftLink, DraftSource, DraftWord, LONGEST_DRAFT, LinkSyntax, TextKind, WantedLink,
};
pub use crate::places::NeverLink;

use crate::error::{Error, NotFound, Result};
use crate::id::{DocRow, WordRow};
use crate::kernel::Matrix;
use crate::model::index::terms::Field;
use crate::model::{Model, Vectors};
use crate::search::approximate::{Index, Table};
use crate::search::explain::explain;
use crate::search::ranker::{LinkSource, Ranker, Scope};
use crate::search::{Hit, Query, Ranking, Searcher, nearest, nearest_to, rank};
use crate::storage::similar_names::{SUGGESTIONS, did_you_mean, similar};
use crate::storage::strings::StringTable;

/// A word that is near another.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WordHit {
    /// The word.
    pub word: String,
    /// The cosine.
    pub score: f32,
}

/// The vectors that nearness is measured by.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    serde::Deserialize,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Side {
    /// IN: the words of a document; the contexts of a word.
    #[default]
    In,
    /// OUT: the words of others around links to a document.
    Out,
}

/// A model, ready to be asked.
pub struct Recommender<'a> {
    searcher: Searcher<'a>,
    ranker: Option<Ranker>,
}

/// A question as a model understands it.
#[derive(Clone)]
struct ParsedQuestion {
    ranking: Ranking,
    query: Query,
    source: Option<LinkSource>,
    /// Which documents a link could lead to: not the source, nor one that is later than `before`.
    eligible: Vec<bool>,
    /// Which of them may be hits.
    allowed: Vec<bool>,
    top: usize,
    min_probability: Option<f32>,
    explain: bool,
}

impl<'a> Recommender<'a> {
    /// Prepares to ask `model`.
    pub fn new(model: &'a Model) -> Recommender<'a> {
        Recommender { searcher: Searcher::new(model), ranker: Ranker::of(model) }
    }

    /// Looks for documents by vectors, in the hybrid and by embedding, through an approximate index.
    pub fn with_index(self, index: Index) -> Recommender<'a> {
        Recommender { searcher: self.searcher.with_index(index), ..self }
    }

    /// The model.
    pub fn model(&self) -> &'a Model {
        self.searcher.model()
    }

    /// Reads the links of all documents, which otherwise the first question that needs them does.
    pub fn warm_up(&self) {
        self.searcher.linked_by(DocRow(0));
    }

    /// The approximate index, if there is one.
    pub fn index(&self) -> Option<&Index> {
        self.searcher.index()
    }

    pub(crate) fn searcher(&self) -> &Searcher<'a> {
        &self.searcher
    }

    /// Whether a ranker was learnt, so that hits have probabilities.
    pub fn has_ranker(&self) -> bool {
        self.ranker.is_some()
    }

    /// The ranking that answers a question: the one asked for, or the best there is. Where the hybrid is asked for and none
    /// was learnt, that is BM25 with the contexts of links, or the embedding in a model without an index.
    pub fn ranking(&self, asked: Option<Ranking>) -> Ranking {
        match asked {
            Some(Ranking::Hybrid) | None if self.has_ranker() => Ranking::Hybrid,
            Some(Ranking::Hybrid) | None if self.model().postings(Field::Cited).is_some() => Ranking::Bm25Cited,
            Some(Ranking::Hybrid) | None => Ranking::Embedding,
            Some(ranking) => ranking,
        }
    }

    /// The rankings that the model can give; the first answers a question that names none.
    pub fn rankings(&self) -> Vec<Ranking> {
        let model = self.model();
        let text = model.postings(Field::Text).is_some();
        let can = |ranking: &Ranking| match ranking {
            Ranking::Hybrid => self.has_ranker(),
            Ranking::Embedding => self.searcher.can_embed().is_ok(),
            Ranking::Bm25 => text,
            Ranking::Bm25Cited => text && model.postings(Field::Cited).is_some(),
        };
        let all = [Ranking::Hybrid, Ranking::Bm25Cited, Ranking::Embedding, Ranking::Bm25];
        all.into_iter().filter(can).collect()
    }

    /// Answers a question.
    ///
    /// # Errors
    /// [`Error::NoWords`] for a text without words, [`Error::NotFound`] for an id or label of a filter or source that
    /// the model does not have, [`Error::Unsupported`] for a ranking that it cannot give, [`Error::Usage`] for a least
    /// probability without the hybrid, for several `[[?]]`, or for a source given twice.
    pub fn ask(&self, question: &Question) -> Result<Answer> {
        self.answer(self.parse(question)?)
    }

    /// Answers many questions, on all threads of the current pool. Those by embedding are answered together, which is
    /// faster; the answers are the same as one by one.
    pub fn ask_all(&self, questions: &[Question]) -> Vec<Result<Answer>> {
        let questions: Vec<Result<ParsedQuestion>> =
            questions.par_iter().map(|question| self.parse(question)).collect();
        let together = self.embed_together(&questions).unwrap_or_else(|_| vec![None; questions.len()]);
        let answer = |(question, found): (Result<ParsedQuestion>, Option<Vec<Hit>>)| match (question?, found) {
            (question, Some(found)) => self.finish(question, Some(found)),
            (question, None) => self.answer(question),
        };
        questions.into_par_iter().zip(together).map(answer).collect()
    }

    /// Suggests documents that a document of the model might link to and does not yet: hits for its
    /// most characteristic words, with it as the source.
    pub fn suggest_for(&self, id: &str, top: usize) -> Result<Answer> {
        let model = self.model();
        let row = self.document_row(id)?;
        let source = LinkSource::known(&self.searcher, DocRow(row as u32));
        let rows: Vec<Option<WordRow>> = source.words.iter().map(|&(row, _)| Some(row)).collect();
        let query = Query::of_rows(&rows, None, model.words(), model.params().window);
        let mut allowed = vec![true; model.documents()];
        allowed[row] = false;
        source.links.iter().for_each(|linked| allowed[linked.index()] = false);
        self.answer(ParsedQuestion {
            ranking: self.ranking(None),
            query,
            source: Some(source),
            eligible: allowed.clone(),
            allowed,
            top,
            min_probability: None,
            explain: false,
        })
    }

    /// Documents near a document, by the cosine of their vectors.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for vectors that the model's method does not learn.
    pub fn similar(&self, id: &str, side: Side, top: usize) -> Result<Vec<DocumentHit>> {
        let which = if side == Side::In { Vectors::DocIn } else { Vectors::DocOut };
        let hits = self.around(which, self.document_row(id)?, id, top)?;
        Ok(hits.iter().map(|hit| DocumentHit::new(self.model(), hit)).collect())
    }

    /// Documents near a vector, as [`Inferrer`](crate::Inferrer) makes IN vectors of texts, by the cosine.
    ///
    /// # Errors
    /// [`Error::Usage`] for a vector of another length than the model's, [`Error::Unsupported`] for vectors that its
    /// method does not learn.
    pub fn similar_to(&self, vector: &[f32], side: Side, top: usize) -> Result<Vec<DocumentHit>> {
        let which = if side == Side::In { Vectors::DocIn } else { Vectors::DocOut };
        let dim = self.model().params().dim;
        if vector.len() != dim {
            return Err(Error::Usage(format!(
                "the vector has {} numbers, but those of the model have {dim}",
                vector.len()
            )));
        }
        let hits = nearest_to(self.model().learnt_vectors(which)?, vector, top);
        Ok(hits.iter().map(|hit| DocumentHit::new(self.model(), hit)).collect())
    }

    /// Words near a word, by the cosine of their vectors.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for vectors that the model's method does not learn.
    pub fn similar_words(&self, word: &str, side: Side, top: usize) -> Result<Vec<WordHit>> {
        let which = if side == Side::In { Vectors::WordIn } else { Vectors::WordOut };
        let vocabulary = self.model().vocabulary();
        let hits = self.around(which, self.word_row(word)?, word, top)?;
        let near = |hit: &Hit| WordHit { word: vocabulary.get(hit.row as usize).to_owned(), score: hit.score };
        Ok(hits.iter().map(near).collect())
    }

    /// Documents that a text of one word should link to, by embedding; none where the model has no such vectors.
    pub fn documents_for_word(&self, word: &str, top: usize) -> Result<Vec<DocumentHit>> {
        let model = self.model();
        let row = self.word_row(word)?;
        let query = Query::of_rows(&[Some(WordRow(row as u32))], None, model.words(), model.params().window);
        let scores = match self.searcher.can_embed() {
            Ok(()) => self.searcher.embedding_scores(&query, None)?,
            Err(_) => None,
        };
        let hits = scores.map(|scores| rank::top(&scores, top, |_| true)).unwrap_or_default();
        Ok(hits.iter().map(|hit| DocumentHit::new(model, hit)).collect())
    }

    /// The row of the document with an id; the error suggests what may have been meant.
    pub fn document_row(&self, id: &str) -> Result<usize> {
        self.find(self.model().names(), id, NotFound::Document, "document has the id")
    }

    /// The row of a word, read as the corpus was; the error suggests what may have been meant.
    pub fn word_row(&self, word: &str) -> Result<usize> {
        let mut read = self.model().tokenizer().list(word);
        let word = if read.len() == 1 { read.swap_remove(0) } else { word.to_owned() };
        self.find(self.model().vocabulary(), &word, NotFound::Word, "vector for the word")
    }

    fn find(&self, table: StringTable<'_>, name: &str, kind: NotFound, what: &str) -> Result<usize> {
        table.find(name).ok_or_else(|| {
            self.not_found(kind, format!("no {what} {name:?}{}", did_you_mean(&similar(table, name, SUGGESTIONS))))
        })
    }

    fn not_found(&self, kind: NotFound, message: String) -> Error {
        Error::NotFound { kind, path: self.model().path().to_owned(), message }
    }

    fn around(&self, which: Vectors, row: usize, name: &str, top: usize) -> Result<Vec<Hit>> {
        let vectors = self.model().learnt_vectors(which)?;
        if vectors.row(row).iter().all(|&x| x == 0.0) {
            let side = if matches!(which, Vectors::DocIn | Vectors::WordIn) { "IN" } else { "OUT" };
            let message = format!("the {side} vector of {name:?} is zero, so nothing is near it");
            return Err(self.not_found(NotFound::Vector, message));
        }
        Ok(nearest(vectors, row, top))
    }

    /// The vector of a question, its source included. Its inner products with the OUT vectors of documents are the scores
    /// of [`Ranking::Embedding`]. `None` where no word of the text has a vector.
    pub fn question_vector(&self, question: &Question) -> Result<Option<Vec<f32>>> {
        self.searcher.can_embed()?;
        let query = self.searcher.query(&question.text)?;
        self.searcher.vector_in(&query, self.source(question)?.as_ref())
    }

    /// Parses a question.
    fn parse(&self, question: &Question) -> Result<ParsedQuestion> {
        let frame = self.frame(question)?;
        let query = self.searcher.query(&question.text)?;
        if query.length == 0 {
            return Err(Error::NoWords);
        }
        Ok(ParsedQuestion { query, ..frame })
    }

    /// Parses all but the text of a question.
    fn frame(&self, question: &Question) -> Result<ParsedQuestion> {
        let eligible = self.eligible(question)?;
        let allowed = self.allowed(question, &eligible)?;
        let ranking = self.ranking(question.rank);
        if question.min_probability.is_some() && ranking != Ranking::Hybrid {
            let without = if self.has_ranker() { "" } else { ", as no hybrid was learnt when the model was trained" };
            return Err(Error::Usage(format!(
                "only the hybrid gives probabilities, and this ranks by {ranking}{without}; \
                 leave out the minimum probability"
            )));
        }
        let source = self.source(question)?;
        let &Question { top, min_probability, explain, .. } = question;
        let query = Query::default();
        Ok(ParsedQuestion { ranking, query, source, eligible, allowed, top, min_probability, explain })
    }

    /// The documents that a link could lead to.
    fn eligible(&self, question: &Question) -> Result<Vec<bool>> {
        let model = self.model();
        let mut eligible = vec![true; model.documents()];
        if let Some(before) = question.before {
            for (row, eligible) in eligible.iter_mut().enumerate() {
                *eligible = model.date(row).is_some_and(|date| date < before);
            }
        }
        if let Some(source) = &question.source {
            eligible[self.document_row(source)?] = false;
        }
        Ok(eligible)
    }

    /// Those of them that may be hits.
    fn allowed(&self, question: &Question, eligible: &[bool]) -> Result<Vec<bool>> {
        let model = self.model();
        let (names, labels) = (model.names(), model.labels());
        let mut allowed = vec![question.only.is_empty(); model.documents()];
        for name in &question.only {
            let document = names.find(name);
            let label = (0..labels.ends.len()).find(|&label| labels.get(label) == name.as_str());
            if document.is_none() && label.is_none() {
                let mut near = similar(labels, name, 1);
                near.extend(similar(names, name, 2));
                let message = format!("no document or label is called {name:?}{}", did_you_mean(&near));
                return Err(self.not_found(NotFound::DocumentOrLabel, message));
            }
            document.into_iter().for_each(|row| allowed[row] = true);
            if let Some(label) = label {
                let has = |&row: &usize| model.label_ids(row).contains(&(label as u32));
                (0..model.documents()).filter(has).for_each(|row| allowed[row] = true);
            }
        }
        for id in &question.exclude {
            allowed[self.document_row(id)?] = false;
        }
        allowed.iter_mut().zip(eligible).for_each(|(allowed, eligible)| *allowed &= eligible);
        Ok(allowed)
    }

    fn source(&self, question: &Question) -> Result<Option<LinkSource>> {
        if question.source.is_some() && question.source_text.is_some() {
            return Err(Error::Usage(
                "the source is given both by its id and by its text; give one of them".to_owned(),
            ));
        }
        if let Some(id) = &question.source {
            return Ok(Some(LinkSource::known(&self.searcher, DocRow(self.document_row(id)? as u32))));
        }
        // A mark in it is of no meaning here.
        let read = |text: &String| LinkSource::read(&self.searcher, &text.replace("[[?]]", " "));
        let source = question.source_text.as_ref().map(read).transpose()?;
        Ok(source.filter(LinkSource::tells))
    }

    fn answer(&self, question: ParsedQuestion) -> Result<Answer> {
        let allowed = |row: usize| question.allowed[row];
        let (query, source, top) = (&question.query, question.source.as_ref(), question.top);
        let found = match (&self.ranker, question.ranking) {
            _ if !question.allowed.contains(&true) => None,
            (Some(ranker), Ranking::Hybrid) => {
                let scope = Scope { eligible: &|row| question.eligible[row], allowed: &allowed };
                ranker.rank(&self.searcher, query, source, top, scope)?
            }
            (_, Ranking::Embedding) => self.embed_one(&question)?,
            (_, ranking) => {
                let field = if ranking == Ranking::Bm25 { Field::Text } else { Field::Cited };
                // Documents that share no word with the text are no hits.
                let best = |scores: Vec<f32>| rank::top(&scores, top, |row| allowed(row) && scores[row] > 0.0);
                self.searcher.bm25_scores(query, field)?.map(best)
            }
        };
        self.finish(question, found)
    }

    /// The best documents by vectors, from the index where it can answer.
    fn embed_one(&self, question: &ParsedQuestion) -> Result<Option<Vec<Hit>>> {
        let (query, source) = (&question.query, question.source.as_ref());
        if let Some((index, vector)) = self.index().zip(self.searcher.vector_in(query, source)?)
            && let Some(found) =
                index.top(self.model(), Table::Out, &vector, question.top, |row| question.allowed[row])?
        {
            return Ok(Some(found.hits));
        }
        let scores = self.searcher.embedding_scores(query, source)?;
        Ok(scores.map(|scores| rank::top(&scores, question.top, |row| question.allowed[row])))
    }

    /// The hits of those questions that are by embedding and have words with vectors.
    fn embed_together(&self, questions: &[Result<ParsedQuestion>]) -> Result<Vec<Option<Vec<Hit>>>> {
        let mut together: Vec<Option<Vec<Hit>>> = vec![None; questions.len()];
        let (mut vectors, mut places) = (Vec::new(), Vec::new());
        for (place, question) in questions.iter().enumerate() {
            let Ok(question) = question else { continue };
            if question.ranking != Ranking::Embedding || !question.allowed.contains(&true) {
                continue;
            }
            self.searcher.can_embed()?;
            if let Some(vector) = self.searcher.vector_in(&question.query, question.source.as_ref())? {
                vectors.extend_from_slice(&vector);
                places.push((place, question));
            }
        }
        if places.len() < 2 {
            return Ok(together);
        }
        let dim = self.model().params().dim;
        let top = places.iter().map(|(_, question)| question.top).max().unwrap_or(0);
        let vectors = Matrix::new(&vectors, places.len(), dim, dim);
        let targets = self.model().stored_vectors(Vectors::DocOut);
        let found = rank::top_batch(vectors, targets, top, |question, row| places[question].1.allowed[row]);
        for ((place, question), mut hits) in places.iter().zip(found) {
            hits.truncate(question.top);
            together[*place] = Some(hits);
        }
        Ok(together)
    }

    /// Hits with what is known of them, or the reason for none.
    fn finish(&self, question: ParsedQuestion, found: Option<Vec<Hit>>) -> Result<Answer> {
        let model = self.model();
        let ParsedQuestion { ranking, query, source, allowed, top, min_probability, explain: explained, .. } = question;
        let (hits, reason) = match found {
            _ if !allowed.contains(&true) => {
                (vec![], Some("no document passes the filters (exclude, only, before)".to_owned()))
            }
            None => (vec![], Some(unknown_words(&query, ranking))),
            Some(hits) if hits.is_empty() && top > 0 => {
                (hits, Some("no document shares a word with the text".to_owned()))
            }
            Some(hits) => probable(hits, min_probability),
        };
        let rows: Vec<DocRow> = hits.iter().map(|hit| DocRow(hit.row)).collect();
        let mut hits: Vec<DocumentHit> = hits.iter().map(|hit| DocumentHit::new(model, hit)).collect();
        if ranking == Ranking::Hybrid {
            hits.iter_mut().for_each(|hit| hit.probability = Some(hit.score));
        }
        if explained {
            let explanations = explain(&self.searcher, &query, &rows, source.as_ref(), ranking)?;
            for (hit, explanation) in hits.iter_mut().zip(&explanations) {
                hit.why = Some(Why::new(model, explanation));
            }
        }
        Ok(Answer { ranking, query: QuerySummary::new(model, query), hits, reason })
    }
}

/// Leaves out hits that are not probable enough; with the reason, where none is left.
fn probable(hits: Vec<Hit>, least: Option<f32>) -> (Vec<Hit>, Option<String>) {
    let Some(least) = least else { return (hits, None) };
    let best = hits.first().map_or(0.0, |hit| hit.score);
    let hits: Vec<Hit> = hits.into_iter().filter(|hit| hit.score >= least).collect();
    let reason = hits
        .is_empty()
        .then(|| format!("no document is the target with a probability of {least}; the most probable has {best:.4}"));
    (hits, reason)
}

fn unknown_words(query: &Query, ranking: Ranking) -> String {
    let known = ranking != Ranking::Embedding;
    let more = if query.words.is_empty() { "" } else { "; try to rank by bm25" };
    match (query.length, known) {
        (1, true) => format!("the only word of the text is not known to the model{more}"),
        (1, false) => format!("the only word of the text has no vector in the model{more}"),
        (words, true) => format!("none of the {words} words of the text is known to the model{more}"),
        (words, false) => format!("none of the {words} words of the text has a vector in the model{more}"),
    }
}
