//! A model behind HTTP: a JSON API, and a web page that uses it.
//!
//! A request comes in through `listen`, passes `guard`, and reaches a handler of `routes`. The handler parses it with
//! `extract` and has it answered on one of the `workers`, from the model that `state` holds at that moment.
//!
//! The files, lowest first. Each uses only files that stand before it in this list; `tests/layers.rs` reads the list and
//! checks that.
//!
//! - `options`: settings and limits
//! - `browser`: opening the page
//! - `error`: errors as responses
//! - `json_body`: JSON as a response body, compressed or not
//! - `page`: the files of the web page
//! - `hosts`: the host names that the server answers to
//! - `rate_limit`: a token bucket for each client
//! - `metrics`: counters for Prometheus
//! - `workers`: the threads that answer, and the queue before them
//! - `map`: the map of all documents, computed when first asked for
//! - `model`: an open model with everything that answers from it
//! - `state`: state shared by all requests, and reloading the model
//! - `guard`: checks that every request has to pass
//! - `extract`: requests parsed into types, within limits
//! - `schema`: limits in the OpenAPI description that the types do not say
//! - `routes`: the paths of the API with their handlers
//! - `connections`: how many may be open, in all and from one address
//! - `listen`: accepting connections, signals, shutdown

mod browser;
mod connections;
mod error;
mod extract;
mod guard;
mod hosts;
mod json_body;
mod listen;
mod map;
mod metrics;
mod model;
mod options;
mod page;
mod rate_limit;
mod routes;
mod schema;
mod state;
mod workers;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use tokio::net::TcpListener;

use crate::output::status;
pub use options::{Limits, ServeOptions};
use state::App;

/// Serves until a signal stops it.
pub fn run(options: ServeOptions) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let result = runtime.block_on(serve(options));
    // Do not wait for work whose result nobody is waiting for.
    runtime.shutdown_background();
    result
}

async fn serve(options: ServeOptions) -> Result<()> {
    let place = format!("{}:{}", options.host, options.port);
    let found = tokio::net::lookup_host((options.host.as_str(), options.port)).await;
    let first = found.with_context(|| format!("cannot find the address {:?}", options.host))?.next();
    let address = first.with_context(|| format!("{:?} has no address", options.host))?;
    let open = options.open;
    let app = Arc::new(App::open(options, address)?);
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen on {place}"))?;
    let address: SocketAddr = listener.local_addr().context("cannot read the port")?;
    if !address.ip().is_loopback() && app.token.is_none() {
        status("warning: anyone on the network can use this server; --token-file makes it require a token");
    }
    let signals = listen::Signals::new()?;
    status(format_args!("listening on http://{address}"));
    if open {
        browser::open(&format!("http://{address}"));
    }
    tokio::spawn(state::watch(app.clone()));
    app.warm();
    listen::accept(listener, routes::router(app.clone()), app, signals).await;
    Ok(())
}
