//! `corpus.json`: what a corpus directory holds, how it was made, and the checksums of its files.

use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::document::Date;
use crate::document::losses::Losses;
use crate::error::{Error, Result};
use crate::storage::array::Files;

/// The version of the layout. 2: documents have a language. 3: documents have authors.
pub(super) const VERSION: u32 = 3;
/// The oldest version that is read.
const OLDEST: u32 = 2;

/// The name of the manifest in the directory.
pub(super) const NAME: &str = "corpus.json";

const FORMAT: &str = "hyperdoc2vec corpus";

/// How words were taken from text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CorpusOptions {
    /// Whether words are lower-cased.
    pub lowercase: bool,
    /// Words that occur less often are kept for display and search, but are no part of the vocabulary.
    pub min_count: u64,
}

impl Default for CorpusOptions {
    fn default() -> CorpusOptions {
        CorpusOptions { lowercase: true, min_count: 5 }
    }
}

/// Where a corpus came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Provenance {
    /// The format that was imported, or `generate`.
    pub format: String,
    /// Names of the inputs, without their directories.
    pub inputs: Vec<String>,
}

/// The size of a corpus.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Counts {
    /// Documents.
    pub documents: u64,
    /// Running words.
    pub words: u64,
    /// Distinct words that occur at least `min_count` times.
    pub vocabulary: u64,
    /// Distinct words.
    pub distinct_words: u64,
    /// Places where a link stands.
    pub positions: u64,
    /// Pairs of a place and a target.
    pub links: u64,
    /// Documents that no link points at.
    pub newcomers: u64,
    /// Documents that have a date.
    pub dated: u64,
    /// Distinct labels.
    pub labels: u64,
    /// Documents that have a label.
    pub labelled: u64,
    /// Bytes of text, without link marks.
    pub text_bytes: u64,
    /// Redirects.
    pub redirects: u64,
}

/// The manifest.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Manifest {
    format: String,
    version: u32,
    /// Version of the program that wrote it.
    pub program: String,
    /// How words were taken from text.
    pub options: CorpusOptions,
    /// Where it came from.
    pub source: Provenance,
    /// Its size.
    pub counts: Counts,
    /// The earliest and the latest date.
    pub dates: Option<(Date, Date)>,
    /// Input that was left out or repaired.
    pub losses: Losses,
    /// Identifies the content: equal for equal corpora.
    pub fingerprint: String,
    /// The files with their checksums.
    pub files: Files,
    checksum: String,
}

impl Manifest {
    /// A manifest without dates, losses and files.
    pub(crate) fn new(options: CorpusOptions, source: Provenance, counts: Counts) -> Manifest {
        Manifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            options,
            source,
            counts,
            dates: None,
            losses: Losses::default(),
            fingerprint: String::new(),
            files: Files::new(),
            checksum: String::new(),
        }
    }

    /// The whole manifest: fingerprint and checksum follow from the files and the rest.
    pub fn with_files(mut self, files: Files) -> Manifest {
        let sums: String = files.iter().map(|(name, info)| format!("{name} {}\n", info.xxh3)).collect();
        self.fingerprint = format!("{:032x}", xxh3_128(sums.as_bytes()));
        self.files = files;
        self.checksum = self.sum();
        self
    }

    fn sum(&self) -> String {
        let bare = Manifest { checksum: String::new(), ..self.clone() };
        format!("{:016x}", xxh3_64(serde_json::to_string(&bare).unwrap_or_default().as_bytes()))
    }

    /// Whether documents have authors.
    pub(super) fn has_authors(&self) -> bool {
        self.version > 2
    }

    /// The bytes of `corpus.json`.
    pub fn to_json(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec_pretty(self).unwrap_or_default();
        json.push(b'\n');
        json
    }

    /// The names of the files of the corpus in `dir`, whatever the version of its layout; `None` if it is no corpus.
    pub(crate) fn file_names(dir: &Path) -> Option<Vec<String>> {
        let json: serde_json::Value = serde_json::from_slice(&fs::read(dir.join(NAME)).ok()?).ok()?;
        let files = json["files"].as_object().filter(|_| json["format"] == FORMAT)?;
        Some(files.keys().cloned().chain([NAME.to_owned()]).collect())
    }

    /// Reads and checks the manifest of the corpus in `dir`.
    pub fn read(dir: &Path) -> Result<Manifest> {
        let damaged = |what: String| Error::Damaged { path: dir.to_owned(), what };
        let foreign = |what: String| Error::Foreign { path: dir.to_owned(), what };
        let path = dir.join(NAME);
        if !dir.try_exists().map_err(Error::io("open", dir))? {
            let missing = io::Error::new(io::ErrorKind::NotFound, "no such corpus; import the documents first");
            return Err(Error::io("open", dir)(missing));
        }
        if !path.is_file() {
            return Err(foreign(format!("not a corpus: it has no {NAME}; import the documents first")));
        }
        let bytes = fs::read(&path).map_err(Error::io("read", &path))?;
        let json: serde_json::Value = serde_json::from_slice(&bytes)
            .map_err(|e| damaged(format!("{NAME} is damaged ({e}); import the corpus again")))?;
        if json["format"] != FORMAT {
            return Err(foreign(format!("{NAME} does not describe a corpus of hyperdoc2vec")));
        }
        match json["version"].as_u64() {
            Some(version) if (u64::from(OLDEST)..=u64::from(VERSION)).contains(&version) => {}
            Some(version) => {
                let newer = if version > u64::from(VERSION) { "use a newer program or " } else { "" };
                return Err(foreign(format!(
                    "written in layout {version} by program {}, but this program ({}) reads layouts {OLDEST} to {VERSION}; \
                     {newer}import the corpus again",
                    json["program"].as_str().unwrap_or("?"),
                    env!("CARGO_PKG_VERSION")
                )));
            }
            None => return Err(damaged(format!("{NAME} names no version of its layout"))),
        }
        let manifest: Manifest = serde_json::from_value(json)
            .map_err(|e| damaged(format!("{NAME} is damaged ({e}); import the corpus again")))?;
        if manifest.checksum != manifest.sum() {
            return Err(damaged(format!("{NAME} was altered since it was written; import the corpus again")));
        }
        Ok(manifest)
    }
}
