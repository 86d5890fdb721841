//! Suggests links for a draft: where, to what, how likely, and why.

use std::ops::{Range, RangeInclusive};

use std::collections::{HashMap, HashSet};

use super::features::{PageFeatures, gap};
use super::learn::RIVAL_COLUMNS;
use super::lexicon::{Lexicon, PhraseTarget, phrase_key, word_key};
use super::page::{Occurrence, Page, Surroundings};
use super::{PlaceTrees, SIDES};
use crate::document::{Date, Tokenizer};
use crate::draft::{Draft, TextKind};
use crate::error::{Error, Result};
use crate::id::{DocRow, WordRow};
use crate::model::Model;
use crate::model::weighting::rarity;
use crate::search::ranker::{LinkSource, Ranker, Scope};
use crate::search::{Query, Searcher};

/// The ranker is asked where a link is at least this likely, and its target is less likely than [`UNSURE`].
const ASKED_FROM: f32 = 0.3;
const UNSURE: f32 = 0.5;
/// It is asked for so many places of a draft, at the most: more of small models, which answer faster,
const MOST_ASKED: RangeInclusive<usize> = 24..=128;
/// until about so many documents have been looked at.
const LOOKED_AT: usize = 500_000;
/// It is asked so often, each time knowing the links that have become likely,
const ROUNDS: usize = 3;
/// which are those that are at least this likely.
const LIKELY: f32 = 0.5;
/// Documents that it may give a place; those behind the first serve where that is linked elsewhere.
const ASKED_HITS: usize = 4;
/// Places that ask for a link are answered up to this number.
const MOST_WANTED: usize = 1000;
/// Words on each side of a place that the ranker may read.
const WORDS_AROUND: usize = 400;

/// A place of a draft, with the document that a link there would most likely lead to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlaceCandidate {
    /// The first word.
    pub start: usize,
    /// Behind the last word; the same for a place without words, which is before this word.
    pub end: usize,
    /// The document.
    pub target: DocRow,
    /// How likely a link is here.
    pub place: f32,
    /// How likely a link here leads to the document.
    pub of_target: f32,
    /// Documents with this phrase, and those of them that have it as a link.
    pub documents: (u32, u32),
    /// The share of the places of the phrase that are links.
    pub rate: f32,
    /// The share of links of this phrase that lead to the document.
    pub share: f32,
}

impl PlaceCandidate {
    /// How likely there is a link here, to this document.
    pub fn probability(&self) -> f32 {
        self.place * self.of_target
    }
}

/// Phrases, documents and labels that are never to be linked.
#[derive(Debug, Clone, Default)]
pub struct NeverLink {
    lines: HashSet<String>,
    phrases: HashSet<u64>,
}

impl NeverLink {
    /// Reads a list: a line each, a title, an id, a label or a phrase; `#` begins a comment.
    pub fn read(text: &str) -> NeverLink {
        let mut never = NeverLink::default();
        for line in text.lines().map(|line| line.split(" #").next().unwrap_or_default().trim()) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            never.lines.insert(line.to_lowercase());
            let words: Vec<u64> = Tokenizer::default().list(line).iter().map(|word| word_key(word)).collect();
            never.phrases.insert(phrase_key(&words));
        }
        never
    }

    fn document(&self, model: &Model, row: DocRow) -> bool {
        let has = |text: &str| self.lines.contains(&text.to_lowercase());
        let labels = model.labels();
        !self.lines.is_empty()
            && (has(model.names().get(row.index()))
                || has(model.titles().get(row.index()))
                || model.label_ids(row.index()).iter().any(|&label| has(labels.get(label as usize))))
    }

    fn phrase(&self, words: &[crate::draft::DraftWord]) -> bool {
        let keys = || words.iter().map(|word| word_key(&word.text));
        !self.phrases.is_empty() && self.phrases.contains(&phrase_key(&keys().collect::<Vec<_>>()))
    }
}

/// A request for suggestions.
#[derive(Debug, Clone)]
pub struct SuggestOptions {
    /// The document that the draft is, where the model has it: it is not suggested, nor what it links to.
    pub source: Option<DocRow>,
    /// The documents that the draft links to.
    pub linked: Vec<DocRow>,
    /// The title of the draft.
    pub title: String,
    /// Nothing dated after this is suggested.
    pub until: Option<Date>,
    /// The least probability of a suggestion.
    pub min_probability: f32,
    /// The most suggestions.
    pub max: usize,
    /// Never to be linked.
    pub never: NeverLink,
    /// If not empty, only these documents are suggested.
    pub only: Vec<DocRow>,
    /// If given, only places within these bytes of the text are looked at; the rest is what surrounds them.
    pub within: Option<Range<usize>>,
}

impl Default for SuggestOptions {
    fn default() -> SuggestOptions {
        SuggestOptions {
            source: None,
            linked: Vec::new(),
            title: String::new(),
            until: None,
            min_probability: 0.5,
            max: 1000,
            never: NeverLink::default(),
            only: Vec::new(),
            within: None,
        }
    }
}

impl SuggestOptions {
    /// Whether a place of these bytes is looked at.
    fn looks_at(&self, span: Range<usize>) -> bool {
        self.within.as_ref().is_none_or(|within| within.start <= span.start && span.end <= within.end)
    }
}

/// A link that could be put into a draft.
#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    /// The bytes of its words; empty where a link without words would stand.
    pub span: Range<usize>,
    /// Place and target.
    pub candidate: PlaceCandidate,
    /// Its probability.
    pub probability: f32,
}

/// The answer to a place that asks for a link.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedAnswer {
    /// The number of the place among those of the draft.
    pub wanted: usize,
    /// Documents, with their probabilities.
    pub hits: Vec<(DocRow, f32)>,
}

/// A model, ready to suggest links.
pub struct Suggester<'a> {
    searcher: Searcher<'a>,
    ranker: Option<Ranker>,
    trees: PlaceTrees,
    lexicon: Lexicon<'a>,
    sides: &'a [u32],
    tokenizer: Tokenizer,
}

/// The best target of a place, and its probability.
pub(super) fn best_target(
    features: &PageFeatures<'_>,
    occurrence: &Occurrence,
    trees: &PlaceTrees,
    allowed: &dyn Fn(DocRow) -> bool,
) -> Option<(PhraseTarget, f32)> {
    let scored: Vec<(PhraseTarget, f32)> = occurrence
        .targets
        .iter()
        .map(|target| (*target, trees.scales[1].probability(trees.target.score(&features.target(occurrence, target)))))
        .collect();
    let total: f32 = scored.iter().map(|(_, probability)| probability).sum::<f32>().max(1.0);
    let best = scored
        .into_iter()
        .filter(|(target, _)| allowed(target.row))
        .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.row.cmp(&a.0.row)));
    best.map(|(target, probability)| (target, probability / total))
}

impl<'a> Suggester<'a> {
    /// Prepares to ask `model`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a model that has not learnt where links belong.
    pub fn new(model: &'a Model) -> Result<Suggester<'a>> {
        let what = "this model has not learnt where links belong: it was trained by an earlier program, without a \
                    hybrid ranking, or on too few links; train it again";
        let missing = || Error::Unsupported { path: model.path().to_owned(), what: what.to_owned() };
        let trees = PlaceTrees::of(model).ok_or_else(missing)?;
        let lexicon = Lexicon::of(model).ok_or_else(missing)?;
        let sides =
            model.optional(SIDES).filter(|sides: &&[u32]| sides.len() >= 2 * model.words()).ok_or_else(missing)?;
        let (searcher, ranker) = (Searcher::new(model), Ranker::of(model));
        Ok(Suggester { searcher, ranker, trees, lexicon, sides, tokenizer: model.tokenizer() })
    }

    /// The model.
    pub fn model(&self) -> &'a Model {
        self.searcher.model()
    }

    /// Reads text as that of the corpus was read.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Whether places are phrases; if not, they are the ends of words.
    pub fn by_phrases(&self) -> bool {
        self.trees.phrases
    }

    /// Every place of a draft with its most likely target, in order, and behind them some of these again with other targets.
    /// With `any_kind`, all words are prose.
    pub fn candidates(
        &self,
        text: &str,
        draft: &Draft,
        options: &SuggestOptions,
        any_kind: bool,
    ) -> Result<Vec<PlaceCandidate>> {
        let page = Page::new((draft, text), &options.title, options.source, None, self);
        let model = self.model();
        let linked: HashSet<u32> = options.linked.iter().map(|row| row.0).collect();
        let only: HashSet<u32> = options.only.iter().map(|row| row.0).collect();
        let allowed = |row: DocRow| {
            Some(row) != options.source
                && !linked.contains(&row.0)
                && (only.is_empty() || only.contains(&row.0))
                && options.until.is_none_or(|until| model.date(row.index()).is_none_or(|date| date.is_up_to(until)))
                && !options.never.document(model, row)
        };
        let mut found = Vec::new();
        if self.trees.phrases {
            let occurrences = page.occurrences(self.lexicon, any_kind);
            let features = PageFeatures::new(&page, &occurrences, self);
            for (number, occurrence) in occurrences.iter().enumerate() {
                let words = &draft.words[occurrence.start..occurrence.end];
                let span = words.first().zip(words.last()).map(|(first, last)| first.span().start..last.span().end);
                if span.is_some_and(|span| !options.looks_at(span)) || options.never.phrase(words) {
                    continue;
                }
                let Some((target, of_target)) = best_target(&features, occurrence, &self.trees, &allowed) else {
                    continue;
                };
                let score = self.trees.place.score(&features.place(number, &target));
                found.push(PlaceCandidate {
                    start: occurrence.start,
                    end: occurrence.end,
                    target: target.row,
                    place: self.trees.scales[0].probability(score),
                    of_target,
                    documents: (occurrence.counts.documents as u32, occurrence.counts.linking as u32),
                    rate: occurrence.rate(0.0),
                    share: occurrence.share(&target),
                });
            }
        } else {
            for (word, here) in draft.words.iter().enumerate() {
                if (!any_kind && here.kind != TextKind::Prose) || !options.looks_at(here.span()) {
                    continue;
                }
                let place = self.trees.scales[0].probability(self.trees.place.score(&gap(&page, word, self)));
                found.push(PlaceCandidate {
                    start: word + 1,
                    end: word + 1,
                    target: DocRow(u32::MAX),
                    place,
                    of_target: 0.0,
                    documents: (0, 0),
                    rate: 0.0,
                    share: 0.0,
                });
            }
        }
        self.ask(&page, options, &allowed, &mut found)?;
        Ok(found)
    }

    /// The phrases of a draft with their most frequent targets, a probability by their rates, and the features of a rival.
    pub(crate) fn rival_candidates(
        &self,
        text: &str,
        draft: &Draft,
        options: &SuggestOptions,
    ) -> Vec<(PlaceCandidate, Vec<f32>)> {
        let page = Page::new((draft, text), &options.title, options.source, None, self);
        let occurrences = page.occurrences(self.lexicon, true);
        let features = PageFeatures::new(&page, &occurrences, self);
        let one = |(number, occurrence): (usize, &Occurrence)| {
            let target = occurrence.targets.first()?;
            let candidate = PlaceCandidate {
                start: occurrence.start,
                end: occurrence.end,
                target: target.row,
                place: occurrence.document_rate(0.1).min(1.0),
                of_target: 1.0,
                documents: (occurrence.counts.documents as u32, occurrence.counts.linking as u32),
                rate: occurrence.rate(0.0),
                share: occurrence.share(target),
            };
            let row = features.place(number, target);
            Some((candidate, RIVAL_COLUMNS.map(|column| row[column]).to_vec()))
        };
        occurrences.iter().enumerate().filter_map(one).collect()
    }

    /// Asks the ranker for the targets of the likeliest places of which nothing else is known. What a page links to tells
    /// much of what else it does, so it is asked again when some links have become likely. Where it finds several targets,
    /// the place stands behind all others once more for each.
    fn ask(
        &self,
        page: &Page<'_>,
        options: &SuggestOptions,
        allowed: &dyn Fn(DocRow) -> bool,
        found: &mut Vec<PlaceCandidate>,
    ) -> Result<()> {
        let least = if self.trees.phrases { ASKED_FROM } else { 0.1 };
        let unsure = |candidate: &PlaceCandidate| candidate.place >= least && candidate.of_target < UNSURE;
        let mut asked: Vec<usize> = (0..found.len()).filter(|&number| unsure(&found[number])).collect();
        asked.sort_by(|&a, &b| found[b].place.total_cmp(&found[a].place).then(a.cmp(&b)));
        let (least, most) = (*MOST_ASKED.start(), *MOST_ASKED.end());
        asked.truncate((LOOKED_AT / self.model().documents().max(1)).clamp(least, most));
        if asked.is_empty() || self.ranker.is_none() {
            return Ok(());
        }
        let mut source = self.source(page.draft, options)?;
        let mask = self.mask(allowed);
        let first: Vec<PlaceCandidate> = asked.iter().map(|&number| found[number]).collect();
        let mut others = Vec::new();
        for round in 0..ROUNDS {
            let likely = choose(found, LIKELY, usize::MAX).into_iter().map(|one| one.target);
            let links: Vec<DocRow> = options.linked.iter().copied().chain(likely).collect();
            if round > 0 && links == source.links {
                break;
            }
            source.links = links;
            others.clear();
            for (&number, before) in asked.iter().zip(&first) {
                let hits = self.rank(page.draft, before.end, &source, &mask, ASKED_HITS)?;
                let better = hits.into_iter().filter(|hit| hit.1 > before.of_target);
                let mut better = better.map(|(target, of_target)| PlaceCandidate { target, of_target, ..*before });
                found[number] = better.next().unwrap_or(*before);
                others.extend(better);
            }
        }
        found.extend(others);
        Ok(())
    }

    fn source(&self, draft: &Draft, options: &SuggestOptions) -> Result<LinkSource> {
        let rows = draft.words.iter().filter_map(|word| self.word(&word.text));
        let source = LinkSource::of_words(self.model(), rows, options.linked.clone())?;
        Ok(LinkSource { document: options.source, date: options.until, ..source })
    }

    /// Whether each document is allowed.
    fn mask(&self, allowed: &dyn Fn(DocRow) -> bool) -> Vec<bool> {
        (0..self.model().documents() as u32).map(|row| allowed(DocRow(row))).collect()
    }

    /// The best documents of `mask` for a link before word `mark`.
    fn rank(
        &self,
        draft: &Draft,
        mark: usize,
        source: &LinkSource,
        mask: &[bool],
        wanted: usize,
    ) -> Result<Vec<(DocRow, f32)>> {
        let Some(ranker) = &self.ranker else { return Ok(Vec::new()) };
        let (model, terms) = (self.model(), self.model().terms());
        let start = mark.saturating_sub(WORDS_AROUND);
        let end = draft.words.len().min(mark + WORDS_AROUND);
        let row = |word: &crate::draft::DraftWord| terms.find(&word.text).map(|row| WordRow(row as u32));
        let rows: Vec<Option<WordRow>> = draft.words[start..end].iter().map(row).collect();
        let query = Query::of_rows(&rows, Some(mark - start), model.words(), model.params().window);
        let allowed = |row: usize| mask[row];
        let hits = ranker.rank(&self.searcher, &query, Some(source), wanted, Scope::of(&allowed))?;
        Ok(hits.unwrap_or_default().into_iter().map(|hit| (DocRow(hit.row), hit.score)).collect())
    }

    /// Suggests links: each document once, no two over the same words, the likeliest first mentions; in the order of the
    /// text.
    pub fn suggest(&self, text: &str, draft: &Draft, options: &SuggestOptions) -> Result<Vec<Suggestion>> {
        let candidates = self.candidates(text, draft, options, false)?;
        let chosen = choose(&candidates, options.min_probability, options.max);
        let words = &draft.words;
        let span = |candidate: &PlaceCandidate| match candidate.start < candidate.end {
            true => words[candidate.start].start as usize..words[candidate.end - 1].end as usize,
            false => {
                candidate.end.checked_sub(1).map_or(0..0, |word| words[word].end as usize..words[word].end as usize)
            }
        };
        let suggestion = |candidate: PlaceCandidate| Suggestion {
            span: span(&candidate),
            candidate,
            probability: candidate.probability(),
        };
        Ok(chosen.into_iter().map(suggestion).collect())
    }

    /// Answers the places of a draft that ask for a link, the first thousand of them.
    pub fn answer_wanted(&self, draft: &Draft, options: &SuggestOptions, top: usize) -> Result<Vec<WantedAnswer>> {
        if draft.wanted.is_empty() {
            return Ok(Vec::new());
        }
        let model = self.model();
        let source = self.source(draft, options)?;
        let allowed = |row: DocRow| {
            Some(row) != options.source
                && options.until.is_none_or(|until| model.date(row.index()).is_none_or(|date| date.is_up_to(until)))
                && !options.never.document(model, row)
        };
        let mask = self.mask(&allowed);
        let answer = |(wanted, place): (usize, &crate::draft::WantedLink)| {
            Ok(WantedAnswer { wanted, hits: self.rank(draft, place.word, &source, &mask, top)? })
        };
        let wanted = draft.wanted.iter().enumerate().filter(|(_, place)| options.looks_at(place.span.clone()));
        wanted.take(MOST_WANTED).map(answer).collect()
    }
}

/// The likeliest candidates: each document once, no two over the same words; in the order of the text.
pub(crate) fn choose(candidates: &[PlaceCandidate], least: f32, max: usize) -> Vec<PlaceCandidate> {
    let mut order: Vec<&PlaceCandidate> = candidates
        .iter()
        .filter(|candidate| candidate.target.0 != u32::MAX && candidate.probability() >= least)
        .collect();
    order.sort_by(|a, b| {
        b.probability().total_cmp(&a.probability()).then(a.start.cmp(&b.start)).then(b.end.cmp(&a.end))
    });
    let (mut words, mut targets, mut chosen) = (HashSet::new(), HashMap::new(), Vec::new());
    for candidate in order {
        let taken = (candidate.start..candidate.end.max(candidate.start + 1)).any(|word| words.contains(&word));
        if chosen.len() >= max || taken || targets.insert(candidate.target, ()).is_some() {
            continue;
        }
        words.extend(candidate.start..candidate.end.max(candidate.start + 1));
        chosen.push(*candidate);
    }
    chosen.sort_by_key(|candidate| (candidate.start, candidate.end));
    chosen
}

impl Surroundings for Suggester<'_> {
    fn word(&self, word: &str) -> Option<WordRow> {
        let row = self.model().terms().find(word)?;
        (row < self.model().words()).then_some(WordRow(row as u32))
    }

    fn rarity(&self, word: WordRow) -> f32 {
        rarity(self.model().word_documents()[word.index()], self.model().trained_documents())
    }

    fn keywords(&self, document: DocRow) -> Vec<(WordRow, u8)> {
        let known = |&(row, _): &(WordRow, u8)| row.index() < self.model().words();
        self.model().keywords().map(|keywords| keywords.each(document).filter(known).collect()).unwrap_or_default()
    }

    fn sources(&self, document: DocRow) -> &[DocRow] {
        self.searcher.linking_to(document)
    }

    fn title(&self, document: DocRow) -> &str {
        if document.index() < self.model().documents() { self.model().titles().get(document.index()) } else { "" }
    }

    fn sides(&self, word: WordRow) -> [f32; 3] {
        let [before, behind] = [0, 1].map(|which| self.sides[2 * word.index() + which] as f32);
        [self.model().word_counts()[word.index()] as f32, before, behind]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::DraftFormat;
    use crate::places::{DocumentNames, LinkWriter, apply};
    use crate::{Document, Import, Training};

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
        let names = DocumentNames::new(&model);
        let text =
            "# Parse trees\n\nA parse tree of each sentence is built, and the parse tree is kept.\n\n> a beam search\n";
        let draft = Draft::read(text, DraftFormat::Markdown, suggester.tokenizer(), "x").expect("a draft");
        let options = SuggestOptions { min_probability: 0.3, ..SuggestOptions::default() };
        let found = suggester.suggest(text, &draft, &options).expect("suggestions");
        let shown: Vec<(&str, &str)> = found
            .iter()
            .map(|one| (&text[one.span.clone()], model.names().get(one.candidate.target.index())))
            .collect();
        assert_eq!(shown, [("parse tree", "notes/tree")], "not in headings and quotations, and once");
        assert_eq!(found[0].span.start, text.find("parse tree").expect("the first mention"));
        let writer = LinkWriter::new(&model, &names, text, &draft, None);
        let written = apply(text, &writer.suggestion(text, &found[0]));
        assert_eq!(written, text.replacen("parse tree", "[parse tree](notes/tree.md)", 1));
        // What is linked is known, and not suggested again.
        let draft = Draft::read(&written, DraftFormat::Markdown, suggester.tokenizer(), "x").expect("a draft");
        let linked = draft.links.iter().flat_map(|link| &link.targets).filter_map(|target| names.resolve(target, None));
        let options = SuggestOptions { linked: linked.collect(), ..options };
        assert_eq!(suggester.suggest(&written, &draft, &options).expect("suggestions"), []);
        let draft = Draft::read(text, DraftFormat::Markdown, suggester.tokenizer(), "x").expect("a draft");
        let unlinked = SuggestOptions { linked: Vec::new(), ..options };
        let behind = text.find(", and").expect("the second half");
        let half = SuggestOptions { within: Some(behind..text.len()), ..unlinked.clone() };
        let found = suggester.suggest(text, &draft, &half).expect("suggestions");
        assert!(found.iter().all(|one| one.span.start > behind), "only within the bytes asked for: {found:?}");
        let never = SuggestOptions { never: NeverLink::read("# none\nParse trees\n"), ..unlinked };
        assert_eq!(suggester.suggest(text, &draft, &never).expect("suggestions"), []);
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
