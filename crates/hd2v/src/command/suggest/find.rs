//! Asks for the links of one file.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use hyperdoc2vec::draft::{Draft, DraftFormat};
use hyperdoc2vec::places::{
    DocumentNames, Edit, LinkWriter, NeverLink, SuggestOptions, Suggester, Suggestion, WantedAnswer, apply,
};
use hyperdoc2vec::recommend::Recommender;
use hyperdoc2vec::{DocRow, Model};

use crate::command::drafts::{Lines, Tree, linked, read_draft};
use crate::wire_draft::DraftJson;

/// Hits listed for a place that asks for a link.
const HITS: usize = 3;

/// The request that all files share.
pub struct Asked<'a> {
    pub suggester: &'a Suggester<'a>,
    pub names: &'a DocumentNames<'a>,
    pub never: NeverLink,
    pub only: Vec<DocRow>,
    pub min_probability: f32,
    pub max: usize,
    pub any_date: bool,
    /// Whether files beside a draft may be looked for, so that links lead to them: not where a stranger names the path.
    pub files: bool,
    /// Only places within these bytes, if given.
    pub within: Option<std::ops::Range<usize>>,
}

/// A suggestion, ready to be shown.
pub struct Found {
    /// The bytes of its words.
    pub span: std::ops::Range<usize>,
    /// Line and column of its first character, counting from 1; columns count characters.
    pub line: usize,
    pub column: usize,
    pub end_line: usize,
    pub end_column: usize,
    /// The words, or the mark that asks for a link.
    pub words: String,
    pub id: String,
    pub title: String,
    pub probability: f32,
    pub place: f32,
    pub of_target: f32,
    pub why: String,
    /// Whether the draft asks for a link here.
    pub wanted: bool,
    /// Other documents for a place that asks for one.
    pub others: Vec<(String, f32)>,
    pub edits: Vec<Edit>,
}

/// A file, with all that is suggested for it.
pub struct FileResult {
    pub path: PathBuf,
    pub text: String,
    pub format: DraftFormat,
    pub source: Option<String>,
    pub found: Vec<Found>,
    pub edits: Vec<Edit>,
}

impl FileResult {
    pub fn count(&self) -> usize {
        self.found.len()
    }

    /// The text with the links in it.
    pub fn written(&self) -> String {
        apply(&self.text, &self.edits)
    }
}

/// The documents that may be suggested; all where the list is empty.
pub fn only(model: &Model, orphans: bool, target: Option<&str>) -> Result<Vec<DocRow>> {
    if let Some(id) = target {
        return Ok(vec![DocRow(Recommender::new(model).document_row(id)? as u32)]);
    }
    if !orphans {
        return Ok(Vec::new());
    }
    let orphans: Vec<DocRow> =
        (0..).zip(model.links_to()).filter(|&(_, &links)| links == 0).map(|(row, _)| DocRow(row)).collect();
    if orphans.is_empty() {
        return Err(anyhow!("{}: every document has a link to it", model.path().display()));
    }
    Ok(orphans)
}

impl<'a> Asked<'a> {
    /// The request of one draft.
    pub fn for_draft(suggester: &'a Suggester<'a>, names: &'a DocumentNames<'a>, draft: &DraftJson) -> Asked<'a> {
        Asked {
            suggester,
            names,
            never: NeverLink::read(&draft.never.join("\n")),
            only: Vec::new(),
            min_probability: draft.min_probability,
            max: draft.max,
            any_date: false,
            files: false,
            within: None,
        }
    }
}

impl Asked<'_> {
    /// Reads a file and asks for its links.
    pub fn file(&self, path: &Path, format: DraftFormat) -> Result<FileResult> {
        let text = read_draft(path)?;
        Ok(self.text(path, text, format)?)
    }

    /// Asks for the links of a text.
    pub fn text(&self, path: &Path, text: String, format: DraftFormat) -> hyperdoc2vec::Result<FileResult> {
        let model = self.suggester.model();
        let shown = path.display().to_string();
        let draft = Draft::read(&text, format, self.suggester.tokenizer(), &shown)?;
        let source = self.names.of_path(&shown);
        let linked = linked(&draft, self.names, source);
        let title = source.map(|row| model.titles().get(row.index()).to_owned()).or_else(|| draft.title.clone());
        let until = source.filter(|_| !self.any_date).and_then(|row| model.date(row.index()));
        let options = SuggestOptions {
            source,
            linked,
            title: title.unwrap_or_default(),
            until,
            min_probability: self.min_probability,
            max: self.max,
            never: self.never.clone(),
            only: self.only.clone(),
            within: self.within.clone(),
        };
        let tree = self.files.then(|| Tree::of(path, format, model, source)).flatten();
        let mut writer = LinkWriter::new(model, self.names, &text, &draft, source);
        if let Some(tree) = &tree {
            writer = writer.in_tree(&tree.folder, |id| tree.file(id));
        }
        let lines = Lines::new(&text);
        let mut found: Vec<Found> = Vec::new();
        for suggestion in self.suggester.suggest(&text, &draft, &options)? {
            let edits = writer.suggestion(&text, &suggestion);
            found.push(self.found(&text, &lines, &suggestion, edits));
        }
        if self.only.is_empty() {
            for answer in self.suggester.answer_wanted(&draft, &options, HITS)? {
                let WantedAnswer { wanted, hits } = answer;
                let place = &draft.wanted[wanted];
                let Some(&(row, probability)) = hits.first() else { continue };
                let edits =
                    if probability >= self.min_probability { vec![writer.wanted(place, row)] } else { Vec::new() };
                let (line, column) = lines.place(&text, place.span.start);
                let (end_line, end_column) = lines.place(&text, place.span.end);
                let id = |row: DocRow| model.names().get(row.index()).to_owned();
                found.push(Found {
                    span: place.span.clone(),
                    line,
                    column,
                    end_line,
                    end_column,
                    words: text[place.span.clone()].to_owned(),
                    id: id(row),
                    title: model.titles().get(row.index()).to_owned(),
                    probability,
                    place: 1.0,
                    of_target: probability,
                    why: "the draft asks for a link here".to_owned(),
                    wanted: true,
                    others: hits[1..].iter().map(|&(row, probability)| (id(row), probability)).collect(),
                    edits,
                });
            }
        }
        found.sort_by_key(|one| (one.line, one.column));
        let mut edits: Vec<Edit> = found.iter().flat_map(|one| one.edits.iter().cloned()).collect();
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        let source = source.map(|row| model.names().get(row.index()).to_owned());
        Ok(FileResult { path: path.to_owned(), text, format, source, found, edits })
    }

    fn found(&self, text: &str, lines: &Lines, suggestion: &Suggestion, edits: Vec<Edit>) -> Found {
        let model = self.suggester.model();
        let one = &suggestion.candidate;
        let (line, column) = lines.place(text, suggestion.span.start);
        let (end_line, end_column) = lines.place(text, suggestion.span.end);
        let (documents, linking) = one.documents;
        let why = match (documents, linking) {
            (0, _) if suggestion.span.is_empty() => "by the words around it".to_owned(),
            (_, 0) => "the words name it".to_owned(),
            _ => format!("a link in {linking} of the {documents} documents with these words"),
        };
        Found {
            span: suggestion.span.clone(),
            line,
            column,
            end_line,
            end_column,
            words: text[suggestion.span.clone()].split_whitespace().collect::<Vec<_>>().join(" "),
            id: model.names().get(one.target.index()).to_owned(),
            title: model.titles().get(one.target.index()).to_owned(),
            probability: suggestion.probability,
            place: one.place,
            of_target: one.of_target,
            why,
            wanted: false,
            others: Vec::new(),
            edits,
        }
    }
}
