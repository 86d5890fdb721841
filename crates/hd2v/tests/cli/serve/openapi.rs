//! The description of the API holds: every path answers as it says.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::client::{Server, until};
use super::{place, text};

/// Follows a reference to another schema.
fn followed<'a>(api: &'a Value, schema: &'a Value) -> &'a Value {
    let Some(name) = schema["$ref"].as_str() else { return schema };
    api.pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("{name} is not described"))
}

/// The parts of a schema of one of these kinds.
fn parts<'a>(schema: &'a Value, kinds: &[&str]) -> impl Iterator<Item = &'a Value> {
    kinds.iter().flat_map(|kind| schema[kind].as_array().into_iter().flatten()).collect::<Vec<_>>().into_iter()
}

/// The properties that a schema describes.
fn properties<'a>(api: &'a Value, schema: &'a Value) -> BTreeSet<&'a str> {
    let schema = followed(api, schema);
    let own = schema["properties"].as_object().into_iter().flat_map(|own| own.keys().map(String::as_str));
    let others = parts(schema, &["allOf", "oneOf", "anyOf"]).flat_map(|part| properties(api, part));
    own.chain(others).collect()
}

/// Differences between `value` and a schema of the description.
fn faults(api: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    if !["$ref", "type", "allOf", "oneOf", "anyOf"].iter().any(|told| !schema[told].is_null()) {
        return vec![format!("{place} is not described")];
    }
    let described = properties(api, schema);
    let mut wrong = misfits(api, schema, value, place);
    for name in value.as_object().into_iter().flat_map(|object| object.keys()) {
        if !described.contains(name.as_str()) {
            wrong.push(format!("{place}.{name} is not described"));
        }
    }
    wrong
}

/// As [`faults`], but allows properties that the schema does not have.
fn misfits(api: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let schema = followed(api, schema);
    let mut wrong: Vec<String> = parts(schema, &["allOf"]).flat_map(|part| misfits(api, part, value, place)).collect();
    let one_of: Vec<Vec<String>> =
        parts(schema, &["oneOf", "anyOf"]).map(|part| faults(api, part, value, place)).collect();
    if one_of.iter().all(|faults| !faults.is_empty()) {
        wrong.extend(one_of.into_iter().flatten());
    }
    if schema["enum"].as_array().is_some_and(|values| !values.contains(value)) {
        wrong.push(format!("{place} should be one of {}, and is {value}", schema["enum"]));
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => panic!("{kind} is no type"),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is(kind)) {
        wrong.push(format!("{place} should be {kinds:?}, and is {value}"));
    }
    if let Some(object) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                wrong.push(format!("{place}.{name} is missing"));
            }
        }
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            if let Some(value) = object.get(name) {
                wrong.extend(faults(api, schema, value, &format!("{place}.{name}")));
            }
        }
    }
    let list = value.as_array().filter(|_| kinds.contains(&"array"));
    for (number, value) in list.into_iter().flatten().enumerate() {
        wrong.extend(faults(api, &schema["items"], value, &format!("{place}[{number}]")));
    }
    wrong
}

/// Paths whose answers have no schema: they are no JSON, or described elsewhere.
const WITHOUT: [&str; 2] = ["/api/openapi.json", "/metrics"];

#[test]
fn every_path_answers_as_it_is_described() {
    let place = place();
    place.ok("import jsonl in.jsonl --min-count 2 -o c");
    let server = Server::start(&place, "--corpus c");
    let api = server.json("/api/openapi.json");
    assert!(api["openapi"].as_str().is_some_and(|version| version.starts_with("3.")), "{api}");
    let question = json!({"text": text(&place, 120), "explain": true, "top": 3});
    let wrong = json!({"text": "chart", "source": "nobody"});
    // Path, what is asked well, what is asked badly.
    let asked: [(&str, Value, Value); 18] = [
        ("/api/info", json!(""), json!(null)),
        ("/api/examples", json!(""), json!(null)),
        ("/api/recommend", question.clone(), wrong.clone()),
        ("/api/recommend/batch", json!({"queries": [question, wrong]}), json!({"queries": 1})),
        ("/api/suggest", json!({"text": text(&place, 7), "min_probability": 0, "max": 3}), json!({"text": 1})),
        ("/api/similar", json!("?id=d000007"), json!("?id=nobody")),
        ("/api/words", json!("?word=the"), json!("?word=xyzzyxyzzy")),
        ("/api/document", json!("?id=parser"), json!("?id=nobody")),
        ("/api/document/text", json!("?id=parser"), json!("?id=nobody")),
        ("/api/document/suggestions", json!("?id=d000007"), json!("")),
        ("/api/search", json!("?q=page"), json!("?top=x")),
        ("/api/embed", json!({"texts": ["the chart", ""]}), json!({"texts": [1]})),
        ("/v1/embeddings", json!({"input": ["the chart", ""], "model": "text"}), json!({"input": 1})),
        ("/api/map", json!(""), json!(null)),
        ("/api/health", json!(""), json!(null)),
        ("/api/ready", json!(""), json!(null)),
        ("/api/openapi.json", json!(""), json!(null)),
        ("/metrics", json!(""), json!(null)),
    ];
    let paths = api["paths"].as_object().expect("paths");
    let described: BTreeSet<&str> = paths.keys().map(String::as_str).collect();
    assert_eq!(described, asked.iter().map(|(path, _, _)| *path).collect(), "all paths are asked here");
    until("the map", || server.get("/api/map").status == 200);
    for (path, well, badly) in &asked {
        let ask = |with: &Value| match with.as_str() {
            Some(parameters) => ("get", server.get(&format!("{path}{parameters}"))),
            None => ("post", server.post(path, with)),
        };
        let (method, answer) = ask(well);
        assert_eq!(answer.status, 200, "{path}: {}", String::from_utf8_lossy(&answer.body));
        let responses = &api["paths"][path][method]["responses"];
        let content = &responses["200"]["content"]["application/json"]["schema"];
        if !WITHOUT.contains(path) {
            assert_eq!(faults(&api, content, &answer.json(), path), [""; 0]);
        }
        if !badly.is_null() {
            let (_, answer) = ask(badly);
            assert!((400..500).contains(&answer.status), "{path}");
            let content = &responses["default"]["content"]["application/json"]["schema"];
            assert!(!content.is_null(), "{path} does not describe its errors");
            assert_eq!(faults(&api, content, &answer.json(), path), [""; 0]);
        }
        let (wrong, other) = if method == "get" { ("POST", "") } else { ("GET", "") };
        assert_eq!(server.ask(wrong, path, "", other).status, 405, "{path} takes {method} only");
    }
    // The check itself can fail.
    let schema = json!({"$ref": "#/components/schemas/Hit"});
    assert!(!faults(&api, &schema, &json!({"rank": "one"}), "hit").is_empty());
    let whole = json!({"rank": 1, "id": "a", "score": 1.0});
    assert_eq!(faults(&api, &schema, &whole, "hit"), [""; 0]);
    let more = json!({"rank": 1, "id": "a", "score": 1.0, "colour": "red"});
    assert_eq!(faults(&api, &schema, &more, "hit"), ["hit.colour is not described"]);
    assert_eq!(faults(&api, &json!(null), &whole, "hit"), ["hit is not described"]);
    let rank = &api["components"]["schemas"]["Rank"];
    assert_eq!(faults(&api, rank, &json!("bm25-cited"), "rank"), [""; 0]);
    assert!(!faults(&api, rank, &json!("best"), "rank").is_empty());
}

#[test]
fn the_limits_that_the_server_enforces_are_described() {
    let place = place();
    let server = Server::start(&place, "--max-batch 3");
    let api = server.json("/api/openapi.json");
    // Numbers among the parameters: the greatest is taken, one more is not.
    let mut greatest = 0;
    for (path, id) in [
        ("/api/similar", "id=d000007"),
        ("/api/words", "word=the"),
        ("/api/document", "id=parser"),
        ("/api/document/suggestions", "id=d000007"),
        ("/api/search", "q=page"),
    ] {
        let parameters = api["paths"][path]["get"]["parameters"].as_array().expect("parameters");
        for parameter in parameters.iter().filter(|parameter| parameter["schema"]["type"] == "integer") {
            let (name, most) = (parameter["name"].as_str().expect("a name"), &parameter["schema"]["maximum"]);
            let most = most.as_u64().unwrap_or_else(|| panic!("{path}: {name} has no maximum"));
            assert_eq!(server.get(&format!("{path}?{id}&{name}={most}")).status, 200, "{path} {name}");
            assert_eq!(server.get(&format!("{path}?{id}&{name}={}", most + 1)).status, 422, "{path} {name}");
            greatest += 1;
        }
    }
    assert_eq!(greatest, 6);
    // Fields of a question.
    let fields = &api["components"]["schemas"]["Question"]["properties"];
    let status = |question: Value| {
        let mut question = question;
        question["text"] = json!("chart");
        server.post("/api/recommend", &question).status
    };
    let limit = |value: &Value| value.as_u64().expect("a limit") as usize;
    let most = limit(&fields["top"]["maximum"]);
    assert_eq!([most, most + 1].map(|top| status(json!({"top": top}))), [200, 422]);
    for list in ["exclude", "only"] {
        let most = limit(&fields[list]["maxItems"]);
        assert_eq!([most, most + 1].map(|names| status(json!({list: vec!["d000007"; names]}))), [200, 422]);
    }
    let longest = limit(&fields["source"]["maxLength"]);
    assert_eq!([longest, longest + 1].map(|letters| status(json!({"source": "é".repeat(letters)}))), [404, 422]);
    assert_eq!(status(json!({"source": "d000007", "source_text": "chart"})), 422);
    assert_eq!(status(json!({"source": "d000007", "source_text": null})), 200);
    for rank in api["components"]["schemas"]["Rank"]["enum"].as_array().expect("rankings") {
        let fits = if rank == "hybrid" { 200 } else { 422 };
        assert_eq!(status(json!({"rank": rank, "min_probability": 0.5})), fits, "{rank}");
    }
    // Fields of a draft.
    let fields = &api["components"]["schemas"]["Draft"]["properties"];
    let status =
        |field: &str, value: Value| server.post("/api/suggest", &json!({"text": "chart", field: value})).status;
    let most = limit(&fields["max"]["maximum"]);
    assert_eq!([most, most + 1].map(|max| status("max", json!(max))), [200, 422]);
    let most = limit(&fields["never"]["maxItems"]);
    assert_eq!([most, most + 1].map(|lines| status("never", json!(vec!["chart"; lines]))), [200, 422]);
    let longest = limit(&fields["path"]["maxLength"]);
    assert_eq!([longest, longest + 1].map(|letters| status("path", json!("é".repeat(letters)))), [200, 422]);
    assert_eq!([1.0, 1.1].map(|p| status("min_probability", json!(p))), [200, 422]);
    assert_eq!(["latex", "docx"].map(|format| status("format", json!(format))), [200, 422]);
    // Lists of questions and texts.
    for (path, schema, list, item) in [
        ("/api/recommend/batch", "Questions", "queries", json!({"text": "chart"})),
        ("/api/embed", "Texts", "texts", json!("chart")),
    ] {
        let most = limit(&api["components"]["schemas"][schema]["properties"][list]["maxItems"]);
        let asked = [most, most + 1].map(|items| server.post(path, &json!({list: vec![item.clone(); items]})).status);
        assert_eq!((most, asked), (3, [200, 422]), "{path}");
    }
    let kinds = api["components"]["schemas"]["EmbeddingInput"]["oneOf"].as_array().expect("kinds of input");
    let most = kinds.iter().find(|kind| kind["type"] == "array").map(|list| limit(&list["maxItems"]));
    let asked = [3, 4].map(|texts| server.post("/v1/embeddings", &json!({"input": vec!["chart"; texts]})).status);
    assert_eq!((most, asked), (Some(3), [200, 422]));
}
