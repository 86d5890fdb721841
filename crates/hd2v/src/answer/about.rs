//! What a model is, what it knows of a document, and documents by their titles.

use std::cmp::Reverse;

use hyperdoc2vec::Model;
use hyperdoc2vec::map::Map;
use hyperdoc2vec::model::index::links::Context;
use hyperdoc2vec::model::index::terms::Field;
use hyperdoc2vec::search::ranker::{Ranker, Source};
use hyperdoc2vec::search::{Query, Ranking, Searcher};
use rayon::prelude::*;

use super::recommend::{self, Read, words};
use super::{Problem, document, title};
use crate::wire::{self, Answer, Dates, Found, FoundDocument, Info, LabelCount, LinkContext, Linked, LinkedBy, Page};

/// Labels that are listed.
const LABELS: usize = 1000;
/// Documents of a map that are sent: more are too many for a browser.
const ON_MAP: usize = 100_000;

/// What a model is.
pub fn info(searcher: &Searcher<'_>, learnt: bool) -> Info {
    let model = searcher.model();
    let count = |name: &str| model.about()["counts"][name].as_u64();
    let labels = model.labels();
    let counted = by_documents(model).into_iter();
    let mut counted: Vec<LabelCount> =
        counted.map(|(label, documents)| LabelCount { label: labels.get(label).to_owned(), documents }).collect();
    let distinct_labels = counted.len();
    counted.truncate(LABELS);
    let dates = || (0..model.documents()).filter_map(|row| model.date(row));
    let params = model.params();
    Info {
        kind: "model",
        name: model.path().file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        version: env!("CARGO_PKG_VERSION"),
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
        rankings: rankings(searcher, learnt),
        ranking: recommend::ranking(model, None, learnt).name(),
        labels: counted,
        distinct_labels,
        dates: dates().min().zip(dates().max()).map(|(first, last)| Dates { first, last }),
    }
}

/// The labels that documents have, by number, with how many have them; most first.
fn by_documents(model: &Model) -> Vec<(usize, u64)> {
    let mut documents = vec![0; model.labels().ends.len()];
    for row in 0..model.documents() {
        for &label in model.label_ids(row) {
            documents.get_mut(label as usize).into_iter().for_each(|documents| *documents += 1);
        }
    }
    let mut counted: Vec<(usize, u64)> =
        documents.into_iter().enumerate().filter(|(_, documents)| *documents > 0).collect();
    counted.sort_by_key(|&(_, documents)| Reverse(documents));
    counted
}

/// The documents on a map, with what is shown of them.
pub fn map(model: &Model, map: &Map) -> wire::Map {
    let links = model.links_to().unwrap_or_default();
    let linked = |row: usize| links.get(row).copied().unwrap_or(0);
    let mut rows: Vec<usize> = (0..map.places().len()).collect();
    if rows.len() > ON_MAP {
        rows.sort_by_key(|&row| Reverse(linked(row)));
        rows.truncate(ON_MAP);
        rows.sort_unstable();
    }
    let (labels, titles, names) = (by_documents(model), model.titles(), model.names());
    let mut places = vec![0; model.labels().ends.len()];
    labels.iter().zip(0..).for_each(|(&(label, _), place)| places[label] = place);
    let of = |row: usize| {
        let mut of: Vec<u32> =
            model.label_ids(row).iter().filter_map(|&label| places.get(label as usize).copied()).collect();
        of.sort_unstable();
        of
    };
    let along = |axis: usize| rows.iter().map(|&row| (map.places()[row][axis] * 1e4).round() / 1e4).collect();
    wire::Map {
        documents: map.places().len(),
        x: along(0),
        y: along(1),
        labels: labels.iter().map(|&(label, _)| model.labels().get(label).to_owned()).collect(),
        label: rows.iter().map(|&row| of(row)).collect(),
        links: rows.iter().map(|&row| linked(row)).collect(),
        ids: rows.iter().map(|&row| names.get(row).to_owned()).collect(),
        titles: rows.iter().map(|&row| Some(titles.get(row).to_owned()).filter(|title| !title.is_empty())).collect(),
    }
}

/// What a model can rank by, the best first.
fn rankings(searcher: &Searcher<'_>, learnt: bool) -> Vec<&'static str> {
    let model = searcher.model();
    let can = |ranking: &Ranking| match ranking {
        Ranking::Hybrid => learnt,
        Ranking::Embedding => searcher.can_embed().is_ok(),
        Ranking::Bm25 => model.postings(Field::Text).is_some(),
        Ranking::Bm25Cited => model.postings(Field::Text).is_some() && model.postings(Field::Cited).is_some(),
    };
    let all = [Ranking::Hybrid, Ranking::Embedding, Ranking::Bm25Cited, Ranking::Bm25];
    all.into_iter().filter(can).map(Ranking::name).collect()
}

/// A document, and `top` of the links to it from number `offset` on.
pub fn page(searcher: &Searcher<'_>, id: &str, offset: usize, top: usize) -> Result<Page, Problem> {
    let model = searcher.model();
    let row = document(model, id)?;
    let labels = model.labels();
    let name = |row: usize| model.names().get(row).to_owned();
    let mut links_to: Vec<Linked> = searcher
        .linked_by(row as u32)
        .chunk_by(|one, other| one == other)
        .map(|same| {
            let target = same[0] as usize;
            Linked { id: name(target), title: title(model, target), links: same.len() }
        })
        .collect();
    links_to.sort_by_key(|linked| Reverse(linked.links));
    let context = |context: Context| {
        let source = context.source as usize;
        LinkContext {
            id: name(source),
            title: title(model, source),
            before: words(model, &context.before),
            after: words(model, &context.after),
        }
    };
    let links = model.links().unwrap_or_default();
    // The source of a link may stand outside of the model.
    let inside = |context: &Context| (context.source as usize) < model.documents();
    let contexts = links.contexts(row).filter(inside).skip(offset).take(top).map(context).collect();
    Ok(Page {
        id: name(row),
        title: title(model, row),
        date: model.date(row),
        labels: model.label_ids(row).iter().map(|&label| labels.get(label as usize).to_owned()).collect(),
        url: Some(model.urls().get(row)).filter(|url| !url.is_empty()).map(str::to_owned),
        links_to,
        linked_by: LinkedBy { total: links.sources(row).len(), contexts },
    })
}

/// What a document might link to and does not yet: hits for the words that tell most of it, with it as the source.
pub fn suggestions(searcher: &Searcher<'_>, hybrid: Option<&Ranker>, id: &str, top: usize) -> Result<Answer, Problem> {
    let model = searcher.model();
    let row = document(model, id)?;
    let source = Source::known(searcher, row as u32);
    let rows: Vec<Option<u32>> = source.words.iter().map(|&(row, _)| Some(row)).collect();
    let query = Query::of_rows(&rows, None, model.words(), model.params().window);
    let mut admitted = vec![true; model.documents()];
    admitted[row] = false;
    source.links.iter().for_each(|&linked| admitted[linked as usize] = false);
    let ranking = recommend::ranking(model, None, hybrid.is_some());
    let read = Read::new(ranking, query, Some(source), admitted, top);
    Ok(recommend::answer(searcher, hybrid, None, read)?.to_wire(model, None, top))
}

/// Documents whose id or title has all the words of `text`, as parts of words at least: those first where it stands at
/// the beginning, then those with more links.
pub fn search(model: &Model, text: &str, top: usize) -> Found {
    let text = text.to_lowercase();
    let wanted: Vec<&str> = text.split_whitespace().collect();
    if wanted.is_empty() {
        return Found { hits: vec![] };
    }
    let (names, titles) = (model.names(), model.titles());
    let links = model.links_to().unwrap_or_default();
    let place = |row: usize| {
        let (name, title) = (names.get(row).to_lowercase(), titles.get(row).to_lowercase());
        if !wanted.iter().all(|word| name.contains(word) || title.contains(word)) {
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
    Found { hits: found.iter().take(top).map(hit).collect() }
}
