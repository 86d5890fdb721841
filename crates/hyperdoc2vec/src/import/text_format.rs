//! Texts that are read to be embedded, not to become a corpus.

use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::build::refuse_bad;
use super::parsed::not_utf8;
use super::read::{Stream, read_lines, read_stream};
use super::shares::InputDigest;
use super::source::{self, Consumed};
use super::{ImportOptions, Parsed, Watch, jsonl, lines};
use crate::document::{Document, Losses};
use crate::error::Result;
use crate::storage::part::FramePlace;
use crate::threads::in_pool;

/// A format of texts that are used as they are read, not made into a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextFormat {
    /// One JSON object a line; redirects are left out.
    Jsonl,
    /// One text a line, called after its file and line; an empty line is an empty text.
    Lines,
    /// One text a file, called after the file's path.
    Files,
}

impl TextFormat {
    /// Reads texts batch by batch; `work` runs in parallel, `sink` in the order of the input and returns the number
    /// so far.
    pub fn read<R: Send>(
        self,
        inputs: &[PathBuf],
        options: &ImportOptions,
        work: impl Fn(Vec<Document>) -> Result<R> + Sync,
        mut sink: impl FnMut(R) -> Result<u64> + Send,
        watch: &mut Watch<'_>,
    ) -> Result<Losses> {
        self.read_places(inputs, options, work, |_, result| sink(result), watch).map(|(losses, _)| losses)
    }

    /// Reads texts, all or those of a shard; `sink` gets the place of each batch, too. Returns losses and a checksum of
    /// what the input is.
    pub(crate) fn read_places<R: Send>(
        self,
        inputs: &[PathBuf],
        options: &ImportOptions,
        work: impl Fn(Vec<Document>) -> Result<R> + Sync,
        mut sink: impl FnMut(FramePlace, R) -> Result<u64> + Send,
        watch: &mut Watch<'_>,
    ) -> Result<(Losses, u64)> {
        let mut losses = Losses::default();
        let work = |mut parsed: Parsed| (work(std::mem::take(&mut parsed.batch.documents)), parsed);
        let sink = |(result, parsed): (Result<R>, Parsed)| {
            refuse_bad(parsed.batch.first_bad.as_ref(), options)?;
            losses.merge(parsed.batch.losses);
            sink(parsed.place, result?)
        };
        let digest = in_pool(options.threads, || match self {
            TextFormat::Jsonl => {
                read_lines(inputs, options, |batch| work(jsonl::parse(&batch).at(batch.place)), sink, watch)
            }
            TextFormat::Lines => {
                read_lines(inputs, options, |batch| work(lines::texts(&batch).at(batch.place)), sink, watch)
            }
            TextFormat::Files => {
                let consumed = Arc::<Consumed>::default();
                let longest = options.longest_line;
                let share = options.shard.map_or(0..inputs.len() as u64, |shard| shard.range(inputs.len() as u64));
                let places = (0..).map(|piece| FramePlace { input: 1, piece });
                let files = places.zip(inputs.to_vec()).skip(share.start as usize);
                let mut files = files.take((share.end - share.start) as usize).collect::<VecDeque<_>>();
                let counter = Arc::clone(&consumed);
                let next = move || {
                    let next = files.pop_front();
                    Ok(next.map(|(place, path)| (place, TextFile::read(&path, longest, Arc::clone(&counter)))))
                };
                let bytes = |(_, file): &(FramePlace, TextFile)| file.bytes.as_ref().map_or(0, Vec::len);
                let work = |(place, file): (FramePlace, TextFile)| work(file.parse().at(place));
                read_stream(Stream { inputs, consumed, next, bytes }, work, sink, watch)?;
                Ok(options.shard.map_or(0, |_| InputDigest::of(inputs)))
            }
        })?;
        Ok((losses, digest))
    }
}

/// A file that is a text.
struct TextFile {
    /// Its path, for messages, which is also its id.
    place: String,
    /// Its bytes, unpacked, or the reason why there are none.
    bytes: std::result::Result<Vec<u8>, String>,
}

impl TextFile {
    /// Reads no more than `longest` bytes, and one: the file may have no end (`/dev/zero`).
    fn read(path: &Path, longest: usize, consumed: Arc<Consumed>) -> TextFile {
        let mut bytes = Vec::new();
        let read = source::open(path, consumed).map_err(|error| error.to_string());
        let read = read
            .and_then(|file| file.take(longest as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.to_string()));
        let bytes = match read {
            Ok(length) if length > longest => {
                Err(format!("the file has more than {} MiB, the longest text allowed", longest >> 20))
            }
            read => read.map(|_| bytes),
        };
        TextFile { place: path.display().to_string(), bytes }
    }

    fn parse(self) -> Parsed {
        let (mut parsed, place) = (Parsed::default(), self.place);
        let utf8 = |bytes| String::from_utf8(bytes).map_err(|error| not_utf8(error.utf8_error(), "of the file"));
        match self.bytes.and_then(utf8) {
            Ok(text) => {
                let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
                parsed.batch.documents.push(Document { id: place.clone(), text, origin: place, ..Document::default() });
            }
            Err(what) => parsed.bad(place, what),
        }
        parsed
    }
}
