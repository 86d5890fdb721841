//! The example of a report: test positions that link to given documents, and the ranks of their targets.

use std::cmp::Reverse;

use anyhow::{Result, bail};
use hyperdoc2vec::corpus::View;
use hyperdoc2vec::evaluate::{HeldOutLinks, MethodPlaces};
use hyperdoc2vec::{Corpus, DocId, Error, WordId};
use serde_json::{Value, json};

/// The papers on BLEU and Moses in the paper's running example, by their ids in the ACL Anthology.
pub const OF_THE_PAPER: [&str; 2] = ["P02-1040", "P07-2045"];
/// Words of that example; a position with more of them is preferred.
const SAID: [&str; 4] = ["bleu", "moses", "translation", "score"];
/// Words that are compared, and shown, on each side of a link.
const LOOKED_AT: usize = 15;
const SHOWN: usize = 40;

/// Documents that an example should link to.
pub struct ExampleWanted {
    documents: Vec<DocId>,
    given: bool,
}

/// The documents with these ids, which must exist; without ids, those of the paper's example that do.
pub fn wanted(ids: Option<&str>, corpus: &Corpus) -> Result<ExampleWanted> {
    let Some(ids) = ids else {
        let documents = OF_THE_PAPER.into_iter().filter_map(|id| corpus.find(id)).collect();
        return Ok(ExampleWanted { documents, given: false });
    };
    let mut documents = Vec::new();
    for id in ids.split(',').map(str::trim).filter(|id| !id.is_empty()) {
        match corpus.find(id) {
            Some(document) => documents.push(document),
            None => bail!(Error::Usage(format!("--example: the corpus has no document {id:?}"))),
        }
    }
    Ok(ExampleWanted { documents, given: true })
}

impl ExampleWanted {
    /// The position that links to most of the documents, and another one for each document that it does not link to,
    /// preferably of the same test document. If no position links to any, some position.
    pub fn positions(&self, view: &View<'_>, asked: &HeldOutLinks, cells: &[MethodPlaces]) -> Vec<Value> {
        let corpus = view.corpus;
        let truths = |number: usize| &asked.queries[number].truths;
        let source = |number: usize| corpus.position(asked.queries[number].position).source;
        let hits = |number: usize| truths(number).iter().filter(|truth| self.documents.contains(truth)).count();
        let said: Vec<WordId> = SAID.iter().filter_map(|word| corpus.find_word(word)).collect();
        let mentions = |number: usize| {
            let position = corpus.position(asked.queries[number].position);
            let (before, after) = corpus.context(&position, LOOKED_AT);
            said.iter().filter(|word| before.contains(word) || after.contains(word)).count()
        };
        let all = 0..asked.queries.len();
        let best = all
            .clone()
            .max_by_key(|&number| (hits(number), mentions(number), truths(number).len().min(3), Reverse(number)));
        let Some(best) = best else { return Vec::new() };
        let mut numbers = vec![best];
        for wanted in &self.documents {
            if hits(best) == 0 || numbers.iter().any(|&number| truths(number).contains(wanted)) {
                continue;
            }
            let other = all.clone().filter(|&number| truths(number).contains(wanted));
            let other = other.max_by_key(|&number| {
                (source(number) == source(best), mentions(number), Reverse(number.abs_diff(best)), Reverse(number))
            });
            numbers.extend(other);
        }
        numbers.into_iter().map(|number| self.position(view, asked, cells, number)).collect()
    }

    fn position(&self, view: &View<'_>, asked: &HeldOutLinks, cells: &[MethodPlaces], number: usize) -> Value {
        let corpus = view.corpus;
        let query = &asked.queries[number];
        let position = corpus.position(query.position);
        let (before, after) = corpus.context(&position, SHOWN);
        let text = |words: &[WordId]| words.iter().map(|&word| corpus.word(word)).collect::<Vec<&str>>().join(" ");
        let range = asked.ranges().nth(number).unwrap_or(0..0);
        let truth = |&truth: &DocId| {
            json!({
                "id": corpus.name(truth),
                "title": corpus.title(truth),
                "wanted": self.documents.contains(&truth),
            })
        };
        let hit = |document: DocId| json!({"id": corpus.name(document), "title": corpus.title(document), "truth": query.truths.contains(&document)});
        let places = |cell: &MethodPlaces| {
            let hits: Vec<Value> =
                cell.tops.get(number).into_iter().flatten().map(|row| hit(view.documents[row.index()])).collect();
            json!({"method": cell.method, "places": cell.places[range.clone()], "hits": hits})
        };
        json!({
            "source": corpus.name(position.source),
            "given": self.given,
            "before": text(before),
            "after": text(after),
            "truths": query.truths.iter().map(truth).collect::<Vec<Value>>(),
            "places": cells.iter().map(places).collect::<Vec<Value>>(),
        })
    }
}
