//! `hd2v lsp`: a language server over stdio: completion of links, suggestions as code actions and hints, hover.
//!
//! Messages are framed and read by `message`, texts are kept by `text`; both are small enough to be our own. One thread
//! reads, one answers in order. Suggestions are computed when nothing has come for [`REST`], and for the part of a long
//! text around the last change alone.

mod answer;
mod message;
mod text;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use hyperdoc2vec::places::{DocumentNames, Suggester};
use hyperdoc2vec::recommend::Recommender;
use serde_json::{Value, json};

use super::common::open_model;
use answer::Server;

/// Suggestions are computed after a rest as long as this.
const REST: Duration = Duration::from_millis(300);

/// Serve editors over stdio (Language Server Protocol)
#[derive(Args)]
#[command(after_help = "\
Completion inside `[[`, `](`, `\\cite{` and `[@`: by what is typed, or by the words around it where nothing or `?` is typed. Code \
actions put a link in, or never suggest a phrase again. Hover shows what a link leads to. Hints for missing links are off by \
default: initializationOptions {\"hints\": true} turns them on, {\"minProbability\": 0.5} sets their least probability, \
{\"neverLink\": \"FILE\"} names the list of what is never linked. docs/guide/editors.md has settings for editors.

Example:
  hd2v lsp manual.model")]
pub struct LspArgs {
    /// The model file
    model: PathBuf,
    /// Accepted and ignored: stdio is all there is
    #[arg(long, hide = true)]
    stdio: bool,
}

pub fn run(arguments: &LspArgs) -> Result<()> {
    let model = open_model(&arguments.model)?;
    let recommender = Recommender::new(&model);
    recommender.warm_up();
    let mut server = Server {
        recommender,
        suggester: Suggester::new(&model).ok(),
        names: DocumentNames::new(&model),
        texts: BTreeMap::new(),
        options: answer::Options::default(),
    };
    let (sender, receiver) = channel::<Option<Value>>();
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        loop {
            let message = message::read(&mut input).unwrap_or(None);
            let over = message.is_none();
            if sender.send(message).is_err() || over {
                return;
            }
        }
    });
    let mut output = std::io::stdout().lock();
    loop {
        let message = match receiver.recv_timeout(REST) {
            Ok(Some(message)) => message,
            Ok(None) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                for reply in server.rest() {
                    message::write(&mut output, &reply)?;
                }
                continue;
            }
        };
        if message["method"] == "exit" {
            return Ok(());
        }
        if let Some(reply) = server.message(&message) {
            message::write(&mut output, &reply)?;
        }
    }
}

/// A notification.
fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}
