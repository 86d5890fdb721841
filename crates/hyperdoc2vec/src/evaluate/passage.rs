//! BM25 over passages: the text of a document and the contexts of the links that point at it, read as one text.
//!
//! The bar that other rankings are held against. Its constants were chosen once, on other collections, and do not follow
//! those of a model.

use crate::corpus::cited_by::CitedBy;
use crate::corpus::view::View;
use crate::id::DocRow;
use crate::model::index::postings::PostingsBuf;
use crate::model::index::terms::Terms;
use crate::search::Query;
use crate::search::bm25::Bm25;

/// Words on each side of a link that count.
const WINDOW: usize = 50;
/// A word of a question this far from the link weighs 1/e of one that touches it.
const DECAY: f32 = 20.0;
const K1: f32 = 4.0;
const B: f32 = 0.75;

/// Posting lists of texts and contexts together; each word counts once.
pub(super) struct Passages(PostingsBuf);

impl Passages {
    /// Those of the documents and links of `view`.
    pub(super) fn new(view: &View<'_>, terms: &Terms) -> Passages {
        let cited_by = CitedBy::new(view, WINDOW);
        let words = |document: usize| view.corpus.words(view.documents[document]);
        let positions = |document: usize| cited_by.positions(DocRow(document as u32));
        let each = |document: usize, tell: &mut dyn FnMut(u32)| {
            let contexts = positions(document).iter().flat_map(|&position| {
                let (before, after) = view.corpus.context(&view.corpus.position(position as usize), WINDOW);
                before.iter().chain(after)
            });
            words(document).iter().chain(contexts).filter_map(|&word| terms.row(word)).for_each(|row| tell(row.0));
        };
        let size = |document: usize| words(document).len() + positions(document).len() * 2 * WINDOW;
        Passages(PostingsBuf::build(view.documents.len(), terms.len(), size, each))
    }

    /// Ready to be asked.
    pub(super) fn bm25(&self) -> Bm25<'_> {
        Bm25::with(self.0.view(), K1, B)
    }

    /// The score of every document for the words around a link.
    pub(super) fn scores(bm25: &Bm25<'_>, view: &View<'_>, terms: &Terms, position: usize, anchor: bool) -> Vec<f32> {
        bm25.scores(&Query::of_link(view, terms, position, WINDOW, anchor).terms(WINDOW, DECAY))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::ops::ControlFlow;

    use super::*;
    use crate::corpus::{CorpusOptions, Split};
    use crate::import::{Format, ImportOptions};
    use crate::tests::import;

    #[test]
    fn text_and_contexts_are_one_text_by_hand() {
        let dir = tempfile::tempdir().expect("a directory");
        let input = dir.path().join("in.jsonl");
        let lines = "{\"id\": \"a\", \"text\": \"fish soup [[b]]\"}\n{\"id\": \"b\", \"text\": \"bread\"}\n";
        fs::write(&input, lines).expect("written");
        let words = CorpusOptions { min_count: 1, ..CorpusOptions::default() };
        let options = ImportOptions { corpus: words, ..ImportOptions::default() };
        let corpus =
            import(Format::Jsonl, &[input], &dir.path().join("c"), &options, &mut |_| ControlFlow::Continue(()))
                .expect("imported");
        let view = View::new(&corpus, &Split::none(&corpus), 1).expect("a view");
        let terms = Terms::new(&view);
        let passages = Passages::new(&view, &terms);
        // a is "fish soup", b is "bread fish soup": lengths 2 and 3, 2.5 on average. The question is "fish soup": soup
        // weighs 1, fish e^(−1/20) = 0.951229. Both have both words once: idf ln(1 + 0.5/2.5) = 0.182322 each.
        // a: norm 4 (0.25 + 0.75 · 2/2.5) = 3.4; b: 4 (0.25 + 0.75 · 3/2.5) = 4.6.
        let scores = Passages::scores(&passages.bm25(), &view, &terms, 0, true);
        let expected = [3.4f32, 4.6].map(|norm| 1.951229 * 0.182322 * 5.0 / (1.0 + norm));
        assert!(scores.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-5), "{scores:?} {expected:?}");
    }
}
