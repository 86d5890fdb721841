//! Suggests links for a draft: where, to what, how likely, why, and the changes that put them in.

mod files;
mod insert;
mod names;

use std::ops::Range;

pub use insert::{Edit, LinkWriter, apply};
pub use names::{DocumentNames, DraftLocation};

use crate::document::{Date, Tokenizer};
use crate::draft::{Draft, DraftFormat, WantedLink};
use crate::error::Result;
use crate::id::DocRow;
use crate::model::Model;
use crate::places::{NeverLink, PlaceCandidate, PlaceModel, PlaceQuestion, WantedAnswer, choose};

/// Documents listed for a place that asks for a link.
const LISTED: usize = 3;
/// Documents asked for: a mark with several places has another for each.
const ASKED: usize = 24;

/// How a draft is read, and what may be suggested for it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SuggestOptions {
    /// The format of the draft.
    pub format: DraftFormat,
    /// Its path, or the id of the document that it is. What the model knows of that document counts then: it is not
    /// suggested itself, nor is anything dated after it, and addresses are written from its folder.
    pub path: Option<String>,
    /// Whether the files around `path` are looked at, so that addresses lead to the files that documents are.
    pub beside_files: bool,
    /// The minimum probability of a suggestion.
    pub min_probability: f32,
    /// The maximum number of suggestions; places that ask for a link do not count.
    pub max: usize,
    /// Titles, ids, labels and phrases that are never linked.
    pub never: NeverLink,
    /// If not empty, only these documents are suggested, and places that ask for a link are left alone.
    pub only: Vec<DocRow>,
    /// Nothing dated after this is suggested, whatever the date of the draft.
    pub until: Option<Date>,
    /// Whether documents dated after the draft's own are suggested, too.
    pub any_date: bool,
    /// If given, only places within these bytes of the text are looked at; the rest is what surrounds them.
    pub within: Option<Range<usize>>,
}

impl SuggestOptions {
    /// Up to 20 links with a probability of at least one half, for a draft of which only the format is known.
    pub fn new(format: DraftFormat) -> SuggestOptions {
        SuggestOptions {
            format,
            path: None,
            beside_files: false,
            min_probability: 0.5,
            max: 20,
            never: NeverLink::default(),
            only: Vec::new(),
            until: None,
            any_date: false,
            within: None,
        }
    }

    /// The path of the draft, or the id of the document that it is.
    pub fn path(self, path: impl Into<String>) -> SuggestOptions {
        SuggestOptions { path: Some(path.into()), ..self }
    }

    /// Writes addresses that lead to the files around the draft's path.
    pub fn beside_files(self) -> SuggestOptions {
        SuggestOptions { beside_files: true, ..self }
    }

    /// Leaves out less probable links.
    pub fn min_probability(self, probability: f32) -> SuggestOptions {
        SuggestOptions { min_probability: probability, ..self }
    }

    /// Suggests no more links than this.
    pub fn max(self, max: usize) -> SuggestOptions {
        SuggestOptions { max, ..self }
    }

    /// Leaves out what is never to be linked.
    pub fn never_link(self, never: NeverLink) -> SuggestOptions {
        SuggestOptions { never, ..self }
    }

    /// Suggests only links to these documents.
    pub fn only(self, documents: impl IntoIterator<Item = DocRow>) -> SuggestOptions {
        SuggestOptions { only: documents.into_iter().collect(), ..self }
    }

    /// Suggests nothing dated after this.
    pub fn until(self, date: Date) -> SuggestOptions {
        SuggestOptions { until: Some(date), ..self }
    }

    /// Suggests documents dated after the draft's own, too.
    pub fn any_date(self) -> SuggestOptions {
        SuggestOptions { any_date: true, ..self }
    }

    /// Looks only at places within these bytes.
    pub fn within(self, bytes: Range<usize>) -> SuggestOptions {
        SuggestOptions { within: Some(bytes), ..self }
    }
}

impl Default for SuggestOptions {
    fn default() -> SuggestOptions {
        SuggestOptions::new(DraftFormat::Markdown)
    }
}

/// A link that could be put into a draft.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Suggestion {
    /// The bytes of its words, or of the mark that asks for a link; none where a link without words would stand.
    pub span: Range<usize>,
    /// The words on one line, or the mark.
    pub words: String,
    /// The document's row in the model.
    pub row: DocRow,
    /// The document's id.
    pub id: String,
    /// The document's title; empty if it has none.
    pub title: String,
    /// How likely there is a link here, to this document.
    pub probability: f32,
    /// How likely there is a link here.
    pub place: f32,
    /// How likely a link here leads to this document.
    pub of_target: f32,
    /// Documents of the corpus with these words, and those of them that have them as a link.
    pub documents: (u32, u32),
    /// The share of the links with these words that lead to the document; a name counts as half a link.
    pub share: f32,
    /// Whether the draft asks for a link here.
    pub wanted: bool,
    /// The ids of other documents for a place that asks for a link, with their probabilities.
    pub others: Vec<(String, f32)>,
    /// The changes that put the link in.
    pub edits: Vec<Edit>,
}

impl Suggestion {
    /// Why it is suggested.
    pub fn why(&self) -> String {
        match self.documents {
            _ if self.wanted => "the draft asks for a link here".to_owned(),
            (0, _) if self.span.is_empty() => "by the words around it".to_owned(),
            (_, 0) => "the words name it".to_owned(),
            (documents, linking) => {
                let around = if self.share > 0.0 { "" } else { "; this document by the text around them" };
                format!("a link in {linking} of the {documents} documents with these words{around}")
            }
        }
    }
}

/// The links suggested for a draft.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Suggestions {
    /// The id of the document of the model that the draft is.
    pub source: Option<String>,
    /// The links, in the order of the text.
    pub links: Vec<Suggestion>,
    /// How many places that ask for a link have no answer that is likely enough.
    pub unanswered: usize,
    /// How many words of the draft the model knows.
    pub known: usize,
}

impl Suggestions {
    /// The changes that put all links in, in the order of the text.
    pub fn edits(&self) -> Vec<Edit> {
        let mut edits: Vec<Edit> = self.links.iter().flat_map(|link| link.edits.iter().cloned()).collect();
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        edits
    }

    /// The draft with all links in it.
    pub fn apply(&self, text: &str) -> String {
        apply(text, &self.edits())
    }
}

/// A model, ready to suggest links for drafts.
///
/// ```
/// use hyperdoc2vec::{Document, DraftFormat, Import, SuggestOptions, Suggester, Training};
///
/// let mut pages = vec![Document::new("notes/beam", "a search that keeps the best").title("Beam search")];
/// pages.extend((0..240).map(|n| {
///     let text = match n % 2 {
///         0 => "The decoder runs a [beam search][[notes/beam]] over words, and a wide beam search is slow.",
///         _ => "Nothing is linked on this page about words and sentences at all.",
///     };
///     Document::new(format!("page-{n}"), text)
/// }));
/// let folder = std::env::temp_dir();
/// let corpus = Import::documents(pages).replace().build(folder.join("suggest.corpus"))?;
/// let model = Training::new(&corpus).dim(8).replace().run(folder.join("suggest.model"))?;
///
/// let suggester = Suggester::new(&model)?;
/// let draft = "# Decoding\n\nWe run a beam search over the words.\n";
/// let found = suggester.suggest(draft, &SuggestOptions::new(DraftFormat::Markdown).min_probability(0.3))?;
/// assert_eq!(found.links[0].id, "notes/beam");
/// assert_eq!(found.apply(draft), "# Decoding\n\nWe run a [beam search](notes/beam.md) over the words.\n");
/// # Ok::<(), hyperdoc2vec::Error>(())
/// ```
pub struct Suggester<'a> {
    places: PlaceModel<'a>,
    names: DocumentNames<'a>,
}

impl<'a> Suggester<'a> {
    /// Prepares to ask `model`.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) for a model that has not learnt where links belong.
    pub fn new(model: &'a Model) -> Result<Suggester<'a>> {
        Ok(Suggester { places: PlaceModel::new(model)?, names: DocumentNames::new(model) })
    }

    /// The model.
    pub fn model(&self) -> &'a Model {
        self.places.model()
    }

    /// The documents of the model by all their names.
    pub fn names(&self) -> &DocumentNames<'a> {
        &self.names
    }

    /// Reads text as that of the corpus was read.
    pub fn tokenizer(&self) -> &Tokenizer {
        self.places.tokenizer()
    }

    /// Suggests links for a draft: each document once, no two over the same words, the likeliest mentions; and answers
    /// the places of the draft that ask for a link, the first thousand of them.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) for a draft that is too long.
    pub fn suggest(&self, text: &str, options: &SuggestOptions) -> Result<Suggestions> {
        let (model, path) = (self.model(), options.path.as_deref());
        let draft = Draft::read(text, options.format, self.tokenizer(), path.unwrap_or("the draft"))?;
        let location = match path {
            Some(path) if options.beside_files => self.names.location_beside(path, options.format),
            path => path.map(|path| self.names.location(path)).unwrap_or_default(),
        };
        let (source, own) = (self.names.source(&draft, &location), location.document);
        let title = own.map(|row| model.titles().get(row.index()).to_owned()).or_else(|| draft.title.clone());
        let own_date = own.filter(|_| !options.any_date).and_then(|row| model.date(row.index()));
        let writer = LinkWriter::new(&self.names, text, &draft, &location);
        let question = PlaceQuestion {
            source,
            title: title.unwrap_or_default(),
            until: options.until.or(own_date),
            never: options.never.clone(),
            only: options.only.iter().copied().collect(),
            within: options.within.clone(),
            ..PlaceQuestion::new(text, &draft)
        };
        let mut candidates = self.places.candidates(&question, false)?;
        candidates.retain(|one| one.probability() < options.min_probability || writer.fits(text, question.span(one)));
        let chosen = choose(&candidates, options.min_probability, options.max);
        let mut links: Vec<Suggestion> = chosen.iter().map(|place| self.missing(&question, place, &writer)).collect();
        let mut unanswered = 0;
        if options.only.is_empty() {
            // A mark may have several places, and names each document once.
            let mut cited = (0..0, Vec::new());
            for WantedAnswer { wanted, mut hits } in self.places.answer_wanted(&question, ASKED)? {
                let place = &draft.wanted[wanted];
                if cited.0 != place.span {
                    let known = draft.links.iter().filter(|link| link.span == place.span);
                    let known = known.flat_map(|link| &link.targets);
                    cited = (place.span.clone(), known.filter_map(|key| self.names.resolve(key, &location)).collect());
                }
                hits.retain(|hit| !cited.1.contains(&hit.0));
                hits.truncate(LISTED);
                let answer = self.wanted(text, place, &hits);
                let Some(answer) = answer.filter(|answer| answer.probability >= options.min_probability) else {
                    unanswered += 1;
                    continue;
                };
                cited.1.push(answer.row);
                links.push(Suggestion { edits: vec![writer.wanted(place, answer.row)], ..answer });
            }
        }
        links.sort_by_key(|link| link.span.start);
        let known = draft.words.iter().filter(|word| model.terms().find(&word.text).is_some()).count();
        Ok(Suggestions { source: own.map(|row| self.document(row).0), links, unanswered, known })
    }

    fn document(&self, row: DocRow) -> (String, String) {
        let model = self.model();
        (model.names().get(row.index()).to_owned(), model.titles().get(row.index()).to_owned())
    }

    /// A link where the draft does not ask for one.
    fn missing(&self, question: &PlaceQuestion<'_>, place: &PlaceCandidate, writer: &LinkWriter<'_>) -> Suggestion {
        let span = question.span(place);
        let (id, title) = self.document(place.target);
        Suggestion {
            words: question.text[span.clone()].split_whitespace().collect::<Vec<_>>().join(" "),
            row: place.target,
            id,
            title,
            probability: place.probability(),
            place: place.place,
            of_target: place.of_target,
            documents: place.documents,
            share: place.share,
            wanted: false,
            others: Vec::new(),
            edits: writer.over(question.text, span.clone(), place.target),
            span,
        }
    }

    /// The answer to a place that asks for a link, not yet put in.
    fn wanted(&self, text: &str, place: &WantedLink, hits: &[(DocRow, f32)]) -> Option<Suggestion> {
        let (&(row, probability), others) = hits.split_first()?;
        let (id, title) = self.document(row);
        Some(Suggestion {
            span: place.span.clone(),
            words: text[place.span.clone()].to_owned(),
            row,
            id,
            title,
            probability,
            place: 1.0,
            of_target: probability,
            documents: (0, 0),
            share: 0.0,
            wanted: true,
            others: others.iter().map(|&(row, probability)| (self.document(row).0, probability)).collect(),
            edits: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, Error, Import, Training};

    /// Pages that link "parse trees" and "beam search" at their first mention, and never "the".
    fn model(dir: &std::path::Path) -> Model {
        let mut documents = vec![
            Document::new("notes/tree", "a tree of a sentence by its grammar").title("Parse tree"),
            Document::new("notes/beam", "a search that keeps the best").title("Beam search"),
        ];
        documents.extend((0..90).map(|n| {
            let text = match n % 3 {
                0 => "We build a [parse tree][[notes/tree]] of each sentence, and the parse tree is scored.",
                1 => "The decoder runs a [beam search][[notes/beam]] over words with a wide beam search.",
                _ => "Nothing is linked on this page about words and sentences at all.",
            };
            Document::new(format!("page-{n}"), text).title(format!("Page {n}"))
        }));
        let corpus = Import::documents(documents).build(dir.join("corpus")).expect("a corpus");
        Training::new(&corpus).dim(8).epochs(2).run(dir.join("model")).expect("a model")
    }

    #[test]
    fn links_are_suggested_once_where_others_have_them_and_written_back() {
        let dir = tempfile::tempdir().expect("a directory");
        let model = model(dir.path());
        let suggester = Suggester::new(&model).expect("a place model");
        let text =
            "# Parse trees\n\nA parse tree of each sentence is built, and the parse tree is kept.\n\n> a beam search\n";
        let options = || SuggestOptions::new(DraftFormat::Markdown).min_probability(0.3);
        let links = |text: &str, options: SuggestOptions| suggester.suggest(text, &options).expect("suggestions").links;
        let found = suggester.suggest(text, &options()).expect("suggestions");
        let shown: Vec<(&str, &str)> = found.links.iter().map(|one| (&*one.words, &*one.id)).collect();
        assert_eq!(shown, [("parse tree", "notes/tree")], "not in headings and quotations, and once");
        assert_eq!(found.links[0].span.start, text.find("parse tree").expect("the first mention"));
        assert!(found.links[0].why().starts_with("a link in "), "{}", found.links[0].why());
        let written = found.apply(text);
        assert_eq!(written, text.replacen("parse tree", "[parse tree](notes/tree.md)", 1));
        // What is linked is known, and not suggested again.
        assert_eq!(links(&written, options()), []);
        let behind = text.find(", and").expect("the second half");
        let half = links(text, options().within(behind..text.len()));
        assert!(half.iter().all(|one| one.span.start > behind), "only within the bytes asked for: {half:?}");
        assert_eq!(links(text, options().never_link(NeverLink::read("# none\nParse trees\n"))), []);
        assert_eq!(links(text, options().path("notes/tree.md")), [], "a page does not link to itself");
        assert_eq!(links(text, options().max(0)), []);
        let beam = DocRow(model.names().find("notes/beam").expect("a document") as u32);
        assert_eq!(links(text, options().only([beam])), []);
    }

    #[test]
    fn marks_are_answered_and_only_likely_answers_are_put_in() {
        let dir = tempfile::tempdir().expect("a directory");
        let model = model(dir.path());
        let suggester = Suggester::new(&model).expect("a place model");
        let text = "The decoder runs a wide [[?]] over words.\n";
        let found = suggester.suggest(text, &SuggestOptions::default().min_probability(0.0)).expect("suggestions");
        let answer = found.links.iter().find(|one| one.wanted).expect("an answer");
        assert_eq!((&*answer.words, answer.place, answer.edits.len()), ("[[?]]", 1.0, 1));
        assert!(!found.apply(text).contains("[[?]]"));
        let found = suggester.suggest(text, &SuggestOptions::default().min_probability(1.0)).expect("suggestions");
        assert_eq!((found.links.len(), found.unanswered), (0, 1), "{found:?}");
        // Each place of a mark has an answer of its own, which it does not name already.
        let options = SuggestOptions::new(DraftFormat::Latex).min_probability(0.0);
        let found =
            suggester.suggest("The decoder runs a wide \\cite{notes/beam,?,?}.", &options).expect("suggestions");
        let written = found.apply("The decoder runs a wide \\cite{notes/beam,?,?}.");
        let keys: std::collections::HashSet<&str> = written[29..written.len() - 2].split(',').collect();
        assert!(keys.len() == 3 && !keys.contains("?"), "{written}");
    }

    #[test]
    fn nothing_later_than_the_draft_is_suggested_unless_asked() {
        let dir = tempfile::tempdir().expect("a directory");
        let year = |year: &str| year.parse::<Date>().expect("a date");
        let mut documents = vec![Document::new("beam", "a search that keeps the best").date(year("2010"))];
        documents.extend((0..240).map(|n| {
            let text = match n % 2 {
                0 => "The decoder runs a [beam search][[beam]] over words with a wide beam search.",
                _ => "Nothing is linked on this page about words and sentences at all.",
            };
            Document::new(format!("page-{n}"), text).date(year(if n == 1 { "2005" } else { "2015" }))
        }));
        let corpus = Import::documents(documents).build(dir.path().join("corpus")).expect("a corpus");
        let model = Training::new(&corpus).dim(8).epochs(2).run(dir.path().join("model")).expect("a model");
        let suggester = Suggester::new(&model).expect("a place model");
        let text = "The decoder runs a beam search over words.";
        let count = |options: SuggestOptions| {
            let options = options.min_probability(0.3);
            suggester.suggest(text, &options).expect("suggestions").links.len()
        };
        let options = || SuggestOptions::new(DraftFormat::Plain);
        assert_eq!(count(options()), 1);
        assert_eq!(count(options().path("page-1")), 0, "that page is older");
        assert_eq!(count(options().path("page-1").any_date()), 1);
        assert_eq!(count(options().until(year("2009"))), 0);
        assert_eq!(count(options().until(year("2010"))), 1);
    }

    #[test]
    fn a_model_without_places_says_so() {
        let dir = tempfile::tempdir().expect("a directory");
        let documents = [Document::new("a", "one [[b]] two"), Document::new("b", "two one")];
        let corpus = Import::documents(documents).build(dir.path().join("corpus")).expect("a corpus");
        let mut params = crate::TrainParams::for_corpus(&corpus);
        params.min_count = 1;
        let model = Training::new(&corpus).params(params).dim(4).run(dir.path().join("model")).expect("a model");
        let error = Suggester::new(&model).err().expect("nothing was learnt");
        assert!(matches!(&error, Error::Unsupported { .. }), "{error}");
    }
}
