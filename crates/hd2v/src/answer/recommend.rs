//! The documents that a text should link to.

use hyperdoc2vec::kernel::Matrix;
use hyperdoc2vec::model::Vectors;
use hyperdoc2vec::model::index::links::Context;
use hyperdoc2vec::model::index::terms::Field;
use hyperdoc2vec::search::approximate::{self, Index};
use hyperdoc2vec::search::explain::{Explanation, Sum, explain};
use hyperdoc2vec::search::ranker::{Ranker, Scope, Source};
use hyperdoc2vec::search::suggest::similar;
use hyperdoc2vec::search::{Hit, Query, Ranking, Searcher, rank};
use hyperdoc2vec::{Error, Model};
use rayon::prelude::*;

use super::{Problem, documents, suggested, title};
use crate::output::thousands;
use crate::wire::{Answer, Asked, IndexUsed, Question, Quote, Reasons, Share};

/// A question as the model understands it.
pub struct Read {
    /// What to rank by.
    pub ranking: Ranking,
    /// The words.
    pub query: Query,
    /// The document that the text stands in.
    pub source: Option<Source>,
    /// Which documents are there: not the source, nor what is later than `before`.
    there: Vec<bool>,
    /// Which of them may be hits.
    admitted: Vec<bool>,
    top: usize,
    least: Option<f32>,
    explain: bool,
}

/// What came of a question.
pub struct Recommended {
    /// What was ranked by.
    pub ranking: Ranking,
    /// The words.
    pub query: Query,
    /// The best first.
    pub hits: Vec<Hit>,
    /// Why, for each of them; empty where nobody asked for it.
    pub reasons: Vec<Explanation>,
    /// Why there are no hits.
    pub reason: Option<String>,
}

impl Read {
    /// A question that is no text.
    pub fn new(ranking: Ranking, query: Query, source: Option<Source>, admitted: Vec<bool>, top: usize) -> Read {
        Read { ranking, query, source, there: admitted.clone(), admitted, top, least: None, explain: false }
    }
}

/// What to rank by: what is asked for, or the best there is.
pub fn ranking(model: &Model, asked: Option<Ranking>, learnt: bool) -> Ranking {
    match asked {
        Some(Ranking::Hybrid) | None if learnt => Ranking::Hybrid,
        Some(Ranking::Hybrid) | None if model.postings(Field::Cited).is_some() => Ranking::Bm25Cited,
        Some(Ranking::Hybrid) | None => Ranking::Embedding,
        Some(ranking) => ranking,
    }
}

/// Reads a question.
pub fn read(searcher: &Searcher<'_>, learnt: bool, question: &Question) -> Result<Read, Problem> {
    let model = searcher.model();
    let there = there(model, question)?;
    let admitted = admitted(model, question, &there)?;
    let query = searcher.query(&question.text)?;
    if query.length == 0 {
        return Err(Problem::Unfit { code: "no-words", message: "the text has no words".to_owned() });
    }
    let ranking = ranking(model, question.rank, learnt);
    if question.min_probability.is_some() && ranking != Ranking::Hybrid {
        let without = if learnt { "" } else { ", as no hybrid was learnt when the model was trained" };
        let why = format!(
            "only the hybrid gives probabilities, and this ranks by {ranking}{without}; ask for no least probability"
        );
        return Err(Error::Usage(why).into());
    }
    let source = source(searcher, question)?;
    let (top, least, explain) = (question.top, question.min_probability, question.explain);
    Ok(Read { ranking, query, source, there, admitted, top, least, explain })
}

/// Answers a question; by the index where there is one.
pub fn answer(
    searcher: &Searcher<'_>,
    hybrid: Option<&Ranker>,
    index: Option<&Index>,
    read: Read,
) -> Result<Recommended, Problem> {
    let admitted = |row: usize| read.admitted[row];
    let (query, source, top) = (&read.query, read.source.as_ref(), read.top);
    let found = match (hybrid, read.ranking) {
        _ if !read.admitted.contains(&true) => None,
        (Some(hybrid), Ranking::Hybrid) => {
            let scope = Scope { there: &|row| read.there[row], admitted: &admitted };
            hybrid.rank(searcher, query, source, top, scope)?
        }
        (_, Ranking::Embedding) => by_embedding(searcher, index, &read)?,
        _ => searcher.scores(query, read.ranking)?.map(|scores| {
            // Documents that share no word with the text are no hits.
            rank::top(&scores, top, |row| admitted(row) && scores[row] > 0.0)
        }),
    };
    told(searcher, read, found)
}

/// Answers many questions. Those by embedding are answered together, which is faster; the answers are the same.
pub fn answer_all(
    searcher: &Searcher<'_>,
    hybrid: Option<&Ranker>,
    questions: &[Question],
) -> Vec<Result<Recommended, Problem>> {
    let learnt = hybrid.is_some();
    let questions: Vec<Result<Read, Problem>> =
        questions.par_iter().map(|question| read(searcher, learnt, question)).collect();
    let together = match embedded(searcher, &questions) {
        Ok(together) => together,
        Err(_) => vec![None; questions.len()],
    };
    let answer = |(read, found): (Result<Read, Problem>, Option<Vec<Hit>>)| match (read?, found) {
        (read, Some(found)) => told(searcher, read, Some(found)),
        (read, None) => answer(searcher, hybrid, None, read),
    };
    questions.into_par_iter().zip(together).map(answer).collect()
}

/// The hits of those questions that are by embedding and have words with vectors.
fn embedded(searcher: &Searcher<'_>, questions: &[Result<Read, Problem>]) -> Result<Vec<Option<Vec<Hit>>>, Error> {
    let mut together: Vec<Option<Vec<Hit>>> = vec![None; questions.len()];
    let (mut vectors, mut places) = (Vec::new(), Vec::new());
    for (place, read) in questions.iter().enumerate() {
        let Ok(read) = read else { continue };
        if read.ranking != Ranking::Embedding || !read.admitted.contains(&true) {
            continue;
        }
        searcher.can_embed()?;
        if let Some(vector) = searcher.vector_in(&read.query, read.source.as_ref())? {
            vectors.extend_from_slice(&vector);
            places.push((place, read));
        }
    }
    if places.len() < 2 {
        return Ok(together);
    }
    let dim = searcher.model().params().dim;
    let top = places.iter().map(|(_, read)| read.top).max().unwrap_or(0);
    let vectors = Matrix::new(&vectors, places.len(), dim, dim);
    let targets = searcher.model().vectors(Vectors::DocOut)?;
    let found = rank::top_batch(vectors, targets, top, |question, row| places[question].1.admitted[row]);
    for ((place, read), mut hits) in places.iter().zip(found) {
        hits.truncate(read.top);
        together[*place] = Some(hits);
    }
    Ok(together)
}

/// The best documents by vectors, by the index where there is one that can tell.
fn by_embedding(searcher: &Searcher<'_>, index: Option<&Index>, read: &Read) -> Result<Option<Vec<Hit>>, Error> {
    let (query, source) = (&read.query, read.source.as_ref());
    if let Some((index, vector)) = index.zip(searcher.vector_in(query, source)?)
        && let Some(hits) = index.top(searcher.model(), &vector, read.top, |row| read.admitted[row])?
    {
        return Ok(Some(hits));
    }
    let scores = searcher.embedded(query, source)?;
    Ok(scores.map(|scores| rank::top(&scores, read.top, |row| read.admitted[row])))
}

/// Hits with their reasons, or the reason for none.
fn told(searcher: &Searcher<'_>, read: Read, found: Option<Vec<Hit>>) -> Result<Recommended, Problem> {
    let (hits, reason) = match found {
        _ if !read.admitted.contains(&true) => {
            (vec![], Some("no document passes the filters (exclude, only, before)".to_owned()))
        }
        None => (vec![], Some(unknown_words(&read.query, read.ranking))),
        Some(hits) if hits.is_empty() && read.top > 0 => {
            (hits, Some("no document shares a word with the text".to_owned()))
        }
        Some(hits) => probable(hits, read.least),
    };
    let reasons = match read.explain {
        true => {
            let rows: Vec<u32> = hits.iter().map(|hit| hit.row).collect();
            explain(searcher, &read.query, &rows, read.source.as_ref(), read.ranking)?
        }
        false => vec![],
    };
    Ok(Recommended { ranking: read.ranking, query: read.query, hits, reasons, reason })
}

/// Which documents a question could be about.
fn there(model: &Model, question: &Question) -> Result<Vec<bool>, Problem> {
    let mut there = vec![true; model.documents()];
    if let Some(before) = question.before {
        for (row, there) in there.iter_mut().enumerate() {
            *there = model.date(row).is_some_and(|date| date < before);
        }
    }
    if let Some(source) = &question.source {
        there[super::document(model, source)?] = false;
    }
    Ok(there)
}

/// Which of them may be hits.
fn admitted(model: &Model, question: &Question, there: &[bool]) -> Result<Vec<bool>, Problem> {
    let names = model.names();
    let mut admitted = vec![question.only.is_empty(); model.documents()];
    let labels = model.labels();
    for name in &question.only {
        let document = names.find(name);
        let label = (0..labels.ends.len()).find(|&label| labels.get(label) == name.as_str());
        if document.is_none() && label.is_none() {
            let mut near = similar(labels, name, 1);
            near.extend(similar(names, name, 2));
            let message = format!("no document or label is called {name:?}{}", suggested(&near));
            return Err(Problem::Unknown { code: "unknown-document-or-label", message });
        }
        document.into_iter().for_each(|row| admitted[row] = true);
        if let Some(label) = label {
            let has = |&row: &usize| model.label_ids(row).contains(&(label as u32));
            (0..model.documents()).filter(has).for_each(|row| admitted[row] = true);
        }
    }
    for id in &question.exclude {
        admitted[super::document(model, id)?] = false;
    }
    admitted.iter_mut().zip(there).for_each(|(admitted, there)| *admitted &= there);
    Ok(admitted)
}

fn source(searcher: &Searcher<'_>, question: &Question) -> Result<Option<Source>, Problem> {
    if let Some(id) = &question.source {
        let row = super::document(searcher.model(), id)?;
        return Ok(Some(Source::known(searcher, row as u32)));
    }
    // A mark in it is of no meaning here.
    let read = |text: &String| Source::read(searcher, &text.replace("[[?]]", " "));
    let source = question.source_text.as_ref().map(read).transpose()?;
    // A text without a known word or link tells nothing; what was learnt of sources is no guide then.
    Ok(source.filter(|source| !source.words.is_empty() || !source.links.is_empty()))
}

/// Leaves out what is not probable enough, and tells so where nothing is left.
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
    let what = if ranking == Ranking::Embedding { "has a vector in the model" } else { "is known to the model" };
    let more = if query.words.is_empty() { "" } else { "; try to rank by bm25" };
    match query.length {
        1 => format!(
            "the only word of the text {}{more}",
            what.replacen("has a", "has no", 1).replacen("is known", "is not known", 1)
        ),
        words => format!("none of the {} words of the text {what}{more}", thousands(words as u64)),
    }
}

impl Recommended {
    /// As JSON has it.
    pub fn to_wire(&self, model: &Model, index: Option<&Index>, top: usize) -> Answer {
        let mut hits = documents(model, &self.hits);
        for (number, hit) in hits.iter_mut().enumerate() {
            hit.probability = (self.ranking == Ranking::Hybrid).then_some(hit.score);
            hit.reasons = self.reasons.get(number).map(|reason| reasons(model, reason)).unwrap_or_default();
        }
        let Query { length: words, marked, ref unknown, .. } = self.query;
        Answer {
            ranking: self.ranking.name(),
            query: Asked { words, marked, unknown: unknown.clone() },
            hits,
            reason: self.reason.clone(),
            index: index.map(|index| {
                let about = index.about();
                IndexUsed { recall: recall(index, top), questions: about.questions, lists: about.lists }
            }),
        }
    }
}

/// The share of the exact hits that an index finds.
pub fn recall(index: &Index, wanted: usize) -> f64 {
    index.about().recall[usize::from(wanted > approximate::WANTED[0])]
}

fn reasons(model: &Model, reason: &Explanation) -> Reasons {
    let terms = model.terms();
    let shares = |sum: &Sum| {
        let share = |&(row, share): &(u32, f32)| Share { word: terms.get(row as usize).to_owned(), share };
        sum.falling().iter().map(share).collect()
    };
    let quote = |context: &Context| {
        let source = context.source as usize;
        Quote {
            source: model.names().get(source).to_owned(),
            title: title(model, source),
            text: context_text(model, context),
        }
    };
    Reasons {
        embedding: Some(reason.embedding.score),
        why: Some(shares(&reason.embedding)),
        source: Some(reason.source),
        bm25_cited: (!reason.text_alone).then_some(reason.bm25.score),
        bm25_text: reason.text_alone.then_some(reason.bm25.score),
        bm25: Some(shares(&reason.bm25)),
        contexts: Some(reason.contexts.iter().map(quote).collect()),
    }
}

/// `… words before [this] words behind …`
pub fn context_text(model: &Model, context: &Context) -> String {
    let text = format!("… {} [this] {} …", words(model, &context.before), words(model, &context.after));
    text.replace("  ", " ")
}

/// Words by their rows, as text.
pub fn words(model: &Model, rows: &[u32]) -> String {
    let terms = model.terms();
    rows.iter().map(|&row| terms.get(row as usize)).collect::<Vec<_>>().join(" ")
}
