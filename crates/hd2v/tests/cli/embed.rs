//! Vectors for new texts.

use serde_json::Value;

use crate::helper::{Place, gz, record, records, zst};

fn place() -> Place {
    let place = Place::with(&[("in.jsonl", &records(300))]);
    place.ok("import jsonl in.jsonl --min-count 2 -o c");
    place.ok("train c -o m --dim 12 --epochs 2 --content-epochs 3");
    place
}

fn read(place: &Place, name: &str) -> Vec<u8> {
    std::fs::read(place.path(name)).expect("written")
}

/// The rows of an npy file of twelve columns.
fn rows(npy: &[u8]) -> Vec<Vec<f32>> {
    let (numbers, rest) = npy[128..].as_chunks::<4>();
    assert!(rest.is_empty());
    let numbers: Vec<f32> = numbers.iter().map(|&four| f32::from_le_bytes(four)).collect();
    numbers.chunks(12).map(<[f32]>::to_vec).collect()
}

#[test]
fn a_text_has_the_same_vector_alone_in_a_batch_and_on_any_number_of_threads() {
    let place = place();
    let err = place.ok("embed m in.jsonl -o all.npy --threads 1").err;
    assert!(err.contains("all.npy: 300 texts, 12 numbers each"), "{err}");
    let all = read(&place, "all.npy");
    assert!(all.starts_with(b"\x93NUMPY\x01\x00") && all[..128].windows(9).any(|part| part == b"(300, 12)"));
    let ids = String::from_utf8(read(&place, "all.npy.ids")).expect("text");
    assert!(ids.starts_with("d0\nd1\n") && ids.lines().count() == 300);
    place.ok("embed m in.jsonl -o three.npy --threads 3");
    assert!(all == read(&place, "three.npy"));
    let vectors = rows(&all);
    assert!(vectors.iter().all(|vector| vector.iter().any(|&x| x != 0.0)));
    let records = records(300);
    for line in [0, 17, 299] {
        let record = records.lines().nth(line).expect("a line");
        let out = place.run_with("embed m - -o -", record.as_bytes()).succeeded("one").out;
        let out: Value = serde_json::from_str(&out).expect("one JSON document");
        assert_eq!(out["id"], format!("d{line}"));
        let one: Vec<f32> = serde_json::from_value(out["vector"].clone()).expect("numbers");
        assert_eq!(one, vectors[line]);
    }
}

#[test]
fn texts_come_as_files_lines_and_packed() {
    let place = place();
    let texts = ["w1 w2 w3 w4", "", "w7 w14 end"];
    let lines = texts.join("\n") + "\n";
    place.write("some.txt", &lines);
    place.ok("embed m --lines some.txt -o lines.npy");
    let found = rows(&read(&place, "lines.npy"));
    assert_eq!(read(&place, "lines.npy.ids"), b"some.txt:1\nsome.txt:2\nsome.txt:3\n");
    assert_eq!(found[1], [0.0; 12]);
    place.write("a.txt", texts[0]);
    place.write("b.txt.gz", gz(texts[2].as_bytes()));
    place.ok("embed m a.txt b.txt.gz -o files.npy");
    assert_eq!(rows(&read(&place, "files.npy")), [found[0].clone(), found[2].clone()]);
    assert_eq!(read(&place, "files.npy.ids"), b"a.txt\nb.txt.gz\n");
    // Links are no words; what they enclose is.
    place.write("d.jsonl.zst", zst((record("x", "w1 w2 [[d3]] [w3][[y]]w4") + &record("y", "w7")).as_bytes()));
    place.ok("embed m d.jsonl.zst -o d.npy");
    assert_eq!(rows(&read(&place, "d.npy"))[0], found[0]);
}

#[test]
fn texts_without_known_words_are_zero_and_counted() {
    let place = place();
    place.write("t", "xyzzy plugh");
    let err = place.ok("embed m t -o t.jsonl").err;
    assert!(err.starts_with("1 text has no word that the model has a vector for"), "{err}");
    let line: Value = serde_json::from_slice(&read(&place, "t.jsonl")).expect("JSON");
    assert_eq!(serde_json::from_value::<Vec<f32>>(line["vector"].clone()).expect("numbers"), [0.0; 12]);
}

#[test]
fn bad_input_leaves_nothing_behind() {
    let place = place();
    place.write("bad.jsonl", record("a", "w1 w2") + "{\"id\": \"b\"}\n");
    for output in ["x.npy", "x.jsonl"] {
        let message = place.refused(&format!("embed m bad.jsonl -o {output}"));
        assert!(message.starts_with("bad.jsonl:2: no \"text\""), "{message}");
    }
    place.ok("embed m bad.jsonl --skip-bad -o x.npy");
    assert_eq!(rows(&read(&place, "x.npy")).len(), 1);
    assert!(place.refused("embed m bad.jsonl -o x.npy").contains("already exists"));
    place.write("latin", b"caf\xe9");
    assert!(place.refused("embed m latin -o y.npy").starts_with("latin: not UTF-8 (byte 4 of the file)"));
    assert!(place.refused("embed m --lines latin -o y.npy").starts_with("latin:1: not UTF-8 (byte 4 of the line)"));
    assert!(place.refused("embed m nobody.txt -o y.npy").contains("nobody.txt"));
    assert!(place.refused("embed c in.jsonl -o y.npy").contains('c'));
    for usage in ["embed m in.jsonl -o y.txt", "embed m in.jsonl latin -o y.npy", "embed m -o y.npy"] {
        assert_eq!(place.run(usage).code, Some(2), "{usage}");
    }
    place.ok("train c -o walks --method deepwalk --dim 12 --epochs 1");
    assert!(place.refused("embed walks in.jsonl -o y.npy").contains("train another method"));
}

#[test]
#[cfg(unix)]
fn a_text_that_is_too_long_is_refused_and_need_not_have_an_end() {
    let place = place();
    place.write("long", "w1 ".repeat(400_000));
    let message = place.refused("embed m /dev/zero -o out.jsonl");
    assert!(message.starts_with("/dev/zero: the file has more than 128 MiB, the longest text allowed."), "{message}");
    assert!(place.refused("embed m long -o out.jsonl --max-record 1").contains("more than 1 MiB"));
    place.ok("embed m long -o out.jsonl --max-record 2");
}
