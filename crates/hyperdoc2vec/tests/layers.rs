//! Lower layers never name higher ones: every path of the library that begins with `crate::` or `super::` is held against
//! the table of layers in ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The layer of each top-level module, from the block in ARCHITECTURE.md that begins with ```` ```layers ````: a line is
/// a number and names, and what follows ` — ` explains them.
fn layers() -> BTreeMap<String, usize> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let page = fs::read_to_string(page).expect("ARCHITECTURE.md");
    let block = page.split("```layers\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of layers");
    let mut layers = BTreeMap::new();
    for line in block.lines() {
        let mut parts = line.split(" — ").next().unwrap_or_default().split_whitespace();
        let number: usize = parts.next().expect("a number").parse().expect("a number");
        for module in parts {
            assert_eq!(layers.insert(module.to_owned(), number), None, "{module} is there twice");
        }
    }
    layers
}

/// The source files below `folder`.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// The code of a file: without comments, and without the tests at its end, which may look at anything.
fn code(source: &str) -> String {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = source.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The top-level modules that `code` names: the first names of `crate::a::b` and `crate::{c, d::e}`, and of as many
/// `super::` in a row as lead to the root from a file `depth` modules below it.
fn named(code: &str, depth: usize) -> BTreeSet<String> {
    let name = |text: &str| text.chars().take_while(|&c| c.is_alphanumeric() || c == '_').collect::<String>();
    let mut found = BTreeSet::new();
    let to_root = "super::".repeat(depth);
    let supers = code.match_indices(&to_root).filter(|&(at, _)| !code[..at].ends_with("super::"));
    let paths = code.match_indices("crate::").chain(supers).map(|(at, root)| code[at + root.len()..].trim_start());
    for rest in paths.filter(|rest| !rest.starts_with("super::")) {
        let Some(group) = rest.strip_prefix('{') else {
            found.insert(name(rest));
            continue;
        };
        let (mut depth, mut outer) = (0, String::new());
        for c in group.chars() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                c if depth == 0 => outer.push(c),
                _ => {}
            }
        }
        found.extend(outer.split(',').map(|part| name(part.trim())).filter(|name| !name.is_empty()));
    }
    found
}

#[test]
fn no_module_names_one_of_its_own_layer_or_above() {
    let layers = layers();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let (mut upward, mut edges, mut modules) = (Vec::new(), 0, BTreeSet::new());
    for path in &files {
        let inside = path.strip_prefix(&root).expect("below src");
        let first = inside.components().next().expect("a name").as_os_str().to_string_lossy();
        let module = first.trim_end_matches(".rs").to_owned();
        // The doors name everything, and so do tests of several modules.
        if module == "lib" || module == "internals" || module == "tests" || inside.ends_with("tests.rs") {
            continue;
        }
        modules.insert(module.clone());
        let Some(&own) = layers.get(&module) else {
            upward.push(format!("{module} is not in the table of layers"));
            continue;
        };
        let source = fs::read_to_string(path).expect("a file");
        let depth = inside.components().count() - usize::from(inside.ends_with("mod.rs"));
        for other in named(&code(&source), depth).into_iter().filter(|other| *other != module) {
            edges += 1;
            match layers.get(&other) {
                Some(&layer) if layer < own => {}
                Some(_) => upward.push(format!("{} names {other}, which is not below {module}", inside.display())),
                None => upward.push(format!("{} names crate::{other}; name the module it is of", inside.display())),
            }
        }
    }
    assert_eq!(upward, [""; 0]);
    assert_eq!(modules, layers.keys().cloned().collect(), "the table has every module, and no other");
    assert!(edges > 100, "{edges} edges: the test reads the files wrongly");
}

#[test]
fn paths_are_found_in_lines_groups_and_code_but_not_in_comments_and_tests() {
    let source = "use crate::a::b;\nuse crate::{c, d::{e, f}, g as h};\n// crate::no\nfn x() { crate::i::j() }\n\
                  #[cfg(test)]\nmod tests {\n    use crate::k;\n}\n";
    let found: Vec<String> = named(&code(source), 1).into_iter().collect();
    assert_eq!(found, ["a", "c", "d", "g", "i"]);
}

#[test]
fn paths_through_super_are_found_where_they_lead_to_the_root() {
    let source = "use super::super::{a::b, c};\nuse super::d;\nfn x() { super::super::e() }\n";
    let found = |depth| named(&code(source), depth).into_iter().collect::<Vec<String>>();
    assert_eq!(found(2), ["a", "c", "e"]);
    assert_eq!(found(1), ["d"], "two are not one and one");
}
