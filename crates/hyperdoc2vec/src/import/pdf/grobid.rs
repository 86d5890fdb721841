//! A GROBID server, asked over plain HTTP: a PDF goes there, TEI comes back.
//!
//! Ours, not a client of HTTP: one request of one form to a server of one's own. Each answer is read to its end and
//! bounded; whoever waits looks every [`LOOK`] whether the answer is still wanted. TLS is not spoken, since papers should not leave the machine or its network by accident.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// Longest wait for an answer.
const WAIT: Duration = Duration::from_secs(180);
/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Time between two looks at whether the answer is still wanted.
const LOOK: Duration = Duration::from_millis(200);
/// Bytes of an answer that are read.
const LONGEST: u64 = 256 << 20;
/// Parts of a form are parted by this.
const BOUNDARY: &str = "----hd2v-part-of-a-form-5f1c9a";

/// A server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grobid {
    host: String,
    port: u16,
    path: String,
}

impl Grobid {
    /// The server at an address.
    pub(super) fn at(url: &str) -> Result<Grobid> {
        let wrong =
            || Error::Usage(format!("GROBID: expected an address such as http://localhost:8070, found {url:?}"));
        let rest = url.trim().strip_prefix("http://").ok_or_else(wrong)?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| wrong())?),
            None => (authority, 80),
        };
        let plain = |text: &str| !text.contains(|c: char| c.is_whitespace() || c.is_control());
        if host.is_empty() || !plain(host) || !plain(path) {
            return Err(wrong());
        }
        let path = path.trim_end_matches('/');
        let path = if path.is_empty() { String::new() } else { format!("/{path}") };
        Ok(Grobid { host: host.to_owned(), port, path })
    }

    /// The TEI of a PDF; `stop` is set when nobody wants it any more.
    pub(super) fn read(&self, pdf: &[u8], stop: &AtomicBool) -> std::result::Result<String, String> {
        self.ask(pdf, &Deadline::new(WAIT, stop)).map_err(|why| format!("GROBID at {}:{}: {why}", self.host, self.port))
    }

    fn ask(&self, pdf: &[u8], deadline: &Deadline<'_>) -> std::result::Result<String, String> {
        let said = |error: std::io::Error| error.to_string();
        let mut stream = self.connect(deadline.stop)?;
        let field =
            |name: &str| format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n1\r\n");
        let head = format!(
            "{}{}--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"input\"; filename=\"paper.pdf\"\r\n\
             Content-Type: application/pdf\r\n\r\n",
            field("consolidateHeader").replace("\r\n1\r\n", "\r\n0\r\n"),
            field("includeRawCitations"),
        );
        let tail = format!("\r\n--{BOUNDARY}--\r\n");
        let request = format!(
            "POST {}/api/processFulltextDocument HTTP/1.1\r\nHost: {}:{}\r\nAccept: application/xml\r\n\
             Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.path,
            self.host,
            self.port,
            head.len() + pdf.len() + tail.len()
        );
        for part in [request.as_bytes(), head.as_bytes(), pdf, tail.as_bytes()] {
            send(&mut stream, part, deadline).map_err(said)?;
        }
        body(&whole(&mut stream, deadline).map_err(said)?)
    }

    /// A connection; made on a thread of its own, since neither the search for a name nor a handshake can be broken off.
    fn connect(&self, stop: &AtomicBool) -> std::result::Result<TcpStream, String> {
        let (host, port) = (self.host.trim_matches(['[', ']']).to_owned(), self.port);
        let (sender, made) = mpsc::channel();
        let connect = move || {
            let address = (host.as_str(), port).to_socket_addrs()?.next().ok_or(std::io::ErrorKind::NotFound)?;
            TcpStream::connect_timeout(&address, CONNECT)
        };
        let started = std::thread::Builder::new().spawn(move || drop(sender.send(connect())));
        started.map_err(|error| error.to_string())?;
        let deadline = Deadline::new(3 * CONNECT, stop);
        loop {
            match made.recv_timeout(deadline.next_wait().map_err(|error| error.to_string())?) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(stream) => return stream.map_err(|error| error.to_string()),
                Err(RecvTimeoutError::Disconnected) => return Err("no connection".to_owned()),
            }
        }
    }
}

/// How long to wait in all: a server that sends or takes a byte now and then holds nobody for ever.
struct Deadline<'a> {
    until: Instant,
    stop: &'a AtomicBool,
}

impl Deadline<'_> {
    fn new(wait: Duration, stop: &AtomicBool) -> Deadline<'_> {
        Deadline { until: Instant::now() + wait, stop }
    }

    /// The longest wait before the next look; an error if there is none left, or the answer is not wanted any more.
    fn next_wait(&self) -> std::io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        match () {
            () if self.stop.load(Ordering::Relaxed) => Err(std::io::Error::other(super::STOPPED)),
            () if left.is_zero() => Err(std::io::ErrorKind::TimedOut.into()),
            () => Ok(left.min(LOOK)),
        }
    }
}

/// Whether nothing came or went during one wait.
fn is_waiting(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

/// Sends all of `bytes`.
fn send(stream: &mut TcpStream, mut bytes: &[u8], deadline: &Deadline<'_>) -> std::io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(Some(deadline.next_wait()?))?;
        match stream.write(bytes) {
            Ok(0) => return Err(std::io::ErrorKind::WriteZero.into()),
            Ok(sent) => bytes = &bytes[sent..],
            Err(error) if is_waiting(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// All that comes until the other end closes, at most [`LONGEST`] bytes.
fn whole(stream: &mut TcpStream, deadline: &Deadline<'_>) -> std::io::Result<Vec<u8>> {
    let (mut answer, mut piece) = (Vec::new(), vec![0; 1 << 16]);
    while (answer.len() as u64) < LONGEST {
        stream.set_read_timeout(Some(deadline.next_wait()?))?;
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => answer.extend_from_slice(&piece[..read]),
            Err(error) if is_waiting(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(answer)
}

/// The text that an answer of HTTP brings, or why there is none.
pub(crate) fn body(answer: &[u8]) -> std::result::Result<String, String> {
    let end = memchr::memmem::find(answer, b"\r\n\r\n").ok_or("its answer is not HTTP")?;
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let status = head.split(' ').nth(1).unwrap_or_default();
    let body = &answer[end + 4..];
    match status {
        "200" => {}
        "204" => return Err("it found no text".to_owned()),
        "503" => return Err("it is busy; import again later".to_owned()),
        status => return Err(format!("it answered with status {status}")),
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let body = match length.map(|length| length.trim().parse::<usize>().ok()) {
        _ if head.contains("transfer-encoding: chunked") => unchunked(body)?,
        Some(length) => length.and_then(|length| body.get(..length)).ok_or("its answer breaks off")?.to_vec(),
        None => body.to_vec(),
    };
    String::from_utf8(body).map_err(|_| "its answer is not UTF-8".to_owned())
}

/// The bytes of a body that comes in pieces, each after its length.
fn unchunked(mut body: &[u8]) -> std::result::Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(body.len());
    loop {
        let end = memchr::memmem::find(body, b"\r\n").ok_or("its answer breaks off")?;
        let size = std::str::from_utf8(&body[..end]).ok().and_then(|line| line.split(';').next());
        let size = size.and_then(|size| usize::from_str_radix(size.trim(), 16).ok()).ok_or("its answer is no HTTP")?;
        if size == 0 {
            return Ok(out);
        }
        let piece = body.get(end + 2..).and_then(|rest| rest.get(..size)).ok_or("its answer breaks off")?;
        out.extend_from_slice(piece);
        body = body.get(end + 2 + size + 2..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;
    use std::net::TcpListener;

    /// The answer is wanted to the end.
    static GO_ON: AtomicBool = AtomicBool::new(false);

    /// A server that gives one answer, and returns the request.
    fn stand_in(answer: &'static str) -> (String, std::thread::JoinHandle<Vec<u8>>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let mut request = Vec::new();
            let mut piece = [0; 4096];
            while memchr::memmem::find(&request, format!("--{BOUNDARY}--").as_bytes()).is_none() {
                let read = stream.read(&mut piece).expect("a request");
                request.extend_from_slice(&piece[..read]);
            }
            stream.write_all(answer.as_bytes()).expect("answered");
            request
        });
        (address, server)
    }

    #[test]
    fn a_pdf_goes_there_and_tei_comes_back() {
        for answer in [
            "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n<TEI>é</TEI>",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<TEI>\r\n8\r\né</TEI>\r\n0\r\n\r\n",
        ] {
            let (address, server) = stand_in(answer);
            assert_eq!(
                Grobid::at(&address).expect("a server").read(b"%PDF-1.4", &GO_ON).as_deref(),
                Ok("<TEI>é</TEI>")
            );
            let request = String::from_utf8_lossy(&server.join().expect("served")).into_owned();
            assert!(request.starts_with("POST /api/processFulltextDocument HTTP/1.1\r\n"), "{request}");
            assert!(request.contains("%PDF-1.4") && request.contains("includeRawCitations"), "{request}");
        }
        let (address, _server) = stand_in("HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n<TEI>é</TEI>");
        let cut = Grobid::at(&address).expect("a server").read(b"%PDF-1.4", &GO_ON).expect_err("a byte is missing");
        assert!(cut.contains("breaks off"), "{cut}");
        let (address, _server) = stand_in("HTTP/1.1 503 Busy\r\n\r\n");
        let busy = Grobid::at(&format!("{address}/")).expect("a server").read(b"%PDF-", &GO_ON).expect_err("busy");
        assert!(busy.contains("busy"), "{busy}");
    }

    #[test]
    fn a_server_that_drips_is_left() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            while stream.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let mut stream = TcpStream::connect(address).expect("a server");
        let deadline = Deadline::new(Duration::from_millis(300), &GO_ON);
        let left = whole(&mut stream, &deadline).expect_err("it never ends");
        assert_eq!(left.kind(), std::io::ErrorKind::TimedOut, "{left}");
        drop(stream);
        server.join().expect("it ends");
    }

    #[test]
    fn a_server_is_left_when_nobody_wants_its_answer_any_more() {
        // It takes nothing and says nothing.
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let grobid = Grobid::at(&format!("http://{}", listener.local_addr().expect("an address"))).expect("a server");
        for bytes in [8, 64 << 20] {
            let (stop, started) = (AtomicBool::new(false), Instant::now());
            std::thread::scope(|scope| {
                let asks = scope.spawn(|| grobid.read(&vec![b'%'; bytes], &stop));
                std::thread::sleep(Duration::from_millis(100));
                stop.store(true, Ordering::Relaxed);
                let why = asks.join().expect("it ends").expect_err("no answer");
                assert!(why.contains(crate::import::pdf::STOPPED), "{why}");
            });
            assert!(started.elapsed() < WAIT / 4, "{:?}", started.elapsed());
        }
    }

    #[test]
    fn what_is_no_address_of_a_server_is_told() {
        for wrong in ["", "localhost:8070", "https://example.org", "http://", "http://a:b", "http://a b/"] {
            assert!(Grobid::at(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_answer_in_many_pieces_takes_time_in_proportion() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_linear("pieces", 40_000, |pieces| {
            let answer = format!("{head}{}0\r\n\r\n", "1\r\na\r\n".repeat(pieces));
            assert_eq!(body(answer.as_bytes()).map(|text| text.len()), Ok(pieces));
        });
    }
}
