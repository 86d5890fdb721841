//! A directory to run the program in, and what came of it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// The program.
pub const HD2V: &str = env!("CARGO_BIN_EXE_hd2v");

/// No command of these tests runs longer on the slowest machine.
const LONGEST: Duration = Duration::from_secs(120);

/// A directory for one test.
pub struct Place(TempDir);

/// The output and exit code of a command.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new() -> Place {
        Place(tempfile::tempdir().expect("a directory"))
    }

    /// A directory that holds these files.
    pub fn with(files: &[(&str, &str)]) -> Place {
        let place = Place::new();
        files.iter().for_each(|(name, text)| place.write(name, text));
        place
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).expect("written");
    }

    /// Everything that stands in the directory, hidden or not.
    pub fn entries(&self) -> Vec<String> {
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
        let entries = fs::read_dir(self.0.path()).expect("a directory");
        let mut names: Vec<String> = entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The files of a corpus with their bytes.
    pub fn files(&self, corpus: &str) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(self.path(corpus))
            .expect("a corpus")
            .map(|entry| entry.expect("an entry").path())
            .map(|path| {
                (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read(&path).expect("readable"))
            })
            .collect();
        files.sort();
        files
    }

    /// Runs `hd2v` in the directory; the arguments stand between spaces.
    pub fn run(&self, arguments: &str) -> Outcome {
        self.run_with(arguments, b"")
    }

    /// [`Self::run`] with these bytes on standard input.
    pub fn run_with(&self, arguments: &str, stdin: &[u8]) -> Outcome {
        let output = assert_cmd::Command::new(HD2V)
            .args(arguments.split_whitespace())
            .current_dir(self.0.path())
            .write_stdin(stdin)
            .timeout(LONGEST)
            .output()
            .expect("the program runs");
        Outcome {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            err: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }

    /// Runs a command that succeeds.
    pub fn ok(&self, arguments: &str) -> Outcome {
        self.run(arguments).succeeded(arguments)
    }

    /// Runs a command that prints JSON.
    pub fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.ok(arguments).out).expect("one JSON document")
    }

    /// The fingerprint of the content of a corpus.
    pub fn fingerprint(&self, corpus: &str) -> String {
        let info = self.json(&format!("info {corpus} --json"));
        info["provenance"]["fingerprint"].as_str().expect("a fingerprint").to_owned()
    }

    /// Runs a command that fails with exit code 1 and one line on stderr, and leaves the directory as it was.
    pub fn refused(&self, arguments: &str) -> String {
        self.refused_with(arguments, b"")
    }

    /// [`Self::refused`] with these bytes on standard input.
    pub fn refused_with(&self, arguments: &str, stdin: &[u8]) -> String {
        let before = self.entries();
        let message = self.run_with(arguments, stdin).one_message(arguments);
        assert_eq!(self.entries(), before, "{arguments} left something behind");
        message
    }

    /// Starts a command whose stdin stays open.
    pub fn start(&self, arguments: &str) -> std::process::Child {
        std::process::Command::new(HD2V)
            .args(arguments.split_whitespace())
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts")
    }
}

impl Outcome {
    pub fn succeeded(self, what: &str) -> Outcome {
        assert_eq!(self.code, Some(0), "{what}: {}", self.err);
        self
    }

    /// The one line that a failing command says.
    pub fn one_message(self, what: &str) -> String {
        let Outcome { code, out, err } = self;
        assert_eq!(code, Some(1), "{what}: {err}{out}");
        assert_eq!(out, "", "{what} printed data");
        assert_eq!(err.lines().count(), 1, "{what}: {err}");
        let message = err.strip_prefix("hd2v: ").unwrap_or_else(|| panic!("{what}: {err}"));
        assert!(!message.contains("panicked"), "{what}: {err}");
        message.trim_end().to_owned()
    }
}

/// A record of jsonl.
pub fn record(id: &str, text: &str) -> String {
    serde_json::json!({"id": id, "text": text}).to_string() + "\n"
}

/// Records with links among them, some 100 bytes each.
pub fn records(count: usize) -> String {
    (0..count)
        .map(|i| {
            let words: String = (0..12).map(|j| format!("w{} ", (i * 31 + j * j * 7) % 997)).collect();
            record(&format!("d{i}"), &format!("{words}[[d{}]] end", i * 7 % count))
        })
        .collect()
}

pub fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).and_then(|()| packer.finish()).expect("packed")
}

pub fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    packer.write_all(bytes).and_then(|()| packer.finish()).expect("packed")
}

pub fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut packer = lzma_rust2::XzWriter::new(Vec::new(), Default::default()).expect("a packer");
    packer.write_all(bytes).and_then(|()| packer.finish()).expect("packed")
}

pub fn zst(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("packed")
}
