//! The files of the web page, compiled into the program.

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::error::ApiError;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The files of `page/`: name, media type, content.
const FILES: &[(&str, &str, &[u8])] = &[
    ("index.html", HTML, include_bytes!("page/index.html")),
    ("style.css", CSS, include_bytes!("page/style.css")),
    ("icon.svg", SVG, include_bytes!("page/icon.svg")),
    ("api.js", SCRIPT, include_bytes!("page/api.js")),
    ("document.js", SCRIPT, include_bytes!("page/document.js")),
    ("dom.js", SCRIPT, include_bytes!("page/dom.js")),
    ("draft.js", SCRIPT, include_bytes!("page/draft.js")),
    ("filters.js", SCRIPT, include_bytes!("page/filters.js")),
    ("finder.js", SCRIPT, include_bytes!("page/finder.js")),
    ("insert.js", SCRIPT, include_bytes!("page/insert.js")),
    ("main.js", SCRIPT, include_bytes!("page/main.js")),
    ("map.js", SCRIPT, include_bytes!("page/map.js")),
    ("places.js", SCRIPT, include_bytes!("page/places.js")),
    ("plot.js", SCRIPT, include_bytes!("page/plot.js")),
    ("prose.js", SCRIPT, include_bytes!("page/prose.js")),
    ("regions.js", SCRIPT, include_bytes!("page/regions.js")),
    ("shade.js", SCRIPT, include_bytes!("page/shade.js")),
    ("suggest.js", SCRIPT, include_bytes!("page/suggest.js")),
    ("theme.js", SCRIPT, include_bytes!("page/theme.js")),
    ("welcome.js", SCRIPT, include_bytes!("page/welcome.js")),
    ("words.js", SCRIPT, include_bytes!("page/words.js")),
];

/// `GET /`
pub async fn index(headers: HeaderMap) -> Response {
    file("index.html", &headers)
}

/// `GET /page/{name}`
pub async fn part(name: Result<Path<String>, PathRejection>, headers: HeaderMap) -> Response {
    // A name that is not UTF-8 is the name of no file.
    file(name.as_ref().map_or("", |Path(name)| name), &headers)
}

fn file(name: &str, headers: &HeaderMap) -> Response {
    let Some((_, kind, bytes)) = FILES.iter().find(|(there, _, _)| *there == name) else {
        return ApiError::new(StatusCode::NOT_FOUND, "unknown-path", "there is no such file").into_response();
    };
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let tag = format!("\"{:016x}\"", hasher.finish());
    // The browser asks each time whether its copy is still current.
    let head = [(header::ETAG, tag.as_str()), (header::CACHE_CONTROL, "no-cache"), (header::CONTENT_TYPE, kind)];
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    if known.is_some_and(|tags| tags.split(',').any(|known| known.trim().trim_start_matches("W/") == tag)) {
        return (StatusCode::NOT_MODIFIED, head).into_response();
    }
    (head, *bytes).into_response()
}
