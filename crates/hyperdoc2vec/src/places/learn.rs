//! Learns the place model from a view: a lexicon, the words at the sides of links, and trees from some of its pages.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use rayon::prelude::*;
use serde_json::json;

use super::PlaceTrees;
use super::ask::best_target;
use super::features::{GAP_FEATURES, PLACE_FEATURES, PageFeatures, TARGET_FEATURES, gap};
use super::lexicon::{Lexicon, LexiconBuf};
use super::page::{Occurrence, Page, PageLink, Surroundings};
use crate::corpus::groups::Groups;
use crate::corpus::view::View;
use crate::document::Tokenizer;
use crate::draft::Draft;
use crate::error::{Error, Result};
use crate::id::{DocRow, WordRow};
use crate::model::index::links::keywords;
use crate::model::weighting::rarity;
use crate::rng::Rng;
use crate::search::ranker::forest::{BoostParams, Forest, Samples};
use crate::search::ranker::{CalibrationBin, Scale, bins_json};
use crate::storage::container::Tensor;

/// Pages that are learnt from, at the most,
const MAX_PAGES: usize = 3000;
/// and places on them.
const MAX_PLACES: usize = 150_000;
/// With fewer links in the view nothing is learnt.
pub(super) const MIN_LINKS: usize = 50;
/// One in so many pages is kept to find when to stop, and how well probabilities hold.
const CHECKED_ONE_IN: usize = 4;
/// Pages that are read before the next are.
const TOGETHER: usize = 64;
/// One in so many ends of words without a link is learnt from.
const THINNED_ONE_IN: usize = 8;
/// Keys of random numbers.
const PURPOSE: u64 = 0x91ace;

/// All that a model keeps of it.
pub(crate) struct LearntPlaces {
    pub trees: PlaceTrees,
    lexicon: LexiconBuf,
    sides: Vec<u32>,
}

impl LearntPlaces {
    /// The arrays.
    pub(crate) fn tensors(&self) -> Vec<Tensor<'_>> {
        let mut tensors = self.trees.tensors();
        tensors.extend(self.lexicon.tensors());
        tensors.push(Tensor::u32s(super::SIDES, &self.sides));
        tensors
    }
}

/// Facts about documents, kept while they are learnt from.
struct ViewSurroundings<'a> {
    view: &'a View<'a>,
    keywords: Vec<OnceLock<Vec<(WordRow, u8)>>>,
    sources: Groups,
    sides: &'a [u32],
}

impl<'a> ViewSurroundings<'a> {
    fn new(view: &'a View<'a>, sides: &'a [u32]) -> ViewSurroundings<'a> {
        let pairs = view.links.iter().filter_map(|link| Some((link.target.index(), view.source_of(link)?.0)));
        let sources = Groups::new(view.documents.len(), pairs);
        ViewSurroundings { view, keywords: view.documents.iter().map(|_| OnceLock::new()).collect(), sources, sides }
    }
}

impl Surroundings for ViewSurroundings<'_> {
    fn word(&self, word: &str) -> Option<WordRow> {
        self.view.corpus.find_word(word).and_then(|word| self.view.word_row(word))
    }

    fn rarity(&self, word: WordRow) -> f32 {
        rarity(self.view.document_counts[word.index()], self.view.documents.len())
    }

    fn keywords(&self, document: DocRow) -> Vec<(WordRow, u8)> {
        let make = || keywords(self.view.words_of(document).collect(), |word| self.rarity(word));
        self.keywords[document.index()].get_or_init(make).clone()
    }

    fn sources(&self, document: DocRow) -> &[DocRow] {
        DocRow::all(self.sources.of(document.index()))
    }

    fn title(&self, document: DocRow) -> &str {
        self.view.corpus.title(self.view.documents[document.index()]).unwrap_or_default()
    }

    fn sides(&self, word: WordRow) -> [f32; 3] {
        let [before, behind] = [0, 1].map(|which| self.sides[2 * word.index() + which] as f32);
        [self.view.counts[word.index()] as f32, before, behind]
    }
}

/// How often each word with a vector stands right before and right behind a link.
fn sides(view: &View<'_>) -> Vec<u32> {
    let mut sides = vec![0; 2 * view.words.len()];
    for &doc in &*view.documents {
        let words = view.corpus.words(doc);
        for position in view.corpus.positions(doc) {
            let before = (position.at - position.anchor.min(position.at)).checked_sub(1).map(|at| words[at]);
            let behind = words.get(position.at).copied();
            for (word, which) in [(before, 0), (behind, 1)] {
                if let Some(row) = word.and_then(|word| view.word_row(word)) {
                    sides[2 * row.index() + which] += 1;
                }
            }
        }
    }
    sides
}

/// Whether a place and a link share at least half of all their words.
pub(crate) fn same_place(start: usize, end: usize, link: &PageLink) -> bool {
    let both = end.min(link.words.end).saturating_sub(start.max(link.words.start));
    let either = end.max(link.words.end) - start.min(link.words.start);
    both > 0 && 2 * both >= either
}

/// The links at a place.
fn links_at<'p>(page: &'p Page<'_>, place: &Occurrence) -> impl Iterator<Item = &'p PageLink> {
    let (start, end) = (place.start, place.end);
    page.links.iter().filter(move |link| same_place(start, end, link))
}

/// Told how much of the step is done, from 0 to 1; may stop it.
pub type LearnWatch<'a> = &'a mut dyn FnMut(f64) -> ControlFlow<()>;

/// A part of the step, and which share of it that is.
struct Stage<'a> {
    watch: LearnWatch<'a>,
    from: f64,
    to: f64,
}

impl Stage<'_> {
    /// Tells that so much of this part is done.
    fn watch(&mut self, done: f64) -> ControlFlow<()> {
        (self.watch)(self.from + (self.to - self.from) * done.clamp(0.0, 1.0))
    }

    fn go_on(&mut self, done: f64) -> Result<()> {
        if self.watch(done).is_break() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Samples of a page.
struct PageSamples {
    checked: bool,
    samples: Samples,
}

struct Learning<'a> {
    view: &'a View<'a>,
    around: ViewSurroundings<'a>,
    lexicon: Lexicon<'a>,
    tokenizer: Tokenizer,
    seed: u64,
    phrases: bool,
}

impl Learning<'_> {
    /// Does something with a page whose links have been taken out.
    fn page<T>(&self, row: DocRow, work: impl FnOnce(&Page<'_>) -> T) -> Result<T> {
        let corpus = self.view.corpus;
        let document = corpus.document(self.view.documents[row.index()])?;
        let draft = Draft::of_document(&document, &self.tokenizer);
        let target = |id: &String| corpus.find(id).and_then(|doc| self.view.document_row(doc));
        let links = draft.links.iter().map(|link| PageLink {
            words: link.words.clone(),
            targets: link.targets.iter().filter_map(target).collect(),
        });
        let title = document.title.as_deref().unwrap_or_default();
        let page = Page::new((&draft, &document.text), title, Some(row), Some(links.collect()), &self.around);
        Ok(work(&page))
    }

    /// Samples of the targets of linked places.
    fn targets(&self, page: &Page<'_>) -> Samples {
        let occurrences = page.occurrences(self.lexicon, true);
        let features = PageFeatures::new(page, &occurrences, &self.around);
        let mut samples = Samples::new(TARGET_FEATURES.len());
        for occurrence in &occurrences {
            let mut links = links_at(page, occurrence).peekable();
            if links.peek().is_none() {
                continue;
            }
            let rows: Vec<DocRow> = links.flat_map(|link| link.targets.iter().copied()).collect();
            for target in &occurrence.targets {
                samples.rows.extend(features.target(occurrence, target));
                samples.labels.push(rows.contains(&target.row));
                samples.weights.push(1.0);
            }
        }
        samples
    }

    /// Samples of places.
    fn places(&self, page: &Page<'_>, row: DocRow, trees: &PlaceTrees) -> Samples {
        let mut samples = Samples::new(if self.phrases { PLACE_FEATURES.len() } else { GAP_FEATURES.len() });
        if self.phrases {
            let occurrences = page.occurrences(self.lexicon, true);
            let features = PageFeatures::new(page, &occurrences, &self.around);
            for (number, occurrence) in occurrences.iter().enumerate() {
                let Some((target, _)) = best_target(&features, occurrence, trees, &|_| true) else { continue };
                samples.rows.extend(features.place(number, &target));
                samples.labels.push(links_at(page, occurrence).next().is_some());
                samples.weights.push(1.0);
            }
            return samples;
        }
        let mut rng = Rng::keyed(self.seed, &[PURPOSE, 3, u64::from(row.0)]);
        let mut linked = vec![false; page.draft.words.len() + 1];
        page.links.iter().for_each(|link| linked[link.words.end] = true);
        for word in 0..page.draft.words.len() {
            let label = linked[word + 1];
            if label || rng.below(THINNED_ONE_IN) == 0 {
                samples.rows.extend(gap(page, word, &self.around));
                samples.labels.push(label);
                samples.weights.push(if label { 1.0 } else { THINNED_ONE_IN as f32 });
            }
        }
        samples
    }

    /// Gathers samples from pages in a fixed order, those kept apart last.
    fn gather(
        &self,
        order: &[DocRow],
        make: impl Fn(&Page<'_>, DocRow) -> Samples + Sync,
        width: usize,
        stage: &mut Stage<'_>,
    ) -> Result<(Samples, Samples, usize)> {
        let (mut learnt, mut checked, mut pages) = (Samples::new(width), Samples::new(width), 0);
        for part in order.chunks(TOGETHER) {
            let read = pages as f64 / order.len() as f64;
            let found = (learnt.len() + checked.len()) as f64 / MAX_PLACES as f64;
            stage.go_on(read.max(found))?;
            let one = |&row: &DocRow| {
                let samples = self.page(row, |page| make(page, row))?;
                let checked = Rng::keyed(self.seed, &[PURPOSE, 2, u64::from(row.0)]).below(CHECKED_ONE_IN) == 0;
                Ok(PageSamples { checked, samples })
            };
            for page in part.par_iter().map(one).collect::<Result<Vec<_>>>()? {
                (if page.checked { &mut checked } else { &mut learnt }).extend(&page.samples);
                pages += 1;
            }
            if learnt.len() + checked.len() >= MAX_PLACES {
                break;
            }
        }
        Ok((learnt, checked, pages))
    }
}

/// Fits trees as well as it can be told from the samples kept apart, then to all samples.
fn fit(mut learnt: Samples, checked: &Samples, stage: &mut Stage<'_>) -> Result<(Forest, Scale, [CalibrationBin; 10])> {
    let params = BoostParams { trees: 160, learning_rate: 0.1, bag: 1.0, ..BoostParams::default() };
    let half = |half: f64, tree: usize, trees: usize| half + 0.5 * tree as f64 / trees as f64;
    let mut step = |tree: usize| stage.watch(half(0.0, tree, params.trees));
    let watched = Some(checked).filter(|checked| !checked.is_empty());
    let tried = Forest::default().fit_while(&learnt, watched, &params, &mut step).ok_or(Error::Interrupted)?;
    let mut scored = Vec::new();
    for sample in 0..checked.len() {
        let score = tried.score(checked.row(sample));
        scored.extend((0..checked.weights[sample] as usize).map(|_| (score, checked.labels[sample])));
    }
    let scale = Scale::fit(&scored);
    let mut bins = [CalibrationBin::default(); 10];
    for (score, label) in scored {
        let probability = scale.probability(score);
        bins[((probability * 10.0) as usize).min(9)].add(1.0, probability, label);
    }
    learnt.extend(checked);
    let params = BoostParams { trees: tried.trees(), ..params };
    let mut step = |tree: usize| stage.watch(half(0.5, tree, params.trees));
    let forest = Forest::default().fit_while(&learnt, None, &params, &mut step).ok_or(Error::Interrupted)?;
    Ok((forest, scale, bins))
}

/// The features of a rival, as Wikimedia's link recommendation has them: the number of words, how often the phrase is a
/// link, how many targets it has and how its links are shared among them, whether it is the name of the target, and how
/// much page and target are alike.
pub(crate) const RIVAL_COLUMNS: [usize; 6] = [5, 3, 10, 9, 11, 32];

/// Trees over the features of a rival, learnt as those of the place model are.
pub(crate) fn learn_rival(view: &View<'_>, seed: u64) -> Result<Forest> {
    let (lexicon, sides) = (LexiconBuf::build(view), sides(view));
    let tokenizer = Tokenizer::new(view.corpus.manifest().options.lowercase);
    let around = ViewSurroundings::new(view, &sides);
    let learning = Learning { view, around, lexicon: lexicon.view(), tokenizer, seed, phrases: true };
    let samples = |page: &Page<'_>, _: DocRow| {
        let occurrences = page.occurrences(learning.lexicon, true);
        let features = PageFeatures::new(page, &occurrences, &learning.around);
        let mut samples = Samples::new(RIVAL_COLUMNS.len());
        for (number, occurrence) in occurrences.iter().enumerate() {
            let Some(target) = occurrence.targets.first() else { continue };
            let row = features.place(number, target);
            samples.rows.extend(RIVAL_COLUMNS.map(|column| row[column]));
            samples.labels.push(links_at(page, occurrence).any(|link| link.targets.contains(&target.row)));
            samples.weights.push(1.0);
        }
        samples
    };
    let mut order: Vec<DocRow> = view.document_rows().collect();
    Rng::keyed(seed, &[PURPOSE, 1]).shuffle(&mut order);
    order.truncate(MAX_PAGES);
    let watch: LearnWatch<'_> = &mut |_| ControlFlow::Continue(());
    let mut stage = Stage { watch, from: 0.0, to: 1.0 };
    let (learnt, checked, _) = learning.gather(&order, samples, RIVAL_COLUMNS.len(), &mut stage)?;
    Ok(fit(learnt, &checked, &mut stage)?.0)
}

/// Learns from `view`; `None` where there are too few links. `watch` is told often how much is done, and may stop it.
pub(crate) fn learn(view: &View<'_>, seed: u64, watch: LearnWatch<'_>) -> Result<Option<LearntPlaces>> {
    if view.links.len() < MIN_LINKS {
        return Ok(None);
    }
    let phrases = view.corpus.is_hypertext();
    let lexicon = if phrases { LexiconBuf::build(view) } else { LexiconBuf::default() };
    let sides = sides(view);
    let tokenizer = Tokenizer::new(view.corpus.manifest().options.lowercase);
    let around = ViewSurroundings::new(view, &sides);
    let learning = Learning { view, around, lexicon: lexicon.view(), tokenizer, seed, phrases };
    let mut order: Vec<DocRow> = view.document_rows().collect();
    Rng::keyed(seed, &[PURPOSE, 1]).shuffle(&mut order);
    order.truncate(MAX_PAGES);
    let mut trees = PlaceTrees { phrases, ..PlaceTrees::default() };
    if phrases {
        let mut stage = Stage { watch, from: 0.0, to: 0.2 };
        let (learnt, checked, _) =
            learning.gather(&order, |page, _| learning.targets(page), TARGET_FEATURES.len(), &mut stage)?;
        let (forest, scale, _) = fit(learnt, &checked, &mut Stage { watch, from: 0.2, to: 0.3 })?;
        (trees.target, trees.scales[1]) = (forest, scale);
    }
    let width = if phrases { PLACE_FEATURES.len() } else { GAP_FEATURES.len() };
    // Rough shares of the time, guessed and not measured: they only shift the estimate of what is left.
    let (from, gathered) = if phrases { (0.3, 0.5) } else { (0.0, 0.3) };
    let mut stage = Stage { watch, from, to: gathered };
    let (learnt, checked, pages) =
        learning.gather(&order, |page, row| learning.places(page, row, &trees), width, &mut stage)?;
    let places = learnt.len() + checked.len();
    let (forest, scale, bins) = fit(learnt, &checked, &mut Stage { watch, from: gathered, to: 1.0 })?;
    (trees.place, trees.scales[0]) = (forest, scale);
    trees.about = json!({
        "pages": pages,
        "places": places,
        "phrases": lexicon.view().len(),
        "calibration": bins_json(&bins),
    });
    Ok(Some(LearntPlaces { trees, lexicon, sides }))
}
