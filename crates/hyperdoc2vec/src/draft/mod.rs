//! Drafts: texts as people write them, read as their format says, with the bytes where each word stands.
//!
//! A [`Draft`] has the words that readers see, the links it has already, with their targets as written, and the places
//! that ask for one: `[[?]]`, `[?]`, `\cite{?}`, `\cite{TODO}`. Words of headings, quotations, inline code and links are
//! known as such: no link is to be put there. Blocks of code, formulas, front matter, comments and markup have no words.
//! Every reader takes time in proportion to the text, and reads anything: what it does not understand is text.

mod builder;
mod html;
pub(crate) mod latex;
pub(crate) mod markdown;
mod mediawiki;
mod plain;
mod rst;
pub(crate) mod template;
#[cfg(test)]
mod tests;

use std::ops::Range;

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::document::{Document, Tokenizer};
use crate::error::{Error, Result};
use crate::id::DocRow;
use builder::DraftBuilder;

/// Drafts that are longer, in bytes, are refused.
pub const LONGEST_DRAFT: usize = 16 << 20;

/// A format that drafts are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum DraftFormat {
    /// Markdown, with wiki links, front matter, formulas and pandoc's citations.
    Markdown,
    /// LaTeX.
    Latex,
    /// reStructuredText.
    Rst,
    /// HTML.
    Html,
    /// The text of a wiki page.
    Mediawiki,
    /// Plain text, with the links that our own jsonl format has.
    Plain,
}

impl DraftFormat {
    /// The format that the ending of a path says; `None` for an ending of no format.
    pub fn of_path(path: &str) -> Option<DraftFormat> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let ending = name.rsplit_once('.')?.1.to_ascii_lowercase();
        Some(match ending.as_str() {
            "md" | "markdown" | "mdx" | "qmd" | "rmd" => DraftFormat::Markdown,
            "tex" | "ltx" | "latex" => DraftFormat::Latex,
            "rst" | "rest" => DraftFormat::Rst,
            "html" | "htm" | "xhtml" => DraftFormat::Html,
            "wiki" | "mediawiki" | "wikitext" => DraftFormat::Mediawiki,
            "txt" | "text" => DraftFormat::Plain,
            _ => return None,
        })
    }
}

/// The kind of text that a word is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum TextKind {
    /// Running text: the only kind that links may be put into.
    Prose,
    /// A heading.
    Heading,
    /// A quotation.
    Quote,
    /// Code within text, and what cannot be parted: addresses, names of files, options of programs.
    Code,
    /// The words of a link.
    Link,
}

/// A word of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DraftWord {
    /// The word as a model knows it.
    pub text: Box<str>,
    /// The bytes it is written as.
    pub start: u32,
    /// Where these end.
    pub end: u32,
    /// The kind of text that it is part of.
    pub kind: TextKind,
    /// The number of its block: a paragraph, an item, a cell.
    pub block: u32,
    /// Whether it may be of one phrase with the word before it: nothing but white space or what stands inside names is
    /// between them.
    pub joined: bool,
    /// Whether a sentence begins with it.
    pub first: bool,
}

impl DraftWord {
    /// The bytes it is written as.
    pub fn span(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// How a link is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum LinkSyntax {
    /// `[words](target)`, `<a href="target">words</a>`, `` `words <target>`_ ``, `\href{target}{words}`.
    Inline,
    /// `[[target]]`, `[[target|words]]`, `[words][[target]]`.
    Wiki,
    /// `\cite{key,key}`, `[@key; @key]`, `[key]_`.
    Citation,
}

/// A link that a draft has.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DraftLink {
    /// The bytes it is written as, marks included.
    pub span: Range<usize>,
    /// Its words, by their numbers; empty for one without.
    pub words: Range<usize>,
    /// Its targets as written.
    pub targets: Vec<String>,
    /// How it is written.
    pub syntax: LinkSyntax,
}

/// A place that asks for a link.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WantedLink {
    /// The bytes of its mark.
    pub span: Range<usize>,
    /// The bytes that the target is to replace: `?` of `\cite{?}`; the whole mark otherwise.
    pub hole: Range<usize>,
    /// How many words stand before it.
    pub word: usize,
    /// How it is written.
    pub syntax: LinkSyntax,
}

/// Facts about a draft besides its words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DraftSource {
    /// The document that it is, if the model has it: it is no hit.
    pub document: Option<DocRow>,
    /// The documents that it links to.
    pub links: Vec<DocRow>,
}

/// A text, read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Draft {
    /// The format it was read as.
    pub format: DraftFormat,
    /// The words that readers see, in order.
    pub words: Vec<DraftWord>,
    /// The links, in order.
    pub links: Vec<DraftLink>,
    /// The places that ask for a link, in order.
    pub wanted: Vec<WantedLink>,
    /// The bytes of code, in order.
    pub code: Vec<Range<usize>>,
    /// The first heading.
    pub title: Option<String>,
}

impl Draft {
    /// Reads a text.
    ///
    /// # Errors
    /// [`Error::Input`] for a text that is longer than [`LONGEST_DRAFT`]; `place` is its name.
    pub fn read(text: &str, format: DraftFormat, tokenizer: &Tokenizer, place: &str) -> Result<Draft> {
        if text.len() > LONGEST_DRAFT {
            let what = format!(
                "it has {} MB, but drafts may have at most {} MB; split it",
                text.len() >> 20,
                LONGEST_DRAFT >> 20
            );
            return Err(Error::input(place, what));
        }
        let mut builder = DraftBuilder::new(text, format, tokenizer);
        match format {
            DraftFormat::Markdown => markdown::read(&mut builder),
            DraftFormat::Latex => latex::read(&mut builder),
            DraftFormat::Rst => rst::read(&mut builder),
            DraftFormat::Html => html::read(&mut builder),
            DraftFormat::Mediawiki => mediawiki::read(&mut builder),
            DraftFormat::Plain => plain::read(&mut builder),
        }
        Ok(builder.finish())
    }

    /// A document as a draft: its text is plain, its links have the targets they had.
    pub fn of_document(document: &Document, tokenizer: &Tokenizer) -> Draft {
        let text = document.text.as_str();
        let mut builder = DraftBuilder::new(text, DraftFormat::Plain, tokenizer).with_addresses();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            builder.block();
            builder.words(at..at + line.len(), TextKind::Prose);
            at += line.len();
        }
        let mut draft = builder.finish();
        for link in &document.links {
            let first = draft.words.partition_point(|word| (word.start as usize) < link.anchor);
            let end = draft.words.partition_point(|word| (word.start as usize) < link.at);
            draft.links.push(DraftLink {
                span: link.anchor..link.at,
                words: first.min(end)..end,
                targets: link.targets.clone(),
                syntax: LinkSyntax::Wiki,
            });
        }
        draft
    }
}
