//! Writes generated documents as a corpus or as jsonl.

use std::io::Write;
use std::path::Path;

use super::{GenerateParams, Generator, Variant};
use crate::corpus::{Corpus, DocumentBatch, Provenance, prepare};
use crate::error::{Error, Result};
use crate::import::{ImportOptions, Watch, build, read_pages, to_jsonl};
use crate::threads::in_pool;

/// Writes a generated corpus to `destination`.
pub fn generate(
    params: &GenerateParams,
    destination: &Path,
    options: &ImportOptions,
    watch: &mut Watch<'_>,
) -> Result<Corpus> {
    generate_variant(params, &Variant::default(), destination, options, watch)
}

/// Writes a generated corpus in which some documents are changed.
pub fn generate_variant(
    params: &GenerateParams,
    variant: &Variant,
    destination: &Path,
    options: &ImportOptions,
    watch: &mut Watch<'_>,
) -> Result<Corpus> {
    let source = Provenance { format: "generate".to_owned(), inputs: vec![params.flags()] };
    build(destination, source, options, |tokenizer, builder| {
        let work = |batch| prepare(batch, tokenizer);
        let sink = |batch| {
            builder.add(batch)?;
            Ok(builder.counts().documents)
        };
        read_generated(params, variant, work, sink, watch)
    })
}

/// Writes a generated corpus as jsonl.
pub fn generate_jsonl(
    params: &GenerateParams,
    out: &mut (dyn Write + Send),
    options: &ImportOptions,
    watch: &mut Watch<'_>,
) -> Result<u64> {
    let mut documents = 0;
    let work = |batch: DocumentBatch| (to_jsonl(&batch.documents, &batch.aliases), batch.documents.len() as u64);
    let sink = |(lines, count): (Vec<u8>, u64)| {
        out.write_all(&lines).map_err(Error::io("write", Path::new("the output")))?;
        documents += count;
        Ok(documents)
    };
    in_pool(options.threads, || read_generated(params, &Variant::default(), work, sink, watch))?;
    Ok(documents)
}

fn read_generated<R: Send>(
    params: &GenerateParams,
    variant: &Variant,
    work: impl Fn(DocumentBatch) -> R + Sync,
    sink: impl FnMut(R) -> Result<u64> + Send,
    watch: &mut Watch<'_>,
) -> Result<()> {
    let generator = Generator::new(params)?;
    let batch =
        |range| DocumentBatch { documents: generator.documents_with(range, variant), ..DocumentBatch::default() };
    read_pages(params.docs, generator.batches(), |range| work(batch(range)), sink, watch)
}
