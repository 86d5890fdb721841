//! Output of the program: help, and readers that close early.

use crate::helper::{Place, record, records};

#[test]
fn the_help_of_every_command_has_an_example_that_is_a_command() {
    let place = Place::new();
    let help = place.ok("--help").out;
    let listed = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let commands: Vec<&str> = listed
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|&command| command != "help")
        .collect();
    assert!(["import", "generate", "info", "doctor", "cat"].iter().all(|name| commands.contains(name)), "{help}");
    for command in commands {
        let help = place.ok(&format!("{command} --help")).out;
        let (_, examples) = help.split_once("Example").unwrap_or_else(|| panic!("{command} has no example: {help}"));
        assert!(examples.contains(&format!("hd2v {command}")), "{help}");
    }
}

#[test]
fn data_goes_to_stdout_and_talk_to_stderr() {
    let place = Place::with(&[("in", &record("a", "x"))]);
    let outcome = place.ok("import jsonl in -o c");
    assert!(outcome.out.is_empty() && !outcome.err.is_empty());
    for command in ["info c", "info c --json", "doctor c", "doctor c --json", "cat c"] {
        let outcome = place.ok(command);
        assert!(!outcome.out.is_empty() && outcome.err.is_empty(), "{command}: {}", outcome.err);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::with(&[("in.jsonl", &records(20_000))]);
    place.ok("import jsonl in.jsonl -o c");
    for command in ["cat c", "info c", "doctor c", "import jsonl in.jsonl --jsonl -", "generate --jsonl -", "--help"] {
        let mut child = place.start(command);
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), err.as_ref()), (Some(0), ""), "{command}");
    }
}

#[test]
fn the_work_is_done_even_if_nobody_listens_to_the_talk() {
    let place = Place::with(&[("in.jsonl", &(record("a", "x [[a]] [[b]]")))]);
    let mut child = place.start("import jsonl in.jsonl -o c");
    drop(child.stderr.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert_eq!(place.json("info c --json")["documents"], 1);
    let mut child = place.start("import jsonl gone.jsonl -o d");
    drop(child.stderr.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
}
