//! The input of an import, files or documents in memory, parsed batch by batch.

use std::path::PathBuf;

use super::progress::notify;
use super::{Format, ImportOptions, Parsed, Progress, Unit, Watch, pipeline};
use crate::document::{Document, Link};
use crate::error::Result;
use crate::storage::part::FramePlace;

/// Where documents come from.
pub(super) enum Input<'a> {
    Files(Format, Vec<PathBuf>),
    Documents(Box<dyn Iterator<Item = Document> + Send + 'a>),
}

/// Documents in memory that are worked on together.
const DOCUMENTS_A_BATCH: usize = 256;

impl Input<'_> {
    /// The name of the format.
    pub(super) fn format(&self) -> &'static str {
        match self {
            Input::Files(format, _) => format.name(),
            Input::Documents(_) => "documents",
        }
    }

    /// The names of the files.
    pub(super) fn names(&self) -> Vec<String> {
        let name = |path: &PathBuf| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        match self {
            Input::Files(_, paths) => paths.iter().map(name).collect(),
            Input::Documents(_) => vec!["memory".to_owned()],
        }
    }

    /// Parses the input batch by batch; `work` runs in parallel, `sink` in order and returns the number of documents so far.
    /// Returns a checksum of what the input is, as far as that is known.
    pub(super) fn read<R: Send>(
        self,
        options: &ImportOptions,
        work: impl Fn(Parsed) -> R + Sync,
        mut sink: impl FnMut(R) -> Result<u64> + Send,
        watch: &mut Watch<'_>,
    ) -> Result<u64> {
        let mut documents = match self {
            Input::Files(format, paths) => return format.read(&paths, options, work, sink, watch),
            Input::Documents(documents) => documents,
        };
        let mut number = 0;
        // Nobody knows how many there are, so shards take batches in turns.
        let is_mine = |batch: u32| options.shard.is_none_or(|shard| batch % shard.of() == shard.number() - 1);
        let mut batch = 0;
        let mut next_batch = || {
            let place = FramePlace { input: 1, piece: batch };
            let mut parsed = Parsed { place, ..Parsed::default() };
            batch += 1;
            for mut document in documents.by_ref().take(DOCUMENTS_A_BATCH) {
                number += 1;
                if document.origin.is_empty() {
                    document.origin = format!("document {number}");
                }
                let id = &document.id;
                match (id.trim(), wrong_link(&document)) {
                    ("", _) => parsed.bad(document.origin, "the id is empty".to_owned()),
                    (trimmed, _) if trimmed != id => {
                        let what = format!("the id {id:?} begins or ends with white space");
                        parsed.bad(document.origin, what);
                    }
                    (_, Some(link)) => {
                        let what = format!(
                            "the link to {} does not fit the text: its places must be at characters of the text, its \
                             anchor must not stand behind it, and links must stand in the order of the text",
                            link.targets.join(", ")
                        );
                        parsed.bad(document.origin, what);
                    }
                    _ => parsed.batch.documents.push(document),
                }
            }
            Some(parsed).filter(|parsed| !parsed.batch.documents.is_empty() || parsed.batch.first_bad.is_some())
        };
        let next = || Ok(std::iter::from_fn(&mut next_batch).find(|parsed| is_mine(parsed.place.piece)));
        pipeline::run(
            next,
            |_| 0,
            work,
            |done| {
                let documents = sink(done)?;
                notify(watch, Progress { read: documents, total: None, unit: Unit::Pages, documents })
            },
        )?;
        Ok(0)
    }
}

/// The first link of a document whose places are none of its text, or that stands before the one before it.
fn wrong_link(document: &Document) -> Option<&Link> {
    let mut end = 0;
    document.links.iter().find(|link| {
        let last = std::mem::replace(&mut end, link.at);
        let fits = |at: usize| document.text.is_char_boundary(at);
        !(last <= link.anchor && link.anchor <= link.at && fits(link.anchor) && fits(link.at))
    })
}
