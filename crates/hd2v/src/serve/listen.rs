//! Connections: a bounded number in all and from one address, timeouts for slow clients, and a graceful shutdown on a
//! signal.
//!
//! Neither `axum::serve` nor axum-server bounds connections, header size and the time a client takes to read.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::rt::ReadBufCursor;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, Sleep};
use tower::ServiceExt;

use super::connections::{Activity, OpenConnections};
use super::state::App;
use crate::output::status;

/// Time for requests in progress to finish at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(30);
/// Time for a client to finish sending the head of a request at shutdown.
const SHUTDOWN_HEAD_TIMEOUT: Duration = Duration::from_secs(2);
/// Largest head of a request, in bytes.
const MAX_HEAD: usize = 32 << 10;
/// Bytes a second that a client has to read of a response.
const LEAST_RATE: f64 = 1024.0;
/// Time between looks for a connection that can make room when all are taken.
const RECLAIM_INTERVAL: Duration = Duration::from_millis(100);
/// The response to one connection too many from an address.
const TOO_MANY: &[u8] =
    b"HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n";
/// An error that repeats is printed again only after a pause of this length.
const QUIET: Duration = Duration::from_secs(10);

/// The signals that the server listens for.
pub struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hang_up: tokio::signal::unix::Signal,
}

/// The action that a signal requests.
enum Signal {
    Stop,
    #[cfg_attr(not(unix), allow(dead_code, reason = "there is no such signal"))]
    Reload,
}

impl Signals {
    /// Starts to listen.
    pub fn new() -> std::io::Result<Signals> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Signals {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
                hang_up: signal(SignalKind::hangup())?,
            })
        }
        #[cfg(not(unix))]
        Ok(Signals {})
    }

    #[cfg(unix)]
    async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::Stop,
            _ = self.interrupt.recv() => Signal::Stop,
            _ = self.hang_up.recv() => Signal::Reload,
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) -> Signal {
        let _ = tokio::signal::ctrl_c().await;
        Signal::Stop
    }
}

/// The number of connections to allow: `wanted`, or fewer if the system does not allow that many open files.
#[cfg(unix)]
fn connections(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    /// Open files that are not connections.
    const OTHER_FILES: u64 = 64;
    let needed = wanted as u64 + OTHER_FILES;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let Some(current) = current.filter(|&current| current < needed) else { return wanted };
    let most = maximum.map_or(needed, |maximum| maximum.min(needed));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum });
    let files = if raised.is_ok() { most } else { current };
    let left = files.saturating_sub(OTHER_FILES).max(1) as usize;
    if left < wanted {
        status(format_args!("at most {left} connections, as the system allows {files} open files (ulimit -n)"));
    }
    left
}

#[cfg(not(unix))]
fn connections(wanted: usize) -> usize {
    wanted
}

/// Serves connections until a signal asks to stop, then finishes the requests in progress.
pub async fn accept(listener: TcpListener, router: Router, app: Arc<App>, mut signals: Signals) {
    let slots = Arc::new(Semaphore::new(connections(app.limits().connections)));
    let open = Arc::new(OpenConnections::default());
    let graceful = GracefulShutdown::new();
    let (stop, stopping) = watch::channel(());
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(app.limits().client);
    http.max_buf_size(MAX_HEAD).max_header_size(MAX_HEAD);
    let mut last_error: Option<Instant> = None;
    loop {
        let connection = async {
            let slot = loop {
                if slots.available_permits() == 0 {
                    open.close_idle(None);
                }
                // A connection that is in use now may be idle soon.
                if let Ok(slot) = tokio::time::timeout(RECLAIM_INTERVAL, slots.clone().acquire_owned()).await {
                    break slot;
                }
            };
            (listener.accept().await, slot)
        };
        let (stream, client, slot) = tokio::select! {
            signal = signals.next() => match signal {
                Signal::Reload => {
                    let app = app.clone();
                    tokio::spawn(async move { app.reload().await });
                    continue;
                }
                Signal::Stop => break,
            },
            (accepted, slot) = connection => match accepted {
                Ok((stream, client)) => (stream, client, slot),
                Err(error) => {
                    // For example too many open files; wait for others to be closed.
                    if last_error.is_none_or(|last| last.elapsed() > QUIET) {
                        status(format_args!("cannot accept a connection: {error}"));
                    }
                    last_error = Some(Instant::now());
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        let _ = stream.set_nodelay(true);
        let Some(mut guest) = open.admit(client.ip(), app.limits().client_connections) else {
            // As much as fits without waiting for the client.
            let _ = stream.try_write(TOO_MANY);
            continue;
        };
        let (router, activity) = (router.clone(), guest.activity.clone());
        let answering = activity.clone();
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(client));
            let (answer, activity) = (router.clone().oneshot(request.map(Body::new)), answering.clone());
            async move {
                activity.requests.fetch_add(1, Ordering::Relaxed);
                activity.answering.store(true, Ordering::Relaxed);
                let answer = answer.await;
                activity.answering.store(false, Ordering::Relaxed);
                answer
            }
        });
        let stream = WriteTimeout::new(stream, app.limits().client, activity.clone());
        let connection = graceful.watch(http.serve_connection(stream, service));
        let stopping = stopping.clone();
        tokio::spawn(async move {
            // A connection that the client breaks off is no error.
            tokio::select! {
                _ = connection => {}
                () = guest.closed() => {}
                () = idle_at_shutdown(stopping, &activity) => {}
            }
            drop((guest, slot));
        });
    }
    app.stop();
    drop((listener, stop));
    status("stopping after the requests in progress; signal again to stop at once");
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(SHUTDOWN_TIMEOUT) => status("some requests took too long and were dropped"),
        () = async { while matches!(signals.next().await, Signal::Reload) {} } => {}
    }
}

/// Ends some time after shutdown begins, unless the connection is in use then.
async fn idle_at_shutdown(mut stopping: watch::Receiver<()>, activity: &Activity) {
    // The channel carries nothing: it is closed at shutdown.
    let _ = stopping.changed().await;
    tokio::time::sleep(SHUTDOWN_HEAD_TIMEOUT).await;
    if activity.answering.load(Ordering::Relaxed) || activity.sending.load(Ordering::Relaxed) {
        std::future::pending::<()>().await;
    }
}

/// A connection that ends when the client reads its response too slowly: less than [`LEAST_RATE`] over a whole timeout.
struct WriteTimeout {
    inner: TokioIo<TcpStream>,
    timeout: Duration,
    window: Option<Window>,
    activity: Arc<Activity>,
}

/// A stretch of time within which a response had to wait for its reader.
struct Window {
    /// The request that is answered.
    request: usize,
    end: Pin<Box<Sleep>>,
    /// Bytes that went out meanwhile.
    sent: usize,
}

impl WriteTimeout {
    fn new(stream: TcpStream, timeout: Duration, activity: Arc<Activity>) -> WriteTimeout {
        WriteTimeout { inner: TokioIo::new(stream), timeout, window: None, activity }
    }

    /// Passes the result of a write on; an error if the client has read too little since writes began to wait for it.
    fn wait(&mut self, context: &mut Context<'_>, done: Poll<std::io::Result<usize>>) -> Poll<std::io::Result<usize>> {
        self.activity.sending.store(done.is_pending(), Ordering::Relaxed);
        let request = self.activity.requests.load(Ordering::Relaxed);
        // Each response has its own time.
        self.window.take_if(|window| window.request != request);
        if let Poll::Ready(written) = &done {
            if let (Some(window), Ok(written)) = (&mut self.window, written) {
                window.sent += written;
            }
            return done;
        }
        loop {
            let until = Instant::now() + self.timeout;
            let new = || Window { request, end: Box::pin(tokio::time::sleep_until(until)), sent: 0 };
            let window = self.window.get_or_insert_with(new);
            if window.end.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            if (window.sent as f64) < LEAST_RATE * self.timeout.as_secs_f64() {
                return Poll::Ready(Err(std::io::ErrorKind::TimedOut.into()));
            }
            self.window = None;
        }
    }
}

impl hyper::rt::Read for WriteTimeout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl hyper::rt::Write for WriteTimeout {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        let done = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.wait(context, done)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let done = Pin::new(&mut self.inner).poll_write_vectored(context, pieces);
        self.wait(context, done)
    }
}
