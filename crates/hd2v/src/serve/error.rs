//! Errors as responses: a status, a code for programs, a message for people.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyperdoc2vec::{Error, NotFound};

use crate::wire;

/// An error response.
#[derive(Debug)]
pub struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl ApiError {
    /// A response with this status, code and message.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError { status, code, message: message.into() }
    }

    /// 422: the request is well-formed but cannot be answered.
    pub fn unprocessable(code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
    }

    /// 503: too many requests are waiting.
    pub fn busy() -> ApiError {
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "too many requests are waiting; try again in a second")
    }

    /// 503: the time limit has passed.
    pub fn timed_out() -> ApiError {
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "late", "the answer took too long; ask for less")
    }

    /// 500: a fault of the program.
    pub fn internal() -> ApiError {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the server failed on this request")
    }

    /// The JSON of the response.
    pub fn to_wire(&self) -> wire::Failure {
        wire::Failure { error: wire::ErrorJson { code: self.code, message: self.message.clone() } }
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> ApiError {
        // Messages omit the path: clients need not know where the model is.
        match error {
            Error::NotFound { kind, message, .. } => {
                let code = match kind {
                    NotFound::Document => "unknown-document",
                    NotFound::Word => "unknown-word",
                    NotFound::DocumentOrLabel => "unknown-document-or-label",
                    _ => "no-vector",
                };
                ApiError::new(StatusCode::NOT_FOUND, code, message)
            }
            Error::NoWords => ApiError::unprocessable("no-words", error.to_string()),
            Error::Usage(message) => ApiError::unprocessable("unfit", message),
            Error::Unsupported { what, .. } => ApiError::unprocessable("not-in-this-model", what),
            Error::Damaged { what, .. } => ApiError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "damaged-model",
                format!("the model is damaged: {what}"),
            ),
            _ => ApiError::internal(),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.to_wire()).unwrap_or_default();
        let mut response = (self.status, [(header::CONTENT_TYPE, "application/json")], body).into_response();
        let (name, value) = match self.status {
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => (header::RETRY_AFTER, "1"),
            StatusCode::UNAUTHORIZED => (header::WWW_AUTHENTICATE, "Bearer"),
            StatusCode::REQUEST_TIMEOUT => (header::CONNECTION, "close"),
            _ => return response,
        };
        response.headers_mut().insert(name, HeaderValue::from_static(value));
        response
    }
}
