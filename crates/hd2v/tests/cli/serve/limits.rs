//! Bad requests, and too much of anything: each has its status and code, and the server goes on.

use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{LONGEST, Server, read};
use super::{place, text};

#[test]
fn bad_requests_have_a_status_and_a_code() {
    let place = place();
    let server = Server::start(&place, "--max-body 64 --max-batch 2 --max-text 1");
    let post = |path: &str, body: Value, status: u16, code: &str| {
        assert_eq!(server.post(path, &body).error(), (status, code.to_owned()), "{path} {body:.200}");
    };
    post("/api/recommend", json!({}), 422, "unfit");
    post("/api/recommend", json!({"text": 1}), 422, "unfit");
    post("/api/recommend", json!({"text": "a", "tpo": 1}), 422, "unfit");
    post("/api/recommend", json!({"text": "a", "rank": "best"}), 422, "unfit");
    post("/api/recommend", json!({"text": "a", "before": "June"}), 422, "unfit");
    post("/api/recommend", json!({"text": "a", "min_probability": 2}), 422, "unfit");
    post("/api/recommend", json!({"text": "a", "rank": "bm25", "min_probability": 0.5}), 422, "unfit");
    post("/api/recommend", json!({"text": "a [[?]] b [[?]]"}), 422, "unfit");
    post("/api/recommend", json!({"text": "a", "source": "plain", "source_text": "b"}), 422, "unfit");
    post("/api/recommend", json!({"text": "a", "top": 1001}), 422, "too-many-hits");
    post("/api/recommend", json!({"text": "a ".repeat(600)}), 422, "too-long");
    post("/api/recommend", json!({"text": "a", "exclude": vec!["x"; 1001]}), 422, "too-many-names");
    post("/api/recommend", json!({"text": "a ".repeat(60_000)}), 413, "too-large");
    post("/api/recommend", json!({"text": "a", "source": "plian"}), 404, "unknown-document");
    post("/api/recommend", json!({"text": "a", "only": ["tolls"]}), 404, "unknown-document-or-label");
    post("/api/recommend/batch", json!({"queries": vec![json!({"text": "a"}); 3]}), 422, "too-many");
    post("/api/embed", json!({"texts": ["a", "b", "c"]}), 422, "too-many");
    post("/api/embed", json!({"texts": ["a ".repeat(600)]}), 422, "too-long");
    post("/v1/embeddings", json!({"input": ["a", "b", "c"]}), 422, "too-many");
    post("/v1/embeddings", json!({"input": "a ".repeat(600)}), 422, "too-long");
    post("/v1/embeddings", json!({"input": "a", "model": "other"}), 422, "unfit");
    post("/v1/embeddings", json!({"input": "a", "dimensions": 3}), 409, "unfit");
    post("/v1/embeddings", json!({"input": "a", "encoding_format": "text"}), 422, "unfit");
    post("/v1/embeddings", json!({"input": [1]}), 422, "unfit");
    post("/api/info", json!({}), 405, "wrong-method");
    post("/api/nothing", json!({}), 404, "unknown-path");

    let get = |path: &str, status: u16, code: &str| {
        assert_eq!(server.get(path).error(), (status, code.to_owned()), "{path:.200}");
    };
    get("/api/similar", 400, "bad-parameter");
    get("/api/similar?id=plain&by=up", 400, "bad-parameter");
    get("/api/similar?id=plain&top=-1", 400, "bad-parameter");
    get("/api/similar?id=plain&tpo=1", 400, "bad-parameter");
    get("/api/similar?id=plain&top=1001", 422, "too-many-hits");
    get("/api/similar?id=nobody", 404, "unknown-document");
    get("/api/similar?id=%ff%00", 404, "unknown-document");
    get("/api/words?word=xyzzyxyzzy", 404, "unknown-word");
    get("/api/document?id=", 404, "unknown-document");
    get("/api/document/suggestions?id=../../etc/passwd", 404, "unknown-document");
    get(&format!("/api/search?q={}", "a".repeat(9000)), 400, "bad-parameter");
    get("/page/nothing.js", 404, "unknown-path");
    get("/page/..%2fmod.rs", 404, "unknown-path");
    get("/page/%ff", 404, "unknown-path");
    get("/api/recommend", 405, "wrong-method");

    let raw = |headers: &str, body: &str| server.ask("POST", "/api/recommend", headers, body).error();
    assert_eq!(raw("Content-Type: application/json\r\n", "{\"text\":"), (400, "bad-json".to_owned()));
    assert_eq!(raw("Content-Type: application/json\r\n", &"[".repeat(10_000)), (422, "unfit".to_owned()));
    assert_eq!(raw("Content-Type: application/json\r\n", "\u{0}"), (400, "bad-json".to_owned()));
    assert_eq!(raw("Content-Type: text/plain\r\n", "{\"text\":\"a\"}"), (415, "not-json".to_owned()));
    assert_eq!(raw("", "{\"text\":\"a\"}"), (415, "not-json".to_owned()));
    let mistyped = server.get("/api/document?id=plian").json();
    assert!(mistyped["error"]["message"].as_str().is_some_and(|message| message.contains("\"plain\"")), "{mistyped}");

    // Heads up to 32 KiB; beyond, the answer has no body.
    let head = |bytes: usize| {
        let start = "GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: ";
        let filled = "x".repeat(bytes - start.len() - 4);
        server.send(format!("{start}{filled}\r\n\r\n").as_bytes())
    };
    assert_eq!((head(32 << 10).status, head((32 << 10) + 1).status, head(60_000).status), (200, 431, 431));
    let broken = server.send(b"this is no HTTP\r\n\r\n");
    assert_eq!((broken.status, broken.body.len()), (400, 0));

    // One bad question among good ones.
    post("/api/recommend/batch", json!({"queries": [{"text": "chart", "top": 2000}]}), 422, "too-many-hits");
    let questions = json!({"queries": [{"text": "chart", "source": "nobody"}, {"text": "chart"}]});
    let answers = server.post("/api/recommend/batch", &questions).json();
    assert_eq!(answers["answers"][0]["error"]["code"], "unknown-document");
    assert!(answers["answers"][1]["hits"].as_array().is_some_and(|hits| !hits.is_empty()), "{answers}");
}

#[test]
fn a_batch_is_answered_as_far_as_its_hits_go() {
    let place = place();
    let server = Server::start(&place, "");
    let questions = json!({"queries": vec![json!({"text": "chart", "top": 1000}); 12]});
    let answers = server.post("/api/recommend/batch", &questions).json();
    let answers = answers["answers"].as_array().expect("answers");
    assert!(answers[..10].iter().all(|answer| answer["hits"].is_array()) && answers.len() == 12, "{answers:?}");
    assert!(answers[10..].iter().all(|answer| answer["error"]["code"] == "too-many-hits"), "{answers:?}");
}

#[test]
fn a_text_without_words_finds_nothing_and_a_whole_number_may_have_a_point() {
    let place = place();
    let server = Server::start(&place, "");
    for rank in [json!(null), json!("embedding"), json!("bm25")] {
        let answer = server.post("/api/recommend", &json!({"text": "»", "rank": rank, "top": 3.0})).json();
        assert_eq!((&answer["hits"], &answer["reason"]), (&json!([]), &json!("the text has no words")), "{answer}");
    }
    let hits = |answer: Value| answer["hits"].as_array().map(Vec::len);
    assert_eq!(hits(server.post("/api/recommend", &json!({"text": "chart", "top": 3.0})).json()), Some(3));
    assert_eq!(hits(server.json("/api/search?q=d0&top=3.0")), Some(3));
    for top in [json!(3.5), json!("3"), json!(-1.0), json!(1e300)] {
        let answer = server.post("/api/recommend", &json!({"text": "chart", "top": top}));
        assert_eq!(answer.error(), (422, "unfit".to_owned()), "{top}");
    }
    for top in ["3.5", "-1.0", "1e2", ".", "x.0"] {
        let answer = server.get(&format!("/api/search?q=d0&top={top}"));
        assert_eq!(answer.error(), (400, "bad-parameter".to_owned()), "{top}");
    }
}

#[test]
fn who_asks_too_often_waits() {
    let place = place();
    let server = Server::start(&place, "--rate 0.5");
    let statuses: Vec<u16> = (0..12).map(|_| server.get("/api/health").status).collect();
    assert!(statuses[..5].iter().all(|&status| status == 200) && statuses.contains(&429), "{statuses:?}");
    for path in ["/", "/page/main.js", "/page/style.css"] {
        assert_eq!(server.get(path).status, 200, "the page has many files: {path}");
    }
    let refused = server.get("/api/health");
    assert_eq!((refused.error(), refused.header("retry-after")), ((429, "too-many-requests".to_owned()), Some("1")));
}

#[test]
fn more_than_can_be_done_is_refused_and_the_rest_is_done() {
    let place = place();
    let query = json!({"text": text(&place, 50), "explain": true});
    let many = json!({"queries": vec![query.clone(); 250]});
    let server = Server::start(&place, "--threads 1 --max-concurrent 1");
    let (asked, many_ref) = (&server, &many);
    let statuses: Vec<(u16, Option<String>)> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(move || {
                    let answer = asked.post("/api/recommend/batch", many_ref);
                    (answer.status, answer.header("retry-after").map(str::to_owned))
                })
            })
            .collect();
        asked.into_iter().map(|asked| asked.join().expect("an answer")).collect()
    });
    assert!(statuses.iter().any(|(status, _)| *status == 200), "{statuses:?}");
    assert!(statuses.contains(&(503, Some("1".to_owned()))), "{statuses:?}");
    assert!(statuses.iter().all(|(status, _)| [200, 503].contains(status)), "{statuses:?}");
    assert_eq!(server.get("/api/health").status, 200);

    let server = Server::start(&place, "--threads 1 --timeout 0.01");
    assert_eq!(server.post("/api/recommend/batch", &many).error(), (503, "late".to_owned()));
}

#[test]
fn slow_clients_are_left() {
    let place = place();
    let server = Server::start(&place, "--client-timeout 0.5");
    let started = Instant::now();
    let mut head = server.connect();
    head.write_all(b"GET /api/info HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").expect("sent");
    let mut body = server.connect();
    body.write_all(
        b"POST /api/recommend HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
    )
    .expect("sent");
    let mut idle = server.connect();
    assert_eq!(server.get("/api/health").status, 200, "others are served meanwhile");
    assert_eq!(read(&mut body).expect("an answer").error(), (408, "slow-request".to_owned()));
    assert!(read(&mut head).is_none_or(|answer| answer.status == 408));
    // A client that reads none of its answers is left: they are more than the system buffers.
    let mut deaf = server.connect();
    let request = b"GET /api/search?q=d0&top=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let one = server.get("/api/search?q=d0&top=1000").body.len();
    deaf.set_write_timeout(Some(LONGEST)).expect("a time limit");
    let mut count = 0;
    // It asks until the server hangs up.
    let error = loop {
        match deaf.write_all(request) {
            Ok(()) => count += 1,
            Err(error) => break error,
        }
    };
    assert!(
        !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        "the server did not hang up: {error}"
    );
    let (mut taken, mut piece) = (0, vec![0; 1 << 16]);
    while let Ok(bytes @ 1..) = deaf.read(&mut piece) {
        taken += bytes;
    }
    assert!(taken < count * one, "all {count} answers came");
    assert!(read(&mut idle).is_none());
    assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
}

#[test]
fn idle_connections_of_one_client_shut_nobody_out() {
    let place = place();
    let server = Server::start(&place, "--max-connections 40 --client-timeout 30");
    let started = Instant::now();
    let mut idle: Vec<_> = (0..200).map(|_| server.connect()).collect();
    for _ in 0..20 {
        assert_eq!(server.get("/api/health").status, 200);
        idle.extend((0..20).map(|_| server.connect()));
    }
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    drop(idle);
    let server = Server::start(&place, "--max-client-connections 4 --client-timeout 30");
    let idle: Vec<_> = (0..9).map(|_| server.connect()).collect();
    assert_eq!(server.get("/api/health").status, 200);
    drop(idle);
}

#[test]
fn a_client_that_reads_byte_by_byte_is_left() {
    let place = place();
    let server = Server::start(&place, "--client-timeout 0.5");
    let mut slow = server.connect();
    slow.set_write_timeout(Some(LONGEST)).expect("a time limit");
    let request = b"GET /api/search?q=d0&top=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    // More answers than the system buffers, read at some twenty bytes a second.
    let writer = slow.try_clone().expect("a handle");
    let asking = std::thread::spawn(move || {
        let mut writer = writer;
        while writer.write_all(request).is_ok() {}
    });
    let started = Instant::now();
    while !asking.is_finished() {
        assert!(started.elapsed() < LONGEST, "the server does not hang up");
        let _ = slow.read(&mut [0]);
        std::thread::sleep(Duration::from_millis(50));
    }
    asking.join().expect("ended");
}

#[test]
fn messages_name_no_options_of_the_command_line() {
    let place = place();
    let server = Server::start(&place, "");
    let ask = |question: Value| String::from_utf8(server.post("/api/recommend", &question).body).expect("text");
    for (question, message) in [
        (json!({"text": "chart", "before": "1900"}), "no document passes the filters (exclude, only, before)"),
        (json!({"text": "chart", "rank": "bm25", "min_probability": 0.5}), "leave out the minimum probability"),
        (json!({"text": "xyzzy", "rank": "embedding"}), "the only word of the text has no vector"),
    ] {
        let answer = ask(question);
        assert!(answer.contains(message) && !answer.contains("--"), "{answer}");
    }
}

#[test]
#[cfg(unix)]
fn connections_fit_into_the_files_that_may_be_open() {
    let place = place();
    let many = |server: &Server, count: usize| (0..count).map(|_| server.connect()).collect::<Vec<_>>();
    // As many as wanted where the limit may be raised.
    let server = Server::start_limited(&place, "ulimit -Sn 100", "");
    let idle = many(&server, 150);
    let started = Instant::now();
    assert_eq!(server.get("/api/health").status, 200);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    drop((idle, server));
    // Else as many as fit; others wait until these are left.
    let server = Server::start_limited(&place, "ulimit -n 100", "--client-timeout 1");
    server.says("at most 36 connections");
    let _idle = many(&server, 120);
    assert_eq!(server.get("/api/health").status, 200);
    assert!(!server.said("cannot accept"), "it does not run into the limit");
}
