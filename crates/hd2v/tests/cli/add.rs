//! Documents added to a model.

use serde_json::{Value, json};

use crate::helper::Place;

fn lines(documents: &[Value]) -> String {
    documents.iter().map(|document| format!("{document}\n")).collect()
}

/// Papers on fish and on bread with links among them, and three more to come: one of them is there already, one brings
/// a word that nobody had.
fn place() -> Place {
    let mut old = vec![];
    for i in 0..80 {
        let (words, target) = match i % 2 {
            0 => ("salt water fish net boat", i * 3 % 80),
            _ => ("flour oven bread crust yeast", (i * 5 + 2) % 80),
        };
        let label = ["fish", "bread"][i % 2];
        let text = format!("{words} of kind{} as [[d{target}]] has it {words} number{i}", i % 7);
        old.push(json!({"id": format!("d{i}"), "text": text, "labels": [label], "date": "2001"}));
    }
    let new = [
        json!({"id": "d3", "text": "not looked at"}),
        json!({"id": "sourdough", "title": "Sour", "url": "http://x/s", "date": "2020", "labels": ["bread", "new"],
               "text": "flour oven yeast quetzalcoatl crust, unlike the seaworthy [[d4]] and [[trout]]"}),
        json!({"id": "trout", "text": "water fish net ; see the levain bakers [loaf][[sourdough]]"}),
    ];
    let place = Place::with(&[("old.jsonl", &lines(&old)), ("new.jsonl", &lines(&new))]);
    place.ok("import jsonl old.jsonl --min-count 1 -o old");
    place.ok("import jsonl new.jsonl --min-count 1 -o new");
    place.ok("train old -o m --dim 4 --epochs 20 --content-epochs 60");
    place
}

fn ids(out: &Value) -> Vec<&str> {
    out["hits"].as_array().expect("hits").iter().map(|hit| hit["id"].as_str().expect("an id")).collect()
}

fn export(place: &Place, model: &str, what: &str) -> Vec<f32> {
    let name = format!("{model}.{what}.npy");
    place.ok(&format!("export {model} --what {what} --format npy -o {name}"));
    let bytes = std::fs::read(place.path(name)).expect("written");
    let head = 10 + u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    bytes[head..].as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect()
}

#[test]
fn what_was_trained_stays_bit_for_bit() {
    let place = place();
    let err = place.ok("add m new -o m2 --threads 1").err;
    assert!(
        err.starts_with("skipped 1 document already in the model\nm2: 2 documents added to 80, with 3 links"),
        "{err}"
    );
    place.ok("add m new -o m3 --threads 3");
    let read = |name: &str| std::fs::read(place.path(name)).expect("a model");
    assert!(read("m2") == read("m3"), "any number of threads");
    for what in ["word-in", "word-out"] {
        assert!(export(&place, "m", what) == export(&place, "m2", what), "{what}");
    }
    let mut doc_in = vec![];
    for what in ["doc-out", "doc-in"] {
        let (old, new) = (export(&place, "m", what), export(&place, "m2", what));
        assert_eq!((old.len(), new.len()), (80 * 4, 82 * 4));
        assert!(old == new[..old.len()], "{what}");
        assert!(new[old.len()..].iter().any(|&x| x != 0.0), "{what} of newcomers");
        doc_in = new;
    }
    // The vector of a newcomer is that of its text.
    place.ok("embed m new.jsonl -o e.npy");
    let embedded = std::fs::read(place.path("e.npy")).expect("written");
    let embedded: Vec<f32> = embedded[128..].as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect();
    assert_eq!(embedded[4..], doc_in[80 * 4..]);
    // Scores of old documents are what they were.
    let scores = |model: &str| {
        let out = place.json(&format!("recommend {model} --text yeast --rank embedding --top 99 --json"));
        let hits = out["hits"].as_array().expect("hits").clone();
        let mut scores: Vec<(String, String)> =
            hits.iter().map(|hit| (hit["id"].to_string(), hit["score"].to_string())).collect();
        scores.sort();
        scores
    };
    let (before, after) = (scores("m"), scores("m2"));
    assert!(before.iter().all(|hit| after.contains(hit)), "{before:?}\n{after:?}");
}

#[test]
fn a_newcomer_is_found_by_its_words_and_by_what_others_call_it() {
    let place = place();
    place.ok("add m new -o m2");
    let found = |rank: &str, text: &str| {
        let out = place.run_with(&format!("recommend m2 - --rank {rank} --json --top 5"), text.as_bytes());
        serde_json::from_str::<Value>(&out.succeeded(text).out).expect("JSON")
    };
    let out = found("bm25", "quetzalcoatl flour [[?]]");
    let hit = &out["hits"][0];
    assert_eq!((&hit["id"], &hit["title"], &hit["url"]), (&json!("sourdough"), &json!("Sour"), &json!("http://x/s")));
    assert_eq!((&hit["links"], &hit["date"]), (&json!(1), &json!("2020")));
    assert_eq!(out["query"]["unknown"], json!([]));
    // The word stands beside links of its own, too.
    assert!(ids(&found("bm25-cited", "quetzalcoatl flour [[?]]"))[..3].contains(&"sourdough"));
    // Words that stand beside a link to it alone: of a new document, and of an old one.
    assert_eq!(ids(&found("bm25-cited", "levain bakers [[?]]"))[0], "sourdough");
    assert!(!ids(&found("bm25", "levain bakers [[?]]")).contains(&"sourdough"));
    assert!(ids(&found("bm25-cited", "seaworthy [[?]]")).contains(&"d4"), "a link out of its corpus");
    // By vectors it stands among its kind.
    let out = place.json("recommend m2 --text flour --rank embedding --json --top 82");
    let order = ids(&out);
    let rank = |id: &str| order.iter().position(|found| *found == id).expect("ranked");
    assert!(rank("sourdough") < rank("trout"), "{order:?}");
    assert_eq!(ids(&place.json("similar m2 trout --json --top 5")).len(), 5);
    // Labels, old and new.
    assert_eq!(ids(&place.json("recommend m2 --text oven --only new --json")), ["sourdough"]);
}

#[test]
fn links_of_new_documents_explain_what_they_point_at() {
    let place = place();
    place.ok("add m new -o m2");
    let contexts = |text: &str, only: &str| {
        let arguments = format!("recommend m2 - --json --explain --rank bm25-cited --only {only}");
        let out = place.run_with(&arguments, text.as_bytes()).succeeded(text);
        let out: Value = serde_json::from_str(&out.out).expect("JSON");
        out["hits"][0]["contexts"].clone()
    };
    // One newcomer of another, with the link's own words; and of an old document.
    let told = &contexts("levain bakers [[?]]", "sourdough")[0];
    assert_eq!(
        (&told["source"], told["text"].as_str()),
        (&json!("trout"), Some("water fish net ; see the levain bakers loaf [this]"))
    );
    let told = &contexts("seaworthy [[?]]", "d4")[0];
    assert_eq!((&told["source"], &told["title"]), (&json!("sourdough"), &json!("Sour")));
    assert!(
        told["text"].as_str().is_some_and(|text| text.ends_with("crust, unlike the seaworthy [this] and")),
        "{told}"
    );
    // They stay when more is added.
    place.write("more.jsonl", json!({"id": "last", "text": "levain again [[sourdough]]"}).to_string());
    place.ok("import jsonl more.jsonl --min-count 1 -o more");
    place.ok("add m2 more -o m3");
    let out = place.json("recommend m3 --text levain --rank bm25-cited --only sourdough --explain --json");
    let sources: Vec<&str> =
        out["hits"][0]["contexts"].as_array().expect("contexts").iter().filter_map(|c| c["source"].as_str()).collect();
    assert_eq!(sources, ["trout", "last"]);
}

#[test]
fn the_learnt_ranking_finds_a_document_that_was_added() {
    let place = Place::new();
    place.ok("generate --docs 400 --links 3000 --seed 3 -o old");
    place.ok("train old -o m --dim 16 --epochs 2 --content-epochs 2");
    place.write(
        "new.jsonl",
        json!({"id": "new", "text": "zymurgy quetzalcoatl xyzzy and the plugh of [[d000004]]"}).to_string(),
    );
    place.ok("import jsonl new.jsonl --min-count 1 -o new");
    place.ok("add m new -o m2");
    let out = place
        .run_with("recommend m2 - --json --explain", b"as the zymurgy of quetzalcoatl [[?]] has it")
        .succeeded("asked");
    let out: Value = serde_json::from_str(&out.out).expect("JSON");
    assert_eq!((&out["ranking"], ids(&out)[0]), (&json!("hybrid"), "new"));
}

#[test]
fn additions_are_told_and_can_follow_each_other() {
    let place = place();
    place.ok("add m new -o m2");
    let info = place.json("info m2 --json");
    let additions = &info["provenance"]["additions"];
    assert_eq!((&info["documents"], &info["trained"], &additions[0]["documents"]), (&json!(82), &json!(80), &json!(2)));
    assert_eq!(
        (&additions[0]["skipped"], additions[0]["fingerprint"].as_str()),
        (&json!(1), Some(&*place.fingerprint("new")))
    );
    place.write("more.jsonl", json!({"id": "last", "text": "bread [[trout]] zymurgy"}).to_string());
    place.ok("import jsonl more.jsonl --min-count 1 -o more");
    place.ok("add m2 more -o m3");
    let info = place.json("info m3 --json");
    assert_eq!((&info["documents"], &info["trained"]), (&json!(83), &json!(80)));
    assert_eq!(info["provenance"]["additions"].as_array().map(Vec::len), Some(2));
    assert_eq!(ids(&place.json("recommend m3 --text zymurgy --rank bm25 --json")), ["last"]);
}

#[test]
fn what_cannot_be_added_is_said_clearly() {
    let place = place();
    assert!(place.refused("add m old -o x").contains("all its 80 documents are in the model already"));
    place.ok("import jsonl new.jsonl --keep-case -o cased");
    assert!(place.refused("add m cased -o x").contains("upper and lower case are kept apart"));
    assert!(place.refused("add m new -o m").contains("already exists"));
    assert!(place.refused("add new m -o x").contains("new"));
    place.ok("add m new -o m --force");
    assert_eq!(place.json("info m --json")["documents"], 82);
}
