//! Builds a corpus directory in one pass over the documents.
//!
//! [`prepare`](super::prepare()) does what can be done for a batch of documents alone. [`Builder::add`] takes the
//! batches in the order of the input and gives global numbers. When all are in, [`Builder::finish`] orders the
//! vocabulary, renumbers the words, resolves the links and renames the directory into place. Memory grows with
//! vocabulary, documents and links, never with text.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tempfile::TempDir;

use super::manifest::{self, CorpusOptions, Counts, Manifest, Source};
use super::prepare::{Prepared, PreparedDocument};
use super::store::{Array, ArrayWriter, Files, write_array, write_index, write_strings};
use super::{Corpus, NO_LANGUAGE, TextPlace};
use crate::aside;
use crate::document::Date;
use crate::error::{Error, Result};
use crate::id::{DocId, WordId};
use crate::losses::{Loss, Losses, Tally};
use crate::strings::Interner;

/// A link with no word of the vocabulary this near on either side has no context.
const CONTEXT_REACH: usize = 50;
/// Longer chains of redirects are taken for circles.
const LONGEST_REDIRECT: usize = 32;

const NONE: u32 = u32::MAX;

/// A corpus being built, in a directory beside its destination.
pub struct Builder {
    destination: PathBuf,
    force: bool,
    options: CorpusOptions,
    source: Source,
    dir: TempDir,
    /// Held as long as the directory is being written.
    _lock: File,
    tokens: ArrayWriter,
    text: ArrayWriter,
    text_blocks: Vec<u64>,
    words: Interner,
    word_counts: Vec<u64>,
    /// Names of documents, targets and redirects; `documents[name]` is the document of that name.
    names: Interner,
    documents: Vec<u32>,
    document_names: Vec<u32>,
    document_tokens: Vec<u64>,
    document_positions: Vec<u64>,
    document_text: Vec<TextPlace>,
    dates: Vec<i32>,
    titles: Interner,
    document_title: Vec<u32>,
    urls: Interner,
    document_url: Vec<u32>,
    languages: Interner,
    document_language: Vec<u32>,
    labels: Interner,
    document_labels: Vec<u64>,
    document_label: Vec<u32>,
    position_source: Vec<DocId>,
    position_at: Vec<u32>,
    position_anchor: Vec<u32>,
    position_links: Vec<u64>,
    link_names: Vec<u32>,
    aliases: Vec<(u32, u32)>,
    /// Redirects that lead to a document.
    redirects: Vec<(u32, u32)>,
    losses: Losses,
    counts: Counts,
}

impl Builder {
    /// Starts a corpus that will stand at `destination`; refuses to replace what is there unless `force`.
    pub fn new(destination: &Path, options: CorpusOptions, source: Source, force: bool) -> Result<Builder> {
        aside::clear(destination);
        refuse_existing(destination, force)?;
        let parent = aside::parent(destination);
        if !parent.is_dir() {
            return Err(Error::input(parent.display().to_string(), "no such directory; make it first"));
        }
        let (dir, lock) = unfinished(destination)?;
        Ok(Builder {
            destination: destination.to_owned(),
            force,
            options,
            source,
            tokens: ArrayWriter::create(dir.path(), "tokens")?,
            text: ArrayWriter::create(dir.path(), "text")?,
            dir,
            _lock: lock,
            text_blocks: Vec::new(),
            words: Interner::default(),
            word_counts: Vec::new(),
            names: Interner::default(),
            documents: Vec::new(),
            document_names: Vec::new(),
            document_tokens: Vec::new(),
            document_positions: Vec::new(),
            document_text: Vec::new(),
            dates: Vec::new(),
            titles: Interner::default(),
            document_title: Vec::new(),
            urls: Interner::default(),
            document_url: Vec::new(),
            languages: Interner::default(),
            document_language: Vec::new(),
            labels: Interner::default(),
            document_labels: Vec::new(),
            document_label: Vec::new(),
            position_source: Vec::new(),
            position_at: Vec::new(),
            position_anchor: Vec::new(),
            position_links: Vec::new(),
            link_names: Vec::new(),
            aliases: Vec::new(),
            redirects: Vec::new(),
            losses: Losses::default(),
            counts: Counts::default(),
        })
    }

    /// What has come in so far: documents, words and bytes of text.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What was lost so far.
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Adds a batch. The result depends on the order of the batches and of the documents in them, nothing else.
    pub fn add(&mut self, batch: Prepared) -> Result<()> {
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
        self.documents.resize(self.names.len(), NONE);
        number
    }

    fn add_document(&mut self, prepared: PreparedDocument, tokens: &[u32], first_block: u32) -> Result<()> {
        let PreparedDocument { document, links, text, text_bytes, .. } = prepared;
        let name = self.name(&document.id);
        if self.documents[name as usize] != NONE {
            self.losses.add(Loss::DuplicateId, format!("{} ({})", document.id, document.origin));
            return Ok(());
        }
        let doc = self.document_names.len();
        if doc as u64 >= u64::from(NONE) {
            return Err(Error::input(document.origin, "more than 4 billion documents do not fit into a corpus"));
        }
        self.documents[name as usize] = doc as u32;
        self.document_names.push(name);
        self.tokens.push(tokens)?;
        tokens.iter().for_each(|&token| self.word_counts[token as usize] += 1);
        self.counts.documents += 1;
        self.counts.words += tokens.len() as u64;
        self.counts.text_bytes += text_bytes as u64;
        self.document_tokens.push(self.counts.words);
        self.document_text.push(TextPlace { block: text.block + first_block, ..text });
        self.dates.push(document.date.map_or(0, Date::packed));
        self.document_title.push(self.titles.intern(document.title.as_deref().unwrap_or_default()));
        self.document_url.push(self.urls.intern(document.url.as_deref().unwrap_or_default()));
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
        for link in links {
            self.position_source.push(DocId(doc as u32));
            self.position_at.push(link.at);
            self.position_anchor.push(link.anchor);
            for target in &link.targets {
                let target = self.name(target);
                self.link_names.push(target);
            }
            self.position_links.push(self.link_names.len() as u64);
        }
        self.document_positions.push(self.position_at.len() as u64);
        Ok(())
    }

    /// Completes the corpus and puts it at its destination.
    pub fn finish(mut self) -> Result<Corpus> {
        let mut files = Files::new();
        let dir = self.dir.path().to_owned();
        let order = self.order_words();
        self.write_words(&dir, &order, &mut files)?;
        self.write_links(&dir, &mut files)?;
        self.write_documents(&dir, &mut files)?;
        write_array(&dir, "text.blocks", &self.text_blocks, &mut files)?;

        let dated = || self.dates.iter().filter_map(|&date| Date::from_packed(date));
        self.counts.dated = dated().count() as u64;
        let dates = dated().min().zip(dated().max());
        self.counts.redirects = self.redirects.len() as u64;
        let manifest = Manifest::new(self.options, self.source, self.counts, dates, self.losses, files);
        let path = dir.join(manifest::NAME);
        let mut file = File::create(&path).map_err(Error::io("create", &path))?;
        file.write_all(&manifest.to_json()).and_then(|()| file.sync_all()).map_err(Error::io("write", &path))?;
        publish(self.dir, &self.destination, self.force)?;
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
        let mut renumbered = vec![NONE; words.len()];
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

    /// The document a name stands for, through redirects.
    fn resolve(&self, name: u32, aliases: &HashMap<u32, u32>) -> Option<u32> {
        let mut name = name;
        for _ in 0..LONGEST_REDIRECT {
            match self.documents[name as usize] {
                NONE => name = *aliases.get(&name)?,
                doc => return Some(doc),
            }
        }
        None
    }

    /// Resolves the links and writes the positions that are left with a target.
    fn write_links(&mut self, dir: &Path, files: &mut Files) -> Result<()> {
        let mut aliases = HashMap::new();
        for &(from, to) in &self.aliases {
            aliases.entry(from).or_insert(to);
        }
        let mut seen = HashSet::new();
        for &(from, to) in &self.aliases {
            match self.resolve(from, &aliases) {
                None => self.losses.add(Loss::BrokenRedirect, self.names.get(from)),
                // A document goes before a redirect of its name, and a redirect before later ones of its name.
                Some(doc) if self.documents[from as usize] == NONE && seen.insert(from) => {
                    self.redirects.push((from, doc));
                }
                Some(_) => {
                    let (from, to) = (self.names.get(from), self.names.get(to));
                    self.losses.add(Loss::DuplicateRedirect, format!("{from} → {to}"));
                }
            }
        }
        let (mut source, mut at, mut anchor, mut ends) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut links: Vec<DocId> = Vec::new();
        let mut document_ends = Vec::with_capacity(self.document_positions.len());
        let mut unknown: HashMap<u32, u64> = HashMap::new();
        let mut seen = HashSet::new();
        let mut position = 0;
        for doc in 0..self.document_names.len() {
            for position in position..self.document_positions[doc] as usize {
                let first = links.len();
                seen.clear();
                for &name in &self.link_names[Corpus::range(&self.position_links, position)] {
                    match self.resolve(name, &aliases) {
                        None => *unknown.entry(name).or_default() += 1,
                        Some(target) if target as usize == doc => {
                            self.losses.add(Loss::SelfLink, self.names.get(self.document_names[doc]));
                        }
                        Some(target) => {
                            if seen.insert(target) {
                                links.push(DocId(target));
                            }
                        }
                    }
                }
                if links.len() > first {
                    source.push(self.position_source[position]);
                    at.push(self.position_at[position]);
                    anchor.push(self.position_anchor[position]);
                    ends.push(links.len() as u64);
                }
            }
            position = self.document_positions[doc] as usize;
            document_ends.push(at.len() as u64);
        }
        self.losses.set(Loss::UnknownTarget, most_frequent(&unknown, &self.names));
        self.count_lonely_links(dir, &source, &at, &ends, files)?;

        let mut linked = vec![false; self.document_names.len()];
        links.iter().for_each(|doc| linked[doc.index()] = true);
        self.counts.positions = at.len() as u64;
        self.counts.links = links.len() as u64;
        self.counts.newcomers = linked.iter().filter(|&&linked| !linked).count() as u64;
        write_array(dir, "document.positions", &document_ends, files)?;
        write_array(dir, "position.source", &source, files)?;
        write_array(dir, "position.at", &at, files)?;
        write_array(dir, "position.anchor", &anchor, files)?;
        write_array(dir, "position.links", &ends, files)?;
        write_array(dir, "links", &links, files)
    }

    /// Counts the links that have no word of the vocabulary near them.
    fn count_lonely_links(
        &mut self,
        dir: &Path,
        source: &[DocId],
        at: &[u32],
        ends: &[u64],
        files: &Files,
    ) -> Result<()> {
        let tokens: Array<WordId> = Array::open(dir, "tokens", files)?;
        let vocabulary = self.counts.vocabulary as u32;
        for (position, (&doc, &at)) in source.iter().zip(at).enumerate() {
            let words = Corpus::range(&self.document_tokens, doc.index());
            let middle = words.start + at as usize;
            let near = middle.saturating_sub(CONTEXT_REACH).max(words.start)..(middle + CONTEXT_REACH).min(words.end);
            if !tokens[near].iter().any(|word| word.0 < vocabulary) {
                for _ in Corpus::range(ends, position) {
                    self.losses.add(Loss::LinkWithoutContext, self.names.get(self.document_names[doc.index()]));
                }
            }
        }
        Ok(())
    }

    fn write_documents(&mut self, dir: &Path, files: &mut Files) -> Result<()> {
        let names = || self.document_names.iter().map(|&name| self.names.get(name));
        write_strings(dir, "names", names(), files)?;
        write_index(dir, "names", self.document_names.len(), names(), files)?;
        write_strings(dir, "titles", self.document_title.iter().map(|&title| self.titles.get(title)), files)?;
        write_strings(dir, "urls", self.document_url.iter().map(|&url| self.urls.get(url)), files)?;
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
fn most_frequent(unknown: &HashMap<u32, u64>, names: &Interner) -> Tally {
    let mut by_count: Vec<(u64, &str)> = unknown.iter().map(|(&name, &count)| (count, names.get(name))).collect();
    by_count.sort_unstable_by_key(|&(count, name)| (Reverse(count), name));
    Tally {
        count: by_count.iter().map(|&(count, _)| count).sum(),
        samples: by_count.iter().take(10).map(|(count, name)| format!("{name} ({count})")).collect(),
    }
}

/// An error if `destination` exists and may not be replaced. Only a corpus is ever replaced.
fn refuse_existing(destination: &Path, force: bool) -> Result<()> {
    if destination.symlink_metadata().is_err() {
        return Ok(());
    }
    let place = destination.display().to_string();
    if !force {
        return Err(Error::input(place, "exists already; choose another name, or replace it with --force"));
    }
    if holds_only_a_corpus(destination) {
        return Ok(());
    }
    let what = "exists and holds something else than a corpus, so --force does not replace it; choose another name";
    Err(Error::input(place, what))
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

/// A new directory beside `destination`, and the lock that says that it is being written.
fn unfinished(destination: &Path) -> Result<(TempDir, File)> {
    let parent = aside::parent(destination);
    let prefix = aside::prefix(destination);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    // A corpus is for whoever may read the directory it stands in; temporary directories are for their owner only.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    loop {
        let dir = builder.tempdir_in(parent).map_err(Error::io("create a directory in", parent))?;
        // Another import may take a directory that is not locked yet for a leftover.
        if let Some(lock) = aside::lock(dir.path()).map_err(Error::io("lock", dir.path()))? {
            return Ok((dir, lock));
        }
    }
}

/// Renames the finished directory into place and makes that last.
fn publish(dir: TempDir, destination: &Path, force: bool) -> Result<()> {
    refuse_existing(destination, force)?;
    // The names of the files must last before the name of the directory does.
    File::open(dir.path()).and_then(|dir| dir.sync_all()).map_err(Error::io("write", dir.path()))?;
    let parent = dir.path().parent().unwrap_or(Path::new(".")).to_owned();
    let old = destination.exists().then(|| aside::old(dir.path()));
    if let Some(old) = &old {
        fs::rename(destination, old).map_err(Error::io("replace", destination))?;
    }
    if let Err(error) = fs::rename(dir.path(), destination) {
        if let Some(old) = &old {
            let _ = fs::rename(old, destination);
        }
        return Err(Error::io("rename the finished corpus to", destination)(error));
    }
    // It is a corpus now, no longer a temporary directory.
    let _ = dir.keep();
    File::open(&parent).and_then(|parent| parent.sync_all()).map_err(Error::io("write", &parent))?;
    if let Some(old) = &old {
        fs::remove_dir_all(old).map_err(Error::io("remove", old))?;
    }
    Ok(())
}
