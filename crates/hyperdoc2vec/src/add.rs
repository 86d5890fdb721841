//! Documents that come to a model after its training.
//!
//! Trained vectors stay as they are, bit for bit. A new document has an IN vector inferred from its text, an OUT vector
//! from its content where the model has a map for that (zeros otherwise), and its place in the search index: its own
//! text, and the words around its links, which stand for the documents they point at, old or new, and explain them when
//! they are hits. Words that the model has not seen join the index alone, behind those that it has.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::corpus::Corpus;
use crate::corpus::groups::Groups;
use crate::document::Date;
use crate::document::tokenize::Tokenizer;
use crate::error::{Error, Result};
use crate::id::{DocId, DocRow, WordId, WordRow};
use crate::infer::Inferrer;
use crate::infer::newcomers::ContentMap;
use crate::model::index::links::{AROUND, Context, KeywordsBuf, LinksBuf, keywords};
use crate::model::index::postings::PostingsBuf;
use crate::model::index::quotes::{DocumentQuotes, PlaceInSentence, QuotesBuf};
use crate::model::index::short_fields::ShortField;
use crate::model::index::terms::Field;
use crate::model::weighting::{ContextCounts, rarity};
use crate::model::write::{check_range, flat, index_tensors, vectors};
use crate::model::{FORMAT, Model, VERSION, Vectors, refuse_existing};
use crate::storage::atomic::OutputLock;
use crate::storage::container::{Tensor, write};
use crate::storage::part::{self, FramePlace, PartHead, PartKind, PartSet, Shard, write_part};
use crate::storage::strings::{StringTable, string_index};
use crate::threads::in_pool;

/// Documents whose vectors are inferred before the next are.
const TOGETHER: usize = 512;

/// Counts of what was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Added {
    /// New documents.
    pub documents: u64,
    /// Documents of the corpus that the model had already.
    pub skipped: u64,
    /// Links of new documents to documents of the model, old and new.
    pub links: u64,
    /// Words that joined the index.
    pub words: u64,
    /// New documents without a word that has a vector.
    pub unknown: u64,
}

/// A link of a new document: before which of its words, and the documents it points at.
struct NewLink {
    at: usize,
    targets: Vec<DocRow>,
    quote: PlaceInSentence,
}

/// Adds the documents of a corpus to a model without training it again.
///
/// ```no_run
/// # use hyperdoc2vec::{Addition, Corpus, Model};
/// let (model, week) = (Model::open("papers.model")?, Corpus::open("week.corpus")?);
/// let added = Addition::new(&model, &week).write("papers-new.model")?;
/// println!("{} documents added", added.documents);
/// # Ok::<(), hyperdoc2vec::Error>(())
/// ```
pub struct Addition<'a> {
    model: &'a Model,
    corpus: &'a Corpus,
    threads: usize,
    replace: bool,
    shard: Option<Shard>,
    parts: Vec<PathBuf>,
    watch: Option<Box<AddWatch<'a>>>,
}

/// Watches an addition: how many new documents have their vectors, and of how many.
type AddWatch<'a> = dyn FnMut(usize, usize) -> ControlFlow<()> + Send + 'a;

impl<'a> Addition<'a> {
    /// Adds those documents of `corpus` that `model` does not have.
    pub fn new(model: &'a Model, corpus: &'a Corpus) -> Addition<'a> {
        Addition { model, corpus, threads: 0, replace: false, shard: None, parts: Vec::new(), watch: None }
    }

    /// Threads; 0, the default, for one a core. Any number gives the same bytes.
    pub fn threads(self, threads: usize) -> Addition<'a> {
        Addition { threads, ..self }
    }

    /// Lets the model replace a file that is there.
    pub fn replace(self) -> Addition<'a> {
        Addition { replace: true, ..self }
    }

    /// Calls `watch` with the number of new documents that have their vectors, and the number of all; it may stop the
    /// work, which then leaves nothing behind.
    pub fn watch(self, watch: impl FnMut(usize, usize) -> ControlFlow<()> + Send + 'a) -> Addition<'a> {
        Addition { watch: Some(Box::new(watch)), ..self }
    }

    /// Infers the vectors of one of several shards of the new documents, for [`Addition::write_part`].
    pub fn shard(self, shard: Shard) -> Addition<'a> {
        Addition { shard: Some(shard), ..self }
    }

    /// Takes the vectors from parts that [`Addition::write_part`] has written, one of each shard, in any order, rather than
    /// infer them.
    pub fn parts<P: Into<PathBuf>>(self, parts: impl IntoIterator<Item = P>) -> Addition<'a> {
        Addition { parts: parts.into_iter().map(Into::into).collect(), ..self }
    }

    /// Writes to `destination` the vectors of the new documents of a shard: a part, for [`Addition::parts`]. Returns how
    /// many documents it has.
    ///
    /// # Errors
    /// [`Error::Usage`] without a shard; others as those of [`Addition::write`].
    pub fn write_part(self, destination: impl AsRef<Path>) -> Result<u64> {
        let Some(shard) = self.shard else {
            return Err(Error::Usage("a part is one of several shards; say which one".to_owned()));
        };
        let destination = destination.as_ref();
        part::refuse_existing(destination, self.replace)?;
        self.check()?;
        let Addition { model, corpus, threads, replace, watch, .. } = self;
        let mut watch = watch.unwrap_or_else(|| Box::new(|_, _| ControlFlow::Continue(())));
        let head = PartHead::new(PartKind::Add, shard, settings(model, corpus));
        let mut documents = 0;
        write_part(destination, &head, replace, |part| {
            in_pool(threads, || {
                let new = NewDocuments::new(model, corpus)?;
                let share = shard.range(new.documents.chunks(TOGETHER).len() as u64);
                new.infer(share.start as usize..share.end as usize, &mut *watch, |number, block| {
                    documents += block.documents() as u64;
                    part.push(FramePlace { input: 1, piece: number as u32 }, &block.to_bytes())
                })?;
                Ok(0)
            })
        })?;
        Ok(documents)
    }

    /// Refuses a corpus that was read with other case, or was altered.
    fn check(&self) -> Result<()> {
        let Addition { model, corpus, .. } = self;
        let lowercase = model.about()["corpus"]["options"]["lowercase"].as_bool().unwrap_or(true);
        if corpus.manifest().options.lowercase != lowercase {
            let (before, now) = if lowercase { ("lower-cased", "kept apart") } else { ("kept apart", "lower-cased") };
            let what = format!(
                "its upper and lower case are {now}, but those of the model's corpus were {before}; import it again"
            );
            return Err(Error::input(corpus.path().display().to_string(), what));
        }
        corpus.verify()
    }

    /// Writes to `destination` a model that has the documents of both.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is a file and [`Addition::replace`] was not called, [`Error::Foreign`] if that is no model,
    /// [`Error::Input`] if the corpus has no new document or was read with other case, [`Error::Unsupported`] if the model has no search index.
    pub fn write(self, destination: impl AsRef<Path>) -> Result<Added> {
        if let Some(shard) = self.shard {
            return Err(Error::Usage(format!("shard {shard} of an addition is written as a part, not as a model")));
        }
        let destination = destination.as_ref();
        refuse_existing(destination, self.replace)?;
        self.check()?;
        let Addition { model, corpus, threads, parts, watch, .. } = self;
        let parts = if parts.is_empty() { None } else { Some(open_parts(&parts, model, corpus)?) };
        let _lock = OutputLock::take(destination)?;
        let mut watch = watch.unwrap_or_else(|| Box::new(|_, _| ControlFlow::Continue(())));
        in_pool(threads, || {
            let new = NewDocuments::new(model, corpus)?;
            let vectors = match parts {
                Some(parts) => new.merged(parts, &mut *watch)?,
                None => new.inferred(&mut *watch)?,
            };
            new.write(destination, vectors)
        })
    }
}

/// Everything on which the vectors of an addition depend.
fn settings(model: &Model, corpus: &Corpus) -> BTreeMap<String, Value> {
    let all = [("model", json!(model.digest())), ("corpus", json!(corpus.manifest().fingerprint))];
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Opens parts, which must be of this model and this corpus.
fn open_parts(parts: &[PathBuf], model: &Model, corpus: &Corpus) -> Result<PartSet> {
    let set = PartSet::open(parts, PartKind::Add)?;
    let expected = settings(model, corpus);
    for (name, path) in [("model", model.path()), ("corpus", corpus.path())] {
        if expected.get(name) != Some(set.head().setting(name)) {
            let what = format!("the parts were made with another {name}; give the one that they were made with");
            return Err(Error::input(path.display().to_string(), what));
        }
    }
    Ok(set)
}

/// IN and OUT vectors of documents in a row, and how many of these have no word with a vector.
struct DocumentVectors {
    doc_in: Vec<f32>,
    doc_out: Vec<f32>,
    dim: usize,
    unknown: u64,
}

impl DocumentVectors {
    fn documents(&self) -> usize {
        self.doc_in.len() / self.dim.max(1)
    }

    fn extend(&mut self, more: DocumentVectors) {
        self.doc_in.extend(more.doc_in);
        self.doc_out.extend(more.doc_out);
        self.unknown += more.unknown;
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.unknown.to_le_bytes().to_vec();
        self.doc_in.iter().chain(&self.doc_out).for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
        bytes
    }

    /// The vectors of so many documents; `None` if the bytes are others.
    fn from_bytes(bytes: &[u8], documents: usize, dim: usize) -> Option<DocumentVectors> {
        let (unknown, numbers) = bytes.split_first_chunk()?;
        let mut doc_in: Vec<f32> =
            numbers.chunks_exact(4).map(|x| f32::from_le_bytes([x[0], x[1], x[2], x[3]])).collect();
        let half = documents.checked_mul(dim)?;
        if numbers.len() != half.checked_mul(8)? {
            return None;
        }
        let doc_out = doc_in.split_off(half);
        Some(DocumentVectors { doc_in, doc_out, dim, unknown: u64::from_le_bytes(*unknown) })
    }
}

/// The new documents of a corpus, and where they stand in the model.
struct NewDocuments<'a> {
    model: &'a Model,
    corpus: &'a Corpus,
    documents: Vec<DocId>,
    /// For each document of the corpus, its row.
    rows: Vec<DocRow>,
    /// For each word of the corpus that new documents have, its row in the index; and the words that are new there.
    terms: Vec<WordRow>,
    new_terms: Vec<String>,
    /// The words of titles and of authors of each new document, for the fields that the model has.
    short: [Vec<Vec<WordRow>>; 2],
    /// The links of each new document.
    links: Vec<Vec<NewLink>>,
    /// The sentences that these stand in.
    quotes: Vec<DocumentQuotes>,
}

impl<'a> NewDocuments<'a> {
    fn new(model: &'a Model, corpus: &'a Corpus) -> Result<NewDocuments<'a>> {
        let (names, known) = (model.names(), model.terms());
        let mut documents = Vec::new();
        let mut row = |doc| match names.find(corpus.name(doc)) {
            Some(row) => DocRow(row as u32),
            None => {
                documents.push(doc);
                DocRow((model.documents() + documents.len() - 1) as u32)
            }
        };
        let rows: Vec<DocRow> = corpus.documents().map(&mut row).collect();
        if documents.is_empty() {
            let what = format!("all its {} documents are in the model already", corpus.len());
            return Err(Error::input(corpus.path().display().to_string(), what));
        }
        let mut used = vec![false; corpus.distinct_words()];
        documents.iter().flat_map(|&doc| corpus.words(doc)).for_each(|word| used[word.index()] = true);
        let mut terms = vec![WordRow(u32::MAX); used.len()];
        let mut new_terms = Vec::new();
        for (number, _) in used.iter().enumerate().filter(|(_, used)| **used) {
            let word = corpus.word(WordId(number as u32));
            let row = known.find(word).unwrap_or_else(|| {
                new_terms.push(word.to_owned());
                known.ends.len() + new_terms.len() - 1
            });
            terms[number] = WordRow(row as u32);
        }
        let short = [vec![], vec![]];
        let mut new =
            NewDocuments { model, corpus, documents, rows, terms, new_terms, short, links: vec![], quotes: vec![] };
        let tokenizer = Tokenizer::new(corpus.manifest().options.lowercase);
        new.name_words(&tokenizer);
        let read = new.documents.par_iter().map(|&doc| new.places(doc, &tokenizer)).collect::<Result<Vec<_>>>()?;
        (new.links, new.quotes) = read.into_iter().unzip();
        Ok(new)
    }

    /// Reads the words of titles and authors; those that the model and the new texts do not have join the index.
    fn name_words(&mut self, tokenizer: &Tokenizer) {
        let (corpus, known) = (self.corpus, self.model.terms());
        let mut names = BTreeMap::<String, WordRow>::new();
        for field in ShortField::ALL.into_iter().filter(|&field| self.model.short_words(field).is_some()) {
            for &doc in &self.documents {
                let mut rows = Vec::new();
                field.words(corpus, doc, tokenizer, |word| {
                    let in_text = corpus.find_word(word).map(|word| self.terms[word.index()]);
                    let row = in_text.filter(|row| row.0 != u32::MAX);
                    let row = row.or_else(|| known.find(word).map(|row| WordRow(row as u32)));
                    let row = row.or_else(|| names.get(word).copied()).unwrap_or_else(|| {
                        self.new_terms.push(word.to_owned());
                        let row = WordRow((known.ends.len() + self.new_terms.len() - 1) as u32);
                        names.insert(word.to_owned(), row);
                        row
                    });
                    rows.push(row);
                });
                self.short[field as usize].push(rows);
            }
        }
    }

    /// The links of a new document, and the sentences that they stand in. They are taken from its text: those that lead out of its corpus may lead into the
    /// model.
    fn places(&self, doc: DocId, tokenizer: &Tokenizer) -> Result<(Vec<NewLink>, DocumentQuotes)> {
        let (document, own) = (self.corpus.document(doc)?, self.rows[doc.index()]);
        let row = |name: &String| match self.model.names().find(name) {
            Some(row) => Some(DocRow(row as u32)),
            None => self.corpus.find(name).map(|doc| self.rows[doc.index()]),
        };
        let known = |name: &String| row(name).is_some_and(|row| row != own);
        let quotes = DocumentQuotes::read(&document, |targets| targets.iter().any(known));
        let (mut places, mut words, mut from) = (Vec::new(), 0, 0);
        for link in &document.links {
            for end in [link.anchor, link.at] {
                if let Some(text) = document.text.get(from..end) {
                    tokenizer.words(text, |_| words += 1);
                    from = end;
                }
            }
            let mut targets: Vec<DocRow> = link.targets.iter().filter_map(row).filter(|&row| row != own).collect();
            targets.sort_unstable();
            targets.dedup();
            if !targets.is_empty() {
                let quote = quotes.places[places.len()];
                places.push(NewLink { at: words.min(self.corpus.words(doc).len()), targets, quote });
            }
        }
        Ok((places, quotes))
    }

    fn all_documents(&self) -> usize {
        self.model.documents() + self.documents.len()
    }

    /// The search index, with the new documents.
    fn index(&self, field: Field) -> Result<PostingsBuf> {
        let (old, corpus) = (self.model.documents(), self.corpus);
        let without = || Error::Unsupported {
            path: self.model.path().to_owned(),
            what: "this model was made without a search index, so nothing can be added; train it again".to_owned(),
        };
        let before = self.model.postings(field).ok_or_else(without)?;
        let terms = before.ends.len().max(self.model.terms().ends.len()) + self.new_terms.len();
        let words = |document: usize| corpus.words(self.documents[document]);
        let new = match field {
            Field::Text => {
                let of = |document: usize| document.checked_sub(old).map_or(&[][..], words);
                let each = |document: usize, tell: &mut dyn FnMut(u32)| {
                    of(document).iter().for_each(|word| tell(self.terms[word.index()].0));
                };
                PostingsBuf::build(self.all_documents(), terms, |document| of(document).len(), each)
            }
            Field::Cited => {
                let params = self.model.params();
                let counts = ContextCounts::new(params.window, params.citation.decay);
                let (contexts, cited_by) = self.cited_by();
                let each = |document: usize, tell: &mut dyn FnMut(u32)| {
                    for &number in cited_by.of(document) {
                        let (source, place) = contexts[number as usize];
                        let (before, after) = words(source).split_at(place.at);
                        counts.tell(before, after, |word| tell(self.terms[word.index()].0));
                    }
                };
                let size = |document: usize| cited_by.of(document).len() * 2 * counts.reach();
                PostingsBuf::build(self.all_documents(), terms, size, each)
            }
        };
        Ok(PostingsBuf::merge(before, new.view()))
    }

    /// The new documents' links, each with the number of the new document that it stands in; and which of them point at
    /// each document.
    fn cited_by(&self) -> (Vec<(usize, &NewLink)>, Groups) {
        let links = self.links.iter().enumerate();
        let contexts: Vec<(usize, &NewLink)> =
            links.flat_map(|(document, places)| places.iter().map(move |place| (document, place))).collect();
        let targets = |(number, (_, place)): (usize, &(usize, &'_ NewLink))| {
            place.targets.iter().map(|&target| (target.index(), number as u32)).collect::<Vec<_>>()
        };
        let pairs: Vec<(usize, u32)> = contexts.iter().enumerate().flat_map(targets).collect();
        let cited_by = Groups::new(self.all_documents(), pairs.into_iter());
        (contexts, cited_by)
    }

    /// The links of the model, if it has them, and of the new documents, with the words around them.
    fn shown_links(&self) -> Option<LinksBuf> {
        let old = self.model.links()?;
        let (contexts, cited_by) = self.cited_by();
        let context = |&number: &u32| {
            let (source, place) = contexts[number as usize];
            let (before, after) = self.corpus.words(self.documents[source]).split_at(place.at);
            let rows = |words: &[WordId]| words.iter().map(|word| self.terms[word.index()]).collect();
            Context {
                link: 0,
                source: DocRow((self.model.documents() + source) as u32),
                before: rows(&before[before.len().saturating_sub(AROUND)..]),
                after: rows(&after[..after.len().min(AROUND)]),
            }
        };
        let new = |document: DocRow| cited_by.of(document.index()).iter().map(context).collect();
        Some(LinksBuf::extended(old, self.all_documents(), new))
    }

    /// The sentences that these links stand in.
    fn quotes(&self) -> Option<QuotesBuf> {
        let links = self.model.links()?;
        let (contexts, cited_by) = self.cited_by();
        let of_new = |document: DocRow| {
            let place = |&number: &u32| (contexts[number as usize].0, contexts[number as usize].1.quote);
            cited_by.of(document.index()).iter().map(place).collect()
        };
        let old = self.model.quotes().unwrap_or_default();
        Some(QuotesBuf::extended(old, links, &self.quotes, self.all_documents(), of_new))
    }

    /// Vectors of all documents: those of the model, and those inferred for the new ones.
    fn inferred(&self, watch: &mut AddWatch<'_>) -> Result<DocumentVectors> {
        let mut all = self.old_vectors();
        self.infer(0..self.documents.chunks(TOGETHER).len(), watch, |_, block| {
            all.extend(block);
            Ok(())
        })?;
        Ok(all)
    }

    /// Vectors of all documents: those of the model, and those that parts have of the new ones.
    fn merged(&self, mut parts: PartSet, watch: &mut AddWatch<'_>) -> Result<DocumentVectors> {
        let (mut all, dim) = (self.old_vectors(), self.model.params().dim);
        for (number, block) in self.documents.chunks(TOGETHER).enumerate() {
            if watch(number * TOGETHER, self.documents.len()).is_break() {
                return Err(Error::Interrupted);
            }
            let frame = parts.next_frame()?.ok_or_else(|| {
                let what = "the parts hold fewer documents than are new; make them again";
                Error::input(self.corpus.path().display().to_string(), what)
            })?;
            all.extend(frame.read(|bytes| DocumentVectors::from_bytes(bytes, block.len(), dim))?);
        }
        Ok(all)
    }

    /// The vectors that the model has.
    fn old_vectors(&self) -> DocumentVectors {
        let table = |which| -> Vec<f32> {
            let table = self.model.stored_vectors(which);
            (0..table.rows()).flat_map(|row| table.row(row).into_owned()).collect()
        };
        let dim = self.model.params().dim;
        DocumentVectors { doc_in: table(Vectors::DocIn), doc_out: table(Vectors::DocOut), dim, unknown: 0 }
    }

    /// Infers the vectors of some blocks of new documents, and gives them to `take` with their numbers, in order.
    fn infer(
        &self,
        blocks: Range<usize>,
        watch: &mut AddWatch<'_>,
        mut take: impl FnMut(usize, DocumentVectors) -> Result<()>,
    ) -> Result<()> {
        let (model, dim) = (self.model, self.model.params().dim);
        let map = ContentMap::of(model);
        // A method that knows nothing of words leaves zeros.
        let inferrer = Inferrer::new(model).ok();
        let first = blocks.start * TOGETHER;
        let last = (blocks.end * TOGETHER).min(self.documents.len());
        let of = last.saturating_sub(first);
        for (number, block) in self.documents.chunks(TOGETHER).enumerate().take(blocks.end).skip(blocks.start) {
            if watch(number * TOGETHER - first, of).is_break() {
                return Err(Error::Interrupted);
            }
            let known = |&doc: &DocId| {
                let rows = self.corpus.words(doc).iter().map(|word| self.terms[word.index()]);
                rows.filter(|row| row.index() < model.words()).collect::<Vec<WordRow>>()
            };
            let texts: Vec<Vec<WordRow>> = block.iter().map(known).collect();
            let unknown = texts.iter().filter(|rows| rows.is_empty()).count() as u64;
            let Some(inferrer) = &inferrer else {
                let zeros = vec![0.0; block.len() * dim];
                take(number, DocumentVectors { doc_in: zeros.clone(), doc_out: zeros, dim, unknown })?;
                continue;
            };
            let mut vectors = DocumentVectors { doc_in: Vec::new(), doc_out: Vec::new(), dim, unknown };
            let DocumentVectors { doc_in, doc_out, .. } = &mut vectors;
            for (rows, vector) in texts.iter().zip(inferrer.rows(&texts)?) {
                match &map {
                    Some(map) if !rows.is_empty() => {
                        doc_out.extend(map.out(&vector, &inferrer.mean(rows)?));
                    }
                    // Where links began with content, so does this document.
                    None if model.params().starts_from_content() => doc_out.extend_from_slice(&vector),
                    _ => doc_out.resize(doc_out.len() + dim, 0.0),
                }
                doc_in.extend(vector);
            }
            take(number, vectors)?;
        }
        if watch(of, of).is_break() {
            return Err(Error::Interrupted);
        }
        Ok(())
    }

    fn write(&self, destination: &Path, all: DocumentVectors) -> Result<Added> {
        let (model, corpus, storage) = (self.model, self.corpus, self.model.storage());
        let DocumentVectors { doc_in, doc_out, dim, unknown } = all;
        check_range(&doc_in, storage).and_then(|()| check_range(&doc_out, storage))?;
        let (text, cited) = (self.index(Field::Text)?, self.index(Field::Cited)?);
        let all = |table: StringTable<'a>| (0..table.ends.len()).map(move |number| table.get(number));
        let terms = || all(model.terms()).chain(self.new_terms.iter().map(String::as_str));
        let names = || all(model.names()).chain(self.documents.iter().map(|&doc| corpus.name(doc)));
        let titles = all(model.titles()).chain(self.documents.iter().map(|&d| corpus.title(d).unwrap_or_default()));
        let urls = all(model.urls()).chain(self.documents.iter().map(|&doc| corpus.url(doc).unwrap_or_default()));
        let (word_bytes, word_ends) = flat(terms());
        let (name_bytes, name_ends) = flat(names());
        let (title_bytes, title_ends) = flat(titles);
        let (url_bytes, url_ends) = flat(urls);
        let old_authors: Vec<String> =
            (0..model.documents()).map(|row| model.authors(row).collect::<Vec<_>>().join("\n")).collect();
        let new_authors = self.documents.iter().map(|&doc| corpus.author_lines(doc));
        let (author_bytes, author_ends) = flat(old_authors.iter().map(String::as_str).chain(new_authors));
        let word_index = string_index(word_ends.len(), terms());
        let name_index = string_index(name_ends.len(), names());
        let old = 0..model.documents();
        let mut dates: Vec<i32> = old.clone().map(|row| model.date(row).map_or(0, Date::packed)).collect();
        dates.extend(self.documents.iter().map(|&doc| corpus.date(doc).map_or(0, Date::packed)));
        let mut labels: Vec<&str> = all(model.labels()).collect();
        let mut numbers: BTreeMap<&str, u32> = labels.iter().copied().zip(0..).collect();
        let (mut document_label, mut document_labels) = (Vec::new(), Vec::new());
        for row in old {
            document_label.extend_from_slice(model.label_ids(row));
            document_labels.push(document_label.len() as u64);
        }
        for &doc in &self.documents {
            for label in corpus.labels(doc) {
                document_label.push(*numbers.entry(label).or_insert_with(|| {
                    labels.push(label);
                    labels.len() as u32 - 1
                }));
            }
            document_labels.push(document_label.len() as u64);
        }
        let (label_bytes, label_ends) = flat(labels.into_iter());
        let mut links_to = model.links_to().to_vec();
        links_to.resize(self.all_documents(), 0);
        let targets = || self.links.iter().flatten().flat_map(|place| &place.targets);
        targets().for_each(|target| links_to[target.index()] += 1);
        let added = Added {
            documents: self.documents.len() as u64,
            skipped: (corpus.len() - self.documents.len()) as u64,
            links: targets().count() as u64,
            words: self.new_terms.len() as u64,
            unknown,
        };
        let newcomers = links_to.iter().filter(|&&links| links == 0).count() as u64;
        let about = self.about(&added, newcomers);
        let mut tensors: Vec<Tensor<'_>> = [
            vectors("doc_in", &doc_in, [dim, dim], storage),
            vectors("doc_out", &doc_out, [dim, dim], storage),
            Tensor::bytes("words.bytes", &word_bytes),
            Tensor::u64s("words.ends", &word_ends),
            Tensor::u32s("words.index", &word_index),
            Tensor::bytes("names.bytes", &name_bytes),
            Tensor::u64s("names.ends", &name_ends),
            Tensor::u32s("names.index", &name_index),
            Tensor::bytes("titles.bytes", &title_bytes),
            Tensor::u64s("titles.ends", &title_ends),
            Tensor::bytes("urls.bytes", &url_bytes),
            Tensor::u64s("urls.ends", &url_ends),
            Tensor::bytes("authors.bytes", &author_bytes),
            Tensor::u64s("authors.ends", &author_ends),
            Tensor::i32s("dates", &dates),
            Tensor::bytes("labels.bytes", &label_bytes),
            Tensor::u64s("labels.ends", &label_ends),
            Tensor::u64s("document_labels", &document_labels),
            Tensor::u32s("document_label", &document_label),
            Tensor::u32s("links_to", &links_to),
        ]
        .into_iter()
        .chain(index_tensors(Field::Text, text.view()))
        .chain(index_tensors(Field::Cited, cited.view()))
        .collect();
        let links = self.shown_links();
        if let Some(links) = &links {
            let links = links.view();
            tensors.push(Tensor::u64s("links.ends", links.ends));
            tensors.push(Tensor::u32s("links.sources", links.sources));
            tensors.push(Tensor::u64s("contexts.ends", links.context_ends));
            tensors.push(Tensor::bytes("contexts.words", links.contexts));
        }
        let quotes = self.quotes();
        tensors.extend(quotes.iter().flat_map(QuotesBuf::tensors));
        let short = ShortField::ALL.map(|field| self.short_words(field));
        for (field, words) in ShortField::ALL.into_iter().zip(&short) {
            let [rows, row_ends] = field.arrays();
            if let Some((all_ends, all_rows)) = words {
                tensors.push(Tensor::u64s(row_ends, all_ends));
                tensors.push(Tensor::u32s(rows, all_rows));
            }
        }
        let keywords = self.keywords()?;
        if let Some(KeywordsBuf { ends, rows, counts }) = &keywords {
            tensors.push(Tensor::u64s("keywords.ends", ends));
            tensors.push(Tensor::u32s("keywords.rows", rows));
            tensors.push(Tensor::bytes("keywords.counts", counts));
        }
        // All else stays: the words' vectors and counts, and what was learnt.
        let kept = model.tensors().filter(|kept| tensors.iter().all(|tensor| tensor.name() != kept.name()));
        let kept: Vec<Tensor<'_>> = kept.collect();
        tensors.extend(kept);
        write(destination, FORMAT, VERSION, &tensors, about)?;
        Ok(added)
    }

    /// Where the words of a field of each document end, and their rows, if the model has those of its own.
    fn short_words(&self, field: ShortField) -> Option<(Vec<u64>, Vec<u32>)> {
        let old = self.model.short_words(field)?;
        let (mut ends, mut rows) = (old.ends.to_vec(), old.rows.to_vec());
        for words in &self.short[field as usize] {
            rows.extend_from_slice(WordRow::numbers(words));
            ends.push(rows.len() as u64);
        }
        Some((ends, rows))
    }

    /// The words that tell most of each document, if the model has those of its own.
    fn keywords(&self) -> Result<Option<KeywordsBuf>> {
        let Some(old) = self.model.keywords() else { return Ok(None) };
        let (mut ends, mut rows, mut counts) = (old.ends.to_vec(), old.rows.to_vec(), old.counts.to_vec());
        let (found, documents) = (self.model.word_documents(), self.model.trained_documents());
        let rarity = |row: WordRow| rarity(found[row.index()], documents);
        for &doc in &self.documents {
            let known = self.corpus.words(doc).iter().map(|word| self.terms[word.index()]);
            let known = known.filter(|row| row.index() < self.model.words()).collect();
            for (row, count) in keywords(known, rarity) {
                rows.push(row.0);
                counts.push(count);
            }
            ends.push(rows.len() as u64);
        }
        Ok(Some(KeywordsBuf { ends, rows, counts }))
    }

    /// The description of the model, with what was added.
    fn about(&self, added: &Added, newcomers: u64) -> Value {
        let manifest = self.corpus.manifest();
        let mut about = self.model.about().clone();
        if let Some(about) = about.as_object_mut() {
            // Written anew.
            ["format", "version", "program", "checksums"].iter().for_each(|name| drop(about.remove(*name)));
        }
        let counts = &mut about["counts"];
        let more = |counts: &Value, name: &str, by: u64| json!(counts[name].as_u64().unwrap_or(0) + by);
        counts["trained"] = json!(self.model.trained_documents());
        counts["documents"] = json!(self.all_documents());
        let words = self.documents.iter().map(|&doc| self.corpus.words(doc).len() as u64).sum();
        counts["words"] = more(counts, "words", words);
        counts["links"] = more(counts, "links", added.links);
        counts["positions"] = more(counts, "positions", self.links.iter().flatten().count() as u64);
        counts["newcomers"] = json!(newcomers);
        let addition = json!({
            "fingerprint": manifest.fingerprint,
            "source": manifest.source,
            "documents": added.documents,
            "skipped": added.skipped,
            "links": added.links,
        });
        match about["additions"].as_array_mut() {
            Some(additions) => additions.push(addition),
            None => about["additions"] = json!([addition]),
        }
        about
    }
}
