//! The formats that can be imported, by name.

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::error::unknown_name;

/// The formats that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase", parse_err_ty = String, parse_err_fn = unknown_format)]
#[non_exhaustive]
pub enum Format {
    /// One JSON object a line.
    Jsonl,
    /// The format of the paper's authors.
    Lines,
    /// Trees of HTML pages.
    Html,
    /// Trees of Markdown files.
    Markdown,
    /// Trees of reStructuredText, as Sphinx reads them.
    Rst,
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
    /// A researcher's library: a bibliography and the files it names.
    Library,
    /// Folders of PDFs.
    Pdf,
    /// S2ORC, as it was released in 2019 and 2020 or as the datasets API gives it.
    S2orc,
    /// Works of OpenAlex.
    OpenAlex,
    /// unarXive of 2022.
    Unarxive,
}

impl Format {
    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

fn unknown_format(name: &str) -> String {
    unknown_name::<Format>("a format", name)
}
