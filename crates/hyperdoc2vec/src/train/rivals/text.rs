//! The text of a document to a phase that learns from words: rows of a table, listed from the corpus without a copy of it.
//!
//! | text | rows of a document |
//! |---|---|
//! | [`Text::words`] | its words (links are left out) |
//! | [`Text::with_links`] | its words and links in order, a link being the row of its target ("citation as word"); targets that occur too seldom are left out, as words are |
//! | [`Text::with_contexts`] | its words, then the words around each link to it ("context as content") |

use crate::corpus::cited_by::CitedBy;
use crate::corpus::view::View;
use crate::id::{DocRow, TableRow};

/// The text of every training document.
pub struct Text<'a> {
    view: &'a View<'a>,
    more: More,
    /// How often each row occurs; of words and, with links, of documents.
    counts: Vec<u64>,
    /// Rows up to the end of each document.
    ends: Vec<u64>,
}

enum More {
    Nothing,
    /// With links to the documents that are words.
    Links(Vec<bool>),
    Contexts(CitedBy),
}

impl<'a> Text<'a> {
    /// The words alone.
    pub fn words(view: &'a View<'a>) -> Text<'a> {
        Text::new(view, More::Nothing)
    }

    /// Words, and each link as a word among them: the row of its target. A position with several targets has one after
    /// the other. As in gensim, documents that fewer than `min_count` links point at are no words: links to them are
    /// left out.
    pub fn with_links(view: &'a View<'a>, min_count: u64) -> Text<'a> {
        let often = |&links: &u32| u64::from(links) >= min_count.max(1);
        Text::new(view, More::Links(view.links_to().iter().map(often).collect()))
    }

    /// Words, and up to `window` words on each side of every link that points at the document. Which words are known
    /// still depends on the documents' own texts.
    pub fn with_contexts(view: &'a View<'a>, window: usize) -> Text<'a> {
        Text::new(view, More::Contexts(CitedBy::new(view, window)))
    }

    fn new(view: &'a View<'a>, more: More) -> Text<'a> {
        let rows = if matches!(more, More::Links(_)) { view.table_rows() } else { view.words.len() };
        let mut text = Text { view, more, counts: vec![0; rows], ends: Vec::with_capacity(view.documents.len()) };
        let mut counts = std::mem::take(&mut text.counts);
        let mut end = 0;
        for document in view.document_rows() {
            text.rows(document, |row| {
                counts[row.index()] += 1;
                end += 1;
            });
            text.ends.push(end);
        }
        Text { counts, ..text }
    }

    /// The documents whose text it is.
    pub fn view(&self) -> &'a View<'a> {
        self.view
    }

    /// How often each row occurs: one number for each word and, with links, for each document after them.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// How many rows there are before document number `document`; for the number of documents, in all.
    pub fn before(&self, document: usize) -> u64 {
        if document == 0 { 0 } else { self.ends[document - 1] }
    }

    /// Calls `each(row)` for each row of a document, in order.
    pub fn rows(&self, document: DocRow, mut each: impl FnMut(TableRow)) {
        let (view, doc) = (self.view, self.view.documents[document.index()]);
        let words = view.corpus.words(doc);
        let known = |words| view.known(words).map(|word| view.table_row_of_word(word));
        match &self.more {
            More::Nothing => known(words).for_each(each),
            More::Links(words_too) => {
                let mut from = 0;
                for position in view.corpus.positions(doc) {
                    known(&words[from..position.at]).for_each(&mut each);
                    from = position.at;
                    let targets = position.targets.iter().filter_map(|&target| view.document_row(target));
                    let targets = targets.filter(|target| words_too[target.index()]);
                    targets.map(|target| view.table_row_of_doc(target)).for_each(&mut each);
                }
                known(&words[from..]).for_each(each);
            }
            More::Contexts(cited_by) => {
                known(words).for_each(&mut each);
                cited_by.contexts(view, document).map(|word| view.table_row_of_word(word)).for_each(each);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow::Continue;

    use super::*;
    use crate::corpus::CorpusOptions;
    use crate::corpus::split::Split;
    use crate::import::{Format, ImportOptions};
    use crate::tests::import;

    #[test]
    fn texts_are_words_or_words_with_links_or_words_with_what_others_say() {
        let dir = tempfile::tempdir().expect("a directory");
        let input = dir.path().join("in.jsonl");
        let lines = [
            r#"{"id": "a", "text": "one two [[b|c]] rare three [[b]]"}"#,
            r#"{"id": "b", "text": "one [[c]] two"}"#,
            r#"{"id": "c", "text": "three"}"#,
        ];
        std::fs::write(&input, lines.join("\n")).expect("written");
        let corpus = CorpusOptions { min_count: 1, ..CorpusOptions::default() };
        let options = ImportOptions { corpus, ..ImportOptions::default() };
        let out = dir.path().join("corpus");
        let corpus = import(Format::Jsonl, &[input], &out, &options, &mut |_| Continue(())).expect("imported");
        let view = View::new(&corpus, &Split::none(&corpus), 2).expect("a view");
        let shown = |text: &Text<'_>| {
            let name = |row: TableRow| match view.doc_of(row) {
                Some(document) => corpus.name(view.documents[document.index()]),
                None => corpus.word(view.words[row.index()]),
            };
            let text_of = |document: DocRow| {
                let mut names = vec![];
                text.rows(document, |row| names.push(name(row)));
                assert_eq!(names.len() as u64, text.before(document.index() + 1) - text.before(document.index()));
                names.join(" ")
            };
            view.document_rows().map(text_of).collect::<Vec<_>>()
        };
        assert_eq!(shown(&Text::words(&view)), ["one two three", "one two", "three"]);
        let links = Text::with_links(&view, 2);
        assert_eq!(shown(&links), ["one two b c three b", "one c two", "three"]);
        assert_eq!(links.counts(), [2, 2, 2, 0, 2, 2]);
        let contexts = Text::with_contexts(&view, 1);
        assert_eq!(shown(&contexts), ["one two three", "one two two three three", "three two three one two"]);
        assert_eq!(contexts.counts().iter().sum::<u64>(), 13);
    }

    #[test]
    fn documents_with_too_few_links_are_no_words() {
        let dir = tempfile::tempdir().expect("a directory");
        let input = dir.path().join("in.jsonl");
        let lines = [
            r#"{"id": "a", "text": "one [[b|c]] two [[b]] one"}"#,
            r#"{"id": "b", "text": "two [[c]] one [[d]]"}"#,
            r#"{"id": "c", "text": "one two [[b]]"}"#,
            r#"{"id": "d", "text": "two"}"#,
        ];
        std::fs::write(&input, lines.join("\n")).expect("written");
        let corpus = CorpusOptions { min_count: 1, ..CorpusOptions::default() };
        let options = ImportOptions { corpus, ..ImportOptions::default() };
        let out = dir.path().join("corpus");
        let corpus = import(Format::Jsonl, &[input], &out, &options, &mut |_| Continue(())).expect("imported");
        let view = View::new(&corpus, &Split::none(&corpus), 1).expect("a view");
        // Links: b three times, c twice, d once, a never. Words: one four times, two four times.
        let vocabulary = |min_count| Text::with_links(&view, min_count).counts().to_vec();
        assert_eq!(vocabulary(1), [4, 4, 0, 3, 2, 1]);
        assert_eq!(vocabulary(2), [4, 4, 0, 3, 2, 0]);
        assert_eq!(vocabulary(3), [4, 4, 0, 3, 0, 0]);
        // Where a link is left out, its neighbours stand next to each other.
        let mut last = vec![];
        Text::with_links(&view, 3).rows(DocRow(1), |row| last.push(row.index()));
        assert_eq!(last.len(), 2, "{last:?}");
    }
}
