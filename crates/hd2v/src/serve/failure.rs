//! What goes wrong, as an answer: a status, a code for programs, a message for people.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyperdoc2vec::Error;

use crate::answer::Problem;
use crate::wire;

/// An answer that is an error.
#[derive(Debug)]
pub struct Failure {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Failure {
    /// The given one.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Failure {
        Failure { status, code, message: message.into() }
    }

    /// The question cannot be answered as it is.
    pub fn unfit(code: &'static str, message: impl Into<String>) -> Failure {
        Failure::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
    }

    /// Too much to do.
    pub fn busy() -> Failure {
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "too many requests are waiting; try again in a second")
    }

    /// It took too long.
    pub fn late() -> Failure {
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, "late", "the answer took too long; ask for less")
    }

    /// A fault of the program.
    pub fn internal() -> Failure {
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the question made the program fail")
    }

    /// As JSON.
    pub fn to_wire(&self) -> wire::Failure {
        wire::Failure { error: wire::What { code: self.code, message: self.message.clone() } }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Failure {
        match problem {
            Problem::Unknown { code, message } => Failure::new(StatusCode::NOT_FOUND, code, message),
            Problem::Unfit { code, message } => Failure::unfit(code, message),
            Problem::Library(Error::Usage(message)) => Failure::unfit("unfit", message),
            // Without the path, which is nobody's business.
            Problem::Library(Error::Damaged { what, .. }) => Failure::unfit("not-in-this-model", what),
            Problem::Library(_) => Failure::internal(),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.to_wire()).unwrap_or_default();
        let mut response = (self.status, [(header::CONTENT_TYPE, "application/json")], body).into_response();
        let more = match self.status {
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => (header::RETRY_AFTER, "1"),
            StatusCode::UNAUTHORIZED => (header::WWW_AUTHENTICATE, "Bearer"),
            StatusCode::REQUEST_TIMEOUT => (header::CONNECTION, "close"),
            _ => return response,
        };
        response.headers_mut().insert(more.0, HeaderValue::from_static(more.1));
        response
    }
}
