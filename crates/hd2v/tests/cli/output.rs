//! Output of the program: help, readers that close early, and what a terminal must not get.

use serde_json::json;

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
fn shells_and_man_know_every_command() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = place.ok(&format!("completions {shell}")).out;
        assert!(script.contains("recommend") && script.contains("min-probability"), "{shell}: {script}");
    }
    assert!(place.ok("man").out.starts_with(".ie"), "a manual page");
    place.ok("man -o pages");
    let pages = std::fs::read_dir(place.path("pages")).expect("a folder");
    let pages: Vec<String> = pages.map(|page| page.expect("a page").file_name().into_string().expect("text")).collect();
    for page in ["hd2v.1", "hd2v-import.1", "hd2v-evaluate-links.1"] {
        assert!(pages.iter().any(|name| name == page), "{pages:?}");
    }
    assert!(!pages.iter().any(|name| name == "hd2v-pdf-text.1"), "help does not show it: {pages:?}");
    let import = std::fs::read_to_string(place.path("pages/hd2v-import.1")).expect("written");
    assert!(import.contains("hd2v\\-import") && import.contains("Examples"), "{import}");
    // Pages are replaced, and nothing else is: then no page is written.
    place.ok("man -o pages");
    std::fs::remove_file(place.path("pages/hd2v.1")).expect("removed");
    place.write("pages/hd2v-import.1", "Dear diary,\n");
    let refused = place.refused("man -o pages");
    assert!(refused.contains("hd2v-import.1") && refused.contains("not a manual page"), "{refused}");
    assert_eq!(std::fs::read_to_string(place.path("pages/hd2v-import.1")).expect("there"), "Dear diary,\n");
    assert!(!place.path("pages/hd2v.1").exists());
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

#[test]
fn nothing_hidden_or_endless_reaches_a_terminal() {
    let long = format!("long{}", "x".repeat(2000));
    let odd = "odd\u{1b}[31m\u{7f}\u{9b}\u{202e}\u{2066}\u{200f}\u{61c}\u{ad}";
    let mut lines = records(40);
    for (id, target) in [(odd, long.as_str()), (long.as_str(), odd)] {
        let text = format!("w1 w2 w3 w4 wo\u{ad}rd{odd} [[{target}]] w5 w6 w7 [[nobody{odd}]]");
        let line = json!({"id": id, "title": format!("title {odd} {long}"), "labels": [odd, long], "text": text});
        (0..2).for_each(|_| lines.push_str(&format!("{line}\n")));
    }
    let place = Place::with(&[("in.jsonl", &lines)]);
    let made = place.ok("import jsonl in.jsonl --min-count 1 -o c").err;
    place.ok("train c -o m --dim 4 --epochs 2 --content-epochs 2");
    let ask = "recommend m --top 50 --text w1 --rank";
    let mut told = made;
    for command in [
        "info c",
        "info m",
        "doctor c --links 50",
        "similar m d1 --top 50",
        "similar m w1 --words --top 500",
        &format!("{ask} bm25-cited --explain"),
        &format!("{ask} embedding --explain"),
    ] {
        let outcome = place.ok(command);
        told += &(outcome.out + &outcome.err);
    }
    for arguments in [["similar", "m", &long], ["similar", "m", odd], ["cat", "c", &format!("no {odd}")]] {
        let mut command = std::process::Command::new(crate::helper::HD2V);
        let output = command.args(arguments).current_dir(place.path("")).output().expect("it runs");
        told += &String::from_utf8(output.stdout).expect("UTF-8");
        told += &String::from_utf8(output.stderr).expect("UTF-8");
    }
    let hidden = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{2066}\u{200f}\u{61c}\u{ad}".contains(c));
    assert!(!told.contains(hidden), "{told:?}");
    assert!(told.contains(r"odd\u{1b}[31m\u{7f}\u{9b}\u{202e}") && told.contains('…'), "{told}");
    let longest = told.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    assert!(longest < 1500, "{longest}: {told}");
    // JSON has everything whole, and escapes what is hidden.
    let json = place.ok("similar m d1 --top 50 --json").out;
    assert!(!json.contains(hidden), "{json:?}");
    let hits: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let ids: Vec<&str> = hits["hits"].as_array().expect("hits").iter().filter_map(|hit| hit["id"].as_str()).collect();
    assert!(ids.contains(&odd) && ids.contains(&long.as_str()), "{ids:?}");
}

/// A character of these that is written as it is would hide something, or make a terminal do something.
const ODD: &str = "odd\u{1b}[31m\u{7f}\u{9b}\u{202e}\u{2066}\u{200f}\u{61c}\u{ad}";

fn is_hidden(c: char) -> bool {
    c != '\n' && (c.is_control() || "\u{202e}\u{2066}\u{200f}\u{61c}\u{ad}".contains(c))
}

/// A corpus `c` and a model `m` with hidden characters in an id, a title and a text.
fn odd_place() -> Place {
    let mut lines = records(40);
    let text = format!("w1 w2 {ODD} [[d1]] w3");
    lines.push_str(&format!("{}\n", json!({"id": ODD, "title": ODD, "labels": [ODD], "text": text})));
    lines.push_str(&format!("{}\n", json!({"id": format!("old{ODD}"), "redirect": ODD})));
    let place = Place::with(&[("in.jsonl", &lines)]);
    place.ok("import jsonl in.jsonl --min-count 1 -o c");
    place.ok("train c -o m --dim 4 --epochs 1 --content-epochs 1 --no-hybrid");
    place
}

#[test]
fn json_on_stdout_escapes_what_is_hidden_and_means_the_same() {
    let place = odd_place();
    let id = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["id"].clone();
    for (command, file) in [
        ("cat c", None),
        ("import jsonl in.jsonl --jsonl -", Some("import jsonl in.jsonl --jsonl file")),
        ("embed m in.jsonl -o -", Some("embed m in.jsonl -o file.jsonl")),
    ] {
        let out = place.ok(command).out;
        assert!(!out.contains(is_hidden), "{command}: {out:?}");
        assert!(out.contains(r"odd\u001b[31m\u007f\u009b\u202e\u2066\u200f\u061c\u00ad"), "{command}: {out}");
        assert!(out.lines().any(|line| id(line) == ODD), "{command}: {out}");
        // A file has the same bytes.
        if let Some(file) = file {
            place.ok(file);
            let written = std::fs::read_to_string(place.path(file.rsplit(' ').next().expect("a name")));
            assert_eq!(written.expect("a file"), out);
        }
    }
    let again = place.ok("cat c").out;
    place.write("again.jsonl", again);
    place.ok("import jsonl again.jsonl --min-count 1 -o again");
    assert_eq!(place.fingerprint("again"), place.fingerprint("c"));
}

/// A title that a table for people would cut.
fn long_title() -> String {
    format!("title {}", "word ".repeat(400))
}

/// A model `l` that knows where links belong, of documents with long titles and hidden characters.
fn long_place() -> Place {
    let line = |i: usize| {
        let text = format!("w{} w2 [[d{}]] w3. More words w4 w5. Then w{} [[d{}]].", i % 20, i % 20, i % 7, i % 7);
        let title = format!("{}{i} {ODD}", long_title());
        json!({"id": format!("d{i}"), "title": title, "authors": [ODD], "date": "2001", "text": text}).to_string()
            + "\n"
    };
    let place = Place::with(&[("long.jsonl", &(20..220).chain(0..20).map(line).collect::<String>())]);
    place.ok("import jsonl long.jsonl --min-count 1 -o long");
    place.ok("train long -o l --dim 4 --epochs 1 --content-epochs 1");
    place
}

#[test]
fn suggestions_and_bibliographies_show_what_is_hidden_and_stay_whole() {
    let place = long_place();
    let long = long_title();
    let draft = format!("{ODD}.md");
    place.write(&draft, format!("# New\n\nw1 w2 {ODD} w3 [[?]] w4\n"));
    for command in [
        "suggest l DRAFT",
        "suggest l DRAFT --json",
        "suggest l DRAFT --format sarif",
        "suggest l DRAFT --format github",
        "recommend l DRAFT --rank bm25",
        "recommend l --rank bm25 --text w1 --format tsv",
        "recommend l --rank bm25 --text w1 --format cite",
        "recommend l --rank bm25 --text w1 --format markdown",
        "recommend l --rank bm25 --text w1 --format bibtex",
        "recommend l --rank bm25 --text w1 --format ris",
        "recommend l --rank bm25 --text w1 --format csl",
        "snowball l d1",
        "snowball l d1 --json",
        "snowball l d1 --format bibtex",
        "snowball l d1 --format ris",
        "snowball l d1 --format csl",
    ] {
        let words = command.split(' ').map(|word| if word == "DRAFT" { draft.as_str() } else { word });
        let mut program = std::process::Command::new(crate::helper::HD2V);
        let output = program.args(words).current_dir(place.path("")).output().expect("it runs");
        let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {told}");
        assert!(!told.contains(|c| c != '\t' && is_hidden(c)), "{command}: {told:?}");
        // A table for people is cut; what programs read is whole.
        if command.contains("--format") && !command.starts_with("suggest") {
            let whole = command.ends_with("cite") || told.contains(long.trim_end());
            assert!(whole && !told.contains('…'), "{command}: {told}");
        }
        if command.ends_with("csl") {
            serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON");
        }
    }
}

#[test]
#[cfg(unix)]
fn a_patch_is_exact_in_a_pipe_and_visible_on_a_terminal() {
    let place = long_place();
    place.write("d.md", format!("# New\n\n{ODD} w3 [[?]] w4\n"));
    let command = "suggest l d.md --format patch --min-probability 0";
    let piped = place.ok(command).out;
    assert!(piped.contains(&format!("-{ODD} w3 [[?]] w4\n")), "{piped:?}");
    let (code, shown) = on_a_terminal(&place, command);
    assert!(code == Some(0) && !shown.contains(is_hidden), "{shown:?}");
    assert!(shown.contains("-odd\\u{1b}[31m"), "{shown}");
}

#[test]
fn agents_and_editors_get_hidden_characters_as_escapes() {
    let place = odd_place();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "search", "arguments": {"q": "odd"}}});
    let told = place.run_with("mcp m", format!("{call}\n").as_bytes()).out;
    assert!(told.contains(r"odd\u001b") || told.contains(r"odd\\u001b"), "{told}");
    assert!(!told.contains(is_hidden), "{told:?}");
}

/// The exit code of a command whose stdout is a terminal, and what that got.
#[cfg(unix)]
fn on_a_terminal(place: &Place, arguments: &str) -> (Option<i32>, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::Read;
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("unlocked");
    let name = ptsname(&ours, Vec::new()).expect("a name").into_string().expect("UTF-8");
    let theirs = std::fs::File::options().read(true).write(true).open(name).expect("the other end");
    let mut command = std::process::Command::new(crate::helper::HD2V);
    command.args(arguments.split_whitespace()).current_dir(place.path("")).stdout(theirs);
    let mut child = command.stderr(std::process::Stdio::null()).spawn().expect("it runs");
    // Its copy of the other end is closed, too, so that reading ends with the program.
    drop(command);
    let mut out = Vec::new();
    // A terminal that nobody writes to any more is an error to its reader.
    let _ = std::fs::File::from(ours).read_to_end(&mut out);
    (child.wait().expect("it ends").code(), String::from_utf8_lossy(&out).replace("\r\n", "\n"))
}

#[test]
#[cfg(unix)]
fn names_of_vectors_are_exact_in_a_pipe_and_visible_on_a_terminal() {
    let place = odd_place();
    let export = "export m --what doc-in -o - --format";
    assert!(place.ok(&format!("{export} word2vec")).out.contains(&format!("\n{ODD} ")));
    let (code, shown) = on_a_terminal(&place, &format!("{export} word2vec"));
    assert!(!shown.contains(is_hidden), "{shown:?}");
    assert!(code == Some(0) && shown.contains("\nodd\\u{1b}[31m\\u{7f}\\u{9b}\\u{202e}\\u{2066}"), "{shown}");
    // SQL has them as escapes wherever it goes.
    let sql = place.ok("export m --for pgvector -o -").out;
    assert!(!sql.contains(|c| c != '\t' && is_hidden(c)), "{sql:?}");
    assert!(sql.contains("\nodd\\x1b[31m\\x7f\\xc2\\x9b\\xe2\\x80\\xae"), "{sql}");
    for binary in ["word2vec-bin", "npy"] {
        assert_eq!(on_a_terminal(&place, &format!("{export} {binary}")), (Some(1), String::new()), "{binary}");
    }
}
