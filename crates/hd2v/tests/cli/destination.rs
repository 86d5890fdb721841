//! Nothing is lost by a slip: no command writes over its input, and only a file of the same kind is replaced.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::helper::{HD2V, Place, records};

const QUICK: &str = "--dim 4 --epochs 1 --content-epochs 1 --no-hybrid";

fn place() -> Place {
    let place = Place::with(&[("in.jsonl", &records(60)), ("notes.txt", "ten years of work\n"), ("empty", "")]);
    place.ok("import jsonl in.jsonl --min-count 1 -o c.corpus");
    place.ok(&format!("train c.corpus -o m.model {QUICK}"));
    place
}

/// All files below a directory, with their bytes.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for path in fs::read_dir(folder).expect("a directory").map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push((path.display().to_string(), fs::read(&path).expect("readable")));
        }
    }
    files.sort();
    files
}

/// Each command is refused with these words, and every byte stays.
fn all_refused(place: &Place, commands: &[(&str, &str)]) {
    let before = files(&place.path(""));
    for (command, expected) in commands {
        let message = place.refused(command);
        assert!(message.contains(expected), "{command}: {message}");
        assert!(message.contains("choose another") || message.contains("rename one"), "{command}: {message}");
        assert!(files(&place.path("")) == before, "{command} changed something");
    }
}

#[test]
fn no_command_writes_over_its_input_even_by_force() {
    let place = place();
    fs::create_dir(place.path("shards")).expect("a directory");
    fs::copy(place.path("in.jsonl"), place.path("shards/a.jsonl")).expect("copied");
    all_refused(
        &place,
        &[
            ("export m.model --what doc-in --format npy -o m.model --force", "m.model: this is the input m.model"),
            ("export m.model --what doc-in --format word2vec -o ./m.model", "./m.model: this is the input m.model"),
            ("import jsonl in.jsonl -o d --report in.jsonl --force", "in.jsonl: this is the input in.jsonl"),
            ("import jsonl in.jsonl --jsonl in.jsonl --force", "in.jsonl: this is the input in.jsonl"),
            ("import unarxive shards --jsonl shards/a.jsonl --force", "part of the input shards"),
            ("import jsonl in.jsonl -o d --report r --references r", "r: two outputs"),
            ("import jsonl in.jsonl -o d --report r --references ./r", "./r: two outputs"),
            ("import jsonl in.jsonl -o d --report shards/../r --references r", "r: two outputs"),
            ("train c.corpus -o c.corpus/tokens --force", "c.corpus/tokens: this is part of the input c.corpus"),
            ("train c.corpus -o c.corpus/new.model", "part of the input c.corpus"),
            ("train c.corpus -o new.model --log c.corpus/log", "part of the input c.corpus"),
            ("add m.model c.corpus -o c.corpus/tokens --force", "part of the input c.corpus"),
            ("embed m.model in.jsonl -o in.jsonl --force", "in.jsonl: this is the input in.jsonl"),
            ("evaluate links c.corpus --methods popular --runs c.corpus/runs", "part of the input c.corpus"),
            ("reproduce c.corpus -o c.corpus/report --criteria-docs 0", "part of the input c.corpus"),
        ],
    );
}

#[test]
fn force_replaces_only_a_file_of_the_kind_being_written() {
    let place = place();
    fs::copy(place.path("in.jsonl"), place.path("in2.jsonl")).expect("copied");
    place.write("mine.json", "{\"id\": \"by hand\"}\n");
    let export = "export m.model --what doc-in --force --format";
    all_refused(
        &place,
        &[
            (
                "train c.corpus -o notes.txt --force",
                "notes.txt: already exists and is not a model but text; remove it yourself, or choose another name",
            ),
            ("train c.corpus -o in.jsonl --force", "is not a model but documents as jsonl"),
            ("add m.model c.corpus -o notes.txt --force", "is not a model but text"),
            ("train c.corpus -o new.model --log in.jsonl", "is not a training log but documents as jsonl"),
            ("import jsonl in.jsonl -o d --report m.model --force", "is not an import report but a model"),
            ("generate --docs 20 --links 20 --jsonl notes.txt --force", "is not documents as jsonl but text"),
            // JSON of another kind.
            ("import jsonl in.jsonl -o d --report in2.jsonl --force", "is not an import report but documents as jsonl"),
            ("import jsonl in.jsonl -o d --references mine.json --force", "is not references as jsonl but other JSON"),
            ("import jsonl in.jsonl --jsonl mine.json --force", "is not documents as jsonl but other JSON"),
            ("generate --docs 20 --links 20 --jsonl mine.json --force", "is not documents as jsonl but other JSON"),
            ("embed m.model in.jsonl -o in2.jsonl --force", "is not vectors as jsonl but documents as jsonl"),
            (&format!("{export} tsv -o notes.txt"), "is not a table of vectors but text"),
            (&format!("{export} npy -o in.jsonl"), "is not an npy matrix but documents as jsonl"),
            (&format!("{export} word2vec -o in.jsonl"), "is not a word2vec file but documents as jsonl"),
        ],
    );
    fs::copy(place.path("notes.txt"), place.path("other.model.checkpoint")).expect("copied");
    all_refused(&place, &[("train c.corpus -o other.model --force", "is not a checkpoint but text")]);
    // Of the same kind, or empty.
    fs::copy(place.path("empty"), place.path("empty.npy")).expect("copied");
    for command in [
        &format!("train c.corpus -o m.model {QUICK} --force"),
        &format!("train c.corpus -o empty {QUICK} --force --log log.jsonl"),
        &format!("train c.corpus -o empty {QUICK} --force --log log.jsonl"),
        &format!("{export} npy -o empty.npy"),
        &format!("{export} npy -o empty.npy"),
        &format!("{export} tsv -o v.tsv"),
        &format!("{export} tsv -o v.tsv"),
        &format!("{export} word2vec -o v.txt"),
        &format!("{export} word2vec-bin -o v.txt"),
        "embed m.model in.jsonl -o e.npy",
        "embed m.model in.jsonl -o e.npy --force",
        "embed m.model in.jsonl -o e.jsonl",
        "embed m.model in.jsonl -o e.jsonl --force",
        "generate --docs 20 --links 20 --jsonl made.jsonl",
        "generate --docs 20 --links 20 --jsonl made.jsonl --force",
        "import jsonl in.jsonl --jsonl made.jsonl --report r.json --force",
        "import jsonl in.jsonl --jsonl made.jsonl --report r.json --force",
    ] {
        place.ok(command);
    }
}

#[cfg(unix)]
#[test]
fn an_input_is_known_by_all_its_names() {
    let place = place();
    let link = |from: &str, to: &str| std::os::unix::fs::symlink(place.path(from), place.path(to)).expect("a link");
    for (from, to) in [("in.jsonl", "hard.jsonl"), ("m.model", "hard.model"), ("c.corpus/corpus.json", "hard.json")] {
        fs::hard_link(place.path(from), place.path(to)).expect("a link");
    }
    link("in.jsonl", "soft.jsonl");
    link("c.corpus", "soft.corpus");
    let evaluate = "evaluate links c.corpus --methods popular";
    all_refused(
        &place,
        &[
            ("import jsonl in.jsonl --jsonl hard.jsonl --force", "hard.jsonl: this is the input in.jsonl"),
            ("import jsonl soft.jsonl --jsonl hard.jsonl --force", "hard.jsonl: this is the input soft.jsonl"),
            ("import jsonl in.jsonl --jsonl soft.jsonl --force", "soft.jsonl: this is the input in.jsonl"),
            (
                "export m.model --what doc-in --format npy -o hard.model --force",
                "hard.model: this is the input m.model",
            ),
            ("train c.corpus -o hard.json --force", "hard.json: this is part of the input c.corpus"),
            ("train c.corpus -o soft.corpus/new --force", "soft.corpus/new: this is part of the input c.corpus"),
            ("train soft.corpus -o c.corpus/new --force", "c.corpus/new: this is part of the input soft.corpus"),
            (&format!("{evaluate} --run soft.corpus/run"), "part of the input c.corpus"),
        ],
    );
    // Standard output has a file, too.
    let before = files(&place.path("c.corpus"));
    let appended = fs::File::options().append(true).open(place.path("hard.json")).expect("a file");
    let mut cat = Command::new(HD2V);
    let output = cat.args(["cat", "c.corpus"]).current_dir(place.path("")).stdout(appended).output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(files(&place.path("c.corpus")) == before);
}
