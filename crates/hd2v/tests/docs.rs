//! Links of the Markdown pages lead somewhere, and the pages that the code names exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The root of the repository.
fn root() -> PathBuf {
    normal(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut normal, component| {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            other => normal.push(other),
        }
        normal
    })
}

/// All files below a directory whose names end like this.
fn files(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The links of a page and the anchors of its headings.
struct MarkdownPage {
    links: Vec<String>,
    headings: BTreeSet<String>,
}

fn page(path: &Path) -> MarkdownPage {
    let text = fs::read_to_string(path).expect("a page");
    let mut page = MarkdownPage { links: vec![], headings: BTreeSet::new() };
    let mut heading = None;
    for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                page.links.push(dest_url.into_string())
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => page.headings.extend(heading.take().map(|text| anchor(&text))),
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            _ => {}
        }
    }
    page
}

/// The anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|&c| c.is_alphanumeric() || c == '-' || c == '_').collect()
}

#[test]
fn every_relative_link_of_the_documentation_leads_to_a_file_and_a_heading() {
    let root = root();
    let mut paths: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| root.join(name)).into();
    paths.extend(["bench/README.md", "fuzz/README.md", "samples/README.md"].map(|name| root.join(name)));
    paths.extend(files(&root.join("docs"), ".md"));
    let pages: BTreeMap<PathBuf, MarkdownPage> = paths.into_iter().map(|path| (path.clone(), page(&path))).collect();
    let mut broken = vec![];
    for (path, from) in &pages {
        for link in from.links.iter().filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { normal(&path.with_file_name("").join(file)) };
            let leads = target.exists()
                && (heading.is_empty() || pages.get(&target).is_some_and(|page| page.headings.contains(heading)));
            if !leads {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_index_of_the_documentation_lists_every_page() {
    let docs = root().join("docs");
    let listed: BTreeSet<PathBuf> =
        page(&docs.join("README.md")).links.iter().map(|link| normal(&docs.join(link))).collect();
    let missing: Vec<_> = files(&docs, ".md")
        .into_iter()
        .filter(|path| !path.ends_with("docs/README.md") && !listed.contains(path))
        .collect();
    assert!(missing.is_empty(), "not in docs/README.md: {missing:#?}");
}

#[test]
fn every_page_that_comments_and_help_name_exists() {
    let root = root();
    let mut missing = vec![];
    for path in ["crates/hd2v/src", "crates/hyperdoc2vec/src", "bench/lab"]
        .iter()
        .flat_map(|name| files(&root.join(name), ".rs"))
    {
        let text = fs::read_to_string(&path).expect("a source file");
        for (at, _) in text.match_indices("docs/").filter(|&(at, _)| !text[..at].ends_with('/')) {
            let name: String =
                text[at..].chars().take_while(|&c| c.is_ascii_alphanumeric() || "/._-".contains(c)).collect();
            let name = name.trim_end_matches('.');
            if name.ends_with(".md") && !root.join(name).is_file() {
                missing.push(format!("{}: {name}", path.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
