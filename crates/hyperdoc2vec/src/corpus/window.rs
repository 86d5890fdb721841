//! The window: the words around a link that count, on each side the nearest first.
//!
//! Questions and evaluations take their words from here, and their weights from [`crate::model::weighting`]. The citation
//! phase has a faster loop of its own, tested to list the same words; the search index counts words within a fixed
//! distance, known or not.

use crate::corpus::view::View;
use crate::id::{WordId, WordRow};

/// A word near a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NearWord {
    /// Its row: a row of vectors, or behind them one of the index alone.
    pub row: WordRow,
    /// How many words stand between it and the link.
    pub distance: usize,
    /// How many of these have vectors.
    pub near: usize,
}

/// The words on one side of a link, given from the nearest on, `None` for a word that is not known. The first `vectors`
/// rows have vectors; the walk ends where `window` of them have been passed.
pub fn side(
    words: impl Iterator<Item = Option<WordRow>>,
    vectors: usize,
    window: usize,
) -> impl Iterator<Item = NearWord> {
    let mut near = 0;
    let known = words.enumerate().filter_map(|(distance, row)| Some((distance, row?)));
    known.map_while(move |(distance, row)| {
        let word = (near < window).then_some(NearWord { row, distance, near });
        near += usize::from(row.index() < vectors);
        word
    })
}

impl View<'_> {
    /// Up to `window` known words on each side of a link that stands between `before` and `after`: those before it, the
    /// nearest first, then those after it.
    pub fn window<'w>(
        &'w self,
        before: &'w [WordId],
        after: &'w [WordId],
        window: usize,
    ) -> impl Iterator<Item = NearWord> + 'w {
        let row = |&word| self.word_row(word);
        let vectors = self.words.len();
        side(before.iter().rev().map(row), vectors, window).chain(side(after.iter().map(row), vectors, window))
    }

    /// Up to `window` known words on each side of a position of the corpus, as [`View::window`] has them.
    pub fn window_at(&self, position: usize, window: usize) -> impl Iterator<Item = NearWord> {
        let place = self.corpus.position(position);
        let (before, after) = self.corpus.words(place.source).split_at(place.at);
        self.window(before, after, window)
    }

    /// Up to `window` known words on each side of a position of the corpus, in the order of reading.
    pub fn window_in_order(&self, position: usize, window: usize) -> impl Iterator<Item = WordRow> {
        let place = self.corpus.position(position);
        let (before, after) = self.corpus.words(place.source).split_at(place.at);
        let furthest = side(before.iter().rev().map(|&word| self.word_row(word)), self.words.len(), window).last();
        let before = &before[furthest.map_or(before.len(), |word| before.len() - 1 - word.distance)..];
        self.known(before).chain(self.known(after).take(window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_without_vectors_are_walked_over_and_do_not_fill_the_window() {
        // Rows below 10 have vectors.
        let words = [Some(12), None, Some(3), Some(11), Some(4), Some(13), Some(5)].map(|row| row.map(WordRow));
        let walk = |window| {
            let word = |word: NearWord| (word.row.0, word.distance, word.near);
            side(words.into_iter(), 10, window).map(word).collect::<Vec<_>>()
        };
        assert_eq!(walk(0), []);
        assert_eq!(walk(1), [(12, 0, 0), (3, 2, 0)]);
        assert_eq!(walk(2), [(12, 0, 0), (3, 2, 0), (11, 3, 1), (4, 4, 1)]);
        assert_eq!(walk(9).len(), 6);
    }
}
