//! Texts of files and their vectors, all at once or shard by shard.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Inferred, Inferrer};
use crate::document::{Document, Losses};
use crate::error::{Error, Result};
use crate::import::{ImportOptions, Progress, TextFormat, Watch};
use crate::storage::part::{FramePlace, PartHead, PartKind, PartSet, Shard, write_part};

/// Embeds the texts of files.
///
/// ```no_run
/// # use hyperdoc2vec::{Embedding, Inferrer, Model};
/// use hyperdoc2vec::import::TextFormat;
///
/// let model = Model::open("papers.model")?;
/// let inferrer = Inferrer::new(&model)?;
/// let embedding = Embedding::new(&inferrer, TextFormat::Jsonl, ["new.jsonl"]);
/// embedding.each(|id, inferred| Ok(println!("{id} {:?}", inferred.vector)))?;
/// # Ok::<(), hyperdoc2vec::Error>(())
/// ```
pub struct Embedding<'a> {
    inferrer: &'a Inferrer<'a>,
    format: TextFormat,
    inputs: Vec<PathBuf>,
    options: ImportOptions,
    watch: Box<Watch<'a>>,
}

/// Counts of what was embedded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmbeddedCounts {
    /// Texts.
    pub texts: u64,
    /// Those without a word that has a vector.
    pub unknown: u64,
    /// Input that was left out or repaired.
    pub losses: Losses,
}

/// An id and what was inferred from its text.
type NamedVector = (String, Inferred);

impl<'a> Embedding<'a> {
    /// Of the texts that stand in `inputs`.
    pub fn new<P: Into<PathBuf>>(
        inferrer: &'a Inferrer<'a>,
        format: TextFormat,
        inputs: impl IntoIterator<Item = P>,
    ) -> Embedding<'a> {
        let inputs = inputs.into_iter().map(Into::into).collect();
        let watch = Box::new(|_: &Progress| ControlFlow::Continue(()));
        Embedding { inferrer, format, inputs, options: ImportOptions::default(), watch }
    }

    /// How texts are read: threads, bad records, the longest line, whether an output is replaced.
    pub fn options(self, options: ImportOptions) -> Embedding<'a> {
        Embedding { options, ..self }
    }

    /// Takes one of several shards of the input, for [`Embedding::write_part`].
    pub fn shard(mut self, shard: Shard) -> Embedding<'a> {
        self.options.shard = Some(shard);
        self
    }

    /// Passes the progress to `watch`, which may stop the work.
    pub fn watch(self, watch: impl FnMut(&Progress) -> ControlFlow<()> + Send + 'a) -> Embedding<'a> {
        Embedding { watch: Box::new(watch), ..self }
    }

    /// Gives every id, and what was inferred from its text, to `each`, in the order of the input.
    pub fn each(self, mut each: impl FnMut(&str, &Inferred) -> Result<()> + Send) -> Result<EmbeddedCounts> {
        if let Some(shard) = self.options.shard {
            return Err(Error::Usage(format!("shard {shard} of embedded texts is written as a part")));
        }
        let give = |_, texts: &[NamedVector]| texts.iter().try_for_each(|(id, inferred)| each(id, inferred));
        self.read(give).map(|(counts, _)| counts)
    }

    /// Writes the vectors of a shard to `destination`: a part, which [`EmbeddedParts`] reads with those of the others.
    ///
    /// # Errors
    /// [`Error::Usage`] without a shard, [`Error::Exists`] if there is a file that may not be replaced.
    pub fn write_part(self, destination: impl AsRef<Path>) -> Result<EmbeddedCounts> {
        let Some(shard) = self.options.shard else {
            return Err(Error::Usage("a part is one of several shards; say which one".to_owned()));
        };
        let head = PartHead::new(PartKind::Embed, shard, self.settings());
        let (replace, mut counts) = (self.options.force, EmbeddedCounts::default());
        write_part(destination.as_ref(), &head, replace, |part| {
            let (counted, digest) = self.read(|place, texts| part.push(place, &to_bytes(texts)))?;
            counts = counted;
            Ok(digest)
        })?;
        Ok(counts)
    }

    fn settings(&self) -> BTreeMap<String, Value> {
        let names = self.inputs.iter().map(|path| path.file_name().unwrap_or_default().to_string_lossy());
        let all = [
            ("model", json!(self.inferrer.model.digest())),
            ("dim", json!(self.inferrer.model.params().dim)),
            ("steps", json!(self.inferrer.steps)),
            ("format", json!(format!("{:?}", self.format).to_lowercase())),
            ("inputs", json!(names.collect::<Vec<_>>())),
            ("skip_bad", json!(self.options.skip_bad)),
            ("longest_line", json!(self.options.longest_line)),
        ];
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Reads texts and gives their vectors to `give`, batch by batch. Returns a checksum of the input, too.
    fn read(
        mut self,
        mut give: impl FnMut(FramePlace, &[NamedVector]) -> Result<()> + Send,
    ) -> Result<(EmbeddedCounts, u64)> {
        let mut counts = EmbeddedCounts::default();
        let work = |documents: Vec<Document>| {
            let vectors = self.inferrer.documents(&documents)?;
            Ok(documents.into_iter().map(|document| document.id).zip(vectors).collect::<Vec<NamedVector>>())
        };
        let sink = |place, texts: Vec<NamedVector>| {
            give(place, &texts)?;
            counts.texts += texts.len() as u64;
            counts.unknown += texts.iter().filter(|(_, inferred)| inferred.known == 0).count() as u64;
            Ok(counts.texts)
        };
        let (losses, digest) = self.format.read_places(&self.inputs, &self.options, work, sink, &mut *self.watch)?;
        counts.losses = losses;
        Ok((counts, digest))
    }
}

/// The parts of texts that several shards embedded, in the order of the input.
pub struct EmbeddedParts {
    parts: PartSet,
    dim: usize,
}

impl EmbeddedParts {
    /// Opens the parts, one of each shard, in any order.
    ///
    /// # Errors
    /// [`Error::Input`] if they are not all shards of one input, each once, embedded by one model;
    /// [`Error::Damaged`] if one was cut short or altered.
    pub fn open<P: Into<PathBuf>>(parts: impl IntoIterator<Item = P>) -> Result<EmbeddedParts> {
        let paths: Vec<PathBuf> = parts.into_iter().map(Into::into).collect();
        let parts = PartSet::open(&paths, PartKind::Embed)?;
        let dim = parts.head().setting("dim").as_u64().and_then(|dim| usize::try_from(dim).ok()).unwrap_or(0);
        Ok(EmbeddedParts { parts, dim })
    }

    /// Numbers of a vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Gives every id and what was inferred from its text to `each`, in the order of the input.
    pub fn each(mut self, mut each: impl FnMut(&str, &Inferred) -> Result<()>) -> Result<EmbeddedCounts> {
        let mut counts = EmbeddedCounts::default();
        while let Some(frame) = self.parts.next_frame()? {
            for (id, inferred) in frame.read(|bytes| from_bytes(bytes, self.dim))? {
                each(&id, &inferred)?;
                counts.texts += 1;
                counts.unknown += u64::from(inferred.known == 0);
            }
        }
        Ok(counts)
    }
}

/// For each text the length of its id, the id, its words, those with vectors, and the vector.
fn to_bytes(texts: &[NamedVector]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (id, inferred) in texts {
        for number in [id.len(), inferred.words, inferred.known] {
            bytes.extend_from_slice(&(number as u64).to_le_bytes());
        }
        bytes.extend_from_slice(id.as_bytes());
        inferred.vector.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
    }
    bytes
}

fn from_bytes(mut bytes: &[u8], dim: usize) -> Option<Vec<NamedVector>> {
    let mut texts = Vec::new();
    while !bytes.is_empty() {
        let mut number = || {
            let (number, rest) = bytes.split_first_chunk()?;
            bytes = rest;
            usize::try_from(u64::from_le_bytes(*number)).ok()
        };
        let (length, words, known) = (number()?, number()?, number()?);
        let (id, rest) = bytes.split_at_checked(length)?;
        let (vector, rest) = rest.split_at_checked(dim.checked_mul(4)?)?;
        bytes = rest;
        let vector = vector.chunks_exact(4).map(|x| f32::from_le_bytes([x[0], x[1], x[2], x[3]])).collect();
        texts.push((str::from_utf8(id).ok()?.to_owned(), Inferred { vector, words, known }));
    }
    Some(texts)
}
