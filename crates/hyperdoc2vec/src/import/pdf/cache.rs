//! Extracted texts, kept in a directory by the checksum of the file and the way it was read, so that nothing is extracted
//! twice. A file begins with a line that has the checksum of the rest: one that was cut or altered is made anew. Without a
//! directory, nothing is kept longer than the import.

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::{Extracted, LARGEST};
use crate::error::{Error, Result};
use crate::import::source;

/// The version of what the built-in reader makes: texts of another are extracted again.
const VERSION: u32 = 3;
/// A kept file begins with this and a checksum.
const HEAD: &str = "hd2v text, xxh3 ";

pub(crate) struct TextCache {
    directory: PathBuf,
    /// Removed with the cache.
    _passing: Option<TempDir>,
}

impl TextCache {
    pub(super) fn open(directory: Option<&Path>) -> Result<TextCache> {
        match directory {
            Some(directory) => {
                std::fs::create_dir_all(directory).map_err(Error::io("create", directory))?;
                Ok(TextCache { directory: directory.to_owned(), _passing: None })
            }
            None => {
                let passing = TempDir::new().map_err(Error::io("create", Path::new("a directory for texts")))?;
                Ok(TextCache { directory: passing.path().to_owned(), _passing: Some(passing) })
            }
        }
    }

    /// The text kept for these bytes, or a new one, which is kept. Failures are not.
    pub(super) fn get_or(
        &self,
        bytes: &[u8],
        way: &str,
        extract: impl FnOnce() -> std::result::Result<Extracted, String>,
    ) -> std::result::Result<Extracted, String> {
        let sum = xxh3_128(bytes);
        let way: String = way.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let path = |ending: &str| self.directory.join(format!("{sum:032x}.{way}-{VERSION}.{ending}"));
        for (ending, of) in [("txt", Extracted::Text as fn(String) -> Extracted), ("tei.xml", Extracted::Tei)] {
            if let Some(text) = kept(&path(ending)) {
                return Ok(of(text));
            }
        }
        let extracted = extract()?;
        let (ending, text) = match &extracted {
            Extracted::Text(text) => ("txt", text),
            Extracted::Tei(tei) => ("tei.xml", tei),
        };
        // A text that cannot be kept is extracted again next time.
        let kept = tempfile::NamedTempFile::new_in(&self.directory).and_then(|mut file| {
            file.write_all(format!("{HEAD}{:016x}\n{text}", xxh3_64(text.as_bytes())).as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(path(ending)).map_err(|error| error.error)
        });
        drop(kept);
        Ok(extracted)
    }
}

/// The text of a kept file, if it is whole.
fn kept(path: &Path) -> Option<String> {
    path.symlink_metadata().ok().filter(|file| file.is_file())?;
    let mut text = String::from_utf8(source::read_file(path, LARGEST).ok().flatten()?).ok()?;
    let end = text.find('\n')?;
    let sum = u64::from_str_radix(text[..end].strip_prefix(HEAD)?, 16).ok()?;
    text.drain(..=end);
    (xxh3_64(text.as_bytes()) == sum).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_extracted_twice() {
        let dir = tempfile::tempdir().expect("a directory");
        let texts = dir.path().join("texts");
        let text = |words: &str| Ok(Extracted::Text(words.to_owned()));
        for _ in 0..2 {
            let cache = TextCache::open(Some(&texts)).expect("a cache");
            let mut calls = 0;
            let mut get = |bytes: &[u8], way: &str| {
                let found = cache.get_or(bytes, way, || {
                    calls += 1;
                    text(way)
                });
                (found, calls)
            };
            let (first, made) = get(b"a", "x");
            assert_eq!(get(b"a", "x"), (first, made), "kept");
        }
        let cache = TextCache::open(Some(&texts)).expect("a cache");
        assert_eq!(cache.get_or(b"a", "x", || Err("not asked".to_owned())), text("x"));
        assert_eq!(cache.get_or(b"a", "y", || Err("asked".to_owned())), Err("asked".to_owned()));
        assert_eq!(cache.get_or(b"b", "x", || text("other")), text("other"));
    }

    #[test]
    fn a_kept_text_that_was_altered_or_cut_is_made_anew() {
        let dir = tempfile::tempdir().expect("a directory");
        let cache = TextCache::open(Some(dir.path())).expect("a cache");
        let get = |words: &str| cache.get_or(b"a", "x", || Ok(Extracted::Text(words.to_owned())));
        assert_eq!(get("true words"), Ok(Extracted::Text("true words".to_owned())));
        let file = dir.path().read_dir().expect("a folder").next().expect("a file").expect("a file").path();
        let whole = std::fs::read(&file).expect("kept");
        for broken in [&b"forged words"[..], &[], &whole[..whole.len() - 1], &[&whole[..], b"!"].concat()] {
            std::fs::write(&file, broken).expect("written");
            assert_eq!(get("new words"), Ok(Extracted::Text("new words".to_owned())), "{broken:?}");
        }
        std::fs::write(&file, &whole).expect("written");
        assert_eq!(get("new words"), Ok(Extracted::Text("true words".to_owned())));
    }
}
