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
    let methods = "popular,bm25,bm25-cited,bm25-passage,w2v,w2v-i4i,skip-gram,d2v-nc-5,d2v-cac,d2v-cac-dm,npm,npm-prior,\
                   h-d2v-random,h-d2v-paper-source,joint-paper,reference,joint,h-d2v-i4i,h-d2v,h-d2v-in-out,h-d2v-source,pv-dbow,hybrid,hybrid-source";
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
    assert!(recall("bm25-passage") > recall("bm25"), "and in passages");
    assert!(recall("bm25") > recall("popular") && recall("h-d2v") > recall("popular"));
    assert!(recall("hybrid") > recall("popular") && recall("hybrid-source") > recall("popular"));
    for method in found {
        let told: u64 = method["by_links"]
            .as_array()
            .expect("parts")
            .iter()
            .map(|part| part["positions"].as_u64().expect("a number"))
            .sum();
        assert!(told >= positions, "every position has a target with some number of links to it");
        assert_eq!(method["by_links"][0]["recall@10"], method["newcomers"]["recall@10"], "no link: a newcomer");
        assert_eq!(method["by_links"][0]["positions"], report["split"]["newcomer_positions"]);
        let labels = method["by_label"].as_array().expect("parts");
        assert!(labels.iter().any(|part| part["name"].as_str().is_some_and(|name| name.starts_with("topic:"))));
    }
    // A method's figures do not depend on which others are asked, though some begin with the same training.
    let alone = place.json(&format!("evaluate links c --until 2017 --methods npm,h-d2v-paper-source {QUICK} --json"));
    let places = ["npm", "h-d2v-paper-source"].map(|name| methods.split(',').position(|other| other == name));
    for (number, place) in places.into_iter().enumerate() {
        let place = place.expect("its place");
        assert_eq!(timeless(&alone)["methods"][number], timeless(&report)["methods"][place]);
    }
    let pairs = report["comparisons"].as_array().expect("pairs");
    assert_eq!(pairs.len(), 24 * 23 / 2);
    assert!(pairs.iter().all(|pair| pair["newcomers"]["p"].as_f64().is_some_and(|p| (0.0..=1.0).contains(&p))));
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
    let methods = "bm25,h-d2v --epochs 40 --dim 16 --content-epochs 1";
    let report = place.json(&format!("evaluate links c --holdout 0.3 --methods {methods} --json"));
    let recall = |report: &Value| report["methods"][0]["recall@10"].as_f64().expect("a number");
    // Vectors are asked with the same words.
    let learnt = |report: &Value| report["methods"][1]["recall@10"].as_f64().expect("a number");
    assert!(learnt(&report) > 0.8, "{}", learnt(&report));
    assert!(learnt(&report["anchors_dropped"]) < 0.7, "{}", learnt(&report["anchors_dropped"]));
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
        ("c --methods ,", "--methods names no method"),
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

#[test]
fn classes_are_told_from_vectors_and_threads_change_nothing() {
    let place = Place::new();
    place.ok("generate --docs 120 --links 700 -o c");
    let ask = |threads| {
        place.json(&format!(
            "evaluate classes c --label-prefix topic: --methods deepwalk,d2v-nc,h-d2v --dim 16 --text-epochs 1 --c 10 \
             --threads {threads} --json"
        ))
    };
    let report = ask(2);
    assert!(report == ask(1));
    for part in ["all", "linked"] {
        let sets = report[part]["features"].as_array().expect("features");
        let names: Vec<&str> = sets.iter().filter_map(|set| set["features"].as_str()).collect();
        let expected = [
            "deepwalk IN",
            "d2v-nc IN",
            "d2v-nc IN + deepwalk",
            "h-d2v IN",
            "h-d2v IN + deepwalk",
            "h-d2v OUT",
            "h-d2v OUT + deepwalk",
            "h-d2v IN+OUT",
            "h-d2v IN+OUT + deepwalk",
        ];
        assert_eq!(names, expected);
        let micro = |name: &str| {
            let set = sets.iter().find(|set| set["features"] == name).expect("the features");
            let [low, high] = [0, 1].map(|end| set["interval"]["micro_f1"][end].as_f64().expect("an end"));
            let value = set["micro_f1"].as_f64().expect("a number");
            assert!(low <= value && value <= high && set["macro_f1"].as_f64().is_some_and(|f1| f1 <= 1.0));
            value
        };
        assert!(micro("h-d2v IN") > 0.6, "{part}: {}; a third would be chance", micro("h-d2v IN"));
        assert_eq!(sets.iter().filter(|set| set.get("compared").is_none()).count(), 1, "the best");
    }
    assert!(report["linked"]["documents"].as_u64() < report["all"]["documents"].as_u64());
    let outcome = place.ok(&format!("evaluate classes c --label-prefix kind: --methods d2v-nc {QUICK}"));
    assert!(outcome.out.contains("macro F1") && outcome.out.contains("d2v-nc IN"), "{}", outcome.out);
}

#[test]
fn labels_may_come_from_a_file_and_bad_ones_are_told() {
    let place = place();
    let line = |doc: usize| format!("d{doc:06}\t{}\n", if doc.is_multiple_of(2) { "even" } else { "odd" });
    place.write("labels.tsv", (0..40).map(line).collect::<String>() + "nobody\teven\n");
    let report =
        place.json(&format!("evaluate classes c --labels labels.tsv --methods d2v-nc {QUICK} --folds 2 --json"));
    assert_eq!((&report["all"]["documents"], &report["unknown_ids"]), (&40.into(), &1.into()));
    place.write("one.tsv", "d000001\tx\nd000002\tx\n");
    place.write("few.tsv", "d000001\tx\nd000002\tx\nd000003\ty\n");
    place.write("none.tsv", "nobody\tx\n");
    place.write("bad.tsv", "d000001\tx\nwhat is this\n");
    for (arguments, code, expected) in [
        ("c --labels one.tsv", 2, "two classes or more, and there is only \"x\""),
        ("c --labels few.tsv --folds 2", 2, "class \"y\" has 1 of the 2 members that 2 folds need"),
        ("c --labels none.tsv", 1, "none of its 1 ids is a document of the corpus"),
        ("c --labels bad.tsv", 1, "bad.tsv:2: expected an id, a tab and a label"),
        ("c --label-prefix colour:", 1, "no label begins with \"colour:\""),
        ("c --label-prefix kind: --methods nonsense", 2, "expected a method"),
        ("c --label-prefix kind: --c 0", 2, "above 0"),
    ] {
        let outcome = place.run(&format!("evaluate classes {arguments}"));
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(code), ""), "{arguments}: {}", outcome.err);
        assert!(outcome.err.contains(expected), "{arguments}: {}", outcome.err);
    }
}

/// Contexts in the words that the generated corpus has for two of its intents.
fn contexts() -> String {
    let uses = ["we use the tool of [[TARGET]]", "implemented with [[TARGET]]", "we run the software [[TARGET]]"];
    let rivals = ["in contrast to [[TARGET]]", "outperforms [[TARGET]]", "we disagree with [[TARGET]]"];
    let line = |text: &str, label: &str| serde_json::json!({"context": text, "label": label}).to_string() + "\n";
    (0..5)
        .flat_map(|_| uses.map(|text| line(text, "use")).into_iter().chain(rivals.map(|text| line(text, "rival"))))
        .collect()
}

#[test]
fn intents_are_told_from_the_words_around_links() {
    let place = place();
    place.write("intents.jsonl", contexts() + "{\"context\": \"zzz [[TARGET]]\", \"label\": \"use\"}\n");
    place.ok("train c -o m --dim 16 --no-hybrid");
    let report = place.json("evaluate intents m intents.jsonl --folds 5 --gamma 5 --json");
    assert_eq!((&report["contexts"], &report["without_known_words"]), (&30.into(), &1.into()));
    assert!(report["micro_f1"].as_f64().is_some_and(|f1| f1 > 0.9), "{report}");
    assert_eq!(report["classes"][1]["name"], "use");
    let outcome = place.ok("evaluate intents m intents.jsonl --folds 5");
    assert!(outcome.out.starts_with("function") && outcome.out.contains("macro"), "{}", outcome.out);
    // Labels of the paper's scheme fall into groups.
    place.write("scheme.jsonl", contexts().replace("\"use\"", "\"PUse\"").replace("\"rival\"", "\"CoCo-\""));
    let report = place.json("evaluate intents m scheme.jsonl --folds 5 --gamma 5 --json");
    assert_eq!(report["groups"]["classes"][0]["name"], "contrast");
    assert_eq!(report["groups"]["macro_f1"], report["macro_f1"], "one class each");
    // The same labels tell how well links of each function are found.
    let report = place.json(&format!("evaluate links c --methods bm25 {QUICK} --intents intents.jsonl --json"));
    let parts = report["methods"][0]["by_function"].as_array().expect("functions");
    assert_eq!(parts.len(), 2);
    let positions: u64 = parts.iter().filter_map(|part| part["positions"].as_u64()).sum();
    assert_eq!(report["split"]["positions"], positions);

    place.write(
        "unknown.jsonl",
        "{\"context\": \"zzz\", \"label\": \"a\"}\n{\"context\": \"zzzz\", \"label\": \"b\"}\n",
    );
    place.write("one.jsonl", contexts().lines().filter(|line| line.contains("\"use\"")).collect::<Vec<_>>().join("\n"));
    place.write("empty.jsonl", "\n");
    place.write("bad.jsonl", "{\"context\": \"the\"}\n");
    for (arguments, code, expected) in [
        ("one.jsonl", 2, "there is only \"use\"; label more contexts"),
        ("unknown.jsonl", 1, "the model knows no word of these contexts"),
        ("empty.jsonl", 1, "no labelled contexts found"),
        ("bad.jsonl", 1, "bad.jsonl:1: expected an object with \"context\" and \"label\", found no \"label\""),
        ("intents.jsonl --folds 16", 2, "class \"rival\" has 15 of the 16 members"),
        ("intents.jsonl --field fine", 1, "found no \"fine\""),
    ] {
        let outcome = place.run(&format!("evaluate intents m {arguments}"));
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(code), ""), "{arguments}: {}", outcome.err);
        assert!(outcome.err.contains(expected), "{arguments}: {}", outcome.err);
    }
}

#[test]
fn intents_of_too_few_contexts_and_models_without_words_are_told() {
    let place = place();
    place.write("few.jsonl", contexts() + "{\"context\": \"we use [[TARGET]]\", \"label\": \"praise\"}\n");
    place.ok("train c -o m --dim 16 --no-hybrid --epochs 2 --content-epochs 1");
    let outcome = place.run("evaluate intents m few.jsonl --folds 5");
    assert_eq!(outcome.code, Some(2), "{}", outcome.err);
    assert!(
        outcome.err.contains("class \"praise\" has 1 of the 5 members")
            && outcome.err.contains("leave out classes of fewer than 5 members")
    );
    let outcome = place.ok("evaluate intents m few.jsonl --folds 5 --min-class 5 --json");
    assert!(outcome.err.contains("few.jsonl: \"praise\" is left out: only 1 context"), "{}", outcome.err);
    let report: Value = serde_json::from_str(&outcome.out).expect("JSON");
    assert_eq!((&report["contexts"], &report["small_classes"][0][0]), (&30.into(), &"praise".into()));
    for method in ["deepwalk", "d2v-nc"] {
        place.ok(&format!("train c -o words.{method} --method {method} --epochs 1"));
        let message = place.refused(&format!("evaluate intents words.{method} few.jsonl"));
        assert!(message.contains("learns no IN vectors of words"), "{message}");
    }
}

#[test]
fn the_generated_corpus_gives_the_planted_verdicts() {
    let place = Place::new();
    let report = place.json("evaluate criteria --docs 200 --methods w2v,d2v-nc,deepwalk,h-d2v-paper --json");
    let verdicts = |name: &str| -> Vec<bool> {
        let method = report["methods"].as_array().and_then(|all| all.iter().find(|m| m["method"] == name));
        let criteria = method.and_then(|method| method["criteria"].as_array()).expect("criteria");
        criteria.iter().map(|criterion| criterion["verdict"].as_bool().expect("a verdict")).collect()
    };
    // Content, contexts, newcomers, intents.
    assert_eq!(verdicts("w2v")[..3], [false, true, false], "{report:#}");
    assert_eq!(verdicts("d2v-nc"), [true, false, true, false], "{report:#}");
    assert_eq!(verdicts("deepwalk")[..2], [false, false], "{report:#}");
    assert_eq!(verdicts("h-d2v-paper"), [true; 4], "{report:#}");
    assert_eq!(place.entries(), Vec::<String>::new());
}

/// A report without times.
fn figures(place: &Place, folder: &str) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.retain(|name, _| !name.ends_with("seconds") && name != "command");
                map.values_mut().for_each(strip);
            }
            Value::Array(all) => all.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let text = fs::read_to_string(place.path(folder).join("report.json")).expect("a report");
    let mut report = serde_json::from_str(&text).expect("JSON");
    strip(&mut report);
    report
}

/// A quick report on `c` into `folder`.
fn reproduce(folder: &str) -> String {
    format!(
        "reproduce c -o {folder} --until 2017 --methods popular,bm25,w2v,h-d2v --class-methods w2v,d2v-nc \
         --label-prefix topic: --intents intents.jsonl --criteria-docs 0 --dims 8,16 {QUICK}"
    )
}

#[test]
fn a_report_that_was_stopped_goes_on_to_the_same_figures() {
    let place = place();
    place.write("intents.jsonl", contexts());
    let command = reproduce("report");
    place.ok(&command);
    let whole = figures(&place, "report");
    let html = fs::read_to_string(place.path("report/report.html")).expect("a page");
    // Every table and figure of the paper, by its number; its Figures 1 and 2 are drawings.
    let numbered = ["Table 1", "Table 2", "Table 3", "Table 4", "Table 5", "Table 6", "Table 7", "Table 8", "Table 9"];
    for number in numbered.into_iter().chain(["Figure 3", "Figure 4", "Figure 5"]) {
        let id = number.to_lowercase().replace(' ', "-");
        assert!(html.contains(&format!("<section id=\"{id}\"><h2>{number}: ")), "{number}");
        assert!(html.contains(&format!("<a href=\"#{id}\">{number}</a>")), "{number}");
    }
    let others =
        ["The order of the paper's table", "A map", "number of hits", "Where links belong", "How this was made"];
    for part in others {
        assert!(html.contains(part), "{part}");
    }
    assert!(html.matches("<svg").count() >= 5 && !html.contains("http") && !html.contains("NaN"), "self-contained");
    assert!(html.contains("hd2v evaluate classes c --label-prefix topic: --min-class 20"), "the commands");
    // What an interrupted run would not have.
    for cell in ["links-w2v.json", "classes.json", "intents-1.json"] {
        fs::remove_file(place.path("report/cells").join(cell)).expect("a cell");
    }
    fs::remove_file(place.path("report/report.json")).expect("a report");
    let outcome = place.ok(&command);
    assert!(outcome.err.contains("[5/8] map: already done"), "{}", outcome.err);
    assert!(outcome.err.contains("[1/1] w2v: done"), "{}", outcome.err);
    assert!(figures(&place, "report") == whole);
    assert!(place.path("report/runs/qrels").is_file() && place.path("report/runs/h-d2v.run").is_file());
    let message = place.refused(&format!("{command} --every 2"));
    assert!(
        message.contains("started with different settings") && message.contains("every was 1, is now 2"),
        "{message}"
    );
    // What decides one part alone is done again alone.
    place.write("labels.tsv", (0..80).map(|doc| format!("d{doc:06}\t{}\n", doc % 2)).collect::<String>());
    let labelled = command.replace("--label-prefix topic:", "--labels labels.tsv");
    let outcome = place.ok(&labelled);
    assert!(outcome.err.contains("classes: done before with other settings"), "{}", outcome.err);
    assert!(outcome.err.contains("intents-1: already done\n"), "{}", outcome.err);
    assert_eq!(figures(&place, "report")["classes"]["value"]["all"]["documents"], 80);
    place.write("labels.tsv", (0..60).map(|doc| format!("d{doc:06}\t{}\n", doc % 2)).collect::<String>());
    place.ok(&labelled);
    assert_eq!(figures(&place, "report")["classes"]["value"]["all"]["documents"], 60, "the file has changed");
}

#[test]
fn what_a_report_cannot_do_is_told_before_it_begins() {
    let place = place();
    place.write("intents.jsonl", contexts());
    place.write("few.jsonl", contexts().lines().take(2).collect::<Vec<_>>().join("\n"));
    place.write("bad.tsv", "what is this\n");
    let command = format!("reproduce c -o report --methods popular --criteria-docs 0 {QUICK}");
    for (arguments, code, expected) in [
        ("--dims 16,x", 2, "expected numbers of dimensions from 1 to 4096"),
        ("--dim-methods nonsense", 2, "--dim-methods: expected methods"),
        ("--gamma none", 2, "expected auto, scale or a number above 0"),
        ("--class-methods nonsense", 2, "--class-methods: expected a method"),
        ("--criteria-docs 5", 2, "expected a number from 100 to 100000"),
        ("--labels missing.tsv", 1, "missing.tsv"),
        ("--labels bad.tsv", 1, "bad.tsv:1: expected an id, a tab and a label"),
        ("--label-prefix colour:", 1, "no label begins with \"colour:\""),
        ("--intents few.jsonl", 2, "few.jsonl: classification needs two classes or more, and there is none"),
        ("--intent-c 1", 2, "--intents"),
        ("--intents intents.jsonl --intent-c 0", 2, "expected a number above 0"),
        ("--example nobody", 2, "the corpus has no document \"nobody\""),
    ] {
        let command = if arguments.starts_with("--criteria") {
            command.replace("--criteria-docs 0", "")
        } else {
            command.clone()
        };
        let outcome = place.run(&format!("{command} {arguments}"));
        assert_eq!(outcome.code, Some(code), "{arguments}: {}", outcome.err);
        assert!(outcome.err.contains(expected), "{arguments}: {}", outcome.err);
        assert!(!place.path("report").exists(), "{arguments}");
    }
    // Every document has two labels, so none has one class; nobody asked for classes by name.
    let outcome = place.ok(&format!("{command} --example d000000 --no-runs"));
    assert!(
        outcome.err.contains("classes: left out: ") && outcome.err.contains("choose among the labels by a prefix"),
        "{}",
        outcome.err
    );
    let html = fs::read_to_string(place.path("report/report.html")).expect("a page");
    assert!(html.contains("Table 9: an example") && !html.contains("BLEU and Moses"), "the example is another");
    let mut parts: Vec<String> = fs::read_dir(place.path("report"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    parts.sort();
    assert_eq!(parts, [".lock", "cells", "report.html", "report.json", "runs", "settings.json"]);
    assert_eq!(place.files("report/runs").len(), 1, "qrels alone");
}

#[cfg(unix)]
#[test]
fn a_path_that_is_no_text_is_a_path() {
    use std::os::unix::ffi::OsStrExt;
    let place = place();
    let name = std::ffi::OsStr::from_bytes(b"c\xff");
    fs::rename(place.path("c"), place.path(name)).expect("renamed");
    let run = |arguments: &[&str]| {
        let mut command = assert_cmd::Command::new(crate::helper::HD2V);
        command.current_dir(place.path(".")).args(&arguments[..arguments.len().min(2)]).arg(name);
        command
            .args(["--methods", "popular", "--dim", "16"])
            .args(arguments.get(2..).unwrap_or_default())
            .output()
            .expect("it runs")
    };
    let output = run(&["evaluate", "links", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut command = assert_cmd::Command::new(crate::helper::HD2V);
    command.current_dir(place.path(".")).arg("reproduce").arg(name);
    command.args(["-o", "report", "--methods", "popular", "--class-methods", "pv-dbow", "--criteria-docs", "0"]);
    let output = command.args(QUICK.split(' ')).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_report_whose_run_was_killed_goes_on_to_what_an_uninterrupted_one_has() {
    let place = place();
    place.write("intents.jsonl", contexts());
    place.ok(&reproduce("whole"));
    let cells = || fs::read_dir(place.path("killed/cells")).map_or(0, |cells| cells.flatten().count());
    // Killed again and again, each time when it has done one part more.
    for wanted in [1, 3, 6] {
        let mut child = place.start(&reproduce("killed"));
        let started = std::time::Instant::now();
        while cells() < wanted && child.try_wait().expect("a child").is_none() {
            assert!(started.elapsed().as_secs() < 120, "only {} parts are done", cells());
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        child.kill().expect("killed");
        child.wait().expect("it ended");
    }
    let outcome = place.ok(&reproduce("killed"));
    assert!(outcome.err.contains("already done"), "{}", outcome.err);
    let mut whole = figures(&place, "whole");
    let killed = figures(&place, "killed");
    whole["commands"] = killed["commands"].clone();
    for (name, part) in whole.as_object().expect("an object") {
        assert!(*part == killed[name], "{name}: {part}\n{}", killed[name]);
    }
    assert!(place.files("whole/runs") == place.files("killed/runs"), "the run files, and no leftovers");
    assert!(!place.path("killed/tmp").exists(), "models of killed runs are gone");
}

#[test]
fn figures_of_the_paper_stand_beside_those_of_any_data_set() {
    let place = place();
    let command = format!(
        "reproduce c -o report --methods w2v,popular --criteria-docs 0 --class-methods d2v-nc --dims 8,16 {QUICK}"
    );
    place.ok(&command);
    let page = || fs::read_to_string(place.path("report/report.html")).expect("a page");
    let shown = |set: &str, figure: &str| {
        assert!(page().contains(&format!("those of its {set} set")) && page().contains("Not the same data"), "{set}");
        assert!(page().contains(&format!("<td class=\"paper\">{figure}</td>")), "{set}: {figure}");
    };
    shown("ACL", "15.68");
    // They decide no figure, so the same folder will do.
    place.ok(&format!("{command} --beside nips"));
    shown("NIPS", "12.92");
    place.ok(&format!("{command} --beside dblp"));
    shown("DBLP", "13.26");
    assert!(page().contains("26.63 (w2v in the paper)") && page().contains("30.37 (h-d2v-paper in the paper)"));
    let outcome = place.run(&format!("{command} --beside cora"));
    assert!(outcome.code == Some(2) && outcome.err.contains("nips, acl, dblp"), "{}", outcome.err);
}

#[test]
fn recall_is_reported_against_dimensions() {
    let place = place();
    let command = format!("evaluate links c --until 2017 --methods popular,w2v,h-d2v --dims 24,8,16,8 {QUICK}");
    let report = place.json(&format!("{command} --json"));
    let found = report["dimensions"].as_array().expect("dimensions");
    let of = |key: &str| found.iter().map(|one| one[key].clone()).collect::<Vec<Value>>();
    assert_eq!(of("dim"), [8, 16, 24]);
    for one in found {
        let methods = one["methods"].as_array().expect("methods");
        let names: Vec<&str> = methods.iter().filter_map(|method| method["method"].as_str()).collect();
        assert_eq!(names, ["w2v", "h-d2v"], "links are counted without dimensions");
    }
    // 16 dimensions are those of the tables.
    assert_eq!(found[1]["methods"][1]["recall@10"], report["methods"][2]["recall@10"]);
    assert_ne!(found[0]["methods"][1]["recall@10"], found[1]["methods"][1]["recall@10"]);
    let table = place.ok(&command).out;
    let line = table.lines().skip_while(|line| *line != "recall@10 by number of dimensions").nth(1);
    assert_eq!(line.map(|line| line.split_whitespace().collect::<Vec<_>>()), Some(vec!["method", "8", "16", "24"]));
    for wrong in ["0", "100,", "many", "5000"] {
        let outcome = place.run(&format!("evaluate links c --dims {wrong}"));
        assert!(outcome.code == Some(2) && outcome.err.contains("numbers of dimensions"), "{wrong}: {}", outcome.err);
    }
}

#[test]
fn functions_and_classes_are_shown_for_both_gammas_and_the_costs() {
    let place = place();
    place.write("intents.jsonl", contexts());
    let command = reproduce("report");
    let outcome = place.ok(&command);
    assert!(outcome.err.contains(" in all, by the counts of the corpus: links "), "{}", outcome.err);
    let report = figures(&place, "report");
    let settings =
        |method: usize| report["intents"][0]["value"]["methods"][method]["settings"].as_array().expect("all");
    let names: Vec<&Value> =
        report["intents"][0]["value"]["methods"].as_array().expect("all").iter().map(|one| &one["method"]).collect();
    assert!(names.contains(&&"w2v".into()) && names.contains(&&"h-d2v-paper".into()), "{names:?}");
    let told: Vec<(&Value, &Value)> = settings(0).iter().map(|one| (&one["gamma"], &one["chosen"])).collect();
    let [auto, scale] = ["auto", "scale"].map(Value::from);
    let [given, chosen] = [false, true].map(Value::from);
    assert_eq!(told, [(&auto, &given), (&auto, &chosen), (&scale, &given), (&scale, &chosen)]);
    assert_eq!((&settings(0)[0]["c"], &report["classes"]["value"]["gamma"]), (&1.0.into(), &auto));
    assert_eq!(report["classes"]["value"]["others"][0]["gamma"], scale);
    place.ok(&format!("{command} --gamma scale --c 10"));
    let again = figures(&place, "report");
    assert_eq!(again["classes"]["value"]["gamma"], scale);
    assert_eq!(again["intents"][0]["value"]["methods"][0]["settings"].as_array().map(Vec::len), Some(2));
    assert_eq!(again["intents"][0]["value"]["methods"][0]["settings"][0]["c"], 10.0);
}

#[test]
fn what_is_something_else_is_not_replaced() {
    let place = place();
    let kept = |name: &str| assert_eq!(fs::read_to_string(place.path(name)).expect("a file"), "thesis\n", "{name}");
    fs::create_dir_all(place.path("mine/.models")).expect("a directory");
    for file in ["mine/report.html", "mine/.models/thesis", "thesis"] {
        place.write(file, "thesis\n");
    }
    let message = place.refused(&format!("reproduce c -o mine --methods popular {QUICK}"));
    assert!(message.contains("mine: already exists and contains no report"), "{message}");
    let message = place.refused("train c -o m --log thesis");
    assert!(message.contains("thesis: already exists and is not a training log"), "{message}");
    let message = place.refused(&format!("evaluate links c --methods popular {QUICK} --run thesis"));
    assert!(message.contains("thesis: already exists and is not a run file"), "{message}");
    ["mine/report.html", "mine/.models/thesis", "thesis"].iter().for_each(|name| kept(name));
    place.ok(&format!("evaluate links c --methods popular {QUICK} --runs runs"));
    place.ok(&format!("evaluate links c --methods popular {QUICK} --runs runs"));
    let message = place.refused(&format!("evaluate links c --methods popular {QUICK} --every 2 --runs runs"));
    assert!(message.contains("runs: contains run files of other questions"), "{message}");
}
