//! Plain text of papers, one file each, and a table of metadata: the result of turning PDFs into text.
//!
//! A file is read in these steps: noise of the extraction is taken out (`clean`), the reference section is found
//! (`section`) and cut into entries (`split`), which are read (`reference::entry`); broken lines are put together
//! (`paragraphs`); marks are found and matched to entries (`cite`, `marks`, `author_year`). Which document of the set an
//! entry means is the linker's part; the table is its catalogue.
//!
//! Documents come in the order of the table. A row without a text is a document with its title as its text: others
//! cite it. A text without a row is left out: nothing could name it. Both are counted. The reference section is no
//! text, and no mark is; what stands after the references (an appendix) is. Of `Smith and Doe (2018)` the names stay.
//!
//! Ours: no crate does this. Where PDFs are at hand, GROBID and the format `tei` do it better.

mod author_year;
mod cite;
mod cited_names;
mod clean;
mod heads;
mod labels;
mod marks;
mod paragraphs;
mod people;
mod section;
mod small_caps;
mod split;
mod table;
mod torn;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::Parsed;
use super::reference::entry::BibliographyEntry;
use super::reference::{BibRecord, Catalogue, CatalogueBuilder, Mark, Paper};
use super::shares::InputDigest;
use super::tree::{FileTree, Pages, WantedFiles};
use crate::document::Document;
use crate::document::losses::{Loss, Losses};
use crate::error::{Error, Result};
pub(super) use clean::decode;
use marks::FoundMark;
pub(super) use paragraphs::Seen;
use table::Row;

/// Papers that are read before the others, to learn where the papers of the set appeared.
const SAMPLE: usize = 200;

/// Endings of texts.
pub(super) const ENDINGS: [&str; 2] = ["txt", "text"];

/// Texts and their table, found but not yet read.
pub struct Papers {
    tree: FileTree,
    rows: Vec<Row>,
    /// The text of each row, by its place in the tree.
    files: Vec<Option<usize>>,
    catalogue: Catalogue,
    /// Words of all titles.
    titles: Seen,
    losses: Losses,
}

impl Papers {
    /// Walks `roots` (directories or single texts) and reads the table; an error if no text has a row.
    pub fn open(roots: &[PathBuf], metadata: &Path, include: &[String], exclude: &[String]) -> Result<Papers> {
        let mut losses = Losses::default();
        let rows = table::read(metadata, &mut losses)?;
        let wanted = WantedFiles { what: "texts", endings: &ENDINGS, include, exclude };
        let tree = FileTree::open(roots, &wanted, str::to_owned).map_err(|error| with_hint(error, roots))?;
        let mut by_name: HashMap<&str, usize> = HashMap::new();
        for (at, page) in tree.pages.iter().enumerate() {
            let path = page.path.as_str();
            let bare = path.rsplit_once('.').map_or(path, |(bare, _)| bare);
            for name in [path, bare, path.rsplit('/').next().unwrap_or(path), bare.rsplit('/').next().unwrap_or(bare)] {
                by_name.entry(name).or_insert(at);
            }
        }
        let mut used = vec![false; tree.pages.len()];
        let mut files = Vec::with_capacity(rows.len());
        for row in &rows {
            let flat = row.id.replace(['/', ':', '\\'], "_");
            let names = [row.file.as_deref().unwrap_or_default(), &row.id, &flat];
            let file = names.iter().find_map(|name| by_name.get(name)).copied().filter(|&at| !used[at]);
            if let Some(at) = file {
                used[at] = true;
            }
            files.push(file);
        }
        for (page, _) in tree.pages.iter().zip(&used).filter(|(_, used)| !**used) {
            losses.add(Loss::TextWithoutRow, page.path.clone());
        }
        if !used.contains(&true) {
            let (file, id) = (&tree.pages[0].path, &rows[0].id);
            let what = format!(
                "no text has a row: the table has ids such as {id:?}, the texts are called {file:?} and the like; \
                 a text is called ID.txt, or is named in a column `file`"
            );
            return Err(Error::input(metadata.display().to_string(), what));
        }
        let mut catalogue = CatalogueBuilder::default();
        let mut titles = Seen::default();
        for row in &rows {
            catalogue.add(&row.id, &row.record());
            row.title.iter().flat_map(|title| title.split(' ')).for_each(|word| titles.add(word));
        }
        let mut papers = Papers { tree, rows, files, catalogue: Catalogue::default(), titles, losses };
        let mut catalogue = catalogue.finish();
        let step = papers.files.len().div_ceil(SAMPLE);
        let sample =
            papers.files.iter().step_by(step.max(1)).filter_map(|file| papers.text((*file)?, &mut Parsed::default()));
        catalogue.learn_venue(sample.flat_map(|text| read(&text, &papers.titles).entries).map(BibRecord::from));
        papers.catalogue = catalogue;
        Ok(papers)
    }
}

impl Pages for Papers {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn digest(&self) -> u64 {
        let mut digest = InputDigest::default();
        self.rows.iter().for_each(|row| digest.name(&row.id));
        self.tree.digest(digest)
    }

    fn parse_page(&self, index: usize, parsed: &mut Parsed) {
        if index == 0 {
            parsed.batch.losses.merge(self.losses.clone());
        }
        let row = &self.rows[index];
        let document = Document {
            id: row.id.clone(),
            title: row.title.clone(),
            authors: row.authors.clone(),
            date: row.date,
            language: row.language.clone(),
            labels: row.labels.clone(),
            url: row.url.clone(),
            text: String::new(),
            links: Vec::new(),
            origin: row.place.clone(),
        };
        let text = self.files[index].and_then(|file| self.text(file, parsed));
        let Some(text) = text else {
            parsed.batch.losses.add(Loss::TitleOnly, format!("{} ({})", row.id, row.place));
            let text = row.title.clone().unwrap_or_default();
            return parsed.batch.documents.push(Document { text, ..document });
        };
        let origin = self.files[index].map_or_else(String::new, |file| self.tree.pages[file].path.clone());
        let PaperText { text, marks, entries } = read(&text, &self.titles);
        let document = Document { text, origin: origin.clone(), ..document };
        paper(document, marks, entries, &origin, &mut parsed.batch.losses).link(&self.catalogue, parsed);
    }
}

/// A paper whose entries are called by their numbers; counts what is amiss with its references.
pub(super) fn paper(
    document: Document,
    mut marks: Vec<Mark>,
    entries: Vec<BibliographyEntry>,
    origin: &str,
    losses: &mut Losses,
) -> Paper {
    if entries.is_empty() {
        losses.add(Loss::NoReferenceList, origin);
    } else if marks.iter().all(|mark| mark.keys.is_empty()) {
        losses.add(Loss::NoMarks, format!("{origin} ({} references)", entries.len()));
    }
    let names: Vec<String> = (1..=entries.len()).map(|number| format!("entry {number}")).collect();
    let named = |key: &mut String| {
        if let Some(name) = key.parse().ok().and_then(|at: usize| names.get(at)) {
            name.clone_into(key);
        }
    };
    marks.iter_mut().flat_map(|mark| &mut mark.keys).for_each(named);
    let entries = names.iter().cloned().zip(entries.into_iter().map(BibRecord::from)).collect();
    Paper { document, marks, entries }
}

impl Papers {
    /// The text of a file, or nothing if it cannot be read or is none.
    fn text(&self, file: usize, parsed: &mut Parsed) -> Option<String> {
        let bytes = self.tree.read(file, &mut parsed.batch.losses)?;
        let place = &self.tree.pages[file].path;
        match decode(&bytes) {
            Ok((text, replaced)) => {
                if replaced {
                    parsed.batch.losses.add(Loss::ReplacedBytes, place.clone());
                }
                Some(text.into_owned())
            }
            Err(why) => {
                parsed.batch.losses.add(Loss::MalformedRecord, format!("{place}: {why}"));
                None
            }
        }
    }
}

/// Of PDFs the texts must be taken out first.
fn with_hint(error: Error, roots: &[PathBuf]) -> Error {
    let is_pdf = |path: &Path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("pdf"));
    let mut files = roots.iter().flat_map(|root| walkdir::WalkDir::new(root).into_iter().flatten());
    match error {
        Error::Input { place, what } if files.any(|file| is_pdf(file.path())) => {
            Error::Input { place, what: format!("{what}, but PDFs; take their text out first (pdftotext)") }
        }
        error => error,
    }
}

/// A paper as it is read from its text.
pub struct PaperText {
    /// The text without marks and references, a paragraph a line.
    pub text: String,
    /// Marks, whose keys are the places of entries in the list.
    pub marks: Vec<Mark>,
    /// The list of references.
    pub entries: Vec<BibliographyEntry>,
}

/// Reads the text of one paper by itself; words that are parted at line ends are looked up in the paper only.
pub fn read_text(text: &str) -> PaperText {
    read(text, &Seen::default())
}

pub(super) fn read(text: &str, titles: &Seen) -> PaperText {
    let mut lines = clean::lines(text);
    let seen = Seen::of_lines(&lines);
    let seen = [&seen, titles];
    let found = section::find(&mut lines);
    let entries =
        found.as_ref().map(|section| split::entries(&lines[section.entries.clone()], &seen)).unwrap_or_default();
    // A section without an entry is text.
    let whole = match found.filter(|_| !entries.is_empty()) {
        Some(section) => {
            let mut text = paragraphs::paragraphs(&lines[..section.start], &seen);
            let after = paragraphs::paragraphs(&lines[section.entries.end..], &seen);
            if !text.is_empty() && !after.is_empty() {
                text.push('\n');
            }
            text.push_str(&after);
            text
        }
        None => paragraphs::paragraphs(&lines, &seen),
    };
    let (text, marks) = cut(&whole, cite::marks(&whole, &entries));
    PaperText { text, marks, entries }
}

/// The text without its marks, and where they stood.
fn cut(text: &str, found: Vec<FoundMark>) -> (String, Vec<Mark>) {
    let mut out = String::with_capacity(text.len());
    let mut marks = Vec::with_capacity(found.len());
    let mut from = 0;
    for FoundMark { range, entries } in found {
        out.push_str(&text[from..range.start]);
        from = range.end;
        // Of the blanks on both sides one is enough, before a full stop none.
        let rest = &text[from..];
        if rest
            .chars()
            .next()
            .is_none_or(|c| c.is_whitespace() || matches!(c, '.' | ',' | ';' | ':' | ')' | ']' | '?' | '!'))
        {
            out.truncate(out.trim_end_matches(' ').len());
        }
        marks.push(Mark::new(out.len(), entries.iter().map(usize::to_string).collect(), &text[range]));
    }
    out.push_str(&text[from..]);
    (out, marks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Link, markup};

    /// The text with the numbers of entries in the place of marks.
    fn shown(text: &str) -> String {
        let PaperText { text, marks, .. } = read_text(text);
        let link = |mark: &Mark| {
            let targets =
                mark.keys.iter().map(|key| format!("{}", key.parse::<usize>().expect("a number") + 1)).collect();
            Link { at: mark.at, anchor: mark.at, targets }
        };
        let links: Vec<Link> = marks.iter().filter(|mark| !mark.keys.is_empty()).map(link).collect();
        markup::render(&text, &links).into_owned()
    }

    #[test]
    fn a_paper_becomes_text_with_links_and_without_references() {
        let text = "A Title\n\nWe parse riv-\ners as before [1, 2]. In Tal [2],\ntides turn ([1]).\n\nReferences\n[1] M. Lindqvist. Parsing rivers. 2016.\n[2] O. Tal. A grammar\nof tides. 2011.\n\nA Proofs of all\n\nBy [1].";
        assert_eq!(
            shown(text),
            "A Title\nWe parse rivers as before[[1|2]]. In Tal[[2]], tides turn[[1]].\nA Proofs of all\nBy[[1]]."
        );
    }

    #[test]
    fn names_outside_the_bracket_stay() {
        let text = "As Lindqvist and Tal (2016) say, rivers flow (see Tal, 2011, p. 3).\nReferences\nLindqvist, M. and Tal, O. 2016. Parsing rivers. Rivers 1.\nTal, O. 2011. A grammar of tides. Shores 2.";
        assert_eq!(shown(text), "As Lindqvist and Tal[[1]] say, rivers flow[[2]].");
    }

    #[test]
    fn a_text_without_references_has_no_marks() {
        assert_eq!(shown("Only text [1] and (Doe, 2001)."), "Only text [1] and (Doe, 2001).");
        assert_eq!(shown(""), "");
    }

    /// Papers of these texts with a table of their ids.
    fn import(texts: &[(&str, &str)]) -> Result<Parsed> {
        let dir = tempfile::tempdir().expect("a directory");
        let mut table = String::from("id,title,authors,year\n");
        for (name, text) in texts {
            std::fs::write(dir.path().join(name), text).expect("written");
            let id = name.split('.').next().expect("an id");
            table.push_str(&format!("{id},Title of number {id},Doe,2001\n"));
        }
        let metadata = dir.path().join("table.csv");
        std::fs::write(&metadata, table).expect("written");
        let papers = Papers::open(&[dir.path().to_owned()], &metadata, &[], &[])?;
        Ok(papers.parse(0..papers.len()))
    }

    #[test]
    fn a_list_that_no_mark_names_is_counted_and_a_lost_mark_is_shown() {
        let list = "References\n[1] M. Lindqvist. Parsing rivers. 2016.\n[2] O. Tal. A grammar of tides. 2011.\n";
        let texts = [
            ("a.txt", format!("Nothing is cited.\n\n{list}")),
            ("b.txt", format!("This is cited [1] and so is that (Nobody, 1950).\n\n{list}")),
        ];
        let parsed = import(&texts.each_ref().map(|(name, text)| (*name, text.as_str()))).expect("papers");
        let samples =
            |loss| parsed.batch.losses.iter().find(|(kind, _)| *kind == loss).expect("a loss").1.samples.clone();
        assert_eq!(samples(Loss::NoMarks), ["a.txt (2 references)"]);
        assert_eq!(samples(Loss::MarkWithoutTarget), ["(Nobody, 1950) in b"]);
        assert_eq!(samples(Loss::UnmatchedReference), ["entry 1 in b: M. Lindqvist. Parsing rivers. 2016."]);
    }

    #[test]
    fn a_folder_of_pdfs_is_told_what_to_do() {
        let error = import(&[("a.pdf", "%PDF-1.4")]).expect_err("no texts").to_string();
        assert!(error.contains("pdftotext"), "{error}");
    }

    #[test]
    fn five_thousand_entries_and_marks_are_read_in_time_that_grows_with_them() {
        let names = ["Lindqvist", "Larsen", "Tal", "Tanaka"];
        let entry = |n: usize| format!("{}{}, J. 2001. Title number {n} of them.\n", names[n % 4], letters(n));
        let list: String = (0..5000).map(entry).collect();
        let marks: String = (0..5000).map(|n| format!("word ({}{}, 2001) ", names[n % 4], letters(n))).collect();
        let read = read_text(&format!("{marks}\nReferences\n{list}"));
        assert_eq!((read.entries.len(), read.marks.iter().filter(|mark| mark.keys.len() == 1).count()), (5000, 5000));
        // No blank, no end.
        let read = read_text(&format!("{}\nReferences\n[1] J. Doe. Title. 2001.\n", "[1](".repeat(50_000)));
        assert_eq!(read.entries.len(), 1);
    }

    /// A number in letters.
    fn letters(n: usize) -> String {
        [n / 676, n / 26 % 26, n % 26].iter().map(|&n| (b'a' + n as u8) as char).collect()
    }
}
