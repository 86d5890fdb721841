//! Searching models small enough to be worked out by hand.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;

use crate::corpus::CorpusOptions;
use crate::corpus::split::Split;
use crate::corpus::view::View;
use crate::id::{DocRow, WordRow};
use crate::import::{Format, ImportOptions};
use crate::model::Vectors;
use crate::model::index::links::Context;
use crate::model::index::terms::Field;
use crate::model::params::{Method, TrainParams};
use crate::model::tables::Tables;
use crate::model::weighting::rarity;
use crate::model::write::ModelWriter;
use crate::search::bm25::Term;
use crate::search::explain::explain;
use crate::search::ranker::forest::Forest;
use crate::search::ranker::{FeatureSet, LinkSource, Ranker, Scope};
use crate::search::{Ranking, Searcher, nearest, rank};
use crate::tests::import;
use crate::{Corpus, Document, Import, Model, Question, Recommender, Training};
use tempfile::TempDir;

const DOCUMENTS: &str = r#"{"id": "a", "text": "fish soup [[b]]"}
{"id": "b", "title": "Bread", "text": "fish bread [[c]]", "labels": ["food", "dry"], "date": "2001"}
{"id": "c", "text": "soup salt", "labels": ["food"]}
"#;

/// Words by falling count, then by bytes: fish, soup (twice), bread, salt (once).
const WORDS_IN: [[f32; 2]; 4] = [[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, -1.0]];
const DOCUMENTS_OUT: [[f32; 2]; 3] = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];

/// Three documents and four words, of which those that occur `min_count` times have the vectors above.
fn model(min_count: u64, method: Method) -> (TempDir, Model) {
    let dir = tempfile::tempdir().expect("a directory");
    let input = dir.path().join("in.jsonl");
    fs::write(&input, DOCUMENTS).expect("written");
    let words = CorpusOptions { min_count: 1, ..CorpusOptions::default() };
    let options = ImportOptions { corpus: words, ..ImportOptions::default() };
    let corpus: Corpus =
        import(Format::Jsonl, &[input], &dir.path().join("c"), &options, &mut |_| ControlFlow::Continue(()))
            .expect("imported");
    let view = View::new(&corpus, &Split::none(&corpus), min_count).expect("a view");
    let mut tables = Tables::zeros(&view, 2);
    for (word, vector) in (0..view.words.len() as u32).map(WordRow).zip(WORDS_IN) {
        tables.input.row_mut(view.table_row_of_word(word).index())[..2].copy_from_slice(&vector);
    }
    for (document, vector) in view.document_rows().zip(DOCUMENTS_OUT) {
        tables.output.row_mut(view.table_row_of_doc(document).index())[..2].copy_from_slice(&vector);
    }
    let mut params = TrainParams { method, dim: 2, min_count, ..TrainParams::default() };
    // A word one further away weighs half.
    params.citation.decay = std::f32::consts::LOG2_E;
    params.set_window(2);
    let path = dir.path().join("m");
    ModelWriter::new(&view, &tables, &params).write(&path).expect("written");
    let model = Model::open(&path).expect("readable");
    model.verify().expect("intact");
    (dir, model)
}

fn close(found: &[f32], expected: &[f32]) {
    let near = found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-5);
    assert!(near, "found {found:?}, expected {expected:?}");
}

#[test]
fn embedding_scores_of_a_four_word_model_by_hand() {
    let (_dir, model) = model(1, Method::HyperDoc);
    let searcher = Searcher::new(&model);
    let scores = |text: &str| {
        let query = searcher.query(text).expect("read");
        searcher.embedding_scores(&query, None).expect("scored").expect("known words")
    };
    // Rarity: fish and soup ln(4/2), bread and salt ln(4/1), twice as much.
    // Marked: fish 1, bread 2 · ½, soup 1, each a third: x = ([1 0] + [2 0] + [0 1]) / 3.
    close(&scores("Bread fish [[?]] soup"), &[1.0, 1.0 / 3.0, 4.0 / 3.0]);
    // Beyond the window of two, salt does not count.
    close(&scores("salt bread fish [[?]] soup"), &[1.0, 1.0 / 3.0, 4.0 / 3.0]);
    // Without a mark: bread 2, fish 1, soup 1, of 4: x = [5/4 1/4].
    close(&scores("bread fish soup"), &[1.25, 0.25, 1.5]);
    // Unknown words do not count, nor does the distance over them.
    close(&scores("bread xyzzy fish plugh [[?]] soup"), &[1.0, 1.0 / 3.0, 4.0 / 3.0]);
    // A link that is known is no text; one that is not is.
    close(&scores("bread fish [[c]] [[?]] soup"), &[1.0, 1.0 / 3.0, 4.0 / 3.0]);
    close(&scores("[[fish]]"), &[1.0, 0.0, 1.0]);
    // A link's own words are words.
    close(&scores("[fish][[?]]"), &[1.0, 0.0, 1.0]);
}

#[test]
fn the_methods_of_the_paper_weigh_all_words_the_same() {
    let (_dir, model) = model(1, Method::HyperDocPaper);
    let searcher = Searcher::new(&model);
    let query = searcher.query("salt bread fish [[?]] soup").expect("read");
    // x = ([1 0] + [2 0] + [0 1]) / 3
    close(&searcher.vector(&query).expect("there").expect("known"), &[1.0, 1.0 / 3.0]);
}

#[test]
fn what_a_text_says_and_what_is_unknown_is_told() {
    let (_dir, model) = model(2, Method::HyperDoc);
    let searcher = Searcher::new(&model);
    assert_eq!((model.words(), model.vocabulary().find("bread"), model.terms().find("bread")), (2, None, Some(2)));
    let query = searcher.query("Plugh fish bread xyzzy bread plugh [[b]] [[?]]").expect("read");
    assert_eq!((query.length, query.marked, query.unknown), (6, true, vec!["plugh".to_owned(), "xyzzy".to_owned()]));
    assert_eq!(query.links, [DocRow(1)]);
    // Bread has no vector, but BM25 knows it.
    let query = searcher.query("bread fish bread").expect("read");
    assert_eq!(query.weights(&model).expect("there"), (vec![WordRow(0)], vec![1.0]));
    let terms = [Term { word: WordRow(0), weight: 1.0 }, Term { word: WordRow(2), weight: 2.0 }];
    assert_eq!(searcher.terms(&query), terms);
    // One further away weighs half.
    let marked = searcher.query("bread fish [[?]] bread").expect("read");
    let terms = searcher.terms(&marked);
    assert_eq!((terms[0], terms[1].word), (Term { word: WordRow(0), weight: 1.0 }, WordRow(2)));
    close(&[terms[1].weight], &[1.5]);
    let rare = searcher.query("bread").expect("read");
    assert_eq!(searcher.embedding_scores(&rare, None).expect("asked"), None);
    let scores = searcher.bm25_scores(&rare, Field::Text).expect("asked").expect("known");
    assert_eq!(rank::top(&scores, 3, |row| scores[row] > 0.0).iter().map(|hit| hit.row).collect::<Vec<_>>(), [1]);
    let none = searcher.query("").expect("read");
    assert_eq!((none.length, searcher.bm25_scores(&none, Field::Cited).expect("asked")), (0, None));
    assert!(searcher.query("a [[?]] b [[?]]").is_err(), "two marks");
}

#[test]
fn bm25_knows_texts_and_the_contexts_of_links_to_them() {
    let (_dir, model) = model(1, Method::HyperDoc);
    let searcher = Searcher::new(&model);
    let query = searcher.query("soup").expect("read");
    // All texts have two words, so the length does not matter: one word gives (k1 + 1) / (1 + k1) = 1.
    // idf of 2 in 3: ln(1 + 1.5/2.5) = 0.470004.
    let own = searcher.bm25_scores(&query, Field::Text).expect("asked").expect("known");
    close(&own, &[0.470004, 0.0, 0.470004]);
    // "fish soup" leads to b, "fish bread" to c: the word beside the link counts four times, the other twice. So lengths
    // are 2, 2 + 6 and 2 + 6, on average 6, and counts 1/0.5, 4/1.25 and 1/1.25.
    let cited = searcher.bm25_scores(&query, Field::Cited).expect("asked").expect("known");
    let score = |count: f32| 0.470004 * 5.0 * count / (count + 4.0);
    let said_of_b = score(3.2);
    close(&cited, &[score(2.0), said_of_b, score(0.8)]);
    let shares = searcher.cited().expect("there").shares(&searcher.terms(&query), 1.0, &[DocRow(1)]);
    close(&shares[0], &[said_of_b]);
}

#[test]
fn reasons_add_up_and_name_the_links_that_read_alike() {
    let (_dir, model) = model(1, Method::HyperDoc);
    let searcher = Searcher::new(&model);
    let query = searcher.query("Bread fish [[?]] soup").expect("read");
    // As above, each word weighs a third; document c is [1 1]: fish [1 0], soup [0 1], bread [2 0].
    let why = &explain(&searcher, &query, &[DocRow(2), DocRow(1)], None, Ranking::Hybrid).expect("explained");
    assert_eq!(why[0].embedding.shares.iter().map(|share| share.0).collect::<Vec<_>>(), [0, 1, 2].map(WordRow));
    let shares: Vec<f32> = why[0].embedding.shares.iter().map(|share| share.1).collect();
    close(&shares, &[1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0]);
    close(&[why[0].embedding.score, shares.iter().sum()], &[4.0 / 3.0, 4.0 / 3.0]);
    assert_eq!(why[0].embedding.falling()[0].0, WordRow(2), "bread has the greatest share");
    let scores = searcher.bm25_scores(&query, Field::Cited).expect("asked").expect("known");
    for (why, row) in why.iter().zip([2, 1]) {
        assert_eq!(why.bm25.score, scores[row]);
        assert_eq!(why.bm25.shares.iter().fold(0.0, |sum, share| sum + share.1), scores[row]);
    }
    let by_text = &explain(&searcher, &query, &[DocRow(2)], None, Ranking::Bm25).expect("explained")[0];
    let scores = searcher.bm25_scores(&query, Field::Text).expect("asked").expect("known");
    assert!(by_text.text_alone && scores[2] > 0.0 && by_text.bm25.score == scores[2], "{by_text:?}, not {}", scores[2]);
    // "fish bread [[c]]" stands in b, "fish soup [[b]]" in a.
    let context = |link, source, before: [u32; 2]| Context {
        link,
        source: DocRow(source),
        before: before.map(WordRow).to_vec(),
        after: vec![],
    };
    assert_eq!(why[0].contexts, [context(1, 1, [0, 2])]);
    assert_eq!(why[1].contexts, [context(0, 0, [0, 1])]);
    let within = LinkSource::known(&searcher, DocRow(1));
    let why = explain(&searcher, &query, &[DocRow(2)], Some(&within), Ranking::Hybrid).expect("explained");
    assert!(why[0].contexts.is_empty(), "the source's own");
    // It says fish [1 0] and bread [2 0], each once; of three documents two have fish, one bread. Half of that is added.
    let (fish, bread) = (rarity(2, 3), rarity(1, 3));
    let said = 0.5 * (fish + 2.0 * bread) / (fish + bread);
    let scores = searcher.embedding_scores(&query, Some(&within)).expect("asked").expect("known");
    close(&[why[0].source, scores[2]], &[said, 4.0 / 3.0 + said]);
    let salt = searcher.query("salt").expect("read");
    assert!(
        explain(&searcher, &salt, &[DocRow(1)], None, Ranking::Hybrid).expect("explained")[0].contexts.is_empty(),
        "no word in common"
    );
    let [a, b, c] = [0, 1, 2].map(DocRow);
    assert_eq!((searcher.linked_by(a), searcher.linked_by(c), searcher.linking_to(c)), (&[b][..], &[][..], &[b][..]));
}

#[test]
fn trees_written_by_hand_order_candidates() {
    let (_dir, model) = model(1, Method::HyperDoc);
    let searcher = Searcher::new(&model);
    assert!(Ranker::of(&model).is_none());
    let query = searcher.query("soup").expect("read");
    let links = FeatureSet::default().place("links").expect("a feature") as u32;
    // No links: +2; some: −1. Only a has none; b is before c, of which less is said.
    let alone = Forest {
        feature: vec![links, u32::MAX, u32::MAX],
        number: vec![0.1, 2.0, -1.0],
        child: vec![1, 0, 0],
        roots: vec![0],
    };
    let hybrid = Ranker { alone, ..Ranker::default() };
    let hits = hybrid.rank(&searcher, &query, None, 3, Scope::ALL).expect("ranked").expect("known");
    assert_eq!(hits.iter().map(|hit| hit.row).collect::<Vec<_>>(), [0, 1, 2]);
    close(&hits.iter().map(|hit| hit.score).collect::<Vec<_>>(), &[0.880797, 0.268941, 0.268941]);
    // What is said of a document does not depend on which others may be hits.
    let only = Scope { allowed: &|row| row == 2, ..Scope::ALL };
    assert_eq!(hybrid.rank(&searcher, &query, None, 3, only).expect("ranked").expect("known"), hits[2..3]);
    let others = hybrid.rank(&searcher, &query, None, 1, Scope::of(&|row| row > 0)).expect("ranked").expect("known");
    assert_eq!(others[0].row, 1);
    let source = LinkSource::known(&searcher, DocRow(0));
    assert_eq!((source.links.as_slice(), source.words.len()), (&[DocRow(1)][..], 2));
    let unknown = searcher.query("xyzzy").expect("read");
    assert_eq!(hybrid.rank(&searcher, &unknown, Some(&source), 3, Scope::ALL).expect("asked"), None);
    // What the source links to already is told of b alone.
    let found =
        FeatureSet::default().candidates(&searcher, &query, Some(&source), Scope::ALL).expect("asked").expect("known");
    let linked = FeatureSet::default().place("linked").expect("a feature");
    assert_eq!(found.rows, [0, 1, 2].map(DocRow));
    assert_eq!([0, 1, 2].map(|row| found.row(row)[linked]), [0.0, 1.0, 0.0]);
    let filtered =
        FeatureSet::default().candidates(&searcher, &query, Some(&source), only).expect("asked").expect("known");
    assert_eq!((&filtered.rows[..], filtered.row(0)), (&[DocRow(2)][..], found.row(2)));
}

#[test]
fn a_text_of_which_little_is_known_has_less_probable_hits_by_hand() {
    let (_dir, model) = model(1, Method::HyperDoc);
    let searcher = Searcher::new(&model);
    let read = |text: &str| searcher.query(text).expect("read");
    // Soup is in two of three texts. A word of none is as rare as can be.
    let (soup, none) = ((1.0f32 + 1.5 / 2.5).ln(), (1.0f32 + 3.5 / 0.5).ln());
    let far = (-1.0f32 / 20.0).exp();
    let shares = ["soup", "soup xyzzy", "xyzzy soup [[?]] xyzzy", "soup xyzzy [[?]]"]
        .map(|text| searcher.known_share(&read(text)));
    let by_hand = [1.0, soup / (soup + none), soup / (soup + none * (1.0 + far)), soup * far / (soup * far + none)];
    close(&shares, &by_hand);
    // One leaf: all candidates have even odds.
    let leaf = Forest { feature: vec![u32::MAX], number: vec![0.0], child: vec![0], roots: vec![0] };
    let scores = |heeds_unknown_words, text| {
        let ranker = Ranker { alone: leaf.clone(), heeds_unknown_words, ..Ranker::default() };
        let hits = ranker.rank(&searcher, &read(text), None, 3, Scope::ALL).expect("ranked").expect("known");
        hits.iter().map(|hit| hit.score).collect::<Vec<f32>>()
    };
    // Where less than half is known, that is believed the less.
    close(&scores(true, "soup xyzzy"), &[0.5 * 2.0 * by_hand[1]; 3]);
    close(&scores(false, "soup xyzzy"), &[0.5; 3]);
    close(&scores(true, "soup salt salt salt xyzzy"), &[0.5; 3]);
}

/// A text of another world shares small words with every document, and has no probable hit.
#[test]
fn a_text_of_another_world_has_no_probable_hit() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut documents = vec![
        Document::new("bleu", "a metric to compare a translation with references"),
        Document::new("moses", "a toolkit for statistical machine translation"),
    ];
    documents.extend((0..60).map(|n| {
        let text = match n % 2 {
            0 => "we score the output by the metric [[bleu]] on new sentences",
            _ => "we build our decoder with the toolkit [[moses]] and tune it",
        };
        Document::new(format!("paper-{n}"), text)
    }));
    let corpus = Import::documents(documents).build(dir.path().join("c")).expect("a corpus");
    let params = TrainParams { dim: 16, ..TrainParams::for_corpus(&corpus) };
    let model = Training::new(&corpus).params(params).run(dir.path().join("m")).expect("trained");
    let recommender = Recommender::new(&model);
    let best = |text: &str| {
        let answer = recommender.ask(&Question::new(text)).expect("answered");
        answer.hits.first().and_then(|hit| hit.probability).expect("a hit")
    };
    let (fits, does_not) =
        (best("the output by the metric [[?]]"), best("turtles like ice cream on sunday with the [[?]]"));
    assert!(fits > 0.5, "{fits}");
    assert!(does_not < 0.1, "{does_not}");
}

/// A text that has no word of a document finds it by who wrote it, or by a word of its title that no text has.
#[test]
fn authors_and_titles_are_fields_of_their_own() {
    let dir = tempfile::tempdir().expect("a directory");
    let documents = [
        Document::new("clocks", "order of events [[coins]]").authors(["Leslie Lamport"]),
        Document::new("coins", "electronic cash").title("Bitcoin").authors(["Nakamoto, Satoshi", "García, Ana"]),
        Document::new("other", "many other things, and more et al"),
    ];
    let corpus = Import::documents(documents).min_count(1).build(dir.path().join("c")).expect("a corpus");
    let view = View::new(&corpus, &Split::none(&corpus), 1).expect("a view");
    let params = TrainParams { dim: 2, min_count: 1, ..TrainParams::default() };
    let path = dir.path().join("m");
    ModelWriter::new(&view, &Tables::zeros(&view, 2), &params).write(&path).expect("written");
    let found = |model: &Model, text: &str, features: [&str; 3]| -> Vec<[f32; 3]> {
        let (searcher, set) = (Searcher::new(model), FeatureSet::default());
        let query = searcher.query(text).expect("read");
        let candidates = set.candidates(&searcher, &query, None, Scope::ALL).expect("asked").expect("known");
        let place = features.map(|name| set.place(name).expect("a feature"));
        // Zeros for documents that are no candidates.
        let mut found = vec![[0.0; 3]; model.documents()];
        for (number, row) in candidates.rows.iter().enumerate() {
            found[row.index()] = place.map(|place| candidates.row(number)[place]);
        }
        found
    };
    let model = Model::open(&path).expect("readable");
    let lamport = found(&model, "Lamport [[?]]", ["author", "author covered", "first author"]);
    close(&lamport[0], &[4.0f32.ln(), 1.0, 1.0]);
    assert!(lamport[1..].iter().all(|row| row[1..] == [0.0; 2]), "{lamport:?}");
    let garcia = found(&model, "garcia [[?]]", ["author", "author covered", "first author"]);
    close(&garcia[1], &[4.0f32.ln(), 1.0 / 3.0, 0.0]);
    let bitcoin = found(&model, "Bitcoin [[?]]", ["title covered", "title", "author"]);
    assert_eq!((bitcoin[1][0], bitcoin[0][0]), (1.0, 0.0));
    assert_eq!(Searcher::new(&model).query("Bitcoin by nobody").expect("read").unknown, ["by", "nobody"]);
    // Documents that are added later are found the same way.
    let more = [Document::new("paxos", "a synod").title("Paxos").authors(["Leslie Lamport", "Fred Schneider"])];
    let more = Import::documents(more).min_count(1).build(dir.path().join("more")).expect("a corpus");
    let grown = dir.path().join("grown");
    let added = crate::Addition::new(&model, &more).write(&grown).expect("added");
    assert_eq!(added.words, 4, "a, synod, paxos, schneider");
    let grown = Model::open(&grown).expect("readable");
    let lamport = found(&grown, "Lamport [[?]]", ["author", "first author", "title"]);
    close(&[lamport[0][0], lamport[3][0], lamport[3][1]], &[3.0f32.ln(), 3.0f32.ln(), 1.0]);
    assert!(found(&grown, "Schneider [[?]]", ["author", "first author", "title"])[3][0] > 1.0);
    // A short question that names an author means one of the author's works, by trees that know nothing.
    let asked = |text: &str, ranker: &Ranker| -> Vec<(u32, f32)> {
        let searcher = Searcher::new(&grown);
        let query = searcher.query(text).expect("read");
        let hits = ranker.rank(&searcher, &query, None, 4, Scope::ALL).expect("asked").expect("known");
        hits.iter().map(|hit| (hit.row, hit.score)).collect()
    };
    let ranker = Ranker { heeds_unknown_words: true, ..Ranker::prior() };
    let before = asked("order [[?]]", &ranker);
    for text in ["Lamport [[?]]", "Lamport et al. [[?]]", "Lamport and Schneider [[?]]"] {
        let hits = asked(text, &ranker);
        let likely: BTreeSet<u32> = hits.iter().filter(|hit| hit.1 >= 0.45).map(|hit| hit.0).collect();
        assert!(likely.is_superset(&BTreeSet::from([0, 3])), "{text}: {hits:?}");
    }
    assert_eq!(asked("Schneider [[?]]", &ranker)[0].0, 3, "no work begins with the name");
    let unheeded = asked("Lamport [[?]]", &Ranker { heeds_unknown_words: false, ..ranker.clone() });
    assert!(unheeded[1].1 < 0.45, "older models answer as before: {unheeded:?}");
    assert!(before[0].1 < 0.9, "nobody is named: {before:?}");
    assert!(found(&grown, "paxos [[?]]", ["title", "title covered", "author"])[3][1] == 1.0);
}

/// Its trees know fewer features, and its words are searched by two lengths; what the program of its time said.
#[test]
fn a_model_of_version_3_answers_as_it_did() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models/v3-hybrid.safetensors");
    let model = Model::open(path).expect("readable");
    let recommender = Recommender::new(&model);
    let ask = |question: Question| {
        let answer = recommender.ask(&question.top(3)).expect("an answer");
        answer.hits.into_iter().map(|hit| (hit.id, hit.score)).collect::<Vec<_>>()
    };
    let said = |hits: [(&str, f32); 3]| hits.map(|(id, score)| (id.to_owned(), score)).to_vec();
    let babax = "the theorem of Babax [[?]] for kobomir";
    assert_eq!(
        ask(Question::new("the principle of [[?]] shows")),
        said([("d000062", 0.2034949), ("d000016", 0.06267317), ("d000000", 0.05281526)])
    );
    assert_eq!(
        ask(Question::new(babax).rank(Ranking::Bm25Cited)),
        said([("d000000", 17.691708), ("d000002", 14.048803), ("d000058", 11.424958)])
    );
    assert_eq!(
        ask(Question::new(babax).source("d000030")),
        said([("d000000", 0.15987378), ("d000002", 0.056056965), ("d000017", 0.05462354)])
    );
}

/// Its trees know nothing of authors, and its index has only words of texts; what the program of its time said.
#[test]
fn a_model_of_version_5_answers_as_it_did() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/models/v5-hybrid.safetensors");
    let model = Model::open(path).expect("readable");
    let recommender = Recommender::new(&model);
    let ask = |question: Question| {
        let answer = recommender.ask(&question.top(3)).expect("an answer");
        answer.hits.into_iter().map(|hit| (hit.id, hit.score)).collect::<Vec<_>>()
    };
    let said = |hits: [(&str, f32); 3]| hits.map(|(id, score)| (id.to_owned(), score)).to_vec();
    let text = "We extend the principle of [[?]] for fikaler";
    assert_eq!(
        ask(Question::new(text)),
        said([("d000010", 0.691808), ("d000051", 0.07541639), ("d000037", 0.046032414)])
    );
    assert_eq!(
        ask(Question::new(text).source("d000030")),
        said([("d000010", 0.79894775), ("d000051", 0.0991061), ("d000003", 0.085095465)])
    );
}

#[test]
fn nearest_rows_are_those_of_the_largest_cosine() {
    let (_dir, model) = model(1, Method::HyperDoc);
    let hits = nearest(model.vectors(Vectors::DocOut), 0, 5);
    assert_eq!(hits.iter().map(|hit| hit.row).collect::<Vec<_>>(), [2, 1]);
    close(&hits.iter().map(|hit| hit.score).collect::<Vec<_>>(), &[0.5f32.sqrt(), 0.0]);
    let hits = nearest(model.vectors(Vectors::WordIn), 0, 5);
    assert_eq!(hits.iter().map(|hit| hit.row).collect::<Vec<_>>(), [2, 1, 3], "length does not count");
    // No IN vector was learnt: all are as near.
    assert_eq!(nearest(model.vectors(Vectors::DocIn), 1, 1)[0].score, 0.0);
}

#[test]
fn methods_without_targets_say_so() {
    let (_dir, model) = model(1, Method::PvDbow);
    let searcher = Searcher::new(&model);
    let query = searcher.query("soup").expect("read");
    let error = searcher.embedding_scores(&query, None).expect_err("no OUT vectors").to_string();
    assert!(error.contains("pv-dbow") && error.contains("bm25"), "{error}");
    assert!(searcher.bm25_scores(&query, Field::Text).expect("asked").is_some());
}
