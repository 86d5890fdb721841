//! A question: a text, the place of a link in it, and which documents may be the answer.

use crate::document::Date;
use crate::search::Ranking;

/// The default number of hits.
pub const DEFAULT_TOP: usize = 10;

/// A text that should link to something, and which documents that may be.
///
/// ```
/// use hyperdoc2vec::Question;
///
/// let question = Question::new("we report the BLEU score [[?]] of each system").top(3).exclude(["P02-1040"]);
/// assert_eq!(question.top, 3);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The text around the link; `[[?]]` marks its place.
    pub text: String,
    /// The id of the document that the text stands in: it is no hit itself.
    pub source: Option<String>,
    /// The text of that document, if the model does not have it; links in it are marked as `[[id]]`.
    pub source_text: Option<String>,
    /// How many hits are wanted.
    pub top: usize,
    /// The ranking; the best that the model has if there is none.
    pub rank: Option<Ranking>,
    /// Ids of documents that are no hits.
    pub exclude: Vec<String>,
    /// Only these documents, or those with one of these labels, are hits.
    pub only: Vec<String>,
    /// Only documents dated before this are hits.
    pub before: Option<Date>,
    /// Less probable documents are left out. Only the hybrid gives probabilities.
    pub min_probability: Option<f32>,
    /// Whether hits come with an explanation.
    pub explain: bool,
}

impl Question {
    /// A text; `[[?]]` in it marks the place of the link. Without a mark the whole text counts.
    pub fn new(text: impl Into<String>) -> Question {
        Question {
            text: text.into(),
            source: None,
            source_text: None,
            top: DEFAULT_TOP,
            rank: None,
            exclude: Vec::new(),
            only: Vec::new(),
            before: None,
            min_probability: None,
            explain: false,
        }
    }

    /// The id of the document that the text stands in.
    pub fn source(self, id: impl Into<String>) -> Question {
        Question { source: Some(id.into()), ..self }
    }

    /// The text of the document that the question stands in, if the model does not have it.
    pub fn source_text(self, text: impl Into<String>) -> Question {
        Question { source_text: Some(text.into()), ..self }
    }

    /// How many hits are wanted.
    pub fn top(self, top: usize) -> Question {
        Question { top, ..self }
    }

    /// The ranking.
    pub fn rank(self, ranking: Ranking) -> Question {
        Question { rank: Some(ranking), ..self }
    }

    /// Leaves out documents by their ids.
    pub fn exclude<S: Into<String>>(mut self, ids: impl IntoIterator<Item = S>) -> Question {
        self.exclude.extend(ids.into_iter().map(Into::into));
        self
    }

    /// Admits only these documents, or those with one of these labels.
    pub fn only<S: Into<String>>(mut self, ids_or_labels: impl IntoIterator<Item = S>) -> Question {
        self.only.extend(ids_or_labels.into_iter().map(Into::into));
        self
    }

    /// Admits only documents dated before this.
    pub fn before(self, date: Date) -> Question {
        Question { before: Some(date), ..self }
    }

    /// Leaves out less probable documents.
    pub fn min_probability(self, probability: f32) -> Question {
        Question { min_probability: Some(probability), ..self }
    }

    /// Asks for an explanation of each hit.
    pub fn explain(self) -> Question {
        Question { explain: true, ..self }
    }
}
