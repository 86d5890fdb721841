//! Connections: a bounded number, clients that are too slow are left, and what is under way is finished at the end.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
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

use super::guard::Client;
use super::state::App;
use crate::output::talk;

/// How long what is under way may take at the end.
const LAST: Duration = Duration::from_secs(30);
/// How long a client may still take to send a head at the end.
const LAST_HEAD: Duration = Duration::from_secs(2);
/// Bytes of a request's head.
const HEAD: usize = 32 << 10;
/// Troubles less than this apart are told as one.
const BURST: Duration = Duration::from_secs(10);

/// Signals to the program.
pub struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hang_up: tokio::signal::unix::Signal,
}

/// What a signal asks for.
enum Asks {
    ToStop,
    #[cfg_attr(not(unix), allow(dead_code, reason = "there is no such signal"))]
    ToReload,
}

impl Signals {
    /// Listens from now on.
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
    async fn next(&mut self) -> Asks {
        tokio::select! {
            _ = self.terminate.recv() => Asks::ToStop,
            _ = self.interrupt.recv() => Asks::ToStop,
            _ = self.hang_up.recv() => Asks::ToReload,
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) -> Asks {
        let _ = tokio::signal::ctrl_c().await;
        Asks::ToStop
    }
}

/// How many connections there can be: as many as wanted, if the system lets so many files be open.
#[cfg(unix)]
fn connections(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    /// Files that may be open besides connections.
    const OTHER_FILES: u64 = 64;
    let needed = wanted as u64 + OTHER_FILES;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let Some(current) = current.filter(|&current| current < needed) else { return wanted };
    let most = maximum.map_or(needed, |maximum| maximum.min(needed));
    let raised = setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum });
    let files = if raised.is_ok() { most } else { current };
    let left = files.saturating_sub(OTHER_FILES).max(1) as usize;
    if left < wanted {
        talk(format_args!("{left} connections at the most, as no more than {files} files may be open (ulimit -n)"));
    }
    left
}

#[cfg(not(unix))]
fn connections(wanted: usize) -> usize {
    wanted
}

/// Answers until a signal asks to stop, and then what is under way.
pub async fn accept(listener: TcpListener, router: Router, app: Arc<App>, mut signals: Signals) {
    let places = Arc::new(Semaphore::new(connections(app.limits().connections)));
    let under_way = GracefulShutdown::new();
    let (stop, stopping) = watch::channel(());
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(app.limits().client);
    http.max_buf_size(HEAD).max_header_size(HEAD);
    let mut trouble: Option<Instant> = None;
    loop {
        let connection = async {
            let place = places.clone().acquire_owned().await;
            (listener.accept().await, place)
        };
        let (stream, client, place) = tokio::select! {
            asks = signals.next() => match asks {
                Asks::ToReload => {
                    let app = app.clone();
                    tokio::spawn(async move { app.reload().await });
                    continue;
                }
                Asks::ToStop => break,
            },
            (accepted, place) = connection => match accepted {
                Ok((stream, client)) => (stream, client, place),
                Err(error) => {
                    // Too many open files, say: others will be closed.
                    if trouble.is_none_or(|last| last.elapsed() > BURST) {
                        talk(format_args!("cannot accept a connection: {error}"));
                    }
                    trouble = Some(Instant::now());
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        let _ = stream.set_nodelay(true);
        let (router, doing) = (router.clone(), Arc::new(Doing::default()));
        let answering = doing.clone();
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(Client(client.ip()));
            let (answer, doing) = (router.clone().oneshot(request.map(Body::new)), answering.clone());
            async move {
                doing.answering.store(true, Ordering::Relaxed);
                let answer = answer.await;
                doing.answering.store(false, Ordering::Relaxed);
                answer
            }
        });
        let stream = Impatient::new(stream, app.limits().client, doing.clone());
        let connection = under_way.watch(http.serve_connection(stream, service));
        let stopping = stopping.clone();
        tokio::spawn(async move {
            // Clients that break off are no concern of ours.
            tokio::select! {
                _ = connection => {}
                () = no_more(stopping, &doing) => {}
            }
            drop(place);
        });
    }
    app.stop();
    drop((listener, stop));
    talk("stopping; once more to stop at once");
    tokio::select! {
        () = under_way.shutdown() => {}
        () = tokio::time::sleep(LAST) => talk("some requests took too long and were left"),
        () = async { while matches!(signals.next().await, Asks::ToReload) {} } => {}
    }
}

/// What is being done on a connection.
#[derive(Default)]
struct Doing {
    /// A request came, and has no answer yet.
    answering: AtomicBool,
    /// The client does not take its answer as fast as it could be sent.
    sending: AtomicBool,
}

/// Ends a while after the server was told to stop, on a connection on which nothing is being answered by then.
async fn no_more(mut stopping: watch::Receiver<()>, doing: &Doing) {
    // An error: nobody is left to send anything.
    let _ = stopping.changed().await;
    tokio::time::sleep(LAST_HEAD).await;
    if doing.answering.load(Ordering::Relaxed) || doing.sending.load(Ordering::Relaxed) {
        std::future::pending::<()>().await;
    }
}

/// A connection that ends when the client takes nothing of its answer for too long.
struct Impatient {
    inner: TokioIo<TcpStream>,
    patience: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
    doing: Arc<Doing>,
}

impl Impatient {
    fn new(stream: TcpStream, patience: Duration, doing: Arc<Doing>) -> Impatient {
        Impatient { inner: TokioIo::new(stream), patience, waiting: None, doing }
    }

    /// `done` if it is; an error when it has not been for too long.
    fn wait<T>(&mut self, context: &mut Context<'_>, done: Poll<std::io::Result<T>>) -> Poll<std::io::Result<T>> {
        self.doing.sending.store(done.is_pending(), Ordering::Relaxed);
        if done.is_ready() {
            self.waiting = None;
            return done;
        }
        let until = Instant::now() + self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(std::io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl hyper::rt::Read for Impatient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl hyper::rt::Write for Impatient {
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
