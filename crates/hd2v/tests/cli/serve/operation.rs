//! Running a server: who may ask, models replaced under it, its end.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Server, read, until};
use super::{place, text};
use crate::helper::Place;

#[test]
fn with_a_token_only_those_who_bear_it_are_answered() {
    let place = place();
    place.write("token", "s3cret/+=\n");
    let server = Server::start(&place, "--token-file token");
    let with = |path: &str, token: &str| server.ask("GET", path, &format!("Authorization: Bearer {token}\r\n"), "");
    for path in ["/api/info", "/api/health", "/api/ready", "/metrics", "/api/openapi.json", "/api/nothing"] {
        let refused = server.get(path);
        assert_eq!(refused.error(), (401, "unauthorized".to_owned()), "{path}");
        assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
        assert_eq!(with(path, "s3cret/+").status, 401, "{path}");
        assert_eq!(with(path, "s3cret/+=x").status, 401, "{path}");
    }
    assert_eq!(server.post("/api/recommend", &json!({"text": "chart"})).status, 401);
    assert_eq!(with("/api/info", "s3cret/+=").status, 200);
    assert_eq!(server.get("/").status, 200, "the page asks for the token itself");
    drop(server);
    place.write("token", " \n");
    assert!(place.refused("serve m --port 0 --token-file token").contains("expected a token"));
    assert!(place.refused("serve m --port 0 --token-file nowhere").contains("cannot read nowhere"));
}

#[test]
fn answers_bear_the_headers_that_keep_browsers_safe() {
    let place = place();
    let server = Server::start(&place, "");
    for path in ["/", "/api/info", "/api/nothing"] {
        let answer = server.get(path);
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    // Another name that leads here, as when a browser was lied to about an address.
    let led = server.send(b"GET /api/info HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    assert_eq!(led.error(), (400, "unknown-host".to_owned()));

    let page = server.get("/");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let tag = page.header("etag").expect("a tag");
    let again = server.ask("GET", "/", &format!("If-None-Match: {tag}\r\n"), "");
    assert_eq!((again.status, again.body.len()), (304, 0));

    let plain = server.get("/api/search?q=d0&top=1000");
    let packed = server.ask("GET", "/api/search?q=d0&top=1000", "Accept-Encoding: br, gzip;q=0.8\r\n", "");
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut bytes).expect("gzip");
    assert!(bytes == plain.body && packed.body.len() < bytes.len() / 2 && plain.header("content-encoding").is_none());
}

/// The number behind a name in the metrics.
fn metric(server: &Server, name: &str) -> Option<f64> {
    let text = String::from_utf8(server.get("/metrics").body).expect("text");
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

/// The name of the model, as answers of the API tell it, be they errors or not.
fn model(server: &Server) -> String {
    let of = |path: &str| server.get(path).header("x-model").map(str::to_owned);
    let name = of("/api/info").expect("a name");
    assert!(name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
    for path in ["/api/health", "/api/document?id=nobody", "/api/nothing"] {
        assert_eq!(of(path).as_deref(), Some(name.as_str()), "{path}");
    }
    assert_eq!((of("/"), of("/metrics")), (None, None));
    name
}

#[test]
fn a_replaced_model_is_opened_and_no_request_is_lost() {
    let place = place();
    place.ok("generate --docs 200 --links 900 --seed 4 -o c2");
    place.ok("train c2 -o m2 --dim 16 --epochs 1 --content-epochs 1");
    let server = Server::start(&place, "");
    let documents = || server.json("/api/info")["documents"].as_u64();
    assert_eq!(documents(), Some(303));
    let first = model(&server);
    let question = json!({"text": text(&place, 3), "rank": "embedding"});
    // Each model has its own answer, and its name stands with it.
    let one = server.post("/api/recommend", &question).json();
    let (done, server_ref, question) = (AtomicBool::new(false), &server, &question);
    let (first, one_ref) = (first.as_str(), &one);
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut asked = 0;
                    while !done.load(Ordering::Relaxed) {
                        let answer = server_ref.post("/api/recommend", question);
                        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
                        assert_eq!(answer.header("x-model") == Some(first), answer.json() == *one_ref);
                        asked += 1;
                    }
                    asked
                })
            })
            .collect();
        std::fs::rename(place.path("m2"), place.path("m")).expect("renamed");
        until("the new model", || documents() == Some(200));
        done.store(true, Ordering::Relaxed);
        assert!(asked.into_iter().all(|asked| asked.join().expect("answers") > 0));
    });
    assert_ne!(model(&server), first);
    assert_eq!(metric(&server, "hd2v_model_reloads_total"), Some(1.0));
    assert_eq!(metric(&server, "hd2v_model_documents"), Some(200.0));

    place.write("broken", b"this is no model");
    std::fs::rename(place.path("broken"), place.path("m")).expect("renamed");
    server.says("still serving the previous model");
    assert_eq!((documents(), server.post("/api/recommend", question).status), (Some(200), 200));
    assert_eq!(metric(&server, "hd2v_model_reload_failures_total"), Some(1.0));
    server.signal("-HUP");
    until("another try", || metric(&server, "hd2v_model_reload_failures_total") == Some(2.0));
    assert_eq!(documents(), Some(200));
}

/// `cp other served` writes into the file that is served, and cuts it to nothing first.
#[test]
fn a_model_altered_or_cut_in_place_goes_on_from_memory() {
    let place = place();
    let bytes = std::fs::read(place.path("m")).expect("a model");
    let server = Server::start(&place, "");
    let question = json!({"text": text(&place, 3)});
    let before = server.post("/api/recommend", &question).json();
    let mut altered = bytes.clone();
    altered[bytes.len() / 2..].fill(7);
    for content in [&altered[..], &bytes[..100], b""] {
        place.write("m", content);
        assert_eq!(server.post("/api/recommend", &question).json(), before);
    }
    server.says("still serving the previous model");
    assert_eq!(server.post("/api/recommend", &question).json(), before);
    let failures = metric(&server, "hd2v_model_reload_failures_total");
    assert!(failures >= Some(1.0), "{failures:?}");
}

#[test]
fn a_corpus_cut_in_place_goes_on_from_memory_and_an_altered_one_is_refused() {
    let place = place();
    place.ok("import jsonl in.jsonl --min-count 2 -o c");
    let server = Server::start(&place, "--corpus c");
    let path = "/api/document/text?id=plain";
    let before = server.get(path).json();
    let files: Vec<std::path::PathBuf> =
        std::fs::read_dir(place.path("c")).expect("a corpus").map(|file| file.expect("a file").path()).collect();
    for file in files {
        std::fs::File::options().write(true).open(file).expect("a file").set_len(0).expect("cut");
    }
    assert_eq!(server.get(path).json(), before);
    drop(server);
    place.ok("import jsonl in.jsonl --min-count 2 -o d");
    let numbers = place.path("d/document.text");
    let mut altered = std::fs::read(&numbers).expect("numbers");
    altered.rotate_left(1);
    std::fs::write(&numbers, altered).expect("written");
    for command in ["serve m --corpus d", "lsp m --corpus d"] {
        let told = place.refused(command);
        assert!(told.contains("document.text") && told.contains("altered"), "{command}: {told}");
    }
}

#[test]
fn a_replaced_corpus_is_opened_and_a_broken_one_leaves_the_old() {
    let place = place();
    place.ok("import jsonl in.jsonl --min-count 2 -o c");
    let server = Server::start(&place, "--corpus c");
    let read = || server.get("/api/document/text?id=plain").json()["text"].as_str().map(str::to_owned);
    assert!(read().is_some_and(|text| text.starts_with("a plain page")));
    let records = std::fs::read_to_string(place.path("in.jsonl")).expect("records");
    place.write("new.jsonl", records.replace("a plain page", "anew a page"));
    place.ok("import jsonl new.jsonl --min-count 2 --force -o c");
    until("the new text", || read().is_some_and(|text| text.starts_with("anew")));
    place.write("c/corpus.json", "{}");
    server.says("still showing the texts of the previous corpus");
    assert!(read().is_some_and(|text| text.starts_with("anew")));
}

#[test]
fn a_mapped_model_altered_in_place_is_not_answered_from() {
    let place = place();
    let bytes = std::fs::read(place.path("m")).expect("a model");
    let server = Server::start(&place, "--map-above 0");
    let question = json!({"text": text(&place, 3)});
    let before = server.post("/api/recommend", &question).json();
    let write = |bytes: &[u8]| {
        let mut file = std::fs::File::options().write(true).open(place.path("m")).expect("the file");
        file.write_all(bytes).expect("written");
    };
    let mut altered = bytes.clone();
    altered[bytes.len() / 2..].fill(7);
    write(&altered);
    until("a refusal", || server.post("/api/recommend", &question).status == 503);
    assert_eq!(server.post("/api/recommend", &question).error(), (503, "altered-model".to_owned()));
    server.says("answering 503 until the file is whole again");
    write(&bytes);
    until("the whole model", || server.post("/api/recommend", &question).status == 200);
    assert_eq!(server.post("/api/recommend", &question).json(), before);
}

#[test]
#[cfg(unix)]
fn what_is_no_file_is_not_waited_for() {
    let place = place();
    std::fs::copy(place.path("m"), place.path("next")).expect("copied");
    let server = Server::start(&place, "");
    let made = std::process::Command::new("mkfifo").arg(place.path("pipe")).status().expect("mkfifo");
    assert!(made.success());
    std::fs::rename(place.path("pipe"), place.path("m")).expect("renamed");
    server.says("expected a model, not a special file");
    std::fs::rename(place.path("next"), place.path("m")).expect("renamed");
    until("the next model", || metric(&server, "hd2v_model_reloads_total") == Some(1.0));
}

#[test]
fn of_many_models_the_last_stays() {
    let place = place();
    let models: Vec<Vec<u8>> = [40, 60]
        .iter()
        .map(|documents| {
            place.ok(&format!("generate --docs {documents} --links 100 --seed 4 -o c{documents}"));
            place.ok(&format!("train c{documents} -o m{documents} --method deepwalk --dim 8"));
            std::fs::read(place.path(format!("m{documents}"))).expect("a model")
        })
        .collect();
    let server = Server::start(&place, "");
    for turn in 0..10 {
        place.write("next", &models[turn % 2]);
        std::fs::rename(place.path("next"), place.path("m")).expect("renamed");
        server.signal("-HUP");
    }
    until("the last model", || server.json("/api/info")["documents"] == 60);
    // Models are opened one after another: a late one of those above would come in before or among these.
    for _ in 0..3 {
        let before = metric(&server, "hd2v_model_reloads_total");
        server.signal("-HUP");
        until("another reload", || metric(&server, "hd2v_model_reloads_total") > before);
        assert_eq!(server.json("/api/info")["documents"], 60);
    }
}

#[test]
fn at_the_end_what_is_under_way_is_answered() {
    let place = place();
    let server = Server::start(&place, "--threads 1");
    let questions = json!({"queries": vec![json!({"text": text(&place, 50), "explain": true}); 200]}).to_string();
    let mut stream = server.connect();
    let head = "POST /api/recommend/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let (some, rest) = questions.split_at(questions.len() / 2);
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{some}", questions.len()).as_bytes()).expect("sent");
    // It cannot be answered before the rest came.
    until("the request to begin", || metric(&server, "hd2v_requests_in_flight") >= Some(2.0));
    server.signal("-TERM");
    server.says("stopping");
    stream.write_all(rest.as_bytes()).expect("sent");
    let answer = read(&mut stream).expect("an answer");
    assert_eq!((answer.status, answer.json()["answers"].as_array().map(Vec::len)), (200, Some(200)));
    assert_eq!(server.end(), Some(0));

    // An idle connection does not keep it, nor a client that does not come to the point.
    let server = Server::start(&place, "--client-timeout 50");
    let (_idle, mut slow) = (server.connect(), server.connect());
    slow.write_all(b"GET /api/info HTTP/1.1\r\nHost: loc").expect("sent");
    assert_eq!(server.get("/api/health").status, 200);
    let started = Instant::now();
    server.signal("-INT");
    assert_eq!(server.end(), Some(0));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn what_cannot_be_served_is_told() {
    let place = place();
    assert!(place.refused("serve nothing --port 0").contains("nothing"));
    let server = Server::start(&place, "");
    let port = server.address.rsplit(':').next().expect("a port");
    assert!(place.refused(&format!("serve m --port {port}")).contains("cannot listen on 127.0.0.1:"));
    for usage in ["--port 70000", "--max-concurrent 0", "--timeout x", "--rate -1"] {
        assert_eq!(place.run(&format!("serve m {usage}")).code, Some(2), "{usage}");
    }
    let warned = Server::start(&place, "--host 0.0.0.0");
    warned.says("warning: anyone on the network");
}

#[test]
fn a_model_without_a_learnt_ranking_is_served_too() {
    let place = Place::new();
    place.ok("generate --docs 60 --links 200 --seed 3 -o c");
    place.ok("train c -o m --method deepwalk --dim 8");
    let server = Server::start(&place, "");
    let info = server.json("/api/info");
    assert_eq!((&info["ranking"], &info["rankings"]), (&json!("bm25-cited"), &json!(["bm25-cited", "bm25"])));
    let embedded = server.post("/api/embed", &json!({"texts": ["a"]}));
    assert_eq!(embedded.error(), (422, "not-in-this-model".to_owned()));
    let asked = server.post("/api/recommend", &json!({"text": "the", "rank": "embedding"}));
    assert_eq!(asked.error(), (422, "not-in-this-model".to_owned()));
    assert!(!String::from_utf8_lossy(&asked.body).contains("/"), "no path of the machine is told");
    assert_eq!(server.json("/api/document/suggestions?id=d000007")["ranking"], "bm25-cited");
}

#[test]
fn servers_of_one_model_answer_alike() {
    // The same model in two directories, as on two machines.
    let (place, elsewhere) = (place(), place());
    let servers = [Server::start(&place, "--threads 1"), Server::start(&elsewhere, "--threads 2")];
    let asked: [(&str, Value); 4] = [
        ("/api/recommend", json!({"text": text(&place, 3), "explain": true})),
        ("/api/recommend", json!({"text": text(&place, 4), "rank": "embedding"})),
        ("/api/suggest", json!({"text": text(&place, 5), "min_probability": 0})),
        ("/v1/embeddings", json!({"input": text(&place, 6)})),
    ];
    for (path, body) in &asked {
        let [one, other] = servers.each_ref().map(|server| server.post(path, body));
        assert_eq!((one.status, &one.body), (200, &other.body), "{path}");
        assert!(one.header("x-model").is_some_and(|id| id.len() == 16), "{path}");
        assert_eq!(one.header("x-model"), other.header("x-model"), "{path}");
    }
}
