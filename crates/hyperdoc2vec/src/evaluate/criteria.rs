//! The paper's Table 1, measured: four things that vectors of linked documents should reflect, probed on a generated corpus
//! whose truth is planted.
//!
//! | criterion | probe | counts |
//! |---|---|---|
//! | content aware | some documents are written in the words of others, of another topic | how many have a vector that is nearer to that topic, in relation to their own, than it was before |
//! | context aware | the words around the links to some documents are those around links to others, of another topic | how many have come nearer to that topic, counted as above |
//! | newcomer friendly | documents that no link points at | how many are nearest to their topic, of all topics |
//! | context-intent aware | two documents of a topic, linked for different ends; the words of one end, and a source | how often the right one scores higher, asked both ways round |
//!
//! Where a method has IN and OUT vectors, the better of them counts. A verdict is yes where
//! the whole interval lies above [`THRESHOLD`].

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde_json::{Value, json};

use super::methods::{Ask, METHODS};
use super::rankers::{GensimInference, MeanOfWords, add_source, table_rows};
use super::report::round;
use super::stats::estimate;
use crate::corpus::cited_by::CitedBy;
use crate::corpus::split::Split;
use crate::corpus::view::View;
use crate::corpus::window::{NearWord, side};
use crate::corpus::{Corpus, CorpusOptions};
use crate::error::{Error, Result};
use crate::generate::generate_variant;
use crate::generate::{GenerateParams, Generator, Kind, Variant};
use crate::id::DocRow;
use crate::import::ImportOptions;
use crate::kernel::{axpy, dot, scale, sum_of_squares};
use crate::model::Vectors;
use crate::model::params::{Method, TrainParams};
use crate::model::tables::{Table, Tables};
use crate::rng::Rng;
use crate::threads::pool;
use crate::train::rivals::npm::{self, Frequencies};
use crate::train::train_tables;

/// A share counts as yes where its whole interval lies above this.
pub(crate) const THRESHOLD: f64 = 0.55;
/// The key of random numbers.
const PURPOSE: u64 = 0xc417;
/// Words of the topic in a question about intent.
const TOPIC_WORDS: usize = 6;
/// Links that a document needs to be probed.
const LINKED: u32 = 3;

/// The criteria, in the order of the paper.
pub const CRITERIA: [&str; 4] = ["content aware", "context aware", "newcomer friendly", "context-intent aware"];

/// The methods that are probed, and the verdicts of the paper's Table 1 on them.
///
/// Of h-d2v as a whole the paper says yes four times; it is held against the way the paper trains it, from PV-DM.
pub const PROBED: [(Method, Option<[bool; 4]>); 9] = [
    (Method::W2v, Some([false, true, false, false])),
    (Method::D2vNc, Some([true, false, true, false])),
    (Method::D2vCac, Some([true, true, true, false])),
    (Method::DeepWalk, None),
    (Method::Npm, None),
    (Method::HyperDocRandom, None),
    (Method::HyperDocPaper, Some([true, true, true, true])),
    (Method::HyperDoc, None),
    (Method::Joint, None),
];

/// How methods are probed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CriteriaParams {
    /// Documents of the generated corpus.
    pub docs: usize,
    /// Everything random follows from it.
    pub seed: u64,
    /// Threads, 0 for one a core.
    pub threads: usize,
}

impl Default for CriteriaParams {
    fn default() -> CriteriaParams {
        CriteriaParams { docs: 600, seed: 1, threads: 0 }
    }
}

/// How a method is trained on so small a corpus: with higher learning rates and more passes than on a real one.
fn train_params(corpus: &Corpus, method: Method, seed: u64) -> TrainParams {
    let mut params = TrainParams { seed, hybrid: false, min_count: 2, ..TrainParams::for_corpus(corpus) };
    params.set_method(method);
    params.dim = 32;
    params.set_window(6);
    params.direct.window = 5;
    params.direct.epochs = 10;
    params.direct.rate = 0.1;
    params.direct.sample = 0.0;
    params.reference.epochs = 30;
    params.reference.noise = 50;
    params.reference.rate = 0.1;
    params.reference.sample = 0.0;
    params.content.epochs = 10;
    params.content.sample = 0.0;
    params.deepwalk.epochs = 2;
    params
}

/// The vectors of documents that mean something: IN, OUT.
fn vectors(method: Method, tables: &Tables) -> impl Iterator<Item = (&'static str, &Table)> {
    let both =
        [(method.learns(Vectors::DocIn), "IN", &tables.input), (method.learns(Vectors::DocOut), "OUT", &tables.output)];
    both.into_iter().filter(|&(means, ..)| means).map(|(_, name, table)| (name, table))
}

/// Probes every method in `methods`; corpora are made in `folder`. `watch` gets the name of the method, and how many probes
/// of how many are done; it may stop.
pub fn run(
    methods: &[Method],
    params: &CriteriaParams,
    folder: &Path,
    watch: &(dyn Fn(&str, usize, usize) -> ControlFlow<()> + Sync),
) -> Result<Value> {
    pool(params.threads)?.install(|| probe(methods, params, folder, watch))
}

fn generated(params: &CriteriaParams) -> GenerateParams {
    GenerateParams {
        docs: params.docs,
        links: 5 * params.docs,
        words: 250,
        topics: Some(6),
        seed: params.seed,
        ..GenerateParams::default()
    }
}

fn corpus(generated: &GenerateParams, variant: &Variant, path: &Path) -> Result<Corpus> {
    let options = CorpusOptions { min_count: 1, ..CorpusOptions::default() };
    let options = ImportOptions { corpus: options, ..ImportOptions::default() };
    generate_variant(generated, variant, path, &options, &mut |_| ControlFlow::Continue(()))
}

fn probe(
    methods: &[Method],
    params: &CriteriaParams,
    folder: &Path,
    watch: &(dyn Fn(&str, usize, usize) -> ControlFlow<()> + Sync),
) -> Result<Value> {
    let generated = generated(params);
    let plan = Plan::new(&generated)?;
    let variants = [Variant::default(), plan.content(), plan.context()];
    let made = tempfile::tempdir_in(folder).map_err(Error::io("create", folder))?;
    let corpora: Vec<Corpus> = variants
        .iter()
        .enumerate()
        .map(|(number, variant)| corpus(&generated, variant, &made.path().join(number.to_string())))
        .collect::<Result<_>>()?;
    let views: Vec<View<'_>> =
        corpora.iter().map(|corpus| View::new(corpus, &Split::none(corpus), 2)).collect::<Result<_>>()?;
    let total = methods.len() * views.len();
    let done = AtomicUsize::new(0);
    let row = |&method: &Method| -> Result<Value> {
        let train = train_params(&corpora[0], method, params.seed);
        let mut trained = Vec::new();
        for view in &views {
            trained
                .push(train_tables(view, &train, &mut |_| watch(method.name(), done.load(Ordering::Relaxed), total))?);
            done.fetch_add(1, Ordering::Relaxed);
        }
        let found = [
            plan.followed(method, &trained[0], &trained[1], &variants[1].content),
            plan.followed(method, &trained[0], &trained[2], &variants[2].context),
            plan.newcomers(method, &trained[0]),
            plan.intents(&views[0], &train, &trained[0]),
        ];
        let paper = PROBED.iter().find(|(other, _)| *other == method).and_then(|(_, paper)| *paper);
        let criteria = CRITERIA.iter().zip(found).enumerate().map(|(number, (name, mut found))| {
            found["criterion"] = json!(name);
            found["paper"] = json!(paper.map(|paper| paper[number]));
            found
        });
        Ok(json!({"method": method.name(), "criteria": criteria.collect::<Vec<Value>>()}))
    };
    let rows: Vec<Value> = methods.par_iter().map(row).collect::<Result<_>>()?;
    Ok(json!({
        "corpus": {"documents": generated.docs, "links": generated.links, "topics": 6, "words": generated.words},
        "seed": params.seed,
        "threshold": THRESHOLD,
        "methods": rows,
    }))
}

/// A share of probes, with its interval and what follows from it.
fn verdict(values: &[f64], by: &str, seed: u64) -> Value {
    let items: Vec<u32> = (0..values.len() as u32).collect();
    let found = estimate(values, &items, seed);
    json!({
        "value": round(found.mean),
        "interval": [round(found.low), round(found.high)],
        "probes": values.len(),
        "by": by,
        "verdict": !values.is_empty() && found.low > THRESHOLD,
    })
}

/// The truth, and which documents are probed.
struct Plan {
    generator: Generator,
    seed: u64,
    /// Documents that enough links point at, in random order.
    linked: Vec<usize>,
}

impl Plan {
    fn new(params: &GenerateParams) -> Result<Plan> {
        let generator = Generator::new(params)?;
        let mut links = vec![0u32; params.docs];
        for doc in 0..params.docs {
            generator.links(doc).iter().flat_map(|link| &link.targets).for_each(|&target| links[target] += 1);
        }
        let mut linked: Vec<usize> = (0..params.docs).filter(|&doc| links[doc] >= LINKED).collect();
        Rng::keyed(params.seed, &[PURPOSE]).shuffle(&mut linked);
        Ok(Plan { generator, seed: params.seed, linked })
    }

    /// A tenth of the documents, each with one of another topic.
    fn changed(&self, from: usize) -> BTreeMap<usize, usize> {
        let wanted = self.generator.params().docs / 10;
        let docs = self.linked.iter().copied().cycle().skip(from * wanted).take(wanted.min(self.linked.len()));
        let other = |doc: usize| {
            let others = self.linked.iter().copied().cycle().skip(doc % self.linked.len().max(1));
            others.take(self.linked.len()).find(|&other| self.generator.topic(other) != self.generator.topic(doc))
        };
        docs.filter_map(|doc| Some((doc, other(doc)?))).collect()
    }

    fn content(&self) -> Variant {
        Variant { content: self.changed(0), ..Variant::default() }
    }

    fn context(&self) -> Variant {
        Variant { context: self.changed(1), ..Variant::default() }
    }

    /// The mean direction of each topic, of linked documents that are not `left_out`.
    fn centres(&self, table: &Table, left_out: &BTreeMap<usize, usize>) -> Vec<Vec<f32>> {
        let mut centres = vec![vec![0.0; table.stride()]; self.generator.topics()];
        for &doc in self.linked.iter().filter(|doc| !left_out.contains_key(doc)) {
            axpy(1.0, &unit(document(table, doc)), &mut centres[self.generator.topic(doc)]);
        }
        centres.iter().map(|centre| unit(centre)).collect()
    }

    /// How many of the changed documents have come nearer to the topic they were changed to, in relation to their own.
    fn followed(&self, method: Method, before: &Tables, after: &Tables, changed: &BTreeMap<usize, usize>) -> Value {
        let lead = |table: &Table| -> Vec<f32> {
            let centres = self.centres(table, changed);
            let lead = |(&doc, &to): (&usize, &usize)| {
                let row = unit(document(table, doc));
                dot(&row, &centres[self.generator.topic(to)]) - dot(&row, &centres[self.generator.topic(doc)])
            };
            changed.iter().map(lead).collect()
        };
        let tables = vectors(method, before).zip(vectors(method, after));
        let values = tables.map(|((name, old), (_, new))| {
            let moved = lead(new).into_iter().zip(lead(old)).map(|(new, old)| f64::from(u8::from(new > old)));
            (name, moved.collect())
        });
        self.best(values.collect())
    }

    /// How many newcomers are nearest to their topic.
    fn newcomers(&self, method: Method, tables: &Tables) -> Value {
        let right = |table: &Table| -> Vec<f64> {
            let centres = self.centres(table, &BTreeMap::new());
            let right = |doc: usize| {
                let row = document(table, doc);
                let scores: Vec<f32> = centres.iter().map(|centre| dot(row, centre)).collect();
                let own = self.generator.topic(doc);
                f64::from(u8::from((0..scores.len()).all(|topic| topic == own || scores[topic] < scores[own])))
            };
            let newcomers = (0..self.generator.params().docs).filter(|&doc| self.generator.is_newcomer(doc));
            newcomers.map(right).collect()
        };
        self.best(vectors(method, tables).map(|(name, table)| (name, right(table))).collect())
    }

    /// The better of IN and OUT vectors.
    fn best(&self, mut all: Vec<(&str, Vec<f64>)>) -> Value {
        let sum = |values: &Vec<f64>| values.iter().sum::<f64>();
        all.sort_by(|a, b| sum(&b.1).total_cmp(&sum(&a.1)));
        all.first().map(|(name, values)| verdict(values, name, self.seed)).unwrap_or_default()
    }

    /// Two documents of each topic at a time, linked for different ends: how often the right one wins.
    fn intents(&self, view: &View<'_>, params: &TrainParams, tables: &Tables) -> Value {
        let Some(mut asker) = Asker::new(view, params, tables) else {
            // It knows no words: nothing can be asked.
            return json!({"value": null, "interval": null, "probes": 0, "by": "", "verdict": false});
        };
        let mut rng = Rng::keyed(self.seed, &[PURPOSE, 1]);
        let mut values = Vec::new();
        for (place, &a) in self.linked.iter().enumerate() {
            let (topic, kind) = (self.generator.topic(a), self.generator.kind(a));
            let fits = |&&b: &&usize| self.generator.topic(b) == topic && self.generator.kind(b) != kind;
            let Some(&b) = self.linked[place + 1..].iter().find(fits) else { continue };
            let sources = self.linked.iter().filter(|&&doc| self.generator.topic(doc) == topic && doc != a && doc != b);
            let sources: Vec<usize> = sources.copied().collect();
            if sources.is_empty() {
                continue;
            }
            let source = sources[rng.below(sources.len())];
            let mut right = |wanted: usize, other: usize| {
                let words = self.words(view, self.generator.kind(wanted), topic, &mut rng);
                asker.read(&words, source, Rng::keyed(self.seed, &[PURPOSE, 2, wanted as u64, other as u64]));
                f64::from(u8::from(asker.score(&words, wanted) > asker.score(&words, other)))
            };
            values.push((right(a, b) + right(b, a)) / 2.0);
        }
        verdict(&values, "context", self.seed)
    }

    /// The words of a question: a phrase for this end stands around the link, and some words of the topic follow.
    fn words(&self, view: &View<'_>, kind: Kind, topic: usize, rng: &mut Rng) -> Vec<NearWord> {
        let phrases = kind.phrases();
        let phrase = phrases[rng.below(phrases.len())];
        let (before, after) = phrase.split_once('*').unwrap_or((phrase, ""));
        let topic = self.generator.topic_words(topic);
        let topic = topic.iter().map(String::as_str).skip(rng.below(TOPIC_WORDS)).take(TOPIC_WORDS);
        let row = |word: &str| view.corpus.find_word(word).and_then(|word| view.word_row(word));
        let (vectors, window) = (view.words.len(), usize::MAX);
        let before = side(before.split_whitespace().rev().map(row), vectors, window);
        before.chain(side(after.split_whitespace().chain(topic).map(row), vectors, window)).collect()
    }
}

/// The row of a document, all of which are trained on, in their order.
fn document(table: &Table, doc: usize) -> &[f32] {
    table.document(DocRow(doc as u32))
}

fn unit(row: &[f32]) -> Vec<f32> {
    let mut row = row.to_vec();
    let length = sum_of_squares(&row).sqrt();
    scale(if length > 0.0 { 1.0 / length } else { 0.0 }, &mut row);
    row
}

/// Asks vectors for documents as `evaluate links` does, but that the source is a document they were trained on: where a
/// method learns from sources, the source's own vector joins the words.
struct Asker<'a> {
    params: &'a TrainParams,
    tables: &'a Tables,
    ask: Ask,
    mean: MeanOfWords<'a>,
    inference: GensimInference<'a>,
    frequencies: Frequencies,
    /// The vector of a question.
    x: Vec<f32>,
}

impl<'a> Asker<'a> {
    /// `None` for a method that cannot be asked by words.
    fn new(view: &'a View<'a>, params: &'a TrainParams, tables: &'a Tables) -> Option<Asker<'a>> {
        let ask = METHODS.iter().find(|row| row.name == params.method.name())?.ask;
        if !matches!(ask, Ask::Mean(..) | Ask::Infer(_) | Ask::Npm(_)) {
            return None;
        }
        let steps = if let Ask::Infer(steps) = ask { steps } else { 0 };
        Some(Asker {
            params,
            tables,
            ask,
            mean: MeanOfWords::new(view, tables, params),
            inference: GensimInference::new(view, tables, params, steps),
            frequencies: Frequencies::new(view, &CitedBy::new(view, params.npm.window)),
            x: vec![0.0; tables.input.stride()],
        })
    }

    /// Takes in the words of a question, and the document it stands in.
    fn read(&mut self, words: &[NearWord], source: usize, mut rng: Rng) {
        let Asker { params, tables, mean, x, .. } = self;
        x.fill(0.0);
        match self.ask {
            Ask::Infer(_) => self.inference.infer(&table_rows(words), &mut rng, x),
            // It has no vector for a question: each word scores by itself.
            Ask::Npm(_) => {}
            _ => {
                mean.of_window(words, x);
                if !params.method.reads_links_as_words() {
                    add_source(document(&tables.input, source), words.len(), x);
                }
            }
        }
    }

    /// The score of a document for the question that was read.
    fn score(&self, words: &[NearWord], doc: usize) -> f32 {
        let Tables { input, output } = self.tables;
        match self.ask {
            Ask::Infer(_) => {
                let length = sum_of_squares(document(input, doc)).sqrt();
                if length > 0.0 { dot(&self.x, document(input, doc)) / length } else { 0.0 }
            }
            Ask::Npm(prior) => {
                let Frequencies { words: said, documents } = &self.frequencies;
                let product = |word: &NearWord| dot(input.word(word.row), document(output, doc));
                npm::score(prior, documents[doc], words.iter().map(|word| (product(word), said[word.row.index()])))
            }
            _ => dot(&self.x, document(output, doc)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow::Continue;

    use super::super::rankers::LinkQuestions;
    use super::*;

    /// The findings on a method, criterion by criterion.
    fn found(method: Method, docs: usize) -> Vec<Value> {
        let folder = tempfile::tempdir().expect("a folder");
        let params = CriteriaParams { docs, ..CriteriaParams::default() };
        let report = run(&[method], &params, folder.path(), &|_, _, _| Continue(())).expect("a report");
        report["methods"][0]["criteria"].as_array().expect("criteria").clone()
    }

    /// Content, contexts, newcomers, intents.
    fn verdicts(method: Method, docs: usize) -> Vec<bool> {
        found(method, docs).iter().map(|found| found["verdict"].as_bool().expect("a verdict")).collect()
    }

    #[test]
    fn d2v_cac_heeds_what_is_said_of_documents_as_well() {
        assert_eq!(verdicts(Method::D2vCac, 100), [true; 4]);
    }

    #[test]
    fn h_d2v_heeds_all_four() {
        assert_eq!(verdicts(Method::HyperDoc, 200), [true; 4]);
    }

    #[test]
    fn npm_heeds_contexts_and_the_intents_in_them() {
        assert_eq!(verdicts(Method::Npm, 200), [false, true, false, true]);
    }

    #[test]
    fn pv_dbow_is_asked_by_in_vectors_and_guesses_at_intents() {
        let found = found(Method::PvDbow, 100);
        assert!(found[..3].iter().all(|found| found["by"] == "IN"), "{found:?}");
        let value = found[3]["value"].as_f64().expect("a value");
        assert!((0.35..0.65).contains(&value) && found[3]["verdict"] == false, "{found:?}");
    }

    #[test]
    fn words_are_asked_as_for_links_and_sources_count_as_one_word_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let generated = generated(&CriteriaParams { docs: 100, ..CriteriaParams::default() });
        let corpus = corpus(&generated, &Variant::default(), &folder.path().join("c")).expect("a corpus");
        let view = View::new(&corpus, &Split::none(&corpus), 2).expect("a view");
        let (words, rows, position, source) = (view.words.len(), view.table_rows(), 7, 3);
        for method in
            [Method::W2v, Method::Npm, Method::HyperDocRandom, Method::HyperDocPaper, Method::HyperDoc, Method::Joint]
        {
            let params = train_params(&corpus, method, 1);
            let mut tables = Tables::zeros(&view, params.dim);
            tables.input.fill(0..words, params.dim, 1, 1);
            tables.output.fill(0..rows, params.dim, 1, 2);
            let questions = LinkQuestions { view: &view, positions: &[position], anchors: true, depth: 100 };
            let context = questions.context(position, params.window);
            // Sources are 0 for now.
            let mut asker = Asker::new(&view, &params, &tables).expect("it knows words");
            asker.read(&context, source, Rng::keyed(1, &[]));
            let before: Vec<f32> = (0..100).map(|doc| asker.score(&context, doc)).collect();
            let ask = asker.ask;
            let mut hits = Vec::new();
            let mut sink = |_, found: Vec<_>| {
                hits.extend(found.into_iter().flatten());
                Ok(Continue(()))
            };
            questions.tables(&tables, &params, ask, &mut sink).expect("hits");
            let near = |a: f32, b: f32| (a - b).abs() <= 1e-6 + 1e-4 * b.abs();
            assert!(hits.len() > 50, "{method}: {} hits", hits.len());
            assert!(hits.iter().all(|hit| near(before[hit.row as usize], hit.score)), "{method}: {hits:?}, {before:?}");

            tables.input.fill(words..rows, params.dim, 1, 3);
            let mut asker = Asker::new(&view, &params, &tables).expect("it knows words");
            asker.read(&context, source, Rng::keyed(1, &[]));
            let sourced = method != Method::Npm && !method.reads_links_as_words();
            for (doc, before) in before.into_iter().enumerate() {
                let more = dot(document(&tables.input, source), document(&tables.output, doc));
                let more = if sourced { more / context.len() as f32 } else { 0.0 };
                assert!(near(asker.score(&context, doc), before + more), "{method}: document {doc}");
            }
        }
    }
}
