//! A command that prints the text of a file: run with a limit of time and of output.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Bytes of messages that are read.
const LONGEST_TALK: u64 = 1 << 16;

/// A program and its arguments, of which `{}` stands for the file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextCommand {
    /// Its name, in the names of cached texts.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl TextCommand {
    /// A command of this name.
    pub fn new<S: Into<String>>(
        name: impl Into<String>,
        program: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = S>,
    ) -> TextCommand {
        let arguments = arguments.into_iter().map(Into::into).collect();
        TextCommand { name: name.into(), program: program.into(), arguments }
    }

    /// The output of the command for `file`, or why there is nothing.
    pub(super) fn run(&self, file: &Path, longest: Duration, most: usize) -> Result<String, String> {
        // A name that begins with a dash would be read as an option.
        let file = std::path::absolute(file).map_err(|error| error.to_string())?;
        let argument = |text: &String| if text == "{}" { file.clone().into_os_string() } else { OsString::from(text) };
        let mut child = Command::new(&self.program)
            .args(self.arguments.iter().map(argument))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let (out, talk) = (child.stdout.take(), child.stderr.take());
        // Programs begin their messages with their name.
        let called = format!("{}: ", self.program.file_stem().unwrap_or_default().to_string_lossy());
        let said = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            drop(talk.map(|talk| talk.take(LONGEST_TALK).read_to_end(&mut bytes)));
            let said = String::from_utf8_lossy(&bytes).into_owned();
            let last = said.lines().rev().map(str::trim).find(|line| !line.is_empty());
            last.map(|line| line.strip_prefix(&called).unwrap_or(line).to_owned())
        });
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = out.map(|out| out.take(most as u64).read_to_end(&mut bytes));
            read.map(|read| read.map(|_| bytes))
        });
        let start = Instant::now();
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if start.elapsed() < longest && !reader.is_finished() => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                // All is read, or it takes too long.
                Ok(None) if start.elapsed() < longest => break child.wait().ok(),
                Ok(None) | Err(_) => {
                    drop(child.kill());
                    drop(child.wait());
                    break None;
                }
            }
        };
        let bytes = reader.join().ok().flatten().and_then(Result::ok);
        match (status, bytes) {
            (Some(status), Some(bytes)) if status.success() => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            (None, _) => Err(format!("{} took longer than {} s", self.name, longest.as_secs())),
            _ => Err(said.join().ok().flatten().unwrap_or_else(|| format!("{} could not read it", self.name))),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> TextCommand {
        TextCommand::new("sh", "/bin/sh", ["-c", script, "sh", "{}"])
    }

    #[test]
    fn a_command_prints_the_text_of_a_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("a.txt");
        std::fs::write(&file, "words").expect("written");
        let run = |script: &str| shell(script).run(&file, Duration::from_millis(300), 100);
        assert_eq!(run("cat \"$1\"").as_deref(), Ok("words"));
        assert_eq!(run("exit 3").expect_err("a failure"), "sh could not read it");
        assert_eq!(run("echo a >&2; echo why >&2; exit 1").expect_err("a failure"), "why");
        assert_eq!(run("echo sh: why >&2; exit 1").expect_err("a failure"), "why");
        assert!(run("sleep 60 >/dev/null").expect_err("too long").contains("took longer"), "it is ended");
        let none = TextCommand::new("x", "/no/such/program", ["{}"]);
        assert!(none.run(&file, Duration::from_secs(1), 10).is_err());
    }
}
