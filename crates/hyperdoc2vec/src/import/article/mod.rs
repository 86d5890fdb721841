//! Trees of XML articles, one or many a file: the part that `tei` and `jats` share.
//!
//! Headers are read when the tree is opened, because references are looked up among them; texts afterwards, in any
//! order. An article begins at its own start tag: what stands before it (declarations, a document type, the tags
//! around many articles) is not read, and an article that is not well-formed spoils no other.

pub(super) mod xml;

use std::borrow::Cow;
use std::path::PathBuf;

use rayon::prelude::*;

use super::reference::{BibRecord, Catalogue, CatalogueBuilder, Paper};
use super::tree::{self, FileTree, Pages, WantedFiles, safe_id};
use super::{Format, ImportOptions, Parsed};
use crate::document::losses::Loss;
use crate::error::Result;
use xml::{XmlElement, XmlTree};

/// Files whose headers are in memory at once.
const TOGETHER: usize = 512;

/// One kind of XML.
pub(super) trait Dialect: Sync {
    /// The name of its files in messages.
    const WHAT: &'static str;
    /// The local name of an article's element.
    const ARTICLE: &'static str;
    /// The local name of the element in it that has the metadata.
    const HEADER: &'static str;

    /// The article's bibliographic record, and the id that it gives itself.
    fn header(header: XmlElement<'_>) -> (BibRecord, Option<String>);

    /// The whole article; of its document, the id and the place are not wanted.
    fn paper(article: XmlElement<'_>, record: BibRecord, place: &str, parsed: &mut Parsed) -> Paper;
}

/// Articles that were found, their headers read.
pub(super) struct Articles<D> {
    tree: FileTree,
    catalogue: Catalogue,
    dialect: std::marker::PhantomData<D>,
}

impl<D: Dialect> Articles<D> {
    /// Walks `roots` (directories or single files) and reads all headers; an error if there is no file. Now and then
    /// `step` gets the number of files, and may stop it.
    pub(super) fn open(
        roots: &[PathBuf],
        options: &ImportOptions,
        step: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Articles<D>> {
        let ImportOptions { include, exclude, .. } = options;
        let wanted = WantedFiles { what: D::WHAT, endings: &["xml", "nxml", "tei"], include, exclude };
        let tree = FileTree::open(roots, &wanted, stem)?;
        let mut catalogue = CatalogueBuilder::default();
        for pages in tree.pages.chunks(TOGETHER) {
            step(tree.pages.len())?;
            let of_page = |page: &tree::TreeFile| {
                // What cannot be read is reported when the texts are.
                let bytes = tree::read(&page.file).unwrap_or_default();
                let source = decoded(&bytes);
                let articles = starts(&source, D::ARTICLE).into_iter().enumerate();
                // An article that is not well-formed will be no document, so nothing is found to mean it.
                let header = |(number, article): (usize, &str)| {
                    let tree = XmlTree::parse(article).ok()?;
                    let (record, id) = D::header(tree.root().find(&[D::HEADER])?);
                    Some((named(id, &page.id, number), record))
                };
                articles.filter_map(header).collect::<Vec<_>>()
            };
            let records: Vec<Vec<(String, BibRecord)>> = pages.par_iter().map(of_page).collect();
            records.iter().flatten().for_each(|(id, record)| catalogue.add(id, record));
        }
        Ok(Articles { tree, catalogue: catalogue.finish(), dialect: std::marker::PhantomData })
    }
}

impl<D: Dialect> Pages for Articles<D> {
    fn len(&self) -> usize {
        self.tree.pages.len()
    }

    fn digest(&self) -> u64 {
        self.tree.digest(Default::default())
    }

    fn parse_page(&self, index: usize, parsed: &mut Parsed) {
        let page = &self.tree.pages[index];
        let Some(bytes) = self.tree.read(index, &mut parsed.batch.losses) else { return };
        let source = decoded(&bytes);
        if source.contains('\u{FFFD}') && std::str::from_utf8(&bytes).is_err() {
            parsed.batch.losses.add(Loss::ReplacedBytes, page.path.clone());
        }
        let articles = starts(&source, D::ARTICLE);
        if articles.is_empty() {
            let what = other_format(&source).unwrap_or_else(|| format!("no <{}> in it", D::ARTICLE));
            parsed.batch.losses.add(Loss::UnreadFile, format!("{}: {what}", page.path));
        }
        for (number, article) in articles.into_iter().enumerate() {
            let offset = article.as_ptr() as usize - source.as_ptr() as usize;
            let place =
                if number == 0 { page.path.clone() } else { format!("{}, article at byte {offset}", page.path) };
            let tree = match XmlTree::parse(article) {
                Ok(tree) => tree,
                Err(wrong) => {
                    let at = offset + wrong.at;
                    let what = format!("{}, byte {at}: not well-formed XML: {}", page.path, wrong.what);
                    parsed.batch.losses.add(Loss::MalformedRecord, what);
                    continue;
                }
            };
            for entity in &tree.unknown {
                parsed.batch.losses.add(Loss::IgnoredField, format!("entity &{entity}; ({place})"));
            }
            let root = tree.root();
            let (record, id) = root.find(&[D::HEADER]).map(D::header).unwrap_or_default();
            let mut paper = D::paper(root, record, &place, parsed);
            paper.document.id = named(id, &page.id, number);
            paper.document.origin = place;
            paper.link(&self.catalogue, parsed);
        }
    }
}

/// The format that reads a file without such articles, if one does.
fn other_format(source: &str) -> Option<String> {
    let formats = [("TEI", Format::Tei), ("article", Format::Jats), ("mediawiki", Format::MediaWiki)];
    let found = formats.into_iter().find(|(element, _)| !starts(source, element).is_empty());
    found.map(|(_, format)| format!("its format is {format}"))
}

/// The id of an article: its own, or after its file, numbered from the second on.
fn named(own: Option<String>, file: &str, number: usize) -> String {
    match own.filter(|id| !id.trim().is_empty()) {
        Some(id) => safe_id(&id),
        None if number == 0 => file.to_owned(),
        None => format!("{file}#{}", number + 1),
    }
}

/// A path without the endings of such files.
fn stem(path: &str) -> String {
    let mut stem = path;
    for ending in [".xml", ".nxml", ".tei", ".grobid", ".fulltext"] {
        let cut = stem.len().saturating_sub(ending.len());
        if stem.get(cut..).is_some_and(|end| end.eq_ignore_ascii_case(ending)) && !stem[..cut].ends_with('/') && cut > 0
        {
            stem = &stem[..cut];
        }
    }
    stem.to_owned()
}

/// The file as text: in the encoding that it declares, or UTF-8.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let head = &bytes[..bytes.len().min(200)];
    let end = memchr::memchr(b'>', head).unwrap_or(0);
    let declared = memchr::memmem::find(&head[..end], b"encoding=").map(|at| &head[at + 9..end]);
    let label = declared.and_then(|rest| rest.split(|b| matches!(b, b'"' | b'\'')).nth(1));
    let encoding = label.and_then(encoding_rs::Encoding::for_label).unwrap_or(encoding_rs::UTF_8);
    encoding.decode(bytes).0
}

/// The source from each start tag of an element on, up to the next one.
fn starts<'a>(source: &'a str, element: &str) -> Vec<&'a str> {
    let bytes = source.as_bytes();
    let name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let mut starts = Vec::new();
    for at in memchr::memmem::find_iter(bytes, element.as_bytes()) {
        let after = bytes.get(at + element.len()).copied();
        if !after.is_some_and(|b| b.is_ascii_whitespace() || matches!(b, b'>' | b'/')) {
            continue;
        }
        let open = if bytes[..at].ends_with(b":") {
            at - 1 - bytes[..at - 1].iter().rev().take_while(|&&b| name(b)).count()
        } else {
            at
        };
        if bytes[..open].ends_with(b"<") {
            starts.push(open - 1);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([source.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &source[start..end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_are_found_by_their_start_tags() {
        let source = "<!DOCTYPE article [<!ENTITY a \"b\">]><set><article-set/><article id='1'>a</article><j:article>b</j:article></set>";
        assert_eq!(starts(source, "article"), ["<article id='1'>a</article>", "<j:article>b</j:article></set>"]);
        assert_eq!(starts("no article", "article"), [""; 0]);
    }

    #[test]
    fn a_file_is_called_without_its_endings() {
        for (path, expected) in
            [("a/b.grobid.tei.xml", "a/b"), ("PMC1.nxml", "PMC1"), ("x.y.xml", "x.y"), (".xml", ".xml"), ("é", "é")]
        {
            assert_eq!(stem(path), expected);
        }
    }

    #[test]
    fn a_declared_encoding_is_used() {
        assert_eq!(decoded(b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>").split('>').nth(2), Some("é</a"));
        assert_eq!(decoded("\u{feff}<a/>".as_bytes()), "<a/>");
    }
}
