//! Helpers of several fuzz targets: bytes as a batch, checks that hold for every document, containers that were altered.

use std::fs;
use std::path::{Path, PathBuf};

use hyperdoc2vec::internals::import::library::Library;
use hyperdoc2vec::internals::import::source::LineBatch;
use hyperdoc2vec::internals::import::{Pages, Parsed, jsonl};
use hyperdoc2vec::{Document, Format, ImportOptions};
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

/// The bytes as one batch of lines.
pub fn batch(bytes: &[u8]) -> LineBatch {
    LineBatch::new("fuzz", bytes)
}

/// Checks a document as every importer promises it.
pub fn check(document: &Document) {
    let Document { id, text, links, .. } = document;
    assert!(!id.is_empty() && id.trim() == id, "id {id:?}");
    let mut before = 0;
    for link in links {
        assert!(before <= link.at && link.anchor <= link.at, "order of {links:?}");
        assert!(text.is_char_boundary(link.at) && text.is_char_boundary(link.anchor), "{link:?} in {text:?}");
        assert!(!link.targets.is_empty() && link.targets.iter().all(|id| !id.is_empty()), "{link:?}");
        before = link.at;
    }
}

/// The document without the place where it was read.
pub fn placeless(document: &Document) -> Document {
    Document { origin: String::new(), ..document.clone() }
}

/// Checks all that an importer read: sound documents, and the same ones when written as jsonl and read again.
pub fn check_all(parsed: &Parsed) {
    parsed.batch.documents.iter().for_each(check);
    let again = jsonl::parse(&batch(&jsonl::to_jsonl(&parsed.batch.documents, &parsed.batch.aliases)));
    assert_eq!(again.batch.first_bad, None);
    assert_eq!(again.batch.aliases, parsed.batch.aliases);
    assert_eq!(again.batch.documents.len(), parsed.batch.documents.len());
    for (again, document) in again.batch.documents.iter().zip(&parsed.batch.documents) {
        assert_eq!((&again.id, &again.language), (&document.id, &document.language));
        // A link right after `\[` gets a space before it, and some anchors are given up: see `markup::render`.
        assert_eq!(again.text.replace(' ', ""), document.text.replace(' ', ""));
        let targets = again.links.iter().map(|link| &link.targets);
        assert!(targets.eq(document.links.iter().map(|link| &link.targets)), "{document:?}");
    }
}

/// A directory with one page under test and others that link to it or that it may link to.
pub struct Folder {
    dir: TempDir,
    page: PathBuf,
}

impl Folder {
    /// A directory of these files; `page` is the name of the one under test.
    pub fn new(page: &str, others: &[(&str, &str)]) -> Folder {
        let dir = tempfile::tempdir().expect("a directory");
        let page = dir.path().join(page);
        fs::create_dir_all(page.parent().expect("a folder")).expect("a folder");
        fs::write(&page, "").expect("written");
        for (name, text) in others {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("written");
        }
        Folder { dir, page }
    }

    /// Writes the page under test.
    pub fn write(&self, bytes: &[u8]) {
        fs::write(&self.page, bytes).expect("written");
    }

    /// The directory to import.
    pub fn roots(&self) -> [PathBuf; 1] {
        [self.dir.path().to_owned()]
    }
}

/// A researcher's library: a bibliography, and a text that its works may name.
pub struct Books {
    folder: Folder,
    input: PathBuf,
}

impl Books {
    /// A folder in which `page` is the file under test, and `input` is what is imported.
    pub fn new(page: &str, input: &str) -> Books {
        let text = "The tides of the sea\nAnn Doe\nAbstract\nWater rises as was shown before [1] and by others [2].\n\
            References\n[1] R. Roe. On fords and on their keepers. Waters, 1999.\n[2] W. Weir. Weirs of the north. 2001.\n";
        let bib = "@book{a, title={The tides of the sea}, author={Doe, Ann}, file={a.txt}}\n\
            @book{b, title={On fords and on their keepers}, author={Roe, Rita}, year=1999}\n";
        let mut others = vec![("a.txt", text), ("refs.bib", bib)];
        others.retain(|(name, _)| *name != page);
        let folder = Folder::new(page, &others);
        let input = folder.roots()[0].join(input);
        Books { folder, input }
    }

    /// Puts one more file beside the file under test.
    pub fn place(&self, name: &str, bytes: &[u8]) {
        fs::write(self.folder.roots()[0].join(name), bytes).expect("writable");
    }

    /// Imports the library with these bytes as the file under test: refused with an error, or sound documents.
    pub fn check(&self, bytes: &[u8]) {
        self.folder.write(bytes);
        let inputs = [self.input.clone()];
        if let Ok(library) = Library::open(Format::Library, &inputs, &ImportOptions::default(), &mut |_| Ok(())) {
            check_all(&library.parse(0..library.len()));
        }
    }
}

/// Where, and what stands there now; odd places are in the header.
pub type Change = (u32, u8);

/// The bytes of a container: a model, a checkpoint, or a file beside a model.
pub struct Sealed {
    bytes: Vec<u8>,
    /// Where its arrays begin.
    start: usize,
}

impl Sealed {
    /// Reads a container that is whole.
    pub fn read(path: &Path) -> Sealed {
        let bytes = fs::read(path).expect("readable");
        let start = 8 + u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
        Sealed { bytes, start }
    }

    /// The bytes with up to eight changes, and with checksums that fit them.
    pub fn altered(&self, changes: &[Change]) -> Vec<u8> {
        let (mut bytes, start) = (self.bytes.clone(), self.start);
        for &(at, byte) in changes.iter().take(8) {
            // Half of the changes go to the header, which is a small part of the file.
            let length = bytes.len();
            let place = if at % 2 == 0 {
                start + at as usize / 2 % (length - start)
            } else {
                8 + at as usize / 2 % (start - 8)
            };
            bytes[place] = byte;
        }
        seal(&mut bytes, start);
        bytes
    }
}

/// Lets the checksums of the arrays and of the header fit.
fn seal(bytes: &mut [u8], start: usize) {
    // What is no ASCII any more must not move what follows.
    let header: String = bytes[8..start].iter().map(|&byte| if byte.is_ascii() { byte as char } else { '?' }).collect();
    // The description is JSON within JSON: `\"name\":\"0123456789abcdef\"` of the checksums, and `"name":{"dtype":…}`.
    let offsets = |name: &str| -> Option<(usize, usize)> {
        let entry = &header[header.find(&format!("\"{name}\":{{\"dtype\""))?..];
        let list = &entry[entry.find("\"data_offsets\":[")? + 16..];
        let (from, to) = list[..list.find(']')?].split_once(',')?;
        Some((from.parse().ok()?, to.parse().ok()?))
    };
    let Some(sums) = header.find("\\\"checksums\\\":{") else { return };
    let sums_end = sums + header[sums..].find('}').unwrap_or(0);
    let mut at = sums + 16;
    while let Some(quote) = header.get(at..sums_end).and_then(|rest| rest.find("\\\":\\\"")) {
        let name_start = header[..at + quote].rfind('"').map_or(0, |place| place + 1);
        let (name, value) = (&header[name_start..at + quote], at + quote + 5);
        if let Some(data) = offsets(name).and_then(|(from, to)| bytes.get(start + from..start + to)) {
            let sum = format!("{:016x}", xxh3_64(data));
            if let Some(place) = bytes.get_mut(8 + value..8 + value + 16) {
                place.copy_from_slice(sum.as_bytes());
            }
        }
        at = value;
    }
    if let Some((from, _)) = offsets("header_checksum") {
        let sum = xxh3_64(&bytes[..start]).to_le_bytes();
        if let Some(place) = bytes.get_mut(start + from..start + from + 8) {
            place.copy_from_slice(&sum);
        }
    }
}
