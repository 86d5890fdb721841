//! JSON as a response body, compressed by gzip where the client accepts it.
//!
//! Not by tower-http's compression: that would run on the two threads that serve connections instead of the workers,
//! send chunks without a `Content-Length`, and compress the map anew for each request.

use std::io::Write;

use axum::body::Bytes;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::error::ApiError;

/// Smaller bodies are not compressed.
const MIN_GZIP: usize = 8 << 10;

/// A JSON body.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonBody {
    bytes: Bytes,
    gzip: bool,
}

impl JsonBody {
    /// Serializes `value`.
    pub fn new(value: &impl Serialize, gzip: bool) -> Result<JsonBody, ApiError> {
        let bytes = serde_json::to_vec(value).map_err(|_| ApiError::internal())?;
        Ok(JsonBody { bytes: bytes.into(), gzip: false }.compressed(gzip))
    }

    /// Compresses the body if `gzip` asks for it and it is large enough.
    pub fn compressed(self, gzip: bool) -> JsonBody {
        if !gzip || self.gzip || self.bytes.len() < MIN_GZIP {
            return self;
        }
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        match encoder.write_all(&self.bytes).and_then(|()| encoder.finish()) {
            Ok(bytes) => JsonBody { bytes: bytes.into(), gzip: true },
            Err(_) => self,
        }
    }
}

impl IntoResponse for JsonBody {
    fn into_response(self) -> Response {
        let mut response = ([(header::CONTENT_TYPE, "application/json")], self.bytes).into_response();
        let headers = response.headers_mut();
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if self.gzip {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}
