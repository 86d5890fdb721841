//! The API described for programs, generated from the types and functions that make it.

use std::sync::OnceLock;

use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};

use super::{map, routes};

#[derive(OpenApi)]
#[openapi(
    info(title = "hd2v", description = "What a text should link to, from a model of documents that link to each other"),
    paths(
        routes::info,
        routes::recommend,
        routes::recommend_batch,
        routes::similar,
        routes::words,
        routes::document,
        routes::suggestions,
        routes::search,
        routes::embed,
        map::map,
        routes::health,
        routes::ready,
        routes::openapi,
        routes::metrics,
    ),
    security((), ("token" = [])),
    modifiers(&Token)
)]
struct Api;

/// The bearer token.
struct Token;

impl utoipa::Modify for Token {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        api.components.get_or_insert_default().add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// The description, as JSON.
pub fn json() -> &'static str {
    static JSON: OnceLock<String> = OnceLock::new();
    JSON.get_or_init(|| serde_json::to_string(&Api::openapi()).unwrap_or_default())
}
