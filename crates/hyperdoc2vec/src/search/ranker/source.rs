//! The document that a text stands in, as far as it is known: its words, its date, the documents it links to already.

use crate::corpus::view::View;
use crate::document::Date;
use crate::error::Result;
use crate::id::{DocRow, WordRow};
use crate::model::index::links::{KEYWORDS, keywords};
use crate::model::index::short_fields::ShortField;
use crate::model::weighting::{normalise, rarity};
use crate::model::{Model, Vectors};
use crate::search::Searcher;

/// The document that a text stands in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LinkSource {
    /// Its row, if it is a document of the model.
    pub document: Option<DocRow>,
    /// Its most characteristic words, with how often it has them.
    pub words: Vec<(WordRow, f32)>,
    /// When it was written.
    pub date: Option<Date>,
    /// The documents it links to already.
    pub links: Vec<DocRow>,
    /// The words of its authors' surnames, the first author first.
    pub authors: Vec<WordRow>,
}

impl LinkSource {
    /// A document of the model.
    pub fn known(searcher: &Searcher<'_>, document: DocRow) -> LinkSource {
        let model = searcher.model();
        LinkSource {
            document: Some(document),
            words: model.keywords().map(|keywords| keywords.of(document)).unwrap_or_default(),
            date: model.date(document.index()),
            links: searcher.linked_by(document).to_vec(),
            authors: searcher.short_words(ShortField::Authors, document).to_vec(),
        }
    }

    /// A text, with the links in it.
    pub fn read(searcher: &Searcher<'_>, text: &str) -> Result<LinkSource> {
        let query = searcher.query(text)?;
        let rows = query.words.iter().map(|word| word.row);
        LinkSource::of_words(searcher.model(), rows, query.links)
    }

    /// A text of these words.
    pub fn of_words(model: &Model, rows: impl Iterator<Item = WordRow>, links: Vec<DocRow>) -> Result<LinkSource> {
        let found_in = model.word_documents();
        let rows = rows.filter(|row| row.index() < found_in.len()).collect();
        let rarity = |row: WordRow| rarity(found_in[row.index()], model.documents());
        let words = keywords(rows, rarity).into_iter().map(|(row, count)| (row, f32::from(count))).collect();
        Ok(LinkSource { words, links, ..LinkSource::default() })
    }

    /// The document that a link of a corpus stands in, as it was known when the link was made: its text, its date, and the
    /// links before this one that lead to documents which are `allowed`.
    pub fn of_link(
        view: &View<'_>,
        model: &Model,
        position: usize,
        allowed: impl Fn(DocRow) -> bool,
    ) -> Result<LinkSource> {
        let corpus = view.corpus;
        let doc = corpus.position(position).source;
        let before = corpus.position_range(doc).take_while(|&number| number < position);
        let targets = before.flat_map(|number| corpus.position(number).targets);
        let links = targets.filter_map(|&target| view.document_row(target)).filter(|&link| allowed(link)).collect();
        let source = LinkSource::of_words(model, view.known(corpus.words(doc)), links)?;
        let mut authors = Vec::new();
        ShortField::Authors.words(corpus, doc, &model.tokenizer(), |word| {
            authors.extend(model.terms().find(word).map(|row| WordRow(row as u32)));
        });
        Ok(LinkSource { date: corpus.date(doc), authors, ..source })
    }

    /// Whether anything is known of it. One without a known word or link counts as none: the forest for sources would
    /// have nothing to go by.
    pub fn tells(&self) -> bool {
        !self.words.is_empty() || !self.links.is_empty()
    }

    /// The mean of the vectors of its most characteristic words, by how often it has them and by their rarity; `None`
    /// where none of them has one.
    pub fn vector(&self, model: &Model, which: Vectors) -> Result<Option<Vec<f32>>> {
        let found_in = model.word_documents();
        let known = || self.words.iter().filter(|(row, _)| row.index() < found_in.len()).take(KEYWORDS);
        let rows: Vec<WordRow> = known().map(|&(row, _)| row).collect();
        if rows.is_empty() {
            return Ok(None);
        }
        let weight = |&(row, count): &(WordRow, f32)| count * rarity(found_in[row.index()], model.documents());
        let mut weights: Vec<f32> = known().map(weight).collect();
        normalise(&mut weights);
        let mut vector = vec![0.0; model.params().dim];
        model.stored_vectors(which).gather_sum(WordRow::numbers(&rows), &weights, &mut vector);
        Ok(Some(vector))
    }

    /// The vector that it adds to that of a text by the embedding: the words of a source weigh as in training.
    pub fn added(&self, model: &Model) -> Result<Option<Vec<f32>>> {
        let weight = model.params().citation.source_weight;
        let mut vector = self.vector(model, Vectors::WordIn)?;
        vector.iter_mut().flatten().for_each(|x| *x *= weight);
        Ok(vector)
    }
}
