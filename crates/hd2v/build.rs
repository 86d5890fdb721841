//! Puts two things into the program: the notes of the sample glossary, and the commit that it was built from.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder")).join("glossary.rs");
    fs::write(out, glossary()).expect("the folder can be written to");
    let commit = packed_commit().or_else(checked_out_commit).map(|commit| format!(" ({commit})"));
    println!("cargo::rustc-env=HD2V_COMMIT={}", commit.unwrap_or_default());
}

/// The notes as an array of names and texts.
fn glossary() -> String {
    // `glossary` is a symbolic link, which a package holds as a folder, and which some systems do not check out.
    let folder = ["glossary", "../../samples/glossary"].map(Path::new).into_iter().find(|folder| folder.is_dir());
    let folder = folder.expect("the sample glossary").canonicalize().expect("the sample glossary");
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(&folder).expect("the sample glossary");
    let mut notes: Vec<PathBuf> = entries.map(|entry| entry.expect("a note").path()).collect();
    notes.sort();
    let name = |path: &Path| path.file_name().expect("a name").to_str().expect("UTF-8").to_owned();
    let notes = notes.iter().map(|path| format!("    ({:?}, include_str!({:?})),\n", name(path), path));
    format!("&[\n{}]\n", notes.collect::<String>())
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
