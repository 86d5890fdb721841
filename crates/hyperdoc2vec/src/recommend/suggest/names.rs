//! Targets as drafts write them, and the documents of a model that they mean; and back.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use crate::draft::{Draft, DraftFormat, DraftSource};
use crate::id::DocRow;
use crate::model::Model;

/// Endings of pages, which most ids do not have.
const ENDINGS: [&str; 12] =
    [".md", ".markdown", ".mdx", ".html", ".htm", ".xhtml", ".rst", ".tex", ".wiki", ".mediawiki", ".txt", ".qmd"];
/// Pages that are called after their folder.
const INDEXES: [&str; 4] = ["index", "_index", "readme", "README"];

/// The documents of a model by all their names.
pub struct DocumentNames<'a> {
    model: &'a Model,
    /// Names besides ids, read when the first is asked for.
    others: OnceLock<OtherNames>,
}

struct OtherNames {
    /// Titles and last parts of ids in lower case; `None` where several documents have one.
    by_name: HashMap<String, Option<DocRow>>,
    by_url: HashMap<String, DocRow>,
}

impl OtherNames {
    fn read(model: &Model) -> OtherNames {
        let (names, titles, urls) = (model.names(), model.titles(), model.urls());
        let (mut by_name, mut by_url) = (HashMap::new(), HashMap::new());
        for row in 0..model.documents() as u32 {
            let (id, title) = (names.get(row as usize), titles.get(row as usize));
            let last = id.rsplit('/').next().unwrap_or(id);
            let mut keys = vec![plain(title), plain(last)];
            keys.dedup();
            for key in keys.into_iter().filter(|key| !key.is_empty()) {
                by_name.entry(key).and_modify(|of| *of = None).or_insert(Some(DocRow(row)));
            }
            let url = urls.get(row as usize);
            if !url.is_empty() {
                by_url.insert(url.to_owned(), DocRow(row));
            }
        }
        OtherNames { by_name, by_url }
    }
}

impl<'a> DocumentNames<'a> {
    /// The names of the documents of a model.
    pub fn new(model: &'a Model) -> DocumentNames<'a> {
        DocumentNames { model, others: OnceLock::new() }
    }

    /// The model.
    pub fn model(&self) -> &'a Model {
        self.model
    }

    fn others(&self) -> &OtherNames {
        self.others.get_or_init(|| OtherNames::read(self.model))
    }

    fn id(&self, name: &str) -> Option<DocRow> {
        self.model.names().find(name).map(|row| DocRow(row as u32))
    }

    /// A document by its path, with or without an ending.
    fn page(&self, path: &str) -> Option<DocRow> {
        let path = path.trim_matches('/');
        let stem = without_ending(path);
        let index = folder_of_index(stem);
        self.id(path).or_else(|| self.id(stem)).or_else(|| index.and_then(|folder| self.id(folder)))
    }

    /// The document that a file is: the one whose id is the end of its path.
    pub fn of_path(&self, path: &str) -> Option<DocRow> {
        let path = path.replace('\\', "/");
        let mut rest = path.trim_start_matches("./");
        loop {
            if let Some(row) = self.page(rest) {
                return Some(row);
            }
            rest = rest.split_once('/')?.1;
        }
    }

    /// The document that a draft is, by its path, and those that it links to.
    pub fn source(&self, draft: &Draft, path: Option<&str>) -> DraftSource {
        let document = path.and_then(|path| self.of_path(path));
        let targets = draft.links.iter().flat_map(|link| &link.targets);
        let links = targets.filter_map(|target| self.resolve(target, document)).collect();
        DraftSource { document, links }
    }

    /// The document that a target written in the document `from` means.
    pub fn resolve(&self, written: &str, from: Option<DocRow>) -> Option<DocRow> {
        // A section may be a document of its own.
        let (whole, part) = written.split_once('#').unwrap_or((written, ""));
        let page = self.resolve_page(whole, from);
        let own = from.filter(|_| whole.is_empty());
        let of = page.or(own).map(|row| self.model.names().get(row.index()));
        let section = of.filter(|_| !part.is_empty()).and_then(|id| {
            let id = id.split('#').next().unwrap_or(id);
            self.id(&format!("{id}#{part}")).or_else(|| self.id(&format!("{id}#{}", decoded(part))))
        });
        section.or(page)
    }

    fn resolve_page(&self, written: &str, from: Option<DocRow>) -> Option<DocRow> {
        let path = written.split('?').next().unwrap_or_default().trim();
        if path.is_empty() {
            return None;
        }
        let url = |path: &str| self.others().by_url.get(path).copied();
        if let Some(row) = url(path).or_else(|| url(path.trim_end_matches('/'))) {
            return Some(row);
        }
        if path.contains("://") {
            return None;
        }
        let path = decoded(path);
        let folder = from.map(|row| folder(self.model.names().get(row.index())));
        let relative = folder.map(|folder| joined(folder, &path));
        let found = relative.filter(|_| !path.starts_with('/')).and_then(|path| self.page(&path));
        let last = without_ending(path.rsplit('/').next().unwrap_or(&path));
        let name = || self.others().by_name.get(&plain(last)).copied().flatten();
        found.or_else(|| self.page(&path)).or_else(name)
    }

    /// How a file of a format writes a link from one document to another: a path from the folder of the first.
    pub fn href(&self, format: DraftFormat, from: Option<DocRow>, to: DocRow) -> String {
        let own = from.map_or("", |row| folder(self.model.names().get(row.index())));
        let id = self.model.names().get(to.index());
        address(id, |page| relative(own, &file_of(format, page)))
    }
}

/// The address of a document: that of its page, and the part of it that a section is.
pub(super) fn address(id: &str, of_page: impl FnOnce(&str) -> String) -> String {
    match id.split_once('#') {
        Some((page, part)) => format!("{}#{}", of_page(page), encoded(part)),
        None => of_page(id),
    }
}

/// The file that a document is called after, in a tree of files of a format.
pub(super) fn file_of(format: DraftFormat, id: &str) -> String {
    let ending = match format {
        // Pages of HTML keep their endings.
        _ if without_ending(id) != id => "",
        DraftFormat::Markdown => ".md",
        DraftFormat::Html => ".html",
        _ => "",
    };
    format!("{id}{ending}")
}

/// The address of a file of a tree from one of its folders.
pub(super) fn relative(own: &str, file: &str) -> String {
    let own: Vec<&str> = own.split('/').filter(|part| !part.is_empty()).collect();
    let parts: Vec<&str> = file.split('/').collect();
    let same = own.iter().zip(&parts[..parts.len() - 1]).take_while(|(a, b)| a == b).count();
    encoded(&("../".repeat(own.len() - same) + &parts[same..].join("/")))
}

/// The folder whose page a path is: `guide` for `guide/_index`.
fn folder_of_index(stem: &str) -> Option<&str> {
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    INDEXES.contains(&name).then_some(folder)
}

fn without_ending(path: &str) -> &str {
    ENDINGS.iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(path)
}

/// The folder that a document stands in.
fn folder(id: &str) -> &str {
    id.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A name for comparing: in lower case, `_` being a space.
fn plain(name: &str) -> String {
    name.trim().replace('_', " ").to_lowercase()
}

/// A path from a folder, without `.` and `..`.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Bytes written as `%20`, read.
fn decoded(text: &str) -> Cow<'_, str> {
    percent_encoding::percent_decode_str(text).decode_utf8().unwrap_or(text.into())
}

/// Characters that an address may not hold, written as `%20`; letters of other scripts stay readable.
fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            ' ' | '(' | ')' | '<' | '>' | '"' | '\'' | '`' | '%' | '?' | '#' | '[' | ']' | '\\' | '^' | '{' | '}'
            | '|' => {
                out.push_str(&format!("%{:02X}", c as u32));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_written_and_read_as_parts_of_their_pages() {
        let dir = tempfile::tempdir().expect("a directory");
        let ids = ["guide/start", "guide/start#the-end", "ref/os.html", "ref/os.html#os.path.join"];
        let documents = ids.map(|id| crate::Document::new(id, "words of a page and of [[ref/os.html]] another page"));
        let corpus = crate::Import::documents(documents).min_count(1).build(dir.path().join("c")).expect("a corpus");
        let model = crate::train::Training::new(&corpus).dim(4).run(dir.path().join("m")).expect("a model");
        let names = DocumentNames::new(&model);
        let row = |id: &str| DocRow(model.names().find(id).expect("a document") as u32);
        let href = |format, to| names.href(format, Some(row("guide/start")), row(to));
        assert_eq!(href(DraftFormat::Markdown, "guide/start#the-end"), "start.md#the-end");
        assert_eq!(href(DraftFormat::Html, "ref/os.html#os.path.join"), "../ref/os.html#os.path.join");
        let found = |written: &str| names.resolve(written, Some(row("guide/start")));
        assert_eq!(found("start.md#the-end"), Some(row("guide/start#the-end")));
        assert_eq!(found("#the-end"), Some(row("guide/start#the-end")));
        assert_eq!(found("start.md#nowhere"), Some(row("guide/start")));
        assert_eq!(found("../ref/os.html#os.path.join"), Some(row("ref/os.html#os.path.join")));
        assert_eq!(found("#nowhere"), None);
    }

    #[test]
    fn paths_are_joined_and_addresses_written() {
        assert_eq!(joined("a/b", "../c/./d.md"), "a/c/d.md");
        assert_eq!(joined("", "../../x"), "x");
        assert_eq!(encoded("a b(c)"), "a%20b%28c%29");
        assert_eq!(decoded("a%20b%28c%29%zz"), "a b(c)%zz");
        assert_eq!(without_ending("a/b.md"), "a/b");
        assert_eq!(folder_of_index("a/b/_index"), Some("a/b"));
        assert_eq!((folder_of_index("index"), folder_of_index("a/reindex")), (Some(""), None));
        assert_eq!(file_of(DraftFormat::Html, "a/b.html"), "a/b.html");
        assert_eq!(file_of(DraftFormat::Html, "a/b"), "a/b.html");
        assert_eq!(relative("", "a/b.md"), "a/b.md");
        assert_eq!(relative("a/c", "a/b.md"), "../b.md");
        assert_eq!(relative("a", "a/b/_index.md"), "b/_index.md");
    }
}
