//! Writes generated documents as a corpus or as jsonl.

use std::io::Write;
use std::path::Path;

use super::{GenerateParams, Generator, Variant};
use crate::corpus::{Corpus, Provenance, prepare};
use crate::error::{Error, Result};
use crate::import::{ImportOptions, Parsed, Watch, build, jsonl, read_pages};
use crate::threads::in_pool;

/// Writes a generated corpus to `destination`.
pub fn generate(
    params: &GenerateParams,
    destination: &Path,
    options: &ImportOptions,
    watch: Watch<'_>,
) -> Result<Corpus> {
    generate_variant(params, &Variant::default(), destination, options, watch)
}

/// The same with a change to some documents.
pub fn generate_variant(
    params: &GenerateParams,
    variant: &Variant,
    destination: &Path,
    options: &ImportOptions,
    watch: Watch<'_>,
) -> Result<Corpus> {
    let source = Provenance { format: "generate".to_owned(), inputs: vec![params.flags()] };
    build(destination, source, options, |tokenizer, builder| {
        let work = |parsed: Parsed| prepare(parsed.into_batch(), tokenizer);
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
    watch: Watch<'_>,
) -> Result<u64> {
    let mut documents = 0;
    let work = |parsed: Parsed| (jsonl::write(&parsed), parsed.documents.len() as u64);
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
    work: impl Fn(Parsed) -> R + Sync,
    sink: impl FnMut(R) -> Result<u64> + Send,
    watch: Watch<'_>,
) -> Result<()> {
    let generator = Generator::new(params)?;
    let documents = |batch| Parsed { documents: generator.documents_with(batch, variant), ..Parsed::default() };
    read_pages(params.docs, generator.batches(), |batch| work(documents(batch)), sink, watch)
}
