//! The planted intent: four kinds of documents, and the phrases with which others link to them.

/// The use of a document, and so the intent with which others link to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Others use it.
    Tool,
    /// Others build on it.
    Theory,
    /// Others train and measure on it.
    Data,
    /// Others compare themselves with it.
    Rival,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 4] = [Kind::Tool, Kind::Theory, Kind::Data, Kind::Rival];

    /// The name of the kind, which stands in its label after `kind:`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Tool => "tool",
            Kind::Theory => "theory",
            Kind::Data => "data",
            Kind::Rival => "rival",
        }
    }

    /// The intent of a link to a document of this kind.
    pub fn intent(self) -> &'static str {
        match self {
            Kind::Tool => "use",
            Kind::Theory => "basis",
            Kind::Data => "measure",
            Kind::Rival => "contrast",
        }
    }

    /// The wordings of the intent; `*` is where the nickname and the link stand.
    pub fn phrases(self) -> [&'static str; 6] {
        match self {
            Kind::Tool => [
                "we use the tool of *",
                "implemented with *",
                "using the * toolkit",
                "we run the software *",
                "built on top of *",
                "the program * is applied",
            ],
            Kind::Theory => [
                "following the theory of *",
                "as proved by *",
                "the theorem of * shows",
                "by the argument of *",
                "as * explains",
                "we extend the principle of *",
            ],
            Kind::Data => [
                "trained on the corpus of *",
                "evaluated on the data of *",
                "the * dataset",
                "with examples drawn from *",
                "annotated as in *",
                "measured on the benchmark *",
            ],
            Kind::Rival => [
                "unlike *",
                "in contrast to *",
                "outperforms *",
                "better than *",
                "whereas * fails",
                "we disagree with *",
            ],
        }
    }
}
