//! Evaluations as their users run them.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::helper::{Place, record};

/// A place with a generated corpus `c`.
fn place() -> Place {
    let place = Place::new();
    place.ok("generate --docs 300 --links 2000 -o c");
    place
}

const QUICK: &str = "--dim 16 --epochs 3 --content-epochs 1 --text-epochs 1 --reference-epochs 1 --reference-noise 20";

/// The methods of a report without what differs from run to run.
fn timeless(report: &Value) -> Value {
    let mut report = report.clone();
    for method in report["methods"].as_array_mut().expect("methods") {
        let method = method.as_object_mut().expect("an object");
        assert!(method.remove("train_seconds").is_some() && method.remove("query_seconds").is_some());
    }
    report
}

#[test]
fn links_are_asked_of_every_method_and_threads_change_nothing() {
    let place = place();
    let methods = "popular,bm25,bm25-cited,w2v,w2v-i4i,d2v-nc-5,d2v-cac,npm,h-d2v-random,h-d2v-paper-source,reference,\
                   joint,h-d2v,h-d2v-in-out,h-d2v-source";
    let ask = |threads| {
        place.json(&format!("evaluate links c --until 2017 --methods {methods} {QUICK} --json --threads {threads}"))
    };
    let report = ask(2);
    assert!(timeless(&report) == timeless(&ask(1)));
    let found = report["methods"].as_array().expect("methods");
    let names: Vec<&str> = found.iter().filter_map(|method| method["method"].as_str()).collect();
    assert_eq!(names.join(","), methods.replace(' ', ""));
    let positions = report["split"]["positions"].as_u64().expect("a number");
    assert!(positions > 50);
    let recall = |name: &str| {
        let method = found.iter().find(|method| method["method"] == name).expect("the method");
        assert_eq!(method["positions"], positions);
        for metric in ["recall@10", "map@10", "mrr@10", "ndcg@10"] {
            let value = method[metric].as_f64().expect("a number");
            let ends = [0, 1].map(|end| method["interval"][metric][end].as_f64().expect("an end"));
            assert!((0.0..=1.0).contains(&value) && ends[0] <= value && value <= ends[1], "{name} {metric}");
        }
        assert!(method["newcomers"]["positions"].as_u64().is_some_and(|newcomers| newcomers < positions));
        method["recall@10"].as_f64().expect("a number")
    };
    assert!(recall("bm25-cited") > recall("bm25"), "nicknames are said around links only");
    assert!(recall("bm25") > recall("popular") && recall("h-d2v") > recall("popular"));
    let pairs = report["comparisons"].as_array().expect("pairs");
    assert_eq!(pairs.len(), 15 * 14 / 2);
    assert!(pairs.iter().all(|pair| pair["p"].as_f64() <= pair["p_holm"].as_f64()));
}

#[test]
fn the_run_files_give_the_same_figures() {
    let place = place();
    let report =
        place.json(&format!("evaluate links c --methods bm25,h-d2v {QUICK} --profile trec --runs runs --json"));
    let read = |name: &str| fs::read_to_string(place.path("runs").join(name)).expect("a file");
    let mut truths: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in read("qrels").lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        truths.entry(fields[0].to_owned()).or_default().push(fields[2].to_owned());
    }
    assert_eq!(report["split"]["positions"], truths.len());
    for method in report["methods"].as_array().expect("methods") {
        let name = method["method"].as_str().expect("a name");
        let mut hits: BTreeMap<&str, Vec<(f32, &str)>> = BTreeMap::new();
        let run = read(&format!("{name}.run"));
        for line in run.lines() {
            let fields: Vec<&str> = line.split(' ').collect();
            hits.entry(fields[0]).or_default().push((fields[4].parse().expect("a score"), fields[2]));
        }
        let (mut recall, mut precision) = (0.0, 0.0);
        for (question, truths) in &truths {
            let mut hits = hits.get(question.as_str()).cloned().unwrap_or_default();
            hits.sort_by(|a, b| b.0.total_cmp(&a.0));
            let (mut found, mut sum) = (0.0, 0.0);
            for (place, (_, hit)) in hits.iter().take(10).enumerate() {
                if truths.iter().any(|truth| truth == hit) {
                    found += 1.0;
                    sum += found / (place + 1) as f64;
                }
            }
            recall += found / truths.len() as f64;
            precision += sum / truths.len() as f64;
        }
        let near =
            |value: &Value, sum: f64| (value.as_f64().expect("a number") - sum / truths.len() as f64).abs() < 1e-5;
        assert!(near(&method["recall@10"], recall) && near(&method["map@10"], precision), "{name}");
    }
    place.ok(&format!("evaluate links c --methods bm25 {QUICK} --sample 20 --run one.run"));
    assert_eq!(place.entries(), ["c", "one.run", "one.run.qrels", "runs"]);
    let asked: std::collections::BTreeSet<String> = fs::read_to_string(place.path("one.run.qrels"))
        .expect("a file")
        .lines()
        .map(|line| line.split(' ').next().unwrap_or_default().to_owned())
        .collect();
    assert!((10..=20).contains(&asked.len()), "{}", asked.len());
}

#[test]
fn anchors_are_asked_with_and_without_where_links_have_them() {
    let page = |id: usize, other: usize| {
        let filler: String = (0..20).map(|word| format!("filler{} ", word * (id + 3) % 7)).collect();
        record(&format!("p{id}"), &format!("{filler} [title{other}][[p{other}]] {filler} title{id}"))
    };
    let pages: String = (0..60).map(|id| page(id, (id * 7 + 1) % 20)).collect();
    let place = Place::with(&[("in", &pages)]);
    place.ok("import jsonl in -o c --min-count 1");
    let report = place.json(&format!("evaluate links c --holdout 0.3 --methods bm25 {QUICK} --json"));
    let recall = |report: &Value| report["methods"][0]["recall@10"].as_f64().expect("a number");
    assert_eq!(report["anchors"], "keep");
    assert!(recall(&report) > 0.9, "the anchor says it all: {}", recall(&report));
    assert!(recall(&report["anchors_dropped"]) < 0.7, "{}", recall(&report["anchors_dropped"]));
    let dropped = place.json(&format!("evaluate links c --holdout 0.3 --methods bm25 {QUICK} --anchors drop --json"));
    assert_eq!(recall(&dropped), recall(&report["anchors_dropped"]));
}

#[test]
fn links_that_cannot_be_asked_for_are_told() {
    let place = place();
    place.write("in", record("a", "some words [[b]] here") + &record("b", "other words here") + &record("c", "words"));
    place.ok("import jsonl in -o small --min-count 1");
    for (arguments, expected) in [
        ("small --until 2009", "have no dates"),
        ("c --until 1990", "no document is dated up to 1990"),
        ("c --until 2030", "there is no test document"),
        ("small --holdout 0", "there is no test document"),
    ] {
        let message = place.refused(&format!("evaluate links {arguments} --methods bm25"));
        assert!(message.contains(expected), "{arguments}: {message}");
    }
    for (arguments, expected) in [
        ("c --methods nonsense", "expected methods (popular, bm25"),
        ("c --methods deepwalk", "evaluate classes"),
        ("c --methods ,", "--methods names none"),
        ("c --holdout 1.5", "share of test documents is 1.5"),
        ("c --until 2009 --holdout 0.1", "cannot be used with"),
        ("c --reference-epochs 0", "--reference-epochs is 0"),
        ("c --dim 0", "dim is 0"),
        ("c --every 0", "--every"),
    ] {
        let outcome = place.run(&format!("evaluate links {arguments}"));
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""), "{arguments}: {}", outcome.err);
        assert!(outcome.err.contains(expected), "{arguments}: {}", outcome.err);
    }
}

#[test]
fn the_table_for_people_names_every_method_and_what_was_asked() {
    let place = place();
    let outcome = place.ok(&format!("evaluate links c --methods popular,bm25,bm25-cited {QUICK} --every 3"));
    assert!(outcome.out.contains("recall@10") && outcome.out.contains("bm25-cited against "), "{}", outcome.out);
    assert!(outcome.out.lines().any(|line| line.starts_with("popular  ")), "{}", outcome.out);
    assert!(outcome.err.contains("[3/3] "), "{}", outcome.err);
}
