//! The rankings of a model, each by itself.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::approximate::Index;
use super::bm25::{B, BM25F_K1, Bm25, Bm25F, Term};
use super::maxscore::{MaxScore, MaxScoreTables};
use super::query::Query;
use super::rank;
use super::ranker::LinkSource;
use crate::corpus::groups::Groups;
use crate::document::Date;
use crate::document::tokenize::Tokenizer;
use crate::error::{Error, Result};
use crate::id::{DocRow, WordRow};
use crate::kernel::{axpy, ln};
use crate::model::index::links::Links;
use crate::model::index::short_fields::{ShortField, ShortWords};
use crate::model::index::terms::Field;
use crate::model::weighting::WeightRule;
use crate::model::{Model, Vectors};

/// From so many documents on, the hybrid does not score all of them by every ranking.
const LARGE: usize = 1 << 15;
/// The decay by which words count towards the share of a question that is known: that of a passage.
const PASSAGE_DECAY: f32 = 20.0;

/// The rankings of a model, each by itself: what [`Recommender`](crate::Recommender) asks.
#[derive(Debug)]
pub struct Searcher<'a> {
    model: &'a Model,
    tokenizer: Tokenizer,
    text: Option<Bm25<'a>>,
    cited: Option<Bm25F<'a>>,
    pub(super) links: Links<'a>,
    large: bool,
    maxscore: MaxScoreTables,
    index: Option<Index>,
    /// Documents with dates, the newest first, made when first asked for.
    newest: OnceLock<Vec<DocRow>>,
    /// The documents that each document links to, made when first asked for.
    outgoing: OnceLock<Groups>,
    short: [ShortWords<'a>; 2],
    /// The documents that have each word in their titles, or among the surnames of their authors, made when first asked
    /// for.
    named: [OnceLock<Groups>; 2],
    /// The rarity of each word of the index as bits, 0 until it is first asked for.
    rarities: Vec<AtomicU32>,
}

impl<'a> Searcher<'a> {
    /// Prepares to search `model`.
    pub fn new(model: &'a Model) -> Searcher<'a> {
        let text = model.postings(Field::Text).map(Bm25::new);
        let fields = model.postings(Field::Text).zip(model.postings(Field::Cited));
        let cited = fields.map(|(text, cited)| match model.joins_lengths() {
            true => Bm25F::joined([text, cited], [1.0, 1.0], BM25F_K1, B),
            false => Bm25F::new(Bm25::new(text), cited),
        });
        let links = model.links().unwrap_or_default();
        let short = ShortField::ALL.map(|field| model.short_words(field).unwrap_or_default());
        let (outgoing, named) = (OnceLock::new(), [OnceLock::new(), OnceLock::new()]);
        let rarities = (0..model.terms().ends.len()).map(|_| AtomicU32::new(0)).collect();
        Searcher {
            model,
            tokenizer: model.tokenizer(),
            text,
            cited,
            links,
            large: model.documents() >= LARGE,
            maxscore: MaxScoreTables::default(),
            index: None,
            newest: OnceLock::new(),
            short,
            outgoing,
            named,
            rarities,
        }
    }

    /// Looks for documents by vectors through an approximate index.
    pub fn with_index(self, index: Index) -> Searcher<'a> {
        Searcher { index: Some(index), ..self }
    }

    /// The approximate index, if there is one.
    pub fn index(&self) -> Option<&Index> {
        self.index.as_ref()
    }

    /// Scores all documents by words, however many there are.
    pub fn with_all_documents(self) -> Searcher<'a> {
        Searcher { large: false, ..self }
    }

    /// Does not score all documents by words, however few there are.
    pub fn without_all_documents(self) -> Searcher<'a> {
        Searcher { large: true, ..self }
    }

    /// Whether there are so many documents that it pays not to score all of them.
    pub(super) fn is_large(&self) -> bool {
        self.large
    }

    /// The best documents by words, without a look at all of them: all of the best, or, beside an approximate index, nearly all.
    pub(super) fn maxscore(&self) -> Result<MaxScore<'_, 'a>> {
        Ok(MaxScore { bm25: self.cited()?, tables: &self.maxscore, approximate: self.index.is_some() })
    }

    /// The date of the newest of the documents that are `eligible`.
    pub(super) fn newest(&self, eligible: &dyn Fn(usize) -> bool) -> Option<Date> {
        let by_date = self.newest.get_or_init(|| {
            let dated = |row: &DocRow| self.model.date(row.index()).is_some();
            let mut rows: Vec<DocRow> = (0..self.model.documents() as u32).map(DocRow).filter(dated).collect();
            rows.sort_by_key(|row| std::cmp::Reverse(self.model.date(row.index())));
            rows
        });
        by_date.iter().find(|row| eligible(row.index())).and_then(|row| self.model.date(row.index()))
    }

    /// The model.
    pub fn model(&self) -> &'a Model {
        self.model
    }

    /// The logarithm of one more than the mean number of links to a document.
    pub(super) fn links_a_document(&self) -> f32 {
        let links = self.links.sources.len() as f32;
        ln(1.0 + links / self.model.documents().max(1) as f32)
    }

    /// The documents that link to `document`, once a link.
    pub fn linking_to(&self, document: DocRow) -> &'a [DocRow] {
        self.links.sources(document)
    }

    /// The documents that `document` links to, once a link, by number.
    pub fn linked_by(&self, document: DocRow) -> &[DocRow] {
        let documents = self.model.documents();
        let pairs = || {
            let to = move |target| self.links.sources(target).iter().map(move |&source| (source, target));
            let inside = move |&(source, _): &(DocRow, DocRow)| source.index() < documents;
            let targets = (0..documents as u32).map(DocRow);
            targets.flat_map(to).filter(inside).map(|(source, target)| (source.index(), target.0))
        };
        let outgoing = self.outgoing.get_or_init(|| Groups::new(documents, pairs()));
        if document.index() < documents { DocRow::all(outgoing.of(document.index())) } else { &[] }
    }

    /// The words of a document's title, or of the surnames of its authors.
    pub(super) fn short_words(&self, field: ShortField, document: DocRow) -> &'a [WordRow] {
        self.short[field as usize].of(document)
    }

    /// The documents with a word in their titles, or among their authors' surnames, once a place, by number.
    pub(super) fn named(&self, field: ShortField, word: WordRow) -> &[DocRow] {
        let terms = self.model.terms().ends.len();
        let pairs = || {
            let of = |row| self.short_words(field, row).iter().map(move |&word| (word.index(), row.0));
            (0..self.model.documents() as u32).map(DocRow).flat_map(of).filter(move |&(word, _)| word < terms)
        };
        let named = self.named[field as usize].get_or_init(|| Groups::new(terms, pairs()));
        if word.index() < terms { DocRow::all(named.of(word.index())) } else { &[] }
    }

    /// Reads a text.
    pub fn query(&self, text: &str) -> Result<Query> {
        Query::read(self.model, &self.tokenizer, text)
    }

    /// BM25 on the documents' own text.
    pub fn text(&self) -> Result<&Bm25<'a>> {
        self.text.as_ref().ok_or_else(|| self.without_index())
    }

    /// BM25 on their text and the contexts of the links that point at them.
    pub fn cited(&self) -> Result<&Bm25F<'a>> {
        self.cited.as_ref().ok_or_else(|| self.without_index())
    }

    /// The rarity of a word in texts and contexts; 0 in a model without an index.
    pub(super) fn rarity(&self, word: WordRow) -> f32 {
        let computed = || self.cited.as_ref().map_or(0.0, |cited| cited.idf(word));
        let Some(kept) = self.rarities.get(word.index()) else { return computed() };
        match kept.load(Ordering::Relaxed) {
            0 => {
                let rarity = computed();
                kept.store(rarity.to_bits(), Ordering::Relaxed);
                rarity
            }
            bits => f32::from_bits(bits),
        }
    }

    /// The share of a question that the model knows, its words weighing by their distance from the mark and by their
    /// rarity, in which an unknown word is as rare as can be; 1 where it knows all of them.
    pub fn known_share(&self, query: &Query) -> f32 {
        if query.unknown_distances.is_empty() {
            return 1.0;
        }
        let rule = WeightRule { decay: PASSAGE_DECAY, rarity: false };
        let known = query.words.iter().map(|word| rule.by_distance(word.distance) * self.rarity(word.row)).sum::<f32>();
        let rarest = ln(2.0 + 2.0 * self.model.documents() as f32);
        let unknown = query.unknown_distances.iter().map(|&distance| rule.by_distance(distance) * rarest).sum::<f32>();
        known / (known + unknown).max(1e-6)
    }

    fn without_index(&self) -> Error {
        let what = "this model was made without a search index; train it again, or rank by embedding".to_owned();
        Error::Unsupported { path: self.model.path().to_owned(), what }
    }

    /// The terms of a query for BM25: each place of a word weighs as in training, without its rarity, which BM25 has.
    pub fn terms(&self, query: &Query) -> Vec<Term> {
        let params = self.model.params();
        query.terms(params.window, params.citation.decay)
    }

    /// The vector of a query: the mean of its words' IN vectors, weighted as in training. `None` where no word has one.
    pub fn vector(&self, query: &Query) -> Result<Option<Vec<f32>>> {
        self.vector_of(query, Vectors::WordIn)
    }

    /// As [`Searcher::vector`], of other vectors of words.
    pub(super) fn vector_of(&self, query: &Query, words: Vectors) -> Result<Option<Vec<f32>>> {
        let (rows, weights) = query.weights(self.model)?;
        if rows.is_empty() {
            return Ok(None);
        }
        let mut vector = vec![0.0; self.model.params().dim];
        self.model.stored_vectors(words).gather_sum(WordRow::numbers(&rows), &weights, &mut vector);
        Ok(Some(vector))
    }

    /// The vector of a query that stands in a source, whose vector is added.
    pub fn vector_in(&self, query: &Query, source: Option<&LinkSource>) -> Result<Option<Vec<f32>>> {
        let mut vector = self.vector(query)?;
        if let (Some(vector), Some(added)) = (&mut vector, source.map(|it| it.added(self.model)).transpose()?.flatten())
        {
            axpy(1.0, &added, vector);
        }
        Ok(vector)
    }

    /// The score of every document by BM25, on its text alone or with the contexts of links; `None` where the index knows
    /// no word of the query.
    pub fn bm25_scores(&self, query: &Query, field: Field) -> Result<Option<Vec<f32>>> {
        let terms = self.terms(query);
        let mut scores = vec![0.0; self.model.documents()];
        match field {
            Field::Text => self.text()?.add_scores(&terms, 1.0, &mut scores),
            Field::Cited => self.cited()?.add_scores(&terms, 1.0, &mut scores),
        }
        Ok((!terms.is_empty()).then_some(scores))
    }

    /// The score of every document by the embedding, for a query that may stand in a source; `None` where no word of it
    /// has a vector.
    pub fn embedding_scores(&self, query: &Query, source: Option<&LinkSource>) -> Result<Option<Vec<f32>>> {
        self.can_embed()?;
        let vector = self.vector_in(query, source)?;
        let targets = self.model.stored_vectors(Vectors::DocOut);
        Ok(vector.map(|vector| rank::products(&vector, targets)))
    }

    /// Whether the method gives words and the targets of links vectors that fit together.
    pub fn can_embed(&self) -> Result<()> {
        let method = self.model.params().method;
        if !method.learns(Vectors::DocOut) {
            let what = format!("a {method} model has no vectors that lead from words to documents; rank by bm25");
            return Err(Error::Unsupported { path: self.model.path().to_owned(), what });
        }
        Ok(())
    }
}
