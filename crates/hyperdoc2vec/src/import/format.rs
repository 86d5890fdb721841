//! The formats that can be imported, by name.

use std::fmt;
use std::str::FromStr;

/// The formats that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON object a line.
    Jsonl,
    /// The format of the paper's authors.
    Lines,
    /// Trees of HTML pages.
    Html,
    /// Trees of Markdown files.
    Markdown,
    /// Dumps of a wiki.
    MediaWiki,
    /// Papers as GROBID writes them.
    Tei,
    /// Papers as PubMed Central and publishers give them.
    Jats,
    /// Papers as sources of LaTeX.
    Latex,
    /// Texts of papers, and a table of metadata.
    Papers,
    /// S2ORC, as it was released in 2019 and 2020 or as the datasets API gives it.
    S2orc,
    /// unarXive of 2022.
    Unarxive,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 11] = [
        Format::Jsonl,
        Format::Lines,
        Format::Html,
        Format::Markdown,
        Format::MediaWiki,
        Format::Tei,
        Format::Jats,
        Format::Latex,
        Format::Papers,
        Format::S2orc,
        Format::Unarxive,
    ];

    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Format::Jsonl => "jsonl",
            Format::Lines => "lines",
            Format::Html => "html",
            Format::Markdown => "markdown",
            Format::MediaWiki => "mediawiki",
            Format::Tei => "tei",
            Format::Jats => "jats",
            Format::Latex => "latex",
            Format::Papers => "papers",
            Format::S2orc => "s2orc",
            Format::Unarxive => "unarxive",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        let names = || Format::ALL.map(Format::name).join(", ");
        Format::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| format!("expected a format ({}), found {name:?}", names()))
    }
}
