//! A researcher's library: works of a bibliography, with the text of those whose files are there; and folders of PDFs.
//!
//! Every work is a document, called by its cite key, whether or not it has a file: else title, abstract and keywords are
//! its text. A text is read as that of `papers`, with its references; the works of the library are what they are
//! looked up among. Works that are cited, but are not there, become documents of their titles (see `cited`), with the
//! label [`CITED_ONLY`].
//!
//! Files are read twice: once for their references, once for their text. In between only the references are kept; the
//! text is in the cache (see `pdf`).

mod bib;
mod cited;
mod csl;
mod csv;
mod files;
mod log;
mod ris;
mod sqlite;
#[cfg(test)]
mod tests;
mod titles;
mod work;
mod zotero;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use encoding_rs::WINDOWS_1252;
use rayon::prelude::*;

use super::article::{self, Dialect};
use super::papers::{self, PaperText, Seen};
use super::pdf::{Ailment, Extracted, Extractor, ailments};
use super::progress::while_wanted;
use super::reference::{BibRecord, Catalogue, CatalogueBuilder, Paper};
use super::shares::InputDigest;
use super::sniff::{has_ending, without_ending};
use super::tei;
use super::text::collapsed;
use super::tree::{FileTree, Pages, WantedFiles, safe_id};
use super::{Format, ImportOptions, Parsed, source};
use crate::document::Document;
use crate::document::losses::{Loss, Losses};
use crate::error::{Error, Result};
use cited::{CitedForms, CitedWorks};
use files::{Shelves, Wanted};
use titles::CitedTitles;
use work::Work;

/// The label of documents that are cited, but are not in the library.
pub const CITED_ONLY: &str = "not in the library";

/// Larger bibliographies are not read.
const LARGEST: u64 = 1 << 30;
/// Files whose references are read before they are put together.
const TOGETHER: usize = 16;
/// Text kept by Zotero beside a file.
const ZOTERO_TEXT: &str = ".zotero-ft-cache";

/// Works and their files, found; references read.
pub struct Library {
    works: Vec<Work>,
    /// Works after this one are cited only.
    own: usize,
    files: Vec<Option<PathBuf>>,
    /// A summary of each file.
    seen: Vec<FirstLook>,
    extractor: Extractor,
    catalogue: Catalogue,
    /// What entries say that mean a work by other words.
    forms: CitedForms,
    titles: Seen,
    losses: Losses,
}

/// A summary of a file, which the first pass keeps.
#[derive(Default)]
struct FirstLook {
    entries: Vec<BibRecord>,
    ailments: Vec<Ailment>,
    /// Why it could not be read.
    problem: Option<String>,
    /// Of a work without a title: the beginning of its text, and what that seems to be.
    top: String,
    about: Work,
}

impl Library {
    /// Reads bibliographies, or lists PDFs, finds the files and reads their references; an error if there is no work.
    /// `step` gets the number of files read several times a second, and may stop it, whatever is being read.
    pub fn open(
        format: Format,
        inputs: &[PathBuf],
        options: &ImportOptions,
        step: &mut (dyn FnMut(usize) -> Result<()> + Send),
    ) -> Result<Library> {
        let mut losses = Losses::default();
        let is_pdf = format == Format::Pdf;
        let (works, files) =
            if is_pdf { pdfs(inputs, options, &mut losses)? } else { bibliographies(inputs, options, &mut losses)? };
        let mut library = Library {
            own: works.len(),
            seen: works.iter().map(|_| FirstLook::default()).collect(),
            works,
            files,
            extractor: Extractor::new(&options.pdf)?,
            catalogue: Catalogue::default(),
            forms: CitedForms::default(),
            titles: Seen::default(),
            losses,
        };
        library.match_texts(options, step)?;
        for title in library.works.iter().filter_map(|work| work.title.as_deref()) {
            title.split(' ').for_each(|word| library.titles.add(word));
        }
        for start in (0..library.works.len()).step_by(TOGETHER) {
            step(start)?;
            let end = (start + TOGETHER).min(library.works.len());
            let look = || (start..end).into_par_iter().map(|index| library.look(index)).collect();
            let looks: Vec<FirstLook> = library.while_wanted(&mut || step(start), look)?;
            looks.into_iter().enumerate().for_each(|(at, look)| library.seen[start + at] = look);
        }
        library.name_files();
        let catalogue = |works: &[Work]| {
            let mut catalogue = CatalogueBuilder::default();
            works.iter().for_each(|work| catalogue.add(&work.key, &work.record()));
            catalogue.finish()
        };
        library.catalogue = catalogue(&library.works);
        if options.cited_works.unwrap_or(!is_pdf) {
            let mut taken: HashSet<String> = library.works.iter().map(|work| work.key.clone()).collect();
            let entries = library.seen.iter().flat_map(|look| &look.entries);
            let CitedWorks { works, forms } = cited::works(entries, &library.works, &library.catalogue, &mut taken);
            library.works.extend(works);
            library.forms = forms;
            library.catalogue = catalogue(&library.works);
        }
        library.seen.iter_mut().for_each(|look| look.entries = Vec::new());
        Ok(library)
    }

    /// Gives works without a title that of their file, with its authors and date.
    fn name_files(&mut self) {
        let titles = CitedTitles::new(self.seen.iter().flat_map(|look| &look.entries));
        for (work, look) in self.works.iter_mut().zip(&self.seen).filter(|(work, _)| work.title.is_none()) {
            let Work { title, authors, date, .. } = titles.find(&look.top).unwrap_or_else(|| look.about.clone());
            work.title = title;
            work.date = work.date.or(date);
            if work.authors.is_empty() {
                work.authors = authors;
            }
        }
    }

    /// Does `work`, which ends soon after `step` has failed.
    fn while_wanted<R>(&self, step: &mut (dyn FnMut() -> Result<()> + Send), work: impl FnOnce() -> R) -> Result<R> {
        while_wanted(self.extractor.stop(), step, work)
    }

    /// Gives files that are called after no work to those whose title they begin with.
    fn match_texts(
        &mut self,
        options: &ImportOptions,
        step: &mut (dyn FnMut(usize) -> Result<()> + Send),
    ) -> Result<()> {
        if options.files.is_empty() {
            return Ok(());
        }
        let shelves = Shelves::open(&[], &options.files, &mut Losses::default())?;
        let lacking = |library: &Library| {
            let without = |(at, _): &(usize, &Work)| library.files[*at].is_none();
            Wanted::new(library.works.iter().enumerate().filter(without))
        };
        let mut others = shelves.others(&self.files);
        let wanted = lacking(self);
        others.retain(|path| match wanted.by_name(path).filter(|&at| self.files[at].is_none()) {
            Some(at) => {
                self.files[at] = Some(path.clone());
                false
            }
            None => true,
        });
        let wanted = lacking(self);
        for paths in others.chunks(TOGETHER) {
            step(0)?;
            let found = |path: &PathBuf| match self.text(path).ok()? {
                Extracted::Text(text) => wanted.by_text(&text),
                Extracted::Tei(_) => None,
            };
            let found: Vec<Option<usize>> =
                self.while_wanted(&mut || step(0), || paths.par_iter().map(found).collect())?;
            for (path, found) in paths.iter().zip(found) {
                match found.filter(|&at| self.files[at].is_none()) {
                    Some(at) => self.files[at] = Some(path.clone()),
                    None => self.losses.add(Loss::TextWithoutRow, path.display().to_string()),
                }
            }
        }
        Ok(())
    }

    /// The text of a file.
    fn text(&self, path: &Path) -> std::result::Result<Extracted, String> {
        if !has_ending(&path.to_string_lossy(), &["pdf"]) {
            let bytes = source::read_file(path, LARGEST).map_err(|error| error.to_string())?;
            let bytes = bytes.ok_or_else(|| "is too large for a text".to_owned())?;
            return papers::decode(&bytes).map(|(text, _)| Extracted::Text(text.into_owned()));
        }
        // Zotero has read it already.
        let beside = path.with_file_name(ZOTERO_TEXT);
        if beside.symlink_metadata().is_ok_and(|file| file.is_file())
            && let Some(bytes) = source::read_file(&beside, LARGEST).ok().flatten()
            && !bytes.is_empty()
        {
            return Ok(Extracted::Text(String::from_utf8_lossy(&bytes).into_owned()));
        }
        self.extractor.read(path)
    }

    /// The references of a work's file.
    fn look(&self, index: usize) -> FirstLook {
        let Some(path) = &self.files[index] else { return FirstLook::default() };
        match self.text(path) {
            Err(problem) => FirstLook { problem: Some(problem), ..FirstLook::default() },
            Ok(Extracted::Text(text)) => {
                let entries = papers::read(&text, &self.titles).entries;
                let mut look = FirstLook {
                    entries: entries.into_iter().map(BibRecord::from).collect(),
                    ailments: ailments(&text),
                    ..FirstLook::default()
                };
                if self.works[index].title.is_none() {
                    titles::top(&text).clone_into(&mut look.top);
                    let shown = self.extractor.titles(path);
                    let title = titles::printed(shown.lines(), &look.top)
                        .or_else(|| titles::first_title(&text))
                        .or_else(|| titles::named(shown.lines()));
                    look.about = Work { title, ..Work::default() };
                }
                look
            }
            Ok(Extracted::Tei(tei)) => match self.tei(&tei, &mut Parsed::default()) {
                Ok(Paper { document: Document { title, authors, date, .. }, entries, .. }) => FirstLook {
                    entries: entries.into_iter().map(|(_, entry)| entry).collect(),
                    about: Work { title, authors, date, ..Work::default() },
                    ..FirstLook::default()
                },
                Err(problem) => FirstLook { problem: Some(problem), ..FirstLook::default() },
            },
        }
    }

    fn tei(&self, tei: &str, parsed: &mut Parsed) -> std::result::Result<Paper, String> {
        let tree = article::xml::XmlTree::parse(tei).map_err(|wrong| format!("GROBID's TEI: {}", wrong.what))?;
        let (record, _) = tree.root().find(&[tei::GrobidTei::HEADER]).map(tei::GrobidTei::header).unwrap_or_default();
        Ok(tei::GrobidTei::paper(tree.root(), record, "GROBID", parsed))
    }

    /// The text of a work, its marks and references.
    fn paper(
        &self,
        index: usize,
        document: Document,
        parsed: &mut Parsed,
    ) -> std::result::Result<Paper, Box<Document>> {
        let Some(path) = self.files.get(index).and_then(Option::as_ref) else { return Err(Box::new(document)) };
        let place = format!("{} ({})", document.id, name(path));
        let unread = |problem: String, document: Document, parsed: &mut Parsed| {
            parsed.batch.losses.add(Loss::UnreadFile, format!("{place}: {problem}"));
            Box::new(document)
        };
        if let Some(problem) = &self.seen[index].problem {
            return Err(unread(problem.clone(), document, parsed));
        }
        for ailment in &self.seen[index].ailments {
            let loss = match ailment {
                Ailment::LittleText => Loss::LittleText,
                Ailment::MixedColumns => Loss::MixedColumns,
            };
            parsed.batch.losses.add(loss, place.clone());
        }
        let paper = match self.text(path) {
            Ok(Extracted::Text(text)) => {
                let PaperText { text, marks, entries } = papers::read(&text, &self.titles);
                papers::paper(Document { text, ..document }, marks, entries, &name(path), &mut parsed.batch.losses)
            }
            Ok(Extracted::Tei(tei)) => match self.tei(&tei, parsed) {
                Ok(paper) => {
                    if paper.entries.is_empty() {
                        parsed.batch.losses.add(Loss::NoReferenceList, name(path));
                    }
                    Paper { document: Document { text: paper.document.text, ..document }, ..paper }
                }
                Err(problem) => return Err(unread(problem, document, parsed)),
            },
            // It was read a moment ago: a disk that fails, or a file that was taken away.
            Err(problem) => return Err(unread(problem, document, parsed)),
        };
        // Of a scan, the bibliography knows more.
        if paper.document.text.trim().is_empty() { Err(Box::new(paper.document)) } else { Ok(paper) }
    }
}

impl Pages for Library {
    fn len(&self) -> usize {
        self.works.len()
    }

    fn stop(&self) -> Option<&AtomicBool> {
        Some(self.extractor.stop())
    }

    fn digest(&self) -> u64 {
        let mut digest = InputDigest::default();
        self.works.iter().for_each(|work| digest.name(&work.key));
        self.files.iter().flatten().for_each(|path| digest.file(&name(path), path));
        digest.finish()
    }

    fn parse_page(&self, index: usize, parsed: &mut Parsed) {
        if index == 0 {
            parsed.batch.losses.merge(self.losses.clone());
        }
        let work = &self.works[index];
        let is_own = index < self.own;
        let labels = if is_own { work.keywords.clone() } else { vec![CITED_ONLY.to_owned()] };
        let document = Document {
            id: work.key.clone(),
            title: work.title.clone(),
            authors: work.authors.clone(),
            date: work.date,
            language: work.language.as_deref().and_then(crate::document::language_tag),
            labels,
            url: work.address(),
            origin: work.place.clone(),
            ..Document::default()
        };
        match self.paper(index, document, parsed) {
            Ok(mut paper) => {
                for (_, entry) in &mut paper.entries {
                    if let Some(work) = self.forms.meant(entry).and_then(|at| self.works.get(at)) {
                        let BibRecord { title, authors, year, .. } = work.record();
                        *entry = BibRecord { title, authors, year, ..std::mem::take(entry) };
                    }
                }
                paper.link(&self.catalogue, parsed);
            }
            Err(document) => {
                if is_own && work.summary.is_none() && work.title.is_some() {
                    parsed.batch.losses.add(Loss::TitleOnly, format!("{} ({})", work.key, work.place));
                }
                parsed.batch.documents.push(Document { text: work.words(), ..*document });
            }
        }
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

type WorksAndFiles = (Vec<Work>, Vec<Option<PathBuf>>);

/// A folder of PDFs: a work each, called by its path.
fn pdfs(inputs: &[PathBuf], options: &ImportOptions, losses: &mut Losses) -> Result<WorksAndFiles> {
    let ImportOptions { include, exclude, .. } = options;
    let wanted = WantedFiles { what: "PDFs", endings: &["pdf"], include, exclude };
    let tree = FileTree::open(inputs, &wanted, |path| without_ending(path).to_owned())?;
    losses.merge(tree.losses.clone());
    let work =
        |page: &super::tree::TreeFile| Work { key: page.id.clone(), place: page.path.clone(), ..Work::default() };
    Ok(tree.pages.iter().map(|page| (work(page), Some(page.file.clone()))).unzip())
}

/// The works of all bibliographies, each key once, with the files that they name.
fn bibliographies(inputs: &[PathBuf], options: &ImportOptions, losses: &mut Losses) -> Result<WorksAndFiles> {
    let mut all: Vec<(Work, PathBuf)> = Vec::new();
    let mut folders = Vec::new();
    for input in inputs {
        let (works, folder) = bibliography(input, losses)?;
        folders.push(folder.clone());
        all.extend(works.into_iter().map(|work| (work, folder.clone())));
    }
    let shelves = Shelves::open(&folders, &options.files, losses)?;
    let mut seen = HashSet::new();
    let (mut works, mut files) = (Vec::new(), Vec::new());
    for (mut work, folder) in all {
        work.key = safe_id(&work.key);
        work.title = work.title.map(|title| collapsed(&work::unformatted(&title)));
        work.summary = work.summary.map(|summary| work::unformatted(&summary));
        if !seen.insert(work.key.clone()) {
            losses.add(Loss::DuplicateId, format!("{} ({})", work.key, work.place));
            continue;
        }
        files.push(shelves.named(&work, &folder, losses));
        works.push(work);
    }
    if works.is_empty() {
        let place = inputs.iter().map(|input| input.display().to_string()).collect::<Vec<_>>().join(", ");
        return Err(Error::input(place, "expected entries of works, found none"));
    }
    Ok((works, files))
}

/// The works of one input, and the folder from which it names files.
fn bibliography(input: &Path, losses: &mut Losses) -> Result<(Vec<Work>, PathBuf)> {
    let place = || input.display().to_string();
    if input.is_dir() {
        return match zotero::read(input, losses) {
            Some(works) => Ok((works.map_err(|what| Error::input(place(), what))?, input.to_owned())),
            None => {
                let what = "expected a bibliography (.bib, .json, .csv, .ris) or Zotero's data directory, which holds zotero.sqlite";
                Err(Error::input(place(), what))
            }
        };
    }
    let bytes = source::read_file(input, LARGEST).map_err(Error::io("read", input))?;
    let bytes = bytes.ok_or_else(|| Error::input(place(), "expected a bibliography of at most 1 GB, found more"))?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            losses.add(Loss::ReplacedBytes, format!("{}: not UTF-8, read as Windows-1252", name(input)));
            WINDOWS_1252.decode(error.as_bytes()).0.into_owned()
        }
    };
    let called = name(input);
    let bare = source::split_packed(&called).0.to_owned();
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let works = match () {
        () if has_ending(&bare, &["json"]) || start.starts_with(['[', '{']) => csl::read(start, &called, losses),
        () if has_ending(&bare, &["csv"]) => csv::read(&text, &called, losses),
        () if has_ending(&bare, &["ris"]) || start.starts_with("TY  -") => ris::read(&text, &called, losses),
        () => Ok(bib::read(&text, &called, losses)),
    };
    let works = works.map_err(|what| Error::input(place(), what))?;
    if works.is_empty() {
        return Err(Error::input(place(), "expected entries such as @article{key, title = {…}}, found none"));
    }
    let folder = input.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((works, folder.to_owned()))
}
