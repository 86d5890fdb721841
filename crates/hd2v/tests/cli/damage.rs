//! Corpora and models that were cut, altered or made by another version: refused, with advice, without a panic.

use std::fs;

use crate::helper::{Outcome, Place, record};

fn corpus() -> Place {
    let labelled = r#"{"id":"c","title":"C","date":"2001","labels":["x","y"],"url":"u","text":"three [[a|b]]"}"#;
    let place = Place::with(&[("in", &(record("a", "one [[b]] two") + &record("b", "x [w][[a]]") + labelled))]);
    place.ok("import jsonl in --min-count 1 -o c");
    place
}

/// Not necessarily an error, but never a panic, and an error has one line that names the corpus.
fn sound(outcome: Outcome, what: &str) -> bool {
    if outcome.code == Some(0) {
        return true;
    }
    let message = outcome.one_message(what);
    assert!(message.starts_with("c: ") || message.contains("c/"), "{what}: {message}");
    assert!(message.contains("import") || message.contains("No such file"), "{what}: {message}");
    false
}

#[test]
fn a_byte_altered_anywhere_is_noticed_by_doctor_and_cat_and_does_not_upset_info() {
    let place = corpus();
    for (name, bytes) in place.files("c").into_iter().filter(|(_, bytes)| !bytes.is_empty()) {
        let file = format!("c/{name}");
        for at in [0, bytes.len() / 2, bytes.len() - 1] {
            for flip in [0x01, 0x80] {
                let mut altered = bytes.clone();
                altered[at] ^= flip;
                place.write(&file, &altered);
                let what = format!("byte {at} of {name} altered by {flip}");
                assert!(!sound(place.run("doctor c"), &what), "doctor accepts {what}");
                assert!(!sound(place.run("cat c"), &what), "cat accepts {what}");
                sound(place.run("info c --json"), &what);
            }
        }
        place.write(&file, &bytes);
    }
    place.ok("doctor c");
}

#[test]
fn a_file_cut_short_or_missing_is_noticed_by_all() {
    let place = corpus();
    for (name, bytes) in place.files("c").into_iter().filter(|(_, bytes)| !bytes.is_empty()) {
        let file = format!("c/{name}");
        for command in ["info c", "info c --json", "doctor c", "cat c"] {
            // The end of the manifest is a line feed that says nothing.
            place
                .write(&file, bytes[..bytes.len() - 1].trim_ascii_end().split_last().map_or(&[][..], |(_, rest)| rest));
            assert!(!sound(place.run(command), &name), "{command} accepts {name} cut short");
            place.write(&file, "");
            assert!(!sound(place.run(command), &name), "{command} accepts an empty {name}");
            fs::remove_file(place.path(&file)).expect("removed");
            assert!(!sound(place.run(command), &name), "{command} accepts a missing {name}");
            place.write(&file, &bytes);
        }
    }
}

#[test]
fn a_corpus_of_a_newer_version_is_refused_with_advice() {
    let place = corpus();
    let json = fs::read_to_string(place.path("c/corpus.json")).expect("readable");
    place.write("c/corpus.json", json.replace("\"version\": 3", "\"version\": 9"));
    for command in ["info c", "doctor c", "cat c"] {
        let message = place.refused(command);
        assert!(message.starts_with("c: written in layout 9 by program "), "{message}");
        assert!(message.ends_with("use a newer program or import the corpus again"), "{message}");
    }
}

#[test]
fn what_is_no_corpus_is_told_apart_from_what_is_not_there() {
    let place = corpus();
    fs::create_dir(place.path("folder")).expect("a directory");
    for command in ["info", "doctor", "cat"] {
        let message = place.refused(&format!("{command} folder"));
        assert_eq!(message, "folder: not a corpus: it has no corpus.json; import the documents first");
        let message = place.refused(&format!("{command} in"));
        if command != "cat" {
            assert!(message.starts_with("in: not a whole hyperdoc2vec model"), "{message}");
        } else {
            assert_eq!(message, "in: not a corpus: it has no corpus.json; import the documents first");
        }
        let message = place.refused(&format!("{command} gone"));
        assert_eq!(message, "cannot open gone: no such corpus; import the documents first");
    }
}

/// Every command that reads a model, in a directory with the model `m` and the texts `new.jsonl`.
const MODEL_COMMANDS: [&str; 9] = [
    "info m --json",
    "doctor m",
    "similar m d000001",
    "similar m d000001 --by out --json",
    "recommend m --file new.jsonl --json",
    "embed m new.jsonl -o -",
    "export m --what doc-in --format word2vec -o -",
    "add m n -o grown",
    "serve m --port 0",
];

#[test]
fn a_model_with_an_altered_byte_is_refused_by_every_command() {
    let place = Place::with(&[("new.jsonl", &record("new", "some words [[?]] and others"))]);
    place.ok("generate --docs 60 --links 200 --seed 3 -o c");
    place.ok("train c -o m --dim 8 --epochs 1 --content-epochs 1");
    place.ok("import jsonl new.jsonl --min-count 1 -o n");
    let bytes = fs::read(place.path("m")).expect("a model");
    for command in MODEL_COMMANDS.iter().filter(|command| !command.starts_with("serve")) {
        place.ok(command);
        let _ = fs::remove_file(place.path("grown"));
    }
    let header = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    // In the description, in its padding or the first array, and in the last array.
    let letter = bytes.windows(8).position(|window| window == b"features").unwrap_or(header / 2);
    for at in [letter, 8 + header, bytes.len() - 1] {
        let mut altered = bytes.clone();
        altered[at] ^= 1;
        place.write("m", &altered);
        for command in MODEL_COMMANDS {
            let message = place.refused(command);
            assert!(message.starts_with("m: "), "byte {at}, {command}: {message}");
        }
    }
}

#[test]
fn doctor_examines_a_model_and_the_files_beside_it() {
    let place = Place::new();
    place.ok("generate --docs 60 --links 200 --seed 3 -o c");
    place.ok("train c -o m --dim 8 --epochs 1 --content-epochs 1");
    let examined = place.json("doctor m --json");
    assert_eq!((&examined["intact"], &examined["description_checked"]), (&true.into(), &true.into()));
    assert_eq!((&examined["documents"], &examined["vectors"]["doc_in"]["rows"]), (&60.into(), &60.into()));
    assert_eq!(examined["sidecars"]["map"], "none");
    place.write("m.map", "not a map");
    assert!(place.ok("doctor m").out.contains("map: not a hyperdoc2vec map, so it is left alone"));
}

/// A model of an earlier program opens, and what cannot be checked of it is said once.
#[test]
fn a_model_of_an_earlier_version_is_used_with_a_note() {
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/../hyperdoc2vec/tests/data/models/v2.safetensors");
    let place = Place::new();
    fs::copy(old, place.path("m")).expect("copied");
    let outcome = place.ok("similar m d000001 --json");
    assert!(outcome.err.contains("without a checksum of its description"), "{}", outcome.err);
    assert_eq!(place.json("doctor m --json")["description_checked"], false);
}
