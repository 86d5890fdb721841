//! The documents of the tour: the documentation of the Rust toolchain where it is installed, else a glossary that the
//! program carries.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use hyperdoc2vec::Corpus;
use hyperdoc2vec::import::{Format, Import, ImportOptions};

use crate::GLOSSARY;
use crate::output::{count, status, thousands};
use crate::progress::Reporter;

/// The parts of the Rust documentation that are imported: the books and the standard library.
const PARTS: [&str; 14] = [
    "book",
    "reference",
    "cargo",
    "nomicon",
    "rust-by-example",
    "rustc",
    "rustdoc",
    "edition-guide",
    "style-guide",
    "unstable-book",
    "embedded-book",
    "error_codes",
    "clippy",
    "std",
];

/// Where the pages stand on the web: the page of the demo leads there.
const ADDRESS: &str = "https://doc.rust-lang.org/";

/// Pages of one of these parts in other languages.
const TRANSLATIONS: &str = "rust-by-example/??";

/// Documents to show the program on.
pub struct SampleDocuments {
    /// Where they are.
    folder: PathBuf,
    /// The folder as the tour shows it.
    shown: String,
    format: Format,
    /// Flags of `hd2v import`, as the tour shows them.
    flags: String,
    options: ImportOptions,
    /// Passes over the text and over the links, if not the defaults.
    pub passes: Option<(usize, usize)>,
    /// Texts that should link to something.
    pub questions: [&'static str; 3],
    /// A document to go on from.
    pub document: &'static str,
}

impl SampleDocuments {
    /// The Rust documentation, if it is installed.
    pub fn rust_documentation() -> Option<SampleDocuments> {
        let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
        let sysroot = PathBuf::from(String::from_utf8(sysroot.stdout).ok()?.trim());
        let folder = sysroot.join("share/doc/rust/html");
        folder.join("std").is_dir().then(|| {
            let mut options = ImportOptions::default();
            options.include = PARTS.map(str::to_owned).to_vec();
            // A signature links to the types in it, whatever the text around it says.
            options.code_links = false;
            options.exclude = vec![TRANSLATIONS.to_owned()];
            options.base_url = Some(ADDRESS.to_owned());
            let include: String = PARTS.iter().map(|part| format!(" --include {part}")).collect();
            SampleDocuments {
                folder,
                shown: "$(rustc --print sysroot)/share/doc/rust/html".to_owned(),
                format: Format::Html,
                flags: format!(" --base-url {ADDRESS} --code-links=false{include} --exclude '{TRANSLATIONS}'"),
                options,
                // Fewer than the defaults, to stay within a minute.
                passes: Some((2, 2)),
                questions: [
                    "elements are kept on the heap in a growable array [[?]] that can be pushed to",
                    "several threads own the same value, which is counted atomically [[?]] when it is cloned",
                    "the compiler infers how long a reference is valid by lifetime elision [[?]] in function signatures",
                ],
                document: "std/vec/struct.Vec.html",
            }
        })
    }

    /// The glossary, written to a folder.
    pub fn glossary(folder: PathBuf) -> Result<SampleDocuments> {
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let notes: Vec<(PathBuf, &str)> = GLOSSARY.iter().map(|(name, text)| (folder.join(name), *text)).collect();
        // Somebody may keep notes of their own by such names.
        let other = |(path, text): &&(PathBuf, &str)| {
            path.symlink_metadata().is_ok() && std::fs::read(path).ok().as_deref() != Some(text.as_bytes())
        };
        if let Some((path, _)) = notes.iter().find(other) {
            bail!("{}: already exists with another text; choose another directory with --out", path.display());
        }
        for (path, text) in &notes {
            std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let mut options = ImportOptions::default();
        // So few notes have few words twice.
        options.corpus.min_count = 2;
        Ok(SampleDocuments {
            shown: folder.display().to_string(),
            folder,
            format: Format::Markdown,
            flags: " --min-count 2".to_owned(),
            options,
            passes: None,
            questions: [
                "a desk with microfilm [[?]] was imagined in 1945",
                "two papers that a third one cites together [[?]] are likely to be related",
                "words that occur in similar contexts [[?]] tend to have similar meanings",
            ],
            document: "BM25",
        })
    }

    /// The command that imports it.
    pub fn command(&self, corpus: &Path) -> String {
        format!("hd2v import {} {}{} -o {}", self.format, self.shown, self.flags, corpus.display())
    }

    /// Imports it, and says in one line what came of it.
    pub fn import(&self, corpus: &Path) -> Result<Corpus> {
        let mut options = self.options.clone();
        options.force = true;
        let mut reporter = Reporter::new();
        let import = Import::files(self.format, [&self.folder]).options(options);
        let made = import.watch(|progress| reporter.watch(progress)).build(corpus)?;
        let (counts, seconds) = (&made.manifest().counts, reporter.finish());
        let lost: u64 = made.manifest().losses.iter().map(|(_, tally)| tally.count).sum();
        let doctor = format!("; `hd2v doctor {}` lists {} things left out", corpus.display(), thousands(lost));
        status(format_args!(
            "{}: {}, {}, {}; {seconds:.1} s{}",
            corpus.display(),
            count(counts.documents, "document"),
            count(counts.words, "word"),
            count(counts.links, "link"),
            if lost > 0 { doctor } else { String::new() },
        ));
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_glossary_that_the_program_carries_is_the_one_of_the_samples() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/glossary");
        assert_eq!(std::fs::read_dir(&folder).expect("the samples").count(), GLOSSARY.len());
        for (name, text) in GLOSSARY {
            assert_eq!(std::fs::read_to_string(folder.join(name)).expect("a note"), *text, "{name}");
        }
    }
}
