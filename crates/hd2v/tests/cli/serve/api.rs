//! Answers of the API, and that they are those of the command line.

use serde_json::{Value, json};

use super::client::Server;
use super::{place, text};

fn ids(hits: &Value) -> Vec<&str> {
    hits.as_array().expect("hits").iter().map(|hit| hit["id"].as_str().expect("an id")).collect()
}

#[test]
fn answers_are_those_of_the_command_line() {
    let place = place();
    let server = Server::start(&place, "");
    let asked = text(&place, 120);
    place.write("question.txt", &asked);
    place.write("draft.txt", "words of mine [[d000003]] [[?]]");
    let questions = [
        ("", json!({})),
        ("--rank hybrid --explain --top 4", json!({"rank": "hybrid", "explain": true, "top": 4})),
        ("--rank embedding --explain", json!({"rank": "embedding", "explain": true})),
        ("--rank bm25 --top 0", json!({"rank": "bm25", "top": 0})),
        ("--rank bm25-cited --exclude d000001 plain", json!({"rank": "bm25-cited", "exclude": ["d000001", "plain"]})),
        ("--source d000120", json!({"source": "d000120"})),
        ("--source-file draft.txt", json!({"source_text": "words of mine [[d000003]] [[?]]"})),
        ("--only tools d000007", json!({"only": ["tools", "d000007"]})),
        ("--before 2001-06 --only tools", json!({"before": "2001-06", "only": ["tools"]})),
        ("--min-probability 1", json!({"min_probability": 1})),
    ];
    let mut batch = Vec::new();
    for (arguments, mut question) in questions {
        let expected = place.json(&format!("recommend m --file question.txt --json {arguments}"));
        question["text"] = json!(asked);
        assert_eq!(server.post("/api/recommend", &question).json(), expected, "{arguments}");
        batch.push((question, expected));
    }
    let (queries, expected): (Vec<Value>, Vec<Value>) = batch.into_iter().unzip();
    let many = server.post("/api/recommend/batch", &json!({"queries": queries})).json();
    assert_eq!(many, json!({"answers": expected}));

    for (path, arguments) in
        [("/api/similar?id=d000007", "d000007"), ("/api/similar?id=d000007&by=out&top=3", "d000007 --by out --top 3")]
    {
        assert_eq!(server.json(path), place.json(&format!("similar m --json {arguments}")), "{path}");
    }
    let word = &asked.split_whitespace().next().expect("a word").to_lowercase();
    let words = server.json(&format!("/api/words?word={word}&by=out&top=5"));
    let expected = place.json(&format!("similar m --words --json {word} --by out --top 5"));
    assert_eq!(words["hits"], expected["hits"]);
    // A word is read as the corpus was.
    let loud = word.to_uppercase();
    assert_eq!(server.json(&format!("/api/words?word=+{loud}.&by=out&top=5")), words);
    assert_eq!(place.json(&format!("similar m --words --json {loud} --by out --top 5")), expected);
    place.write("word.txt", word);
    let pointed = place.json("recommend m --file word.txt --rank embedding --json --top 5");
    assert_eq!(words["documents"], pointed["hits"]);

    let info = server.json("/api/info");
    let whole = place.json("info m --json");
    for (name, value) in info.as_object().expect("an object") {
        assert_eq!(&whole[name], value, "{name}");
    }
    assert_eq!((&info["documents"], &info["ranking"], &info["name"]), (&json!(303), &json!("hybrid"), &json!("m")));
    assert!(info["provenance"].is_null(), "paths of the machine are nobody's business");

    let texts = [asked.clone(), "xyzzy".to_owned(), text(&place, 7)];
    let embedded = server.post("/api/embed", &json!({"texts": texts})).json();
    let lines = place.run_with("embed m --lines - -o -", texts.join("\n").as_bytes()).succeeded("embed").out;
    let vectors = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["vector"].clone());
    assert_eq!((&embedded["dim"], &embedded["vectors"]), (&json!(16), &json!(vectors.collect::<Vec<_>>())));
    let unknown = &server.post("/api/embed", &json!({"texts": ["Xyzzy the plugh xyzzy", "the", ""]})).json()["unknown"];
    assert_eq!(unknown, &json!([["xyzzy", "plugh"], [], []]));
}

#[test]
fn embeddings_have_the_form_of_openai() {
    let place = place();
    let server = Server::start(&place, "");
    let texts = [text(&place, 5), "xyzzy".to_owned(), text(&place, 7)];
    let embedded = server.post("/api/embed", &json!({"texts": texts})).json();
    let answer = server.post("/v1/embeddings", &json!({"input": texts, "model": "text", "user": "me"})).json();
    assert_eq!((&answer["object"], &answer["model"]), (&json!("list"), &json!("text")));
    for (index, item) in answer["data"].as_array().expect("a list").iter().enumerate() {
        assert_eq!((&item["object"], &item["index"]), (&json!("embedding"), &json!(index)));
        assert_eq!(item["embedding"], embedded["vectors"][index]);
    }
    assert!(answer["usage"]["prompt_tokens"].as_u64() > Some(20), "{}", answer["usage"]);
    let one = server.post("/v1/embeddings", &json!({"input": texts[0], "dimensions": 16})).json();
    assert_eq!(one["data"], json!([answer["data"][0]]));
    // 16 numbers of 4 bytes are 64 bytes, which are 88 letters.
    let packed = server.post("/v1/embeddings", &json!({"input": texts[1], "encoding_format": "base64"})).json();
    assert_eq!(packed["data"][0]["embedding"], json!("A".repeat(86) + "=="));
}

#[test]
fn the_vector_of_a_question_ranks_documents_by_inner_products() {
    let place = place();
    let server = Server::start(&place, "");
    let question = text(&place, 9);
    let asked = json!({"input": question, "model": "question"});
    let vector = server.post("/v1/embeddings", &asked).json()["data"][0]["embedding"].clone();
    let vector: Vec<f32> = serde_json::from_value(vector).expect("numbers");
    let points = place.ok("export m --for jsonl -o -").out;
    let score = |line: &str| {
        let point: Value = serde_json::from_str(line).expect("JSON");
        let out: Vec<f64> = serde_json::from_value(point["out"].clone()).expect("numbers");
        let product: f64 = out.iter().zip(&vector).map(|(x, &y)| x * f64::from(y)).sum();
        (product, point["id"].as_str().expect("an id").to_owned())
    };
    let mut scores: Vec<(f64, String)> = points.lines().map(score).collect();
    scores.sort_by(|a, b| b.0.total_cmp(&a.0));
    let best: Vec<&str> = scores.iter().take(10).map(|(_, id)| id.as_str()).collect();
    let hits = server.post("/api/recommend", &json!({"text": question, "rank": "embedding", "top": 10})).json();
    let hits: Vec<&str> = hits["hits"].as_array().expect("hits").iter().filter_map(|hit| hit["id"].as_str()).collect();
    assert_eq!(best, hits);
}

#[test]
fn questions_asked_at_once_have_the_answers_that_they_have_alone() {
    let place = place();
    let server = Server::start(&place, "--threads 1");
    let question = |number: usize| {
        let mut question = json!({"text": text(&place, number), "rank": "embedding", "top": 1 + number % 7});
        if number.is_multiple_of(3) {
            question["exclude"] = json!([format!("d{:06}", number % 10)]);
        }
        if number % 10 == 9 {
            question["source"] = json!("nobody");
        }
        question
    };
    let alone: Vec<Value> = (0..40).map(|number| server.post("/api/recommend", &question(number)).json()).collect();
    assert!(alone[9]["error"].is_object() && ids(&alone[8]["hits"]).len() == 2, "{alone:?}");
    let (server, question) = (&server, &question);
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..40)
            .map(|number| scope.spawn(move || server.post("/api/recommend", &question(number)).json()))
            .collect();
        for (number, (asked, alone)) in asked.into_iter().zip(&alone).enumerate() {
            assert_eq!(&asked.join().expect("an answer"), alone, "question {number}");
        }
    });
}

#[test]
fn a_document_tells_who_links_to_it_in_what_words() {
    let place = place();
    let server = Server::start(&place, "");
    let parser = server.json("/api/document?id=parser");
    assert_eq!(parser["title"], "<script>alert(1)</script> & \"parsers\"");
    assert_eq!((&parser["date"], &parser["labels"]), (&json!("2001-05"), &json!(["tools", "p"])));
    assert_eq!((&parser["url"], &parser["links_to"]), (&json!("https://example.org/parser"), &json!([])));
    let linked = &parser["linked_by"];
    assert_eq!((&linked["total"], ids(&linked["contexts"])), (&json!(3), vec!["plain", "other", "other"]));
    let context = &linked["contexts"][0];
    assert_eq!(context["title"], Value::Null);
    assert!(context["before"].as_str().is_some_and(|words| words.ends_with("the chart parser ")), "{context}");
    assert!(context["after"].as_str().is_some_and(|words| words.starts_with(" and to")), "{context}");
    let rest = server.json("/api/document?id=parser&offset=1&top=1");
    assert_eq!((&rest["linked_by"]["total"], ids(&rest["linked_by"]["contexts"])), (&json!(3), vec!["other"]));
    let other = server.json("/api/document?id=other");
    let title = &parser["title"];
    assert_eq!(other["links_to"], json!([{"id": "parser", "title": title, "links": 2}]));

    let linked = server.json("/api/document?id=d000120");
    let might = server.json("/api/document/suggestions?id=d000120&top=50");
    assert_eq!(might["ranking"], "hybrid");
    let (linked, might) = (ids(&linked["links_to"]), ids(&might["hits"]));
    assert!(!linked.is_empty() && might.len() == 50, "{linked:?} {might:?}");
    assert!(!might.contains(&"d000120") && !might.iter().any(|id| linked.contains(id)), "{linked:?} {might:?}");
}

#[test]
fn documents_are_found_by_title_or_id() {
    let place = place();
    let server = Server::start(&place, "");
    let found = |query: &str| server.json(&format!("/api/search?q={query}&top=4"));
    assert_eq!(found("OTHER")["hits"], json!([{"id": "other", "title": "Other Page", "date": "2003"}]));
    assert_eq!(ids(&found("page+oth")["hits"]), ["other"]);
    assert_eq!(ids(&found("%3Cscript%3E")["hits"]), ["parser"]);
    assert_eq!(ids(&found("d00000")["hits"]).len(), 4);
    assert_eq!(ids(&found("d000123")["hits"]), ["d000123"]);
    assert_eq!(found("")["hits"], json!([]));
    assert_eq!(found("no+such+thing")["hits"], json!([]));
}

#[test]
fn drafts_are_answered_as_on_the_command_line() {
    let place = crate::lsp::place();
    let draft = "# Trees\n\nA parse tree of each sentence is built by a beam search.\n";
    place.write("draft.md", draft);
    let printed = place.json("suggest m draft.md --json --min-probability 0.3");
    let server = Server::start(&place, "");
    let asked = json!({"text": draft, "path": "draft.md", "min_probability": 0.3});
    let answer = server.post("/api/suggest", &asked).json();
    assert_eq!(answer, printed["files"][0]);
    let words: Vec<&Value> =
        answer["suggestions"].as_array().expect("suggestions").iter().map(|one| &one["words"]).collect();
    assert_eq!(words, ["parse tree", "beam search"]);
    let (start, end) = (answer["suggestions"][0]["start"].as_u64(), answer["suggestions"][0]["end"].as_u64());
    let span = start.expect("a start") as usize..end.expect("an end") as usize;
    assert_eq!(&draft[span], "parse tree", "places count bytes");
    // Each is one that may be refused.
    let mut refused = asked;
    refused["never"] = json!(["Parse tree"]);
    let answer = server.post("/api/suggest", &refused).json();
    assert_eq!(answer["suggestions"].as_array().map(Vec::len), Some(1));
    // There are no texts without a corpus.
    assert_eq!(server.get("/api/document/text?id=page-0").error(), (404, "no-texts".to_owned()));
}

#[test]
fn texts_of_documents_come_from_the_corpus() {
    let place = place();
    place.ok("import jsonl in.jsonl --min-count 2 -o c");
    let server = Server::start(&place, "--corpus c");
    let answer = server.json("/api/document/text?id=plain");
    let text = "a plain page that links to the chart parser [[parser]] and to d000003 [[d000003]]";
    assert_eq!(answer, json!({"id": "plain", "text": text}));
    assert_eq!(server.get("/api/document/text?id=nobody").error(), (404, "unknown-document".to_owned()));
    assert!(place.refused("serve m --corpus m").contains("m"), "a model is no corpus");
}
