//! Builds a corpus directory in one pass over the documents.
//!
//! [`prepare`](crate::corpus::prepare()) does what can be done for a batch of documents alone. [`Builder::add`] takes the
//! batches in the order of the input and gives global numbers. When all are in, [`Builder::finish`] orders the
//! vocabulary, renumbers the words, resolves the links and renames the directory into place. Memory grows with
//! vocabulary, documents and names, never with text or links.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tempfile::TempDir;

use crate::corpus::links::{Names, NumberFile, WaitingLinks};
use crate::corpus::manifest::{self, CorpusOptions, Counts, Manifest, Provenance};
use crate::corpus::prepare::{Prepared, PreparedDocument};
use crate::corpus::{Corpus, NO_LANGUAGE, TextPlace};
use crate::document::Date;
use crate::document::losses::{Loss, Losses, Tally};
use crate::error::{Error, Result};
use crate::id::{DocId, OptionalNumber};
use crate::storage::array::{ArrayWriter, Files, StringsWriter, write_array, write_index, write_strings};
use crate::storage::atomic::{self, OutputLock};
use crate::storage::strings::Interner;

/// A link with no word of the vocabulary this near on either side has no context.
const CONTEXT_REACH: usize = 50;

/// A corpus being built, in a directory beside its destination.
pub(crate) struct Builder {
    destination: PathBuf,
    force: bool,
    options: CorpusOptions,
    source: Provenance,
    dir: TempDir,
    /// Held as long as the directory is being written.
    _locks: (File, OutputLock),
    tokens: ArrayWriter,
    text: ArrayWriter,
    text_blocks: Vec<u64>,
    words: Interner,
    word_counts: Vec<u64>,
    /// Names of documents, targets and redirects; `documents[name]` is the document of that name.
    names: Interner,
    documents: Vec<OptionalNumber>,
    document_names: Vec<u32>,
    document_tokens: Vec<u64>,
    document_text: Vec<TextPlace>,
    dates: Vec<i32>,
    titles: StringsWriter,
    authors: StringsWriter,
    urls: StringsWriter,
    languages: Interner,
    document_language: Vec<u32>,
    labels: Interner,
    document_labels: Vec<u64>,
    document_label: Vec<u32>,
    links: WaitingLinks,
    aliases: Vec<(u32, u32)>,
    /// Redirects that lead to a document.
    redirects: Vec<(u32, u32)>,
    losses: Losses,
    counts: Counts,
}

impl Builder {
    /// Starts a corpus that will stand at `destination`; refuses to replace what is there unless `force`.
    pub(crate) fn new(destination: &Path, options: CorpusOptions, source: Provenance, force: bool) -> Result<Builder> {
        atomic::clear(destination);
        refuse_existing(destination, force)?;
        let parent = atomic::parent(destination);
        if !parent.is_dir() {
            return Err(Error::input(parent.display().to_string(), "no such directory; make it first"));
        }
        let output_lock = OutputLock::take(destination)?;
        let (dir, lock) = atomic::unfinished_directory(destination)?;
        Ok(Builder {
            destination: destination.to_owned(),
            force,
            options,
            source,
            tokens: ArrayWriter::create(dir.path(), "tokens")?,
            text: ArrayWriter::create(dir.path(), "text")?,
            titles: StringsWriter::create(dir.path(), "titles")?,
            authors: StringsWriter::create(dir.path(), "authors")?,
            urls: StringsWriter::create(dir.path(), "urls")?,
            links: WaitingLinks::new(dir.path())?,
            dir,
            _locks: (lock, output_lock),
            text_blocks: Vec::new(),
            words: Interner::default(),
            word_counts: Vec::new(),
            names: Interner::default(),
            documents: Vec::new(),
            document_names: Vec::new(),
            document_tokens: Vec::new(),
            document_text: Vec::new(),
            dates: Vec::new(),
            languages: Interner::default(),
            document_language: Vec::new(),
            labels: Interner::default(),
            document_labels: Vec::new(),
            document_label: Vec::new(),
            aliases: Vec::new(),
            redirects: Vec::new(),
            losses: Losses::default(),
            counts: Counts::default(),
        })
    }

    /// Documents, words and bytes of text added so far.
    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Losses so far.
    pub(crate) fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Adds a batch. The result depends on the order of the batches and of the documents in them, nothing else.
    pub(crate) fn add(&mut self, batch: Prepared) -> Result<()> {
        let global = self.words.intern_all(&batch.words);
        self.word_counts.resize(self.words.len(), 0);
        let first_block = self.text_blocks.len() as u32;
        let packed_before = self.text.bytes();
        self.text.push(&batch.text)?;
        self.text_blocks.extend(batch.text_blocks.iter().map(|&end| packed_before + end as u64));

        let mut tokens = batch.tokens;
        tokens.iter_mut().for_each(|token| *token = global[*token as usize]);
        let mut start = 0;
        for prepared in batch.documents {
            let end = start + prepared.tokens;
            self.add_document(prepared, &tokens[start..end], first_block)?;
            start = end;
        }
        for (from, to) in batch.aliases {
            let pair = (self.name(&from), self.name(&to));
            self.aliases.push(pair);
        }
        self.losses.merge(batch.losses);
        Ok(())
    }

    fn name(&mut self, name: &str) -> u32 {
        let number = self.names.intern(name);
        self.documents.resize(self.names.len(), OptionalNumber::NONE);
        number
    }

    fn add_document(&mut self, prepared: PreparedDocument, tokens: &[u32], first_block: u32) -> Result<()> {
        let PreparedDocument { document, links, text, text_bytes, .. } = prepared;
        let name = self.name(&document.id);
        if self.documents[name as usize].get().is_some() {
            self.losses.add(Loss::DuplicateId, format!("{} ({})", document.id, document.origin));
            return Ok(());
        }
        let doc = self.document_names.len();
        if doc as u64 >= u64::from(u32::MAX) {
            return Err(Error::input(document.origin, "more than 4 billion documents do not fit into a corpus"));
        }
        self.documents[name as usize] = OptionalNumber::some(doc as u32);
        self.document_names.push(name);
        self.tokens.push(tokens)?;
        tokens.iter().for_each(|&token| self.word_counts[token as usize] += 1);
        self.counts.documents += 1;
        self.counts.words += tokens.len() as u64;
        self.counts.text_bytes += text_bytes as u64;
        self.document_tokens.push(self.counts.words);
        self.document_text.push(TextPlace { block: text.block + first_block, ..text });
        self.dates.push(document.date.map_or(0, Date::packed));
        self.titles.push(document.title.as_deref().unwrap_or_default())?;
        let names = document.authors.iter().map(|name| name.replace(['\n', '\r'], " "));
        self.authors.push(&names.collect::<Vec<_>>().join("\n"))?;
        self.urls.push(document.url.as_deref().unwrap_or_default())?;
        let language = document.language.as_deref().filter(|language| !language.is_empty());
        self.document_language.push(language.map_or(NO_LANGUAGE, |language| self.languages.intern(language)));
        let mut seen = HashSet::new();
        for label in &document.labels {
            let label = self.labels.intern(label);
            if seen.insert(label) {
                self.document_label.push(label);
            }
        }
        self.document_labels.push(self.document_label.len() as u64);
        self.links.push(&links, |target| self.names.intern(target))?;
        self.documents.resize(self.names.len(), OptionalNumber::NONE);
        Ok(())
    }

    /// Completes the corpus and puts it at its destination.
    pub(crate) fn finish(mut self) -> Result<Corpus> {
        let mut files = Files::new();
        let dir = self.dir.path().to_owned();
        // No string is looked up any more.
        self.words.forget_index();
        self.names.forget_index();
        let order = self.order_words();
        self.write_words(&dir, &order, &mut files)?;
        self.write_links(&dir, &mut files)?;
        self.write_documents(&dir, &mut files)?;
        write_array(&dir, "text.blocks", &self.text_blocks, &mut files)?;

        let dated = || self.dates.iter().filter_map(|&date| Date::from_packed(date));
        self.counts.dated = dated().count() as u64;
        let dates = dated().min().zip(dated().max());
        self.counts.redirects = self.redirects.len() as u64;
        let mut manifest = Manifest::new(self.options, self.source, self.counts);
        (manifest.dates, manifest.losses) = (dates, self.losses);
        let manifest = manifest.with_files(files);
        let path = dir.join(manifest::NAME);
        let mut file = File::create(&path).map_err(Error::io("create", &path))?;
        file.write_all(&manifest.to_json()).and_then(|()| file.sync_all()).map_err(Error::io("write", &path))?;
        refuse_existing(&self.destination, self.force)?;
        atomic::publish_directory(self.dir, &self.destination)?;
        Corpus::open(&self.destination)
    }

    /// The words by falling count, ties by their bytes.
    fn order_words(&self) -> Vec<u32> {
        let (words, counts) = (&self.words, &self.word_counts);
        // Most words are rare, so the order is decided by the words themselves: their first bytes travel along.
        let first_bytes = |word: u32| {
            let bytes = words.bytes(word);
            let mut first = [0; 8];
            let length = bytes.len().min(8);
            first[..length].copy_from_slice(&bytes[..length]);
            u64::from_be_bytes(first)
        };
        // A word that occurs only in documents left out as duplicates has no count.
        let mut keyed: Vec<(Reverse<u64>, u64, u32)> = (0..words.len() as u32)
            .filter(|&word| counts[word as usize] > 0)
            .map(|word| (Reverse(counts[word as usize]), first_bytes(word), word))
            .collect();
        keyed.par_sort_unstable_by(|a, b| {
            (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| words.bytes(a.2).cmp(words.bytes(b.2)))
        });
        keyed.into_iter().map(|(.., word)| word).collect()
    }

    /// Writes the words in their last order, and their last numbers in place of their first in the text.
    fn write_words(&mut self, dir: &Path, order: &[u32], files: &mut Files) -> Result<()> {
        let words = std::mem::take(&mut self.words);
        let mut renumbered = vec![u32::MAX; words.len()];
        for (new, &old) in order.iter().enumerate() {
            renumbered[old as usize] = new as u32;
        }
        let counts: Vec<u64> = order.iter().map(|&word| self.word_counts[word as usize]).collect();
        self.counts.distinct_words = order.len() as u64;
        self.counts.vocabulary = counts.partition_point(|&count| count >= self.options.min_count) as u64;
        let mut more = Files::new();
        let (tokens, others) = rayon::join(
            || {
                let renumber = |token: &mut u32| *token = renumbered[*token as usize];
                self.tokens.rewrite(|tokens| tokens.iter_mut().for_each(renumber))?;
                self.tokens.finish(files)
            },
            || {
                write_strings(dir, "words", order.iter().map(|&word| words.get(word)), &mut more)?;
                write_index(dir, "words", order.len(), order.iter().map(|&word| words.get(word)), &mut more)?;
                write_array(dir, "words.count", &counts, &mut more)?;
                self.text.finish(&mut more)
            },
        );
        files.append(&mut more);
        tokens.and(others)
    }

    /// Resolves the links and writes the positions that are left with a target.
    fn write_links(&mut self, dir: &Path, files: &mut Files) -> Result<()> {
        let names = Names::new(std::mem::take(&mut self.documents), &self.aliases);
        self.resolve_redirects(&names);
        let array = |name| ArrayWriter::create(dir, name);
        let (mut document_ends, mut source) = (array("document.positions")?, array("position.source")?);
        let (mut ats, mut anchors) = (array("position.at")?, array("position.anchor")?);
        let (mut ends, mut links) = (array("position.links")?, array("links")?);
        let mut waiting = std::mem::replace(&mut self.links, WaitingLinks::new(dir)?).read()?;
        let mut tokens = NumberFile::open(&dir.join("tokens"))?;
        let mut unknown = vec![0u32; names.len()];
        let mut linked = vec![false; self.document_names.len()];
        let (mut seen, mut targets, mut words) = (HashSet::new(), Vec::new(), Vec::new());
        for doc in 0..self.document_names.len() {
            let name = self.names.get(self.document_names[doc]);
            let of_document = Corpus::range(&self.document_tokens, doc);
            words.clear();
            for _ in 0..waiting.next()? {
                let (at, anchor, count) = (waiting.next()?, waiting.next()?, waiting.next()?);
                seen.clear();
                targets.clear();
                for _ in 0..count {
                    let target = waiting.next()?;
                    match names.resolve(target) {
                        None => unknown[target as usize] = unknown[target as usize].saturating_add(1),
                        Some(target) if target as usize == doc => self.losses.add(Loss::SelfLink, name),
                        Some(target) => {
                            if seen.insert(target) {
                                targets.push(DocId(target));
                            }
                        }
                    }
                }
                if targets.is_empty() {
                    continue;
                }
                self.counts.positions += 1;
                self.counts.links += targets.len() as u64;
                targets.iter().for_each(|target| linked[target.index()] = true);
                source.push(&[DocId(doc as u32)])?;
                ats.push(&[at])?;
                anchors.push(&[anchor])?;
                ends.push(&[self.counts.links])?;
                links.push(&targets)?;
                // A link with no word of the vocabulary near it is counted.
                if words.is_empty() && !of_document.is_empty() {
                    tokens.words(of_document.start as u64, of_document.len(), &mut words)?;
                }
                let middle = at as usize;
                let near = middle.saturating_sub(CONTEXT_REACH)..(middle + CONTEXT_REACH).min(words.len());
                if !words[near].iter().any(|word| u64::from(word.0) < self.counts.vocabulary) {
                    targets.iter().for_each(|_| self.losses.add(Loss::LinkWithoutContext, name));
                }
            }
            document_ends.push(&[self.counts.positions])?;
        }
        self.losses.set(Loss::UnknownTarget, most_frequent(&unknown, &self.names));
        self.counts.newcomers = linked.iter().filter(|&&linked| !linked).count() as u64;
        [document_ends, source, ats, anchors, ends, links].iter_mut().try_for_each(|array| array.finish(files))
    }

    /// Finds the redirects that lead to a document.
    fn resolve_redirects(&mut self, names: &Names) {
        let mut seen = HashSet::new();
        for &(from, to) in &self.aliases {
            match names.resolve(from) {
                None => self.losses.add(Loss::BrokenRedirect, self.names.get(from)),
                // A document goes before a redirect of its name, and a redirect before later ones of its name.
                Some(doc) if !names.is_document(from) && seen.insert(from) => self.redirects.push((from, doc)),
                Some(_) => {
                    let (from, to) = (self.names.get(from), self.names.get(to));
                    self.losses.add(Loss::DuplicateRedirect, format!("{from} → {to}"));
                }
            }
        }
    }

    fn write_documents(&mut self, dir: &Path, files: &mut Files) -> Result<()> {
        let names = || self.document_names.iter().map(|&name| self.names.get(name));
        write_strings(dir, "names", names(), files)?;
        write_index(dir, "names", self.document_names.len(), names(), files)?;
        self.titles.finish(files)?;
        self.authors.finish(files)?;
        self.urls.finish(files)?;
        write_strings(dir, "languages", self.languages.iter(), files)?;
        write_strings(dir, "labels", self.labels.iter(), files)?;
        write_strings(dir, "redirects", self.redirects.iter().map(|&(name, _)| self.names.get(name)), files)?;
        let redirect_names = self.redirects.iter().map(|&(name, _)| self.names.get(name));
        write_index(dir, "redirects", self.redirects.len(), redirect_names, files)?;
        let leads_to: Vec<u32> = self.redirects.iter().map(|&(_, doc)| doc).collect();
        write_array(dir, "redirect.document", &leads_to, files)?;
        write_array(dir, "document.tokens", &self.document_tokens, files)?;
        write_array(dir, "document.text", &self.document_text, files)?;
        write_array(dir, "dates", &self.dates, files)?;
        write_array(dir, "document.language", &self.document_language, files)?;
        write_array(dir, "document.labels", &self.document_labels, files)?;
        write_array(dir, "document.label", &self.document_label, files)?;
        self.counts.labels = self.labels.len() as u64;
        let ends = &self.document_labels;
        self.counts.labelled = (0..ends.len()).filter(|&doc| !Corpus::range(ends, doc).is_empty()).count() as u64;
        Ok(())
    }
}

/// The count of all unknown targets, and the ten most frequent by name.
fn most_frequent(unknown: &[u32], names: &Interner) -> Tally {
    let mut by_count: Vec<u32> = (0..unknown.len() as u32).filter(|&name| unknown[name as usize] > 0).collect();
    let count = by_count.iter().map(|&name| u64::from(unknown[name as usize])).sum();
    let order = |&a: &u32, &b: &u32| {
        let count = |name: u32| Reverse(unknown[name as usize]);
        count(a).cmp(&count(b)).then_with(|| names.bytes(a).cmp(names.bytes(b)))
    };
    if by_count.len() > 10 {
        by_count.select_nth_unstable_by(10, order);
        by_count.truncate(10);
    }
    by_count.sort_unstable_by(order);
    let sample = |&name: &u32| format!("{} ({})", names.get(name), unknown[name as usize]);
    Tally { count, samples: by_count.iter().map(sample).collect() }
}

/// An error if `destination` exists and may not be replaced. Only a corpus is ever replaced.
fn refuse_existing(destination: &Path, force: bool) -> Result<()> {
    atomic::refuse_existing(destination, force)?;
    if destination.symlink_metadata().is_err() || holds_only_a_corpus(destination) {
        return Ok(());
    }
    let what = "exists and holds something else than a corpus, so it is never replaced; choose another name";
    Err(Error::input(destination.display().to_string(), what))
}

/// Whether a directory is empty, or has the manifest of a corpus, of any layout, and nothing that this does not name.
fn holds_only_a_corpus(path: &Path) -> bool {
    let Ok(entries) = fs::read_dir(path) else { return false };
    let names: Vec<_> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    if names.is_empty() {
        return true;
    }
    Manifest::file_names(path).is_some_and(|known| names.iter().all(|name| known.contains(name)))
}
