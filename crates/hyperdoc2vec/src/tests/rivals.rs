//! The reference citation phase and the rival models on generated corpora: runs repeat, and planted structure is learnt.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use crate::corpus::split::Split;
use crate::corpus::view::View;
use crate::corpus::{Corpus, CorpusOptions};
use crate::generate::{GenerateParams, Generator, generate};
use crate::id::{DocRow, WordRow};
use crate::import::ImportOptions;
use crate::kernel::{OutOfRange, dot};
use crate::model::params::{CitationParams, ContentParams, DeepWalkParams, DirectParams, NpmParams, ReferenceParams};
use crate::model::tables::Tables;
use crate::train::Phase;
use crate::train::citation::Citation;
use crate::train::content::Content;
use crate::train::joint::Joint;
use crate::train::rivals::deepwalk::DeepWalk;
use crate::train::rivals::direct::{Direct, Form};
use crate::train::rivals::joint_reference::JointReference;
use crate::train::rivals::npm::{self, Frequencies, Npm};
use crate::train::rivals::reference::ReferenceCitation;
use crate::train::rivals::text::Text;

const DIM: usize = 24;

fn params() -> GenerateParams {
    GenerateParams { docs: 300, links: 1500, words: 120, topics: Some(6), ..GenerateParams::default() }
}

fn corpus() -> &'static Corpus {
    static CORPUS: OnceLock<(tempfile::TempDir, Corpus)> = OnceLock::new();
    &CORPUS
        .get_or_init(|| {
            let dir = tempfile::tempdir().expect("a directory");
            let corpus = CorpusOptions { min_count: 1, ..CorpusOptions::default() };
            let options = ImportOptions { corpus, ..ImportOptions::default() };
            let path = dir.path().join("corpus");
            let corpus = generate(&params(), &path, &options, &mut |_| ControlFlow::Continue(())).expect("generated");
            (dir, corpus)
        })
        .1
}

fn split() -> Split {
    Split::by_share(corpus(), 0.1, 1).expect("a split")
}

fn view(split: &Split) -> View<'static> {
    View::new(corpus(), split, 2).expect("a view")
}

fn fresh(view: &View<'_>, seed: u64) -> Tables {
    let mut tables = Tables::zeros(view, DIM);
    tables.input.fill(0..view.table_rows(), DIM, seed, 1);
    tables
}

/// Runs a phase to its end; the mean losses of its epochs.
fn run(phase: &dyn Phase, tables: &mut Tables) -> Vec<f64> {
    let mut epoch = |epoch| {
        let (mut loss, mut units) = (0.0, 0);
        let flow = phase.epoch(epoch, 0, tables, &mut |done, _| {
            loss += done.loss;
            units += done.units;
            ControlFlow::Continue(())
        });
        assert!(flow.is_continue());
        loss / units as f64
    };
    (0..phase.epochs()).map(&mut epoch).collect()
}

fn bits(tables: &Tables) -> Vec<u32> {
    [&tables.input, &tables.output].into_iter().flat_map(|table| table.data()).map(|x| x.to_bits()).collect()
}

/// Shows `check` every phase, made for a seed, on little data.
fn each_phase(view: &View<'_>, seed: u64, check: &mut dyn FnMut(&dyn Phase)) {
    let reference = ReferenceParams { epochs: 2, noise: 20, ..ReferenceParams::default() };
    check(&ReferenceCitation::new(view, &reference, seed));
    let direct = DirectParams { epochs: 2, window: 3, ..DirectParams::default() };
    let texts = [Text::words(view), Text::with_links(view, 1), Text::with_contexts(view, 10)];
    for (text, form) in
        [(0, Form::Dm), (0, Form::Dbow), (0, Form::SkipGram), (1, Form::Cbow), (2, Form::Dbow), (2, Form::Dm)]
    {
        check(&Direct::new(&texts[text], form, &direct, seed));
    }
    let dm = Direct::new(&texts[0], Form::Dm, &direct, seed);
    check(&JointReference::new(dm, ReferenceCitation::new(view, &reference, seed)));
    check(&Npm::new(view, &NpmParams { epochs: 2, window: 10, ..NpmParams::default() }, seed));
    check(&DeepWalk::new(view, &DeepWalkParams { epochs: 2, walks: 2, length: 20, ..DeepWalkParams::default() }, seed));
    // Turns of text and links: which of them a batch is has to follow from its number, wherever a run begins.
    let (text, links) = (ContentParams::default(), CitationParams { epochs: 2, ..CitationParams::default() });
    check(&Joint::new(Content::new(view, &text, seed), Citation::new(view, &links, 10, seed)));
}

#[test]
fn a_run_that_goes_on_from_any_batch_ends_in_the_same_tables() {
    let split = split();
    let view = view(&split);
    each_phase(&view, 1, &mut |phase| {
        let mut whole = fresh(&view, 1);
        let losses = run(phase, &mut whole);
        assert!(losses.iter().all(|loss| loss.is_finite() && *loss > 0.0), "{}: {losses:?}", phase.name());
        assert!(whole.input.data().iter().chain(whole.output.data()).all(|x| x.is_finite()), "{}", phase.name());
        assert!(phase.batches() > 1, "{} has {} batches", phase.name(), phase.batches());
        for stop in [phase.batches() / 2] {
            let mut parts = fresh(&view, 1);
            let flow = phase.epoch(0, 0, &mut parts, &mut |done, _| {
                if done.batches == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            assert!(flow.is_break());
            for (epoch, start) in [(0, stop), (1, 0)] {
                let _ = phase.epoch(epoch, start, &mut parts, &mut |_, _| ControlFlow::Continue(()));
            }
            assert!(bits(&whole) == bits(&parts), "{} from batch {stop}", phase.name());
        }
    });
}

#[test]
fn seeds_differ_and_numbers_of_threads_do_not() {
    let split = split();
    let view = view(&split);
    let results = |seed, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let mut results = vec![];
        each_phase(&view, seed, &mut |phase| {
            let mut tables = fresh(&view, 1);
            pool.install(|| run(phase, &mut tables));
            results.push(bits(&tables));
        });
        results
    };
    let first = results(1, 1);
    assert!(first == results(1, 3));
    assert!(first.iter().zip(results(2, 1)).all(|(a, b)| *a != b));
}

/// The share of held-out links whose target is among the ten documents that score highest.
fn found(view: &View<'_>, split: &Split, window: usize, score: impl Fn(&[WordRow], DocRow) -> f32) -> f32 {
    let queries = split.queries(corpus());
    let mut found = 0.0;
    for query in &queries {
        let context: Vec<WordRow> = view.window_at(query.position, window).map(|word| word.row).collect();
        let mut scores: Vec<(f32, DocRow)> = view.document_rows().map(|d| (score(&context, d), d)).collect();
        scores.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let is_truth = |&(_, d): &(f32, DocRow)| query.truths.contains(&view.documents[d.index()]);
        found += scores[..10].iter().filter(|hit| is_truth(hit)).count() as f32 / query.truths.len() as f32;
    }
    found / queries.len() as f32
}

/// I4O: the summed IN vectors of the context's words, times the OUT vector of a document.
fn in_for_out(tables: &Tables) -> impl Fn(&[WordRow], DocRow) -> f32 {
    move |context, document| {
        let out = tables.output.document(document);
        context.iter().map(|&word| dot(tables.input.word(word), out)).sum()
    }
}

/// The share of the five nearest documents (cosine of IN vectors) that have the document's topic; of those that `of`.
fn same_topic(view: &View<'_>, tables: &Tables, of: impl Fn(usize) -> bool) -> f32 {
    let generator = Generator::new(&params()).expect("a generator");
    let row = |document: usize| tables.input.document(DocRow(document as u32));
    let length = |document: usize| dot(row(document), row(document)).sqrt();
    let topic = |document: usize| generator.topic(view.documents[document].index());
    let documents: Vec<usize> = (0..view.documents.len()).filter(|&d| of(d)).collect();
    let mut same = 0;
    for &document in &documents {
        let cosine = |other: usize| dot(row(document), row(other)) / (length(document) * length(other));
        let mut near: Vec<usize> = documents.iter().copied().filter(|&other| other != document).collect();
        near.sort_by(|&a, &b| cosine(b).total_cmp(&cosine(a)));
        same += near[..5].iter().filter(|&&other| topic(other) == topic(document)).count();
    }
    same as f32 / (5 * documents.len()) as f32
}

#[test]
fn a_link_is_predicted_from_its_context() {
    let split = split();
    let view = view(&split);
    let params = ReferenceParams {
        epochs: 25,
        window: 10,
        noise: 50,
        rate: 0.1,
        sample: 0.0,
        beyond: OutOfRange::Saturate,
        shift: false,
        ..ReferenceParams::default()
    };
    let mut tables = fresh(&view, 1);
    let losses = run(&ReferenceCitation::new(&view, &params, 1), &mut tables);
    let found = found(&view, &split, 10, in_for_out(&tables));
    assert!(losses[24] < 0.7 * losses[0], "{losses:?}");
    assert!(found > 0.4, "{found} of the links found; 0.04 would be chance");
}

#[test]
fn a_link_as_a_word_is_predicted_from_its_context() {
    let split = split();
    let view = view(&split);
    let text = Text::with_links(&view, 1);
    let params = DirectParams { epochs: 20, window: 5, rate: 0.2, sample: 0.0, ..DirectParams::default() };
    let mut tables = fresh(&view, 1);
    run(&Direct::new(&text, Form::Cbow, &params, 1), &mut tables);
    let found = found(&view, &split, 5, in_for_out(&tables));
    assert!(found > 0.15, "{found} of the links found; 0.04 would be chance");
}

#[test]
fn documents_near_each_other_share_a_topic() {
    let split = split();
    let view = view(&split);
    for (form, contexts) in [(Form::Dm, false), (Form::Dbow, false), (Form::Dbow, true)] {
        let text = if contexts { Text::with_contexts(&view, 10) } else { Text::words(&view) };
        let params = DirectParams { epochs: 8, window: 5, rate: 0.1, sample: 0.0, ..DirectParams::default() };
        let mut tables = fresh(&view, 1);
        let losses = run(&Direct::new(&text, form, &params, 1), &mut tables);
        assert!(losses[7] < losses[0], "{losses:?}");
        let same = same_topic(&view, &tables, |_| true);
        assert!(same > 0.6, "{form:?}, contexts {contexts}: {same} share the topic; 0.17 would be chance");
    }
}

#[test]
fn documents_that_walks_join_share_a_topic() {
    let split = split();
    let view = view(&split);
    let mut tables = fresh(&view, 1);
    let before = tables.input.copy().expect("room");
    let losses = run(
        &DeepWalk::new(&view, &DeepWalkParams { epochs: 2, walks: 5, ..DeepWalkParams::default() }, 1),
        &mut tables,
    );
    assert!(losses[1] < losses[0], "{losses:?}");
    let moved = |d: usize| tables.input.documents().row(d) != before.documents().row(d);
    let mut linked = vec![false; view.documents.len()];
    for link in &view.links {
        let source = view.source_of(link).expect("a training document");
        [source, link.target].iter().for_each(|row| linked[row.index()] = true);
    }
    assert!((0..view.documents.len()).all(|d| moved(d) == linked[d]), "those without links stay, others move");
    let same = same_topic(&view, &tables, moved);
    assert!(same > 0.6, "{same} share the topic; 0.17 would be chance");
}

#[test]
fn npm_finds_the_target_from_its_context() {
    let split = split();
    let view = view(&split);
    let text = Text::words(&view);
    let words = DirectParams { epochs: 8, window: 5, rate: 0.1, sample: 0.0, ..DirectParams::default() };
    let mut tables = fresh(&view, 1);
    run(&Direct::new(&text, Form::Cbow, &words, 1), &mut tables);
    npm::prepare(&mut tables);
    let frozen = tables.input.copy().expect("room");
    let params = NpmParams { window: 10, ..NpmParams::default() };
    let phase = Npm::new(&view, &params, 1);
    let losses = run(&phase, &mut tables);
    assert!(losses[9] < losses[0], "{losses:?}");
    assert!(tables.input.data() == frozen.data(), "word vectors stay");
    for prior in [true, false] {
        let score = |context: &[WordRow], document: DocRow| {
            let Frequencies { words, documents } = phase.frequencies();
            let out = tables.output.document(document);
            let product = |&word: &WordRow| (dot(tables.input.word(word), out), words[word.index()]);
            npm::score(prior, documents[document.index()], context.iter().map(product))
        };
        let found = found(&view, &split, 10, score);
        assert!(found > 0.2, "prior {prior}: {found} of the links found; 0.04 would be chance");
    }
}

#[test]
fn the_score_of_npm_by_hand() {
    let words = [(0.0, 3), (3f32.ln(), 9), (9f32.ln(), 0)];
    // 0.5 · 6/3 + 0.75 · 6/9; the last word stands around no link.
    assert!((npm::score(true, 6, words) - 1.5).abs() < 1e-6);
    // 0.5 + 0.75 + 0.9, however many links point at the document.
    for links in [1, 6] {
        assert!((npm::score(false, links, words) - 2.15).abs() < 1e-6);
    }
    for prior in [true, false] {
        assert_eq!((npm::score(prior, 6, []), npm::score(prior, 0, words)), (0.0, 0.0));
    }
}

#[test]
fn the_prior_of_npm_puts_the_popular_first_and_the_other_ranking_the_fitting() {
    // One word around the link, which stands around ten links in all; σ(w·d) is 0.9 for a document that two links point
    // at, and 0.5 for one that eight do.
    let (fitting, popular) = ([(9f32.ln(), 10)], [(0.0, 10)]);
    assert!(npm::score(true, 2, fitting) < npm::score(true, 8, popular), "0.18 and 0.4");
    assert!(npm::score(false, 2, fitting) > npm::score(false, 8, popular), "0.9 and 0.5");
}

#[test]
fn a_corpus_without_links_and_a_lone_document_are_no_trouble() {
    let dir = tempfile::tempdir().expect("a directory");
    let params = GenerateParams { docs: 1, links: 0, words: 20, topics: Some(1), ..GenerateParams::default() };
    let corpus =
        generate(&params, &dir.path().join("corpus"), &ImportOptions::default(), &mut |_| ControlFlow::Continue(()))
            .expect("generated");
    let view = View::new(&corpus, &Split::none(&corpus), 1).expect("a view");
    each_phase(&view, 1, &mut |phase| {
        let mut tables = fresh(&view, 1);
        run(phase, &mut tables);
        assert!(tables.input.data().iter().chain(tables.output.data()).all(|x| x.is_finite()), "{}", phase.name());
    });
}
