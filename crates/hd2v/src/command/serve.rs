//! `hd2v serve`: a model over HTTP, for programs and browsers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::{Args, Parser};

use super::common::{most_threads, read_bounded};
use crate::serve::{self, Limits, ServeOptions};

/// Serve a model over HTTP: a JSON API and a web page
#[derive(Args)]
#[command(after_help = "\
`listening on http://HOST:PORT` on stderr means that the server is ready. /api/openapi.json describes the API.

To replace the model, rename another file to its name, as hd2v does. The server notices within two seconds, or at once on \
SIGHUP, checks the whole file, and then answers from it; requests in progress are answered from the old model. On SIGTERM \
or Ctrl-C the server finishes the requests in progress and exits.

The model is read into memory, so a file that is overwritten or cut short in place does no harm. A model above --map-above \
is mapped instead: written to in place, it is answered with 503 until a whole file is there; cut short, it ends the server.

With --token-file, all requests except those for the web page itself need the header `Authorization: Bearer TOKEN`.

Examples:
  hd2v serve papers.model
  hd2v serve papers.model --corpus papers.corpus --open
  hd2v serve papers.model --port 0 --threads 2 --rate 20
  hd2v serve papers.model --host 0.0.0.0 --token-file token.txt
  curl -s localhost:8080/api/recommend --json '{\"text\": \"the BLEU score [[?]]\", \"top\": 3}'")]
pub struct ServeArgs {
    /// The model file
    model: PathBuf,
    /// The corpus of the model: the page can then open the texts of its documents
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// The address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// The port to listen on; 0 for any free port
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Largest model read into memory, in GiB; a larger one is mapped, and its file must not be written to in place
    #[arg(long, default_value_t = 4.0, value_name = "GIB", value_parser = gibibytes)]
    map_above: f64,
    /// Search all documents for each question, even if the model has an index, and build none
    #[arg(long)]
    no_index: bool,
    /// A file with the token that requests need
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Threads that answer requests [default: one per core]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = most_threads)]
    threads: usize,
    /// Most requests in progress or queued; further ones are refused (503)
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = at_least_one)]
    max_concurrent: usize,
    /// Most open connections; when all are taken, an idle one is closed
    #[arg(long, default_value_t = 1024, value_name = "N", value_parser = at_least_one)]
    max_connections: usize,
    /// Most open connections from one address; others take the place of its idle ones, or are refused (429)
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = at_least_one)]
    max_client_connections: usize,
    /// Largest request body, in KiB (413)
    #[arg(long, default_value_t = 1024, value_name = "KIB", value_parser = at_least_one)]
    max_body: usize,
    /// Most questions or texts in one request (422)
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = at_least_one)]
    max_batch: usize,
    /// Longest text, in KiB (422)
    #[arg(long, default_value_t = 256, value_name = "KIB", value_parser = at_least_one)]
    max_text: usize,
    /// Requests per second from one address, with bursts of up to ten seconds' worth (429); 0 for no limit
    #[arg(long, default_value_t = 0.0, value_name = "N", value_parser = rate)]
    rate: f64,
    /// Longest time to answer a request, in seconds (503)
    #[arg(long, default_value_t = 10.0, value_name = "S", value_parser = seconds)]
    timeout: f64,
    /// Longest time for a client to send a request (408), or to read the next ten KiB of a response, in seconds
    #[arg(long, default_value_t = 10.0, value_name = "S", value_parser = seconds)]
    client_timeout: f64,
}

/// The arguments of the command, parsed without it.
#[derive(Parser)]
struct Alone {
    #[command(flatten)]
    serve: ServeArgs,
}

impl ServeArgs {
    /// A model and its corpus, with the page opened and all else as by default.
    pub fn opened(model: &Path, corpus: &Path, port: u16) -> ServeArgs {
        let mut arguments = Alone::parse_from(["hd2v", "model"]).serve;
        (arguments.model, arguments.corpus) = (model.to_owned(), Some(corpus.to_owned()));
        (arguments.port, arguments.open) = (port, true);
        arguments
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..=1 << 20).contains(&n) => Ok(n),
        _ => Err("expected a number from 1 to 1048576".to_owned()),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(n) if (0.0..=1e6).contains(&n) => Ok(n),
        _ => Err("expected a number from 0 to 1000000".to_owned()),
    }
}

fn gibibytes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(n) if (0.0..=1e6).contains(&n) => Ok(n),
        _ => Err("expected a number from 0 to 1000000".to_owned()),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(n) if (0.01..=3600.0).contains(&n) => Ok(n),
        _ => Err("expected a number from 0.01 to 3600".to_owned()),
    }
}

pub fn run(arguments: &ServeArgs) -> Result<()> {
    serve::run(ServeOptions {
        model: arguments.model.clone(),
        corpus: arguments.corpus.clone(),
        map_above: (arguments.map_above * f64::from(1 << 30)) as u64,
        index: !arguments.no_index,
        host: arguments.host.clone(),
        port: arguments.port,
        open: arguments.open,
        token: arguments.token_file.as_deref().map(token).transpose()?,
        threads: arguments.threads,
        limits: Limits {
            concurrent: arguments.max_concurrent,
            connections: arguments.max_connections,
            client_connections: arguments.max_client_connections,
            body: arguments.max_body << 10,
            batch: arguments.max_batch,
            text: arguments.max_text << 10,
            rate: arguments.rate,
            answer: Duration::from_secs_f64(arguments.timeout),
            client: Duration::from_secs_f64(arguments.client_timeout),
        },
    })
}

/// Bytes of a file with a token.
const LONGEST_TOKEN: u64 = 1 << 20;

/// Reads the token from a file, without the line end.
fn token(path: &Path) -> Result<Vec<u8>> {
    let shown = path.display();
    let text = read_bounded(path, LONGEST_TOKEN)?;
    let token = text.trim_ascii_end().to_vec();
    ensure!(!token.is_empty(), "{shown}: expected a token, found nothing; write one, such as 32 random characters");
    let fit = token.iter().all(|byte| (0x21..0x7f).contains(byte));
    ensure!(fit, "{shown}: expected one line of ASCII letters, digits and punctuation without spaces");
    Ok(token)
}
