//! Counters for Prometheus, in the OpenMetrics text format.

use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};

/// Upper bounds of the latency histogram's buckets, in seconds.
const BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// The media type of [`Metrics::text`].
pub const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabel {
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteStatusLabels {
    route: String,
    status: u16,
}

/// All metrics of the server.
pub struct Metrics {
    registry: Registry,
    requests: Family<RouteStatusLabels, Counter>,
    seconds: Family<RouteLabel, Histogram, fn() -> Histogram>,
    in_flight: Gauge,
    documents: Gauge,
    reloads: Counter,
    reload_failures: Counter,
    /// If the system reports it.
    memory: Option<Gauge>,
}

/// Counts a request as in flight until it is dropped.
pub struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Registers a metric; clones of it share its count.
fn register<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    registry.register(name, help, metric.clone());
    metric
}

impl Metrics {
    /// All counts at zero.
    pub fn new() -> Metrics {
        let mut registry = Registry::default();
        let all = &mut registry;
        let seconds = Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> Histogram);
        Metrics {
            requests: register(all, "hd2v_requests", "Requests answered, by route and status", Family::default()),
            seconds: register(all, "hd2v_request_seconds", "Seconds to answer a request, by route", seconds),
            in_flight: register(all, "hd2v_requests_in_flight", "Requests in progress", Gauge::default()),
            documents: register(all, "hd2v_model_documents", "Documents of the model", Gauge::default()),
            reloads: register(all, "hd2v_model_reloads", "Models opened in place of another", Counter::default()),
            reload_failures: register(all, "hd2v_model_reload_failures", "Failed reloads", Counter::default()),
            memory: resident_memory().map(|_| {
                let help = "Memory in use, including pages of the model file";
                register(all, "process_resident_memory_bytes", help, Gauge::default())
            }),
            registry,
        }
    }

    /// Counts a request that begins.
    pub fn begin(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.in_flight.clone())
    }

    /// Counts a request that was answered.
    pub fn answered(&self, route: &str, status: u16, took: Duration) {
        self.requests.get_or_create(&RouteStatusLabels { route: route.to_owned(), status }).inc();
        self.seconds.get_or_create(&RouteLabel { route: route.to_owned() }).observe(took.as_secs_f64());
    }

    /// Sets the number of documents of the model.
    pub fn documents(&self, documents: usize) {
        self.documents.set(documents as i64);
    }

    /// Counts an attempt to open a new model.
    pub fn reloaded(&self, opened: bool) {
        if opened { &self.reloads } else { &self.reload_failures }.inc();
    }

    /// All metrics as text.
    pub fn text(&self) -> String {
        if let (Some(memory), Some(bytes)) = (&self.memory, resident_memory()) {
            memory.set(bytes);
        }
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = text::encode(&mut out, &self.registry);
        out
    }
}

/// Bytes of memory that the process uses, if `/proc` exists.
fn resident_memory() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<i64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_latencies_are_counted_by_route() {
        let metrics = Metrics::new();
        for ms in [1, 2, 9, 60_000] {
            metrics.answered("/api/info", 200, Duration::from_millis(ms));
        }
        metrics.answered("/api/info", 404, Duration::ZERO);
        let _one = metrics.begin();
        let text = metrics.text();
        for line in [
            "hd2v_requests_total{route=\"/api/info\",status=\"200\"} 4",
            "hd2v_requests_total{route=\"/api/info\",status=\"404\"} 1",
            "hd2v_request_seconds_bucket{le=\"0.001\",route=\"/api/info\"} 2",
            "hd2v_request_seconds_bucket{le=\"0.01\",route=\"/api/info\"} 4",
            "hd2v_request_seconds_bucket{le=\"10.0\",route=\"/api/info\"} 4",
            "hd2v_request_seconds_bucket{le=\"+Inf\",route=\"/api/info\"} 5",
            "hd2v_request_seconds_count{route=\"/api/info\"} 5",
            "hd2v_requests_in_flight 1",
            "hd2v_model_reloads_total 0",
        ] {
            assert!(text.lines().any(|there| there == line), "{line} is not in\n{text}");
        }
    }
}
