//! The layers of the server hold: no file of `src/serve/` names one that stands after it in the list of `serve/mod.rs`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the server's files.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/serve")
}

/// The files in the order of the list at the head of `serve/mod.rs`: lines such as ``//! - `error`: errors as responses``.
fn order() -> Vec<String> {
    let head = fs::read_to_string(folder().join("mod.rs")).expect("serve/mod.rs");
    let names = head.lines().filter_map(|line| line.strip_prefix("//! - `")?.split('`').next());
    names.map(str::to_owned).collect()
}

/// The modules of the server that a source text names, by paths that begin with one of `roots`.
fn named(source: &str, roots: &[&str]) -> BTreeSet<String> {
    let code: String =
        source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = BTreeSet::new();
    for root in roots {
        for (at, _) in code.match_indices(root) {
            if code[..at].ends_with(|c: char| is_name(c) || c == ':') {
                continue;
            }
            let rest = code[at + root.len()..].trim_start();
            let Some(group) = rest.strip_prefix('{') else {
                found.insert(rest.chars().take_while(|&c| is_name(c)).collect());
                continue;
            };
            // The first name of each part of `{a, b::{c, d}, e as f}`.
            let (mut depth, mut name) = (0, String::new());
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    c if depth == 0 => name.push(c),
                    _ => {}
                }
            }
            found.extend(name.split(',').map(|part| part.trim().chars().take_while(|&c| is_name(c)).collect()));
        }
    }
    found
}

#[test]
fn no_file_of_the_server_names_one_above_it() {
    let order = order();
    let files = fs::read_dir(folder()).expect("the folder").map(|entry| entry.expect("a file").path());
    let rust = files.filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let names = rust.map(|path| path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned());
    let files: BTreeSet<String> = names.filter(|name| name != "mod").collect();
    assert_eq!(files, order.iter().cloned().collect(), "every file is in the list once");
    assert_eq!(files.len(), order.len(), "every file is in the list once");
    let mut upward = Vec::new();
    let mut edges = 0;
    for (layer, file) in order.iter().enumerate() {
        let source = fs::read_to_string(folder().join(format!("{file}.rs"))).expect("a file");
        // In the tests of a file, `super` is the file itself.
        let source = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for name in named(source, &["super::", "crate::serve::"]) {
            edges += 1;
            match order.iter().position(|other| *other == name) {
                Some(other) if other < layer => {}
                Some(_) => upward.push(format!("{file} uses {name}, which is not below it")),
                None => upward.push(format!("{file} uses {name} of serve/mod.rs")),
            }
        }
    }
    assert_eq!(upward, [""; 0]);
    assert!(edges > order.len(), "{edges} edges: the test reads the files wrongly");
}

#[test]
fn paths_are_read_as_rust_reads_them() {
    let source = "use super::error::ApiError;\nuse super::{guard, page::{self, part}};\n// super::comment::X\n\
                  fn f() { crate::serve::state::watch(); crate::output::status(); mysuper::other(); }";
    let found = named(source, &["super::", "crate::serve::"]);
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), ["error", "guard", "page", "state"]);
}
