//! Input that is wrong: one message that says where and what, exit code 1, and nothing left behind.

use std::io::Write;

use crate::helper::{Place, bz2, gz, record, records, xz, zst};

/// Records a, b, c …, with `line` in place of the one with this number.
fn with_line(count: usize, number: usize, line: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for i in 1..=count {
        let good = record(&format!("d{i}"), "some words");
        text.extend(if i == number { [line, b"\n"].concat() } else { good.into_bytes() });
    }
    text
}

fn refused(text: impl AsRef<[u8]>) -> String {
    let place = Place::new();
    place.write("in.jsonl", text);
    place.refused("import jsonl in.jsonl -o c")
}

const MEND: &str = "Correct it, or skip such records with --skip-bad";

#[test]
fn bytes_that_are_no_utf_8_are_named_by_line_and_byte() {
    let text = with_line(5, 3, b"{\"id\":\"x\",\"text\":\"a \xff b\"}");
    assert_eq!(refused(text), format!("in.jsonl:3: not UTF-8 (byte 21 of the line). {MEND}"));
    let place = Place::new();
    place.write("in.txt", b"A x\nB \xc3\n");
    assert_eq!(place.refused("import lines in.txt -o c"), format!("in.txt:2: not UTF-8 (byte 3 of the line). {MEND}"));
}

#[test]
fn broken_json_is_named_by_line_and_column() {
    let text = with_line(9, 7, b"{\"id\":\"x\",\"text\":");
    assert_eq!(refused(text), format!("in.jsonl:7: not a JSON record: EOF while parsing a value (column 17). {MEND}"));
    assert!(refused("[]\n").starts_with("in.jsonl:1: not a JSON record: invalid type: sequence, expected an object"));
    assert!(refused("[".repeat(100_000)).starts_with("in.jsonl:1: not a JSON record"));
    let nested = format!("{{\"id\":\"a\",\"text\":\"\",\"x\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let place = Place::with(&[("in.jsonl", &nested)]);
    place.ok("import jsonl in.jsonl -o c");
}

#[test]
fn the_first_bad_line_is_named_even_in_a_later_batch() {
    let text = records(60_000) + "oops\n" + &records(10) + "oops\n";
    assert!(refused(text).starts_with("in.jsonl:60001: not a JSON record"));
    let place = Place::new();
    let text = [records(60_000).as_bytes(), b"oops\n"].concat();
    let message = place.refused_with("import jsonl - -o c", &text);
    assert!(message.starts_with("standard input:60001: not a JSON record"), "{message}");
}

#[test]
fn a_record_without_id_or_text_is_named() {
    assert_eq!(
        refused(with_line(3, 2, b"{\"text\":\"x\"}")),
        format!("in.jsonl:2: no \"id\": every record needs one. {MEND}")
    );
    assert_eq!(refused("{\"id\":\"a\"}"), format!("in.jsonl:1: no \"text\" in the record of \"a\". {MEND}"));
}

#[test]
fn of_two_documents_with_one_id_the_first_is_kept_and_the_other_counted() {
    let place = Place::with(&[("in.jsonl", &(record("a", "first") + &record("b", "x") + &record("a", "second")))]);
    let err = place.ok("import jsonl in.jsonl -o c").err;
    assert!(err.contains("1 document left out because its id came before\n    a (in.jsonl:3)\n"), "{err}");
    assert_eq!(place.ok("cat c a").out, record("a", "first"));
}

#[test]
fn a_link_to_itself_an_unclosed_mark_and_an_unknown_target_are_counted() {
    let place = Place::with(&[("in.jsonl", &(record("a", "one [[a]] two [[ three") + &record("b", "x [[nobody]]")))]);
    let err = place.ok("import jsonl in.jsonl -o c").err;
    for line in [
        "1 link of a document to itself left out\n    a\n",
        "1 link mark that does not close, or is empty, read as text\n    a (in.jsonl:1)\n",
        "1 link left out because no document has that id\n    nobody (1)\n",
    ] {
        assert!(err.contains(line), "{line}{err}");
    }
    let info = place.json("info c --json");
    assert_eq!((&info["positions"], &info["links"], &info["words"]), (&0.into(), &0.into(), &4.into()));
}

#[test]
fn input_without_documents_makes_no_corpus() {
    let nothing = "in.jsonl: no documents found; nothing was written";
    assert_eq!(refused(""), nothing);
    assert_eq!(refused("\n  \n\t\r\n\n"), nothing);
    assert_eq!(refused("{\"id\":\"a\",\"redirect\":\"b\"}\n"), nothing);
    assert_eq!(refused(zst(b"")), nothing);
    let place = Place::new();
    let message = place.refused_with("import jsonl - -o c", b"");
    assert_eq!(message, "-: no documents found; nothing was written");
}

#[test]
fn a_missing_file_and_a_directory_are_named() {
    let place = Place::with(&[("in.jsonl", &record("a", "x"))]);
    std::fs::create_dir(place.path("folder")).expect("a directory");
    let message = place.refused("import jsonl in.jsonl gone.jsonl -o c");
    assert!(message.starts_with("cannot read gone.jsonl: No such file"), "{message}");
    assert_eq!(message.matches("No such file").count(), 1, "the cause is said once: {message}");
    let message = place.refused("import jsonl in.jsonl folder -o c");
    assert_eq!(message, "folder: is a directory, but this format reads files");
}

#[test]
fn a_line_longer_than_allowed_is_named() {
    let place = Place::new();
    let long = format!("{{\"id\":\"long\",\"text\":\"{}\"}}", "word ".repeat(2 << 18));
    place.write("in.jsonl", with_line(4, 2, long.as_bytes()));
    let message = place.refused("import jsonl in.jsonl --max-record 1 -o c");
    assert_eq!(
        message,
        format!(
            "in.jsonl:2: the line is longer than 1 MiB, the longest allowed (is this one document a line?). {MEND}"
        )
    );
    place.ok("import jsonl in.jsonl --max-record 1 --skip-bad -o skipped");
    assert_eq!(place.json("info skipped --json")["documents"], 3);
    place.ok("import jsonl in.jsonl -o c");
    assert_eq!(place.json("info c --json")["documents"], 4);
}

#[test]
fn a_line_of_200_megabytes_is_refused() {
    let place = Place::new();
    let mut child = place.start("import jsonl - -o c");
    let mut pipe = child.stdin.take().expect("a pipe");
    let piece = "word ".repeat(200_000);
    pipe.write_all(b"{\"id\":\"a\",\"text\":\"").expect("taken");
    for _ in 0..200 {
        pipe.write_all(piece.as_bytes()).expect("taken");
    }
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.starts_with("hd2v: standard input:1: the line is longer than 128 MiB, the longest allowed"), "{err}");
    assert_eq!(place.entries(), Vec::<String>::new());
}

#[test]
fn packed_input_that_is_cut_short_or_altered_is_named() {
    let text = records(2000);
    for (name, packed) in [
        ("gz", gz(text.as_bytes())),
        ("zst", zst(text.as_bytes())),
        ("bz2", bz2(text.as_bytes())),
        ("xz", xz(text.as_bytes())),
    ] {
        let place = Place::new();
        for keep in [packed.len() - 1, packed.len() / 2, 10] {
            place.write("in", &packed[..keep]);
            let message = place.refused("import jsonl in -o c");
            assert!(message.starts_with("cannot read in: "), "{name} with {keep} bytes: {message}");
        }
    }
    // Only the checksum at its end can tell.
    let mut packed = gz(text.as_bytes());
    let end = packed.len() - 6;
    packed[end] ^= 1;
    let place = Place::new();
    place.write("in", packed);
    assert!(place.refused("import jsonl in -o c").starts_with("cannot read in: "));
}

#[test]
fn an_output_that_exists_is_kept_unless_forced_and_only_a_corpus_is_replaced() {
    let place = Place::with(&[("in", &record("a", "x")), ("other", &(record("a", "x") + &record("b", "y")))]);
    place.ok("import jsonl in -o c");
    let before = place.files("c");
    let exists = "c: already exists; choose another name, or replace it with --force";
    assert_eq!(place.refused("import jsonl other -o c"), exists);
    assert_eq!(place.refused("generate --docs 10 --links 10 -o c"), exists);
    assert!(place.files("c") == before);
    // An import that fails leaves the old corpus, --force or not.
    place.write("bad", "{");
    place.refused("import jsonl bad -o c --force");
    assert!(place.files("c") == before);
    place.ok("import jsonl other -o c --force");
    assert_eq!(place.json("info c --json")["documents"], 2);
    assert_eq!(place.entries(), ["bad", "c", "in", "other"]);

    std::fs::create_dir(place.path("precious")).expect("a directory");
    place.write("precious/thesis.txt", "ten years of work");
    for kept in ["precious", "other"] {
        let message = place.refused(&format!("import jsonl in -o {kept} --force"));
        let expected = "exists and holds something else than a corpus, so it is never replaced; choose another name";
        assert_eq!(message, format!("{kept}: {expected}"));
    }
    assert!(place.path("precious/thesis.txt").is_file());
    // Neither a foreign corpus.json nor a corpus with something beside it is replaced.
    place.write("precious/corpus.json", "{}");
    place.refused("import jsonl in -o precious --force");
    place.write("c/notes.txt", "kept");
    place.refused("import jsonl in -o c --force");
    assert!(place.path("c/notes.txt").is_file() && place.path("precious/thesis.txt").is_file());
}

#[test]
fn a_jsonl_output_that_exists_is_kept_unless_forced() {
    let place = Place::with(&[("in.txt", "A x\n"), ("out.jsonl", &record("precious", "1"))]);
    let message = place.refused("import lines in.txt --jsonl out.jsonl");
    assert_eq!(message, "out.jsonl: already exists; choose another name, or replace it with --force");
    place.write("bad.txt", b"\xff");
    place.refused("import lines bad.txt --jsonl out.jsonl --force");
    assert_eq!(std::fs::read_to_string(place.path("out.jsonl")).expect("there"), record("precious", "1"));
    place.ok("import lines in.txt --jsonl out.jsonl --force");
    assert_eq!(std::fs::read_to_string(place.path("out.jsonl")).expect("there"), record("A", "x"));
}

#[test]
fn an_output_in_a_directory_that_is_not_there_is_named() {
    let place = Place::with(&[("in", &record("a", "x"))]);
    let message = place.refused("import jsonl in -o no/such/c");
    assert_eq!(message, "no/such: no such directory; make it first");
    let message = place.refused("import jsonl in --jsonl no/such.jsonl");
    assert!(message.starts_with("cannot create no/such.jsonl: No such file"), "{message}");
}

#[test]
fn wrong_usage_is_told_with_exit_code_2() {
    let place = Place::with(&[("in", &record("a", "x"))]);
    for (arguments, expected) in [
        ("import", "required"),
        ("import jsonl in", "--output"),
        ("import jsonl in -o c --jsonl d", "cannot be used with"),
        ("import spreadsheet in -o c", "expected a format (jsonl, lines"),
        ("import jsonl in -o c --min-count few", "--min-count"),
        ("import jsonl in -o c --max-record 0", "--max-record"),
        ("import jsonl in -o c --max-record 99999999999999999", "--max-record"),
        ("generate --docs 0 -o c", "docs is 0, but must be from 1"),
        ("generate --docs 10 --links 100000 -o c", "links"),
        ("generate --newcomers NaN -o c", "newcomers is NaN"),
        ("nonsense", "unrecognized subcommand"),
    ] {
        let outcome = place.run(arguments);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""), "{arguments}: {}", outcome.err);
        assert!(outcome.err.contains(expected), "{arguments}: {}", outcome.err);
        assert_eq!(place.entries(), ["in"], "{arguments}");
    }
}

#[cfg(unix)]
#[test]
fn a_disk_that_takes_no_more_is_told_by_the_file_that_did_not_fit_and_nothing_is_left() {
    // A limit on the size of files stands in for a full disk: both fail in the middle of a write.
    let place = Place::with(&[("in.jsonl", &records(20_000))]);
    let before = place.entries();
    for (command, file) in [
        ("import jsonl in.jsonl -o c", "/.c.part-"),
        ("generate --docs 2000 --links 3000 -o c", "/.c.part-"),
        ("import jsonl in.jsonl --jsonl out.jsonl", "cannot write out.jsonl: "),
        ("generate --jsonl out.jsonl", "cannot write out.jsonl: "),
    ] {
        let script = format!("ulimit -f 200; trap '' XFSZ; exec {} {command}", crate::helper::HD2V);
        let output = assert_cmd::Command::new("sh").args(["-c", &script]).current_dir(place.path("")).output();
        let output = output.expect("a shell");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{command}: {err}");
        assert!(err.contains("cannot write ") && err.contains(file), "{command}: {err}");
        assert!(err.contains("too large") && err.lines().count() == 1, "{command}: {err}");
        assert_eq!(place.entries(), before, "{command}");
    }
}

#[test]
fn marks_of_wiki_links_that_do_not_close_are_shown_by_import_and_doctor() {
    let place = Place::new();
    std::fs::create_dir(place.path("notes")).expect("a directory");
    place.write("notes/a.md", "# A\n\nto [[b and [[]]\n\n[[|x]] [[b]]\n");
    place.write("notes/b.md", "b");
    let err = place.ok("import markdown notes -o c").err;
    let line = "3 link marks that do not close, or are empty, read as text\n    a (a.md:3)\n    a (a.md:5)\n";
    assert!(err.contains(line), "{err}");
    assert!(place.ok("doctor c").out.contains(line));
}

#[test]
fn only_bad_records_are_told_by_the_first_of_them() {
    let place = Place::with(&[("in.jsonl", "oops\n{\"id\":\"a\"}\n")]);
    for output in ["-o c", "--jsonl out"] {
        let message = place.refused(&format!("import jsonl in.jsonl --skip-bad {output}"));
        let start =
            "in.jsonl: no documents found (2 malformed records left out, the first: in.jsonl:1: not a JSON record";
        assert!(message.starts_with(start), "{message}");
        assert!(message.ends_with("; nothing was written"), "{message}");
    }
    std::fs::create_dir(place.path("site")).expect("a directory");
    place.write("site/a.html", "<nav>only</nav>");
    let message = place.refused("import html site -o c");
    assert!(message.contains("no documents found (1 page left out because it holds no text"), "{message}");
}

#[test]
fn a_named_file_of_another_kind_is_refused() {
    let place = Place::with(&[("a.jsonl", &record("a", "x")), ("b.md", "text"), ("c.html", "<p>x"), ("README", "# R")]);
    place.write("d.jsonl.gz", gz(b"{}"));
    for (arguments, found) in [("html a.jsonl", "a.jsonl"), ("html b.md", "b.md"), ("html d.jsonl.gz", "d.jsonl.gz")] {
        let message = place.refused(&format!("import {arguments} -o c"));
        let expected = "expected pages (.html, .htm, .xhtml, packed or not), found another kind of file";
        assert!(message.starts_with(&format!("{found}: {expected}")), "{message}");
    }
    assert!(place.refused("import markdown c.html -o c").contains("expected Markdown files (.md, .markdown, .mdx"));
    place.ok("import markdown README -o c");
    assert_eq!(place.json("info c --json")["documents"], 1);
}

#[test]
fn a_packed_page_that_is_cut_short_is_counted() {
    let place = Place::new();
    std::fs::create_dir(place.path("notes")).expect("a directory");
    let packed = gz("words ".repeat(1000).as_bytes());
    place.write("notes/a.md.gz", &packed[..packed.len() / 2]);
    place.write("notes/b.md", "b");
    let err = place.ok("import markdown notes -o c").err;
    assert!(err.contains("1 malformed record left out\n    a.md.gz: "), "{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn devices_and_pipes_are_written_as_they_are() {
    let place = Place::with(&[("in.txt", "A x\nB y =-=A-=-\n")]);
    let expected = record("A", "x") + &record("B", "y [[A]]");
    assert_eq!(place.ok("import lines in.txt --jsonl /dev/stdout").out, expected);
    assert_eq!(place.ok("import lines in.txt --jsonl /dev/null").out, "");
    let message = place.refused("import lines in.txt --jsonl /dev/full");
    assert!(message.starts_with("cannot write /dev/full: No space left on device"), "{message}");
    let message = place.refused("generate --docs 500 --links 10 --jsonl /dev/full");
    assert!(message.starts_with("cannot write /dev/full: No space left on device"), "{message}");
    // What the shell appends to is not overwritten.
    let script = format!("echo first > out; {} import lines in.txt --jsonl /dev/stdout >> out", crate::helper::HD2V);
    let status = std::process::Command::new("sh").args(["-c", &script]).current_dir(place.path("")).output();
    assert!(status.expect("a shell").status.success());
    assert_eq!(std::fs::read_to_string(place.path("out")).expect("there"), format!("first\n{expected}"));
    let script =
        format!("mkfifo pipe; cat pipe > piped & {} import lines in.txt --jsonl pipe; wait", crate::helper::HD2V);
    std::process::Command::new("sh").args(["-c", &script]).current_dir(place.path("")).output().expect("a shell");
    assert_eq!(std::fs::read_to_string(place.path("piped")).expect("there"), expected);
}

#[cfg(target_os = "linux")]
#[test]
fn standard_output_that_takes_no_more_is_named() {
    let place = Place::with(&[("in", &records(100))]);
    place.ok("import jsonl in -o c");
    for command in ["info c", "doctor c --json", "cat c", "import jsonl in --jsonl -"] {
        let script = format!("exec {} {command} > /dev/full", crate::helper::HD2V);
        let output = assert_cmd::Command::new("sh").args(["-c", &script]).current_dir(place.path("")).output();
        let output = output.expect("a shell");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {err}");
        assert!(err.starts_with("hd2v: cannot write standard output: No space left on device"), "{command}: {err}");
    }
}

#[test]
fn a_wiki_dump_cut_short_is_refused_and_what_is_no_dump_is_told() {
    let dump = "<mediawiki><page><title>A</title><ns>0</ns><revision><text>a b c</text></revision></page></mediawiki>";
    let packed = bz2(dump.as_bytes());
    let place = Place::with(&[("page.html", "<html></html>")]);
    place.write("dump.xml.bz2", &packed[..packed.len() - 9]);
    let message = place.refused("import mediawiki dump.xml.bz2 -o c");
    assert!(message.starts_with("dump.xml.bz2: ") && message.contains("cut short"), "{message}");
    let message = place.refused("import mediawiki page.html -o c");
    let expected = "page.html: expected a MediaWiki dump, which is XML that begins with <mediawiki; found <html>";
    assert!(message.starts_with(expected), "{message}");
    place.write("dump.xml", &dump[..dump.len() - 20]);
    let message = place.refused("import mediawiki dump.xml -o c");
    assert!(message.contains("in the middle of a page") && message.contains("--skip-bad"), "{message}");
    let outcome = place.run("import mediawiki dump.xml --include x -o c");
    assert!(outcome.code == Some(2) && outcome.err.contains("`include`"), "{}", outcome.err);
}

#[test]
fn what_is_given_in_place_of_something_else_is_named_with_the_way_from_there() {
    let place = Place::with(&[("in.jsonl", &records(30)), ("refs.bib", "@article{a, title={b}}")]);
    std::fs::create_dir(place.path("notes")).expect("a folder");
    place.write("notes/a.md", "hello [[b]]");
    place.ok("import jsonl in.jsonl -o c.corpus");
    for (command, told) in [
        (
            "train in.jsonl -o m",
            "in.jsonl: neither a corpus nor a model, but JSON, a record a line; import it first: hd2v import jsonl in.jsonl -o in.corpus",
        ),
        (
            "train notes -o m",
            "notes: neither a corpus nor a model, but Markdown; import it first: hd2v import markdown notes -o notes.corpus",
        ),
        (
            "doctor refs.bib",
            "refs.bib: neither a corpus nor a model, but a bibliography; import it first: hd2v import library refs.bib -o refs.corpus",
        ),
        (
            "similar c.corpus a",
            "c.corpus: a corpus, not a hyperdoc2vec model; train one: hd2v train c.corpus -o c.model",
        ),
        (
            "import pdf notes -o n",
            "notes: expected PDFs (.pdf), found none. This is Markdown: hd2v import markdown notes -o notes.corpus",
        ),
    ] {
        assert_eq!(place.refused(command), told, "{command}");
    }
    let told = |arguments: &str| place.run(arguments).err;
    assert!(told("import bibtex refs.bib -o c").contains("the format that reads bibtex is called library"));
    assert!(told("import refs.bib -o c").contains("hd2v import library refs.bib -o refs.corpus"));
    assert!(told("import epub a -o c").contains("pandoc"));
}

#[test]
#[cfg(target_os = "linux")]
fn what_has_no_end_is_not_read_for_ever() {
    let place = Place::with(&[("in.jsonl", &records(40)), ("d.md", "w1 w2 [[?]]\n")]);
    place.ok("import jsonl in.jsonl --min-count 1 -o c");
    place.ok("train c -o m --dim 4 --epochs 1 --content-epochs 1 --no-hybrid");
    for command in [
        "recommend m --file /dev/zero",
        "recommend m --text w1 --source-file /dev/zero",
        "recommend m /dev/zero",
        "serve m --port 0 --token-file /dev/zero",
        "pdf-text /dev/zero",
    ] {
        let told = place.refused(command);
        assert!(told.contains("/dev/zero") && told.contains("MB"), "{command}: {told}");
    }
}

#[test]
fn the_texts_of_pdfs_are_not_kept_in_the_place_of_the_corpus() {
    let place = Place::with(&[("refs.bib", "@article{a, title={A title of some words}, year=2001}\n")]);
    let told = place.refused("import library refs.bib -o lib.texts");
    assert!(told.contains("lib.texts") && told.contains("another name"), "{told}");
    assert!(!place.path("lib.texts").exists());
}
