//! The sentence of a link, counted in words: a corpus keeps words without the ends of sentences, so its text is read.

use crate::corpus::Corpus;
use crate::document::tokenize::Tokenizer;
use crate::document::{Link, sentence};
use crate::error::Result;

/// Bytes of a sentence that are looked at on each side of a link. Longer ones are no prose.
const SIDE: usize = 400;

/// The words of one sentence on both sides of a place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentenceWords {
    /// How many stand before it.
    pub before: usize,
    /// How many stand behind it.
    pub after: usize,
}

impl SentenceWords {
    /// Those of the sentence around `start..end`, which are not counted.
    pub fn around(tokenizer: &Tokenizer, text: &str, start: usize, end: usize) -> SentenceWords {
        let range = sentence(text, start..end, SIDE);
        let words = |text: Option<&str>| {
            let mut words = 0;
            tokenizer.words(text.unwrap_or_default(), |_| words += 1);
            words
        };
        SentenceWords { before: words(text.get(range.start..start)), after: words(text.get(end..range.end)) }
    }
}

impl Corpus {
    /// The words of the sentence that a position stands in, without the link's own; `None` where its text does not tell.
    pub(crate) fn sentence_words(&self, position: usize) -> Result<Option<SentenceWords>> {
        let doc = self.position(position).source;
        let document = self.document(doc)?;
        let other = |target: &String| self.find(target).is_some_and(|target| target != doc);
        let mut links = document.links.iter().filter(|link| link.targets.iter().any(other));
        let place = |link: &Link| (link.anchor.min(link.at), link.at);
        let found = links.nth(position - self.position_range(doc).start).map(place);
        let sound = found.filter(|&(start, end)| document.text.get(start..end).is_some());
        let tokenizer = Tokenizer::new(self.manifest().options.lowercase);
        Ok(sound.map(|(start, end)| SentenceWords::around(&tokenizer, &document.text, start, end)))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Document, Import};

    #[test]
    fn words_of_the_sentence_of_a_link_by_hand() {
        let dir = tempfile::tempdir().expect("a directory");
        let documents = [
            Document::new("a", "One two. Three four [[b]] five. [Six seven][[c]] is eight [[nobody]]; [[b]]."),
            Document::new("b", "b"),
            Document::new("c", "c"),
        ];
        let corpus = Import::documents(documents).build(dir.path().join("c")).expect("a corpus");
        let found = |position| corpus.sentence_words(position).expect("its text").map(|it| (it.before, it.after));
        assert_eq!([0, 1, 2].map(found), [Some((2, 1)), Some((0, 2)), Some((4, 0))]);
    }
}
