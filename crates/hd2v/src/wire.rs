//! Questions and answers as JSON: one set of types for `--json` and for the server.

use hyperdoc2vec::Date;
use hyperdoc2vec::recommend::{DEFAULT_TOP, Side};
use hyperdoc2vec::search::Ranking;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use strum::VariantArray;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{IntoParams, PartialSchema, ToSchema};

fn top() -> usize {
    DEFAULT_TOP
}

fn contexts() -> usize {
    20
}

/// Reads a whole number as JSON Schema defines it: `256.0` is one.
pub(crate) fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    let number = serde_json::Number::deserialize(from)?;
    let exact = |number: &f64| number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(number);
    let whole = number.as_u64().or_else(|| number.as_f64().filter(exact).map(|number| number as u64));
    let whole = whole.and_then(|whole| usize::try_from(whole).ok());
    whole.ok_or_else(|| D::Error::custom(format!("expected a whole number, found {number}")))
}

/// [`whole`] for a query parameter, which is text, or a number in JSON.
fn whole_text<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum TextOrNumber {
        Text(String),
        Number(serde_json::Number),
    }
    let text = match TextOrNumber::deserialize(from)? {
        TextOrNumber::Text(text) => text,
        TextOrNumber::Number(number) => number.to_string(),
    };
    let digits = text.split_once('.').filter(|(_, fraction)| fraction.bytes().all(|digit| digit == b'0'));
    let whole = digits.map_or(text.as_str(), |(digits, _)| digits).parse();
    whole.map_err(|_| D::Error::custom(format!("expected a whole number, found {text:?}")))
}

/// A text that should link to something, and which documents are admitted
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Question)]
pub struct QuestionJson {
    /// The text around the link; `[[?]]` marks its place
    #[schema(example = "we report the BLEU score [[?]] of each system")]
    pub text: String,
    /// The id of the document that contains the text
    #[serde(default)]
    pub source: Option<String>,
    /// The text of that document, if the model does not have it; links in it are marked as `[[id]]`
    #[serde(default)]
    pub source_text: Option<String>,
    /// Number of hits
    #[serde(default = "top", deserialize_with = "whole")]
    #[schema(default = top, maximum = 1000)]
    pub top: usize,
    /// The ranking; by default the best that the model has
    #[serde(default)]
    #[schema(value_type = Option<Rank>)]
    pub rank: Option<Ranking>,
    /// Ids of documents to exclude
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Only these documents, or documents with one of these labels
    #[serde(default)]
    pub only: Vec<String>,
    /// Only documents dated before this date: `2009`, `2009-06`, `2009-06-30`
    #[serde(default)]
    #[schema(value_type = Option<String>, example = "2009-06")]
    pub before: Option<Date>,
    /// Omit less probable documents (hybrid only)
    #[serde(default)]
    #[schema(minimum = 0, maximum = 1)]
    pub min_probability: Option<f32>,
    /// Explain the hits: the share of each word in the scores, and similar links to the documents
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
pub(crate) fn one_of<E: VariantArray + Copy + Into<&'static str>>(description: &str) -> RefOr<Schema> {
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
    /// The reason if there are no hits
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The index, if one was used (command line only)
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexUsed>,
}

/// Answers for the places of drafts (command line only)
#[derive(Debug, Serialize)]
pub struct PlaceAnswers {
    pub answers: Vec<PlaceAnswer>,
}

/// The answer for a place of a draft (command line only)
#[derive(Debug, Serialize)]
pub struct PlaceAnswer {
    /// The file
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Line and column of the mark, from 1; columns count characters
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The mark as written
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    #[serde(flatten)]
    pub answer: AnswerJson,
}

/// The text as the model reads it
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Asked)]
pub struct QueryJson {
    /// Number of words
    pub words: usize,
    /// Whether it contains `[[?]]`
    pub marked: bool,
    /// Words that the model does not know
    pub unknown: Vec<String>,
}

/// An approximate index
#[derive(Debug, Serialize, ToSchema)]
pub struct IndexUsed {
    /// Share of the exact hits that it finds
    pub recall: f64,
    /// Questions that this was measured on
    pub questions: usize,
    /// Lists that are searched
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authors: Vec<String>,
    /// Cited by documents of a library, and not in the library itself; left out if false
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cited_only: bool,
    /// Higher is better; the meaning depends on the ranking
    pub score: f32,
    /// Number of links to it
    pub links: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub date: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Probability of being the target of the link (hybrid only)
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f32>,
    #[serde(flatten)]
    pub reasons: Reasons,
}

/// Why a document was found; empty without `explain`
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Reasons {
    /// Embedding score, without the source
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding: Option<f32>,
    /// Share of each word of the text in the embedding score
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Vec<Share>>,
    /// Share of the source in the embedding score
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<f32>,
    /// BM25 score of the document's text and the contexts of links to it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bm25_cited: Option<f32>,
    /// BM25 score of the document's text alone, if that is the ranking
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bm25_text: Option<f32>,
    /// Share of each word of the text in the BM25 score
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bm25: Option<Vec<Share>>,
    /// Links to it in contexts similar to the text
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contexts: Option<Vec<QuoteJson>>,
}

/// The share of a word in a score
#[derive(Debug, Serialize, ToSchema)]
pub struct Share {
    pub word: String,
    pub share: f32,
}

/// A link in its context
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Quote)]
pub struct QuoteJson {
    /// The id of the document that contains it
    pub source: String,
    pub title: Option<String>,
    /// The sentence as it was written, with `[this]` behind the link; `… words before [this] words after …` in models
    /// of earlier programs
    pub text: String,
}

/// Documents, the nearest first
#[derive(Debug, Serialize, ToSchema)]
pub struct Similar {
    pub hits: Vec<HitJson>,
}

/// The works around some works
#[derive(Debug, Serialize)]
pub struct SnowballJson {
    pub works: Vec<RelatedWorkJson>,
    /// Works left out since another is the same
    pub doubles: usize,
}

/// A work, and the given works that lead to it
#[derive(Debug, Serialize)]
pub struct RelatedWorkJson {
    pub id: String,
    pub title: Option<String>,
    pub authors: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// False for a work that is only cited
    pub in_library: bool,
    pub cited_by: Vec<String>,
    pub cites: Vec<String>,
    pub recommended_from: Vec<String>,
    /// The best score at which it was recommended
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f32>,
}

/// A similar word
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NearWord)]
pub struct NearWordJson {
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
    pub hits: Vec<NearWordJson>,
}

/// Words near a word, and documents that it leads to
#[derive(Debug, Serialize, ToSchema)]
pub struct WordsAndDocuments {
    pub hits: Vec<NearWordJson>,
    /// Hits of the embedding ranking for this word as the text
    pub documents: Vec<HitJson>,
}

/// A model
#[derive(Debug, Serialize, ToSchema)]
pub struct Info {
    /// `model`
    pub kind: &'static str,
    /// The file name without its extension
    pub name: String,
    /// The version of the program
    pub version: &'static str,
    pub documents: u64,
    pub words: u64,
    /// Words that have vectors
    pub vocabulary: u64,
    /// Places with links
    pub positions: u64,
    /// Pairs of a position and a target
    pub links: u64,
    /// Documents that nothing links to
    pub newcomers: u64,
    /// Number of documents it was trained on, if others were added later
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trained: Option<u64>,
    pub method: String,
    pub dim: usize,
    pub window: usize,
    /// The rankings that the model supports
    pub rankings: Vec<&'static str>,
    /// The default ranking
    pub ranking: &'static str,
    /// The most frequent labels, at most 1000
    pub labels: Vec<LabelCountJson>,
    /// Number of labels
    pub distinct_labels: usize,
    pub dates: Option<Dates>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LabelCount)]
pub struct LabelCountJson {
    pub label: String,
    pub documents: u64,
}

/// The range of dates
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
    /// The beginning of its text, with links as `[words][[id]]` and `…` where more follows, if the server was started with
    /// its corpus
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// Documents that it links to, most links first
    pub links_to: Vec<Linked>,
    pub linked_by: LinkedBy,
}

/// A document that is linked to
#[derive(Debug, Serialize, ToSchema)]
pub struct Linked {
    pub id: String,
    pub title: Option<String>,
    /// Number of links
    pub links: usize,
}

/// Links to a document
#[derive(Debug, Serialize, ToSchema)]
pub struct LinkedBy {
    /// Number of links
    pub total: usize,
    /// Some of them
    pub contexts: Vec<LinkContext>,
}

/// A link and the words around it
#[derive(Debug, Serialize, ToSchema)]
pub struct LinkContext {
    /// The document that contains it
    pub id: String,
    pub title: Option<String>,
    /// The text of its sentence before it, including its anchor
    pub before: String,
    /// The text of its sentence after it
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

/// Texts to begin with
#[derive(Debug, Serialize, ToSchema)]
pub struct Examples {
    pub examples: Vec<ExampleJson>,
}

/// A sentence of a document that links to another
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Example)]
pub struct ExampleJson {
    /// The sentence, with `[[?]]` in the place of the link
    pub text: String,
    /// The id of the document that contains it
    pub source: String,
    /// The title of that document
    pub title: Option<String>,
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

/// An error
#[derive(Debug, Serialize, ToSchema)]
pub struct Failure {
    pub error: ErrorJson,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = What)]
pub struct ErrorJson {
    /// Stable, for programs
    #[schema(example = "unknown-document")]
    pub code: &'static str,
    /// For people
    pub message: String,
}

/// Texts to embed
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Texts {
    pub texts: Vec<String>,
}

/// The IN vectors of the texts, in order; zeros if no word is known
#[derive(Debug, Serialize, ToSchema)]
pub struct Embedded {
    /// Dimensions of a vector
    pub dim: usize,
    pub vectors: Vec<Vec<f32>>,
    /// Distinct words of each text that have no vector
    pub unknown: Vec<Vec<String>>,
}

/// Texts to embed, in the form of OpenAI's API
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingsFor {
    pub input: EmbeddingInput,
    /// Which vectors; `text` if it is not given
    #[serde(default)]
    pub model: VectorKind,
    /// How vectors are written
    #[serde(default)]
    pub encoding_format: VectorEncoding,
    /// Must be the dimensions of the model, if it is given
    #[serde(default)]
    pub dimensions: Option<usize>,
    /// Of no effect
    #[serde(default)]
    #[allow(dead_code)]
    pub user: Option<String>,
}

/// A text, or several
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum EmbeddingInput {
    One(String),
    Many(Vec<String>),
}

/// Which vectors a text gets
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VectorKind {
    /// As `hd2v embed`: the IN vector of a document with this text
    #[default]
    Text,
    /// Of a text to find links for, perhaps with `[[?]]`: its inner products with OUT vectors rank documents
    Question,
}

/// How vectors are written
#[derive(Debug, Default, Clone, Copy, PartialEq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VectorEncoding {
    /// As a list of numbers
    #[default]
    Float,
    /// As the base64 of 32-bit numbers, the lowest byte first
    Base64,
}

/// The vectors of texts, in the form of OpenAI's API
#[derive(Debug, Serialize, ToSchema)]
pub struct Embeddings {
    /// `list`
    pub object: &'static str,
    /// In the order of the texts
    pub data: Vec<EmbeddingItem>,
    pub model: VectorKind,
    pub usage: TokenUsage,
}

/// The vector of a text
#[derive(Debug, Serialize, ToSchema)]
pub struct EmbeddingItem {
    /// `embedding`
    pub object: &'static str,
    /// Which text, from 0 on
    pub index: usize,
    pub embedding: EmbeddingNumbers,
}

/// A vector: zeros if no word is known
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum EmbeddingNumbers {
    Float(Vec<f32>),
    Base64(String),
}

/// Words of all texts
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenUsage {
    pub prompt_tokens: usize,
    pub total_tokens: usize,
}

/// The program runs
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// `ok`
    pub health: &'static str,
}

/// The server accepts new requests
#[derive(Debug, Serialize, ToSchema)]
pub struct Ready {
    /// `true`
    pub ready: bool,
}

/// All documents on a plane; the lists are parallel
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Map {
    /// Number of documents; beyond 100,000, only those with the most links to them are listed
    pub documents: usize,
    /// From -1 to 1
    pub x: Vec<f32>,
    pub y: Vec<f32>,
    /// All labels, the most frequent first
    pub labels: Vec<String>,
    /// The labels of each document, as indexes into `labels`
    pub label: Vec<Vec<u32>>,
    /// Number of links to each document
    pub links: Vec<u32>,
    pub ids: Vec<String>,
    pub titles: Vec<Option<String>>,
}

/// The map is being computed
#[derive(Debug, Serialize, ToSchema)]
pub struct Making {
    /// `false`
    pub ready: bool,
    /// Share of the work done
    pub done: f32,
}

/// Parameters of `/api/similar`
#[derive(Debug, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SimilarTo {
    pub id: String,
    #[serde(default)]
    #[param(schema_with = by)]
    #[schema(schema_with = by)]
    pub by: Side,
    /// Number of hits
    #[serde(default = "top", deserialize_with = "whole_text")]
    #[param(default = top, maximum = 1000)]
    #[schema(default = top, maximum = 1000)]
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
    /// Number of hits
    #[serde(default = "top", deserialize_with = "whole_text")]
    #[param(default = top, maximum = 1000)]
    pub top: usize,
}

/// Parameters of `/api/document`
#[derive(Debug, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageOf {
    pub id: String,
    /// Number of links to it
    #[serde(default = "contexts", deserialize_with = "whole_text")]
    #[param(default = contexts, maximum = 1000)]
    #[schema(default = contexts, maximum = 1000)]
    pub top: usize,
    /// Offset of the first of them
    #[serde(default, deserialize_with = "whole_text")]
    #[param(default = 0, maximum = 1_000_000_000)]
    #[schema(default = 0, maximum = 1_000_000_000)]
    pub offset: usize,
}

/// Parameters of `/api/document/text`
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TextOf {
    pub id: String,
}

/// Parameters of `/api/document/suggestions`
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SuggestionsFor {
    pub id: String,
    /// Number of hits
    #[serde(default = "top", deserialize_with = "whole_text")]
    #[param(default = top, maximum = 1000)]
    pub top: usize,
}

/// Parameters of `/api/search`
#[derive(Debug, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SearchFor {
    /// Words, or parts of words, in a title or an id
    pub q: String,
    /// Number of hits
    #[serde(default = "top", deserialize_with = "whole_text")]
    #[param(default = top, maximum = 1000)]
    #[schema(default = top, maximum = 1000)]
    pub top: usize,
}
