//! The page's files and the map that it shows, over a real socket.

use std::fs;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::client::{Server, until};
use super::place;

/// The map, once it is made.
fn map(server: &Server) -> Value {
    let mut map = Value::Null;
    until("the map", || {
        let answer = server.get("/api/map");
        assert!([200, 202].contains(&answer.status), "{}", answer.status);
        map = answer.json();
        if answer.status == 202 {
            let done = map["done"].as_f64().expect("a share");
            assert!(map["ready"] == false && (0.0..=1.0).contains(&done), "{map}");
        }
        answer.status == 200
    });
    map
}

#[test]
fn the_map_is_made_once_and_kept_beside_the_model() {
    let place = place();
    let server = Server::start(&place, "");
    let found = map(&server);
    assert_eq!(found["documents"], 303);
    for name in ["x", "y", "label", "links", "ids", "titles"] {
        assert_eq!(found[name].as_array().map(Vec::len), Some(303), "{name}");
    }
    let number = found["ids"].as_array().and_then(|ids| ids.iter().position(|id| id == "parser")).expect("a place");
    assert_eq!(found["titles"][number], "<script>alert(1)</script> & \"parsers\"");
    assert_eq!(found["links"][number], 3);
    let label = |at: &Value| found["labels"][at.as_u64().expect("a number") as usize].as_str().expect("a label");
    let mut labels: Vec<&str> = found["label"][number].as_array().expect("labels").iter().map(label).collect();
    labels.sort_unstable();
    assert_eq!(labels, ["p", "tools"]);
    let packed = server.ask("GET", "/api/map", "Accept-Encoding: gzip\r\n", "");
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut plain).expect("gzip");
    assert!(plain == server.get("/api/map").body);
    let kept = fs::read(place.path("m.map")).expect("kept");
    drop(server);
    // A damaged map is made again, to the same bytes.
    fs::write(place.path("m.map"), &kept[..kept.len() - 1]).expect("written");
    let server = Server::start(&place, "--threads 1");
    assert_eq!(map(&server), found);
    assert!(fs::read(place.path("m.map")).expect("kept") == kept);
    drop(server);
    assert_eq!(map(&Server::start(&place, "")), found);
    // A file that is no map stays, and the map is in memory only.
    fs::write(place.path("m.map"), "notes of mine").expect("written");
    let server = Server::start(&place, "");
    assert_eq!(map(&server), found);
    server.says("the map is kept in memory only: m.map: not a hyperdoc2vec map");
    assert!(fs::read(place.path("m.map")).expect("still there") == b"notes of mine");
}

#[test]
fn the_map_is_that_of_the_model_that_took_anothers_place() {
    let place = place();
    let alone = {
        let server = Server::start(&place, "");
        (map(&server), fs::read(place.path("m.map")).expect("kept"))
    };
    fs::remove_file(place.path("m.map")).expect("removed");
    fs::rename(place.path("m"), place.path("small")).expect("renamed");
    place.ok("generate --docs 2000 --links 6000 --seed 3 -o large");
    place.ok("train large -o m --dim 8 --epochs 1 --content-epochs 1 --no-hybrid");
    let server = Server::start(&place, "");
    assert_eq!(server.get("/api/map").status, 202);
    fs::rename(place.path("small"), place.path("m")).expect("renamed");
    server.signal("-HUP");
    until("the small model", || server.json("/api/info")["documents"] == 303);
    assert!(map(&server) == alone.0);
    // The thread that computes the large model's map holds that model until it ends.
    until("the large model to be closed", || !server.holds_replaced_model());
    assert!(fs::read(place.path("m.map")).expect("kept") == alone.1);
}

#[test]
fn all_files_of_the_page_are_in_the_program() {
    let place = place();
    let server = Server::start(&place, "");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/serve/page");
    for entry in fs::read_dir(folder).expect("files") {
        let path = entry.expect("a file").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let answer = server.get(&format!("/page/{name}"));
        assert_eq!(answer.status, 200, "{name}");
        assert!(answer.body == fs::read(&path).expect("read"), "{name}");
        let kind = match path.extension().and_then(|ending| ending.to_str()) {
            Some("html") => "text/html; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            other => ["image/svg+xml"][usize::from(other != Some("svg"))],
        };
        assert_eq!(answer.header("content-type"), Some(kind), "{name}");
    }
    let index = String::from_utf8(server.get("/").body).expect("text");
    assert!(!index.contains(" style=") && !index.contains("<style") && !index.contains("onclick"), "nothing inline");
    assert!(!index.contains("http:") && !index.contains("https:"), "nothing from elsewhere");
}
