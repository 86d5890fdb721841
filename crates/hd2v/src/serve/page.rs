//! The page's files, inside the program.

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::failure::Failure;

/// The files of `page/`: name, kind, bytes.
const FILES: &[(&str, &str, &[u8])] = &[("index.html", "text/html; charset=utf-8", include_bytes!("page/index.html"))];

/// `GET /`
pub async fn index(headers: HeaderMap) -> Response {
    file("index.html", &headers)
}

/// `GET /page/{name}`
pub async fn part(Path(name): Path<String>, headers: HeaderMap) -> Response {
    file(&name, &headers)
}

fn file(name: &str, headers: &HeaderMap) -> Response {
    let Some((_, kind, bytes)) = FILES.iter().find(|(there, _, _)| *there == name) else {
        return Failure::new(StatusCode::NOT_FOUND, "unknown-path", "the page has no such file").into_response();
    };
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let tag = format!("\"{:016x}\"", hasher.finish());
    // The browser asks each time whether what it has is still right.
    let head = [(header::ETAG, tag.as_str()), (header::CACHE_CONTROL, "no-cache"), (header::CONTENT_TYPE, kind)];
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    if known.is_some_and(|tags| tags.split(',').any(|known| known.trim().trim_start_matches("W/") == tag)) {
        return (StatusCode::NOT_MODIFIED, head).into_response();
    }
    (head, *bytes).into_response()
}
