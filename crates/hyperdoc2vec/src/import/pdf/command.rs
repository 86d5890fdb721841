//! A command that prints the text of a file: run with a limit of time and of output, and ended when nobody wants it any
//! more.
//!
//! Ours: crates such as wait-timeout limit the time of a command, not its output.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::Bounds;

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
    pub(super) fn run(&self, file: &Path, bounds: &Bounds<'_>) -> Result<String, String> {
        let (longest, most) = (bounds.longest, bounds.most);
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
            let stopped = bounds.stop.load(Ordering::Relaxed);
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if start.elapsed() < longest && !stopped => std::thread::sleep(Duration::from_millis(5)),
                // What it has started may hold its pipes for longer: whoever reads them is not waited for.
                Ok(None) | Err(_) => {
                    drop(child.kill());
                    drop(child.wait());
                    let late = || format!("{} took longer than {} s", self.name, longest.as_secs());
                    return Err(if stopped { super::STOPPED.to_owned() } else { late() });
                }
            }
        };
        match reader.join().ok().flatten().and_then(Result::ok) {
            Some(bytes) if status.success() => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            _ => Err(said.join().ok().flatten().unwrap_or_else(|| format!("{} could not read it", self.name))),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    fn shell(script: &str) -> TextCommand {
        TextCommand::new("sh", "/bin/sh", ["-c", script, "sh", "{}"])
    }

    #[test]
    fn a_command_prints_the_text_of_a_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("a.txt");
        std::fs::write(&file, "words").expect("written");
        let stop = AtomicBool::new(false);
        let bounds = Bounds { longest: Duration::from_millis(300), most: 100, stop: &stop };
        let run = |script: &str| shell(script).run(&file, &bounds);
        assert_eq!(run("cat \"$1\"").as_deref(), Ok("words"));
        assert_eq!(run("exit 3").expect_err("a failure"), "sh could not read it");
        assert_eq!(run("echo a >&2; echo why >&2; exit 1").expect_err("a failure"), "why");
        assert_eq!(run("echo sh: why >&2; exit 1").expect_err("a failure"), "why");
        for slow in ["sleep 60 >/dev/null", "sleep 60", "exec >&- 2>&-; sleep 60"] {
            assert!(run(slow).expect_err("too long").contains("took longer"), "{slow}: it is ended");
        }
        let none = TextCommand::new("x", "/no/such/program", ["{}"]);
        assert!(none.run(&file, &bounds).is_err());
    }

    #[test]
    fn a_command_that_nobody_wants_any_more_is_ended() {
        let stop = AtomicBool::new(false);
        let bounds = Bounds { longest: Duration::from_secs(600), most: 100, stop: &stop };
        let command = shell("sleep 600");
        std::thread::scope(|scope| {
            let run = scope.spawn(|| command.run(Path::new("/"), &bounds));
            std::thread::sleep(Duration::from_millis(50));
            stop.store(true, Ordering::Relaxed);
            assert_eq!(run.join().expect("it ends"), Err(super::super::STOPPED.to_owned()));
        });
    }
}
