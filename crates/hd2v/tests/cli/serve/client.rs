//! A server started for a test, and the few lines of HTTP that ask it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::helper::{HD2V, Place};

/// Nothing that is waited for takes longer on the slowest machine.
pub const LONGEST: Duration = Duration::from_secs(60);

/// A server under way.
pub struct Server {
    child: Child,
    pub address: String,
    said: Arc<Mutex<Vec<String>>>,
    reader: Option<JoinHandle<()>>,
}

/// A response of the server.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        assert_eq!(self.header("content-type"), Some("application/json"), "{text}");
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(there, _)| there == name).map(|(_, value)| value.as_str())
    }

    /// The status and the code of an error.
    pub fn error(&self) -> (u16, String) {
        let json = self.json();
        assert!(json["error"]["message"].as_str().is_some_and(|message| message.len() > 5), "{json}");
        (self.status, json["error"]["code"].as_str().expect("a code").to_owned())
    }
}

impl Server {
    /// Starts `hd2v serve m` on a free port.
    pub fn start(place: &Place, arguments: &str) -> Server {
        Server::of(place.start(&format!("serve m --port 0 {arguments}")))
    }

    /// Starts a server from a shell that has run `limit` before.
    pub fn start_limited(place: &Place, limit: &str, arguments: &str) -> Server {
        let script = format!("{limit}; exec {HD2V} serve m --port 0 {arguments}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(place.path("")).stderr(Stdio::piped());
        Server::of(shell.spawn().expect("a shell"))
    }

    /// Waits until it listens.
    fn of(mut child: Child) -> Server {
        let stderr = child.stderr.take().expect("stderr");
        let said = Arc::new(Mutex::new(Vec::new()));
        let (send, receive) = std::sync::mpsc::channel();
        let lines = said.clone();
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if let Some(address) = line.strip_prefix("listening on http://") {
                    let _ = send.send(address.to_owned());
                }
                lines.lock().expect("lines").push(line);
            }
        });
        let address = receive.recv_timeout(LONGEST).unwrap_or_else(|_| panic!("{:?}", said.lock().expect("lines")));
        Server { child, address, said, reader: Some(reader) }
    }

    /// Whether the server has said something.
    pub fn said(&self, what: &str) -> bool {
        self.said.lock().expect("lines").iter().any(|line| line.contains(what))
    }

    /// Waits until it has.
    pub fn says(&self, what: &str) {
        until(&format!("{what:?} to be said"), || self.said(what));
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(LONGEST)).expect("a time limit");
        stream
    }

    /// Sends bytes as they are and reads the answer.
    pub fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that has seen enough may have closed.
        let _ = stream.write_all(request);
        read(&mut stream).expect("an answer")
    }

    pub fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{length}{headers}\r\n{body}",
            self.address
        );
        self.send(request.as_bytes())
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "", "")
    }

    /// The JSON at a path, which must exist.
    pub fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", String::from_utf8_lossy(&answer.body));
        answer.json()
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, "Content-Type: application/json\r\n", &body.to_string())
    }

    /// Sends a signal.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().expect("kill");
        assert!(sent.success());
    }

    /// Whether the server still maps a model file whose name was taken by another, where `/proc` tells; else false.
    pub fn holds_replaced_model(&self) -> bool {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.child.id())).unwrap_or_default();
        maps.lines().any(|line| line.ends_with("/m (deleted)"))
    }

    /// Waits for the end; the exit code.
    pub fn end(mut self) -> Option<i32> {
        let mut ended = None;
        until("the server to end", || {
            ended = self.child.try_wait().expect("a status");
            ended.is_some()
        });
        self.reader.take().into_iter().for_each(|reader| reader.join().expect("lines"));
        ended.and_then(|status| status.code())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something is so.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !so() {
        assert!(started.elapsed() < LONGEST, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Reads one answer; `None` where the connection was closed without.
pub fn read(stream: &mut TcpStream) -> Option<Answer> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8(bytes[..end].to_vec()).expect("a head of text");
            let mut lines = head.lines();
            let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
            let header = |line: &str| {
                let (name, value) = line.split_once(':').expect("a header");
                (name.to_ascii_lowercase(), value.trim().to_owned())
            };
            let headers: Vec<(String, String)> = lines.map(header).collect();
            let length = headers.iter().find(|(name, _)| name == "content-length").map(|(_, length)| length.parse());
            let length: usize = length.transpose().expect("a length").unwrap_or(0);
            let mut body = bytes.split_off(end + 4);
            while body.len() < length {
                match stream.read(&mut piece).expect("a body") {
                    0 => panic!("the body broke off"),
                    count => body.extend_from_slice(&piece[..count]),
                }
            }
            return Some(Answer { status, headers, body });
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
        }
    }
}
