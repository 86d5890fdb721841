//! Models as they are used: recommend, similar, export.

use hyperdoc2vec::model::VERSION;
use serde_json::{Value, json};

use crate::helper::Place;

/// Papers on parsing and on translation; two of each are often linked to, `p9` and `t9` never.
fn place() -> Place {
    let mut lines = String::new();
    for i in 0..30 {
        let (kind, words, target) = match i % 2 {
            0 => ("p", "grammar tree parser", ["p-chart", "p-shift"][i / 2 % 2]),
            _ => ("t", "phrase align bilingual", ["t-phrase", "t-align"][i / 2 % 2]),
        };
        let name = ["chart", "shift", "phrase", "align"][i / 2 % 2 + 2 * (i % 2)];
        let text = format!("{words} we use the {name} method [[{target}]] for {words} number{i}");
        let line = json!({"id": format!("{kind}{i}"), "text": text, "date": format!("{}", 2000 + i), "labels": [kind]});
        lines.push_str(&format!("{line}\n"));
    }
    for (id, text) in [("p-chart", "chart parser"), ("p-shift", "shift parser")] {
        let line = json!({"id": id, "title": "A\tparser", "text": text, "labels": ["p", "famous"], "date": "1990"});
        lines.push_str(&format!("{line}\n"));
    }
    for (id, text) in [("t-phrase", "phrase translation"), ("t-align", "word align"), ("t new", "quetzalcoatl align")] {
        lines.push_str(&format!("{}\n", json!({"id": id, "text": text, "labels": ["t"]})));
    }
    let place = Place::with(&[("in.jsonl", &lines)]);
    place.ok("import jsonl in.jsonl --min-count 2 -o c");
    place.ok("train c -o m --dim 8 --epochs 60 --content-epochs 2 --threads 1 --no-hybrid");
    place
}

fn ids(out: &Value) -> Vec<&str> {
    out["hits"].as_array().expect("hits").iter().map(|hit| hit["id"].as_str().expect("an id")).collect()
}

fn asked(place: &Place, arguments: &str, text: &str) -> Value {
    let outcome = place.run_with(&format!("recommend m - --json {arguments}"), text.as_bytes()).succeeded(arguments);
    serde_json::from_str(&outcome.out).expect("one JSON document")
}

#[test]
fn recommend_finds_what_is_linked_in_such_words() {
    let place = place();
    let out = asked(&place, "--top 2", "we use the chart method [[?]] for grammar");
    assert_eq!(ids(&out)[0], "p-chart");
    let hit = &out["hits"][0];
    assert_eq!((&hit["rank"], &hit["title"], &hit["date"]), (&json!(1), &json!("A\tparser"), &json!("1990")));
    assert!(hit["score"].as_f64() > out["hits"][1]["score"].as_f64());
    assert_eq!(out["query"], json!({"words": 7, "marked": true, "unknown": []}));
    for ranking in ["embedding", "bm25-cited"] {
        let out = asked(&place, &format!("--rank {ranking}"), "the align method [[?]] xyzzy");
        assert_eq!(
            (ids(&out)[0], &out["query"]["unknown"], &out["ranking"]),
            ("t-align", &json!(["xyzzy"]), &ranking.into())
        );
    }
    // A rare word of a document that nobody links to.
    let out = asked(&place, "--rank bm25", "quetzalcoatl");
    assert_eq!(ids(&out), ["t new"]);
}

#[test]
fn a_text_comes_from_an_argument_a_file_or_standard_input() {
    let place = place();
    place.write("draft.txt", "the chart method [[?]]");
    let table = place.ok("recommend m --file draft.txt").out;
    assert_eq!(table, place.run_with("recommend m -", b"the chart method [[?]]").succeeded("-").out);
    assert_eq!(table, place.run_with("recommend m --file -", b"the chart method [[?]]").succeeded("-").out);
    assert_eq!(table.lines().count(), 11);
    let named = table.lines().next().expect("the names of columns").split_whitespace().collect::<Vec<_>>();
    assert_eq!(named, ["#", "bm25-cited", "id", "title"]);
    assert!(table.contains("\n 1  ") && table.contains("p-chart   A parser\n"), "{table}");
    assert_eq!(ids(&place.json("recommend m --text chart --json --top 1")), ["p-chart"]);
    for usage in ["recommend m", "recommend m --text a --file b", "recommend m x --text a", "recommend m - --rank best"]
    {
        assert_eq!(place.run(usage).code, Some(2), "{usage}");
    }
}

#[test]
fn without_a_learnt_ranking_another_takes_its_place() {
    let place = place();
    assert_eq!(asked(&place, "", "the chart method [[?]]")["ranking"], "bm25-cited");
    let outcome = place.run("recommend m --text chart --rank hybrid --top 1").succeeded("another ranking");
    assert!(
        outcome.err.contains("this model has no hybrid ranking") && outcome.err.contains("bm25-cited"),
        "{}",
        outcome.err
    );
    assert!(outcome.out.contains("p-chart"), "{}", outcome.out);
    let outcome = place.run("recommend m --text chart --min-probability 0.5");
    assert_eq!((outcome.code, outcome.err.contains("only the hybrid")), (Some(2), true), "{}", outcome.err);
    for usage in ["--min-probability 2", "--min-probability x", "--source p0 --source-file draft.txt"] {
        assert_eq!(place.run(&format!("recommend m --text chart {usage}")).code, Some(2), "{usage}");
    }
    assert!(place.refused("recommend m --text chart --source-file nowhere").contains("cannot read nowhere"));
}

#[test]
fn reasons_are_told_in_numbers_and_in_words() {
    let place = place();
    let out = asked(&place, "--explain --top 1", "we use the chart method [[?]]");
    let hit = &out["hits"][0];
    let sum = |name: &str| -> f64 {
        hit[name].as_array().expect("shares").iter().map(|share| share["share"].as_f64().expect("a number")).sum()
    };
    assert!((sum("why") - hit["embedding"].as_f64().expect("a number")).abs() < 1e-4, "{hit}");
    assert!((sum("bm25") - hit["score"].as_f64().expect("a number")).abs() < 1e-4, "{hit}");
    let text = hit["contexts"][0]["text"].as_str().expect("a text");
    assert!(text.contains("we use the chart method [this] for grammar tree parser"), "{text}");
    let shown = place.ok("recommend m --explain --top 1 --text chart").out;
    assert!(shown.contains("embedding  ") && shown.contains("linked by p") && !shown.contains('\x1b'), "{shown}");
}

#[test]
fn a_set_of_few_links_has_a_hybrid_that_knows_authors() {
    let lines = [
        json!({"id": "a", "text": "the chart method of [[b]] parses text", "authors": ["Ada Lovelace"]}),
        json!({"id": "b", "title": "Charts", "text": "a chart is a table"}),
        json!({"id": "c", "text": "tables of words [[a]] and text"}),
    ];
    let place = Place::with(&[("in.jsonl", &lines.map(|line| format!("{line}\n")).concat())]);
    place.ok("import jsonl in.jsonl --min-count 1 -o c");
    let said = place.ok("train c -o m --dim 4 --min-count 1 --epochs 2 --content-epochs 1").err;
    assert!(said.contains("too few links to learn the hybrid ranking from"), "{said}");
    let out = place.json("recommend m --json --text Lovelace");
    assert_eq!((&out["ranking"], ids(&out)), (&json!("hybrid"), vec!["a"]));
    // Evaluation has it, too.
    place.ok("generate --docs 40 --links 150 --words 40 -o g");
    let methods = "--methods bm25-cited,hybrid,hybrid-source --dim 8 --min-count 2 --epochs 1 --content-epochs 1";
    let out = place.json(&format!("evaluate links g --holdout 0.2 {methods} --json"));
    assert_eq!(out["methods"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_bibliography_without_links_has_a_hybrid() {
    let entry = |key: &str, author: &str, title: &str| {
        format!("@article{{{key},\n  author = {{{author}}},\n  title = {{{title}}},\n  year = 1990\n}}\n")
    };
    let works = [
        entry("a", "Lovelace, Ada", "Weirs and the height of rivers"),
        entry("b", "Hopper, Grace", "Tables of tides for harbours"),
        entry("c", "Curie, Marie", "Maps of mills in the valley"),
    ];
    let place = Place::with(&[("refs.bib", &works.concat())]);
    place.ok("import library refs.bib --min-count 1 -o c");
    let train = "train c --dim 4 --min-count 1 --epochs 2 --content-epochs 1";
    let said = place.ok(&format!("{train} -o m")).err;
    assert!(said.contains("no links to learn the hybrid ranking from"), "{said}");
    assert!(said.contains("hd2v doctor c shows what the import lost"), "{said}");
    for (text, id) in [("as Hopper says", "b"), ("how high rivers are above weirs", "a"), ("maps of the mills", "c")] {
        let out = asked(&place, "", text);
        assert_eq!((&out["ranking"], ids(&out).first()), (&json!("hybrid"), Some(&id)), "{text}: {out}");
        let p = out["hits"][0]["score"].as_f64().expect("a probability");
        assert!(p > 0.0 && p < 1.0, "{p}");
    }
    // The same for any number of threads.
    place.ok(&format!("{train} -o m3 --threads 3"));
    assert!(std::fs::read(place.path("m")).expect("a model") == std::fs::read(place.path("m3")).expect("a model"));
}

#[test]
fn the_learnt_ranking_gives_probabilities_and_abstains() {
    let place = Place::with(&[("draft.txt", "some words of mine [[d000003]] [[?]]")]);
    place.ok("generate --docs 300 --links 2000 --seed 3 -o c");
    place.ok("train c -o m --dim 16 --epochs 2 --content-epochs 1");
    let corpus = place.ok("cat c").out;
    let first: Value = serde_json::from_str(corpus.lines().nth(200).expect("a document")).expect("JSON");
    let text = first["text"].as_str().expect("a text").split("[[").next().expect("words").to_owned();
    place.write("question.txt", format!("{text} [[?]]"));
    let out = place.json("recommend m --file question.txt --json");
    assert_eq!((&out["ranking"], ids(&out).len()), (&json!("hybrid"), 10));
    let chances: Vec<f64> =
        out["hits"].as_array().expect("hits").iter().filter_map(|hit| hit["probability"].as_f64()).collect();
    assert!(chances.len() == 10 && chances.is_sorted_by(|a, b| a >= b) && chances[0] <= 1.0, "{chances:?}");
    let none = place.json("recommend m --file question.txt --json --min-probability 1");
    assert!(ids(&none).is_empty() && none["reason"].as_str().is_some_and(|why| why.contains("probability")), "{none}");
    for source in ["--source d000150", "--source-file draft.txt"] {
        let out = place.json(&format!("recommend m --file question.txt --json {source} --explain --top 3"));
        assert_eq!((&out["ranking"], ids(&out).len()), (&json!("hybrid"), 3), "{source}");
    }
    place.ok("train c -o plain --dim 16 --epochs 1 --content-epochs 1 --no-hybrid");
    assert_eq!(place.json("recommend plain --file question.txt --json")["ranking"], "bm25-cited");
}

#[test]
fn an_index_is_made_kept_and_made_again() {
    let place = place();
    let ask = |more: &str| place.ok(&format!("recommend m --text chart --rank embedding --top 3 {more}"));
    let exact = ask("").out;
    let made = ask("--index");
    assert_eq!(made.out, exact);
    let err = &made.err;
    assert!(err.starts_with("m.index: building the index …\nm.index: built in") && err.contains("100.0 %"), "{err}");
    // It is used from now on, and the hybrid finds by it what it finds without.
    assert!(place.json("recommend m --text chart --rank embedding --json")["index"].is_object());
    assert!(place.json("recommend m --text chart --rank embedding --json --no-index")["index"].is_null());
    let hybrid = |more: &str| ids(&place.json(&format!("recommend m --text chart --json {more}"))).len();
    assert_eq!(hybrid(""), hybrid("--no-index"));
    let again = ask("--index");
    assert_eq!((again.out.as_str(), again.err.lines().count()), (exact.as_str(), 1), "{}", again.err);
    let out = place.json("recommend m --text chart --rank embedding --index --json");
    assert_eq!((&out["index"]["recall"], ids(&out).len()), (&json!(1.0), 10));
    // Filters: what is excluded is no hit; where few documents are left, all are looked at.
    let out = place.json("recommend m --text chart --rank embedding --index --json --exclude p-chart --top 3");
    assert!(out["index"].is_object() && !ids(&out).contains(&"p-chart"), "{out}");
    assert_eq!(ask("--index --only t").out, ask("--only t --no-index").out);
    assert!(place.run("recommend m --text chart --index --rank bm25").code == Some(2));
    // Another model under the same name; a file that is no index.
    place.ok("train c -o m --dim 8 --epochs 5 --content-epochs 2 --seed 7 --force");
    let err = ask("--index").err;
    assert!(err.contains("building the index again: it belongs to another model"), "{err}");
    let bytes = std::fs::read(place.path("m.index")).expect("an index");
    place.write("m.index", &bytes[..bytes.len() - 3]);
    let damaged = ask("--index");
    assert!(damaged.err.contains("building the index again: it is damaged"), "{}", damaged.err);
    assert_eq!(damaged.out, ask("").out);
    assert!(std::fs::read(place.path("m.index")).expect("an index") == bytes, "made again as it was");
}

#[test]
fn a_foreign_file_under_the_name_of_the_index_is_left_alone() {
    let place = place();
    place.write("m.index", "notes of mine\n");
    let message = place.refused("recommend m --text chart --rank embedding --index");
    assert!(message.starts_with("m.index: not a hyperdoc2vec index, so it is left alone"), "{message}");
    assert!(std::fs::read(place.path("m.index")).expect("still there") == b"notes of mine\n");
    assert!(place.ok("doctor m").out.contains("index: not a hyperdoc2vec index"));
}

#[test]
fn filters_leave_documents_out() {
    let place = place();
    let text = "we use the chart method [[?]]";
    assert!(!ids(&asked(&place, "--source p-chart --top 99", text)).contains(&"p-chart"));
    assert!(!ids(&asked(&place, "--exclude p-chart p-shift --top 99", text)).iter().any(|id| id.starts_with("p-")));
    let mut famous =
        ids(&asked(&place, "--only famous t-align", text)).into_iter().map(str::to_owned).collect::<Vec<_>>();
    famous.sort();
    assert_eq!(famous, ["p-chart", "p-shift", "t-align"]);
    let old = asked(&place, "--before 2001 --top 99", text);
    assert_eq!(ids(&old).len(), 3, "1990 twice and 2000; those without a date are left out: {old}");
    let none = asked(&place, "--only famous --before 1990", text);
    assert_eq!((ids(&none).len(), none["reason"].as_str().is_some_and(|r| r.contains("before"))), (0, true));
    let outcome =
        place.run_with("recommend m - --only famous --before 1990", text.as_bytes()).succeeded("an empty answer");
    assert_eq!((outcome.out.as_str(), outcome.err.lines().count()), ("", 1));
}

#[test]
fn what_cannot_be_answered_is_said_clearly() {
    let place = place();
    assert_eq!(place.refused("recommend m -"), "the text has no words");
    assert_eq!(place.refused_with("recommend m -", " … [[?]]\n".as_bytes()), "the text has no words");
    let message = place.refused_with("recommend m -", b"a \xff");
    assert!(message.contains("UTF-8") && message.contains("byte 2"), "{message}");
    let out = asked(&place, "--rank embedding", "xyzzy plugh");
    assert_eq!(out["reason"], "none of the 2 words of the text has a vector in the model");
    for ranking in ["bm25", "bm25-cited", "hybrid"] {
        let out = asked(&place, &format!("--explain --rank {ranking}"), "xyzzy plugh");
        assert_eq!(
            (ids(&out).len(), &out["reason"]),
            (0, &json!("none of the 2 words of the text is known to the model"))
        );
    }
    let out = asked(&place, "--rank embedding", "quetzalcoatl");
    assert!(out["reason"].as_str().is_some_and(|reason| reason.contains("rank by bm25")), "{out}");
    let message = place.refused("recommend m --text chart --source p-chrat");
    assert!(message.starts_with("m: no document has the id \"p-chrat\"; did you mean \"p-chart\""), "{message}");
    let message = place.refused("recommend m --text chart --only famos");
    assert!(message.contains("did you mean \"famous\""), "{message}");
    assert!(place.refused("recommend nobody --text chart").contains("nobody"));
    assert!(place.refused("recommend in.jsonl --text chart").contains("import it first: hd2v import jsonl in.jsonl"));
    assert!(place.refused("recommend m nowhere.md").contains("cannot read nowhere.md"));
    let bytes = std::fs::read(place.path("m")).expect("a model");
    // The version stands in the description, which keeps its length: where it gets a digit more, a key loses a letter.
    let replaced = |bytes: &[u8], from: &str, to: &str| {
        let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).expect(from);
        [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat()
    };
    let (now, newer) = (format!("\\\"version\\\":{VERSION}"), format!("\\\"version\\\":{}", VERSION + 1));
    let mut new = replaced(&bytes, &now, &newer);
    if newer.len() > now.len() {
        new = replaced(&new, "\\\"counts\\\"", "\\\"count\\\"");
    }
    place.write("new", &new);
    assert!(place.refused("recommend new --text chart").contains("use a newer program"));
    place.write("short", &bytes[..bytes.len() / 2]);
    for command in
        ["recommend short --text chart", "similar short p-chart", "export short --what doc-in --format npy -o x"]
    {
        assert!(place.refused(command).contains("cut short"), "{command}");
    }
}

#[test]
fn ten_megabytes_of_text_are_answered() {
    let place = place();
    let text = "we use the chart method grammar tree unheard-of ".repeat(220_000);
    assert!(text.len() > 10_000_000);
    let out = asked(&place, "--top 1", &text);
    assert_eq!((ids(&out), &out["query"]["words"]), (vec!["p-chart"], &json!(9 * 220_000)));
}

#[test]
fn similar_lists_documents_and_words() {
    let place = place();
    for by in ["in", "out"] {
        let out = place.json(&format!("similar m p0 --by {by} --top 40 --json"));
        assert_eq!(out["hits"].as_array().map(Vec::len), Some(34), "all but itself");
        let scores: Vec<f64> =
            out["hits"].as_array().expect("hits").iter().filter_map(|hit| hit["score"].as_f64()).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b) && scores[0] <= 1.0001 && scores[33] >= -1.0001, "{scores:?}");
    }
    let out = place.json("similar m chart --words --top 3 --json");
    assert_eq!(out["hits"][0]["rank"], 1);
    assert!(out["hits"].as_array().expect("hits").iter().all(|hit| hit["word"].is_string() && hit["word"] != "chart"));
    assert_eq!(place.ok("similar m chart --words --top 3").out.lines().count(), 4, "with the names of columns");
    assert!(place.refused("similar m p00").contains("did you mean"));
    assert!(place.refused("similar m quetzalcoatl --words").contains("no vector for the word"));
}

#[test]
fn vectors_that_a_method_does_not_learn_are_refused() {
    let place = place();
    place.ok("train c -o text --method d2v-nc --dim 8 --epochs 1");
    for command in ["export text --what doc-out --format npy -o out.npy", "similar text p0 --by out"] {
        let message = place.refused(command);
        let expected = "this d2v-nc model has not learnt doc-out vectors; it has learnt word-out, doc-in";
        assert!(message.ends_with(expected), "{command}: {message}");
    }
    assert!(place.refused("similar text grammar --words").contains("not learnt word-in"));
    place.ok("similar text grammar --words --by out");
    place.ok("similar text p0");
    place.ok("export text --what word-out --format npy -o words.npy");
    // No pass over the text, no word is predicted.
    place.ok("train c -o links --dim 8 --epochs 1 --content-epochs 0");
    assert!(place.refused("export links --what word-out --format npy -o out.npy").contains("word-in, doc-in, doc-out"));
}

#[test]
fn exports_hold_the_vectors_of_the_model_in_every_format() {
    let place = place();
    let read = |name: &str| std::fs::read(place.path(name)).expect("written");
    let numbers = |bytes: &[u8]| bytes.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect::<Vec<f32>>();
    let err = place.ok("export m --what doc-out --format word2vec -o text").err;
    assert!(
        err.starts_with("1 names contain white space, which is written as _\ntext: 35 vectors of 8 numbers"),
        "{err}"
    );
    let text = String::from_utf8(read("text")).expect("text");
    let (head, rows) = text.split_once('\n').expect("a head");
    assert_eq!((head, rows.lines().count()), ("35 8", 35));
    assert!(rows.lines().last().expect("a row").starts_with("t_new "));
    let expected: Vec<f32> =
        rows.lines().flat_map(|row| row.split(' ').skip(1)).map(|x| x.parse().expect("a number")).collect();

    place.ok("export m --what doc-out --format npy -o v.npy");
    let npy = read("v.npy");
    let header = 10 + u16::from_le_bytes([npy[8], npy[9]]) as usize;
    assert_eq!(numbers(&npy[header..]), expected);

    place.ok("export m --what doc-out --format word2vec-bin -o bin");
    let bin = read("bin");
    let mut rest = bin.strip_prefix(b"35 8\n").expect("a head");
    let mut found = vec![];
    while !rest.is_empty() {
        let space = rest.iter().position(|&b| b == b' ').expect("a name");
        found.extend(numbers(&rest[space + 1..][..32]));
        rest = rest[space + 33..].strip_prefix(b"\n").expect("a line end");
    }
    assert_eq!(found, expected);

    place.refused("export m --what doc-out --format tsv -o v.tsv");
    place.ok("export m --what doc-out --format tsv -o v.tsv --force");
    let tsv = String::from_utf8(read("v.tsv")).expect("text");
    assert_eq!(tsv.split_whitespace().map(|x| x.parse().expect("a number")).collect::<Vec<f32>>(), expected);
    let metadata = String::from_utf8(read("v.metadata.tsv")).expect("text");
    assert_eq!((metadata.lines().next(), metadata.lines().count()), (Some("id\ttitle\tlabels"), 36));
    assert!(metadata.contains("\np-chart\tA parser\tp, famous\n"), "{metadata}");

    place.ok("export m --what word-in --format tsv -o words.tsv");
    let metadata = String::from_utf8(read("words.metadata.tsv")).expect("text");
    assert!(metadata.starts_with("word\tcount\tdocuments\n"), "{metadata}");
    assert_eq!(
        metadata.lines().count() as u64,
        1 + place.json("info m --json")["vocabulary"].as_u64().expect("a number")
    );
    place.refused("export m --what word-in --format word2vec -o text");
    assert!(place.entries().iter().all(|entry| !entry.contains(".part-")));
}

#[test]
fn exports_take_their_format_from_the_ending_and_may_have_length_one() {
    let place = place();
    let read = |name: &str| std::fs::read(place.path(name)).expect("written");
    for (ending, format) in [("npy", "npy"), ("tsv", "tsv"), ("bin", "word2vec-bin"), ("vec", "word2vec")] {
        place.ok(&format!("export m --what doc-out --force -o told.{ending}"));
        place.ok(&format!("export m --what doc-out --format {format} -o named"));
        assert!(read(&format!("told.{ending}")) == read("named"), "{ending}");
        std::fs::remove_file(place.path("named")).expect("removed");
        let _ = std::fs::remove_file(place.path("named.metadata.tsv"));
    }
    let refused = place.run("export m --what doc-out -o told.csv");
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("told.csv: the ending does not tell the format"), "{}", refused.err);

    place.ok("export m --what doc-out --normalize -o unit.tsv");
    let rows = |name: &str| -> Vec<Vec<f64>> {
        let text = String::from_utf8(read(name)).expect("text");
        text.lines().map(|line| line.split('\t').map(|x| x.parse().expect("a number")).collect()).collect()
    };
    let length = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>().sqrt();
    for (unit, told) in rows("unit.tsv").iter().zip(rows("told.tsv")) {
        assert!((length(unit) - 1.0).abs() < 1e-5, "{unit:?}");
        assert!(unit.iter().zip(&told).all(|(a, b)| (a * length(&told) - b).abs() < 1e-5), "{unit:?}, {told:?}");
    }
}

#[cfg(unix)]
#[test]
fn vectors_and_names_are_replaced_together_or_not_at_all() {
    let place = place();
    let read = || ["v.tsv", "v.metadata.tsv"].map(|name| std::fs::read(place.path(name)).expect("written"));
    let export = "export m --what doc-out --format tsv -o v.tsv --force";
    place.ok(export);
    let sizes = read().map(|bytes| bytes.len());
    assert!(sizes[0] > 2048 && sizes[1] < 2048, "{sizes:?}");
    place.write("v.tsv", "1\t2\n");
    place.write("v.metadata.tsv", "id\ttitle\tlabels\nold\t\t\n");
    let before = read();
    // A limit on the size of files stands in for a full disk: there is room for the names, but not for the vectors.
    let script = format!("trap '' XFSZ; ulimit -f 4; exec {} {export}", crate::helper::HD2V);
    let mut shell = std::process::Command::new("sh");
    let output = shell.args(["-c", &script]).current_dir(place.path("")).output().expect("a shell");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(read() == before);
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_is_said_to_be_left_out() {
    let place = place();
    assert!(place.refused("export m --what doc-in --format parquet -o x").contains("--features parquet"));
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_the_columns_of_a_table() {
    let place = place();
    for what in ["doc-in", "word-in"] {
        place.ok(&format!("export m --what {what} --format parquet -o {what}"));
        let bytes = std::fs::read(place.path(what)).expect("written");
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    }
}
