//! What requests share: the model of the moment, threads, limits, counts; and how a replaced model comes in.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use hyperdoc2vec::infer::Inferrer;
use hyperdoc2vec::search::Searcher;
use hyperdoc2vec::search::ranker::Ranker;
use hyperdoc2vec::{Error, Model};
use self_cell::self_cell;

use super::guard::Hosts;
use super::map::Drawn;
use super::metrics::Metrics;
use super::rate::Rates;
use super::routes::Together;
use super::work::Workers;
use super::{Limits, Options};
use crate::answer::about;
use crate::output::talk;
use crate::wire;

/// How often the model file is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// What asks a model.
pub struct Engine<'a> {
    /// By words and vectors.
    pub searcher: Searcher<'a>,
    /// The learnt ranking, if the model has one.
    pub hybrid: Option<Ranker>,
    /// Vectors for texts, or why there are none.
    pub inferrer: Result<Inferrer<'a>, Error>,
    /// What the model is.
    pub info: wire::Info,
    /// All documents on a plane.
    pub map: Drawn,
    /// Questions that are answered together: by this model, whatever takes its place.
    pub together: Arc<Together>,
    /// Tells this model from others.
    pub id: String,
}

impl<'a> Engine<'a> {
    fn new(model: &'a Model) -> Engine<'a> {
        let (searcher, hybrid) = (Searcher::new(model), Ranker::of(model));
        let info = about::info(&searcher, hybrid.is_some());
        // The description has the checksums of all arrays.
        let mut hasher = DefaultHasher::new();
        model.about().to_string().hash(&mut hasher);
        let id = format!("{:016x}", hasher.finish());
        let (map, together) = (Drawn::default(), Arc::default());
        Engine { searcher, hybrid, inferrer: Inferrer::new(model), info, map, together, id }
    }
}

self_cell!(
    /// A model with what asks it.
    pub struct Loaded {
        owner: Model,
        #[covariant]
        dependent: Engine,
    }
);

impl Loaded {
    fn open(path: &Path, verify: bool) -> Result<Arc<Loaded>, Error> {
        // To open a pipe is to wait for whoever writes to it.
        if path.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir()) {
            return Err(Error::Damaged { path: path.to_owned(), what: "expected a model, found no file".to_owned() });
        }
        let model = Model::open(path)?;
        if verify {
            model.verify()?;
        }
        Ok(Arc::new(Loaded::new(model, |model| Engine::new(model))))
    }

    /// What asks the model.
    pub fn engine(&self) -> &Engine<'_> {
        self.borrow_dependent()
    }
}

/// What requests share.
pub struct App {
    options: Options,
    /// What requests must bear.
    pub token: Option<Vec<u8>>,
    /// Which names the server goes by.
    pub hosts: Hosts,
    /// What is counted.
    pub metrics: Metrics,
    /// How often clients may ask.
    pub rates: Rates,
    /// Threads that answer.
    pub workers: Workers,
    model: RwLock<Arc<Loaded>>,
    /// Held while another model is opened: what is opened later comes in later.
    reloading: tokio::sync::Mutex<()>,
    stamp: RwLock<Option<Stamp>>,
    stopping: AtomicBool,
}

/// What tells one file from another that took its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    written: Option<SystemTime>,
    bytes: u64,
    number: u64,
}

impl Stamp {
    fn of(path: &Path) -> Option<Stamp> {
        let there = path.metadata().ok()?;
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(&there);
        #[cfg(not(unix))]
        let number = 0;
        Some(Stamp { written: there.modified().ok(), bytes: there.len(), number })
    }
}

impl App {
    /// Opens the model.
    pub fn open(mut options: Options, address: std::net::SocketAddr) -> anyhow::Result<App> {
        let stamp = Stamp::of(&options.model);
        let model = Loaded::open(&options.model, false)?;
        let token = options.token.take();
        let metrics = Metrics::new();
        metrics.documents(model.borrow_owner().documents());
        Ok(App {
            token,
            hosts: Hosts::new(&options.host, address.ip()),
            metrics,
            rates: Rates::new(options.limits.rate),
            workers: Workers::new(options.threads, &options.limits)?,
            model: RwLock::new(model),
            reloading: tokio::sync::Mutex::default(),
            stamp: RwLock::new(stamp),
            stopping: AtomicBool::new(false),
            options,
        })
    }

    /// What is too much.
    pub fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// The model of the moment. Whoever holds it goes on with it when another takes its place.
    pub fn model(&self) -> Arc<Loaded> {
        self.model.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether new requests are welcome.
    pub fn ready(&self) -> bool {
        !self.stopping.load(Ordering::Relaxed)
    }

    /// From now on no new requests are welcome.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Prepares what is made when first asked for, on none of the threads that answer.
    pub fn warm(&self) {
        let model = self.model();
        tokio::task::spawn_blocking(move || {
            model.engine().searcher.linked_by(0);
        });
    }

    /// Opens what now has the model's name; the old model stays where that is not usable.
    pub async fn reload(self: &Arc<App>) {
        let _alone = self.reloading.lock().await;
        let app = self.clone();
        let opened = tokio::task::spawn_blocking(move || {
            let stamp = Stamp::of(&app.options.model);
            // What does not open is not tried again until it changes.
            *app.stamp.write().unwrap_or_else(PoisonError::into_inner) = stamp;
            Loaded::open(&app.options.model, true)
        });
        match opened.await {
            Ok(Ok(model)) => {
                let documents = model.borrow_owner().documents();
                *self.model.write().unwrap_or_else(PoisonError::into_inner) = model;
                self.metrics.reloaded(true);
                self.metrics.documents(documents);
                self.warm();
                talk(format_args!("{}: opened anew, {documents} documents", self.options.model.display()));
            }
            failed => {
                self.metrics.reloaded(false);
                let why = match failed {
                    Ok(Err(error)) => error.to_string(),
                    _ => format!("{}: the program failed on it", self.options.model.display()),
                };
                talk(format_args!("{why}; going on with the model from before"));
            }
        }
    }
}

/// Looks after the model file, for ever: one that changed and then stayed the same for a while is opened.
pub async fn watch(app: Arc<App>) {
    let mut last = None;
    loop {
        tokio::time::sleep(EVERY).await;
        let now = Stamp::of(&app.options.model);
        let known = *app.stamp.read().unwrap_or_else(PoisonError::into_inner);
        if now.is_some() && now != known && now == last {
            app.reload().await;
        }
        last = now;
    }
}
