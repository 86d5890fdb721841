//! The options of an import and their defaults.

use std::path::PathBuf;

use super::pdf::PdfOptions;
use crate::corpus::CorpusOptions;
use crate::storage::part::Shard;

/// How to import.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ImportOptions {
    /// How words are taken from text.
    pub corpus: CorpusOptions,
    /// Threads to use; 0 for one a core.
    pub threads: usize,
    /// Leave out records that cannot be read, and count them, rather than stop.
    pub skip_bad: bool,
    /// The longest line in bytes.
    pub longest_line: usize,
    /// Replace a corpus that stands at the destination.
    pub force: bool,
    /// Trees: globs of the pages to take, against the path below the root; none means all.
    pub include: Vec<String>,
    /// Trees: globs of pages to leave out, beside those that a format leaves out by itself.
    pub exclude: Vec<String>,
    /// Trees: web address of the root; links to addresses below it are links to pages of the set.
    pub base_url: Option<String>,
    /// Pages: whether links inside code listings and signatures are links.
    pub code_links: bool,
    /// Trees: whether headings and definitions that links may lead to are documents of their own.
    pub sections: bool,
    /// Wikis: numbers of the namespaces whose pages are read.
    pub namespaces: Vec<i32>,
    /// Papers: the table of metadata.
    pub metadata: Option<PathBuf>,
    /// Libraries: folders in which the files of works are looked for.
    pub files: Vec<PathBuf>,
    /// Libraries and PDFs: make documents of works that are cited, but are not there; by default, libraries do.
    pub cited_works: Option<bool>,
    /// Libraries and PDFs: how PDFs are read.
    pub pdf: PdfOptions,
    /// Read one of several shards of the input, into a part; see [`super::Import::write_part`].
    pub shard: Option<Shard>,
}

impl Default for ImportOptions {
    fn default() -> ImportOptions {
        ImportOptions {
            corpus: CorpusOptions::default(),
            threads: 0,
            skip_bad: false,
            longest_line: 128 << 20,
            force: false,
            include: Vec::new(),
            exclude: Vec::new(),
            base_url: None,
            code_links: true,
            sections: false,
            namespaces: vec![0],
            metadata: None,
            files: Vec::new(),
            cited_works: None,
            pdf: PdfOptions::default(),
            shard: None,
        }
    }
}
