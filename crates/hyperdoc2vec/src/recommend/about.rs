//! Facts about a model and its documents, and documents by their titles.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::Recommender;
use super::answer::{LinkQuote, title, url};
use crate::document::Date;
use crate::error::Result;
use crate::id::DocRow;
use crate::model::Model;
use crate::model::index::links::Context;
use crate::search::Ranking;

/// The facts about a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelInfo {
    /// The name of its file, without the ending.
    pub name: String,
    /// Documents.
    pub documents: u64,
    /// Words of text.
    pub words: u64,
    /// Words that have vectors.
    pub vocabulary: u64,
    /// Places where links stand.
    pub positions: u64,
    /// Pairs of a place and a document that a link points at.
    pub links: u64,
    /// Documents that no link points at.
    pub newcomers: u64,
    /// Documents that it was trained on, where others were added later.
    pub trained: Option<u64>,
    /// The method it was trained by.
    pub method: String,
    /// Dimensions of a vector.
    pub dim: usize,
    /// Words on each side of a link that count.
    pub window: usize,
    /// The rankings that it can give, the best first.
    pub rankings: Vec<Ranking>,
    /// The ranking that answers a question that names none.
    pub ranking: Ranking,
    /// All labels, those of most documents first.
    pub labels: Vec<LabelCount>,
    /// The first and the last date of a document.
    pub dates: Option<(Date, Date)>,
}

/// A label, and how many documents have it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LabelCount {
    /// Its number in the model.
    pub number: usize,
    /// The label.
    pub label: String,
    /// Documents that have it.
    pub documents: u64,
}

/// A document of a model, with its links.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentPage {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// Its date.
    pub date: Option<Date>,
    /// Its labels.
    pub labels: Vec<String>,
    /// Where readers find it.
    pub url: Option<String>,
    /// Documents that it links to, most links first.
    pub links_to: Vec<LinkedDocument>,
    /// How many links point at it.
    pub linked_by: usize,
    /// Some of these links.
    pub contexts: Vec<LinkQuote>,
}

/// A document that is linked to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkedDocument {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// By how many links.
    pub links: usize,
}

/// A document found by its id or title.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundDocument {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// Its date.
    pub date: Option<Date>,
}

impl Recommender<'_> {
    /// The facts about the model.
    pub fn info(&self) -> ModelInfo {
        let model = self.model();
        let count = |name: &str| model.about()["counts"][name].as_u64();
        let dates = || (0..model.documents()).filter_map(|row| model.date(row));
        let params = model.params();
        ModelInfo {
            name: model.path().file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            documents: count("documents").unwrap_or(0),
            words: count("words").unwrap_or(0),
            vocabulary: count("vocabulary").unwrap_or(0),
            positions: count("positions").unwrap_or(0),
            links: count("links").unwrap_or(0),
            newcomers: count("newcomers").unwrap_or(0),
            trained: count("trained"),
            method: params.method.to_string(),
            dim: params.dim,
            window: params.window,
            rankings: self.rankings(),
            ranking: self.ranking(None),
            labels: labels(model),
            dates: dates().min().zip(dates().max()),
        }
    }

    /// A document, and `top` of the links to it from number `offset` on.
    pub fn document(&self, id: &str, offset: usize, top: usize) -> Result<DocumentPage> {
        let model = self.model();
        let row = self.document_row(id)?;
        let document = DocRow(row as u32);
        let linked = |same: &[DocRow]| {
            let target = same[0].index();
            LinkedDocument { id: model.names().get(target).to_owned(), title: title(model, target), links: same.len() }
        };
        let mut links_to: Vec<LinkedDocument> =
            self.searcher().linked_by(document).chunk_by(|one, other| one == other).map(linked).collect();
        links_to.sort_by_key(|linked| Reverse(linked.links));
        let links = model.links().unwrap_or_default();
        // The source of a link may stand outside of the model.
        let inside = |context: &Context| context.source.index() < model.documents();
        let contexts = links.contexts(document).filter(inside).skip(offset).take(top);
        Ok(DocumentPage {
            id: model.names().get(row).to_owned(),
            title: title(model, row),
            date: model.date(row),
            labels: model.label_ids(row).iter().map(|&label| model.labels().get(label as usize).to_owned()).collect(),
            url: url(model, row),
            links_to,
            linked_by: links.sources(document).len(),
            contexts: contexts.map(|context| LinkQuote::new(model, &context)).collect(),
        })
    }

    /// Documents whose id, title and authors have all the words of `text`, as parts of words at least: those first where it
    /// stands at the beginning, then those with more links.
    pub fn find_documents(&self, text: &str, top: usize) -> Vec<FoundDocument> {
        let model = self.model();
        let text = text.to_lowercase();
        let wanted: Vec<&str> = text.split_whitespace().collect();
        if wanted.is_empty() {
            return vec![];
        }
        let (names, titles) = (model.names(), model.titles());
        let links = model.links_to();
        let place = |row: usize| {
            let (name, title) = (names.get(row).to_lowercase(), titles.get(row).to_lowercase());
            let written = |word: &&str| model.authors(row).any(|author| author.to_lowercase().contains(*word));
            if !wanted.iter().all(|word| name.contains(word) || title.contains(word) || written(word)) {
                return None;
            }
            let place = match () {
                () if name == text.trim() || title == text.trim() => 0,
                () if name.starts_with(wanted[0]) || title.starts_with(wanted[0]) => 1,
                () => 2,
            };
            Some((place, Reverse(links.get(row).copied().unwrap_or(0)), row))
        };
        let mut found: Vec<_> = (0..model.documents()).into_par_iter().filter_map(place).collect();
        found.sort_unstable();
        let hit = |&(_, _, row): &(i32, _, usize)| FoundDocument {
            id: names.get(row).to_owned(),
            title: title(model, row),
            date: model.date(row),
        };
        found.iter().take(top).map(hit).collect()
    }
}

/// The labels that documents have, those of most documents first.
fn labels(model: &Model) -> Vec<LabelCount> {
    let mut documents = vec![0; model.labels().ends.len()];
    for row in 0..model.documents() {
        for &label in model.label_ids(row) {
            documents.get_mut(label as usize).into_iter().for_each(|documents| *documents += 1);
        }
    }
    let label = |(number, documents): (usize, u64)| LabelCount {
        number,
        label: model.labels().get(number).to_owned(),
        documents,
    };
    let mut counted: Vec<LabelCount> =
        documents.into_iter().enumerate().filter(|(_, documents)| *documents > 0).map(label).collect();
    counted.sort_by_key(|label| Reverse(label.documents));
    counted
}
