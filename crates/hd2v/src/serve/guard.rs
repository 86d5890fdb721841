//! Checks that every request has to pass (host name, rate, token), and the metrics of each request.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use super::error::ApiError;
use super::state::App;

/// Whether the request has the bearer token. By hand, as tower-http's check is deprecated and not in constant time.
fn has_token(token: &[u8], headers: &HeaderMap) -> bool {
    let given = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    let given = match given.split_at_checked(7) {
        Some((scheme, given)) if scheme.eq_ignore_ascii_case(b"bearer ") => given.trim_ascii(),
        _ => b"",
    };
    given.ct_eq(token).into()
}

/// Whether the path is one of the web page's files: they hold no data and are many, so they need no token and do not
/// count against the rate limit.
fn is_public(path: &str) -> bool {
    path == "/" || path.starts_with("/page/")
}

/// Why the request is refused, if it is.
fn refuse(app: &App, request: &Request) -> Option<ApiError> {
    if !app.hosts.admit(request.headers()) {
        let message = "this server does not answer to that host name; use localhost or its address";
        return Some(ApiError::new(StatusCode::BAD_REQUEST, "unknown-host", message));
    }
    if is_public(request.uri().path()) {
        return None;
    }
    let client = request.extensions().get::<ConnectInfo<SocketAddr>>();
    if client.is_some_and(|client| !app.rate_limiter.admit(client.0.ip(), Instant::now())) {
        let message = "too many requests from this address; try again in a second";
        return Some(ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too-many-requests", message));
    }
    if app.token.as_deref().is_some_and(|token| !has_token(token, request.headers())) {
        let message = "the token is missing or wrong; send the header `Authorization: Bearer TOKEN`";
        return Some(ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message));
    }
    None
}

fn altered_model() -> Response {
    let message = "the model file was altered in place; answers go on when a whole model is there";
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "altered-model", message).into_response()
}

/// The answer, unless the bytes that it comes from were altered before it was there.
async fn from_whole_bytes(is_altered: impl Fn() -> bool, answer: impl Future<Output = Response>) -> Response {
    if is_altered() {
        return altered_model();
    }
    let response = answer.await;
    if is_altered() { altered_model() } else { response }
}

/// Answers a request from the current model; responses of the API name it in the header `x-model`.
async fn answer(app: &App, mut request: Request, next: Next) -> Response {
    // Before the model, so that it is never younger.
    let mapped = app.mapped();
    let model = app.model();
    let path = request.uri().path();
    let (is_api, is_public) = (path.starts_with("/api/") || path.starts_with("/v1/"), is_public(path));
    request.extensions_mut().insert(model.clone());
    let is_altered = || !is_public && app.is_altered(mapped);
    let mut response = from_whole_bytes(is_altered, next.run(request)).await;
    if is_api && let Ok(id) = HeaderValue::from_str(&model.engine().id) {
        response.headers_mut().insert(HeaderName::from_static("x-model"), id);
    }
    response
}

/// Lets a request pass or refuses it, and counts it.
pub async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let in_flight = app.metrics.begin();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = match refuse(&app, &request) {
        Some(error) => error.into_response(),
        None => answer(&app, request, next).await,
    };
    drop(in_flight);
    let route = route.as_ref().map_or("other", MatchedPath::as_str);
    app.metrics.answered(route, response.status().as_u16(), started.elapsed());
    response
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[tokio::test]
    async fn an_answer_from_bytes_altered_meanwhile_is_not_sent() {
        let altered = AtomicBool::new(false);
        let ask = |alters: bool| {
            let answer = async move { StatusCode::OK.into_response() };
            let altered = &altered;
            from_whole_bytes(|| altered.load(Ordering::Relaxed), async move {
                let answer = answer.await;
                altered.fetch_or(alters, Ordering::Relaxed);
                answer
            })
        };
        assert_eq!(ask(false).await.status(), StatusCode::OK);
        assert_eq!(ask(true).await.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(ask(false).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    }

    #[test]
    fn the_token_is_compared_whole() {
        let with = |value| HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_static(value))]);
        for (given, right) in [
            ("Bearer secret", true),
            ("bearer  secret ", true),
            ("Bearer secre", false),
            ("Bearer secrets", false),
            ("Bearer", false),
            ("Bearer ", false),
            ("Basic secret", false),
            ("secret", false),
        ] {
            assert_eq!(has_token(b"secret", &with(given)), right, "{given}");
        }
        assert!(!has_token(b"secret", &HeaderMap::new()));
    }
}
