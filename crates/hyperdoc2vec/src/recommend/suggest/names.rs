//! Targets as drafts write them, and the documents of a model that they mean; and back.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::files::DocumentFiles;
use crate::draft::{Draft, DraftFormat, DraftSource};
use crate::id::DocRow;
use crate::import::markdown::without_number;
use crate::model::Model;

/// Endings of pages, which most ids do not have.
const ENDINGS: [&str; 12] =
    [".md", ".markdown", ".mdx", ".html", ".htm", ".xhtml", ".rst", ".tex", ".wiki", ".mediawiki", ".txt", ".qmd"];
/// Pages that are called after their folder.
const INDEXES: [&str; 4] = ["index", "_index", "readme", "README"];
/// Documents with the same end of their ids; of more, none is meant.
const NAMESAKES: usize = 64;
/// Parts at the end of a path that are looked for.
const MOST_PARTS: usize = 64;

/// The documents of a model by all their names.
pub struct DocumentNames<'a> {
    model: &'a Model,
    /// Names besides ids, read when the first is asked for.
    others: OnceLock<OtherNames>,
}

struct OtherNames {
    /// Titles in lower case; `None` where several documents have one.
    by_title: HashMap<String, Option<DocRow>>,
    /// Ids without endings, their parts from the last to the first, each with a slash behind it; sorted.
    by_end: Vec<(String, DocRow)>,
    by_url: HashMap<String, DocRow>,
}

impl OtherNames {
    fn read(model: &Model) -> OtherNames {
        let (names, titles, urls) = (model.names(), model.titles(), model.urls());
        let (mut by_title, mut by_end, mut by_url) = (HashMap::new(), Vec::new(), HashMap::new());
        for row in 0..model.documents() as u32 {
            let (id, title) = (names.get(row as usize), plain(titles.get(row as usize)));
            if !title.is_empty() {
                by_title.entry(title).and_modify(|of| *of = None).or_insert(Some(DocRow(row)));
            }
            let id = without_ending(id);
            // Numbers that order pages are no part of their addresses.
            let unnumbered = id.split('/').map(without_number).collect::<Vec<_>>().join("/");
            if unnumbered != id {
                by_end.push((backwards(&unnumbered), DocRow(row)));
            }
            by_end.push((backwards(id), DocRow(row)));
            let url = urls.get(row as usize);
            if !url.is_empty() {
                by_url.insert(plain_url(url).to_owned(), DocRow(row));
            }
        }
        by_end.sort_unstable();
        OtherNames { by_title, by_end, by_url }
    }

    /// The only document whose id ends in these parts; of several, the one nearest to a folder, if one is given.
    fn ending_in(&self, end: &str, near: Option<&str>) -> Option<DocRow> {
        let end = backwards(end);
        let start = self.by_end.partition_point(|(id, _)| *id < end);
        let found = self.by_end[start..].iter().take_while(|(id, _)| id.starts_with(&end));
        let found: Vec<&(String, DocRow)> = found.take(NAMESAKES + 1).collect();
        let first = found.first()?.1;
        if found.iter().all(|one| one.1 == first) {
            return Some(first);
        }
        let near: Vec<String> = near?.split('/').map(plain).collect();
        let rank = |(id, row): &(String, DocRow)| {
            let folders: Vec<&str> = id.trim_end_matches('/').rsplit('/').collect();
            let common = near.iter().zip(&folders).take_while(|(a, b)| a == b).count();
            (Reverse(common), folders.len(), *row)
        };
        found.iter().filter(|_| found.len() <= NAMESAKES).min_by_key(|one| rank(one)).map(|one| one.1)
    }
}

/// Where a draft stands among the documents of a model.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct DraftLocation {
    /// The document that it is, if the model has it.
    pub document: Option<DocRow>,
    /// Its path from the folder that ids begin at, without its ending, where that is known.
    stem: Option<String>,
    /// The files of documents, where they were looked for and found.
    files: Option<DocumentFiles>,
}

impl DraftLocation {
    /// The path of the file that a document is, if that was looked for and found.
    pub fn file(&self, id: &str) -> Option<PathBuf> {
        self.files.as_ref()?.path(id.split('#').next().unwrap_or(id))
    }

    /// Its folder, from the folder that ids begin at.
    fn folder(&self) -> Option<&str> {
        self.stem.as_deref().map(folder)
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

    /// The document that the file of a path is, as paths begin at the folder that ids begin at.
    fn file(&self, path: &str) -> Option<DocRow> {
        let stem = without_ending(path);
        let index = folder_of_index(stem);
        self.id(path).or_else(|| self.id(stem)).or_else(|| index.and_then(|folder| self.id(folder)))
    }

    /// The document that a link to a path means: a file, with or without an ending, or the page of a folder.
    fn page(&self, path: &str) -> Option<DocRow> {
        let path = path.trim_matches('/');
        let stem = without_ending(path);
        let index = |name: &str| self.id(format!("{}/{name}", folder_of_index(stem).unwrap_or(stem)).trim_matches('/'));
        self.file(path).or_else(|| INDEXES.into_iter().chain(["index.html"]).find_map(index))
    }

    /// The document that a file is, the one whose id is the end of its path; and that end.
    fn of_path<'p>(&self, path: &'p str) -> Option<(DocRow, &'p str)> {
        let mut rest = path.trim_start_matches("./");
        loop {
            if let Some(row) = self.file(rest.trim_matches('/')) {
                return Some((row, rest));
            }
            rest = rest.split_once('/')?.1;
        }
    }

    /// Where the draft of a path stands: it is the document whose id is the end of the path.
    pub fn location(&self, path: &str) -> DraftLocation {
        let path = path.replace('\\', "/");
        let found = self.of_path(&path);
        let stem = found.map(|(_, end)| without_ending(end.trim_matches('/')).to_owned());
        DraftLocation { document: found.map(|(row, _)| row), stem, files: None }
    }

    /// Where the file of a path stands, and which files the documents around it are.
    pub fn location_beside(&self, path: &str, format: DraftFormat) -> DraftLocation {
        let mut location = self.location(path);
        let path = Path::new(path);
        match &location.stem {
            Some(stem) => location.files = DocumentFiles::below(path, stem.split('/').count(), format),
            None => {
                let (files, folder) = DocumentFiles::around(path, format, self.model).unzip();
                let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
                location.stem = folder.map(|folder| format!("{folder}/{name}").trim_start_matches('/').to_owned());
                // The page of the root is called after no folder.
                let is_root = location.stem.as_deref() == Some("_index");
                location.document = self.id("index").filter(|_| is_root);
                location.files = files;
            }
        }
        location
    }

    /// The document that a draft is, by where it stands, and those that it links to.
    pub fn source(&self, draft: &Draft, location: &DraftLocation) -> DraftSource {
        let targets = draft.links.iter().flat_map(|link| &link.targets);
        let links = targets.filter_map(|target| self.resolve(target, location)).collect();
        DraftSource { document: location.document, links }
    }

    /// The document that a target means which is written in a draft that stands at `from`.
    pub fn resolve(&self, written: &str, from: &DraftLocation) -> Option<DocRow> {
        // A section may be a document of its own.
        let (whole, part) = written.split_once('#').unwrap_or((written, ""));
        let page = self.resolve_page(whole, from);
        let own = from.document.filter(|_| whole.is_empty());
        let of = page.or(own).map(|row| self.model.names().get(row.index()));
        let section = of.filter(|_| !part.is_empty()).and_then(|id| {
            let id = id.split('#').next().unwrap_or(id);
            self.id(&format!("{id}#{part}")).or_else(|| self.id(&format!("{id}#{}", decoded(part))))
        });
        section.or(page)
    }

    /// As the importer of trees does it, as far as ids and titles tell.
    fn resolve_page(&self, written: &str, from: &DraftLocation) -> Option<DocRow> {
        let path = written.split('?').next().unwrap_or_default().trim();
        let path = ["project:", "path:", "doc:"].iter().find_map(|start| path.strip_prefix(start)).unwrap_or(path);
        if path.is_empty() {
            return None;
        }
        if path.contains("://") || path.starts_with("//") {
            return self.others().by_url.get(plain_url(path)).copied();
        }
        let path = decoded(path.strip_prefix("@site").unwrap_or(path));
        // From its folder, or from the folder that a server makes of the page itself.
        let folders = [from.folder(), from.stem.as_deref()].into_iter().flatten();
        let relative =
            || folders.filter(|_| !path.starts_with('/')).find_map(|folder| self.page(&joined(folder, &path)));
        relative().or_else(|| self.page(&path)).or_else(|| self.by_end(&path, from))
    }

    /// The document of a path that begins elsewhere. Of a path from the site's root, the longest end counts that names a
    /// document; other paths may be the end of an id, or a title.
    fn by_end(&self, path: &str, from: &DraftLocation) -> Option<DocRow> {
        let stem = without_ending(path).trim_end_matches('/');
        let stem = folder_of_index(stem).filter(|folder| !folder.is_empty()).unwrap_or(stem);
        let from_root = stem.starts_with('/');
        let end = stem.trim_start_matches(['.', '/']);
        let cut = end.rmatch_indices('/').nth(MOST_PARTS).map_or(0, |(at, _)| at + 1);
        let shorter = end[cut..].match_indices('/').map(|(at, _)| cut + at + 1).filter(|_| from_root);
        let only = |end: &str| self.others().ending_in(end, None);
        let site = [cut].into_iter().chain(shorter).find_map(|at| self.page(&end[at..]).or_else(|| only(&end[at..])));
        let near = from.folder().filter(|_| !path.starts_with(['.', '/']));
        let title = |name: &str| self.others().by_title.get(&plain(name)).copied().flatten();
        let last = end.rsplit('/').next().unwrap_or(end);
        site.or_else(|| self.others().ending_in(end, near)).or_else(|| title(last)).or_else(|| only(last))
    }

    /// How a file of a format that stands at `from` writes a link to a document: a path from its folder. One whose file is
    /// not known is taken to have a file that is called after it.
    pub fn href(&self, format: DraftFormat, from: &DraftLocation, to: DocRow) -> String {
        let file = |page: &str| from.files.as_ref().and_then(|files| files.file(page));
        let own = from.folder().unwrap_or_default();
        address(self.model.names().get(to.index()), |page| {
            relative(own, &file(page).unwrap_or_else(|| file_of(format, page)))
        })
    }
}

/// The address of a document: that of its page, and the part of it that a section is.
fn address(id: &str, of_page: impl FnOnce(&str) -> String) -> String {
    match id.split_once('#') {
        Some((page, part)) => format!("{}#{}", of_page(page), encoded(part)),
        None => of_page(id),
    }
}

/// The file that a document is called after, in a tree of files of a format.
fn file_of(format: DraftFormat, id: &str) -> String {
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
fn relative(own: &str, file: &str) -> String {
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

/// The parts of an id from the last to the first, for comparing, each with a slash behind it.
fn backwards(id: &str) -> String {
    id.rsplit('/').flat_map(|part| [plain(part), "/".to_owned()]).collect()
}

/// A web address for comparing: without its scheme, a slash at its end, or the ending of a page.
fn plain_url(url: &str) -> &str {
    without_ending(url.split_once("//").map_or(url, |(_, rest)| rest).trim_end_matches('/'))
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
        let start = names.location("site/guide/start.md");
        let href = |format, to| names.href(format, &start, row(to));
        assert_eq!(href(DraftFormat::Markdown, "guide/start#the-end"), "start.md#the-end");
        assert_eq!(href(DraftFormat::Html, "ref/os.html#os.path.join"), "../ref/os.html#os.path.join");
        let found = |written: &str| names.resolve(written, &start);
        assert_eq!(found("start.md#the-end"), Some(row("guide/start#the-end")));
        assert_eq!(found("#the-end"), Some(row("guide/start#the-end")));
        assert_eq!(found("start.md#nowhere"), Some(row("guide/start")));
        assert_eq!(found("../ref/os.html#os.path.join"), Some(row("ref/os.html#os.path.join")));
        assert_eq!(found("#nowhere"), None);
    }

    /// Links of a tree whose root is another folder than that of its site, as the importer resolves them.
    #[test]
    fn written_links_lead_where_the_importer_takes_them() {
        let dir = tempfile::tempdir().expect("a directory");
        let ids = [
            "index",
            "work",
            "work/pods",
            "work/pods/qos",
            "work/jobs",
            "net/service",
            "terms/pod",
            "ref/README",
            "01-new/a",
        ];
        let documents = ids.map(|id| crate::Document::new(id, "words of a page and of [[net/service]] another page"));
        let corpus = crate::Import::documents(documents).min_count(1).build(dir.path().join("c")).expect("a corpus");
        let model = crate::train::Training::new(&corpus).dim(4).run(dir.path().join("m")).expect("a model");
        let names = DocumentNames::new(&model);
        let found = |from: &str, written: &str| {
            names.resolve(written, &names.location(from)).map(|row| model.names().get(row.index()).to_owned())
        };
        for (from, written, id) in [
            ("new.md", "/docs/work/pods/", "work/pods"),
            ("new.md", "/docs/net/service/?x=1#part", "net/service"),
            ("new.md", "/en/docs/work/pods/_index.md", "work/pods"),
            ("new.md", "/service", "net/service"),
            ("new.md", "/docs/new/a/", "01-new/a"),
            ("new.md", "/ref/", "ref/README"),
            ("x/docs/work/pods/_index.md", "../jobs.md", "work/jobs"),
            ("x/docs/work/pods/_index.md", "qos/", "work/pods/qos"),
            ("work/pods/qos.md", "../../net/service.html", "net/service"),
            // From the folder that a server makes of the page.
            ("work/pods/qos.md", "../../jobs/", "work/jobs"),
            ("work/pods/qos.md", "../../", "index"),
            ("net/service.md", "glossary/none", ""),
            ("net/service.md", "terms/pod", "terms/pod"),
            ("net/service.md", "QoS", "work/pods/qos"),
            ("net/service.md", "https://example.org/work/pods", ""),
        ] {
            assert_eq!(found(from, written).unwrap_or_default(), id, "{written} in {from}");
        }
        let root = dir.path().join("docs");
        for file in ["_index.md", "work/_index.md", "work/pods/_index.md", "work/pods/qos.md", "net/service/index.md"] {
            let file = root.join(file);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, "words").expect("a file");
        }
        let row = |id: &str| DocRow(names.model().names().find(id).expect("a document") as u32);
        for (from, to, written) in [
            ("work/_index.md", "net/service", "../net/service/index.md"),
            ("_index.md", "work/pods", "work/pods/_index.md"),
            ("work/pods/_index.md", "work/pods/qos", "qos.md"),
            ("work/pods/qos.md", "work/pods", "_index.md"),
            // New files, and a document without one.
            ("work/pods/new.md", "work/pods/qos", "qos.md"),
            ("work/new/_index.md", "index", "../../_index.md"),
            ("work/pods/qos.md", "work/jobs", "../jobs.md"),
        ] {
            let location = names.location_beside(&root.join(from).display().to_string(), DraftFormat::Markdown);
            assert_eq!(names.href(DraftFormat::Markdown, &location, row(to)), written, "{from}");
        }
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
