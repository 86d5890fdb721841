//! `hd2v serve`: a model behind HTTP, for programs and for a browser.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;

use super::import::most_threads;
use crate::serve::{self, Limits, Options};

/// Serve a model: a page for browsers, and an HTTP API
#[derive(Args)]
#[command(after_help = "\
`listening on http://HOST:PORT` is printed on stderr when questions can be asked. /api/openapi.json describes the API.
A model file that is replaced (by renaming another to its name, as hd2v does) is noticed within two seconds, at once on
SIGHUP, and serves when all of it is read and sound; what is under way is answered from the old one. SIGTERM and Ctrl-C
end the program when what is under way is answered.

With --token-file every request but those for the page itself needs the header `Authorization: Bearer TOKEN`.

Examples:
  hd2v serve papers.model
  hd2v serve papers.model --port 0 --threads 2 --rate 20
  hd2v serve papers.model --host 0.0.0.0 --token-file token.txt
  curl -s localhost:8080/api/recommend --json '{\"text\": \"the BLEU score [[?]]\", \"top\": 3}'")]
pub struct Arguments {
    /// The model file
    model: PathBuf,
    /// The address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// The port to listen on; 0 for any that is free
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// A file with the token that requests must bear
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Threads that answer [default: one a core]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = most_threads)]
    threads: usize,
    /// Requests being answered or waiting; more are told to come back later (503)
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = at_least_one)]
    max_concurrent: usize,
    /// Connections; more wait to be accepted
    #[arg(long, default_value_t = 1024, value_name = "N", value_parser = at_least_one)]
    max_connections: usize,
    /// Largest body of a request, in KiB (413)
    #[arg(long, default_value_t = 1024, value_name = "KIB", value_parser = at_least_one)]
    max_body: usize,
    /// Most questions or texts in one request (422)
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = at_least_one)]
    max_batch: usize,
    /// Longest text, in KiB (422)
    #[arg(long, default_value_t = 256, value_name = "KIB", value_parser = at_least_one)]
    max_text: usize,
    /// Requests a second of one client's address, of which it may save up ten seconds' worth (429); 0 for any number
    #[arg(long, default_value_t = 0.0, value_name = "N", value_parser = rate)]
    rate: f64,
    /// Longest time for an answer, in seconds (503)
    #[arg(long, default_value_t = 10.0, value_name = "S", value_parser = seconds)]
    timeout: f64,
    /// Longest time for a client to send a request or to take some of its answer, in seconds (408)
    #[arg(long, default_value_t = 10.0, value_name = "S", value_parser = seconds)]
    client_timeout: f64,
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

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(n) if (0.01..=3600.0).contains(&n) => Ok(n),
        _ => Err("expected a number from 0.01 to 3600".to_owned()),
    }
}

pub fn run(arguments: &Arguments) -> Result<()> {
    serve::run(Options {
        model: arguments.model.clone(),
        host: arguments.host.clone(),
        port: arguments.port,
        token: arguments.token_file.as_deref().map(token).transpose()?,
        threads: arguments.threads,
        limits: Limits {
            concurrent: arguments.max_concurrent,
            connections: arguments.max_connections,
            body: arguments.max_body << 10,
            batch: arguments.max_batch,
            text: arguments.max_text << 10,
            rate: arguments.rate,
            answer: Duration::from_secs_f64(arguments.timeout),
            client: Duration::from_secs_f64(arguments.client_timeout),
        },
    })
}

/// The token in a file, without the end of its line.
fn token(path: &Path) -> Result<Vec<u8>> {
    let shown = path.display();
    let text = std::fs::read(path).with_context(|| format!("cannot read {shown}"))?;
    let token = text.trim_ascii_end().to_vec();
    ensure!(!token.is_empty(), "{shown}: expected a token, found nothing; write one, such as 32 random characters");
    let fit = token.iter().all(|byte| (0x21..0x7f).contains(byte));
    ensure!(fit, "{shown}: expected a token of letters, digits and signs on one line, found something else");
    Ok(token)
}
