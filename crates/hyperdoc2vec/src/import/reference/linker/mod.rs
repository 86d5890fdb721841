//! The reference linker: which document of the set does an entry of a bibliography mean?
//!
//! Importers of papers read their input twice: first the metadata of each paper (a [`BibRecord`] a document, from
//! which a [`Catalogue`] is made), then the texts, whose bibliography entries (a [`BibRecord`] each) are looked up there.
//! A [`Paper`] holds a text with its marks and entries, and becomes a document with links. Ours: no crate does this.
//!
//! **Precision first.** An entry that could mean two documents means none, and is counted. In this order:
//!
//! 1. The id of a document, where the input names it; DOI, PubMed id, PMC id, arXiv id, ACL Anthology id.
//!    An id that leads to a document whose title and first author both differ from the entry's is taken for an error,
//!    and there is no link.
//! 2. The same title, folded (case, accents, punctuation, hyphens, ligatures, LaTeX), if year (±1) and first author do
//!    not contradict and at least one of them agrees; a title of five words and 30 letters may stand alone where both are
//!    unknown, one under three words or 20 letters needs both.
//! 3. A similar title (at most one letter in ten differs), if the first author agrees and the year (±1) too; numbers
//!    in the two titles must be the same.
//!    The same goes for a title that goes on after a punctuation mark, unless what follows makes another work of it
//!    (`Part 2`, `a reply`).
//! 4. Where an entry has no title of its own, the title of a document as whole words inside the entry's text, with the
//!    first author before it or anywhere in the text, and the year (±1); not if what stands beside it makes another work
//!    of it.
//! 5. The venue of the set, where it was learnt, with all authors and the year (±1) of exactly one document.
//!
//! Scanners misread: letters with the same strokes are one, a name may be a few letters off, and a year two, if the title
//! is the same, only one document has it, and the rest agrees. If all authors are the same, the title may be in other words,
//! or lack its subtitle.

mod catalogue;
mod common_titles;
mod find;
mod folded_text;
mod ids;
mod outcomes;
mod paper;
#[cfg(test)]
mod precision;
pub(in crate::import) mod similar;
mod venue;

pub use crate::document::fold::{fold, surname};
pub use catalogue::{Catalogue, CatalogueBuilder};
pub use outcomes::{Outcome, Reference, ReferenceSample, References, SampledCount};
pub use paper::{Mark, Paper};

/// The bibliographic record of a document of the set, or of an entry of a bibliography. Fields are as they stand in the
/// input: the linker folds them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BibRecord {
    /// The id that a document has in the set; of an entry, the id of the document that it means, where the input has that.
    pub own: Option<String>,
    /// Digital object identifier, in any of its forms.
    pub doi: Option<String>,
    /// PubMed id.
    pub pmid: Option<String>,
    /// PubMed Central id, with or without `PMC`.
    pub pmcid: Option<String>,
    /// arXiv id, old or new, with or without a version.
    pub arxiv: Option<String>,
    /// ACL Anthology id.
    pub acl: Option<String>,
    /// Title.
    pub title: Option<String>,
    /// Year.
    pub year: Option<i32>,
    /// Surnames (see [`surname`]), the first author's first.
    pub authors: Vec<String>,
    /// The whole entry as it is written, if there is such a thing: ids and, without a title, titles are looked for in
    /// it, and it is what a report shows.
    pub text: Option<String>,
}

impl BibRecord {
    /// The fields of this record, and those of the other where this one has none.
    pub fn or(self, other: BibRecord) -> BibRecord {
        BibRecord {
            own: self.own.or(other.own),
            doi: self.doi.or(other.doi),
            pmid: self.pmid.or(other.pmid),
            pmcid: self.pmcid.or(other.pmcid),
            arxiv: self.arxiv.or(other.arxiv),
            acl: self.acl.or(other.acl),
            title: self.title.or(other.title),
            year: self.year.or(other.year),
            authors: if self.authors.is_empty() { other.authors } else { self.authors },
            text: self.text.or(other.text),
        }
    }

    /// The web address of a work that has a DOI or an arXiv id.
    pub fn url(&self) -> Option<String> {
        let after = |id: &str, prefix: &str| id.rsplit(prefix).next().unwrap_or(id).trim().to_owned();
        let doi = self.doi.as_deref().and_then(|doi| doi.find("10.").map(|at| doi[at..].trim().to_owned()));
        let arxiv = self.arxiv.as_deref().map(|id| after(&id.replace("arXiv", "arxiv"), "arxiv:"));
        doi.map(|doi| format!("https://doi.org/{doi}")).or_else(|| Some(format!("https://arxiv.org/abs/{}", arxiv?)))
    }
}

/// How an entry was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum How {
    /// By the id that the input itself gives.
    Own,
    /// By its DOI.
    Doi,
    /// By its PubMed id.
    Pmid,
    /// By its PMC id.
    Pmcid,
    /// By its arXiv id.
    Arxiv,
    /// By its ACL Anthology id.
    Acl,
    /// By the same title.
    Title,
    /// By a similar title.
    SimilarTitle,
    /// By a title that is the document's with more after a punctuation mark.
    Subtitle,
    /// By a title that stands in its text.
    TitleInText,
}

/// Why an entry was not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Miss {
    /// No document of the set is meant.
    NotInSet,
    /// A document of the set has this title, but a test failed: see `NearMatch`.
    NearMiss,
    /// Several documents could be meant.
    Ambiguous,
    /// An id names one document, author and title name another.
    Contradiction,
    /// Neither an id nor a title nor text.
    NothingKnown,
}

/// A document that an entry came near to, and the test that it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NearMatch {
    /// Its number in the catalogue: see [`Catalogue::id`].
    pub document: usize,
    /// The test that it failed.
    pub failed: Test,
}

/// The test that a document failed which an entry could mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Test {
    /// The years are more than one apart.
    Year,
    /// The first author is another.
    Author,
    /// Too little is known to take the same title for the same work.
    TitleAlone,
    /// Words beside the title make another work of it: `Part 2`, `a reply`.
    Sequel,
    /// An id names this document, title and author name another.
    TitleAndAuthor,
}

impl Test {
    /// A few words for people.
    pub fn describe(self) -> &'static str {
        match self {
            Test::Year => "the year is another",
            Test::Author => "the first author is another",
            Test::TitleAlone => "its title alone is not enough",
            Test::Sequel => "this is a sequel, a reply or a correction",
            Test::TitleAndAuthor => "title and author are others",
        }
    }
}

/// A document that an entry means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Match {
    /// Its number in the catalogue: see [`Catalogue::id`].
    pub document: usize,
    /// How it was found.
    pub how: How,
}
