//! Requests parsed into types: JSON bodies, query parameters, the model to answer from; all within limits.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use hyperdoc2vec::search::Ranking;
use serde::de::DeserializeOwned;

use super::error::ApiError;
use super::model::LoadedModel;
use super::options::Limits;
use super::state::App;
use crate::wire::{QuestionJson, Texts};
use crate::wire_draft::DraftJson;

/// Most hits for one question.
const MAX_HITS: usize = 1000;
/// Most hits for all questions of one request; those beyond get an error each.
pub const MAX_BATCH_HITS: usize = 10 * MAX_HITS;
/// The last link to a document that can be asked for.
const MAX_OFFSET: usize = 1_000_000_000;
/// Most ids to exclude in one question, and most ids and labels to search only.
pub const MAX_NAMES: usize = 1000;
/// Longest id or label, in characters.
pub const MAX_NAME: usize = 4096;
/// Longest query parameters, in bytes.
const MAX_QUERY: usize = 8192;

/// A JSON request body.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Json<T>, ApiError> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        // Pages of other sites cannot send this type without a preflight request.
        if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json") {
            let message = "expected a JSON body; send the header `Content-Type: application/json`";
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json", message));
        }
        let read = Bytes::from_request(request, app);
        let bytes = match tokio::time::timeout(app.limits().client, read).await {
            Ok(bytes) => bytes.map_err(|rejection| body_error(&rejection, app.limits()))?,
            Err(_) => {
                let message = "the request body took too long to arrive";
                return Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "slow-request", message));
            }
        };
        serde_json::from_slice(&bytes).map(Json).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => {
                ApiError::unprocessable("unfit", format!("the request is not valid: {error}"))
            }
            _ => ApiError::new(StatusCode::BAD_REQUEST, "bad-json", format!("the body is not JSON: {error}")),
        })
    }
}

fn body_error(rejection: &BytesRejection, limits: &Limits) -> ApiError {
    match rejection.status() {
        status @ StatusCode::PAYLOAD_TOO_LARGE => {
            let max = limits.body >> 10;
            ApiError::new(status, "too-large", format!("the body is larger than {max} KiB; send less at once"))
        }
        _ => ApiError::new(StatusCode::BAD_REQUEST, "unreadable", "the request body cannot be read"),
    }
}

/// Query parameters: what follows the `?` of an address.
pub struct QueryParams<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<App>> for QueryParams<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<QueryParams<T>, ApiError> {
        let bad = |message: String| ApiError::new(StatusCode::BAD_REQUEST, "bad-parameter", message);
        let query = parts.uri.query().unwrap_or_default();
        if query.len() > MAX_QUERY {
            return Err(bad(format!("the query parameters are longer than {MAX_QUERY} bytes")));
        }
        Query::try_from_uri(&parts.uri).map(|Query(params)| QueryParams(params)).map_err(|rejection| {
            // The reason is in the source of the error.
            let why = std::error::Error::source(&rejection).map_or(rejection.to_string(), ToString::to_string);
            bad(format!("the query parameters are not valid: {why}"))
        })
    }
}

/// The context in which a handler answers a request.
pub struct RequestContext {
    /// The model that was current when the request came in.
    pub model: Arc<LoadedModel>,
    /// Whether the client accepts gzip.
    pub gzip: bool,
}

impl FromRequestParts<Arc<App>> for RequestContext {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<RequestContext, ApiError> {
        let accepted = parts.headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
        let is_gzip = |coding: &str| {
            let mut parts = coding.split(';').map(str::trim);
            parts.next() == Some("gzip")
                && parts.all(|weight| !matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
        };
        let gzip = accepted.is_some_and(|accepted| accepted.split(',').any(is_gzip));
        Ok(RequestContext { model: parts.extensions.get().cloned().unwrap_or_else(|| app.model()), gzip })
    }
}

/// Returns the number of hits asked for, unless it is too large.
pub fn check_top(top: usize) -> Result<usize, ApiError> {
    if top > MAX_HITS {
        let message = format!("`top` is {top}, but must not be more than {MAX_HITS}");
        return Err(ApiError::unprocessable("too-many-hits", message));
    }
    Ok(top)
}

/// Returns the number of the first link asked for, unless it is too large.
pub fn check_offset(offset: usize) -> Result<usize, ApiError> {
    if offset > MAX_OFFSET {
        let message = format!("`offset` is {offset}, but must not be more than {MAX_OFFSET}");
        return Err(ApiError::unprocessable("unfit", message));
    }
    Ok(offset)
}

/// Checks one question against the limits.
pub fn check_question(question: &QuestionJson, limits: &Limits) -> Result<(), ApiError> {
    check_top(question.top)?;
    for text in [Some(&question.text), question.source_text.as_ref()].into_iter().flatten() {
        check_text(text, limits)?;
    }
    if question.text.matches("[[?]]").count() > 1 {
        return Err(ApiError::unprocessable(
            "unfit",
            "`text` has more than one `[[?]]`; ask about one place at a time",
        ));
    }
    if question.source.is_some() && question.source_text.is_some() {
        return Err(ApiError::unprocessable("unfit", "give either `source` or `source_text`, not both"));
    }
    if question.exclude.len().max(question.only.len()) > MAX_NAMES {
        let message = format!("`exclude` or `only` has more than {MAX_NAMES} names");
        return Err(ApiError::unprocessable("too-many-names", message));
    }
    if question.min_probability.is_some_and(|min| !(0.0..=1.0).contains(&min)) {
        return Err(ApiError::unprocessable("unfit", "`min_probability` must be between 0 and 1"));
    }
    if let (Some(_), Some(rank)) = (question.min_probability, question.rank.filter(|&rank| rank != Ranking::Hybrid)) {
        let message = format!("only the hybrid gives probabilities, not {rank}; leave out the minimum probability");
        return Err(ApiError::unprocessable("unfit", message));
    }
    let mut names = question.exclude.iter().chain(&question.only).chain(&question.source);
    if names.any(|name| name.len() > MAX_NAME && name.chars().count() > MAX_NAME) {
        return Err(ApiError::unprocessable("too-long", format!("a name is longer than {MAX_NAME} characters")));
    }
    Ok(())
}

/// Checks a draft against the limits.
pub fn check_draft(draft: &DraftJson, limits: &Limits) -> Result<(), ApiError> {
    check_top(draft.max)?;
    draft.check().map_err(|what| ApiError::unprocessable("unfit", what))?;
    if draft.text.len() > limits.text {
        let message = format!("the draft is longer than {} KiB; send a part of it", limits.text >> 10);
        return Err(ApiError::unprocessable("too-long", message));
    }
    let mut names = draft.never.iter().chain(&draft.path);
    if names.any(|name| name.len() > MAX_NAME && name.chars().count() > MAX_NAME) {
        return Err(ApiError::unprocessable("too-long", format!("a name is longer than {MAX_NAME} characters")));
    }
    Ok(())
}

fn check_text(text: &str, limits: &Limits) -> Result<(), ApiError> {
    if text.len() > limits.text {
        let message = format!("a text is longer than {} KiB; send only the text around the link", limits.text >> 10);
        return Err(ApiError::unprocessable("too-long", message));
    }
    Ok(())
}

fn check_batch(count: usize, limits: &Limits) -> Result<(), ApiError> {
    if count > limits.batch {
        let max = limits.batch;
        let message =
            format!("the request has {count} items, but must not have more than {max}; send several requests");
        return Err(ApiError::unprocessable("too-many", message));
    }
    Ok(())
}

/// Checks a batch of questions against the limits.
pub fn check_questions(questions: &[QuestionJson], limits: &Limits) -> Result<(), ApiError> {
    check_batch(questions.len(), limits)?;
    questions.iter().try_for_each(|question| check_question(question, limits))
}

/// Checks texts to embed against the limits.
pub fn check_texts(texts: &Texts, limits: &Limits) -> Result<(), ApiError> {
    check_batch(texts.texts.len(), limits)?;
    texts.texts.iter().try_for_each(|text| check_text(text, limits))
}
