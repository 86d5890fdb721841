//! Questions and answers as JSON: what `--json` prints and what the server takes and gives are the same types.

use hyperdoc2vec::Date;
use hyperdoc2vec::recommend::{DEFAULT_TOP, Side};
use hyperdoc2vec::search::Ranking;
use serde::{Deserialize, Serialize};
use strum::VariantArray;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{IntoParams, PartialSchema, ToSchema};

fn top() -> usize {
    DEFAULT_TOP
}

fn contexts() -> usize {
    20
}

/// A text, and which documents may be what it should link to
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Question)]
pub struct QuestionJson {
    /// The text around the link; `[[?]]` marks its place
    #[schema(example = "we report the BLEU score [[?]] of each system")]
    pub text: String,
    /// The id of the document that the text stands in
    #[serde(default)]
    pub source: Option<String>,
    /// The text of that document, if the model does not have it; links in it are marked as `[[id]]`
    #[serde(default)]
    pub source_text: Option<String>,
    /// How many hits
    #[serde(default = "top")]
    #[schema(default = top, maximum = 1000)]
    pub top: usize,
    /// The ranking; the best that the model has if left out
    #[serde(default)]
    #[schema(value_type = Option<Rank>)]
    pub rank: Option<Ranking>,
    /// Ids of documents that are no hits
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Only these documents, or those with one of these labels
    #[serde(default)]
    pub only: Vec<String>,
    /// Only documents dated before this: `2009`, `2009-06`, `2009-06-30`
    #[serde(default)]
    #[schema(value_type = Option<String>, example = "2009-06")]
    pub before: Option<Date>,
    /// Leave out what is less probable (with the hybrid)
    #[serde(default)]
    #[schema(minimum = 0, maximum = 1)]
    pub min_probability: Option<f32>,
    /// Tell why: the shares of words, and links to the hits that read like the text
    #[serde(default)]
    pub explain: bool,
}

/// The schema of a [`Ranking`].
pub struct Rank;

impl PartialSchema for Rank {
    fn schema() -> RefOr<Schema> {
        one_of::<Ranking>("A ranking")
    }
}

impl ToSchema for Rank {}

/// The schema of a [`Side`].
fn by() -> RefOr<Schema> {
    one_of::<Side>("Which vectors are compared: in, what documents say; out, what others say about them")
}

/// The schema of one of the names of an enum.
fn one_of<E: VariantArray + Copy + Into<&'static str>>(description: &str) -> RefOr<Schema> {
    let names = E::VARIANTS.iter().map(|&variant| -> &str { variant.into() });
    ObjectBuilder::new().schema_type(Type::String).description(Some(description)).enum_values(Some(names)).into()
}

/// The documents that a text should link to
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Answer)]
pub struct AnswerJson {
    /// The ranking that was used
    #[schema(value_type = Rank)]
    pub ranking: &'static str,
    pub query: QueryJson,
    pub hits: Vec<HitJson>,
    /// Why there are no hits
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The index that was used (on the command line)
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexUsed>,
}

/// The text as the model read it
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Asked)]
pub struct QueryJson {
    /// How many words it has
    pub words: usize,
    /// Whether a place is marked
    pub marked: bool,
    /// Words that the model does not know
    pub unknown: Vec<String>,
}

/// How well an index does
#[derive(Debug, Serialize, ToSchema)]
pub struct IndexUsed {
    /// The share of the exact hits that it finds
    pub recall: f64,
    /// Questions that this was found by
    pub questions: usize,
    /// Lists that are looked through
    pub lists: usize,
}

/// A document that was found
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Hit)]
pub struct HitJson {
    /// From 1
    pub rank: usize,
    pub id: String,
    pub title: Option<String>,
    /// Higher is better; what it means depends on the ranking
    pub score: f32,
    /// How many links point at it
    pub links: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub date: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// That the link points at it (with the hybrid)
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f32>,
    #[serde(flatten)]
    pub reasons: Reasons,
}

/// Why a document was found: all of it with `explain`, nothing without
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Reasons {
    /// The score by embedding, without the source
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding: Option<f32>,
    /// The share of each word of the text in it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Vec<Share>>,
    /// The share of the source in it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<f32>,
    /// The score by BM25 on the document's text and the contexts of the links to it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bm25_cited: Option<f32>,
    /// The score by BM25 on the document's text alone, where documents are ranked by that
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bm25_text: Option<f32>,
    /// The share of each word of the text in the score by BM25
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bm25: Option<Vec<Share>>,
    /// Links to it that read like the text
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contexts: Option<Vec<Quote>>,
}

/// The share of a word in a score
#[derive(Debug, Serialize, ToSchema)]
pub struct Share {
    pub word: String,
    pub share: f32,
}

/// A link in its words
#[derive(Debug, Serialize, ToSchema)]
pub struct Quote {
    /// The id of the document that it stands in
    pub source: String,
    pub title: Option<String>,
    /// `… words before [this] words behind …`
    pub text: String,
}

/// Documents, the nearest first
#[derive(Debug, Serialize, ToSchema)]
pub struct Similar {
    pub hits: Vec<HitJson>,
}

/// A word that is near
#[derive(Debug, Serialize, ToSchema)]
pub struct NearWord {
    /// From 1
    pub rank: usize,
    pub word: String,
    /// The cosine
    pub score: f32,
}

/// Words, the nearest first
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Words)]
pub struct WordsJson {
    pub hits: Vec<NearWord>,
}

/// Words near a word, and documents that it points to
#[derive(Debug, Serialize, ToSchema)]
pub struct WordsAndDocuments {
    pub hits: Vec<NearWord>,
    /// Documents by embedding for a text of this word alone
    pub documents: Vec<HitJson>,
}

/// A model
#[derive(Debug, Serialize, ToSchema)]
pub struct Info {
    /// `model`
    pub kind: &'static str,
    /// The name of its file, without its ending
    pub name: String,
    /// The version of the program
    pub version: &'static str,
    pub documents: u64,
    pub words: u64,
    /// Words that have vectors
    pub vocabulary: u64,
    /// Places where links stand
    pub positions: u64,
    /// Pairs of a place and a document that a link points at
    pub links: u64,
    /// Documents that no link points at
    pub newcomers: u64,
    /// Documents that it was trained on, where others were added later
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trained: Option<u64>,
    pub method: String,
    pub dim: usize,
    pub window: usize,
    /// The rankings that the model can give
    pub rankings: Vec<&'static str>,
    /// The ranking of a question that names none
    pub ranking: &'static str,
    /// The labels that most documents have, most first; 1000 at the most
    pub labels: Vec<LabelCountJson>,
    /// How many labels there are
    pub distinct_labels: usize,
    pub dates: Option<Dates>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LabelCount)]
pub struct LabelCountJson {
    pub label: String,
    pub documents: u64,
}

/// The first and the last
#[derive(Debug, Serialize, ToSchema)]
pub struct Dates {
    #[schema(value_type = String)]
    pub first: Date,
    #[schema(value_type = String)]
    pub last: Date,
}

/// A document and its links
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Page)]
pub struct DocumentJson {
    pub id: String,
    pub title: Option<String>,
    #[schema(value_type = Option<String>)]
    pub date: Option<Date>,
    pub labels: Vec<String>,
    pub url: Option<String>,
    /// Documents that it links to, most links first
    pub links_to: Vec<Linked>,
    pub linked_by: LinkedBy,
}

/// A document that is linked to
#[derive(Debug, Serialize, ToSchema)]
pub struct Linked {
    pub id: String,
    pub title: Option<String>,
    /// By how many links
    pub links: usize,
}

/// Links that point at a document
#[derive(Debug, Serialize, ToSchema)]
pub struct LinkedBy {
    /// How many there are
    pub total: usize,
    /// Some of them
    pub contexts: Vec<LinkContext>,
}

/// A link and the words around it
#[derive(Debug, Serialize, ToSchema)]
pub struct LinkContext {
    /// The document that it stands in
    pub id: String,
    pub title: Option<String>,
    /// Words before it, its own last
    pub before: String,
    /// Words behind it
    pub after: String,
}

/// Documents found by title or id
#[derive(Debug, Serialize, ToSchema)]
pub struct Found {
    pub hits: Vec<FoundDocumentJson>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FoundDocument)]
pub struct FoundDocumentJson {
    pub id: String,
    pub title: Option<String>,
    #[schema(value_type = Option<String>)]
    pub date: Option<Date>,
}

/// Many questions
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Questions)]
pub struct QuestionsJson {
    pub queries: Vec<QuestionJson>,
}

/// Their answers, in the order of the questions
#[derive(Debug, Serialize, ToSchema)]
pub struct Answers {
    pub answers: Vec<AnswerOrError>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum AnswerOrError {
    Answer(Box<AnswerJson>),
    Error(Failure),
}

/// Why there is no answer
#[derive(Debug, Serialize, ToSchema)]
pub struct Failure {
    pub error: ErrorJson,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = What)]
pub struct ErrorJson {
    /// For programs: stays the same
    #[schema(example = "unknown-document")]
    pub code: &'static str,
    /// For people
    pub message: String,
}

/// Texts to be embedded
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Texts {
    pub texts: Vec<String>,
}

/// Their IN vectors, in the order of the texts; zeros where no word is known
#[derive(Debug, Serialize, ToSchema)]
pub struct Embedded {
    /// How many numbers a vector has
    pub dim: usize,
    pub vectors: Vec<Vec<f32>>,
    /// Words of each text that have no vector, each once
    pub unknown: Vec<Vec<String>>,
}

/// The program runs
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// `ok`
    pub health: &'static str,
}

/// New questions are welcome
#[derive(Debug, Serialize, ToSchema)]
pub struct Ready {
    /// `true`
    pub ready: bool,
}

/// All documents on a plane: the same places in each list are one document
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Map {
    /// How many there are; if more than 100,000, those that most links point at are listed
    pub documents: usize,
    /// From -1 to 1
    pub x: Vec<f32>,
    pub y: Vec<f32>,
    /// All labels, those of most documents first
    pub labels: Vec<String>,
    /// The labels of each document, as places in `labels`
    pub label: Vec<Vec<u32>>,
    /// How many links point at each document
    pub links: Vec<u32>,
    pub ids: Vec<String>,
    pub titles: Vec<Option<String>>,
}

/// The map is being made
#[derive(Debug, Serialize, ToSchema)]
pub struct Making {
    /// `false`
    pub ready: bool,
    /// The share of the work that is done
    pub done: f32,
}

/// Parameters of `/api/similar`
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SimilarTo {
    pub id: String,
    #[serde(default)]
    #[param(schema_with = by)]
    pub by: Side,
    /// How many
    #[serde(default = "top")]
    #[param(default = top, maximum = 1000)]
    pub top: usize,
}

/// Parameters of `/api/words`
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct NearTo {
    pub word: String,
    #[serde(default)]
    #[param(schema_with = by)]
    pub by: Side,
    /// How many
    #[serde(default = "top")]
    #[param(default = top, maximum = 1000)]
    pub top: usize,
}

/// Parameters of `/api/document`
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageOf {
    pub id: String,
    /// How many links to it
    #[serde(default = "contexts")]
    #[param(default = contexts, maximum = 1000)]
    pub top: usize,
    /// The first of these, from 0
    #[serde(default)]
    pub offset: usize,
}

/// Parameters of `/api/document/suggestions`
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SuggestionsFor {
    pub id: String,
    /// How many
    #[serde(default = "top")]
    #[param(default = top, maximum = 1000)]
    pub top: usize,
}

/// Parameters of `/api/search`
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SearchFor {
    /// Words, or parts of words, of a title or an id
    pub q: String,
    /// How many
    #[serde(default = "top")]
    #[param(default = top, maximum = 1000)]
    pub top: usize,
}
