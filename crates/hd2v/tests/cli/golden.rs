//! The whole output of `info` and `doctor` for one small corpus with a bit of everything.
//!
//! To see what changed: `cargo test -p hd2v --test cli golden`. To accept it: edit the file in `expected/`.

use crate::helper::Place;

const INPUT: &str = include_str!("expected/papers.jsonl");

fn assert_prints(command: &str, expected: &str) {
    let place = Place::with(&[("papers.jsonl", INPUT)]);
    place.ok("import jsonl papers.jsonl --min-count 2 -o c");
    // How texts are packed may change the fingerprint; what it is, other tests say.
    let printed = place.ok(command).out.replace(&place.fingerprint("c"), "FINGERPRINT");
    assert!(printed == expected, "{command} printed\n{printed}\nbut expected was\n{expected}");
}

#[test]
fn info_for_people() {
    assert_prints("info c", include_str!("expected/info.txt"));
}

#[test]
fn info_for_programs() {
    let expected = include_str!("expected/info.json").replace("VERSION", env!("CARGO_PKG_VERSION"));
    assert_prints("info c --json", &expected);
}

#[test]
fn doctor_for_people() {
    assert_prints("doctor c --links 9", include_str!("expected/doctor.txt"));
}

#[test]
fn doctor_for_programs() {
    assert_prints("doctor c --json --links 9", include_str!("expected/doctor.json"));
}
