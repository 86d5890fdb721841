//! Lists the notes for `lib.rs` to include.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=glossary");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder")).join("notes.rs");
    fs::write(out, notes()).expect("the folder can be written to");
}

/// The notes as an array of names and texts.
fn notes() -> String {
    let folder = Path::new("glossary").canonicalize().expect("the glossary");
    let entries = fs::read_dir(&folder).expect("the glossary");
    let mut notes: Vec<PathBuf> = entries.map(|entry| entry.expect("a note").path()).collect();
    notes.sort();
    let name = |path: &Path| path.file_name().expect("a name").to_str().expect("UTF-8").to_owned();
    let notes = notes.iter().map(|path| format!("    ({:?}, include_str!({:?})),\n", name(path), path));
    format!("&[\n{}]\n", notes.collect::<String>())
}
