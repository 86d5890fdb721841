//! Drafts and the links suggested for them as JSON: one set of types for `--json`, the server and agents.

use hyperdoc2vec::recommend::{DraftFormat, Edit, NeverLink, SuggestOptions, Suggestion, Suggestions};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::draft_lines::DraftLines;
use crate::wire::{one_of, whole};

/// Phrases, ids and labels never to be linked, at the most.
pub const MOST_NEVER: usize = 1000;

fn markdown() -> DraftFormat {
    DraftFormat::Markdown
}

fn probability() -> f32 {
    SuggestOptions::default().min_probability
}

fn max() -> usize {
    SuggestOptions::default().max
}

fn format<'de, D: Deserializer<'de>>(from: D) -> Result<DraftFormat, D::Error> {
    let name = String::deserialize(from)?;
    name.parse().map_err(|_| D::Error::custom(format!("no format is called {name:?}")))
}

/// A draft that links are wanted for
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Draft)]
pub struct DraftJson {
    /// The draft
    #[schema(example = "The decoder runs a beam search over words.")]
    pub text: String,
    /// How it is written
    #[serde(default = "markdown", deserialize_with = "format")]
    #[schema(value_type = Format, default = "markdown")]
    pub format: DraftFormat,
    /// Its path, or the id of the document that it is: what that links to already is known then, and links are written
    /// relative to it
    #[serde(default)]
    pub path: Option<String>,
    /// The minimum probability of a suggestion
    #[serde(default = "probability")]
    #[schema(default = probability, minimum = 0, maximum = 1)]
    pub min_probability: f32,
    /// The maximum number of suggestions
    #[serde(default = "max", deserialize_with = "whole")]
    #[schema(default = max, maximum = 1000)]
    pub max: usize,
    /// Titles, ids, labels and phrases that are never linked
    #[serde(default)]
    pub never: Vec<String>,
}

impl DraftJson {
    /// The library's options. No files are looked for: the path is a stranger's.
    pub fn options(&self) -> SuggestOptions {
        let options = SuggestOptions::new(self.format).min_probability(self.min_probability).max(self.max);
        let options = options.never_link(NeverLink::read(&self.never.join("\n")));
        match &self.path {
            Some(path) => options.path(path),
            None => options,
        }
    }

    /// The links suggested for it.
    pub fn suggested(&self, found: &Suggestions) -> SuggestedLinks {
        SuggestedLinks::new(self.path.as_deref().unwrap_or("draft"), self.format, &self.text, found)
    }

    /// Its fault, if it has one.
    pub fn check(&self) -> Result<(), String> {
        if !(0.0..=1.0).contains(&self.min_probability) {
            return Err("`min_probability` must be between 0 and 1".to_owned());
        }
        if self.never.len() > MOST_NEVER {
            return Err(format!("`never` has more than {MOST_NEVER} entries"));
        }
        Ok(())
    }
}

/// The schema of a [`DraftFormat`].
pub struct Format;

impl PartialSchema for Format {
    fn schema() -> RefOr<Schema> {
        one_of::<DraftFormat>("A format of drafts")
    }
}

impl ToSchema for Format {}

/// The links suggested for a draft, in the order of the text
#[derive(Debug, Serialize, ToSchema)]
pub struct SuggestedLinks {
    pub path: String,
    #[schema(value_type = Format)]
    pub format: &'static str,
    /// The id of the document that the draft is, if the model has it
    pub source: Option<String>,
    pub suggestions: Vec<SuggestedLink>,
}

/// A link that a draft could have
#[derive(Debug, Serialize, ToSchema)]
pub struct SuggestedLink {
    /// Line and column of its first character, from 1; columns count characters
    pub line: usize,
    pub column: usize,
    pub end_line: usize,
    pub end_column: usize,
    /// The bytes of its words in UTF-8, from 0
    pub start: usize,
    pub end: usize,
    /// Its words, or the mark that asks for a link
    pub words: String,
    /// The document that it would lead to
    pub id: String,
    pub title: String,
    /// Of a link here, to this document
    pub probability: f32,
    /// Probability of a link here
    pub place: f32,
    /// Probability of this document, given that a link is here
    pub target: f32,
    /// Why it is suggested
    pub why: String,
    /// Whether the draft asks for a link here
    pub wanted: bool,
    /// Other documents, if it does
    pub others: Vec<OtherTarget>,
    /// Changes that put the link in
    pub edits: Vec<EditJson>,
}

/// Another document that a link could lead to
#[derive(Debug, Serialize, ToSchema)]
pub struct OtherTarget {
    pub id: String,
    pub probability: f32,
}

/// A change of a text
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Edit)]
pub struct EditJson {
    /// The bytes in UTF-8 that are replaced; none where text is only put in
    pub start: usize,
    pub end: usize,
    /// The text that replaces them
    pub text: String,
}

impl SuggestedLinks {
    /// Those of a text.
    pub fn new(path: &str, format: DraftFormat, text: &str, found: &Suggestions) -> SuggestedLinks {
        let lines = DraftLines::new(text);
        SuggestedLinks {
            path: path.to_owned(),
            format: format.into(),
            source: found.source.clone(),
            suggestions: found.links.iter().map(|link| SuggestedLink::new(link, &lines)).collect(),
        }
    }
}

impl SuggestedLink {
    fn new(link: &Suggestion, lines: &DraftLines<'_>) -> SuggestedLink {
        let (line, column) = lines.place(link.span.start);
        let (end_line, end_column) = lines.place(link.span.end);
        let edit = |edit: &Edit| EditJson { start: edit.span.start, end: edit.span.end, text: edit.text.clone() };
        SuggestedLink {
            line,
            column,
            end_line,
            end_column,
            start: link.span.start,
            end: link.span.end,
            words: link.words.clone(),
            id: link.id.clone(),
            title: link.title.clone(),
            probability: link.probability,
            place: link.place,
            target: link.of_target,
            why: link.why(),
            wanted: link.wanted,
            others: link.others.iter().map(|(id, p)| OtherTarget { id: id.clone(), probability: *p }).collect(),
            edits: link.edits.iter().map(edit).collect(),
        }
    }
}

/// The text of a document
#[derive(Debug, Serialize, ToSchema)]
pub struct DocumentText {
    pub id: String,
    /// Plain text; links in it are marked as `[words][[id]]`
    pub text: String,
}
