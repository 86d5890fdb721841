//! Recognises what stands at a path, to advise whoever gave it to a command that wants something else.

use std::path::{Path, PathBuf};

use hyperdoc2vec::import::Format;
use hyperdoc2vec::{Corpus, Model};

/// Files of a folder that are looked at.
const LOOKED_AT: usize = 2000;
/// Bibliographies of a folder that a command names.
const MOST_INPUTS: usize = 3;
/// Endings of packed files, which stand behind the ending that matters.
const PACKED: [&str; 4] = ["gz", "zst", "bz2", "xz"];
/// Endings, the format that reads such files, and what they are.
const SOURCES: [(&[&str], Format, &str); 8] = [
    (&["bib", "ris"], Format::Library, "a bibliography"),
    (&["jsonl", "ndjson"], Format::Jsonl, "JSON, a record a line"),
    (&["md", "markdown", "mdx"], Format::Markdown, "Markdown"),
    (&["html", "htm", "xhtml"], Format::Html, "HTML"),
    (&["rst"], Format::Rst, "reStructuredText"),
    (&["nxml"], Format::Jats, "papers in JATS"),
    (&["tex"], Format::Latex, "LaTeX"),
    (&["pdf"], Format::Pdf, "PDF"),
];
/// Other names of formats, and of programs whose files they read.
const OTHER_NAMES: [(&[&str], Format); 10] = [
    (&["md", "obsidian", "logseq", "zettlr", "foam", "hugo", "jekyll", "mkdocs", "docusaurus"], Format::Markdown),
    (&["htm", "xhtml", "web", "site", "rustdoc", "mdbook", "javadoc", "doxygen"], Format::Html),
    (&["sphinx", "restructuredtext"], Format::Rst),
    (&["bib", "bibtex", "biblatex", "ris", "csl", "zotero", "jabref", "mendeley", "endnote"], Format::Library),
    (&["pdfs"], Format::Pdf),
    (&["tex", "arxiv"], Format::Latex),
    (&["json", "ndjson"], Format::Jsonl),
    (&["wiki", "wikitext", "wikipedia"], Format::MediaWiki),
    (&["grobid"], Format::Tei),
    (&["pmc", "pubmed", "nxml"], Format::Jats),
];
/// Formats that another program turns into Markdown.
const BY_PANDOC: [&str; 6] = ["docx", "doc", "odt", "epub", "org", "rtf"];

/// A thing at a path.
pub enum Thing {
    /// A model of this program.
    Model,
    /// A corpus of this program.
    Corpus,
    /// Documents that can be imported, and what they are.
    Source(Format, &'static str),
}

/// Looks at a path; nothing if it says nothing.
pub fn at(path: &Path) -> Option<Thing> {
    if path.is_file() {
        let known = format_of(path).map(|(format, what)| Thing::Source(format, what));
        return known.or_else(|| Model::open(path).is_ok().then_some(Thing::Model));
    }
    if !path.is_dir() {
        return None;
    }
    if Corpus::open(path).is_ok() {
        return Some(Thing::Corpus);
    }
    if path.join("zotero.sqlite").is_file() {
        return Some(Thing::Source(Format::Library, "Zotero's data"));
    }
    let mut counts = [0; SOURCES.len()];
    for file in files(path) {
        if let Some(at) =
            format_of(&file).and_then(|found| SOURCES.iter().position(|(_, format, _)| *format == found.0))
        {
            counts[at] += 1;
        }
    }
    let (most, (_, format, what)) = counts.into_iter().zip(SOURCES).rev().max_by_key(|(count, _)| *count)?;
    (most > 0).then_some(Thing::Source(format, what))
}

/// The command that imports a source to a corpus beside it, by the name that a shell takes.
pub fn import_command(format: Format, path: &Path) -> String {
    let name = path.file_name().map_or_else(|| PathBuf::from("documents"), PathBuf::from);
    let mut inputs = vec![path.to_owned()];
    // A folder of bibliographies is no input, unless it is Zotero's.
    if format == Format::Library && path.is_dir() && !path.join("zotero.sqlite").is_file() {
        inputs = files(path);
        inputs.retain(|file| format_of(file).is_some_and(|(found, _)| found == format));
        inputs.sort();
        inputs.truncate(MOST_INPUTS);
    }
    let inputs: Vec<String> = inputs.iter().map(|input| quoted(input)).collect();
    format!("hd2v import {format} {} -o {}", inputs.join(" "), quoted(&name.with_extension("corpus")))
}

/// The path as a shell takes it.
pub fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:@%".contains(c);
    if path.chars().all(plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// Reads the name of a format; for another name, says which one is meant.
pub fn format_named(name: &str) -> Result<Format, String> {
    let unknown = match name.parse() {
        Ok(format) => return Ok(format),
        Err(unknown) => unknown,
    };
    let lower = name.to_lowercase();
    if let Some((_, format)) = OTHER_NAMES.iter().find(|(names, _)| names.contains(&lower.as_str())) {
        return Err(format!("the format that reads {name} is called {format}"));
    }
    if BY_PANDOC.contains(&lower.as_str()) {
        return Err(format!("convert the files to Markdown (pandoc notes.{lower} -o notes.md), then import markdown"));
    }
    match at(Path::new(name)) {
        Some(Thing::Source(format, what)) => {
            let command = import_command(format, Path::new(name));
            Err(format!("the format comes before the path; this is {what}: {command}"))
        }
        _ => Err(unknown),
    }
}

/// The format of a file by its ending.
fn format_of(path: &Path) -> Option<(Format, &'static str)> {
    let ending = |path: &Path| path.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
    let mut last = ending(path)?;
    if PACKED.contains(&last.as_str()) {
        last = ending(Path::new(path.file_stem()?))?;
    }
    let (_, format, what) = SOURCES.into_iter().find(|(endings, _, _)| endings.contains(&last.as_str()))?;
    Some((format, what))
}

/// Some files of a folder and of the folders in it, the upper ones first.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files, mut looked) = (std::collections::VecDeque::from([folder.to_owned()]), vec![], 0);
    while let Some(folder) = folders.pop_front() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            looked += 1;
            if looked > LOOKED_AT {
                return files;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push_back(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_what_most_of_its_files_are() {
        let place = tempfile::tempdir().expect("a folder");
        let deep = place.path().join("a/b");
        std::fs::create_dir_all(&deep).expect("folders");
        for name in ["x.md", "y.md", "z.html", "w.txt"] {
            std::fs::write(deep.join(name), "").expect("a file");
        }
        assert!(matches!(at(place.path()), Some(Thing::Source(Format::Markdown, _))));
        assert!(at(&deep.join("w.txt")).is_none() && at(&deep.join("nothing")).is_none());
    }

    #[test]
    fn other_names_of_formats_lead_to_ours() {
        assert_eq!(format_named("markdown"), Ok(Format::Markdown));
        assert_eq!(format_named("MD"), Err("the format that reads MD is called markdown".to_owned()));
        assert!(format_named("docx").is_err_and(|what| what.contains("pandoc notes.docx")));
        assert!(format_named("xyz").is_err_and(|what| what.starts_with("expected a format")));
    }

    #[test]
    fn paths_with_spaces_are_quoted_in_commands() {
        let command = import_command(Format::Markdown, Path::new("my notes/it's"));
        assert_eq!(command, r"hd2v import markdown 'my notes/it'\''s' -o 'it'\''s.corpus'");
        assert_eq!(
            import_command(Format::Library, Path::new("a/refs.bib")),
            "hd2v import library a/refs.bib -o refs.corpus"
        );
        let place = tempfile::tempdir().expect("a folder");
        for name in ["b.ris", "a.bib", "c.pdf"] {
            std::fs::write(place.path().join(name), "").expect("a file");
        }
        let command = import_command(Format::Library, place.path());
        assert!(command.contains("a.bib ") && command.contains("b.ris -o ") && !command.contains("c.pdf"), "{command}");
    }
}
