//! State shared by all requests: the current model and corpus, threads, limits, metrics; and reloading what was replaced.

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
use crate::output::{on_one_line, shown, status};

/// Time between checks of the files.
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
    corpus: RwLock<Option<Arc<Corpus>>>,
    /// Its description, which is written anew with every corpus.
    corpus_stamp: RwLock<Option<FileStamp>>,
    model: RwLock<Arc<LoadedModel>>,
    /// The file that the current model is mapped from, if it is not in memory.
    mapped: RwLock<Option<FileStamp>>,
    /// Held while a new model or corpus is opened, so that they take over in the order in which they were opened.
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
        let (model, in_memory) = LoadedModel::open(&options.model, options.map_above, options.index)?;
        let corpus_stamp = options.corpus.as_deref().and_then(corpus_stamp);
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
            corpus: RwLock::new(corpus.map(Arc::new)),
            corpus_stamp: RwLock::new(corpus_stamp),
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

    /// The current corpus, if there is one. Whoever holds it keeps it when another takes its place.
    pub fn corpus(&self) -> Option<Arc<Corpus>> {
        self.corpus.read().unwrap_or_else(PoisonError::into_inner).clone()
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

    /// Opens what now has the names of the model and the corpus; what does not open leaves the old one in its place.
    pub async fn reload(self: &Arc<App>) {
        self.reload_model().await;
        self.reload_corpus().await;
    }

    async fn reload_corpus(self: &Arc<App>) {
        let Some(path) = self.options.corpus.clone() else { return };
        let _one_at_a_time = self.reloading.lock().await;
        // A corpus that does not open is not tried again until it changes.
        *self.corpus_stamp.write().unwrap_or_else(PoisonError::into_inner) = corpus_stamp(&path);
        let (opened, map_above) = (path.clone(), self.options.map_above);
        let opened = tokio::task::spawn_blocking(move || Corpus::open_resident(opened, map_above)).await;
        let shown = shown(&path);
        match opened {
            Ok(Ok(corpus)) => {
                let documents = corpus.len();
                *self.corpus.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(corpus));
                status(format_args!("{shown}: texts reloaded, {documents} documents"));
            }
            Ok(Err(error)) => {
                status(on_one_line(&format!("{error}; still showing the texts of the previous corpus")));
            }
            Err(_) => status(format_args!("{shown}: internal error; still showing the texts of the previous corpus")),
        }
    }

    async fn reload_model(self: &Arc<App>) {
        let _one_at_a_time = self.reloading.lock().await;
        let app = self.clone();
        let opened = tokio::task::spawn_blocking(move || -> Result<_, Error> {
            let stamp = FileStamp::of(&app.options.model);
            // A file that does not open is not tried again until it changes.
            *app.stamp.write().unwrap_or_else(PoisonError::into_inner) = stamp;
            Ok((LoadedModel::open(&app.options.model, app.options.map_above, app.options.index)?, stamp))
        });
        let path = shown(&self.options.model);
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
                    Ok(Err(error)) => on_one_line(&error.to_string()),
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

/// The stamp of a corpus: that of its description, which changes whenever one takes the place of another.
fn corpus_stamp(path: &Path) -> Option<FileStamp> {
    FileStamp::of(&path.join("corpus.json"))
}

/// Watches the model file and the corpus for ever, and reloads what has changed and then stayed the same for one interval.
pub async fn watch(app: Arc<App>) {
    let known = |stamp: &RwLock<Option<FileStamp>>| *stamp.read().unwrap_or_else(PoisonError::into_inner);
    let (mut last_model, mut last_corpus) = (None, None);
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let model = FileStamp::of(&app.options.model);
        if model.is_some() && model != known(&app.stamp) && model == last_model {
            app.reload_model().await;
        }
        let corpus = app.options.corpus.as_deref().and_then(corpus_stamp);
        if corpus.is_some() && corpus != known(&app.corpus_stamp) && corpus == last_corpus {
            app.reload_corpus().await;
        }
        (last_model, last_corpus) = (model, corpus);
    }
}
