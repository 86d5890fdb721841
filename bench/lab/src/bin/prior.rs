//! Learns the ranker for collections with few links from samples of other collections.
//!
//! `cargo run --release -p hyperdoc2vec-lab --bin prior -- OUT CORPUS[:UNTIL] … [without=NAME+NAME=FILE …]`
//!
//! Of each corpus (its documents up to UNTIL) samples of 150, 300 and 1,000 documents are taken, each a few
//! documents and what they are linked with. For each sample, links are asked for as in training. Then, for each corpus,
//! trees are learnt from all others, and the share of its questions with a right candidate among the first ten is printed,
//! by BM25 on texts and contexts and by the trees; their first hits make the scales. Last, trees are learnt from all, and
//! written to OUT; `without` writes others, learnt from all but the corpora with these names, to build a program that is
//! then asked for them.
#![allow(clippy::print_stdout, clippy::unwrap_used)]
use std::collections::BTreeSet;
use std::fmt::Write;

use hyperdoc2vec::corpus::Split;
use hyperdoc2vec::internals::corpus::view::View;
use hyperdoc2vec::internals::rng::Rng;
use hyperdoc2vec::internals::search::ranker::{BoostParams, FeatureSet, Forest, Samples, Scale};
use hyperdoc2vec::internals::train::ranker::samples;
use hyperdoc2vec::model::TrainParams;
use hyperdoc2vec::{Corpus, Date, Import};

/// How many documents, and samples of so many.
const SIZES: [(usize, u64); 3] = [(150, 3), (300, 2), (1000, 1)];
/// Questions of a sample that are learnt from.
const QUESTIONS: usize = 150;
const BOOST: BoostParams = BoostParams {
    trees: 90,
    max_depth: 4,
    learning_rate: 0.12,
    min_child_weight: 20.0,
    l2: 5.0,
    patience: 12,
    bag: 1.0,
};

/// The questions of a corpus, each without and with the source, with the size of their sample.
struct Asked {
    name: String,
    questions: Vec<(usize, [Samples; 2])>,
}

/// Documents that are linked with each other: from some at random along links in both directions.
fn sample(corpus: &Corpus, size: usize, seed: u64, until: Option<Date>) -> Vec<usize> {
    let view = View::new(corpus, &Split::none(corpus), 1).unwrap();
    let mut near = vec![Vec::new(); corpus.len()];
    for link in &view.links {
        let (source, target) = (view.source_of(link).unwrap().index(), link.target.index());
        near[source].push(target);
        near[target].push(source);
    }
    let early = |number: usize| {
        let date = corpus.date(view.documents[number]);
        until.is_none_or(|until| date.is_some_and(|date| date.is_up_to(until)))
    };
    let mut rng = Rng::keyed(seed, &[size as u64]);
    let mut order: Vec<usize> = (0..corpus.len()).filter(|&number| early(number)).collect();
    rng.shuffle(&mut order);
    let (mut taken, mut open) = (BTreeSet::new(), Vec::new());
    for first in order {
        open.push(first);
        // A tenth of the sample grows from each.
        let most = taken.len() + (size / 10).max(1);
        while taken.len() < most.min(size) && !open.is_empty() {
            let next = open.swap_remove(rng.below(open.len()));
            if early(next) && taken.insert(next) {
                open.extend(near[next].iter().copied().filter(|other| !taken.contains(other)));
            }
        }
        open.clear();
        if taken.len() >= size {
            break;
        }
    }
    taken.into_iter().collect()
}

fn ask(corpus: &Corpus, numbers: &[usize], seed: u64) -> Vec<[Samples; 2]> {
    let dir = tempfile::tempdir().unwrap();
    let all: Vec<_> = corpus.documents().collect();
    let documents: Vec<_> = numbers.iter().map(|&number| corpus.document(all[number]).unwrap()).collect();
    let part = Import::documents(documents).build(dir.path().join("c")).unwrap();
    let mut params = TrainParams::for_corpus(&part);
    params.seed = seed;
    samples(&part, &params, dir.path()).unwrap()
}

fn join<'a>(width: usize, all: impl Iterator<Item = &'a Samples>) -> Samples {
    let mut joined = Samples::new(width);
    all.for_each(|samples| joined.extend(samples));
    joined
}

/// Whether a right candidate is among the first ten by some score.
fn found(samples: &Samples, score: impl Fn(&[f32]) -> f32) -> bool {
    let mut scored: Vec<(f32, bool)> =
        (0..samples.len()).map(|row| (score(samples.row(row)), samples.labels[row])).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.iter().take(10).any(|&(_, right)| right)
}

fn json(forest: &Forest) -> String {
    let feature: Vec<i64> = forest.feature.iter().map(|&f| if f == u32::MAX { -1 } else { i64::from(f) }).collect();
    let number: Vec<String> = forest.number.iter().map(|number| format!("{number}")).collect();
    format!(
        "{{\"feature\":{feature:?},\"number\":[{}],\"child\":{:?},\"roots\":{:?}}}",
        number.join(","),
        forest.child,
        forest.roots
    )
    .replace(", ", ",")
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let features = FeatureSet::default();
    let widths = [features.alone(), features.all()];
    let cited = features.place("cited").unwrap();
    let mut all = Vec::new();
    for given in args[1..].iter().filter(|arg| !arg.starts_with("without=")) {
        let (path, until) = match given.split_once(':') {
            Some((path, until)) => (path, Some(until.parse().unwrap())),
            None => (given.as_str(), None),
        };
        let corpus = Corpus::open(path).unwrap();
        let mut asked = Asked { name: given.clone(), questions: Vec::new() };
        for (size, count) in SIZES.into_iter().filter(|&(size, _)| size < corpus.len()) {
            for seed in 1..=count {
                let numbers = sample(&corpus, size, seed, until);
                let mut questions = ask(&corpus, &numbers, seed);
                let found = questions.len();
                let step = found.div_ceil(QUESTIONS).max(1);
                questions = questions.into_iter().step_by(step).collect();
                println!("{given}: {size} documents, {found} questions");
                asked.questions.extend(questions.into_iter().map(|samples| (size, samples)));
            }
        }
        all.push(asked);
    }
    let mut firsts = [Vec::new(), Vec::new()];
    println!("| corpus | documents | questions | bm25-cited | alone | sourced |\n|---|---|---|---|---|---|");
    for (left_out, Asked { name, questions }) in all.iter().enumerate() {
        let forests = [0, 1].map(|kind| {
            let others = all.iter().enumerate().filter(|(number, _)| *number != left_out);
            let samples = others.flat_map(|(_, asked)| asked.questions.iter().map(|(_, samples)| &samples[kind]));
            Forest::fit(&join(widths[kind], samples), None, &BOOST)
        });
        for (size, _) in SIZES {
            let of: Vec<&[Samples; 2]> =
                questions.iter().filter(|(its, _)| *its == size).map(|(_, samples)| samples).collect();
            if of.is_empty() {
                continue;
            }
            let share = |hit: &dyn Fn(&[Samples; 2]) -> bool| {
                100.0 * of.iter().filter(|samples| hit(samples)).count() as f64 / of.len() as f64
            };
            println!(
                "| {name} | {size} | {} | {:.1} | {:.1} | {:.1} |",
                of.len(),
                share(&|samples| found(&samples[0], |row| row[cited])),
                share(&|samples| found(&samples[0], |row| forests[0].score(row))),
                share(&|samples| found(&samples[1], |row| forests[1].score(row))),
            );
        }
        for kind in 0..2 {
            firsts[kind].extend(questions.iter().filter_map(|(_, samples)| forests[kind].first(&samples[kind])));
        }
    }
    let scales = [0, 1].map(|kind| Scale::fit(&firsts[kind]).json());
    let learn = |path: &str, left_out: &[&str]| {
        let kept = |asked: &&Asked| !left_out.iter().any(|name| asked.name.contains(name));
        let forests = [0, 1].map(|kind| {
            let samples = all.iter().filter(kept).flat_map(|asked| asked.questions.iter());
            Forest::fit(&join(widths[kind], samples.map(|(_, samples)| &samples[kind])), None, &BOOST)
        });
        let mut file = String::new();
        write!(file, "{{\"features\":{},\n\"scales\":[{},{}],\n", features.json(), scales[0], scales[1]).unwrap();
        writeln!(file, "\"alone\":{},\n\"sourced\":{}}}", json(&forests[0]), json(&forests[1])).unwrap();
        std::fs::write(path, file).unwrap();
    };
    learn(&args[0], &[]);
    for more in args.iter().filter_map(|arg| arg.strip_prefix("without=")) {
        let (names, path) = more.split_once('=').unwrap();
        learn(path, &names.split('+').collect::<Vec<_>>());
    }
}
