//! The host names that the server answers to.

use std::net::IpAddr;

use axum::http::{HeaderMap, header};

/// The names that a `Host` header may have, or `None` for any.
///
/// On a loopback address, a browser that was led here under another name (DNS rebinding) is turned away. On other
/// addresses every name is accepted, as the server cannot know them all.
pub struct Hosts(Option<Vec<String>>);

impl Hosts {
    /// For a server that listens on `host`, which resolved to `address`.
    pub fn new(host: &str, address: IpAddr) -> Hosts {
        let names = ["localhost", "127.0.0.1", "[::1]", host].map(str::to_ascii_lowercase);
        Hosts(address.is_loopback().then(|| names.into_iter().chain([format!("[{host}]")]).collect()))
    }

    /// Whether the request's `Host` header is one of the names, whatever its port.
    pub fn admit(&self, headers: &HeaderMap) -> bool {
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

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn host(value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::HOST, HeaderValue::from_static(value))])
    }

    #[test]
    fn a_loopback_server_answers_to_its_own_names_only() {
        let hosts = Hosts::new("127.0.0.1", IpAddr::from([127, 0, 0, 1]));
        for name in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:8080", "[::1]"] {
            assert!(hosts.admit(&host(name)), "{name}");
        }
        for name in ["evil.example", "localhost.evil.example:8080", "127.0.0.1.evil.example", "", "::1"] {
            assert!(!hosts.admit(&host(name)), "{name}");
        }
        assert!(!hosts.admit(&HeaderMap::new()));
        let mut twice = host("localhost");
        twice.append(header::HOST, HeaderValue::from_static("evil.example"));
        assert!(!hosts.admit(&twice));
        assert!(Hosts::new("mybox", IpAddr::from([127, 0, 0, 1])).admit(&host("mybox:80")));
        assert!(Hosts::new("0.0.0.0", IpAddr::from([0, 0, 0, 0])).admit(&host("any.example")));
    }
}
