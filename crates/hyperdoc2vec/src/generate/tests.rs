//! Checks of the planted structure, by counting in the written documents.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

fn generator(docs: usize, links: usize) -> Generator {
    let params = GenerateParams { docs, links, ..GenerateParams::default() };
    Generator::new(&params).expect("possible parameters")
}

fn all(generator: &Generator) -> Vec<Document> {
    generator.batches().into_iter().flat_map(|range| generator.documents(range)).collect()
}

/// Lower-case words without punctuation.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect()
}

/// Up to `window` words before and after a link.
fn context(document: &Document, at: usize, window: usize) -> Vec<String> {
    let mut context = words(&document.text[..at]);
    context.drain(..context.len().saturating_sub(window));
    context.extend(words(&document.text[at..]).into_iter().take(window));
    context
}

fn message(params: GenerateParams) -> String {
    Generator::new(&params).map(|_| ()).expect_err("impossible parameters").to_string()
}

/// Counts, order in time, targets, newcomers: what must hold at every size.
fn check(generator: &Generator) {
    let params = generator.params();
    let documents = all(generator);
    assert_eq!(documents.len(), params.docs);
    let links: usize = documents.iter().flat_map(|d| &d.links).map(|link| link.targets.len()).sum();
    assert_eq!(links, params.links);
    assert_eq!((0..params.docs).filter(|&doc| generator.is_newcomer(doc)).count(), params.newcomer_count());
    for (doc, document) in documents.iter().enumerate() {
        assert_eq!(generator.find(&document.id), Some(doc));
        assert!(doc == 0 || documents[doc - 1].date <= document.date);
        assert!(document.links.is_sorted_by_key(|link| link.at));
        let planned = generator.links(doc).into_iter().map(|link| link.targets.into_iter().map(|t| generator.id(t)));
        assert!(planned.map(Vec::from_iter).eq(document.links.iter().map(|link| link.targets.clone())));
        for link in &document.links {
            assert!(document.text.is_char_boundary(link.at) && link.anchor == link.at);
            assert!(!context(document, link.at, 10).is_empty());
            let targets: BTreeSet<usize> =
                link.targets.iter().map(|id| generator.find(id).expect("a known target")).collect();
            assert_eq!(targets.len(), link.targets.len(), "two targets of a position differ");
            for &target in &targets {
                assert!(target < doc, "a link goes back in time");
                assert!(!generator.is_newcomer(target), "nobody links to a newcomer");
            }
        }
    }
}

#[test]
fn counts_are_exact_and_links_go_back_in_time_at_every_size() {
    for (docs, links) in [(1, 0), (2, 0), (2, 1), (2, 9), (3, 4), (50, 0), (50, 7), (50, 700), (1000, 4321)] {
        check(&generator(docs, links));
    }
    for seed in 0..20 {
        let params = GenerateParams { docs: 37, links: 150, seed, newcomers: 0.6, ..GenerateParams::default() };
        check(&Generator::new(&params).expect("possible"));
        let params = GenerateParams { topics: Some(37), words: 60, pairs: 1.0, cross: 1.0, ..params };
        check(&Generator::new(&params).expect("possible"));
    }
}

#[test]
fn as_many_links_fit_as_the_message_says_and_not_one_more() {
    let params = GenerateParams { docs: 40, links: usize::MAX, ..GenerateParams::default() };
    let told = message(params.clone());
    assert!(told.contains("40 documents of 200 words on average hold at most"), "{told}");
    let most = told.split("at most ").nth(1).and_then(|rest| rest.split(' ').next());
    let most: usize = most.and_then(|number| number.parse().ok()).expect("a number");
    check(&Generator::new(&GenerateParams { links: most, ..params.clone() }).expect("fits"));
    assert!(message(GenerateParams { links: most + 1, ..params }).contains("ask for fewer links"));
}

#[test]
fn impossible_wishes_are_explained() {
    let default = GenerateParams::default;
    let one = message(GenerateParams { docs: 1, links: 1, ..default() });
    assert!(one.contains("at least 2 documents are needed"), "{one}");
    let all_new = message(GenerateParams { newcomers: 1.0, ..default() });
    assert!(all_new.contains("1000 of them newcomers"), "{all_new}");
    assert_eq!(message(GenerateParams { docs: 0, ..default() }), "docs is 0, but must be from 1 to 1000000000");
    assert_eq!(message(GenerateParams { words: 3, ..default() }), "words is 3, but must be from 16 to 100000");
    assert_eq!(message(GenerateParams { topics: Some(0), ..default() }), "topics is 0, but must be from 1 to 1000");
    for share in [-0.1, 1.5, f32::NAN] {
        assert!(message(GenerateParams { newcomers: share, ..default() }).contains("must be from 0 to 1"));
    }
    assert!(Generator::new(&GenerateParams { newcomers: 1.0, links: 0, ..default() }).is_ok());
}

#[test]
fn a_document_is_the_same_in_every_range_and_differs_by_seed() {
    let one = generator(300, 1500);
    let documents = all(&one);
    assert_eq!(one.documents(0..300), documents);
    assert_eq!(one.documents(123..124)[0], documents[123]);
    assert_eq!(one.documents(290..900), documents[290..], "what lies beyond the end is left out");
    assert!(one.documents(900..901).is_empty());
    let params = GenerateParams { seed: 2, ..one.params().clone() };
    let other = all(&Generator::new(&params).expect("possible"));
    assert!(documents.iter().zip(&other).all(|(a, b)| a.text != b.text));
}

#[test]
fn a_million_documents_are_planned_and_any_of_them_written() {
    let one = generator(1_000_000, 5_000_000);
    assert_eq!((0..1_000_000).map(|doc| one.link_count(doc)).sum::<usize>(), 5_000_000);
    assert_eq!(one.topics(), 333);
    let document = &one.documents(999_999..1_000_000)[0];
    assert_eq!(document.id, "d999999");
    assert_eq!(document.date.map(|date| date.to_string()).as_deref(), Some("2019-12"));
    let batches = one.batches();
    assert!(batches.windows(2).all(|pair| pair[0].end == pair[1].start));
    assert_eq!((batches[0].start, batches[batches.len() - 1].end), (0, 1_000_000));
}

#[test]
fn documents_are_as_long_as_asked_and_links_are_spread_over_them() {
    for (words_asked, links) in [(60, 1000), (200, 5000), (400, 20_000)] {
        let params = GenerateParams { words: words_asked, links, ..GenerateParams::default() };
        let documents = all(&Generator::new(&params).expect("possible"));
        let mean = documents.iter().map(|d| words(&d.text).len()).sum::<usize>() as f64 / 1000.0;
        assert!((mean / words_asked as f64 - 1.0).abs() < 0.03, "{mean} words instead of {words_asked}");
        let mut thirds = [0usize; 3];
        for document in &documents {
            for link in &document.links {
                thirds[link.at * 3 / (document.text.len() + 1)] += 1;
            }
        }
        let positions: usize = thirds.iter().sum();
        assert!(thirds.iter().all(|&n| n * 4 > positions), "links in each third of the documents: {thirds:?}");
    }
}

#[test]
fn text_is_sentences_and_follows_the_law_of_zipf() {
    let documents = all(&generator(1000, 5000));
    assert!(documents.iter().all(|d| d.text.starts_with(|c: char| c.is_ascii_uppercase()) && d.text.ends_with('.')));
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    for word in documents.iter().flat_map(|d| words(&d.text)) {
        *counts.entry(word).or_default() += 1.0;
    }
    assert!((10_000..60_000).contains(&counts.len()), "{} different words", counts.len());
    let mut counts: Vec<f64> = counts.into_values().collect();
    counts.sort_by(|a, b| b.total_cmp(a));
    // Least squares of log count on log rank, at ranks spread evenly by their logarithm.
    let points: Vec<(f64, f64)> = (0..60)
        .map(|i| 1.12f64.powi(i).round() as usize * 4)
        .map(|rank| ((rank as f64).ln(), counts[rank - 1].ln()))
        .collect();
    let n = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let slope = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>()
        / points.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>();
    assert!((-1.15..=-0.85).contains(&slope), "the slope is {slope}");
}

#[test]
fn documents_share_words_within_a_topic_much_more_than_between_topics() {
    let one = generator(400, 1600);
    let documents = all(&one);
    // Cosine of word counts, each weighted by the logarithm of the inverse share of documents that have the word.
    let mut counts: Vec<BTreeMap<String, f64>> = Vec::new();
    let mut having: BTreeMap<String, f64> = BTreeMap::new();
    for document in &documents {
        let mut count = BTreeMap::new();
        words(&document.text).into_iter().for_each(|word| *count.entry(word).or_insert(0.0) += 1.0);
        count.keys().for_each(|word| *having.entry(word.clone()).or_default() += 1.0);
        counts.push(count);
    }
    for count in &mut counts {
        count.iter_mut().for_each(|(word, n)| *n *= (400.0 / having[word]).ln());
        let length = count.values().map(|x| x * x).sum::<f64>().sqrt();
        count.values_mut().for_each(|x| *x /= length);
    }
    let (mut within, mut between) = ((0.0, 0.0), (0.0, 0.0));
    for (a, of_a) in counts.iter().enumerate() {
        for (b, of_b) in counts.iter().enumerate().skip(a + 1) {
            let tally = if one.topic(a) == one.topic(b) { &mut within } else { &mut between };
            tally.0 += of_a.iter().filter_map(|(word, x)| of_b.get(word).map(|y| x * y)).sum::<f64>();
            tally.1 += 1.0;
        }
    }
    let (within, between) = (within.0 / within.1, between.0 / between.1);
    assert!(within > 5.0 * between, "{within} within, {between} between");
}

#[test]
fn a_document_is_recognised_by_its_own_words() {
    let one = generator(300, 1500);
    let documents = all(&one);
    let texts: Vec<Vec<String>> = documents.iter().map(|d| words(&d.text)).collect();
    let mut recognised = 0;
    for doc in 0..300 {
        let own: BTreeSet<String> = one.own_words(doc).into_iter().collect();
        let share = |text: &[String]| text.iter().filter(|&word| own.contains(word)).count() as f64 / text.len() as f64;
        let mine = share(&texts[doc]);
        let title = documents[doc].title.as_deref().map(words).unwrap_or_default();
        assert!(title.iter().any(|word| own.contains(word)), "the title has a word of its own");
        recognised += usize::from(texts.iter().enumerate().all(|(other, text)| other == doc || share(text) < mine));
    }
    assert!(recognised > 290, "{recognised} of 300");
}

/// For each position of each document: its context of ±10 words, and the kind of its targets.
fn intents(generator: &Generator, documents: &[Document]) -> Vec<(Vec<String>, Kind)> {
    let mut found = Vec::new();
    for document in documents {
        for link in &document.links {
            let kinds: BTreeSet<Kind> =
                link.targets.iter().filter_map(|id| generator.find(id)).map(|doc| generator.kind(doc)).collect();
            assert_eq!(kinds.len(), 1, "two targets of a position are of one kind");
            found.extend(kinds.into_iter().map(|kind| (context(document, link.at, 10), kind)));
        }
    }
    found
}

#[test]
fn the_words_near_a_link_tell_the_kind_of_its_target() {
    let one = generator(1000, 5000);
    let seen = intents(&one, &all(&one));
    // Naive Bayes, learnt on the even positions and asked about the odd ones.
    let mut counts: BTreeMap<&str, [f64; 4]> = BTreeMap::new();
    for (context, kind) in seen.iter().step_by(2) {
        context.iter().for_each(|word| counts.entry(word).or_insert([0.5; 4])[*kind as usize] += 1.0);
    }
    let asked = seen.iter().skip(1).step_by(2);
    let right = asked.clone().filter(|(context, kind)| {
        let score = |kind: usize| -> f64 {
            let known = context.iter().filter_map(|word| counts.get(word.as_str()));
            known.map(|count| (count[kind] / count.iter().sum::<f64>()).ln()).sum()
        };
        let best = (0..4).max_by(|&a, &b| score(a).total_cmp(&score(b)));
        best == Some(*kind as usize)
    });
    let share = right.count() as f64 / asked.count() as f64;
    assert!(share > 0.95, "{share} of the kinds are recognised");
}

#[test]
fn the_text_of_a_document_does_not_tell_its_own_kind() {
    // Its text has the phrases of what it links to, whatever it is itself: no kind stands out by more than chance.
    let one = generator(2000, 10_000);
    let mut table = [[0f64; 4]; 4];
    for doc in 0..2000 {
        one.links(doc).iter().for_each(|link| table[one.kind(doc) as usize][link.kind as usize] += 1.0);
    }
    for row in table {
        let total: f64 = row.iter().sum();
        assert!(row.iter().all(|n| (0.2..0.3).contains(&(n / total))), "{table:?}");
    }
}

#[test]
fn nicknames_stand_near_links_and_never_in_the_own_text() {
    let one = generator(1000, 5000);
    let documents = all(&one);
    let nicknames: Vec<Vec<String>> =
        (0..1000).map(|doc| one.nicknames(doc).iter().map(|word| word.to_lowercase()).collect()).collect();
    let different: BTreeSet<&String> = nicknames.iter().flatten().collect();
    assert_eq!(different.len(), nicknames.iter().flatten().count());
    assert!((1400..1600).contains(&different.len()), "one or two a document");
    let (mut named, mut positions) = (0, 0);
    for (doc, document) in documents.iter().enumerate() {
        let text = words(&document.text);
        assert!(!text.iter().any(|word| nicknames[doc].contains(word)));
        for link in &document.links {
            let near = context(document, link.at, 10);
            let targets = link.targets.iter().filter_map(|id| one.find(id));
            positions += 1;
            named += usize::from(targets.flat_map(|target| &nicknames[target]).any(|name| near.contains(name)));
        }
    }
    let share = named as f64 / positions as f64;
    assert!((0.46..0.56).contains(&share), "{share} of the positions name their target");
}

#[test]
fn links_stay_in_their_topic_come_in_pairs_and_favour_the_popular_as_asked() {
    let one = generator(3000, 15_000);
    let (mut positions, mut pairs, mut crossing, mut repeated, mut linked) = (0, 0, 0, 0, vec![0usize; 3000]);
    for doc in 0..3000 {
        let links = one.links(doc);
        for link in &links {
            positions += 1;
            pairs += usize::from(link.targets.len() == 2);
            crossing += usize::from(one.topic(link.targets[0]) != one.topic(doc));
            assert!(link.targets.iter().all(|&t| one.topic(t) == one.topic(link.targets[0])));
            link.targets.iter().for_each(|&target| linked[target] += 1);
        }
        let targets: BTreeSet<usize> = links.iter().flat_map(|link| link.targets.clone()).collect();
        repeated += one.link_count(doc) - targets.len();
    }
    let share = |n: usize| n as f64 / positions as f64;
    assert!((0.07..0.11).contains(&share(pairs)), "{} pairs", share(pairs));
    assert!((0.09..0.12).contains(&share(crossing)), "{} crossing", share(crossing));
    assert!(repeated < 300, "{repeated} links repeat a target of their document");
    // Popular: the first tenth of the documents by links has about half of all links.
    linked.sort_unstable();
    let top: usize = linked[2700..].iter().sum();
    assert!((6_000..10_500).contains(&top), "{top} of 15000 links go to the first tenth");
}

#[test]
fn a_variant_changes_what_it_names_and_nothing_else() {
    let one = generator(500, 2500);
    let before = all(&one);
    let popular = (0..100).max_by_key(|&doc| {
        let id = one.id(doc);
        before.iter().flat_map(|d| &d.links).filter(|link| link.targets.contains(&id)).count()
    });
    let popular = popular.expect("a document");
    let other = (0..500).find(|&doc| one.topic(doc) != one.topic(popular) && one.kind(doc) != one.kind(popular));
    let other = other.expect("a document of another topic and kind");
    let linking = |document: &Document| document.links.iter().any(|link| link.targets.contains(&one.id(popular)));

    let content = Variant { content: BTreeMap::from([(popular, other)]), ..Variant::default() };
    for (doc, (new, old)) in one.documents_with(0..500, &content).iter().zip(&before).enumerate() {
        if doc == popular {
            let own = one.own_words(other);
            assert!(words(&new.text).iter().any(|word| own.contains(word)));
            assert_eq!((&new.id, &new.labels, new.links.len()), (&old.id, &old.labels, old.links.len()));
        } else {
            assert_eq!(new, old);
        }
    }

    let context_of = Variant { context: BTreeMap::from([(popular, other)]), ..Variant::default() };
    let mut changed = 0;
    for (new, old) in one.documents_with(0..500, &context_of).iter().zip(&before) {
        if !linking(old) {
            assert_eq!(new, old);
            continue;
        }
        changed += 1;
        assert_ne!(new.text, old.text);
        let targets = |d: &Document| d.links.iter().map(|link| link.targets.clone()).collect::<Vec<_>>();
        assert_eq!(targets(new), targets(old));
        let (new, old) = (words(&new.text), words(&old.text));
        let kept = old.iter().filter(|word| new.contains(word)).count();
        assert!(kept * 10 > old.len() * 8, "most words stay: {kept} of {}", old.len());
    }
    assert!(changed > 10, "{changed} documents link to it");
}
