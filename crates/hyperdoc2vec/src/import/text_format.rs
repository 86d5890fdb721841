//! Texts that are read to be embedded, not to become a corpus.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use super::build::refuse_bad;
use super::parsed::not_utf8;
use super::read::{read_lines, read_pages};
use super::{ImportOptions, Parsed, Watch, jsonl, lines, source};
use crate::document::{Document, Losses};
use crate::error::Result;
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
        let mut losses = Losses::default();
        let work = |mut parsed: Parsed| (work(std::mem::take(&mut parsed.batch.documents)), parsed);
        let sink = |(result, parsed): (Result<R>, Parsed)| {
            refuse_bad(parsed.batch.first_bad.as_ref(), options)?;
            losses.merge(parsed.batch.losses);
            sink(result?)
        };
        in_pool(options.threads, || match self {
            TextFormat::Jsonl => read_lines(inputs, options, |batch| work(jsonl::parse(&batch)), sink, watch),
            TextFormat::Lines => read_lines(inputs, options, |batch| work(lines::texts(&batch)), sink, watch),
            TextFormat::Files => {
                let each = (0..inputs.len()).map(|number| number..number + 1).collect();
                read_pages(inputs.len(), each, |files| work(text_files(&inputs[files])), sink, watch)
            }
        })?;
        Ok(losses)
    }
}

/// Files, each a text.
fn text_files(paths: &[PathBuf]) -> Parsed {
    let mut parsed = Parsed::default();
    for path in paths {
        let place = path.display().to_string();
        let mut bytes = Vec::new();
        let read = source::open(path, Arc::default()).map_err(|error| error.to_string());
        let read = read.and_then(|mut file| file.read_to_end(&mut bytes).map_err(|error| error.to_string()));
        let text =
            read.and_then(|_| String::from_utf8(bytes).map_err(|error| not_utf8(error.utf8_error(), "of the file")));
        match text {
            Ok(text) => {
                let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
                parsed.batch.documents.push(Document { id: place.clone(), text, origin: place, ..Document::default() });
            }
            Err(what) => parsed.bad(place, what),
        }
    }
    parsed
}
