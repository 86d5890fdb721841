//! What is counted, as Prometheus reads it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper ends of the latencies that are told apart, in seconds.
const BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// The counts.
#[derive(Default)]
pub struct Metrics {
    routes: Mutex<BTreeMap<String, Route>>,
    in_flight: AtomicI64,
    documents: AtomicU64,
    reloads: [AtomicU64; 2],
}

#[derive(Default)]
struct Route {
    statuses: BTreeMap<u16, u64>,
    /// By the first bucket that holds it.
    latencies: [u64; BUCKETS.len() + 1],
    seconds: f64,
}

/// Counts a request as under way while it lives.
pub struct UnderWay<'a>(&'a Metrics);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    /// A request begins.
    pub fn begin(&self) -> UnderWay<'_> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        UnderWay(self)
    }

    /// A request was answered.
    pub fn answered(&self, route: &str, status: u16, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BUCKETS.iter().position(|&most| seconds <= most).unwrap_or(BUCKETS.len());
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        if !routes.contains_key(route) {
            routes.insert(route.to_owned(), Route::default());
        }
        if let Some(route) = routes.get_mut(route) {
            *route.statuses.entry(status).or_default() += 1;
            route.latencies[bucket] += 1;
            route.seconds += seconds;
        }
    }

    /// How many documents the model has.
    pub fn documents(&self, documents: usize) {
        self.documents.store(documents as u64, Ordering::Relaxed);
    }

    /// A model was opened in place of another, or was not usable.
    pub fn reloaded(&self, well: bool) {
        self.reloads[usize::from(well)].fetch_add(1, Ordering::Relaxed);
    }

    /// All of it as text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let head = |out: &mut String, name: &str, kind: &str, help: &str| {
            let _ = write!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        };
        let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        head(&mut out, "hd2v_requests_total", "counter", "Requests answered, by route and status.");
        for (name, route) in routes.iter() {
            for (status, count) in &route.statuses {
                let _ = writeln!(out, "hd2v_requests_total{{route=\"{name}\",status=\"{status}\"}} {count}");
            }
        }
        head(&mut out, "hd2v_request_seconds", "histogram", "Seconds until a request was answered, by route.");
        for (name, route) in routes.iter() {
            let mut sum = 0;
            for (count, most) in route.latencies.iter().zip(&BUCKETS) {
                sum += count;
                let _ = writeln!(out, "hd2v_request_seconds_bucket{{route=\"{name}\",le=\"{most}\"}} {sum}");
            }
            sum += route.latencies[BUCKETS.len()];
            let _ = writeln!(out, "hd2v_request_seconds_bucket{{route=\"{name}\",le=\"+Inf\"}} {sum}");
            let _ = writeln!(out, "hd2v_request_seconds_sum{{route=\"{name}\"}} {}", route.seconds);
            let _ = writeln!(out, "hd2v_request_seconds_count{{route=\"{name}\"}} {sum}");
        }
        drop(routes);
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let [failed, reloads] = [0, 1].map(|which: usize| of(&self.reloads[which]));
        let under_way = self.in_flight.load(Ordering::Relaxed).max(0) as u64;
        let mut one = |name: &str, kind: &str, help: &str, value: u64| {
            head(&mut out, name, kind, help);
            let _ = writeln!(out, "{name} {value}");
        };
        one("hd2v_requests_in_flight", "gauge", "Requests under way.", under_way);
        one("hd2v_model_documents", "gauge", "Documents of the model.", of(&self.documents));
        one("hd2v_model_reloads_total", "counter", "Models opened in place of another.", reloads);
        one("hd2v_model_reload_failures_total", "counter", "Models that were not usable.", failed);
        if let Some(bytes) = resident() {
            one("process_resident_memory_bytes", "gauge", "Memory in use, pages of the model file included.", bytes);
        }
        out
    }
}

/// Memory of the process, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_counted_from_the_shortest_on() {
        let metrics = Metrics::default();
        for ms in [1, 2, 9, 60_000] {
            metrics.answered("/api/info", 200, Duration::from_millis(ms));
        }
        metrics.answered("/api/info", 404, Duration::ZERO);
        let _one = metrics.begin();
        let text = metrics.text();
        for line in [
            "hd2v_requests_total{route=\"/api/info\",status=\"200\"} 4",
            "hd2v_requests_total{route=\"/api/info\",status=\"404\"} 1",
            "hd2v_request_seconds_bucket{route=\"/api/info\",le=\"0.001\"} 2",
            "hd2v_request_seconds_bucket{route=\"/api/info\",le=\"0.01\"} 4",
            "hd2v_request_seconds_bucket{route=\"/api/info\",le=\"10\"} 4",
            "hd2v_request_seconds_bucket{route=\"/api/info\",le=\"+Inf\"} 5",
            "hd2v_request_seconds_count{route=\"/api/info\"} 5",
            "hd2v_requests_in_flight 1",
        ] {
            assert!(text.lines().any(|there| there == line), "{line} is not in\n{text}");
        }
    }
}
