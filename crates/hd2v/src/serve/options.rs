//! The server's settings and limits, as the command line gives them.

use std::path::PathBuf;
use std::time::Duration;

/// Which model to serve, where, and within which limits.
pub struct ServeOptions {
    /// The model file.
    pub model: PathBuf,
    /// The corpus of the model, whose texts are shown.
    pub corpus: Option<PathBuf>,
    /// Models of more bytes than this are mapped, not read into memory.
    pub map_above: u64,
    /// Whether to look for documents by vectors through an index, which is made for a large model.
    pub index: bool,
    /// The host name or address to listen on.
    pub host: String,
    /// The port to listen on; 0 for any free one.
    pub port: u16,
    /// Whether to open the page in the browser.
    pub open: bool,
    /// The bearer token that requests need.
    pub token: Option<Vec<u8>>,
    /// Threads that answer requests; 0 for one per core.
    pub threads: usize,
    /// Limits on requests.
    pub limits: Limits,
}

/// Limits on requests.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Requests in progress or waiting.
    pub concurrent: usize,
    /// Open connections.
    pub connections: usize,
    /// Open connections from one address.
    pub client_connections: usize,
    /// Bytes of a request body.
    pub body: usize,
    /// Questions or texts in one request.
    pub batch: usize,
    /// Bytes of one text.
    pub text: usize,
    /// Requests per second from one address; 0 for no limit.
    pub rate: f64,
    /// Time to answer a request.
    pub answer: Duration,
    /// Time for a client to send a request, or to read some of the response.
    pub client: Duration,
}
