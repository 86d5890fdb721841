//! `hd2v lsp`: a language server over stdio: completion of links, suggestions as code actions and hints, hover.
//!
//! One thread reads; one answers in order, so that an answer always belongs to the text before it. Missing links are
//! looked for when the text has not changed for [`REST`], in small pieces, and what comes meanwhile goes first.
//!
//! `message` reads messages, `server` takes them, `text` keeps the open texts; `completion`, `missing` and `hover` answer,
//! `typing` knows which target is being typed.

mod completion;
mod hover;
mod message;
mod missing;
mod server;
mod text;
mod typing;

use std::collections::VecDeque;
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use hyperdoc2vec::Corpus;
use hyperdoc2vec::document::visible_json;
use lsp_server::{ErrorCode, Message, RequestId, Response};
use serde_json::json;

use super::common::open_model;
use message::Incoming;
use server::LanguageServer;

/// Missing links are looked for after a rest as long as this.
const REST: Duration = Duration::from_millis(300);
/// Messages that are read before the first of them is answered; a client that sends more has to wait.
const MOST_WAITING: usize = 1000;

/// Serve editors over stdio (Language Server Protocol)
#[derive(Args)]
#[command(after_help = "\
Completion inside `[[`, `](`, `\\cite{` and `[@`: by what is typed, or by the words around it where nothing or `?` is typed. Code \
actions put a link in, or never suggest a phrase again. Hover shows what a link leads to. Hints for missing links are off by \
default: initializationOptions {\"hints\": true} turns them on, {\"minProbability\": 0.5} sets their minimum probability, \
{\"neverLink\": \"FILE\"} names the list of what is never linked. docs/guide/editors.md has settings for editors.

Example:
  hd2v lsp manual.model")]
pub struct LspArgs {
    /// The model file
    model: PathBuf,
    /// The corpus of the model: hover shows the first lines of documents from it [default: from files beside the text]
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Accepted and ignored: stdio is all there is
    #[arg(long, hide = true)]
    stdio: bool,
}

pub fn run(arguments: &LspArgs) -> Result<()> {
    let model = open_model(&arguments.model)?;
    let corpus = arguments.corpus.as_ref().map(Corpus::open).transpose()?;
    corpus.iter().try_for_each(Corpus::verify)?;
    let mut server = LanguageServer::new(&model, corpus.as_ref());
    let (sender, receiver) = sync_channel(MOST_WAITING);
    std::thread::spawn(move || forward(&sender));
    serve(&mut server, &receiver, &mut std::io::stdout().lock())
}

/// Reads messages until there are no more.
fn forward(sender: &SyncSender<Incoming>) {
    let mut input = std::io::stdin().lock();
    while let Ok(Some(message)) = message::read(&mut input) {
        if sender.send(message).is_err() {
            return;
        }
    }
}

/// Answers until the client leaves.
fn serve(server: &mut LanguageServer<'_>, receiver: &Receiver<Incoming>, output: &mut impl Write) -> Result<()> {
    let mut waiting = VecDeque::new();
    loop {
        waiting.extend(receiver.try_iter().take(MOST_WAITING.saturating_sub(waiting.len())));
        for id in cancelled(&mut waiting) {
            let what = "the client has cancelled this request";
            write(output, Response::new_err(id, ErrorCode::RequestCanceled as i32, what.to_owned()).into())?;
        }
        let Some(message) = waiting.pop_front() else {
            let next = match server.rests_in(REST) {
                Some(wait) => receiver.recv_timeout(wait),
                None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match next {
                Ok(message) => waiting.push_back(message),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {
                    for message in server.look() {
                        write(output, message)?;
                    }
                }
            }
            continue;
        };
        match message {
            Incoming::Message(Message::Request(request)) => write(output, server.request(request).into())?,
            Incoming::Message(Message::Notification(notification)) if notification.method == "exit" => {
                if !server.is_shut_down() {
                    bail!("the client left without a shutdown");
                }
                return Ok(());
            }
            Incoming::Message(Message::Notification(notification)) => server.notified(notification),
            // Answers to our own requests, which ask for nothing but to be read.
            Incoming::Message(Message::Response(_)) => {}
            Incoming::Nonsense(what) => refuse(output, &what)?,
            Incoming::Lost(what) => {
                refuse(output, &what)?;
                bail!("expected a message, found something else: {what}");
            }
        }
    }
}

/// Answers what is no message, and therefore has no id.
fn refuse(output: &mut impl Write, what: &str) -> Result<()> {
    let error = json!({"code": ErrorCode::ParseError as i32, "message": format!("expected a message: {what}")});
    write_body(output, &json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string())
}

fn write(output: &mut impl Write, message: Message) -> Result<()> {
    let mut framed = Vec::new();
    message.write(&mut framed)?;
    // Its body again, with hidden characters escaped: an editor may log what it gets.
    let body = framed.windows(4).position(|four| four == b"\r\n\r\n").map_or(0, |at| at + 4);
    write_body(output, &String::from_utf8_lossy(&framed[body..]))
}

fn write_body(output: &mut impl Write, body: &str) -> Result<()> {
    let body = visible_json(body);
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())
        .and_then(|()| output.flush())
        .context("cannot write to standard output")
}

/// Takes out requests that wait and that a later message cancels.
fn cancelled(waiting: &mut VecDeque<Incoming>) -> Vec<RequestId> {
    let cancels = |message: &Incoming| match message {
        Incoming::Message(Message::Notification(one)) if one.method == "$/cancelRequest" => {
            serde_json::from_value::<RequestId>(one.params["id"].clone()).ok()
        }
        _ => None,
    };
    let named: Vec<RequestId> = waiting.iter().filter_map(cancels).collect();
    if named.is_empty() {
        return named;
    }
    let mut taken = Vec::new();
    waiting.retain(|message| match message {
        Incoming::Message(Message::Request(request)) if named.contains(&request.id) => {
            taken.push(request.id.clone());
            false
        }
        message => cancels(message).is_none(),
    });
    taken
}

#[cfg(test)]
mod tests {
    use lsp_server::{Notification, Request};

    use super::*;

    #[test]
    fn a_request_that_waits_can_be_cancelled() {
        let request = |id: i32| Request::new(id.into(), "textDocument/hover".to_owned(), json!({}));
        let cancel = |id: i32| Notification::new("$/cancelRequest".to_owned(), json!({"id": id}));
        let waiting: [Message; 5] =
            [request(1).into(), request(2).into(), cancel(2).into(), cancel(7).into(), request(3).into()];
        let mut waiting: VecDeque<Incoming> = waiting.into_iter().map(Incoming::Message).collect();
        assert_eq!(cancelled(&mut waiting), [2.into()]);
        let left = waiting.iter().map(|message| match message {
            Incoming::Message(Message::Request(request)) => request.id.clone(),
            other => panic!("{other:?}"),
        });
        assert_eq!(left.collect::<Vec<RequestId>>(), [1.into(), 3.into()]);
    }
}
