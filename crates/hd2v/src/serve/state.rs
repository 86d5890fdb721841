//! State shared by all requests: the current model, threads, limits, metrics; and reloading a model that was replaced.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use hyperdoc2vec::{Corpus, Error};

use super::hosts::Hosts;
use super::metrics::Metrics;
use super::model::LoadedModel;
use super::options::{Limits, ServeOptions};
use super::rate_limit::RateLimiter;
use super::workers::Workers;
use crate::output::status;

/// Time between checks of the model file.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// State shared by all requests.
pub struct App {
    options: ServeOptions,
    /// The bearer token that requests need.
    pub token: Option<Vec<u8>>,
    /// The host names that the server answers to.
    pub hosts: Hosts,
    /// Counters for Prometheus.
    pub metrics: Metrics,
    /// Limits the rate of each client.
    pub rate_limiter: RateLimiter,
    /// Threads that answer.
    pub workers: Workers,
    /// The corpus of the model, if its texts are to be shown.
    pub corpus: Option<Corpus>,
    model: RwLock<Arc<LoadedModel>>,
    /// The file that the current model is mapped from, if it is not in memory.
    mapped: RwLock<Option<FileStamp>>,
    /// Held while a new model is opened, so that models take over in the order in which they were opened.
    reloading: tokio::sync::Mutex<()>,
    stamp: RwLock<Option<FileStamp>>,
    stopping: AtomicBool,
}

/// Distinguishes a file from another that was renamed to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    modified: Option<SystemTime>,
    bytes: u64,
    inode: u64,
}

impl FileStamp {
    fn of(path: &Path) -> Option<FileStamp> {
        let there = path.metadata().ok()?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&there);
        #[cfg(not(unix))]
        let inode = 0;
        Some(FileStamp { modified: there.modified().ok(), bytes: there.len(), inode })
    }

    /// Whether this is the same file with other bytes.
    fn alters(&self, before: &FileStamp) -> bool {
        self.inode == before.inode && self != before
    }
}

impl App {
    /// Opens the model and starts the threads.
    pub fn open(mut options: ServeOptions, address: std::net::SocketAddr) -> anyhow::Result<App> {
        let stamp = FileStamp::of(&options.model);
        let (model, in_memory) = LoadedModel::open(&options.model, options.map_above)?;
        let corpus = options.corpus.as_ref().map(|path| Corpus::open_resident(path, options.map_above)).transpose()?;
        let token = options.token.take();
        let metrics = Metrics::new();
        metrics.documents(model.borrow_owner().documents());
        Ok(App {
            token,
            hosts: Hosts::new(&options.host, address.ip()),
            metrics,
            rate_limiter: RateLimiter::new(options.limits.rate),
            workers: Workers::new(options.threads, &options.limits)?,
            corpus,
            model: RwLock::new(model),
            mapped: RwLock::new(stamp.filter(|_| !in_memory)),
            reloading: tokio::sync::Mutex::default(),
            stamp: RwLock::new(stamp),
            stopping: AtomicBool::new(false),
            options,
        })
    }

    /// Limits on requests.
    pub fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// The current model. Whoever holds it keeps it when another takes its place.
    pub fn model(&self) -> Arc<LoadedModel> {
        self.model.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The file that the current model is mapped from, if it is. A model in memory cannot change.
    pub fn mapped(&self) -> Option<FileStamp> {
        *self.mapped.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the file that a model is or was mapped from has been written to in place, so that its bytes are no longer
    /// those that were checked.
    pub fn is_altered(&self, mapped: Option<FileStamp>) -> bool {
        let altered = |mapped: FileStamp| FileStamp::of(&self.options.model).map(|now| now.alters(&mapped));
        mapped.and_then(altered).unwrap_or(false)
    }

    /// Whether the server takes new requests.
    pub fn is_ready(&self) -> bool {
        !self.stopping.load(Ordering::Relaxed)
    }

    /// Marks the server as stopping.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Computes in the background what the model would otherwise compute on the first request.
    pub fn warm(&self) {
        let model = self.model();
        tokio::task::spawn_blocking(move || {
            model.engine().recommender.warm_up();
        });
    }

    /// Opens the file that now has the model's name; if that fails, the old model stays.
    pub async fn reload(self: &Arc<App>) {
        let _one_at_a_time = self.reloading.lock().await;
        let app = self.clone();
        let opened = tokio::task::spawn_blocking(move || -> Result<_, Error> {
            let stamp = FileStamp::of(&app.options.model);
            // A file that does not open is not tried again until it changes.
            *app.stamp.write().unwrap_or_else(PoisonError::into_inner) = stamp;
            Ok((LoadedModel::open(&app.options.model, app.options.map_above)?, stamp))
        });
        let path = self.options.model.display();
        match opened.await {
            Ok(Ok(((model, in_memory), stamp))) => {
                let documents = model.borrow_owner().documents();
                *self.model.write().unwrap_or_else(PoisonError::into_inner) = model;
                *self.mapped.write().unwrap_or_else(PoisonError::into_inner) = stamp.filter(|_| !in_memory);
                self.metrics.reloaded(true);
                self.metrics.documents(documents);
                self.warm();
                status(format_args!("{path}: reloaded, {documents} documents"));
            }
            failed => {
                self.metrics.reloaded(false);
                let why = match failed {
                    Ok(Err(error)) => error.to_string(),
                    _ => format!("{path}: internal error while opening it"),
                };
                let then = match self.is_altered(self.mapped()) {
                    true => "the previous model was mapped from it: answering 503 until the file is whole again",
                    false => "still serving the previous model",
                };
                status(format_args!("{why}; {then}"));
            }
        }
    }
}

/// Watches the model file for ever, and reloads it once it has changed and then stayed the same for one interval.
pub async fn watch(app: Arc<App>) {
    let mut last = None;
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let now = FileStamp::of(&app.options.model);
        let known = *app.stamp.read().unwrap_or_else(PoisonError::into_inner);
        if now.is_some() && now != known && now == last {
            app.reload().await;
        }
        last = now;
    }
}
