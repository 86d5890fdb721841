//! Learns trees from dumped features and ranks with them, to study how trees are grown without training a model each time.
//!
//! `cargo run --release -p hyperdoc2vec-lab --bin forest -- learn=PREFIX[+PREFIX …] ask=PREFIX [OPTION=VALUE …]`
//!
//! The files are those of `features`. `source=1` has the features of the source, too; `questions=N` learns from a regular
//! sample of them; `trees`, `depth`, `rate`, `weight` (the least in a leaf) and `l2` are those of the trees, `newcomer` and
//! `thin` the weight of right newcomers and how few of the candidates that no ranking has among its first ten are learnt
//! from; `forests=N` ranks by the mean of forests that each leave a part of the questions out. With `checked=1`, a quarter
//! of the questions decides how many trees there are, as in training.
//!
//! Prints recall@10 in %, that of newcomers, MRR@10, the expected calibration error of the first hit, without and with the
//! share of a question that is known (to the power `known`) as a factor, and CPU seconds; then, by that share, what was said
//! of the first hits and how many were right.
#![allow(clippy::print_stdout, clippy::unwrap_used)]
use hyperdoc2vec::internals::rng::Rng;
use hyperdoc2vec::internals::search::ranker::{
    BoostParams, CalibrationBin, FeatureSet, Forest, Samples, Scale, expected_error,
};

struct Dump {
    width: usize,
    /// Of each question: its truths, the newcomers among them, and its candidates.
    questions: Vec<(u32, u32, Vec<Candidate>)>,
}

struct Candidate {
    features: Vec<f32>,
    right: bool,
    newcomer: bool,
}

fn numbers(path: &str) -> Vec<u32> {
    let bytes = std::fs::read(path).unwrap();
    bytes.chunks_exact(4).map(|four| u32::from_le_bytes(four.try_into().unwrap())).collect()
}

fn read(prefix: &str, sourced: bool) -> Dump {
    let set = FeatureSet::default();
    let (all, width) = (set.all(), if sourced { set.all() } else { set.alone() });
    let (rows, meta) = (numbers(&format!("{prefix}.f32")), numbers(&format!("{prefix}.meta")));
    let asked = numbers(&format!("{prefix}.q"));
    let mut questions: Vec<_> = asked.chunks_exact(2).map(|of| (of[0], of[1], Vec::new())).collect();
    for (row, meta) in rows.chunks_exact(all).zip(meta.chunks_exact(5)) {
        if !sourced && meta[4] == 0 {
            continue;
        }
        let features = row[..width].iter().map(|&bits| f32::from_bits(bits)).collect();
        questions[meta[0] as usize].2.push(Candidate { features, right: meta[2] == 1, newcomer: meta[3] == 1 });
    }
    Dump { width, questions }
}

fn samples<'a>(
    width: usize,
    questions: impl Iterator<Item = &'a (u32, u32, Vec<Candidate>)>,
    ranks: &[usize],
    thin: usize,
    newcomer: f32,
) -> Samples {
    let mut samples = Samples::new(width);
    let mut rng = Rng::keyed(1, &[7]);
    let leading = 11f32.ln() - 1e-4;
    for (_, _, candidates) in questions {
        for it in candidates {
            let leads = ranks.iter().any(|&rank| it.features.get(rank).is_some_and(|&rank| rank < leading));
            let drawn = rng.below(thin) == 0;
            if it.right || leads || drawn {
                samples.rows.extend(&it.features);
                samples.labels.push(it.right);
                let of = if it.right || leads { 1.0 } else { thin as f32 };
                samples.weights.push(of * if it.right && it.newcomer { newcomer } else { 1.0 });
            }
        }
    }
    samples
}

fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let option = |name: &str| args.iter().find_map(|a| a.strip_prefix(&format!("{name}=")));
    let number = |name: &str, default: f64| option(name).map_or(default, |text| text.parse::<f64>().unwrap());
    let sourced = number("source", 0.0) > 0.0;
    let ask = read(option("ask").unwrap(), sourced);
    let learn: Vec<Dump> = option("learn").unwrap().split('+').map(|prefix| read(prefix, sourced)).collect();
    let all: Vec<_> = learn.iter().flat_map(|dump| &dump.questions).collect();
    let step = all.len() as f64 / number("questions", 1e9).min(all.len() as f64);
    let questions: Vec<_> =
        (0..(all.len() as f64 / step) as usize).map(|place| all[(place as f64 * step) as usize]).collect();
    let names = FeatureSet::default().names();
    let ranks: Vec<usize> = (0..names.len()).filter(|&place| names[place].ends_with(" rank")).collect();
    let usual = BoostParams::default();
    let params = BoostParams {
        trees: number("trees", usual.trees as f64) as usize,
        max_depth: number("depth", usual.max_depth as f64) as usize,
        learning_rate: number("rate", usual.learning_rate.into()) as f32,
        min_child_weight: number("weight", usual.min_child_weight),
        l2: number("l2", usual.l2),
        patience: number("patience", usual.patience as f64) as usize,
        bag: number("bag", usual.bag.into()) as f32,
    };
    let (thin, newcomer) = (number("thin", 4.0) as usize, number("newcomer", 1.5) as f32);
    let of = |kept: &dyn Fn(usize) -> bool| {
        let kept = questions.iter().enumerate().filter(|(place, _)| kept(*place)).map(|(_, question)| *question);
        samples(ask.width, kept, &ranks, thin, newcomer)
    };
    let forests = number("forests", 1.0) as usize;
    let started = cpu();
    let (mut fitted, mut scale) = (Vec::new(), Scale::default());
    for forest in 0..forests {
        let mut params = params;
        if number("checked", 0.0) > 0.0 {
            let checked = |place: usize| place % 4 == forest % 4;
            let tried = Forest::fit(&of(&|place| !checked(place)), Some(&of(&checked)), &params);
            params.trees = tried.trees();
            let places = (0..questions.len()).filter(|&place| checked(place));
            let firsts: Vec<_> = places
                .filter_map(|place| tried.first(&samples(ask.width, [questions[place]].into_iter(), &ranks, 1, 1.0)))
                .collect();
            scale = Scale::fit(&firsts);
        }
        let out = |place: usize| forests > 1 && place % forests == forest;
        fitted.push(Forest::fit(&of(&|place| !out(place)), None, &params));
    }
    let fitting = cpu() - started;
    let started = cpu();
    let (mut found, mut found_new, mut reciprocal, mut new) = (0.0, 0.0, 0.0, 0.0);
    let (mut bins, mut heeding) = ([CalibrationBin::default(); 10], [CalibrationBin::default(); 10]);
    let (mut known, shares) =
        (Vec::new(), std::fs::read(format!("{}.known", option("ask").unwrap())).unwrap_or_default());
    known.extend(shares.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())));
    known.resize(ask.questions.len(), 1.0);
    let mut by_share = [(0.0, 0.0, 0.0); 10];
    for ((truths, newcomers, candidates), known) in ask.questions.iter().zip(known) {
        let rows: Vec<f32> = candidates.iter().flat_map(|it| it.features.iter().copied()).collect();
        let mut scores = vec![0.0; candidates.len()];
        for forest in &fitted {
            let its = forest.score_rows(&rows, ask.width);
            scores.iter_mut().zip(its).for_each(|(score, its)| *score += its / forests as f32);
        }
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let Some(&first) = order.first() else { continue };
        let probability = scale.probability(scores[first]);
        bins[((probability * 10.0) as usize).min(9)].add(1.0, probability, candidates[first].right);
        let heeded = probability * known.powf(number("known", 1.0) as f32);
        heeding[((heeded * 10.0) as usize).min(9)].add(1.0, heeded, candidates[first].right);
        let of = &mut by_share[((known * 10.0) as usize).min(9)];
        *of = (of.0 + 1.0, of.1 + f64::from(probability), of.2 + f64::from(u8::from(candidates[first].right)));
        order.truncate(10);
        let right: Vec<usize> = (0..order.len()).filter(|&place| candidates[order[place]].right).collect();
        found += right.len() as f64 / f64::from(*truths);
        reciprocal += right.first().map_or(0.0, |&place| 1.0 / (place + 1) as f64);
        found_new += order.iter().filter(|&&it| candidates[it].right && candidates[it].newcomer).count() as f64;
        new += f64::from(*newcomers);
    }
    let count = ask.questions.len() as f64;
    println!(
        "{:.2} newcomers {:.2} mrr {:.2} ece {:.3} heeding unknown words {:.3} trees {:?} nodes {} samples {} fit {fitting:.1} s ask {:.3} s\t{}",
        100.0 * found / count,
        100.0 * found_new / new,
        100.0 * reciprocal / count,
        expected_error(&bins),
        expected_error(&heeding),
        fitted.iter().map(Forest::trees).collect::<Vec<_>>(),
        fitted.iter().map(|forest| forest.feature.len()).sum::<usize>(),
        of(&|_| true).len(),
        cpu() - started,
        args[1..].join(" "),
    );
    for (place, (count, said, right)) in by_share.into_iter().enumerate().filter(|(_, of)| of.0 > 0.0) {
        println!("known 0.{place}: {count} questions, said {:.3}, right {:.3}", said / count, right / count);
    }
}
