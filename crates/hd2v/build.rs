//! Puts the commit that it was built from into the program.

use std::fs;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let commit = packed_commit().or_else(checked_out_commit).map(|commit| format!(" ({commit})"));
    println!("cargo::rustc-env=HD2V_COMMIT={}", commit.unwrap_or_default());
}

/// The commit that cargo put into a package.
fn packed_commit() -> Option<String> {
    let info = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let commit = info.split_once("\"sha1\": \"")?.1.split('"').next()?;
    Some(commit.get(..9)?.to_owned())
}

/// The commit of the repository that this is a part of, and of no other one around it.
fn checked_out_commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    if git(&["rev-parse", "--show-prefix"])? != "crates/hd2v/" {
        return None;
    }
    let files = ["HEAD", "logs/HEAD"].into_iter().filter_map(|file| git(&["rev-parse", "--git-path", file]));
    for file in files.filter(|file| Path::new(file).exists()) {
        println!("cargo::rerun-if-changed={file}");
    }
    git(&["rev-parse", "--short=9", "HEAD"])
}
