//! Ctrl-C and worse in the middle of the work: nothing half-written, and the next run works.
#![cfg(unix)]

use std::io::Write;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::helper::{Place, records};

/// Waits until something hidden has appeared beside the input.
fn wait_for_part(place: &Place, child: &mut Child) {
    let start = Instant::now();
    while !place.entries().iter().any(|name| name.contains(".part-")) {
        assert!(child.try_wait().expect("a child").is_none(), "it ended early");
        assert!(start.elapsed() < Duration::from_secs(60), "nothing is being written");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for the end; a program that does not stop would hold up the tests for ever.
fn wait_for_end(child: &mut Child) -> std::process::ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return status;
        }
        if start.elapsed() > Duration::from_secs(60) {
            let _ = child.kill();
            panic!("it does not stop");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(status.expect("a shell command").success());
}

/// Sends a signal to a command that waits for more input; it must end by itself and clean up.
fn stopped_by(name: &str, arguments: &str, sent: &str) {
    let place = Place::new();
    let mut child = place.start(arguments);
    // The pipe stays open: more could come.
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(sent.as_bytes()).expect("taken");
    wait_for_part(&place, &mut child);
    signal(&child, name);
    let status = wait_for_end(&mut child);
    drop(pipe);
    let output = child.wait_with_output().expect("it ended");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(status.code(), Some(1), "{err}");
    assert!(err.ends_with("hd2v: interrupted; nothing was left behind\n"), "{err}");
    assert_eq!(place.entries(), Vec::<String>::new());
}

#[test]
fn ctrl_c_while_waiting_for_the_first_line_leaves_nothing() {
    stopped_by("INT", "import jsonl - -o c", "");
}

#[test]
fn ctrl_c_in_the_middle_of_the_input_leaves_nothing() {
    stopped_by("INT", "import jsonl - -o c", &records(100_000));
    stopped_by("INT", "import jsonl - -o c --threads 1", &records(100_000));
}

#[test]
fn ctrl_c_leaves_no_half_written_jsonl() {
    stopped_by("INT", "import jsonl - --jsonl out.jsonl", &records(100_000));
}

#[test]
fn a_polite_request_to_end_leaves_nothing() {
    stopped_by("TERM", "import jsonl - -o c", &records(100));
}

#[test]
fn a_request_to_end_is_heeded_within_a_line_without_an_end() {
    stopped_by("TERM", "import jsonl /dev/zero -o c", "");
    stopped_by("INT", "import lines /dev/zero -o c --threads 1", "");
}

#[test]
fn a_bibliography_that_is_no_file_is_refused_rather_than_read_for_ever() {
    let message = Place::new().refused("import library /dev/zero -o c");
    assert!(message.contains("/dev/zero: it is not a regular file"), "{message}");
}

#[test]
fn a_request_to_end_is_heeded_while_a_text_is_read() {
    let place = Place::with(&[("in", &records(60))]);
    place.ok("import jsonl in --min-count 1 -o c");
    place.ok("train c -o m --dim 4 --epochs 1 --content-epochs 1 --no-hybrid");
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().expect("mkfifo").success());
    let before = place.entries();
    // Nobody writes to the pipe; the zeros would go on for four gigabytes.
    for input in ["pipe", "/dev/zero --max-record 4095"] {
        let mut child = place.start(&format!("embed m {input} -o out.npy"));
        wait_for_part(&place, &mut child);
        signal(&child, "TERM");
        assert_eq!(wait_for_end(&mut child).code(), Some(1), "{input}");
        assert_eq!(place.entries(), before, "{input}");
    }
}

/// GROBID may take minutes for a file, and a server that says nothing takes all of them.
#[test]
fn a_request_to_end_is_heeded_while_a_server_reads_a_pdf() {
    let place = Place::with(&[("a.pdf", "%PDF-1.4\n")]);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let mut child = place.start(&format!("import pdf a.pdf --grobid http://127.0.0.1:{port} -o c"));
    let _asked = listener.accept().expect("a question");
    signal(&child, "TERM");
    assert_eq!(wait_for_end(&mut child).code(), Some(1));
    assert_eq!(place.entries(), ["a.pdf", "c.texts"], "texts that were read are kept for the next run");
}

#[test]
fn ctrl_c_leaves_a_corpus_that_was_to_be_replaced() {
    let place = Place::with(&[("in", &records(10))]);
    place.ok("import jsonl in -o c");
    let before = place.files("c");
    let mut child = place.start("import jsonl - -o c --force");
    wait_for_part(&place, &mut child);
    signal(&child, "INT");
    assert_eq!(wait_for_end(&mut child).code(), Some(1));
    assert!(place.files("c") == before);
    assert_eq!(place.entries(), ["c", "in"]);
}

#[test]
fn a_killed_import_leaves_nothing_at_its_destination_and_the_next_one_works() {
    let place = Place::with(&[("in", &records(10))]);
    let mut child = place.start("import jsonl - -o c");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(records(100_000).as_bytes()).expect("taken");
    wait_for_part(&place, &mut child);
    child.kill().expect("killed");
    child.wait().expect("it ended");
    assert!(!place.path("c").exists());
    assert!(place.refused("info c").starts_with("cannot open c: no such corpus"));
    place.ok("import jsonl in -o c");
    assert_eq!(place.json("info c --json")["documents"], 10);
    place.ok("import jsonl in -o c --force");
}

#[test]
fn what_a_killed_import_left_is_cleared_by_the_next_one_and_a_running_one_is_left_alone() {
    let place = Place::with(&[("in", &records(10))]);
    let parts = || place.entries().into_iter().filter(|name| name.contains(".part-")).count();
    for (arguments, next) in [
        ("import jsonl - -o c", "import jsonl in -o c --force"),
        ("import jsonl - --jsonl out", "import jsonl in --jsonl out --force"),
    ] {
        let mut killed = place.start(arguments);
        wait_for_part(&place, &mut killed);
        killed.kill().expect("killed");
        killed.wait().expect("it ended");
        assert_eq!(parts(), 1);
        place.ok(next);
        assert_eq!(parts(), 0, "{arguments}");
        // A running one is left alone.
        let mut running = place.start(&format!("{arguments} --force"));
        wait_for_part(&place, &mut running);
        let second = place.run(next);
        assert_eq!((second.code, parts()), (Some(i32::from(arguments.ends_with('c'))), 1), "{}", second.err);
        let mut pipe = running.stdin.take().expect("a pipe");
        pipe.write_all(records(20).as_bytes()).expect("taken");
        drop(pipe);
        let output = running.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(parts(), 0, "{arguments}");
    }
}

#[test]
fn two_requests_to_stop_leave_nothing_that_stays() {
    let place = Place::with(&[("in", &records(10))]);
    let mut child = place.start("import jsonl - -o c");
    wait_for_part(&place, &mut child);
    signal(&child, "INT");
    signal(&child, "INT");
    assert_eq!(wait_for_end(&mut child).code(), Some(1));
    place.ok("import jsonl in -o c");
    assert_eq!(place.entries(), ["c", "in"]);
}
