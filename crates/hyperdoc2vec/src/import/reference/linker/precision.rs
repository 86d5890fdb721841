//! How often the linker is right: generated papers, bibliography entries with noise, and works that are not in the set.

use super::{BibRecord, Catalogue, How};
use crate::rng::Rng;

const TASKS: [&str; 24] = [
    "parsing",
    "word alignment",
    "machine translation",
    "coreference resolution",
    "sentiment analysis",
    "tagging",
    "named entity recognition",
    "question answering",
    "summarization",
    "language modelling",
    "speech recognition",
    "semantic role labelling",
    "word sense disambiguation",
    "dialogue",
    "relation extraction",
    "text classification",
    "morphological analysis",
    "paraphrase detection",
    "lexical substitution",
    "discourse segmentation",
    "information retrieval",
    "spelling correction",
    "term extraction",
    "text generation",
];
const WAYS: [&str; 24] = [
    "statistical",
    "neural",
    "unsupervised",
    "supervised",
    "bayesian",
    "discriminative",
    "generative",
    "hierarchical",
    "incremental",
    "joint",
    "probabilistic",
    "robust",
    "efficient",
    "data-driven",
    "rule-based",
    "naïve",
    "structured",
    "multilingual",
    "bilingual",
    "domain-adapted",
    "weakly supervised",
    "semi-supervised",
    "interactive",
    "large-scale",
];
const THINGS: [&str; 24] = [
    "trees",
    "kernels",
    "forests",
    "lattices",
    "graphs",
    "vectors",
    "features",
    "grammars",
    "constraints",
    "automata",
    "ensembles",
    "lexicons",
    "dependencies",
    "priors",
    "embeddings",
    "ontologies",
    "clusters",
    "alignments",
    "templates",
    "perceptrons",
    "transducers",
    "treebanks",
    "thesauri",
    "corpora",
];
const PLACES: [&str; 8] = [
    "newswire",
    "Arabic",
    "clinical notes",
    "Czech",
    "social media",
    "parliamentary debates",
    "Müller's letters",
    "patents",
];

fn one<'a>(rng: &mut Rng, list: &[&'a str]) -> &'a str {
    list[rng.below(list.len())]
}

fn name(rng: &mut Rng) -> String {
    let part = ["Mül", "Ros", "Kov", "Tan", "Ber", "Lin", "Gar", "Sat", "Wil", "Oka", "Pet", "Hov"];
    let end = ["ler", "sen", "ács", "aka", "ger", "dqvist", "cía", "son", "ovic", "moto"];
    let mut name = format!("{}{}", one(rng, &part), one(rng, &end));
    if rng.chance(0.1) {
        name = format!("van {name}");
    }
    name
}

/// A work; titles are made of few words, so that many are alike.
fn work(rng: &mut Rng) -> BibRecord {
    let (way, task, thing, place) = (one(rng, &WAYS), one(rng, &TASKS), one(rng, &THINGS), one(rng, &PLACES));
    let title = match rng.below(6) {
        0 => format!("{way} {task} with {thing} for {place}"),
        1 => format!("Towards {way} {task}: a study of {thing} in {place}"),
        2 => format!("{way} {thing} for {task}"),
        3 => format!("On the use of {thing} in {way} {task} of {place}"),
        4 => format!("Learning {thing} from {place} for {way} {task}: part {}", ["I", "II", "III"][rng.below(3)]),
        _ => format!("Task {} of 20{:02}: {task} with {thing}", rng.below(9), rng.below(20)),
    };
    let authors = (0..1 + rng.below(4)).map(|_| name(rng)).collect();
    BibRecord { title: Some(title), authors, year: Some(1990 + rng.below(30) as i32), ..BibRecord::default() }
}

/// Another work of the same people in the same year: a word or two unlike the first, or a sequel of it.
fn sibling(rng: &mut Rng, work: &BibRecord) -> BibRecord {
    let title = work.title.clone().unwrap_or_default();
    if rng.chance(0.25) {
        let more = [": part 2", ", Part IV", ": a reply", "? A comment on it", " (extended version)", ", revisited"];
        return BibRecord { title: Some(title + one(rng, &more)), ..work.clone() };
    }
    let list = [&WAYS[..], &TASKS[..], &THINGS[..], &PLACES[..]][rng.below(4)];
    let found = list.iter().filter(|word| title.contains(**word)).max_by_key(|word| word.len());
    let other = one(rng, list);
    let title = match found {
        Some(word) => title.replacen(word, other, 1),
        None => format!("{title} and {other}"),
    };
    BibRecord { title: Some(title), ..work.clone() }
}

/// The work as a bibliography has it, after a scanner and a parser.
fn noised(rng: &mut Rng, work: &BibRecord) -> BibRecord {
    let mut entry = work.clone();
    let mut title: Vec<char> = work.title.clone().unwrap_or_default().chars().collect();
    for _ in 0..rng.below(3) {
        let at = rng.below(title.len());
        match rng.below(4) {
            0 if title[at].is_alphabetic() => title[at] = ['l', 'i', 'e', 'c', 'o', 'n'][rng.below(6)],
            1 if title[at].is_alphabetic() => drop(title.remove(at)),
            2 if title[at] != ' ' => title.splice(at..at, ['-', ' ']).for_each(drop),
            3 if title[at] == ' ' => drop(title.remove(at)),
            _ => {}
        }
    }
    let mut title: String = title.into_iter().collect();
    if rng.chance(0.3) {
        title = title.to_uppercase();
    }
    if rng.chance(0.1) {
        title.push('.');
    }
    entry.title = Some(title.replace("ü", "u"));
    entry.year = match rng.below(10) {
        0 => entry.year.map(|year| year + 1),
        1 => None,
        _ => entry.year,
    };
    if rng.chance(0.05) {
        entry.authors.clear();
    }
    if rng.chance(0.2) {
        entry.authors.truncate(1);
    }
    if rng.chance(0.3) {
        let (title, year) = (entry.title.take().unwrap_or_default(), entry.year.map(|year| year.to_string()));
        entry.text =
            Some(format!("{}. {title}. In Proceedings, {}", entry.authors.join(", "), year.unwrap_or_default()));
        entry.authors.clear();
        entry.year = None;
    }
    entry
}

#[test]
fn links_are_right_in_99_of_100_cases() {
    [7, 8, 9].into_iter().for_each(measure);
}

fn measure(seed: u64) {
    let mut rng = Rng::keyed(seed, &[1]);
    let works: Vec<BibRecord> = (0..6000).map(|_| work(&mut rng)).collect();
    // Half of the works are in the set; of each that is, a sibling is not.
    let ids: Vec<String> = (0..works.len() / 2).map(|number| number.to_string()).collect();
    let catalogue = Catalogue::new(ids.iter().map(String::as_str).zip(&works));
    let (mut right, mut wrong, mut inside) = (0u32, 0u32, 0u32);
    let mut kinds = std::collections::BTreeMap::<How, (u32, u32)>::new();
    let mut look_up = |entry: &BibRecord, truth: Option<usize>| {
        inside += u32::from(truth.is_some());
        let Ok(found) = catalogue.find(entry) else { return };
        // Two works may be the same in all that is known of them.
        let same = |number: usize| (&works[number].title, &works[number].authors) == (&entry.title, &entry.authors);
        let good = truth == Some(found.document) || (truth.is_none() && same(found.document));
        let kind = kinds.entry(found.how).or_default();
        if good {
            right += 1;
            kind.0 += 1;
        } else {
            wrong += 1;
            kind.1 += 1;
        }
    };
    for (number, work) in works.iter().enumerate() {
        let truth = (number < ids.len()).then_some(number);
        look_up(&noised(&mut rng, work), truth);
        let other = sibling(&mut rng, work);
        if other.title != work.title {
            look_up(&noised(&mut rng, &other), None);
        }
    }
    let precision = f64::from(right) / f64::from(right + wrong);
    let recall = f64::from(right) / f64::from(inside);
    eprintln!("seed {seed}: precision {precision:.4}, recall {recall:.4}; right and wrong by kind {kinds:?}");
    assert!(precision >= 0.99, "seed {seed}: precision {precision:.4} {kinds:?}");
    assert!(recall >= 0.80, "seed {seed}: recall {recall:.4} {kinds:?}");
}
