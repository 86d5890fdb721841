//! What a request asks, read with distrust: bodies and parameters as JSON types, within limits.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;

use super::Limits;
use super::failure::Failure;
use super::state::{App, Loaded};
use crate::wire::{Question, Texts};

/// Most hits of one question.
pub const MOST_HITS: usize = 1000;
/// Most hits of the questions of one request together.
const MOST_HITS_TOGETHER: usize = 10 * MOST_HITS;
/// Most ids and labels in a question.
const MOST_NAMES: usize = 1000;
/// Longest id, label, word or title to search for.
const LONGEST_NAME: usize = 4096;

/// A body of JSON.
pub struct Asked<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Asked<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Asked<T>, Failure> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        // Pages of other sites cannot send this kind without asking first.
        if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json") {
            let message = "expected a body of JSON; send the header `Content-Type: application/json`";
            return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json", message));
        }
        let read = Bytes::from_request(request, app);
        let bytes = match tokio::time::timeout(app.limits().client, read).await {
            Ok(bytes) => bytes.map_err(|rejection| unread(&rejection, app.limits()))?,
            Err(_) => {
                let message = "the body of the request took too long to arrive";
                return Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "slow-request", message));
            }
        };
        serde_json::from_slice(&bytes).map(Asked).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => Failure::unfit("unfit", format!("the JSON does not fit: {error}")),
            _ => Failure::new(StatusCode::BAD_REQUEST, "bad-json", format!("the body is no JSON: {error}")),
        })
    }
}

fn unread(rejection: &BytesRejection, limits: &Limits) -> Failure {
    match rejection.status() {
        status @ StatusCode::PAYLOAD_TOO_LARGE => {
            let most = limits.body >> 10;
            Failure::new(status, "too-large", format!("the body is larger than {most} KiB; send less at once"))
        }
        _ => Failure::new(StatusCode::BAD_REQUEST, "unreadable", "the body of the request cannot be read"),
    }
}

/// Parameters behind the `?`.
pub struct Parameters<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<App>> for Parameters<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Parameters<T>, Failure> {
        let bad = |message: String| Failure::new(StatusCode::BAD_REQUEST, "bad-parameter", message);
        let query = parts.uri.query().unwrap_or_default();
        if query.len() > 2 * LONGEST_NAME {
            return Err(bad(format!("the parameters are longer than {} bytes", 2 * LONGEST_NAME)));
        }
        Query::try_from_uri(&parts.uri).map(|Query(parameters)| Parameters(parameters)).map_err(|rejection| {
            // What is wrong stands in the cause.
            let why = std::error::Error::source(&rejection).map_or(rejection.to_string(), ToString::to_string);
            bad(format!("the parameters do not fit: {why}"))
        })
    }
}

/// What a request is answered from, and how.
pub struct Using {
    /// The model of the moment when it came.
    pub model: Arc<Loaded>,
    /// Whether the client takes packed answers.
    pub packed: bool,
}

impl FromRequestParts<Arc<App>> for Using {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Using, Failure> {
        let accepted = parts.headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
        let gzip = |coding: &str| {
            let mut parts = coding.split(';').map(str::trim);
            parts.next() == Some("gzip")
                && parts.all(|weight| !matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
        };
        let packed = accepted.is_some_and(|accepted| accepted.split(',').any(gzip));
        Ok(Using { model: parts.extensions.get().cloned().unwrap_or_else(|| app.model()), packed })
    }
}

/// How many hits are wanted, if that is not too many.
pub fn within(top: usize) -> Result<usize, Failure> {
    if top > MOST_HITS {
        return Err(Failure::unfit("too-many-hits", format!("`top` is {top}, but may be {MOST_HITS} at the most")));
    }
    Ok(top)
}

/// A question within the limits.
pub fn checked(question: &Question, limits: &Limits) -> Result<(), Failure> {
    within(question.top)?;
    for text in [Some(&question.text), question.source_text.as_ref()].into_iter().flatten() {
        checked_text(text, limits)?;
    }
    if question.source.is_some() && question.source_text.is_some() {
        return Err(Failure::unfit("unfit", "the source is given twice; leave out `source` or `source_text`"));
    }
    if question.exclude.len() + question.only.len() > MOST_NAMES {
        let message = format!("`exclude` and `only` have more than {MOST_NAMES} names");
        return Err(Failure::unfit("too-many-names", message));
    }
    if question.min_probability.is_some_and(|least| !(0.0..=1.0).contains(&least)) {
        return Err(Failure::unfit("unfit", "`min_probability` must be from 0 to 1"));
    }
    let mut names = question.exclude.iter().chain(&question.only).chain(&question.source);
    if names.any(|name| name.len() > LONGEST_NAME) {
        return Err(Failure::unfit("too-long", format!("a name is longer than {LONGEST_NAME} bytes")));
    }
    Ok(())
}

fn checked_text(text: &str, limits: &Limits) -> Result<(), Failure> {
    if text.len() > limits.text {
        let message = format!("a text is longer than {} KiB; send what stands around the link", limits.text >> 10);
        return Err(Failure::unfit("too-long", message));
    }
    Ok(())
}

fn checked_batch(count: usize, limits: &Limits) -> Result<(), Failure> {
    if count > limits.batch {
        let message = format!("{count} at once, but {} may be; send several requests", limits.batch);
        return Err(Failure::unfit("too-many", message));
    }
    Ok(())
}

/// Many questions within the limits of a request; each is checked by itself.
pub fn checked_questions(questions: &[Question], limits: &Limits) -> Result<(), Failure> {
    checked_batch(questions.len(), limits)?;
    let hits = questions.iter().fold(0usize, |sum, question| sum.saturating_add(question.top));
    if hits > MOST_HITS_TOGETHER {
        let message = format!("{hits} hits are wanted, but {MOST_HITS_TOGETHER} may be together");
        return Err(Failure::unfit("too-many-hits", message));
    }
    Ok(())
}

/// Texts within the limits.
pub fn checked_texts(texts: &Texts, limits: &Limits) -> Result<(), Failure> {
    checked_batch(texts.texts.len(), limits)?;
    texts.texts.iter().try_for_each(|text| checked_text(text, limits))
}
