//! The sentences that the links of a model stand in, as they were written.
//!
//! A sentence is kept once, however many links it has. [`TOGETHER`] of them, a line each, are packed as one frame of
//! zstd, so that one can be read without the others. Of each link, in the order of [`Links`], there are two numbers: that
//! of its sentence, and where its own words begin and end there, in bytes, in 16 bits each.

use rayon::prelude::*;

use crate::corpus::cited_by::CitedBy;
use crate::corpus::view::View;
use crate::document::{Document, sentence};
use crate::error::Result;
use crate::id::{DocId, DocRow};
use crate::model::index::links::Links;
use crate::storage::container::Tensor;

/// Sentences in a frame.
const TOGETHER: usize = 512;
/// Bytes on each side of a link, at the most.
const SIDE: usize = 400;
/// How hard zstd tries.
const LEVEL: i32 = 9;
/// Documents that are read before the next are.
const DOCUMENTS: usize = 1 << 10;
/// The number of a link without a sentence.
const NONE: u32 = u32::MAX;

/// The arrays: frames, where each ends, two numbers a link.
pub const ARRAYS: [&str; 3] = ["quotes.text", "quotes.ends", "quotes.places"];

/// Sentences and the places of links in them, as they are stored.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quotes<'a> {
    /// The frames.
    pub text: &'a [u8],
    /// Where each ends.
    pub ends: &'a [u64],
    /// Two numbers a link.
    pub places: &'a [u32],
}

/// A sentence, parted by a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// Before the link.
    pub before: String,
    /// Its own words; none in papers.
    pub anchor: String,
    /// Behind it.
    pub after: String,
}

impl Quotes<'_> {
    /// The sentence of a link, by the link's number; `None` where there is none.
    pub fn of(&self, link: usize) -> Option<Quote> {
        let &[number, place] = self.places.get(2 * link..2 * link + 2)? else { return None };
        let number = usize::try_from(number).ok().filter(|_| number != NONE)?;
        let frame = number / TOGETHER;
        let start = if frame == 0 { 0 } else { *self.ends.get(frame - 1)? as usize };
        let packed = self.text.get(start..*self.ends.get(frame)? as usize)?;
        let most = TOGETHER * (3 * SIDE + u16::MAX as usize);
        let text = zstd::bulk::decompress(packed, most.min(zstd_length(packed)?)).ok()?;
        let line = text.split(|&byte| byte == b'\n').nth(number % TOGETHER)?;
        let line = std::str::from_utf8(line).ok()?;
        let (start, end) = ((place >> 16) as usize, (place & 0xffff) as usize);
        Some(Quote {
            before: line.get(..start)?.to_owned(),
            anchor: line.get(start..end)?.to_owned(),
            after: line.get(end..)?.to_owned(),
        })
    }
}

/// How long a frame says that its text is.
fn zstd_length(packed: &[u8]) -> Option<usize> {
    let length = zstd::zstd_safe::get_frame_content_size(packed).ok()??;
    usize::try_from(length).ok()
}

/// A link in its sentence: the number of the sentence, and the place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceInSentence {
    sentence: u32,
    place: u32,
}

impl PlaceInSentence {
    /// That of a link without a sentence.
    const NONE: PlaceInSentence = PlaceInSentence { sentence: NONE, place: 0 };

    /// This place, where sentences are counted from number `first`.
    fn behind(self, first: u32) -> PlaceInSentence {
        let sentence = if self.sentence == NONE { NONE } else { first + self.sentence };
        PlaceInSentence { sentence, ..self }
    }
}

/// The sentences of a document that have links, and the place of each link, in order.
#[derive(Debug, Default)]
pub struct DocumentQuotes {
    sentences: Vec<String>,
    /// The places, whose sentences are counted from the first of the document.
    pub places: Vec<PlaceInSentence>,
}

impl DocumentQuotes {
    /// Those of the links whose targets `count`.
    pub fn read(document: &Document, count: impl Fn(&[String]) -> bool) -> DocumentQuotes {
        let mut quotes = DocumentQuotes::default();
        let mut last = None;
        for link in document.links.iter().filter(|link| count(&link.targets)) {
            let (start, end) = (link.anchor.min(link.at), link.at);
            let sound = |anchor: &&str| anchor.len() < SIDE && !anchor.contains('\n');
            if document.text.get(start..end).filter(sound).is_none() {
                quotes.places.push(PlaceInSentence::NONE);
                continue;
            }
            let range = sentence(&document.text, start..end, SIDE);
            if last.as_ref() != Some(&range) {
                let written = &document.text[range.clone()];
                // In the same number of bytes.
                quotes.sentences.push(written.replace(|c: char| c.is_ascii_control(), " "));
                last = Some(range.clone());
            }
            let place = ((start - range.start) as u32) << 16 | (end - range.start) as u32;
            quotes.places.push(PlaceInSentence { sentence: quotes.sentences.len() as u32 - 1, place });
        }
        quotes
    }
}

/// Sentences and the places of links in them, as they are made.
#[derive(Debug, Default)]
pub struct QuotesBuf {
    text: Vec<u8>,
    ends: Vec<u64>,
    places: Vec<u32>,
    /// Lines of the frame that is not full.
    lines: String,
    waiting: usize,
}

impl QuotesBuf {
    /// Those of the links of `view`.
    pub fn build(view: &View<'_>) -> Result<QuotesBuf> {
        let corpus = view.corpus;
        let mut quotes = QuotesBuf::default();
        let mut of_position = vec![PlaceInSentence::NONE; corpus.manifest().counts.positions as usize];
        for some in view.documents.chunks(DOCUMENTS) {
            let one = |&doc: &DocId| {
                if corpus.position_range(doc).is_empty() {
                    return Ok(DocumentQuotes::default());
                }
                let other = |target: &String| corpus.find(target).is_some_and(|target| target != doc);
                Ok(DocumentQuotes::read(&corpus.document(doc)?, |targets| targets.iter().any(other)))
            };
            let read = some.par_iter().map(one).collect::<Result<Vec<_>>>()?;
            for (&doc, of_document) in some.iter().zip(read) {
                let positions = corpus.position_range(doc);
                if of_document.places.len() == positions.len() {
                    let first = quotes.push(&of_document);
                    let places = of_document.places.iter().map(|place| place.behind(first));
                    positions.zip(places).for_each(|(position, place)| of_position[position] = place);
                }
            }
        }
        let cited_by = CitedBy::new(view, 0);
        let positions = view.document_rows().flat_map(|document| cited_by.positions(document));
        positions.for_each(|&position| quotes.push_place(of_position[position as usize]));
        quotes.finish();
        Ok(quotes)
    }

    /// Those of `old`, whose links are `links`, and of the links of new documents: `of_new(document)` gives those that
    /// point at a document, each as the number of the new document that it stands in and its place there.
    pub fn extended(
        old: Quotes<'_>,
        links: Links<'_>,
        new: &[DocumentQuotes],
        documents: usize,
        of_new: impl Fn(DocRow) -> Vec<(usize, PlaceInSentence)>,
    ) -> QuotesBuf {
        let mut quotes = QuotesBuf { text: old.text.to_vec(), ends: old.ends.to_vec(), ..QuotesBuf::default() };
        let firsts: Vec<u32> = new.iter().map(|of_document| quotes.push(of_document)).collect();
        let mut link = 0;
        for document in (0..documents as u32).map(DocRow) {
            let end = link + links.sources(document).len();
            for link in link..end {
                // Models of earlier versions have none.
                let none = [NONE, 0];
                quotes.places.extend_from_slice(old.places.get(2 * link..2 * link + 2).unwrap_or(&none));
            }
            of_new(document).into_iter().for_each(|(new, place)| quotes.push_place(place.behind(firsts[new])));
            link = end;
        }
        quotes.finish();
        quotes
    }

    fn push_place(&mut self, place: PlaceInSentence) {
        self.places.extend([place.sentence, place.place]);
    }

    /// Appends sentences; the number of the first.
    fn push(&mut self, quotes: &DocumentQuotes) -> u32 {
        let first = self.ends.len() * TOGETHER + self.waiting;
        for sentence in &quotes.sentences {
            self.lines.push_str(sentence);
            self.lines.push('\n');
            self.waiting += 1;
            if self.waiting == TOGETHER {
                self.finish();
            }
        }
        first as u32
    }

    /// Packs the sentences that wait.
    fn finish(&mut self) {
        if self.waiting > 0 {
            // Packing into memory cannot fail.
            self.text.extend(zstd::bulk::compress(self.lines.as_bytes(), LEVEL).unwrap_or_default());
            self.ends.push(self.text.len() as u64);
            self.lines.clear();
            self.waiting = 0;
        }
    }

    /// The arrays.
    pub fn tensors(&self) -> [Tensor<'_>; 3] {
        [
            Tensor::bytes(ARRAYS[0], &self.text),
            Tensor::u64s(ARRAYS[1], &self.ends),
            Tensor::u32s(ARRAYS[2], &self.places),
        ]
    }

    /// To read.
    #[cfg(test)]
    pub fn view(&self) -> Quotes<'_> {
        Quotes { text: &self.text, ends: &self.ends, places: &self.places }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Document::new("x", text)
    }

    fn shown(quote: Option<Quote>) -> String {
        quote.map_or("none".to_owned(), |quote| format!("{}<{}>{}", quote.before, quote.anchor, quote.after))
    }

    #[test]
    fn a_link_stands_in_its_sentence_as_it_was_written() {
        let text = "Before. We use\t[BLEU][[b]], as in [[c]] and [[d]]. [A][[b]] last one";
        let quotes = DocumentQuotes::read(&document(text), |targets| targets != ["d"]);
        assert_eq!(quotes.sentences, ["We use BLEU, as in  and .", "A last one"], "each once");
        let mut all = QuotesBuf::default();
        let first = all.push(&quotes);
        quotes.places.iter().for_each(|place| all.push_place(place.behind(first)));
        all.finish();
        let shown: Vec<String> = (0..4).map(|link| shown(all.view().of(link))).collect();
        assert_eq!(shown, ["We use <BLEU>, as in  and .", "We use BLEU, as in <> and .", "<A> last one", "none"]);
    }

    #[test]
    fn new_quotes_stand_behind_old_ones_in_frames_of_their_own() {
        let read = |text: &str| DocumentQuotes::read(&document(text), |_| true);
        let many = (0..TOGETHER + 3).map(|n| format!("Old {n} [[a]].\n")).collect::<String>();
        let (old_quotes, new_quotes) = (read(&many), read("New [[a]]."));
        let (mut old, mut ends, mut sources) = (QuotesBuf::default(), Vec::new(), Vec::new());
        let first = old.push(&old_quotes);
        old_quotes.places.iter().for_each(|place| old.push_place(place.behind(first)));
        old.finish();
        sources.resize(TOGETHER + 3, 7u32);
        ends.push(sources.len() as u64);
        let links = Links { ends: &ends, sources: &sources, ..Links::default() };
        let place = new_quotes.places[0];
        let of_new = |document: DocRow| if document.0 == 0 { vec![(0, place)] } else { vec![] };
        let all = QuotesBuf::extended(old.view(), links, &[new_quotes], 2, of_new);
        let at = |link: usize| shown(all.view().of(link));
        assert_eq!([at(0), at(TOGETHER), at(TOGETHER + 3)], ["Old 0 <>.", &format!("Old {TOGETHER} <>."), "New <>."]);
        // A model without quotes gets those of new documents.
        let new_quotes = read("New [[a]].");
        let all = QuotesBuf::extended(Quotes::default(), links, &[new_quotes], 2, of_new);
        assert_eq!([shown(all.view().of(0)), shown(all.view().of(TOGETHER + 3))], ["none", "New <>."]);
    }
}
