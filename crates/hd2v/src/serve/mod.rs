//! A model behind HTTP: an API of JSON, and a page that uses it.
//!
//! A request goes through `listen` (connections, slow clients), `guard` (who may ask, how often, what is counted) and
//! `routes` to `work` (a bounded number of threads), which asks the model that `state` holds at that moment.

mod ask;
mod failure;
mod guard;
mod listen;
mod map;
mod metrics;
mod openapi;
mod page;
mod rate;
mod routes;
mod state;
mod work;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::net::TcpListener;

use crate::output::talk;
use state::App;

/// What to serve, and how.
pub struct Options {
    /// The model file.
    pub model: PathBuf,
    /// The address to listen on.
    pub host: String,
    /// The port; 0 for any.
    pub port: u16,
    /// What requests must bear.
    pub token: Option<Vec<u8>>,
    /// Threads that answer; 0 for one a core.
    pub threads: usize,
    /// What is too much.
    pub limits: Limits,
}

/// What is too much.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Requests being answered or waiting.
    pub concurrent: usize,
    /// Connections.
    pub connections: usize,
    /// Bytes of a body.
    pub body: usize,
    /// Questions or texts in one request.
    pub batch: usize,
    /// Bytes of a text.
    pub text: usize,
    /// Requests a second of one address; 0 for any number.
    pub rate: f64,
    /// For an answer.
    pub answer: Duration,
    /// For a client to send a request, or to take some of its answer.
    pub client: Duration,
}

/// Serves until a signal ends it.
pub fn run(options: Options) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let done = runtime.block_on(serve(options));
    // Work that nobody waits for any more does not keep the program.
    runtime.shutdown_background();
    done
}

async fn serve(options: Options) -> Result<()> {
    let place = format!("{}:{}", options.host, options.port);
    let found = tokio::net::lookup_host((options.host.as_str(), options.port)).await;
    let first = found.with_context(|| format!("cannot find the address {:?}", options.host))?.next();
    let address = first.with_context(|| format!("{:?} has no address", options.host))?;
    let app = Arc::new(App::open(options, address)?);
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen on {place}"))?;
    let address: SocketAddr = listener.local_addr().context("cannot tell the port")?;
    if !address.ip().is_loopback() && app.token.is_none() {
        talk("warning: others on the network can ask this server; --token-file lets in those who bear a token");
    }
    let signals = listen::Signals::new()?;
    talk(format_args!("listening on http://{address}"));
    tokio::spawn(state::watch(app.clone()));
    app.warm();
    listen::accept(listener, routes::router(app.clone()), app, signals).await;
    Ok(())
}
