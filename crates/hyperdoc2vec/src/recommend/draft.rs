//! Answers for all places of a draft that ask for a link.

use std::collections::HashSet;

use rayon::prelude::*;

use super::{Answer, ParsedQuestion, Question, Recommender};
use crate::draft::{Draft, DraftSource};
use crate::error::{Error, Result};
use crate::id::WordRow;
use crate::search::Query;
use crate::search::ranker::LinkSource;

/// Places of a draft that are answered; others are left out.
pub const MOST_PLACES: usize = 1000;
/// Words on each side of a place that may count.
const WORDS_AROUND: usize = 400;

impl Recommender<'_> {
    /// Answers the places of a draft that ask for a link, in order, up to [`MOST_PLACES`]; one that has none is answered as
    /// a whole. `question` gives filters, ranking and source; its text does not count. Where it has no source, `source`
    /// makes the draft itself one.
    ///
    /// # Errors
    /// Those of [`Recommender::ask`].
    pub fn ask_draft(&self, draft: &Draft, source: Option<DraftSource>, question: &Question) -> Result<Vec<Answer>> {
        if draft.words.is_empty() {
            return Err(Error::NoWords);
        }
        let (model, terms) = (self.model(), self.model().terms());
        let own = source.as_ref().and_then(|source| source.document);
        let mut frame = self.frame(question)?;
        if let Some(own) = own {
            (frame.eligible[own.index()], frame.allowed[own.index()]) = (false, false);
        }
        let rows: Vec<Option<WordRow>> =
            draft.words.iter().map(|word| terms.find(&word.text).map(|row| WordRow(row as u32))).collect();
        if let (None, Some(of_draft)) = (&frame.source, source) {
            let read = LinkSource::of_words(model, rows.iter().flatten().copied(), of_draft.links)?;
            let date = own.and_then(|own| model.date(own.index()));
            frame.source = Some(LinkSource { document: own, date, ..read }).filter(LinkSource::tells);
        }
        let query = |mark: Option<usize>| {
            let (start, end) = match mark {
                Some(mark) => (mark.saturating_sub(WORDS_AROUND), rows.len().min(mark + WORDS_AROUND)),
                None => (0, rows.len()),
            };
            let mut seen = HashSet::new();
            let unknown = (start..end).filter(|&word| rows[word].is_none()).map(|word| &*draft.words[word].text);
            let unknown = unknown.filter(|word| seen.insert(*word)).map(str::to_owned).collect();
            let mark = mark.map(|mark| mark - start);
            let read = Query::of_rows(&rows[start..end], mark, model.words(), model.params().window);
            Query { unknown, ..read }
        };
        let marks: Vec<Option<usize>> = match draft.wanted.as_slice() {
            [] => vec![None],
            wanted => wanted.iter().take(MOST_PLACES).map(|place| Some(place.word)).collect(),
        };
        let answer = |mark: Option<usize>| self.answer(ParsedQuestion { query: query(mark), ..frame.clone() });
        marks.into_par_iter().map(answer).collect()
    }
}
