//! What every request passes: it is counted, its host and token are checked, its answer gets headers.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use super::failure::Failure;
use super::state::App;

/// The address of a client.
#[derive(Debug, Clone, Copy)]
pub struct Client(pub IpAddr);

/// On every answer. Scripts and styles come from files of this server alone, and nothing leaves the machine.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Which names the server goes by. On a loopback address a browser that was led here by another name (DNS rebinding)
/// is sent away; on other addresses all names are taken, as nobody knows them all.
pub struct Hosts(Option<Vec<String>>);

impl Hosts {
    /// For a server that was told to listen on `host`, which is `address`.
    pub fn new(host: &str, address: IpAddr) -> Hosts {
        let names = ["localhost", "127.0.0.1", "[::1]", host].map(str::to_ascii_lowercase);
        Hosts(address.is_loopback().then(|| names.into_iter().chain([format!("[{host}]")]).collect()))
    }

    fn admit(&self, headers: &HeaderMap) -> bool {
        let Some(names) = &self.0 else { return true };
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next().and_then(|host| host.to_str().ok()), hosts.next()) else { return false };
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
            _ => host,
        };
        names.contains(&name.to_ascii_lowercase())
    }
}

/// Whether a request bears the token.
fn bears(token: &[u8], headers: &HeaderMap) -> bool {
    let given = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    let given = match given.split_at_checked(7) {
        Some((scheme, given)) if scheme.eq_ignore_ascii_case(b"bearer ") => given.trim_ascii(),
        _ => b"",
    };
    given.ct_eq(token).into()
}

/// The page and its parts hold no data, and are many files: they need no token, and may be asked for at any rate.
fn free(path: &str) -> bool {
    path == "/" || path.starts_with("/page/")
}

fn refused(app: &App, request: &Request) -> Option<Failure> {
    if !app.hosts.admit(request.headers()) {
        let message = "this server goes by localhost or its address; ask it by that name";
        return Some(Failure::new(StatusCode::BAD_REQUEST, "unknown-host", message));
    }
    if free(request.uri().path()) {
        return None;
    }
    let client = request.extensions().get::<Client>();
    if client.is_some_and(|client| !app.rates.admit(client.0, Instant::now())) {
        let message = "too many requests from this address; wait a second";
        return Some(Failure::new(StatusCode::TOO_MANY_REQUESTS, "too-many-requests", message));
    }
    if app.token.as_deref().is_some_and(|token| !bears(token, request.headers())) {
        let message = "the token is missing or wrong; send the header `Authorization: Bearer TOKEN`";
        return Some(Failure::new(StatusCode::UNAUTHORIZED, "unauthorized", message));
    }
    None
}

/// Has a request answered from the model of the moment; answers of the API tell which that is.
async fn answered(app: &App, mut request: Request, next: Next) -> Response {
    let model = app.model();
    let told = request.uri().path().starts_with("/api/");
    request.extensions_mut().insert(model.clone());
    let mut response = next.run(request).await;
    if told && let Ok(id) = HeaderValue::from_str(&model.engine().id) {
        response.headers_mut().insert(HeaderName::from_static("x-model"), id);
    }
    response
}

/// Lets a request pass, or not.
pub async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let under_way = app.metrics.begin();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let mut response = match refused(&app, &request) {
        Some(failure) => failure.into_response(),
        None => answered(&app, request, next).await,
    };
    drop(under_way);
    let route = route.as_ref().map_or("other", MatchedPath::as_str);
    app.metrics.answered(route, response.status().as_u16(), started.elapsed());
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn a_loopback_server_knows_its_own_names_only() {
        let hosts = Hosts::new("127.0.0.1", IpAddr::from([127, 0, 0, 1]));
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:8080", "[::1]"] {
            assert!(hosts.admit(&with(header::HOST, host)), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:8080", "127.0.0.1.evil.example", "", "::1"] {
            assert!(!hosts.admit(&with(header::HOST, host)), "{host}");
        }
        assert!(!hosts.admit(&HeaderMap::new()));
        let mut twice = with(header::HOST, "localhost");
        twice.append(header::HOST, HeaderValue::from_static("evil.example"));
        assert!(!hosts.admit(&twice));
        assert!(Hosts::new("mybox", IpAddr::from([127, 0, 0, 1])).admit(&with(header::HOST, "mybox:80")));
        assert!(Hosts::new("0.0.0.0", IpAddr::from([0, 0, 0, 0])).admit(&with(header::HOST, "any.example")));
    }

    #[test]
    fn the_token_is_compared_whole() {
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
            assert_eq!(bears(b"secret", &with(header::AUTHORIZATION, given)), right, "{given}");
        }
        assert!(!bears(b"secret", &HeaderMap::new()));
    }
}
